"""The formulas of the paper with mpmath, to as many digits as two runs need to agree.

Each value is computed at 40 digits, then with the digits doubled until two runs in succession
agree to 25 digits. The formulas stand in the plainest form that they have; nothing here imports
pe_spectra. What the functions return are rows of the frozen tables, as `generate` writes them; the
last cell is the number of digits of the second of the two runs that agreed.
"""

import bisect
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpf

FIRST_DIGITS = 40
AGREEMENT = 25
SMALLEST_NORMAL = 2.0**-1022
Row = list[str]


class Settled(NamedTuple):
    """What two runs in succession agreed on, and the digits of the second."""

    values: list[Any]
    digits: int


def settle(compute: Callable[[], Sequence[Any]], floor: float = 0.0) -> Settled:
    """Double the digits until two runs agree to 25, relative to max(|value|, floor)."""
    digits, before = FIRST_DIGITS, None
    while True:
        with mp.workdps(digits):
            after = list(compute())
            limit = mpf(10) ** -AGREEMENT
            if before is not None and all(
                abs(a - b) <= limit * max(abs(a), floor) for a, b in zip(after, before, strict=True)
            ):
                return Settled(after, digits)
        digits, before = 2 * digits, after


def as_hex(value: Any) -> str:
    """Round to the nearest double; below the normal range write zero, None as empty."""
    if value is None:
        return ""
    rounded = float(value)
    return (rounded if abs(rounded) >= SMALLEST_NORMAL else 0.0).hex()


class Case(NamedTuple):
    """One spectrum: Eq. 15 of the sinusoidal encoding."""

    d: int
    rho: float
    bandwidth: float = 4.0
    grid: int = 0
    boundary: str = "none"

    @property
    def n(self) -> int:
        return self.grid or self.d

    def cells(self) -> Row:
        return [
            str(self.d),
            self.rho.hex(),
            self.bandwidth.hex(),
            str(self.n),
            self.boundary,
        ]


# ---------------------------------------------------------------------------------- Eq. 3, 15


def frequency(d: int, rho: float, index: int) -> Any:
    return mp.exp(-mpf(index) / d * mp.log(mpf(rho)))


def centres(case: Case) -> Iterable[tuple[Any, Any]]:
    """Place in bins and mass of each frequency; the lone sine of an odd d has mass 1/2."""
    for index in range(0, case.d, 2):
        mass = mpf(1) if index + 1 < case.d else mpf(1) / 2
        yield frequency(case.d, case.rho, index) * case.n / (2 * mp.pi), mass


def images(case: Case, x: Any, low: Any, high: Any) -> Iterable[Any]:
    """The mirror images of x at 0 and at n / 2, again and again, that lie in low .. high."""
    if case.boundary == "none":
        yield x
        return
    for mirrored in (x, -x):
        first, last = (
            mp.ceil((low - mirrored) / case.n),
            mp.floor((high - mirrored) / case.n),
        )
        for j in range(int(first), int(last) + 1):
            yield mirrored + j * case.n


def kernel_at(case: Case, distance: Any) -> Any:
    return mp.exp(-((distance / mpf(case.bandwidth)) ** 2) / 2)


def kernels_in_a_row(case: Case, image: Any, low: int, high: int) -> Iterable[tuple[int, Any]]:
    """The kernel at the integers low .. high, outwards from the nearest, by two products each.

    The quotient of neighbours falls by exp(-1 / bandwidth**2) at each step. Some digits are lost over
    thousands of steps, which the second run shows.
    """
    if low > high:
        return
    nearest = min(max(int(mp.nint(image)), low), high)
    square = mpf(case.bandwidth) ** 2
    fall, highest = mp.exp(-1 / square), kernel_at(case, nearest - image)
    yield nearest, highest
    for step, end in ((1, high), (-1, low)):
        value, quotient = highest, mp.exp(-(2 * step * (nearest - image) + 1) / (2 * square))
        for k in range(nearest + step, end + step, step):
            value *= quotient
            quotient *= fall
            yield k, value


def reach(case: Case) -> Any:
    """Beyond this distance a kernel is below the digits of the sum.

    The first frequency, 1 rad, lies within half a bin of some bin, so the sum is not less than
    the kernel at half a bin.
    """
    squares = 2 * (mp.dps + 10) * mp.log(10) + (mpf(0.5) / mpf(case.bandwidth)) ** 2
    return mpf(case.bandwidth) * mp.sqrt(squares)


@functools.lru_cache(maxsize=4)
def all_bins(case: Case, digits: int) -> list[Any]:
    """Eq. 15 before the division by R, for all k, to `digits` digits of the largest."""
    sums, far, last = [mpf(0)] * (case.n // 2 + 1), reach(case), case.n // 2
    for x, mass in centres(case):
        for image in images(case, x, -far, last + far):
            low, high = (
                max(0, int(mp.ceil(image - far))),
                min(last, int(mp.floor(image + far))),
            )
            for k, value in kernels_in_a_row(case, image, low, high):
                sums[k] += mass * value
    return sums


def one_bin(case: Case, k: int) -> Any:
    """Eq. 15 before the division by R at one k, with every term however small."""
    far = case.n + reach(case)
    return mp.fsum(
        mass * kernel_at(case, k - image) for x, mass in centres(case) for image in images(case, x, k - far, k + far)
    )


def spectrum_rows(case: Case, bins: Sequence[int]) -> Iterable[Row]:
    def compute() -> list[Any]:
        total = mp.fsum(all_bins(case, mp.dps))
        return [one_bin(case, k) / total for k in bins]

    values, digits = settle(compute)
    for k, g in zip(bins, values, strict=True):
        with mp.workdps(80):
            log = mp.log(g)
            high = float(log)
            yield [
                *case.cells(),
                str(k),
                as_hex(g),
                high.hex(),
                float(log - high).hex(),
                str(digits),
            ]


# ------------------------------------------------------------------------------- Algorithm 1


@functools.lru_cache(maxsize=4)
def cosines(n: int, digits: int) -> list[Any]:
    return [mp.cospi(mpf(2 * j) / n) for j in range(n)]


def impulse(case: Case, tau: int) -> Any:
    """Algorithm 1 on the one-hot of 0, at tau, before the rescaling and without R."""
    n, g, cos = case.n, all_bins(case, mp.dps), cosines(case.n, mp.dps)
    pairs = range(1, (n - 1) // 2 + 1)
    between = mp.fdot((g[k] for k in pairs), (cos[k * tau % n] for k in pairs))
    end = g[n // 2] * (-1) ** tau if n % 2 == 0 else 0
    return (g[0] + 2 * between + end) / n


def norm(case: Case) -> Any:
    """The l2 norm of what `impulse` gives over all tau, by Parseval."""
    g = all_bins(case, mp.dps)
    pairs = mp.fsum(g[k] ** 2 for k in range(1, (case.n - 1) // 2 + 1))
    end = g[case.n // 2] ** 2 if case.n % 2 == 0 else 0
    return mp.sqrt((g[0] ** 2 + 2 * pairs + end) / case.n)


def full_width(case: Case) -> Any:
    """Full width at half maximum, linear between samples; 0 stands for never so low."""
    level = impulse(case, 0) / 2
    before = 2 * level
    for tau in range(1, case.n // 2 + 1):
        after = impulse(case, tau)
        if after <= level:
            return 2 * (tau - 1 + (before - level) / (before - after))
        before = after
    return mpf(0)


def reconstruction_rows(case: Case, lags: Sequence[int]) -> Iterable[Row]:
    def compute() -> list[Any]:
        size = norm(case)
        values = [impulse(case, tau) / size for tau in lags]
        error = mp.sqrt(2 - 2 * impulse(case, 0) / size)
        return [full_width(case), error, *values]

    (width, error, *values), digits = settle(compute, floor=1.0)
    for tau, value in zip(lags, values, strict=True):
        head = [
            str(case.d),
            case.rho.hex(),
            case.bandwidth.hex(),
            str(case.n),
            str(tau),
            as_hex(value),
        ]
        yield [*head, as_hex(error), as_hex(width or None), str(digits)]


# ------------------------------------------------------------------------------------- Eq. 16


def low_bin_row(d: int, rho: float, length: int | None) -> Row:
    """Count w_l < 2 pi / length by l ln rho > d ln(length / 2 pi), never nearer than 25 digits."""

    indices = range(0, d, 2)

    def compute() -> list[Any]:
        right, log_rho = d * mp.log(mpf(length or d) / (2 * mp.pi)), mp.log(mpf(rho))
        sign = -1 if log_rho < 0 else 1
        # sign times the gap grows with the index, so the places where it changes its sign are enough
        first = bisect.bisect_right(indices, 0, key=lambda index: sign * (index * log_rho - right))
        near = [index * log_rho - right for index in indices[max(0, first - 1) : first + 1]]
        inside = len(indices) - first if sign > 0 else first
        return [mpf(inside), min(near, key=abs), right / log_rho if log_rho else mpf(0)]

    (inside, _, crossing), digits = settle(compute)
    head = [str(d), rho.hex(), "" if length is None else str(length)]
    return [
        *head,
        str(int(inside)),
        str((d + 1) // 2),
        as_hex(crossing if rho != 1 else None),
        str(digits),
    ]


# ------------------------------------------------------------------------- Eq. 2 and Eq. 17-21


def encoding_row(d: int, rho: float, index: int, s: int) -> Row:
    def compute() -> list[Any]:
        angle = frequency(d, rho, index) * s
        return [mp.sin(angle), mp.cos(angle)]

    values, digits = settle(compute)
    return [str(d), rho.hex(), str(index), str(s), *map(as_hex, values), str(digits)]


def dft_row(d: int, k: int, s: int) -> Row:
    """cos and sin of 2 pi k s / d, and the two entries of the table (Eq. 17-20)."""
    lone = k in (0, d / 2)

    def compute() -> list[Any]:
        turns = mpf(2 * (k * s % d)) / d
        scale = mp.sqrt(mpf(1 if lone else 2) / d)
        cos, sin = mp.cospi(turns), mp.sinpi(turns)
        return [cos, sin, scale * cos, scale * sin]

    (cos, sin, table_cos, table_sin), digits = settle(compute)
    results = (cos, sin, table_cos, None if lone else table_sin)
    return [str(d), str(k), str(s), *map(as_hex, results), str(digits)]


# --------------------------------------------------------------------------------- separation


def lag_square(w: Sequence[Any], tau: int) -> Any:
    return mp.fsum(4 * mp.sin(wl * tau / 2) ** 2 for wl in w)


def ladder_candidates(d: int, rho: float, length: int) -> list[int]:
    """Lags whose distance may be the smallest, by float64 with a wide margin.

    A lag is an integer, so whole turns are taken from the frequencies first.
    """
    with mp.workdps(FIRST_DIGITS):
        w = np.array([float(frequency(d, rho, index) % (2 * mp.pi)) for index in range(0, d, 2)])
    lags = np.arange(1, length)
    squares = np.array([np.sum(4 * np.sin(w * tau / 2) ** 2) for tau in lags])
    return [int(tau) for tau in lags[squares <= np.min(squares) * (1 + 1e-6) + 1e-8]]


def closest(d: int, rho: float, length: int) -> list[Any]:
    """Smallest distance and its lag; for odd d over all pairs, as the lone sine needs."""
    w = [frequency(d, rho, index) for index in range(0, d, 2)]
    if d % 2 == 0:
        lags = ladder_candidates(d, rho, length)
        return list(min((mp.sqrt(lag_square(w, tau)), mpf(tau)) for tau in lags))
    squares = [lag_square(w[:-1], tau) for tau in range(length)]
    sines = [mp.sin(w[-1] * s) for s in range(length)]
    pairs = ((s, t) for t in range(length) for s in range(t))
    return list(min((mp.sqrt(squares[t - s] + (sines[s] - sines[t]) ** 2), mpf(t - s)) for s, t in pairs))


def separation_row(d: int, rho: float, length: int) -> Row:
    (distance, lag), digits = settle(functools.partial(closest, d, rho, length))
    return [str(d), rho.hex(), str(length), str(int(lag)), as_hex(distance), str(digits)]
