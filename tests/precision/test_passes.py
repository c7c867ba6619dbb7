"""Finite precision by blocks, by lags and by hashes of rows gives the same answer; and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pe_spectra.encodings import Dft, GivenArray, Learned, Sinusoidal, equal_rows
from pe_spectra.encodings.absolute import Ramp
from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import InputError
from pe_spectra.precision import hashed_rows, passes, staircase
from pe_spectra.precision.dtypes import DTYPES, RECIPES
from pe_spectra.precision.hashed_rows import Gathering, find_nearest_of_ladder
from pe_spectra.precision.staircase import measure_precision
from pe_spectra.precision.waves import Front, cast_positions, find_waves
from tests.making import make_named
from tests.precision.slowly import find_dtype

# ----------------------------------------------------------------------------------- what is streamed


@pytest.mark.slow
def test_small_blocks_give_the_same_answer(monkeypatch):
    def ask():
        encodings = [Sinusoidal(d=12), Dft(d=40), make_named("alibi"), Ramp(length=900)]
        return [measure_precision(one, length=900, dtypes=["bfloat16", "float16"]).rows for one in encodings]

    whole = ask()
    monkeypatch.setattr(hashed_rows, "BLOCK", 1)
    assert ask() == whole


@pytest.mark.slow
def test_rows_are_compared_by_their_bytes_where_hashes_agree(monkeypatch):
    encoding = Sinusoidal(d=12)
    expected = measure_precision(encoding, length=320, dtypes=["bfloat16"]).rows

    def hash_poorly(block, _=None):
        # one bit of the first column: groups of some hundred rows that are not equal
        return np.ascontiguousarray(block[:, 0]).view(np.uint32).astype(np.uint64) >> np.uint64(31)

    for module in (hashed_rows, equal_rows):
        monkeypatch.setattr(module, "hash_rows", hash_poorly)
    assert measure_precision(encoding, length=320, dtypes=["bfloat16"]).rows == expected


def test_more_columns_than_are_sampled_tell_rows_apart():
    table = np.zeros((50, 5000))
    table[np.arange(50), np.arange(50) * 97 + 1] = np.arange(50)
    report = measure_precision(Learned(values=GivenArray(table)), dtypes=["float16"], recipes=["fp32"])
    assert report.rows[0].distinct == 50
    assert report.rows[0].first_collision is None


@pytest.mark.few(2)
@pytest.mark.parametrize("encoding", [Sinusoidal(d=8, rho=3.0), Sinusoidal(d=16), Sinusoidal(d=7), Rope(d=8)])
@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2", "float32"])
def test_the_closest_rows_of_a_ladder_are_found_by_their_lags(encoding, dtype, monkeypatch):
    monkeypatch.setattr(hashed_rows, "MAX_HELD_WORK", 0)
    monkeypatch.setattr(passes, "MAX_HELD_WORK", 0)
    size = 800
    by_lags = measure_precision(encoding, length=size, dtypes=[dtype], recipes=["fp32-then-cast"]).codes[0]
    positions = np.arange(size, dtype=np.float32)
    waves = find_waves(encoding)
    phases = positions[:, None] * waves.high.astype(np.float32)
    angles = phases.astype(float)
    sines = np.concatenate([np.sin(angles[:, waves.sines]), np.cos(angles[:, waves.cosines])], axis=1)
    table = sines.astype(np.float32).astype(find_dtype(dtype)).astype(float)
    distances = np.linalg.norm(table[:, None] - table[None], axis=2)[np.triu_indices(size, 1)]
    assert by_lags.min_separation == pytest.approx(float(distances.min()), rel=1e-12)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_casts_that_saturate_give_the_largest_number(name, monkeypatch):
    """Codes beyond it, in a ladder whose closest rows are found by their lags; each beside a cast by ml_dtypes."""
    monkeypatch.setattr(hashed_rows, "MAX_HELD_WORK", 0)
    monkeypatch.setattr(passes, "MAX_HELD_WORK", 0)
    kind, size = DTYPES[name], 300
    encoding = Sinusoidal(d=8, rho=3.0, scale=2 * kind.largest)
    plain, saturating = (
        measure_precision(encoding, length=size, dtypes=[one], recipes=["fp32-then-cast"]).codes[0]
        for one in (name, f"{name}-saturating")
    )
    steps = RECIPES["fp32-then-cast"].resolve(f"{name}-saturating")
    front = Front(waves=find_waves(encoding), steps=steps, cast=cast_positions(np.arange(size), steps.positions))
    sines = front.compute_sines(front.compute_phases(np.arange(size))) * np.float32(2 * kind.largest)
    table = np.clip(sines, -kind.largest, kind.largest).astype(find_dtype(name)).astype(float)
    assert (saturating.not_finite, saturating.distinct) == (0, len(np.unique(table, axis=0)))
    distances = np.linalg.norm(table[:, None] - table[None], axis=2)[np.triu_indices(size, 1)]
    assert saturating.min_separation == pytest.approx(float(distances.min()), rel=1e-12)
    with np.errstate(over="ignore"):
        odd = ~np.isfinite(sines.astype(find_dtype(name)).astype(float)).all(axis=1)
    assert plain.not_finite == odd.sum() > 0


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz"])
def test_casts_that_saturate_are_the_same_where_nothing_is_beyond(name):
    rows = [
        measure_precision(Sinusoidal(d=6), length=200, dtypes=[one], recipes=list(RECIPES)).rows
        for one in (name, f"{name}-saturating")
    ]
    for one, other in zip(*rows, strict=True):
        assert replace(other, dtype=one.dtype, type=one.type) == one


def test_no_lag_is_passed_over_that_could_hold_the_closest_rows():
    waves = find_waves(Sinusoidal(d=10, rho=5.0))
    table = Sinusoidal(d=10, rho=5.0).table(400)
    exact = [np.linalg.norm(table[:-lag] - table[lag:], axis=1).min() for lag in range(1, 400)]
    bounds = waves.bound_distances(399)
    assert (bounds <= np.array(exact) * (1 + 1e-12)).all()
    np.testing.assert_allclose(bounds, exact, rtol=1e-6)
    known = (float(np.linalg.norm(table[:-1] - table[1:], axis=1).min()), (0, 1))
    found = find_nearest_of_ladder(lambda numbers: table[numbers], 400, 10, bounds, 1e-9, known)
    assert found is not None
    assert found[0] == pytest.approx(min(exact), rel=1e-12)


def test_pipelines_that_are_the_same_are_measured_once(monkeypatch):
    measured = []
    original = staircase.LadderPass.measure
    monkeypatch.setattr(staircase.LadderPass, "measure", lambda self: measured.append(1) or original(self))
    measure_precision(Sinusoidal(d=8), length=64, dtypes=["float32"])
    assert len(measured) == 1
    measure_precision(Sinusoidal(d=8), length=64, dtypes=["bfloat16", "float16", "float32"])
    assert len(measured) == 1 + 5  # float32 up to the sines; positions first, and every step, in two types


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtypes": ["bfloat17"]}, ["dtype is not known (bfloat17)", "bfloat16"]),
        ({"recipes": ["bf16"]}, ["recipe is not known (bf16)", "all-narrow"]),
        ({"length": 0}, ["length is out of range (0)"]),
        ({"embedding": 0}, ["embedding is out of range (0)"]),
        ({"embedding": math.nan}, ["embedding is out of range (nan)"]),
    ],
)
def test_what_cannot_be_used_is_refused(options, words):
    with pytest.raises(InputError) as caught:
        measure_precision(Sinusoidal(d=8), **{"length": 16, **options})
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("name", "recipe"), [("one-hot", "narrow-positions"), ("ramp", "all-narrow"), ("t5", "all-narrow")]
)
def test_a_recipe_needs_the_steps_that_it_has(name, recipe):
    with pytest.raises(InputError, match=rf"recipe has steps .*\({recipe}\); accepted here: fp32, fp32-then-cast"):
        measure_precision(make_named(name), length=16, recipes=[recipe])


@pytest.mark.parametrize("name", ["fire", "tupe", "swin"])
def test_a_bias_of_query_and_key_has_no_code(name):
    with pytest.raises(InputError, match=f"{name}: its bias belongs to a query and a key"):
        measure_precision(make_named(name), length=16)


def test_work_has_a_budget():
    with pytest.raises(InputError, match=r"^length x columns x recipes .*1048576 x 4096 x 3.*8589934592"):
        measure_precision(Sinusoidal(d=4096), length=1 << 20, dtypes=["bfloat16"], recipes=list(RECIPES)[:3])


def test_a_channel_that_is_nan_everywhere_has_gone_constant():
    """float8_e4m3fn has nothing beyond 448 but NaN, which equals nothing, not even itself."""
    table = np.stack([np.arange(8.0), 1000.0 + np.arange(8)], axis=1)
    table_alone = Learned(values=GivenArray(table))
    (code, *_) = measure_precision(table_alone, dtypes=["float8_e4m3fn"], recipes=["fp32-then-cast"]).rows
    assert (code.stage, code.distinct, code.constant_channels, code.not_finite) == ("code", 8, 1, 8)


def test_what_is_too_large_is_refused_before_anything_is_computed(monkeypatch):
    """The words of a million frequencies alone take seconds and hundreds of megabytes."""
    monkeypatch.setattr(staircase, "find_waves", lambda _: pytest.fail("looked at the encoding first"))
    with pytest.raises(InputError, match=r"too large \(1048576 x 1048576 x 1\)"):
        measure_precision(Sinusoidal(d=1 << 20), length=1 << 20)


def test_rows_are_equal_only_where_what_follows_from_them_is():
    """What is known of the other table is taken, and nothing is hashed; rows of one value there may differ here."""
    table = np.array([[1.0], [1.0], [2.0], [1.0], [3.0]], dtype=np.float32)
    gathering = Gathering(rows=5, columns=1, evaluate=lambda rows: table[rows], is_hashed=False)
    gathering.add(np.arange(5), table)
    assert gathering.find_first_equal(np.array([0, 0, 0, 3, 4])).tolist() == [0, 0, 2, 3, 4]


def test_rows_all_differ_where_all_do_that_follow_from_them():
    """Those that were hashed are told apart by their hashes where some of the others are equal."""

    def gather(evaluate):
        gathering = Gathering(rows=3, columns=1, evaluate=evaluate)
        gathering.add(np.arange(3), np.array([[1.0], [1.0], [2.0]], dtype=np.float32))
        return gathering

    table = np.array([[1.0], [1.0], [2.0]], dtype=np.float32)
    assert gather(lambda _: pytest.fail("compared")).find_first_equal(np.arange(3)).tolist() == [0, 1, 2]
    assert gather(lambda rows: table[rows]).find_first_equal(np.array([0, 1, 0])).tolist() == [0, 0, 2]


@pytest.mark.parametrize("codes", [["float16", "bfloat16"], ["bfloat16", "float16"]])
def test_types_are_told_apart_one_by_one(codes):
    """Where rows all differ in one type, they need not in another."""
    alone = [measure_precision(Sinusoidal(d=8), length=400, dtypes=[one]).codes for one in codes]
    together = measure_precision(Sinusoidal(d=8), length=400, dtypes=codes).codes
    assert [one.distinct for one in together] == [one.distinct for some in alone for one in some]
    assert len({one.distinct for one in together}) > 1


@pytest.mark.parametrize("columns", [1, 2, 31, 256, 8192])
def test_sums_of_squares_are_as_right_as_is_said(columns):
    """So that the closest neighbours are among those that are measured again in float64."""
    drawn = np.random.default_rng(columns).normal(size=(400, columns)).astype(np.float32)
    steps = np.diff(drawn, axis=0)
    found = (steps[:, None] @ steps[:, :, None]).ravel()
    exact = (np.diff(drawn.astype(float), axis=0) ** 2).sum(axis=1)
    assert np.abs(found / exact - 1).max() <= hashed_rows._SINGLE_SUM * (columns + hashed_rows._MORE) / 2


@pytest.mark.parametrize("columns", [1, 16])
def test_the_closest_neighbours_are_found_in_every_block(columns):
    table = np.random.default_rng(3).normal(size=(500, columns)).astype(np.float32)
    gathering = Gathering(rows=500, columns=columns, evaluate=lambda rows: table[rows], wants_nearest=True)
    for numbers in np.array_split(np.arange(500), 9):
        gathering.add(numbers, table[numbers])
    exact = np.sqrt((np.diff(table.astype(float), axis=0) ** 2).sum(axis=1))
    assert (gathering.nearest, gathering.pair) == (exact.min(), (int(exact.argmin()), int(exact.argmin()) + 1))
