"""What we compute for the paper's Sections 4 and 5: the DFT encoding and Table 1."""

from __future__ import annotations

from functools import cache

import numpy as np

from pe_spectra import fourier
from pe_spectra.claims.judging import POSITIONS, ROUNDING, TEN_BINS, D, Judgement, conclude, describe_deviation
from pe_spectra.encodings import Dft
from pe_spectra.exact import F64
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.fourier import compute_dft_weights
from pe_spectra.metrics.compare import compare_encodings
from pe_spectra.reconstruction import reconstruct_positions
from pe_spectra.records import NamedTuple
from pe_spectra.spectrum.lag_window import compute_spectrum

K = D // 2 - 1


class _Scores(NamedTuple):
    precision: float
    recall: float
    f1: float


#: Table 1 as printed: original encoding, then DFT encoding.
_TABLE_1 = {
    "Elevator": (_Scores(0.977, 0.917, 0.946), _Scores(0.979, 0.955, 0.967)),
    "SMD": (_Scores(1.0, 0.943, 0.970), _Scores(1.0, 0.961, 0.980)),
    "MSL": (_Scores(0.822, 0.855, 0.838), _Scores(0.894, 0.821, 0.856)),
}
_HALF_DIGIT = 0.0005  # scores are printed to three decimals


# --- Section 4 ---


def _dft_smooth_surrogate() -> Judgement:
    (found,) = compare_encodings([Dft(d=D)], length=D)
    names = ("min_separation", "relative_separation", "fisher_information_mean")
    smallest, relative, squared_speed = (found.values[name] or float("nan") for name in names)
    text = (
        f"smallest distance of two positions {smallest:.5f}, over the root mean square of all {relative:.8f}; "
        f"squared speed in s at the positions {squared_speed:.5f} (fisher_information_mean)"
    )
    return conclude(text, holds=abs(relative - 1) > ROUNDING, partly=bool(np.isfinite(squared_speed)))


def _dft_coefficients() -> Judgement:
    coefficients = np.array([fourier.transform(one_hot) for one_hot in np.eye(D)])
    deviation = float(np.abs(coefficients - Dft(d=D).table(D)).max())
    return conclude(f"largest deviation {describe_deviation(deviation)} over all s", holds=deviation < ROUNDING)


def _eq19_index() -> Judgement:
    # the columns of the DFT encoding are phi_0 .. phi_(d-1)
    s = np.arange(D)
    result = np.sqrt(2 / D) * np.sin(2 * np.pi * K / D * s)
    columns = Dft(d=D).table(D).T
    text = f"at s = 1 the printed result is {result[1]:.6f}, phi_2K {columns[2 * K][1]:.6f}, phi_K {columns[K][1]:.6f}"
    return conclude(text, holds=bool(np.allclose(columns[K], result, rtol=0, atol=ROUNDING)))


def _theorem_1() -> Judgement:
    within = measure_faithfulness(Dft(d=D), length=D)
    beyond = measure_faithfulness(Dft(d=D), length=300)
    pairs = beyond.collisions.count
    text = (
        f"injective for S = {D}: {'yes' if within.injective else 'no'}; "
        f"for S = 300: {'yes' if beyond.injective else 'no'}, "
        f"{pairs} pairs of positions have the same vector, the first {beyond.closest_pair}"
    )
    return conclude(text, holds=beyond.injective is True, partly=within.injective is True)


@cache
def _right_hand_side() -> F64:
    # The sum in the proof before the geometric series, for s - t = 0 .. d.
    lag, k = np.arange(D + 1), np.arange(1, K + 1)
    cosines = np.cos(2 * np.pi * np.mod(k * lag[:, None], D) / D).sum(axis=1)
    return np.asarray((1.0 + (-1.0) ** lag + 2 * cosines) / D)


def _proof_diagonal() -> Judgement:
    value = float(_right_hand_side()[0])
    return conclude(f"right-hand side {value:.6f} at s = t (d = {D})", holds=abs(value - 1) < ROUNDING)


def _proof_powers() -> Judgement:
    lag = np.arange(1, D)
    # exponents of exp(2 pi i / d), reduced modulo d in integers
    first = np.mod((-2 * K - 1) * lag - lag, D)
    second = np.mod((K + 1) * lag - np.where(lag % 2, D // 2, 0), D)
    wrong = int(np.count_nonzero(first) + np.count_nonzero(second))
    return conclude(f"{wrong} of {2 * len(lag)} equations fail (d = {D}, all s - t)", holds=wrong == 0)


def _proof_off_diagonal() -> Judgement:
    lag = np.arange(1, D)
    c, sign = np.exp(2j * np.pi * lag / D), 1.0 + (-1.0) ** lag
    two = (c - c ** (K + 1)) / (1 - c) + (1 / c - c ** (-K - 1)) / (1 - 1 / c)
    one = (c - c ** (K + 1) - 1 + c ** (-K)) / (1 - c)
    fractions = float(max(np.abs(sign + two).max(), np.abs(sign + one).max()) / D)
    sums = float(np.abs(_right_hand_side()[1:D]).max())
    text = (
        f"largest value {describe_deviation(max(fractions, sums))} for s - t = 1 .. {D - 1}; "
        f"at s - t = {D}: {_right_hand_side()[D]:.6f}"
    )
    return conclude(text, holds=max(fractions, sums) < ROUNDING)


def _eq22_first_form() -> Judgement:
    d, k = TEN_BINS, TEN_BINS // 2 - 1
    weights = compute_dft_weights(d)
    energy = np.mean(Dft(d=d).table(d) ** 2, axis=0)
    by_frequency = np.concatenate([energy[:1], energy[1 : k + 1] + energy[k + 1 : 2 * k + 1], energy[-1:]])
    total, deviation = float(np.sum(weights)), float(np.abs(weights - by_frequency).max())
    text = f"d = {d}: {weights[0]:.8f} at both ends, {weights[1]:.8f} between; sum {total:.6f}, all in low_bin_mass"
    return conclude(text, holds=abs(total - 1) < ROUNDING and deviation < ROUNDING)


def _eq22_second_form() -> Judgement:
    weights = np.full(K + 2, 2 / D)
    weights[[0, -1]] += 1 / D
    total, over_basis = float(weights.sum()), float(D * 2 / D + 2 / D)
    text = f"sum {total:.6f} over k = 0 .. {K + 1}, {over_basis:.6f} over k = 0 .. {D - 1}; ends {weights[0] * D:g}/d"
    return conclude(text, holds=min(abs(total - 1), abs(over_basis - 1)) < ROUNDING)


def _eq22_end_index() -> Judgement:
    last = len(compute_dft_weights(D)) - 1
    return conclude(f"k runs to {last}, where omega is {2 * np.pi * last / D:.6f} = pi", holds=last == D - 1)


def _dft_flat_except_ends() -> Judgement:
    weights = compute_spectrum(Dft(d=D)).weights
    spread = float(np.ptp(weights[1:-1]))
    text = (
        f"inner weights {weights[1]:.8f} = 2/{D}, "
        f"spread {describe_deviation(spread)}; ends {weights[0]:.8f}, {weights[-1]:.8f}"
    )
    return conclude(text, holds=spread < ROUNDING and bool(np.all(weights[[0, -1]] < weights[1])))


def _dft_unbiased() -> Judgement:
    energy = np.mean(Dft(d=D).table(D) ** 2, axis=0)
    text = f"mean square {energy.mean():.8f} in every column, spread {describe_deviation(float(np.ptp(energy)))}"
    return conclude(text, holds=float(np.ptp(energy)) < ROUNDING)


def _dft_perfect_reconstruction() -> Judgement:
    constant = reconstruct_positions(compute_spectrum(Dft(d=D)), POSITIONS).positions
    error = max(at.relative_error for at in constant)
    one_hot = np.eye(D)[POSITIONS[0]]
    literal = np.fft.irfft(np.fft.rfft(one_hot) * compute_dft_weights(D), D)
    off = float(np.linalg.norm(literal / np.linalg.norm(literal) - one_hot))
    text = f"relative error {describe_deviation(error)} with constant multipliers, {off:.4f} with Eq. 22 literally"
    return conclude(text, holds=max(error, off) < ROUNDING, partly=error < ROUNDING)


# --- Section 5 ---


def _combine(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


def _may_round_to(row: _Scores) -> bool:
    # F1 grows with both, so the ends of the rounding intervals bound it.
    low = _combine(row.precision - _HALF_DIGIT, row.recall - _HALF_DIGIT)
    high = _combine(min(1.0, row.precision + _HALF_DIGIT), min(1.0, row.recall + _HALF_DIGIT))
    return low <= row.f1 + _HALF_DIGIT and high >= row.f1 - _HALF_DIGIT


def _table1_f1() -> Judgement:
    original, dft = ([rows[i] for rows in _TABLE_1.values()] for i in (0, 1))
    listed = ["/".join(f"{_combine(r.precision, r.recall):.5f}" for r in pair) for pair in _TABLE_1.values()]
    possible = [_may_round_to(row) for row in (*original, *dft)]
    exact = [abs(_combine(r.precision, r.recall) - r.f1) <= _HALF_DIGIT for r in (*original, *dft)]
    text = (
        "original/DFT: "
        f"{', '.join(f'{name} {pair}' for name, pair in zip(_TABLE_1, listed, strict=True))}; "
        f"{sum(possible)} of 6 possible, {sum(exact)} of 6 from the printed digits"
    )
    return conclude(text, holds=all(possible), partly=any(possible))


def _table1_consistent() -> Judgement:
    gains = {name: np.subtract(dft, original) for name, (original, dft) in _TABLE_1.items()}
    text = "; ".join(f"{name} {p:+.3f}, {r:+.3f}, {f:+.3f}" for name, (p, r, f) in gains.items())
    better_f1 = all(gain[2] > 0 for gain in gains.values())
    better_all = all(bool(np.all(gain > 0)) for gain in gains.values())
    return conclude(f"change of precision, recall, F1: {text}", holds=better_all, partly=better_f1)
