"""What noise makes of a spectrum: how high its peaks are in theory and in draws, and that lines stand out of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.inspection.backgrounds import count_columns, find_bins, find_ratio
from pe_spectra.inspection.periods import find_periods
from tests import planted
from tests.inspection.tables import draw_noise

STRENGTHS = {
    "one": [1.0],
    "two": [1.0, 1.0],
    "many": [1.0] * 6,
    "one of many": [20.0, *[1.0] * 30],
    "falling": 0.5 ** np.arange(9),
}


@pytest.mark.few(4, keep=["12.0-two"])
@pytest.mark.parametrize("name", STRENGTHS)
@pytest.mark.parametrize("squares", [np.inf, 12.0])
def test_noise_is_as_seldom_above_the_threshold_as_theory_says(name, squares):
    """A sum of exponential variables over a level that is known, or a mean of a few squares."""
    generator, strengths = planted.make_generator(5), np.asarray(STRENGTHS[name])
    columns = np.sum(strengths**2) ** 3 / np.sum(strengths**3) ** 2
    draws = generator.exponential(size=(400_000, len(strengths))) @ (strengths / strengths.sum())
    if np.isfinite(squares):
        draws /= generator.gamma(squares, 1 / squares, len(draws))
    above = np.mean(draws > find_ratio(columns, squares, 1))
    assert above < 1.2e-3  # a thousandth, but for three standard errors
    if name in ("one", "two"):
        assert above > 0.8e-3


@pytest.mark.parametrize("rank", [1, 2, 3, 8])
def test_columns_of_a_mixture_are_counted(rank):
    counts = []
    for seed in range(20):
        generator = planted.make_generator(seed)
        mixed = generator.standard_normal((64, rank)) @ np.linalg.qr(generator.standard_normal((32, 32)))[0][:rank]
        counts.append(count_columns(find_bins(mixed, (64,), 0.0)))
    assert_allclose(np.median(counts), rank, rtol=0.15)


def test_a_strong_column_among_weak_ones_counts_as_one():
    """Its peaks are those of one column, though the variance of the sum is that of several."""
    counts = []
    for seed in range(20):
        noise = planted.make_generator(seed).standard_normal((96, 31)) * np.sqrt([20.0, *[1.0] * 30])
        counts.append(count_columns(find_bins(noise, (96,), 0.0)))
    assert np.median(counts) < 2.2  # (tr C)^2 / tr C^2 is 5.8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rank", "memory", "strength"), [(64, 0.0, 4), (64, 0.9, 6), (1, 0.0, 120), (1, 0.9, 160), (2, 0.9, 80)]
)
def test_a_line_that_noise_would_not_have_is_found(rank, memory, strength):
    """`strength`: power of the line over the level there, where the Hann window spreads it over a cycle and a half."""
    missed = []
    for seed in range(20):
        generator = planted.make_generator(40_000 + seed)
        rows, frequency = 128, generator.uniform(6, 55) / 128
        table = draw_noise(generator, rows, rank, memory)
        level = rank / abs(1 - memory * np.exp(-2j * np.pi * frequency)) ** 2
        amplitudes = generator.standard_normal((2, rank))
        amplitudes *= np.sqrt(strength * 6 / rows * level / np.sum(amplitudes**2))
        angle = 2 * np.pi * frequency * np.arange(rows)[:, None]
        table += np.cos(angle) * amplitudes[0] + np.sin(angle) * amplitudes[1]
        found = [one.period for one in find_periods(table).dominant]
        if not any(abs(one * frequency - 1) < 0.02 for one in found):
            missed.append(seed)
    assert len(missed) <= 1, missed
