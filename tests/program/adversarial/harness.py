"""Runs the rows of the catalogue: prepares a place, starts the program, disturbs it, judges it."""

import math
import os
import random
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from disk import judge_files, judge_together
from judge import DEFAULT_LIMITS, judge_outcome
from rows import expand
from running import Outcome, Process, parse_signals
from warm import is_enough
from workspace import Entry, SetupError, Workspace, may_write_everywhere

from tests.pace import average, measure_beside, measure_slowness

#: Attempts to hit a living program with a signal, and how much later each of them tries: in seconds, and in parts
#: of an undisturbed run, whose start takes longer on a slow machine.
ATTEMPTS, LATER, LATER_PART = 6, 0.04, 0.05
#: Runs of which each takes too long, until that is the program's fault and not that of a busy machine.
TOO_LONG = 3
#: Seconds that a run may go on beyond its limit before it is ended.
PATIENCE = 5
#: Seconds after which the pace of the machine is measured anew.
STALE = 10
#: Variables of every run, besides its folders.
BASE = {
    "PATH": os.environ.get("PATH", os.defpath),
    "LANG": "C.UTF-8",
    "COLUMNS": "200",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The runs of one workspace, how slow the machine was beside them, and its disk before and after."""

    outcomes: tuple[Outcome, ...]
    pace: float
    before: dict[str, Entry]
    after: dict[str, Entry]


class Harness:
    """Runs rows against a program.

    Parameters
    ----------
    command : how the program is started; arguments follow.
    fixtures : the fixtures of the catalogue, by name.
    folder : an empty folder to work in.
    marker : text that a traceback has once a line of the program itself was running.
    warm : the program in a process that has imported everything; None to start each run afresh.
    """

    def __init__(self, command, fixtures, folder, *, marker="pe_spectra", warm=None):
        self.command, self.fixtures, self.folder, self.marker = command, fixtures, Path(folder), marker
        self.warm = warm
        self.cache = self.folder / "cache"
        self.cache.mkdir()
        self._places = 0
        self._slowness = (-math.inf, 1.0)
        self._moments = random.Random(20)

    def fill_cache(self, argv):
        """Run the program once, so that the drawing library has its cache before the first row."""
        return self._try({"group": "none", "limits": {"seconds": 60}}, argv, {})

    def reason_to_skip(self, case):
        """Say why a row cannot run here; empty if it can."""
        needs = case.get("needs", "not root")
        if needs != "not root":
            raise SetupError(f"a need that nobody understands: {needs}")
        bound = "needs" not in case or not may_write_everywhere(self.folder)
        return "" if bound else "root may write everywhere"

    def run(self, case):
        """Give the problems of a row, in words; none is a pass."""
        problems, trials = [], []
        for argv, environment in runs_of(case):
            reference = self._try(case, argv, environment) if "act" in case else None
            if reference is not None and reference.outcomes[0].code != 0:
                found = reference.outcomes[0]
                return [f"undisturbed, the run ends with {found.code}: {found.stderr[:600]!r}"]
            for _ in range(case.get("repeat", 1)):
                trial = self._disturb(case, argv, environment, reference) or self._try_in_time(case, argv, environment)
                trials.append(trial)
                problems += judge_trial(case, trial, reference)
        outcomes = [outcome for trial in trials for outcome in trial.outcomes]
        return [
            *problems,
            *judge_together(case, outcomes, [trial.after for trial in trials]),
            *judge_hits(case, outcomes),
        ]

    def _disturb(self, case, argv, environment, reference):
        """Run until the disturbance met a living program; None if the row wants none."""
        if reference is None:
            return None
        act, duration = case["act"], reference.outcomes[0].seconds
        if act.startswith("parallel "):
            return self._try(case, argv, environment, count=int(act.split()[1]))
        late = 0
        for _ in range(ATTEMPTS):
            events = self._plan(act, duration, late=late)
            trial = self._try(case, argv, environment, events=events)
            if "while running" in act or self._counts(case, trial.outcomes[0]):
                return trial
            if "random" in act or not hit(case, trial.outcomes[0]):  # it may have been over: runs are as short as this
                duration = min(duration, trial.outcomes[0].seconds)
            else:
                late += max(LATER, LATER_PART * duration)
        return trial

    def _plan(self, act, duration, *, late):
        """Give the (moment, action) pairs of a disturbance."""
        found = re.fullmatch(r"truncate (\S+) while running", act)
        if found:
            moment = self._moments.uniform(0, duration)
            return [(moment, lambda _, workspace: truncate(workspace.work / found[1]))]
        pairs = parse_signals(act, duration, self._moments)
        return [(moment + late, lambda process, _, n=number: process.signal(n)) for number, moment in pairs]

    def _counts(self, case, outcome):
        """Whether a run was hit: alive at the signal, and past the interpreter's own start."""
        if not hit(case, outcome):
            return False
        trace = b"KeyboardInterrupt" in outcome.stderr and self.marker.encode() not in outcome.stderr
        silent = outcome.code == -signal.SIGINT and not outcome.stdout + outcome.stderr
        return not trace and not silent

    def _try_in_time(self, case, argv, environment):
        """Run undisturbed; again where it takes too long, which the program's own fault does each time."""
        for _ in range(TOO_LONG):
            trial = self._try(case, argv, environment)
            if not is_too_long(case, trial):
                break
        return trial

    def _try(self, case, argv, environment, *, events=(), count=1):
        """Run once, or `count` times at once, in a new workspace."""
        self._places += 1
        workspace = Workspace(self.folder / f"run{self._places}")
        variables = self._set_variables(case, environment, workspace)

        def start(words):
            return Process(self.command, [expand(word) for word in words], workspace, variables)

        workspace.prepare(case, self.fixtures, lambda words: run_first(start(words)))
        before = workspace.snapshot()
        patience = (5 * allow_seconds(case) * count + PATIENCE) * self._measure_slowness()
        with measure_beside() as paces:
            if self.warm is not None and is_enough(case, workspace):
                words = [expand(word) for word in argv]
                outcomes = (self.warm.run(words, workspace, variables, patience),)
            else:
                processes = [start(argv) for _ in range(count)]
                with ThreadPoolExecutor(count) as pool:
                    outcomes = tuple(pool.map(lambda process: process.wait(patience, events), processes))
        trial = Trial(outcomes=outcomes, pace=average(paces), before=before, after=workspace.snapshot())
        workspace.clear()
        return trial

    def _measure_slowness(self):
        """How slow the machine is, measured every few seconds: it bounds how long a run that hangs is waited for."""
        measured, _ = self._slowness
        if time.monotonic() - measured > STALE:
            self._slowness = (time.monotonic(), measure_slowness())
        return self._slowness[1]

    def _set_variables(self, case, further, workspace):
        variables = {
            **BASE,
            "HOME": str(workspace.home),
            "TMPDIR": str(workspace.temporary),
            "MPLCONFIGDIR": str(self.cache),
            **case.get("env", {}),
            **further,
        }
        if variables["MPLCONFIGDIR"] == "fresh":
            fresh = workspace.root / "fresh"
            fresh.mkdir()
            variables["MPLCONFIGDIR"] = str(fresh)
        return {name: value for name, value in variables.items() if value is not None}


def runs_of(case):
    """Give the arguments and the further environment of every run of a row."""
    lines = [case["argv"], *case.get("variants", [])]
    return [(argv, environment) for argv in lines for environment in case.get("repeat_env", [{}])]


def run_first(process):
    """Wait for a run that a row wants before the run; it has to succeed."""
    outcome = process.wait(60)
    if outcome.code != 0:
        raise SetupError(f"the run before the run ends with {outcome.code}: {outcome.stderr[:600]!r}")


def truncate(path):
    """Cut a file under its reader."""
    os.truncate(path, path.stat().st_size // 2)
    return True


def allow_seconds(case):
    """Give the seconds of the processor that each run may take on a machine at rest."""
    return (DEFAULT_LIMITS | case.get("limits", {}))["seconds"]


def is_too_long(case, trial):
    """Whether a run takes more of the processor than it may, at the pace that was measured beside it."""
    return any(outcome.processor > allow_seconds(case) * trial.pace for outcome in trial.outcomes)


def judge_trial(case, trial, reference):
    """Judge the runs of one workspace."""
    limits = case.get("limits", {}) | {"seconds": allow_seconds(case) * trial.pace}
    problems = [found for outcome in trial.outcomes for found in judge_outcome({**case, "limits": limits}, outcome)]
    codes = [outcome.code for outcome in trial.outcomes]
    disk = reference.after if reference else None
    return problems + judge_files(case, codes, trial.before, trial.after, disk)


def judge_hits(case, outcomes):
    """A disturbance that came after the end proves nothing."""
    if "@" not in case.get("act", ""):
        return []
    alive = sum(hit(case, outcome) for outcome in outcomes)
    wanted = len(outcomes) / 2 if "random" in case["act"] else len(outcomes)
    return [] if alive >= wanted else [f"only {alive} of {len(outcomes)} runs were alive when the signal came"]


def hit(case, outcome):
    """Whether the signals of a row met a living program; of several Ctrl-C the first is enough."""
    names = re.findall(r"([A-Z]+)@", case["act"])
    due = 1 if len(set(names)) == 1 else len(names)
    return all(outcome.received[:due]) and len(outcome.received) >= due
