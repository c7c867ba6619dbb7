"""params.json of Meta's releases of Llama: what it states about the rotation.

Source: meta-llama/llama-models, models/llama3/args.py and model.py, models/llama4/args.py and model.py;
meta-llama/llama, llama/model.py. The code has constants that no key states: the base where rope_theta is
missing (Llama 1 and 2), and those of the scaling that use_scaled_rope asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pe_spectra.errors import NoModelError
from pe_spectra.findings import Kind
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.rotary_blocks import SCALING_NOT_USED
from pe_spectra.models.stated.statement import (
    CHUNKED,
    ORIGINAL,
    UNTURNED,
    Configuration,
    KeyValue,
    LayerStatement,
    RotaryBlock,
)

#: apply_scaling in models/llama3/model.py; Llama 4 has other constants where no key states them.
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA4 = {"factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 1.0}
LLAMA_LENGTH = 8192
#: Widths of Llama 3.2 (1B, 3B), to which transformers gives factor 32; Meta's code has 8 for all.
_LLAMA32_WIDTHS, _LLAMA32_FACTOR = (2048, 3072), 32.0
#: Keys of which every file has some.
_SIZES = ("dim", "n_heads", "n_layers")
#: Keys that only Llama 4 has.
_LLAMA4_KEYS = ("nope_layer_interval", "moe_args", "attention_chunk_size", "use_qk_norm")
#: Keys of files of the same name that other releases have, which turn in another way.
_FOREIGN = ("yarn", "llama_4_scaling", "rope_scaling", "rope_parameters")
_FACTOR_BY_WIDTH = Kind(
    code="factor-by-width",
    levels=("note",),
    phrase="the factor of the scaling is not stated",
    reasoning="Meta's params.json asks for scaling, but does not give its factor. In transformers Llama 3.2 models of "
    "1B and 3B have 32, and Llama 3.1 has 8; Meta's own code has 8 for all, and for a params.json the answer is that "
    "of Meta's code.",
    formula="use_scaled_rope without rope_scaling_factor, dim {} or {}".format(*_LLAMA32_WIDTHS),
    references=("meta-llama/llama-models, models/llama3/model.py",),
)


def read_params(params: Mapping[str, Any], path: str) -> Configuration:
    """Read what a params.json states about the rotation of its model.

    The trained length is not among its keys: 2,048 for Llama 1, 4,096 for Llama 2, 8,192 for Llama 3,
    131,072 for Llama 3.1 to 3.3; max_seq_len is a buffer's size and is not read.

    Parameters
    ----------
    params : the object of the file. path : the file, for messages.

    Raises
    ------
    FileError : a key of the wrong type or out of range, or of another maker's release.

    >>> read_params({"dim": 4096, "n_heads": 32, "rope_theta": 500000.0}, "params.json").layers[0].head_dim
    128
    """
    keys = Keys(params, path)
    for key in _FOREIGN:
        if key in keys:
            keys.refuse(key, "no release of Meta's has it; the config.json of the same model is accepted")
    if not keys.has_any(*_SIZES):
        raise NoModelError(path, f"states no model; looked for {', '.join(_SIZES)}")
    fourth = keys.has_any(*_LLAMA4_KEYS)
    width, heads = keys.read_integer("dim"), keys.read_integer("n_heads")
    stated = keys.find_integer("head_dim")
    if stated is None and width % heads:
        keys.refuse("dim", f"a multiple of the {heads} heads, n_heads, is accepted")
    layer = LayerStatement(
        head_dim=width // heads if stated is None else stated,
        layout="interleaved",
        older=_read_block(keys, fourth=fourth),
    )
    layers: tuple[LayerStatement, ...] = (layer,)
    if keys.find_integer("nope_layer_interval") is not None:  # the layers that are turned attend within chunks
        chunk = keys.find_integer("attention_chunk_size")
        turned = layer if chunk is None else replace(layer, name=CHUNKED, window=chunk)
        layers = turned, replace(layer, name=UNTURNED, turns=False, older=None)
    return Configuration(
        path=path,
        format="params.json",
        model="llama4" if fourth else "llama",
        scheme="rotary",
        layers=layers,
        findings=tuple(keys.findings),
    )


def _read_block(keys: Keys, *, fourth: bool) -> RotaryBlock:
    base = keys.find_number("rope_theta")
    block = RotaryBlock(where="", base=base, base_key="rope_theta" if base is not None else "")
    stated: dict[str, Any] = {
        name: keys.find_number(key)
        for key, name in (("rope_scaling_factor", "factor"), ("rope_high_freq_factor", "high_freq_factor"))
    }
    scaled = keys.find_truth("use_scaled_rope")
    if not scaled:
        if scaled is None and any(number is not None for number in stated.values()):
            message = "a factor of a scaling is given, but not use_scaled_rope, so nothing is scaled"
            keys.report(SCALING_NOT_USED, message, **stated)
        return block
    values: dict[str, KeyValue] = dict(LLAMA4 if fourth else LLAMA3)
    if not fourth and stated["factor"] is None and keys.find_integer("dim") in _LLAMA32_WIDTHS:
        values["factor"] = _LLAMA32_FACTOR
        message = (
            "no key gives the factor of the scaling: Meta's own code has 8 for all models, which is the answer here; "
            "transformers has 32 for models of this width (Llama 3.2)"
        )
        keys.report(_FACTOR_BY_WIDTH, message, factor=_LLAMA32_FACTOR)
    values.update({name: number for name, number in stated.items() if number is not None})
    values[ORIGINAL] = float(LLAMA_LENGTH)
    return replace(block, where="use_scaled_rope", kind="llama3", values=values)
