"""The figure of `pe-spectra precision`: the staircase of distinct vectors, and phase errors, as positions grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.answers.roundings import answer_precision
from pe_spectra.exact import F64, NDArray
from pe_spectra.plots.axes import beside, draw_curve, find_range, head_panel, place_label
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import COLUMN_WIDTH, GREY, PAGE_WIDTH, LineStyle, curve_style, escape_text, fixed_style
from pe_spectra.records import NamedTuple
from pe_spectra.vocabulary import RECIPE_TITLES

if TYPE_CHECKING:
    from pe_spectra.precision.rounding_report import PrecisionReport, Staircase

#: Curves whose first collision is named in the panel.
_NAMED = 4
#: What the dotted line in the panel of phase errors is.
_HALF_TURN = "half a turn"


class _Stairs(NamedTuple):
    """A staircase that stands for all pipelines that fare as its own, and the first two positions that share a code."""

    name: str
    stair: Staircase
    style: LineStyle
    collision: tuple[int, int] | None


@fixed_style()
def compose_precision(report: PrecisionReport) -> Figure:
    """Draw distinct vectors and, where there are angles, phase errors against the number of positions.

    The line at half a turn is explained below where there is no room for its name.
    """
    figure = _compose(report, _describe(report))
    if len(figure.axes) > 1 and not figure.axes[1].texts:
        figure = _compose(report, (*_describe(report), f"Dotted line: {_HALF_TURN}, π rad."))
    return figure


def _compose(report: PrecisionReport, small_print: tuple[str, ...]) -> Figure:
    curves = _list_curves(report)
    has_angles = any(curve.stair.errors is not None for curve in curves)
    layout = Layout(
        title=answer_precision(report).title,
        heights=(2.2,),
        key=tuple((escape_text(curve.name, longest=200), curve.style) for curve in curves),
        small_print=small_print,
        width=PAGE_WIDTH if has_angles else COLUMN_WIDTH,
        columns=2 if has_angles else 1,
        top=0.30,
    )
    figure, panels = lay_out(layout)
    draw_distinct(panels[0], report)
    if has_angles:
        _draw_phase_errors(panels[1], report, curves)
    return figure


def draw_distinct(axes: Axes, report: PrecisionReport) -> None:
    """Draw how many vectors are distinct among the first n positions, and where the first two share one."""
    curves, total = _list_curves(report), float(report.stairs[0].counts[-1])
    _count_across(axes, report, "distinct position vectors")
    axes.set(ylim=(0.8, max(2.0, total * 1.6)), ylabel=f"distinct vectors among the first n {report.domain}")
    for name, stair, style, _ in curves:
        draw_curve(axes, stair.counts.astype(float), stair.distinct.astype(float), style, label=escape_text(name))
    named: set[tuple[int, int]] = set()
    for _, stair, style, collision in curves:
        if collision is not None and collision not in named and len(named) < _NAMED:
            place = int(np.argmax(stair.distinct < stair.counts))  # from here on codes are fewer than positions
            x, y = float(stair.counts[place]), float(stair.distinct[place])
            axes.plot(x, y, "o", color=style["color"], markersize=4, markerfacecolor="none")
            sides = ("below right", "right", "below", "above left", "left")
            places = [*beside(x, y, sides), *beside(1.3 * x, y, sides)]
            place_label(axes, " = ".join(map(report.name_position, collision)), places, colour=style["color"])
            named.add(collision)


def _count_across(axes: Axes, report: PrecisionReport, heading: str) -> None:
    """Let numbers of positions run across a panel."""
    total = max(2.0, float(report.stairs[0].counts[-1]))
    axes.set(xscale="log", yscale="log", xlim=(0.9, total * 1.15), xlabel=f"number n of {report.domain}")
    head_panel(axes, heading)


def _draw_phase_errors(axes: Axes, report: PrecisionReport, curves: Sequence[_Stairs]) -> None:
    """Draw the largest phase error among the first n positions."""
    _count_across(axes, report, "phase error")
    drawn = [
        (stair, style, np.where(_are_phases(stair.errors) & (stair.errors > 0), stair.errors, np.nan))
        for _, stair, style, _ in curves
        if stair.errors is not None
    ]
    low, high = find_range(np.array([0.1, math.pi]), *(errors for _, _, errors in drawn))
    axes.set(ylim=(low / 2, high * 3), ylabel="largest phase error (rad)")
    axes.axhline(math.pi, color=GREY, linewidth=0.6, linestyle=(0, (1, 2)))
    for stair, style, errors in drawn:
        draw_curve(axes, stair.counts.astype(float), errors, style)
    rooms = np.geomspace(1.0, axes.get_xlim()[1], 20)
    places = beside(rooms, np.full(20, math.pi), ("above right", "below right"))
    place_label(axes, _HALF_TURN, places, colour=GREY)


def _list_curves(report: PrecisionReport) -> list[_Stairs]:
    """Return the curves of a report, pipelines whose curves are the same together, in the order of the report."""
    groups: dict[tuple[bytes, bytes], list[Staircase]] = {}
    for stair in report.stairs:
        errors = b"" if stair.errors is None else stair.errors.tobytes()
        groups.setdefault((stair.distinct.tobytes(), errors), []).append(stair)
    collisions = {(row.dtype, row.recipe, row.stage): row.first_collision for row in report.rows}
    return [
        _Stairs(
            _name_pipelines(members, len(report.dtypes)),
            members[0],
            curve_style(number),
            collisions[members[0].dtype, members[0].recipe, members[0].stage],
        )
        for number, members in enumerate(groups.values())
    ]


def _are_phases(errors: F64) -> NDArray[np.bool_]:
    """Which errors are numbers; an infinite one may come as the largest double."""
    return np.abs(errors) < np.finfo(np.float64).max


def _describe(report: PrecisionReport) -> tuple[str, ...]:
    parts = [f"{escape_text(report.encoding.label)}, {report.count_places()}."]
    if any(row.first_collision is not None for row in report.ends):
        parts.append(f"Circles: where the first two {report.domain} share a vector.")
    unbounded = any(stair.errors is not None and not _are_phases(stair.errors).all() for stair in report.stairs)
    text = " ".join(parts)
    return (text, "A curve of errors ends where a phase is no finite number.") if unbounded else (text,)


def _name_pipelines(stairs: Sequence[Staircase], types: int) -> str:
    """Name pipelines that fare alike, recipes of the same of so many types together, with these types beside them."""
    found: dict[str, list[str]] = {}
    for stair in stairs:
        title = RECIPE_TITLES.get(stair.recipe, stair.recipe) + (", sum" if stair.stage == "sum" else "")
        found.setdefault(title, []).append(stair.dtype)
    together: dict[tuple[str, ...], list[str]] = {}
    for recipe, names in found.items():
        together.setdefault(tuple(names), []).append(recipe)
    return "; ".join(
        f"{', '.join(recipes)}: {'every type' if 1 < len(names) == types else ', '.join(names)}"
        for names, recipes in together.items()
    )
