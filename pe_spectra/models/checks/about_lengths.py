"""Findings about context lengths: what scaling reaches, phases that training never showed, bases too small."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

import numpy as np

from pe_spectra.findings import Finding, Level
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.checks.making import make, write_length
from pe_spectra.models.lengths.negative_lags import find_first_negative_lag
from pe_spectra.models.stated.statement import Configuration

#: Factor and ratio of lengths that differ by less agree.
_NEAR = 0.01
#: Lags that are scanned for a negative sum of cosines, in pairs times lags: some thousandths of a second.
_SCANNED = 1 << 20
#: Published models reach up to 38 times the first negative lag (Mistral Nemo); this is beyond.
_FAR = 64


def check_factor(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare the factor of a scaling with the ratio of the lengths that the file states."""
    block = layer.block
    if block is None or block.kind not in ("yarn", "linear") or configuration.length is None:
        return
    factor, original = block.find("factor"), block.find("original_max_position_embeddings")
    if factor is None or original is None or configuration.length == original:
        return
    ratio, reached = configuration.length / original, round(factor * original)
    if abs(ratio / factor - 1) <= _NEAR:
        return
    level: Level = "warning" if ratio > factor else "note"
    message = (
        f"{block.where}.factor {factor:g} reaches from {write_length(int(original))} to {write_length(reached)} "
        f"positions, but max_position_embeddings is {write_length(configuration.length)}, {ratio:g} times as many"
    )
    advice = f"; set factor to {ratio:g} or max_position_embeddings to {reached}"
    yield make(level, "factor-mismatch", message + advice, layer, factor=factor, ratio=ratio, original=original)


def check_unseen(_: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Name pairs that see phases at the served length that training never showed."""
    if not layer.unseen or layer.served_length is None or layer.original_length is None:
        return
    served = layer.limit(layer.served_length)
    turned = layer.frequencies[list(layer.unseen)] * (served / (2 * np.pi))
    newly = int(np.count_nonzero(turned >= 1))
    message = (
        f"{len(layer.unseen)} of {len(layer.frequencies)} pairs never completed a turn in training and see phases at "
        f"{write_length(served)} positions that it did not show ({newly} of them turn there for the first time); "
        f"scale the frequencies (see context) or serve at most {write_length(_find_safe_length(layer))}"
    )
    data = {"pairs": list(layer.unseen), "served_length": served, "first_turns": newly}
    yield make("warning", "unseen-phases", message, layer, **data)


def _find_safe_length(layer: LayerAudit) -> int:
    seen = layer.seen_phases[list(layer.unseen)]
    return int(np.min(seen / layer.frequencies[list(layer.unseen)]))


def check_base_size(_: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare the served length with the first lag at which the sum of cosines is negative."""
    turning = layer.frequencies[layer.frequencies > 0]
    if not turning.size or layer.served_length is None or _has_still_channels(layer):
        return
    reach = layer.limit(layer.served_length)
    lag = _find_negative(tuple(turning.tolist()), min(reach, _SCANNED // len(turning)))
    if lag is None:
        return
    far = reach > _FAR * lag
    level, code = ("warning", "base-too-small") if far else ("note", "base-below-bound")
    base = layer.rotation.base if layer.rotation is not None else None
    with_base = f" with base {base:g}" if base is not None else ""
    message = (
        f"the sum of cosines{with_base} is negative from lag {write_length(lag)} on, "
        f"{reach / lag:.3g} times before the {write_length(reach)} positions that are served"
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
    """Say where a frequency is above pi, or where every pair has turned within the context."""
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
                f"{slowest:.4g}): no pair alone tells how far apart two positions are"
            )
            yield make("note", "aliasing", message, layer, longest_wavelength=slowest, reach=reach)


def check_table(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare the rows of a table of positions with the length that is stated or served."""
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
