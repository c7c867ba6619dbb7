"""What a spectrum and a Gram matrix say in one number, beside other encodings."""

from __future__ import annotations

from dataclasses import dataclass

from pe_spectra.encodings import HasBias, HasKernel, HasTable
from pe_spectra.encodings.codes import read_codes
from pe_spectra.faithfulness import Faithfulness
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.metrics.measures import Measure, Metrics, metric, or_reason
from pe_spectra.spectrum import Spectrum, measure_toeplitz_share

#: Why a spectrum with weights of both signs has none of its metrics.
SIGNED = "the spectrum has weights of both signs, which are not a distribution"
_UNDEFINED = "not defined for this encoding"


@dataclass(frozen=True, kw_only=True)
class SpectrumMetrics(Metrics):
    """Summaries of a spectrum whose weights are a distribution."""

    low_bin_mass: float | None = metric("weight of the first ten bins of the spectrum", source="Eq. (15)")
    centroid: float | None = metric("mean frequency of the spectrum", unit="rad/position", minimum=0, source="Eq. (15)")
    effective_bins_entropy: float | None = metric(
        "exp of the entropy of the weights", unit="bins", better="higher", above=0, source="Shannon 1948"
    )
    flatness: float | None = metric(
        "geometric over arithmetic mean of the weights", better="higher", minimum=0, source="Wiener entropy"
    )


@dataclass(frozen=True, kw_only=True)
class Likeness(Metrics):
    """How far codes keep apart, and how much of their similarities is a function of the lag."""

    min_separation: float | None = metric(
        "smallest distance between two position vectors", better="higher", minimum=0, source="Definition 1"
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
    return SpectrumMetrics.tell({name: getattr(spectrum.summary, name) for name in SpectrumMetrics.quantities()})


def _measure_likeness(faithfulness: Faithfulness, spectrum: Spectrum | None = None) -> Likeness:
    """Take the separation of codes, and measure the Toeplitz share of their products unless the spectrum has it."""
    share = _find_share(faithfulness, spectrum)
    return Likeness.tell(
        {
            "min_separation": or_reason(faithfulness.min_separation, _UNDEFINED),
            "toeplitz_share": or_reason(share, _UNDEFINED),
        }
    )


MEASURES = (
    Measure(kind=SpectrumMetrics, function=_measure_spectrum_metrics, needs=("spectrum",)),
    Measure(kind=Likeness, function=_measure_likeness, needs=("faithfulness",), takes=("spectrum",)),
)


def _find_share(faithfulness: Faithfulness, spectrum: Spectrum | None) -> float | None:
    if spectrum is not None and spectrum.toeplitz_share is not None:
        return spectrum.toeplitz_share
    encoding = faithfulness.encoding
    if isinstance(encoding, HasBias | HasKernel) and not isinstance(encoding, HasTable):
        return 1.0  # a function of the lag by its formula
    if not isinstance(encoding, HasTable) or faithfulness.length * encoding.d > MAX_HELD_ENTRIES:
        return None
    return measure_toeplitz_share(read_codes(encoding, faithfulness.length))
