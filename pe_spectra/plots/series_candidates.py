"""Encodings held against a series: their spectra over the axis of its own, and their kernels over a window."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from pe_spectra.exact import F64
from pe_spectra.plots.axes import draw_curve, label_powers_of_ten, label_times
from pe_spectra.plots.style import BLACK, GREY, SMALL_SIZE, LineStyle, curve_style, escape_text
from pe_spectra.series.deciding import EncodingChoice, Ranked
from pe_spectra.series.proposing import SharedPeriod
from pe_spectra.series.times import Sampling
from pe_spectra.series.window_spectra import weigh_periods

#: Candidates that are drawn: the first ones of the order, and one that is to be avoided.
_FIRST, _AVOIDED = 3, 1
_DECADES = 3.0
#: Of the periods of the series, behind all curves.
PERIODS: LineStyle = {"color": GREY, "linestyle": "-"}


def list_drawn(choice: EncodingChoice) -> list[tuple[Ranked, str, LineStyle]]:
    """The candidates that a figure shows, each with what its key says and its line.

    >>> from pe_spectra.series.proposing import Demand
    >>> from pe_spectra.series.deciding import rank_candidates
    >>> list_drawn(rank_candidates([], Demand(window=8, reason="as given", d=4, wanted=()), {}))
    []
    """
    avoided = [one for one in choice.ranked if one.advice == "avoid"][:_AVOIDED]
    drawn = [one for one in choice.ranked if one.advice != "avoid"][: _FIRST + _AVOIDED - len(avoided)] + avoided
    names = [f"{one.advice}: {one.candidate.name}" for one in drawn]
    return [(one, name, _find_style(place)) for place, (one, name) in enumerate(zip(drawn, names, strict=True))]


def _find_style(place: int) -> LineStyle:
    """Lines as everywhere, the first one whole, in colours that the spectrum of the series leaves."""
    return {"color": curve_style(place + 2)["color"], "linestyle": curve_style(place)["linestyle"]}


def draw_spectra(axes: Axes, choice: EncodingChoice, sampling: Sampling, limits: tuple[float, float]) -> None:
    """Draw base-10 logarithms of the weights of periods and candidates in a window against that of the period."""
    window = choice.demand.window
    inside = [one for one in choice.demand.wanted if one.inside]
    wanted = weigh_periods(inside, window)
    lengths = np.log10(sampling.step * window / np.arange(1, window // 2 + 1))
    curves = [(one.candidate.weights, style) for one, _, style in list_drawn(choice)]
    if wanted is not None:
        floor = np.full(len(lengths), -_DECADES)
        axes.fill_between(
            lengths, floor, np.log10(np.maximum(wanted, 10**-_DECADES)), color=GREY, alpha=0.3, linewidth=0
        )
    for weights, style in curves:
        draw_curve(axes, lengths, _take_logarithms(weights), style, linewidth=1.0)
    axes.set(xlim=limits, ylim=(-_DECADES, 0.05), ylabel="weight")
    label_periods(axes, sampling)
    label_powers_of_ten(axes.yaxis)


def label_periods(axes: Axes, sampling: Sampling) -> None:
    """Label the axis of base-10 logarithms of periods, of a dated series with lengths of time that people say."""
    if sampling.is_dated:
        axes.set_xlabel("period")
        label_times(axes.xaxis)
    else:
        axes.set_xlabel(f"period ({escape_text(sampling.unit)})")
        label_powers_of_ten(axes.xaxis)


def _take_logarithms(weights: F64) -> F64:
    found: F64 = np.log10(np.maximum(weights, 10**-_DECADES))
    return found


def draw_kernels(axes: Axes, choice: EncodingChoice) -> None:
    """Draw k(lag)/k(0) of the candidates over a window, with the periods of the series marked by name."""
    window = choice.demand.window
    low = min([0.0, *(float(one.candidate.kernel.min()) for one, _, _ in list_drawn(choice))])
    for period in choice.demand.wanted:
        if period.inside:
            _mark_period(axes, period)
    for one, _, style in list_drawn(choice):
        draw_curve(axes, np.arange(float(window)), one.candidate.kernel, style, linewidth=1.0)
    axes.set(xlim=(0, window), ylim=(low - 0.03, 1.03), xlabel="lag (steps)", ylabel="k(lag)/k(0)")


def _mark_period(axes: Axes, period: SharedPeriod) -> None:
    axes.axvline(period.steps, color=BLACK, linewidth=0.6, zorder=0)
    axes.annotate(
        escape_text(period.name),
        (period.steps, 1.03),
        (2, -2),
        textcoords="offset points",
        fontsize=SMALL_SIZE,
        va="top",
    )
