"""What a user may choose of a figure: style, size, resolution, words."""

from __future__ import annotations

import struct

import matplotlib
import pytest

from pe_spectra import Sinusoidal, compute_spectrum
from pe_spectra.errors import FileError, InputError
from pe_spectra.plots.choices import FigureOptions, draw_with, read_figure_options
from pe_spectra.plots.sheet import render
from pe_spectra.plots.spectrum import compose_spectrum
from pe_spectra.plots.style import curve_style, fixed_style
from tests.plots.figures import read_words

SPECTRUM = compute_spectrum(Sinusoidal(d=32))


def draw(**options):
    with draw_with(FigureOptions(**options)):
        return compose_spectrum(SPECTRUM)


def test_a_figure_has_the_size_that_was_asked_for():
    assert draw(width=6.0, height=4.5).get_size_inches().tolist() == [6.0, 4.5]
    usual = draw().get_size_inches()
    assert draw(width=6.0).get_size_inches()[0] == 6.0
    assert draw(height=6.0).get_size_inches()[0] == usual[0]


def test_a_size_that_leaves_no_room_is_refused_with_the_least():
    with pytest.raises(InputError, match=r"--width leaves no room for the panels \(1.1\); 1\.\d+ and more"):
        draw(width=1.1)
    with pytest.raises(InputError, match=r"--height leaves no room for the panels \(1\); \d\.\d+ and more"):
        draw(height=1.0)


def test_words_around_the_panels_can_be_left_out():
    words = read_words(draw())
    assert "Uneven: the largest weight" in words
    assert "Eq. 15, bandwidth" in words
    assert "Uneven: the largest weight" not in read_words(draw(title=False))
    assert "Eq. 15, bandwidth" not in read_words(draw(caption=False))


def test_a_bitmap_has_the_dots_that_were_asked_for():
    with draw_with(FigureOptions(width=4.0, height=3.0, dpi=50.0)):
        data = render(compose_spectrum(SPECTRUM), ".png")
    assert struct.unpack(">II", data[16:24]) == (200, 150)


def test_a_style_counts_but_for_what_is_ours():
    style = read_figure_options(style="ggplot").style
    assert style["axes.grid"]
    assert not [key for key in style if key.startswith(("font.", "savefig.", "text."))]
    with draw_with(FigureOptions(style=style)), fixed_style():
        assert matplotlib.rcParams["axes.grid"]
        assert matplotlib.rcParams["svg.hashsalt"] == "pe-spectra"
        assert curve_style(0)["color"] == style["axes.prop_cycle"].by_key()["color"][0]
    assert curve_style(0)["color"] == "#000000"


def test_a_dark_background_is_left_out_for_lines_are_black():
    style = read_figure_options(style="dark_background").style
    assert not [key for key in style if key.endswith("color")]


def test_a_file_of_settings_is_a_style(tmp_path, monkeypatch):
    path = tmp_path / "mine.mplstyle"
    path.write_text("axes.grid: True\nsvg.hashsalt: other\n", encoding="utf-8")
    assert dict(read_figure_options(style=str(path)).style) == {"axes.grid": True}
    monkeypatch.setenv("MATPLOTLIBRC", str(path))
    assert dict(read_figure_options(style="matplotlibrc").style) == {"axes.grid": True}


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("ggplt", InputError, r"--style is not known \(ggplt\); ggplot, matplotlibrc or a file"),
        ("no.mplstyle", FileError, "No such file"),
    ],
)
def test_an_unknown_style_is_refused(name, error, says):
    with pytest.raises(error, match=says):
        read_figure_options(style=name)


def test_the_command_line_has_them(cli, tmp_path):
    line = f"spectrum --d 32 --figure {tmp_path / 'a.png'} --width 4 --height 3 --dpi 50 --no-title --no-caption"
    assert cli(f"{line} --style ggplot").code == 0
    assert struct.unpack(">II", (tmp_path / "a.png").read_bytes()[16:24]) == (200, 150)
    done = cli("spectrum --d 32 --dpi 5")
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: --dpi is out of range (5); a number from 20 to 1200 is accepted\n"
