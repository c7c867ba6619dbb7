"""The spectrum of a recorded series: what each frequency explains, the noise below it, and the periods by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pe_spectra.answers.series_answers import answer_series, list_columns
from pe_spectra.plots.axes import draw_curve, label_powers_of_ten, measure_above, write_above
from pe_spectra.plots.series_candidates import PERIODS, draw_kernels, draw_spectra, label_periods, list_drawn
from pe_spectra.plots.sheet import Layout, draw_key, lay_out
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
#: Beside candidates: columns, inches of all panels below each other, and of the key left of its panel's place.
_BESIDE, _WIDE, _KEY_OUT = 2, 3.0, 0.4
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
    """The figure of `pe-spectra series`: a panel for each column in which periods were looked for, and of candidates.

    Those stand in a page that is wider than high: below the columns the spectra, over the same periods, and beside them
    the kernels.
    """
    columns, sampling = list_columns(report.columns), report.sampling
    chosen = choice if choice is not None and choice.ranked else None
    drawn, words = columns[: _MOST if chosen is None else _BESIDE], measure_above(1) + 0.14
    rows = len(drawn) + (chosen is not None)
    layout = Layout(
        title=escape_sentence(answer_series(report, choice).title.partition("; avoid ")[0]),
        heights=(_PANEL if chosen is None else _WIDE / rows,) * rows,
        key=_KEY if chosen is None else (),
        top=words + 0.06,
        gap=words + _TICKS,
        small_print=_write_small_print(report, drawn, choice),
        width=COLUMN_WIDTH if chosen is None else PAGE_WIDTH,
        columns=1 if chosen is None else 2,
    )
    figure, panels = lay_out(layout)
    upright = panels[:: layout.columns]
    for axes, column in zip(upright, drawn, strict=False):
        draw_series(axes, column, sampling)
        write_above(axes, escape_text(column.column), [count(len(column.periods), "period")], colour=BLACK)
    if chosen is not None:
        _draw_candidates(figure, panels, chosen, sampling)
    for axes in upright[:-1]:
        axes.set_xlabel("")
    return figure


def _write_small_print(
    report: SeriesReport, drawn: Sequence[SeriesColumn], choice: EncodingChoice | None
) -> tuple[str, ...]:
    sampling, others = report.sampling, len(list_columns(report.columns)) - len(drawn)
    note = f"{sampling.samples:,} samples from {sampling.start} to {sampling.end}, step {sampling.write(sampling.step)}"
    more = f"; {count(others, 'other column')} not drawn" if others else ""
    print_ = (f"{note}{more}; of frequencies that share a place the highest is drawn",)
    if choice is None or not choice.ranked:
        return print_
    return (*print_, f"candidates: window of {choice.demand.window:,} samples, width {choice.demand.d:,}")


def _draw_candidates(figure: Figure, panels: Sequence[Axes], choice: EncodingChoice, sampling: Sampling) -> None:
    """Draw what candidates make of the periods: spectra below those of the columns, kernels beside, then the key."""
    *columns, spectra = panels[::2]
    kernels, *free = panels[1::2]
    low, high = (f(axes.get_xlim()[i] for axes in columns) for i, f in ((0, min), (1, max)))
    for axes in columns:
        axes.set_xlim(low, high)
    draw_spectra(spectra, choice, sampling, (low, high))
    write_above(spectra, "spectra in a window", ["of the periods, and of encodings"], colour=BLACK)
    draw_kernels(kernels, choice)
    write_above(kernels, "kernels over a window", ["periods of the series are marked"], colour=BLACK)
    place = free[0].get_position()
    width, height = figure.get_size_inches()
    key = (
        *_KEY,
        ("area: spectrum of the periods in a window", PERIODS),
        *((name, style) for _, name, style in list_drawn(choice)),
    )
    draw_key(figure, key, place.x0 * width - _KEY_OUT, place.y1 * height, width)
    for axes in free:
        axes.remove()
