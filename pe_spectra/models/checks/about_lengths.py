"""Findings about context lengths: phases that training did not cover, bases too small, aliases, tables, precision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np

from pe_spectra.findings import Finding, Kind
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.cosine_sums import find_first_negative_lag
from pe_spectra.models.rotation import TOLERANCE, TURN, Rotation
from pe_spectra.models.stated.keys import BASES
from pe_spectra.models.stated.statement import PENG, SU
from pe_spectra.vocabulary import Level
from pe_spectra.wording import count, write_at_most, write_number, write_rounded

#: Lags that are scanned for a negative sum of cosines, in pairs times lags: some thousandths of a second.
_SCANNED = 1 << 20
#: Kept, for in a folder of models many have the same frequencies.
_find_lag = lru_cache(maxsize=64)(find_first_negative_lag)
#: Published models reach up to 38 times the first negative lag (Mistral Nemo); this is beyond.
_FAR = 64
#: What rounding may take off a quotient that is an integer.
_ROUNDING = 1e-9
#: The types that weights are stored in of which float32 has more digits.
_NARROW = ("bfloat16", "float16")
_UNSEEN_PHASES = Kind(
    code="unseen-phases",
    levels=("warning",),
    phrase="pairs see out-of-range phases, not covered in training",
    reasoning="A pair that never completed a period in training has shown only a part of its circle. At a longer "
    "context it enters the rest, which training did not cover: this is where extrapolation fails first. Pairs that "
    "completed a period have shown every phase.",
    formula="max(theta_i L0, theta'_i T) < 2 pi and theta'_i l > "
    f"{TOLERANCE} max(theta_i L0, theta'_i T); L0 the original "
    "length, T the one trained with the scaling, l the inference context length, theta' the scaled frequency; at most "
    "the sliding window each",
    keys=("rope_scaling", "rope_parameters"),
    references=(
        "Liu et al. 2023, arXiv:2310.05209 (scaling laws of RoPE-based extrapolation; critical dimension)",
        PENG,
    ),
)
_BASE_BELOW_BOUND = Kind(
    code="base-below-bound",
    levels=("note",),
    phrase="the sum of cosines turns negative within the context",
    reasoning="Men et al. hold that a model cannot retrieve beyond the lag at which the sum of the cosines of all "
    "pairs turns negative. Most published models serve two to eight times more than that, so it is a note. It is made "
    "only where all channels of a head are turned.",
    formula="the smallest m with sum_i cos(m theta'_i) < 0, computed exactly, is below the inference context length; "
    f"lags up to 2**20 over the number of pairs are tried ({_SCANNED // 64:,} for 64 pairs), `context` tries more",
    keys=BASES,
    references=("Men et al. 2024, arXiv:2405.14591 (the base bounds the context length)",),
)
_BASE_TOO_SMALL = Kind(
    code="base-too-small",
    levels=("warning",),
    phrase="the base is too small for this length",
    reasoning="The sum of the cosines of all pairs turns negative so early that no published model of this shape but "
    "one works at the length that the file states: the base was probably lost on the way.",
    formula=f"the inference context length is more than {_FAR} times the smallest m with sum_i cos(m theta'_i) < 0",
    keys=BASES,
    references=("Men et al. 2024, arXiv:2405.14591 (the base bounds the context length)",),
)
_ALIASING = Kind(
    code="aliasing",
    levels=("note", "warning"),
    phrase="pairs turn by more than pi per position",
    reasoning="A pair that turns by more than pi per position cannot be told from a slower one at whole positions "
    "(warning). Where even the slowest pair completes a period within the context, no single pair distinguishes long "
    "distances (note): only all pairs together do.",
    formula="theta_i > pi; or 2 pi / min theta_i below the inference context length",
    keys=BASES,
    references=(SU, "Liu 2026, arXiv:2602.10959 (a claim, not peer reviewed): L < 2 pi b"),
)
#: What the class of a model does where a picture has more patches than its table has rows.
_RESIZED = {
    "": "there is no row beyond",
    "always": "for a larger picture its class makes others of them ({}), at places that were not trained",
    "asked": "its class refuses a larger picture, or with interpolate_pos_encoding makes others of them ({})",
    "never": "its class refuses a larger picture",
}
_POSITION_TABLE_SHORT = Kind(
    code="position-table-short",
    levels=("error", "note"),
    phrase="the table has fewer rows than there are positions",
    reasoning="A learned table has one row for each position. Beyond the last there is none: readers fail, or clip the "
    "index and give all positions behind the last row. Some classes resample the table of a picture's patches for "
    "larger pictures, as was measured by giving them one: a note where they do so unasked.",
    formula="rows that are positions < the inference context length (what the file states, or --served)",
    references=("Devlin et al. 2019, arXiv:1810.04805",),
)
_PRECISION = Kind(
    code="precision",
    levels=("note",),
    phrase="angles in the type of the weights would lose digits",
    reasoning="bfloat16 has 8 significant bits, float16 11. Positions above 256 (2,048) are no longer distinct when "
    "they are cast, and an angle of thousands of radians loses whole turns. Healthy models compute angles in float32 "
    "and cast cosines and sines afterwards; a port that does not is wrong from there on.",
    formula="error up to the largest of d q + P |q - theta_i| + e: P = l - 1, q = theta_i rounded to the type, d and e "
    "half a unit in the last place of P (0 while that unit is 1) and of the product; `precision` has it as "
    "phase_error_bound of the recipe all-narrow, and of fp32",
    keys=("torch_dtype", "dtype"),
    references=("Wang et al. 2024, arXiv:2411.13476 (bfloat16 breaks the relative property of RoPE)",),
)


def _check_unseen(layer: LayerAudit) -> Iterator[Finding]:
    """Name pairs that see out-of-range phases at the inference context length."""
    if not layer.unseen or layer.served_length is None or layer.original_length is None:
        return
    served = layer.limit(layer.served_length)
    turned = layer.rates[list(layer.unseen)] * (served / TURN)
    newly = int(np.count_nonzero(turned >= 1))
    complete = "completes its" if newly == 1 else "complete their"
    safe = _find_safe_length(layer)
    or_less = f" or serve at most {safe:,}" if safe is not None else ""
    message = (
        f"{len(layer.unseen)} of {len(layer.frequencies)} pairs never completed a period in training and see "
        f"out-of-range phases (not covered in training) at {served:,} positions ({newly} of them {complete} "
        f"first there); scale the frequencies (see context){or_less}"
    )
    yield layer.find(_UNSEEN_PHASES, message, pairs=list(layer.unseen), served_length=served, first_turns=newly)


def _find_safe_length(layer: LayerAudit) -> int | None:
    """Find the longest length that shows no phase beyond those of training; None where none is found."""
    if layer.scaling == "dynamic":
        return _search_safe_length(layer)
    unseen = list(layer.unseen)
    longest = int(np.min(layer.seen_phases[unseen] / layer.rates[unseen]) * (1 + _ROUNDING))
    if layer.scaling == "longrope":  # up to the original length it has another list
        longest = max(longest, layer.original_length or 0)
    return longest or None


def _search_safe_length(layer: LayerAudit) -> int | None:
    """The same where frequencies change with the length: from the original length on, which has none."""

    def has_unseen(length: int) -> bool:
        found = layer.turn(length) if layer.turn is not None else None
        return not isinstance(found, Rotation) or bool(replace(layer, rotation=found, served_length=length).unseen)

    from bisect import bisect_left

    first, last = layer.original_length or 1, layer.served_length or 1
    steps = bisect_left(range(first, last + 1), True, key=has_unseen)
    return first + steps - 1 if steps else None


def _check_base_size(layer: LayerAudit) -> Iterator[Finding]:
    """Compare the inference context length with the first lag at which the sum of cosines is negative."""
    turning = layer.rates[layer.rates > 0]
    # channels that are not turned keep the similarity from turning negative
    has_still = layer.rotary_dim != layer.head_dim or len(turning) < len(layer.frequencies) or layer.statement.beside
    if not turning.size or layer.served_length is None or layer.count_turns(layer.served_length) is None or has_still:
        return
    reach = layer.limit(layer.served_length)
    limit = min(reach, _SCANNED // len(turning))
    lag = _find_lag(tuple(turning.tolist()), limit)
    if lag is None or lag >= reach:  # positions 0 .. reach - 1 have no longer lag than reach - 1
        return
    far = reach > _FAR * lag
    with_base = f" with base {write_number(layer.base)}" if layer.base is not None else ""
    seen = "context" if reach == layer.served_length else "window"
    message = (
        f"the sum of cosines{with_base} is first negative at lag {lag:,}; the {reach:,} "
        f"positions of the {seen} are {write_rounded(reach / lag)} times as many"
    )
    if far:
        message += "; few published models go beyond 10 times: enlarge the base or scale (see context)"
    yield layer.find(_BASE_TOO_SMALL if far else _BASE_BELOW_BOUND, message, first_negative_lag=lag, reach=reach)


def _check_aliases(layer: LayerAudit) -> Iterator[Finding]:
    """Say where a frequency is above pi, or where every pair completes a period within the context."""
    above = int(np.count_nonzero(layer.rates > np.pi))
    if above:
        said, so = ("turns", "it aliases to a slower one") if above == 1 else ("turn", "they alias to slower ones")
        message = f"{count(above, 'pair')} {said} by more than pi per position, so {so}"
        yield layer.find(_ALIASING, message, level="warning", pairs=above)
        return
    turning = layer.rates[layer.rates > 0]
    if turning.size and layer.served_length is not None and layer.count_turns(layer.served_length) is not None:
        reach = layer.limit(layer.served_length)
        slowest = TURN / float(turning.min())
        if slowest < reach:
            turns = " that turns" if turning.size < layer.frequencies.size else ""
            message = (
                f"every pair{turns} completes a period within {reach:,} positions (longest wavelength "
                f"{write_rounded(slowest, 4)}): no pair alone tells how far apart two positions are"
            )
            yield layer.find(_ALIASING, message, longest_wavelength=slowest, reach=reach)


def _check_table(layer: LayerAudit) -> Iterator[Finding]:
    """Compare the rows of a table of positions with the length that is stated or served."""
    values = layer.configuration.values
    rows, unused = values.get("rows"), int(values.get("unused", 0))
    if not isinstance(rows, int) or layer.served_length is None:
        return
    if rows - unused >= layer.served_length:
        return
    kept = f" ({unused} of {rows:,} rows are no positions)" if unused else ""
    how, *mode = layer.configuration.resized or ("",)
    message = (
        f"the table of positions has {rows - unused:,} rows{kept}, fewer than the "
        f"{layer.served_length:,} positions that are asked for; {_RESIZED[how].format(*mode)}"
    )
    level: Level = "note" if how == "always" else "error"
    yield layer.find(_POSITION_TABLE_SHORT, message, level=level, rows=rows, unused=unused, served=layer.served_length)


def _check_precision(layer: LayerAudit) -> Iterator[Finding]:
    """Say what the angles of the fastest pair would lose in the type that the weights have."""
    kind = (layer.configuration.dtype or "").removeprefix("torch.")
    if kind not in _NARROW or not layer.frequencies.size or layer.served_length is None:
        return
    from pe_spectra.precision.dtypes import DTYPES, RECIPES

    last = layer.served_length - 1
    merged = 1 << DTYPES[kind].digits  # from here on the spacing of the type is above 1
    if last <= merged:
        return
    from pe_spectra.precision.phase_bounds import bound_phase_errors

    error, in_float32 = (
        bound_phase_errors(layer.rates, last, RECIPES[recipe].resolve(kind)).phases for recipe in ("all-bf16", "fp32")
    )
    overflown = int(DTYPES[kind].largest + DTYPES[kind].measure_ulp(DTYPES[kind].largest) / 2)  # a tie is rounded up
    beyond = f" (positions do from {overflown:,} on)" if last >= overflown else ""
    off = f"overflow{beyond}" if error is None else f"be off by up to {write_at_most(error)} rad"
    kept = "" if in_float32 is None else f" (up to {write_at_most(in_float32, 2)} rad)"
    message = (
        f"with every step in {kind}, the type that the file states of its weights, angles at positions up to "
        f"{last:,} would {off} and "
        f"positions above {merged:,} merge; keep angles in float32{kept}"
    )
    yield layer.find(
        _PRECISION, message, dtype=kind, phase_error=error, phase_error_float32=in_float32, merged_above=merged
    )


CHECKS = (_check_unseen, _check_base_size, _check_aliases, _check_table, _check_precision)
