"""Tables with planted periods, and noise that has none."""

from __future__ import annotations

import math

import numpy as np

from tests import planted
from tests.inspection.corpus.bases import SMALL, draw_grid, draw_seed, store_somehow
from tests.inspection.corpus.cases import Case, Line, each, kind


def draw_periods(generator, rows, count):
    """Periods of which a table of this length has three turns and more, each 1.35 times the one before."""
    periods = [generator.uniform(3.0, 5.0)]
    while len(periods) < count and periods[-1] * 2 < rows / 3:
        periods.append(periods[-1] * generator.uniform(1.35, 2.0))
    return periods


@each({"constant periods": 0.1, "constant periods in noise": 1.0})
def make_lines(generator, noise):
    rows, width = SMALL[generator.integers(len(SMALL))]
    periods = draw_periods(generator, rows, 6)
    shares = generator.uniform(0.1, 0.3, len(periods))
    table = planted.make_periodic(rows, width, draw_seed(generator), noise * shares.sum(), periods, shares)
    return Case(table=store_somehow(table, generator), lines=tuple(Line(along=(one,)) for one in periods))


@kind("a period that drifts")
def make_drift(generator):
    rows, width = 512, 96
    fast, *slow = draw_periods(generator, rows, 4)
    shares = generator.uniform(0.1, 0.3, len(slow) + 1)
    table = planted.make_periodic(rows, width, draw_seed(generator), generator.uniform(0.1, 0.5), slow, shares[1:])
    ends = (fast, fast * generator.uniform(1.1, 1.2))[:: generator.choice([-1, 1])]
    table = planted.add_drifting(table, *ends, shares[0], draw_seed(generator))
    lines = (Line(along=(float(np.mean(ends)),), drift=ends), *(Line(along=(one,)) for one in slow))
    return Case(table=store_somehow(table, generator), lines=lines)


def draw_slow_drift(generator, rows):
    """Cycles over the table at both ends of a line of 24 to 100 rows a cycle, 4 to 12 of them apart, 3 and more."""
    while True:
        middle = rows / math.exp(generator.uniform(math.log(24), math.log(100)))
        half = generator.choice([-1, 1]) * generator.uniform(2, 6)
        if middle - abs(half) >= 3:
            return middle - half, middle + half


@kind("slow periods that drift")
def make_slow_drift(generator):
    """One line or two that drift, and constant ones, each three cycles and more beside the others; and noise."""
    rows, width = 512, int(generator.choice([32, 96, 384]))
    bands = [draw_slow_drift(generator, rows)]
    wanted = int(generator.integers(4, 6))
    while len(bands) < wanted:
        drifts = len(bands) == 1 and generator.random() < 0.5
        band = draw_slow_drift(generator, rows) if drifts else 2 * (rows / math.exp(generator.uniform(1.1, 4.1)),)
        if all(min(band) > max(other) + 3 or max(band) < min(other) - 3 for other in bands):
            bands.append(band)
    shares = generator.uniform(0.1, 0.3, len(bands))
    table = np.sqrt(generator.uniform(0.02, 1) * shares.sum()) * 0.05 * generator.standard_normal((rows, width))
    lines = []
    for (first, last), share in zip(bands, shares, strict=True):
        ends = (rows / first, rows / last)
        table = planted.add_drifting(table, *ends, share, draw_seed(generator))
        lines.append(Line(along=(2 * rows / (first + last),), drift=ends if first != last else None))
    return Case(table=store_somehow(table, generator), lines=tuple(lines))


@kind("periods of a grid")
def make_waves(generator):
    shape = draw_grid(generator)
    y, x = np.divmod(np.arange(math.prod(shape)), shape[1])
    table, lines = np.zeros((len(y), 64)), []
    for sides in ((True, False), (False, True), (True, True))[: generator.integers(1, 4)]:
        along = tuple(
            side / generator.uniform(2.2, min(4.5, 0.46 * side)) if use else None
            for side, use in zip(shape, sides, strict=True)
        )
        angle = 2 * np.pi * sum(place / period for place, period in zip((y, x), along, strict=True) if period)
        amplitudes = generator.standard_normal((2, 64))
        table += np.cos(angle)[:, None] * amplitudes[0] + np.sin(angle)[:, None] * amplitudes[1]
        lines.append(Line(along=along))
    table += generator.uniform(0.1, 0.6) * generator.standard_normal(table.shape)
    return Case(table=store_somehow(table, generator), options={"grid": shape}, lines=tuple(lines))


@kind("sound: noise of low rank")
def make_low_rank(generator):
    rows, width = SMALL[generator.integers(len(SMALL))]
    rank = int(generator.integers(1, 4))
    table = generator.standard_normal((rows, rank)) @ generator.standard_normal((rank, width))
    return Case(table=table, also=frozenset({"no-structure"}), lines=())
