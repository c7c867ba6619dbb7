"""What we compute for the statements of the other three texts about positional encoding."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.claims.judging import ROUNDING, Judgement, conclude, describe_deviation
from pe_spectra.encodings import Dft, Sinusoidal
from pe_spectra.exact import F64
from pe_spectra.faithfulness import measure_faithfulness

#: Size of the first article's example table.
STEPS, CHANNELS = 200, 12


# --- All about positional encoding ---


def _correlate_with_distance(table: F64) -> float:
    # over all pairs of rows; nan where the distances do not vary
    first, second = np.triu_indices(len(table), k=1)
    distances = np.linalg.norm(table[first] - table[second], axis=1)
    if np.ptp(distances) < ROUNDING:
        return float("nan")
    return float(np.corrcoef(second - first, distances)[0, 1])


def _article_difference_tracks_distance() -> Judgement:
    ramp = _correlate_with_distance(np.linspace(0, 1, STEPS)[:, None])
    sinusoid = _correlate_with_distance(Sinusoidal(d=CHANNELS).table(STEPS))
    dft = _correlate_with_distance(Dft(d=STEPS).table(STEPS))
    constant = "undefined (all distances equal)" if np.isnan(dft) else f"{dft:.4f}"
    text = f"correlation over all pairs: ramp {ramp:.4f}, sinusoid {sinusoid:.4f}, DFT encoding {constant}"
    strong = [ramp > 0.9, sinusoid > 0.9, dft > 0.9]
    return conclude(text, holds=all(strong), partly=any(strong))


def _article_ramp() -> Judgement:
    ramp = np.linspace(0, 1, 8192)
    single, half = (len(np.unique(ramp.astype(kind))) for kind in (np.float32, np.float16))
    text = f"distinct values of 8192: {single} in single precision, {half} in half precision"
    return conclude(text, holds=half == 8192, partly=single == 8192)


def _article_wavelengths() -> Judgement:
    longest = [float(2 * np.pi / Sinusoidal(d=d).frequencies().values[-1]) for d in (CHANNELS, 512)]
    waves = 2 * np.pi / Sinusoidal(d=CHANNELS).frequencies().values
    geometric = bool(np.ptp(waves[1:] / waves[:-1]) < ROUNDING) and abs(float(waves[0]) - 2 * np.pi) < ROUNDING
    ends = [wave / (2 * np.pi) for wave in longest]
    text = f"longest {ends[0]:.2f} x 2 pi for d = {CHANNELS}, {ends[1]:.2f} x 2 pi for d = 512; first 2 pi"
    return conclude(text, holds=geometric and abs(ends[0] - 10000) < 1, partly=geometric)


def _article_code_table() -> Judgement:
    # the article's code: pos / 10000**(2 (i // 2) / d), sine of even and cosine of odd columns
    column = np.arange(CHANNELS)
    angle = np.arange(STEPS)[:, None] / np.power(10000, 2 * (column // 2) / CHANNELS)
    code = np.where(column % 2 == 0, np.sin(angle), np.cos(angle))
    deviation = float(np.abs(code - Sinusoidal(d=CHANNELS).table(STEPS)).max())
    return conclude(f"largest difference {describe_deviation(deviation)}", holds=deviation < ROUNDING)


def _turn_pairs(table: F64, offset: int, d: int) -> F64:
    # Each (sin, cos) pair turned by w k: the rotation R_k applied to every row.
    w = Sinusoidal(d=d).frequencies().values
    sine, cosine = table[:, 0::2], table[:, 1::2]
    turned = np.empty_like(table)
    turned[:, 0::2] = sine * np.cos(w * offset) + cosine * np.sin(w * offset)
    turned[:, 1::2] = cosine * np.cos(w * offset) - sine * np.sin(w * offset)
    return turned


def _article_linear_offset() -> Judgement:
    d, offset = 256, 7
    table = Sinusoidal(d=d).table(100 + offset)
    error = float(np.linalg.norm(_turn_pairs(table[:100], offset, d) - table[offset:], axis=1).max())
    text = f"rotated PE(pos) - PE(pos + {offset}): {describe_deviation(error)} (d = {d}, 100 positions)"
    return conclude(text, holds=error < ROUNDING)


def _article_softmax_index() -> Judgement:
    scores = np.array([0.0, 1.0, 2.0])
    printed = np.exp(scores) / (len(scores) * np.exp(scores))
    softmax = np.exp(scores) / np.exp(scores).sum()
    shown = [", ".join(f"{value:.4f}" for value in row) for row in (printed, softmax)]
    text = f"scores 0, 1, 2 give {shown[0]} as printed, {shown[1]} by softmax"
    return conclude(text, holds=bool(np.allclose(printed, softmax)))


def _article_clip() -> Judgement:
    clipped = np.clip(np.arange(-10, 11), -3, 3)
    beyond = np.unique(clipped[np.arange(-10, 11) > 3])
    text = f"distances -10 .. 10 give {len(np.unique(clipped))} values; all beyond 3 give {beyond[0]}"
    return conclude(text, holds=beyond.tolist() == [3])


# --- Positional Encoding (reference article) ---


def _attend(x: F64, w: F64) -> F64:
    query, key, value = x @ w[0], x @ w[1], x @ w[2]
    scores = np.exp(query @ key.T / np.sqrt(x.shape[1]))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True) @ value)


def _reference_permutation() -> Judgement:
    rng = np.random.default_rng(0)
    x, w, order = rng.standard_normal((10, 8)), rng.standard_normal((3, 8, 8)) / 3, rng.permutation(10)
    deviation = float(np.abs(_attend(x[order], w) - _attend(x, w)[order]).max())
    text = f"largest deviation {describe_deviation(deviation)} (10 random tokens)"
    return conclude(text, holds=deviation < ROUNDING)


def _reference_periods() -> Judgement:
    d = 512
    periods = 2 * np.pi / Sinusoidal(d=d).frequencies().values
    formula = 2 * np.pi * 10000.0 ** (2 * np.arange(d // 2) / d)
    deviation = float(np.abs(periods / formula - 1).max())
    distinct = len(np.unique(periods))
    text = (
        f"relative deviation {describe_deviation(deviation)}; "
        f"{distinct} different periods, {periods[0]:.5f} to {periods[-1]:.1f}"
    )
    return conclude(text, holds=deviation < ROUNDING and distinct == d // 2)


def _reference_linear_plus() -> Judgement:
    d, offset = 512, 7
    table = Sinusoidal(d=d).table(100 + offset)
    turned = _turn_pairs(table[:100], offset, d)
    plain, plus = (float(np.linalg.norm(x - table[offset:], axis=1).max()) for x in (turned, turned + table[offset]))
    text = f"error {describe_deviation(plain)} without PE_k, {describe_deviation(plus)} with it (d = {d}, k = {offset})"
    return conclude(text, holds=plus < ROUNDING)


def _reference_bounded() -> Judgement:
    table = Sinusoidal(d=512).table(4096)
    text = f"smallest {table.min():.10f}, largest {table.max():.10f} (d = 512, 4096 positions)"
    return conclude(text, holds=bool(np.abs(table).max() <= 1))


def _reference_unique() -> Judgement:
    found = measure_faithfulness(Sinusoidal(d=512), length=1000)
    text = (
        f"injective: {'yes' if found.injective else 'no'}; "
        f"smallest separation {found.min_separation:.5f} (d = 512, S = 1000)"
    )
    return conclude(text, holds=found.injective is True)


def _reference_hybrid() -> Judgement:
    def layer(x: float, sinusoidal: float, learned: float) -> float:
        return x + 0.5 * sinusoidal + 0.5 * (x + learned)  # the learned layer returns its inputs too

    factors = (layer(1.0, 0.0, 0.0), layer(0.0, 1.0, 0.0), layer(0.0, 0.0, 1.0))
    text = f"factors: inputs {factors[0]}, sinusoidal {factors[1]}, learned {factors[2]}"
    return conclude(text, holds=factors == (1.0, 0.5, 0.5), partly=factors[1:] == (0.5, 0.5))


def _rotate(x: F64, position: int) -> F64:
    half = len(x) // 2
    angle = position / 10000.0 ** (np.arange(0, len(x), 2) / len(x))
    one, two = x[:half], x[half:]
    return np.concatenate([one * np.cos(angle) - two * np.sin(angle), two * np.cos(angle) + one * np.sin(angle)])


def _reference_rotary() -> Judgement:
    query, key = np.random.default_rng(0).standard_normal((2, 64))
    norm = abs(float(np.linalg.norm(_rotate(query, 100)) - np.linalg.norm(query)))
    shift = abs(float(_rotate(query, 17) @ _rotate(key, 5) - _rotate(query, 112) @ _rotate(key, 100)))
    text = (
        f"change of norm {describe_deviation(norm)}; "
        f"change of the product when both move by 95 {describe_deviation(shift)}"
    )
    return conclude(text, holds=max(norm, shift) < ROUNDING)


def _assign_buckets(distance: ArrayLike) -> F64:
    # the article's code with 32 buckets and maximum distance 128
    n, exact = np.abs(np.asarray(distance, dtype=float)), 16
    large = exact + np.trunc(np.log(np.maximum(n, 1) / exact) / np.log(128 / exact) * (32 - exact))
    return np.asarray(np.where(n < exact, n, np.minimum(large, 31)))


def _reference_t5_buckets() -> Judgement:
    n = np.arange(1, 200)
    same = int(np.count_nonzero(_assign_buckets(n) == _assign_buckets(-n)))
    last = int(n[_assign_buckets(n) == 31][0])
    text = f"+n and -n share a bucket for {same} of {len(n)} distances; the last of 32 buckets starts at {last}"
    return conclude(text, holds=same == 0, partly=last == 113)


# --- Positional Encodings for Time Series ---


def _series_d_waves() -> Judgement:
    d = 256
    waves, distinct = Sinusoidal(d=d).table(1).shape[1], len(np.unique(Sinusoidal(d=d).frequencies().values))
    return conclude(f"{waves} waves, {distinct} frequencies (d = {d})", holds=waves == distinct, partly=waves == d)


def _series_growing_wavelength() -> Judgement:
    found = measure_faithfulness(Sinusoidal(d=256), length=100000)
    periods = 2 * np.pi / Sinusoidal(d=256).frequencies().values
    text = (
        f"wavelengths {periods[0]:.5f} to {periods[-1]:.1f}; smallest separation of 100000 positions "
        f"{found.min_separation:.5f} (d = 256)"
    )
    return conclude(text, holds=bool(np.all(np.diff(periods) > 0)) and found.injective is True)


def _series_hour_weekday() -> Judgement:
    hour = np.arange(8 * 24)
    codes = len(np.unique(np.stack([hour % 24, hour // 24 % 7]), axis=1).T)
    return conclude(f"{codes} different pairs for {len(hour)} hours", holds=codes < len(hour))


def _series_global_timestamp() -> Judgement:
    hour = np.arange(8 * 24)
    codes = len(np.unique(np.stack([hour % 24, hour // 24 % 7, hour]), axis=1).T)
    return conclude(f"{codes} different triples for {len(hour)} hours", holds=codes == len(hour))
