"""What finite precision leaves of an encoding, as an answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pe_spectra.precision import PrecisionReport, Recipe, Stage
from pe_spectra.precision.judging import find_blamed, find_merged, find_praised
from pe_spectra.records.answer import Answer, Cell, Document, Drawing, Verdict, describe_encoding, join

_STEPS = ("positions", "frequencies", "phases", "sines", "code")
#: Values of the staircase in characters, in even steps of the logarithm.
_STEPS_DRAWN = 200


def answer_precision(report: PrecisionReport, failed: tuple[str, ...] = ()) -> Answer:
    """Turn a report into an answer; `failed` lists the requirements that do not hold."""
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
        columns=_list_columns(report.rows),
        facts=tuple(_list_facts(report)),
        notes=(*report.notes, *_remark(report)),
        shown=("dtype", "recipe", "stage", "distinct", "first_collision", "max_phase_error", "constant_channels"),
        brief=max(12, sum(row.dtype == report.dtypes[0] for row in report.rows)),
        drawing=_draw(report),
        next_command=_suggest(report),
        failed=failed,
    )


def name_pipeline(row: Stage) -> str:
    """Name a recipe in a type, as a requirement that fails does."""
    return f"{row.dtype}, {row.recipe}"


# --------------------------------------------------------------------- verdict


def _judge(report: PrecisionReport) -> Verdict:
    blamed = [row for row in (find_blamed(report, dtype) for dtype in report.dtypes) if row is not None]
    total = report.codes[0].total
    if blamed:
        text = f"{_blame(blamed[0], report)}{_praise(blamed[0].dtype, report)}.{_count_others(blamed[1:], report)}"
        return Verdict(level="warning", code="merged-by-rounding", text=text)
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
    s, t = find_merged(row, report) or (0, 0)
    when = _find_recipe(report, row.recipe).when
    return (
        f"In {row.dtype} {report.domain} {s} and {t} have one code {when} ({row.distinct:,} of {row.total:,} distinct)"
    )


def _praise(dtype: str, report: PrecisionReport) -> str:
    kept = find_praised(report, dtype)
    if kept is None:
        return "; no recipe keeps all apart" if len(report.recipes) > 1 else ""
    what = f"all {kept.total:,} stay apart"
    if kept.distinct < kept.total:
        what = f"only those merge that are one in exact arithmetic ({kept.distinct:,} distinct)"
    return f"; {_find_recipe(report, kept.recipe).when.removeprefix('when ')} {what}"


def _count_others(blamed: Sequence[Stage], report: PrecisionReport) -> str:
    """What the other types leave at worst."""
    if not blamed:
        return ""
    worst = [min(row.distinct for row in report.codes if row.dtype == one.dtype) for one in blamed]
    counts = join([f"{one.dtype} {count:,}" for one, count in zip(blamed, worst, strict=True)])
    return f" At worst are left: {counts}."


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
        facts.append((f"{dtype}, codes apart", "; ".join(_count_codes(row) for row in codes)))
        errors = [row for row in codes if row.max_phase_error is not None]
        if errors:
            said = "; ".join(f"{row.recipe} {row.max_phase_error:.3g}" for row in errors)
            facts.append((f"{dtype}, phase error", f"{said} rad at most"))
    return facts


def _count_codes(row: Stage) -> str:
    if row.first_collision is None:
        return f"{row.recipe} all {row.total:,}"
    s, t = row.first_collision
    return f"{row.recipe} {row.distinct:,} ({s} = {t})"


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
    if blamed is None or report.length < 4:
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
    return f"pe-spectra faithfulness -e {report.encoding.spec} --length {report.length}"
