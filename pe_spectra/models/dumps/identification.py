"""Which ladder and which scaling a list of rotary frequencies is, as far as their rounding allows to say.

A scaling is named only where the published formula, computed anew with the parameters found, gives all
frequencies within rounding. Where none does, the base is that of the ladder that most pairs are, if any.
Whatever the frequencies are, there is an answer: of unknown parts None. A ladder is theta_i = b**(-i/P),
i = 0 .. P - 1, P pairs; its base is known within an interval that every pair narrows, and the shortest
decimal number in it is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.errors import PeSpectraError
from pe_spectra.exact import F64, NDArray
from pe_spectra.models.rotation import Rotation
from pe_spectra.numbers import find_shortest

#: Largest logarithm whose exponential is a number, and that of a base.
_MAX_LOG, _MAX_LOG_BASE = 709.0, 690.0
#: Turns within the original length at which YaRN's ramp begins and ends.
_BETA_FAST, _BETA_SLOW = 32.0, 1.0
#: Pairs in front, and pairs anywhere if they are most, that say the base where the scaling is unknown.
_SURE_FRONT, _SURE_MOST = 8, 5
#: Pairs that are named as exceptions.
_NAMED = 4
_MIN_LENGTH, _MAX_LENGTH = 16, 1 << 30
_NO_SCALING = "no published scaling with its usual parameters gives these frequencies"
#: Scalings that leave a ladder a ladder.
LADDERS = ("none", "linear", "proportional")


def identify_scaling(frequencies: F64, bounds: F64, rest: float = 0.0) -> Rotation:
    """Find the base and the scaling of frequencies.

    Parameters
    ----------
    frequencies : (P,) rad/position, not rising, zeros last, at least one above 0.
    bounds : (P,) largest relative error of each.
    rest : rad/position; what is given as 0 is at most this, as types round small numbers to 0.

    Returns
    -------
    base, scaling and its options where they are known, and remarks; no other part.

    >>> ladder = 10000.0 ** -(np.arange(32) / 32)
    >>> found = identify_scaling(ladder / 4, np.full(32, 1e-12))
    >>> found.base, found.scaling, found.options["factor"]
    (10000.0, 'linear', 4.0)
    """
    turned = int(np.count_nonzero(frequencies))
    if turned < 2:
        return Rotation(notes=("one pair alone does not say which base it has",))
    # of logarithms: a number that is off by a share e may be 1/(1 - e) times too large
    bounds = np.maximum(bounds, -np.log1p(-np.minimum(bounds, 1 - 2.0**-53)))
    return (
        _identify_ladder(frequencies, bounds, rest)
        or _identify_blend(frequencies, bounds, rest)
        or _identify_integers(frequencies, bounds)
        or _describe_most(frequencies, bounds)
        or _describe_front(frequencies, bounds)
        or Rotation(notes=(f"{_NO_SCALING}; base and scaling are unknown",))
    )


# --------------------------------------------------------------------- ladders


def _identify_ladder(frequencies: F64, bounds: F64, rest: float) -> Rotation | None:
    """Name a ladder, of which all frequencies may be divided, and the slowest pairs at rest.

    They are at rest where the ladder, continued to the first of them, is above what is given as 0 for every base.
    """
    turned, pairs = int(np.count_nonzero(frequencies)), len(frequencies)
    logs, bounds = np.log(frequencies[:turned]), bounds[:turned]
    factor = 1.0 if abs(logs[0]) <= bounds[0] else _shorten_power(-logs[0], bounds[0])
    if not 0 < factor < math.inf:
        return None
    low, high = _bound_log_base(logs + math.log(factor), bounds, pairs)
    least = low
    if turned < pairs:
        least = max(low, (-math.log(rest) - math.log(factor) - bounds[0]) * pairs / turned) if rest else math.inf
    continued = least <= high
    base = _shorten_base(least if continued else low, high) if high <= _MAX_LOG_BASE else None
    if base is None:
        return None
    scaling, options, notes = "none", dict[str, object](), []
    if factor != 1:
        scaling, options["factor"] = "linear", factor
    if turned < pairs and continued:
        notes.append(f"pairs from {turned} on are read as 0, as frequencies up to {rest:.3g} may be")
    elif turned < pairs:
        scaling, options = "proportional", {"share": turned / pairs, **options}
        notes.append(f"pairs from {turned} on are not turned; clipping the slowest pairs hard gives the same")
    if factor < 1:
        notes.insert(0, f"all frequencies are {1 / factor:.6g} times those of a ladder that begins at 1")
        return Rotation(base=base, notes=tuple(notes))
    return Rotation(base=base, scaling=scaling, options=options, notes=tuple(notes))


def _describe_most(frequencies: F64, bounds: F64) -> Rotation | None:
    """Name the base where more than half of the pairs are one ladder and some are not."""
    turned, pairs = int(np.count_nonzero(frequencies)), len(frequencies)
    logs, index = np.log(frequencies[:turned]), np.arange(turned)
    # the middle one of the steps, and of what is left, is that of most pairs
    start = float(np.median(logs - float(np.median(np.diff(logs))) * index))
    for divisor in dict.fromkeys((1.0, _shorten_power(-logs[0], bounds[0]), _shorten_power(-start, bounds[0]))):
        if not 0 < divisor < math.inf:
            continue
        base, fits = _fit_most(logs + math.log(divisor), bounds[:turned], pairs)
        count = int(fits.sum())
        if base is None or count < _SURE_MOST or 2 * count <= turned:
            continue
        divided = "" if divisor == 1 else f", divided by {divisor:g}"
        text = f"{_name_most(fits, pairs)} those of base {base:g}{divided}"
        return Rotation(base=base, notes=(f"{_NO_SCALING}; {text}",))
    return None


def _name_most(fits: np.ndarray, pairs: int) -> str:
    count, others = int(fits.sum()), np.flatnonzero(~fits)
    if fits[:count].all():
        return f"the first {count} pairs are"
    shown = ", ".join(str(pair) for pair in others[:_NAMED])
    if len(others) > _NAMED:
        return f"{count} of {pairs} pairs are"
    return f"all pairs but {shown} are" if len(fits) == pairs else f"all pairs that turn but {shown} are"


def _describe_front(frequencies: F64, bounds: F64) -> Rotation | None:
    """Name the base where only the fastest pairs are a ladder."""
    logs = np.log(np.maximum(frequencies, 1e-300))
    kept = _count_kept(logs, bounds, len(frequencies))
    sure = kept >= _SURE_FRONT and abs(logs[0]) <= bounds[0]
    base = _shorten_base(*_bound_log_base(logs[:kept], bounds[:kept], len(frequencies))) if sure else None
    if base is None:
        return None
    return Rotation(base=base, notes=(f"{_NO_SCALING}; the first {kept} pairs are those of base {base:g}",))


def _shorten_power(log: float, bound: float) -> float:
    """Return the shortest decimal number within exp(log +- bound); infinity where it is none."""
    return find_shortest(*(math.exp(one) if one < _MAX_LOG else math.inf for one in (log - bound, log + bound)))


def _shorten_base(low: float, high: float) -> float | None:
    """Return the shortest decimal number whose logarithm is in an interval; None where there is none."""
    return find_shortest(math.exp(low), math.exp(high)) if low <= high and 0 < high < _MAX_LOG else None


def _bound_log_base(logs: F64, bounds: F64, pairs: int) -> tuple[float, float]:
    """Return the interval of ln b that all pairs allow; empty where the first is above the second."""
    index = np.arange(1, len(logs))
    # the divisor that was found is as uncertain as the first pair
    slack = bounds[1:] + bounds[0]
    return float(np.max((-logs[1:] - slack) * pairs / index)), float(np.min((-logs[1:] + slack) * pairs / index))


def _count_kept(logs: F64, bounds: F64, pairs: int) -> int:
    """Count the pairs in front that are one ladder which begins at 1."""
    for count in range(3, pairs + 1):
        low, high = _bound_log_base(logs[:count], bounds[:count], pairs)
        if low > high:
            return count - 1
    return pairs


def _fit_most(logs: F64, bounds: F64, pairs: int) -> tuple[float | None, NDArray[np.bool_]]:
    """Return the base that most pairs allow, None where none, and which pairs these are."""
    index = np.arange(1, len(logs))
    lows, highs = ((-logs[1:] + side * bounds[1:]) * pairs / index for side in (-1, 1))
    # most intervals have a point in common that is the start of one of them
    starts, ends = np.sort(lows), np.sort(highs)
    open_there = np.arange(1, len(starts) + 1) - np.searchsorted(ends, starts, side="left")
    point = starts[int(np.argmax(open_there))]
    inside = (lows <= point) & (point <= highs)
    fits = np.concatenate([[abs(logs[0]) <= bounds[0]], inside])
    return _shorten_base(float(lows[inside].max()), float(highs[inside].min())), fits


def _fit_line(at: F64, values: F64) -> tuple[float, float]:
    """Return slope and value at 0 of the least-squares line; both 0 where there is none."""
    centred = at - at.mean()
    spread = float(centred @ centred)
    if not spread > 0:
        return 0.0, 0.0
    slope = float(centred @ values) / spread
    return slope, float(values.mean()) - slope * float(at.mean())


def _identify_integers(frequencies: F64, bounds: F64) -> Rotation | None:
    """Name the scaling that rounds wavelengths to integers."""
    if not frequencies.all():
        return None
    # the wavelength of what hardly turns is no integer that could be seen
    wavelengths, pairs = 2 * math.pi / np.maximum(frequencies, 1e-300), len(frequencies)
    whole = np.rint(wavelengths)
    index = np.arange(pairs)[(wavelengths * bounds < 0.1) & (np.arange(pairs) > 0) & (whole > 0)]
    if len(index) < _SURE_FRONT or np.any(np.abs(wavelengths - whole)[index] > 2 * (wavelengths * bounds)[index]):
        return None
    # the wavelength before rounding, 2 pi b**(i/P), is within half a position
    low = np.max(np.log((whole[index] - 0.5) / (2 * math.pi)) * pairs / index)
    high = np.min(np.log((whole[index] + 0.5) / (2 * math.pi)) * pairs / index)
    base = _shorten_base(low, high)
    computed = _compute("resonance", base, 2 * pairs, {}) if base is not None and base > 1 else None
    if computed is None or np.any(np.abs(frequencies - computed) > 2 * bounds * computed):
        return None
    return Rotation(base=base, scaling="resonance")


# --------------------------------------------------------------------- ladders kept in front, divided behind


def _identify_blend(frequencies: F64, bounds: F64, rest: float) -> Rotation | None:
    allowed = np.where(frequencies > 0, 1e-300, max(rest, 1e-300))
    logs, pairs = np.log(np.maximum(frequencies, 1e-300)), len(frequencies)
    kept = _count_kept(logs, bounds, pairs) if abs(logs[0]) <= bounds[0] else 0
    for count in range(kept, max(kept - 4, 2), -1):
        base = _shorten_base(*_bound_log_base(logs[:count], bounds[:count], pairs))
        if base is None:
            return None
        for scaling, options, notes in _propose(base, frequencies, bounds, count):
            computed = _compute(scaling, base, 2 * pairs, options)
            if computed is not None and np.all(np.abs(frequencies - computed) <= 2 * bounds * computed + allowed):
                shown = {key: "no" if value is False else value for key, value in options.items()}
                return Rotation(base=base, scaling=scaling, options=shown, notes=notes)
    return None


_Proposal = tuple[str, dict[str, object], tuple[str, ...]]


def _compute(scaling: str, base: float, width: int, options: Mapping[str, object]) -> F64 | None:
    try:
        return np.array([float(value) for value in SCALINGS[scaling].function(base, width, **options).frequencies])
    except (PeSpectraError, ArithmeticError):
        # parameters that no formula takes made nothing
        return None


def _propose(base: float, frequencies: F64, bounds: F64, kept: int) -> Iterator[_Proposal]:
    """Name the scalings that may have made the frequencies, the likeliest first."""
    pairs = len(frequencies)
    if frequencies[-1] == 0:
        yield "clipped", {"clipped_pairs": pairs - kept + 1, "taper": "hann"}, ()
        return
    ladder = np.array([float(value) for value in compute_ladder(base, 2 * pairs)])
    ratios = ladder / np.maximum(frequencies, 1e-300)
    with np.errstate(over="ignore"):
        lows, highs = ratios * (1 - 2 * bounds), ratios * (1 + 2 * bounds)
    low, high, first = 0.0, math.inf, pairs
    while first > kept and max(low, lows[first - 1]) <= min(high, highs[first - 1]):
        first -= 1
        low, high = max(low, float(lows[first])), min(high, float(highs[first]))
    # slow pairs that may be undivided were not divided
    if first == pairs or low <= 1:
        return
    factor = find_shortest(low, high)
    middle = np.arange(kept, first)
    shares = (1 - frequencies[middle] / ladder[middle]) / (1 - 1 / factor)
    yield from _propose_by_turns(factor, ladder[middle], 1 - shares)
    yield from _propose_by_index(factor, base, pairs, middle, shares)


def _propose_by_turns(factor: float, ladder: F64, kept: F64) -> Iterator[_Proposal]:
    # what is kept is (L theta/2 pi - low)/(high - low): a line in theta
    if not len(ladder):
        return
    fastest = float(ladder[0])
    unit = ladder / fastest
    for scaling, high in (("llama3", 4.0), ("yarn-paper", _BETA_FAST)):
        slope = float(unit @ (kept + 1 / (high - 1)) / (unit @ unit)) / fastest
        for original in _list_lengths(2 * math.pi * slope * (high - 1)):
            options: dict[str, object] = {"factor": factor, "original": original}
            if scaling == "llama3":
                options |= {"low_freq_factor": 1.0, "high_freq_factor": high}
            yield scaling, options, ()
    if len(ladder) < 3:
        return
    slope, start = _fit_line(unit, kept)
    slope /= fastest
    if slope > 0 > -1e-9 > start:
        high = find_shortest(*sorted((1 - 1 / start) * side for side in (0.9999, 1.0001)))
        note = "low_freq_factor is taken as 1: only its ratios to high_freq_factor and to the length are seen"
        for original in _list_lengths(-2 * math.pi * slope / start):
            options = {"factor": factor, "original": original, "low_freq_factor": 1.0, "high_freq_factor": high}
            yield "llama3", options, (note,)


def _propose_by_index(factor: float, base: float, pairs: int, middle: np.ndarray, shares: F64) -> Iterator[_Proposal]:
    # what is divided is (i - low)/(high - low): a line in the index
    if len(middle) < 2:
        return
    slope, start = _fit_line(middle.astype(float), shares)
    if slope <= 0:
        return
    low, high = -start / slope, (1 - start) / slope
    if not -pairs < low < high < 4 * pairs:
        return
    for original in _list_lengths(_measure_length(_BETA_SLOW, base, high / pairs)):
        yield "yarn", {"factor": factor, "original": original, "truncate": False}, ()
    low, high = round(low), round(high)
    shortest = _measure_length(_BETA_SLOW, base, (high - 1) / pairs)
    longest = _measure_length(_BETA_SLOW, base, high / pairs)
    if low > 0:
        shortest = max(shortest, _measure_length(_BETA_FAST, base, low / pairs))
    longest = min(longest, _measure_length(_BETA_FAST, base, (low + 1) / pairs))
    if not 1 < shortest < longest < _MAX_LENGTH:
        return
    note = f"lengths from {math.ceil(shortest)} to {math.floor(longest)} give the same frequencies"
    power = 1 << math.floor(math.log2(longest))
    for original in (power, math.floor(longest) // 1024 * 1024, round((shortest + longest) / 2)):
        if original >= shortest:
            yield "yarn", {"factor": factor, "original": original}, (note,)


def _measure_length(turns: float, base: float, share: float) -> float:
    """Return the length within which the pair at i = share P of the ladder turns so often; at most exp(709)."""
    return math.exp(min(math.log(2 * math.pi * turns) + share * math.log(base), _MAX_LOG))


def _list_lengths(length: float) -> Iterator[int]:
    """List usual lengths near one that was measured, then the nearest integer."""
    if not _MIN_LENGTH <= length <= _MAX_LENGTH:
        return
    found = [1 << round(math.log2(length)), 1024 * max(1, round(length / 1024)), round(length)]
    yield from dict.fromkeys(one for one in found if abs(one / length - 1) < 0.05)
