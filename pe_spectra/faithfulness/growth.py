"""How the smallest separation falls as the length grows."""

from __future__ import annotations

import math

from pe_spectra.encodings import Dft, Encoding, HasTable
from pe_spectra.errors import InputError
from pe_spectra.faithfulness.certificates import certify
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.faithfulness.pair_lags import PairWords, find_closest_lag
from pe_spectra.faithfulness.separation import count_pair_work, find_closest_rows, find_pair_words
from pe_spectra.limits import MAX_LENGTH, MAX_RANK_WORK
from pe_spectra.records import NamedTuple

#: Frequencies times positions, and multiplications of all pairs of rows, beyond which no longer length is tried.
_MOST_TERMS, _MOST_WORK = 1 << 28, MAX_RANK_WORK


class Grown(NamedTuple):
    """The smallest separation among the first `length` positions, and the first pair that has it.

    >>> from pe_spectra.encodings.absolute import Ramp
    >>> grown = trace_growth(Ramp(length=8), Grown(length=2, separation=1 / 7, pair=(0, 1)))
    >>> [one.length for one in grown], grown[-1].pair
    ([2, 4, 8], (0, 1))
    """

    length: int
    separation: float
    pair: tuple[int, int]


def trace_growth(encoding: Encoding, first: Grown) -> tuple[Grown, ...]:
    """Return the smallest separation at twice the length, four times it, .., up to 2**20 or the last row.

    Stops where a length costs more than the budget, and where a distance cannot be told from rounding.

    Parameters
    ----------
    first : what is known at the length from which to go on; it is returned in front.

    >>> from pe_spectra.encodings.absolute import Ramp
    >>> grown = trace_growth(Ramp(length=8), Grown(length=2, separation=1 / 7, pair=(0, 1)))
    >>> [one.length for one in grown]
    [2, 4, 8]
    """
    lengths = _list_lengths(first.length, encoding.rows if encoding.domain == "positions" else None)
    words = None if isinstance(encoding, Dft) else find_pair_words(encoding)
    if words is not None:
        return (first, *_grow_pairs(encoding, words, [n for n in lengths if words.count * n <= _MOST_TERMS]))
    found = [first]
    for length in lengths:
        grown = _measure(CodeTable(encoding, length))
        if grown is None:
            break
        found.append(grown)
    return tuple(found)


class FirstRepeat(NamedTuple):
    """Two codes are equal among `length` positions, and none are among `above`; one more or fewer is not decided.

    Of longer ones nothing is said: the end factor of `dfstrans` makes the last row another one.

    >>> from pe_spectra import Dft
    >>> find_first_repeat(Dft(d=256), 80)
    FirstRepeat(above=256, length=257, pair=(0, 256))
    """

    above: int
    length: int
    pair: tuple[int, int]


def find_first_repeat(encoding: Encoding, length: int) -> FirstRepeat | None:
    """Return at which longer length two codes are equal first, by exact keys; None if not up to 2**20 or the last row.

    Parameters
    ----------
    length : one at which all codes are different.

    >>> from pe_spectra import Sinusoidal
    >>> find_first_repeat(Sinusoidal(d=4), 80) is None
    True
    """
    for longer in _list_lengths(length, encoding.rows if encoding.domain == "positions" else None):
        try:
            found = certify(CodeTable(encoding, longer), 1)[2]
        except InputError:  # a table of lags has an end
            return None
        if found.earliest is None:
            continue
        fails = max(map(abs, found.earliest)) + 1
        if found.distinct is None:  # which leaves room for pairs that no key has
            return FirstRepeat(length, fails, found.earliest)
        # of rows that change with the number of them the pair may be another one, or the length one beside
        for tried in (fails, fails - 1, fails + 1):
            pair = certify(CodeTable(encoding, tried), 1)[2].earliest if tried > length else None
            if pair is not None:
                return FirstRepeat(tried - 1, tried, pair)
    return None


def _list_lengths(first: int, rows: int | None) -> list[int]:
    last = MAX_LENGTH if rows is None else min(rows, MAX_LENGTH)
    doubled = [first << power for power in range(1, (last // first).bit_length())]
    return [*doubled, last] if rows is not None and last > max([first, *doubled]) else doubled


def _grow_pairs(encoding: Encoding, words: PairWords, lengths: list[int]) -> list[Grown]:
    """By the lag, from the longest length down: the closest pair of that one is often that of the others."""
    may_repeat = bool(lengths) and certify(CodeTable(encoding, lengths[-1]), 1)[0] is False
    found: list[Grown] = []
    closest = None
    for length in reversed(lengths):
        equal = certify(CodeTable(encoding, length), 1)[2].first if may_repeat else None
        if equal is None and (closest is None or closest.pair[1] >= length):
            closest = find_closest_lag(words, length)
        if equal is not None:
            found.append(Grown(length=length, separation=0.0, pair=equal))
        elif closest is not None and closest.distance is not None:
            found.append(Grown(length=length, separation=closest.distance, pair=closest.pair))
    return found[::-1]


def _measure(table: CodeTable) -> Grown | None:
    is_dft = isinstance(table.encoding, Dft)
    # rows of lags that were clipped are equal, which a key decides however many they are
    width = table.columns if isinstance(table.encoding, HasTable) else table.encoding.kernel_count
    if not is_dft and count_pair_work(table.length, width) > _MOST_WORK:
        return None
    try:
        equal = certify(table, 1)[2].first
    except InputError:  # a table of lags has an end
        return None
    if equal is not None:
        return Grown(length=table.length, separation=0.0, pair=equal)
    if is_dft:
        return Grown(length=table.length, separation=math.sqrt(2), pair=(0, 1))
    if count_pair_work(len(table.places), table.columns) > _MOST_WORK:
        return None
    if table.codes is None or table.error is None or table.distance_error is None:
        return None
    found = find_closest_rows(table.codes, table.places, table.error)
    if found.distance is None or found.distance <= table.distance_error:
        return None
    return Grown(length=table.length, separation=found.distance, pair=found.pair)
