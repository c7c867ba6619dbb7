"""Positions whose codes differ and are nearly the same: all pairs within a radius counted, the nearest named.

Where the distance depends on the lag alone, lags are searched; codes of few columns by a k-d tree; others by
blocks of products in float64. Distances of what is named, and of what is near the radius, are taken from the
difference of two rows, so that nothing is lost to cancellation. Positions whose codes are known to be equal
are one point here (`collisions` counts them): a pair of points stands for as many pairs of positions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.encodings import Dft, Encoding, HasFrequencies, HasKernel, HasTable
from pe_spectra.encodings.absolute import OneHot
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.faithfulness.certificates import describe_pair
from pe_spectra.faithfulness.closest_pair import measure_pairs
from pe_spectra.faithfulness.code_keys import ExactKeys, find_keys
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.numbers import IntegerRange, RealRange
from pe_spectra.quantities import LIST_OF_TEXTS, Result, derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.kernels import check_length

if TYPE_CHECKING:
    from pe_spectra.faithfulness.near_search import FoundNear

RADIUS = RealRange(minimum=1e-300, maximum=1e300)
LIMIT = IntegerRange(minimum=0, maximum=1 << 16)
_EPS = float(np.finfo(float).eps)
#: Numbers of the rows that are built for lags near the radius, in all and at a time.
_BUDGET, _HELD = 1 << 24, 1 << 20
#: Rows that show how large entries are.
_FEW = 64


@dataclass(frozen=True, kw_only=True)
class NearPair:
    """Two positions, or lags, with different codes, and their distance.

    Attributes
    ----------
    s, t : the smaller first.
    pairs : how many pairs of positions it stands for: all at its lag where the distance depends on the lag
        alone, else all that have these two codes.
    text : both so that a person can read them.

    >>> from pe_spectra.encodings import find_encoding
    >>> pair = find_near_pairs(find_encoding("ramp")(length=5), 5, radius=0.3, limit=1).examples[0]
    >>> (pair.s, pair.t), pair.distance
    ((0, 1), 0.25)
    """

    s: int
    t: int
    distance: float
    pairs: int
    text: str


def _write_first(examples: tuple[NearPair, ...]) -> str | None:
    return f"{examples[0].s} {examples[0].t}" if examples else None


@dataclass(frozen=True, kw_only=True)
class NearPairs(Result):
    """Pairs of positions whose vectors differ by no more than a radius.

    >>> from pe_spectra.encodings import find_encoding
    >>> find_near_pairs(find_encoding("ramp")(length=5), 5, radius=0.5, limit=1).count  # 4 at 1/4, 3 at 1/2
    7
    """

    radius: float = quantity("Largest distance that counts.", above=0, column=None)
    count: int = quantity("Number of all such pairs of positions.", minimum=0, column="near_count")
    unsure: int = quantity(
        "Of how many pairs rounding decides whether they are within the radius.", minimum=0, column=None
    )
    error: float | None = quantity(
        "By how much a distance may be wrong; null where that is not known.", minimum=0, column=None
    )
    proved: bool = quantity("Whether the vectors of each pair are proved to be different.", column=None)
    examples: tuple[NearPair, ...] = quantity(
        "The nearest, in order of distance, then of position.", key=None, column="near_pair", write=_write_first
    )
    #: How they were found: by "lags", by a "tree" or by "blocks".
    method: str

    @derived("The nearest, as [s, t].", key="examples", column=None)
    def ends(self) -> tuple[tuple[int, int], ...]:
        return tuple((near.s, near.t) for near in self.examples)

    @derived("Their distances.", minimum=0, column=None)
    def distances(self) -> tuple[float, ...]:
        return tuple(near.distance for near in self.examples)

    @derived("How many pairs of positions each stands for.", minimum=1, column=None)
    def pairs(self) -> tuple[int, ...]:
        return tuple(near.pairs for near in self.examples)

    @derived("The same examples, so that a person can read them.", schema=LIST_OF_TEXTS, column=None)
    def named(self) -> tuple[str, ...]:
        return tuple(near.text for near in self.examples)


def find_near_pairs(encoding: Encoding, length: int | None = None, *, radius: float, limit: int = 10) -> NearPairs:
    """Find the pairs of positions 0 .. length-1 whose codes differ, by no more than a radius.

    Parameters
    ----------
    encoding : one with a code for each position, or for each lag between so many positions.
    length : number of positions S; default all rows of a table, else 80.
    radius : Euclidean distance, 1e-300 to 1e300; pairs at the radius count.
    limit : how many to name; all are counted.

    Raises
    ------
    InputError : no codes by position or lag, or more work than 2**37 multiplications.

    >>> from pe_spectra import Sinusoidal
    >>> found = find_near_pairs(Sinusoidal(d=8), 6300, radius=0.19)
    >>> found.count, found.examples[0].s, found.examples[0].t
    (17, 0, 6283)
    """
    reach, shown = RADIUS.check(radius, "radius"), LIMIT.check(limit, "limit")
    return search_table(CodeTable(encoding, check_length(encoding, length)), reach, shown)


def search_table(table: CodeTable, radius: float, limit: int) -> NearPairs:
    """Find the near pairs of a table whose codes may have been built already, as :func:`find_near_pairs` does.

    >>> from pe_spectra import Sinusoidal
    >>> search_table(CodeTable(Sinusoidal(d=8), 6300), 0.19, 1).count
    17
    """
    encoding, places = table.encoding, table.places
    keys = find_keys(encoding, places)
    by_lag = _search_lags(encoding, keys, table.length, radius, limit)
    if by_lag is not None:
        return by_lag
    if table.codes is None:
        accepted = "a table that can be held, or a bias by lag, is needed"
        raise InputError("no vectors to compare", encoding.label, accepted)
    error = table.distance_error
    first, sizes = _merge(keys.merging, len(places))
    from pe_spectra.faithfulness.near_search import Points, search

    found = search(Points(table.codes[first], sizes, radius, error or 0.0), limit)
    nearest = found.nearest.list_pairs()
    named = [(places[first[s]], places[first[t]], distance, sizes[s] * sizes[t]) for s, t, distance in nearest]
    return _sum_up(encoding, found, named, keys, radius, error)


def _depends_on_lag(encoding: Encoding) -> bool:
    """Whether the kernel of an encoding is exact: a lone sine (odd d) also depends on the place."""
    is_of_pairs = isinstance(encoding, HasFrequencies) and bool((encoding.frequencies().masses == 1).all())
    return is_of_pairs or isinstance(encoding, Dft | OneHot)


def _merge(key: I64 | None, count: int) -> tuple[I64, I64]:
    """The first place of each code, in order, and how many places have it."""
    if key is None:
        return np.arange(count), np.ones(count, dtype=np.int64)
    _, first, sizes = np.unique(key, return_index=True, return_counts=True)
    order = np.argsort(first)
    return first[order], sizes[order]


def _search_lags(encoding: Encoding, keys: ExactKeys, size: int, radius: float, limit: int) -> NearPairs | None:
    """Search lags 1 .. size-1 in place of pairs, where they decide; each is named by its first pair."""
    if not (isinstance(encoding, HasTable) and isinstance(encoding, HasKernel) and _depends_on_lag(encoding)):
        return None
    from pe_spectra.faithfulness.near_search import FoundNear, Nearest, choose_nearest

    kernel = encoding.kernel(np.arange(size))[0]
    lags = np.arange(1, size)
    if keys.merging is not None:  # a repeated code is no near one
        lags = lags[keys.merging[1:] != keys.merging[0]]
    squared = 2 * (kernel[0] - kernel[lags])
    # rounding of the sums of cosines and of the difference
    slack = 16 * _EPS * float(kernel[0]) * (4 + math.log2(encoding.d + 1))
    limit_squared = min(radius, 4 * math.sqrt(float(kernel[0]))) ** 2  # no two codes are farther apart
    sure = squared < limit_squared - slack
    near = np.flatnonzero(squared <= limit_squared + slack)
    error = CodeTable(encoding, min(size, _FEW)).distance_error
    found = FoundNear(nearest=Nearest(limit, radius, error or 0.0), method="lags", count=int((size - lags[sure]).sum()))
    _decide_lags(encoding, lags[near[~sure[near]]], size, radius, found)
    if limit:
        chosen = lags[near[choose_nearest(squared[near], slack, limit)]]
        found.nearest.add(np.zeros_like(chosen), chosen, _measure_lags(encoding, chosen))
    named = [(s, t, distance, size - t) for s, t, distance in found.nearest.list_pairs()]
    return _sum_up(encoding, found, named, keys, radius, error)


def _measure_lags(encoding: HasTable, lags: I64) -> F64:
    """Distances of the code of 0 from those of some lags, by differences; entries are right at any position."""
    distances = np.empty(len(lags))
    step = max(1, _HELD // encoding.d)
    for start in range(0, len(lags), step):
        part = lags[start : start + step]
        rows = encoding.table(np.concatenate([[0], part]))
        distances[start : start + step] = measure_pairs(rows, np.zeros_like(part), np.arange(1, len(rows)))
    return distances


def _decide_lags(encoding: HasTable, lags: I64, size: int, radius: float, found: FoundNear) -> None:
    """Count the pairs at lags that the kernel leaves open, as many as the budget allows by differences."""
    measured = lags[: _BUDGET // encoding.d]
    distances, pairs = _measure_lags(encoding, measured), size - measured
    margin = found.nearest.tie + 4 * _EPS * radius
    found.count += int(pairs[distances <= radius].sum())
    found.unsure += int(pairs[np.abs(distances - radius) <= margin].sum()) + int((size - lags[len(measured) :]).sum())


def _sum_up(
    encoding: Encoding,
    found: FoundNear,
    named: list[tuple[int, int, float, int]],
    keys: ExactKeys,
    radius: float,
    error: float | None,
) -> NearPairs:
    examples = []
    for first, second, distance, pairs in named:
        s, t = sorted((int(first), int(second)))
        text = describe_pair(encoding, (s, t), " ~ ")
        examples.append(NearPair(s=s, t=t, distance=distance, pairs=int(pairs), text=text))
    apart = error is not None and bool(examples) and examples[0].distance > error
    return NearPairs(
        radius=radius,
        count=found.count,
        unsure=found.unsure,
        error=error,
        examples=tuple(examples),
        proved=keys.are_exact or apart or not found.count + found.unsure,
        method=found.method,
    )
