"""Findings about the scaling that a file asks for: its ramp, its factors, the lengths before and after, refusals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pe_spectra.encodings.rope_scaling import compute_longrope_attention, compute_yarn_attention
from pe_spectra.findings import Finding, Kind
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stated.keys import HEAD_WIDTH
from pe_spectra.models.stated.loading import VALUE_REFUSED
from pe_spectra.models.stated.statement import (
    NO_BLOCK,
    ORIGINAL,
    PENG,
    TRANSFORMERS,
    WITH_ORIGINAL,
    Configuration,
    RotaryBlock,
)
from pe_spectra.vocabulary import Level
from pe_spectra.wording import write_number, write_rounded

#: Factors that differ by less agree, and so do a factor and a ratio of lengths.
NEAR = 0.01
_LONGROPE = ("longrope", "su")
#: The ends of a ramp by its scaling, in turns within the original length: below, above; as they are where not set.
_ENDS = {
    "yarn": (("beta_slow", 1.0), ("beta_fast", 32.0)),
    "llama3": (("low_freq_factor", 1.0), ("high_freq_factor", 4.0)),
}
_LENGTH_DEFAULTED = Kind(
    code="length-defaulted",
    levels=("note", "warning"),
    phrase="no key gives the length",
    reasoning="Where no key gives the length, the class of the model has one, 2,048 for many. All that is said about "
    "periods, windows and phases then holds up to a length that nobody wrote down.",
    formula="a warning where the scaling is computed from it (dynamic; yarn, llama3 and longrope without factor or "
    "original_max_position_embeddings) or original_max_position_embeddings is above it (llama3: not below); else a "
    "note",
    references=(TRANSFORMERS,),
)
_FACTOR_MISMATCH = Kind(
    code="factor-mismatch",
    levels=("warning", "note"),
    phrase="the factor and the lengths of the scaling contradict each other",
    reasoning="The factor says how far the scaling reaches, the lengths how far the model is to be used. Where the "
    "file asks for more than the factor covers, the slow pairs see out-of-range phases (not covered in training). "
    "Where it asks for less, nothing breaks, and a note says what the scaling would reach. Where the length before the "
    "scaling is the longer one, one of the two is wrong.",
    formula="yarn, linear: max_position_embeddings / original_max_position_embeddings above factor by "
    f"{100 * NEAR:g} %: warning; "
    "below: note; original_max_position_embeddings above max_position_embeddings (llama3: not below, for which "
    "transformers writes a line in its log): warning",
    references=(PENG, TRANSFORMERS),
)
_SCALING_ORDER = Kind(
    code="scaling-order",
    levels=("error",),
    phrase="the ends of the scaling are in the wrong order",
    reasoning="Two numbers say between which turns the frequencies go over from kept to slowed. In the wrong order "
    "they still compute: YaRN's ramp then runs backwards, slows the fast pairs and keeps the slow ones; the one of "
    "Llama 3 becomes a step. transformers writes a line in its log, and turns by it. What is answered is what it "
    "computes.",
    formula="yarn: beta_fast < beta_slow; llama3: high_freq_factor < low_freq_factor",
    references=(PENG, TRANSFORMERS),
)
_FACTOR_BELOW_ONE = Kind(
    code="factor-below-one",
    levels=("warning",),
    phrase="the factor of the scaling is below 1",
    reasoning="A scaling lengthens the context by its factor. With one below 1 it does the opposite, and no model is "
    "published with that; the inverse may have been meant. transformers writes a line in its log, and turns by it.",
    formula="factor < 1, or where factor is null max_position_embeddings < original_max_position_embeddings",
    references=(TRANSFORMERS,),
)
_OLDER_NAME = Kind(
    code="older-name",
    levels=("note", "error"),
    phrase="the scaling has a name that is no longer read",
    reasoning="Early files of Phi-3 call LongRoPE su. Newer releases read longrope, and some refuse the older name.",
    formula="rope_type or type is su",
    references=(TRANSFORMERS,),
)
_ATTENTION_FACTOR = Kind(
    code="attention-factor",
    levels=("warning",),
    phrase="the attention factor is not the one of its formula",
    reasoning="The attention factor stands on every cosine and sine, so scores have its square. A file may give it, "
    "but then it should be the one that the model was trained with; usually that is the formula's.",
    formula="yarn: 0.1 ln s + 1, or the ratio of mscale and mscale_all_dim; longrope: sqrt(1 + ln s / ln L); a "
    f"difference above {100 * NEAR:g} % is reported",
    references=(PENG, TRANSFORMERS),
)
_UNKNOWN_SCALING = Kind(
    code="unknown-scaling",
    levels=("error",),
    phrase="the scaling is not known",
    reasoning="A scaling that is not known is never replaced by another: no frequencies are given. Some readers "
    "silently fall back to none, which gives other numbers than the model was trained with.",
    formula="rope_type is none of those that transformers 5 has",
    references=(TRANSFORMERS,),
)
_LIST_LENGTH = Kind(
    code="list-length",
    levels=("error",),
    phrase="a list of the scaling has the wrong length",
    reasoning="LongRoPE divides each pair by a number of its own, so its lists have one number for each pair, half the "
    "rotary width. A class of transformers computes with short_factor when it is made, whatever list the context "
    "length asks for.",
    formula="len(short_factor) = len(long_factor) = D/2; a list of 1 serves every pair",
    references=("Ding et al. 2024, arXiv:2402.13753", TRANSFORMERS),
)
_KEY_MISSING = Kind(
    code="key-missing",
    levels=("error",),
    phrase="a key that the scaling needs is missing",
    reasoning="The scaling that the file names cannot be computed without this key. Readers refuse the file, or fail "
    "later with a less clear message.",
    formula="the keys that transformers 5 requires for each rope_type",
    references=(TRANSFORMERS,),
)
_REFUSED = Kind(
    code="refused",
    levels=("error",),
    phrase="the values give no rotation",
    reasoning="Values of the file from which no frequencies follow: a base of 0, a width that is no number, an odd "
    "rotary width under yarn. Stacks whose numbers are checked here refuse those beyond all that is published, too; "
    "transformers 5 computes with them (unusable-value).",
    formula="frequencies that are no finite numbers in float32; of other stacks: D = int(head_dim x "
    "partial_rotary_factor) is even and at most head_dim; 0.001 <= factor <= 10**6; 10**-6 <= beta_fast, beta_slow, "
    "low_freq_factor, high_freq_factor <= 10**6",
    references=(TRANSFORMERS,),
)
#: What says that heads have no width that can be turned.
_ABOUT_WIDTHS = (HEAD_WIDTH.code, VALUE_REFUSED.code)
#: The kinds of refusals by what the place that refuses names as their cause.
_CAUSES = {kind.code: kind for kind in (_OLDER_NAME, _UNKNOWN_SCALING, _KEY_MISSING, _LIST_LENGTH, _REFUSED)}


def check_length(configuration: Configuration, layers: Sequence[LayerAudit]) -> Iterator[Finding]:
    """Say where no key gives the context length, and what is silently assumed; once for all layers.

    >>> from pe_spectra.models.scheme import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 128, "rope_theta": 5e5}, "config.json")
    >>> [(found.code, found.data["length"]) for found in check_length(stated, build_layers(stated))]
    [('length-defaulted', 2048)]
    """
    length = configuration.length
    if length is None or not configuration.length_key:
        return
    blocks = [layer.block for layer in layers]
    above = next((block.find(ORIGINAL) for block in blocks if _is_above(configuration, block)), None)
    counts = next((block.kind for block in blocks if _counts_from_length(block)), None)
    why = f"; {counts} scaling is computed from it" if counts is not None else ""
    why += f"; {ORIGINAL} is {int(above):,}" if above is not None else ""
    level: Level = "warning" if why else "note"
    message = (
        f"no key gives the length, so {length:,} positions are silently assumed, the default of "
        f"{configuration.model}{why}; state {configuration.length_key}"
    )
    yield _LENGTH_DEFAULTED.find(message, level=level, length=length, original=above)


def _is_above(configuration: Configuration, block: RotaryBlock) -> bool:
    """Whether the length before a scaling leaves it nothing to lengthen, so one of the two lengths is wrong."""
    original, length = block.find(ORIGINAL), configuration.length
    if original is None or length is None:
        return False
    if configuration.format == "config.json" and block.kind in _LONGROPE:
        return original > length
    if configuration.format == "config.json" and block.kind == "llama3":
        return original >= length  # published files of the others state the two alike; transformers 4 and 5 log this
    return block.kind in ("yarn", "linear") and block.find("factor") is not None and original > length


def _counts_from_length(block: RotaryBlock) -> bool:
    """Whether a scaling takes max_position_embeddings for a number that its block does not have."""
    if block.kind == "dynamic":
        return True
    if block.kind not in (*WITH_ORIGINAL, "su"):
        return False
    return block.find(ORIGINAL) is None or block.find("factor") is None


def _check_older_names(layer: LayerAudit) -> Iterator[Finding]:
    """Say where a scaling has a name that newer releases no longer know."""
    block = layer.block
    if block.kind == "su" and layer.encoding is not None and layer.configuration.model != "phi3":
        message = f"{block.where}: su is the older name of longrope, which transformers 5 may refuse; write longrope"
        yield layer.find(_OLDER_NAME, message, rope_type=block.kind)


def _check_order(layer: LayerAudit) -> Iterator[Finding]:
    """Say where a ramp ends before it begins, or lists are of another length, which readers see late or never."""
    if layer.scaling == "longrope":
        yield from _check_lists(layer)
    block, ends = layer.block, _ENDS.get(layer.scaling or "none")
    if ends is None:
        return
    (low_name, low), (high_name, high) = ((name, block.find(name) or default) for name, default in ends)
    if low <= high:
        return
    backwards = layer.scaling == "yarn" and layer.configuration.format == "config.json"
    effect = (
        "the ramp runs backwards: pairs that turn often are slowed, and those that hardly turn are not"
        if backwards
        else "there is no ramp: pairs are slowed by the whole factor or not at all"
    )
    message = (
        f"{block.where}.{high_name} {write_number(high)} is below {low_name} {write_number(low)}, so {effect}; "
        "exchange the two, unless the model was trained so"
    )
    data: dict[str, Any] = {low_name: low, high_name: high}
    yield layer.find(_SCALING_ORDER, message, **data)


def _check_lists(layer: LayerAudit) -> Iterator[Finding]:
    """LongRoPE's list that is not in use; of that which is, `_check_reading` tells."""
    pairs = len(layer.frequencies)
    for key, when in (("short_factor", "when its class is made"), ("long_factor", "beyond the original length")):
        stated = layer.block.values.get(key)
        if isinstance(stated, tuple) and len(stated) not in (1, pairs):
            message = (
                f"{layer.block.where}.{key} has {len(stated)} numbers for {pairs} pairs, so the model fails {when}"
            )
            yield layer.find(_LIST_LENGTH, message, key=key, numbers=len(stated), pairs=pairs)


def _check_small_factor(layer: LayerAudit) -> Iterator[Finding]:
    """Say where a factor is below 1, which readers compute all the same."""
    block, factor = layer.block, layer.scaling_parameters.get("factor")
    if not isinstance(factor, int | float) or factor >= 1:
        return
    key = next((key for key in ("factor", "alpha") if block.find(key) == factor), None)
    if key is None and layer.statement.unusable:  # that it cannot be used is said already
        return
    what = f"{block.where}.{key}" if key else "max_position_embeddings over original_max_position_embeddings"
    advice = f"was {write_number(1 / factor)} meant?" if key else "check the two lengths"
    message = f"{what} is {write_number(factor)}, below 1, while a scaling lengthens a context by its factor: {advice}"
    yield layer.find(_FACTOR_BELOW_ONE, message, factor=factor)


def _check_factor(layer: LayerAudit) -> Iterator[Finding]:
    """Compare the factor of a scaling with the ratio of the lengths that the file states."""
    block, configuration = layer.block, layer.configuration
    original, length, factor = block.find(ORIGINAL), configuration.length, block.find("factor")
    if original is None or length is None:
        return
    ratio = length / original
    if _is_above(configuration, block):
        if not configuration.length_key:  # else the finding about the length says so
            order = "not below" if original == length else "above"
            message = (
                f"{ORIGINAL} is {int(original):,}, {order} max_position_embeddings, {length:,}, while a scaling "
                "lengthens a context: check the two lengths"
            )
            yield layer.find(_FACTOR_MISMATCH, message, factor=factor, ratio=ratio, original=original)
        return
    if block.kind not in ("yarn", "linear") or factor is None or length == original:
        return
    if abs(ratio / factor - 1) <= NEAR:
        return
    reached = round(factor * original)
    by_class = " by default" if configuration.length_key else ""
    message = (
        f"{block.where}.factor {write_number(factor)} reaches from {int(original):,} to "
        f"{reached:,} positions, but max_position_embeddings is {length:,}{by_class}, "
        f"{write_number(ratio)} times as many; set factor to {write_number(ratio)} or max_position_embeddings to "
        f"{reached}"
    )
    level: Level = "warning" if ratio > factor else "note"
    yield layer.find(_FACTOR_MISMATCH, message, level=level, factor=factor, ratio=ratio, original=original)


def _check_attention(layer: LayerAudit) -> Iterator[Finding]:
    """Compare an attention factor that a file gives with the one that its scaling would compute."""
    block, options = layer.block, layer.scaling_parameters
    given, factor, original = block.find("attention_factor"), options.get("factor"), options.get("original")
    if given is None or not isinstance(factor, int | float) or block.attention_by_class:
        return
    if layer.scaling == "yarn":
        computed = float(compute_yarn_attention(factor, block.find("mscale"), block.find("mscale_all_dim")))
    elif layer.scaling == "longrope" and isinstance(original, int):
        computed = float(compute_longrope_attention(factor, original))
    else:
        return
    if abs(given / computed - 1) > NEAR:
        message = (
            f"{block.where}.attention_factor is {given:g}, while factor {write_number(factor)} gives {computed:.6g}; "
            f"attention scores are {write_rounded((given / computed) ** 2, 4)} times what the formula means; leave it "
            "out unless trained so"
        )
        yield layer.find(_ATTENTION_FACTOR, message, given=given, computed=computed)


def _check_reading(layer: LayerAudit) -> Iterator[Finding]:
    """Say why the answering stack refuses the file, as a finding of the kind of its cause, and what it cannot apply."""
    block, refusal, rotation = layer.block, layer.refusal, layer.rotation
    if rotation is not None and rotation.fault:
        from pe_spectra.models.stated.unusable import UNUSABLE_VALUE

        computed = "the frequencies are those that are computed with it all the same"
        effect = computed if rotation.by_fault else "no rotation depends on it"
        yield layer.find(UNUSABLE_VALUE, f"{rotation.fault}; {effect}")
    turned, width = (rotation and rotation.rotary_dim) or 0, layer.statement.head_dim
    if turned > width and not any(one.code in _ABOUT_WIDTHS for one in layer.configuration.findings):
        message = (
            f"{layer.statement.width_key} is {width}, and {turned} channels are turned, so attention fails when the "
            "model runs; state a width and a share that turn no more channels than a head has"
        )
        yield layer.find(HEAD_WIDTH, message, width=width, turned=turned)
    if refusal is None:
        return
    reason = refusal.reason.removeprefix(f"{layer.configuration.path}: ")
    message = f"no rotation is computed here: {reason}"
    if rotation is not None:
        message = f"{STACKS['transformers-5'].title} refuses the file: {reason}; what transformers 4 reads is given"
    data: dict[str, Any] = {} if block is NO_BLOCK else {"where": block.where, "rope_type": block.kind}
    yield layer.find(_CAUSES[refusal.cause], message, level="error", **data)


#: Their findings are listed before all others, among the others, and after them.
FIRST_CHECKS = (_check_reading,)
CHECKS = (_check_older_names, _check_order, _check_small_factor, _check_factor)
LAST_CHECKS = (_check_attention,)
