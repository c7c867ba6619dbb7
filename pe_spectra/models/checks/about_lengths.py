"""Findings about context lengths: phases that training did not cover, bases too small, pairs that alias."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

import numpy as np

from pe_spectra.findings import Finding, Kind
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.lengths.negative_lags import find_first_negative_lag
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.scheme import turn_layer
from pe_spectra.models.stated.statement import PENG, SU, Configuration
from pe_spectra.wording import write_number, write_rounded

#: Lags that are scanned for a negative sum of cosines, in pairs times lags: some thousandths of a second.
_SCANNED = 1 << 20
#: Published models reach up to 38 times the first negative lag (Mistral Nemo); this is beyond.
_FAR = 64
#: What rounding may take off a quotient that is an integer.
_ROUNDING = 1e-9
UNSEEN_PHASES = Kind(
    code="unseen-phases",
    levels=("warning",),
    phrase="pairs see out-of-range phases, not covered in training",
    reasoning="A pair that never completed a period in training has shown only a part of its circle. At a longer "
    "context it enters the rest, which training did not cover: this is where extrapolation fails first. Pairs that "
    "completed a period have shown every phase.",
    formula="max(theta_i L0, theta'_i T) < 2 pi and theta'_i l > 1.01 max(theta_i L0, theta'_i T); L0 the original "
    "length, T the one trained with the scaling, l the inference context length, theta' the scaled frequency; at most "
    "the sliding window each",
    references=(
        "Liu et al. 2023, arXiv:2310.05209 (scaling laws of RoPE-based extrapolation; critical dimension)",
        PENG,
    ),
)
BASE_BELOW_BOUND = Kind(
    code="base-below-bound",
    levels=("note",),
    phrase="the sum of cosines turns negative within the context",
    reasoning="Men et al. hold that a model cannot retrieve beyond the lag at which the sum of the cosines of all "
    "pairs turns negative. Most published models serve two to eight times more than that, so it is a note. It is made "
    "only where all channels of a head are turned.",
    formula="the smallest m with sum_i cos(m theta'_i) < 0, computed exactly, is below the inference context length; "
    "lags up to 2**20 over the number of pairs are tried (16,384 for 64 pairs), `context` tries more",
    references=("Men et al. 2024, arXiv:2405.14591 (the base bounds the context length)",),
)
BASE_TOO_SMALL = Kind(
    code="base-too-small",
    levels=("warning",),
    phrase="the base is too small for this length",
    reasoning="The sum of the cosines of all pairs turns negative so early that no published model of this shape but "
    "one works at the length that the file states: the base was probably lost on the way.",
    formula="the inference context length is more than 64 times the smallest m with sum_i cos(m theta'_i) < 0",
    references=("Men et al. 2024, arXiv:2405.14591 (the base bounds the context length)",),
)
ALIASING = Kind(
    code="aliasing",
    levels=("note", "warning"),
    phrase="pairs turn by more than pi per position",
    reasoning="A pair that turns by more than pi per position cannot be told from a slower one at whole positions "
    "(warning). Where even the slowest pair completes a period within the context, no single pair distinguishes long "
    "distances (note): only all pairs together do.",
    formula="theta_i > pi; or 2 pi / min theta_i below the inference context length",
    references=(SU, "Liu 2026, arXiv:2602.10959 (a claim, not peer reviewed): L < 2 pi b"),
)


def _check_unseen(configuration: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Name pairs that see out-of-range phases at the inference context length."""
    if not layer.unseen or layer.served_length is None or layer.original_length is None:
        return
    served = layer.limit(layer.served_length)
    turned = layer.frequencies[list(layer.unseen)] * (served / (2 * np.pi))
    newly = int(np.count_nonzero(turned >= 1))
    complete = "completes its" if newly == 1 else "complete their"
    safe = _find_safe_length(configuration, layer)
    or_less = f" or serve at most {safe:,}" if safe is not None else ""
    message = (
        f"{len(layer.unseen)} of {len(layer.frequencies)} pairs never completed a period in training and see "
        f"out-of-range phases (not covered in training) at {served:,} positions ({newly} of them {complete} "
        f"first there); scale the frequencies (see context){or_less}"
    )
    yield layer.find(UNSEEN_PHASES, message, pairs=list(layer.unseen), served_length=served, first_turns=newly)


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


def _check_base_size(_: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Compare the inference context length with the first lag at which the sum of cosines is negative."""
    turning = layer.frequencies[layer.frequencies > 0]
    if not turning.size or layer.served_length is None or _has_still_channels(layer):
        return
    reach = layer.limit(layer.served_length)
    lag = _find_negative(tuple(turning.tolist()), min(reach, _SCANNED // len(turning)))
    if lag is None or lag >= reach:  # positions 0 .. reach - 1 have no longer lag than reach - 1
        return
    far = reach > _FAR * lag
    base = layer.rotation.base if layer.rotation is not None else None
    with_base = f" with base {write_number(base)}" if base is not None else ""
    message = (
        f"the sum of cosines{with_base} is first negative at lag {lag:,}; the {reach:,} "
        f"positions of the context are {write_rounded(reach / lag)} times as many"
    )
    if far:
        message += "; few published models go beyond 10 times: enlarge the base or scale (see context)"
    yield layer.find(BASE_TOO_SMALL if far else BASE_BELOW_BOUND, message, first_negative_lag=lag, reach=reach)


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


def _check_aliases(_: Configuration, layer: LayerAudit) -> Iterator[Finding]:
    """Say where a frequency is above pi, or where every pair completes a period within the context."""
    above = int(np.count_nonzero(layer.frequencies > np.pi))
    if above:
        message = f"{above} pairs turn by more than pi per position, so they alias to slower ones"
        yield layer.find(ALIASING, message, level="warning", pairs=above)
        return
    turning = layer.frequencies[layer.frequencies > 0]
    if turning.size and layer.served_length is not None:
        reach = layer.limit(layer.served_length)
        slowest = float(2 * np.pi / turning.min())
        if slowest < reach:
            message = (
                f"every pair completes a period within {reach:,} positions (longest wavelength "
                f"{write_rounded(slowest, 4)}): no pair alone tells how far apart two positions are"
            )
            yield layer.find(ALIASING, message, longest_wavelength=slowest, reach=reach)


CHECKS = (_check_unseen, _check_base_size, _check_aliases)
