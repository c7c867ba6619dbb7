"""Traces of interpolation: a table that was resized, and little changed since, betrays its old size.

W e lies in the column space of W, so that least squares with the right W leave only what storing rounds off, or
what was added since. How much they leave is judged for each direction that is free, against lattices that should
do as well if the table were its own: one row more or less, and the same lattice displaced by some rows, whose phase
is another while its spacing and kernel are the same. To a table that was not interpolated all of these are alike.

Old sizes that are tried: those whose beat old/new is seen in the energies of differences, and usual ones.
"""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.inspection.lattices import (
    CONVENTIONS,
    ERRORS,
    ERRORS_BESIDE,
    LEAD,
    Convention,
    fit_lattice,
    is_right_lattice,
    solve_lattice,
)
from pe_spectra.inspection.series import bridge
from pe_spectra.ordering import find_median
from pe_spectra.precision.dtypes import STORED_TYPES, find_stored_type
from pe_spectra.records import NamedTuple, dataclass
from pe_spectra.vocabulary import CORNER_METHODS

#: Axes that are looked at; up to the second length every old size is tried.
_SHORTEST, _ALL_SIZES, _LONGEST = 5, 64, 1 << 17
#: Old sizes up to this part of the new one: in the few directions that are free beyond, an odd row decides.
_CLOSEST = 0.92
#: Mixtures of columns that lattices are judged by, and those and the rows by which sizes are chosen.
_MIXED, _FEW_MIXED, _FEW_ROWS = 64, 8, 8192
_USUAL = (64, 77, 128, 196, 197, 256, 448, 512, 576, 768, 1024, 1500, 1536, 2048, 4096, 8192, 16384, 32768)
#: Peaks that are taken from a periodogram, each this much above what the highest of noise has on average.
_PEAKS, _ABOVE_NOISE = 6, 3.0
#: Power at the beat of a usual size from which on it is tried; noise has 1 on average.
_BEATS = 3.0
#: Sizes that are judged.
_JUDGED = 8
#: An odd row is farther from the middle of its neighbours than most rows and than these, by these squares.
_ODD, _ODD_BESIDE = 25.0, 2.5
#: Two lattices leave as much where they differ by less.
_ALIKE = 1.1
#: What is left is explained by storing up to this many times its root mean square.
_FIT = 5.0
#: Rows were changed by at most this part of their length, or the table has become its own.
_MOST_CHANGE = 0.03
#: Relative error of what least squares leave.
_COMPUTED = 64 * float(np.finfo(float).eps)
#: Interpolation in float32 places its samples with this error (in old rows, for each new row).
_PLACING = 2.0**-24


@dataclass(frozen=True, kw_only=True)
class Resizing:
    """How one axis was made longer.

    Attributes
    ----------
    axis : 0 along the lines of the grid (its height) or the rows of a line, 1 for the width.
    old, new : sizes.
    method, align_corners : the convention that fits best; align_corners None where it has no such
        convention.
    ways : the conventions that fit as well as the best, which is the first; as `nearest` or
        `bicubic, align_corners=True`.
    residual, expected_residual : part of the table (relative, root of energies) outside the column space of
        the best W, and what storing leaves there.
    change : length of what was added to a row since, over the length of a row (roots of mean squares); 0 where
        storing explains all that W leaves.
    rivals : method, align_corners and residual of the others at the same size, best first.
    edge_ratio : step length at the two ends over that in the middle; below 1 where align_corners is
        False (the ends are held), near 1 where it is True. None where rows in the middle are equal, as nearest
        makes them.
    """

    axis: int
    old: int
    new: int
    method: str
    align_corners: bool | None
    ways: tuple[str, ...]
    residual: float
    expected_residual: float
    change: float
    edge_ratio: float | None
    rivals: list[dict[str, object]]

    def recover(self, table: F64) -> F64:
        """Return the rows that a line was made of, by least squares; (old, d).

        >>> from pe_spectra.inspection.resize import resize_table
        >>> line = np.random.default_rng(0).normal(size=(32, 16))
        >>> made = resize_table(line, 48, method="bilinear", align_corners=True)
        >>> (found,) = find_resizing(made)
        >>> found.old, bool(np.allclose(found.recover(made), line))
        (32, True)
        """
        rows, _ = solve_lattice(table, self.old, self.new, (self.method, bool(self.align_corners)))
        return rows


def find_resizing(table: F64, *, grid: tuple[int, int] | None = None, dtype: str = "float64") -> tuple[Resizing, ...]:
    """Find the axes along which a table was interpolated to more rows, and little changed since.

    Parameters
    ----------
    table : (S, d) without special rows; grid : (H, W) with H W = S, or None for a line.
    dtype : type that the table is stored in (a coarser one is noticed).

    Returns
    -------
    one entry for each axis that was; empty for a table of its own size, and where too little is left to tell: an
    axis below 5 or above 2**17, less than a twelfth more rows, fewer than 5 numbers across it, rows that were changed
    since by more than 3 % of their length, or so smooth a table that it could have been made of many sizes.

    References
    ----------
    Gallagher 2005, Proc. 2nd Canadian Conf. on Computer and Robot Vision, 65 (differences of an interpolated signal
    vary with its phase, so that their energies have the line old/new).

    >>> find_resizing(np.random.default_rng(0).normal(size=(64, 8)))
    ()
    """
    stored = find_stored_type(dtype, table)
    shape = grid or (len(table),)
    cube = table.reshape(*shape, -1)
    sides = [np.moveaxis(cube, axis, 0).reshape(size, -1) for axis, size in enumerate(shape)]
    found = [_examine_axis(side, axis, stored, ERRORS) for axis, side in enumerate(sides)]
    if any(found):  # where one axis was, the other probably was, too
        found = [one or _examine_axis(sides[axis], axis, stored, ERRORS_BESIDE) for axis, one in enumerate(found)]
    return tuple(filter(None, found))


def _examine_axis(values: F64, axis: int, dtype: str, errors: float) -> Resizing | None:
    new, width = values.shape
    if not _SHORTEST <= new <= _LONGEST or width < _SHORTEST or not values.any():
        return None
    mixed, rounding = _mix_columns(values), _estimate_rounding(values, dtype)
    energy = float(np.mean(np.square(mixed)))
    # an odd row lies better in some lattice than in those beside it
    mixed[_find_odd_rows(mixed)] = np.nan
    found: list[tuple[float, int, list[tuple[float, Convention]]]] = []
    for old in _choose_sizes(mixed, rounding):
        fits = sorted((fit.variance, kind) for kind in CONVENTIONS if (fit := fit_lattice(mixed, old, new, kind)))
        if (
            fits
            and fits[0][0] <= rounding + _MOST_CHANGE**2 * energy
            and is_right_lattice(mixed, old, fits[0][1], rounding, errors)
        ):
            found.append((fits[0][0] + rounding, old, fits))
    if not found:
        return None
    # of sizes that explain the table as well, larger ones hold the smallest
    least = min(found)[0]
    _, old, fits = min((one for one in found if one[0] <= _ALIKE * least), key=lambda one: one[1])
    (variance, (method, _)), free = fits[0], 1 - old / new
    best = variance + rounding
    is_exact = variance <= _FIT**2 * rounding
    named = [_Named(name, corners if name in CORNER_METHODS else None) for _, (name, corners) in fits]
    parts = [math.sqrt(left * free / energy) for left, _ in fits]
    return Resizing(
        axis=axis,
        old=old,
        new=new,
        method=method,
        align_corners=named[0].align_corners,
        ways=tuple(str(one) for one, (left, _) in zip(named, fits, strict=True) if left + rounding <= _ALIKE * best),
        residual=parts[0],
        expected_residual=math.sqrt(rounding * free / energy),
        change=0.0 if is_exact else math.sqrt(variance / energy),
        edge_ratio=_compare_edges(values),
        rivals=[{**one._asdict(), "residual": part} for one, part in zip(named[1:], parts[1:], strict=True)],
    )


class _Named(NamedTuple):
    method: str
    align_corners: bool | None

    def __str__(self) -> str:
        return self.method if self.align_corners is None else f"{self.method}, align_corners={self.align_corners}"


def _mix_columns(values: F64) -> F64:
    """Mix many columns at random into 64, keeping the energy of a row on average."""
    if values.shape[1] <= _MIXED:
        return values.copy()
    factors = np.random.Generator(np.random.PCG64(7)).standard_normal((values.shape[1], _MIXED))
    mixed: F64 = values @ (factors / math.sqrt(_MIXED))
    return mixed


def _estimate_rounding(values: F64, dtype: str) -> float:
    """Estimate the variance that storing, and computing, leave in a number of `_mix_columns`."""
    kind, size = STORED_TYPES[dtype], len(values)
    few = values[:: -(-values.size // (1 << 20))]
    exponents = np.maximum(np.frexp(few)[1] - 1, kind.exponent)  # the spacing falls no further below the normal ones
    stored = float(np.mean(np.ldexp(1.0, 2 * (exponents - kind.digits + 1)))) / 12
    placed = float(np.mean(np.square(_PLACING * size * np.diff(few, axis=0)))) if dtype == "float32" else 0.0
    computed = float(np.mean(np.square(_COMPUTED * few)))
    variance: float = (stored + placed + computed) * max(values.shape[1] / _MIXED, 1.0)
    return variance


def _find_odd_rows(mixed: F64) -> I64:
    """Find the few rows that are far from the middle of both neighbours, as these and most rows are not."""
    away = np.square(mixed[1:-1] - (mixed[:-2] + mixed[2:]) / 2).sum(axis=1)
    beside = np.pad(away, 1)
    found = np.flatnonzero(
        (away > _ODD * find_median(away)) & (away > _ODD_BESIDE * np.maximum(beside[:-2], beside[2:]))
    )
    return found + 1 if len(found) <= max(1, len(mixed) // 50) else found[:0]


def _choose_sizes(mixed: F64, rounding: float) -> list[int]:
    """Choose the old sizes that leave much less than the next size does, the surest first."""
    new = len(mixed)
    few = mixed[:_FEW_ROWS, :_FEW_MIXED] if new > _ALL_SIZES else mixed
    variances: dict[tuple[int, Convention], float | None] = {}

    def measure(old: int, kind: Convention) -> float | None:
        if (old, kind) not in variances:
            fit = fit_lattice(few, old, new, kind, passes=1)
            variances[old, kind] = fit.variance + rounding if fit else None
        return variances[old, kind]

    leads: dict[int, float] = {}
    for old in range(2, int(_CLOSEST * new) + 1) if new <= _ALL_SIZES else _propose_sizes(mixed):
        for kind in CONVENTIONS:
            if kind[0].endswith("-antialias"):
                continue  # bicubic is near enough to propose it
            here, beside = measure(old, kind), measure(_step_aside(old, kind), kind)
            if here and beside:
                leads[old] = max(leads.get(old, 0.0), math.log(beside / here))
    ordered = sorted(leads, key=lambda old: -leads[old])
    return [old for old in ordered if leads[old] > LEAD][:_JUDGED]


def _step_aside(old: int, kind: Convention) -> int:
    # rows that repeat for a size repeat for some larger ones, too
    return old - 1 if kind[0] == "nearest" else old + 1


def _propose_sizes(mixed: F64) -> list[int]:
    """List the old sizes whose beat is a line in the energies of differences; a weak one will do for usual sizes."""
    new = len(mixed)
    mixed = bridge(mixed, ~np.isnan(mixed[:, 0]))
    usual = {size for size in _USUAL if size >= new / 8} | {
        new * part // 24 for part in (3, 6, 8, 9, 12, 15, 16, 18, 21)
    }
    sizes: set[int] = set()
    for order in (1, 2):
        energies = np.square(np.diff(mixed, order, axis=0)).sum(axis=1)
        bounded = energies / (energies + find_median(energies[energies > 0])) if energies.any() else energies
        around = np.convolve(np.pad(bounded, 16, mode="reflect"), np.full(33, 1 / 33), "valid")
        signal = bounded - around
        padded = 1 << (4 * len(signal)).bit_length()
        powers = np.square(np.abs(np.fft.fft(signal, padded))) / max(float(signal @ signal), 1e-300)
        # aligned corners beat with (old - 1)/(new - 1)
        sizes |= {
            size
            for size in usual
            if max(powers[round(beat * padded) % padded] for beat in (size / new, (size - 1) / (new - 1))) > _BEATS
        }
        powers[: padded // 33] = powers[padded // 2 + 1 :] = 0.0
        for _ in range(_PEAKS):
            peak = int(np.argmax(powers))
            if powers[peak] < math.log(len(signal)) + _ABOVE_NOISE:
                break
            powers[max(peak - 8, 0) : peak + 9] = 0.0
            for beat in (peak / padded, 1 - peak / padded):
                centres = (round(beat * new), round(beat * (new - 1)) + 1)
                sizes |= {centre + away for centre in centres for away in (-1, 0, 1)}
    return sorted(size for size in sizes if 2 <= size <= _CLOSEST * new)


def _compare_edges(values: F64) -> float | None:
    steps = np.linalg.norm(np.diff(values, axis=0), axis=1)
    middle = float(find_median(steps[len(steps) // 4 : max(3 * len(steps) // 4, len(steps) // 4 + 1)]))
    return float(steps[0] + steps[-1]) / 2 / middle if middle > 0 else None
