"""The smallest distance between two codes: by lag where that decides it, else among all pairs of rows."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pe_spectra.encodings import Dft, Encoding, HasFrequencies, HasKernel, Sinusoidal
from pe_spectra.encodings.codes import check_held, is_sampled
from pe_spectra.exact import F64, I64, find_largest, sum_cosines
from pe_spectra.faithfulness.closest_pair import (
    ROOMY,
    ClosestPair,
    Tell,
    bound_underflow,
    find_closest_pair,
    measure_pairs,
    scale_down,
    scale_up,
    tell_nobody,
)
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.faithfulness.pair_lags import PairLags, PairWords
from pe_spectra.limits import MAX_CURVE, MAX_PAIR_WORK, MAX_RANK_WORK
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.gram import compute_gram_kernel

#: Differences of a normalised kernel below this are none.
_FLAT = 1e-9
#: Stretches of lags that an envelope has at most.
_STRETCHES = 4096
_EPS = float(np.finfo(float).eps)
#: The largest share of the largest entry that an error of entries may be and make ties.
_COARSE = 2.0**-16
#: Rows, and lags, of the pairs that are measured at a time for the curve over the lag.
_ROWS, _LAGS = 64, 4096
#: Up to so many differences those of NumPy take a fraction of the import of SciPy's.
_FEW_DIFFERENCES = 1 << 26
#: Columns that a table is taken to have at least: narrower products cost as much.
_LEAST_WIDTH = 64


@dataclass(frozen=True, kw_only=True)
class Sidelobe(Result):
    """A local maximum of the normalised kernel, k(tau)/k(0): the largest beyond the main lobe.

    >>> from pe_spectra import Sinusoidal, measure_faithfulness
    >>> found = measure_faithfulness(Sinusoidal(d=2), length=20).sidelobe
    >>> found.lag, round(found.value, 4)  # cos 6
    (6, 0.9602)
    """

    lag: int = quantity("Its lag.", unit="positions", minimum=1, column="sidelobe_lag")
    value: float = quantity("Its height over the value at lag 0, of a table not always the largest.", column="sidelobe")


@dataclass(frozen=True, kw_only=True, eq=False)
class Separation:
    """The smallest distance between the codes of 0 .. S-1, and what was seen on the way.

    Attributes
    ----------
    smallest : distance; None for a single position.
    pair : [s, t], the first in order among those equal within the error bound.
    error : by how much `smallest` may be wrong; None where that is not known.
    by_lag : (S - 1,) smallest distance of two codes at lag 1 .. S-1.
    sidelobe : None where the normalised kernel has no local maximum beyond its main lobe.
    """

    smallest: float | None = None
    pair: tuple[int, int] | None = None
    error: float | None = None
    by_lag: F64 | None = None
    sidelobe: Sidelobe | None = None

    @property
    def curve(self) -> F64 | None:
        """The distances at each lag; None where there are too many to print."""
        if self.by_lag is None or len(self.by_lag) > MAX_CURVE:
            return None
        return self.by_lag

    @property
    def envelope(self) -> tuple[I64, F64] | None:
        """Of too many lags some 4096, each with the smallest distance of its stretch; None where there are fewer."""
        curve = self.by_lag
        if curve is None or len(curve) <= MAX_CURVE:
            return None
        edges = np.unique(np.geomspace(1, len(curve), _STRETCHES).astype(np.int64))[:-1] - 1
        lags = np.array([a + int(np.argmin(curve[a:b])) for a, b in pairwise([*edges.tolist(), len(curve)])])
        return lags + 1, curve[lags]


def measure_separation(
    table: CodeTable, equal: tuple[int, int] | None = None, tell: Tell = tell_nobody
) -> Separation | None:
    """Measure the smallest separation of a table's codes; None where no method applies.

    `equal` are places that are known to have one code: others are then not searched for the closest pair.
    `tell` is given how many rows of how many are done, where pairs of rows are compared, and again for their lags.

    Raises
    ------
    InputError : a table of positions whose pairs could be searched, but which is too large to hold.

    >>> from pe_spectra import Dft
    >>> found = measure_separation(CodeTable(Dft(d=8), 8))
    >>> found.pair, round(found.smallest, 12)  # sqrt 2
    ((0, 1), 1.414213562373)
    """
    encoding, rows = table.encoding, len(table.places)
    if rows == 1:
        return Separation(by_lag=np.empty(0))
    if isinstance(encoding, Dft):
        return _separate_dft(encoding, rows)
    words = find_pair_words(encoding)
    if words is not None:
        return _separate_pairs(words, rows)
    is_searched = count_pair_work(rows, table.columns) <= MAX_PAIR_WORK
    if is_searched and encoding.domain == "positions":
        check_held("the table", rows, table.columns)
    if table.codes is None:
        return None
    if is_searched:
        return _separate_codes(table, table.codes, equal, tell)
    closest = _find_closest_neighbours(table.codes, table.error or 0.0) if rows == table.length else None
    if closest is None:
        return None
    error = None if table.error is None or closest.distance is None else closest.error
    return Separation(smallest=closest.distance, pair=closest.pair, error=error)


def _separate_codes(
    table: CodeTable, codes: F64, equal: tuple[int, int] | None, tell: Tell = tell_nobody
) -> Separation:
    """All pairs of codes, (S, d), unless two are known to be `equal`; the curve over the lag within a smaller budget.

    Pairs whose order the errors of entries could turn round are ties, and `error` holds what entries may be wrong by.
    """
    wrong, largest = table.error, find_largest(codes)
    # a few roundings at the least make ties; where a bound is so coarse that most pairs would be, it makes none
    share = 4 * _EPS * largest if wrong is None else min(wrong, _COARSE * largest)
    closest = ClosestPair(distance=0.0, pair=equal) if equal else find_closest_rows(codes, table.places, share, tell)
    error = None
    if wrong is not None and closest.distance is not None:
        error = closest.error + 2 * math.sqrt(codes.shape[1]) * (wrong - share)
    sidelobe = None
    if table.encoding.domain == "positions":
        kernel = compute_gram_kernel(scale_down(codes)[0])
        sidelobe = find_sidelobe(kernel / kernel[0]) if kernel[0] > 0 else None
    by_lag = _trace_lags(codes if len(codes) == table.length else codes[np.argsort(table.places)], tell)
    return Separation(smallest=closest.distance, pair=closest.pair, error=error, by_lag=by_lag, sidelobe=sidelobe)


def find_closest_rows(codes: F64, places: I64, error: float, tell: Tell = tell_nobody) -> ClosestPair:
    """Find the closest two rows, shape (S, d), whose entries may be wrong by `error`; a single column is sorted.

    The pair is named by the places of both, (S,), the smaller first.

    >>> find_closest_rows(np.array([[0.0], [3.0], [1.0]]), np.array([0, 1, -1]), 0.0).pair
    (-1, 0)
    """
    found = _find_closest_neighbours(codes, error) if codes.shape[1] == 1 else None
    found = found or find_closest_pair(codes, error, tell)
    s, t = sorted(int(places[row]) for row in found.pair)
    return replace(found, pair=(s, t))


def find_pair_words(encoding: Encoding) -> PairWords | None:
    """Return the frequencies of an encoding whose distances are functions of the lag; None for any other.

    That is, whose similarity is amplitude**2 times the sum of cos(w tau), but for a lone sine where d is odd;
    a few lags tell whether the kernel is that sum. Real positions that are integers in a row are such, too.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.encodings.absolute import Ramp
    >>> find_pair_words(Sinusoidal(d=4)).words[0].tolist(), find_pair_words(Ramp())
    ([1.0, 0.01], None)
    """
    if is_sampled(encoding):
        pairs = find_pair_words(encoding.encoding) if _is_in_a_row(encoding.integers) else None
        # a lone sine depends on where the row begins
        return pairs if pairs is not None and pairs.words.shape[1] == pairs.count else None
    if isinstance(encoding, Sinusoidal):
        found = encoding.frequencies()
        phase = float(found.phases[-1]) + math.pi / 2  # as a sine: it matters where the last column is one
        return PairWords(words=encoding.words(), count=encoding.d // 2, amplitude=found.amplitude, phase=phase)
    if not (isinstance(encoding, HasFrequencies) and isinstance(encoding, HasKernel)):
        return None
    found = encoding.frequencies()
    if not (found.masses == 1).all():
        return None
    words = np.stack([found.values, found.low, np.zeros_like(found.low)])
    lags = np.array([0, 1, 2, 5, 17, 1000])
    summed = found.amplitude**2 * sum_cosines(words, found.masses, lags)
    is_sum = np.abs(encoding.kernel(lags)[0] - summed).max() <= 1e-12 * summed[0]
    return PairWords(words=words, count=words.shape[1], amplitude=found.amplitude, phase=0.0) if is_sum else None


def _is_in_a_row(integers: I64 | None) -> bool:
    return integers is not None and bool((np.diff(integers) == 1).all())


def _separate_dft(encoding: Dft, length: int) -> Separation:
    # The codes of d positions in a row are orthonormal: every distance is 0 or sqrt 2.
    lags = np.arange(1, length)
    by_lag = np.where(lags % encoding.d == 0, 0.0, math.sqrt(2.0))
    pair = (0, encoding.d) if length > encoding.d else (0, 1)
    # as for every kernel, a maximum is one that has fallen again: lag d is inside the range
    sidelobe = Sidelobe(lag=encoding.d, value=1.0) if length - 1 > encoding.d else None
    smallest = float(by_lag.min())
    return Separation(smallest=smallest, pair=pair, error=_EPS / 2 * smallest, by_lag=by_lag, sidelobe=sidelobe)


def _separate_pairs(words: PairWords, length: int) -> Separation:
    lags = PairLags(words, length)
    closest, by_lag = lags.trace()
    sidelobe = find_sidelobe(lags.kernel / lags.kernel[0])
    return Separation(
        smallest=closest.distance, pair=closest.pair, error=closest.error, by_lag=by_lag, sidelobe=sidelobe
    )


def find_sidelobe(normalised: F64) -> Sidelobe | None:
    """Return the largest local maximum beyond the first local minimum of k(tau)/k(0), tau = 0, 1, ..

    A maximum rises from what is before it and falls again: neither a step of a stair nor the end of a curve that
    still rises is one. Values closer than 1e-9 are equal here, so that the rounding of a flat kernel has no maxima;
    of equal ones the first is taken.

    >>> find_sidelobe(np.array([1.0, 0.2, 0.5, 0.1]))
    Sidelobe(lag=2, value=0.5)
    """
    before, after = np.minimum.accumulate(normalised), np.minimum.accumulate(normalised[::-1])[::-1]
    # the largest of all values with a lower one on both sides has none above it in between
    lags = np.flatnonzero((normalised - before > _FLAT) & (normalised - after > _FLAT))
    if not len(lags):
        return None
    lag = int(lags[np.argmax(normalised[lags] >= normalised[lags].max() - _FLAT)])
    return Sidelobe(lag=lag, value=float(normalised[lag]))


def _trace_lags(table: F64, tell: Tell = tell_nobody) -> F64 | None:
    """The smallest distance at each lag, (S - 1,); None beyond the budget or where one is not representable.

    From the differences of rows, in blocks of pairs: O(S**2 d) time and O(S d) memory. `tell` is given how many
    rows of how many are done.
    """
    rows, width = table.shape
    if rows**2 * width > MAX_RANK_WORK:
        return None
    scaled, exponent = scale_down(table)
    measure = _square_distances if rows**2 * width <= _FEW_DIFFERENCES else _square_distances_by_scipy
    # beyond the last row there is none, and none is infinitely far away
    padded = np.concatenate([scaled, np.full((_ROWS, width), np.inf)])
    squares, held = np.full(rows + _LAGS, np.inf), np.empty(_ROWS * (_LAGS + _ROWS))
    for start in range(0, rows, _ROWS):
        tell(start, rows)
        block = scaled[start : start + _ROWS]
        for lag in range(0, rows - start, _LAGS):
            others = padded[start + lag : start + lag + len(block) + _LAGS - 1]
            found = held[: len(block) * len(others)].reshape(len(block), -1)
            measure(block, others, found)
            count, (step, one) = len(others) - len(block) + 1, found.strides
            by_lag = as_strided(found, (len(block), count), (step + one, one))
            part = squares[lag : lag + count]
            np.minimum(part, by_lag.min(axis=0), out=part)
    tell(rows, rows)
    return _take_roots(table, squares[1:rows], exponent)


def _square_distances(rows: F64, others: F64, out: F64) -> None:
    """Squared distances of all rows of one table to those of another, summed column by column."""
    out[:] = 0
    step = np.empty_like(out)
    for left, right in zip(rows.T, np.ascontiguousarray(others.T), strict=True):
        np.subtract(left[:, None], right, out=step)
        np.multiply(step, step, out=step)
        out += step


def _square_distances_by_scipy(rows: F64, others: F64, out: F64) -> None:
    """The same numbers in a third of the time, after an import that takes longer than that of NumPy."""
    from scipy.spatial.distance import cdist

    cdist(rows, others, "sqeuclidean", out=out)


def _take_roots(table: F64, squares: F64, exponent: int) -> F64 | None:
    """Distances, (S - 1,), by lag from squares of them times 2**(-2 exponent); None where one is not representable."""
    with np.errstate(over="ignore", under="ignore"):
        distances: F64 = np.ldexp(np.sqrt(squares), exponent)
    sizes = np.abs(table)
    # differences are 0, or at least 2**-53 of the smallest entry: only of smaller ones a square may vanish
    if ((sizes > 0) & (sizes < math.ldexp(1.0, exponent - 400))).any():
        roomy, scale = scale_down(table, below=ROOMY)
        for lag in (np.flatnonzero(squares < 2.0**-900) + 1).tolist():
            s = np.arange(len(table) - lag)
            distances[lag - 1] = math.ldexp(float(measure_pairs(roomy, s, s + lag).min()), scale)
    return distances if np.isfinite(distances).all() else None


# --------------------------------------------------------------------- where all pairs need no comparison


def count_pair_work(rows: int, width: int) -> int:
    """Return what the closest pair of a table costs, in multiplications; a single column is sorted.

    >>> count_pair_work(1000, 1), count_pair_work(1000, 8)
    (1000, 64000000)
    """
    return rows if width == 1 else rows * rows * max(width, _LEAST_WIDTH)


def _find_closest_neighbours(table: F64, error: float = 0.0) -> ClosestPair | None:
    """The same in O(S log S) of a single column, and where every column rises or falls all the way; else None."""
    roomy, exponent = scale_down(table, below=ROOMY)
    rows, width = table.shape
    order, steps = np.arange(rows), np.diff(roomy, axis=0)
    if width == 1:
        order = np.argsort(table[:, 0], kind="stable")
        with np.errstate(over="ignore"):
            distances = np.diff(table[order, 0])
    elif not ((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)).all():
        return None
    if width == 1 and np.isfinite(distances.min()):
        exponent = 0  # a gap that overflows is not the smallest, and scaled the smallest could become 0
    else:
        distances = measure_pairs(roomy, order[:-1], order[1:])
    best, allowed = float(distances.min()), 2 * math.sqrt(width) * error
    near = np.flatnonzero(distances <= best * (1 + 4 * _EPS) + math.ldexp(allowed, -exponent))
    pairs = np.sort(np.stack([order[near], order[near + 1]], axis=1), axis=1)
    s, t = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))[0]].tolist()
    # of one column a difference is rounded once, and one that is subnormal is exact
    rounding = scale_up((1 if width == 1 else width + 16) * _EPS * best, exponent) or 0.0
    if exponent or width > 1:
        rounding += bound_underflow(width, exponent)
    return ClosestPair(distance=scale_up(best, exponent), pair=(s, t), error=rounding + allowed)
