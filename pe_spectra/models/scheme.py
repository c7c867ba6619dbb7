"""The positional encoding that a configuration asks for, as a name and parameters of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pe_spectra.encodings import Encoding, find_encoding
from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import FileError, InputError
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.rotation import SAME_FORMULA, Rotation
from pe_spectra.models.stacks import STACKS, Refusal
from pe_spectra.models.stacks.gguf import turn_gguf_layer
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.statement import Configuration, LayerStatement, state_served

#: Whose reading is the answer: the newest major release of the library that a file is made for.
_ANSWERING: Mapping[str, Callable[[Configuration, LayerStatement, int | None], Rotation | Refusal]] = {
    "config.json": STACKS["transformers-5"].read,
    "params.json": STACKS["meta"].read,
    "gguf": turn_gguf_layer,
}
_NOTES = {"t5": ("the values of its buckets are in the weights, not here",)}


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """An encoding of the catalogue as a configuration asks for it.

    Attributes
    ----------
    name : its name in the catalogue.
    values : parameters by name.
    notes : what was assumed, each a sentence.
    """

    name: str
    values: dict[str, Any]
    notes: tuple[str, ...] = ()

    def build(self) -> Encoding:
        """Build the encoding.

        Raises
        ------
        InputError : a parameter out of range.
        """
        cls = find_encoding(self.name)
        return cls(**{p.keyword: self.values[p.name] for p in cls.accepts if p.name in self.values})


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
    notes: tuple[str, ...] = ()
    if configuration.scheme == "rotary":
        turning = [layer for layer in configuration.layers if layer.turns]
        # layers that see everything go before those with a window
        first = min(turning, key=lambda layer: layer.window is not None)
        others = [layer.name for layer in turning if layer is not first]
        if others:
            left = ", ".join(others)
            notes = (f"the parameters of {first.name} layers are used; others: {left}",)
        found = choose_scheme(configuration, first)
    else:
        found = choose_scheme(configuration)
    return Scheme(name=found.name, values=found.values, notes=(*notes, *found.notes))


def turn_layer(configuration: Configuration, layer: LayerStatement, served: int | None = None) -> Rotation | Refusal:
    """Return the rotation of one layer type as the library that the file is made for computes it.

    That is transformers 5 for config.json, Meta's code for params.json, llama.cpp for GGUF.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 4, "rope_theta": 1e4}, "config.json")
    >>> turn_layer(stated, stated.layers[0]).frequencies.tolist()
    [1.0, 0.01]
    """
    return _ANSWERING[configuration.format](configuration, layer, served)


def choose_scheme(
    configuration: Configuration, layer: LayerStatement | None = None, served: int | None = None
) -> Scheme:
    """Return the encoding of one layer type as the newest major release of transformers gives it.

    Raises
    ------
    FileError : there is no encoding without a table, or the release refuses the file.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> choose_scheme(read_configuration({"model_type": "bloom", "n_head": 16}, "config.json")).name
    'alibi'
    """
    path = configuration.path
    if layer is not None:
        found = turn_layer(configuration, layer, served)
        if isinstance(found, Refusal):
            raise FileError(path, found.reason.removeprefix(f"{path}: "))
        return Scheme(name="rope", values=found.parameters, notes=found.notes)
    names = {"alibi": ("heads",), "t5": ("buckets", "max_distance", "heads"), "sinusoidal": ("d",)}
    if configuration.scheme not in names:
        what = "a learned table, which is in its weights" if configuration.scheme == "learned" else "none"
        raise FileError(path, f"names no positional encoding without a table: {configuration.model} has {what}")
    values = {key: value for key, value in configuration.values.items() if key in names[configuration.scheme]}
    return Scheme(name=configuration.scheme, values=values, notes=_NOTES.get(configuration.scheme, ()))


def build_scheme(configuration: Configuration) -> Encoding | None:
    """Build the encoding of a model that is not rotary; None where there is none without a table.

    Raises
    ------
    FileError : a parameter out of range.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> build_scheme(read_configuration({"model_type": "bloom", "n_head": 16}, "config.json")).label
    'alibi heads=16'
    """
    if configuration.scheme in ("learned", "none", "rotary"):
        return None
    try:
        return choose_scheme(configuration).build()
    except InputError as error:
        raise FileError(configuration.path, str(error)) from error


def rebuild_rope(rotation: Rotation) -> Rope | None:
    """Build the catalogue's encoding from the parts of a rotation; None where they are none of its parameters.

    >>> rebuild_rope(Rotation(rotary_dim=64, head_dim=64, base=5e5, scaling="none", layout="half")).label
    'rope d=64 base=500000'
    """
    known = {parameter.keyword for parameter in Rope.accepts}
    try:
        return Rope(**{key: value for key, value in rotation.parameters.items() if key in known})
    except InputError:
        return None


def build_layers(
    configuration: Configuration, *, trained: int | None = None, served: int | None = None
) -> tuple[tuple[LayerAudit, ...], tuple[tuple[str, Refusal], ...]]:
    """Read every layer type as the answering stack does.

    Parameters
    ----------
    trained, served : lengths in positions that go before those of the file.

    Returns
    -------
    The layer types, and for each that the stack refuses its name and why.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 4096}
    >>> layers, refused = build_layers(read_configuration(config, "config.json"))
    >>> layers[0].never_turn, refused
    (18, ())
    """
    given = trained is not None
    trained = trained if trained is not None else configuration.length
    if configuration.scheme != "rotary":
        return (_build_other(configuration, trained, served),), ()
    layers: list[LayerAudit] = []
    refused: list[tuple[str, Refusal]] = []
    for statement in configuration.layers:
        length = served if served is not None else state_served(statement.block, configuration.length)
        named = LayerAudit(
            name=statement.name,
            scheme="rotary" if statement.turns else "none",
            statement=statement,
            trained_length=trained,
            served_length=length if length is not None else trained,
            trained_scaled=trained if given or not statement.may_be_untrained else None,
            reach=statement.window,
        )
        if not statement.turns:
            layers.append(named)
            continue
        found = turn_layer(configuration, statement, length)
        if isinstance(found, Refusal):
            refused.append((statement.name, found))
            if found.seen:
                found = STACKS["transformers-4"].read(configuration, statement, length)
        layers.append(named if isinstance(found, Refusal) else _add_rotation(named, found))
    return tuple(layers), tuple(refused)


def _add_rotation(layer: LayerAudit, found: Rotation) -> LayerAudit:
    layer = replace(layer, rotation=found)
    if found.rope is not None:
        return replace(layer, encoding=found.rope)
    encoding = rebuild_rope(found)
    if encoding is None:
        return layer
    values = encoding.frequencies().values
    # another library's formula may have no twin in the catalogue; divisors of a tensor are rounded
    near = max(SAME_FORMULA, found.error_bound)
    if values.shape == layer.frequencies.shape and np.allclose(values, layer.frequencies, rtol=near, atol=0):
        return replace(layer, encoding=encoding)
    return layer


def _build_other(configuration: Configuration, trained: int | None, served: int | None) -> LayerAudit:
    return LayerAudit(
        name="all",
        scheme=configuration.scheme,
        encoding=build_scheme(configuration),
        trained_length=trained,
        served_length=served if served is not None else trained,
    )
