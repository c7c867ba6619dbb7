"""The smallest distance between two codes: by lag where that decides it, else among all pairs of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pe_spectra.encodings import Dft, Encoding, HasFrequencies, HasKernel, HasLadder, HasTable
from pe_spectra.encodings.codes import find_theorem
from pe_spectra.encodings.lag_tables import T5, Erpe, Shaw
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.temporal import Sampled
from pe_spectra.exact import F64, I64, sum_cosines
from pe_spectra.faithfulness.closest_pair import (
    ClosestPair,
    bound_underflow,
    find_closest_pair,
    make_room,
    measure_pairs,
    scale_down,
    scale_up,
)
from pe_spectra.faithfulness.pair_lags import PairLags, PairWords
from pe_spectra.limits import MAX_CURVE, MAX_HELD_ENTRIES, MAX_PAIR_WORK, MAX_RANK_WORK
from pe_spectra.quantities import Result, quantity
from pe_spectra.spectrum import compute_gram_kernel

#: Differences of a normalised kernel below this are none.
_FLAT = 1e-9
#: Stretches of lags that an envelope has at most.
_STRETCHES = 4096
#: Encodings whose codes are stored numbers.
_GIVEN = (Learned, Shaw, T5, Erpe)
_EPS = float(np.finfo(float).eps)
#: The largest share of the largest entry that an error of entries may be and make ties.
_COARSE = 2.0**-16
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
    value: float = quantity("Its height; the peak at lag 0 has 1.", column="sidelobe")


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
        self.by_lag.flags.writeable = False
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


def measure_separation(encoding: Encoding, length: int, equal: tuple[int, int] | None = None) -> Separation | None:
    """Measure the smallest separation of positions 0 .. length-1; None where no method applies.

    `equal` are positions that are known to have one code: tables are then not searched for the closest pair.

    >>> from pe_spectra import Dft
    >>> found = measure_separation(Dft(d=8), 8)
    >>> found.pair, round(found.smallest, 12)  # sqrt 2
    ((0, 1), 1.414213562373)
    """
    if length == 1:
        return Separation(by_lag=np.empty(0))
    if isinstance(encoding, Dft):
        return _separate_dft(encoding, length)
    words = find_pair_words(encoding)
    if words is not None:
        return _separate_pairs(words, length)
    if isinstance(encoding, HasTable) and count_pair_work(length, encoding.d) <= MAX_PAIR_WORK:
        return separate_codes(encoding, encoding.table(length), equal)
    theorem = find_theorem(encoding)
    is_monotone = theorem is not None and theorem.kind == "monotone"
    if is_monotone and isinstance(encoding, HasTable) and length * encoding.d <= MAX_HELD_ENTRIES:
        return separate_neighbours(encoding, encoding.table(length))
    return None


def bound_entries(encoding: Encoding, codes: F64) -> float | None:
    """Return by how much an entry of computed codes may be wrong: 0 for given numbers; None where it is not known.

    >>> from pe_spectra import GivenArray, Learned
    >>> table = Learned(values=GivenArray(np.eye(3)))
    >>> bound_entries(table, table.table(3))
    0.0
    """
    return 0.0 if isinstance(encoding, _GIVEN) else encoding.bound_error(codes)


def separate_codes(encoding: Encoding, codes: F64, equal: tuple[int, int] | None = None) -> Separation:
    """Measure the separation of the codes of an encoding, (S, d), S at least 2; as :func:`separate_rows` does.

    Pairs whose order the errors of entries could turn round are ties, and `error` holds what entries may be wrong by.

    >>> from pe_spectra.encodings.absolute import Ramp
    >>> found = separate_codes(Ramp(length=5), Ramp(length=5).table(5))
    >>> found.pair, found.smallest
    ((0, 1), 0.25)
    """
    wrong, largest = bound_entries(encoding, codes), float(np.abs(codes).max())
    # a few roundings at the least make ties; where a bound is so coarse that most pairs would be, it makes none
    share = 4 * _EPS * largest if wrong is None else min(wrong, _COARSE * largest)
    found = separate_rows(codes, share, equal)
    if wrong is None or found.error is None:
        return replace(found, error=None)
    return replace(found, error=found.error + 2 * math.sqrt(codes.shape[1]) * (wrong - share))


def separate_neighbours(encoding: Encoding, codes: F64) -> Separation | None:
    """Measure the smallest separation of codes too many to compare all: those whose columns rise or fall; else None.

    >>> from pe_spectra.encodings.absolute import Ramp
    >>> found = separate_neighbours(Ramp(length=5), Ramp(length=5).table(5))
    >>> found.pair, found.smallest
    ((0, 1), 0.25)
    """
    wrong = bound_entries(encoding, codes)
    closest = find_closest_neighbours(codes, wrong or 0.0)
    if closest is None:
        return None
    error = None if wrong is None or closest.distance is None else closest.error
    return Separation(smallest=closest.distance, pair=closest.pair, error=error)


def find_pair_words(encoding: Encoding) -> PairWords | None:
    """Return the frequencies of an encoding whose distances are functions of the lag; None for any other.

    That is, whose similarity is amplitude**2 times the sum of cos(w tau), but for a lone sine where d is odd;
    a few lags tell whether the kernel is that sum. Real positions that are integers in a row are such, too.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.encodings.absolute import Ramp
    >>> find_pair_words(Sinusoidal(d=4)).words[0].tolist(), find_pair_words(Ramp())
    ([1.0, 0.01], None)
    """
    if isinstance(encoding, Sampled):
        pairs = find_pair_words(encoding.encoding) if _is_in_a_row(encoding.integers) else None
        # a lone sine depends on where the row begins
        return pairs if pairs is not None and pairs.words.shape[1] == pairs.count else None
    if not (isinstance(encoding, HasFrequencies) and isinstance(encoding, HasKernel)):
        return None
    found = encoding.frequencies()
    if isinstance(encoding, HasLadder):
        phase = float(found.phases[-1]) + math.pi / 2  # as a sine: it matters where the last column is one
        return PairWords(
            words=encoding.words(), count=encoding.ladder.width // 2, amplitude=found.amplitude, phase=phase
        )
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
    closest, by_lag = lags.trace(length)
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


def separate_rows(table: F64, error: float = 0.0, equal: tuple[int, int] | None = None) -> Separation:
    """Measure the separation of rows, shape (S, d), S at least 2, whose entries may be wrong by `error`.

    All pairs, unless two are known to be `equal`; the curve over the lag within a smaller budget.

    >>> found = separate_rows(np.array([[0.0], [3.0], [1.0]]))
    >>> found.pair, found.smallest
    ((0, 2), 1.0)
    """
    find = find_closest_numbers if table.shape[1] == 1 else find_closest_pair
    closest = find(table, error) if equal is None else ClosestPair(distance=0.0, pair=equal)
    by_lag = trace_lags(table)
    scaled, _ = scale_down(table)
    kernel = compute_gram_kernel(scaled)
    sidelobe = find_sidelobe(kernel / kernel[0]) if kernel[0] > 0 else None
    wrong = None if closest.distance is None else closest.error
    return Separation(smallest=closest.distance, pair=closest.pair, error=wrong, by_lag=by_lag, sidelobe=sidelobe)


def trace_lags(table: F64) -> F64 | None:
    """Return the smallest distance at each lag, (S - 1,); None beyond the budget or where one is not representable.

    >>> trace_lags(np.array([[0.0], [3.0], [1.0]])).tolist()
    [2.0, 1.0]
    """
    if len(table) ** 2 * table.shape[1] > MAX_RANK_WORK:
        return None
    roomy, exponent = make_room(table)
    scaled, _ = scale_down(table)
    centred, _ = scale_down(scaled - scaled.mean(axis=0))
    squares = np.einsum("ij,ij->i", centred, centred)
    # of sums of d products, in any order: only pairs this near the smallest can be it
    slack = 8 * _EPS * (table.shape[1] + 6) * float(squares.max())
    values: list[float | None] = []
    for lag in range(1, len(table)):
        squared = squares[:-lag] + squares[lag:] - 2 * np.einsum("ij,ij->i", centred[:-lag], centred[lag:])
        near = np.flatnonzero(squared <= squared.min() + slack)
        values.append(scale_up(float(measure_pairs(roomy, near, near + lag).min()), exponent))
    return None if None in values else np.array(values)


# --------------------------------------------------------------------- where all pairs need no comparison


def count_pair_work(rows: int, width: int) -> int:
    """Return what the closest pair of a table costs, in multiplications; a single column is sorted.

    >>> count_pair_work(1000, 1), count_pair_work(1000, 8)
    (1000, 64000000)
    """
    return rows if width == 1 else rows * rows * max(width, _LEAST_WIDTH)


def find_closest_numbers(table: F64, error: float = 0.0) -> ClosestPair:
    """Find the closest two rows of a single column, in O(S log S); as :func:`find_closest_pair` does.

    Parameters
    ----------
    table : (S, 1), S at least 2, finite.
    error : by how much an entry may be wrong; distances that differ by less than it allows are ties.

    >>> find_closest_numbers(np.array([[3.0], [0.0], [9.0], [7.0]])).pair
    (2, 3)
    """
    roomy, exponent = make_room(table)
    order = np.argsort(roomy[:, 0], kind="stable")
    gaps = np.diff(roomy[order, 0])
    best = float(gaps.min())
    near = np.flatnonzero(gaps <= best * (1 + 4 * _EPS) + 2 * np.ldexp(error, -exponent))
    pairs = np.sort(np.stack([order[near], order[near + 1]], axis=1), axis=1)
    first = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))[0]]
    rounding = scale_up(_EPS * best, exponent) or 0.0
    if exponent:  # else a difference that is subnormal is exact
        rounding += bound_underflow(1, exponent)
    return ClosestPair(
        distance=scale_up(best, exponent), pair=(int(first[0]), int(first[1])), error=rounding + 2 * error
    )


def find_closest_neighbours(table: F64, error: float = 0.0) -> ClosestPair | None:
    """Find the closest two rows where every column rises or falls all the way, in O(S d); None where one does not.

    There no two rows are closer than the neighbours between them.

    Parameters
    ----------
    table : (S, d), S at least 2, finite.
    error : by how much an entry may be wrong; distances that differ by less than it allows are ties.

    >>> find_closest_neighbours(np.array([[0.0, 9.0], [3.0, 5.0], [4.0, 4.0]])).pair
    (1, 2)
    """
    roomy, exponent = make_room(table)
    steps = np.diff(roomy, axis=0)
    if not ((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)).all():
        return None
    before = np.arange(len(table) - 1)
    distances = measure_pairs(roomy, before, before + 1)
    best, allowed = float(distances.min()), 2 * math.sqrt(table.shape[1]) * error
    tied = distances <= best * (1 + 4 * _EPS) + math.ldexp(allowed, -exponent)
    first = int(np.argmax(tied))
    width = table.shape[1]
    rounding = (scale_up((width + 16) * _EPS * best, exponent) or 0.0) + bound_underflow(width, exponent)
    return ClosestPair(distance=scale_up(best, exponent), pair=(first, first + 1), error=rounding + allowed)
