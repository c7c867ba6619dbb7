"""Which encoding suits a series, in sentences: what to use, why, what to avoid, and what would change that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pe_spectra.answers.answer import Verdict, Verdicts, gather_notes, group_facts
from pe_spectra.series.deciding import RULES, ColumnChoice, EncodingChoice, Ranked, Rule, find_rule
from pe_spectra.series.suitability import Candidate
from pe_spectra.wording import count, join, percent

VERDICTS = Verdicts({"chosen": "ok", "tied": "note", "none-suits": "warning"})
#: What a terminal shows of candidates; all of it in a pipe, in CSV and with --full.
SHOWN = ("rank", "advice", "candidate", "rule", "distinct", "seen", "relative_separation", "overlap", "norm_rms")
#: Candidates that a sentence names.
_NAMED = 3
#: Factors nearer to 1 than this are none.
_SAME_NORM = 0.01
_BY_CODE: Mapping[str, Rule] = {rule.code: rule for rule in RULES}


def judge_choice(choice: EncodingChoice) -> Verdict:
    """Say in a sentence what to use, because of what, what comes second, and what to avoid.

    >>> import numpy as np
    >>> from pe_spectra.series.deciding import choose_encoding
    >>> from pe_spectra.series.series_report import describe_series
    >>> steps = np.arange(480.0)
    >>> report = describe_series({"load": np.sin(2 * np.pi * steps / 48)}, steps)
    >>> judge_choice(choose_encoding(report, d=64)).text.partition(";")[0]
    'Use ladder and periods, for its kernel comes back at 48 steps, that of sinusoidal does not'
    """
    first, next_ones, avoided = _list_advised(choice)
    if not first:
        text = f"Of {count(len(choice.ranked), 'candidate')} none suits the series: {_say_avoided(choice, avoided)}."
        return VERDICTS.say("none-suits", text)
    names = join([one.candidate.name for one in first], _NAMED + 1, "or")
    parts = [f"Use {names}"]
    if len(first) > 1:
        parts[0] += " (no rule tells them apart)"
    if next_ones:
        second = next_ones[0].candidate
        reason = _explain(first[0].candidate, second)
        parts[0] += f", for {reason if len(first) == 1 else reason.replace('its ', 'their ', 1)}"
        parts.append(f"second: {join([one.candidate.name for one in next_ones], _NAMED)}")
    parts += [_say_other(one) for one in _list_others(choice)[:_NAMED]]
    if avoided:
        parts.append(f"avoid {_say_avoided(choice, avoided)}")
    return VERDICTS.say("tied" if len(first) > 1 else "chosen", f"{'; '.join(parts)}.")


def _list_advised(choice: EncodingChoice) -> tuple[list[Ranked], list[Ranked], list[Ranked]]:
    """Those to use, those that come second, and those to avoid."""
    by_advice: dict[str, list[Ranked]] = {}
    for one in choice.ranked:
        by_advice.setdefault(one.advice, []).append(one)
    return by_advice.get("use", []), by_advice.get("second", []), by_advice.get("avoid", [])


def _list_others(choice: EncodingChoice) -> list[ColumnChoice]:
    """The columns that would have decided otherwise."""
    return [one for one in choice.by_column if one.agrees is False]


def _explain(one: Candidate, other: Candidate) -> str:
    rule = find_rule(one, other)
    return rule.why(one, other) if rule is not None else ""


def _say_avoided(choice: EncodingChoice, avoided: Sequence[Ranked]) -> str:
    """Each that is to be avoided, with the reason of the first rule that forbids it."""
    first = choice.ranked[0].candidate
    said = [_forbid(first, one.candidate)[1] for one in avoided]
    return join([f"{one.candidate.name} ({why})" for one, why in zip(avoided, said, strict=True)], _NAMED)


def _forbid(first: Candidate, one: Candidate) -> tuple[str, str]:
    rule = next(rule for rule in RULES if rule.forbids(one))
    return rule.code, rule.why(first, one).removeprefix(f"{one.name} ")


# --------------------------------------------------------------------- facts


def list_choice_facts(choice: EncodingChoice) -> Iterator[tuple[str, str]]:
    """The evidence below the decision, and what would change it.

    >>> from pe_spectra.series.proposing import Demand
    >>> from pe_spectra.series.deciding import rank_candidates
    >>> nothing = rank_candidates([], Demand(window=8, reason="as given", d=4, wanted=()), {})
    >>> list(list_choice_facts(nothing))
    [('window', '8 samples, as given; width 4'), ('rules', '')]
    """
    demand = choice.demand
    yield "window", f"{demand.window:,} samples, {demand.reason}; width {demand.d:,}"
    longer = [one.name for one in demand.wanted if not one.inside]
    if longer:
        dates = "; dates do" if any(one.candidate.encoding.knows_dates for one in choice.ranked) else ""
        yield "beyond it", f"{join(longer)}: positions in a window cannot show it{dates}"
    first, next_ones, avoided = _list_advised(choice)
    yield from group_facts((one.candidate.name, _describe(one)) for one in (*first, *next_ones))
    for one in avoided:
        code, why = _forbid(choice.ranked[0].candidate, one.candidate)
        yield f"avoid: {one.candidate.name}", f"{why} ({code})"
    if len(choice.by_column) > 1:
        yield "columns", _say_columns(choice)
    for change in choice.changes:
        verb = "would be used" if len(change.names) == 1 else "would tie"
        yield f"without {change.rule}", f"{join(list(change.names))} {verb}"
    yield "rules", f"{join(list(choice.deciding))} decided" if choice.deciding else ""


def _say_columns(choice: EncodingChoice) -> str:
    """Which columns would use the same, which another one, and which have no period to choose by."""
    name = choice.ranked[0].candidate.name
    shown = {one.column: f"{percent(one.seen or 0.0)} of the variance of its periods shown" for one in choice.by_column}
    agreeing = [f"{one.column} ({shown[one.column]})" for one in choice.by_column if one.agrees]
    said = [f"{name} for {join(agreeing)}"] if agreeing else []
    said += [f"{_say_other(one)}, with {name} {shown[one.column]}" for one in _list_others(choice)]
    silent = [one.column for one in choice.by_column if one.agrees is None]
    said += [f"no period to show: {join(silent)}"] if silent else []
    return "; ".join(said)


def _say_other(one: ColumnChoice) -> str:
    return f"{one.column} alone would use {join(list(one.names), word='or')}"


def _describe(ranked: Ranked) -> Iterator[tuple[str, str]]:
    """What an encoding is, what it shows of the periods, how far its vectors are apart, and how to scale them."""
    one = ranked.candidate
    yield ranked.advice, one.spec
    if one.seen is not None:
        at = [f"{each.ratio:.2f} at {each.name}" for each in one.at_each if each.ratio is not None]
        yield "periods", f"{percent(one.seen)} of their variance shown; k(P)/k(0) {join(at)}"
    if one.overlap is not None:
        yield "spectrum", f"overlaps with that of the periods by {percent(one.overlap)}"
    if one.relative_separation is not None and one.ends is not None:
        across = "" if one.gap is None else f", the sides of the longest gap {one.gap:.3g}"
        closest = f"closest vectors {one.relative_separation:.3g} of a typical pair"
        yield "distances", f"{closest}, ends of a window {one.ends:.3g}{across}"
    if one.norm_rms is not None and one.factor is not None:
        is_same = abs(one.factor - 1) <= _SAME_NORM
        advice = "that of the sinusoid" if is_same else f"multiply it by {one.factor:.3g}, to that of the sinusoid"
        yield "norm", f"{one.norm_rms:.4g}, {advice}"


def explain_choice() -> Iterator[tuple[str, str]]:
    """The rules, and what the columns are.

    >>> [label for label, _ in explain_choice()][:2]
    ['distinct', 'trained']
    """
    for rule in RULES:
        yield rule.code, rule.text
    declared = Candidate.quantities()
    for name in ("seen", "relative_separation", "overlap", "norm_rms"):
        yield name, declared[name].text


def note_choice(choice: EncodingChoice) -> tuple[str, ...]:
    """Say which candidates were left out, and why.

    >>> from pe_spectra.series.proposing import Demand
    >>> from pe_spectra.series.deciding import rank_candidates
    >>> note_choice(rank_candidates([], Demand(window=8, reason="as given", d=4, wanted=()), {"t5": "it is drawn"}))
    ('left out: t5: it is drawn',)
    """
    return tuple(f"left out: {note}" for note in gather_notes(choice.left_out.items(), ()))
