"""Findings about context lengths: what scaling reaches, phases that training never showed, bases too small."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

import numpy as np

from pe_spectra.findings import Finding
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.checks.making import make, write_length
from pe_spectra.models.lengths.negative_lags import find_first_negative_lag
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.scheme import turn_layer
from pe_spectra.models.stated.statement import Configuration, RotaryBlock
from pe_spectra.models.wording import write_number, write_rounded
from pe_spectra.vocabulary import Level

#: Factor and ratio of lengths that differ by less agree.
_NEAR = 0.01
#: Lags that are scanned for a negative sum of cosines, in pairs times lags: some thousandths of a second.
_SCANNED = 1 << 20
#: Published models reach up to 38 times the first negative lag (Mistral Nemo); this is beyond.
_FAR = 64
#: What rounding may take off a quotient that is an integer.
_ROUNDING = 1e-9
_ORIGINAL = "original_max_position_embeddings"
_LONGROPE = ("longrope", "su")


def check_length(configuration: Configuration, layers: Sequence[LayerAudit]) -> Iterator[Finding]:
    """Say where no key gives the context length, and what is taken in silence; once for all layers.

    >>> from pe_spectra.models.audit import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 128, "rope_theta": 5e5}, "config.json")
    >>> layers, _ = build_layers(stated)
    >>> [(found.code, found.data["length"]) for found in check_length(stated, layers)]
    [('length-defaulted', 2048)]
    """
    length = configuration.length
    if length is None or not configuration.length_by_class:
        return
    blocks = [layer.block for layer in layers if layer.block is not None]
    above = next((block.find(_ORIGINAL) for block in blocks if _is_above(configuration, block)), None)
    counts = next((block.kind for block in blocks if _counts_from_length(block)), None)
    why = f"; {counts} scaling is computed from it" if counts is not None else ""
    why += f"; {_ORIGINAL} is {write_length(int(above))}" if above is not None else ""
    level: Level = "warning" if why else "note"
    message = (
        f"no key gives the length, so {write_length(length)} positions are taken in silence, the default of "
        f"{configuration.model}{why}; state max_position_embeddings"
    )
    yield make(level, "length-defaulted", message, length=length, original=above)


def _is_above(configuration: Configuration, block: RotaryBlock) -> bool:
    """Whether the length before a scaling leaves it nothing to lengthen, so one of the two lengths is wrong."""
    original, length = block.find(_ORIGINAL), configuration.length
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
    if block.kind not in ("yarn", "llama3", *_LONGROPE):
        return False
    return block.find(_ORIGINAL) is None or block.find("factor") is None


def check_factor(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare the factor of a scaling with the ratio of the lengths that the file states.

    >>> from pe_spectra.models.audit import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> scaling = {"type": "yarn", "factor": 2.0, "original_max_position_embeddings": 4096}
    >>> config = {"max_position_embeddings": 32768, "rope_scaling": scaling}
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 128, **config}, "config.json")
    >>> (layer,), _ = build_layers(stated)
    >>> [found.code for found in check_factor(stated, layer)]
    ['factor-mismatch']
    """
    block, length = layer.block, configuration.length
    original = block.find(_ORIGINAL) if block is not None else None
    if block is None or original is None or length is None:
        return
    factor, ratio = block.find("factor"), length / original
    if _is_above(configuration, block):
        if not configuration.length_by_class:  # else the finding about the length says so
            message = _tell_lengths_apart(int(original), length)
            yield make("warning", "factor-mismatch", message, layer, factor=factor, ratio=ratio, original=original)
        return
    if block.kind not in ("yarn", "linear") or factor is None or length == original:
        return
    if abs(ratio / factor - 1) <= _NEAR:
        return
    reached = round(factor * original)
    by_class = " by default" if configuration.length_by_class else ""
    message = (
        f"{block.where}.factor {write_number(factor)} reaches from {write_length(int(original))} to "
        f"{write_length(reached)} positions, but max_position_embeddings is {write_length(length)}{by_class}, "
        f"{write_number(ratio)} times as many; set factor to {write_number(ratio)} or max_position_embeddings to "
        f"{reached}"
    )
    level: Level = "warning" if ratio > factor else "note"
    yield make(level, "factor-mismatch", message, layer, factor=factor, ratio=ratio, original=original)


def _tell_lengths_apart(original: int, length: int) -> str:
    order = "not below" if original == length else "above"
    return (
        f"{_ORIGINAL} is {write_length(original)}, {order} max_position_embeddings, {write_length(length)}, while a "
        "scaling lengthens a context: check the two lengths"
    )


def check_unseen(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Name pairs that see phases at the served length that training never showed.

    >>> from pe_spectra.models.audit import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"rope_theta": 1e4, "max_position_embeddings": 4096}
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 128, **config}, "config.json")
    >>> (layer,), _ = build_layers(stated, served=65536)
    >>> [found.code for found in check_unseen(stated, layer)]
    ['unseen-phases']
    """
    if not layer.unseen or layer.served_length is None or layer.original_length is None:
        return
    served = layer.limit(layer.served_length)
    turned = layer.frequencies[list(layer.unseen)] * (served / (2 * np.pi))
    newly = int(np.count_nonzero(turned >= 1))
    turn = "turns" if newly == 1 else "turn"
    safe = _find_safe_length(configuration, layer)
    or_less = f" or serve at most {write_length(safe)}" if safe is not None else ""
    message = (
        f"{len(layer.unseen)} of {len(layer.frequencies)} pairs never completed a turn in training and see phases at "
        f"{write_length(served)} positions that it did not show ({newly} of them {turn} there for the first time); "
        f"scale the frequencies (see context){or_less}"
    )
    data = {"pairs": list(layer.unseen), "served_length": served, "first_turns": newly}
    yield make("warning", "unseen-phases", message, layer, **data)


def _find_safe_length(configuration: Configuration, layer: LayerAudit) -> int | None:
    """Find the longest length that shows no phase beyond those of training; None where none is found."""
    scaling = layer.rotation.scaling if layer.rotation is not None else None
    if scaling == "dynamic":
        return _search_safe_length(configuration, layer)
    unseen = list(layer.unseen)
    longest = int(np.min(layer.seen_phases[unseen] / layer.frequencies[unseen]) * (1 + _ROUNDING))
    if scaling == "longrope":  # up to the original length it has another list
        longest = max(longest, layer.original_length or 0)
    return longest or None


def _search_safe_length(configuration: Configuration, layer: LayerAudit) -> int | None:
    """The same where frequencies change with the length: from the original length on, which has none."""

    def has_unseen(length: int) -> bool:
        if layer.statement is None:
            return True
        found = turn_layer(configuration, layer.statement, length)
        if not isinstance(found, Rotation):
            return True
        return bool(replace(layer, rotation=found, served_length=length).unseen)

    first, last = layer.original_length or 1, layer.served_length or 1
    steps = bisect_left(range(first, last + 1), True, key=has_unseen)
    return first + steps - 1 if steps else None


def check_base_size(_: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare the served length with the first lag at which the sum of cosines is negative.

    >>> from pe_spectra.models.audit import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"rope_theta": 1e4, "max_position_embeddings": 131072}
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 128, **config}, "config.json")
    >>> (layer,), _ = build_layers(stated)
    >>> [found.code for found in check_base_size(stated, layer)]
    ['base-too-small']
    """
    turning = layer.frequencies[layer.frequencies > 0]
    if not turning.size or layer.served_length is None or _has_still_channels(layer):
        return
    reach = layer.limit(layer.served_length)
    lag = _find_negative(tuple(turning.tolist()), min(reach, _SCANNED // len(turning)))
    if lag is None or lag >= reach:  # positions 0 .. reach - 1 have no longer lag than reach - 1
        return
    far = reach > _FAR * lag
    level, code = ("warning", "base-too-small") if far else ("note", "base-below-bound")
    base = layer.rotation.base if layer.rotation is not None else None
    with_base = f" with base {write_number(base)}" if base is not None else ""
    message = (
        f"the sum of cosines{with_base} is first negative at lag {write_length(lag)}; the {write_length(reach)} "
        f"positions that are served are {write_rounded(reach / lag)} times as many"
    )
    if far:
        message += "; few published models go beyond 10 times: enlarge the base or scale (see context)"
    yield make("warning" if level == "warning" else "note", code, message, layer, first_negative_lag=lag, reach=reach)


def _has_still_channels(layer: LayerAudit) -> bool:
    """Whether a part of each query is not turned: it keeps the similarity from turning negative."""
    statement, rotation = layer.statement, layer.rotation
    if statement is None or rotation is None:
        return True
    partial = rotation.rotary_dim != rotation.head_dim or bool((layer.frequencies == 0).any())
    return partial or statement.beside > 0


@lru_cache(maxsize=256)
def _find_negative(frequencies: tuple[float, ...], limit: int) -> int | None:
    return find_first_negative_lag([Decimal(theta) for theta in frequencies], limit)


def check_aliases(_: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Say where a frequency is above pi, or where every pair has turned within the context.

    >>> from pe_spectra.models.audit import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"rope_theta": 1e2, "max_position_embeddings": 4096}
    >>> stated = read_configuration({"model_type": "llama", "head_dim": 128, **config}, "config.json")
    >>> (layer,), _ = build_layers(stated)
    >>> [found.code for found in check_aliases(stated, layer)]
    ['aliasing']
    """
    above = int(np.count_nonzero(layer.frequencies > np.pi))
    if above:
        message = f"{above} pairs turn by more than pi per position, so they alias to slower ones"
        yield make("warning", "aliasing", message, layer, pairs=above)
        return
    turning = layer.frequencies[layer.frequencies > 0]
    if turning.size and layer.served_length is not None:
        reach = layer.limit(layer.served_length)
        slowest = float(2 * np.pi / turning.min())
        if slowest < reach:
            message = (
                f"every pair completes a turn within {write_length(reach)} positions (longest wavelength "
                f"{write_rounded(slowest, 4)}): no pair alone tells how far apart two positions are"
            )
            yield make("note", "aliasing", message, layer, longest_wavelength=slowest, reach=reach)


def check_table(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare the rows of a table of positions with the length that is stated or served.

    >>> from pe_spectra.models.audit import build_layers
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> stated = read_configuration({"model_type": "gpt2", "n_positions": 1024, "n_embd": 768}, "config.json")
    >>> (layer,), _ = build_layers(stated, served=2048)
    >>> [found.code for found in check_table(stated, layer)]
    ['position-table-short']
    """
    rows = configuration.values.get("rows")
    if configuration.scheme != "learned" or not isinstance(rows, int) or layer.served_length is None:
        return
    unused = int(configuration.values.get("unused", 0))
    if rows - unused >= layer.served_length:
        return
    kept = f" ({unused} of {rows} rows are no positions)" if unused else ""
    message = (
        f"the table of positions has {write_length(rows - unused)} rows{kept}, fewer than the "
        f"{write_length(layer.served_length)} positions that are asked for; there is no code beyond"
    )
    yield make("error", "position-table-short", message, layer, rows=rows, unused=unused, served=layer.served_length)
