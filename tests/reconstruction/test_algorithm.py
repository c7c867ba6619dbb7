"""Algorithm 1 against its slow definition, and the widths of the curves that it gives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Dft, Sinusoidal, compute_spectrum, reconstruct, reconstruct_positions
from pe_spectra.reconstruction import measure_width, reconstruct_all_positions
from tests import naive
from tests.naive import functions_on, tolerance

SIZES = [2, 3, 4, 5, 7, 8, 16, 31, 48, 97, 128]


# ----------------------------------------------------------------------------------- Algorithm 1


@pytest.mark.few(24)
@pytest.mark.parametrize("rescale", [True, False])
@pytest.mark.parametrize("rho", [0.3, 2.5, 1e4])
@pytest.mark.parametrize("n", SIZES)
def test_reconstruction_of_any_function(n, rho, rescale):
    spectrum = compute_spectrum(Sinusoidal(d=n, rho=rho))
    g = naive.weights(naive.frequencies(n, rho), naive.masses(n), n)
    for f in functions_on(n)[:3]:
        expected = naive.reconstruct(f, g, rescale)
        found = reconstruct(f, spectrum, rescale=rescale)
        # rounding in coefficients that should be 0 is lifted with the rest where g is small
        lift = max(g) * np.linalg.norm(f) / np.linalg.norm(naive.reconstruct(f, g, False))
        atol = tolerance(n) * np.linalg.norm(f) * (lift if rescale else 1.0)
        assert_allclose(found, expected, rtol=1e-13, atol=atol)


@pytest.mark.parametrize("n", SIZES)
def test_reconstruction_of_positions(n):
    spectrum = compute_spectrum(Sinusoidal(d=n, rho=100.0))
    g = naive.weights(naive.frequencies(n, 100.0), naive.masses(n), n)
    for at in reconstruct_positions(spectrum, range(min(n, 5))).positions:
        f = naive.one_hot(n, at.s)
        r, raw = naive.reconstruct(f, g), naive.reconstruct(f, g, rescale=False)
        assert_allclose(at.values, r, rtol=0, atol=tolerance(n))
        assert at.peak == np.argmax(r)
        assert_allclose(at.relative_error, np.linalg.norm(r - f), rtol=0, atol=tolerance(n))
        assert_allclose(at.relative_error_unscaled, np.linalg.norm(raw - f), rtol=1e-14)
        cosine = r @ f / np.linalg.norm(r) / np.linalg.norm(f)
        assert_allclose(at.cosine, cosine, rtol=0, atol=tolerance(n))
        for found, fraction in ((at.fwhm, 0.5), (at.width_10, 0.1)):
            expected = naive.width(r, fraction)
            assert (found is None) == (expected is None)
            if expected is not None:
                assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("n", [2, 3, 8, 31, 64])
def test_width_of_a_curve(n):
    t = np.arange(n)
    distance = np.minimum((t - n // 3) % n, (n // 3 - t) % n)
    for curve in (
        1.0 / (1.0 + 0.9 * distance),
        np.exp(-0.01 * distance),
        np.exp(-3.0 * distance**2),
    ):
        for fraction in (0.5, 0.1):
            expected, found = naive.width(curve, fraction), measure_width(curve, fraction)
            assert (found is None) == (expected is None)
            if expected is not None:
                assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("curve", "width"),
    [
        ([1.0, 0.5], 2.0),
        ([0.5, 1.0, 0.5], 2.0),
        ([4.0, 3.0, 2.0, 3.0], 4.0),
        ([1.0, 0.6, 0.6], None),
    ],
)
def test_a_curve_that_just_reaches_half_of_its_peak_has_a_width(curve, width):
    assert naive.width(np.array(curve), 0.5) == width
    assert measure_width(curve, 0.5) == width


# ----------------------------------------------------------------------------------- edges


def test_a_small_part_of_a_function_is_no_rounding():
    t = np.arange(64)
    function = 1 + 1e-9 * np.cos(np.pi * t)
    assert_allclose(reconstruct(function, compute_spectrum(Dft(d=64))), function, rtol=0, atol=1e-14)


@pytest.mark.parametrize("d", [64, 512, 1024])
def test_the_fastest_wave_comes_back_whatever_its_weight_is(d):
    """At d = 512 its weight is 1e-416 of the largest, at 1024 no double at all; rescaled, it is the wave again."""
    wave = np.cos(np.pi * np.arange(d))
    assert_allclose(reconstruct(wave, compute_spectrum(Sinusoidal(d=d))), wave, rtol=0, atol=1e-14)


def test_results_cannot_be_changed():
    spectrum = compute_spectrum(Sinusoidal(d=8))
    result = reconstruct_positions(spectrum, [3])
    arrays = (spectrum.omega, spectrum.weights, spectrum.log_weights, spectrum.log_multipliers)
    for array in (*arrays, result.impulse_response, result.positions[0].values, reconstruct_all_positions(spectrum)):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


@pytest.mark.parametrize("turn", [0, 2, 5])
def test_a_curve_that_falls_faster_on_one_side_has_the_width_of_both(turn):
    curve = np.roll([1.0, 0.75, 0.5, 0.25, 0.0, 0.0, 0.0], turn)
    assert measure_width(curve, 0.5) == 2.5
    assert measure_width(curve[::-1], 0.5) == 2.5
    assert measure_width(curve, 0.25) == 3.75
