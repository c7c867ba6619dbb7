"""Whole commands against the start of what they stand on: rows S."""

from __future__ import annotations

from functools import partial

from pe_spectra.benchmarks.measuring import PROGRAM, compare_programs
from pe_spectra.benchmarks.ratio_row import RatioRow

#: The arguments of an interpreter that loads Typer alone, and of a command without a figure.
TYPER = ("-c", "import typer")
SPECTRUM = (*PROGRAM, "spectrum", "--json", "--no-figure")

START_ROWS = (
    RatioRow(
        name="S1",
        what="--help",
        over="import typer",
        target=1.1,
        measure=partial(compare_programs, (*PROGRAM, "--help"), TYPER),
        gate=True,
        margin=1.3,
    ),
    RatioRow(
        name="S1",
        what="--version",
        over="import typer",
        target=1.1,
        measure=partial(compare_programs, (*PROGRAM, "--version"), TYPER),
        gate=True,
        margin=1,
    ),
    RatioRow(
        name="S2",
        what="spectrum --json --no-figure",
        over="import typer",
        target=2.1,
        measure=partial(compare_programs, SPECTRUM, TYPER),
        gate=True,
        margin=1.5,
    ),
)
