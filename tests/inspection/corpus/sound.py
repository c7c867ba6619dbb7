"""Tables with nothing planted."""

from __future__ import annotations

import math

import numpy as np

from pe_spectra.encodings import ENCODINGS, HasTable
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_LENGTH
from tests import planted
from tests.inspection.corpus.bases import (
    GRIDS,
    SMALL,
    STORED,
    draw_grid,
    draw_seed,
    draw_unlike,
    make_bert,
    make_patches,
    store,
    store_somehow,
)
from tests.inspection.corpus.cases import DECLARED, Case, each, kind
from tests.inspection.corpus.enlarged import FRONT
from tests.inspection.tables import CONTROLS


@each({f"sound: {name}": maker for name, maker in CONTROLS.items()})
def make_control(generator, maker):
    size = SMALL[generator.integers(len(SMALL))]
    return Case(table=store_somehow(maker(*size, draw_seed(generator)), generator))


@each({f"sound: BERT's kind, {dtype}": dtype for dtype in (*STORED, "int8")})
def make_sound(generator, dtype):
    return Case(table=store(make_bert(generator), dtype))


def draw_process(generator, coefficients):
    """An autoregressive process, its first fifty rows left out."""
    rows, width = SMALL[generator.integers(len(SMALL))]
    table = generator.standard_normal((rows + 50, width))
    for row in range(2, len(table)):
        table[row] += sum(a * table[row - 1 - lag] for lag, a in enumerate(coefficients))
    return Case(table=table[50:], lines=())


@kind("sound: walk")
def make_walk(generator):
    size = SMALL[generator.integers(len(SMALL))]
    return Case(table=planted.make_walk(*size, draw_seed(generator)), lines=())


@kind("sound: AR(1)")
def make_first_order(generator):
    return draw_process(generator, [generator.uniform(0.5, 0.99)])


@kind("sound: AR(2)")
def make_second_order(generator):
    # real roots, so that it has no line
    first, second = generator.uniform(0.3, 0.95, 2)
    return draw_process(generator, [first + second, -first * second])


@kind("sound: ladder")
def make_ladder(generator):
    rho, step = math.exp(generator.uniform(math.log(50), math.log(1e6))), math.exp(generator.uniform(-3, 1))
    size = SMALL[generator.integers(len(SMALL))]
    return Case(table=store_somehow(planted.make_sinusoid(*size, rho, step), generator))


@each({"sound: ramp": 1, "sound: polynomial": 6})
def make_polynomial(generator, degree):
    rows, width = SMALL[generator.integers(len(SMALL))]
    order = degree if degree == 1 else int(generator.integers(2, degree))
    places = np.polynomial.legendre.legvander(np.linspace(-1, 1, rows), order)
    table = places @ generator.standard_normal((order + 1, width))
    return Case(table=store_somehow(table, generator), lines=())


def draw_smooth(generator, rows, width, among=(2.0,)):
    """Gaussian processes of one length of memory, from a row to a quarter of the table, and one smoothness."""
    length, smoothness = math.exp(generator.uniform(0, math.log(rows / 4))), generator.choice(among)
    lags = np.abs(np.subtract.outer(np.arange(rows), np.arange(rows)))
    values, vectors = np.linalg.eigh(np.exp(-((lags / length) ** smoothness)))
    return vectors * np.sqrt(np.maximum(values, 0)) @ generator.standard_normal((rows, width))


@kind("sound: Gaussian process")
def make_gaussian_process(generator):
    rows, width = SMALL[generator.integers(len(SMALL))]
    return Case(table=store_somehow(draw_smooth(generator, rows, width, (1.0, 2.0)), generator))


@kind("sound: few smooth columns")
def make_few_columns(generator):
    """Their norm falls nearly to zero where the curve passes by it, and turns there at once."""
    rows, width = SMALL[generator.integers(len(SMALL))][0], int(generator.integers(1, 4))
    return Case(table=draw_smooth(generator, rows, width))


@kind("sound: few columns of noise")
def make_few_columns_of_noise(generator):
    rows, width = SMALL[generator.integers(len(SMALL))][0], int(generator.integers(1, 9))
    return Case(table=generator.standard_normal((rows, width)), also=frozenset({"no-structure"}), lines=())


@kind("sound: noise of rank one or two")
def make_few_factors(generator):
    """Rows whose lengths scatter as those of one or two numbers do, with some noise of full rank beside them."""
    (rows, width), rank = SMALL[generator.integers(len(SMALL))], int(generator.integers(1, 3))
    table = generator.standard_normal((rows, rank)) @ generator.standard_normal((rank, width))
    noise = generator.choice([0.0, 0.01, 0.1, 0.3]) * generator.standard_normal((rows, width))
    return Case(table=table + noise, also=frozenset({"no-structure"}), lines=())


@kind("sound: sawtooths")
def make_sawtooths(generator):
    """Fields of a calendar as numbers that rise and fall back, each in a column, and time itself beside some."""
    rows = SMALL[generator.integers(len(SMALL))][0]
    places = np.arange(rows)[:, None]
    periods = generator.uniform(8, rows / 4, int(generator.integers(2, 9)))
    table = generator.standard_normal(len(periods)) * np.mod(places / periods + generator.random(len(periods)), 1)
    table = table if generator.random() < 0.5 else np.hstack([table, 3 * places / rows])
    return Case(table=table, also=frozenset({"regular-jumps"}))


@kind("sound: curves that bend")
def make_bent(generator):
    """Logistic and exponential curves, or ln(1 + |x|) of smooth ones, which turns at once where these pass zero."""
    rows, width = SMALL[generator.integers(len(SMALL))]
    places = np.linspace(-1, 1, rows)[:, None]
    rates = np.exp(generator.uniform(-1, 2.5, width))
    curves = {
        "logistic": lambda: 1 / (1 + np.exp(-rates * (places - generator.uniform(-0.6, 0.6, width)))),
        "exponential": lambda: np.exp(-rates * (1 + places)),
        "logarithm": lambda: np.log1p(np.abs(draw_smooth(generator, rows, width))),
    }
    curve = curves[generator.choice(list(curves))]() * generator.standard_normal(width)
    return Case(table=store_somehow(curve + generator.standard_normal(width), generator))


@kind("sound: roots")
def make_roots(generator):
    """Powers of the place from 0 on, whose first step is the longest."""
    rows, width = SMALL[generator.integers(len(SMALL))]
    curve = np.arange(rows)[:, None] ** generator.uniform(0.1, 0.9) * generator.standard_normal(width)
    noise = generator.choice([0.0, 0.01]) * generator.standard_normal((rows, width))
    return Case(table=store_somehow(curve + noise, generator), lines=())


@each({f"sound: grid {height} x {width}": (height, width) for height, width in GRIDS})
def make_sound_grid(generator, shape):
    return Case(table=store_somehow(make_patches(generator, shape), generator), options={"grid": shape})


@each({f"sound: grid behind {name}": count for name, count in FRONT.items()})
def make_grid_behind(generator, count):
    shape = draw_grid(generator)
    table = make_patches(generator, shape, 192)
    table = np.concatenate([draw_unlike(table, count, generator, generator.uniform(0.2, 4.0)), table])
    return Case(table=store_somehow(table, generator), options={"grid": shape, "prefix": count}, also=DECLARED)


def list_formulas():
    """The codes of the catalogue that are made by a formula, with no number drawn or learned."""
    for cls in ENCODINGS:
        try:
            encoding = cls()
        except InputError:  # it needs values
            continue
        if isinstance(encoding, HasTable) and encoding.domain == "positions" and not encoding.is_random:
            yield encoding


FORMULAS = tuple(list_formulas())


@kind("sound: formula")
def make_formula(generator):
    encoding = FORMULAS[generator.integers(len(FORMULAS))]
    if encoding.shape is not None:
        return Case(table=encoding.table(math.prod(encoding.shape)), options={"grid": encoding.shape}, is_formula=True)
    rows = min(int(generator.integers(96, 320)), encoding.rows or MAX_LENGTH)
    return Case(table=encoding.table(rows), is_formula=True)
