"""The figures of spectra of any encoding: overlays, heads, real positions, stretches and grids."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from pe_spectra.encodings import Dft, Encoding, Sinusoidal, find_encoding
from pe_spectra.encodings.parameters import GivenArray
from pe_spectra.plots.axes import MOST_POINTS, draw_band
from pe_spectra.plots.planes import MOST_ROWS, compose_grid_spectra, describe_local, entitle_local
from pe_spectra.plots.sheet import render
from pe_spectra.plots.spectrum import compose_spectrum
from pe_spectra.plots.style import COLUMN_WIDTH, PAGE_WIDTH, SMALL_SIZE, curve_style, fixed_style
from pe_spectra.spectrum import (
    GridSpectrum,
    Spectrum,
    compute_grid_spectrum,
    compute_irregular_spectrum,
    compute_local_spectra,
    compute_spectrum,
)
from tests.drawing import leave_most
from tests.making import give_table, make_named
from tests.plots.figures import read_words, visible_texts


def learned(rows: int = 96, d: int = 16, *, walk: bool = True, seed: int = 0, grid: str | None = None) -> Encoding:
    values = np.random.default_rng(seed).normal(size=(rows, d))
    return find_encoding("learned")(values=GivenArray(values.cumsum(axis=0) if walk else values), grid=grid)


def spectrum_of(name: str, **parameters: object) -> Spectrum:
    return compute_spectrum(find_encoding(name)(**parameters))


def reference_of(d: int) -> Spectrum:
    return compute_spectrum(Dft(d=d))


def overlay() -> list[Spectrum]:
    return [
        compute_spectrum(Sinusoidal(d=64)),
        compute_spectrum(learned()),
        *[spectrum_of(name) for name in ("alibi", "rope", "t5")],
        compute_spectrum(Dft(d=64)),
        compute_spectrum(learned(48, 8, seed=1)),
        compute_spectrum(Sinusoidal(d=16, rho=100.0)),
    ]


def plane_of(rows: int = 6, columns: int = 9, *, walk: bool = False, **options: float) -> GridSpectrum:
    return compute_grid_spectrum(learned(rows * columns, 5, walk=walk, grid=f"{rows}x{columns}"), **options)


def waves() -> GridSpectrum:
    """A smooth kernel with both signs."""
    y, x = np.mgrid[:10, :12]
    angle = np.stack([0.4 * y + 0.2 * x, 0.9 * x], axis=-1).reshape(-1, 2)
    table = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
    return compute_grid_spectrum(find_encoding("learned")(values=GivenArray(table), grid="10x12"))


def constant_plane() -> GridSpectrum:
    return compute_grid_spectrum(find_encoding("learned")(values=GivenArray(np.ones((9, 2))), grid="3x3"))


def irregular(*names: str) -> list[Spectrum]:
    times = np.sort(np.random.default_rng(1).uniform(0, 20, 60))
    return [compute_irregular_spectrum(find_encoding(name)(), times) for name in names]


def with_local(encoding: Encoding, **options: int) -> Figure:
    spectrum = compute_spectrum(encoding)
    local = compute_local_spectra(encoding, **options)
    return compose_spectrum(spectrum, reference=reference_of(spectrum.grid), local=local)


def dead_stretch() -> Encoding:
    values = np.random.default_rng(3).normal(size=(200, 4))
    values[:80] = 0
    return find_encoding("learned")(values=GivenArray(values))


FIGURES: dict[str, Callable[[], Figure]] = {
    "overlay": lambda: compose_spectrum(*overlay(), reference=reference_of(64)),
    "overlay with stretches": lambda: compose_spectrum(
        *overlay(), reference=reference_of(64), local=compute_local_spectra(learned())
    ),
    "many": lambda: compose_spectrum(*[compute_spectrum(learned(40, 4, seed=seed)) for seed in range(20)]),
    "learned": lambda: with_local(learned()),
    "noise": lambda: with_local(learned(512, 3, walk=False), window=32),
    "tiny": lambda: with_local(learned(4, 2)),
    "stretch of zeros": lambda: with_local(dead_stretch()),
    "heads": lambda: compose_spectrum(spectrum_of("alibi"), reference=reference_of(256)),
    "negative": lambda: compose_spectrum(spectrum_of("t5")),
    "real positions": lambda: compose_spectrum(*irregular("sinusoidal")),
    "real positions of two": lambda: compose_spectrum(*irregular("sinusoidal", "time2vec")),
    "lines of a grid": lambda: compose_spectrum(
        *[
            compute_spectrum(find_encoding("sincos2d")(d=16, height=6, width=8), axis=a)
            for a in ("vertical", "horizontal")
        ]
    ),
    "grid": lambda: compose_grid_spectra(compute_grid_spectrum(find_encoding("sincos2d")(d=16, height=6, width=8))),
    "grid, both signs": lambda: compose_grid_spectra(waves()),
    "grid, two places": lambda: compose_grid_spectra(plane_of(2, 2)),
    "grid, a strip": lambda: compose_grid_spectra(plane_of(2, 150, walk=True)),
    "grid, one code": lambda: compose_grid_spectra(constant_plane()),
    "grid of biases": lambda: compose_grid_spectra(compute_grid_spectrum(find_encoding("swin")()), plane_of()),
    "grids, many": lambda: compose_grid_spectra(*[plane_of(3, n) for n in range(3, 12)]),
}


@pytest.fixture(scope="module", params=leave_most(FIGURES, 6))
def figure(request: pytest.FixtureRequest) -> Figure:
    drawn = FIGURES[request.param]()
    with fixed_style():
        drawn.draw_without_rendering()
    return drawn


def words(figure: Figure) -> str:
    return " ".join(" ".join(text.get_text() for text in visible_texts(figure)).replace("\u00a0", " ").split())


# ----------------------------------------------------------------------------------- every figure


@pytest.mark.few(2)
def test_no_two_texts_overlap_and_none_is_cut(figure: Figure) -> None:
    with fixed_style():
        boxes = [(text.get_text(), text.get_window_extent()) for text in visible_texts(figure)]
    for text, box in boxes:
        assert 0 <= box.x0 <= box.x1 <= figure.bbox.x1, text
        assert 0 <= box.y0 <= box.y1 <= figure.bbox.y1, text
    for (one, box), (other, second) in itertools.combinations(boxes, 2):
        shrunk = Bbox.from_extents(box.x0 + 0.5, box.y0 + 0.5, box.x1 - 0.5, box.y1 - 0.5)
        assert not shrunk.overlaps(second), (one, other)


def test_text_can_be_read_at_its_width(figure: Figure) -> None:
    assert figure.get_size_inches()[0] in (COLUMN_WIDTH, PAGE_WIDTH)
    assert min(text.get_fontsize() for text in visible_texts(figure)) >= SMALL_SIZE >= 7


@pytest.mark.slow
@pytest.mark.parametrize("name", ["overlay with stretches", "heads", "grid, both signs", "grid, a strip"])
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_two_renders_are_the_same_bytes(name: str, suffix: str) -> None:
    assert render(FIGURES[name](), suffix) == render(FIGURES[name](), suffix)


# ----------------------------------------------------------------------------------- lines


def test_every_line_carries_its_weights() -> None:
    spectra = overlay()
    upper, lower = FIGURES["overlay"]().axes
    drawn = [line for line in upper.lines if len(line.get_xdata()) > 2][::-1]  # without the line at zero
    for spectrum, line, log_line in zip(spectra, drawn, lower.lines[::-1], strict=False):
        np.testing.assert_array_equal(line.get_xdata(), spectrum.omega)
        np.testing.assert_array_equal(line.get_ydata(), spectrum.weights / spectrum.omega[1])
        logs = np.where(spectrum.weights > 0, spectrum.log_weights - np.log(spectrum.omega[1]), np.nan) / math.log(10)
        finite = np.isfinite(logs)
        np.testing.assert_allclose(np.asarray(log_line.get_ydata())[finite], logs[finite], rtol=1e-13)


def test_weights_below_zero_leave_gaps_and_are_counted() -> None:
    figure = FIGURES["negative"]()
    spectrum = spectrum_of("t5")
    assert (spectrum.weights < 0).any()
    upper, lower = figure.axes
    assert upper.get_ylim()[0] <= spectrum.weights.min()
    (line,) = lower.lines
    np.testing.assert_array_equal(np.isnan(line.get_ydata()), spectrum.weights < 0)
    assert "negative weights (their sum is −0.01" in words(figure)


def test_eight_curves_are_told_apart_without_colour() -> None:
    styles = [curve_style(index) for index in range(8)]
    assert len({style["linestyle"] for style in styles[:7]}) == 7
    assert styles[7]["linestyle"] == styles[0]["linestyle"]
    assert {styles[0]["color"], styles[7]["color"]} == {"#000000", "#0072B2"}


def test_legend_names_every_curve_once() -> None:
    figure = FIGURES["overlay"]()
    names = [text.get_text() for text in figure.texts]
    for spectrum in overlay():
        assert names.count(spectrum.encoding.label) == 1
    assert names.count("dft d=64") == 1  # drawn as itself, not as the reference again
    assert not [name for name in names if "(Eq. 22)" in name]


def test_encodings_of_one_label_are_numbered() -> None:
    text = words(FIGURES["many"]())
    assert all(f"array 40 x 4 #{number}" in text for number in range(1, 21))
    assert re.search(r"Toeplitz share .*: [0-9]{1,2}\.[0-9] % to [0-9]{1,2}\.[0-9] %", text)


@pytest.mark.slow
def test_title_says_where_the_means_lie() -> None:
    assert "The centroid runs from " in words(FIGURES["overlay"]())
    ladders = [compute_spectrum(Sinusoidal(d=64)), compute_spectrum(Sinusoidal(d=64, rho=100.0))]
    assert "The mean frequency runs from 0.125 (sinusoidal" in words(compose_spectrum(*ladders))
    same = [compute_spectrum(Dft(d=d)) for d in (64, 66)]
    assert "The mean frequency of all is about 1.57 rad per position" in words(compose_spectrum(*same))
    bandwidths = [compute_spectrum(Sinusoidal(d=64), bandwidth=b) for b in (1.0, 4.0)]
    assert "The weights depend on the bandwidth that is chosen" in words(compose_spectrum(*bandwidths))


def test_small_print_says_what_the_kernel_is() -> None:
    encoding = learned()
    text = words(with_local(encoding))
    share = compute_spectrum(encoding).toeplitz_share
    assert "lag-window spectrum (mean dot product of the position vectors at each lag, over positions 0 .. " in text
    assert f"what is a function of the lag alone): {100 * share:.1f} %" in text
    assert "map: spectra of 21 overlapping stretches of 16 positions (Hann window)" in text
    mixed = words(FIGURES["overlay"]())
    assert "alibi and t5: lag-window spectrum (kernel exp(b) of the bias b" in mixed
    assert "rope and sinusoidal d=16 rho=100: Eq. 15" in mixed


def test_logarithms_beyond_the_rounding_of_a_lag_window_leave_the_axis() -> None:
    low, high = FIGURES["overlay"]().axes[1].get_ylim()
    assert high - low < 21
    alone = compose_spectrum(compute_spectrum(Sinusoidal(d=256))).axes[1].get_ylim()
    assert alone[1] - alone[0] > 100


def test_heads_are_a_band_around_their_median() -> None:
    spectrum = spectrum_of("alibi")
    figure = FIGURES["heads"]()
    (band,) = [item for item in figure.axes[0].collections if isinstance(item, PolyCollection)]
    box = band.get_datalim(figure.axes[0].transData)
    assert spectrum.head_weights is not None
    assert box.y1 == pytest.approx(spectrum.head_weights.max())
    assert box.y0 == pytest.approx(spectrum.head_weights.min())
    vertices = band.get_paths()[0].vertices
    for k in (0, 17, 128):
        at = vertices[np.isclose(vertices[:, 0], spectrum.omega[k])][:, 1]
        np.testing.assert_allclose([at.min(), at.max()], np.sort(spectrum.head_weights[:, k])[[0, -1]])
    assert band.get_alpha() < 0.3
    assert "line: median over 8 heads, band: smallest to largest" in words(figure)


def test_long_bands_keep_their_extremes() -> None:
    x = np.arange(50_000.0)
    low, high = -np.ones(x.size), np.ones(x.size)
    low[777], high[33_333] = -9.0, 7.0
    axes = Figure().add_subplot()
    draw_band(axes, x, low, high, "black")
    (band,) = axes.collections
    vertices = band.get_paths()[0].vertices
    assert (vertices[:, 1].min(), vertices[:, 1].max()) == (-9.0, 7.0)
    assert len(vertices) < 2 * MOST_POINTS


def test_axis_of_real_positions_ends_at_their_last_frequency() -> None:
    (spectrum,) = irregular("sinusoidal")
    assert spectrum.omega[-1] > 2 * math.pi
    upper, lower = FIGURES["real positions"]().axes
    assert upper.get_xlim() == lower.get_xlim() == (0, spectrum.omega[-1])
    np.testing.assert_array_equal(upper.lines[0].get_xdata(), spectrum.omega)
    assert "smoothed periodogram at 60 real positions" in words(FIGURES["real positions"]())


def test_lines_of_a_grid_are_named_by_their_direction() -> None:
    text = words(FIGURES["lines of a grid"]())
    assert ", vertical" in text
    assert ", horizontal" in text


def test_small_weights_are_written_in_a_power_of_ten_of_the_label() -> None:
    figure = compose_spectrum(reference_of(65536))
    with fixed_style():
        figure.draw_without_rendering()
    assert figure.axes[0].get_ylabel() == "weight $g$ (share of 1), $10^{-5}$"
    assert figure.axes[0].yaxis.get_offset_text().get_text() == ""
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()][:3] == ["0", "1", "2"]


# ----------------------------------------------------------------------------------- stretches


def test_map_of_stretches_carries_their_shares() -> None:
    encoding = learned()
    local = compute_local_spectra(encoding)
    panel = with_local(encoding).axes[2]
    drawn = panel.images[0].get_array()
    if "$" in panel.child_axes[0].get_yticklabels()[0].get_text():
        np.testing.assert_allclose(drawn, np.maximum(np.log10(local.weights.T), drawn.min()), atol=1e-12)
    else:
        np.testing.assert_array_equal(drawn, local.weights.T)
    left, right, bottom, top = panel.images[0].get_extent()
    assert left < local.centres[0] < local.centres[-1] < right
    assert bottom < 0
    assert top > local.omega[-1]


def test_stretches_of_zeros_are_missing() -> None:
    local = compute_local_spectra(dead_stretch())
    drawn = FIGURES["stretch of zeros"]().axes[2].images[0].get_array()
    dead = ~(local.weights > 0).any(axis=1)
    assert dead.any()
    np.testing.assert_array_equal(np.ma.getmaskarray(drawn).all(axis=0), dead)
    assert "grey: all vectors are zero" in words(FIGURES["stretch of zeros"]())


def test_heading_says_whether_the_stretches_differ() -> None:
    even = compute_local_spectra(Sinusoidal(d=64), length=512)
    assert entitle_local(even).endswith(" in all")
    assert " to " in entitle_local(compute_local_spectra(learned(512, 2, walk=False)))
    zeros = dataclasses.replace(even, weights=np.zeros_like(even.weights))
    assert entitle_local(zeros) == "Stretches of sinusoidal: all are zero"
    assert f"stretches of {even.window} positions" in describe_local(even, 1.0)


# ----------------------------------------------------------------------------------- grids


def test_maps_of_a_grid_carry_kernel_and_weights() -> None:
    plane = waves()
    left, right = compose_grid_spectra(plane).axes[:2]
    np.testing.assert_array_equal(left.images[0].get_array(), plane.kernel)
    low, high = left.images[0].get_clim()
    assert low == -high
    np.testing.assert_allclose(left.images[0].get_extent(), (-11.5, 11.5, -9.5, 9.5))
    assert left.get_ylim() == (9.5, -9.5)  # down is down
    drawn = np.asarray(right.images[0].get_array())
    seen = plane.weights > 10 ** drawn.min()
    np.testing.assert_allclose(10 ** drawn[seen], plane.weights[seen], rtol=1e-12)
    assert (drawn[~seen] == drawn.min()).all()
    step = 2 * math.pi / 12
    np.testing.assert_allclose(right.images[0].get_extent()[:2], (-math.pi - step / 2, math.pi - step / 2))


@pytest.mark.parametrize("shape", [(6, 8), (5, 7), (2, 2), (1, 9), (2, 5)])
def test_means_are_those_of_the_spectra_along_either_axis(shape: tuple[int, int]) -> None:
    encoding = learned(shape[0] * shape[1], 4, grid=f"{shape[0]}x{shape[1]}")
    lines = [compute_spectrum(encoding, axis=axis).summary.centroid for axis in ("vertical", "horizontal")]
    assert compute_grid_spectrum(encoding).means == pytest.approx(lines, rel=1e-12)


def test_title_of_a_grid_is_its_message() -> None:
    assert "The vectors change faster across (centroid 0." in words(compose_grid_spectra(waves()))
    assert "All places of the grid have the same vector" in words(FIGURES["grid, one code"]())
    poor = plane_of(12, 14)
    assert poor.toeplitz_share is not None
    assert poor.toeplitz_share < 0.5
    assert "% is a function of their offset alone" in words(compose_grid_spectra(poor))
    assert f"Toeplitz share {100 * poor.toeplitz_share:.1f} %" in words(compose_grid_spectra(poor))
    square = compute_grid_spectrum(find_encoding("sincos2d")(d=16, height=6, width=6))
    assert "The vectors change as fast down as across" in words(compose_grid_spectra(square))


@pytest.mark.slow
def test_grids_beyond_the_limit_are_counted() -> None:
    figure = FIGURES["grids, many"]()
    assert len(figure.axes) == 2 * MOST_ROWS
    assert f"the first {MOST_ROWS} of 9 encodings" in words(figure)


# ----------------------------------------------------------------------------------- spectra


@functools.cache
def mixed() -> Figure:
    table = give_table(Sinusoidal(d=64).table(200), "sin.npy")
    local = compute_local_spectra(table, length=200)
    return compose_spectrum(compute_spectrum(table), compute_spectrum(make_named("t5")), local=local)


def test_both_panels_name_the_weight_in_the_same_words() -> None:
    upper, lower = mixed().axes[:2]
    assert upper.get_ylabel() == lower.get_ylabel() == "weight per rad/position"


def test_a_band_that_leaves_the_logarithmic_axis_is_lighter() -> None:
    lower = mixed().axes[1]
    bottom = lower.get_ylim()[0]
    light = {}
    for band in lower.collections:
        assert isinstance(band, PolyCollection)
        sinks = any((path.vertices[:, 1] <= bottom + 1e-9).any() for path in band.get_paths())
        light[sinks] = band.get_alpha()
    assert light[False] > 2 * light[True] > 0


def test_the_map_says_that_its_mean_is_not_that_of_the_curves() -> None:
    said = "its mean ω is smoothed by that window, not by the bandwidth of the curves"
    assert said in read_words(mixed())
    # the two means differ, on either side of that of the sinusoids themselves
    true = math.fsum(10000 ** (-i / 32) for i in range(32)) / 32
    table = give_table(Sinusoidal(d=64).table(200))
    local = compute_local_spectra(table, length=200)
    mean = float((local.weights @ local.omega).mean())
    assert mean < true < compute_spectrum(table).summary.centroid
