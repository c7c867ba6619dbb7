"""Freeze how the rotary modules of three libraries turn a query, for configurations that are drawn by rule.

None of them reads a configuration: its numbers are given to the arguments that the library has for them, those of the
model's builder in torchtune, of the module in the others. `tests/reference/measure.py torchtune VERSION` runs it, or
with the name of another library; a minute on one core.

It writes one file for each library that is named, NAME-VERSION.json.gz, and prints how many it refused. Nothing is
read from source: of each channel of a query it is measured into which others it goes at position 1, and by how much.
"""

import importlib
import pathlib
import sys
from importlib.metadata import version

import numpy as np
import torch

from tests.reference.freezing import freeze, start_choosing

COUNT = 190
HERE = pathlib.Path(__file__).parent
#: Builders of torchtune by the model_type whose weights they take; llama has another one for its scaling.
FAMILIES = ("llama", "mistral", "gemma", "gemma2", "phi3", "qwen2")
KINDS = ("default", "default", "default", "default", "linear", "linear", "ntk", "ntk", "dynamic")
SIZES = {"vocab_size": 4, "num_layers": 1, "num_heads": 2, "num_kv_heads": 2, "intermediate_dim": 8, "max_seq_len": 64}


class UntakenError(Exception):
    """The library has no argument for a part of the configuration."""


def draw(rng):
    """A configuration of one of the families."""
    choose = start_choosing(rng)
    model, head = choose("llama", "llama", *FAMILIES), choose(64, 96, 128)
    kind = choose("llama3", "llama3", *KINDS) if model == "llama" else choose(*KINDS)
    block = {"rope_type": kind, "rope_theta": choose(1e4, 5e5, 1e6, 123456.0)}
    if kind != "default":
        block["factor"] = choose(1.0, 2.0, 4.0, 8.0, 3.5)
    if kind == "llama3":
        block |= {"low_freq_factor": choose(1.0, 1.0, 2.0), "high_freq_factor": choose(4.0, 4.0, 8.0)}
        block["original_max_position_embeddings"] = choose(8192, 8192, 4096)
    share = choose(1.0, 1.0, 1.0, 1.0, 0.5, 0.25)
    if share != 1:
        block["partial_rotary_factor"] = share
    found = {"model_type": model, "hidden_size": 2 * head, "num_attention_heads": 2, "head_dim": head}
    return {**found, "max_position_embeddings": 32768, "rope_parameters": block}


def turn_by_torchtune(config):
    """What the builder of its model puts into the attention."""
    block, model = config["rope_parameters"], config["model_type"]
    if "partial_rotary_factor" in block:
        raise UntakenError("a share of the head")
    arguments = dict(SIZES, embed_dim=config["hidden_size"], rope_base=block["rope_theta"])
    name = {"llama": "llama3"}.get(model, model)
    if model.startswith("gemma"):
        arguments["head_dim"] = config["head_dim"]
    if block["rope_type"] == "llama3" and model == "llama":
        name, arguments["scale_factor"] = "llama3_1", block["factor"]
    elif block["rope_type"] != "default":
        raise UntakenError(f"rope_type {block['rope_type']} of {model}")
    build = getattr(importlib.import_module(f"torchtune.models.{name}._component_builders"), name)
    module = next(one for one in build(**arguments).modules() if "pos_embeddings" in dir(one)).pos_embeddings
    queries = torch.eye(config["head_dim"])[None, None]
    return module(queries, input_pos=torch.ones(1, 1, dtype=torch.long))[0, 0]


def list_arguments(config, names):
    """The width that is turned, and the arguments of two modules that have the same under other names."""
    block = config["rope_parameters"]
    base, factor, enlarge = names
    width = int(config["head_dim"] * block.get("partial_rotary_factor", 1.0))
    arguments = {base: block["rope_theta"]}
    if block["rope_type"] == "linear":
        arguments[factor] = block["factor"]
    elif block["rope_type"] == "ntk":  # neither module has a length, so there is no dynamic
        arguments[enlarge] = block["factor"]
    elif block["rope_type"] != "default":
        raise UntakenError(f"rope_type {block['rope_type']}")
    return width, arguments


def turn_by_x_transformers(config):
    """What its module and the function that applies it do with a query."""
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    width, arguments = list_arguments(config, ("base", "interpolation_factor", "base_rescale_factor"))
    angles, scale = RotaryEmbedding(width, **arguments)(torch.arange(2))
    queries = torch.eye(config["head_dim"])[None, :, None].expand(1, -1, 2, -1)
    return apply_rotary_pos_emb(queries, angles, scale)[0, :, 1]


def turn_by_rotary_embedding_torch(config):
    """What its module does with a query."""
    from rotary_embedding_torch import RotaryEmbedding

    width, arguments = list_arguments(config, ("theta", "interpolate_factor", "theta_rescale_factor"))
    queries = torch.eye(config["head_dim"])[None, :, None].expand(1, -1, 2, -1)
    return RotaryEmbedding(width, **arguments).rotate_queries_or_keys(queries)[0, :, 1]


def measure(turn, config):
    """Frequencies and pair layout, from where each channel of a query goes at position 1."""
    try:
        turned = turn(config).detach().double().numpy()
    except (UntakenError, AssertionError, TypeError, ValueError) as error:
        return {"refused": f"{type(error).__name__}: {error}"[:200]}
    cosine, rest = np.diag(turned).copy(), turned - np.diag(np.diag(turned))
    partner = np.abs(rest).argmax(axis=1)
    sine = rest[np.arange(len(rest)), partner]
    first = np.flatnonzero((sine > 0) & (partner > np.arange(len(rest))))  # channel i goes into its partner by sin w
    frequencies = np.arctan2(sine[first], cosine[first])
    distances = sorted({int(partner[i] - i) for i in first})
    return {"frequencies": [float(f"{one:.9g}") for one in frequencies], "distance": distances}


TURNS = {
    "torchtune": turn_by_torchtune,
    "x-transformers": turn_by_x_transformers,
    "rotary-embedding-torch": turn_by_rotary_embedding_torch,
}


def main():
    """Draw, compute and write."""
    for name in sys.argv[1:] or TURNS:
        turn = TURNS[name]
        rng = np.random.default_rng(20261127)
        cases = [{"config": config, **measure(turn, config)} for config in (draw(rng) for _ in range(COUNT))]
        head = {"stack": name, "version": version(name), "torch": torch.__version__.partition("+")[0]}
        freeze(HERE, head, cases)


if __name__ == "__main__":
    main()
