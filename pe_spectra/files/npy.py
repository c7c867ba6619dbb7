"""The .npy format: its header, read without evaluating anything, and its numbers.

Format: NumPy Enhancement Proposal 1 and `numpy.lib.format`, versions 1.0 to 3.0.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pe_spectra.errors import shorten
from pe_spectra.files.arrays import ACCEPTED_TYPES, FileArray, Stored, Wanted, check_shape, format_count, read_values
from pe_spectra.files.reading import RefusedError, RegularFile
from pe_spectra.limits import MAX_NPY_HEADER

MAGIC = b"\x93NUMPY"
#: Bytes of the field that holds the length of the header, by major version.
_LENGTHS = {1: 2, 2: 4, 3: 4}
_ENTRY = re.compile(
    r"""\s*(['"])(?P<key>descr|fortran_order|shape)\1\s*:\s*
    (?:(['"])(?P<text>[^'"\\]*)\3 | (?P<flag>True|False) | \((?P<sizes>[^()]*)\) | (?P<fields>\[.*\]))
    \s*(?:,|$)""",
    re.VERBOSE | re.DOTALL,
)
_SIZE = re.compile(r"\s*([0-9]{1,40})L?\s*")
_NUMBER = re.compile(r"(?P<order>[<>|=]?)(?P<kind>[fiu])(?P<size>[1248])")
_COMPLEX = re.compile(r"(?P<order>[<>|=]?)c(?P<size>8|16)")
_KINDS = {"f": "float", "i": "int", "u": "uint"}
#: What other types are, by the letter of their kind.
_OTHERS = {
    "O": "Python objects (dtype object), which are pickled: a pickle can run code",
    "b": "booleans",
    "?": "booleans",
    "c": "complex numbers",
    "S": "text",
    "a": "text",
    "U": "text",
    "V": "opaque bytes, as NumPy writes bfloat16: save them as float32",
    "M": "dates",
    "m": "durations",
    "f": "floats whose layout depends on the machine",
}


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
    ...         found = read_npy(file, Wanted(tensor=None, axes=(2,), pick=True))
    >>> found.values.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    wanted.refuse_name("a .npy file")
    place = 0

    def read(count: int) -> bytes:
        nonlocal place
        data = file.read_at(place, count)
        place += len(data)
        return data

    stored = read_header(read, complex_too=wanted.complex_too)
    check_shape(stored.shape, wanted.axes)
    check_length(stored, file.size - place)
    values, notes = read_values(read, stored, wanted)
    return FileArray(values=values, dtype=stored.dtype, tensor=None, path=file.path, notes=notes)


def check_length(stored: Stored, found: int) -> None:
    """Compare the bytes that a header claims with the bytes that there are.

    Raises
    ------
    RefusedError : fewer, or more.

    >>> check_length(Stored(shape=(2, 2), dtype="float32"), 12)
    Traceback (most recent call last):
        ...
    pe_spectra.files.reading.RefusedError: is cut off: its header claims 16 bytes of data, it has 12
    """
    if found < stored.size:
        raise RefusedError(f"is cut off: its header claims {stored.size} bytes of data, it has {found}")
    if found > stored.size:
        raise RefusedError(f"has {format_count(found - stored.size, 'byte')} behind its data")


def read_header(read: Callable[[int], bytes], *, complex_too: bool = False) -> Stored:
    """Read the header of a .npy file, and nothing behind it.

    Parameters
    ----------
    read : gives the next bytes, fewer than asked for only at the end.
    complex_too : whether complex numbers are accepted.

    Raises
    ------
    RefusedError : no header, one that is too long, or a type that is not accepted.

    >>> import io
    >>> import numpy as np
    >>> stream = io.BytesIO()
    >>> np.save(stream, np.eye(2, dtype=np.float32))
    >>> header = read_header(io.BytesIO(stream.getvalue()).read)
    >>> header.shape, header.dtype
    ((2, 2), 'float32')
    """
    start = read(8)
    if not start.startswith(MAGIC):
        raise RefusedError("does not begin as a .npy file does")
    if len(start) < 8:
        raise RefusedError("is cut off inside its header")
    if start[6] not in _LENGTHS or start[7] != 0:
        raise RefusedError("is of an unknown version of .npy; 1.0, 2.0 and 3.0 are accepted")
    width = _LENGTHS[start[6]]
    field = read(width)
    length = int.from_bytes(field, "little")
    if length > MAX_NPY_HEADER:
        raise RefusedError(f"has a header of {length} bytes; at most {MAX_NPY_HEADER} are accepted")
    header = read(length)
    if len(field) < width or len(header) < length:
        raise RefusedError("is cut off inside its header")
    return _parse_header(header.decode("utf-8" if start[6] == 3 else "latin-1", "replace"), complex_too)


def _parse_header(text: str, complex_too: bool) -> Stored:
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
    kind, big_endian = _parse_type(found["descr"], complex_too)
    return Stored(shape=_parse_shape(found["shape"]), dtype=kind, big_endian=big_endian, fortran=flag == "True")


def _parse_shape(match: re.Match[str]) -> tuple[int, ...]:
    items = (match["sizes"] or "").split(",")
    if items[-1].strip() == "":
        items.pop()
    sizes = [_SIZE.fullmatch(item) for item in items]
    if match["sizes"] is None or None in sizes:
        raise RefusedError("has a header that is not readable: shape is no tuple of integers from 0 on")
    return tuple(int(size[1]) for size in sizes if size)


def _parse_type(match: re.Match[str], complex_too: bool) -> tuple[str, bool]:
    text = match["text"]
    if text is None:
        raise RefusedError(f"has cells of several fields (a structured type); {ACCEPTED_TYPES}")
    parts = _COMPLEX.fullmatch(text) if complex_too else None
    if parts is not None:
        return f"complex{8 * int(parts['size'])}", parts["order"] == ">"
    number = _NUMBER.fullmatch(text)
    if number is None or number["kind"] + number["size"] == "f1":
        what = _OTHERS.get(text.lstrip("<>|=")[:1], "cells of an unknown type")
        raise RefusedError(f"holds {what} ({shorten(text, 20)}); {ACCEPTED_TYPES}")
    name = f"{_KINDS[number['kind']]}{8 * int(number['size'])}"
    return name, number["order"] == ">"
