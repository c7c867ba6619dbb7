"""Which cases of a test the plain run looks at, where there are many that take the same path: `few` of them.

`@pytest.mark.few(8)` keeps eight cases, `@pytest.mark.few()` as many as it takes for every value of every parameter to
be there once. Values that are not there yet go first; among equals the order is that of a hash of the names, so that
the draw is the same at every run and nobody chooses. A case that alone shows a planted fault is kept by its name, as
in `@pytest.mark.few(3, keep=["rope-4"])`, and counts. All other cases are marked `slow`. Where cases are asked for by
name, with -k or as `file::test[case]`, nothing is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import pytest

#: Cases with one of these marks are not in the plain run already.
_ELSEWHERE = ("slow", "long", "benchmark")


def leave_most_to_the_slow_run(items: Iterable[pytest.Item]) -> None:
    """Mark as slow what is not drawn of each test that is marked `few`."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        marked = item.get_closest_marker("few") is not None
        if marked and not any(item.get_closest_marker(name) for name in _ELSEWHERE):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tests.values():
        mark = cases[0].get_closest_marker("few")
        test = cases[0].name.partition("[")[0]
        named = [f"{test}[{case}]" for case in mark.kwargs.get("keep", ())]
        kept = draw({item.name: list_values(item) for item in cases}, *mark.args, keep=named)
        for item in cases:
            if item.name not in kept:
                item.add_marker("slow")


def list_values(item: pytest.Item) -> tuple[tuple[str, int], ...]:
    """The parameters of a case, each with the number of its value."""
    callspec = getattr(item, "callspec", None)
    return tuple(callspec.indices.items()) if callspec else ()


def leave_most(values: Iterable[str], count: int) -> list[object]:
    """The parameters of a fixture that several tests share: so many, drawn by their names, and the others slow."""
    values = [*values]
    kept = draw(dict.fromkeys(values, ()), count)
    return [value if value in kept else pytest.param(value, marks=pytest.mark.slow) for value in values]


def draw(cases: dict[str, Sequence[object]], count: int | None = None, keep: Sequence[str] = ()) -> set[str]:
    """The names of so many cases; of each the values are known. Without a count, until no value is new."""
    if unknown := sorted({*keep} - {*cases}):
        raise pytest.UsageError(f"no such case to keep: {', '.join(unknown)}")
    left = sorted(cases, key=lambda name: hashlib.sha256(name.encode()).digest())
    kept = set(keep)
    seen = {value for name in kept for value in cases[name]}
    left = [name for name in left if name not in kept]
    while left and (count is None or len(kept) < count):
        name = max(left, key=lambda name: len(set(cases[name]) - seen))  # the first of equals
        if count is None and not set(cases[name]) - seen:
            break
        left.remove(name)
        kept.add(name)
        seen.update(cases[name])
    return kept
