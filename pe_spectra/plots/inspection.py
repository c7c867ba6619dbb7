"""The portrait of one encoding: every view that it has, two panels side by side on a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from pe_spectra.answers.portraits import MARKED_NORMS, describe_portrait, entitle_portrait, find_marked
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.plots.axes import (
    CYCLES_HEIGHT,
    add_cycles,
    beside,
    head_panel,
    label_integers,
    measure_beside,
    place_label,
)
from pe_spectra.plots.heatmap import FAR, MAP_RIGHT, QUANTILE, ColourScale, describe_cells, draw_map, find_extent
from pe_spectra.plots.inspection_panels import (
    draw_bias,
    draw_bias_map,
    draw_columns,
    draw_components,
    draw_grid_columns,
    draw_lag_kernel,
    draw_periods,
    draw_rows,
    draw_table,
)
from pe_spectra.plots.planes import draw_grid_kernel, draw_grid_weights, draw_local
from pe_spectra.plots.sheet import Layout, lay_out, widen_panel
from pe_spectra.plots.spectrum import draw_spectra, find_step
from pe_spectra.plots.style import GREY, PAGE_WIDTH, VERMILION, curve_style, escape_sentence, fixed_style
from pe_spectra.precision.dtypes import STORED_TYPES
from pe_spectra.records import NamedTuple
from pe_spectra.wording import count

if TYPE_CHECKING:
    from pe_spectra.inspection import TableInspection
    from pe_spectra.inspection.portrait import Portrait
    from pe_spectra.inspection.resize import Resized

#: Inches: height of a panel, white at its left.
_PANEL, _LEFT = 1.4, 0.70
#: Inches of white between rows of panels.
_GAP = 0.74
#: White below the last row, and from a panel to its second axis of frequencies.
_BOTTOM, _SECOND = 0.46, 0.40
#: White at the right of a panel without a colour bar or words.
_RIGHT = 0.16
#: Inches that the heading of a panel with a colour bar may go beyond it.
_BEYOND = 0.6
#: Powers of ten that a spectrum spans here, with the white below it 8; `pe-spectra spectrum` shows all.
_MOST_DECADES = 8.0 / 1.06
#: Matplotlib adds margins to an axis and takes its length.
_LARGEST = 1e307
#: Rows before a grid whose norms are named.
_MOST_BEFORE = 1


class _Panel(NamedTuple):
    """A panel of a portrait: what draws it, the heading where drawing returns none, and what stands at its right.

    `below` are inches of white that it takes below its labels.
    """

    draw: Callable[[Axes], str | None]
    heading: str = ""
    right: Literal["map", "words", "nothing"] = "nothing"
    below: float = 0.0


@fixed_style()
def compose_portrait(portrait: Portrait) -> Figure:
    """The figure of `pe-spectra inspect`: the table, its columns, kernel, spectrum, rows, biases.

    Only what the encoding has is drawn.
    """
    panels = list(_list_panels(portrait))
    rows, columns = (0, 0) if portrait.table is None else portrait.table.shape
    cells = describe_cells((columns, rows), PAGE_WIDTH / 2 - _LEFT - MAP_RIGHT, _PANEL)
    blocks = [f"table: {cells} (column × row)"] if cells else []
    more = [max(panel.below for panel in panels[place : place + 2]) for place in range(0, len(panels), 2)]
    layout = Layout(
        title=escape_sentence(entitle_portrait(portrait)),
        heights=(_PANEL,) * math.ceil(len(panels) / 2),
        small_print=(*map(escape_sentence, describe_portrait(portrait)), *blocks),
        left=_LEFT,
        right=MAP_RIGHT,
        top=0.32,
        gaps=tuple(_GAP + white for white in more[:-1]),
        bottom=_BOTTOM + more[-1],
        width=PAGE_WIDTH,
        columns=2,
        cells=len(panels),
    )
    figure, places = lay_out(layout)
    for axes, panel in zip(places, panels, strict=True):
        if panel.right == "nothing":
            widen_panel(axes, MAP_RIGHT - _RIGHT)
        heading = panel.draw(axes) or panel.heading
        if panel.right == "words":
            widen_panel(axes, min(MAP_RIGHT - measure_beside(axes), 0.0))
        head_panel(axes, heading, beyond=_BEYOND if panel.right == "map" else 0.0)
    return figure


def draw_first(axes: Axes, portrait: Portrait) -> None:
    """Draw the first panel of a portrait, with its heading."""
    panel = next(_list_panels(portrait))
    head_panel(axes, panel.draw(axes) or panel.heading)


def _list_panels(portrait: Portrait) -> Iterator[_Panel]:
    """List the panels of a portrait in the order in which they stand on the page.

    Raises
    ------
    InputError : a table with numbers whose axes would leave the range of float64.
    """
    largest = 0.0 if portrait.table is None else float(np.abs(portrait.table).max())
    if largest > _LARGEST:
        accepted = f"numbers up to {_LARGEST:g} are accepted; without --figure the answer is given"
        raise InputError("a figure of the table cannot be drawn", f"{largest:.3g}", accepted)
    chosen = getattr(portrait.encoding, "head", None)
    first = chosen if isinstance(chosen, int) else 0  # number of the first head that is there
    is_file = isinstance(portrait.encoding, Learned) and not portrait.encoding.is_random
    noun = "row of the file" if is_file else "position"
    yield from _list_table(portrait, noun)
    yield from _list_bias_maps(portrait, first)
    if portrait.bias is not None and portrait.lags is not None:
        lags = portrait.lags.astype(np.float64)
        yield _Panel(partial(draw_bias, lags=lags, bias=portrait.bias, first=first), right="words")
    plane = portrait.plane
    if plane is not None:
        yield _Panel(partial(draw_grid_kernel, plane=plane), "Kernel by offset", "map")
        yield _Panel(partial(draw_grid_weights, plane=plane), "Spectrum in both directions", "map")
    elif portrait.kernel is not None and portrait.kernel.values.ndim == 2 and portrait.kernel.values[:, 0].any():
        yield _Panel(partial(draw_lag_kernel, values=portrait.kernel.values))
    if portrait.spectra:
        below = CYCLES_HEIGHT if find_step(portrait.spectra) else 0.0
        yield _Panel(partial(_draw_spectra, portrait=portrait), below=below)
    if portrait.local is not None:
        stretches = f"Spectra of {portrait.local.centres.size} stretches of {portrait.local.window} positions"
        yield _Panel(partial(draw_local, local=portrait.local), stretches, "map")
    if portrait.inspection is not None:
        yield from _list_inspection(portrait, portrait.inspection, noun)
    if portrait.resized is not None:
        for axis in range(len(portrait.resized.before)):
            yield _Panel(partial(_draw_resized, resized=portrait.resized, axis=axis))


def _list_bias_maps(portrait: Portrait, first: int) -> Iterator[_Panel]:
    """The maps of the first and of the last head."""
    maps = portrait.bias_map
    if maps is None:
        return
    hidden = np.triu(np.ones(maps.shape[1:], dtype=bool), 1) & bool(getattr(portrait.encoding, "causal", False))
    for place in sorted({0, len(maps) - 1}):
        seen = np.where(hidden, np.nan, maps[place])
        yield _Panel(partial(draw_bias_map, bias=seen, head=place + first), right="map")


def _list_table(portrait: Portrait, noun: str) -> Iterator[_Panel]:
    table, shape = portrait.table, portrait.encoding.shape
    if table is None:
        return
    first = portrait.encoding.origin if isinstance(portrait.encoding, Learned) else 0
    rows = first + np.arange(len(table), dtype=np.float64)
    yield _Panel(partial(draw_table, table=table, rows=rows, noun=noun), right="map")
    if shape is not None and len(table) >= math.prod(shape):
        yield _Panel(partial(draw_grid_columns, table=table[-math.prod(shape) :], shape=shape), right="map")
    else:
        yield _Panel(partial(draw_columns, table=table, rows=rows, noun=noun))


def _list_inspection(portrait: Portrait, inspection: TableInspection, noun: str) -> Iterator[_Panel]:
    has_periods = any(one.along is None for one in inspection.dominant_periods)
    if portrait.encoding.shape is None and (has_periods or np.isfinite(inspection.channels.periods).any()):
        yield _Panel(partial(draw_periods, inspection=inspection, step=portrait.encoding.time_step), right="words")
    first = portrait.encoding.first if isinstance(portrait.encoding, Learned) else 0
    rows = first + np.arange(inspection.norms.size, dtype=np.float64)
    draw = partial(draw_rows, used=inspection.rows_used, noun=noun)
    values, marked, shape = inspection.norms, find_marked(inspection, MARKED_NORMS), portrait.encoding.shape
    if shape is not None:
        norms = partial(_draw_grid_norms, norms=values, shape=shape, first=first, marked=marked, dtype=inspection.dtype)
        yield _Panel(norms, right="map")
    else:
        yield _Panel(partial(draw, label="norm ‖e(s)‖", rows=rows, values=values, marked=marked), "Norm of each row")
    if np.isfinite(inspection.steps).any():
        seams = [row + 0.5 for row in find_marked(inspection, ("seam",))[::2]]
        stray = [row - 0.5 for row in find_marked(inspection, ("stray-rows",))]
        steps = {"rows": rows[:-1] + 0.5, "values": inspection.steps, "marked": [*seams, *stray]}
        yield _Panel(partial(draw, label="‖e(s+1) − e(s)‖", **steps), "Step from each row to the next")
    helix = inspection.helix
    for pair in ((0, 1), (1, 2)) if helix.shares[0] > 0 and len(helix.coordinates) > 1 else ():
        if helix.shares[pair[1]] > 0:
            yield _Panel(partial(draw_components, inspection=inspection, pair=pair, shape=portrait.encoding.shape))


def _draw_spectra(axes: Axes, portrait: Portrait) -> str:
    draw_spectra(axes, portrait.spectra, logarithmic=True, decades=_MOST_DECADES)
    if step := find_step(portrait.spectra):
        add_cycles(axes, step, place=-_SECOND / _PANEL)
    if len(portrait.spectra) > 1:
        _name_lines(axes, [spectrum.axis or "" for spectrum in portrait.spectra])
    elif portrait.inspection is not None and portrait.inspection.dominant_periods:
        places = [2 * math.pi / one.period for one in portrait.inspection.dominant_periods if one.along is None]
        if places:
            (marks,) = axes.plot(places, [0.05] * len(places), "|", transform=axes.get_xaxis_transform())
            marks.set(color=VERMILION, markersize=7, markeredgewidth=0.8)
        return "Spectrum, dominant periods marked"
    return "Spectrum"


def _draw_resized(axes: Axes, resized: Resized, axis: int) -> str:
    draw_spectra(axes, (resized.before[axis], resized.after[axis]), logarithmic=True, decades=_MOST_DECADES)
    if resized.scales[axis] < 1:
        axes.axvline(math.pi * resized.scales[axis], color=GREY, linewidth=0.6, zorder=0)
    _name_lines(axes, [f"before, {resized.old[axis]}", f"after, {resized.new[axis]}"])
    direction = f", {resized.after[axis].axis}" if len(resized.before) > 1 else ""
    return f"Resized {resized.old[axis]} to {resized.new[axis]}, {resized.method}{direction}"


def _name_lines(axes: Axes, names: list[str]) -> None:
    """Write a name beside each line; the lines are drawn last to first."""
    curves = [np.asarray(line.get_data(), dtype=np.float64) for line in axes.lines[: len(names)]]
    for number, (curve, name) in enumerate(zip(reversed(curves), names, strict=True)):
        x = np.linspace(curve[0, 0], curve[0, -1], 60)
        y = np.interp(x, *curve)
        places = beside(x, y, ("above right", "below left", "above left", "right"))
        place_label(axes, name, places, colour=curve_style(number)["color"])


def _draw_grid_norms(
    axes: Axes, norms: F64, shape: tuple[int, int], *, first: int, marked: Sequence[int], dtype: str = "float64"
) -> str:
    """Draw the norm of each place of a grid as a map, and ring some; norms of rows before the grid stand in words.

    Parameters
    ----------
    norms : (R,) of rows `first`, .. , the last H W of which fill the grid.
    marked : some of these rows; those before the grid are not ringed. dtype : type that the table was stored in; norms
        that differ by no more than its rounding are drawn in one colour.
    """
    height, width = shape
    before = norms.size - height * width
    values = norms[before:].reshape(shape)
    extent = find_extent(np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64))
    high = float(np.quantile(values, QUANTILE))
    scale = ColourScale(float(values.min()), high) if values.max() > FAR * high else None
    # each number is off by the roundoff of its type at most, and so is the norm of a row of them
    equal = 0 < float(np.ptp(values)) <= 2 * STORED_TYPES[dtype].roundoff * float(values.max())
    draw_map(
        axes,
        np.full_like(values, np.median(values)) if equal else values,
        extent=extent,
        label="norm ‖e(s)‖",
        scale=scale,
    )
    axes.invert_yaxis()
    axes.set(xlabel="place across", ylabel="place down")
    label_integers(axes.xaxis, axes.yaxis)
    down, across = np.divmod(np.unique([row for row in marked if row >= first + before]) - first - before, width)
    if down.size:
        (rings,) = axes.plot(across, down, "o", color=VERMILION, clip_on=False, zorder=5)
        halo = [withStroke(linewidth=2.5, foreground="white")]
        rings.set(markersize=5, markerfacecolor="none", markeredgecolor=VERMILION, path_effects=halo)
    words = [f"row {first + row}: {norms[row]:.3g}" for row in range(min(before, _MOST_BEFORE))]
    words += [count(before - _MOST_BEFORE, "more row")] if before > _MOST_BEFORE else []
    words += [f"equal within {dtype}"] if equal else []
    return f"Norm of each place ({', '.join(words)})" if words else "Norm of each place"
