"""The rotation that llama.cpp computes from a GGUF file.

Source: ggml-org/llama.cpp, ggml/src/ggml-cpu/ops.cpp (rope_yarn, ggml_rope_cache_init) and ggml.c
(ggml_rope_yarn_corr_dims); src/llama-context.cpp for the attention factor.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from pe_spectra.encodings.rope_scaling import Scaled, scale_linear, scale_longrope, scale_nothing, scale_ntk, scale_yarn
from pe_spectra.errors import FileError, InputError
from pe_spectra.exact import CONTEXT
from pe_spectra.models.dumps.rounding import FLOAT32_ARITHMETIC
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.description import SCALING_KEYS, spell_option
from pe_spectra.models.stated.gguf_divisors import STILL
from pe_spectra.models.stated.statement import Configuration, LayerStatement, RotaryBlock

#: The parameters of scalings by the keys of a block.
_NAMES = {**{key: name for name, key in SCALING_KEYS.items()}, "alpha": "factor"}


def turn_gguf_layer(configuration: Configuration, layer: LayerStatement, served: int | None = None) -> Rotation:
    """Compute the rotation in one type of layer of a GGUF file.

    Raises
    ------
    FileError : a scaling that does not work out (an odd width, a length that is not stated).

    >>> from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
    >>> keys = {"general.architecture": "llama", "llama.attention.head_count": 1, "llama.embedding_length": 4}
    >>> stated = read_gguf_configuration(keys, {}, {}, "a.gguf")
    >>> turn_gguf_layer(stated, stated.layers[0]).frequencies.tolist()
    [1.0, 0.01]
    """
    block = layer.older or RotaryBlock(where="")
    options = _list_options(block)
    if layer.share != 1:
        options["share"] = layer.share
    if block.kind == "longrope":
        options["served"] = _find_length(configuration, block, served)
    width = int(layer.head_dim * layer.share) if block.kind != "proportional" else layer.head_dim
    base = layer.default_base if block.base is None else block.base
    try:
        scaled = _scale(configuration, block, base, width, served) if layer.turns else Scaled(())
    except InputError as error:
        raise FileError(configuration.path, str(error)) from error
    divisors = block.values.get("divisors")
    frequencies = _divide(scaled, divisors if isinstance(divisors, tuple) else None)
    values = np.array([float(theta) for theta in frequencies], dtype=np.float64)
    if not np.isfinite(values).all():
        raise FileError(configuration.path, f"has frequencies beyond {np.finfo(np.float64).max:g}")
    values.flags.writeable = False
    return Rotation(
        name=layer.name,
        head_dim=layer.head_dim,
        rotary_dim=2 * len(values),
        base=base if layer.turns else None,
        scaling={"default": "none", "dynamic": "ntk"}.get(block.kind, block.kind),
        options=options,
        frequencies=values,
        layout=layer.layout,
        attention_scaling=float(scaled.attention_factor),
        offset=0,
        dtype="float32",
        # divisors were converted in float32
        error_bound=FLOAT32_ARITHMETIC if "divisors" in block.values or block.kind == "longrope" else 0.0,
    )


def _list_options(block: RotaryBlock) -> dict[str, object]:
    options: dict[str, object] = {}
    for key, name in _NAMES.items():
        value = block.values.get(key)
        if value is not None:
            options[name] = spell_option(name, value)
    return options


def _scale(configuration: Configuration, block: RotaryBlock, base: float, width: int, served: int | None) -> Scaled:
    """Scale as ggml does before it divides by a tensor; llama3 is in the tensor alone."""
    options: dict[str, Any] = _list_options(block)  # a number or a list, by the scaling
    if block.kind == "linear":
        return scale_linear(base, width, **options)
    if block.kind == "dynamic":
        return scale_ntk(base, width, **options)
    if block.kind == "yarn":
        if "original" not in options:
            raise InputError("context_length is not stated", accepted="yarn depends on it")
        # max(0.001, high - low): with the ends in the wrong order ggml has a step at the first
        fast = options.get("beta_fast", 32.0)
        options["beta_slow"] = min(options.get("beta_slow", 1.0), fast)
        return scale_yarn(base, width, **options)
    if block.kind == "longrope" and "divisors" not in block.values:
        if "original" not in options:
            raise InputError("context_length is not stated", accepted="longrope depends on it")
        length = _find_length(configuration, block, served) or options["original"]
        return scale_longrope(base, width, **options, served=length)
    return scale_nothing(base, width)


def _find_length(configuration: Configuration, block: RotaryBlock, served: int | None) -> int | None:
    original = block.find("original_max_position_embeddings")
    return served or configuration.length or (None if original is None else int(original))


def _divide(scaled: Scaled, divisors: tuple[float, ...] | None) -> tuple[Decimal, ...]:
    """Divide each frequency by its number in the tensor; a huge one stands for 0."""
    if divisors is None or not scaled.frequencies:
        return scaled.frequencies
    return tuple(
        Decimal(0) if by >= STILL else CONTEXT.divide(theta, Decimal(by))
        for theta, by in zip(scaled.frequencies, divisors, strict=True)
    )
