"""Whole commands against the start of what they stand on: rows S1 to S3."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks.measuring import Measured, compare_commands

_TYPER = ["-c", "import typer"]
_BARE = ["-c", "pass"]


def measure_help() -> Measured:
    return compare_commands(["-m", "pe_spectra", "--help"], _TYPER)


def measure_version() -> Measured:
    return compare_commands(["-m", "pe_spectra", "--version"], _TYPER)


def measure_spectrum() -> Measured:
    return compare_commands(["-m", "pe_spectra", "spectrum", "--json", "--no-figure"], _TYPER)


def measure_spectrum_from_bare() -> Measured:
    return compare_commands(["-m", "pe_spectra", "spectrum", "--json", "--no-figure"], _BARE)


def measure_figure() -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        figure = str(Path(folder) / "figure.png")
        command = ["-m", "pe_spectra", "spectrum", "--json", "--figure", figure]
        return compare_commands(command, _TYPER, rounds=5)
