"""Definition 1: is every position told apart? A theorem where there is one, and the witnesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pe_spectra.encodings import Encoding, HasBiasMap
from pe_spectra.encodings.codes import find_exact_key, find_theorem, list_places
from pe_spectra.faithfulness.collisions import Collisions, find_collisions
from pe_spectra.faithfulness.derived import decide_derived
from pe_spectra.findings import CODE_PATTERN
from pe_spectra.quantities import Result, quantity


@dataclass(frozen=True, kw_only=True)
class Certificate(Result):
    """Why an encoding is, or is not, injective: the kind of theorem and a sentence.

    >>> from pe_spectra import Dft, measure_faithfulness
    >>> measure_faithfulness(Dft(d=8), length=8).certificate.kind
    'period'
    """

    kind: str = quantity("Stable name of the theorem.", pattern=CODE_PATTERN)
    text: str = quantity("The theorem in a sentence.")


def certify(encoding: Encoding, length: int, limit: int) -> tuple[bool | None, Certificate, Collisions]:
    """Decide whether the codes of 0 .. length-1 are all different.

    Equality is decided by integer keys, never by comparing computed floats.

    Returns
    -------
    injective (None when no theorem applies), the certificate, and the collisions: all of them
    counted, the first `limit` named, each position with the next one that shares its code.

    >>> from pe_spectra import Dft
    >>> injective, certificate, collisions = certify(Dft(d=8), 10, 5)
    >>> injective, collisions.examples
    (False, ((0, 8), (1, 9)))
    """
    theorem, places = find_theorem(encoding), list_places(encoding, length)
    key = find_exact_key(encoding, places)
    if theorem is None or key is None:
        if length == 1 and encoding.domain == "positions":
            alone = find_collisions(places, limit, places)
            return True, Certificate(kind="single", text="a single position has none to share its code with"), alone
        derived = decide_derived(encoding, places, limit)
        if derived is not None:
            injective, theorem, collisions = derived
            return injective, Certificate(kind=theorem.kind, text=theorem.text), collisions
        why = f"no theorem about {encoding.name} is known here"
        if isinstance(encoding, HasBiasMap):
            why = "its bias belongs to a query and a key, so lags have no code of their own"
        certificate = Certificate(kind="undecided", text=why)
        return None, certificate, Collisions(count=0, distinct=None, sharing=0, first=None, examples=())
    collisions = find_collisions(key, limit, places)
    return not collisions.count, Certificate(kind=theorem.kind, text=theorem.text), collisions


def certify_distance(distance: float, width: int, error: float | None) -> Certificate:
    """Return what the smallest distance of computed codes proves: that they differ, or nothing.

    Entries may be wrong by `error`; two codes that are equal are then computed no further apart than
    twice that in each of `width` columns. Its kind is "separation", "rounding" where
    the distance is none that can be told from 0, or "undecided".

    >>> [certify_distance(0.5, 4, error).kind for error in (1e-15, 0.2, None)]
    ['separation', 'rounding', 'undecided']
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
