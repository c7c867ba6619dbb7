"""Lattices of an old size under an axis: what least squares with a resize matrix leave, and which lattice is right."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.inspection.interpolation import compute_taps
from pe_spectra.records import NamedTuple

#: A way to interpolate: method and align_corners.
Convention = tuple[str, bool]
#: Those that are told apart.
CONVENTIONS: tuple[Convention, ...] = (
    ("bicubic", False),
    ("bicubic", True),
    ("bilinear", False),
    ("bilinear", True),
    ("bicubic-antialias", False),
    ("nearest", False),
)
#: A lattice is right where it leaves less than others by this (logarithm), in so many standard errors; in fewer where
#: the other axis of a grid has a right one. By chance one of eight sizes is ahead of a given other one by as much in 3
#: of 1000 tables (Student's t of 15 degrees of freedom), and it must be ahead of three and more.
LEAD, ERRORS, ERRORS_BESIDE = 0.2, 6.0, 4.2
#: One in so many rows is not heard.
_UNHEARD = 5
#: Groups of columns, or of rows, that the standard error is taken from.
_GROUPS = 16
#: Added to the diagonal of the normal equations: rows of a part of a table may hardly read its first and last nodes.
_RIDGE = 1e-13
#: Rows by which a lattice is displaced, at most.
_MOST_SHIFT = 64
#: Lattices that are kept for the next table, of at most so many rows each: about 40 MB of them.
_RECALLED, _MOST_RECALLED = 512, 1024


class Fit(NamedTuple):
    """What least squares leave of some rows, and how many directions are free among them."""

    left: F64
    free: int

    @property
    def variance(self) -> float:
        """Of each number in a free direction."""
        return float(np.mean(np.square(self.left)) * len(self.left) / self.free)


def solve_lattice(
    values: F64, old: int, new: int, kind: Convention, start: int = 0, passes: int = 2
) -> tuple[F64, F64]:
    """Return the nodes that explain rows start, start + 1, .. of `new`, and what they leave of them.

    Parameters
    ----------
    values : (R, c) rows, those of NaN count for nothing; old, new : sizes of the whole axis; kind : one of
        CONVENTIONS.
    passes : 2, or 1 where the last digits do not matter.

    Returns
    -------
    (m, c) for the m nodes that these rows read, and (R, c).

    >>> nodes, left = solve_lattice(np.arange(8.0)[:, None], 4, 8, ("nearest", False))
    >>> nodes[:, 0].round(9).tolist(), left[:2, 0].round(9).tolist()
    ([0.5, 2.5, 4.5, 6.5], [-0.5, 0.5])
    """
    from scipy.linalg.lapack import dpbtrs

    size, lost = len(values), np.flatnonzero(np.isnan(values[:, 0]))
    build = _recall_lattice if size <= _MOST_RECALLED else _build_lattice
    lattice = build(old, new, kind, start, size, tuple(lost.tolist()))
    if len(lost):
        values = values.copy()
        values[lost] = 0.0
    nodes, left = np.zeros((lattice.reads.shape[1], values.shape[1])), values
    for _ in range(passes):  # the second one mends what the first rounds off
        nodes = nodes + dpbtrs(lattice.factor, lattice.gathers @ left, lower=1)[0]
        left = values - lattice.reads @ nodes
    return nodes, left


class _Lattice(NamedTuple):
    """W of some rows, (R, m), and W^T, as sparse matrices; and the Cholesky factor of W^T W by its diagonals."""

    reads: Any
    gathers: Any
    factor: F64


def _build_lattice(old: int, new: int, kind: Convention, start: int, size: int, lost: tuple[int, ...]) -> _Lattice:
    """Build W of rows start .. start + size - 1 of `new`; `lost` ones, from `start` on, count for nothing."""
    from scipy.linalg.lapack import dpbtrf
    from scipy.sparse import csr_array

    indices, weights = compute_taps(old, new, np.arange(start, start + size), method=kind[0], align_corners=kind[1])
    indices -= indices.min()
    weights[list(lost)] = 0.0
    count, taps = int(indices.max()) + 1, weights.shape[1]
    reads = csr_array((weights.ravel(), indices.ravel(), np.arange(0, size * taps + 1, taps)), shape=(size, count))
    return _Lattice(reads, reads.T, dpbtrf(_multiply_taps(indices, weights, count), lower=1)[0])


#: All tables of a size are held against the same lattices, and so are both axes of a square grid.
_recall_lattice = lru_cache(maxsize=_RECALLED)(_build_lattice)


def _multiply_taps(indices: I64, weights: F64, count: int) -> F64:
    """Compute W^T W by its diagonals, the main one first and raised by `_RIDGE`; the taps of a row are in order."""
    later, earlier = np.tril_indices(weights.shape[1])
    nodes = indices[:, earlier]
    below = indices[:, later] - nodes
    # two taps that read one node, as beyond the ends, meet on the main diagonal twice
    products = weights[:, later] * weights[:, earlier] * np.where((below == 0) & (later > earlier), 2.0, 1.0)
    shape = int(below.max()) + 1, count
    sums = np.bincount((below * count + nodes).ravel(), products.ravel(), shape[0] * count)
    bands = sums.astype(np.float64, copy=False).reshape(shape)
    bands[0] += _RIDGE * bands[0].max()
    return bands


def fit_lattice(values: F64, old: int, new: int, kind: Convention, passes: int = 2) -> Fit | None:
    """Fit an axis by nodes of an old size; None where every table would fit.

    >>> fit_lattice(np.arange(8.0)[:, None], 4, 8, ("nearest", False)).free
    4
    """
    nodes, left = solve_lattice(values, old, new, kind, passes=passes)
    free = len(left) - len(nodes) - int(np.isnan(values[:, 0]).sum())
    return Fit(left, free) if free > 0 else None


def is_right_lattice(mixed: F64, old: int, kind: Convention, rounding: float, errors: float = ERRORS) -> bool:
    """Say whether a lattice leaves less than those beside it, and than itself displaced.

    Parameters
    ----------
    mixed : (N, c) an axis, rows of NaN count for nothing; rounding : variance that storing leaves in a number.
    errors : standard errors by which it must leave less.

    >>> table = np.random.default_rng(0).normal(size=(64, 16))
    >>> twice = np.repeat(table[:32], 2, axis=0)
    >>> [is_right_lattice(one, 32, ("nearest", False), 1e-32) for one in (table, twice)]
    [False, True]
    """
    new, whole = len(mixed), fit_lattice(mixed, old, len(mixed), kind)
    if whole is None:
        return False
    free = 1 - old / new
    beside = (old - 1,) if kind[0] == "nearest" else (old - 1, old + 1, old + 2)
    fits = (fit_lattice(mixed, other, new, kind) for other in beside if 2 <= other < new)
    # what is left of each free direction, so that lattices of several sizes can be compared
    pairs = [(fit.left * math.sqrt(whole.free / fit.free), whole.left) for fit in fits if fit]
    leads = [_measure_lead(other, own, rounding * free) for other, own in pairs]
    shift = _choose_shift(old, new, kind)
    if shift:
        for rows, start in ((slice(shift, new), 0), (slice(0, new - shift), shift)):
            _, left = solve_lattice(mixed[rows], old, new, kind, start)
            # on long axes by rows: columns of few frequencies may all be off alike
            axis = 0 if len(left) >= 2 * _GROUPS**2 else 1
            leads.append(_measure_lead(left, whole.left[rows], rounding * free, axis))
    return bool(leads) and all(
        lead.mean() > LEAD and lead.mean() > errors * lead.std(ddof=1) / math.sqrt(len(lead)) for lead in leads
    )


def _measure_lead(other: F64, own: F64, rounding: float, axis: int = 1) -> F64:
    """Measure, in groups of columns or of rows, how much more another lattice leaves (logarithm)."""
    squares = np.square(other), np.square(own)
    # some odd rows may lie better in one of them: the fifth that speaks most for it is not heard
    gains = (squares[0] - squares[1]).sum(axis=1)
    kept = np.sort(np.argsort(gains)[: len(gains) - len(gains) // _UNHEARD])
    count = min(_GROUPS, len(kept) if axis == 0 else own.shape[1])
    more, less = ([part.mean() for part in np.array_split(one[kept], count, axis=axis)] for one in squares)
    lead: F64 = np.log((np.array(more) + rounding) / (np.array(less) + rounding))
    return lead


def _choose_shift(old: int, new: int, kind: Convention) -> int | None:
    """Choose by how many rows to displace a lattice so that its phase is farthest from its own; None where none is."""
    beat = (old - 1) / (new - 1) if kind[1] else old / new
    reach = 3 if kind[0].startswith("bicubic") else 1
    shifts = np.arange(1, min(new // 3, _MOST_SHIFT) + 1)
    free = new - shifts - np.ceil((new - shifts) * beat) - reach
    phases = np.abs(shifts * beat - np.round(shifts * beat))
    phases[(free < max(2, (new - old) // 2)) | (phases < 0.1)] = 0.0
    # nearly the farthest that keeps most rows
    return int(shifts[np.argmax(phases >= phases.max() - 0.02)]) if phases.any() else None
