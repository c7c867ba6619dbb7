"""The frequencies of one type of layer in A and in B, pair by pair, and the parts that they are made of."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64
from pe_spectra.models.comparison.divergence import Difference, LayerDiff, PairDifference, find_first_position
from pe_spectra.models.comparison.scalings import (
    explain_base,
    explain_scaling,
    fill_options,
    label_scalings,
    name_unit,
    remark_ntk,
)
from pe_spectra.models.dumps.identification import LADDERS
from pe_spectra.models.dumps.inverse_frequencies import Dump
from pe_spectra.models.dumps.rounding import FLOORS
from pe_spectra.models.rotation import Rotation
from pe_spectra.wording import count

#: Relative error of numbers that are exact: a few roundings in float64.
EXACT = 2.0**-50
#: Relative differences from which on a factor is easier to read than a percentage.
_MUCH = 2.0


def compare_frequencies(name: str, a: Rotation, b: Rotation, length: int) -> LayerDiff:
    """Compare the frequencies of one layer type, pair by pair.

    They agree where each differs by no more than the rounding of both sides. Numbers that were rounded
    to bfloat16 or float16 are what a port computes with, so the first position off is found for them
    even where they agree. A pair that one side does not have is not turned there: its frequency is 0.

    >>> a, b = (Rotation(frequencies=np.array([w])) for w in (1.0, 1.5))
    >>> compare_frequencies("all", a, b, 10).first_position_off
    1
    """
    if a.frequencies is None or b.frequencies is None:
        return LayerDiff(name=name, length=length, agree=None)
    pairs = max(len(a.frequencies), len(b.frequencies))
    left, right = _pad(a.frequencies, pairs), _pad(b.frequencies, pairs)
    agree = len(a.frequencies) == len(b.frequencies) and not _find_off(a, b).any()
    matters = not agree or is_rounded(a) != is_rounded(b)
    first = find_first_position(left, right, length) if matters else None
    return LayerDiff(
        name=name,
        length=length,
        agree=agree,
        pairs=tuple(_list_pairs(name, a.frequencies, b.frequencies)),
        max_phase_error=float((length - 1) * np.abs(left - right).max()) if pairs else 0.0,
        first_position_off=first and first[0],
        breaking_pair=first and first[1],
        breaking_error=first and first[2],
    )


def is_rounded(rotation: Rotation) -> str | None:
    """Return the coarse type that frequencies themselves were rounded to; None where to none.

    >>> from pe_spectra.models.dumps.inverse_frequencies import Dump
    >>> is_rounded(Dump(kind="frequencies", frequency_dtype="bfloat16")), is_rounded(Rotation())
    ('bfloat16', None)
    """
    return rotation.frequency_dtype if isinstance(rotation, Dump) else None


def _pad(values: F64, pairs: int) -> F64:
    """Add zeros up to a number of pairs."""
    padded: F64 = np.pad(values, (0, pairs - len(values)))
    return padded


def _find_off(a: Rotation, b: Rotation) -> NDArray[np.bool_]:
    """Tell which of the pairs that both sides have differ by more than the rounding of both."""
    if a.frequencies is None or b.frequencies is None:
        return np.zeros(0, dtype=bool)
    both = min(len(a.frequencies), len(b.frequencies))
    allowed = _list_errors(a, both) + _list_errors(b, both)
    off: NDArray[np.bool_] = np.abs(a.frequencies[:both] - b.frequencies[:both]) > allowed
    return off


def _list_errors(rotation: Rotation, pairs: int) -> F64:
    """Largest absolute error of each of the first frequencies, in rad/position."""
    frequencies = rotation.frequencies
    if frequencies is None:
        return np.zeros(pairs)
    bounds: F64 | float = max(rotation.error_bound, EXACT)
    floor = 0.0
    if isinstance(rotation, Dump) and rotation.error_bounds is not None:
        bounds = np.maximum(rotation.error_bounds[:pairs], EXACT)
        floor = FLOORS.get(rotation.dtype or "", 0.0) if rotation.kind == "frequencies" else 0.0
    errors: F64 = bounds * np.abs(frequencies[:pairs]) + floor
    return errors


def _list_pairs(name: str, a: F64, b: F64) -> Iterator[PairDifference]:
    for pair in range(max(len(a), len(b))):
        one = float(a[pair]) if pair < len(a) else None
        other = float(b[pair]) if pair < len(b) else None
        ratio = other / one if one and other is not None else math.inf
        # what hardly turns in A has no ratio that is a number
        shown = ratio if math.isfinite(ratio) else None
        yield PairDifference(layer=name, pair=pair, frequency_a=one, frequency_b=other, ratio=shown)


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Two rotations of one layer type, how their frequencies compare, and the keys that their bases come from.

    >>> a, b = (Rotation(frequencies=np.array([w])) for w in (1.0, 1.5))
    >>> sides = Sides(a=a, b=b, layer=compare_frequencies("all", a, b, 10))
    >>> [one.effect for one in list_frequency_differences(sides)]
    ['1 of 1 pairs differs, by up to 50 % (pair 0)']
    """

    a: Rotation
    b: Rotation
    layer: LayerDiff
    base_keys: tuple[str, str] = ("", "")

    def make(self, what: str, a: object, b: object, effect: str, first: int | None = None) -> Difference:
        """Make the difference in one part of this layer type."""
        return Difference(what=what, a=a, b=b, effect=effect, first_position=first, layers=(self.layer.name,))

    @property
    def share_pairs(self) -> bool:
        """Whether one side turns fewer pairs, and those as the other does: whatever their bases are called."""
        widths = {self.a.rotary_dim or 0, self.b.rotary_dim or 0}
        return len(widths) == 2 and 0 not in widths and not _find_off(self.a, self.b).any()

    @property
    def have_one_base(self) -> bool:
        """Whether both bases are one number within the rounding of both sides."""
        one, other = self.a.base or 0.0, self.b.base or 0.0
        allowed = sum(4 * max(side.error_bound, EXACT) for side in (self.a, self.b))
        return abs(one - other) <= allowed * max(one, other)


def list_frequency_differences(sides: Sides) -> Iterator[Difference]:
    """List the parts that frequencies are made of and that differ: base, scaling, width, or the numbers themselves.

    >>> same = Rotation(frequencies=np.array([1.0]))
    >>> list(list_frequency_differences(Sides(a=same, b=same, layer=compare_frequencies("all", same, same, 10))))
    []
    """
    a, b, first = sides.a, sides.b, sides.layer.first_position_off
    found = False
    if not sides.layer.agree and not sides.share_pairs:
        if a.base is not None and b.base is not None and not sides.have_one_base:
            found = True
            unit = "" if b.scaling and a.scaling else name_unit(a, b)
            yield sides.make("base", a.base, b.base, f"{explain_base(a, b, sides.base_keys)}{unit}", first)
        if a.scaling and b.scaling and fill_options(a) != fill_options(b) and (a.rotary_dim and b.rotary_dim):
            found = True
            labels = label_scalings(a, b)
            effect = f"{explain_scaling(a, b)}{name_unit(a, b)}"
            yield sides.make("scaling", labels[0], labels[1], effect, first)
    if a.rotary_dim is not None and b.rotary_dim is not None and a.rotary_dim != b.rotary_dim:
        found = True
        yield sides.make("rotary_dim", a.rotary_dim, b.rotary_dim, _explain_rotary_width(a, b), first)
    if sides.layer.agree is False and not found:
        effect = _explain_frequencies(a, b, sides.layer.pairs, _find_off(a, b))
        yield sides.make("frequencies", None, None, f"{effect}{name_unit(a, b)}", first)


def list_remarks(sides: Sides) -> Iterator[str]:
    """List what is written differently and means the same.

    >>> same = Rotation(frequencies=np.array([1.0]))
    >>> list(list_remarks(Sides(a=same, b=same, layer=compare_frequencies("all", same, same, 10))))
    []
    """
    a, b = sides.a, sides.b
    if sides.layer.agree and a.scaling and b.scaling and a.base and b.base:
        written = [
            f"base {side.base:.10g}" + (f" with {label}" if label != "none" else "")
            for side, label in zip((a, b), label_scalings(a, b), strict=True)
        ]
        if a.scaling != b.scaling or not sides.have_one_base:
            yield f"{written[0]} (A) and {written[1]} (B) give the same frequencies"
    if sides.layer.agree is False and sides.share_pairs:
        yield _remark_shared(a, b)
    elif a.base and b.base and not sides.have_one_base:
        raised, other = (a, b) if a.base > b.base else (b, a)
        # what is stated is no guess
        if not sides.layer.agree and isinstance(raised, Dump) and raised.scaling in LADDERS:
            yield remark_ntk("A" if raised is a else "B", raised, other.base or 0.0)


def _explain_frequencies(
    a: Rotation, b: Rotation, pairs: tuple[PairDifference, ...], differs: NDArray[np.bool_]
) -> str:
    """Say how many pairs differ by more than rounding and by how much, where the ladder is not to blame."""
    off = [one for one in pairs if differs[one.pair]]
    largest, pair = max(((abs(one.ratio - 1), one.pair) for one in off if one.ratio is not None), default=(0.0, 0))
    rounded = [
        f"; those of {letter} were rounded to {side.frequency_dtype}"
        for letter, side in (("A", a), ("B", b))
        if isinstance(side, Dump) and side.frequency_dtype
    ]
    # of a pair that is not turned in A there is no ratio
    size = f"up to {100 * largest:.3g} %" if largest < _MUCH else f"a factor of up to {1 + largest:.3g}"
    by = f", by {size} (pair {pair})" if largest else ""
    verb = "differs" if len(off) == 1 else "differ"
    return f"{len(off)} of {len(pairs)} pairs {verb}{by}{''.join(rounded)}"


def _explain_rotary_width(a: Rotation, b: Rotation) -> str:
    """Say how many pairs are turned on one side only."""
    one, other = a.rotary_dim or 0, b.rotary_dim or 0
    more = "A" if one > other else "B"
    if min(one, other) == 0:
        return f"only {more} turns queries and keys, {max(one, other)} channels of each head"
    wider = a if more == "A" else b
    more_pairs = abs(one - other) // 2
    if wider.frequencies is None:
        return f"{2 * more_pairs} channels of each head are turned in {more} only"
    turned = int(np.count_nonzero(wider.frequencies[min(one, other) // 2 :]))
    if turned == 0:
        return f"{more} has {count(more_pairs, 'pair')} more, whose frequency is 0: they are not turned"
    verb = "is" if turned == 1 else "are"
    return f"{count(turned, 'pair')}, {2 * turned} channels of each head, {verb} turned in {more} only"


def _remark_shared(a: Rotation, b: Rotation) -> str:
    """Say that the pairs that both sides turn have the same frequencies, and why their bases are others."""
    shared = min(a.rotary_dim or 0, b.rotary_dim or 0) // 2
    which = "pair in common has" if shared == 1 else f"{shared} pairs in common have"
    start = f"the {which} the same frequencies"
    if shared == 1 or not a.base or not b.base or abs(a.base / b.base - 1) < 1e-3:
        return start
    bases = [f"base {side.base:.10g} over {side.rotary_dim} channels in {one}" for one, side in (("A", a), ("B", b))]
    return f"{start}: {bases[0]} and {bases[1]} are the same for them"
