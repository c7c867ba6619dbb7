"""Encodings side by side as an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set

from pe_spectra.answers.answer import (
    MOST_DRAWN,
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
from pe_spectra.answers.at_periods import define_periods, list_at_periods, note_periods
from pe_spectra.encodings import Encoding
from pe_spectra.metrics import METRICS
from pe_spectra.metrics.compare import DEFAULT_ORDER, Comparison, find_better, list_columns
from pe_spectra.metrics.kernel_shape import OF_PERIOD
from pe_spectra.quantities import derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.kernels import describe_average
from pe_spectra.spectrum.record import Spectrum
from pe_spectra.vocabulary import OUTCOMES
from pe_spectra.wording import capitalise, count, join, tell_apart

#: Metrics of the same encoding on two roads differ by rounding: closer than this relative difference is a tie.
_TIE = 1e-9
#: Of more encodings a terminal has a line for each by its name, and notes among the details.
_MANY = 12
#: What a terminal shows besides; all of them in a pipe, in CSV and with --full.
_SHOWN = ("kernel_half_width", "sidelobe_ratio", "toeplitz_share", "stable_rank_centred", "relative_separation")


@dataclass(frozen=True, kw_only=True)
class ComparisonBody(Body):
    """Encodings side by side."""

    kind = "comparison"
    length: object = quantity_of_all("Number of positions S", "integer", minimum=1)

    @derived(
        "Length N of the one lattice on which all spectra stand; null where no encoding has a spectrum.",
        unit="positions",
        minimum=2,
        asked=True,
    )
    def grid(self) -> int | None:
        return None if self.spectrum is None else self.spectrum.grid

    @derived(
        "Kernel width of all spectra, 4 bins of 2 pi/N, at real positions of 2 pi/(N times their median step); of "
        "grids alone 1 bin of the lattice of their longest side; null where no encoding has a spectrum.",
        unit="bins",
        above=0,
        asked=True,
    )
    def bandwidth(self) -> float | None:
        return None if self.spectrum is None else self.spectrum.bandwidth

    sorted_by: str | None = quantity(
        "The column that the rows are sorted by; null for the order in which they were named.",
        schema={
            "anyOf": [
                {"enum": [*list_columns(), None]},
                {"type": "string", "pattern": f"^({'|'.join(OF_PERIOD)})_."},  # of a period that was asked for
            ]
        },
    )
    rows: tuple[Comparison, ...] = quantity("One row for each encoding.", least=1)

    @property
    def spectrum(self) -> Spectrum | None:
        """A spectrum whose lattice is that of all."""
        return find_spectrum(self.rows)


def answer_comparison(
    compared: Sequence[Comparison], sorted_by: str | None = None, failed: tuple[str, ...] = ()
) -> Answer:
    """Turn a comparison into an answer, in the order given.

    Parameters
    ----------
    compared : at least one.
    sorted_by : the column that they were sorted by; None for the order in which they were named.
    failed : the requirements that do not hold.

    >>> from pe_spectra import Dft, compare_encodings
    >>> answer_comparison(compare_encodings([Dft(d=8)], length=8), None).verdict.text
    'No collisions found.'
    """
    at_periods = define_periods(compared)
    lengths, by = ["length"] if any(one.part for one in compared) else [], [sorted_by] if sorted_by else []
    asked = by if sorted_by != DEFAULT_ORDER else []
    shown = dict.fromkeys(["encoding", *lengths, *asked, "injective", *by, *_SHOWN])
    notes = [*_gather(compared, lambda one: _list_notes(one, shown.keys())), *_note_norms(compared, sorted_by)]
    remarks = _gather(compared, lambda one: _note_missing(one, shown.keys().isdisjoint))
    among, is_long = [one.encoding for one in compared], len(compared) > _MANY
    return Answer(
        body=ComparisonBody(length=agree([one.length for one in compared]), sorted_by=sorted_by, rows=tuple(compared)),
        verdict=_judge(compared, sorted_by),
        results=compared,
        facts=[("lattice", describe_lattice(compared))],
        details=[*at_periods.items(), *((name, METRICS[name].text) for name in shown if name in METRICS)],
        notes=() if is_long else notes,
        remarks=(*notes, *remarks) if is_long else remarks,
        shown=tuple(shown),
        beside=list_at_periods(compared),
        rows="all",
        spelled={one.label: _shorten(one, among) for one in among} if is_long else {},
        drawing=_draw(compared[0]) if len(compared) <= MOST_DRAWN else None,
        next_command=propose("inspect", compared[0].encoding),
        failed=failed,
    )


def _shorten(encoding: Encoding, among: Sequence[Encoding]) -> str:
    """Name an encoding in a line of its own: a drawn table, too, if it is alone, for there is no file to tell."""
    is_alone = all(one.name != encoding.name for one in among if one != encoding)
    return encoding.name if is_alone and encoding.is_random else name_apart(encoding, among)


def find_spectrum(compared: Sequence[Comparison]) -> Spectrum | None:
    """Return a spectrum whose lattice and bandwidth are those of all; None where no encoding has one.

    >>> from pe_spectra import Dft, compare_encodings
    >>> find_spectrum(compare_encodings([Dft(d=8)], length=24)).grid
    24
    """
    return next((one.spectrum for one in compared if one.spectrum is not None), None)


def describe_lattice(compared: Sequence[Comparison]) -> str:
    """Say on which lattice, and how wide blurred, the spectra of all stand; empty where there is none.

    >>> from pe_spectra import Dft, compare_encodings
    >>> describe_lattice(compare_encodings([Dft(d=8)], length=24))
    '24 points, bandwidth 4 bins = 1.05 rad/position, boundary reflect'
    """
    found = find_spectrum(compared)
    if found is None:
        return ""
    bins = found.bandwidth or 0.0
    width = f"bandwidth {bins:.4g} bins = {bins * found.omega[1]:.3g} rad/position"
    return f"{found.grid} points, {width}, boundary {found.boundary}"


def _gather(compared: Sequence[Comparison], list_notes: Callable[[Comparison], tuple[str, ...]]) -> tuple[str, ...]:
    """Gather notes of the same words on several encodings into one."""
    return gather_notes([_split(one, note) for one in compared for note in list_notes(one)], ())


def _list_notes(one: Comparison, shown: Set[str]) -> tuple[str, ...]:
    return (
        *one.encoding.all_notes,
        *one.remarks,
        *(_note_part(one) or _note_average(one)),
        *_note_whole(one),
        *_note_rounding(one),
        *_note_undecided(one),
        *_note_missing(one, lambda names: not shown.isdisjoint(names)),
        *note_periods(one),
    )


def _split(one: Comparison, note: str) -> tuple[str, str]:
    """Whom a note is about, and what it says."""
    own = f"{one.encoding.label}: "  # there may be a colon in a label, too
    name, colon, text = (own, ": ", note.removeprefix(own)) if note.startswith(own) else note.partition(": ")
    return (name.removesuffix(": "), text) if colon else (one.encoding.label, note)


def _note_average(one: Comparison) -> tuple[str, ...]:
    """Say over which positions kernel and spectrum are averages."""
    found = one.spectrum
    if found is None or found.length is None:
        return ()
    repeats = found.estimator == "nudft" and found.length < one.length  # a periodogram has each position once
    over = describe_average(one.encoding, found.kernel_source or "exact", one.length if repeats else found.length)
    if repeats:
        once = f"the spectrum of {found.length} different ones"
        return (f"{one.encoding.label}: the kernel is a mean over {over}, {once}",)
    apart = ", but for the values at --periods," if one.periods else ""  # these take as many as their lags need
    return (f"{one.encoding.label}: kernel and spectrum{apart} are means over {over}",)


def _note_part(one: Comparison) -> tuple[str, ...]:
    are = "is" if one.length == 1 else "are"
    return (f"{one.encoding.label}: only {one.part} {are} compared",) if one.part else ()


def _note_rounding(one: Comparison) -> tuple[str, ...]:
    near = "its closest vectors are no further apart than float64 rounds off"
    return (f"{one.encoding.label}: {near}",) if one.outcome == "distinct-by-rounding" else ()


def _note_whole(one: Comparison) -> tuple[str, ...]:
    """Say that a grid was taken whole, where fewer positions were asked for."""
    whole = f"the grid is compared whole, {count(one.length, 'position')} in place of {one.shared}"
    return (f"{one.encoding.label}: {whole}",) if one.encoding.shape is not None and one.length > one.shared else ()


def _note_undecided(one: Comparison) -> tuple[str, ...]:
    return (f"{one.encoding.label}: injective is not decided: {one.proof}",) if one.injective is None else ()


def _note_missing(one: Comparison, wants: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    """Say which metrics have no value, and why: those of one reason together, where they are wanted."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in one.notes.items():
        by_reason.setdefault(reason, []).append(name)
    told = [(names, why) for why, names in by_reason.items() if wants(names)]
    return tuple(f"{one.encoding.label}: no {_list_metrics(names)}: {why}" for names, why in told)


def _list_metrics(names: Sequence[str]) -> str:
    """Name metrics; of more than two in a row, as columns have them, the first and the last."""
    order = list(METRICS)
    runs: list[list[str]] = []
    for name in names:
        if runs and order.index(runs[-1][-1]) + 1 == order.index(name):
            runs[-1].append(name)
        else:
            runs.append([name])
    parts = [part for run in runs for part in ([f"{run[0]} to {run[-1]}"] if run[2:] else run)]
    return join(parts, word="or")


def _note_norms(compared: Sequence[Comparison], sorted_by: str | None) -> tuple[str, ...]:
    """Say of a column that changes with the scale of the vectors how far their norms differ."""
    if sorted_by in (None, "norm_rms") or sorted_by not in METRICS or METRICS[sorted_by].degree == 0:
        return ()
    ranked = [one for one in compared if one.values[sorted_by] is not None]
    unknown = [one.encoding.label for one in ranked if one.values["norm_rms"] is None]
    if unknown and len(ranked) > 1:
        return (f"{sorted_by} changes with the scale of the vectors, and {join(unknown, most=3)} has no norm_rms",)
    norms = [norm for one in ranked if (norm := one.values["norm_rms"]) is not None]
    if not norms or _tie(min(norms), max(norms)):
        return ()
    least, most = tell_apart(min(norms), max(norms))
    return (f"{sorted_by} changes with the scale of the vectors, and norm_rms goes from {least} to {most}",)


def _judge(compared: Sequence[Comparison], sorted_by: str | None) -> Verdict:
    merged = [one.encoding.label for one in compared if one.injective is False]
    near = [one.encoding.label for one in compared if one.outcome == "distinct-by-rounding"]
    undecided = [one.encoding.label for one in compared if one.injective is None]
    names = ", ".join(merged[:3]) + (", .." if merged[3:] else "")
    ranking, decided = _rank(compared, sorted_by), len(compared) - len(undecided)
    # begins in small letters where it begins with a label: names, of files too, stay as they are typed
    among = f" in {decided} of {len(compared)}" if undecided else ""
    text = f"no collisions found{among}{' in the parts compared' if any(one.part for one in compared) else ''}"
    if merged:
        text = f"collisions (positions or lags with one vector) in {len(merged)} of {len(compared)} ({names})"
    if not decided:
        whom = f" for any of the {len(compared)}" if len(compared) > 1 else ""
        text = f"not decided{whom} whether vectors are distinct"
    elif undecided:
        text += f"; not decided: {join(undecided, most=3)}"
    if near:
        text += f"; {join(near, most=3)}: {OUTCOMES['distinct-by-rounding']}"
    text = f"{ranking}; {text}." if ranking else f"{capitalise(text)}."
    return Verdict(level="note" if merged or near or undecided else "ok", code="compared", text=text)


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
    better = find_better(chosen)
    if better is None:
        return f"{first} {has} the smallest {chosen}{among} ({most}), {last} the largest ({least})"
    end = "largest" if better == "higher" else "smallest"
    return f"{first} {is_} the best by {chosen}{among}, the {end} ({most}), {last} the last ({least})"


def _read_fixed(one: Comparison, column: str) -> float | None:
    """The number in a column; None for words, and where values are drawn at random."""
    (value,) = one.to_columns()[column]
    return None if one.encoding.is_random or isinstance(value, str | bool) else value


def _tie(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_TIE)


def _draw(first: Comparison) -> Drawing | None:
    if first.kernel is None or len(first.kernel) < 2:
        return None
    ticks = ((0.0, "lag 0"), (1.0, str(len(first.kernel) - 1)))
    return Drawing(title=f"kernel k(lag)/k(0)   {first.encoding.label}", values=first.kernel.tolist(), ticks=ticks)
