"""What interpolation and storage leave behind in a table: sizes, convention and type."""

import numpy as np
import pytest

from pe_spectra.inspection import inspect_table
from pe_spectra.inspection.resize import resize_table
from pe_spectra.inspection.traces import find_resizing, find_stored_dtype
from tests import planted
from tests.inspection.tables import EACH_SEED, find_only, inspect_codes

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


@pytest.mark.parametrize(("method", "align_corners"), [("bicubic", False), ("bilinear", True), ("nearest", False)])
def test_a_seam_of_an_interpolated_table_is_that_of_its_rows(method, align_corners):
    table = planted.make_trained(256, 96, 1)
    table[128:] *= 1.3
    resized = resize_table(table, 512, method=method, align_corners=align_corners)
    findings = {finding.code: finding for finding in inspect_table(resized).findings}
    assert set(findings) - {"duplicate-rows"} == {"seam", "interpolated"}
    assert findings["seam"].rows == (255, 256)


@pytest.mark.parametrize("prefix", [0, 1])
def test_a_special_row_before_an_interpolated_table_hides_nothing(prefix):
    resized = resize_table(planted.make_trained(256, 96, 1), 512)
    table = np.concatenate([5 * planted.make_generator(1).standard_normal((1, 96)), resized])
    findings = {finding.code: finding for finding in inspect_table(table, prefix=prefix).findings}
    assert set(findings) == {"special-first-row", "interpolated"}
    assert "from 256 to 512" in findings["interpolated"].message


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


def test_what_was_changed_much_is_a_table_of_its_own():
    table = planted.make_interpolated((14, 14), (24, 24), 192)
    table += 0.05 * planted.make_row_noise(table, 0)
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
