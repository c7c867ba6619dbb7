"""What a comparison of rotations finds, and where phases that grow apart are off for the first time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.models.audited_pairs import take_off_turns
from pe_spectra.quantities import Result, quantity

#: A phase that is off by more than this breaks a port, in rad.
BREAKS = math.pi / 8
#: The parts of a rotation, in the order in which differences are listed.
PARTS = (
    "base",
    "scaling",
    "frequencies",
    "rotary_dim",
    "layout",
    "attention_scaling",
    "offset",
    "dtype",
    "layer_types",
)
_SAID: Mapping[str, object] = {"type": ["number", "string", "null"]}
_VALUE = {
    "anyOf": [
        _SAID,
        {
            "description": "Of frequencies: the pair that is furthest off.",
            "type": "object",
            "properties": {
                "pair": {"type": "integer", "minimum": 0, "description": "Index of the pair, from 0."},
                "frequency": {
                    "type": ["number", "null"],
                    "minimum": 0,
                    "description": "Its frequency in rad/position; null where the side has no such pair.",
                },
            },
            "required": ["pair", "frequency"],
            "additionalProperties": False,
        },
    ]
}


@dataclass(frozen=True, kw_only=True)
class PairDifference(Result):
    """One pair in A and in B.

    >>> PairDifference(layer="all", pair=0, frequency_a=1.0, frequency_b=0.5, ratio=0.5).ratio
    0.5
    """

    layer: str = quantity("Type of layer.", key=None)
    pair: int = quantity("Index of the pair, from 0.", minimum=0)
    frequency_a: float | None = quantity(
        "Frequency in A; null where A has no such pair.", unit="rad/position", minimum=0
    )
    frequency_b: float | None = quantity(
        "Frequency in B; null where B has no such pair.", unit="rad/position", minimum=0
    )
    ratio: float | None = quantity("That of B over that of A; null where one is missing, or A's is 0.", minimum=0)


@dataclass(frozen=True, kw_only=True)
class Difference(Result):
    """One part in which A and B differ.

    >>> found = Difference(what="base", a=5e5, b=1e4, effect="B fell back to the default", first_position=4)
    >>> found.what, found.first_position
    ('base', 4)
    """

    what: str = quantity("Name of the part.", words=PARTS)
    a: object = quantity("Its value in A; null where A has none.", schema=_VALUE)
    b: object = quantity("Its value in B; null where B has none.", schema=_VALUE)
    effect: str = quantity("What the difference does, in one sentence with its numbers.")
    first_position: int | None = quantity(
        "First position where a phase is off by more than pi/8; null where none is.", default=None, minimum=0
    )
    layers: tuple[str, ...] = quantity("The types of layers that differ in this way.", default=())


@dataclass(frozen=True, kw_only=True)
class Unknown(Result):
    """One part that cannot be compared.

    >>> Unknown(what="layout", a="half", b=None, why="a dump of inv_freq does not say it").what
    'layout'
    """

    what: str = quantity("Name of the part.")
    a: object = quantity("What A says of it; null for nothing.", schema=_SAID)
    b: object = quantity("What B says of it; null for nothing.", schema=_SAID)
    why: str = quantity("Why it is unknown.")


@dataclass(frozen=True, kw_only=True)
class LayerDiff(Result):
    """The frequencies of one type of layer in A and in B.

    >>> from pe_spectra.models.comparison.rotations import compare_rotations
    >>> from pe_spectra.models.rotation import Rotation
    >>> a, b = (Rotation(frequencies=np.array([w])) for w in (1.0, 1.01))
    >>> layer, = compare_rotations([a], [b], length=100).layer_types
    >>> layer.first_position_off, round(layer.max_phase_error, 12)  # 0.01 x 40 > pi/8, and 0.01 x 99
    (40, 0.99)
    """

    name: str = quantity("Name of the type; all where there is one.")
    agree: bool | None = quantity(
        "Whether all are the same within the rounding of both sides; null where a side has none."
    )
    length: int = quantity("Number of positions that were looked at, at most the window and one more.", minimum=1)
    pairs: tuple[PairDifference, ...] = quantity("Every pair, the fastest first.", default=())
    max_phase_error: float | None = quantity(
        "Largest difference of two phases at the last position, whole periods not taken off; null where unknown.",
        unit="rad",
        default=None,
        minimum=0,
    )
    first_position_off: int | None = quantity(
        "First position where a phase is off by more than pi/8, whole periods taken off; null where none is.",
        default=None,
        minimum=0,
    )
    breaking_pair: int | None = quantity(
        "The pair that is furthest off there; null where none is off.", default=None, minimum=0
    )
    breaking_error: float | None = quantity("By how much it is off there.", unit="rad", default=None, key=None)


@dataclass(frozen=True, kw_only=True)
class Diff(Result):
    """Two rotations against each other, part by part.

    >>> from pe_spectra.models.comparison.rotations import compare_rotations
    >>> from pe_spectra.models.rotation import Rotation
    >>> same = Rotation(frequencies=np.array([1.0]))
    >>> found = compare_rotations([same], [same], length=100)
    >>> found.agree, found.differences
    (True, ())
    """

    agree: bool | None = quantity(
        "Whether all parts are the same; null while a part is unknown and none differs.", column=None
    )
    differences: tuple[Difference, ...] = quantity("The parts that differ.")
    unknown: tuple[Unknown, ...] = quantity("The parts that cannot be compared.", column=None)
    layer_types: tuple[LayerDiff, ...] = quantity("The frequencies, by type of layer.", column=None)
    length: int = quantity("Number of positions that were looked at.", key=None, column=None)
    remarks: tuple[str, ...] = quantity("What else a reader should know.", default=(), key=None, column=None)


def find_first_position(frequencies_a: F64, frequencies_b: F64, length: int) -> tuple[int, int, float] | None:
    """Find the first position p = 0 .. length - 1 where p |wa - wb| is further than pi/8 from whole turns.

    Parameters
    ----------
    frequencies_a, frequencies_b : (P,) rad/position.

    Returns
    -------
    position, the pair that is furthest off there, and by how much in rad; None where none is.

    >>> find_first_position(np.array([1.0, 0.1]), np.array([1.0, 0.2]), 100)[:2]
    (4, 1)
    """
    step = np.abs(take_off_turns(np.abs(frequencies_a - frequencies_b)))
    widest = float(step.max()) if step.size else 0.0
    if widest * (length - 1) <= BREAKS:
        return None
    # the widest step is at most pi, so it cannot pass over the interval that counts as off
    position = max(1, math.floor(BREAKS / widest))
    while widest * position <= BREAKS:
        position += 1
    off = np.abs(take_off_turns(position * step))
    pair = int(np.argmax(off))
    return position, pair, float(off[pair])
