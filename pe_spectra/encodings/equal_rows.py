"""Equal rows of given numbers, found without comparing all pairs."""

from __future__ import annotations

import numpy as np

from pe_spectra.exact import F64, I64


def number_equal_rows(table: F64) -> I64:
    """Number the rows of a table so that two have one number if and only if they are equal; shape (S,).

    A 64-bit hash of every row, streamed, then an exact comparison of the rows whose hashes agree.

    >>> number_equal_rows(np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0]]))
    array([0, 1, 0])
    """
    keys = np.arange(len(table), dtype=np.int64)
    hashes = _hash_rows(table)
    order = np.argsort(hashes, kind="stable")
    ties = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    representatives: dict[int, list[int]] = {}
    for place in ties:
        first, second = int(order[place]), int(order[place + 1])
        known = representatives.setdefault(int(hashes[first]), [first])
        for row in known:
            if np.array_equal(table[row], table[second]):
                keys[second] = row
                break
        else:
            known.append(second)
    return keys


def _hash_rows(table: F64) -> I64:
    factors = np.random.Generator(np.random.PCG64(1)).integers(1, 2**62, table.shape[1], dtype=np.int64) | 1
    hashes = np.empty(len(table), dtype=np.int64)
    step = max(1, (1 << 20) // table.shape[1])
    for start in range(0, len(table), step):
        block = table[start : start + step] + 0.0  # -0 becomes 0
        words = block.view(np.int64)
        with np.errstate(over="ignore"):
            words ^= (words >> 32) * factors
            hashes[start : start + step] = np.sum(words * factors, axis=1)
    return hashes
