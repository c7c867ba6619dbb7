"""What `--require` demands of an answer."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pe_spectra.errors import InputError
from pe_spectra.numbers import RealRange

if TYPE_CHECKING:
    from pe_spectra.faithfulness import Faithfulness

_PATTERN = re.compile(r"(separation|rank)(>=|<=|>|<)(.*)", re.DOTALL)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_BOUND = RealRange(minimum=-1e300, maximum=1e300)
_ACCEPTED = "'injective', 'separation>=NUMBER' or 'rank>=NUMBER' (also <=, <, >)"


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """One demand: injective, or a quantity compared with a bound."""

    text: str
    quantity: str
    comparison: str = ""
    bound: float = 0.0

    def holds(self, result: Faithfulness) -> bool:
        """Whether it holds; what is not decided or not known does not."""
        if self.quantity == "injective":
            return result.injective is True
        value = result.min_separation if self.quantity == "separation" else result.rank
        return value is not None and _COMPARE[self.comparison](value, self.bound)


def parse_requirements(texts: Sequence[str]) -> tuple[Requirement, ...]:
    """Read the demands.

    Raises
    ------
    InputError : not a demand, or not with a finite number.
    """
    return tuple(_parse(text) for text in texts)


def _parse(text: str) -> Requirement:
    if text == "injective":
        return Requirement(text=text, quantity="injective")
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise InputError("--require is not known", text or "''", f"accepted: {_ACCEPTED}")
    bound = _BOUND.parse(match.group(3), f"--require {match.group(1)}")
    return Requirement(text=text, quantity=match.group(1), comparison=match.group(2), bound=bound)


def check_requirements(requirements: Sequence[Requirement], results: Sequence[Faithfulness]) -> tuple[str, ...]:
    """Return a sentence for each demand that does not hold."""
    return tuple(
        f"required but not so: {requirement.text} ({result.encoding.label})"
        for result in results
        for requirement in requirements
        if not requirement.holds(result)
    )
