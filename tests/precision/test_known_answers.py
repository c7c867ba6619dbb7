"""What finite precision leaves where the answer is known, and of encodings that are no ladders."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pe_spectra.encodings import Dft, GivenArray, Learned, Sinusoidal
from pe_spectra.encodings.absolute import Ramp
from pe_spectra.encodings.rotary import Rope
from pe_spectra.precision.dtypes import DTYPES, Recipe, round_to
from pe_spectra.precision.staircase import measure_precision
from pe_spectra.precision.waves import find_waves
from pe_spectra.vocabulary import COMMON_DTYPES as COMMON
from tests.making import make_named
from tests.precision.slowly import PHASES_ONLY, describe_slowly, find_dtype

# ----------------------------------------------------------------------------------- known answers


def read_rows(report):
    return {(row.recipe, row.stage): row for row in report.rows}


def test_positions_in_bfloat16():
    found = read_rows(measure_precision(Sinusoidal(d=256), length=8192, dtypes=["bfloat16"]))
    for recipe in ("bf16-positions", "all-bf16"):
        for stage in ("positions", "frequencies", "phases", "sines", "code", "sum"):
            assert found[recipe, stage].distinct == 897
            assert found[recipe, stage].first_collision == (256, 257)
    for stage in ("positions", "frequencies", "phases", "sines", "code", "sum"):
        assert found["fp32-then-cast", stage].distinct == found["fp32", stage].distinct == 8192
        assert found["fp32-then-cast", stage].first_collision is None


@pytest.mark.slow
def test_a_million_positions_in_bfloat16():
    report = measure_precision(Sinusoidal(d=4), length=1_000_000, dtypes=["bfloat16"], recipes=["bf16-positions"])
    assert report.rows[0].distinct == 1781
    assert report.rows[0].max_phase_error == 2048.0  # half the step of bfloat16 at 2**19, by 1 rad


@pytest.mark.parametrize(("levels", "left"), [(4096, 3073), (8192, 4097)])
def test_a_ramp_in_float16(levels, left):
    report = measure_precision(Ramp(length=levels), length=levels, dtypes=["float16"], recipes=["fp32-then-cast"])
    assert read_rows(report)["fp32-then-cast", "code"].distinct == left
    naive = (np.arange(levels) / (levels - 1)).astype(np.float16)
    assert len(np.unique(naive)) == left


def test_exact_positions_and_phases_in_bfloat16():
    report = measure_precision(Sinusoidal(d=256), length=8192, dtypes=["bfloat16"], recipes=[PHASES_ONLY])
    assert {row.stage: row.distinct for row in report.rows if row.stage != "sum"} == {
        "positions": 8192,
        "frequencies": 8192,
        "phases": 8110,
        "sines": 8110,
        "code": 8110,
    }


def test_channels_of_a_rotary_cache_that_no_longer_turn():
    rope = Rope(d=128, base=5e5)
    report = measure_precision(rope, length=8192, dtypes=["bfloat16"], recipes=["fp32-then-cast"])
    found = read_rows(report)["fp32-then-cast", "code"]
    assert (found.distinct, found.constant_channels) == (8192, 6)
    assert "sum" not in {row.stage for row in report.rows}
    cosines = np.cos(np.multiply.outer(np.arange(8192), rope.frequencies().values)).astype(ml_dtypes.bfloat16)
    assert (cosines == cosines[0]).all(axis=0).sum() == 6


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("dtype", "left"), [("float64", 8192), ("float32", 8192), ("float16", 3604), ("bfloat16", 1316)]
)
def test_one_frequency_alone(dtype, left):
    exact = Recipe(
        name="exact",
        when="",
        positions="float64",
        frequencies="float64",
        phases="float64",
        sines="float64",
        code="dtype",
    )
    report = measure_precision(Sinusoidal(d=256, rho=1), length=8192, dtypes=[dtype], recipes=[exact])
    assert report.codes[0].distinct == left


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"])
def test_frequencies_that_were_rounded_first(dtype):
    """As NumPy has it: inv_freq in the type, and the rest in float32."""
    rope = Rope(d=32, base=5e5)
    report = measure_precision(rope, length=4096, dtypes=[dtype], recipes=["narrow-frequencies"])
    found = read_rows(report)
    exact = np.longdouble(5e5) ** (-np.arange(16, dtype=np.longdouble) / 16)
    frequencies = exact.astype(float).astype(find_dtype(dtype)).astype(np.float32)
    phases = np.arange(4096, dtype=np.float32)[:, None] * frequencies
    table = np.concatenate([np.sin(phases.astype(float)), np.cos(phases.astype(float))], axis=1).astype(np.float32)
    row = found["narrow-frequencies", "code"]
    assert (row.type, row.distinct) == ("float32", len(np.unique(table, axis=0)))
    assert row.constant_channels == 2 * int((frequencies == 0).sum())
    error = np.abs(phases - np.arange(4096)[:, None] * exact).max()
    assert row.max_phase_error == pytest.approx(float(error), rel=1e-12)
    assert [kind.type for kind in report.rows] == ["float32", dtype, "float32", "float32", "float32"]


# ----------------------------------------------------------------------------------- other encodings


def test_all_stages_of_a_table():
    draw = np.random.default_rng(3)
    table = draw.normal(size=(300, 5)).round(2)
    table[7] = table[2]
    table[:, 3] = 1.25
    report = measure_precision(Learned(values=GivenArray(table)), dtypes=COMMON)
    for row in report.rows:
        kind = find_dtype(row.dtype)
        code = table.astype(np.float32) if row.recipe == "fp32" else table.astype(np.float32).astype(kind)
        if row.stage == "sum":
            token = np.random.Generator(np.random.PCG64(0)).standard_normal(5)
            code = (code.astype(np.float32) + token.astype(kind).astype(np.float32)).astype(kind)
        distinct, collision, constant = describe_slowly(code.astype(float).tolist())
        assert (row.distinct, row.first_collision) == (distinct, collision)
        assert row.constant_channels == constant - 1  # one never changed
        assert row.max_phase_error is None
    assert report.exact_distinct == 299
    assert {row.stage for row in report.rows} == {"code", "sum"}


def test_biases_are_told_apart_by_lag():
    report = measure_precision(make_named("alibi"), length=4096, dtypes=["bfloat16"])
    assert report.domain == "lags"
    found = read_rows(report)
    # slopes are powers of two: lags collide as positions do
    assert found["fp32-then-cast", "code"].first_collision == (256, 257)
    assert found["fp32-then-cast", "code"].distinct == 256 + 128 * 4 + 1
    assert found["fp32", "code"].distinct == 4096
    assert set(found) == {("fp32", "code"), ("fp32-then-cast", "code")}


def test_lags_of_both_signs_are_all_counted():
    report = measure_precision(make_named("t5"), length=256, dtypes=["float32"])
    assert report.rows[0].total == 511
    assert report.rows[0].distinct == report.exact_distinct == 31
    assert report.rows[0].first_collision == (8, 9)


def test_a_formula_of_real_positions_has_its_positions_cast():
    report = measure_precision(make_named("time2vec"), length=600, dtypes=["bfloat16"])
    found = read_rows(report)
    assert found["bf16-positions", "positions"].distinct == 257 + 128 + 22  # to 256, in steps of 2 to 512, of 4 to 600
    assert "all-bf16" not in {recipe.name for recipe in report.recipes}


@pytest.mark.parametrize("name", ["tensor2tensor", "tape", "dft", "mtan", "learnable-sinusoid", "rope"])
def test_ladders_are_read_as_sines_and_cosines(name):
    waves = find_waves(make_named(name))
    assert waves is not None
    assert waves.columns == make_named(name).d


@pytest.mark.parametrize(
    "encoding", [Sinusoidal(d=7, offset=3), Sinusoidal(d=9, scale=0.25), Dft(d=9), Dft(d=8), Rope(d=16, share=0.5)]
)
def test_lone_columns_offsets_and_factors_are_read_too(encoding):
    waves = find_waves(encoding)
    assert waves is not None
    report = measure_precision(encoding, length=8, dtypes=["float64"], recipes=["fp32-then-cast"])
    table = encoding.table(8)
    rounded = np.linalg.norm(table[0] - table[1])
    assert report.codes[0].min_separation <= rounded * (1 + 1e-5)


@pytest.mark.parametrize("name", ["dfstrans", "fourier-features", "pixel-bands", "one-hot", "ramp"])
def test_what_is_no_list_of_sines_is_not_read_as_one(name):
    assert find_waves(make_named(name)) is None


@pytest.mark.parametrize(
    "encoding", [Dft(d=8), Dft(d=7), Rope(d=16, scaling="proportional", share=0.5), Rope(d=16, share=0.5)]
)
def test_columns_that_never_changed_have_not_gone_constant(encoding):
    report = measure_precision(encoding, length=7, dtypes=["float64"], recipes=["all-bf16"])
    assert {row.constant_channels for row in report.rows} == {None, 0}
    assert (encoding.table(7) == encoding.table(7)[0]).all(axis=0).any()


def test_frequencies_that_vanish_take_their_channels_with_them():
    # the smallest number of float8_e4m3fn is 2**-9: at half of it and below, frequencies become 0
    frequencies = 1e4 ** -(np.arange(32) / 32)
    report = measure_precision(Sinusoidal(d=64), length=16, dtypes=["float8_e4m3fn"], recipes=["all-bf16"])
    assert report.rows[1].constant_channels == 2 * (frequencies <= 2.0**-10).sum() > 0


def test_rounding_that_tells_equal_codes_apart_is_said():
    report = measure_precision(Dft(d=64), length=200, dtypes=["float32"])
    assert report.exact_distinct == 64
    assert report.codes[0].distinct > 64
    assert any("what tells more of them apart is rounding" in note for note in report.notes)


def test_what_rounding_merges_is_told_from_what_is_one_code_anyway():
    report = measure_precision(Dft(d=24), length=60, dtypes=["float8_e4m3fn"], recipes=["bf16-positions"])
    table = round_to(np.arange(60.0), DTYPES["float8_e4m3fn"]).tolist()
    expected = next((table.index(p), s) for s, p in enumerate(table) if (table.index(p) - s) % 24)
    assert report.codes[0].merged == expected == (16, 17)
    again = measure_precision(Dft(d=8), length=60, dtypes=["float64"], recipes=["fp32-then-cast"])
    assert again.codes[0].merged is None
    shared = np.repeat(np.array([[1.0], [1 + 2.0**-9], [2.0]]), 2, axis=0)
    given = measure_precision(Learned(values=GivenArray(shared)), dtypes=["bfloat16"], recipes=["fp32-then-cast"])
    assert given.rows[0].first_collision == (0, 1)
    assert given.codes[0].merged == (0, 2)
    assert given.exact_distinct == 3


def test_positions_beyond_a_type_are_not_finite():
    report = measure_precision(Sinusoidal(d=8), length=600, dtypes=["float8_e4m3fn"], recipes=["bf16-positions"])
    found = read_rows(report)
    beyond = int(np.isnan(np.arange(600, dtype=np.float32).astype(ml_dtypes.float8_e4m3fn).astype(float)).sum())
    for stage in ("positions", "phases", "sines", "code", "sum"):
        assert found["bf16-positions", stage].not_finite == beyond == 600 - 465
    assert found["bf16-positions", "code"].max_phase_error is None
    assert any("hardware that saturates" in note for note in report.notes)


def test_a_single_position_has_nothing_to_collide_with():
    report = measure_precision(Sinusoidal(d=8), length=1)
    for row in report.rows:
        assert (row.distinct, row.total, row.first_collision, row.min_separation) == (1, 1, None, None)
        assert not row.constant_channels
