"""An encoding held against what a series asks for: what it is in a window, at the periods, at gaps and at the ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pe_spectra.encodings import Encoding, GivenArray, HasContinuousTable, HasTable
from pe_spectra.encodings.codes import explain_absence
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.faithfulness.certificates import certify
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.faithfulness.separation import measure_separation
from pe_spectra.metrics.kernel_shape import OF_PERIOD
from pe_spectra.metrics.measures import measure_norm, relate_separation
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.series.kernel_returns import LEAST_RISE, AtPeriod, find_kernel, read_date, read_periods
from pe_spectra.series.proposing import Demand, SharedPeriod
from pe_spectra.series.series_report import SeriesReport
from pe_spectra.series.window_spectra import weigh_periods, weigh_window
from pe_spectra.study.shown import Shown, find_shown

#: Vectors at real positions that are this near, of their norm, differ by rounding.
_SAME = 1e-9
#: Parameters that follow the width of a network and its windows: an encoding that differs in these alone is the same.
_SIZES = ("d", "length", "heads", "head")


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate(Result):
    """An encoding, and what it is in a window of the series."""

    name: str = quantity("Its name among the candidates.", column="candidate")
    encoding: Encoding = quantity("The encoding that was looked at.", column=None)

    @derived("The SPEC that names it.")
    def spec(self) -> str:
        return self.encoding.write_spec(brief=True)

    distinct: bool | None = quantity(
        "Whether all positions of a window have different vectors (Definition 1); where times are on no lattice, not "
        "where a period of the series has one vector again. Null where it is not decided."
    )
    repeats: int | None = quantity(
        "Samples of the longest window in which they do; null where they do in this one.", minimum=1
    )
    trained_better: int | None = quantity(
        "Comparisons of the study in which it is shown to be learned better than the sinusoidal encoding, at its norm; "
        "null where the study has not trained it.",
        minimum=0,
    )
    trained_worse: int | None = quantity("Those in which it is shown to be learned worse; null likewise.", minimum=0)
    trained_of: int | None = quantity("How many there are; null likewise.", minimum=1)
    at_each: tuple[AtPeriod, ...] = quantity(
        "What its kernel does at each period inside the window, and where the series has a step of known length at "
        "each longer one.",
        key="periods",
        column=None,
    )

    @derived(
        "Share of the variance of these periods at whose lags the kernel comes back (`rise` above "
        f"{LEAST_RISE}); null without periods.",
        minimum=0,
        maximum=1.000001,
    )
    def seen(self) -> float | None:
        total = sum(self.shares)
        return sum(self.shares[i] for i, one in enumerate(self.at_each) if one.is_seen) / total if total else None

    relative_separation: float | None = quantity(
        "Smallest distance of two vectors of a window over the root mean squared distance of all pairs; null without "
        "vectors that are added or turned.",
        minimum=0,
    )
    neighbours: float | None = quantity(
        "Root mean squared distance of neighbours, over that of all pairs; null likewise.", minimum=0
    )
    ends: float | None = quantity(
        "Distance of the first and the last position of a window, over that of all pairs; null likewise.", minimum=0
    )
    gap: float | None = quantity(
        "Distance of the two samples beside the longest gap, over that of all pairs, where positions go by time; null "
        "likewise, and without gaps.",
        minimum=0,
    )
    norm_rms: float | None = quantity(
        "Root mean squared norm of the vectors of a window; null for what is not added to tokens.", minimum=0
    )
    factor: float | None = quantity(
        "What vectors are to be multiplied with to have the norm of the sinusoid at the width of the model, "
        "sqrt(d/2); null likewise.",
        minimum=0,
    )
    overlap: float | None = quantity(
        "Overlap of the spectrum with that of the periods in a window, the sum of the smaller of both weights at the "
        "frequencies k/window, k from 1 on: 0 where they have nothing in common, 1 where they are the same; null "
        "without periods inside the window.",
        minimum=0,
        maximum=1.000001,
    )

    @derived("Of each of these periods: k(P)/k(0), and whether it is a local maximum.", key=None)
    def at_periods(self) -> Mapping[str, float | bool | None]:
        return {
            f"{prefix}_{one.name}": getattr(one, OF_PERIOD[prefix].field)
            for one in self.at_each
            for prefix in ("ratio", "maximum")
        }

    #: Shares of the variance of the periods in `at_each`.
    shares: tuple[float, ...] = ()
    #: (window,) k(tau)/k(0), and (window // 2,) weights of sum 1 at the frequencies k/window, k = 1, 2, ..
    kernel: F64
    weights: F64


def measure_candidate(name: str, encoding: Encoding, report: SeriesReport, demand: Demand) -> Candidate:
    """Measure an encoding against a series, at the positions of a window.

    Where times are on no lattice positions are real: those of the window whose length is the median of all.

    Raises
    ------
    InputError : an encoding that cannot be had there, or whose numbers are learned.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.series.proposing import find_demand
    >>> from pe_spectra.series.series_report import describe_series
    >>> steps = np.arange(480.0)
    >>> report = describe_series({"load": np.sin(2 * np.pi * steps / 48)}, steps)
    >>> found = measure_candidate("sinusoidal", Sinusoidal(d=64), report, find_demand(report, d=64))
    >>> found.distinct, found.seen, round(found.norm_rms**2, 9)
    (True, 0.0, 32.0)
    """
    window, inside = demand.window, [one for one in demand.wanted if one.inside]
    beyond = [one for one in demand.wanted if not one.inside] if report.sampling.is_dated else []
    sampled = _sample(encoding, report, window)
    table = CodeTable(sampled, window)
    distinct, _, collisions = certify(table, 0)
    separation = measure_separation(table, collisions.first)
    smallest = separation.smallest if separation is not None else None
    if distinct is None and smallest:
        distinct = True if table.distance_error is None or smallest > table.distance_error else None
    nearest = 0.0 if distinct is False else smallest
    returns = _find_return(encoding, inside) if report.sampling.spacing == "uneven" else None
    distinct = distinct if returns is None else False
    kernel = find_kernel(encoding, window)
    shown = _find_trained(encoding)
    weights, wanted = weigh_window(kernel), weigh_periods(inside, window)
    return Candidate(
        name=name,
        encoding=encoding,
        distinct=distinct,
        repeats=collisions.first[1] if collisions.first is not None else returns,
        trained_better=shown and shown.better,
        trained_worse=shown and shown.worse,
        trained_of=shown and shown.comparisons,
        at_each=(
            *read_periods(encoding, inside, window),
            *(read_date(encoding, one, [other.steps for other in demand.wanted], window) for one in beyond),
        ),
        shares=tuple(one.share for one in (*inside, *beyond)),
        overlap=None if wanted is None else float(np.sum(np.minimum(weights, wanted))),
        kernel=kernel,
        weights=weights,
        **_measure_distances(sampled, encoding, nearest, report, demand),
    )


def _sample(encoding: Encoding, report: SeriesReport, window: int) -> Encoding:
    if encoding.is_random:
        raise InputError("its numbers are learned, and before training nothing can be said of them", encoding.label)
    if encoding.shape is not None:
        raise InputError("its positions fill a grid", encoding.label)
    if report.sampling.spacing != "uneven":
        if absent := explain_absence(encoding, window):
            raise InputError(f"it has {absent}, fewer than the window", encoding.label)
        return encoding
    if not isinstance(encoding, HasContinuousTable):
        raise InputError("it takes whole positions only, and the times are on no lattice", encoding.label)
    from pe_spectra.encodings.sampled import Sampled

    lengths = report.places[window - 1 :] - report.places[: len(report.places) - window + 1]
    first = int(np.argsort(lengths, kind="stable")[len(lengths) // 2])
    places = report.places[first : first + window]
    return Sampled(encoding=encoding, times=GivenArray(places - places[0]))


def _find_return(encoding: Encoding, inside: list[SharedPeriod]) -> int | None:
    """Whole steps in the shortest period after which real positions have their vector again; None where none is."""
    if not isinstance(encoding, HasContinuousTable):
        return None
    for steps in sorted(one.steps for one in inside):
        begin, end = encoding.table_at(np.array([0.0, steps]))
        if np.linalg.norm(end - begin) <= _SAME * np.linalg.norm(begin):
            return max(1, int(steps))
    return None


def _find_trained(encoding: Encoding) -> Shown | None:
    """What the study shows of an encoding, whose parameters are all the usual ones but for its size."""
    given = encoding.given
    usual = all(p.name in _SIZES or given.get(p.keyword, p.default) == p.default for p in encoding.accepts)
    return find_shown(encoding.name) if usual else None


def _measure_distances(
    sampled: Encoding, encoding: Encoding, smallest: float | None, report: SeriesReport, demand: Demand
) -> dict[str, Any]:
    """Distances of vectors over that of a typical pair, and their norm."""
    names = ("relative_separation", "neighbours", "ends", "gap", "norm_rms", "factor")
    found: dict[str, Any] = dict.fromkeys(names)
    if not isinstance(sampled, HasTable) or not isinstance(encoding, HasTable):
        return found
    codes = sampled.table(demand.window)
    scale = relate_separation(1.0, codes)
    if not isinstance(scale, str):
        steps = np.linalg.norm(np.diff(codes, axis=0), axis=1)
        across = _step_across(encoding, report)
        found["relative_separation"] = None if smallest is None else smallest * scale
        found["neighbours"] = float(np.sqrt(np.mean(steps**2))) * scale
        found["ends"] = float(np.linalg.norm(codes[-1] - codes[0])) * scale
        found["gap"] = None if across is None else across * scale
    if encoding.family != "rotary":
        norm = measure_norm(codes)
        found["norm_rms"] = norm
        found["factor"] = math.sqrt(demand.d / 2) / norm if norm > 0 else None
    return found


def _step_across(encoding: Encoding, report: SeriesReport) -> float | None:
    """The distance of the vectors of the samples beside the longest gap; of what has an end, of so many steps."""
    if not report.sampling.gaps:
        return None
    places = report.places
    before = int(np.argmax(np.diff(places)))
    first, last = float(places[before]), float(places[before + 1])
    if report.sampling.spacing == "uneven":
        rows = encoding.table_at(np.array([first, last])) if isinstance(encoding, HasContinuousTable) else None
    else:
        begin, end = round(first), round(last)
        if encoding.rows is not None:
            begin, end = 0, end - begin
        if not isinstance(encoding, HasTable) or (encoding.rows is not None and end >= encoding.rows):
            return None
        rows = encoding.table(np.array([begin, end]))
    return None if rows is None else float(np.linalg.norm(rows[1] - rows[0]))
