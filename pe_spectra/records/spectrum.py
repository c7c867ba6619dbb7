"""Spectra as an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pe_spectra.encodings import Dft
from pe_spectra.records.answer import Answer, Cell, Document, Drawing, Verdict, describe_encoding, finite, percent
from pe_spectra.spectrum import GridSpectrum, LowBinCount, Spectrum, SpectrumSummary, compute_dft_weights
from pe_spectra.spectrum.kernels import SOURCES
from pe_spectra.spectrum.shape import EMPTY_BAND, classify_shape, explain_signs
from pe_spectra.spectrum.summary import LOW_BINS

#: What an answer says of each shape of the weights.
_LEVELS = {
    "signed": ("warning", "no-shares"),
    "flat": ("ok", "flat"),
    "blurred": ("warning", "over-smoothed"),
    "crowded": ("note", "crowded-low-bin"),
    "uneven": ("note", "uneven"),
}
#: What weights of both signs do not have.
_OF_SHARES = ("low_bin_mass", "centroid", "effective_bins_entropy", "effective_bins_participation", "flatness")
_NO_SHARE = "- (weights of both signs)"


def answer_spectra(
    spectra: Sequence[Spectrum],
    count: LowBinCount | None,
    planes: Sequence[GridSpectrum] = (),
    *,
    next_command: str = "",
) -> Answer:
    """Turn one or several spectra into an answer.

    Parameters
    ----------
    spectra : at least one; of an encoding on a grid one for each direction.
    count : the low-bin count of the first one's encoding, where it has frequencies.
    planes : the two-dimensional spectra of the encodings on a grid.
    next_command : what to try next.

    >>> from pe_spectra import Dft, compute_spectrum
    >>> answer_spectra([compute_spectrum(Dft(d=256))], None).verdict.code
    'flat'
    """
    first = spectra[0]
    body: Document = {"parameters": _describe_parameters(spectra)}
    if len(spectra) == 1:
        body = {"encoding": describe_encoding(first.encoding), **body, **_describe(first), **_describe_reference(first)}
    else:
        body["spectra"] = [
            {
                "encoding": describe_encoding(s.encoding),
                "grid": s.grid,
                "bandwidth": s.bandwidth,
                "boundary": s.boundary,
                "estimator": s.estimator,
                **_describe(s),
            }
            for s in spectra
        ]
    if planes:
        body["planes"] = [_describe_plane(plane) for plane in planes]
    facts = _list_facts(first, count) if len(spectra) == 1 else [_sum_up(spectrum) for spectrum in spectra]
    lattices = {spectrum.grid for spectrum in spectra}
    notes = [note for s in spectra for note in (*s.encoding.all_notes, *s.notes, *_note_signs(s))]
    if len(lattices) > 1:
        sizes = ", ".join(str(n) for n in sorted(lattices))
        notes.append(f"lattices differ (N = {sizes}), so a bin, and a bandwidth in bins, is not as wide in each")
    return Answer(
        kind="spectrum",
        verdict=_judge(first, len(spectra)),
        body=body,
        columns=_list_rows(spectra),
        facts=tuple(facts),
        notes=tuple(dict.fromkeys(notes)),
        shown=("k", "omega", "weight", "reference") if len(spectra) == 1 else ("encoding", "bandwidth", "k", "weight"),
        brief=0,
        drawing=_draw(first),
        next_command=next_command,
    )


def _describe_parameters(spectra: Sequence[Spectrum]) -> Document:
    first = spectra[0]
    same = all(s.bandwidth == first.bandwidth for s in spectra)
    return {
        "grid": first.grid,
        "bandwidth": first.bandwidth if same else [s.bandwidth for s in spectra],
        "boundary": first.boundary,
        "estimator": first.estimator,
    }


def _describe(spectrum: Spectrum) -> Document:
    extra: Document = {}
    if spectrum.estimator == "lag-window":
        extra = {
            "kernel_source": spectrum.kernel_source,
            "axis": spectrum.axis,
            "length": spectrum.length,
            "toeplitz_share": spectrum.toeplitz_share,
        }
    if spectrum.head_weights is not None:
        extra["head_weights"] = spectrum.head_weights.tolist()
    return {**_describe_weights(spectrum), **extra}


def _describe_plane(plane: GridSpectrum) -> Document:
    return {
        "encoding": describe_encoding(plane.encoding),
        "shape": list(plane.shape),
        "bandwidth": plane.bandwidth,
        "omega_vertical": plane.omega_vertical.tolist(),
        "omega_horizontal": plane.omega_horizontal.tolist(),
        "weights": plane.weights.tolist(),
        "toeplitz_share": plane.toeplitz_share,
    }


def _describe_weights(spectrum: Spectrum) -> Document:
    return {
        "omega": spectrum.omega.tolist(),
        "weights": spectrum.weights.tolist(),
        "log_weights": finite(spectrum.log_weights.tolist()),
        "summary": describe_summary(spectrum),
    }


def describe_summary(spectrum: Spectrum) -> Document:
    """Return the summaries by name; None for those of shares where weights have both signs.

    >>> from pe_spectra import Dft, compute_spectrum
    >>> round(describe_summary(compute_spectrum(Dft(d=8)))["centroid"], 6)  # pi/2
    1.570796
    """
    return spectrum.summary.to_dict()


def _note_signs(spectrum: Spectrum) -> tuple[str, ...]:
    if classify_shape(spectrum) != "signed":
        return ()
    return (f"{_name(spectrum)}no {', '.join(_OF_SHARES[:-1])} or {_OF_SHARES[-1]}, for weights have both signs",)


def _describe_reference(spectrum: Spectrum) -> Document:
    if spectrum.estimator == "nudft":
        return {"reference": None}  # real positions have no lattice that a DFT encoding could fill
    dft = Dft(d=spectrum.grid)
    return {"reference": {"encoding": describe_encoding(dft), "weights": compute_dft_weights(spectrum.grid).tolist()}}


def _list_rows(spectra: Sequence[Spectrum]) -> dict[str, Sequence[Cell]]:
    rows: dict[str, list[Cell]] = {}
    for spectrum in spectra:
        size, is_irregular = len(spectrum.omega), spectrum.estimator == "nudft"
        columns: dict[str, Sequence[Cell]] = {
            "encoding": [_label(spectrum)] * size,
            "grid": [spectrum.grid] * size,
            "bandwidth": [spectrum.bandwidth] * size,
            "k": range(size),
            "omega": spectrum.omega.tolist(),
            "weight": spectrum.weights.tolist(),
            "log_weight": finite(spectrum.log_weights.tolist()),
            "reference": [None] * size if is_irregular else compute_dft_weights(spectrum.grid).tolist(),
        }
        for name, values in columns.items():
            rows.setdefault(name, []).extend(values)
    if len(spectra) == 1:
        for name in ("encoding", "grid", "bandwidth"):
            del rows[name]
    return dict(rows)


def _judge(spectrum: Spectrum, count: int) -> Verdict:
    summary, bins = spectrum.summary, len(spectrum.omega)
    shape = classify_shape(spectrum)
    empty = summary.empty_upper_band or 0.0
    if spectrum.estimator == "nudft":
        where = f"the largest weight is at {spectrum.omega[summary.peak_bin]:.4g} rad/position"
        return Verdict(
            level="note", code="irregular", text=f"{_name(spectrum) if count > 1 else ''}At real positions {where}."
        )
    level, code = _LEVELS[shape]
    above = f"; no frequency lies above {(1 - empty) * math.pi:.4g} rad ({percent(empty)} of the axis)"
    if shape == "signed":
        text = explain_signs(spectrum)
    elif shape == "blurred":
        width = f"{spectrum.bandwidth:g} bin{'' if spectrum.bandwidth == 1 else 's'}"
        text = f"Blurred flat: a kernel of {width} spans all {bins}; try a smaller --bandwidth"
    elif shape == "flat":
        text = f"Flat: all {bins} frequencies weigh nearly the same"
    elif shape == "crowded":
        held = _write_low(summary)
        text = f"Crowded at the bottom: the first {LOW_BINS} of {bins} frequencies hold {held} of the weight"
    else:
        where = (
            f"the largest weight is at {spectrum.omega[summary.peak_bin]:.4g} rad (bin {summary.peak_bin} of {bins})"
        )
        text = f"Uneven: {where}, the mean frequency is {summary.centroid:.4g} rad"
    text += above if empty >= EMPTY_BAND and shape not in ("blurred", "signed") else ""
    return Verdict(level=level, code=code, text=f"{_name(spectrum) if count > 1 else ''}{text}.")


def _name(spectrum: Spectrum) -> str:
    bandwidth = "" if spectrum.bandwidth is None else f" at bandwidth {spectrum.bandwidth:g}"
    return f"{_label(spectrum)}{bandwidth}: "


def _label(spectrum: Spectrum) -> str:
    """The encoding, and on a grid the direction."""
    return spectrum.encoding.label if spectrum.axis is None else f"{spectrum.encoding.label}, {spectrum.axis}"


def _sum_up(spectrum: Spectrum) -> tuple[str, str]:
    """One line for a spectrum among several."""
    summary, bins = spectrum.summary, len(spectrum.omega)
    low = min(LOW_BINS, bins)
    if classify_shape(spectrum) == "signed":
        negative = f"weights of both signs (negative ones sum to {summary.negative_mass:.3g})"
        return _name(spectrum).removesuffix(": "), f"no shares: {negative}, peak bin {summary.peak_bin}"
    text = (
        f"first {low} bins {_write_low(summary)}, centroid {summary.centroid:.4g} rad/position, "
        f"effective bins {summary.effective_bins_entropy:.1f} of {bins}, peak bin {summary.peak_bin}"
    )
    return _name(spectrum).removesuffix(": "), text


def _write_low(summary: SpectrumSummary) -> str:
    """The share of the first bins; a little above 1, where weights beyond are a little negative, is all of it."""
    return percent(min(1.0, summary.low_bin_mass))


def _list_facts(spectrum: Spectrum, count: LowBinCount | None) -> list[tuple[str, str]]:
    summary: SpectrumSummary = spectrum.summary
    bins, width = len(spectrum.omega), 2 * math.pi / spectrum.grid
    peak = f"bin {summary.peak_bin} ({spectrum.weights[summary.peak_bin]:.4g})"
    is_cut = spectrum.estimator == "kde" and spectrum.boundary == "none" and spectrum.bandwidth is not None
    if is_cut and 0 < summary.peak_bin <= (spectrum.bandwidth or 0.0):
        peak += f"; bin 0 has {spectrum.weights[0]:.4g}, half of its kernel lies below zero (--boundary reflect)"
    effective = (
        f"{summary.effective_bins_entropy:.1f} of {bins} (entropy), "
        f"{summary.effective_bins_participation:.1f} (participation)"
    )
    shares = {
        "centroid": f"{summary.centroid / width:.2f} bins, {summary.centroid:.4g} rad/position",
        "effective bins": effective,
        "flatness": f"{summary.flatness:.3g}",
    }
    if classify_shape(spectrum) == "signed":
        shares = dict.fromkeys(shares, _NO_SHARE)
    facts = [("peak", peak), *shares.items(), *_count_frequencies(count)]
    if spectrum.estimator == "lag-window":
        return facts + _list_kernel_facts(spectrum)
    return [*facts, ("at pi" if spectrum.grid % 2 == 0 else "at the last bin", write_power(spectrum.log_weights[-1]))]


def _count_frequencies(count: LowBinCount | None) -> list[tuple[str, str]]:
    if count is None:
        return []
    crossing = "" if count.crossing is None else f" (Eq. 16: l* = {count.crossing:.2f})"
    edge = f"2 pi/{count.encoding.default_grid}"
    return [("frequencies", f"{count.inside} of {count.total} below the first DFT frequency {edge}{crossing}")]


def _list_kernel_facts(spectrum: Spectrum) -> list[tuple[str, str]]:
    facts = [("kernel", SOURCES[spectrum.kernel_source or "exact"])]
    if spectrum.toeplitz_share is not None:
        what = "lag" if spectrum.axis is None else "offset"
        facts.append(("Toeplitz share", f"{percent(spectrum.toeplitz_share)} is a function of the {what} alone"))
    if spectrum.summary.negative_mass > 1e-9:
        facts.append(("negative mass", f"{spectrum.summary.negative_mass:.3g}: more than the estimate can tell"))
    return facts


def _describe_line(spectrum: Spectrum) -> str:
    if spectrum.bandwidth is None:
        return f"{spectrum.encoding.label}, exact on its lattice"
    if spectrum.estimator == "lag-window":
        return f"{_label(spectrum)}, lag window of its kernel, bandwidth {spectrum.bandwidth:g} bins"
    if spectrum.estimator == "nudft":
        return f"{spectrum.encoding.label} at real positions, bandwidth {spectrum.bandwidth:g} bins"
    return f"{spectrum.encoding.label}, Eq. 15, bandwidth {spectrum.bandwidth:g} bins, boundary {spectrum.boundary}"


def write_power(logarithm: float) -> str:
    """Write exp(logarithm) with two digits, also where it is below the smallest double.

    >>> write_power(-959.2475)
    '2.5e-417'
    """
    if not math.isfinite(logarithm):
        return "0"
    exponent = math.floor(logarithm / math.log(10))
    mantissa = f"{math.exp(logarithm - exponent * math.log(10)):.1f}"
    if mantissa == "10.0":
        mantissa, exponent = "1.0", exponent + 1
    return f"{mantissa}e{exponent:+03d}" if abs(exponent) > 2 else f"{math.exp(logarithm):.4g}"


def _draw(spectrum: Spectrum) -> Drawing:
    last = float(spectrum.omega[-1])
    is_lattice = spectrum.estimator != "nudft"
    end = "pi" if is_lattice else f"{last:.4g} rad"
    ticks = (
        ((0.0, "0"), (1 / math.pi, "1 rad"), (2 / math.pi, "2"), (1.0, end)) if is_lattice else ((0.0, "0"), (1.0, end))
    )
    return Drawing(title=f"weight   {_describe_line(spectrum)}", values=spectrum.weights.tolist(), ticks=ticks)
