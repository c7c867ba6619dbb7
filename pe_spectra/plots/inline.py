"""A figure as an element of a page: its text is text, its names are its own, and the numbers drawn stand beside it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pe_spectra.exact import F64
from pe_spectra.plots.axes import has_powers_of_ten
from pe_spectra.plots.choices import FigureOptions, draw_with
from pe_spectra.plots.style import fixed_style
from pe_spectra.records import dataclass

#: Points of a curve whose numbers stand beside the figure.
_MOST = 200
#: A share of the figure by which rounding may put a point beyond its panel.
_EDGE = 1e-6
#: Dots per inch of SVG as Matplotlib writes it.
_DOTS = 72
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
    values : of each panel with curves the words on its axes, and its curves: name, and points, each its place on the
        figure (x, y) and its numbers (across, up).
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
            {"name": _name(line), "points": _list_points(figure, axes, line)}
            for line in axes.get_lines()
            if line.get_visible() and line.get_transform() == axes.transData
        ]
        lines = [line for line in lines if line["points"]]
        if lines:
            yield {"across": _label(axes, "x"), "up": _label(axes, "y"), "lines": lines}


def _name(line: Line2D) -> str:
    label = str(line.get_label())
    return "" if label.startswith("_") else _write_plain(label)


def _list_points(figure: Figure, axes: Axes, line: Line2D) -> list[list[float]]:
    """The finite points of a curve within its panel, at most so many of them, evenly spread."""
    data: F64 = np.asarray(line.get_xydata(), dtype=np.float64).reshape(-1, 2)
    data = data[np.isfinite(data).all(axis=1)]
    if not data.size:
        return []
    places: F64 = figure.transFigure.inverted().transform(axes.transData.transform(data))
    box = axes.get_position()
    low, high = np.asarray(box.min) - _EDGE, np.asarray(box.max) + _EDGE
    inside = ((places >= low) & (places <= high)).all(axis=1)
    kept = np.flatnonzero(inside)
    kept = kept[np.unique(np.linspace(0, kept.size - 1, min(_MOST, kept.size)).astype(np.intp))] if kept.size else kept
    width, height = figure.get_size_inches() * _DOTS
    return [
        [
            round(float(x * width), 1),
            round(float((1 - y) * height), 1),
            _read_value(axes.xaxis, across),
            _read_value(axes.yaxis, up),
        ]
        for (x, y), (across, up) in zip(places[kept], data[kept], strict=True)
    ]


def _read_value(axis: Axis, value: float) -> float:
    """A number as the labels of its axis have it, with six digits."""
    return float(f"{10.0**value if has_powers_of_ten(axis) else value:.6g}")


def _label(axes: Axes, which: str) -> str:
    """The words on an axis; of one that shares its numbers with another panel those of that."""
    shared = axes.get_shared_x_axes() if which == "x" else axes.get_shared_y_axes()
    every = [axes, *shared.get_siblings(axes)]
    words = [one.get_xlabel() if which == "x" else one.get_ylabel() for one in every]
    return _write_plain(next(filter(None, words), ""))


def _write_plain(text: str) -> str:
    """Write words without the marks of mathematics, and without the power of ten that ticks alone are written in."""
    return _MATHEMATICS.sub("", _POWER.sub("", text))
