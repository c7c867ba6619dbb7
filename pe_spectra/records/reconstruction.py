"""Reconstructions as an answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.reconstruction import PositionReconstruction, Reconstruction
from pe_spectra.records.answer import Answer, Cell, Document, Drawing, Verdict, describe_encoding

#: What counts as coming back exactly: the rounding of two transforms.
EXACT = 1e-9


def answer_reconstructions(
    results: Sequence[Reconstruction],
    kernels: Sequence[F64 | None] | None = None,
    notes: tuple[str, ...] = (),
    *,
    next_command: str = "",
) -> Answer:
    """Turn reconstructions into an answer, with what the caller has to note.

    Parameters
    ----------
    results : at least one; every one with the same positions.
    kernels : for `--window-free`, the bare kernel of each result's encoding over lags 0 .. N-1,
        divided by its value at 0; None for an encoding that has none.
    next_command : what to try next.

    >>> from pe_spectra import Dft, compute_spectrum, reconstruct_positions
    >>> answer_reconstructions([reconstruct_positions(compute_spectrum(Dft(d=8)), [3])]).verdict.text
    'Exact: through dft a single position comes back as it was.'
    """
    panels = [_describe_panel(result) for result in results]
    if kernels is not None:
        for panel, kernel in zip(panels, kernels, strict=True):
            panel["kernel"] = None if kernel is None else kernel.tolist()
    first = results[0]
    body: Document = {
        "parameters": {
            "grid": first.spectrum.grid,
            "boundary": first.spectrum.boundary,
            "s": [p.s for p in first.positions],
        },
        "t": list(range(max(result.spectrum.grid for result in results))),
        "panels": panels,
    }
    return Answer(
        kind="reconstruction",
        verdict=_judge(results),
        body=body,
        columns=_list_rows(results),
        facts=_list_facts(results, kernels),
        notes=tuple(dict.fromkeys([*notes, *(note for result in results for note in result.spectrum.notes)])),
        shown=("encoding", "bandwidth", "s", "peak_value", "fwhm", "width_10", "relative_error", "cosine"),
        drawing=_draw(first),
        next_command=next_command,
    )


def describe_bandwidth(bandwidth: float | None) -> str:
    """Say at which bandwidth, in words.

    >>> describe_bandwidth(4.0), describe_bandwidth(None)
    ('at bandwidth 4', 'at any bandwidth')
    """
    return "at any bandwidth" if bandwidth is None else f"at bandwidth {bandwidth:g}"


def _describe_panel(result: Reconstruction) -> Document:
    spectrum = result.spectrum
    return {
        "encoding": describe_encoding(spectrum.encoding),
        "grid": spectrum.grid,
        "bandwidth": spectrum.bandwidth,
        "boundary": spectrum.boundary,
        "estimator": spectrum.estimator,
        "weights": spectrum.weights.tolist(),
        "multipliers": spectrum.multipliers.tolist(),
        "reconstructions": [_describe_position(position) for position in result.positions],
    }


def _describe_position(position: PositionReconstruction) -> Document:
    return {
        "s": position.s,
        "values": position.values.tolist(),
        "peak": position.peak,
        "peak_value": position.peak_value,
        "fwhm": position.fwhm,
        "width_10": position.width_10,
        "relative_error": position.relative_error,
        "cosine": position.cosine,
        "relative_error_unscaled": position.relative_error_unscaled,
    }


def _list_rows(results: Sequence[Reconstruction]) -> dict[str, Sequence[Cell]]:
    pairs = [(result, position) for result in results for position in result.positions]
    names = ("s", "peak", "peak_value", "fwhm", "width_10", "relative_error", "cosine", "relative_error_unscaled")
    return {
        "encoding": [_label(result) for result, _ in pairs],
        "bandwidth": [result.spectrum.bandwidth for result, _ in pairs],
        **{name: [getattr(position, name) for _, position in pairs] for name in names},
    }


def _judge(results: Sequence[Reconstruction]) -> Verdict:
    blurred = [r for r in results if r.positions[0].relative_error > EXACT]
    exact = [r for r in results if r.positions[0].relative_error <= EXACT]
    if not blurred:
        names = " and ".join(dict.fromkeys(_name(r) for r in exact))
        return Verdict(level="ok", code="exact", text=f"Exact: through {names} a single position comes back as it was.")
    first = blurred[0]
    one = first.positions[0]
    text = f"{describe_bandwidth(first.spectrum.bandwidth)} a single position comes back {_say_width(one)}".capitalize()
    text += f" and {one.peak_value:.2g} times as high through {_name(first)}"
    same = (first.spectrum.encoding, first.spectrum.axis)
    sweep = [r for r in blurred if (r.spectrum.encoding, r.spectrum.axis) == same]
    if len(sweep) > 1:
        text += f", {describe_bandwidth(sweep[-1].spectrum.bandwidth)} {_say_width(sweep[-1].positions[0])}"
    if exact:
        text += f"; through {_name(exact[0])} it comes back exactly"
    return Verdict(level="note", code="blurred", text=f"{text}.")


def _name(result: Reconstruction) -> str:
    """The encoding as the verdict names it: a table by its file, a grid with its direction."""
    encoding, axis = result.spectrum.encoding, result.spectrum.axis
    name = encoding.label if encoding.family == "learned" else encoding.name
    return name if axis is None else f"{name} ({axis})"


def _label(result: Reconstruction) -> str:
    axis = result.spectrum.axis
    return result.spectrum.encoding.label if axis is None else f"{result.spectrum.encoding.label}, {axis}"


def _say_width(position: PositionReconstruction) -> str:
    if position.fwhm is None:
        return "with no width at half of its peak"
    tenth = "" if position.width_10 is None else f" ({position.width_10:.1f} at a tenth of its peak)"
    return f"{position.fwhm:.1f} positions wide{tenth}"


def _list_facts(results: Sequence[Reconstruction], kernels: Sequence[F64 | None] | None) -> tuple[tuple[str, str], ...]:
    facts = [("l2 norm", "restored after weighting, as in the paper; relative_error_unscaled is without it")]
    if any(r.spectrum.bandwidth is not None for r in results):
        facts.append(("width", "follows the bandwidth, so it is stated with it; a sweep: --bandwidth 0.25 1 4 16 64"))
        if kernels is None:
            facts.append(("kernel", "the encoding's own, without a window: --window-free"))
    for result, kernel in dict(zip((r.spectrum.encoding for r in results), kernels or (), strict=False)).items():
        if kernel is not None:
            facts.append(("kernel", f"{result.name} without a window: {_say_kernel(kernel)}"))
    return tuple(facts)


def _say_kernel(kernel: F64) -> str:
    below = np.flatnonzero(kernel < 0.5)
    if not len(below):
        return f"k(tau)/k(0) stays above a half up to lag {len(kernel) - 1}"
    return f"k(tau)/k(0) first falls below a half at lag {below[0]}"


def _draw(result: Reconstruction) -> Drawing:
    n, middle = result.spectrum.grid, result.positions[len(result.positions) // 2]
    title = f"reconstruction of s = {middle.s}, {result.spectrum.encoding.label}, "
    title += describe_bandwidth(result.spectrum.bandwidth)
    ticks = ((0.0, "0"), (middle.s / max(1, n - 1), str(middle.s)), (1.0, f"t = {n - 1}"))
    return Drawing(title=title, values=middle.values.tolist(), ticks=ticks)
