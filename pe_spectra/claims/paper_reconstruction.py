"""What we compute for the paper's Section 3.2: Algorithm 1, Fig. 2 and Definition 1."""

from __future__ import annotations

from functools import cache

import numpy as np

from pe_spectra import fourier
from pe_spectra.claims.judging import ROUNDING, Judgement, conclude, describe_deviation
from pe_spectra.encodings import Sinusoidal
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.reconstruction import PositionReconstruction, reconstruct, reconstruct_positions
from pe_spectra.spectrum import compute_spectrum

#: Parameters of the paper's Fig. 2.
D = 256
LENGTH = 80
POSITIONS = (5, 40, 75)


@cache
def _reconstruct_original(bandwidth: float = 4.0) -> tuple[PositionReconstruction, ...]:
    spectrum = compute_spectrum(Sinusoidal(d=D), bandwidth=bandwidth)
    return reconstruct_positions(spectrum, POSITIONS).positions


def _find_widths(bandwidth: float = 4.0) -> tuple[float, float]:
    # A width is None where the curve never falls so low; it then fills the lattice.
    at = _reconstruct_original(bandwidth)[0]
    return (D if at.fwhm is None else at.fwhm), (D if at.width_10 is None else at.width_10)


def _original_not_reconstructed() -> Judgement:
    found = _reconstruct_original()
    errors, peaks = [at.relative_error for at in found], [at.peak_value for at in found]
    text = f"relative error {max(errors):.5f}, peak {peaks[0]:.5f} in place of 1, cosine {found[0].cosine:.5f}"
    return conclude(text, holds=min(errors) > 0.5, partly=max(errors) > ROUNDING)


def _l2_norm_kept() -> Judgement:
    one_hot = np.eye(D)[POSITIONS[0]]
    spectrum = compute_spectrum(Sinusoidal(d=D))
    scaled = float(np.linalg.norm(reconstruct(one_hot, spectrum)))
    plain = float(np.linalg.norm(reconstruct(one_hot, spectrum, rescale=False)))
    text = f"norm - 1: {describe_deviation(abs(scaled - 1))} with rescaling; norm {plain:.5f} without"
    return conclude(text, holds=abs(scaled - 1) < ROUNDING)


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
    others = ", ".join(f"{_find_widths(b)[1]:.1f} at bandwidth {b:g}" for b in (1.0, 16.0))
    text = f"full width {tenth:.1f} at a tenth of the peak, {half:.1f} at half, bandwidth 4; at a tenth {others}"
    about_30 = abs(tenth - 30) <= 5
    follows_bandwidth = _find_widths(16.0)[1] < 0.5 * tenth < 0.5 * _find_widths(1.0)[1]
    return conclude(text, holds=about_30 and not follows_bandwidth, partly=about_30)


def _fig2_long_range() -> Judgement:
    half, tenth = (width / LENGTH for width in _find_widths())
    lattice = len(_reconstruct_original()[0].values)
    text = (
        f"widths {100 * half:.1f} % of S = {LENGTH} at half of the peak, "
        f"{100 * tenth:.1f} % at a tenth; "
        f"lattice of {lattice} points"
    )
    return conclude(text, holds=half > 1 / 3, partly=tenth > 1 / 3)


def _fig2_information_loss() -> Judgement:
    log_weights = compute_spectrum(Sinusoidal(d=D)).log_weights
    decades = float(np.ptp(log_weights) / np.log(10))
    relative = log_weights - log_weights.max()
    below = int(np.count_nonzero(relative < np.log(np.finfo(float).eps)))
    text = (
        f"smallest of {len(log_weights)} weights 10^-{decades:.2f} of the largest, none zero; "
        f"{below} below the rounding of a double"
    )
    return conclude(text, holds=not bool(np.all(np.isfinite(log_weights))), partly=below > 0)


def _original_lacks_faithfulness() -> Judgement:
    found = measure_faithfulness(Sinusoidal(d=D), length=LENGTH)
    text = (
        f"injective: {'yes' if found.injective else 'no'}, "
        f"smallest separation {found.min_separation:.5f} (S = {LENGTH}); "
        f"relative error of Algorithm 1 {found.relative_error:.5f}"
    )
    reconstructs = found.relative_error is not None and found.relative_error < ROUNDING
    return conclude(text, holds=found.injective is False, partly=not reconstructs)


def _faithfulness_leads_to_dft() -> Judgement:
    basis = fourier.basis(D)
    k = D // 2 - 1
    pair = basis[[1, k + 1]] * np.sqrt(D / 2)  # cos and sin of 2 pi t/d
    gaps = np.linalg.norm(pair - np.roll(pair, 1, axis=1), axis=0)  # on a circle neighbours are closest
    rank = int(np.linalg.matrix_rank(np.delete(basis, 1, axis=0)))
    text = (
        f"one pair of columns: smallest separation {gaps.min():.5f} on {D} positions; "
        f"{D - 1} of {D} columns: rank {rank}"
    )
    return conclude(text, holds=gaps.min() < ROUNDING, partly=rank < D)
