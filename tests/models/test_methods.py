"""What each way to lengthen a context does to a model: its numbers, by naive formulas."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.answers.lengthenings import answer_lengthenings
from pe_spectra.encodings import find_encoding
from pe_spectra.errors import InputError
from pe_spectra.models.cosine_sums import sample_kernel
from pe_spectra.models.lengths.methods import (
    _find_unseen,
    _measure_neighbour_distance,
    compare_methods,
    propose_bases,
)

TURN = 2 * math.pi
METHODS = ("none", "linear", "ntk", "dynamic", "yarn", "yarn-paper", "llama3", "critical-base", "men-base")


def rows_of(context_report):
    return {row.method: row for row in context_report.methods}


# ----------------------------------------------------------------------------------- the numbers


def test_the_methods_in_order(context_report):
    assert tuple(row.method for row in context_report.methods) == METHODS
    assert (context_report.pairs, context_report.never_turn_in_training, context_report.critical_dimension) == (
        64,
        29,
        70,
    )


@pytest.mark.parametrize("method", METHODS)
def test_frequencies_are_those_of_the_catalogue(context_report, method):
    row = rows_of(context_report)[method]
    keys = {key: value for key, value in row.parameters.items() if key != "truncate"}
    scaling = "none" if method.endswith("-base") else method
    encoding = find_encoding("rope")(d=128, scaling=scaling, **keys)
    assert_array_equal(row.frequencies, encoding.frequencies().values)
    assert row.attention_scaling == pytest.approx(encoding.frequencies().amplitude, rel=1e-15)


def compute_naively(method, d, base, trained, target):
    """Frequencies by the formulas of the papers, in plain floats."""
    theta = np.array([base ** (-2 * i / d) for i in range(d // 2)])
    s = target / trained
    if method == "linear":
        return theta / s
    if method == "ntk":
        return np.array([(base * s ** (d / (d - 2))) ** (-2 * i / d) for i in range(d // 2)])
    if method == "dynamic":
        grown = base * (s * target / trained - (s - 1)) ** (d / (d - 2))
        return np.array([grown ** (-2 * i / d) for i in range(d // 2)])
    turns = trained * theta / (2 * math.pi)
    if method == "llama3":
        kept = np.clip((turns - 1) / (4 - 1), 0, 1)
    elif method == "yarn-paper":
        kept = np.clip((turns - 1) / (32 - 1), 0, 1)
    elif method == "yarn":
        low, high = (d * math.log(trained / (2 * math.pi * n)) / (2 * math.log(base)) for n in (32, 1))
        low, high = max(math.floor(low), 0), min(math.ceil(high), d - 1)
        kept = 1 - np.clip((np.arange(d // 2) - low) / (high - low), 0, 1)
    else:
        kept = np.ones(d // 2)
    return kept * theta + (1 - kept) * theta / s


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "model",
    [
        (128, 5e5, 8192, 131072),
        (128, 1e4, 4096, 16384),
        (64, 1e6, 32768, 100000),
        (128, 1e4, 4096, 4130),
        (256, 1e4, 4096, 4200),
    ],
)
def test_every_row_against_naive_formulas(model):
    d, _, trained, target = model
    before = compute_naively("none", *model)
    for row in compare_methods(*model).methods[:7]:
        after = compute_naively(row.method, *model)
        assert_allclose(row.frequencies, after, rtol=1e-12)
        assert_allclose(row.turns, after * target / (2 * math.pi), rtol=1e-12)
        unseen = [a * target > 1.01 * b * trained and b * trained < TURN for a, b in zip(after, before, strict=True)]
        assert row.unseen.tolist() == unseen
        assert row.unseen_pairs == sum(unseen)
        new = sum(
            a * target > b * trained * (1 + 1e-9) and b * trained < TURN for a, b in zip(after, before, strict=True)
        )
        assert row.tolerated_pairs == new - sum(unseen)
        assert row.never_turn == sum(theta * target < 2 * math.pi for theta in after)
        assert row.kept_pairs == sum(math.isclose(a, b, rel_tol=1e-12) for a, b in zip(after, before, strict=True))
        assert row.min_wavelength == pytest.approx(2 * math.pi / after[0], rel=1e-14)
        apart = [math.sqrt(sum(2 - 2 * math.cos(theta) for theta in part)) for part in (after, before)]
        assert row.neighbour_distance == pytest.approx(apart[0] / apart[1], rel=1e-9)
        sums = np.sum(np.cos(np.arange(1, 50001)[:, None] * after), axis=1)
        negative = np.flatnonzero(sums < 0)
        if negative.size:
            assert row.first_negative_lag == negative[0] + 1
        else:
            assert row.first_negative_lag is None or row.first_negative_lag > 50000
        assert not row.frequencies.flags.writeable
    assert d // 2 == len(before)


def test_what_is_known_of_llama3(context_report):
    rows = rows_of(context_report)
    assert [rows[name].unseen_pairs for name in METHODS] == [29, 0, 28, 0, 0, 0, 0, 0, 27]
    assert [rows[name].first_negative_lag for name in ("none", "men-base")] == [18438, 135110]
    assert rows["linear"].min_wavelength == pytest.approx(16 * 2 * math.pi)
    assert rows["none"].parameters == {"base": 5e5}
    assert rows["men-base"].parameters == {"base": 8.8e6}
    assert rows["yarn"].attention_scaling == pytest.approx(0.1 * math.log(16) + 1, rel=1e-15)
    assert rows["llama3"].never_turn == 29
    assert "; llama3 with factor " in answer_lengthenings(context_report).verdict.text


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("d", "base", "trained", "never"),
    [(128, 1e4, 4096, 18), (128, 5e5, 8192, 29), (128, 1e6, 32768, 24), (256, 1e4, 8192, 28)],
)
def test_pairs_that_never_turned_are_those_that_see_new_phases(d, base, trained, never):
    context_report = compare_methods(d, base, trained, 4 * trained)
    assert (context_report.never_turn_in_training, context_report.methods[0].unseen_pairs) == (never, never)
    by_name = rows_of(context_report)
    assert by_name["yarn"].unseen_pairs == by_name["yarn-paper"].unseen_pairs == by_name["linear"].unseen_pairs == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("trained", [1000, 4096, 10007])
@pytest.mark.parametrize("factor", [1.3, *(pytest.param(f, marks=pytest.mark.slow) for f in (3, 7.7)), 100])
def test_rounding_of_the_factor_makes_no_new_phases(trained, factor):
    rows = rows_of(compare_methods(128, 1e4, trained, round(trained * factor)))
    assert [rows[name].unseen_pairs for name in ("linear", "yarn-paper", "llama3")] == [0, 0, 0]


@pytest.mark.slow
@settings(max_examples=8)
@given(
    st.sampled_from([4, 6, 32, 64, 128]),
    st.floats(2, 1e18),
    st.integers(8, 1 << 14),
    st.integers(1, 1 << 14),
)
def test_laws_of_the_methods(d, base, trained, more):
    rows = rows_of(compare_methods(d, base, trained, trained + more))
    # these divide by the factor whatever never turned in training; and nothing is ever made faster
    assert [rows[name].unseen_pairs for name in ("linear", "yarn-paper", "llama3")] == [0, 0, 0]
    for row in rows.values():
        assert (row.frequencies <= rows["none"].frequencies * (1 + 1e-12)).all()
        assert row.unseen_pairs <= rows["none"].unseen_pairs
        assert 0 <= row.unseen_share <= row.unseen_pairs / (d // 2)
        assert (row.turns < 1).sum() == row.never_turn
        assert 0 < row.neighbour_distance <= 1 + 1e-12
        assert row.min_wavelength == pytest.approx(2 * math.pi / row.frequencies.max())


def test_a_target_just_above_is_within_the_tolerance():
    context_report = compare_methods(128, 1e4, 4096, 4100)
    assert context_report.methods[0].unseen_pairs == 0
    assert context_report.methods[0].unseen_share == 0
    assert context_report.methods[0].tolerated_pairs == 18
    with pytest.raises(InputError, match="target is not above trained"):
        compare_methods(128, 1e4, 4096, 4096)


def test_unseen_phases_of_single_pairs():
    # within 100 positions: a whole turn and more; three radians, of which twice as many are met; nothing new
    before, after = np.array([1.0, 0.03, 0.03]), np.array([1.0, 0.03, 0.015])
    unseen, share = _find_unseen(before * 100, after * 200)
    assert unseen.tolist() == [False, True, False]
    assert share == pytest.approx((0 + 0.5 + 0) / 3)
    # a turn at most is met
    assert _find_unseen(before * 100, before * 10000)[1] == pytest.approx(2 * (1 - 3 / (2 * math.pi)) / 3)
    assert _measure_neighbour_distance(np.array([math.pi, 0.0])) == pytest.approx(2)


def test_bases_that_are_left_out():
    far = compare_methods(128, 1e18, 8, 1 << 30)
    assert "critical-base" not in rows_of(far)
    assert any("critical-base is left out" in note for note in far.notes)
    high = compare_methods(128, 1e9, 8192, 131072)
    assert "men-base" not in rows_of(high)
    assert any("not above the base that there is" in note for note in high.notes)
    assert high.notes[-1].startswith("longrope is left out")


def test_the_inverse_has_bounds_and_no_rows():
    context_report = propose_bases(128, 1024)
    assert (context_report.methods, context_report.base, context_report.trained, context_report.scanned) == (
        (),
        None,
        None,
        None,
    )
    assert [bound.name for bound in context_report.bounds][:2] == ["men-exact", "men-settled"]


@pytest.mark.parametrize("longest", [2, 3, 100, 5000, 131072])
def test_the_sampled_kernel(longest):
    frequencies = 1e4 ** (-np.arange(16) / 16)
    sample = sample_kernel(frequencies, longest)
    assert (np.diff(sample.lags) > 0).all()
    assert sample.lags[0] == 1
    assert (sample.low <= sample.mean).all()
    assert (sample.mean <= sample.high).all()
    every = np.mean(np.cos(np.arange(1, longest + 1)[:, None] * frequencies), axis=1)
    assert sample.low.min() >= every.min() - 1e-9
    assert sample.high.max() <= every.max() + 1e-9
    if longest <= 5000:  # each lag is computed
        assert sample.low.min() == pytest.approx(every.min())
        assert sample.high.max() == pytest.approx(every.max())
