"""What a module does when it is called twice, and what it gives after its numbers were cast to a narrow type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from pe_spectra.capturing.calls import Answered, CallForm, call, find_way, list_attempts
from pe_spectra.capturing.foreign_tensors import Taken, name_type
from pe_spectra.capturing.holdings import Held, Holding, find_held, list_holdings
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.records import NamedTuple


class HeldChange(NamedTuple):
    """Numbers that a second call changed: whose, and their norm over that after the first; None for another shape."""

    what: str
    ratio: float | None


class Probed(NamedTuple):
    """What a call gave, None with the reason why where it gave nothing; what it left; and what a second one changed."""

    answer: Answered | None
    why: str | None
    held: Held
    changes: tuple[HeldChange, ...] = ()


class Question(NamedTuple):
    """How a module is called: at which positions, with inputs of which width, for which kind of layers."""

    positions: I64
    width: int
    kind: str
    turns: bool


def probe(holding: Holding, held: Held, asked: Question, cast: str = "") -> Probed:
    """Call a copy of a module twice with the same arguments.

    Parameters
    ----------
    cast : name of a method that casts the numbers of the copy first, as bfloat16; empty for none.

    >>> class Waves:
    ...     own = np.ones(1)
    ...     def __call__(self, positions): return np.cos(positions), np.sin(positions)
    ...     def named_modules(self): return [("", self)]
    ...     def named_buffers(self, recurse=True): return [("own", self.own)]
    ...     def named_parameters(self, recurse=True): return []
    >>> holding = next(list_holdings(Waves()))
    >>> probe(holding, Held({}, None, {}), Question(np.arange(4), 2, "", turns=True)).answer.what
    'rotation'
    """
    try:
        copy, spoilt = _copy(holding, cast), _copy(holding, cast)
    except InputError as error:
        return Probed(None, error.given, held)
    own = _choose_own(copy)
    try:
        attempts = list_attempts(spoilt.module, own, asked.positions, asked.width, asked.kind)
        way = find_way(spoilt.module, attempts, turns=asked.turns)
        first = call(copy.module, way, turns=asked.turns)
        before = _refresh(copy).take()
        second = call(copy.module, way, turns=asked.turns)
    except InputError as error:
        return Probed(None, error.given, find_held(_refresh(copy)))
    left = _refresh(copy)
    changes = (*_find_changes(before, left.take()), *_compare_answers(first, second))
    return Probed(first, None, find_held(left), changes)


def probe_function(function: Callable[[I64], Any], positions: I64) -> Probed:
    """Call a function of positions (S,) twice.

    >>> probe_function(lambda s: np.cos(s), np.arange(4)).answer.values.shape
    (4, 1)
    """
    way = CallForm({"positions": "positions"}, {"positions": (len(positions),)}, positions, positions, "")

    def flat(positions: I64) -> Any:  # whatever the function calls its argument
        return function(positions)

    nothing = Held({}, None, {})
    try:
        first, second = call(flat, way), call(flat, way)
    except InputError as error:
        return Probed(None, error.given, nothing)
    return Probed(first, None, nothing, tuple(_compare_answers(first, second)))


def _choose_own(holding: Holding) -> Any:
    """A tensor of a module that others are made like: one of floating point where it has one."""
    tensors = [*holding.buffers.values(), *holding.parameters.values()]
    return next((one for one in tensors if "int" not in name_type(one)), next(iter(tensors), np.ones(1)))


def _copy(holding: Holding, cast: str) -> Holding:
    """A copy of a module as it is used, without dropout; that of the model itself is never changed.

    Raises
    ------
    InputError : it cannot be copied; or it has parts that are learned, as a whole model that holds a cache has.
    """
    if any("." in name for name, _ in holding.module.named_parameters()):
        raise InputError("it is not copied", "modules in it have parameters")
    try:
        module = deepcopy(holding.module)
        if hasattr(module, "eval"):
            module.eval()
        if cast:
            getattr(module, cast)()
    except Exception as error:  # what another's module raises
        raise InputError("it cannot be copied", f"{type(error).__name__}: {error}") from error
    return _refresh(holding._replace(module=module))


def _refresh(holding: Holding) -> Holding:
    """The same module with the tensors that it holds now."""
    return next(iter(list_holdings(holding.module)))._replace(path=holding.path)


def _find_changes(before: Mapping[str, Taken], after: Mapping[str, Taken]) -> list[HeldChange]:
    return [
        HeldChange(name, _measure_ratio(one.values, after[name].values))
        for name, one in before.items()
        if name in after and not np.array_equal(one.values, after[name].values)
    ]


def _compare_answers(first: Answered, second: Answered) -> list[HeldChange]:
    if np.array_equal(first.values, second.values):
        return []
    return [HeldChange("what it gives", _measure_ratio(first.values, second.values))]


def _measure_ratio(before: F64, after: F64) -> float | None:
    size = float(np.linalg.norm(before))
    return float(np.linalg.norm(after)) / size if before.shape == after.shape and size else None
