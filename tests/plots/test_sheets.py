"""Every figure of the paper's commands, without a look at pixels: no overlap, everything inside, readable."""

from __future__ import annotations

import dataclasses
import itertools
import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from pe_spectra.errors import InputError
from pe_spectra.model_sources import read_model
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.lengths.methods import compare_methods
from pe_spectra.plots.blur import compose_reconstruction
from pe_spectra.plots.distances import compose_faithfulness
from pe_spectra.plots.sheet import FIGURE_SUFFIXES, render
from pe_spectra.plots.spectrum import compose_spectrum
from pe_spectra.plots.style import COLUMN_WIDTH, PAGE_WIDTH, SMALL_SIZE, fixed_style
from pe_spectra.plots.wavelengths import compose_audit, compose_context
from pe_spectra.reconstruction import reconstruct_positions
from tests.drawing import leave_most
from tests.places import MODELS
from tests.plots.figures import FIGURES, separations, spectrum_of, visible_texts


@pytest.fixture(scope="module", params=leave_most(FIGURES, 8))
def figure(request: pytest.FixtureRequest) -> Figure:
    drawn = FIGURES[request.param]()
    with fixed_style():
        drawn.draw_without_rendering()  # tick labels exist only after a draw
    return drawn


@pytest.mark.slow
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
from pe_spectra.plots.sheet import FIGURE_SUFFIXES, render
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


class _Hostile:
    """An encoding whose name is anything but a name."""

    name, family, time_step, is_sampled, describe_position = "hostile", "learned", "", False, staticmethod(str)
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


# ----------------------------------------------------------------------------------- the edge of the sheet


@pytest.mark.slow
@pytest.mark.parametrize("target", [131_072, 1_048_576])
def test_no_tick_is_cut_at_the_right_edge(target: int) -> None:
    found = audit_configuration(read_model(str(MODELS / "llama-2-7b.json")), served=target)
    for figure in (compose_context(compare_methods(16, 10000.0, 8192, target)), compose_audit(found)):
        with fixed_style():
            figure.draw_without_rendering()
            for axes in figure.axes:
                ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
                ends = [label.get_window_extent().x1 for at, label in ticks if at <= axes.get_xlim()[1]]
                assert max(ends, default=0.0) <= figure.bbox.x1 - 1
