"""Networks on a data set: every arm sees the same windows, and judges that never learned stand beside them."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.answers.detections import answer_detections
from pe_spectra.errors import InputError
from pe_spectra.experiment import data_trials
from pe_spectra.experiment.data_trials import learn_dataset, list_baselines
from pe_spectra.experiment.design import Design
from pe_spectra.experiment.windows import PARTS, cut_windows
from tests.experiment.test_scores import score_naively
from tests.experiment.test_windows import make_series
from tests.refusing import catch

DESIGN = Design(windows=40, validation=20, test=30, passes=1, batch=8, rates=(1e-3,))


@pytest.fixture
def seen(monkeypatch):
    """What networks are given; they learn nothing, and score what their arm and seed say."""
    calls = []

    def learn(data, arm, design, seed, importance):
        calls.append(SimpleNamespace(data=data, arm=arm, seed=seed, importance=importance))
        f1 = 0.7 + 0.02 * seed + (0.01 * (seed + 1) if arm.name == "dft" else 0)
        precision = None if seed == 0 else 0.25
        return {"precision": precision, "recall": f1, "f1": f1, "accuracy": f1, "rms_norm": arm.rms_norm}

    monkeypatch.setattr(data_trials, "learn_windows", learn)
    monkeypatch.setattr(data_trials, "judge_windows", lambda _weights, part, *_: part.values[:, 0, 0])
    return calls


@pytest.fixture(scope="module")
def windows():
    return cut_windows(make_series(1200, 900), length=16, stride=4)


def learn_all(windows, **more):
    options = {"arms": ["sinusoidal", "dft", "none"], "norms": ["own", "matched"], "seeds": range(3)}
    return learn_dataset(windows, **{**options, **more}, design=DESIGN)


def test_every_arm_sees_the_same_windows(seen, windows):
    learn_all(windows)
    assert len(seen) == 12
    assert {(call.arm.name, call.seed) for call in seen} == {
        (arm, seed) for arm in ("sinusoidal", "dft", "none") for seed in range(3)
    }
    assert len({id(call.data) for call in seen}) == 1
    assert {call.importance for call in seen} == {tuple(windows.weights.tolist())}


def test_of_many_windows_as_many_are_taken_as_the_design_has(seen, windows):
    report = learn_all(windows)
    data = seen[0].data
    for name, most in zip(PARTS, (40, 20, 30), strict=True):
        whole, part = getattr(windows, name), getattr(data, name)
        assert len(part.labels) == most < len(whole.labels)
        places = [next(k for k in range(len(whole.labels)) if (whole.values[k] == one).all()) for one in part.values]
        assert places == sorted(places)
        assert max(np.diff(places)) - min(np.diff(places)) <= 1
        assert_array_equal(part.labels, whole.labels[places])
        assert f"of {len(whole.labels):,} windows of {name} {most} are taken, evenly spaced" in report.notes
    assert (report.training, report.validation, report.test) == (40, 20, 30)
    assert_allclose(report.test_share, np.mean(data.test.labels))
    assert_allclose(report.training_share, np.mean(data.training.labels))


def test_rows_are_means_and_paired_differences(seen, windows):
    rows = {(row.arm, row.norm): row for row in learn_all(windows).rows}
    assert list(rows)[:4] == [("sinusoidal", "own"), ("dft", "own"), ("dft", "matched"), ("none", "own")]
    dft = rows["dft", "own"]
    assert_allclose([dft.f1, dft.f1_deviation], [0.74, np.std([0.71, 0.74, 0.77], ddof=1)])
    assert_allclose([dft.f1_lowest, dft.f1_highest], [0.71, 0.77])
    assert_allclose([dft.difference, dft.p, dft.p_corrected], [0.02, 0.25, 0.5])
    # the mean of those runs that have one
    assert (dft.precision, dft.runs) == (0.25, 3)
    # of the matched norm it is the only comparison
    assert_allclose(rows["dft", "matched"].p_corrected, 0.25)
    assert rows["sinusoidal", "own"].difference is None
    assert rows["none", "own"].difference == 0.0
    assert rows["none", "own"].rms_norm is None


def test_baselines_are_scored_on_the_same_windows(seen, windows):
    report = learn_all(windows)
    data = seen[0].data
    share, rate = np.mean(data.test.labels), np.mean(data.training.labels)
    rows = {row.arm: row for row in report.rows if row.norm is None}
    assert list(rows) == ["random", "always", "untrained"]
    assert_allclose([rows["random"].precision, rows["random"].recall], [share, rate])
    assert_allclose([rows["always"].recall, rows["always"].f1], [1, 2 * share / (1 + share)])
    judged = (data.test.values[:, 0, 0] > 0).astype(int)
    precision, recall, f1, accuracy = score_naively(data.test.labels.tolist(), judged.tolist())
    one = rows["untrained"]
    assert_allclose([one.precision, one.recall, one.f1, one.accuracy], [precision, recall, f1, accuracy])


def test_what_is_said(seen, windows):
    answer = answer_detections(learn_all(windows))
    assert answer.verdict.code == "above-baselines"
    assert answer.verdict.text.startswith("Mean F1 is 0.740 for dft (3 seeds), above the ")
    assert answer.verdict.text.endswith("; no arm is shown to differ from sinusoidal.")
    many = answer_detections(learn_all(windows, seeds=range(8)))
    assert "F1 differs from that of sinusoidal for dft by +0.045" in many.verdict.text
    assert [name for name, _ in answer.facts] == ["windows", "class v", "random", "always", "untrained"]


def test_below_the_baselines_is_said(monkeypatch, seen, windows):
    low = {"precision": None, "recall": 0.0, "f1": 0.0, "accuracy": 0.5, "rms_norm": 1.0}
    monkeypatch.setattr(data_trials, "learn_windows", lambda *_: low)
    answer = answer_detections(learn_all(windows))
    assert answer.verdict.code == "not-above-baselines"
    assert "not above the" in answer.verdict.text
    assert answer.results[0].precision is None


def test_more_than_two_classes_are_refused(seen):
    windows = cut_windows(make_series(1200, classes=3), length=16)
    assert catch(learn_all, windows, kind=InputError).startswith("the data set has not two classes (3 (u, v, w))")


def test_progress_is_told(seen, windows):
    told = []
    learn_all(windows, progress=lambda done, total: told.append((done, total)))
    assert told == [(k, 12) for k in range(12)]


def test_a_network_learns_a_data_set():
    pytest.importorskip("optax")
    pytest.importorskip("jax")
    series = make_series(1500, channels=2)
    values = series.recordings[0].values.copy()
    values[:, 0] += 4 * series.recordings[0].labels
    one = type(series.recordings[0])(**{**vars(series.recordings[0]), "values": values})
    windows = cut_windows(type(series)(**{**vars(series), "recordings": (one,)}), length=16, stride=2)
    design = Design(windows=256, validation=64, test=128, passes=6, rates=(2e-3,))
    report = learn_dataset(windows, arms=["none"], norms=["own"], seeds=[0], design=design)
    trained = report.rows[0]
    assert trained.f1 > 0.9
    assert trained.f1 > max(row.f1 for row in report.rows[1:])
    untrained = list_baselines(windows, [0], design)[2]
    assert untrained.runs == 1
    # one network for each seed, not one for all
    alone = [list_baselines(windows, [seed], design)[2].accuracy for seed in range(4)]
    together = list_baselines(windows, range(4), design)[2]
    assert len(set(alone)) > 1
    assert_allclose(together.accuracy, np.mean(alone))
