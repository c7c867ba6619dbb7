"""Where signals along a table change their level for good: likelihood ratios of a change beside correlated noise.

A signal is a level that may change once, and Gaussian noise beside it of density f = 1 + (c / (m + b))^n, where
m = 2 - 2 cos w is the density of a difference: white noise and a random walk (n = 1, b = 0), a memory that fades
(b > 0), or a slope that wanders (n = 2). In the discrete cosine transform its entries are independent (Whittle), so
that all places and densities are tried in closed form, with the change and without it: a walk explains its own
steps, a trend its own slope, and only what neither explains speaks for a change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pe_spectra.exact import F64
from pe_spectra.inspection.series import Mask, bridge, measure_spread, pick_peaks
from pe_spectra.ordering import find_median
from pe_spectra.records import NamedTuple, dataclass

#: Memories b that are tried, and the largest corner c, as a power of 4: from there on a walk hides all white noise.
_FADING, _LARGEST_CORNER = (0.003, 0.03, 0.3), 4
#: Rows on either side of a change whose lines show it, and those whose medians do; an eighth of a short table.
_FITTED, _LASTING = 8, 24
#: One table in so many is wrongly said to change; and where one changes, one signal in so many.
_TABLES, _SIGNALS = 100, 1000
#: A number this many robust deviations outside the medians of six on either side is passed over.
_ODD_DEVIATIONS, _ODD_AROUND = 5.0, 6
#: Rows on either side in which vectors that jump are looked for.
_BESIDE = 2
#: What is constant but for rounding.
_CONSTANT = 1e-9
#: The median of the square of a standard normal number.
MEDIAN_SQUARE = 0.4549364
#: Lengths whose densities are kept, up to this one: at most 20 MB of them.
_RECALLED, _MOST_RECALLED = 16, 1024
#: Changes that are looked for, and places that are tried for each.
_MOST_CHANGES, _MOST_PLACES = 4, 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Signal:
    """Numbers along a table of S rows.

    Attributes
    ----------
    values : (S - span,), number k of rows k to k + span; valid : (S - span,) those to be trusted.
    least : a change by less is not worth a sentence.
    room : by how much a number may be new there, by the vectors that it is a length of: a smooth curve may pass zero,
        so that its length turns at once, and does not jump; None where unknown.
    """

    values: F64
    valid: Mask
    span: int
    least: float = 0.01
    room: F64 | None = None

    def take(self, first: int, last: int) -> Signal:
        """Return what is of rows `first` to `last` - 1."""
        part = slice(first, max(last - self.span, first))
        room = None if self.room is None else self.room[first : max(last - self.span - 1, first)]
        return replace(self, values=self.values[part], valid=self.valid[part], room=room)

    def read_around(self, row: int) -> tuple[F64, F64]:
        """Return the last 24 numbers to be trusted that are of rows up to `row`, and the first 24 of rows behind."""
        before, after = slice(0, max(row + 1 - self.span, 0)), slice(row + 1, None)
        first, last = (self.values[part][self.valid[part]] for part in (before, after))
        return first[-_LASTING:], last[:_LASTING]


@dataclass(frozen=True, kw_only=True)
class LevelChange:
    """By how much a signal changes behind a row, and of how many standard errors that is.

    Attributes
    ----------
    size : level after less level before; errors : root of twice the gain in log-likelihood.
    """

    size: float
    errors: float


def find_level_changes(
    signals: Mapping[str, Signal], first: int, last: int
) -> Iterator[tuple[int, dict[str, LevelChange]]]:
    """Find the rows behind which signals change for good, the surest first, with the signals that do.

    Rows `first` to `last` - 1 are looked at.

    The gains of all are added up, of those whose change is there at once and lasts (`_is_there`). Without a change
    the sum has a chi-squared distribution at each place, and exceeds the limit at one of them in one table of 100.
    A signal alone is named where its gain has a probability of 0.001.

    >>> values = np.random.default_rng(0).normal(size=256) + 3.0 * (np.arange(256) >= 128)
    >>> signal = Signal(values=values, valid=np.ones(256, dtype=bool), span=0)
    >>> [(row, [*found]) for row, found in find_level_changes({"norm": signal}, 0, 256)]
    [(127, ['norm'])]
    """
    from scipy.special import chdtri

    parts = {name: one.take(first, last) for name, one in signals.items()}
    left = {name: _pass_over_odd(one) for name, one in parts.items() if 2 * one.valid.sum() > len(one.valid)}
    left = {name: values for name, values in left.items() if len(values) > 4 * _FITTED and np.std(values) > _CONSTANT}
    if not left:
        return
    size = last - first
    limit, least = chdtri(len(left), 1 / _TABLES / size), chdtri(1, 1 / _SIGNALS)
    far = np.ones(size - 1, dtype=bool)
    for _ in range(_MOST_CHANGES):
        tried = {name: _Tried(parts[name], values) for name, values in left.items()}
        total = far * sum(one.gains for one in tried.values())
        for row in pick_peaks(total, total > limit, _FITTED)[:_MOST_PLACES]:
            there = {name: change for name, one in tried.items() if (change := one.read(row))}
            if sum(change.errors**2 for change in there.values()) > limit:
                break
        else:
            return
        named = {name: change for name, change in there.items() if change.errors**2 > least}
        yield first + row, named
        far[max(row - _LASTING, 0) : row + _LASTING + 1] = False
        for name in named:
            left[name] = tried[name].remove(row)


def measure_gains(values: F64) -> tuple[F64, F64]:
    """Measure what a change of level before each number but the first explains.

    Twice the gain in log-likelihood, over densities and variance with the change and without, and the change; (n - 1,)
    each. Where most gains are larger than chance lets them be, noise of another kind wanders, and all are taken down.

    References
    ----------
    Whittle 1953, Ark. Mat. 2, 423 (likelihood by frequencies); Tsay 1988, J. Forecasting 7, 1 (changes of level).

    >>> gains, sizes = measure_gains(np.array([0.0, 1.0] * 16 + [5.0, 6.0] * 16))
    >>> int(gains.argmax()), round(float(sizes[31]))
    (31, 5)
    """
    from scipy.fft import dct

    count = len(values)
    waves = dct(values - values.mean(), norm="ortho")[1:]
    plain, best, sizes = -np.inf, np.full(count - 1, -np.inf), np.zeros(count - 1)
    # of a long signal the densities one by one, for memory
    for some in (
        [_recall_densities(count)] if count <= _MOST_RECALLED else (_stack(one) for one in _weigh_densities(count))
    ):
        alone, gained, changes = _try_densities(waves, some)
        plain = max(plain, alone)
        sizes = np.where(gained > best, changes, sizes)
        best = np.maximum(best, gained)
    gains: F64 = best - plain
    return gains / max(1.0, float(find_median(gains)) / MEDIAN_SQUARE), sizes


class _Densities(NamedTuple):
    """Densities, (k, n - 1), with the volume of each, (k,), and the energies of steps, (k, n - 1)."""

    values: F64
    volumes: F64
    norms: F64


def _try_densities(waves: F64, some: _Densities) -> tuple[float, F64, F64]:
    """The log-likelihood of the best density, and of the best with a change at each place, and that change."""
    from scipy.fft import idct

    count = len(waves) + 1
    white = np.zeros((len(some.values), count))
    np.divide(waves, some.values, out=white[:, 1:])
    energies = white[:, 1:] @ waves
    products = -np.cumsum(idct(white, norm="ortho", axis=1), axis=1)[:, :-1]
    left = np.maximum(energies[:, None] - products**2 / some.norms, 1e-15 * energies[:, None])
    gained = -(count - 1) * np.log(left) - some.volumes[:, None]
    best = gained.argmax(axis=0), np.arange(count - 1)
    alone = float(np.max(-(count - 1) * np.log(energies) - some.volumes))
    return alone, gained[best], products[best] / some.norms[best]


def _weigh_densities(count: int) -> Iterator[tuple[F64, float, F64]]:
    """Weigh the densities of `count` numbers, each with its volume and the energy of a step of 1 before each number."""
    orders = np.pi * np.arange(1, count) / (2 * count)
    # a step before number k has the transform - step sin(2 k orders)
    step = 1 / (math.sqrt(2 * count) * np.sin(orders))
    for density in _list_densities(4 * np.sin(orders) ** 2, count):
        powers = np.concatenate([[0.0], step**2 / density])
        norms = (powers.sum() - np.fft.fft(powers).real[1:]) / 2
        yield density, float(np.log(density).sum()), norms


def _stack(*weighed: tuple[F64, float, F64]) -> _Densities:
    densities, volumes, norms = zip(*weighed, strict=True)
    return _Densities(np.stack(densities), np.array(volumes), np.stack(norms))


@lru_cache(maxsize=_RECALLED)
def _recall_densities(count: int) -> _Densities:
    """The same, kept: they are those of every signal of one length."""
    return _stack(*_weigh_densities(count))


def _list_densities(differences: F64, count: int) -> Iterator[F64]:
    yield np.ones_like(differences)
    for power in range(math.floor(math.log2(math.pi / count)), _LARGEST_CORNER + 1):
        corner = 4.0**power
        yield 1 + (corner / differences) ** 2
        for memory in (0.0, *_FADING):
            yield 1 + corner / (differences + memory)


class _Tried:
    """A signal with what a change behind each row would explain; rows near the ends have none."""

    def __init__(self, signal: Signal, values: F64) -> None:
        self._signal, self._values = signal, values
        span = signal.span
        gains, self._sizes = measure_gains(values)
        near = sliding_window_view(np.pad(gains, span), span + 1)
        # numbers of rows on both sides may be on either
        self._starts = np.arange(len(near)) + 1 - span + near.argmax(axis=1)
        self.gains: F64 = near.max(axis=1)
        beside = min(max(len(near) // 8, _FITTED), _LASTING)
        self.gains[: beside - 1] = self.gains[len(near) + 1 - beside :] = 0.0

    def read(self, row: int) -> LevelChange | None:
        """The change behind a row; None where it is not there at once, does not last or is too small."""
        size, signal = float(self._sizes[self._starts[row] - 1]), self._signal
        is_there = abs(size) >= signal.least and self._has_room(row, size)
        is_there = is_there and _is_there(self._values, row + 1, signal.span, size, signal.least)
        return LevelChange(size=size, errors=math.sqrt(max(float(self.gains[row]), 0.0))) if is_there else None

    def _has_room(self, row: int, size: float) -> bool:
        """Say whether the vectors near a row turn or jump by as much as their length is said to change."""
        room, first = self._signal.room, max(row - self._signal.span - _BESIDE, 0)
        return room is None or abs(size) <= float(room[first : row + _BESIDE + 1].max(initial=0.0))

    def remove(self, row: int) -> F64:
        """The signal without its change behind a row."""
        start = int(self._starts[row])
        return np.concatenate([self._values[:start], self._values[start:] - self._sizes[start - 1]])


def _is_there(values: F64, start: int, span: int, size: float, least: float) -> bool:
    """Say whether lines through 8, 16 and 24 numbers on either side, and the medians of 24, differ by a change, too.

    The lines differ by half of it to twice it, within two of their usual differences: at once; the medians by a
    quarter or more: for good; both, over 24, by half of what is worth a sentence. `start` is the first number behind
    the change, `span` how many before it are of both sides.
    """
    if min(start - span, len(values) - start) < _FITTED or len(values) < 2 * _LASTING + span:
        return False
    medians = find_median(sliding_window_view(values, _LASTING), axis=1)
    shown = [(medians[_LASTING + span :] - medians[: -_LASTING - span], _LASTING, 0.25, math.inf)]
    shown += [(_compare_lines(values, count, span), count, 0.5, 2.0) for count in (_FITTED, 2 * _FITTED, 3 * _FITTED)]
    for differences, count, fewest, most in shown:
        here = float(differences[min(max(start - span - count, 0), len(differences) - 1)]) / size
        margin = 2 * measure_spread(differences) / abs(size)
        floor = least / 2 / abs(size) if count == _LASTING else -math.inf  # fewer scatter by more than that
        if not max(fewest - margin, floor) <= here <= most + margin:
            return False
    return True


def _compare_lines(values: F64, count: int, span: int) -> F64:
    """Return, wherever they fit, by how much lines through `count` numbers differ half-way between them."""
    place = np.arange(count) - (count - 1) / 2
    weights = 1 / count + (count + span) / 2 * place / float(place @ place)
    windows = sliding_window_view(values, count)
    differences: F64 = windows[count + span :] @ weights[::-1] - windows[: len(windows) - count - span] @ weights
    return differences


def _pass_over_odd(signal: Signal) -> F64:
    """Bridge what is not valid, and numbers far outside the medians of both sides."""
    values = bridge(signal.values, signal.valid)
    if len(values) <= 2 * _ODD_AROUND:
        return values
    windows = sliding_window_view(np.pad(values, _ODD_AROUND, mode="reflect"), 2 * _ODD_AROUND + 1)
    sides = [find_median(part, axis=1) for part in (windows[:, :_ODD_AROUND], windows[:, _ODD_AROUND + 1 :])]
    middle = sum(sides) / 2
    beyond = np.abs(values - np.clip(values, *np.sort(sides, axis=0)))
    return bridge(values, signal.valid & (beyond <= _ODD_DEVIATIONS * measure_spread(values - middle)))
