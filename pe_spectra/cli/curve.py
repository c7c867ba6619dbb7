"""A curve in characters: bars that stand on a line of zero or hang from it."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from pe_spectra.cli.terminal import escape, fold

if TYPE_CHECKING:
    from pe_spectra.answers.answer import Drawing

#: A cell by the eighths that are filled from its lower edge, and from its upper one, of which there are fewer.
_STANDING, _HANGING = " ▁▂▃▄▅▆▇█", " ▔▔▀▀▀███"
#: What only some of the values in a column reach.
_SOME = "░"
_LEGEND = f"   ({_SOME} range)"
#: Lines of the side of zero on which the curve reaches further.
_HEIGHT = 4
_WIDEST, _NARROWEST, _MARGIN = 100, 8, 9


def draw_curve(drawing: Drawing, width: int) -> list[str]:
    """Draw a curve as bars with its axis, as wide as the terminal, at most 100 columns; a list of lines.

    A column is full as far as all of its values reach, and shaded from there to the furthest.

    >>> from pe_spectra.answers.answer import Drawing
    >>> for line in draw_curve(Drawing(title="cos", values=[1.0, 0.5, -0.5, -1.0] * 2, ticks=((0.0, "0"),)), 18):
    ...     print(line)
    cos
           1 ┤█   █
             │█   █
             │██  ██
             │██  ██
           0 ┼┬───────
             │  ██  ██
             │  ██  ██
             │   █   █
          -1 ┤   █   █
             0
    """
    columns = max(_NARROWEST, min(width, _WIDEST) - _MARGIN - 1)
    edges = [i * len(drawing.values) // columns for i in range(columns + 1)]
    held = [drawing.values[a : max(b, a + 1)] for a, b in itertools.pairwise(edges)]
    # the lowest and the highest value in each column; the same twice where the smallest alone counts
    ranges = [(min(values), min(values) if drawing.smallest else max(values)) for values in held]
    top, bottom = max(0.0, *(high for _, high in ranges)), min(0.0, *(low for low, _ in ranges))
    line = max(top, -bottom) / _HEIGHT or 1.0
    # the lines in which something of a side is seen
    above, below = (math.ceil(round(reach / line * 8) / 8) for reach in (top, -bottom))
    rows = [_fill(ranges, line, row, _STANDING) for row in range(above - 1, -1, -1)]
    hanging = [(-high, -low) for low, high in ranges]
    rows += [_fill(hanging, line, row, _HANGING) for row in range(below)]
    starts = [" " * _MARGIN + "│"] * len(rows)
    for edge, value in ((0, above * line), (-1, -below * line)):  # what is at the outer edges of both sides
        if value:
            starts[edge] = f"{value:8.3g} ┤"
    lines = [f"{start}{row}".rstrip() for start, row in zip(starts, rows, strict=True)]
    axis, labels = ["─"] * columns, [" "] * (columns + _MARGIN)
    for place, text in drawing.ticks:  # labels that have room
        at = round(place * (columns - 1))
        axis[at] = "┬"
        start = min(_MARGIN + at, columns + _MARGIN - len(text))
        if all(cell == " " for cell in labels[max(0, start - 1) : start + len(text)]):
            labels[start : start + len(text)] = text
    lines.insert(above, f"{0:8.3g} ┼{''.join(axis)}")
    title = escape(drawing.title) + _LEGEND * any(_SOME in row for row in rows)
    return [*fold(title, width), *lines, "".join(labels).rstrip()]


def _fill(ranges: list[tuple[float, float]], line: float, row: int, blocks: str) -> str:
    """Write the cells of a line, `row` lines from zero, of ranges that are measured away from zero."""
    levels = ([max(0, min(8, round(reach / line * 8) - row * 8)) for reach in both] for both in ranges)
    return "".join(_SOME if most - least >= 4 else blocks[most] for least, most in levels)
