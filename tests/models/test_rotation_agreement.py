"""Rotations that are the same agree as far as a dump says, and what a dump leaves unknown is said."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from pe_spectra.encodings.rope_scaling import scale_llama3
from pe_spectra.models.comparison.rotations import compare_rotations
from pe_spectra.models.comparison.sides import _label_scalings
from pe_spectra.models.dumps.dumped_arrays import read_cache, read_inverse_frequencies
from pe_spectra.models.rotation import Rotation
from pe_spectra.precision.dtypes import STORED_TYPES, round_to
from tests.models.rotations import LLAMA, compare, make_cache, make_rotation, told

# ----------------------------------------------------------------------------------- equal


def test_what_is_equal_agrees():
    diff = compare(LLAMA, LLAMA)
    assert (diff.agree, diff.differences, diff.unknown) == (True, (), ())
    assert told(diff) == (
        "same",
        "The same: the frequencies of all 64 pairs agree, and so does every other part.",
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_dump_of_the_same_frequencies_agrees_as_far_as_it_says(dtype):
    diff = compare(LLAMA, read_inverse_frequencies(LLAMA.frequencies.astype(dtype)))
    assert diff.agree is None
    assert diff.differences == ()
    assert [one.what for one in diff.unknown] == ["layout", "attention_scaling", "offset", "dtype"]
    code, text = told(diff)
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


def test_two_dumps_that_were_rounded_alike_agree():
    dump = read_inverse_frequencies(LLAMA.frequencies.astype(ml_dtypes.bfloat16))
    assert compare(dump, dump).differences == ()


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
    assert "within 1 position (" in told(diff)[1]


def test_nothing_known_is_not_decided():
    diff = compare(Rotation(), LLAMA)
    assert diff.agree is None
    assert told(diff)[0] == "undecided"


def test_sines_of_the_opposite_sign_are_a_difference():
    angles = np.arange(256)[:, None] * LLAMA.frequencies
    diff = compare(LLAMA, read_cache(np.cos(angles), -np.sin(angles)))
    assert diff.agree is False
    (found,) = diff.differences
    assert (found.what, found.a, found.b) == ("layout", None, "sines negated")


# ---------------------------------------------------------------------------------- rotations of which not all is known


def make_llama3(factor, **changes):
    """A rotation of Llama 3's scaling, all of it known but for the changes."""
    options = {"factor": factor, "original": 8192}
    scaled = scale_llama3(5e5, 128, **options)
    known = Rotation(
        head_dim=128,
        rotary_dim=128,
        base=5e5,
        scaling="llama3",
        options=options,
        frequencies=np.array([float(value) for value in scaled.frequencies]),
        layout="half",
        attention_scaling=1.0,
        offset=0,
    )
    return replace(known, **changes)


def list_effects(a, b):
    """What differs, each with what it does."""
    found = compare_rotations([a], [b], length=4096).differences
    return {one.what: (one.a, one.b, one.effect) for one in found}


def test_parts_that_are_not_known_are_no_difference():
    for unknown in ("frequencies", "base", "rotary_dim", "scaling", "layout", "offset"):
        assert list_effects(make_llama3(8.0), make_llama3(8.0, **{unknown: None})) == {}


def test_without_frequencies_a_difference_is_told_by_its_names():
    found = list_effects(make_llama3(8.0), make_llama3(4.0, frequencies=None))
    assert found == {
        "scaling": ("llama3 x8", "llama3 x4", "29 pairs kept, 6 blended, 29 divided by 8 in A; llama3 is used in B")
    }
    found = list_effects(make_llama3(8.0, frequencies=None), make_llama3(4.0, frequencies=None))
    assert found["scaling"] == ("llama3 x8", "llama3 x4", "llama3 is used in A and in B")
    found = list_effects(make_llama3(8.0), make_llama3(8.0, frequencies=None, base=1e6))
    assert found["base"][2] == "every pair but the first has another frequency: base 500000 in A, 1000000 in B"
    found = list_effects(make_llama3(8.0, frequencies=None), make_llama3(8.0, rotary_dim=64, frequencies=None))
    assert found["rotary_dim"] == (128, 64, "64 channels of each head are turned in A only")


def test_scalings_of_a_name_are_told_apart_by_their_options():
    a = Rotation(scaling="own", options={"factor": 2.0, "ramp": 1.0, "list": (1.0, 2.0)})
    b = Rotation(scaling="own", options={"factor": 2.0, "ramp": 2.0})
    assert _label_scalings(a, b) == ("own x2 (ramp 1, list 2 numbers)", "own x2 (ramp 2, list not set)")
    assert _label_scalings(a, a) == ("own x2", "own x2")


def test_what_rounding_makes_the_same_is_said_to_be_so_within_it():
    proportional = make_rotation("proportional", share=0.875)
    kind = STORED_TYPES["float8_e4m3fn"]
    dump = read_inverse_frequencies(round_to(proportional.frequencies, kind).astype(float), kind.name)
    diff = compare(dump, proportional)
    assert (dump.scaling, diff.layer_types[0].agree) == ("none", True)
    bases = "base 10000 (A) and base 10000 with proportional (B)"
    assert diff.remarks == (f"{bases} are the same within the rounding of float8_e4m3fn",)
    # and with the ladder that they are not told from, there is nothing to say
    assert compare(dump, make_rotation()).remarks == ()


@pytest.mark.parametrize("rows", [32, 512])
@pytest.mark.parametrize("base", [5e5, 1e6])
@pytest.mark.parametrize("dtype", ["float4_e2m1fn", "float8_e4m3fn", "float16"])
def test_sines_that_are_rounded_to_0_put_no_pair_at_rest(dtype, base, rows):
    ladder = make_rotation(base=base)
    angles = np.arange(rows)[:, None] * ladder.frequencies
    waves = (round_to(wave(angles), STORED_TYPES[dtype]).astype(float) for wave in (np.cos, np.sin))
    dump = read_cache(*waves, dtype)
    assert dump.scaling == "none"
    assert (ladder.frequencies[dump.frequencies == 0] <= dump.rest).all()
    assert compare(dump, ladder).layer_types[0].agree is True
