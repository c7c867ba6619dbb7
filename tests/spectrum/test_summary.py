"""Summaries of spectra, and of those whose weights are not a distribution."""

import dataclasses
import math

import numpy as np
import pytest

from pe_spectra import compute_spectrum, read_encoding
from pe_spectra.encodings.learned import GivenArray, Learned
from pe_spectra.spectrum.record import MOST_NEGATIVE
from pe_spectra.spectrum.signs import explain_signs

#: By default; learned values are drawn with the default seed.
BIASES = ("alibi", "kerple", "t5", "erpe", "sandwich", "swin", "fire", "tupe")


def spectrum_of_spec(spec, **keys):
    return compute_spectrum(read_encoding(spec), **keys)


def truncated(bandwidth=0.25):
    """Too few lags of a kernel that is a constant."""
    return compute_spectrum(Learned(values=GivenArray(np.ones((4, 1)))), bandwidth=bandwidth)


def naive_negative(values, grid, bandwidth=4.0):
    """The sum of negative weights of a kernel, lag by lag."""
    sigma = bandwidth * 2 * math.pi / grid
    weights = []
    for k in range(grid // 2 + 1):
        terms = (
            2 * math.exp(-0.5 * (sigma * lag) ** 2) * value * math.cos(2 * math.pi * k * lag / grid)
            for lag, value in enumerate(values)
            if lag
        )
        weights.append(values[0] + math.fsum(terms))
    total = math.fsum(weights)
    return -math.fsum(w / total for w in weights if w < 0)


# ----------------------------------------------------------------------------------- what is signed


@pytest.mark.parametrize("name", BIASES)
def test_biases_of_the_catalogue_have_shares(name):
    spectrum = spectrum_of_spec(name)
    assert spectrum.form != "signed"
    assert spectrum.summary.negative_mass < 0.8 * MOST_NEGATIVE


def test_a_bias_that_peaks_beside_lag_0_has_none(previous_heads):
    spectrum = spectrum_of_spec(previous_heads + ",head=0")
    assert spectrum.form == "signed"
    bias = read_encoding(previous_heads + ",head=0").bias(np.arange(-300, 301))[0]
    raised = np.exp(bias - bias.max())
    kernel = [(raised[300 + lag] + raised[300 - lag]) / 2 for lag in range(300)]
    expected = naive_negative(kernel, spectrum.grid)
    assert spectrum.summary.negative_mass == pytest.approx(expected, rel=1e-9)
    assert f"negative weights sum to -{expected:.3g}" in explain_signs(spectrum)
    assert kernel[1] > kernel[0]
    assert "the similarity is larger at lag 1 than at lag 0; shares" in explain_signs(spectrum)


def test_where_no_lag_stands_out_none_is_named():
    assert truncated().summary.negative_mass > MOST_NEGATIVE
    assert "as far as its lags are known, is not one of frequencies" in explain_signs(truncated())


def test_a_window_that_folds_lags_names_none(previous_heads):
    assert "as far as its lags are known" in explain_signs(spectrum_of_spec(previous_heads, bandwidth=1.0))


def test_summaries_out_of_their_ranges_are_signed_below_the_bound():
    low = spectrum_of_spec("t5:seed=8")
    assert low.summary.negative_mass < MOST_NEGATIVE
    assert low.summary.centroid < 0
    assert low.form == "signed"
    # a flat kernel with one negative bin: more effective bins than there are
    table = np.zeros((80, 80))
    np.fill_diagonal(table, 1.0)
    flat = compute_spectrum(Learned(values=GivenArray(table)))
    weights = flat.weights.copy()
    weights[3] = -0.02
    weights[:3] += (1 - weights.sum()) / 3
    many = dataclasses.replace(flat, weights=weights)
    assert flat.form != "signed"
    assert many.summary.negative_mass < MOST_NEGATIVE
    assert many.summary.effective_bins_entropy > len(many.omega)
    assert many.form == "signed"


def test_rounding_below_zero_is_not_signed():
    constant = compute_spectrum(Learned(values=GivenArray(np.ones((200, 1)))), bandwidth=4.0)
    assert constant.summary.centroid < 1
    assert constant.form != "signed"
