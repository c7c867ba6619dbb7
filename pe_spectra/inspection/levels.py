"""Where signals along a table change their level for good.

A change must explain more than chance and noise that remembers, wanders or drifts (`level_gains`), be there at once,
and last; what else is known of changes adds to that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pe_spectra.exact import F64
from pe_spectra.inspection.level_gains import bound_gains, measure_gains
from pe_spectra.inspection.series import Mask, bridge, measure_spread, pick_peaks

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
    signals: Mapping[str, Signal], first: int, last: int, known: Mapping[str, F64] = MappingProxyType({})
) -> Iterator[tuple[int, dict[str, LevelChange]]]:
    """Find the rows behind which signals change for good, the surest first, with the signals that do.

    Parameters
    ----------
    signals : by name; first, last : rows `first` to `last` - 1 are looked at.
    known : (S - 1,) by name, of how many standard errors something else says a change behind each row to be; 0 where
        it says none.

    The gains of those whose change is there at once and lasts (`_is_there`) are added up, and each is looked at alone.
    Without a change the sum of k gains has a chi-squared distribution of k degrees at each place; it exceeds the limit
    at one of the places in one table of 200, and so does one of the gains alone. A signal is named beside another
    where its gain has a probability of 0.001.

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
    told = {name: errors[first : last - 1] for name, errors in known.items() if errors[first : last - 1].any()}
    size = last - first
    least = chdtri(1, 1 / _SIGNALS)
    far = np.ones(size - 1, dtype=bool)
    for _ in range(_MOST_CHANGES):
        tried: dict[str, _Tried | _Known] = {name: _Tried(parts[name], values) for name, values in left.items()}
        tried |= {name: _Known(errors) for name, errors in told.items()}
        limits = {name: one.bound(1, 2 * len(tried)) for name, one in tried.items()}
        of_all = max(one.bound(len(tried), 2) for one in tried.values())
        # how far the sum, or a gain alone, goes beyond its limit
        total = far * sum(one.gains for one in tried.values()) / of_all
        beyond = np.max([total, *(far * one.gains / limits[name] for name, one in tried.items())], axis=0)
        for row in pick_peaks(beyond, beyond > 1, _FITTED)[:_MOST_PLACES]:
            there = {name: change for name, one in tried.items() if (change := one.read(row))}
            alone = any(change.errors**2 > limits[name] for name, change in there.items())
            if alone or sum(change.errors**2 for change in there.values()) > of_all:
                break
        else:
            return
        named = {name: change for name, change in there.items() if change.errors**2 > least}
        yield first + row, named
        far[max(row - _LASTING, 0) : row + _LASTING + 1] = False
        for name in named:
            removed = tried[name].remove(row)
            (left if name in left else told)[name] = removed


class _Tried:
    """A signal with what a change behind each row would explain; rows near the ends have none."""

    def __init__(self, signal: Signal, values: F64) -> None:
        self._signal, self._values = signal, values
        span = signal.span
        gains, self._sizes, apart = measure_gains(values)
        near = sliding_window_view(np.pad(gains, span), span + 1)
        # numbers of rows on both sides may be on either
        self._starts = np.arange(len(near)) + 1 - span + near.argmax(axis=1)
        self.gains: F64 = near.max(axis=1)
        beside = min(max(len(near) // 8, _FITTED), _LASTING)
        self.gains[: beside - 1] = self.gains[len(near) + 1 - beside :] = 0.0
        self._apart = apart[beside - 1 : len(apart) + 1 - beside]

    def bound(self, signals: int, tests: int) -> float:
        """What the sum of gains of so many signals like this exceeds at a place in one of 100 tests tables."""
        return bound_gains(self._apart, signals, 1 / _TABLES / tests)

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


class _Known:
    """Standard errors of a change behind each row, as they are told."""

    def __init__(self, errors: F64) -> None:
        self._errors = errors
        self.gains: F64 = errors**2

    def bound(self, signals: int, tests: int) -> float:
        """The same, as if places were independent."""
        return bound_gains(np.ones(len(self.gains) - 1), signals, 1 / _TABLES / tests)

    def read(self, row: int) -> LevelChange | None:
        """The change behind a row, of a size that is not told."""
        errors = float(abs(self._errors[row]))
        return LevelChange(size=math.nan, errors=errors) if errors else None

    def remove(self, row: int) -> F64:
        """What is told without all that belongs to one place."""
        left = self._errors.copy()
        left[max(row - 2 * _LASTING, 0) : row + 2 * _LASTING + 1] = 0.0
        return left


def _is_there(values: F64, start: int, span: int, size: float, least: float) -> bool:
    """Say whether lines through 8, 16 and 24 numbers on either side, and the medians of 24, differ by a change, too.

    The lines differ by half of it to twice it, within two of their usual differences: at once; the medians by a
    quarter or more: for good; both, over 24, by half of what is worth a sentence. `start` is the first number behind
    the change, `span` how many before it are of both sides.
    """
    if min(start - span, len(values) - start) < _FITTED or len(values) < 2 * _LASTING + span:
        return False
    medians = np.median(sliding_window_view(values, _LASTING), axis=1)
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
    sides = [np.median(part, axis=1) for part in (windows[:, :_ODD_AROUND], windows[:, _ODD_AROUND + 1 :])]
    middle = sum(sides) / 2
    beyond = np.abs(values - np.clip(values, *np.sort(sides, axis=0)))
    return bridge(values, signal.valid & (beyond <= _ODD_DEVIATIONS * measure_spread(values - middle)))
