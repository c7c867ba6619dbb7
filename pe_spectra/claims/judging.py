"""The rule by which statements are judged, and what a judgement is made of: computed values, and the grade they imply.

A judge takes nothing, returns a :class:`Judgement`, and is called by the id of its claim in claims.json.
Thresholds that turn a number into a word are written where they are used. The grade is computed; the weight
of one that does not hold as it stands is recorded beside it, by the same rule.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, MappingProxyType
from typing import Any

from pe_spectra.records import dataclass
from pe_spectra.vocabulary import Grade, Weight

#: The rule, for every statement of every text.
RULE = (
    (
        "A statement is judged as it is printed, formulas and code too, at the sizes that its text has, and at all "
        "sizes where it has none."
    ),
    (
        "What a text leaves open is read so that the statement holds, and what number types do to a formula is not "
        "held against a text that does not speak of them."
    ),
    (
        "ok is what is so; partly what is so in part, under a condition that the text does not state, or for another "
        "reason than it gives; wrong what is not so; not tested what needs training or data."
    ),
)
#: What it means that a statement does not hold as it stands.
MEANINGS: Mapping[Weight, str] = MappingProxyType(
    {
        "substantive": "a conclusion of the text, or a number that readers take from it, changes",
        "strengthens": "what is so supports the text's point more than what it says",
        "nit-pick": "a slip of a symbol, an index, a word or a line of code, which a reader can mend; nothing rests on "
        "it",
    }
)

#: Deviations below this are rounding; their digits differ from machine to machine.
ROUNDING = 1e-12
#: Width and positions of the paper's figures.
D = 256
#: The width whose spectrum has ten weights: `low_bin_mass`, of the first ten, is their sum.
TEN_BINS = 18
POSITIONS = (5, 40, 75)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Computed values of one claim, as text, and the grade that follows from them."""

    computed: str
    verdict: Grade


def conclude(computed: str, *, holds: bool, partly: bool = False) -> Judgement:
    """Give "ok" if the statement holds, else "partly" if it does so partly, else "wrong".

    >>> conclude("1.5", holds=False, partly=True).verdict
    'partly'
    """
    return Judgement(computed=computed, verdict="ok" if holds else "partly" if partly else "wrong")


def describe_deviation(deviation: float) -> str:
    """Write a deviation; one that is only rounding as a bound, so that the text is reproducible.

    >>> describe_deviation(2.3e-16), describe_deviation(0.25)
    ('below 1e-12', '0.25')
    """
    return "below 1e-12" if deviation < ROUNDING else f"{deviation:.6g}"


def list_code(judge: Callable[[], Judgement]) -> tuple[str, ...]:
    """Give the lines that compute a judgement: the function, with constants and helpers of its module before it.

    >>> from pe_spectra.claims.paper_dft import _proof_powers
    >>> list_code(_proof_powers)[:3]
    ('D = 256', 'K = 127', 'def _proof_powers() -> Judgement:')
    """
    parts: dict[str, str] = {}
    _collect_code(inspect.unwrap(judge), parts)
    return tuple(line for part in parts.values() for line in part.splitlines() if line)


def _collect_code(function: Any, parts: dict[str, str]) -> None:
    for name in _list_names(function.__code__):
        value = inspect.unwrap(function.__globals__.get(name))
        if isinstance(value, FunctionType) and value.__module__ == function.__module__ and name not in parts:
            _collect_code(value, parts)
        elif isinstance(value, int | float | tuple | dict):
            parts[name] = f"{name} = {value!r}"
    parts[function.__name__] = inspect.getsource(function).rstrip()


def _list_names(code: CodeType) -> Iterator[str]:
    # comprehensions and inner functions are code of their own
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _list_names(inner)
