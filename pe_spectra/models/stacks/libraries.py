"""torchtune, x-transformers and rotary-embedding-torch: modules that take numbers, and read no configuration.

What is read of a file are the numbers for which the library has an argument; a file with others is refused.
"""

from __future__ import annotations

from dataclasses import replace

from pe_spectra.errors import InputError
from pe_spectra.models.stacks.description import Description
from pe_spectra.models.stacks.stack import LINEAR, Reading, Stack
from pe_spectra.models.stated.meta_release import LLAMA3, LLAMA_LENGTH

#: Families whose builder in torchtune turns pairs, and those where it turns the first half of a head with the second.
_OF_PAIRS, _OF_HALVES = ("llama", "mistral", "gemma", "gemma2"), ("phi3", "qwen2")


def _find_builder(found: Description) -> None:
    model = found.configuration.model
    if model not in (*_OF_PAIRS, *_OF_HALVES):
        accepted = f"{', '.join((*_OF_PAIRS, *_OF_HALVES))} have one"
        raise InputError("model_type: torchtune has no builder that was measured", model, accepted)
    if found.block.kind == "llama3" and model != "llama":
        raise InputError(f"rope_type: torchtune's builder of {model} scales nothing", "llama3", "default is accepted")
    found.turn_whole_heads()


def _fix_ramp(found: Description) -> None:
    for name in ("low_freq_factor", "high_freq_factor"):
        found.fix(name, LLAMA3[name])
    found.fix("original", LLAMA_LENGTH)


def _lay_out_by_family(found: Description) -> None:
    if found.configuration.model in _OF_PAIRS:
        found.turn_pairs()
    else:
        found.values["layout"] = "half"


TORCHTUNE = Stack(
    name="torchtune",
    title="torchtune 0.6.1",
    package="torchtune",
    version="0.6.1",
    date="2026-11-27",
    how="measured",
    source="torchtune 0.6.1, torchtune/models/*/_component_builders.py and the rotary modules that they build",
    reader="torchtune",
    kinds=("default", "llama3"),
    begin=(_find_builder,),
    readings={"llama3": Reading(needs=("factor",), then=(_fix_ramp,))},
    finish=(_lay_out_by_family,),
    dtype="float32",
)


def _stretch_no_less(found: Description) -> None:
    if found.values["factor"] < 1:
        raise InputError("factor is out of range", f"{found.values['factor']:g}", "1 or more is accepted")


def _refuse_mixed(found: Description) -> None:
    mixed = found.block.find("mixed_b")
    if mixed is not None:
        accepted = f"{found.reader} has no argument for it; ntk without it is read"
        raise InputError(f"{found.block.where}: mixed_b cannot be used", f"{mixed:g}", accepted)


X_TRANSFORMERS = Stack(
    name="x-transformers",
    title="x-transformers 2.31.10, module RotaryEmbedding",
    package="x-transformers",
    version="2.31.10",
    date="2026-11-27",
    how="measured",
    source="x-transformers 2.31.10, x_transformers/x_transformers.py",
    reader="x-transformers",
    # ntk: base_rescale_factor, which enlarges the base once; nothing there follows the length
    kinds=("default", "linear", "ntk"),
    readings={
        "linear": LINEAR._replace(then=(_stretch_no_less,)),
        "ntk": Reading(needs=("factor",), then=(_refuse_mixed,)),
    },
    finish=(Description.turn_pairs,),
    dtype="float32",
)
ROTARY_EMBEDDING_TORCH = replace(
    X_TRANSFORMERS,
    name="rotary-embedding-torch",
    title="rotary-embedding-torch 0.9.1",
    package="rotary-embedding-torch",
    version="0.9.1",
    source="rotary-embedding-torch 0.9.1, rotary_embedding_torch/rotary_embedding_torch.py",
    reader="rotary-embedding-torch",
)
