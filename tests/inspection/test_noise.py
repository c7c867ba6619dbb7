"""No period is found in noise, whatever its rank and colour, and what its columns are made of."""

import numpy as np
import pytest

from pe_spectra.inspection.periods import find_periods
from tests import planted
from tests.inspection.tables import draw_noise

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


@pytest.mark.slow
def test_noise_of_any_rank_and_colour_has_no_period():
    false, tables = list_false([(64, 8)], range(1))
    assert len(false) <= 0.02 * tables, false


@pytest.mark.slow
@pytest.mark.parametrize("size", [(64, 8), (128, 32), (100, 3), (300, 16), (512, 64), (1024, 768)], ids=str)
def test_noise_of_any_rank_and_colour_has_no_period_in_any_size(size):
    false, tables = list_false([size], range(2 if size[1] > 64 else 20))
    assert len(false) <= 0.02 * tables, false
