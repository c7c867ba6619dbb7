"""What a model starts from on its way to a longer context: its rotation that sees all positions, and its lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pe_spectra.errors import FileError
from pe_spectra.exact import F64
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.scheme import Lengths, build_layers
from pe_spectra.models.stated.statement import ORIGINAL, Configuration
from pe_spectra.wording import join, write_number

#: What the ways are computed for: widths, bases and lengths; a test holds them against the options of `context`.
WIDTHS, BASES, LENGTHS = (4, 1 << 14), (2.0, 1e18), (8, 1 << 30)
#: What models without a rotation have, and what becomes of it at a longer context.
_WITHOUT_ROTATION: Mapping[str, str] = {
    "alibi": "ALiBi's biases are a formula for every distance",
    "t5": "T5's buckets take every distance, and the last bucket has all long ones",
    "learned": "a learned table has a row for each position, and new rows have to be trained",
    "sinusoidal": "sines by formula are added, as many rows as are made",
    "none": "it has no positional encoding",
}
#: How far frequencies that a stack reads may be from those of the way.
SAME = 1e-9


def list_turned(configuration: Configuration, trained: int | None) -> list[LayerAudit]:
    """List the types of layers that are turned.

    Parameters
    ----------
    trained : training context length that goes before the file's, in positions.

    Raises
    ------
    FileError : there are none, the frequencies of one cannot be given, or they are computed with a value that its
        key cannot have.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 64}
    >>> layers = list_turned(read_configuration(config, "config.json"), None)
    >>> [layer.rotary_dim for layer in layers]
    [8]
    """
    path = configuration.path
    if configuration.scheme != "rotary":
        scheme = configuration.scheme
        why = _WITHOUT_ROTATION.get(
            scheme, f"its positional encoding is {scheme}, and the ways are for ladders of text"
        )
        raise FileError(path, f"has no rotation to lengthen: {why}")
    turned = [one for one in build_layers(configuration, Lengths(trained)) if one.statement.turns]
    if not turned:
        raise FileError(path, "has no rotation to lengthen: no layer is turned")
    for one in turned:
        if one.rotation is None:
            reason = one.refusal.reason.removeprefix(f"{path}: ") if one.refusal is not None else "it is not known"
            raise FileError(path, f"has no frequencies to lengthen: {reason}")
        if one.rotation.by_fault:
            reason = one.rotation.fault.removeprefix(f"{path}: ")
            raise FileError(path, f"has no sound frequencies to lengthen: {reason}")
    return turned


def find_lengths(path: str, layer: LayerAudit, trained: int | None) -> tuple[int, int | None]:
    """Find the length that a file reaches as it is, and the one before its scaling, None where that is not stated.

    Parameters
    ----------
    path : the file, for messages. trained : training context length that goes before the file's, in positions.

    Raises
    ------
    FileError : neither says a length.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 64}
    >>> (layer,) = list_turned(read_configuration(config, "config.json"), None)
    >>> find_lengths("config.json", layer, None)
    (64, 64)
    """
    length, rotation = layer.trained_length, layer.rotation or Rotation()
    if length is None:
        raise FileError(path, "states no context length; --trained has it")
    if rotation.scaling == "none":
        return length, length
    stated = layer.block.find(ORIGINAL)
    if rotation.scaling == "linear" and stated is None:
        if trained is None:
            return length, None
        factor = layer.scaling_parameters.get("factor")
        return round(trained * factor) if isinstance(factor, int | float) else trained, trained
    return max(length, (layer.served_length or length) if trained is None else length), layer.original_length


def choose_one(path: str, far: Sequence[LayerAudit]) -> LayerAudit:
    """Choose the rotation of the layers that see all positions.

    Raises
    ------
    FileError : there are several.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 64}
    >>> layers = list_turned(read_configuration(config, "config.json"), None)
    >>> choose_one("config.json", layers) is layers[0]
    True
    """
    first = far[0]
    others = [one for one in far if not is_same(first.frequencies, one.frequencies)]
    if others:
        names = join([one.name for one in (first, *others)])
        accepted = "--d, --base and --trained without a file compare the ways for one"
        raise FileError(path, f"has several rotations that see all positions ({names}); {accepted}")
    return first


def check_range(path: str, layer: LayerAudit, original: int) -> None:
    """Refuse a width, a base and a length that the ways are not computed for.

    Parameters
    ----------
    path : the file, for messages. original : the length before a scaling, in positions.

    Raises
    ------
    FileError : one of them is out of range.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 64}
    >>> (layer,) = list_turned(read_configuration(config, "config.json"), None)
    >>> check_range("config.json", layer, 4)
    Traceback (most recent call last):
        ...
    pe_spectra.errors.FileError: config.json: its context length is out of range (4); 8 to 1.07374e+09 is accepted
    """
    width, base = layer.rotary_dim or 0, layer.base
    ranges = (("rotary width", width, WIDTHS), ("base", base, BASES), ("context length", original, LENGTHS))
    for name, value, (least, most) in ranges:
        if value is None or not least <= value <= most:
            given = "is not known" if value is None else write_number(value)
            raise FileError(path, f"its {name} is out of range ({given}); {least:g} to {most:g} is accepted")


def check_ladder(path: str, layer: LayerAudit) -> None:
    """Refuse frequencies that are no ladder of a base, scaled or not, from which the ways start.

    Raises
    ------
    FileError : they are none.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 64}
    >>> (layer,) = list_turned(read_configuration(config, "config.json"), None)
    >>> check_ladder("config.json", layer)
    """
    ladder = np.zeros(1) if layer.unscaled is None else layer.unscaled
    is_scaled = layer.scaling != "none"
    if not np.all(ladder > 0) or not (is_scaled or is_same(np.sort(ladder), np.sort(layer.frequencies))):
        raise FileError(path, "its frequencies are no plain ladder of a base, from which the ways start")


def is_same(one: F64, other: F64) -> bool:
    """Say whether frequencies are equal but for rounding, shape (P,) each, rad/position.

    >>> is_same(np.array([1.0]), np.array([1.0 + 1e-12])), is_same(np.array([1.0]), np.array([1.1]))
    (True, False)
    """
    return one.shape == other.shape and bool(np.all(np.abs(one - other) <= SAME * np.abs(other)))
