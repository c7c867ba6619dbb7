"""What a stack is: an implementation that turns the statements of a file into a rotation, or refuses to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from pe_spectra.encodings.rope_scaling import Scaled
from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import FileError, InputError
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks.description import Description
from pe_spectra.models.stated.statement import Configuration, LayerStatement

#: Parameters that are a rotation's own and no options of its scaling.
_OWN = ("d", "base", "layout", "scaling")


class Refusal(NamedTuple):
    """An implementation does not take this file.

    Attributes
    ----------
    reason : one sentence, with the key and the value.
    seen : its code was seen to refuse this, where other releases may not; else no rotation is computed here.

    >>> Refusal("rope_type is yarn").seen
    False
    """

    reason: str
    seen: bool = False


class SeenError(InputError):
    """What the code of a release was seen to refuse, where others do not."""


class Stack(NamedTuple):
    """An implementation whose code was read.

    Attributes
    ----------
    name : as `--stack` takes it.
    title : with the version that was read.
    source : the files that were read, with version or commit.
    turn : from what a file states, one of its layer types, and the length that is served (None: what the file states)
        to a rotation. What is ignored without a word is said in its notes; an InputError or FileError refuses.
    reads_gguf : whether it reads GGUF files.

    >>> from pe_spectra.models.stacks import STACKS
    >>> STACKS["yarn-paper"].title
    'YaRN as its paper has it'
    """

    name: str
    title: str
    source: str
    turn: Callable[[Configuration, LayerStatement, int | None], Rotation]
    reads_gguf: bool = False

    def read(self, configuration: Configuration, layer: LayerStatement, served: int | None) -> Rotation | Refusal:
        """Return what it turns by in the layers of one type, or why it refuses."""
        path, is_gguf = configuration.path, configuration.format == "gguf"
        if is_gguf and not self.reads_gguf:
            return Refusal(reason=f"{path}: a GGUF file is read by llama.cpp alone")
        if not layer.turns and not is_gguf:
            return _leave_still(layer)
        try:
            return self.turn(configuration, layer, served)
        except FileError as error:
            return Refusal(reason=str(error))
        except InputError as error:
            return Refusal(reason=f"{path}: {layer.say_in_keys(str(error))}", seen=isinstance(error, SeenError))


def _leave_still(layer: LayerStatement) -> Rotation:
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


def _list_options(values: Mapping[str, Any]) -> dict[str, object]:
    """What belongs to a scaling: all but width, base, layout and its name."""
    return {key: value for key, value in values.items() if key not in _OWN}


def turn_by_rope(layer: LayerStatement, found: Description, *, dtype: str | None) -> Rotation:
    """Compute the rotation of the catalogue's `rope` with these parameters.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 4, "rope_theta": 1e4, "max_position_embeddings": 4096}
    >>> stated = read_configuration(config, "config.json")
    >>> found = Description(configuration=stated, block=stated.layers[0].older)
    >>> found.values.update(d=4, base=1e4)
    >>> turn_by_rope(stated.layers[0], found, dtype=None).frequencies.tolist()
    [1.0, 0.01]
    """
    rope = Rope(**found.values)
    frequencies = rope.frequencies()
    return Rotation(
        rope=rope,
        name=layer.name,
        head_dim=rope.d,
        rotary_dim=rope.rotary_width,
        base=rope.base,
        scaling=rope.scaling,
        options=_list_options(found.values),
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
        options=_list_options(found.values),
        frequencies=frequencies,
        layout=layout,
        attention_scaling=float(scaled.attention_factor),
        offset=0,
        dtype=dtype,
        notes=tuple(found.notes),
    )
