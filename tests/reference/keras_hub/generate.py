"""Freeze what a release of keras-hub computes of configurations that are drawn by rule: its layers and its converter.

Of each configuration two things are kept: what the rotary layer turns by that is made with the keys of the file, and
what the layers of the model turn by that the converter from transformers builds of it. It is run by
`tests/reference/measure.py keras-hub VERSION`; some minutes with the download, and nothing of TensorFlow is needed.
"""

import json
import pathlib
import sys
import types

import keras
import numpy as np

from tests.reference.freezing import freeze, start_choosing

# 0.31 imports it while its modules are read, and calls nothing of it here
sys.modules.setdefault("tensorflow", types.ModuleType("tensorflow"))

import keras_hub  # noqa: E402  (after what it imports is there)
from keras_hub.src.models.llama.llama_rotary_embedding import LlamaRotaryEmbedding  # noqa: E402  (likewise)
from keras_hub.src.models.phi3.phi3_rotary_embedding import Phi3SuScaledRotaryEmbedding  # noqa: E402  (likewise)
from keras_hub.src.utils.transformers.preset_loader import TransformersPresetLoader  # noqa: E402  (likewise)

#: How many configurations are drawn.
COUNT = 220
HERE = pathlib.Path(__file__).parent
KINDS = ("default", "linear", "dynamic", "yarn", "yarn", "yarn", "llama3", "longrope")
MODELS = (
    "llama", "llama", "llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "gpt_oss", "phi3",
)  # fmt: skip
#: What the converter asks for besides; small, since no weight is looked at.
SMALL = {
    "vocab_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2,
    "intermediate_size": 8, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 8, "num_experts": 2,
    "num_local_experts": 2, "num_experts_per_tok": 1, "norm_topk_prob": True, "decoder_sparse_step": 1,
    "router_aux_loss_coef": 0.0, "mlp_only_layers": [], "rms_norm_eps": 1e-6, "sliding_window": None,
    "use_sliding_window": False, "max_window_layers": 1, "tie_word_embeddings": False, "attention_dropout": 0.0,
    "attention_bias": False, "mlp_bias": False, "no_rope_layers": [1], "no_rope_layer_interval": 4,
    "layer_types": ["full_attention"], "hidden_act": "silu", "output_router_logits": False, "initializer_range": 0.02,
    "router_jitter_noise": 0.0,
}  # fmt: skip


def draw(rng):
    """A configuration in one of the two generations of keys."""
    choose = start_choosing(rng)
    head, base = choose(32, 64, 96, 128), choose(500.0, 1e4, 5e5, 1e6)
    length, kind, model = choose(4096, 8192, 16384), choose(*KINDS), choose(*MODELS)
    block = {"rope_type": kind}
    if kind in ("linear", "dynamic", "yarn", "llama3"):
        block["factor"] = choose(2.0, 4.0, 8.0, 3.5)
    if kind == "yarn":
        optional = {
            "beta_fast": choose(16.0, 48.0),
            "beta_slow": choose(0.5, 2.0),
            "truncate": choose(True, False),
            "original_max_position_embeddings": choose(2048, 8192, 65536),
            "attention_factor": 1.25,
            "mscale": 0.707,
            "mscale_all_dim": 0.5,
        }
        block |= {key: value for key, value in optional.items() if rng.random() < 1 / 2}
    if kind in ("llama3", "longrope"):
        block["original_max_position_embeddings"] = choose(2048, 4096, 8192)
    if kind == "llama3":
        block |= {"low_freq_factor": choose(1.0, 2.0), "high_freq_factor": choose(4.0, 8.0)}
    if kind == "longrope":
        lists = ("short_factor", "long_factor")
        block |= {name: np.sort(rng.uniform(1, 30, head // 2)).round(3).tolist() for name in lists}
    found = {"model_type": model, "hidden_size": 2 * head, "head_dim": head, "num_attention_heads": 2}
    found["max_position_embeddings"] = length
    if choose("newer", "older") == "newer":
        return {**found, "rope_parameters": {**block, "rope_theta": base}}
    return {**found, "rope_theta": base, **({"rope_scaling": block} if kind != "default" else {})}


def make_layer(config):
    """The rotary layer with the keys of a configuration, by the names that its parameters have."""
    block = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind, base = block.get("rope_type", "default"), block.get("rope_theta", config.get("rope_theta"))
    original = block.get("original_max_position_embeddings")
    if kind == "llama3":
        ends = {key: block[key] for key in ("low_freq_factor", "high_freq_factor")}
        return LlamaRotaryEmbedding(
            base, frequency_adjustment_factor=block["factor"], pretraining_sequence_length=original, **ends
        )
    if kind == "longrope":
        lists = (block["short_factor"], block["long_factor"])
        return Phi3SuScaledRotaryEmbedding(*lists, config["max_position_embeddings"], original, base)
    names = ("beta_fast", "beta_slow", "original_max_position_embeddings", "truncate")
    given = {key: block[key] for key in names if key in block} if kind == "yarn" else {}
    kind = {"default": "linear"}.get(kind, kind)
    return keras_hub.layers.RotaryEmbedding(base, scaling_factor=block.get("factor", 1.0), rope_type=kind, **given)


def measure(layer, head, length):
    """Turn ones and zeros at every position: frequencies and factor of position 1, and which channels are a pair."""
    given = np.zeros((1, length, 1, head), dtype=np.float32)
    given[..., : head // 2] = 1
    turned = np.asarray(layer(given), dtype=np.float64)[0, 1, 0]
    cosine, sine = turned.reshape(2, -1)
    frequencies = [float(f"{one:.8g}") for one in np.arctan2(sine, cosine)]
    return {"frequencies": frequencies, "attention": float(f"{np.hypot(cosine, sine).mean():.7g}")}


def list_rotations(layer, seen):
    """Every rotary layer within a layer."""
    if id(layer) in seen:
        return []
    seen.add(id(layer))
    if "RotaryEmbedding" in type(layer).__name__:
        return [layer]
    inner = [one for one in vars(layer).values() if isinstance(one, keras.layers.Layer)]
    inner += getattr(layer, "layers", [])
    return [one for part in inner for one in list_rotations(part, seen)]


def convert(config):
    """What the rotary layer turns by of the model that the converter builds; the words of what refuses."""
    try:
        whole = {**SMALL, **config}
        loader = TransformersPresetLoader("none", whole)
        converter = loader.converter
        model = converter.backbone_cls(**converter.convert_backbone_config(whole))
        (layer, *_) = list_rotations(model, set())
        return measure(layer, config["head_dim"], 2)
    except (ValueError, KeyError) as error:
        return {"refused": f"{type(error).__name__}: {error}"[:120]}


def compare(converted, layer):
    """Say where the converter's model turns by the same within float32; one is the layer of Llama, the other not."""
    if "refused" in converted:
        return converted
    is_same = all(np.allclose(converted[key], layer[key], rtol=1e-5, atol=0) for key in layer)
    return "the same" if is_same else converted


def main():
    """Draw, compute and write."""
    rng = np.random.default_rng(20261127)
    cases = []
    for config in (draw(rng) for _ in range(COUNT)):
        # the layer of longrope chooses its list by the length of what it is given, the others look at no length
        length = config["max_position_embeddings"] if "longrope" in json.dumps(config) else 2
        layer = measure(make_layer(config), config["head_dim"], length)
        cases.append({"config": config, **layer, "converted": compare(convert(config), layer)})
    head = {"stack": "keras-hub", "version": keras_hub.__version__, "keras": keras.__version__}
    freeze(HERE, head, cases)


if __name__ == "__main__":
    main()
