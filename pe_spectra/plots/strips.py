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

from pe_spectra.answers.counts import answer_counts
from pe_spectra.encodings import HasFrequencies
from pe_spectra.exact import F64
from pe_spectra.plots.axes import find_range, label_powers_of_ten, measure_above, write_above
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.spectrum import OMEGA_LABEL
from pe_spectra.plots.style import BLACK, BLUE, VERMILION, escape_sentence, escape_text, fixed_style

if TYPE_CHECKING:
    from pe_spectra.spectrum.low_bin import LowBinCount

#: Strokes closer than this share of a decade fall together in print and are drawn once.
_RESOLUTION = 1 / 200
#: Inches of one strip, and of white at both ends.
_STRIP, _SIDE = 0.26, 0.16
#: Height of a stroke in points: those inside are taller, so that grey tells them apart.
_TALL, _SHORT = 15.0, 8.0


def draw_low_bin(axes: Axes, result: LowBinCount) -> None:
    """Draw the frequencies of one count as strokes at their base-10 logarithm, and the bin's edge."""
    inside, outside = _split_frequencies(result)
    for logarithms, colour, height in ((inside, VERMILION, _TALL), (outside, BLUE, _SHORT)):
        _, first = np.unique(np.round(logarithms / _RESOLUTION), return_index=True)
        drawn = logarithms[first] if logarithms.size > 1000 else logarithms
        (strokes,) = axes.plot(drawn, np.zeros(drawn.size), "|", color=colour, markersize=height, markeredgewidth=0.5)
        strokes.set_snap(False)  # else strokes jump to whole pixels and seem to be uneven
    axes.axvline(math.log10(result.bin_edge), color=BLACK, linewidth=1.0)
    axes.set(ylim=(-1, 1), yticks=[], xlabel=OMEGA_LABEL)
    axes.spines["left"].set_visible(False)
    label_powers_of_ten(axes.xaxis)


def draw_count(axes: Axes, result: LowBinCount) -> None:
    """Draw one count, with its numbers above it."""
    draw_low_bin(axes, result)
    axes.set_title(f"{result.inside} of {result.total} below 2π/{_find_length(result)}", loc="left")


@fixed_style()
def compose_low_bin(*results: LowBinCount) -> Figure:
    """The figure of `pe-spectra count-low-bin`: one strip for each count, on one axis."""
    words = measure_above(1)
    note = "tall strokes: inside the lowest bin, 0 < ω < edge (vertical line)"
    if any(sum(part.size for part in _split_frequencies(result)) < result.total for result in results):
        note += "; a frequency of 0 is outside and has no place on this axis"
    layout = Layout(
        title=escape_sentence(answer_counts(results).title),
        heights=(_STRIP,) * len(results),
        left=_SIDE,
        right=_SIDE,
        top=words + 0.06,
        gap=words + 0.16,
        small_print=(note,),
    )
    figure, panels = lay_out(layout)
    for axes, result in zip(panels, results, strict=True):
        draw_low_bin(axes, result)
        axes.set_xlim(*_find_range(results))
        numbers = f"{result.inside} of {result.total} inside ({100 * result.share_inside:.1f} %), "
        numbers += f"{result.outside} outside; edge 2π/{_find_length(result)}"
        write_above(axes, escape_text(result.encoding.label), [numbers], colour=BLACK)
    for axes in panels[:-1]:
        axes.set_xlabel("")
        axes.tick_params(labelbottom=False)
    return figure


def _find_length(result: LowBinCount) -> int:
    """The length whose first frequency is the edge."""
    return result.length or round(2 * math.pi / result.bin_edge)


def _split_frequencies(result: LowBinCount) -> tuple[F64, F64]:
    """Base-10 logarithms of the frequencies inside and outside the bin, ascending; none for 0.

    Which are inside is taken from the exact count, not from another comparison.
    """
    if not isinstance(result.encoding, HasFrequencies):
        return np.empty(0), np.empty(0)
    values = np.sort(result.encoding.frequencies().values)
    logarithms = np.log10(values[values > 0])
    return logarithms[: result.inside], logarithms[result.inside :]


def _find_range(results: Sequence[LowBinCount]) -> tuple[float, float]:
    """An axis that holds all frequencies and edges, with a little white."""
    edges = np.log10([result.bin_edge for result in results])
    low, high = find_range(edges, *(part for result in results for part in _split_frequencies(result)))
    if high - low < 2:  # so that the axis holds two powers of ten at least
        low, high = min(low, math.floor(low)), max(high, math.ceil(high), math.floor(low) + 1)
    white = 0.04 * max(high - low, 1.0)
    return low - white, high + white
