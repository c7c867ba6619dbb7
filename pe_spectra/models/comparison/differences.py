"""What a comparison of rotations finds, and where phases that grow apart are off for the first time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.models.turns import take_off_turns

#: A phase that is off by more than this breaks a port, in rad.
BREAKS = math.pi / 8


class PairDifference(NamedTuple):
    """One pair in A and in B: frequencies in rad/position and B's over A's; None where a side has no such pair.

    >>> PairDifference(pair=0, frequency_a=1.0, frequency_b=0.5, ratio=0.5).ratio
    0.5
    """

    pair: int
    frequency_a: float | None
    frequency_b: float | None
    ratio: float | None


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One part in which A and B differ.

    Attributes
    ----------
    what : base, scaling, frequencies, rotary_dim, layout, attention_scaling, offset, dtype or layer_types.
    a, b : the two values. effect : what it does, one sentence with its numbers.
    first_position : the first position where a phase is off by more than pi/8; None where none is.
    layers : the layer types that differ in this way.

    >>> found = Difference(what="base", a=5e5, b=1e4, effect="B fell back to the default", first_position=4)
    >>> found.what, found.first_position
    ('base', 4)
    """

    what: str
    a: object
    b: object
    effect: str
    first_position: int | None = None
    layers: tuple[str, ...] = ()


class Unknown(NamedTuple):
    """A part that cannot be compared, with what each side says of it (None: nothing) and why.

    >>> Unknown(what="layout", a="half", b=None, why="a dump of inv_freq does not say it").what
    'layout'
    """

    what: str
    a: object
    b: object
    why: str


@dataclass(frozen=True, kw_only=True)
class LayerDiff:
    """The frequencies of one layer type.

    Attributes
    ----------
    name : the layer type.
    length : positions that were looked at, at most the window of the layers.
    agree : whether all frequencies are the same within the rounding of both sides; None where unknown.
    pairs : every pair.
    max_phase_error : largest difference of phases at the last position, in rad, turns not taken off.
    first_position_off : first position where a phase is off by more than pi/8; None where none is.
    breaking_pair : the pair that is furthest off there.
    breaking_error : by how much, in rad.

    >>> from pe_spectra.models.comparison.rotations import compare_rotations
    >>> from pe_spectra.models.rotation import Rotation
    >>> a, b = (Rotation(frequencies=np.array([w])) for w in (1.0, 1.01))
    >>> layer, = compare_rotations([a], [b], length=100).layer_types
    >>> layer.first_position_off, round(layer.max_phase_error, 12)  # 0.01 x 40 > pi/8, and 0.01 x 99
    (40, 0.99)
    """

    name: str
    length: int
    agree: bool | None
    pairs: tuple[PairDifference, ...] = ()
    max_phase_error: float | None = None
    first_position_off: int | None = None
    breaking_pair: int | None = None
    breaking_error: float | None = None


@dataclass(frozen=True, kw_only=True)
class Diff:
    """What two implementations have in common and what not.

    Attributes
    ----------
    agree : True, False, or None while a part is unknown and nothing was found to differ.
    differences : in the order base, scaling, frequencies, rotary_dim, layout, attention_scaling, offset,
        dtype, layer_types.
    layer_types : the frequencies, by layer type.
    unknown : parts that one side does not say.
    length : positions that were looked at.
    remarks : what else a reader should know.

    >>> from pe_spectra.models.comparison.rotations import compare_rotations
    >>> from pe_spectra.models.rotation import Rotation
    >>> same = Rotation(frequencies=np.array([1.0]))
    >>> found = compare_rotations([same], [same], length=100)
    >>> found.agree, found.differences
    (True, ())
    """

    agree: bool | None
    differences: tuple[Difference, ...]
    layer_types: tuple[LayerDiff, ...]
    unknown: tuple[Unknown, ...]
    length: int
    remarks: tuple[str, ...] = ()


def count_positions(length: int) -> str:
    """Write a number of positions.

    >>> count_positions(1), count_positions(8192)
    ('1 position', '8,192 positions')
    """
    return "1 position" if length == 1 else f"{length:,} positions"


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
