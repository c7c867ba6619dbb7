"""Sines and cosines that the classes of transformers add: the order of their columns, their ladder, where they begin.

tests/reference/transformers/sinusoids.py runs every class that has them and holds what it adds against the laws of the
catalogue; `pe_spectra.models.measured` has what it found. What follows none, or starts from random numbers, has a
reason there instead of a law.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pe_spectra.findings import Kind
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import load_table
from pe_spectra.models.stated.loading import VALUE_REFUSED
from pe_spectra.models.stated.statement import NEWEST, TRANSFORMERS
from pe_spectra.records import NamedTuple
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


class Sinusoids(NamedTuple):
    """Sines and cosines that a class adds at one place of a model, with the keys of a file.

    >>> found = Sinusoids(Keys({"pad_token_id": 0}, "config.json"), "m2m_100", "encoder.embed_positions.weights", 512)
    >>> found.formula
    {'name': 'tensor2tensor', 'd': 512, 'layout': 'concatenated', 'offset': 1, 'max_timescale': 10000.0}
    >>> Sinusoids(Keys({"pad_token_id": 7}, "config.json"), "xglm", "embed_positions.weights", 64).untold
    'with this pad_token_id its rows follow no law that was measured'
    >>> keys = Keys({"context_length": 48, "prediction_length": 24}, "config.json")
    >>> Sinusoids(keys, "informer", "encoder.embed_positions", 64).read_rows()
    {'rows': 72}
    """

    keys: Keys
    model: str  #: the model_type
    at: str  #: where the class has them
    d: int  #: their width, in columns

    @property
    def law(self) -> Mapping[str, Any]:
        """What was measured of them; empty of a class that was not run."""
        found: Mapping[str, Any] = load_table(f"{NEWEST}-sinusoids")["types"].get(self.model, {}).get(self.at, {})
        return found

    @property
    def grows(self) -> bool:
        """Whether the class was seen to make rows for positions beyond those of a table."""
        return bool(self.law.get("grows"))

    @property
    def formula(self) -> dict[str, int | float | str]:
        """The encoding of the catalogue that they are: its name and parameters; empty where none is told.

        Raises
        ------
        FileError : a key that the law follows is out of range.
        """
        law, keys = self.law, self.keys
        if self.untold:
            return {}
        found = {"name": law["name"], "d": self.d, "layout": law["layout"]}
        # how far the first position is behind the word of the padding, where it goes by that
        found["offset"] = int(_follow(law.get("offset", 0), lambda key: keys.find_integer(key, least=0)))
        found |= {base: _follow(law[base], keys.find_number) for base in ("rho", "max_timescale") if base in law}
        return found | ({"scale": float(self.d ** law["power"])} if "power" in law else {})

    @property
    def untold(self) -> str:
        """Why no law is told of them with these keys; empty where one is.

        Some keys break a law with a few values, some with all but a few; some classes refuse odd or few columns.
        """
        law, found = self.law, self.keys.found
        if "name" not in law:
            return _UNMEASURED
        for key, values, is_held in ((*law.get("held", ("", ())), True), (*law.get("unless", ("", ())), False)):
            if key in found and (found[key] in values) != is_held:
                effect = _FAILS if self._meets("fails") else _SILENT if self._meets("silent") else _NO_LAW
                return f"with this {key} {effect}"
        alike = [width for width in law["widths"] if width % 2 == self.d % 2]
        if not law["widths"] or self.d >= min(alike, default=self.d + 1):
            return ""
        return f"with this width {_FAILS if self._fails_at() else _NO_LAW}"

    def report(self) -> None:
        """Report a padding or a width with which the class was seen to fail, or to add nothing."""
        law, keys = self.law, self.keys
        if keys.release != NEWEST or "name" not in law:
            return
        who = f"with which the class of {self.model} in {keys.reader}"
        for how, is_met, kind, effect in (
            ("fails", self._meets("fails"), VALUE_REFUSED, "fails"),
            ("fails_at", self._fails_at(), VALUE_REFUSED, "fails"),
            ("silent", self._meets("silent"), NOTHING_ADDED, f"adds 0 to all positions ({self.at})"),
        ):
            if is_met:
                key = law[how][0]
                columns = f"gives {count(self.d, 'column')} of sines and cosines"
                said = columns if how == "fails_at" else f"is {json.dumps(keys.found[key])}"
                message = f"{keys.where}{key} {said}, {who} {effect}"
                keys.report(kind, message, key=f"{keys.where}{key}", model=self.model)

    def read_rows(self) -> dict[str, int]:
        """Return the rows of a table that no single key states, or the keys that move them, as far as is known."""
        law = self.law
        moving = [
            (key, self.keys.find_integer(key) or default) for key, default in law.get("rows") or law.get("moved_by", ())
        ]
        found = {key: size for key, size in moving if size is not None}
        return {"rows": sum(found.values())} if "rows" in law and len(found) == len(moving) else found

    def _meets(self, how: str) -> bool:
        """Whether a key has one of the values with which the class was seen to fail, or to be silent."""
        key, values = self.law.get(how, ("", ()))
        return self.keys.found.get(key, _ABSENT) in values

    def _fails_at(self) -> bool:
        """Whether the class was seen to fail with this width, or with all that are odd as it is and were tried."""
        _, sizes = self.law.get("fails_at", ("", ()))
        is_held = any(width % 2 == self.d % 2 for width in self.law.get("widths", ()))
        alike = (size for size in sizes if size % 2 == self.d % 2)
        return self.d in sizes or (not is_held and self.d >= min(alike, default=self.d + 1))


def _follow(law: float | list[Any], read: Callable[[str], float | None]) -> float:
    """A constant, or a key plus a number, with the default of the key where it is not set."""
    if not isinstance(law, list):
        return law
    key, plus, default = law
    value = read(key)
    return float(plus + (default if value is None else value))
