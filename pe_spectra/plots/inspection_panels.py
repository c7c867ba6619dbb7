"""The panels of a portrait: what the table, the kernel and the biases of one encoding look like."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from pe_spectra.plots.axes import draw_band, draw_curve, head_panel, label_integers
from pe_spectra.plots.heatmap import ColourScale, build_colours, draw_map, find_extent, find_scale, limit_cells
from pe_spectra.plots.style import BLACK, GREY, SMALL_SIZE, LineStyle, curve_style

F64 = NDArray[np.float64]

#: Columns that stand for a table, on a grid and on a line, and rows that can be told apart.
MOST_PLACES, MOST_COLUMNS, MOST_ROWS = 6, 5, 256
#: Heads with a line style of their own.
_STYLED_HEADS = 8
#: Colours end at this quantile of the sizes where the largest is this many times as large.
_QUANTILE, _FAR = 0.995, 1.5
#: Inches of a piece of line before a word.
_SAMPLE = 0.25
#: Of one curve alone in its panel.
THIN: LineStyle = {"color": BLACK, "linestyle": "-"}


def plot_table(axes: Axes, table: F64, rows: F64, *, noun: str = "position") -> bool:
    """Draw the entries of a table, rows across and columns up; says whether colours are cut.

    Parameters
    ----------
    table : (S, d); rows : (S,) what the rows are called.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> drawn = plot_table(axes, np.eye(4), np.arange(4.0))
    >>> axes.get_ylabel()
    'column'
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


def choose_columns(width: int, most: int = MOST_COLUMNS) -> list[int]:
    """Return columns spread over the width, the first and the last among them.

    >>> choose_columns(256)
    [0, 64, 128, 191, 255]
    """
    return sorted({round(place) for place in np.linspace(0, width - 1, min(width, most))})


def plot_columns(axes: Axes, table: F64, rows: F64, *, noun: str = "position") -> None:
    """Draw some columns over the first rows, one above the other, each from its smallest to its largest.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> plot_columns(axes, np.eye(4), np.arange(4.0))
    >>> axes.get_xlabel()
    'position'
    """
    chosen = choose_columns(table.shape[1])
    shown = slice(0, MOST_ROWS)
    marker = "o" if len(table) < 3 else ""
    for place, column in enumerate(chosen):
        values = table[shown, column]
        low, high = float(values.min()), float(values.max())
        flat = not high - low > 1e-12 * max(abs(low), abs(high))
        level = np.zeros(values.size) if flat else (values - low) / (high - low) - 0.5
        draw_curve(axes, rows[shown], place + 0.82 * level, THIN, linewidth=0.7, marker=marker, markersize=2.5)
    axes.set_ylim(-0.6, len(chosen) - 0.4)
    axes.set_yticks(range(len(chosen)), [str(column) for column in chosen])
    axes.tick_params(axis="y", length=0)
    axes.set_ylabel("column")
    set_rows(axes, rows[shown], noun)
    first = f", rows {rows[0]:.0f} to {rows[shown][-1]:.0f}" if len(table) > MOST_ROWS else ""
    head_panel(axes, f"{len(chosen)} of {table.shape[1]} columns{first}")


def plot_grid_columns(axes: Axes, table: F64, shape: tuple[int, int]) -> None:
    """Draw some columns as they lie on the grid, side by side; each in units of its largest size.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> plot_grid_columns(axes, np.eye(4), (2, 2))
    >>> len(axes.images)
    1
    """
    height, width = shape
    box = axes.get_window_extent()
    across = min(MOST_PLACES, max(1, round(math.sqrt(MOST_PLACES * box.width / box.height * height / width))))
    down = max(1, MOST_PLACES // across)
    chosen = choose_columns(table.shape[1], across * down)
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

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> plot_lag_kernel(axes, np.array([[2.0, 1.0, 0.0]]))
    >>> axes.lines[-1].get_ydata().tolist()  # over the kernel at lag 0
    [1.0, 0.5, 0.0]
    """
    shares = values / np.where(values[:, :1] != 0, np.abs(values[:, :1]), 1.0)
    lags = np.arange(values.shape[1], dtype=np.float64)
    axes.axhline(0, color=GREY, linewidth=0.4, zorder=0)
    if len(shares) > 1:
        draw_band(axes, lags, shares.min(axis=0), shares.max(axis=0), BLACK)
    marker = "o" if lags.size < 3 else ""
    draw_curve(axes, lags, np.median(shares, axis=0), THIN, linewidth=1.0, marker=marker, markersize=2.5)
    low, high = min(0.0, float(shares.min())), max(1.0, float(shares.max()))
    axes.set_ylim(low - 0.06 * (high - low), high + 0.06 * (high - low))
    axes.set_ylabel("$k(τ)/k(0)$")
    set_rows(axes, lags, "lag τ (positions)")
    heads = f", median and range of {len(shares)} heads" if len(shares) > 1 else ""
    head_panel(axes, f"Kernel{heads}")


def plot_bias(axes: Axes, lags: NDArray[np.int64], bias: F64, *, first: int = 0) -> None:
    """Draw what is added to the score against the lag, a line for each head, (heads, L), from number `first` on.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> plot_bias(axes, np.arange(3), np.array([[0.0, -1.0, -2.0]]))
    >>> axes.lines[-1].get_ydata().tolist()
    [0.0, -1.0, -2.0]
    """
    heads = len(bias)
    colours = build_colours(False)
    words, samples = [], {}
    for head in range(heads):
        style = curve_style(head)
        if heads > _STYLED_HEADS:  # yellow, at the end, is too pale
            style = {"color": to_hex(colours(0.85 * head / (heads - 1))), "linestyle": "-"}
        draw_curve(axes, lags.astype(np.float64), bias[head], style, linewidth=1.0 if heads <= _STYLED_HEADS else 0.7)
        if heads <= _STYLED_HEADS or head in (0, heads - 1):
            words.append((float(bias[head, -1]), f"head {head + first}", style["color"]))
            samples[words[-1][1]] = style
    seen = bias[np.isfinite(bias)]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
    white = 0.06 * (high - low) or 0.5
    axes.set_ylim(low - white, high + white)
    axes.set_ylabel("bias (added to the score)")
    set_rows(axes, lags.astype(np.float64), "lag (query − key)")
    write_beside(axes, words, samples)
    head_panel(axes, f"Bias against lag, {heads} {'head' if heads == 1 else 'heads'}")


def plot_bias_map(axes: Axes, bias: F64, head: int) -> None:
    """Draw the bias of one head, queries down and keys across; grey where there is none.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> plot_bias_map(axes, np.eye(4), 0)
    >>> axes.get_xlabel(), bool(axes.yaxis_inverted())
    ('key (position)', True)
    """
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


def write_beside(
    axes: Axes, words: Sequence[tuple[float, str, str]], samples: Mapping[str, LineStyle] | None = None
) -> None:
    """Write words at the right of a panel at their heights (as on a logarithmic axis), moved apart where they touch.

    `samples` are the lines that words name: a piece of each stands before its word, for colours come twice.
    """
    if not words:
        return
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        low, high = math.log10(low), math.log10(high)
    box = axes.get_window_extent()
    pitch = 1.25 * SMALL_SIZE / 72 / (box.height / axes.figure.dpi)
    piece = _SAMPLE * axes.figure.dpi / box.width
    ordered = sorted(((level - low) / (high - low), text, colour) for level, text, colour in words)
    heights = _move_apart([height for height, _, _ in ordered], pitch)
    for height, (_, text, colour) in zip(heights, ordered, strict=True):
        left = 1.02
        if samples is not None:
            line = Line2D([left, left + piece], [height, height], linewidth=1.0, transform=axes.transAxes)
            line.set(**samples[text])
            axes.figure.add_artist(line)
            left += piece + 0.02
        axes.text(left, height, text, color=colour, fontsize=SMALL_SIZE, va="center", transform=axes.transAxes)


def _move_apart(heights: Sequence[float], pitch: float) -> list[float]:
    """Move ascending heights as little as possible, so that each is `pitch` above the one before; 0 to 0.96."""
    groups: list[tuple[float, int]] = []  # mean of heights less their order times pitch, and how many
    for order, height in enumerate(heights):
        mean, count = height - order * pitch, 1
        while groups and groups[-1][0] > mean:
            before, many = groups.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        groups.append((mean, count))
    top = 0.96 - pitch * (len(heights) - 1)
    levels = [min(max(mean, 0.0), top) for mean, count in groups for _ in range(count)]
    return [level + order * pitch for order, level in enumerate(levels)]


def _thin_rows(table: F64, most: int) -> F64:
    """Means of blocks of rows, at most as many as a map shows; a large table is not copied."""
    if len(table) <= most:
        return table
    block = math.ceil(len(table) / most)
    starts = np.arange(0, len(table), block)
    counts = np.diff(np.append(starts, len(table)))
    means: F64 = np.add.reduceat(table, starts, axis=0) / counts[:, None]
    return means


def set_rows(axes: Axes, rows: F64, noun: str) -> None:
    """Let the axis across run from the first row (or lag) to the last, in whole numbers."""
    axes.set_xlim(float(rows[0]), float(rows[-1])) if rows.size > 1 else axes.set_xlim(rows[0] - 0.5, rows[0] + 0.5)
    axes.set_xlabel(noun)
    label_integers(axes.xaxis)
