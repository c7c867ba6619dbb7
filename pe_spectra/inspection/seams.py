"""Where a table changes from one row to the next: jumps, changes of level, rows that stand alone.

A seam is where training changed, as from length 128 to 512. It shows as one long step, or as a lasting change of
norm, of step length (noise) or of the cosine of successive steps (spectrum) that trends and walks do not explain; a
small one in large tables as a change of amplitude or noise, taken apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pe_spectra.exact import F64, I64
from pe_spectra.inspection.amplitudes import BESIDE, find_small_changes
from pe_spectra.inspection.breaks import find_vector_breaks
from pe_spectra.inspection.levels import LevelChange, Signal, find_level_changes
from pe_spectra.inspection.rounding import find_rounding
from pe_spectra.inspection.rows import BESIDE_RATIO, JUMP_RATIO, JUMP_WIDTH, RowSignals
from pe_spectra.inspection.series import Mask, bridge, find_medians, measure_spread, pick_peaks
from pe_spectra.ordering import find_median
from pe_spectra.records import dataclass

#: A jump is this many robust deviations above the steps around it.
_JUMP_DEVIATIONS = 7.0
#: A change of the cosine of neighbours by less is not worth a sentence.
_COSINE_STEP = 0.02
#: A change of norm or step by less of it is not, either.
_LENGTH_STEP = 0.02
#: Squares of steps that are so many times what storing rounds off are those of the codes.
_ROUNDED = 4
#: Third differences beside a jump are at least this part of it.
_SUDDEN = 0.5
#: Steps on each side that a jump is compared with.
_AROUND = 12
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
    norm_ratio, step_ratio : medians of the norms and step lengths of 24 rows after and before, as a ratio; None where
        unchanged.
    turn_before, turn_after : cosines of successive steps, which tell spectra apart; None where unchanged.
    norm_errors, step_errors, turn_errors : standard errors that these changes are of; None where unchanged.
    cosine_before, cosine_after : centred cosines of neighbours; None where unchanged.
    amplitude_ratio, noise_ratio : what neighbours share after and before, and what they do not, as ratios of lengths,
        where they alone show a change; amplitude_errors, noise_errors : standard errors that it is of; else None.
    """

    row: int
    jump: float | None = None
    norm_ratio: float | None = None
    step_ratio: float | None = None
    cosine_before: float | None = None
    cosine_after: float | None = None
    turn_before: float | None = None
    turn_after: float | None = None
    norm_errors: float | None = None
    step_errors: float | None = None
    turn_errors: float | None = None
    amplitude_ratio: float | None = None
    amplitude_errors: float | None = None
    noise_ratio: float | None = None
    noise_errors: float | None = None


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


def find_seams(table: F64, signals: RowSignals, regular: Mask, dtype: str = "float64") -> Seams:
    """Find seams, stray rows and regular jumps among the rows marked `regular`.

    Parameters
    ----------
    table : (S, d); regular : (S,) rows to use; others (outliers, tail) are passed over.
    dtype : type that the table is stored in.

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
    sudden = _is_sudden(signals)
    found_long = np.flatnonzero(_stand_out(ratios, pairs & sudden))
    jumps = [int(p) for p in found_long if _is_single(signals.steps, pairs, int(p), 1)]
    # a seam is one long step: two in a row are a row that stands alone, or a curve that grows ever faster
    double = [p + 1 for p in jumps if p + 1 in jumps]
    stray = tuple(row for row in double if _stands_alone(signals.steps, row))
    jumps = [p for p in jumps if p not in double and p + 1 not in double]
    spacing = _find_spacing(jumps, np.flatnonzero(regular))
    if spacing:
        wraps = tuple(p for p in jumps if (p - jumps[0]) % spacing == 0)
        return Seams(stray=stray, spacing=spacing, wraps=wraps)
    wide = _compare_around(signals.jumps, pairs, gap=JUMP_WIDTH)
    whole = sliding_window_view(np.pad(regular, JUMP_WIDTH - 1), 2 * JUMP_WIDTH).all(axis=1)
    usable = pairs & whole & ~_near(pairs, [q for p in stray for q in (p - 1, p)], JUMP_WIDTH)
    peaks = pick_peaks(wide, _stand_out(wide, usable & sudden), 2 * JUMP_WIDTH)
    peaks = [p for p in peaks if _is_single(signals.jumps, usable, p, _CLEAR)]
    found = {p: Seam(row=p, jump=float(np.exp(ratios[p]))) for p in jumps}
    lone = (p for p in peaks if all(abs(p - q) > JUMP_WIDTH for q in jumps))
    found |= {p: Seam(row=p, jump=float(np.exp(wide[p]))) for p in lone}
    if len(found) > max(_MAX_SEAMS, len(table) // 50):
        found = {}  # steps of very different length are this table's habit
    trusted = regular.copy()
    trusted[list(stray)] = False
    # what stands out of what its neighbours predict is a surer place than a wide jump's
    inside = usable.copy()
    inside[: int(np.argmax(usable)) + JUMP_WIDTH] = False
    for place in find_vector_breaks(table, trusted, inside, ratios):
        found = {p: seam for p, seam in found.items() if abs(p - place) > JUMP_WIDTH}
        found[place] = Seam(row=place, jump=float(np.exp(ratios[place])))
    rounding = find_rounding(table, dtype).measure(table)
    seams = _add_levels(found, _list_signals(signals, trusted, rounding), signals, regular, stray)
    # rows on both sides of a seam are not those of one process
    return Seams(seams=seams or _find_small(table, trusted, rounding), stray=stray)


def _compare_around(values: F64, valid: Mask, gap: int) -> F64:
    """Return ln(value / median of the 12 values beyond `gap` on either side)."""
    logs = bridge(np.log(np.where(valid, np.maximum(values, 1e-300), 1.0)), valid)
    return logs - find_medians(logs, gap + _AROUND, gap)


def _is_sudden(signals: RowSignals) -> Mask:
    """Say of each step whether vectors jump there, (S - 1,): a steep curve leads on from one step to the next.

    Of a jump J the third differences beside it are J, -2 J and J, of a curve small.
    """
    padded = np.pad(signals.twists, 2, constant_values=np.inf)  # near the ends there are fewer
    near: F64 = sliding_window_view(padded, 3).max(axis=1)
    sudden: Mask = near[: len(signals.steps)] >= _SUDDEN * signals.steps
    return sudden


def _stand_out(ratios: F64, valid: Mask) -> Mask:
    spread = max(measure_spread(ratios[valid]), 0.01) if valid.any() else 1.0
    found: Mask = valid & (ratios > max(np.log(JUMP_RATIO), _JUMP_DEVIATIONS * spread))
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
    longer = [values[place] > BESIDE_RATIO * values[p] for p in before + after]
    equal = [gap == 1 and 0.6 < values[place] / values[p] < 1.6 for p in before + after]
    inside = place >= int(np.argmax(pairs)) + JUMP_WIDTH  # what the first rows do is no seam
    return inside and bool(before and after) and any(longer) and all(a or b for a, b in zip(longer, equal, strict=True))


def _stands_alone(steps: F64, row: int) -> bool:
    """Say whether the steps to and from a row are longer than those before and after them."""
    before, after = steps[max(row - 2, 0) : row - 1], steps[row + 1 : row + 2]
    return bool((steps[row - 1] > BESIDE_RATIO * before).all() and (steps[row] > BESIDE_RATIO * after).all())


def _find_spacing(jumps: list[int], rows: I64) -> int | None:
    """Return W where at least three jumps, and most places s, s + W, .. of the table, agree."""
    if len(jumps) < 3:
        return None
    spacing = int(find_median(np.diff(jumps)))
    if spacing < 2:
        return None
    residues, counts = np.unique(np.array(jumps) % spacing, return_counts=True)
    residue, count = int(residues[np.argmax(counts)]), int(counts.max())
    places = np.arange(int(rows[0]), int(rows[-1]))
    possible = int((places % spacing == residue).sum())
    return spacing if count >= max(3, 0.7 * possible) and count >= 0.7 * len(jumps) else None


def _add_levels(
    found: dict[int, Seam], listed: dict[str, Signal], signals: RowSignals, regular: Mask, stray: tuple[int, ...]
) -> tuple[Seam, ...]:
    """Add the lasting changes of norm, step and spectrum to the jumps, joining what is near."""
    cosines = Signal(values=signals.centred_cosines, valid=listed["step"].valid, span=1)
    seams, inside = dict(found), np.flatnonzero(regular)
    for place, there in find_level_changes(listed, int(inside[0]), int(inside[-1]) + 1):
        near = [p for p in seams if abs(p - place) <= JUMP_WIDTH]
        # a row that stands alone at the break is the last one before it
        near = near or [row for row in stray if row in (place, place + 1)]
        row = min(near, key=lambda p: abs(p - place)) if near else place
        seams[row] = replace(seams.get(row, Seam(row=row)), **_describe(there, listed, cosines, row))
    return tuple(seams[row] for row in sorted(seams))


def _find_small(table: F64, rows: Mask, rounding: F64) -> tuple[Seam, ...]:
    """Find small changes of amplitude and noise; what is near one another is one, at the surest row."""
    found: dict[int, Seam] = {}
    for change in sorted(find_small_changes(table, rows, rounding), key=lambda one: -one.errors):
        row = next((row for row in found if abs(row - change.row) <= BESIDE), change.row)
        said: dict[str, Any] = {f"{change.what}_ratio": change.ratio, f"{change.what}_errors": change.errors}
        found[row] = replace(found.get(row, Seam(row=row)), **said)
    return tuple(found[row] for row in sorted(found))


def _list_signals(signals: RowSignals, rows: Mask, rounding: F64) -> dict[str, Signal]:
    """List what may change its level: norms, steps, and the cosine of successive steps for the spectrum.

    Lengths x are taken as ln(1 + x/median), so that a curve that passes zero does not leap. Steps, and what differs
    between two of them, are trusted where storing makes a quarter of their squares or less.
    """
    pairs, steps, turns = rows[:-1] & rows[1:], signals.steps, signals.turns
    bends = np.maximum(steps[:-1] ** 2 + steps[1:] ** 2 - 2 * steps[:-1] * steps[1:] * turns, 0.0)
    # what is new of a length is no longer than what a straight line through the vectors does not say
    trusted = {
        "norm": (signals.norms, rows, np.sqrt(bends)),
        "step": (steps, pairs & (steps**2 > _ROUNDED * (rounding[:-1] + rounding[1:])), signals.twists),
        "turn": (turns, pairs[:-1] & pairs[1:] & (bends > _ROUNDED * 6 * rounding[1:-1]), None),
    }
    listed = {}
    for span, (name, (values, valid, room)) in enumerate(trusted.items()):
        unit = float(find_median(values[valid])) if valid.any() and name != "turn" else 0.0
        if unit > 0:
            values, room = np.log1p(values / unit), None if room is None else np.log1p(room / unit)
        # half a length's change, as ln(1 + x) has it near the median
        least = _COSINE_STEP if name == "turn" else _LENGTH_STEP / 2
        listed[name] = Signal(values=values, valid=valid, span=span, least=least, room=room)
    return listed


def _describe(there: dict[str, LevelChange], listed: dict[str, Signal], cosines: Signal, row: int) -> dict[str, Any]:
    """Say by how much norms, steps and spectra differ behind a row; and cosines of neighbours, where they do."""
    said: dict[str, Any] = {f"{name}_errors": change.errors for name, change in there.items()}
    for name, signal in (*listed.items(), ("cosine", cosines)):
        sides = signal.read_around(row)
        if not all(map(len, sides)):
            continue
        before, after = (float(find_median(side)) for side in sides)
        if name in ("norm", "step") and name in there:
            # the change of the logarithms is that of the lengths near their median alone
            before, after = (float(find_median(np.expm1(side))) for side in sides)
            said[f"{name}_ratio"] = after / before
        elif name in there or (name == "cosine" and abs(after - before) >= _COSINE_STEP):
            said |= {f"{name}_before": before, f"{name}_after": after}
    return said
