"""Faithfulness as an answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pe_spectra.answers.answer import (
    MOST_DRAWN,
    Answer,
    Body,
    Drawing,
    Later,
    Verdict,
    Verdicts,
    agree,
    gather_notes,
    group_facts,
    name_apart,
    quantity_of_all,
)
from pe_spectra.encodings.codes import is_sampled
from pe_spectra.faithfulness import Faithfulness
from pe_spectra.faithfulness.growth import Grown
from pe_spectra.quantities import quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import OUTCOMES
from pe_spectra.wording import capitalise, count, count_digits, join, write_with_error

VERDICTS = Verdicts(
    {"injective": "ok", "undecided": "note", "distinct-by-rounding": "warning", "not-injective": "warning"}
)
_NO_CONDITION = "> 1e15"
#: Significant digits of a distance in a table, at most.
_TABLE_DIGITS = 6
#: Encodings that a title names, at most.
_MOST_NAMES = 4


#: Outcome -> what is said of encodings and where.
_OUTCOMES = {
    "not-injective": "Not injective{}",
    "distinct-by-rounding": "Distinct{}, but by no more than float64 rounds off",
    "undecided": "Not decided{}",
    "injective": "Injective{}",
}


@dataclass(frozen=True, kw_only=True)
class FaithfulnessBody(Body):
    """Whether encodings distinguish positions (Definition 1), and how well."""

    kind = "faithfulness"
    length: object = quantity_of_all("Number of positions S", "integer", minimum=1)
    bandwidth: object = quantity_of_all(
        "Kernel width in bins for the figures of Algorithm 1", "number", exclusiveMinimum=0
    )
    rows: tuple[Faithfulness, ...] = quantity("One row for each encoding.", least=1)


def answer_faithfulness(results: Sequence[Faithfulness], failed: tuple[str, ...] = ()) -> Answer:
    """Turn what was measured into an answer; `failed` lists the requirements that do not hold.

    >>> from pe_spectra import Dft, measure_faithfulness
    >>> answer_faithfulness([measure_faithfulness(Dft(d=4), length=5)]).verdict.code
    'not-injective'
    """
    together = [result.encoding for result in results]
    names, is_one = [name_apart(encoding, together) for encoding in together], len(results) == 1
    return Answer(
        body=FaithfulnessBody(
            length=agree([r.length for r in results]),
            bandwidth=agree([r.bandwidth for r in results]),
            rows=tuple(results),
        ),
        verdict=judge_faithfulness(results),
        results=results,
        facts=Later(lambda: _list_facts(results[0])) if is_one else (),
        details=Later(
            lambda: (
                _list_details(results[0])
                if is_one
                else group_facts((name, _list_every_fact(r)) for name, r in zip(names, results, strict=True))
            )
        ),
        notes=gather_notes([(name, note) for name, r in zip(names, results, strict=True) for note in r.notes], names),
        shown=("encoding", "length", "injective", "min_separation", "closest_pair", "collisions"),
        digits=max(count_digits(r.min_separation or 0.0, r.error_bound, _TABLE_DIGITS) for r in results),
        rows="none" if is_one else "all",
        drawing=_draw(results[0]) if len(results) <= MOST_DRAWN else None,
        failed=failed,
    )


def judge_faithfulness(results: Sequence[Faithfulness]) -> Verdict:
    """Say whether vectors are distinct, and of one encoding how near they come.

    >>> from pe_spectra import Dft, measure_faithfulness
    >>> judge_faithfulness([measure_faithfulness(Dft(d=4), length=5)]).code
    'not-injective'
    """
    found = {result.outcome for result in results}
    code = next(outcome for outcome in OUTCOMES if outcome in found)
    return VERDICTS.say(code, _say(results[0]) if len(results) == 1 else _say_all(results))


def entitle_separations(results: Sequence[Faithfulness]) -> str:
    """Say what a figure shows: of one encoding the closest two vectors, of several the verdict.

    >>> from pe_spectra import Dft, measure_faithfulness
    >>> entitle_separations([measure_faithfulness(Dft(d=4), length=5)])
    'Positions 0 and 4 have the same vector'
    """
    one = results[0]
    if len(results) > 1 or one.closest_pair is None or one.min_separation is None:
        return judge_faithfulness(results).text.removesuffix(".")
    if one.min_separation == 0:
        return f"{capitalise(_name_pair(one, *one.closest_pair))} have the same vector"
    lag = one.closest_pair[1] - one.closest_pair[0]
    which = "neighbours" if lag == 1 else f"{one.domain} {lag} apart"
    return f"The closest vectors are those of {which}, at distance {one.min_separation:.5g}"


def _say_all(results: Sequence[Faithfulness]) -> str:
    """One clause for the encodings that fare alike; of those with two equal vectors which these are."""
    clauses: dict[str, list[str]] = {outcome: [] for outcome in OUTCOMES}
    among, lengths = [result.encoding for result in results], {result.length for result in results}
    domains = {_say_domain(result) for result in results}
    where = f" on {domains.pop()}" if len(domains) == 1 else f" at length {min(lengths)}" if len(lengths) == 1 else ""
    for result in results:
        pair = f" ({_name_pair(result, *(result.closest_pair or (0, 0)), ' = ')} have the same vector)"
        own = "" if where else f" on {_say_domain(result)}"
        clauses[result.outcome].append(
            f"{name_apart(result.encoding, among)}{own}{pair if result.injective is False else ''}"
        )
    said = [(_OUTCOMES[outcome].format(where), found) for outcome, found in clauses.items()]
    return " ".join(f"{what}: {join(found, _MOST_NAMES)}." for what, found in said if found)


def _say(result: Faithfulness) -> str:
    proof = result.certificate.text
    if result.injective is None:
        return f"Not decided: {proof}."
    s, t = result.closest_pair or (0, 0)
    if result.injective is False:
        pairs = f"{count(result.collisions.count, 'such pair')}{_count_sharing(result)}"
        return f"Not injective: {_name_pair(result, s, t, ' = ')} have the same vector ({pairs}); {proof}."
    text = f"{_OUTCOMES[result.outcome].format(f' on {_say_domain(result)}')}: {proof}."
    if result.closest_pair is None or result.min_separation is None:
        return text
    near = f"{_name_pair(result, s, t)} (lag {t - s})"
    if t - s == 1 and result.domain == "positions":
        first, second = (result.encoding.describe_position(one) for one in (s, t))
        near = f"neighbours (lag 1, {first} and {second})"
    distance = write_with_error(result.min_separation, result.error_bound)
    is_lost = result.outcome == "distinct-by-rounding"
    rounded = f"; float64 rounds off up to {result.rounding:.1e} where such are computed" if is_lost else ""
    return f"{text} Closest: {near}, distance {distance}{rounded}."


def _say_domain(result: Faithfulness) -> str:
    """Where vectors are distinguished: real positions are numbered from 0, but they are not those numbers."""
    if is_sampled(result.encoding):
        return f"these {result.length} positions" if result.length > 1 else "this one position"
    return f"0 .. {result.length - 1}" if result.domain == "positions" else f"lags between {result.length} positions"


def _count_sharing(result: Faithfulness) -> str:
    """How many positions, or lags, share their vector, where that says more than the number of pairs."""
    found = result.collisions
    if found.count <= 1 or found.distinct is None:
        return ""
    return f"; {found.sharing:,} {result.domain} share theirs with another, {found.distinct:,} distinct"


def _name_pair(result: Faithfulness, s: int, t: int, between: str = " and ") -> str:
    """Name two positions so that a person can read them, or two lags."""
    plain = f"{result.domain} {s} and {t}"
    if result.domain == "lags":
        return plain
    first, second = result.encoding.describe_position(s), result.encoding.describe_position(t)
    return plain if (first, second) == (str(s), str(t)) else f"{plain} ({first}{between}{second})"


def _list_every_fact(result: Faithfulness) -> list[tuple[str, str]]:
    return [("verdict", _say(result)), *_list_facts(result), *_list_details(result)]


def _list_facts(result: Faithfulness) -> list[tuple[str, str]]:
    return [
        ("collisions", _list_collisions(result)),
        ("near pairs", _list_near(result)),
        ("rank", _describe_rank(result)),
        ("longer", _describe_growth(result)),
    ]


def _list_details(result: Faithfulness) -> list[tuple[str, str]]:
    facts = []
    side = result.sidelobe
    if side:
        facts.append(("sidelobe", f"{side.value:.4g} of the kernel's value at lag 0, at lag {side.lag}"))
    if result.relative_error is not None:
        width = "no half width" if result.fwhm is None else f"width {result.fwhm:.4g} positions at half"
        error = f"relative error {result.relative_error:.4g}"
        facts.append(("Algorithm 1", f"{width}, {error}, at bandwidth {result.bandwidth:g}"))
    return facts


def _list_collisions(result: Faithfulness) -> str:
    found = result.collisions
    more = found.count - len(found.named)
    shown = ", ".join(found.named)
    return f"{shown}, and {count(more, 'more pair')}" if shown and more else shown


def _list_near(result: Faithfulness) -> str:
    near = result.near_pairs
    if near is None:
        return ""
    shown = ", ".join(f"{one.text} ({_write(one.distance, near.error)})" for one in near.examples)
    unsure = f" ({near.unsure} so near the radius that rounding decides)" if near.unsure else ""
    said = f"{count(near.count, 'pair')} of different vectors within {near.radius:g}{unsure}"
    return f"{said}: {shown}" if shown else said


def _describe_rank(result: Faithfulness) -> str:
    if result.rank is None:
        return ""
    condition = f"; condition {_NO_CONDITION if result.condition_number is None else f'{result.condition_number:.4g}'}"
    if not result.rank:  # a note says that all vectors are zero
        condition = ""
    above = "" if result.rank_tolerance is None else f" (singular values above {result.rank_tolerance:.2g})"
    return f"{result.rank} of {_count_singular_values(result)}{above}{condition}"


def _count_singular_values(result: Faithfulness) -> int:
    """How many singular values the table has: as many as rows or columns, whichever are fewer."""
    encoding, rows = result.encoding, result.length
    if result.domain == "positions":
        return min(rows, getattr(encoding, "d", rows))
    wide = getattr(encoding, "d", encoding.kernel_count)
    return min(rows if getattr(encoding, "causal", False) else 2 * rows - 1, wide)


def _describe_growth(result: Faithfulness) -> str:
    """Say how the smallest separation falls with the length, and at which two vectors are first the same."""
    if not result.min_separation:
        return ""
    grown = [one for one in result.separation_by_length if one.separation]
    repeat = result.first_repeat
    said = [_describe_fall(result, grown)] if len(grown) > 1 else []
    if repeat is not None:
        where = f"length {repeat.length}"
        if repeat.length - repeat.above > 1:
            where = f"a length above {repeat.above} and at most {repeat.length}"
        said.append(f"two vectors are first the same at {where} ({_name_pair(result, *repeat.pair)})")
    return "; ".join(said)


def _describe_fall(result: Faithfulness, grown: Sequence[Grown]) -> str:
    error = result.error_bound  # that of a longer length is no smaller
    steps = [one for before, one in pairwise(grown) if one.separation < before.separation]
    if not steps:
        return f"smallest separation {_write(grown[0].separation, error)} up to length {grown[-1].length}"
    ends = [(one, _name_pair(result, *one.pair)) for one in steps[-3:]]
    shown = [f"{_write(one.separation, error)} at length {one.length} ({pair})" for one, pair in ends]
    return f"smallest separation {', '.join(shown)}; up to length {grown[-1].length}"


def _write(distance: float, error: float | None) -> str:
    """Write a distance with the digits that its error leaves."""
    return f"{distance:.{count_digits(distance, error)}g}"


def _draw(result: Faithfulness) -> Drawing | None:
    curve = result.separation_by_lag
    if curve is None or len(curve) < 2:
        return None
    ticks = ((0.0, "lag 1"), (1.0, str(len(curve))))
    title = f"separation by lag   {result.encoding.label}"
    return Drawing(title=title, values=curve.tolist(), ticks=ticks, smallest=True)
