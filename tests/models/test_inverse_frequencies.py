"""Rotations from dumps of frequencies, against planted truth."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.errors import InputError
from pe_spectra.models.dumps.dumped_arrays import _check_order, read_inverse_frequencies
from pe_spectra.models.dumps.identification import identify_scaling
from pe_spectra.numbers import find_shortest
from pe_spectra.precision import dtypes
from tests.models.dumps import (
    DTYPES,
    LADDERS,
    OPTIONS,
    assert_identified,
    assert_own_frequencies,
    compute_ladder,
    read_or_refuse,
    scale_ladder,
    store,
)

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


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
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
    np.testing.assert_array_equal(dtypes.round_to(once, dtypes.DTYPES[dtype]).astype(float), store(once, dtype))


# ----------------------------------------------------------------------------------- caches


def test_frequencies_may_rise_by_no_more_than_their_rounding():
    ladder = np.array([1.0, 0.1, 0.1 * (1 + 1.5e-6), 0.01])
    _check_order(ladder, np.full(4, 1e-6), "falling ones")
    with pytest.raises(InputError, match="the frequencies do not fall"):
        _check_order(ladder, np.full(4, 5e-7), "falling ones")


LADDER = 1e4 ** (-np.arange(16) / 16)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_numbers_of_eight_bits_bound_the_frequencies_that_they_were_rounded_from(dtype):
    kind = dtypes.DTYPES[dtype]
    stored = dtypes.round_to(LADDER, kind).astype(float)
    found = read_inverse_frequencies(stored, dtype)
    assert (found.dtype, found.frequency_dtype) == (dtype, dtype)
    kept = stored > 0
    assert np.all(np.abs(stored - LADDER)[kept] <= (found.error_bounds * stored)[kept])
    assert np.all(LADDER[~kept] <= kind.step / 2)


def draw_ladder(base, pairs, factor=1.0):
    return base ** -(np.arange(pairs) / pairs) / factor


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(sorted(dtypes.STORED_TYPES)),
    st.sampled_from([1e2, 9e3, 1e4, 5e5, 1e6, 1e9]) | st.floats(10, 1e8),
    st.sampled_from([4, 16, 32, 64, 128]),
    st.sampled_from([1.0, 1.0, 4.0]),
    st.sampled_from([0.25, 0.5, 0.75]) | st.just(1.0),
)
def test_pairs_are_at_rest_only_where_no_ladder_is_rounded_to_0_there(dtype, base, pairs, factor, share):
    kind = dtypes.STORED_TYPES[dtype]
    exact = draw_ladder(base, pairs, factor)
    exact[round(share * pairs) :] = 0
    stored = dtypes.round_to(exact, kind).astype(float)
    try:
        found = read_inverse_frequencies(stored, dtype)
    except InputError:
        return
    seen, turned = found.frequencies, np.count_nonzero(found.frequencies)
    if turned < 2 or found.base is None:
        return
    # other bases that the numbers may have come from: rounding their ladders is the slow road
    bases = np.array([base, *base * np.geomspace(1 / 3, 3, 100)])[:, None]
    ladders = bases ** -(np.arange(len(seen)) / len(seen)) / factor
    is_ladder = (dtypes.round_to(ladders, kind) == seen).all(axis=1).any()
    if is_ladder:
        assert found.scaling in ("none", "linear")
    if found.scaling == "proportional":
        assert share < 1
        assert found.options["share"] == turned / len(seen)
    elif found.scaling in ("none", "linear"):
        named = draw_ladder(found.base, len(seen), found.options.get("factor", 1.0))
        at_rest = seen == 0
        assert (named[at_rest] <= found.rest * (1 + 4 * found.error_bounds[0]) + 1e-300).all()
    if kind.digits > 8:
        # these have a ladder of any base above what becomes 0: nothing is taken for one that goes on
        assert found.scaling == ("proportional" if share < 1 else "linear" if factor != 1 else "none")


def test_what_is_rounded_to_0_is_said_to_be():
    found = read_inverse_frequencies(
        dtypes.round_to(draw_ladder(1e4, 64), dtypes.DTYPES["float8_e4m3fn"]).astype(float), "float8_e4m3fn"
    )
    assert (found.scaling, found.notes) == (
        "none",
        ("pairs from 49 on are read as 0, as frequencies up to 0.000977 may be",),
    )
    values = draw_ladder(1e6, 256)
    values[64:] = 0
    (note,) = read_inverse_frequencies(values).notes
    assert note == "pairs from 64 on are not turned; clipping the slowest pairs hard gives the same"


# ----------------------------------------------------------------------------------- tables and dumps


@pytest.mark.parametrize("size", [1e305, 1e-315, 5e-324])
def test_a_ladder_at_the_ends_of_float64_is_named_unknown(size):
    """Its divisor is no double, so neither base nor divisor is said."""
    values = LADDER * size if size > 1e-320 else np.array([4, 3, 2, 1]) * size
    found = read_inverse_frequencies(values)
    assert (found.base, found.scaling) == (None, None)
    assert found.notes[0].endswith("base and scaling are unknown")


def test_one_changed_pair_of_a_ladder_is_named():
    values = LADDER.copy()
    values[3] *= 1.1
    found = read_inverse_frequencies(values)
    assert (found.base, found.scaling) == (10000.0, None)
    assert found.notes[0].endswith("all pairs but 3 are those of base 10000")


def test_a_list_that_rises_has_its_fastest_pair_last():
    falling = 5e5 ** -(np.arange(64) / 64)
    found = read_inverse_frequencies(falling[::-1])
    assert (found.base, found.scaling) == (5e5, "none")
    np.testing.assert_array_equal(found.frequencies, falling[::-1])
    assert "the frequencies rise: the fastest pair is the last" in found.notes


@pytest.mark.parametrize(("steps", "where"), [([5], "from pair 5 to 6"), ([5, 9], "at 2 pairs")])
def test_frequencies_that_rise_at_a_few_pairs_have_no_base(steps, where):
    ladder = LADDER.copy()
    for step in steps:
        ladder[[step, step + 1]] = ladder[[step + 1, step]]
    found = read_inverse_frequencies(ladder)
    assert (found.base, found.scaling) == (None, None)
    assert found.notes == (f"the frequencies rise {where}; base and scaling are unknown",)
    np.testing.assert_array_equal(found.frequencies, ladder)
