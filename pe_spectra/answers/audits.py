"""Audits as an answer: what one configuration really gives in detail, or many side by side."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import Literal

from pe_spectra.answers.answer import Answer, Body
from pe_spectra.answers.audit_words import count_audits, find_gravest, judge_audits, leave_out_folder, list_facts
from pe_spectra.faces import Columns
from pe_spectra.findings import Finding, list_failures
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.model_audit import ModelAudit
from pe_spectra.models.rotation import AuditedPair
from pe_spectra.quantities import list_column_names, quantity, tabulate
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import RANKS, Level
from pe_spectra.wording import join

#: What a terminal shows of several models; all columns in a pipe, in CSV and with --full.
_SHOWN = ("file", "reader", "layer", "base", "scaling", "findings", "level", "never_turn")
#: Of these a narrow terminal shows less.
_NARROW = ("file", "reader", "layer", "findings")
#: What the numbers of a pair are.
_UNITS = (
    "frequency in rad/position, wavelength in positions; turns: periods in the training context length, turns_served "
    "in the inference context length"
)
#: Significant digits of the numbers of a row on a terminal.
_DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class AuditBody(Body):
    """What configurations of models really give, and what is wrong with them."""

    kind = "audit"
    trained: int | None = quantity(
        "Training context length that was given, in positions; null where the file's is used.", minimum=1, asked=True
    )
    served: int | None = quantity(
        "Inference context length that was given, in positions; null where the file's is used.", minimum=1, asked=True
    )
    allocated: int | None = quantity(
        "Allocated context length that was given, in positions; null where none was.", minimum=1, asked=True
    )
    models: tuple[ModelAudit, ...] = quantity(
        "One entry for each file that was named, in that order; with --reader one for each of its readers; empty "
        "where --models-only passed over all of them."
    )


def answer_audits(
    models: Sequence[ModelAudit],
    *,
    trained: int | None = None,
    served: int | None = None,
    allocated: int | None = None,
    fail_on: Level | None = None,
    rows: Literal["layers", "pairs", "all pairs"] = "layers",
    worst_first: bool = False,
    found_below: bool = False,
) -> Answer:
    """Turn audits into an answer.

    Parameters
    ----------
    trained, served, allocated : the lengths that were asked for.
    fail_on : the level from which on findings are not to be.
    rows : one for each layer type of each model, or for each pair of the only model, or for each pair of each
        model with its name.
    found_below : whether the files were found below a folder that was named: a terminal shows their names from there.
    worst_first : whether rows of layer types stand in the order of their levels, in place of that of the files.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> audit = audit_configuration(read_configuration({"model_type": "llama", "head_dim": 4}, "config.json"))
    >>> answer_audits([audit]).verdict.code
    'base-too-small'
    """
    good = [one for one in models if one.error is None]
    is_single = len(models) == len(good) == 1
    facts, details = list_facts(good[0]) if is_single else ([], [])
    layers = [layer for audit in good for layer in audit.layers]
    heads = _choose_heads(layers, named=rows == "all pairs")
    notes = [] if allocated is None else _note_allocated(layers)
    if parts := dict.fromkeys(name for audit in good for name in audit.left_out):
        notes.append(f"{join([*parts])}: not audited, for --reader reads the part for text alone")
    return Answer(
        body=AuditBody(trained=trained, served=served, allocated=allocated, models=tuple(models)),
        verdict=judge_audits(models),
        results=models,
        table={}
        if not models
        else partial(_tabulate_layers, good, worst_first=worst_first)
        if rows == "layers"
        else partial(_tabulate_pairs, good, heads),
        notes=notes,
        total=len(layers) if rows == "layers" else sum(len(layer.frequencies) for layer in layers),
        facts=facts,
        details=(*details, ("columns", _UNITS)) if is_single else (),
        shown=()
        if not models
        else _choose_shown(layers)
        if rows == "layers"
        else (*heads, *(name for name in list_column_names(AuditedPair) if name != "frequency_before")),
        spelled=_spell_files([one.file for one in good]) if found_below else {},
        digits=_DIGITS,
        narrow=_NARROW,
        rows="none" if is_single else "fitting",  # the facts say what a row would
        last="" if is_single or not models else count_audits(models),
        next_command=_suggest(good, is_single=is_single),
        failed=() if fail_on is None else _list_failures(good, fail_on, is_single=is_single),
    )


# --------------------------------------------------------------------- rows


def _tabulate_layers(models: Sequence[ModelAudit], *, worst_first: bool) -> Columns:
    """A row for each layer type of each model."""
    columns: Columns = tabulate(models)
    if (readers := _list_readers([(audit, len(audit.layers)) for audit in models])) is not None:
        columns = {"file": columns["file"], "reader": readers, **columns}
    if not worst_first:
        return columns
    order = sorted(range(len(columns["level"])), key=lambda row: -RANKS[str(columns["level"][row])])
    return {name: [cells[row] for row in order] for name, cells in columns.items()}


def _spell_files(files: Sequence[str]) -> dict[str, str]:
    """Write on a terminal what tells files apart: names below the folder of them all, without config.json."""
    short = leave_out_folder(files)
    return {file: name.removesuffix("/config.json") for file, name in short.items()}


def _list_readers(rows: Sequence[tuple[ModelAudit, int]]) -> list[str] | None:
    """The reader of each row, of audits with so many rows each; None where none was asked for."""
    names = [audit.reader_name for audit, count in rows for _ in range(count)]
    return names if any(names) else None


def _choose_heads(layers: Sequence[LayerAudit], *, named: bool) -> tuple[str, ...]:
    """What stands before a pair: file, model and layer type where `named`; else the type where there are several."""
    if named:
        readers = ("reader",) if any(layer.reader is not None for layer in layers) else ()
        return "file", *readers, "model", "layer"
    return ("layer",) if len({layer.name for layer in layers if len(layer.frequencies)}) > 1 else ()


def _tabulate_pairs(models: Sequence[ModelAudit], heads: Sequence[str]) -> Columns:
    """A row for each pair."""
    layers = [(audit, layer) for audit in models for layer in audit.layers]
    own = [
        {
            "file": a.file,
            "model": a.model,
            "layer": layer.name,
            **({} if a.reader is None else {"reader": a.reader_name}),
        }
        for a, layer in layers
        for _ in layer.pairs
    ]
    pairs = tabulate([pair for _, layer in layers for pair in layer.pairs])
    columns: Columns = {name: [one[name] for one in own] for name in heads}
    return {**columns, **(pairs or dict.fromkeys(list_column_names(AuditedPair), ()))}


def _choose_shown(layers: Sequence[LayerAudit]) -> tuple[str, ...]:
    """Leave out the layer type where every model has one only."""
    left_out = {"layer"} if {layer.name for layer in layers} == {"all"} else set()
    left_out |= {"reader"} if all(layer.reader is None for layer in layers) else set()
    return tuple(name for name in _SHOWN if name not in left_out)


def _list_failures(models: Sequence[ModelAudit], level: Level, *, is_single: bool) -> tuple[str, ...]:
    found = [(audit.title, text) for audit in models for text in list_failures(audit.findings, level)]
    return tuple(dict.fromkeys(text if is_single else f"{file}: {text}" for file, text in found))


# --------------------------------------------------------------------- what to try next


def _suggest(models: Sequence[ModelAudit], *, is_single: bool) -> str:
    """The context command for out-of-range phases of the one model, else the reasoning behind the gravest finding.

    Where nothing is wrong, how all implementations read the file; empty where none fits.
    """
    if not models:
        return ""
    gravest = find_gravest([finding for audit in models for finding in audit.findings])
    audit = models[0]
    if gravest is not None:
        lengthening = _lengthen(audit, gravest) if is_single and gravest.code == "unseen-phases" else ""
        return lengthening or f"pe-spectra audit --explain {gravest.code}"
    is_plain = is_single and not audit.file.startswith("-") and audit.file.isprintable() and " " not in audit.file
    is_turned = any(layer.rotation is not None for layer in audit.layers)
    return f"pe-spectra diff {shlex.quote(audit.file)} --all-stacks" if is_plain and is_turned else ""


def _note_allocated(layers: Sequence[LayerAudit]) -> list[str]:
    """Say where no implementation goes by the length that is allocated."""
    from pe_spectra.models.checks.about_allocations import goes_by_allocation
    from pe_spectra.models.stacks.allocation import say_unused

    return [] if any(map(goes_by_allocation, layers)) else [say_unused("implementation")]


def _lengthen(audit: ModelAudit, finding: Finding) -> str:
    """The command about the lengths of the layers that a finding is about; empty where it would refuse them."""
    named = finding.data.get("layer_type")
    layer = next((one for one in audit.layers if one.unseen and named in (None, one.name)), None)
    if layer is None or layer.rotary_dim is None or layer.base is None:
        return ""
    from pe_spectra.models.lengths.starting import BASES, LENGTHS, WIDTHS

    trained, target = layer.limit(layer.original_length or 0), layer.limit(layer.served_length or 0)
    is_taken = WIDTHS[0] <= layer.rotary_dim <= WIDTHS[1] and BASES[0] <= layer.base <= BASES[1]
    if not is_taken or not LENGTHS[0] <= trained < target <= LENGTHS[1]:
        return ""
    base = repr(float(layer.base)).removesuffix(".0")
    return f"pe-spectra context --d {layer.rotary_dim} --base {base} --trained {trained} --target {target}"
