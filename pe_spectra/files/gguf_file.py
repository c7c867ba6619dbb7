"""The .gguf format: the keys of a model and a few small tensors; the weights are never read.

Format: github.com/ggml-org/ggml, docs/gguf.md. The format's own library (gguf, of llama.cpp) maps the
file and builds an object for each word of the vocabulary, 16 s and 1.2 GB for 262,144 words, and trusts
every size that it meets. Here lists of words are stepped over, every size is compared with the file's
length before anything is read, the header takes 0.1 s, and a file that is cut off behind what is wanted
will do.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from pathlib import Path

from pe_spectra.errors import shorten
from pe_spectra.files.arrays import FileArray, Stored, Wanted, format_shape, read_stored
from pe_spectra.files.reading import GGUF_MAGIC, NoTableRefusedError, RefusedError, RegularFile, open_regular
from pe_spectra.files.tensors import Tensors
from pe_spectra.limits import (
    MAX_GGUF_ALIGNMENT,
    MAX_GGUF_FACTORS,
    MAX_GGUF_HEADER_BYTES,
    MAX_GGUF_KEYS,
    MAX_GGUF_LIST,
    MAX_GGUF_NAME,
    MAX_GGUF_TEXT,
    MAX_GGUF_WORDS,
    MAX_TENSORS,
)
from pe_spectra.records import NamedTuple, dataclass

#: A value of a header. Lists of numbers are lists, as those of JSON are.
GgufValue = int | float | bool | str | list[int | float | bool]

_VERSIONS = (2, 3)
_CHUNK = 1 << 18
_AXES = 4
#: Types of values: the letter that struct has for it.
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST, _TRUTH = 8, 9, 7
#: Keys whose lists and texts are of no use here, and long.
_SKIPPED = "tokenizer."
#: Tensors that divide frequencies, and the one with a row for each position.
FACTORS = ("rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight")
POSITIONS = "position_embd.weight"

_READ_TYPES = {0: "float32", 1: "float16", 28: "float64", 30: "bfloat16"}
#: Names of types by their numbers, for messages. Source: ggml.h, ggml_type.
_TYPE_NAMES = {
    number: name
    for start, names in (
        (2, ("Q4_0", "Q4_1")),
        (6, ("Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "Q8_K")),
        (16, ("IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS")),
        (24, ("I8", "I16", "I32", "I64")),
        (29, ("IQ1_M",)),
        (34, ("TQ1_0", "TQ2_0")),
        (39, ("MXFP4", "NVFP4", "Q1_0")),
    )
    for number, name in enumerate(names, start)
}


@dataclass(frozen=True, kw_only=True)
class GgufFile:
    """What of a model's file tells how it encodes positions.

    Attributes
    ----------
    keys : without those of the tokenizer, long texts and lists of texts.
    factors : the numbers of the tensors that divide frequencies, by name.
    shapes : the shapes of these and of position_embd.weight, by name, slowest axis first.
    """

    keys: Mapping[str, GgufValue]
    factors: Mapping[str, tuple[float, ...]]
    shapes: Mapping[str, tuple[int, ...]]


def read_gguf(path: Path, label: str = "") -> GgufFile:
    """Read the keys and the small tensors of a .gguf file.

    Parameters
    ----------
    path : the file, as it was given; of a model in several parts, the first.
    label : the option that named the file, for messages; may be empty.

    Raises
    ------
    FileError : the file cannot be read, is damaged, or a tensor that is wanted is quantised.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "a.gguf").write_bytes(b"GGUF" + bytes([3, *[0] * 19]))  # version 3, and nothing
    ...     read_gguf(Path(folder) / "a.gguf").shapes
    {}
    """
    with open_regular(path, label=label) as file:
        found = GgufTensors(file)
        factors = {name: found.read_factors(name) for name in FACTORS if name in found.names}
        return GgufFile(keys=found.keys, factors=factors, shapes=found.measure())


class GgufTensors(Tensors):
    """The small tensors of a model's open .gguf file, those that are read here, and its keys."""

    def __init__(self, file: RegularFile) -> None:
        self._file = file
        self.keys, self._tensors = _read_header(file)
        self.names = self._tensors

    def measure(self, _: Wanted | None = None) -> dict[str, tuple[int, ...]]:
        """Return their shapes."""
        return {name: tensor.shape for name, tensor in self._tensors.items()}

    def read(self, name: str, wanted: Wanted) -> FileArray:
        """Read one of them, unless it is quantised."""
        tensor = self._tensors[name]
        if tensor.kind not in _READ_TYPES:
            given = _TYPE_NAMES.get(tensor.kind, f"number {tensor.kind}")
            raise RefusedError(f"tensor {shorten(name)} is of type {given}; F32, F16, BF16 and F64 are accepted")
        stored = Stored(shape=tensor.shape, dtype=_READ_TYPES[tensor.kind])
        end = tensor.place + stored.size
        if end > self._file.size:
            raise RefusedError(f"is cut off: tensor {shorten(name)} ends at byte {end} of {self._file.size}")
        with self._file.open_at(tensor.place) as stream:
            return read_stored(stream, stored, wanted, tensor=name)

    def take(self, wanted: Wanted) -> FileArray:
        """Read the one that is named, else the table of positions."""
        name = wanted.tensor or POSITIONS
        if name not in self._tensors:
            reason = f"has no tensor {shorten(name)} that is read here; {', '.join((POSITIONS, *FACTORS))} are"
            raise NoTableRefusedError(reason)
        return self.read(name, wanted)

    def read_factors(self, name: str) -> tuple[float, ...]:
        """Read the numbers of a tensor that divides frequencies."""
        shape = self._tensors[name].shape
        if math.prod(shape) > MAX_GGUF_FACTORS:
            what = f"tensor {name} has too many numbers ({format_shape(shape)})"
            raise RefusedError(f"{what}; {MAX_GGUF_FACTORS} are accepted")
        found = self.read(name, Wanted(tensor=name, axes=(1,)))
        return tuple(float(value) for value in found.values)


class _Tensor(NamedTuple):
    """One tensor: its shape (slowest axis first), the number of its type, the byte at which it begins."""

    shape: tuple[int, ...]
    kind: int
    place: int


def _read_header(file: RegularFile) -> tuple[dict[str, GgufValue], dict[str, _Tensor]]:
    """Read the header: its keys, and which of the small tensors the file has."""
    cursor = _Cursor(file)
    tensors, keys = _read_counts(cursor)
    found: dict[str, GgufValue] = {}
    names: set[str] = set()
    for _ in range(keys):
        name = _read_name(cursor, "key", names)
        value = _read_value(cursor, name)
        if value is not None:
            found[name] = value
    names.clear()
    known = {}
    for _ in range(tensors):
        name = _read_name(cursor, "tensor", names)
        tensor = _read_tensor_entry(cursor, name)
        if name in (*FACTORS, POSITIONS):
            known[name] = tensor
    alignment = _read_alignment(found)
    start = -(-cursor.position // alignment) * alignment
    return found, {name: tensor._replace(place=start + tensor.place) for name, tensor in known.items()}


class _Cursor:
    """Reads a header forwards, a piece at a time; it never goes behind the file's end or the limit."""

    def __init__(self, file: RegularFile) -> None:
        self.file, self.data, self.start, self.place = file, b"", 0, 0
        self.words = 0

    @property
    def position(self) -> int:
        """The byte of the file that comes next."""
        return self.start + self.place

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        if self.place + count > len(self.data):
            self._fill(count)
        self.place += count
        return self.data[self.place - count : self.place]

    def skip(self, count: int) -> None:
        """Step over `count` bytes."""
        self.place += count
        self._check(self.position)

    def read_number(self) -> int:
        """Read an integer of 32 bits."""
        return int.from_bytes(self.take(4), "little")

    def read_length(self) -> int:
        """Read a length, 64 bits."""
        return int.from_bytes(self.take(8), "little")

    def skip_words(self, count: int) -> None:
        """Step over a list of texts, without an object for each."""
        self.words += count
        if self.words > MAX_GGUF_WORDS:
            raise RefusedError(f"has lists of {self.words} words in its header; at most {MAX_GGUF_WORDS} are accepted")
        unpack = struct.Struct("<Q").unpack_from
        while count:
            self._fill(8)
            data, place, last = self.data, self.place, len(self.data) - 8
            while count and place <= last:
                place += 8 + unpack(data, place)[0]
                count -= 1
            self.place = place
            self._check(self.position)

    def _fill(self, count: int) -> None:
        self._check(self.position + count)
        self.start, self.place = self.position, 0
        self.data = self.file.read_at(self.start, max(count, _CHUNK))
        if len(self.data) < count:  # it was cut off meanwhile
            raise RefusedError("is cut off inside its header")

    def _check(self, end: int) -> None:
        if end > self.file.size:
            raise RefusedError("is cut off inside its header")
        if end > MAX_GGUF_HEADER_BYTES:
            raise RefusedError(f"has a header of more than {MAX_GGUF_HEADER_BYTES} bytes, the most that is accepted")


def _read_counts(cursor: _Cursor) -> tuple[int, int]:
    """Read what comes first: magic, version, the number of tensors and of keys."""
    if cursor.file.size < 24:
        raise RefusedError(f"has {cursor.file.size} bytes; a .gguf file has more")
    if cursor.take(4) != GGUF_MAGIC:
        raise RefusedError("is no .gguf file: it does not begin with GGUF")
    version = cursor.read_number()
    if version.to_bytes(4, "little") in [one.to_bytes(4, "big") for one in _VERSIONS]:
        raise RefusedError("is a .gguf file for big-endian machines; little-endian ones are accepted")
    if version not in _VERSIONS:
        raise RefusedError(f"is of version {version} of the format; versions 2 and 3 are accepted")
    tensors, keys = cursor.read_length(), cursor.read_length()
    if tensors > MAX_TENSORS:
        raise RefusedError(f"describes {tensors} tensors; at most {MAX_TENSORS} are accepted")
    if keys > MAX_GGUF_KEYS:
        raise RefusedError(f"has {keys} keys; at most {MAX_GGUF_KEYS} are accepted")
    return tensors, keys


def _read_name(cursor: _Cursor, what: str, names: set[str]) -> str:
    length = cursor.read_length()
    if length > MAX_GGUF_NAME:
        raise RefusedError(f"has a {what} whose name has {length} bytes; at most {MAX_GGUF_NAME} are accepted")
    try:
        name = cursor.take(length).decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError(f"has a {what} whose name is not UTF-8") from error
    if name in names:
        raise RefusedError(f"gives the {what} {shorten(name)} twice")
    names.add(name)
    return name


def _read_value(cursor: _Cursor, name: str) -> GgufValue | None:
    """Read the value of a key; None where it is stepped over."""
    kind = cursor.read_number()
    keep = not name.startswith(_SKIPPED)
    if kind == _LIST:
        return _read_list(cursor, name, keep)
    if kind == _TEXT:
        length = cursor.read_length()
        if keep and length <= MAX_GGUF_TEXT:
            return cursor.take(length).decode("utf-8", "replace")
        cursor.skip(length)
        return None
    if kind not in _SCALARS:
        raise RefusedError(f"key {shorten(name)} is of type {kind}, which is not known")
    return _check_truths(cursor.take(struct.calcsize(f"<{_SCALARS[kind]}")), kind, name)[0]


def _read_list(cursor: _Cursor, name: str, keep: bool) -> list[int | float | bool] | None:
    kind, count = cursor.read_number(), cursor.read_length()
    if kind == _TEXT:
        cursor.skip_words(count)
        return None
    if kind not in _SCALARS:
        what = "a list of lists" if kind == _LIST else f"a list of type {kind}"
        raise RefusedError(f"key {shorten(name)} is {what}, which is not read")
    size = count * struct.calcsize(f"<{_SCALARS[kind]}")
    if keep and count <= MAX_GGUF_LIST:
        return _check_truths(cursor.take(size), kind, name)
    cursor.skip(size)
    return None


def _check_truths(data: bytes, kind: int, name: str) -> list[int | float | bool]:
    """Read numbers of one type; a truth value is 0 or 1, nothing else."""
    if kind == _TRUTH and max(data, default=0) > 1:
        raise RefusedError(f"key {shorten(name)} is neither true nor false ({max(data)})")
    letter = _SCALARS[kind]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(f'<{letter}')}{letter}", data))


def _read_tensor_entry(cursor: _Cursor, name: str) -> _Tensor:
    axes = cursor.read_number()
    if axes > _AXES:
        raise RefusedError(f"tensor {shorten(name)} has {axes} axes; at most {_AXES} are accepted")
    sizes = struct.unpack(f"<{axes}Q", cursor.take(8 * axes))
    kind, place = cursor.read_number(), cursor.read_length()
    return _Tensor(shape=tuple(reversed(sizes)), kind=kind, place=place)


def _read_alignment(keys: Mapping[str, GgufValue]) -> int:
    value = keys.get("general.alignment", 32)
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or not 1 <= value <= MAX_GGUF_ALIGNMENT
        or value & (value - 1)
    ):
        accepted = f"a power of two up to {MAX_GGUF_ALIGNMENT} is accepted"
        raise RefusedError(f"general.alignment cannot be used ({shorten(repr(value))}); {accepted}")
    return value
