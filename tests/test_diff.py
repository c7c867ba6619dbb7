"""Rotations against each other, and tables against each other: every part that may differ."""

import math
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.errors import InputError
from pe_spectra.models.comparison.effects import label_scalings
from pe_spectra.models.comparison.rotations import BREAKS, compare_rotations, find_first_position, state_verdict
from pe_spectra.models.comparison.tables import compare_tables, state_table_verdict
from pe_spectra.models.dumps.caches import read_cache
from pe_spectra.models.dumps.inverse_frequencies import read_inverse_frequencies
from pe_spectra.models.rotation import Rotation


def make_rotation(scaling="none", base=1e4, width=128, *, name="all", **options):
    """What a stack makes of a configuration: everything known, exact."""
    spelled = {key: value == "yes" if value in ("yes", "no") else value for key, value in options.items()}
    scaled = SCALINGS[scaling].function(base, width, **spelled)
    return Rotation(
        name=name,
        head_dim=width,
        rotary_dim=width,
        base=base,
        scaling=scaling,
        options=options,
        frequencies=np.array([float(value) for value in scaled.frequencies]),
        layout="half",
        attention_scaling=float(scaled.attention_factor),
        offset=0,
    )


LLAMA = make_rotation("llama3", 5e5, factor=8.0, original=8192)
LENGTH = 131072


def compare(a, b, length=LENGTH, **others):
    return compare_rotations([a], [b], length=length, **others)


def make_cache(frequencies, rows=1024, dtype=np.float64, scale=1.0, offset=0, layout="half"):
    angles = (np.arange(rows)[:, None] + offset) * frequencies
    parts = [(scale * wave(angles)).astype(dtype).astype(float) for wave in (np.cos, np.sin)]
    return read_cache(*(np.tile(part, (1, 2)) if layout == "half" else np.repeat(part, 2, axis=1) for part in parts))


def find_naively(a, b, length):
    for position in range(length):
        off = np.abs(np.angle(np.exp(1j * position * (a - b))))
        if off.max() > BREAKS:
            return position, int(np.argmax(off))
    return None


# ----------------------------------------------------------------------------------- the known answer


def test_the_base_that_was_lost_in_a_port():
    port = read_inverse_frequencies(make_rotation().frequencies.astype(np.float32), "float32")
    diff = compare(LLAMA, port, base_keys=("rope_parameters.rope_theta", ""))
    assert state_verdict(diff) == (
        "breaks",
        "Different: breaks from position 4 on (pair 6 is off by more than pi/8).",
    )
    base, scaling = diff.differences
    assert (base.what, base.a, base.b, base.first_position) == ("base", 500000, 10000, 4)
    assert base.effect == "B fell back to the default; A keeps its base in rope_parameters.rope_theta"
    assert (scaling.what, scaling.a, scaling.b) == ("scaling", "llama3 x8", "none")
    assert scaling.effect == "29 pairs kept, 6 blended, 29 divided by 8 in A"
    assert ("attention_scaling", 1.0, None, "a dump of inv_freq does not say") in diff.unknown
    assert diff.agree is False
    (layer,) = diff.layer_types
    assert (layer.first_position_off, layer.breaking_pair, len(layer.pairs)) == (4, 6, 64)
    assert layer.breaking_error == pytest.approx(4 * (1e4 ** (-6 / 64) - 5e5 ** (-6 / 64)), rel=1e-6)
    pair = layer.pairs[6]
    assert pair.ratio == pytest.approx(pair.frequency_b / pair.frequency_a)
    furthest = np.abs(LLAMA.frequencies - port.frequencies).max()
    assert layer.max_phase_error == pytest.approx((LENGTH - 1) * furthest)


def test_the_other_way_round():
    diff = compare(make_rotation(), LLAMA)
    assert diff.differences[0].effect == "A fell back to the default; B has its own"
    assert diff.differences[1].effect == "29 pairs kept, 6 blended, 29 divided by 8 in B"


# ----------------------------------------------------------------------------------- first position


@given(
    st.lists(st.floats(0, 3.2), min_size=1, max_size=6),
    st.lists(st.floats(-0.7, 0.7), min_size=6, max_size=6),
    st.integers(1, 300),
)
def test_the_first_position_is_that_of_a_search(frequencies, steps, length):
    a = np.array(frequencies)
    b = np.abs(a + np.array(steps[: len(a)]))
    found, naive = find_first_position(a, b, length), find_naively(a, b, length)
    # a step that reaches pi/8 to the last bit may be seen either way
    step = np.abs(a - b).max()
    if step > 1e-9 and abs(BREAKS / step - round(BREAKS / step)) < 1e-9:
        return
    assert (found and found[0]) == (naive and naive[0])


@pytest.mark.parametrize("step", [1e-9, 1e-4, 0.39269, 0.3927, 3.0, math.pi, 6.2, 2 * math.pi, 40.0])
def test_first_positions_of_one_pair(step):
    length = 5000
    found = find_first_position(np.array([step]), np.zeros(1), length)
    naive = find_naively(np.array([step]), np.zeros(1), length)
    assert (found and found[0]) == (naive and naive[0])


def test_the_first_position_must_be_within_the_length():
    a, b = np.array([1.0]), np.array([0.9])
    assert find_first_position(a, b, 5)[0] == 4
    assert find_first_position(a, b, 4) is None
    assert find_first_position(a, a, 10**9) is None
    assert find_first_position(np.zeros(0), np.zeros(0), 10) is None


# ----------------------------------------------------------------------------------- equal


def test_what_is_equal_agrees():
    diff = compare(LLAMA, LLAMA)
    assert (diff.agree, diff.differences, diff.unknown) == (True, (), ())
    assert state_verdict(diff) == (
        "same",
        "The same: the frequencies of all 64 pairs agree, and so does every other part.",
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_dump_of_the_same_frequencies_agrees_as_far_as_it_says(dtype):
    diff = compare(LLAMA, read_inverse_frequencies(LLAMA.frequencies.astype(dtype)))
    assert diff.agree is None
    assert diff.differences == ()
    assert [one.what for one in diff.unknown] == ["layout", "attention_scaling", "offset", "dtype"]
    code, text = state_verdict(diff)
    assert code == "same-as-known"
    assert text.startswith("The same, as far as is known: the frequencies of all 64 pairs agree; unknown: layout,")


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_a_cache_of_the_same_rotation_agrees(dtype):
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    diff = compare(replace(LLAMA, dtype=dtype), make_cache(LLAMA.frequencies, dtype=kind))
    assert diff.agree is True, (diff.differences, diff.unknown)


def test_float32_arithmetic_is_no_difference_and_more_is():
    dump = read_inverse_frequencies((LLAMA.frequencies * (1 + 1.5e-6)).astype(np.float32))
    assert compare(LLAMA, dump).agree is None
    dump = read_inverse_frequencies((LLAMA.frequencies * (1 + 5e-6)).astype(np.float32))
    assert compare(LLAMA, dump).agree is False
    # what is stated exactly is compared exactly
    assert compare(LLAMA, replace(LLAMA, frequencies=LLAMA.frequencies * (1 + 2e-16))).agree is True
    assert compare(LLAMA, replace(LLAMA, frequencies=LLAMA.frequencies * (1 + 1e-13))).agree is False


def test_one_ladder_written_in_two_ways_is_the_same():
    ntk = make_rotation("ntk", factor=8.0)
    raised = make_rotation(base=1e4 * 8 ** (128 / 126))
    diff = compare(ntk, raised)
    assert diff.agree is True
    assert diff.remarks == ("base 10000 with ntk x8 (A) and base 82684.62264 (B) give the same frequencies",)


def list_ntk_remarks(a, b):
    return [remark for remark in compare(a, b).remarks if "NTK" in remark]


def test_a_raised_base_may_be_ntk_scaling():
    raised = make_rotation(base=5e5 * 8 ** (128 / 126))
    dump, other = read_inverse_frequencies(raised.frequencies), make_rotation(base=5e5)
    # of the base of the other side, and of one that is usual where that does not fit
    text = f"base {dump.base:g} of B is also what NTK scaling makes of base 500000 with factor 8"
    assert list_ntk_remarks(other, dump) == [text]
    assert list_ntk_remarks(make_rotation(base=1234.0), dump) == [text]
    assert list_ntk_remarks(dump, other) == [text.replace("of B", "of A")]
    (general,) = list_ntk_remarks(make_rotation(), read_inverse_frequencies(make_rotation(base=123456.7).frequencies))
    assert general == ("NTK scaling gives a ladder of the same form as that of B: it cannot be told from a raised base")


def test_ntk_is_not_named_where_nothing_was_raised():
    ladder = make_rotation(base=5e5)
    assert list_ntk_remarks(ladder, read_inverse_frequencies(ladder.frequencies)) == []
    assert list_ntk_remarks(ladder, read_inverse_frequencies(make_rotation().frequencies)) == []  # a lower base
    assert list_ntk_remarks(make_rotation(), ladder) == []  # what a file states is no guess
    blended = make_rotation("llama3", 1e6, factor=8.0, original=8192)
    assert list_ntk_remarks(ladder, read_inverse_frequencies(blended.frequencies)) == []


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
    assert label_scalings(a, b) == ("yarn x4 (truncate True)", "yarn x4 (truncate False)")
    diff = compare(a, b, length=4096)
    assert [one.what for one in diff.differences] == ["scaling"]
    assert state_verdict(diff)[1].startswith("Different: breaks from position 298 on (pair 21")


def test_another_base_that_is_no_default():
    diff = compare(make_rotation(base=5e5), make_rotation(base=1e6), length=8192)
    (base,) = diff.differences
    slowest = [2 * math.pi * value ** (126 / 128) for value in (5e5, 1e6)]
    assert (
        base.effect == f"the slowest pair takes {slowest[0]:,.0f} positions for a turn in A and {slowest[1]:,.0f} in B"
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
    assert state_verdict(diff) == (
        "differs",
        "Same frequencies; layout differs: permute the rows of q and k: pairs are (i, i + 64) in A, (2i, 2i + 1) in B.",
    )


def test_one_pair_has_no_layout():
    pair = make_rotation(width=2)
    assert compare(pair, replace(pair, layout="interleaved")).agree is True


def test_another_attention_scaling():
    (found,) = compare(LLAMA, replace(LLAMA, attention_scaling=1.2079)).differences
    assert (found.what, found.b) == ("attention_scaling", 1.2079)
    assert found.effect == "scores in B are 1.45902 times those in A, the square of 1.2079"
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
    assert diff.layer_types[0].pairs[40] == (40, 1e4 ** (-40 / 64), None, None)
    # a pair that both turn breaks first; the verdict has both
    assert state_verdict(diff)[1] == (
        "Different: breaks from position 2 on (pair 5 is off by more than pi/8); "
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
    assert state_verdict(diff) == ("breaks", f"{text}pair {kept}, the fastest of them, is off by more than pi/8).")
    shared = "the pair that both have turns" if kept == 1 else f"the {kept} pairs that both have turn"
    assert any(remark.startswith(shared) for remark in diff.remarks)
    # too few positions for that: it is said all the same
    short = state_verdict(compare(*sides, length=position))
    assert short == ("differs", f"Different: {what} turned in {wide} only.")


def test_one_pair_that_only_one_side_turns():
    diff = compare(make_rotation(width=4), make_rotation(width=2))
    assert diff.differences[0].effect == "1 pair, 2 channels of each head, is turned in A only"
    assert diff.remarks == ("the pair that both have turns alike",)


def test_pairs_that_are_listed_and_not_turned():
    wide = make_rotation("proportional", 1e6, share=0.25)
    diff = compare(wide, read_inverse_frequencies(wide.frequencies[:16]))
    (found,) = diff.differences
    assert found.effect == "A has 48 pairs more, whose frequency is 0: they are not turned"
    assert (found.first_position, diff.layer_types[0].max_phase_error) == (None, 0.0)


def test_a_width_and_a_base_that_break_nothing_within_the_length():
    diff = compare(make_rotation(), make_rotation(base=2e4, width=64), length=2)
    text = "base and rotary_dim differ (32 pairs, 64 channels of each head, are turned in A only), but no phase"
    assert state_verdict(diff)[1].replace("rotary dim", "rotary_dim").startswith(f"Different: {text}")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_pair_that_is_off(dtype):
    values = make_rotation(base=5e5).frequencies.copy()
    values[10] *= 1.001
    diff = compare(make_rotation(base=5e5), read_inverse_frequencies(values.astype(dtype)), length=8192)
    first = find_naively(values.astype(dtype).astype(float), make_rotation(base=5e5).frequencies, 8192)
    assert first == (3052, 10)
    assert state_verdict(diff)[1] == "Different: breaks from position 3,052 on (pair 10 is off by more than pi/8)."
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
    values = make_rotation(base=10.0 ** draw(st.floats(0.1, 100)), width=2 * draw(st.integers(1, 70))).frequencies
    factors = draw(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=8))
    for factor in factors:
        values[draw(st.integers(0, len(values) - 1))] *= factor
    return np.sort(values)[::-1]


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
        assert (layer.first_position_off is None) == (find_first_position(one, other, length) is None)
        assert layer.max_phase_error == pytest.approx((length - 1) * np.abs(one - other).max())
        assert state_verdict(diff)[1].startswith("Different: ")
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
    assert state_verdict(diff)[1] == (
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


def test_two_dumps_that_were_rounded_alike_agree():
    dump = read_inverse_frequencies(LLAMA.frequencies.astype(ml_dtypes.bfloat16))
    assert compare(dump, dump).differences == ()


def test_positions_in_too_few_digits_break():
    positions = np.arange(1024).astype(ml_dtypes.bfloat16).astype(float)[:, None]
    angles = np.tile(positions * LLAMA.frequencies, (1, 2))
    diff = compare(LLAMA, read_cache(np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)))
    (found,) = diff.differences
    assert (found.what, found.first_position) == ("dtype", 257)
    assert state_verdict(diff)[1].startswith("Different: breaks from position 257 on (phases of B are off by up to")


def test_a_difference_too_small_to_break():
    diff = compare(LLAMA, replace(LLAMA, frequencies=LLAMA.frequencies * (1 + 1e-7)), length=4096)
    (found,) = diff.differences
    assert (found.what, found.first_position) == ("frequencies", None)
    code, text = state_verdict(diff)
    assert code == "differs"
    assert text.startswith(
        "Different: frequencies differ, but no phase is off by more than pi/8 within 4,096 positions"
    )
    assert text.endswith("(at most 0.00041 rad).")


def test_what_a_dump_of_no_known_ladder_leaves_unknown():
    values = LLAMA.frequencies * np.linspace(1, 0.5, 64) ** 2
    diff = compare(LLAMA, read_inverse_frequencies(values))
    assert [one.what for one in diff.differences] == ["frequencies"]
    assert [one.what for one in diff.unknown][:2] == ["base", "scaling"]
    assert diff.unknown[0].why == "no published scaling fits the frequencies of B"


def test_what_one_pair_leaves_unknown():
    pair = make_rotation(width=2)
    diff = compare(pair, read_inverse_frequencies(np.array([0.5])))
    assert [(one.what, one.why) for one in diff.unknown][:2] == [
        ("base", "one pair alone does not say"),
        ("scaling", "one pair alone does not say"),
    ]


def test_who_does_not_say_the_type_of_cosines():
    def explain(a, b):
        return {one.what: one.why for one in compare(a, b).unknown}

    says_nothing = "a configuration does not say the type of cosines and sines"
    assert explain(LLAMA, make_cache(LLAMA.frequencies))["dtype"] == says_nothing
    dump = read_inverse_frequencies(LLAMA.frequencies)
    assert explain(LLAMA, dump)["dtype"] == f"{says_nothing}; a dump of inv_freq does not say"
    assert explain(replace(LLAMA, layout=None), make_cache(LLAMA.frequencies))["layout"] == "A does not say"


def test_one_position():
    diff = compare(LLAMA, replace(LLAMA, frequencies=2 * LLAMA.frequencies), length=1)
    assert "within 1 position (" in state_verdict(diff)[1]


def test_nothing_known_is_not_decided():
    diff = compare(Rotation(), LLAMA)
    assert diff.agree is None
    assert state_verdict(diff)[0] == "undecided"


def test_sines_of_the_opposite_sign_leave_the_direction_open():
    angles = np.arange(256)[:, None] * LLAMA.frequencies
    diff = compare(LLAMA, read_cache(np.cos(angles), -np.sin(angles)))
    assert diff.agree is None
    assert "direction" in [one.what for one in diff.unknown]


# ----------------------------------------------------------------------------------- layer types

FULL = make_rotation("linear", 1e6, name="full_attention", factor=8.0)
SLIDING = make_rotation(name="sliding_attention")


def test_layer_types_are_paired_by_name():
    assert compare_rotations([FULL, SLIDING], [SLIDING, FULL], length=LENGTH).agree is True


def test_one_rotation_is_compared_with_every_layer_type():
    diff = compare_rotations([FULL, SLIDING], [make_rotation()], length=LENGTH)
    assert [(layer.name, layer.agree) for layer in diff.layer_types] == [
        ("full_attention", False),
        ("sliding_attention", True),
    ]
    assert all(one.layers == ("full_attention",) for one in diff.differences)
    assert "in full_attention layers" in state_verdict(diff)[1]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_dump_of_one_layer_type_says_nothing_of_the_others(swapped):
    dump = [read_inverse_frequencies(SLIDING.frequencies)]
    sides = (dump, [FULL, SLIDING]) if swapped else ([FULL, SLIDING], dump)
    diff = compare_rotations(*sides, length=LENGTH)
    assert diff.agree is None
    assert diff.remarks[0] == f"{'A' if swapped else 'B'} has the frequencies of sliding_attention layers"
    assert "full_attention layers" in [one.what for one in diff.unknown]


def test_a_layer_type_that_is_missing_is_a_difference():
    diff = compare_rotations([FULL, SLIDING], [FULL, replace(SLIDING, name="other")], length=LENGTH)
    assert [(one.what, one.a, one.b) for one in diff.differences] == [
        ("layer_types", "sliding_attention", None),
        ("layer_types", None, "other"),
    ]
    assert diff.agree is False


def test_the_same_difference_of_two_layer_types_is_listed_once():
    others = [replace(one, layout="interleaved") for one in (FULL, SLIDING)]
    (found,) = compare_rotations([FULL, SLIDING], others, length=LENGTH).differences
    assert found.layers == ("full_attention", "sliding_attention")


def test_layers_with_a_window_are_looked_at_within_it():
    other = replace(SLIDING, frequencies=SLIDING.frequencies * (1 + 1e-4))
    reach = compare_rotations([SLIDING], [other], length=LENGTH)
    assert reach.differences[0].first_position == math.floor(BREAKS / 1e-4) + 1
    short = compare_rotations([SLIDING], [other], length=LENGTH, windows={"sliding_attention": 1024})
    assert short.differences[0].first_position is None
    assert short.layer_types[0].length == 1024
    assert short.layer_types[0].max_phase_error == pytest.approx(0.1023)


@pytest.mark.parametrize(("a", "b", "length"), [([], [LLAMA], 10), ([LLAMA], [], 10), ([LLAMA], [LLAMA], 0)])
def test_what_cannot_be_compared_is_refused(a, b, length):
    with pytest.raises(InputError):
        compare_rotations(a, b, length=length)


def test_differences_come_in_their_order():
    other = replace(
        make_rotation(), layout="interleaved", attention_scaling=1.1, offset=1, dtype="bfloat16", rotary_dim=128
    )
    diff = compare(replace(LLAMA, dtype="float32"), other)
    whats = [one.what for one in diff.differences]
    assert whats == ["base", "scaling", "layout", "attention_scaling", "offset", "dtype"]


# ----------------------------------------------------------------------------------- tables


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(5).standard_normal((200, 32)).astype(np.float32).astype(float)


HALVES = np.arange(32).reshape(2, 16)


def test_equal_tables(table):
    diff = compare_tables(table, table.copy())
    assert (diff.agree, diff.equal_rows, diff.first_row, diff.max_difference) == (True, 200, None, 0.0)
    assert state_table_verdict(diff) == ("same", "The same: all 200 rows are equal.")


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_a_table_and_its_rounding_agree(table, dtype):
    rounded = table.astype(dtype).astype(float)
    diff = compare_tables(table, rounded)
    assert diff.agree
    assert diff.dtypes == ("float32", np.dtype(dtype).name)
    assert diff.max_difference == np.abs(table - rounded).max()
    assert "(B is rounded)" in diff.findings[0]


@pytest.mark.parametrize(("shift", "factor"), [(2, 1.0), (-1, 1.0), (0, 8.0), (0, -1.0), (7, 0.1), (60, 1.0)])
def test_shifts_and_factors_are_found(table, shift, factor):
    other = factor * (table[shift:] if shift >= 0 else np.vstack([np.full((-shift, 32), 9.0), table]))
    diff = compare_tables(table, other)
    assert (diff.agree, diff.explained, diff.shift, diff.factor) == (False, True, shift, pytest.approx(factor))
    rows = [row for row in range(len(other)) if 0 <= row + shift < len(table)]
    np.testing.assert_allclose(other[rows], diff.factor * table[np.add(rows, shift)])
    assert diff.unmatched_rows == tuple(range(-shift))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (HALVES.T.ravel(), "the halves of A's columns stand in turn in B"),
        (np.argsort(HALVES.T.ravel()), "the columns that stand in turn in A are halves of B"),
        (HALVES[::-1].ravel(), "the halves of the columns are swapped"),
        (np.arange(32).reshape(16, 2)[:, ::-1].ravel(), "neighbouring columns are swapped"),
        (np.random.default_rng(0).permutation(32), "the columns of B are those of A in another order"),
    ],
)
def test_orders_of_columns_are_found(table, columns, words):
    diff = compare_tables(table, table[:, columns])
    assert diff.order == words
    np.testing.assert_array_equal(diff.columns, columns)
    assert state_table_verdict(diff) == ("explained", f"Different: {words}.")


def test_order_shift_and_factor_together(table):
    diff = compare_tables(table, 0.5 * table[3:][:, HALVES.T.ravel()])
    assert (diff.shift, diff.factor) == (3, 0.5)
    np.testing.assert_array_equal(diff.columns, HALVES.T.ravel())


def test_special_rows_are_named(table):
    other = table.copy()
    other[[0, 17]] += 1
    diff = compare_tables(table, other)
    assert (diff.unmatched_rows, diff.first_row, diff.equal_rows) == ((0, 17), 0, 198)
    assert diff.findings[0] == "A and B are the same except rows 0, 17 of B"


def test_a_longer_table_with_the_same_rows(table):
    diff = compare_tables(table[:150], table)
    assert (diff.agree, diff.explained, diff.equal_rows) == (False, True, 150)
    text = "Different: B has 50 rows more (150 and 200); the 150 rows that both have are equal."
    assert state_table_verdict(diff) == ("explained", text)


def test_tables_that_have_nothing_in_common(table):
    other = np.random.default_rng(6).standard_normal(table.shape)
    diff = compare_tables(table, other)
    assert (diff.agree, diff.explained, diff.shift, diff.factor, diff.columns) == (False, False, None, None, None)
    assert diff.max_difference == np.abs(table - other).max()
    assert state_table_verdict(diff)[0] == "differs"


def test_tables_that_are_nearly_the_same(table):
    diff = compare_tables(table, table + 1e-3)
    assert not diff.explained
    assert diff.findings[-1] == "rows at one index have a cosine of 1 - 5e-07, B's are as long as A's (medians)"


def test_other_widths(table):
    diff = compare_tables(table, table[:, :16])
    assert state_table_verdict(diff) == (
        "differs",
        "Different: A has 32 columns and B has 16; the first 16 columns are equal (200 rows).",
    )
    diff = compare_tables(table, table[:, 8:16])
    assert diff.findings == ("A has 32 columns and B has 8",)
    diff = compare_tables(table, table.T)
    assert diff.findings == ("rows of B are columns of A: B is A transposed (200 x 32 and 32 x 200)",)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t[::-1], "the rows of B are those of A in reverse order"),
        (lambda t: t[np.random.default_rng(0).permutation(200)], "the rows of B are those of A in another order"),
        (lambda t: np.repeat(t, 2, axis=0), "400 of 400 rows of B are in A, at other indices"),
        (lambda t: np.vstack([t[::-1][:150], 0 * t[:50]]), "150 of 200 rows of B are in A, at other indices"),
    ],
    ids=["reverse", "another order", "twice", "some"],
)
def test_rows_that_moved_are_found(table, change, words):
    diff = compare_tables(table, change(table))
    assert (diff.explained, diff.findings[0]) == (False, words)
    assert state_table_verdict(diff)[1].startswith(f"Different: {words}; ")


def test_a_table_of_zeros_is_said_to_be_one(table):
    assert compare_tables(table, 0 * table).findings[-1] == "B has only zeros"
    assert compare_tables(table, np.vstack([table, 9 + table[:1]])).findings[0] == "B has 1 row more (200 and 201)"
    assert "no row equals the one at its index" in compare_tables(table, table**3).findings[0]


def test_small_and_empty_tables(table):
    assert compare_tables(table[:1], table[:1]).agree
    assert compare_tables(0 * table, 0 * table).agree
    assert not compare_tables(0 * table, table).explained
    for bad in (np.zeros(3), np.zeros((0, 3)), np.full((2, 2), np.nan)):
        with pytest.raises(InputError):
            compare_tables(table, bad)
