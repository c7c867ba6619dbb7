"""Probes, shift linearity and Fisher information where rounding or the range of float64 would decide."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from pe_spectra import Dft, Sinusoidal, compare_encodings
from pe_spectra.metrics import linearity, measure_ladder_resolution, measure_table_metrics, measure_table_resolution
from pe_spectra.metrics.linearity import measure_shift_linearity
from pe_spectra.metrics.probes import FOLDS, RIDGES, measure_extrapolation, measure_position_probe

FISHER = ("fisher_information_mean", "fisher_information_min", "cramer_rao_bound_mean", "cramer_rao_bound_worst")


def walk(rows, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns)).cumsum(axis=0)


def widen(table, value):
    return np.hstack([table, np.full((len(table), 1), value)])


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
    found = measure_extrapolation(table[:length], table[length:]).rmse
    assert found == pytest.approx(find_extrapolation_error(table[:length], table[length:]), rel=1e-10)


@pytest.mark.parametrize("table", [Sinusoidal(d=8).table(60), walk(10, 11, seed=1)], ids=["long", "wide"])
def test_the_probe_is_right_to_nine_digits(table):
    assert measure_position_probe(table).rmse == pytest.approx(find_probe_error(table), rel=1e-9)


@pytest.mark.parametrize("factor", [1.0, 3.0, 1 / 3, 1e-200, 1e200])
def test_extrapolation_does_not_depend_on_the_scale(factor):
    table = factor * Sinusoidal(d=64).table(256)
    # by singular values; eigenvalues of the Gram matrix leave six digits of it
    assert measure_extrapolation(table[:128], table[128:]).rmse == pytest.approx(92.8276484417, rel=1e-10)


@pytest.mark.parametrize("value", [1.0, 1e16 / 3, 1e18 / 3, 1e20 / 3, 1e300 / 3])
def test_a_constant_column_says_nothing(value):
    table = walk(100, 3)
    moved = widen(table, value)
    shift, expected = measure_shift_linearity(moved), measure_shift_linearity(table)
    assert (shift.mean, shift.worst) == pytest.approx((expected.mean, expected.worst), rel=1e-9)
    assert measure_position_probe(moved).rmse == pytest.approx(measure_position_probe(table).rmse, rel=1e-9)
    first, second = measure_extrapolation(moved[:50], moved[50:]), measure_extrapolation(table[:50], table[50:])
    assert first.rmse == pytest.approx(second.rmse, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-70, 1e-77, 1e-80, 1e-160, 1e-165, 1e-300, 1e160, 1e300])
def test_small_codes_beside_a_constant_are_read_as_large_ones_are(scale):
    table = np.hstack([np.ones((64, 1)), scale * draw_codes()])
    found, expected = measure_table_metrics(table).values, measure_table_metrics(draw_codes()).values
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
    assert measure_position_probe(table).rmse == pytest.approx(find_probe_error(short), rel=1e-9)


def test_a_column_that_only_changes_beyond_the_length_has_no_weight():
    first, second = widen(walk(20, 2), 1 / 3), widen(walk(20, 2, seed=2), 1e20 / 3)
    found = measure_extrapolation(first, second).rmse
    assert found == pytest.approx(measure_extrapolation(first[:, :2], second[:, :2]).rmse, rel=1e-9)


def test_codes_beyond_the_length_may_be_of_another_size():
    line = np.arange(20.0)[:, None]
    found = measure_extrapolation(1e-200 * line, 1e-50 * (20 + line)).rmse
    # a line is read as it is, but for the ridge: 1e150 times too far
    assert found == pytest.approx(1e150 * math.sqrt(np.mean((20 + line) ** 2)), rel=1e-8)
    far = measure_extrapolation(1e-200 * line, 1e150 * (20 + line))
    assert far.rmse is None
    assert far.notes == ("the error of the probe is beyond the range of float64",)
    assert measure_extrapolation(0.17e308 * (line - 10), [[1.7e308]]).rmse < 1e-6


def test_the_probe_says_where_its_error_leaves_the_range():
    line = np.arange(20.0)[:, None]
    line[7] = 0.0
    apart = line + 1e190 * (np.arange(20)[:, None] == 7)
    found = measure_table_metrics(apart)
    assert found.values["probe_rmse"] == pytest.approx(1e190 / math.sqrt(20), rel=1e-7)
    assert found.values["probe_r2"] is None
    assert found.notes["probe_r2"] == "beyond the range of float64"
    further = measure_position_probe(1e-8 * line + 1e301 * (np.arange(20)[:, None] == 7))
    assert (further.rmse, further.r2) == (None, None)
    assert further.note == "the error of the probe is beyond the range of float64"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([[1.7e308], [1.5e308]], [[1.7e308], [1.1e308]], 0.0),
        ([[1e150, 1e-200], [1e150, 2e-200], [1e150, 4e-200]], [[1e150, 1e-190]], 1e-200),
        ([[0.0], [3e-300]], [[1e-300], [1e308]], 1e-300),
    ],
)
def test_the_smallest_separation_is_that_of_the_codes_as_they_are(first, second, expected):
    assert measure_extrapolation(first, second).smallest_separation == expected


def test_a_separation_beyond_the_range_is_said_to_be_so():
    found = measure_extrapolation([[-1.7e308]], [[1.7e308]])
    assert found.smallest_separation is None
    assert found.notes[1] == "the smallest separation is beyond the range of float64"


# ----------------------------------------------------------------------------------- shift linearity


def test_codes_over_the_whole_range_are_shifted_as_smaller_ones_are():
    s = np.arange(40.0)
    table = np.column_stack([np.cos(s), np.cos(0.3 * s + 1)])
    found, expected = measure_shift_linearity(1.7e308 * table), measure_shift_linearity(table)
    assert (found.mean, found.worst) == pytest.approx((expected.mean, expected.worst), rel=1e-9)


@pytest.mark.parametrize("columns", [1, 5])
def test_where_the_fitted_codes_are_equal_there_is_only_a_mean(columns):
    table = np.ones((16, columns))
    table[-1] += np.random.default_rng(3).normal(size=columns)  # never a source of a shift
    assert measure_shift_linearity(table).by_shift == ((1, 0.0),)


def test_a_mean_predicts_what_is_constant(monkeypatch):
    monkeypatch.setattr(linearity, "_MOST_POSITIONS", 8)
    table = np.ones((64, 3))
    table[5] = (1.3, 0.2, -0.7)  # not among the positions that are looked at
    assert measure_shift_linearity(table).by_shift == ((1, 1.0), (4, 1.0))


# ----------------------------------------------------------------------------------- Fisher information


def find_information(table):
    """Exact J at the positions 1 .. S-2."""
    rows = [[Fraction(float(x)) for x in row] for row in table]
    return [
        sum((after - before) ** 2 for after, before in zip(rows[s + 1], rows[s - 1], strict=True)) / 4
        for s in range(1, len(rows) - 1)
    ]


def invert_root(information):
    with mpmath.workdps(40):
        return float(mpmath.sqrt(mpmath.mpf(information.denominator) / information.numerator))


LINE = np.arange(12.0)[:, None]
SCALES = np.array([1e-300, 2e-300, 1e-170, 3e-170, 1e-20, 1.0, 1.0, 1e160, -1e160, 1.7e308, -1.7e308])[:, None]


@pytest.mark.parametrize(
    "table",
    [
        widen(1e-170 * LINE, 1.0),
        widen(1e-161 * LINE, 1.0),
        widen(1e-145 * LINE, 1e8),
        1e160 * LINE,
        SCALES,
        SCALES[:5],
        np.array([[0.0], [5e-324], [5e-324], [1.0]]),
        np.array([[1.7e308, 0.0], [0.0, 0.0], [-1.7e308, 5e-324]]),
        np.array([[0.0, 3e-300], [4e-300, 1.0], [1e-300, 1e-300], [4e-300, 1.0]]),
    ],
)
def test_information_and_bounds_are_those_in_fractions(table):
    exact = find_information(table)
    mean, least = sum(exact) / len(exact), min(exact)
    found = measure_table_resolution(table)
    for value, name in ((mean, FISHER[0]), (least, FISHER[1])):
        shown = getattr(found, name)
        if value and not 0 < round_to_float(value) < math.inf:
            assert shown is None
            assert found.explain(name) == f"{'below' if value < 1 else 'beyond'} the range of float64"
        else:
            assert shown == pytest.approx(round_to_float(value), rel=1e-14, abs=5e-324)
    for value, name in ((mean, FISHER[2]), (least, FISHER[3])):
        shown = getattr(found, name)
        if not value:
            assert (shown, found.explain(name)) == (None, "the information is 0")
        elif invert_root(value) == math.inf:
            assert (shown, found.explain(name)) == (None, "beyond the range of float64")
        else:
            assert shown == pytest.approx(invert_root(value), rel=1e-14, abs=0)


def round_to_float(value):
    with mpmath.workdps(40):
        return float(mpmath.mpf(value.numerator) / value.denominator)


def test_information_of_a_ladder_at_the_ends_of_the_range():
    found = measure_ladder_resolution([1e200, 1.0], [1.0, 1.0], amplitude=3.0)
    assert (found.fisher_information_mean, found.explain(FISHER[0])) == (None, "beyond the range of float64")
    assert found.cramer_rao_bound_mean == pytest.approx(1e-200 / 3, rel=1e-14)
    slow = measure_ladder_resolution([1.0, 1e-200], [0.0, 1.0])
    assert (slow.fisher_information_mean, slow.cramer_rao_bound_mean) == (None, pytest.approx(1e200, rel=1e-14))
    still = measure_ladder_resolution([1e-200], [1.0], amplitude=1e-200)
    assert (still.cramer_rao_bound_mean, still.explain(FISHER[2])) == (None, "beyond the range of float64")
    assert still.explain(FISHER[0]) == "below the range of float64"


@pytest.mark.parametrize(
    ("options", "length"),
    [
        ({"d": 3, "rho": 1e-6}, 3),
        ({"d": 3, "rho": 1.0}, 2),
        ({"d": 5, "rho": 0.01, "offset": 1, "scale": 0.3}, 40),
        ({"d": 63}, 128),
        ({"d": 3, "rho": 2.0}, 1),
    ],
)
def test_a_lone_sine_informs_by_its_slope_at_the_positions(options, length):
    d, scale, offset = options["d"], options.get("scale", 1.0), options.get("offset", 0)
    with mpmath.workdps(40):
        rho = mpmath.mpf(options.get("rho", 10000.0))
        w = [rho ** (-mpmath.mpf(index) / d) for index in range(0, d, 2)]
        pairs, lone = sum(x**2 for x in w[:-1]), w[-1]
        exact = [
            mpmath.mpf(scale) ** 2 * (pairs + (lone * mpmath.cos(lone * (s + offset))) ** 2) for s in range(length)
        ]
        mean, least = float(sum(exact) / length), float(min(exact))
    found = compare_encodings([Sinusoidal(**options)], length=length)[0].values
    expected = (mean, least, 1 / math.sqrt(mean), 1 / math.sqrt(least))
    assert tuple(found[name] for name in FISHER) == pytest.approx(expected, rel=1e-14)


def test_the_lone_cosine_at_pi_never_moves_at_integers():
    found = compare_encodings([Dft(d=2)], length=2)[0]
    assert found.values[FISHER[0]] == found.values[FISHER[1]] == 0
    assert found.notes[FISHER[2]] == "the information is 0"
