"""Probes: ridge regressions of the position, against slow loops and many digits."""

import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Sinusoidal
from pe_spectra.errors import InputError
from pe_spectra.metrics.linearity import _measure_shift_linearity as measure_shift_linearity
from pe_spectra.metrics.probes import FOLDS, RIDGES
from pe_spectra.metrics.probes import _fit_ridge as fit_ridge
from pe_spectra.metrics.probes import _measure_extrapolation as measure_extrapolation
from pe_spectra.metrics.probes import _measure_position_probe as measure_position_probe
from tests.making import draw_table
from tests.metrics.tables import dft, measure_all, one_hot, ramp, sinusoidal, widen
from tests.naive_metrics import fit_ridge as fit_slowly

# ----------------------------------------------------------------------------------- probes


@pytest.mark.parametrize("table", [draw_table(30, 4), draw_table(31, 4).cumsum(axis=0), sinusoidal(8, 40)])
def test_the_probe_is_five_ridge_regressions(table):
    wanted = np.arange(len(table), dtype=float)
    errors = np.empty(len(table))
    for fold in range(FOLDS):
        held_out = np.arange(len(table)) % FOLDS == fold
        predict = fit_slowly(table[~held_out], wanted[~held_out])
        errors[held_out] = predict(table[held_out]) - wanted[held_out]
    found = measure_position_probe(table)
    assert found.probe_rmse == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-5)
    assert found.probe_r2 == pytest.approx(1 - np.sum(errors**2) / np.sum((wanted - wanted.mean()) ** 2), abs=1e-6)


def test_the_probe_reads_a_ramp_and_not_one_hot_codes():
    assert measure_position_probe(ramp(60)).probe_r2 == pytest.approx(1, abs=1e-9)
    assert measure_position_probe(one_hot(60)).probe_r2 < 0
    assert measure_position_probe(draw_table(400, 8)).probe_r2 < 0.05
    assert measure_position_probe(sinusoidal(64, 200)).probe_rmse < 0.1


def test_the_probe_does_not_depend_on_rotation_scale_or_origin():
    table = draw_table(50, 4).cumsum(axis=0)
    turn, _ = np.linalg.qr(draw_table(9, 9, seed=2))
    moved = 1e30 * (np.hstack([table, np.zeros((50, 5))]) @ turn)
    assert measure_position_probe(moved).probe_r2 == pytest.approx(measure_position_probe(table).probe_r2, abs=1e-9)
    assert measure_position_probe(table + 5).probe_r2 == pytest.approx(measure_position_probe(table).probe_r2, abs=1e-9)


def test_the_probe_says_why_it_is_none():
    assert "too few" in measure_position_probe(one_hot(9)).reasons["probe_r2"]
    assert "budget" in measure_position_probe(np.broadcast_to(1.0, (3000, 3000))).reasons["probe_r2"]
    assert measure_position_probe(np.ones((20, 2))).probe_r2 <= 0


@pytest.mark.parametrize("rows", [9, 25])
@pytest.mark.parametrize("seed", range(8))
def test_a_ridge_fit_is_that_of_the_slow_loop(rows, seed):
    # noise on few rows: the ridge that is chosen depends on every term of the criterion
    rng = np.random.default_rng(seed)
    table, wanted = rng.normal(size=(rows, 6)), rng.normal(size=rows)
    assert_allclose(fit_ridge(table, wanted).predict(table), fit_slowly(table, wanted)(table), rtol=1e-8)


def test_extrapolation_holds_along_a_ramp():
    line = np.arange(200.0)[:, None] * np.array([[0.5, -1.0]])
    found = measure_extrapolation(line[:100], line[100:])
    assert found.extrapolation_rmse < 1e-3
    assert found.extrapolation_separation == pytest.approx(math.sqrt(1.25))


def test_extrapolation_fails_for_a_period_and_finds_the_repeated_code():
    table = dft(32, 64)
    found = measure_extrapolation(table[:32], table[32:])
    assert found.extrapolation_rmse > 30
    assert found.extrapolation_separation == 0
    trained = sinusoidal(64, 256)
    assert measure_extrapolation(trained[:128], trained[128:]).extrapolation_rmse > 20


def test_extrapolation_is_the_slow_fit_asked_further_on():
    table = draw_table(60, 5).cumsum(axis=0)
    predict = fit_slowly(table[:40], np.arange(40.0))
    expected = np.sqrt(np.mean((predict(table[40:]) - np.arange(40, 60)) ** 2))
    assert measure_extrapolation(table[:40], table[40:]).extrapolation_rmse == pytest.approx(expected, rel=1e-6)


def test_extrapolation_refuses_two_widths():
    with pytest.raises(InputError, match=r"2 and 3"):
        measure_extrapolation(np.ones((10, 2)), np.ones((10, 3)))


def walk(rows, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns)).cumsum(axis=0)


def draw_codes():
    s = np.arange(64.0)[:, None]
    return np.hstack([np.sin(0.1 * s), np.cos(0.1 * s), np.sin(0.037 * s), np.cos(0.037 * s)])


def probe_in_digits(fitted, wanted, asked):
    """Predictions of the ridge with the smallest generalised cross-validation error, in 60 digits."""
    with mpmath.workdps(60):
        rows = [[mpmath.mpf(float(x)) for x in row] for row in fitted]
        n, columns = len(rows), range(len(rows[0]))
        mean = [sum(row[j] for row in rows) / n for j in columns]
        middle = mpmath.mpf(sum(wanted)) / n
        codes = mpmath.matrix([[row[j] - mean[j] for j in columns] for row in rows])
        target = mpmath.matrix([w - middle for w in wanted])
        gram = codes.T * codes
        values, vectors = mpmath.eigsy(gram)
        unit, square = max(values), sum(x * x for x in target)
        if unit <= 0:
            return [float(middle)] * len(asked)
        moment = vectors.T * (codes.T * target)
        best = None
        for ridge in RIDGES:
            r = mpmath.mpf(ridge) * unit
            freedom = 1 - (1 + sum(value / (value + r) for value in values)) / n
            weights = vectors * mpmath.matrix([m / (value + r) for m, value in zip(moment, values, strict=True)])
            missed = target - codes * weights
            score = max(sum(x * x for x in missed), mpmath.mpf(2) ** -52 * square) / freedom**2
            if best is None or score < best[0] * (1 - mpmath.mpf("1e-9")):
                best = score, weights
        centred = mpmath.matrix([[mpmath.mpf(float(row[j])) - mean[j] for j in columns] for row in asked])
        return [float(x + middle) for x in centred * best[1]]


def find_extrapolation_error(first, second):
    found = probe_in_digits(first, list(range(len(first))), second)
    return math.sqrt(math.fsum((x - len(first) - i) ** 2 for i, x in enumerate(found)) / len(found))


def find_probe_error(table):
    wanted, errors = np.arange(len(table)), []
    for fold in range(FOLDS):
        held_out = wanted % FOLDS == fold
        found = probe_in_digits(table[~held_out], wanted[~held_out].tolist(), table[held_out])
        errors += [(x - s) ** 2 for x, s in zip(found, wanted[held_out], strict=True)]
    return math.sqrt(math.fsum(errors) / len(errors))


# ----------------------------------------------------------------------------------- probes


@pytest.mark.parametrize(
    ("table", "length"),
    [(Sinusoidal(d=16).table(80), 40), (walk(16, 20, seed=1), 12), (2.0 ** np.arange(60)[:, None], 30)],
    ids=["long", "wide", "growing"],
)
def test_extrapolation_is_right_to_ten_digits(table, length):
    found = measure_extrapolation(table[:length], table[length:]).extrapolation_rmse
    assert found == pytest.approx(find_extrapolation_error(table[:length], table[length:]), rel=1e-10)


@pytest.mark.parametrize("table", [Sinusoidal(d=8).table(60), walk(10, 11, seed=1)], ids=["long", "wide"])
def test_the_probe_is_right_to_nine_digits(table):
    assert measure_position_probe(table).probe_rmse == pytest.approx(find_probe_error(table), rel=1e-9)


@pytest.mark.parametrize("factor", [1.0, 3.0, 1 / 3, 1e-200, 1e200])
def test_extrapolation_does_not_depend_on_the_scale(factor):
    table = factor * Sinusoidal(d=64).table(256)
    # by singular values; eigenvalues of the Gram matrix leave six digits of it
    assert measure_extrapolation(table[:128], table[128:]).extrapolation_rmse == pytest.approx(92.8276484417, rel=1e-10)


@pytest.mark.parametrize("value", [1.0, 1e16 / 3, 1e18 / 3, 1e20 / 3, 1e300 / 3])
def test_a_constant_column_says_nothing(value):
    table = walk(100, 3)
    moved = widen(table, value)
    shift, expected = measure_shift_linearity(moved), measure_shift_linearity(table)
    assert (shift.shift_linearity_mean, shift.shift_linearity_worst) == pytest.approx(
        (expected.shift_linearity_mean, expected.shift_linearity_worst), rel=1e-9
    )
    assert measure_position_probe(moved).probe_rmse == pytest.approx(measure_position_probe(table).probe_rmse, rel=1e-9)
    first, second = measure_extrapolation(moved[:50], moved[50:]), measure_extrapolation(table[:50], table[50:])
    assert first.extrapolation_rmse == pytest.approx(second.extrapolation_rmse, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-70, 1e-77, 1e-80, 1e-160, 1e-165, 1e-300, 1e160, 1e300])
def test_small_codes_beside_a_constant_are_read_as_large_ones_are(scale):
    table = np.hstack([np.ones((64, 1)), scale * draw_codes()])
    found, expected = measure_all(table).values, measure_all(draw_codes()).values
    for name in ("probe_rmse", "probe_r2", "shift_linearity_mean", "shift_linearity_worst"):
        assert found[name] == pytest.approx(expected[name], rel=1e-9), name
    assert found["probe_rmse"] == pytest.approx(0.193586972587, rel=1e-9)


@pytest.mark.parametrize("columns", [1, 40])
@pytest.mark.parametrize("place", [0, 7, 19])
def test_a_row_unlike_all_others_teaches_nothing_where_it_is_held_out(place, columns):
    table = np.ones((20, columns))
    table[place] += np.random.default_rng(3).normal(size=columns)
    # the distance from the others says as much as all columns
    short = (np.arange(20)[:, None] == place) * np.linalg.norm(table[place] - 1)
    assert measure_position_probe(table).probe_rmse == pytest.approx(find_probe_error(short), rel=1e-9)


def test_a_column_that_only_changes_beyond_the_length_has_no_weight():
    first, second = widen(walk(20, 2), 1 / 3), widen(walk(20, 2, seed=2), 1e20 / 3)
    found = measure_extrapolation(first, second).extrapolation_rmse
    assert found == pytest.approx(measure_extrapolation(first[:, :2], second[:, :2]).extrapolation_rmse, rel=1e-9)


def test_codes_beyond_the_length_may_be_of_another_size():
    line = np.arange(20.0)[:, None]
    found = measure_extrapolation(1e-200 * line, 1e-50 * (20 + line)).extrapolation_rmse
    # a line is read as it is, but for the ridge: 1e150 times too far
    assert found == pytest.approx(1e150 * math.sqrt(np.mean((20 + line) ** 2)), rel=1e-8)
    far = measure_extrapolation(1e-200 * line, 1e150 * (20 + line))
    assert far.extrapolation_rmse is None
    assert far.reasons["extrapolation_rmse"] == "the error of the probe is beyond the range of float64"
    assert measure_extrapolation(0.17e308 * (line - 10), [[1.7e308]]).extrapolation_rmse < 1e-6


def test_the_probe_says_where_its_error_leaves_the_range():
    line = np.arange(20.0)[:, None]
    line[7] = 0.0
    apart = line + 1e190 * (np.arange(20)[:, None] == 7)
    found = measure_all(apart)
    assert found.values["probe_rmse"] == pytest.approx(1e190 / math.sqrt(20), rel=1e-7)
    assert found.values["probe_r2"] is None
    assert found.notes["probe_r2"] == "beyond the range of float64"
    further = measure_position_probe(1e-8 * line + 1e301 * (np.arange(20)[:, None] == 7))
    assert (further.probe_rmse, further.probe_r2) == (None, None)
    assert further.reasons["probe_rmse"] == "the error of the probe is beyond the range of float64"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([[1.7e308], [1.5e308]], [[1.7e308], [1.1e308]], 0.0),
        ([[1e150, 1e-200], [1e150, 2e-200], [1e150, 4e-200]], [[1e150, 1e-190]], 1e-200),
        ([[0.0], [3e-300]], [[1e-300], [1e308]], 1e-300),
    ],
)
def test_the_smallest_separation_is_that_of_the_codes_as_they_are(first, second, expected):
    assert measure_extrapolation(first, second).extrapolation_separation == expected


def test_a_separation_beyond_the_range_is_said_to_be_so():
    found = measure_extrapolation([[-1.7e308]], [[1.7e308]])
    assert found.extrapolation_separation is None
    assert found.reasons["extrapolation_separation"] == "the smallest separation is beyond the range of float64"
