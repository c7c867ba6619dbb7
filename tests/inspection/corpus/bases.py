"""Tables in which something is planted, how they are stored, and what is drawn at random."""

from __future__ import annotations

import math

import numpy as np

from tests import planted

#: What training leaves in a table of BERT's kind: sides and the storage that is drawn from.
BERT, SMALL = (512, 384), ((192, 48), (256, 64), (320, 96))
STORED = ("float32", "float16", "bfloat16")
#: Patches of vision models: the grid, and the one that it was enlarged from.
GRIDS = {(14, 14): (7, 7), (16, 16): (14, 14), (24, 24): (14, 14), (12, 20): (8, 14), (8, 32): (6, 24)}


def store(table, dtype):
    """A table as a file of this type gives it back; int8 by one scale for all its numbers."""
    table = table.astype(np.float32)
    if dtype == "int8":
        scale = np.float32(np.abs(table).max() / 127)
        table = np.rint(table / scale) * scale
    elif dtype == "bfloat16":
        bits = table.view(np.uint32)
        table = ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)
    elif dtype != "float32":
        table = table.astype(dtype)
    return table.astype(np.float64)


def store_somehow(table, generator):
    return store(table, generator.choice(STORED))


def draw_seed(generator) -> int:
    return int(generator.integers(1 << 31))


def draw_factor(generator, least=1.05, most=1.3) -> float:
    """A factor between these, or one over such a factor; even in its logarithm."""
    return math.exp(generator.choice([-1, 1]) * generator.uniform(math.log(least), math.log(most)))


def draw_row(generator, rows) -> int:
    """A row with at least a fifth of the table on either side."""
    return int(generator.integers(rows // 5, rows - rows // 5))


def draw_unlike(table, rows, generator, factor=1.0):
    """Rows of noise, `factor` times as long as those of the table usually are."""
    noise = generator.standard_normal((rows, table.shape[1]))
    return factor * np.median(np.linalg.norm(table, axis=1)) * noise / np.linalg.norm(noise, axis=1, keepdims=True)


def draw_last(table, count, generator):
    """Last rows of about twice the usual length that share something with the others: not as before training."""
    lengths = np.linalg.norm(table, axis=1)
    shared = generator.uniform(0.4, 0.7) * np.median(lengths) * table[-count:] / lengths[-count:, None]
    return generator.uniform(1.6, 2.2) * (draw_unlike(table, count, generator) + shared)


def make_ladder_and_noise(rows, width, generator):
    """What is smooth in a table of BERT's kind, and its noise: a mean row, a ladder whose periods drift, and a trend.

    A dozen lines from 1.5 turns of the table to a period of 5 rows, each drifting by up to 15 %; rows grow or shrink
    by up to a tenth from the first to the last; norms are near 0.4 and steps half of that, most of them noise.
    """
    smooth = 0.6 * generator.standard_normal(width) * np.ones((rows, 1))
    for period in np.geomspace(rows / 1.5, 5.0, 12):
        ends = period * (1 + generator.uniform(-0.15, 0.15, 2))
        share = generator.uniform(0.3, 1.0) * (period / rows) ** 0.5
        smooth = planted.add_drifting(smooth, *ends, share, draw_seed(generator), scale=1.0)
    trend = np.exp(np.linspace(0, generator.uniform(-0.1, 0.1), rows))[:, None]
    noise = generator.uniform(0.25, 0.4) * generator.standard_normal((rows, width))
    length = 0.4 / np.sqrt(np.mean(np.sum(np.square(smooth), axis=1)))
    return length * trend * smooth, length * trend * noise * np.sqrt(np.mean(np.square(smooth)))


def make_bert(generator, rows=BERT[0], width=BERT[1]):
    """A table of BERT's kind with nothing planted."""
    return sum(make_ladder_and_noise(rows, width, generator))


def make_small(generator):
    """A small trained table, of one kind or another."""
    rows, width = SMALL[generator.integers(len(SMALL))]
    base = generator.choice([planted.make_trained, planted.make_periodic])
    return base(rows, width, draw_seed(generator))


def make_patches(generator, shape, channels=96):
    """The patches of a vision model."""
    return planted.make_grid(*shape, channels, draw_seed(generator), noise=generator.uniform(0.05, 0.3))


def draw_grid(generator):
    return list(GRIDS)[generator.integers(len(GRIDS))]
