"""What a recorded series shows, as an answer: its times, and the periods of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pe_spectra.answers.answer import Answer, Body, Later, Verdict, Verdicts, group_facts
from pe_spectra.answers.series_choices import (
    SHOWN,
    explain_choice,
    judge_choice,
    list_choice_facts,
    note_choice,
)
from pe_spectra.faces import Columns
from pe_spectra.quantities import quantity, tabulate
from pe_spectra.records import dataclass
from pe_spectra.series.deciding import EncodingChoice
from pe_spectra.series.line_search import LEAST_CYCLES
from pe_spectra.series.series_report import FAR, SeriesColumn, SeriesPeriod, SeriesReport
from pe_spectra.series.times import Sampling
from pe_spectra.wording import count, join, percent

VERDICTS = Verdicts({"periods": "ok", "no-periods": "note", "not-looked-for": "warning"})
#: What a terminal shows; all of them in a pipe, in CSV and with --full.
_SHOWN = ("column", "period", "named", "steps", "cycles", "share", "harmonics", "false_alarm")
_DIGITS = 4
#: Columns, periods of one, and dates that a sentence names.
_NAMED_COLUMNS, _NAMED_PERIODS, _NAMED_DATES = 3, 4, 3


@dataclass(frozen=True, kw_only=True)
class SeriesBody(Body):
    """What a recorded series shows."""

    kind = "series"
    report: SeriesReport = quantity("Its times and its columns.", inline=True)
    choice: EncodingChoice | None = quantity("Which encoding suits it; null where no column was looked at for periods.")


def answer_series(report: SeriesReport, choice: EncodingChoice | None = None, *, notes: tuple[str, ...] = ()) -> Answer:
    """Turn what a series shows into an answer, with what suits it where encodings were held against it.

    >>> import numpy as np
    >>> from pe_spectra.series.series_report import describe_series
    >>> times = np.arange(100.0)
    >>> answer_series(describe_series({"load": np.sin(times)}, times)).verdict.code
    'periods'
    """
    is_chosen = choice is not None and bool(choice.ranked)
    found = judge_series(report)
    facts = [("series", found.text.removesuffix("."))] if is_chosen else []
    return Answer(
        body=SeriesBody(report=report, choice=choice),
        verdict=judge_choice(choice) if choice is not None and is_chosen else found,
        results=choice.ranked if choice is not None else (),
        table={} if is_chosen else _tabulate_periods(report),
        facts=[
            *facts,
            *(list_choice_facts(choice) if choice is not None else ()),
            *_list_times(report.sampling),
            *group_facts((one.column, _list_facts(one, report)) for one in report.columns),
        ],
        details=Later(lambda: [*(explain_choice() if is_chosen else ()), *_explain(report)]),
        notes=(*notes, *_list_notes(report), *(note_choice(choice) if choice is not None else ())),
        shown=SHOWN if is_chosen else _SHOWN,
        digits=_DIGITS,
    )


def _tabulate_periods(report: SeriesReport) -> Columns:
    rows = tabulate([period for column in report.columns for period in column.periods])
    return rows or {name: [] for name in SeriesPeriod.quantities()}


# --------------------------------------------------------------------- verdicts


def judge_series(report: SeriesReport) -> Verdict:
    """Say in a sentence which periods a series has.

    >>> import numpy as np
    >>> from pe_spectra.series.series_report import describe_series
    >>> judge_series(describe_series({"load": np.ones(100)}, np.arange(100.0))).text
    'Nothing was looked for: load: all values are equal.'
    """
    looked = [one for one in report.columns if one.silent is None]
    if not looked:
        said = join([f"{one.column}: {one.silent}" for one in report.columns], _NAMED_COLUMNS)
        return VERDICTS.say("not-looked-for", f"Nothing was looked for: {said}.")
    having = [one for one in looked if one.periods]
    if not having:
        where = looked[0].column if len(looked) == 1 else count(len(looked), "column")
        return VERDICTS.say("no-periods", f"No period in {where} stands out of red and white noise.")
    said = "; ".join(_say_periods(one, report.sampling) for one in having[:_NAMED_COLUMNS])
    others = len(looked) - len(having[:_NAMED_COLUMNS])
    rest = f"; {count(others, 'other column')} below" if others else ""
    return VERDICTS.say("periods", f"{said}{rest}.")


def _say_periods(column: SeriesColumn, sampling: Sampling) -> str:
    named = [
        f"{entitle_period(one, sampling)} ({_say_steps(one, sampling)}{percent(one.share)} of the variance)"
        for one in column.periods[:_NAMED_PERIODS]
    ]
    more = len(column.periods) - len(named)
    named += [f"{more} more"] if more else []
    return f"{'Period' if len(column.periods) == 1 else 'Periods'} of {column.column}: {join(named)}"


def entitle_period(period: SeriesPeriod, sampling: Sampling) -> str:
    """Name a period, as the calendar does where it can, else by its length.

    >>> import numpy as np
    >>> from pe_spectra.series.series_report import describe_series
    >>> times = np.arange(100.0)
    >>> found = describe_series({"load": np.sin(times)}, times)
    >>> entitle_period(found.columns[0].periods[0], found.sampling)
    '6.283 rows'
    """
    article = "an" if period.named == "hour" else "a"
    return f"{article} {period.named}" if period.named is not None else sampling.write(period.period)


def _say_steps(period: SeriesPeriod, sampling: Sampling) -> str:
    """Its length in steps, to be followed by more; nothing where rows count, which are steps."""
    return "" if sampling.unit == "rows" else f"{period.steps:.4g} steps, "


# --------------------------------------------------------------------- facts


def _list_times(sampling: Sampling) -> Iterator[tuple[str, str]]:
    yield "samples", f"{sampling.samples:,} from {sampling.start} to {sampling.end}"
    yield "step", _say_step(sampling)
    if sampling.gaps:
        first = sampling.named_gaps[:_NAMED_DATES]
        listed = [f"{one.after} to {one.before} ({one.missing:,})" for one in first]
        more = sampling.gaps - len(listed)
        listed += [f"{more:,} more"] if more else []
        total = f"{count(sampling.gaps, 'gap')}, {count(sampling.missing, 'step')} missing"
        yield "gaps", f"{total}: {join(listed)}"
    else:
        yield "gaps", "none"
    if sampling.repeated:
        dates = join(list(sampling.named_repeats), _NAMED_DATES)
        said = (
            f"{count(sampling.repeated, 'row')} at times that others have, {sampling.contradicting:,} with other values"
        )
        yield "repeated", f"{said}: {dates}"
    if sampling.clock_changes:
        dates = join(list(sampling.named_changes), _NAMED_DATES)
        yield "clocks changed", f"{count(sampling.clock_changes, 'time')}, after {dates}"


def _say_step(sampling: Sampling) -> str:
    step = sampling.write(sampling.step)
    if sampling.spacing == "even":
        return f"{step}, even"
    if sampling.spacing == "months":
        return f"{step} on average: months of the calendar, at one day of each"
    if sampling.spacing == "jittered":
        return f"{step}, off by {percent(sampling.jitter)} of it (root mean square)"
    return f"{step} in the median; the times are on no lattice"


def _list_facts(column: SeriesColumn, report: SeriesReport) -> Iterator[tuple[str, str]]:
    write = report.sampling.write
    if column.missing:
        most = f", at most {column.longest_missing:,} in a row" if column.missing > 1 else ""
        yield "missing", f"{count(column.missing, 'sample')} without a value{most}"
    if column.silent is not None:
        yield "periods", f"not looked for: {column.silent}"
        return
    for period in column.periods:
        yield entitle_period(period, report.sampling), _describe_period(period, report.sampling)
    if column.trend_share is not None and column.explained is not None:
        yield "trend", f"a straight line alone explains {percent(column.trend_share)} of the variance"
        yield "explained", f"{percent(min(1.0, column.explained))} by the line and the periods together"
    if column.correlation is not None and column.white is not None:
        red = f"{percent(1 - column.white)} red (correlation {column.correlation:.3g} from step to step)"
        yield "noise", "white" if not column.correlation else red
    if column.slowest is not None and column.fastest is not None:
        yield "looked for", f"periods from {write(column.fastest)} to {write(column.slowest)}"


def _describe_period(period: SeriesPeriod, sampling: Sampling) -> str:
    parts = [f"{sampling.write(period.period)} +- {sampling.write(period.error, 2)}"]
    share = f"{_say_steps(period, sampling)}{percent(period.share)} of the variance"
    parts += [*share.split(", "), f"{period.cycles:.4g} cycles"]
    if period.harmonics:
        parts.append(f"harmonics {' '.join(map(str, period.harmonics))}")
    if period.modulated:
        parts.append(f"amplitude changes with {join(list(period.modulated))}")
    return "; ".join([*parts, f"false alarm {period.false_alarm:.2g}"])


def _explain(report: SeriesReport) -> Iterator[tuple[str, str]]:
    rate = f"in series of noise alone one is told in {percent(report.rate)} at most"
    yield "period", f"a sinusoid that stands out of the red and white noise fitted to the periodogram; {rate}"
    multiples = "with the harmonics, which are multiples of the frequency that stand out, too"
    yield "share", f"of the variance, {multiples}, and what stands out beside them where the amplitude changes"
    yield "false_alarm", "the probability of a sinusoid as strong in noise alone, at any of the frequencies"
    yield "looked for", f"at least {LEAST_CYCLES:g} cycles in the record; a longer wave is a trend"


def _list_notes(report: SeriesReport) -> Iterator[str]:
    sampling = report.sampling
    if sampling.timeless:
        yield f"left out: {count(sampling.timeless, 'row')} without a time"
    if sampling.disordered:
        verb = "is" if sampling.disordered == 1 else "are"
        yield f"{count(sampling.disordered, 'row')} {verb} earlier than a row above; sorted by time"
    if sampling.repeated:
        yield "of rows at one time the mean of the values was taken"
    for column in report.columns:
        if column.farthest is not None:
            far = f"{count(column.far, 'value')} more than {FAR:g} ranges of the middle half from the median"
            hidden = "a code of what is missing, or a fault, hides periods, and an empty cell does not"
            yield f"{column.column}: {far}, the farthest {column.farthest:g}: {hidden}"
        if any(one.drifts for one in column.periods):
            lengths = join([sampling.write(one.period) for one in column.periods if one.drifts])
            yield f"{column.column}: {lengths} not steady: several sinusoids too near each other to be told apart"
        if column.fastest is not None and column.fastest > 3 * sampling.step:
            shortest = sampling.write(column.fastest)
            yield f"{column.column}: periods below {shortest} were not looked for: too many frequencies"


def list_columns(columns: Sequence[SeriesColumn]) -> tuple[SeriesColumn, ...]:
    """The columns that periods were looked for in, which a figure draws.

    >>> list_columns([])
    ()
    """
    return tuple(one for one in columns if one.silent is None)
