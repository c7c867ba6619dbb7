"""Definition 1: are all positions distinguished? A theorem where there is one, and the witnesses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pe_spectra.encodings import Dft, Encoding, HasBiasMap, HasExactKey
from pe_spectra.encodings.absolute import OneHot, Ramp
from pe_spectra.encodings.codes import find_exact_key, find_theorem, list_places
from pe_spectra.encodings.combined import Hybrid
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.pairs import Pairs
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.encodings.rotary_variants import Fope
from pe_spectra.encodings.temporal import Sampled
from pe_spectra.exact import I64
from pe_spectra.faithfulness.collisions import Collisions, decide_by_members, find_collisions
from pe_spectra.findings import CODE_PATTERN
from pe_spectra.quantities import Result, quantity

#: Theorems whose proof holds for rational positions as it does for integers.
_RATIONAL = ("irrational-frequency", "irrational-period", "rational-frequency", "monotone")
#: Encodings whose entries are algebraic numbers: binary fractions, roots of unity, fractions.
_ALGEBRAIC = (Learned, Dft, OneHot, Ramp)


@dataclass(frozen=True, kw_only=True)
class Certificate(Result):
    """Why an encoding is, or is not, injective: the kind of theorem and a sentence.

    >>> from pe_spectra import Dft, measure_faithfulness
    >>> measure_faithfulness(Dft(d=8), length=8).certificate.kind
    'period'
    """

    kind: str = quantity("Stable name of the theorem.", pattern=CODE_PATTERN)
    text: str = quantity("The theorem in a sentence.")


#: Whether an encoding is injective, None where no theorem applies; why; and its collisions.
Decision = tuple[bool | None, Certificate, Collisions]


def certify(encoding: Encoding, length: int, limit: int) -> Decision:
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
    places = list_places(encoding, length)
    for decide in _RULES:
        decision = decide(encoding, places, limit)
        if decision is not None:
            return decision
    why = f"no theorem about {encoding.name} is known here"
    if isinstance(encoding, HasBiasMap):
        why = "its bias belongs to a query and a key, so lags have no vector of their own"
    nothing = Collisions(count=0, distinct=None, sharing=0, first=None, examples=())
    return None, Certificate(kind="undecided", text=why), nothing


def certify_distance(distance: float, width: int, error: float | None) -> Certificate:
    """Return what the smallest distance of computed codes proves: that they differ, or nothing.

    Entries may be wrong by `error`; two codes that are equal are then computed no further apart than
    twice that in each of `width` columns. Its kind is "separation", "rounding" where
    the distance is none that can be told from 0, or "undecided".

    >>> [certify_distance(0.5, 4, error).kind for error in (1e-15, 0.2, None)]
    ['separation', 'rounding', 'undecided']
    """
    if error is None:
        text = f"no theorem applies, and how exact its vectors are is not known (closest: {distance:.4g} apart)"
        return Certificate(kind="undecided", text=text)
    bound = 2 * float(np.sqrt(width)) * error
    if not distance > bound:
        text = f"no theorem applies; the closest vectors are {distance:.1g} apart, and rounding could make {bound:.1g}"
        return Certificate(kind="rounding", text=text)
    text = (
        f"all pairs were compared: the closest are {distance:.4g} apart, rounding could make {bound:.1g} of equal ones"
    )
    return Certificate(kind="separation", text=text)


# --------------------------------------------------------------------- rules, in the order in which they are tried


def _decide_by_key(encoding: Encoding, places: I64, limit: int) -> Decision | None:
    """By a theorem about the encoding itself."""
    theorem, key = find_theorem(encoding), find_exact_key(encoding, places)
    if theorem is None or key is None:
        return None
    found = find_collisions(key, limit, places)
    return not found.count, Certificate(kind=theorem.kind, text=theorem.text), found


def _decide_single(encoding: Encoding, places: I64, limit: int) -> Decision | None:
    if len(places) > 1 or encoding.domain != "positions":
        return None
    text = "a single position has none to share its vector with"
    return True, Certificate(kind="single", text=text), find_collisions(places, limit, places)


def _decide_sampled(encoding: Encoding, places: I64, limit: int) -> Decision | None:
    """Float64 positions are rational: w (s - t) is a multiple of 2 pi for none of them but equal ones."""
    if not isinstance(encoding, Sampled):
        return None
    theorem = _find_rational_theorem(encoding.encoding)
    if theorem is not None and _is_constant(encoding.encoding):
        proof = Certificate(kind=theorem.kind, text=theorem.text)
        return len(places) == 1, proof, find_collisions(np.zeros_like(places), limit, places)
    keys = np.unique(encoding.positions[places], return_inverse=True)[1].astype(np.int64)
    found = find_collisions(keys, limit, places)
    if theorem is not None:
        text = f"positions are float64 numbers and so rational; {theorem.text}"
        return not found.count, Certificate(kind=theorem.kind, text=text), found
    if not found.count:
        return None
    text = "equal real positions have equal codes; whether others share theirs is not decided"
    return False, Certificate(kind="equal-positions", text=text), replace(found, distinct=None)


def _find_rational_theorem(encoding: Encoding) -> Theorem | None:
    """The theorem that holds for rational positions as it does for integers, if there is one."""
    theorem = find_theorem(encoding)
    return theorem if theorem is not None and theorem.kind in (*_RATIONAL, "constant") else None


def _is_constant(encoding: Encoding) -> bool:
    """Whether all positions have one code, by a theorem that tells all of them apart otherwise."""
    return isinstance(encoding, HasExactKey) and len(np.unique(encoding.exact_key(np.arange(2)))) == 1


def _decide_sum(encoding: Encoding, places: I64, limit: int) -> Decision | None:
    """Lindemann and Weierstrass: a (sin w s - sin w t) is no algebraic number for algebraic a, w not 0, s not t."""
    if not isinstance(encoding, Hybrid) or encoding.mode != "sum":
        return None
    weighted = zip(encoding.of or (), encoding.weights or (), strict=True)
    members = [member for member, weight in weighted if weight]
    waves = [member for member in members if not isinstance(member, _ALGEBRAIC)]
    if len(waves) != 1 or not isinstance(waves[0], Pairs):
        return None
    theorem = find_theorem(waves[0])
    if theorem is None or theorem.kind not in _RATIONAL:
        return None
    text = (
        f"only {waves[0].name} has sines of algebraic angles; the other members add algebraic numbers, which cannot "
        "make up for a sin(w s) - a sin(w t), s != t"
    )
    return True, Certificate(kind="lindemann-weierstrass", text=text), find_collisions(places, limit, places)


def _decide_mixed_waves(encoding: Encoding, places: I64, limit: int) -> Decision | None:
    """The largest angle of two positions 0, 1, .. is that of the highest frequency at the later one alone."""
    if not isinstance(encoding, Fope):
        return None
    frequencies = encoding.words()[0]
    # base**(-2i/d) falls strictly unless the base rounds to 1
    if not len(frequencies) or (frequencies[1:] >= frequencies[0]).any():
        return None
    if not any(matrix[0].any() for matrix in encoding.mixing()):
        return None
    text = (
        "frequencies are algebraic, and exponentials of distinct algebraic numbers are linearly independent: equal "
        "sums of waves need equal largest angles, and the highest frequency has a factor that is not 0"
    )
    return True, Certificate(kind="lindemann-weierstrass", text=text), find_collisions(places, limit, places)


def _decide_members(encoding: Encoding, places: I64, limit: int) -> Decision | None:
    found = decide_by_members(encoding, places, limit)
    return None if found is None else (found[0], Certificate(kind="members", text=found[1]), found[2])


_RULES: tuple[Callable[[Encoding, I64, int], Decision | None], ...] = (
    _decide_by_key,
    _decide_single,
    _decide_sampled,
    _decide_sum,
    _decide_mixed_waves,
    _decide_members,
)
