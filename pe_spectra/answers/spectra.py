"""Spectra as an answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from types import MappingProxyType

from pe_spectra.answers.answer import Answer, Body, Drawing, agree, group_facts
from pe_spectra.answers.captions import (
    find_peaks,
    judge_spectrum,
    name_lines,
    place_below,
    write_blur,
    write_centroid,
    write_low,
    write_mean,
)
from pe_spectra.encodings import Dft, Encoding
from pe_spectra.exact import F64
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.spectrum.evenness import LOW_BINS
from pe_spectra.spectrum.grid_spectrum import GridSpectrum
from pe_spectra.spectrum.kernels import SOURCES, describe_average
from pe_spectra.spectrum.low_bin import LowBinCount, count_low_frequencies
from pe_spectra.spectrum.record import WEIGHTS_ARE_SHARES, Spectrum, SpectrumSummary
from pe_spectra.wording import percent, write_at_most, write_power, write_time

#: The summaries that only a distribution has.
_OF_DISTRIBUTIONS = [name for name, one in SpectrumSummary.quantities().items() if one.defined is not None]
#: A weight whose rounding is a larger share of it has not two digits that are known.
_ROUNDED = 0.005
_HOW = ("grid", "bandwidth", "boundary", "estimator")


# --------------------------------------------------------------------- documents


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference(Result):
    """The DFT encoding on the same lattice, to compare with."""

    encoding: Encoding = quantity("The DFT encoding of the lattice.")
    weights: F64 = quantity(
        "Its weights at the same frequencies (Eq. 22, first form); they sum to 1.", minimum=0, maximum=1, least=2
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SpectrumBody(Body):
    """The frequency weights of one encoding at one bandwidth: Eq. 15, or the same of its kernel."""

    kind = "spectrum"
    schema_rules = MappingProxyType(
        {**WEIGHTS_ARE_SHARES, "if": {"properties": {"parameters": WEIGHTS_ARE_SHARES["if"]}}}
    )

    @derived("The encoding that was analysed.")
    def encoding(self) -> Encoding:
        return self.spectrum.encoding

    @derived("How its weights were computed.", inline=True, keys=_HOW, asked=True)
    def how(self) -> Spectrum:
        return self.spectrum

    spectrum: Spectrum = quantity(
        "The spectrum.",
        inline=True,
        keys=tuple(name for name in Spectrum.quantities() if name not in (*_HOW, "encoding")),
    )

    @derived(
        "The DFT encoding on the same lattice, to compare with; null at real positions, which have no such lattice."
    )
    def reference(self) -> Reference | None:
        weights = self.spectrum.reference
        return None if weights is None else Reference(encoding=Dft(d=self.spectrum.grid), weights=weights)

    planes: tuple[GridSpectrum, ...] = quantity(
        "The two-dimensional spectra of the encodings whose positions fill a grid.",
        least=1,
        only=lambda body: bool(body.planes),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SpectraBody(Body):
    """The frequency weights of several encodings, at several bandwidths, or along both sides of a grid."""

    kind = "spectrum"

    @derived("How the first was computed.", inline=True, keys=("grid", "boundary", "estimator"), asked=True)
    def first(self) -> Spectrum:
        return self.spectra[0]

    @derived(
        "Kernel width in bins where it is the same for all, else a list of those of the members; null where no kernel "
        "enters.",
        schema={
            "type": ["number", "null", "array"],
            "exclusiveMinimum": 0,
            "items": {"type": ["number", "null"], "exclusiveMinimum": 0},
            "minItems": 2,
        },
        asked=True,
    )
    def bandwidth(self) -> object:
        return agree([spectrum.bandwidth for spectrum in self.spectra])

    spectra: tuple[Spectrum, ...] = quantity(
        "The spectra, encoding by encoding and bandwidth by bandwidth; of an encoding on a grid one for each "
        "direction.",
        least=2,
    )
    planes: tuple[GridSpectrum, ...] = quantity(
        "The two-dimensional spectra of the encodings whose positions fill a grid.",
        least=1,
        only=lambda body: bool(body.planes),
    )


# --------------------------------------------------------------------- answers


def answer_spectra(
    spectra: Sequence[Spectrum],
    planes: Sequence[GridSpectrum] = (),
    notes: Sequence[str] = (),
) -> Answer:
    """Turn one or several spectra into an answer, with what the caller has to note.

    Parameters
    ----------
    spectra : at least one; of an encoding on a grid one for each direction.
    planes : the two-dimensional spectra of the encodings on a grid.

    >>> from pe_spectra import Dft, compute_spectrum
    >>> answer_spectra([compute_spectrum(Dft(d=256))]).verdict.code
    'flat'
    """
    first, is_one = spectra[0], len(spectra) == 1
    low = count_low_frequencies(first) if is_one else None
    names = () if is_one else name_lines(spectra)
    return Answer(
        body=SpectrumBody(spectrum=first, planes=tuple(planes))
        if is_one
        else SpectraBody(spectra=tuple(spectra), planes=tuple(planes)),
        verdict=judge_spectrum(first, "" if is_one else f"{_name(first)}: "),
        results=spectra,
        total=sum(len(one.weights) for one in spectra),
        constant=("encoding", "grid", "bandwidth") if is_one else (),
        facts=_list_facts(first, low) if is_one else list(zip(names, _sum_up(spectra), strict=True)),
        details=() if is_one else group_facts((n, _list_facts(s, None)) for n, s in zip(names, spectra, strict=True)),
        notes=[*_list_notes(spectra), *notes],
        shown=("k", "omega", *(first.in_time if first.encoding.time_step else ()), "weight", "reference")
        if is_one
        else ("encoding", "bandwidth", "k", "weight"),
        rows="none",
        drawing=_draw(first) if is_one else None,
    )


def _list_notes(spectra: Sequence[Spectrum]) -> list[str]:
    notes = []
    for spectrum in spectra:
        notes += [*spectrum.encoding.all_notes, *spectrum.notes]
        if spectrum.form == "signed":
            missing = f"{', '.join(_OF_DISTRIBUTIONS[:-1])} or {_OF_DISTRIBUTIONS[-1]}"
            notes.append(f"{_name(spectrum)}: not a distribution (negative weights), so no {missing}")
    lattices = sorted({spectrum.grid for spectrum in spectra})
    if len(lattices) > 1:
        sizes = ", ".join(map(str, lattices))
        notes.append(f"lattices differ (N = {sizes}), so a bin, and a bandwidth in bins, is not as wide in each")
    return notes


def _name(spectrum: Spectrum) -> str:
    return spectrum.label + write_blur(spectrum)


def _sum_up(spectra: Sequence[Spectrum]) -> Iterator[str]:
    """One line for each of several spectra, with one measure of where all lie."""
    are_known = all(one.summary.mean_frequency is not None for one in spectra)
    for one in spectra:
        if one.form == "signed":
            yield f"not a distribution (negative weights sum to -{one.summary.negative_mass:.3g})"
            continue
        mean = write_mean(one) if are_known else write_centroid(one)
        yield f"first {min(LOW_BINS, len(one.omega))} bins {write_low(one.summary)}, {mean}"


def _list_facts(spectrum: Spectrum, low: LowBinCount | None) -> list[tuple[str, str]]:
    summary, bins, width = spectrum.summary, len(spectrum.omega), float(spectrum.omega[1])
    peaks, places = find_peaks(spectrum)
    peak = f"{places} ({spectrum.weights[summary.peak_bin]:.4g}{' each' if len(peaks) > 1 else ''})"
    is_cut = spectrum.estimator == "kde" and spectrum.boundary == "none"
    if is_cut and 0 < peaks[0] <= (spectrum.bandwidth or 0.0):
        peak += f"; bin 0 has {spectrum.weights[0]:.4g}, half of its kernel lies below zero (--boundary reflect)"
    entropy, participation = summary.effective_bins_entropy, summary.effective_bins_participation
    blur = write_blur(spectrum)
    shares = {
        "centroid": f"{summary.centroid / width:.2f} bins, {summary.centroid:.4g} rad/position{blur}",
        "effective bins": f"{entropy:.1f} of {bins} (entropy), {participation:.1f} (participation){blur}",
        "flatness": f"{summary.flatness:.3g}{blur}",
    }
    if spectrum.form == "signed":
        shares = dict.fromkeys(shares, "- (not a distribution)")
    mean = "" if summary.mean_frequency is None else f"{summary.mean_frequency:.4g} rad/position"
    facts = [("peak", peak), ("mean frequency", mean), *shares.items(), ("frequencies", _say_low(low))]
    if spectrum.encoding.time_step and spectrum.axis is None:
        facts.append(("in time", _say_cycles(spectrum)))
    if spectrum.estimator != "lag-window":
        ends_at_pi = spectrum.estimator != "nudft" and spectrum.grid % 2 == 0
        return [*facts, ("at pi" if ends_at_pi else "at the last bin", _write_last(spectrum))]
    share, negative = spectrum.toeplitz_share, summary.negative_mass
    alone = f"is a function of the {'lag' if spectrum.axis is None else 'offset'} alone"
    return [
        *facts,
        ("kernel", SOURCES[spectrum.kernel_source or "exact"]),
        ("averaged over", describe_average(spectrum.encoding, spectrum.kernel_source or "exact", spectrum.length)),
        ("Toeplitz share", "" if share is None else f"{percent(share)} {alone}"),
        ("negative mass", f"{negative:.3g}: more than the estimate can tell" if negative > 1e-9 else ""),
    ]


def _say_cycles(spectrum: Spectrum) -> str:
    """Of which periods the first bin and the last are."""
    from pe_spectra.domains import name_cycles

    step = spectrum.encoding.time_step
    unit, cycles = name_cycles(step)
    longest, shortest = (write_time(86400 / float(spectrum.in_time["cycles_per_day"][place])) for place in (1, -1))
    width = float(spectrum.omega[1]) / (2 * math.pi) * cycles
    return f"a bin is {width:.4g} {unit} at a step of {step}; periods from {shortest} to {longest}"


def _write_last(spectrum: Spectrum) -> str:
    """The last weight in the digits that are known; at real positions the rounding of the largest may be larger."""
    weight, rounding = float(spectrum.weights[-1]), spectrum.rounding
    if rounding > _ROUNDED * weight:
        return f"below {write_at_most(weight + rounding, 2)}"
    return write_power(spectrum.log_weights[-1], spectrum.log_errors[-1])


def _say_low(low: LowBinCount | None) -> str:
    if low is None:
        return ""
    crossing = "" if low.crossing is None else f" (Eq. 16: l* = {low.crossing:.2f})"
    edge = f"the first DFT frequency 2 pi/{low.points}"
    return f"{low.inside} of {low.total} {place_below(low.zero, edge)}{crossing}"


def _draw(spectrum: Spectrum) -> Drawing:
    width = "" if spectrum.bandwidth is None else f"bandwidth {spectrum.bandwidth:g} bins"
    how = {
        "kde": f", Eq. 15, {width}, boundary {spectrum.boundary}",
        "lattice": ", exact on its lattice",
        "lag-window": f", lag window of its kernel, {width}",
        "nudft": f", {width}",
    }[spectrum.estimator]
    between: tuple[tuple[float, str], ...] = ((1 / math.pi, "1 rad"), (2 / math.pi, "2"))
    end = "pi"
    if spectrum.estimator == "nudft":
        between, end = (), f"{spectrum.omega[-1]:.4g} rad"
    ticks = ((0.0, "0"), *between, (1.0, end))
    return Drawing(title=f"weight   {spectrum.label}{how}", values=spectrum.weights, ticks=ticks)
