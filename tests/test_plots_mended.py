"""Figures say what is true of what they draw, and explain what a reader would take for a fault."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.encodings import Dft, Encoding, Learned, Sinusoidal, find_encoding
from pe_spectra.faithfulness import Faithfulness, measure_faithfulness
from pe_spectra.figures.recipes import RECIPES
from pe_spectra.figures.separations import draw_gram
from pe_spectra.plots.axes import MOST_POINTS, Place, draw_curve, place_label, thin_curve
from pe_spectra.plots.faithfulness import compose_faithfulness
from pe_spectra.plots.precision import StairCurve, compose_precision, compose_stairs, plot_phase_errors
from pe_spectra.plots.reconstruction import ReconstructionPanel, compose_panels, compose_reconstruction
from pe_spectra.plots.reconstruction_words import entitle
from pe_spectra.plots.style import fixed_style
from pe_spectra.precision import measure_precision
from pe_spectra.reconstruction import reconstruct_positions
from pe_spectra.spectrum import compute_spectrum

#: Figures that are drawn take their time.
pytestmark = pytest.mark.slow

ALIBI = find_encoding("alibi")()


def words_of(figure: Figure) -> str:
    """Title, key and small print, in one line."""
    return " ".join(" ".join(text.get_text() for text in figure.texts).split())


def notes_of(axes: Axes) -> list[str]:
    return [" ".join(text.get_text().split()) for text in axes.texts]


def reconstruct(encoding: Encoding, s: list[int], bandwidth: float = 4.0) -> Figure:
    spectra = compute_spectrum(encoding, bandwidth=bandwidth), compute_spectrum(Dft(d=encoding.d))
    return compose_reconstruction(*[reconstruct_positions(spectrum, s) for spectrum in spectra])


def panel(fwhm: float | None, bandwidth: float | None = 4.0, peak: float = 0.5, **more: object) -> ReconstructionPanel:
    shown = {"positions": (4,), "values": np.array([[0, 0, 0, peak / 4, peak, peak / 4, 0, 0, 0, 0.0]])} | more
    return ReconstructionPanel(heading="one", fwhm=fwhm, width_10=None, bandwidth=bandwidth, **shown)


# precision ----------------------------------------------------------------------------------------------


def test_a_curve_of_errors_ends_where_a_position_is_no_number() -> None:
    report = measure_precision(Sinusoidal(d=8), length=65521, dtypes=["float16"], recipes=["bf16-positions"])
    figure = compose_precision(report)
    errors = figure.axes[1].lines[-1].get_ydata()
    assert math.isnan(errors[-1])
    assert np.nanmax(errors) < 100
    assert figure.axes[1].get_ylim()[1] < 1000
    assert "A curve of errors ends where a phase is no finite number." in words_of(figure)


@pytest.mark.parametrize("none", [math.inf, math.nan, np.finfo(np.float64).max])
def test_errors_that_are_no_numbers_set_no_limits(none: float) -> None:
    counts = np.array([1.0, 10.0, 100.0])
    axes = Figure().add_subplot()
    curve = StairCurve(name="", counts=counts, distinct=counts, errors=np.array([1e-3, 0.1, none]), collision=None)
    plot_phase_errors(axes, [curve])
    assert axes.get_ylim() == pytest.approx((5e-4, 3 * math.pi))


def test_circles_are_explained_where_they_are_drawn() -> None:
    words = [
        words_of(compose_precision(measure_precision(ALIBI, length=64, dtypes=[dtype], recipes=["fp32-then-cast"])))
        for dtype in ("float32", "float8_e4m3fn")
    ]
    assert ["Circles" in text for text in words] == [False, True]
    assert all("alibi heads=8, 64 lags." in text for text in words)
    one = words_of(compose_precision(measure_precision(Sinusoidal(d=8), length=1, dtypes=["float16"])))
    assert "none of 1 position," in one
    assert "rho=10000, 1 position." in one


def draw_errors(errors: list[np.ndarray], counts: np.ndarray) -> Figure:
    curves = [StairCurve(name="", counts=counts, distinct=counts, errors=e, collision=None) for e in errors]
    return compose_stairs(curves, title="", small_print=())


def test_the_line_at_half_a_turn_is_named_beside_it_or_in_the_small_print() -> None:
    counts = np.geomspace(1, 1000, 400)
    with_room = draw_errors([np.full(400, 1e-9)], counts)
    assert (notes_of(with_room.axes[1]), words_of(with_room)) == (["half a turn"], "")
    zigzag = np.where(np.arange(400) % 2, 0.1, 9.0)
    without = draw_errors([zigzag], counts)
    assert (notes_of(without.axes[1]), words_of(without)) == ([], "Dotted line: half a turn, π rad.")


# faithfulness -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "said"), [(0.48569, "0.48"), (0.5, "0.50"), (-0.301, "-0.31"), (0.57, "0.56")])
def test_no_dot_product_falls_below_what_the_title_says(least: float, said: str) -> None:
    s, t = (index.ravel().astype(float) for index in np.indices((2, 2)))
    below = np.nextafter(least, -1.0) if least == 0.57 else least
    figure = draw_gram({"s": s, "t": t, "dot_product": np.array([1.0, below, below, 1.0])})
    assert f"never fall below {said} of the largest" in words_of(figure)
    assert float(said) <= below


def test_curves_on_logarithmic_lags_are_thinned_as_they_are_drawn() -> None:
    lags = np.arange(1.0, 20_000.0)
    distances = np.sin(lags)
    axes = Figure().add_subplot()
    axes.set_xscale("log")
    line = draw_curve(axes, lags, distances, {"color": "black", "linestyle": "-"})
    drawn = np.asarray(line.get_xdata())
    np.testing.assert_array_equal(drawn[:200], lags[:200])
    np.testing.assert_array_equal(line.get_ydata(), distances[drawn.astype(int) - 1])
    assert drawn[-1] == lags[-1]
    assert drawn.size <= MOST_POINTS + 2
    assert np.diff(np.log(drawn)).max() == np.log(2)
    assert thin_curve(lags, distances)[0][9] > 10  # equal lags on an axis with equal steps


def collide(*, rows: int = 12) -> Faithfulness:
    table = np.random.default_rng(0).normal(size=(rows, 4))
    table[7] = table[3]
    return measure_faithfulness(Learned(values=table))


def test_maps_and_collisions_are_named_among_several() -> None:
    tables = [measure_faithfulness(encoding, length=20) for encoding in (Sinusoidal(d=8), ALIBI, Dft(d=32))]
    first, last = tables[0].encoding.label, tables[2].encoding.label
    found = collide()
    words = words_of(compose_faithfulness(*tables, found))
    assert f"{found.encoding.label}: positions 3 and 7 have the same code" in words
    assert words.endswith(f"; of {first} and {last}")
    assert "How far apart two codes are, by their lag" in words_of(compose_faithfulness(*tables))
    assert "; of " not in words_of(compose_faithfulness(tables[0], tables[2]))
    many = words_of(compose_faithfulness(*[found] * 5))
    assert "Some codes are the same:" in many
    assert "and 2 more" in many
    same = dataclasses.replace(found, encoding=ALIBI)
    assert "alibi heads=8: lags 3 and 7 have the same code" in words_of(compose_faithfulness(tables[0], same))


def test_a_single_position_is_no_panel_of_nothing() -> None:
    one = measure_faithfulness(Sinusoidal(d=8), length=1)
    figure = compose_faithfulness(one)
    (axes,) = figure.axes
    assert notes_of(axes) == ["one position: nothing to compare"]
    assert not figure.artists  # no key
    assert not axes.get_xticks().size + axes.get_yticks().size
    assert words_of(figure).endswith(" 1 position")
    both = compose_faithfulness(one, measure_faithfulness(Dft(d=8), length=8))
    assert len(both.artists) == 1
    assert "one position: nothing to compare" not in notes_of(both.axes[0])


@pytest.mark.parametrize(("length", "said"), [(300, "positions 0 to 255 of 300"), (200, "the first 200 codes")])
def test_a_map_says_which_positions_it_leaves_out(length: int, said: str) -> None:
    assert said in words_of(compose_faithfulness(measure_faithfulness(Dft(d=256), length=length)))


# reconstruction -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("s", [0, 2, 255])
def test_bars_are_as_wide_as_is_written_on_the_circle(s: int) -> None:
    figure = reconstruct(Sinusoidal(d=256), [s])
    result = reconstruct_positions(compute_spectrum(Sinusoidal(d=256), bandwidth=4.0), [s]).positions[0]
    bars = [path.vertices[:, 0] for lines in figure.axes[0].collections for path in lines.get_paths()]
    assert len(bars) == 4
    drawn = sum(right - left for left, right in bars)
    assert drawn == pytest.approx(result.fwhm + result.width_10 - 2, abs=0.01)  # from 255 back to 0 nothing is drawn
    assert all(0 <= left < right <= 255 for left, right in bars)
    assert words_of(figure).endswith("locations are circular: after the last comes 0")


def test_peaks_in_the_middle_are_not_called_circular() -> None:
    figure = reconstruct(Sinusoidal(d=256), [100])
    assert len(figure.axes[0].collections) == 2
    assert "circular" not in words_of(figure)
    assert "circular" not in words_of(compose_reconstruction(reconstruct_positions(compute_spectrum(Dft(d=16)), [15])))


@pytest.mark.parametrize(("d", "s"), [(512, [5, 250, 511]), (64, [60, 63]), (16, list(range(16)))])
def test_widths_keep_clear_of_locations_or_stand_in_the_small_print(d: int, s: list[int]) -> None:
    figure = reconstruct(Sinusoidal(d=d), s)
    for axes in figure.axes:
        with fixed_style():
            boxes = [(text.get_text(), text.get_window_extent()) for text in axes.texts]
        notes = [(text, box) for text, box in boxes if "wide" in text]
        for text, box in notes:
            assert [name for name, other in boxes if name != text and box.overlaps(other)] == []
        name = axes.get_title(loc="left").removesuffix(", bandwidth 4")
        assert bool(notes) != (f"{name}: " in words_of(figure))


def test_a_label_of_a_point_outside_has_a_size() -> None:
    axes = Figure().add_subplot()
    outside = [Place(x=1.5, y=0.5, side="right"), Place(x=0.5, y=0.5, side="right")]
    first = place_label(axes, "first", [outside[1]])
    assert first is not None
    assert place_label(axes, "second", outside) is None


def test_titles_give_the_range_of_their_panels() -> None:
    text = "single position comes back"
    assert (
        entitle([panel(7.19), panel(16.54, peak=0.3)])
        == f"At bandwidth 4 a {text} 7.19 to 16.5 positions wide and 0.3 to 0.5 high"
    )
    assert (
        entitle([panel(7.19), panel(1.0, None, peak=1)]) == f"At bandwidth 4 a {text} 7.19 positions wide and 0.5 high"
    )
    assert entitle([panel(1.0, None, peak=1), panel(7.19)]) == f"A {text} 1 to 7.19 positions wide and 0.5 to 1 high"
    assert entitle([panel(7.0), panel(None)]).endswith("; 1 of 2 never fall to half of their peak")
    four = [panel(width, b) for width, b in ((7.0, 1.0), (8.0, 1.0), (3.0, 4.0), (2.0, 4.0))]
    assert entitle(four) == f"At bandwidth 1 to 4 a {text} 2 to 8 positions wide and 0.5 high"


def test_the_width_is_said_to_fall_only_where_it_does() -> None:
    falling = entitle([panel(7.0, 1.0), panel(5.0, 2.0), panel(3.0, 4.0)])
    assert falling == "The width of the blur falls as the bandwidth grows: 7 positions at 1, 3 at 4"
    rising = entitle([panel(7.0, 1.0), panel(8.0, 2.0), panel(3.0, 4.0)])
    assert rising == "The blur, by bandwidth: 7 positions at 1, 3 at 4"
    recipe = next(recipe for recipe in RECIPES if recipe.name == "fig3_width_bandwidth")
    figure = recipe.draw(
        {"bandwidth": np.array([1.0, 4.0]), "fwhm": np.array([9.0, 4]), "width_10": np.array([20.0, 9])}
    )
    assert "falls as the bandwidth grows" in words_of(figure)


def test_widths_without_room_are_said_below_the_panels() -> None:
    crowded = panel(2.0, positions=tuple(range(10)), values=np.eye(10))
    assert "one: 2 wide at half, bandwidth 4" in words_of(compose_panels([crowded], title="", small_print=()))
