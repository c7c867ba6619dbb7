"""Reconstructions as an answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from pe_spectra.answers.answer import MOST_DRAWN, Answer, Body, Drawing, Verdict, Verdicts, name_apart
from pe_spectra.answers.captions import name_lines
from pe_spectra.encodings import Dft
from pe_spectra.exact import F64
from pe_spectra.faces import Cell
from pe_spectra.quantities import Result, quantity, tabulate
from pe_spectra.reconstruction import PositionReconstruction, Reconstruction
from pe_spectra.records import dataclass
from pe_spectra.spectrum.record import WEIGHTS_ARE_SHARES
from pe_spectra.vocabulary import BOUNDARIES
from pe_spectra.wording import capitalise, count, join

VERDICTS = Verdicts({"peak-moved": "warning", "blurred": "note", "exact": "ok"})
#: What a width is.
WIDTH = "full width at half maximum"
#: What counts as coming back exactly: the rounding of two transforms.
EXACT = 1e-9
#: So many encodings, or positions, have a clause of their own in the verdict.
_MOST_NAMED = 4
_HINTS = (
    ("error", "relative, the l2 norm restored after weighting, as in the paper; relative_error_unscaled is without it"),
    ("width", f"{WIDTH}, in positions; it follows the bandwidth, so it is stated with it"),
    ("kernel", "the encoding's own, without a window: --window-free"),
)


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
class ReconstructionBody(Body):
    """Single positions through the weights of encodings (Algorithm 1)."""

    kind = "reconstruction"
    grid: int = quantity(
        "Length N of the DFT lattice of the first panel, in positions; each has its own.", minimum=2, asked=True
    )
    boundary: str = quantity(
        "What happens to the kernel at 0 and pi in the first panel: cut off as in the paper, or reflected; each has "
        "its own.",
        words=BOUNDARIES,
        asked=True,
    )
    s: tuple[int, ...] = quantity(
        "The positions s whose one-hot functions were reconstructed.", minimum=0, least=1, unique=True, asked=True
    )
    t: range = quantity("Lattice points 0 .. N-1 at which values stand.", unit="positions", minimum=0, least=2)
    panels: tuple[Panel, ...] = quantity("One panel for each encoding and bandwidth, in the order asked for.", least=1)


def answer_reconstructions(
    results: Sequence[Reconstruction],
    kernels: Sequence[F64 | None] | None = None,
    notes: tuple[str, ...] = (),
    *,
    is_curve: bool = False,
) -> Answer:
    """Turn reconstructions into an answer, with what the caller has to note.

    Parameters
    ----------
    results : at least one; every one with the same positions.
    kernels : for `--window-free`, the bare kernel of each result's encoding over lags 0 .. N-1,
        divided by its value at 0; None for an encoding that has none.
    is_curve : whether each position has a row for every t, with the value r there, in place of one row.

    >>> from pe_spectra import Dft, compute_spectrum, reconstruct_positions
    >>> answer_reconstructions([reconstruct_positions(compute_spectrum(Dft(d=8)), [3])]).verdict.text
    'Exact: through dft a single position comes back as it was.'
    """
    first, given = results[0], kernels if kernels is not None else [None] * len(results)
    return Answer(
        body=ReconstructionBody(
            grid=first.spectrum.grid,
            boundary=first.spectrum.boundary,
            s=tuple(p.s for p in first.positions),
            t=range(max(result.spectrum.grid for result in results)),
            panels=tuple(
                Panel(result=result, kernel=kernel, is_window_free=kernels is not None)
                for result, kernel in zip(results, given, strict=True)
            ),
        ),
        verdict=_judge(results),
        results=results,
        table=_list_curves(results) if is_curve else {},
        total=None if is_curve else sum(len(result.positions) for result in results),
        facts=(*_sum_up(results), *_list_kernels(results, kernels)),
        details=(*_HINTS, *_explain_multipliers(results)),
        notes=[*notes, *(note for result in results for note in result.spectrum.notes)],
        rows="none",
        drawing=_draw(first) if len(results) <= MOST_DRAWN else None,
    )


# --------------------------------------------------------------------- verdict


def _judge(results: Sequence[Reconstruction]) -> Verdict:
    fares: dict[str, list[tuple[str, PositionReconstruction]]] = {code: [] for code in VERDICTS}
    for name, result in zip(_name_all(results), results, strict=True):
        one = result.positions[0]  # as the others: all are shifts of one
        code = "peak-moved" if one.shift else "blurred" if one.relative_error > EXACT else "exact"
        fares[code].append((name, one))
    back = join([name for name, _ in fares["exact"]], _MOST_NAMED)
    code = next(code for code, found in fares.items() if found)
    if code == "exact":
        return VERDICTS.say(code, f"Exact: through {back} a single position comes back as it was.")
    moved = [f"{name} ({count(one.shift, 'position')} away)" for name, one in fares["peak-moved"]]
    clauses = [f"a single position comes back elsewhere through {join(moved, _MOST_NAMED)}"] if moved else []
    clauses += [_say_blurred(fares["blurred"])] if fares["blurred"] else []
    clauses += [f"through {back} it comes back exactly"] if back else []
    bandwidths = _list_bandwidths(results)
    at = f"at bandwidth {bandwidths[0]:g} " if len(bandwidths) == 1 else ""
    return VERDICTS.say(code, f"{capitalise(at + '; '.join(clauses))}.")


def _say_blurred(blurred: Sequence[tuple[str, PositionReconstruction]]) -> str:
    """How wide a position becomes, and through what; of several the narrowest and the widest."""
    ordered = sorted(blurred, key=lambda named: named[1].fwhm or math.inf)
    (name, least), (last, most) = ordered[0], ordered[-1]
    if len(ordered) == 1:
        return f"a single position is blurred {_say_width(least)}, peak {least.peak_value:.2g}, through {name}"
    widest = f"{most.fwhm:.1f}" if most.fwhm is not None else "one that never falls to half of its maximum"
    return f"a single position is blurred, least {_say_width(least)} through {name}, most to {widest} through {last}"


def _say_width(position: PositionReconstruction) -> str:
    if position.fwhm is None:
        return "so that it never falls to half of its maximum"
    tenth = "" if position.width_10 is None else f", {position.width_10:.1f} at a tenth"
    return f"to {position.fwhm:.1f} positions ({WIDTH}{tenth})"


def _list_bandwidths(results: Sequence[Reconstruction]) -> list[float]:
    return list(dict.fromkeys(r.spectrum.bandwidth for r in results if r.spectrum.bandwidth is not None))


def _name_all(results: Sequence[Reconstruction]) -> Iterator[str]:
    """Name each: shortly where no other has that name, on a grid with the direction, in a sweep with the bandwidth."""
    among, is_sweep = [result.spectrum.encoding for result in results], len(_list_bandwidths(results)) > 1
    for spectrum in (result.spectrum for result in results):
        axis = "" if spectrum.axis is None else f" ({spectrum.axis})"
        at = f" at bandwidth {spectrum.bandwidth:g}" if is_sweep and spectrum.bandwidth is not None else ""
        yield f"{name_apart(spectrum.encoding, among)}{axis}{at}"


# --------------------------------------------------------------------- facts


def _sum_up(results: Sequence[Reconstruction]) -> Iterator[tuple[str, str]]:
    """One line for each reconstruction: all of its positions are shifts of the first."""
    for name, result in zip(name_lines([r.spectrum for r in results]), results, strict=True):
        one = result.positions[0]
        width = "never at half of it" if one.fwhm is None else f"width {one.fwhm:.3g}"
        tenth = "" if one.width_10 is None else f" ({one.width_10:.3g} at a tenth)"
        away = f" {count(one.shift, 'position')} away" if one.shift else ""
        error = f"error {one.relative_error:.3g}{_say_literally(result)}"
        yield name, f"peak {one.peak_value:.3g}{away}, {width}{tenth}, {error}"


def _say_literally(result: Reconstruction) -> str:
    """What the weights give as they stand, where Algorithm 1 does not multiply with them: Eq. 22 of `dft`."""
    if result.spectrum.estimator != "lattice":
        return ""
    what = "literal Eq. 22" if isinstance(result.spectrum.encoding, Dft) else "its weights as multipliers"
    return f"; {what}: {result.relative_error_of_weights:.3g}"


def _explain_multipliers(results: Sequence[Reconstruction]) -> Iterator[tuple[str, str]]:
    """Why the weights of an encoding on the lattice are no multipliers."""
    grids = [result.spectrum.grid for result in results if result.spectrum.estimator == "lattice"]
    if grids:
        ends = " and pi" if any(n % 2 == 0 for n in grids) else ""
        if ends and any(n % 2 for n in grids):
            ends = ", at pi where N is even,"
        functions = f"the number of basis functions at a frequency, 1 at 0{ends} and 2 at others"
        yield "multipliers", f"on the lattice, weights over {functions}; literally: the weights themselves"


def _list_curves(results: Sequence[Reconstruction]) -> dict[str, list[Cell]]:
    """The rows of all positions, each once for every t, and beside them t and the value r there."""
    curves = [position.values for result in results for position in result.positions]
    rows = {
        name: [cell for cell, curve in zip(cells, curves, strict=True) for _ in range(len(curve))]
        for name, cells in tabulate(results).items()
    }
    t = [place for curve in curves for place in range(len(curve))]
    return {**rows, "t": t, "r": np.concatenate(curves).tolist()}


def _list_kernels(results: Sequence[Reconstruction], kernels: Sequence[F64 | None] | None) -> list[tuple[str, str]]:
    facts = []
    among = [r.spectrum.encoding for r in results]
    for encoding, kernel in dict(zip(among, kernels or (), strict=False)).items():
        if kernel is not None:
            facts.append(("kernel", f"{name_apart(encoding, among)} without a window: {_say_kernel(kernel)}"))
    return facts


def _say_kernel(kernel: F64) -> str:
    below = np.flatnonzero(kernel < 0.5)
    if not len(below):
        return f"k(tau)/k(0) does not fall below a half up to lag {len(kernel) - 1}"
    return f"k(tau)/k(0) first falls below a half at lag {below[0]}"


def _draw(result: Reconstruction) -> Drawing:
    n, middle = result.spectrum.grid, result.positions[len(result.positions) // 2]
    at = "" if result.spectrum.bandwidth is None else f", at bandwidth {result.spectrum.bandwidth:g}"
    ticks = ((0.0, "0"), (middle.s / max(1, n - 1), str(middle.s)), (1.0, f"t = {n - 1}"))
    title = f"reconstruction of s = {middle.s}, {result.spectrum.encoding.label}{at}"
    return Drawing(title=title, values=middle.values.tolist(), ticks=ticks)
