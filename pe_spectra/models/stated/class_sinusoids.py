"""Sines and cosines that the classes of transformers add: the order of their columns, their ladder, where they begin.

tests/reference/transformers/sinusoids.py runs every class that has them and holds what it adds against the laws of the
catalogue; `pe_spectra.models.measured` has what it found. What follows none, or starts from random numbers, has a
reason there instead of a law.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import load_table
from pe_spectra.models.stated.statement import NEWEST


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
    law: Mapping[str, Any] = load_table(f"{NEWEST}-sinusoids")["types"].get(model, {}).get(at, {})
    if "name" not in law or not _holds(keys, law):
        return {}
    found = {"name": law["name"], "d": d, "layout": law["layout"], "offset": _read_offset(keys, law.get("offset", 0))}
    for base in ("rho", "max_timescale"):
        found |= {base: _read_base(keys, law[base])} if base in law else {}
    return found | ({"scale": float(d ** law["power"])} if "power" in law else {})


def _holds(keys: Keys, law: Mapping[str, Any]) -> bool:
    """Whether the law was measured with keys like these: some break it with a few values, some with all but a few."""
    key, held = law.get("held", (None, ()))
    broken, values = law.get("unless", (None, ()))
    return keys.found.get(key) in (None, *held) and keys.found.get(broken) not in values


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
