"""keras-hub: the layers RotaryEmbedding, LlamaRotaryEmbedding and Phi3SuScaledRotaryEmbedding."""

from __future__ import annotations

from decimal import Decimal

from pe_spectra.encodings.rope_ladders import blend_frequencies, clip_to_unit, compute_ladder, divide_frequencies
from pe_spectra.encodings.rope_scaling import (
    Scaled,
    compute_ntk_exponent,
    compute_yarn_range,
    scale_linear,
    scale_llama3,
    scale_longrope,
    scale_nothing,
)
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.description import (
    Description,
    start_description,
)
from pe_spectra.models.stacks.stack import Stack, turn_by_formula
from pe_spectra.models.stated.statement import Configuration, LayerStatement

_SCALINGS = {
    "default": "none",
    "linear": "linear",
    "dynamic": "dynamic",
    "yarn": "yarn",
    "llama3": "llama3",
    "longrope": "longrope",
    "su": "longrope",
}
#: The default of the layer where a file has no original length.
_YARN_LENGTH = 4096
_ONE, _TENTH = Decimal(1), Decimal("0.1")
#: The least width of a ramp.
_NO_WIDTH = Decimal("0.001")


def _turn_keras_hub(configuration: Configuration, layer: LayerStatement, served: int | None) -> Rotation:
    """Return the rotation that the layers of keras-hub compute from the parameters of the file."""
    block = layer.read_newer()
    if block.kind not in _SCALINGS:
        raise InputError("rope_type is not known to keras-hub", block.kind, f"{', '.join(_SCALINGS)} are")
    found = start_description(configuration, layer, block, _SCALINGS[block.kind], served)
    scaled = _STEPS[_SCALINGS[block.kind]](found, layer.find_width())
    if layer.layout == "interleaved":
        found.notes.append("the layers turn halves: the rows of q and k must be permuted")
    if block is not layer.older and block.kind != "default":
        found.notes.append("the converter from transformers reads rope_theta from rope_parameters, and no scaling")
    return turn_by_formula(layer, found, scaled, dtype=configuration.dtype, layout="half")


def scale_linear_by_power(base: float, width: int, *, factor: float) -> Scaled:
    """Divide all frequencies by s**(D/(D-2)): what keras-hub calls dynamic is linear, and has no length.

    Source: keras-team/keras-hub, rotary_embedding.py.

    Raises
    ------
    InputError : D below 4.

    >>> [float(w) for w in scale_linear_by_power(10000.0, 4, factor=2.0).frequencies]  # by 2**2
    [0.25, 0.0025]
    """
    divisor = CONTEXT.power(Decimal(factor), compute_ntk_exponent(width))
    return Scaled(divide_frequencies(compute_ladder(base, width), divisor))


def scale_yarn_clipped(
    base: float,
    width: int,
    *,
    factor: float,
    original: int,
    beta_fast: float = 32,
    beta_slow: float = 1,
    truncate: bool = False,
) -> Scaled:
    """Scale as keras-hub's yarn does: the ramp ends at pair D/2 - 1 at the latest, and is not truncated unless asked.

    The attention factor is 0.1 ln s + 1, below 1 for s < 1. Source: keras-team/keras-hub, rotary_embedding.py.

    Raises
    ------
    InputError : base 1 or less.

    >>> from pe_spectra.encodings.rope_scaling import scale_nothing
    >>> scaled = scale_yarn_clipped(10000.0, 128, factor=4.0, original=4096).frequencies
    >>> [float(scaled[i] / scale_nothing(10000.0, 128).frequencies[i]) for i in (0, 63)]
    [1.0, 0.25]
    """
    low, high = compute_yarn_range(base, width, original, beta_fast, beta_slow, truncate=truncate)
    high = min(high, Decimal(width // 2 - 1))
    span = max(CONTEXT.subtract(high, low), _NO_WIDTH)
    ramp = [clip_to_unit(CONTEXT.divide(CONTEXT.subtract(Decimal(i), low), span)) for i in range(width // 2)]
    attention = CONTEXT.add(CONTEXT.multiply(_TENTH, CONTEXT.ln(Decimal(factor))), _ONE)
    return Scaled(blend_frequencies(compute_ladder(base, width), Decimal(factor), ramp), attention)


def _scale_nothing(found: Description, width: int) -> Scaled:
    return scale_nothing(found.values["base"], width)


def _scale_linear(found: Description, width: int) -> Scaled:
    found.need_keys("keras-hub", "factor")
    return scale_linear(found.values["base"], width, factor=found.values["factor"])


def _scale_dynamic(found: Description, width: int) -> Scaled:
    found.need_keys("keras-hub", "factor")
    found.notes.append("dynamic divides every frequency by s^(D/(D-2)), at every length")
    return scale_linear_by_power(found.values["base"], width, factor=found.values["factor"])


def _scale_yarn(found: Description, width: int) -> Scaled:
    found.need_keys("keras-hub", "factor")
    found.copy_keys("original", "beta_fast", "beta_slow")
    found.values.setdefault("original", _YARN_LENGTH)
    asked = found.block.values.get("truncate") is True
    found.values["truncate"] = "yes" if asked else "no"
    if asked:
        found.notes.append(f"truncate also holds every position beyond {found.values['original']} there")
    elif "truncate" not in found.block.values:
        found.notes.append("truncate is off unless it is asked for")
    unread = [key for key in ("attention_factor", "mscale", "mscale_all_dim") if key in found.block.values]
    if unread:
        found.notes.append(f"{', '.join(unread)}: not read, the attention factor is 0.1 ln s + 1")
    given = {key: found.values[key] for key in ("factor", "original", "beta_fast", "beta_slow") if key in found.values}
    return scale_yarn_clipped(found.values["base"], width, truncate=asked, **given)


def _scale_llama3(found: Description, width: int) -> Scaled:
    found.need_keys("keras-hub", "factor", "low_freq_factor", "high_freq_factor", "original")
    keys = ("factor", "low_freq_factor", "high_freq_factor", "original")
    return scale_llama3(found.values["base"], width, **{key: found.values[key] for key in keys})


def _scale_longrope(found: Description, width: int) -> Scaled:
    found.need_keys("keras-hub", "short_factor", "long_factor")
    found.take_longrope_lengths()
    found.notes.append("the list is chosen by the length of the input, which is 1 where tokens come one at a time")
    keys = ("original", "factor", "served", "short_factor", "long_factor")
    return scale_longrope(found.values["base"], width, **{key: found.values[key] for key in keys})


_STEPS = {
    "none": _scale_nothing,
    "linear": _scale_linear,
    "dynamic": _scale_dynamic,
    "yarn": _scale_yarn,
    "llama3": _scale_llama3,
    "longrope": _scale_longrope,
}

KERAS_HUB = Stack(
    name="keras-hub",
    title="keras-hub, layer RotaryEmbedding, as of August 2026",
    source="keras-team/keras-hub 71453d08, keras_hub/src/layers/modeling/rotary_embedding.py, "
    "models/llama/llama_rotary_embedding.py, models/phi3/phi3_rotary_embedding.py, utils/transformers/",
    turn=_turn_keras_hub,
)
