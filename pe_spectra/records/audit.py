"""What configurations really give, as an answer: one model in detail, or many side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pe_spectra.models.audit import LayerAudit, ModelAudit
from pe_spectra.records.answer import Answer, Cell, Document, describe_encoding
from pe_spectra.records.audit_next import suggest_next
from pe_spectra.records.audit_table import list_facts, list_layer_columns, list_pair_columns, put_worst_first
from pe_spectra.records.audit_verdict import judge_many, judge_one
from pe_spectra.records.findings import describe_finding, find_failures, simplify
from pe_spectra.spectrum import LowBinCount

#: What a terminal shows of several models; all columns in a pipe, in CSV and with --full.
_SHOWN = ("file", "layer", "base", "never_turn", "level", "findings")
#: Of these a narrow terminal shows less.
_NARROW = ("file", "layer", "findings")
#: What the numbers of a pair are.
_UNITS = (
    "frequency in rad/position, wavelength in positions; turns in the trained length, turns_served in the served one"
)
#: Rows that a terminal shows.
_BRIEF = 12
#: Significant digits of a row on a terminal.
_DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class AuditedFile:
    """One file that was named, and what it gives.

    Attributes
    ----------
    file : as it was named. audit : None where the file cannot be used. error : why not; else empty.
    """

    file: str
    audit: ModelAudit | None = None
    error: str = ""


def answer_audits(
    files: Sequence[AuditedFile],
    *,
    trained: int | None = None,
    served: int | None = None,
    fail_on: str | None = None,
    rows: Literal["layers", "pairs", "all pairs"] = "layers",
    worst_first: bool = False,
) -> Answer:
    """Turn audits into an answer.

    Parameters
    ----------
    files : one of them at least has an audit.
    trained, served : the lengths that were asked for.
    fail_on : the level from which on findings are not to be.
    rows : one for each layer type of each model, or for each pair of the only model, or for each pair of each
        model with its name.
    worst_first : whether rows of layer types stand in the order of their levels, in place of that of the files.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> audit = audit_configuration(read_configuration({"model_type": "llama", "head_dim": 4}, "config.json"))
    >>> answer_audits([AuditedFile(file="config.json", audit=audit)]).verdict.code
    'base-too-small'
    """
    good = [(one.file, one.audit) for one in files if one.audit is not None]
    is_single = len(files) == 1
    columns = list_layer_columns(good) if rows == "layers" else list_pair_columns(good, named=rows == "all pairs")
    if rows == "layers" and worst_first:
        columns = put_worst_first(columns)
    return Answer(
        kind="audit",
        verdict=judge_one(good[0][1]) if is_single else judge_many(good, [one.file for one in files if one.error]),
        body={
            "parameters": {"trained": trained, "served": served},
            "models": [_describe_file(one) for one in files],
        },
        columns=columns,
        facts=(*list_facts(good[0][1]), *((("columns", _UNITS),) if rows == "pairs" else ())) if is_single else (),
        shown=_choose_shown(columns) if rows == "layers" else tuple(n for n in columns if n != "frequency_before"),
        digits=_DIGITS,
        narrow=_NARROW,
        brief=0 if is_single and rows == "layers" and _says_nothing(columns) else None,
        next_command=suggest_next(good, is_single=is_single),
        failed=tuple(dict.fromkeys(_list_failures(good, fail_on, is_single))),
    )


def _choose_shown(columns: Mapping[str, Sequence[Cell]]) -> tuple[str, ...]:
    """Leave out the layer type where every model has one only."""
    return tuple(name for name in _SHOWN if name != "layer" or set(columns["layer"]) != {"all"})


def _says_nothing(columns: Mapping[str, Sequence[Cell]]) -> bool:
    """Tell whether what a terminal would show of the rows is empty, as of models that turn nothing."""
    return not any(value for name in ("base", "never_turn", "findings") for value in columns[name])


def _list_failures(good: Sequence[tuple[str, ModelAudit]], level: str | None, is_single: bool) -> list[str]:
    if level is None:
        return []
    return [
        text if is_single else f"{file}: {text}"
        for file, audit in good
        for text in find_failures(audit.findings, level)
    ]


def _describe_file(one: AuditedFile) -> Document:
    audit = one.audit
    stated = audit.configuration if audit is not None else None
    return {
        "file": one.file,
        "format": stated.format if stated is not None else None,
        "model": stated.model if stated is not None else None,
        "scheme": stated.scheme if stated is not None else None,
        "scheme_parameters": simplify(stated.values) if stated is not None else {},
        "dtype": stated.dtype if stated is not None else None,
        "error": one.error or None,
        "layer_types": [_describe_layer(layer) for layer in audit.layers] if audit is not None else [],
        "findings": [describe_finding(finding) for finding in audit.findings] if audit is not None else [],
    }


def _describe_layer(layer: LayerAudit) -> Document:
    rotation = layer.rotation
    spectrum = layer.spectrum
    low_bin = layer.low_bin
    return {
        "name": layer.name,
        "scheme": layer.scheme,
        "head_dim": rotation.head_dim if rotation is not None else None,
        "rotary_dim": rotation.rotary_dim if rotation is not None else None,
        "base": rotation.base if rotation is not None else None,
        "scaling": rotation.scaling if rotation is not None else None,
        "scaling_parameters": _describe_scaling(layer),
        "attention_scaling": rotation.attention_scaling if rotation is not None else None,
        "layout": rotation.layout if rotation is not None else None,
        "original_length": layer.original_length,
        "trained_length": layer.trained_length,
        "served_length": layer.served_length,
        "window": layer.reach,
        "never_turn": layer.never_turn,
        "unseen_pairs": list(layer.unseen),
        "frequencies": _describe_pairs(layer),
        "spectrum": spectrum.summary.to_dict() if spectrum is not None else None,
        "low_bin": _describe_low_bin(low_bin) if low_bin is not None else None,
        "encoding": describe_encoding(layer.encoding) if layer.encoding is not None else None,
        "notes": list(rotation.notes) if rotation is not None else [],
    }


def _describe_scaling(layer: LayerAudit) -> object:
    options = layer.rotation.options if layer.rotation is not None else {}
    return simplify({name: value for name, value in options.items() if name != "share"})


def _describe_pairs(layer: LayerAudit) -> list[Document]:
    frequencies = layer.frequencies
    with np.errstate(divide="ignore", over="ignore"):
        wavelengths = (2 * math.pi / frequencies).tolist()
    trained, served = layer.count_turns(layer.trained_length), layer.count_turns(layer.served_length)
    before = layer.unscaled
    return [
        {
            "pair": pair,
            "frequency_before": float(before[pair]) if before is not None else None,
            "frequency": float(frequency),
            "wavelength": wavelength if math.isfinite(wavelength) else None,
            "turns": float(trained[pair]) if trained is not None else None,
            "turns_served": float(served[pair]) if served is not None else None,
            "state": state or None,
        }
        for pair, (frequency, wavelength, state) in enumerate(zip(frequencies, wavelengths, layer.states, strict=True))
    ]


def _describe_low_bin(count: LowBinCount) -> Document:
    return {
        "length": count.length,
        "bin_edge": count.bin_edge,
        "crossing": count.crossing,
        "inside": count.inside,
        "outside": count.outside,
        "total": count.total,
    }
