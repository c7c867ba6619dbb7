"""Tables with odd, equal, zero and untrained rows and columns."""

from __future__ import annotations

import numpy as np

from tests import planted
from tests.inspection.corpus.bases import (
    SMALL,
    STORED,
    draw_last,
    draw_row,
    draw_seed,
    draw_unlike,
    make_bert,
    make_small,
    store,
    store_somehow,
)
from tests.inspection.corpus.cases import LAST, ODD, Case, Truth, each, kind, rows_of


@each({"odd first row, long": (2.0, 6.0), "odd first row of usual length": (0.9, 1.1)})
def make_first(generator, between):
    table = make_bert(generator, 256, 192) if generator.integers(2) else make_small(generator)
    table[0] = draw_unlike(table, 1, generator, generator.uniform(*between))[0]
    return Case(table=store_somehow(table, generator), truth=rows_of(0, 0, "special-first-row"))


@kind("two rows of padding in front")
def make_padded(generator):
    what = ("mixed", "noise", "zero", "large")[generator.integers(4)]
    table = planted.plant_padding(make_small(generator), what, draw_seed(generator))
    return Case(table=store_somehow(table, generator), truth=rows_of(0, 1, "padding-offset"))


@each({"odd middle row, long": (2.5, 5.0), "odd middle row of usual length": (0.9, 1.1)})
def make_middle(generator, between):
    table = make_bert(generator, 384, 256)
    row = draw_row(generator, len(table))
    table[row] = draw_unlike(table, 1, generator, generator.uniform(*between))[0]
    return Case(table=store_somehow(table, generator), truth=rows_of(row, row, *ODD))


@each({"odd last row": 1, "two odd last rows": 2})
def make_last(generator, count):
    table = make_bert(generator, 384, 256)
    table[-count:] = draw_last(table, count, generator)
    last = len(table) - 1
    return Case(table=store_somehow(table, generator), truth=rows_of(last - count + 1, last, *LAST))


@each({"untrained tail": True, "tail of zeros": False})
def make_tail(generator, is_noise):
    table = make_small(generator)
    start = int(len(table) * generator.uniform(0.4, 0.95))
    table = planted.plant_tail(table, start, draw_seed(generator), table.std() * generator.uniform(0.3, 1.0) * is_noise)
    return Case(table=store_somehow(table, generator), truth=rows_of(start, len(table) - 1, "untrained-tail"))


@kind("row of zeros")
def make_zero_row(generator):
    table = make_small(generator)
    row = draw_row(generator, len(table))
    table[row] = 0
    return Case(table=store_somehow(table, generator), truth=rows_of(row, row, "zero-rows"))


@kind("row of one number")
def make_constant_row(generator):
    table = make_small(generator)
    row = draw_row(generator, len(table))
    table[row] = table.std()
    codes = rows_of(row, row, "constant-rows")
    return Case(table=store_somehow(table, generator), truth=codes, also=ODD)


@kind("equal rows")
def make_equal(generator):
    table = make_small(generator)
    first, second = sorted((5 + generator.choice(len(table) - 10, 2, replace=False)).tolist())
    table = planted.plant_copies(table, first, second)
    return Case(table=store_somehow(table, generator), truth=rows_of(first, second, "duplicate-rows"), also=ODD)


@each({"column of zeros": 0.0, "column of one number": 1.0})
def make_dead_column(generator, number):
    table = make_small(generator)
    table[:, generator.integers(table.shape[1])] = number * table.std()
    code = "constant-columns" if number else "zero-columns"
    return Case(table=store_somehow(table, generator), truth=(Truth(codes=frozenset({code})),))


@kind("table that repeats")
def make_repeating(generator):
    table = make_small(generator)
    period = int(generator.integers(len(table) // 5, len(table) // 2))
    table = store_somehow(table[np.arange(len(table)) % period], generator)
    truth = Truth(codes=frozenset({"repeating-rows"}), rows=(0, len(table) - 1), data={"period": period})
    return Case(table=table, truth=(truth,), also=frozenset({"regular-jumps"}))


@each({"noise": None, "noise in int8": "int8"})
def make_untrained(generator, dtype):
    table = planted.make_noise(*SMALL[generator.integers(len(SMALL))], draw_seed(generator))
    table = store(table, dtype or generator.choice(STORED))
    return Case(table=table, truth=rows_of(0, len(table) - 1, "no-structure"), lines=())
