"""Which positions a query sees in the models that the converter of keras-hub builds, by the window of the file.

Each layer of a small model is given the same vectors but for one, at each place in turn: a query sees the places at
which a change reaches it. What was seen is written into the table of the package, as `tests/reference/windows.py` has
it; `tests/reference/measure.py keras-hub VERSION` runs this after what freezes its layers.
"""

import inspect

import numpy as np

from tests.reference.keras_hub.generate import SMALL, TransformersPresetLoader, keras_hub
from tests.reference.windows import ALIKE, FULL, LAYERS, MIXED, SLIDING, TRIED, add_places, join, judge, write_windows

#: Places of the vectors, more than any window reaches from the middle, and their size.
LENGTH, WIDTH = 24, 64
#: The models whose files may have a window.
MODELS = (
    "gemma2", "gemma3_text", "gpt_oss", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "smollm3",
)  # fmt: skip
#: What the converter asks for besides.
BESIDES = {
    "hidden_size": WIDTH, "head_dim": 32, "num_hidden_layers": LAYERS, "max_position_embeddings": LENGTH,
    "rope_theta": 1e4, "use_sliding_window": True, "no_rope_layers": [1] * LAYERS, "query_pre_attn_scalar": 32,
    "attn_logit_softcapping": None, "final_logit_softcapping": None, "hidden_activation": "gelu_pytorch_tanh",
    "use_bidirectional_attention": False, "rope_local_base_freq": 1e4, "sliding_window_pattern": 6,
}  # fmt: skip
#: The types of layers of classes whose converter has a pattern of its own.
OWN = {
    "gemma2": (SLIDING, FULL) * 3,
    "gemma3_text": (*ALIKE[:-1], FULL),
    "gpt_oss": (SLIDING, FULL) * 3,
}


def find_layers(model, window, kinds):
    """Build a model: its layers, in order."""
    first = kinds.index(SLIDING)
    asked = {"sliding_window": window, "layer_types": [*kinds], "max_window_layers": first}
    config = {**SMALL, **BESIDES, "model_type": model, **asked}
    loader = TransformersPresetLoader("none", config)
    whole = loader.converter.backbone_cls(**loader.converter.convert_backbone_config(config))
    return getattr(whole, "transformer_layers", None) or [
        one for one in whole.layers if "Decoder" in type(one).__name__
    ]


def look(layer):
    """How many positions the query in the middle sees; None where it sees everything before it."""
    rng = np.random.default_rng(20261129)
    given = np.repeat(rng.normal(size=(1, LENGTH, WIDTH)), LENGTH + 1, axis=0).astype(np.float32)
    for number in range(LENGTH):
        given[number + 1, number] += rng.normal(size=WIDTH)
    masks = [name for name in inspect.signature(layer.call).parameters if name.endswith("padding_mask")]
    turned = layer(given, **{name: np.ones(given.shape[:2], dtype=bool) for name in masks[:1]})
    turned = np.asarray(turned[0] if isinstance(turned, tuple) else turned)[:, LENGTH // 2]
    seen = np.nonzero(np.abs(turned[1:] - turned[0]).max(axis=1) > 1e-6)[0]
    assert seen.max() == LENGTH // 2
    return None if seen.min() == 0 else len(seen)


def measure(model, kinds):
    """What layers of these types see."""
    return judge(
        {window: list(zip(kinds, map(look, find_layers(model, window, kinds)), strict=True)) for window in TRIED}
    )


def main():
    """Measure every model, and write."""
    found = {}
    for model in MODELS:
        if model in OWN:
            own = measure(model, OWN[model])
            found[model] = join(own, own) if own == "others" else add_places(join(own, own), OWN[model])
        else:
            found[model] = join(measure(model, ALIKE), measure(model, MIXED))
        print(model, found[model], flush=True)
    write_windows("keras-hub", keras_hub.__version__, {model: one for model, one in found.items() if one is not None})


if __name__ == "__main__":
    main()
