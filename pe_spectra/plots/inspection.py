"""The portrait of one encoding: every view that it has, two panels side by side on a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pe_spectra.answers.portraits import MARKED_NORMS, describe_portrait, entitle_portrait, find_marked
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError
from pe_spectra.plots.axes import head_panel, place_label, places_along
from pe_spectra.plots.heatmap import MAP_RIGHT, describe_cells
from pe_spectra.plots.inspection_panels import (
    plot_bias,
    plot_bias_map,
    plot_columns,
    plot_grid_columns,
    plot_lag_kernel,
    plot_table,
)
from pe_spectra.plots.planes import plot_grid_kernel, plot_grid_weights
from pe_spectra.plots.row_panels import mark_periods, plot_components, plot_periods, plot_rows
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.spectrum import plot_log_spectrum
from pe_spectra.plots.stretches import plot_local
from pe_spectra.plots.style import GREY, PAGE_WIDTH, curve_style, escape_sentence, fixed_style

if TYPE_CHECKING:
    from pe_spectra.inspection import TableInspection
    from pe_spectra.inspection.portrait import Portrait
    from pe_spectra.inspection.resize import Resized
    from pe_spectra.spectrum import GridSpectrum, LocalSpectra

F64 = NDArray[np.float64]
Right = Literal["map", "words", "nothing"]

#: Inches: height of a panel, white at its left.
PANEL, LEFT = 1.4, 0.70
#: Inches of white between rows of panels.
_GAP = 0.74
#: White at the right of a panel without a colour bar or words.
_RIGHT = 0.16
#: Inches that the heading of a panel with a colour bar may go beyond it.
_BEYOND = 0.6
#: Powers of ten that a spectrum shows here; `pe-spectra spectrum` shows all.
_MOST_DECADES = 8.0
#: Matplotlib adds margins to an axis and takes its length.
_LARGEST = 1e307


@dataclass(frozen=True, kw_only=True)
class _Panel:
    """A panel of a portrait: what draws it, and what stands at its right."""

    draw: Callable[[Axes], object]
    right: Right = "nothing"


@fixed_style()
def compose_portrait(portrait: Portrait) -> Figure:
    """The figure of `pe-spectra inspect`: the table, its columns, kernel, spectrum, rows, biases.

    Only what the encoding has is drawn.

    Raises
    ------
    ValueError : an encoding with nothing to draw.
    InputError : a table with numbers whose axes would leave the range of float64.
    """
    largest = 0.0 if portrait.table is None else float(np.abs(portrait.table).max())
    if largest > _LARGEST:
        accepted = f"numbers up to {_LARGEST:g} are accepted; without --figure the answer is given"
        raise InputError("a figure of the table cannot be drawn", f"{largest:.3g}", accepted)
    panels = list(list_panels(portrait))
    if not panels:
        raise ValueError("a portrait needs one view at least")
    layout = Layout(
        title=escape_sentence(entitle_portrait(portrait)),
        heights=(PANEL,) * math.ceil(len(panels) / 2),
        small_print=(*map(escape_sentence, describe_portrait(portrait)), *_describe_table(portrait)),
        left=LEFT,
        right=MAP_RIGHT,
        top=0.32,
        gap=_GAP,
        width=PAGE_WIDTH,
        columns=2,
    )
    figure, places = lay_out(layout)
    for axes, panel in zip(places, panels, strict=False):
        if panel.right == "nothing":
            _widen(axes)
        panel.draw(axes)
    for axes in places[len(panels) :]:
        axes.remove()
    return figure


def _describe_table(portrait: Portrait) -> Iterator[str]:
    """Say how many numbers a cell of the map of the table stands for."""
    rows, columns = (0, 0) if portrait.table is None else portrait.table.shape
    cells = describe_cells((columns, rows), PAGE_WIDTH / 2 - LEFT - MAP_RIGHT, PANEL)
    if cells:
        yield f"table: {cells} (column × row)"


def list_panels(portrait: Portrait) -> Iterator[_Panel]:
    """List the panels of a portrait in the order in which they stand on the page."""
    yield from _list_table(portrait)
    yield from _list_bias_maps(portrait)
    if portrait.bias is not None and portrait.lags is not None:
        biases = partial(plot_bias, lags=portrait.lags, bias=portrait.bias, first=_find_head(portrait))
        yield _Panel(draw=biases, right="words")
    plane = portrait.plane
    if plane is not None:
        yield _Panel(
            draw=partial(_plot_plane, draw=plot_grid_kernel, plane=plane, head="Kernel by offset"), right="map"
        )
        head = "Spectrum in both directions"
        yield _Panel(draw=partial(_plot_plane, draw=plot_grid_weights, plane=plane, head=head), right="map")
    elif portrait.kernel is not None and portrait.kernel.values.ndim == 2 and portrait.kernel.values[:, 0].any():
        yield _Panel(draw=partial(plot_lag_kernel, values=portrait.kernel.values))
    if portrait.spectra:
        yield _Panel(draw=partial(_plot_spectra, portrait=portrait))
    if portrait.local is not None:
        yield _Panel(draw=partial(_plot_local, local=portrait.local), right="map")
    if portrait.inspection is not None:
        yield from _list_inspection(portrait, portrait.inspection)
    if portrait.resized is not None:
        for axis in range(len(portrait.resized.before)):
            yield _Panel(draw=partial(_plot_resized, resized=portrait.resized, axis=axis))


def _list_bias_maps(portrait: Portrait) -> Iterator[_Panel]:
    """The maps of the first and of the last head."""
    maps = portrait.bias_map
    if maps is None:
        return
    hidden = np.triu(np.ones(maps.shape[1:], dtype=bool), 1) & bool(getattr(portrait.encoding, "causal", False))
    for place in sorted({0, len(maps) - 1}):
        seen = np.where(hidden, np.nan, maps[place])
        yield _Panel(draw=partial(plot_bias_map, bias=seen, head=place + _find_head(portrait)), right="map")


def _find_head(portrait: Portrait) -> int:
    """Number of the first head that is there: one that was chosen, else 0."""
    chosen = getattr(portrait.encoding, "head", None)
    return chosen if isinstance(chosen, int) else 0


def _list_table(portrait: Portrait) -> Iterator[_Panel]:
    if portrait.table is None:
        return
    shape = portrait.encoding.shape
    rows = _name_rows(portrait)
    noun = _find_noun(portrait)
    yield _Panel(draw=partial(_draw_table, portrait=portrait, rows=rows), right="map")
    if shape is not None and len(portrait.table) >= math.prod(shape):
        codes = portrait.table[-math.prod(shape) :]
        yield _Panel(draw=partial(plot_grid_columns, table=codes, shape=shape), right="map")
    else:
        yield _Panel(draw=partial(plot_columns, table=portrait.table, rows=rows, noun=noun))


def _list_inspection(portrait: Portrait, inspection: TableInspection) -> Iterator[_Panel]:
    has_periods = any(one.along is None for one in inspection.dominant_periods)
    if portrait.encoding.shape is None and (has_periods or np.isfinite(inspection.channels.periods).any()):
        yield _Panel(draw=partial(plot_periods, inspection=inspection), right="words")
    first = portrait.encoding.first if isinstance(portrait.encoding, Learned) else 0
    rows = first + np.arange(inspection.norms.size, dtype=np.float64)
    noun = _find_noun(portrait)
    norms: dict[str, Any] = {
        "values": inspection.norms,
        "label": "norm ‖e(s)‖",
        "marked": find_marked(inspection, MARKED_NORMS),
    }
    yield _Panel(
        draw=partial(_plot_rows, rows=rows, inspection=inspection, noun=noun, head="Norm of each row", **norms)
    )
    if np.isfinite(inspection.steps).any():
        seams = [row + 0.5 for row in find_marked(inspection, ("seam",))[::2]]
        stray = [row - 0.5 for row in find_marked(inspection, ("stray-rows",))]
        steps: dict[str, Any] = {"values": inspection.steps, "label": "‖e(s+1) − e(s)‖", "marked": [*seams, *stray]}
        head = "Step from each row to the next"
        yield _Panel(
            draw=partial(_plot_rows, rows=rows[:-1] + 0.5, inspection=inspection, noun=noun, head=head, **steps)
        )
    helix, used = inspection.helix, inspection.rows_used
    if helix.shares[0] > 0 and len(helix.coordinates) > 1:
        for pair in ((0, 1), (1, 2)):
            if helix.shares[pair[1]] > 0:
                yield _Panel(
                    draw=partial(
                        _plot_components,
                        coordinates=helix.coordinates,
                        shares=helix.shares,
                        shape=portrait.encoding.shape,
                        pair=pair,
                        ends=(used[0], used[1] - 1),
                    )
                )


def _draw_table(axes: Axes, portrait: Portrait, rows: F64) -> None:
    if portrait.table is None:
        return
    cut = plot_table(axes, portrait.table, rows, noun=_find_noun(portrait))
    size = f"{portrait.table.shape[0]} × {portrait.table.shape[1]}"
    head_panel(axes, f"Table, {size}{' (colours cut at 99.5 %)' if cut else ''}", beyond=_BEYOND)


def _plot_rows(axes: Axes, head: str, inspection: TableInspection, **what: Any) -> None:
    plot_rows(axes, used=inspection.rows_used, **what)
    head_panel(axes, head)


def _plot_components(axes: Axes, pair: tuple[int, int], **what: Any) -> None:
    plot_components(axes, pair=pair, **what)
    head_panel(axes, f"Components {pair[0] + 1} and {pair[1] + 1}, dark to light by row")


def _plot_local(axes: Axes, local: LocalSpectra) -> None:
    plot_local(axes, local)
    head_panel(axes, f"Spectra of {local.centres.size} stretches of {local.window} positions", beyond=_BEYOND)


def _plot_plane(axes: Axes, draw: Callable[[Axes, GridSpectrum], None], plane: GridSpectrum, head: str) -> None:
    draw(axes, plane)
    head_panel(axes, head, beyond=_BEYOND)


def _plot_spectra(axes: Axes, portrait: Portrait) -> None:
    plot_log_spectrum(axes, *portrait.spectra, decades=_MOST_DECADES)
    _cut_decades(axes)
    inspection = portrait.inspection
    if inspection is not None and len(portrait.spectra) == 1:
        mark_periods(axes, inspection.dominant_periods)
    marked = inspection is not None and bool(inspection.dominant_periods) and len(portrait.spectra) == 1
    head_panel(axes, "Spectrum, dominant periods marked" if marked else "Spectrum")
    if len(portrait.spectra) > 1:
        _name_lines(axes, [spectrum.axis or "" for spectrum in portrait.spectra])


def _cut_decades(axes: Axes) -> None:
    """Let a logarithmic axis end so many powers of ten below the highest point."""
    drawn = np.concatenate([np.asarray(line.get_ydata(), dtype=np.float64) for line in axes.lines])
    top = float(np.max(drawn, initial=-np.inf, where=np.isfinite(drawn)))
    if axes.get_ylim()[0] < top - _MOST_DECADES:
        axes.set_ylim(top - _MOST_DECADES, top + 0.06 * _MOST_DECADES)


def _plot_resized(axes: Axes, resized: Resized, axis: int) -> None:
    plot_log_spectrum(axes, resized.before[axis], resized.after[axis], decades=_MOST_DECADES)
    _cut_decades(axes)
    if resized.scales[axis] < 1:
        axes.axvline(math.pi * resized.scales[axis], color=GREY, linewidth=0.6, zorder=0)
    _name_lines(axes, [f"before, {resized.old[axis]}", f"after, {resized.new[axis]}"])
    direction = f", {resized.after[axis].axis}" if len(resized.before) > 1 else ""
    head_panel(axes, f"Resized {resized.old[axis]} to {resized.new[axis]}, {resized.method}{direction}")


def _name_lines(axes: Axes, names: list[str]) -> None:
    """Write a name beside each line; the lines are drawn last to first."""
    curves = [np.asarray(line.get_data(), dtype=np.float64) for line in axes.lines[: len(names)]]
    for number, (curve, name) in enumerate(zip(reversed(curves), names, strict=True)):
        x = np.linspace(curve[0, 0], curve[0, -1], 60)
        y = np.interp(x, *curve)
        places = places_along(x, y, ("above right", "below left", "above left", "right"))
        place_label(axes, name, places, colour=curve_style(number)["color"])


def _widen(axes: Axes) -> None:
    """Use the white that other panels leave for a colour bar."""
    box, width = axes.get_position(), PAGE_WIDTH
    wider = box.width + (MAP_RIGHT - _RIGHT) / width
    label = axes.yaxis.label.get_position()[0] * box.width / wider
    axes.set_position((box.x0, box.y0, wider, box.height))
    axes.yaxis.set_label_coords(label, 0.5)


def _name_rows(portrait: Portrait) -> F64:
    encoding = portrait.encoding
    first = encoding.origin if isinstance(encoding, Learned) else 0
    return first + np.arange(0 if portrait.table is None else len(portrait.table), dtype=np.float64)


def _find_noun(portrait: Portrait) -> str:
    is_file = isinstance(portrait.encoding, Learned) and not portrait.encoding.is_random
    return "row of the file" if is_file else "position"
