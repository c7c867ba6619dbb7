"""Results on axes of the user's own: labelled, returned, and with the numbers of the result."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import pe_spectra
from pe_spectra import Dft, Sinusoidal, compute_spectrum, count_low_bin, reconstruct_positions
from pe_spectra.spectrum import compute_local_spectra

SPECTRUM = compute_spectrum(Sinusoidal(d=32))
PLANE = pe_spectra.compute_grid_spectrum("sincos2d:d=16,height=4,width=6")
RESULTS = {
    "plot_spectrum": SPECTRUM,
    "plot_reconstruction": reconstruct_positions(SPECTRUM, [5, 20]),
    "plot_grid_spectrum": PLANE,
    "plot_grid_kernel": PLANE,
    "plot_local_spectra": compute_local_spectra(Sinusoidal(d=8), length=128),
    "plot_low_bin": count_low_bin(Sinusoidal(d=32)),
}


@pytest.mark.parametrize("name", RESULTS)
def test_axes_are_labelled_and_returned(name):
    plot, axes = getattr(pe_spectra, name), Figure().subplots()
    assert plot(RESULTS[name], ax=axes) is axes
    assert axes.get_xlabel()
    assert axes.get_ylabel() or name == "plot_low_bin"
    new = plot(RESULTS[name])
    assert isinstance(new, Axes)
    assert new.get_xlabel() == axes.get_xlabel()


def test_curves_carry_the_weights_and_are_named():
    axes = pe_spectra.plot_spectrum(SPECTRUM, reference=compute_spectrum(Dft(d=32)))
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_array_equal(lines["sinusoidal d=32 rho=10000"], SPECTRUM.weights)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(lines)[::-1]
    assert pe_spectra.plot_spectrum(SPECTRUM).get_legend() is None


def test_logarithms_are_those_of_the_result():
    (line,) = pe_spectra.plot_spectrum(SPECTRUM, logarithmic=True).lines
    np.testing.assert_allclose(line.get_ydata(), SPECTRUM.log_weights / np.log(10), rtol=1e-15)


def test_settings_of_the_user_hold():
    import matplotlib

    with matplotlib.rc_context({"axes.facecolor": "lightyellow"}):
        assert pe_spectra.plot_spectrum(SPECTRUM).get_facecolor() == matplotlib.colors.to_rgba("lightyellow")
