"""Findings about what the two generations of keys say, and what another release makes of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pe_spectra.findings import Finding, Kind
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.dumps.rounding import FLOAT32_ARITHMETIC
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stacks.description import choose_block
from pe_spectra.models.stated.statement import TRANSFORMERS, Configuration, LayerStatement, RotaryBlock
from pe_spectra.wording import write_number

_OTHER_RELEASE = "transformers-4"
#: Parameters of the catalogue by the words of a sentence.
_OPTIONS = {"original": "original length", "served": "served length"}
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


def check_releases(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare what the two generations of keys say, and what an older release makes of the file.

    >>> from pe_spectra.model_sources import read_model
    >>> from pe_spectra.models.checks import audit_configuration
    >>> audit = audit_configuration(read_model("tests/models/llama-3.1-8b.json"))
    >>> list(check_releases(audit.configuration, audit.layers[0]))
    []
    """
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
