"""Maps: means of blocks, colours, edges and missing values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from pe_spectra.plots.heatmap import (
    COLOURS,
    MAP_RIGHT,
    MOST_CELLS,
    _thin_map,
    describe_cells,
    draw_map,
    find_extent,
    find_scale,
)
from pe_spectra.plots.sheet import Layout, lay_out, render
from pe_spectra.plots.style import fixed_style


def map_of(values: np.ndarray, **options: bool) -> tuple[Figure, np.ma.MaskedArray]:
    with fixed_style():
        figure, (axes,) = lay_out(Layout(title="t", heights=(1.5,), right=MAP_RIGHT))
        image = draw_map(axes, values, extent=(0, 1, 0, 1), label="value", **options)
        figure.draw_without_rendering()
    return figure, image.get_array()


@pytest.mark.slow
def test_means_of_blocks() -> None:
    values = np.random.default_rng(0).normal(size=(900, 1300))
    thinned = _thin_map(values, (400, 600))
    assert thinned.shape == (300, 434)
    np.testing.assert_allclose(thinned[0, 0], values[:3, :2].mean())
    values[:3, :2] = np.nan
    values[3, 0] = np.inf
    holed = _thin_map(values, (400, 600))
    assert np.isnan(holed[0, 0])
    np.testing.assert_allclose(holed[1, 0], np.append(values[3, 1], values[4:6, :2]).mean())
    assert _thin_map(values, (900, 1300)) is values
    assert max(_thin_map(np.ones((5000, 7000)), (MOST_CELLS[1], MOST_CELLS[0])).shape) <= 600


def test_number_of_values_in_a_cell_is_said() -> None:
    assert describe_cells((100, 100), 2.0, 2.0) == ""
    assert describe_cells((400, 801), 2.0, 1.0) == "a cell is the mean of 3 × 3 values"


@pytest.mark.few(3)
@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 1e-300, 1e300, -1e-12])
@pytest.mark.parametrize("options", [{}, {"diverging": True}, {"logarithmic": True}], ids=str)
def test_maps_of_one_value(value: float, options: dict[str, bool]) -> None:
    figure, drawn = map_of(np.full((2, 2), value), **options)
    low, high = figure.axes[0].images[0].get_clim()
    assert math.isfinite(low)
    assert low < high
    assert render(figure, ".png")
    assert not np.ma.getmaskarray(drawn).any()


def test_missing_values_are_grey() -> None:
    values = np.array([[1.0, np.nan], [np.inf, 2.0]])
    _, drawn = map_of(values)
    np.testing.assert_array_equal(np.ma.getmaskarray(drawn), [[False, True], [True, False]])
    assert map_of(np.full((3, 3), np.nan))[1].mask.all()
    colour = COLOURS[False](np.ma.masked_invalid([np.nan]))[0]
    np.testing.assert_allclose(colour[:3], 0xB0 / 255)


def test_logarithmic_maps_end_six_decades_down() -> None:
    figure, drawn = map_of(np.array([[1.0, 1e-3], [1e-9, -1.0]]), logarithmic=True)
    np.testing.assert_array_equal(drawn, [[0.0, -3.0], [-6.0, -6.0]])
    labels = [text.get_text() for text in figure.axes[0].child_axes[0].get_yticklabels()]
    assert labels[0] == "≤ $10^{-6}$"
    assert labels[-1] == "$10^{0}$"


def test_diverging_maps_are_centred_at_zero() -> None:
    scale = find_scale(np.array([-1.0, 4.0]), diverging=True)
    assert (scale.low, scale.high) == (-4.0, 4.0)
    colours = COLOURS[True]
    np.testing.assert_allclose(colours(0.5)[:3], 1.0, atol=0.02)
    grey = np.array([colours(x)[:3] for x in (0.0, 0.25, 0.5, 0.75, 1.0)]) @ [0.2126, 0.7152, 0.0722]
    assert grey[0] < grey[1] < grey[2] > grey[3] > grey[4] > grey[0]  # the negative end is the darkest


def test_steps_of_the_diverging_map_look_equal() -> None:
    """Lightness of CIE 1976 changes evenly along either arm."""
    colours = np.array([COLOURS[True](x)[:3] for x in np.linspace(0, 1, 21)])
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    lightness = 116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16
    for arm in (lightness[:11], lightness[10:]):
        steps = np.abs(np.diff(arm))
        assert steps.max() < 1.5 * steps.min()


def test_edges_of_cells() -> None:
    assert find_extent(np.array([0.0, 2.0, 4.0]), np.array([7.0])) == (-1.0, 5.0, 6.5, 7.5)


@pytest.mark.parametrize(("scale", "text"), [(1e-9, "value, $10^{-9}$"), (0.1, "value"), (5e7, "value, $10^{7}$")])
def test_power_of_ten_of_a_colour_bar_stands_in_its_label(scale: float, text: str) -> None:
    figure, _ = map_of(np.arange(4.0).reshape(2, 2) * scale / 2)
    assert figure.axes[0].child_axes[0].texts[0].get_text() == text
