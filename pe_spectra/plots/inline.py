"""A figure as an element of a page: its text is text, its names are its own, and the numbers drawn stand beside it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D

from pe_spectra.exact import F64, NDArray
from pe_spectra.plots.axes import has_powers_of_ten, read_name
from pe_spectra.plots.choices import FigureOptions, draw_with
from pe_spectra.plots.heatmap import Logarithms
from pe_spectra.plots.style import fixed_style
from pe_spectra.records import dataclass

#: Points of a curve whose numbers stand beside the figure, and rows and columns of a map.
_MOST, _MOST_CELLS = 200, 100
#: A share of the figure by which rounding may put a point beyond its panel.
_EDGE = 1e-6
#: Dots per inch of SVG as Matplotlib writes it.
_DOTS = 72
#: What is told point by point.
_Mark = Line2D | PathCollection | LineCollection | PolyCollection
_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
#: A power of ten that ticks are written in, behind a label; mathematics within one.
_POWER, _MATHEMATICS = re.compile(r", \$10\^\{-?\d+\}\$$"), re.compile(r"\$|[{}]|\\")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")


@dataclass(frozen=True, kw_only=True, eq=False)
class InlineFigure:
    """A figure to stand within HTML.

    Attributes
    ----------
    svg : an <svg> element with a title and a description.
    values : of each panel the words on its axes, and what is drawn there. lines : curves, dots, strokes and bands, with
        their name, and points, each its place on the figure (x, y) and its numbers (across, up). maps : what colours
        mean, places and numbers of columns (x, across) and rows (y, up), and rows of values.
    """

    svg: str
    values: tuple[dict[str, Any], ...]


def draw_inline(draw: Callable[[], Figure], title: str, prefix: str) -> InlineFigure:
    """Draw a figure to stand within HTML.

    Parameters
    ----------
    draw : what makes it. title : what it shows, for whoever does not see it.
    prefix : begins the names of its parts, so that they are unique on a page of several figures.

    >>> def draw():
    ...     figure = Figure(figsize=(2, 1))
    ...     _ = figure.subplots().plot([0.0, 1.0], [3.0, 4.0], label="a < b")
    ...     return figure
    >>> found = draw_inline(draw, "<b>", "one-")
    >>> found.svg[:18], "&lt;b&gt;" in found.svg, found.values[0]["lines"][0]["points"][1][2:]
    ('<svg viewBox="0 0 ', True, [1.0, 4.0])
    """
    stream = io.BytesIO()
    with np.errstate(over="ignore", invalid="ignore"), draw_with(FigureOptions(title=False)), fixed_style():
        import matplotlib

        figure = draw()
        with matplotlib.rc_context({"svg.fonttype": "none"}):
            figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
        values = tuple(_list_values(figure))
    return InlineFigure(svg=_adopt(stream.getvalue(), title, _describe(figure), prefix), values=values)


def _adopt(data: bytes, title: str, description: str, prefix: str) -> str:
    """Make an SVG file an element: names of its own, a title, and no style that would reach beyond it."""
    # it was written a moment ago, by the drawing library
    root = ElementTree.fromstring(data)
    for parent in root.iter():
        for child in list(parent):
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        for name, value in list(element.attrib.items()):
            if name == "id":
                element.set(name, f"{prefix}{value}")
            elif name == _XLINK:
                del element.attrib[name]
                element.set("href", f"#{prefix}{value[1:]}" if value.startswith("#") else value)
            elif "url(#" in value:
                element.set(name, _REFERENCE.sub(rf"url(#{prefix}\1)", value))
    view = root.get("viewBox", "")
    words = (("title", title), ("desc", description))
    root.attrib.clear()
    root.attrib.update(
        {"viewBox": view, "role": "img", "aria-labelledby": " ".join(f"{prefix}{name}" for name, _ in words)}
    )
    for place, (name, text) in enumerate(words):
        element = ElementTree.Element(name, {"id": f"{prefix}{name}"})
        element.text = text
        root.insert(place, element)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def _describe(figure: Figure) -> str:
    """Say what each panel has on its axes, and which curves it names."""
    said = []
    for axes in figure.axes:
        words = [axes.get_title(loc="left"), *(_label(axes, name) for name in ("x", "y"))]
        named = [line.get_label() for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
        texts = [text.get_text() for text in axes.texts]
        parts = [_write_plain(str(word)) for word in (*words, *named, *texts) if word]
        said += ["; ".join(parts)] if parts else []
    return ". ".join(said)


def _list_values(figure: Figure) -> Iterator[dict[str, Any]]:
    for axes in figure.axes:
        lines = [
            {"name": _name(mark), "points": _list_points(figure, axes, _trace(mark))} for mark in _list_marks(axes)
        ]
        lines = [line for line in lines if line["points"]]
        maps = [_list_cells(figure, axes, image) for image in axes.get_images()]
        if lines or maps:
            yield {"across": _label(axes, "x"), "up": _label(axes, "y"), "lines": lines, "maps": maps}


def _list_marks(axes: Axes) -> Iterator[_Mark]:
    """The marks that stand at numbers of both axes; a line across the whole panel does not."""
    for mark in (*axes.get_lines(), *axes.collections):
        if mark.get_visible() and isinstance(mark, _Mark):
            where = mark.get_offset_transform() if isinstance(mark, PathCollection) else mark.get_transform()
            if where == axes.transData:
                yield mark


def _trace(mark: _Mark) -> F64:
    """The numbers of a mark, (N, 2): points of a curve, middles of dots, ends of strokes, edges of bands."""
    if isinstance(mark, Line2D):
        return np.asarray(mark.get_xydata(), dtype=np.float64).reshape(-1, 2)
    if isinstance(mark, PathCollection):
        return np.ma.filled(np.ma.asarray(mark.get_offsets(), dtype=np.float64), np.nan)
    return np.concatenate([np.empty((0, 2)), *(np.asarray(path.vertices) for path in mark.get_paths())])


def _name(mark: Artist) -> str:
    label = str(mark.get_label())
    if label.startswith("_"):
        return "edge of the band" if isinstance(mark, PolyCollection) else ""
    return _write_plain(label)


def _list_points(figure: Figure, axes: Axes, data: F64) -> list[list[float | str]]:
    """The finite points of a mark within its panel, at most so many of them, evenly spread."""
    data = data[np.isfinite(data).all(axis=1)]
    if not data.size:
        return []
    places = _find_places(figure, axes, data)
    box = axes.get_position()
    low, high = np.asarray(box.min) - _EDGE, np.asarray(box.max) + _EDGE
    inside = ((places >= low) & (places <= high)).all(axis=1)
    kept = np.flatnonzero(inside)
    kept = kept[_spread(kept.size, _MOST)] if kept.size else kept
    return [
        [*_write_place(figure, place), _read_value(axes.xaxis, across), _read_value(axes.yaxis, up)]
        for place, (across, up) in zip(places[kept], data[kept], strict=True)
    ]


def _find_places(figure: Figure, axes: Axes, data: F64) -> F64:
    """Where numbers lie on the figure, as shares of it, from its lower left."""
    found: F64 = figure.transFigure.inverted().transform(axes.transData.transform(data))
    return found


def _write_place(figure: Figure, place: F64) -> tuple[float, float]:
    """A place as SVG has it, from the upper left."""
    width, height = figure.get_size_inches() * _DOTS
    return round(float(place[0] * width), 1), round(float((1 - place[1]) * height), 1)


def _spread(size: int, most: int) -> NDArray[np.intp]:
    """At most so many places in a row, evenly spread, the first and the last among them."""
    return np.unique(np.linspace(0, size - 1, min(most, size)).astype(np.intp))


def _list_cells(figure: Figure, axes: Axes, image: AxesImage) -> dict[str, Any]:
    """The cells of a map, at most so many rows and columns of them, evenly spread, and what their colours mean."""
    drawn: F64 = np.ma.filled(np.ma.asarray(image.get_array(), dtype=np.float64), np.nan)
    left, right, bottom, top = image.get_extent()
    across, up = (
        low + (np.arange(size) + 0.5) * (high - low) / size
        for low, high, size in ((left, right, drawn.shape[1]), (bottom, top, drawn.shape[0]))
    )
    columns, rows = (_spread(size, _MOST_CELLS) for size in drawn.shape[::-1])
    corner = np.array([left, bottom])
    x = _find_places(figure, axes, np.column_stack([across[columns], np.full(columns.size, corner[1])]))
    y = _find_places(figure, axes, np.column_stack([np.full(rows.size, corner[0]), up[rows]]))
    return {
        "colour": _name(image),
        "x": [_write_place(figure, place)[0] for place in x],
        "y": [_write_place(figure, place)[1] for place in y],
        "across": [_read_value(axes.xaxis, one) for one in across[columns]],
        "up": [_read_value(axes.yaxis, one) for one in up[rows]],
        "values": [[_read_cell(image, one) for one in row] for row in drawn[np.ix_(rows, columns)]],
    }


def _read_cell(image: AxesImage, value: float) -> float | str | None:
    """The value of a cell with four digits; the lowest colour of logarithms is that of all below it, too."""
    if not np.isfinite(value):
        return None
    if not isinstance(image.norm, Logarithms):
        return float(f"{value:.4g}")
    text = f"{10.0**value:.4g}"
    return f"≤ {text}" if value <= image.get_clim()[0] else float(text)


def _read_value(axis: Axis, value: float) -> float | str:
    """A number as the labels of its axis have it, with six digits; of an axis of names the nearest of them."""
    name = read_name(axis, value)
    return _write_plain(name) if name is not None else float(f"{10.0**value if has_powers_of_ten(axis) else value:.6g}")


def _label(axes: Axes, which: str) -> str:
    """The words on an axis; of one that shares its numbers with another panel those of that."""
    shared = axes.get_shared_x_axes() if which == "x" else axes.get_shared_y_axes()
    every = [axes, *shared.get_siblings(axes)]
    words = [one.get_xlabel() if which == "x" else one.get_ylabel() for one in every]
    return _write_plain(next(filter(None, words), ""))


def _write_plain(text: str) -> str:
    """Write words without the marks of mathematics, and without the power of ten that ticks alone are written in."""
    return _MATHEMATICS.sub("", _POWER.sub("", text))
