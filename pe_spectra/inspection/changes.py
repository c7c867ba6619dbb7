"""The findings about a table as a whole: where it changes, what was never trained or resized; and about its spectra."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pe_spectra.exact import F64
from pe_spectra.inspection.anatomy import Anatomy
from pe_spectra.inspection.forensics import Resizing
from pe_spectra.inspection.row_findings import (
    VIT,
    RowFinding,
    RowKind,
    RowRange,
    format_cosine,
    format_number,
    group_rows,
    is_or_are,
    name_rows,
    state_rows,
)
from pe_spectra.inspection.seams import Seam
from pe_spectra.inspection.structure import measure_noise
from pe_spectra.spectrum import Spectrum
from pe_spectra.spectrum.record import explain_signs

#: Groups of equal rows that the data lists.
_LISTED = 64
#: A jump alone, without a lasting change, is sure from this factor on.
_SURE_JUMP = 2.0
_BERT = "Devlin et al. 2019, arXiv:1810.04805 (90 % of the steps with length 128, the rest with 512)"
_NOISE = "independent rows of zero mean in d dimensions have cosines ~ N(0, 1/d)"
DUPLICATE_ROWS = RowKind(
    code="duplicate-rows",
    levels=("warning",),
    phrase="equal rows",
    brief="{rows} {are} not unique",
    reasoning="The encoding cannot distinguish two positions with one vector (Definition 1 fails).",
    formula="e(s) = e(t) number by number (0 = -0); rows of zeros are reported as such",
    references=("arXiv:2405.09061 Definition 1",),
)
REPEATING_ROWS = RowKind(
    code="repeating-rows",
    levels=("warning",),
    phrase="the table repeats",
    brief="the table repeats",
    reasoning="The whole table repeats after a period: the encoding is faithful only within one period, as the "
    "DFT encoding beyond d rows, or calendar fields beyond a week.",
    formula="every row from the second period on equals the one a period before it, and these are an eighth of "
    "the rows or more",
    references=("arXiv:2405.09061 Definition 1 and Eq. 17",),
)
UNTRAINED_TAIL = RowKind(
    code="untrained-tail",
    levels=("warning",),
    phrase="rows at the end that were never trained",
    brief="{rows} {are} untrained",
    reasoning="Positions that training never reached keep their first random values. A model that is served "
    "at those positions reads noise.",
    formula=f"{_NOISE}; the start of the tail maximises the joint likelihood of N(m, v) before and N(0, 1/d) "
    "behind; the tail's mean is within 4 standard errors of 0, its scatter that of noise, m >= 0.15 and "
    "farther than 6 standard errors",
    references=("Press et al. 2022, arXiv:2108.12409 (learned tables beyond the trained length)", _BERT),
)
SEAM = RowKind(
    code="seam",
    levels=("warning", "note"),
    phrase="the table changes between two rows",
    brief="a seam lies between {rows}",
    reasoning="Training often begins with short sequences. Rows beyond the first length were trained less and "
    "otherwise, and it shows where the two parts meet.",
    formula="a step, or the distance of the means of four rows, of 1.5 times the median around it and 7 robust "
    "deviations above; a lasting change of norm, step length or 1 - cosine of neighbours by 1.25 between two "
    "fitted lines, 7 standard errors and 6 times the table's usual change; or a step of 1.45 times those "
    "around whose part that an autoregression (order 12) cannot interpolate from both sides is 4.2 robust "
    "deviations long and leads all others by 1.7; or, with norms, 4.6 and 1.0 together, where the norm "
    "changes at once by 1.2 and its medians of 24 rows by 1.15",
    references=(
        _BERT,
        "Page 1954, Biometrika 41, 100 (detection of a change)",
        "Fox 1972, J. R. Statist. Soc. B 34, 350 (outliers in autoregressions)",
    ),
)
STRAY_ROWS = RowKind(
    code="stray-rows",
    levels=("warning",),
    phrase="rows far from both neighbours",
    brief="{rows} {break} the sequence",
    reasoning="A single row far from both neighbours is damaged, misplaced or was trained apart.",
    formula="both its steps are jumps (see seam)",
)
REGULAR_JUMPS = RowKind(
    code="regular-jumps",
    levels=("note",),
    phrase="the table jumps at regular distances",
    brief="the table jumps every {spacing} rows",
    reasoning="A grid flattened line by line jumps where each line ends. Taken for a line it shows a false "
    "seam at every wrap and a false peak at 1/W: give grid=HxW. Sums of cycles (hour, weekday) jump too.",
    formula="at least three jumps (see seam), and 70 % of the places s, s + W, .. of the table",
    references=(VIT,),
)
NO_STRUCTURE = RowKind(
    code="no-structure",
    levels=("warning",),
    phrase="nothing but noise",
    brief="nothing but noise was found",
    reasoning="The table is as it was drawn: it was not trained, or the wrong tensor was read.",
    formula=f"{_NOISE}: the mean centred cosine of neighbours is -1/(S - 1) within 5 standard errors; the "
    "summed periodogram is flat; each column's periodogram scatters like an exponential distribution "
    "(mean square = 2 x squared mean), unlike one-hot (1) and DFT tables (many)",
    references=("Bartlett 1955, An Introduction to Stochastic Processes (periodogram of white noise)",),
)
INTERPOLATED = RowKind(
    code="interpolated",
    levels=("note",),
    phrase="a table that was resized and not trained since",
    brief="the table was interpolated",
    reasoning="A table resized to a longer context or a larger image and not trained since has no more "
    "directions than before. How it was resized (cubic or linear, corners aligned or not) shifts every "
    "position by up to half a row, and must be repeated by whoever loads it.",
    formula="the numerical rank along an axis is the old size, and the part outside the column space of the "
    "resize matrix is what rounding in the stored type leaves (at most 5 times); the next smaller size is 10 "
    "times worse, every other method 2 times",
    references=(VIT, "torch.nn.functional.interpolate", "Keys 1981, IEEE Trans. ASSP 29, 1153"),
)
NO_SHARES = RowKind(
    code="no-shares",
    levels=("warning",),
    phrase="a spectrum that is not a distribution (negative weights)",
    brief="the spectrum is not a distribution",
    reasoning="A sum of frequencies is most alike at lag 0. A bias that favours another lag, as heads that "
    "look at the previous token have it, is no such sum: its spectrum has large negative weights, and what is "
    "added up over weights of both signs (a share, a mean frequency, a number of bins) can be anything. Look "
    "at the kernel over the lag instead.",
    formula="negative weights sum to more than 0.05 of the sum of all, or the mean frequency is below 0, or "
    "the effective number of bins above that of all bins; k(tau) <= k(0) for every k(tau) = sum of cos(w tau)",
    references=("Bochner 1932, Vorlesungen ueber Fouriersche Integrale (which kernels have positive weights)",),
)


def state_findings(
    table: F64, anatomy: Anatomy, resizing: tuple[Resizing, ...], offset: int, prefix: int, exponent: int = 0
) -> tuple[RowFinding, ...]:
    """Write the findings, those about single rows first, then changes, then the whole table.

    Parameters
    ----------
    table : (S, d); offset : what is added to row numbers (rows of the file before the table);
    prefix : rows in front that were declared special; exponent : the table was divided by this power of two.

    >>> import numpy as np
    >>> from pe_spectra.inspection.anatomy import dissect
    >>> table = np.ones((40, 4)) + np.arange(40)[:, None] / np.arange(1, 5)
    >>> table[20] = 0
    >>> [found.code for found in state_findings(table, dissect(table, is_grid=False, prefix=0), (), 0, 0)]
    ['zero-rows', 'constant-rows']
    """
    named = [
        *state_rows(table, anatomy, offset, prefix),
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
        NO_SHARES.report(
            f"{explain_signs(spectrum)}{'' if spectrum.axis is None else f' ({spectrum.axis})'}.",
            axis=spectrum.axis,
            negative_mass=spectrum.summary.negative_mass,
        )
        for spectrum in spectra
        if spectrum.form == "signed"
    )


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
        yield REPEATING_ROWS.report(
            f"{extra} rows are equal to the row {period} before them (first {first}): the table repeats.",
            rows,
            period=period,
            count=extra,
            groups=shown,
        )
        return
    text = f"rows {first} are equal" if extra == 1 else f"{extra} rows are equal to an earlier row (first {first})"
    message = f"{text[0].upper()}{text[1:]} in every column: these positions have one vector."
    yield DUPLICATE_ROWS.report(message, rows, count=extra, groups=shown)


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
    yield UNTRAINED_TAIL.report(
        f"{name_rows(rows).capitalize()} ({count} of {size}) {is_or_are(count)} as before training: {what}; "
        f"training reached row {tail.start - 1 + offset}.",
        rows,
        count=count,
        trained_rows=tail.start - anatomy.special,
        kind=tail.kind,
        deviation=deviation,
        cosine=tail.cosine,
        cosine_before=tail.cosine_before,
    )


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
    return SEAM.report(
        f"Seam between rows {before} and {after}: {', '.join(parts)}; training may have begun with length {length}.",
        (before, after),
        level="note" if alone else "warning",
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
        message = f"{name_rows(rows).capitalize()} {is_or_are(len(stray))} {what}."
        yield STRAY_ROWS.report(message, rows, count=len(stray))
    if anatomy.seams.spacing:
        wraps, spacing = anatomy.seams.wraps, anatomy.seams.spacing
        shown = group_rows(wraps, offset)
        used = anatomy.last - anatomy.first
        prefix = f",prefix={anatomy.first}" if anatomy.first else ""
        hint = f"grid={used // spacing}x{spacing}{prefix}" if used % spacing == 0 else f"a grid {spacing} wide"
        yield REGULAR_JUMPS.report(
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
    yield NO_STRUCTURE.report(
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
    return INTERPOLATED.report(
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
