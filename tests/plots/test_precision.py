"""The figure of precision: staircases, errors of phases, and words that keep apart."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from pe_spectra.encodings import Sinusoidal, find_encoding
from pe_spectra.plots.staircases import compose_precision
from pe_spectra.plots.style import SMALL_SIZE, fixed_style
from pe_spectra.precision.staircase import measure_precision
from tests.plots.figures import notes_of, read_words, visible_texts

# ----------------------------------------------------------------------------------- the figure


def test_the_figure_is_drawn_only_when_asked(cli, tmp_path):
    assert cli("precision sinusoidal:d=8 --length 40").code == 0
    assert list(tmp_path.iterdir()) == []
    done = cli("precision sinusoidal:d=8 --length 600 --dtype bfloat16 --figure stairs.png")
    assert done.code == 0
    assert "wrote stairs.png" in done.err
    assert (tmp_path / "stairs.png").read_bytes()[:4] == b"\x89PNG"


def draw(encoding, **options):
    figure = compose_precision(measure_precision(encoding, **options))
    with fixed_style():
        figure.draw_without_rendering()  # tick labels exist only after a draw
    return figure


@pytest.mark.slow
def test_the_figure_has_a_panel_for_codes_and_one_for_angles():
    figure = draw(Sinusoidal(d=64), length=8192)
    codes, phases = figure.axes
    # 0 to 15, eight in each binade up to 256, seven up to 448, and one code that is no number
    kept = 16 + 4 * 8 + 7 + 1
    assert f" and float8_e4m3fn leaves {kept} (" in read_words(figure)
    assert codes.get_xlabel() == "number n of positions"
    assert phases.get_ylabel() == "largest phase error (rad)"
    assert [codes.get_xscale(), codes.get_yscale(), phases.get_yscale()] == ["log"] * 3
    named = [text.get_text() for text in codes.texts]
    assert named == ["256 = 257", "2048 = 2049", "16 = 17"]
    assert "half a turn" in [text.get_text() for text in phases.texts]
    ends = [line.get_ydata()[-1] for line in codes.lines if len(line.get_ydata()) > 1]
    assert ends == [8192, 897, 897, 4097, 4097, 56, 56]


@pytest.mark.slow
def test_pipelines_that_fare_alike_share_a_curve():
    figure = draw(Sinusoidal(d=64), length=200, dtypes=["float32", "float64"], recipes=["fp32", "fp32-then-cast"])
    assert len([line for line in figure.axes[0].lines if len(line.get_ydata()) > 1]) == 1
    assert "fp32, fp32-then-cast: every type" in [text.get_text() for text in figure.texts]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("alibi", {"length": 4096}),
        ("ramp", {}),
        ("sinusoidal", {"length": 1}),
        ("sinusoidal", {"length": 2, "dtypes": ["float64"]}),
        ("rope", {"length": 100_000, "dtypes": ["bfloat16"]}),
        ("dft", {"length": 300}),
        ("t5", {"length": 64}),
        ("one-hot", {"length": 256}),
    ],
)
def test_every_figure_keeps_its_words_inside_and_apart(name, options):
    figure = draw(find_encoding(name)(), **options)
    with fixed_style():
        boxes = [(text, text.get_window_extent()) for text in visible_texts(figure)]
    for text, box in boxes:
        assert 0 <= box.x0 <= box.x1 <= figure.bbox.x1, text
        assert 0 <= box.y0 <= box.y1 <= figure.bbox.y1, text
        assert text.get_fontsize() >= SMALL_SIZE
    for (one, box), (other, second) in itertools.combinations(boxes, 2):
        shrunk = Bbox.from_extents(box.x0 + 0.5, box.y0 + 0.5, box.x1 - 0.5, box.y1 - 0.5)
        assert not shrunk.overlaps(second), (one, other)


ALIBI = find_encoding("alibi")()


# ----------------------------------------------------------------------------------- precision


@pytest.mark.slow
def test_a_curve_of_errors_ends_where_a_position_is_no_number() -> None:
    report = measure_precision(Sinusoidal(d=8), length=65521, dtypes=["float16"], recipes=["bf16-positions"])
    figure = compose_precision(report)
    errors = figure.axes[1].lines[-1].get_ydata()
    assert math.isnan(errors[-1])
    assert np.nanmax(errors) < 100
    assert figure.axes[1].get_ylim()[1] < 1000
    assert "A curve of errors ends where a phase is no finite number." in read_words(figure)


@pytest.mark.slow
@pytest.mark.parametrize("none", [math.inf, math.nan, np.finfo(np.float64).max])
def test_errors_that_are_no_numbers_set_no_limits(none: float) -> None:
    axes = draw_errors(np.array([1e-3, 0.1, none]), np.array([1, 10, 100])).axes[1]
    assert axes.get_ylim() == pytest.approx((5e-4, 3 * math.pi))


@pytest.mark.slow
def test_circles_are_explained_where_they_are_drawn() -> None:
    words = [
        read_words(compose_precision(measure_precision(ALIBI, length=64, dtypes=[dtype], recipes=["fp32-then-cast"])))
        for dtype in ("float32", "float8_e4m3fn")
    ]
    assert ["Circles" in text for text in words] == [False, True]
    assert all("alibi heads=8, 64 lags." in text for text in words)
    one = read_words(compose_precision(measure_precision(Sinusoidal(d=8), length=1, dtypes=["float16"])))
    assert "A single one of the positions: nothing to distinguish" in one
    assert "rho=10000, 1 position." in one


def draw_errors(errors: np.ndarray, counts: np.ndarray) -> Figure:
    report = measure_precision(Sinusoidal(d=8), length=8, dtypes=["float16"], recipes=["fp32-then-cast"])
    (stair,) = report.stairs
    return compose_precision(replace(report, stairs=(replace(stair, counts=counts, distinct=counts, errors=errors),)))


@pytest.mark.slow
def test_the_line_at_half_a_turn_is_named_beside_it_or_in_the_small_print() -> None:
    counts, below = np.geomspace(1, 1000, 400), "Dotted line: half a turn, π rad."
    with_room = draw_errors(np.full(400, 1e-9), counts)
    assert (notes_of(with_room.axes[1]), below in read_words(with_room)) == (["half a turn"], False)
    zigzag = np.where(np.arange(400) % 2, 0.1, 9.0)
    without = draw_errors(zigzag, counts)
    assert (notes_of(without.axes[1]), below in read_words(without)) == ([], True)


# ----------------------------------------------------------------------------------- precision


def test_the_title_names_the_worst_type() -> None:
    dtypes = ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
    report = measure_precision(Sinusoidal(d=32), length=300, dtypes=dtypes)
    # two bits of mantissa: from 8 on every second number, from 16 on every fourth, and so on
    kept = 8 + sum(4 for _ in range(5)) + 2
    text = read_words(compose_precision(report))
    assert f" and float8_e5m2 leaves {kept} " in text
    alone = read_words(
        compose_precision(measure_precision(Sinusoidal(d=32), length=300, dtypes=["float16", "bfloat16"]))
    )
    assert alone.startswith(
        "In bfloat16 positions 256 and 257 share a vector when positions are cast first (279 of 300 "
    )
