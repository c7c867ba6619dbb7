"""Ways in which ports go wrong: each makes the frequencies of one side from what is known of the other.

They are listed from what happens often to what is rare; the first that explains a side is named (`causes`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from pe_spectra.encodings.rope_ladders import compute_ladder
from pe_spectra.encodings.rope_scaling import BLENDS, SCALINGS
from pe_spectra.exact import F64
from pe_spectra.models.comparison.divergence import ROUNDED, ROUNDED_CODE
from pe_spectra.models.comparison.start import LARGEST_LOG, Start
from pe_spectra.models.stated.statement import DEFAULT_BASE
from pe_spectra.precision.dtypes import STORED_TYPES, round_to
from pe_spectra.records import NamedTuple

#: Types, finest first, that frequencies may have been rounded to on the way.
_ROUNDED = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
#: What a ladder that begins at 1 then begins with, and what it is in.
_UNITS = ((180 / math.pi, "degrees"), (2 * math.pi, "2 pi times radians"), (0.5 / math.pi, "turns"))
_BETAS, _ENDS = ("beta_fast", "beta_slow"), ("low_freq_factor", "high_freq_factor")


#: Frequencies that a way makes, None where it has no meaning; of a way with two readings both, the plainer first.
_Made = F64 | None | tuple[F64 | None, ...]


class Way(NamedTuple):
    """A way to get one side's frequencies from the other's.

    In words, {here} is the side that it starts from and {there} the other;
    {base} and {label} are the base and the scaling of the former. Of a way that sets a parameter, {own} is its value
    there, {value} what `find` gives, and {each} both, by the letters of the sides.
    """

    code: str
    words: str
    make: Callable[[Start], _Made]
    #: Whether it may also, or may only, begin with a dump and end with what is stated: a fault is in what was computed.
    back: Literal["never", "also", "only"] = "never"
    parameter: str = ""
    find: Callable[[Start], object] = lambda _: None


def _scale_twice(start: Start) -> _Made:
    """Scale what was scaled once more: pair by pair, or by llama3, which looks at wavelengths as they are then."""
    by_pair = None if start.kept is None else start.frequencies * start.kept
    return by_pair, start.scale_by_wavelength(start.frequencies)


def _multiply(start: Start) -> F64 | None:
    """Multiply by what the scaling divides by."""
    return None if start.kept is None or start.ladder is None else start.ladder / start.kept


def _reverse_ramp(start: Start) -> F64 | None:
    """Divide the pairs that a scaling keeps, and keep those that it divides."""
    if start.kept is None or start.ladder is None or start.values["scaling"] not in BLENDS:
        return None
    found: F64 = start.ladder * (start.kept.min() + 1 - start.kept)
    return found


def _set_base(choose: Callable[[Start], object]) -> Callable[[Start], _Made]:
    """Another base, for the scaling too, or with pairs divided by what they are divided by."""

    def make(start: Start) -> _Made:
        if (base := choose(start)) is None:
            return None
        divided = None if start.kept is None else start.keep_divisors(start.vary(base=base, scaling="none"))
        return start.vary(base=base), divided

    return make


def _raise_base(power: float) -> Callable[[Start], object]:
    def choose(start: Start) -> object:
        return math.exp(min(power * math.log(start.values["base"]), LARGEST_LOG)) if start.values else None

    return choose


def _choose_default(start: Start) -> object:
    """The default base: of a side that is held against this one, or that states no base."""
    return DEFAULT_BASE if start.is_reference or start.other.base_key == "" else None


def _over_head(start: Start) -> F64 | None:
    head = start.rotation.head_dim
    return None if head is None or head == start.rotation.rotary_dim else start.spread(head)


def _over_turned(start: Start) -> F64 | None:
    """Of a share of pairs whose exponents are over the whole width: over the share alone."""
    turned = int(np.count_nonzero(start.frequencies))
    if not start.values or turned in (0, len(start.frequencies)):
        return None
    ladder = np.array([float(one) for one in compute_ladder(start.values["base"], 2 * turned)])
    return np.pad(ladder, (0, max(0, start.pairs - turned)))[: max(start.pairs, turned)]


def _swap(start: Start, names: tuple[str, str]) -> F64 | None:
    values = [start.find(name) for name in names]
    if None in values or names[0] not in SCALINGS[start.values["scaling"]].keys:
        return None
    return start.vary(**dict(zip(names, reversed(values), strict=True)))


def _reset(start: Start, *names: str) -> F64 | None:
    """Parameters of a scaling at their defaults."""
    if not start.is_scaled:
        return None
    defaults = SCALINGS[start.values["scaling"]].defaults
    changed = {name: defaults[name] for name in names if name in defaults}
    return start.vary(**changed) if changed else None


def _lengthen(start: Start) -> object:
    """The length after scaling in place of the one before."""
    factor, original = start.find("factor"), start.find("original")
    return round(factor * original) if factor and original else None


def _shorten(start: Start) -> object:
    """The original length over the factor, as where it is the length after scaling."""
    factor, original = start.find("factor"), start.find("original")
    return round(original / factor) if factor and original else None


def _truncate(start: Start, is_whole: bool) -> F64 | None:
    """The ends of yarn's ramp as they are, where the side rounds them to whole pairs, or the other way."""
    if start.values.get("scaling") != "yarn" or is_whole != (start.find("truncate") not in (False, "no")):
        return None
    return start.vary(truncate="no" if is_whole else "yes")


def _take_other_list(start: Start) -> F64 | None:
    """The list of longrope for lengths on the other side of the original one."""
    original, served = start.find("original"), start.find("served")
    if start.values.get("scaling") != "longrope" or not original:
        return None
    return start.vary(served=original if served and served > original else original + 1)


def _take_other_scaling(name: str) -> Callable[[Start], F64 | None]:
    def make(start: Start) -> F64 | None:
        is_other = start.is_scaled and start.values["scaling"] != name
        return start.vary(scaling=name) if is_other else None

    return make


def _widen(start: Start) -> F64 | None:
    """The same base and scaling over as many pairs as the other side has."""
    if not start.values or start.pairs == len(start.frequencies):
        return None
    return start.compute(d=2 * start.pairs, share=None)


def _share(power: float) -> Callable[[Start], F64 | None]:
    def make(start: Start) -> F64 | None:
        share = start.values.get("share", 1.0)
        return None if share == 1.0 else start.compute(share=share**power)

    return make


def _hold(start: Start) -> F64 | None:
    """As many as the other side has: the fastest alone, or all and pairs at rest behind them."""
    frequencies, turned = start.frequencies, int(np.count_nonzero(start.frequencies))
    if 0 < start.pairs < len(frequencies):
        return frequencies[: start.pairs]
    return np.pad(frequencies, (0, start.pairs - turned)) if turned == len(frequencies) < start.pairs else None


def _rest(start: Start) -> F64 | None:
    """The slowest pairs at rest, as many as the other side has so."""
    if start.pairs != len(start.frequencies) or start.turned >= np.count_nonzero(start.frequencies):
        return None
    return np.where(np.arange(start.pairs) < start.turned, start.frequencies, 0.0)


def _leave_first(start: Start) -> F64 | None:
    return start.frequencies[1 : start.pairs + 1] if start.pairs in range(1, len(start.frequencies)) else None


def _round(name: str) -> Callable[[Start], F64 | None]:
    return lambda start: round_to(start.frequencies, STORED_TYPES[name]).astype(np.float64)


def _rescale(factor: float) -> Callable[[Start], F64 | None]:
    return lambda start: start.frequencies * factor


#: Every known way, in the order in which they are tried.
WAYS: tuple[Way, ...] = (
    *(Way("unit", f"{{there}} is in {unit}", _rescale(factor)) for factor, unit in _UNITS),
    Way("scaling-dropped", "scaling dropped in {there} ({label} in {here})", lambda one: one.vary(scaling="none")),
    Way(
        "scaling-added",
        "{here} scales ({label}), and {there} does not",
        lambda one: one.vary(scaling="none"),
        back="only",
    ),
    Way(
        "default-base",
        "{there} has the default base 10000 ({base:.10g} in {here})",
        _set_base(_choose_default),
        back="also",
    ),
    Way(
        "scaling-and-base-dropped",
        "{there} has the default base 10000 and no scaling (base {base:.10g}, {label} in {here})",
        lambda one: one.vary(base=_choose_default(one), scaling="none") if one.is_scaled else None,
        back="also",
    ),
    *(Way(ROUNDED_CODE, ROUNDED.format(there="{there}", dtype=name), _round(name)) for name in _ROUNDED),
    Way("scaling-twice", "scaling applied twice in {there} ({label} in {here})", _scale_twice),
    Way("scaling-inverted", "{there} multiplies where {here} divides ({label})", _multiply),
    Way("ramp-reversed", "{there} divides the pairs that {here} keeps, and keeps the others ({label})", _reverse_ramp),
    Way(
        "other-list",
        "{there} takes the list of {label} for lengths on the other side of the original",
        _take_other_list,
    ),
    Way("share-dropped", "{there} turns the whole head, {here} a share of it", _share(0)),
    Way("share-twice", "the share that is turned is taken twice in {there}", _share(2)),
    Way("exponent", "the exponents of {there} are over the width of the head, not over what is turned", _over_head),
    *(
        Way("exponent", f"the exponents of {{there}} are {words}", _set_base(_raise_base(power)))
        for power, words in (
            (0.5, "half of those of {here}: i/D for 2i/D"),
            (2, "twice those of {here}: 4i/D for 2i/D"),
        )
    ),
    Way("exponent", "the exponents of {there} are over the channels that are turned, not over the head", _over_turned),
    Way(
        "exponent",
        "the ladder of {there} ends at 1/base, one pair earlier than in {here}",
        lambda one: one.spread(2 * (one.pairs - 1)),
    ),
    Way(
        "exponent",
        "the ladder of {there} begins with the second pair of {here}",
        lambda one: one.spread(2 * one.pairs, first=1),
    ),
    Way("at-rest", "the slowest pairs of {there} are at rest", _rest),
    Way("reversed", "the pairs stand in reverse order", lambda one: one.frequencies[::-1]),
    *(
        Way(
            "other-scaling",
            f"{{there}} reads what {{here}} has for {{label}} as {name}",
            _take_other_scaling(name),
        )
        for name in ("linear", "ntk", "dynamic", "yarn", "yarn-paper", "llama3")
    ),
    Way("ends-swapped", "beta_fast and beta_slow are swapped in {there}", lambda one: _swap(one, _BETAS)),
    Way("ends-swapped", "low_freq_factor and high_freq_factor are swapped in {there}", lambda one: _swap(one, _ENDS)),
    Way(
        "original-length",
        "the original length of {there} is {value:,}, the length after scaling ({own:,} in {here})",
        lambda one: one.vary(original=_lengthen(one)),
        parameter="original",
        find=_lengthen,
    ),
    Way(
        "original-length",
        "the original length of {there} is {value:,}, that of {here} over the factor ({own:,} in {here})",
        lambda one: one.vary(original=_shorten(one)),
        parameter="original",
        find=_shorten,
    ),
    Way(
        "truncation",
        "{here} rounds the ends of the ramp of yarn to whole pairs, and {there} does not",
        lambda one: _truncate(one, is_whole=True),
    ),
    Way(
        "truncation",
        "{there} rounds the ends of the ramp of yarn to whole pairs, and {here} does not",
        lambda one: _truncate(one, is_whole=False),
    ),
    Way("parameter-dropped", "{there} has beta_fast and beta_slow at their defaults", lambda one: _reset(one, *_BETAS)),
    Way(
        "parameter-dropped",
        "{there} has low_freq_factor and high_freq_factor at their defaults",
        lambda one: _reset(one, *_ENDS),
    ),
    Way("pairs-lost", "the slowest pairs are lost in {there}", _hold),
    Way("pairs-lost", "the fastest pair is lost in {there}", _leave_first),
)
#: What is said where no way is known: in which one number the sides differ.
OTHERS: tuple[Way, ...] = (
    Way("other-width", "{there} has the ladder of another width", _widen),
    Way(
        "other-base",
        "another base ({each})",
        _set_base(Start.solve_base),
        parameter="base",
        find=Start.solve_base,
    ),
    Way(
        "other-scaling",
        "another factor of {scaling} ({each})",
        lambda one: one.vary(factor=one.solve_factor()),
        parameter="factor",
        find=Start.solve_factor,
    ),
)
