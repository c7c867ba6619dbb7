"""Each part of a rotation in A and in B: what differs, what one of them does not say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64
from pe_spectra.models.comparison.divergence import Difference, LayerDiff, PairDifference, Unknown, find_first_position
from pe_spectra.models.comparison.effects import (
    explain_attention,
    explain_base,
    explain_direction,
    explain_dtype,
    explain_frequencies,
    explain_half_turn,
    explain_imprecision,
    explain_layout,
    explain_offset,
    explain_rotary_width,
    explain_scaling,
    fill_options,
    label_scalings,
    remark_ntk,
    remark_shared,
)
from pe_spectra.models.comparison.units import name_unit
from pe_spectra.models.dumps.identification import LADDERS
from pe_spectra.models.dumps.inverse_frequencies import Dump
from pe_spectra.models.dumps.rounding import FLOORS, ROUNDOFF
from pe_spectra.models.rotation import Rotation

#: Relative error of numbers that are exact: a few roundings in float64.
EXACT = 2.0**-50


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
    count = max(len(a.frequencies), len(b.frequencies))
    left, right = _pad(a.frequencies, count), _pad(b.frequencies, count)
    agree = len(a.frequencies) == len(b.frequencies) and not _find_off(a, b).any()
    matters = not agree or is_rounded(a) != is_rounded(b)
    first = find_first_position(left, right, length) if matters else None
    return LayerDiff(
        name=name,
        length=length,
        agree=agree,
        pairs=tuple(_list_pairs(name, a.frequencies, b.frequencies)),
        max_phase_error=float((length - 1) * np.abs(left - right).max()) if count else 0.0,
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


def _pad(values: F64, count: int) -> F64:
    """Add zeros up to a number of pairs."""
    padded: F64 = np.pad(values, (0, count - len(values)))
    return padded


def _find_off(a: Rotation, b: Rotation) -> NDArray[np.bool_]:
    """Tell which of the pairs that both sides have differ by more than the rounding of both."""
    if a.frequencies is None or b.frequencies is None:
        return np.zeros(0, dtype=bool)
    count = min(len(a.frequencies), len(b.frequencies))
    off: NDArray[np.bool_] = np.abs(a.frequencies[:count] - b.frequencies[:count]) > _list_errors(
        a, count
    ) + _list_errors(b, count)
    return off


def _list_errors(rotation: Rotation, count: int) -> F64:
    """Largest absolute error of each of the first frequencies, in rad/position."""
    frequencies = rotation.frequencies
    if frequencies is None:
        return np.zeros(count)
    bounds: F64 | float = max(rotation.error_bound, EXACT)
    floor = 0.0
    if isinstance(rotation, Dump) and rotation.error_bounds is not None:
        bounds = np.maximum(rotation.error_bounds[:count], EXACT)
        floor = FLOORS.get(rotation.dtype or "", 0.0) if rotation.kind == "frequencies" else 0.0
    errors: F64 = bounds * np.abs(frequencies[:count]) + floor
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
class Parts:
    """Two rotations of one layer type, and how their frequencies compare."""

    a: Rotation
    b: Rotation
    layer: LayerDiff
    base_keys: tuple[str, str] = ("", "")

    def list_differences(self) -> Iterator[Difference]:
        """List the parts that differ, in their order."""
        of_frequencies = list(self._list_of_frequencies())
        yield from of_frequencies
        a, b = self.a, self.b
        if a.layout and b.layout and a.layout != b.layout and (a.rotary_dim or 4) > 2:
            yield self._make("layout", a.layout, b.layout, explain_layout(a, b))
        if a.attention_scaling is not None and b.attention_scaling is not None:
            allowed = _bound_attention(a) + _bound_attention(b)
            if abs(a.attention_scaling - b.attention_scaling) > allowed * abs(a.attention_scaling):
                effect = explain_attention(a.attention_scaling, b.attention_scaling)
                yield self._make("attention_scaling", a.attention_scaling, b.attention_scaling, effect)
        if a.offset is not None and b.offset is not None and a.offset != b.offset:
            yield self._make("offset", a.offset, b.offset, explain_offset(a.offset, b.offset))
        yield from self._list_of_signs()
        yield from self._list_of_dtype()

    def list_unknown(self) -> Iterator[Unknown]:
        """List the parts that one side does not say."""
        a, b = self.a, self.b
        names = ["layout", "attention_scaling", "offset", "dtype"]
        if self.layer.agree is None:
            names = ["frequencies", *names]
        elif not self.layer.agree and a.rotary_dim and b.rotary_dim:
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
            if isinstance(side, Dump) and side.backward and not self._are_caches():
                yield Unknown(what="direction", a=None, b=None, why=f"all sines of {letter} have the opposite sign")

    def list_remarks(self) -> Iterator[str]:
        """List what is written differently and means the same."""
        a, b = self.a, self.b
        if self.layer.agree and a.scaling and b.scaling and a.base and b.base:
            written = [
                f"base {side.base:.10g}" + (f" with {label}" if label != "none" else "")
                for side, label in zip((a, b), label_scalings(a, b), strict=True)
            ]
            if a.scaling != b.scaling or not self._have_one_base():
                yield f"{written[0]} (A) and {written[1]} (B) give the same frequencies"
        if self.layer.agree is False and self._share_pairs():
            yield remark_shared(a, b)
        elif a.base and b.base and not self._have_one_base():
            raised, other = (a, b) if a.base > b.base else (b, a)
            # what is stated is no guess
            if not self.layer.agree and isinstance(raised, Dump) and raised.scaling in LADDERS:
                yield remark_ntk("A" if raised is a else "B", raised, other.base or 0.0)

    def _list_of_frequencies(self) -> Iterator[Difference]:
        a, b, first = self.a, self.b, self.layer.first_position_off
        found = False
        if not self.layer.agree and not self._share_pairs():
            if a.base is not None and b.base is not None and not self._have_one_base():
                found = True
                unit = "" if b.scaling and a.scaling else name_unit(a, b)
                yield self._make("base", a.base, b.base, f"{explain_base(a, b, self.base_keys)}{unit}", first)
            if a.scaling and b.scaling and fill_options(a) != fill_options(b) and (a.rotary_dim and b.rotary_dim):
                found = True
                labels = label_scalings(a, b)
                effect = f"{explain_scaling(a, b)}{name_unit(a, b)}"
                yield self._make("scaling", labels[0], labels[1], effect, first)
        if a.rotary_dim is not None and b.rotary_dim is not None and a.rotary_dim != b.rotary_dim:
            found = True
            yield self._make("rotary_dim", a.rotary_dim, b.rotary_dim, explain_rotary_width(a, b), first)
        if self.layer.agree is False and not found:
            effect = explain_frequencies(a, b, self.layer.pairs, _find_off(a, b))
            yield self._make("frequencies", None, None, f"{effect}{name_unit(a, b)}", first)

    def _list_of_signs(self) -> Iterator[Difference]:
        """List the signs of sines and cosines that differ where both sides show theirs."""
        a, b = self.a, self.b
        if not isinstance(a, Dump) or not isinstance(b, Dump) or not self._are_caches():
            return
        if a.backward != b.backward:
            effect = explain_direction("A" if a.backward else "B")
            shown = ["sines negated" if side.backward else "sines as they are" for side in (a, b)]
            yield self._make("layout", shown[0], shown[1], effect)
        if a.half_turn != b.half_turn:
            yield self._make("offset", a.offset, b.offset, explain_half_turn("A" if a.half_turn else "B"))

    def _are_caches(self) -> bool:
        return all(isinstance(side, Dump) and side.kind == "cache" for side in (self.a, self.b))

    def _list_of_dtype(self) -> Iterator[Difference]:
        a, b = self.a, self.b
        rounded = is_rounded(a), is_rounded(b)
        if self.layer.agree and rounded[0] != rounded[1]:
            effect = explain_dtype(rounded, self.layer.max_phase_error or 0.0, self.layer.length)
            shown = [name or "not rounded" for name in rounded]
            yield self._make("dtype", shown[0], shown[1], effect, self.layer.first_position_off)
            return
        for letter, side in (("A", a), ("B", b)):
            if isinstance(side, Dump) and side.imprecise:
                off = f"phases off by {side.phase_error or 0:.2g} rad"
                sides = (off, "even phases") if letter == "A" else ("even phases", off)
                yield self._make("dtype", sides[0], sides[1], explain_imprecision(letter, side), side.first_row_off)
        stored = _name_cosine_dtype(a), _name_cosine_dtype(b)
        if stored[0] and stored[1] and stored[0] != stored[1]:
            yield self._make("dtype", stored[0], stored[1], explain_dtype(stored, None, self.layer.length))

    def _share_pairs(self) -> bool:
        """Tell whether one side turns fewer pairs, and those as the other does: whatever their bases are called."""
        widths = {self.a.rotary_dim or 0, self.b.rotary_dim or 0}
        return len(widths) == 2 and 0 not in widths and not _find_off(self.a, self.b).any()

    def _have_one_base(self) -> bool:
        one, other = self.a.base or 0.0, self.b.base or 0.0
        allowed = sum(4 * max(side.error_bound, EXACT) for side in (self.a, self.b))
        return abs(one - other) <= allowed * max(one, other)

    def _make(self, what: str, a: object, b: object, effect: str, first: int | None = None) -> Difference:
        return Difference(what=what, a=a, b=b, effect=effect, first_position=first, layers=(self.layer.name,))


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
