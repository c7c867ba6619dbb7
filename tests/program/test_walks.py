"""How far one number goes: no command takes a longer way than it took when this was last measured."""

from __future__ import annotations

import pytest

from tests.program.walks import LINES, measure

#: Functions, files and changes of file that each line may take.
MOST = {"spectrum": (155, 34, 136), "audit": (285, 53, 259), "inspect": (500, 78, 4400), "fig. 2": (250, 44, 322)}


@pytest.mark.parametrize("name", LINES)
def test_no_walk_is_longer(name):
    found = measure(name)
    assert found.functions <= MOST[name][0]
    assert found.files <= MOST[name][1]
    assert found.changes <= MOST[name][2]


@pytest.mark.parametrize("name", ["spectrum", "audit"])
def test_what_no_screen_shows_is_not_made(name):
    calls = measure(name).calls
    assert not [one for one in calls if one.startswith(("quantities.py:tabulate", "plots/", "figures/"))]
