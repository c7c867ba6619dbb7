"""What a figure of encodings side by side says in words: title, numbers of each cell, small print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.metrics import METRICS
from pe_spectra.plots.style import escape_text

if TYPE_CHECKING:
    from pe_spectra.compare import Comparison

#: Kernels beyond these values are cut.
KERNEL_RANGE = (-1.05, 1.5)
#: Kernels that are cut and named, at most.
_MOST_CUT = 4
_SHOWN = ("kernel_half_width", "min_separation")
_SHORT_NAMES = {"kernel_half_width": "half width", "min_separation": "separation"}


def choose_metrics(sorted_by: str | None) -> tuple[str, ...]:
    """Return the metrics that each cell shows: those of every comparison, after what it is sorted by.

    >>> choose_metrics("stable_rank")
    ('stable_rank', 'kernel_half_width', 'min_separation')
    """
    return _SHOWN if sorted_by is None or sorted_by in _SHOWN else (sorted_by, *_SHOWN)


def group_metrics(shown: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the metrics of each line: what is sorted by has one of its own."""
    return (tuple(shown),) if len(shown) == len(_SHOWN) else (tuple(shown[:1]), tuple(shown[1:]))


def _name_metric(metric: str) -> str:
    return _SHORT_NAMES.get(metric, metric.replace("_", " "))


def write_metric(metric: str, one: Comparison) -> str:
    """Return a metric's short name and its value; of a kernel that never falls to 1/2 the last lag."""
    value = one.values.get(metric)
    written = "none" if value is None else f"{value:.3g}".replace("-", "−")
    if value is None and metric == "kernel_half_width" and one.kernel is not None and one.kernel.min() > 0.5:
        written = f"> {one.kernel.size - 1}"
    return f"{_name_metric(metric)} {written}"


def entitle_comparison(compared: Sequence[Comparison], sorted_by: str | None) -> str:
    """Say how many encodings there are, and in which order."""
    count = len(compared)
    text = "One encoding" if count == 1 else f"{count} encodings"
    if sorted_by is None:
        return f"{text}: how similar two positions are by their lag, and at which frequencies"
    best = {"higher": ", the largest first", "lower": ", the smallest first", None: ", the smallest first"}
    return f"{text} by {_name_metric(sorted_by)}{best[METRICS[sorted_by].better]}"


def describe_comparison(compared: Sequence[Comparison], shown: Sequence[str]) -> tuple[str, ...]:
    """Define the metrics that are shown, and say what is marked in the cells, and what is left out."""
    parts = []
    for metric in shown:
        unit = METRICS[metric].unit
        definition = METRICS[metric].text.replace("(tau)", "(τ)")  # as above the cells
        parts.append(f"{_name_metric(metric)}: {definition}{f' ({unit})' if unit else ''}")
    lengths = sorted({one.length for one in compared})
    size = f"{lengths[0]}" if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]}"
    parts.append(f"{size} positions")
    names = dict.fromkeys(escape_text(m.name) for one in compared for m in one.periods if m.lag < one.length)
    if names:
        parts.append(f"dotted: {', '.join(names)}")
    if any(one.encoding.shape is not None for one in compared):
        parts.append("on a grid the lags are those along a row")
    if any(one.encoding.heads > 1 for one in compared):
        parts.append("of several heads the mean kernel and the median spectrum")
    if any(one.spectrum is not None and (one.spectrum.weights <= 0).any() for one in compared):
        parts.append("gaps: estimates that are zero or negative")
    parts += _name_cut(compared)
    return ("; ".join(parts) + ".",)


def find_beyond(one: Comparison) -> list[tuple[float, int]]:
    """Return the ends of `KERNEL_RANGE` that a kernel lies beyond, each with the lag where it is farthest.

    >>> from pe_spectra import Dft, compare_encodings
    >>> one, = compare_encodings([Dft(d=8)], length=8)
    >>> find_beyond(one)
    []
    """
    if one.kernel is None or not np.isfinite(one.kernel).any():
        return []
    lags = (int(np.nanargmin(one.kernel)), int(np.nanargmax(one.kernel)))
    return [(end, lag) for end, lag in zip(KERNEL_RANGE, lags, strict=True) if abs(one.kernel[lag]) > abs(end)]


def _name_cut(compared: Sequence[Comparison]) -> list[str]:
    """Say which kernels leave their panels, and how far they go."""
    cut = [
        f"{escape_text(one.encoding.label)} to {one.kernel[lag]:.3g}".replace(" -", " −")
        for one in compared
        if one.kernel is not None
        for _, lag in find_beyond(one)
    ]
    rest = f", and {len(cut) - _MOST_CUT} more" if len(cut) > _MOST_CUT else ""
    return [f"triangles: kernels that leave their panel, {', '.join(cut[:_MOST_CUT])}{rest}"] if cut else []
