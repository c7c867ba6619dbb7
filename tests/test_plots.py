"""The figures, without a look at pixels: what is drawn, in which words, and where it stands."""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from pe_spectra.encodings import DfsTrans, Dft, Sinusoidal
from pe_spectra.errors import InputError
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.plots.axes import MOST_POINTS, thin_curve
from pe_spectra.plots.faithfulness import compose_faithfulness, plot_separation
from pe_spectra.plots.low_bin import compose_low_bin, plot_low_bin, split_frequencies
from pe_spectra.plots.reconstruction import MOST_PANELS, compose_reconstruction, plot_reconstruction
from pe_spectra.plots.save import FIGURE_SUFFIXES, render
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.spectrum import compose_spectrum, plot_log_spectrum, plot_spectrum
from pe_spectra.plots.style import (
    COLUMN_WIDTH,
    PAGE_WIDTH,
    SMALL_SIZE,
    curve_style,
    escape_text,
    fixed_style,
    measure_text,
    shorten_text,
    wrap_text,
)
from pe_spectra.reconstruction import Reconstruction, reconstruct_positions
from pe_spectra.spectrum import Spectrum, compute_spectrum, count_low_bin


def spectrum_of(d: int = 64, rho: float = 10000.0, **options: float | str) -> Spectrum:
    return compute_spectrum(Sinusoidal(d=d, rho=rho), **options)


def reference_of(d: int = 64) -> Spectrum:
    return compute_spectrum(Dft(d=d))


def reconstructions(d: int, s: list[int], bandwidths: tuple[float, ...] = (4.0,)) -> list[Reconstruction]:
    spectra = [spectrum_of(d, bandwidth=bandwidth) for bandwidth in bandwidths]
    return [reconstruct_positions(spectrum, s) for spectrum in (*spectra, reference_of(d))]


def kernel_of(d: int) -> np.ndarray:
    return Sinusoidal(d=d).kernel(np.arange(d))[0]


def separations(*lengths: int, d: int = 16) -> list:
    return [measure_faithfulness(kind(d=d), length=n) for n in lengths for kind in (Sinusoidal, Dft)]


FIGURES: dict[str, Callable[[], Figure]] = {
    "spectrum of the paper": lambda: compose_spectrum(spectrum_of(256), reference=reference_of(256)),
    "spectrum alone": lambda: compose_spectrum(spectrum_of()),
    "spectra at bandwidths": lambda: compose_spectrum(
        *[spectrum_of(bandwidth=b) for b in (1.0, 4.0, 16.0)], reference=reference_of()
    ),
    "spectra on lattices": lambda: compose_spectrum(spectrum_of(64), spectrum_of(512), reference=reference_of()),
    "spectra, many": lambda: compose_spectrum(*[spectrum_of(rho=10.0**k) for k in range(8)]),
    "spectrum, two bins": lambda: compose_spectrum(spectrum_of(2), reference=reference_of(2)),
    "spectrum, far tail": lambda: compose_spectrum(spectrum_of(256, 1e300, bandwidth=1e-6)),
    "reconstruction of the paper": lambda: compose_reconstruction(*reconstructions(256, [5, 40, 75])),
    "reconstruction, window-free": lambda: compose_reconstruction(*reconstructions(64, [5, 40]), kernel=kernel_of(64)),
    "reconstruction, bandwidths": lambda: compose_reconstruction(
        *reconstructions(256, [5, 40, 75], (0.25, 1.0, 4.0, 16.0, 64.0))
    ),
    "reconstruction, crowded": lambda: compose_reconstruction(*reconstructions(64, list(range(16)))),
    "reconstruction, two points": lambda: compose_reconstruction(*reconstructions(2, [0, 1]), kernel=kernel_of(2)),
    "faithfulness": lambda: compose_faithfulness(*separations(80, d=256)),
    "faithfulness, collision": lambda: compose_faithfulness(measure_faithfulness(Dft(d=256), length=300)),
    "faithfulness, many lags": lambda: compose_faithfulness(*separations(5000, d=3)),
    "faithfulness, one position": lambda: compose_faithfulness(*separations(1)),
    "faithfulness, two positions": lambda: compose_faithfulness(*separations(2)),
    "faithfulness, published code": lambda: compose_faithfulness(measure_faithfulness(DfsTrans(d=16), length=50)),
    "low bin": lambda: compose_low_bin(*[count_low_bin(Sinusoidal(d=d)) for d in (256, 512)]),
    "low bin, lattice": lambda: compose_low_bin(count_low_bin(Dft(d=64))),
    "low bin, one frequency": lambda: compose_low_bin(count_low_bin(Sinusoidal(d=2))),
    "low bin, trained length": lambda: compose_low_bin(count_low_bin(Sinusoidal(d=128), length=4096)),
}


@pytest.fixture(scope="module", params=FIGURES)
def figure(request: pytest.FixtureRequest) -> Figure:
    drawn = FIGURES[request.param]()
    with fixed_style():
        drawn.draw_without_rendering()  # tick labels exist only after a draw
    return drawn


def visible_texts(figure: Figure) -> list[Text]:
    """Every text that a reader sees: words of the sheet, of panels, titles, axis and tick labels."""
    texts = list(figure.texts)
    for axes in figure.axes:
        texts += [*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label]
        texts += [text for text in axes.get_children() if isinstance(text, Text)]  # titles left and right
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            inside = [low - 1e-9 <= place <= high + 1e-9 for place in axis.get_majorticklocs()]
            texts += list(itertools.compress(axis.get_majorticklabels(), inside))
    unique = {id(text): text for text in texts if text.get_visible() and text.get_text().strip()}
    return list(unique.values())


def test_no_two_texts_overlap(figure: Figure) -> None:
    with fixed_style():
        boxes = [(text.get_text(), text.get_window_extent()) for text in visible_texts(figure)]
    assert len(boxes) >= 5
    for (one, box), (other, second) in itertools.combinations(boxes, 2):
        shrunk = Bbox.from_extents(box.x0 + 0.5, box.y0 + 0.5, box.x1 - 0.5, box.y1 - 0.5)
        assert not shrunk.overlaps(second), (one, other)


def test_everything_is_inside_the_sheet(figure: Figure) -> None:
    with fixed_style():
        for text in visible_texts(figure):
            box = text.get_window_extent()
            assert 0 <= box.x0 <= box.x1 <= figure.bbox.x1, text.get_text()
            assert 0 <= box.y0 <= box.y1 <= figure.bbox.y1, text.get_text()
    for axes in figure.axes:
        place = axes.get_position()
        assert 0 < place.x0 < place.x1 < 1
        assert 0 < place.y0 < place.y1 < 1


def test_text_can_be_read_at_its_width(figure: Figure) -> None:
    assert figure.get_size_inches()[0] in (COLUMN_WIDTH, PAGE_WIDTH)
    for text in visible_texts(figure):
        assert text.get_fontsize() >= SMALL_SIZE >= 7, text.get_text()


def test_lowest_panel_says_what_its_axis_is(figure: Figure) -> None:
    lowest = min(figure.axes, key=lambda axes: axes.get_position().y0)
    assert "(" in lowest.get_xlabel()  # a unit
    assert lowest.get_ylabel() or not lowest.get_yticks().size


def test_labels_have_units() -> None:
    axes = compose_spectrum(spectrum_of()).axes
    assert axes[1].get_xlabel() == "frequency ω (rad/position)"
    assert axes[0].get_ylabel() == "weight $g$ (share of 1)"
    per_radian = compose_spectrum(spectrum_of(64), spectrum_of(128)).axes
    assert per_radian[0].get_ylabel() == "weight per rad/position"
    assert compose_reconstruction(*reconstructions(64, [5])).axes[0].get_xlabel() == "location $t$ (positions)"
    assert compose_faithfulness(*separations(20)).axes[0].get_xlabel() == "lag |s − t| (positions)"
    assert compose_low_bin(count_low_bin(Dft(d=8))).axes[0].get_xlabel() == "frequency ω (rad/position)"


def empty_axes() -> Axes:
    return Figure().add_subplot()


def curves_of(axes: Axes) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in axes.lines]


def test_spectrum_lines_carry_the_weights() -> None:
    axes, spectrum, reference = empty_axes(), spectrum_of(), reference_of()
    plot_spectrum(axes, spectrum, reference=reference)
    (red_x, red), (black_x, black) = curves_of(axes)  # the first named lies on top
    np.testing.assert_array_equal(black, spectrum.weights)
    np.testing.assert_array_equal(red, reference.weights)
    np.testing.assert_array_equal(black_x, spectrum.omega)
    np.testing.assert_array_equal(red_x, reference.omega)
    assert axes.get_xlim() == (0, math.pi)


def test_spectra_on_different_lattices_are_drawn_per_radian() -> None:
    axes, small, large = empty_axes(), spectrum_of(64), spectrum_of(128)
    plot_spectrum(axes, small, large)
    (_, second), (_, first) = curves_of(axes)
    np.testing.assert_allclose(first, small.weights * 64 / (2 * math.pi), rtol=1e-15)
    np.testing.assert_allclose(second, large.weights * 128 / (2 * math.pi), rtol=1e-15)


@pytest.mark.parametrize(("d", "last"), [(256, -106.2836003906547), (512, -416.595930916215)])
def test_log_panel_shows_weights_below_the_smallest_double(d: int, last: float) -> None:
    axes = empty_axes()
    plot_log_spectrum(axes, spectrum_of(d))
    ((_, drawn),) = curves_of(axes)
    assert drawn[-1] == pytest.approx(last, rel=1e-13)
    assert axes.get_ylim()[0] < last
    formatter = axes.yaxis.get_major_formatter()
    assert formatter(-400.0, 0) == "$10^{-400}$"
    assert formatter(-4e15, 0) == "$10^{-4e15}$"


def test_weights_without_a_logarithm_leave_a_gap() -> None:
    spectrum = compute_spectrum(DfsTrans(d=16))
    assert spectrum.weights[-1] == 0
    axes = compose_spectrum(spectrum).axes[1]
    assert np.isnan(curves_of(axes)[0][1][-1])
    assert np.isfinite(axes.get_ylim()).all()


def test_reconstruction_lines_carry_the_values() -> None:
    (result, _), axes = reconstructions(64, [5, 40]), empty_axes()
    plot_reconstruction(axes, result)
    for (x, y), position in zip(curves_of(axes), result.positions, strict=True):
        np.testing.assert_array_equal(x, np.arange(64))
        np.testing.assert_array_equal(y, position.values)


def test_reconstruction_says_its_width_once_with_its_bandwidth() -> None:
    figure = FIGURES["reconstruction of the paper"]()
    upper = [text.get_text() for text in figure.axes[0].texts]
    assert upper == ["s\u2009=\u20095", "s\u2009=\u200940", "s\u2009=\u200975", upper[-1]]
    assert upper[-1].split("\n") == ["11.9 wide at half,", "32.6 at a tenth,", "bandwidth 4"]
    title = " ".join(text.get_text() for text in figure.texts)
    assert "At bandwidth 4 a single position comes back 11.9 positions wide and 0.34 high" in title


def test_panels_have_one_scale_where_all_peaks_can_be_seen() -> None:
    upper, lower = FIGURES["reconstruction of the paper"]().axes
    assert upper.get_ylim()[1] == lower.get_ylim()[1]
    tops = {axes.get_ylim()[1] for axes in FIGURES["reconstruction, bandwidths"]().axes}
    assert len(tops) > 1


def test_kernel_stands_beside_what_the_window_leaves() -> None:
    figure = FIGURES["reconstruction, window-free"]()
    assert len(figure.axes) == 3
    (x, bare), (_, windowed) = curves_of(figure.axes[2])
    np.testing.assert_allclose(bare, kernel_of(64)[:33] / 32, rtol=1e-14)
    np.testing.assert_array_equal(x, np.arange(33))
    assert windowed[0] == 1
    assert (windowed[1:] < bare[1:]).all()


def test_panels_beyond_the_limit_are_counted() -> None:
    many = [reconstruct_positions(spectrum_of(8, bandwidth=b), [1]) for b in range(1, MOST_PANELS + 3)]
    figure = compose_reconstruction(*many)
    assert len(figure.axes) == MOST_PANELS
    assert any(f"{MOST_PANELS} of {MOST_PANELS + 2} panels" in text.get_text() for text in figure.texts)


def test_separation_lines_carry_the_curve_and_mark_the_closest_pair() -> None:
    (result,), axes = [measure_faithfulness(Sinusoidal(d=8, rho=3.0), length=800)], empty_axes()
    plot_separation(axes, result)
    (x, y), (lag, distance) = curves_of(axes)
    np.testing.assert_array_equal(x, np.arange(1, 800))
    np.testing.assert_array_equal(y, result.separation_by_lag)
    assert (lag.tolist(), distance.tolist()) == ([446], [result.min_separation])
    assert any("closest: 0 and 446, distance 0.95283" in text.get_text() for text in axes.texts)


def test_mark_of_a_pair_that_does_not_begin_at_zero_stands_at_its_lag() -> None:
    result, axes = measure_faithfulness(DfsTrans(d=16), length=50), empty_axes()
    assert result.closest_pair == (1, 17)
    plot_separation(axes, result)
    assert curves_of(axes)[-1][0].tolist() == [16]


def test_encoding_without_a_curve_is_named_in_the_axes() -> None:
    (result, other) = separations(50)
    figure = compose_faithfulness(dataclasses.replace(result, separation_by_lag=None), other)
    assert figure.axes[0].get_title(loc="left") == "no curve by lag: sinusoidal d=16 rho=10000"


def test_small_separations_stand_on_a_logarithmic_axis() -> None:
    figure = compose_faithfulness(measure_faithfulness(Sinusoidal(d=2), length=1000))
    assert figure.axes[0].get_yscale() == "log"
    assert figure.axes[0].get_xscale() == "linear"
    assert compose_faithfulness(*separations(2000)).axes[0].get_xscale() == "log"


def test_strokes_are_the_frequencies_split_by_the_exact_count() -> None:
    count, axes = count_low_bin(Sinusoidal(d=256)), empty_axes()
    plot_low_bin(axes, count)
    (inside, _), (outside, _), (edge, _) = curves_of(axes)
    assert (inside.size, outside.size) == (76, 52)
    values = np.sort(count.encoding.frequencies().values)
    np.testing.assert_allclose(10 ** np.concatenate([inside, outside]), values, rtol=1e-14)
    assert inside.max() < edge[0] < outside.min()
    assert edge[0] == pytest.approx(math.log10(2 * math.pi / 256))


def test_low_bin_is_counted_in_words() -> None:
    figure = FIGURES["low bin"]()
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "76 of 128 inside (59.4 %), 52 outside; edge 2π/256" in words
    assert "133 of 256 inside (52.0 %), 123 outside; edge 2π/512" in words
    assert "edge 2π/4096" in FIGURES["low bin, trained length"]().axes[0].texts[0].get_text()


def test_frequency_zero_is_left_out_and_said() -> None:
    inside, outside = split_frequencies(count_low_bin(Dft(d=64)))
    assert (inside.size, outside.size) == (0, 32)
    small_print = " ".join(text.get_text() for text in FIGURES["low bin, lattice"]().texts)
    assert "frequency of 0 is outside" in small_print


@pytest.mark.parametrize("compose", [compose_spectrum, compose_reconstruction, compose_faithfulness, compose_low_bin])
def test_nothing_to_draw_is_refused(compose: Callable[..., Figure]) -> None:
    with pytest.raises(ValueError, match="needs one"):
        compose()


def test_long_curves_keep_their_extremes_and_ends() -> None:
    x = np.arange(100_001.0)
    y = np.sin(x)
    y[[77, 50_003]] = [9.0, -9.0]
    y[60_000:61_000] = np.nan
    thin_x, thin_y = thin_curve(x, y)
    assert thin_x.size <= MOST_POINTS + 2
    assert {0.0, 77.0, 50_003.0, 100_000.0} <= set(thin_x)
    np.testing.assert_array_equal(thin_y, y[thin_x.astype(int)])
    short = thin_curve(x[:MOST_POINTS], y[:MOST_POINTS])
    assert short[0].size == MOST_POINTS


@pytest.mark.slow
@pytest.mark.parametrize("suffix", FIGURE_SUFFIXES)
def test_rendering_twice_gives_the_same_bytes(suffix: str) -> None:
    first, second = (render(FIGURES["reconstruction of the paper"](), suffix) for _ in range(2))
    assert first == second
    assert first == render(FIGURES["reconstruction of the paper"](), suffix.upper())
    assert first.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix])
    for word in (b"CreationDate", b"dc:date", b"Software", b"matplotlib.org", b"Matplotlib v"):
        assert word not in first


@pytest.mark.parametrize("suffix", ["", ".gif", "png", ".png.txt"])
def test_other_suffixes_are_refused(suffix: str) -> None:
    with pytest.raises(InputError, match=r"\.png, \.svg, \.pdf"):
        render(Figure(), suffix)


_SCRIPT = """
import hashlib
from pe_spectra.encodings import Sinusoidal
from pe_spectra.plots.save import FIGURE_SUFFIXES, render
from pe_spectra.plots.spectrum import compose_spectrum
from pe_spectra.spectrum import compute_spectrum
figure = compose_spectrum(compute_spectrum(Sinusoidal(d=64)))
print([hashlib.sha256(render(figure, suffix)).hexdigest() for suffix in FIGURE_SUFFIXES])
"""


def run_script(folder: Path, script: str = _SCRIPT, **environment: str) -> str:
    command = [sys.executable, "-c", script]
    merged = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=merged, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_environment_changes_no_byte(tmp_path: Path) -> None:
    plain = run_script(tmp_path, PYTHONHASHSEED="1")
    settings = "text.usetex: True\nfont.size: 30\nsavefig.bbox: tight\nlines.linewidth: 9\nsvg.hashsalt: x\n"
    (tmp_path / "matplotlibrc").write_text(settings)
    seen = run_script(tmp_path, PYTHONHASHSEED="2", MPLBACKEND="nonsense", TZ="Asia/Tokyo", LC_ALL="C")
    assert seen == plain
    (tmp_path / "matplotlibrc").write_bytes(b"# caf\xe9\n")  # not UTF-8: the plain import fails
    assert run_script(tmp_path, PYTHONHASHSEED="3", MPLBACKEND="pdf") == plain


def test_host_keeps_its_settings(tmp_path: Path) -> None:
    script = """
import os
import pe_spectra.plots
import matplotlib
print(os.environ["MPLBACKEND"], matplotlib.rcParams["backend"], "matplotlib.pyplot" in __import__("sys").modules)
"""
    assert run_script(tmp_path, script, MPLBACKEND="svg").split() == ["svg", "svg", "False"]


def test_fixed_style_is_put_back() -> None:
    with matplotlib.rc_context({"font.size": 31.0, "text.usetex": True}):
        with fixed_style():
            assert matplotlib.rcParams["font.size"] == 8.0
            assert matplotlib.rcParams["text.usetex"] is False
        assert matplotlib.rcParams["font.size"] == 31.0


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain d=256, ω", "plain d=256, ω"),
        ("$x$", r"\$x\$"),
        ("a\nb\x1b[31m\x7f\x9b", r"a\x0ab\x1b[31m\x7f\x9b"),
        ("\u202eabc\u2028\ud800", r"\u202eabc\u2028\ud800"),
        ("back\\slash", r"back\x5cslash"),
        ("漢\U00020000", r"\u6f22\U00020000"),
    ],
)
def test_text_from_outside_is_escaped(text: str, escaped: str) -> None:
    assert escape_text(text) == escaped


def test_long_text_from_outside_is_cut() -> None:
    assert escape_text("a" * 500) == "a" * 29 + "…" + "a" * 30
    assert len(escape_text("a" * 60)) == 60


class _Hostile:
    """An encoding whose name is anything but a name."""

    label = "$\\frac{1}{2}$ $" + "W" * 40 + "\n\u202e漢$"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", FIGURE_SUFFIXES)
def test_hostile_names_are_drawn_as_they_are(suffix: str) -> None:
    encoding = _Hostile()
    spectrum = dataclasses.replace(spectrum_of(), encoding=encoding)
    other = dataclasses.replace(spectrum_of(rho=5.0), encoding=encoding)
    separation = dataclasses.replace(separations(10)[0], encoding=encoding)
    for drawn in (
        compose_spectrum(spectrum, other, spectrum),
        compose_reconstruction(reconstruct_positions(spectrum, [3])),
        compose_faithfulness(separation, dataclasses.replace(separation, separation_by_lag=None)),
    ):
        assert render(drawn, suffix)
        with fixed_style():
            drawn.draw_without_rendering()
        for text in visible_texts(drawn):
            box = text.get_window_extent()
            assert 0 <= box.x0 <= box.x1 <= drawn.bbox.x1, text.get_text()
            assert "\n" not in text.get_text() or "wide" in text.get_text()


def test_lines_are_told_apart_without_colour() -> None:
    styles = [tuple(map(str, curve_style(index).values())) for index in range(30)]
    assert len(set(styles)) == 30
    assert len({curve_style(index)["linestyle"] for index in range(5)}) == 5


def test_words_are_wrapped_and_cut_to_the_width() -> None:
    lines = wrap_text("one two three four five six seven " + "x" * 80, 7.0, 1.0)
    assert "".join(lines).replace(" ", "") == "onetwothreefourfivesixseven" + "x" * 80
    assert all(measure_text(line, 7.0) <= 1.02 for line in lines)
    assert wrap_text("", 7.0, 1.0) == ()
    assert wrap_text("lattice N\u00a0=\u00a0256", 7.0, 0.6) == ("lattice", "N\u00a0=\u00a0256")
    cut = shorten_text("abcdefghij" * 10, 7.0, 1.0)
    assert (cut[:3], cut[-3:], cut.count("…")) == ("abc", "hij", 1)
    assert measure_text(cut, 7.0) <= 1.0
    dollars = shorten_text(escape_text("$" * 60), 7.0, 1.0)
    assert set(dollars.replace(r"\$", "")) == {"…"}


def test_sheet_grows_with_its_words() -> None:
    short, _ = lay_out(Layout(title="short", heights=(1.0,)))
    long, panels = lay_out(Layout(title="word " * 40, heights=(1.0, 2.0), small_print=("more " * 40,)))
    assert long.get_size_inches()[1] > short.get_size_inches()[1] + 2
    heights = [axes.get_position().height * long.get_size_inches()[1] for axes in panels]
    assert heights == pytest.approx([1.0, 2.0])
