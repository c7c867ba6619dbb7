"""A figure within a page: words stay words, names are its own, and the numbers beside it are those drawn."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from pe_spectra.plots.axes import label_names, label_powers_of_ten
from pe_spectra.plots.heatmap import draw_map
from pe_spectra.plots.inline import draw_inline

X, Y = np.arange(5.0), np.array([1.0, 4.0, np.nan, 2.0, 3.0])
HOSTILE = 'a"id="b<script>url(#c)</script>-->&amp;'


def make_figure(**drawn):
    figure = Figure(figsize=(4, 3))
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.plot(X, Y, label="curve")
    upper.set_ylabel(drawn.get("up", "up"))
    upper.set_title(HOSTILE, loc="left")
    upper.axvline(2.0)
    lower.plot(X, X, label="_nameless")
    lower.plot([9.0], [1.0])
    lower.set_xlim(0, 4)
    lower.set_xlabel("across")
    lower.imshow(np.eye(3), extent=(0, 1, 0, 1), aspect="auto")
    return figure


def draw(**drawn):
    return draw_inline(lambda: make_figure(**drawn), HOSTILE, "one-")


def test_text_is_text_and_none_of_it_markup():
    root = ElementTree.fromstring(draw().svg)
    assert {"title", "desc", "text", "path"} <= {one.tag for one in root.iter()}
    assert not {"script", "style", "metadata"} & {one.tag for one in root.iter()}
    assert [one.text for one in root.iter("title")] == [HOSTILE]
    assert HOSTILE in ["".join(one.itertext()) for one in root.iter("text")]


def test_names_are_its_own_and_lead_somewhere():
    root = ElementTree.fromstring(draw().svg)
    names = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(names) == len({*names})
    assert all(name.startswith("one-") for name in names)
    led = [one.get("href")[1:] for one in root.iter() if (one.get("href") or "").startswith("#")]
    led += [
        name for one in root.iter() for value in one.attrib.values() for name in re.findall(r"url\(#(.*?)\)", value)
    ]
    led += root.get("aria-labelledby").split()
    assert {*led} <= {*names}
    assert len(led) > 8
    assert root.get("role") == "img"
    # a bitmap is within it, and nothing is asked of elsewhere
    others = [one.get("href") for one in root.iter() if one.get("href") and not one.get("href").startswith("#")]
    assert others
    assert all(one.startswith("data:image/png;base64,") for one in others)


def test_numbers_are_those_drawn_where_they_are_drawn():
    upper, lower = draw().values
    (curve,) = upper["lines"]  # the vertical line is no curve of data
    assert (upper["across"], upper["up"], curve["name"]) == ("across", "up", "curve")
    assert [point[2:] for point in curve["points"]] == [[x, y] for x, y in zip(X, Y, strict=True) if np.isfinite(y)]
    (nameless,) = lower["lines"]  # what lies beyond the panel is not seen
    assert nameless["name"] == ""
    for one in (upper, lower):
        for x, y, *_ in (point for line in one["lines"] for point in line["points"]):
            assert 0 <= x <= 288
            assert 0 <= y <= 216
    places = [point[:2] for point in curve["points"]]
    assert places == sorted(places)  # to the right
    assert min(places, key=lambda place: place[1]) == places[1]  # the largest is the highest


def test_places_are_those_of_the_drawing():
    """The path of the curve goes through the points."""
    root = ElementTree.fromstring(draw().svg)
    paths = [one.get("d") for one in root.iter("path") if one.get("clip-path") and one.get("d")]
    ends = [[round(float(number), 1) for number in re.findall(r"-?[0-9.]+", path)] for path in paths]
    wanted = draw().values[0]["lines"][0]["points"]
    assert any(path[:2] == wanted[0][:2] and path[-2:] == wanted[-1][:2] for path in ends), (ends[:3], wanted)


@pytest.mark.parametrize(
    ("label", "said"),
    [("weight $g$ (log scale)", "weight g (log scale)"), ("w, $10^{-3}$", "w"), ("w ($10^{-16}$)", "w (10^-16)")],
)
def test_words_of_axes_are_plain(label, said):
    assert draw(up=label).values[0]["up"] == said


def test_logarithms_are_told_as_their_labels_have_them():
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0.0, 3.0], [1.0, 2.0])
    label_powers_of_ten(axes.xaxis)
    points = draw_inline(lambda: figure, "t", "p").values[0]["lines"][0]["points"]
    assert [point[2:] for point in points] == [[1.0, 1.0], [1000.0, 2.0]]


def test_of_a_long_curve_some_points_are_told():
    figure = Figure()
    figure.subplots().plot(np.arange(10_000.0))
    points = draw_inline(lambda: figure, "t", "p").values[0]["lines"][0]["points"]
    assert len(points) == 200
    assert (points[0][2], points[-1][2]) == (0.0, 9999.0)


def make_axes():
    figure = Figure(figsize=(4, 3))
    return figure, figure.subplots()


def tell(figure):
    (panel,) = draw_inline(lambda: figure, "t", "p").values
    return panel


def test_dots_strokes_and_bands_are_told_by_their_numbers():
    figure, axes = make_axes()
    axes.scatter([1.0, 2.0, 3.0], [4.0, np.nan, 6.0], label="dots")
    axes.vlines([1.5, 2.5], 4.0, 5.0, label="mean")
    axes.fill_between([1.0, 2.0], [4.0, 4.5], [5.0, 6.0])
    found = {one["name"]: [tuple(point[2:]) for point in one["points"]] for one in tell(figure)["lines"]}
    assert found["dots"] == [(1.0, 4.0), (3.0, 6.0)]
    assert found["mean"] == [(1.5, 4.0), (1.5, 5.0), (2.5, 4.0), (2.5, 5.0)]
    assert {*found["edge of the band"]} == {(1.0, 4.0), (2.0, 4.5), (1.0, 5.0), (2.0, 6.0)}


def test_places_of_names_are_told_by_name():
    figure, axes = make_axes()
    axes.plot([0.5, 0.75], [0.2, 1.3], "o")
    label_names(axes.yaxis, ["dft", "learned"])
    assert [point[2:] for point in tell(figure)["lines"][0]["points"]] == [[0.5, "dft"], [0.75, "learned"]]


@pytest.mark.parametrize("downwards", [False, True])
def test_cells_of_a_map_are_told_where_they_are_drawn(downwards):
    figure, axes = make_axes()
    values = np.arange(6.0).reshape(2, 3) / 7
    values[1, 1] = np.nan
    draw_map(axes, values, extent=(-0.5, 2.5, 9.5, 11.5), label="weight $g$")
    if downwards:
        axes.invert_yaxis()
    (found,) = tell(figure)["maps"]
    assert (found["colour"], found["across"], found["up"]) == ("weight g", [0.0, 1.0, 2.0], [10.0, 11.0])
    assert found["values"] == [[0.0, 0.1429, 0.2857], [0.4286, None, 0.7143]]
    assert found["x"] == sorted(found["x"])
    assert (found["y"] == sorted(found["y"])) == downwards
    box = axes.get_position()
    assert found["x"][1] == pytest.approx(288 * (box.x0 + box.x1) / 2, abs=0.1)


def test_a_logarithmic_map_is_told_as_its_bar_has_it():
    figure, axes = make_axes()
    draw_map(axes, np.array([[1.0, 1e-3], [1e-9, 0.0]]), extent=(0, 2, 0, 2), label="w", logarithmic=True)
    assert tell(figure)["maps"][0]["values"] == [[1.0, 0.001], ["≤ 1e-06", "≤ 1e-06"]]


def test_of_a_large_map_some_rows_and_columns_are_told():
    figure, axes = make_axes()
    values = np.arange(150.0)[:, None] + np.zeros(20)
    draw_map(axes, values, extent=(0, 20, 0, 150), label="w")
    (found,) = tell(figure)["maps"]
    assert (len(found["across"]), len(found["up"]), found["up"][0], found["up"][-1]) == (20, 100, 0.5, 149.5)
    assert [row[0] for row in found["values"]] == [up - 0.5 for up in found["up"]]


def test_what_has_no_curves_has_no_numbers():
    figure = Figure()
    figure.subplots().plot([np.nan])
    assert draw_inline(lambda: figure, "t", "p").values == ()
