"""A sweep against a process for each of its points: row W."""

from __future__ import annotations

import tempfile

from tests.benchmarks.measuring import Measured, compare_commands

#: Points of the sweep; at fifty times the points of a shell loop in the same time it costs so many processes over 50.
POINTS = 1000
_GRID = "--grid d=64:564:5 --grid rho=100:1100:100 --workers 1 --output sweep.csv"
_SWEEP = """
import os, sys, tempfile
from pe_spectra.cli import run_process

os.chdir(tempfile.mkdtemp(dir=sys.argv.pop(1)))
run_process()
"""


def measure_sweep() -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        sweep = ["-c", _SWEEP, folder, "sweep", "count-low-bin", *_GRID.split()]
        return compare_commands(sweep, ["-m", "pe_spectra", "count-low-bin", "--d", "64", "--format", "csv"], rounds=5)
