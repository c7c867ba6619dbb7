"""The figure of candidates: spectra over the axis of the series, kernels with the periods marked."""

import numpy as np
import pytest

from pe_spectra.plots.series_candidates import draw_kernels, draw_spectra, list_drawn
from pe_spectra.plots.series_spectrum import compose_series
from pe_spectra.series.deciding import choose_encoding
from tests.plots.figures import curves_of, empty_axes
from tests.plots.test_series_spectrum import make

_LABELS = ("k(lag)/k(0)", "weight")


@pytest.fixture(scope="module")
def found():
    report = make()
    return report, choose_encoding(report, d=64)


def test_the_first_ones_and_one_to_avoid_are_drawn(found):
    _, choice = found
    drawn = list_drawn(choice)
    assert [one.advice for one, _, _ in drawn] == ["use", "use", "second", "avoid"]
    assert drawn[0][1] == f"use: {choice.ranked[0].candidate.name}"
    styles = [(str(style["color"]), str(style["linestyle"])) for *_, style in drawn]
    assert len({colour for colour, _ in styles}) == len({line for _, line in styles}) == 4


def test_spectra_stand_at_their_periods(found):
    report, choice = found
    axes = empty_axes()
    draw_spectra(axes, choice, report.sampling, (3.0, 7.0))
    window = choice.demand.window
    for (x, y), (one, _, _) in zip(curves_of(axes), list_drawn(choice), strict=True):
        np.testing.assert_allclose(10**x, 1800 * window / np.arange(1, window // 2 + 1))
        shown = y > -3
        np.testing.assert_allclose(10 ** y[shown], one.candidate.weights[shown])
    assert axes.get_xlim() == (3.0, 7.0)


def test_kernels_have_the_periods_marked(found):
    _, choice = found
    axes = empty_axes()
    draw_kernels(axes, choice)
    curves = curves_of(axes)
    marks = [float(x[0]) for x, _ in curves if len(x) == 2 and x[0] == x[1]]
    assert marks == [48.0, 336.0]
    assert [text.get_text() for text in axes.texts] == ["day", "week"]
    drawn = [y for x, y in curves if len(x) == choice.demand.window]
    for y, (one, _, _) in zip(drawn, list_drawn(choice), strict=True):
        np.testing.assert_allclose(y, one.candidate.kernel)


@pytest.mark.parametrize(("count", "panels"), [(1, 3), (4, 4)])
def test_the_sheet_is_wide_with_the_spectra_below_the_columns_and_the_kernels_beside(count, panels):
    report = make(count)
    figure = compose_series(report, choose_encoding(report, d=32))
    width, height = figure.get_size_inches()
    assert width > height
    assert len(figure.axes) == panels
    kernels, spectra = (next(axes for axes in figure.axes if axes.get_ylabel() == name) for name in _LABELS)
    first, place = figure.axes[0].get_position(), kernels.get_position()
    assert (place.y0, place.y1) == (first.y0, first.y1)
    assert place.x0 > first.x1
    assert (spectra.get_xlim(), spectra.get_position().x0) == (figure.axes[0].get_xlim(), first.x0)
    key = next(text for text in figure.texts if text.get_text() == "red and white noise")
    assert spectra.get_position().x1 < key.get_position()[0] < 1
    assert key.get_position()[1] < kernels.get_position().y0
    words = " ".join(text.get_text() for text in figure.texts)
    assert ("2 other columns not drawn" in " ".join(words.split())) == (count == 4)
    assert "window of 672 samples, width 32" in words
