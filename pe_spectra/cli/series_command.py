"""The command about recorded series: their times, and the periods of their columns."""

from __future__ import annotations

from pathlib import Path

from pe_spectra.cli.run import Outcome, Run, plot
from pe_spectra.errors import InputError


def series(run: Run, file: str, column: tuple[str, ...] | None, time: str | None) -> Outcome:
    """The step of its times and how regular it is, gaps, repeated times and changes of clocks with their dates;
    of each column the straight trend, and the periods that stand out of red noise, harmonics told as such,
    each with the share of the variance that it explains. FILE is a text with a column for each quantity
    (.csv, .tsv), .npy, .npz, or .parquet where pyarrow is installed.
    """
    from pe_spectra.answers.series_answers import answer_series, list_columns
    from pe_spectra.files.recorded_series import read_series
    from pe_spectra.series.series_report import describe_series

    with run.progress("looking for periods"):
        read = read_series(Path(file), columns=column or (), time=time, label="FILE")
        report = describe_series(read.columns, file=file, timed=read.timed, **read.known)
        drawn = list_columns(report.columns)
        if run.figure is not None and not drawn:
            raise InputError(
                "--figure has nothing to draw", str(run.figure), "a column in which periods were looked for"
            )
        return run.finish(
            answer_series(report, notes=read.notes),
            plot("pe_spectra.plots.series_spectrum.compose_series", report) if drawn else None,
        )
