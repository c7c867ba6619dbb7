"""What each way to lengthen the context of a rotary model would do to its frequencies.

A pair shows its phases in training as far as theta L, the whole turn at most. A way to lengthen the
context is judged by which pairs would meet new phases at the target, and by what it costs: pairs that
are slowed tell neighbouring positions apart less well. Symbols as in `proposals`; theta' are
the frequencies at the target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from pe_spectra.encodings.rope_scaling import SCALINGS, Scaled, scale_nothing
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, NDArray
from pe_spectra.faces import Cell
from pe_spectra.models.cosine_sums import KernelSample, find_first_negative_lag, sample_kernel
from pe_spectra.models.lengths.proposals import (
    PARAMETERS,
    WAYS,
    Bound,
    Options,
    list_bounds_of_change,
    list_bounds_of_length,
)
from pe_spectra.models.rotation import SAME_FORMULA, TOLERANCE, TURN, mark_tolerated, mark_unseen
from pe_spectra.quantities import Result, derived, quantity, tabulate
from pe_spectra.records import NamedTuple, dataclass

#: Pairs times lags that the search of the first negative sum goes through for one method.
MAX_SCANNED_BY_METHOD = 1 << 27
#: Two ways enlarge the base to what the literature proposes, by the bound that says to what.
_PROPOSED = {"critical-base": "critical-base", "men-base": "men-exact"}
NO_LONGROPE = "longrope is left out: it divides each pair by a number of its own, from a search on the model"

Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class LengthenedPair(Result):
    """One pair of one way, at the target."""

    method: str = quantity("Name of the way.", key=None)
    pair: int = quantity("Index of the pair, the fastest first.", minimum=0)
    frequency: float = quantity("Angular frequency.", unit="rad/position", above=0)
    wavelength: float = quantity("2 pi / frequency.", unit="positions", above=0)
    turns: float = quantity("Periods that it completes within the target.", above=0)
    unseen: bool = quantity("Whether it has out-of-range phases, not covered in training.")


@dataclass(frozen=True, kw_only=True)
class MethodResult(Result):
    """One way to lengthen the context, at the target."""

    method: str = quantity(
        f"Name of the way: {'; '.join(f'{name} {way.does}' for name, way in WAYS.items())}.", words=tuple(WAYS)
    )
    parameters: Options = quantity("What it was computed with.", schema=PARAMETERS, column=None)

    @derived("What training it needs, as published, with the source.", column=None)
    def training(self) -> str:
        return WAYS[self.method].training

    @derived("Base that it was computed with.", key=None)
    def base(self) -> float:
        return self.parameters["base"]

    @derived("Factor that it was computed with; null for a way without one.", key=None)
    def factor(self) -> float | None:
        return self.parameters.get("factor")

    @derived(
        "Pairs with out-of-range phases: they completed no period in training, and the phase theta' T is above "
        f"{TOLERANCE} theta L.",
        minimum=0,
    )
    def unseen_pairs(self) -> int:
        return int(np.count_nonzero(self.unseen))

    tolerated_pairs: int = quantity(
        "Pairs that are not counted there, though they completed no period in training and the phase theta' T is above "
        f"theta L: by no more than the factor {TOLERANCE}.",
        minimum=0,
    )
    unseen_share: float = quantity(
        "Of the phases met, up to a period, the share not covered in training: the mean over all pairs of "
        "1 - min(theta L, 2 pi) / min(theta' T, 2 pi), 0 for pairs without. Ours.",
        minimum=0,
        maximum=1,
    )
    never_turn: int = quantity("Pairs that never complete a period within the target: theta' T < 2 pi.", minimum=0)
    kept_pairs: int = quantity(f"Pairs whose frequency stays as it was, to {SAME_FORMULA}.", minimum=0)
    min_wavelength: float = quantity("Wavelength of the fastest pair.", unit="positions", above=0)
    neighbour_distance: float = quantity(
        "Distance of the vectors of neighbouring positions, sqrt(sum 2 (1 - cos theta')), over that before the "
        "change; below 1 they are harder to distinguish. Ours.",
        above=0,
    )
    first_negative_lag: int | None = quantity(
        "Smallest lag m with sum cos(m theta') < 0 over the pairs, every sign decided in exact arithmetic; null where "
        "there is none up to scanned_lags. Men et al. 2024, arXiv:2405.14591.",
        unit="positions",
        minimum=1,
    )
    attention_scaling: float = quantity("Factor on every cosine and sine.", above=0)
    target: int = quantity("Inference context length.", unit="positions", key=None, column=None)
    frequencies: F64 = quantity(
        "Of each pair, the fastest first, right to float64; read-only.", unit="rad/position", key=None, column=None
    )
    turns: F64 = quantity("Periods of each pair within the target.", key=None, column=None)
    unseen: Flags = quantity("Pairs with out-of-range phases.", key=None, column=None)

    @derived("Every pair, the fastest first.", key="frequencies", column=None, least=2)
    def every_pair(self) -> tuple[LengthenedPair, ...]:
        rows = zip(self.frequencies.tolist(), self.turns.tolist(), self.unseen.tolist(), strict=True)
        return tuple(
            LengthenedPair(
                method=self.method, pair=pair, frequency=theta, wavelength=TURN / theta, turns=turns, unseen=unseen
            )
            for pair, (theta, turns, unseen) in enumerate(rows)
        )

    @derived("Mean cosine over the pairs, from lag 1 to the target.", key=None, column=None)
    def kernel(self) -> KernelSample:
        return sample_kernel(self.frequencies, self.target)

    notes: tuple[str, ...] = quantity("What to know about it, each a sentence.", default=(), write="; ".join)


@dataclass(frozen=True, kw_only=True)
class ContextReport(Result):
    """What there is to know about a context length.

    >>> report = propose_bases(128, 1024)
    >>> report.d, report.pairs, list(report.to_columns())[:2]
    (128, 64, ['name', 'value'])
    """

    d: int = quantity("Rotary width of a head, D, in channels.", minimum=4, asked=True)
    base: float | None = quantity(
        "Base in training.", default=None, above=1, only=lambda report: report.base is not None, asked=True
    )
    trained: int | None = quantity(
        "Training context length.",
        unit="positions",
        default=None,
        minimum=8,
        only=lambda report: report.trained is not None,
        asked=True,
    )
    target: int = quantity("Inference context length.", unit="positions", minimum=8, asked=True)
    critical_dimension: int | None = quantity(
        "Channels that completed a period in training, 2 ceil(D/2 log_b(L / 2 pi)), from 0 to D; l* of Eq. 16 with L "
        "for d, rounded up to whole pairs; null without a model. Liu et al. 2023, arXiv:2310.05209, lemma 1.",
        default=None,
        minimum=0,
        column=None,
    )
    never_turn_in_training: int | None = quantity(
        "Pairs that completed none, theta L < 2 pi; null without a model.", default=None, minimum=0, column=None
    )
    scanned: int | None = quantity(
        "Lags up to which negative sums were looked for; null without a model.",
        default=None,
        key="scanned_lags",
        minimum=1,
        column=None,
    )
    methods: tuple[MethodResult, ...] = quantity(
        "The ways to lengthen the context, the unchanged model first; empty without a model, and where nothing is "
        "needed.",
        default=(),
        key="rows",
    )
    bounds: tuple[Bound, ...] = quantity(
        "What the literature proposes; the numbers contradict each other, since their assumptions do.",
        least=1,
        column=None,
    )
    notes: tuple[str, ...] = quantity("What to know about all ways.", default=(), key=None, column=None)

    @property
    def pairs(self) -> int:
        """Number of pairs, D/2."""
        return self.d // 2

    def to_columns(self) -> dict[str, Sequence[Cell]]:
        """Return a row for each way, with the periods of five pairs; without a model one for each bound."""
        if not self.methods:
            return tabulate(self.bounds)
        columns = tabulate(self.methods)
        notes = columns.pop("notes")
        for pair in sorted({round(share * (self.pairs - 1)) for share in (0, 0.25, 0.5, 0.75, 1)}):
            columns[f"turns_pair_{pair}"] = [float(row.turns[pair]) for row in self.methods]
        return {**columns, "notes": notes}


def propose_bases(d: int, target: int) -> ContextReport:
    """List the bases that are proposed for a context length, whatever model there is.

    Parameters
    ----------
    d : rotary width, even, >= 4. target : positions, >= 8.

    >>> propose_bases(128, 1024).bounds[0].value
    4300.0
    """
    return ContextReport(d=d, target=target, bounds=list_bounds_of_length(d, target))


def compare_methods(d: int, base: float, trained: int, target: int) -> ContextReport:
    """Compare the ways to take a rotary model from one context length to another, side by side.

    Parameters
    ----------
    d : rotary width D, even, >= 4. base : base of the ladder, > 1.
    trained : positions that it was trained with, >= 8. target : positions wanted, above `trained`.

    Raises
    ------
    InputError : a target that is not above the trained length.

    >>> report = compare_methods(128, 10000, 4096, 32768)
    >>> [(row.method, row.unseen_pairs) for row in report.methods][:3]
    [('none', 18), ('linear', 0), ('ntk', 17)]
    """
    if target <= trained:
        raise InputError("target is not above trained", f"{target} and {trained}", "a longer context is accepted")
    bounds = (*list_bounds_of_change(d, base, trained, target), *list_bounds_of_length(d, target))
    before = _to_float(scale_nothing(base, d))
    scanned = min(max(target, 1 << 20), MAX_SCANNED_BY_METHOD // (d // 2))
    proposed = {bound.name: bound.value for bound in bounds}
    ways, remarks = _list_ways(d, base, trained, target, proposed)
    return ContextReport(
        d=d,
        base=base,
        trained=trained,
        target=target,
        methods=tuple(_measure(way, before, trained, target, scanned) for way in ways),
        bounds=bounds,
        critical_dimension=int(proposed["critical-dimension"] or 0),
        never_turn_in_training=int(np.count_nonzero(before * trained < TURN)),
        scanned=scanned,
        notes=(*remarks, NO_LONGROPE),
    )


class _Scaled(NamedTuple):
    """A way with its frequencies, and what to say about them."""

    name: str
    scaled: Scaled
    parameters: Options
    notes: tuple[str, ...] = ()


def _list_ways(
    d: int, base: float, trained: int, target: int, proposed: Mapping[str, float | None]
) -> tuple[list[_Scaled], list[str]]:
    """Every way, with its published keys; and why one of the two larger bases of the literature is left out."""
    given: dict[str, float | int] = {"factor": target / trained, "original": trained, "served": target}
    ways, remarks = [], []
    for name in WAYS:
        raised = proposed.get(_PROPOSED.get(name, ""))
        if name in SCALINGS:
            scaling = SCALINGS[name]
            known = {**scaling.defaults, **given}
            keys = {key: known[key] for key in scaling.keys if known.get(key) is not None}
            notes = (f"the same as base {proposed['ntk-base']:.6g}",) if name == "ntk" else ()
            ways.append(_Scaled(name, scaling.function(base, d, **keys), {"base": base, **keys}, notes))
        elif raised is not None and raised > base:
            ways.append(_Scaled(name, scale_nothing(raised, d), {"base": raised}))
        else:
            # a bound without a value says itself why
            why = "" if raised is None else f": {raised:g} is not above the base that there is, {base:g}"
            remarks.append(f"the method {name} is left out{why}")
    return ways, remarks


def _measure(way: _Scaled, before: F64, trained: int, target: int, scanned: int) -> MethodResult:
    after = _to_float(way.scaled)
    shown, met = before * trained, after * target
    unseen, unseen_share = _find_unseen(shown, met)
    return MethodResult(
        method=way.name,
        parameters=MappingProxyType(dict(way.parameters)),
        target=target,
        frequencies=after,
        attention_scaling=float(way.scaled.attention_factor),
        turns=met / TURN,
        unseen=unseen,
        tolerated_pairs=int(np.count_nonzero(mark_tolerated(shown, met))),
        unseen_share=unseen_share,
        never_turn=int(np.count_nonzero(met < TURN)),
        kept_pairs=int(np.count_nonzero(np.abs(after - before) <= SAME_FORMULA * before)),
        min_wavelength=TURN / float(after.max()),
        neighbour_distance=_measure_neighbour_distance(after) / _measure_neighbour_distance(before),
        first_negative_lag=find_first_negative_lag(way.scaled.frequencies, scanned),
        notes=tuple(filter(None, (*way.notes, WAYS[way.name].remark))),
    )


def _find_unseen(shown: F64, met: F64) -> tuple[Flags, float]:
    """Mark the pairs that meet phases training never showed; of the phases met up to a turn, their mean share.

    shown and met are the largest phases, in rad, of each pair in training and at the target.
    """
    unseen = mark_unseen(shown, met)
    shown, met = np.minimum(shown, TURN), np.minimum(met, TURN)
    return unseen, float(np.mean(np.where(unseen, 1 - shown / met, 0.0)))


def _measure_neighbour_distance(frequencies: F64) -> float:
    """Distance of the codes of neighbouring positions: sqrt(sum 2 (1 - cos theta)), for pairs of norm 1."""
    return float(2 * np.sqrt(np.sum(np.sin(frequencies / 2) ** 2)))


def _to_float(scaled: Scaled) -> F64:
    return np.array([float(theta) for theta in scaled.frequencies])
