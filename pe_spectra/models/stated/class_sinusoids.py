"""Sines and cosines that the classes of transformers add: the order of their columns, their ladder, where they begin.

tests/reference/transformers/sinusoids.py runs every class that has them and holds what it adds against the laws of the
catalogue; `pe_spectra.models.measured` has what it found. What follows none, or starts from random numbers, has a
reason there instead of a law.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pe_spectra.findings import Kind
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import load_table
from pe_spectra.models.stated.loading import VALUE_REFUSED
from pe_spectra.models.stated.statement import NEWEST, TRANSFORMERS
from pe_spectra.wording import count

#: What is no value of a key, as null is one.
_ABSENT = object()
_NO_LAW = "its rows follow no law that was measured"
_UNMEASURED = "how its class orders them was not measured"
_FAILS, _SILENT = "its class fails", "it adds 0 everywhere"
NOTHING_ADDED = Kind(
    code="nothing-added",
    levels=("warning",),
    phrase="the model adds 0 to all positions",
    reasoning="Classes of speech take a mask of zeros for their words; where the word of the padding is 0, every "
    "position is one of the padding, and what is added to it is 0. Nothing else fails, and positions cannot be told "
    "apart by what is added.",
    formula="a pad_token_id with which all rows that the class of this model_type added were 0 when it was run",
    references=(TRANSFORMERS,),
)


def read_sinusoid(keys: Keys, model: str, at: str, d: int) -> dict[str, int | float | str]:
    """Return the encoding of the catalogue that a class adds with these keys: its name and parameters.

    Parameters
    ----------
    model : the model_type. at : where the class has its sinusoids. d : their width, in columns.

    Returns
    -------
    Empty where the class follows no law of the catalogue, or was not measured with such keys.

    Raises
    ------
    FileError : a key that the law follows is out of range.

    >>> read_sinusoid(Keys({"pad_token_id": 0}, "config.json"), "m2m_100", "encoder.embed_positions.weights", 512)
    {'name': 'tensor2tensor', 'd': 512, 'layout': 'concatenated', 'offset': 1, 'max_timescale': 10000.0}
    """
    law = _find_law(model, at)
    if explain_untold(keys, model, at, d):
        return {}
    found = {"name": law["name"], "d": d, "layout": law["layout"], "offset": _read_offset(keys, law.get("offset", 0))}
    for base in ("rho", "max_timescale"):
        found |= {base: _read_base(keys, law[base])} if base in law else {}
    return found | ({"scale": float(d ** law["power"])} if "power" in law else {})


def explain_untold(keys: Keys, model: str, at: str, d: int) -> str:
    """Say why no law is told of what a class adds with these keys; empty where one is.

    Some keys break a law with a few values, some with all but a few; some classes refuse odd or few columns.

    >>> explain_untold(Keys({"pad_token_id": 7}, "config.json"), "xglm", "embed_positions.weights", 64)
    'with this pad_token_id its rows follow no law that was measured'
    """
    law = _find_law(model, at)
    if "name" not in law:
        return _UNMEASURED
    for key, values, is_held in ((*law.get("held", ("", ())), True), (*law.get("unless", ("", ())), False)):
        if key in keys.found and (keys.found[key] in values) != is_held:
            fails, silent = (_meets(keys, law, how) for how in ("fails", "silent"))
            return f"with this {key} {_FAILS if fails else _SILENT if silent else _NO_LAW}"
    alike = [width for width in law["widths"] if width % 2 == d % 2]
    if not law["widths"] or d >= min(alike, default=d + 1):
        return ""
    return f"with this width {_FAILS if _fails_at(law, d) else _NO_LAW}"


def report_sinusoids(keys: Keys, model: str, at: str, d: int) -> None:
    """Report a padding or a width with which a class was seen to fail, or to add nothing; `at` and `d` as above.

    >>> report_sinusoids(keys := Keys({"d_model": 2}, "config.json"), "xglm", "embed_positions.weights", 2)
    >>> keys.findings[0].message
    'd_model gives 2 columns of sines and cosines, with which the class of xglm in transformers 5 fails'
    """
    law = _find_law(model, at)
    if keys.release != NEWEST or "name" not in law:
        return
    who = f"with which the class of {model} in {keys.reader}"
    if _meets(keys, law, "fails"):
        key = f"{keys.where}{law['fails'][0]}"
        keys.report(
            VALUE_REFUSED, f"{key} is {json.dumps(keys.found[law['fails'][0]])}, {who} fails", key=key, model=model
        )
    if _fails_at(law, d):
        key = f"{keys.where}{law['fails_at'][0]}"
        keys.report(
            VALUE_REFUSED, f"{key} gives {count(d, 'column')} of sines and cosines, {who} fails", key=key, model=model
        )
    if _meets(keys, law, "silent"):
        key = f"{keys.where}{law['silent'][0]}"
        message = f"{key} is {keys.found[law['silent'][0]]}, {who} adds 0 to all positions ({at})"
        keys.report(NOTHING_ADDED, message, key=key, model=model)


def _meets(keys: Keys, law: Mapping[str, Any], how: str) -> bool:
    """Whether a key has one of the values with which a class was seen to fail, or to be silent."""
    key, values = law.get(how, ("", ()))
    return keys.found.get(key, _ABSENT) in values


def _fails_at(law: Mapping[str, Any], d: int) -> bool:
    """Whether a class was seen to fail with a width, or with all that are odd as it is and were tried."""
    _, sizes = law.get("fails_at", ("", ()))
    is_held = any(width % 2 == d % 2 for width in law.get("widths", ()))
    return d in sizes or (not is_held and d >= min((size for size in sizes if size % 2 == d % 2), default=d + 1))


def read_rows(keys: Keys, model: str, at: str) -> dict[str, int]:
    """Return the rows of a table that no single key states, or the keys that move their number, as far as is known.

    >>> keys = Keys({"context_length": 48, "prediction_length": 24}, "config.json")
    >>> read_rows(keys, "informer", "encoder.embed_positions")
    {'rows': 72}
    """
    law = _find_law(model, at)
    moving = [(key, keys.find_integer(key) or default) for key, default in law.get("rows") or law.get("moved_by", ())]
    found = {key: size for key, size in moving if size is not None}
    return {"rows": sum(found.values())} if "rows" in law and len(found) == len(moving) else found


def makes_any_row(model: str, at: str) -> bool:
    """Whether a class was seen to make rows for positions beyond those of a table.

    >>> makes_any_row("fsmt", "encoder.embed_positions"), makes_any_row("informer", "encoder.embed_positions")
    (True, False)
    """
    return bool(_find_law(model, at).get("grows"))


def _find_law(model: str, at: str) -> Mapping[str, Any]:
    law: Mapping[str, Any] = load_table(f"{NEWEST}-sinusoids")["types"].get(model, {}).get(at, {})
    return law


def _read_offset(keys: Keys, law: int | list[Any]) -> int:
    """A number, or how far the first position is behind the word of the padding."""
    if isinstance(law, int):
        return law
    key, plus, default = law
    padding = keys.find_integer(key, least=0)
    return int(plus + (default if padding is None else padding))


def _read_base(keys: Keys, law: float | list[Any]) -> float:
    if not isinstance(law, list):
        return law
    key, plus, default = law
    value = keys.find_number(key)
    return float(plus + (default if value is None else value))
