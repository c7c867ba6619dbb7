"""Findings about the keys of a file: what is missing, contradictory, or read by one release only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pe_spectra.findings import Finding, Kind
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.rotation import FLOAT32_ARITHMETIC, Rotation
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stacks.description import choose_block
from pe_spectra.models.stated.keys import KEY_NOT_READ
from pe_spectra.models.stated.known_models import find_known
from pe_spectra.models.stated.statement import (
    DEFAULT_BASE,
    NEWEST,
    OLDER,
    ORIGINAL,
    PENG,
    SU,
    TRANSFORMERS,
    WITH_ORIGINAL,
    WITH_WINDOW,
    LayerStatement,
    RotaryBlock,
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
#: The release whose reading is compared with the answer.
_OTHER = STACKS["transformers-4"]
#: Parameters of the catalogue by the words of a sentence.
_OPTIONS = {"original": "original length", "served": "served length"}
_BASE_DEFAULTED = Kind(
    code="base-defaulted",
    levels=("warning", "note"),
    phrase="no key gives the base",
    reasoning="Where no key gives the base, readers take 10000 without a word. That is right for early models and "
    "wrong for nearly all of those with a long context: the base decides the frequency of every pair but the first.",
    formula=f"a warning where the default is {DEFAULT_BASE:g} and the length is above {_LENGTH_OF_DEFAULT:,}, or "
    f"before a scaling above {_LENGTH_BEFORE_SCALING:,}, or the scaling is llama3, which no model with this base has; "
    "else a note",
    references=(SU, TRANSFORMERS),
)
_ORIGINAL_LENGTH_MISSING = Kind(
    code="original-length-missing",
    levels=("warning",),
    phrase="the length before scaling is not stated",
    reasoning="The scaling compares wavelengths with the length that the model was trained at before its context was "
    "lengthened. Without it, max_position_embeddings is taken, which usually is the lengthened one, and the wrong "
    "pairs are scaled.",
    formula="original_max_position_embeddings is absent for yarn, llama3 or longrope",
    references=(PENG, TRANSFORMERS),
)
_KEYS_CONTRADICT = Kind(
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
_NEWER_KEYS_ONLY = Kind(
    code="newer-keys-only",
    levels=("note",),
    phrase="the rotation is stated in the newer keys only",
    reasoning="Releases before transformers 5, and other readers of the older keys, do not know rope_parameters: they "
    "take base 10000 and no scaling without a word. For a model of base 500000 the perplexity rises by orders of "
    "magnitude. Nothing is wrong with the file for readers of today.",
    formula="rope_parameters without rope_theta and rope_scaling, where the older reading gives other frequencies",
    references=(TRANSFORMERS,),
)
_RELEASES_DIFFER = Kind(
    code="releases-differ",
    levels=("note",),
    phrase="transformers 4 makes other frequencies of the same keys",
    reasoning="Two releases of one library can make other frequencies of the same keys, for instance because the older "
    "one does not know truncate, or places a ramp by another length. The answer is that of the newest major release.",
    formula="some frequency or the attention factor differs by more than 2e-6 between "
    f"transformers {NEWEST} and {OLDER}",
    references=(TRANSFORMERS,),
)
_READER_DIFFERS = Kind(
    code="reader-differs",
    levels=("warning",),
    phrase="the reader makes other frequencies of the file",
    reasoning="A file is made for one library. A reader that does not know a key of it, or computes a scaling "
    "otherwise, turns by other angles without a word. It is told where --reader is given.",
    formula="some frequency or the attention factor differs by more than 2e-6 between the reader and the library that "
    "the file is made for",
    references=("what was read or measured of each implementation, as `stacks` lists it",),
)


def _check_base(layer: LayerAudit) -> Iterator[Finding]:
    """Say where no key gives the base, and what is silently assumed."""
    statement, configuration = layer.statement, layer.configuration
    if layer.rotation is None:
        return
    if any(block is not None and block.base is not None for block in (statement.newer, statement.older)):
        return
    if any(finding.code == "key-not-read" and "rope_theta" in finding.message for finding in configuration.findings):
        return  # that finding says which base is taken, and from what
    before, length = layer.scaling in _LENGTHENING, _find_length_before(layer)
    known = find_known(configuration.model, configuration.release)
    has_own = known.local_base is not None and layer.name in WITH_WINDOW
    is_own = has_own or statement.default_base != DEFAULT_BASE
    longest = _LENGTH_BEFORE_SCALING if before else _LENGTH_OF_DEFAULT
    is_meant = is_own or configuration.model in _TRAINED_WITH_DEFAULT
    is_beyond = layer.scaling == "llama3" or (length is not None and length > longest)
    whose = f"the default of {configuration.model}" if is_own else "the default"
    seen = "window" if length is not None and length == layer.reach else "context"
    reach = f", for a {seen} of {length:,}" if length is not None else ""
    reach += f" before {layer.scaling} scaling" if length is not None and before else ""
    if configuration.format == "gguf" and statement.older is not None:
        key = f"{statement.older.where}.freq_base"
    elif configuration.format != "config.json" or not known.is_known:
        key = "rope_theta"
    elif has_own or (known.is_layered and layer.name in WITH_WINDOW):  # a base on top is not theirs
        key = known.local_key or f"rope_parameters.{layer.name}.rope_theta"
    else:
        key = known.base_key or "rope_theta"
    message = f"no key gives the base, so {_write(layer.base)} is silently assumed, {whose}{reach}; state {key}"
    level: Level = "warning" if is_beyond and not is_meant else "note"
    yield layer.find(_BASE_DEFAULTED, message, level=level, base=layer.base, stated_length=length)


def _find_length_before(layer: LayerAudit) -> int | None:
    """The length that the base was chosen for: what is stated, less what a scaling reaches beyond the training."""
    block, length = layer.block, layer.configuration.length
    if length is None:
        return None
    if block.kind != "default":
        original = block.find(ORIGINAL)
        if original is None and block.kind == "linear":
            original = length / max(1.0, block.find("factor") or 1.0)
        length = length if original is None else min(length, int(original))
    return layer.limit(length)


def _check_original(layer: LayerAudit) -> Iterator[Finding]:
    """Say where a scaling must guess the length that the model was trained at before."""
    block = layer.block
    if layer.rotation is None or block.kind not in (*WITH_ORIGINAL, "su"):
        return
    if ORIGINAL in block.values:
        return
    taken = layer.scaling_parameters.get("original")
    message = (
        f"{block.where} has no original_max_position_embeddings, so max_position_embeddings {taken} is taken for the "
        f"length before {block.kind} scaling; state it"
    )
    yield layer.find(_ORIGINAL_LENGTH_MISSING, message, taken=taken, scaling=block.kind)


def _check_share(layer: LayerAudit) -> Iterator[Finding]:
    """Say where transformers 5 does not read the share of a head that is to be turned."""
    statement = layer.statement
    is_narrow = layer.rotary_dim != statement.head_dim or layer.scaling != "none"
    if not statement.share_ignored or statement.share == 1 or is_narrow:
        return
    message = (
        f"a share of {write_number(statement.share)} of each head is stated, but the class of this model turns all "
        f"{statement.head_dim} channels of a ladder without scaling; transformers 4 turns the share"
    )
    yield layer.find(KEY_NOT_READ, message, share=statement.share)


def _check_releases(layer: LayerAudit) -> Iterator[Finding]:
    """Compare what the two generations of keys say, and what an older release makes of the file."""
    statement, rotation = layer.statement, layer.rotation
    if layer.reader is not None:
        yield from _check_reader(layer)
        return
    newer, older = statement.newer, statement.older
    is_silent = newer is None and older is None
    if layer.configuration.format != "config.json" or rotation is None or is_silent:
        return
    found = _OTHER.read(layer.configuration, statement, layer.served_length)
    other = found if isinstance(found, Rotation) else None
    different = {} if newer is None else _compare_generations(statement, newer)
    if newer is not None and different:
        message, stale = _tell_contradiction(statement, newer, different, rotation, other)
        data = {key: list(pair) for key, pair in different.items()}
        yield layer.find(_KEYS_CONTRADICT, message, different=data, stale=stale)
    elif other is None or _agree(rotation, other):
        return
    elif newer is not None and older is None:
        message = (
            f"the rotation is stated in {newer.where} only, which releases before transformers 5 do not read: without "
            f"a word they take {_describe(other)}; add rope_theta and rope_scaling for them"
        )
        yield layer.find(_NEWER_KEYS_ONLY, message, base=rotation.base, base_of_older_readers=other.base)
    else:
        why = f" ({'; '.join(other.notes)})" if other.notes else ""
        message = f"{_OTHER.title} reads this file otherwise: {_tell_apart(rotation, other)}{why}"
        yield layer.find(_RELEASES_DIFFER, message, other=_OTHER.title)


def _check_reader(layer: LayerAudit) -> Iterator[Finding]:
    """Compare what the reader that was asked for makes of the file with the library that the file is made for."""
    rotation, expected = layer.rotation, layer.expected
    if rotation is None or expected is None or _agree(expected, rotation):
        return
    why = f" ({'; '.join(rotation.notes)})" if rotation.notes else ""
    message = f"other frequencies than in the library that the file is made for: {_tell_apart(expected, rotation)}{why}"
    yield layer.find(_READER_DIFFERS, message, base=rotation.base, base_expected=expected.base)


def _compare_generations(statement: LayerStatement, newer: RotaryBlock) -> dict[str, tuple[object, object]]:
    """What both generations of keys give, with other values: by key, the newer value and the older one."""
    older = statement.older
    pairs: dict[str, tuple[object, object]] = {}
    if older is not None:
        pairs["rope_theta"] = newer.base, older.base
        if older.where == "rope_scaling" and (older.kind != "default" or older.values):
            pairs["rope_type"] = newer.kind, older.kind
            pairs |= {key: (value, older.values.get(key)) for key, value in newer.values.items()}
    pairs["partial_rotary_factor"] = statement.share, statement.share_beside
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1] and None not in pair}


def _tell_contradiction(
    statement: LayerStatement,
    newer: RotaryBlock,
    different: Mapping[str, tuple[object, object]],
    rotation: Rotation,
    other: Rotation | None,
) -> tuple[str, list[str]]:
    """Say what contradicts, what each release takes, and which keys are stale; these keys besides."""
    where, older = newer.where, statement.older
    parts = [f"{key} {_write(a)} in {where} and {_write(b)} in the older keys" for key, (a, b) in different.items()]
    beside = [key for key in different if key in ("rope_theta", "partial_rotary_factor")]
    inside = [older.where] if older is not None and older.where and len(beside) < len(different) else []
    replaces = older is not None and choose_block(statement)[0] is older
    stale = [where] if replaces else [*beside, *inside]
    taken, old = _describe(rotation), _describe(other) if other is not None else ""
    message = f"the two generations of keys contradict each other: {'; '.join(parts)}; "
    message += f"transformers 5 and 4 take {taken}" if old == taken else f"transformers 5 takes {taken}"
    message += f", transformers 4 takes {old}" if old not in ("", taken) else ""
    message += f"; delete the stale {', '.join(stale)}"
    return message + ("" if replaces else f" outside of {where}"), stale


def _describe(rotation: Rotation) -> str:
    """What a release takes, in the numbers that a reader can find in the file."""
    words = ["no scaling"]
    if rotation.scaling not in (None, "none"):
        factor = rotation.options.get("factor")
        words = [f"{rotation.scaling} scaling" + (f" of factor {_write(factor)}" if factor is not None else "")]
    if rotation.rotary_dim != rotation.head_dim:
        words.append(f"{rotation.rotary_dim} of {rotation.head_dim} channels")
    return f"base {_write(rotation.base)} with {', '.join(words)}"


def _write(value: object) -> str:
    if value is None:
        return "not set"
    return write_number(value) if isinstance(value, float) else str(value)


def _agree(a: Rotation, b: Rotation) -> bool:
    if a.frequencies is None or b.frequencies is None or a.frequencies.shape != b.frequencies.shape:
        return False
    near = np.allclose(a.frequencies, b.frequencies, rtol=FLOAT32_ARITHMETIC, atol=0)
    return near and _have_one_factor(a, b)


def _have_one_factor(a: Rotation, b: Rotation) -> bool:
    return abs((a.attention_scaling or 1) - (b.attention_scaling or 1)) <= FLOAT32_ARITHMETIC


def _tell_apart(a: Rotation, b: Rotation) -> str:
    """Say which parts the other release reads otherwise; where none is named so, how far frequencies are apart."""
    parts: list[tuple[str, object, object]] = [
        ("base", a.base, b.base),
        ("scaling", a.scaling, b.scaling),
        ("rotary width", a.rotary_dim, b.rotary_dim),
    ]
    if a.scaling == b.scaling:
        names = sorted({*a.options, *b.options} - {"share", "attention_factor"})
        options = [(_OPTIONS.get(name, name), a.options.get(name), b.options.get(name)) for name in names]
        parts += [part for part in options if not any(isinstance(value, tuple) for value in part)]
    if not _have_one_factor(a, b):
        parts.append(("attention factor", a.attention_scaling, b.attention_scaling))
    words = [f"{name} {_write(its)}, not {_write(mine)}" for name, mine, its in parts if mine != its]
    if words:
        return ", ".join(words)
    apart = np.abs(b.listed - a.listed) > FLOAT32_ARITHMETIC * np.abs(a.listed)  # of one rotary width are as many
    return f"{int(np.count_nonzero(apart))} of {len(apart)} frequencies are others"


CHECKS = (_check_base, _check_releases, _check_original, _check_share)
