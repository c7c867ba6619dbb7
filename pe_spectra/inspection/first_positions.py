"""From which position of a ladder on a table reads it: the phases that its pairs of columns have in the first row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pe_spectra.encodings import Encoding, HasTable
from pe_spectra.encodings.pairs import Pairs
from pe_spectra.exact import C128, F64, I64
from pe_spectra.inspection.candidates import count_digits, find_columns, label_columns, list_free, vary
from pe_spectra.inspection.formula_fits import FormulaFit, choose_rows
from pe_spectra.limits import MAX_LENGTH
from pe_spectra.ordering import list_distinct
from pe_spectra.records import dataclass

#: Rows by which phases are measured.
_MEASURED = 256
#: Positions that are tried first, and how many are followed from step to step; pairs by which the first are judged.
_COARSE, _KEPT, _FEW = 1 << 14, 256, 16
#: Positions of one ladder that are judged, and ladders that are.
_JUDGED, _LADDERS = 3, 4
#: A phase that is off by more than this on average is no pair's.
_COSINE = 0.98
#: Digits with which fitted parameters are tried, and how far from the fit they may be.
_DIGITS, _AROUND = (1, 2, 3, 4, 5), 0.02
#: Times what a ladder of any phases leaves, and what may be left beside it, from which on phases are wrong.
_WORSE, _LITTLE = 4.0, 1e-4
#: A pair of which less than this varies tells no amplitude about its mean.
_TURNS = 1e-9
_TINY = 1e-300


@dataclass(frozen=True, kw_only=True, eq=False)
class Phases:
    """What the pairs of columns of a table are of a ladder, z(s) = c + C exp(i w s), by least squares.

    Attributes
    ----------
    fit : the encoding, the direction, and the order of its columns.
    frequencies : (M,) in rad/position. turned : (M,) C over what the encoding is at position 0.
    whole : (M,) the same without a constant c. parts : (M,) of a pair's variance about c that C has, over |C|**2.
    energy : the variance of all pairs.
    """

    fit: FormulaFit
    frequencies: F64
    turned: C128
    whole: C128
    parts: F64
    energy: float

    @property
    def share(self) -> float:
        """Share of the variance that pairs of these frequencies explain with any phases and amplitudes.

        >>> from pe_spectra import Sinusoidal
        >>> fit = FormulaFit(Sinusoidal(d=8))
        >>> round(measure_phases(Sinusoidal(d=8, offset=99).table(64), np.arange(64), fit).share, 9)
        1.0
        """
        return float(np.sum(self.parts * np.abs(self.turned) ** 2)) / self.energy

    def measure(self, first: int) -> float:
        """Return the share that the pairs explain with the phases of a first position, and amplitudes of their own.

        >>> from pe_spectra import Sinusoidal
        >>> fit = FormulaFit(Sinusoidal(d=8))
        >>> found = measure_phases(Sinusoidal(d=8, offset=99).table(64), np.arange(64), fit)
        >>> round(found.measure(99), 9), found.measure(98) < 0.9
        (1.0, True)
        """
        along = (self.turned * np.exp(-1j * self.frequencies * first)).real
        return float(np.sum(self.parts * np.maximum(along, 0) ** 2)) / self.energy

    def list_firsts(self, most: int) -> list[int]:
        """List the first positions, up to `most`, that come nearest to the phases.

        >>> from pe_spectra import Sinusoidal
        >>> table = Sinusoidal(d=16, offset=98765).table(64)
        >>> measure_phases(table, np.arange(64), FormulaFit(Sinusoidal(d=16))).list_firsts(10**6)[0]
        98765
        """
        firsts, agreed = search_phases(self.frequencies, self.whole, most)
        if agreed < _COSINE:
            # a constant row was added: it hides the phases of slow pairs
            firsts += search_phases(self.frequencies, self.parts * self.turned, most)[0]
        return sorted(dict.fromkeys(firsts), key=lambda first: -self.measure(first))[:_JUDGED]


def search_phases(frequencies: F64, turned: C128, most: int) -> tuple[list[int], float]:
    """Find the integers s up to `most` at which exp(i w s) are nearest to the directions of complex numbers.

    Slow pairs tell s coarsely: up to the frequency 1/step, places a step apart miss no maximum. Those that agree most
    are followed to half the step, where pairs of twice the frequency count as well, down to 1, where all count.

    Parameters
    ----------
    frequencies : (M,) in rad/position. turned : (M,) numbers, weighted by their magnitudes.

    Returns
    -------
    The best, and the mean cosine of what is left of the angles there.

    >>> w = np.array([1.0, 0.1, 0.01])
    >>> firsts, agreed = search_phases(w, np.exp(1j * w * 345), 600)
    >>> firsts[0], round(agreed, 9)
    (345, 1.0)
    """
    angles, weights = np.angle(turned), np.abs(turned)
    step = 1
    while most // step > _COARSE:
        step *= 2
    places = np.arange(0, most + 1, step)
    while True:
        slow = np.flatnonzero(frequencies * step <= 1) if step > 1 else np.arange(len(frequencies))
        used = slow[:: max(1, len(slow) // _FEW)] if len(places) > _KEPT * 4 else slow
        scores = np.cos(np.outer(places, frequencies[used]) - angles[used]) @ weights[used]
        # of those that agree alike the first
        best = np.argsort(-scores, kind="stable")[:_KEPT]
        if step == 1 and len(used) == len(frequencies):
            agreed = float(scores[best[0]]) / max(float(weights.sum()), _TINY)
            return places[best[:_JUDGED]].tolist(), agreed
        step = max(step // 2, 1)
        near = np.concatenate([places[best] + shift for shift in (-step, 0, step)])
        places = list_distinct(near[(near >= 0) & (near <= most)])


def measure_phases(table: F64, rows: I64, fit: FormulaFit) -> Phases:
    """Measure the phases of the pairs of a ladder in some rows of a table (S, d), in the direction that explains more.

    >>> from pe_spectra import Sinusoidal
    >>> found = measure_phases(Sinusoidal(d=4).table(64)[::-1], np.arange(64), FormulaFit(Sinusoidal(d=4)))
    >>> found.fit.reverse, bool(np.abs(np.angle(found.whole)).max() < 1e-9)
    (True, True)
    """
    encoding = fit.encoding
    labels = label_columns(encoding) if isinstance(encoding, Pairs) else np.zeros(table.shape[1], dtype=np.int64)
    sines, cosines = find_columns(labels[fit.columns])
    own_sines, own_cosines = find_columns(labels)
    both = (sines >= 0) & (cosines >= 0)
    pairs = table[np.ix_(rows, cosines[both])] + 1j * table[np.ix_(rows, sines[both])]
    origin = encoding.table(np.zeros(1, dtype=np.int64))[0] if isinstance(encoding, HasTable) else np.zeros(0)
    start = origin[own_cosines[both]] + 1j * origin[own_sines[both]]
    frequencies = encoding.words()[0][both] if isinstance(encoding, Pairs) else np.zeros(0)
    waves = np.exp(-1j * np.outer(rows, frequencies))
    middle = pairs.mean(axis=0)
    energy = float(np.sum(np.square(np.abs(pairs - middle)).mean(axis=0)))
    sides = []
    for reverse in (False, True):
        turning = waves.conj() if reverse else waves
        whole, mean = np.einsum("ij,ij->j", pairs, turning) / len(rows), turning.mean(axis=0)
        parts = 1 - np.abs(mean) ** 2
        # a pair that hardly turns is a constant
        turned = np.where(parts > _TURNS, whole - middle * mean, 0) / np.maximum(parts, _TURNS)
        # the first row is the last position
        back = start * np.exp(1j * frequencies * (len(table) - 1) * reverse)
        sides.append(
            Phases(
                fit=replace(fit, reverse=reverse),
                frequencies=frequencies,
                turned=turned / back * np.abs(back),
                whole=whole / back * np.abs(back),
                parts=parts,
                energy=max(energy, _TINY),
            )
        )
    return max(sides, key=lambda one: one.share)


def list_ladders(table: F64, rows: I64, tried: Sequence[FormulaFit]) -> list[Phases]:
    """List the ladders whose pairs explain most of a table with any phases, the best first.

    Parameters
    ----------
    table : (S, d). rows : those that are measured, 256 of them at most. tried : encodings in orders of columns; of
        those that are the same the first.

    >>> from pe_spectra import Sinusoidal
    >>> found = list_ladders(Sinusoidal(d=4).table(64), np.arange(64), [FormulaFit(Sinusoidal(d=4))])
    >>> [round(one.share, 6) for one in found]
    [1.0]
    """
    used = _choose(rows)
    found: dict[bytes, Phases] = {}
    for fit in tried:
        if isinstance(fit.encoding, Pairs):
            labels, words = label_columns(fit.encoding)[fit.columns], fit.encoding.words()[0]
            key = labels.tobytes() + words.tobytes() + str(fit.encoding.rows).encode()
            if key not in found:
                found[key] = measure_phases(table, used, fit)
    return sorted(found.values(), key=lambda one: -one.share)


def _choose(rows: I64) -> I64:
    return rows[choose_rows(len(rows), _MEASURED)] if len(rows) > _MEASURED else rows


def list_located(ladders: Sequence[Phases], table: F64, rows: I64) -> list[FormulaFit]:
    """List what reads a table from the position that its phases tell, the best first.

    Parameters
    ----------
    ladders : as :func:`list_ladders` gives them; those that leave twice as much as the best are passed over.

    >>> from pe_spectra import Sinusoidal
    >>> table = Sinusoidal(d=8, offset=1234).table(64)
    >>> ladders = list_ladders(table, np.arange(64), [FormulaFit(Sinusoidal(d=8))])
    >>> [(one.first, round(one.share, 6)) for one in list_located(ladders, table, np.arange(64))][0]
    (1234, 1.0)
    """
    left = 2 * (1 - ladders[0].share) + _LITTLE if ladders else 0.0
    near = [one for one in ladders if 1 - one.share <= left][:_LADDERS]
    written = [replace(one.fit, encoding=encoding) for one in near for encoding in _list_written(one.fit.encoding)]
    near += list_ladders(table, rows, written)
    found: list[FormulaFit] = []
    for one in near:
        last = one.fit.encoding.rows
        most = MAX_LENGTH if last is None else last - len(table)
        firsts = one.list_firsts(most) if most > 0 and 1 - one.share <= left else []
        found += [replace(one.fit, first=first, share=one.measure(first)) for first in firsts]

    def rank(fit: FormulaFit) -> tuple[float, int, bool, int]:
        return -round(fit.share, 4), count_digits(fit.encoding), bool(fit.order) or fit.reverse, fit.first

    return sorted(found, key=rank)


def has_phases(ladders: Sequence[Phases], fit: FormulaFit, table: F64, rows: I64) -> bool:
    """Whether a fit leaves no more than four times what the best ladder leaves with any phases.

    >>> from pe_spectra import Sinusoidal
    >>> table, rows = Sinusoidal(d=8, offset=5).table(64), np.arange(64)
    >>> ladders = list_ladders(table, rows, [FormulaFit(Sinusoidal(d=8))])
    >>> [has_phases(ladders, FormulaFit(Sinusoidal(d=8), first=first), table, rows) for first in (4, 5)]
    [False, True]
    """
    if not ladders or not isinstance(fit.encoding, Pairs):
        return True
    phases = measure_phases(table, _choose(rows), fit)
    explained = phases.measure(fit.first) if phases.fit.reverse == fit.reverse else 0.0
    return 1 - explained <= _WORSE * (1 - ladders[0].share) + _LITTLE


def _list_written(encoding: Encoding) -> Iterator[Encoding]:
    """List an encoding with its parameters written with few digits, where that changes little."""
    names = list_free(encoding)
    for digits in _DIGITS:
        values = {name: float(f"{getattr(encoding, name):.{digits}g}") for name in names}
        if all(abs(value / getattr(encoding, name) - 1) < _AROUND for name, value in values.items()) and values:
            written = vary(encoding, values)
            if written is not None and written != encoding:
                yield written
