"""Recipes to bytes: drawings and .csv of each figure, and manifest.json; and the check of bytes that are there."""

from __future__ import annotations

import csv
import io
import json
import math
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from pe_spectra._version import __version__
from pe_spectra.answers.drawn import Mismatch
from pe_spectra.errors import FileError, InputError, shorten
from pe_spectra.exact import NDArray
from pe_spectra.figures.recipes import DEFAULT_GRID, RECIPES, Columns, FigureRecipe
from pe_spectra.figures.study_figures import list_study_recipes
from pe_spectra.files.reading import read_bytes
from pe_spectra.fourier import GRID
from pe_spectra.numbers import RealRange

#: Called with the number of figures that are done, and of all.
Progress = Callable[[int, int], None]

MANIFEST = "manifest.json"
#: All figures that this version has.
ALL_RECIPES = (*RECIPES, *list_study_recipes())
#: Two numbers agree within this share of the largest absolute value of their column.
TOLERANCE = 1e-9
#: Bytes of one .csv: more than those of the longest lattice need.
_MOST_BYTES = 1 << 28
_NUMBER = RealRange(minimum=-sys.float_info.max, maximum=sys.float_info.max)


def list_figure_files() -> tuple[str, ...]:
    """Name the files that :func:`build_figures` makes, before anything is computed.

    >>> list_figure_files()[:3]
    ('fig1_spectrum.png', 'fig1_spectrum.svg', 'fig1_spectrum.csv')
    """
    names = [f"{recipe.name}{suffix}" for recipe in ALL_RECIPES for suffix in (*recipe.suffixes, ".csv")]
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
    from pe_spectra.plots.sheet import render

    files: dict[str, bytes] = {}
    for recipe, compute in _list_recipes(grid, progress):
        result = compute()
        figure = recipe.draw(result)
        files |= {f"{recipe.name}{suffix}": render(figure, suffix) for suffix in recipe.suffixes}
        files[f"{recipe.name}.csv"] = write_columns(recipe.tabulate(result))
    files[MANIFEST] = _write_manifest(grid)
    return files


def write_columns(columns: Columns) -> bytes:
    """Write columns as .csv: one header line, every digit; what does not exist is an empty cell.

    >>> import numpy as np
    >>> write_columns({"lag": np.array([1.0, 2.0]), "separation": np.array([0.1, np.nan])}).decode().splitlines()
    ['lag,separation', '1.0,0.1', '2.0,']
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*(column.tolist() for column in columns.values()), strict=True):
        writer.writerow([value if isinstance(value, str) else _write_number(value) for value in row])
    return stream.getvalue().encode("ascii")


def _write_number(value: float) -> str:
    return repr(value) if math.isfinite(value) else ""


def _list_recipes(grid: int | None, progress: Progress | None) -> Iterator[tuple[FigureRecipe, Callable[[], Any]]]:
    """All recipes, each with what computes its result; when the next is asked for, the one before is done."""
    if grid is not None:
        GRID.check(grid, "grid")
    compute = cache(lambda how, points: how(points))  # two figures draw one report
    for done, recipe in enumerate(ALL_RECIPES, start=1):
        yield recipe, partial(compute, recipe.compute, _choose_grid(recipe, grid))
        if progress is not None:
            progress(done, len(ALL_RECIPES))


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
        for recipe in ALL_RECIPES
    }
    versions = {
        "pe-spectra": __version__,
        "numpy": np.__version__,
        "matplotlib": matplotlib.__version__,
        "python": platform.python_version(),
    }
    text = json.dumps({"figures": figures, "versions": versions}, indent=2, allow_nan=False)
    return f"{text}\n".encode("ascii")


# --------------------------------------------------------------------- what is there


def check_figures(
    directory: Path, *, grid: int | None = None, progress: Progress | None = None
) -> tuple[Mismatch, ...]:
    """Compute the numbers of every figure again and compare them with the .csv files in `directory`.

    A column is compared within 1e-9 of its largest absolute value; a column of rounding errors within
    the recipe's absolute tolerance, for its digits mean nothing. For each column the first difference
    is returned, and its reason says how many rows of it differ.

    Parameters
    ----------
    directory : where the .csv files are.
    grid : lattice length that they were made with; default 256.
    progress : called after each figure with how many are done, and how many there are.

    Returns
    -------
    The differences; empty when all numbers agree. What is wrong with a file is a difference as well.

    Raises
    ------
    InputError : a lattice length out of range.

    >>> from pathlib import Path
    >>> check_figures(Path("figures"), grid=1)
    Traceback (most recent call last):
        ...
    pe_spectra.errors.InputError: grid is out of range (1); an integer from 2 to 1048576 is accepted
    """
    found: list[Mismatch] = []
    for recipe, compute in _list_recipes(grid, progress):
        table = _read_figure(recipe, directory)
        found += [table] if isinstance(table, Mismatch) else _check_figure(recipe, recipe.tabulate(compute()), table)
    return tuple(found)


def compare_figures(files: Mapping[str, bytes], directory: Path) -> dict[str, bool]:
    """Say of each figure whose numbers are in `directory` whether they are those of `files`, by its name.

    >>> from pathlib import Path
    >>> compare_figures({"fig1_spectrum.csv": b"omega\\n0.5\\n"}, Path("nothing"))
    {}
    """
    found = {}
    for recipe in ALL_RECIPES:
        if (directory / f"{recipe.name}.csv").exists():
            header, *rows = _read_table(files[f"{recipe.name}.csv"])
            cells = zip(*rows, strict=True) if rows else [()] * len(header)
            columns = {name: _read_column(column) for name, column in zip(header, cells, strict=True)}
            table = _read_figure(recipe, directory)
            found[recipe.name] = not (isinstance(table, Mismatch) or _check_figure(recipe, columns, table))
    return found


def _read_column(cells: Sequence[str]) -> NDArray[Any]:
    """The numbers of a column that :func:`write_columns` wrote, or its words."""
    try:
        return np.array([float(cell or "nan") for cell in cells])
    except ValueError:
        return np.array(cells)


def _read_figure(recipe: FigureRecipe, directory: Path) -> list[list[str]] | Mismatch:
    """Lines and cells of the table of a figure, or what is wrong with the file."""
    name = f"{recipe.name}.csv"
    try:
        table = _read_table(read_bytes(directory / name, limit=_MOST_BYTES, label=""))
    except FileError as error:
        return Mismatch(figure=recipe.name, reason=f"{name}: {error.reason}")
    except (UnicodeDecodeError, csv.Error):
        return Mismatch(figure=recipe.name, reason=f"{name} is not a table of numbers")
    return table or Mismatch(figure=recipe.name, reason=f"{name} is empty")


def _check_figure(recipe: FigureRecipe, columns: Columns, table: Sequence[Sequence[str]]) -> list[Mismatch]:
    cells = zip(*table[1:], strict=False) if len(table) > 1 else ()
    return (
        _check_header(recipe.name, list(columns), table[0])
        or _check_rows(recipe.name, columns, table)
        or [found for one in zip(columns.items(), cells, strict=True) if (found := _check_column(recipe, *one))]
    )


def _read_table(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))


def _check_header(figure: str, wanted: Sequence[str], header: Sequence[str]) -> list[Mismatch]:
    if len(set(header)) != len(header):
        return [Mismatch(figure=figure, row=1, reason="two columns have one name")]
    missing, added = [one for one in wanted if one not in header], [one for one in header if one not in wanted]
    if missing or added or list(header) == wanted:
        absent = [Mismatch(figure=figure, column=c, row=1, expected=c, reason="no such column") for c in missing]
        return absent + [Mismatch(figure=figure, column=shorten(c), row=1, reason="a column too many") for c in added]
    expected, got, reason = ",".join(wanted), shorten(",".join(header)), "the columns stand in another order"
    return [Mismatch(figure=figure, row=1, expected=expected, got=got, reason=reason)]


def _check_rows(figure: str, columns: Columns, table: Sequence[Sequence[str]]) -> list[Mismatch]:
    """Number of rows, and cells of each row."""
    wanted, cells = 1 + next(iter(columns.values())).size, len(columns)
    odd = next((line for line, row in enumerate(table, start=1) if len(row) != cells), None)
    if odd is None and len(table) == wanted:
        return []
    expected, got = (wanted, len(table)) if odd is None else (cells, len(table[odd - 1]))
    reason = "another number of lines" if odd is None else "another number of cells"
    return [Mismatch(figure=figure, row=odd, expected=str(expected), got=str(got), reason=reason)]


def _check_column(recipe: FigureRecipe, column: tuple[str, NDArray[Any]], cells: Sequence[str]) -> Mismatch | None:
    name, expected = column
    if expected.dtype.kind == "U":
        reasons = ["" if want == cell else "differs" for want, cell in zip(expected.tolist(), cells, strict=True)]
    else:
        largest = float(np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected)))
        allowed = max(TOLERANCE * largest, recipe.rounding.get(name, 0.0))
        reasons = [_judge_cell(want, cell, allowed) for want, cell in zip(expected, cells, strict=True)]
    rows = [index for index, reason in enumerate(reasons) if reason]
    if not rows:
        return None
    first = rows[0]
    more = f", and so do {len(rows) - 1} further rows of this column" if len(rows) > 1 else ""
    return Mismatch(
        figure=recipe.name,
        column=name,
        row=first + 2,
        expected=value if isinstance(value := expected[first].item(), str) else _write_number(value),
        got=shorten(cells[first]),
        reason=reasons[first] + more,
    )


def _judge_cell(expected: float, cell: str, allowed: float) -> str:
    """What is wrong with a cell; empty when it agrees."""
    if not math.isfinite(expected):
        return "differs: no number is expected here" if cell else ""
    if not cell:
        return "differs: the cell is empty"
    try:
        got = _NUMBER.parse(cell, "cell")
    except InputError:
        return "differs: the cell is not a number"
    return "" if abs(got - expected) <= allowed else "differs"
