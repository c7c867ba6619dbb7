"""The command about recorded series: their times, the periods of their columns, and encodings that suit them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pe_spectra.cli.run import Outcome, Run, plot
from pe_spectra.cli.subject import check_work
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_WINDOW_WORK
from pe_spectra.numbers import quote

if TYPE_CHECKING:
    from pe_spectra.encodings import Encoding
    from pe_spectra.files.series_times import NumberUnit


def series(
    run: Run,
    file: str,
    column: tuple[str, ...] | None,
    time: str | None,
    time_unit: str | None,
    start: str | None,
    d: int,
    window: int | None,
    candidates: Sequence[str] | None,
) -> Outcome:
    """The step of its times and how regular it is, gaps, repeated times and changes of clocks with their dates;
    of each column the straight trend, and the periods that stand out of red noise, with the share of the
    variance that each explains. Then each candidate in a window of the series: whether its vectors are
    distinct, what its kernel does at the periods, how far its vectors are apart, its norm; and by few rules
    which to use, and which to avoid. FILE is a text with a column for each quantity (.csv, .tsv), .npy, .npz,
    or .parquet where pyarrow is installed.
    """
    from pe_spectra.answers.series_answers import answer_series, list_columns
    from pe_spectra.files.recorded_series import read_series
    from pe_spectra.series.deciding import choose_encoding
    from pe_spectra.series.series_report import describe_series

    if window is not None:
        check_work("--window and --d", window * window * d, MAX_WINDOW_WORK)
    unit = read_unit(time_unit, start)
    chosen = read_candidates(candidates or (), d)
    with run.progress("looking for periods"):
        read = read_series(Path(file), columns=column or (), time=time, unit=unit, label="FILE")
        report = describe_series(read.columns, file=file, timed=read.timed, **read.known)
        drawn = list_columns(report.columns)
        if run.figure is not None and not drawn:
            raise InputError(
                "--figure has nothing to draw", str(run.figure), "a column in which periods were looked for"
            )
        choice = choose_encoding(report, d=d, window=window, candidates=chosen) if drawn else None
        return run.finish(
            answer_series(report, choice, notes=read.notes),
            plot("pe_spectra.plots.series_spectrum.compose_series", report, choice) if drawn else None,
        )


def read_unit(text: str | None, start: str | None) -> NumberUnit | None:
    """Read what a time that is a number lasts, a unit as `h` or a duration, and the moment of 0.

    Raises
    ------
    InputError : no such unit or moment, or a moment without a unit.

    >>> read_unit("h", None).seconds, read_unit("10ms", "2024-01-01").seconds, read_unit(None, None)
    (3600.0, 0.01, None)
    """
    if text is None:
        if start is not None:
            raise InputError("--start goes with --time-unit", start)
        return None
    from numpy import datetime64

    from pe_spectra.domains import Duration, Moment, read_duration, read_months
    from pe_spectra.files.series_times import NumberUnit

    try:
        length = Duration().parse(f"1{text}" if text.isalpha() else text, "--time-unit")
    except InputError:
        raise InputError("--time-unit is no unit or duration", quote(text), Duration().accepted) from None
    moment = None if start is None else datetime64(Moment().parse(start, "--start"), "us")
    return NumberUnit(seconds=float(read_duration(length)), start=moment, months=read_months(length))


def read_candidates(specs: Sequence[str], d: int) -> tuple[Encoding, ...]:
    """Build the encodings that SPECs name; those that leave their width open have that of the model.

    Raises
    ------
    InputError, FileError : as :func:`pe_spectra.sources.build_encodings` says.

    >>> [one.label for one in read_candidates(["dft", "dft:d=8"], 16)]
    ['dft d=16', 'dft d=8']
    """
    if not specs:
        return ()
    from pe_spectra.sources import build_encodings, has_option
    from pe_spectra.spec import NamedSpec, parse_spec

    built: list[Encoding] = []
    for text in specs:
        spec = parse_spec(text, "--candidates")
        is_open = isinstance(spec, NamedSpec) and "d" not in dict(spec.parameters)
        found = build_encodings([text], {}, "--candidates")
        if is_open and has_option([text], "d", "--candidates"):
            with suppress(InputError):  # of fields side by side, or of a table with a width of its own, it has no say
                found = build_encodings([text], {"d": [str(d)]}, "--candidates")
        built += found
    return tuple(dict.fromkeys(built))
