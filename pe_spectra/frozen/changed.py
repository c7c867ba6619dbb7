"""What a comparison of two entries finds, as a record: to say that nothing changed takes no comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pe_spectra.faces import Cell
from pe_spectra.frozen.entries import FrozenFinding
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass

if TYPE_CHECKING:
    from pe_spectra.models.comparison.divergence import Diff

_SAID: Mapping[str, object] = {"type": ["number", "string", "boolean", "null"]}


@dataclass(frozen=True, kw_only=True)
class Change(Result):
    """One thing that is not as it was frozen."""

    what: str = quantity("Name of the key, as the frozen file has it, or of the part, as `diff` has it.")
    layers: tuple[str, ...] = quantity("The types of layers, the parts or the arrays that changed so.", default=())
    frozen: Cell = quantity("Its value when it was frozen; null for none.", schema=_SAID)
    now: Cell = quantity("Its value now; null for none.", schema=_SAID)
    effect: str = quantity("What the change is, in one sentence; A is what was frozen, B what is there now.")
    first_position: int | None = quantity(
        "First position where a phase is off by more than pi/8; of an array the first row of the stretch in which its "
        "first other number is; null where none is known.",
        default=None,
        minimum=0,
    )


@dataclass(frozen=True, kw_only=True)
class EntryComparison(Result):
    """What changed in one entry; besides, the comparison of its rotations, findings, and keys that are not compared."""

    changes: tuple[Change, ...] = ()
    diff: Diff | None = None
    new: tuple[FrozenFinding, ...] = ()
    gone: tuple[FrozenFinding, ...] = ()
    unknown: tuple[str, ...] = ()
