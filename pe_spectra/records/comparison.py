"""Encodings side by side as an answer."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pe_spectra.compare import Comparison
from pe_spectra.metrics import METRICS
from pe_spectra.metrics.spectra import SIGNED
from pe_spectra.records.answer import (
    Answer,
    Cell,
    Document,
    Drawing,
    Verdict,
    agree,
    describe_encoding,
    join,
    name_apart,
)
from pe_spectra.table_part import describe_part

#: Metrics of the same codes on two roads differ by rounding, so that closer than this relative difference is a tie.
_TIE = 1e-9
#: What a terminal shows; all of them in a pipe, in CSV and with --full.
_SHOWN = (
    "kernel_half_width",
    "sidelobe_ratio",
    "toeplitz_share",
    "stable_rank_centred",
    "min_separation",
)


def answer_comparison(compared: Sequence[Comparison], sorted_by: str | None, failed: tuple[str, ...] = ()) -> Answer:
    """Turn a comparison into an answer, in the order given.

    Parameters
    ----------
    compared : at least one.
    sorted_by : the metric that they were sorted by; None for the order in which they were named.
    failed : the requirements that do not hold.

    >>> from pe_spectra import Dft, compare_encodings
    >>> answer_comparison(compare_encodings([Dft(d=8)], length=8), None).kind
    'comparison'
    """
    body: Document = {
        "parameters": {"length": agree([c.length for c in compared])},
        "sorted_by": sorted_by,
        "rows": [_describe(c) for c in compared],
    }
    notes = [note for c in compared for note in (*c.encoding.all_notes, *c.remarks, *_note_part(c), *_note_signs(c))]
    shown = dict.fromkeys(([sorted_by] if sorted_by else []) + list(_SHOWN))
    return Answer(
        kind="comparison",
        verdict=_judge(compared, sorted_by),
        body=body,
        columns=_list_columns(compared),
        facts=(*_list_definitions(list(shown)), *_list_periods(compared)),
        notes=tuple(dict.fromkeys(notes)),
        shown=("encoding", *(["length"] if any(map(_note_part, compared)) else []), "injective", *shown),
        brief=len(compared),
        drawing=_draw(compared),
        next_command=f"pe-spectra inspect {shlex.quote(compared[0].encoding.spec)}",
        failed=failed,
    )


def _note_part(one: Comparison) -> tuple[str, ...]:
    part = describe_part(one.encoding, one.length)
    return (f"{one.encoding.label}: {part} are compared; --length takes more",) if part else ()


def _note_signs(one: Comparison) -> tuple[str, ...]:
    """Say why metrics are missing that most spectra have."""
    missing = [name for name, reason in one.notes.items() if reason == SIGNED]
    return (f"{one.encoding.label}: no {', '.join(missing[:-1])} or {missing[-1]}: {SIGNED}",) if missing else ()


def _describe(one: Comparison) -> Document:
    row: Document = {
        "encoding": describe_encoding(one.encoding),
        "length": one.length,
        "random": one.encoding.is_random,
        "injective": one.injective,
        "metrics": dict(one.values),
        "undefined": dict(one.notes),
    }
    if one.periods:
        row["periods"] = [asdict(match) for match in one.periods]
    if one.remarks:
        row["findings"] = list(one.remarks)
    return row


def _list_columns(compared: Sequence[Comparison]) -> Mapping[str, Sequence[Cell]]:
    columns: dict[str, Sequence[Cell]] = {
        "encoding": [c.encoding.label for c in compared],
        "random": [c.encoding.is_random for c in compared],
        "length": [c.length for c in compared],
        "injective": [c.injective for c in compared],
    }
    columns.update({name: [c.values[name] for c in compared] for name in METRICS})
    for place, match in enumerate(compared[0].periods):
        name = match.name
        columns[f"ratio_{name}"] = [c.periods[place].ratio if c.periods else None for c in compared]
        columns[f"maximum_{name}"] = [c.periods[place].is_local_maximum if c.periods else None for c in compared]
        columns[f"nearest_{name}"] = [c.periods[place].nearest_period if c.periods else None for c in compared]
    return columns


def _judge(compared: Sequence[Comparison], sorted_by: str | None) -> Verdict:
    merged = [c for c in compared if c.injective is False]
    parts = _rank(compared, sorted_by)
    if merged:
        names = ", ".join(c.encoding.label for c in merged[:3]) + (", .." if merged[3:] else "")
        parts.append(f"{len(merged)} of {len(compared)} merge positions or lags ({names})")
    else:
        parts.append(f"{'none' if parts else 'None'} of {len(compared)} is known to merge positions")
    # begins in small letters where it begins with a label: names, of files too, stay as they are typed
    return Verdict(level="note" if merged else "ok", code="compared", text=f"{'; '.join(parts)}.")


def _rank(compared: Sequence[Comparison], sorted_by: str | None) -> list[str]:
    """Say which is the first row of those with a value, and which the last; unsorted, which has the largest."""
    chosen = sorted_by or "min_separation"
    known = [c for c in compared if c.values[chosen] is not None and not c.encoding.is_random]
    if len(known) < 2:
        return []
    among = " of those not drawn at random" if any(c.encoding.is_random for c in compared) else ""
    numbers = [c.values[chosen] or 0.0 for c in known]
    ends = (max(numbers), min(numbers)) if sorted_by is None else (numbers[0], numbers[-1])
    if _tie(*ends):
        every = f"all{among}" if len(known) == len(compared) or among else "all that have one"
        return [f"The {chosen} of {every} is the same ({ends[0]:.4g})"]
    leading = [c.encoding.label for c, one in zip(known, numbers, strict=True) if _tie(one, ends[0])]
    first, last = join([*leading[:2], *([f"{len(leading) - 2} more"] if leading[2:] else [])]), known[-1].encoding.label
    has, is_ = ("has", "is") if len(leading) == 1 else ("have", "are")
    most, least = _write_apart(*ends)
    if sorted_by is None:
        return [f"{first} {has} the largest {chosen}{among} ({most})"]
    better = METRICS[chosen].better
    if better is None:
        return [f"{first} {has} the smallest {chosen}{among} ({most}), {last} the largest ({least})"]
    end = "largest" if better == "higher" else "smallest"
    return [f"{first} {is_} the best by {chosen}{among}, the {end} ({most}), {last} the last ({least})"]


def _tie(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_TIE)


def _write_apart(one: float, other: float) -> tuple[str, str]:
    """Write two numbers that are no tie with so many digits that they differ.

    >>> _write_apart(1.5, 2.25), _write_apart(1.00001, 1.00002), _write_apart(1.0, 1.000000002)
    (('1.5', '2.25'), ('1.00001', '1.00002'), ('1', '1.000000002'))
    """
    pairs = [(f"{one:.{digits}g}", f"{other:.{digits}g}") for digits in (4, 7, 11)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[-1])


def _list_definitions(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, METRICS[name].text) for name in names]


def _list_periods(compared: Sequence[Comparison]) -> list[tuple[str, str]]:
    facts = []
    for one in compared:
        name = name_apart(one.encoding, [c.encoding for c in compared])
        for match in one.periods:
            ratio = "unknown" if match.ratio is None else f"{match.ratio:.4g} of k(0)"
            maximum = {True: "a local maximum", False: "no local maximum", None: "not known"}[match.is_local_maximum]
            near = ""
            if match.nearest_period is not None:
                near = f"; nearest period of the encoding {write_time(match.nearest_period)}"
            facts.append((f"{name}, {match.name}", f"k(lag {match.lag:g}) = {ratio}, {maximum}{near}"))
    return facts


def write_time(seconds: float) -> str:
    """Write a time in the largest unit that keeps it above 1.

    >>> write_time(86400.0), write_time(90.0), write_time(3599.9999999)
    ('1 d', '1.5 min', '1 h')
    """
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= size * (1 - 1e-9):  # a period comes from a frequency, with its rounding
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds:.4g} s"


def _draw(compared: Sequence[Comparison]) -> Drawing | None:
    first = compared[0]
    if first.kernel is None or len(first.kernel) < 2:
        return None
    ticks = ((0.0, "lag 0"), (1.0, str(len(first.kernel) - 1)))
    return Drawing(title=f"kernel k(lag)/k(0)   {first.encoding.label}", values=first.kernel.tolist(), ticks=ticks)
