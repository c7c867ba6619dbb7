"""What else is measured than ratios of two calls or programs: memory, and commands beside their own work."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

from pe_spectra.benchmarks.measuring import PROGRAM, ROUNDS, Ratios, limit_threads, time_program

MIB = float(1 << 20)
_TWICE = """
import ctypes, functools, gc, sys, time
from pe_spectra import cli

run = cli.main

def main():
    run()
    for one in gc.get_objects():
        if isinstance(one, functools._lru_cache_wrapper) and ".cli." not in one.__module__:
            one.cache_clear()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
    start = time.process_time()
    code = run()
    print(time.process_time() - start, file=sys.stderr)
    return code

cli.main = main
cli.run_process()
"""


def compare_loading(line: Sequence[str], reference: Sequence[str], folder: Path, *, rounds: int = ROUNDS) -> Ratios:
    """Return what a command of the program takes beside its own work, over a reference, in processor time.

    Its own work is the second of two runs in one process, where everything is loaded and no result is kept, and memory
    that is free went back to the system: to take it is a part of the work. It is measured in each round, for a
    machine may change its speed between rounds.
    """
    command = [*PROGRAM, *line]
    time_program(command, str(folder))
    ratios = []
    for _ in range(rounds):
        loading = time_program(command, str(folder)) - _run_twice(line, folder)
        ratios.append(loading / time_program(reference, str(folder)))
    return Ratios(ratios=tuple(ratios))


def trace_peak(call: Callable[[], object]) -> Ratios:
    """Return the peak of traced memory during one call, in MiB."""
    call()  # what is imported and cached once does not count
    tracemalloc.start()
    try:
        call()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return Ratios(ratios=(peak / MIB,))


def measure_resident(arguments: Sequence[str]) -> Ratios:
    """Return the peak resident memory of a whole command, in MiB.

    On Linux of the process since it was started: `ru_maxrss` begins with what the process that starts it holds.
    """
    program = (
        "import resource, sys; from pathlib import Path; from pe_spectra.cli import main; code = main();"
        " status = Path('/proc/self/status');"
        " peak = status.read_text().split('VmHWM:')[1].split()[0] if status.exists()"
        " else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        " print(peak, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True
    )
    unit = MIB if sys.platform == "darwin" else 1024.0
    return Ratios(ratios=(int(done.stderr.split()[-1]) / unit,))


def _run_twice(line: Sequence[str], folder: Path) -> float:
    """Seconds of the processor that a command takes where it has run once."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", _TWICE, *line],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env=limit_threads(),
    )
    return float(done.stderr.split()[-1])
