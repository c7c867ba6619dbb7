"""What two releases of transformers make of a file: its numbers, what it ignores and what it refuses."""

import math
from dataclasses import replace

import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import find_known
from pe_spectra.models.stated.meta_release import read_params
from tests.making import make_ladder
from tests.models.stack_configurations import (
    EXAMPLES,
    LLAMA3,
    LONG,
    YARN,
    blend_llama3,
    block,
    read,
    refuse,
    slow,
    state,
)


@pytest.mark.parametrize("factor", [8.0, 32.0])
def test_llama_3_1_of_both_generations(factor):
    values = {**LLAMA3, "factor": factor}
    older = state(block("llama3", values, 5e5), length=131072)
    newer = state(newer=block("llama3", values, 5e5, "rope_parameters"), length=131072)
    for found in (read("transformers-5", newer), *(read(name, older) for name in ("transformers-5", "transformers-4"))):
        assert_allclose(found.frequencies, blend_llama3(factor), rtol=1e-13)
        assert found.notes == ()
    silent = read("transformers-4", newer)
    assert_allclose(silent.frequencies, make_ladder(), rtol=1e-13)
    assert silent.base == 10000
    assert silent.scaling == "none"
    assert any("rope_parameters is not read" in note for note in silent.notes)
    assert any("10000" in note for note in silent.notes)


def test_rope_scaling_takes_the_place_of_rope_parameters():
    """Tried with LlamaConfig.from_dict of 5.24.0: rope_scaling wins, and the other base is lost."""
    newer = block("default", base=5e5, where="rope_parameters")
    found = read("transformers-5", state(block("linear", {"factor": 2.0}, None), newer))
    assert_allclose(found.frequencies, make_ladder() / 2, rtol=1e-13)
    assert any("takes the place" in note for note in found.notes)
    found = read("transformers-5", state(block("linear", {"factor": 2.0}, 1e6), newer))
    assert_allclose(found.frequencies, make_ladder(1e6) / 2, rtol=1e-13)


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
    for name in ("transformers-5", "transformers-4"):
        assert_allclose(read(name, configuration).frequencies, make_ladder(), rtol=1e-13)
        assert_allclose(read(name, configuration, 4000).frequencies, make_ladder(), rtol=1e-13)
        base = 1e4 * (4 * 16384 / 8192 - 3) ** (128 / 126)
        assert_allclose(read(name, configuration, 16384).frequencies, make_ladder(base), rtol=1e-13)


def test_dynamic_of_transformers_counts_from_the_longest_position():
    values = {"factor": 4.0, "original_max_position_embeddings": 2048.0}
    found = read("transformers-5", state(block("dynamic", values), length=8192), 16384)
    assert found.options["original"] == 8192
    assert any("2048 is not read" in note for note in found.notes)


def test_pair_36_of_yarn():
    """D=128, b=1e4, L=4096, s=8: 2.17x slower in code, 2.21x without truncation, 5.0x in the paper."""
    plain = EXAMPLES["yarn"]
    whole = state(block("yarn", {**YARN, "truncate": False}))
    for name in ("transformers-5", "vllm", "llama.cpp"):
        assert round(slow(read(name, plain), 36), 2) == 2.17
    for name in ("transformers-5", "vllm"):
        assert round(slow(read(name, whole), 36), 2) == 2.21
    assert round(slow(read("keras-hub", plain), 36), 2) == 2.17
    assert round(slow(read("keras-hub==0.31.0", plain), 36), 2) == 2.21  # off unless asked for
    assert round(slow(read("yarn-paper", plain), 36), 1) == 5.0
    found = read("llama.cpp", whole)
    assert round(slow(found, 36), 2) == 2.17
    assert any("truncate" in note for note in found.notes)
    assert read("yarn-paper", plain).attention_scaling == pytest.approx(0.1 * math.log(8) + 1, rel=1e-15)


def test_truncate_within_a_layer_type_is_not_read():
    inside = block("yarn", {**YARN, "truncate": False}, where="rope_parameters.full_attention")
    found = read("transformers-5", state(newer=inside, name="full_attention"))
    assert round(slow(found, 36), 2) == 2.17
    assert any("truncate is not read" in note for note in found.notes)
    assert round(slow(read("vllm", state(newer=inside, name="full_attention")), 36), 2) == 2.21


@pytest.mark.parametrize(
    ("model", "part", "pair"),
    [
        ("gemma3_text", None, 0.030530019),
        ("gemma3", "text_config", 0.030530019),
        ("gemma3n_text", None, 0.030530019),
        ("modernbert", None, 0.072710775),
        ("olmo3", None, 0.043394208),
    ],
)
def test_truncate_is_not_read_of_a_flat_block_that_a_class_takes_apart(model, part, pair):
    """What the modules of 5.24.0 have a fourth of the way, with truncate as without."""
    rope = {"rope_type": "yarn", "factor": 10.0, "original_max_position_embeddings": 4096, "beta_slow": 2.0}
    for given in (rope, rope | {"truncate": False}):
        keys = {"rope_scaling": given}
        stated = read_configuration({"model_type": model} | ({part: keys} if part else keys), "config.json")
        layer = next(one for one in stated.layers if one.name == "full_attention")
        found = STACKS["transformers-5"].read(stated, layer, 2)
        assert_allclose(found.frequencies[(len(found.frequencies) - 1) // 4], pair, rtol=3e-6)
        assert any("truncate is not read" in note for note in found.notes) == ("truncate" in given)


def test_the_factor_of_yarn_is_derived():
    """From null alone: both releases raise a KeyError without the key, transformers 4 a TypeError for null."""
    absent = block("yarn", {"original_max_position_embeddings": 4096.0})
    null = replace(absent, nulls=frozenset({"factor"}))
    found = read("transformers-5", state(null))
    assert found.options["factor"] == 8
    assert any("factor is null" in note for note in found.notes)
    assert read("transformers-5", state(null, length=2048)).options["factor"] == 0.5
    assert "factor is not set" in refuse("transformers-5", state(null, length=None))
    assert "is out of range" in read("transformers-5", state(null, length=2)).fault
    for name in ("transformers-5", "transformers-4"):
        assert "factor is not set" in refuse(name, state(absent))
    assert "factor is not set" in refuse("transformers-4", state(null))


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
    assert read("vllm", given).attention_scaling == 1.5
    for name in ("vllm==0.19.1", "llama.cpp", "keras-hub", "yarn-paper"):
        found = read(name, given)
        assert found.attention_scaling == pytest.approx(0.1 * math.log(8) + 1, rel=1e-15)
        assert any("attention_factor" in note for note in found.notes)


def test_both_releases_read_the_same_yarn():
    keyed = {**YARN, "mscale": 0.707, "mscale_all_dim": 1.0, "truncate": False}
    for values in (YARN, keyed):
        last, newest = (read(name, state(block("yarn", values))) for name in ("transformers-4", "transformers-5"))
        assert_array_equal(last.frequencies, newest.frequencies)
        assert last.attention_scaling == newest.attention_scaling


def test_longrope_is_short_up_to_the_original_length():
    configuration = replace(EXAMPLES["longrope"], model="phi3")
    theta = make_ladder(width=96)
    for name in ("transformers-5", "transformers-4", "vllm", "llama.cpp", "keras-hub"):
        assert_allclose(read(name, configuration, 4096).frequencies, theta, rtol=1e-13)
        for served in (4097, 131072, None):
            found = read(name, configuration, served)
            assert_allclose(found.frequencies, theta / LONG["long_factor"], rtol=1e-13)
            expected = math.sqrt(1 + math.log(32) / math.log(4096))
            assert found.attention_scaling == pytest.approx(expected, rel=1e-14)


def test_longrope_of_another_model_changes_too():
    found = read("transformers-4", EXAMPLES["longrope"], 131072)
    assert_allclose(found.frequencies, make_ladder(width=96) / LONG["long_factor"], rtol=1e-13)
    values = {key: value for key, value in LONG.items() if not key.startswith("original")}
    configuration = state(block("longrope", values), head_dim=96)
    assert "factor is not set" in refuse("transformers-4", configuration)
    stated = state(block("longrope", {**values, "factor": 4.0}), head_dim=96)
    expected = math.sqrt(1 + math.log(4) / math.log(32768))
    for name in ("transformers-5", "transformers-4"):
        assert read(name, stated).attention_scaling == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", ["transformers-5", "transformers-4"])
def test_a_list_of_one_number_serves_every_pair(name):
    """As modules of 5.24.0 and 4.57.6 were measured to have it, each list by itself."""
    lists = {"short_factor": (3.0,), "long_factor": (2.0,), "factor": 4.0, "original_max_position_embeddings": 4096.0}
    configuration = replace(state(block("longrope", lists), head_dim=96), model="phi3")
    for served, factor in ((4096, 3), (4097, 2)):
        found = read(name, configuration, served)
        assert_allclose(found.frequencies, make_ladder(width=96) / factor, rtol=1e-13)
        assert "short_factor has one number, which serves all 48 pairs" in found.notes


def test_a_share_of_the_newer_form_is_not_read():
    configuration = state(newer=block(base=5e5, where="rope_parameters"), head_dim=80, share=0.4, model="llama")
    assert read("transformers-5", configuration).rotary_dim == 32
    keys = {"model_type": "glm", "rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.25}}
    stated = read_configuration(keys, "config.json")
    for name, width in (("transformers-5", 32), ("transformers-4", 64)):
        assert STACKS[name].read(stated, stated.layers[0], None).rotary_dim == width
    beside = state(block(base=5e5, where=""), head_dim=80, share=0.4, model="llama")
    assert read("transformers-4", beside).rotary_dim == 32


def test_a_share_that_a_class_ignores():
    """transformers 5: LlamaRotaryEmbedding's own ladder has no share, its scalings have."""
    for kind, values, width in (("default", {}, 80), ("linear", {"factor": 2.0}, 32)):
        configuration = state(block(kind, values), head_dim=80, share=0.4, share_ignored=True)
        assert read("transformers-5", configuration).rotary_dim == width
        assert read("transformers-5", configuration).rope.rotary_width == width
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
    assert STACKS["transformers-5"].read(configuration, configuration.layers[0], None).cause == "older-name"
    expected = read("transformers-5", EXAMPLES["longrope"]).frequencies
    inside = replace(block("su", LONG), original_beside=False, original_inside=4096.0)
    found = read("transformers-5", state(inside, length=131072, model="phi3", head_dim=96))
    assert_array_equal(found.frequencies, expected)
    other = replace(configuration, model="phi3_v")  # code of its own
    assert_array_equal(read("transformers-5", other).frequencies, expected)
    for name in ("transformers-4", "vllm", "llama.cpp", "keras-hub"):
        assert_array_equal(read(name, configuration).frequencies, expected)


@pytest.mark.parametrize("kind", ["linear", "dynamic", "yarn", "llama3"])
def test_phi_3_has_longrope_alone(kind):
    """Its class in transformers 5.24.0 takes yarn for longrope (KeyError) and raises a ValueError for others; 4 too."""
    layer = replace(EXAMPLES[kind].layers[0], refused=find_known("phi3").refused)
    configuration = replace(EXAMPLES[kind], model="phi3", layers=(layer,))
    for name in ("transformers-5", "transformers-4"):
        assert f"rope_type is one of other classes in {STACKS[name].title} ({kind}); default" in refuse(
            name, configuration
        )


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
        assert_allclose(found.frequencies[:64], make_ladder(1e6, 512)[:64], rtol=1e-13)
        assert not found.frequencies[64:].any()
    assert "proportional" in refuse("transformers-4", state(block("proportional")))


def test_proportional_takes_an_odd_width():
    """Half of it rounded down; in vLLM rope_angles = rotary_dim // 2 (gemma4_rope.py, commit 41c5903d)."""
    configuration = state(newer=block("proportional", {}, 1e6, "rope_parameters"), head_dim=80, share=0.4125)
    for name in ("transformers-5", "llama.cpp", "vllm"):
        assert sum(read(name, configuration).frequencies > 0) == 16


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


def test_llama3_without_its_original_length():
    """standardize_rope_params puts max_position_embeddings in its place; llama.cpp has 8192."""
    values = {key: value for key, value in LLAMA3.items() if not key.startswith("original")}
    configuration = state(block("llama3", values, 5e5), length=131072)
    found = read("transformers-5", configuration)
    assert found.options["original"] == 131072
    assert any("8192" in note for note in found.notes)
    assert_allclose(read("llama.cpp", configuration).frequencies, blend_llama3(8), rtol=1e-13)
    assert "original_max_position_embeddings is not set" in refuse("transformers-4", configuration)


def test_where_no_length_before_scaling_is_stated_it_is_said_which_is_taken():
    values = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    for given in ({}, {"original_max_position_embeddings": 8192}):
        found = read("transformers-5", state(block("llama3", values | given, 5e5), length=131072))
        taken = [note for note in found.notes if "so max_position_embeddings is taken" in note]
        assert bool(taken) == (not given)
        assert all("taken, 131072; it was 8192 in training" in note for note in taken)
