"""Spectra as an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict

from pe_spectra.encodings import Dft, Sinusoidal
from pe_spectra.records.answer import Answer, Cell, Document, Drawing, Verdict, describe_encoding, finite, percent
from pe_spectra.spectrum import LowBinCount, Spectrum, SpectrumSummary, compute_dft_weights
from pe_spectra.spectrum.summary import LOW_BINS, classify_shape


def answer_spectra(spectra: Sequence[Spectrum], counts: Sequence[LowBinCount]) -> Answer:
    """Turn one or several spectra into an answer.

    Parameters
    ----------
    spectra : at least one.
    counts : the low-bin counts of their encodings, in the same order.
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
                "estimator": s.estimator,
                **_describe(s),
            }
            for s in spectra
        ]
    facts = _list_facts(first, counts[0]) if len(spectra) == 1 else [_sum_up(spectrum) for spectrum in spectra]
    lattices = {spectrum.grid for spectrum in spectra}
    notes = [note for spectrum in spectra for note in spectrum.notes]
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
        next_command=_suggest(first),
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
    return {
        "omega": spectrum.omega.tolist(),
        "weights": spectrum.weights.tolist(),
        "log_weights": finite(spectrum.log_weights.tolist()),
        "summary": asdict(spectrum.summary),
    }


def _describe_reference(spectrum: Spectrum) -> Document:
    dft = Dft(d=spectrum.grid)
    return {"reference": {"encoding": describe_encoding(dft), "weights": compute_dft_weights(spectrum.grid).tolist()}}


def _list_rows(spectra: Sequence[Spectrum]) -> dict[str, Sequence[Cell]]:
    rows: dict[str, list[Cell]] = {}
    for spectrum in spectra:
        size = len(spectrum.omega)
        columns: dict[str, Sequence[Cell]] = {
            "encoding": [spectrum.encoding.label] * size,
            "grid": [spectrum.grid] * size,
            "bandwidth": [spectrum.bandwidth] * size,
            "k": range(size),
            "omega": spectrum.omega.tolist(),
            "weight": spectrum.weights.tolist(),
            "log_weight": finite(spectrum.log_weights.tolist()),
            "reference": compute_dft_weights(spectrum.grid).tolist(),
        }
        for name, values in columns.items():
            rows.setdefault(name, []).extend(values)
    if len(spectra) == 1:
        for name in ("encoding", "grid", "bandwidth"):
            del rows[name]
    return dict(rows)


def _judge(spectrum: Spectrum, count: int) -> Verdict:
    summary, bins = spectrum.summary, len(spectrum.omega)
    shape = classify_shape(summary, bins)
    empty = summary.empty_upper_band or 0.0
    level, code = ("ok", "flat") if shape == "flat" else ("note", "crowded-low-bin" if shape == "crowded" else "uneven")
    above = f"; no frequency lies above {(1 - empty) * math.pi:.4g} rad ({percent(empty)} of the axis)"
    if shape == "flat" and empty >= 0.05 and spectrum.bandwidth is not None:
        level, code = "warning", "over-smoothed"
        text = f"Blurred flat: a kernel of {spectrum.bandwidth:g} bins spans all {bins}; try a smaller --bandwidth"
    elif shape == "flat":
        text = f"Flat: all {bins} frequencies weigh nearly the same"
    elif shape == "crowded":
        held = percent(summary.low_bin_mass)
        text = f"Crowded at the bottom: the first {LOW_BINS} of {bins} frequencies hold {held} of the weight"
    else:
        where = (
            f"the largest weight is at {spectrum.omega[summary.peak_bin]:.4g} rad (bin {summary.peak_bin} of {bins})"
        )
        text = f"Uneven: {where}, the mean frequency is {summary.centroid:.4g} rad"
    text += above if empty >= 0.05 and code != "over-smoothed" else ""
    return Verdict(level=level, code=code, text=f"{_name(spectrum) if count > 1 else ''}{text}.")


def _suggest(spectrum: Spectrum) -> str:
    if spectrum.encoding == Sinusoidal():
        return "pe-spectra reconstruct --s 5 40 75"
    return f"pe-spectra reconstruct -e {spectrum.encoding.spec}"


def _name(spectrum: Spectrum) -> str:
    bandwidth = "" if spectrum.bandwidth is None else f" at bandwidth {spectrum.bandwidth:g}"
    return f"{spectrum.encoding.label}{bandwidth}: "


def _sum_up(spectrum: Spectrum) -> tuple[str, str]:
    """One line for a spectrum among several."""
    summary, bins = spectrum.summary, len(spectrum.omega)
    low = min(LOW_BINS, bins)
    text = (
        f"first {low} bins {percent(summary.low_bin_mass)}, centroid {summary.centroid:.4g} rad/position, "
        f"effective bins {summary.effective_bins_entropy:.1f} of {bins}, peak bin {summary.peak_bin}"
    )
    return _name(spectrum).removesuffix(": "), text


def _list_facts(spectrum: Spectrum, count: LowBinCount) -> list[tuple[str, str]]:
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
    crossing = "" if count.crossing is None else f" (Eq. 16: l* = {count.crossing:.2f})"
    inside = (
        f"{count.inside} of {count.total} below the first DFT frequency 2 pi/{count.encoding.default_grid}{crossing}"
    )
    return [
        ("peak", peak),
        ("centroid", f"{summary.centroid / width:.2f} bins, {summary.centroid:.4g} rad/position"),
        ("effective bins", effective),
        ("flatness", f"{summary.flatness:.3g}"),
        ("frequencies", inside),
        ("at pi" if spectrum.grid % 2 == 0 else "at the last bin", write_power(spectrum.log_weights[-1])),
    ]


def _describe_line(spectrum: Spectrum) -> str:
    if spectrum.bandwidth is None:
        return f"{spectrum.encoding.label}, exact on its lattice"
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
    ticks = ((0.0, "0"), (1 / math.pi, "1 rad"), (2 / math.pi, "2"), (1.0, "pi"))
    return Drawing(title=f"weight   {_describe_line(spectrum)}", values=spectrum.weights.tolist(), ticks=ticks)
