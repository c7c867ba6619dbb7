"""What theorems about encodings say of those made from them: at real positions, in sums, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pe_spectra.encodings import Dft, Encoding, HasExactKey
from pe_spectra.encodings.absolute import OneHot, Ramp
from pe_spectra.encodings.codes import find_theorem
from pe_spectra.encodings.combined import Hybrid
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.pairs import Pairs
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.encodings.rotary_variants import Fope
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.exact import I64
from pe_spectra.faithfulness.collisions import Collisions, decide_by_members, find_collisions

#: Theorems whose proof holds for rational positions as it does for integers.
_RATIONAL = ("irrational-frequency", "irrational-period", "rational-frequency", "monotone")
#: Encodings whose entries are algebraic numbers: binary fractions, roots of unity, fractions.
_ALGEBRAIC = (Learned, Dft, OneHot, Ramp)

#: Whether an encoding is injective, why, and its collisions.
Decision = tuple[bool, Theorem, Collisions]


def decide_derived(encoding: Encoding, places: I64, limit: int) -> Decision | None:
    """Decide an encoding that is made from others; None where no theorem about those decides it.

    >>> from pe_spectra import Sinusoidal
    >>> injective, theorem, _ = decide_derived(Sinusoidal(d=8), np.arange(4), 5)
    >>> injective, theorem.kind
    (True, 'members')
    """
    for decide in _RULES:
        decision = decide(encoding, places, limit)
        if decision is not None:
            return decision
    return None


def _decide_sampled(encoding: Encoding, places: I64, limit: int) -> Decision | None:
    """Float64 positions are rational: w (s - t) is a multiple of 2 pi for none of them but equal ones."""
    if not isinstance(encoding, Sampled):
        return None
    theorem = _find_rational_theorem(encoding.encoding)
    if theorem is not None and _is_constant(encoding.encoding):
        return len(places) == 1, theorem, find_collisions(np.zeros_like(places), limit, places)
    keys = np.unique(encoding.positions[places], return_inverse=True)[1].astype(np.int64)
    found = find_collisions(keys, limit, places)
    if theorem is not None:
        text = f"positions are float64 numbers and so rational; {theorem.text}"
        return not found.count, Theorem(kind=theorem.kind, text=text), found
    if not found.count:
        return None
    text = "equal real positions have equal codes; whether others share theirs is not decided"
    return False, Theorem(kind="equal-positions", text=text), replace(found, distinct=None)


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
    return True, Theorem(kind="lindemann-weierstrass", text=text), find_collisions(places, limit, places)


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
    return True, Theorem(kind="lindemann-weierstrass", text=text), find_collisions(places, limit, places)


def _decide_members(encoding: Encoding, places: I64, limit: int) -> Decision | None:
    found = decide_by_members(encoding, places, limit)
    return None if found is None else (found.injective, Theorem(kind="members", text=found.text), found.collisions)


_RULES: tuple[Callable[[Encoding, I64, int], Decision | None], ...] = (
    _decide_sampled,
    _decide_sum,
    _decide_mixed_waves,
    _decide_members,
)
