"""Portraits as answers: what is seen in one encoding or table, in numbers and in words."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pe_spectra.answers.answer import Answer, Body, Drawing, Later, Verdict, Verdicts, propose
from pe_spectra.answers.captions import describe_spectra, entitle_spectra, write_blur, write_mean
from pe_spectra.encodings.codes import describe_part
from pe_spectra.encodings.learned import Learned
from pe_spectra.findings import list_failures
from pe_spectra.inspection import KINDS, DominantPeriod, RowFinding, TableInspection
from pe_spectra.inspection.formulas import Formula
from pe_spectra.inspection.periods import NAMED_PERIODS
from pe_spectra.inspection.portrait import Portrait
from pe_spectra.inspection.resize import Resized
from pe_spectra.inspection.row_findings import RowKind, order_findings
from pe_spectra.quantities import quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.record import Spectrum
from pe_spectra.vocabulary import RESIZE_METHODS, Level
from pe_spectra.wording import count, join, percent, shorten, write_time

VERDICTS = Verdicts({"rows-not-looked-at": "note", "clean": "ok"})
#: Findings whose rows are ringed among the norms, and among the steps.
MARKED_NORMS = ("outlier-rows", "special-first-row", "padding-offset", "special-last-rows", "zero-rows")
MARKED_STEPS = ("seam", "stray-rows")
#: Sentences of findings below the panels of a figure.
_MOST_FINDINGS = 8
#: A shade is seen that is this share of a panel.
_SEEN = 0.02
#: Shares that leave less are written as what they leave.
_LITTLE = 5e-4
#: Metrics that are facts, and those that are details; of some a share.
_FACTS = ("toeplitz_share", "nearest_sinusoid_share", "norm_median")
_DETAILS = (
    *("toeplitz_share_centred", "stable_rank_centred", "effective_rank_entropy_centred"),
    "nearest_sinusoid_rho",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class PortraitBody(Body):
    """The portrait of one encoding or table."""

    kind = "inspection"
    portrait: Portrait = quantity("The portrait.", inline=True)


def answer_portrait(portrait: Portrait, fail_on: Level | None = None) -> Answer:
    """Turn a portrait into an answer; a finding of the level `fail_on` or above fails the run.

    >>> from pe_spectra import Sinusoidal, draw_portrait
    >>> answer_portrait(draw_portrait(Sinusoidal(d=8))).verdict.text
    'sinusoidal d=8 rho=10000: nothing out of the ordinary.'
    """
    findings = portrait.findings
    return Answer(
        body=PortraitBody(portrait=portrait),
        verdict=_judge(portrait, findings),
        table={
            "level": [f.level for f in findings],
            "code": [f.code for f in findings],
            "rows": [_write_rows(f) for f in findings],
            "message": [f.message for f in findings],
        },
        facts=Later(lambda: _list_facts(portrait)),
        details=Later(lambda: _list_metrics(portrait, _DETAILS)),
        notes=portrait.notes,
        drawing=_draw(portrait),
        next_command=_suggest(findings, portrait),
        failed=list_failures(findings, fail_on),
    )


def _write_rows(finding: RowFinding) -> str:
    return " ".join(str(row) if isinstance(row, int) else f"{row[0]}-{row[1]}" for row in finding.rows)


def _judge(portrait: Portrait, findings: Sequence[RowFinding]) -> Verdict:
    name = _name_part(portrait)
    if findings:
        worst, *rest = order_findings(findings)
        also = f" Also: {'; '.join(dict.fromkeys(map(_say_briefly, rest)))}." if rest else ""
        return Verdict(level=worst.level, code=worst.code, text=f"{name}: {worst.message}{also}")
    if portrait.table is not None and portrait.inspection is None:
        why = "a single row, with no other to compare it with" if portrait.length == 1 else "see the notes"
        return VERDICTS.say("rows-not-looked-at", f"{name}: its rows were not looked at one by one ({why}).")
    formula = "" if portrait.formula is None else f" {say_formula(portrait.formula)};"
    return VERDICTS.say("clean", f"{name}:{formula} nothing out of the ordinary.")


def _name_part(portrait: Portrait) -> str:
    """The label of an encoding, with the rows where only the first were taken."""
    rows = "first row" if portrait.length == 1 else f"first {portrait.length} rows"
    label = portrait.encoding.label
    return f"{label}, {rows}" if describe_part(portrait.encoding, portrait.length) else label


def _say_briefly(finding: RowFinding) -> str:
    kind = KINDS[finding.code]
    return kind.write_clause(finding) if isinstance(kind, RowKind) else kind.phrase


def _list_facts(portrait: Portrait) -> tuple[tuple[str, str], ...]:
    facts = []
    found = portrait.inspection
    if found is not None:
        periods = ", ".join(map(_say_period, found.dominant_periods[:NAMED_PERIODS]))
        facts.append(("rows used", f"{found.rows_used[0]} to {found.rows_used[1] - 1}"))
        facts.append(("dominant periods", f"{periods} positions" if periods else ""))
        facts.append(("in time", ", ".join(write_time(one) for one in portrait.period_seconds[:NAMED_PERIODS])))
    if portrait.formula is not None:
        facts.append(("formula", say_formula(portrait.formula)))
    facts += _list_metrics(portrait, _FACTS)
    for spectrum in portrait.spectra:
        where = "spectrum" if spectrum.axis is None else f"spectrum, {spectrum.axis}"
        text = "centroid - (negative weights)"
        if spectrum.form != "signed":
            text = f"{write_mean(spectrum)}, {spectrum.summary.effective_bins_entropy:.1f} effective bins"
        facts.append((where, text + _say_rows(portrait)))
    facts += _list_resized(portrait.resized)
    return tuple(facts)


def _list_metrics(portrait: Portrait, names: Sequence[str]) -> list[tuple[str, str]]:
    facts = []
    for name in names:
        value = portrait.metrics.get(name)
        if value is not None:
            text = percent(value) if "_share" in name else f"{value:.4g}"
            text += _say_rows_used(portrait) if name.startswith("toeplitz_share") else ""
            facts.append((name.replace("_", " "), text))
    return facts


def _say_centroid(spectrum: Spectrum) -> str:
    if spectrum.form == "signed":
        return "- (negative weights)"
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
    """A period with its share, on a grid with its direction; or where from and to it drifts."""
    if one.drift is not None:
        return f"drifts from {one.drift[0]:.3g} to {one.drift[1]:.3g} ({percent(one.share)})"
    directions = {(True, False): " down", (False, True): " across", (True, True): " diagonal"}
    way = "" if one.along is None else directions.get((one.along[0] is not None, one.along[1] is not None), "")
    return f"{one.period:.4g}{way} ({percent(one.share)})"


def _list_resized(resized: Resized | None) -> list[tuple[str, str]]:
    if resized is None:
        return []
    sizes = f"{'x'.join(map(str, resized.old))} to {'x'.join(map(str, resized.new))}, {resized.method}"
    corners = ", corners aligned" if resized.align_corners else ""
    facts = [("resized", sizes + corners)]
    for one, before, after in zip(resized.axes, resized.before, resized.after, strict=True):
        where = "centroid" if before.axis is None else f"centroid, {before.axis}"
        ends = f"{_say_centroid(before)} -> {_say_centroid(after)} rad/position{write_blur(before)}"
        text = f"{ends} (old/new = {one.scale:.4g})"
        if one.beyond is not None:
            text += f"; {percent(one.beyond)} above pi old/new, where the old table has nothing"
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


def say_formula(formula: Formula) -> str:
    """Say in a clause which formula a table is, or how much of it one explains.

    >>> from pe_spectra import Sinusoidal, inspect_table
    >>> say_formula(inspect_table(2 * Sinusoidal(d=8).table(64)[::-1]).formula)
    'it is sinusoidal:d=8,scale=2 number by number (float64), its rows in reverse order'
    """
    parts = [f"times {formula.factor:.10g}"] if formula.factor != 1 else []
    parts += ["its rows in reverse order"] if formula.reverse else []
    parts += [f"from position {formula.first_position} on"] if formula.first_position else []
    parts += [formula.order] if formula.order else []
    parts += [f"but for {count(formula.rows_left_out, 'row')}"] if formula.rows_left_out else []
    how = ", ".join(["", *parts])
    if formula.parameters_not_told:
        names = join(formula.parameters_not_told)
        how += f"; {names} cannot be told: half and twice as much explain it as well"
    if formula.exact:
        stored = f" ({formula.dtype})" if formula.dtype else ""
        if formula.levels is not None:
            stored = f" (rounded to the nearest of its {formula.levels} numbers)"
        others = f"; so is {join(formula.alternatives)}" if formula.alternatives else ""
        return f"it is {formula.spec} number by number{stored}{how}{others}"
    same = f"; {_say_most(formula.numbers_share)} of its numbers are the formula's, rounded"
    return (
        f"{formula.spec} explains {_say_most(formula.share)} of its variance{how}{same * (formula.numbers_share > 0)}"
    )


def _say_most(share: float) -> str:
    left = 1 - share
    return percent(share) if left >= _LITTLE else f"all but {left:.1e}"


def _suggest(findings: Sequence[RowFinding], portrait: Portrait) -> str:
    encoding, formula = portrait.encoding, portrait.formula
    if portrait.resized is not None:
        return _propose_export(portrait.resized, portrait)
    if formula is not None and isinstance(encoding, Learned) and encoding.values is not None and encoding.values.spec:
        return f"{propose('diff', encoding)} {shlex.quote(formula.spec)}"
    if findings:
        return f"pe-spectra inspect --explain {order_findings(findings)[0].code}"
    return propose("spectrum -e", encoding)


def _propose_export(resized: Resized, portrait: Portrait) -> str:
    """The command that writes the table that was resized."""
    encoding = portrait.encoding
    is_whole = encoding.shape is not None or portrait.length == encoding.default_length
    words = [propose("export", encoding), *([] if is_whole else [f"--length {portrait.length}"])]
    words += [f"--resize {'x'.join(map(str, resized.new))}"]
    words += [f"--method {resized.method}"] if resized.method != RESIZE_METHODS[0] else []
    words += ["--align-corners"] if resized.align_corners else []
    return " ".join([*words, "--output resized.npy"])


# --------------------------------------------------------------------- figures


def find_marked(inspection: TableInspection, codes: tuple[str, ...]) -> list[int]:
    """Return the rows that findings of these codes name; of a run of rows its ends.

    >>> from pe_spectra import inspect_table
    >>> find_marked(inspect_table(np.ones((4, 2))), ("zero-rows",))
    []
    """
    ranges = [one for finding in inspection.findings if finding.code in codes for one in finding.rows]
    return [row for one in ranges for row in ((one,) if isinstance(one, int) else one)]


def entitle_portrait(portrait: Portrait) -> str:
    """Name the encoding, and say the gravest thing that was found, else what its spectrum says.

    >>> from pe_spectra import Dft, draw_portrait
    >>> entitle_portrait(draw_portrait(Dft(d=8))).partition(".")[0]
    'dft d=8'
    """
    name = shorten(_name_part(portrait))
    findings = portrait.findings
    if findings:
        return f"{name}. {shorten(order_findings(findings)[0].message, 200)}"
    if portrait.spectra:
        return f"{name}. {entitle_spectra(portrait.spectra)}"
    return name


def describe_portrait(portrait: Portrait) -> Iterator[str]:
    """Say below the panels what else was found, how the spectra were made, and what the marks mean.

    >>> from pe_spectra import Dft, draw_portrait
    >>> list(describe_portrait(draw_portrait(Dft(d=8))))[0]
    'Column 0 is the same in every row: no position can be told by it.'
    """
    findings = order_findings(portrait.findings)[1:]
    for finding in findings[:_MOST_FINDINGS]:
        yield shorten(finding.message, 400)
    if len(findings) > _MOST_FINDINGS:
        yield f"{len(findings) - _MOST_FINDINGS} more findings are not shown."
    spectra = portrait.spectra
    if "toeplitz_share" in portrait.metrics:  # theirs is of all rows, those that are left out among them
        spectra = tuple(replace(spectrum, toeplitz_share=None) for spectrum in spectra)
    yield from describe_spectra(spectra) if spectra else (shorten(note, 400) for note in portrait.notes)
    yield from _describe_share(portrait)
    if portrait.inspection is not None:
        start = portrait.encoding.first if isinstance(portrait.encoding, Learned) else 0
        yield from _explain_marks(portrait.inspection, start)
    if portrait.resized is not None:
        yield from _explain_resized(portrait.resized)


def _describe_share(portrait: Portrait) -> Iterator[str]:
    """Give the Toeplitz share that the text gives, and the rows that it is of."""
    share, found, on_line = portrait.metrics.get("toeplitz_share"), portrait.inspection, portrait.encoding.shape is None
    if share is None:
        return
    rows = f" of rows {found.rows_used[0]} to {found.rows_used[1] - 1}" if found is not None and on_line else ""
    what = "lag" if on_line else "offset"
    text = f"Toeplitz share{rows} (of the Gram matrix's energy, what is a function of the {what} alone)"
    yield f"{text}: {percent(share)}"


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
