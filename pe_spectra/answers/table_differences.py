"""Two tables of positions against each other as an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pe_spectra.answers.answer import Answer, Body, NoParameters, Verdict, Verdicts
from pe_spectra.models.comparison.table_diff import TableDiff
from pe_spectra.quantities import Result, quantity
from pe_spectra.wording import count

VERDICTS = Verdicts(
    ("same", "ok", "The same: {how}."),
    ("explained", "note", "Different: {how}."),
    ("differs", "warning", "Different: {how}."),
)
_EMPTY: Mapping[str, object] = {"type": "array", "items": {"type": "null"}, "maxItems": 0}
_SHAPE: Mapping[str, object] = {
    "type": "array",
    "items": {"type": "integer", "minimum": 1},
    "minItems": 2,
    "maxItems": 2,
}


@dataclass(frozen=True, kw_only=True)
class ComparedTable(Result):
    """One table."""

    name: str = quantity("The file, as it was named.")
    rows: int = quantity("Number of its rows.", minimum=1)
    columns: int = quantity("Number of its columns.", minimum=1)
    dtype: str = quantity("The coarsest type that holds all of its numbers.")


@dataclass(frozen=True, kw_only=True)
class TableDifference(Result):
    """That two tables differ."""

    what: str = quantity("Name of the part, always table.", default="table", schema={"const": "table"})
    a: tuple[int, int] = quantity("Rows and columns of A.", schema=_SHAPE)
    b: tuple[int, int] = quantity("Rows and columns of B.", schema=_SHAPE)
    effect: str = quantity("What the difference is, in one sentence.")
    first_position: int | None = quantity(
        "First row that differs; null where none of those that both have does, and where widths differ.", minimum=0
    )
    layers: tuple[str, ...] = quantity("Always empty: tables are of no type of layer.", default=(), schema=_EMPTY)


@dataclass(frozen=True, kw_only=True)
class TableDiffBody(Body):
    """Two tables of positions against each other; its kind is diff, too."""

    kind = "diff"
    draws = False
    parameters: NoParameters = quantity("Nothing can be asked.", default=NoParameters())
    a: ComparedTable = quantity("The first table, A.")
    b: ComparedTable = quantity("The second table, B.")
    agree: bool = quantity(
        "Whether they have one shape and numbers that are equal within the rounding of the coarser type."
    )
    differences: tuple[TableDifference, ...] = quantity("What differs: the tables, or nothing.", most=1)
    unknown: tuple[str, ...] = quantity("Always empty: nothing about a table is unknown.", default=(), schema=_EMPTY)
    layer_types: tuple[str, ...] = quantity("Always empty: tables are of no type of layer.", default=(), schema=_EMPTY)
    table: TableDiff = quantity("How B is found in A.")


def answer_tables(a: str, b: str, found: TableDiff, *, notes: tuple[str, ...] = (), check: bool = False) -> Answer:
    """Turn the comparison of two tables into an answer; `check` makes a difference fail the run.

    >>> import numpy as np
    >>> from pe_spectra.models.comparison.table_diff import compare_tables
    >>> answer_tables("a.npy", "b.npy", compare_tables(np.eye(4), 2 * np.eye(4))).verdict.code
    'explained'
    """
    first, second = (
        ComparedTable(name=name, rows=shape[0], columns=shape[1], dtype=dtype)
        for name, shape, dtype in ((a, found.shape_a, found.dtypes[0]), (b, found.shape_b, found.dtypes[1]))
    )
    difference = TableDifference(
        a=found.shape_a, b=found.shape_b, effect=found.findings[0], first_position=found.first_row
    )
    return Answer(
        body=TableDiffBody(
            a=first, b=second, agree=found.agree, differences=() if found.agree else (difference,), table=found
        ),
        verdict=judge_tables(found),
        columns={"finding": list(found.findings)},
        facts=[
            (side, f"{one.name}: {count(one.rows, 'row')} of {one.columns}, {one.dtype}")
            for side, one in (("A", first), ("B", second))
        ],
        notes=notes,
        brief=len(found.findings),
        failed=("table differs",) if check and not found.agree else (),
    )


def judge_tables(found: TableDiff) -> Verdict:
    """Say whether two tables are the same, one explains the other, or neither.

    >>> import numpy as np
    >>> from pe_spectra.models.comparison.table_diff import compare_tables
    >>> judge_tables(compare_tables(np.eye(4), np.eye(4))).code
    'same'
    """
    if found.agree:
        return VERDICTS.say("same", how=found.findings[0])
    every = "; ".join(found.findings)
    if not found.explained:
        return VERDICTS.say("differs", how=every)
    return VERDICTS.say("explained", how=every if found.in_place else found.findings[0])
