"""What two tables have in common and what not, in sentences without a full stop."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np

from pe_spectra.exact import F64

#: Cosines above this are written as 1 minus what is missing; lengths that differ by less are the same.
_NEARLY_ONE, _SAME_LENGTH = 0.9999, 5e-4


def state_widths(a: F64, b: F64) -> Iterator[str]:
    """Say how two tables of other widths are alike.

    >>> list(state_widths(np.eye(4), np.eye(4)[:, :2]))[0]
    'A has 4 columns and B has 2'
    """
    (rows_a, width_a), (rows_b, width_b) = a.shape, b.shape
    if (rows_a, width_a) == (width_b, rows_b) and np.array_equal(a, b.T):
        yield f"rows of B are columns of A: B is A transposed ({rows_a} x {width_a} and {rows_b} x {width_b})"
        return
    yield f"A has {width_a} columns and B has {width_b}"
    rows, width = min(rows_a, rows_b), min(width_a, width_b)
    if np.array_equal(a[:rows, :width], b[:rows, :width]):
        yield f"the first {width} columns are equal ({_count_rows(rows)})"


def state_rows(
    shape_a: tuple[int, int], shape_b: tuple[int, int], equal: int, first: int | None, largest: float, *, within: str
) -> Iterator[str]:
    """Say how many rows are equal at the same index; `within` is the rounding that explains all differences.

    >>> list(state_rows((96, 8), (96, 8), 95, 3, 0.5, within=""))[0]
    '95 of 96 rows are equal; the first that differs is 3; numbers differ by up to 0.5'
    """
    rows = min(shape_a[0], shape_b[0])
    every = f"all {_count_rows(rows)}"
    if shape_a[0] != shape_b[0]:
        more = _count_rows(abs(shape_a[0] - shape_b[0]))
        yield f"{'A' if shape_a[0] > shape_b[0] else 'B'} has {more} more ({shape_a[0]} and {shape_b[0]})"
        every = f"the {_count_rows(rows)} that both have"
    verb = "is" if rows == 1 else "are"
    if first is None:
        yield f"{every} {verb} equal"
    elif within:
        yield f"{every} {verb} equal within the rounding of {within}, by {largest:.2g} at most"
    elif equal == 0:
        yield f"no row equals the one at its index; numbers differ by up to {largest:.4g}"
    else:
        yield (
            f"{equal} of {_count_rows(rows)} {'is' if equal == 1 else 'are'} equal; the first that differs is {first}; "
            f"numbers differ by up to {largest:.4g}"
        )


def state_moved_rows(a: F64, b: F64) -> Iterator[str]:
    """Say whether rows of B are rows of A at other indices.

    >>> list(state_moved_rows(np.eye(4), np.eye(4)[1:]))[0]
    '3 of 3 rows of B are in A, at other indices'
    """
    keys_a, keys_b = _list_keys(a), _list_keys(b)
    if len(a) == len(b) and len(a) > 1 and keys_a == keys_b[::-1]:
        yield "the rows of B are those of A in reverse order"
        return
    known = set(keys_a)
    found = sum(key in known for key in keys_b)
    if found == len(b) and sorted(keys_a) == sorted(keys_b):
        yield "the rows of B are those of A in another order"
    elif 2 * found > len(b) and len(set(keys_b)) > 1:
        yield f"{found} of {_count_rows(len(b))} of B {'is' if found == 1 else 'are'} in A, at other indices"


def state_likeness(a: F64, b: F64) -> Iterator[str]:
    """Say how alike rows at the same index are, and how long.

    >>> list(state_likeness(np.eye(4), 2 * np.eye(4)[::-1]))[0]
    "rows at one index have a cosine of 0.0000, B's are 2 times as long as A's (medians)"
    """
    norms = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
    usable = (norms[0] > 0) & (norms[1] > 0)
    if not usable.any():
        empty = [name for name, found in zip("AB", norms, strict=True) if not found.any()]
        yield from (f"{name} has only zeros" for name in empty)
        return
    cosines = np.einsum("ij,ij->i", a, b)[usable] / (norms[0] * norms[1])[usable]
    cosine, ratio = float(np.median(cosines)), float(np.median(norms[1][usable] / norms[0][usable]))
    shown = f"{cosine:.4f}" if cosine < _NEARLY_ONE else f"1 - {max(1 - cosine, 1e-16):.1g}"
    length = "as long as A's" if abs(ratio - 1) < _SAME_LENGTH else f"{ratio:.4g} times as long as A's"
    yield f"rows at one index have a cosine of {shown}, B's are {length} (medians)"


def _list_keys(table: F64) -> list[bytes]:
    # 0.0 and -0.0 are one number
    return [blake2b((row + 0.0).tobytes(), digest_size=16).digest() for row in table]


def _count_rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
