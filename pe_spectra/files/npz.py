"""The .npz format: a zip archive of .npy members, streamed and never extracted."""

from __future__ import annotations

import zipfile
from typing import IO

from pe_spectra.errors import shorten
from pe_spectra.files.arrays import FileArray, Stored, Wanted, check_shape, read_values
from pe_spectra.files.known_tables import choose_tensor
from pe_spectra.files.npy import check_length, read_header
from pe_spectra.files.reading import RefusedError, RegularFile
from pe_spectra.limits import FREE_INFLATION_BYTES, MAX_INFLATION, MAX_MEMBERS

MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
#: Records at the end of an archive (APPNOTE 6.3.10, 4.3.14-4.3.16): marks and lengths.
_END, _END_SIZE = b"PK\x05\x06", 22
_LOCATOR, _LOCATOR_SIZE = b"PK\x06\x07", 20
_END_64, _END_64_SIZE = b"PK\x06\x06", 56
#: The directory has 46 bytes for each member and its name; 1 kB each is plenty.
_MAX_DIRECTORY = MAX_MEMBERS << 10
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_npz(file: RegularFile, wanted: Wanted) -> FileArray:
    """Read one array of a .npz file.

    Raises
    ------
    RefusedError : a damaged archive, members beyond the limits, no array that is wanted, or several.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from pe_spectra.files.reading import open_regular
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "two.npz", a=np.eye(2), b=np.eye(3))
    ...     with open_regular(Path(folder) / "two.npz", label="") as file:
    ...         found = read_npz(file, Wanted(tensor="b", axes=(2,), pick=True))
    >>> found.values.shape
    (3, 3)
    """
    _check_directory(file)
    with open(file.descriptor, "rb", closefd=False) as raw, zipfile.ZipFile(raw) as archive:
        members = _list_members(archive, file.size)
        if wanted.tensor is not None and wanted.tensor in members:
            name, notes = choose_tensor({wanted.tensor: ()}, wanted)
        else:
            stored = {name: _read_member_header(archive, info, wanted.complex_too) for name, info in members.items()}
            shapes = {name: found.shape for name, found in stored.items() if found}
            if not shapes:
                # raises, with the reason
                _read_header_strictly(archive, next(iter(members.values())), wanted.complex_too)
            name, notes = choose_tensor(shapes, wanted)
        return _read_member(archive, members[name], name, wanted, file, notes)


def list_npz(file: RegularFile) -> tuple[str, ...]:
    """List the names of the arrays of a .npz file.

    Raises
    ------
    RefusedError : a damaged archive, or members beyond the limits.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from pe_spectra.files.reading import open_regular
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "two.npz", a=np.eye(2), b=np.eye(3))
    ...     with open_regular(Path(folder) / "two.npz", label="") as file:
    ...         list_npz(file)
    ('a', 'b')
    """
    _check_directory(file)
    with open(file.descriptor, "rb", closefd=False) as raw, zipfile.ZipFile(raw) as archive:
        return tuple(_list_members(archive, file.size))


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
    """Give the arrays of an archive by name, after every member was checked."""
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


def _read_member_header(archive: zipfile.ZipFile, info: zipfile.ZipInfo, complex_too: bool) -> Stored | None:
    """Read the header of a member; None where it is no array that could be wanted."""
    try:
        return _read_header_strictly(archive, info, complex_too)
    except RefusedError:
        return None


def _read_header_strictly(archive: zipfile.ZipFile, info: zipfile.ZipInfo, complex_too: bool) -> Stored:
    with archive.open(info) as member:
        return read_header(lambda count: _read_exactly(member, count), complex_too=complex_too)


def _read_member(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    name: str,
    wanted: Wanted,
    file: RegularFile,
    notes: tuple[str, ...],
) -> FileArray:
    with archive.open(info) as member:
        taken = 0

        def read(count: int) -> bytes:
            nonlocal taken
            data = _read_exactly(member, count)
            taken += len(data)
            return data

        stored = read_header(read, complex_too=wanted.complex_too)
        check_shape(stored.shape, wanted.axes)
        check_length(stored, info.file_size - taken)
        values, more = read_values(read, stored, wanted)
    # the library compares the checksum with the last byte, and gives none beyond the declared size
    return FileArray(values=values, dtype=stored.dtype, tensor=name, path=file.path, notes=(*notes, *more))


def _read_exactly(member: IO[bytes], count: int) -> bytes:
    chunks: list[bytes] = []
    while count and (chunk := member.read(count)):
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)
