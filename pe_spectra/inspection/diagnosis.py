"""What the anatomy of a table means: its findings, with the numbers behind them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise

import numpy as np

import pe_spectra.inspection.row_findings as kinds
from pe_spectra.exact import F64, I64
from pe_spectra.inspection.anatomy import Anatomy
from pe_spectra.inspection.interpolation import Resizing
from pe_spectra.inspection.row_findings import RowFinding, group_rows
from pe_spectra.inspection.rows import compute_cosine
from pe_spectra.inspection.seams import Seam
from pe_spectra.spectrum import Spectrum
from pe_spectra.spectrum.record import explain_signs
from pe_spectra.vocabulary import Level
from pe_spectra.wording import capitalise

#: Numbers, and groups of equal rows, that a finding's data lists.
_LISTED = 64
#: A jump alone, without a lasting change, is sure from this factor on.
_SURE_JUMP = 2.0
_write = "{:.3g}".format
#: How a seam's changes are said, but that of cosines.
_CHANGES = {
    "jump": "a jump {} times the steps around",
    "norm_ratio": "norms {} times those before",
    "step_ratio": "steps {} times as long from there on",
}


def find_in_table(
    anatomy: Anatomy, resizing: Sequence[Resizing] = (), *, offset: int = 0, exponent: int = 0
) -> tuple[RowFinding, ...]:
    """Say what the rows of a table show: single rows first, then changes, then the whole table.

    Parameters
    ----------
    offset : what is added to row numbers (rows of the file before the table).
    exponent : the table was divided by this power of two.

    >>> from pe_spectra.inspection.anatomy import dissect
    >>> table = np.ones((40, 4)) + np.arange(40)[:, None] / np.arange(1, 5)
    >>> table[20] = 0
    >>> [found.code for found in find_in_table(dissect(table, is_grid=False, prefix=0))]
    ['zero-rows', 'constant-rows']
    """
    return (
        *_find_special(anatomy, offset),
        *_find_outliers(anatomy, offset),
        *_find_dead(anatomy, offset),
        *_find_equal(anatomy, offset),
        *_find_tail(anatomy, offset, exponent),
        *(_find_seam(seam, anatomy.first, offset) for seam in anatomy.seams.seams),
        *_find_steps(anatomy, offset),
        *_find_noise(anatomy, offset, exponent),
        *([_find_resizing(resizing)] if resizing else []),
    )


def find_in_spectra(spectra: Sequence[Spectrum]) -> tuple[RowFinding, ...]:
    """Make a finding for each spectrum whose weights are not a distribution.

    >>> from pe_spectra import GivenArray, Learned, compute_spectrum
    >>> table = Learned(values=GivenArray([[1.0], [1.0], [1.0], [1.0]]))
    >>> [found.code for found in find_in_spectra([compute_spectrum(table, bandwidth=0.25)])]
    ['no-shares']
    """
    return tuple(
        kinds.NO_SHARES.report(
            said={"signs": explain_signs(one), "where": "" if one.axis is None else f" ({one.axis})"},
            axis=one.axis,
            negative_mass=one.summary.negative_mass,
        )
        for one in spectra
        if one.form == "signed"
    )


def _list(numbers: I64 | F64) -> list[float]:
    return [float(number) for number in numbers[:_LISTED]]


def _write_cosine(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # no sign before zero


def _find_special(anatomy: Anatomy, offset: int) -> Iterator[RowFinding]:
    count, prefix, table, norms = anatomy.special, anatomy.prefix, anatomy.table, anatomy.signals.norms
    if not count:
        return
    usual = float(np.median(norms[anatomy.first : anatomy.last]))
    ratios = [float(norm) / usual if usual > 0 else 0.0 for norm in norms[:count]]
    follower = table[count] if count < len(table) else table[-1]
    cosines = [compute_cosine(row, follower) for row in table[:count]]
    # declared special rows are left out already: that they are special is no surprise
    level: Level = "note" if count <= prefix else "warning"
    if count <= prefix:
        advice = f"prefix={prefix} leaves {'it' if prefix == 1 else 'them'} out"
    elif count == 1:
        advice = "a CLS or BOS row (prefix=1 leaves it out)"
    else:
        advice = f"padding, as in RoBERTa and OPT; prefix={count} leaves them out"
    said = {
        "sizes": ", ".join(map(_write, ratios)),
        "similar": ", ".join(map(_write_cosine, cosines)),
        "next": count + offset,
        "advice": advice,
    }
    kind = kinds.SPECIAL_FIRST_ROW if count == 1 else kinds.PADDING_OFFSET
    rows = group_rows(range(count), offset)
    yield kind.report(rows, level=level, said=said, count=count, norm_ratios=ratios, cosines=cosines)


def _find_outliers(anatomy: Anatomy, offset: int) -> Iterator[RowFinding]:
    kept = anatomy.outliers >= anatomy.special
    outliers, ratios = anatomy.outliers[kept], anatomy.outlier_ratios[kept]
    if len(outliers):
        factor = _write(ratios[0]) if len(ratios) == 1 else f"{_write(ratios.min())} to {_write(ratios.max())}"
        yield kinds.OUTLIER_ROWS.report(
            group_rows(outliers, offset), said={"factor": factor}, norm_ratios=_list(ratios), count=len(outliers)
        )


def _find_dead(anatomy: Anatomy, offset: int) -> Iterator[RowFinding]:
    zero = anatomy.zero_rows[anatomy.zero_rows >= anatomy.special]
    for rows, kind in ((zero, kinds.ZERO_ROWS), (anatomy.constant_rows, kinds.CONSTANT_ROWS)):
        if len(rows):
            yield kind.report(group_rows(rows, offset), count=len(rows))
    dead = (anatomy.zero_columns, kinds.ZERO_COLUMNS), (anatomy.constant_columns, kinds.CONSTANT_COLUMNS)
    for columns, kind in dead:
        if len(columns):
            yield kind.report(count=len(columns), columns=group_rows(columns))


def _find_equal(anatomy: Anatomy, offset: int) -> Iterator[RowFinding]:
    groups = anatomy.equal_rows
    if not groups:
        return
    members = [row for group in groups for row in group]
    extra = len(members) - len(groups)
    lags = {b - a for group in groups for a, b in pairwise(group)}
    first = " and ".join(str(row + offset) for row in groups[0][:2])
    rows = group_rows(members, offset)
    shown = [[row + offset for row in group] for group in groups[:_LISTED]]
    if len(lags) == 1 and extra >= len(anatomy.table) // 8 and len(groups) > 2 and anatomy.repeats_after(min(lags)):
        (period,) = lags
        yield kinds.REPEATING_ROWS.report(rows, said={"first": first}, period=period, count=extra, groups=shown)
        return
    what = f"rows {first} are equal" if extra == 1 else f"{extra} rows are equal to an earlier row (first {first})"
    yield kinds.DUPLICATE_ROWS.report(rows, said={"what": capitalise(what)}, count=extra, groups=shown)


def _find_tail(anatomy: Anatomy, offset: int, exponent: int) -> Iterator[RowFinding]:
    tail, size = anatomy.tail, len(anatomy.table)
    if tail is None:
        return
    deviation = math.ldexp(tail.deviation, exponent)
    what = "zero in every column"
    if tail.kind == "noise":
        what = (
            f"noise of standard deviation {_write(deviation)}, with a cosine of neighbours of "
            f"{_write_cosine(tail.cosine)} after {_write_cosine(tail.cosine_before)} before"
        )
    yield kinds.UNTRAINED_TAIL.report(
        group_rows(range(tail.start, size), offset),
        said={"what": what, "size": size, "last": tail.start - 1 + offset},
        count=size - tail.start,
        trained_rows=tail.start - anatomy.special,
        kind=tail.kind,
        deviation=deviation,
        cosine=tail.cosine,
        cosine_before=tail.cosine_before,
    )


def _find_seam(seam: Seam, first: int, offset: int) -> RowFinding:
    changes = {name: value for name, value in asdict(seam).items() if name != "row"}
    parts = [words.format(_write(changes[name])) for name, words in _CHANGES.items() if changes[name] is not None]
    if seam.cosine_before is not None and seam.cosine_after is not None:
        cosines = _write_cosine(seam.cosine_before), _write_cosine(seam.cosine_after)
        parts.append("cosine of neighbours {} before, {} after".format(*cosines))
    # in tables of public models a lone step may be longer by half without any reason in the training
    alone = (seam.jump or 0.0) < _SURE_JUMP and not any((seam.norm_ratio, seam.step_ratio, seam.cosine_before))
    return kinds.SEAM.report(
        (seam.row + offset, seam.row + 1 + offset),
        level="note" if alone else "warning",
        said={"parts": ", ".join(parts)},
        length=seam.row + 1 - first,
        **changes,
    )


def _find_steps(anatomy: Anatomy, offset: int) -> Iterator[RowFinding]:
    equal = {row for group in anatomy.equal_rows for row in group}
    stray = [row for row in anatomy.seams.stray if row not in equal]
    if stray:
        yield kinds.STRAY_ROWS.report(group_rows(stray, offset), count=len(stray))
    spacing, wraps, used = anatomy.seams.spacing, anatomy.seams.wraps, anatomy.last - anatomy.first
    if spacing:
        prefix = f",prefix={anatomy.first}" if anatomy.first else ""
        hint = f"a grid {spacing} wide" if used % spacing else f"grid={used // spacing}x{spacing}{prefix}"
        said = {"first": wraps[0] + offset, "hint": hint}
        yield kinds.REGULAR_JUMPS.report(group_rows(wraps, offset), said=said, spacing=spacing, count=len(wraps))


def _find_noise(anatomy: Anatomy, offset: int, exponent: int) -> Iterator[RowFinding]:
    if anatomy.noise is not None:
        deviation, rows = math.ldexp(anatomy.noise.deviation, exponent), range(anatomy.first, len(anatomy.table))
        about = " about a mean row" if anatomy.noise.has_mean else ", as before training"
        said = {"count": len(rows), "spread": _write(deviation), "about": about}
        yield kinds.NO_STRUCTURE.report(group_rows(rows, offset), said=said, deviation=deviation)


def _find_resizing(resizing: Sequence[Resizing]) -> RowFinding:
    one = max(resizing, key=lambda axis: axis.new)
    edges = "" if one.edge_ratio is None else f", steps at the edge {_write(one.edge_ratio)} times those in the middle"
    return kinds.INTERPOLATED.report(
        said={
            "old": "x".join(str(axis.old) for axis in resizing),
            "new": "x".join(str(axis.new) for axis in resizing),
            "along": "" if len(resizing) > 1 else f" along axis {one.axis}",
            "method": one.method,
            "corners": "" if one.align_corners is None else f", align_corners={one.align_corners}",
            "residual": f"{one.residual:.1e}",
            "edges": edges,
        },
        axes=[asdict(axis) for axis in resizing],
    )
