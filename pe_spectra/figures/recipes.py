"""What each figure holds: a result, its columns of numbers, and how it is drawn.

A recipe tabulates and draws one result, so that the .csv beside a figure holds the numbers that are drawn.
To add a figure: a function that computes a result, one that tabulates it, a `FigureRecipe` in `RECIPES`, and its
drawing in `FigureRecipe.draw`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pe_spectra.encodings import Dft, Sinusoidal
from pe_spectra.exact import F64, NDArray
from pe_spectra.faithfulness import Faithfulness, measure_faithfulness
from pe_spectra.models.lengths.methods import ContextReport, compare_methods
from pe_spectra.precision.rounding_report import PrecisionReport
from pe_spectra.precision.staircase import measure_precision
from pe_spectra.reconstruction import Reconstruction, reconstruct_positions
from pe_spectra.records import dataclass
from pe_spectra.spectrum.lag_window import compute_lag_window_spectrum, compute_spectrum
from pe_spectra.spectrum.record import Spectrum
from pe_spectra.vocabulary import RECIPE_TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Numbers, or words.
Columns = Mapping[str, NDArray[Any]]
Parameters = Mapping[str, int | float | str | tuple[float, ...] | tuple[str, ...]]

#: Lattice length of the paper's figures.
DEFAULT_GRID = 256
#: Differences of two weights below this are rounding, whatever their digits.
_ROUNDING = 1e-14


@dataclass(frozen=True, kw_only=True)
class FigureRecipe:
    """One figure.

    Attributes
    ----------
    name : of its files, without the ending.
    title : what it shows.
    parameters : what its numbers depend on besides the lattice length `grid`.
    follows_grid : whether its lattice is `grid` points long; else it is the paper's 256.
    compute : lattice length -> a result.
    tabulate : the result -> columns, each (rows,); nan where a number does not exist.
    rounding : absolute tolerance of columns that are themselves rounding errors.
    suffixes : endings of its drawings; the numbers are in a .csv.

    >>> recipe = RECIPES[0]
    >>> recipe.name, list(recipe.tabulate(recipe.compute(16)))
    ('fig1_spectrum', ['omega', 'weight', 'log10_weight', 'dft_weight', 'log10_dft_weight'])
    """

    name: str
    title: str
    parameters: Parameters
    compute: Callable[[int], Any]
    tabulate: Callable[[Any], Columns]
    follows_grid: bool = True
    rounding: Mapping[str, float] = field(default_factory=dict)
    suffixes: tuple[str, ...] = (".png", ".svg")

    def draw(self, result: Any) -> Figure:
        """Draw the result; only here the drawing library is needed."""
        from pe_spectra.plots.accuracies import compose_learning, compose_numbers
        from pe_spectra.plots.blur import compose_reconstruction, compose_widths
        from pe_spectra.plots.distances import compose_faithfulness, compose_gram
        from pe_spectra.plots.spectrum import compose_agreement, compose_spectrum
        from pe_spectra.plots.staircases import compose_precision
        from pe_spectra.plots.wavelengths import compose_context

        drawings: dict[str, Callable[[], Figure]] = {
            "fig1_spectrum": lambda: compose_spectrum(result[0], reference=result[1]),
            "fig2_reconstruction": lambda: compose_reconstruction(*result),
            "fig3_width_bandwidth": lambda: compose_widths(result, marked=_BANDWIDTH),
            "fig4_lag_window": lambda: compose_agreement(*result),
            "fig5_rotary_ladders": lambda: compose_context(result),
            "fig6_precision_staircase": lambda: compose_precision(result),
            "fig7_separation": lambda: compose_faithfulness(result, maps=0),
            "fig8_gram": lambda: compose_gram(result),
            "fig9_learning": lambda: compose_learning(result),
            "fig10_predictors": lambda: compose_numbers(result),
        }
        return drawings[self.name]()


# --------------------------------------------------------------------- the paper, and what its choices do (Fig. 1 to 4)

_PAPER: dict[str, Any] = {"encoding": "sinusoidal", "d": 256, "rho": 10000.0, "bandwidth": 4.0}
_ENCODING = Sinusoidal(d=256, rho=10000.0)
_BANDWIDTH, _POSITIONS = 4.0, (5, 40, 75)
#: Bandwidths of the third figure in bins: four to the octave, the paper's 4 among them.
_BANDWIDTHS = tuple(2.0 ** (step / 4) for step in range(-8, 25))


def _compute_spectra(grid: int) -> tuple[Spectrum, Spectrum]:
    original = compute_spectrum(_ENCODING, grid=grid, bandwidth=_BANDWIDTH)
    return original, compute_spectrum(Dft(d=grid))


def _tabulate_spectra(spectra: tuple[Spectrum, Spectrum]) -> Columns:
    original, reference = spectra
    return {
        "omega": original.omega,
        "weight": original.weights,
        "log10_weight": original.log_weights / math.log(10),
        "dft_weight": reference.weights,
        "log10_dft_weight": np.log10(reference.weights),
    }


def _compute_reconstructions(grid: int) -> list[Reconstruction]:
    positions = tuple(s for s in _POSITIONS if s < grid) or (0,)
    return [reconstruct_positions(spectrum, positions) for spectrum in _compute_spectra(grid)]


def _tabulate_reconstructions(results: list[Reconstruction]) -> Columns:
    columns = {"location": np.arange(results[0].spectrum.grid, dtype=float)}
    for name, result in zip(("original", "dft"), results, strict=True):
        columns |= {f"{name}_s{position.s}": position.values for position in result.positions}
    return columns


def _compute_widths(grid: int) -> list[Reconstruction]:
    spectra = (compute_spectrum(_ENCODING, grid=grid, bandwidth=bandwidth) for bandwidth in _BANDWIDTHS)
    return [reconstruct_positions(spectrum, [0]) for spectrum in spectra]


def _tabulate_widths(results: list[Reconstruction]) -> Columns:
    rows = [(one.spectrum.bandwidth, one.positions[0].fwhm, one.positions[0].width_10) for one in results]
    return dict(zip(("bandwidth", "fwhm", "width_10"), np.array(rows, dtype=float).T, strict=True))  # None becomes nan


def _compute_agreement(grid: int) -> tuple[Spectrum, Spectrum]:
    density = compute_spectrum(_ENCODING, grid=grid, bandwidth=_BANDWIDTH, boundary="reflect")
    return density, compute_lag_window_spectrum(_ENCODING, grid=grid, bandwidth=_BANDWIDTH)


def _tabulate_agreement(spectra: tuple[Spectrum, Spectrum]) -> Columns:
    density, window = spectra
    return {
        "omega": density.omega,
        "eq15_reflected": density.weights,
        "lag_window": window.weights,
        "difference": density.weights - window.weights,
    }


# --------------------------------------------------------------------- rotary ladders (Fig. 5)

#: The head of Llama 3 8B: width, base, trained length; and the length that Llama 3.1 has.
_LADDERS = {"d": 128, "base": 500000.0, "trained": 8192, "target": 131072}
#: The ways that are drawn; the unchanged ladder is drawn in each.
_METHODS = ("none", "linear", "ntk", "yarn", "llama3")


def _compute_ladders(_grid: int) -> ContextReport:
    report = compare_methods(128, 500000.0, 8192, 131072)
    rows = {row.method: row for row in report.methods}
    return replace(report, methods=tuple(rows[name] for name in _METHODS))


def _tabulate_ladders(report: ContextReport) -> Columns:
    """Wavelengths by pair, and kernels by lag; the shorter columns end in nan."""
    columns = {"pair": np.arange(report.pairs, dtype=float)}
    for row in report.methods:
        columns[f"log10_wavelength_{row.method}"] = np.log10(2 * np.pi / row.frequencies)
    for row in report.methods[1:]:
        columns[f"unseen_{row.method}"] = row.unseen.astype(float)
    columns["log10_lag"] = np.log10(report.methods[0].kernel.lags)
    for row in report.methods:
        columns |= {f"kernel_{part}_{row.method}": getattr(row.kernel, part) for part in ("low", "mean", "high")}
    longest = max(column.size for column in columns.values())
    return {name: _pad(column, longest) for name, column in columns.items()}


def _pad(column: F64, rows: int) -> F64:
    return np.pad(column, (0, rows - column.size), constant_values=np.nan)


# --------------------------------------------------------------------- precision (Fig. 6)

_STAIRCASES: dict[str, Any] = {"encoding": "sinusoidal", "d": 256, "rho": 10000.0, "length": 8192}
#: FigureRecipe and type of each curve, and how the columns call it.
_PIPELINES = {
    "fp32_then_cast_bfloat16": ("fp32-then-cast", "bfloat16"),
    "bf16_positions_bfloat16": ("bf16-positions", "bfloat16"),
    "all_bf16_bfloat16": ("all-bf16", "bfloat16"),
    "bf16_positions_float16": ("bf16-positions", "float16"),
    "all_bf16_float16": ("all-bf16", "float16"),
}


def _compute_staircases(_grid: int) -> PrecisionReport:
    dtypes, recipes = ("bfloat16", "float16"), ("fp32-then-cast", "bf16-positions", "all-bf16")
    return measure_precision(_ENCODING, length=_STAIRCASES["length"], dtypes=dtypes, recipes=recipes)


def _tabulate_staircases(report: PrecisionReport) -> Columns:
    """Distinct position vectors and phase errors by number of positions; the pairs that collide end in nan."""
    stairs = {(stair.recipe, stair.dtype): stair for stair in report.stairs if stair.stage == "code"}
    collisions = {(row.recipe, row.dtype): row.first_collision for row in report.codes}
    counts = report.stairs[0].counts.astype(float)
    columns = {"positions": counts}
    for name, pipeline in _PIPELINES.items():
        columns[f"distinct_{name}"] = stairs[pipeline].distinct.astype(float)
    for name, pipeline in _PIPELINES.items():
        errors = stairs[pipeline].errors
        with np.errstate(divide="ignore"):
            logarithms = np.log10(errors if errors is not None else np.zeros_like(counts))
        columns[f"log10_phase_error_{name}"] = np.where(np.isfinite(logarithms), logarithms, np.nan)
    for name, pipeline in _PIPELINES.items():
        pair = collisions[pipeline]
        if pair is not None:
            columns[f"first_collision_{name}"] = _pad(np.array(pair, dtype=float), counts.size)
    return columns


# --------------------------------------------------------------------- faithfulness (Fig. 7, 8)

#: A small encoding whose closest codes are no neighbours.
_SEPARATIONS: dict[str, Any] = {"encoding": "sinusoidal", "d": 8, "rho": 3.0, "length": 800}
#: The encoding of the paper, and how many of its codes the Gram matrix shows.
_GRAM: dict[str, Any] = {"encoding": "sinusoidal", "d": 256, "rho": 10000.0, "length": 64}


def _tabulate_separations(result: Faithfulness) -> Columns:
    """The distance of two position vectors by lag, exact to a few units in the last place."""
    distances = np.asarray(result.separation_by_lag, dtype=float)
    return {"lag": np.arange(1, result.length, dtype=float), "separation": distances}


def _tabulate_gram(result: Faithfulness) -> Columns:
    """The dot products of the first position vectors, over the largest squared norm: a row for each pair (s, t)."""
    gram = np.asarray(result.gram, dtype=float)
    s, t = np.indices(gram.shape)
    return {"s": s.ravel().astype(float), "t": t.ravel().astype(float), "dot_product": gram.ravel()}


#: Those that are computed of formulas alone; `study_figures` has the others.
RECIPES: tuple[FigureRecipe, ...] = (
    FigureRecipe(
        name="fig1_spectrum",
        title="Fig. 1: weights of the original encoding (Eq. 15) and of the DFT encoding (Eq. 22)",
        parameters={**_PAPER, "boundary": "none"},
        compute=_compute_spectra,
        tabulate=_tabulate_spectra,
    ),
    FigureRecipe(
        name="fig2_reconstruction",
        title="Fig. 2: reconstruction of single positions (Algorithm 1), original and DFT encoding",
        parameters={**_PAPER, "boundary": "none", "positions": _POSITIONS},
        compute=_compute_reconstructions,
        tabulate=_tabulate_reconstructions,
    ),
    FigureRecipe(
        name="fig3_width_bandwidth",
        title="Widths of the reconstruction of Fig. 2 against the bandwidth of Eq. 15",
        parameters={**_PAPER, "bandwidth": _BANDWIDTHS, "boundary": "none"},
        compute=_compute_widths,
        tabulate=_tabulate_widths,
        follows_grid=False,
    ),
    FigureRecipe(
        name="fig4_lag_window",
        title="Eq. 15 with reflection, and the lag-window spectrum of the dot-product kernel",
        parameters={**_PAPER, "boundary": "reflect"},
        compute=_compute_agreement,
        tabulate=_tabulate_agreement,
        rounding={"difference": _ROUNDING},
    ),
    FigureRecipe(
        name="fig5_rotary_ladders",
        title="Rotary ladder and kernel before and after four ways to lengthen a context, 8,192 to 131,072 positions",
        parameters=_LADDERS,
        compute=_compute_ladders,
        tabulate=_tabulate_ladders,
        follows_grid=False,
    ),
    FigureRecipe(
        name="fig6_precision_staircase",
        title="Distinct position vectors and phase errors by number of positions, in the number types that models use",
        parameters={
            **_STAIRCASES,
            "pipelines": tuple(f"{RECIPE_TITLES[recipe]}: {dtype}" for recipe, dtype in _PIPELINES.values()),
        },
        compute=_compute_staircases,
        tabulate=_tabulate_staircases,
        follows_grid=False,
    ),
    FigureRecipe(
        name="fig7_separation",
        title="Distance of two position vectors by lag, and the closest pair",
        parameters=_SEPARATIONS,
        compute=lambda _: measure_faithfulness(Sinusoidal(d=8, rho=3.0), length=800),
        tabulate=_tabulate_separations,
        follows_grid=False,
    ),
    FigureRecipe(
        name="fig8_gram",
        title="Gram matrix of the first position vectors of the original encoding",
        parameters=_GRAM,
        compute=lambda _: measure_faithfulness(_ENCODING, length=64),
        tabulate=_tabulate_gram,
        follows_grid=False,
    ),
)
