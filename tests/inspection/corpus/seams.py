"""Tables that change from a row on."""

from __future__ import annotations

import math

from tests import planted
from tests.inspection.corpus.bases import (
    BERT,
    SMALL,
    draw_factor,
    draw_last,
    draw_row,
    draw_seed,
    draw_unlike,
    make_bert,
    make_ladder_and_noise,
    make_small,
    store,
    store_somehow,
)
from tests.inspection.corpus.cases import LAST, ODD, Case, each, kind, rows_of, seam


def bound_place(factor, width) -> int:
    """In how many rows a change of length is known by the lengths alone, at a level of 1 %.

    Lengths of rows of `width` normal numbers scatter by 1 / sqrt(2 width); the likeliest place of a change by ln f is
    off by more than 22 (1 / (2 width)) / ln(f)^2 rows with this probability (Bai 1997, Rev. Econ. Statist. 79, 551:
    11 for 5 %, and the tail falls by about half for 4 more).
    """
    return max(1, math.ceil(22 / (2 * width) / math.log(factor) ** 2))


#: Which of norms and steps change, and by what factors; norms alone, or steps, wander by some hundredths themselves.
PARTS = {
    "norms and steps change": ((True, True), (1.05, 1.3)),
    "norms change": ((True, False), (1.09, 1.3)),
    "steps change": ((False, True), (1.09, 1.3)),
    "norms change by 5 to 9 %": ((True, False), (1.05, 1.09)),
    "steps change by 5 to 9 %": ((False, True), (1.05, 1.09)),
}


@each(PARTS)
def make_changed(generator, asked):
    changed, factors = asked
    smooth, noise = make_ladder_and_noise(*BERT, generator)
    row, factor = draw_row(generator, len(smooth)), draw_factor(generator, *factors)
    for part, is_changed in zip((smooth, noise), changed, strict=True):
        part[row:] *= factor if is_changed else 1.0
    within = bound_place(factor, BERT[1])
    return Case(table=store_somehow(smooth + noise, generator), truth=seam(row, within))


@kind("change with an odd row at the break")
def make_changed_with_odd_row(generator):
    table, factor = make_bert(generator), draw_factor(generator, 1.1)
    row = draw_row(generator, len(table))
    table[row:] *= factor
    table[row] = draw_unlike(table, 1, generator, generator.uniform(1.0, 1.5))[0]
    within = bound_place(factor, BERT[1])
    return Case(table=store_somehow(table, generator), truth=seam(row, within), also=ODD)


@kind("another training from a row on")
def make_jump(generator):
    rows, width = SMALL[generator.integers(len(SMALL))]
    table, row = planted.make_trained(rows, width, draw_seed(generator)), draw_row(generator, rows)
    table = planted.plant_seam_jump(table, row - 1, draw_seed(generator))
    return Case(table=store_somehow(table, generator), truth=seam(row))


@kind("a vector is added from a row on")
def make_offset(generator):
    table = make_small(generator)
    row, size = draw_row(generator, len(table)), generator.uniform(0.4, 0.8)
    table = planted.plant_seam_offset(table, row - 1, draw_seed(generator), size)
    return Case(table=store_somehow(table, generator), truth=seam(row))


@kind("change of a table in int8")
def make_changed_int8(generator):
    table, factor = make_bert(generator), draw_factor(generator, 1.1)
    row = draw_row(generator, len(table))
    table[row:] *= factor
    return Case(table=store(table, "int8"), truth=seam(row, bound_place(factor, BERT[1])))


@kind("change, and odd first, middle and last rows")
def make_everything(generator):
    """As a table of BERT: trained with length 128 first, a row apart at the break, two at the end and the first."""
    table, row = make_bert(generator), 128
    table[row:] *= generator.uniform(1.1, 1.2)
    within = bound_place(1.1, BERT[1])
    table[0], table[row] = draw_unlike(table, 2, generator, generator.uniform(1.5, 2.5))
    table[-2:] = draw_last(table, 2, generator)
    truth = (
        *rows_of(0, 0, "special-first-row"),
        *seam(row, within),
        *rows_of(len(table) - 2, len(table) - 1, *LAST),
    )
    return Case(table=store_somehow(table, generator), truth=truth, also=ODD)
