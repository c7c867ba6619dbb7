"""Eq. 16: which frequencies of an encoding lie below the first frequency of the lattice.

One strip for each count: every frequency a stroke on a logarithmic axis, the edge of the lowest bin
across it, and the numbers inside and outside in words above it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pe_spectra.answers.counts import entitle_counts
from pe_spectra.encodings import HasFrequencies
from pe_spectra.plots.axes import label_powers_of_ten
from pe_spectra.plots.sheet import Layout, lay_out, line_pitch
from pe_spectra.plots.spectrum import OMEGA_LABEL
from pe_spectra.plots.style import (
    BLACK,
    BLUE,
    COLUMN_WIDTH,
    SMALL_SIZE,
    TICK_SIZE,
    VERMILION,
    escape_text,
    fixed_style,
    shorten_text,
)

if TYPE_CHECKING:
    from pe_spectra.spectrum import LowBinCount

F64 = NDArray[np.float64]

#: Strokes closer than this share of a decade fall together in print and are drawn once.
_RESOLUTION = 1 / 200
#: Inches of one strip, and of white at both ends.
_STRIP, _SIDE = 0.26, 0.16
#: Height of a stroke in points: those inside are taller, so that grey tells them apart.
_TALL, _SHORT = 15.0, 8.0


def plot_low_bin(axes: Axes, result: LowBinCount) -> None:
    """Draw the frequencies of one count as strokes at their base-10 logarithm, and the bin's edge.

    >>> from matplotlib.figure import Figure
    >>> from pe_spectra import Sinusoidal, count_low_bin
    >>> axes = Figure().subplots()
    >>> plot_low_bin(axes, count_low_bin(Sinusoidal(d=64)))
    >>> axes.get_xlabel().split()[-1]
    '(rad/position)'
    """
    inside, outside = split_frequencies(result)
    _draw_strokes(axes, inside, VERMILION, _TALL)
    _draw_strokes(axes, outside, BLUE, _SHORT)
    axes.axvline(math.log10(result.bin_edge), color=BLACK, linewidth=1.0)
    axes.set_ylim(-1, 1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    label_powers_of_ten(axes.xaxis)
    axes.set_xlabel(OMEGA_LABEL)


@fixed_style()
def compose_low_bin(*results: LowBinCount) -> Figure:
    """The figure of `pe-spectra count-low-bin`: one strip for each count, on one axis.

    Raises
    ------
    ValueError : no result.
    """
    if not results:
        raise ValueError("a figure of counts needs one at least")
    words = line_pitch(TICK_SIZE) + line_pitch(SMALL_SIZE) + 0.07
    layout = Layout(
        title=entitle_counts(results),
        heights=(_STRIP,) * len(results),
        left=_SIDE,
        right=_SIDE,
        top=words + 0.04,
        gap=words + 0.14,
        small_print=_describe(results),
    )
    figure, panels = lay_out(layout)
    low, high = _find_range(results)
    for axes, result in zip(panels, results, strict=True):
        plot_low_bin(axes, result)
        axes.set_xlim(low, high)
        _write_words(axes, result)
    for axes in panels[:-1]:
        axes.set_xlabel("")
        axes.tick_params(labelbottom=False)
    return figure


def split_frequencies(result: LowBinCount) -> tuple[F64, F64]:
    """Base-10 logarithms of the frequencies inside and outside the bin, ascending; none for 0.

    Which are inside is taken from the exact count, not from another comparison.
    """
    if not isinstance(result.encoding, HasFrequencies):
        return np.empty(0), np.empty(0)
    values = np.sort(result.encoding.frequencies().values)
    logarithms = np.log10(values[values > 0])
    return logarithms[: result.inside], logarithms[result.inside :]


def _draw_strokes(axes: Axes, logarithms: F64, colour: str, height: float) -> None:
    """Draw each frequency that can be told from its neighbour."""
    _, first = np.unique(np.round(logarithms / _RESOLUTION), return_index=True)
    drawn = logarithms[first] if logarithms.size > 1000 else logarithms
    axes.plot(
        drawn,
        np.zeros(drawn.size),
        linestyle="none",
        marker="|",
        markersize=height,
        markeredgewidth=0.5,
        color=colour,
        snap=False,  # else strokes jump to whole pixels and seem to be uneven
    )


def _find_range(results: Sequence[LowBinCount]) -> tuple[float, float]:
    """An axis that holds all frequencies and edges, with a little white."""
    ends = [math.log10(result.bin_edge) for result in results]
    for result in results:
        for part in split_frequencies(result):
            ends += [float(part[0]), float(part[-1])] if part.size else []
    low, high = min(ends), max(ends)
    if high - low < 2:  # so that the axis holds two powers of ten at least
        low, high = min(low, math.floor(low)), max(high, math.ceil(high), math.floor(low) + 1)
    white = 0.04 * max(high - low, 1.0)
    return low - white, high + white


def _write_words(axes: Axes, result: LowBinCount) -> None:
    """Name the encoding above its strip, and count in words."""
    width = COLUMN_WIDTH - 2 * _SIDE
    name = shorten_text(escape_text(result.encoding.label), TICK_SIZE, width)
    edge = f"2π/{result.length or _find_grid(result)}"
    share = f"{100 * result.share_inside:.1f} %"
    words = f"{result.inside} of {result.total} inside ({share}), {result.outside} outside; edge {edge}"
    shown = shorten_text(words, SMALL_SIZE, width)
    first = line_pitch(SMALL_SIZE) * 72
    for text, up, size in ((shown, 3.0, SMALL_SIZE), (name, 3.0 + first, TICK_SIZE)):
        axes.annotate(
            text,
            (0, 1),
            (0, up),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=size,
        )


def _find_grid(result: LowBinCount) -> int:
    return round(2 * math.pi / result.bin_edge)


def _describe(results: Sequence[LowBinCount]) -> tuple[str, ...]:
    text = "tall strokes: inside the lowest bin, 0 < ω < edge (vertical line)"
    if any(_has_zero(result) for result in results):
        text += "; a frequency of 0 is outside and has no place on this axis"
    return (text,)


def _has_zero(result: LowBinCount) -> bool:
    inside, outside = split_frequencies(result)
    return inside.size + outside.size < result.total
