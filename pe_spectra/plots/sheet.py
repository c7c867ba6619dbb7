"""A figure as a whole: title, key, panels, small print from top to bottom, in inches, and the bytes of its file.

Every rectangle is computed from the text that it holds, so nothing is cut, and the size of a figure
does not depend on how it is saved.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pe_spectra.errors import InputError
from pe_spectra.plots.choices import FigureOptions, find_options
from pe_spectra.plots.style import (
    BLACK,
    COLUMN_WIDTH,
    GREY,
    SMALL_SIZE,
    TICK_SIZE,
    TITLE_SIZE,
    LineStyle,
    balance_text,
    fixed_style,
    line_pitch,
    shorten_text,
    wrap_text,
)
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import FIGURE_SUFFIXES

#: Inches of white right of a panel that has neither a colour bar nor words there.
RIGHT = 0.14
#: Inches of white around everything.
MARGIN = 0.08
#: Inches of line in front of a name in the key, and of white behind that line.
_KEY_LINE, _KEY_GAP = 0.34, 0.07
#: Inches of the narrowest panel, and of the lowest, where a size is asked for.
_LEAST_WIDTH, _LEAST_HEIGHT = 0.6, 0.2
#: Inches from the left end of a panel's share of the sheet to the right side of its axis label.
_AXIS_LABEL = 0.20
#: Dates, program names and versions, which would make the bytes of each run its own.
_METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What stands on a sheet besides the panels, and how large they are; all lengths in inches.

    Parameters
    ----------
    title : the message; wrapped to the width.
    heights : height of each row of panels, from the top.
    small_print : paragraphs below everything; wrapped.
    key : what is named above the panels: (name, line style) each.
    left, right : white on both sides of a panel: tick labels, axis label.
    top : white between the key and the first row.
    gap : white between one row and the next; where it is not always the same, `gaps`, one for each row but the last.
    bottom : white below the last row: tick labels, axis label.
    columns : panels side by side.
    cells : panels in all, where the last row is not full.
    """

    title: str
    heights: tuple[float, ...]
    small_print: tuple[str, ...] = ()
    key: tuple[tuple[str, LineStyle], ...] = ()
    left: float = 0.68
    right: float = RIGHT
    top: float = 0.10
    gap: float = 0.24
    gaps: tuple[float, ...] = ()
    bottom: float = 0.46
    width: float = COLUMN_WIDTH
    columns: int = 1
    cells: int | None = None

    @property
    def panel_width(self) -> float:
        """Width of a panel in inches."""
        return self.width / self.columns - self.left - self.right


def lay_out(layout: Layout) -> tuple[Figure, tuple[Axes, ...]]:
    """Return the figure with its words, and its empty panels row by row.

    Raises
    ------
    InputError : a size was asked for that leaves no room for the panels.
    """
    options = find_options()
    layout = _choose(layout, options)
    inner = layout.width - 2 * MARGIN
    title = balance_text(layout.title, TITLE_SIZE, inner)
    small = [line for part in layout.small_print for line in wrap_text(part, SMALL_SIZE, inner)]
    title_height = len(title) * line_pitch(TITLE_SIZE)
    key_height = len(layout.key) * line_pitch(TICK_SIZE)
    small_height = len(small) * line_pitch(SMALL_SIZE)
    head = MARGIN + title_height + key_height + layout.top
    rows = sum(layout.heights) + sum(layout.gaps)
    height = head + rows + layout.bottom + small_height + MARGIN
    if options.height is not None:
        panels = sum(layout.heights)
        layout = _stretch(layout, 1 + (options.height - height) / panels, options.height)
        height = options.height
    figure = Figure(figsize=(layout.width, height))
    write_lines(figure, title, height - MARGIN, TITLE_SIZE, BLACK)
    draw_key(figure, layout.key, 0.0, height - MARGIN - title_height, layout.width)
    write_lines(figure, small, MARGIN + small_height, SMALL_SIZE, GREY)
    return figure, _add_panels(figure, layout, height - head)


def widen_panel(axes: Axes, inches: float) -> None:
    """Use more of the white right of a panel, or less; its upward label stays where it is."""
    box, more = axes.get_position(), inches / axes.figure.bbox.width * axes.figure.dpi
    label = axes.yaxis.label.get_position()[0] * box.width / (box.width + more)
    axes.set_position((box.x0, box.y0, box.width + more, box.height))
    axes.yaxis.set_label_coords(label, 0.5)


def share_limits(panels: Sequence[Axes]) -> None:
    """Give panels one axis upwards, which holds what each of them shows."""
    low, high = min(axes.get_ylim()[0] for axes in panels), max(axes.get_ylim()[1] for axes in panels)
    for axes in panels:
        axes.set_ylim(low, high)


def _choose(layout: Layout, options: FigureOptions) -> Layout:
    """The layout with the words and the width that were asked for."""
    chosen = replace(
        layout,
        title=layout.title if options.title else "",
        small_print=layout.small_print if options.caption else (),
        width=layout.width if options.width is None else options.width,
        gaps=layout.gaps or (layout.gap,) * (len(layout.heights) - 1),
    )
    if chosen.panel_width < _LEAST_WIDTH:
        least = layout.columns * (layout.left + layout.right + _LEAST_WIDTH)
        raise InputError("--width leaves no room for the panels", f"{chosen.width:g}", f"{least:.2g} and more")
    return chosen


def _stretch(layout: Layout, factor: float, height: float) -> Layout:
    """The layout with panels so many times as high."""
    heights = tuple(factor * one for one in layout.heights)
    least = sum(max(0.0, _LEAST_HEIGHT * one / min(layout.heights) - factor * one) for one in layout.heights)
    if least > 0:
        raise InputError("--height leaves no room for the panels", f"{height:g}", f"{height + least:.2g} and more")
    return replace(layout, heights=heights)


def write_lines(figure: Figure, lines: Sequence[str], top: float, size: float, colour: str) -> None:
    """Write lines downwards from `top` inches, along the left margin."""
    width, height = figure.get_size_inches()
    for number, line in enumerate(lines):
        middle = top - (number + 0.5) * line_pitch(size)
        place = (MARGIN / width, middle / height)
        figure.text(*place, line, fontsize=size, color=colour, va="center_baseline")


def draw_key(figure: Figure, key: Sequence[tuple[str, LineStyle]], left: float, top: float, right: float) -> None:
    """Name curves between `left` and `right`, from `top` down, in inches, each behind a piece of its line.

    >>> figure = Figure(figsize=(3, 2))
    >>> draw_key(figure, [("measured", {"color": BLACK, "linestyle": "-"})], 0.0, 2.0, 3.0)
    >>> [text.get_text() for text in figure.texts]
    ['measured']
    """
    width, height = figure.get_size_inches()
    start, text_left = left + MARGIN, left + MARGIN + _KEY_LINE + _KEY_GAP
    for number, (name, style) in enumerate(key):
        middle = (top - (number + 0.5) * line_pitch(TICK_SIZE)) / height
        ends = [start / width, (start + _KEY_LINE) / width]
        line = Line2D(ends, [middle, middle], transform=figure.transFigure)
        line.set(**style)
        figure.add_artist(line)
        shown = shorten_text(name, TICK_SIZE, right - MARGIN - text_left)
        place = (text_left / width, middle)
        figure.text(*place, shown, fontsize=TICK_SIZE, va="center_baseline")


def _add_panels(figure: Figure, layout: Layout, top: float) -> tuple[Axes, ...]:
    width, height = figure.get_size_inches()
    pitch, panel = width / layout.columns, layout.panel_width
    panels: list[Axes] = []
    for row, gap in zip(layout.heights, (*layout.gaps, 0.0), strict=True):
        for column in range(layout.columns)[: None if layout.cells is None else layout.cells - len(panels)]:
            left = layout.left + column * pitch
            box = (left / width, (top - row) / height, panel / width, row / height)
            axes = figure.add_axes(box)
            axes.yaxis.set_label_coords((_AXIS_LABEL - layout.left) / panel, 0.5)
            panels.append(axes)
        top -= row + gap
    return tuple(panels)


def render(figure: Figure, suffix: str) -> bytes:
    """Return `figure` as a file of the kind that `suffix` names (.png, .svg, .pdf, in any case).

    The bytes are the same from run to run in one environment. Raises InputError for any other suffix.

    >>> render(Figure(figsize=(1, 1)), ".PNG")[1:4]
    b'PNG'
    """
    kind = suffix.lower()
    if kind not in FIGURE_SUFFIXES:
        raise InputError("a figure cannot be written with this ending", suffix, ", ".join(FIGURE_SUFFIXES))
    stream = io.BytesIO()
    with fixed_style():
        figure.savefig(stream, format=kind[1:], dpi=find_options().dpi, metadata=_METADATA[kind])
    return stream.getvalue()
