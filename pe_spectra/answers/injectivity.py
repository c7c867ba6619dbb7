"""Faithfulness as an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pe_spectra.answers.answer import Answer, Body, Drawing, Verdict, Verdicts, agree, name_apart
from pe_spectra.encodings.temporal import Sampled
from pe_spectra.faithfulness import Faithfulness
from pe_spectra.quantities import Result, quantity
from pe_spectra.wording import count, count_digits, join, write_with_error

VERDICTS = Verdicts(
    ("injective", "ok", "{said}"),
    ("undecided", "note", "{said}"),
    ("not-injective", "warning", "{said}"),
)
_NO_CONDITION = "> 1e15"
#: Significant digits of a distance in a table, at most.
_TABLE_DIGITS = 6
#: Encodings that a title names, at most.
_MOST_NAMES = 4


def _one_or_list(kind: str, **bounds: float) -> dict[str, object]:
    """JSON Schema of a number that all rows have, or of a list of theirs."""
    return {"type": [kind, "array"], **bounds, "items": {"type": kind, **bounds}, "minItems": 1}


@dataclass(frozen=True, kw_only=True)
class FaithfulnessParameters(Result):
    """What was asked."""

    length: object = quantity(
        "Number of positions S, where it is the same for all rows, else a list of those of the rows.",
        schema=_one_or_list("integer", minimum=1),
    )
    bandwidth: object = quantity(
        "Kernel width in bins for the figures of Algorithm 1 where it is the same for all rows, else a list of those "
        "of the rows.",
        schema=_one_or_list("number", exclusiveMinimum=0),
    )


@dataclass(frozen=True, kw_only=True)
class FaithfulnessBody(Body):
    """Whether encodings distinguish positions (Definition 1), and how well."""

    kind = "faithfulness"
    parameters: FaithfulnessParameters = quantity("What was asked.")
    rows: tuple[Faithfulness, ...] = quantity("One row for each encoding.", least=1)


def answer_faithfulness(
    results: Sequence[Faithfulness], failed: tuple[str, ...] = (), *, next_command: str = ""
) -> Answer:
    """Turn what was measured into an answer; `failed` lists the requirements that do not hold.

    >>> from pe_spectra import Dft, measure_faithfulness
    >>> answer_faithfulness([measure_faithfulness(Dft(d=4), length=5)]).verdict.code
    'not-injective'
    """
    together = [result.encoding for result in results]
    named = [(f"{name_apart(r.encoding, together)}: " if len(results) > 1 else "", r.notes) for r in results]
    return Answer(
        body=FaithfulnessBody(
            parameters=FaithfulnessParameters(
                length=agree([r.length for r in results]), bandwidth=agree([r.bandwidth for r in results])
            ),
            rows=tuple(results),
        ),
        verdict=_judge(results),
        results=results,
        facts=tuple(fact for result in results for fact in _list_facts(result, len(results) > 1)),
        notes=[name + note for name, own in named for note in own],
        shown=("encoding", "injective", "min_separation", "closest_pair", "collisions"),
        digits=max(count_digits(r.min_separation or 0.0, r.error_bound, _TABLE_DIGITS) for r in results),
        drawing=_draw(results[0]),
        next_command=next_command,
        failed=failed,
    )


def entitle_separations(results: Sequence[Faithfulness], names: Sequence[str]) -> str:
    """Say what a figure of separations shows; `names` are what it calls the encodings.

    >>> from pe_spectra import Dft, measure_faithfulness
    >>> entitle_separations([measure_faithfulness(Dft(d=4), length=5)], ['dft'])
    'Positions 0 and 4 have the same vector'
    """
    if len(results) > 1:
        return _entitle_collisions([(n, r) for n, r in zip(names, results, strict=True) if r.min_separation == 0])
    result = results[0]
    if result.min_separation is None or result.closest_pair is None:
        return "How far apart the vectors of two positions are"
    s, t = result.closest_pair
    if result.min_separation == 0:
        return f"{result.domain.capitalize()} {s} and {t} have the same vector"
    lag = "neighbours" if t - s == 1 else f"positions {t - s} apart"
    return f"The closest vectors are those of {lag}, at distance {result.min_separation:.5g}"


def describe_separations(results: Sequence[Faithfulness], panels: int) -> str:
    """Say below a figure of so many panels of separations what is drawn.

    >>> from pe_spectra import Dft, measure_faithfulness
    >>> describe_separations([measure_faithfulness(Dft(d=4), length=5)], 1)
    'smallest Euclidean distance at each lag, 5 positions; circle: closest pair'
    """
    lengths = ", ".join(str(length) for length in dict.fromkeys(r.length for r in results))
    if not any(map(_is_drawn, results)):
        return f"{lengths} position{'' if lengths == '1' else 's'}"
    thinned = any(r.separation_by_lag is None and r.envelope is not None for r in results)
    where = "in each stretch of lags" if thinned else "at each lag"
    scales = "; two panels, for the distances differ more than tenfold" if panels > 1 else ""
    return f"smallest Euclidean distance {where}, {lengths} positions; circle: closest pair{scales}"


def _is_drawn(result: Faithfulness) -> bool:
    """Whether a figure has a curve or a closest pair of it."""
    curve = result.separation_by_lag
    has_pair = result.closest_pair is not None and result.min_separation is not None
    return has_pair or result.envelope is not None or bool(curve is not None and curve.size)


def _entitle_collisions(found: Sequence[tuple[str, Faithfulness]]) -> str:
    """Name the encodings that have a vector twice, of several that are compared."""
    if not found:
        return "How far apart two vectors are, by their lag"
    (name, first), *more = found
    if not more and first.closest_pair is not None:
        s, t = first.closest_pair
        return f"{name}: {first.encoding.domain} {s} and {t} have the same vector"
    return f"Some vectors are the same: {join([name for name, _ in found], _MOST_NAMES)}"


def _judge(results: Sequence[Faithfulness]) -> Verdict:
    found = {result.injective for result in results}
    code = "not-injective" if False in found else "undecided" if None in found else "injective"
    many = len(results) > 1
    said = " ".join((f"{r.encoding.label}: " if many else "") + _say(r) for r in results)
    return VERDICTS.say(code, said=said)


def _say(result: Faithfulness) -> str:
    proof = result.certificate.text
    if result.injective is None:
        return f"Not decided: {proof}."
    s, t = result.closest_pair or (0, 0)
    if result.injective is False:
        pairs = f"{count(result.collisions.count, 'such pair')}{_count_sharing(result)}"
        return f"Not injective: {_name_pair(result, s, t, ' = ')} have the same vector ({pairs}); {proof}."
    text = f"Injective on {_say_domain(result)}: {proof}."
    if result.closest_pair is None or result.min_separation is None:
        return text
    near = f"{_name_pair(result, s, t)} (lag {t - s})"
    if t - s == 1 and result.domain == "positions":
        first, second = (result.encoding.describe_position(one) for one in (s, t))
        near = f"neighbours (lag 1, {first} and {second})"
    return f"{text} Closest: {near}, distance {write_with_error(result.min_separation, result.error_bound)}."


def _say_domain(result: Faithfulness) -> str:
    """Where vectors are distinguished: real positions are numbered from 0, but they are not those numbers."""
    if isinstance(result.encoding, Sampled):
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


def _list_facts(result: Faithfulness, many: bool) -> list[tuple[str, str]]:
    facts = [
        ("encoding", result.encoding.label if many else ""),
        ("collisions", _list_collisions(result)),
        ("near pairs", _list_near(result)),
        ("rank", _describe_rank(result)),
        ("longer", _describe_growth(result)),
    ]
    if result.sidelobe:
        facts.append(("sidelobe", f"{result.sidelobe.value:.4g} of the kernel's peak, at lag {result.sidelobe.lag}"))
    if result.relative_error is not None:
        width = "no half width" if result.fwhm is None else f"width {result.fwhm:.4g} positions at half"
        error = f"relative error {result.relative_error:.4g}"
        facts.append(("Algorithm 1", f"{width}, {error}, at bandwidth {result.bandwidth:g}"))
    return [(label, text) for label, text in facts if text]


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
    condition = _NO_CONDITION if result.condition_number is None else f"{result.condition_number:.4g}"
    above = "" if result.rank_tolerance is None else f" (singular values above {result.rank_tolerance:.2g})"
    return f"{result.rank} of {_count_singular_values(result)}{above}; condition {condition}"


def _count_singular_values(result: Faithfulness) -> int:
    """How many singular values the table has: as many as rows or columns, whichever are fewer."""
    encoding, rows = result.encoding, result.length
    if result.domain == "positions":
        return min(rows, getattr(encoding, "d", rows))
    wide = getattr(encoding, "d", encoding.heads)
    return min(rows if getattr(encoding, "causal", False) else 2 * rows - 1, wide)


def _describe_growth(result: Faithfulness) -> str:
    """Say how the smallest separation falls with the length; empty where no longer one was measured."""
    grown = result.separation_by_length if result.min_separation else ()
    if len(grown) < 2:
        return ""
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
