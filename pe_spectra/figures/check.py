"""The committed numbers of the figures against freshly computed ones."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pe_spectra.answers.drawn import Mismatch
from pe_spectra.errors import FileError, InputError, shorten
from pe_spectra.exact import F64
from pe_spectra.figures.build import Progress, compute_columns
from pe_spectra.figures.collection import RECIPES, FigureRecipe
from pe_spectra.figures.further import Columns
from pe_spectra.files.reading import read_bytes
from pe_spectra.numbers import RealRange

#: Two numbers agree within this share of the largest absolute value of their column.
TOLERANCE = 1e-9
#: Bytes of one .csv: more than those of the longest lattice need.
_MOST_BYTES = 1 << 28
_NUMBER = RealRange(minimum=-sys.float_info.max, maximum=sys.float_info.max)


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
    for done, recipe in enumerate(RECIPES, start=1):
        found.extend(_check_figure(recipe, compute_columns(recipe, grid), directory))
        if progress is not None:
            progress(done, len(RECIPES))
    return tuple(found)


def compare_figures(files: Mapping[str, bytes], directory: Path) -> dict[str, bool]:
    """Say of each figure whose numbers are in `directory` whether they are those of `files`, by its name.

    >>> from pathlib import Path
    >>> compare_figures({"fig1_spectrum.csv": b"omega\\n0.5\\n"}, Path("nothing"))
    {}
    """
    found = {}
    for recipe in RECIPES:
        if (directory / f"{recipe.name}.csv").exists():
            header, *rows = _read_table(files[f"{recipe.name}.csv"])
            cells = zip(*rows, strict=True) if rows else [()] * len(header)
            columns = {
                name: np.array([float(cell or "nan") for cell in column])
                for name, column in zip(header, cells, strict=True)
            }
            found[recipe.name] = not _check_figure(recipe, columns, directory)
    return found


def _check_figure(recipe: FigureRecipe, columns: Columns, directory: Path) -> list[Mismatch]:
    name = f"{recipe.name}.csv"
    try:
        table = _read_table(read_bytes(directory / name, limit=_MOST_BYTES, label=""))
    except FileError as error:
        return [Mismatch(figure=recipe.name, reason=f"{name}: {error.reason}")]
    except (UnicodeDecodeError, csv.Error):
        return [Mismatch(figure=recipe.name, reason=f"{name} is not a table of numbers")]
    if not table:
        return [Mismatch(figure=recipe.name, reason=f"{name} is empty")]
    differences = _check_shape(recipe, columns, table)
    return differences or [
        difference
        for place, (column, expected) in enumerate(columns.items())
        if (difference := _check_column(recipe, column, expected, [row[place] for row in table[1:]]))
    ]


def _read_table(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))


def _check_shape(recipe: FigureRecipe, columns: Columns, table: Sequence[Sequence[str]]) -> list[Mismatch]:
    """Header, number of rows, and cells of each row."""
    header, figure = table[0], recipe.name
    if len(set(header)) != len(header):
        return [Mismatch(figure=figure, row=1, reason="two columns have one name")]
    differences = [
        Mismatch(figure=figure, column=column, row=1, expected=column, reason="no such column")
        for column in columns
        if column not in header
    ]
    differences += [
        Mismatch(figure=figure, column=shorten(column), row=1, reason="a column too many")
        for column in header
        if column not in columns
    ]
    if not differences and list(header) != list(columns):
        expected, got = ",".join(columns), shorten(",".join(header))
        reason = "the columns stand in another order"
        differences.append(Mismatch(figure=figure, row=1, expected=expected, got=got, reason=reason))
    return differences or _check_rows(recipe, columns, table)


def _check_rows(recipe: FigureRecipe, columns: Columns, table: Sequence[Sequence[str]]) -> list[Mismatch]:
    wanted, cells = 1 + next(iter(columns.values())).size, len(columns)
    odd = next((line for line, row in enumerate(table, start=1) if len(row) != cells), None)
    if odd is None and len(table) == wanted:
        return []
    expected, got = (wanted, len(table)) if odd is None else (cells, len(table[odd - 1]))
    reason = "another number of lines" if odd is None else "another number of cells"
    return [Mismatch(figure=recipe.name, row=odd, expected=str(expected), got=str(got), reason=reason)]


def _check_column(recipe: FigureRecipe, column: str, expected: F64, cells: Sequence[str]) -> Mismatch | None:
    largest = float(np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected)))
    allowed = max(TOLERANCE * largest, recipe.rounding.get(column, 0.0))
    reasons = [_judge_cell(want, cell, allowed) for want, cell in zip(expected, cells, strict=True)]
    rows = [index for index, reason in enumerate(reasons) if reason]
    if not rows:
        return None
    first = rows[0]
    more = f", and so do {len(rows) - 1} further rows of this column" if len(rows) > 1 else ""
    return Mismatch(
        figure=recipe.name,
        column=column,
        row=first + 2,
        expected=repr(float(expected[first])) if math.isfinite(expected[first]) else "",
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
