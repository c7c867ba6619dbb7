"""How much of a table one candidate explains, and the parameters and the factor by which it explains most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import field, replace

import numpy as np

from pe_spectra.encodings import Encoding, HasTable
from pe_spectra.encodings.pairs import Columns, Pairs
from pe_spectra.exact import F64, I64
from pe_spectra.inspection.candidates import list_free, multiply, vary
from pe_spectra.inspection.rounding import Rounding
from pe_spectra.numbers import find_shortest
from pe_spectra.ordering import list_distinct
from pe_spectra.precision.dtypes import STORED_TYPES
from pe_spectra.records import NamedTuple, dataclass

#: Rows on which a candidate is fitted.
_FITTED = 64
#: Steps of Gauss and Newton, the change of a logarithm by which a derivative is taken, and the longest step.
_STEPS, _SLOPE, _FAR = 8, 1e-6, 3.0
#: Standard errors within which a number is as good as another; part of what rounding may do to which a factor is found;
#: relative error up to which a parameter is written.
_ERRORS, _FINE, _MOST = 4.0, 1 / 16, 0.5
#: Rounding to few numbers merges as many codes, or more, to each on average.
_MERGED = 2
#: Numbers that are tried around the value of a parameter that fits best.
_NEAR = 32
_TINY = 1e-300
#: Angles are computed in float32 or better, whatever a table is stored in; how often they are rounded before the
#: exponential that gives a frequency (a logarithm, a quotient, a product), and from it on (itself, twice, and s w).
_ANGLES, _ROUNDINGS = STORED_TYPES["float32"].roundoff, 3


@dataclass(frozen=True, eq=False)
class FormulaFit:
    """One candidate: an encoding, the first position, the direction of the rows, the order of the columns.

    >>> from pe_spectra import Sinusoidal
    >>> FormulaFit(Sinusoidal(d=2), first=1).read(np.arange(1), 8).round(2).tolist()
    [[0.84, 0.54]]
    """

    encoding: Encoding
    first: int = 0
    reverse: bool = False
    order: str = ""
    columns: Columns = field(default_factory=lambda: slice(None))
    share: float = 0.0

    def read(self, rows: I64, size: int) -> F64:
        """Read the vectors of some rows of a table of `size` rows."""
        positions = self.place(rows, size)
        table = self.encoding.table(positions) if isinstance(self.encoding, HasTable) else np.empty((0, 0))
        return table[:, self.columns]

    def place(self, rows: I64, size: int) -> I64:
        """Return the positions of some rows of a table of `size` rows."""
        return (size - 1 - rows if self.reverse else rows) + self.first


def choose_rows(size: int, count: int) -> I64:
    """Choose about `count` rows at uneven distances, the same from both ends.

    >>> choose_rows(9, 6).tolist()
    [0, 2, 3, 5, 6, 8]
    """
    golden = np.mod(np.arange(max(1, count // 2)) * (math.sqrt(5) - 1) / 2, 1.0)
    rows = list_distinct((golden * size).astype(np.int64))
    return list_distinct(np.concatenate([rows, size - 1 - rows]))


def compare_codes(table: F64, codes: F64) -> tuple[float, float, float]:
    """Return the share that codes explain of a table about its mean row, their factor, and its relative standard error.

    >>> compare_codes(np.array([[1.0], [3.0], [5.0]]), np.array([[0.0], [1.0], [2.0]]))
    (1.0, 2.0, 0.0)
    """
    one, other = table - table.mean(axis=0), codes - codes.mean(axis=0)
    energy, size = (float(np.einsum("ij,ij->", values, values)) for values in (one, other))
    product = float(np.einsum("ij,ij->", one, other))
    if not (energy > _TINY and size > _TINY and product):
        return 0.0, 1.0, 0.0
    factor = product / size
    rest = one - factor * other
    left = float(np.einsum("ij,ij->", rest, rest))
    return max(0.0, 1 - left / energy), factor, _measure_error(rest, other) / abs(factor)


def bound_frequencies(encoding: Encoding) -> F64:
    """Bound the relative errors of frequencies of a ladder in float32; none for an encoding that is no ladder.

    w = exp(-x) with a rounded x has the error |x| u for each rounding, x = |ln w|, and u for each that follows.

    >>> from pe_spectra import Sinusoidal
    >>> bound_frequencies(Sinusoidal(d=4, rho=10000.0)).round(8).tolist()
    [1.8e-07, 1e-06]
    """
    if not isinstance(encoding, Pairs):
        return np.empty(0)
    values = np.abs(encoding.words()[0])
    return _ANGLES * _ROUNDINGS * (1 + np.abs(np.log(np.where(values > 0, values, 1.0))))


def bound_rounding(fit: FormulaFit, rows: I64, size: int, codes: F64) -> float:
    """Bound the share of the variance that angles in float32 leave, 0 for an encoding that is no ladder.

    A pair whose angle w s is off by e moves by at most |e|, and by the rounding of its sine and cosine.

    >>> from pe_spectra import Sinusoidal
    >>> fit, rows = FormulaFit(Sinusoidal(d=16)), np.arange(64)
    >>> 1e-13 < bound_rounding(fit, rows, 64, fit.read(rows, 64)) < 1e-9
    True
    """
    if not isinstance(fit.encoding, Pairs):
        return 0.0
    turned = fit.encoding.words()[0] * bound_frequencies(fit.encoding)
    moved = np.outer(fit.place(rows, size) + fit.encoding.offset, turned) + 2 * _ANGLES
    spread = fit.encoding.amplitude**2 * float(np.einsum("ij,ij->", moved, moved))
    return spread / max(float(np.square(codes - codes.mean(axis=0)).sum()), _TINY)


class Settled(NamedTuple):
    """The factor between a table and codes, and how many of its numbers are those of the codes, rounded.

    Attributes
    ----------
    share : of the numbers; 1 where each is. by_levels : whether they are rounded to the few that a table has, not to
        a type. factor : infinite or 0 where it is no number.
    """

    share: float
    by_levels: bool
    factor: float


def settle_factor(
    table: F64,
    codes: F64,
    factor: float,
    error: float,
    bound: float | None,
    rounding: Rounding,
    exponent: int = 0,
) -> Settled:
    """Say whether a table is a factor times codes, rounded once, and write the factor with few digits.

    What rounding leaves, e, moves a factor of codes c by |e|/|c| at most, and by a part of that as a rule.

    Parameters
    ----------
    error : relative standard error of the factor. bound : what an entry of the codes may be wrong by; None where
        that is not known, and nothing is exact. rounding : that of the table. exponent : the table was divided by two
        to it; the factor that is returned is that of what it was.

    >>> from pe_spectra.inspection.rounding import find_rounding
    >>> table = np.array([[0.0], [0.2]])
    >>> settle_factor(table, np.array([[0.0], [1.0]]), 0.2, 0.0, 0.0, find_rounding(table))
    Settled(share=1.0, by_levels=False, factor=0.2)
    """
    with np.errstate(over="ignore", under="ignore"):
        restored = float(np.ldexp(factor, exponent))
    if len(list_distinct(codes)) < _MERGED * len(rounding.levels):
        rounding = replace(rounding, levels=np.empty(0), cells=np.empty(0))  # the few numbers are those of the codes
    left = math.sqrt(float(rounding.measure(table).sum()) / max(float(np.square(table).sum()), _TINY))
    factors = [_write(restored, max(_ERRORS * error, by * left)) for by in (1.0, _FINE)]
    found = Settled(0.0, False, factors[1])
    if bound is None or not math.isfinite(restored):
        return found
    settled = float(np.ldexp(find_shortest(*_enclose_factor(table, codes, bound, rounding.kind.roundoff)), exponent))
    for by_levels in (False, True)[: 1 + bool(len(rounding.levels))]:
        for one in dict.fromkeys(factors if by_levels else (settled, *factors)):
            scaled = math.ldexp(one, -exponent)
            # a factor that no person wrote is known to a part of the rounding only
            around = abs(scaled) * (bound + (0.0 if one in (settled, factors[0]) else 2 * _FINE * left) * np.abs(codes))
            share = float(rounding.agree(table, scaled * codes, around, by_levels=by_levels).mean())
            if share == 1:
                return Settled(share, by_levels, one)
            found = found if by_levels else found._replace(share=max(found.share, share))
    return found


def _enclose_factor(table: F64, codes: F64, bound: float, roundoff: float) -> tuple[float, float]:
    """Between which factors lie all that round to a table; where none does, what is next to most.

    >>> low, high = _enclose_factor(np.array([3.0, 1.5]), np.array([2.0, 1.0]), 0.0, 0.125)
    >>> low, high  # 3 is what rounds to it from 2.75 to 3.25, and 1.5 from 1.375 to 1.625
    (1.375, 1.625)
    """
    known = (np.abs(codes) > 2 * bound) & (table != 0)
    if not known.any():
        return 0.0, 0.0
    numbers, sizes = table[known], codes[known]
    half = np.ldexp(roundoff, np.frexp(numbers)[1] - 1) + bound * np.abs(numbers / sizes)
    ends = np.sort([(numbers - half) / sizes, (numbers + half) / sizes], axis=0)
    low, high = sorted((float(ends[0].max()), float(ends[1].min())))
    return low, high


class Refined(NamedTuple):
    """A fit with parameters chosen by least squares.

    Attributes
    ----------
    errors : relative standard errors of the parameters. moved : by how much rounding moves them, relative, at most.
    """

    fit: FormulaFit
    errors: dict[str, float]
    moved: dict[str, float]


def refine(table: F64, fit: FormulaFit, rounding: Rounding) -> Refined:
    """Choose the free parameters by least squares (Gauss and Newton, in logarithms).

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.inspection.rounding import find_rounding
    >>> table = Sinusoidal(d=8, rho=90.0).table(64)
    >>> found = refine(table, FormulaFit(Sinusoidal(d=8, rho=100.0)), find_rounding(table))
    >>> round(found.fit.encoding.rho, 6), 0 < found.moved["rho"] < 1e-15
    (90.0, True)
    """
    free, size = list_free(fit.encoding), len(table)
    rows = choose_rows(size, _FITTED)
    part = table[rows] - table[rows].mean(axis=0)
    rounded = math.sqrt(float(rounding.measure(table[rows]).sum()))
    errors, moved = dict.fromkeys(free, 0.0), dict.fromkeys(free, 0.0)
    for _ in range(_STEPS if free else 0):
        codes = fit.read(rows, size)
        _, factor, _ = compare_codes(part, codes)
        slopes = [_differentiate(fit, name, rows, size, codes) for name in free]
        centred = [one - one.mean(axis=0) for one in (codes, *slopes)]
        rest = part - factor * centred[0]
        change, *_ = np.linalg.lstsq(np.stack([one.ravel() for one in centred], axis=1), rest.ravel(), rcond=1e-9)
        steps = change[1:] / factor
        for name, one in zip(free, centred[1:], strict=True):
            errors[name] = _measure_error(rest, one) / abs(factor)
            moved[name] = rounded / max(abs(factor) * float(np.linalg.norm(one)), _TINY)
        later = _shift(fit, dict(zip(free, steps.tolist(), strict=True)))
        if later is None:
            break
        fit = later
        if np.abs(steps).max() < _SLOPE * _SLOPE:
            break
    return Refined(fit, errors, moved)


def shorten(found: Refined, part: float, least: float) -> Encoding:
    """Write the parameters with the fewest digits within a part of what rounding moves them, and four standard errors.

    Parameters
    ----------
    least : a relative error that any of them may have.

    >>> from pe_spectra import Sinusoidal
    >>> fit = FormulaFit(Sinusoidal(d=8, rho=9999.7))
    >>> shorten(Refined(fit, {"rho": 1e-5}, {"rho": 1e-6}), 1.0, 0.0).rho
    10000.0
    """
    encoding = found.fit.encoding
    values = {
        name: _write(getattr(encoding, name), min(max(_ERRORS * one, part * found.moved[name], least), _MOST))
        for name, one in found.errors.items()
    }
    return vary(encoding, values) or encoding


def list_near(found: Refined, encoding: Encoding) -> Iterator[Encoding]:
    """List what is like an encoding but for one parameter: with one digit more, within four standard errors.

    The nearest to the fit comes first; at most 32 for each parameter.

    >>> from pe_spectra import Sinusoidal
    >>> fit = Refined(FormulaFit(Sinusoidal(d=8, rho=779.4)), {"rho": 0.001}, {"rho": 0.0})
    >>> [one.rho for one in list_near(fit, Sinusoidal(d=8, rho=780.0))]
    [779.0, 780.0, 778.0, 781.0, 777.0, 782.0]
    """
    for name, error in found.errors.items():
        value, usual = getattr(found.fit.encoding, name), getattr(encoding, name)
        digits = len(f"{usual:.15e}".partition("e")[0].rstrip("0").replace(".", ""))
        # the place of the digit behind the last
        step = 10.0 ** (math.floor(math.log10(usual)) - digits)
        reach = min(_ERRORS * error * value, _NEAR / 2 * step)
        near = (round((round(value / step) + one) * step, 12) for one in range(-_NEAR // 2, _NEAR // 2 + 1))
        for one in sorted((one for one in near if abs(one - value) <= reach), key=lambda one: abs(one - value)):
            if (varied := vary(encoding, {name: one})) is not None:
                yield varied


def _measure_error(rest: F64, slope: F64) -> float:
    """Standard error of what a slope is multiplied by: training moves along the rows, so that a column counts once."""
    each = np.einsum("ij,ij->j", rest, slope)
    return float(np.linalg.norm(each)) / max(float(np.einsum("ij,ij->", slope, slope)), _TINY)


def _write(value: float, slack: float) -> float:
    """Write a number with the fewest digits within a relative error."""
    return find_shortest(*sorted((value * (1 - slack), value * (1 + slack))))


def _differentiate(fit: FormulaFit, name: str, rows: I64, size: int, codes: F64) -> F64:
    """Derivative of the codes by the logarithm of a parameter, from below where it cannot be larger."""
    for change in (_SLOPE, -_SLOPE):
        moved = _shift(fit, {name: change})
        if moved is not None:
            return (moved.read(rows, size) - codes) / change
    return np.zeros_like(codes)


def _shift(fit: FormulaFit, steps: Mapping[str, float]) -> FormulaFit | None:
    """Return a fit with parameters that are changed by these logarithms; None where that is too far or not accepted."""
    if not all(abs(step) <= _FAR for step in steps.values()):
        return None
    encoding = multiply(fit.encoding, {name: math.exp(step) for name, step in steps.items()})
    return None if encoding is None else replace(fit, encoding=encoding)
