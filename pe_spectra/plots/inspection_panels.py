"""The panels of a portrait: what the table, the rows and the biases of one encoding look like."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import NDArray

from pe_spectra.plots.axes import Place, draw_band, draw_curve, head_panel, label_integers, place_label
from pe_spectra.plots.heatmap import ColourScale, build_colours, draw_map, find_extent, find_scale, limit_cells
from pe_spectra.plots.style import BLACK, BLUE, GREY, SMALL_SIZE, VERMILION, LineStyle, curve_style

if TYPE_CHECKING:
    from pe_spectra.inspection import DominantPeriod, RowRange, TableInspection
    from pe_spectra.inspection.channels import SinusoidFit

F64 = NDArray[np.float64]

#: Columns that stand for a table, and rows of theirs that can be told apart.
MOST_COLUMNS, MOST_ROWS = 5, 256
#: Heads with a line style of their own; points of a curve in space; labels of one kind.
_STYLED_HEADS, _MOST_DOTS, _MOST_LABELS = 8, 4000, 6
#: Colours end at this quantile of the sizes where the largest is this many times as large.
_QUANTILE, _FAR = 0.995, 1.5
_THIN: LineStyle = {"color": BLACK, "linestyle": "-"}
_MARK = {"linestyle": "none", "marker": "o", "markersize": 5, "markerfacecolor": "none", "color": VERMILION}
#: Lightness of the shade behind rows that are left out.
_SHADE = "#E4E4E4"
#: Rows further apart than this factor in norm stand on a logarithmic axis.
_LINEAR_SPAN = 1000.0


def plot_table(axes: Axes, table: F64, rows: F64, *, noun: str = "position") -> bool:
    """Draw the entries of a table, rows across and columns up; says whether colours are cut.

    Parameters
    ----------
    table : (S, d); rows : (S,) what the rows are called.
    """
    box = axes.get_window_extent()
    most = limit_cells(box.width / axes.figure.dpi, box.height / axes.figure.dpi)[1]
    drawn = _thin_rows(table, most).T
    scale = find_robust_scale(drawn)
    columns = np.arange(table.shape[1], dtype=np.float64)
    draw_map(axes, drawn, extent=find_extent(rows, columns), label="entry", diverging=True, scale=scale)
    axes.set_xlabel(noun)
    axes.set_ylabel("column")
    label_integers(axes.xaxis)
    label_integers(axes.yaxis)
    return scale.high < float(np.abs(drawn).max())


def find_robust_scale(values: F64) -> ColourScale:
    """Return ends of diverging colours that a few far values do not wash out."""
    sizes = np.abs(values[np.isfinite(values)])
    most = float(np.quantile(sizes, _QUANTILE)) if sizes.size else 0.0
    if most > 0 and float(sizes.max()) > _FAR * most:
        return ColourScale(low=-most, high=most)
    return find_scale(values, diverging=True)


def choose_columns(width: int) -> list[int]:
    """Return columns spread over the width, the first and the last among them.

    >>> choose_columns(256)
    [0, 64, 128, 191, 255]
    """
    return sorted({round(place) for place in np.linspace(0, width - 1, min(width, MOST_COLUMNS))})


def plot_columns(axes: Axes, table: F64, rows: F64, *, noun: str = "position") -> None:
    """Draw some columns over the first rows, one above the other, each from its smallest to its largest."""
    chosen = choose_columns(table.shape[1])
    shown = slice(0, MOST_ROWS)
    marker = "o" if len(table) < 3 else ""
    for place, column in enumerate(chosen):
        values = table[shown, column]
        low, high = float(values.min()), float(values.max())
        flat = not high - low > 1e-12 * max(abs(low), abs(high))
        level = np.zeros(values.size) if flat else (values - low) / (high - low) - 0.5
        draw_curve(axes, rows[shown], place + 0.82 * level, _THIN, linewidth=0.7, marker=marker, markersize=2.5)
    axes.set_ylim(-0.6, len(chosen) - 0.4)
    axes.set_yticks(range(len(chosen)), [str(column) for column in chosen])
    axes.tick_params(axis="y", length=0)
    axes.set_ylabel("column")
    _set_rows(axes, rows[shown], noun)
    first = f", rows {rows[0]:.0f} to {rows[shown][-1]:.0f}" if len(table) > MOST_ROWS else ""
    head_panel(axes, f"{len(chosen)} of {table.shape[1]} columns{first}")


def plot_grid_columns(axes: Axes, table: F64, shape: tuple[int, int]) -> None:
    """Draw some columns as they lie on the grid, side by side; each in units of its largest size."""
    chosen = choose_columns(table.shape[1])
    height, width = shape
    across = max(1, math.ceil(math.sqrt(len(chosen) * height / width)))
    down = math.ceil(len(chosen) / across)
    sheet = np.full((down * (height + 1) - 1, across * (width + 1) - 1), np.nan)
    for place, column in enumerate(chosen):
        top, left = place // across * (height + 1), place % across * (width + 1)
        values = table[:, column].reshape(shape)
        sheet[top : top + height, left : left + width] = values / (float(np.abs(values).max()) or 1.0)
    extent = (0.0, float(sheet.shape[1]), 0.0, float(sheet.shape[0]))
    draw_map(axes, sheet, extent=extent, label="entry / largest", diverging=True)
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_xlabel("place across")
    axes.set_ylabel("place down")
    named = ", ".join(str(column) for column in chosen)
    head_panel(axes, f"Columns {named} on the grid", beyond=0.6)


def plot_lag_kernel(axes: Axes, values: F64) -> None:
    """Draw k(tau)/k(0): the median over heads, and the smallest and largest as a band.

    Parameters
    ----------
    values : (heads, L) at lags 0 .. L-1.
    """
    shares = values / np.where(values[:, :1] != 0, np.abs(values[:, :1]), 1.0)
    lags = np.arange(values.shape[1], dtype=np.float64)
    axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
    if len(shares) > 1:
        draw_band(axes, lags, shares.min(axis=0), shares.max(axis=0), BLACK)
    marker = "o" if lags.size < 3 else ""
    draw_curve(axes, lags, np.median(shares, axis=0), _THIN, linewidth=1.0, marker=marker, markersize=2.5)
    low, high = min(0.0, float(shares.min())), max(1.0, float(shares.max()))
    axes.set_ylim(low - 0.06 * (high - low), high + 0.06 * (high - low))
    axes.set_ylabel("$k(τ)/k(0)$")
    _set_rows(axes, lags, "lag τ (positions)")
    heads = f", median and range of {len(shares)} heads" if len(shares) > 1 else ""
    head_panel(axes, f"Kernel{heads}")


def plot_offset_kernel(axes: Axes, kernel: F64) -> None:
    """Draw the similarity by offset on a grid, (2 H - 1, 2 W - 1)."""
    offsets = [np.arange(-(side // 2), side // 2 + 1, dtype=np.float64) for side in kernel.shape]
    signed = float(kernel.min()) < -0.01
    draw_map(axes, kernel, extent=find_extent(offsets[1], offsets[0]), label="$k/k(0)$", diverging=signed)
    axes.invert_yaxis()
    axes.set_xlabel("offset across (places)")
    axes.set_ylabel("offset down (places)")
    label_integers(axes.xaxis)
    label_integers(axes.yaxis)
    head_panel(axes, "Kernel by offset", beyond=0.6)


def plot_plane(axes: Axes, vertical: F64, horizontal: F64, weights: F64) -> None:
    """Draw the weights of a grid by frequency in both directions, (vertical, horizontal)."""
    positive = weights[weights > 0]
    wide = bool(positive.size) and float(positive.max()) > _LINEAR_SPAN * float(positive.min())
    draw_map(axes, weights, extent=find_extent(horizontal, vertical), label="weight", logarithmic=wide)
    axes.set_xlabel("ω across (rad/place)")
    axes.set_ylabel("ω down (rad/place)")
    axes.set_xticks([-2, 0, 2])
    axes.set_yticks([tick for tick in (0, 1, 2, 3) if tick <= axes.get_ylim()[1]])
    head_panel(axes, "Spectrum in both directions", beyond=0.6)


def mark_periods(axes: Axes, dominant: Sequence[DominantPeriod]) -> None:
    """Mark the frequencies 2 pi / period below a spectrum."""
    places = [2 * math.pi / one.period for one in dominant if one.along is None]
    if places:
        bottom = axes.get_ylim()[0]
        marks = {"linestyle": "none", "marker": "^", "markersize": 4, "color": VERMILION, "clip_on": False}
        axes.plot(places, [bottom] * len(places), **marks)


def plot_periods(axes: Axes, inspection: TableInspection) -> None:
    """Draw the period of each column, the nearest ladder, and the periods that columns share."""
    periods, fit = inspection.channels.periods, inspection.sinusoid
    columns = np.arange(periods.size, dtype=np.float64)
    rows = inspection.rows_used[1] - inspection.rows_used[0]
    axes.set_yscale("log")
    axes.set_ylim(1.6, 2.0 * max(rows, 4))
    axes.set_xlim(-0.5, max(0.5, periods.size - 0.5))
    shared = [one for one in inspection.dominant_periods if one.along is None][:_MOST_LABELS]
    for one in shared:
        axes.axhline(one.period, color=GREY, linewidth=0.5, zorder=0)
    dots = {"marker": "o", "markersize": 1.8, "markeredgewidth": 0}
    draw_curve(axes, columns, periods, {"color": BLUE, "linestyle": "none"}, **dots)
    if fit.share > 0.5:
        style: LineStyle = {"color": VERMILION, "linestyle": (0, (3, 1.5))}
        draw_curve(axes, columns, compute_ladder_periods(fit, periods.size), style, linewidth=0.9)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("column")
    axes.set_ylabel("period (positions)")
    label_integers(axes.xaxis)
    write_beside(axes, [(math.log10(one.period), f"{one.period:.3g} ({one.share:.0%})", GREY) for one in shared])
    ladder = f"; ladder ρ = {fit.rho:.3g}, {fit.share:.0%}" if fit.share > 0.5 else ""
    head_panel(axes, f"Period of each column{ladder}", beyond=0.6)


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
    """
    for start, stop in ((rows[0] - 0.5, used[0] - 0.5), (used[1] - 0.5, rows[-1] + 0.5)):
        if stop > start:
            axes.axvspan(start, stop, color=_SHADE, linewidth=0, zorder=0)
    seen = values[np.isfinite(values)]
    high = float(seen.max()) if seen.size and seen.max() > 0 else 1.0
    positive = seen[seen > 0]
    if positive.size and high > _LINEAR_SPAN * float(np.median(positive)):
        axes.set_yscale("log")
        axes.set_ylim(float(positive.min()) / 2, high * 3)
    else:
        axes.set_ylim(0, 1.15 * high)
    marker = "o" if rows.size < 3 else ""
    draw_curve(axes, rows, values, _THIN, linewidth=0.7, marker=marker, markersize=2.5)
    axes.set_ylabel(label)
    _set_rows(axes, rows, noun)
    _mark_rows(axes, rows, values, marked)


def list_rows(ranges: Iterable[RowRange]) -> list[int]:
    """Return the first and last row of every range.

    >>> list_rows((3, (5, 9)))
    [3, 5, 9]
    """
    return [row for one in ranges for row in ((one,) if isinstance(one, int) else one)]


def plot_components(axes: Axes, coordinates: F64, shares: F64, pair: tuple[int, int], ends: tuple[int, int]) -> None:
    """Draw two principal components against each other, dark to light from the first row to the last.

    Parameters
    ----------
    coordinates : (S, 3); shares : (3,); pair : two of 0, 1, 2; ends : names of the first and the last row.
    """
    step = math.ceil(len(coordinates) / _MOST_DOTS)
    x, y = coordinates[::step, pair[0]], coordinates[::step, pair[1]]
    if step == 1:
        axes.plot(x, y, color=GREY, linewidth=0.3, alpha=0.6, zorder=1)
    axes.scatter(x, y, s=5, c=np.arange(x.size), cmap=build_colours(False), linewidths=0, zorder=2)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    axes.apply_aspect()
    axes.set_xlabel(f"component {pair[0] + 1} ({shares[pair[0]]:.0%})")
    axes.set_ylabel(f"component {pair[1] + 1} ({shares[pair[1]]:.0%})")
    axes.autoscale_view()
    axes.apply_aspect()
    for name, index in ((ends[0], 0), (ends[1], -1)):
        places = [Place(x=float(x[index]), y=float(y[index]), side=side) for side in _AROUND]
        axes.plot(x[index], y[index], marker="o", markersize=4, color=BLACK, markerfacecolor="none", linestyle="none")
        axes.annotate(
            str(name), (places[0].x, places[0].y), (3, 3), textcoords="offset points", fontsize=SMALL_SIZE, zorder=4
        )


_AROUND = ("above right", "above left", "below right", "below left", "right", "left", "above", "below")


def plot_bias(axes: Axes, lags: NDArray[np.int64], bias: F64) -> None:
    """Draw what is added to the score against the lag, a line for each head, (heads, L)."""
    heads = len(bias)
    colours = build_colours(False)
    words = []
    for head in range(heads):
        style = curve_style(head)
        if heads > _STYLED_HEADS:  # yellow, at the end, is too pale
            style = {"color": colours(0.85 * head / (heads - 1)), "linestyle": "-"}
        draw_curve(axes, lags.astype(np.float64), bias[head], style, linewidth=1.0 if heads <= _STYLED_HEADS else 0.7)
        if heads <= _STYLED_HEADS or head in (0, heads - 1):
            words.append((float(bias[head, -1]), f"head {head}", style["color"]))
    seen = bias[np.isfinite(bias)]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
    white = 0.06 * (high - low) or 0.5
    axes.set_ylim(low - white, high + white)
    axes.set_ylabel("bias (added to the score)")
    _set_rows(axes, lags.astype(np.float64), "lag (query − key)")
    write_beside(axes, words)
    head_panel(axes, f"Bias against lag, {heads} {'head' if heads == 1 else 'heads'}")


def plot_bias_map(axes: Axes, bias: F64, head: int) -> None:
    """Draw the bias of one head, queries down and keys across; grey where there is none."""
    places = np.arange(len(bias), dtype=np.float64)
    seen = bias[np.isfinite(bias)]
    signed = bool(seen.size) and float(seen.min()) < 0 < float(seen.max())
    draw_map(axes, bias, extent=find_extent(places, places), label="bias", diverging=signed)
    axes.invert_yaxis()
    axes.set_xlabel("key (position)")
    axes.set_ylabel("query (position)")
    label_integers(axes.xaxis)
    label_integers(axes.yaxis)
    hidden = " (grey: not seen)" if seen.size < bias.size else ""
    head_panel(axes, f"Bias of head {head}{hidden}", beyond=0.6)


def write_beside(axes: Axes, words: Sequence[tuple[float, str, str]]) -> None:
    """Write words at the right of a panel at their heights (as on a logarithmic axis), moved apart where they touch."""
    if not words:
        return
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        low, high = math.log10(low), math.log10(high)
    pitch = 1.25 * SMALL_SIZE / 72 / (axes.get_window_extent().height / axes.figure.dpi)
    ordered = sorted(((level - low) / (high - low), text, colour) for level, text, colour in words)
    heights = [min(max(height, 0.0), 1.0) for height, _, _ in ordered]
    for place in range(1, len(heights)):  # up, then down again from the top
        heights[place] = max(heights[place], heights[place - 1] + pitch)
    ceiling = max(1.0, pitch * (len(heights) - 1))
    for place in range(len(heights) - 1, -1, -1):
        heights[place] = min(heights[place], ceiling)
        ceiling = heights[place] - pitch
    for height, (_, text, colour) in zip(heights, ordered, strict=True):
        axes.text(1.02, height, text, color=colour, fontsize=SMALL_SIZE, va="center", transform=axes.transAxes)


def _thin_rows(table: F64, most: int) -> F64:
    """Means of blocks of rows, at most as many as a map shows; a large table is not copied."""
    if len(table) <= most:
        return table
    block = math.ceil(len(table) / most)
    starts = np.arange(0, len(table), block)
    counts = np.diff(np.append(starts, len(table)))
    means: F64 = np.add.reduceat(table, starts, axis=0) / counts[:, None]
    return means


def _set_rows(axes: Axes, rows: F64, noun: str) -> None:
    axes.set_xlim(float(rows[0]), float(rows[-1])) if rows.size > 1 else axes.set_xlim(rows[0] - 0.5, rows[0] + 0.5)
    axes.set_xlabel(noun)
    label_integers(axes.xaxis)


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
        places = [Place(x=row, y=float(values[place]), side=side) for side in _AROUND]
        place_label(axes, name, places, colour=VERMILION)
