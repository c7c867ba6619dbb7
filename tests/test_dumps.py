"""Rotations from dumps of frequencies and from caches of cosines and sines, against planted truth."""

import math
import tracemalloc
import warnings

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.errors import InputError
from pe_spectra.models.dumps import caches, phases, rounding
from pe_spectra.models.dumps.caches import read_cache
from pe_spectra.models.dumps.identification import identify_scaling
from pe_spectra.models.dumps.inverse_frequencies import check_order, read_inverse_frequencies
from pe_spectra.models.dumps.ladders import find_shortest
from pe_spectra.models.dumps.rounding import find_rounding, round_to

DTYPES = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}
#: (scaling, base, width, options): scalings as public models have them.
LADDERS = {
    "llama-2": ("none", 1e4, 128, {}),
    "llama-3": ("none", 5e5, 128, {}),
    "linear": ("linear", 1e4, 128, {"factor": 2.5}),
    "llama-3.1": (
        "llama3",
        5e5,
        128,
        {"factor": 8.0, "original": 8192, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    ),
    "llama-3.2": (
        "llama3",
        5e5,
        64,
        {"factor": 32.0, "original": 8192, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    ),
    "qwen-yarn": ("yarn", 1e6, 128, {"factor": 4.0, "original": 32768}),
    "deepseek": ("yarn", 1e4, 64, {"factor": 40.0, "original": 4096}),
    "gpt-oss": ("yarn", 150000.0, 64, {"factor": 32.0, "original": 4096, "truncate": "no"}),
    "yarn-paper": ("yarn-paper", 1e4, 128, {"factor": 8.0, "original": 4096}),
    "gemma-4": ("proportional", 1e6, 512, {"share": 0.25}),
    "clipped": ("clipped", 5e5, 128, {"clipped_pairs": 20, "taper": "hann"}),
}


def compute_ladder(name):
    scaling, base, width, options = LADDERS[name]
    spelled = {key: value == "yes" if value in ("yes", "no") else value for key, value in options.items()}
    scaled = SCALINGS[scaling].function(base, width, **spelled)
    return np.array([float(value) for value in scaled.frequencies])


def store(values, dtype):
    """Round to a type and come back to float64, as a reader of files does."""
    return np.asarray(values).astype(DTYPES[dtype]).astype(np.float64)


def make_cache(frequencies, rows=1024, *, dtype="float64", scale=1.0, offset=0, layout=None):
    """Cosines and sines as ports compute them: angles in float32 unless the cache is float64."""
    if dtype == "float64":
        angles = (np.arange(rows)[:, None] + offset) * frequencies
    else:
        angles = (np.arange(rows, dtype=np.float32)[:, None] + np.float32(offset)) * frequencies.astype(np.float32)
    parts = [store(scale * np.cos(angles), dtype), store(scale * np.sin(angles), dtype)]
    if layout == "half":
        parts = [np.tile(part, (1, 2)) for part in parts]
    if layout == "interleaved":
        parts = [np.repeat(part, 2, axis=1) for part in parts]
    return parts


def assert_identified(found, name):
    scaling, base, width, options = LADDERS[name]
    assert (found.base, found.scaling, found.rotary_dim) == (base, scaling, width)
    assert dict(found.options) == options


# ----------------------------------------------------------------------------------- frequencies


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LADDERS)
def test_base_and_scaling_are_found_in_every_type(name, dtype):
    exact = compute_ladder(name)
    found = read_inverse_frequencies(store(exact, dtype), dtype)
    assert_identified(found, name)
    assert found.dtype == dtype
    assert (found.layout, found.attention_scaling, found.offset) == (None, None, None)
    np.testing.assert_array_equal(found.frequencies, store(exact, dtype))
    assert not found.frequencies.flags.writeable
    # the truth lies within the bound that is stated
    error = np.abs(found.frequencies - exact)
    assert (error <= found.error_bounds * found.frequencies + (2.0**-25 if dtype == "float16" else 0)).all()


def test_ntk_cannot_be_told_from_a_raised_base():
    scaled = SCALINGS["ntk"].function(1e4, 128, factor=8)
    found = read_inverse_frequencies(np.array([float(value) for value in scaled.frequencies]))
    assert found.scaling == "none"
    assert found.base == pytest.approx(1e4 * 8 ** (128 / 126), rel=1e-12)
    assert found.notes == ()  # whether the base was raised, the other side of a comparison may know


@pytest.mark.parametrize(
    ("layout", "double"), [("half", lambda w: np.tile(w, 2)), ("interleaved", lambda w: w.repeat(2))]
)
def test_doubled_frequencies_say_the_layout(layout, double):
    found = read_inverse_frequencies(double(compute_ladder("llama-3.1"))[None])
    assert found.layout == layout
    assert_identified(found, "llama-3.1")


def test_numbers_that_rise_are_periods_as_mlx_holds_them():
    found = read_inverse_frequencies(1 / compute_ladder("llama-3.1"))
    assert_identified(found, "llama-3.1")
    assert "taken as 1/frequency" in found.notes[0]


def test_values_are_known_to_be_coarser_than_their_storage():
    found = read_inverse_frequencies(store(compute_ladder("llama-3"), "bfloat16"), "float32")
    assert found.dtype == found.frequency_dtype == "bfloat16"
    assert "stored as float32, values rounded to bfloat16" in found.notes


def test_unusual_parameters_of_llama3_are_found_up_to_their_ratios():
    scaled = SCALINGS["llama3"].function(5e5, 128, low_freq_factor=2, high_freq_factor=10)
    found = read_inverse_frequencies(np.array([float(value) for value in scaled.frequencies]))
    assert found.scaling == "llama3"
    # within L = 8192 a pair turns low 2, high 10 times where it turns 1 and 5 times within 4096
    assert (found.options["original"], found.options["high_freq_factor"]) == (4096, 5.0)
    assert "taken as 1" in found.notes[0]


def test_yarn_says_which_lengths_give_the_same():
    found = read_inverse_frequencies(compute_ladder("deepseek"))
    text = next(note for note in found.notes if note.startswith("lengths from"))
    low, high = (int(word) for word in text.split() if word.isdigit())
    for original in (low, high):
        scaled = SCALINGS["yarn"].function(1e4, 64, factor=40, original=original)
        np.testing.assert_allclose([float(v) for v in scaled.frequencies], found.frequencies, rtol=1e-14)
    for original in (low - 1, high + 1):
        scaled = SCALINGS["yarn"].function(1e4, 64, factor=40, original=original)
        assert np.abs([float(v) for v in scaled.frequencies] / found.frequencies - 1).max() > 1e-6


def test_frequencies_of_no_known_scaling_are_taken_as_they_are():
    scaled = SCALINGS["longrope"].function(
        1e4, 128, original=4096, served=8192, factor=2, long_factor=list(1 + np.arange(64) ** 1.5 / 50)
    )
    values = np.array([float(value) for value in scaled.frequencies])
    found = read_inverse_frequencies(values)
    assert (found.base, found.scaling) == (None, None)
    np.testing.assert_array_equal(found.frequencies, values)
    assert "unknown" in found.notes[-1]


@pytest.mark.parametrize("base", [1e4, 5e5])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_wavelengths_rounded_to_integers_are_found(base, dtype):
    values = np.array([float(value) for value in SCALINGS["resonance"].function(base, 128).frequencies])
    found = read_inverse_frequencies(store(values, dtype), dtype)
    assert (found.base, found.scaling) == (base, "resonance")
    # one wavelength that is no integer: another ladder
    values[9] *= 0.999
    assert read_inverse_frequencies(values).scaling is None


def test_the_base_is_known_where_only_the_fastest_pairs_are_a_ladder():
    values = compute_ladder("llama-3") / np.maximum(1, np.arange(64) - 19) ** 0.7
    found = read_inverse_frequencies(values)
    assert (found.base, found.scaling) == (500000.0, None)
    assert "the first 21 pairs are those of base 500000" in found.notes[-1]


def test_a_ladder_above_one_has_a_base_and_no_scaling():
    found = read_inverse_frequencies(2 * math.pi * 100.0 ** -(np.arange(16) / 16))
    assert (found.base, found.scaling) == (100.0, None)
    assert "6.28319 times" in found.notes[0]


def test_one_pair_has_no_base():
    found = read_inverse_frequencies(np.ones(1))
    assert (found.rotary_dim, found.base, found.scaling) == (2, None, None)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.random.default_rng(1).random(64), "do not fall"),
        (np.array([1.0, -0.1]), "-0.1 at index 1"),
        (np.array([1.0, math.nan, 0.1]), "nan at index 1"),
        (np.array([math.inf, 1.0]), "inf at index 0"),
        (np.zeros(8), "all frequencies are 0"),
        (np.ones(8), "all are 1"),
        (np.ones((3, 4)), "shape (3, 4)"),
        (np.ones(0), "shape (0,)"),
        (np.ones(3) + 1j, "shape (3,)"),
        (np.array([1, 1, 1, 1, 2.5, 8, 8]), "rope_freqs.weight"),
    ],
)
def test_what_is_no_dump_of_frequencies_is_refused_in_one_line(values, words):
    with pytest.raises(InputError) as error:
        read_inverse_frequencies(values)
    assert words in str(error.value)
    assert "D/2 frequencies in rad/position, fastest first" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_smallest_ladders():
    assert read_inverse_frequencies(np.array([1.0, 0.01])).base == 10000
    assert find_shortest(9600.0, 10300.0) == 10000
    assert find_shortest(0.1, 0.1) == 0.1
    found = identify_scaling(np.array([1.0, 0.01, 0.0, 0.0]), np.full(4, 1e-12))
    assert (found.scaling, found.options["share"], found.base) == ("proportional", 0.5, 1e8)


# ----------------------------------------------------------------------------------- frequencies that were changed


#: Scalings with usual parameters, whatever the base and the width.
OPTIONS = {
    "none": {},
    "linear": {"factor": 4.0},
    "ntk": {"factor": 8.0},
    "llama3": {"factor": 8.0, "original": 8192},
    "yarn": {"factor": 4.0, "original": 32768},
    "yarn-paper": {"factor": 8.0, "original": 4096},
    "proportional": {"share": 0.25},
    "clipped": {"clipped_pairs": 3},
    "resonance": {},
}


def read_or_refuse(values):
    """What reading a dump gives, None where it is refused in words; nothing else may happen, not even a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return read_inverse_frequencies(values)
        except InputError:
            return None


def assert_own_frequencies(found, values):
    """A dump has the frequencies that were given, changed in nothing."""
    if found is None or any("taken as 1/frequency" in note for note in found.notes):
        return
    given = values.astype(float)
    once = {"half": given[: len(given) // 2], "interleaved": given[::2], None: given}[found.layout]
    np.testing.assert_array_equal(found.frequencies, once)


def scale_ladder(name, base, width):
    try:
        scaled = SCALINGS[name].function(base, width, **OPTIONS[name])
    except InputError:
        return None
    return np.array([float(value) for value in scaled.frequencies])


@st.composite
def draw_dumps(draw):
    """A ladder of any scaling with pairs multiplied, set to 0, in any type."""
    exponent = draw(st.floats(1e-3, 300) | st.sampled_from([4.0, 5.7, 6.0]))
    values = scale_ladder(draw(st.sampled_from(sorted(OPTIONS))), 10.0**exponent, 2 * draw(st.integers(1, 128)))
    if values is None:
        return np.ones(1)
    places = st.integers(0, len(values) - 1)
    for pair, factor in draw(st.lists(st.tuples(places, st.floats(-6, 6) | st.floats(-1e-3, 1e-3)), max_size=8)):
        values[pair] *= 10.0**factor
    if draw(st.booleans()):
        values[draw(places) :] = 0
    values = np.sort(values)[::-1] if draw(st.booleans()) else values
    with np.errstate(all="ignore"):
        return values.astype(DTYPES[draw(st.sampled_from(sorted(DTYPES)))])


@settings(max_examples=150, deadline=None)
@given(draw_dumps())
def test_any_dump_is_read_or_refused_in_words(values):
    assert_own_frequencies(read_or_refuse(values), values)


def change_ladder(rng):
    """A ladder of any scaling, changed as ports change them: one pair, two, many, or all by a little."""
    name, width = str(rng.choice(sorted(OPTIONS))), int(rng.choice([2, 4, 8, 16, 64, 128, 256]))
    exponent = rng.choice([1e-13, 1e-3, 0.2, 4.0, 5.7, 6.0, 20.0, 300.0]) if rng.random() < 0.5 else rng.uniform(1, 12)
    values = scale_ladder(name, 10.0**exponent, width)
    if values is None:
        return None
    count = int(rng.choice([0, 1, 1, 2, len(values)]))
    power = rng.choice([6.0, 0.1, 1e-3, 1e-6])
    with np.errstate(all="ignore"):
        values[rng.integers(0, len(values), size=count)] *= 10.0 ** rng.uniform(-power, power, size=count)
        if rng.random() < 0.2:
            values[int(rng.integers(len(values))) :] /= 10.0 ** rng.uniform(0, 308)
        if rng.random() < 0.1:
            values *= 10.0 ** rng.uniform(-300, 300)
        values = np.sort(values)[::-1] if rng.random() < 0.5 else values
        return values.astype(DTYPES[str(rng.choice(sorted(DTYPES)))])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_changed_dumps_are_read_or_refused_in_words(seed):
    rng = np.random.default_rng(seed)
    read = 0
    for _ in range(1000):
        values = change_ladder(rng)
        if values is not None:
            found = read_or_refuse(values)
            assert_own_frequencies(found, values)
            read += found is not None
    assert read > 500


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("pair", [0, 1, 10, 40, 63])
@pytest.mark.parametrize("divisor", [1.0, 4.0])
def test_the_base_is_that_of_most_pairs(pair, divisor, dtype):
    values = compute_ladder("llama-3") / divisor
    values[pair] *= 1.02
    found = read_inverse_frequencies(store(values, dtype), dtype)
    assert (found.base, found.scaling) == (500000.0, None)
    np.testing.assert_array_equal(found.frequencies, store(values, dtype))
    divided = ", divided by 4" if divisor != 1 else ""
    who = "the first 63 pairs" if pair == 63 else f"all pairs but {pair}"
    assert found.notes[-1].endswith(f"; {who} are those of base 500000{divided}")


def test_the_base_of_most_pairs_says_how_many_they_are():
    values = compute_ladder("llama-3")
    values[[3, 17]] *= 0.99
    assert "; all pairs but 3, 17 are those of base 500000" in read_inverse_frequencies(values).notes[-1]
    values[20:30] *= 0.999
    assert "; 52 of 64 pairs are those of base 500000" in read_inverse_frequencies(values).notes[-1]
    values[50:] = 0
    found = read_inverse_frequencies(values)
    assert (found.base, found.scaling) == (500000.0, None)
    # half of them is not most, and too few are in front
    values = compute_ladder("llama-3")
    values[5:40] *= np.linspace(0.99, 0.9, 35)
    assert read_inverse_frequencies(values).base is None


def test_slow_pairs_that_were_divided_leave_the_base_known():
    values = compute_ladder("llama-2")
    values[40:] /= 4
    found = read_inverse_frequencies(values)
    assert (found.base, found.scaling) == (10000.0, None)
    assert "the first 40 pairs are those of base 10000" in found.notes[-1]


# ----------------------------------------------------------------------------------- types


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rounding_is_that_of_the_types(dtype):
    values = np.random.default_rng(0).standard_normal(10000) * 10.0 ** np.random.default_rng(1).uniform(-9, 4, 10000)
    once = values.astype(np.float32).astype(np.float64)
    np.testing.assert_array_equal(round_to(dtype, once), store(once, dtype))
    assert find_rounding(round_to(dtype, once), "float64") == dtype
    assert find_rounding(once, "float64") == "float32"
    assert find_rounding(values, "float64") == "float64"
    assert find_rounding(np.array([0.0, 1.0, -1.0]), "float32") == "float32"


# ----------------------------------------------------------------------------------- caches


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
    monkeypatch.setattr(phases, "_BLOCK", 4096)
    monkeypatch.setattr(rounding, "_BLOCK", 1000)
    monkeypatch.setattr(caches, "_BLOCK", 1000)
    parts = read_cache(*arrays)
    np.testing.assert_allclose(parts.frequencies, whole.frequencies, rtol=1e-12)
    assert parts.phase_error == pytest.approx(whole.phase_error, rel=1e-6)
    assert (parts.dtype, parts.base, parts.first_row_off) == ("float32", 500000, None)


def test_the_first_row_that_is_off_is_found_in_any_block(monkeypatch):
    positions = np.arange(1024).astype(ml_dtypes.bfloat16).astype(float)
    angles = positions[:, None] * compute_ladder("llama-2")
    whole = read_cache(np.cos(angles), np.sin(angles))
    monkeypatch.setattr(phases, "_BLOCK", 64 * 100)
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
    assert "too few digits" in " ".join(found.notes)


def test_angles_rounded_to_float16_are_seen():
    angles = store(np.arange(2048)[:, None] * compute_ladder("llama-2"), "float16")
    found = read_cache(np.cos(angles), np.sin(angles))
    assert found.imprecise
    assert found.base == 10000
    # half of the spacing of float16 near 1024 .. 2047
    assert found.phase_error == pytest.approx(0.5, abs=0.02)


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


def test_frequencies_may_rise_by_no_more_than_their_rounding():
    ladder = np.array([1.0, 0.1, 0.1 * (1 + 1.5e-6), 0.01])
    check_order(ladder, np.full(4, 1e-6), "falling ones")
    with pytest.raises(InputError, match="the frequencies do not fall"):
        check_order(ladder, np.full(4, 5e-7), "falling ones")
