"""The .safetensors format: one tensor read out of a file of any size.

Format: github.com/huggingface/safetensors, README, "Format". The bytes of the tensor are read
through the descriptor that was opened once, after every entry of the header was checked against the
file's length. The format's own library would open the name a second time, map the file (a mapping
that is cut short under its reader ends the process), and keep the last of two equal keys.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from pe_spectra.errors import shorten
from pe_spectra.files.arrays import (
    ACCEPTED_TYPES,
    FileArray,
    Stored,
    Wanted,
    check_shape,
    format_count,
    format_shape,
    read_values,
)
from pe_spectra.files.json_file import join_pairs
from pe_spectra.files.known_tables import choose_tensor
from pe_spectra.files.reading import RefusedError, RegularFile
from pe_spectra.limits import MAX_AXES, MAX_TENSOR_INDEX_BYTES, MAX_TENSORS

#: Our names of the types that are read.
_TYPES = {
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
}
#: Bits of one number, for every type whose width is known; others may stand beside the wanted tensor.
_BITS = {
    "F16": 16,
    "BF16": 16,
    "F32": 32,
    "F64": 64,
    "C64": 64,
    "BOOL": 8,
    "F8_E4M3": 8,
    "F8_E5M2": 8,
    "F8_E8M0": 8,
    "I8": 8,
    "I16": 16,
    "I32": 32,
    "I64": 64,
    "U8": 8,
    "U16": 16,
    "U32": 32,
    "U64": 64,
}
_KEYS = {"dtype", "shape", "data_offsets"}
_LENGTH_BYTES = 8
#: Colons in a header for each tensor that is accepted: four stand in its entry, some in metadata.
_COLONS = 8
#: Numbers of a header beyond this are no sizes.
_MAX_INTEGER = 1 << 63


class Entry(NamedTuple):  # a third of the time of a dataclass, where a header has 200,000
    """One tensor of a header: its type and shape as written, and its bytes behind the header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read_safetensors(file: RegularFile, wanted: Wanted) -> FileArray:
    """Read one tensor of a .safetensors file; no byte of the others.

    Raises
    ------
    RefusedError : a damaged file, a tensor that is not there or of a type or shape that is not accepted,
        or several that it could be.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.files.reading import open_regular
    >>> header = b'{"wpe.weight": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}'
    >>> with TemporaryDirectory() as folder:
    ...     data = len(header).to_bytes(8, "little") + header + bytes(8)
    ...     written = (Path(folder) / "a.safetensors").write_bytes(data)
    ...     with open_regular(Path(folder) / "a.safetensors", label="") as file:
    ...         read_safetensors(file, Wanted(tensor=None, axes=(2,), pick=True)).values.tolist()
    [[0.0, 0.0]]
    """
    entries, start = read_entries(file)
    name, notes = choose_tensor({name: entry.shape for name, entry in entries.items()}, wanted)
    entry = entries[name]
    if entry.dtype not in _TYPES:
        raise RefusedError(f"tensor {shorten(name)} is of type {shorten(entry.dtype, 20)}; {ACCEPTED_TYPES}")
    stored = Stored(shape=entry.shape, dtype=_TYPES[entry.dtype])
    check_shape(stored.shape, wanted.axes)
    place = start + entry.begin

    def read(count: int) -> bytes:
        nonlocal place
        data = file.read_at(place, count)
        place += len(data)
        return data

    values, more = read_values(read, stored, wanted)
    return FileArray(values=values, dtype=stored.dtype, tensor=name, path=file.path, notes=(*notes, *more))


def read_entries(file: RegularFile) -> tuple[dict[str, Entry], int]:
    """Read the header, every entry checked against the file's length.

    Returns
    -------
    The tensors by name, and the byte of the file at which their data begin.

    Raises
    ------
    RefusedError : a header that is too long, no such JSON, or whose tensors are not the rest of the file.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.files.reading import open_regular
    >>> header = b'{"wpe.weight": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}'
    >>> with TemporaryDirectory() as folder:
    ...     data = len(header).to_bytes(8, "little") + header + bytes(8)
    ...     written = (Path(folder) / "a.safetensors").write_bytes(data)
    ...     with open_regular(Path(folder) / "a.safetensors", label="") as file:
    ...         entries, start = read_entries(file)
    >>> list(entries), start - len(header)
    (['wpe.weight'], 8)
    """
    field = file.read_at(0, _LENGTH_BYTES)
    if len(field) < _LENGTH_BYTES:
        raise RefusedError(f"has {format_count(len(field), 'byte')}; a .safetensors file has more")
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


def _parse_header(header: bytes) -> dict[str, Entry]:
    if not header.startswith(b"{"):
        raise RefusedError("has a header that is not a JSON object")
    # counted before anything is built: 16 MiB of JSON would become a multiple of that in objects
    count = header.count(b'"data_offsets"')
    if count > MAX_TENSORS or header.count(b":") > _COLONS * MAX_TENSORS:
        raise RefusedError(f"describes too many tensors ({count}) or other things; at most {MAX_TENSORS} are accepted")
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
        if not isinstance(entry, Entry):
            raise RefusedError(
                f"has a header that does not describe tensor {shorten(name)} (dtype, shape, data_offsets)"
            )
    return found


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Entry:
    """Make an entry of what looks like one, at once: a header may have hundreds of thousands."""
    found = dict(pairs)
    if len(found) < len(pairs) or found.keys() != _KEYS:
        return join_pairs(pairs)
    dtype, shape, offsets = found["dtype"], found["shape"], found["data_offsets"]
    if not isinstance(dtype, str) or not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        raise RefusedError("has a header with a shape or place that is not made of integers from 0 on")
    return Entry(dtype, tuple(shape), *offsets)


def _are_sizes(values: object) -> bool:
    # whole lists at a time, not number by number: a header may have hundreds of thousands
    if not isinstance(values, list) or not set(map(type, values)) <= {int}:
        return False
    return not values or (min(values) >= 0 and max(values) < _MAX_INTEGER)


def _refuse_number(text: str) -> float:
    raise RefusedError(f"has a header with {text} in it")


def _check_places(entries: dict[str, Entry], size: int) -> None:
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
    if place > size:
        raise RefusedError(f"is cut off: its header claims {place} bytes of data, it has {size}")
    if place < size:
        raise RefusedError(f"has {format_count(size - place, 'byte')} behind its data")


def _check_entry(name: str, entry: Entry) -> None:
    if len(entry.shape) > MAX_AXES:
        raise RefusedError(f"tensor {shorten(name)} has {len(entry.shape)} axes; at most {MAX_AXES} are accepted")
    bits = _BITS.get(entry.dtype)
    if bits is not None and math.prod(entry.shape) * bits != (entry.end - entry.begin) * 8:
        found = format_count(entry.end - entry.begin, "byte")
        raise RefusedError(
            f"tensor {shorten(name)} has {found}, which its shape ({format_shape(entry.shape)}) does not take"
        )
