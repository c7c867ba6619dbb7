"""The figure of a series: its spectrum, the noise, and the periods by name."""

import numpy as np
import pytest

from pe_spectra.plots.series_spectrum import compose_series, draw_series
from pe_spectra.series.series_report import describe_series
from tests.plots.figures import curves_of, empty_axes
from tests.series.recorded import add_waves

STEPS = np.arange(3360.0)


def make(count=1):
    rng = np.random.default_rng(0)
    values = {
        f"load {place}": add_waves(STEPS, (48, 1), (336, 0.5)) + 0.5 * rng.standard_normal(3360)
        for place in range(count)
    }
    return describe_series(values, STEPS * 1800, origin=np.datetime64("2024-01-01"))


def test_the_curves_are_the_spectrum_and_the_noise():
    report, axes = make(), empty_axes()
    column = report.columns[0]
    draw_series(axes, column, report.sampling)
    (x, power), (_, noise), (_, threshold) = curves_of(axes)[:3]
    np.testing.assert_allclose(x, -np.log10(column.frequencies))
    np.testing.assert_allclose(noise, np.log10(column.noise))
    np.testing.assert_allclose(threshold - noise, np.log10(column.threshold))
    seen = power > power.min()
    np.testing.assert_allclose(power[seen], np.log10(column.power)[seen])
    marks = [line.get_xdata()[0] for line in axes.lines[3:]]
    np.testing.assert_allclose(marks, [np.log10(one.period) for one in column.periods])
    assert [text.get_text() for text in axes.texts] == ["day", "week"]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 8])
def test_a_panel_for_each_column_and_the_others_are_counted(count):
    figure = compose_series(make(count))
    assert len(figure.axes) == min(count, 6)
    small_print = " ".join(text.get_text() for text in figure.texts)
    assert ("2 other columns not drawn" in small_print) == (count == 8)
