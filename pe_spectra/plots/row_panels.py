"""The panels about the rows of a table: norms and steps, periods of columns, principal components."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import NDArray

from pe_spectra.plots.axes import Spot, draw_curve, head_panel, label_integers, place_label
from pe_spectra.plots.heatmap import build_colours
from pe_spectra.plots.inspection_panels import THIN, set_rows, write_beside
from pe_spectra.plots.style import BLACK, BLUE, GREY, SMALL_SIZE, VERMILION

if TYPE_CHECKING:
    from pe_spectra.inspection import DominantPeriod, TableInspection
    from pe_spectra.inspection.channels import SinusoidFit

F64 = NDArray[np.float64]

#: Points of a curve in space, and labels of one kind, at most.
_MOST_DOTS, _MOST_LABELS = 4000, 6
_MARK: dict[str, Any] = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 5,
    "markerfacecolor": "none",
    "color": VERMILION,
}
#: A ladder is drawn that explains this share of a table.
_LADDER = 0.9
#: Lightness of the shade behind rows that are left out.
_SHADE = "#E4E4E4"
#: Rows further apart than this factor in norm stand on a logarithmic axis.
_LINEAR_SPAN = 1000.0
_AROUND = ("above right", "above left", "below right", "below left", "right", "left", "above", "below")


def mark_periods(axes: Axes, dominant: Sequence[DominantPeriod]) -> None:
    """Mark the frequencies 2 pi / period below a spectrum."""
    places = [2 * math.pi / one.period for one in dominant if one.along is None]
    if places:
        marks: dict[str, Any] = {"linestyle": "none", "marker": "|", "markersize": 7, "markeredgewidth": 0.8}
        axes.plot(places, [0.05] * len(places), transform=axes.get_xaxis_transform(), color=VERMILION, **marks)


def plot_periods(axes: Axes, inspection: TableInspection) -> None:
    """Draw the period of each column, the nearest ladder, and the periods that columns share.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra import Sinusoidal, inspect_table
    >>> axes = Figure().subplots()
    >>> plot_periods(axes, inspect_table(Sinusoidal(d=8).table(96)))
    >>> axes.get_xscale()
    'linear'
    """
    periods, fit = inspection.channels.periods, inspection.sinusoid
    columns = np.arange(periods.size, dtype=np.float64)
    rows = inspection.rows_used[1] - inspection.rows_used[0]
    axes.set_yscale("log")
    axes.set_ylim(1.6, 2.0 * max(rows, 4))
    axes.set_xlim(-0.5, max(0.5, periods.size - 0.5))
    shared = [one for one in inspection.dominant_periods if one.along is None][:_MOST_LABELS]
    for one in shared:
        axes.axhline(one.period, color=GREY, linewidth=0.5, zorder=0)
    dots = {"marker": "o", "markersize": 1.8 if columns.size > 64 else 3.5, "markeredgewidth": 0}
    draw_curve(axes, columns, periods, {"color": BLUE, "linestyle": "none"}, **dots)
    _draw_ladder(axes, columns, fit)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("column")
    axes.set_ylabel("period (positions)")
    label_integers(axes.xaxis)
    write_beside(axes, [(math.log10(one.period), _describe_period(one), GREY) for one in shared])
    head_panel(axes, "Period of each column")


def _draw_ladder(axes: Axes, columns: F64, fit: SinusoidFit) -> None:
    """Draw the nearest ladder where it explains most of the table, and name it."""
    if fit.share < _LADDER or columns.size < 2:
        return
    periods = compute_ladder_periods(fit, columns.size)
    drops = np.flatnonzero(np.diff(periods) < 0) + 1  # where it begins again, the line has a gap
    columns, periods = np.insert(columns, drops, np.nan), np.insert(periods, drops, np.nan)
    draw_curve(axes, columns, periods, {"color": VERMILION, "linestyle": (0, (3, 1.5))}, linewidth=0.9)
    base = f"{fit.rho:.0f}" if 100 <= fit.rho < 1e6 else f"{fit.rho:.3g}"
    low, high = axes.get_ylim()
    levels = np.geomspace(low, high, 24)[1:-2]
    places = [Spot(x=axes.get_xlim()[1], y=float(level), side="left") for level in levels]
    place_label(axes, f"ladder ρ = {base} ({_write_share(fit.share)})", places, colour=VERMILION)


def compute_ladder_periods(fit: SinusoidFit, width: int) -> F64:
    """Return the period 2 pi rho**(2 i/d) of each column of a ladder, (d,)."""
    columns = np.arange(width)
    half = max(1, width // 2)
    index = columns // 2 if fit.layout == "interleaved" else columns % half
    steps = max(1, half - 1) if fit.layout == "tensor2tensor" else width / 2
    periods: F64 = 2 * np.pi * fit.rho ** (index / steps)
    return periods


def plot_rows(
    axes: Axes, rows: F64, values: F64, *, label: str, used: tuple[int, int], marked: Sequence[float], noun: str
) -> None:
    """Draw a number for each row; rows that are left out are shaded, some are marked.

    Parameters
    ----------
    rows, values : (R,); rows ascending.
    used : rows from and before which nothing is left out.
    marked : some of `rows`.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> plot_rows(axes, np.arange(4.0), np.ones(4), label="norm", used=(0, 3), marked=(), noun="position")
    >>> axes.get_ylabel()
    'norm'
    """
    for start, stop in ((rows[0] - 0.5, used[0] - 0.5), (used[1] - 0.5, rows[-1] + 0.5)):
        if stop > start:
            axes.axvspan(start, stop, color=_SHADE, linewidth=0, zorder=0)
    inside = (rows >= used[0]) & (rows < used[1]) | np.isin(rows, marked)
    seen = values[np.isfinite(values) & inside]
    high = float(seen.max()) if seen.size and seen.max() > 0 else 1.0
    positive = seen[seen > 0]
    if positive.size and high > _LINEAR_SPAN * float(np.median(positive)):
        axes.set_yscale("log")
        axes.set_ylim(float(positive.min()) / 2, high * 3)
    else:
        axes.set_ylim(0, 1.15 * high)
    marker = "o" if rows.size < 3 else ""
    draw_curve(axes, rows, values, THIN, linewidth=0.7, marker=marker, markersize=2.5)
    axes.set_ylabel(label)
    set_rows(axes, rows, noun)
    _mark_rows(axes, rows, values, marked)


def plot_components(
    axes: Axes,
    coordinates: F64,
    shares: F64,
    *,
    pair: tuple[int, int],
    ends: tuple[int, int],
    shape: tuple[int, int] | None = None,
) -> None:
    """Draw two principal components against each other, dark to light from the first row to the last.

    Parameters
    ----------
    coordinates : (S, 3); shares : (3,); pair : two of 0, 1, 2; ends : names of the first and the last row.
    shape : of a grid, whose neighbours are joined in both directions.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.inspection.table_portrait import compute_helix
    >>> helix = compute_helix(Sinusoidal(d=8).table(32))
    >>> axes = Figure().subplots()
    >>> plot_components(axes, helix.coordinates, helix.shares, pair=(0, 1), ends=(0, 31))
    >>> axes.get_xlabel().partition(" (")[0]
    'component 1'
    """
    points = coordinates[:, pair]
    step = math.ceil(len(points) / _MOST_DOTS)
    for path in _join(points, shape) if step == 1 else ():
        axes.plot(path[:, 0], path[:, 1], color=GREY, linewidth=0.35, zorder=1)
    x, y = points[::step].T
    axes.scatter(x, y, s=5, c=np.arange(x.size), cmap=build_colours(False), linewidths=0, zorder=2)
    axes.margins(0.12)
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")
    axes.apply_aspect()
    axes.set_xlabel(f"component {pair[0] + 1} ({_write_share(shares[pair[0]])})")
    axes.set_ylabel(f"component {pair[1] + 1} ({_write_share(shares[pair[1]])})")
    for name, index in ((ends[0], 0), (ends[1], -1)):
        end = float(points[index, 0]), float(points[index, 1])
        axes.plot(*end, marker="o", markersize=4, color=BLACK, markerfacecolor="none", linestyle="none")
        _name_end(axes, str(name), end)


def _name_end(axes: Axes, name: str, end: tuple[float, float]) -> None:
    """Name an end of a curve where nothing else stands, else across the curve but off other names."""
    written = place_label(axes, name, [Spot(x=end[0], y=end[1], side=side) for side in _AROUND])
    for across, up in ((4, 4), (4, -4), (-4, -4), (-4, 4)) if written is None else ():
        sides: dict[str, Any] = {"ha": "left" if across > 0 else "right", "va": "bottom" if up > 0 else "top"}
        tried = axes.annotate(name, end, (across, up), textcoords="offset points", fontsize=SMALL_SIZE, **sides)
        box = tried.get_window_extent()
        if not any(box.overlaps(other.get_window_extent()) for other in axes.texts if other is not tried):
            written = tried
            break
        tried.remove()
    if written is not None:
        written.set(path_effects=[withStroke(linewidth=2, foreground="white")], zorder=4)


def _join(points: F64, shape: tuple[int, int] | None) -> list[F64]:
    """The lines between neighbouring rows: one of all, or those of a grid along and across."""
    if shape is None or len(points) != math.prod(shape):
        return [points]
    mesh = points.reshape(*shape, 2)
    return [*mesh, *mesh.transpose(1, 0, 2)]


def _describe_period(one: DominantPeriod) -> str:
    period = f"{one.period:.3g}" if one.period < 1000 else f"{one.period:.0f}"
    return f"{period} ({_write_share(one.share)})"


def _write_share(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"


def _mark_rows(axes: Axes, rows: F64, values: F64, marked: Sequence[float]) -> None:
    """Ring the values of some rows, and name the first of them."""
    index = np.searchsorted(rows, np.asarray(marked, dtype=np.float64))
    index = np.unique(index[index < rows.size])
    index = index[np.isfinite(values[index])]
    if not index.size:
        return
    axes.plot(rows[index], values[index], clip_on=False, zorder=5, **_MARK)
    for place in index[:_MOST_LABELS]:
        row = float(rows[place])
        name = f"{row:.0f}" if row == round(row) else f"{math.floor(row)}|{math.ceil(row)}"
        places = [Spot(x=row, y=float(values[place]), side=side) for side in _AROUND]
        place_label(axes, name, places, colour=VERMILION)
