"""Which products with the vectors of its lags the attention of DeBERTa adds to scores, and by which key: measured.

Adds `terms` to the table of schemes of a release that `schemes.py` has written. In its environment, seconds:
ENV/bin/python tests/reference/transformers/terms.py pe_spectra/models/measured/transformers-5.24.0-schemes.json
A small model of each class with such vectors is run with its key at several values, before and after other vectors
are put in the place of its own: a product that is added moves what the model gives.
"""

import json
import sys
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModel

KEY, WORDS = "pos_att_type", ("c2p", "p2c")
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 32}
SIZES |= {"relative_attention": True, "max_relative_positions": 16, "position_buckets": 8}
SOUND = {"conv_dim": (8, 8), "conv_kernel": (4, 2), "conv_stride": (4, 2), "feature_layer_norm_eps": 1e-5}
SOUND |= {"num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}


def moves(model_type, value):
    """Whether the vectors of lags count with this value of the key."""
    sound = SOUND if model_type == "sew-d" else {}
    torch.manual_seed(1)
    model = AutoModel.from_config(AutoConfig.for_model(model_type, **SIZES, **sound, **value)).eval()
    (vectors,) = (one for name, one in model.named_parameters() if name.endswith("rel_embeddings.weight"))
    for name, one in model.named_parameters():  # some biases are made 0
        torch.nn.init.normal_(one, std=0.2) if one.dim() > 1 and "conv" not in name else None
    given = {"input_values": torch.randn(1, 400)} if sound else {"input_ids": torch.arange(3, 19)[None]}
    with torch.no_grad():
        before = model(**given).last_hidden_state
        vectors.normal_(std=2.0)
        return not torch.allclose(before, model(**given).last_hidden_state, atol=1e-5)


def main():
    """Measure every class whose entry is of this kind, and write what was found into the table."""
    path = Path(sys.argv[1])
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for place, line in enumerate(lines):
        if '"kind": "disentangled"' not in line:
            continue
        name, _, rest = line.strip().partition(": ")
        entry, model_type = json.loads(rest.rstrip(",")), json.loads(name)
        values = {"none": [], "both": [*WORDS], **{word: [word] for word in WORDS}}
        values |= {"text": "c2p|P2C"} if model_type != "sew-d" else {}  # which refuses it
        found = {kind: moves(model_type, {KEY: value}) for kind, value in values.items()}
        default = AutoConfig.for_model(model_type).to_dict()[KEY]
        print(model_type, found, default, moves(model_type, {}))
        assert found == dict.fromkeys(found, True) | {"none": False}
        assert moves(model_type, {}) == bool(default)
        for fact in entry["has"]:
            if fact["kind"] == "disentangled":
                fact["terms"] = {"key": KEY, "words": WORDS, "default": list(default or ())}
        lines[place] = f"  {name}: {json.dumps(entry)}{',' if rest.endswith(',') else ''}\n"
    path.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
