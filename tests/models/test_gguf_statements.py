"""What the keys of a GGUF file state: the rotation that they give."""

import math

import numpy as np
import pytest

from pe_spectra.encodings.rope_scaling import scale_llama3, scale_yarn
from pe_spectra.errors import FileError
from pe_spectra.files import gguf_file
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stacks import STACKS, Refusal
from pe_spectra.models.stacks.llama_cpp import turn_gguf_layer
from pe_spectra.models.stated import architectures
from pe_spectra.models.stated.converted_models import load_readings
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from tests.files.gguf import complain, compute_llama3_divisors, gguf, make_gguf, make_llama, read, read_gguf_rotation

# ----------------------------------------------------------------------------------- statements


def test_llama_turns_neighbours_and_others_halves():
    assert read(make_llama()).layers[0].layout == "interleaved"
    keys = {"general.architecture": "qwen2", "qwen2.embedding_length": 896, "qwen2.attention.head_count": 14}
    found = read(keys)
    assert (found.layers[0].layout, found.layers[0].head_dim, found.layers[0].older.base) == ("half", 64, None)
    assert (found.format, found.model, found.scheme, found.length) == ("gguf", "qwen2", "rotary", None)


def test_lists_of_architectures_do_not_overlap():
    kinds = [getattr(architectures, name) for name in ("INTERLEAVED", "HALF", "ALIBI", "LEARNED", "T5", "NONE")]
    assert sum(map(len, kinds)) == len(frozenset().union(*kinds))
    written = set(gguf.constants.MODEL_ARCH_NAMES.values()) - {"clip", "gptj"}
    measured = {one["architecture"] for one in load_readings().values()}
    assert written <= measured.union(*kinds)
    assert not measured & (architectures.INTERLEAVED | architectures.HALF)
    for part in (architectures.LOCAL_10000, architectures.LOCAL_UNSCALED, architectures.UNTURNED_FULL):
        assert all(map(architectures.find_windows, part))
    assert set(architectures.WINDOWS) <= {name for name in written if architectures.find_windows(name)}


@pytest.mark.parametrize(("factor", "high"), [(8.0, 4.0), (32.0, 4.0), (16.0, 1.0)])
def test_knows_llama3_in_the_tensor(factor, high):
    divisors = tuple(map(float, compute_llama3_divisors(factor, high=high)))
    found = read(make_llama(), {"rope_freqs.weight": divisors})
    block = found.layers[0].older
    assert block.kind == "llama3"
    assert block.values["factor"] == factor
    assert block.values["original_max_position_embeddings"] == 8192
    assert block.values["divisors"] == divisors
    assert [(one.level, one.code) for one in found.findings] == [("note", "scaling-in-tensor")]
    (rotation,) = read_gguf_rotation(make_llama(), {"rope_freqs.weight": divisors}, "m.gguf")
    expected = scale_llama3(500000.0, 128, factor=factor, original=8192, high_freq_factor=high).frequencies
    assert np.allclose(rotation.frequencies, [float(theta) for theta in expected], rtol=2e-6, atol=0)
    assert (rotation.scaling, rotation.layout, rotation.rotary_dim) == ("llama3", "interleaved", 128)
    assert rotation.error_bound == 2e-6


def test_divides_by_the_tensor_exactly():
    """Each frequency is base**(-2i/D) over the number in the file."""
    divisors = tuple(1.0 + i / 8 for i in range(64))
    found = read(make_llama(), {"rope_freqs.weight": divisors})
    assert found.layers[0].older.kind == "longrope"
    assert found.layers[0].older.values["short_factor"] == divisors
    assert "no known scaling" in found.findings[0].message
    rotation = turn_gguf_layer(found, found.layers[0])
    expected = [500000.0 ** (-2 * i / 128) / divisors[i] for i in range(64)]
    assert np.allclose(rotation.frequencies, expected, rtol=1e-14, atol=0)
    assert rotation.attention_scaling == 1.0
    assert not rotation.frequencies.flags.writeable


def test_a_tensor_of_ones_is_no_scaling():
    found = read(make_llama(), {"rope_freqs.weight": (1.0,) * 64})
    assert (found.layers[0].older.kind, found.findings) == ("default", ())


def test_huge_divisors_keep_pairs_from_turning():
    """Gemma 4 turns a quarter of the pairs where it attends everywhere."""
    keys = {
        "general.architecture": "gemma4",
        "gemma4.embedding_length": 2560,
        "gemma4.attention.head_count": 8,
        "gemma4.attention.key_length": 512,
        "gemma4.attention.key_length_swa": 256,
        "gemma4.rope.dimension_count": 512,
        "gemma4.rope.dimension_count_swa": 256,
        "gemma4.rope.freq_base": 1e6,
        "gemma4.rope.freq_base_swa": 1e4,
        "gemma4.attention.sliding_window": 512,
    }
    divisors = (1.0,) * 64 + (1e30,) * 192
    full, sliding = read(keys, {"rope_freqs.weight": divisors}).layers
    assert (full.name, full.older.kind, full.share, full.window) == ("full_attention", "proportional", 0.25, None)
    assert (sliding.name, sliding.older.kind, sliding.head_dim, sliding.share) == (
        "sliding_attention",
        "default",
        256,
        1,
    )
    assert (sliding.older.base, sliding.window) == (1e4, 512)
    first, second = read_gguf_rotation(keys, {"rope_freqs.weight": divisors}, "m.gguf")
    assert np.allclose(first.frequencies[:64], 1e6 ** (-np.arange(64) / 256), rtol=1e-14)
    assert not first.frequencies[64:].any()
    assert len(second.frequencies) == 128


def test_gemma_3_slides_with_base_10000_and_unscaled():
    keys = {
        "general.architecture": "gemma3",
        "gemma3.embedding_length": 2560,
        "gemma3.attention.head_count": 8,
        "gemma3.attention.key_length": 256,
        "gemma3.attention.sliding_window": 1024,
        "gemma3.rope.freq_base": 1e6,
        "gemma3.rope.scaling.type": "linear",
        "gemma3.rope.scaling.factor": 8.0,
    }
    full, sliding = read_gguf_rotation(keys, {}, "m.gguf")
    assert (full.scaling, full.base, full.frequencies[0], full.options) == ("linear", 1e6, 0.125, {"factor": 8.0})
    assert (sliding.scaling, sliding.base, sliding.frequencies[0]) == ("none", 1e4, 1.0)
    assert len(read({**keys, "gemma3.attention.sliding_window": 0}).layers) == 1


def test_olmo_3_slides_unscaled_with_the_base_of_the_others():
    keys = {
        "general.architecture": "olmo2",
        "olmo2.embedding_length": 4096,
        "olmo2.attention.head_count": 32,
        "olmo2.context_length": 65536,
        "olmo2.attention.sliding_window": 4096,
        "olmo2.rope.freq_base": 500000.0,
        "olmo2.rope.scaling.type": "yarn",
        "olmo2.rope.scaling.factor": 8.0,
        "olmo2.rope.scaling.original_context_length": 8192,
    }
    full, sliding = read_gguf_rotation(keys, {}, "m.gguf")
    assert (full.scaling, sliding.scaling, sliding.base, sliding.attention_scaling) == ("yarn", "none", 500000.0, 1.0)
    expected = [float(theta) for theta in scale_yarn(500000.0, 128, factor=8, original=8192).frequencies]
    assert np.array_equal(full.frequencies, expected)
    assert full.attention_scaling == pytest.approx(0.1 * math.log(8) + 1, rel=1e-15)


def test_layers_that_are_not_turned():
    keys = {"general.architecture": "cohere2", "cohere2.embedding_length": 4096, "cohere2.attention.head_count": 32}
    keys |= {"cohere2.attention.sliding_window": 4096, "cohere2.rope.freq_base": 50000.0}
    still, sliding = read(keys).layers
    assert (still.name, still.turns, still.older) == ("nope", False, None)
    assert (sliding.name, sliding.turns, sliding.window, sliding.older.base) == ("sliding_attention", True, 4096, 5e4)
    assert [len(one.frequencies) for one in read_gguf_rotation(keys, {}, "m.gguf")] == [0, 64]
    keys = {"general.architecture": "smollm3", "smollm3.embedding_length": 2048, "smollm3.attention.head_count": 16}
    assert [layer.turns for layer in read(keys).layers] == [True, False]


def test_some_windows_are_no_key():
    keys = {"general.architecture": "gemma2", "gemma2.embedding_length": 2304, "gemma2.attention.head_count": 8}
    assert [layer.window for layer in read({**keys, "gemma2.attention.key_length": 256}).layers] == [None, 4096]
    keys = {"general.architecture": "llama4", "llama4.embedding_length": 5120, "llama4.attention.head_count": 40}
    assert [(one.name, one.window) for one in read(keys).layers] == [("nope", None), ("chunked_attention", 8192)]
    assert [one.name for one in read({**keys, "llama4.attention.sliding_window": 0}).layers] == ["all"]


@pytest.mark.parametrize("name", ["modern-bert", "gemma-embedding"])
def test_a_symmetric_window_is_half_on_either_side(name):
    keys = {
        f"{name}.embedding_length": 768,
        f"{name}.attention.head_count": 12,
        f"{name}.attention.sliding_window": 128,
    }
    layers = read({"general.architecture": name, **keys}).layers
    assert [(one.window, one.sides) for one in layers] == [(None, None), (65, (64, 64))]


def test_a_window_that_llama_cpp_does_not_use_is_none():
    assert read(make_llama(**{"llama.attention.sliding_window": 4096})).layers[0].window is None


def test_latent_attention_turns_a_part_of_its_own():
    keys = {
        "general.architecture": "deepseek2",
        "deepseek2.embedding_length": 2048,
        "deepseek2.attention.head_count": 16,
        "deepseek2.attention.key_length": 192,
        "deepseek2.attention.kv_lora_rank": 512,
        "deepseek2.context_length": 163840,
        "deepseek2.rope.dimension_count": 64,
        "deepseek2.rope.scaling.type": "yarn",
        "deepseek2.rope.scaling.factor": 40.0,
        "deepseek2.rope.scaling.original_context_length": 4096,
        "deepseek2.rope.scaling.yarn_log_multiplier": 0.0707,
    }
    layer = read(keys).layers[0]
    assert (layer.head_dim, layer.share, layer.layout) == (64, 1.0, "interleaved")
    assert (layer.older.values["mscale"], layer.older.values["mscale_all_dim"]) == (0.707, 0.707)
    (rotation,) = read_gguf_rotation(keys, {}, "m.gguf")
    assert rotation.attention_scaling == 1.0


def test_longrope_takes_its_list_by_the_context():
    keys = {
        "general.architecture": "phi3",
        "phi3.embedding_length": 32,
        "phi3.attention.head_count": 4,
        "phi3.context_length": 131072,
        "phi3.rope.dimension_count": 8,
        "phi3.rope.scaling.original_context_length": 4096,
        "phi3.rope.scaling.attn_factor": 1.19,
    }
    tensors = {"rope_factors_short.weight": (1.0, 1.5, 2.0, 2.5), "rope_factors_long.weight": (1.0, 4.0, 16.0, 64.0)}
    (rotation,) = read_gguf_rotation(keys, tensors, "m.gguf")
    assert (rotation.scaling, rotation.attention_scaling) == ("longrope", 1.19)
    assert np.allclose(rotation.frequencies, [1, 0.1 / 4, 0.01 / 16, 0.001 / 64], rtol=1e-14)
    (rotation,) = read_gguf_rotation(keys, tensors, "m.gguf", 4096)
    assert np.allclose(rotation.frequencies, [1, 0.1 / 1.5, 0.01 / 2, 0.001 / 2.5], rtol=1e-14)


def test_an_extra_factor_multiplies_that_of_yarn():
    keys = make_llama(**{"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 4.0})
    keys |= {"llama.rope.scaling.attn_factor": 0.5, "llama.rope.scaling.original_context_length": 32768}
    (rotation,) = read_gguf_rotation(keys, {}, "m.gguf")
    assert rotation.attention_scaling == pytest.approx(0.5 * (0.1 * math.log(4) + 1), rel=1e-15)
    assert rotation.options["original"] == 32768


def test_the_old_name_of_the_factor():
    (rotation,) = read_gguf_rotation(make_llama(**{"llama.rope.scale_linear": 2.0}), {}, "m.gguf")
    assert (rotation.scaling, rotation.frequencies[0]) == ("linear", 0.5)


def test_alpha_enlarges_the_base_of_hunyuan():
    keys = {
        "general.architecture": "hunyuan_vl",
        "hunyuan_vl.embedding_length": 64,
        "hunyuan_vl.attention.head_count": 4,
        "hunyuan_vl.rope.scaling.type": "none",
        "hunyuan_vl.rope.scaling.alpha": 1000.0,
    }
    (rotation,) = read_gguf_rotation(keys, {}, "m.gguf")
    base = 10000.0 * 1000.0 ** (16 / 14)
    assert np.allclose(rotation.frequencies, base ** (-np.arange(8) / 8), rtol=1e-13)
    assert (rotation.scaling, rotation.options) == ("ntk", {"factor": 1000.0})


@pytest.mark.parametrize(
    ("arch", "more", "scheme", "values"),
    [
        ("bloom", {}, "alibi", {"heads": 16}),
        ("mpt", {"attention.max_alibi_bias": 8.0}, "alibi", {"heads": 16}),
        ("mpt", {"attention.max_alibi_bias": 0.0}, "learned", {"rows": 2048, "d": 1024, "unused": 0}),
        ("baichuan", {"block_count": 40}, "alibi", {"heads": 16}),
        ("gpt2", {}, "learned", {"rows": 2048, "d": 1024, "unused": 0}),
        ("t5", {"attention.relative_buckets_count": 32}, "t5", {"buckets": 32, "max_distance": 128, "heads": 16}),
        ("mamba", {}, "none", {}),
        ("granitehybrid", {"rope.scaling.finetuned": False}, "none", {}),
    ],
)
def test_other_kinds_of_encoding(arch, more, scheme, values):
    keys = {"context_length": 1024, "embedding_length": 1024, "attention.head_count": 16, **more}
    keys = {"general.architecture": arch, **{f"{arch}.{name}": value for name, value in keys.items()}}
    shapes = {"position_embd.weight": (2048, 1024)} if scheme == "learned" else {}
    found = read(keys, shapes=shapes)
    assert (found.scheme, dict(found.values), found.layers) == (scheme, values, ())
    assert read_gguf_rotation({**keys}, {}, "m.gguf") == () or scheme == "learned"


def test_other_heads_and_shares():
    keys = make_llama(**{"llama.rope.dimension_count": None, "llama.attention.head_count": [0, 32, 16]})
    assert read(keys).layers[0].head_dim == 128
    for width, turned in ((80, 32), (128, 42), (96, 58), (192, 2)):
        layer = read(make_llama(**{"llama.attention.key_length": width, "llama.rope.dimension_count": turned})).layers[
            0
        ]
        assert int(layer.head_dim * layer.share) == turned
        assert read_gguf_rotation(
            make_llama(**{"llama.attention.key_length": width, "llama.rope.dimension_count": turned}), {}, "m.gguf"
        )[0].rotary_dim == turned  # fmt: skip


def test_an_unknown_architecture_is_a_guess_with_a_warning():
    keys = {"general.architecture": "novel", "novel.embedding_length": 64, "novel.attention.head_count": 4}
    assert "not known here ('novel')" in complain(keys)
    found = read({**keys, "novel.rope.freq_base": 1e4})
    assert [(one.level, one.code) for one in found.findings] == [("warning", "unknown-architecture")]
    assert found.layers[0].layout == "half"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"general.architecture": None}, "lacks a key; looked for general.architecture"),
        ({"general.architecture": None, "split.no": 2}, "is part 3 of a model in several files"),
        ({"general.architecture": 3}, "general.architecture cannot be used (3); a text"),
        ({"general.architecture": "clip"}, "projector of pictures"),
        ({"llama.rope.freq_base": "big"}, "llama.rope.freq_base cannot be used ('big'); a number above 0"),
        ({"llama.rope.freq_base": math.nan}, "llama.rope.freq_base cannot be used (nan)"),
        ({"llama.rope.freq_base": True}, "llama.rope.freq_base cannot be used (True)"),
        ({"llama.attention.head_count": 0}, "llama.attention.head_count cannot be used (0)"),
        ({"llama.attention.head_count": [True]}, "llama.attention.head_count cannot be used ([True])"),
        ({"llama.attention.head_count": None, "llama.rope.dimension_count": None}, "attention.head_count"),
        ({"llama.embedding_length": 4097}, "llama.embedding_length cannot be used (4097); a multiple of the 32 heads"),
        ({"llama.rope.dimension_count": 256}, "llama.rope.dimension_count cannot be used (256); an even number up to"),
        ({"llama.rope.dimension_count": 63}, "llama.rope.dimension_count cannot be used (63)"),
        ({"llama.attention.key_length": 63, "llama.rope.dimension_count": None}, "cannot be used (63); an even number"),
        ({"llama.attention.key_length": 1 << 30}, "the width of a head cannot be used (1073741824)"),
        ({"llama.context_length": 1.5}, "llama.context_length cannot be used (1.5)"),
        ({"llama.rope.scaling.type": "magic"}, "llama.rope.scaling.type cannot be used ('magic'); none, linear, yarn"),
        ({"llama.rope.scaling.type": "longrope"}, "longrope with the tensors"),
        ({"llama.rope.scaling.type": "yarn", "llama.rope.scaling.yarn_ext_factor": 0.5}, "1 is accepted"),
        ({"llama.rope.scaling.type": "yarn", "llama.context_length": None}, "yarn depends on it"),
    ],
)
def test_refuses_keys_in_one_line(changes, words):
    assert words in complain(make_llama(**changes))


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        (
            {"rope_freqs.weight": (1.0,) * 32},
            "tensor rope_freqs.weight cannot be used (32 numbers); 64 numbers above 0",
        ),
        ({"rope_freqs.weight": (0.0,) * 64}, "64 numbers above 0, one for each pair"),
        ({"rope_freqs.weight": (1.0, *[1e-320] * 63)}, "has frequencies beyond 1.79769e+308"),
        ({"rope_factors_long.weight": (1.0,) * 64}, "both are needed"),
    ],
)
def test_refuses_tensors_in_one_line(tensors, words):
    assert words in complain(make_llama(), tensors)


def test_the_limits_hold_for_what_models_have():
    assert gguf_file.MAX_GGUF_WORDS > 4 * 262144


# ----------------------------------------------------------------------------------- what the files of models state


def test_divisors_and_a_scaling_are_both_applied():
    """A file may have a tensor of divisors beside yarn in its keys: llama.cpp divides, then scales."""
    yarn = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 8192}
    with_both, with_yarn = (
        read_gguf_configuration(make_gguf(**yarn), tensors, "m.gguf")
        for tensors in ({"rope_freqs.weight": (2.0,) * 64}, {})
    )
    assert [one.code for one in with_both.findings] == ["scaling-in-tensor"]
    assert "divides frequencies by 2 to 2, which is no known scaling" in with_both.findings[0].message
    divided, plain = (turn_gguf_layer(found, found.layers[0], None) for found in (with_both, with_yarn))
    assert divided.scaling == plain.scaling == "yarn"
    assert np.allclose(divided.frequencies, plain.frequencies / 2, rtol=1e-12, atol=0)


def read_phi3(**keys):
    """A GGUF file with both lists of longrope, as Phi-3 has them."""
    stated = {"embedding_length": 3072, "attention.head_count": 32, "rope.dimension_count": 96, **keys}
    keys = {"general.architecture": "phi3", **{f"phi3.{name}": value for name, value in stated.items()}}
    tensors = {"rope_factors_long.weight": (2.0,) * 48, "rope_factors_short.weight": (1.0,) * 48}
    return read_gguf_configuration(keys, tensors, "m.gguf")


# ----------------------------------------------------------------------------------- audits


def test_a_base_below_1_turns_but_has_no_spectrum():
    """llama.cpp computes with any base; no encoding of the catalogue has one below 1."""
    for base, known in ((0.5, False), (10000.0, True)):
        stated = {"embedding_length": 4096, "attention.head_count": 32, "context_length": 4096, "rope.freq_base": base}
        keys = {"general.architecture": "llama", **{f"llama.{name}": value for name, value in stated.items()}}
        (layer,) = audit_configuration(read_gguf_configuration(keys, {}, "m.gguf")).layers
        assert np.allclose(layer.frequencies, base ** (-np.arange(64) / 64), rtol=1e-12)
        assert (layer.encoding is not None) == (layer.spectrum is not None) == known


# ---------------------------------------------------------------------------------- what implementations make of a file


def test_a_gguf_file_needs_its_length_for_longrope():
    found = read_phi3()
    refusal = STACKS["llama.cpp"].read(found, found.layers[0], None)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "m.gguf: context_length is not stated; longrope depends on it"
    with pytest.raises(FileError, match="longrope depends on it"):
        audit_configuration(found)
    found = read_phi3(context_length=131072)
    assert not isinstance(STACKS["llama.cpp"].read(found, found.layers[0], None), Refusal)
