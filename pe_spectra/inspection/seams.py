"""Where a table changes from one row to the next: jumps, changes of level, rows that stand alone.

A seam is where training changed, as from length 128 to 512. It shows as one long step, or as a
lasting change of norm, of step length (noise) or of the cosine of neighbours. A smooth trend is no
seam: two straight lines, fitted before and after, must disagree where they meet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pe_spectra.exact import F64, I64
from pe_spectra.inspection.breaks import Evidence, measure_evidence
from pe_spectra.inspection.rows import JUMP_WIDTH, RowSignals
from pe_spectra.inspection.series import Mask, bridge, find_medians, measure_spread, pick_peaks

#: A jump is this many times the steps around it, and this many robust deviations above them.
_JUMP_RATIO, _JUMP_DEVIATIONS = 1.5, 7.0
#: A jump is this many times the steps beside it.
_SINGLE_RATIO = 1.3
#: A change of level is this factor, so many standard errors, and so many times the usual wiggle.
_LEVEL_RATIO, _LEVEL_ERRORS, _LEVEL_WIGGLE = 1.25, 7.0, 6.0
#: A change of the cosine of neighbours by less is not worth a sentence.
_COSINE_STEP = 0.02
#: Rows on each side that are looked at: jumps are compared with steps around, lines are fitted.
_AROUND = 12
_SHORTEST_WINDOW, _LONGEST_WINDOW = 8, 32
_MAX_SEAMS = 8
#: From here on, the means of four rows on either side of two places share no step.
_CLEAR = 2 * JUMP_WIDTH - 1


@dataclass(frozen=True, kw_only=True)
class Seam:
    """A change between rows `row` and `row` + 1.

    Attributes
    ----------
    jump : step length there, or distance of the means of four rows, over that of the steps around;
        None where it is no longer than usual.
    norm_ratio, step_ratio : norm and step length after over before; None where unchanged.
    cosine_before, cosine_after : centred cosines of neighbours; None where unchanged.
    """

    row: int
    jump: float | None = None
    norm_ratio: float | None = None
    step_ratio: float | None = None
    cosine_before: float | None = None
    cosine_after: float | None = None


@dataclass(frozen=True, kw_only=True)
class Seams:
    """Seams in order; rows that differ from both neighbours; and the spacing of regular jumps.

    `spacing` is W where the table jumps every W rows, as a grid read line by line does; `wraps` are
    the rows before those jumps.
    """

    seams: tuple[Seam, ...] = ()
    stray: tuple[int, ...] = ()
    spacing: int | None = None
    wraps: tuple[int, ...] = ()


def find_seams(table: F64, signals: RowSignals, regular: Mask) -> Seams:
    """Find seams, stray rows and regular jumps among the rows marked `regular`.

    Parameters
    ----------
    table : (S, d); regular : (S,) rows to use; others (outliers, tail) are passed over.

    >>> from pe_spectra.inspection.rows import measure_rows
    >>> table = np.random.default_rng(0).normal(size=(128, 16)).cumsum(axis=0) * 0.05
    >>> table[64:] += 3
    >>> find_seams(table, measure_rows(table, table.mean(axis=0)), np.ones(128, dtype=bool)).seams[0].row
    63
    """
    pairs = regular[:-1] & regular[1:] & (signals.steps > 0)
    if pairs.sum() < 8:
        return Seams()
    ratios = _compare_around(signals.steps, pairs, gap=0)
    jumps = [int(p) for p in np.flatnonzero(_stand_out(ratios, pairs)) if _is_single(signals.steps, pairs, int(p), 1)]
    # a seam is one long step: two in a row are a row that stands alone
    stray = tuple(p + 1 for p in jumps if p + 1 in jumps)
    jumps = [p for p in jumps if p not in stray and p + 1 not in stray]
    spacing = _find_spacing(jumps, np.flatnonzero(regular))
    if spacing:
        wraps = tuple(p for p in jumps if (p - jumps[0]) % spacing == 0)
        return Seams(stray=stray, spacing=spacing, wraps=wraps)
    wide = _compare_around(signals.jumps, pairs, gap=JUMP_WIDTH)
    whole = sliding_window_view(np.pad(regular, JUMP_WIDTH - 1), 2 * JUMP_WIDTH).all(axis=1)
    usable = pairs & whole & ~_near(pairs, [q for p in stray for q in (p - 1, p)], JUMP_WIDTH)
    peaks = pick_peaks(wide, _stand_out(wide, usable), 2 * JUMP_WIDTH)
    peaks = [p for p in peaks if _is_single(signals.jumps, usable, p, _CLEAR)]
    found = {p: Seam(row=p, jump=float(np.exp(ratios[p]))) for p in jumps}
    lone = (p for p in peaks if all(abs(p - q) > JUMP_WIDTH for q in jumps))
    found |= {p: Seam(row=p, jump=float(np.exp(wide[p]))) for p in lone}
    if len(found) > max(_MAX_SEAMS, len(table) // 50):
        found = {}  # steps of very different length are this table's habit
    trusted = regular.copy()
    trusted[list(stray)] = False
    evidence = measure_evidence(table, signals.norms, trusted)
    _add_breaks(found, evidence, usable, ratios, signals.norms)
    return Seams(seams=_add_levels(found, signals, regular, pairs, stray, evidence), stray=stray)


def _add_breaks(found: dict[int, Seam], evidence: Evidence, usable: Mask, ratios: F64, norms: F64) -> None:
    """Add what only stands out of what its neighbours predict; such a place is surer than a wide jump's."""
    inside = usable.copy()
    inside[: int(np.argmax(usable)) + JUMP_WIDTH] = False
    levels = dict(evidence.find_norm_breaks(inside, norms))
    for place in [*evidence.find_vector_breaks(inside, ratios), *levels]:
        near = [p for p in found if abs(p - place) <= JUMP_WIDTH]
        for other in near:
            del found[other]
        ratio = float(np.exp(ratios[place]))
        found[place] = Seam(row=place, jump=ratio if ratio > _SINGLE_RATIO else None, norm_ratio=levels.get(place))


def _compare_around(values: F64, valid: Mask, gap: int) -> F64:
    """Return ln(value / median of the 12 values beyond `gap` on either side)."""
    logs = bridge(np.log(np.where(valid, np.maximum(values, 1e-300), 1.0)), valid)
    return logs - find_medians(logs, gap + _AROUND, gap)


def _stand_out(ratios: F64, valid: Mask) -> Mask:
    spread = max(measure_spread(ratios[valid]), 0.01) if valid.any() else 1.0
    found: Mask = valid & (ratios > max(np.log(_JUMP_RATIO), _JUMP_DEVIATIONS * spread))
    return found


def _near(pairs: Mask, places: list[int], reach: int) -> Mask:
    near = np.zeros_like(pairs)
    for place in places:
        near[max(place - reach, 0) : place + reach + 1] = True
    return near


def _is_single(values: F64, pairs: Mask, place: int, gap: int) -> bool:
    # one long step, or two with a stray row between them; not one of many that grow or fade
    before = [p for p in range(place - gap, max(place - gap - 3, -1), -1) if pairs[p]][:1]
    after = [p for p in range(place + gap, min(place + gap + 3, len(values))) if pairs[p]][:1]
    longer = [values[place] > _SINGLE_RATIO * values[p] for p in before + after]
    equal = [gap == 1 and 0.6 < values[place] / values[p] < 1.6 for p in before + after]
    inside = place >= int(np.argmax(pairs)) + JUMP_WIDTH  # what the first rows do is no seam
    return inside and bool(before and after) and any(longer) and all(a or b for a, b in zip(longer, equal, strict=True))


def _find_spacing(jumps: list[int], rows: I64) -> int | None:
    """Return W where at least three jumps, and most places s, s + W, .. of the table, agree."""
    if len(jumps) < 3:
        return None
    spacing = int(np.median(np.diff(jumps)))
    if spacing < 2:
        return None
    residues, counts = np.unique(np.array(jumps) % spacing, return_counts=True)
    residue, count = int(residues[np.argmax(counts)]), int(counts.max())
    places = np.arange(int(rows[0]), int(rows[-1]))
    possible = int((places % spacing == residue).sum())
    return spacing if count >= max(3, 0.7 * possible) and count >= 0.7 * len(jumps) else None


def _add_levels(
    found: dict[int, Seam],
    signals: RowSignals,
    regular: Mask,
    pairs: Mask,
    stray: tuple[int, ...],
    evidence: Evidence,
) -> tuple[Seam, ...]:
    """Add the lasting changes of norm, step length and cosine to the jumps, joining what is near."""
    known, lone = [*found], list(stray)
    usable = pairs & ~_near(pairs, [p for row in lone for p in (row - 1, row)], 0)
    steady = usable & ~_near(pairs, known, 0)
    rows = regular.copy()
    rows[lone] = False
    changes: list[tuple[int, dict[str, Any]]] = []
    norm = signals.norms
    for place, ratio in _find_level_changes(np.log(np.where(norm > 0, norm, 1.0)), rows & (norm > 0), gap=0):
        changes.append((evidence.refine_place(place - 1), {"norm_ratio": math.exp(ratio)}))
    for place, ratio in _find_level_changes(np.log(np.maximum(signals.steps, 1e-300)), steady, gap=1):
        changes.append((place, {"step_ratio": math.exp(ratio)}))
    # a curve that passes the mean row turns there as seen from the mean, but not as seen from zero
    plain, centred = (
        [place for place, _ in _find_level_changes(np.log(np.maximum(1 - cosines, 1e-9)), steady, gap=1)]
        for cosines in (signals.cosines, signals.centred_cosines)
    )
    for place in centred:
        before, after = _read_levels(signals.centred_cosines, steady, place)
        if abs(after - before) >= _COSINE_STEP and any(abs(place - p) <= JUMP_WIDTH for p in plain):
            changes.append((place, {"cosine_before": before, "cosine_after": after}))
    seams = dict(found)
    for place, values in changes:
        near = [p for p in seams if abs(p - place) <= JUMP_WIDTH]
        row = min(near, key=lambda p: abs(p - place)) if near else place
        seams[row] = replace(seams.get(row, Seam(row=row)), **values)
    return tuple(seams[row] for row in sorted(seams))


def _read_levels(values: F64, valid: Mask, place: int) -> tuple[float, float]:
    before = values[:place][valid[:place]][-_LONGEST_WINDOW:]
    after = values[place + 1 :][valid[place + 1 :]][:_LONGEST_WINDOW]
    return float(np.median(before)), float(np.median(after))


def _find_level_changes(values: F64, valid: Mask, gap: int) -> list[tuple[int, float]]:
    """Find places k where a logarithm changes its level for good, with the change; the strongest first.

    A line is fitted to the W values before k and to the W values from k + gap on (W = 8 to 32); they
    are compared half-way between. The difference must be ln 1.25, seven standard errors, six times
    what is usual in this signal, and be there in the medians too. Values that are not valid are interpolated.
    """
    inside = np.flatnonzero(valid)
    if len(inside) < 4 * _SHORTEST_WINDOW:
        return []
    first, last = int(inside[0]), int(inside[-1]) + 1
    signal = bridge(values, valid)[first:last]
    width = int(np.clip(len(signal) // 6, _SHORTEST_WINDOW, _LONGEST_WINDOW))
    windows = sliding_window_view(signal, width)
    left, right = windows[: len(windows) - width - gap], windows[width + gap :]
    difference, spread = _compare_lines(left, right, gap)
    medians = np.median(right, axis=1) - np.median(left, axis=1)
    errors = np.maximum(spread * np.sqrt(8 / width), 1e-3)
    wiggle = measure_spread(difference)
    size = np.abs(difference)
    change = (size > np.log(_LEVEL_RATIO)) & (size > _LEVEL_ERRORS * errors) & (size > _LEVEL_WIGGLE * wiggle)
    change &= (np.sign(medians) == np.sign(difference)) & (np.abs(medians) > size / 2)
    strongest = pick_peaks(size / errors, change, width)[:_MAX_SEAMS]
    return [(best + width + first, float(medians[best])) for best in strongest]


def _compare_lines(left: F64, right: F64, gap: int) -> tuple[F64, F64]:
    """Return the difference of two fitted lines where they meet, and the deviation from them."""
    width = left.shape[1]
    place = np.arange(width) - (width - 1) / 2
    slope = place / float(place @ place)
    end = (width + gap) / 2
    to_end = 1 / width + end * slope
    difference: F64 = right @ to_end[::-1] - left @ to_end
    squares = np.zeros(len(left))
    for part in (left, right):
        centred = part - part.mean(axis=1, keepdims=True)
        squares += np.maximum(np.einsum("ij,ij->i", centred, centred) - (part @ slope) ** 2 * float(place @ place), 0.0)
    return difference, np.sqrt(squares / (2 * width - 4))
