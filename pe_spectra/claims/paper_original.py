"""What we compute for the paper's Sections 2 and 3: the original encoding, its low-pass spectrum and Algorithm 1."""

from __future__ import annotations

from functools import cache

import numpy as np

from pe_spectra import fourier
from pe_spectra.claims.judging import POSITIONS, ROUNDING, TEN_BINS, D, Judgement, conclude, describe_deviation
from pe_spectra.encodings import Dft, Sinusoidal
from pe_spectra.encodings.sinusoidal import PixelBands
from pe_spectra.reconstruction import PositionReconstruction, reconstruct_positions
from pe_spectra.spectrum.lag_window import compute_spectrum
from pe_spectra.spectrum.low_bin import count_low_bin
from pe_spectra.spectrum.record import Spectrum

#: Length of the paper's figures.
LENGTH = 80


@cache
def _original_spectrum(bandwidth: float = 4.0, rho: float = 10000.0) -> Spectrum:
    return compute_spectrum(Sinusoidal(d=D, rho=rho), bandwidth=bandwidth)


@cache
def _reconstruct_original(bandwidth: float = 4.0, rho: float = 10000.0) -> tuple[PositionReconstruction, ...]:
    return reconstruct_positions(_original_spectrum(bandwidth, rho), POSITIONS).positions


def _find_widths(bandwidth: float = 4.0, rho: float = 10000.0) -> tuple[float, float]:
    # A width is None where the curve never falls so low; it then fills the lattice.
    at = _reconstruct_original(bandwidth, rho)[0]
    return (D if at.fwhm is None else at.fwhm), (D if at.width_10 is None else at.width_10)


# --- Section 2 ---


def _eq1_dimensions() -> Judgement:
    entries = Sinusoidal(d=D).table(1).shape[1]
    raw = D + 1  # any D that is not d
    text = f"e(s) has {entries} entries for d = {D}: the sum exists for D = {entries} alone"
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
    terms, rank = 2 + 2 * (D // 2 - 1), int(np.linalg.matrix_rank(fourier.basis(D)))
    return conclude(f"2 + 2K = {terms} for d = {D}; the functions have rank {rank}", holds=terms == rank == D)


def _find_singular_values(d: int) -> tuple[float, float]:
    # The smallest and the largest; d functions on d points are orthonormal where all are 1.
    values = np.linalg.svd(fourier.basis(d), compute_uv=False)
    return float(values.min()), float(values.max())


def _dft_orthogonality() -> Judgement:
    low, high = _find_singular_values(D)
    text = f"singular values of the {D} functions on {D} points: {low:.12f} to {high:.12f}"
    return conclude(text, holds=max(abs(low - 1), abs(high - 1)) < ROUNDING)


def _round_trip_error(n: int) -> float:
    f = np.random.default_rng(n).standard_normal(n)
    return float(np.linalg.norm(fourier.invert(fourier.transform(f)) - f) / np.linalg.norm(f))


def _dft_invertible() -> Judgement:
    error = _round_trip_error(D)
    return conclude(f"relative error after a round trip {describe_deviation(error)}", holds=error < ROUNDING)


def _dft_odd_length() -> Judgement:
    odd = D - 1
    (low, high), error = _find_singular_values(odd), _round_trip_error(odd)
    text = (
        f"d = {odd}: singular values {low:.12f} to {high:.12f}, "
        f"relative error after a round trip {describe_deviation(error)}"
    )
    return conclude(text, holds=max(abs(low - 1), abs(high - 1), error) < ROUNDING)


# --- Section 3.1 ---


def _one_hot_no_continuity() -> Judgement:
    one_hot = np.eye(LENGTH)
    near = float(np.linalg.norm(one_hot[1] - one_hot[0]))
    far = float(np.linalg.norm(one_hot[LENGTH - 1] - one_hot[0]))
    text = f"distance {near:.5f} at lag 1 and {far:.5f} at lag {LENGTH - 1}"
    return conclude(text, holds=near == far)


def _eq15_symbol() -> Judgement:
    # Eq. 15 with omega_l = 2 pi l/d, l = 0, 2, .., in place of w_l, as in one copy; in bins
    k, index = np.arange(D // 2 + 1), np.arange(0, D, 2)
    g = np.exp(-(((k[:, None] - index) / 4.0) ** 2) / 2).sum(axis=1)
    printed = float(g[:10].sum() / g.sum())
    meant = _original_spectrum().summary.low_bin_mass
    even = 10 / (D // 2 + 1)
    text = f"first ten bins: {printed:.4f} with omega_l, {meant:.4f} with w_l, {even:.4f} if all bins were equal"
    return conclude(text, holds=printed > 0.5, partly=meant > 0.5)


def _eq15_normalised() -> Judgement:
    sums = [float(np.sum(compute_spectrum(Sinusoidal(d=d)).weights)) for d in (D, TEN_BINS)]
    text = f"sum {sums[1]:.12f} for d = {TEN_BINS}, whose ten weights are all in low_bin_mass"
    return conclude(text, holds=max(abs(total - 1) for total in sums) < ROUNDING)


def _eq15_skewed() -> Judgement:
    found = _original_spectrum()
    mass, bins = found.summary.low_bin_mass, len(found.weights)
    text = (
        f"first 10 of {bins} bins hold {100 * mass:.1f} %; largest weight {found.weights.max():.4f} "
        f"at bin {found.summary.peak_bin}; centroid {found.summary.centroid:.3f} rad/position"
    )
    # skewed: the lowest tenth of the axis has more than half, and the centroid is in it
    return conclude(text, holds=mass > 0.5 and found.summary.centroid < np.pi / 10)


def _fig1_uniform() -> Judgement:
    # pixel-bands have the frequencies pi b 2/(n - 1): with n = d + 1 and b = 1 .. d/2 those of the lattice, without 0
    weights = compute_spectrum(Dft(d=D)).weights
    blurred = compute_spectrum(PixelBands(d=D, bands="linear", max_freq=D, length=D + 1), grid=D).weights
    text = (
        f"Eq. 22: {weights[-1]:.8f} at pi, {weights[D // 4]:.7f} at pi/2; "
        f"Eq. 15 on the DFT frequencies: {blurred[-1]:.6f} at pi, {blurred[D // 4]:.6f} at pi/2"
    )
    inner = float(np.ptp(weights[1:-1]))
    return conclude(text, holds=bool(weights[0] == weights[1]) and inner < ROUNDING, partly=inner < ROUNDING)


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
    outside = ", ".join(str(c.outside) for c in counts)
    below_half = [c.share_inside < 0.5 for c in counts]
    text = f"inside: {inside}; outside: {outside}"
    return conclude(text, holds=all(below_half), partly=any(below_half))


def _strong_low_pass() -> Judgement:
    weights, omega = _original_spectrum().weights, _original_spectrum().omega
    thirds = np.searchsorted(omega, [np.pi / 3, 2 * np.pi / 3])
    peak, middle, high = (float(weights[first:].max()) for first in (0, *thirds))
    text = (
        f"largest weight {peak:.4f}; at most {middle:.6f} from a third of the axis on (bin {thirds[0]}), "
        f"{high:.1e} from two thirds on (bin {thirds[1]})"
    )
    return conclude(text, holds=middle < 0.05 * peak, partly=middle < peak / 3)


# --- Section 3.2: Algorithm 1 and Fig. 2 ---


def _original_not_reconstructed() -> Judgement:
    found = _reconstruct_original()
    errors, peaks = [at.relative_error for at in found], [at.peak_value for at in found]
    text = f"relative error {max(errors):.5f}, peak {peaks[0]:.5f} in place of 1, cosine {found[0].cosine:.5f}"
    return conclude(text, holds=min(errors) > 0.5, partly=max(errors) > ROUNDING)


def _l2_norm_kept() -> Judgement:
    # Algorithm 1 gives r: r(s) is its product with the one-hot function, so r(s) over their cosine is the norm of r
    at = _reconstruct_original()[0]
    norm = at.peak_value / at.cosine
    text = (
        f"norm r(s) / cosine = {at.peak_value:.8f} / {at.cosine:.8f}; "
        f"relative error {at.relative_error:.5f}, without rescaling {at.relative_error_unscaled:.5f}"
    )
    return conclude(text, holds=abs(norm - 1) < ROUNDING)


def _fig2_parameters() -> Judgement:
    figure_1: dict[str, float] = {"rho": 10000, "d": 256, "sigma": 4}  # sigma in bins of 2 pi / d
    figure_2: dict[str, float] = {"d": 256, "S": 80, "h": 10000, "sigma": 4}
    enter = set(Sinusoidal(d=D).parameters) | {"sigma"}
    unknown = sorted(set(figure_2) - enter)
    read_as_rho = figure_1.items() <= {("rho" if k == "h" else k): v for k, v in figure_2.items()}.items()
    width_10 = _find_widths()[1]
    text = f"no parameters of Fig. 1: {', '.join(unknown)}; with rho = 10000 the width at a tenth is {width_10:.1f}"
    return conclude(text, holds=figure_1 == figure_2, partly=read_as_rho)


def _fig2_width_30() -> Judgement:
    half, tenth = _find_widths()
    narrow, wide, other_rho = _find_widths(1.0)[1], _find_widths(16.0)[1], _find_widths(rho=100.0)[1]
    text = (
        f"full width {tenth:.1f} at a tenth of the peak, {half:.1f} at half, bandwidth 4; at a tenth {narrow:.1f} at "
        f"bandwidth 1, {wide:.1f} at bandwidth 16, {other_rho:.1f} for rho = 100"
    )
    about_30 = abs(tenth - 30) <= 5
    follows_bandwidth = wide < 0.5 * tenth < 0.5 * narrow
    return conclude(text, holds=about_30 and not follows_bandwidth, partly=about_30)


def _fig2_long_range() -> Judgement:
    half, tenth = _find_widths()
    lattice = len(_reconstruct_original()[0].values)
    text = (
        f"widths {half:.1f} of S = {LENGTH} positions at half of the peak, "
        f"{tenth:.1f} at a tenth; lattice of {lattice} points"
    )
    return conclude(text, holds=half > LENGTH / 3, partly=tenth > LENGTH / 3)


def _fig2_information_loss() -> Judgement:
    found = _original_spectrum()
    relative = found.log_weights - found.log_weights.max()
    below = np.flatnonzero(relative < np.log(np.finfo(float).eps))
    peak, first, last = found.summary.peak_bin, int(below[0]), len(relative) - 1
    text = (
        f"weights {found.weights[peak]:.4f} at bin {peak} to {found.weights[last]:.1e} at bin {last}, none zero; "
        f"from bin {first} ({found.weights[first]:.1e}) on below the rounding of a double"
    )
    return conclude(text, holds=not bool(np.all(np.isfinite(relative))), partly=len(below) > 0)
