"""Tables that the fixed encodings of the catalogue make, of a given size: what a table is compared with."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pe_spectra.encodings import ENCODINGS, Encoding, HasTable
from pe_spectra.encodings.pairs import Pairs
from pe_spectra.encodings.parameters import Parameter, format_value
from pe_spectra.errors import InputError
from pe_spectra.exact import C128, F64, I64
from pe_spectra.numbers import Choice, RealRange

#: Families whose tables are added to a token, and whose entries follow from a formula.
_FAMILIES = ("absolute", "temporal", "structural")
#: Parameters whose product is the number of rows, or of columns.
_BY_ROWS, _BY_COLUMNS = ("height", "width"), ("branching", "depth")
#: Frequencies below pi look like themselves on integer positions; measured ones that are near it may be others.
_HIGHEST = 3.0
#: Steps to the parameters that fit best, and a change that is none.
_STEPS, _STILL = 10, 1e-10
#: Share of the pairs of columns that turn one way, at least; share of the frequencies that a ladder misses, at most.
_ONE_WAY, _MISSED = 0.5, 0.1
#: Part of a pair of columns that has to turn as a whole for its phase to be followed.
_KEPT = 0.5
#: Steps after which what is missed counts: the first may be from far away.
_FIRST_STEPS = 3
#: Difference in the logarithm of a parameter by which a slope is taken.
_SLOPE, _FAR = 1e-5, 9.0
#: Grids of patches are not thinner than this.
_THINNEST = 16


def list_candidates(rows: int, width: int, grid: tuple[int, int] | None = None) -> Iterator[Encoding]:
    """List the fixed encodings of the catalogue that give `rows` positions vectors of `width` numbers.

    Parameters that are choices take all their values, lengths are the number of rows or stay at their default, the
    sides of grids and trees are all that fit (of a grid those that are given), and real numbers are at their default.

    >>> [one.write_spec(brief=True) for one in list_candidates(6, 3)][:3]
    ['sinusoidal:d=3', 'sinusoidal:d=3,layout=concatenated', 'tensor2tensor:d=3']
    """
    for cls in ENCODINGS:
        if cls.family not in _FAMILIES or not hasattr(cls, "table"):
            continue
        built = (_build(cls, values) for values in _list_values(cls.accepts, rows, width, grid))
        yield from dict.fromkeys(one for one in built if one is not None and _fits(one, rows, width))


def list_free(encoding: Encoding) -> list[str]:
    """List the parameters that may be any number of a range and change more than the size of a table, by keyword.

    >>> from pe_spectra import read_encoding
    >>> list_free(read_encoding("sinusoidal")), list_free(read_encoding("tensor2tensor"))
    (['rho'], ['min_timescale', 'max_timescale'])
    """
    given = encoding.given
    return [
        p.keyword
        for p in encoding.accepts
        if isinstance(p.accepts, RealRange) and p.keyword in given and p.keyword != "scale"
    ]


def vary(encoding: Encoding, values: Mapping[str, float]) -> Encoding | None:
    """Return the encoding with other values of some parameters, by keyword; None where they are not accepted.

    >>> from pe_spectra import Sinusoidal
    >>> vary(Sinusoidal(d=4), {"rho": 100.0}).rho, vary(Sinusoidal(d=4), {"rho": -1.0})
    (100.0, None)
    """
    return _build(type(encoding), {**encoding.given, **values})


def multiply(encoding: Encoding, factors: Mapping[str, float]) -> Encoding | None:
    """Return the encoding with some parameters times a factor, by keyword; None where that is not accepted.

    >>> from pe_spectra import Sinusoidal
    >>> multiply(Sinusoidal(d=4), {"rho": 0.5}).rho
    5000.0
    """
    return vary(encoding, {name: getattr(encoding, name) * factor for name, factor in factors.items()})


def measure_frequencies(table: F64, labels: I64) -> F64 | None:
    """Measure by how much the pairs of columns turn from row to row, in rad; None where they do not turn one way.

    A(k) = sum z(s+k) conj z(s), z = cosine + i sine, turns by k times as much: over 1, 2, 4, .. rows, each time by the
    turn that is nearest to what was known before, as long as at most half of the pair is lost on the way.

    Parameters
    ----------
    table : (S, d). labels : (d,) i + 1 for the sine of frequency i, -(i + 1) for its cosine.

    Returns
    -------
    (M,) 0 for a frequency that has but one column. None where |sum Im A(1)| is less than half of sum |Im A(1)|: pairs
    of a ladder turn in one direction.

    References
    ----------
    Kay 1989, IEEE Trans. ASSP 37, 1987 (a frequency by phases); Tretter 1985, IEEE Trans. IT 31, 832.

    >>> from pe_spectra import Sinusoidal
    >>> measure_frequencies(Sinusoidal(d=4).table(9), np.array([1, -1, 2, -2])).round(6).tolist()
    [1.0, 0.01]
    """
    sines, cosines = find_columns(labels)
    both = (sines >= 0) & (cosines >= 0)
    pairs = table[:, cosines[both]] + 1j * table[:, sines[both]]
    products = _multiply_rows(pairs, 1)
    across = products.imag
    if abs(across.sum()) < _ONE_WAY * np.abs(across).sum():
        return None
    turns, known, lag = np.angle(products), np.ones(len(products), dtype=bool), 2
    # what is lost of a pair: A(k) over the energy of the rows that it is of
    energy = np.square(np.abs(pairs)).mean(axis=0)
    while lag <= len(table) // 2:
        products = _multiply_rows(pairs, lag)
        known &= np.abs(products) / (len(table) - lag) >= _KEPT * energy
        phases = np.angle(products)
        turns = np.where(known, (phases + 2 * np.pi * np.round((turns * lag - phases) / (2 * np.pi))) / lag, turns)
        lag *= 2
    turned = np.zeros(len(sines))
    turned[both] = np.abs(turns)
    return turned


def _multiply_rows(pairs: C128, lag: int) -> C128:
    """Sum over the rows of what a pair of columns is, times the conjugate of what it was `lag` rows before."""
    products: C128 = np.einsum("ij,ij->j", pairs[lag:], pairs[:-lag].conj())
    return products


def label_columns(encoding: Pairs) -> I64:
    """Return i + 1 for the column of the sine of frequency i, -(i + 1) for that of its cosine, 0 for one of zeros.

    >>> from pe_spectra import Sinusoidal
    >>> label_columns(Sinusoidal(d=4, layout="concatenated")).tolist()
    [1, 2, -1, -2]
    """
    most, width = (encoding.d + 1) // 2, encoding.d
    rows = (encoding.arrange(one, -one)[0] for one in (np.arange(1.0, m + 1)[None] for m in (most, width // 2)))
    labels: I64 = np.rint(next(row for row in rows if len(row) == width) / encoding.amplitude).astype(np.int64)
    return labels


def fit_frequencies(encoding: Pairs, measured: F64) -> Encoding | None:
    """Choose the free parameters of a ladder by least squares, so that its frequencies are those that were measured.

    Measured frequencies have errors of one size, so their logarithms have weights in proportion to them. None where
    too few were measured, or where no accepted parameters come near.

    >>> from pe_spectra import Sinusoidal
    >>> round(fit_frequencies(Sinusoidal(d=8), 500.0 ** -np.array([0, 0.25, 0.5, 0.75])).rho, 6)
    500.0
    """
    free, missed = list_free(encoding), 0.0
    found: Encoding = encoding
    for step in range(_STEPS):
        values = _list_frequencies(found)
        usable = (values > 0) & (values < _HIGHEST) & (measured > 0) & (measured < _HIGHEST)
        if not free or usable.sum() < len(free):
            return None
        moved = [multiply(found, {name: math.exp(_SLOPE)}) or found for name in free]
        slopes = np.stack([np.log((_list_frequencies(one) / values)[usable]) for one in moved], axis=1) / _SLOPE
        weights, missing = measured[usable], np.log(measured[usable] / values[usable])
        steps = np.linalg.lstsq(weights[:, None] * slopes, weights * missing, rcond=1e-9)[0]
        missed = float(np.linalg.norm(weights * (missing - slopes @ steps)) / np.linalg.norm(weights))
        factors = np.exp(np.clip(steps, -_FAR, _FAR)).tolist()
        later = multiply(found, dict(zip(free, factors, strict=True)))
        if later is None:
            return None
        found = later
        if (step >= _FIRST_STEPS and missed > _MISSED) or np.abs(steps).max() < _STILL:
            break
    return found if missed <= _MISSED else None


def miss_frequencies(encoding: Pairs, measured: F64) -> float:
    """Return the share of the measured frequencies below pi, root mean square, that an encoding misses.

    >>> from pe_spectra import Sinusoidal
    >>> miss_frequencies(Sinusoidal(d=4), np.array([1.0, 0.01])), miss_frequencies(Sinusoidal(d=4), np.zeros(2))
    (0.0, inf)
    """
    values = _list_frequencies(encoding)
    usable = (values > 0) & (values < _HIGHEST) & (measured > 0) & (measured < _HIGHEST)
    size = float(np.linalg.norm(measured[usable]))
    return float(np.linalg.norm((measured - values)[usable])) / size if size else math.inf


def count_digits(encoding: Encoding) -> int:
    """Count the significant digits of the numbers that are not at their default: how much a SPEC has to say.

    >>> from pe_spectra import Sinusoidal
    >>> count_digits(Sinusoidal(d=64)), count_digits(Sinusoidal(d=64, rho=1.25e6))
    (0, 3)
    """
    given = encoding.given
    values = [(given[p.keyword], p.default) for p in encoding.accepts if p.keyword in list_free(encoding)]
    return sum(len(format_value(one).strip("0").replace(".", "")) for one, usual in values if one != usual)


def _list_frequencies(encoding: Encoding) -> F64:
    return encoding.words()[0] if isinstance(encoding, Pairs) else np.empty(0)


def find_columns(labels: I64) -> tuple[I64, I64]:
    """Return the columns of the sine and of the cosine of each frequency, (M,) each; -1 where there is none.

    >>> [columns.tolist() for columns in find_columns(np.array([1, -1, 2]))]
    [[0, 2], [1, -1]]
    """
    count = int(np.abs(labels).max(initial=0))
    places = np.full((2, count), -1)
    for column, label in enumerate(labels.tolist()):
        if label:
            places[int(label < 0), abs(label) - 1] = column
    return places[0], places[1]


def _build(cls: type[Encoding], values: Mapping[str, Any]) -> Encoding | None:
    try:
        return cls(**values)
    except InputError:
        return None


def _fits(encoding: Encoding, rows: int, width: int) -> bool:
    is_table = isinstance(encoding, HasTable) and not encoding.is_random and encoding.d == width
    # a grid has no rows beside those that it is made of
    most = encoding.rows
    return is_table and (most is None or most == rows or (most > rows and encoding.shape is None))


def _list_values(
    accepts: Sequence[Parameter], rows: int, width: int, grid: tuple[int, int] | None
) -> Iterator[dict[str, Any]]:
    """List values of the parameters by keyword; a value that has no meaning with the others is refused later."""
    known = {p.name: p for p in accepts}
    choices: dict[str, Sequence[Any]] = {}
    for p in accepts:
        if isinstance(p.accepts, Choice):
            choices[p.keyword] = p.accepts.members
    if "length" in known:
        choices["length"] = tuple(dict.fromkeys((rows, known["length"].default)))
    pairs: list[Mapping[str, int]] = [{}]
    if set(_BY_ROWS) <= set(known):
        sides = (one for size in (rows, rows - 1) for one in _list_factors(size))
        shapes = [grid] if grid else [one for one in sides if max(one) <= _THINNEST * min(one)]
        pairs = [dict(zip(_BY_ROWS, shape, strict=True)) for shape in shapes]
    elif set(_BY_COLUMNS) <= set(known):
        pairs = [dict(zip(_BY_COLUMNS, shape, strict=True)) for shape in _list_factors(width)]
    widths: list[Mapping[str, int]] = [{"d": width}] if "d" in known else [{}]
    if "d" in known and known["d"].keyword != "d":  # the width of a part, which may stay at its default
        widths.append({})
    for given, pair in itertools.product(widths, pairs):
        named = {known[name].keyword: value for name, value in (*given.items(), *pair.items())}
        for values in itertools.product(*choices.values()):
            yield named | dict(zip(choices, values, strict=True))


def _list_factors(size: int) -> list[tuple[int, int]]:
    """Two factors of at least 2."""
    return [(one, size // one) for one in range(2, size // 2 + 1) if size % one == 0]
