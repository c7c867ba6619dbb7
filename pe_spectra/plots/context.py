"""The figure of `pe-spectra context`: ladder and kernel before and after each way to lengthen a context."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from pe_spectra.models.lengths.kernel_samples import sample_kernel
from pe_spectra.plots.ladder import LadderCell, compose_ladders

if TYPE_CHECKING:
    from pe_spectra.models.lengths.methods import ContextReport, MethodResult


def compose_context(report: ContextReport) -> Figure:
    """Draw each way beside the unchanged model, in the order of the report.

    Raises
    ------
    ValueError : a report without a model.
    """
    if not report.methods or report.trained is None:
        raise ValueError("a figure of a context needs a model")
    before = report.methods[0]
    kernel = sample_kernel(before.frequencies, report.target)
    cells = [
        LadderCell(
            label=_label(row),
            words=_describe(row, report),
            before=2 * math.pi / before.frequencies,
            after=2 * math.pi / row.frequencies,
            unseen=row.unseen,
            kernel_before=kernel,
            kernel_after=sample_kernel(row.frequencies, report.target),
        )
        for row in report.methods[1:]
    ]
    factor = report.target / report.trained
    return compose_ladders(
        cells,
        trained=report.trained,
        target=report.target,
        title=_entitle(report),
        small_print=(f"d = {report.d}, base {report.base:,.6g}, factor {factor:.6g} where a way has one.",),
    )


def _entitle(report: ContextReport) -> str:
    unseen = report.methods[0].unseen_pairs
    ways = report.methods[1:]
    without = sum(row.unseen_pairs == 0 for row in ways)
    return (
        f"From {report.trained:,} to {report.target:,} positions: unchanged, {unseen} of {report.pairs} pairs see "
        f"phases that training never showed; {without} of {len(ways)} ways leave none"
    )


def _label(row: MethodResult) -> str:
    if row.method not in ("critical-base", "men-base"):
        return row.method
    return f"{row.method} {row.parameters['base']:,.6g}"


def _describe(row: MethodResult, report: ContextReport) -> str:
    lag = f"{row.first_negative_lag:,}" if row.first_negative_lag is not None else f"> {report.scanned:,}"
    return f"{row.unseen_pairs} unseen, {row.kept_pairs} kept; first negative lag {lag}"
