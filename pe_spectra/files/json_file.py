"""JSON files, read strictly: configurations of models and indices of checkpoints."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, final

from pe_spectra.errors import shorten
from pe_spectra.files.reading import RefusedError, RegularFile, open_regular
from pe_spectra.limits import MAX_CONFIGURATION_BYTES, MAX_DEPTH, MAX_DIGITS


@final
class Unlimited:
    """What Infinity in a file is read as: no number, so whoever reads that key refuses it.

    Python writes it for limits that there are none of, such as time_step_limit of Mamba models.
    """

    def __repr__(self) -> str:
        """Write it as the file has it."""
        return "Infinity"


_UNLIMITED = Unlimited()


def read_json(path: Path, label: str = "", *, limit: int = MAX_CONFIGURATION_BYTES) -> dict[str, Any]:
    """Read the object in a JSON file.

    Python's own reader takes the last of two equal keys, NaN, and 1e999 as infinity; this one does not. The word
    Infinity, which Python writes into files of models, is no number here: :class:`Unlimited`.

    Parameters
    ----------
    path : the file, as it was given.
    label : the option that named the file, for messages; may be empty.
    limit : most bytes to accept.

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
        return read_object(file, limit)


def read_object(file: RegularFile, limit: int) -> dict[str, Any]:
    """Read the object in an open JSON file; see :func:`read_json`.

    Raises
    ------
    RefusedError : as :func:`read_json` says.

    >>> from pe_spectra.files.reading import open_regular
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "config.json").write_text('{"head_dim": 64}')
    ...     with open_regular(Path(folder) / "config.json", label="") as file:
    ...         read_object(file, 100)
    {'head_dim': 64}
    """
    return parse_object(file.read_at(0, limit + 1), limit)


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
    if len(data) > limit:
        raise RefusedError(f"holds more than {limit} bytes, the most that is accepted")
    if not data.strip():
        raise RefusedError("is empty; a JSON object is accepted")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RefusedError(f"is not UTF-8 (line {_count_lines(data, error.start)})") from error
    found = _parse(text)
    if not isinstance(found, dict):
        raise RefusedError(f"holds {_name_kind(found)}; a JSON object is accepted")
    _check_depth(found)
    return found


def _parse(text: str) -> object:
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
        raise RefusedError(f"nests too deep; at most {MAX_DEPTH} levels are accepted") from error


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


def _check_depth(found: dict[str, Any]) -> None:
    level: list[Any] = [found]
    for _ in range(MAX_DEPTH):
        level = [member for value in level for member in _list_containers(value)]
        if not level:
            return
    raise RefusedError(f"nests too deep; at most {MAX_DEPTH} levels are accepted")


def _list_containers(value: Any) -> list[Any]:
    members: Iterable[Any] = value.values() if isinstance(value, dict) else value
    return [member for member in members if isinstance(member, dict | list)]


def _name_kind(found: object) -> str:
    kinds = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return kinds.get(type(found), "a number")


def _count_lines(data: bytes, end: int) -> int:
    return data.count(b"\n", 0, end) + 1
