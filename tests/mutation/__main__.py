"""Plant faults and print which tests find them: python -m tests.mutation [--random N | --only ID | --only-file PATH].

Exit code 1 where a fault survives, cannot be planted, or its tests do not pass without it. With --locate nothing is
planted: it prints each fault whose text is not found exactly once in the package as it stands, and exits 1 if any is.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.mutation.mutants import LIST, Mutant, draw_mutants, read_mutants, read_sources
from tests.mutation.plant import LIMIT, Copy, Verdict, Workshop

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str] | None = None, *, root: Path = ROOT, package: str = "pe_spectra") -> int:
    """Read the command line, plant what it asks for, and return the exit code."""
    asked = _read_arguments(arguments)
    mutants = read_mutants(asked.mutants)
    if asked.only:
        known = {mutant.id: mutant for mutant in mutants}
        if unknown := [name for name in asked.only if name not in known]:
            print(f"no such mutant: {', '.join(unknown)}")
            return 1
        mutants = tuple(known[name] for name in asked.only)
    sources = read_sources(root / package)
    if asked.locate:
        return _tell_lost(mutants, sources)
    if asked.only_file:
        files = {_shorten(path, root / package) for path in asked.only_file}
        if unknown := sorted(files - sources.keys()):
            print(f"no such file of the package: {', '.join(unknown)}")
            return 1
        mutants = tuple(mutant for mutant in mutants if {place.file for place in mutant.find(sources)} & files)
    if asked.random:
        mutants = draw_mutants(mutants, asked.random, asked.seed)
    if asked.list:
        for mutant in mutants:
            place = mutant.locate(sources)
            print(f"{mutant.id}  {place.room}, {mutant.kind}, {place.file}: {mutant.why}")
        return 0
    if not mutants:
        print("no fault stands there")
        return 0
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        jobs = max(1, min(asked.jobs, len(mutants)))
        copies = [Copy(root, Path(folder, str(job)).resolve(), package, asked.limit) for job in range(jobs)]
        return _run(Workshop(copies), mutants)


def _read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.splitlines()[0])
    parser.add_argument("--random", type=int, metavar="N", help="draw so many instead of taking all")
    parser.add_argument("--seed", default="0", metavar="TEXT", help="what the draw depends on, as a commit")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these alone")
    parser.add_argument("--only-file", action="append", metavar="PATH", help="those that now stand in this file")
    parser.add_argument("--locate", action="store_true", help="name those that are not found exactly once")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="so many at a time (default 2)")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS", help="time for the tests of one")
    parser.add_argument("--list", action="store_true", help="list them, plant nothing")
    parser.add_argument("--mutants", type=Path, default=LIST, metavar="FILE", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _shorten(path: str, package: Path) -> str:
    """A path as typed, from the root or from the package, as the path in the package."""
    return path.removeprefix("./").removeprefix(f"{package.name}/")


def _tell_lost(mutants: Sequence[Mutant], sources: Mapping[str, str]) -> int:
    """Name the faults that are not found exactly once, where each was, and what must kill it."""
    lost = 0
    for mutant in mutants:
        try:
            mutant.locate(sources)
        except ValueError as error:
            lost += 1
            print(f"{error}\n  was in {mutant.near or 'a place that is not noted'}: {mutant.why}")
            print("\n".join(f"  - {line}" for line in mutant.old.splitlines()))
            print("\n".join(f"  {test}" for test in mutant.tests))
    return 1 if lost else 0


def _run(workshop: Workshop, mutants: Sequence[Mutant]) -> int:
    start = time.monotonic()
    broken = workshop.check_baseline(mutants)
    if broken:
        print("without any fault, tests do not pass:", *broken, sep="\n  ")
        return 1
    print(f"{len(mutants)} faults; without any, their tests pass ({time.monotonic() - start:.0f} s)", flush=True)
    lock = threading.Lock()

    def tell(found: Verdict) -> None:
        with lock:
            print(f"{found.outcome:8} {found.seconds:5.1f} s  {found.mutant.id}: {found.detail}", flush=True)

    verdicts = workshop.judge(mutants, tell)
    wrong = [found for found in verdicts if found.outcome != "killed"]
    for found in wrong:
        _show(found)
    killed = len(verdicts) - len(wrong)
    print(f"{killed} of {len(verdicts)} killed ({time.monotonic() - start:.0f} s)")
    return 1 if wrong else 0


def _show(found: Verdict) -> None:
    mutant = found.mutant
    print(f"\n{found.outcome}: {mutant.id}, {mutant.within or mutant.near}: {mutant.why}\n  {found.detail}")
    print("\n".join(f"  - {line}" for line in mutant.old.splitlines()))
    print("\n".join(f"  + {line}" for line in mutant.new.splitlines()))


if __name__ == "__main__":
    sys.exit(main())
