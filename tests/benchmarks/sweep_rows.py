"""A sweep against a process for each of its points, and with two workers against one: rows W."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

from pe_spectra.benchmarks.measuring import Ratios, compare_programs

#: Points of the sweep; at fifty times the points of a shell loop in the same time it costs so many processes over 50.
POINTS = 1000
_GRID = "--grid d=64:564:5 --grid rho=100:1100:100 --workers 1 --output sweep.csv"
_SWEEP = """
import os, sys, tempfile
from pe_spectra.cli import run_process

os.chdir(tempfile.mkdtemp(dir=sys.argv.pop(1)))
run_process()
"""
#: Sweeps of thousands of points.
LONG = {
    "count-low-bin": "count-low-bin --grid d=64:864:1 --grid rho=100:1100:100",
    "spectrum": "spectrum sinusoidal --grid d=64,128,256 --grid bandwidth=0.5:501:0.5",
}
#: Says of each process of a sweep how many seconds of a processor it has used.
_TELL = """
import atexit, json, os, sys, time
from pathlib import Path
from pe_spectra import cli
from pe_spectra.experiment import pools

used = {}
end = pools._Processes.shutdown


def read(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def shutdown(pool, *given, **named):
    for lane in pool._lanes:
        used.update({pid: read(pid) for pid in lane.executor._processes or ()})
    end(pool, *given, **named)


pools._Processes.shutdown = shutdown
atexit.register(lambda: print(json.dumps([time.process_time(), *used.values()]), file=sys.stderr))
cli.run_process()
"""


def measure_sweep() -> Ratios | str:
    with tempfile.TemporaryDirectory() as folder:
        sweep = ["-c", _SWEEP, folder, "sweep", "count-low-bin", *_GRID.split()]
        return compare_programs(sweep, ["-m", "pe_spectra", "count-low-bin", "--d", "64", "--format", "csv"], rounds=5)


def measure_gain(command: str, rounds: int = 3) -> Ratios:
    """Processor time with one worker over that of the busiest process with two, each the least of some rounds.

    Other programs on the machine can only add to a processor time, so the least is nearest to what the sweep needs.
    """
    found = [(max(_sweep(command, 1)), max(_sweep(command, 2))) for _ in range(rounds)]
    alone, busiest = map(min, zip(*found, strict=True))
    return Ratios(ratios=(alone / busiest,))


def measure_parent() -> Ratios:
    """Share of the processor time of a sweep with two workers that its parent takes, of answers of many rows."""
    used = _sweep("spectrum", 2)
    return Ratios(ratios=(used[0] / sum(used),))


def _sweep(command: str, workers: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        words = ["sweep", *LONG[command].split(), "--workers", str(workers), "--output", "sweep.csv"]
        program = [sys.executable, "-P", "-c", _TELL, *words]
        done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=True)
    times: list[float] = json.loads(done.stderr.splitlines()[-1])
    return times
