"""What a module gave when it was called, read as a rotation, with the frequencies that it holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.models.dumps.dump import Dump
from pe_spectra.models.dumps.dumped_arrays import read_cache, read_inverse_frequencies

#: Said where a module turns by what it computes in another way.
_OTHERS = "the module holds other frequencies than those that it turns by"


def read_called(rows: F64, dtype: str, listed: F64 | None = None, listed_dtype: str | None = None) -> Dump:
    """Read what a module gave as a rotation.

    It has no length of its own, and not what it gives but the code around it chooses which channels are a pair: both
    are None, and `repeats` has the order in which each pair stands twice. Frequencies of few rows are known less well
    than those of the list that the module computed them by, so those of the list are taken where the rows agree with
    them.

    Parameters
    ----------
    rows : (S, 2C) cosines of C channels, then their sines, at positions 0, 1, 2, ..
    dtype : the type that they had.
    listed, listed_dtype : inverse frequencies that the module holds, and their type.

    Raises
    ------
    InputError : as for :func:`read_cache`.

    >>> listed = np.array([1.0, 0.1, 0.01])
    >>> angles = np.arange(8)[:, None] * listed
    >>> found = read_called(np.hstack([np.cos(angles), np.sin(angles)]), "float64", listed)
    >>> found.frequencies.tolist(), found.rows
    ([1.0, 0.1, 0.01], None)
    """
    cosines, sines = np.hsplit(rows, 2)
    found = read_cache(cosines, sines, dtype)
    found = replace(found, kind="call", rows=None, layout=None, repeats=found.layout)
    held = None if listed is None else _read_listed(listed, listed_dtype)
    if held is None:
        return found
    if held.frequencies.shape != found.frequencies.shape:
        return replace(found, notes=(*found.notes, _OTHERS))
    off = np.abs(held.frequencies - found.frequencies)
    errors = (held.error_bounds + found.error_bounds) * held.frequencies + held.rest + found.rest
    if (off > errors).any():
        return replace(found, notes=(*found.notes, _OTHERS))
    return replace(
        found,
        base=held.base,
        scaling=held.scaling,
        options=held.options,
        frequencies=held.frequencies,
        error_bounds=held.error_bounds,
        error_bound=held.error_bound,
        frequency_dtype=held.frequency_dtype,
        rest=held.rest,
        notes=held.notes,
    )


def _read_listed(listed: F64, dtype: str | None) -> Dump | None:
    try:
        return read_inverse_frequencies(listed, dtype)
    except InputError:
        return None
