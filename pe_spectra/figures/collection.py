"""What each figure holds: columns of numbers, and how they are drawn.

A recipe draws from its columns and from nothing else, so that the .csv beside a figure holds exactly
the numbers that are drawn. To add a figure: a function that computes columns, one that draws them, and
a `FigureRecipe` in `RECIPES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.encodings import Dft, Sinusoidal
from pe_spectra.exact import F64
from pe_spectra.figures.further import (
    GRAM,
    LADDERS,
    SEPARATIONS,
    STAIRCASES,
    Columns,
    Parameters,
    compute_gram,
    compute_ladders,
    compute_separations,
    compute_staircases,
    draw_gram,
    draw_ladders,
    draw_separations,
    draw_staircases,
)
from pe_spectra.reconstruction import measure_width, reconstruct_positions
from pe_spectra.spectrum import (
    compute_dft_weights,
    compute_lag_window_spectrum,
    compute_omega,
    compute_spectrum,
)
from pe_spectra.spectrum.summary import LOW_BINS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Lattice length of the paper's figures.
DEFAULT_GRID = 256
#: Width, base and bandwidth of the paper, and the positions of Fig. 2.
_D, _RHO, _BANDWIDTH, _POSITIONS = 256, 10000.0, 4.0, (5, 40, 75)
#: Bandwidths of the third figure in bins: four to the octave, the paper's 4 among them.
_BANDWIDTHS = tuple(2.0 ** (step / 4) for step in range(-8, 25))
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
    compute : lattice length -> columns, each (rows,); nan where a number does not exist.
    draw : columns -> figure.
    rounding : absolute tolerance of columns that are themselves rounding errors.

    >>> recipe = RECIPES[0]
    >>> recipe.name, list(recipe.compute(16))
    ('fig1_spectrum', ['omega', 'weight', 'log10_weight', 'dft_weight', 'log10_dft_weight'])
    """

    name: str
    title: str
    parameters: Parameters
    compute: Callable[[int], Columns]
    draw: Callable[[Columns], Figure]
    follows_grid: bool = True
    rounding: Mapping[str, float] = field(default_factory=dict)


def _compute_spectrum(grid: int) -> Columns:
    spectrum = compute_spectrum(Sinusoidal(d=_D, rho=_RHO), grid=grid, bandwidth=_BANDWIDTH)
    reference = compute_dft_weights(grid)
    return {
        "omega": spectrum.omega,
        "weight": spectrum.weights,
        "log10_weight": spectrum.log_weights / math.log(10),
        "dft_weight": reference,
        "log10_dft_weight": np.log10(reference),
    }


def _draw_spectrum(columns: Columns) -> Figure:
    from pe_spectra.plots.spectrum import SpectrumCurve, compose_curves
    from pe_spectra.plots.style import REFERENCE_STYLE, curve_style

    bins = columns["omega"].size
    share = 100 * float(np.sum(columns["weight"][:LOW_BINS]))
    curves = [
        SpectrumCurve(
            label=label,
            omega=columns["omega"],
            weights=columns[name],
            log10_weights=columns[f"log10_{name}"],
            style=style,
        )
        for name, label, style in (
            ("weight", "original encoding", curve_style(0)),
            ("dft_weight", "DFT encoding (Eq. 22)", REFERENCE_STYLE),
        )
    ]
    title = f"{share:.1f} % of the weight lies in the first {LOW_BINS} of {bins} frequencies"
    if bins < 2 * LOW_BINS:  # so few say nothing by where they end
        title = f"The mean frequency is {float(columns['weight'] @ columns['omega']):.3g} rad per position"
    return compose_curves(
        curves, title=title, small_print=(_describe("Eq. 15", "boundary none", _write_lattice(columns)),)
    )


def _compute_reconstruction(grid: int) -> Columns:
    positions = tuple(s for s in _POSITIONS if s < grid) or (0,)
    columns: dict[str, F64] = {"location": np.arange(grid, dtype=float)}
    original = compute_spectrum(Sinusoidal(d=_D, rho=_RHO), grid=grid, bandwidth=_BANDWIDTH)
    for name, spectrum in (("original", original), ("dft", compute_spectrum(Dft(d=grid)))):
        for position in reconstruct_positions(spectrum, positions).positions:
            columns[f"{name}_s{position.s}"] = position.values
    return columns


def _draw_reconstruction(columns: Columns) -> Figure:
    from pe_spectra.answers.panels import ReconstructionPanel, entitle_panels
    from pe_spectra.plots.blur import compose_panels

    panels = []
    for name, heading, bandwidth in (
        ("original", "original encoding", _BANDWIDTH),
        ("dft", "DFT encoding", None),
    ):
        curves = {key: curve for key, curve in columns.items() if key.startswith(f"{name}_s")}
        first = next(iter(curves.values()))
        panel = ReconstructionPanel(
            heading=heading,
            positions=tuple(int(key.removeprefix(f"{name}_s")) for key in curves),
            values=np.array(list(curves.values())),
            fwhm=measure_width(first, 0.5),
            width_10=measure_width(first, 0.1),
            bandwidth=bandwidth,
        )
        panels.append(panel)
    lattice = f"lattice N\u00a0=\u00a0{columns['location'].size}"
    small_print = (_describe("Algorithm 1", "boundary none", lattice),)
    return compose_panels(panels, title=entitle_panels(panels), small_print=small_print)


def _compute_widths(grid: int) -> Columns:
    encoding, rows = Sinusoidal(d=_D, rho=_RHO), []
    for bandwidth in _BANDWIDTHS:
        spectrum = compute_spectrum(encoding, grid=grid, bandwidth=bandwidth)
        rows.append(reconstruct_positions(spectrum, [0]).positions[0])
    return {
        "bandwidth": np.array(_BANDWIDTHS),
        "fwhm": np.array([row.fwhm for row in rows], dtype=float),  # None becomes nan
        "width_10": np.array([row.width_10 for row in rows], dtype=float),
    }


def _draw_widths(columns: Columns) -> Figure:
    from pe_spectra.plots.width import compose_widths

    return compose_widths(
        columns["bandwidth"],
        columns["fwhm"],
        columns["width_10"],
        marked=_BANDWIDTH,
        title="The width of the blur in Fig. 2 falls as the bandwidth grows",
        small_print=(f"{_ENCODING}, Algorithm 1, boundary none; vertical line: bandwidth of the paper",),
    )


def _compute_agreement(grid: int) -> Columns:
    encoding = Sinusoidal(d=_D, rho=_RHO)
    density = compute_spectrum(encoding, grid=grid, bandwidth=_BANDWIDTH, boundary="reflect")
    lag_window = compute_lag_window_spectrum(encoding, grid=grid, bandwidth=_BANDWIDTH)
    return {
        "omega": compute_omega(grid),
        "eq15_reflected": density.weights,
        "lag_window": lag_window.weights,
        "difference": density.weights - lag_window.weights,
    }


def _draw_agreement(columns: Columns) -> Figure:
    from pe_spectra.plots.agreement import compose_agreement

    largest = float(np.abs(columns["difference"]).max())
    return compose_agreement(
        columns["omega"],
        columns["eq15_reflected"],
        columns["lag_window"],
        columns["difference"],
        names=("line: Eq. 15, reflected at 0 and π", "circles: lag window on the kernel"),
        title="Eq. 15 with reflection is the lag-window spectrum of the dot-product kernel",
        small_print=(_describe(_write_lattice(columns)), f"largest difference: {largest:.1g}, which is rounding"),
    )


_ENCODING = f"sinusoidal d={_D} rho={_RHO:g}"


def _write_lattice(columns: Columns) -> str:
    """Name the lattice length, which the second frequency, 2 pi / N, gives away."""
    return f"lattice N\u00a0=\u00a0{round(2 * math.pi / columns['omega'][1])}"


def _describe(*parts: str) -> str:
    return ", ".join([_ENCODING, *parts, f"bandwidth\u00a0{_BANDWIDTH:g}\u00a0bins"])


_PAPER: Parameters = {"encoding": "sinusoidal", "d": _D, "rho": _RHO, "bandwidth": _BANDWIDTH}

RECIPES: tuple[FigureRecipe, ...] = (
    FigureRecipe(
        name="fig1_spectrum",
        title="Fig. 1: weights of the original encoding (Eq. 15) and of the DFT encoding (Eq. 22)",
        parameters={**_PAPER, "boundary": "none"},
        compute=_compute_spectrum,
        draw=_draw_spectrum,
    ),
    FigureRecipe(
        name="fig2_reconstruction",
        title="Fig. 2: reconstruction of single positions (Algorithm 1), original and DFT encoding",
        parameters={**_PAPER, "boundary": "none", "positions": _POSITIONS},
        compute=_compute_reconstruction,
        draw=_draw_reconstruction,
    ),
    FigureRecipe(
        name="fig3_width_bandwidth",
        title="Widths of the reconstruction of Fig. 2 against the bandwidth of Eq. 15",
        parameters={**_PAPER, "bandwidth": _BANDWIDTHS, "boundary": "none"},
        compute=_compute_widths,
        draw=_draw_widths,
        follows_grid=False,
    ),
    FigureRecipe(
        name="fig4_lag_window",
        title="Eq. 15 with reflection, and the lag-window spectrum of the dot-product kernel",
        parameters={**_PAPER, "boundary": "reflect"},
        compute=_compute_agreement,
        draw=_draw_agreement,
        rounding={"difference": _ROUNDING},
    ),
    FigureRecipe(
        name="fig5_rotary_ladders",
        title="Rotary ladder and kernel before and after four ways to lengthen a context, 8,192 to 131,072 positions",
        parameters=LADDERS,
        compute=compute_ladders,
        draw=draw_ladders,
        follows_grid=False,
    ),
    FigureRecipe(
        name="fig6_precision_staircase",
        title="Distinct codes and phase errors by number of positions, in the number types that models use",
        parameters=STAIRCASES,
        compute=compute_staircases,
        draw=draw_staircases,
        follows_grid=False,
    ),
    FigureRecipe(
        name="fig7_separation",
        title="Distance of two codes by lag, and the closest pair",
        parameters=SEPARATIONS,
        compute=compute_separations,
        draw=draw_separations,
        follows_grid=False,
    ),
    FigureRecipe(
        name="fig8_gram",
        title="Gram matrix of the first codes of the original encoding",
        parameters=GRAM,
        compute=compute_gram,
        draw=draw_gram,
        follows_grid=False,
    ),
)
