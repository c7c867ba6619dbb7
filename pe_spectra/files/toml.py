"""Settings files: strict TOML, within a limit of size and depth."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path
from typing import Any

from pe_spectra.errors import FileError, shorten
from pe_spectra.files.reading import read_bytes, with_label
from pe_spectra.limits import MAX_SETTINGS_BYTES

#: Parts of a dotted key. The parser's time grows with their square: 50,000 take half a minute.
_MAX_KEY_PARTS = 32
_PIECE = re.compile(r"[^=,{}\[\]\n]+")
_PART = re.compile(r"\.[ \t]*[^. \t]")
_POSITION = re.compile(r"\(at line ([0-9]+), column [0-9]+\)$")
_TWICE = ("Cannot overwrite", "Cannot declare", "Duplicate inline", "Cannot mutate")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")


def read_toml(path: Path, *, label: str) -> dict[str, Any]:
    """Read a settings file of at most 1 MiB.

    Parameters
    ----------
    path : the file, as it was given.
    label : the option that named the file, for messages; may be empty.

    Returns
    -------
    The tables and values, as `tomllib` gives them; every number is finite.

    Raises
    ------
    FileError : the file cannot be read, is longer, is not UTF-8 or not TOML, nests too deep,
        gives a key twice, or has a number that is not finite.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "pe.toml").write_text("spectrum.rho = 100.0")
    ...     read_toml(Path(folder) / "pe.toml", label="--settings")
    {'spectrum': {'rho': 100.0}}
    """
    data = read_bytes(path, limit=MAX_SETTINGS_BYTES, label=label)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(path, with_label(f"is not UTF-8 (line {line})", label)) from error
    reason = _find_long_key(text)
    if reason:
        raise FileError(path, with_label(reason, label))
    tables = _parse(path, text, label)
    key = _find_unbounded(tables)
    if key:
        reason = f"{shorten(key)} is not a finite number"
        raise FileError(path, with_label(reason, label))
    return tables


def _parse(path: Path, text: str, label: str) -> dict[str, Any]:
    # everything is caught: the parser raises ValueError for 5,000 digits, RecursionError for open
    # brackets, and what else it may raise is the file's fault too
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(path, with_label(_explain(error, text), label)) from error
    except RecursionError as error:
        raise FileError(path, with_label("nests too deep", label)) from error
    except Exception as error:
        reason = "has a value out of range, such as a number of too many digits"
        raise FileError(path, with_label(reason, label)) from error


def _explain(error: tomllib.TOMLDecodeError, text: str) -> str:
    """Say what is wrong and in which line, in our words."""
    message = str(error)
    lines = text.rstrip().split("\n")
    found = _POSITION.search(message)
    number = min(int(found[1]), len(lines)) if found else len(lines)
    if not message.startswith(_TWICE):
        return f"is not TOML (line {number})"
    # inside an inline table the line begins with another key than the one meant
    key = None if "{" in lines[number - 1] else _KEY.match(lines[number - 1])
    return f"gives {shorten(key[1]) if key else 'a key'} twice (line {number})"


def _find_long_key(text: str) -> str:
    """Give a reason to refuse the text, or an empty text."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") < _MAX_KEY_PARTS:
            continue
        if any(len(_PART.findall(piece)) >= _MAX_KEY_PARTS for piece in _PIECE.findall(line)):
            return f"has a key of more than {_MAX_KEY_PARTS} parts (line {number})"
    return ""


def _find_unbounded(tables: dict[str, Any]) -> str:
    """Name the first key, dotted, whose number is not finite; an empty text if there is none."""
    pending: list[tuple[tuple[str, ...], Any]] = [((), tables)]
    while pending:
        key, value = pending.pop()
        if isinstance(value, float) and not math.isfinite(value):
            return ".".join(key)
        if isinstance(value, dict):
            pending.extend(((*key, name), member) for name, member in reversed(value.items()))
        elif isinstance(value, list):
            pending.extend((key, member) for member in reversed(value))
    return ""
