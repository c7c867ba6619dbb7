"""Plant a fault into a copy of the package, run the tests that must find it, and say what came of it.

The checkout is only read. Each worker has a copy of package and tests in a temporary folder; the copy is what is
imported, which the plugin `witness` proves from inside every run.
"""

from __future__ import annotations

import compileall
import json
import os
import py_compile
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.mutation.mutants import Mutant, read_sources

#: Seconds that the tests of one mutant may take; what takes longer goes round in circles, and is killed.
LIMIT = 120.0
_WITNESS = Path(__file__).with_name("witness.py")
_BESIDE = ("conftest.py", "pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs")


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one run of pytest in a copy came to.

    Attributes
    ----------
    outcome : "passed", "failed", "timeout", "crash" (the process was ended by a signal) or "invalid" (nothing was
        tested: an error at import or collection, a test that is not there, another package than that of the copy).
    detail : the first test that failed, or what is invalid.
    """

    outcome: str
    detail: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of a mutant: "killed", "survived" or "invalid"; by which test, or why; and in how many seconds."""

    mutant: Mutant
    outcome: str
    detail: str
    seconds: float


class Copy:
    """A copy of package and tests in which one fault at a time is planted."""

    def __init__(self, root: Path, place: Path, package: str = "pe_spectra", limit: float = LIMIT) -> None:
        self.place, self.package, self.limit = place, package, limit
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".hypothesis")
        for name in (package, "tests", *_BESIDE):
            if (root / name).is_dir():
                shutil.copytree(root / name, place / name, ignore=ignored)
            elif (root / name).exists():
                shutil.copy2(root / name, place / name)
        shutil.copy2(_WITNESS, place / "mutation_witness.py")
        # by their content: two versions of a file within one second have one time of change
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(place / package, quiet=2, workers=1, invalidation_mode=mode)

    def judge(self, mutant: Mutant) -> Verdict:
        """Plant a fault, run its tests, and take it out again."""
        sources = read_sources(self.place / self.package)
        try:
            place = mutant.locate(sources)
            changed = mutant.plant(sources[place.file], place.start)
        except ValueError as error:
            return Verdict(mutant=mutant, outcome="invalid", detail=str(error), seconds=0.0)
        path = self.place / self.package / place.file
        try:
            path.write_text(changed, encoding="utf-8")
            run = self.test(mutant.tests)
        finally:
            path.write_text(sources[place.file], encoding="utf-8")
        outcome = {"passed": "survived", "invalid": "invalid"}.get(run.outcome, "killed")
        detail = run.detail if run.outcome in ("passed", "failed", "invalid") else f"{run.outcome}: {run.detail}"
        return Verdict(mutant=mutant, outcome=outcome, detail=detail, seconds=run.seconds)

    def test(self, tests: Sequence[str]) -> Run:
        """Run tests in the copy, to the first that fails."""
        report = self.place / "report.json"
        report.unlink(missing_ok=True)
        start = time.monotonic()
        output, code = self._call(tests, report)
        seconds = time.monotonic() - start
        if code is None:
            return Run(outcome="timeout", detail=f"more than {self.limit:g} s", seconds=seconds)
        if code < 0:
            return Run(outcome="crash", detail=f"signal {-code}", seconds=seconds)
        found = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
        outcome, detail = self._read(code, found, output)
        return Run(outcome=outcome, detail=detail, seconds=seconds)

    def _read(self, code: int, found: dict[str, object], output: str) -> tuple[str, str]:
        last = next((line for line in reversed(output.splitlines()) if line.strip()), "no output")
        if code not in (0, 1) or not found:
            return "invalid", f"pytest ended with {code}: {last}"
        home = Path(str(found["package"])).parent
        if home != self.place / self.package:
            return "invalid", f"{home} was tested, not the copy"
        failed = found["failed"]
        if code == 1 and isinstance(failed, list) and failed:
            return "failed", str(failed[0])
        if code == 1 or not found["passed"]:
            return "invalid", f"nothing was tested: {last}"
        return "passed", f"{found['passed']} passed"

    def _call(self, tests: Sequence[str], report: Path) -> tuple[str, int | None]:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        command += ["-p", "mutation_witness", "--rootdir", str(self.place), "--tb=line", *tests]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
        environment = kept | {
            "PYTHONPATH": str(self.place),
            "MUTATION_REPORT": str(report),
            "MUTATION_PACKAGE": self.package,
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        with subprocess.Popen(
            command,
            cwd=self.place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=self.limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return "", None
        return output, process.returncode


class Workshop:
    """Some copies, side by side, among which work is shared out."""

    def __init__(self, copies: Sequence[Copy]) -> None:
        self._free: SimpleQueue[Copy] = SimpleQueue()
        self._jobs = len(copies)
        for copy in copies:
            self._free.put(copy)

    def check_baseline(self, mutants: Iterable[Mutant]) -> list[str]:
        """Run the tests of some mutants without any fault; say which of them do not pass."""
        by_file: dict[str, dict[str, None]] = {}
        for test in (test for mutant in mutants for test in mutant.tests):
            by_file.setdefault(test.partition("::")[0], {})[test] = None
        # a whole file holds its single tests
        groups = [(name,) if name in tests else tuple(tests) for name, tests in by_file.items()]
        runs = self._share(lambda copy, tests: copy.test(tests), groups)
        return [f"{run.outcome}: {run.detail}" for run in runs if run.outcome != "passed"]

    def judge(self, mutants: Sequence[Mutant], tell: Callable[[Verdict], None]) -> list[Verdict]:
        """Judge each mutant, and tell of each as soon as it is known; in the order given."""

        def work(copy: Copy, mutant: Mutant) -> Verdict:
            verdict = copy.judge(mutant)
            tell(verdict)
            return verdict

        return self._share(work, mutants)

    def _share(self, work, items):  # what is given and returned depends on the work
        def take(item):
            copy = self._free.get()
            try:
                return work(copy, item)
            finally:
                self._free.put(copy)

        with ThreadPoolExecutor(self._jobs) as pool:
            return list(pool.map(take, items))
