"""What finite precision leaves of an encoding, as an answer."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np

from pe_spectra.precision import PrecisionReport, Recipe, Stage
from pe_spectra.precision.dtypes import DTYPES
from pe_spectra.precision.judging import find_blamed, find_merged, find_praised
from pe_spectra.records.answer import Answer, Cell, Document, Drawing, Verdict, describe_encoding, join

_STEPS = ("positions", "frequencies", "phases", "sines", "code")
#: Values of the staircase in characters, in even steps of the logarithm.
_STEPS_DRAWN = 200
#: What a terminal shows, and to how many significant digits; all of both in a pipe and in CSV.
_SHOWN = ("dtype", "recipe", "stage", "distinct", "first_collision", "max_phase_error")
_DIGITS = 3


def answer_precision(report: PrecisionReport, failed: tuple[str, ...] = (), *, telling_first: bool = False) -> Answer:
    """Turn a report into an answer; `failed` lists the requirements that do not hold.

    Parameters
    ----------
    telling_first : whether the rows begin with the codes and the stages that change what is told apart.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision import measure_precision
    >>> report = measure_precision(Sinusoidal(d=8), length=300, dtypes=["bfloat16"], recipes=["bf16-positions"])
    >>> answer_precision(report).verdict.code
    'merged-by-rounding'
    """
    telling, others = _part(report.rows)
    return Answer(
        kind="precision",
        verdict=_judge(report),
        body={
            "encoding": describe_encoding(report.encoding),
            "parameters": {
                "length": report.length,
                "dtypes": list(report.dtypes),
                "recipes": [_describe_recipe(recipe) for recipe in report.recipes],
                "embedding": report.embedding,
            },
            "domain": report.domain,
            "exact_distinct": report.exact_distinct,
            "rows": [_describe(row) for row in report.rows],
        },
        columns=_list_columns((*telling, *others) if telling_first else report.rows),
        facts=tuple(_list_facts(report)),
        notes=(*report.notes, *_remark(report)),
        shown=_SHOWN,
        brief=len(telling),
        digits=_DIGITS,
        narrow=("dtype",),
        drawing=_draw(report),
        next_command=_suggest(report),
        failed=failed,
    )


def _part(rows: Sequence[Stage]) -> tuple[list[Stage], list[Stage]]:
    """Part the codes, and the stages that tell other positions apart than the stage before, from all the rest."""
    telling: list[Stage] = []
    others: list[Stage] = []
    pipeline = ("", "")
    before: tuple[int, tuple[int, int] | None, int] = (0, None, 0)
    for row in rows:
        left = (row.distinct, row.first_collision, row.not_finite)
        if pipeline != (row.dtype, row.recipe):
            pipeline, before = (row.dtype, row.recipe), (row.total, None, 0)
        (telling if row.stage == "code" or left != before else others).append(row)
        before = left
    return telling, others


def name_pipeline(row: Stage) -> str:
    """Name a recipe in a type, as a requirement that fails does.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision import measure_precision
    >>> report = measure_precision(Sinusoidal(d=8), length=9, dtypes=["bfloat16"], recipes=["fp32"])
    >>> name_pipeline(report.rows[0])
    'bfloat16, fp32'
    """
    return f"{row.dtype}, {row.recipe}"


# --------------------------------------------------------------------- verdict


def _judge(report: PrecisionReport) -> Verdict:
    blamed = [row for row in (find_blamed(report, dtype) for dtype in report.dtypes) if row is not None]
    total = report.codes[0].total
    if blamed:
        text = f"{_blame(blamed[0], report)}{_praise(blamed[0].dtype, report)}.{_count_others(blamed, report)}"
        code = "not-finite" if find_merged(blamed[0], report) is None else "merged-by-rounding"
        return Verdict(level="warning", code=code, text=text)
    if report.exact_distinct is not None and report.exact_distinct < total:
        text = (
            f"Rounding merges nothing: in exact arithmetic {total:,} {report.domain} have {report.exact_distinct:,} "
            f"distinct codes already."
        )
        return Verdict(level="warning", code="not-injective", text=text)
    every = "with every recipe" if len(report.recipes) > 1 else report.recipes[0].when
    if total == 1:
        return Verdict(
            level="ok", code="all-apart", text=f"A single one of the {report.domain}: nothing to tell apart."
        )
    text = f"In {join(report.dtypes)} all {total:,} {report.domain} stay apart {every}."
    return Verdict(level="ok", code="all-apart", text=text)


def _blame(row: Stage, report: PrecisionReport) -> str:
    when = _find_recipe(report, row.recipe).when
    merged = find_merged(row, report)
    what = f"{_count_not_finite(row, report)} {when}"
    if merged is not None:
        s, t = merged
        beyond = f", {_count_not_finite(row, report)}" if row.not_finite else ""
        step = when if row.type == row.dtype else f"already {when}"
        what = f"{report.domain} {s} and {t} have one code {step} ({row.distinct:,} of {row.total:,} distinct{beyond})"
    if row.type == row.dtype:
        return f"In {row.dtype} {what}"
    # nothing was rounded to the type that is looked at: it is not to blame
    return f"{what[0].upper()}{what[1:]}"


def _count_not_finite(row: Stage, report: PrecisionReport) -> str:
    """Say how many positions have a code that is no finite number, and what it is: a sine of infinity is NaN."""
    has_sines = any(one.stage == "sines" for one in report.rows)
    what = "NaN" if has_sines or not np.isinf(DTYPES[row.type].overflow) else "not finite"
    if row.not_finite == 1:
        return f"1 {report.domain[:-1]} is {what}"
    return f"{row.not_finite:,} {report.domain} are {what}"


def _praise(dtype: str, report: PrecisionReport) -> str:
    kept = find_praised(report, dtype)
    if kept is None:
        return "; no recipe keeps all apart" if len(report.recipes) > 1 else ""
    what = f"all {kept.total:,} stay apart"
    if kept.distinct < kept.total:
        what = f"only those merge that are one in exact arithmetic ({kept.distinct:,} distinct)"
    return f"; {_find_recipe(report, kept.recipe).when.removeprefix('when ')} {what}"


def _count_others(blamed: Sequence[Stage], report: PrecisionReport) -> str:
    """What other types leave at worst, and the first one, where its own rounding merges more."""
    counts = []
    for one in blamed:
        worst = min(
            (row for row in report.codes if row.dtype == one.dtype), key=lambda row: (row.distinct, -row.not_finite)
        )
        if one is blamed[0] and (one.type == one.dtype or worst.distinct == one.distinct):
            continue
        beyond = f" ({_count_not_finite(worst, report)})" if worst.not_finite else ""
        counts.append(f"{one.dtype} {worst.distinct:,}{beyond}")
    return f" At worst are left: {join(counts)}." if counts else ""


def _find_recipe(report: PrecisionReport, name: str) -> Recipe:
    return next(recipe for recipe in report.recipes if recipe.name == name)


# --------------------------------------------------------------------- the rest


def _describe_recipe(recipe: Recipe) -> Document:
    return {"name": recipe.name, **{step: getattr(recipe, step) for step in _STEPS}}


def _describe(row: Stage) -> Document:
    return {
        "dtype": row.dtype,
        "recipe": row.recipe,
        "stage": row.stage,
        "stage_type": row.type,
        "distinct": row.distinct,
        "total": row.total,
        "first_collision": None if row.first_collision is None else list(row.first_collision),
        "max_phase_error": row.max_phase_error,
        "constant_channels": row.constant_channels,
        "not_finite": row.not_finite,
        "min_separation": row.min_separation,
        "closest_pair": None if row.closest_pair is None else list(row.closest_pair),
        "ulp_margin": row.ulp_margin,
    }


def _list_columns(rows: Sequence[Stage]) -> dict[str, Sequence[Cell]]:
    described = [_describe(row) for row in rows]
    return {name: [_write(row[name]) for row in described] for name in described[0]}


def _write(value: object) -> Cell:
    if isinstance(value, list):
        return "{} {}".format(*value)
    return value if isinstance(value, str | int | float) else None


def _list_facts(report: PrecisionReport) -> list[tuple[str, str]]:
    facts = []
    for dtype in report.dtypes:
        codes = [row for row in report.codes if row.dtype == dtype]
        facts.append((f"{dtype}, codes apart", "; ".join(_count_codes(row, report) for row in codes)))
        errors = [row for row in codes if row.max_phase_error is not None]
        if errors:
            said = "; ".join(f"{row.recipe} {row.max_phase_error:.3g}" for row in errors)
            facts.append((f"{dtype}, phase error", f"{said} rad at most"))
    return facts


def _count_codes(row: Stage, report: PrecisionReport) -> str:
    beyond = f", {_count_not_finite(row, report)}" if row.not_finite else ""
    if row.first_collision is None:
        return f"{row.recipe} all {row.total:,}{beyond}"
    s, t = row.first_collision
    return f"{row.recipe} {row.distinct:,} ({s} = {t}{beyond})"


def _remark(report: PrecisionReport) -> list[str]:
    notes = []
    named = [recipe.name for recipe in report.recipes]
    others = [dtype for dtype in report.dtypes if dtype != "bfloat16"]
    if others and {"all-bf16", "bf16-positions"} & set(named):
        here = "here also" if "bfloat16" in report.dtypes else "here"
        notes.append(f"the bf16 in the name of a recipe stands for the type that is looked at, {here} {join(others)}")
    if "fp32" in named:
        has_sum = any(row.stage == "sum" for row in report.rows)
        then = "only its sum with the embedding is rounded to the type" if has_sum else "nothing is rounded to the type"
        notes.append(f"fp32: the code is kept in float32, and {then}")
    return notes


def _draw(report: PrecisionReport) -> Drawing | None:
    """The staircase of the recipe that the verdict is about, as the share that is still told apart."""
    blamed = next((row for row in (find_blamed(report, dtype) for dtype in report.dtypes) if row is not None), None)
    if blamed is None or find_merged(blamed, report) is None or report.length < 4:
        return None
    stair = next(one for one in report.stairs if (one.dtype, one.recipe) == (blamed.dtype, blamed.recipe))
    last = int(stair.counts[-1])
    steps = np.geomspace(1, last, _STEPS_DRAWN)
    places = np.searchsorted(stair.counts, steps * (1 + 1e-12), side="right") - 1
    return Drawing(
        title=f"distinct codes for each of the first n {report.domain}, n on a log axis   {name_pipeline(blamed)}",
        values=(stair.distinct / stair.counts)[places].tolist(),
        ticks=((0.0, "n = 1"), (1.0, f"{last:,}")),
        smallest=True,
    )


def _suggest(report: PrecisionReport) -> str:
    return f"pe-spectra faithfulness -e {shlex.quote(report.encoding.spec)} --length {report.length}"
