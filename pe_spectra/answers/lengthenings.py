"""What each way to lengthen a context does, as an answer; and which bases are proposed for a length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pe_spectra.answers.answer import Answer, Body, Later, Verdict, Verdicts
from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.models.lengths.methods import ContextReport, MethodResult
from pe_spectra.models.lengths.plans import Plan
from pe_spectra.models.lengths.proposals import Bound
from pe_spectra.models.rotation import TOLERANCE
from pe_spectra.quantities import quantity
from pe_spectra.records import dataclass
from pe_spectra.wording import count, join

VERDICTS = Verdicts({"all-phases-seen": "ok", "unseen-phases": "note", "smallest-base": "ok", "base-not-found": "note"})
#: What a terminal shows; all of them in a pipe, in CSV and with --full.
_SHOWN = (
    *("method", "unseen_pairs", "never_turn", "kept_pairs", "min_wavelength", "first_negative_lag"),
    "attention_scaling",
)
_SHOWN_BOUNDS = ("name", "value", "assumption")
#: Significant digits of a row on a terminal.
_DIGITS = 4
#: Bounds between these are written as whole numbers in place of an exponent.
_LARGE, _LARGEST = 1e5, 1e15
#: Beyond this factor the catalogue's encoding takes no scaling.
_LARGEST_FACTOR = 1e6
#: How far beyond the phases of training others count as covered.
_MARGIN = f"{100 * (TOLERANCE - 1):.3g} %"


@dataclass(frozen=True, kw_only=True)
class ContextBody(Body):
    """What each way to lengthen a context would do, or which bases are proposed for one."""

    kind = "context"
    report: ContextReport = quantity("The ways, and the bounds.", inline=True)
    plan: Plan | None = quantity(
        "What the model of a file needs; only where one is named.",
        default=None,
        only=lambda body: body.plan is not None,
    )


def answer_lengthenings(report: ContextReport, *, every_pair: bool = False) -> Answer:
    """Turn a report about a context length into an answer: the ways to get there, or the bases for it.

    Parameters
    ----------
    every_pair : whether each pair of each way is a row, in place of each way.

    >>> from pe_spectra.models.lengths.methods import compare_methods
    >>> answer_lengthenings(compare_methods(8, 1e4, 64, 128)).kind
    'context'
    """
    is_inverse = not report.methods
    return Answer(
        body=ContextBody(report=report),
        verdict=_judge_bases(report) if is_inverse else _judge_methods(report),
        results=[pair for row in report.methods for pair in row.every_pair] if every_pair else (),
        table={} if every_pair and not is_inverse else report.to_columns(),
        details=()
        if is_inverse
        else Later(lambda: (*_list_facts(report), *map(_write_bound, report.bounds), _explain(report))),
        notes=(*report.notes, *_list_remarks(report)),
        shown=_SHOWN_BOUNDS if is_inverse else () if every_pair else _SHOWN,
        digits=_DIGITS,
        next_command=_suggest(report),
    )


def _find_best(report: ContextReport) -> MethodResult:
    """The way with the fewest pairs out of range, among those with the most pairs kept; the unchanged model is none."""
    return min(report.methods[1:], key=lambda row: (row.unseen_pairs, -row.kept_pairs))


def entitle_way(row: MethodResult, report: ContextReport) -> tuple[str, str]:
    """Name one way in a figure, and say in a line what it does.

    >>> from pe_spectra.models.lengths.methods import compare_methods
    >>> report = compare_methods(8, 1e4, 64, 128)
    >>> entitle_way(report.methods[1], report)[0]
    'linear'
    """
    label = row.method if row.method in SCALINGS else f"{row.method} {row.base:,.6g}"
    lag = f"{row.first_negative_lag:,}" if row.first_negative_lag is not None else f"> {report.scanned:,}"
    more = f" ({row.tolerated_pairs} more by up to {_MARGIN})" if row.tolerated_pairs else ""
    return label, f"{row.unseen_pairs} out of range{more}, {row.kept_pairs} kept; first negative lag {lag}"


def _judge_methods(report: ContextReport) -> Verdict:
    before, best, phases = report.methods[0], _find_best(report), "out-of-range phases (not covered in training)"
    at = f"At {report.target:,} positions"
    if not before.unseen_pairs:
        return VERDICTS.say("all-phases-seen", f"{at} no pair has {phases}, even unchanged{_tolerate([before])}.")
    left = best.unseen_pairs or "none"
    kept = f"{best.kept_pairs} of {report.pairs} unchanged" if best.kept_pairs != 1 else "only the fastest unchanged"
    is_base = best.factor is None
    name = f"base {best.base:.4g} ({best.method})" if is_base else f"{best.method} with factor {best.factor:.6g}"
    alike = [best, *(m for m in report.methods[1:] if m.unseen_pairs == best.unseen_pairs and m is not best)]
    others = len(alike) - 1
    equals = f"; {count(others, 'other')} {'leaves' if others == 1 else 'leave'} {left} too" if others else ""
    said = f"{name} leaves {left} and keeps {kept}{equals}"
    told = f"{at} {before.unseen_pairs} of {report.pairs} pairs have {phases}; {said}{_tolerate(alike)}"
    return VERDICTS.say("unseen-phases", f"{told}.")


def _tolerate(rows: Sequence[MethodResult]) -> str:
    """Say that phases a little beyond those of training are not counted, where some of these ways have such."""
    found = {row.method: count(row.tolerated_pairs, "pair") for row in rows if row.tolerated_pairs}
    if not found:
        return ""
    where = (
        found["none"] if found.keys() == {"none"} else join([f"{pairs} with {name}" for name, pairs in found.items()])
    )
    return f"; up to {_MARGIN} beyond those of training counts as covered ({where})"


def _judge_bases(report: ContextReport) -> Verdict:
    found = {bound.name: bound for bound in report.bounds}
    exact, settled = found["men-exact"], found["men-settled"]
    asked = f"For {report.target:,} positions at d = {report.d}"
    if exact.value is None:
        fit = f"Men et al. fit base {found['men-fit'].value:,.3g}"
        return VERDICTS.say("base-not-found", f"{asked}: {fit}; the smallest was not found: {exact.remark}.")
    if settled.value is None:
        advice = (
            f"more than base {exact.value:,.10g}, the smallest with two significant digits whose sum of cosines is "
            f"negative at no lag (Men et al.): {exact.remark or 'the larger ones up to twice it hold too'}"
        )
        return Verdict(level="note", code="smallest-base", text=f"{asked} take {advice}.")
    advice = (
        f"base {settled.value:,.10g}: from there to twice that no base with two significant digits has a negative sum "
        f"of cosines at any lag (Men et al.)"
    )
    if exact.remark:
        advice += f"; {exact.value:,.10g} is the smallest, but {exact.remark}"
    return VERDICTS.say("smallest-base", f"{asked} take {advice}.")


def _list_facts(report: ContextReport) -> list[tuple[str, str]]:
    without = [f"{row.method}{_mark(row)}" for row in report.methods[1:] if not row.unseen_pairs]
    factor = report.target / (report.trained or 1)
    turned = f"critical dimension {report.critical_dimension} of {report.d} channels"
    return [
        ("training context length", f"{report.trained:,} positions"),
        ("inference context length", f"{report.target:,} positions, factor {factor:.6g}"),
        ("no full period in training", f"{report.never_turn_in_training} of {report.pairs} pairs ({turned})"),
        ("no out-of-range phases with", join(without) if without else "none of them"),
    ]


def _mark(row: MethodResult) -> str:
    return f" ({count(row.tolerated_pairs, 'pair')} up to {_MARGIN} beyond)" if row.tolerated_pairs else ""


def _write_bound(bound: Bound) -> tuple[str, str]:
    """The fact of one bound."""
    claim = "; a claim" if "claim" in bound.source else ""
    if bound.value is None:
        return bound.name, f"none, {bound.remark or 'as there is no critical base'}: {bound.assumption}{claim}"
    text = f"{bound.value:,.6g}"
    if bound.value < _LARGEST and (bound.value >= _LARGE or float(bound.value).is_integer()):
        text = f"{bound.value:,.0f}"
    value = f"base {text}" if bound.unit == "base" else f"{text} {bound.unit}"
    return bound.name, f"{value}: {bound.assumption}{claim}"


def _explain(report: ContextReport) -> tuple[str, str]:
    pairs = f"unseen_pairs, never_turn and kept_pairs count pairs out of {report.pairs} at {report.target:,} positions"
    beyond = f"unseen_pairs leaves out tolerated_pairs, whose phases are up to {_MARGIN} beyond those of training"
    places = "min_wavelength and first_negative_lag are positions"
    return "columns", f"{pairs}; {beyond}; {places}; attention_scaling is the factor on every cosine and sine"


def _list_remarks(report: ContextReport) -> list[str]:
    remarks = [f"{bound.name}: {bound.remark}" for bound in report.bounds if bound.remark]
    unfound = [row.method for row in report.methods if row.first_negative_lag is None]
    if unfound:
        remarks.append(
            f"no negative sum of cosines up to lag {report.scanned:,}, where the search ends: {join(unfound)}"
        )
    return remarks


def _suggest(report: ContextReport) -> str:
    if not report.methods:
        found = {bound.name: bound.value for bound in report.bounds}
        base = found["men-settled"] if found["men-settled"] is not None else found["men-exact"]
        return f"pe-spectra inspect rope:d={report.d},base={base:.17g}" if base is not None else ""
    best = _find_best(report)
    keys = {"d": report.d, "base": best.base}
    if best.method not in SCALINGS:
        return f"pe-spectra inspect rope:{_write_keys(keys)}"
    if report.target > _LARGEST_FACTOR * (report.trained or 1):
        return ""
    wanted = {key: best.parameters[key] for key in ("factor", "original", "served") if key in best.parameters}
    return f"pe-spectra inspect rope:{_write_keys(keys)},scaling={best.method},{_write_keys(wanted)}"


def _write_keys(keys: Mapping[str, float]) -> str:
    return ",".join(f"{name}={value:.17g}" for name, value in keys.items())
