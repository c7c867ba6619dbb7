"""What each way to lengthen the context of a rotary model would do to its frequencies.

A pair shows its phases in training as far as theta L, the whole turn at most. A way to lengthen the
context is judged by which pairs would meet new phases at the target, and by what it costs: pairs that
are slowed tell neighbouring positions apart less well. Symbols as in `bounds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from pe_spectra.encodings.rope_scaling import SCALINGS, Scaled, scale_nothing
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.models.audited_pairs import TURN, mark_unseen
from pe_spectra.models.lengths.bounds import (
    Bound,
    compute_critical_dimension,
    compute_ntk_base,
    list_bounds_of_change,
    list_bounds_of_length,
)
from pe_spectra.models.lengths.negative_lags import find_first_negative_lag
from pe_spectra.models.lengths.ways import WAYS, ContextParameters, ContextReport, Flags, MethodResult, Options
from pe_spectra.models.rotation import SAME_FORMULA

#: Pairs times lags that the search of the first negative sum goes through for one method.
MAX_SCANNED_BY_METHOD = 1 << 27
#: Two ways enlarge the base to what the literature proposes, by the bound that says to what.
_PROPOSED = {"critical-base": "critical-base", "men-base": "men-exact"}
NO_LONGROPE = "longrope is left out: it divides each pair by a number of its own, from a search on the model"


@dataclass(frozen=True, kw_only=True)
class _Scaled:
    """A way with its frequencies."""

    name: str
    scaled: Scaled
    parameters: Options
    notes: tuple[str, ...]


def propose_bases(d: int, target: int) -> ContextReport:
    """List the bases that are proposed for a context length, whatever model there is.

    Parameters
    ----------
    d : rotary width, even, >= 4. target : positions, >= 8.

    >>> propose_bases(128, 1024).bounds[0].value
    4300.0
    """
    asked = ContextParameters(d=d, base=None, trained=None, target=target)
    return ContextReport(parameters=asked, bounds=list_bounds_of_length(d, target))


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
    raised, remarks = _list_raised(d, base, {bound.name: bound for bound in bounds})
    ways = [*_list_ways(d, base, trained, target), *raised]
    return ContextReport(
        parameters=ContextParameters(d=d, base=base, trained=trained, target=target),
        methods=tuple(_measure(way, before, trained, target, scanned) for way in ways),
        bounds=bounds,
        critical_dimension=compute_critical_dimension(d, base, trained),
        never_turn_in_training=int(np.count_nonzero(before * trained < TURN)),
        scanned=scanned,
        notes=(*remarks, NO_LONGROPE),
    )


def find_unseen(before: F64, after: F64, trained: int, target: int) -> Flags:
    """Mark the pairs that meet phases at the target that training never showed.

    Parameters
    ----------
    before, after : (D/2,), frequencies in training and at the target, rad/position.
    trained, target : lengths in positions.

    >>> find_unseen(np.array([1.0, 1e-3]), np.array([1.0, 1e-3]), 1000, 2000).tolist()
    [False, True]
    """
    shown = before * trained
    return mark_unseen(shown, after * target)


def measure_unseen_share(before: F64, after: F64, trained: int, target: int) -> float:
    """Average over the pairs the share of phases at the target, up to a turn, that training never showed.

    >>> theta = np.array([np.pi / 100])
    >>> round(measure_unseen_share(theta, theta, 100, 200), 12)  # half a turn was seen
    0.5
    """
    shown, met = np.minimum(before * trained, TURN), np.minimum(after * target, TURN)
    new = np.where(find_unseen(before, after, trained, target), 1 - shown / met, 0.0)
    return float(np.mean(new))


def measure_neighbour_distance(frequencies: F64) -> float:
    """Distance of the codes of neighbouring positions: sqrt(sum 2 (1 - cos theta)), for pairs of norm 1.

    >>> round(measure_neighbour_distance(np.array([1.0])), 6)  # 2 sin 1/2
    0.958851
    """
    return float(2 * np.sqrt(np.sum(np.sin(frequencies / 2) ** 2)))


def _list_ways(d: int, base: float, trained: int, target: int) -> list[_Scaled]:
    factor = target / trained
    given: dict[str, float | int] = {"factor": factor, "original": trained, "served": target}
    ways = []
    for name in [name for name in WAYS if name in SCALINGS]:
        keys = {key: given[key] for key in SCALINGS[name].keys if key in given} | dict(WAYS[name].keys)
        same = f"the same as base {compute_ntk_base(d, base, factor):.6g}" if name == "ntk" else ""
        ways.append(_scale(name, SCALINGS[name].function(base, d, **keys), {"base": base, **keys}, same))
    return ways


def _list_raised(d: int, base: float, bounds: Mapping[str, Bound]) -> tuple[list[_Scaled], tuple[str, ...]]:
    """The two larger bases of the literature, and why one of them is left out."""
    ways, remarks = [], []
    for name, bound in _PROPOSED.items():
        raised = bounds[bound].value
        if raised is None:
            remarks.append(f"the method {name} is left out")  # the bound's remark says why
        elif raised <= base:
            remarks.append(f"the method {name} is left out: {raised:g} is not above the base that there is, {base:g}")
        else:
            ways.append(_scale(name, scale_nothing(raised, d), {"base": raised}))
    return ways, tuple(remarks)


def _scale(name: str, scaled: Scaled, parameters: Options, remark: str = "") -> _Scaled:
    notes = tuple(filter(None, (remark, WAYS[name].remark)))
    return _Scaled(name=name, scaled=scaled, parameters=MappingProxyType(dict(parameters)), notes=notes)


def _measure(way: _Scaled, before: F64, trained: int, target: int, scanned: int) -> MethodResult:
    after = _to_float(way.scaled)
    unseen = find_unseen(before, after, trained, target)
    turns = after * target / TURN
    for array in (after, unseen, turns):
        array.flags.writeable = False
    return MethodResult(
        method=way.name,
        parameters=way.parameters,
        target=target,
        frequencies=after,
        attention_scaling=float(way.scaled.attention_factor),
        turns=turns,
        unseen=unseen,
        unseen_share=measure_unseen_share(before, after, trained, target),
        never_turn=int(np.count_nonzero(after * target < TURN)),
        kept_pairs=int(np.count_nonzero(np.abs(after - before) <= SAME_FORMULA * before)),
        min_wavelength=TURN / float(after.max()),
        neighbour_distance=measure_neighbour_distance(after) / measure_neighbour_distance(before),
        first_negative_lag=find_first_negative_lag(way.scaled.frequencies, scanned),
        notes=way.notes,
    )


def _to_float(scaled: Scaled) -> F64:
    return np.array([float(theta) for theta in scaled.frequencies])
