"""Audits as an answer: what one configuration really gives in detail, or many side by side."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pe_spectra.answers.answer import Answer, Body
from pe_spectra.answers.audit_words import find_gravest, judge_many, judge_one, list_facts
from pe_spectra.errors import shorten
from pe_spectra.faces import Cell
from pe_spectra.findings import Finding, list_failures
from pe_spectra.models.audit import ModelAudit
from pe_spectra.models.audited_pairs import AuditedPair
from pe_spectra.quantities import Result, list_column_names, quantity, tabulate
from pe_spectra.vocabulary import RANKS, Level

#: What a terminal shows of several models; all columns in a pipe, in CSV and with --full.
_SHOWN = ("file", "layer", "base", "never_turn", "level", "findings")
#: Of these a narrow terminal shows less.
_NARROW = ("file", "layer", "findings")
#: What the numbers of a pair are.
_UNITS = (
    "frequency in rad/position, wavelength in positions; turns: periods in the training context length, turns_served "
    "in the inference context length"
)
#: Significant digits of the numbers of a row on a terminal.
_DIGITS = 4
#: Types of layers that a title names.
_ENTITLED = 3
#: What the command `context` takes: widths, bases and lengths; a test holds them against it.
WIDTHS, BASES, LENGTHS = (4, 1 << 14), (2.0, 1e18), (8, 1 << 30)


@dataclass(frozen=True, kw_only=True)
class AuditParameters(Result):
    """What was asked."""

    trained: int | None = quantity(
        "Training context length that was given, in positions; null where the file's is used.", minimum=1
    )
    served: int | None = quantity(
        "Inference context length that was given, in positions; null where the file's is used.", minimum=1
    )


@dataclass(frozen=True, kw_only=True)
class AuditBody(Body):
    """What configurations of models really give, and what is wrong with them."""

    kind = "audit"
    parameters: AuditParameters = quantity("What was asked.")
    models: tuple[ModelAudit, ...] = quantity("One entry for each file that was named, in that order.", least=1)


def answer_audits(
    models: Sequence[ModelAudit],
    *,
    trained: int | None = None,
    served: int | None = None,
    fail_on: Level | None = None,
    rows: Literal["layers", "pairs", "all pairs"] = "layers",
    worst_first: bool = False,
) -> Answer:
    """Turn audits into an answer.

    Parameters
    ----------
    models : one of them at least can be used.
    trained, served : the lengths that were asked for.
    fail_on : the level from which on findings are not to be.
    rows : one for each layer type of each model, or for each pair of the only model, or for each pair of each
        model with its name.
    worst_first : whether rows of layer types stand in the order of their levels, in place of that of the files.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> audit = audit_configuration(read_configuration({"model_type": "llama", "head_dim": 4}, "config.json"))
    >>> answer_audits([audit]).verdict.code
    'base-too-small'
    """
    good = [one for one in models if one.error is None]
    is_single = len(models) == 1
    columns = tabulate(good) if rows == "layers" else _tabulate_pairs(good, named=rows == "all pairs")
    if rows == "layers" and worst_first:
        order = sorted(range(len(columns["level"])), key=lambda row: -RANKS[str(columns["level"][row])])
        columns = {name: [cells[row] for row in order] for name, cells in columns.items()}
    units = (("columns", _UNITS),) if rows == "pairs" else ()
    return Answer(
        body=AuditBody(parameters=AuditParameters(trained=trained, served=served), models=tuple(models)),
        verdict=judge_one(good[0]) if is_single else judge_many(models),
        results=models,
        columns=columns,
        facts=(*list_facts(good[0]), *units) if is_single else (),
        shown=_choose_shown(columns) if rows == "layers" else tuple(n for n in columns if n != "frequency_before"),
        digits=_DIGITS,
        narrow=_NARROW,
        brief=0 if is_single and rows == "layers" and _says_nothing(columns) else None,
        next_command=suggest_next(good, is_single=is_single),
        failed=_list_failures(good, fail_on, is_single=is_single),
    )


def entitle_audit(audit: ModelAudit) -> str:
    """Say what a figure of an audit shows; its layers turn, some of them at least.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> keys = {"model_type": "llama", "head_dim": 128, "rope_theta": 1e4, "max_position_embeddings": 4096}
    >>> entitle_audit(audit_configuration(read_configuration(keys, "config.json")))
    'llama: 18 of 64 pairs never complete a period within 4,096 positions'
    """
    layers = [layer for layer in audit.layers if layer.pairs]
    model = shorten(audit.model or audit.file, 30)
    known = [layer for layer in layers if layer.never_turn is not None and layer.trained_length is not None]
    if not known:
        return f"{model}: wavelengths of {len(layers[0].pairs)} rotary pairs"
    parts = [
        f"{layer.never_turn} of {len(layer.pairs)} pairs"
        + (f" in {shorten(layer.name, 24)} layers" if layers[1:] else "")
        for layer in known[:_ENTITLED]
    ]
    lengths = list(dict.fromkeys(f"{layer.limit(layer.trained_length or 0):,}" for layer in known[:_ENTITLED]))
    text = f"{model}: {' and '.join(parts)} never complete a period within {' and '.join(lengths)} positions"
    unseen = max(known, key=lambda layer: len(layer.unseen))
    if not unseen.unseen or unseen.served_length is None:
        return text
    return f"{text}; at {unseen.limit(unseen.served_length):,}, {len(unseen.unseen)} see out-of-range phases"


# --------------------------------------------------------------------- rows


def _tabulate_pairs(models: Sequence[ModelAudit], *, named: bool) -> dict[str, Sequence[Cell]]:
    """A row for each pair, with file, model and layer type where `named`; else the type where there are several."""
    layers = [(audit, layer) for audit in models for layer in audit.layers]
    several = len({layer.name for _, layer in layers if layer.pairs}) > 1
    heads = ("file", "model", "layer") if named else ("layer",) if several else ()
    columns: dict[str, list[Cell]] = {name: [] for name in (*heads, *list_column_names(AuditedPair))}
    for audit, layer in layers:
        own = {"file": audit.file, "model": audit.model, "layer": layer.name}
        for name, cells in tabulate(layer.pairs).items():
            columns[name] += cells
        for name in heads:
            columns[name] += [own[name]] * len(layer.pairs)
    return dict(columns)


def _choose_shown(columns: Mapping[str, Sequence[Cell]]) -> tuple[str, ...]:
    """Leave out the layer type where every model has one only."""
    return tuple(name for name in _SHOWN if name != "layer" or set(columns["layer"]) != {"all"})


def _says_nothing(columns: Mapping[str, Sequence[Cell]]) -> bool:
    """Whether what a terminal would show of the rows is empty, as of models that turn nothing."""
    return not any(value for name in ("base", "never_turn", "findings") for value in columns[name])


def _list_failures(models: Sequence[ModelAudit], level: Level | None, *, is_single: bool) -> tuple[str, ...]:
    if level is None:
        return ()
    found = [(audit.file, text) for audit in models for text in list_failures(audit.findings, level)]
    return tuple(dict.fromkeys(text if is_single else f"{file}: {text}" for file, text in found))


# --------------------------------------------------------------------- what to try next


def suggest_next(models: Sequence[ModelAudit], *, is_single: bool) -> str:
    """Return the command to try after an audit, which runs as it is printed; empty where none fits.

    That is the context command for pairs with out-of-range phases of one model, else the reasoning behind the
    gravest finding, else how all implementations read the file, where it has a rotation. `is_single` says whether one
    file only was named.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> keys = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 2048}
    >>> stated = read_configuration(keys, "config.json")
    >>> suggest_next([audit_configuration(stated)], is_single=True)
    'pe-spectra diff config.json --all-stacks'
    >>> suggest_next([audit_configuration(stated, served=4096)], is_single=True)
    'pe-spectra context --d 64 --base 10000 --trained 2048 --target 4096'
    """
    gravest = find_gravest([finding for audit in models for finding in audit.findings])
    audit = models[0]
    if gravest is not None:
        lengthening = _lengthen(audit, gravest) if is_single and gravest.code == "unseen-phases" else ""
        return lengthening or f"pe-spectra audit --explain {gravest.code}"
    is_plain = is_single and not audit.file.startswith("-") and audit.file.isprintable() and " " not in audit.file
    is_turned = any(layer.rotation is not None for layer in audit.layers)
    return f"pe-spectra diff {shlex.quote(audit.file)} --all-stacks" if is_plain and is_turned else ""


def _lengthen(audit: ModelAudit, finding: Finding) -> str:
    """The command about the lengths of the layers that a finding is about; empty where it would refuse them."""
    named = finding.data.get("layer_type")
    layer = next((one for one in audit.layers if one.unseen and named in (None, one.name)), None)
    if layer is None or layer.rotary_dim is None or layer.base is None:
        return ""
    trained, target = layer.limit(layer.original_length or 0), layer.limit(layer.served_length or 0)
    is_taken = WIDTHS[0] <= layer.rotary_dim <= WIDTHS[1] and BASES[0] <= layer.base <= BASES[1]
    if not is_taken or not LENGTHS[0] <= trained < target <= LENGTHS[1]:
        return ""
    base = repr(float(layer.base)).removesuffix(".0")
    return f"pe-spectra context --d {layer.rotary_dim} --base {base} --trained {trained} --target {target}"
