"""The .safetensors format: one tensor read out of a file of any size.

Format: github.com/huggingface/safetensors, README, "Format". The bytes of the tensor are read
through the descriptor that was opened once, after every entry of the header was checked against the
file's length. The format's own library would open the name a second time, map the file (a mapping
that is cut short under its reader ends the process), and keep the last of two equal keys.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

from pe_spectra.errors import shorten
from pe_spectra.files.arrays import FileArray, Stored, Wanted, check_length, format_shape, read_stored
from pe_spectra.files.json_toml import join_pairs
from pe_spectra.files.reading import RefusedError, RegularFile
from pe_spectra.files.tensors import Tensors
from pe_spectra.limits import MAX_AXES, MAX_TENSOR_INDEX_BYTES, MAX_TENSORS
from pe_spectra.records import NamedTuple
from pe_spectra.wording import count

#: Our names of the types that are read; of eight bits and fewer: OCP 8-bit Floating Point and Microscaling Formats.
_NARROW = {
    "F4": "float4_e2m1fn",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2": "float8_e5m2",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}
_TYPES = {"BF16": "bfloat16", **_NARROW} | {
    f"{letter}{bits}": f"{name}{bits}"
    for letter, name, widths in (
        ("F", "float", (16, 32, 64)),
        ("I", "int", (8, 16, 32, 64)),
        ("U", "uint", (8, 16, 32, 64)),
    )
    for bits in widths
}
#: Bits of one number, for every type whose width is known; others may stand beside the wanted tensor.
_BITS = {name: Stored(shape=(), dtype=ours).bits for name, ours in _TYPES.items()} | {
    "C64": 64,
    "BOOL": 8,
    "F8_E8M0": 8,
}
_KEYS = {"dtype", "shape", "data_offsets"}
_LENGTH_BYTES = 8
#: Colons in a header for each tensor that is accepted: four stand in its entry, some in metadata.
_COLONS = 8
#: Numbers of a header beyond this are no sizes.
_MAX_INTEGER = 1 << 63


class _Entry(NamedTuple):  # a third of the time of a dataclass, where a header has 200,000
    """One tensor of a header: its type and shape as written, and its bytes behind the header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class Safetensors(Tensors):
    """The tensors of a .safetensors file."""

    def __init__(self, file: RegularFile) -> None:
        self._file = file
        self._entries, self._start = _read_entries(file)
        self.names = self._entries

    def measure(self, _: Wanted) -> dict[str, tuple[int, ...]]:
        """Return the shapes of all tensors, as the header has them."""
        return {name: entry.shape for name, entry in self._entries.items()}

    def read(self, name: str, wanted: Wanted) -> FileArray:
        """Read one tensor; one of a type that is not accepted is refused."""
        entry = self._entries[name]
        if entry.dtype not in _TYPES:
            accepted = f"{', '.join(sorted(_TYPES))} are accepted"
            raise RefusedError(f"tensor {shorten(name)} is of type {shorten(entry.dtype, 20)}; {accepted}")
        stored = Stored(shape=entry.shape, dtype=_TYPES[entry.dtype])
        with self._file.open_at(self._start + entry.begin) as stream:
            found = read_stored(stream, stored, wanted, tensor=name)
        around, dot, last = name.rpartition(".")
        # as transformers, vLLM and ComfyUI call them
        scales = (f"{name}_scale_inv", f"{name}_scale", f"{around}{dot}scale_{last}")
        scale = next((one for one in scales if one in self._entries and entry.dtype in _NARROW), None)
        note = f"its numbers are as they are stored: {shorten(scale or '')}, a tensor beside it, is not applied"
        return found if scale is None else replace(found, notes=(*found.notes, note))


def _read_entries(file: RegularFile) -> tuple[dict[str, _Entry], int]:
    """Read the header, every entry checked against the file's length; and the byte at which the data begin."""
    field = file.read_at(0, _LENGTH_BYTES)
    if len(field) < _LENGTH_BYTES:
        raise RefusedError(f"has {count(len(field), 'byte')}; a .safetensors file has more")
    length = int.from_bytes(field, "little")
    if length > MAX_TENSOR_INDEX_BYTES:
        raise RefusedError(f"has a header of {length} bytes; at most {MAX_TENSOR_INDEX_BYTES} are accepted")
    start = _LENGTH_BYTES + length
    header = file.read_at(_LENGTH_BYTES, length)
    if len(header) < length:
        raise RefusedError("is cut off inside its header")
    entries = _parse_header(header)
    _check_places(entries, file.size - start)
    return entries, start


def _parse_header(header: bytes) -> dict[str, _Entry]:
    if not header.startswith(b"{"):
        raise RefusedError("has a header that is not a JSON object")
    # counted before anything is built: 16 MiB of JSON would become a multiple of that in objects
    tensors = header.count(b'"data_offsets"')
    if tensors > MAX_TENSORS or header.count(b":") > _COLONS * MAX_TENSORS:
        raise RefusedError(
            f"describes too many tensors ({tensors}) or other things; at most {MAX_TENSORS} are accepted"
        )
    try:
        found = json.loads(header.decode("utf-8"), object_pairs_hook=_build_object, parse_constant=_refuse_number)
    except UnicodeDecodeError as error:
        raise RefusedError("has a header that is not UTF-8") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise RefusedError("has a header that is not JSON") from error
    if not isinstance(found, dict):
        raise RefusedError("has a header that describes no tensors")
    found.pop("__metadata__", None)
    for name, entry in found.items():
        if not isinstance(entry, _Entry):
            raise RefusedError(
                f"has a header that does not describe tensor {shorten(name)} (dtype, shape, data_offsets)"
            )
    return found


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Entry:
    """Make an entry of what looks like one, at once: a header may have hundreds of thousands."""
    found = dict(pairs)
    if len(found) < len(pairs) or found.keys() != _KEYS:
        return join_pairs(pairs)
    dtype, shape, offsets = found["dtype"], found["shape"], found["data_offsets"]
    if not isinstance(dtype, str) or not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        raise RefusedError("has a header with a shape or place that is not made of integers from 0 on")
    return _Entry(dtype, tuple(shape), *offsets)


def _are_sizes(values: object) -> bool:
    # whole lists at a time, not number by number: a header may have hundreds of thousands
    if not isinstance(values, list) or not set(map(type, values)) <= {int}:
        return False
    return not values or (min(values) >= 0 and max(values) < _MAX_INTEGER)


def _refuse_number(text: str) -> float:
    raise RefusedError(f"has a header with {text} in it")


def _check_places(entries: dict[str, _Entry], size: int) -> None:
    """Demand that the tensors, in some order, are exactly the bytes behind the header."""
    place = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.end < entry.begin:
            raise RefusedError(f"tensor {shorten(name)} ends before it begins")
        if entry.begin != place:
            what = "lies on bytes of another" if entry.begin < place else "has a gap before it"
            raise RefusedError(f"tensor {shorten(name)} {what}")
        place = entry.end
        _check_entry(name, entry)
    check_length(place, size)


def _check_entry(name: str, entry: _Entry) -> None:
    if len(entry.shape) > MAX_AXES:
        raise RefusedError(f"tensor {shorten(name)} has {len(entry.shape)} axes; at most {MAX_AXES} are accepted")
    bits = _BITS.get(entry.dtype)
    if bits is not None and math.prod(entry.shape) * bits != 8 * (entry.end - entry.begin):
        found = count(entry.end - entry.begin, "byte")
        raise RefusedError(
            f"tensor {shorten(name)} has {found}, which its shape ({format_shape(entry.shape)}) does not take"
        )
