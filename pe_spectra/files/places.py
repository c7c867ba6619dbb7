"""Where files may be written: every check that can be made before any work starts."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from pe_spectra.errors import InputError
from pe_spectra.files.reading import RefusedError, describe_kind, naming, with_label
from pe_spectra.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the bytes for one path go."""

    given: Path
    #: Absolute, with every symbolic link followed.
    target: Path
    #: The status of what is there; None where nothing is.
    old: os.stat_result | None

    @property
    def is_device(self) -> bool:
        """Whether the bytes go to a character device, which cannot be renamed over."""
        return self.old is not None and stat.S_ISCHR(self.old.st_mode)


def check_writable(paths: Sequence[Path], *, label: str, create_parents: bool = False) -> list[Place]:
    """Find where the bytes for each path go, or refuse, before any work; nothing is opened, created or changed.

    A full disk or device shows only when it is written to.

    Parameters
    ----------
    paths : where files are to go, as they were given.
    label : the option that named them, for messages; may be empty.
    create_parents : missing folders will be made by :func:`pe_spectra.files.writer.write_files`.

    Returns
    -------
    A place for each path, in their order.

    Raises
    ------
    FileError : the folder is missing or not writable, or the path is a folder, a named pipe, a
        socket, a block device, write-protected, a loop of links, or too long.
    InputError : two of the paths are one file.

    >>> check_writable([Path("no such folder/a.csv")], label="--output")
    Traceback (most recent call last):
        ...
    pe_spectra.errors.FileError: no such folder/a.csv: its folder does not exist (--output)
    """
    places = [_examine(path, label, create_parents) for path in paths]
    first: dict[Path, Path] = {}
    for place in places:
        if place.target in first:
            what = with_label("two outputs are one file", label)
            raise InputError(what, f"{first[place.target]}, {place.given}", "distinct files")
        first[place.target] = place.given
    return places


def _examine(path: Path, label: str, create_parents: bool) -> Place:
    with naming(path, label):
        place = Place(given=path, target=_resolve(path), old=find_status(path))
        _check_place(place, create_parents)
        return place


def _resolve(path: Path) -> Path:
    """Follow every symbolic link; the last name need not be there yet."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        return Path(os.path.realpath(path))


def find_status(path: Path) -> os.stat_result | None:
    """Give the status of what `path` leads to; None where nothing is there.

    >>> find_status(Path("no such file")) is None
    True
    """
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _check_place(place: Place, create_parents: bool) -> None:
    """Refuse a place where nothing can be written."""
    if place.old is not None:
        mode = place.old.st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
            raise RefusedError(f"is {describe_kind(mode)}; a regular file is accepted")
        if not _is_permitted(place.target, os.W_OK):
            raise RefusedError("is write-protected")
    if place.is_device:
        return
    folder = place.target.parent
    status = find_status(folder)
    while status is None and create_parents:
        folder = folder.parent
        status = find_status(folder)
    if status is None:
        raise RefusedError("its folder does not exist")
    if not stat.S_ISDIR(status.st_mode):
        raise RefusedError("a part of this path is not a folder")
    if not _is_permitted(folder, os.W_OK | os.X_OK):
        raise RefusedError("its folder is not writable")


def _is_permitted(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)
