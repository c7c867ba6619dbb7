"""Modules of PyTorch, transformers and timm as they are: what is captured of them, against their configurations."""

import json
import os

import numpy as np
import pytest

from pe_spectra.capturing.capture import capture
from pe_spectra.errors import InputError
from tests.capturing.fakes import make_ladder

os.environ |= {"TRANSFORMERS_VERBOSITY": "critical", "HF_HUB_OFFLINE": "1"}
WHY = "the extra modules is not installed"
torch = pytest.importorskip("torch", reason=WHY)
nn = torch.nn
# what other libraries warn of each other
pytestmark = pytest.mark.filterwarnings("default")

HEADS = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 4}
SMALL = {**HEADS, "intermediate_size": 64, "num_hidden_layers": 2, "vocab_size": 64}
LENGTHS = {"max_position_embeddings": 4096}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024, "rope_theta": 1e4}
LONG = {"rope_type": "longrope", "short_factor": [1.0] * 8, "long_factor": [4.0] * 8}
EXPERTS = {"n_routed_experts": 4, "n_group": 1, "topk_group": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
LATENT = {"qk_rope_head_dim": 16, "qk_nope_head_dim": 16, "v_head_dim": 16, "kv_lora_rank": 16, "q_lora_rank": 16}
#: Class of the configuration, and its keys: rotations of every form.
ROTATIONS = {
    "llama": ("LlamaConfig", {**SMALL, **LENGTHS}),
    "llama3": (
        "LlamaConfig",
        {
            **SMALL,
            **LENGTHS,
            "rope_parameters": {**LLAMA3, "rope_theta": 5e5, "original_max_position_embeddings": 512},
        },
    ),
    "yarn": ("Qwen2Config", {**SMALL, **LENGTHS, "rope_parameters": YARN}),
    "longrope": (
        "Phi3Config",
        {
            **SMALL,
            **LENGTHS,
            "pad_token_id": 0,
            "original_max_position_embeddings": 1024,
            "rope_parameters": {**LONG, "rope_theta": 1e4, "original_max_position_embeddings": 1024},
        },
    ),
    "kinds": ("Gemma3TextConfig", {**SMALL, **LENGTHS, "num_hidden_layers": 6, "head_dim": 32}),
    "interleaved": ("DeepseekV3Config", {**SMALL, **LENGTHS, **EXPERTS, **LATENT}),
    "partial": ("GPTNeoXConfig", {key: value for key, value in SMALL.items() if key != "num_key_value_heads"}),
    "table": ("GPTJConfig", {"n_embd": 64, "n_layer": 1, "n_head": 4, "rotary_dim": 8, "n_positions": 512}),
    "encoder": ("ModernBertConfig", {**SMALL, "num_hidden_layers": 3, "pad_token_id": 0}),
}
TABLES = {
    "learned": ("GPT2Config", {"n_embd": 64, "n_layer": 1, "n_head": 4, "n_positions": 96}, ("positions", "table", 96)),
    "bert": ("BertConfig", SMALL, ("positions", "table", 512)),
    "buckets": (
        "T5Config",
        {"d_model": 64, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 4},
        ("buckets", "table", 32),
    ),
    "offsets": (
        "SwinConfig",
        {"embed_dim": 16, "depths": [1], "num_heads": [2], "image_size": 32},
        ("offsets", "table", 169),
    ),
    "sinusoids": (
        "M2M100Config",
        {"d_model": 64, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}
        | {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "max_position_embeddings": 96},
        ("positions", "call", 98),
    ),
}


def build(name, keys):
    transformers = pytest.importorskip("transformers", reason=WHY)
    config = getattr(transformers, name)(**keys)
    return transformers.AutoModel.from_config(config), config


# ----------------------------------------------------------------------------------- transformers


@pytest.mark.parametrize("case", ROTATIONS)
def test_a_model_turns_by_what_its_configuration_states(case, cli, tmp_path):
    model, config = build(*ROTATIONS[case])
    found = capture(model)
    assert {one.source for one in found.rotations} == {"call"}
    assert not {"error", "note"} & {one.level for one in found.findings}
    found.save(tmp_path / "capture.safetensors")
    (tmp_path / "config.json").write_text(config.to_json_string(), encoding="utf-8")
    answer = json.loads(cli("diff capture.safetensors config.json --served 512 --json").out)
    assert answer["differences"] == []
    assert {one["agree"] for one in answer["layer_types"]} == {True}
    assert len(answer["layer_types"]) == len(found.rotations)


@pytest.mark.parametrize(
    ("name", "order"),
    [("LlamaConfig", "half"), ("GlmConfig", "half"), ("HeliumConfig", "half"), ("CohereConfig", "interleaved")],
)
def test_the_order_of_repeats_is_not_the_layout(name, order):
    """Pairs of GLM and Helium are 2i and 2i + 1, and their modules give halves, as those of Llama."""
    model, _ = build(name, {**SMALL, "pad_token_id": 0})
    assert capture(model, positions=32).rotations[0].repeats == order


def test_a_long_position_brings_the_frequencies_for_long_inputs():
    model, _ = build(*ROTATIONS["longrope"])
    near, far = (capture(model, positions=places).rotations[0] for places in (512, [*range(512), 4000]))
    np.testing.assert_allclose(near.rotation.frequencies / far.rotation.frequencies, 4, rtol=1e-6)


@pytest.mark.parametrize("case", TABLES)
def test_tables_and_biases_are_found(case):
    name, keys, expected = TABLES[case]
    table = capture(build(name, keys)[0]).tables[0]
    assert (table.holds, table.source, table.rows) == expected


def test_casting_a_real_model_rounds_its_frequencies():
    model, _ = build(*ROTATIONS["llama"])
    codes = [(one.code, one.data["cast"]) for one in capture(model).findings]
    assert codes == [("frequencies-rounded-by-cast", "half"), ("frequencies-rounded-by-cast", "bfloat16")]
    assert capture(model.bfloat16()).rotations[0].rotation.frequency_dtype == "bfloat16"


def test_a_model_on_the_meta_device_has_no_numbers():
    with torch.device("meta"):
        model, _ = build(*ROTATIONS["llama"])
    with pytest.raises(InputError, match="meta device"):
        capture(model)


# ----------------------------------------------------------------------------------- modules as people write them


class Shrinking(nn.Module):
    """The published encoding that scales its own buffer at each call."""

    def __init__(self, size=64, d=16):
        super().__init__()
        self.dropout = nn.Dropout(0.5)
        angles = torch.arange(size)[:, None] * torch.tensor(make_ladder(d // 2))
        self.register_buffer("pe", torch.cat([angles.sin(), angles.cos()], dim=1).float()[:, None])

    def forward(self, x):
        self.pe *= (2 / self.pe.shape[-1]) ** 0.5
        x += self.pe[: x.shape[0]]
        return self.dropout(x)


def test_a_buffer_that_shrinks_at_each_call_is_seen_and_left():
    model = nn.Sequential(Shrinking())
    before = model[0].pe.clone()
    found = capture(model)
    assert [(one.code, one.data["tensor"]) for one in found.findings] == [
        ("changes-between-calls", "pe"),
        ("changes-between-calls", "what it gives"),
    ]
    assert found.findings[0].data["ratio"] == pytest.approx(8**-0.5, rel=1e-6)
    np.testing.assert_allclose(found.tables[0].values, before[:, 0].numpy() * 8**-0.5, atol=1e-6)
    assert torch.equal(model[0].pe, before)
    assert model.training


class Meta(nn.Module):
    """Complex numbers as a plain attribute, as Meta's releases have them."""

    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(128.0), torch.tensor(make_ladder(8)).float())
        self.freqs_cis = torch.polar(torch.ones_like(angles), angles)
        self.output = nn.Linear(4, 4)

    def forward(self, tokens, start_pos):
        raise AssertionError


def test_complex_numbers_that_are_no_buffer_are_found():
    (one,) = capture(Meta()).rotations
    assert (one.source, one.rotation.rows, one.rotation.base) == ("cache", 128, 10000)
    assert one.why == "modules in it have parameters"


class Older(nn.Module):
    """A cache that is cut to the length that is asked for, as in transformers 4."""

    def __init__(self, size=1024):
        super().__init__()
        self.register_buffer("inv_freq", torch.tensor(make_ladder(8)).float(), persistent=False)
        angles = torch.outer(torch.arange(size).float(), self.inv_freq)
        whole = torch.cat([angles, angles], dim=-1)[None, None]
        self.register_buffer("cos_cached", whole.cos(), persistent=False)
        self.register_buffer("sin_cached", whole.sin(), persistent=False)

    def forward(self, x, seq_len=None):
        return (self.cos_cached[:, :, :seq_len].to(x.dtype), self.sin_cached[:, :, :seq_len].to(x.dtype))


def test_a_module_that_takes_a_length():
    (one,) = capture(Older()).rotations
    assert (one.source, one.waves.shape, one.rotation.base) == ("call", (512, 32), 10000)


# ----------------------------------------------------------------------------------- JAX


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_functions_of_jax_are_called_with_positions(dtype):
    jax = pytest.importorskip("jax", reason=WHY)

    def turn(positions):
        angles = jax.numpy.outer(positions, make_ladder(8))
        return jax.numpy.cos(angles).astype(dtype), jax.numpy.sin(angles).astype(dtype)

    (one,) = capture(jax.jit(turn), positions=64).rotations
    assert (one.rotation.base, one.dtypes[0]) == (10000, dtype)


# ----------------------------------------------------------------------------------- timm


@pytest.mark.parametrize(
    ("name", "holds", "rows"),
    [("vit_tiny_patch16_224", "positions", 197), ("swin_tiny_patch4_window7_224", "offsets", 169)],
)
def test_tables_of_timm(name, holds, rows):
    timm = pytest.importorskip("timm", reason=WHY)
    table = capture(timm.create_model(name)).tables[0]
    assert (table.holds, table.rows) == (holds, rows)


def test_a_rotation_along_two_axes_is_taken_by_its_frequencies_and_says_so():
    timm = pytest.importorskip("timm", reason=WHY)
    found = capture(timm.create_model("vit_small_patch16_dinov3"))
    assert (found.rotations[0].source, found.rotations[0].rotation.base) == ("frequencies", 100)
    assert [one.code for one in found.findings if one.level == "note"] == ["taken-by-its-buffers"]
