"""Bases and scalings of two rotations that differ, in words: sentences with their numbers, without a full stop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from inspect import Parameter as Argument
from inspect import signature

import numpy as np

from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.exact import F64
from pe_spectra.models.dumps.inverse_frequencies import Dump
from pe_spectra.models.dumps.ladder_fits import find_shortest
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stated.statement import DEFAULT_BASE
from pe_spectra.wording import count

#: Scalings that keep the fastest pairs and divide the slowest.
_BLENDS = ("yarn", "yarn-paper", "llama3")
#: Bases that models are trained with: what an NTK scaling may have started from.
_USUAL_BASES = (DEFAULT_BASE, 500_000.0, 1_000_000.0)
#: Wavelengths below this are written with all their digits.
_LONGEST_WRITTEN = 1e15
#: What a ladder that begins at 1 then begins with, and what that looks like.
_UNITS = (
    (180 / math.pi, "180/pi times a ladder: in degrees?"),
    (2 * math.pi, "2 pi times a ladder: a factor 2 pi too much?"),
    (0.5 / math.pi, "1/(2 pi) times a ladder: in turns?"),
)
#: Relative error with which numbers of that origin are written.
_UNIT_ERROR = 1e-5


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
        return f"every pair but the first has another frequency: base {a.base:.10g} in A, {b.base:.10g} in B"
    shown = [f"{one:,.0f}" if one < _LONGEST_WRITTEN else f"{one:.3g}" for one in slowest if one is not None]
    return f"the slowest pair takes {shown[0]} positions for a period in A and {shown[1]} in B"


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


def name_unit(a: Rotation, b: Rotation) -> str:
    """Say that a dump is a ladder in another unit than rad/position, as a clause; empty where none is.

    >>> ladder = 100.0 ** -np.arange(0, 1, 0.5)
    >>> name_unit(Rotation(frequencies=ladder), Dump(kind="frequencies", frequencies=np.degrees(ladder)))
    '; B is 180/pi times a ladder: in degrees?'
    """
    for letter, side, other in (("A", a, b), ("B", b, a)):
        if not isinstance(side, Dump) or side.frequencies is None or not len(side.frequencies):
            continue
        for unit, words in _UNITS:
            allowed = max(4 * side.error_bound, _UNIT_ERROR)
            if abs(side.frequencies[0] / unit - 1) > allowed:
                continue
            if side.base is not None or _is_multiple(side.frequencies, other.frequencies, unit, allowed):
                return f"; {letter} is {words}"
    return ""


def _is_multiple(values: F64, of: F64 | None, factor: float, allowed: float) -> bool:
    if of is None or len(of) != len(values):
        return False
    return bool(np.all(np.abs(values - factor * of) <= allowed * factor * of))


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
        return (
            f"{count(int(kept.sum()), 'pair')} kept, {blended} blended, {int(divided.sum())} divided by {largest:.6g}"
        )
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
