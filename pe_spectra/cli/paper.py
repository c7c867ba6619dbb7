"""The commands of the paper: spectrum, reconstruct, faithfulness, count-low-bin; and what each proposes to do next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pe_spectra.cli.run import Outcome, Run, plot
from pe_spectra.cli.subject import Subject, check_count, check_together, check_work, list_undecided
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_ANALYSED, MAX_COUNTED_FREQUENCIES, MAX_PRINTED_NUMBERS, MAX_STREAMED_ENTRIES
from pe_spectra.numbers import IntegerRange, parse_integers
from pe_spectra.vocabulary import BOUNDARIES
from pe_spectra.wording import compose_command, join

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pe_spectra.encodings import Encoding
    from pe_spectra.exact import F64
    from pe_spectra.faithfulness import Faithfulness
    from pe_spectra.reconstruction import Reconstruction
    from pe_spectra.spectrum.grid_spectrum import GridSpectrum
    from pe_spectra.spectrum.low_bin import LowBinCount
    from pe_spectra.spectrum.record import Spectrum

_DEFAULT_S = (5, 40, 75)
_PAPER_PAIR = ("sinusoidal", "dft")
#: Bandwidths that a reconstruction is tried with next.
_SWEEP = ("0.25", "1", "4", "16", "64")
#: Columns of a reconstruction's CSV, which has a row for each t.
_CURVE_COLUMNS = 12
#: What a position whose separation is measured costs at least, in columns, whatever the width.
_MEASURED_WIDTH = 512


def spectrum(
    run: Run, subject: Subject, grid: int | None, bandwidth: Sequence[float] | None, boundary: str | None
) -> Outcome:
    """How much of the encoding lies at each DFT frequency: a Gaussian kernel density of its
    frequencies, or the same of its kernel where it has no list of them (a table, a bias), beside
    the flat line of the DFT encoding (Eq. 22).
    """
    encodings, missing = replace(subject, timed=True).build_possible("sinusoidal")
    check_count(encodings)
    grid, bandwidths, lattice = _share_lattice(encodings, grid, bandwidth or (None,), subject.length)
    points = _count_points(encodings, grid) // 2 * len(bandwidths)
    check_work("--d, --grid and --bandwidth", points, MAX_PRINTED_NUMBERS)
    from pe_spectra.answers.answer import gather_notes
    from pe_spectra.answers.spectra import answer_spectra
    from pe_spectra.spectrum.grid_spectrum import compute_grid_spectrum

    with run.progress("computing spectra"):
        spectra, notes = _compute_spectra(encodings, grid, bandwidths, boundary, subject.length)
        planes = [compute_grid_spectrum(e, bandwidth=bandwidths[0]) for e in encodings if e.shape]
        said = gather_notes(missing.items(), ()) + notes + lattice
        answer = answer_spectra(spectra, planes, said)
        return run.finish(answer, lambda: _draw_spectra(spectra, planes), then=_follow_spectrum(run, spectra))


def reconstruct(
    run: Run,
    subject: Subject,
    s: Sequence[str] | None,
    grid: int | None,
    bandwidth: Sequence[float] | None,
    boundary: str | None,
    window_free: bool,
) -> Outcome:
    """The one-hot function of each position, its DFT coefficients multiplied by the encoding's weights
    and transformed back: peak, widths and errors, for the original and the DFT encoding.
    """
    encodings = subject.build(*_PAPER_PAIR)
    bandwidths = bandwidth or (None,)
    check_count(encodings)
    positions, notes = _read_positions(s, encodings, grid, subject.length)
    points = _count_points(encodings, grid) * len(bandwidths) * len(positions)
    is_curve = run.format == "csv"
    asked = f"--s, --d, --grid{',' if is_curve else ' and'} --bandwidth{' and --format csv' if is_curve else ''}"
    check_work(asked, points * (_CURVE_COLUMNS if is_curve else 1), MAX_PRINTED_NUMBERS)
    from pe_spectra.answers.reconstructions import answer_reconstructions
    from pe_spectra.reconstruction import reconstruct_positions

    with run.progress("reconstructing"):
        spectra, reflected = _compute_spectra(encodings, grid, bandwidths, boundary, subject.length)
        results = [reconstruct_positions(spectrum, positions) for spectrum in spectra]
        kernels, missing = _compute_kernels(results) if window_free else (None, ())
        then = _follow_reconstruction(run, results, subject.length, is_sweep=len(bandwidths) > 1)
        all_notes = notes + missing + reflected
        kernel = next((k for k in kernels or () if k is not None), None)
        answer = answer_reconstructions(results, kernels, all_notes, is_curve=is_curve)
        figure = plot("pe_spectra.plots.blur.compose_reconstruction", *results, kernel=kernel)
        return run.finish(answer, figure, then=then)


def faithfulness(
    run: Run, subject: Subject, limit: int, within: float | None, require: Sequence[str] | None
) -> Outcome:
    """A certificate or two positions that collide, the smallest separation and its pair, rank and
    condition of the table of codes, and the figures of Algorithm 1.
    """
    from pe_spectra.answers.answer import gather_notes
    from pe_spectra.cli.requirements import check_requirements, parse_requirements

    requirements = parse_requirements(require or [], ("separation", "rank"))
    encodings, missing = subject.build_possible(*_PAPER_PAIR)
    length = subject.length or _choose_length(encodings)
    _check_measured(encodings, length)
    from pe_spectra.answers.injectivity import answer_faithfulness
    from pe_spectra.faithfulness import measure_faithfulness

    with run.progress("measuring separation and rank") as tell:
        results = [measure_faithfulness(e, length=length, limit=limit, within=within, progress=tell) for e in encodings]
        found = [(r.encoding.label, r.outcome, {"separation": r.min_separation, "rank": r.rank}) for r in results]
        answer = answer_faithfulness(results, check_requirements(requirements, [*found, *list_undecided(missing)]))
        figure = plot("pe_spectra.plots.distances.compose_faithfulness", *results)
        answer = replace(answer, notes=(*gather_notes(missing.items(), ()), *answer.notes))
        return run.finish(answer, figure, then=_follow_faithfulness(run, results))


def count_low_bin(run: Run, subject: Subject, edge: int | None) -> Outcome:
    """Counted exactly, with the crossing l* of the ladder. With --length T the edge is 2 pi/T: the
    frequencies that never complete a turn within T positions.
    """
    encodings = subject.build("sinusoidal")
    check_work("--d and --rho", _count_points(encodings, None) // 2, MAX_COUNTED_FREQUENCIES)
    from pe_spectra.answers.counts import answer_counts
    from pe_spectra.spectrum.low_bin import count_low_bin

    counts = [count_low_bin(e, length=edge) for e in encodings]
    figure = plot("pe_spectra.plots.strips.compose_low_bin", *counts)
    return run.finish(answer_counts(counts), figure, then=_follow_counts(run, counts))


def _share_lattice(
    encodings: Sequence[Encoding], grid: int | None, bandwidths: Sequence[float | None], length: int | None
) -> tuple[int | None, Sequence[float | None], tuple[str, ...]]:
    """One lattice for several encodings unless --grid says which, the bandwidths on it, and a note; one has its own.

    Real positions are the lattice of all encodings that are looked at there.
    """
    from pe_spectra.encodings.codes import is_sampled
    from pe_spectra.spectrum.lag_window import choose_bandwidth, choose_lattice

    if len(encodings) < 2 or any(is_sampled(e) for e in encodings):
        return grid, bandwidths, ()
    points = choose_lattice(encodings, length) if grid is None else grid
    widths = [choose_bandwidth(encodings, points) if one is None else one for one in bandwidths]
    said = join([f"{one:g} is {one * math.tau / points:.3g}" for one in widths], most=4)
    other = "; --grid chooses another" if grid is None else ""
    return points, widths, (f"one lattice of {points} points for all, where bandwidth {said} rad/position{other}",)


def _compute_spectra(
    encodings: Sequence[Encoding],
    grid: int | None,
    bandwidths: Sequence[float | None],
    boundary: str | None,
    length: int | None,
) -> tuple[list[Spectrum], tuple[str, ...]]:
    """One spectrum of each encoding at each bandwidth, two for one on a grid; one where no bandwidth enters.

    A bandwidth of None is each encoding's own. There is a note on each that is reflected although `none` was asked for.
    """
    from pe_spectra.spectrum.lag_window import compute_spectrum, list_axes

    spectra = [
        compute_spectrum(e, grid=grid, bandwidth=b, boundary=boundary or BOUNDARIES[0], length=length, axis=axis)
        for e in encodings
        for b in bandwidths
        for axis in list_axes(e)
    ]
    others = dict.fromkeys(s.encoding.label for s in spectra if boundary == "none" != s.boundary)
    notes = tuple(f"{label}: --boundary none has no effect, for its spectrum is always reflected" for label in others)
    return list({(s.encoding, s.bandwidth, s.axis): s for s in spectra}.values()), notes


def _read_positions(
    texts: Sequence[str] | None, encodings: Sequence[Encoding], grid: int | None, length: int | None
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Read --s within the shortest lattice, on a grid its shorter side; and a note where the default does not fit."""
    from pe_spectra.spectrum.density import check_grid

    lattices = [grid or (min(e.shape) if e.shape is not None else check_grid(e, None, length)) for e in encodings]
    points = min(lattices)
    if texts:
        owner = encodings[lattices.index(points)].label
        reason = "" if points == max(lattices) else f"for {owner} has a lattice of {points} points"
        return parse_integers(texts, "--s", IntegerRange(minimum=0, maximum=points - 1, reason=reason)), ()
    clipped = tuple(dict.fromkeys(min(position, points - 1) for position in _DEFAULT_S))
    if clipped == _DEFAULT_S:
        return clipped, ()
    return clipped, (f"the default positions 5 40 75 do not fit a lattice of {points} points, so they are clipped",)


def _choose_length(encodings: Sequence[Encoding]) -> int:
    """The longest of their default lengths that all of them have: of one encoding its own."""
    return min([max(e.default_length for e in encodings), *(e.rows for e in encodings if e.rows is not None)])


def _check_measured(encodings: Sequence[Encoding], length: int) -> None:
    """Refuse what `faithfulness` could not measure in time."""
    sizes = [length] * len(encodings)
    check_together("--d and --length", encodings, sizes, _MEASURED_WIDTH, MAX_STREAMED_ENTRIES)


def _count_points(encodings: Sequence[Encoding], grid: int | None) -> int:
    """The points of all lattices together."""
    return sum(grid or e.default_grid for e in encodings)


def _compute_kernels(results: Sequence[Reconstruction]) -> tuple[list[F64 | None], tuple[str, ...]]:
    """The bare kernel of each encoding, and a note on each that has none."""
    from pe_spectra.answers.answer import name_apart
    from pe_spectra.spectrum.kernels import describe_average
    from pe_spectra.spectrum.lag_window import compute_bare_kernel

    together = [r.spectrum.encoding for r in results]
    kernels = [compute_bare_kernel(r.spectrum.encoding, r.spectrum.grid) for r in results]
    reason = "no kernel, for its dot products are not a function of the lag alone"
    without = [e for e, kernel in zip(together, kernels, strict=True) if kernel is None]
    notes = dict.fromkeys(without, reason)
    for encoding, found in zip(together, kernels, strict=True):
        if found is not None and found.length is not None:
            over = describe_average(encoding, found.source, found.length)
            notes[encoding] = f"its kernel without a window is a mean over {over}"
    values = [None if found is None else found.values[0] for found in kernels]
    return values, tuple(f"{name_apart(e, together)}: {note}" for e, note in notes.items())


# ----------------------------------------------------------------------------------- what to try next


def _follow_spectrum(run: Run, spectra: Sequence[Spectrum]) -> str:
    """Propose to reconstruct positions through the same encodings; nothing at real positions, which have no lattice."""
    if not any(run.typed.values()):
        return "pe-spectra reconstruct --s 5 40 75"
    # three positions, and the DFT encoding beside the default one
    numbers = sum(s.grid for s in spectra) * 3 * (1 if run.typed["encoding"] else 2)
    return "" if run.typed["positions"] or numbers > MAX_PRINTED_NUMBERS else run.propose("reconstruct")


def _follow_reconstruction(run: Run, results: Sequence[Reconstruction], length: int | None, *, is_sweep: bool) -> str:
    """Propose a sweep of bandwidths; after one, or where no bandwidth enters, what tells the positions apart."""
    can_sweep = not is_sweep and any(r.spectrum.bandwidth is not None for r in results)
    numbers = sum(r.spectrum.grid * len(r.positions) for r in results) * len(_SWEEP)
    if can_sweep and numbers <= MAX_PRINTED_NUMBERS:
        return run.propose("reconstruct", bandwidth=_SWEEP)
    encodings = tuple(dict.fromkeys(r.spectrum.encoding for r in results))
    try:
        _check_measured(encodings, length or _choose_length(encodings))
    except InputError:
        return ""
    return run.propose("faithfulness", s=None, grid=None, bandwidth=None, boundary=None, window_free=None)


def _follow_faithfulness(run: Run, results: Sequence[Faithfulness]) -> str:
    """Propose the spectrum of the same encodings; nothing where all codes are one, as they may be zero."""
    if any(r.length == 1 or r.collisions.distinct == 1 for r in results):
        return ""
    if _count_points([r.encoding for r in results], None) // 2 > MAX_PRINTED_NUMBERS:
        return ""
    pair = run.typed["encoding"] or _PAPER_PAIR
    return run.propose("spectrum", encoding=pair, limit=None, within=None, require=None)


def _follow_counts(run: Run, counts: Sequence[LowBinCount]) -> str:
    """Propose the spectra of what was counted; after the default, the paper's own statements about it."""
    if not any(run.typed.values()):
        return "pe-spectra claims"
    encodings = tuple(dict.fromkeys(count.encoding for count in counts))
    if len(encodings) > MAX_ANALYSED or _count_points(encodings, None) // 2 > MAX_PRINTED_NUMBERS:
        return ""
    # a spectrum takes one width and one base, so they are put into the SPECs; its --length means something else
    return compose_command("spectrum", encoding=[encoding.write_spec(brief=True) for encoding in encodings])


def _draw_spectra(spectra: Sequence[Spectrum], planes: Sequence[GridSpectrum]) -> Figure:
    from pe_spectra.encodings import Dft
    from pe_spectra.plots.spectrum import compose_spectrum
    from pe_spectra.spectrum.lag_window import compute_spectrum
    from pe_spectra.spectrum.periodograms import compute_local_spectra

    if planes and len(planes) * 2 == len(spectra):
        from pe_spectra.plots.planes import compose_grid_spectra

        return compose_grid_spectra(*planes)
    if spectra[0].estimator == "nudft":
        return compose_spectrum(*spectra)
    averaged = [s for s in spectra if s.kernel_source == "gram-diagonals" and s.axis is None and (s.length or 0) >= 4]
    local = compute_local_spectra(averaged[0].encoding, length=averaged[0].length) if averaged else None
    return compose_spectrum(*spectra, reference=compute_spectrum(Dft(d=spectra[0].grid)), local=local)
