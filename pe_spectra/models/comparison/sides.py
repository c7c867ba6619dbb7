"""How the frequencies of two sides differ, in words: base, scaling, width, or the numbers themselves.

Sentences with their numbers, without a full stop.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rope_scaling import BLENDS, SCALINGS
from pe_spectra.exact import EXACT, F64
from pe_spectra.models.comparison.causes import find_cause, label_scaling, show
from pe_spectra.models.comparison.divergence import ROUNDED, ROUNDED_CODE, Cause, Difference, LayerDiff, find_off
from pe_spectra.models.rotation import Rotation, is_dump
from pe_spectra.models.stated.statement import DEFAULT_BASE
from pe_spectra.numbers import find_shortest
from pe_spectra.records import dataclass
from pe_spectra.wording import count

if TYPE_CHECKING:
    from pe_spectra.models.dumps.dump import Dump

#: Relative differences from which on a factor is easier to read than a percentage.
_MUCH = 2.0
#: Bases that models are trained with: what an NTK scaling may have started from.
_USUAL_BASES = (DEFAULT_BASE, 500_000.0, 1_000_000.0)
#: Wavelengths below this are written with all their digits.
_LONGEST_WRITTEN = 1e15


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Two rotations of one layer type, and how their frequencies compare.

    >>> from pe_spectra.models.comparison.divergence import compare_frequencies
    >>> a, b = (Rotation(frequencies=np.array([w])) for w in (1.0, 1.5))
    >>> sides = Sides(a=a, b=b, layer=compare_frequencies("all", a, b, 10))
    >>> [one.effect for one in sides.list_frequency_differences()]
    ['1 of 1 pairs differs, by up to 50 % (pair 0)']
    """

    a: Rotation
    b: Rotation
    layer: LayerDiff

    @property
    def dumps(self) -> dict[str, Dump]:
        """What was found from arrays, by the letter of the side."""
        return {letter: side for letter, side in (("A", self.a), ("B", self.b)) if is_dump(side)}

    @property
    def caches(self) -> tuple[Dump, ...]:
        """Both sides where both are cosines and sines; else nothing."""
        found = tuple(dump for dump in self.dumps.values() if dump.kind == "cache")
        return found if len(found) == 2 else ()

    @property
    def share_pairs(self) -> bool:
        """Whether one side turns fewer pairs, and those as the other does: whatever their bases are called."""
        widths = {self.a.rotary_dim or 0, self.b.rotary_dim or 0}
        return len(widths) == 2 and 0 not in widths and not find_off(self.a, self.b).any()

    @property
    def have_one_base(self) -> bool:
        """Whether both bases are one number within the rounding of both sides."""
        one, other = self.a.base or 0.0, self.b.base or 0.0
        allowed = sum(4 * max(side.error_bound, EXACT) for side in (self.a, self.b))
        return abs(one - other) <= allowed * max(one, other)

    @property
    def rounded(self) -> tuple[str, str] | None:
        """The side, by its letter, and the type that its frequencies alone were rounded to, where they agree else."""
        kinds = {letter: dump.frequency_dtype for letter, dump in self.dumps.items() if dump.frequency_dtype}
        if not self.layer.agree or not kinds or (len(kinds) == 2 and kinds["A"] == kinds["B"]):
            return None
        return next(iter(kinds.items()))

    def make(self, what: str, a: object, b: object, effect: str, first: int | None = None) -> Difference:
        """Make the difference in one part of this layer type."""
        return Difference(what=what, a=a, b=b, effect=effect, first_position=first, layers=(self.layer.name,))

    def list_frequency_differences(self) -> Iterator[Difference]:
        """List the parts of the frequencies that differ: base, scaling, width, or the numbers themselves."""
        a, b, first = self.a, self.b, self.layer.first_position_off
        found = False
        if not self.layer.agree and not self.share_pairs:
            if a.base is not None and b.base is not None and not self.have_one_base:
                found = True
                yield self.make("base", a.base, b.base, _explain_base(a, b), first)
            by_width = a.scaling == b.scaling == "none" and a.rotary_dim != b.rotary_dim  # another share of a head
            is_other = a.scaling and b.scaling and _fill_options(a) != _fill_options(b) and not by_width
            if is_other and a.rotary_dim and b.rotary_dim:
                found = True
                yield self.make("scaling", *_label_scalings(a, b), _explain_scaling(a, b), first)
        if a.rotary_dim is not None and b.rotary_dim is not None and a.rotary_dim != b.rotary_dim:
            found = True
            yield self.make("rotary_dim", a.rotary_dim, b.rotary_dim, _explain_rotary_width(a, b), first)
        if self.layer.agree is False and not found:
            pairs, breaking = self.layer.pairs, self.layer.breaking_pair
            off = [abs((pair.frequency_a or 0.0) - (pair.frequency_b or 0.0)) for pair in pairs]
            worst = pairs[off.index(max(off)) if breaking is None else breaking]
            one, other = ({"pair": worst.pair, "frequency": w} for w in (worst.frequency_a, worst.frequency_b))
            yield self.make("frequencies", one, other, _explain_frequencies(self), first)

    def find_cause(self) -> Cause | None:
        """Name the way in which the frequencies of one side were made from the other's, or which part is another."""
        if self.rounded:
            text = ROUNDED.format(there=self.rounded[0], dtype=self.rounded[1])
            return Cause(code=ROUNDED_CODE, text=text, layers=(self.layer.name,))
        if self.layer.agree is not False or self.share_pairs:
            return None
        known = find_cause(self.a, self.b, self.layer.name)
        if known is not None:
            return known
        stated = [one for one in self.list_frequency_differences() if one.what in ("base", "scaling")]
        if not stated:
            return None
        parts = (f"another {one.what} ({show(one.a)} in A, {show(one.b)} in B)" for one in stated)
        return Cause(code=f"other-{stated[0].what}", text=" and ".join(parts), layers=stated[0].layers)

    def list_remarks(self) -> Iterator[str]:
        """List what is written differently and means the same."""
        a, b = self.a, self.b
        if self.layer.agree and a.scaling and b.scaling and a.base and b.base:
            written = [
                f"base {side.base:.10g}" + (f" with {label}" if label != "none" else "")
                for side, label in zip((a, b), _label_scalings(a, b), strict=True)
            ]
            if a.scaling != b.scaling or not self.have_one_base:
                names = (dump.frequency_dtype or dump.dtype or "" for dump in self.dumps.values())
                from pe_spectra.models.dumps.storing import ROUNDOFF

                coarsest = max(names, key=lambda name: ROUNDOFF.get(name, 0.0), default="")
                rounds = ROUNDOFF.get(coarsest, 0.0) > ROUNDOFF["float32"]
                same = f"are the same within the rounding of {coarsest}" if rounds else "give the same frequencies"
                yield f"{written[0]} (A) and {written[1]} (B) {same}"
        if self.layer.agree is False and self.share_pairs:
            yield _remark_shared(a, b)
        elif a.base and b.base and not self.have_one_base:
            raised, other = (a, b) if a.base > b.base else (b, a)
            # what is stated is no guess
            if not self.layer.agree and is_dump(raised) and _is_ladder(raised):
                yield _remark_ntk("A" if raised is a else "B", raised, other.base or 0.0)


def _is_ladder(dump: Dump) -> bool:
    from pe_spectra.models.dumps.identification import LADDERS

    return dump.scaling in LADDERS


def _explain_frequencies(sides: Sides) -> str:
    """Say how many pairs differ by more than rounding and by how much, where the ladder is not to blame."""
    pairs = sides.layer.pairs
    off = [one for one, differs in zip(pairs, find_off(sides.a, sides.b), strict=False) if differs]
    # of a pair that is not turned in A there is no ratio, and of one that is not in B no factor
    ratios = [(one.ratio, one.pair) for one in off if one.ratio is not None]
    largest, pair = max(((abs(ratio - 1), pair) for ratio, pair in ratios), default=(0.0, 0))
    size = f"up to {100 * largest:.3g} %"
    if largest >= _MUCH:
        factor, pair = max((max(ratio, 1 / ratio), pair) for ratio, pair in ratios if ratio)
        size = f"a factor of up to {factor:.3g}"
    rounded = [
        f"; those of {letter} were rounded to {dump.frequency_dtype}"
        for letter, dump in sides.dumps.items()
        if dump.frequency_dtype
    ]
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
        halves = [f"(i, i + {side.rotary_dim // 2}) in {one}" for one, side in (("A", a), ("B", b)) if side.rotary_dim]
        paired = f"; where pairs are in halves, {' is '.join(halves)}" if len(halves) == 2 else ""
        return f"{more} has {count(more_pairs, 'pair')} more, whose frequency is 0: they are not turned{paired}"
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


def _explain_base(a: Rotation, b: Rotation) -> str:
    """Say which side states no base and has the default, or how far the slowest wavelengths are apart."""
    sides = (("A", a), ("B", b))
    for (letter, side), (other, kept) in (sides, sides[::-1]):
        if side.base == DEFAULT_BASE and kept.base != DEFAULT_BASE and not side.base_key:
            where = f"keeps its base in {kept.base_key}" if kept.base_key else "has its own"
            # of a dump it is not known where its base came from
            how = "has the default base" if side.base_key is None else "fell back to the default"
            return f"{letter} {how}; {other} {where}"
    keys = f"read from {a.base_key} in A and {b.base_key} in B: " if a.base_key and b.base_key else ""
    return f"{keys if a.base_key != b.base_key else ''}{_state_slowest(a, b)}"


def _state_slowest(a: Rotation, b: Rotation) -> str:
    slowest = [_measure_slowest(side) for side in (a, b)]
    if None in slowest:
        return f"every pair but the first has another frequency: base {a.base:.10g} in A, {b.base:.10g} in B"
    shown = [f"{one:,.0f}" if one < _LONGEST_WRITTEN else f"{one:.3g}" for one in slowest if one is not None]
    return f"the slowest pair takes {shown[0]} positions for a period in A and {shown[1]} in B"


def _explain_scaling(a: Rotation, b: Rotation) -> str:
    """Say what the scaling of each side does to its ladder."""
    parts = {
        letter: _describe_scaling(side) for letter, side in (("A", a), ("B", b)) if side.scaling not in (None, "none")
    }
    if len(parts) == 2 and parts["A"] == parts["B"]:
        return f"{parts['A']} in A and in B{_measure_apart(a, b)}"
    return "; ".join(f"{what} in {letter}" for letter, what in parts.items()) or "the scalings differ"


def _measure_apart(a: Rotation, b: Rotation) -> str:
    """Say how far two scalings are apart that keep and divide as many pairs."""
    one, other = _measure_divisors(a), _measure_divisors(b)
    if one is None or other is None or len(one) != len(other):
        return ""
    turned = np.isfinite(one) & np.isfinite(other)
    ratios = np.divide(one, other, out=np.ones_like(one), where=turned)
    largest, pair = max((abs(float(ratio) - 1), index) for index, ratio in enumerate(ratios))
    which = "the blended pairs" if a.scaling in BLENDS else "they"
    return f", but {which} differ by up to {100 * largest:.3g} % (pair {pair})" if largest else ""


def _remark_ntk(letter: str, dump: Dump, base: float) -> str:
    """Say that a raised base may be NTK scaling: of the base of the other side, or of one that is usual."""
    pairs, found = len(dump.frequencies), dump.base or 0.0
    for start in dict.fromkeys((base, *_USUAL_BASES)):
        if found <= start or pairs < 2:
            continue
        # b' = b s**(D/(D - 2)), D = 2P
        factor = (found / start) ** ((pairs - 1) / pairs)
        short = find_shortest(factor * (1 - 4 * dump.error_bound), factor * (1 + 4 * dump.error_bound))
        if float(f"{short:.2e}") == short:
            return f"base {found:g} of {letter} is also what NTK scaling makes of base {start:g} with factor {short:g}"
    return f"NTK scaling gives a ladder of the same form as that of {letter}: it cannot be told from a raised base"


def _label_scalings(a: Rotation, b: Rotation) -> tuple[str | None, str | None]:
    """Name both scalings with their factor; with all options that differ where that tells no difference."""
    label, options = label_scaling(a), (_fill_options(a)[1], _fill_options(b)[1])
    keys = [key for key in {**options[0], **options[1]} if options[0].get(key) != options[1].get(key)]
    if label is None or label != label_scaling(b) or not keys:
        return label, label_scaling(b)
    one, other = (", ".join(f"{key} {show(side.get(key))}" for key in keys) for side in options)
    return f"{label} ({one})", f"{label} ({other})"


def _fill_options(rotation: Rotation) -> tuple[str | None, dict[str, object]]:
    """Return the scaling and its options, with the defaults of those that are not set, in one spelling."""
    scaling = SCALINGS.get(rotation.scaling or "")
    found = dict(scaling.defaults) if scaling else {}
    found |= {key: value for key, value in rotation.options.items() if value is not None}
    if rotation.scaling != "proportional":
        found.pop("share", None)  # of a head: how many channels are turned is a part of its own
    spelled = {"yes": True, "no": False}
    return rotation.scaling, {
        key: spelled.get(value, value) if isinstance(value, str) else value for key, value in found.items()
    }


def _measure_slowest(rotation: Rotation) -> float | None:
    if not rotation.listed.any():
        return None
    wavelength = 2 * math.pi / float(rotation.listed[rotation.listed > 0].min())
    return wavelength if math.isfinite(wavelength) else None


def _describe_scaling(rotation: Rotation) -> str:
    """Say what became of the pairs of a ladder."""
    divisors = _measure_divisors(rotation)
    if divisors is None:
        return f"{rotation.scaling} is used"
    still = ~np.isfinite(divisors)
    if still.any():
        return f"{int(still.sum())} of {len(divisors)} pairs are not turned"
    largest, near = float(divisors.max()), 1e-5 + 4 * rotation.error_bound
    kept, divided = np.abs(divisors - 1) <= near, np.abs(divisors / largest - 1) <= near
    if kept.all():
        return "all pairs are kept"
    if divided.all():
        return f"all pairs divided by {largest:.6g}"
    if rotation.scaling in BLENDS:
        blended = len(divisors) - int(kept.sum()) - int(divided.sum())
        return (
            f"{count(int(kept.sum()), 'pair')} kept, {blended} blended, {int(divided.sum())} divided by {largest:.6g}"
        )
    smallest = float(divisors.min())
    return f"each pair divided by a number of its own, from {smallest:.6g} to {largest:.6g}"


def _measure_divisors(rotation: Rotation) -> F64 | None:
    """Return what each frequency of the ladder was divided by; inf where a pair is not turned."""
    frequencies = rotation.listed
    if not len(frequencies) or rotation.base is None or rotation.rotary_dim is None:
        return None
    ladder = np.array([float(value) for value in compute_ladder(rotation.base, 2 * len(frequencies))])
    with np.errstate(divide="ignore"):
        divisors: F64 = ladder / frequencies
    return divisors
