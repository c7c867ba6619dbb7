"""Findings about the keys of a file: what is missing, contradictory, or read by one release only."""

from __future__ import annotations

from collections.abc import Iterator

from pe_spectra.findings import Finding, Kind
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.checks.about_releases import check_releases
from pe_spectra.models.stated.key_names import KEY_NOT_READ
from pe_spectra.models.stated.known_models import find_known
from pe_spectra.models.stated.layer_types import WITH_WINDOW
from pe_spectra.models.stated.statement import (
    DEFAULT_BASE,
    PENG,
    SU,
    TRANSFORMERS,
    Configuration,
)
from pe_spectra.vocabulary import Level
from pe_spectra.wording import write_number

#: Models of this context and below were trained with base 10000 before files named the base.
_LENGTH_OF_DEFAULT = 8192
#: The same for models that were scaled afterwards; llama3 scaling is younger than all of them.
_LENGTH_BEFORE_SCALING = 4096
_LENGTHENING = ("linear", "ntk", "dynamic", "yarn", "llama3", "longrope")
#: Models that were trained with it at a longer one, and whose published files leave it out.
_TRAINED_WITH_DEFAULT = ("minicpm3",)
BASE_DEFAULTED = Kind(
    code="base-defaulted",
    levels=("warning", "note"),
    phrase="no key gives the base",
    reasoning="Where no key gives the base, readers take 10000 without a word. That is right for early models and "
    "wrong for nearly all of those with a long context: the base decides the frequency of every pair but the first.",
    formula="a warning where the default is 10000 and the length is above 8,192, or before a scaling above 4,096, or "
    "the scaling is llama3, which no model with this base has; else a note",
    references=(SU, TRANSFORMERS),
)
ORIGINAL_LENGTH_MISSING = Kind(
    code="original-length-missing",
    levels=("warning",),
    phrase="the length before scaling is not stated",
    reasoning="The scaling compares wavelengths with the length that the model was trained at before its context was "
    "lengthened. Without it, max_position_embeddings is taken, which usually is the lengthened one, and the wrong "
    "pairs are scaled.",
    formula="original_max_position_embeddings is absent for yarn, llama3 or longrope",
    references=(PENG, TRANSFORMERS),
)


def _check_base(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Say where no key gives the base, and what is taken in silence."""
    statement, rotation = layer.statement, layer.rotation
    if statement is None or rotation is None:
        return
    if any(block is not None and block.base is not None for block in (statement.newer, statement.older)):
        return
    if any(finding.code == "key-not-read" and "rope_theta" in finding.message for finding in configuration.findings):
        return  # that finding says which base is taken, and from what
    length = _find_length_before(configuration, layer)
    stated = layer.limit(length) if length is not None else None
    known = statement.default_base != DEFAULT_BASE or _has_local_base(configuration, layer)
    meant = known or configuration.model in _TRAINED_WITH_DEFAULT
    level: Level = "warning" if not meant and _is_beyond_default(stated, rotation.scaling) else "note"
    whose = f"the default of {configuration.model}" if known else "the default"
    reach = f", for a context of {stated:,}" if stated is not None else ""
    reach += f" before {rotation.scaling} scaling" if stated is not None and rotation.scaling in _LENGTHENING else ""
    taken = "none" if rotation.base is None else write_number(rotation.base)
    message = f"no key gives the base, so {taken} is taken in silence, {whose}{reach}; "
    yield layer.find(
        BASE_DEFAULTED,
        f"{message}state {_name_base_key(configuration, layer)}",
        level=level,
        base=rotation.base,
        stated_length=stated,
    )


def _is_beyond_default(length: int | None, scaling: str | None) -> bool:
    """Whether no model of this length before this scaling is known to have been trained with base 10000 unsaid."""
    if scaling == "llama3":
        return True
    longest = _LENGTH_BEFORE_SCALING if scaling in _LENGTHENING else _LENGTH_OF_DEFAULT
    return length is not None and length > longest


def _find_length_before(configuration: Configuration, layer: LayerAudit) -> int | None:
    """The length that the base was chosen for: what is stated, less what a scaling reaches beyond the training."""
    block, length = layer.block, configuration.length
    if block is None or length is None or block.kind == "default":
        return length
    original = block.find("original_max_position_embeddings")
    if original is None and block.kind == "linear":
        original = length / max(1.0, block.find("factor") or 1.0)
    return length if original is None else min(length, int(original))


def _has_local_base(configuration: Configuration, layer: LayerAudit) -> bool:
    """Whether the class of the model has a base of its own for layers of this type."""
    known = find_known(configuration.model)
    return known is not None and known.local_base is not None and layer.name in WITH_WINDOW


def _name_base_key(configuration: Configuration, layer: LayerAudit) -> str:
    statement = layer.statement
    if configuration.format == "gguf" and statement is not None and statement.older is not None:
        return f"{statement.older.where}.freq_base"
    known = find_known(configuration.model) if configuration.format == "config.json" else None
    if known is None:
        return "rope_theta"
    if known.local_base is not None and layer.name in WITH_WINDOW:
        return known.local_key or f"rope_parameters.{layer.name}.rope_theta"
    return known.base_key or "rope_theta"


def _check_original(_: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Say where a scaling must guess the length that the model was trained at before."""
    block = layer.block
    if block is None or layer.rotation is None or block.kind not in ("yarn", "llama3", "longrope", "su"):
        return
    if "original_max_position_embeddings" in block.values:
        return
    taken = layer.rotation.options.get("original")
    message = (
        f"{block.where} has no original_max_position_embeddings, so max_position_embeddings {taken} is taken for the "
        f"length before {block.kind} scaling; state it"
    )
    yield layer.find(ORIGINAL_LENGTH_MISSING, message, taken=taken, scaling=block.kind)


def _check_share(_: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Say where transformers 5 does not read the share of a head that is to be turned."""
    statement, rotation = layer.statement, layer.rotation
    if statement is None or rotation is None or not statement.share_ignored:
        return
    if statement.share == 1 or rotation.rotary_dim != statement.head_dim:
        return
    message = (
        f"a share of {write_number(statement.share)} of each head is stated, but the class of this model turns all "
        f"{statement.head_dim} channels of a ladder without scaling; transformers 4 turns the share"
    )
    yield layer.find(KEY_NOT_READ, message, share=statement.share)


#: In the order in which their findings are listed.
CHECKS = (_check_base, check_releases, _check_original, _check_share)
