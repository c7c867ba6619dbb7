"""What `--require` demands of an answer."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pe_spectra.errors import InputError
from pe_spectra.numbers import RealRange

_PATTERN = re.compile(r"([a-z0-9_]+)(>=|<=|>|<)(.*)", re.DOTALL)
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
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

    def find_fault(self, injective: bool | None, values: Mapping[str, float | None]) -> str:
        """Say what was found in place of what is demanded; empty where it holds. What is not known does not hold."""
        if self.quantity == "injective":
            return {True: "", False: "not injective", None: "not decided"}[injective]
        value = values[self.quantity]
        if value is not None and _COMPARE[self.comparison](value, self.bound):
            return ""
        return f"{self.quantity} {'not known' if value is None else f'{value:.6g}'}"


def parse_requirements(texts: Sequence[str], known: Sequence[str]) -> tuple[Requirement, ...]:
    """Read the demands.

    Parameters
    ----------
    known : the quantities that may be compared with a bound; the first two are named where another is demanded.

    Raises
    ------
    InputError : not a demand, or not with a finite number.

    >>> [(one.quantity, one.bound) for one in parse_requirements(["injective", "rank>=80"], ["separation", "rank"])]
    [('injective', 0.0), ('rank', 80.0)]
    """
    return tuple(_parse(text, known) for text in texts)


def _parse(text: str, known: Sequence[str]) -> Requirement:
    if text == "injective":
        return Requirement(text=text, quantity="injective")
    match = _PATTERN.fullmatch(text)
    if match is None or match.group(1) not in known:
        listed = " or ".join(f"'{name}>=NUMBER'" for name in known[:2])
        more = ", or another metric" if known[2:] else ""
        accepted = f"accepted: 'injective', {listed}{more} (also <=, <, >)"
        raise InputError("--require is not known", text or "''", accepted)
    bound = _BOUND.parse(match.group(3), f"--require {match.group(1)}")
    return Requirement(text=text, quantity=match.group(1), comparison=match.group(2), bound=bound)


def check_requirements(
    requirements: Sequence[Requirement], measured: Sequence[tuple[str, bool | None, Mapping[str, float | None]]]
) -> tuple[str, ...]:
    """Return a sentence for each demand that does not hold.

    Parameters
    ----------
    measured : what was found: a label, whether it is injective (None: not decided), and the quantities.

    >>> check_requirements(parse_requirements(["rank>=80"], ["rank"]), [("dft", True, {"rank": 8.0})])
    ('required: rank>=80; found: rank 8 (dft)',)
    """
    return tuple(
        f"required: {requirement.text}; found: {fault} ({label})"
        for label, injective, values in measured
        for requirement in requirements
        if (fault := requirement.find_fault(injective, values))
    )
