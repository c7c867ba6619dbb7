"""The figures of `pe-spectra figures`, as bytes, and the check of their numbers.

Bitmaps differ between versions of the drawing library; the numbers drawn do not, and stand in a .csv
beside each figure. It is those that are compared.
"""

from __future__ import annotations

from pe_spectra.figures.build import ALL_RECIPES, build_figures, check_figures, compare_figures, list_figure_files
from pe_spectra.figures.recipes import DEFAULT_GRID, RECIPES, FigureRecipe

__all__ = [
    "ALL_RECIPES",
    "DEFAULT_GRID",
    "RECIPES",
    "FigureRecipe",
    "build_figures",
    "check_figures",
    "compare_figures",
    "list_figure_files",
]
