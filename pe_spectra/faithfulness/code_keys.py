"""Integers that stand for codes, as far as they are known: of a theorem, or of the members of a hybrid."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.encodings.codes import find_exact_key
from pe_spectra.exact import I64
from pe_spectra.records import dataclass


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
    from pe_spectra.encodings.combined import Hybrid

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
        merging=_join_keys(merging) if len(merging) == len(members) else None,
        splitting=_join_keys(splitting) if seen and splitting else None,
    )


def _join_keys(keys: Sequence[I64]) -> I64:
    """Number the tuples of several keys, each (S,): two numbers are equal if and only if all keys are."""
    numbers = [np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64) for key in keys]
    # both are below S <= 2**20, so that the product stays in range
    return reduce(lambda one, other: np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1], numbers)
