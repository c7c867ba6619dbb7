"""What the class of a model needs of a file and its blocks of rotary keys, and refuses them without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pe_spectra.errors import shorten
from pe_spectra.models.stated.keys import KEY_NOT_READ, Keys
from pe_spectra.models.stated.known_models import KnownModel, find_looked_at
from pe_spectra.models.stated.loading import NOT_BUILT, VALUE_REFUSED, has_blocks, load_refusals
from pe_spectra.models.stated.statement import NEWEST, SLIDING, RotaryBlock


def report_needs(keys: Keys, known: KnownModel, *, is_built: bool) -> None:
    """Report a block that the class of the model does not take: without a key that it needs, of a type it refuses.

    Parameters
    ----------
    is_built : whether a rotary module is built of it.

    >>> keys = Keys({"rope_parameters": {"rope_type": "default"}}, "config.json")
    >>> report_needs(keys, KnownModel(model="cosmos3_edge_text", needs=("mrope_section",)), is_built=True)
    >>> [found.data["key"] for found in keys.findings]
    ['rope_parameters']
    """
    if known.needs_window and SLIDING in keys.find_texts("layer_types") and "sliding_window" not in keys:
        message = (
            f"{keys.where}sliding_window is not set, so the class of {known.model} refuses {SLIDING} in layer_types"
        )
        keys.report(NOT_BUILT, message, key="sliding_window", model=known.model)
    older = keys.find_object("rope_scaling")
    # a base on top goes into it at once, and the class then looks for its length before it has it
    is_early = "rope_theta" in keys and older.find_text("rope_type", "type") in known.inner_base
    is_last = not is_early and bool(load_refusals(keys, known).get("last_block"))
    block = keys.find_object(find_looked_at(keys.found, is_last=is_last))
    if not block.found:
        return
    where, kind = block.where.rstrip("."), block.find_text("rope_type", "type") or "default"
    is_nested = has_blocks(block.found) or block.found.keys() <= {*keys.refusals["layer_types"]}
    if keys.release == NEWEST and (known.takes_flat or not known.is_layered):
        is_nested = not block.found.keys().isdisjoint(list_labels(keys, known))
    lacking = [key for key in known.needs if key not in block.found and is_nested == known.is_layered]
    if lacking:
        keys.report_refused(NOT_BUILT, where, f"lacks {', '.join(lacking)}", known.model)
    elif is_early or (not is_built and kind in known.refused and known.refused != KnownModel().refused):
        keys.report_refused(NOT_BUILT, where, f"has rope_type {shorten(kind)}", known.model)


def report_unshared(keys: Keys, known: KnownModel, layers: Sequence[str]) -> None:
    """Report a type of layer that only layers have which take keys and values of an earlier one of their type.

    >>> keys = Keys({"layer_types": ["full_attention"]}, "config.json")
    >>> report_unshared(keys, KnownModel(model="gemma3n_text", shared=15), ["full_attention"])
    >>> [found.data["key"] for found in keys.findings]
    ['num_kv_shared_layers']
    """
    stated = keys.find_integer("num_kv_shared_layers", least=0)
    shared = known.shared or 0 if stated is None else stated
    first = len(layers) - shared
    if known.shared and not {*layers} <= {*layers[:first]}:
        why = f"is {shared} of {len(layers)} layers, and of some types no layer is before them"
        keys.report_refused(VALUE_REFUSED, f"{keys.where}num_kv_shared_layers", why, known.model)


def keep_base(keys: Keys, known: KnownModel, block: RotaryBlock) -> RotaryBlock:
    """Return a block without its scaling, which the class does not compute; one of a type that it refuses is left.

    >>> keys = Keys({}, "config.json")
    >>> block = RotaryBlock(where="rope_scaling", kind="linear", base=500.0, values={"factor": 4.0})
    >>> kept = keep_base(keys, KnownModel(model="llama4_vision_model"), block)
    >>> kept.kind, kept.base, [found.code for found in keys.findings]
    ('default', 500.0, ['key-not-read'])
    """
    if block.kind in ("default", *known.refused):
        return block
    if block.kind in ("mrope", "axial"):  # no scaling
        return replace(block, kind="default")
    message = (
        f"{block.where} asks for {shorten(block.kind)}, but the class of {known.model} in {keys.reader} reads the base "
        "in it alone, so nothing is scaled"
    )
    keys.report(KEY_NOT_READ, message, key=f"{block.where}.rope_type", model=known.model)
    return replace(block, kind="default", values={})


def list_labels(keys: Keys, known: KnownModel) -> tuple[str, ...]:
    """The types of layers by which the class tells blocks by type from others; none where it has none.

    Parameters
    ----------
    keys : of a file. known : its class.

    >>> known = KnownModel(model="qwen2", part_model="qwen2")
    >>> list_labels(Keys({}, "config.json"), known)
    ('full_attention',)
    >>> list_labels(Keys({"layer_types": ["sliding_attention"]}, "config.json"), known)
    ('sliding_attention',)
    """
    own = load_refusals(keys, known).get("labels", known.needs if known.is_layered else ())
    stated = keys.found.get("layer_types") if known.compressed_base is None else None
    named = tuple(one for one in stated if isinstance(one, str)) if own and isinstance(stated, list) else ()
    return named or tuple(own)
