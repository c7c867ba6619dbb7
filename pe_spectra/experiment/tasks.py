"""Windows with a planted answer, and why an arm without positions cannot find it.

A network that is not told positions judges a window by its tokens in any order. In `where`, `lag`, `period`, `order`
and `trend-change` a window of label 1 is made of the same tokens as one of label 0, in another order, and both are
drawn equally often: such a network is right in half of the windows, whatever it has learned. `bag` is the control,
which positions cannot help: a judge who knows how windows are drawn needs the tokens alone. In `anomaly`, the paper's
form, one of three kinds of anomaly shows in a single token, and the other two in the order alone: without positions at
most 1/2 + 1/6 of the windows are judged rightly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, NDArray
from pe_spectra.experiment.streams import SPLITS, start_stream
from pe_spectra.numbers import Choice
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import TASKS

F32: TypeAlias = NDArray[np.float32]
Generator: TypeAlias = np.random.Generator

#: Height of the bumps of `faint`, so low that the best judge is sometimes wrong; those of all other tasks have 1.
FAINT_HEIGHT = 0.4
#: Of an anomaly of one token, added to one channel; the channels of `anomaly`.
SPIKE, CHANNELS = 3.0, 3
#: Rise of `trend-change` on its gentle and on its steep side.
GENTLE, STEEP = 0.4, 1.2


@dataclass(frozen=True, kw_only=True, eq=False)
class PlantedWindows(ReadOnly):
    """Windows and their labels.

    Attributes
    ----------
    values : (N, L, channels).
    labels : (N,), 0 or 1.
    """

    values: F32
    labels: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class TaskData:
    """The windows that a network is trained on, those that choose its learning rate, and those that judge it."""

    training: PlantedWindows
    validation: PlantedWindows
    test: PlantedWindows


@dataclass(frozen=True, kw_only=True)
class _Task:
    """How one window is drawn, and how many positions one needs."""

    #: Generator, label, length, scale -> (L, channels), without noise.
    draw: Callable[[Generator, int, int, int], F64]
    #: Scale -> shortest window.
    shortest: Callable[[int], int]


def draw_windows(
    task: str, *, length: int, seed: int, scale: int, noise: float, counts: tuple[int, int, int]
) -> TaskData:
    """Draw the windows of a task, in equal numbers of both labels (one more of 0 where the count is odd).

    Parameters
    ----------
    task : of `TASKS`.
    length : L, positions of a window.
    seed : of the trial.
    scale : distance in positions at which differences are planted.
    noise : standard deviation of the normal number that is added to every value.
    counts : windows for training, validation and test, each from a stream of its own.

    Raises
    ------
    InputError : a task that is not known, or a window too short for what is planted at this scale.

    >>> data = draw_windows("lag", length=32, seed=0, scale=6, noise=0.0, counts=(2, 2, 2))
    >>> [np.flatnonzero(window[:, 0]).tolist() for window in data.training.values], data.training.labels.tolist()
    ([[10, 17], [6, 11]], [1, 0])
    """
    Choice(members=TASKS).check(task, "task")
    made = _TASKS[task]
    shortest = made.shortest(scale)
    if scale < 2 or length < shortest:
        accepted = f"at least {shortest} positions for scale {scale}, and a scale of at least 2"
        raise InputError(f"{task} does not fit into the window", f"length {length}, scale {scale}", accepted)
    sets = {}
    for split, (name, count) in enumerate(zip(SPLITS, counts, strict=True)):
        generator = start_stream(seed, "windows", task, length, split)
        labels = generator.permutation(np.arange(count) % 2)
        plain = np.stack([made.draw(generator, int(label), length, scale) for label in labels])
        values = plain + noise * generator.standard_normal(plain.shape)
        sets[name] = PlantedWindows(values=values.astype(np.float32), labels=labels)
    return TaskData(**sets)


def _draw_bump(places: Any, length: int, height: Any = 1.0) -> F64:
    window = np.zeros((length, 1))
    window[places, 0] = height
    return window


def _draw_where(generator: Generator, label: int, length: int, scale: int) -> F64:
    """A bump at most `scale` positions left (0) or right (1) of the middle: mirrored, the one is the other."""
    place = length // 2 - 1 - int(generator.integers(scale))
    return _draw_bump(length - 1 - place if label else place, length)


def _draw_lag(generator: Generator, label: int, length: int, scale: int) -> F64:
    """Two bumps scale - 1 (0) or scale + 1 (1) apart, with the same middle, wherever there is room for the wider."""
    first = 1 + int(generator.integers(length - scale - 1))
    return _draw_bump([first - label, first + scale - 1 + label], length)


def _draw_period(generator: Generator, label: int, length: int, scale: int) -> F64:
    """Bumps at a period of scale (0) or scale + 1 (1), as many and with the same middle."""
    half = (length - 1) // (scale + 1) // 2
    middle = half * (scale + 1) + int(generator.integers(length - 2 * half * (scale + 1)))
    return _draw_bump(middle + np.arange(-half, half + 1) * (scale + label), length)


def _draw_order(generator: Generator, label: int, length: int, scale: int) -> F64:
    """A bump up and a bump down, 1 to scale positions apart: down (0) or up (1) comes first."""
    gap = 1 + int(generator.integers(scale))
    first = int(generator.integers(length - gap))
    return _draw_bump([first, first + gap], length, np.array([1.0, -1.0]) * (1 if label else -1))


def _draw_trend_change(generator: Generator, label: int, length: int, scale: int) -> F64:
    """A trend, up or down, that becomes steeper (0) or gentler (1) within `scale` positions on each side of a bend.

    What becomes steeper becomes gentler when time runs backwards.
    """
    bend = scale + int(generator.integers(length - 2 * scale))
    steps = np.clip(np.arange(length) - bend, -scale, scale) / scale
    line = np.where(steps < 0, GENTLE * steps, STEEP * steps) - (STEEP - GENTLE) / 2
    line *= 1 if generator.integers(2) else -1
    return (line[::-1] if label else line)[:, None]


def _draw_bag(generator: Generator, label: int, length: int, height: float = 1.0) -> F64:
    """One bump (0) or two (1), anywhere."""
    return _draw_bump(generator.choice(length, 1 + label, replace=False), length, height)


def _draw_anomaly(generator: Generator, label: int, length: int, scale: int) -> F64:
    """Three channels of period 2 scale, a third of it apart, from any phase on; in windows of label 1 one anomaly.

    Point: a spike in one channel. Contextual: two tokens half a period apart have changed places. Collective: a
    stretch of half a period runs backwards. The last two leave the tokens as they are and change their order.
    """
    phases = generator.uniform(0, 2 * np.pi) + 2 * np.pi * np.arange(CHANNELS) / CHANNELS
    window = np.sin(np.pi * np.arange(length)[:, None] / scale + phases)
    kind, channel = int(generator.integers(3)), int(generator.integers(CHANNELS))
    place = int(generator.integers(length - scale))
    sign = 1 if generator.integers(2) else -1
    if not label:
        return window
    if kind == 0:
        window[place, channel] += sign * SPIKE
    elif kind == 1:
        window[[place, place + scale]] = window[[place + scale, place]]
    else:
        window[place : place + scale] = window[place : place + scale][::-1].copy()
    return window


_TASKS = {
    "where": _Task(draw=_draw_where, shortest=lambda scale: 2 * scale),
    "lag": _Task(draw=_draw_lag, shortest=lambda scale: scale + 2),
    "period": _Task(draw=_draw_period, shortest=lambda scale: 2 * scale + 3),
    "order": _Task(draw=_draw_order, shortest=lambda scale: scale + 1),
    "trend-change": _Task(draw=_draw_trend_change, shortest=lambda scale: 2 * scale + 1),
    "bag": _Task(draw=lambda generator, label, length, _: _draw_bag(generator, label, length), shortest=lambda _: 2),
    "faint": _Task(
        draw=lambda generator, label, length, _: _draw_bag(generator, label, length, FAINT_HEIGHT),
        shortest=lambda _: 2,
    ),
    "anomaly": _Task(draw=_draw_anomaly, shortest=lambda scale: scale + 1),
}
