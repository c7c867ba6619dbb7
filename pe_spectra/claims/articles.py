"""What we compute for the statements of the other three texts about positional encoding."""

from __future__ import annotations

import numpy as np

from pe_spectra.claims.judging import ROUNDING, Judgement, conclude, describe_deviation
from pe_spectra.encodings import Dft, Sinusoidal
from pe_spectra.encodings.absolute import Ramp
from pe_spectra.exact import F64, ArrayLike
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.metrics.compare import compare_encodings
from pe_spectra.metrics.linearity import KEPT_VARIANCE
from pe_spectra.metrics.order import measure_table_order

#: Size of the first article's example table.
STEPS, CHANNELS = 200, 12


# --- All about positional encoding ---


def _article_difference_tracks_distance() -> Judgement:
    ramp, sinusoid, dft = Ramp(length=STEPS), Sinusoidal(d=CHANNELS), Dft(d=STEPS)
    tables = {"ramp": ramp.table(STEPS), "sinusoid": sinusoid.table(STEPS), "DFT encoding": dft.table(STEPS)}
    found = {name: measure_table_order(table).distance_lag_spearman for name, table in tables.items()}
    shown = [f"{name} {'undefined (all equal)' if r is None else f'{r:.4f}'}" for name, r in found.items()]
    strong = [r is not None and r > 0.9 for r in found.values()]
    return conclude(f"rank correlation of distance and lag: {', '.join(shown)}", holds=all(strong), partly=any(strong))


def _article_ramp() -> Judgement:
    ramp = np.linspace(0, 1, 8192)
    double, single, half = (len(np.unique(ramp.astype(kind))) for kind in (np.float64, np.float32, np.float16))
    text = f"distinct values of 8192: {double} in double, {single} in single precision, {half} in half precision"
    return conclude(text, holds=double == 8192)


def _article_wavelengths() -> Judgement:
    w = Sinusoidal(d=CHANNELS).frequencies().values
    text = (
        f"{CHANNELS} channels: frequencies {w[0]:g} to {w[-1]:.9f} rad/position, each {w[1]:.6f} of the one before; "
        f"wavelengths 2 pi to 2 k pi, k = 1/{w[-1]:.9f}"
    )
    return conclude(text, holds=bool(np.ptp(w[1:] / w[:-1]) < ROUNDING) and abs(float(w[0]) - 1) < ROUNDING)


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
    # two roads: the rotation, at one offset, and the best map that is fitted, at the worst of several
    offset, encoding = 7, Sinusoidal(d=CHANNELS)
    table = encoding.table(STEPS + offset)
    error = float(np.linalg.norm(_turn_pairs(table[:STEPS], offset, CHANNELS) - table[offset:], axis=1).max())
    (fitted,) = compare_encodings([encoding], length=STEPS)
    share = fitted.values["shift_linearity_worst"] or 0.0
    text = f"held-out R**2 {share:.10f} of a map from PE(pos) to PE(pos + k), at the worst k"
    return conclude(text, holds=error < ROUNDING and share > KEPT_VARIANCE)


def _article_softmax_index() -> Judgement:
    scores = np.array([0.0, 1.0, 2.0])
    printed = np.exp(scores) / (len(scores) * np.exp(scores))
    softmax = np.exp(scores) / np.exp(scores).sum()
    shown = [", ".join(f"{value:.4f}" for value in row) for row in (printed, softmax)]
    text = f"scores 0, 1, 2 give {shown[0]} as printed, {shown[1]} by softmax"
    return conclude(text, holds=bool(np.allclose(printed, softmax)))


def _article_clip() -> Judgement:
    lags = np.arange(-10, 11)
    clipped = np.clip(lags, -3, 3)
    distinct = len(np.unique(clipped))
    text = f"{distinct} distinct vectors for {len(lags)} lags: those of {clipped.max()} and more share one"
    return conclude(text, holds=np.unique(clipped[lags > 3]).tolist() == [3])


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
    w = Sinusoidal(d=d).frequencies().values
    formula = 2 * np.pi * 10000.0 ** (2 * np.arange(d // 2) / d)
    deviation = float(np.abs(2 * np.pi / w / formula - 1).max())
    pairs = len(np.unique(w))
    text = (
        f"{d} dimensions are pairs i = 0 .. {pairs - 1} of frequencies {w[0]:g} to {w[-1]:.9f} rad/position; "
        f"relative deviation of their periods {describe_deviation(deviation)}"
    )
    return conclude(text, holds=deviation < ROUNDING and pairs == d, partly=deviation < ROUNDING)


def _reference_linear_plus() -> Judgement:
    d, offset = 512, 7
    table = Sinusoidal(d=d).table(100 + offset)
    turned = _turn_pairs(table[:100], offset, d)
    alone, plus = (float(np.linalg.norm(x - table[offset:], axis=1).max()) for x in (turned, turned + table[offset]))
    is_exact = "exact" if alone < ROUNDING else "not exact"
    text = f"PE(pos) R_k is {is_exact}; PE_k, added to it, is an error of norm {plus:g} (d = {d})"
    return conclude(text, holds=plus < ROUNDING)


def _reference_bounded() -> Judgement:
    table = Sinusoidal(d=512).table(100)
    text = f"smallest {table.min():.10f}, largest {table.max():.10f} (d = 512, 100 positions)"
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


def _turns_by_default() -> bool:
    # the article's lines where no positions are given
    position = np.arange(4.0)[np.newaxis, :]
    try:
        np.einsum("i,j->ij", position, 10000.0 ** -(np.arange(0, 64, 2) / 64))
    except ValueError:  # two dimensions for the one of i
        return False
    return True


def _reference_rotary() -> Judgement:
    query, key = np.random.default_rng(0).standard_normal((2, 64))
    norm = abs(float(np.linalg.norm(_rotate(query, 100)) - np.linalg.norm(query)))
    shift = abs(float(_rotate(query, 17) @ _rotate(key, 5) - _rotate(query, 112) @ _rotate(key, 100)))
    is_default = _turns_by_default()
    text = (
        f"change of norm {describe_deviation(norm)}; "
        f"change of the product when both move by 95 {describe_deviation(shift)}; "
        f"without a list of positions the code {'does the same' if is_default else 'stops'}"
    )
    turns = max(norm, shift) < ROUNDING
    return conclude(text, holds=turns and is_default, partly=turns)


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
    length, encoding = 100000, Sinusoidal(d=256)
    found = measure_faithfulness(encoding, length=length)
    periods = 2 * np.pi / encoding.frequencies().values
    reached = length <= periods[-1]
    text = (
        f"smallest separation {found.min_separation:.5f} of {length} positions, "
        f"which is {'within' if reached else 'beyond'} the longest wavelength (d = 256)"
    )
    so = bool(np.all(np.diff(periods) > 0)) and found.injective is True
    # the reason given reaches as far as the longest wavelength
    return conclude(text, holds=so and reached, partly=so)


def _series_hour_weekday() -> Judgement:
    hour = np.arange(8 * 24)
    codes = len(np.unique(np.stack([hour % 24, hour // 24 % 7]), axis=1).T)
    return conclude(f"{codes} different pairs for {len(hour)} hours", holds=codes < len(hour))


def _series_global_timestamp() -> Judgement:
    hour = np.arange(8 * 24)
    codes = len(np.unique(np.stack([hour % 24, hour // 24 % 7, hour]), axis=1).T)
    return conclude(f"{codes} different triples for {len(hour)} hours", holds=codes == len(hour))
