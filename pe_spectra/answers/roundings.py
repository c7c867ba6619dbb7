"""What finite precision leaves of an encoding, as an answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pe_spectra.answers.answer import Answer, Body, Drawing, Later, Verdict, Verdicts, propose
from pe_spectra.encodings import HasContinuousTable
from pe_spectra.encodings.codes import is_sampled
from pe_spectra.precision.dtypes import DTYPES
from pe_spectra.precision.rounding_report import PrecisionReport, Stage, Staircase
from pe_spectra.quantities import quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import RECIPE_TITLES
from pe_spectra.wording import capitalise, count, join, quote_word, write_at_most

VERDICTS = Verdicts(
    {
        "all-apart": "ok",
        "not-injective": "warning",
        "merged-by-rounding": "warning",
        "not-finite": "warning",
        "misplaced-by-rounding": "warning",
    }
)
#: Values of the staircase in characters, in even steps of the logarithm.
_STEPS_DRAWN = 200
#: How the last stage is called.
_SUM = "sum with an embedding"
#: Significant digits on a terminal.
_DIGITS = 3


@dataclass(frozen=True, kw_only=True)
class PrecisionBody(Body):
    """What finite precision leaves of an encoding, stage by stage."""

    kind = "precision"
    report: PrecisionReport = quantity("What was found.", inline=True)


def answer_precision(report: PrecisionReport, failed: tuple[str, ...] = ()) -> Answer:
    """Turn a report into an answer; `failed` lists the requirements that do not hold.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision.staircase import measure_precision
    >>> report = measure_precision(Sinusoidal(d=8), length=300, dtypes=["bfloat16"], recipes=["narrow-positions"])
    >>> answer_precision(report).verdict.code
    'merged-by-rounding'
    """
    return Answer(
        body=PrecisionBody(report=report),
        verdict=_judge(report),
        results=report.rows,
        facts=Later(lambda: ((dtype, _sum_up(dtype, report)) for dtype in report.dtypes)),
        details=Later(lambda: _list_details(report)),
        remarks=(*report.notes, *_list_remarks(report)),
        spelled=RECIPE_TITLES,
        rows="none",
        digits=_DIGITS,
        narrow=("dtype",),
        drawing=_draw(report),
        next_command=_suggest(report),
        failed=failed,
    )


def _suggest(report: PrecisionReport) -> str:
    start, end = report.start_position, report.start_position + report.length
    command = propose("faithfulness -e", report.encoding)
    if is_sampled(report.encoding):
        origin = report.encoding.times.origin if report.encoding.times else None
        time = f" --start {report.encoding.start} --step {report.encoding.step}" if report.encoding.step else ""
        return f"{command} --positions {quote_word(origin)}{time}" if origin else ""
    if start:
        # faithfulness begins at 0 unless positions are real ones
        return f"{command} --positions {start}:{end}:1" if isinstance(report.encoding, HasContinuousTable) else ""
    return command + ("" if end == report.encoding.default_length else f" --length {end}")


def _title(row: Stage | Staircase) -> str:
    return RECIPE_TITLES.get(row.recipe, row.recipe)


def _judge(report: PrecisionReport) -> Verdict:
    worst, total = report.list_worst(), report.codes[0].total
    if worst:
        first = worst[0]
        code = "merged-by-rounding" if first.merged else "not-finite" if first.merges else "misplaced-by-rounding"
        best, others = _say_best(first, report), _count_others(worst, report)
        return VERDICTS.say(code, f"{_say_worst(first, report)}{best}.{others}")
    if report.repeats:
        exact = f"in exact arithmetic {total:,} {report.domain} have {report.exact_distinct:,} distinct vectors already"
        return VERDICTS.say("not-injective", f"Rounding merges nothing: {exact}.")
    if total == 1:
        return VERDICTS.say("all-apart", f"A single one of the {report.domain}: nothing to distinguish.")
    return VERDICTS.say("all-apart", f"{capitalise(_say_all_apart(report))}.")


def _say_all_apart(report: PrecisionReport) -> str:
    """That all stay distinct, in which types and with which recipes, as far as anything is rounded to these."""
    steps = {dtype: {row.stage for row in report.rows if row.dtype == row.type == dtype} for dtype in report.dtypes}
    rounded, others = [one for one in steps if steps[one]], [one for one in steps if not steps[one]]
    what = f"{f'in {join(rounded)} ' if rounded else ''}all {report.count_places()} stay distinct"
    if len(report.recipes) > 1:
        return f"{what} with each of the {len(report.recipes)} recipes"
    added = f"after the {_SUM}, " if {"sum"} in steps.values() else ""
    never = f"; nothing is rounded to {join(others)}" if others else ""
    return f"{what} {added}{report.recipes[0].when}{never}"


def _say_worst(row: Stage, report: PrecisionReport) -> str:
    recipe, (code, end) = report.find_recipe(row), report.find_vectors(row)
    when, blames = recipe.when, report.find_loss(row).type == row.dtype
    step = f"after the {_SUM}, {when}" if row.stage == "sum" else when if blames else f"already {when}"
    what = f"{_count_not_finite(row, report)} {step}" if row.merges else _say_misplaced(row, step, report)
    if row.merged is not None:
        s, t = row.merged
        first, second = map(report.name_position, row.merged)
        where = "" if (first, second) == (str(s), str(t)) else f" ({first} and {second})"
        beyond = f", {_count_not_finite(row, report)}" if row.not_finite else ""
        other = f", {code.distinct:,} before it" if row.stage == "sum" else f", {end.distinct:,} after the {_SUM}"
        fewer = other if end.distinct < code.distinct else ""
        pair = f"{report.domain} {s} and {t}{where}"
        left = f"{row.distinct:,} of {row.total:,} distinct{fewer}{_say_exact(report)}{beyond}"
        what = f"{pair} share a vector {step} ({left})"
    # where it is lost before anything is rounded to the type that is looked at, that is not to blame
    return f"In {row.dtype} {what}" if blames else capitalise(what)


def _count_not_finite(row: Stage, report: PrecisionReport) -> str:
    """Say how many positions have a vector that is no finite number, and what it is: a sine of infinity is NaN.

    What only the code is, and not its sum, is not finite before that.
    """
    steps = {one.stage: one for one in report.rows if (one.dtype, one.recipe) == (row.dtype, row.recipe)}
    own = steps[row.stage if steps[row.stage].not_finite == row.not_finite else "code"]
    are_nan = "sines" in steps and steps["sines"].not_finite == row.not_finite
    what = "NaN" if are_nan or not np.isinf(DTYPES[own.type].overflow) else "not finite"
    where = "" if own.stage == row.stage else " before the sum"
    return f"{count(row.not_finite, report.domain[:-1])} {'is' if row.not_finite == 1 else 'are'} {what}{where}"


def _say_misplaced(row: Stage, step: str, report: PrecisionReport) -> str:
    """Say by how much angles are off, where that is more than half a turn, and how many vectors are distinct."""
    places = report.count_places() if row.total > 1 else ""
    are = f"all {places}" if row.distinct == row.total else f"{row.distinct:,} of {places}"
    left = f" ({are} distinct{_say_exact(report)})" if places else ""
    return f"{_write_error(row)}, more than half a turn, {step}{left}"


def _say_exact(report: PrecisionReport) -> str:
    """How many vectors exact arithmetic has, where that is fewer than positions: more are told apart by rounding."""
    return f", {report.exact_distinct:,} in exact arithmetic" if report.repeats else ""


def _write_error(row: Stage) -> str:
    return f"angles are off by up to {row.max_phase_error or 0.0:.3g} rad"


def _say_best(worst: Stage, report: PrecisionReport) -> str:
    kept = report.best_recipe(worst.dtype)
    if kept is None:
        return (
            f"; none of the {len(report.recipes)} recipes {_say_lacking(worst, report)}" if report.recipes[1:] else ""
        )
    what = f"all {kept.total:,} stay distinct"
    if not worst.merges:
        what = f"angles are off by {kept.max_phase_error or 0.0:.3g} rad at most"
    elif kept.distinct < kept.total:
        what = f"only those merge that are one in exact arithmetic ({kept.distinct:,} distinct)"
    elif report.repeats:
        what = f"all {kept.total:,} are distinct{_say_exact(report)}"
    return f"; {report.find_recipe(kept).when}, {what}"


def _say_lacking(worst: Stage, report: PrecisionReport) -> str:
    """What none of the recipes does: of the least that is wanted, as much as one more than any does."""
    if not worst.merges:
        return "keeps them within half a turn"
    distinct = [row for row in report.ends if row.dtype == worst.dtype and row.merged is None]
    finite = " and finite" if distinct else ""
    within = ", with angles within half a turn" if any(not row.merges for row in distinct) else ""
    return f"keeps all distinct{finite}{within}"


def _count_others(worst: Sequence[Stage], report: PrecisionReport) -> str:
    """What other types leave at worst, and the first one, where its own rounding merges more."""
    if not worst[0].merges:
        others = [f"{one.dtype} {one.max_phase_error or 0.0:.3g} rad" for one in worst[1:]]
        return f" Other types at worst: {join(others)}." if others else ""
    left = []
    for one in worst:
        ends = [row for row in report.ends if row.dtype == one.dtype]
        least = min(ends, key=lambda row: (row.distinct, -row.not_finite, -(row.max_phase_error or 0.0)))
        if one is worst[0] and (one.type == one.dtype or least.distinct == one.distinct):
            continue
        beyond = f" ({_count_not_finite(least, report)})" if least.not_finite else ""
        beyond = beyond or (f" ({_write_error(least)})" if least.misplaces and not one.merges else "")
        left.append(f"{one.dtype} leaves {least.distinct:,}{beyond}")
    return f" Other types at worst: {join([f'{left[0]} distinct', *left[1:]])}." if left else ""


def _sum_up(dtype: str, report: PrecisionReport) -> str:
    """One line for a type: what its recipes leave, those that leave the same together, the fewest first."""
    ends = sorted((row for row in report.ends if row.dtype == dtype), key=lambda row: row.distinct)
    kept = {row.recipe: row.distinct for row in report.codes if row.dtype == dtype}
    alike: dict[tuple[str, str], list[str]] = {}
    for row in ends:
        pair = f" ({_write_left(row, report)})" if row.first_collision is not None or row.not_finite else ""
        left = (
            f"all {row.total:,}"
            if row.first_collision is None and row.total > 1
            else f"{row.distinct:,} of {row.total:,}"
        )
        where = f" after the {_SUM}" if row.distinct < kept[row.recipe] else ""
        alike.setdefault((left + pair, where), []).append(_title(row))
    if len(alike) == 1:
        ((left, where),) = alike
        return f"{left} distinct{where}" + (f" with each of the {len(ends)} recipes" if len(ends) > 1 else "")
    return "; ".join(f"{left} with {join(titles)}{where}" for (left, where), titles in alike.items())


def _write_left(row: Stage, report: PrecisionReport) -> str:
    """The first two positions that are one, and how many have a vector that is not finite."""
    pair = "" if row.first_collision is None else " = ".join(map(report.name_position, row.first_collision))
    return ", ".join(filter(None, (pair, _count_not_finite(row, report) if row.not_finite else "")))


def _list_details(report: PrecisionReport) -> list[tuple[str, str]]:
    facts = []
    for dtype in report.dtypes:
        codes = [row for row in report.codes if row.dtype == dtype]
        errors = [
            f"{_title(row)} {row.max_phase_error:.3g} (bound {write_at_most(row.phase_error_bound)})"
            for row in codes
            if row.max_phase_error is not None and row.phase_error_bound is not None
        ]
        if errors:
            facts.append((f"{dtype}, phase error", f"{'; '.join(errors)} rad at most"))
    return facts


def _list_remarks(report: PrecisionReport) -> list[str]:
    names = [recipe.name for recipe in report.recipes]
    renamed = [f"{RECIPE_TITLES[name]} is {name}" for name in names if RECIPE_TITLES.get(name, name) != name]
    notes = [f"in JSON and CSV {join(renamed)}, whatever the type"] if renamed else []
    if "fp32" in names:
        has_sum = any(row.stage == "sum" for row in report.rows)
        then = "only its sum with the embedding is rounded to the type" if has_sum else "nothing is rounded to the type"
        notes.append(f"fp32: the code is kept in float32, and {then}")
    return notes


def _draw(report: PrecisionReport) -> Drawing | None:
    """The staircase of the stage that the verdict is about, as the share that is still distinct."""
    worst = next(iter(report.list_worst()), None)
    if worst is None or worst.merged is None or report.length < 4:
        return None
    stair = report.find_stair(worst)
    last = int(stair.counts[-1])
    steps = np.geomspace(1, last, _STEPS_DRAWN)
    places = np.searchsorted(stair.counts, steps * (1 + 1e-12), side="right") - 1
    what = f"share of distinct vectors among the first n {report.domain}, n on a log axis"
    return Drawing(
        title=f"{what}   {worst.dtype}, {_title(worst)}",
        values=(stair.distinct / stair.counts)[places].tolist(),
        ticks=((0.0, "n = 1"), (1.0, f"{last:,}")),
        smallest=True,
    )
