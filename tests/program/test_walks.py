"""How far one number goes: no command takes a longer way than it took when this was last measured."""

from __future__ import annotations

import functools
import gc

import pytest

from pe_spectra.answers.audits import answer_audits
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stated.configuration import read_configuration
from tests.program.walks import LINES
from tests.program.walks import measure as measure_anew

#: Functions, files and changes of file that each line may take: what was measured, and of `inspect` some more, for a
#: new kind of finding is a step of its walk.
MOST = {"spectrum": (154, 35, 139), "audit": (285, 53, 265), "inspect": (520, 84, 4600), "fig. 2": (248, 43, 322)}

#: Each line is walked once.
measure = functools.cache(measure_anew)


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


def test_what_a_file_states_has_three_holders():
    base = 123456.5
    stated = {"model_type": "llama", "head_dim": 128, "rope_theta": base, "max_position_embeddings": 8192}
    answer = answer_audits([audit_configuration(read_configuration(stated, "config.json"))])
    assert answer.to_document(None)["models"][0]["layer_types"][0]["base"] == base
    ours = [one for one in gc.get_objects() if str(type(one).__module__).startswith("pe_spectra.")]
    held = [(type(one).__name__, value) for one in ours for value in getattr(one, "__dict__", {}).values()]
    names = {name for name, value in held if type(value) is float and value == base}
    assert names == {"RotaryBlock", "Rope", "Rotation"}
