"""How two rotations use their frequencies: layout, attention scaling, offset, signs, type; and what is not said."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pe_spectra.models.comparison.divergence import Difference, Unknown
from pe_spectra.models.comparison.frequencies import Sides, is_rounded
from pe_spectra.models.dumps.inverse_frequencies import Dump
from pe_spectra.models.dumps.rounding import ROUNDOFF
from pe_spectra.models.rotation import Rotation

#: Scores stay where q and k turn alike, and nothing else does.
_SCORES_STAY = "so scores stay, but turned keys of one cannot be used with the other"


def list_convention_differences(sides: Sides) -> Iterator[Difference]:
    """List the parts beside frequencies that differ.

    >>> from pe_spectra.models.comparison.frequencies import compare_frequencies
    >>> a, b = (Rotation(layout=layout) for layout in ("half", "interleaved"))
    >>> sides = Sides(a=a, b=b, layer=compare_frequencies("all", a, b, 10))
    >>> [one.effect for one in list_convention_differences(sides)]
    ['permute the rows of q and k: pairs are (i, i + D/2) in A, (2i, 2i + 1) in B']
    """
    a, b = sides.a, sides.b
    if a.layout and b.layout and a.layout != b.layout and (a.rotary_dim or 4) > 2:
        yield sides.make("layout", a.layout, b.layout, _explain_layout(a, b))
    if a.attention_scaling is not None and b.attention_scaling is not None:
        allowed = _bound_attention(a) + _bound_attention(b)
        if abs(a.attention_scaling - b.attention_scaling) > allowed * abs(a.attention_scaling):
            effect = _explain_attention(b.attention_scaling / a.attention_scaling)
            yield sides.make("attention_scaling", a.attention_scaling, b.attention_scaling, effect)
    if a.offset is not None and b.offset is not None and a.offset != b.offset:
        yield sides.make("offset", a.offset, b.offset, _explain_offset(a.offset, b.offset))
    yield from _compare_signs(sides)
    yield from _compare_types(sides)


def list_unknown(sides: Sides) -> Iterator[Unknown]:
    """List the parts that one side does not say.

    >>> from pe_spectra.models.comparison.frequencies import compare_frequencies
    >>> a, b = Rotation(layout="half"), Rotation()
    >>> [one.what for one in list_unknown(Sides(a=a, b=b, layer=compare_frequencies("all", a, b, 10)))]
    ['layout']
    """
    a, b = sides.a, sides.b
    names = ["layout", "attention_scaling", "offset", "dtype"]
    if sides.layer.agree is None:
        names = ["frequencies", *names]
    elif not sides.layer.agree and a.rotary_dim and b.rotary_dim:
        names = ["base", "scaling", *names]
    for name in names:
        values = [_name_cosine_dtype(side) if name == "dtype" else getattr(side, name) for side in (a, b)]
        silent = [letter for letter, value in zip("AB", values, strict=True) if value is None]
        # two files that are silent alike do not contradict each other
        if not silent or (len(silent) == 2 and not isinstance(a, Dump) and not isinstance(b, Dump)):
            continue
        shown = (None, None) if name == "frequencies" else (values[0], values[1])
        yield Unknown(what=name, a=shown[0], b=shown[1], why=_explain_silence(name, silent, a, b))
    for letter, side in (("A", a), ("B", b)):
        if isinstance(side, Dump) and side.backward and not _are_caches(sides):
            yield Unknown(what="direction", a=None, b=None, why=f"all sines of {letter} have the opposite sign")


def _compare_signs(sides: Sides) -> Iterator[Difference]:
    """List the signs of sines and cosines that differ where both sides show theirs."""
    a, b = sides.a, sides.b
    if not isinstance(a, Dump) or not isinstance(b, Dump) or not _are_caches(sides):
        return
    if a.backward != b.backward:
        effect = _explain_direction("A" if a.backward else "B")
        shown = ["sines negated" if side.backward else "sines as they are" for side in (a, b)]
        yield sides.make("layout", shown[0], shown[1], effect)
    if a.half_turn != b.half_turn:
        yield sides.make(
            "offset",
            a.offset,
            b.offset,
            f"every phase of {'A' if a.half_turn else 'B'} is half a period ahead; q and k turn alike, {_SCORES_STAY}",
        )


def _compare_types(sides: Sides) -> Iterator[Difference]:
    a, b = sides.a, sides.b
    rounded = is_rounded(a), is_rounded(b)
    if sides.layer.agree and rounded[0] != rounded[1]:
        effect = _explain_types(rounded, sides.layer.max_phase_error or 0.0, sides.layer.length)
        shown = [name or "not rounded" for name in rounded]
        yield sides.make("dtype", shown[0], shown[1], effect, sides.layer.first_position_off)
        return
    for letter, side in (("A", a), ("B", b)):
        if isinstance(side, Dump) and side.imprecise:
            off = f"phases off by {side.phase_error or 0:.2g} rad"
            shown = [off, "even phases"] if letter == "A" else ["even phases", off]
            yield sides.make("dtype", shown[0], shown[1], _explain_imprecision(letter, side), side.first_row_off)
    stored = _name_cosine_dtype(a), _name_cosine_dtype(b)
    if stored[0] and stored[1] and stored[0] != stored[1]:
        yield sides.make("dtype", stored[0], stored[1], _explain_types(stored, None, sides.layer.length))


def _are_caches(sides: Sides) -> bool:
    return all(isinstance(side, Dump) and side.kind == "cache" for side in (sides.a, sides.b))


def _name_cosine_dtype(rotation: Rotation) -> str | None:
    """Return the type of cosines and sines; a dump of frequencies does not say it."""
    return None if isinstance(rotation, Dump) and rotation.kind == "frequencies" else rotation.dtype


def _bound_attention(rotation: Rotation) -> float:
    unit = ROUNDOFF.get(rotation.dtype or "") if isinstance(rotation, Dump) else None
    return 1e-12 if unit is None or rotation.dtype == "float64" else unit + 2e-7


def _explain_silence(name: str, silent: list[str], a: Rotation, b: Rotation) -> str:
    sides = {"A": a, "B": b}
    return "; ".join(dict.fromkeys(_explain_one(name, letter, sides[letter]) for letter in silent))


def _explain_one(name: str, letter: str, side: Rotation) -> str:
    if not isinstance(side, Dump):
        what = {"dtype": "a configuration does not say the type of cosines and sines"}
        return what.get(name, f"{letter} does not say")
    if name in ("base", "scaling"):
        alone = side.frequencies is not None and np.count_nonzero(side.frequencies) < 2
        return "one pair alone does not say" if alone else f"no published scaling fits the frequencies of {letter}"
    if side.kind == "frequencies":
        return "a dump of inv_freq does not say"
    how = "with cosines and sines side by side" if side.arrangement else "with one column for each pair"
    cache = {
        "layout": f"a cache {how} does not say",
        "offset": "no one integer fits the phases of the first row",
    }
    return cache.get(name, "the cache does not say")


def _explain_layout(a: Rotation, b: Rotation) -> str:
    """Say how the rows of queries and keys must be permuted."""
    half = f"(i, i + {a.rotary_dim // 2})" if a.rotary_dim else "(i, i + D/2)"
    names = {"half": half, "interleaved": "(2i, 2i + 1)"}
    one, other = names.get(a.layout or "", a.layout), names.get(b.layout or "", b.layout)
    return f"permute the rows of q and k: pairs are {one} in A, {other} in B"


def _explain_offset(a: int, b: int) -> str:
    """Say when a shift of all positions matters."""
    shift = f"positions of B are shifted by {b - a:+d} against A"
    return f"{shift}; q and k shift alike, {_SCORES_STAY}"


def _explain_direction(letter: str) -> str:
    """Say what sines of the opposite sign on one side mean."""
    said = "right only where its rotation takes them so, or swaps each pair of channels"
    return f"all sines of {letter} have the opposite sign: {said}"


def _explain_types(types: tuple[str | None, str | None], error: float | None, length: int) -> str:
    """Say what rounding leaves: `error` in rad at the last position where frequencies themselves are rounded."""
    if error is not None:
        letter, name = ("A", types[0]) if types[0] else ("B", types[1])
        return f"frequencies of {letter} are rounded to {name}: a phase is off by {error:.2g} rad at {length - 1:,}"
    roundings = [
        f"{ROUNDOFF.get(name or '', math.nan):.1g} in {letter}" for letter, name in zip("AB", types, strict=True)
    ]
    return f"cosines and sines are rounded by up to {roundings[0]} and {roundings[1]}"


def _explain_imprecision(letter: str, dump: Dump) -> str:
    """Say that angles were computed in too few digits."""
    off = f"phases of {letter} are off by up to {dump.phase_error or 0:.2g} rad"
    return f"{off}: its angles were computed in too few digits"


def _explain_attention(ratio: float) -> str:
    """Say what a factor does to scores."""
    return f"scores in B are {ratio * ratio:.6g} times those in A, the square of {ratio:.6g}"
