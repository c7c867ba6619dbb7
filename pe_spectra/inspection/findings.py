"""What was found in a table: a finding and its rows, and how sentences name rows and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pe_spectra.findings import LEVELS, Finding

#: A row of the file, or a range of rows, both ends included.
RowRange = int | tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class RowFinding(Finding):
    """One thing that a reader of a table should know.

    Attributes
    ----------
    rows : rows of the file: indices, or (from, to) with both ends included; for codes about columns
        empty, the columns are in `data`.

    >>> found = RowFinding(level="note", code="dead-rows", message="Rows 3 to 5 are zero.", rows=((3, 5),))
    >>> name_rows(found.rows)
    'rows 3 to 5'
    """

    rows: tuple[RowRange, ...] = ()


def order_findings(findings: Sequence[RowFinding]) -> tuple[RowFinding, ...]:
    """Put the gravest first, and of one level that with the most rows; else the order stays.

    >>> pair = RowFinding(level="warning", code="duplicate-rows", message="", rows=(77, 200))
    >>> tail = RowFinding(level="warning", code="untrained-tail", message="", rows=((400, 511),))
    >>> [finding.code for finding in order_findings([pair, tail])]
    ['untrained-tail', 'duplicate-rows']
    """

    def rank(finding: RowFinding) -> tuple[int, int]:
        count = sum(1 if isinstance(row, int) else row[1] - row[0] + 1 for row in finding.rows)
        return -LEVELS.index(finding.level), -count

    return tuple(sorted(findings, key=rank))


def group_rows(rows: Iterable[int], offset: int = 0) -> tuple[RowRange, ...]:
    """Join three or more rows in a run to a range, both ends included.

    >>> group_rows([0, 5, 6, 7, 9, 10])
    (0, (5, 7), 9, 10)
    """
    ordered = sorted({int(row) + offset for row in rows})
    grouped: list[RowRange] = []
    start = 0
    for end in range(1, len(ordered) + 1):
        if end < len(ordered) and ordered[end] == ordered[end - 1] + 1:
            continue
        run = ordered[start:end]
        grouped.extend(run if len(run) < 3 else [(run[0], run[-1])])
        start = end
    return tuple(grouped)


def name_rows(rows: tuple[RowRange, ...], noun: str = "row", limit: int = 6) -> str:
    """Name rows in words, the first `limit` of them.

    >>> name_rows((0, (5, 7), 9))
    'rows 0, 5 to 7 and 9'
    >>> name_rows((3,))
    'row 3'
    """
    words = [str(row) if isinstance(row, int) else f"{row[0]} to {row[1]}" for row in rows]
    single = len(words) == 1 and isinstance(rows[0], int)
    if len(words) > limit:
        return f"{noun}s {', '.join(words[:limit])} and {len(words) - limit} more"
    listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    return f"{noun}{'' if single else 's'} {listed}"


def format_number(value: float) -> str:
    """Write a number with three digits for a sentence.

    >>> format_number(5.03219), format_number(0.00012345)
    ('5.03', '0.000123')
    """
    return f"{value:.3g}"


def format_cosine(value: float) -> str:
    """Write a cosine with two digits behind the point, without a sign before zero.

    >>> format_cosine(-0.001), format_cosine(0.916)
    ('0.00', '0.92')
    """
    return f"{round(value, 2) + 0.0:.2f}"
