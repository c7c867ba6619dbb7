"""Reconstructions as an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.exact import F64
from pe_spectra.reconstruction import PositionReconstruction, Reconstruction, measure_shift
from pe_spectra.records.answer import Answer, Cell, Document, Drawing, Verdict, describe_encoding, join, name_apart

#: What counts as coming back exactly: the rounding of two transforms.
EXACT = 1e-9
#: So many encodings, or positions, have a clause of their own in the verdict.
_MOST_NAMED = 4
Namer = Callable[[Reconstruction], str]


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
    peak = ("peak",) if any(map(_measure_shift, results)) else ()
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
        shown=("encoding", "bandwidth", "s", *peak, "peak_value", "fwhm", "width_10", "relative_error", "cosine"),
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
        **({} if spectrum.axis is None else {"axis": spectrum.axis}),
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
    moved = [r for r in results if _measure_shift(r)]
    blurred = [r for r in results if r.positions[0].relative_error > EXACT and not _measure_shift(r)]
    exact = [r for r in results if r.positions[0].relative_error <= EXACT]
    name = _name_all(results)
    # an encoding that is exact at one bandwidth only is named with it
    back = _list([name(r) + (_at(r) if _find_sweep(r, blurred + moved) else "") for r in exact])
    if moved:
        parts = [_say_moved(moved, results, name)]
        many = len(_take_first(blurred)) > _MOST_NAMED
        parts += [_say_range(blurred, name)] if many else [_say_blurred(r, (), name, _at(r)) for r in blurred]
    elif blurred:
        parts = _say_all_blurred(blurred, name)
    else:
        return Verdict(level="ok", code="exact", text=f"Exact: through {back} a single position comes back as it was.")
    if exact:
        parts.append(f"through {back} it comes back exactly")
    level, code = ("warning", "peak-moved") if moved else ("note", "blurred")
    text = "; ".join(parts)
    return Verdict(level=level, code=code, text=f"{text[0].upper()}{text[1:]}.")  # names keep their letters


def _measure_shift(result: Reconstruction) -> int:
    """How far the curves are largest from their position: as far for each, for all are shifts of one."""
    return measure_shift(result.positions[0].values, result.positions[0].s)


def _say_moved(moved: Sequence[Reconstruction], results: Sequence[Reconstruction], name: Namer) -> str:
    """Say where positions come back through encodings that do not leave them where they were."""
    first = moved[0]
    count = len(first.positions)
    places = _list([f"s = {one.s} at {one.peak}" for one in first.positions])
    shift, left = _measure_shift(first), float(first.positions[0].values[first.positions[0].s])
    text = f"{describe_bandwidth(first.spectrum.bandwidth)} a single position comes back elsewhere"
    text += (
        f" through {name(first)}, {shift} position{'' if shift == 1 else 's'} away, and {left:.2g} high where it was"
    )
    total = sum(len(result.positions) for result in results)
    text += f" ({len(moved) * count} of {total}: {places})"
    others = [f"{name(result)}{_at(result)} ({_measure_shift(result)} away)" for result in moved[1:]]
    return f"{text}; so through {_list(others)}" if others else text


def _list(names: Sequence[str]) -> str:
    """Name all, or of many the first and how many more."""
    unique = list(dict.fromkeys(names))
    if len(unique) > _MOST_NAMED:
        unique = [*unique[: _MOST_NAMED - 1], f"{len(unique) - _MOST_NAMED + 1} more"]
    return join(unique) if unique else ""


def _say_all_blurred(blurred: Sequence[Reconstruction], name: Namer) -> list[str]:
    """One clause for each encoding; of many the range of all."""
    firsts = _take_first(blurred)
    if len(firsts) > _MOST_NAMED:
        return [_say_range(blurred, name)]
    bandwidth = firsts[0].spectrum.bandwidth
    start = f"{describe_bandwidth(bandwidth)} a single position comes back "
    parts = []
    for result in firsts:
        at = "" if result.spectrum.bandwidth == bandwidth else _at(result)
        parts.append(_say_blurred(result, _find_sweep(result, blurred), name, at))
    return [start + parts[0], *parts[1:]]


def _say_blurred(result: Reconstruction, sweep: Sequence[Reconstruction], name: Namer, at: str = "") -> str:
    one = result.positions[0]
    text = f"{_say_width(one)} and {one.peak_value:.2g} times as high through {name(result)}{at}"
    if len(sweep) > 1:
        text += f", {describe_bandwidth(sweep[-1].spectrum.bandwidth)} {_say_width(sweep[-1].positions[0])}"
    return text


def _say_range(blurred: Sequence[Reconstruction], name: Namer) -> str:
    """The narrowest and the widest of many, by name."""
    wide = [(r.positions[0].fwhm or math.inf, number) for number, r in enumerate(blurred)]
    ends = [blurred[number] for _, number in (min(wide), max(wide))]
    low, high = (f"{_say_width(r.positions[0])} through {name(r)}{_at(r)}" for r in ends)
    return f"through {len(_take_first(blurred))} encodings a single position comes back from {low} to {high}"


def _take_first(results: Sequence[Reconstruction]) -> list[Reconstruction]:
    """The first result of each encoding, on a grid of each direction."""
    found: dict[tuple[Encoding, str | None], Reconstruction] = {}
    for result in results:
        found.setdefault((result.spectrum.encoding, result.spectrum.axis), result)
    return list(found.values())


def _find_sweep(one: Reconstruction, results: Sequence[Reconstruction]) -> list[Reconstruction]:
    """The results of the same encoding, at other bandwidths too."""
    same = (one.spectrum.encoding, one.spectrum.axis)
    return [result for result in results if (result.spectrum.encoding, result.spectrum.axis) == same]


def _at(result: Reconstruction) -> str:
    return f" {describe_bandwidth(result.spectrum.bandwidth)}"


def _name_all(results: Sequence[Reconstruction]) -> Namer:
    """How the verdict names encodings: shortly where no other has that name, on a grid with the direction."""
    among = [result.spectrum.encoding for result in results]

    def name(result: Reconstruction) -> str:
        axis = result.spectrum.axis
        return name_apart(result.spectrum.encoding, among) + ("" if axis is None else f" ({axis})")

    return name


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
            name = name_apart(result, [r.spectrum.encoding for r in results])
            facts.append(("kernel", f"{name} without a window: {_say_kernel(kernel)}"))
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
