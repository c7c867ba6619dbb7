"""Give rotary classes values that their keys cannot mean, and freeze what an installed transformers computes of them.

    ENV/bin/python tests/reference/transformers/odd_values.py

in the environment of probe.py; it writes odd-VERSION.json.gz beside this file. Modules compute with most numbers that a
file has: a base below 1, a share above 1, a factor of 0 or below it, true for a number, a length that is no integer.
Classes are those that read base, width and share in different ways; a base and a block stand where releases read them.
"""

import json
import sys

from draw import compute_whole
from probe import BLOCK, IS_OLD
from real_modules import Release
from refusals import write_cases

CLASSES = (
    "chameleon", "codegen", "dbrx", "deepseek_v3", "falcon", "glm", "gpt_neox", "gpt_neox_japanese", "gptj", "llama",
    "moonshine", "nemotron", "olmo", "persimmon", "phi", "phi3", "qwen2_vl_text", "stablelm",
)  # fmt: skip
BASES = (0, 0.5, 1, 1e-9, -2.0, True)
SHARES = (0, 0.01, 1.5, 7, -1.0, False, True, None)
HEADS = (3, 63, 65, 1)
WIDTHS = ({"hidden_size": 12 * 33, "num_attention_heads": 12}, {"hidden_size": 512, "num_attention_heads": 16})
LENGTHS = (0, -8, 6.5, True)
FACTORS = (0, 0.5, 1, -2.0, True, 1e9, None)
ORIGINAL = {"original_max_position_embeddings": 2048}
#: Of each scaling what it needs, and values of its keys.
SCALINGS = {
    "linear": ({}, {"factor": FACTORS}),
    "dynamic": ({}, {"factor": FACTORS}),
    "yarn": (
        ORIGINAL,
        {
            "factor": FACTORS,
            "original_max_position_embeddings": (0, 1, 4096.5, -8, True),
            "beta_fast": (0, -2.0, 1e9),
            "beta_slow": (0, 40, True),
            "attention_factor": (0.5,),
            "mscale": (0, -1.0),
            "truncate": (None, False),
        },
    ),
    "llama3": (
        ORIGINAL | {"low_freq_factor": 1.0, "high_freq_factor": 4.0},
        {
            "factor": FACTORS,
            "original_max_position_embeddings": (0, 1, 4096.5, -8),
            "low_freq_factor": (0, -2.0, 4.0, 8.0),
            "high_freq_factor": (0, -2.0, True),
        },
    ),
}


def place(block):
    """A block with a base, as a file of the release has them."""
    return {"rope_theta": 5e5, BLOCK: block} if IS_OLD else {BLOCK: block | {"rope_theta": 5e5}}


def list_configurations():
    """The configurations of each class, with one value that is odd."""
    yield from ({"rope_theta": one} for one in BASES)
    yield from ({key: one} for key in ("partial_rotary_factor", "rotary_pct") for one in SHARES)
    yield from ({"head_dim": one} for one in HEADS)
    yield from ({"head_dim": one, "partial_rotary_factor": 0.5} for one in HEADS)
    yield from ({"rotary_dim": one} for one in (0, 1, 33, 1024, None))
    yield from WIDTHS
    yield from ({"max_position_embeddings": one} for one in LENGTHS)
    for kind, (needed, odd) in SCALINGS.items():
        block = {"rope_type": kind, "factor": 4.0} | needed
        yield from (place(block | {key: one}) for key, values in odd.items() for one in values)


def main():
    release, cases = Release(), []
    classes = release.list_classes()
    for model in CLASSES:
        for found in list_configurations():
            keys = {"model_type": model} | json.loads(json.dumps(found))
            cases.append([keys, compute_whole(release, classes[model], keys, None)])
        print(model, len(cases), file=sys.stderr, flush=True)
    write_cases(cases, "odd", "tests/reference/transformers/odd_values.py")


if __name__ == "__main__":
    main()
