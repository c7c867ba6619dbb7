"""Positions that share a code, found by integers that stand for codes; computed floats are never compared.

A position may be a moment, a place on a grid or a path in a tree: the key of an encoding knows which of
these share a code, and its words (`describe_position`) name them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from pe_spectra.encodings import Encoding, HasTable
from pe_spectra.encodings.codes import find_exact_key
from pe_spectra.encodings.combined import Hybrid
from pe_spectra.exact import I64
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.limits import MAX_DIRECT_WORK
from pe_spectra.quantities import Result, quantity

#: JSON Schema of texts, which may be empty.
LIST_OF_TEXTS = {"type": "array", "items": {"type": "string"}}


@dataclass(frozen=True, kw_only=True)
class Collisions(Result):
    """Pairs of positions with the same code: how many in all, the first, and as many as were asked for.

    >>> from pe_spectra import Dft, measure_faithfulness
    >>> found = measure_faithfulness(Dft(d=4), length=6).collisions
    >>> found.count, found.distinct, found.sharing, found.first
    (2, 4, 4, (0, 4))
    """

    count: int = quantity("Number of all such pairs; at least so many where `distinct` is null.", minimum=0)
    distinct: int | None = quantity("How many different codes there are; null where it is not known.", minimum=0)
    sharing: int = quantity("How many positions, or lags, have their code in common with another.", minimum=0)
    largest: int | None = quantity(
        "How many positions, or lags, have the code that most of them share; null where codes are not known.",
        default=None,
        minimum=1,
    )
    examples: tuple[tuple[int, int], ...] = quantity("Some of them, as [s, t].")
    named: tuple[str, ...] = quantity(
        "The same examples, so that a person can read them.", default=(), schema=LIST_OF_TEXTS
    )
    #: The first pair in order; None where there is none.
    first: tuple[int, int] | None


def describe_pair(encoding: Encoding, pair: tuple[int, int], between: str = " = ") -> str:
    """Write two positions, or lags, so that a person can read them.

    >>> from pe_spectra.encodings.calendar import Calendar
    >>> describe_pair(Calendar(), (0, 73))
    'Fri 2016-07-01 00:00 = Mon 2016-07-04 01:00'
    """
    if encoding.domain == "lags":
        return f"lag {pair[0]}{between}lag {pair[1]}"
    return between.join(encoding.describe_position(s) for s in pair)


def find_collisions(keys: I64, limit: int, places: I64 | None = None) -> Collisions:
    """Count the pairs of equal keys, in O(S log S), and name the first `limit` in order of position.

    `places` are the positions, or lags, of the keys; default 0, 1, .. The smaller place of a pair is first,
    and each is named with the next that shares its code.

    >>> find_collisions(np.array([7, 8, 7, 7]), 2).examples
    ((0, 2), (2, 3))
    """
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    same = np.flatnonzero(sorted_keys[1:] == sorted_keys[:-1])
    sizes = np.diff(np.flatnonzero(np.concatenate([[True], sorted_keys[1:] != sorted_keys[:-1], [True]])))
    pairs = np.stack([order[same], order[same + 1]], axis=1)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")][: max(limit, 1)]
    if places is not None:
        pairs = np.sort(places[pairs], axis=1)  # the order among pairs stays: small positive places first
    named = tuple((int(s), int(t)) for s, t in pairs)
    return Collisions(
        count=int(np.sum(sizes * (sizes - 1) // 2)),
        distinct=len(sizes),
        sharing=int(np.sum(sizes[sizes > 1])),
        first=named[0] if named else None,
        examples=named[:limit],
        largest=int(sizes.max()),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ExactKeys:
    """Integers that stand for codes, one for each place, as far as they are known.

    Attributes
    ----------
    merging : (S,) equal ones are proved to have equal codes; None where nothing is known.
    splitting : (S,) different ones are proved to have different codes; None where nothing is known.
    """

    merging: I64 | None
    splitting: I64 | None

    @property
    def are_exact(self) -> bool:
        """Whether codes are proved to be equal where keys are, and only there."""
        if self.merging is None or self.splitting is None:
            return False
        # merged ones are not split: as many classes are the same classes
        return self.merging is self.splitting or len(np.unique(self.merging)) == len(np.unique(self.splitting))


def find_keys(encoding: Encoding, places: I64) -> ExactKeys:
    """Return the keys of the codes: those of a theorem, or what follows for a hybrid from its members.

    Members that repeat together make any sum, concatenation or mix of them repeat. Members side by side, and
    one alone, tell apart what any of them does; in a sum of several one may undo another.

    >>> from pe_spectra import Dft
    >>> find_keys(Dft(d=4), np.arange(6))
    ExactKeys(merging=array([0, 1, 2, 3, 0, 1]), splitting=array([0, 1, 2, 3, 0, 1]))
    """
    key = find_exact_key(encoding, places)
    if key is not None:
        return ExactKeys(merging=key, splitting=key)
    if not isinstance(encoding, Hybrid):
        return ExactKeys(merging=None, splitting=None)
    weighted = zip(encoding.of or (), encoding.weights or (), strict=True)
    members = [find_keys(member, places) for member, weight in weighted if weight]
    if not members:  # all is multiplied with 0
        nothing = np.zeros(len(places), dtype=np.int64)
        return ExactKeys(merging=nothing, splitting=nothing)
    merging = [keys.merging for keys in members if keys.merging is not None]
    splitting = [keys.splitting for keys in members if keys.splitting is not None]
    seen = encoding.mode == "concat" or (encoding.mode == "sum" and len(members) == 1)
    return ExactKeys(
        merging=join_keys(merging) if len(merging) == len(members) else None,
        splitting=join_keys(splitting) if seen and splitting else None,
    )


def join_keys(keys: Sequence[I64]) -> I64:
    """Number the tuples of several keys, each (S,): two numbers are equal if and only if all keys are.

    >>> join_keys([np.array([5, 5, 6]), np.array([1, 1, 1])])
    array([0, 0, 1])
    """
    numbers = [np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64) for key in keys]
    # both are below S <= 2**20, so that the product stays in range
    return reduce(lambda one, other: np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1], numbers)


def decide_by_members(encoding: Encoding, places: I64, limit: int) -> tuple[bool, str, Collisions] | None:
    """Say by its members whether a hybrid is injective, why, and its collisions; None if they do not decide it.

    Where members that repeat together prove collisions, and it is not proved that nothing else collides, the
    remaining codes are compared: `distinct` is None, and `count` a lower bound, if their distances are rounding.

    >>> from pe_spectra import read_encoding
    >>> clock = read_encoding("hybrid:of='dft:d=4'+'dft:d=6',mode=concat")
    >>> decide_by_members(clock, np.arange(14), 5)[2].examples
    ((0, 12), (1, 13))
    """
    keys = find_keys(encoding, places)
    if keys.splitting is not None:
        found = find_collisions(keys.splitting, limit, places)
        if not found.count:
            text = "members that stand by themselves in its code distinguish all positions"
            return True, text, found
    if keys.merging is None:
        return None
    found = find_collisions(keys.merging, limit, places)
    if not found.count:
        return None
    text = "where all of its members repeat, so does their sum, concatenation or mix"
    if not _distinguishes(encoding, places, keys):
        text += "; there may be more pairs, for the other codes are too close or too many to be distinguished"
        found = replace(found, distinct=None)
    return False, text, found


def _distinguishes(encoding: Encoding, places: I64, keys: ExactKeys) -> bool:
    """Whether places with different merging keys are proved to have different codes."""
    if keys.merging is None:
        return False
    if keys.are_exact:
        return True
    _, first = np.unique(keys.merging, return_index=True)
    if len(first) == 1:
        return True
    if not isinstance(encoding, HasTable) or len(first) ** 2 * encoding.d > MAX_DIRECT_WORK:
        return False
    codes = encoding.table(places)
    error = encoding.bound_error(codes)
    distance = find_closest_pair(codes[first]).distance
    return error is not None and distance is not None and distance > 2 * float(np.sqrt(encoding.d)) * error
