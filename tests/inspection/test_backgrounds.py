"""What noise makes of a spectrum: how high its peaks are in theory and in draws, and that no period is found in it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.inspection.backgrounds import count_columns, find_bins, find_ratio
from pe_spectra.inspection.periods import find_periods
from tests import planted


def draw_noise(generator, rows, rank, memory):
    """Noise in `rank` columns, each an autoregressive process of this memory; 1 is a random walk."""
    noise = generator.standard_normal((rows, rank))
    for row in range(1, rows):
        noise[row] += memory * noise[row - 1]
    return noise


#: Ways to make d columns out of noise: mixtures of one to three, or all with constant, zero, equal or scaled ones.
MIXED = {
    f"rank {rank}": lambda x, g, rank=rank: x[:, :rank] @ g.standard_normal((rank, x.shape[1])) for rank in (1, 2, 3)
}
MIXED |= {
    "full rank": lambda x, _: x,
    "constant beside": lambda x, _: np.where(np.arange(x.shape[1]) < max(1, x.shape[1] // 8), x, 0.1),
    "zero beside": lambda x, _: np.where(np.arange(x.shape[1]) < max(1, x.shape[1] // 8), x, 0.0),
    "equal columns": lambda x, g: x[:, g.integers(0, max(1, x.shape[1] // 8), x.shape[1])],
    "scaled columns": lambda x, g: x * np.exp(2.5 * g.standard_normal(x.shape[1])),
}


def list_false(sizes, seeds):
    """Noise of all kinds in which a period is found, and how many tables there are."""
    false, tables = [], 0
    for name, mix in MIXED.items():
        for rows, width in sizes:
            for memory in (0.0, 0.5, 0.9, 1.0):
                for seed in seeds:
                    generator = planted.make_generator(30_000 + seed)
                    table = mix(draw_noise(generator, rows, width, memory), generator)
                    tables += 1
                    if find_periods(table).dominant:
                        false.append((name, rows, width, memory, seed))
    return false, tables


def test_noise_of_any_rank_and_colour_has_no_period():
    false, tables = list_false([(64, 8), (128, 32)], range(1))
    assert len(false) <= 0.02 * tables, false


@pytest.mark.slow
@pytest.mark.parametrize("size", [(64, 8), (100, 3), (300, 16), (512, 64), (1024, 768)], ids=str)
def test_noise_of_any_rank_and_colour_has_no_period_in_any_size(size):
    false, tables = list_false([size], range(2 if size[1] > 64 else 20))
    assert len(false) <= 0.02 * tables, false


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


@pytest.mark.few(1)
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
