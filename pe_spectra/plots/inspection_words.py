"""What a portrait says in words: its title, and the small print below its panels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.answers.captions import describe_spectra, entitle_spectra
from pe_spectra.encodings.learned import Learned
from pe_spectra.inspection.findings import order_findings
from pe_spectra.plots.heatmap import MAP_RIGHT, describe_cells
from pe_spectra.plots.row_panels import list_rows
from pe_spectra.plots.style import PAGE_WIDTH, escape_sentence, escape_text
from pe_spectra.table_part import name_part

if TYPE_CHECKING:
    from pe_spectra.inspection import TableInspection
    from pe_spectra.portrait import Portrait, Resized

#: Inches: height of a panel, white at its left.
PANEL, LEFT = 1.4, 0.70
#: Findings whose rows are ringed among the norms, and among the steps.
MARKED_NORMS = ("outlier-rows", "special-first-row", "padding-offset", "zero-rows")
MARKED_STEPS = ("seam", "stray-rows")
#: Sentences of findings below the panels.
_MOST_FINDINGS = 8
#: A shade is seen that is this share of a panel.
_SEEN = 0.02


def find_marked(inspection: TableInspection, codes: tuple[str, ...]) -> list[int]:
    """Return the rows that findings of these codes name; of a run of rows its ends."""
    return [row for finding in inspection.findings if finding.code in codes for row in list_rows(finding.rows)]


def entitle_portrait(portrait: Portrait) -> str:
    """Name the encoding, and say the gravest thing that was found, else what its spectrum says."""
    name = escape_text(name_part(portrait.encoding, portrait.length))
    findings = portrait.findings
    if findings:
        return f"{name}. {escape_text(order_findings(findings)[0].message, longest=200)}"
    if portrait.spectra:
        return f"{name}. {escape_sentence(entitle_spectra(portrait.spectra))}"
    return name


def describe_portrait(portrait: Portrait) -> Iterator[str]:
    """Say below the panels what else was found, how the spectra were made, and what the marks mean."""
    findings = order_findings(portrait.findings)[1:]
    for finding in findings[:_MOST_FINDINGS]:
        yield escape_text(finding.message, longest=400)
    if len(findings) > _MOST_FINDINGS:
        yield f"{len(findings) - _MOST_FINDINGS} more findings are not shown."
    spectra = portrait.spectra
    if "toeplitz_share" in portrait.metrics:  # theirs is of all rows, those that are left out among them
        spectra = tuple(replace(spectrum, toeplitz_share=None) for spectrum in spectra)
    yield from map(escape_sentence, describe_spectra(spectra)) if spectra else map(_escape_note, portrait.notes)
    yield from _describe_share(portrait)
    if portrait.inspection is not None:
        start = portrait.encoding.first if isinstance(portrait.encoding, Learned) else 0
        yield from _explain_marks(portrait.inspection, start)
    if portrait.resized is not None:
        yield from _explain_resized(portrait.resized)
    if portrait.table is not None:
        width = PAGE_WIDTH / 2 - LEFT - MAP_RIGHT
        cells = describe_cells((portrait.table.shape[1], portrait.table.shape[0]), width, PANEL)
        if cells:
            yield f"table: {cells} (column × row)"


def _escape_note(note: str) -> str:
    return escape_text(note, longest=400)


def _describe_share(portrait: Portrait) -> Iterator[str]:
    """Give the Toeplitz share that the text gives, and the rows that it is of."""
    share, found, on_line = portrait.metrics.get("toeplitz_share"), portrait.inspection, portrait.encoding.shape is None
    if share is None:
        return
    rows = f" of rows {found.rows_used[0]} to {found.rows_used[1] - 1}" if found is not None and on_line else ""
    what = "lag" if on_line else "offset"
    text = f"Toeplitz share{rows} (of the Gram matrix's energy, what is a function of the {what} alone)"
    yield f"{text}: {100 * share:.1f} %"


def _explain_marks(inspection: TableInspection, start: int) -> Iterator[str]:
    """Say what rings and shades mean, where there are any."""
    first, last = inspection.rows_used
    if find_marked(inspection, (*MARKED_NORMS, *MARKED_STEPS)):
        yield "rings: rows and steps that the findings name (of a run of rows its ends)"
    if last - first < inspection.norms.size:
        yield f"periods and components: rows {first} to {last - 1} only, {_describe_left_out(inspection, start)}"


def _describe_left_out(inspection: TableInspection, start: int) -> str:
    """Name the rows that are left out; a shade of few among many cannot be seen."""
    (first, last), end = inspection.rows_used, start + inspection.norms.size
    parts = [(low, high) for low, high in ((start, first), (last, end)) if high > low]
    if all(high - low >= _SEEN * inspection.norms.size for low, high in parts):
        return "the others are shaded"
    names = [f"{low}" if high - low == 1 else f"{low} to {high - 1}" for low, high in parts]
    single = sum(high - low for low, high in parts) == 1
    return f"row{'' if single else 's'} {' and '.join(names)} {'is' if single else 'are'} left out"


def _explain_resized(resized: Resized) -> Iterator[str]:
    """Say what the grey line is, where there is one."""
    old = [str(size) for size, scale in zip(resized.old, resized.scales, strict=True) if scale < 1]
    ends = dict.fromkeys(f"{np.pi * scale:.3g}" for scale in resized.scales if scale < 1)
    if old:
        rows = f"the old {' × '.join(old)} rows"
        yield f"grey line: the highest frequency of {rows} after resizing, {' and '.join(ends)} rad/position"
