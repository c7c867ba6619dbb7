"""What a configuration really gives: the frequencies of every pair, how often each turns, and its known problems.

The answer is that of the library that the file is made for, for config.json the newest major release
of Hugging Face transformers, unless another reader is asked for; findings say where another reading differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pe_spectra import spectrum as spectra
from pe_spectra.encodings import Encoding
from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.exact import F64
from pe_spectra.findings import OPEN_OBJECT, Finding, Kind
from pe_spectra.models.rotation import MANY_TURNS, TOLERANCE, TURN, AuditedPair, Rotation, mark_unseen
from pe_spectra.models.stacks import Refusal, Stack
from pe_spectra.models.stacks.description import choose_block
from pe_spectra.models.stated.statement import (
    ORIGINAL,
    SCHEMES,
    Configuration,
    LayerStatement,
    RotaryBlock,
)
from pe_spectra.quantities import Derived, Result, derived, find_hint, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import RANKS, Level

#: Of layers without a rotation.
_NO_STATEMENT = LayerStatement(head_dim=0)


@dataclass(frozen=True, kw_only=True)
class AuditedLowBin(Result):
    """The frequencies below 2 pi over the training context length."""

    length: int = quantity("The training context length, or the window.", unit="positions", minimum=1)
    bin_edge: float = quantity("Width of the lowest bin.", unit="rad/position", above=0)
    crossing: float | None = quantity(
        "l* of Eq. 16, where the ladder crosses the edge, in units of its index l; null where there is no ladder or it "
        "never crosses."
    )
    inside: int = quantity("Number of frequencies strictly between 0 and the edge.", minimum=0)
    outside: int = quantity("Number of the others.", minimum=0)
    zero: int = quantity("Number of frequencies that are 0, of pairs that never turn: some of the others.", minimum=0)
    total: int = quantity("Number of all frequencies.", minimum=1)


class _OfRotation(Derived[Any]):
    """What a rotation holds, declared for the layers that it turns; they do not hold it once more."""

    def __init__(self, name: str) -> None:
        declared = Rotation.quantities()[name]
        super().__init__(
            lambda layer: getattr(layer.rotation or Rotation(), name),
            replace(declared, text=f"{declared.text[:-1]}; null where nothing is turned."),
        )
        self._name = name

    def find_hint(self) -> Any:
        """Return the annotation of what the rotation holds."""
        return find_hint(Rotation, self._name)

    def __get__(self, layer: Any, owner: type[Any] | None = None) -> Any:
        return self if layer is None else self.func(layer)


def _list_known(values: F64 | None, count: int) -> list[float | None]:
    """A number for each pair, None where there is no finite one."""
    return [None] * count if values is None else [value if math.isfinite(value) else None for value in values.tolist()]


@dataclass(frozen=True, kw_only=True)
class LayerAudit(Result):
    """What the layers of one type are given.

    Besides, `statement` is what the file states about their rotation, and `rotation` what the answering library makes
    of it: None where nothing is turned and where the library refuses, which `refusal` says. `trained_scaled` is the
    length that is known to have been trained with the scaling; None where the file does not tell: linear, dynamic and
    yarn also stretch models without further training. `allocated_length` is what was said to be allocated for a cache,
    None where nobody said. `findings` are those that are about these layers. `reader` is the implementation that was
    asked for, None for the answering library; `expected` is what that library makes of these layers, and `turn` gives
    what the reader makes of them at a length that is served.
    """

    configuration: Configuration
    statement: LayerStatement = _NO_STATEMENT
    rotation: Rotation | None = None
    refusal: Refusal | None = None
    trained_scaled: int | None = None
    allocated_length: int | None = None
    findings: tuple[Finding, ...] = ()
    reader: Stack | None = None
    expected: Rotation | None = None
    turn: Callable[[int | None], Rotation | Refusal] | None = field(default=None, compare=False, repr=False)

    @derived(
        "Name of the type; all where there is one. Of a part beside the one that reads text, the key of that part, and "
        "the name behind a dot where it has several types.",
        column="layer",
    )
    def name(self) -> str:
        return self.configuration.name_layer(self.statement) if self.configuration.part else self.statement.name

    @derived("The kind of positional encoding of these layers.", words=SCHEMES)
    def scheme(self) -> str:
        return self.configuration.scheme if self.statement.turns else "none"

    head_dim = _OfRotation("head_dim")
    rotary_dim = _OfRotation("rotary_dim")
    base = _OfRotation("base")
    scaling = _OfRotation("scaling")

    @derived("Parameters of the scaling by the catalogue's names; empty without one.", schema=OPEN_OBJECT, column=None)
    def scaling_parameters(self) -> Mapping[str, object]:
        return {name: value for name, value in (self.rotation or Rotation()).options.items() if name != "share"}

    attention_scaling = _OfRotation("attention_scaling")
    layout = _OfRotation("layout")

    @derived(
        "Length at which the ladder was trained before it was scaled, without one the training context length; null "
        "where it is not known.",
        unit="positions",
        minimum=1,
        column=None,
    )
    def original_length(self) -> int | None:
        stated = self.block.find(ORIGINAL)
        return int(stated) if stated is not None else self.trained_length

    trained_length: int | None = quantity(
        "Training context length; null where neither the file nor the caller says.", unit="positions", minimum=1
    )
    served_length: int | None = quantity(
        "Inference context length; null where neither the file nor the caller says.", unit="positions", minimum=1
    )

    @derived(
        "Positions that these layers see at once (sliding window), a query and those before it; of layers that see "
        "what comes after it, too, the larger side and the query. Null for all, or where it is not known whether the "
        "implementation that is asked for keeps to the window.",
        key="window",
        minimum=1,
    )
    def reach(self) -> int | None:
        return self.statement.window

    @derived(
        "Positions before and after a query that these layers see, where these are not all and some are after it; null "
        "for others.",
        key="window_sides",
        column=None,
        minimum=0,
    )
    def sides(self) -> tuple[int, int] | None:
        return self.statement.sides

    @derived(
        "Pairs that never complete a period within the training context length, or the window; null where one of the "
        "two is not known.",
        minimum=0,
    )
    def never_turn(self) -> int | None:
        turns = self.count_turns(self.trained_length)
        return None if turns is None or self.rotation is None else int(np.count_nonzero(turns < 1))

    @derived(
        "Pairs, by index, that see out-of-range phases (not covered in training) at the inference context length: they "
        f"completed no period in training, and reach a phase above {TOLERANCE} times the largest shown.",
        key="unseen_pairs",
        column=None,
        minimum=0,
    )
    def unseen(self) -> tuple[int, ...]:
        if self.rotation is None or self.original_length is None or self.served_length is None:
            return ()
        if self.count_turns(self.served_length) is None:
            return ()  # which positions meet is not known
        if self.trained_length is None and not self.statement.may_be_untrained:
            return ()  # llama3 and longrope are trained with, for a length that nobody says here
        largest = self.rates * self.limit(self.served_length)
        return tuple(int(i) for i in np.flatnonzero(mark_unseen(self.seen_phases, largest)))

    @derived("How many they are; null where nothing is turned, or a window is not known.", key=None, column="unseen")
    def count_unseen(self) -> int | None:
        return None if self.rotation is None or self.statement.doubted is not None else len(self.unseen)

    @derived("The gravest level of its findings above a note, else ok.", key=None)
    def level(self) -> str:
        return max((one.level for one in self.findings if one.level != "note"), key=RANKS.__getitem__, default="ok")

    @derived("Codes of its findings above a note.", key=None, column="findings")
    def grave_codes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.code for one in self.findings if one.level != "note"))

    @derived("Codes of the notes on it.", key=None, column="notes")
    def note_codes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.code for one in self.findings if one.level == "note"))

    @derived("Every pair, the fastest first; empty where nothing is turned.", key="frequencies", column=None)
    def pairs(self) -> tuple[AuditedPair, ...]:
        with np.errstate(divide="ignore", over="ignore"):
            waves = TURN / self.rates
        turns = self.count_turns(self.trained_length), self.count_turns(self.served_length)
        columns = (_list_known(values, len(waves)) for values in (self.unscaled, self.frequencies, waves, *turns))
        rows = zip(range(len(waves)), *columns, (state or None for state in self.states), strict=True)
        return tuple(AuditedPair(**dict(zip(AuditedPair.quantities(), row, strict=True))) for row in rows)

    @derived(
        "Summaries of Eq. 15 at default bandwidth on a lattice of head_dim points; null where nothing is turned or the "
        "catalogue has no such encoding.",
        key="spectrum",
        column=None,
    )
    def summary(self) -> spectra.SpectrumSummary | None:
        return None if self.spectrum is None else self.spectrum.summary

    @derived(
        "Eq. 16 with the edge 2 pi over the training context length; null where that cannot be counted.", column=None
    )
    def low_bin(self) -> AuditedLowBin | None:
        if self.spectrum is None or self.trained_length is None or self.trained_length < 2:
            return None
        if self.count_turns(self.trained_length) is None:
            return None
        from pe_spectra.spectrum.low_bin import count_low_frequencies

        found = count_low_frequencies(self.spectrum, self.limit(self.trained_length))
        if found is None:
            return None
        return AuditedLowBin(**{name: getattr(found, name) for name in AuditedLowBin.quantities()})

    encoding: Encoding | None = quantity(
        "The same as an encoding of the catalogue; null where it has none.", default=None, column=None
    )

    @derived(
        "The SPEC that names that encoding on the command line; null where none is known.",
        column=None,
    )
    def spec(self) -> str | None:
        known = None if self.configuration.untold else self.encoding
        return None if known is None else known.write_spec(brief=True)

    @derived("What was assumed when the file was read, each a sentence.", column=None)
    def notes(self) -> tuple[str, ...]:
        return () if self.rotation is None else self.rotation.notes

    def find(self, kind: Kind, message: str, /, *, level: Level | None = None, **data: object) -> Finding:
        """Make a finding about these layers; of several types, the sentence begins with the name."""
        if self.name == "all":
            return kind.find(message, level=level, **data)
        return kind.find(f"{self.name}: {message}", level=level, **data, layer_type=self.name)

    @property
    def frequencies(self) -> F64:
        """Frequency of each pair, rad/position, shape (D/2,); empty where nothing turns."""
        found = None if self.rotation is None else self.rotation.frequencies
        return np.empty(0) if found is None else found

    @cached_property
    def rates(self) -> F64:
        """How fast each pair turns, whichever way, rad/position, shape (D/2,)."""
        return np.abs(self.frequencies)

    @cached_property
    def block(self) -> RotaryBlock:
        """The keys that transformers 5 reads; NO_BLOCK where the file has none."""
        return choose_block(self.statement)[0]

    def count_turns(self, length: int | None) -> F64 | None:
        """How often each pair turns within `length` positions, shape (D/2,); None where either is not known."""
        if length is None or (self.statement.doubted or length) < length:
            return None
        return self.rates * (self.limit(length) / TURN)

    def limit(self, length: int) -> int:
        """Return the part of a length that these layers see at once."""
        return min(length, self.reach or length)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """Of each pair "many", "few" or "never", as in its `state`; empty where no length is known."""
        turns = self.count_turns(self.trained_length)
        if turns is None:
            return ("",) * len(self.frequencies)
        return tuple(np.select([turns < 1, turns < MANY_TURNS], ["never", "few"], "many").tolist())

    @property
    def seen_phases(self) -> F64:
        """The largest phase of each pair that training is known to have shown, in radians, shape (D/2,).

        That is the unscaled ladder at the original length, and the pair itself at the length that was
        trained with its scaling.
        """
        original, scaled = self.original_length or 0, self.trained_scaled or 0
        before = self.rates if self.unscaled is None else self.unscaled
        return np.maximum(before * self.limit(original), self.rates * self.limit(scaled))

    @cached_property
    def unscaled(self) -> F64 | None:
        """The ladder of the base before scaling, rad/position, shape (D/2,), right to float64.

        Pairs at rest stay so. None where there is no base.
        """
        if self.base is None or self.base <= 0 or not self.rotary_dim:
            return None
        ladder = np.array([float(theta) for theta in compute_ladder(self.base, self.rotary_dim, len(self.frequencies))])
        return np.where(self.frequencies != 0, self.statement.stride(ladder) if self.statement.strided else ladder, 0.0)

    @cached_property
    def spectrum(self) -> spectra.Spectrum | None:
        """Eq. (15) of the frequencies on a lattice of a point for each channel of a head; None without a rotation."""
        if self.encoding is None or self.rotation is None:
            return None
        from pe_spectra.spectrum.density import compute_density_spectra

        return compute_density_spectra([self.encoding])[0]
