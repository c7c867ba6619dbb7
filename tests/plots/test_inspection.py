"""Portraits, without a look at pixels: what is drawn, from which numbers, and where it stands."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from pe_spectra.encodings import GivenArray, Sinusoidal
from pe_spectra.encodings.learned import Learned
from pe_spectra.inspection.portrait import Portrait, draw_portrait
from pe_spectra.inspection.resize import resize_encoding
from pe_spectra.plots.comparison import compose_comparison
from pe_spectra.plots.inspection import compose_portrait
from pe_spectra.plots.inspection_panels import (
    _compute_ladder_periods,
    _find_robust_scale,
    draw_bias,
    draw_columns,
    draw_table,
)
from pe_spectra.plots.sheet import render
from pe_spectra.plots.style import COLUMN_WIDTH, PAGE_WIDTH, SMALL_SIZE, fixed_style
from tests.making import make_named
from tests.planted import (
    add_drifting,
    make_grid,
    make_noise,
    make_periodic,
    make_sinusoid,
    make_trained,
    plant_cls,
    plant_seam_offset,
    plant_tail,
)
from tests.plots.figures import compared, first_curve, panel, read_words, visible_texts


def given(table: np.ndarray, **keys: object) -> Learned:
    return Learned(values=GivenArray(table, origin="model.safetensors::wpe"), **keys)


def planted() -> Learned:
    return given(plant_cls(plant_seam_offset(make_periodic(512, 128))))


def grid_with_cls() -> Learned:
    table = np.concatenate([5 * make_noise(1, 48), make_grid(14, 14, 48)])
    return given(table, prefix=1, grid="14x14")


def resized(encoding: Learned, new: tuple[int, ...]) -> Portrait:
    return draw_portrait(encoding, resized=resize_encoding(encoding, new))


PORTRAITS: dict[str, Callable[[], Portrait]] = {
    "sinusoidal": lambda: draw_portrait(Sinusoidal(d=64), length=256),
    "untrained": lambda: draw_portrait(Learned(init="normal", d=64, length=128)),
    "planted": lambda: draw_portrait(planted()),
    "tail": lambda: draw_portrait(given(plant_tail(make_trained(256, 64), 200))),
    "grid with CLS": lambda: draw_portrait(grid_with_cls()),
    "grid, rectangular": lambda: draw_portrait(given(make_grid(2, 8, 16), grid="2x8")),
    "grid resized": lambda: resized(given(make_grid(6, 6, 16), grid="6x6"), (9, 9)),
    "line resized": lambda: resized(given(make_trained(64, 16)), (96,)),
    "alibi": lambda: draw_portrait(make_named("alibi"), length=64),
    "alibi, many heads": lambda: draw_portrait(make_named("alibi", heads=40), length=64),
    "t5": lambda: draw_portrait(make_named("t5"), length=64),
    "swin": lambda: draw_portrait(make_named("swin")),
    "tupe": lambda: draw_portrait(make_named("tupe"), length=32),
    "calendar": lambda: draw_portrait(make_named("calendar"), length=256),
    "rope": lambda: draw_portrait(make_named("rope"), length=64),
    "shaw": lambda: draw_portrait(make_named("shaw"), length=64),
    "ramp": lambda: draw_portrait(make_named("ramp")),
    "two by two": lambda: draw_portrait(given(np.array([[1.0, 2.0], [3.0, 5.0]]))),
    "one number": lambda: draw_portrait(given(np.ones((1, 1)))),
    "zeros": lambda: draw_portrait(given(np.zeros((20, 4)))),
}


@functools.cache
def look(name: str) -> Portrait:
    return PORTRAITS[name]()


FEW = ("sinusoidal", "dft", "alibi", "sincos2d", "t5", "calendar")

GALLERIES: dict[str, Callable[[], Figure]] = {
    "one": lambda: compose_comparison(compared("sinusoidal")),
    "two": lambda: compose_comparison(compared("alibi", "dft"), "sidelobe_ratio"),
    "random alone": lambda: compose_comparison(compared("t5")),
    "several": lambda: compose_comparison(compared(*FEW), "effective_rank_entropy_centred"),
    "forty": lambda: compose_comparison(compared("ramp", "tree", "t5", "alibi") * 10, "kernel_half_width"),
}


@pytest.fixture(scope="module", params=[*PORTRAITS, *GALLERIES])
def figure(request: pytest.FixtureRequest) -> Figure:
    name = request.param
    drawn = compose_portrait(look(name)) if name in PORTRAITS else GALLERIES[name]()
    with fixed_style():
        drawn.draw_without_rendering()  # tick labels exist only after a draw
    return drawn


@pytest.mark.slow
def test_no_two_texts_overlap(figure: Figure) -> None:
    with fixed_style():
        boxes = [(text.get_text(), text.get_window_extent()) for text in visible_texts(figure)]
    for (one, box), (other, second) in itertools.combinations(boxes, 2):
        shrunk = Bbox.from_extents(box.x0 + 0.5, box.y0 + 0.5, box.x1 - 0.5, box.y1 - 0.5)
        assert not shrunk.overlaps(second), (one, other)


@pytest.mark.slow
def test_everything_is_inside_the_sheet_and_can_be_read(figure: Figure) -> None:
    assert figure.get_size_inches()[0] in (COLUMN_WIDTH, PAGE_WIDTH)
    with fixed_style():
        for text in visible_texts(figure):
            box = text.get_window_extent()
            assert 0 <= box.x0 <= box.x1 <= figure.bbox.x1, text.get_text()
            assert 0 <= box.y0 <= box.y1 <= figure.bbox.y1, text.get_text()
            assert text.get_fontsize() >= SMALL_SIZE >= 7, text.get_text()


# ----------------------------------------------------------------------------------- portraits


def headings(portrait: Portrait) -> list[str]:
    titles = [axes.get_title(loc="left") for axes in compose_portrait(portrait).axes]
    return [title.partition(",")[0] for title in titles if title]


@pytest.mark.slow
def test_portrait_of_a_table_has_the_four_panels_and_the_rows() -> None:
    assert headings(look("planted")) == [
        "Table",
        "5 of 128 columns",
        "Kernel",
        "Spectrum",
        "Spectra of 29 stretches of 64 positions",
        "Period of each column",
        "Norm of each row",
        "Step from each row to the next",
        "Components 1 and 2",
        "Components 2 and 3",
    ]


@pytest.mark.slow
def test_portraits_show_only_what_there_is() -> None:
    assert headings(look("alibi")) == [
        "Bias of head 0 (grey: not seen)",
        "Bias against lag",
        "Kernel",
        "Spectrum",
    ]
    assert headings(look("shaw")) == ["Kernel", "Spectrum"]
    swin = headings(look("swin"))
    assert swin == ["Bias of head 0", "Bias of head 7", "Kernel by offset", "Spectrum in both directions", "Spectrum"]
    assert headings(look("one number")) == ["Table", "1 of 1 columns", "Kernel", "Spectrum"]
    grid = headings(look("grid resized"))
    assert "Columns 0" in grid
    assert "Kernel by offset" in grid
    assert grid[-2:] == ["Resized 6 to 9", "Resized 6 to 9"]


@pytest.mark.slow
def test_table_panel_holds_the_entries() -> None:
    portrait = draw_portrait(given(make_trained(40, 24)))
    (image,) = panel(compose_portrait(portrait), "Table").images
    np.testing.assert_array_equal(image.get_array(), portrait.table.T)
    assert image.get_extent() == [-0.5, 39.5, -0.5, 23.5]
    low, high = image.get_clim()
    assert low == -high  # zero is white


def test_large_table_is_drawn_as_means_of_rows() -> None:
    table = np.arange(20_000.0)[:, None] * np.ones(3)
    axes = Figure(figsize=(4, 3)).add_axes((0.1, 0.1, 0.6, 0.8))
    draw_table(axes, table, np.arange(20_000.0), "position")
    drawn = axes.images[0].get_array()
    assert drawn.shape[1] <= 4 * 0.6 * 180
    cells = math.ceil(20_000 / math.ceil(20_000 / 432))  # blocks as even as may be
    assert drawn[0, 0] == pytest.approx((20_000 // cells - 1) / 2)


@pytest.mark.slow
def test_far_values_do_not_wash_out_the_colours() -> None:
    values = np.ones((100, 100))
    values[0, :20] = 50.0
    assert _find_robust_scale(values).high == 1.0
    assert _find_robust_scale(np.arange(-4.0, 3.0)).high == 4.0
    figure = compose_portrait(draw_portrait(planted()))
    assert "(colours cut at 99.5 %)" in panel(figure, "Table").get_title(loc="left")


def test_columns_are_the_tables_own_over_its_first_rows() -> None:
    table = make_sinusoid(300, 16)
    axes = Figure().add_subplot()
    draw_columns(axes, table, np.arange(300.0) + 7, "position")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "4", "8", "11", "15"]
    for number, column in enumerate((0, 4, 8, 11, 15)):
        x, y = first_curve(axes, number)
        shown = table[:256, column]
        np.testing.assert_array_equal(x, np.arange(256) + 7)
        expected = number + 0.82 * ((shown - shown.min()) / np.ptp(shown) - 0.5)
        np.testing.assert_allclose(y, expected, rtol=1e-13)


@pytest.mark.slow
def test_kernel_and_spectrum_are_those_of_the_portrait() -> None:
    portrait = look("sinusoidal")
    figure = compose_portrait(portrait)
    x, y = first_curve(panel(figure, "Kernel"), 1)
    np.testing.assert_array_equal(x, np.arange(256))
    np.testing.assert_allclose(y, portrait.kernel.values[0] / 32, rtol=1e-15)
    omega, logarithm = first_curve(panel(figure, "Spectrum"))
    np.testing.assert_array_equal(omega, portrait.spectra[0].omega)
    np.testing.assert_allclose(logarithm, portrait.spectra[0].log_weights / math.log(10), rtol=1e-13)
    assert panel(figure, "Spectrum").get_ylim()[0] == pytest.approx(logarithm.max() - 8)


def test_dominant_periods_are_marked_and_named() -> None:
    portrait = look("planted")
    figure = compose_portrait(portrait)
    marks, _ = first_curve(panel(figure, "Spectrum"), 1)
    periods = [one.period for one in portrait.inspection.dominant_periods]
    np.testing.assert_allclose(np.sort(marks), np.sort(2 * np.pi / np.array(periods)), rtol=1e-14)
    texts = [text.get_text() for text in panel(figure, "Period of each column").texts]
    assert [text.partition(" ")[0] for text in texts] == [f"{period:.3g}" for period in sorted(periods)]


@pytest.mark.slow
def test_a_period_that_drifts_is_named_by_both_ends() -> None:
    table = add_drifting(make_periodic(512, 64), 8.0, 9.5, 0.4)
    axes = panel(compose_portrait(draw_portrait(Learned(values=GivenArray(table)))), "Period of each column")
    words = [text.get_text().partition(" (")[0] for text in axes.texts]
    assert [one for one in words if " to " in one] == ["8 to 9.5"]


@pytest.mark.slow
def test_the_panel_leaves_room_for_the_names_of_periods_that_drift() -> None:
    table = add_drifting(make_periodic(512, 64), 31.9, 37.2, 0.4)
    figure = compose_portrait(draw_portrait(Learned(values=GivenArray(table))))
    with fixed_style():
        boxes = [text.get_window_extent() for text in panel(figure, "Period of each column").texts]
    assert max(box.x1 for box in boxes) <= figure.bbox.x1


def test_periods_of_columns_and_the_ladder_are_those_that_were_found() -> None:
    portrait = look("sinusoidal")
    axes = panel(compose_portrait(portrait), "Period of each column")
    curves = [np.asarray(line.get_ydata(), dtype=float) for line in axes.lines]
    found = portrait.inspection.channels.periods
    assert any(len(one) == 64 and np.array_equal(one, found, equal_nan=True) for one in curves)
    ladder = _compute_ladder_periods(portrait.inspection.sinusoid, 64)
    np.testing.assert_allclose(ladder, 2 * np.pi * 10000 ** (np.arange(64) // 2 / 32), rtol=0.02)
    assert any("ladder ρ = 10000 (100" in text.get_text() for text in axes.texts)


def test_outliers_and_seams_are_ringed_and_named() -> None:
    portrait = look("planted")
    figure = compose_portrait(portrait)
    norms = panel(figure, "Norm")
    np.testing.assert_array_equal(first_curve(norms)[1], portrait.inspection.norms)
    assert first_curve(norms, 1)[0].tolist() == [0]
    assert [text.get_text() for text in norms.texts] == ["0"]
    steps = panel(figure, "Step")
    np.testing.assert_array_equal(first_curve(steps)[0], np.arange(511) + 0.5)
    np.testing.assert_array_equal(first_curve(steps)[1], portrait.inspection.steps)
    assert first_curve(steps, 1)[0].tolist() == [127.5]
    assert [text.get_text() for text in steps.texts] == ["127|128"]


@pytest.mark.slow
def test_untrained_tail_is_shaded_and_said() -> None:
    portrait = look("tail")
    figure = compose_portrait(portrait)
    (shade,) = panel(figure, "Norm").patches
    # a polygon in older releases of Matplotlib, a rectangle in newer ones
    across = shade.get_path().transformed(shade.get_patch_transform()).vertices[:, 0]
    assert (across.min(), across.max()) == (199.5, 255.5)
    assert "200 to 255" in read_words(figure)


@pytest.mark.slow
def test_rows_are_named_as_in_the_file() -> None:
    table = make_trained(80, 16)
    figure = compose_portrait(draw_portrait(given(table, first=10, last=70)))
    assert panel(figure, "Table").images[0].get_extent()[:2] == [9.5, 69.5]
    assert first_curve(panel(figure, "Norm"))[0].tolist() == list(range(10, 70))
    assert panel(figure, "Norm").get_xlabel() == "row of the file"


def test_components_are_dots_in_the_order_of_rows() -> None:
    portrait = look("sinusoidal")
    axes = panel(compose_portrait(portrait), "Components 2 and 3")
    (dots,) = [one for one in axes.collections if isinstance(one, PathCollection)]
    np.testing.assert_array_equal(dots.get_offsets(), portrait.inspection.helix.coordinates[:, 1:])
    np.testing.assert_array_equal(dots.get_array(), np.arange(256))
    assert {text.get_text() for text in axes.texts} == {"0", "255"}


@pytest.mark.slow
def test_neighbours_on_a_grid_are_joined_in_both_directions() -> None:
    axes = panel(compose_portrait(look("grid, rectangular")), "Components 1 and 2")
    assert sorted(len(line.get_xdata()) for line in axes.lines if line.get_linestyle() == "-") == [2] * 8 + [8] * 2


def test_columns_of_a_grid_lie_on_it() -> None:
    portrait = look("grid, rectangular")
    (image,) = panel(compose_portrait(portrait), "Columns").images
    drawn = np.ma.filled(image.get_array(), np.nan)
    first = portrait.table[:, 0].reshape(2, 8)
    np.testing.assert_allclose(drawn[:2, :8], first / np.abs(first).max(), rtol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("prefix", [0, 1, 4])
def test_norms_of_a_grid_lie_on_it(prefix: int) -> None:
    table = make_grid(6, 9, 16)
    table[2 * 9 + 4] *= 20
    before = 30 * make_noise(prefix, 16, seed=4)
    encoding = given(np.concatenate([make_noise(3, 16), before, table]), first=3, prefix=prefix, grid="6x9")
    axes = panel(compose_portrait(draw_portrait(encoding)), "Norm of each place")
    (image,) = axes.images
    norms = np.linalg.norm(table, axis=1).reshape(6, 9)
    np.testing.assert_allclose(np.ma.filled(image.get_array(), np.nan), norms, rtol=1e-12)
    assert image.get_extent() == [-0.5, 8.5, -0.5, 5.5]
    assert axes.yaxis_inverted()  # and a map begins at the bottom: the first line is on top
    (ring,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert (ring.get_xdata().tolist(), ring.get_ydata().tolist()) == ([4], [2])
    lengths = np.linalg.norm(before, axis=1)
    words = [f"row {3 + row}: {lengths[row]:.3g}" for row in range(min(prefix, 1))]
    words += ["3 more rows"] if prefix == 4 else []
    assert axes.get_title(loc="left") == "Norm of each place" + (f" ({', '.join(words)})" if words else "")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["float32", "float16"])
@pytest.mark.parametrize("much", [0.0, 3.0])
def test_norms_that_only_rounding_tells_apart_have_one_colour(name: str, much: float) -> None:
    rows = make_noise(54, 16)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[7] *= 1 + much * 2 * float(np.finfo(name).eps)
    encoding = given(rows.astype(name).astype(np.float64), grid="6x9")
    axes = panel(compose_portrait(draw_portrait(encoding)), "Norm of each place")
    drawn = np.ma.filled(axes.images[0].get_array(), np.nan)
    assert (np.ptp(drawn) == 0) == (much == 0)
    assert axes.get_title(loc="left").endswith(f" (equal within {name})") is (much == 0)


def test_biases_are_drawn_for_every_head() -> None:
    portrait = look("alibi")
    figure = compose_portrait(portrait)
    axes = panel(figure, "Bias against lag")
    for head in range(8):
        x, y = first_curve(axes, head)
        np.testing.assert_array_equal(x, portrait.lags)
        np.testing.assert_array_equal(y, portrait.bias[head])
    assert sorted(text.get_text() for text in axes.texts) == [f"head {head}" for head in range(8)]
    image = panel(figure, "Bias of head 0").images[0].get_array()
    np.testing.assert_array_equal(np.ma.filled(image, np.nan), portrait.bias_map[0])
    assert image.mask.sum() == 64 * 63 / 2


def test_chosen_head_keeps_its_number() -> None:
    figure = compose_portrait(draw_portrait(make_named("alibi", head=2), length=16))
    assert panel(figure, "Bias of head 2")
    assert [text.get_text() for text in panel(figure, "Bias against lag").texts] == ["head 2"]


def test_many_heads_name_the_first_and_the_last() -> None:
    axes = Figure().add_subplot()
    draw_bias(axes, np.arange(5.0), -np.arange(12.0)[:, None] * np.arange(5))
    assert sorted(text.get_text() for text in axes.texts) == ["head 0", "head 11"]


@pytest.mark.slow
def test_resizing_shows_both_spectra_and_where_the_old_one_ends() -> None:
    portrait = look("line resized")
    axes = panel(compose_portrait(portrait), "Resized 64 to 96")
    assert {text.get_text() for text in axes.texts} == {"before, 64", "after, 96"}
    assert axes.lines[-1].get_xdata()[0] == pytest.approx(math.pi * 64 / 96)
    assert {len(line.get_xdata()) for line in axes.lines[:2]} == {33, 49}


def test_title_says_what_was_found_first_and_the_rest_stands_below() -> None:
    portrait = look("planted")
    first, *rest = portrait.inspection.findings
    text = read_words(compose_portrait(portrait))
    assert f"model.safetensors::wpe 512 x 128. {first.message}" in text
    for finding in rest:
        assert finding.message in text


@pytest.mark.slow
def test_small_print_explains_marks_and_says_why_there_is_no_spectrum() -> None:
    text = read_words(compose_portrait(look("tail")))
    assert "periods and components: rows 0 to 199 only, the others are shaded" in text
    assert "rings:" not in text
    assert "rings: rows and steps" in read_words(compose_portrait(look("planted")))
    zeros = look("zeros")
    assert zeros.notes
    assert zeros.notes[0] in read_words(compose_portrait(zeros))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_portrait_has_the_same_bytes_twice(suffix: str) -> None:
    portrait = look("grid, rectangular")
    assert render(compose_portrait(portrait), suffix) == render(compose_portrait(portrait), suffix)
