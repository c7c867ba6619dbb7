"""What llama.cpp's converter and library read of each model that was run, by model_type and by architecture."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from pe_spectra.models.stated.known_models import read_measured

#: The release that was measured, tests/reference/llama_cpp: llama.cpp as llama-cpp-python packs it.
LLAMA_CPP_VERSION, LLAMA_CPP_COMMIT = "0.3.36", "0c1e57098"
#: The release of ggml-org/llama.cpp that is this commit; its tag says so, the packed source does not.
LLAMA_CPP_BUILD = "b11312"
_UNKNOWN: Mapping[str, Any] = MappingProxyType({})


@cache
def load_readings() -> Mapping[str, Mapping[str, Any]]:
    """Return what converter and library read for each model_type that was run.

    `architecture`, as GGUF names it; `layout`; `base` where rope_theta is not read; `reads`, the scalings that are, and
    as what; `refuses`, those that are an error, `needs`, a key without which they are, `only`, bases and lengths with
    which they are not; `ignores_share`, `reads_betas`; `mscale`, how mscale_all_dim enters the attention factor of
    yarn; `alpha`, its default; `layers`, the same of other kinds of layers, or that one is `unturned`.

    >>> load_readings()["qwen2"]["reads"]
    {'linear': 'linear', 'yarn': 'yarn'}
    """
    found: Mapping[str, Mapping[str, Any]] = read_measured(f"llama.cpp-{LLAMA_CPP_VERSION}")["models"]
    return found


def find_readings(model: str, layer: str = "all") -> Mapping[str, Any]:
    """Return what is read for one kind of layers of a model_type; empty for one that was not run.

    >>> find_readings("olmo3", "sliding_attention")["reads"], find_readings("olmo3", "full_attention")["reads"]
    ({}, {'linear': 'linear', 'yarn': 'yarn'})
    """
    found = load_readings().get(model, _UNKNOWN)
    kinds: Mapping[str, Mapping[str, Any]] = found.get("layers", _UNKNOWN)
    return kinds.get(layer, found)


def find_architecture(name: str, layer: str = "all") -> Mapping[str, Any]:
    """Return what is read for one kind of layers of an architecture; empty for one that was not run.

    Of models that share it the first that has several kinds; they agree on what a GGUF file does not say.

    >>> find_architecture("command-r")["layout"], find_architecture("cohere2", "full_attention")["unturned"]
    ('interleaved', True)
    """
    models = [model for model, one in load_readings().items() if one["architecture"] == name]
    models.sort(key=lambda model: "layers" not in load_readings()[model])
    return find_readings(models[0], layer) if models else _UNKNOWN
