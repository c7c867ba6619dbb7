"""Results on axes of the user's own: labelled, returned, and with the numbers of the result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import pe_spectra
from pe_spectra import Dft, Sinusoidal, compute_spectrum, count_low_bin, reconstruct_positions
from pe_spectra.answers.documents import answer_result, list_bodies
from pe_spectra.errors import UndefinedError
from pe_spectra.models.lengths.methods import compare_methods, propose_bases
from pe_spectra.models.model_audit import ModelAudit
from pe_spectra.plots.on_axes import DRAWINGS, plot_result
from pe_spectra.quantities import Result
from pe_spectra.series.series_report import describe_series
from pe_spectra.spectrum import compute_local_spectra
from tests.places import MODELS
from tests.plots.figures import make_report

SPECTRUM = compute_spectrum(Sinusoidal(d=32))
PLANE = pe_spectra.compute_grid_spectrum("sincos2d:d=16,height=4,width=6")
LOCAL = compute_local_spectra(Sinusoidal(d=8), length=128)


def audit(name: str = "llama-3.1-8b.json") -> ModelAudit:
    return pe_spectra.audit_configuration(pe_spectra.read_model(str(MODELS / name)))


def make_series():
    times = np.arange(400.0)
    return describe_series({"x": np.sin(times) + np.random.default_rng(0).standard_normal(400)}, times)


#: A result of each kind that a command draws.
RESULTS: dict[str, Callable[[], Result]] = {
    "Comparison": lambda: pe_spectra.compare_encodings([Sinusoidal(d=16)])[0],
    "ContextReport": lambda: compare_methods(64, 10000.0, 2048, 8192),
    "Faithfulness": lambda: pe_spectra.measure_faithfulness(Sinusoidal(d=16), length=40),
    "GridSpectrum": lambda: PLANE,
    "LayerAudit": lambda: audit().layers[0],
    "LearningReport": make_report,
    "LowBinCount": lambda: count_low_bin(Sinusoidal(d=32)),
    "ModelAudit": audit,
    "Portrait": lambda: pe_spectra.draw_portrait(Sinusoidal(d=16), length=40),
    "PrecisionReport": lambda: pe_spectra.measure_precision(Sinusoidal(d=8), length=300),
    "Reconstruction": lambda: reconstruct_positions(SPECTRUM, [5, 20]),
    "SeriesReport": make_series,
    "Spectrum": lambda: SPECTRUM,
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_draws_itself_on_axes_that_it_labels_and_returns(name):
    result, axes = RESULTS[name](), Figure().subplots()
    assert type(result).__name__ == name
    assert result.plot(ax=axes) is axes
    assert axes.has_data()
    assert axes.get_xlabel()
    assert axes.get_ylabel() or name == "LowBinCount"
    new = result.plot()
    assert isinstance(new, Axes)
    assert new.get_xlabel() == axes.get_xlabel()
    assert "<img" in result._repr_html_()


def test_every_kind_that_a_command_draws_draws_itself():
    """Every kind of document that has a figure is about a result that draws itself."""
    assert set(RESULTS) == set(DRAWINGS) - {"LocalSpectra"}
    answers = [answer_result(make()) for make in RESULTS.values()]
    rooms = {type(answer.body).__module__ for answer in answers if answer is not None}
    assert rooms == {body.__module__ for body in list_bodies() if body.draws}


def test_a_result_without_a_drawing_says_so():
    for result in (SPECTRUM.summary, propose_bases(64, 1024), audit("bert-base-uncased.json")):
        with pytest.raises(UndefinedError):
            result.plot()
        assert "<img" not in result._repr_html_()


def test_local_spectra_and_kernels_have_functions_of_their_own():
    assert pe_spectra.plot_local_spectra(LOCAL).get_ylabel() == "ω (rad/position)"
    assert pe_spectra.plot_grid_kernel(PLANE).get_xlabel() == "horizontal offset (positions)"
    older = (pe_spectra.plot_reconstruction, pe_spectra.plot_grid_spectrum, pe_spectra.plot_low_bin)
    assert set(older) == {plot_result}


def test_a_colour_bar_stands_beside_its_map():
    axes = PLANE.plot()
    axes.figure.draw_without_rendering()
    (bar,) = axes.child_axes
    assert axes.bbox.x1 < bar.bbox.x0 < bar.get_tightbbox().x1 < axes.figure.bbox.x1
    assert (bar.bbox.y0, bar.bbox.y1) == pytest.approx((axes.bbox.y0, axes.bbox.y1))


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
