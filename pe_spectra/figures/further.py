"""The figures beyond the paper: rotary ladders, precision, separation and a Gram matrix."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.encodings import Sinusoidal
from pe_spectra.exact import F64
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.faithfulness.conditioning import compute_gram_matrix
from pe_spectra.models.lengths.methods import compare_methods
from pe_spectra.models.lengths.ways import KernelSample, sample_kernel
from pe_spectra.precision import measure_precision
from pe_spectra.vocabulary import RECIPE_TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Columns = Mapping[str, F64]
Parameters = Mapping[str, int | float | str | tuple[float, ...] | tuple[str, ...]]

# --------------------------------------------------------------------- rotary ladders (Fig. 5)

#: The head of Llama 3 8B: width, base, trained length; and the length that Llama 3.1 has.
LADDER_D, LADDER_BASE, TRAINED, TARGET = 128, 500000.0, 8192, 131072
#: The ways that are drawn; the unchanged ladder is drawn in each.
METHODS = ("linear", "ntk", "yarn", "llama3")
_PARTS = ("low", "mean", "high")
#: What the numbers of each figure depend on.
LADDERS: Parameters = {"d": LADDER_D, "base": LADDER_BASE, "trained": TRAINED, "target": TARGET}


def compute_ladders(_grid: int) -> Columns:
    """Compute wavelengths by pair, and kernels by lag; the shorter columns end in nan."""
    rows = {row.method: row for row in compare_methods(LADDER_D, LADDER_BASE, TRAINED, TARGET).methods}
    samples = {name: sample_kernel(rows[name].frequencies, TARGET) for name in ("none", *METHODS)}
    columns = {"pair": np.arange(LADDER_D // 2, dtype=float)}
    for name in ("none", *METHODS):
        columns[f"log10_wavelength_{name}"] = np.log10(2 * np.pi / rows[name].frequencies)
    for name in METHODS:
        columns[f"unseen_{name}"] = rows[name].unseen.astype(float)
    columns["log10_lag"] = np.log10(samples["none"].lags)
    for name, sample in samples.items():
        for part in _PARTS:
            columns[f"kernel_{part}_{name}"] = getattr(sample, part)
    longest = max(column.size for column in columns.values())
    return {
        name: np.pad(column, (0, longest - column.size), constant_values=np.nan) for name, column in columns.items()
    }


def draw_ladders(columns: Columns) -> Figure:
    """Draw the ladders from their columns."""
    from pe_spectra.plots.ladder import LadderCell, compose_ladders

    before = 10 ** _cut(columns["log10_wavelength_none"])
    cells = []
    for name in METHODS:
        after, unseen = 10 ** _cut(columns[f"log10_wavelength_{name}"]), _cut(columns[f"unseen_{name}"]) > 0
        cells.append(
            LadderCell(
                label=name,
                words=f"{np.count_nonzero(unseen)} pairs out of range, {np.isclose(after, before).sum()} kept",
                before=before,
                after=after,
                unseen=unseen,
                kernel_before=_read_kernel(columns, "none"),
                kernel_after=_read_kernel(columns, name),
            )
        )
    new = [cell.label for cell in cells if cell.unseen.any()]
    return compose_ladders(
        cells,
        trained=TRAINED,
        target=TARGET,
        title=f"From {TRAINED:,} to {TARGET:,} positions: out-of-range phases with {', '.join(new) or 'none'}",
        small_print=(f"d = {LADDER_D}, base {LADDER_BASE:g}, factor {TARGET // TRAINED}.",),
    )


def _cut(column: F64) -> F64:
    """A column without the nan that it ends in."""
    return column[np.isfinite(column)]


def _read_kernel(columns: Columns, name: str) -> KernelSample:
    low, mean, high = (_cut(columns[f"kernel_{part}_{name}"]) for part in _PARTS)
    return KernelSample(lags=10 ** _cut(columns["log10_lag"]), low=low, mean=mean, high=high)


# --------------------------------------------------------------------- precision (Fig. 6)

STAIR_D, STAIR_RHO, STAIR_LENGTH = 256, 10000.0, 8192
#: FigureRecipe and type of each curve, and how the columns call it.
PIPELINES = {
    "fp32_then_cast_bfloat16": ("fp32-then-cast", "bfloat16"),
    "bf16_positions_bfloat16": ("bf16-positions", "bfloat16"),
    "all_bf16_bfloat16": ("all-bf16", "bfloat16"),
    "bf16_positions_float16": ("bf16-positions", "float16"),
    "all_bf16_float16": ("all-bf16", "float16"),
}
#: The same in words, for the manifest.
PIPELINE_NAMES = tuple(f"{RECIPE_TITLES[recipe]}: {dtype}" for recipe, dtype in PIPELINES.values())
STAIRCASES: Parameters = {
    "encoding": "sinusoidal",
    "d": STAIR_D,
    "rho": STAIR_RHO,
    "length": STAIR_LENGTH,
    "pipelines": PIPELINE_NAMES,
}


def compute_staircases(_grid: int) -> Columns:
    """Compute distinct codes and phase errors by number of positions; the pairs that collide end in nan."""
    report = measure_precision(
        Sinusoidal(d=STAIR_D, rho=STAIR_RHO),
        length=STAIR_LENGTH,
        dtypes=("bfloat16", "float16"),
        recipes=("fp32-then-cast", "bf16-positions", "all-bf16"),
    )
    stairs = {(stair.recipe, stair.dtype): stair for stair in report.stairs}
    collisions = {(row.recipe, row.dtype): row.first_collision for row in report.codes}
    counts = report.stairs[0].counts.astype(float)
    columns = {"positions": counts}
    for name, pipeline in PIPELINES.items():
        columns[f"distinct_{name}"] = stairs[pipeline].distinct.astype(float)
    for name, pipeline in PIPELINES.items():
        errors = stairs[pipeline].errors
        with np.errstate(divide="ignore"):
            logarithms = np.log10(errors if errors is not None else np.zeros_like(counts))
        columns[f"log10_phase_error_{name}"] = np.where(np.isfinite(logarithms), logarithms, np.nan)
    for name, pipeline in PIPELINES.items():
        pair = collisions[pipeline]
        if pair is not None:
            ends = (0, counts.size - len(pair))
            columns[f"first_collision_{name}"] = np.pad(np.array(pair, dtype=float), ends, constant_values=np.nan)
    return columns


def draw_staircases(columns: Columns) -> Figure:
    """Draw the staircases from their columns."""
    from pe_spectra.plots.staircases import StairCurve, compose_stairs

    curves = []
    for name, title in zip(PIPELINES, PIPELINE_NAMES, strict=True):
        pair = columns.get(f"first_collision_{name}")
        curves.append(
            StairCurve(
                name=title,
                counts=columns["positions"],
                distinct=columns[f"distinct_{name}"],
                errors=10 ** columns[f"log10_phase_error_{name}"],
                collision=None if pair is None else (int(pair[0]), int(pair[1])),
            )
        )
    last = int(columns["distinct_bf16_positions_bfloat16"][-1])
    return compose_stairs(
        curves,
        title=f"Positions cast to bfloat16 leave {last:,} of {STAIR_LENGTH:,} vectors distinct; "
        "a final cast leaves all",
        small_print=(
            f"sinusoidal d={STAIR_D} rho={STAIR_RHO:g}. Circles: where the first two positions share a vector.",
        ),
    )


# --------------------------------------------------------------------- faithfulness (Fig. 7, 8)

#: A small encoding whose closest codes are no neighbours.
CURVE_D, CURVE_RHO, CURVE_LENGTH = 8, 3.0, 800
#: The encoding of the paper, and how many of its codes the Gram matrix shows.
GRAM_D, GRAM_RHO, GRAM_LENGTH = 256, 10000.0, 64
SEPARATIONS: Parameters = {"encoding": "sinusoidal", "d": CURVE_D, "rho": CURVE_RHO, "length": CURVE_LENGTH}
GRAM: Parameters = {"encoding": "sinusoidal", "d": GRAM_D, "rho": GRAM_RHO, "length": GRAM_LENGTH}


def compute_separations(_grid: int) -> Columns:
    """Compute the distance of two codes by lag, exact to a few units in the last place.

    >>> columns = compute_separations(256)
    >>> list(columns)
    ['lag', 'separation']
    """
    result = measure_faithfulness(Sinusoidal(d=CURVE_D, rho=CURVE_RHO), length=CURVE_LENGTH)
    distances = result.separation_by_lag
    if distances is None:
        raise RuntimeError("there is no curve by lag")
    return {"lag": np.arange(1, CURVE_LENGTH, dtype=float), "separation": distances}


def draw_separations(columns: Columns) -> Figure:
    """Draw the curve, and mark its smallest value: every pair at a lag is equally far apart."""
    from pe_spectra.plots.distances import SeparationCurve, compose_separation

    lags, distances = columns["lag"], columns["separation"]
    place = int(np.argmin(distances))
    lag, smallest = int(lags[place]), float(distances[place])
    curve = SeparationCurve(
        label=f"sinusoidal d={CURVE_D} rho={CURVE_RHO:g}",
        length=CURVE_LENGTH,
        lags=lags,
        distances=distances,
        closest=(0, lag, smallest),
    )
    return compose_separation(
        curve,
        title=f"The closest two of {CURVE_LENGTH} codes are {lag} positions apart; "
        f"neighbours are at {distances[0]:.5g}",
        small_print=(f"Euclidean distance at each lag, {CURVE_LENGTH} positions; circle: closest pair.",),
    )


def compute_gram(_grid: int) -> Columns:
    """Compute the dot products of the first codes, over the largest squared norm: a row for each pair (s, t).

    >>> columns = compute_gram(256)
    >>> float(columns["dot_product"].max())  # a code with itself
    1.0
    """
    gram = compute_gram_matrix(Sinusoidal(d=GRAM_D, rho=GRAM_RHO), GRAM_LENGTH)
    if gram is None:
        raise RuntimeError("there is no Gram matrix")
    s, t = np.indices(gram.shape)
    return {"s": s.ravel().astype(float), "t": t.ravel().astype(float), "dot_product": gram.ravel()}


def draw_gram(columns: Columns) -> Figure:
    """Draw the Gram matrix from its columns."""
    from pe_spectra.plots.distances import compose_matrix

    size = int(columns["s"].max()) + 1
    gram = np.zeros((size, size))
    gram[columns["s"].astype(int), columns["t"].astype(int)] = columns["dot_product"]
    least = Decimal(float(gram.min())).quantize(Decimal("0.01"), ROUND_FLOOR)  # what is said holds for all
    return compose_matrix(
        gram,
        f"sinusoidal d={GRAM_D} rho={GRAM_RHO:g}",
        title=f"Dot products of the first {size} codes never fall below {least} of the largest",
        small_print=("Every diagonal has one value: the dot product depends on the lag alone.",),
    )
