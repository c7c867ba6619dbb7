"""The types of layers that a model has: how far each sees, and whether it is turned."""

from __future__ import annotations

from typing import NamedTuple

from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import KnownModel

FULL, SLIDING, CHUNKED, LINEAR = "full_attention", "sliding_attention", "chunked_attention", "linear_attention"
#: Layers that have the base and the share of those that slide. Zaya's have a recurrence beside attention.
WITH_WINDOW = (SLIDING, "hybrid_sliding")
#: What DeepSeek V4 calls the rotations of its sliding-window layers and of all others.
MAIN, COMPRESSED = "main", "compress"
#: Layers without attention, or with one that is not turned.
_WITHOUT = (
    *(LINEAR, "conv", "short_conv", "mamba", "mamba2", "recurrent", "rwkv", "moe", "mlp"),
    *("lightning_attention", "gated_deltanet", "kda"),
)
_LETTERS = {"F": FULL, "S": SLIDING, "C": CHUNKED, "L": LINEAR}
#: Where a file does not say how many layers there are: enough for any published pattern to repeat.
_MANY = 48
#: More layers than any model has.
_MOST = 4096
#: Layers that are not turned, among others of their type that are.
UNTURNED = "nope"


class LayerType(NamedTuple):
    """One type of layer: its name ("all" where there is one), the window that it sees, whether it is turned."""

    name: str
    window: int | None
    turns: bool


def list_layer_types(keys: Keys, known: KnownModel) -> tuple[LayerType, ...]:
    """List the types of layers that a file states, or that the class of its model has, in order of appearance.

    Raises
    ------
    FileError : layer_types, no_rope_layers or a window of the wrong type.

    >>> from pe_spectra.models.stated.known_models import KnownModel
    >>> [layer.name for layer in list_layer_types(Keys({}, "config.json"), KnownModel())]
    ['all']
    """
    if known.compressed_base is not None:
        window = keys.find_integer("sliding_window") or known.window
        return LayerType(MAIN, window, turns=True), LayerType(COMPRESSED, None, turns=True)
    names = _name_layers(keys, known)
    flags = _list_flags(keys, known, len(names))
    found: dict[str, LayerType] = {}
    for name, flag in zip(names, flags, strict=True):
        turns = flag and name not in _WITHOUT and name != _LETTERS.get(known.unturned)
        if name in found and found[name].turns != turns:
            found.setdefault(UNTURNED, LayerType(UNTURNED, _find_window(keys, known, name), turns=False))
            found[name] = found[name]._replace(turns=True)
        else:
            found.setdefault(name, LayerType(name, _find_window(keys, known, name), turns))
    return tuple(found.values())


def list_stated_types(keys: Keys) -> tuple[str, ...]:
    """List the type of each layer as the file states them; empty where it does not.

    >>> list_stated_types(Keys({"layer_types": ["full_attention"] * 2}, "config.json"))
    ('full_attention', 'full_attention')
    """
    return keys.find_texts("layer_types") or ()


def _name_layers(keys: Keys, known: KnownModel) -> tuple[str, ...]:
    if stated := list_stated_types(keys):
        return stated
    count = min(keys.find_integer("num_hidden_layers", "n_layer", "num_layers") or _MANY, _MOST)
    pattern = known.layers
    period = keys.find_integer(known.period_key) if known.period_key else None
    if period is not None and "F" in pattern:
        others = pattern.replace("F", "")[:1] * (min(period, _MOST) - 1)
        pattern = f"F{others}" if pattern.startswith("F") else f"{others}F"
    if not pattern:
        return ("all",) * count
    return tuple(_LETTERS[pattern[i % len(pattern)]] for i in range(count))


def _list_flags(keys: Keys, known: KnownModel, count: int) -> tuple[bool, ...]:
    stated = keys.found.get("no_rope_layers")
    if isinstance(stated, list) and stated:  # 1 is turned, 0 is not
        if not all(flag in (0, 1) for flag in stated):
            keys.refuse("no_rope_layers", "a list of 0 (not turned) and 1 (turned) is accepted")
        return tuple(bool(stated[i % len(stated)]) for i in range(count))
    every = keys.find_integer("no_rope_layer_interval") or known.nope_every
    return tuple(every is None or (i + 1) % every != 0 for i in range(count))


def _find_window(keys: Keys, known: KnownModel, name: str) -> int | None:
    if name == FULL or name in _WITHOUT:
        return None
    if name == CHUNKED:
        return keys.find_integer("attention_chunk_size") or known.window
    if name == "all" and known.switched and not keys.find_truth("use_sliding_window"):
        return None
    stated = ("sliding_window", "local_attention", "attention_window_size")
    if any(key in keys.found for key in stated):  # null is "no window"
        return keys.find_integer(*stated)
    return known.window
