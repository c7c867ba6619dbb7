"""Two tables of positions against each other as an answer."""

from __future__ import annotations

from pe_spectra.models.table_diff import TableDiff
from pe_spectra.records.answer import Answer, Verdict


def answer_table_diff(a: str, b: str, found: TableDiff, *, notes: tuple[str, ...] = (), check: bool = False) -> Answer:
    """Turn the comparison of two tables into an answer; `check` makes a difference fail the run."""
    sides = ((a, found.shape_a, found.dtypes[0]), (b, found.shape_b, found.dtypes[1]))
    described = [{"name": name, "rows": shape[0], "columns": shape[1], "dtype": dtype} for name, shape, dtype in sides]
    return Answer(
        kind="table-diff",
        verdict=_judge(found),
        body={
            "parameters": {},
            "a": described[0],
            "b": described[1],
            "agree": found.agree,
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
        },
        columns={"finding": list(found.findings)},
        facts=tuple(
            (side, f"{one['name']}: {one['rows']} rows of {one['columns']}, {one['dtype']}")
            for side, one in zip(("A", "B"), described, strict=True)
        ),
        notes=notes,
        brief=len(found.findings),
        failed=("the tables differ",) if check and not found.agree else (),
    )


def _judge(found: TableDiff) -> Verdict:
    first = found.findings[0] if found.findings else ""
    if found.agree:
        return Verdict(level="ok", code="same", text=f"The same: {first or 'all rows agree'}.")
    if found.explained:
        return Verdict(level="note", code="rearranged", text=f"Different, but one is the other: {first}.")
    return Verdict(level="warning", code="differs", text=f"Different: {first}.")
