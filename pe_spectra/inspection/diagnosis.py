"""What the anatomy of a table means: its findings, with the numbers behind them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import pe_spectra.inspection.table_kinds as kinds
from pe_spectra.exact import F64, I64
from pe_spectra.inspection.anatomy import Anatomy
from pe_spectra.inspection.row_findings import RowFinding, group_rows
from pe_spectra.inspection.rows import compute_cosine
from pe_spectra.inspection.traces import Resizing
from pe_spectra.ordering import find_median
from pe_spectra.spectrum.record import Spectrum
from pe_spectra.spectrum.signs import explain_signs
from pe_spectra.vocabulary import Level
from pe_spectra.wording import capitalise, join, percent, write_range

#: Numbers, and groups of equal rows, that a finding's data lists.
_LISTED = 64
#: A jump alone, without a lasting change, is sure from this factor on.
_SURE_JUMP = 2.0
#: How a seam's lasting changes are said, with their standard errors.
_CHANGES = {
    "norm": "norm (x{norm_ratio:.3g}, {norm_errors:.0f})",
    "step": "step (x{step_ratio:.3g}, {step_errors:.0f})",
    "turn": "spectrum (cosine of successive steps {turn_before:z.2f} to {turn_after:z.2f}, {turn_errors:.0f})",
    "amplitude": "what neighbours share (x{amplitude_ratio:.3g}, {amplitude_errors:.0f})",
    "noise": "noise (x{noise_ratio:.3g}, {noise_errors:.0f})",
}


def find_in_table(anatomy: Anatomy) -> tuple[RowFinding, ...]:
    """Say what the rows of a table show: single rows first, then changes, then the whole table.

    >>> from pe_spectra.inspection.anatomy import dissect
    >>> import numpy as np
    >>> table = np.ones((40, 4)) + np.arange(40)[:, None] / np.arange(1, 5)
    >>> table[20] = 0
    >>> [found.code for found in find_in_table(dissect(table))]
    ['zero-rows', 'constant-rows']
    """
    return (
        *_find_special(anatomy),
        *_find_last(anatomy),
        *_find_outliers(anatomy),
        *_find_dead(anatomy),
        *_find_equal(anatomy),
        *_find_tail(anatomy),
        *_find_seams(anatomy),
        *_find_steps(anatomy),
        *_find_noise(anatomy),
        *_find_resizing(anatomy.resizing),
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


def _find_special(anatomy: Anatomy) -> Iterator[RowFinding]:
    count, prefix, table, norms = anatomy.special, anatomy.prefix, anatomy.table, anatomy.signals.norms
    if not count:
        return
    usual = float(find_median(norms[anatomy.first : anatomy.last]))
    ratios = [float(norm) / usual if usual > 0 else 0.0 for norm in norms[:count]]
    follower = table[count] if count < len(table) else table[-1]
    cosines = [compute_cosine(row, follower) for row in table[:count]]
    # declared special rows are left out already: that they are special is no surprise
    level: Level = "note" if count <= prefix else "warning"
    if count <= prefix:
        advice = f"{'it is' if count == 1 else 'they are'} left out already"
    elif count == 1:
        advice = "a CLS or BOS row (prefix=1 leaves it out)"
    else:
        advice = f"padding, as in RoBERTa and OPT; prefix={count} leaves them out"
    said = {
        "sizes": ", ".join(map("{:.3g}".format, ratios)),
        "similar": ", ".join(map("{:z.2f}".format, cosines)),
        "next": count + anatomy.offset,
        "advice": advice,
    }
    kind = kinds.SPECIAL_FIRST_ROW if count == 1 else kinds.PADDING_OFFSET
    rows = anatomy.name_rows(range(count))
    yield kind.report(rows, level=level, said=said, count=count, norm_ratios=ratios, cosines=cosines)


def _find_last(anatomy: Anatomy) -> Iterator[RowFinding]:
    count, table, norms, last = anatomy.last_special, anatomy.table, anatomy.signals.norms, anatomy.last
    if count:
        usual = float(find_median(norms[anatomy.first : last]))
        ratios = [float(norm) / usual if usual > 0 else 0.0 for norm in norms[last:]]
        cosines = [compute_cosine(row, table[last - 1]) for row in table[last:]]
        said = {
            "sizes": ", ".join(map("{:.3g}".format, ratios)),
            "similar": ", ".join(map("{:z.2f}".format, cosines)),
            "before": last - 1 + anatomy.offset,
            "norms": "norm" if count == 1 else "norms",
            "cosine": "cosine" if count == 1 else "cosines",
        }
        rows = anatomy.name_rows(range(last, last + count))
        yield kinds.SPECIAL_LAST_ROWS.report(rows, said=said, count=count, norm_ratios=ratios, cosines=cosines)


def _find_outliers(anatomy: Anatomy) -> Iterator[RowFinding]:
    kept = (anatomy.outliers >= anatomy.special) & (anatomy.outliers < len(anatomy.table) - anatomy.last_special)
    outliers, ratios = anatomy.outliers[kept], anatomy.outlier_ratios[kept]
    if len(outliers):
        said = {"factor": write_range(ratios.min(), ratios.max())}
        yield kinds.OUTLIER_ROWS.report(
            anatomy.name_rows(outliers), said=said, norm_ratios=_list(ratios), count=len(outliers)
        )


def _find_dead(anatomy: Anatomy) -> Iterator[RowFinding]:
    zero = anatomy.zero_rows[anatomy.zero_rows >= anatomy.special]
    for rows, kind in ((zero, kinds.ZERO_ROWS), (anatomy.constant_rows, kinds.CONSTANT_ROWS)):
        if len(rows):
            yield kind.report(anatomy.name_rows(rows), count=len(rows))
    dead = (anatomy.zero_columns, kinds.ZERO_COLUMNS), (anatomy.constant_columns, kinds.CONSTANT_COLUMNS)
    for columns, kind in dead:
        if len(columns):
            yield kind.report(count=len(columns), columns=group_rows(columns))


def _find_equal(anatomy: Anatomy) -> Iterator[RowFinding]:
    groups = anatomy.equal_rows
    if not groups:
        return
    members = [row for group in groups for row in group]
    extra = len(members) - len(groups)
    first = " and ".join(str(row + anatomy.offset) for row in groups[0][:2])
    rows = anatomy.name_rows(members)
    shown = [[row + anatomy.offset for row in group] for group in groups[:_LISTED]]
    if anatomy.period:
        said = {"first": first}
        yield kinds.REPEATING_ROWS.report(rows, said=said, period=anatomy.period, count=extra, groups=shown)
        return
    what = f"rows {first} are equal" if extra == 1 else f"{extra} rows are equal to an earlier row (first {first})"
    yield kinds.DUPLICATE_ROWS.report(rows, said={"what": capitalise(what)}, count=extra, groups=shown)


def _find_tail(anatomy: Anatomy) -> Iterator[RowFinding]:
    tail, size = anatomy.tail, len(anatomy.table)
    if tail is None:
        return
    deviation = math.ldexp(tail.deviation, anatomy.exponent)
    what = "zero in every column"
    if tail.kind == "noise":
        what = (
            f"noise of standard deviation {deviation:.3g}, with a cosine of neighbours of "
            f"{tail.cosine:z.2f} after {tail.cosine_before:z.2f} before"
        )
    yield kinds.UNTRAINED_TAIL.report(
        anatomy.name_rows(range(tail.start, size)),
        said={"what": what, "size": size, "last": tail.start - 1 + anatomy.offset},
        count=size - tail.start,
        trained_rows=tail.start - anatomy.special,
        kind=tail.kind,
        deviation=deviation,
        cosine=tail.cosine,
        cosine_before=tail.cosine_before,
    )


def _find_seams(anatomy: Anatomy) -> Iterator[RowFinding]:
    for seam in anatomy.seams.seams:
        changes = {name: value for name, value in asdict(seam).items() if name != "row"}
        parts = [f"a jump {seam.jump:.3g} times the steps around"] if seam.jump is not None else []
        differ = [
            words.format_map(changes) for name, words in _CHANGES.items() if changes[f"{name}_errors"] is not None
        ]
        if differ:
            # the first number names what it counts
            differ[0] = differ[0].replace(")", " standard errors)")
            parts.append(f"rows before and after differ in {join(differ)}")
        if seam.cosine_before is not None:
            parts.append(f"cosine of neighbours {seam.cosine_before:z.2f} before, {seam.cosine_after:z.2f} after")
        parts += [f"row {row + anatomy.offset} is unlike both sides" for row in _find_odd_at(anatomy, seam.row)]
        # in tables of public models a lone step may be longer by half without any reason in the training
        alone = (seam.jump or 0.0) < _SURE_JUMP and not differ
        length = seam.row + 1 - anatomy.first
        yield kinds.SEAM.report(
            (seam.row + anatomy.offset, seam.row + 1 + anatomy.offset),
            level="note" if alone else "warning",
            said={
                "parts": ", ".join(parts),
                "inference": "" if alone else f"; consistent with training first at length {length}",
            },
            length=length,
            shorter_side=min(length, anatomy.last - seam.row - 1),
            **changes,
        )


def _find_odd_at(anatomy: Anatomy, place: int) -> list[int]:
    """Return the stray rows beside a seam, which are told with it."""
    return [row for row in anatomy.seams.stray if row in (place, place + 1)]


def _find_steps(anatomy: Anatomy) -> Iterator[RowFinding]:
    equal = {row for group in anatomy.equal_rows for row in group}
    told = {row for seam in anatomy.seams.seams for row in _find_odd_at(anatomy, seam.row)}
    stray = [row for row in anatomy.seams.stray if row not in equal | told]
    if stray:
        yield kinds.STRAY_ROWS.report(anatomy.name_rows(stray), count=len(stray))
    spacing, wraps, used = anatomy.seams.spacing, anatomy.seams.wraps, anatomy.last - anatomy.first
    if spacing:
        prefix = f",prefix={anatomy.first}" if anatomy.first else ""
        hint = f"a grid {spacing} wide" if used % spacing else f"grid={used // spacing}x{spacing}{prefix}"
        said = {"first": wraps[0] + anatomy.offset, "hint": hint}
        yield kinds.REGULAR_JUMPS.report(anatomy.name_rows(wraps), said=said, spacing=spacing, count=len(wraps))


def _find_noise(anatomy: Anatomy) -> Iterator[RowFinding]:
    if anatomy.noise is not None:
        rows = range(anatomy.first, len(anatomy.table))
        about = " about a mean row" if anatomy.noise.has_mean else ", as before training"
        deviation = math.ldexp(anatomy.noise.deviation, anatomy.exponent)
        said = {"count": len(rows), "about": about}
        yield kinds.NO_STRUCTURE.report(anatomy.name_rows(rows), said=said, deviation=deviation)


def _find_resizing(resizing: Sequence[Resizing]) -> Iterator[RowFinding]:
    if not resizing:
        return
    one = max(resizing, key=lambda axis: axis.new)
    edges = "" if one.edge_ratio is None else f"; steps at the edge {one.edge_ratio:.3g} times those in the middle"
    yield kinds.INTERPOLATED.report(
        said={
            "old": "x".join(str(axis.old) for axis in resizing),
            "new": "x".join(str(axis.new) for axis in resizing),
            "along": "" if len(resizing) > 1 else f" along axis {one.axis}",
            "ways": " or ".join(map(str, one.ways)),
            "since": f"changed since by {percent(one.change)} of a row's length" if one.change else "not trained since",
            "residual": f"{one.residual:.1e}",
            "edges": edges,
        },
        axes=[asdict(axis) for axis in resizing],
    )
