"""What a difference of two rotations does, in words: one sentence each, with its numbers, without a full stop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from inspect import Parameter as Argument
from inspect import signature

import numpy as np
from numpy.typing import NDArray

from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.exact import F64
from pe_spectra.models.comparison.divergence import PairDifference
from pe_spectra.models.dumps.inverse_frequencies import Dump
from pe_spectra.models.dumps.ladders import find_shortest
from pe_spectra.models.dumps.rounding import ROUNDOFF
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stated.statement import DEFAULT_BASE

#: Scalings that keep the fastest pairs and divide the slowest.
_BLENDS = ("yarn", "yarn-paper", "llama3")
#: Bases that models are trained with: what an NTK scaling may have started from.
_USUAL_BASES = (DEFAULT_BASE, 500_000.0, 1_000_000.0)
#: Relative differences from which on a factor is easier to read than a percentage.
_MUCH = 2.0
#: Wavelengths below this are written with all their digits.
_LONGEST_WRITTEN = 1e15


def explain_base(a: Rotation, b: Rotation, keys: tuple[str, str]) -> str:
    """Say which side fell back to the default, or how far the slowest wavelengths are apart.

    >>> explain_base(Rotation(base=5e5), Rotation(base=1e4), ("rope_theta", ""))
    'B fell back to the default; A keeps its base in rope_theta'
    """
    sides = (("A", a, keys[0]), ("B", b, keys[1]))
    for (letter, side, _), (other, kept, key) in (sides, sides[::-1]):
        if side.base == DEFAULT_BASE and kept.base != DEFAULT_BASE:
            where = f"; {other} keeps its base in {key}" if key else f"; {other} has its own"
            return f"{letter} fell back to the default{where}"
    slowest = [_measure_slowest(side) for side in (a, b)]
    if None in slowest:
        return f"every pair but the first turns at another speed: {a.base:.10g} in A, {b.base:.10g} in B"
    shown = [f"{one:,.0f}" if one < _LONGEST_WRITTEN else f"{one:.3g}" for one in slowest if one is not None]
    return f"the slowest pair takes {shown[0]} positions for a turn in A and {shown[1]} in B"


def explain_scaling(a: Rotation, b: Rotation) -> str:
    """Say what the scaling of each side does to its ladder.

    >>> from dataclasses import replace
    >>> import numpy as np
    >>> a, b = (Rotation(scaling=name, rotary_dim=4, base=1e4) for name in ("none", "linear"))
    >>> a, b = (replace(a, frequencies=np.array([1.0, 0.01])), replace(b, frequencies=np.array([0.5, 0.005])))
    >>> explain_scaling(a, b)
    'all pairs divided by 2 in B'
    """
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
    ratios = np.where(turned, np.divide(one, other, out=np.ones_like(one), where=turned), 1.0)
    largest, pair = max((abs(float(ratio) - 1), index) for index, ratio in enumerate(ratios))
    which = "the blended pairs" if a.scaling in _BLENDS else "they"
    return f", but {which} differ by up to {100 * largest:.3g} % (pair {pair})" if largest else ""


def explain_frequencies(a: Rotation, b: Rotation, pairs: Sequence[PairDifference], differs: NDArray[np.bool_]) -> str:
    """Say how many pairs differ by more than rounding and by how much, where the ladder is not to blame.

    >>> import numpy as np
    >>> from pe_spectra.models.comparison.parts import compare_frequencies
    >>> a, b = (Rotation(frequencies=np.array([1.0, w])) for w in (0.01, 0.02))
    >>> pairs = compare_frequencies("all", a, b, 10).pairs
    >>> explain_frequencies(a, b, pairs, np.array([False, True]))
    '1 of 2 pairs differs, by up to 100 % (pair 1)'
    """
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


def explain_rotary_width(a: Rotation, b: Rotation) -> str:
    """Say how many pairs are turned on one side only.

    >>> explain_rotary_width(Rotation(rotary_dim=128), Rotation(rotary_dim=64))
    '64 channels of each head are turned in A only'
    """
    one, other = a.rotary_dim or 0, b.rotary_dim or 0
    more = "A" if one > other else "B"
    if min(one, other) == 0:
        return f"only {more} turns queries and keys, {max(one, other)} channels of each head"
    wider = a if more == "A" else b
    count = abs(one - other) // 2
    if wider.frequencies is None:
        return f"{2 * count} channels of each head are turned in {more} only"
    turned = int(np.count_nonzero(wider.frequencies[min(one, other) // 2 :]))
    if turned == 0:
        return f"{more} has {_count_pairs(count)} more, whose frequency is 0: they are not turned"
    verb = "is" if turned == 1 else "are"
    return f"{_count_pairs(turned)}, {2 * turned} channels of each head, {verb} turned in {more} only"


def remark_shared(a: Rotation, b: Rotation) -> str:
    """Say that the pairs that both sides turn have the same frequencies, and why their bases are others.

    >>> remark_shared(Rotation(rotary_dim=128, base=1e4), Rotation(rotary_dim=64, base=1e2)).partition(":")[0]
    'the 32 pairs that both have turn alike'
    """
    count = min(a.rotary_dim or 0, b.rotary_dim or 0) // 2
    start = "the pair that both have turns alike" if count == 1 else f"the {count} pairs that both have turn alike"
    if count == 1 or not a.base or not b.base or abs(a.base / b.base - 1) < 1e-3:
        return start
    bases = [f"base {side.base:.10g} over {side.rotary_dim} channels in {one}" for one, side in (("A", a), ("B", b))]
    return f"{start}: {bases[0]} and {bases[1]} are the same for them"


def _count_pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count} pairs"


def explain_layout(a: Rotation, b: Rotation) -> str:
    """Say how the rows of queries and keys must be permuted.

    >>> explain_layout(Rotation(layout="half"), Rotation(layout="interleaved"))
    'permute the rows of q and k: pairs are (i, i + D/2) in A, (2i, 2i + 1) in B'
    """
    half = f"(i, i + {a.rotary_dim // 2})" if a.rotary_dim else "(i, i + D/2)"
    names = {"half": half, "interleaved": "(2i, 2i + 1)"}
    one, other = names.get(a.layout or "", a.layout), names.get(b.layout or "", b.layout)
    return f"permute the rows of q and k: pairs are {one} in A, {other} in B"


def explain_attention(a: float, b: float) -> str:
    """Say what the factor does to scores.

    >>> explain_attention(1.0, 2.0)
    'scores in B are 4 times those in A, the square of 2'
    """
    ratio = b / a
    return f"scores in B are {ratio * ratio:.6g} times those in A, the square of {ratio:.6g}"


def explain_offset(a: int, b: int) -> str:
    """Say when a shift of all positions matters.

    >>> explain_offset(0, 1).partition(";")[0]
    'positions of B are shifted by +1 against A'
    """
    shift = f"positions of B are shifted by {b - a:+d} against A"
    return f"{shift}; q and k shift alike, so scores stay, but turned keys of one cannot be used with the other"


def explain_direction(letter: str) -> str:
    """Say what sines of the opposite sign on one side mean.

    >>> explain_direction("B")
    'all sines of B have the opposite sign: right only where its rotation takes them so, or swaps each pair of channels'
    """
    said = "right only where its rotation takes them so, or swaps each pair of channels"
    return f"all sines of {letter} have the opposite sign: {said}"


def explain_half_turn(letter: str) -> str:
    """Say what a half turn at every position of one side does.

    >>> explain_half_turn("B").partition(";")[0]
    'every phase of B is half a turn ahead'
    """
    stay = "q and k turn alike, so scores stay, but turned keys of one cannot be used with the other"
    return f"every phase of {letter} is half a turn ahead; {stay}"


def explain_dtype(types: tuple[str | None, str | None], error: float | None, length: int) -> str:
    """Say what rounding leaves: `error` in rad at the last position where frequencies themselves are rounded.

    >>> explain_dtype(("float32", "bfloat16"), None, 4096)
    'cosines and sines are rounded by up to 6e-08 in A and 0.004 in B'
    """
    if error is not None:
        letter, name = ("A", types[0]) if types[0] else ("B", types[1])
        return f"frequencies of {letter} are rounded to {name}: a phase is off by {error:.2g} rad at {length - 1:,}"
    roundings = [
        f"{ROUNDOFF.get(name or '', math.nan):.1g} in {letter}" for letter, name in zip("AB", types, strict=True)
    ]
    return f"cosines and sines are rounded by up to {roundings[0]} and {roundings[1]}"


def explain_imprecision(letter: str, dump: Dump) -> str:
    """Say that angles were computed in too few digits.

    >>> from pe_spectra.models.dumps.inverse_frequencies import Dump
    >>> explain_imprecision("B", Dump(kind="cache", phase_error=0.5))
    'phases of B are off by up to 0.5 rad: its angles were computed in too few digits'
    """
    off = f"phases of {letter} are off by up to {dump.phase_error or 0:.2g} rad"
    return f"{off}: its angles were computed in too few digits"


def remark_ntk(letter: str, dump: Dump, base: float) -> str:
    """Say that a raised base may be NTK scaling: of the base of the other side, or of one that is usual.

    Parameters
    ----------
    letter, dump : the side whose base is the larger one. base : that of the other side.

    >>> import numpy as np
    >>> from pe_spectra.models.dumps.inverse_frequencies import Dump
    >>> dump = Dump(kind="frequencies", base=40000.0, frequencies=np.array([1.0, 0.005]))
    >>> remark_ntk("B", dump, 10000.0)  # b s**2 at D = 4
    'base 40000 of B is also what NTK scaling makes of base 10000 with factor 2'
    """
    pairs = len(dump.frequencies) if dump.frequencies is not None else 0
    found = dump.base or 0.0
    for start in dict.fromkeys((base, *_USUAL_BASES)):
        if found <= start or pairs < 2:
            continue
        # b' = b s**(D/(D - 2)), D = 2P
        factor = (found / start) ** ((pairs - 1) / pairs)
        short = find_shortest(factor * (1 - 4 * dump.error_bound), factor * (1 + 4 * dump.error_bound))
        if float(f"{short:.2e}") == short:
            return f"base {found:g} of {letter} is also what NTK scaling makes of base {start:g} with factor {short:g}"
    return f"NTK scaling gives a ladder of the same form as that of {letter}: it cannot be told from a raised base"


def label_scalings(a: Rotation, b: Rotation) -> tuple[str | None, str | None]:
    """Name both scalings with their factor; with all options that differ where that tells no difference.

    >>> label_scalings(Rotation(scaling="llama3", options={"factor": 8.0}), Rotation(scaling="none"))
    ('llama3 x8', 'none')
    """
    labels = (_label(a), _label(b))
    if labels[0] != labels[1] or labels[0] is None:
        return labels
    one, other = fill_options(a)[1], fill_options(b)[1]
    keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    return _list_keys(labels[0], one, keys), _list_keys(labels[0], other, keys)


def fill_options(rotation: Rotation) -> tuple[str | None, dict[str, object]]:
    """Return the scaling and its options, with the defaults of those that are not set, in one spelling.

    >>> fill_options(Rotation(scaling="linear", options={"factor": 2}))
    ('linear', {'factor': 2})
    """
    scaling = SCALINGS.get(rotation.scaling or "")
    if scaling is None:
        return rotation.scaling, dict(rotation.options)
    found: dict[str, object] = {
        name: argument.default
        for name, argument in signature(scaling.function).parameters.items()
        if argument.kind is Argument.KEYWORD_ONLY and argument.default is not Argument.empty
    }
    found |= {key: value for key, value in rotation.options.items() if value is not None}
    spelled = {"yes": True, "no": False}
    return rotation.scaling, {
        key: spelled.get(value, value) if isinstance(value, str) else value for key, value in found.items()
    }


def _label(rotation: Rotation) -> str | None:
    factor = rotation.options.get("factor")
    if rotation.scaling is None or not isinstance(factor, int | float):
        return rotation.scaling
    return f"{rotation.scaling} x{factor:g}"


def _list_keys(label: str, options: Mapping[str, object], keys: Sequence[str]) -> str:
    if not keys:
        return label
    shown = ", ".join(f"{key} {_show(options.get(key))}" for key in keys)
    return f"{label} ({shown})"


def _show(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, tuple | list):
        return f"{len(value)} numbers"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _measure_slowest(rotation: Rotation) -> float | None:
    if rotation.frequencies is None or not rotation.frequencies.any():
        return None
    wavelength = 2 * math.pi / float(rotation.frequencies[rotation.frequencies > 0].min())
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
    if rotation.scaling in _BLENDS:
        blended = len(divisors) - int(kept.sum()) - int(divided.sum())
        pairs = "1 pair" if kept.sum() == 1 else f"{int(kept.sum())} pairs"
        return f"{pairs} kept, {blended} blended, {int(divided.sum())} divided by {largest:.6g}"
    smallest = float(divisors.min())
    return f"each pair divided by a number of its own, from {smallest:.6g} to {largest:.6g}"


def _measure_divisors(rotation: Rotation) -> F64 | None:
    """Return what each frequency of the ladder was divided by; inf where a pair is not turned."""
    frequencies = rotation.frequencies
    if frequencies is None or not len(frequencies) or rotation.base is None or rotation.rotary_dim is None:
        return None
    ladder = np.array([float(value) for value in compute_ladder(rotation.base, 2 * len(frequencies))])
    with np.errstate(divide="ignore"):
        divisors: F64 = ladder / frequencies
    return divisors
