"""Definition 1: are all positions distinguished? A theorem where there is one, and the witnesses.

Equality is decided by integers that stand for codes; computed floats are never compared. A position may be a
moment, a place on a grid or a path in a tree: the key of an encoding knows which of these share a code, and its
words (`describe_position`) name them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.encodings import Encoding, HasBiasMap
from pe_spectra.encodings.codes import find_exact_key, is_sampled
from pe_spectra.encodings.pairs import Pairs
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.exact import I64
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.limits import MAX_DIRECT_WORK
from pe_spectra.quantities import LIST_OF_TEXTS, Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import CODE_PATTERN

if TYPE_CHECKING:
    from pe_spectra.encodings.sampled import Sampled

#: Theorems whose proof holds for rational positions as it does for integers.
_RATIONAL = ("irrational-frequency", "irrational-period", "rational-frequency", "monotone")


@dataclass(frozen=True, kw_only=True)
class Collisions(Result):
    """Pairs of positions with the same vector: how many in all, the first, and as many as were asked for.

    >>> from pe_spectra import Dft, measure_faithfulness
    >>> found = measure_faithfulness(Dft(d=4), length=6).collisions
    >>> found.count, found.distinct, found.sharing, found.first
    (2, 4, 4, (0, 4))
    """

    count: int = quantity("Number of all such pairs; at least so many where `distinct` is null.", minimum=0)
    distinct: int | None = quantity("How many different vectors there are; null where it is not known.", minimum=0)
    sharing: int = quantity("How many positions, or lags, have their vector in common with another.", minimum=0)
    largest: int | None = quantity(
        "How many positions, or lags, have the vector that most of them share; null where vectors are not known.",
        default=None,
        minimum=1,
    )
    examples: tuple[tuple[int, int], ...] = quantity("Some of them, as [s, t].")
    named: tuple[str, ...] = quantity(
        "The same examples, so that a person can read them.", default=(), schema=LIST_OF_TEXTS
    )
    #: The first pair in order, and the one that the fewest positions have; None where there is none.
    first: tuple[int, int] | None
    earliest: tuple[int, int] | None = None


def describe_pair(encoding: Encoding, pair: tuple[int, int], between: str = " = ") -> str:
    """Write two positions, or lags, so that a person can read them.

    >>> from pe_spectra.encodings.calendar import Calendar
    >>> describe_pair(Calendar(), (0, 73))
    'Fri 2016-07-01 00:00 = Mon 2016-07-04 01:00'
    """
    if encoding.domain == "lags":
        return f"lag {pair[0]}{between}lag {pair[1]}"
    return between.join(encoding.describe_position(s) for s in pair)


def _find_collisions(keys: I64, limit: int, places: I64 | None = None) -> Collisions:
    """Count the pairs of equal keys at `places` (default 0, 1, ..); name the first `limit`, each with the next."""
    if int(keys.max()) - int(keys.min()) < 1 << 16:  # which NumPy sorts by their digits, in a fifth of the time
        keys = (keys - keys.min()).astype(np.uint16)
    order = np.argsort(keys, kind="stable")
    differ = np.concatenate([[True], np.diff(keys[order]) != 0, [True]])
    sizes, same = np.diff(np.flatnonzero(differ)), np.flatnonzero(~differ[1:-1])
    following = np.full(len(keys), -1)
    following[order[same]] = order[same + 1]
    one, other = np.flatnonzero(following >= 0), following[following >= 0]
    if places is not None:  # small positive places are first, and the order among pairs stays
        one, other = np.minimum(places[one], places[other]), np.maximum(places[one], places[other])
    named = tuple(zip(one[: max(limit, 1)].tolist(), other[: max(limit, 1)].tolist(), strict=True))
    earliest = int(np.argmin(np.maximum(-one, other))) if len(one) else 0
    return Collisions(
        count=int(np.sum(sizes * (sizes - 1) // 2)),
        distinct=len(sizes),
        sharing=int(np.sum(sizes[sizes > 1])),
        first=named[0] if named else None,
        earliest=(int(one[earliest]), int(other[earliest])) if named else None,
        examples=named[:limit],
        largest=int(sizes.max()),
    )


# --------------------------------------------------------------------- the theorem


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


def certify(table: CodeTable, limit: int) -> Decision:
    """Decide whether the codes of a table are all different.

    Returns
    -------
    injective (None when no theorem applies), the certificate, and the collisions: all of them
    counted, the first `limit` named, each position with the next one that shares its code.

    >>> from pe_spectra import Dft
    >>> injective, certificate, collisions = certify(CodeTable(Dft(d=8), 10), 5)
    >>> injective, collisions.examples
    (False, ((0, 8), (1, 9)))
    """
    for decide in _RULES:
        decision = decide(table, limit)
        if decision is not None:
            return decision
    why = f"no theorem about {table.encoding.name} is known here"
    if isinstance(table.encoding, HasBiasMap):
        why = "its bias belongs to a query and a key, so lags have no vector of their own"
    nothing = Collisions(count=0, distinct=None, sharing=0, first=None, examples=())
    return None, Certificate(kind="undecided", text=why), nothing


def certify_distance(distance: float, bound: float | None) -> Certificate:
    """Say what a smallest distance proves, where two equal codes may be computed as far apart as `bound`.

    >>> certify_distance(0.5, 1e-12).kind, certify_distance(0.5, None).kind
    ('separation', 'undecided')
    """
    if bound is None:
        text = f"no theorem applies, and how exact its vectors are is not known (closest: {distance:.4g} apart)"
        return Certificate(kind="undecided", text=text)
    if not distance > bound:
        text = f"no theorem applies; the closest vectors are {distance:.1g} apart, and rounding could make {bound:.1g}"
        return Certificate(kind="rounding", text=text)
    text = f"all pairs were compared: the closest are {distance:.4g} apart"
    return Certificate(kind="separation", text=f"{text}, rounding could make {bound:.1g} of equal ones")


# --------------------------------------------------------------------- rules, in the order in which they are tried


def _decide_by_key(table: CodeTable, limit: int) -> Decision | None:
    """By a theorem about the encoding itself."""
    theorem, key = table.encoding.theorem, find_exact_key(table.encoding, table.places)
    if theorem is None or key is None:
        return None
    found = _find_collisions(key, limit, table.places)
    return not found.count, Certificate(kind=theorem.kind, text=theorem.text), found


def _decide_single(table: CodeTable, limit: int) -> Decision | None:
    if len(table.places) > 1 or table.encoding.domain != "positions":
        return None
    text = "a single position has none to share its vector with"
    return True, Certificate(kind="single", text=text), _find_collisions(table.places, limit)


def _decide_sampled(table: CodeTable, limit: int) -> Decision | None:
    """Float64 positions are rational: w (s - t) is a multiple of 2 pi for none of them but equal ones.

    Whole positions are decided as the encoding itself decides them, where no such theorem does.
    """
    encoding, places = table.encoding, table.places
    if not is_sampled(encoding):
        return None
    theorem, own = _find_rational_theorem(encoding.encoding), encoding.encoding.theorem
    key = None if encoding.integers is None else find_exact_key(encoding.encoding, encoding.integers[places])
    if theorem is None and own is not None and key is not None:
        found = _find_collisions(key, limit, places)
        return not found.count, Certificate(kind=own.kind, text=own.text), found
    if theorem is not None and _is_constant(encoding.encoding):
        proof = Certificate(kind=theorem.kind, text=theorem.text)
        return len(places) == 1, proof, _find_collisions(np.zeros_like(places), limit, places)
    keys = np.unique(encoding.positions[places], return_inverse=True)[1].astype(np.int64)
    found = _find_collisions(keys, limit, places)
    if theorem is not None:
        text = f"positions are float64 numbers and so rational; {theorem.text}"
        return not found.count, Certificate(kind=theorem.kind, text=text), found
    if not found.count:
        return None
    text = "equal real positions have equal vectors; whether others share theirs is not decided"
    return False, Certificate(kind="equal-positions", text=text), replace(found, distinct=None)


def find_rational_key(encoding: Sampled) -> I64 | None:
    """Return integers, (S,), that are equal exactly where codes at real positions are, by a theorem; None without one.

    >>> from pe_spectra import GivenArray, Sinusoidal
    >>> from pe_spectra.encodings.sampled import Sampled
    >>> find_rational_key(Sampled(encoding=Sinusoidal(d=4), times=GivenArray(np.array([0.5, 2.5, 0.5])))).tolist()
    [0, 1, 0]
    """
    if encoding.integers is not None:
        return find_exact_key(encoding.encoding, encoding.integers)
    if _find_rational_theorem(encoding.encoding) is None:
        return None
    keys = np.unique(encoding.positions, return_inverse=True)[1].astype(np.int64)
    return np.zeros_like(keys) if _is_constant(encoding.encoding) else keys


def _find_rational_theorem(encoding: Encoding) -> Theorem | None:
    """The theorem that holds for rational positions as it does for integers, if there is one."""
    theorem = encoding.theorem
    return theorem if theorem is not None and theorem.kind in (*_RATIONAL, "constant") else None


def _is_constant(encoding: Encoding) -> bool:
    """Whether all positions have one code, by a theorem that tells all of them apart otherwise."""
    return len(np.unique(encoding.exact_key(np.arange(2)))) == 1


def _decide_sum(table: CodeTable, limit: int) -> Decision | None:
    """Lindemann and Weierstrass: a (sin w s - sin w t) is no algebraic number for algebraic a, w not 0, s not t."""
    from pe_spectra.encodings.combined import Hybrid

    encoding, places = table.encoding, table.places
    if not isinstance(encoding, Hybrid) or encoding.mode != "sum":
        return None
    weighted = zip(encoding.of or (), encoding.weights or (), strict=True)
    waves = [member for member, weight in weighted if weight and not member.is_algebraic]
    # frequencies of a scaled rotary encoding may be polynomials in 1/pi
    if len(waves) != 1 or not isinstance(waves[0], Pairs) or waves[0].family == "rotary":
        return None
    theorem = waves[0].theorem
    if theorem is None or theorem.kind not in _RATIONAL:
        return None
    text = (
        f"only {waves[0].name} has sines of algebraic angles; the other members add algebraic numbers, which cannot "
        "make up for a sin(w s) - a sin(w t), s != t"
    )
    return True, Certificate(kind="lindemann-weierstrass", text=text), _find_collisions(places, limit, places)


def _decide_mixed_waves(table: CodeTable, limit: int) -> Decision | None:
    """The largest angle of two positions 0, 1, .. is that of the highest frequency at the later one alone."""
    encoding, places = table.encoding, table.places
    if encoding.family != "rotary":
        return None
    from pe_spectra.encodings.rotary_variants import Fope

    if not isinstance(encoding, Fope):
        return None
    frequencies = encoding.words()[0]
    # base**(-2i/d) falls strictly unless the base rounds to 1
    if not len(frequencies) or (frequencies[1:] >= frequencies[0]).any():
        return None
    if not any(matrix[0].any() for matrix in encoding.mixing):
        return None
    text = (
        "frequencies are algebraic, and exponentials of distinct algebraic numbers are linearly independent: equal "
        "sums of waves need equal largest angles, and the highest frequency has a factor that is not 0"
    )
    return True, Certificate(kind="lindemann-weierstrass", text=text), _find_collisions(places, limit, places)


def _decide_members(table: CodeTable, limit: int) -> Decision | None:
    """Of a hybrid by its members.

    Where members that repeat together prove collisions, and it is not proved that nothing else collides, the
    remaining codes are compared: `distinct` is None, and `count` a lower bound, if their distances are rounding.
    """
    from pe_spectra.faithfulness.code_keys import find_keys

    keys = find_keys(table.encoding, table.places)
    if keys.splitting is not None:
        found = _find_collisions(keys.splitting, limit, table.places)
        if not found.count:
            text = "members that stand by themselves in its vector distinguish all positions"
            return True, Certificate(kind="members", text=text), found
    if keys.merging is None:
        return None
    found = _find_collisions(keys.merging, limit, table.places)
    if not found.count:
        return None
    text = "where all of its members repeat, so does their sum, concatenation or mix"
    if not keys.are_exact and not _distinguishes(table, keys.merging):
        text += "; there may be more pairs, for the other vectors are too close or too many to be distinguished"
        found = replace(found, distinct=None)
    return False, Certificate(kind="members", text=text), found


def _distinguishes(table: CodeTable, merging: I64) -> bool:
    """Whether places with different merging keys are proved to have different codes."""
    _, first = np.unique(merging, return_index=True)
    if len(first) == 1:
        return True
    if len(first) ** 2 * table.columns > MAX_DIRECT_WORK or table.codes is None or table.distance_error is None:
        return False
    distance = find_closest_pair(table.codes[first]).distance
    return distance is not None and distance > table.distance_error


_RULES: tuple[Callable[[CodeTable, int], Decision | None], ...] = (
    _decide_by_key,
    _decide_single,
    _decide_sampled,
    _decide_sum,
    _decide_mixed_waves,
    _decide_members,
)
