"""From what was seen in a table to findings: sentences with their numbers and rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.inspection.anatomy import Anatomy
from pe_spectra.inspection.findings import RowFinding, RowRange, format_cosine, format_number, group_rows, name_rows
from pe_spectra.inspection.forensics import Resizing
from pe_spectra.inspection.rows import compute_cosine
from pe_spectra.inspection.seams import Seam
from pe_spectra.inspection.structure import measure_noise
from pe_spectra.spectrum import Spectrum
from pe_spectra.spectrum.record import explain_signs
from pe_spectra.vocabulary import Level

#: Numbers that a finding's data lists.
_LISTED = 64


def state_findings(
    table: F64, anatomy: Anatomy, resizing: tuple[Resizing, ...], offset: int, prefix: int, exponent: int = 0
) -> tuple[RowFinding, ...]:
    """Write the findings, those about single rows first, then changes, then the whole table.

    Parameters
    ----------
    table : (S, d); offset : what is added to row numbers (rows of the file before the table);
    prefix : rows in front that were declared special; exponent : the table was divided by this power of two.

    >>> from pe_spectra.inspection.anatomy import dissect
    >>> table = np.ones((40, 4)) + np.arange(40)[:, None] / np.arange(1, 5)
    >>> table[20] = 0
    >>> [found.code for found in state_findings(table, dissect(table, is_grid=False, prefix=0), (), 0, 0)]
    ['zero-rows', 'constant-rows']
    """
    named = [
        *_state_special(table, anatomy, offset, prefix),
        *_state_outliers(anatomy, offset),
        *_state_dead(anatomy, offset),
        *_state_equal(anatomy, len(table), offset),
        *_state_tail(anatomy, len(table), offset, exponent),
        *(_state_seam(seam, offset + anatomy.first, offset) for seam in anatomy.seams.seams),
        *_state_steps(anatomy, offset),
        *_state_noise(table, anatomy, offset, exponent),
    ]
    return (*named, *([_state_resizing(resizing)] if resizing else []))


def state_spectra(spectra: Sequence[Spectrum]) -> tuple[RowFinding, ...]:
    """Write a finding for each spectrum whose weights are no shares.

    >>> from pe_spectra import GivenArray, Learned, compute_spectrum
    >>> table = Learned(values=GivenArray([[1.0], [1.0], [1.0], [1.0]]))
    >>> [found.code for found in state_spectra([compute_spectrum(table, bandwidth=0.25)])]
    ['no-shares']
    """
    return tuple(
        _make(
            "warning",
            "no-shares",
            f"{explain_signs(spectrum)}{'' if spectrum.axis is None else f' ({spectrum.axis})'}.",
            axis=spectrum.axis,
            negative_mass=spectrum.summary.negative_mass,
        )
        for spectrum in spectra
        if spectrum.form == "signed"
    )


def _make(level: Level, code: str, message: str, rows: tuple[RowRange, ...] = (), **data: object) -> RowFinding:
    return RowFinding(level=level, code=code, message=message, rows=rows, data=MappingProxyType(data))


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


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
        yield _make(
            level,
            "special-first-row",
            f"{name_rows(rows).capitalize()} does not belong to the sequence: its norm is {sizes} times the median, "
            f"its cosine with the next row {cosine}; {advice}.",
            rows,
            count=1,
            norm_ratios=ratios,
            cosines=cosines,
        )
        return
    advice = advice if count <= prefix else f"padding, as in RoBERTa and OPT; prefix={count} leaves them out"
    yield _make(
        level,
        "padding-offset",
        f"{name_rows(rows).capitalize()} do not belong to the sequence: norms {sizes} times the median, "
        f"cosines {cosine} with row {count + offset}; positions begin at row {count + offset} "
        f"({advice}).",
        rows,
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
    yield _make(
        "warning",
        "outlier-rows",
        f"{name_rows(rows).capitalize()} {verb} {span} times the median norm.",
        rows,
        norm_ratios=_list(ratios),
        count=len(outliers),
    )


def _state_dead(anatomy: Anatomy, offset: int) -> Iterator[RowFinding]:
    zero = anatomy.zero_rows[anatomy.zero_rows >= anatomy.special]
    if len(zero):
        rows = group_rows(zero, offset)
        message = f"{name_rows(rows).capitalize()} {_is_or_are(len(zero))} zero in every column."
        yield _make("warning", "zero-rows", message, rows, count=len(zero))
    if len(anatomy.constant_rows):
        rows = group_rows(anatomy.constant_rows, offset)
        verb = "has" if len(anatomy.constant_rows) == 1 else "have"
        message = f"{name_rows(rows).capitalize()} {verb} the same number in every column."
        yield _make("note", "constant-rows", message, rows, count=len(anatomy.constant_rows))
    for columns, code, what in (
        (anatomy.zero_columns, "zero-columns", "zero in every row"),
        (anatomy.constant_columns, "constant-columns", "the same in every row: no position can be told by"),
    ):
        if len(columns):
            named = name_rows(group_rows(columns), "column").capitalize()
            level: Level = "warning" if code == "zero-columns" else "note"
            them = "" if code == "zero-columns" else " it" if len(columns) == 1 else " them"
            message = f"{named} {_is_or_are(len(columns))} {what}{them}."
            yield _make(level, code, message, count=len(columns), columns=group_rows(columns))


def _state_equal(anatomy: Anatomy, size: int, offset: int) -> Iterator[RowFinding]:
    groups = anatomy.equal_rows
    if not groups:
        return
    members = [row for group in groups for row in group]
    extra = len(members) - len(groups)
    lags = {b - a for group in groups for a, b in pairwise(group)}
    first = " and ".join(str(row + offset) for row in groups[0][:2])
    rows = group_rows(members, offset)
    shown = [[row + offset for row in group] for group in groups[:_LISTED]]
    if len(lags) == 1 and extra >= size // 8 and len(groups) > 2 and anatomy.repeats_after(min(lags)):
        (period,) = lags
        yield _make(
            "warning",
            "repeating-rows",
            f"{extra} rows are equal to the row {period} before them (first {first}): the table repeats.",
            rows,
            period=period,
            count=extra,
            groups=shown,
        )
        return
    text = f"rows {first} are equal" if extra == 1 else f"{extra} rows are equal to an earlier row (first {first})"
    message = f"{text[0].upper()}{text[1:]} in every column: these positions have one code."
    yield _make("warning", "duplicate-rows", message, rows, count=extra, groups=shown)


def _state_tail(anatomy: Anatomy, size: int, offset: int, exponent: int) -> Iterator[RowFinding]:
    tail = anatomy.tail
    if tail is None:
        return
    deviation = math.ldexp(tail.deviation, exponent)
    rows: tuple[RowRange, ...] = group_rows(range(tail.start, size), offset)
    count = size - tail.start
    what = (
        "zero in every column"
        if tail.kind == "zero"
        else f"noise of standard deviation {format_number(deviation)}, with a cosine of neighbours "
        f"of {format_cosine(tail.cosine)} after {format_cosine(tail.cosine_before)} before"
    )
    yield _make(
        "warning",
        "untrained-tail",
        f"{name_rows(rows).capitalize()} ({count} of {size}) {_is_or_are(count)} as before training: {what}; "
        f"training reached row {tail.start - 1 + offset}.",
        rows,
        count=count,
        trained_rows=tail.start - anatomy.special,
        kind=tail.kind,
        deviation=deviation,
        cosine=tail.cosine,
        cosine_before=tail.cosine_before,
    )


#: A jump alone, without a lasting change, is sure from this factor on.
_SURE_JUMP = 2.0


def _state_seam(seam: Seam, first: int, offset: int) -> RowFinding:
    before, after = seam.row + offset, seam.row + 1 + offset
    parts = []
    if seam.jump is not None:
        parts.append(f"a jump {format_number(seam.jump)} times the steps around")
    if seam.norm_ratio is not None:
        parts.append(f"norms {format_number(seam.norm_ratio)} times those before")
    if seam.step_ratio is not None:
        parts.append(f"steps {format_number(seam.step_ratio)} times as long from there on")
    if seam.cosine_before is not None and seam.cosine_after is not None:
        parts.append(
            f"cosine of neighbours {format_cosine(seam.cosine_before)} before, {format_cosine(seam.cosine_after)} after"
        )
    length = after - first
    # in tables of public models a lone step may be longer by half without any reason in the training
    alone = (seam.jump or 0.0) < _SURE_JUMP and not any((seam.norm_ratio, seam.step_ratio, seam.cosine_before))
    return _make(
        "note" if alone else "warning",
        "seam",
        f"Seam between rows {before} and {after}: {', '.join(parts)}; training may have begun with length {length}.",
        (before, after),
        length=length,
        jump=seam.jump,
        norm_ratio=seam.norm_ratio,
        step_ratio=seam.step_ratio,
        cosine_before=seam.cosine_before,
        cosine_after=seam.cosine_after,
    )


def _state_steps(anatomy: Anatomy, offset: int) -> Iterator[RowFinding]:
    equal = {row for group in anatomy.equal_rows for row in group}
    stray = [row for row in anatomy.seams.stray if row not in equal]
    if stray:
        rows = group_rows(stray, offset)
        what = "far from both neighbours: the steps to and from there are far longer than those around"
        message = f"{name_rows(rows).capitalize()} {_is_or_are(len(stray))} {what}."
        yield _make("warning", "stray-rows", message, rows, count=len(stray))
    if anatomy.seams.spacing:
        wraps, spacing = anatomy.seams.wraps, anatomy.seams.spacing
        shown = group_rows(wraps, offset)
        used = anatomy.last - anatomy.first
        prefix = f",prefix={anatomy.first}" if anatomy.first else ""
        hint = f"grid={used // spacing}x{spacing}{prefix}" if used % spacing == 0 else f"a grid {spacing} wide"
        yield _make(
            "note",
            "regular-jumps",
            f"The table jumps every {spacing} rows ({len(wraps)} times, first after row {wraps[0] + offset}): it may "
            f"be a grid read line by line ({hint}) or a sum of cycles, not a line.",
            shown,
            spacing=spacing,
            count=len(wraps),
        )


def _state_noise(table: F64, anatomy: Anatomy, offset: int, exponent: int) -> Iterator[RowFinding]:
    if not anatomy.is_noise:
        return
    noise = measure_noise(table[anatomy.first :])
    deviation = math.ldexp(noise.deviation, exponent)
    yield _make(
        "warning",
        "no-structure",
        f"No structure: the {len(table) - anatomy.first} rows cannot be told from independent noise of standard "
        f"deviation {format_number(deviation)}{' about a mean row' if noise.has_mean else ', as before training'}.",
        group_rows(range(anatomy.first, len(table)), offset),
        deviation=deviation,
    )


def _state_resizing(resizing: tuple[Resizing, ...]) -> RowFinding:
    old = "x".join(str(one.old) for one in resizing)
    new = "x".join(str(one.new) for one in resizing)
    one = max(resizing, key=lambda axis: axis.new)
    corners = "" if one.align_corners is None else f", align_corners={one.align_corners}"
    axes = "" if len(resizing) > 1 else f" along axis {one.axis}"
    edges = ""
    if one.edge_ratio is not None:
        edges = f", steps at the edge {format_number(one.edge_ratio)} times those in the middle"
    return _make(
        "note",
        "interpolated",
        f"Interpolated from {old} to {new}{axes} and not trained since: only {old} of {new} directions are used "
        f"({one.method}{corners}; all but {one.residual:.1e} of it explained{edges}).",
        axes=[
            {
                "axis": axis.axis,
                "old": axis.old,
                "new": axis.new,
                "method": axis.method,
                "align_corners": axis.align_corners,
                "residual": axis.residual,
                "expected_residual": axis.expected,
                "edge_ratio": axis.edge_ratio,
                "rivals": [{"method": m, "align_corners": c, "residual": r} for m, c, r in axis.rivals],
            }
            for axis in resizing
        ],
    )
