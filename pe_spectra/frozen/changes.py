"""What is not as it was frozen: every key of an entry against what is there now, whatever is declared of it.

That two entries are equal is found without any of this, and without the comparison of `diff`. Where they are not, it is
`diff` that says what a change of a rotation does, and this that no changed key stays without a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pe_spectra.exact import EXACT
from pe_spectra.faces import Cell
from pe_spectra.frozen.entries import Change, Entry, EntryComparison, FrozenArray, FrozenFinding
from pe_spectra.frozen.equality import are_equal, holds, is_rounding
from pe_spectra.limits import UNSTATED_LENGTH
from pe_spectra.models.comparison.divergence import Diff, Difference
from pe_spectra.models.dumps.dump import Dump
from pe_spectra.models.dumps.storing import ROUNDOFF
from pe_spectra.quantities import Result
from pe_spectra.records import NamedTuple
from pe_spectra.vocabulary import RANKS
from pe_spectra.wording import count

#: Keys that say how something was read and why it matters, not what it is; findings and digests are compared apart.
_TOLD = ("source", "name", "base_key", "notes", "findings", "digest", "stretch", "stretches", "numbers")
#: Key of a layer -> the parts under which `diff` tells of it, where they are called otherwise.
_PARTS: Mapping[str, tuple[str, ...]] = {
    "frequencies": ("base", "scaling", "rotary_dim", "frequencies", "dtype"),
    "options": ("scaling", "rotary_dim"),
    "layers": ("layer_types",),
}
#: Keys of a layer that say what was read of its numbers, in a place.
_READ = (("rotation",), ("dump",))
#: What is measured of the numbers that a call gave: another machine rounds these otherwise, and so finds others.
_MEASURED = frozenset(
    (
        "frequencies",
        "attention_scaling",
        "base",
        "scaling",
        "options",
        "error_bound",
        "error_bounds",
        "rest",
        "phase_error",
    )
)
#: Keys of an entry that hold many of a kind, by their names.
_NAMED = ("layers", "schemes", "arrays")
#: Roundings that cosines and sines of another library of mathematics may be off by.
_ROUNDINGS = 4
#: Members of a list that are shown, and characters of a digest.
_SHOWN, _CHARACTERS = 6, 16


class _Found(NamedTuple):
    """A key whose values differ, and where it is."""

    place: tuple[str, ...]
    frozen: Any
    now: Any

    @property
    def key(self) -> str:
        """The key of a layer that it belongs to; of what is there as a whole or not, what that is."""
        inner = [one for one in self.place[2:] if one != "rotation"]
        return inner[0] if inner else self.place[0] if len(self.place) < 3 else self.place[2]


def compare_entries(
    frozen: Entry, now: Entry, document: Mapping[str, Any] | None = None, tolerance: float = EXACT
) -> EntryComparison:
    """Compare an entry with what is there now.

    Parameters
    ----------
    document : the entry as the file has it: keys that the program which froze it did not know are not compared.
    tolerance : the largest relative difference of numbers that count as equal.

    >>> from pe_spectra.frozen.entries import FrozenLayer
    >>> from pe_spectra.models.rotation import Rotation
    >>> a, b = (Entry(layers={"all": FrozenLayer(rotation=Rotation(layout=one))}) for one in ("half", "interleaved"))
    >>> [one.what for one in compare_entries(a, b).changes]
    ['layout']
    """
    every = list(_walk(frozen, now, (), tolerance))
    called, equal = _list_read(frozen, now, tolerance)
    known = [one for one in every if document is None or _is_known(document, one.place)]
    asked = [one for one in known if one.place[2:3] not in _READ or one.place[1] not in equal]
    found = [
        one for one in asked if not called.intersection(one.place[1:2]) or not _MEASURED.intersection(one.place[3:4])
    ]
    numbers = list(_compare_arrays(frozen.arrays, now.arrays))
    diff = _compare_rotations(frozen, now, asked) if any(one.place[0] == "layers" for one in asked) else None
    told = () if diff is None else diff.differences
    left = [one for one in found if not any(_tells(difference, one) for difference in told)]
    if numbers or told:  # how an array holds a rotation follows from its numbers
        left = [one for one in left if one.key not in ("dump", "error_bound")]
    metrics = [one for one in left if one.place[0] == "metrics" and (numbers or not is_rounding(one.frozen, one.now))]
    left = [one for one in left if one.place[0] != "metrics"]
    codes = {(one.code, one.layers) for one in now.findings}
    return EntryComparison(
        changes=(*map(_take_difference, told), *numbers, *_gather(left, tolerance), *_gather_metrics(metrics, now)),
        diff=diff,
        new=tuple(_list_new(frozen.findings, now.findings)),
        gone=tuple(one for one in frozen.findings if (one.code, one.layers) not in codes),
        unknown=tuple(dict.fromkeys(one.place[-1] for one in every if one not in known)),
    )


def _list_read(frozen: Entry, now: Entry, tolerance: float) -> tuple[set[str], set[str]]:
    """The layers whose keys follow from numbers that are others: those that were called, those of equal frequencies.

    What a call gave is computed anew by other machines with other roundings, and `diff` knows how far these reach.
    """
    called, equal = set(), set()
    for name in frozen.layers.keys() & now.layers.keys():
        a, b = frozen.layers[name].whole, now.layers[name].whole
        if not isinstance(a, Dump) or not isinstance(b, Dump) or a.kind != b.kind:
            continue
        if a.kind == "call":
            called.add(name)
        differ = not np.array_equal(a.frequencies, b.frequencies)
        if a.kind == "frequencies" and differ and are_equal(a.frequencies, b.frequencies, tolerance):
            equal.add(name)
    return called, equal


def _list_new(before: Sequence[FrozenFinding], after: Sequence[FrozenFinding]) -> Iterator[FrozenFinding]:
    """Give findings that are graver than those of their code and layers were, or one more than there were."""
    for key in dict.fromkeys((one.code, one.layers) for one in after):
        old, now = ([one for one in side if (one.code, one.layers) == key] for side in (before, after))
        gravest = max((RANKS[one.level] for one in old), default=-1)
        graver = [one for one in now if RANKS[one.level] > gravest]
        said = {one.message for one in old}
        others = sorted((one for one in now if one not in graver), key=lambda one: one.message in said)
        yield from (*graver, *others[: max(0, len(now) - len(old) - len(graver))])


def _is_known(document: Mapping[str, Any], place: Sequence[str]) -> bool:
    """Whether the file has a key of a layer, its rotation or its array, where all that were known are written."""
    if place[0] != "layers" or len(place) < 3 or place[2:-1] not in ((), *_READ):
        return True
    parent: Any = document
    for key in place[:-1]:
        parent = parent.get(key) if isinstance(parent, Mapping) else None
    return not isinstance(parent, Mapping) or place[-1] in parent


# --------------------------------------------------------------------- key by key


def _walk(a: Any, b: Any, place: tuple[str, ...], tolerance: float) -> Iterator[_Found]:
    """Give every key whose values differ, of records by what is declared of them."""
    if isinstance(a, Result) and isinstance(b, Result):
        for name in type(a).quantities():
            if name not in _TOLD:
                yield from _walk(getattr(a, name), getattr(b, name), (*place, name), tolerance)
    elif isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in dict.fromkeys((*a, *b)):
            yield from _walk(a.get(key), b.get(key), (*place, key), tolerance)
    elif not are_equal(a, b, tolerance):
        yield _Found(place, a, b)


def _gather(found: Sequence[_Found], tolerance: float) -> Iterator[Change]:
    """Make one change of those that several layers or parts have alike."""
    merged: dict[tuple[str, Cell, Cell, str], list[str]] = {}
    for one in found:
        frozen, now, effect = _say(one, tolerance)
        is_named = one.place[0] in _NAMED
        inner = one.place[2:] if is_named else one.place
        what = ".".join(part for part in inner if part != "rotation") or one.key
        merged.setdefault((what, frozen, now, effect), []).append(one.place[1] if is_named else "")
    for (what, frozen, now, effect), names in merged.items():
        layers = tuple(dict.fromkeys(filter(None, names)))
        yield Change(what=what, layers=layers, frozen=frozen, now=now, effect=effect)


def _gather_metrics(found: Sequence[_Found], now: Entry) -> Iterator[Change]:
    """Make one change of all metrics, which follow from the numbers of a table, with the one that changed most."""
    if not found:
        return
    most = max(found, key=lambda one: _measure(one.frozen, one.now))
    shown = _show(most.frozen), _show(most.now)
    said = ["nothing" if one is None else f"{one:.6g}" if isinstance(one, float) else one for one in shown]
    many = f"{len(found)} of {count(len(now.metrics), 'metric')} changed"
    effect = f"{many}, the most {most.place[1]}: {said[0]} in A and {said[1]} in B"
    yield Change(what=f"metrics.{most.place[1]}", frozen=shown[0], now=shown[1], effect=effect)


def _measure(a: Any, b: Any) -> float:
    """How far two metrics are apart, relative to the larger."""
    return abs(a - b) / (max(abs(a), abs(b)) or 1.0) if a is not None and b is not None else 1.0


def _say(found: _Found, tolerance: float) -> tuple[Cell, Cell, str]:
    """Say both values of a key, and what the change is."""
    a, b = found.frozen, found.now
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape:
        off = np.abs(a - b)
        differing = np.flatnonzero(off > tolerance * np.maximum(np.abs(a), np.abs(b)))
        place = int(differing[np.argmax(off[differing] / np.abs(a[differing] + b[differing]))])
        one, other = (float(side[place]) for side in (a, b))
        relative = abs(one - other) / max(abs(one), abs(other))
        many = f"{len(differing)} of {count(len(a), 'number')} {'differs' if len(differing) == 1 else 'differ'}"
        return one.hex(), other.hex(), f"{many}, by a relative {relative:.2g} at most (index {place})"
    shown = _show(a), _show(b)
    where = found.place[-1]
    if isinstance(a, Result) or isinstance(b, Result):
        there, here = ("A", "B") if isinstance(a, Result) else ("B", "A")
        return *shown, f"{there} has {where}, and {here} has not"
    said = ("none" if one is None else one for one in shown)
    return *shown, "{} is {} in A and {} in B".format(where.replace("_", " "), *said)


def _show(value: Any) -> Cell:
    if not holds(value) or isinstance(value, bool | int | float | str):
        return value if isinstance(value, bool | int | float | str) and value != "" else None
    if isinstance(value, Result):
        return "there"
    members = value.tolist() if isinstance(value, np.ndarray) else list(value)
    return ", ".join(map(str, members[:_SHOWN])) + (f", .. ({len(members)})" if len(members) > _SHOWN else "")


# --------------------------------------------------------------------- arrays


def _compare_arrays(a: Mapping[str, FrozenArray], b: Mapping[str, FrozenArray]) -> Iterator[Change]:
    """Say of arrays of one name and shape whose numbers differ which rows are the first to."""
    for name, one in a.items():
        other = b.get(name)
        if other is None or one.shape != other.shape or (one.digest == other.digest and _are_near(one, other)):
            continue
        pairs = zip(one.stretches, other.stretches, strict=False)
        off = [place for place, pair in enumerate(pairs) if len({*pair}) > 1]
        first = off[0] * one.stretch if off and one.stretch == other.stretch else None
        effect = "numbers differ"
        if first is not None:
            last = min(first + one.stretch, one.shape[0]) - 1
            where = f"row {first:,}" if first == last else f"rows {first:,} to {last:,}"
            stretches = f"{len(off)} of {count(len(one.stretches), 'stretch', 'stretches')} of rows"
            effect = f"numbers differ in {stretches}, first in {where}"
        yield Change(
            what="digest",
            layers=(name,),
            frozen=one.digest and one.digest[:_CHARACTERS],
            now=other.digest and other.digest[:_CHARACTERS],
            effect=effect,
            first_position=first,
        )


def _are_near(one: FrozenArray, other: FrozenArray) -> bool:
    """Whether what calls gave is equal but for some roundings of its type, relative to its largest number."""
    a, b = one.numbers, other.numbers
    if a is None or b is None or a.shape != b.shape:
        return (a is None) == (b is None)
    reach = _ROUNDINGS * max(ROUNDOFF.get(name, 0.0) for name in (one.dtype, other.dtype, "float64"))
    return bool((np.abs(a - b) <= reach * max(np.abs(a).max(), np.abs(b).max())).all())


# --------------------------------------------------------------------- rotations


def _compare_rotations(frozen: Entry, now: Entry, found: Sequence[_Found]) -> Diff | None:
    """Compare what turns queries and keys as `diff` does; None where one side turns nothing.

    Of its differences those are kept that tell of a key that was found: others are within the tolerance.
    """
    a, b = ([*side.list_rotations().values()] for side in (frozen, now))
    if not a or not b:
        return None
    from pe_spectra.models.comparison.rotations import compare_rotations

    layers = [*frozen.layers.values(), *now.layers.values()]
    rows = [one.rows for one in (*a, *b) if isinstance(one, Dump) and one.rows]
    known = [one.served_length for one in layers if one.served_length and one.served_length > 1] or rows
    windows = {
        name: max(one.window, now.layers[name].window or 0)
        for name, one in frozen.layers.items()
        if one.window and name in now.layers and now.layers[name].window
    }
    diff = compare_rotations(a, b, length=max(known, default=UNSTATED_LENGTH), windows=windows)
    dumps = {one.place[1] for one in found if one.key == "dump"}
    kept = [one for one in diff.differences if dumps & {*one.layers} or any(_tells(one, each) for each in found)]
    return replace(diff, differences=tuple(kept), causes=diff.causes if kept else (), agree=False if kept else None)


def _tells(difference: Difference, found: _Found) -> bool:
    """Whether `diff` tells of a key that differs."""
    if found.place[0] != "layers" or found.place[1] not in difference.layers:
        return False
    return difference.what in _PARTS.get(found.key, (found.key,))


def _take_difference(one: Difference) -> Change:
    frozen, now = (_say_pair(side) for side in (one.a, one.b))
    return Change(
        what=one.what, layers=one.layers, frozen=frozen, now=now, effect=one.effect, first_position=one.first_position
    )


def _say_pair(value: Any) -> Cell:
    return f"pair {value['pair']}: {value['frequency']}" if isinstance(value, Mapping) else value
