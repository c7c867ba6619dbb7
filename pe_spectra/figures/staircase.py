"""The figure of precision: how many positions are distinct, and phase errors, in the types that models use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.encodings import Sinusoidal
from pe_spectra.exact import F64
from pe_spectra.precision import measure_precision
from pe_spectra.vocabulary import RECIPE_TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

D, RHO, LENGTH = 256, 10000.0, 8192
#: Recipe and type of each curve, and how the columns call it.
PIPELINES = {
    "fp32_then_cast_bfloat16": ("fp32-then-cast", "bfloat16"),
    "bf16_positions_bfloat16": ("bf16-positions", "bfloat16"),
    "all_bf16_bfloat16": ("all-bf16", "bfloat16"),
    "bf16_positions_float16": ("bf16-positions", "float16"),
    "all_bf16_float16": ("all-bf16", "float16"),
}
#: The same in words, for the manifest.
NAMES = tuple(f"{RECIPE_TITLES[recipe]}: {dtype}" for recipe, dtype in PIPELINES.values())


def compute_staircases(_grid: int) -> Mapping[str, F64]:
    """Compute distinct codes and phase errors by number of positions; the pairs that collide end in nan."""
    report = measure_precision(
        Sinusoidal(d=D, rho=RHO),
        length=LENGTH,
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


def draw_staircases(columns: Mapping[str, F64]) -> Figure:
    """Draw the staircases from their columns."""
    from pe_spectra.plots.precision import StairCurve, compose_stairs

    curves = []
    for name, title in zip(PIPELINES, NAMES, strict=True):
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
        title=f"Positions cast to bfloat16 leave {last:,} of {LENGTH:,} vectors distinct; a final cast leaves all",
        small_print=(f"sinusoidal d={D} rho={RHO:g}. Circles: where the first two positions share a vector.",),
    )
