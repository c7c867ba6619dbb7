"""Which calendar vectors are equal, decided in integers: tuples, multisets and exact sums of fields."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import count

import numpy as np

from pe_spectra.exact import I64

#: Integers that are compared at a time.
_BLOCK = 1 << 22


def key_numbers(numbers: I64, ids: Sequence[I64]) -> I64:
    """Write rows of numbers as one integer each: two are equal where all ids are; shape (S,).

    Parameters
    ----------
    numbers : (S, F) numbers of the fields; ids : for each field, the id of each number.

    >>> key_numbers(np.array([[1, 2], [0, 3]]), [np.arange(4), np.arange(4)])
    array([6, 3])
    """
    key = np.zeros(len(numbers), dtype=np.int64)
    for column, field in enumerate(ids):
        key = key * (int(field.max()) + 1) + field[numbers[:, column]]
    return key


def key_multisets(numbers: I64, sizes: Sequence[int]) -> I64:
    """Write rows of numbers as one integer each: two are equal if and only if the multisets are; shape (S,).

    Parameters
    ----------
    numbers : (S, F). sizes : of the columns, each one more than its largest number; of a last column that has none,
        a number from the largest size on is in no other row.

    >>> key_multisets(np.array([[5, 0], [0, 5], [5, 1]]), [6, 6])
    array([ 5,  5, 11])
    """
    ordered = np.sort(numbers, axis=1)
    key = np.zeros(len(numbers), dtype=np.int64)
    most = max(sizes)
    # the n-th smallest number of a row is below the n-th smallest size
    for column, size in zip(ordered.T, [*sorted(sizes), most], strict=False):
        key = key * size + np.minimum(column, size - 1)
    largest = ordered[:, -1]
    return np.where(largest >= most, -largest, key)


def key_sums(numbers: I64, tables: Sequence[I64]) -> I64:
    """Give rows of numbers an integer each: two are equal if and only if the sums of their rows are; shape (S,).

    The integer is a random linear form of the exact sum, modulo 2**64; wherever two different rows of
    numbers have it in common, their sums are compared, and another form is taken if they differ.

    Parameters
    ----------
    numbers : (S, F) numbers of the fields; tables : for each field, (numbers, B) integers.

    >>> numbers, table = np.array([[1, 2], [2, 1], [0, 0]]), np.array([[0], [5], [7]])
    >>> keys = key_sums(numbers, [table, table])  # sums 12, 12 and 0
    >>> bool(keys[0] == keys[1]), bool(keys[0] == keys[2])
    (True, False)
    """
    tuples = key_numbers(numbers, [np.arange(len(table)) for table in tables])
    _, first, inverse = np.unique(tuples, return_index=True, return_inverse=True)
    distinct = numbers[first]
    for seed in count():
        keys = _hash_sums(distinct, tables, seed)
        if _tells_apart(keys, distinct, tables):
            break
    return keys[inverse.reshape(-1)]


def _hash_sums(numbers: I64, tables: Sequence[I64], seed: int) -> I64:
    generator = np.random.Generator(np.random.PCG64(seed))
    form = generator.integers(-(2**63), 2**63 - 1, tables[0].shape[1], dtype=np.int64)
    with np.errstate(over="ignore"):
        hashes = np.zeros(len(numbers), dtype=np.int64)
        for column, table in enumerate(tables):
            hashes += (table @ form)[numbers[:, column]]
    return hashes


def _tells_apart(keys: I64, numbers: I64, tables: Sequence[I64]) -> bool:
    order = np.argsort(keys, kind="stable")
    ties = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    step = max(1, _BLOCK // tables[0].shape[1])
    for start in range(0, len(ties), step):
        part = ties[start : start + step]
        if not np.array_equal(_add_rows(numbers[order[part]], tables), _add_rows(numbers[order[part + 1]], tables)):
            return False
    return True


def _add_rows(numbers: I64, tables: Sequence[I64]) -> I64:
    total: I64 = np.sum([table[numbers[:, column]] for column, table in enumerate(tables)], axis=0)
    return total


@lru_cache(maxsize=8)
def write_roots_of_unity(orders: tuple[int, ...]) -> tuple[I64, ...]:
    """Write the roots of unity of some orders in one basis of their common field; each of shape (order, B).

    Row k of an order p holds the integers of exp(2 pi i k/p) in the basis of products of
    exp(2 pi i c/q), 0 <= c < phi(q), over the prime powers q of the common order: sums of roots are
    equal if and only if these integers are.

    >>> [table.tolist() for table in write_roots_of_unity((2, 4))]
    [[[1, 0], [-1, 0]], [[1, 0], [0, 1], [-1, 0], [0, -1]]]
    """
    common = math.lcm(*orders)
    powers = _list_prime_powers(common)
    written = [[_reduce(k * (common // order), common, powers) for k in range(order)] for order in orders]
    basis = {
        term: column for column, term in enumerate(sorted({term for rows in written for row in rows for term in row}))
    }
    tables = []
    for rows in written:
        table = np.zeros((len(rows), len(basis)), dtype=np.int64)
        for k, row in enumerate(rows):
            for term, factor in row.items():
                table[k, basis[term]] = factor
        table.flags.writeable = False
        tables.append(table)
    return tuple(tables)


def _list_prime_powers(number: int) -> list[tuple[int, int]]:
    """The primes of a number, each with its power in it."""
    found, prime = [], 2
    while number > 1:
        power = 1
        while number % prime == 0:
            number, power = number // prime, power * prime
        if power > 1:
            found.append((prime, power))
        prime += 1
    return found


def _reduce(exponent: int, common: int, powers: Sequence[tuple[int, int]]) -> dict[tuple[int, ...], int]:
    """Write exp(2 pi i exponent / common) in the basis: coefficients by the exponents of each prime power."""
    terms: dict[tuple[int, ...], int] = {(): 1}
    for prime, power in powers:
        place = exponent * pow(common // power, -1, power) % power
        gap = power // prime
        if place < power - gap:
            terms = {(*term, place): factor for term, factor in terms.items()}
        else:  # 1 + z**gap + .. + z**((prime - 1) gap) = 0 for z = exp(2 pi i / power)
            places = range(place % gap, power - gap, gap)
            terms = {(*term, c): -factor for term, factor in terms.items() for c in places}
    return terms
