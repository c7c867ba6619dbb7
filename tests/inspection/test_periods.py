"""Dominant periods and the nearest ladder of a table."""

import re

import numpy as np
import pytest
from numpy.polynomial import Legendre
from numpy.testing import assert_allclose

from pe_spectra import draw_portrait, inspect_table
from pe_spectra.answers.portraits import answer_portrait
from pe_spectra.encodings import GivenArray, Learned, Sinusoidal
from pe_spectra.inspection.channels import find_channel_periods, fit_sinusoid
from pe_spectra.inspection.chirps import build_drift_axes, describe_chirp
from pe_spectra.inspection.periods import NAMED_PERIODS, find_periods
from pe_spectra.inspection.sinusoids import build_axes, refine_waves
from tests import planted
from tests.inspection.corpus import make
from tests.inspection.tables import EACH_SEED

# ----------------------------------------------------------------------------------- periods


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.04, 0.5])
@pytest.mark.parametrize("seed", EACH_SEED)
def test_planted_periods_are_found_with_their_shares(noise, seed):
    result = inspect_table(planted.make_periodic(1024, 768, seed, noise))
    assert result.findings == ()
    found = result.dominant_periods
    assert_allclose([one.period for one in found], planted.PERIODS, rtol=0.01)
    total = sum(planted.SHARES) + noise
    assert_allclose([one.share for one in found], np.array(planted.SHARES) / total, rtol=0.15)


#: The constant lines beside one that drifts, and their shares.
CONSTANT = {250.0: 0.25, 90.0: 0.15, 34.0: 0.1, 18.4: 0.08, 11.0: 0.05}


@pytest.mark.few(2)
@pytest.mark.parametrize("noise", [0.05, 0.2, 1.0])
@pytest.mark.parametrize("ends", [(5.6, 6.5), (6.5, 5.6), (2.5, 2.2)], ids=str)
@pytest.mark.parametrize("seed", EACH_SEED)
def test_a_line_that_drifts_counts_once_and_hides_no_other(noise, ends, seed):
    shares = tuple(CONSTANT.values())
    table = planted.make_periodic(512, 384, seed, noise, tuple(CONSTANT), shares)
    centred = table - table.mean(axis=0)
    beside = planted.add_drifting(np.zeros_like(table), *ends, 0.2, seed)
    total = np.sum((centred + beside - beside.mean(axis=0)) ** 2)
    dominant = find_periods(table + beside).dominant
    (drifting,) = [one for one in dominant if one.drift is not None]
    assert_allclose(drifting.drift, ends, rtol=0.01)
    assert_allclose(drifting.share, np.sum((beside - beside.mean(axis=0)) ** 2) / total, rtol=0.06)
    assert min(ends) < drifting.period < max(ends)
    constant = sorted((one for one in dominant if one.drift is None), key=lambda one: -one.period)
    assert_allclose([one.period for one in constant], list(CONSTANT), rtol=0.01)
    # as much of the table as without the line that drifts
    alone = sorted(find_periods(table).dominant, key=lambda one: -one.period)
    assert_allclose(
        [one.share for one in constant], [one.share * np.sum(centred**2) / total for one in alone], atol=0.01
    )


@pytest.mark.parametrize("seed", range(4))
def test_lines_that_touch_in_a_window_do_not_hide_one_that_drifts(seed):
    """Between periods of 12.9 and 17.9 windows of 64 rows have a shoulder, higher above the median than a peak."""
    table = planted.make_periodic(512, 96, seed, 0.2, (17.9, 12.9), (0.3, 0.2))
    dominant = find_periods(planted.add_drifting(table, 4.3, 3.9, 0.1, seed)).dominant
    (drifting,) = [one for one in dominant if one.drift is not None]
    assert_allclose(drifting.drift, (4.3, 3.9), rtol=0.01)
    assert len(dominant) == 3


@pytest.mark.slow
@pytest.mark.parametrize("make", [planted.make_periodic, planted.make_noise, planted.make_walk, planted.make_lively])
def test_what_is_constant_or_has_no_line_does_not_drift(make):
    for seed in range(6):
        assert [one for one in find_periods(make(512, 32, seed)).dominant if one.drift is not None] == []


@pytest.mark.parametrize("noise", [0.05, 1.0])
@pytest.mark.parametrize(("ends", "beside"), [((100.0, 42.0), 20.0), ((36.0, 64.0), 22.0), ((24.0, 30.0), 60.0)])
@pytest.mark.parametrize("rows", [512, 1024])
def test_a_slow_line_that_drifts_counts_once_with_its_share(noise, ends, beside, rows):
    """Its turns are too few for windows of an eighth of the rows."""
    ends, beside = tuple(rows / 512 * end for end in ends), rows / 512 * beside
    constant = planted.make_periodic(rows, 96, 3, noise, (beside, 7.3), (0.3, 0.2))
    table = planted.add_drifting(constant, *ends, 0.25, 3)
    dominant = find_periods(table).dominant
    (drifting,) = [one for one in dominant if one.drift is not None]
    assert_allclose(drifting.drift, ends, rtol=0.08)
    line = (table - constant) - (table - constant).mean(axis=0)
    assert_allclose(drifting.share, np.sum(line**2) / np.sum((table - table.mean(axis=0)) ** 2), rtol=0.08)
    assert_allclose(sorted(one.period for one in dominant if one.drift is None), [7.3, beside], rtol=0.01)


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 6), marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("width", [1, 2, 96])
def test_few_columns_of_noise_do_not_drift(width, seeds):
    """What is fitted to noise takes from it, so that all fits together would leave little beside each."""
    tables = [planted.make_noise(rows, width, seed) for seed in seeds for rows in (192, 320)]
    assert [one.drift for table in tables for one in find_periods(table).dominant] == []


@pytest.mark.parametrize("apart", [2.0, 3.0, 4.5])
def test_two_lines_beside_each_other_are_no_line_that_drifts(apart):
    for seed in range(3):
        table = planted.make_periodic(512, 64, seed, 0.2, (512 / 12, 512 / (12 + apart)), (0.3, 0.25))
        found = sorted(512 / one.period for one in find_periods(table).dominant)
        assert_allclose(found, [12, 12 + apart], atol=0.2)


def test_turns_of_a_line_that_drifts_are_the_sum_of_its_frequencies():
    """By steps of a thousandth of a row, against the polynomial; from the first row to the last."""
    terms = np.array([0.05, 0.003, -0.001, 0.0005])
    ridge, axes = describe_chirp(terms), build_drift_axes(200)
    turns = np.sum([term * axis for term, axis in zip(terms, axes, strict=False)], axis=0)
    places = np.arange(-1 + 1 / 200, 1 - 1 / 200, 1e-5)
    slope = (Legendre([0.0, *terms])(places + 1e-6) - Legendre([0.0, *terms])(places - 1e-6)) / 2e-6
    assert_allclose(turns[-1] - turns[0], slope.sum() * 100 * 1e-5, rtol=1e-4)
    assert_allclose((slope[0], slope[-1]), (ridge.first, ridge.last), rtol=0.03)
    assert ridge.low <= slope.min() <= slope.max() <= ridge.high


def test_an_answer_names_where_a_period_drifts():
    table = planted.add_drifting(planted.make_periodic(512, 64), 8.0, 9.5, 0.4)
    periods = dict(answer_portrait(look_at(table)).facts)["dominant periods"]
    assert periods.count("drifts from 8") == 1
    assert " to 9.5 (" in periods


@pytest.mark.slow
def test_periods_are_found_behind_special_rows_and_before_a_tail():
    table = planted.plant_tail(planted.plant_cls(planted.make_periodic(1024, 768), 20.0), 960)
    table[500] *= 6
    found = inspect_table(table).dominant_periods
    assert_allclose([one.period for one in found], planted.PERIODS, rtol=0.02)


@pytest.mark.parametrize("size", [(256, 64), (512, 32), (128, 768)], ids=str)
def test_shorter_tables_have_the_periods_that_fit_in(size):
    found = sorted(one.period for one in find_periods(planted.make_periodic(*size)).dominant)
    for period in planted.PERIODS:
        if period < size[0] / 2.5:
            assert min(abs(np.array(found) / period - 1)) < 0.02, period


def test_a_trend_is_no_period():
    periods = find_periods(planted.make_ramp(256, 16))
    assert periods.dominant == ()
    assert_allclose(periods.trend_share, 1)


def test_periods_of_channels_are_those_of_the_ladder():
    table = planted.make_sinusoid(512, 128)
    channels = find_channel_periods(table)
    expected = np.repeat(2 * np.pi * 10000.0 ** (np.arange(0, 128, 2) / 128), 2)
    fast = expected < 400
    assert_allclose(channels.periods[fast], expected[fast], rtol=0.01)
    assert np.isnan(channels.periods[expected > 700]).all()
    assert channels.explained > 0.999


def test_noise_and_constant_channels_have_no_period():
    table = planted.make_noise(512, 100)
    table[:, 3] = 0.1
    channels = find_channel_periods(table)
    assert np.isnan(channels.periods).sum() >= 98
    assert np.isnan(channels.periods[3])
    assert channels.shares[3] == 0


@pytest.mark.few(2)
@pytest.mark.parametrize("rho", [100.0, 10000.0, 500000.0])
@pytest.mark.parametrize("size", [(128, 64), (512, 256)])
def test_the_nearest_sinusoid_is_the_one_that_made_the_table(rho, size):
    table = planted.make_sinusoid(*size, rho)
    fit = fit_sinusoid(table)
    assert_allclose(fit.rho, rho, rtol=1e-5)
    assert_allclose(fit.share, 1, atol=1e-9)
    assert fit.layout == "interleaved"
    moved = fit_sinusoid(np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1))
    assert_allclose(moved.rho, rho, rtol=1e-5)
    assert moved.layout == "concatenated"


def test_a_ladder_that_ends_at_one_over_rho_is_tensor2tensor():
    frequencies = 10000.0 ** -(np.arange(192) / 191)
    angles = np.arange(448)[:, None] * frequencies
    fit = fit_sinusoid(np.concatenate([np.sin(angles), np.cos(angles)], axis=1))
    assert fit.layout == "tensor2tensor"
    assert_allclose(fit.rho, 10000, rtol=1e-4)


# ----------------------------------------------------------------------------------- rates


TWENTY = range(20)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [0.9, 0.99, 1.0])
def test_processes_have_no_period(memory):
    assert [find_periods(planted.make_walk(300, 64, seed, memory)).dominant for seed in TWENTY] == [()] * 20


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 20), marks=pytest.mark.slow)], ids=str)
def test_shares_sum_to_no_more_than_one(seeds):
    for seed in seeds:
        assert sum(one.share for one in find_periods(planted.make_lively(384, 64, seed)).dominant) <= 1 + 1e-12


def test_a_period_in_a_walk_is_found():
    wave = np.cos(2 * np.pi * np.arange(400)[:, None] / 11 + np.arange(32))
    (only,) = find_periods(planted.make_walk(400, 32) + 8 * wave).dominant
    assert_allclose(only.period, 11, rtol=0.01)


@pytest.mark.few(10)
@pytest.mark.parametrize("rows", [64, 97, 256])
@pytest.mark.parametrize("period", [2.0, 2.005, 2.02, 2.1, 2.3, 3.0, 0.34, 0.5, 0.67])
def test_periods_near_both_ends_are_right(rows, period):
    period = period if period >= 2 else period * rows
    generator = planted.make_generator(rows)
    angle = 2 * np.pi * np.arange(rows)[:, None] / period + 2 * np.pi * generator.random(24)
    for noise in (0.0, 0.1):
        table = np.cos(angle) + noise * generator.standard_normal((rows, 24))
        (only,) = find_periods(table).dominant
        assert_allclose(only.period, period, rtol=0.005)
        assert only.period >= 2
        columns = find_channel_periods(table).periods
        assert np.nanmin(columns) >= 2
        assert_allclose(np.nanmedian(columns), period, rtol=1e-3 if noise == 0 else 0.02)


def test_alternating_rows_have_the_period_two_exactly():
    table = (-1.0) ** np.arange(50)[:, None] * np.arange(1, 9) + 0.1 * planted.make_generator(0).standard_normal(
        (50, 8)
    )
    assert [one.period for one in find_periods(table).dominant] == [2.0]
    assert find_channel_periods(table).periods.tolist() == [2.0] * 8


def test_a_polynomial_has_no_period():
    tables = [make("sound: polynomial", seed).table for seed in range(16)]
    assert [seed for seed, table in enumerate(tables) if find_periods(table).dominant] == []


def add_slow_waves(generator, longest):
    angles = [2 * np.pi * k * np.arange(512)[:, None] / longest + generator.uniform(0, 6, 64) for k in range(1, 8)]
    return sum(np.cos(angle) / k for k, angle in enumerate(angles, 1)) + 0.1 * generator.standard_normal((512, 64))


def add_smooth_noise(generator, width):
    kernel = np.exp(-0.5 * (np.arange(-4 * width, 4 * width + 1) / width) ** 2)
    columns = generator.standard_normal((64, 512 + 8 * width))
    smooth = np.stack([np.convolve(column, kernel, "valid") for column in columns], axis=1)
    return smooth + generator.standard_normal((512, 64))


@pytest.mark.few(1)
@pytest.mark.parametrize(("add", "size"), [(add_slow_waves, 665.6), (add_slow_waves, 1024), (add_smooth_noise, 60)])
def test_slow_curves_and_noise_have_no_period(add, size):
    """Below one or two cycles there are no bins, and those above show the noise alone."""
    tables = [add(planted.make_generator(60_000 + seed), size) for seed in range(6)]
    assert [seed for seed, table in enumerate(tables) if find_periods(table).dominant] == []


@pytest.mark.parametrize(("width", "rows"), [(16, 256), (64, 512)])
def test_lines_of_a_ladder_of_four_turns_and_more_are_found_beside_slow_ones(width, rows):
    ladder = 2 * np.pi * 10000.0 ** (np.arange(0, width, 2) / width)
    longest = {16: 63, 64: 48}[width]  # slower ones of 64 are closer than the table resolves
    found = [one.period for one in find_periods(planted.make_sinusoid(rows, width)).dominant]
    for period in ladder[ladder < longest]:
        assert min(abs(np.array(found) / period - 1)) < 0.01, period


def test_a_frequency_at_pi_moves_to_where_it_fits():
    """There the slope is zero by symmetry."""
    axes, found = build_axes((60,)), [np.array([0.5])]
    refine_waves(np.cos(2 * np.pi * 0.496 * axes[0])[:, None], axes, found, np.ones((60, 1)) / 60**0.5)
    assert_allclose(found[0], [0.496], rtol=1e-6)


def test_a_step_is_at_most_two_fifths_of_a_cycle_over_the_side():
    """However far the line is: longer steps could pass it."""
    axes, moved = build_axes((60,)), []
    for apart in np.arange(0.2, 2.0, 0.1):
        found = [np.array([0.2 + apart / 60])]
        refine_waves(np.cos(2 * np.pi * 0.2 * axes[0])[:, None], axes, found, np.ones((60, 1)) / 60**0.5, steps=1)
        moved.append(60 * abs(found[0][0] - 0.2 - apart / 60))
    assert_allclose(max(moved), 0.4, rtol=1e-9)


# ----------------------------------------------------------------------------------- what is said


def measure_share(table, places, frequencies):
    """The share of the variance that waves of these frequencies explain together, by plain least squares."""
    centred = table - table.mean(axis=0)
    angles = [2 * np.pi * places @ np.atleast_1d(one) for one in frequencies]
    waves = np.column_stack([wave(angle) for angle in angles for wave in (np.cos, np.sin)])
    waves = waves - waves.mean(axis=0)
    left = centred - waves @ np.linalg.lstsq(waves, centred, rcond=None)[0]
    return 1 - np.sum(left**2) / np.sum(centred**2)


SAID = re.compile(r"([\d.]+)( down| across| diagonal)? \(([\d.]+) %\)")


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(12))
def test_what_is_said_of_periods_is_what_the_table_has(seed):
    """Each period that is named explains its share by itself, along the direction that is named."""
    generator = planted.make_generator(50_000 + seed)
    shape = [(160, 1), (16, 16), (12, 20)][seed % 3]
    places = np.indices(shape).reshape(2, -1).T.astype(float)
    table = generator.choice([0.1, 1.0]) * generator.standard_normal((len(places), 24))
    for _ in range(generator.integers(0, 4)):
        frequency = generator.uniform(0.1, 0.45, 2) * generator.choice([[0, 1], [1, 0], [1, 1]])
        angle = 2 * np.pi * places @ (frequency if shape[1] > 1 else [generator.uniform(0.02, 0.45), 0])
        waves = np.column_stack([np.cos(angle), np.sin(angle)])
        table += waves @ generator.standard_normal((2, 24))
    values = GivenArray(table)
    grid = f"{shape[0]}x{shape[1]}" if shape[1] > 1 else None
    portrait = draw_portrait(Learned(values=values, grid=grid))
    periods = portrait.dominant_periods
    said = SAID.findall(dict(answer_portrait(portrait).facts).get("dominant periods", ""))
    assert len(said) == min(len(periods), NAMED_PERIODS)
    named = []
    for (length, way, share), one in zip(said, periods, strict=False):
        down, across = one.along or (one.period, None)
        assert way == (
            ""
            if grid is None
            else {(False, True): " down", (True, False): " across"}.get((down is None, across is None), " diagonal")
        )
        named.append([0 if side is None else 1 / side for side in (down, across)])
        assert_allclose(float(length), 1 / np.hypot(*named[-1]), rtol=2e-3)
        assert_allclose(measure_share(table, places, named[-1:]), float(share) / 100, atol=0.03)
    if periods:
        total = measure_share(table, places, named)
        assert_allclose(sum(one.share for one in periods[: len(named)]), total, atol=0.03)
    assert [one.share for one in periods] == sorted((one.share for one in periods), reverse=True)


#: What an `inspect` answer has of the changes of a table about its mean row.
ABOUT_THE_MEAN = ("neighbour_cosine_centred_median", "trend_share", "trend_and_periods_share")
ABOUT_THE_MEAN += ("sinusoid_per_channel_share", "toeplitz_share_centred", "stable_rank_centred")


def look_at(table):
    return draw_portrait(Learned(values=GivenArray(table)))


# ----------------------------------------------------------------------------------- few rows


def test_two_rows_have_no_nearest_ladder():
    """Any ladder meets two numbers with an amplitude and a phase."""
    for rows, known in ((2, False), (3, True)):
        metrics = inspect_table(planted.make_sinusoid(rows, 16)).metrics
        assert [metrics[f"nearest_sinusoid_{name}"] is not None for name in ("rho", "share")] == [known] * 2


# ----------------------------------------------------------------------------------- constant columns


@pytest.mark.parametrize("number", [0.1, 1 / 3, 7.0, -1e8 / 3])
def test_what_never_changes_has_no_share_of_changes(number):
    metrics = look_at(np.full((10, 4), number)).metrics
    assert [metrics[name] for name in ABOUT_THE_MEAN] == [None] * len(ABOUT_THE_MEAN)


def test_zero_table_has_no_ladder():
    metrics = look_at(np.zeros((10, 4))).metrics
    assert metrics["nearest_sinusoid_rho"] is metrics["nearest_sinusoid_share"] is None


@pytest.mark.slow
@pytest.mark.parametrize(("number", "scale"), [(1e12 / 3, 1.0), (1e8 / 3, 1e-6), (0.1, 1e-14)])
def test_constant_column_changes_nothing_about_the_mean(number, scale):
    codes = scale * Sinusoidal(d=16).table(100)
    beside = np.concatenate([codes, np.full((100, 1), number)], axis=1)
    expected, found = look_at(codes), look_at(beside)
    for name in ABOUT_THE_MEAN:
        assert_allclose(found.metrics[name], expected.metrics[name], rtol=1e-9, err_msg=name)
    assert_allclose(found.inspection.helix.shares, expected.inspection.helix.shares, rtol=1e-9, atol=1e-15)
