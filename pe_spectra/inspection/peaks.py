"""Which peaks of a line's spectrum are lines, and which are only where a falling continuum begins.

Random walks and smoothed noise have spectra that fall like a power of 1/f: their lowest frequencies
are high, but so are those beside them. A sinusoid is as narrow as the window of S rows allows.
"""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64

#: Frequencies per cycle over the length of the table, and numbers worked on at a time.
_PADDING, _BLOCK = 4, 1 << 20
#: Two lines closer than this many cycles over the length, and of like power, are one broad peak.
_APART, _LIKE = 1.5, 1 / 3
#: Cycles over the length between a line and the continuum beside it, and the width of that.
_CLEAR, _WIDE = 2.5, 4.0
#: A continuum is taken to fall no faster than 1 / f**4.
_STEEPEST = 4.0
_TINY = 1e-300


def select_lines(
    values: F64, basis: F64, waves: list[F64], cycles: list[float], rest: float, ratio: float
) -> list[int]:
    """Select the sinusoids that are narrow: `ratio` times the continuum on either side.

    The spectrum is that of the Hann-tapered rows without the trend and the other lines. Where no
    room is left below a line, a power of 1/f fitted above it is continued.

    Parameters
    ----------
    values : (S, c) principal columns; basis : (S, t) orthonormal trend; waves : cosine and sine (S,) of
        each sinusoid; cycles : their cycles over the S rows; rest : level of the columns left out.

    Returns
    -------
    indices into `cycles`.

    References
    ----------
    Harris 1978, Proc. IEEE 66, 51 (Hann window); Thomson 1982, Proc. IEEE 70, 1055 (lines in a continuum).

    >>> s = np.arange(96.0)
    >>> waves = [np.cos(2 * np.pi * s / 12), np.sin(2 * np.pi * s / 12)]
    >>> noise = 0.01 * np.random.default_rng(0).normal(size=96)
    >>> select_lines((waves[0] + noise)[:, None], np.ones((96, 1)) / 96**0.5, waves, [8.0], 0.0, 4.0)
    [0]
    """
    amplitudes = np.linalg.lstsq(np.column_stack([basis, *waves]), values, rcond=None)[0]
    smooth, parts = amplitudes[: basis.shape[1]], amplitudes[basis.shape[1] :]
    parts = parts.reshape(len(cycles), 2, -1)
    powers = np.einsum("ijk,ijk->i", parts, parts)
    alone = [index for index in range(len(cycles)) if _is_alone(index, cycles, powers)]
    signal = values - basis @ smooth
    models = {index: np.column_stack(waves[2 * index : 2 * index + 2]) @ parts[index] for index in alone}
    for model in models.values():
        signal = signal - model
    return [
        index for index in alone if _stands_out(_compute_spectrum(signal + models[index], rest), cycles[index], ratio)
    ]


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


def _is_alone(index: int, cycles: list[float], powers: F64) -> bool:
    return not any(
        abs(cycles[index] - cycles[other]) < _APART and powers[other] > _LIKE * powers[index]
        for other in range(len(cycles))
        if other != index
    )


def _compute_spectrum(values: F64, rest: float) -> tuple[F64, F64]:
    """Return cycles over the length, and sum over columns of |sum_s w(s) x(s) e^(-i w s)|^2 / sum w^2."""
    size = len(values)
    taper = np.sin(math.pi * (np.arange(size) + 0.5) / size) ** 2
    padded = 1 << math.ceil(math.log2(_PADDING * size))
    power = compute_periodogram(taper[:, None] * values, (size,), [padded]) * (size / float(taper @ taper)) + rest
    return np.arange(len(power), dtype=np.float64) * (size / padded), power


def _stands_out(spectrum: tuple[F64, F64], cycles: float, ratio: float) -> bool:
    places, power = spectrum
    peak = float(power[np.abs(places - cycles) <= 0.5].max(initial=0.0))
    last = float(places[-1])
    above = (places >= cycles + _CLEAR) & (places <= cycles + _CLEAR + _WIDE)
    below = (places <= cycles - _CLEAR) & (places >= max(cycles - _CLEAR - _WIDE, 0.75))
    levels = []
    if cycles + _CLEAR + 1 <= last:
        levels.append(float(np.median(power[above])))
    if cycles - _CLEAR - 1 >= 0.75:
        levels.append(float(np.median(power[below])))
    elif above.sum() > 2:
        levels.append(_continue_down(places[above], power[above], cycles))
    return bool(levels) and peak > ratio * max(levels)


def _continue_down(places: F64, power: F64, cycles: float) -> float:
    x, y = np.log(places), np.log(np.maximum(power, _TINY))
    x, middle = x - x.mean(), float(x.mean())
    slope = float(np.clip(x @ y / (x @ x), -_STEEPEST, 0.0))
    return math.exp(float(y.mean()) + slope * (math.log(cycles) - middle))
