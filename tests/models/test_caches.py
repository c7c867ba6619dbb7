"""Rotations from caches of cosines and sines, against planted truth."""

import math
import tracemalloc

import ml_dtypes
import numpy as np
import pytest

from pe_spectra.errors import InputError
from pe_spectra.models.dumps.dumped_arrays import read_cache
from tests.models.dumps import DTYPES, assert_identified, compute_ladder, make_cache, store

# ----------------------------------------------------------------------------------- caches


@pytest.mark.few(10)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("name", "scale", "offset", "layout"),
    [
        ("llama-3.1", 1.0, 0, "half"),
        ("llama-3.1", 1.0, 1, "interleaved"),
        ("deepseek", 1.2079, 1, "interleaved"),
        ("deepseek", 1.2079, -2, None),
        ("gemma-4", 1.0, 5, "half"),
        ("llama-2", 0.75, 300, None),
    ],
)
def test_every_part_of_a_cache_is_recovered(name, scale, offset, layout, dtype):
    exact = compute_ladder(name)
    cosines, sines = make_cache(exact, dtype=dtype, scale=scale, offset=offset, layout=layout)
    found = read_cache(cosines, sines, dtype)
    assert_identified(found, name)
    assert (found.layout, found.offset, found.dtype, found.rows) == (layout, offset, dtype, 1024)
    precise = {"float64": 1e-14, "float32": 3e-7, "float16": 2e-4, "bfloat16": 1e-3}[dtype]
    assert found.attention_scaling == pytest.approx(scale, rel=precise)
    # the truth lies within the bound of each pair, which is no looser than storing explains
    assert (np.abs(found.frequencies - exact) <= found.error_bounds * exact).all()
    assert found.error_bound <= {"float64": 2e-13, "float32": 3e-6, "float16": 5e-3, "bfloat16": 2e-2}[dtype]
    assert not found.imprecise
    assert found.first_row_off is None


def test_fast_pairs_of_a_coarse_cache_are_known_well():
    exact = compute_ladder("llama-2")
    found = read_cache(*make_cache(exact, 4096, dtype="bfloat16"))
    assert found.error_bounds[0] < 1e-5
    assert found.error_bounds[-1] > 1e-3
    # from a few rows to many turns, without losing count
    exact = 100.0 ** -(np.arange(16) / 16)
    found = read_cache(*make_cache(exact, 32768, dtype="bfloat16"))
    assert found.error_bounds.max() < 2e-5
    np.testing.assert_allclose(found.frequencies, exact, rtol=1e-6)


def test_sines_that_are_a_little_off_are_a_cache_still():
    cosines, sines = make_cache(compute_ladder("llama-2"), 256, dtype="float32")
    noise = 1 + 1e-6 * np.random.default_rng(0).uniform(-1, 1, cosines.shape)
    assert read_cache((cosines * noise).astype(np.float32), sines.astype(np.float32)).base == 10000
    with pytest.raises(InputError, match="one circle"):
        read_cache(cosines * (1 + 1e4 * (noise - 1)), sines)


def measure_peak(*arrays):
    """Bytes that reading a cache takes, beside its arrays."""
    tracemalloc.start()
    try:
        found = read_cache(*arrays)
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["half", "once", "beside", "last axis"])
def test_a_large_cache_is_read_in_little_memory(form):
    """A file of float32 is half of these arrays: with them, 4 times the file and 64 MiB must suffice."""
    arrays = make_cache(compute_ladder("llama-3.1"), 65536, layout="half" if form == "half" else None)
    if form in ("beside", "last axis"):
        arrays = (np.hstack(arrays) if form == "beside" else np.stack(arrays, axis=-1),)
    found, peak = measure_peak(*arrays)
    assert found.base == 500000
    assert peak < 0.6 * sum(one.nbytes for one in arrays) + 2**26


def test_blocks_give_the_same_numbers(monkeypatch):
    arrays = make_cache(compute_ladder("llama-3.1"), 1000, dtype="float32")
    whole = read_cache(*arrays)
    monkeypatch.setattr("pe_spectra.exact._TERMS", 1000)
    parts = read_cache(*arrays)
    np.testing.assert_allclose(parts.frequencies, whole.frequencies, rtol=1e-12)
    assert parts.phase_error == pytest.approx(whole.phase_error, rel=1e-6)
    assert (parts.dtype, parts.base, parts.first_row_off) == ("float32", 500000, None)


def test_the_first_row_that_is_off_is_found_in_any_block(monkeypatch):
    positions = np.arange(1024).astype(ml_dtypes.bfloat16).astype(float)
    angles = positions[:, None] * compute_ladder("llama-2")
    whole = read_cache(np.cos(angles), np.sin(angles))
    monkeypatch.setattr("pe_spectra.exact._TERMS", 64 * 100)
    parts = read_cache(np.cos(angles), np.sin(angles))
    assert (parts.first_row_off, parts.notes) == (whole.first_row_off, whole.notes)
    assert parts.first_row_off == 257


def test_every_shape_that_a_cache_has():
    cosines, sines = make_cache(compute_ladder("llama-3.1"), 256)
    turned = np.stack([cosines, sines], axis=-1)
    shapes = {
        "two": (cosines, sines),
        "side by side": (np.hstack([cosines, sines]),),
        "sines first": (np.hstack([sines, cosines]),),
        "in turn": (turned.reshape(256, -1),),
        "last axis": (turned,),
        "complex": (cosines + 1j * sines,),
        "four axes": (cosines[None, None], sines[None, None]),
        "axis inside": (cosines[:, None, None], sines[:, None, None]),
    }
    for shape, arrays in shapes.items():
        found = read_cache(*arrays)
        assert_identified(found, "llama-3.1")
        assert (found.layout, found.offset, found.attention_scaling) == (None, 0, 1.0), shape
    doubled = np.tile(cosines, (1, 1, 2)), np.tile(sines, (1, 1, 2))
    assert read_cache(*doubled).layout == "half"


def test_types_are_taken_from_the_arrays():
    cosines, sines = make_cache(compute_ladder("llama-3.1"), 256)
    found = read_cache((cosines + 1j * sines).astype(np.complex64))
    assert found.dtype == "float32"
    assert not any("stored as" in note for note in found.notes)
    found = read_cache(cosines.astype(ml_dtypes.bfloat16), sines.astype(ml_dtypes.bfloat16))
    assert found.dtype == "bfloat16"
    found = read_cache(*(store(part, "bfloat16").astype(np.float32) for part in (cosines, sines)))
    assert "stored as float32, values rounded to bfloat16" in found.notes


def test_sines_with_the_sign_of_the_rotation():
    cosines, sines = make_cache(compute_ladder("llama-3.1"), 256)
    found = read_cache(np.hstack([cosines, cosines]), np.hstack([-sines, sines]))
    assert (found.layout, found.backward) == ("half", False)
    assert "minus sign" in found.notes[0]
    found = read_cache(cosines, -sines)
    assert found.backward
    assert_identified(found, "llama-3.1")


def test_positions_rounded_to_bfloat16_are_seen():
    frequencies = compute_ladder("llama-2").astype(np.float32)
    angles = store(np.arange(2048), "bfloat16").astype(np.float32)[:, None] * frequencies
    found = read_cache(np.cos(angles), np.sin(angles))
    assert_identified(found, "llama-2")
    # bfloat16 has every integer up to 256
    assert found.imprecise
    assert found.first_row_off == 257
    assert found.phase_error > 1
    assert found.position_dtype == "bfloat16"
    assert "positions were rounded to bfloat16" in " ".join(found.notes)


def test_angles_rounded_to_float16_are_seen():
    angles = store(np.arange(2048)[:, None] * compute_ladder("llama-2"), "float16")
    found = read_cache(np.cos(angles), np.sin(angles))
    assert found.imprecise
    assert found.base == 10000
    # half of the spacing of float16 near 1024 .. 2047
    assert found.phase_error == pytest.approx(0.5, abs=0.02)


def stray(positions, frequencies, factor=1.0):
    angles = np.asarray(positions, dtype=float)[:, None] * frequencies
    return read_cache(np.cos(angles), factor * np.sin(angles))


@pytest.mark.few(1)
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("first", [9, 500, 1500, 2040, 2047])
def test_rows_up_to_the_first_that_strays_are_read_alone(first, backward):
    """Rows behind it have no part in the lines, whatever they are, and no cause about rounding is named."""
    rows, ladder = np.arange(2048), compute_ladder("llama-3.1")
    noise = np.random.default_rng(first).uniform(0, 1e5, 2048)
    for others in (0 * rows, 0 * rows + first - 1, rows % first, rows + 3, rows + 0.2, noise):
        found = stray(np.where(rows < first, rows, others), ladder, -1.0 if backward else 1.0)
        assert_identified(found, "llama-3.1")
        assert (found.strayed.first, found.strayed.number, found.rows) == (first, 2048 - first, 2048)
        assert (found.imprecise, found.angles_rounded, found.position_dtype) == (True, False, None)
        assert (found.backward, found.offset) == (backward, 0)


@pytest.mark.slow
def test_what_strayed_rows_have_is_said():
    rows, ladder = np.arange(2048), compute_ladder("llama-3.1")
    begin = rows < 1500
    said = {
        "rows of B from 1,500 on repeat row 0": np.where(begin, rows, 0),
        "rows of B from 1,500 on repeat row 1,499": np.minimum(rows, 1499),
        "rows of B from 1,500 on repeat those from row 0 on": rows % 1500,
        "rows of B from 300 on repeat those from row 0 on": rows % 300,
        "rows of B from 1,500 on have the phases of other rows, the first those of row 1,600": np.where(
            begin, rows, rows + 100
        ),
        "rows of B from 1,500 on leave the phases of the rows before": np.where(begin, rows, rows + 0.3),
        "row 777 of B repeats row 5": np.where(rows == 777, 5, rows),
        "2 rows of B, from 777 on, repeat row 5": np.where((rows == 777) | (rows == 900), 5, rows),
    }
    for words, positions in said.items():
        assert stray(positions, ladder).strayed.say("B") == words
        assert stray(positions + 7, ladder).offset == 7  # rows are named, whatever their positions are


def test_errors_that_do_not_grow_with_the_angle_are_not_called_rounding():
    """Small enough for float16, but in late rows alone, or of one size at all angles."""
    angles = np.arange(2048)[:, None] * compute_ladder("llama-3.1")
    generator = np.random.default_rng(5)
    late = np.where(np.arange(2048)[:, None] < 2000, 0, 1e-4 * generator.uniform(-1, 1, angles.shape) * angles)
    for off, first in ((late, 2000), (1e-2 * generator.uniform(-1, 1, angles.shape), None)):
        found = read_cache(np.cos(angles + off), np.sin(angles + off))
        assert (found.imprecise, found.angles_rounded, found.position_dtype) == (True, False, None)
        assert (found.strayed and found.strayed.first) == first
    found = read_cache(*(wave(store(angles, "bfloat16")) for wave in (np.cos, np.sin)))
    assert (found.angles_rounded, found.strayed) == (True, None)


@pytest.mark.parametrize(("first", "value"), [(1, 0.0), (40, 0.0), (63, 0.5)])
def test_the_first_row_off_the_circle_is_named(first, value):
    waves = make_cache(compute_ladder("llama-2"), 64)
    bad = [np.where(np.arange(64)[:, None] < first, wave, value) for wave in waves]
    with pytest.raises(InputError, match=f"one circle: row {first} is the first off that of row 0"):
        read_cache(*bad)


def test_frequencies_rounded_before_the_cache_was_computed_are_seen():
    rounded = store(compute_ladder("llama-2"), "bfloat16")
    found = read_cache(*make_cache(rounded, 512, dtype="float32"))
    assert (found.base, found.dtype, found.frequency_dtype) == (10000.0, "float32", "bfloat16")
    np.testing.assert_allclose(found.frequencies, rounded, rtol=1e-6)
    assert not found.imprecise


def test_a_shift_that_is_no_integer():
    frequencies = compute_ladder("llama-2")
    found = read_cache(*make_cache(frequencies, 128, offset=0.5))
    assert found.offset is None
    assert "0.5, which is no integer" in found.notes[0]
    np.testing.assert_allclose(found.frequencies, frequencies, rtol=1e-11)


def test_phases_of_the_first_row_that_are_no_shift():
    frequencies = compute_ladder("llama-2")
    angles = np.arange(128)[:, None] * frequencies + np.linspace(0, 1, len(frequencies)) ** 2
    found = read_cache(np.cos(angles), np.sin(angles))
    assert found.offset is None
    assert "not those of one offset" in found.notes[0]


def test_frequencies_above_pi_are_seen_up_to_whole_turns():
    frequencies = 2 * math.pi * 0.99 * 100.0 ** -(np.arange(16) / 16)
    angles = np.arange(100)[:, None] * frequencies
    found = read_cache(np.cos(angles), np.sin(angles))
    assert "above pi" in found.notes[0]
    np.testing.assert_allclose(found.frequencies, frequencies, rtol=1e-11)


@pytest.mark.parametrize("rows", [2, 3, 5, 9])
def test_few_rows_are_enough(rows):
    assert read_cache(*make_cache(compute_ladder("llama-2"), rows)).base == 10000
    assert read_cache(*make_cache(compute_ladder("llama-2"), rows, dtype="bfloat16")).base == 10000


def test_one_pair():
    found = read_cache(*make_cache(np.ones(1), 10))
    assert (found.rotary_dim, found.layout, found.base) == (2, None, None)
    np.testing.assert_allclose(found.frequencies, [1.0], rtol=1e-13)


def make_bad_caches():
    cosines, sines = make_cache(compute_ladder("llama-2"), 64)
    generator = np.random.default_rng(3)
    angles = 7 * generator.random((64, 32))
    growing = np.linspace(1, 2, 64)[:, None]
    return {
        "off the circle": ((generator.random((64, 32)), generator.random((64, 32))), "one circle"),
        "random phases": ((np.cos(angles), np.sin(angles)), "evenly"),
        "growing": ((growing * cosines, growing * sines), "radii from 1 to 2"),
        "cosines alone, doubled": ((np.hstack([cosines, cosines]),), "one of cosines and sines"),
        "cosines alone": ((cosines,), "one circle"),
        "wrong order": ((sines, cosines), "cosines first"),
        "other shapes": ((cosines, sines[:, :10]), "(64, 64) and (64, 10)"),
        "complex twice": ((cosines + 0j, sines + 0j), "do not fit"),
        "one row": ((cosines[:1], sines[:1]), "2 rows"),
        "list": ((cosines[0],), "rows and columns"),
        "odd width": ((cosines[:, :63],), "even width"),
        "cube": ((np.ones((4, 4, 4)),), "rows and columns"),
        "not finite": ((np.where(np.arange(64)[:, None] == 5, np.nan, cosines), sines), "row 5"),
        "words": ((np.full((4, 4), "a"),), "numbers"),
        "not turned": ((np.ones((9, 4)), np.zeros((9, 4))), "no pair is turned"),
        "zeros": ((np.zeros((9, 4)), np.zeros((9, 4))), "one circle"),
    }


@pytest.mark.parametrize("name", make_bad_caches())
def test_what_is_no_cache_is_refused_in_one_line(name):
    arrays, words = make_bad_caches()[name]
    with pytest.raises(InputError) as error:
        read_cache(*arrays)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.accepted


# ----------------------------------------------------------------------------------- tables and dumps


def test_cosines_in_two_halves_need_sines_in_two_halves():
    angles = np.arange(64)[:, None] * 1e4 ** (-np.arange(8) / 8)
    cosines = np.tile(np.cos(angles), (1, 2))
    assert read_cache(cosines, np.tile(np.sin(angles), (1, 2))).layout == "half"
    with pytest.raises(InputError, match="do not lie on one circle"):
        read_cache(cosines, np.hstack([np.sin(angles), np.sin(2 * angles)]))


# ----------------------------------------------------------------------------------- caches in one array


def test_each_cosine_and_sine_twice_side_by_side():
    """As the cache of Phi-3 in torchtune: (S, 2D), cosines of both halves, then sines of both."""
    angles = np.tile(np.arange(256)[:, None] * compute_ladder("llama-2"), (1, 2))
    found = read_cache(1.19 * np.hstack([np.cos(angles), np.sin(angles)]))
    assert_identified(found, "llama-2")
    assert (found.layout, found.arrangement) == ("half", None)
    assert found.attention_scaling == pytest.approx(1.19, rel=1e-12)


@pytest.mark.parametrize("scales", [(1.0, 1.0), (1.0, 1.2)])
def test_a_second_cache_behind_the_first(scales):
    """As vLLM has longrope: that of the short list up to the original length, then that of the long one."""
    ladder = compute_ladder("llama-2")
    long = ladder / np.linspace(1, 30, len(ladder))
    parts = [(scales[0], np.arange(512)[:, None] * ladder), (scales[1], np.arange(2048)[:, None] * long)]
    found = read_cache(np.vstack([scale * np.hstack([np.cos(one), np.sin(one)]) for scale, one in parts]))
    assert_identified(found, "llama-2")
    assert (found.rows, found.later.rows, found.later.later) == (512, 2048, None)
    np.testing.assert_allclose(found.later.frequencies, long, rtol=1e-12)
    assert found.later.attention_scaling == pytest.approx(scales[1], rel=1e-12)
    assert any("position 0 comes again in row 512" in note for note in found.notes)


def test_rows_that_repeat_are_no_second_cache():
    angles = (np.arange(900) % 512)[:, None] * compute_ladder("llama-2")
    found = read_cache(np.cos(angles), np.sin(angles))
    assert (found.rows, found.later, found.strayed.first) == (900, None, 512)


def test_one_cache_is_not_parted():
    angles = np.arange(64)[:, None] * compute_ladder("llama-2")
    assert read_cache(np.cos(angles), np.sin(angles)).later is None


@pytest.mark.parametrize("rows", [600, 5000])
def test_positions_that_were_rounded_leave_the_frequencies_what_they_are(rows):
    exact = compute_ladder("llama-3.1")
    angles = np.arange(rows).astype(ml_dtypes.bfloat16).astype(float)[:, None] * exact
    found = read_cache(np.cos(angles), np.sin(angles))
    assert (found.position_dtype, found.first_row_off, found.strayed) == ("bfloat16", 257, None)
    assert (np.abs(found.frequencies - exact) <= found.error_bounds * exact).all()
    assert_identified(found, "llama-3.1")


def test_a_cache_that_rises_has_its_fastest_pair_last():
    exact = compute_ladder("llama-3")
    found = read_cache(*make_cache(exact[::-1], offset=3))
    assert (found.base, found.scaling, found.offset) == (5e5, "none", 3)
    np.testing.assert_allclose(found.frequencies, exact[::-1], rtol=1e-12)
    assert "the frequencies rise: the fastest pair is the last" in found.notes
