"""Every metric has its slow version in `tests/naive_metrics.py`, and its value beside it through the whole program."""

import numpy as np
import pytest

from pe_spectra import GivenArray, Learned, Sinusoidal, compare_encodings
from pe_spectra.metrics import METRICS
from tests.making import draw_table
from tests.naive_metrics import list_metrics, sample_ladder, sample_table

WALK = draw_table(48, 4, seed=3).cumsum(axis=0) + 0.5
#: Name -> what is measured, at how many positions, and the same as plain arrays.
SAMPLES = {
    "pairs": (Sinusoidal(d=32), 24, sample_ladder(32, 24)),
    "a lone sine": (Sinusoidal(d=21), 30, sample_ladder(21, 30)),
    "a table": (Learned(values=GivenArray(WALK, origin="walk.npy")), 32, sample_table(WALK, 32)),
}
#: Of least squares over columns that nearly depend on each other fewer digits are left.
LOOSE = {"probe": 1e-6, "extrapolation_rmse": 1e-6, "shift_linearity": 1e-6}


@pytest.fixture(scope="module")
def measured():
    return {name: compare_encodings([one], length=length)[0] for name, (one, length, _) in SAMPLES.items()}


def test_every_metric_has_its_slow_version():
    assert list(list_metrics()) == list(METRICS)


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_that_of_its_slow_version(measured, metric):
    relative = next((bound for name, bound in LOOSE.items() if metric.startswith(name)), 1e-9)
    known = 0
    for name, (_, _, plain) in SAMPLES.items():
        expected = list_metrics()[metric](plain)
        assert measured[name].values[metric] == (expected and pytest.approx(expected, rel=relative)), name
        known += expected is not None and np.isfinite(expected)
    assert known
