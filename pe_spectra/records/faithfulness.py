"""Faithfulness as an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise

from pe_spectra.encodings.sampled import Sampled
from pe_spectra.faithfulness import Faithfulness, NearPairs
from pe_spectra.faithfulness.collisions import describe_pair
from pe_spectra.records.answer import Answer, Cell, Document, Drawing, Verdict, agree, describe_encoding, name_apart
from pe_spectra.records.reconstruction import describe_bandwidth

_CONDITION = "> 1e15"
#: Significant digits of a distance, at most: in sentences, and in tables on a terminal.
_DIGITS, _TABLE_DIGITS = 5, 6


def answer_faithfulness(
    results: Sequence[Faithfulness], failed: tuple[str, ...] = (), *, next_command: str = ""
) -> Answer:
    """Turn what was measured into an answer; `failed` lists the requirements that do not hold.

    >>> from pe_spectra import Dft, measure_faithfulness
    >>> answer_faithfulness([measure_faithfulness(Dft(d=4), length=5)]).verdict.code
    'not-injective'
    """
    first = results[0]
    together = [result.encoding for result in results]
    named = [(f"{name_apart(r.encoding, together)}: " if len(results) > 1 else "", r.notes) for r in results]
    notes = [name + note for name, own in named for note in own]
    return Answer(
        kind="faithfulness",
        verdict=_judge(results),
        body={
            "parameters": {
                "length": agree([r.length for r in results]),
                "bandwidth": agree([r.bandwidth for r in results]),
            },
            "rows": [_describe(result) for result in results],
        },
        columns=_list_rows(results),
        facts=tuple(fact for result in results for fact in _list_facts(result, len(results) > 1)),
        notes=tuple(dict.fromkeys(notes)),
        shown=("encoding", "injective", "min_separation", "closest_pair", "collisions"),
        digits=max(_count_digits(r.min_separation or 0.0, r.error_bound, _TABLE_DIGITS) for r in results),
        drawing=_draw(first),
        next_command=next_command,
        failed=failed,
    )


def _describe(result: Faithfulness) -> Document:
    curve = result.separation_by_lag
    return {
        "encoding": describe_encoding(result.encoding),
        "length": result.length,
        "domain": result.domain,
        "injective": result.injective,
        "certificate": {"kind": result.certificate.kind, "text": result.certificate.text},
        "min_separation": result.min_separation,
        "closest_pair": list(result.closest_pair) if result.closest_pair else None,
        "error_bound": result.error_bound,
        "collisions": {
            "count": result.collisions.count,
            "distinct": result.collisions.distinct,
            "sharing": result.collisions.sharing,
            "largest": result.collisions.largest,
            "examples": [list(pair) for pair in result.collisions.examples],
            "named": [describe_pair(result.encoding, pair) for pair in result.collisions.examples],
        },
        "near_pairs": _describe_near(result.near_pairs),
        "rank": result.rank,
        "rank_tolerance": result.rank_tolerance,
        "condition_number": result.condition_number,
        "singular_values": None if result.singular_values is None else result.singular_values.tolist(),
        "sidelobe": asdict(result.sidelobe) if result.sidelobe else None,
        "separation_by_lag": None if curve is None else curve.tolist(),
        "separation_by_length": [[one.length, one.separation, list(one.pair)] for one in result.separation_by_length],
        "reconstruction": {"fwhm": result.fwhm, "relative_error": result.relative_error},
    }


def _describe_near(found: NearPairs | None) -> Document | None:
    if found is None:
        return None
    return {
        "radius": found.radius,
        "count": found.count,
        "unsure": found.unsure,
        "error": found.error,
        "proved": found.proved,
        "examples": [[near.s, near.t] for near in found.examples],
        "distances": [near.distance for near in found.examples],
        "pairs": [near.pairs for near in found.examples],
        "named": [near.text for near in found.examples],
    }


def _list_rows(results: Sequence[Faithfulness]) -> dict[str, Sequence[Cell]]:
    return {
        "encoding": [r.encoding.label for r in results],
        "length": [r.length for r in results],
        "injective": [r.injective for r in results],
        "min_separation": [r.min_separation for r in results],
        "closest_pair": [_write_pair(r) for r in results],
        "error_bound": [r.error_bound for r in results],
        "collisions": [r.collisions.count for r in results],
        "rank": [r.rank for r in results],
        "rank_tolerance": [r.rank_tolerance for r in results],
        "condition_number": [r.condition_number for r in results],
        "sidelobe_lag": [r.sidelobe.lag if r.sidelobe else None for r in results],
        "sidelobe": [r.sidelobe.value if r.sidelobe else None for r in results],
        "bandwidth": [r.bandwidth for r in results],
        "fwhm": [r.fwhm for r in results],
        "relative_error": [r.relative_error for r in results],
        "certificate": [r.certificate.kind for r in results],
        "near_count": [r.near_pairs.count if r.near_pairs else None for r in results],
        "near_pair": [_write_near(r.near_pairs) for r in results],
    }


def _write_pair(result: Faithfulness) -> str | None:
    return None if result.closest_pair is None else "{} {}".format(*result.closest_pair)


def _write_near(found: NearPairs | None) -> str | None:
    return f"{found.examples[0].s} {found.examples[0].t}" if found and found.examples else None


def _write_condition(result: Faithfulness) -> Cell:
    return _CONDITION if result.condition_number is None and result.rank is not None else result.condition_number


def _judge(results: Sequence[Faithfulness]) -> Verdict:
    bad = [r for r in results if r.injective is False]
    undecided = [r for r in results if r.injective is None]
    text = " ".join(_say(result, len(results) > 1) for result in results)
    if bad:
        return Verdict(level="warning", code="not-injective", text=text)
    return Verdict(level="note" if undecided else "ok", code="undecided" if undecided else "injective", text=text)


def _say(result: Faithfulness, many: bool) -> str:
    name = f"{result.encoding.label}: " if many else ""
    if result.injective is False:
        s, t = result.closest_pair or (0, 0)
        pairs = "pair" if result.collisions.count == 1 else "pairs"
        return (
            f"{name}Not injective: {_name_pair(result, s, t, ' = ')} have the same code "
            f"({result.collisions.count} such {pairs}{_count_sharing(result)}); {result.certificate.text}."
        )
    if result.injective is None:
        return f"{name}Not decided: {result.certificate.text}."
    text = f"{name}Injective on {_say_domain(result)}: {result.certificate.text}."
    if result.closest_pair and result.min_separation is not None:
        s, t = result.closest_pair
        near = f"{_name_pair(result, s, t)} (lag {t - s})"
        if t - s == 1 and result.domain == "positions":
            near = (
                f"neighbours (lag 1, {result.encoding.describe_position(s)} and {result.encoding.describe_position(t)})"
            )
        text += f" Closest: {near}, distance {_write_distance(result.min_separation, result.error_bound)}."
    return text


def _say_domain(result: Faithfulness) -> str:
    """Where every code is its own: real positions are numbered from 0, but they are not those numbers."""
    if isinstance(result.encoding, Sampled):
        return f"these {result.length} positions" if result.length > 1 else "this one position"
    return f"0 .. {result.length - 1}" if result.domain == "positions" else f"lags between {result.length} positions"


def _write_distance(distance: float, error: float | None) -> str:
    """Write a distance and by how much it may be wrong, or that this is not known.

    >>> _write_distance(2.671201607980057, 1.1862e-15), _write_distance(1.5, 0.0), _write_distance(1.5, None)
    ('2.6712 (+- 1.2e-15)', '1.5 (exact)', '1.5 (error not known)')
    >>> _write_distance(3.7857e-13, 1.38e-14), _write_distance(0.95283, 0.0025)
    ('3.79e-13 (+- 1.4e-14)', '0.953 (+- 0.0025)')
    """
    text = _write_number(distance, error)
    if error is None:
        return f"{text} (error not known)"
    return f"{text} (exact)" if error == 0 else f"{text} (+- {error:.2g})"


def _write_number(distance: float, error: float | None) -> str:
    return f"{distance:.{_count_digits(distance, error)}g}"


def _count_digits(distance: float, error: float | None, most: int = _DIGITS) -> int:
    """Count the digits of a distance that its error leaves: to the error's first, or its second where that is 1.

    >>> _count_digits(0.95283, 0.0025), _count_digits(0.95283, 0.0012), _count_digits(0.95283, 3.0)
    (3, 4, 1)
    """
    if not error or not distance or not math.isfinite(error):
        return most
    written = f"{error:.1e}"
    kept = math.floor(math.log10(distance)) - int(written.partition("e")[2]) + (2 if written[0] == "1" else 1)
    return max(1, min(most, kept))


def _count_sharing(result: Faithfulness) -> str:
    """How many positions, or lags, share their code, where that says more than the number of pairs."""
    found = result.collisions
    if found.count <= 1 or found.distinct is None:
        return ""
    return f"; {found.sharing} {result.domain} share their code with another, {_count_codes(found.distinct)} distinct"


def _count_codes(count: int) -> str:
    return "1 code is" if count == 1 else f"{count} codes are"


def _name_pair(result: Faithfulness, s: int, t: int, between: str = " and ") -> str:
    """Name two positions so that a person can read them, or two lags."""
    if result.domain == "lags":
        return f"lags {s} and {t}"
    first, second = result.encoding.describe_position(s), result.encoding.describe_position(t)
    return (
        f"positions {s} and {t}"
        if (first, second) == (str(s), str(t))
        else f"positions {s} and {t} ({first}{between}{second})"
    )


def _list_facts(result: Faithfulness, many: bool) -> list[tuple[str, str]]:
    facts = [("encoding", result.encoding.label)] if many else []
    if result.collisions.examples:
        shown = ", ".join(describe_pair(result.encoding, pair) for pair in result.collisions.examples)
        more = result.collisions.count - len(result.collisions.examples)
        facts.append(("collisions", shown + (f", and {more} more pairs" if more else "")))
    near = result.near_pairs
    if near is not None:
        shown = ", ".join(f"{one.text} ({_write_number(one.distance, near.error)})" for one in near.examples)
        unsure = f" ({near.unsure} so near the radius that rounding decides)" if near.unsure else ""
        said = f"{near.count} pairs of different codes within {near.radius:g}{unsure}"
        facts.append(("near pairs", f"{said}: {shown}" if shown else said))
    if result.rank is not None:
        condition = _write_condition(result)
        condition = condition if isinstance(condition, str) else f"{condition:.4g}"
        of = _count_singular_values(result)
        facts.append(
            (
                "rank",
                f"{result.rank} of {of} (singular values above {result.rank_tolerance:.2g}); condition {condition}",
            )
        )
    longer = _describe_growth(result)
    if longer:
        facts.append(("longer", longer))
    if result.sidelobe:
        facts.append(("sidelobe", f"{result.sidelobe.value:.4g} of the kernel's peak, at lag {result.sidelobe.lag}"))
    if result.relative_error is not None:
        width = "no half width" if result.fwhm is None else f"width {result.fwhm:.4g} positions at half"
        where = describe_bandwidth(result.bandwidth)
        facts.append(("Algorithm 1", f"{width}, relative error {result.relative_error:.4g}, {where}"))
    return facts


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
        return f"smallest separation {_write_number(grown[0].separation, error)} up to length {grown[-1].length}"
    shown = [
        f"{_write_number(one.separation, error)} at length {one.length} ({_name_pair(result, *one.pair)})"
        for one in steps[-3:]
    ]
    return f"smallest separation {', '.join(shown)}; up to length {grown[-1].length}"


def _draw(result: Faithfulness) -> Drawing | None:
    curve = result.separation_by_lag
    if curve is None or len(curve) < 2:
        return None
    ticks = ((0.0, "lag 1"), (1.0, str(len(curve))))
    title = f"separation by lag   {result.encoding.label}"
    return Drawing(title=title, values=curve.tolist(), ticks=ticks, smallest=True)
