"""Rotary encodings: their table, kernel, keys and theorems, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings import HasContinuousTable, HasFrequencies, HasKernel, HasTable
from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.encodings.rotary import Rope
from pe_spectra.encodings.rotary_variants import Fope, RopeAxial
from pe_spectra.errors import InputError
from tests.encodings.rotary_scalings import build, every_scaling

# ----------------------------------------------------------------------------------- the views


def test_views():
    for cls, views in (
        (Rope, (HasTable, HasContinuousTable, HasFrequencies, HasKernel)),
        (RopeAxial, (HasTable,)),
        (Fope, (HasTable,)),
    ):
        for view in (HasTable, HasContinuousTable, HasFrequencies, HasKernel):
            assert isinstance(cls(), view) == (view in views), (cls, view)


@every_scaling
@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_table_is_the_cache_of_cosines_and_sines(scaling, layout):
    encoding = build(scaling, layout=layout)
    frequencies = encoding.frequencies()
    positions = [0, 1, 2, 77, 4095]
    angles = np.outer(positions, frequencies.values)
    cosine, sine = frequencies.amplitude * np.cos(angles), frequencies.amplitude * np.sin(angles)
    table = encoding.table(positions)
    assert table.shape == (5, 128)
    found = np.split(table, 2, axis=1) if layout == "half" else (table[:, 0::2], table[:, 1::2])
    assert_allclose(found[0], cosine, rtol=0, atol=2e-12)
    assert_allclose(found[1], sine, rtol=0, atol=2e-12)
    assert_allclose(encoding.table_at(np.array(positions, dtype=float)), table, rtol=0, atol=2e-12)


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_channels_that_are_not_turned_are_constants(layout):
    encoding = Rope(d=16, share=0.5, layout=layout)
    narrow = Rope(d=8, layout=layout)
    table = encoding.table(9)
    assert encoding.rotary_width == 8
    assert_array_equal(table[:, :8], narrow.table(9))
    rest = [1, 1, 1, 1, 0, 0, 0, 0] if layout == "half" else [1, 0] * 4
    assert_array_equal(table[:, 8:], np.tile(rest, (9, 1)))
    assert_array_equal(encoding.frequencies().values, narrow.frequencies().values)
    assert_allclose(encoding.kernel(range(9)), narrow.kernel(range(9)) + 4)
    assert "8 of 16 channels" in encoding.notes[0]
    assert not narrow.notes


def test_the_attention_factor_is_not_on_channels_that_are_not_turned():
    encoding = Rope(d=16, share=0.5, scaling="yarn", factor=8, original=4096)
    assert_array_equal(encoding.table(3)[:, 8:], np.tile([1, 1, 1, 1, 0, 0, 0, 0], (3, 1)))
    assert_allclose(encoding.table(9) @ encoding.table(9)[0], encoding.kernel(range(9))[0], rtol=1e-14)


@every_scaling
def test_kernel(scaling):
    encoding = build(scaling)
    lags = np.array([0, 1, -1, 2, 30, 1000, -1000])
    frequencies = encoding.frequencies()
    expected = frequencies.amplitude**2 * np.cos(np.outer(lags, frequencies.values))
    if scaling == "xpos":
        zeta = [(2 * i + 0.4 * 128) / (1.4 * 128) for i in range(64)]
        expected = expected * np.array(zeta) ** (np.abs(lags)[:, None] / 512)
        assert encoding.notes
    assert_allclose(encoding.kernel(lags)[0], expected.sum(axis=1), rtol=0, atol=1e-11)
    in_a_row = encoding.kernel(np.arange(2000))
    assert in_a_row.shape == (1, 2000)
    assert_allclose(in_a_row[0, [0, 1, 1, 2, 30, 1000, 1000]], encoding.kernel(lags)[0], rtol=0, atol=1e-11)
    if scaling != "xpos":
        assert_allclose(encoding.table(40) @ encoding.table(40)[3], encoding.kernel(np.arange(40) - 3)[0], atol=1e-12)


def test_kernel_of_xpos_far_away_is_nothing():
    assert build("xpos").kernel([2**53])[0, 0] == 0
    assert build("xpos", scale_base=1e6).kernel([4096])[0, 0] != build("xpos").kernel([4096])[0, 0]


# ----------------------------------------------------------------------------------- keys and theorems


@every_scaling
def test_theorems(scaling):
    encoding = build(scaling)
    assert encoding.theorem.kind == ("period" if scaling == "resonance" else "irrational-frequency")
    assert_array_equal(encoding.exact_key(np.arange(9)), np.arange(9))


def test_a_blended_first_pair_has_a_theorem_of_its_own():
    assert "transcendental" in Rope(d=8, scaling="yarn-paper", factor=4, original=100).theorem.text
    assert "transcendental" in Rope(d=8, scaling="llama3", original=16).theorem.text
    assert "0.25 rad" in Rope(d=8, scaling="yarn-paper", factor=4, original=3).theorem.text
    assert "irrational" in Rope(d=8, scaling="yarn", factor=4, original=100).theorem.text


def test_period_of_integer_wavelengths():
    encoding = Rope(d=4, base=100, scaling="resonance")  # wavelengths 6 and 63
    assert [encoding.turns(index) for index in range(2)] == [Fraction(1, 6), Fraction(1, 63)]
    assert "126 positions" in encoding.theorem.text
    keys, table = encoding.exact_key(np.arange(300)), encoding.table(300)
    assert_array_equal(keys, np.arange(300) % 126)
    near = np.abs(table[:, None] - table[None]).max(axis=2) < 1e-9
    assert_array_equal(np.equal.outer(keys, keys), near)
    assert "2**53" in build("resonance").theorem.text


@pytest.mark.parametrize(
    "encoding",
    [Rope(d=8, scaling="clipped", clipped_pairs=4, taper="hard"), Rope(d=2, scaling="proportional", share=0.5)],
    ids=["clipped", "proportional"],
)
def test_without_any_frequency_all_positions_are_one(encoding):
    assert_array_equal(encoding.exact_key(np.arange(5)), 0)
    assert encoding.theorem.kind == "period"
    assert_array_equal(encoding.table(5), np.tile(encoding.table(1), (5, 1)))
    assert encoding.turns(0) == 0
    assert isinstance(encoding.turns(0), Fraction)  # exactly, whatever the scaling


# ----------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"d": 7}, "d is odd"),
        ({"d": 6, "share": 0.5}, "int(d share)"),
        ({"d": 2, "share": 0.1}, "int(d share)"),
        ({"scaling": "axial"}, "rope-axial"),
        ({"scaling": "su"}, "longrope"),
        ({"scaling": "linear"}, "factor is not set"),
        ({"scaling": "yarn", "factor": 4}, "original is not set"),
        ({"scaling": "dynamic", "factor": 4, "original": 4096}, "served is not set"),
        ({"factor": 4}, "goes with scaling=linear"),
        ({"scaling": "linear", "factor": 4, "original": 4096}, "original has no meaning here"),
        ({"scaling": "yarn", "factor": 4, "original": 4096, "base": 1}, "base"),
        ({"scaling": "linear", "factor": 0.0001}, "factor is out of range (0.0001)"),
        ({"scaling": "yarn", "factor": 4, "original": 4096, "beta_slow": 0}, "beta_slow"),
        ({"scaling": "llama3", "high_freq_factor": 1e7}, "high_freq_factor"),
        ({"scaling": "ntk", "factor": 4, "d": 2}, "D = 2"),
        ({"scaling": "longrope", "factor": 4, "original": 5, "served": 9, "short_factor": [1] * 64}, "long_factor"),
        ({"scaling": "longrope", "factor": 4, "original": 9, "served": 9, "short_factor": [1] * 63}, "64 numbers"),
        ({"scaling": "longrope", "original": 9, "served": 9, "short_factor": [1] * 64}, "attention_factor"),
    ],
)
def test_refused(parameters, words):
    with pytest.raises(InputError) as caught:
        Rope(**parameters)
    assert str(caught.value).startswith("rope: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@every_scaling
def test_spec_and_equality(scaling):
    encoding = build(scaling)
    assert Rope(**encoding.given) == encoding
    assert hash(Rope(**encoding.given)) == hash(encoding)
    assert f"scaling={scaling}" in encoding.spec


def test_every_key_belongs_to_a_scaling():
    keys = {key for scaling in SCALINGS.values() for key in scaling.keys}
    own = {"d", "base", "share", "layout", "scaling"}
    assert {parameter.name for parameter in Rope.accepts} == keys | own
    for parameter in Rope.accepts:
        expected = {name for name, scaling in SCALINGS.items() if parameter.name in scaling.keys}
        assert set(parameter.only_with.get("scaling", ())) == expected


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"layout": "interleaved", "base": 5e5, "share": 0.5},
        {"scaling": "yarn", "factor": 8.0, "original": 4096},
        {"scaling": "llama3", "factor": 8.0, "original": 8192},
        {"scaling": "resonance"},
    ],
)
def test_rounded_frequencies_are_the_first_of_their_words(parameters):
    rope = Rope(d=64, **parameters)
    assert rope.round_frequencies().tolist() == rope.words()[0].tolist() == rope.frequencies().values.tolist()
    with pytest.raises(ValueError, match="read-only"):
        rope.round_frequencies()[0] = 0.0
