"""The figure of rotary ladders: wavelengths and kernel before and after four ways to lengthen a context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.models.lengths.methods import compare_methods
from pe_spectra.models.lengths.ways import KernelSample, sample_kernel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The head of Llama 3 8B: width, base, trained length; and the length that Llama 3.1 has.
D, BASE, TRAINED, TARGET = 128, 500000.0, 8192, 131072
#: The ways that are drawn; the unchanged ladder is drawn in each.
METHODS = ("linear", "ntk", "yarn", "llama3")
_PARTS = ("low", "mean", "high")


def compute_ladders(_grid: int) -> Mapping[str, F64]:
    """Compute wavelengths by pair, and kernels by lag; the shorter columns end in nan."""
    rows = {row.method: row for row in compare_methods(D, BASE, TRAINED, TARGET).methods}
    samples = {name: sample_kernel(rows[name].frequencies, TARGET) for name in ("none", *METHODS)}
    columns = {"pair": np.arange(D // 2, dtype=float)}
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


def draw_ladders(columns: Mapping[str, F64]) -> Figure:
    """Draw the ladders from their columns."""
    from pe_spectra.plots.ladder import LadderCell, compose_ladders

    before = 10 ** _cut(columns["log10_wavelength_none"])
    cells = []
    for name in METHODS:
        after, unseen = 10 ** _cut(columns[f"log10_wavelength_{name}"]), _cut(columns[f"unseen_{name}"]) > 0
        cells.append(
            LadderCell(
                label=name,
                words=f"{np.count_nonzero(unseen)} pairs with unseen phases, {np.isclose(after, before).sum()} kept",
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
        title=f"From {TRAINED:,} to {TARGET:,} positions: phases are new with {', '.join(new) or 'none'}",
        small_print=(f"d = {D}, base {BASE:g}, factor {TARGET // TRAINED}.",),
    )


def _cut(column: F64) -> F64:
    """A column without the nan that it ends in."""
    return column[np.isfinite(column)]


def _read_kernel(columns: Mapping[str, F64], name: str) -> KernelSample:
    low, mean, high = (_cut(columns[f"kernel_{part}_{name}"]) for part in _PARTS)
    return KernelSample(lags=10 ** _cut(columns["log10_lag"]), low=low, mean=mean, high=high)
