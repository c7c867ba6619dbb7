"""Where nothing was planted nothing is found: trained tables, formulas, noise, processes and curves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.inspection import inspect_table
from pe_spectra.inspection.periods import find_periods
from tests import planted
from tests.inspection.tables import CONTROLS, EACH_SEED, find_only, find_row_only, inspect_codes, look_at_rows

# ----------------------------------------------------------------------------------- nothing planted


#: The largest in the slow run, and of the wide ones two seeds.
EACH_SIZE = [
    pytest.param(size, marks=[pytest.mark.slow] if size == max(planted.SIZES) else []) for size in planted.SIZES
]
EACH_TABLE = [
    pytest.param(size, seed, marks=[pytest.mark.slow] if seed > (size[1] < 768) or size == max(planted.SIZES) else [])
    for size in planted.SIZES
    for seed in (planted.SEEDS if size[1] < 768 else planted.SEEDS[:2])
]


@pytest.mark.few(9)
@pytest.mark.parametrize(("size", "seed"), EACH_TABLE, ids=str)
@pytest.mark.parametrize("name", CONTROLS)
def test_nothing_is_found_where_nothing_was_planted(name, size, seed):
    """Of interpolation neither, which is among what is said of the rows."""
    assert look_at_rows(CONTROLS[name](*size, seed))[0] == ()


@pytest.mark.slow
@pytest.mark.parametrize("size", [*EACH_SIZE, (2050, 64)], ids=str)
@pytest.mark.parametrize("rho", [100.0, 10000.0, 500000.0])
def test_nothing_is_found_in_a_sinusoid(size, rho):
    assert inspect_codes(planted.make_sinusoid(*size, rho)) == []


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.01, 0.25, 3.0])
def test_nothing_is_found_in_a_slow_or_fast_sinusoid(step):
    assert inspect_codes(planted.make_sinusoid(512, 128, step=step)) == []


@pytest.mark.slow
@pytest.mark.parametrize("size", planted.SIZES, ids=str)
def test_nothing_is_found_in_a_ramp(size):
    assert inspect_codes(planted.make_ramp(*size)) == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [16, 64, 256, 768])
def test_nothing_is_found_in_one_hot(size):
    assert inspect_codes(np.eye(size)) == []


def test_dft_has_its_constant_column_and_nothing_else():
    finding, result = find_only(planted.make_dft(256, 256), "constant-columns")
    assert finding.data["columns"] == (0,)
    assert result.dominant_periods == ()


@pytest.mark.slow
def test_dft_beyond_its_period_repeats():
    result = inspect_table(planted.make_dft(300, 128))
    assert [finding.code for finding in result.findings] == ["constant-columns", "repeating-rows"]
    assert result.findings[1].data["period"] == 128
    assert result.findings[1].data["count"] == 172
    assert result.findings[1].rows == ((0, 299),)


@pytest.mark.few(2)
@pytest.mark.parametrize("size", planted.SIZES, ids=str)
@pytest.mark.parametrize("seed", EACH_SEED)
def test_noise_is_called_noise_and_nothing_else(size, seed):
    finding, _ = find_row_only(planted.make_noise(*size, seed), "no-structure")
    assert finding.rows == ((0, size[0] - 1),)
    assert_allclose(finding.data["deviation"], 0.02, rtol=0.05)
    assert find_periods(planted.make_noise(*size, seed)).dominant == ()


@pytest.mark.slow
def test_noise_of_another_shape_is_noise_too():
    generator = planted.make_generator(1)
    assert inspect_codes(generator.random((256, 128)) - 0.5) == ["no-structure"]
    assert inspect_codes(planted.make_noise(256, 128) * 1e-30) == ["no-structure"]


@pytest.mark.few(1, keep=["1"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_noise_of_few_columns_has_no_special_rows(rank):
    """Cosines of its rows lie at both ends, and its norms scatter widely, so that none there is unusual."""
    for seed in range(20):
        generator = planted.make_generator(seed)
        table = generator.standard_normal((256, rank)) @ generator.standard_normal((rank, 48))
        found = {one.code for one in look_at_rows(table)[0]}
        assert not {"special-first-row", "padding-offset", "outlier-rows"} & found, seed


# ----------------------------------------------------------------------------------- rates


#: A few, and many in the slow run.
SEEDS = [range(4), pytest.param(range(4, 20), marks=pytest.mark.slow)]


@pytest.mark.few(2)
@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize(
    "make",
    [
        lambda seed: planted.make_lively(384, 64, seed, 0.05),
        lambda seed: planted.make_lively(384, 64, seed, 0.2),
        lambda seed: planted.make_lively(384, 64, seed, 1.0),
        lambda seed: planted.make_walk(300, 64, seed),
        lambda seed: planted.make_walk(300, 64, seed, 0.95),
        lambda seed: planted.make_logarithm(300, 64, seed),
        lambda seed: planted.make_logarithm(300, 64, seed, 0.0),
        lambda seed: planted.make_noise(256, 4, seed),
    ],
    ids=["smooth", "lively", "rough", "walk", "memory", "logarithm", "clean logarithm", "narrow noise"],
)
def test_nothing_is_found_in_processes_and_curves(make, seeds):
    assert [seed for seed in seeds if look_at_rows(make(seed))[0]] == []
