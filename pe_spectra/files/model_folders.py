"""The models in a folder and below it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pe_spectra.errors import FileError
from pe_spectra.files.model_files import choose_models, find_in_folder
from pe_spectra.files.reading import list_folder, open_regular
from pe_spectra.limits import MAX_CONFIGURATION_BYTES, MAX_FOLDERS


def list_models(text: str) -> list[str]:
    """List the models that a name stands for: itself, or of a folder without a configuration those in it and below.

    A folder with a config.json, else a params.json, else .gguf files is a model, and what lies below it belongs to it.
    Of a folder without these each .json file with the key model_type is one. Names come in their order; a folder that
    two links lead to counts once, hidden ones (.git) do not. What cannot be listed is named: reading it says why.

    Parameters
    ----------
    text : as for :func:`find_model_file`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     (Path(folder) / "b").mkdir()
    ...     written = (Path(folder) / "b" / "config.json").write_text("{}")
    ...     [name.removeprefix(folder) for name in list_models(folder)]
    ['/b/config.json']
    """
    start = Path(os.path.expanduser(text))
    if not text or not start.is_dir() or _has_one(start):
        return [text]
    return [os.path.join(text, name) for name in _walk(start)] or [text]


def has_models(text: str) -> bool:
    """Whether a name stands for a folder with models in it or below, of which one is enough to be found.

    >>> has_models("no such folder")
    False
    """
    start = Path(os.path.expanduser(text))
    return bool(text) and start.is_dir() and not _has_one(start) and next(_walk(start), None) is not None


def _has_one(folder: Path) -> bool:
    """Whether a folder is one model; of several .gguf files in one that is named, the error says to name one."""
    try:
        return find_in_folder(folder, "") is not None
    except FileError:
        return True


def _walk(start: Path) -> Iterator[str]:
    """The models below a folder, by their names from there, in order; a folder that cannot be listed by its own."""
    waiting, seen = [""], set[tuple[int, int]]()
    while waiting:
        below = waiting.pop()
        folder = start / below
        try:
            status = os.stat(folder)
            names = list_folder(folder, "")
        except (OSError, FileError):
            yield below
            continue
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        if len(seen) > MAX_FOLDERS:
            raise FileError(start, f"has more than {MAX_FOLDERS} folders below it, the most that are looked into")
        own = choose_models(names)
        if own:
            yield from (os.path.join(below, name) for name in own)
            continue
        yield from (os.path.join(below, name) for name in names if _is_configuration(folder / name))
        shown = [name for name in names if not name.startswith(".") and (folder / name).is_dir()]
        waiting += [os.path.join(below, name) for name in reversed(shown)]


def _is_configuration(path: Path) -> bool:
    """Whether a .json file of any name has the key of a model's type, or cannot be read, which reading it then says."""
    if path.suffix != ".json" or path.name.startswith(".") or not path.is_file():
        return False
    with suppress(FileError), open_regular(path, label="") as file:
        return b'"model_type"' in file.read_at(0, MAX_CONFIGURATION_BYTES)
    return True
