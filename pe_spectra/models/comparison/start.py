"""What is known of one side of a comparison, to try what it would be with other parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from pe_spectra.encodings.rope_ladders import blend_by_turns
from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import PeSpectraError
from pe_spectra.exact import EXACT, F64, I64
from pe_spectra.models.rotation import Rotation
from pe_spectra.numbers import find_shortest
from pe_spectra.records import dataclass

#: Errors of a side's frequencies that its formula may be off by.
_ROUNDINGS = 2
#: Logarithm of the largest base that is tried.
LARGEST_LOG = 690.0
#: Relative error of numbers that were computed in float64; what is smaller than any frequency.
_NEAR, _LEAST = 1e-12, 1e-300


@dataclass(frozen=True)
class Start:
    """What is known of the side that a way starts from, and the other one: how many pairs it has, and that turn."""

    rotation: Rotation
    other: Rotation
    is_reference: bool = True  #: whether the other is held against it, as a dump against what is stated, or B against A

    @property
    def pairs(self) -> int:
        return len(self.other.listed)

    @property
    def turned(self) -> int:
        return int(np.count_nonzero(self.other.listed))

    @property
    def frequencies(self) -> F64:
        return self.rotation.listed

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

    @cached_property
    def ladder(self) -> F64 | None:
        """The same without scaling, of as many pairs; None where it is not known."""
        found = self.vary(scaling="none") if self.is_scaled else self.frequencies
        return found if found is not None and len(found) == len(self.frequencies) else None

    @cached_property
    def kept(self) -> F64 | None:
        """What scaling leaves of each frequency, as a share; None where nothing is scaled, or a pair is at rest."""
        ladder = self.ladder
        if not self.is_scaled or ladder is None or not ladder.all() or not self.frequencies.all():
            return None
        found: F64 = self.frequencies / ladder
        return found

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

    def keep_divisors(self, ladder: F64 | None) -> F64 | None:
        """Another ladder whose pairs are divided by what those of this side are divided by."""
        if ladder is None or not self.is_scaled:
            return ladder
        return None if self.kept is None or len(ladder) != len(self.kept) else ladder * self.kept

    def scale_by_wavelength(self, frequencies: F64) -> F64 | None:
        """Scale any frequencies as llama3 scales; None for other scalings."""
        if self.values.get("scaling") != "llama3":
            return None
        values = [self.find(name) for name in ("factor", "original", "low_freq_factor", "high_freq_factor")]
        if None in values:
            return None
        return np.array(blend_by_turns([*map(Decimal, frequencies.tolist())], *values), dtype=np.float64)

    def spread(self, width: float, first: int = 0) -> F64 | None:
        """A ladder whose exponents are 2 (i + first)/width, scaled as this side is."""
        if not self.values or width <= 0:
            return None
        ladder = np.exp(-2.0 * math.log(self.values["base"]) * (np.arange(self.pairs) + first) / width)
        by_wavelength = self.scale_by_wavelength(ladder)
        return self.keep_divisors(ladder) if by_wavelength is None else by_wavelength

    def solve_base(self) -> object:
        """The base for which the slowest pair that turns is as on the other side, pairs divided alike."""
        ladder, others = self.ladder, self.other.frequencies
        if not self.values or ladder is None or others is None or len(others) != len(ladder):
            return None
        slowness = np.where(
            (ladder > 0) & (self.frequencies > 0) & (others > 0), -np.log(np.maximum(ladder, _LEAST)), 0
        )
        pair = int(np.argmax(slowness))
        if slowness[pair] <= 0:
            return None
        log = math.log(self.values["base"])
        found = log * (1 - math.log(others[pair] / self.frequencies[pair]) / slowness[pair])
        return _shorten(found, self._bound_other() * log / slowness[pair]) if 0 < found < LARGEST_LOG else None

    def solve_factor(self) -> object:
        """The factor for which the pair that is divided most is as on the other side."""
        factor, others = self.find("factor"), self.other.frequencies
        if not factor or self.kept is None or others is None or len(others) != len(self.kept):
            return None
        pair = int(np.argmin(self.kept))
        if not others[pair] or abs(self.kept[pair] * factor - 1) > _NEAR:
            return None
        return _shorten(math.log(factor * self.frequencies[pair] / others[pair]), self._bound_other())

    def _bound_other(self) -> float:
        """Largest error of a logarithm of a frequency of the other side."""
        return 2 * max(self.other.error_bound, _NEAR)


def _shorten(log: float, error: float) -> float:
    """The shortest decimal number whose logarithm is as near."""
    return find_shortest(math.exp(log - error), math.exp(log + error))


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
