"""What is said of a comparison at the periods that were asked for: a table of its own, and what is missing there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pe_spectra.faces import Cell, Columns
from pe_spectra.metrics.compare import Comparison
from pe_spectra.metrics.kernel_shape import OF_PERIOD, PeriodMatch
from pe_spectra.wording import count, write_time


def define_periods(compared: Sequence[Comparison]) -> dict[str, str]:
    """Say what each column of the periods that were asked for is; its lag is the same for all encodings.

    >>> define_periods([])
    {}
    """
    matches = {match.name: match for one in compared for match in one.periods}
    return {
        f"{prefix}_{match.name}": column.text.format(lag=match.lag, time=write_time(match.seconds))
        for match in matches.values()
        for prefix, column in OF_PERIOD.items()
    }


def list_at_periods(compared: Sequence[Comparison]) -> Columns:
    """List what the kernels do at the periods that were asked for: period by period, the encodings in their order.

    >>> from pe_spectra import compare_encodings, read_encoding
    >>> found = compare_encodings([read_encoding("calendar")], step_seconds=3600, periods=[("day", 86400)])
    >>> list_at_periods(found)["lag"], list_at_periods([])
    ([24.0], {})
    """
    found = [(one, match) for one in compared for match in one.periods]
    order = {name: place for one in compared for place, name in enumerate(one.asked)}
    found.sort(key=lambda pair: order[pair[1].name])
    columns: dict[str, Callable[[PeriodMatch], Cell]] = {
        "period": lambda match: match.name,
        "lag": lambda match: match.lag,
        "ratio": lambda match: match.ratio,
        "maximum": lambda match: match.is_local_maximum,
        "nearest": lambda match: None if match.nearest_period is None else write_time(match.nearest_period),
        "nearest_ratio": lambda match: match.nearest_ratio,
    }
    if not found:
        return {}
    labels = [one.encoding.label for one, _ in found]
    return {"encoding": labels, **{name: [read(match) for _, match in found] for name, read in columns.items()}}


def note_periods(one: Comparison) -> tuple[str, ...]:
    """Say at which periods nothing can be measured, and why.

    >>> from pe_spectra import Dft, compare_encodings
    >>> note_periods(compare_encodings([Dft(d=8)], length=8)[0])  # none was asked for
    ()
    """
    if one.asked and not one.periods:
        why = "no kernel of the lag" if one.encoding.shape is None else "its positions fill a grid, so no lag is a time"
        return (f"{one.encoding.label}: nothing at --periods: {why}",)
    notes = []
    for match in one.periods:
        if match.ratio is None:
            rows = one.encoding.rows
            why = f"the table has {count(rows, 'row')}" if rows and match.lag > rows - 1 else match.note
            why = why or "k(0) is not positive"
            notes.append(f"{one.encoding.label}: {match.name}: k(lag {match.lag:g}) not measurable: {why}")
        elif match.is_local_maximum is None:
            notes.append(f"{one.encoding.label}: no maximum_{match.name}: the kernel is not known behind that lag")
        if match.nearest_period is None:
            notes.append(f"{one.encoding.label}: no nearest_{match.name}: no period of its own is known")
    return tuple(notes)
