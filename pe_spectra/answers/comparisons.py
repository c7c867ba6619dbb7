"""Encodings side by side as an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pe_spectra.answers.answer import (
    Answer,
    Body,
    Drawing,
    Verdict,
    agree,
    gather_notes,
    name_apart,
    propose,
    quantity_of_all,
)
from pe_spectra.metrics import METRICS, SIGNED
from pe_spectra.metrics.compare import Comparison
from pe_spectra.quantities import quantity
from pe_spectra.spectrum.kernels import describe_average
from pe_spectra.wording import capitalise, count, join, tell_apart, write_time

#: Metrics of the same encoding on two roads differ by rounding: closer than this relative difference is a tie.
_TIE = 1e-9
#: What a terminal shows; all of them in a pipe, in CSV and with --full.
_SHOWN = ("kernel_half_width", "sidelobe_ratio", "toeplitz_share", "stable_rank_centred", "relative_separation")
_MAXIMUM = {True: "a local maximum", False: "no local maximum", None: "whether a maximum is not known"}


@dataclass(frozen=True, kw_only=True)
class ComparisonBody(Body):
    """Encodings side by side."""

    kind = "comparison"
    length: object = quantity_of_all("Number of positions S", "integer", minimum=1)
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
    shown = dict.fromkeys(([sorted_by] if sorted_by else []) + list(_SHOWN))
    return Answer(
        body=ComparisonBody(length=agree([one.length for one in compared]), sorted_by=sorted_by, rows=tuple(compared)),
        verdict=_judge(compared, sorted_by),
        results=compared,
        facts=_list_periods(compared),
        details=[(name, METRICS[name].text) for name in shown],
        notes=gather_notes([note.partition(": ")[::2] for one in compared for note in _list_notes(one)], ()),
        shown=("encoding", *(["length"] if any(one.part for one in compared) else []), "injective", *shown),
        rows="all",
        drawing=_draw(compared[0]),
        next_command=propose("inspect", compared[0].encoding),
        failed=failed,
    )


def _list_notes(one: Comparison) -> tuple[str, ...]:
    return (
        *one.encoding.all_notes,
        *one.remarks,
        *(_note_part(one) or _note_average(one)),
        *_note_negative_weights(one),
    )


def _note_average(one: Comparison) -> tuple[str, ...]:
    """Say over which positions kernel and spectrum are averages."""
    found = one.spectrum
    if found is None or found.length is None:
        return ()
    over = describe_average(one.encoding, found.kernel_source or "exact", found.length)
    apart = ", but for the values at --periods," if one.periods else ""  # these take as many as their lags need
    return (f"{one.encoding.label}: kernel and spectrum{apart} are means over {over}",)


def _note_part(one: Comparison) -> tuple[str, ...]:
    return (f"{one.encoding.label}: only {one.part} are compared",) if one.part else ()


def _note_negative_weights(one: Comparison) -> tuple[str, ...]:
    """Say why metrics are missing that most spectra have."""
    missing = [name for name, reason in one.notes.items() if reason == SIGNED]
    return (f"{one.encoding.label}: no {', '.join(missing[:-1])} or {missing[-1]}: {SIGNED}",) if missing else ()


def _judge(compared: Sequence[Comparison], sorted_by: str | None) -> Verdict:
    merged = [one.encoding.label for one in compared if one.injective is False]
    names = ", ".join(merged[:3]) + (", .." if merged[3:] else "")
    ranking = _rank(compared, sorted_by)
    # begins in small letters where it begins with a label: names, of files too, stay as they are typed
    text = f"no collisions found{' in the parts compared' if any(one.part for one in compared) else ''}."
    if merged:
        text = f"collisions (positions or lags with one vector) in {len(merged)} of {len(compared)} ({names})."
    text = f"{ranking}; {text}" if ranking else capitalise(text)
    return Verdict(level="note" if merged else "ok", code="compared", text=text)


def _rank(compared: Sequence[Comparison], sorted_by: str | None) -> str:
    """Say which is the first row of those with a value, and which the last; unsorted, which has the largest."""
    chosen = sorted_by or "relative_separation"
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
