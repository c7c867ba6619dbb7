"""The positional encoding that a configuration asks for, as a name and parameters of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from pe_spectra.encodings import Encoding, find_encoding
from pe_spectra.errors import FileError, InputError
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks import ANSWERING, STACKS, Refusal, Stack, turn_layer
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.statement import NEWEST, Configuration, LayerStatement, state_served
from pe_spectra.records import NamedTuple, dataclass

#: Schemes that are the same in every class, with the encoding of the catalogue and what must be known for it; which
#: encoding others are is measured of each class.
_BY_FORMULA: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "alibi": ("alibi", ("heads",)),
    "t5": ("t5", ("buckets", "heads")),
    "sinusoidal": ("sinusoidal", ("d",)),
    "window-bias": ("swin", ("window", "heads")),
}
#: What of an encoding a configuration does not tell.
_NOTES = {
    "t5": ("the values of its buckets are in the weights, not here",),
    "swin": ("the values of its offsets are in the weights, not here",),
    "deberta": ("the vectors of its buckets are in the weights, not here",),
    "shaw": ("the vectors of its lags are in the weights, not here",),
    "detr-sine": ("the grid is that of the picture, which is not stated here; the default is taken",),
    "sincos2d": ("the grid is that of the picture, which is not stated here; the default is taken",),
}


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """An encoding of the catalogue as a configuration asks for it."""

    name: str  #: its name in the catalogue
    values: Mapping[str, Any]  #: parameters by name
    notes: tuple[str, ...] = ()  #: what was assumed, each a sentence


def read_scheme(config: Mapping[str, Any], path: str) -> Scheme:
    """Return the positional encoding that a configuration asks for; of several layer types the first without a window.

    Parameters
    ----------
    config : the object of config.json.
    path : the file, for messages.

    Raises
    ------
    FileError : a key of the wrong type or out of range, or no positional encoding without a table.

    >>> read_scheme({"hidden_size": 64, "num_attention_heads": 4, "rope_theta": 500000.0}, "config.json").values
    {'d': 16, 'base': 500000.0}
    """
    configuration = read_configuration(config, path)
    name, values = find_formula(configuration)
    if name:
        # of a class whose sines and cosines follow no law that was found
        untold = (f"sines and cosines in turns are taken; {configuration.untold}",)
        return Scheme(name=name, values=values, notes=untold if configuration.untold else _NOTES.get(name, ()))
    if configuration.scheme != "rotary":
        what = "a learned table, which is in its weights" if configuration.scheme == "learned" else configuration.scheme
        raise FileError(path, f"names no positional encoding without a table: {configuration.model} has {what}")
    turning = [layer for layer in configuration.layers if layer.turns]
    # layers that see everything go before those with a window
    first = min(turning, key=lambda layer: layer.window is not None)
    others = ", ".join(layer.name for layer in turning if layer is not first)
    notes = (f"the parameters of {first.name} layers are used; others: {others}",) if others else ()
    found = turn_layer(configuration, first)
    reason = found.reason if isinstance(found, Refusal) else found.fault
    if isinstance(found, Refusal) or reason:
        raise FileError(path, reason.removeprefix(f"{path}: "))
    return Scheme(name="rope", values=found.parameters, notes=(*notes, *found.notes))


def find_formula(configuration: Configuration) -> tuple[str, Mapping[str, int | float | str]]:
    """Return the encoding of the catalogue that a scheme without a rotation is, and its parameters; "" without one.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> find_formula(read_configuration({"model_type": "detr", "d_model": 64}, "config.json"))
    ('detr-sine', {'normalise': 'yes', 'd': 64, 'rho': 10000.0})
    """
    if configuration.formula:
        values = {name: value for name, value in configuration.formula.items() if name != "name"}
        return str(configuration.formula["name"]), values
    name, needed = _BY_FORMULA.get(configuration.scheme, ("", ()))
    if not all(key in configuration.values for key in needed):
        return "", {}
    return name, configuration.values if name else {}


def list_rotations(configuration: Configuration, served: int | None = None) -> dict[str, Rotation | None]:
    """Return what every kind of layer is turned by, of every part, by the names that `audit` gives them.

    Parameters
    ----------
    served : the length that is served; None for what the file states.

    Returns
    -------
    None for a kind that is refused, or whose frequencies are not those of its `rope`.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> list(list_rotations(read_configuration({"model_type": "gemma3_text"}, "config.json")))
    ['sliding_attention', 'full_attention']
    """
    turned = [(one, layer) for one in (configuration, *configuration.parts) for layer in one.layers if layer.turns]
    found = ((one.name_layer(layer), turn_layer(one, layer, served)) for one, layer in turned)
    return {name: one if isinstance(one, Rotation) and _is_of_rope(one) else None for name, one in found}


def _is_of_rope(rotation: Rotation) -> bool:
    rope, found = rotation.rope, rotation.frequencies
    return rope is not None and found is not None and np.array_equal(rope.frequencies().values, found)


class Lengths(NamedTuple):
    """The lengths that were asked for, in positions, which go before those of a file.

    >>> Lengths(served=8192).trained is None
    True
    """

    trained: int | None = None
    served: int | None = None
    allocated: int | None = None  #: for a cache, which some stacks go by; None for the one that is served


#: Those of the file.
AS_STATED = Lengths()


def build_layers(
    configuration: Configuration, lengths: Lengths = AS_STATED, reader: Stack | None = None
) -> tuple[LayerAudit, ...]:
    """Read every layer type as the answering stack does, or the one that is asked for.

    Parameters
    ----------
    reader : the implementation whose reading it is; None for the library that the file is made for.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 4096}
    >>> [layer.never_turn for layer in build_layers(read_configuration(config, "config.json"))]
    [18]
    """
    if configuration.scheme != "rotary" and reader is not None:
        configuration = reader.state(configuration)
    if configuration.scheme != "rotary":
        length = configuration.length if lengths.trained is None else lengths.trained
        other = LayerAudit(
            configuration=configuration,
            encoding=_build_by_formula(configuration),
            trained_length=length,
            served_length=length if lengths.served is None else lengths.served,
        )
        return (other,)
    return tuple(_build_layer(configuration, one, lengths, reader) for one in configuration.layers)


def _build_layer(
    configuration: Configuration, statement: LayerStatement, lengths: Lengths, reader: Stack | None
) -> LayerAudit:
    """Read one layer type; a file that the answering stack was seen to refuse as the release before does."""
    trained, served, allocated = lengths
    turn = partial(turn_layer if reader is None else reader.read, configuration, statement)
    length = configuration.length if trained is None else trained
    reached = served if served is not None else state_served(statement.block, configuration.length)
    read = reached
    if allocated is not None:
        read = (reader or ANSWERING[configuration.format]()).choose_length(statement, reached, allocated)
    found = turn(read) if statement.turns else None
    refusal = found if isinstance(found, Refusal) else None
    if refusal is not None and refusal.cause == "older-name" and reader is None:
        found = STACKS["transformers-4"].read(configuration, statement, reached)
    rotation = None if isinstance(found, Refusal) else found
    expected: Rotation | Refusal | None = None
    if reader is not None:
        is_newest = configuration.release == NEWEST  # else the library that the file is made for cannot read it
        expected = turn_layer(configuration, statement, read) if statement.turns and is_newest else None
        configuration, statement = reader.restrict(configuration, statement)
    return LayerAudit(
        configuration=configuration,
        statement=statement,
        rotation=rotation,
        refusal=refusal,
        encoding=None if rotation is None else rotation.rope,
        trained_length=length,
        served_length=length if reached is None else reached,
        allocated_length=allocated,
        trained_scaled=length if trained is not None or not statement.may_be_untrained else None,
        reader=reader,
        expected=expected if isinstance(expected, Rotation) else None,
        turn=turn,
    )


def _build_by_formula(configuration: Configuration) -> Encoding | None:
    name, values = find_formula(configuration)
    if not name:
        return None
    cls = find_encoding(name)
    try:
        return cls(**{p.keyword: values[p.name] for p in cls.accepts if p.name in values})
    except InputError as error:
        raise FileError(configuration.path, str(error)) from error
