"""Which peaks of a line's spectrum are lines, and which are only where a falling continuum begins.

Random walks and smoothed noise have spectra that fall like a power of 1/f: their lowest frequencies
are high, but so are those beside them. A sinusoid is as narrow as the window of S rows allows.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from pe_spectra.exact import F64, NDArray
from pe_spectra.inspection.backgrounds import (
    HANN_APART,
    Bins,
    count_columns,
    find_bins,
    find_ratio,
    measure_distances,
    predict_level,
)

#: Numbers worked on at a time.
_BLOCK = 1 << 20
#: Two lines closer than this many cycles over the length, and of like power, are one broad peak.
_APART, _LIKE = 1.5, 1 / 3
#: Cycles over the length between a line and the continuum beside it; how many bins that is, of a long table an octave
#: on either side; how many tell the number of columns; and the fewest that tell anything.
_CLEAR, _NEAREST, _COMPARED, _FEWEST = 2.5, (24, 12, 6), 48, 3


def select_lines(
    values: F64, shape: tuple[int, ...], basis: F64, waves: F64, cycles: F64, rest: float, forms: int = 1
) -> list[int]:
    """Select the sinusoids that are narrow: far above the continuum on either side, which is no line.

    The spectrum is that of the Hann-tapered rows without the trend and the other lines. The continuum is a power of
    the frequency, fitted to the bins around; how far a line must stand above it follows from how sure that is, and
    from how many columns the noise counts as.

    Parameters
    ----------
    values : (S, c) principal columns; shape : (S,), or (H, W); basis : (S, t) orthonormal trend; waves : (S, 2 K)
        cosine and sine of each sinusoid; cycles : (K, axes) their cycles over each side; rest : level of the columns
        left out; forms : as many more kinds of lines than sinusoids were tried, of which the best one is asked about.

    Returns
    -------
    indices into `cycles`.

    References
    ----------
    Harris 1978, Proc. IEEE 66, 51 (Hann window); Thomson 1982, Proc. IEEE 70, 1055 (lines in a continuum).

    >>> s = np.arange(96.0)
    >>> waves = np.column_stack([np.cos(2 * np.pi * s / 12), np.sin(2 * np.pi * s / 12)])
    >>> noise = 0.01 * np.random.default_rng(0).normal(size=96)
    >>> select_lines(waves[:, :1] + noise[:, None], (96,), np.ones((96, 1)) / 96**0.5, waves, np.array([[8.0]]), 0.0)
    [0]
    """
    amplitudes = np.linalg.lstsq(np.column_stack([basis, waves]), values, rcond=None)[0]
    smooth, parts = amplitudes[: basis.shape[1]], amplitudes[basis.shape[1] :]
    parts = parts.reshape(len(cycles), 2, -1)
    powers = np.einsum("ijk,ijk->i", parts, parts)
    alone = [index for index in range(len(cycles)) if _is_alone(index, cycles, powers, shape)]
    models = {index: waves[:, 2 * index : 2 * index + 2] @ parts[index] for index in alone}
    sides = [np.sin(math.pi * (np.arange(size) + 0.5) / size) ** 2 for size in shape]
    taper = reduce(np.multiply.outer, sides).ravel()
    taper *= math.sqrt(len(values)) / np.linalg.norm(taper)
    signal = values - basis @ smooth
    while True:  # what is no line is part of the continuum beside the others
        left = taper[:, None] * (signal - sum(models[index] for index in alone))
        bins = find_bins(left, shape, rest)
        selected = []
        for index in alone:
            wave = waves[:, 2 * index] - 1j * waves[:, 2 * index + 1]
            peak = float(np.sum(np.abs(wave @ (left + taper[:, None] * models[index])) ** 2)) / len(values) + rest
            around = bins.take(_clear_of(bins, cycles[[other for other in alone if other != index]]))
            if _stands_out(around, peak, cycles[index], forms):
                selected.append(index)
        if selected == alone or not selected:
            return selected
        alone = selected


def compute_periodogram(values: F64, shape: tuple[int, ...], sizes: list[int]) -> F64:
    """Return sum over columns of |sum_s x(s) e^(-i w s)|^2 / S on the padded lattice.

    >>> compute_periodogram(np.ones((4, 1)), (4,), [8]).round(12).tolist()[::2]
    [4.0, 0.0, 0.0]
    """
    axes = tuple(range(len(shape)))
    power = np.zeros((*sizes[:-1], sizes[-1] // 2 + 1))
    columns = max(1, _BLOCK // math.prod(sizes))
    for start in range(0, values.shape[1], columns):
        block = values[:, start : start + columns].reshape(*shape, -1)
        power += (np.abs(np.fft.rfftn(block, sizes, axes=axes)) ** 2).sum(axis=-1)
    power /= math.prod(shape)
    return power


def _is_alone(index: int, cycles: F64, powers: F64, shape: tuple[int, ...]) -> bool:
    near = measure_distances(cycles, cycles[index], shape) < _APART
    near[index] = False
    return not bool((near & (powers > _LIKE * powers[index])).any())


def _clear_of(bins: Bins, lines: F64) -> NDArray[np.bool_]:
    """Say which bins are not emptied by lines that were subtracted, (n,)."""
    clear = np.ones(len(bins.cycles), dtype=bool)
    for line in lines:
        clear &= measure_distances(bins.cycles, line, bins.shape) >= _APART
    return clear


def _stands_out(bins: Bins, peak: float, cycles: F64, forms: int) -> bool:
    lengths, length = np.linalg.norm(bins.cycles, axis=1), float(np.linalg.norm(cycles))
    distances = measure_distances(bins.cycles, cycles, bins.shape)
    beside = bins.powers[(distances >= _APART) & (distances <= _CLEAR)]
    if beside.max(initial=0.0) >= peak:
        return False  # the slope of something broader
    octave = int(np.sum((lengths >= length / 2) & (lengths <= 2 * length)))
    columns = count_columns(bins.take_nearest(cycles, _COMPARED, _CLEAR), HANN_APART)
    # half a cycle from where it is its own conjugate and nearer, a line is but one wave of real amplitudes
    twice = 2 * cycles / bins.shape
    is_real = bool((np.abs(twice - np.round(twice)) * bins.shape < 1).all())
    # many bins are surer, few are the better where the continuum is no power of the frequency
    for count in (max(octave, _NEAREST[0]), *_NEAREST[1:]):
        around = bins.take_nearest(cycles, count, _CLEAR)
        if len(around.cycles) < _FEWEST:
            return False
        level = predict_level(around, cycles, columns)
        tries = forms * len(_NEAREST) * math.prod(bins.shape)
        if peak > find_ratio(columns / 2 if is_real else columns, level.squares, tries) * level.value:
            return _holds_at(bins, around, cycles, columns)
    return False


def _holds_at(bins: Bins, around: Bins, cycles: F64, columns: float) -> bool:
    """Say whether the continuum holds at a line too: where it rises there instead, a slow curve is the peak.

    Nearer to frequency 0 no bin lies clear below a line, and its level is only continued from above (a grid has bins
    in other directions). What is left at its place without a line of two waves is no more than noise; of a slow
    curve, which has more, there is a rest.
    """
    if len(bins.shape) > 1 or float(np.linalg.norm(cycles)) >= _CLEAR + 1:
        return True
    near = bins.take(measure_distances(bins.cycles, cycles, bins.shape) < _APART)
    levels = [predict_level(around, one, columns) for one in near.cycles]
    heights = [find_ratio(columns, level.squares, len(levels)) * level.value for level in levels]
    return bool((near.powers <= heights).all())
