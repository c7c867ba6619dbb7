"""The portrait of an encoding as an answer."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from pe_spectra.findings import list_failures
from pe_spectra.inspection import RowFinding, TableInspection
from pe_spectra.inspection.findings import order_findings
from pe_spectra.inspection.periods import DominantPeriod
from pe_spectra.portrait import Portrait, Resized
from pe_spectra.records.answer import Answer, Cell, Document, Drawing, Verdict, describe_encoding, percent
from pe_spectra.spectrum import Spectrum
from pe_spectra.table_part import describe_part, name_part
from pe_spectra.vocabulary import Level


def answer_portrait(portrait: Portrait, fail_on: Level | None = None) -> Answer:
    """Turn a portrait into an answer; a finding of the level `fail_on` or above fails the run.

    >>> from pe_spectra import Dft, draw_portrait
    >>> answer_portrait(draw_portrait(Dft(d=8))).kind
    'inspection'
    """
    found = portrait.inspection
    findings = portrait.findings
    body: Document = {
        "encoding": describe_encoding(portrait.encoding),
        "parameters": {"length": portrait.length},
        "rows_used": list(found.rows_used) if found is not None else None,
        "grid": list(portrait.encoding.shape) if portrait.encoding.shape is not None else None,
        "metrics": dict(portrait.metrics),
        "dominant_periods": _list_periods(found),
        "findings": [_describe_finding(finding) for finding in findings],
    }
    if portrait.resized is not None:
        body["resized"] = _describe_resized(portrait.resized)
    return Answer(
        kind="inspection",
        verdict=_judge(portrait, findings),
        body=body,
        columns=_list_columns(findings),
        facts=_list_facts(portrait),
        notes=portrait.notes,
        shown=("level", "code", "rows", "message"),
        brief=max(12, len(findings)),
        drawing=_draw(portrait),
        next_command=_suggest(findings, portrait),
        failed=list_failures(findings, fail_on) if fail_on is not None else (),
    )


def _describe_finding(finding: RowFinding) -> Document:
    rows = [row if isinstance(row, int) else list(row) for row in finding.rows]
    return {**finding.to_dict(), "rows": rows}


def _list_periods(found: TableInspection | None) -> list[Document]:
    if found is None:
        return []
    return [
        {"period": one.period, "share": one.share, "along": None if one.along is None else list(one.along)}
        for one in found.dominant_periods
    ]


def _describe_resized(resized: Resized) -> Document:
    return {
        "method": resized.method,
        "align_corners": resized.align_corners,
        "old": list(resized.old),
        "new": list(resized.new),
        "axes": [
            {
                "axis": before.axis,
                "scale": scale,
                "centroid_before": before.summary.to_dict()["centroid"],
                "centroid_after": after.summary.to_dict()["centroid"],
                "beyond": None if after.form == "signed" else beyond,
            }
            for before, after, scale, beyond in zip(
                resized.before, resized.after, resized.scales, resized.beyond, strict=True
            )
        ],
    }


def _list_columns(findings: Sequence[RowFinding]) -> Mapping[str, Sequence[Cell]]:
    return {
        "level": [f.level for f in findings],
        "code": [f.code for f in findings],
        "rows": [_write_rows(f) for f in findings],
        "message": [f.message for f in findings],
    }


def _write_rows(finding: RowFinding) -> str:
    return " ".join(str(row) if isinstance(row, int) else f"{row[0]}-{row[1]}" for row in finding.rows)


def _judge(portrait: Portrait, findings: Sequence[RowFinding]) -> Verdict:
    label = name_part(portrait.encoding, portrait.length)
    if not findings and portrait.table is not None and portrait.inspection is None:
        why = "a single row, with no other to compare it with" if portrait.length == 1 else "see the notes"
        text = f"{label}: its rows were not looked at one by one ({why})."
        return Verdict(level="note", code="rows-not-looked-at", text=text)
    if not findings:
        text = f"{label}: nothing out of the ordinary."
        return Verdict(level="ok", code="clean", text=text)
    worst, *rest = order_findings(findings)
    times = {1: "", 2: " twice"}
    codes = (f"{code}{times.get(n, f' {n} times')}" for code, n in Counter(f.code for f in rest).items())
    also = f" (also: {', '.join(codes)})" if rest else ""
    return Verdict(level=worst.level, code=worst.code, text=f"{label}: {worst.message}{also}")


def _list_facts(portrait: Portrait) -> tuple[tuple[str, str], ...]:
    facts = []
    found = portrait.inspection
    if found is not None:
        facts.append(("rows used", f"{found.rows_used[0]} to {found.rows_used[1] - 1}"))
        periods = ", ".join(_say_period(one) for one in found.dominant_periods[:8])
        if periods:
            facts.append(("dominant periods", f"{periods} positions"))
    for name, unit in _SHOWN.items():
        value = portrait.metrics.get(name)
        if value is not None:
            text = percent(value) if unit == "%" else f"{value:.4g}{unit}"
            text += _say_rows_used(portrait) if name.startswith("toeplitz_share") else ""
            facts.append((name.replace("_", " "), text))
    for spectrum in portrait.spectra:
        where = "spectrum" if spectrum.axis is None else f"spectrum, {spectrum.axis}"
        text = f"mean frequency {_say_mean(spectrum)}"
        if spectrum.form != "signed":
            text += f" rad/position, {spectrum.summary.effective_bins_entropy:.1f} effective bins"
        facts.append((where, text + _say_rows(portrait)))
    facts += _list_resized(portrait.resized)
    return tuple(facts)


def _say_mean(spectrum: Spectrum) -> str:
    if spectrum.form == "signed":
        return "- (weights of both signs)"
    return f"{spectrum.summary.centroid:.4g}"


def _say_rows_used(portrait: Portrait) -> str:
    """Which rows a share is of, where the spectrum is of more."""
    found = portrait.inspection
    if found is None or not _say_rows(portrait):
        return ""
    return f" (rows {found.rows_used[0]} to {found.rows_used[1] - 1})"


def _say_rows(portrait: Portrait) -> str:
    """Which rows kernel and spectrum are of, where they are not the rows used."""
    found, size = portrait.inspection, portrait.length
    if found is None or portrait.encoding.shape is not None or found.rows_used[1] - found.rows_used[0] == size:
        return ""
    return f" ({'first' if describe_part(portrait.encoding, size) else 'all'} {size} rows)"


def _say_period(one: DominantPeriod) -> str:
    """A period with its share, and on a grid its direction."""
    directions = {(True, False): " down", (False, True): " across", (True, True): " aslant"}
    way = "" if one.along is None else directions.get((one.along[0] is not None, one.along[1] is not None), "")
    return f"{one.period:.4g}{way} ({percent(one.share)})"


_SHOWN = {
    "toeplitz_share": "%",
    "toeplitz_share_centred": "%",
    "stable_rank_centred": "",
    "effective_rank_entropy_centred": "",
    "norm_median": "",
    "nearest_sinusoid_share": "%",
    "nearest_sinusoid_rho": "",
}


def _list_resized(resized: Resized | None) -> list[tuple[str, str]]:
    if resized is None:
        return []
    sizes = f"{'x'.join(map(str, resized.old))} to {'x'.join(map(str, resized.new))}, {resized.method}"
    corners = ", corners aligned" if resized.align_corners else ""
    facts = [("resized", sizes + corners)]
    for before, after, scale, beyond in zip(resized.before, resized.after, resized.scales, resized.beyond, strict=True):
        where = "mean frequency" if before.axis is None else f"mean frequency, {before.axis}"
        text = f"{_say_mean(before)} -> {_say_mean(after)} rad/position (old/new = {scale:.4g})"
        if beyond is not None and after.form != "signed":
            text += f"; {percent(beyond)} above pi old/new, where the old table has nothing"
        facts.append((where, text))
    return facts


def _draw(portrait: Portrait) -> Drawing | None:
    kernel = portrait.kernel
    if kernel is None:
        return None
    values = np.mean(kernel.values, axis=0)
    if values.ndim == 2:
        values = values[len(values) // 2, values.shape[1] // 2 :]
    if len(values) < 2 or not values[0] > 0:
        return None
    ticks = ((0.0, "lag 0"), (1.0, str(len(values) - 1)))
    title = f"kernel k(lag)/k(0)   {portrait.encoding.label}{_say_rows(portrait)}"
    return Drawing(title=title, values=(values / values[0]).tolist(), ticks=ticks)


def _suggest(findings: Sequence[RowFinding], portrait: Portrait) -> str:
    if findings:
        return f"pe-spectra inspect --explain {order_findings(findings)[0].code}"
    return f"pe-spectra spectrum -e {shlex.quote(portrait.encoding.spec)}"
