"""Configurations in both generations of keys, and what each implementation makes of them.

Expected frequencies are written out here in plain float64; facts about an implementation are from
its code as `source` names it.
"""

import math

import numpy as np

from pe_spectra.models.stacks import Refusal, find_stack
from pe_spectra.models.stated.statement import Configuration, LayerStatement, RotaryBlock
from tests.making import make_ladder

NAMES = ("transformers-5", "transformers-4", "vllm", "llama.cpp", "keras-hub")
LIBRARIES = ("torchtune", "x-transformers", "rotary-embedding-torch")
NAMES += (*LIBRARIES, "meta", "yarn-paper")
#: Those that read files of their own alone.
AXIAL = ("diffusers", "timm")
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


def block(kind="default", values=None, base=1e4, where="rope_scaling"):
    beside = kind in ("longrope", "su")  # as in the files of Phi-3
    values = values or {}
    return RotaryBlock(where=where, kind=kind, base=base, base_key="rope_theta", values=values, original_beside=beside)


def state(older=None, newer=None, *, length=32768, model="llama", head_dim=128, **layer):
    found = LayerStatement(head_dim=head_dim, older=older, newer=newer, **layer)
    return Configuration(path="config.json", scheme="rotary", model=model, length=length, layers=(found,))


def read(name, configuration, served=None):
    found = find_stack(name, "--stack").read(configuration, configuration.layers[0], served)
    assert not isinstance(found, Refusal), found.reason
    return found


def refuse(name, configuration, served=None):
    found = find_stack(name, "--stack").read(configuration, configuration.layers[0], served)
    assert isinstance(found, Refusal)
    assert found.reason.startswith("config.json: ")
    assert "\n" not in found.reason
    return found.reason


def slow(rotation, pair, base=1e4, width=128):
    return float(make_ladder(base, width)[pair] / rotation.frequencies[pair])


EXAMPLES = {
    "default": state(block()),
    "linear": state(block("linear", {"factor": 4.0})),
    "dynamic": state(block("dynamic", {"factor": 4.0}), length=8192),
    "yarn": state(block("yarn", YARN)),
    "llama3": state(block("llama3", LLAMA3, 5e5), length=131072),
    "longrope": state(block("longrope", LONG), length=131072, head_dim=96),
}


def blend_llama3(factor):
    theta = make_ladder(5e5)
    turns = 8192 * theta / (2 * math.pi)
    kept = np.clip((turns - 1) / 3, 0, 1)
    return (1 - kept) * theta / factor + kept * theta
