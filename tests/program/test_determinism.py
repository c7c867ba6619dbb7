"""The bytes of every answer, array and drawing are the same whatever the environment is, run after run."""

from __future__ import annotations

import hashlib
import os
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.places import ROOT
from tests.program.environments import (
    DRAWINGS,
    LARGE_LINES,
    LINES,
    Environment,
    Place,
    Program,
    build_program,
    fill_cache,
    list_exports,
    list_jobs,
    run_two_by_two,
    start_fresh,
    write_inputs,
)

THREADS = ("1", "2", "4", "8")
LANGUAGES = ("C", "C.UTF-8", "tr_TR.UTF-8", "de_DE.UTF-8", "xx_XX")
ZONES = ("UTC", "Asia/Tokyo", "America/St_Johns", "EST5EDT", "nonsense")
WIDTHS = ("20", "80", "0", "wide", "99999", None)
UMASKS = (0o022, 0o077, 0o000, 0o027)
#: Of the runs, those that start with an empty cache of the drawing library, and those with large tables.
COLD = (3, 11)
HEAVY = (0, 5, 10, 15)
#: What takes most of the time is answered in some of the runs: whole words of the names of jobs.
SELDOM = ("claims", "figures")
#: Each fault is seen between two of the environments, by the jobs named here.
SEEN_BY = {
    "set": ("context, table",),
    "hash": ("context, table",),
    "width": ("context, table",),
    "locale": ("context, table",),
    "time zone": ("context, table",),
    "folder": ("context, table",),
    "listing": ("context, table",),
    "stamp": ("count-low-bin, .svg",),
    "salt": ("count-low-bin, .svg",),
}


def describe(number):
    """Give the environment of one of the runs; what is listed first differs from run to run."""
    language = LANGUAGES[number % len(LANGUAGES)]
    blas = {f"{name}_NUM_THREADS": THREADS[number % 4] for name in ("OMP", "OPENBLAS", "MKL")}
    return Environment(
        variables={
            "PYTHONHASHSEED": str(1000 + 37 * number),
            **blas,
            "LANG": language,
            "LC_ALL": language if number % 3 else None,
            "TZ": ZONES[number % len(ZONES)],
            "COLUMNS": WIDTHS[number % len(WIDTHS)],
            "PYTHONUTF8": "1" if language != "C.UTF-8" or number % 2 else "0",
            "SHUFFLED": str(number),
            **({"MPLCONFIGDIR": "{root}/cold"} if number in COLD else {}),
        },
        files={f"{letter}{number}/x": "" for letter in ("bca", "cab", "abc")[number % 3]},
    )


class Runs:
    """The runs: each in folders of its own, whose names are shorter and longer."""

    def __init__(self, folder, inputs):
        self.folder, self.inputs, self.cache = folder, inputs, folder / "cache"
        self.started = 0
        fill_cache(self.cache)

    def open(self, number, **more):
        """Start the program for a run."""
        self.started += 1
        root = self.folder / "-".join(["run", *["long"] * (number % 7), str(self.started)])
        place = Place(root.joinpath(*["deep"] * (number % 4)), self.cache, describe(number))
        return Program(place, umask=UMASKS[number % len(UMASKS)], **more)


def answer_all(program, jobs, **more):
    """Give the digest of everything that each job leaves: exit code, streams, file."""
    found = {}
    for name, (argv, file) in jobs.items():
        outcome = program.answer(argv, **more)
        assert outcome.code == 0, (name, outcome.stderr)
        data = program.take(file) if file else b""
        parts = (outcome.stdout, outcome.stderr, data)
        found[name] = hashlib.sha256(b"|".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return found


def find_differences(digests):
    """Give the jobs whose digests are not all the same."""
    names = dict.fromkeys(name for found in digests for name in found)
    return [name for name in names if len({found[name] for found in digests if name in found}) > 1]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    inputs = folder / "inputs"
    inputs.mkdir()
    write_inputs(inputs)
    return Runs(folder, inputs)


@pytest.fixture(scope="module")
def pair(runs):
    """Two runs that differ in everything."""
    with runs.open(7) as first, runs.open(18) as second:
        yield first, second


def test_every_command_has_its_line():
    assert list(LINES) == list(build_program().commands)
    assert all(line.split()[0] == name for name, line in LINES.items())


@pytest.mark.slow
def test_a_sample_is_the_same_in_two_environments(runs, pair):
    jobs = {**list_jobs(runs.inputs, drawing=".svg"), **list_exports()}
    slow = ("claims", "inspect, .svg", "context, .svg", "figures")
    light = [name for name in jobs if not name.startswith(slow)]
    chosen = {name: jobs[name] for name in random.Random(6).sample(light, 6)}
    with ThreadPoolExecutor(2) as pool:
        digests = list(pool.map(lambda program: answer_all(program, chosen), pair))
    assert find_differences(digests) == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", SEEN_BY)
def test_planted_faults_are_seen(runs, pair, fault):
    jobs = {name: job for name, job in list_jobs(runs.inputs, drawing=".svg").items() if name in SEEN_BY[fault]}
    digests = [answer_all(program, jobs, PLANTED=fault) for program in pair]
    assert find_differences(digests) == list(SEEN_BY[fault])


@pytest.mark.slow
def test_the_program_uses_one_thread(pair):
    # sums of several threads end in other digits
    assert [program.threads for program in pair] == [1, 1]


@pytest.mark.slow
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor: libraries start no threads")
def test_threads_would_be_seen(runs):
    with runs.open(7, planted="threads") as program:
        assert program.threads > 1


@pytest.mark.parametrize("count", [pytest.param(4, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.long)])
def test_many_runs_leave_the_same_bytes(runs, count):
    """Every command, in every format, in many environments; drawings and what is slow in some of them."""
    digests = run_two_by_two(lambda number: run_once(runs, number), range(count))
    assert all(len(found) > 2 * len(LINES) for found in digests)
    assert {name.split(",")[0] for found in digests for name in found} == set(LINES)
    assert find_differences(digests) == []


def run_once(runs, number, drawings=None):
    """Give the digests of one run; a kind of drawing is made in every sixth, for time."""
    chosen = drawings or ((DRAWINGS[number // 2 % 3],) if number % 2 == 0 else (None,))
    jobs = {name: job for kind in chosen for name, job in list_jobs(runs.inputs, drawing=kind).items()}
    jobs |= list_exports()
    if number not in HEAVY and not drawings:
        jobs = {name: job for name, job in jobs.items() if not name.startswith(SELDOM)}
    if number in HEAVY:
        for name, line in LARGE_LINES.items():
            words = line.format(inputs=runs.inputs).split()
            no_figure = ["--no-figure"] if words[0] == "faithfulness" else []
            jobs[name] = ([*words, "--json", *no_figure], None)
    with runs.open(number) as program:
        assert program.complaints.count("\n") <= 1  # that the cache is being built
        return answer_all(program, jobs)


@pytest.mark.slow
def test_all_figures_of_the_paper_are_the_same_bytes(runs):
    def build(number):
        place = Place(runs.folder / f"figures{number}", runs.cache, describe(number))
        outcome = start_fresh(place, ["figures", "--quiet", "--output", "all"])
        assert outcome.code == 0, outcome.stderr
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (place.work / "all").iterdir()}

    digests = run_two_by_two(build, (1, 6, 12, 19))
    assert digests[0].keys() >= {path.name for path in (ROOT / "figures").glob("fig*")}
    assert find_differences(digests) == []


@pytest.mark.slow
def test_fresh_processes_leave_what_forked_ones_do(runs):
    """Each job once more in a process of its own, each in another of the environments."""
    jobs = list(list_jobs(runs.inputs, formats=("json",)).items())
    with runs.open(0) as program:
        forked = {name: program.answer(argv) for name, (argv, _) in jobs}

    def start(item):
        number, (name, (argv, _)) = item
        place = Place(runs.folder / f"fresh{number}", runs.cache, describe(number + 1))
        return name, start_fresh(place, argv)

    for name, outcome in run_two_by_two(start, enumerate(jobs)):
        assert (outcome.code, outcome.stdout, outcome.stderr) == (0, forked[name].stdout, forked[name].stderr), name
