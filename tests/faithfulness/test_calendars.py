"""A year of moments: the curve over the lag against all pairs, in what time, and how far the work is."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.encodings import find_encoding
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.faithfulness import separation as separation_module
from pe_spectra.faithfulness.separation import _trace_lags
from tests import naive
from tests.laws.variants import MINUTES
from tests.making import make_encoding
from tests.pace import call_within

#: Of all kinds of rows and ways to join them, with fields that are coarser than a step, as long, and finer.
CALENDARS = [
    {"kind": kind, "mode": mode, "fields": fields, "timestamp": timestamp, "step": "30min"}
    for kind in ("cyclic", "fixed", "learned")
    for mode in ("concat", "sum")
    for fields in (MINUTES, ("hour", "weekday"), ("dayofyear", "month"))
    for timestamp in ("no", "yes")
]


@pytest.mark.few(7)
@pytest.mark.parametrize("parameters", CALENDARS, ids=lambda each: "-".join(map(str, each.values())))
def test_calendars_over_a_week_are_as_far_apart_as_all_pairs_are(parameters):
    width = {} if parameters["kind"] == "cyclic" else {"width": 6}
    encoding = find_encoding("calendar")(**width, **parameters)
    found = measure_faithfulness(encoding, length=7 * 48)
    rows = encoding.table(7 * 48)
    distances = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    slow = np.array([np.diagonal(distances, lag).min() for lag in range(1, len(rows))])
    # equal codes may be computed as two that differ by rounding, and the slow way rounds every square
    assert_allclose(found.separation_by_lag, slow, rtol=1e-14, atol=1e-14)
    assert_allclose(found.min_separation, slow.min(), rtol=1e-13, atol=1e-13)
    s, t = found.closest_pair
    assert distances[s, t] <= slow.min() + 1e-13


@pytest.mark.parametrize(("rows", "lags"), [(1, 1), (3, 5), (8, 64), (64, 4096)])
def test_the_size_of_a_block_changes_nothing(monkeypatch, rows, lags):
    table = np.random.default_rng(3).normal(size=(70, 3))
    monkeypatch.setattr(separation_module, "_ROWS", rows)
    monkeypatch.setattr(separation_module, "_LAGS", lags)
    assert_allclose(_trace_lags(table), naive.separation_by_lag(table), rtol=1e-15)


def test_squares_that_vanish_are_measured_again():
    """Of numbers that span more than squares do: 3e-300 beside 1."""
    table = np.array([[1.0, 0.0], [1.0, 3e-300], [1.0, 4e-300], [0.0, 0.0], [0.0, 5e-324], [1.0, 3e-300]])
    exact = [[math.dist(one, other) for other in table.tolist()] for one in table.tolist()]
    expected = [min(exact[s][s + lag] for s in range(6 - lag)) for lag in range(1, 6)]
    assert_allclose(_trace_lags(table), expected, rtol=1e-15, atol=0)
    assert expected[0] == 5e-324
    assert expected[3] == 0


@pytest.mark.slow
def test_a_year_of_half_hours_is_quick():
    encoding = make_encoding("calendar:step=30min")
    found = call_within(1.5, lambda: measure_faithfulness(encoding, length=17520))
    assert (found.collisions.count, found.collisions.distinct) == (8760, 8760)
    rows = encoding.table(17520)
    for lag in (1, 2, 335, 17519):
        assert_allclose(found.separation_by_lag[lag - 1], np.linalg.norm(rows[lag:] - rows[:-lag], axis=1).min())


def test_long_work_says_how_far_it_is():
    told = []
    measure_faithfulness(make_encoding("calendar:timestamp=yes"), length=1100, progress=lambda *part: told.append(part))
    assert {total for _, total in told} == {1100}
    done = [part for part, _ in told]
    assert done[:4] == [0, 512, 1024, 1100]  # for the closest pair
    assert done[4:] == [*range(0, 1100, 64), 1100]  # for the lags
