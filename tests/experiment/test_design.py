"""The list of trials: each once, with the norms that an arm can have, and what cannot be one refused."""

import pickle

import pytest

from pe_spectra.errors import InputError
from pe_spectra.experiment.design import FULL, QUICK, Design, Trial, list_trials
from pe_spectra.experiment.trial import TrialResult
from pe_spectra.quantities import list_column_names
from pe_spectra.vocabulary import TASKS
from tests.refusing import catch


def test_every_combination_is_listed_once():
    trials = list_trials(["where", "lag"], ["none", "sinusoidal", "dft"], ["own", "matched"], [32, 64], range(3))
    assert len({trial.key for trial in trials}) == len(trials) == 2 * (1 + 1 + 2) * 2 * 3


def test_two_ways_to_write_an_arm_are_one_arm():
    specs = ["dft", "dft:d=32", "sinusoidal:rho=1e4", "sinusoidal:d=32,rho=10000", "sinusoidal"]
    assert [t.arm for t in list_trials(["lag"], specs, ["own"], [32], [0])] == ["dft", "sinusoidal"]


@pytest.mark.parametrize("arm", ["none", "sinusoidal", "tape", "rope", "alibi", "t5", "shaw"])
def test_an_arm_without_a_norm_to_match_has_its_own(arm):
    assert [t.norm for t in list_trials(["lag"], [arm], ["matched", "own"], [32], [0])] == ["own"]


def test_a_trial_goes_to_another_process_and_back():
    trial = Trial(task="lag", arm="dft", norm="matched", length=32, seed=4)
    assert pickle.loads(pickle.dumps((trial, FULL))) == (trial, FULL)


def test_a_row_has_the_key_of_its_trial_and_its_columns():
    trial = Trial(task="lag", arm="dft", norm="matched", length=32, seed=4)
    row = TrialResult(
        **vars(trial),
        spec="dft:d=64",
        entry="token",
        rms_norm=1.0,
        weights=10,
        rate=1e-3,
        validation=(0.5, 0.75),
        passes=12,
        accuracy=0.7,
        precision=None,
        recall=0.0,
        f1=0.0,
        loss=0.5,
        seconds=2.0,
    )
    assert row.key == trial.key
    assert row.to_columns()["validation"] == ["0.5 0.75"]
    assert list(row.to_columns()) == list(list_column_names(TrialResult))
    assert list(row.to_columns())[:5] == ["task", "arm", "norm", "length", "seed"]


def test_settings_are_written_with_every_field():
    assert set(FULL.to_dict()) == set(vars(FULL)) == set(Design.__dataclass_fields__)
    assert FULL.to_dict() != QUICK.to_dict()
    assert FULL.width % FULL.heads == FULL.windows % FULL.batch == 0


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"tasks": ["lags"]}, "task is not known (lags)"),
        ({"arms": ["dfft"]}, "arm is not known (dfft)"),
        ({"norms": ["both"]}, "norm is not known (both)"),
        ({"lengths": [8]}, "length is out of range (8)"),
        ({"seeds": [-1]}, "seed is out of range (-1)"),
        ({"tasks": []}, "an experiment has no trials"),
        ({"arms": ["alibi:heads=8"]}, "does not fit the network (8 heads)"),
        ({"arms": ["sinusoidal:d=128"]}, "is wider than the network (128)"),
    ],
)
def test_what_cannot_be_a_trial_is_refused(changed, words):
    asked = {"tasks": TASKS, "arms": ["dft"], "norms": ["own"], "lengths": [32], "seeds": [0]} | changed
    assert words in catch(list_trials, *asked.values(), kind=InputError)
