"""Rotations against each other: every part that may differ."""

import math
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.errors import InputError
from pe_spectra.models.comparison.divergence import BREAKS, PairDifference, Unknown, _find_first_position
from pe_spectra.models.comparison.rotations import compare_rotations
from pe_spectra.models.comparison.sides import _label_scalings
from pe_spectra.models.dumps.dumped_arrays import read_cache, read_inverse_frequencies
from tests.models.configurations import audit
from tests.models.rotations import LENGTH, LLAMA, compare, find_naively, make_cache, make_rotation, told

# ----------------------------------------------------------------------------------- the known answer


def test_the_base_that_was_lost_in_a_port():
    port = read_inverse_frequencies(make_rotation().frequencies.astype(np.float32), "float32")
    diff = compare(replace(LLAMA, base_key="rope_parameters.rope_theta"), port)
    assert told(diff) == (
        "breaks",
        (
            "B has the default base 10000 and no scaling (base 500000, llama3 x8 in A): breaks from position 4 on "
            "(pair 6 is off by more than pi/8)."
        ),
    )
    (cause,) = diff.causes
    assert (cause.code, cause.layers) == ("scaling-and-base-dropped", ("all",))
    base, scaling = diff.differences
    assert (base.what, base.a, base.b, base.first_position) == ("base", 500000, 10000, 4)
    assert base.effect == "B has the default base; A keeps its base in rope_parameters.rope_theta"
    assert (scaling.what, scaling.a, scaling.b) == ("scaling", "llama3 x8", "none")
    assert scaling.effect == "29 pairs kept, 6 blended, 29 divided by 8 in A"
    silent = Unknown(what="attention_scaling", a=1.0, b=None, why="a dump of inv_freq does not say")
    assert silent in diff.unknown
    assert diff.agree is False
    (layer,) = diff.layer_types
    assert (layer.first_position_off, layer.breaking_pair, len(layer.pairs)) == (4, 6, 64)
    pair = layer.pairs[6]
    assert 4 * abs(pair.frequency_a - pair.frequency_b) > BREAKS
    assert pair.ratio == pytest.approx(pair.frequency_b / pair.frequency_a)
    furthest = np.abs(LLAMA.frequencies - port.frequencies).max()
    assert layer.max_phase_error == pytest.approx((LENGTH - 1) * furthest)


def test_the_other_way_round():
    diff = compare(make_rotation(), LLAMA)
    assert diff.differences[0].effect == "A has the default base; B has its own"
    assert diff.differences[1].effect == "29 pairs kept, 6 blended, 29 divided by 8 in B"


@given(
    st.tuples(*[st.sampled_from([1e4, 5e5])] * 2).filter(lambda bases: bases[0] != bases[1]),
    st.tuples(*[st.sampled_from([None, "", "rope_theta", "rotary_emb_base"])] * 2),
)
def test_only_a_side_that_read_no_base_fell_back(bases, keys):
    """Of a dump it is not known where its base is from; a base that a file states is no default, whatever it is."""
    sides = [replace(make_rotation(base=base), base_key=key) for base, key in zip(bases, keys, strict=True)]
    (found,) = compare(*sides).differences
    default = bases.index(1e4)
    letter, key, other = "AB"[default], keys[default], keys[1 - default]
    assert (f"{letter} fell back to the default" in found.effect) is (key == "")
    assert (f"{letter} has the default base" in found.effect) is (key is None)
    assert (f"keeps its base in {other}" in found.effect) is bool(other and not key)
    stated = f"read from {keys[0]} in A and {keys[1]} in B" in found.effect
    assert stated is (bool(keys[0]) and bool(keys[1]) and keys[0] != keys[1])


# ----------------------------------------------------------------------------------- first position


@given(
    st.lists(st.floats(0, 3.2), min_size=1, max_size=6),
    st.lists(st.floats(-0.7, 0.7), min_size=6, max_size=6),
    st.integers(1, 300),
)
def test_the_first_position_is_that_of_a_search(frequencies, steps, length):
    a = np.array(frequencies)
    b = np.abs(a + np.array(steps[: len(a)]))
    found, naive = _find_first_position(a, b, length), find_naively(a, b, length)
    # a step that reaches pi/8 to the last bit may be seen either way
    step = np.abs(a - b).max()
    if step > 1e-9 and abs(BREAKS / step - round(BREAKS / step)) < 1e-9:
        return
    assert (found and found[0]) == (naive and naive[0])


@pytest.mark.parametrize("step", [1e-9, 1e-4, 0.39269, 0.3927, 3.0, math.pi, 6.2, 2 * math.pi, 40.0])
def test_first_positions_of_one_pair(step):
    length = 5000
    found = _find_first_position(np.array([step]), np.zeros(1), length)
    naive = find_naively(np.array([step]), np.zeros(1), length)
    assert (found and found[0]) == (naive and naive[0])


def test_the_first_position_must_be_within_the_length():
    a, b = np.array([1.0]), np.array([0.9])
    assert _find_first_position(a, b, 5)[0] == 4
    assert _find_first_position(a, b, 4) is None
    assert _find_first_position(a, a, 10**9) is None
    assert _find_first_position(np.zeros(0), np.zeros(0), 10) is None


# ----------------------------------------------------------------------------------- different, part by part


def test_another_factor():
    diff = compare(LLAMA, make_rotation("llama3", 5e5, factor=32.0, original=8192))
    (scaling,) = diff.differences
    assert (scaling.what, scaling.a, scaling.b) == ("scaling", "llama3 x8", "llama3 x32")
    assert scaling.effect.endswith("29 pairs kept, 6 blended, 29 divided by 32 in B")


def test_two_scalings_that_keep_as_many_pairs_say_how_far_they_are_apart():
    options = {"factor": 4.0, "original": 32768}
    a, b = (make_rotation(name, 1e6, **options) for name in ("yarn", "yarn-paper"))
    (found,) = compare(a, b).differences
    ratios = np.abs(a.frequencies / b.frequencies - 1)
    furthest = f"{100 * max(np.abs(b.frequencies / a.frequencies - 1)):.3g} % (pair {ratios.argmax()})"
    assert found.effect.endswith(f" in A and in B, but the blended pairs differ by up to {furthest}")
    assert found.effect.count("pairs kept") == 1


def test_an_option_that_no_factor_shows():
    a = make_rotation("yarn", factor=4.0, original=4096)
    b = make_rotation("yarn", factor=4.0, original=4096, truncate="no")
    assert _label_scalings(a, b) == ("yarn x4 (truncate True)", "yarn x4 (truncate False)")
    diff = compare(a, b, length=4096)
    assert [one.what for one in diff.differences] == ["scaling"]
    rounds = "A rounds the ends of the ramp of yarn to whole pairs, and B does not"
    assert told(diff)[1].startswith(f"{rounds}: breaks from position 298 on (pair 21")


def test_another_base_that_is_no_default():
    diff = compare(make_rotation(base=5e5), make_rotation(base=1e6), length=8192)
    (base,) = diff.differences
    slowest = [2 * math.pi * value ** (126 / 128) for value in (5e5, 1e6)]
    assert (
        base.effect
        == f"the slowest pair takes {slowest[0]:,.0f} positions for a period in A and {slowest[1]:,.0f} in B"
    )


@pytest.mark.parametrize(
    ("rotation", "words"),
    [
        (make_rotation("linear", factor=4.0), "all pairs divided by 4 in B"),
        (make_rotation("ntk", factor=4.0), "each pair divided by a number of its own, from 1 to 4 in B"),
        (make_rotation("proportional", share=0.25), "48 of 64 pairs are not turned in B"),
    ],
)
def test_what_scalings_do_to_a_ladder(rotation, words):
    (scaling,) = compare(make_rotation(), rotation, length=4096).differences
    assert scaling.effect == words


def test_another_layout():
    diff = compare(LLAMA, replace(LLAMA, layout="interleaved"))
    (layout,) = diff.differences
    assert (layout.what, layout.a, layout.b) == ("layout", "half", "interleaved")
    assert told(diff) == (
        "differs",
        "Same frequencies; layout differs: permute the rows of q and k: pairs are (i, i + 64) in A, (2i, 2i + 1) in B.",
    )


def test_one_pair_has_no_layout():
    pair = make_rotation(width=2)
    assert compare(pair, replace(pair, layout="interleaved")).agree is True


def test_an_attention_scaling_whose_square_is_beyond_float64_is_told():
    (found,) = compare(LLAMA, replace(LLAMA, attention_scaling=1e200)).differences
    assert found.effect.startswith("scores in B are inf times those in A")


def test_another_attention_scaling():
    (found,) = compare(LLAMA, replace(LLAMA, attention_scaling=1.2079)).differences
    assert (found.what, found.b) == ("attention_scaling", 1.2079)
    assert found.effect == "scores in B are 1.45902 times those in A, the square of 1.2079: it is dropped in A"
    # bfloat16 does not hold 1.2079: a cache in it is compared within its rounding
    stored = make_cache(LLAMA.frequencies, dtype=ml_dtypes.bfloat16, scale=1.2079)
    assert [one.what for one in compare(replace(LLAMA, attention_scaling=1.2079), stored).differences] == []


def test_another_offset():
    (found,) = compare(replace(LLAMA, dtype="float64"), make_cache(LLAMA.frequencies, offset=1)).differences
    assert (found.what, found.a, found.b) == ("offset", 0, 1)
    assert "scores stay" in found.effect


def test_another_width():
    diff = compare(make_rotation(), make_rotation(width=64), length=4096)
    (found,) = diff.differences
    assert (found.what, found.a, found.b) == ("rotary_dim", 128, 64)
    assert found.effect == "32 pairs, 64 channels of each head, are turned in A only"
    assert diff.layer_types[0].pairs[40] == PairDifference(
        layer="all", pair=40, frequency_a=1e4 ** (-40 / 64), frequency_b=None, ratio=None
    )
    # a pair that both turn breaks first; the verdict has both
    assert told(diff)[1] == (
        "B has the ladder of another width: breaks from position 2 on (pair 5 is off by more than pi/8); "
        "32 pairs, 64 channels of each head, are turned in A only."
    )


@pytest.mark.parametrize("kept", [1, 2, 32, 50])
@pytest.mark.parametrize("narrow", ["A", "B"])
def test_pairs_that_only_one_side_turns_break_it(kept, narrow):
    dump = read_inverse_frequencies(LLAMA.frequencies[:kept])
    sides = (dump, LLAMA) if narrow == "A" else (LLAMA, dump)
    diff = compare(*sides)
    wide, (layer,), (found,) = "B" if narrow == "A" else "A", diff.layer_types, diff.differences
    # by hand: the fastest pair that is not turned reaches pi/8 at the next position
    position = math.floor(math.pi / 8 / LLAMA.frequencies[kept]) + 1
    assert (found.what, found.first_position) == ("rotary_dim", position)
    assert (layer.first_position_off, layer.breaking_pair, layer.agree) == (position, kept, False)
    assert layer.max_phase_error == pytest.approx((LENGTH - 1) * LLAMA.frequencies[kept])
    count = 64 - kept
    what = (
        f"{count} pairs, {2 * count} channels of each head, are" if count > 1 else "1 pair, 2 channels of each head, is"
    )
    text = f"Different: breaks from position {position:,} on ({what} turned in {wide} only; "
    assert told(diff) == ("breaks", f"{text}pair {kept}, the fastest of them, is off by more than pi/8).")
    shared = "the pair in common has" if kept == 1 else f"the {kept} pairs in common have"
    assert any(remark.startswith(shared) for remark in diff.remarks)
    # too few positions for that: it is said all the same
    short = told(compare(*sides, length=position))
    assert short == ("differs", f"Different: {what} turned in {wide} only.")


def test_one_pair_that_only_one_side_turns():
    diff = compare(make_rotation(width=4), make_rotation(width=2))
    assert diff.differences[0].effect == "1 pair, 2 channels of each head, is turned in A only"
    assert diff.remarks == ("the pair in common has the same frequencies",)


def test_pairs_that_are_listed_and_not_turned():
    wide = make_rotation("proportional", 1e6, share=0.25)
    diff = compare(wide, read_inverse_frequencies(wide.frequencies[:16]))
    (found,) = diff.differences
    halves = "where pairs are in halves, (i, i + 64) in A is (i, i + 16) in B"
    assert found.effect == f"A has 48 pairs more, whose frequency is 0: they are not turned; {halves}"
    assert (found.first_position, diff.layer_types[0].max_phase_error) == (None, 0.0)


def test_a_width_and_a_base_that_break_nothing_within_the_length():
    diff = compare(make_rotation(), make_rotation(base=2e4, width=64), length=2)
    text = "base and rotary_dim differ (32 pairs, 64 channels of each head, are turned in A only), but no phase"
    assert (
        told(diff)[1].replace("rotary dim", "rotary_dim").startswith(f"Another base (10000 in A, 20000 in B): {text}")
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_pair_that_is_off(dtype):
    values = make_rotation(base=5e5).frequencies.copy()
    values[10] *= 1.001
    diff = compare(make_rotation(base=5e5), read_inverse_frequencies(values.astype(dtype)), length=8192)
    first = find_naively(values.astype(dtype).astype(float), make_rotation(base=5e5).frequencies, 8192)
    assert first == (3052, 10)
    assert told(diff)[1] == "Different: breaks from position 3,052 on (pair 10 is off by more than pi/8)."
    (found,) = diff.differences
    # the other 63 are as near as storing allows
    assert (found.what, found.effect) == ("frequencies", "1 of 64 pairs differs, by up to 0.1 % (pair 10)")
    assert diff.unknown[0].what == "scaling"


def test_a_pair_that_is_not_turned_has_no_ratio():
    a = make_rotation()
    b = replace(a, base=None, scaling=None, frequencies=np.where(np.arange(64) == 63, 0.0, a.frequencies))
    (found,) = compare(a, b).differences
    assert found.effect == "1 of 64 pairs differs, by up to 100 % (pair 63)"
    assert compare(b, a).differences[0].effect == "1 of 64 pairs differs"
    # beside so slow a pair a ratio is no number, and a wavelength is not written with all its digits
    slow = replace(b, frequencies=np.where(np.arange(64) > 50, 1e-320, a.frequencies))
    diff = compare(slow, a)
    assert diff.layer_types[0].pairs[60].ratio is None
    assert diff.differences[0].effect == "13 of 64 pairs differ"
    much = replace(b, frequencies=np.where(np.arange(64) == 63, a.frequencies / 500, a.frequencies))
    assert compare(much, a).differences[0].effect == "1 of 64 pairs differs, by a factor of up to 500 (pair 63)"
    steep = read_inverse_frequencies(np.array([1.0, 1e-100]))
    assert "e+100 in B" in compare(make_rotation(base=2e4, width=4), steep).differences[0].effect


@st.composite
def draw_dumps(draw):
    rotation = make_rotation(base=10.0 ** draw(st.floats(0.1, 100)), width=2 * draw(st.integers(1, 70)))
    values = rotation.frequencies.copy()
    factors = draw(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=8))
    for factor in factors:
        values[draw(st.integers(0, len(values) - 1))] *= factor
    return np.sort(values)[::-1]


@pytest.mark.slow
@given(draw_dumps(), st.integers(1, 5000))
def test_any_dump_is_compared(values, length):
    try:
        dump = read_inverse_frequencies(values)
    except InputError:
        return
    width = max(len(values), 64)
    one, other = np.zeros(width), np.zeros(width)
    one[:64], other[: len(values)] = LLAMA.frequencies, values
    for diff in (compare(LLAMA, dump, length), compare(dump, LLAMA, length)):
        (layer,) = diff.layer_types
        assert layer.agree is False
        assert (layer.first_position_off is None) == (_find_first_position(one, other, length) is None)
        assert layer.max_phase_error == pytest.approx((length - 1) * np.abs(one - other).max())
        assert not told(diff)[1].startswith("The same")
    assert compare(dump, dump, length).agree is not False


def test_a_base_is_compared_within_the_rounding_of_a_dump():
    base = 1e4 * 8 ** (128 / 126)
    dump = read_inverse_frequencies(make_rotation(base=base).frequencies.astype(ml_dtypes.bfloat16))
    assert dump.base != base
    diff = compare(make_rotation("linear", base, factor=2.0), dump)
    assert [one.what for one in diff.differences] == ["scaling"]
    assert [one.what for one in compare(make_rotation("linear", 1.1 * base, factor=2.0), dump).differences] == [
        "base",
        "scaling",
    ]


def test_layers_that_are_not_turned():
    none = replace(LLAMA, rotary_dim=0, base=None, scaling="none", frequencies=np.zeros(0), options={})
    diff = compare(LLAMA, none)
    assert told(diff)[1] == (
        "Different: breaks from position 1 on "
        "(only A turns queries and keys, 128 channels of each head; pair 0 is off by more than pi/8)."
    )
    assert compare(none, none).agree is True


def test_another_type_of_cosines():
    diff = compare(replace(LLAMA, dtype="bfloat16"), make_cache(LLAMA.frequencies, dtype=np.float32))
    (found,) = diff.differences
    assert (found.what, found.a, found.b) == ("dtype", "bfloat16", "float32")
    assert found.effect == "cosines and sines are rounded by up to 0.004 in A and 6e-08 in B"


def test_frequencies_that_were_rounded_break():
    rounded = LLAMA.frequencies.astype(ml_dtypes.bfloat16).astype(float)
    diff = compare(LLAMA, read_inverse_frequencies(rounded))
    (found,) = diff.differences
    assert (found.what, found.a, found.b) == ("dtype", "not rounded", "bfloat16")
    first = find_naively(LLAMA.frequencies, rounded, 1000)
    assert (found.first_position, diff.layer_types[0].breaking_pair) == first
    # the same numbers, seen through a cache
    diff = compare(LLAMA, make_cache(rounded, dtype=np.float32))
    (found,) = diff.differences
    assert (found.what, found.first_position) == ("frequencies", first[0])
    assert found.effect.endswith("those of B were rounded to bfloat16")


def test_positions_in_too_few_digits_break():
    positions = np.arange(1024).astype(ml_dtypes.bfloat16).astype(float)[:, None]
    angles = np.tile(positions * LLAMA.frequencies, (1, 2))
    diff = compare(LLAMA, read_cache(np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)))
    (found,) = diff.differences
    assert (found.what, found.first_position) == ("dtype", 257)
    merged = "positions of B were rounded to bfloat16, so that 256 and 257 are one"
    assert told(diff)[1].startswith(f"P{merged[1:]}: breaks from position 257 on (phases are off by up to")


def test_a_difference_too_small_to_break():
    diff = compare(LLAMA, replace(LLAMA, frequencies=LLAMA.frequencies * (1 + 1e-7)), length=4096)
    (found,) = diff.differences
    assert (found.what, found.first_position) == ("frequencies", None)
    code, text = told(diff)
    assert code == "differs"
    assert text.startswith(
        "Different: frequencies differ, but no phase is off by more than pi/8 within 4,096 positions"
    )
    assert text.endswith("(at most 0.00041 rad).")


# ----------------------------------------------------------------- what both sides state otherwise is no fault


SHARED = {"model_type": "glm4", "head_dim": 128, "rope_theta": 1e4, "max_position_embeddings": 8192}
SCALED = {"rope_type": "linear", "factor": 2.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}
ENDS = {**YARN, "beta_fast": 16.0, "beta_slow": 1.0}


def compare_files(one, other):
    """The difference of two files that share all other keys."""
    rotations = [
        [layer.rotation for layer in audit({key: value for key, value in {**SHARED, **keys}.items() if value}).layers]
        for keys in (one, other)
    ]
    return compare_rotations(*rotations, length=4096)


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ({"partial_rotary_factor": 0.25}, {"partial_rotary_factor": 0.5}, "another share of the head that is turned"),
        ({"partial_rotary_factor": 0.25}, {"partial_rotary_factor": 0.0625}, "another share of the head that is tur"),
        ({"rope_theta": 1e8}, {}, "another base (100000000 in A, 10000 in B)"),
        ({"rope_scaling": SCALED}, {"rope_scaling": {**SCALED, "factor": 4.0}}, "another factor of linear (2 in A, 4 "),
        ({"rope_scaling": SCALED}, {"rope_scaling": {**SCALED, "factor": 0.5}}, "another factor of linear (2 in A, 0."),
        (
            {"rope_scaling": SCALED},
            {"rope_scaling": {**SCALED, "rope_type": "dynamic"}},
            "another scaling (linear x2 in A, dynamic x2 in B)",
        ),
        (
            {"rope_scaling": ENDS},
            {"rope_scaling": {**ENDS, "beta_fast": 32.0}},
            "another beta_fast of yarn (16 in A, ",
        ),
        ({"rope_scaling": SCALED}, {}, "scaling dropped in B"),
        ({"rope_theta": 5e5}, {"rope_theta": None}, "B has the default base 10000"),
    ],
)
def test_what_both_files_state_otherwise_is_the_cause(one, other, text):
    """Each pair differs in one key; of those that one file does not state a way is named, as it may be a fault."""
    (cause,) = compare_files(one, other).causes
    assert cause.text.startswith(text)


@pytest.mark.parametrize("key", ["attention_factor", "mscale"])
def test_a_factor_on_scores_that_a_file_states_is_not_said_to_be_dropped(key):
    other = {**YARN, "mscale_all_dim": 1.0, key: 1.0}
    (found,) = compare_files({"rope_scaling": YARN}, {"rope_scaling": other}).differences
    assert (found.what, found.b) == ("attention_scaling", 1.0)
    assert found.effect == "scores in B are 0.771321 times those in A, the square of 0.878249"
