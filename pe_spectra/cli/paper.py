"""The commands of the paper: spectrum, reconstruct, faithfulness, count-low-bin; and what each proposes to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pe_spectra.cli.run import Outcome, Progress, Run, plot
from pe_spectra.cli.subject import Subject, check_count, check_together, check_work, read
from pe_spectra.errors import InputError
from pe_spectra.limits import (
    MAX_ANALYSED,
    MAX_BANDWIDTH,
    MAX_CONTEXT,
    MAX_COUNTED_FREQUENCIES,
    MAX_LENGTH,
    MAX_PRINTED_NUMBERS,
    MAX_STREAMED_ENTRIES,
    MAX_WIDTH,
    MIN_BANDWIDTH,
    MIN_LENGTH,
    MIN_WIDTH,
)
from pe_spectra.numbers import Choice, IntegerRange, RealRange, parse_integers, parse_reals
from pe_spectra.vocabulary import BOUNDARIES
from pe_spectra.wording import Typed, compose_command

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pe_spectra.encodings import Encoding
    from pe_spectra.exact import F64
    from pe_spectra.faithfulness import Faithfulness
    from pe_spectra.reconstruction import Reconstruction
    from pe_spectra.spectrum import GridSpectrum, LowBinCount, Spectrum

_GRID = IntegerRange(minimum=MIN_WIDTH, maximum=MAX_WIDTH)
_BANDWIDTH = RealRange(minimum=MIN_BANDWIDTH, maximum=MAX_BANDWIDTH)
_BOUNDARY = Choice(members=BOUNDARIES)
_CONTEXT = IntegerRange(minimum=MIN_LENGTH, maximum=MAX_CONTEXT)
_LIMIT = IntegerRange(minimum=0, maximum=MAX_LENGTH)
_RADIUS = RealRange(minimum=1e-300, maximum=1e300)
_DEFAULT_LIMIT = 10
_DEFAULT_S = (5, 40, 75)
_PAPER_PAIR = ("sinusoidal", "dft")
#: Bandwidths that a reconstruction is tried with next.
_SWEEP = ("0.25", "1", "4", "16", "64")
#: What a position whose separation is measured costs at least, in columns, whatever the width.
_MEASURED_WIDTH = 512


def spectrum(
    run: Run, subject: Subject, grid: str | None, bandwidth: Sequence[str] | None, boundary: str | None
) -> Outcome:
    """Frequency weights of an encoding (Eq. 15, Fig. 1).

    How much of the encoding lies at each DFT frequency: a Gaussian kernel density of its
    frequencies, or the same of its kernel where it has no list of them (a table, a bias), beside
    the flat line of the DFT encoding (Eq. 22).
    """
    asked = _read_analysis(subject, ("sinusoidal",), grid, bandwidth, boundary)
    points = _count_points(asked.encodings, asked.grid) // 2 * len(asked.bandwidths)
    check_work("--d, --grid and --bandwidth", points, MAX_PRINTED_NUMBERS)
    from pe_spectra.answers.spectra import answer_spectra
    from pe_spectra.spectrum import compute_grid_spectrum, count_low_frequencies

    with Progress("computing spectra", quiet=run.quiet):
        spectra = asked.compute_spectra()
        planes = [compute_grid_spectrum(e, bandwidth=asked.bandwidths[0]) for e in asked.encodings if e.shape]
        then = _follow_spectrum({**asked.typed, "bandwidth": bandwidth}, spectra)
        answer = answer_spectra(spectra, count_low_frequencies(spectra[0]), planes, next_command=then)
        notes = (*answer.notes, *asked.note_boundary(spectra))
        return run.finish(replace(answer, notes=notes), lambda: _draw_spectra(spectra, planes))


def reconstruct(
    run: Run,
    subject: Subject,
    s: Sequence[str] | None,
    grid: str | None,
    bandwidth: Sequence[str] | None,
    boundary: str | None,
    window_free: bool,
) -> Outcome:
    """What a single position looks like through an encoding (Algorithm 1, Fig. 2).

    The one-hot function of each position, its DFT coefficients multiplied by the encoding's weights
    and transformed back: peak, widths and errors, for the original and the DFT encoding.
    """
    asked = _read_analysis(subject, _PAPER_PAIR, grid, bandwidth, boundary)
    positions, notes = _read_positions(s, asked)
    points = _count_points(asked.encodings, asked.grid) * len(asked.bandwidths) * len(positions)
    check_work("--s, --d, --grid and --bandwidth", points, MAX_PRINTED_NUMBERS)
    from pe_spectra.answers.reconstructions import answer_reconstructions
    from pe_spectra.reconstruction import reconstruct_positions

    with Progress("reconstructing", quiet=run.quiet):
        spectra = asked.compute_spectra()
        results = [reconstruct_positions(spectrum, positions) for spectrum in spectra]
        kernels, missing = _compute_kernels(results) if window_free else (None, ())
        typed = {**asked.typed, "s": s, "window_free": window_free}
        then = _follow_reconstruction(typed, results, is_sweep=len(asked.bandwidths) > 1)
        all_notes = notes + missing + asked.note_boundary(spectra)
        kernel = next((k for k in kernels or () if k is not None), None)
        answer = answer_reconstructions(results, kernels, all_notes, next_command=then)
        return run.finish(answer, plot("pe_spectra.plots.blur.compose_reconstruction", *results, kernel=kernel))


def faithfulness(
    run: Run, subject: Subject, limit: str | None, within: str | None, require: Sequence[str] | None
) -> Outcome:
    """Does every position have its own vector (Definition 1), and how far apart are they?

    A certificate or two positions that collide, the smallest separation and its pair, rank and
    condition of the table of codes, and the figures of Algorithm 1.
    """
    from pe_spectra.cli.requirements import check_requirements, parse_requirements

    requirements = parse_requirements(require or [], ("separation", "rank"))
    encodings = subject.build(*_PAPER_PAIR)
    size = subject.read_length(encodings)
    shown = _LIMIT.parse(limit, "--limit") if limit is not None else _DEFAULT_LIMIT
    radius = read(within, "--within", _RADIUS.parse)
    _check_measured(encodings, size)
    from pe_spectra.answers.injectivity import answer_faithfulness
    from pe_spectra.faithfulness import measure_faithfulness

    with Progress("measuring separation and rank", quiet=run.quiet):
        results = [measure_faithfulness(e, length=size, limit=shown, within=radius) for e in encodings]
        then = _follow_faithfulness({**subject.typed, "encoding": subject.encoding or _PAPER_PAIR}, results)
        found = [(r.encoding.label, r.injective, {"separation": r.min_separation, "rank": r.rank}) for r in results]
        answer = answer_faithfulness(results, check_requirements(requirements, found), next_command=then)
        return run.finish(answer, plot("pe_spectra.plots.distances.compose_faithfulness", *results))


def count_low_bin(run: Run, subject: Subject) -> Outcome:
    """How many frequencies lie below the first DFT frequency (Eq. 16).

    Counted exactly, with the crossing l* of the ladder. With --length T the edge is 2 pi/T: the
    frequencies that never complete a turn within T positions.
    """
    encodings = subject.build("sinusoidal")
    points = read(subject.length, "--length", _CONTEXT.parse)
    check_work("--d and --rho", _count_points(encodings, None) // 2, MAX_COUNTED_FREQUENCIES)
    from pe_spectra.answers.counts import answer_counts
    from pe_spectra.spectrum import count_low_bin

    counts = [count_low_bin(e, length=points) for e in encodings]
    answer = answer_counts(counts, next_command=_follow_counts(subject.typed, counts))
    return run.finish(answer, plot("pe_spectra.plots.strips.compose_low_bin", *counts))


@dataclass(frozen=True, kw_only=True)
class _Analysis:
    """Whose spectra are asked for, and how; a bandwidth of None is each encoding's own.

    `typed` : the same for the command to try next, without the boundary that is the default.
    """

    encodings: tuple[Encoding, ...]
    grid: int | None
    bandwidths: tuple[float | None, ...]
    boundary: str | None
    length: int | None
    typed: Typed

    def compute_spectra(self) -> list[Spectrum]:
        """One spectrum of each encoding at each bandwidth, two for one on a grid; one where no bandwidth enters."""
        from pe_spectra.spectrum import compute_spectrum, list_axes

        edge = self.boundary or BOUNDARIES[0]
        spectra = [
            compute_spectrum(e, grid=self.grid, bandwidth=b, boundary=edge, length=self.length, axis=axis)
            for e in self.encodings
            for b in self.bandwidths
            for axis in list_axes(e)
        ]
        return list({(s.encoding, s.bandwidth, s.axis): s for s in spectra}.values())

    def note_boundary(self, spectra: Sequence[Spectrum]) -> tuple[str, ...]:
        """A note on each encoding whose kernel is reflected although `none` was asked for."""
        others = dict.fromkeys(s.encoding.label for s in spectra if self.boundary == "none" != s.boundary)
        return tuple(
            f"{label}: --boundary none has no effect, for its spectrum is always reflected" for label in others
        )


def _read_analysis(
    subject: Subject,
    default: tuple[str, ...],
    grid: str | None,
    bandwidth: Sequence[str] | None,
    boundary: str | None,
) -> _Analysis:
    encodings = subject.build(*default)
    asked = _Analysis(
        encodings=encodings,
        bandwidths=parse_reals(bandwidth, "--bandwidth", _BANDWIDTH) if bandwidth else (None,),
        boundary=read(boundary, "--boundary", _BOUNDARY.parse),
        grid=read(grid, "--grid", _GRID.parse),
        length=subject.read_length(encodings),
        typed={**subject.typed, "grid": grid, "boundary": boundary if boundary != BOUNDARIES[0] else None},
    )
    check_count(encodings)
    return asked


def _read_positions(texts: Sequence[str] | None, asked: _Analysis) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Read --s within the shortest lattice, on a grid its shorter side; and a note where the default does not fit."""
    from pe_spectra.spectrum.density import check_grid

    lattices = [
        asked.grid or (min(e.shape) if e.shape is not None else check_grid(e, None, asked.length))
        for e in asked.encodings
    ]
    points = min(lattices)
    if texts:
        owner = asked.encodings[lattices.index(points)].label
        reason = "" if points == max(lattices) else f"for {owner} has a lattice of {points} points"
        return parse_integers(texts, "--s", IntegerRange(minimum=0, maximum=points - 1, reason=reason)), ()
    clipped = tuple(dict.fromkeys(min(position, points - 1) for position in _DEFAULT_S))
    if clipped == _DEFAULT_S:
        return clipped, ()
    return clipped, (f"the default positions 5 40 75 do not fit a lattice of {points} points, so they are clipped",)


def _check_measured(encodings: Sequence[Encoding], length: int | None) -> None:
    """Refuse what `faithfulness` could not measure in time."""
    sizes = [length or e.default_length for e in encodings]
    check_together("--d and --length", encodings, sizes, _MEASURED_WIDTH, MAX_STREAMED_ENTRIES)


def _count_points(encodings: Sequence[Encoding], grid: int | None) -> int:
    """The points of all lattices together."""
    return sum(grid or e.default_grid for e in encodings)


def _compute_kernels(results: Sequence[Reconstruction]) -> tuple[list[F64 | None], tuple[str, ...]]:
    """The bare kernel of each encoding, and a note on each that has none."""
    from pe_spectra.answers.answer import name_apart
    from pe_spectra.spectrum import compute_bare_kernel

    together = [r.spectrum.encoding for r in results]
    kernels = [compute_bare_kernel(r.spectrum.encoding, r.spectrum.grid) for r in results]
    reason = "no kernel, for its dot products are not a function of the lag alone"
    without = [e for e, kernel in zip(together, kernels, strict=True) if kernel is None]
    return kernels, tuple(f"{name_apart(e, together)}: {reason}" for e in without)


# ----------------------------------------------------------------------------------- what to try next


def _follow_spectrum(typed: Typed, spectra: Sequence[Spectrum]) -> str:
    """Propose to reconstruct positions through the same encodings; nothing at real positions, which have no lattice."""
    if not any(typed.values()):
        return "pe-spectra reconstruct --s 5 40 75"
    # three positions, and the DFT encoding beside the default one
    numbers = sum(s.grid for s in spectra) * 3 * (1 if typed["encoding"] else 2)
    if typed["positions"] or numbers > MAX_PRINTED_NUMBERS:
        return ""
    return compose_command("reconstruct", **typed)


def _follow_reconstruction(typed: Typed, results: Sequence[Reconstruction], *, is_sweep: bool) -> str:
    """Propose a sweep of bandwidths; after one, or where no bandwidth enters, what tells the positions apart."""
    can_sweep = not is_sweep and any(r.spectrum.bandwidth is not None for r in results)
    numbers = sum(r.spectrum.grid * len(r.positions) for r in results) * len(_SWEEP)
    if can_sweep and numbers <= MAX_PRINTED_NUMBERS:
        return compose_command("reconstruct", **typed, bandwidth=_SWEEP)
    length = typed["length"]
    try:
        encodings = tuple(dict.fromkeys(r.spectrum.encoding for r in results))
        _check_measured(encodings, int(length) if isinstance(length, str) else None)
    except InputError:
        return ""
    lattice = ("s", "grid", "boundary", "window_free")
    return compose_command("faithfulness", **{key: value for key, value in typed.items() if key not in lattice})


def _follow_faithfulness(typed: Typed, results: Sequence[Faithfulness]) -> str:
    """Propose the spectrum of the same encodings; nothing where all codes are one, as they may be zero."""
    if any(r.length == 1 or r.collisions.distinct == 1 for r in results):
        return ""
    if _count_points([r.encoding for r in results], None) // 2 > MAX_PRINTED_NUMBERS:
        return ""
    return compose_command("spectrum", **typed)


def _follow_counts(typed: Typed, counts: Sequence[LowBinCount]) -> str:
    """Propose the spectra of what was counted; after the default, the paper's own statements about it."""
    if not any(typed.values()):
        return "pe-spectra claims"
    encodings = tuple(dict.fromkeys(count.encoding for count in counts))
    if len(encodings) > MAX_ANALYSED or _count_points(encodings, None) // 2 > MAX_PRINTED_NUMBERS:
        return ""
    # a spectrum takes one width and one base, so they are put into the SPECs; its --length means something else
    return compose_command("spectrum", encoding=[encoding.write_spec(brief=True) for encoding in encodings])


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
