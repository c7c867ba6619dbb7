"""All one-number summaries together, measured on views of an encoding.

Each metric is declared beside the function that measures it, as a field of what that function returns; `METRICS` is
the list of them all. A new one is a field and its value there, and its slow version in `tests/naive_metrics.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.encodings import Encoding, HasBias, HasKernel, HasTable
from pe_spectra.encodings.codes import read_codes
from pe_spectra.exact import F64, ArrayLike
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.metrics import kernel_shape, linearity, order, probes, resolution
from pe_spectra.metrics.measures import (
    Measure,
    Metric,
    Metrics,
    check_table,
    measure_norm,
    metric,
    or_reason,
    relate_separation,
    rescale,
)
from pe_spectra.metrics.resolution import Resolution
from pe_spectra.records import dataclass
from pe_spectra.spectrum.gram import compute_gram_kernel, measure_toeplitz_share
from pe_spectra.spectrum.record import Spectrum

if TYPE_CHECKING:
    from pe_spectra.faithfulness import Faithfulness

_NO_LIST = "the encoding has no list of frequencies"
_NO_TABLE = "the encoding has no table of position vectors"
#: Why what is measured on a table is not, where it cannot be held.
TOO_LARGE = "the table has too many entries to be held"
#: Why a spectrum with negative weights has none of its metrics.
SIGNED = "the spectrum has negative weights, so it is not a distribution"


@dataclass(frozen=True, kw_only=True)
class SpectrumMetrics(Metrics):
    """Summaries of a spectrum whose weights are a distribution."""

    low_bin_mass: float | None = metric("weight of the first ten bins of the spectrum", source="Eq. (15)")
    mean_frequency: float | None = metric(
        "mean of the encoding's own frequencies, by mass", unit="rad/position", minimum=0, source="definition"
    )
    centroid: float | None = metric(
        "mean frequency of the weights, blurred at their bandwidth", unit="rad/position", minimum=0, source="Eq. (15)"
    )
    effective_bins_entropy: float | None = metric(
        "exp of the entropy of the weights", unit="bins", better="higher", above=0, source="Shannon 1948"
    )
    flatness: float | None = metric(
        "geometric over arithmetic mean of the weights per basis function",
        better="higher",
        minimum=0,
        source="Wiener entropy",
    )


@dataclass(frozen=True, kw_only=True)
class Likeness(Metrics):
    """How far codes keep apart, how long they are, and how much of their similarities is a function of the lag."""

    min_separation: float | None = metric(
        "smallest distance between two position vectors", better="higher", minimum=0, degree=1, source="Definition 1"
    )
    relative_separation: float | None = metric(
        "min_separation over the root mean squared distance of all pairs of position vectors",
        better="higher",
        minimum=0,
        maximum=1.000001,
        source="ours, after Definition 1",
    )
    norm_rms: float | None = metric(
        "root mean squared norm of the position vectors", minimum=0, degree=1, source="definition"
    )
    toeplitz_share: float | None = metric(
        "share of the Gram matrix's energy that is a function of the lag alone",
        better="higher",
        minimum=0,
        maximum=1.000001,
        source="orthogonal projection on Toeplitz matrices",
    )


def _measure_spectrum_metrics(spectrum: Spectrum) -> SpectrumMetrics:
    """Take its metrics from the summary of a spectrum."""
    if spectrum.form == "signed":
        return SpectrumMetrics.explain(SIGNED)
    names = SpectrumMetrics.quantities()
    return SpectrumMetrics.tell({name: or_reason(getattr(spectrum.summary, name), _NO_LIST) for name in names})


def _measure_likeness(
    faithfulness: Faithfulness, spectrum: Spectrum | None = None, line: ArrayLike | None = None
) -> Likeness:
    """Take the separation of codes, and measure what their table says unless the spectrum has it."""
    table = _read_table(faithfulness) if line is None else check_table(line)
    smallest = or_reason(faithfulness.min_separation, faithfulness.missing)
    return Likeness.tell(
        {
            "min_separation": smallest,
            "relative_separation": table if isinstance(table, str) else relate_separation(smallest, table),
            "norm_rms": table if isinstance(table, str) else measure_norm(table),
            "toeplitz_share": _find_share(faithfulness.encoding, table, spectrum),
        }
    )


def _find_share(encoding: Encoding, table: F64 | str, spectrum: Spectrum | None) -> float | str:
    """The Toeplitz share of a spectrum's average; without one it is 1 by the formula of a lag, or measured."""
    if spectrum is not None and spectrum.toeplitz_share is not None:
        return spectrum.toeplitz_share
    if isinstance(encoding, HasBias | HasKernel) and not isinstance(encoding, HasTable):
        return 1.0
    return table if isinstance(table, str) else or_reason(measure_toeplitz_share(table), "every position vector is 0")


def _read_table(faithfulness: Faithfulness) -> F64 | str:
    """The position vectors, or why there are none."""
    encoding = faithfulness.encoding
    if not isinstance(encoding, HasTable):
        return _NO_TABLE
    if faithfulness.length * encoding.d > MAX_HELD_ENTRIES:
        return TOO_LARGE
    return read_codes(encoding, faithfulness.length)


_MEASURES: tuple[Measure, ...] = (
    Measure(kind=SpectrumMetrics, function=_measure_spectrum_metrics, needs=("spectrum",)),
    Measure(kind=Likeness, function=_measure_likeness, needs=("faithfulness",), takes=("spectrum", "table")),
    *kernel_shape.MEASURES,
    *order.MEASURES,
    *resolution.MEASURES,
    *linearity.MEASURES,
    *probes.MEASURES,
)
#: Every metric by name, in the order in which they are shown.
METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        name: declared
        for measure in _MEASURES
        for name, declared in measure.kind.quantities().items()
        if isinstance(declared, Metric)
    }
)
#: Which power of the spacing a unit has: measures count rows, of which only whole positions are one apart.
_POWERS = {"positions": 1, "per position squared": -2}
_UNEVEN = "the positions are not evenly spaced"
#: View -> why it is missing, where nothing else is known.
_MISSING = {
    "spectrum": "no spectrum was measured",
    "faithfulness": "no separation was measured",
    "kernel": "no table that can be held, and no kernel",
    "vectors": _NO_TABLE,
    "table": _NO_TABLE,
    "beyond": "no position vectors beyond the length",
}


@dataclass(frozen=True, kw_only=True)
class Views:
    """What metrics are measured on: views of an encoding at S positions; None for one that it does not have.

    Attributes
    ----------
    spectrum, faithfulness : as they are measured by default.
    kernel : (L,) at lags 0, 1, .., one head, exact where there is one; means along the Gram diagonals of vectors
        that have none.
    vectors : (S, d), the codes in any order; `table` unless given.
    table : (S, d), the codes of positions 0 .. S-1 along a line.
    beyond : (B, d), the codes of the positions after S-1.
    resolution : exact Fisher information of a ladder.
    spacing : positions from one row to the next; None where that differs.
    missing : why a view is missing, by its name, where more is known than that.

    >>> Views(table=[[1.0, 0.0], [0.0, 2.0]]).kernel  # (1 + 4)/2, and 0
    array([2.5, 0. ])
    """

    spectrum: Spectrum | None = None
    faithfulness: Faithfulness | None = None
    kernel: ArrayLike | None = None
    vectors: ArrayLike | None = None
    table: ArrayLike | None = None
    beyond: ArrayLike | None = None
    resolution: Resolution | None = None
    spacing: float | None = 1.0
    missing: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.vectors is None:
            object.__setattr__(self, "vectors", self.table)
        if self.kernel is None and self.vectors is not None:
            object.__setattr__(self, "kernel", compute_gram_kernel(rescale(check_table(self.vectors))[0]))


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Metrics by name.

    Attributes
    ----------
    values : name of `METRICS` -> number, or None; all names, in their order.
    notes : name -> why its value is None; each None has one.

    >>> measure_metrics(Views(kernel=[4.0, 3.0, 1.0])).values["kernel_half_width"]
    1.5
    """

    values: Mapping[str, float | None]
    notes: Mapping[str, str]


def measure_metrics(views: Views) -> Measured:
    """Measure every metric for which there are views, with a budget of work.

    >>> import numpy as np
    >>> found = measure_metrics(Views(table=np.eye(12)))
    >>> round(found.values["stable_rank"], 9), found.notes["extrapolation_rmse"]
    (12.0, 'no position vectors beyond the length')
    """
    values: dict[str, float | None] = {}
    notes: dict[str, str] = {}
    for measure in _MEASURES:
        lacking = next((name for name in measure.needs if getattr(views, name) is None), None)
        if lacking is not None:
            found = measure.kind.explain(views.missing.get(lacking, _MISSING[lacking]))
        else:
            found = measure.function(*(getattr(views, name) for name in (*measure.needs, *measure.takes)))
        values |= {name: getattr(found, name) for name in measure.kind.quantities()}
        notes |= found.reasons
        if views.spacing != 1.0 and not (isinstance(found, Resolution) and found.is_exact):
            for name in measure.kind.quantities():
                _count_positions(name, views.spacing, values, notes)
    return Measured(values=MappingProxyType(values), notes=MappingProxyType(notes))


def _count_positions(name: str, spacing: float | None, values: dict[str, float | None], notes: dict[str, str]) -> None:
    """Turn a metric that was measured in rows into one in positions, or say why there is none."""
    power, value = _POWERS.get(METRICS[name].unit), values[name]
    if power is None or value is None:
        return
    with np.errstate(over="ignore", under="ignore"):
        found = None if spacing is None else float(value * np.float64(spacing) ** power)
    values[name] = found if found is not None and math.isfinite(found) else None
    if values[name] is None:
        notes[name] = _UNEVEN if spacing is None else "beyond the range of float64"
