"""How ratios are taken: two things in turns, round by round, within one process."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pe_spectra.limits import THREAD_VARIABLES

ROUNDS = 7
#: A turn lasts at least this long: what is shorter is repeated within it.
_TURN = 0.01
MIB = float(1 << 20)
#: Of every process: the threads that NumPy starts where nothing says how many cost as much as all else of its import.
_ONE_THREAD = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1"), "PE_SPECTRA_NO_FIGURE": "1"}
#: The program as the installed script starts it; `python -m` takes the module runpy besides.
PROGRAM = ("-c", "from pe_spectra.cli import run_process; run_process()")
_TWICE = """
import functools, gc, sys, time
from pe_spectra.cli import main

main()
for one in gc.get_objects():
    if isinstance(one, functools._lru_cache_wrapper) and ".cli." not in one.__module__:
        one.cache_clear()
start = time.process_time()
main()
print(time.process_time() - start, file=sys.stderr)
"""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Ratios of all rounds; a number that needs no rounds stands alone."""

    ratios: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.ratios)

    @property
    def low(self) -> float:
        return self._quantile(0)

    @property
    def high(self) -> float:
        return self._quantile(-1)

    def _quantile(self, index: int) -> float:
        if len(self.ratios) == 1:
            return self.ratios[0]
        return statistics.quantiles(self.ratios, n=10, method="inclusive")[index]


def compare(
    candidate: Callable[[], object], reference: Callable[[], object], *, rounds: int = ROUNDS, factor: float = 1.0
) -> Measured:
    """Return candidate over reference, times `factor`, in processor time of this thread."""
    repeats = [_count_repeats(what) for what in (candidate, reference)]
    ratios = []
    for _ in range(rounds):
        mine, other = (_time(what, count) for what, count in zip((candidate, reference), repeats, strict=True))
        ratios.append(factor * mine / other)
    return Measured(ratios=tuple(ratios))


def compare_commands(candidate: Sequence[str], reference: Sequence[str], *, rounds: int = 11) -> Measured:
    """Return candidate over reference, each a command line of a fresh interpreter, in processor time of its process."""
    for command in (candidate, reference):
        _run(command)
    return Measured(ratios=tuple(_run(candidate) / _run(reference) for _ in range(rounds)))


def compare_loading(line: Sequence[str], reference: Sequence[str], folder: Path, *, rounds: int = ROUNDS) -> Measured:
    """Return what a command of the program takes beside its own work, over a reference, in processor time.

    Its own work is the second of two runs in one process, where everything is loaded and no result is kept.
    """
    command = [*PROGRAM, *line]
    _run(command, folder)
    own = statistics.median(_run_twice(line, folder) for _ in range(3))
    ratios = tuple((_run(command, folder) - own) / _run(reference, folder) for _ in range(rounds))
    return Measured(ratios=ratios)


def trace_peak(call: Callable[[], object]) -> Measured:
    """Return the peak of traced memory during one call, in MiB."""
    call()  # what is imported and cached once does not count
    tracemalloc.start()
    try:
        call()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return Measured(ratios=(peak / MIB,))


def measure_resident(arguments: Sequence[str]) -> Measured:
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
    return Measured(ratios=(int(done.stderr.split()[-1]) / unit,))


def _count_repeats(what: Callable[[], object]) -> int:
    what()
    once = max(_time(what, 1), 1e-7)
    return max(1, round(_TURN / once))


def _time(what: Callable[[], object], repeats: int) -> float:
    start = time.thread_time()
    for _ in range(repeats):
        what()
    return (time.thread_time() - start) / repeats


def _run(command: Sequence[str], folder: Path | None = None) -> float:
    start = _read_children()
    subprocess.run(
        [sys.executable, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if folder else None,
        check=True,
        cwd=folder,
        env=_ONE_THREAD,
    )
    return _read_children() - start


def _run_twice(line: Sequence[str], folder: Path) -> float:
    """Seconds of the processor that a command takes where it has run once."""
    done = subprocess.run(
        [sys.executable, "-c", _TWICE, *line], capture_output=True, text=True, check=True, cwd=folder, env=_ONE_THREAD
    )
    return float(done.stderr.split()[-1])


def _read_children() -> float:
    """Seconds of the processor that processes have taken that this one has started and waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
