"""Encodings side by side as an answer."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pe_spectra.answers.answer import Answer, Body, Drawing, Verdict, Verdicts, agree, name_apart
from pe_spectra.compare import Comparison
from pe_spectra.metrics import METRICS
from pe_spectra.metrics.shares import SIGNED
from pe_spectra.quantities import Result, quantity
from pe_spectra.table_part import describe_part
from pe_spectra.vocabulary import Level
from pe_spectra.wording import count, join, tell_apart, write_time

VERDICTS = Verdicts(
    ("compared", "ok", "{none} collisions found."),
    ("compared", "note", "{some} (positions or lags with one vector) in {merged} of {total} ({names})."),
)
#: Metrics of the same encoding on two roads differ by rounding: closer than this relative difference is a tie.
_TIE = 1e-9
#: What a terminal shows; all of them in a pipe, in CSV and with --full.
_SHOWN = ("kernel_half_width", "sidelobe_ratio", "toeplitz_share", "stable_rank_centred", "min_separation")
#: What each cell of a figure shows, with their short names there.
_DRAWN = {"kernel_half_width": "half width", "min_separation": "separation"}
_MAXIMUM = {True: "a local maximum", False: "no local maximum", None: "whether a maximum is not known"}
#: Kernels beyond their panels that are named, at most.
_MOST_CUT = 4


@dataclass(frozen=True, kw_only=True)
class ComparisonParameters(Result):
    """What was asked."""

    length: object = quantity(
        "Number of positions S, where it is the same for all rows, else a list of those of the rows.",
        schema={
            "type": ["integer", "array"],
            "minimum": 1,
            "items": {"type": "integer", "minimum": 1},
            "minItems": 1,
        },
    )


@dataclass(frozen=True, kw_only=True)
class ComparisonBody(Body):
    """Encodings side by side."""

    kind = "comparison"
    parameters: ComparisonParameters = quantity("What was asked.")
    sorted_by: str | None = quantity(
        "The metric that the rows are sorted by; null for the order in which they were named.", words=tuple(METRICS)
    )
    rows: tuple[Comparison, ...] = quantity("One row for each encoding.", least=1)


def answer_comparison(
    compared: Sequence[Comparison], sorted_by: str | None = None, failed: tuple[str, ...] = ()
) -> Answer:
    """Turn a comparison into an answer, in the order given.

    Parameters
    ----------
    compared : at least one.
    sorted_by : the metric that they were sorted by; None for the order in which they were named.
    failed : the requirements that do not hold.

    >>> from pe_spectra import Dft, compare_encodings
    >>> answer_comparison(compare_encodings([Dft(d=8)], length=8), None).verdict.text
    'No collisions found.'
    """
    parameters = ComparisonParameters(length=agree([one.length for one in compared]))
    shown = dict.fromkeys(([sorted_by] if sorted_by else []) + list(_SHOWN))
    return Answer(
        body=ComparisonBody(parameters=parameters, sorted_by=sorted_by, rows=tuple(compared)),
        verdict=_judge(compared, sorted_by),
        results=compared,
        facts=_list_periods(compared),
        details=[(name, METRICS[name].text) for name in shown],
        notes=[note for one in compared for note in _list_notes(one)],
        shown=("encoding", *(["length"] if any(map(_note_part, compared)) else []), "injective", *shown),
        brief=len(compared),
        drawing=_draw(compared[0]),
        next_command=f"pe-spectra inspect {shlex.quote(compared[0].encoding.spec)}",
        failed=failed,
    )


def _list_notes(one: Comparison) -> tuple[str, ...]:
    return (*one.encoding.all_notes, *one.remarks, *_note_part(one), *_note_negative_weights(one))


def _note_part(one: Comparison) -> tuple[str, ...]:
    part = describe_part(one.encoding, one.length)
    return (f"{one.encoding.label}: {part} are compared; --length takes more",) if part else ()


def _note_negative_weights(one: Comparison) -> tuple[str, ...]:
    """Say why metrics are missing that most spectra have."""
    missing = [name for name, reason in one.notes.items() if reason == SIGNED]
    return (f"{one.encoding.label}: no {', '.join(missing[:-1])} or {missing[-1]}: {SIGNED}",) if missing else ()


def _judge(compared: Sequence[Comparison], sorted_by: str | None) -> Verdict:
    merged = [one.encoding.label for one in compared if one.injective is False]
    names = ", ".join(merged[:3]) + (", .." if merged[3:] else "")
    ranking = _rank(compared, sorted_by)
    # begins in small letters where it begins with a label: names, of files too, stay as they are typed
    begin = f"{ranking}; " if ranking else ""
    words = {"none": f"{begin}no" if ranking else "No", "some": f"{begin}collisions" if ranking else "Collisions"}
    level: Level = "note" if merged else "ok"
    return VERDICTS.say("compared", level, **words, merged=len(merged), total=len(compared), names=names)


def _rank(compared: Sequence[Comparison], sorted_by: str | None) -> str:
    """Say which is the first row of those with a value, and which the last; unsorted, which has the largest."""
    chosen = sorted_by or "min_separation"
    known = [(one.encoding.label, value) for one in compared if (value := _read_fixed(one, chosen)) is not None]
    if len(known) < 2:
        return ""
    among = " of those not drawn at random" if any(one.encoding.is_random for one in compared) else ""
    numbers = [value for _, value in known]
    ends = (max(numbers), min(numbers)) if sorted_by is None else (numbers[0], numbers[-1])
    if _tie(*ends):
        every = f"all{among}" if len(known) == len(compared) or among else "all that have one"
        return f"The {chosen} of {every} is the same ({ends[0]:.4g})"
    leading = [label for label, value in known if _tie(value, ends[0])]
    first, last = join(leading, most=3), known[-1][0]
    has, is_ = ("has", "is") if len(leading) == 1 else ("have", "are")
    most, least = tell_apart(*ends)
    if sorted_by is None:
        return f"{first} {has} the largest {chosen}{among} ({most})"
    better = METRICS[chosen].better
    if better is None:
        return f"{first} {has} the smallest {chosen}{among} ({most}), {last} the largest ({least})"
    end = "largest" if better == "higher" else "smallest"
    return f"{first} {is_} the best by {chosen}{among}, the {end} ({most}), {last} the last ({least})"


def _read_fixed(one: Comparison, metric: str) -> float | None:
    return None if one.encoding.is_random else one.values[metric]


def _tie(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_TIE)


def _list_periods(compared: Sequence[Comparison]) -> list[tuple[str, str]]:
    facts = []
    for one in compared:
        name = name_apart(one.encoding, [other.encoding for other in compared])
        for match in one.periods:
            near = match.nearest_period
            own = "" if near is None else f"; nearest period of the encoding {write_time(near)}"
            if match.ratio is None:
                rows = one.encoding.rows
                why = f"the table has {count(rows, 'row')}" if rows and match.lag > rows - 1 else match.note
                facts.append((f"{name}, {match.name}", f"k(lag {match.lag:g}) not measurable: {why}{own}"))
                continue
            maximum = _MAXIMUM[match.is_local_maximum]
            text = f"k(lag {match.lag:g}) = {match.ratio:.4g} of k(0), {maximum}{own}"
            facts.append((f"{name}, {match.name}", text))
    return facts


def _draw(first: Comparison) -> Drawing | None:
    if first.kernel is None or len(first.kernel) < 2:
        return None
    ticks = ((0.0, "lag 0"), (1.0, str(len(first.kernel) - 1)))
    return Drawing(title=f"kernel k(lag)/k(0)   {first.encoding.label}", values=first.kernel.tolist(), ticks=ticks)


# --------------------------------------------------------------------- what a figure says


def entitle_comparison(compared: Sequence[Comparison], sorted_by: str | None) -> str:
    """Say how many encodings there are, and in which order.

    >>> from pe_spectra import Dft, compare_encodings
    >>> entitle_comparison(compare_encodings([Dft(d=8)] * 2, length=8), "min_separation")
    '2 encodings by separation, the largest first'
    """
    text = "One encoding" if len(compared) == 1 else f"{len(compared)} encodings"
    if sorted_by is None:
        return f"{text}: how similar two positions are by their lag, and at which frequencies"
    end = "largest" if METRICS[sorted_by].better == "higher" else "smallest"
    return f"{text} by {_name_metric(sorted_by)}, the {end} first"


def list_numbers(one: Comparison, sorted_by: str | None) -> tuple[str, ...]:
    """Return what each cell says of an encoding, line by line: what is sorted by has a line of its own.

    >>> from pe_spectra import Dft, compare_encodings
    >>> list_numbers(compare_encodings([Dft(d=8)], length=8)[0], "stable_rank")
    ('stable rank 8', 'half width 0.5, separation 1.41')
    """
    return tuple(
        ", ".join(f"{_name_metric(name)} {_write_metric(name, one)}" for name in line)
        for line in _list_lines(sorted_by)
    )


def describe_cells(
    compared: Sequence[Comparison], sorted_by: str | None, cut: Sequence[str], safe: Callable[[str], str] = str
) -> str:
    """Define the metrics that cells show, and say what is marked in them, and what is left out.

    Parameters
    ----------
    cut : what is written of each kernel that leaves its panel.
    safe : makes a name from outside fit to be drawn.

    >>> from pe_spectra import Dft, compare_encodings
    >>> describe_cells(compare_encodings([Dft(d=8)], length=8), None, [])[-42:]
    'between two position vectors; 8 positions.'
    """
    parts = []
    for name in (name for line in _list_lines(sorted_by) for name in line):
        unit = f" ({METRICS[name].unit})" if METRICS[name].unit else ""
        # as above the cells
        parts.append(f"{_name_metric(name)}: {METRICS[name].text.replace('(tau)', '(τ)')}{unit}")
    lengths = sorted({one.length for one in compared})
    parts.append(f"{lengths[0] if len(lengths) == 1 else f'{lengths[0]} to {lengths[-1]}'} positions")
    names = dict.fromkeys(safe(m.name) for one in compared for m in one.periods if m.lag < one.length)
    if names:
        parts.append(f"dotted: {', '.join(names)}")
    if any(one.encoding.shape is not None for one in compared):
        parts.append("on a grid the lags are those along a row")
    if any(one.encoding.heads > 1 for one in compared):
        parts.append("of several heads the mean kernel and the median spectrum")
    if any(one.spectrum is not None and (one.spectrum.weights <= 0).any() for one in compared):
        parts.append("gaps: estimates that are zero or negative")
    if cut:
        rest = f", and {len(cut) - _MOST_CUT} more" if len(cut) > _MOST_CUT else ""
        parts.append(f"triangles: kernels that leave their panel, {', '.join(cut[:_MOST_CUT])}{rest}")
    return "; ".join(parts) + "."


def _list_lines(sorted_by: str | None) -> tuple[tuple[str, ...], ...]:
    return (tuple(_DRAWN),) if sorted_by is None or sorted_by in _DRAWN else ((sorted_by,), tuple(_DRAWN))


def _name_metric(metric: str) -> str:
    return _DRAWN.get(metric, metric.replace("_", " "))


def _write_metric(metric: str, one: Comparison) -> str:
    value = one.values.get(metric)
    if value is not None:
        return f"{value:.3g}".replace("-", "−")
    is_wide = metric == "kernel_half_width" and one.kernel is not None and one.kernel.min() > 0.5
    return f"> {len(one.kernel) - 1}" if is_wide and one.kernel is not None else "none"
