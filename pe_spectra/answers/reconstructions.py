"""Reconstructions as an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pe_spectra.answers.answer import Answer, Body, Drawing, Verdict, Verdicts, name_apart
from pe_spectra.answers.panels import WIDTH
from pe_spectra.encodings import Encoding
from pe_spectra.exact import F64
from pe_spectra.quantities import Result, quantity
from pe_spectra.reconstruction import PositionReconstruction, Reconstruction
from pe_spectra.spectrum.record import WEIGHTS_ARE_SHARES
from pe_spectra.wording import capitalise, count, join

VERDICTS = Verdicts(
    ("exact", "ok", "Exact: through {exact} a single position comes back as it was."),
    ("peak-moved", "warning", "{clauses}."),
    ("blurred", "note", "{clauses}."),
)
#: What counts as coming back exactly: the rounding of two transforms.
EXACT = 1e-9
#: So many encodings, or positions, have a clause of their own in the verdict.
_MOST_NAMED = 4
Namer = Callable[[Reconstruction], str]


# --------------------------------------------------------------------- documents


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel(Result):
    """One encoding at one bandwidth, and what it leaves of each position."""

    schema_rules = WEIGHTS_ARE_SHARES

    result: Reconstruction = quantity("What was reconstructed.", inline=True)
    kernel: F64 | None = quantity(
        "With --window-free: the encoding's own dot product at lags 0 .. N-1 over that at lag 0; null where it is not "
        "a function of the lag.",
        only=lambda panel: panel.is_window_free,
        defined=lambda panel: panel.kernel is not None,
    )
    is_window_free: bool = False


@dataclass(frozen=True, kw_only=True)
class ReconstructionParameters(Result):
    """What was reconstructed, and how."""

    grid: int = quantity("Length N of the DFT lattice of the first panel, in positions; each has its own.", minimum=2)
    boundary: str = quantity(
        "What happens to the kernel at 0 and pi in the first panel: cut off as in the paper, or reflected; each has "
        "its own.",
        words=("none", "reflect"),
    )
    s: tuple[int, ...] = quantity(
        "The positions s whose one-hot functions were reconstructed.", minimum=0, least=1, unique=True
    )


@dataclass(frozen=True, kw_only=True)
class ReconstructionBody(Body):
    """Single positions through the weights of encodings (Algorithm 1)."""

    kind = "reconstruction"
    parameters: ReconstructionParameters = quantity("What was reconstructed, and how.")
    t: range = quantity("Lattice points 0 .. N-1 at which values stand.", unit="positions", minimum=0, least=2)
    panels: tuple[Panel, ...] = quantity("One panel for each encoding and bandwidth, in the order asked for.", least=1)


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
    first, given = results[0], kernels if kernels is not None else [None] * len(results)
    peak = ("peak",) if any(map(_measure_shift, results)) else ()
    return Answer(
        body=ReconstructionBody(
            parameters=ReconstructionParameters(
                grid=first.spectrum.grid, boundary=first.spectrum.boundary, s=tuple(p.s for p in first.positions)
            ),
            t=range(max(result.spectrum.grid for result in results)),
            panels=tuple(
                Panel(result=result, kernel=kernel, is_window_free=kernels is not None)
                for result, kernel in zip(results, given, strict=True)
            ),
        ),
        verdict=_judge(results),
        results=results,
        facts=_list_facts(results, kernels),
        notes=[*notes, *(note for result in results for note in result.spectrum.notes)],
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


# --------------------------------------------------------------------- verdict


def _judge(results: Sequence[Reconstruction]) -> Verdict:
    moved = [r for r in results if _measure_shift(r)]
    blurred = [r for r in results if r.positions[0].relative_error > EXACT and not _measure_shift(r)]
    exact = [r for r in results if r.positions[0].relative_error <= EXACT]
    name = _name_all(results)
    # an encoding that is exact at one bandwidth only is named with it
    back = _list([name(r) + (_at(r) if _find_sweep(r, blurred + moved) else "") for r in exact])
    if moved:
        clauses = [_say_moved(moved, results, name)]
        many = len(_take_first(blurred)) > _MOST_NAMED
        each = [f"a single position is blurred {_say_blurred(r, (), name, _at(r))}" for r in blurred]
        clauses += [_say_range(blurred, name)] if many else each
    elif blurred:
        clauses = _say_all_blurred(blurred, name)
    else:
        return VERDICTS.say("exact", exact=back)
    if exact:
        clauses.append(f"through {back} it comes back exactly")
    return VERDICTS.say("peak-moved" if moved else "blurred", clauses=_explain_once("; ".join(clauses)))


def _explain_once(text: str) -> str:
    """Say at the first width of a sentence only what it is, and begin with a capital."""
    head, first, rest = text.partition(WIDTH)
    return capitalise(head + first + rest.replace(f" ({WIDTH})", "").replace(f"{WIDTH}, ", ""))


def _measure_shift(result: Reconstruction) -> int:
    """How far the curves are largest from their position: as far for each, for all are shifts of one."""
    return result.positions[0].shift


def _say_moved(moved: Sequence[Reconstruction], results: Sequence[Reconstruction], name: Namer) -> str:
    """Say where positions come back through encodings that do not leave them where they were."""
    first = moved[0]
    shift, left = _measure_shift(first), float(first.positions[0].values[first.positions[0].s])
    places = _list([f"s = {one.s} at {one.peak}" for one in first.positions])
    total = sum(len(result.positions) for result in results)
    text = (
        f"{describe_bandwidth(first.spectrum.bandwidth)} a single position comes back elsewhere through {name(first)}, "
        f"{count(shift, 'position')} away, and {left:.2g} high where it was "
        f"({len(moved) * len(first.positions)} of {total}: {places})"
    )
    others = [f"{name(result)}{_at(result)} ({_measure_shift(result)} away)" for result in moved[1:]]
    return f"{text}; so through {_list(others)}" if others else text


def _list(names: Sequence[str]) -> str:
    """Name all, or of many the first and how many more."""
    return join(list(dict.fromkeys(names)), _MOST_NAMED)


def _say_all_blurred(blurred: Sequence[Reconstruction], name: Namer) -> list[str]:
    """One clause for each encoding; of many the range of all."""
    firsts = _take_first(blurred)
    if len(firsts) > _MOST_NAMED:
        return [_say_range(blurred, name)]
    bandwidth = firsts[0].spectrum.bandwidth
    clauses = []
    for result in firsts:
        at = "" if result.spectrum.bandwidth == bandwidth else _at(result)
        clauses.append(_say_blurred(result, _find_sweep(result, blurred), name, at))
    return [f"{describe_bandwidth(bandwidth)} a single position is blurred {clauses[0]}", *clauses[1:]]


def _say_blurred(result: Reconstruction, sweep: Sequence[Reconstruction], name: Namer, at: str = "") -> str:
    one = result.positions[0]
    text = f"{_say_width(one)}, peak {one.peak_value:.2g}, through {name(result)}{at}"
    if len(sweep) > 1:
        text += f", {describe_bandwidth(sweep[-1].spectrum.bandwidth)} {_say_width(sweep[-1].positions[0])}"
    return text


def _say_range(blurred: Sequence[Reconstruction], name: Namer) -> str:
    """The narrowest and the widest of many, by name."""
    wide = [(r.positions[0].fwhm or math.inf, number) for number, r in enumerate(blurred)]
    low, high = (
        f"{_say_width(r.positions[0])} through {name(r)}{_at(r)}"
        for r in (blurred[number] for _, number in (min(wide), max(wide)))
    )
    return f"through {len(_take_first(blurred))} encodings a single position is blurred, least {low}, most {high}"


def _say_width(position: PositionReconstruction) -> str:
    if position.fwhm is None:
        return "so that it never falls to half of its maximum"
    tenth = "" if position.width_10 is None else f", {position.width_10:.1f} at a tenth"
    return f"to {position.fwhm:.1f} positions ({WIDTH}{tenth})"


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


# --------------------------------------------------------------------- facts


def _list_facts(results: Sequence[Reconstruction], kernels: Sequence[F64 | None] | None) -> list[tuple[str, str]]:
    facts = [("l2 norm", "restored after weighting, as in the paper; relative_error_unscaled is without it")]
    if any(r.spectrum.bandwidth is not None for r in results):
        facts.append(("width", "follows the bandwidth, so it is stated with it; a sweep: --bandwidth 0.25 1 4 16 64"))
        if kernels is None:
            facts.append(("kernel", "the encoding's own, without a window: --window-free"))
    among = [r.spectrum.encoding for r in results]
    for encoding, kernel in dict(zip(among, kernels or (), strict=False)).items():
        if kernel is not None:
            facts.append(("kernel", f"{name_apart(encoding, among)} without a window: {_say_kernel(kernel)}"))
    return facts


def _say_kernel(kernel: F64) -> str:
    below = np.flatnonzero(kernel < 0.5)
    if not len(below):
        return f"k(tau)/k(0) stays above a half up to lag {len(kernel) - 1}"
    return f"k(tau)/k(0) first falls below a half at lag {below[0]}"


def _draw(result: Reconstruction) -> Drawing:
    n, middle = result.spectrum.grid, result.positions[len(result.positions) // 2]
    where = describe_bandwidth(result.spectrum.bandwidth)
    ticks = ((0.0, "0"), (middle.s / max(1, n - 1), str(middle.s)), (1.0, f"t = {n - 1}"))
    title = f"reconstruction of s = {middle.s}, {result.spectrum.encoding.label}, {where}"
    return Drawing(title=title, values=middle.values.tolist(), ticks=ticks)
