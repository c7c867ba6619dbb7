"""The metrics by name: what each is, its unit, which way is better, and its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric.

    Attributes
    ----------
    definition : one line.
    unit : "positions", "" for a pure number.
    better : "higher", "lower", or None where neither is.
    source : where it comes from.

    >>> from pe_spectra.metrics import METRICS
    >>> METRICS["stable_rank"].definition, METRICS["stable_rank"].better
    ('sum s**2 / s_1**2 of the table', None)
    """

    definition: str
    unit: str
    better: Literal["higher", "lower"] | None
    source: str


_WANG = "property: Wang et al., ICLR 2021; indicator: ours"
_FISHER = "Cramer 1946, Rao 1945"
_PROBE = "Wang & Chen 2020, arXiv:2010.04903; Golub, Heath & Wahba 1979"
_SHIFT = "claim: Vaswani et al. 2017, Sec. 3.5; indicator: ours"

#: In the order in which they are shown.
METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "kernel_half_width": Metric(
            definition="first lag where k(tau)/k(0) falls to 1/2, linear between lags",
            unit="positions",
            better=None,
            source="half width at half maximum",
        ),
        "sidelobe_ratio": Metric(
            definition="largest local maximum of k(tau)/k(0) beyond its first local minimum",
            unit="",
            better="lower",
            source="sidelobe level, array processing",
        ),
        "sidelobe_lag": Metric(
            definition="lag of that maximum", unit="positions", better=None, source="sidelobe level, array processing"
        ),
        "kernel_monotonicity": Metric(
            definition="share of pairs t1 < t2 of lags with k(t1) > k(t2), ties one half",
            unit="",
            better="higher",
            source=_WANG,
        ),
        "table_monotonicity": Metric(
            definition="share of triples, t between s and u, with <e_s, e_t> > <e_s, e_u>, ties one half",
            unit="",
            better="higher",
            source=_WANG,
        ),
        "translation_invariance": Metric(
            definition="1 - Var(along diagonals)/Var(all) of the Gram matrix",
            unit="",
            better="higher",
            source=_WANG,
        ),
        "distance_lag_spearman": Metric(
            definition="rank correlation of the lag with the root mean squared distance at that lag",
            unit="",
            better="higher",
            source="Spearman 1904; use on mean distances: ours",
        ),
        "stable_rank": Metric(
            definition="sum s**2 / s_1**2 of the table", unit="", better=None, source="Rudelson & Vershynin 2007"
        ),
        "stable_rank_centred": Metric(
            definition="sum s**2 / s_1**2 of the table less its column means",
            unit="",
            better=None,
            source="Rudelson & Vershynin 2007",
        ),
        "effective_rank_entropy": Metric(
            definition="exp(H(p)), p = s / sum s, of the table", unit="", better=None, source="Roy & Vetterli 2007"
        ),
        "effective_rank_entropy_centred": Metric(
            definition="exp(H(p)), p = s / sum s, of the table less its column means",
            unit="",
            better=None,
            source="Roy & Vetterli 2007",
        ),
        "fisher_information_mean": Metric(
            definition="mean of ||de/dp||**2 over positions, for unit noise",
            unit="per position squared",
            better="higher",
            source=_FISHER,
        ),
        "fisher_information_min": Metric(
            definition="smallest ||de/dp||**2, for unit noise",
            unit="per position squared",
            better="higher",
            source=_FISHER,
        ),
        "cramer_rao_bound_mean": Metric(
            definition="1/sqrt of the mean Fisher information, for unit noise",
            unit="positions",
            better="lower",
            source=_FISHER,
        ),
        "cramer_rao_bound_worst": Metric(
            definition="1/sqrt of the smallest Fisher information, for unit noise",
            unit="positions",
            better="lower",
            source=_FISHER,
        ),
        "shift_linearity_mean": Metric(
            definition="held-out R**2 of an affine map from e(s) to e(s + k), mean over k",
            unit="",
            better="higher",
            source=_SHIFT,
        ),
        "shift_linearity_worst": Metric(
            definition="held-out R**2 of an affine map from e(s) to e(s + k), worst k",
            unit="",
            better="higher",
            source=_SHIFT,
        ),
        "probe_rmse": Metric(
            definition="error of ridge regression of s on e(s), five interleaved folds",
            unit="positions",
            better="lower",
            source=_PROBE,
        ),
        "probe_r2": Metric(
            definition="R**2 of ridge regression of s on e(s), five interleaved folds",
            unit="",
            better="higher",
            source=_PROBE,
        ),
        "extrapolation_rmse": Metric(
            definition="error of the probe fitted on 0 .. S-1 at the positions after them",
            unit="positions",
            better="lower",
            source="ours, after Press et al. 2022, arXiv:2108.12409",
        ),
        "extrapolation_separation": Metric(
            definition="smallest distance of two codes, those after S-1 included",
            unit="",
            better="higher",
            source="ours, after Press et al. 2022, arXiv:2108.12409",
        ),
    }
)
