"""Ladders whose columns stand in an order that no implementation has: their own order, by what each column is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pe_spectra.exact import F64, I64
from pe_spectra.inspection.formulas import MOST_NUMBERS, Formula, find_formula
from pe_spectra.inspection.series import Mask

#: What is said of such a table.
ANOTHER_ORDER = "its columns in another order"
#: A column is one wave where x(s+1) + x(s-1) is a multiple of x(s), but for this part of the largest number.
_NEARLY = 0.02
#: Where a wave turns by less than so many rad along the table its last row tells its frequency.
_SLOW = 1.5


def find_column_order(table: F64) -> I64 | None:
    """Find the order in which columns are pairs of sine and cosine, the fastest pair first.

    x(s+k) + x(s-k) = 2 cos(w k) x(s) tells the frequency w of a wave, over 1, 2, 4, .. rows, each time the one that is
    nearest to what was known before. Sines begin near 0, cosines near their amplitude, which all columns share.

    Parameters
    ----------
    table : (S, d), from position 0 on.

    Returns
    -------
    (d,) or None: where a column is no wave, or where there are not as many sines as cosines, or one more.

    >>> from pe_spectra import Sinusoidal
    >>> find_column_order(Sinusoidal(d=6).table(32)[:, [3, 0, 5, 2, 4, 1]]).tolist()
    [1, 5, 3, 0, 4, 2]
    """
    size, width = table.shape
    most = float(np.abs(table).max(initial=0.0))
    if size < 8 or width < 2 or most == 0.0:
        return None
    scaled = table / most
    cosines = _project(scaled, 1)
    misses = scaled[2:] + scaled[:-2] - 2 * cosines * scaled[1:-1]
    if float(np.abs(misses).max()) > _NEARLY:
        return None
    is_sine = scaled[0] < 0.5
    if not 0 <= int(is_sine.sum()) - int((~is_sine).sum()) <= 1:
        return None
    frequencies, lag = np.arccos(cosines), 2
    while lag <= size // 4:
        angles, before = np.arccos(_project(scaled, lag)), frequencies * lag
        turned = np.stack(
            [sign * angles + 2 * np.pi * np.round((before - sign * angles) / (2 * np.pi)) for sign in (1, -1)]
        )
        frequencies = np.take_along_axis(turned, np.abs(turned - before).argmin(axis=0)[None], axis=0)[0] / lag
        lag *= 2
    last = np.clip(scaled[-1], -1, 1)
    slow = np.where(is_sine, np.arcsin(last), np.arccos(last)) / (size - 1)
    frequencies = np.where(np.abs(frequencies) * size < _SLOW, slow, np.abs(frequencies))
    order = np.empty(width, dtype=np.int64)
    for first, kind in enumerate((is_sine, ~is_sine)):
        places = np.flatnonzero(kind)
        order[first::2] = places[np.argsort(-frequencies[places], kind="stable")]
    return order


def find_in_another_order(
    table: F64, *, dtype: str = "float64", first: int = 0, odd: Mask | None = None, exponent: int = 0
) -> Formula | None:
    """Find a formula that gives the numbers of a table, most of them at least, with its columns in another order.

    The arguments are those of `find_formula`; where most of the numbers are no formula's, chance would sort noise.

    >>> from pe_spectra import Sinusoidal
    >>> table = Sinusoidal(d=6, rho=500.0).table(32)[:, [3, 0, 5, 2, 4, 1]]
    >>> found = find_in_another_order(table)
    >>> found.spec, found.exact, found.order
    ('sinusoidal:d=6,rho=500', True, 'its columns in another order')
    """
    order = find_column_order(table)
    if order is None:
        return None
    found = find_formula(table[:, order], dtype=dtype, first=first, odd=odd, exponent=exponent)
    if found is None or found.numbers_share <= MOST_NUMBERS:
        return None
    columns = np.arange(table.shape[1])[found.fit.columns][np.argsort(order)]
    return replace(found, order=ANOTHER_ORDER, fit=replace(found.fit, order=ANOTHER_ORDER, columns=columns))


def _project(table: F64, lag: int) -> F64:
    """Return cos(w k) of each column by least squares, (d,), from -1 to 1."""
    middle, both = table[lag:-lag], table[2 * lag :] + table[: -2 * lag]
    energy = np.maximum(np.einsum("ij,ij->j", middle, middle), 1e-300)
    cosines: F64 = np.clip(np.einsum("ij,ij->j", middle, both) / (2 * energy), -1, 1)
    return cosines
