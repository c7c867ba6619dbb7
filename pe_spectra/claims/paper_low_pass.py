"""What we compute for the paper's Sections 2 and 3.1: the transform and the low-pass property."""

from __future__ import annotations

from functools import cache

import numpy as np

from pe_spectra import fourier
from pe_spectra.claims.judging import ROUNDING, Judgement, conclude, describe_deviation
from pe_spectra.encodings import Dft, Sinusoidal
from pe_spectra.exact import F64
from pe_spectra.faithfulness import Faithfulness, measure_faithfulness
from pe_spectra.spectrum import Spectrum, compute_spectrum, count_low_bin

#: Parameters of the paper's figures.
D = 256
LENGTH = 80


@cache
def _original_spectrum(bandwidth: float = 4.0) -> Spectrum:
    return compute_spectrum(Sinusoidal(d=D), bandwidth=bandwidth)


@cache
def _original_faithfulness() -> Faithfulness:
    return measure_faithfulness(Sinusoidal(d=D), length=LENGTH)


# --- Section 2 ---


def _eq1_dimensions() -> Judgement:
    entries = Sinusoidal(d=D).table(1).shape[1]
    raw = 100  # any D that is not d
    text = f"e(s) has {entries} entries: the sum exists for D = {entries}, not for D = {raw}"
    return conclude(text, holds=raw == entries, partly=entries == D)


def _attention_cosine() -> Judgement:
    query, keys = np.array([1.0, 0.0]), np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    cosines = keys @ query / (np.linalg.norm(keys, axis=1) * np.linalg.norm(query))
    attention = np.exp(keys @ query / np.sqrt(2))
    attention /= attention.sum()
    listed = ", ".join(f"{a:.4f}" for a in attention)
    text = f"cosines {', '.join(f'{c:g}' for c in cosines)}; attention {listed}"
    equal_for_equal_cosines = bool(np.isclose(attention[0], attention[1]))
    return conclude(text, holds=equal_for_equal_cosines, partly=attention[0] > attention[2])


def _dft_number_of_terms() -> Judgement:
    k = D // 2 - 1
    functions = len(fourier.basis(D))
    return conclude(f"2 + 2 x {k} = {2 + 2 * k}; {functions} basis functions", holds=2 + 2 * k == functions == D)


def _dft_orthogonality() -> Judgement:
    basis = fourier.basis(D)
    deviation = float(np.abs(basis @ basis.T - np.eye(D)).max())
    return conclude(f"largest deviation {describe_deviation(deviation)} (d = {D})", holds=deviation < ROUNDING)


def _round_trip_error(n: int) -> float:
    f = np.random.default_rng(n).standard_normal(n)
    return float(np.linalg.norm(fourier.invert(fourier.transform(f)) - f) / np.linalg.norm(f))


def _dft_invertible() -> Judgement:
    error = _round_trip_error(D)
    return conclude(f"relative error after a round trip {describe_deviation(error)}", holds=error < ROUNDING)


def _dft_odd_length() -> Judgement:
    odd = D - 1
    basis = fourier.basis(odd)
    deviation = float(np.abs(basis @ basis.T - np.eye(odd)).max())
    error = _round_trip_error(odd)
    text = f"d = {odd}: orthonormal, deviation {describe_deviation(deviation)}; round trip {describe_deviation(error)}"
    return conclude(text, holds=max(deviation, error) < ROUNDING)


# --- Section 3.1 ---


def _one_hot_no_continuity() -> Judgement:
    one_hot = np.eye(LENGTH)
    near = float(np.linalg.norm(one_hot[1] - one_hot[0]))
    far = float(np.linalg.norm(one_hot[LENGTH - 1] - one_hot[0]))
    text = f"distance {near:.5f} at lag 1 and {far:.5f} at lag {LENGTH - 1}"
    return conclude(text, holds=near == far)


def _weights_with_printed_symbol() -> F64:
    # Eq. 15 with omega_l = 2 pi l/d, l = 0, 2, .., in place of w_l, as in one copy; in bins
    k, index = np.arange(D // 2 + 1), np.arange(0, D, 2)
    g = np.exp(-(((k[:, None] - index) / 4.0) ** 2) / 2).sum(axis=1)
    return np.asarray(g / g.sum())


def _eq15_symbol() -> Judgement:
    printed = float(_weights_with_printed_symbol()[:10].sum())
    meant = _original_spectrum().summary.low_bin_mass
    even = 10 / (D // 2 + 1)
    text = f"first ten bins: {printed:.4f} with omega_l, {meant:.4f} with w_l, {even:.4f} if all bins were equal"
    return conclude(text, holds=printed > 0.5, partly=meant > 0.5)


def _eq15_normalised() -> Judgement:
    deviation = abs(float(np.sum(_original_spectrum().weights)) - 1)
    return conclude(f"sum - 1: {describe_deviation(deviation)}", holds=deviation < ROUNDING)


def _eq15_skewed() -> Judgement:
    found = _original_spectrum()
    mass, bins = found.summary.low_bin_mass, len(found.weights)
    text = (
        f"first 10 of {bins} bins hold {100 * mass:.1f} %; "
        f"largest weight {found.weights.max():.4f} "
        f"at bin {found.summary.peak_bin}; centroid {found.summary.centroid:.3f} rad/position"
    )
    # skewed: the lowest tenth of the axis has more than half, and the centroid is in it
    return conclude(text, holds=mass > 0.5 and found.summary.centroid < np.pi / 10)


def _fig1_uniform() -> Judgement:
    weights = compute_spectrum(Dft(d=D)).weights
    ratio = float(weights[0] / weights[1])
    inner = float(np.ptp(weights[1:-1]))
    k = np.arange(D // 2 + 1)
    kde = np.exp(-(((k[:, None] - k) / 4.0) ** 2) / 2).sum(axis=1)
    text = (
        f"ends {ratio:.3g} of the middle by Eq. 22, {kde[0] / kde[D // 4]:.4f} of it by Eq. 15 on the DFT frequencies"
    )
    return conclude(text, holds=ratio == 1 and inner < ROUNDING, partly=inner < ROUNDING)


def _smallest_frequencies() -> Judgement:
    omega = np.sort(_original_spectrum().omega)[:2]
    text = f"{omega[0]:g} and {omega[1]:.7f} rad/position; 2 pi/{D} = {2 * np.pi / D:.7f}"
    return conclude(text, holds=omega[0] == 0 and abs(omega[1] - 2 * np.pi / D) < ROUNDING)


def _eq16_crossing() -> Judgement:
    crossings = [count_low_bin(Sinusoidal(d=d)).crossing for d in (256, 512)]
    found = [float("nan") if crossing is None else crossing for crossing in crossings]
    text = f"l* = {found[0]:.3f} for d = 256, {found[1]:.3f} for d = 512"
    return conclude(text, holds=all(abs(a - b) <= 0.5 for a, b in zip(found, (103, 245), strict=True)))


def _lowest_bin_almost_half() -> Judgement:
    counts = [count_low_bin(Sinusoidal(d=d)) for d in (256, 512)]
    inside = "; ".join(f"{c.inside} of {c.total} ({100 * c.share_inside:.1f} %)" for c in counts)
    outside = ", ".join(f"{100 * (1 - c.share_inside):.1f} %" for c in counts)
    below_half = [c.share_inside < 0.5 for c in counts]
    text = f"inside: {inside}; outside: {outside}"
    return conclude(text, holds=all(below_half), partly=any(below_half))


def _strong_low_pass() -> Judgement:
    found = _original_spectrum()
    third = np.minimum((3 * found.omega / np.pi).astype(int), 2)
    low, middle, high = (float(found.weights[third == i].sum()) for i in range(3))
    text = f"weight by thirds of the axis: {100 * low:.2f} %, {100 * middle:.2f} %, {100 * high:.1e} %"
    return conclude(text, holds=middle + high < 0.05, partly=middle + high < 1 / 3)


def _short_range_ignored() -> Judgement:
    # Codes of unrelated phases are sqrt(d) apart in the root mean square: 2 for each of d/2 pairs.
    unrelated = float(np.sqrt(D))
    by_lag = _original_faithfulness().separation_by_lag
    one, ten = (float("nan"), float("nan")) if by_lag is None else (by_lag[0] / unrelated, by_lag[9] / unrelated)
    text = (
        f"distance {one * unrelated:.4f} at lag 1 ({100 * one:.1f} % of sqrt d), "
        f"{ten * unrelated:.4f} at lag 10 "
        f"({100 * ten:.1f} %)"
    )
    return conclude(text, holds=ten < 0.1, partly=one < 0.5)
