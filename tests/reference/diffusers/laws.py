"""What the rotation of a model of diffusers follows from: which axis turns each pair, by what, and by which keys.

Nothing is read from source but that the attention of a model pairs the channels that share an angle.
"""

import inspect
import itertools
import math

import numpy as np
import torch

from tests.reference.diffusers.rotations import CALLS, FUNCTIONS, NEEDED, SIZES, name_forward

#: Names of the axes that a grid has.
GRID = ("time", "height", "width")
#: Relative difference of frequencies in float32.
SAME = 4e-6


class UnknownError(Exception):
    """What was measured follows no law that is known here."""


def as_turns(found):
    """Each channel's rotation as a complex number, (points, channels); and whether pairs are numbers already."""
    if isinstance(found, tuple):
        cosines, sines = (one.detach().double().numpy() for one in found)
        return (cosines + 1j * sines).reshape(-1, cosines.shape[-1]), False
    found = found.detach()
    if found.is_complex():
        return found.numpy().astype(complex).reshape(-1, found.shape[-1]), True
    if found.shape[-2:] != (2, 2):
        raise UnknownError("neither cosines and sines nor matrices")
    matrices = found.double().numpy()
    turns = matrices[..., 0, 0] + 1j * matrices[..., 1, 0]
    return turns.reshape(-1, turns.shape[-1]), True


def find_pairs(turns, blocks):
    """The rotation of each pair, and which channels are one: whole heads, or the blocks of axes one by one."""
    if np.array_equal(turns[:, ::2], turns[:, 1::2]):
        return turns[:, ::2], "interleaved"
    half = turns.shape[1] // 2
    if np.array_equal(turns[:, :half], turns[:, half:]):
        return turns[:, :half], "half"
    parts = np.split(turns, blocks, axis=1)
    halves = [np.split(one, 2, axis=1) for one in parts]
    if all(np.array_equal(*one) for one in halves):
        return np.concatenate([one[0] for one in halves], axis=1), "half of each axis"
    raise UnknownError("channels that share no angle")


class Measured:
    """The rotation of one configuration: frequency and axis of each pair, and the layout."""

    def __init__(self, source, size=SIZES[0]):
        """Measure it from what `source` gives at the first patch and at the next one on each axis."""
        turns, is_paired, self.axes = self._turn(source, size)
        self.layout = "interleaved"
        if not is_paired:
            thirds = range(turns.shape[1] // 3, turns.shape[1], turns.shape[1] // 3)
            turns, self.layout = find_pairs(turns, [*thirds][: len(self.axes) - 1])
        angles = np.abs(np.angle(turns[1:] / turns[:1]))
        moved = angles > 1e-9  # what does not move may be off by a rounding
        if (moved.sum(axis=0) > 1).any():
            raise UnknownError("a pair that two axes turn")
        self.map = np.where(moved.any(axis=0), moved.argmax(axis=0), -1).tolist()
        self.frequencies = angles.max(axis=0)
        self._order_axes()
        self.attention = float(np.abs(turns[0, 0]))

    def _order_axes(self):
        """List axes in the order in which they take pairs, without those that take none; a single one has no name."""
        busy = sorted({*self.map} - {-1}, key=self.map.index)
        if busy != [*range(len(self.axes))]:
            self.map = [busy.index(axis) if axis in busy else -1 for axis in self.map]
            self.axes = tuple(self.axes[axis] for axis in busy) if len(busy) > 1 else ("all",)

    @staticmethod
    def _turn(source, size):
        for names in (GRID, GRID[1:], GRID[:1]):
            points = torch.cat([torch.zeros(1, 3), torch.eye(3)[[GRID.index(name) for name in names]]]).long()
            try:
                turns, is_paired = as_turns(source(size, points))
            except IndexError:
                continue
            return turns, is_paired, names
        raise UnknownError("no grid")

    def list_ladders(self):
        """The frequencies of each axis, in the order of the pairs."""
        return [[one for one, at in zip(self.frequencies, self.map, strict=True) if at == axis]
                for axis in range(len(self.axes))]  # fmt: skip


class MeasuredIds(Measured):
    """The same where a module is given the coordinates, as many as the model has."""

    def __init__(self, source, count):
        """Measure it for so many axes."""
        self.count = count
        super().__init__(source)

    def _turn(self, source, size):
        points = torch.cat([torch.zeros(1, self.count), torch.eye(self.count)]).long()
        turns, is_paired = as_turns(source(size, points))
        return turns, is_paired, tuple(f"axis-{i}" for i in range(self.count))


class Subject:
    """One class of a model: measures any of its configurations."""

    def __init__(self, name, model, recorder):
        """Take the class and what records its modules."""
        self.name, self.model, self.recorder = name, model, recorder
        found = inspect.signature(model.__init__).parameters.values()
        self.defaults = {one.name: one.default for one in found if one.default is not inspect.Parameter.empty}
        self.defaults |= NEEDED.get(name, {})
        few = [key for key in self.defaults if key in ("num_layers", "num_single_layers", "depth", "n_layers")]
        self.few = dict.fromkeys(few, 1)
        try:
            recorder.build(model, self.few)
        except Exception:
            self.few = {}

    def measure(self, config, size=SIZES[0]):
        """The rotation of a configuration; None where it has none."""
        if self.name in FUNCTIONS:
            whole = self.defaults | config
            return Measured(lambda _, points: FUNCTIONS[self.name](whole, points), size)
        made = self.recorder.build(self.model, self.few | config)
        if made is None:
            return None
        cls, arguments = made
        call = CALLS.get(name_forward(cls))
        if call is None:
            raise UnknownError(f"{cls.__name__} is given {', '.join(name_forward(cls))}")
        module = cls(**arguments)
        if call in (CALLS["ids",], CALLS["position_ids", "device", "dtype"]):
            lists = [value for key, value in arguments.items() if key.startswith("axes_dim")]
            return MeasuredIds(lambda one, points: call(module, one, points), len(lists[0]) if lists else 3)
        return Measured(lambda one, points: call(module, one, points), size)


def find_base(ladder):
    """Base and first frequency of a geometric ladder base**(-i/n); None where it is none."""
    count = len(ladder)
    if count < 2:
        return None
    base = (ladder[0] / ladder[-1]) ** (count / (count - 1))
    expected = ladder[0] * base ** (-np.arange(count) / count)
    return (base, ladder[0]) if np.allclose(ladder, expected, rtol=SAME) else None


def vary(key, value, start):
    """Other values of a key, each of the kind that it has; where it has none, as many widths as there are axes."""
    if value is None and "ax" in key:
        widths = list_widths(start)
        return [other for times in (1, 2) for other in vary(key, [one // times for one in widths], start)]
    if isinstance(value, bool) or value is None or isinstance(value, str | dict):
        return []
    if isinstance(value, list | tuple):
        if not 2 <= len(value) <= 4 or not all(isinstance(one, int | float) for one in value):
            return []
        other = [*value]
        other[0], other[-1] = other[0] + 8, other[-1] - 8
        return [other, [one * 2 for one in value]]
    return [value * 2, value * 3 // 2] if value else []


def find_keys(subject, start):
    """The keys that change the rotation, with what it is then."""
    found = {}
    for key, value in subject.defaults.items():
        if key in subject.few or "patch" in key or "max" in key or "channels" in key:
            continue
        for other in vary(key, value, start):
            try:
                changed = subject.measure({key: other})
            except Exception:
                continue
            if changed is not None and (
                changed.map != start.map or not np.allclose(changed.frequencies, start.frequencies, rtol=SAME)
            ):
                found.setdefault(key, (other, changed))
    return found


def fit_parts(heads, widths):
    """Of each axis (times, by) with width = times (head // by), or None for what is left; from several heads."""
    parts = []
    for axis in range(len(widths[0])):
        own = [one[axis] for one in widths]
        parts.append(
            next(
                (
                    [times, by]
                    for by, times in itertools.product(range(1, 9), range(1, 9))
                    if all(times * (head // by) == one for head, one in zip(heads, own, strict=True))
                ),
                None,
            )
        )
    if parts.count(None) > 1:
        raise UnknownError("widths that follow no head")
    if None in parts and any(head != sum(one) for head, one in zip(heads, widths, strict=True)):
        raise UnknownError("widths that do not add up")
    return parts


def list_widths(measured):
    """Channels of each axis."""
    return [2 * measured.map.count(axis) for axis in range(len(measured.axes))]


def state(value):
    """A default as JSON has it."""
    return [*value] if isinstance(value, tuple) else value


def fit_bases(subject, start, keys):
    """The base, by its key where it has one; with the key of factors on it that an axis has."""
    bases = [find_base(ladder) for ladder in start.list_ladders()]
    if None in bases:
        raise UnknownError("a ladder that is not geometric")
    steps = {round(step, 5) for _, step in bases}
    if steps != {1.0}:
        raise UnknownError(f"coordinates in steps of {steps}")
    key = next(
        (
            one
            for one, (other, changed) in keys.items()
            if changed.map == start.map
            and np.ndim(other) == 0
            and abs(find_base(changed.list_ladders()[0])[0] / other - 1) < 1e-4
        ),
        None,
    )
    if key:
        return {"base": [key, float(subject.defaults[key])]}
    for one, (_, changed) in keys.items():
        value = subject.defaults[one]
        plain = (
            [
                base / factor ** (n / (n - 2))
                for (base, _), factor, n in zip(bases, value, list_widths(start), strict=True)
            ]
            if np.ndim(value) and changed.map == start.map
            else []
        )
        if plain and max(plain) / min(plain) - 1 < 1e-4:
            return {"base": float(f"{plain[0]:.4g}"), "factors": [one, state(value)]}
    if max(bases)[0] / min(bases)[0] - 1 > 1e-4:
        raise UnknownError("bases of axes that differ")
    return {"base": float(f"{bases[0][0]:.4g}")}


def fit_widths(subject, start, keys):
    """The widths of axes: a list of the file, or parts of a head."""
    widths = list_widths(start)
    for key, (other, changed) in keys.items():
        if np.ndim(other) and list_widths(changed) == [*other]:
            return {"widths": [key, state(subject.defaults[key]) or widths]}
    heads = [one for one in keys if np.ndim(keys[one][0]) == 0 and keys[one][1].map != start.map]
    if len(heads) == 2:  # a width over the number of heads
        heads.sort(key=lambda one: sum(list_widths(keys[one][1])) < sum(widths))
        width, count = heads
        sizes = [subject.defaults[count] * one for one in (64, 72, 96, 128)]
        found = [subject.measure({width: size}) for size in sizes]
        parts = fit_parts([64, 72, 96, 128], [*map(list_widths, found)])
        return {"head": [width, subject.defaults[width], count, subject.defaults[count]], "parts": parts}
    if len(heads) != 1:
        raise UnknownError(f"widths that follow {heads}")
    tried, found = [], []
    for size in (24, 40, 48, 64, 72, 80, 96, 100, 104, 112, 120, 128, 136):
        try:
            found.append(list_widths(subject.measure({heads[0]: size})))
            tried.append(size)
        except Exception:
            continue
    return {"head": [heads[0], subject.defaults[heads[0]]], "parts": fit_parts(tried, found)}


def fit_sections(subject, start, keys):
    """One ladder of a whole head whose pairs go to axes in turns: the key of the sections."""
    base = find_base(start.frequencies)
    if base is None or sorted(start.map) == start.map:
        return None
    key = next(one for one, (other, changed) in keys.items() if np.ndim(other) and changed.map != start.map)
    head = next((one for one in ("attention_head_dim", "head_dim") if one in subject.defaults), None)
    own = next(
        one
        for one, (other, changed) in keys.items()
        if np.ndim(other) == 0 and np.allclose(find_base(changed.frequencies)[0] / other, 1, rtol=1e-4)
    )
    sections = state(subject.defaults[key]) or [one // 2 for one in list_widths(start)]
    return {"sections": [key, sections], "base": [own, float(subject.defaults[own])],
            "head": [head, 2 * len(start.map)]}  # fmt: skip


def fit(subject):
    """The entry of a class in the table; None where it turns nothing."""
    start = subject.measure({})
    if start is None:
        return None
    size = next((one for one in SIZES if abs(subject.measure({}, one).frequencies.max() - 1) < SAME), SIZES[0])
    if size != SIZES[0]:
        old, subject.measure = subject.measure, lambda config, _=size: Subject.measure(subject, config, size)
        start = old({}, size)
    keys = find_keys(subject, start)
    entry = {"axes": [*start.axes], "layout": start.layout}
    sections = fit_sections(subject, start, keys) if len(start.axes) == 3 else None
    entry |= sections or {**fit_widths(subject, start, keys), **fit_bases(subject, start, keys)}
    if len(start.axes) > 1 and start.map == [i % len(start.axes) for i in range(len(start.map))]:
        entry["order"] = "turns"
    elif not sections and start.map != sorted(start.map):
        raise UnknownError("pairs of axes in an order that is not known")
    if size != SIZES[0]:
        entry["resized"] = size[1:]
    if "head" not in entry and "attention_head_dim" in subject.defaults:
        entry["head"] = ["attention_head_dim", subject.defaults["attention_head_dim"]]
    if not math.isclose(start.attention, 1, rel_tol=1e-6):
        raise UnknownError("scaled cosines")
    return entry
