"""What is said of spectra: the verdict, names of curves, the title and small print of figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pe_spectra.answers.answer import Verdict, Verdicts, name_apart
from pe_spectra.encodings import Encoding
from pe_spectra.spectrum.evenness import LOW_BINS, Finest, compare_ends
from pe_spectra.spectrum.record import EMPTY_BAND, Spectrum, SpectrumSummary
from pe_spectra.wording import join, percent, shorten, write_run

VERDICTS = Verdicts(
    {
        "no-shares": "warning",
        "irregular": "note",
        "flat": "ok",
        "over-smoothed": "warning",
        "crowded-low-bin": "note",
        "uneven": "note",
    }
)
#: At most so many encodings are named in one sentence of a figure.
_MOST_NAMES = 4
#: Mean frequencies closer than this share are said to be the same.
_SAME = 0.05
#: Weights whose smallest and largest differ by less than this share are the same but for rounding.
_TIE = 1e-9
#: A logarithmic axis with a lag window or a periodogram on it: powers of ten above their rounding.
MOST_DECADES = 18.0
#: Among several spectra one that falls further, in powers of ten, would leave the others no room.
_FARTHEST = 1000.0
#: Negative weights of less than this sum are rounding.
_ROUNDING = 1e-12


def name_spectra(spectra: Sequence[Spectrum], labels: Mapping[Encoding, str] | None = None) -> list[str]:
    """Name each spectrum by its encoding, as `labels` call these, and by whatever else differs among them.

    >>> from pe_spectra import Sinusoidal, compute_spectrum
    >>> name_spectra([compute_spectrum(Sinusoidal(d=8), bandwidth=b) for b in (1, 4)])
    ['sinusoidal d=8 rho=10000, bandwidth\\xa01\\xa0bin', 'sinusoidal d=8 rho=10000, bandwidth\\xa04\\xa0bins']
    """
    bandwidths = {spectrum.bandwidth for spectrum in spectra if spectrum.axis is None} - {None}
    boundaries = {spectrum.boundary for spectrum in spectra if spectrum.estimator == "kde"}
    swept, labels, names = _find_swept(spectra), labels or _name_encodings(spectra, brief=False), []
    for spectrum in spectra:
        name = labels[spectrum.encoding] + ("" if spectrum.axis is None else f", {spectrum.axis}")
        differs = len(bandwidths) > 1 if spectrum.axis is None else (spectrum.encoding, spectrum.axis) in swept
        if differs and spectrum.bandwidth is not None:
            name += f", {_write_bandwidth(spectrum)}"
        if len(boundaries) > 1 and spectrum.estimator == "kde":
            name += f", boundary {spectrum.boundary}"
        names.append(name)
    return names


def name_lines(spectra: Sequence[Spectrum]) -> list[str]:
    """Name spectra for a line each on a terminal: those of one encoding by what differs alone.

    >>> from pe_spectra import Sinusoidal, compute_spectrum
    >>> name_lines([compute_spectrum(Sinusoidal(d=8), bandwidth=b) for b in (1, 4)])
    ['bandwidth 1', 'bandwidth 4']
    """
    among = [spectrum.encoding for spectrum in spectra]
    named = name_spectra(spectra, {encoding: name_apart(encoding, among) for encoding in among})
    names = [name.replace("\u00a0", " ").removesuffix(" bins").removesuffix(" bin") for name in named]
    shared = names[0].partition(", ")[0]
    is_one = all(name.startswith(f"{shared}, ") for name in names)
    return [name.removeprefix(f"{shared}, ") for name in names] if is_one else names


def name_briefly(encoding: Encoding) -> str:
    """Return the first word of a label, before its parameters.

    >>> from pe_spectra import Dft
    >>> name_briefly(Dft(d=8))
    'dft'
    """
    return shorten(encoding.label.partition(" ")[0])


def judge_spectrum(spectrum: Spectrum, name: str = "") -> Verdict:
    """Say how the weights are spread, or why they are none; after the name of the encoding among several.

    >>> from pe_spectra import Sinusoidal, compute_spectrum
    >>> judge_spectrum(compute_spectrum(Sinusoidal(d=256))).code
    'crowded-low-bin'
    """
    summary, bins = spectrum.summary, len(spectrum.omega)
    empty = summary.empty_upper_band or 0.0
    above = f"; no frequency lies above {(1 - empty) * math.pi:.4g} rad ({percent(empty)} of the axis)"
    above = above if empty >= EMPTY_BAND else ""
    if spectrum.estimator == "nudft":
        code, text = "irregular", f"At real positions {_say_peak(spectrum)}/position"
    elif spectrum.form == "signed":
        from pe_spectra.spectrum.signs import explain_signs

        code, text = "no-shares", explain_signs(spectrum)
    elif spectrum.form == "flat":
        code, text = "flat", f"Flat: {_say_even(spectrum)}"
    elif spectrum.form == "blurred":
        code, text = "over-smoothed", f"Blurred flat: {_say_blurred(spectrum)}"
    elif spectrum.form == "smeared":
        code, text = "over-smoothed", f"Blurred: {_say_smeared(spectrum)}"
    elif spectrum.form == "crowded":
        held = f"the first {LOW_BINS} of {bins} frequencies hold {write_low(summary)} of the weight"
        code, text = "crowded-low-bin", f"Crowded at the bottom: {held}{above}"
    else:
        where = f"({find_peaks(spectrum)[1]} of {bins}){write_blur(spectrum)}; {write_mean(spectrum)}"
        code, text = "uneven", f"Uneven: {_say_peak(spectrum)} {where}{above}"
    return VERDICTS.say(code, f"{name}{text}.")


def find_peaks(spectrum: Spectrum) -> tuple[list[int], str]:
    """Find the bins whose weight is the largest but for rounding, and name them.

    >>> from pe_spectra import DfsTrans, compute_spectrum
    >>> find_peaks(compute_spectrum(DfsTrans(d=8)))
    ([1, 2, 3], 'bins 1 to 3')
    """
    largest = spectrum.weights[spectrum.summary.peak_bin]
    peaks: list[int] = np.flatnonzero(spectrum.weights >= (1 - _TIE) * largest).tolist()
    return peaks, f"bin{'s' if len(peaks) > 1 else ''} {write_run(peaks)}"


def _say_peak(spectrum: Spectrum) -> str:
    peaks, _ = find_peaks(spectrum)
    weights = "largest weight is" if len(peaks) == 1 else "largest weights are"
    return f"the {weights} at {write_run(peaks, [f'{spectrum.omega[k]:.4g}' for k in peaks])} rad"


def _say_even(spectrum: Spectrum) -> str:
    """How even weights are: exactly, but for rounding, or how much of the largest the smallest is, and where."""
    bins, share = len(spectrum.omega), spectrum.evenness
    per = " per basis function" if spectrum.estimator == "lattice" else ""
    at = "" if spectrum.finest is None else f" at the finest bandwidth here, {spectrum.finest.bandwidth:g}"
    at += " with boundary reflect" if at and spectrum.boundary == "none" else ""
    if share > 1 - _TIE:
        return f"all {bins} frequencies have the same weight{per}{at}"
    return f"of {bins} weights{per} the smallest is {percent(share)} of the largest{at}"


def _say_blurred(spectrum: Spectrum) -> str:
    """That weights are even at this bandwidth, and not at the finest; or that there is no lag to tell."""
    width, share = spectrum.bandwidth or 0.0, percent(compare_ends(spectrum.weights))
    here = f"at bandwidth {width:g} the smallest of {len(spectrum.omega)} weights is {share} of the largest"
    if spectrum.finest is None:
        return f"{here}; one position has no lag, which could tell more"
    there = f"at {spectrum.finest.bandwidth:g} it is {percent(spectrum.evenness)}"
    return f"{here}, {there}; {_advise(width, spectrum.finest)}"


def _say_smeared(spectrum: Spectrum) -> str:
    """That the first bins hold much at this bandwidth, and not at the finest."""
    width, finest = spectrum.bandwidth or 0.0, spectrum.finest
    here = f"at bandwidth {width:g} the first {LOW_BINS} of {len(spectrum.omega)} frequencies hold "
    here += f"{write_low(spectrum.summary)} of the weight"
    if finest is None:
        return here
    share = min(1.0, max(0.0, float(finest.weights[:LOW_BINS].sum() / finest.weights.sum())))
    return f"{here}, at {finest.bandwidth:g} they hold {percent(share)}; {_advise(width, finest)}"


def _advise(width: float, finest: Finest) -> str:
    return f"try a {'smaller' if width > finest.bandwidth else 'larger'} bandwidth"


def entitle_spectra(spectra: Sequence[Spectrum]) -> str:
    """Say what a figure of spectra shows.

    >>> from pe_spectra import Sinusoidal, compute_spectrum
    >>> entitle_spectra([compute_spectrum(Sinusoidal(d=256))]).partition(";")[0]
    'Crowded at the bottom: the first 10 of 129 frequencies hold 74.2 % of the weight'
    """
    if len(spectra) == 1:
        return judge_spectrum(spectra[0]).text.removesuffix(".")
    if len({spectrum.encoding for spectrum in spectra}) == 1 and _find_swept(spectra):
        first = {one.axis: one.weights for one in reversed(spectra)}
        if all(np.allclose(one.weights, first[one.axis], rtol=_TIE, atol=0) for one in spectra):
            return "The weights are the same at each bandwidth"
        return "The weights depend on the bandwidth that is chosen"
    brief = _name_encodings(spectra, brief=True)
    names = [brief[s.encoding] + ("" if s.axis is None else f", {s.axis}") for s in spectra]
    signed = [name for spectrum, name in zip(spectra, names, strict=True) if spectrum.form == "signed"]
    if signed:
        return f"Not a distribution (negative weights), so without a mean frequency: {_list_names(signed)}"
    what, means, blur = _find_means(spectra)
    low, high = int(np.argmin(means)), int(np.argmax(means))
    if means[high] - means[low] <= _SAME * abs(means[high]):
        return f"The {what} of all is about {means[high]:.3g} rad per position{blur}"
    ends = f"from {means[low]:.3g} ({names[low]}) to {means[high]:.3g} rad per position ({names[high]})"
    return f"The {what} runs {ends}{blur}"


def _find_means(spectra: Sequence[Spectrum]) -> tuple[str, list[float], str]:
    """One measure of all, by name: the mean of the frequencies where all are known, else of weights, and their blur."""
    known = [mean for one in spectra if (mean := one.summary.mean_frequency) is not None]
    if len(known) == len(spectra):
        return "mean frequency", known, ""
    blur = write_blur(spectra[0]) if len({one.bandwidth for one in spectra}) == 1 else ", each at its bandwidth"
    return "centroid", [one.summary.centroid for one in spectra], blur


def write_blur(spectrum: Spectrum) -> str:
    """Write at which bandwidth weights, and with them their centroid, were blurred; empty where they were not.

    >>> from pe_spectra import Dft, Sinusoidal, compute_spectrum
    >>> write_blur(compute_spectrum(Sinusoidal())), write_blur(compute_spectrum(Dft()))
    (' at bandwidth 4', '')
    """
    return "" if spectrum.bandwidth is None else f" at bandwidth {spectrum.bandwidth:g}"


def write_mean(spectrum: Spectrum) -> str:
    """Write the mean frequency where the frequencies are known, else the centroid and what it was blurred with.

    >>> from pe_spectra import Sinusoidal, compute_spectrum, read_encoding
    >>> write_mean(compute_spectrum(Sinusoidal(d=256))), write_mean(compute_spectrum(read_encoding("alibi")))
    ('mean frequency 0.1125 rad/position', 'centroid 0.1666 rad/position at bandwidth 4')
    """
    mean = spectrum.summary.mean_frequency
    if mean is not None:
        return f"mean frequency {mean:.4g} rad/position"
    return write_centroid(spectrum)


def place_below(zero: int, edge: str) -> str:
    """Say where the frequencies inside the lowest bin lie; `zero` others, which are 0, are below the edge, too.

    >>> place_below(0, "2 pi/8"), place_below(1, "2 pi/8")
    ('below 2 pi/8', 'between 0 and 2 pi/8 (1 other is 0, constant over positions)')
    """
    others = f"{zero} {'other is' if zero == 1 else 'others are'} 0, constant over positions"
    return f"between 0 and {edge} ({others})" if zero else f"below {edge}"


def write_centroid(spectrum: Spectrum) -> str:
    """Write the mean frequency of the weights, and what they were blurred with.

    >>> from pe_spectra import Sinusoidal, compute_spectrum
    >>> write_centroid(compute_spectrum(Sinusoidal(d=256)))
    'centroid 0.1966 rad/position at bandwidth 4'
    """
    return f"centroid {spectrum.summary.centroid:.4g} rad/position{write_blur(spectrum)}"


def describe_spectra(spectra: Sequence[Spectrum]) -> tuple[str, ...]:
    """Say how the spectra were estimated: what they have in common, and what is true of some only.

    >>> from pe_spectra import Dft, compute_spectrum
    >>> describe_spectra([compute_spectrum(Dft(d=8))])
    ('shares of the lattice frequencies, not smoothed, lattice N\\xa0=\\xa08',)
    """
    named = _name_encodings(spectra, brief=True)
    estimators = _group(spectra, named, _describe_estimator)
    smoothed = [spectrum for spectrum in spectra if spectrum.bandwidth is not None]
    parts = _agree([_describe_bandwidth(s) for s in smoothed]) or _agree([_write_bandwidth(s) for s in smoothed])
    if smoothed and not parts and not any("bandwidth" in name for name in name_spectra(spectra)):
        parts = [_group(smoothed, named, _write_bandwidth)]
    parts += _agree([f"boundary {s.boundary}" if s.estimator == "kde" else "" for s in spectra])
    parts += _agree([f"lattice N\u00a0=\u00a0{s.grid}" if s.estimator != "nudft" else "" for s in spectra])
    lines = [("; " if ": " in estimators else ", ").join([estimators, *parts])]
    lines += [text for text in (_describe_toeplitz(spectra, named), _describe_heads(spectra, named)) if text]
    largest = max(s.summary.negative_mass for s in spectra)
    if largest > _ROUNDING:
        lines.append(f"negative weights (their sum is −{largest:.2g} at most) leave gaps on the logarithmic axis")
    if limit_decades(spectra) is not None and any(_leaves_axis(s) for s in spectra):
        lines.append(f"the logarithmic axis ends {MOST_DECADES:.0f} powers of ten below its top, Eq. 15 does not")
    return tuple(lines)


def limit_decades(spectra: Sequence[Spectrum]) -> float | None:
    """Return how far down a logarithmic axis goes at most: beyond the rounding of a lag window is only Eq. 15.

    >>> from pe_spectra import Sinusoidal, compute_spectrum
    >>> limit_decades([compute_spectrum(Sinusoidal(d=8))]) is None
    True
    """
    if any(s.estimator in ("lag-window", "nudft") for s in spectra):
        return MOST_DECADES
    return MOST_DECADES if len(spectra) > 1 and any(_leaves_axis(s, _FARTHEST) for s in spectra) else None


def write_low(summary: SpectrumSummary) -> str:
    """Write the share of the first bins; a little above 1, where weights beyond are a little negative, is all of it.

    >>> from pe_spectra import Dft, compute_spectrum
    >>> write_low(compute_spectrum(Dft(d=8)).summary)
    '100.0 %'
    """
    return percent(min(1.0, summary.low_bin_mass))


def _find_swept(spectra: Sequence[Spectrum]) -> set[tuple[Encoding, str | None]]:
    """What is there at several bandwidths: encodings, on a grid with the direction."""
    found: dict[tuple[Encoding, str | None], set[float | None]] = {}
    for spectrum in spectra:
        found.setdefault((spectrum.encoding, spectrum.axis), set()).add(spectrum.bandwidth)
    return {one for one, bandwidths in found.items() if len(bandwidths) > 1}


def _leaves_axis(spectrum: Spectrum, decades: float = MOST_DECADES) -> bool:
    logs = spectrum.log_weights[np.isfinite(spectrum.log_weights)] / np.log(10)
    return spectrum.estimator == "kde" and logs.size > 0 and float(logs.min()) < -decades


def _name_encodings(spectra: Sequence[Spectrum], *, brief: bool) -> dict[Encoding, str]:
    """A name for each encoding that no other has: `brief` where that is enough, else in full or numbered."""
    encodings = list(dict.fromkeys(spectrum.encoding for spectrum in spectra))
    short = [name_briefly(encoding) for encoding in encodings]
    full = [shorten(encoding.label) for encoding in encodings]
    names = {}
    for number, encoding in enumerate(encodings):
        if brief and short.count(short[number]) == 1:
            names[encoding] = short[number]
        elif full.count(full[number]) == 1:
            names[encoding] = full[number]
        else:
            names[encoding] = f"{full[number]} #{full[: number + 1].count(full[number])}"
    return names


def _describe_estimator(spectrum: Spectrum) -> str:
    if spectrum.estimator == "lag-window":
        from pe_spectra.spectrum.kernels import describe_kernel

        source = describe_kernel(spectrum.encoding, spectrum.kernel_source or "exact", spectrum.length)
        return f"lag-window spectrum ({source})"
    if spectrum.estimator == "nudft":
        return f"smoothed periodogram at {spectrum.grid} real positions"
    return "Eq. 15" if spectrum.estimator == "kde" else "shares of the lattice frequencies, not smoothed"


def _group(spectra: Sequence[Spectrum], named: dict[Encoding, str], describe: Callable[[Spectrum], str]) -> str:
    """The description of all where it is one, else each with the names that it is true of."""
    found: dict[str, list[str]] = {}
    for spectrum in spectra:
        found.setdefault(describe(spectrum), []).append(named[spectrum.encoding])
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{_list_names(names)}: {text}" for text, names in found.items())


def _list_names(names: Sequence[str]) -> str:
    return join(list(dict.fromkeys(names)), _MOST_NAMES)


def _describe_toeplitz(spectra: Sequence[Spectrum], named: dict[Encoding, str]) -> str:
    shares = {named[s.encoding]: s.toeplitz_share for s in spectra if s.toeplitz_share is not None}
    if not shares:
        return ""
    shown = [percent(share) if len(named) == 1 else f"{name} {percent(share)}" for name, share in shares.items()]
    if len(shown) > _MOST_NAMES:
        shown = [f"{percent(min(shares.values()))} to {percent(max(shares.values()))}"]
    return f"Toeplitz share (of the Gram matrix's energy, what is a function of the lag alone): {', '.join(shown)}"


def _describe_heads(spectra: Sequence[Spectrum], named: dict[Encoding, str]) -> str:
    counts = {named[s.encoding]: len(s.head_weights) for s in spectra if s.head_weights is not None}
    if not counts:
        return ""
    if len(set(counts.values())) == 1:
        return f"line: median over {next(iter(counts.values()))} heads, band: smallest to largest"
    listed = _list_names([f"{name}\u00a0{heads}" for name, heads in counts.items()])
    return f"line: median over heads, band: smallest to largest ({listed})"


def _agree(texts: Sequence[str]) -> list[str]:
    """The text that all have in common, if it says anything."""
    return [texts[0]] if len(set(texts)) == 1 and texts[0] else []


def _describe_bandwidth(spectrum: Spectrum) -> str:
    sigma = (spectrum.bandwidth or 0.0) * float(spectrum.omega[1])
    return f"{_write_bandwidth(spectrum)} (σ\u00a0=\u00a0{sigma:.3g} rad/position)"


def _write_bandwidth(spectrum: Spectrum) -> str:
    return f"bandwidth\u00a0{spectrum.bandwidth:g}\u00a0{'bin' if spectrum.bandwidth == 1 else 'bins'}"
