"""Text with keys, read strictly: JSON of models and checkpoints, TOML of settings."""

from __future__ import annotations

import json
import math
import re
from codecs import BOM_UTF8
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from pe_spectra.errors import shorten
from pe_spectra.files.reading import RefusedError, open_regular
from pe_spectra.limits import MAX_CONFIGURATION_BYTES, MAX_DEPTH, MAX_DIGITS, MAX_SETTINGS_BYTES

if TYPE_CHECKING:
    import tomllib

#: Parts of a dotted key. The parser's time grows with their square: 50,000 take half a minute.
_MAX_KEY_PARTS = 32
_PIECE = r"[^=,{}\[\]\n]+"
_PART = r"\.[ \t]*[^. \t]"
_POSITION = r"\(at line ([0-9]+), column [0-9]+\)$"
_TWICE = ("Cannot overwrite", "Cannot declare", "Duplicate inline", "Cannot mutate")
_TOO_DEEP = f"nests too deep; at most {MAX_DEPTH} levels are accepted"
_KEY = r"\s*([A-Za-z0-9_-]+)\s*="


@final
class Unlimited:
    """What Infinity in a file is read as: no number, so whoever reads that key refuses it.

    Python writes it for limits that there are none of, such as time_step_limit of Mamba models.
    """

    def __repr__(self) -> str:
        """Write it as the file has it."""
        return "Infinity"


_UNLIMITED = Unlimited()


def read_json(path: Path, label: str = "") -> dict[str, Any]:
    """Read the object in a JSON file.

    Python's own reader takes the last of two equal keys, NaN, and 1e999 as infinity; this one does not. The word
    Infinity, which Python writes into files of models, is no number here: :class:`Unlimited`.

    Parameters
    ----------
    path : the file, as it was given.
    label : the option that named the file, for messages; may be empty.

    Returns
    -------
    The object; every number in it is finite.

    Raises
    ------
    FileError : the file cannot be read, is longer, is not UTF-8 or not JSON, is no object, nests
        deeper than 64 levels, gives a key twice, or has a number that is not finite or too long.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "config.json").write_text('{"rope_theta": 5e5}')
    ...     read_json(Path(folder) / "config.json")
    {'rope_theta': 500000.0}
    """
    with open_regular(path, label=label) as file:
        return parse_object(file.read_at(0, MAX_CONFIGURATION_BYTES + 1), MAX_CONFIGURATION_BYTES)


def parse_object(data: bytes, limit: int) -> dict[str, Any]:
    """Read the object that bytes hold; see :func:`read_json`.

    Parameters
    ----------
    data : at most `limit` + 1 bytes of what is read. limit : most bytes to accept.

    Raises
    ------
    RefusedError : as :func:`read_json` says.

    >>> parse_object(b'{"rope_theta": 1e4}', 100)
    {'rope_theta': 10000.0}
    >>> parse_object(b'{"rope_theta": NaN}', 100)
    Traceback (most recent call last):
        ...
    pe_spectra.files.reading.RefusedError: has NaN, which is not JSON; finite numbers are accepted
    """
    text = _decode(data, limit, BOM_UTF8)
    if not text.strip():
        raise RefusedError("is empty; a JSON object is accepted")
    found = _parse_json(text)
    if not isinstance(found, dict):
        raise RefusedError(f"holds {_name_kind(found)}; a JSON object is accepted")
    _check_depth(found)
    return found


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
    with open_regular(path, label=label) as file:
        text = _decode(file.read_at(0, MAX_SETTINGS_BYTES + 1), MAX_SETTINGS_BYTES)
        _check_keys(text)
        tables = _parse_toml(text)
        key = _find_unbounded(tables)
        if key:
            raise RefusedError(f"{shorten(key)} is not a finite number")
    return tables


def _decode(data: bytes, limit: int, mark: bytes = b"") -> str:
    """Read bytes as text, without a mark before it; `data` has one more than `limit` where there are more."""
    if len(data) > limit:
        raise RefusedError(f"holds more than {limit} bytes, the most that is accepted")
    try:
        return data.removeprefix(mark).decode()  # the codec that drops the mark is a module of its own
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RefusedError(f"is not UTF-8 (line {line})") from error


def _parse_json(text: str) -> object:
    try:
        return json.loads(
            text,
            object_pairs_hook=join_pairs,
            parse_constant=_read_constant,
            parse_float=_parse_float,
            parse_int=_parse_int,
        )
    except json.JSONDecodeError as error:
        raise RefusedError(f"is not JSON (line {error.lineno}, column {error.colno})") from error
    except RecursionError as error:
        raise RefusedError(_TOO_DEEP) from error


def join_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys and values, and refuse a key that is given twice.

    Raises
    ------
    RefusedError : a key is given twice.

    >>> join_pairs([("a", 1), ("a", 2)])
    Traceback (most recent call last):
        ...
    pe_spectra.files.reading.RefusedError: gives a twice
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(key for key, _ in pairs)
        raise RefusedError(f"gives {shorten(next(key for key in times if times[key] > 1))} twice")
    return found


def _read_constant(text: str) -> Unlimited:
    if text == "Infinity":
        return _UNLIMITED
    raise RefusedError(f"has {text}, which is not JSON; finite numbers are accepted")


def _parse_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise RefusedError(f"has a number out of range ({shorten(text, 20)}); finite numbers are accepted")
    return value


def _parse_int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise RefusedError(f"has a number of {len(text)} digits; at most {MAX_DIGITS} are accepted")
    return int(text)


def _check_depth(found: dict[str, Any] | list[Any], levels: int = MAX_DEPTH) -> None:
    if not levels:
        raise RefusedError(_TOO_DEEP)
    for member in found.values() if isinstance(found, dict) else found:
        if isinstance(member, dict | list):
            _check_depth(member, levels - 1)


def _name_kind(found: object) -> str:
    kinds = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return kinds.get(type(found), "a number")


def _parse_toml(text: str) -> dict[str, Any]:
    import tomllib

    # everything is caught: the parser raises ValueError for 5,000 digits, RecursionError for open
    # brackets, and what else it may raise is the file's fault too
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RefusedError(_explain(error, text)) from error
    except RecursionError as error:
        raise RefusedError("nests too deep") from error
    except Exception as error:
        raise RefusedError("has a value out of range, such as a number of too many digits") from error


def _explain(error: tomllib.TOMLDecodeError, text: str) -> str:
    """Say what is wrong and in which line, in our words."""
    message = str(error)
    lines = text.rstrip().split("\n")
    found = re.search(_POSITION, message)
    number = min(int(found[1]), len(lines)) if found else len(lines)
    if not message.startswith(_TWICE):
        return f"is not TOML (line {number})"
    # inside an inline table the line begins with another key than the one meant
    key = None if "{" in lines[number - 1] else re.match(_KEY, lines[number - 1])
    return f"gives {shorten(key[1]) if key else 'a key'} twice (line {number})"


def _check_keys(text: str) -> None:
    """Refuse a key of too many parts before the parser sees it."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") < _MAX_KEY_PARTS:
            continue
        if any(len(re.findall(_PART, piece)) >= _MAX_KEY_PARTS for piece in re.findall(_PIECE, line)):
            raise RefusedError(f"has a key of more than {_MAX_KEY_PARTS} parts (line {number})")


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
