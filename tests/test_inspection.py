"""Inspection of tables: each planted truth is found with its rows and numbers, and nothing else is."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.errors import InputError
from pe_spectra.inspection import EXPLANATIONS, METHODS, build_resize_matrix, inspect_table, resize_table
from pe_spectra.inspection.anatomy import dissect
from pe_spectra.inspection.channels import find_channel_periods, fit_sinusoid
from pe_spectra.inspection.findings import group_rows
from pe_spectra.inspection.forensics import find_resizing, find_stored_dtype
from pe_spectra.inspection.periods import find_periods
from pe_spectra.inspection.portrait import compute_helix
from pe_spectra.inspection.rows import find_equal_rows, find_outliers, measure_rows
from pe_spectra.inspection.statements import state_findings
from tests import planted

BASES = {
    "trained": planted.make_trained,
    "smooth": lambda rows, width, seed: planted.make_trained(rows, width, seed, noise=0.05),
    "periodic": planted.make_periodic,
}


def inspect_codes(table, **options):
    return [finding.code for finding in inspect_table(table, **options).findings]


def find_only(table, code, **options):
    """The one finding that there is, of this code."""
    result = inspect_table(table, **options)
    assert [finding.code for finding in result.findings] == [code]
    return result.findings[0], result


def look_at_rows(table):
    """The findings about rows alone: what `inspect_table` says without periods and forensics."""
    anatomy = dissect(table, is_grid=False, prefix=0)
    return state_findings(table, anatomy, (), 0, 0), anatomy


def find_row_only(table, code):
    """The one finding about rows that there is, of this code."""
    findings, anatomy = look_at_rows(table)
    assert [finding.code for finding in findings] == [code]
    return findings[0], anatomy


#: The first two, and the others in the slow run.
EACH_SEED = [pytest.param(seed, marks=[pytest.mark.slow] if seed > 1 else []) for seed in planted.SEEDS]


def each_base(sizes=planted.SIZES, seeds=planted.SEEDS):
    """Every kind of table in every size: all seeds of the narrow ones, one of the wide; from the second on slow."""
    return [
        pytest.param(
            (base, rows, width, seed),
            id=f"{base}-{rows}x{width}-{seed}",
            marks=[pytest.mark.slow] if seed > 0 or (rows, width) == (1024, 768) else [],
        )
        for base in BASES
        for rows, width in sizes
        for seed in (seeds if width < 768 else seeds[:1])
    ]


@pytest.fixture
def seed(made):
    return made[-1]


@pytest.fixture
def table(made):
    base, rows, width, seed = made
    return BASES[base](rows, width, seed)


# ----------------------------------------------------------------------------------- nothing planted

CONTROLS = {
    "trained": planted.make_trained,
    "smooth": lambda rows, width, seed: planted.make_trained(rows, width, seed, noise=0.05),
    "noiseless": lambda rows, width, seed: planted.make_trained(rows, width, seed, noise=0.0),
    "rough": lambda rows, width, seed: planted.make_trained(rows, width, seed, noise=1.0),
    "periodic": planted.make_periodic,
    "noisy periods": lambda rows, width, seed: planted.make_periodic(rows, width, seed, noise=0.5),
    "fading": lambda rows, width, seed: planted.make_trained(rows, width, seed) * np.linspace(1, 0.4, rows)[:, None],
    "fast start": lambda rows, width, seed: (
        planted.make_trained(rows, width, seed) * (1 + 0.7 * np.exp(-np.arange(rows) / 6))[:, None]
    ),
}


@pytest.mark.parametrize("size", planted.SIZES, ids=str)
@pytest.mark.parametrize("name", CONTROLS)
def test_nothing_is_found_where_nothing_was_planted(name, size):
    for seed in planted.SEEDS if size[1] < 768 else planted.SEEDS[:2]:
        assert look_at_rows(CONTROLS[name](*size, seed))[0] == (), seed
    assert find_resizing(CONTROLS[name](*size, 0)) == ()


@pytest.mark.parametrize("size", [*planted.SIZES, (2050, 64)], ids=str)
@pytest.mark.parametrize("rho", [100.0, 10000.0, 500000.0])
def test_nothing_is_found_in_a_sinusoid(size, rho):
    assert inspect_codes(planted.make_sinusoid(*size, rho)) == []


@pytest.mark.parametrize("step", [0.01, 0.25, 3.0])
def test_nothing_is_found_in_a_slow_or_fast_sinusoid(step):
    assert inspect_codes(planted.make_sinusoid(512, 128, step=step)) == []


@pytest.mark.parametrize("size", planted.SIZES, ids=str)
def test_nothing_is_found_in_a_ramp(size):
    assert inspect_codes(planted.make_ramp(*size)) == []


@pytest.mark.parametrize("size", [16, 64, 256, 768])
def test_nothing_is_found_in_one_hot(size):
    assert inspect_codes(np.eye(size)) == []


def test_dft_has_its_constant_column_and_nothing_else():
    finding, result = find_only(planted.make_dft(256, 256), "constant-columns")
    assert finding.data["columns"] == (0,)
    assert result.dominant_periods == ()


def test_dft_beyond_its_period_repeats():
    result = inspect_table(planted.make_dft(300, 128))
    assert [finding.code for finding in result.findings] == ["constant-columns", "repeating-rows"]
    assert result.findings[1].data["period"] == 128
    assert result.findings[1].data["count"] == 172
    assert result.findings[1].rows == ((0, 299),)


@pytest.mark.parametrize("size", planted.SIZES, ids=str)
@pytest.mark.parametrize("seed", EACH_SEED)
def test_noise_is_called_noise_and_nothing_else(size, seed):
    finding, _ = find_row_only(planted.make_noise(*size, seed), "no-structure")
    assert finding.rows == ((0, size[0] - 1),)
    assert_allclose(finding.data["deviation"], 0.02, rtol=0.05)
    assert find_periods(planted.make_noise(*size, seed)).dominant == ()


def test_noise_of_another_shape_is_noise_too():
    generator = planted.make_generator(1)
    assert inspect_codes(generator.random((256, 128)) - 0.5) == ["no-structure"]
    assert inspect_codes(planted.make_noise(256, 128) * 1e-30) == ["no-structure"]


# ----------------------------------------------------------------------------------- rows


@pytest.mark.parametrize("made", each_base())
def test_a_first_row_of_five_times_the_norm(table, seed):
    finding, anatomy = find_row_only(planted.plant_cls(table, 5.0, seed), "special-first-row")
    assert finding.rows == (0,)
    assert_allclose(finding.data["norm_ratios"][0], 5.0, rtol=0.02)
    assert (anatomy.first, anatomy.last) == (1, len(table))
    assert "Row 0 " in finding.message


def test_a_first_row_of_the_usual_norm_that_is_unlike_the_others():
    finding, _ = find_only(planted.plant_cls(planted.make_trained(197, 768), 1.0), "special-first-row")
    assert abs(finding.data["cosines"][0]) < 0.2


@pytest.mark.parametrize("kind", ["mixed", "noise", "zero", "large"])
@pytest.mark.parametrize("made", each_base(seeds=(0, 1, 2)))
def test_a_padding_offset_of_two(table, seed, kind):
    finding, anatomy = find_row_only(planted.plant_padding(table, kind, seed), "padding-offset")
    assert finding.rows == (0, 1)
    assert finding.data["count"] == 2
    assert (anatomy.first, anatomy.last) == (2, len(table))


@pytest.mark.parametrize("made", each_base(seeds=(0, 1)))
def test_two_equal_rows(table, seed):
    finding, _ = find_row_only(planted.plant_copies(table, 17, 40), "duplicate-rows")
    assert finding.rows == (17, 40)
    assert finding.data["groups"] == [[17, 40]]
    assert "17 and 40" in finding.message


def test_several_groups_of_equal_rows():
    table = planted.plant_copies(planted.plant_copies(planted.make_trained(512, 64), 17, 40), 17, 300)
    table[401] = table[400]
    finding, _ = find_only(table, "duplicate-rows")
    assert finding.data["groups"] == [[17, 40, 300], [400, 401]]
    assert finding.data["count"] == 3


def test_equal_rows_are_exactly_equal_rows():
    table = planted.make_noise(300, 5)
    table[7] = table[200]
    table[8] = table[201]
    table[8, 4] = np.nextafter(table[8, 4], 1)
    table[9], table[10] = 0.0, -0.0
    assert find_equal_rows(table) == ((7, 200), (9, 10))


def test_zero_and_constant_columns():
    table = planted.make_trained(256, 64)
    table[:, 3] = 0
    table[:, 10:13] = 0.02
    codes = {finding.code: finding.data["columns"] for finding in inspect_table(table).findings}
    assert codes == {"zero-columns": (3,), "constant-columns": ((10, 12),)}


def test_zero_rows_in_the_middle():
    table = planted.make_trained(256, 64)
    table[100:104] = 0
    finding, _ = find_only(table, "zero-rows", row_offset=10)
    assert finding.rows == ((110, 113),)


def test_a_constant_row():
    table = planted.make_trained(256, 64)
    table[100] = 0.06
    codes = {finding.code: finding.rows for finding in inspect_table(table).findings}
    assert codes["constant-rows"] == (100,)


def test_an_outlier_in_the_middle():
    table = planted.make_trained(512, 768)
    table[300] *= 4
    table[77] /= 5
    finding, _ = find_only(table, "outlier-rows")
    assert finding.rows == (77, 300)
    assert_allclose(finding.data["norm_ratios"], [0.2, 4.0], rtol=0.1)


def test_a_stray_row():
    table = planted.make_trained(512, 768, noise=0.05)
    row = planted.make_noise(1, 768)[0]
    table[300] = row / np.linalg.norm(row) * np.linalg.norm(table[300])
    finding, _ = find_only(table, "stray-rows")
    assert finding.rows == (300,)


# ----------------------------------------------------------------------------------- tail, seams


@pytest.mark.parametrize("made", each_base())
def test_an_untrained_tail(table, seed):
    size = len(table)
    for start in (size - size // 8, size // 2, size - 3):
        finding, anatomy = find_row_only(planted.plant_tail(table, start, seed), "untrained-tail")
        assert finding.rows == group_rows(range(start, size))
        assert finding.data["trained_rows"] == start
        assert_allclose(finding.data["deviation"], 0.02, rtol=0.2)
        assert (anatomy.first, anatomy.last) == (0, start)


def test_a_tail_of_zeros():
    table = planted.make_trained(512, 64)
    table[400:] = 0
    finding, _ = find_only(table, "untrained-tail")
    assert finding.rows == ((400, 511),)
    assert finding.data["kind"] == "zero"


SEAMS = {
    "jump": planted.plant_seam_jump,
    "offset": planted.plant_seam_offset,
    "norm": planted.plant_seam_norm,
    "noise": planted.plant_seam_noise,
}


@pytest.mark.parametrize("kind", SEAMS)
@pytest.mark.parametrize("made", each_base(sizes=[(512, 768), (1024, 768), (512, 128)]))
def test_a_seam_at_row_127(table, seed, kind):
    finding, _ = find_row_only(SEAMS[kind](table, row=127, seed=seed), "seam")
    assert finding.rows == (127, 128)
    assert finding.data["length"] == 128
    assert "127 and 128" in finding.message
    if kind == "norm":
        assert_allclose(finding.data["norm_ratio"] or 0.6, 0.6, atol=0.1)


@pytest.mark.parametrize("made", each_base(sizes=[(197, 768), (128, 64)], seeds=(0, 1, 2)))
def test_a_jump_in_a_short_table(table, seed):
    row = len(table) // 2 - 1
    finding, _ = find_row_only(planted.plant_seam_jump(table, row, seed), "seam")
    assert finding.rows == (row, row + 1)


@pytest.mark.parametrize("made", each_base(sizes=[(197, 768), (512, 64)], seeds=(0, 1, 2)))
def test_more_noise_from_a_row_on(table, seed):
    finding, _ = find_row_only(planted.plant_seam_noise(table, 97, seed, factor=1.0), "seam")
    assert abs(finding.rows[0] - 97) <= 1
    assert finding.data["step_ratio"] > 2


def test_a_line_three_times_as_long_has_equal_rows_at_its_held_ends():
    table = planted.make_interpolated_line(77, 231, 96)
    assert inspect_codes(table) == ["duplicate-rows", "interpolated"]


def round_to_bfloat16(table):
    return (table.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("store", [lambda t: t.astype(np.float16).astype(float), round_to_bfloat16])
def test_narrow_types_change_no_finding(store):
    trained = planted.make_trained(512, 128)
    for plant, codes in (
        (lambda t: t, []),
        (planted.plant_cls, ["special-first-row"]),
        (planted.plant_padding, ["padding-offset"]),
        (planted.plant_copies, ["duplicate-rows"]),
        (planted.plant_seam_noise, ["seam"]),
        (lambda t: planted.plant_tail(t, 448), ["untrained-tail"]),
        (lambda t: planted.make_noise(*t.shape), ["no-structure"]),
    ):
        assert inspect_codes(store(plant(trained))) == codes
    sinusoid = [code for code in inspect_codes(store(planted.make_sinusoid(512, 128))) if code != "constant-columns"]
    assert sinusoid == []


def test_everything_at_once_with_rows_of_the_file():
    table = planted.make_trained(1024, 768)
    table = planted.plant_tail(planted.plant_seam_noise(planted.plant_cls(table)), 960)
    table = planted.plant_copies(table, 300, 700)
    result = inspect_table(table, row_offset=100)
    found = {finding.code: finding.rows for finding in result.findings}
    assert found == {
        "special-first-row": (100,),
        "duplicate-rows": (400, 800),
        "untrained-tail": ((1060, 1123),),
        "seam": (227, 228),
    }
    assert result.rows_used == (101, 1060)


# ----------------------------------------------------------------------------------- grids


@pytest.mark.parametrize("shape", [(14, 14), (7, 20), (16, 16), (24, 24)], ids=str)
@pytest.mark.parametrize("seed", EACH_SEED)
def test_a_grid_has_no_seam(shape, seed):
    assert inspect_codes(planted.make_grid(*shape, 192, seed), grid=shape) == []


def test_a_grid_with_cls():
    table = np.concatenate([np.zeros((1, 768)), planted.make_grid(14, 14, 768)])
    finding, result = find_only(planted.plant_cls(table), "special-first-row", grid=(14, 14), prefix=1)
    assert finding.rows == (0,)
    assert result.rows_used == (1, 197)
    assert np.isnan(result.steps[[0, 14, 28]]).all()
    assert np.isfinite(result.steps[1:14]).all()
    assert all(one.along is not None for one in result.dominant_periods)


@pytest.mark.parametrize(("height", "width"), [(14, 14), (8, 16), (10, 24)])
def test_a_grid_read_as_a_line_is_said_to_be_one(height, width):
    finding, _ = find_only(planted.make_grid(height, width, 768), "regular-jumps")
    assert finding.data["spacing"] == width
    assert finding.rows[0] == width - 1
    assert f"grid={height}x{width}" in finding.message


def test_a_small_rectangular_grid():
    assert inspect_codes(planted.make_grid(2, 8, 64), grid=(2, 8)) == []


def test_sincos2d_is_a_grid_without_findings():
    for side in (14, 24):
        assert inspect_codes(planted.make_sincos2d(side, side, 384), grid=(side, side)) == []


def test_periods_of_a_grid_are_two_dimensional():
    y, x = np.divmod(np.arange(24 * 20), 20)
    generator = planted.make_generator(3)
    table = np.cos(2 * np.pi * (y / 6 + x / 9))[:, None] * generator.standard_normal(64)
    table += 0.7 * np.cos(2 * np.pi * x / 5)[:, None] * generator.standard_normal(64)
    table += 0.3 * generator.standard_normal(table.shape)
    first, second = find_periods(table, (24, 20)).dominant
    assert_allclose(np.abs(first.along), [6, 9], rtol=0.02)
    assert np.prod(np.sign(first.along)) == 1
    assert second.along[0] is None
    assert_allclose(second.along[1], 5, rtol=0.02)
    assert_allclose(first.period, 1 / np.hypot(1 / 6, 1 / 9), rtol=0.02)


@pytest.mark.parametrize("seed", EACH_SEED)
def test_a_grid_has_no_period_of_its_line(seed):
    for one in find_periods(planted.make_grid(14, 14, 192, seed), (14, 14)).dominant:
        assert abs(one.along[1] or 1e9) > 3  # nothing at harmonics of the line's length in reading order


# ----------------------------------------------------------------------------------- periods


@pytest.mark.parametrize("noise", [0.0, 0.04, 0.5])
@pytest.mark.parametrize("seed", EACH_SEED)
def test_planted_periods_are_found_with_their_shares(noise, seed):
    result = inspect_table(planted.make_periodic(1024, 768, seed, noise))
    assert result.findings == ()
    found = result.dominant_periods
    assert_allclose([one.period for one in found], planted.PERIODS, rtol=0.01)
    total = sum(planted.SHARES) + noise
    assert_allclose([one.share for one in found], np.array(planted.SHARES) / total, rtol=0.15)


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


# ----------------------------------------------------------------------------------- resizing


def weigh_cubic(distance, keys=-0.75):
    """Keys' convolution, written from its definition."""
    x = abs(distance)
    if x <= 1:
        return (keys + 2) * x**3 - (keys + 3) * x**2 + 1
    if x < 2:
        return keys * x**3 - 5 * keys * x**2 + 8 * keys * x - 4 * keys
    return 0.0


def interpolate_slowly(values, new, method, align_corners):
    """One output after another, as PyTorch's documentation words it."""
    old = len(values)
    result = []
    for i in range(new):
        source = i * (old - 1) / (new - 1) if align_corners else (i + 0.5) * old / new - 0.5
        if method == "bilinear":
            source = max(source, 0.0)
            low = int(np.floor(source))
            high = min(low + 1, old - 1)
            result.append((1 - (source - low)) * values[low] + (source - low) * values[high])
        else:
            low = int(np.floor(source))
            taps = range(low - 1, low + 3)
            result.append(sum(weigh_cubic(source - j) * values[min(max(j, 0), old - 1)] for j in taps))
    return np.array(result)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("method", ["bicubic", "bilinear"])
@pytest.mark.parametrize("sizes", [(14, 24), (24, 14), (5, 3), (2, 9), (512, 1024), (16, 16)], ids=str)
def test_interpolation_is_that_of_the_slow_formula(sizes, method, align_corners):
    values = planted.make_generator(0).standard_normal(sizes[0])
    matrix = build_resize_matrix(*sizes, method=method, align_corners=align_corners)
    assert_allclose(matrix @ values, interpolate_slowly(values, sizes[1], method, align_corners), atol=1e-12)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_weights_sum_to_one_and_equal_sizes_change_nothing(method, align_corners):
    for sizes in ((14, 24), (24, 14), (1, 5), (5, 1), (7, 8), (100, 37)):
        matrix = build_resize_matrix(*sizes, method=method, align_corners=align_corners)
        assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    assert_array_equal(build_resize_matrix(9, 9, method=method, align_corners=align_corners), np.eye(9))


def test_values_known_by_hand():
    # interpolate([1, 2, 3, 4], size 8, linear): the corners are held, then steps of 1/2 from 1.25 on
    line = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert_allclose(resize_table(line, 8, method="bilinear")[:, 0], [1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4])
    assert_allclose(resize_table(line, 7, method="bilinear", align_corners=True)[:, 0], np.arange(1, 4.1, 0.5))
    # cubic with A = -3/4 at distances 7/4, 3/4, 1/4, 5/4 and 5/4, 1/4, 3/4, 7/4
    weights = np.array([-9, 67, 225, -27]) / 256
    assert_allclose(build_resize_matrix(8, 16)[8, 2:6], weights)
    assert_allclose(build_resize_matrix(8, 16)[9, 3:7], weights[::-1])


def test_grids_are_resized_along_both_axes():
    table = planted.make_grid(3, 4, 5)
    resized = resize_table(table, (6, 7), grid=(3, 4))
    first, second = build_resize_matrix(3, 6), build_resize_matrix(4, 7)
    expected = np.einsum("ai,bj,ijc->abc", first, second, table.reshape(3, 4, 5)).reshape(42, 5)
    assert_allclose(resized, expected, atol=1e-14)
    assert not resized.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((np.ones((4, 2)), 0), {}),
        ((np.ones((4, 2)), 8), {"method": "spline"}),
        ((np.ones((4, 2)), (4, 4)), {}),
        ((np.ones((4, 2)), 4), {"grid": (2, 2)}),
        ((np.ones((4, 2)), (4, 4)), {"grid": (2, 3)}),
        ((np.ones(4), 8), {}),
        ((np.ones((4, 64)), 1 << 20), {}),
    ],
)
def test_sizes_that_do_not_fit_are_refused(arguments, options):
    if arguments[1] == 1 << 20:
        arguments = (np.ones((4, 128)), 1 << 20)
    with pytest.raises(InputError):
        resize_table(*arguments, **options)


# ----------------------------------------------------------------------------------- forensics

CONVENTIONS = [
    ("bicubic", False),
    ("bicubic", True),
    ("bilinear", False),
    ("bilinear", True),
    ("bicubic-antialias", None),
]


@pytest.mark.parametrize(("method", "align_corners"), CONVENTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("seed", EACH_SEED)
def test_a_grid_of_14_made_24_betrays_itself(dtype, method, align_corners, seed):
    table = planted.make_interpolated((14, 14), (24, 24), 48, seed, dtype, method, bool(align_corners))
    finding, _ = find_only(table, "interpolated", grid=(24, 24), dtype=dtype)
    assert "from 14x14 to 24x24" in finding.message
    for axis in finding.data["axes"]:
        assert (axis["old"], axis["new"]) == (14, 24)
        assert (axis["method"], axis["align_corners"]) == (method, align_corners)
        assert axis["residual"] < 2 * axis["expected_residual"]
        assert axis["rivals"][0]["residual"] > 5 * axis["residual"]


@pytest.mark.parametrize("seed", EACH_SEED)
def test_the_edge_tells_the_convention(seed):
    smooth = {"noise": 0.02, "seed": seed}
    held, aligned = (
        find_resizing(planted.make_interpolated((14, 14), (24, 24), 192, align_corners=align, **smooth), grid=(24, 24))
        for align in (False, True)
    )
    assert all(a.edge_ratio < 0.85 * b.edge_ratio for a, b in zip(held, aligned, strict=True))


def test_a_rectangle_betrays_both_sizes():
    table = planted.make_interpolated((7, 10), (14, 16), 64, 1, "float16", "bilinear")
    finding, _ = find_only(table, "interpolated", grid=(14, 16), dtype="float16")
    assert "from 7x10 to 14x16" in finding.message


def test_one_axis_alone():
    table = planted.make_interpolated((7, 10), (14, 10), 64, 1)
    finding, _ = find_only(table, "interpolated", grid=(14, 10), dtype="float32")
    assert [axis["axis"] for axis in finding.data["axes"]] == [0]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(("method", "align_corners"), CONVENTIONS[:4])
@pytest.mark.parametrize("sizes", [(512, 1024, 256), (77, 150, 96), (512, 768, 64)], ids=str)
def test_a_longer_line_betrays_itself(sizes, method, align_corners, dtype):
    table = planted.make_interpolated_line(*sizes, 0, dtype, method, align_corners)
    finding, _ = find_only(table, "interpolated", dtype=dtype)
    (axis,) = finding.data["axes"]
    assert (axis["old"], axis["new"], axis["method"], axis["align_corners"]) == (*sizes[:2], method, align_corners)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("length", [1, 2, 3, 5, 8])
def test_a_smooth_grid_was_not_interpolated(dtype, length):
    places = np.arange(24)
    covariance = np.exp(-0.5 * (np.subtract.outer(places, places) / length) ** 2) + 1e-12 * np.eye(24)
    factor = np.linalg.cholesky(covariance)
    noise = planted.make_generator(length).standard_normal((24, 24, 128))
    table = np.einsum("ai,bj,ijc->abc", factor, factor, noise).reshape(576, 128)
    assert find_resizing(table.astype(dtype).astype(float), grid=(24, 24), dtype=dtype) == ()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("noise", [0.0, 0.01, 0.2])
def test_tables_of_their_own_size_were_not_interpolated(dtype, noise):
    for table, grid in (
        (planted.make_grid(24, 24, 192, 0, noise), (24, 24)),
        (planted.make_sincos2d(24, 24, 192), (24, 24)),
        (planted.make_noise(576, 64), (24, 24)),
        (planted.make_trained(512, 768, 0, noise), None),
        (planted.make_sinusoid(1024, 768), None),
        (planted.make_sinusoid(512, 256, step=0.25), None),
        (planted.make_dft(256, 256), None),
        (planted.make_ramp(256, 64), None),
    ):
        assert find_resizing(table.astype(dtype).astype(float), grid=grid, dtype=dtype) == ()


def test_training_after_interpolation_hides_it():
    table = planted.make_interpolated((14, 14), (24, 24), 192)
    table += 0.01 * table.std() * planted.make_generator(0).standard_normal(table.shape)
    assert inspect_codes(table, grid=(24, 24)) == []


def test_the_stored_type_is_seen_in_the_numbers():
    table = planted.make_noise(64, 64)
    for dtype in ("float64", "float32", "float16"):
        assert find_stored_dtype(table.astype(dtype).astype(float)) == dtype
    rounded = (table.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
    assert find_stored_dtype(rounded.astype(float)) == "bfloat16"
    assert find_stored_dtype(table.astype(np.float32).astype(float), "float16") == "float16"


def test_the_stored_type_holds_every_number():
    table = np.ones((4096, 3))
    table[1237, 1] = 1 + 2.0**-20
    assert find_stored_dtype(table) == "float32"
    table[2051, 2] = 1 + 2.0**-40
    assert find_stored_dtype(table) == "float64"
    assert find_stored_dtype(np.array([[2.0**-600, 1.0]])) == "float64"
    assert find_stored_dtype(np.array([[2.0**-149, 65536.0]])) == "float32"
    assert find_stored_dtype(np.array([[2.0**-24, 1.0 + 2.0**-10]])) == "float16"


# ----------------------------------------------------------------------------------- the portrait


def test_the_helix_is_the_principal_components():
    for size in ((100, 40), (600, 300)):
        table = planted.make_periodic(*size)
        helix = compute_helix(table)
        centred = table - table.mean(axis=0)
        left, singular, _ = np.linalg.svd(centred, full_matrices=False)
        assert_allclose(helix.shares, singular[:3] ** 2 / np.sum(singular**2), rtol=1e-6)
        assert_allclose(np.abs(helix.coordinates), np.abs(left[:, :3] * singular[:3]), atol=1e-4 * singular[0])
        assert (helix.coordinates.max(axis=0) >= -helix.coordinates.min(axis=0)).all()


def test_signals_are_those_of_slow_loops():
    table = planted.make_trained(40, 16)
    mean = table.mean(axis=0)
    signals = measure_rows(table, mean)
    for s in range(39):
        assert_allclose(signals.steps[s], np.linalg.norm(table[s + 1] - table[s]))
        a, b = table[s] - mean, table[s + 1] - mean
        assert_allclose(signals.centred_cosines[s], a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        jump = table[s + 1 : s + 5].mean(axis=0) - table[max(s - 3, 0) : s + 1].mean(axis=0)
        assert_allclose(signals.jumps[s], np.linalg.norm(jump))


def test_signals_do_not_depend_on_blocks(monkeypatch):
    table = planted.make_trained(100, 16)
    whole = measure_rows(table, table.mean(axis=0))
    monkeypatch.setattr("pe_spectra.inspection.rows._BLOCK", 16 * 9)
    parts = measure_rows(table, table.mean(axis=0))
    for name in ("norms", "steps", "cosines", "centred_cosines", "jumps"):
        assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)


def test_fading_curves_have_no_outliers():
    norms = np.exp(-np.linspace(0, 6, 200))
    table = norms[:, None] * planted.make_trained(200, 64, noise=0)
    assert len(find_outliers(table, np.linalg.norm(table, axis=1))[0]) == 0


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e30])
def test_findings_do_not_depend_on_the_unit(scale):
    table = planted.plant_cls(planted.plant_seam_noise(planted.make_trained(512, 64)))
    assert inspect_codes(scale * table) == ["special-first-row", "seam"]


@pytest.mark.parametrize(
    "table",
    [
        np.eye(2),
        np.zeros((5, 3)),
        np.ones((40, 3)),
        np.arange(6.0).reshape(6, 1),
        np.zeros((64, 8)),
        planted.make_noise(2, 1),
        planted.make_noise(9, 2),
        planted.make_noise(3000, 1),
        planted.make_sinusoid(64, 2),
        planted.make_trained(17, 3),
    ],
    ids=lambda table: f"{table.shape[0]}x{table.shape[1]}",
)
def test_small_and_empty_tables_have_an_answer(table):
    result = inspect_table(table)
    assert all(value is None or np.isfinite(value) for value in result.metrics.values())
    assert {finding.code for finding in result.findings} <= set(EXPLANATIONS)


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (np.ones(4), {}),
        (np.ones((1, 4)), {}),
        (np.array([[1.0, np.nan], [1.0, 2.0]]), {}),
        (np.eye(9), {"grid": (2, 4)}),
        (np.eye(9), {"grid": (3, 3), "prefix": 1}),
        (np.eye(9), {"prefix": 8}),
        (np.eye(9), {"dtype": "int8"}),
        (np.eye(9), {"row_offset": -1}),
    ],
)
def test_what_cannot_be_inspected_is_refused(table, options):
    with pytest.raises(InputError):
        inspect_table(table, **options)


@pytest.mark.parametrize("exponent", [-1000, -565, -532, 400, 980])
def test_a_power_of_two_is_in_the_lengths_alone(exponent):
    table = planted.plant_tail(planted.plant_cls(planted.make_periodic(256, 32)), 240)
    table[100] = 0
    plain, scaled = inspect_table(table), inspect_table(np.ldexp(table, exponent))
    assert [finding.code for finding in scaled.findings] == [finding.code for finding in plain.findings]
    assert {finding.code for finding in plain.findings} >= {"zero-rows", "untrained-tail", "special-first-row"}
    assert scaled.dominant_periods == plain.dominant_periods
    for one, other in zip(scaled.findings, plain.findings, strict=True):
        assert one.data.get("deviation") == (d if (d := other.data.get("deviation")) is None else np.ldexp(d, exponent))
    for name in ("norms", "steps"):
        assert_array_equal(getattr(scaled, name), np.ldexp(getattr(plain, name), exponent))
        assert not getattr(scaled, name).flags.writeable
    assert_array_equal(scaled.helix.coordinates, np.ldexp(plain.helix.coordinates, exponent))
    for name, value in plain.metrics.items():
        has_unit = name.startswith("norm_") or name == "step_median"
        assert scaled.metrics[name] == (np.ldexp(value, exponent) if has_unit else value), name


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-160, 1e300])
def test_tiny_and_huge_codes_are_not_zero(scale):
    plain, scaled = (inspect_table(factor * planted.make_sinusoid(256, 32)) for factor in (1.0, scale))
    assert [finding.code for finding in scaled.findings] == [finding.code for finding in plain.findings]
    assert [round(one.period, 6) for one in scaled.dominant_periods] == [
        round(one.period, 6) for one in plain.dominant_periods
    ]
    assert scaled.norms.all()
    assert_allclose(scaled.metrics["norm_median"], 4 * scale)


@pytest.mark.parametrize("scale", [1e-250, 1.0, 1e300])
def test_a_row_of_tiny_numbers_beside_usual_ones_is_not_zero(scale):
    table = planted.make_trained(64, 16)
    table[20], table[30], table[31], table[40] = 1e-170, 1e-171, 1e-171, 0
    table[31, 0] = 2e-171
    result = inspect_table(scale * table if scale >= 1 else table)
    found = {finding.code: finding.rows for finding in result.findings}
    assert found["zero-rows"] == (40,)
    assert found["outlier-rows"] == (20, 30, 31)
    assert found["constant-rows"] == (20, 30)
    assert "duplicate-rows" not in found


@pytest.mark.parametrize("plant", ["cls", "seam", "tail", "stray", "noise", "grid", "resized", "outlier", "padding"])
def test_of_formulas_only_facts_about_codes_are_stated(plant):
    table = {
        "cls": lambda: planted.plant_cls(planted.make_trained(256, 64)),
        "seam": lambda: planted.plant_seam_noise(planted.make_trained(512, 64)),
        "tail": lambda: planted.plant_tail(planted.make_trained(256, 64), 200),
        "stray": lambda: put(planted.make_trained(256, 64, 0, noise=0.05), 100, lambda row: -row),
        "noise": lambda: planted.make_noise(256, 64),
        "grid": lambda: planted.make_grid(14, 14, 64),
        "resized": lambda: resize_table(planted.make_trained(128, 256), 200),
        "outlier": lambda: put(planted.make_trained(256, 64), 100, lambda row: 9 * row),
        "padding": lambda: put(planted.make_trained(256, 64), slice(0, 2), lambda rows: 9 * rows[::-1]),
    }[plant]()
    assert inspect_codes(table) != []
    assert inspect_codes(table, is_trained=False) == []
    table = table.copy()
    table[60], table[70], table[80] = table[61], 0, 3.0
    table[:, 5], table[:, 6] = 0, 0.5
    table[70, 6] = 0
    found = inspect_table(table, is_trained=False)
    codes = {finding.code: finding.rows for finding in found.findings}
    assert codes == {"zero-rows": (70,), "zero-columns": (), "duplicate-rows": (60, 61)}
    assert found.rows_used == (0, len(table))


def test_formulas_keep_their_periods_and_their_repetition():
    result = inspect_table(planted.make_dft(300, 128), is_trained=False)
    assert [finding.code for finding in result.findings] == ["constant-columns", "repeating-rows"]
    noise = inspect_table(planted.make_sinusoid(256, 32), is_trained=False, prefix=1)
    assert noise.dominant_periods
    assert noise.rows_used == (1, 256)
    zero_first = np.concatenate([np.zeros((1, 8)), planted.make_noise(49, 8)])
    assert inspect_codes(zero_first, is_trained=False, grid=(7, 7), prefix=1) == []


def put(table, rows, change):
    changed = table.copy()
    changed[rows] = change(table[rows])
    return changed


def test_results_are_read_only_and_can_be_written_as_json():
    table = planted.plant_tail(planted.plant_cls(planted.plant_seam_noise(planted.make_trained(512, 64))), 480)
    result = inspect_table(table)
    for values in (result.norms, result.steps, result.cosines, result.helix.coordinates, result.channels.periods):
        assert not values.flags.writeable
    written = json.dumps([[finding.rows, dict(finding.data)] for finding in result.findings], allow_nan=False)
    assert "special" not in written
    with pytest.raises(TypeError):
        result.findings[0].data["count"] = 2


def test_every_code_is_explained():
    assert all(one.reasoning and one.formula for one in EXPLANATIONS.values())
    codes = set()
    for table in (planted.make_noise(128, 64), planted.make_grid(14, 14, 64), planted.make_dft(128, 64)):
        codes |= set(inspect_codes(table))
    assert codes <= set(EXPLANATIONS)


def test_two_runs_give_the_same_numbers():
    table = planted.make_periodic(512, 768)
    first, second = inspect_table(table), inspect_table(table.copy())
    assert first.dominant_periods == second.dominant_periods
    assert dict(first.metrics) == dict(second.metrics)
    assert_array_equal(first.helix.coordinates, second.helix.coordinates)


# ----------------------------------------------------------------------------------- rates

TWENTY = range(20)


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2, 0.3])
def test_two_lively_tables_joined_at_row_127(noise):
    found = 0
    for seed in TWENTY:
        table = planted.make_lively(384, 64, seed, noise)
        table[128:] = planted.make_lively(384, 64, seed + 500, noise)[128:]
        found += [finding.rows for finding in look_at_rows(table)[0]] == [(127, 128)]
    assert found >= 19


@pytest.mark.parametrize("factor", [0.5, 0.7, 1.4, 2.0])
@pytest.mark.parametrize("size", [(256, 64), (512, 128)])
def test_a_change_of_scale_is_found_at_its_row(factor, size):
    found = 0
    for seed in TWENTY:
        table = planted.plant_seam_norm(planted.make_lively(*size, seed), factor=factor)
        findings = look_at_rows(table)[0]
        found += [finding.rows for finding in findings] == [(127, 128)]
        if findings and findings[0].data["norm_ratio"] is not None:
            assert_allclose(findings[0].data["norm_ratio"], factor, rtol=0.25)
    assert found >= 18


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
def test_nothing_is_found_in_processes_and_curves(make):
    assert [seed for seed in TWENTY if look_at_rows(make(seed))[0]] == []


@pytest.mark.parametrize("deviation", [0.02, 0.04])
@pytest.mark.parametrize(("count", "code"), [(1, "special-first-row"), (2, "padding-offset")])
def test_rows_in_front_of_a_lively_table(deviation, count, code):
    found = 0
    for seed in TWENTY:
        front = planted.make_noise(count, 64, 500 + seed, deviation)
        findings, anatomy = look_at_rows(np.concatenate([front, planted.make_lively(384, 64, seed)]))
        found += [finding.code for finding in findings] == [code] and anatomy.first == count
    assert found >= 19


@pytest.mark.parametrize("memory", [0.9, 0.99, 1.0])
def test_processes_have_no_period(memory):
    assert [find_periods(planted.make_walk(300, 64, seed, memory)).dominant for seed in TWENTY] == [()] * 20


def test_shares_sum_to_no_more_than_one():
    for seed in TWENTY:
        assert sum(one.share for one in find_periods(planted.make_lively(384, 64, seed)).dominant) <= 1 + 1e-12


def test_a_period_in_a_walk_is_found():
    wave = np.cos(2 * np.pi * np.arange(400)[:, None] / 11 + np.arange(32))
    (only,) = find_periods(planted.make_walk(400, 32) + 8 * wave).dominant
    assert_allclose(only.period, 11, rtol=0.01)


@pytest.mark.parametrize("rows", [2, 3, 8, 40, 300])
def test_one_column_has_an_answer(rows):
    assert {finding.code for finding in inspect_table(np.ones((rows, 1))).findings} <= set(EXPLANATIONS)
    assert inspect_table(np.sin(np.arange(rows)[:, None] * 0.3)).metrics["columns"] == 1
