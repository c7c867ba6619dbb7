"""What `--require` demands of an answer."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pe_spectra.errors import InputError
from pe_spectra.numbers import RealRange
from pe_spectra.vocabulary import RECIPE_TITLES

if TYPE_CHECKING:
    from pe_spectra.compare import Comparison
    from pe_spectra.faithfulness import Faithfulness
    from pe_spectra.precision import PrecisionReport

_PATTERN = re.compile(r"([a-z0-9_]+)(>=|<=|>|<)(.*)", re.DOTALL)
#: What `faithfulness` measures; `compare` has its metrics beside these.
_MEASURED = ("separation", "rank")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_BOUND = RealRange(minimum=-1e300, maximum=1e300)


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """One demand: injective, or a quantity compared with a bound."""

    text: str
    quantity: str
    comparison: str = ""
    bound: float = 0.0

    def holds(self, injective: bool | None, values: Mapping[str, float | None]) -> bool:
        """Whether it holds; what is not decided or not known does not."""
        if self.quantity == "injective":
            return injective is True
        value = values[self.quantity]
        return value is not None and _COMPARE[self.comparison](value, self.bound)

    def say_found(self, injective: bool | None, values: Mapping[str, float | None]) -> str:
        """Say what was found in place of what is demanded."""
        if self.quantity == "injective":
            return "not decided" if injective is None else "not injective"
        value = values[self.quantity]
        return f"{self.quantity} {'not known' if value is None else f'{value:.6g}'}"


def parse_requirements(texts: Sequence[str], metrics: tuple[str, ...] = ()) -> tuple[Requirement, ...]:
    """Read the demands; `metrics` are quantities beside separation and rank.

    Raises
    ------
    InputError : not a demand, or not with a finite number.
    """
    return tuple(_parse(text, metrics) for text in texts)


def _parse(text: str, metrics: tuple[str, ...]) -> Requirement:
    if text == "injective":
        return Requirement(text=text, quantity="injective")
    match = _PATTERN.fullmatch(text)
    known = ("separation", *metrics) if metrics else _MEASURED
    if match is None or match.group(1) not in known:
        listed = " or ".join(f"'{name}>=NUMBER'" for name in known[:2])
        more = ", or another metric" if known[2:] else ""
        accepted = f"accepted: 'injective', {listed}{more} (also <=, <, >)"
        raise InputError("--require is not known", text or "''", accepted)
    bound = _BOUND.parse(match.group(3), f"--require {match.group(1)}")
    return Requirement(text=text, quantity=match.group(1), comparison=match.group(2), bound=bound)


def check_requirements(requirements: Sequence[Requirement], results: Sequence[Faithfulness]) -> tuple[str, ...]:
    """Return a sentence for each demand that does not hold."""
    measured = [(r.encoding.label, r.injective, {"separation": r.min_separation, "rank": r.rank}) for r in results]
    return _check(requirements, measured)


def check_metrics(requirements: Sequence[Requirement], compared: Sequence[Comparison]) -> tuple[str, ...]:
    """Return a sentence for each demand on a comparison that does not hold."""
    measured = [
        (c.encoding.label, c.injective, {**c.values, "separation": c.values["min_separation"]}) for c in compared
    ]
    return _check(requirements, measured)


def check_precision(requirements: Sequence[Requirement], report: PrecisionReport) -> tuple[str, ...]:
    """Return a sentence for each demand that the code of a recipe in a type does not meet.

    Codes that are one in exact arithmetic, and that rounding alone distinguishes, are not injective, and
    neither are codes that have become infinite or no number.
    """
    merged = report.exact_distinct is not None and report.exact_distinct < report.codes[0].total
    measured = [
        (
            f"{code.dtype}, {RECIPE_TITLES.get(code.recipe, code.recipe)}",
            code.distinct == code.total and not merged and not code.not_finite,
            {"separation": code.min_separation, "ulp_margin": code.ulp_margin},
        )
        for code in report.codes
    ]
    return _check(requirements, measured)


def _check(
    requirements: Sequence[Requirement], measured: Sequence[tuple[str, bool | None, Mapping[str, float | None]]]
) -> tuple[str, ...]:
    return tuple(
        f"required: {requirement.text}; found: {requirement.say_found(injective, values)} ({label})"
        for label, injective, values in measured
        for requirement in requirements
        if not requirement.holds(injective, values)
    )
