"""What is known of one side of a comparison, to try what it would be with other parameters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import PeSpectraError
from pe_spectra.exact import F64, I64
from pe_spectra.models.comparison.divergence import EXACT
from pe_spectra.models.rotation import Rotation
from pe_spectra.records import dataclass

#: Errors of a side's frequencies that its formula may be off by.
_ROUNDINGS = 2


@dataclass(frozen=True)
class Start:
    """What is known of the side that a way starts from, and how many pairs the other side has."""

    rotation: Rotation
    pairs: int
    turned: int  #: how many pairs of the other side are not at rest

    @property
    def frequencies(self) -> F64:
        return np.empty(0) if self.rotation.frequencies is None else self.rotation.frequencies

    @cached_property
    def values(self) -> dict[str, Any]:
        """Parameters of the catalogue's `rope` that give the frequencies; empty where none are known to."""
        side = self.rotation
        if side.rope is not None:
            return side.rope.given
        if side.base is None or side.scaling is None or side.scaling not in SCALINGS or not side.rotary_dim:
            return {}
        stated = {"d": side.rotary_dim, "base": side.base, "scaling": side.scaling, **side.options}
        plain = _compute(stated)
        if plain is None or len(plain) != len(self.frequencies):
            return {}
        allowed = _ROUNDINGS * max(side.error_bound, EXACT) * plain + getattr(side, "rest", 0.0)
        return stated if (np.abs(plain - np.sort(self.frequencies)[::-1]) <= allowed).all() else {}

    @property
    def is_scaled(self) -> bool:
        return bool(self.values.get("scaling", "none") != "none")

    @cached_property
    def order(self) -> I64 | None:
        """Which frequencies of the ladder the pairs have in turn; None where they are no such ladder."""
        plain = self.compute()
        if plain is None or len(plain) != len(self.frequencies):
            return None
        order = np.empty(len(plain), dtype=np.int64)
        order[np.argsort(-self.frequencies, kind="stable")] = np.argsort(-plain, kind="stable")
        return order

    @property
    def ladder(self) -> F64 | None:
        """The same without scaling, of as many pairs; None where it is not known."""
        found = self.vary(scaling="none") if self.is_scaled else self.frequencies
        return found if found is not None and len(found) == len(self.frequencies) else None

    def find(self, name: str) -> Any:
        """The value of a parameter, that of its scaling by default; None where it has none."""
        scaling = SCALINGS.get(self.values.get("scaling", ""))
        return self.values.get(name, scaling.defaults.get(name) if scaling else None)

    def vary(self, **changes: Any) -> F64 | None:
        """Frequencies with other parameters, in the order of the pairs; None where the formula takes none of them."""
        made = self.compute(**changes)
        if made is None or self.order is None or len(made) != len(self.order):
            return made
        ordered: F64 = made[self.order]
        return ordered

    def compute(self, **changes: Any) -> F64 | None:
        """Frequencies with other parameters as a ladder has them, which may be another number of pairs."""
        return _compute({**self.values, **changes}) if self.values else None


def _compute(values: Mapping[str, Any]) -> F64 | None:
    """Frequencies by the catalogue's `rope`, which takes of the parameters what its scaling has."""
    scaling = SCALINGS[values["scaling"]]
    kept = {
        one.keyword: values[one.keyword]
        for one in Rope.accepts
        if values.get(one.keyword) is not None and (not one.only_with or one.keyword in scaling.keys)
    }
    try:
        return Rope(**kept).frequencies().values
    except (PeSpectraError, ArithmeticError):
        return None
