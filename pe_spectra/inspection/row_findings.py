"""What is found in a table, and how sentences name rows and numbers; the findings about single rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.findings import Finding, Kind
from pe_spectra.inspection.anatomy import Anatomy
from pe_spectra.inspection.rows import compute_cosine
from pe_spectra.quantities import quantity
from pe_spectra.vocabulary import FINDING_LEVELS, Level

#: A row of the file, or a range of rows, both ends included.
RowRange = int | tuple[int, int]
#: A number with three digits for a sentence.
format_number = "{:.3g}".format
#: Numbers that a finding's data lists.
_LISTED = 64


@dataclass(frozen=True, kw_only=True)
class RowFinding(Finding):
    """One thing that a reader of a table should know.

    >>> found = RowFinding(level="note", code="dead-rows", message="Rows 3 to 5 are zero.", rows=((3, 5),))
    >>> name_rows(found.rows)
    'rows 3 to 5'
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
    """A kind of finding about a table; `brief` says one of them in a clause.

    >>> ZERO_ROWS.report("Row 3 is zero in every column.", (3,), count=1).rows
    (3,)
    """

    brief: str

    def report(
        self, message: str, rows: tuple[RowRange, ...] = (), *, level: Level | None = None, **data: object
    ) -> RowFinding:
        """Make a finding of this kind about some rows."""
        level = self.choose_level(level)
        return RowFinding(level=level, code=self.code, message=message, rows=rows, data=MappingProxyType(data))

    def write_clause(self, finding: RowFinding) -> str:
        """Say a finding of this kind in a few words, with its rows.

        >>> ZERO_ROWS.write_clause(ZERO_ROWS.report("..", ((3, 5),)))
        'rows 3 to 5 are zero'
        """
        columns = finding.data.get("columns")
        named = columns if isinstance(columns, tuple) else finding.rows
        is_one = len(named) == 1 and isinstance(named[0], int)
        verbs = {"are": "is", "have": "has", "do": "does", "break": "breaks"}
        words = {verb: one if is_one else verb for verb, one in verbs.items()}
        names = {noun: name_rows(named, noun[:-1], limit=3) if named else "" for noun in ("rows", "columns")}
        return self.brief.format(**words, **names, spacing=finding.data.get("spacing"))


VIT = "Dosovitskiy et al. 2021, arXiv:2010.11929 (tables interpolated for larger images)"
SPECIAL_FIRST_ROW = RowKind(
    code="special-first-row",
    levels=("warning", "note"),
    phrase="the first row does not belong to the sequence",
    brief="{rows} {are} special",
    reasoning="The first row often stands for a CLS or BOS token, not for a position. Its norm can be many "
    "times the others', and one such row puts a white floor under every spectrum. Leave it out (prefix=1).",
    formula="row 0 has an outlying norm (see outlier-rows), is zero, or has a cosine with row 1 that is lower "
    "than usual by 0.3 and eight robust deviations, with 1 - cosine at least 1.85 times that of rows 1 and 2; "
    "and the step to row 1 is 1.3 times and two deviations longer than ln ||step|| = a + b ln(1 + j), fitted "
    "to the next eight, lets expect (a curve that starts at zero has no special row)",
    references=(VIT, "Radford et al. 2021, arXiv:2103.00020 (CLIP: row 0 is the class token)"),
)
PADDING_OFFSET = RowKind(
    code="padding-offset",
    levels=("warning", "note"),
    phrase="the first rows do not belong to the sequence",
    brief="{rows} {do} not belong to the sequence",
    reasoning="Some models keep rows in front for padding: positions are then counted from 2. These rows were "
    "never trained, or are zero. A reader who takes row 0 for position 0 is off by two everywhere.",
    formula="two to four rows in front that are all zero, outlying, or unlike the first row behind them (as "
    "special-first-row, at their lag; or whose cosine with what the four rows behind predict of them is lower "
    "by 0.3 and five deviations), where that row continues as the table does and the step to it is a break",
    references=(
        "huggingface/transformers: models/opt (offset 2), models/roberta (padding_idx + 1)",
        "Ott et al. 2019, arXiv:1904.01038 (fairseq: positions start at padding_idx + 1)",
    ),
)
OUTLIER_ROWS = RowKind(
    code="outlier-rows",
    levels=("warning",),
    phrase="rows with an outlying norm",
    brief="{rows} {have} an outlying norm",
    reasoning="A row whose norm is far from all others was damaged, trained on something else, or never used.",
    formula="ln(norm/median) above ln 1.8 or below -ln 2.5, and beyond 7 x 1.4826 x median absolute deviation; "
    "the norm changes by 1.5 from one row to the next where the run begins and ends; the row does not lie on "
    "the straight line through its neighbours",
    references=("Rousseeuw & Croux 1993, J. Amer. Statist. Assoc. 88, 1273 (median absolute deviation)",),
)
ZERO_ROWS = RowKind(
    code="zero-rows",
    levels=("warning",),
    phrase="rows of zeros",
    brief="{rows} {are} zero",
    reasoning="A position whose code is zero adds nothing to its token; it was never trained, or masked out.",
    formula="all entries are 0, and the row is not the start of a straight line",
    references=("Ott et al. 2019, arXiv:1904.01038 (the padding row is zeroed)",),
)
CONSTANT_ROWS = RowKind(
    code="constant-rows",
    levels=("note",),
    phrase="rows with one number in all columns",
    brief="{rows} {have} one number in every column",
    reasoning="A code with one number in all columns is the same for any permutation of the columns; layer "
    "normalisation removes it altogether.",
    formula="smallest entry = largest entry, not 0, in fewer than half of the rows",
    references=("Ba et al. 2016, arXiv:1607.06450 (the mean over columns is taken away)",),
)
ZERO_COLUMNS = RowKind(
    code="zero-columns",
    levels=("warning",),
    phrase="columns of zeros",
    brief="{columns} {are} zero",
    reasoning="A column of zeros is width that is paid for and not used; an odd width padded with zeros, or a "
    "dead channel.",
    formula="all entries of the column are 0",
    references=("fairseq: fairseq/modules/sinusoidal_positional_embedding.py (odd width: a zero column)",),
)
CONSTANT_COLUMNS = RowKind(
    code="constant-columns",
    levels=("note",),
    phrase="columns with one number in all rows",
    brief="{columns} {are} constant",
    reasoning="A column with one number in all rows tells no positions apart. The DFT encoding has one by "
    "design (frequency 0); in narrow types the slowest cosines of a ladder become constant.",
    formula="smallest entry = largest entry of the column, not 0",
    references=("arXiv:2405.09061 Eq. 17",),
)


def is_or_are(count: int) -> str:
    """The verb of so many.

    >>> is_or_are(2)
    'are'
    """
    return "is" if count == 1 else "are"


def format_cosine(value: float) -> str:
    """Write a cosine with two digits behind the point, without a sign before zero.

    >>> format_cosine(-0.001), format_cosine(0.916)
    ('0.00', '0.92')
    """
    return f"{round(value, 2) + 0.0:.2f}"


def order_findings(findings: Sequence[RowFinding]) -> tuple[RowFinding, ...]:
    """Put the gravest first, and of one level that with the most rows; else the order stays.

    >>> pair = RowFinding(level="warning", code="duplicate-rows", message="", rows=(77, 200))
    >>> tail = RowFinding(level="warning", code="untrained-tail", message="", rows=((400, 511),))
    >>> [finding.code for finding in order_findings([pair, tail])]
    ['untrained-tail', 'duplicate-rows']
    """

    def rank(finding: RowFinding) -> tuple[int, int]:
        count = sum(1 if isinstance(row, int) else row[1] - row[0] + 1 for row in finding.rows)
        return -FINDING_LEVELS.index(finding.level), -count

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


def list_ends(ranges: Iterable[RowRange]) -> list[int]:
    """Return the first and last row of every range.

    >>> list_ends((3, (5, 9)))
    [3, 5, 9]
    """
    return [row for one in ranges for row in ((one,) if isinstance(one, int) else one)]


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


def state_rows(table: F64, anatomy: Anatomy, offset: int, prefix: int) -> Iterator[RowFinding]:
    """Write the findings about single rows and columns.

    Parameters
    ----------
    table : (S, d); offset : what is added to row numbers (rows of the file before the table);
    prefix : rows in front that were declared special.

    >>> from pe_spectra.inspection.anatomy import dissect
    >>> table = np.ones((40, 4)) + np.arange(40)[:, None] / np.arange(1, 5)
    >>> table[20] = 0
    >>> [found.code for found in state_rows(table, dissect(table, is_grid=False, prefix=0), 0, 0)]
    ['zero-rows', 'constant-rows']
    """
    yield from _state_special(table, anatomy, offset, prefix)
    yield from _state_outliers(anatomy, offset)
    yield from _state_dead(anatomy, offset)


def _list(numbers: I64 | F64) -> list[float]:
    return [float(number) for number in numbers[:_LISTED]]


def _state_special(table: F64, anatomy: Anatomy, offset: int, prefix: int) -> Iterator[RowFinding]:
    count = anatomy.special
    if not count:
        return
    norms = anatomy.signals.norms
    usual = float(np.median(norms[anatomy.first : anatomy.last]))
    ratios = [float(norm) / usual if usual > 0 else 0.0 for norm in norms[:count]]
    follower = table[count] if count < len(table) else table[-1]
    cosines = [compute_cosine(row, follower) or 0.0 for row in table[:count]]
    rows = group_rows(range(count), offset)
    sizes, cosine = ", ".join(map(format_number, ratios)), ", ".join(map(format_cosine, cosines))
    # declared special rows are left out already: that they are special is no surprise
    level: Level = "note" if count <= prefix else "warning"
    advice = f"prefix={prefix} leaves {'it' if prefix == 1 else 'them'} out"
    if count == 1:
        advice = advice if count <= prefix else "a CLS or BOS row (prefix=1 leaves it out)"
        yield SPECIAL_FIRST_ROW.report(
            f"{name_rows(rows).capitalize()} does not belong to the sequence: its norm is {sizes} times the median, "
            f"its cosine with the next row {cosine}; {advice}.",
            rows,
            level=level,
            count=1,
            norm_ratios=ratios,
            cosines=cosines,
        )
        return
    advice = advice if count <= prefix else f"padding, as in RoBERTa and OPT; prefix={count} leaves them out"
    yield PADDING_OFFSET.report(
        f"{name_rows(rows).capitalize()} do not belong to the sequence: norms {sizes} times the median, "
        f"cosines {cosine} with row {count + offset}; positions begin at row {count + offset} "
        f"({advice}).",
        rows,
        level=level,
        count=count,
        norm_ratios=ratios,
        cosines=cosines,
    )


def _state_outliers(anatomy: Anatomy, offset: int) -> Iterator[RowFinding]:
    kept = anatomy.outliers >= anatomy.special
    outliers, ratios = anatomy.outliers[kept], anatomy.outlier_ratios[kept]
    if not len(outliers):
        return
    rows = group_rows(outliers, offset)
    far = float(ratios[np.argmax(np.abs(np.log(ratios)))])
    span = (
        format_number(far)
        if len(outliers) == 1
        else f"{format_number(float(ratios.min()))} to {format_number(float(ratios.max()))}"
    )
    verb = "has" if len(outliers) == 1 else "have"
    yield OUTLIER_ROWS.report(
        f"{name_rows(rows).capitalize()} {verb} {span} times the median norm.",
        rows,
        norm_ratios=_list(ratios),
        count=len(outliers),
    )


def _state_dead(anatomy: Anatomy, offset: int) -> Iterator[RowFinding]:
    zero = anatomy.zero_rows[anatomy.zero_rows >= anatomy.special]
    if len(zero):
        rows = group_rows(zero, offset)
        message = f"{name_rows(rows).capitalize()} {is_or_are(len(zero))} zero in every column."
        yield ZERO_ROWS.report(message, rows, count=len(zero))
    if len(anatomy.constant_rows):
        rows = group_rows(anatomy.constant_rows, offset)
        verb = "has" if len(anatomy.constant_rows) == 1 else "have"
        message = f"{name_rows(rows).capitalize()} {verb} the same number in every column."
        yield CONSTANT_ROWS.report(message, rows, count=len(anatomy.constant_rows))
    for columns, kind, what in (
        (anatomy.zero_columns, ZERO_COLUMNS, "zero in every row"),
        (anatomy.constant_columns, CONSTANT_COLUMNS, "the same in every row: no position can be told by"),
    ):
        if len(columns):
            named = name_rows(group_rows(columns), "column").capitalize()
            them = "" if kind is ZERO_COLUMNS else " it" if len(columns) == 1 else " them"
            message = f"{named} {is_or_are(len(columns))} {what}{them}."
            yield kind.report(message, count=len(columns), columns=group_rows(columns))
