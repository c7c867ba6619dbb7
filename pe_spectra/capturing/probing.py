"""What a module does when it is called twice, and what it gives after its numbers were cast to a narrow type."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from pe_spectra.capturing.calls import Answered, call
from pe_spectra.capturing.holdings import Held, Holding, find_held, list_holdings
from pe_spectra.capturing.tensors import Taken
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64


class Change(NamedTuple):
    """Numbers that a second call changed: whose, and their norm over that after the first; None for another shape."""

    what: str
    ratio: float | None


class Probed(NamedTuple):
    """What a call gave, None with the reason why where it gave nothing; what it left; and what a second one changed."""

    answer: Answered | None
    why: str | None
    held: Held
    changes: tuple[Change, ...] = ()


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

    >>> def waves(positions):
    ...     return np.cos(positions)[:, None], np.sin(positions)[:, None]
    >>> empty = Holding("", waves, {"own": np.ones(1)}, {})
    >>> asked = Question(np.arange(4), 2, "", turns=True)
    >>> probe(empty, Held({}, None, {}), asked).why is None
    True
    """
    try:
        copy = _copy(holding, cast)
    except InputError as error:
        return Probed(None, error.given, held)
    own = next(iter({**copy.buffers, **copy.parameters}.values()), np.ones(1))
    try:
        first = call(copy.module, own, asked.positions, asked.width, asked.kind, turns=asked.turns)
        before = _refresh(copy).take()
        second = call(copy.module, own, asked.positions, asked.width, asked.kind, turns=asked.turns)
    except InputError as error:
        return Probed(None, error.given, find_held(_refresh(copy)))
    left = _refresh(copy)
    changes = (*_find_changes(before, left.take()), *_compare_answers(first, second))
    return Probed(first, None, find_held(left), changes)


def _copy(holding: Holding, cast: str) -> Holding:
    """A copy of a module as it is used, without dropout; that of the model itself is never changed."""
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
    if not hasattr(holding.module, "named_modules"):
        return holding
    return next(iter(list_holdings(holding.module)))._replace(path=holding.path)


def _find_changes(before: Mapping[str, Taken], after: Mapping[str, Taken]) -> list[Change]:
    return [
        Change(name, _measure_ratio(one.values, after[name].values))
        for name, one in before.items()
        if name in after and not np.array_equal(one.values, after[name].values)
    ]


def _compare_answers(first: Answered, second: Answered) -> list[Change]:
    if np.array_equal(first.values, second.values):
        return []
    return [Change("what it gives", _measure_ratio(first.values, second.values))]


def _measure_ratio(before: F64, after: F64) -> float | None:
    size = float(np.linalg.norm(before))
    return float(np.linalg.norm(after)) / size if before.shape == after.shape and size else None
