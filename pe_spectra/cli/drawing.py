"""Curves in characters: people look before they read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from pe_spectra.answers.answer import Drawing
from pe_spectra.cli.text import escape

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_HEIGHT = 4


def draw(drawing: Drawing, width: int) -> list[str]:
    """Draw a curve as bars, `width` columns wide with its axis; a list of lines."""
    margin = 9
    columns = max(8, width - margin - 1)
    peaks = _resample(drawing.values, columns, min if drawing.smallest else max)
    top = max(0.0, *peaks) or 1.0
    lines = [escape(drawing.title)]
    for row in range(_HEIGHT - 1, -1, -1):
        cells = "".join(_EIGHTHS[_level(value / top, row)] for value in peaks)
        label = f"{top:8.3g} ┤" if row == _HEIGHT - 1 else " " * margin + "│"
        lines.append((label + cells).rstrip())
    axis, labels = ["─"] * columns, [" "] * (columns + margin)
    for place, text in drawing.ticks:
        at = round(place * (columns - 1))
        axis[at] = "┬"
        start = min(margin + at, columns + margin - len(text))
        if all(cell == " " for cell in labels[max(0, start - 1) : start + len(text)]):
            labels[start : start + len(text)] = text
    lines.append(f"{0:8.3g} ┼{''.join(axis)}")
    lines.append("".join(labels).rstrip())
    return lines


def _level(share: float, row: int) -> int:
    return max(0, min(8, round(share * _HEIGHT * 8 - row * 8)))


def _resample(values: Sequence[float], columns: int, choose: Callable[[Sequence[float]], float]) -> list[float]:
    count = len(values)
    if count >= columns:
        edges = [i * count // columns for i in range(columns + 1)]
        return [choose(values[a:b]) for a, b in itertools.pairwise(edges)]
    return [values[i * count // columns] for i in range(columns)]
