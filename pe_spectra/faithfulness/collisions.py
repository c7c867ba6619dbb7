"""Positions that share a code, found by integers that stand for codes; computed floats are never compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.exact import I64


@dataclass(frozen=True, kw_only=True)
class Collisions:
    """Pairs of positions with the same code: how many in all, the first, and as many as were asked for.

    `distinct` codes there are, None where it is not known; `sharing` positions have theirs in common with another.
    """

    count: int
    distinct: int | None
    sharing: int
    first: tuple[int, int] | None
    examples: tuple[tuple[int, int], ...]


def list_places(encoding: Encoding, length: int) -> I64:
    """Return what codes belong to: positions 0 .. length-1, or the lags that occur between so many positions.

    Lags of either sign: 0 .. length-1, then -1 .. -(length-1), so that witnesses are small and positive.
    """
    if encoding.domain == "positions" or getattr(encoding, "causal", False):
        return np.arange(length)
    return np.concatenate([np.arange(length), np.arange(-1, -length, -1)])


def find_collisions(keys: I64, limit: int, places: I64 | None = None) -> Collisions:
    """Count the pairs of equal keys, in O(S log S), and name the first `limit` in order of position.

    `places` are the positions, or lags, of the keys; default 0, 1, .. The smaller place of a pair is first.
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
    )
