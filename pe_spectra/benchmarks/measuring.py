"""How ratios are taken: two things in turns, round by round, in processor time and never by the clock."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from pe_spectra.limits import THREAD_VARIABLES
from pe_spectra.records import dataclass

ROUNDS = 7
#: A turn lasts at least this long, in seconds: what is shorter is repeated within it. No call is taken to be shorter.
_TURN, _LEAST = 0.01, 1e-7
#: The program as the installed script starts it; `python -m` takes the module runpy besides.
PROGRAM = ("-c", "from pe_spectra.cli import run_process; run_process()")


@dataclass(frozen=True, kw_only=True)
class Ratios:
    """Ratios of all rounds; a number that needs no rounds stands alone.

    >>> found = Ratios(ratios=(1.0, 2.0, 4.0))
    >>> found.median, found.low, found.high
    (2.0, 1.2, 3.6)
    """

    ratios: tuple[float, ...]

    @property
    def median(self) -> float:
        """Their median."""
        return statistics.median(self.ratios)

    @property
    def low(self) -> float:
        """Their 10 % quantile."""
        return self._quantile(0)

    @property
    def high(self) -> float:
        """Their 90 % quantile."""
        return self._quantile(-1)

    def _quantile(self, index: int) -> float:
        if len(self.ratios) == 1:
            return self.ratios[0]
        return statistics.quantiles(self.ratios, n=10, method="inclusive")[index]


def compare_calls(
    candidate: Callable[[], object], reference: Callable[[], object], *, rounds: int = ROUNDS, factor: float = 1.0
) -> Ratios:
    """Return candidate over reference, times `factor`, in processor time of this thread.

    >>> len(compare_calls(list, dict, rounds=2).ratios)
    2
    """
    _keep_memory()
    repeats = [_count_repeats(what) for what in (candidate, reference)]
    ratios = []
    for _ in range(rounds):
        mine, other = (_time(what, count) for what, count in zip((candidate, reference), repeats, strict=True))
        ratios.append(factor * mine / other)
    return Ratios(ratios=tuple(ratios))


def compare_programs(candidate: Sequence[str], reference: Sequence[str], *, rounds: int = 11) -> Ratios | str:
    """Return candidate over reference, each the arguments of a fresh interpreter, in processor time of its process.

    A sentence stands in place of it where the system does not tell the processor time of other processes.

    >>> compare_programs(["-c", "import json"], ["-c", "pass"], rounds=1).median > 0
    True
    """
    if read_children() is None:
        return "skipped: no processor time of other processes"
    for command in (candidate, reference):
        time_program(command)
    return Ratios(ratios=tuple(time_program(candidate) / time_program(reference) for _ in range(rounds)))


def time_program(arguments: Sequence[str], folder: str | None = None) -> float:
    """Return the processor time of a fresh interpreter with one thread, in seconds.

    Parameters
    ----------
    folder : where it runs.

    Raises
    ------
    subprocess.CalledProcessError : it ended with another exit code than 0.

    >>> time_program(["-c", "pass"]) < 10
    True
    """
    start = read_children() or 0.0
    subprocess.run(
        [sys.executable, "-P", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
        cwd=folder,
        env=limit_threads(),
    )
    return (read_children() or 0.0) - start


def limit_threads() -> dict[str, str]:
    """Return the variables of a process that is timed: one thread, and none of those that set options.

    The threads that NumPy starts where nothing says how many cost as much as all else of its import.

    >>> limit_threads()["OMP_NUM_THREADS"]
    '1'
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith("PE_SPECTRA_")}
    return {**own, **dict.fromkeys(THREAD_VARIABLES, "1"), "PE_SPECTRA_NO_FIGURE": "1"}


def read_children() -> float | None:
    """Return the processor time of all processes that this one has started and waited for, in seconds.

    None on systems that do not tell it.

    >>> read_children() is None or read_children() >= 0
    True
    """
    try:
        import resource
    except ImportError:
        return None
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _keep_memory() -> None:
    """Keep memory that arrays give back, as a process does that has worked with long tables.

    glibc keeps as much as the largest block that was given back in one piece, up to 32 MiB. Without this, a row would
    depend on those before it.
    """
    bytes(31 << 20)


def _count_repeats(what: Callable[[], object]) -> int:
    what()
    repeats = 1
    # the next calls, too, may take longer than those that follow; what takes no time that is seen ends some day
    while repeats * max(_time(what, repeats), _LEAST) < _TURN:
        repeats *= 2
    return repeats


def _time(what: Callable[[], object], repeats: int) -> float:
    start = time.thread_time()
    for _ in range(repeats):
        what()
    return (time.thread_time() - start) / repeats
