"""The rules by which one encoding goes before another for a series, and the choice that they give."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pe_spectra.encodings import Encoding
from pe_spectra.errors import InputError
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.series.proposing import Demand, Proposal, find_demand, propose_candidates
from pe_spectra.series.series_report import SeriesReport
from pe_spectra.series.suitability import Candidate, measure_candidate
from pe_spectra.wording import join, tell_apart

#: Digits by which values are told apart: what a series and a study tell is known no better, and a hundredth between two
#: distances is no reason.
_DIGITS = 2
#: What is advised of a candidate: the one to use, the next one, no more than that, not to use it.
ADVICE = ("use", "second", "other", "avoid")


@dataclass(frozen=True, kw_only=True)
class Rule(Result):
    """A rule, and why it is one."""

    code: str = quantity("Its name.")
    text: str = quantity("What it says.")
    reason: str = quantity("Why.")
    source: str = quantity("What that rests on.")
    #: What a candidate has by it, the smaller the better, 0 where nothing speaks for or against it.
    read: Callable[[Candidate], float] = lambda _: 0.0
    #: Whether a candidate is to be avoided by it; what it says of a better one against a worse one.
    forbids: Callable[[Candidate], bool] = lambda _: False
    why: Callable[[Candidate, Candidate], str] = lambda _one, _other: ""


def _read_trained(one: Candidate) -> float:
    """-1, 1 where the study shows an encoding to be better, worse, and never the other; else 0."""
    better, worse = one.trained_better or 0, one.trained_worse or 0
    return float((worse > 0) - (better > 0))


def _explain_distinct(_: Candidate, other: Candidate) -> str:
    return f"{other.name} gives positions one vector in a window of more than {other.repeats:,}"


def _explain_trained(one: Candidate, other: Candidate) -> str:
    if other.trained_worse:
        return f"{other.name} is learned worse than the sinusoid in {_count_shown(other)}"
    return f"it is learned better than the sinusoid in {_count_shown(one, better=True)}"


def _count_shown(one: Candidate, *, better: bool = False) -> str:
    number = one.trained_better if better else one.trained_worse
    return f"{number} of {one.trained_of} comparisons of the study"


def _explain_periods(one: Candidate, other: Candidate) -> str:
    seen = [at.name for at in one.at_each if at.is_seen]
    missed = [at.name for at in other.at_each if not at.is_seen and at.name in seen]
    return f"its kernel comes back at {join(missed or seen)}, that of {other.name} does not"


def _explain_separation(one: Candidate, other: Candidate) -> str:
    if one.relative_separation is None or other.relative_separation is None:
        return f"{other.name} has no vectors whose distances could be compared"
    own, its = tell_apart(one.relative_separation, other.relative_separation)
    return f"its closest vectors are {own} of a typical distance apart, those of {other.name} {its}"


#: The rules, in their order: a later one decides between those that the earlier ones leave equal.
RULES = (
    Rule(
        code="distinct",
        text="Avoid what gives two positions of a window one vector.",
        reason="Nothing that is computed from equal vectors can tell these positions apart.",
        source="Definition 1; in the study networks without positions judge half of all windows rightly where order "
        "matters; the article on hourly traffic found that hour and weekday alone do not name a position of eight days",
        read=lambda one: float(one.distinct is False),
        forbids=lambda one: one.distinct is False,
        why=_explain_distinct,
    ),
    Rule(
        code="trained",
        text="Avoid what networks are shown to learn worse with than with the sinusoid, and with none better; what "
        "they learn better with, and with none worse, goes first. What was not trained is as the sinusoid.",
        reason="It is the one thing that was measured of learning, at the norm of the sinusoid.",
        source="the study, tasks that need positions, p corrected",
        read=_read_trained,
        forbids=lambda one: _read_trained(one) > 0,
        why=_explain_trained,
    ),
    Rule(
        code="periods",
        text="What shows more of the variance of the periods goes first: its kernel is larger at a whole period than "
        "at half of one, and than where it comes back sooner; a period that is longer than the window is shown by "
        "dates alone.",
        reason="Then the dot product of two positions tells whether they have the same phase, at any place.",
        source="definition; the study cannot tell, for most encodings solve its task with a period; on its "
        "task with anomalies of a wave the weight at the frequency of the wave goes with accuracy in one of four "
        "cases; the article on hourly traffic found encodings of hour and weekday better than those of the position",
        read=lambda one: -(one.seen or 0.0),
        why=_explain_periods,
    ),
    Rule(
        code="separation",
        text="What keeps the closest vectors further apart, in units of a typical distance, goes first.",
        reason="At one norm it is what goes with telling distances apart; against it, weak tokens are heard worse.",
        source="the study: relative_separation and min_separation on the task `lag`; the other way on `faint`",
        read=lambda one: -(one.relative_separation or 0.0),
        why=_explain_separation,
    ),
    Rule(
        code="norm",
        text="Multiply what is added to tokens so that its norm is that of the sinusoid at the width of the model; "
        "never choose between encodings by the norms that they happen to have.",
        reason="The norm goes with accuracy before all else, the longer the better where positions matter and the "
        "worse where tokens are weak, and one factor sets it.",
        source="the study: norm_rms on `lag`, `anomaly` and `faint`, and its arms at matched norms",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Ranked(Result):
    """A candidate in the order that the rules give."""

    rank: int = quantity("Its place; those that no rule tells apart have the same.", minimum=1)
    advice: str = quantity("What is advised.", words=ADVICE)
    rule: str | None = quantity(
        "The rule that it is behind the first one by; null for those with rank 1.",
        words=(*[one.code for one in RULES], None),
    )
    candidate: Candidate = quantity("What was measured of it.", inline=True)


@dataclass(frozen=True, kw_only=True)
class OtherChoice(Result):
    """What the choice would be without one of the rules."""

    rule: str = quantity("The rule that is left out.", words=tuple(one.code for one in RULES))
    names: tuple[str, ...] = quantity("What would be used then.", least=1)


@dataclass(frozen=True, kw_only=True)
class ColumnChoice(Result):
    """What the choice would be for one column of the series alone, among the same candidates in the same window."""

    column: str = quantity("Name of the column.")
    wanted: tuple[str, ...] = quantity("Its periods that a candidate may show: those inside the window, or by dates.")
    seen: float | None = quantity(
        "Share of the variance of these at whose lags the kernel of the choice comes back; null without such periods.",
        minimum=0,
        maximum=1.000001,
    )
    names: tuple[str, ...] = quantity("What would be used for it; empty where it has no such period.")
    agrees: bool | None = quantity("Whether what is chosen for all is among these; null where it has no such period.")


@dataclass(frozen=True, kw_only=True)
class EncodingChoice(Result):
    """Which of some encodings suits a series by the rules."""

    demand: Demand = quantity("What the series asks for.", inline=True, column=None)
    ranked: tuple[Ranked, ...] = quantity("The candidates, best first.", key="candidates")
    deciding: tuple[str, ...] = quantity("The rules that decided between the first and the others.", column=None)
    changes: tuple[OtherChoice, ...] = quantity("Which rules change the choice where they are left out.", column=None)
    by_column: tuple[ColumnChoice, ...] = quantity(
        "What each column alone would have chosen, of those that periods were looked for in.", column=None
    )
    #: Why candidates were left out, by their names.
    left_out: Mapping[str, str]


def choose_encoding(
    report: SeriesReport, *, d: int, window: int | None = None, candidates: Sequence[Encoding] = ()
) -> EncodingChoice:
    """Hold encodings against a series, and put them in the order of the rules.

    Parameters
    ----------
    d : width of the model. window : samples that it sees at once; default two of the longest period.
    candidates : default a short list of the catalogue, and encodings of the periods of the series.

    Raises
    ------
    InputError : a window that is longer than the series.

    >>> import numpy as np
    >>> from pe_spectra.series.series_report import describe_series
    >>> steps = np.arange(480.0)
    >>> found = choose_encoding(describe_series({"load": np.sin(2 * np.pi * steps / 48)}, steps), d=64)
    >>> [(one.advice, one.candidate.name) for one in found.ranked][:2], found.deciding
    ([('use', 'ladder and periods'), ('second', 'sinusoidal')], ('distinct', 'trained', 'periods'))
    """
    demand = find_demand(report, d=d, window=window)
    if candidates:
        proposals = [Proposal(one.write_spec(brief=True), one) for one in candidates]
    else:
        proposals = propose_candidates(report, demand)
    measured, left_out = [], {}
    for name, encoding, why_not in proposals:
        try:
            if encoding is None:
                raise InputError(why_not)
            measured.append(measure_candidate(name, encoding, report, demand))
        except InputError as error:
            left_out[name] = error.what
    looked = [one.column for one in report.columns if one.silent is None]
    return rank_candidates(measured, demand, left_out, looked)


def rank_candidates(
    measured: Sequence[Candidate], demand: Demand, left_out: Mapping[str, str], columns: Sequence[str] = ()
) -> EncodingChoice:
    """Put candidates in the order of the rules; those that no rule tells apart stay in theirs, with one rank.

    What is best for each of some columns is best for all: only what shows of the periods is another for each, and
    for all it is the mean.

    >>> rank_candidates([], Demand(window=8, reason="as given", d=4, wanted=()), {}).ranked
    ()
    """
    ordered = sorted(measured, key=_read_all)
    first = ordered[0] if ordered else None
    ranked: list[Ranked] = []
    for place, one in enumerate(ordered):
        is_tied = place > 0 and _read_all(one) == _read_all(ordered[place - 1])
        rank = ranked[-1].rank if is_tied else place + 1
        behind = find_rule(first, one) if first is not None else None
        ranked.append(Ranked(rank=rank, advice="other", rule=behind.code if behind else None, candidate=one))
    second = min((one.rank for one in ranked if one.rank > 1), default=0)
    ranked = [replace(one, advice=_advise(one, second)) for one in ranked]
    rules = {one.rule for one in ranked}
    suits = any(one.advice == "use" for one in ranked)
    return EncodingChoice(
        demand=demand,
        ranked=tuple(ranked),
        deciding=tuple(rule.code for rule in RULES if rule.code in rules),
        changes=_list_changes(ordered),
        by_column=tuple(_choose_for(column, ordered, demand) for column in columns if suits),
        left_out=left_out,
    )


def _advise(one: Ranked, second: int) -> str:
    if any(rule.forbids(one.candidate) for rule in RULES):
        return "avoid"
    return "use" if one.rank == 1 else "second" if one.rank == second else "other"


def _read_all(one: Candidate, without: str = "") -> tuple[float, ...]:
    return tuple(_read(rule, one) for rule in RULES if rule.code != without)


def _read(rule: Rule, one: Candidate) -> float:
    value = rule.read(one)
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else value


def find_rule(one: Candidate, other: Candidate) -> Rule | None:
    """Return the first rule that tells two candidates apart; None where none does.

    >>> import numpy as np
    >>> from pe_spectra.encodings import Dft, Sinusoidal
    >>> from pe_spectra.series.series_report import describe_series
    >>> steps = np.arange(480.0)
    >>> report = describe_series({"load": np.sin(2 * np.pi * steps / 48)}, steps)
    >>> found = choose_encoding(report, d=16, candidates=[Sinusoidal(d=16), Dft(d=16)])
    >>> find_rule(*(one.candidate for one in found.ranked)).code
    'distinct'
    """
    return next((rule for rule in RULES if _read(rule, one) != _read(rule, other)), None)


def _list_changes(ordered: Sequence[Candidate]) -> tuple[OtherChoice, ...]:
    """What would be used without each of the rules, where that is another choice."""
    changes = []
    for rule in RULES if ordered else ():
        names = _list_best(ordered, rule.code)
        if names != _list_best(ordered):
            changes.append(OtherChoice(rule=rule.code, names=tuple(names)))
    return tuple(changes)


def _list_best(candidates: Sequence[Candidate], without: str = "") -> list[str]:
    values = [_read_all(one, without) for one in candidates]
    return [one.name for one, value in zip(candidates, values, strict=True) if value == min(values)]


def _choose_for(column: str, ordered: Sequence[Candidate], demand: Demand) -> ColumnChoice:
    """What would be first by the periods of one column."""
    asked = {at.name for one in ordered for at in one.at_each if at.rise is not None}
    own_share = {one.name: dict(one.by_column).get(column, 0.0) for one in demand.wanted if one.name in asked}
    own = [replace(one, shares=tuple(own_share.get(at.name, 0.0) for at in one.at_each)) for one in ordered]
    names = _list_best(own) if any(own_share.values()) else []
    return ColumnChoice(
        column=column,
        wanted=tuple(name for name, share in own_share.items() if share),
        seen=own[0].seen,
        names=tuple(names),
        agrees=not set(names).isdisjoint(_list_best(ordered)) if names else None,
    )
