"""A rotation as an implementation computes it, from a configuration or a dump; its pairs, turns and phases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

import numpy as np

from pe_spectra.encodings.rotary import Rope
from pe_spectra.exact import F64, NDArray
from pe_spectra.findings import OPEN_OBJECT
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass

if TYPE_CHECKING:
    from pe_spectra.models.dumps.dump import Dump

#: What stands in the place of a description where there is nothing to describe.
NONE = "none"
#: Relative difference of frequencies that are the same formula: a few roundings in float64.
SAME_FORMULA = 1e-12
#: Of arithmetic in float32, as implementations compute a ladder: a power, a quotient, a scaling; and in float64.
FLOAT32_ARITHMETIC, FLOAT64_ARITHMETIC = 2e-6, 1e-14
#: A whole turn, in rad.
TURN = 2 * math.pi
#: Phases this much beyond what training showed count as new: rounding of factors is not.
TOLERANCE = 1.01
#: A pair that turns so often within the training is left alone by YaRN (its beta_fast).
MANY_TURNS = 32.0


@dataclass(frozen=True, kw_only=True)
class Rotation(Result):
    """What queries and keys are turned by in the layers of one type; null where a part is not known.

    `rope` is the encoding of the catalogue that it was computed by; None where it is from a formula or numbers of its
    own.
    """

    rope: Rope | None = None
    name: str = quantity("Name of the type; all where there is one.", default="all")
    head_dim: int | None = quantity("Width of a head, in channels.", default=None, minimum=1)
    rotary_dim: int | None = quantity("Channels of it that are turned, D.", default=None, minimum=0)
    base: float | None = quantity("Base of the ladder before scaling.", default=None, above=0)
    base_key: str | None = quantity(
        "Key of the file that it was read from; empty where none was, null where there is no such file.",
        default=None,
        key=None,
    )
    scaling: str | None = quantity("Scaling by the catalogue's name, none for no scaling.", default=None)
    options: Mapping[str, object] = quantity(
        "Parameters of the scaling by the catalogue's names; empty without one.",
        default_factory=lambda: MappingProxyType({}),
        key="scaling_parameters",
        schema=OPEN_OBJECT,
    )
    frequencies: F64 | None = quantity(
        "Of each of the D/2 pairs, fastest first, after scaling; read-only.",
        unit="rad/position",
        default=None,
        key=None,
    )
    layout: str | None = quantity(
        "Which channels are a pair: i and i + D/2 (half), or 2i and 2i + 1 (interleaved).",
        default=None,
        words=("half", "interleaved", None),
    )
    axes: tuple[int, ...] | None = quantity(
        "Of each pair the axis of the position that turns it (mrope: 0 time, 1 height, 2 width), as the file states it "
        "or its class has it; null where positions have one axis.",
        default=None,
        minimum=0,
    )
    coordinates: str | None = quantity(
        "Coordinates of a picture's patches: counted, or the span that those of every picture have, which is the angle "
        "from end to end of a frequency of 1, as the class was measured; null where it is not known.",
        default=None,
    )
    indexer_layout: str | None = quantity(
        "The layout of the rotation of an indexer beside attention, as the file states it; null where it does not.",
        default=None,
        words=("half", "interleaved", None),
    )
    query_scale: str | None = quantity(
        "Factor on queries by their position s, with the layers that have it, as the class was measured; none for no "
        "factor, null where it is not known.",
        default=None,
    )
    dual_chunk: str | None = quantity(
        "What dual chunk attention does to distances, as the file asks for it; none where it does not, null where no "
        "file could.",
        default=None,
    )
    attention_scaling: float | None = quantity(
        "Factor on every cosine and sine; scores have its square.", default=None, above=0
    )
    offset: int | None = quantity("Phase of the first position, in positions.", default=None)
    dtype: str | None = quantity("Type of cosines and sines, or of the numbers of a dump.", default=None)
    error_bound: float = quantity(
        "Largest relative error of the frequencies from rounding; 0 where they are exact to float64.",
        default=0.0,
        key=None,
    )
    notes: tuple[str, ...] = quantity("What was assumed when it was read, each a sentence.", default=())
    from_arrays: ClassVar[bool] = False  #: whether its numbers were found from arrays, and not stated
    fault: str = ""  #: of a file with a value that its key cannot have, which; empty for others
    by_fault: bool = False  #: whether the frequencies are computed with it; else they do not depend on it

    @property
    def listed(self) -> F64:
        """Its frequencies; empty where they are not known."""
        return np.empty(0) if self.frequencies is None else self.frequencies

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the catalogue's `rope` that say the same, but for those at their defaults."""
        parts = {
            "d": self.head_dim,
            "base": self.base,
            "layout": self.layout if self.layout != "half" else None,
            "scaling": self.scaling if self.scaling != "none" else None,
            **self.options,
        }
        return {name: value for name, value in parts.items() if value is not None}


def is_dump(rotation: Rotation) -> TypeGuard[Dump]:
    """Tell whether a rotation was found from arrays; of what is stated nothing is loaded to tell.

    >>> is_dump(Rotation())
    False
    """
    return rotation.from_arrays


@dataclass(frozen=True, kw_only=True)
class AuditedPair(Result):
    """One pair of channels."""

    pair: int = quantity("Index of the pair, from 0.", minimum=0)
    frequency_before: float | None = quantity(
        "Frequency of the ladder before scaling, 0 for a pair at rest; null where there is no base.",
        unit="rad/position",
        minimum=0,
    )
    frequency: float = quantity(
        "Frequency at the inference context length; below 0 where a scaling with a number below 0 turns it back.",
        unit="rad/position",
    )

    wavelength: float | None = quantity(
        "Positions of a period, 2 pi over the frequency; null for a pair at rest.", unit="positions", above=0
    )
    turns: float | None = quantity(
        "Periods within the training context length, or the window; null where it is not known.", minimum=0
    )
    turns_served: float | None = quantity(
        "Periods within the inference context length, or the window; null where it is not known.", minimum=0
    )
    state: str | None = quantity(
        f"Periods within the training context length: many from {MANY_TURNS:g} on, few from 1 on, never below; null "
        "where the length is not known.",
        words=("many", "few", "never"),
    )


def mark_unseen(shown: F64, met: F64) -> NDArray[np.bool_]:
    """Mark the pairs that meet phases above 1.01 times the largest that training showed, and less than a turn then.

    Parameters
    ----------
    shown, met : (P,) largest phase of each pair in training and now, in rad.

    >>> mark_unseen(np.array([1.0, 1.0, 7.0]), np.array([1.009, 1.02, 70.0])).tolist()
    [False, True, False]
    """
    unseen: NDArray[np.bool_] = (shown < TURN) & (met > TOLERANCE * shown)
    return unseen


def mark_tolerated(shown: F64, met: F64) -> NDArray[np.bool_]:
    """Mark the pairs that meet new phases which :func:`mark_unseen` lets pass: above the largest shown by up to 1 %.

    Parameters
    ----------
    shown, met : as there.

    >>> mark_tolerated(np.array([1.0, 1.0, 1.0, 7.0]), np.array([1.0, 1.009, 1.02, 7.01])).tolist()
    [False, True, False, False]
    """
    tolerated: NDArray[np.bool_] = (shown < TURN) & (met > (1 + SAME_FORMULA) * shown) & ~mark_unseen(shown, met)
    return tolerated


def take_off_turns(phases: F64) -> F64:
    """Wrap phases in rad to -pi .. pi, in place.

    >>> take_off_turns(np.array([7.0])).round(4)  # 7 - 2 pi
    array([0.7168])
    """
    phases -= TURN * np.rint(phases / TURN)
    return phases
