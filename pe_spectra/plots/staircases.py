"""The figure of `pe-spectra precision`: the staircase of distinct codes, and phase errors, as positions grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pe_spectra.answers.roundings import count_places, entitle_precision, name_pipelines
from pe_spectra.exact import F64
from pe_spectra.plots.axes import Spot, draw_curve, head_panel, place_label
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import (
    COLUMN_WIDTH,
    GREY,
    PAGE_WIDTH,
    curve_style,
    escape_text,
    fixed_style,
)

if TYPE_CHECKING:
    from pe_spectra.precision import PrecisionReport, Staircase

#: Curves whose first collision is named in the panel.
_NAMED = 4
#: What the dotted line in the panel of phase errors is.
_HALF_TURN = "half a turn"


@dataclass(frozen=True, kw_only=True, eq=False)
class StairCurve:
    """Pipelines that fare alike, drawn as one curve.

    Attributes
    ----------
    name : what the key calls them.
    counts, distinct : (K,) numbers n of positions, and distinct vectors among the first n.
    errors : (K,) largest phase error among them in rad; None where there are no angles.
    collision : the first two positions that share a code.
    """

    name: str
    counts: F64
    distinct: F64
    errors: F64 | None
    collision: tuple[int, int] | None


def plot_staircase(axes: Axes, curves: Sequence[StairCurve], domain: str = "positions") -> None:
    """Draw how many codes are distinct among the first n positions, and where the first two share one.

    >>> from matplotlib.figure import Figure
    >>> import numpy as np
    >>> counts, distinct = np.array([1.0, 256.0, 512.0]), np.array([1.0, 256.0, 384.0])
    >>> curve = StairCurve(name="bf16", counts=counts, distinct=distinct, errors=None, collision=(256, 257))
    >>> axes = Figure().subplots()
    >>> plot_staircase(axes, [curve])
    >>> axes.get_ylabel()
    'distinct vectors among the first n positions'
    """
    total = _prepare(axes, curves, domain)
    axes.set_ylabel(f"distinct vectors among the first n {domain}")
    axes.set_ylim(0.8, max(2.0, total * 1.6))
    for number, curve in enumerate(curves):
        draw_curve(axes, curve.counts, curve.distinct, curve_style(number))
    named: set[tuple[int, int]] = set()
    for number, curve in enumerate(curves):
        if curve.collision is not None and curve.collision not in named and len(named) < _NAMED:
            _name_collision(axes, curve, curve.collision, curve_style(number)["color"])
            named.add(curve.collision)


def plot_phase_errors(axes: Axes, curves: Sequence[StairCurve], domain: str = "positions") -> None:
    """Draw the largest phase error among the first n positions.

    >>> from matplotlib.figure import Figure
    >>> import numpy as np
    >>> counts, errors = np.array([1.0, 256.0, 512.0]), np.array([1e-9, 1e-9, 1.0])
    >>> curve = StairCurve(name="bf16", counts=counts, distinct=counts, errors=errors, collision=(256, 257))
    >>> axes = Figure().subplots()
    >>> plot_phase_errors(axes, [curve])
    >>> axes.get_ylabel()
    'largest phase error (rad)'
    """
    _prepare(axes, curves, domain)
    axes.set_ylabel("largest phase error (rad)")
    drawn = [
        (curve, curve_style(number), np.where(_are_phases(curve.errors) & (curve.errors > 0), curve.errors, np.nan))
        for number, curve in enumerate(curves)
        if curve.errors is not None
    ]
    seen = np.concatenate([np.array([0.1, math.pi]), *(errors[np.isfinite(errors)] for _, _, errors in drawn)])
    axes.set_ylim(float(seen.min()) / 2, float(seen.max()) * 3)
    axes.axhline(math.pi, color=GREY, linewidth=0.6, linestyle=(0, (1, 2)))
    for curve, style, errors in drawn:
        draw_curve(axes, curve.counts, errors, style)
    rooms = np.geomspace(1.0, axes.get_xlim()[1], 20)
    places = [Spot(x=float(x), y=math.pi, side=side) for side in ("above right", "below right") for x in rooms]
    place_label(axes, _HALF_TURN, places, colour=GREY)


@fixed_style()
def compose_stairs(
    curves: Sequence[StairCurve], *, title: str, small_print: tuple[str, ...], domain: str = "positions"
) -> Figure:
    """Draw distinct codes and, where there are angles, phase errors against the number of positions."""
    figure = _compose(curves, title, small_print, domain)
    if any(curve.errors is not None for curve in curves) and not figure.axes[1].texts:
        figure = _compose(curves, title, (*small_print, f"Dotted line: {_HALF_TURN}, π rad."), domain)
    return figure


def _compose(curves: Sequence[StairCurve], title: str, small_print: tuple[str, ...], domain: str) -> Figure:
    has_angles = any(curve.errors is not None for curve in curves)
    layout = Layout(
        title=title,
        heights=(2.2,),
        key=tuple((escape_text(curve.name, longest=200), curve_style(number)) for number, curve in enumerate(curves)),
        small_print=small_print,
        width=PAGE_WIDTH if has_angles else COLUMN_WIDTH,
        columns=2 if has_angles else 1,
        top=0.30,
    )
    figure, panels = lay_out(layout)
    plot_staircase(panels[0], curves, domain)
    head_panel(panels[0], "distinct position vectors")
    if has_angles:
        plot_phase_errors(panels[1], curves, domain)
        head_panel(panels[1], "phase error")
    return figure


def compose_precision(report: PrecisionReport) -> Figure:
    """Draw the figure of `pe-spectra precision`."""
    return compose_stairs(
        _list_curves(report), title=entitle_precision(report), small_print=_describe(report), domain=report.domain
    )


def _list_curves(report: PrecisionReport) -> list[StairCurve]:
    """Return the curves of a report, pipelines whose curves are the same together, in the order of the report."""
    groups: dict[tuple[bytes, bytes], list[Staircase]] = {}
    for stair in report.stairs:
        errors = b"" if stair.errors is None else stair.errors.tobytes()
        groups.setdefault((stair.distinct.tobytes(), errors), []).append(stair)
    collisions = {(row.dtype, row.recipe): row.first_collision for row in report.codes}
    return [
        StairCurve(
            name=name_pipelines(members, len(report.dtypes)),
            counts=members[0].counts.astype(float),
            distinct=members[0].distinct.astype(float),
            errors=members[0].errors,
            collision=collisions[members[0].dtype, members[0].recipe],
        )
        for members in groups.values()
    ]


def _are_phases(errors: F64) -> NDArray[np.bool_]:
    """Which errors are numbers; an infinite one may come as the largest double."""
    return np.abs(errors) < np.finfo(np.float64).max


def _prepare(axes: Axes, curves: Sequence[StairCurve], domain: str) -> float:
    """Give both axes logarithms; return how many positions there are."""
    total = max(float(curve.counts[-1]) for curve in curves)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(0.9, max(2.0, total * 1.15))
    axes.set_xlabel(f"number n of {domain}")
    return total


def _name_collision(axes: Axes, curve: StairCurve, collision: tuple[int, int], colour: str) -> None:
    """Mark where a curve leaves the diagonal, and name the first collision there."""
    # the first count from which on codes are fewer than positions
    place = int(np.argmax(curve.distinct < curve.counts))
    x, y = float(curve.counts[place]), float(curve.distinct[place])
    axes.plot([x], [y], marker="o", markersize=4, markerfacecolor="none", color=colour, linestyle="none")
    sides = ("below right", "right", "below", "above left", "left")
    places = [Spot(x=x * factor, y=y, side=side) for factor in (1.0, 1.3) for side in sides]
    place_label(axes, "{} = {}".format(*collision), places, colour=colour)


def _describe(report: PrecisionReport) -> tuple[str, ...]:
    parts = [f"{escape_text(report.encoding.label)}, {count_places(report)}."]
    if any(row.first_collision is not None for row in report.codes):
        parts.append(f"Circles: where the first two {report.domain} share a vector.")
    unbounded = any(stair.errors is not None and not _are_phases(stair.errors).all() for stair in report.stairs)
    text = " ".join(parts)
    return (text, "A curve of errors ends where a phase is no finite number.") if unbounded else (text,)
