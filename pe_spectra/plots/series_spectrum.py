"""The spectrum of a recorded series: what each frequency explains, the noise below it, and the periods by name."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.answers.series_answers import answer_series, list_columns
from pe_spectra.plots.axes import draw_curve, label_powers_of_ten, measure_above, write_above
from pe_spectra.plots.series_candidates import PERIODS, draw_kernels, draw_spectra, label_periods, list_drawn
from pe_spectra.plots.sheet import Layout, lay_out
from pe_spectra.plots.style import (
    BLACK,
    BLUE,
    COLUMN_WIDTH,
    GREY,
    PAGE_WIDTH,
    SMALL_SIZE,
    VERMILION,
    LineStyle,
    escape_sentence,
    escape_text,
    fixed_style,
)
from pe_spectra.series.deciding import EncodingChoice
from pe_spectra.series.series_report import SeriesColumn, SeriesReport
from pe_spectra.series.times import Sampling
from pe_spectra.wording import count

#: Inches of a panel, of white for its tick labels, and columns that are drawn at most.
_PANEL, _TICKS, _MOST = 1.3, 0.30, 6
#: Columns beside candidates, and inches of white for the label of the axis below these.
_BESIDE, _LABEL = 2, 0.16
#: Periods of a column that have their names, and decades of the axis upwards at most.
_NAMED, _DECADES = 4, 6.0
_POWER: LineStyle = {"color": BLUE, "linestyle": "-"}
_NOISE: LineStyle = {"color": BLACK, "linestyle": "-"}
_THRESHOLD: LineStyle = {"color": GREY, "linestyle": (0, (4, 1.5))}
_KEY = (
    ("share of the variance that a sinusoid explains", _POWER),
    ("red and white noise", _NOISE),
    ("a period is above", _THRESHOLD),
)


def draw_series(axes: Axes, column: SeriesColumn, sampling: Sampling) -> None:
    """Draw base-10 logarithms of the spectrum of one column against that of the period, with its periods."""
    lengths = -np.log10(column.frequencies)
    noise = np.log10(np.maximum(column.noise, 1e-300))
    power = np.log10(np.maximum(column.power, 1e-300))
    top = max(float(power.max()), float(noise.max() + np.log10(column.threshold or 1))) + 0.15
    low = max(top - _DECADES, float(noise.min()) - 2)
    draw_curve(axes, lengths, np.maximum(power, low), _POWER, linewidth=0.8)
    draw_curve(axes, lengths, np.maximum(noise, low), _NOISE, linewidth=1.0)
    draw_curve(axes, lengths, np.maximum(noise + np.log10(column.threshold or 1), low), _THRESHOLD, linewidth=0.9)
    for place, period in enumerate(column.periods):
        x = float(np.log10(period.period))
        axes.plot([x, x], [top, top - 0.08 * (top - low)], color=VERMILION, linewidth=1.2)
        if place < _NAMED:
            name = period.named or sampling.write(period.period)
            axes.annotate(
                escape_text(name), (x, top), (0, 2), textcoords="offset points", ha="center", fontsize=SMALL_SIZE
            )
    axes.set(xlim=(lengths.min() - 0.05, lengths.max() + 0.05), ylim=(low, top))
    axes.set_ylabel("share")
    label_periods(axes, sampling)
    label_powers_of_ten(axes.yaxis)


def draw_first_column(axes: Axes, report: SeriesReport) -> None:
    """Draw the first column in which periods were looked for."""
    draw_series(axes, list_columns(report.columns)[0], report.sampling)


@fixed_style()
def compose_series(report: SeriesReport, choice: EncodingChoice | None = None) -> Figure:
    """The figure of `pe-spectra series`: a panel for each column in which periods were looked for."""
    columns = list_columns(report.columns)
    is_chosen = choice is not None and bool(choice.ranked)
    drawn, words = columns[: _BESIDE if is_chosen else _MOST], measure_above(1) + 0.14
    sampling = report.sampling
    note = f"{sampling.samples:,} samples from {sampling.start} to {sampling.end}, step {sampling.write(sampling.step)}"
    more = f"; {count(len(columns) - len(drawn), 'other column')} not drawn" if len(columns) > len(drawn) else ""
    print_ = [f"{note}{more}; of frequencies that share a place the highest is drawn"]
    key, below = [*_KEY], 0
    if choice is not None and is_chosen:
        below = 2
        key += [
            ("area: spectrum of the periods in a window", PERIODS),
            *((name, style) for _, name, style in list_drawn(choice)),
        ]
        print_ += [f"candidates: window of {choice.demand.window:,} samples, width {choice.demand.d:,}"]
    layout = Layout(
        title=escape_sentence(answer_series(report, choice).title.partition("; avoid ")[0]),
        heights=(_PANEL,) * (len(drawn) + below),
        key=tuple(key),
        top=words + 0.06,
        gap=words + _TICKS,
        gaps=(words + _TICKS,) * (len(drawn) + below - 2) + (words + _TICKS + _LABEL,) if below else (),
        small_print=tuple(print_),
        width=PAGE_WIDTH if below else COLUMN_WIDTH,
    )
    figure, panels = lay_out(layout)
    for axes, column in zip(panels, drawn, strict=False):
        draw_series(axes, column, sampling)
        write_above(axes, escape_text(column.column), [count(len(column.periods), "period")], colour=BLACK)
    if choice is not None and is_chosen:
        low, high = (f(axes.get_xlim()[i] for axes in panels[: len(drawn)]) for i, f in ((0, min), (1, max)))
        for axes in panels[: len(drawn)]:
            axes.set_xlim(low, high)
        draw_spectra(panels[-2], choice, sampling, (low, high))
        write_above(panels[-2], "spectra in a window", ["of the periods, and of encodings"], colour=BLACK)
        draw_kernels(panels[-1], choice)
        write_above(panels[-1], "kernels over a window", ["periods of the series are marked"], colour=BLACK)
    for axes in panels[: len(panels) - below - (not below)]:
        axes.set_xlabel("")
    return figure
