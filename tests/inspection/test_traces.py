"""What interpolation and storage leave behind in a table: sizes, convention and type."""

import numpy as np
import pytest

from pe_spectra.inspection import inspect_table
from pe_spectra.inspection.lattices import _measure_lead
from pe_spectra.inspection.resize import resize_table
from pe_spectra.inspection.traces import find_resizing
from pe_spectra.precision.dtypes import STORED_TYPES, round_to
from tests import planted
from tests.inspection.tables import EACH_SEED, find_only, inspect_codes

CONVENTIONS = [
    ("bicubic", False),
    ("bicubic", True),
    ("bilinear", False),
    ("bilinear", True),
    ("bicubic-antialias", None),
]


@pytest.mark.slow
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


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(12))
def test_one_axis_alone_where_rows_were_changed_since(seed):
    """Less evidence is asked for of the second axis, but some."""
    table = planted.make_interpolated((14, 16), (24, 16), 64, seed)
    table += 0.02 * planted.make_row_noise(table, seed)
    assert [one.axis for one in find_resizing(table, grid=(24, 16))] == [0]


@pytest.mark.parametrize("align_corners", [False, True])
def test_both_axes_of_a_narrow_grid(align_corners):
    """Where one axis alone is hard to tell the other one speaks for it."""
    for seed in range(4):
        table = planted.make_interpolated((6, 24), (8, 32), 96, seed, align_corners=align_corners)
        table += 0.02 * planted.make_row_noise(table, seed)
        assert [one.old for one in find_resizing(table, grid=(8, 32))] == [6, 24], seed


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float16", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("method", "align_corners"), CONVENTIONS[:4])
@pytest.mark.parametrize(
    "sizes",
    [
        (77, 150, 96),
        pytest.param((512, 1024, 256), marks=pytest.mark.slow),
        pytest.param((512, 768, 64), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_longer_line_betrays_itself(sizes, method, align_corners, dtype):
    table = planted.make_interpolated_line(*sizes, 0, dtype, method, align_corners)
    finding, _ = find_only(table, "interpolated", dtype=dtype)
    (axis,) = finding.data["axes"]
    assert (axis["old"], axis["new"], axis["method"], axis["align_corners"]) == (*sizes[:2], method, align_corners)


@pytest.mark.few(5)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("length", [1, 2, 3, 5, 8])
def test_a_smooth_grid_was_not_interpolated(dtype, length):
    places = np.arange(24)
    covariance = np.exp(-0.5 * (np.subtract.outer(places, places) / length) ** 2) + 1e-12 * np.eye(24)
    factor = np.linalg.cholesky(covariance)
    noise = planted.make_generator(length).standard_normal((24, 24, 128))
    table = np.einsum("ai,bj,ijc->abc", factor, factor, noise).reshape(576, 128)
    assert find_resizing(table.astype(dtype).astype(float), grid=(24, 24), dtype=dtype) == ()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow), "float16"])
@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.slow), 0.2])
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


@pytest.mark.few(4)
@pytest.mark.parametrize("change", [0.005, 0.02])
@pytest.mark.parametrize(("method", "align_corners"), [*CONVENTIONS, ("nearest", None)])
@pytest.mark.parametrize("seed", EACH_SEED)
def test_what_was_changed_a_little_since_betrays_itself(seed, method, align_corners, change):
    table = planted.make_interpolated_line(192, 320, 96, seed, "float32", method, bool(align_corners))
    table += change * planted.make_row_noise(table, seed)
    finding, _ = find_only(table, "interpolated")
    (axis,) = finding.data["axes"]
    assert (axis["old"], axis["new"]) == (192, 320)
    way = method if align_corners is None else f"{method}, align_corners={align_corners}"
    assert way in axis["ways"]
    np.testing.assert_allclose(axis["change"], change, rtol=0.2)
    assert f"{100 * axis['change']:.1f} % of a row's length" in finding.message


@pytest.mark.slow
@pytest.mark.parametrize(("method", "align_corners"), [("bicubic", False), ("bilinear", True), ("nearest", False)])
def test_a_seam_of_an_interpolated_table_is_that_of_its_rows(method, align_corners):
    table = planted.make_trained(256, 96, 1)
    table[128:] *= 1.3
    resized = resize_table(table, 512, method=method, align_corners=align_corners)
    findings = {finding.code: finding for finding in inspect_table(resized).findings}
    assert set(findings) - {"duplicate-rows"} == {"seam", "interpolated"}
    assert findings["seam"].rows == (255, 256)


@pytest.mark.slow
@pytest.mark.parametrize("prefix", [0, 1])
def test_a_special_row_before_an_interpolated_table_hides_nothing(prefix):
    resized = resize_table(planted.make_trained(256, 96, 1), 512)
    table = np.concatenate([5 * planted.make_generator(1).standard_normal((1, 96)), resized])
    findings = {finding.code: finding for finding in inspect_table(table, prefix=prefix).findings}
    assert set(findings) == {"special-first-row", "interpolated"}
    assert "from 256 to 512" in findings["interpolated"].message


@pytest.mark.slow
@pytest.mark.parametrize("seed", EACH_SEED)
def test_a_tail_behind_an_interpolated_part_stays(seed):
    table = np.concatenate([planted.make_interpolated_line(128, 200, 64, seed), planted.make_noise(40, 64, seed)])
    result = inspect_table(table)
    findings = {finding.code: finding for finding in result.findings}
    assert set(findings) == {"untrained-tail", "interpolated"}
    assert findings["untrained-tail"].rows == ((200, 239),)
    assert result.rows_used == (0, 200)


@pytest.mark.parametrize("rows", [3, 4, 5, 9])
def test_the_lead_of_few_rows_is_that_of_their_energies(rows):
    """Of fewer than five rows all are heard; of five, four."""
    other, own = (planted.make_noise(rows, 32, seed) for seed in (1, 2))
    lead = _measure_lead(3 * other, own, 0.0)
    gains = np.sum((3 * other) ** 2 - own**2, axis=1)
    heard = np.sort(gains.argsort()[: rows - rows // 5])
    for group, found in zip(np.arange(32).reshape(16, 2), lead, strict=True):
        energies = [np.sum(one[np.ix_(heard, group)] ** 2) for one in (3 * other, own)]
        np.testing.assert_allclose(found, np.log(energies[0] / energies[1]), rtol=1e-12)


def test_an_axis_of_five_rows_can_be_told():
    """The shortest axis: displaced lattices are judged by four rows and fewer."""
    grid = planted.make_grid(3, 8, 192, noise=0.3)
    table = resize_table(grid, (5, 8), method="nearest", grid=(3, 8))
    assert [(axis.old, axis.new, axis.method) for axis in find_resizing(table, grid=(5, 8))] == [(3, 5, "nearest")]


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_a_table_that_was_stored_in_eight_bits_is_judged_by_what_they_round_off(dtype):
    made = resize_table(planted.make_noise(64, 48), 128, method="bicubic")
    stored = round_to(made, STORED_TYPES[dtype]).astype(float)
    (found,) = find_resizing(stored, dtype=dtype)
    assert (found.old, found.method, found.align_corners, found.change) == (64, "bicubic", False, 0.0)
    assert found.residual < 2 * found.expected_residual


def make_waves(seed):
    return np.sin(np.arange(64)[:, None] / planted.make_generator(seed).uniform(3, 19, 16))


@pytest.mark.parametrize("change", ["copied", "longer", "zero", "noise"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 16))])
def test_odd_rows_are_no_interpolation(seed, change):
    """They lie better in some lattice of nearly the same size than in those beside it."""
    generator = planted.make_generator(seed)
    bases = (make_waves, lambda seed: planted.make_trained(96, 48, seed, noise=0.0))
    for base in (*bases, lambda seed: planted.make_trained(192, 48, seed)):
        table = base(seed)
        rows = generator.integers(0, len(table), 1 + seed % 3)
        size = (len(rows), table.shape[1])
        table[rows] = {
            "copied": table[rows * 7 % len(table)],
            "longer": 3 * table[rows],
            "zero": 0 * table[rows],
            "noise": table.std() * generator.standard_normal(size),
        }[change]
        assert find_resizing(table) == ()


@pytest.mark.slow
def test_what_was_changed_much_is_a_table_of_its_own():
    table = planted.make_interpolated((14, 14), (24, 24), 192)
    table += 0.05 * planted.make_row_noise(table, 0)
    assert inspect_codes(table, grid=(24, 24)) == []
