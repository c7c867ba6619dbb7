"""Findings about the rows of a table, and how their sentences name rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from pe_spectra.findings import Finding, Kind
from pe_spectra.quantities import quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import RANKS, Level
from pe_spectra.wording import capitalise, join

#: A row of the file, or a range of rows, both ends included.
RowRange = int | tuple[int, int]
#: Words that agree with the rows or columns of a sentence: of several, of one.
_VERBS = {"are": "is", "have": "has", "do": "does", "break": "breaks", "them": "it"}


@dataclass(frozen=True, kw_only=True)
class RowFinding(Finding):
    """One thing that a reader of a table should know.

    >>> from pe_spectra.inspection.table_kinds import ZERO_ROWS
    >>> ZERO_ROWS.report(((3, 5), 9), count=4).message
    'Rows 3 to 5 and 9 are zero in every column.'
    """

    rows: tuple[RowRange, ...] = quantity(
        "Rows of the file that it is about: indices, or [from, to] with both ends included; empty for findings about "
        "columns, which are in data.",
        default=(),
        schema={
            "type": "array",
            "items": {
                "type": ["integer", "array"],
                "minimum": 0,
                "items": {"type": "integer", "minimum": 0},
                "minItems": 2,
                "maxItems": 2,
            },
        },
    )


@dataclass(frozen=True, kw_only=True)
class RowKind(Kind):
    """A kind of finding about a table, with its words.

    `brief` says one of them in a clause, `sentence` with its numbers. Both name {rows} or {columns}, and have words
    that agree with them in number; names with a capital begin the sentence.

    >>> from pe_spectra.inspection.table_kinds import ZERO_ROWS
    >>> ZERO_ROWS.report((3,), count=1).message
    'Row 3 is zero in every column.'
    """

    brief: str
    sentence: str

    def report(
        self,
        rows: tuple[RowRange, ...] = (),
        *,
        level: Level | None = None,
        said: Mapping[str, object] = MappingProxyType({}),
        **data: object,
    ) -> RowFinding:
        """Make a finding of this kind about some rows; `said` has what stands in its sentence and is not in `data`."""
        message = self.sentence.format_map({**data, **said, **_agree(rows, data.get("columns"))})
        level = self.choose_level(level)
        return RowFinding(level=level, code=self.code, message=message, rows=rows, data=MappingProxyType(data))

    def write_clause(self, finding: RowFinding) -> str:
        """Say a finding of this kind in a few words, with its rows.

        >>> from pe_spectra.inspection.table_kinds import ZERO_ROWS
        >>> ZERO_ROWS.write_clause(ZERO_ROWS.report(((3, 5),)))
        'rows 3 to 5 are zero'
        """
        words = _agree(finding.rows, finding.data.get("columns"), limit=3)
        return self.brief.format(spacing=finding.data.get("spacing"), **words)


def _agree(rows: tuple[RowRange, ...], columns: object, limit: int = 6) -> dict[str, str]:
    """Names of rows and columns, the first `limit` of them, and the words that agree with them in number."""
    named = columns if isinstance(columns, tuple) else rows
    is_one = len(named) == 1 and isinstance(named[0], int)
    words = {several: one if is_one else several for several, one in _VERBS.items()}
    for noun in ("row", "column"):
        name = _name(named, noun if is_one else f"{noun}s", limit)
        words |= {f"{noun}s": name, f"{noun.capitalize()}s": capitalise(name)}
    return words


def _name(named: Sequence[RowRange], noun: str, limit: int) -> str:
    words = [str(one) if isinstance(one, int) else f"{one[0]} to {one[1]}" for one in named]
    if len(words) > limit:
        words = [*words[:limit], f"{len(words) - limit} more"]
    return f"{noun} {join(words)}"


def group_rows(rows: Iterable[int]) -> tuple[RowRange, ...]:
    """Join three or more rows in a run to a range, both ends included.

    >>> group_rows([0, 5, 6, 7, 9, 10])
    (0, (5, 7), 9, 10)
    """
    ordered = sorted({int(row) for row in rows})
    grouped: list[RowRange] = []
    start = 0
    for end in range(1, len(ordered) + 1):
        if end < len(ordered) and ordered[end] == ordered[end - 1] + 1:
            continue
        run = ordered[start:end]
        grouped.extend(run if len(run) < 3 else [(run[0], run[-1])])
        start = end
    return tuple(grouped)


def order_findings(findings: Sequence[RowFinding]) -> tuple[RowFinding, ...]:
    """Put what matters most first: the gravest, and of one level that about the most positions; else the order stays.

    A seam is about the rows on its shorter side: what one who drops the lesser part loses. Findings about columns, and
    about the table as a whole, name no rows and stand behind those of their level that do.

    >>> pair = RowFinding(level="warning", code="duplicate-rows", message="", rows=(77, 200))
    >>> seam = RowFinding(level="warning", code="seam", message="", rows=(127, 128), data={"shorter_side": 128})
    >>> [finding.code for finding in order_findings([pair, seam])]
    ['seam', 'duplicate-rows']
    """

    def rank(finding: RowFinding) -> tuple[int, int]:
        count = sum(1 if isinstance(row, int) else row[1] - row[0] + 1 for row in finding.rows)
        side = finding.data.get("shorter_side")
        return -RANKS[finding.level], -(side if isinstance(side, int) else count)

    return tuple(sorted(findings, key=rank))
