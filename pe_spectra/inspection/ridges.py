"""Lines whose frequency drifts along a table: followed through the spectra of short windows.

The periodogram of the whole table shows such a line as many peaks beside each other. In a window
of an eighth of the rows it is one peak, which moves from window to window: a ridge.
"""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.inspection.backgrounds import LEAST_RATIO
from pe_spectra.inspection.peaks import compute_periodogram
from pe_spectra.inspection.series import Mask
from pe_spectra.ordering import find_median, list_distinct
from pe_spectra.records import dataclass

#: Rows of a window: this part of the table; windows that are shorter follow nothing.
_PART, _SHORTEST = 8, 16
#: Frequencies per cycle over a window, and cycles over it that a ridge has at least (the slower ones leak).
_PADDING, _SLOWEST = 4, 4
#: Cycles over a window between neighbouring windows at most, and those on either side that are its surroundings.
_STEP, _AROUND = 1.0, 8
#: A peak of a window is this many times the median around it. Noise of one column has many; that most windows have
#: one, and that these move steadily, is what noise has not: none of 540 tables of one to three columns had a ridge.
_STANDS = LEAST_RATIO
#: Share of the windows that a ridge is seen in, and of the variance of its frequency that is a drift.
_SEEN, _STEADY = 0.8, 0.9
#: Cycles over the table that a frequency drifts by at least: less is one peak; and those around its band.
LEAST_DRIFT, _MARGIN = 2.0, 3.0
#: Ridges that are followed, those of constant lines too.
_MOST = 24


@dataclass(frozen=True, kw_only=True)
class Ridge:
    """A line that drifts: its frequencies at the first and the last row, and the band that holds it, in cycles a row.

    >>> Ridge(first=0.2, last=0.1, low=0.09, high=0.21).holds(0.15)
    True
    """

    first: float
    last: float
    low: float
    high: float

    def holds(self, frequency: float) -> bool:
        return self.low <= frequency <= self.high


def find_ridges(values: F64, rest: float) -> list[Ridge]:
    """Follow peaks along the table, and keep those that move steadily by more than two cycles over its length.

    Parameters
    ----------
    values : (S, c) principal columns without mean and trend; rest : level of the columns left out.

    References
    ----------
    McAulay & Quatieri 1986, IEEE Trans. ASSP 34, 744 (peaks followed from window to window).

    >>> s = np.arange(512.0)
    >>> chirp = np.cos(2 * np.pi * (0.1 + 0.05 * s / 1024) * s)[:, None]  # 0.1 to 0.15 cycles a row
    >>> [(round(one.first, 3), round(one.last, 3)) for one in find_ridges(chirp, 0.0)]
    [(0.1, 0.15)]
    """
    size, window = len(values), len(values) // _PART
    if window < _SHORTEST:
        return []
    starts = list_distinct(np.linspace(0, size - window, 2 * _PART - 1).astype(np.int64))
    powers, heights = _measure_windows(values, starts, window, rest)
    heights[:, : _SLOWEST * _PADDING] = 0.0
    # between two lines a shoulder may stand higher above the median than either, and is no peak to start from
    heights[:, 1:-1][(powers[:, 1:-1] < powers[:, :-2]) | (powers[:, 1:-1] < powers[:, 2:])] = 0.0
    ridges: list[Ridge] = []
    for _ in range(_MOST):
        start, peak = divmod(int(np.argmax(heights)), heights.shape[1])
        if heights[start, peak] <= _STANDS:
            break
        track = _follow(powers, heights > _STANDS, start, peak)
        centres: F64 = starts.astype(np.float64) + (window - 1) / 2
        ridge = _describe(track / (window * _PADDING), centres, size)
        if ridge is not None and not any(other.holds((ridge.low + ridge.high) / 2) for other in ridges):
            ridges.append(ridge)
        heights[start, peak] = 0.0
        for row, place in enumerate(track):
            if not math.isnan(place):
                heights[row, max(int(place) - 2 * _PADDING, 0) : int(place) + 2 * _PADDING + 1] = 0.0
    return ridges


def remove_bands(values: F64, ridges: list[Ridge]) -> F64:
    """Return (S, c) without the frequencies of the bands.

    >>> wave = np.cos(2 * np.pi * np.arange(64.0) / 8)[:, None]
    >>> float(abs(remove_bands(wave, [Ridge(first=0.1, last=0.2, low=0.1, high=0.2)])).max().round(12))
    0.0
    """
    spectrum = np.fft.rfft(values, axis=0)
    spectrum[_find_bins(len(values), ridges)] = 0.0
    removed: F64 = np.fft.irfft(spectrum, len(values), axis=0)
    return removed


def measure_bands(values: F64, ridges: list[Ridge]) -> list[float]:
    """Return the energy in the band of each ridge above the level beside it, both by the periodogram.

    Parameters
    ----------
    values : (S, d) without the lines that do not drift.

    >>> wave = np.cos(2 * np.pi * np.arange(64.0) / 8)[:, None]
    >>> round(measure_bands(wave, [Ridge(first=0.1, last=0.2, low=0.1, high=0.2)])[0], 9)
    32.0
    """
    size = len(values)
    power = compute_periodogram(values, (size,), [size])
    power[1 : (size + 1) // 2] *= 2  # the sum over all frequencies is the energy
    inside = _find_bins(size, ridges)
    median = (1 - 1 / (9 * values.shape[1])) ** 3  # of the mean, in noise (Wilson-Hilferty)
    energies = []
    for ridge in ridges:
        first, last = np.flatnonzero(_find_bins(size, [ridge]))[[0, -1]]
        beside = slice(max(int(first) - 2 * _AROUND, 1), int(last) + 2 * _AROUND + 1)
        around = power[beside][~inside[beside]]
        level = float(find_median(around)) / median if around.size else 0.0
        energies.append(max(float((power[first : last + 1] - level).sum()), 0.0))
    return energies


def _find_bins(size: int, ridges: list[Ridge]) -> Mask:
    frequencies = np.arange(size // 2 + 1) / size
    inside: Mask = np.any([(ridge.low <= frequencies) & (frequencies <= ridge.high) for ridge in ridges], axis=0)
    return inside


def _measure_windows(values: F64, starts: I64, window: int, rest: float) -> tuple[F64, F64]:
    """Return (windows, frequencies) the power of each Hann-tapered window, and that over the median around."""
    taper = np.sin(math.pi * (np.arange(window) + 0.5) / window) ** 2
    scale = window / float(taper @ taper)
    rows = [values[start : start + window] * taper[:, None] for start in starts]
    power = np.array([compute_periodogram(row, (window,), [window * _PADDING]) * scale + rest for row in rows])
    wide = _AROUND * _PADDING
    # every second of the padded frequencies is enough for a median
    padded = np.pad(power, ((0, 0), (wide, wide)), mode="reflect")
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * wide + 1, axis=1)[:, :, ::_PADDING]
    levels: F64 = find_median(around, axis=2)
    return power, power / np.maximum(levels, 1e-9 * power.max(initial=1e-300))


def _follow(powers: F64, stands: Mask, start: int, peak: int) -> F64:
    """Return the place of the peak in each window, between the frequencies of the lattice; NaN where none stands."""
    track = np.full(len(powers), np.nan)
    reach, most = round(_STEP * _PADDING), powers.shape[1] - 1
    for rows in (range(start, len(powers)), range(start - 1, -1, -1)):
        place = peak
        for row in rows:
            low, high = max(place - reach, 1), min(place + reach + 1, most)
            best = low + int(np.argmax(powers[row, low:high]))
            left, middle, right = np.log(np.maximum(powers[row, best - 1 : best + 2], 1e-300))
            if not stands[row, best]:
                continue
            place, bend = best, left - 2 * middle + right
            track[row] = best + (0.5 * (left - right) / bend if bend < 0 else 0.0)
    return track


def _describe(frequencies: F64, centres: F64, size: int) -> Ridge | None:
    seen = np.isfinite(frequencies)
    if seen.sum() < max(_SEEN * seen.size, 3):
        return None
    x, y = centres[seen] / size - 0.5, frequencies[seen]
    line = np.polynomial.Polynomial.fit(x, y, 1)
    variance = float(np.var(y))
    if variance <= 0 or float(np.var(y - line(x))) > (1 - _STEADY) * variance:
        return None
    curve = np.polynomial.Polynomial.fit(x, y, 2)
    along = curve(np.linspace(-0.5, 0.5, 65))
    low, high = float(along.min()), float(along.max())
    if (high - low) * size < LEAST_DRIFT:
        return None
    margin = _MARGIN / size
    return Ridge(first=float(along[0]), last=float(along[-1]), low=low - margin, high=min(high + margin, 0.5))
