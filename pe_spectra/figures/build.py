"""Recipes to bytes: .png, .svg and .csv of each figure, and manifest.json."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable

import numpy as np

from pe_spectra._version import __version__
from pe_spectra.figures.collection import DEFAULT_GRID, RECIPES, FigureRecipe
from pe_spectra.figures.further import Columns

#: Called with the number of figures that are done, and of all.
Progress = Callable[[int, int], None]

MANIFEST = "manifest.json"
#: Endings of the drawings; the numbers are in a .csv.
_DRAWINGS = (".png", ".svg")


def list_figure_files() -> tuple[str, ...]:
    """Name the files that :func:`build_figures` makes, before anything is computed.

    >>> list_figure_files()[:3]
    ('fig1_spectrum.png', 'fig1_spectrum.svg', 'fig1_spectrum.csv')
    """
    names = [f"{recipe.name}{suffix}" for recipe in RECIPES for suffix in (*_DRAWINGS, ".csv")]
    return (*names, MANIFEST)


def build_figures(*, grid: int | None = None, progress: Progress | None = None) -> dict[str, bytes]:
    """Compute and draw every figure.

    Parameters
    ----------
    grid : lattice length N, 2 to 1048576; default 256 as in the paper. The figure of widths keeps 256.
    progress : called after each figure with how many are done, and how many there are.

    Returns
    -------
    File name -> contents, the same bytes from run to run in one environment.

    Raises
    ------
    InputError : a lattice length out of range.

    >>> build_figures(grid=1)
    Traceback (most recent call last):
        ...
    pe_spectra.errors.InputError: grid is out of range (1); an integer from 2 to 1048576 is accepted
    """
    files: dict[str, bytes] = {}
    for done, recipe in enumerate(RECIPES, start=1):
        files.update(_build_figure(recipe, compute_columns(recipe, grid)))
        if progress is not None:
            progress(done, len(RECIPES))
    files[MANIFEST] = _write_manifest(grid)
    return files


def compute_columns(recipe: FigureRecipe, grid: int | None) -> Columns:
    """Compute the columns of one figure for a lattice of `grid` points.

    >>> columns = compute_columns(RECIPES[0], 16)
    >>> columns["omega"].shape
    (9,)
    """
    return recipe.compute(_choose_grid(recipe, grid))


def write_columns(columns: Columns) -> bytes:
    """Write columns as .csv: one header line, every digit; what does not exist is an empty cell.

    >>> import numpy as np
    >>> write_columns({"lag": np.array([1.0, 2.0]), "separation": np.array([0.1, np.nan])}).decode().splitlines()
    ['lag,separation', '1.0,0.1', '2.0,']
    """
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    lines = [",".join(repr(value) if math.isfinite(value) else "" for value in row) for row in rows]
    return ("\n".join([",".join(columns), *lines]) + "\n").encode("ascii")


def _build_figure(recipe: FigureRecipe, columns: Columns) -> dict[str, bytes]:
    from pe_spectra.plots.save import render

    figure = recipe.draw(columns)
    drawings = {f"{recipe.name}{suffix}": render(figure, suffix) for suffix in _DRAWINGS}
    return {**drawings, f"{recipe.name}.csv": write_columns(columns)}


def _choose_grid(recipe: FigureRecipe, grid: int | None) -> int:
    return DEFAULT_GRID if grid is None or not recipe.follows_grid else grid


def _write_manifest(grid: int | None) -> bytes:
    """Write what the figures depend on; nothing that differs from run to run or place to place."""
    import matplotlib

    figures = {
        recipe.name: {
            "title": recipe.title,
            "parameters": {**recipe.parameters, "grid": _choose_grid(recipe, grid)},
            "rounding": dict(recipe.rounding),
        }
        for recipe in RECIPES
    }
    versions = {
        "pe-spectra": __version__,
        "numpy": np.__version__,
        "matplotlib": matplotlib.__version__,
        "python": platform.python_version(),
    }
    text = json.dumps({"figures": figures, "versions": versions}, indent=2, allow_nan=False)
    return f"{text}\n".encode("ascii")
