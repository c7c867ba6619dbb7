"""Where the keys of a JSON file stand in its text."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from pathlib import Path

from pe_spectra.files.reading import read_bytes
from pe_spectra.limits import MAX_CONFIGURATION_BYTES
from pe_spectra.records import dataclass

#: Of JSON what tells keys from all else: texts, which may hold any of the others, and punctuation.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]')


@dataclass(frozen=True, kw_only=True)
class Region:
    """A part of one line of a text; lines end with a line feed, columns are characters, and both count from 1."""

    line: int  #: the line
    column: int  #: the first of its columns
    end: int  #: the column behind the last


def read_key_regions(path: Path, label: str = "") -> dict[str, Region]:
    """Read where the keys of a JSON file stand; a mark of the order of its bytes counts as nothing.

    Parameters
    ----------
    path : the file, which was read as JSON before. label : the option that named it, for messages; may be empty.

    Returns
    -------
    As :func:`find_key_regions`.

    Raises
    ------
    FileError : the file cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "config.json").write_text('{"rope_theta": 5e5}')
    ...     read_key_regions(Path(folder) / "config.json")
    {'': Region(line=1, column=1, end=2), 'rope_theta': Region(line=1, column=2, end=14)}
    """
    data = read_bytes(path, limit=MAX_CONFIGURATION_BYTES, label=label)
    return find_key_regions(data.decode("utf-8-sig", "replace"))


def find_key_regions(text: str) -> dict[str, Region]:
    r"""Find where the keys of a JSON text stand, quotes included.

    Parameters
    ----------
    text : valid JSON.

    Returns
    -------
    The region of each key by the keys that lead to it, joined by dots; a member of a list is called by its number. Of
    two keys alike in one object it is the last, which readers take. The first, "", is the bracket that begins it all;
    an empty key beside it is called by its quotes.

    >>> find_key_regions('{"a": {"b": 1},\r\n "c": [{"b": 2}]}')["c.0.b"]
    Region(line=2, column=9, end=12)
    """
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    regions: dict[str, Region] = {}
    # of each object and list that is open its last key, None where one is to come, or the number of its member
    names: list[str | int | None] = []
    for token in _TOKEN.finditer(text):
        word = token[0]
        line = bisect_right(starts, token.start())
        column = token.start() - starts[line - 1] + 1
        region = Region(line=line, column=column, end=column + len(word))
        if word in "{[":
            regions.setdefault("", region)
            names.append(None if word == "{" else 0)
        elif word in "}]":
            names.pop()
        elif word == ",":
            names[-1] = names[-1] + 1 if isinstance(names[-1], int) else None
        elif names and names[-1] is None:
            names[-1] = json.loads(word)
            regions[".".join(map(str, names)) or word] = region
    return regions
