"""Findings about the keys of a file: what is missing, contradictory, or read by one release only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pe_spectra.findings import Finding, Kind
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.dumps.rounding import FLOAT32_ARITHMETIC
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stacks.description import choose_block
from pe_spectra.models.stated.key_names import KEY_NOT_READ
from pe_spectra.models.stated.known_models import find_known
from pe_spectra.models.stated.layer_types import WITH_WINDOW
from pe_spectra.models.stated.statement import (
    DEFAULT_BASE,
    PENG,
    SU,
    TRANSFORMERS,
    Configuration,
    LayerStatement,
    RotaryBlock,
)
from pe_spectra.models.wording import write_number
from pe_spectra.vocabulary import Level

#: Models of this context and below were trained with base 10000 before files named the base.
_LENGTH_OF_DEFAULT = 8192
#: The same for models that were scaled afterwards; llama3 scaling is younger than all of them.
_LENGTH_BEFORE_SCALING = 4096
_LENGTHENING = ("linear", "ntk", "dynamic", "yarn", "llama3", "longrope")
#: Models that were trained with it at a longer one, and whose published files leave it out.
_TRAINED_WITH_DEFAULT = ("minicpm3",)
_OTHER_RELEASE = "transformers-4"
#: Parameters of the catalogue by the words of a sentence.
_OPTIONS = {"original": "original length", "served": "served length"}
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
KEYS_CONTRADICT = Kind(
    code="keys-contradict",
    levels=("error",),
    phrase="the two generations of keys contradict each other",
    reasoning="transformers 5 keeps the rotation in rope_parameters, older releases in rope_theta and rope_scaling. A "
    "file that holds both, of which one was edited, gives each reader another model. So does a share of the head that "
    "stands in rope_parameters and beside it: transformers 5 reads the one inside.",
    formula="rope_theta, rope_type, partial_rotary_factor or a parameter of the scaling is given by both generations "
    "with other values",
    references=(TRANSFORMERS,),
)
NEWER_KEYS_ONLY = Kind(
    code="newer-keys-only",
    levels=("note",),
    phrase="the rotation is stated in the newer keys only",
    reasoning="Releases before transformers 5, and other readers of the older keys, do not know rope_parameters: they "
    "take base 10000 and no scaling without a word. For a model of base 500000 the perplexity rises by orders of "
    "magnitude. Nothing is wrong with the file for readers of today.",
    formula="rope_parameters without rope_theta and rope_scaling, where the older reading gives other frequencies",
    references=(TRANSFORMERS,),
)
RELEASES_DIFFER = Kind(
    code="releases-differ",
    levels=("note",),
    phrase="transformers 4 makes other frequencies of the same keys",
    reasoning="Two releases of one library can make other frequencies of the same keys, for instance because the older "
    "one does not know truncate, or places a ramp by another length. The answer is that of the newest major release.",
    formula="some frequency or the attention factor differs by more than 2e-6 between transformers 5.23.0 and 4.57.6",
    references=(TRANSFORMERS,),
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
OLDER_NAME = Kind(
    code="older-name",
    levels=("note", "error"),
    phrase="the scaling has a name that is no longer read",
    reasoning="Early files of Phi-3 call LongRoPE su. Newer releases read longrope, and some refuse the older name.",
    formula="rope_type or type is su",
    references=(TRANSFORMERS,),
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
    message = f"no key gives the base, so {_write(rotation.base)} is taken in silence, {whose}{reach}; "
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


def _check_generations(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare what the two generations of keys say, and what an older release makes of the file."""
    statement = layer.statement
    if statement is None or configuration.format != "config.json" or layer.rotation is None:
        return
    newer, older = statement.newer, statement.older
    different = _compare_blocks(newer, older) if newer is not None and older is not None else {}
    if newer is not None and statement.share_beside not in (None, statement.share):
        different["partial_rotary_factor"] = (statement.share, statement.share_beside)
    if newer is not None and different:
        yield _report_contradiction(configuration, layer, statement, different)
        return
    if newer is not None and older is None:
        yield from _report_newer_only(configuration, layer, newer)
    elif older is not None:
        yield from _report_releases(configuration, layer)


def _compare_blocks(newer: RotaryBlock, older: RotaryBlock) -> dict[str, tuple[object, object]]:
    different: dict[str, tuple[object, object]] = {}
    if newer.base is not None and older.base is not None and newer.base != older.base:
        different["rope_theta"] = (newer.base, older.base)
    stated = older.where == "rope_scaling" and (older.kind != "default" or bool(older.values))
    if stated or newer.kind == "default":
        if newer.kind != older.kind and not (newer.kind == "default" and not stated):
            different["rope_type"] = (newer.kind, older.kind)
        for key in {*newer.values, *older.values}:
            pair = newer.values.get(key), older.values.get(key)
            if stated and pair[0] != pair[1] and None not in pair:
                different[key] = pair
    return different


def _report_contradiction(
    configuration: Configuration,
    layer: LayerAudit,
    statement: LayerStatement,
    different: Mapping[str, tuple[object, object]],
) -> Finding:
    newer, older = statement.newer, statement.older
    where = newer.where if newer is not None else "rope_parameters"
    parts = [f"{key} {_write(a)} in {where} and {_write(b)} in the older keys" for key, (a, b) in different.items()]
    other = _read_older_release(configuration, layer)
    used = choose_block(statement)[0]
    beside = [key for key in different if key in ("rope_theta", "partial_rotary_factor")]
    inside = [older.where] if older is not None and older.where and len(beside) < len(different) else []
    stale = [where] if older is not None and used is older else [*beside, *inside]
    taken, old = _describe(layer.rotation), _describe(other) if other is not None else ""
    message = f"the two generations of keys contradict each other: {'; '.join(parts)}; "
    message += f"transformers 5 and 4 take {taken}" if old == taken else f"transformers 5 takes {taken}"
    message += f", transformers 4 takes {old}" if old not in ("", taken) else ""
    message += f"; delete the stale {', '.join(stale)}"
    message += "" if used is older and older is not None else f" outside of {where}"
    data = {key: list(pair) for key, pair in different.items()}
    return layer.find(KEYS_CONTRADICT, message, different=data, stale=stale)


def _describe(rotation: Rotation | None) -> str:
    """What a release takes, in the numbers that a reader can find in the file."""
    if rotation is None:
        return "nothing of it"
    words = [f"base {_write(rotation.base)}"]
    if rotation.scaling in (None, "none"):
        words.append("no scaling")
    else:
        factor = rotation.options.get("factor")
        words.append(f"{rotation.scaling} scaling" + (f" of factor {_write(factor)}" if factor is not None else ""))
    if rotation.rotary_dim != rotation.head_dim:
        words.append(f"{rotation.rotary_dim} of {rotation.head_dim} channels")
    return " with ".join((words[0], ", ".join(words[1:])))


def _write(value: object) -> str:
    if value is None:
        return "not set"
    return write_number(value) if isinstance(value, float) else str(value)


def _report_newer_only(configuration: Configuration, layer: LayerAudit, newer: RotaryBlock) -> Iterator[Finding]:
    other = _read_older_release(configuration, layer)
    if other is None or layer.rotation is None or _agree(layer.rotation, other):
        return
    message = (
        f"the rotation is stated in {newer.where} only, which releases before transformers 5 do not read: without a "
        f"word they take {_describe(other)}; add rope_theta and rope_scaling for them"
    )
    yield layer.find(NEWER_KEYS_ONLY, message, base=layer.rotation.base, base_of_older_readers=other.base)


def _report_releases(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    other = _read_older_release(configuration, layer)
    if other is None or layer.rotation is None or _agree(layer.rotation, other):
        return
    why = f" ({'; '.join(other.notes)})" if other.notes else ""
    message = f"{STACKS[_OTHER_RELEASE].title} reads this file otherwise: {_tell_apart(layer.rotation, other)}{why}"
    yield layer.find(RELEASES_DIFFER, message, other=STACKS[_OTHER_RELEASE].title)


def _read_older_release(configuration: Configuration, layer: LayerAudit) -> Rotation | None:
    if layer.statement is None:
        return None
    found = STACKS[_OTHER_RELEASE].read(configuration, layer.statement, layer.served_length)
    return found if isinstance(found, Rotation) else None


def _agree(a: Rotation, b: Rotation) -> bool:
    if a.frequencies is None or b.frequencies is None or a.frequencies.shape != b.frequencies.shape:
        return False
    near = np.allclose(a.frequencies, b.frequencies, rtol=FLOAT32_ARITHMETIC, atol=0)
    return near and abs((a.attention_scaling or 1) - (b.attention_scaling or 1)) <= FLOAT32_ARITHMETIC


def _tell_apart(a: Rotation, b: Rotation) -> str:
    """Say which parts the other release reads otherwise; where none is named so, how far frequencies are apart."""
    words = []
    for name, mine, its in _list_parts(a, b):
        if mine != its:
            words.append(f"{name} {_write(its)}, not {_write(mine)}")
    if words:
        return ", ".join(words)
    if a.frequencies is None or b.frequencies is None or a.frequencies.shape != b.frequencies.shape:
        return "another number of pairs"
    apart = np.abs(b.frequencies - a.frequencies) > FLOAT32_ARITHMETIC * a.frequencies
    return f"{int(np.count_nonzero(apart))} of {len(apart)} frequencies are others"


def _list_parts(a: Rotation, b: Rotation) -> Iterator[tuple[str, object, object]]:
    yield "base", a.base, b.base
    yield "scaling", a.scaling, b.scaling
    yield "rotary width", a.rotary_dim, b.rotary_dim
    if a.scaling == b.scaling:
        for name in sorted({*a.options, *b.options} - {"share", "attention_factor"}):
            if not isinstance(a.options.get(name), tuple) and not isinstance(b.options.get(name), tuple):
                yield _OPTIONS.get(name, name), a.options.get(name), b.options.get(name)
    near = abs((a.attention_scaling or 1) - (b.attention_scaling or 1)) <= FLOAT32_ARITHMETIC
    if not near:
        yield "attention factor", a.attention_scaling, b.attention_scaling


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


def _check_older_names(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Say where a scaling has a name that newer releases no longer know."""
    block = layer.block
    if block is not None and block.kind == "su" and layer.encoding is not None and configuration.model != "phi3":
        message = f"{block.where}: su is the older name of longrope, which transformers 5 may refuse; write longrope"
        yield layer.find(OLDER_NAME, message, rope_type=block.kind)


#: In the order in which their findings are listed.
CHECKS = (_check_base, _check_generations, _check_original, _check_share, _check_older_names)
