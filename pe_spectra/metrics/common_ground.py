"""What encodings are compared on: one number of positions, one lattice for all spectra, and the views of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pe_spectra.encodings import Encoding, HasFrequencies, HasTable
from pe_spectra.encodings.codes import count_positions, count_work, is_sampled, read_grid_codes
from pe_spectra.errors import InputError, UndefinedError
from pe_spectra.exact import F64, sin_cos
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.limits import MAX_COMPARED_NUMBERS, MAX_HELD_ENTRIES, MAX_LENGTH, MAX_PAIR_WORK_TOGETHER
from pe_spectra.metrics import TOO_LARGE, Resolution, Views, measure_ladder_resolution
from pe_spectra.records import dataclass
from pe_spectra.spectrum.density import compute_density_spectrum
from pe_spectra.spectrum.kernels import Kernel, estimate_grid_kernel, estimate_kernel
from pe_spectra.spectrum.lag_window import choose_bandwidth, compute_lag_window_spectrum, compute_spectrum
from pe_spectra.spectrum.record import Spectrum

DEFAULT_LENGTH = 128
#: What a position costs at least, in columns, whatever the width.
LEAST_WIDTH = 64
_ON_A_GRID = "its positions fill a grid, so they have no single lag"
#: At 0 and pi all spectra are reflected: a table's can be had in no other way, as its kernel tells w from -w nowhere.
BOUNDARY = "reflect"


def choose_length(encodings: Sequence[Encoding]) -> int:
    """Return the number of positions that encodings are compared on unless told otherwise.

    The fewest that one of them has, 128 where none has an end. Where that is too much for all together, at most 128.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> choose_length([Sinusoidal()]), choose_length([Sinusoidal(), read_encoding("ramp:length=300")])
    (128, 300)
    """
    ends = [most for most in map(count_positions, encodings) if most is not None]
    length = min(ends, default=DEFAULT_LENGTH)
    numbers, pairs = count_work(encodings, [length] * len(encodings), LEAST_WIDTH)
    fits = numbers <= MAX_COMPARED_NUMBERS and pairs <= MAX_PAIR_WORK_TOGETHER and length <= MAX_LENGTH
    return length if fits else min(length, DEFAULT_LENGTH)


@dataclass(frozen=True, kw_only=True)
class Lattice:
    """What the spectra of one comparison have in common, so that none depends on the width of its encoding.

    All are reflected at 0 and pi, whatever is compared. Eq. (15) as printed, cut off there, needs a list of
    frequencies; reflected, a formula has the same numbers as its own table, and alone the same as beside one.

    >>> from pe_spectra import Dft
    >>> Lattice.choose([Dft(d=8)], 24)
    Lattice(length=24, bandwidth=4.0)
    """

    length: int  #: positions that all are to be measured on
    bandwidth: float

    @property
    def points(self) -> int:
        """N: as many as there are positions, and two of one."""
        return _count_points(self.length)

    @classmethod
    def choose(cls, encodings: Sequence[Encoding], length: int) -> Lattice:
        """Choose it for encodings that are compared on so many positions."""
        return cls(length=length, bandwidth=choose_bandwidth(encodings, _count_points(length)))


def _count_points(length: int) -> int:
    return max(2, length)


def find_spectrum(
    encoding: Encoding, size: int, lattice: Lattice, kernel: Kernel | str | None = None
) -> Spectrum | str:
    """Return the spectrum on the lattice of all, at real positions on theirs, the same for all; or why there is none.

    >>> from pe_spectra import Dft
    >>> find_spectrum(Dft(d=8), 24, Lattice.choose([Dft(d=8)], 24)).grid
    24
    """
    grid, bandwidth = lattice.points, lattice.bandwidth
    try:
        if is_sampled(encoding):
            return compute_spectrum(encoding)
        if _is_ladder(encoding):
            return compute_density_spectrum(
                encoding, grid=grid, bandwidth=bandwidth, boundary=BOUNDARY, always_blur=True
            )
        length = None if encoding.shape is not None else size
        # a kernel that was averaged over the positions holds all lags that they have; others go on
        known = None if isinstance(kernel, str) else kernel
        held = known if known and (length is None or known.length == size) else None
        return compute_lag_window_spectrum(encoding, grid=grid, bandwidth=bandwidth, length=length, kernel=held)
    except (InputError, UndefinedError) as error:
        return str(error).removeprefix(f"{encoding.label}: ")


def _is_ladder(encoding: Encoding) -> bool:
    return isinstance(encoding, HasFrequencies) and encoding.shape is None and not is_sampled(encoding)


# --------------------------------------------------------------------- views


def find_kernel(codes: CodeTable) -> Kernel | str:
    """Return the kernel at all lags of the positions of some codes, on a grid at all offsets; or why there is none.

    >>> from pe_spectra import Dft
    >>> find_kernel(CodeTable(Dft(d=4), 3)).values.round(12) + 0.0
    array([[1., 0., 0.]])
    """
    encoding, size = codes.encoding, codes.length
    try:
        if encoding.shape is not None:
            return estimate_grid_kernel(encoding)
        table = codes.codes if isinstance(encoding, HasTable) else None
        return estimate_kernel(encoding, length=size, count=size, codes=table)
    except InputError as error:
        return str(error).removeprefix(f"{encoding.label}: ")


def normalise_kernel(kernel: Kernel) -> F64 | str:
    """Return the mean of all heads relative to lag 0, of a grid along a row; or why there is none.

    >>> from pe_spectra import Dft
    >>> normalise_kernel(find_kernel(CodeTable(Dft(d=4), 3))).round(12) + 0.0
    array([1., 0., 0.])
    """
    line = np.mean(kernel.values, axis=0)
    if line.ndim == 2:
        line = line[len(line) // 2, line.shape[1] // 2 :]
    if not line[0] > 0:
        return "k(0) is not positive"
    normalised: F64 = line / line[0]
    return normalised


def find_own_frequencies(encoding: Encoding) -> F64 | None:
    """Find the frequencies that an encoding, or a member of it, has by its formula; None where none are known.

    Of a calendar they are those of its fields, which the kernel shows only roughly.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> find_own_frequencies(Sinusoidal(d=4)).tolist(), find_own_frequencies(read_encoding("one-hot"))
    ([1.0, 0.01], None)
    """
    from pe_spectra.encodings.combined import Hybrid

    if isinstance(encoding, Hybrid):
        found = [find_own_frequencies(member) for member in encoding.of or ()]
        known = [own for own in found if own is not None]
        return np.concatenate(known) if known else None
    exact = getattr(encoding, "periods_in_steps", ())
    if exact:
        return 2 * np.pi / np.asarray(exact)
    return encoding.frequencies().values if isinstance(encoding, HasFrequencies) else None


def find_spacing(encoding: Encoding, size: int) -> float | None:
    """Return how many positions lie between neighbours; None where that differs by more than they are rounded.

    >>> from pe_spectra import Dft
    >>> find_spacing(Dft(d=4), 3)
    1.0
    """
    times = encoding.positions[:size] if is_sampled(encoding) else np.arange(2.0)
    steps = np.diff(times)
    if not steps.size or np.ptp(steps) > 4 * np.finfo(float).eps * np.abs(times).max() or steps[0] == 0:
        return None
    return abs(float(times[-1] - times[0])) / steps.size


def add_codes(views: Views, codes: CodeTable) -> Views:
    """Add the codes of all positions, and what is known of them; on a grid no two positions have one lag.

    >>> from pe_spectra import Dft
    >>> add_codes(Views(), CodeTable(Dft(d=4), 3)).beyond.shape  # of positions 3 .. 5
    (3, 4)
    """
    encoding, size = codes.encoding, codes.length
    if encoding.shape is not None:
        vectors = read_grid_codes(encoding, encoding.shape) if isinstance(encoding, HasTable) else None
        return replace(views, vectors=vectors, missing={**views.missing, "table": _ON_A_GRID})
    if not isinstance(encoding, HasTable):
        return views
    if size * encoding.d > MAX_HELD_ENTRIES:
        missing = dict.fromkeys(("vectors", "table", "beyond"), TOO_LARGE)
        return replace(views, missing={**views.missing, **missing})
    # as many positions again, or those that the encoding still has
    last = 2 * size if encoding.rows is None else min(2 * size, encoding.rows)
    goes_on = last - size > 1 and last * encoding.d <= MAX_HELD_ENTRIES
    return replace(
        views,
        table=codes.codes,
        resolution=_find_resolution(encoding, size),
        beyond=encoding.table(np.arange(size, last)) if goes_on else None,
    )


def _find_resolution(sampled: Encoding, size: int) -> Resolution | None:
    """Exact Fisher information at the positions, 0 .. size-1 unless others are sampled, of sines and cosines."""
    encoding, times = sampled, np.arange(float(size))
    if is_sampled(sampled):
        encoding, times = sampled.encoding, sampled.positions[:size]
    if not isinstance(encoding, HasFrequencies) or not isinstance(encoding, HasTable):
        return None
    found = encoding.frequencies()
    masses, is_lone = found.masses, found.masses < 1
    values, phases = found.values[is_lone], found.phases[is_lone]
    sine, cosine = sin_cos(np.stack([values, found.low[is_lone], np.zeros_like(values)]), times)
    # a lone cos(w s + phase) has the slope -w sin(w s + phase); at pi it never moves at integers
    shares = np.where(values == np.pi, 0.0, (sine * np.cos(phases) + cosine * np.sin(phases)) ** 2)
    mean, least = masses.copy(), masses.copy()
    mean[is_lone], least[is_lone] = shares.mean(axis=0), shares[np.argmin(shares @ (values * values))]
    return measure_ladder_resolution(found.values, mean, found.amplitude, least=least)
