"""All metrics of one table or one kernel, by name, with the reason wherever there is no number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from numpy.typing import ArrayLike

from pe_spectra.exact import F64
from pe_spectra.metrics.definitions import METRICS
from pe_spectra.metrics.invariance import measure_translation_invariance
from pe_spectra.metrics.kernel_shape import measure_half_width, measure_sidelobe
from pe_spectra.metrics.linearity import measure_shift_linearity
from pe_spectra.metrics.order import (
    measure_distance_lag_spearman,
    measure_kernel_monotonicity,
    measure_table_monotonicity,
)
from pe_spectra.metrics.probes import measure_extrapolation, measure_position_probe
from pe_spectra.metrics.rank import measure_ranks
from pe_spectra.metrics.resolution import Resolution, measure_table_resolution
from pe_spectra.metrics.tables import (
    MAX_PRODUCT_WORK,
    average_diagonals,
    check_kernel,
    check_table,
    count_product_work,
    explain_budget,
    tame,
)

_Found = dict[str, float | str]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Metrics by name.

    Attributes
    ----------
    values : name of `METRICS` -> number, or None; all names, in their order.
    notes : name -> why its value is None; each None has one.

    >>> from pe_spectra import Dft
    >>> round(measure_table_metrics(Dft(d=8).table(8)).values["stable_rank_centred"], 12)
    7.0
    """

    values: Mapping[str, float | None]
    notes: Mapping[str, str]


def measure_table_metrics(
    table: ArrayLike,
    *,
    kernel: ArrayLike | None = None,
    resolution: Resolution | None = None,
    beyond: ArrayLike | None = None,
) -> Measured:
    """Measure everything that the codes of positions 0 .. S-1 tell, with a budget of work.

    Parameters
    ----------
    table : (S, d).
    kernel : (L,) at lags 0, 1, .., exact where there is one; None: means along the Gram diagonals.
    resolution : exact Fisher information of a ladder; None: central differences.
    beyond : (B, d), the codes of the positions after S-1; None where the encoding has none.

    >>> import numpy as np
    >>> found = measure_table_metrics(np.eye(12))
    >>> round(found.values["stable_rank"], 9), found.notes["extrapolation_rmse"]
    (12.0, 'no codes beyond the length')
    """
    values = check_table(table)
    found = _describe_kernel(average_diagonals(tame(values)[0]) if kernel is None else check_kernel(kernel), None)
    found |= _describe_order(values)
    found |= _describe_ranks(values)
    found |= _describe_resolution(resolution or measure_table_resolution(values))
    shift, probe = measure_shift_linearity(values), measure_position_probe(values)
    found |= {
        "shift_linearity_mean": _or_note(shift.mean, shift.note),
        "shift_linearity_worst": _or_note(shift.worst, shift.note),
        "probe_rmse": _or_note(probe.rmse, probe.note),
        "probe_r2": _or_note(probe.r2, probe.note),
    }
    found |= _describe_extrapolation(values, beyond)
    return _gather(found, "")


def measure_kernel_metrics(kernel: ArrayLike, *, bias: ArrayLike | None = None) -> Measured:
    """Measure what a kernel alone tells, for encodings that have no table.

    Parameters
    ----------
    kernel : (L,) at lags 0, 1, .., one head.
    bias : (L,) whose exponential the kernel is; its order is the same, and does not underflow.

    >>> import numpy as np
    >>> measure_kernel_metrics(np.exp(-np.arange(50.0)), bias=-np.arange(50.0)).values["kernel_monotonicity"]
    1.0
    """
    return _gather(_describe_kernel(check_kernel(kernel), bias), "the encoding has no table of codes")


def _or_note(value: float | None, note: str) -> float | str:
    return note if value is None else value


def _describe_kernel(kernel: F64, bias: ArrayLike | None) -> _Found:
    flat = "k(0) is not positive" if kernel[0] <= 0 else ""
    sidelobe = measure_sidelobe(kernel)
    alone = flat or "no local maximum beyond the main lobe"
    return {
        "kernel_half_width": _or_note(
            measure_half_width(kernel), flat or f"the kernel stays above half of its peak up to lag {len(kernel) - 1}"
        ),
        "sidelobe_ratio": sidelobe.value if sidelobe else alone,
        "sidelobe_lag": float(sidelobe.lag) if sidelobe else alone,
        "kernel_monotonicity": _or_note(
            measure_kernel_monotonicity(kernel if bias is None else bias), "fewer than two lags"
        ),
    }


def _describe_order(table: F64) -> _Found:
    few = "fewer than three positions"
    same = few if len(table) < 3 else "the mean distance is the same at every lag"
    uneven = (
        explain_budget("translation invariance", table)
        if count_product_work(table) > MAX_PRODUCT_WORK
        else "all entries of the Gram matrix are equal"
    )
    return {
        "table_monotonicity": _or_note(measure_table_monotonicity(table), few),
        "translation_invariance": _or_note(measure_translation_invariance(table), uneven),
        "distance_lag_spearman": _or_note(measure_distance_lag_spearman(table), same),
    }


def _describe_ranks(table: F64) -> _Found:
    ranks = measure_ranks(table)
    zero, equal = ranks.note or "every code is 0", ranks.note or "all codes are equal"
    return {
        "stable_rank": _or_note(ranks.stable_rank, zero),
        "stable_rank_centred": _or_note(ranks.stable_rank_centred, equal),
        "effective_rank_entropy": _or_note(ranks.effective_rank_entropy, zero),
        "effective_rank_entropy_centred": _or_note(ranks.effective_rank_entropy_centred, equal),
    }


def _describe_resolution(resolution: Resolution | None) -> _Found:
    names = [name for name in METRICS if name.startswith(("fisher_information", "cramer_rao"))]
    if resolution is None:
        return dict.fromkeys(names, "fewer than three positions")
    return {name: _or_note(getattr(resolution, name), resolution.explain(name)) for name in names}


def _describe_extrapolation(table: F64, beyond: ArrayLike | None) -> _Found:
    names = ("extrapolation_rmse", "extrapolation_separation")
    if beyond is None:
        return dict.fromkeys(names, "no codes beyond the length")
    result = measure_extrapolation(table, beyond)
    note = "; ".join(result.notes)
    return {names[0]: _or_note(result.rmse, note), names[1]: _or_note(result.smallest_separation, note)}


def _gather(found: _Found, otherwise: str) -> Measured:
    values: dict[str, float | None] = {}
    notes: dict[str, str] = {}
    for name in METRICS:
        value = found.get(name, otherwise)
        values[name] = None
        if isinstance(value, str):
            notes[name] = value
        elif math.isfinite(value):
            values[name] = float(value)
        else:
            notes[name] = "beyond the range of float64"
    return Measured(values=MappingProxyType(values), notes=MappingProxyType(notes))
