"""Two tables of positions against each other as an answer."""

from __future__ import annotations

from pe_spectra.models.comparison.tables import TableDiff, state_table_verdict
from pe_spectra.records.answer import Answer, Document, Verdict

_LEVELS = {"same": "ok", "explained": "note", "differs": "warning"}


def answer_table_diff(a: str, b: str, found: TableDiff, *, notes: tuple[str, ...] = (), check: bool = False) -> Answer:
    """Turn the comparison of two tables into an answer; `check` makes a difference fail the run.

    >>> import numpy as np
    >>> from pe_spectra.models.comparison.tables import compare_tables
    >>> answer_table_diff("a.npy", "b.npy", compare_tables(np.eye(4), 2 * np.eye(4))).verdict.code
    'explained'
    """
    code, text = state_table_verdict(found)
    sides = ((a, found.shape_a, found.dtypes[0]), (b, found.shape_b, found.dtypes[1]))
    described = [{"name": name, "rows": shape[0], "columns": shape[1], "dtype": dtype} for name, shape, dtype in sides]
    return Answer(
        kind="diff",
        verdict=Verdict(level=_LEVELS.get(code, "warning"), code=code, text=text),
        body={
            "parameters": {},
            "a": described[0],
            "b": described[1],
            "agree": found.agree,
            "differences": [] if found.agree else [_describe_difference(found)],
            "unknown": [],
            "layer_types": [],
            "table": _describe(found),
        },
        columns={"finding": list(found.findings)},
        facts=tuple(
            (side, f"{one['name']}: {one['rows']} rows of {one['columns']}, {one['dtype']}")
            for side, one in zip(("A", "B"), described, strict=True)
        ),
        notes=notes,
        brief=len(found.findings),
        failed=("table differs",) if check and not found.agree else (),
    )


def _describe_difference(found: TableDiff) -> Document:
    return {
        "what": "table",
        "a": list(found.shape_a),
        "b": list(found.shape_b),
        "effect": found.findings[0],
        "first_position": found.first_row,
        "layers": [],
    }


def _describe(found: TableDiff) -> Document:
    return {
        "equal_rows": found.equal_rows,
        "first_row": found.first_row,
        "max_difference": found.max_difference,
        "explained": found.explained,
        "order": found.order or None,
        "columns": None if found.columns is None else [int(column) for column in found.columns],
        "shift": found.shift,
        "factor": found.factor,
        "unmatched_rows": list(found.unmatched_rows),
        "findings": list(found.findings),
    }
