"""From the parameters that a file gives to a rotation, or to the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pe_spectra.encodings.rope_scaling import Scaled
from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import InputError
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.description import Description
from pe_spectra.models.stacks.stack import Refusal
from pe_spectra.models.stated.statement import Configuration, LayerStatement

#: Parameters that are a rotation's own and no options of its scaling.
_OWN = ("d", "base", "layout", "scaling")


def list_options(values: Mapping[str, Any]) -> dict[str, object]:
    """Return what belongs to a scaling: all but width, base, layout and its name.

    >>> list_options({"d": 64, "base": 1e4, "scaling": "linear", "factor": 2.0})
    {'factor': 2.0}
    """
    return {key: value for key, value in values.items() if key not in _OWN}


def turn_by_rope(layer: LayerStatement, found: Description, *, dtype: str | None) -> Rotation | Refusal:
    """Compute the rotation of the catalogue's `rope` with these parameters; refuse what it refuses.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 4, "rope_theta": 1e4, "max_position_embeddings": 4096}
    >>> stated = read_configuration(config, "config.json")
    >>> found = Description(configuration=stated, block=stated.layers[0].older)
    >>> found.values.update(d=4, base=1e4)
    >>> turn_by_rope(stated.layers[0], found, dtype=None).frequencies.tolist()
    [1.0, 0.01]
    """
    try:
        rope = Rope(**found.values)
    except InputError as error:
        return Refusal(reason=f"{found.configuration.path}: {layer.say_in_keys(str(error))}")
    frequencies = rope.frequencies()
    return Rotation(
        name=layer.name,
        head_dim=rope.d,
        rotary_dim=rope.rotary_width,
        base=rope.base,
        scaling=rope.scaling,
        options=list_options(found.values),
        frequencies=frequencies.values,
        layout=rope.layout,
        attention_scaling=frequencies.amplitude,
        offset=0,
        dtype=dtype,
        notes=tuple(found.notes),
    )


def turn_by_formula(
    layer: LayerStatement, found: Description, scaled: Scaled, *, dtype: str | None, layout: str
) -> Rotation:
    """Round frequencies that a formula of a stack's own has.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 4, "rope_theta": 1e4, "max_position_embeddings": 4096}
    >>> stated = read_configuration(config, "config.json")
    >>> found = Description(configuration=stated, block=stated.layers[0].older)
    >>> from pe_spectra.encodings.rope_scaling import scale_linear
    >>> found.values.update(d=4, base=1e4, scaling="linear")
    >>> scaled = scale_linear(1e4, 4, factor=2.0)
    >>> turn_by_formula(stated.layers[0], found, scaled, dtype=None, layout="half").frequencies.tolist()
    [0.5, 0.005]
    """
    frequencies = np.array([float(theta) for theta in scaled.frequencies])
    frequencies.flags.writeable = False
    return Rotation(
        name=layer.name,
        head_dim=layer.head_dim,
        rotary_dim=2 * len(frequencies),
        base=found.values["base"],
        scaling=found.values.get("scaling", "none"),
        options=list_options(found.values),
        frequencies=frequencies,
        layout=layout,
        attention_scaling=float(scaled.attention_factor),
        offset=0,
        dtype=dtype,
        notes=tuple(found.notes),
    )


def answer_early(configuration: Configuration, layer: LayerStatement) -> Rotation | Refusal | None:
    """Answer for layers that are not turned, and refuse a GGUF file, which llama.cpp alone reads; else None.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 64, "rope_theta": 1e4}, "config.json")
    >>> answer_early(stated, stated.layers[0]) is None
    True
    """
    if configuration.format == "gguf":
        return Refusal(reason=f"{configuration.path}: a GGUF file is read by llama.cpp alone")
    if layer.turns:
        return None
    none = np.zeros(0)
    none.flags.writeable = False
    return Rotation(
        name=layer.name,
        head_dim=layer.head_dim,
        rotary_dim=0,
        scaling="none",
        frequencies=none,
        layout=layer.layout,
        attention_scaling=1.0,
        offset=0,
        notes=("these layers are not turned",),
    )
