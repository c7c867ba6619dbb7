"""Tables that were interpolated to another size, and grids read as lines."""

from __future__ import annotations

import numpy as np

from pe_spectra.inspection.resize import resize_table
from tests import planted
from tests.inspection.corpus.bases import (
    GRIDS,
    draw_grid,
    draw_seed,
    draw_unlike,
    make_bert,
    make_patches,
    store,
    store_somehow,
)
from tests.inspection.corpus.cases import DECLARED, Case, Truth, each, kind, rows_of

#: Names of conventions, as findings write them: method and align_corners.
WAYS = {
    "bicubic, align_corners=False": ("bicubic", False),
    "bicubic, align_corners=True": ("bicubic", True),
    "bilinear, align_corners=False": ("bilinear", False),
    "bilinear, align_corners=True": ("bilinear", True),
    "bicubic-antialias": ("bicubic-antialias", False),
    "nearest": ("nearest", False),
}


def resized(sizes, way):
    """The table was made of a smaller one: (old, new) of each axis, and how."""
    axes = [{"old": old, "new": new, "way": way} for old, new in sizes]
    return Truth(codes=frozenset({"interpolated"}), data={"axes": axes})


def draw_resized_line(generator, way):
    old = int(generator.choice([128, 192, 200, 256]))
    new = int(generator.choice([2 * old, old * 3 // 2, old + 64]))
    method, align_corners = WAYS[way]
    table = store(planted.make_trained(old, 64, draw_seed(generator)), "float32")
    return resize_table(table, new, method=method, align_corners=align_corners), resized([(old, new)], way)


def fine_tune(table, generator):
    """Add 0.5 to 2 % of a row's length in noise."""
    return table + generator.uniform(0.005, 0.02) * planted.make_row_noise(table, draw_seed(generator))


@each({f"lengthened, {way}": way for way in WAYS})
def make_lengthened(generator, way):
    table, truth = draw_resized_line(generator, way)
    return Case(table=store_somehow(table, generator), truth=(truth,))


@each({f"lengthened and fine-tuned, {way}": way for way in WAYS})
def make_lengthened_and_tuned(generator, way):
    table, truth = draw_resized_line(generator, way)
    return Case(table=store(fine_tune(table, generator), "float32"), truth=(truth,))


@each({"lengthened, in int8": "int8", "lengthened, in bfloat16": "bfloat16"})
def make_lengthened_and_stored(generator, dtype):
    table, truth = draw_resized_line(generator, list(WAYS)[generator.integers(len(WAYS))])
    return Case(table=store(table, dtype), truth=(truth,))


@kind("BERT's kind, lengthened from 512 to 1024")
def make_long(generator):
    way = list(WAYS)[generator.integers(len(WAYS))]
    method, align_corners = WAYS[way]
    table = resize_table(make_bert(generator), 1024, method=method, align_corners=align_corners)
    return Case(table=store_somehow(table, generator), truth=(resized([(512, 1024)], way),))


@kind("lengthened behind a row in front")
def make_lengthened_behind(generator):
    table, truth = draw_resized_line(generator, list(WAYS)[generator.integers(len(WAYS))])
    table = np.concatenate([draw_unlike(table, 1, generator, generator.uniform(2.0, 5.0)), table])
    return Case(table=store_somehow(table, generator), truth=(*rows_of(0, 0, "special-first-row"), truth))


def draw_resized_grid(generator):
    new = draw_grid(generator)
    way = list(WAYS)[generator.integers(len(WAYS))]
    method, align_corners = WAYS[way]
    old = GRIDS[new]
    table = store(make_patches(generator, old), "float32")
    return (
        resize_table(table, new, method=method, align_corners=align_corners, grid=old),
        {"grid": new},
        resized(zip(old, new, strict=True), way),
    )


GRID_CHANGES = {
    "grid enlarged": store_somehow,
    "grid enlarged and fine-tuned": fine_tune,
    "grid enlarged, in int8": lambda table, _: store(table, "int8"),
}


@each(GRID_CHANGES)
def make_enlarged(generator, change):
    table, options, truth = draw_resized_grid(generator)
    return Case(table=change(table, generator), truth=(truth,), options=options)


#: Rows in front of the patches of vision models, and how many they are.
FRONT = {"CLS": 1, "CLS and distillation": 2}


@each({f"grid enlarged behind {name}": count for name, count in FRONT.items()})
def make_enlarged_behind(generator, count):
    table, options, truth = draw_resized_grid(generator)
    table = np.concatenate([draw_unlike(table, count, generator, generator.uniform(0.2, 4.0)), table])
    options = {**options, "prefix": count}
    return Case(table=store_somehow(table, generator), truth=(truth,), options=options, also=DECLARED)


@kind("grid read as a line")
def make_flattened(generator):
    shape = draw_grid(generator)
    table = planted.make_grid(*shape, 192, draw_seed(generator), noise=generator.uniform(0.05, 0.3))
    truth = Truth(codes=frozenset({"regular-jumps"}), data={"spacing": shape[1]})
    return Case(table=store_somehow(table, generator), truth=(truth,))


@kind("ViT table read as a line")
def make_undeclared(generator):
    table = planted.make_grid(14, 14, 192, draw_seed(generator), noise=generator.uniform(0.05, 0.3))
    table = np.concatenate([draw_unlike(table, 1, generator, generator.uniform(2.0, 5.0)), table])
    wraps = Truth(codes=frozenset({"regular-jumps"}), data={"spacing": 14})
    return Case(table=store_somehow(table, generator), truth=(*rows_of(0, 0, "special-first-row"), wraps))
