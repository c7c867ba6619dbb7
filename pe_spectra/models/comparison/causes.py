"""Why the frequencies of one side are not those of the other: the first known way that makes them so."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from pe_spectra.exact import EXACT, F64
from pe_spectra.models.comparison.divergence import Cause, find_off
from pe_spectra.models.rotation import NONE, Rotation, is_dump
from pe_spectra.models.stacks.description import KINDS

if TYPE_CHECKING:
    from pe_spectra.models.comparison.start import Start
    from pe_spectra.models.comparison.ways import Way

#: Ways by which one number follows from another, as it may by chance.
_BY_NUMBERS = (
    "share-twice", "exponent", "scaling-twice", "scaling-inverted", "scaling-dropped", "default-base",
    "scaling-and-base-dropped", "parameter-dropped",
)  # fmt: skip
#: Parameters that are none of one scaling.
_OF_ALL = ("base", "share", "scaling")
#: Roundings of one side that a way may multiply.
_MULTIPLIED = 4


def find_cause(a: Rotation, b: Rotation, layer: str) -> Cause | None:
    """Name the first known way that makes the frequencies of one side from those of the other.

    What was computed is held against what is stated, and else B against A: ways that start from there go first. Where
    both sides state what differs, numbers that follow from each other do so by chance, and what differs is named.

    Parameters
    ----------
    a, b : rotations whose frequencies differ by more than rounding. layer : type of layer.

    >>> import numpy as np
    >>> a, b = Rotation(frequencies=np.array([1.0, 0.1])), Rotation(frequencies=np.array([0.1, 1.0]))
    >>> find_cause(a, b, "all").text
    'the pairs stand in reverse order'
    """
    if not len(a.listed) or not len(b.listed):
        return None
    from pe_spectra.models.comparison.start import Start
    from pe_spectra.models.comparison.ways import OTHERS, WAYS

    one_stated = is_dump(a) != is_dump(b)
    is_first = not one_stated or is_dump(b)
    starts = {"A": Start(a, b, is_reference=is_first), "B": Start(b, a, is_reference=not is_first)}
    sides = sorted(starts, key=lambda letter: not starts[letter].is_reference)
    for ways, letter in itertools.product((WAYS, OTHERS), sides):
        start = starts[letter]
        # of what is stated and what was computed the fault is in the latter
        left = "never" if one_stated and not start.is_reference else "only"
        found = next((way for way in ways if way.back != left and _explains(way, start)), None)
        if found is not None:
            if found.code in _BY_NUMBERS and (stated := _name_stated(a, b, layer)) is not None:
                return stated
            return Cause(code=found.code, text=_write(found, letter, start), layers=(layer,))
    return None


def _name_stated(a: Rotation, b: Rotation, layer: str) -> Cause | None:
    """Name the parameters that both sides state otherwise; None where one does not state all that differ."""
    one, other = _list_stated(a), _list_stated(b)
    if {"scaling"} <= one.keys() & other.keys() and a.scaling != b.scaling:
        one, other = ({name: side[name] for name in _OF_ALL if name in side} for side in (one, other))
    changed = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    if not changed or not {*changed} <= one.keys() & other.keys():
        return None
    scalings = f"{label_scaling(a)} in A, {label_scaling(b)} in B"
    of = f" of {a.scaling}"
    words = {"base": "base", "share": "share of the head that is turned", "original": f"original length{of}"}
    texts = [
        f"another scaling ({scalings})" if name == "scaling"
        else f"another {words.get(name, name + of)} ({show(one[name])} in A, {show(other[name])} in B)"
        for name in changed
    ]  # fmt: skip
    code = {"base": "other-base", "share": "other-width"}.get(changed[0], "other-scaling")
    return Cause(code=code, text=" and ".join(texts), layers=(layer,))


def _list_stated(side: Rotation) -> dict[str, object]:
    """What a side states of its frequencies, by the names of the catalogue; nothing of what was computed."""
    if is_dump(side) or side.scaling not in (*KINDS, NONE):
        return {}
    found: dict[str, object] = {} if side.base_key == "" else {"base": side.base}
    found |= {} if side.scaling == NONE else {"scaling": side.scaling}
    return found | {name: value for name, value in side.options.items() if name != "served"}


def _explains(way: Way, start: Start) -> bool:
    made, side = way.make(start), start.rotation
    return any(
        one is not None and _fits(one, side, start.other) and not _fits(one, side, side)
        for one in (made if isinstance(made, tuple) else (made,))
    )


def _write(way: Way, here: str, start: Start) -> str:
    """Say what a way has made, from the side with a letter."""
    there = "B" if here == "A" else "A"
    own, value = start.find(way.parameter), way.find(start)
    each = ", ".join(f"{show(one)} in {letter}" for letter, one in sorted(((here, own), (there, value))))
    return way.words.format(
        here=here,
        there=there,
        base=start.rotation.base,
        scaling=start.rotation.scaling,
        label=label_scaling(start.rotation),
        own=own,
        value=value,
        each=each,
    )


def label_scaling(rotation: Rotation) -> str | None:
    """Name a scaling with its factor.

    >>> label_scaling(Rotation(scaling="linear", options={"factor": 8.0}))
    'linear x8'
    """
    factor = rotation.options.get("factor")
    if rotation.scaling is None or not isinstance(factor, int | float):
        return rotation.scaling
    return f"{rotation.scaling} x{factor:g}"


def show(value: object) -> str:
    """Write a value of a parameter.

    >>> show(1e6), show((1.0, 2.0)), show(None)
    ('1000000', '2 numbers', 'not set')
    """
    if value is None:
        return "not set"
    if isinstance(value, tuple | list):
        return f"{len(value)} numbers"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _fits(made: F64, start: Rotation, target: Rotation) -> bool:
    """Whether frequencies that were made from one side are those of another, within the rounding of both."""
    if len(made) != len(target.listed):
        return False
    bound = _MULTIPLIED * max(start.error_bound, EXACT)
    return not find_off(Rotation(frequencies=made, error_bound=bound), target).any()
