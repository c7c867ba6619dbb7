"""Files of NumPy: the .npy format and its zip archive, .npz; nothing is evaluated and nothing extracted.

Formats: NumPy Enhancement Proposal 1 and `numpy.lib.format`, versions 1.0 to 3.0; APPNOTE 6.3.10.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING

import numpy as np

from pe_spectra.errors import shorten
from pe_spectra.files.arrays import ACCEPTED_TYPES, FileArray, Stored, Wanted, read_stored
from pe_spectra.files.reading import RefusedError, RegularFile
from pe_spectra.files.tensors import Tensors
from pe_spectra.limits import FREE_INFLATION_BYTES, MAX_INFLATION, MAX_MEMBERS, MAX_NPY_HEADER

if TYPE_CHECKING:
    import zipfile

NPY_MAGIC = b"\x93NUMPY"
NPZ_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
#: Bytes of the field that holds the length of the header, by major version.
_LENGTHS = {1: 2, 2: 4, 3: 4}
_ENTRY = re.compile(
    r"""\s*(['"])(?P<key>descr|fortran_order|shape)\1\s*:\s*
    (?:(['"])(?P<text>[^'"\\]*)\3 | (?P<flag>True|False) | \((?P<sizes>[^()]*)\) | (?P<fields>\[.*\]))
    \s*(?:,|$)""",
    re.VERBOSE | re.DOTALL,
)
_SIZE = re.compile(r"\s*([0-9]{1,40})L?\s*")
_NUMBER = re.compile(r"[<>|=]?(?:f[248]|[iu][1248]|(?P<complex>c(?:8|16)))")
_DATE = re.compile(r"[<>]M8\[(?:Y|M|W|D|h|m|s|ms|us|ns)\]")
#: What other types are, by the letter of their kind.
_OTHERS = {
    "O": "Python objects (dtype object), which are pickled: a pickle can run code",
    "b": "booleans",
    "?": "booleans",
    "c": "complex numbers",
    "S": "text",
    "a": "text",
    "U": "text",
    "V": "opaque bytes, as NumPy writes bfloat16 and float8: save them as float32",
    "M": "dates",
    "m": "durations",
    "f": "floats whose layout depends on the machine",
    "f1": "floats of 8 bits, of which NumPy does not say the kind: save them as float32",
}
#: Records at the end of an archive (4.3.14 to 4.3.16): marks and lengths.
_END, _END_SIZE = b"PK\x05\x06", 22
_LOCATOR, _LOCATOR_SIZE = b"PK\x06\x07", 20
_END_64, _END_64_SIZE = b"PK\x06\x06", 56
#: The directory has 46 bytes for each member and its name; 1 kB each is plenty.
_MAX_DIRECTORY = MAX_MEMBERS << 10
#: Methods of compression (4.4.5): stored and deflated.
_METHODS = (0, 8)


def read_npy(file: RegularFile, wanted: Wanted) -> FileArray:
    """Read the array of a .npy file.

    Raises
    ------
    RefusedError : no such file, a type or shape that is not accepted, bytes too few or too many.

    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.files.reading import open_regular
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "a.npy", np.eye(2))
    ...     with open_regular(Path(folder) / "a.npy", label="") as file:
    ...         found = read_npy(file, Wanted())
    >>> found.values.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    wanted.refuse_name("a .npy file")
    with file.open_at(0) as stream:
        stored = _read_header(stream, wanted)
        return read_stored(stream, stored, wanted, end=file.size)


class Npz(Tensors):
    """The arrays of a .npz file, a zip archive whose members were all checked."""

    def __init__(self, file: RegularFile) -> None:
        import zipfile  # for archives alone; it takes as long as all other modules that read an array

        _check_directory(file)
        self._archive = zipfile.ZipFile(file.open_at(0))
        self.names = self._members = _list_members(self._archive, file.size)

    def measure(self, wanted: Wanted) -> dict[str, tuple[int, ...]]:
        """Read the shapes of the members that are arrays; where none is, say why the first is not."""
        if wanted.tensor in self._members:
            return {wanted.tensor: ()}
        shapes = {}
        reasons = []
        for name, info in self._members.items():
            try:
                with self._archive.open(info) as member:
                    shapes[name] = _read_header(member, wanted).shape
            except RefusedError as error:
                reasons.append(error)
        if not shapes:
            raise reasons[0]
        return shapes

    def read(self, name: str, wanted: Wanted) -> FileArray:
        """Read one array."""
        info = self._members[name]
        with self._archive.open(info) as member:
            stored = _read_header(member, wanted)
            # the library compares the checksum with the last byte, and gives none beyond the declared size
            return read_stored(member, stored, wanted, tensor=name, end=info.file_size)


def _read_header(stream: IO[bytes], wanted: Wanted) -> Stored:
    """Read the header of a .npy file, and nothing behind it."""
    start = stream.read(8)
    if not start.startswith(NPY_MAGIC):
        raise RefusedError("does not begin as a .npy file does")
    if len(start) < 8:
        raise RefusedError("is cut off inside its header")
    if start[6] not in _LENGTHS or start[7] != 0:
        raise RefusedError("is of an unknown version of .npy; 1.0, 2.0 and 3.0 are accepted")
    width = _LENGTHS[start[6]]
    field = stream.read(width)
    length = int.from_bytes(field, "little")
    if length > MAX_NPY_HEADER:
        raise RefusedError(f"has a header of {length} bytes; at most {MAX_NPY_HEADER} are accepted")
    header = stream.read(length)
    if len(field) < width or len(header) < length:
        raise RefusedError("is cut off inside its header")
    return _parse_header(header.decode("utf-8" if start[6] == 3 else "latin-1", "replace"), wanted)


def _parse_header(text: str, wanted: Wanted) -> Stored:
    # a grammar of its own: an evaluated literal could nest, overflow, or warn on stderr
    text = text.strip()
    inner = text[1:-1].strip()
    found: dict[str, re.Match[str]] = {}
    place = 0
    while place < len(inner):
        match = _ENTRY.match(inner, place)
        if match is None or match["key"] in found:
            break
        found[match["key"]] = match
        place = match.end()
    if place < len(inner) or len(found) < 3 or text[:1] + text[-1:] != "{}":
        raise RefusedError("has a header that is not readable; descr, fortran_order and shape are needed, each once")
    flag = found["fortran_order"]["flag"]
    if flag is None:
        raise RefusedError("has a header that is not readable: fortran_order is neither True nor False")
    kind, big_endian = _parse_type(found["descr"], wanted)
    return Stored(shape=_parse_shape(found["shape"]), dtype=kind, big_endian=big_endian, fortran=flag == "True")


def _parse_shape(match: re.Match[str]) -> tuple[int, ...]:
    items = (match["sizes"] or "").split(",")
    if items[-1].strip() == "":
        items.pop()
    sizes = [_SIZE.fullmatch(item) for item in items]
    if match["sizes"] is None or None in sizes:
        raise RefusedError("has a header that is not readable: shape is no tuple of integers from 0 on")
    return tuple(int(size[1]) for size in sizes if size)


def _parse_type(match: re.Match[str], wanted: Wanted) -> tuple[str, bool]:
    text = match["text"]
    if text is None:
        raise RefusedError(f"has cells of several fields (a structured type); {ACCEPTED_TYPES}")
    number = _NUMBER.fullmatch(text)
    is_wanted = wanted.dates_too and _DATE.fullmatch(text)
    if not is_wanted and (number is None or (number["complex"] and not wanted.complex_too)):
        letters = text.lstrip("<>|=")
        what = _OTHERS.get(letters) or _OTHERS.get(letters[:1], "cells of an unknown type")
        raise RefusedError(f"holds {what} ({shorten(text, 20)}); {ACCEPTED_TYPES}")
    return np.dtype(text).name, text.startswith(">")


def _check_directory(file: RegularFile) -> None:
    """Limit the directory of the archive before the library reads all of it."""
    tail = file.read_at(max(0, file.size - _END_SIZE - _LOCATOR_SIZE), _END_SIZE + _LOCATOR_SIZE)
    end = tail[-_END_SIZE:]
    if len(end) < _END_SIZE or not end.startswith(_END) or end[20:] != b"\0\0":
        raise RefusedError("is no complete zip archive, as a .npz file is")
    counts, size = [int.from_bytes(end[10:12], "little")], int.from_bytes(end[12:16], "little")
    if tail[:-_END_SIZE].startswith(_LOCATOR):
        place = file.size - _END_SIZE - _LOCATOR_SIZE - _END_64_SIZE
        wide = file.read_at(max(place, 0), _END_64_SIZE)
        if not wide.startswith(_END_64):
            raise RefusedError("is no complete zip archive, as a .npz file is")
        counts.append(int.from_bytes(wide[32:40], "little"))
        size = int.from_bytes(wide[40:48], "little")
    if max(counts) > MAX_MEMBERS:
        raise RefusedError(f"has too many members ({max(counts)}); at most {MAX_MEMBERS} are accepted")
    if size > _MAX_DIRECTORY:
        raise RefusedError(f"has a directory of {size} bytes; at most {_MAX_DIRECTORY} are accepted")


def _list_members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        raise RefusedError(f"has too many members; at most {MAX_MEMBERS} are accepted")
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        _check_member(info)
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise RefusedError(f"gives member {shorten(name)} twice")
        if name != info.filename:
            members[name] = info
    if sum(info.compress_size for info in infos) > size:
        raise RefusedError("has members that lie on the same bytes")
    _check_inflation(sum(info.file_size for info in infos), size)
    if not members:
        raise RefusedError("holds no array (no member that ends in .npy)")
    return members


def _check_member(info: zipfile.ZipInfo) -> None:
    # orig_filename: the library cuts names at a zero byte
    name = info.orig_filename.replace("\\", "/")
    if name.startswith("/") or ".." in name.split("/") or "\0" in name:
        raise RefusedError(f"has a member whose name is no plain one ({shorten(info.orig_filename)})")
    if info.flag_bits & 0x1:
        raise RefusedError(f"has a member that is encrypted ({shorten(info.filename)})")
    if info.compress_type not in _METHODS:
        raise RefusedError(f"has a member in an unknown compression ({shorten(info.filename)})")
    _check_inflation(info.file_size, info.compress_size)


def _check_inflation(declared: int, stored: int) -> None:
    if declared > FREE_INFLATION_BYTES and declared > MAX_INFLATION * stored:
        raise RefusedError(
            f"would grow from {stored} to {declared} bytes; at most {MAX_INFLATION} times is accepted above"
            f" {FREE_INFLATION_BYTES >> 20} MiB"
        )
