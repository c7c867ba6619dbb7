"""What vLLM, keras_hub, llama.cpp and Meta's code make of a file."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.models.stacks import Refusal
from tests.making import make_ladder
from tests.models.configurations import scale_as
from tests.models.stack_configurations import (
    EXAMPLES,
    LLAMA3,
    LONG,
    NAMES,
    YARN,
    blend_llama3,
    block,
    read,
    refuse,
    slow,
    state,
)

SPRING = "vllm==0.19.1"


def test_dynamic_of_vllm_scales_from_the_length_that_was_trained_alone():
    assert_array_equal(read("vllm", EXAMPLES["dynamic"]).frequencies, read("vllm", EXAMPLES["default"]).frequencies)
    assert "without max_trained_positions dynamic scales nothing" in read("vllm", EXAMPLES["dynamic"]).notes
    trained = state(block("dynamic", {"factor": 4.0, "max_trained_positions": 2048.0}), length=8192)
    for served in (None, 4096, 16384):
        base = 1e4 * (4 * 8192 / 2048 - 3) ** (128 / 126)
        assert_allclose(read("vllm", trained, served).frequencies, make_ladder(base), rtol=1e-13)


def test_dynamic_of_vllm_was_one_base_for_every_length():
    lengths = (1000, 8192, 16384, 32768, 10**6)
    found = [read(SPRING, EXAMPLES["dynamic"], served).frequencies for served in lengths]
    for frequencies in found:
        assert_array_equal(frequencies, found[0])
    base = 1e4 * 13 ** (128 / 126)  # s^2 - s + 1 of 4
    assert_allclose(found[0], make_ladder(base), rtol=1e-13)
    assert_allclose(found[0], read("transformers-5", EXAMPLES["dynamic"], 4 * 8192).frequencies, rtol=1e-14)
    assert "s^2 - s + 1 = 13" in read(SPRING, EXAMPLES["dynamic"]).notes[0]


def test_dynamic_of_keras_hub_is_linear():
    found = read("keras-hub", EXAMPLES["dynamic"], 16384)
    assert_allclose(make_ladder() / found.frequencies, 4 ** (128 / 126), rtol=1e-13)


def test_dynamic_of_llama_cpp_is_nothing():
    found = read("llama.cpp", EXAMPLES["dynamic"], 16384)
    assert_allclose(found.frequencies, make_ladder(), rtol=1e-13)
    assert found.scaling == "none"
    assert any("dynamic is not converted" in note for note in found.notes)


def test_narrow_heads_have_no_exponent():
    for name in ("vllm", SPRING, "keras-hub"):
        assert "D = 2" in refuse(name, state(block("dynamic", {"factor": 4.0}), head_dim=2))


def test_the_ramp_of_keras_hub_ended_with_the_pairs():
    """transformers clips it at D - 1; from 10000 turns on the slowest pair of 16 channels was never all divided."""
    values = {"factor": 4.0, "original_max_position_embeddings": 1e6, "truncate": False}
    configuration = state(block("yarn", values, 100.0), head_dim=16, length=4 * 10**6)
    ends = 16 * np.log(1e6 / (2 * math.pi * np.array([32, 1]))) / (2 * math.log(100))
    assert ends[1] > 15
    for name, last in (("keras-hub==0.31.0", 7), ("keras-hub", 15)):
        ramp = np.clip((np.arange(8) - ends[0]) / max(last - ends[0], 0.001), 0, 1)
        theta = make_ladder(100, 16)
        expected = (1 - ramp) * theta + ramp * theta / 4
        assert_allclose(read(name, configuration).frequencies, expected, rtol=1e-12)
    asked = state(block("yarn", {**YARN, "truncate": True}))
    for name in ("keras-hub", "keras-hub==0.31.0"):
        assert round(slow(read(name, asked), 36), 2) == 2.17
        assert any("every position beyond 4096" in note for note in read(name, asked).notes) == ("==" in name)
    assert read("keras-hub", state(block("yarn", {"factor": 8.0}))).options["original"] == 4096


def test_what_keras_hub_needs_besides():
    newer = block("linear", {"factor": 2.0}, where="rope_parameters")
    found = read("keras-hub", state(newer=newer, layout="interleaved"))
    assert found.layout == "half"
    assert any("permuted" in note for note in found.notes)
    assert any("no scaling" in note for note in found.notes)
    for model, words in (("llama", "refuses linear"), ("qwen2", "reads no scaling"), ("bloomz", "was not run")):
        found = read("keras-hub", state(block("linear", {"factor": 2.0}), model=model))
        assert any(words in note for note in found.notes)
    assert read("keras-hub", state(block("llama3", LLAMA3))).notes == ()


def test_deepseek_in_vllm_has_defaults_of_its_own():
    """mscale 1 and mscale_all_dim 0, where transformers needs both: one alone has an effect."""
    alone = {"factor": 40.0, "original_max_position_embeddings": 4096.0, "mscale": 0.707}
    found = state(block("yarn", alone), length=163840, model="deepseek_v2", head_dim=64)
    assert read("transformers-5", found).attention_scaling == pytest.approx(0.1 * math.log(40) + 1, rel=1e-14)
    assert read("vllm", found).attention_scaling == pytest.approx(0.0707 * math.log(40) + 1, rel=1e-14)


def test_alpha_enlarges_the_base():
    values = {"factor": 1.0, "alpha": 1000.0}
    configuration = state(block("dynamic", values), model="hunyuan_v1_dense")
    base = 1e4 * 1000 ** (128 / 126)
    for name in ("transformers-5", "vllm", "llama.cpp"):
        assert_allclose(read(name, configuration, 100000).frequencies, make_ladder(base), rtol=1e-12)


def test_ntk_of_vllm():
    found = read("vllm", state(block("ntk", {"factor": 4.0})))
    expected = make_ladder() / 4 ** ((np.arange(0, 128, 2) + 2) / 128)
    assert_allclose(found.frequencies, expected, rtol=1e-13)
    for name in ("transformers-5", "transformers-4", "keras-hub", "meta", "yarn-paper"):
        assert "ntk" in refuse(name, state(block("ntk", {"factor": 4.0})))
    found = read("llama.cpp", state(block("ntk", {"factor": 4.0})))
    assert_allclose(found.frequencies, make_ladder(), rtol=1e-13)
    assert any("ntk is not known" in note for note in found.notes)


def test_mixed_ntk_divides_fast_pairs_less():
    """vLLM alone reads mixed_b, a power of the share of the pairs; a library without an argument for it refuses."""
    mixed = state(block("ntk", {"factor": 4.0, "mixed_b": 0.625}))
    expected = make_ladder() / 4 ** (((np.arange(64) + 1) / 64) ** 0.625)
    for name in ("vllm", SPRING):
        assert_allclose(read(name, mixed).frequencies, expected, rtol=1e-13)
    assert "mixed_b cannot be used (0.625)" in refuse("x-transformers", mixed)


def test_a_ramp_that_runs_backwards():
    """transformers and vLLM divide by the negative width; ggml and keras-hub by at least 0.001, which is a step."""
    configuration = state(block("yarn", {**YARN, "beta_fast": 1.0, "beta_slow": 32.0}))
    low, high = 46, 20  # floor and ceiling of 64 ln(4096/(2 pi beta))/ln 10000
    pairs = np.arange(64)
    ramp = np.clip((pairs - (low - 1)) / ((high + 1) - (low - 1)), 0, 1)
    backwards = make_ladder() * (1 - ramp) + make_ladder() / 8 * ramp
    for name in ("transformers-5", "transformers-4", "vllm"):
        found = read(name, configuration)
        assert_allclose(found.frequencies, backwards, rtol=1e-13)
    step = np.where(pairs <= low - 1, make_ladder(), make_ladder() / 8)
    found = read("llama.cpp", replace(configuration, model="ministral3"))  # for others betas are not read
    assert_allclose(found.frequencies, step, rtol=1e-13)
    assert_array_equal(read("llama.cpp", configuration).frequencies, read("llama.cpp", EXAMPLES["yarn"]).frequencies)
    assert any("32 and 1 are taken" in note for note in read("llama.cpp", configuration).notes)
    assert "beta_fast is below beta_slow: there is no ramp, but a step at 1 turns" in found.notes
    turns = 4096 * make_ladder() / (2 * math.pi)
    assert_allclose(
        read("yarn-paper", configuration).frequencies, np.where(turns < 32, make_ladder() / 8, make_ladder())
    )


def test_llama3_with_its_ends_in_the_wrong_order():
    """transformers divides below low first; vLLM and the converter of llama.cpp keep above high first."""
    configuration = state(block("llama3", {**LLAMA3, "low_freq_factor": 4.0, "high_freq_factor": 1.0}, 5e5))
    plain = make_ladder(5e5)
    turns = 8192 * plain / (2 * math.pi)
    for name in ("transformers-5", "transformers-4", "keras-hub"):
        assert_allclose(read(name, configuration).frequencies, np.where(turns < 4, plain / 8, plain), rtol=1e-13)
    for name in ("vllm", "llama.cpp"):
        found = read(name, configuration)
        assert_allclose(found.frequencies, np.where(turns > 1, plain, plain / 8), rtol=1e-13)
        assert any("there is no ramp" in note for note in found.notes)


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


def test_what_llama_cpp_reads_depends_on_the_model():
    """The base of stablelm, the scalings of qwen2 and nemotron, the list of minicpm, the alpha of hunyuan."""
    stablelm = read("llama.cpp", state(block(base=5e5), model="stablelm"))
    assert_allclose(stablelm.frequencies, make_ladder(), rtol=1e-13)
    assert any("rope_theta is not read for stablelm" in note for note in stablelm.notes)
    assert read("llama.cpp", state(block(), model="qwen2", share=0.5)).rotary_dim == 128
    for kind, values in (("llama3", LLAMA3), ("longrope", LONG)):
        found = read("llama.cpp", state(block(kind, values), model="qwen2", head_dim=96))
        assert (found.scaling, found.attention_scaling) == ("none", 1.0)
        assert f"{kind} is not written for qwen2: the frequencies stay as they are" in found.notes
    found = read("llama.cpp", state(block("yarn", YARN), model="nemotron"))
    assert_allclose(found.frequencies, make_ladder() / 8, rtol=1e-13)
    found = read("llama.cpp", state(block("longrope", LONG), model="minicpm", head_dim=96, length=131072))
    assert_allclose(found.frequencies, make_ladder(1e4, 96), rtol=1e-13)  # the short list, which is ones
    assert found.attention_scaling == 1
    found = read("llama.cpp", state(block("dynamic", {"factor": 1.0}), model="hunyuan_v1_dense"))
    assert_allclose(found.frequencies, make_ladder(1e4 * 50 ** (128 / 126)), rtol=1e-12)
    assert "alpha is not set, so 50 is taken; factor is not read" in found.notes


def test_what_llama_cpp_refuses_depends_on_the_model():
    assert "is refused for smollm3" in refuse("llama.cpp", state(block("llama3", LLAMA3), model="smollm3"))
    linear = block("linear", {"factor": 2.0})
    assert "original_max_position_embeddings is not set" in refuse("llama.cpp", state(linear, model="phi3"))
    assert read("llama.cpp", state(newer=replace(linear, where="rope_parameters"), model="phi3")).scaling == "none"
    dynamic = block("dynamic", {"factor": 1.0}, 5e5)
    assert "10000 with 32768 or 10000 with 262144" in refuse("llama.cpp", state(dynamic, model="hunyuan_v1_dense"))


def test_llama_cpp_needs_the_original_length_of_yarn():
    assert "original_max_position_embeddings is not set" in refuse("llama.cpp", state(block("yarn", {"factor": 4.0})))


def test_llama_cpp_reads_rope_parameters_first():
    newer = block("default", base=5e5, where="rope_parameters")
    found = read("llama.cpp", state(block("linear", {"factor": 2.0}, 1e6), newer))
    assert_allclose(found.frequencies, make_ladder(5e5), rtol=1e-13)


def test_meta_has_one_scaling_with_fixed_numbers():
    found = read("meta", state(block("llama3", {**LLAMA3, "factor": 32.0}, 5e5), length=131072))
    assert_allclose(found.frequencies, blend_llama3(8), rtol=1e-13)
    assert any("factor 32 is not read" in note for note in found.notes)
    assert found.layout == "interleaved"
    scout = {**LLAMA3, "factor": 16.0, "high_freq_factor": 1.0}
    found = read("meta", state(block("llama3", scout, 5e5), model="llama4_text", layout="interleaved"))
    theta = make_ladder(5e5)
    turns = 8192 * theta / (2 * math.pi)
    assert_allclose(found.frequencies, np.where(turns >= 1, theta, theta / 16), rtol=1e-13)
    assert found.notes == ()


def test_a_gguf_file_is_llama_cpps():
    configuration = replace(state(block("yarn", YARN, where="")), format="gguf")
    for name in NAMES:
        if name == "llama.cpp":
            assert round(slow(read(name, configuration), 36), 2) == 2.17
        else:
            assert "GGUF" in refuse(name, configuration)


@pytest.mark.parametrize(("base", "width", "original"), [(1e4, 64, 131072), (1e4, 128, 4096), (500.0, 32, 8192)])
def test_the_ramp_of_keras_hub_ends_at_the_last_pair(base, width, original):
    # where even the slowest pair turns within the original length, the published ramp would go on beyond it
    ends = [width * math.log(original / (2 * math.pi * beta)) / (2 * math.log(base)) for beta in (32, 1)]
    low, high = max(ends[0], 0), min(ends[1], width / 2 - 1)
    make_ladder = [base ** (-2 * i / width) for i in range(width // 2)]
    shares = [min(max((i - low) / (high - low), 0), 1) for i in range(width // 2)]
    expected = [theta * (1 - u) + theta / 4 * u for theta, u in zip(make_ladder, shares, strict=True)]
    values = {"factor": 4.0, "original_max_position_embeddings": float(original)}
    found = read("keras-hub==0.31.0", state(block("yarn", values, base), head_dim=width))
    assert_allclose(found.frequencies, expected, rtol=1e-12)


@pytest.mark.parametrize("key", ["mscale", "mscale_all_dim"])
def test_a_mscale_of_0_is_one_that_is_not_set(key):
    keyed = read("transformers-5", state(block("yarn", {**YARN, key: 0.0})))
    plain = read("transformers-5", state(block("yarn", YARN)))
    assert (keyed.options, keyed.attention_scaling) == (plain.options, plain.attention_scaling)


def test_vllm_refuses_longrope_in_turns():
    configuration = state(block("longrope", LONG), head_dim=96, layout="interleaved")
    assert "longrope is computed for the layout half alone" in refuse("vllm", configuration)


LONGROPE = {"rope_type": "longrope", "short_factor": [1.0] * 64, "long_factor": [2.0] * 64, "factor": 32.0}


# ---------------------------------------------------------------------------------- what implementations make of a file


def test_vllm_has_longrope_in_one_layout():
    found = scale_as(
        "vllm",
        model_type="gptj",
        rotary_dim=128,
        n_positions=131072,
        rope_theta=1e4,
        rope_scaling={**LONGROPE, "original_max_position_embeddings": 4096},
    )
    assert isinstance(found, Refusal)
    assert "longrope is computed for the layout half alone (interleaved)" in found.reason


def test_one_of_deepseeks_two_factors_is_the_attention_factor_of_vllm():
    yarn = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096}
    keys = {"model_type": "deepseek_v3", "qk_rope_head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 32768}
    factors = {
        words: scale_as("vllm", **keys, rope_scaling={**yarn, **dict(words)}).attention_scaling
        for words in ((), (("mscale", 0.7),), (("mscale", 0.7), ("mscale_all_dim", 0.7)))
    }
    log = math.log(8)
    assert list(factors.values()) == pytest.approx([0.1 * log + 1, 0.07 * log + 1, 1.0], rel=1e-12)


@pytest.mark.parametrize(
    ("model", "factor"), [("ministral3", 1.0), ("llama", 0.1 * math.log(8) + 1), ("deepseek_v3", 1.0)]
)
def test_llama_cpp_takes_mscale_by_the_model(model, factor):
    yarn = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096}
    keys = {"model_type": model, "rope_theta": 1e4, "max_position_embeddings": 32768}
    keys |= {"qk_rope_head_dim": 64} if model == "deepseek_v3" else {}
    found = scale_as("llama.cpp", **keys, rope_scaling={**yarn, "mscale": 1.0, "mscale_all_dim": 1.0})
    assert found.attention_scaling == pytest.approx(factor, rel=1e-12)
    assert ("mscale and mscale_all_dim are not read for this model" in found.notes) == (model == "llama")
