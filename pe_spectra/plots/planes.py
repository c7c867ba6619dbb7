"""Spectra as maps: of encodings on a grid, with their kernels by offset, and of short stretches of positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.answers.captions import name_briefly
from pe_spectra.exact import F64
from pe_spectra.plots.axes import head_panel, label_integers
from pe_spectra.plots.heatmap import MAP_RIGHT, describe_cells, draw_map, find_extent
from pe_spectra.plots.sheet import MARGIN, Layout, lay_out
from pe_spectra.plots.style import COLUMN_WIDTH, GREY, PAGE_WIDTH, escape_sentence, escape_text, fixed_style
from pe_spectra.spectrum.record import MOST_NEGATIVE

if TYPE_CHECKING:
    from pe_spectra.spectrum.grid_spectrum import GridSpectrum
    from pe_spectra.spectrum.periodograms import LocalSpectra

#: Encodings on one sheet, at most.
MOST_ROWS = 6
#: Inches of a panel's height, least and most: between them the cells of a kernel are square.
_LOWEST, _HIGHEST = 1.5, 2.3
#: Inches left of a panel, and of the map of stretches, and of a panel's width.
_LEFT, LOCAL_LEFT = 0.70, 0.76
_PANEL_WIDTH = PAGE_WIDTH / 2 - _LEFT - MAP_RIGHT
#: Weights that span more than this have colours by their logarithm.
_LINEAR_SPAN = 1000.0
#: A kernel with values below this share of its largest has colours for both signs.
_SIGNED = -0.01
#: Mean frequencies closer than this share, of encodings or of stretches, are said to be the same.
_SAME, _SAME_LOCAL = 0.05, 0.1
#: A smaller Toeplitz share is the message: maps by offset show less than half.
_POOR = 0.5
#: Share of neighbours of different signs up to which a line can mark where the sign changes.
_SMOOTH = 0.3
_TICKS = ((-math.pi, "−π"), (-math.pi / 2, "−π/2"), (0.0, "0"), (math.pi / 2, "π/2"), (math.pi, "π"))


def draw_grid_kernel(axes: Axes, plane: GridSpectrum) -> None:
    """Draw the kernel by offset, offset (0, 0) in the middle; downwards is downwards on the grid.

    Where it has both signs the colours are centred at zero, and a dotted line marks the change of sign.
    """
    rows, columns = (np.arange(size) - size // 2.0 for size in plane.kernel.shape)
    signed = bool(np.nanmin(plane.kernel) < _SIGNED * np.nanmax(np.abs(plane.kernel)))
    extent = find_extent(columns, rows)
    draw_map(axes, plane.kernel, extent=extent, label="kernel (1 at offset 0)", diverging=signed)
    if signed and _count_changes(plane.kernel) <= _SMOOTH:
        axes.contour(columns, rows, plane.kernel, levels=[0.0], colors=[GREY], linewidths=0.6, linestyles="dotted")
    axes.invert_yaxis()
    axes.set(xlabel="horizontal offset (positions)", ylabel="vertical offset")
    label_integers(axes.xaxis, axes.yaxis)


def draw_grid_weights(axes: Axes, plane: GridSpectrum) -> None:
    """Draw the weight of each pair of frequencies, the horizontal one across and the vertical one up."""
    extent = find_extent(plane.omega_horizontal, plane.omega_vertical)
    draw_map(axes, plane.weights, extent=extent, label="weight (share of 1)", logarithmic=_spans_decades(plane.weights))
    axes.set(xlabel="horizontal ω (rad/position)", ylabel="vertical ω (rad/position)")
    for axis, (low, high) in ((axes.xaxis, extent[:2]), (axes.yaxis, extent[2:])):
        inside = [(place, text) for place, text in _TICKS if low <= place <= high]
        axis.set_ticks([place for place, _ in inside], [text for _, text in inside])
    axes.set_yticks([tick for tick in axes.get_yticks() if tick >= 0])


@fixed_style()
def compose_grid_spectra(*planes: GridSpectrum) -> Figure:
    """The figure of `pe-spectra spectrum` for encodings on grids: kernel and spectrum of each in two dimensions."""
    shown = planes[:MOST_ROWS]
    layout = Layout(
        title=escape_sentence(entitle_planes(planes)),
        heights=tuple(_find_height(plane) for plane in shown),
        top=0.30,
        gap=0.74,
        left=_LEFT,
        right=MAP_RIGHT,
        columns=2,
        width=PAGE_WIDTH,
        small_print=(
            *describe_planes(shown),
            *([f"the first {MOST_ROWS} of {len(planes)} encodings"] if len(planes) > MOST_ROWS else []),
        ),
    )
    figure, panels = lay_out(layout)
    for plane, left, right in zip(shown, panels[::2], panels[1::2], strict=True):
        draw_grid_kernel(left, plane)
        draw_grid_weights(right, plane)
        head_panel(left, escape_text(plane.encoding.label), beyond=MAP_RIGHT)
        if plane.toeplitz_share is not None:
            head_panel(right, f"Toeplitz share {100 * plane.toeplitz_share:.1f} %", beyond=MAP_RIGHT)
    return figure


def entitle_planes(planes: Sequence[GridSpectrum]) -> str:
    """Say in which direction the vectors change faster."""
    below = [plane.negative_mass for plane in planes]
    if max(below) > MOST_NEGATIVE:
        which = "" if len(planes) == 1 else f": {name_briefly(planes[int(np.argmax(below))].encoding)}"
        return f"Not a distribution (negative weights), so without a mean frequency{which}"
    means = [plane.means for plane in planes]
    if len(planes) == 1:
        share, (down, across) = planes[0].toeplitz_share, means[0]
        if np.allclose(planes[0].kernel, 1.0, rtol=0, atol=1e-12):
            return "All places of the grid have the same vector"
        if share is not None and share < _POOR:
            return f"Of the similarity of two places {100 * share:.2g} % is a function of their offset alone"
        if abs(down - across) <= _SAME * max(abs(down), abs(across)):
            mean = (down + across) / 2
            return f"The vectors change as fast down as across: centroid {mean:.3g} rad per position"
        words = ("across", across, "down", down) if across > down else ("down", down, "across", across)
        return "The vectors change faster {} (centroid {:.3g}) than {} ({:.3g} rad per position)".format(*words)
    names = [name_briefly(plane.encoding) for plane in planes]
    totals = [math.hypot(*pair) for pair in means]
    low, high = int(np.argmin(totals)), int(np.argmax(totals))
    if len(set(names)) < len(names) or totals[high] - totals[low] <= _SAME * totals[high]:
        return "How alike two places of a grid are, by offset, and the frequencies of that"
    return f"Over the grid {names[high]} changes fastest, {names[low]} most slowly"


def describe_planes(planes: Sequence[GridSpectrum]) -> tuple[str, ...]:
    """Say how the maps were made."""
    sizes = dict.fromkeys(f"{plane.shape[0]} × {plane.shape[1]}" for plane in planes)
    widths = list(dict.fromkeys(f"{plane.bandwidth:g}" for plane in planes))
    bins = f"bandwidth\u00a0{', '.join(widths)}\u00a0{'bin' if widths == ['1'] else 'bins'}"
    sources = dict.fromkeys(note.removeprefix(f"{p.encoding.label}: ") for p in planes for note in p.notes[:1])
    grids = f"{', '.join(sizes)} (rows × columns)"
    lines = [f"lag-window spectrum in two dimensions ({'; '.join(sources)}), {bins}, grid {grids}"]
    if any(plane.toeplitz_share is not None for plane in planes):
        lines.append("Toeplitz share: of the Gram matrix's energy, what is a function of the offset alone")
    below = max(plane.negative_mass for plane in planes)
    if below > 1e-12:
        lines.append(f"negative weights (their sum is −{below:.2g} at most) have the lowest colour")
    cells = {text for plane in planes for text in _describe_cells(plane) if text}
    return (*lines, *sorted(cells))


def _describe_cells(plane: GridSpectrum) -> list[str]:
    height = _find_height(plane)
    shapes = {"kernel": plane.kernel.shape, "spectrum": plane.weights.shape}
    found = {name: describe_cells((shape[0], shape[1]), _PANEL_WIDTH, height) for name, shape in shapes.items()}
    return [f"{name}: {text}" for name, text in found.items() if text]


def _find_height(plane: GridSpectrum) -> float:
    rows, columns = plane.kernel.shape
    return float(np.clip(_PANEL_WIDTH * rows / columns, _LOWEST, _HIGHEST))


def _spans_decades(weights: F64) -> bool:
    """Whether the positive ones need colours by their logarithm."""
    positive = weights[weights > 0]
    return bool(positive.size) and float(positive.max()) > _LINEAR_SPAN * float(positive.min())


def _count_changes(values: F64) -> float:
    """Share of neighbours that differ in sign: near 0 for a smooth map, a half for noise."""
    if min(values.shape) < 3:
        return 1.0
    above = values > 0
    across, down = above[:, 1:] != above[:, :-1], above[1:] != above[:-1]
    return float((across.sum() + down.sum()) / (across.size + down.size))


def draw_local(axes: Axes, local: LocalSpectra) -> None:
    """Draw the spectrum of each stretch upwards at its middle position; a stretch of zeros is grey."""
    weights = local.weights.T.copy()
    weights[:, ~np.any(local.weights > 0, axis=1)] = np.nan
    half = local.window / 2 if local.centres.size == 1 else float(local.centres[1] - local.centres[0]) / 2
    step = float(local.omega[1]) / 2
    extent = (float(local.centres[0]) - half, float(local.centres[-1]) + half, -step, float(local.omega[-1]) + step)
    draw_map(axes, weights, extent=extent, label="share of a stretch", logarithmic=_spans_decades(weights))
    axes.set(xlabel="position (middle of the stretch)", ylabel="ω (rad/position)", yticks=[0, 1, 2, 3])
    label_integers(axes.xaxis)
    head_panel(axes, entitle_local(local), beyond=MAP_RIGHT - MARGIN, pad=8)


def entitle_local(local: LocalSpectra) -> str:
    """Say whether the mean frequency of the stretches changes along the positions."""
    seen = np.any(local.weights > 0, axis=1)
    name = escape_text(name_briefly(local.encoding))
    if not seen.any():
        return f"Stretches of {name}: all are zero"
    means = local.weights[seen] @ local.omega
    least, most = float(means.min()), float(means.max())
    if most - least <= _SAME_LOCAL * most:
        return f"Stretches of {name}: mean ω {np.mean(means):.3g} in all"
    return f"Stretches of {name}: mean ω {least:.3g} to {most:.3g}"


def describe_local(local: LocalSpectra, height: float) -> str:
    """Say what the map shows, on a panel of `height` inches."""
    count = local.centres.size
    stretches = "one stretch" if count == 1 else f"{count} overlapping stretches"
    text = f"map: spectra of {stretches} of {local.window} positions (Hann window), summed over columns"
    text += "; its mean ω is smoothed by that window, not by the bandwidth of the curves"
    if not (local.weights > 0).any(axis=1).all():
        text += "; grey: all vectors are zero"
    cells = describe_cells((local.omega.size, local.centres.size), COLUMN_WIDTH - LOCAL_LEFT - MAP_RIGHT, height)
    return f"{text}; {cells}" if cells else text
