"""The commands of the paper: spectrum, reconstruct, faithfulness, count-low-bin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from pe_spectra.cli import options
from pe_spectra.cli.commands import register
from pe_spectra.cli.inputs import (
    check_count,
    check_measured,
    check_work,
    count_points,
    note_boundary,
    read_bandwidths,
    read_boundary,
    read_positions,
)
from pe_spectra.cli.run import Outcome, Progress, Run
from pe_spectra.cli.subject import Subject, takes
from pe_spectra.limits import (
    MAX_CONTEXT,
    MAX_COUNTED_FREQUENCIES,
    MAX_LENGTH,
    MAX_PRINTED_NUMBERS,
    MAX_WIDTH,
    MIN_LENGTH,
    MIN_WIDTH,
)
from pe_spectra.numbers import IntegerRange, RealRange

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pe_spectra.encodings import Encoding
    from pe_spectra.exact import F64
    from pe_spectra.faithfulness import Faithfulness
    from pe_spectra.reconstruction import Reconstruction
    from pe_spectra.spectrum import GridSpectrum, LowBinCount, Spectrum

_GRID = IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH)
_CONTEXT = IntegerRange(minimum=MIN_LENGTH, maximum=MAX_CONTEXT)
_LIMIT = IntegerRange(minimum=0, maximum=MAX_LENGTH)
_RADIUS = RealRange(minimum=1e-300, maximum=1e300)
_DEFAULT_LIMIT = 10
#: The options that build encodings.
_BUILDING = ("encoding", "d", "rho", "rows", "start", "step")
_PAPER_PAIR = ("sinusoidal", "dft")


def add_commands(app: typer.Typer) -> None:
    """Register the four commands; the two of the paper's figures draw theirs unless told otherwise."""
    for name, (body, figure, examples) in _COMMANDS.items():
        register(app, name, figure=figure, draws=True, examples=examples)(body)


def spectrum(
    run: Run,
    subject: Annotated[Subject, takes(*_BUILDING, "positions", length=options.SpectrumLength)],
    grid: options.Grid = None,
    bandwidth: options.Bandwidths = None,
    boundary: options.Boundary = None,
) -> Outcome:
    """Frequency weights of an encoding (Eq. 15, Fig. 1).

    How much of the encoding lies at each DFT frequency: a Gaussian kernel density of its
    frequencies, or the same of its kernel where it has no list of them (a table, a bias), beside
    the flat line of the DFT encoding (Eq. 22).
    """
    encodings = subject.build("sinusoidal")
    bandwidths, edge = read_bandwidths(bandwidth), read_boundary(boundary)
    size = _GRID.parse(grid, "--grid") if grid is not None else None
    points = subject.read_length(encodings)
    check_count(encodings)
    check_work("--d, --grid and --bandwidth", count_points(encodings, size) // 2 * len(bandwidths), MAX_PRINTED_NUMBERS)
    from pe_spectra.answers.spectra import answer_spectra
    from pe_spectra.cli.next_command import follow_spectrum
    from pe_spectra.spectrum import compute_grid_spectrum, count_low_frequencies

    with Progress("computing spectra", quiet=run.quiet):
        spectra = _compute_spectra(encodings, size, bandwidths, edge, points)
        planes = [compute_grid_spectrum(e, bandwidth=bandwidths[0]) for e in encodings if e.shape is not None]
        typed = {**subject.typed, "grid": grid, "bandwidth": bandwidth, "boundary": boundary}
        then, more = follow_spectrum(typed, spectra), note_boundary(boundary, spectra)
        answer = answer_spectra(spectra, count_low_frequencies(spectra[0]), planes, next_command=then)
        return run.finish(replace(answer, notes=(*answer.notes, *more)), lambda: _draw_spectra(spectra, planes))


def reconstruct(
    run: Run,
    subject: Annotated[Subject, takes(*_BUILDING, length=options.SpectrumLength)],
    s: options.Positions = None,
    grid: options.Grid = None,
    bandwidth: options.Bandwidths = None,
    boundary: options.Boundary = None,
    window_free: options.WindowFree = False,
) -> Outcome:
    """What a single position looks like through an encoding (Algorithm 1, Fig. 2).

    The one-hot function of each position, its DFT coefficients multiplied by the encoding's weights
    and transformed back: peak, widths and errors, for the original and the DFT encoding.
    """
    encodings = subject.build(*_PAPER_PAIR)
    bandwidths, edge = read_bandwidths(bandwidth), read_boundary(boundary)
    size = _GRID.parse(grid, "--grid") if grid is not None else None
    length_of_all = subject.read_length(encodings)
    check_count(encodings)
    positions, notes = read_positions(s, encodings, size, length_of_all)
    points = count_points(encodings, size) * len(bandwidths) * len(positions)
    check_work("--s, --d, --grid and --bandwidth", points, MAX_PRINTED_NUMBERS)
    from pe_spectra.answers.reconstructions import answer_reconstructions
    from pe_spectra.cli.next_command import follow_reconstruction
    from pe_spectra.reconstruction import reconstruct_positions

    with Progress("reconstructing", quiet=run.quiet):
        spectra = _compute_spectra(encodings, size, bandwidths, edge, length_of_all)
        results = [reconstruct_positions(spectrum, positions) for spectrum in spectra]
        kernels, missing = _compute_kernels(results) if window_free else (None, ())
        then = follow_reconstruction(
            {**subject.typed, "s": s, "grid": grid, "boundary": boundary, "window_free": window_free},
            results,
            is_sweep=len(bandwidths) > 1,
        )
        answer = answer_reconstructions(
            results, kernels, notes + missing + note_boundary(boundary, spectra), next_command=then
        )
        return run.finish(answer, lambda: _draw_reconstructions(results, kernels))


def faithfulness(
    run: Run,
    subject: Annotated[Subject, takes(*_BUILDING, "length", "positions")],
    limit: options.Limit = None,
    within: options.Within = None,
    require: options.Require = None,
) -> Outcome:
    """Does every position have its own vector (Definition 1), and how far apart are they?

    A certificate or two positions that collide, the smallest separation and its pair, rank and
    condition of the table of codes, and the figures of Algorithm 1.
    """
    from pe_spectra.cli.requirements import check_requirements, parse_requirements

    requirements = parse_requirements(require or [])
    encodings = subject.build(*_PAPER_PAIR)
    size = subject.read_length(encodings)
    shown = _LIMIT.parse(limit, "--limit") if limit is not None else _DEFAULT_LIMIT
    radius = _RADIUS.parse(within, "--within") if within is not None else None
    sizes = [size or e.default_length for e in encodings]
    check_measured(encodings, sizes)
    from pe_spectra.answers.injectivity import answer_faithfulness
    from pe_spectra.cli.next_command import follow_faithfulness
    from pe_spectra.faithfulness import measure_faithfulness

    with Progress("measuring separation and rank", quiet=run.quiet):
        results = [measure_faithfulness(e, length=size, limit=shown, within=radius) for e in encodings]
        then = follow_faithfulness({**subject.typed, "encoding": subject.encoding or _PAPER_PAIR}, results)
        answer = answer_faithfulness(results, check_requirements(requirements, results), next_command=then)
        return run.finish(answer, lambda: _draw_faithfulness(results))


def count_low_bin(
    run: Run,
    subject: Annotated[Subject, takes("encoding", d=options.Widths, rho=options.Rhos, length=options.ContextLength)],
) -> Outcome:
    """How many frequencies lie below the first DFT frequency (Eq. 16).

    Counted exactly, with the crossing l* of the ladder. With --length T the edge is 2 pi/T: the
    frequencies that never complete a turn within T positions.
    """
    encodings = subject.build("sinusoidal")
    points = _CONTEXT.parse(subject.length, "--length") if subject.length is not None else None
    check_work("--d and --rho", count_points(encodings, None) // 2, MAX_COUNTED_FREQUENCIES)
    from pe_spectra import spectrum as room
    from pe_spectra.answers.counts import answer_counts
    from pe_spectra.cli.next_command import follow_counts

    counts = [room.count_low_bin(e, length=points) for e in encodings]
    then = follow_counts(subject.typed, counts)
    return run.finish(answer_counts(counts, next_command=then), lambda: _draw_counts(counts))


def _compute_spectra(
    encodings: Sequence[Encoding],
    grid: int | None,
    bandwidths: Sequence[float | None],
    boundary: str,
    length: int | None,
) -> list[Spectrum]:
    """One spectrum of each encoding at each bandwidth, two for one on a grid; one where no bandwidth enters."""
    from pe_spectra.spectrum import compute_spectrum, list_axes

    spectra = [
        compute_spectrum(e, grid=grid, bandwidth=b, boundary=boundary, length=length, axis=axis)
        for e in encodings
        for b in bandwidths
        for axis in list_axes(e)
    ]
    return list({(s.encoding, s.bandwidth, s.axis): s for s in spectra}.values())


def _compute_kernels(results: Sequence[Reconstruction]) -> tuple[list[F64 | None], tuple[str, ...]]:
    """The bare kernel of each encoding, and a note on each that has none."""
    from pe_spectra.answers.answer import name_apart
    from pe_spectra.spectrum import compute_bare_kernel

    together = [r.spectrum.encoding for r in results]
    kernels = [compute_bare_kernel(r.spectrum.encoding, r.spectrum.grid) for r in results]
    missing = tuple(
        name_apart(r.spectrum.encoding, together) + ": no kernel, for its dot products are not a function of the lag"
        " alone"
        for r, kernel in zip(results, kernels, strict=True)
        if kernel is None
    )
    return kernels, missing


def _draw_spectra(spectra: Sequence[Spectrum], planes: Sequence[GridSpectrum]) -> Figure:
    from pe_spectra.encodings import Dft
    from pe_spectra.plots.spectrum import compose_spectrum
    from pe_spectra.spectrum import compute_local_spectra, compute_spectrum

    if planes and len(planes) * 2 == len(spectra):
        from pe_spectra.plots.planes import compose_grid_spectra

        return compose_grid_spectra(*planes)
    if spectra[0].estimator == "nudft":
        return compose_spectrum(*spectra)
    averaged = [s for s in spectra if s.kernel_source == "gram-diagonals" and s.axis is None and (s.length or 0) >= 4]
    local = compute_local_spectra(averaged[0].encoding, length=averaged[0].length) if averaged else None
    return compose_spectrum(*spectra, reference=compute_spectrum(Dft(d=spectra[0].grid)), local=local)


def _draw_reconstructions(results: Sequence[Reconstruction], kernels: Sequence[F64 | None] | None) -> Figure:
    from pe_spectra.plots.blur import compose_reconstruction

    kernel = next((k for k in kernels or () if k is not None), None)
    return compose_reconstruction(*results, kernel=kernel)


def _draw_faithfulness(results: Sequence[Faithfulness]) -> Figure:
    from pe_spectra.plots.distances import compose_faithfulness

    return compose_faithfulness(*results)


def _draw_counts(counts: Sequence[LowBinCount]) -> Figure:
    from pe_spectra.plots.strips import compose_low_bin

    return compose_low_bin(*counts)


_COMMANDS: dict[str, tuple[Callable[..., Outcome], str, tuple[str, ...]]] = {
    "spectrum": (
        spectrum,
        "figures/spectrum.png",
        ("pe-spectra spectrum --d 256 --rho 10000", "pe-spectra spectrum --boundary reflect --bandwidth 1 4 16"),
    ),
    "reconstruct": (
        reconstruct,
        "figures/reconstruction.png",
        ("pe-spectra reconstruct --s 5 40 75", "pe-spectra reconstruct --s 40 --bandwidth 0.25 1 4 16 64"),
    ),
    "faithfulness": (
        faithfulness,
        "",
        ("pe-spectra faithfulness --length 80", "pe-spectra faithfulness -e dft:d=256 --length 300"),
    ),
    "count-low-bin": (
        count_low_bin,
        "",
        ("pe-spectra count-low-bin --d 256 512 --rho 10000", "pe-spectra count-low-bin --d 128 --length 4096"),
    ),
}
