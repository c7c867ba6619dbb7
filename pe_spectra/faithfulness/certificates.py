"""Definition 1: is every position told apart? A theorem where there is one, and the witnesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pe_spectra.encodings import Encoding, HasExactKey
from pe_spectra.exact import I64


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Why an encoding is, or is not, injective: the kind of theorem and a sentence."""

    kind: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Collisions:
    """Pairs of positions with the same code: how many in all, the first, and as many as were asked for."""

    count: int
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
    if not isinstance(encoding, HasExactKey):
        certificate = Certificate(kind="undecided", text=f"no theorem about {encoding.name} is known here")
        return None, certificate, Collisions(count=0, first=None, examples=())
    collisions = find_collisions(encoding.exact_key(np.arange(length)), limit)
    theorem = encoding.theorem
    return not collisions.count, Certificate(kind=theorem.kind, text=theorem.text), collisions


def find_collisions(keys: I64, limit: int) -> Collisions:
    """Count the pairs of equal keys, in O(S log S), and name the first `limit` in order of position."""
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    same = np.flatnonzero(sorted_keys[1:] == sorted_keys[:-1])
    sizes = np.diff(np.flatnonzero(np.concatenate([[True], sorted_keys[1:] != sorted_keys[:-1], [True]])))
    pairs = np.stack([order[same], order[same + 1]], axis=1)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")][: max(limit, 1)]
    named = tuple((int(s), int(t)) for s, t in pairs)
    return Collisions(
        count=int(np.sum(sizes * (sizes - 1) // 2)),
        first=named[0] if named else None,
        examples=named[:limit],
    )
