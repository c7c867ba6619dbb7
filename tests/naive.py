"""The slow, obvious version of each quantity, written as the paper writes it.

One short function for each equation, NumPy only, no care for speed, underflow or rounding.
The fast code is compared with these at sizes where float64 suffices; where it does not,
tests/reference holds the truth. Nothing here imports pe_spectra.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# images of each frequency on either side when the kernel is reflected: with the kernel
# at most as wide as the lattice, further images are below the smallest double
IMAGES = 50


def frequencies(d: int, rho: float) -> Floats:
    """Eq. 3: w_l = rho^(-l/d) for l = 0, 2, .., below d, in rad/position."""
    return np.array([rho ** (-index / d) for index in range(0, d, 2)])


def masses(d: int) -> Floats:
    """The weight of each frequency of Eq. 3 in Eq. 15: the lone sine of an odd d counts half."""
    mass = np.ones((d + 1) // 2)
    if d % 2 == 1:
        mass[-1] = 0.5
    return mass


def sinusoidal_table(d: int, rho: float, positions: Sequence[int], layout: str = "interleaved") -> Floats:
    """Eq. 2: rows (sin w_0 s, cos w_0 s, sin w_2 s, ..); an odd d ends with a sine."""
    w = frequencies(d, rho)
    sines = np.array([[np.sin(wl * s) for wl in w] for s in positions])
    cosines = np.array([[np.cos(wl * s) for wl in w[: d // 2]] for s in positions])
    if layout == "concatenated":
        return np.hstack([sines, cosines])
    table = np.empty((len(positions), d))
    table[:, 0::2] = sines
    table[:, 1::2] = cosines
    return table


def basis(n: int) -> Floats:
    """Eq. 10-12: the functions phi_l(t), a row for each l; an odd n has no last cos(pi t)."""
    t = np.arange(n)
    terms = (n - 1) // 2
    rows = [np.full(n, 1 / np.sqrt(n))]
    rows += [np.sqrt(2 / n) * np.cos(2 * np.pi * (k * t % n) / n) for k in range(1, terms + 1)]
    rows += [np.sqrt(2 / n) * np.sin(2 * np.pi * (k * t % n) / n) for k in range(1, terms + 1)]
    if n % 2 == 0:
        rows.append((-1.0) ** t / np.sqrt(n))
    return np.array(rows)


def transform(f: Floats) -> Floats:
    """Eq. 13-14: c_l = sum_t f(t) phi_l(t), in the order a_0, a_1.., b_1.., b_0."""
    return np.array([np.sum(f * phi) for phi in basis(len(f))])


def invert(c: Floats) -> Floats:
    """Eq. 10, 13: f(t) = sum_l c_l phi_l(t)."""
    return np.sum([cl * phi for cl, phi in zip(c, basis(len(c)), strict=True)], axis=0)


def images(x: float, n: int, boundary: str) -> list[float]:
    """Where a frequency at x bins puts kernels: at x alone, or mirrored at 0 and pi for ever."""
    if boundary == "none":
        return [x]
    return [sign * x + j * n for j in range(-IMAGES, IMAGES + 1) for sign in (1, -1)]


def weights(w: Floats, mass: Floats, n: int, bandwidth: float = 4.0, boundary: str = "none") -> Floats:
    """Eq. 15: g_k = sum_l exp(-(omega_k - w_l)^2 / 2 sigma^2) / R, k = 0 .. n // 2."""
    sigma = bandwidth * 2 * np.pi / n
    g = np.zeros(n // 2 + 1)
    for k in range(n // 2 + 1):
        omega = 2 * np.pi * k / n
        for wl, ml in zip(w, mass, strict=True):
            for x in images(wl * n / (2 * np.pi), n, boundary):
                g[k] += ml * np.exp(-((omega - 2 * np.pi * x / n) ** 2) / (2 * sigma**2))
    return np.asarray(g / np.sum(g))


def count_low_bin(d: int, rho: float, length: int | None = None) -> tuple[int, int]:
    """Eq. 16: how many of the frequencies fall strictly between 0 and 2 pi / d, and of how many."""
    edge = 2 * np.pi / (d if length is None else length)
    w = frequencies(d, rho)
    return sum(1 for wl in w if 0 < wl < edge), len(w)


def crossing(d: int, rho: float, length: int | None = None) -> float:
    """Eq. 16 solved for l: l* = d ln(d / 2 pi) / ln rho."""
    return float(d * np.log((d if length is None else length) / (2 * np.pi)) / np.log(rho))


def reconstruct(f: Floats, g: Floats, rescale: bool = True) -> Floats:
    """Algorithm 1: weigh each coefficient by the g_k of its frequency, invert, keep the norm."""
    n = len(f)
    terms = (n - 1) // 2
    c = transform(f)
    c[0] *= g[0]
    for k in range(1, terms + 1):
        c[k] *= g[k]
        c[terms + k] *= g[k]
    if n % 2 == 0:
        c[n - 1] *= g[terms + 1]
    r = invert(c)
    return np.asarray(r * np.linalg.norm(f) / np.linalg.norm(r)) if rescale else r


def one_hot(n: int, s: int) -> Floats:
    """The position function f_s(t) = delta_{s,t}."""
    f = np.zeros(n)
    f[s] = 1.0
    return f


def dft_table(d: int, positions: Sequence[int]) -> Floats:
    """Eq. 17-21: e^(s) are the coefficients of the one-hot function of s, which has period d."""
    return np.array([transform(one_hot(d, s % d)) for s in positions])


def dft_weights(n: int) -> Floats:
    """Eq. 22, first form: 1/d at frequency 0 and at pi, 2/d between."""
    g = np.full(n // 2 + 1, 2 / n)
    g[0] = 1 / n
    if n % 2 == 0:
        g[-1] = 1 / n
    return g


def kernel(w: Floats, mass: Floats, lag: int) -> float:
    """The dot product <e(s), e(s + lag)> of a ladder: sum_l m_l cos(w_l lag)."""
    return float(np.sum(mass * np.cos(w * lag)))


def lag_window_weights(w: Floats, mass: Floats, n: int, bandwidth: float = 4.0) -> Floats:
    """Blackman-Tukey: the cosine transform of the kernel times exp(-sigma^2 tau^2 / 2)."""
    sigma = bandwidth * 2 * np.pi / n
    reach = int(np.ceil(9 / sigma))  # exp(-9^2 / 2) is below 3e-18
    g = np.zeros(n // 2 + 1)
    for tau in range(-reach, reach + 1):
        window = np.exp(-(sigma**2) * tau**2 / 2)
        g += kernel(w, mass, tau) * window * np.cos(2 * np.pi * np.arange(len(g)) / n * tau)
    return np.asarray(g / np.sum(g))


def smallest_separation(rows: Floats) -> tuple[float, tuple[int, int]]:
    """min ||e(s) - e(t)|| over all pairs s < t, and the first pair that has it."""
    pairs = combinations(range(len(rows)), 2)
    return min((float(np.linalg.norm(rows[s] - rows[t])), (s, t)) for s, t in pairs)


def separation_by_lag(rows: Floats) -> Floats:
    """min ||e(s) - e(s + tau)|| over s, for each lag tau = 1, 2, ..."""
    norm, length = np.linalg.norm, len(rows)
    return np.array([min(norm(rows[s] - rows[s + tau]) for s in range(length - tau)) for tau in range(1, length)])


def width(curve: Floats, fraction: float) -> float | None:
    """Full width at a fraction of the peak, circular, linear between samples; None if never."""
    n = len(curve)
    peak = int(np.argmax(curve))
    level = fraction * curve[peak]
    sides = []
    for step in (1, -1):
        for i in range(1, n):
            before, after = (
                curve[(peak + step * (i - 1)) % n],
                curve[(peak + step * i) % n],
            )
            if after <= level:
                sides.append(i - 1 + (before - level) / (before - after))
                break
    return float(sum(sides)) if len(sides) == 2 else None


def dft_collisions(d: int, length: int) -> list[tuple[int, int]]:
    """All pairs s < t below length whose angles 2 pi k s / d agree for every k, by integers."""
    groups: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for s in range(length):
        groups[tuple(k * s % d for k in range(d // 2 + 1))].append(s)
    return sorted(pair for group in groups.values() for pair in combinations(group, 2))


def gram_diagonals(rows: Floats) -> Floats:
    """k(tau): the mean of <e(s), e(s + tau)> over all s, for each lag tau = 0, 1, .."""
    n = len(rows)
    return np.array([sum(float(rows[s] @ rows[s + tau]) for s in range(n - tau)) / (n - tau) for tau in range(n)])


def gram_offsets(rows: Floats, shape: tuple[int, int]) -> Floats:
    """The mean of <e(y, x), e(y + dy, x + dx)> over all places, for each offset; (0, 0) in the middle."""
    height, width = shape
    sums = np.zeros((2 * height - 1, 2 * width - 1))
    pairs = np.zeros_like(sums)
    for one in range(height * width):
        for other in range(height * width):
            dy, dx = other // width - one // width, other % width - one % width
            sums[height - 1 + dy, width - 1 + dx] += rows[one] @ rows[other]
            pairs[height - 1 + dy, width - 1 + dx] += 1
    return np.asarray(sums / pairs)


def toeplitz_share(rows: Floats, shape: tuple[int, int] | None = None) -> float:
    """||T||^2 / ||G||^2: T is the Gram matrix G with each entry replaced by the mean over its lag (or offset)."""
    gram = rows @ rows.T
    groups: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for s in range(len(rows)):
        for t in range(len(rows)):
            columns = shape[1] if shape else 1
            groups[(t // columns - s // columns, t % columns - s % columns)].append((s, t))
    projected = np.zeros_like(gram)
    for places in groups.values():
        mean = np.mean([gram[place] for place in places])
        for place in places:
            projected[place] = mean
    return float(np.sum(projected**2) / np.sum(gram**2))


def lag_window(k: Floats, n: int, bandwidth: float) -> Floats:
    """Blackman-Tukey of any kernel: sum over all lags that it has, negative ones too."""
    sigma = bandwidth * 2 * np.pi / n
    g = np.zeros(n // 2 + 1)
    for tau in range(-len(k) + 1, len(k)):
        for j in range(len(g)):
            g[j] += k[abs(tau)] * np.exp(-(sigma**2) * tau**2 / 2) * np.cos(2 * np.pi * j * tau / n)
    return np.asarray(g / np.sum(g))


def grid_lag_window(k: Floats, n: tuple[int, int], bandwidth: float) -> Floats:
    """The same over offsets, at every pair of frequencies 2 pi (i / H, j / W), i and j from 0; unnormalised."""
    plane = np.zeros(n)
    reach = k.shape[0] // 2, k.shape[1] // 2
    for i in range(n[0]):
        for j in range(n[1]):
            for dy in range(-reach[0], reach[0] + 1):
                for dx in range(-reach[1], reach[1] + 1):
                    steps = (2 * np.pi * dy / n[0]) ** 2 + (2 * np.pi * dx / n[1]) ** 2
                    angle = 2 * np.pi * (i * dy / n[0] + j * dx / n[1])
                    plane[i, j] += k[reach[0] + dy, reach[1] + dx] * np.exp(-(bandwidth**2) * steps / 2) * np.cos(angle)
    return plane


def periodogram(rows: Floats, times: Floats, omega: Floats) -> Floats:
    """P(omega) = sum over columns of |sum_n e(t_n) exp(-i omega t_n)|^2."""
    power = np.zeros(len(omega))
    for j, w in enumerate(omega):
        for column in rows.T:
            power[j] += abs(sum(value * np.exp(-1j * w * t) for value, t in zip(column, times, strict=True))) ** 2
    return power


def local_spectrum(rows: Floats, start: int, width: int) -> Floats:
    """Power of one stretch of rows faded by a Hann taper, summed over columns, as shares."""
    taper = [np.sin(np.pi * (i + 0.5) / width) ** 2 for i in range(width)]
    faded = rows[start : start + width] * np.array(taper)[:, None]
    power = periodogram(faded, np.arange(width), 2 * np.pi * np.arange(width // 2 + 1) / width)
    return np.asarray(power / power.sum())


def functions_on(n: int) -> list[Floats]:
    """A few functions on the lattice: noise, a one-hot, the constant, and the last basis function."""
    noise = np.random.default_rng(n).standard_normal(n)
    return [noise, one_hot(n, n // 3), np.ones(n), basis(n)[-1]]


def tolerance(n: int) -> float:
    """Of Fourier sums written out: n roundings of cosines that are themselves rounded."""
    return 4e-16 * n


def bucket_of(relative, buckets=32, max_distance=128, bidirectional=True, real=np.float64):
    """The published formula, one number at a time; `real` is the type that its logarithms are taken in."""
    found, n = 0, -relative
    if bidirectional:
        buckets //= 2
        if n < 0:
            found += buckets
        n = abs(n)
    else:
        n = max(n, 0)
    exact = buckets // 2
    if n < exact:
        return found + n
    share = np.log(real(n) / real(exact)) / real(math.log(max_distance / exact))
    return found + min(exact + int(share * real(buckets - exact)), buckets - 1)


def detr_sine(d, height, width, rho, *, normalise, centred=False):
    """DETR's sinusoid of a grid, cell by cell: rows first, sines and cosines in turns."""
    cells = []
    for y in range(height):
        for x in range(width):
            cell = []
            for number, side in ((y + 1, height), (x + 1, width)):
                place = number - 0.5 if centred else number
                u = place / (side + 1e-6) * 2 * math.pi if normalise else place
                for i in range(d // 4):
                    cell += [math.sin(u / rho ** (4 * i / d)), math.cos(u / rho ** (4 * i / d))]
            cells.append(cell)
    return np.array(cells)


def log_bucket_of(lag, buckets, max_distance):
    """DeBERTa's bucket, as the logarithms of the published formula give it."""
    middle, distance = buckets // 2, abs(lag)
    if distance <= middle:
        return lag
    share = math.log(distance / middle) / math.log((max_distance - 1) / middle)
    # rounding keeps a share of one, where max_distance - 1 is met, from the bucket behind
    found = middle + math.ceil(round(share * (middle - 1), 9))
    return min(max(found if lag > 0 else -found, -buckets), buckets - 1)


def lomb_scargle(times: Floats, values: Floats, frequency: float) -> float:
    """The share of the variance that a + b cos(2 pi f t) + c sin(2 pi f t) explains, by least squares."""
    columns = np.stack([np.ones(len(times)), *(wave(2 * np.pi * frequency * times) for wave in (np.cos, np.sin))], 1)
    fitted = columns @ np.linalg.lstsq(columns, values, rcond=None)[0]
    return 1 - float(np.sum((values - fitted) ** 2) / np.sum((values - values.mean()) ** 2))
