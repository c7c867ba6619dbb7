"""The kernel of a rotary encoding over many powers of ten of lags, in few numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pe_spectra.exact import F64

#: Cosines that are computed for one stretch of lags, and the lags that it has computed at least.
_COSINES, _FEWEST = 1 << 14, 16


@dataclass(frozen=True, kw_only=True)
class KernelSample:
    """S(m)/S(0), the mean cosine over the pairs, by stretches of lags that are equally long in the logarithm.

    Attributes
    ----------
    lags : (B,), geometric middle of each stretch, in positions.
    low, mean, high : (B,), least, mean and largest value in each.
    """

    lags: F64
    low: F64
    mean: F64
    high: F64


def sample_kernel(frequencies: F64, longest: int, *, stretches: int = 160) -> KernelSample:
    """Sample the kernel of a rotary encoding from lag 1 to `longest`, on a logarithmic axis.

    Parameters
    ----------
    frequencies : (D/2,), rad/position. longest : lag, >= 2.
    stretches : how many at most; each holds one lag at least, of longer ones some lags are computed, evenly spread.

    >>> sample = sample_kernel(np.array([1.0]), 100, stretches=4)
    >>> len(sample.mean)
    4
    """
    most = max(_FEWEST, _COSINES // frequencies.size)
    rows = []
    for first, last in _list_stretches(longest, stretches):
        lags = np.unique(np.linspace(first, last, min(most, last - first + 1)).astype(np.int64)).astype(float)
        values = np.mean(np.cos(np.multiply.outer(lags, frequencies)), axis=1)
        rows.append((math.sqrt(first * last), values.min(), values.mean(), values.max()))
    lags, low, mean, high = np.array(rows).T
    return KernelSample(lags=lags, low=low, mean=mean, high=high)


def _list_stretches(longest: int, count: int) -> Iterator[tuple[int, int]]:
    """First and last lag of each stretch, from 1 to `longest` without a gap."""
    edges = np.unique(np.rint(np.geomspace(1, longest + 1, count + 1)).astype(np.int64)).tolist()
    for first, following in itertools.pairwise(edges):
        yield first, following - 1
