"""Many small cases in one test, which goes through all of them and names each that fails.

A case that is a test of its own takes pytest and its workers more than a millisecond. Where there are hundreds, and
each takes less than that, they stand here, and what is written of them stays the same but for the name of the mark.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence

import pytest

#: What a case may end with; one that is skipped has not been looked at.
ENDINGS = (Exception, pytest.fail.Exception, pytest.skip.Exception)


def in_one(names: str, cases: Iterable[object], ids: Callable[[object], str] | Iterable[str] | None = None) -> Callable:
    """What `pytest.mark.parametrize` takes, with the same names of cases, for one test that goes through them all."""
    keys = [name.strip() for name in names.split(",")]
    listed = [case if hasattr(case, "marks") else pytest.param(*(case if len(keys) > 1 else [case])) for case in cases]
    assert listed, "no case"
    assert not any(case.marks for case in listed), "a mark belongs to a test of its own"
    named = [None] * len(listed) if ids is None or callable(ids) else list(ids)
    found = [
        (case.id or name or "-".join(map(ids if callable(ids) else str, case.values)), case.values)
        for case, name in zip(listed, named, strict=True)
    ]

    def over_all(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**others: object) -> None:
            hold_each(lambda *values: test(**dict(zip(keys, values, strict=True)), **others), found)

        signature = inspect.signature(test)
        kept = [one for name, one in signature.parameters.items() if name not in keys]
        run.__signature__ = signature.replace(parameters=kept)  # the fixtures that it asks for
        return run

    return over_all


def hold_each(hold: Callable[..., None], cases: Sequence[tuple[str, Sequence[object]]]) -> None:
    """Hold each of the named cases, whatever becomes of the ones before; say of each that fails what it said."""
    failed = []
    for name, values in cases:
        try:
            hold(*values)
        except ENDINGS as error:
            failed.append((name, error))
    if failed:
        said = [f"{name}: {type(error).__name__} {error}" for name, error in failed]
        raise AssertionError(f"{len(failed)} of {len(cases)} cases\n" + "\n".join(said)) from failed[0][1]
