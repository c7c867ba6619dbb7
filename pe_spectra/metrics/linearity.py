"""Shift linearity: how well a code tells, by one linear map, the code some positions further on."""

from __future__ import annotations

import numpy as np

from pe_spectra.draws import permute
from pe_spectra.exact import F64, I64, ArrayLike
from pe_spectra.metrics.measures import (
    Measure,
    Metrics,
    centre,
    check_table,
    find_excess,
    metric,
    narrow,
)
from pe_spectra.records import dataclass
from pe_spectra.wording import count

#: Shifts that are tried, as far as they are at most an eighth of the length.
SHIFTS = (1, 4, 16, 64, 256)
#: Share of the variance that the components which are kept hold at least.
KEPT_VARIANCE = 0.9999
#: Share of the positions that the map is fitted on.
TRAINED_SHARE = 0.8
#: Fitted positions for each component, at least: fewer would overfit.
ROWS_PER_COMPONENT = 2
#: Positions that one map is fitted and tested on, at most.
_MOST_POSITIONS = 1 << 13
_RIDGE = 1e-10
#: Share of the largest entry of all components below which equal codes may differ, by rounding.
_ROUNDING = 1e-12
_SHIFT = "claim: Vaswani et al. 2017, Sec. 3.5; indicator: ours"


@dataclass(frozen=True, kw_only=True)
class ShiftLinearity(Metrics):
    """Held-out R**2 of the best affine map from e(s) to e(s + k).

    `by_shift` has (k, R**2) for each shift tried, below 0 where the mean code is the better guess; `components` is how
    many principal components were kept.
    """

    shift_linearity_mean: float | None = metric(
        "held-out R**2 of an affine map from e(s) to e(s + k), mean over k", better="higher", maximum=1, source=_SHIFT
    )
    shift_linearity_worst: float | None = metric(
        "held-out R**2 of an affine map from e(s) to e(s + k), worst k", better="higher", maximum=1, source=_SHIFT
    )
    by_shift: tuple[tuple[int, float], ...] = ()
    components: int | None = None


def _measure_shift_linearity(table: ArrayLike) -> ShiftLinearity:
    """Measure how well e(s + k) is an affine map of e(s), on positions that the map was not fitted on.

    z(s): the centred codes on their leading principal components, the fewest that hold 99.99 % of the
    variance (r of them). For k = 1, 4, 16, 64, 256, at most S/8: z(s + k) = A z(s) + a by least squares with
    a ridge of 1e-10, on 80 % of the positions s drawn at random (seed 0; of at most 8192, evenly
    spaced); R**2 = 1 - sum |error|**2 / sum |z(s + k) - mean of the fitted z(s + k)|**2 on the other 20 %.

    Sines and cosines have such a map for any k (Vaswani et al. 2017) and reach 1. The neighbours of a
    held-out position are fitted, so a table that is merely smooth reaches 0.9 and more: read values
    near 1 by their distance from 1, and the worst shift first. Undefined where some k leaves fewer than
    2 r fitted positions, which would overfit.
    """
    values = check_table(table)
    length = len(values)
    shifts = [shift for shift in SHIFTS if shift <= length // 8]
    if not shifts:
        return ShiftLinearity.explain(f"{count(length, 'position')}, too few for a shift")
    if too_much := find_excess("shift linearity", values):
        return ShiftLinearity.explain(too_much)
    codes = _keep_components(narrow(centre(values)))
    if codes is None:
        return ShiftLinearity.explain("all position vectors are equal")
    kept = codes.shape[1]
    splits = [_split(length, shift) for shift in shifts]
    fewest = min(len(fitted) for fitted, _ in splits)
    if fewest < ROWS_PER_COMPONENT * kept:
        return ShiftLinearity.explain(f"{fewest} fitted positions for {kept} components would overfit", components=kept)
    by_shift = tuple((k, _score(codes, k, *split)) for k, split in zip(shifts, splits, strict=True))
    scores = [score for _, score in by_shift]
    found = {"shift_linearity_mean": sum(scores) / len(scores), "shift_linearity_worst": min(scores)}
    return ShiftLinearity.tell(found, by_shift=by_shift, components=kept)


MEASURES = (Measure(kind=ShiftLinearity, function=_measure_shift_linearity, needs=("table",)),)


def _keep_components(centred: F64) -> F64 | None:
    size = float(np.max(np.abs(centred)))
    if size <= 0:
        return None
    values, vectors = np.linalg.eigh(centred.T @ centred)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    held = np.cumsum(values) / np.sum(values)
    kept = int(np.searchsorted(held, KEPT_VARIANCE)) + 1
    codes: F64 = centred @ vectors[:, :kept]
    return codes


def _split(length: int, shift: int) -> tuple[I64, I64]:
    starts = np.arange(length - shift)
    if len(starts) > _MOST_POSITIONS:
        starts = np.rint(np.linspace(0, length - shift - 1, _MOST_POSITIONS)).astype(np.int64)
    order = permute(len(starts))
    count = int(TRAINED_SHARE * len(starts))
    return starts[np.sort(order[:count])], starts[np.sort(order[count:])]


def _score(codes: F64, shift: int, fitted: I64, held_out: I64) -> float:
    source, target = codes[fitted], codes[fitted + shift]
    source_mean, target_mean = source.mean(axis=0), target.mean(axis=0)
    source, wanted = source - source_mean, codes[held_out + shift] - target_mean
    least = _ROUNDING * np.max(np.abs(codes))
    if np.max(np.abs(wanted)) <= least:  # constant on what is held out: its mean predicts it
        return 1.0
    if np.max(np.abs(source)) <= least:  # constant where the map is fitted: there is only a mean
        return 0.0
    gram = source.T @ source
    ridge = _RIDGE * np.trace(gram) / len(gram)
    mapping = np.linalg.solve(gram + ridge * np.eye(len(gram)), source.T @ (target - target_mean))
    error = wanted - (codes[held_out] - source_mean) @ mapping
    return 1.0 - float(np.sum(error * error)) / float(np.sum(wanted * wanted))
