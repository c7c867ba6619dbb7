"""Of a test with many cases the plain run looks at a few: which, and that the slow run looks at all others."""

import itertools
from types import SimpleNamespace

import pytest

from tests.conftest import pytest_collection_modifyitems
from tests.drawing import draw, leave_most

GRID = {
    f"{kind}-{size}-{seed}": (("kind", kind), ("size", size), ("seed", seed))
    for kind, size, seed in itertools.product(range(5), range(3), range(2))
}


def test_every_value_of_every_parameter_is_drawn():
    kept = draw(GRID)
    assert {value for name in kept for value in GRID[name]} == {value for values in GRID.values() for value in values}
    assert len(kept) == 5


@pytest.mark.parametrize("count", [1, 4, 12, 30, 31])
def test_so_many_are_drawn_and_new_values_first(count):
    kept = draw(GRID, count)
    assert len(kept) == min(count, len(GRID))
    assert len({value for name in kept for value in GRID[name] if value[0] == "kind"}) == min(count, 5)


def test_what_is_kept_is_there_and_counts():
    names = ["4-2-1", "4-2-0", "0-0-0"]
    assert set(names) < draw(GRID, 7, names)
    assert len(draw(GRID, 7, names)) == 7
    assert draw(GRID, 2, names) == set(names)
    with pytest.raises(pytest.UsageError, match="no such case to keep: 9-9-9"):
        draw(GRID, 7, ["9-9-9"])


def test_of_the_values_of_a_fixture_the_others_are_slow():
    values = [f"figure {number}" for number in range(9)]
    left = [one for one in leave_most(values, 4) if not isinstance(one, str)]
    assert len(left) == 5
    assert all(one.marks[0].name == "slow" and one.values[0] in values for one in left)


def test_a_draw_does_not_depend_on_the_order_of_the_cases():
    assert draw(GRID, 9) == draw(dict(reversed(GRID.items())), 9)


class Case:
    """A case of a test as pytest collects it."""

    def __init__(self, number, *marks):
        self.name = f"test_number[{number}]"
        self.nodeid = f"tests/test_it.py::{self.name}"
        self.callspec = SimpleNamespace(indices={"number": number})
        self.marks = {mark.name: mark for mark in marks}

    def get_closest_marker(self, name):
        return self.marks.get(name)

    def add_marker(self, name):
        self.marks[name] = True


@pytest.mark.parametrize(
    ("keyword", "argument", "count"),
    [
        ("", "tests", 3),
        ("", "tests/test_it.py::test_number", 3),
        ("number", "tests", 19),
        ("", "test_it.py::test[7]", 19),
    ],
)
def test_what_is_not_drawn_is_slow_unless_it_is_asked_for_by_name(keyword, argument, count):
    few = pytest.mark.few(3, keep=["17"]).mark
    cases = [*(Case(number, few) for number in range(19)), Case(19, few, pytest.mark.slow.mark)]
    others = [Case(number) for number in range(5)]
    config = SimpleNamespace(option=SimpleNamespace(keyword=keyword), args=[argument])
    pytest_collection_modifyitems(config, [*others, *cases])
    assert sum("slow" not in case.marks for case in cases) == count
    assert "slow" not in cases[17].marks
    assert not any(case.marks for case in others)
