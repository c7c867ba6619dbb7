"""What is stated about attention biases and lengths of context with mpmath and integers.

Press et al. 2022, arXiv:2108.12409 (slopes); Raffel et al. 2020, arXiv:1910.10683 (buckets); Liu et al. 2023,
arXiv:2310.05209, Peng et al. 2023, arXiv:2309.00071 and Men et al. 2024, arXiv:2405.14591 (bases for a length).
Nothing here imports pe_spectra.
"""

import random
from collections.abc import Iterable
from typing import Any

import numpy as np
from mpmath import mp, mpf

from tests.reference.high_precision import FIRST_DIGITS, Row, as_hex, settle


def alibi_row(heads: int, head: int) -> Row:
    """Slopes of a power of two, then every other one of the next power."""
    below = 1 << (heads.bit_length() - 1)
    exponent = (8 * (head + 1), below) if head < below else (8 * (2 * (head - below) + 1), 2 * below)
    (slope,), digits = settle(lambda: [mpf(2) ** (-mpf(exponent[0]) / exponent[1])])
    return [str(heads), str(head), as_hex(slope), str(digits)]


def find_bucket(count: int, most: int, distance: int) -> int:
    """Of one direction: e + floor(ln(n/e) / ln(D/e) (N - e)), at most N - 1, in integers."""
    exact = count // 2
    if distance < exact:
        return distance
    found, left = exact, count - exact
    while found < count - 1 and distance**left >= most ** (found + 1 - exact) * exact ** (left - (found + 1 - exact)):
        found += 1
    return found


def bucket_rows(buckets: int, most: int, both: int, draw: random.Random) -> Iterable[Row]:
    """Both sides of the places where the logarithm passes an integer, and some between; integers have no digits."""
    count = buckets // 2 if both else buckets
    exact = count // 2
    starts = [round(exact * (most / exact) ** (k / (count - exact))) for k in range(count - exact + 1)]
    chosen = {0, 1, exact - 1, most - 1, most, most + 1, 4 * most}
    for start in draw.sample(starts, min(6, len(starts))):
        chosen |= {start - 1, start, start + 1}
    for distance in sorted(chosen):
        for relative in {-distance, distance}:
            after = relative > 0
            shift = count if both and after else 0
            bucket = shift + find_bucket(count, most, distance if both or not after else 0)
            yield [str(buckets), str(most), str(both), str(relative), str(bucket), ""]


def bounds_row(d: int, base: float, trained: int, target: int) -> Row:
    """The bases and lengths of the literature; the critical dimension decided to 25 digits of its distance to a tie."""

    def compute() -> list[Any]:
        turns = mp.log(trained / (2 * mp.pi))
        place = mpf(d) / 2 * turns / mp.log(mpf(base))
        channels = 2 * min(max(mp.ceil(place), mpf(0)), mpf(d // 2))
        critical = mpf(base) ** (mp.log(target / (2 * mp.pi)) / turns)
        return [
            channels,
            critical,
            2 * mp.pi * critical ** (channels / d),
            mpf(base) * (mpf(target) / trained) ** (mpf(d) / (d - 2)),
            mpf("0.0424") * mpf(target) ** mpf("1.628"),
            *(turn * target / mp.pi for turn in (mpf(2), mpf(1), mpf("0.5"))),
            target / (2 * mp.pi),
            target / mp.acos(mpf("0.9")),
            place - mp.nint(place),
        ]

    (channels, *values, _), digits = settle(compute)
    return [str(d), base.hex(), str(trained), str(target), str(int(channels)), *map(as_hex, values), str(digits)]


def negative_lag_row(d: int, base: float, limit: int) -> Row:
    """The smallest lag with a negative sum of cosines: float64 sorts, mpmath decides what is near zero."""
    lags = np.arange(1, limit + 1)
    with mp.workdps(FIRST_DIGITS):
        theta = np.array([float(mpf(base) ** (-mpf(2 * i) / d)) for i in range(d // 2)])
    sums = np.array([np.sum(np.cos(theta * lag)) for lag in lags])
    doubtful = [int(lag) for lag in lags[np.abs(sums) < 1e-6]]
    clear = [int(lag) for lag in lags[sums <= -1e-6]][:1]

    def compute() -> list[Any]:
        exact = [mpf(base) ** (-mpf(2 * i) / d) for i in range(d // 2)]
        return [mp.fsum(mp.cos(t * lag) for t in exact) for lag in [*doubtful, *clear]]

    values, digits = settle(compute)
    found = [lag for lag, value in zip([*doubtful, *clear], values, strict=True) if value < 0]
    return [str(d), base.hex(), str(limit), str(min(found)) if found else "", str(digits)]
