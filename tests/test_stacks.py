"""What each implementation makes of a file: its numbers, what it ignores and what it refuses.

Expected frequencies are written out here in plain float64; facts about an implementation are from
its code as `source` names it.
"""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import InputError
from pe_spectra.models.stacks import EARLIER, STACKS, Refusal, describe_rope
from pe_spectra.models.stacks.conformance import build_examples, tabulate_conformance, tabulate_scalings
from pe_spectra.models.stacks.variants import scale_dynamic_fixed, scale_linear_by_power, scale_yarn_clipped
from pe_spectra.models.stated.meta_release import read_params
from pe_spectra.models.stated.statement import Configuration, LayerStatement, RotaryBlock

OLDER = ("transformers-4", "transformers-4.49")
NAMES = ("transformers-5", "transformers-4", "vllm", "llama.cpp", "keras-hub", "meta", "yarn-paper")
ALL = {**STACKS, EARLIER.name: EARLIER}
YARN = {"factor": 8.0, "original_max_position_embeddings": 4096.0}
LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192.0,
}
LONG = {
    "short_factor": (1.0,) * 48,
    "long_factor": tuple(1 + i / 10 for i in range(48)),
    "original_max_position_embeddings": 4096.0,
}


def ladder(base=1e4, width=128):
    return base ** (-np.arange(0, width, 2) / width)


def block(kind="default", values=None, base=1e4, where="rope_scaling"):
    beside = kind in ("longrope", "su")  # as in the files of Phi-3
    values = values or {}
    return RotaryBlock(where=where, kind=kind, base=base, base_key="rope_theta", values=values, original_beside=beside)


def state(older=None, newer=None, *, length=32768, model="llama", head_dim=128, **layer):
    found = LayerStatement(head_dim=head_dim, older=older, newer=newer, **layer)
    return Configuration(path="config.json", scheme="rotary", model=model, length=length, layers=(found,))


def read(name, configuration, served=None):
    found = ALL[name].read(configuration, configuration.layers[0], served)
    assert not isinstance(found, Refusal), found.reason
    return found


def refuse(name, configuration, served=None):
    found = ALL[name].read(configuration, configuration.layers[0], served)
    assert isinstance(found, Refusal)
    assert found.reason.startswith("config.json: ")
    assert "\n" not in found.reason
    return found.reason


def slow(rotation, pair, base=1e4, width=128):
    return float(ladder(base, width)[pair] / rotation.frequencies[pair])


EXAMPLES = {
    "default": state(block()),
    "linear": state(block("linear", {"factor": 4.0})),
    "dynamic": state(block("dynamic", {"factor": 4.0}), length=8192),
    "yarn": state(block("yarn", YARN)),
    "llama3": state(block("llama3", LLAMA3, 5e5), length=131072),
    "longrope": state(block("longrope", LONG), length=131072, head_dim=96),
}


def test_every_stack_names_what_was_read():
    assert tuple(STACKS) == NAMES
    for name, stack in ALL.items():
        assert stack.name == name
        assert len(stack.title) > 10
        assert len(stack.source) > 20


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("name", ALL)
def test_every_stack_answers_every_scaling(name, kind):
    configuration = EXAMPLES[kind]
    found = ALL[name].read(configuration, configuration.layers[0], 32768)
    if isinstance(found, Refusal):
        assert name in ("meta", "yarn-paper")
        assert kind in found.reason
        return
    assert found.frequencies.shape == (configuration.layers[0].head_dim // 2,)
    assert found.frequencies.dtype == np.float64
    assert not found.frequencies.flags.writeable
    assert np.all(np.diff(found.frequencies) < 0)
    assert found.layout in ("half", "interleaved")
    assert found.attention_scaling >= 1
    assert found.offset == 0
    assert found.rotary_dim == 2 * len(found.frequencies)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_options_are_those_of_the_catalogue(kind):
    """The encoding that `rope` builds of the options has the same frequencies."""
    for name in ("transformers-5", *OLDER):
        found = read(name, EXAMPLES[kind], 32768)
        again = Rope(d=found.head_dim, base=found.base, layout=found.layout, scaling=found.scaling, **found.options)
        assert_array_equal(again.frequencies().values, found.frequencies)
        assert again.frequencies().amplitude == found.attention_scaling


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_description_is_the_answer_of_transformers_5(kind):
    configuration = EXAMPLES[kind]
    rope = Rope(**describe_rope(configuration, configuration.layers[0], 32768))
    assert_array_equal(rope.frequencies().values, read("transformers-5", configuration, 32768).frequencies)


def test_a_description_says_no_more_than_needed():
    configuration = state(block(base=5e5), head_dim=16)
    assert describe_rope(configuration, configuration.layers[0]) == {"d": 16, "base": 5e5}
    configuration = state(block(base=5e5), head_dim=80, share=0.4, layout="interleaved")
    expected = {"d": 80, "base": 5e5, "share": 0.4, "layout": "interleaved"}
    assert describe_rope(configuration, configuration.layers[0]) == expected


def blend_llama3(factor):
    theta = ladder(5e5)
    turns = 8192 * theta / (2 * math.pi)
    kept = np.clip((turns - 1) / 3, 0, 1)
    return (1 - kept) * theta / factor + kept * theta


@pytest.mark.parametrize("factor", [8.0, 32.0])
def test_llama_3_1_of_both_generations(factor):
    values = {**LLAMA3, "factor": factor}
    older = state(block("llama3", values, 5e5), length=131072)
    newer = state(newer=block("llama3", values, 5e5, "rope_parameters"), length=131072)
    for found in (read("transformers-5", newer), *(read(name, older) for name in ("transformers-5", *OLDER))):
        assert_allclose(found.frequencies, blend_llama3(factor), rtol=1e-13)
        assert found.notes == ()
    for name in OLDER:
        silent = read(name, newer)
        assert_allclose(silent.frequencies, ladder(), rtol=1e-13)
        assert silent.base == 10000
        assert silent.scaling == "none"
        assert any("rope_parameters is not read" in note for note in silent.notes)
        assert any("10000" in note for note in silent.notes)


def test_rope_scaling_takes_the_place_of_rope_parameters():
    """Tried with LlamaConfig.from_dict of 5.23.0: rope_scaling wins, and the other base is lost."""
    newer = block("default", base=5e5, where="rope_parameters")
    found = read("transformers-5", state(block("linear", {"factor": 2.0}, None), newer))
    assert_allclose(found.frequencies, ladder() / 2, rtol=1e-13)
    assert any("takes the place" in note for note in found.notes)
    found = read("transformers-5", state(block("linear", {"factor": 2.0}, 1e6), newer))
    assert_allclose(found.frequencies, ladder(1e6) / 2, rtol=1e-13)


def test_rope_theta_only_fills_in_a_missing_base():
    older = block(base=1e6, where="")
    found = read("transformers-5", state(older, block(base=5e5, where="rope_parameters")))
    assert found.base == 5e5
    found = read("transformers-5", state(older, block(base=None, where="rope_parameters")))
    assert found.base == 1e6
    assert found.notes == ()
    found = read("transformers-5", state(default_base=1e3))
    assert found.base == 1000
    assert "no base" in found.notes[0]


def test_dynamic_of_transformers_grows_with_the_length():
    configuration = EXAMPLES["dynamic"]
    for name in ("transformers-5", *OLDER):
        assert_allclose(read(name, configuration).frequencies, ladder(), rtol=1e-13)
        assert_allclose(read(name, configuration, 4000).frequencies, ladder(), rtol=1e-13)
        base = 1e4 * (4 * 16384 / 8192 - 3) ** (128 / 126)
        assert_allclose(read(name, configuration, 16384).frequencies, ladder(base), rtol=1e-13)


def test_dynamic_of_transformers_counts_from_the_longest_position():
    values = {"factor": 4.0, "original_max_position_embeddings": 2048.0}
    found = read("transformers-5", state(block("dynamic", values), length=8192), 16384)
    assert found.options["original"] == 8192
    assert any("2048 is not read" in note for note in found.notes)


def test_dynamic_of_vllm_is_one_base_for_every_length():
    lengths = (1000, 8192, 16384, 32768, 10**6)
    found = [read("vllm", EXAMPLES["dynamic"], served).frequencies for served in lengths]
    for frequencies in found:
        assert_array_equal(frequencies, found[0])
    base = 1e4 * 13 ** (128 / 126)  # s^2 - s + 1 of 4
    assert_allclose(found[0], ladder(base), rtol=1e-13)
    assert_allclose(found[0], read("transformers-5", EXAMPLES["dynamic"], 4 * 8192).frequencies, rtol=1e-14)
    assert "s^2 - s + 1 = 13" in read("vllm", EXAMPLES["dynamic"]).notes[0]


def test_dynamic_of_keras_hub_is_linear():
    found = read("keras-hub", EXAMPLES["dynamic"], 16384)
    assert_allclose(ladder() / found.frequencies, 4 ** (128 / 126), rtol=1e-13)


def test_dynamic_of_llama_cpp_is_nothing():
    found = read("llama.cpp", EXAMPLES["dynamic"], 16384)
    assert_allclose(found.frequencies, ladder(), rtol=1e-13)
    assert found.scaling == "none"
    assert any("dynamic is not converted" in note for note in found.notes)


def test_narrow_heads_have_no_exponent():
    for scale in (scale_dynamic_fixed, scale_linear_by_power):
        with pytest.raises(InputError, match="D = 2"):
            scale(1e4, 2, factor=4)


def test_pair_36_of_yarn():
    """D=128, b=1e4, L=4096, s=8: 2.17x slower in code, 2.21x without truncation, 5.0x in the paper."""
    plain = EXAMPLES["yarn"]
    whole = state(block("yarn", {**YARN, "truncate": False}))
    for name in ("transformers-5", "vllm", "llama.cpp"):
        assert round(slow(read(name, plain), 36), 2) == 2.17
    for name in ("transformers-5", "vllm"):
        assert round(slow(read(name, whole), 36), 2) == 2.21
    assert round(slow(read("keras-hub", plain), 36), 2) == 2.21  # off unless asked for
    assert round(slow(read("yarn-paper", plain), 36), 1) == 5.0
    found = read("llama.cpp", whole)
    assert round(slow(found, 36), 2) == 2.17
    assert any("truncate" in note for note in found.notes)
    assert read("yarn-paper", plain).attention_scaling == pytest.approx(0.1 * math.log(8) + 1, rel=1e-15)


def test_the_ramp_of_keras_hub_ends_with_the_pairs():
    """transformers clips it at D - 1; from 10000 turns on the slowest pair of 16 channels is never all divided."""
    values = {"factor": 4.0, "original_max_position_embeddings": 1e6}
    configuration = state(block("yarn", values, 100.0), head_dim=16, length=4 * 10**6)
    ends = 16 * np.log(1e6 / (2 * math.pi * np.array([32, 1]))) / (2 * math.log(100))
    assert ends[1] > 15
    ramp = np.clip((np.arange(8) - ends[0]) / max(7 - ends[0], 0.001), 0, 1)
    theta = ladder(100, 16)
    expected = (1 - ramp) * theta + ramp * theta / 4
    assert_allclose(read("keras-hub", configuration).frequencies, expected, rtol=1e-12)
    found = read("keras-hub", state(block("yarn", {**YARN, "truncate": True})))
    assert round(slow(found, 36), 2) == 2.17
    assert any("every position beyond 4096" in note for note in found.notes)
    assert read("keras-hub", state(block("yarn", {"factor": 8.0}))).options["original"] == 4096


def test_what_keras_hub_needs_besides():
    newer = block("linear", {"factor": 2.0}, where="rope_parameters")
    found = read("keras-hub", state(newer=newer, layout="interleaved"))
    assert found.layout == "half"
    assert any("permuted" in note for note in found.notes)
    assert any("no scaling" in note for note in found.notes)


def test_truncate_within_a_layer_type_is_not_read():
    inside = block("yarn", {**YARN, "truncate": False}, where="rope_parameters.full_attention")
    found = read("transformers-5", state(newer=inside, name="full_attention"))
    assert round(slow(found, 36), 2) == 2.17
    assert any("truncate is not read" in note for note in found.notes)
    assert round(slow(read("vllm", state(newer=inside, name="full_attention")), 36), 2) == 2.21


def test_yarn_of_4_49_reads_the_longest_position():
    found = read("transformers-4.49", state(block("yarn", YARN)))
    assert found.options["original"] == 32768
    assert any("4096 is not read" in note for note in found.notes)
    unscaled = read("transformers-4.49", state(block("yarn", YARN), length=4096))
    expected = read("transformers-5", state(block("yarn", YARN))).frequencies
    assert_array_equal(unscaled.frequencies, expected)
    assert_array_equal(read("transformers-4", state(block("yarn", YARN))).frequencies, expected)


def test_keys_that_4_49_did_not_read():
    keyed = state(block("yarn", {**YARN, "mscale": 0.707, "mscale_all_dim": 1.0, "truncate": False}), length=4096)
    found = read("transformers-4.49", keyed)
    assert found.attention_scaling == pytest.approx(0.1 * math.log(8) + 1, rel=1e-15)
    assert found.notes == ("not read: mscale, mscale_all_dim, truncate",)
    last, newest = read("transformers-4", keyed), read("transformers-5", keyed)
    assert_array_equal(last.frequencies, newest.frequencies)
    assert last.attention_scaling == newest.attention_scaling


def test_the_factor_of_yarn_is_derived():
    """From null alone: both releases raise a KeyError without the key, transformers 4 a TypeError for null."""
    absent = block("yarn", {"original_max_position_embeddings": 4096.0})
    null = replace(absent, nulls=frozenset({"factor"}))
    found = read("transformers-5", state(null))
    assert found.options["factor"] == 8
    assert any("factor is null" in note for note in found.notes)
    assert read("transformers-5", state(null, length=2048)).options["factor"] == 0.5
    assert "factor is not set" in refuse("transformers-5", state(null, length=None))
    assert "is out of range" in refuse("transformers-5", state(null, length=2))
    for name in ("transformers-5", *OLDER):
        assert "factor is not set" in refuse(name, state(absent))
    for name in OLDER:
        assert "factor is not set" in refuse(name, state(null))


def test_attention_factors_of_yarn():
    deepseek = {"factor": 40.0, "original_max_position_embeddings": 4096.0, "mscale": 0.707, "mscale_all_dim": 0.707}

    def scale(m):
        return 0.1 * m * math.log(40) + 1

    both = state(block("yarn", deepseek), length=163840, model="deepseek_v2", head_dim=64)
    for name in ("transformers-5", "vllm", "llama.cpp"):
        assert read(name, both).attention_scaling == 1
    unequal = state(block("yarn", {**deepseek, "mscale": 1.0}), length=163840, model="deepseek_v2", head_dim=64)
    assert read("transformers-5", unequal).attention_scaling == pytest.approx(scale(1) / scale(0.707), rel=1e-14)
    assert read("vllm", unequal).attention_scaling == pytest.approx(scale(1) / scale(0.707), rel=1e-14)
    assert read("llama.cpp", unequal).attention_scaling == 1
    given = state(block("yarn", {**YARN, "attention_factor": 1.5}))
    assert read("transformers-5", given).attention_scaling == 1.5
    assert read("transformers-4", given).attention_scaling == 1.5
    for name in ("vllm", "llama.cpp", "keras-hub", "yarn-paper"):
        found = read(name, given)
        assert found.attention_scaling == pytest.approx(0.1 * math.log(8) + 1, rel=1e-15)
        assert any("attention_factor" in note for note in found.notes)


def test_deepseek_in_vllm_has_defaults_of_its_own():
    """mscale 1 and mscale_all_dim 0, where transformers needs both: one alone has an effect."""
    alone = {"factor": 40.0, "original_max_position_embeddings": 4096.0, "mscale": 0.707}
    found = state(block("yarn", alone), length=163840, model="deepseek_v2", head_dim=64)
    assert read("transformers-5", found).attention_scaling == pytest.approx(0.1 * math.log(40) + 1, rel=1e-14)
    assert read("vllm", found).attention_scaling == pytest.approx(0.0707 * math.log(40) + 1, rel=1e-14)


def test_longrope_is_short_up_to_the_original_length():
    configuration = replace(EXAMPLES["longrope"], model="phi3")
    theta = ladder(width=96)
    for name in ("transformers-5", *OLDER, "vllm", "llama.cpp", "keras-hub"):
        assert_allclose(read(name, configuration, 4096).frequencies, theta, rtol=1e-13)
        for served in (4097, 131072, None):
            found = read(name, configuration, served)
            assert_allclose(found.frequencies, theta / LONG["long_factor"], rtol=1e-13)
            expected = math.sqrt(1 + math.log(32) / math.log(4096))
            assert found.attention_scaling == pytest.approx(expected, rel=1e-14)


def test_longrope_of_4_49_changes_in_phi_alone():
    found = read("transformers-4", EXAMPLES["longrope"], 131072)
    assert_allclose(found.frequencies, ladder(width=96) / LONG["long_factor"], rtol=1e-13)
    found = read("transformers-4.49", EXAMPLES["longrope"], 131072)
    assert_allclose(found.frequencies, ladder(width=96), rtol=1e-13)
    assert any("short_factor serves every length" in note for note in found.notes)
    values = {key: value for key, value in LONG.items() if not key.startswith("original")}
    configuration = state(block("longrope", values), head_dim=96)
    assert "factor is not set" in refuse("transformers-4", configuration)
    stated = state(block("longrope", {**values, "factor": 4.0}), head_dim=96)
    expected = math.sqrt(1 + math.log(4) / math.log(32768))
    for name in ("transformers-5", *OLDER):
        assert read(name, stated).attention_scaling == pytest.approx(expected, rel=1e-14)


def test_a_share_of_the_newer_form_is_not_read():
    configuration = state(newer=block(base=5e5, where="rope_parameters"), head_dim=80, share=0.4, model="llama")
    assert read("transformers-5", configuration).rotary_dim == 32
    assert read("transformers-4", configuration).rotary_dim == 80
    beside = state(block(base=5e5, where=""), head_dim=80, share=0.4, model="llama")
    assert read("transformers-4", beside).rotary_dim == 32


def test_a_share_that_a_class_ignores():
    """transformers 5: LlamaRotaryEmbedding's own ladder has no share, its scalings have."""
    for kind, values, width in (("default", {}, 80), ("linear", {"factor": 2.0}, 32)):
        configuration = state(block(kind, values), head_dim=80, share=0.4, share_ignored=True)
        assert read("transformers-5", configuration).rotary_dim == width
        assert Rope(**describe_rope(configuration, configuration.layers[0])).rotary_width == width
        assert read("transformers-4", configuration).rotary_dim == 32


def test_a_block_of_the_class_is_one_in_both_releases():
    default = block("yarn", YARN, None, "the default of gpt_oss")
    configuration = state(block(base=150000.0, where=""), default, model="gpt_oss")
    newest, last = read("transformers-5", configuration), read("transformers-4", configuration)
    assert newest.scaling == last.scaling == "yarn"
    assert newest.base == last.base == 150000
    assert_array_equal(newest.frequencies, last.frequencies)


def test_su_of_phi_3():
    configuration = replace(EXAMPLES["longrope"], model="phi3")
    configuration = replace(configuration, layers=(replace(configuration.layers[0], older=block("su", LONG)),))
    assert "rope_type is an older name (su)" in refuse("transformers-5", configuration)
    assert ALL["transformers-5"].read(configuration, configuration.layers[0], None).seen
    expected = read("transformers-5", EXAMPLES["longrope"]).frequencies
    inside = replace(block("su", LONG), original_beside=False, original_inside=4096.0)
    found = read("transformers-5", state(inside, length=131072, model="phi3", head_dim=96))
    assert_array_equal(found.frequencies, expected)
    other = replace(configuration, model="phi3_v")  # code of its own
    assert_array_equal(read("transformers-5", other).frequencies, expected)
    for name in (*OLDER, "vllm", "llama.cpp", "keras-hub"):
        assert_array_equal(read(name, configuration).frequencies, expected)


@pytest.mark.parametrize("kind", ["linear", "dynamic", "yarn", "llama3"])
def test_phi_3_has_longrope_alone(kind):
    """Its class in transformers 5.23.0 takes yarn for longrope (KeyError) and raises a ValueError for others; 4 too."""
    configuration = replace(EXAMPLES[kind], model="phi3")
    for name in ("transformers-5", "transformers-4"):
        assert f"rope_type is not known to {STACKS[name].title} ({kind}); default" in refuse(name, configuration)


def test_keys_that_stand_where_4_does_not_look():
    inside = replace(block("longrope", LONG), original_beside=False)
    assert "factor is not set" in refuse("transformers-4", state(inside, head_dim=96))
    given = replace(block("longrope", {**LONG, "attention_factor": 1.19}), original_beside=False)
    found = read("transformers-4", state(given, head_dim=96))
    assert (found.attention_scaling, found.options["original"]) == (1.19, 32768)
    values = {**YARN, "original_max_position_embeddings": 8192.0}
    twice = replace(block("yarn", values), original_beside=True, original_inside=4096.0)
    assert read("transformers-5", state(twice)).options["original"] == 8192
    assert read("transformers-4", state(twice)).options["original"] == 4096
    beside = replace(twice, original_inside=None)
    assert read("transformers-4", state(beside)).options["original"] == 32768
    base = replace(block(base=5e5), base_key="rope_scaling.rope_theta", base_beside=1e6)
    assert read("transformers-5", state(base)).base == 5e5
    assert read("transformers-4", state(base)).base == 1e6
    kinds = replace(block("linear", {"factor": 2.0}), type_inside="default")
    assert read("transformers-5", state(kinds)).scaling == "linear"
    assert read("transformers-4", state(kinds)).scaling == "none"


def test_proportional_turns_the_first_pairs():
    configuration = state(newer=block("proportional", {}, 1e6, "rope_parameters"), head_dim=512, share=0.25)
    for name in ("transformers-5", "llama.cpp", "vllm"):
        found = read(name, configuration)
        assert found.rotary_dim == 512
        assert_allclose(found.frequencies[:64], ladder(1e6, 512)[:64], rtol=1e-13)
        assert not found.frequencies[64:].any()
    assert "proportional" in refuse("transformers-4", state(block("proportional")))


def test_alpha_enlarges_the_base():
    values = {"factor": 1.0, "alpha": 1000.0}
    configuration = state(block("dynamic", values), model="hunyuan_v1_dense")
    base = 1e4 * 1000 ** (128 / 126)
    for name in ("transformers-5", "vllm", "llama.cpp"):
        assert_allclose(read(name, configuration, 100000).frequencies, ladder(base), rtol=1e-12)


def test_ntk_of_vllm():
    found = read("vllm", state(block("ntk", {"factor": 4.0})))
    expected = ladder() / 4 ** ((np.arange(0, 128, 2) + 2) / 128)
    assert_allclose(found.frequencies, expected, rtol=1e-13)
    for name in ("transformers-5", *OLDER, "keras-hub", "meta", "yarn-paper"):
        assert "ntk" in refuse(name, state(block("ntk", {"factor": 4.0})))
    found = read("llama.cpp", state(block("ntk", {"factor": 4.0})))
    assert_allclose(found.frequencies, ladder(), rtol=1e-13)
    assert any("ntk is not known" in note for note in found.notes)


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("nonsense", {}, "rope_type is not known to transformers 5.23.0 (nonsense)"),
        ("linear", {}, "rope_scaling: factor is not set"),
        ("dynamic", {}, "rope_scaling: factor is not set"),
        ("llama3", {"factor": 8.0}, "low_freq_factor is not set"),
        ("longrope", {"short_factor": (1.0,) * 64}, "long_factor is not set"),
        ("longrope", {**LONG}, "48 numbers"),
        ("yarn", {"original_max_position_embeddings": 4096.0}, "rope_scaling: factor is not set"),
        ("linear", {"factor": 1e-4}, "factor is out of range (0.0001)"),
    ],
)
def test_what_transformers_5_refuses(kind, values, said):
    assert said in refuse("transformers-5", state(block(kind, values)))


def test_what_is_beyond_the_ranges_here_was_not_seen_to_be_refused():
    for values in ({}, {"factor": 1e-4}):
        configuration = state(block("linear", values))
        assert not ALL["transformers-5"].read(configuration, configuration.layers[0], None).seen


def test_a_ramp_that_runs_backwards():
    """transformers and vLLM divide by the negative width; ggml and keras-hub by at least 0.001, which is a step."""
    configuration = state(block("yarn", {**YARN, "beta_fast": 1.0, "beta_slow": 32.0}))
    low, high = 46, 20  # floor and ceiling of 64 ln(4096/(2 pi beta))/ln 10000
    pairs = np.arange(64)
    ramp = np.clip((pairs - (low - 1)) / ((high + 1) - (low - 1)), 0, 1)
    backwards = ladder() * (1 - ramp) + ladder() / 8 * ramp
    for name in ("transformers-5", *OLDER, "vllm"):
        length = 4096 if name == "transformers-4.49" else 32768
        found = read(name, replace(configuration, length=length))
        assert_allclose(found.frequencies, backwards, rtol=1e-13)
    step = np.where(pairs <= low - 1, ladder(), ladder() / 8)
    found = read("llama.cpp", configuration)
    assert_allclose(found.frequencies, step, rtol=1e-13)
    assert "beta_fast is below beta_slow: there is no ramp, but a step at 1 turns" in found.notes
    turns = 4096 * ladder() / (2 * math.pi)
    assert_allclose(read("yarn-paper", configuration).frequencies, np.where(turns < 32, ladder() / 8, ladder()))


def test_llama3_with_its_ends_in_the_wrong_order():
    """transformers divides below low first; vLLM and the converter of llama.cpp keep above high first."""
    configuration = state(block("llama3", {**LLAMA3, "low_freq_factor": 4.0, "high_freq_factor": 1.0}, 5e5))
    plain = ladder(5e5)
    turns = 8192 * plain / (2 * math.pi)
    for name in ("transformers-5", "transformers-4", "keras-hub"):
        assert_allclose(read(name, configuration).frequencies, np.where(turns < 4, plain / 8, plain), rtol=1e-13)
    for name in ("vllm", "llama.cpp"):
        found = read(name, configuration)
        assert_allclose(found.frequencies, np.where(turns > 1, plain, plain / 8), rtol=1e-13)
        assert any("there is no ramp" in note for note in found.notes)


def test_transformers_4_reads_the_share_beside():
    newer = block(base=1e4, where="rope_parameters")
    both = state(newer=newer, share=0.5, share_beside=0.25)
    assert read("transformers-5", both).rotary_dim == 64
    assert read("transformers-4", both).rotary_dim == 32


def test_a_factor_that_the_file_does_not_state():
    params = {"dim": 2048, "n_heads": 32, "rope_theta": 5e5, "use_scaled_rope": True}
    found = read("meta", read_params(params, "config.json"))
    assert found.notes == ("the factor is 8 in the code, whatever the width of the model",)
    stated = read("meta", read_params({**params, "rope_scaling_factor": 32.0}, "config.json"))
    assert stated.notes == ("factor 32 is not read: 8 is fixed in the code",)
    assert_array_equal(found.frequencies, stated.frequencies)


def test_numbers_in_notes_have_all_their_digits():
    large = {**YARN, "original_max_position_embeddings": 1048576.0}
    assert any("1048576 is not read" in note for note in read("transformers-4.49", state(block("yarn", large))).notes)
    silent = state(block("linear", {"factor": 2.0}, base=None), default_base=1e6)
    assert "the file gives it no base, so 1000000 is taken" in read("transformers-5", silent).notes[0]


def test_widths_that_cannot_be_turned():
    for name in NAMES:
        assert "width" in refuse(name, state(block(), head_dim=80, share=0.4125)) or name == "meta"
    with pytest.raises(InputError, match="nonsense"):
        describe_rope(state(block("nonsense")), state(block("nonsense")).layers[0])


def test_a_length_that_is_nowhere():
    assert "max_position_embeddings" in refuse("transformers-5", state(block("dynamic", {"factor": 2.0}), length=None))
    found = read("transformers-5", state(block("yarn", YARN), length=None))
    assert found.options["original"] == 4096


def test_llama3_without_its_original_length():
    """standardize_rope_params puts max_position_embeddings in its place; llama.cpp has 8192."""
    values = {key: value for key, value in LLAMA3.items() if not key.startswith("original")}
    configuration = state(block("llama3", values, 5e5), length=131072)
    found = read("transformers-5", configuration)
    assert found.options["original"] == 131072
    assert any("8192" in note for note in found.notes)
    assert_allclose(read("llama.cpp", configuration).frequencies, blend_llama3(8), rtol=1e-13)
    assert "original_max_position_embeddings is not set" in refuse("transformers-4", configuration)


@pytest.mark.parametrize(
    ("model", "stated", "layout"),
    [
        ("llama", "half", "interleaved"),
        ("mistral", "half", "interleaved"),
        ("qwen2", "half", "half"),
        ("gemma3_text", "half", "half"),
        ("minicpm3", "half", "half"),
        ("olmo", "half", "interleaved"),
        ("olmo2", "half", "half"),
        ("glm4_moe", "half", "half"),
        ("deepseek_v3", "interleaved", "interleaved"),
        ("", "half", "half"),
    ],
)
def test_layouts_of_llama_cpp(model, stated, layout):
    found = read("llama.cpp", state(block(), model=model, layout=stated))
    assert found.layout == layout
    assert any("permutes" in note for note in found.notes) == (stated != layout)
    assert found.dtype == "float32"


def test_llama_cpp_needs_the_original_length_of_yarn():
    assert "original_max_position_embeddings is not set" in refuse("llama.cpp", state(block("yarn", {"factor": 4.0})))


def test_llama_cpp_reads_rope_parameters_first():
    newer = block("default", base=5e5, where="rope_parameters")
    found = read("llama.cpp", state(block("linear", {"factor": 2.0}, 1e6), newer))
    assert_allclose(found.frequencies, ladder(5e5), rtol=1e-13)


def test_meta_has_one_scaling_with_fixed_numbers():
    found = read("meta", state(block("llama3", {**LLAMA3, "factor": 32.0}, 5e5), length=131072))
    assert_allclose(found.frequencies, blend_llama3(8), rtol=1e-13)
    assert any("factor 32 is not read" in note for note in found.notes)
    assert found.layout == "interleaved"
    scout = {**LLAMA3, "factor": 16.0, "high_freq_factor": 1.0}
    found = read("meta", state(block("llama3", scout, 5e5), model="llama4_text", layout="interleaved"))
    theta = ladder(5e5)
    turns = 8192 * theta / (2 * math.pi)
    assert_allclose(found.frequencies, np.where(turns >= 1, theta, theta / 16), rtol=1e-13)
    assert found.notes == ()


def test_layers_that_are_not_turned():
    configuration = state(block(), turns=False, name="nope")
    for name in NAMES:
        found = read(name, configuration)
        assert found.rotary_dim == 0
        assert len(found.frequencies) == 0


def test_the_type_of_the_cache_follows_the_model():
    configuration = replace(EXAMPLES["default"], dtype="bfloat16")
    assert [read(name, configuration).dtype for name in NAMES] == [
        *("bfloat16", "bfloat16", "bfloat16", "float32", "bfloat16", "float32", None)
    ]


def test_a_gguf_file_is_llama_cpps():
    configuration = replace(state(block("yarn", YARN, where="")), format="gguf")
    for name in NAMES:
        if name == "llama.cpp":
            assert round(slow(read(name, configuration), 36), 2) == 2.17
        else:
            assert "GGUF" in refuse(name, configuration)


def tell(rows, scaling, stack):
    (row,) = [row for row in rows if (row.scaling, row.stack) == (scaling, stack)]
    return row


def test_conformance_of_one_file():
    rows = tabulate_conformance(EXAMPLES["yarn"])
    assert [row.stack for row in rows] == list(NAMES)
    own = tell(rows, "yarn", "transformers-5")
    assert (own.ratio, own.differing, own.max_phase_error, own.first_position_off) == ((1, 1), 0, 0, None)
    assert tell(rows, "yarn", "meta").refusal.endswith("default, llama3 are")
    paper = tell(rows, "yarn", "yarn-paper")
    found = read("transformers-5", EXAMPLES["yarn"]), read("yarn-paper", EXAMPLES["yarn"])
    ratio = found[1].frequencies / found[0].frequencies
    assert paper.ratio == (ratio.min(), ratio.max())
    assert paper.differing == np.count_nonzero(ratio != 1)
    off = np.abs(found[1].frequencies - found[0].frequencies)
    assert paper.max_phase_error == pytest.approx(32767 * off.max(), rel=1e-12)
    assert paper.first_position_off == math.ceil(math.pi / 8 / off.max())
    assert tell(rows, "yarn", "llama.cpp").layout == "interleaved"


def test_conformance_of_several_layer_types():
    full = LayerStatement(name="full_attention", head_dim=64, newer=block(base=1e6, where="rope_parameters"))
    sliding = replace(full, name="sliding_attention", newer=block(where="rope_parameters"), window=512)
    configuration = replace(state(), layers=(full, sliding, LayerStatement(name="nope", head_dim=64, turns=False)))
    rows = tabulate_conformance(configuration, 4096)
    assert [row.layer for row in rows] == [name for name in (full.name, sliding.name, "nope") for _ in NAMES]
    older = [row for row in rows if row.stack == "transformers-4"]
    assert older[0].differing == 31
    assert older[0].first_position_off is not None
    assert older[1].differing == older[2].differing == 0


def test_conformance_where_the_reference_refuses():
    rows = tabulate_conformance(state(block("nonsense")))
    assert rows[0].refusal is not None
    assert tell(rows, "nonsense", "llama.cpp").ratio is None
    assert tell(rows, "nonsense", "llama.cpp").attention_scaling == 1


def test_conformance_of_all_scalings():
    rows = tabulate_scalings()
    assert list(dict.fromkeys(row.scaling for row in rows)) == list(EXAMPLES)
    assert len(rows) == len(EXAMPLES) * len(NAMES)
    same = {
        *((kind, "vllm") for kind in ("default", "linear", "yarn", "llama3", "longrope")),
        *((kind, "llama.cpp") for kind in ("default", "linear", "yarn", "llama3", "longrope")),
        *((kind, "keras-hub") for kind in ("default", "linear", "llama3", "longrope")),
        *((kind, "transformers-4") for kind in EXAMPLES),
        *((kind, "yarn-paper") for kind in ("default", "linear")),
        ("default", "meta"),
    }
    others = [row for row in rows if row.stack != "transformers-5" and row.refusal is None]
    assert {(row.scaling, row.stack) for row in others if row.differing == 0} == same
    for row in others:
        assert (row.first_position_off is None) == (row.max_phase_error < math.pi / 8) or row.scaling == "dynamic"
    assert tell(rows, "dynamic", "keras-hub").first_position_off < 3
    assert tell(rows, "dynamic", "vllm").ratio[0] == pytest.approx(5 / 13, rel=1e-12)  # at l = 2 L: 2 s - (s - 1)


def test_conformance_of_all_scalings_for_one_file():
    configuration = state(block("yarn", YARN, 1e6), model="qwen2", head_dim=64)
    examples = build_examples(configuration, factor=2)
    assert [example.layers[0].older.kind for example in examples] == list(EXAMPLES)
    assert {example.model for example in examples} == {"qwen2"}
    assert {example.layers[0].older.base for example in examples} == {1e6}
    assert [example.length for example in examples] == [4096, 8192, 4096, 8192, 8192, 8192]
    rows = tabulate_scalings(configuration, factor=2, served=8192)
    assert {row.layout for row in rows if row.stack == "llama.cpp"} == {"half"}


_NUMBERS = (1e-300, 0.5, 1.0, 2.0, 8.0, 32.0, 1e6, 1e300)
_KINDS = (*EXAMPLES, "su", "mrope", "ntk", "proportional", "nonsense")
_KEYS = (
    *("factor", "beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim"),
    *("low_freq_factor", "high_freq_factor", "alpha"),
)


def draw_block(rng, where, width):
    values = {key: rng.choice(_NUMBERS) for key in _KEYS if rng.random() < 0.6}
    if rng.random() < 0.6:
        values["original_max_position_embeddings"] = rng.choice((1.0, 4096.0, 2.0**40))
    if rng.random() < 0.5:
        values["truncate"] = rng.random() < 0.5
    for key in ("short_factor", "long_factor"):
        if rng.random() < 0.7:
            values[key] = tuple(rng.choice(_NUMBERS) for _ in range(rng.choice((width // 2, 3))))
    return block(rng.choice(_KINDS), values, rng.choice((None, *_NUMBERS)), where)


def test_no_statement_is_too_odd():
    """Whatever a file may state, each stack answers with finite numbers or refuses in one line."""
    rng = random.Random(7)
    answers = 0
    for _ in range(400):
        width = rng.choice((1, 2, 4, 8, 64, 80))
        configuration = state(
            draw_block(rng, rng.choice(("", "rope_scaling")), width) if rng.random() < 0.7 else None,
            draw_block(rng, "rope_parameters", width) if rng.random() < 0.5 else None,
            length=rng.choice((None, 1, 4096, 1 << 40)),
            model=rng.choice(("", "llama", "deepseek_v3", "hunyuan_v1", "phi3", "llama4_text")),
            head_dim=width,
            share=rng.choice((1.0, 0.5, 0.4, 0.01)),
            layout=rng.choice(("half", "interleaved")),
        )
        for row in tabulate_conformance(configuration, rng.choice((None, 1, 4096, 1 << 40))):
            if row.refusal is not None:
                assert "\n" not in row.refusal
                continue
            answers += 1
            assert math.isfinite(row.attention_scaling)
            assert row.ratio is None or all(map(math.isfinite, row.ratio))
    assert answers > 300


@pytest.mark.parametrize(("base", "width", "original"), [(1e4, 64, 131072), (1e4, 128, 4096), (500.0, 32, 8192)])
def test_the_ramp_of_keras_hub_ends_at_the_last_pair(base, width, original):
    # where even the slowest pair turns within the original length, the published ramp would go on beyond it
    ends = [width * math.log(original / (2 * math.pi * beta)) / (2 * math.log(base)) for beta in (32, 1)]
    low, high = max(ends[0], 0), min(ends[1], width / 2 - 1)
    ladder = [base ** (-2 * i / width) for i in range(width // 2)]
    shares = [min(max((i - low) / (high - low), 0), 1) for i in range(width // 2)]
    expected = [theta * (1 - u) + theta / 4 * u for theta, u in zip(ladder, shares, strict=True)]
    found = scale_yarn_clipped(base, width, factor=4, original=original)
    assert_allclose([float(theta) for theta in found.frequencies], expected, rtol=1e-12)


@pytest.mark.parametrize("key", ["mscale", "mscale_all_dim"])
def test_a_mscale_of_0_is_one_that_is_not_set(key):
    keyed = read("transformers-5", state(block("yarn", {**YARN, key: 0.0})))
    plain = read("transformers-5", state(block("yarn", YARN)))
    assert (keyed.options, keyed.attention_scaling) == (plain.options, plain.attention_scaling)


def test_vllm_refuses_longrope_in_turns():
    configuration = state(block("longrope", LONG), head_dim=96, layout="interleaved")
    assert "longrope is computed for the layout half alone" in refuse("vllm", configuration)


@pytest.mark.parametrize("kind", ["dynamic", "longrope"])
def test_a_single_position_is_served_as_two_are(kind):
    configuration = state(block(kind, {**LONG, "factor": 8.0}), head_dim=96)
    one, two = (read("transformers-5", configuration, served) for served in (1, 2))
    assert_array_equal(one.frequencies, two.frequencies)
