"""The header of a .gguf file: its keys, and where its tensors lie.

Format: github.com/ggml-org/ggml, docs/gguf.md. A header holds the whole vocabulary, so lists of words
are stepped over, and every size is compared with the file's length before anything is read.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pe_spectra.errors import shorten
from pe_spectra.files.reading import RefusedError, RegularFile
from pe_spectra.limits import MAX_TENSORS

MAGIC = b"GGUF"
#: Bytes of a header: words and merges of a vocabulary of 262,144 take some 20 MB.
MAX_GGUF_HEADER_BYTES = 1 << 27
#: Keys of a header, and words in all of its lists.
MAX_GGUF_KEYS = 1 << 12
MAX_GGUF_WORDS = 1 << 21
#: Bytes of the name of a key or tensor, and of a text that is kept.
MAX_GGUF_NAME = 1 << 10
MAX_GGUF_TEXT = 1 << 12
#: Numbers of a list that is kept (one for each layer).
MAX_GGUF_LIST = 1 << 12
#: Bytes that tensors may be aligned to.
MAX_GGUF_ALIGNMENT = 1 << 16

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


class GgufTensor(NamedTuple):
    """One tensor of a header: its shape (slowest axis first), the number of its type, its place behind the header."""

    shape: tuple[int, ...]
    kind: int
    offset: int


@dataclass(frozen=True, kw_only=True)
class GgufHeader:
    """What the header of a file says.

    Attributes
    ----------
    keys : the keys without those of the tokenizer, long texts and lists of texts.
    tensors : those that were asked for, by name.
    start : the byte of the file at which the data of tensors begin.
    """

    keys: Mapping[str, GgufValue]
    tensors: Mapping[str, GgufTensor]
    start: int


def read_header(file: RegularFile, wanted: tuple[str, ...]) -> GgufHeader:
    """Read the header of an open .gguf file, and which of the wanted tensors it has.

    Raises
    ------
    RefusedError : no such file, one that is cut off inside its header, or beyond the limits of this module.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.files.reading import open_regular
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "a.gguf").write_bytes(b"GGUF" + bytes([3, *[0] * 19]))  # version 3, and nothing
    ...     with open_regular(Path(folder) / "a.gguf", label="") as file:
    ...         header = read_header(file, ())
    >>> header.keys, header.tensors
    ({}, {})
    """
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
        if name in wanted:
            known[name] = tensor
    alignment = _read_alignment(found)
    start = -(-cursor.position // alignment) * alignment
    return GgufHeader(keys=found, tensors=known, start=start)


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
    if cursor.take(4) != MAGIC:
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


def _read_tensor_entry(cursor: _Cursor, name: str) -> GgufTensor:
    axes = cursor.read_number()
    if axes > _AXES:
        raise RefusedError(f"tensor {shorten(name)} has {axes} axes; at most {_AXES} are accepted")
    sizes = struct.unpack(f"<{axes}Q", cursor.take(8 * axes))
    kind, offset = cursor.read_number(), cursor.read_length()
    return GgufTensor(shape=tuple(reversed(sizes)), kind=kind, offset=offset)


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
