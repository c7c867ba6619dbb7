"""What each way to lengthen a context does, as an answer; and which bases are proposed for a length."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pe_spectra.models.lengths.bounds import Bound
from pe_spectra.models.lengths.methods import ContextReport, MethodResult
from pe_spectra.records.answer import Answer, Cell, Document, Verdict, join

#: What a terminal shows; all of them in a pipe, in CSV and with --full.
_SHOWN = (
    "method",
    "unseen_pairs",
    "never_turn",
    "kept_pairs",
    "min_wavelength",
    "first_negative_lag",
    "attention_scaling",
)
_NUMBERS = (
    "unseen_pairs",
    "unseen_share",
    "never_turn",
    "kept_pairs",
    "min_wavelength",
    "neighbour_distance",
    "first_negative_lag",
    "attention_scaling",
)
#: Significant digits of a row on a terminal.
_DIGITS = 4
_SHOWN_BOUNDS = ("name", "value", "assumption")
#: Bounds between these are written as whole numbers in place of an exponent.
_LARGE, _LARGEST = 1e5, 1e15
#: Names of the catalogue's scalings, for the command to try next.
_SCALINGS = ("linear", "ntk", "dynamic", "yarn", "yarn-paper", "llama3")
#: Beyond this factor the catalogue's encoding takes no scaling.
_LARGEST_FACTOR = 1e6


def answer_context(report: ContextReport, *, every_pair: bool = False) -> Answer:
    """Turn a report about a context length into an answer: the ways to get there, or the bases for it.

    Parameters
    ----------
    every_pair : whether each pair of each way is a row, in place of each way.

    >>> from pe_spectra.models.lengths.methods import compare_methods
    >>> answer_context(compare_methods(8, 1e4, 64, 128)).kind
    'context'
    """
    parameters = {"d": report.d, "base": report.base, "trained": report.trained, "target": report.target}
    body: Document = {
        "parameters": {name: value for name, value in parameters.items() if value is not None},
        "critical_dimension": report.critical_dimension,
        "never_turn_in_training": report.never_turn_in_training,
        "scanned_lags": report.scanned,
        "rows": [_describe_method(row) for row in report.methods],
        "bounds": [_describe_bound(bound) for bound in report.bounds],
    }
    is_inverse = not report.methods
    return Answer(
        kind="context",
        verdict=_judge_bases(report) if is_inverse else _judge_methods(report),
        body=body,
        columns=_choose_columns(report, every_pair=every_pair),
        facts=() if is_inverse else (*_list_facts(report), *_list_bounds(report.bounds), _explain_columns(report)),
        notes=(*report.notes, *_list_remarks(report)),
        shown=_SHOWN_BOUNDS if is_inverse else () if every_pair else _SHOWN,
        digits=_DIGITS,
        brief=max(len(report.methods), len(report.bounds)),
        next_command=_suggest(report),
    )


def find_best(report: ContextReport) -> MethodResult:
    """Find the way that leaves the fewest pairs with unseen phases, and among those keeps the most pairs.

    The unchanged model is no way; among equals the first counts.

    >>> from pe_spectra.models.lengths.methods import compare_methods
    >>> find_best(compare_methods(8, 1e4, 64, 128)).method
    'dynamic'
    """
    return min(report.methods[1:], key=lambda row: (row.unseen_pairs, -row.kept_pairs))


def _describe_method(row: MethodResult) -> Document:
    return {
        "method": row.method,
        "parameters": dict(row.parameters),
        "unseen_pairs": row.unseen_pairs,
        "unseen_share": row.unseen_share,
        "never_turn": row.never_turn,
        "kept_pairs": row.kept_pairs,
        "min_wavelength": row.min_wavelength,
        "neighbour_distance": row.neighbour_distance,
        "attention_scaling": row.attention_scaling,
        "first_negative_lag": row.first_negative_lag,
        "frequencies": _describe_pairs(row),
        "notes": list(row.notes),
    }


def _describe_pairs(row: MethodResult) -> list[dict[str, Cell]]:
    pairs = zip(row.frequencies.tolist(), row.turns.tolist(), row.unseen.tolist(), strict=True)
    return [
        {"pair": pair, "frequency": frequency, "wavelength": 2 * math.pi / frequency, "turns": turns, "unseen": unseen}
        for pair, (frequency, turns, unseen) in enumerate(pairs)
    ]


def _describe_bound(bound: Bound) -> Document:
    return {
        "name": bound.name,
        "value": bound.value,
        "unit": bound.unit,
        "assumption": bound.assumption,
        "source": bound.source,
        "remark": bound.remark,
    }


def _choose_columns(report: ContextReport, *, every_pair: bool) -> Mapping[str, Sequence[Cell]]:
    if not report.methods:
        return _list_bound_columns(report.bounds)
    return _list_pair_columns(report) if every_pair else _list_columns(report)


def _list_pair_columns(report: ContextReport) -> Mapping[str, Sequence[Cell]]:
    rows = [{"method": row.method, **pair} for row in report.methods for pair in _describe_pairs(row)]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _list_columns(report: ContextReport) -> Mapping[str, Sequence[Cell]]:
    rows = report.methods
    columns: dict[str, Sequence[Cell]] = {
        "method": [row.method for row in rows],
        "base": [row.parameters["base"] for row in rows],
        "factor": [row.parameters.get("factor") for row in rows],
    }
    for name in _NUMBERS:
        columns[name] = [getattr(row, name) for row in rows]
    for pair in sorted({round(share * (report.pairs - 1)) for share in (0, 0.25, 0.5, 0.75, 1)}):
        columns[f"turns_pair_{pair}"] = [float(row.turns[pair]) for row in rows]
    columns["notes"] = ["; ".join(row.notes) for row in rows]
    return columns


def _list_bound_columns(bounds: Sequence[Bound]) -> Mapping[str, Sequence[Cell]]:
    described = [_describe_bound(bound) for bound in bounds]
    names = ("name", "value", "unit", "assumption", "source", "remark")
    return {name: [_as_cell(row[name]) for row in described] for name in names}


def _as_cell(value: object) -> Cell:
    return value if isinstance(value, str | int | float) else None


def _judge_methods(report: ContextReport) -> Verdict:
    before, best = report.methods[0], find_best(report)
    if not before.unseen_pairs:
        text = f"At {report.target:,} positions no pair sees a phase that training never showed, even unchanged."
        return Verdict(level="ok", code="all-phases-seen", text=text)
    text = (
        f"At {report.target:,} positions {before.unseen_pairs} of {report.pairs} pairs see phases that training never "
        f"showed; {_name(best)} leaves {best.unseen_pairs or 'none'} and keeps {_count_kept(best, report)}"
        f"{_count_equals(best, report)}."
    )
    return Verdict(level="note", code="unseen-phases", text=text)


def _count_equals(best: MethodResult, report: ContextReport) -> str:
    """Say how many other ways leave as few pairs with unseen phases."""
    others = sum(row.unseen_pairs == best.unseen_pairs for row in report.methods[1:]) - 1
    if not others:
        return ""
    verb = "leaves" if others == 1 else "leave"
    return f"; {others} other{'s' if others > 1 else ''} {verb} {best.unseen_pairs or 'none'} too"


def _name(row: MethodResult) -> str:
    factor = row.parameters.get("factor")
    if factor is None:
        return f"base {row.parameters['base']:.4g} ({row.method})"
    return f"{row.method} with factor {factor:.6g}"


def _count_kept(row: MethodResult, report: ContextReport) -> str:
    count = row.kept_pairs
    return f"{count} of {report.pairs} as they were" if count != 1 else "only the fastest as it was"


def _judge_bases(report: ContextReport) -> Verdict:
    found = {bound.name: bound for bound in report.bounds}
    exact, settled, fit = found["men-exact"], found["men-settled"], found["men-fit"]
    where = f"For {report.target:,} positions at d = {report.d}"
    if exact.value is None:
        text = (
            f"{where} the fit of Men et al. gives base {fit.value:,.3g}; the smallest base itself was not found: "
            f"{exact.remark}."
        )
        return Verdict(level="note", code="base-not-found", text=text)
    if settled.value is None:
        text = (
            f"{where} take more than base {exact.value:,.10g}, the smallest of two digits whose sum of cosines is "
            f"negative at no lag (Men et al.): {exact.remark or 'the larger ones up to twice it hold too'}."
        )
        return Verdict(level="note", code="smallest-base", text=text)
    alone = f"; {exact.value:,.10g} is the smallest, but {exact.remark}" if exact.remark else ""
    text = (
        f"{where} take base {settled.value:,.10g}: from there to twice that no base of two digits has a negative sum "
        f"of cosines at any lag (Men et al.){alone}."
    )
    return Verdict(level="ok", code="smallest-base", text=text)


def _list_facts(report: ContextReport) -> list[tuple[str, str]]:
    without = [row.method for row in report.methods[1:] if not row.unseen_pairs]
    factor = report.target / (report.trained or 1)
    turned = f"critical dimension {report.critical_dimension} of {report.d} channels"
    return [
        ("change", f"{report.trained:,} to {report.target:,} positions, factor {factor:.6g}"),
        ("never turned in training", f"{report.never_turn_in_training} of {report.pairs} pairs ({turned})"),
        ("no unseen phases with", join(without) if without else "none of them"),
    ]


def _list_bounds(bounds: Sequence[Bound]) -> list[tuple[str, str]]:
    return [
        (bound.name, f"{_write_value(bound)}: {bound.assumption}{'; a claim' if 'claim' in bound.source else ''}")
        for bound in bounds
    ]


def _write_value(bound: Bound) -> str:
    if bound.value is None:
        return "not known"
    text = f"{bound.value:,.6g}"
    if bound.value < _LARGEST and (bound.value >= _LARGE or float(bound.value).is_integer()):
        text = f"{bound.value:,.0f}"
    return f"base {text}" if bound.unit == "base" else f"{text} {bound.unit}"


def _explain_columns(report: ContextReport) -> tuple[str, str]:
    pairs = f"unseen_pairs, never_turn and kept_pairs count pairs out of {report.pairs} at {report.target:,} positions"
    places = "min_wavelength and first_negative_lag are positions"
    return "columns", f"{pairs}; {places}; attention_scaling is the factor on every cosine and sine"


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
    best = find_best(report)
    keys = {"d": report.d, "base": best.parameters["base"]}
    if best.method not in _SCALINGS:
        return f"pe-spectra inspect rope:{_write_keys(keys)}"
    if report.target > _LARGEST_FACTOR * (report.trained or 1):
        return ""
    wanted = {key: best.parameters[key] for key in ("factor", "original", "served") if key in best.parameters}
    return f"pe-spectra inspect rope:{_write_keys(keys)},scaling={best.method},{_write_keys(wanted)}"


def _write_keys(keys: Mapping[str, float]) -> str:
    return ",".join(f"{name}={value:.17g}" for name, value in keys.items())
