"""What a comparison of rotations finds, and the frequencies of one type of layer in A and in B, pair by pair."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

import numpy as np

from pe_spectra.exact import EXACT, F64, NDArray
from pe_spectra.models.rotation import Rotation, is_dump, take_off_turns
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass

#: A phase that is off by more than this breaks a port, in rad.
BREAKS = math.pi / 8

#: Code of the cause that layers have what others should have, whose words name both.
OTHER_LAYERS = "other-layers"
#: A way that is known of dumps whose frequencies agree else, too: its code, and its words with the side and the type.
ROUNDED_CODE, ROUNDED = "frequencies-rounded", "the frequencies of {there} were rounded to {dtype}"

#: The parts of a rotation, in the order in which differences are listed.
PARTS = (
    "base",
    "scaling",
    "frequencies",
    "rotary_dim",
    "layout",
    "axes",
    "coordinates",
    "indexer_layout",
    "attention_scaling",
    "query_scale",
    "dual_chunk",
    "offset",
    "rows",
    "dtype",
    "layer_types",
    "window",
    "other_schemes",
    "errors",
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
    """One pair in A and in B."""

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
    """One part in which A and B differ."""

    what: str = quantity("Name of the part.", words=PARTS)
    a: object = quantity("Its value in A; null where A has none.", schema=_VALUE)
    b: object = quantity("Its value in B; null where B has none.", schema=_VALUE)
    effect: str = quantity("What the difference does, in one sentence with its numbers.")
    first_position: int | None = quantity(
        "First position where a phase is off by more than pi/8; null where none is.", default=None, minimum=0
    )
    layers: tuple[str, ...] = quantity("The types of layers that differ in this way.", default=())


@dataclass(frozen=True, kw_only=True)
class Cause(Result):
    """A known way in which ports go wrong that makes the numbers of one side from those of the other."""

    code: str = quantity("Code of the way.")
    text: str = quantity("The same in words, with its numbers.")
    layers: tuple[str, ...] = quantity("The types of layers that it explains.", default=())


@dataclass(frozen=True, kw_only=True)
class Unknown(Result):
    """One part that cannot be compared."""

    what: str = quantity("Name of the part.")
    a: object = quantity("What A says of it; null for nothing.", schema=_SAID)
    b: object = quantity("What B says of it; null for nothing.", schema=_SAID)
    why: str = quantity("Why it is unknown.")


@dataclass(frozen=True, kw_only=True)
class LayerDiff(Result):
    """The frequencies of one type of layer in A and in B."""

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


@dataclass(frozen=True, kw_only=True)
class Diff(Result):
    """Two rotations against each other, part by part."""

    agree: bool | None = quantity(
        "Whether all parts are the same; null while a part is unknown and none differs.", column=None
    )
    causes: tuple[Cause, ...] = quantity(
        "The likely causes why frequencies differ: of each type of layer the first known way that explains all of "
        "them within rounding.",
        default=(),
        column=None,
    )
    differences: tuple[Difference, ...] = quantity("The parts that differ.")
    unknown: tuple[Unknown, ...] = quantity("The parts that cannot be compared.", column=None)
    layer_types: tuple[LayerDiff, ...] = quantity("The frequencies, by type of layer.", column=None)
    length: int = quantity("Number of positions that were looked at.", key=None, column=None)
    remarks: tuple[str, ...] = quantity("What else a reader should know.", default=(), key=None, column=None)


def compare_frequencies(name: str, a: Rotation, b: Rotation, length: int) -> LayerDiff:
    """Compare the frequencies of one layer type, pair by pair.

    They agree where each differs by no more than the rounding of both sides. Numbers that were rounded
    to bfloat16 or float16 are what a port computes with, so the first position off is found for them
    even where they agree. A pair that one side does not have is not turned there: its frequency is 0.

    >>> a, b = (Rotation(frequencies=np.array([w])) for w in (1.0, 1.5))
    >>> compare_frequencies("all", a, b, 10).first_position_off
    1
    """
    if a.frequencies is None or b.frequencies is None:
        return LayerDiff(name=name, length=length, agree=None)
    pairs = max(len(a.frequencies), len(b.frequencies))
    left, right = (np.pad(one, (0, pairs - len(one))) for one in (a.frequencies, b.frequencies))
    agree = len(a.frequencies) == len(b.frequencies) and not find_off(a, b).any()
    rounded = [side.frequency_dtype if is_dump(side) else None for side in (a, b)]
    matters = not agree or rounded[0] != rounded[1]
    first = _find_first_position(left, right, length) if matters else None
    return LayerDiff(
        name=name,
        length=length,
        agree=agree,
        pairs=tuple(_list_pairs(name, a.frequencies, b.frequencies)),
        max_phase_error=float((length - 1) * np.abs(left - right).max()) if pairs else 0.0,
        first_position_off=first and first[0],
        breaking_pair=first and first[1],
    )


def _find_first_position(a: F64, b: F64, length: int) -> tuple[int, int] | None:
    """Find the first position p = 0 .. length - 1 where p |wa - wb| is further than pi/8 from whole turns.

    Returned are the position and the pair that is furthest off there; None where none is.
    """
    step = np.abs(take_off_turns(np.abs(a - b)))
    widest = float(step.max()) if step.size else 0.0
    if widest * (length - 1) <= BREAKS:
        return None
    # the widest step is at most pi, so it cannot pass over the interval that counts as off
    position = max(1, math.floor(BREAKS / widest))
    while widest * position <= BREAKS:
        position += 1
    return position, int(np.argmax(np.abs(take_off_turns(position * step))))


def find_off(a: Rotation, b: Rotation) -> NDArray[np.bool_]:
    """Tell which of the pairs that both sides have differ by more than the rounding of both.

    >>> find_off(*(Rotation(frequencies=np.array([1.0, w])) for w in (0.1, 0.2))).tolist()
    [False, True]
    """
    pairs = min(len(a.listed), len(b.listed))
    left, right = a.listed[:pairs], b.listed[:pairs]
    off: NDArray[np.bool_] = np.abs(left - right) > _list_errors(a, left) + _list_errors(b, right)
    return off


def _list_errors(rotation: Rotation, frequencies: F64) -> F64:
    """Largest absolute error of each of the first frequencies, in rad/position."""
    bounds: F64 | float = max(rotation.error_bound, EXACT)
    floor = 0.0
    if is_dump(rotation):
        bounds = np.maximum(rotation.error_bounds[: len(frequencies)], EXACT)
        floor = rotation.rest
    errors: F64 = bounds * np.abs(frequencies) + floor
    return errors


def _list_pairs(name: str, a: F64, b: F64) -> Iterator[PairDifference]:
    for pair, (one, other) in enumerate(itertools.zip_longest(a.tolist(), b.tolist())):
        ratio = other / one if one and other is not None else math.inf
        # what hardly turns in A has no ratio that is a number
        shown = ratio if math.isfinite(ratio) else None
        yield PairDifference(layer=name, pair=pair, frequency_a=one, frequency_b=other, ratio=shown)
