"""The panels of a portrait: the table, kernel and biases of one encoding, and what stands in the rows of its table.

Most functions draw a panel and return what stands above it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patheffects import withStroke
from matplotlib.ticker import NullLocator

from pe_spectra.domains import count_cycles
from pe_spectra.exact import F64
from pe_spectra.inspection.periods import NAMED_PERIODS
from pe_spectra.plots.axes import beside, draw_band, draw_curve, find_range, label_integers, place_label, write_beside
from pe_spectra.plots.heatmap import COLOURS, FAR, QUANTILE, ColourScale, draw_map, find_extent, find_scale, fit_map
from pe_spectra.plots.style import BLACK, BLUE, GREY, VERMILION, curve_style
from pe_spectra.wording import count, write_time

if TYPE_CHECKING:
    from pe_spectra.inspection import DominantPeriod, TableInspection
    from pe_spectra.inspection.channels import SinusoidFit

#: Columns that stand for a table, on a grid and on a line, and rows that can be told apart.
_MOST_PLACES, _MOST_COLUMNS, _MOST_ROWS = 6, 5, 256
#: Heads with a line style of their own.
_STYLED_HEADS = 8
#: Points of a curve in space, and labels of one kind, at most.
_MOST_DOTS, _MOST_LABELS = 4000, 6
#: Lightness of the shade behind rows that are left out.
_SHADE = "#E4E4E4"
#: Rows further apart than this factor in norm stand on a logarithmic axis.
_LINEAR_SPAN = 1000.0
_AROUND = ("above right", "above left", "below right", "below left", "right", "left", "above", "below")


def draw_table(axes: Axes, table: F64, rows: F64, noun: str) -> str:
    """Draw the entries of a table (S, d), rows across and columns up; `rows` (S,) is what they are called."""
    drawn = fit_map(axes, table.T)
    scale = _find_robust_scale(drawn)
    columns = np.arange(table.shape[1], dtype=np.float64)
    draw_map(axes, drawn, extent=find_extent(rows, columns), label="entry", diverging=True, scale=scale)
    axes.set(xlabel=noun, ylabel="column")
    label_integers(axes.xaxis, axes.yaxis)
    cut = " (colours cut at 99.5 %)" if scale.high < float(np.abs(drawn).max()) else ""
    return f"Table, {table.shape[0]} × {table.shape[1]}{cut}"


def _find_robust_scale(values: F64) -> ColourScale:
    """Return ends of diverging colours that a few far values do not wash out."""
    sizes = np.abs(values[np.isfinite(values)])
    most = float(np.quantile(sizes, QUANTILE)) if sizes.size else 0.0
    if most > 0 and float(sizes.max()) > FAR * most:
        return ColourScale(-most, most)
    return find_scale(values, diverging=True)


def _choose_columns(width: int, most: int) -> list[int]:
    """Columns spread over the width, the first and the last among them."""
    return sorted({round(place) for place in np.linspace(0, width - 1, min(width, most))})


def draw_columns(axes: Axes, table: F64, rows: F64, noun: str) -> str:
    """Draw some columns over the first rows, one above the other, each from its smallest to its largest."""
    chosen = _choose_columns(table.shape[1], _MOST_COLUMNS)
    shown = slice(0, _MOST_ROWS)
    for place, column in enumerate(chosen):
        values = table[shown, column]
        low, high = float(values.min()), float(values.max())
        flat = not high - low > 1e-12 * max(abs(low), abs(high))
        level = np.zeros(values.size) if flat else (values - low) / (high - low) - 0.5
        _draw_thin(axes, rows[shown], place + 0.82 * level)
    axes.set(ylim=(-0.6, len(chosen) - 0.4), yticks=range(len(chosen)), yticklabels=chosen, ylabel="column")
    axes.tick_params(axis="y", length=0)
    _set_rows(axes, rows[shown], noun)
    first = f", rows {rows[0]:.0f} to {rows[shown][-1]:.0f}" if len(table) > _MOST_ROWS else ""
    return f"{len(chosen)} of {table.shape[1]} columns{first}"


def draw_grid_columns(axes: Axes, table: F64, shape: tuple[int, int]) -> str:
    """Draw some columns as they lie on the grid, side by side; each in units of its largest size."""
    height, width = shape
    box = axes.get_window_extent()
    across = min(_MOST_PLACES, max(1, round(math.sqrt(_MOST_PLACES * box.width / box.height * height / width))))
    down = max(1, _MOST_PLACES // across)
    chosen = _choose_columns(table.shape[1], across * down)
    across = min(across, len(chosen))
    down = math.ceil(len(chosen) / across)
    sheet = np.full((down * (height + 1) - 1, across * (width + 1) - 1), np.nan)
    for place, column in enumerate(chosen):
        top, left = place // across * (height + 1), place % across * (width + 1)
        values = table[:, column].reshape(shape)
        sheet[top : top + height, left : left + width] = values / (float(np.abs(values).max()) or 1.0)
    extent = (0.0, float(sheet.shape[1]), 0.0, float(sheet.shape[0]))
    draw_map(axes, sheet, extent=extent, label="entry / largest", diverging=True)
    axes.invert_yaxis()
    axes.set(xticks=[], yticks=[], xlabel="place across", ylabel="place down")
    return f"Columns {', '.join(map(str, chosen))} on the grid"


def draw_lag_kernel(axes: Axes, values: F64) -> str:
    """Draw k(tau)/k(0), (heads, L): the median over heads, and the smallest and largest as a band."""
    shares = values / np.where(values[:, :1] != 0, np.abs(values[:, :1]), 1.0)
    lags = np.arange(values.shape[1], dtype=np.float64)
    axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
    if len(shares) > 1:
        draw_band(axes, lags, shares.min(axis=0), shares.max(axis=0), BLACK)
    _draw_thin(axes, lags, np.median(shares, axis=0), linewidth=1.0)
    low, high = min(0.0, float(shares.min())), max(1.0, float(shares.max()))
    white = 0.06 * (high - low)
    axes.set(ylim=(low - white, high + white), ylabel="$k(τ)/k(0)$")
    _set_rows(axes, lags, "lag τ (positions)")
    return f"Kernel, median and range of {len(shares)} heads" if len(shares) > 1 else "Kernel"


def draw_bias(axes: Axes, lags: F64, bias: F64, *, first: int = 0) -> str:
    """Draw what is added to the score against the lag, a line for each head, (heads, L), from number `first` on."""
    heads = len(bias)
    words, samples = [], {}
    for head in range(heads):
        style = curve_style(head)
        if heads > _STYLED_HEADS:  # yellow, at the end, is too pale
            style = {"color": to_hex(COLOURS[False](0.85 * head / (heads - 1))), "linestyle": "-"}
        draw_curve(axes, lags, bias[head], style, linewidth=1.0 if heads <= _STYLED_HEADS else 0.7)
        if heads <= _STYLED_HEADS or head in (0, heads - 1):
            words.append((float(bias[head, -1]), f"head {head + first}", style["color"]))
            samples[words[-1][1]] = style
    low, high = find_range(bias)
    white = 0.06 * (high - low) or 0.5
    axes.set(ylim=(low - white, high + white), ylabel="bias (added to the score)")
    _set_rows(axes, lags, "lag (query − key)")
    write_beside(axes, words, samples)
    return f"Bias against lag, {count(heads, 'head')}"


def draw_bias_map(axes: Axes, bias: F64, head: int) -> str:
    """Draw the bias of one head, queries down and keys across; grey where there is none."""
    places = np.arange(len(bias), dtype=np.float64)
    low, high = find_range(bias)
    draw_map(axes, bias, extent=find_extent(places, places), label="bias", diverging=low < 0 < high)
    axes.invert_yaxis()
    axes.set(xlabel="key (position)", ylabel="query (position)")
    label_integers(axes.xaxis, axes.yaxis)
    return f"Bias of head {head}{'' if np.isfinite(bias).all() else ' (grey: not seen)'}"


def draw_periods(axes: Axes, inspection: TableInspection, *, step: str = "") -> str:
    """Draw the period of each column, the nearest ladder, and the periods that columns share, in time where known."""
    periods, fit = inspection.channels.periods, inspection.sinusoid
    columns = np.arange(periods.size, dtype=np.float64)
    rows = inspection.rows_used[1] - inspection.rows_used[0]
    spacing = inspection.spacing or 1.0
    axes.set(
        yscale="log", ylim=(1.6 * spacing, 2.0 * max(rows, 4) * spacing), xlim=(-0.5, max(0.5, periods.size - 0.5))
    )
    shared = [one for one in inspection.dominant_periods if one.along is None][:NAMED_PERIODS]
    for one in shared:
        axes.axhline(one.period, color=GREY, linewidth=0.5, zorder=0)
    dots = {"marker": "o", "markersize": 1.8 if columns.size > 64 else 3.5, "markeredgewidth": 0}
    draw_curve(axes, columns, periods, {"color": BLUE, "linestyle": "none"}, **dots)
    if fit is not None:
        _draw_ladder(axes, columns, fit)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="column", ylabel="period (positions)")
    label_integers(axes.xaxis)
    write_beside(axes, [(math.log10(one.period), _describe_period(one, step), GREY) for one in shared])
    return "Period of each column"


def _draw_ladder(axes: Axes, columns: F64, fit: SinusoidFit) -> None:
    """Draw the nearest ladder, and name it."""
    periods = _compute_ladder_periods(fit, columns.size)
    drops = np.flatnonzero(np.diff(periods) < 0) + 1  # where it begins again, the line has a gap
    columns, periods = np.insert(columns, drops, np.nan), np.insert(periods, drops, np.nan)
    draw_curve(axes, columns, periods, {"color": VERMILION, "linestyle": (0, (3, 1.5))}, linewidth=0.9)
    base = f"{fit.rho:.0f}" if 100 <= fit.rho < 1e6 else f"{fit.rho:.3g}"
    low, high = axes.get_ylim()
    levels = np.geomspace(low, high, 24)[1:-2]
    places = beside(np.full(levels.size, axes.get_xlim()[1]), levels, ("left",))
    place_label(axes, f"ladder ρ = {base} ({_write_share(fit.share)})", places, colour=VERMILION)


def _compute_ladder_periods(fit: SinusoidFit, width: int) -> F64:
    """Return the period 2 pi rho**(2 i/d) of each column of a ladder, (d,)."""
    columns = np.arange(width)
    half = max(1, width // 2)
    index = columns // 2 if fit.layout == "interleaved" else columns % half
    steps = max(1, half - 1) if fit.layout == "tensor2tensor" else width / 2
    periods: F64 = 2 * np.pi * fit.rho ** (index / steps)
    return periods


def draw_rows(
    axes: Axes, rows: F64, values: F64, *, label: str, used: tuple[int, int], marked: Sequence[float], noun: str
) -> None:
    """Draw a number for each row; rows that are left out are shaded, some are marked.

    Parameters
    ----------
    rows, values : (R,); rows ascending.
    used : rows from and before which nothing is left out.
    marked : some of `rows`.
    """
    for start, stop in ((rows[0] - 0.5, used[0] - 0.5), (used[1] - 0.5, rows[-1] + 0.5)):
        if stop > start:
            axes.axvspan(start, stop, color=_SHADE, linewidth=0, zorder=0)
    inside = (rows >= used[0]) & (rows < used[1]) | np.isin(rows, marked)
    seen = values[np.isfinite(values) & inside]
    high = float(seen.max()) if seen.size and seen.max() > 0 else 1.0
    positive = seen[seen > 0]
    if positive.size and high > _LINEAR_SPAN * float(np.median(positive)):
        axes.set(yscale="log", ylim=(float(positive.min()) / 2, high * 3))
    else:
        axes.set_ylim(0, 1.15 * high)
    _draw_thin(axes, rows, values)
    axes.set_ylabel(label)
    _set_rows(axes, rows, noun)
    _mark_rows(axes, rows, values, marked)


def _mark_rows(axes: Axes, rows: F64, values: F64, marked: Sequence[float]) -> None:
    """Ring the values of some rows, and name the first of them."""
    index = np.searchsorted(rows, np.asarray(marked, dtype=np.float64))
    index = np.unique(index[index < rows.size])
    index = index[np.isfinite(values[index])]
    if not index.size:
        return
    (rings,) = axes.plot(rows[index], values[index], "o", color=VERMILION, clip_on=False, zorder=5)
    rings.set(markersize=5, markerfacecolor="none")
    for place in index[:_MOST_LABELS]:
        row = float(rows[place])
        name = f"{row:.0f}" if row == round(row) else f"{math.floor(row)}|{math.ceil(row)}"
        place_label(axes, name, beside(row, values[place], _AROUND), colour=VERMILION)


def draw_components(
    axes: Axes, inspection: TableInspection, pair: tuple[int, int], shape: tuple[int, int] | None
) -> str:
    """Draw two principal components against each other, dark to light from the first row to the last.

    On a grid of a `shape` neighbours are joined in both directions.
    """
    points, shares = inspection.helix.coordinates[:, pair], inspection.helix.shares
    step = math.ceil(len(points) / _MOST_DOTS)
    for path in _join(points, shape) if step == 1 else ():
        axes.plot(path[:, 0], path[:, 1], color=GREY, linewidth=0.35, zorder=1)
    x, y = points[::step].T
    axes.scatter(x, y, s=5, c=np.arange(x.size), cmap=COLOURS[False], linewidths=0, zorder=2)
    axes.margins(0.12)
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")
    axes.apply_aspect()
    across, up = (f"component {one + 1} ({_write_share(shares[one])})" for one in pair)
    axes.set(xlabel=across, ylabel=up)
    first, last = inspection.rows_used
    for name, index in ((first, 0), (last - 1, -1)):
        end = float(points[index, 0]), float(points[index, 1])
        axes.plot(*end, "o", markersize=4, color=BLACK, markerfacecolor="none")
        named = place_label(axes, str(name), beside(*end, _AROUND))
        named = named or place_label(axes, str(name), beside(*end, _AROUND), on_curves=True)
        if named is not None:
            named.set(path_effects=[withStroke(linewidth=2, foreground="white")], zorder=4)
    return f"Components {pair[0] + 1} and {pair[1] + 1}, dark to light by row"


def _join(points: F64, shape: tuple[int, int] | None) -> list[F64]:
    """The lines between neighbouring rows: one of all, or those of a grid along and across."""
    if shape is None or len(points) != math.prod(shape):
        return [points]
    mesh = points.reshape(*shape, 2)
    return [*mesh, *mesh.transpose(1, 0, 2)]


def _describe_period(one: DominantPeriod, step: str) -> str:
    lengths = (one.period,) if one.drift is None else one.drift
    period = " to ".join(f"{length:.3g}" if length < 1000 else f"{length:.0f}" for length in lengths)
    time = f" = {write_time(86400 * one.period / count_cycles(step))}" if step and one.drift is None else ""
    return f"{period}{time} ({_write_share(one.share)})"


def _write_share(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"


def _draw_thin(axes: Axes, x: F64, y: F64, linewidth: float = 0.7) -> None:
    """Draw a curve that is alone in its panel; of one or two points each is a dot."""
    marker = "o" if x.size < 3 else ""
    draw_curve(axes, x, y, {"color": BLACK, "linestyle": "-"}, linewidth=linewidth, marker=marker, markersize=2.5)


def _set_rows(axes: Axes, rows: F64, noun: str) -> None:
    """Let the axis across run from the first row (or lag) to the last, in whole numbers."""
    white = 0.5 if rows.size == 1 else 0.0
    axes.set(xlim=(float(rows[0]) - white, float(rows[-1]) + white), xlabel=noun)
    label_integers(axes.xaxis)
