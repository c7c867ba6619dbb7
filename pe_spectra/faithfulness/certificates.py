"""Definition 1: is every position told apart? A theorem where there is one, and the witnesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pe_spectra.encodings import Encoding, HasBiasMap, HasExactKey
from pe_spectra.exact import I64


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Why an encoding is, or is not, injective: the kind of theorem and a sentence."""

    kind: str
    text: str


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


def certify(encoding: Encoding, length: int, limit: int) -> tuple[bool | None, Certificate, Collisions]:
    """Decide whether the codes of 0 .. length-1 are all different.

    Equality is decided by integer keys, never by comparing computed floats.

    Returns
    -------
    injective (None when no theorem applies), the certificate, and the collisions: all of them
    counted, the first `limit` named, each position with the next one that shares its code.
    """
    theorem = encoding.theorem if isinstance(encoding, HasExactKey) else None
    if theorem is None or not isinstance(encoding, HasExactKey):
        why = f"no theorem about {encoding.name} is known here"
        if isinstance(encoding, HasBiasMap):
            why = "its bias belongs to a query and a key, so lags have no code of their own"
        certificate = Certificate(kind="undecided", text=why)
        return None, certificate, Collisions(count=0, distinct=None, sharing=0, first=None, examples=())
    places = list_places(encoding, length)
    collisions = find_collisions(encoding.exact_key(places), limit, places)
    return not collisions.count, Certificate(kind=theorem.kind, text=theorem.text), collisions


def list_places(encoding: Encoding, length: int) -> I64:
    """Return what codes belong to: positions 0 .. length-1, or the lags that occur between so many positions.

    Lags of either sign: 0 .. length-1, then -1 .. -(length-1), so that witnesses are small and positive.
    """
    if encoding.domain == "positions" or getattr(encoding, "causal", False):
        return np.arange(length)
    return np.concatenate([np.arange(length), np.arange(-1, -length, -1)])


def certify_distance(distance: float, width: int, error: float | None) -> Certificate:
    """Return what the smallest distance of computed codes proves: that they differ, or nothing.

    Entries may be wrong by `error`; two codes that are equal are then computed no further apart than
    twice that in each of `width` columns. Its kind is "separation", "rounding" where
    the distance is none that can be told from 0, or "undecided".
    """
    if error is None:
        text = f"no theorem applies, and how exact its computed codes are is not known (closest: {distance:.4g} apart)"
        return Certificate(kind="undecided", text=text)
    bound = 2 * float(np.sqrt(width)) * error
    if not distance > bound:
        text = f"no theorem applies; the closest codes are {distance:.1g} apart, and rounding could make {bound:.1g}"
        return Certificate(kind="rounding", text=text)
    text = (
        f"all pairs were compared: the closest are {distance:.4g} apart, rounding could make {bound:.1g} of equal ones"
    )
    return Certificate(kind="separation", text=text)


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
