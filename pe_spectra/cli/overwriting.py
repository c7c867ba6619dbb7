"""Outputs that are files which the same command reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pe_spectra.errors import FileError, InputError
from pe_spectra.spec import FileSpec, parse_spec, split_list


def refuse_overwriting(outputs: Mapping[str, str | Path | None], texts: Sequence[str]) -> None:
    """Refuse, before any work, an output that is a file which the command reads, however both are spelled.

    Parameters
    ----------
    outputs : option -> where its file goes, or None.
    texts : what options and arguments name that may be a SPEC or a file.
    """
    present = [(option, Path(place)) for option, place in outputs.items() if place and os.path.exists(place)]
    for text in texts if present else ():
        for path in _list_files(text):
            for option, place in present:
                if _is_same(place, Path(path).expanduser()):
                    raise FileError(place, f"is read by this command ({option}); another file is accepted")


def _list_files(text: str) -> Iterator[str]:
    """What a SPEC may read: its file, the files that its parameters name, and those of SPECs in it."""
    yield text
    try:
        spec = parse_spec(text)
    except InputError:
        return  # refused in its turn, if it is a SPEC at all
    if isinstance(spec, FileSpec):
        yield spec.path
        return
    for _, value in spec.raw:
        for part in split_list(value):
            yield from _list_files(part)


def _is_same(output: Path, source: Path) -> bool:
    """Whether an output is a file that is read, or one of the files of a model that is read."""
    try:
        whole_model = source.is_dir() or source.name.endswith(".index.json")
        if whole_model and output.resolve().parent == (source if source.is_dir() else source.parent).resolve():
            return output.is_file()
        return os.path.samefile(output, source)
    except (OSError, ValueError):
        return False  # not there, or no possible name
