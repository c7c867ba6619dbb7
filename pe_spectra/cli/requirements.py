"""What `--require` demands of an answer."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pe_spectra.errors import InputError
from pe_spectra.numbers import RealRange
from pe_spectra.records import NamedTuple
from pe_spectra.vocabulary import OUTCOMES

_PATTERN = r"(?s)([a-z0-9_]+)(>=|<=|>|<)(.*)"
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_BOUND = RealRange(minimum=-1e300, maximum=1e300)


class Requirement(NamedTuple):
    """One demand: injective, or a quantity compared with a bound."""

    text: str
    quantity: str
    comparison: str = ""
    bound: float = 0.0


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
        return Requirement(text, "injective")
    match = re.fullmatch(_PATTERN, text)
    if match is None or match[1] not in known:
        listed = " or ".join(f"'{name}>=NUMBER'" for name in known[:2])
        more = ", or another metric" if known[2:] else ""
        accepted = f"accepted: 'injective', {listed}{more} (also <=, <, >)"
        raise InputError("--require is not known", text or "''", accepted)
    return Requirement(text, match[1], match[2], _BOUND.parse(match[3], f"--require {match[1]}"))


def check_requirements(
    requirements: Sequence[Requirement], measured: Sequence[tuple[str, str, Mapping[str, Any]]]
) -> tuple[str, ...]:
    """Return a sentence for each demand that does not hold; what is not known does not.

    Parameters
    ----------
    measured : what was found: a label, the outcome of Definition 1, and the quantities.

    >>> check_requirements(parse_requirements(["rank>=80"], ["rank"]), [("dft", "injective", {"rank": 8.0})])
    ('required: rank>=80; found: rank 8 (dft)',)
    """
    failed = []
    for label, outcome, values in measured:
        for text, quantity, comparison, bound in requirements:
            value = values.get(quantity)
            if quantity == "injective":
                holds, found = outcome == "injective", OUTCOMES[outcome]
            else:
                holds = value is not None and _COMPARE[comparison](value, bound)
                found = f"{quantity} {'not known' if value is None else f'{value:.6g}'}"
            if not holds:
                failed.append(f"required: {text}; found: {found} ({label})")
    return tuple(failed)
