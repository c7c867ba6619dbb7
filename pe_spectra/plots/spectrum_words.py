"""What a figure of spectra says in words: names of curves, title, small print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.plots.style import escape_text
from pe_spectra.spectrum.kernels import SOURCES
from pe_spectra.spectrum.shape import classify_shape, explain_signs
from pe_spectra.spectrum.summary import LOW_BINS

if TYPE_CHECKING:
    from pe_spectra.encodings import Encoding
    from pe_spectra.spectrum import Spectrum

#: At most so many encodings are named in one sentence of the small print.
_MOST_NAMES = 4
#: Mean frequencies closer than this share are said to be the same.
_SAME = 0.05
#: A logarithmic axis with a lag window or a periodogram on it: powers of ten above their rounding.
MOST_DECADES = 18.0
#: Among several spectra one that falls further, in powers of ten, would leave the others no room.
_FARTHEST = 1000.0
#: Weights closer than this share are the same but for rounding.
_EQUAL = 1e-9
#: Negative weights of less than this sum are rounding.
_ROUNDING = 1e-12


def name_spectra(spectra: Sequence[Spectrum]) -> list[str]:
    """Name each spectrum by its encoding, and by whatever else tells it from the others."""
    bandwidths = {spectrum.bandwidth for spectrum in spectra if spectrum.axis is None} - {None}
    swept = _find_swept(spectra)
    boundaries = {spectrum.boundary for spectrum in spectra if spectrum.estimator == "kde"}
    labels = _name_encodings(spectra, brief=False)
    names = []
    for spectrum in spectra:
        name = labels[spectrum.encoding]
        if spectrum.axis is not None:
            name += f", {spectrum.axis}"
        differs = len(bandwidths) > 1 if spectrum.axis is None else (spectrum.encoding, spectrum.axis) in swept
        if differs and spectrum.bandwidth is not None:
            name += f", {_count_bins(spectrum)}"
        if len(boundaries) > 1 and spectrum.estimator == "kde":
            name += f", boundary {spectrum.boundary}"
        names.append(name)
    return names


def name_briefly(encoding: Encoding) -> str:
    """The first word of a label, before its parameters; ready to be drawn."""
    return escape_text(encoding.label.partition(" ")[0])


def entitle_spectra(spectra: Sequence[Spectrum]) -> str:
    """Say what the figure shows."""
    if len(spectra) == 1:
        return _entitle_one(spectra[0])
    if len({spectrum.encoding for spectrum in spectra}) == 1 and _find_swept(spectra):
        return "The weights depend on the bandwidth that is chosen"
    names = _name_shortly(spectra)
    signed = [spectrum for spectrum in spectra if classify_shape(spectrum) == "signed"]
    if signed:
        listed = _list_names([names[_find(spectra, one)] for one in signed])
        return f"Weights of both signs are no shares, and their mean is no frequency: {listed}"
    ordered = sorted(spectra, key=lambda spectrum: spectrum.summary.centroid)
    low, high = ordered[0], ordered[-1]
    least, most = low.summary.centroid, high.summary.centroid
    if most - least <= _SAME * abs(most):
        return f"The mean frequency of all is about {most:.3g} rad per position"
    first, last = (f" ({names[_find(spectra, one)]})" for one in (low, high))
    return f"The mean frequency runs from {least:.3g}{first} to {most:.3g} rad per position{last}"


def describe_spectra(spectra: Sequence[Spectrum]) -> tuple[str, ...]:
    """Say how the spectra were estimated: what they have in common, and what is true of some only."""
    named = _name_encodings(spectra, brief=True)
    names = [named[spectrum.encoding] for spectrum in spectra]
    estimators = _group(spectra, names, _describe_estimator)
    smoothed = [spectrum for spectrum in spectra if spectrum.bandwidth is not None]
    parts = _agree([_describe_bandwidth(s) for s in smoothed]) or _agree([_count_bins(s) for s in smoothed])
    if smoothed and not parts and not any("bandwidth" in name for name in name_spectra(spectra)):
        parts = [_group(smoothed, [named[s.encoding] for s in smoothed], _count_bins)]
    parts += _agree([f"boundary {s.boundary}" if s.estimator == "kde" else "" for s in spectra])
    parts += _agree([f"lattice N\u00a0=\u00a0{s.grid}" if s.estimator != "nudft" else "" for s in spectra])
    lines = [", ".join([estimators, *parts]) if ": " not in estimators else "; ".join([estimators, *parts])]
    lines += [text for text in (_describe_shares(spectra), _describe_heads(spectra, names)) if text]
    negative = [s for s in spectra if s.summary.negative_mass > _ROUNDING]
    if negative:
        largest = max(s.summary.negative_mass for s in negative)
        lines.append(f"weights below zero (their sum is −{largest:.2g} at most) leave gaps on the logarithmic axis")
    if limit_decades(spectra) is not None and any(_leaves_axis(s) for s in spectra):
        lines.append(f"the logarithmic axis ends {MOST_DECADES:.0f} powers of ten below its top, Eq. 15 does not")
    return tuple(lines)


def limit_decades(spectra: Sequence[Spectrum]) -> float | None:
    """Return how far down a logarithmic axis goes at most: beyond the rounding of a lag window is only Eq. 15."""
    if any(s.estimator in ("lag-window", "nudft") for s in spectra):
        return MOST_DECADES
    return MOST_DECADES if len(spectra) > 1 and any(_leaves_axis(s, _FARTHEST) for s in spectra) else None


def _find_swept(spectra: Sequence[Spectrum]) -> set[tuple[Encoding, str | None]]:
    """What is there at several bandwidths: encodings, on a grid with the direction."""
    found: dict[tuple[Encoding, str | None], set[float | None]] = {}
    for spectrum in spectra:
        found.setdefault((spectrum.encoding, spectrum.axis), set()).add(spectrum.bandwidth)
    return {one for one, bandwidths in found.items() if len(bandwidths) > 1}


def _leaves_axis(spectrum: Spectrum, decades: float = MOST_DECADES) -> bool:
    logs = spectrum.log_weights[np.isfinite(spectrum.log_weights)] / np.log(10)
    return spectrum.estimator == "kde" and logs.size > 0 and float(logs.min()) < -decades


def _entitle_one(spectrum: Spectrum) -> str:
    bins = spectrum.omega.size
    shape = classify_shape(spectrum)
    if shape == "signed":
        return explain_signs(spectrum)
    if shape == "blurred":
        width = f"{spectrum.bandwidth:g} bin{'' if spectrum.bandwidth == 1 else 's'}"
        return f"Blurred flat: a kernel of {width} spans all {bins}"
    if shape == "flat":
        return _entitle_flat(spectrum)
    if shape == "uneven":
        return f"The mean frequency is {spectrum.summary.centroid:.3g} rad per position"
    share = f"{100 * min(1.0, spectrum.summary.low_bin_mass):.1f} %"
    return f"{share} of the weight lies in the first {LOW_BINS} of {bins} frequencies"


def _entitle_flat(spectrum: Spectrum) -> str:
    """Say how flat: wholly, but for the ends, or from which weight to which."""
    weights, bins = spectrum.weights, spectrum.omega.size
    if np.ptp(weights) <= _EQUAL * weights.max():
        return f"All {bins} frequencies weigh the same"
    for inner, ends in ((weights[1:-1], "the two ends"), (weights[1:], "the lowest")):
        if inner.size > 1 and np.ptp(inner) <= _EQUAL * weights.max():
            return f"All frequencies but {ends} weigh the same"
    return f"The weights of {bins} frequencies run from {weights.min():.3g} to {weights.max():.3g} of the whole"


def _find(spectra: Sequence[Spectrum], one: Spectrum) -> int:
    return next(number for number, spectrum in enumerate(spectra) if spectrum is one)


def _name_encodings(spectra: Sequence[Spectrum], *, brief: bool) -> dict[Encoding, str]:
    """A name for each encoding that no other has: `brief` where that tells it apart, else in full or numbered."""
    encodings = list(dict.fromkeys(spectrum.encoding for spectrum in spectra))
    short = [name_briefly(encoding) for encoding in encodings]
    full = [escape_text(encoding.label) for encoding in encodings]
    names = {}
    for number, encoding in enumerate(encodings):
        if brief and short.count(short[number]) == 1:
            names[encoding] = short[number]
        elif full.count(full[number]) == 1:
            names[encoding] = full[number]
        else:
            names[encoding] = f"{full[number]} #{full[: number + 1].count(full[number])}"
    return names


def _name_shortly(spectra: Sequence[Spectrum]) -> list[str]:
    """Names for the title."""
    names = _name_encodings(spectra, brief=True)
    return [names[s.encoding] + ("" if s.axis is None else f", {s.axis}") for s in spectra]


def _describe_estimator(spectrum: Spectrum) -> str:
    if spectrum.estimator == "lag-window":
        source = SOURCES.get(spectrum.kernel_source or "", "")
        return f"lag-window spectrum ({source})" if source else "lag-window spectrum of the kernel"
    if spectrum.estimator == "nudft":
        return f"smoothed periodogram at {spectrum.grid} real positions"
    return "Eq. 15" if spectrum.estimator == "kde" else "shares of the lattice frequencies, not smoothed"


def _group(spectra: Sequence[Spectrum], names: Sequence[str], describe: Callable[[Spectrum], str]) -> str:
    """The description of all where it is one, else each with the names that it is true of."""
    found: dict[str, list[str]] = {}
    for spectrum, name in zip(spectra, names, strict=True):
        found.setdefault(describe(spectrum), []).append(name)
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{_list_names(named)}: {text}" for text, named in found.items())


def _list_names(names: Sequence[str]) -> str:
    unique = list(dict.fromkeys(names))
    shown = unique if len(unique) <= _MOST_NAMES else [*unique[: _MOST_NAMES - 1], f"{len(unique) - 3} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def _describe_shares(spectra: Sequence[Spectrum]) -> str:
    names = _name_encodings(spectra, brief=True)
    shares = {names[s.encoding]: s.toeplitz_share for s in spectra if s.toeplitz_share is not None}
    if not shares:
        return ""
    told = {name: f"{100 * share:.1f} %" for name, share in shares.items()}
    shown = [share if len(names) == 1 else f"{name} {share}" for name, share in told.items()]
    if len(shown) > _MOST_NAMES:
        shown = [f"{told[min(shares, key=shares.__getitem__)]} to {told[max(shares, key=shares.__getitem__)]}"]
    return f"Toeplitz share (of the Gram matrix's energy, what is a function of the lag alone): {', '.join(shown)}"


def _describe_heads(spectra: Sequence[Spectrum], names: Sequence[str]) -> str:
    counts = {name: len(s.head_weights) for s, name in zip(spectra, names, strict=True) if s.head_weights is not None}
    if not counts:
        return ""
    if len(set(counts.values())) == 1:
        return f"line: median over {next(iter(counts.values()))} heads, band: smallest to largest"
    listed = _list_names([f"{name}\u00a0{count}" for name, count in counts.items()])
    return f"line: median over heads, band: smallest to largest ({listed})"


def _agree(texts: Sequence[str]) -> list[str]:
    """The text that all have in common, if it says anything."""
    return [texts[0]] if len(set(texts)) == 1 and texts[0] else []


def _describe_bandwidth(spectrum: Spectrum) -> str:
    if spectrum.bandwidth is None:
        return ""
    sigma = spectrum.bandwidth * float(spectrum.omega[1])
    return f"{_count_bins(spectrum)} (σ\u00a0=\u00a0{sigma:.3g} rad/position)"


def _count_bins(spectrum: Spectrum) -> str:
    return f"bandwidth\u00a0{spectrum.bandwidth:g}\u00a0{'bin' if spectrum.bandwidth == 1 else 'bins'}"
