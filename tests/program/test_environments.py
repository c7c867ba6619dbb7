"""Every command answers in every environment as it does in a plain one: code, bytes, nothing left behind."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import stat
import struct
import termios
import threading
from fcntl import ioctl

import pytest

from pe_spectra.cli.terminal import to_ascii
from tests.program.environments import (
    LINES,
    WRITTEN,
    Environment,
    Place,
    Program,
    build_program,
    fill_cache,
    list_jobs,
    run_two_by_two,
    start_fresh,
    write_inputs,
)

TRAP = "raise SystemExit(99)\n"
HOSTILE = "text.usetex: True\nfont.size: 30\nsavefig.bbox: tight\nsvg.hashsalt: x\nbackend: TkAgg\nnonsense: 1\n"
#: name -> how it differs from a plain environment; the program is loaded in each of them.
ENVIRONMENTS = {
    "no HOME": Environment(variables={"HOME": None, "MPLCONFIGDIR": "{root}/cache"}, draws=True),
    "HOME is empty": Environment(variables={"HOME": ""}),
    "no other caches": Environment(variables={"XDG_CACHE_HOME": "/dev/null/x", "XDG_CONFIG_HOME": "/dev/null/x"}),
    "no TMPDIR": Environment(variables={"TMPDIR": None}),
    "TMPDIR is missing": Environment(variables={"TMPDIR": "{root}/nowhere"}, draws=True),
    "an ASCII stream": Environment(variables={"PYTHONIOENCODING": "ascii"}, ascii=True),
    "a Latin-1 stream": Environment(variables={"PYTHONIOENCODING": "latin-1"}, ascii=True),
    "locale C": Environment(variables={"LC_ALL": "C"}),
    "locale C, without UTF-8": Environment(
        variables={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, ascii=True, draws=True
    ),
    "a locale that is nowhere": Environment(variables={"LC_ALL": "xx_XX.UTF-8", "LANG": "nonsense"}),
    "a Turkish locale": Environment(variables={"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}),
    "20 columns": Environment(variables={"COLUMNS": "20", "LINES": "2"}),
    "0 columns": Environment(variables={"COLUMNS": "0", "LINES": "0"}),
    "columns are a word": Environment(variables={"COLUMNS": "wide", "LINES": "tall"}),
    "columns without end": Environment(variables={"COLUMNS": "9" * 30, "LINES": "9" * 30}),
    "fewer than no columns": Environment(variables={"COLUMNS": "-5", "LINES": "-5"}),
    "a dumb terminal": Environment(variables={"TERM": "dumb"}),
    "a terminal that is nowhere": Environment(variables={"TERM": "nonsense"}),
    "NO_COLOR": Environment(variables={"NO_COLOR": "1", "TERM": "xterm"}),
    "FORCE_COLOR": Environment(variables={"FORCE_COLOR": "3", "CLICOLOR_FORCE": "1", "PY_COLORS": "1"}),
    "a terminal for Rich": Environment(variables={"TTY_COMPATIBLE": "1", "TTY_INTERACTIVE": "1", "COLORTERM": "x"}),
    "a terminal for Typer": Environment(variables={"_TYPER_FORCE_DISABLE_TERMINAL": "0", "GITHUB_ACTIONS": "true"}),
    "warnings are errors": Environment(variables={"PYTHONWARNINGS": "error"}, draws=True),
    "developer's mode": Environment(variables={"PYTHONDEVMODE": "1", "PYTHONWARNINGS": "error"}, draws=True),
    "without asserts": Environment(variables={"PYTHONOPTIMIZE": "1"}),
    "without docstrings": Environment(variables={"PYTHONOPTIMIZE": "2"}, draws=True),
    "no compiled files": Environment(variables={"PYTHONDONTWRITEBYTECODE": "1"}),
    "an unbuffered stream": Environment(variables={"PYTHONUNBUFFERED": "1"}),
    "no such backend": Environment(variables={"MPLBACKEND": "nonsense"}, draws=True),
    "a backend with windows": Environment(variables={"MPLBACKEND": "TkAgg", "DISPLAY": ":99"}, draws=True),
    "a matplotlibrc here": Environment(files={"matplotlibrc": HOSTILE}, draws=True),
    "a matplotlibrc that is no text": Environment(files={"matplotlibrc": "# caf\xe9\n"}, draws=True),
    "a matplotlibrc in the cache": Environment(
        variables={"MPLCONFIGDIR": "{work}/cache"}, files={"cache/matplotlibrc": HOSTILE}, draws=True
    ),
    "a matplotlibrc by name": Environment(
        variables={"MATPLOTLIBRC": "{work}/mine"}, files={"mine": HOSTILE}, draws=True
    ),
    "modules here": Environment(
        files={f"{name}.py": TRAP for name in ("numpy", "json", "rich", "typer", "re", "pe_spectra", "sitecustomize")}
    ),
    "threads are a word": Environment(variables={"OMP_NUM_THREADS": "many", "OPENBLAS_NUM_THREADS": "-1"}),
    "a time zone that is nowhere": Environment(variables={"TZ": "nonsense/nowhere"}),
    "other programs' settings": Environment(
        variables={
            "PYTHONPROFILEIMPORTTIME": "",
            "PYTHONSTARTUP": "/dev/null/x",
            "CLICOLOR": "1",
            "RICH_TRACEBACK": "1",
        }
    ),
}
#: The drawing library then makes a cache that it removes at its end, so each run is a process of its own.
WITHOUT_CACHE = {
    "HOME cannot be": Environment(variables={"HOME": "/dev/null/x", "MPLCONFIGDIR": None}),
    "cache is a file": Environment(variables={"MPLCONFIGDIR": "{work}/file"}, files={"file": ""}),
}
FULL = "/dev/full"
#: name -> what a run does to itself before it becomes the program; the answer is the plain one.
STEPS = {
    "no folder": [["no folder"]],
    "stdin is closed": [["close", "stdin"]],
    "stderr is closed": [["close", "stderr"]],
    "stdin and stderr are closed": [["close", "stdin"], ["close", "stderr"]],
    "stderr is full": [["write to", "stderr", FULL]],
    "16 open files": [["limit", "nofile", "16"]],
    "a small stack": [["limit", "stack", str(512 << 10)]],
    "a umask": [["umask", "077"]],
}
#: Without a place for the answer: exit code, and what is said on stderr.
NOWHERE = {
    "stdout is closed": ([["close", "stdout"]], 2, "error: stdout: is closed\n"),
    "stdout and stdin are closed": ([["close", "stdin"], ["close", "stdout"]], 2, "error: stdout: is closed\n"),
    "stdout is full": ([["write to", "stdout", FULL]], 2, "error: stdout: no space left on device\n"),
    "nobody reads": ([["no reader"]], 0, ""),
}
#: The same in the words of the adversarial tests, for processes of their own.
FRESH = {
    "stdin is closed": [["close", "0"]],
    "stderr is closed": [["close", "2"]],
    "stdout is closed": [["close", "1"]],
    "stdout is full": [["stdout", FULL]],
    "no folder": [["cwd-gone"]],
    "16 open files": [["rlimit", "nofile", "16"]],
    "a small stack": [["rlimit", "stack", str(512 << 10)]],
}
#: Commands whose drawings are compared: curves, a heat map, a ladder.
DRAWN = ("spectrum", "faithfulness", "audit")
NUMBER = re.compile(r"[-+]?[0-9](?:[0-9.,]*[0-9])?(?:e[-+]?[0-9]+)?")


class Plain:
    """The inputs, the cache, and what every job leaves in the plain environment."""

    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache"
        self.inputs = folder / "inputs"
        self.inputs.mkdir()
        write_inputs(self.inputs)
        fill_cache(self.cache)
        self.program = Program(Place(folder / "plain", self.cache))
        assert (self.program.code, self.program.complaints) == (0, "")
        self._answers = {}

    def list_jobs(self, **more):
        """Give the jobs: one form of each command, or more."""
        return list_jobs(self.inputs, **{"formats": ("table",), **more})

    def answer(self, name, job):
        """Give the outcome of a job and the bytes of its file."""
        if name not in self._answers:
            self._answers[name] = run(self.program, job)
            assert self._answers[name][0].code == 0, self._answers[name]
        return self._answers[name]


def run(program, job):
    """Run a job; give its outcome and the bytes of its file."""
    argv, file = job
    outcome = program.answer(argv, FEW_FIGURES="1")
    return outcome, program.take(file) if file and outcome.code == 0 else b""


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    found = Plain(tmp_path_factory.mktemp("environments"))
    yield found
    found.program.close()


def compare(plain, name, environment, jobs):
    """Answer the jobs in an environment; give what is not as in the plain one, in words."""
    place = Place(plain.folder / name.replace(" ", "-"), plain.cache, environment)
    problems = []
    with Program(place) as program:
        if program.code or program.complaints.count("\n") > (1 if "MPLCONFIGDIR" in environment.variables else 0):
            problems.append(f"the first answer: {program.code}, {program.complaints}")
        before = place.snapshot()
        for job_name, job in jobs.items():
            expected, drawn = plain.answer(job_name, job)
            outcome, file = run(program, job)
            problems += [f"{job_name}: {text}" for text in judge(outcome, expected, environment.ascii)]
            if file != drawn:
                problems.append(f"{job_name}: another drawing")
        if place.snapshot() != before:
            problems.append(f"left behind: {sorted(set(place.snapshot()) ^ set(before))}")
    return problems


def judge(outcome, expected, is_ascii):
    """Give what is not as expected, in words."""
    out, err = expected.stdout, expected.stderr
    if is_ascii:
        out, err = (to_ascii(stream.decode()).encode() for stream in (out, err))
    if outcome.code != expected.code:
        yield f"exit {outcome.code}, {outcome.stderr.decode(errors='replace')[-600:]}"
    elif outcome.stdout != out:
        yield "another answer"
    elif outcome.stderr != err:
        yield f"on stderr {outcome.stderr!r} where {err!r} is expected"


def choose_jobs(plain, environment):
    """Give the jobs of an environment: JSON and CSV where colours are asked for, drawings where it matters."""
    forms = ("table", "json", "csv") if "FORCE_COLOR" in environment.variables else ("table",)
    return choose_drawings(plain.list_jobs(formats=forms, drawing=".svg" if environment.draws else None))


def choose_drawings(jobs):
    """Leave out all drawings but three, for time."""
    return {name: job for name, job in jobs.items() if not job[1] or name.split(",")[0] in DRAWN}


def test_every_command_has_its_line():
    assert list(LINES) == list(build_program().commands)


@pytest.mark.slow
def test_a_sample_of_environments(plain):
    """One of them, and a sample of the commands."""
    draw = random.Random(5)
    light = [name for name in plain.list_jobs() if not name.startswith(("claims", "figures"))]
    for name in draw.sample(sorted(ENVIRONMENTS), 1):
        jobs = plain.list_jobs()
        chosen = {job: jobs[job] for job in draw.sample(light, 5)}
        assert compare(plain, f"sample {name}", ENVIRONMENTS[name], chosen) == []


@pytest.mark.parametrize("part", [pytest.param(4, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.long)])
def test_every_command_answers_in_every_environment(plain, part):
    """In all environments, or in every fourth, beginning with the third."""
    for job in choose_drawings(plain.list_jobs(formats=("table", "json", "csv"), drawing=".svg")).items():
        plain.answer(*job)

    def look(item):
        name, environment = item
        problems = compare(plain, f"{name} {part}", environment, choose_jobs(plain, environment))
        return [f"{name}: {text}" for text in problems]

    chosen = list(ENVIRONMENTS.items())[part // 2 :: part]
    problems = [text for found in run_two_by_two(look, chosen) for text in found]
    assert problems == [], "\n".join(problems)


@pytest.mark.slow
def test_every_command_answers_without_a_cache(plain):
    def start(item):
        (name, environment), (job, (argv, file)) = item
        place = Place(plain.folder / f"{name} {job}", plain.cache, environment)
        outcome = start_fresh(place, argv)
        found = list(judge(outcome, plain.answer(job, (argv, file))[0], is_ascii=False))
        left = list(place.temporary.iterdir())
        return [f"{name}, {job}: {text}" for text in (*found, *left)]

    jobs = choose_drawings(plain.list_jobs(drawing=".svg")).items()
    for job in jobs:
        plain.answer(*job)
    items = [(environment, job) for environment in WITHOUT_CACHE.items() for job in jobs if job[0] != "figures, table"]
    problems = [text for found in run_two_by_two(start, items) for text in found]
    assert problems == [], "\n".join(problems)


def answer_after(plain, steps, argv, **more):
    """Run a line in an empty folder of its own, after some steps; give the outcome."""
    place = Place(plain.folder / f"steps{len(list(plain.folder.iterdir()))}", plain.cache)
    variables = {**place.variables, "FEW_FIGURES": "1", "STEPS": json.dumps(steps), **more}
    before = place.snapshot()
    outcome = plain.program.run(argv, place, variables, 600)
    if ["no folder"] not in steps:
        assert place.snapshot() == before
    return outcome


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in STEPS])
def test_every_command_answers_after(plain, name):
    for job, (argv, file) in plain.list_jobs().items():
        if file is not None:  # it answers with a file, and no stream
            continue
        expected, _ = plain.answer(job, (argv, file))
        outcome = answer_after(plain, STEPS[name], argv)
        unread = "stderr" in name
        assert (outcome.code, outcome.stdout) == (0, expected.stdout), (job, outcome.stderr)
        assert outcome.stderr == (b"" if unread else expected.stderr), job


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in NOWHERE])
def test_no_command_has_an_answer_for_nobody(plain, name):
    steps, code, said = NOWHERE[name]
    for job, (argv, file) in plain.list_jobs().items():
        if file is not None:
            continue
        outcome = answer_after(plain, steps, [*argv, "--quiet"])
        assert (outcome.code, outcome.stdout, outcome.stderr.decode()) == (code, b"", said), job


def test_refusals_in_bad_places(plain):
    """The exit code of a refusal stays 2 when nobody can read why."""
    wrong = ["spectrum", "--d", "0"]
    assert answer_after(plain, [], wrong).stderr.startswith(b"error: --d")
    for name in ("stderr is closed", "stderr is full", "16 open files", "no folder", "stdin is closed"):
        assert answer_after(plain, STEPS[name], wrong).code == 2


@pytest.mark.slow
def test_a_sample_in_processes_of_their_own(plain):
    """What forked runs do to themselves is what a shell does to a program."""
    draw = random.Random(9)
    light = {name: job for name, job in plain.list_jobs().items() if not name.startswith(("claims", "figures"))}
    chosen = [(name, job) for name in FRESH for job in draw.sample(sorted(light), 3)]

    def start(item):
        name, job = item
        place = Place(plain.folder / f"fresh {name} {job}", plain.cache)
        return name, job, start_fresh(place, light[job][0], steps=FRESH[name])

    for name, job, outcome in run_two_by_two(start, chosen):
        expected = plain.answer(job, light[job])[0]
        out, code = (b"", 2) if "stdout" in name else (expected.stdout, 0)
        assert (outcome.code, outcome.stdout) == (code, out), (name, job, outcome.stderr)
        assert b"Traceback" not in outcome.stderr


def test_a_reader_that_leaves_early(plain):
    place = Place(plain.folder / "early", plain.cache)
    outcome = start_fresh(place, ["spectrum", "--d", "4096", "--json", "--no-figure"], lines=1)
    assert (outcome.code, outcome.stderr) == (0, b"")


def show(plain, argv, columns, rows=40, **more):
    """Run a line on a terminal of some size; give what it shows."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    chunks = []

    def read():
        try:
            while chunk := os.read(leader, 65536):
                chunks.append(chunk)
        except OSError:
            pass  # the terminal has no writer any more

    reader = threading.Thread(target=read)
    reader.start()
    steps = [["write to", "stdout", os.ttyname(follower)]]
    outcome = answer_after(plain, steps, argv, **{"TERM": "xterm", **more})
    os.close(follower)
    reader.join()
    os.close(leader)
    assert outcome.code == 0, outcome.stderr
    return b"".join(chunks).decode().replace("\r\n", "\n")


def find_cut_numbers(narrow, wide):
    """Give the numbers of a narrow answer that the wide one does not have: pieces of others."""
    known = set(NUMBER.findall(wide))
    return [number for number in NUMBER.findall(narrow) if number not in known]


def drop_drawing(text):
    """Leave out the drawing in characters, whose ticks follow the width."""
    lines = text.split("\n")
    ends = [number + 1 for number, line in enumerate(lines) if "\u253c" in line]  # the axis, then its labels
    return "\n".join(
        line for number, line in enumerate(lines) if number not in ends and not re.search("[\u2502\u2524\u253c]", line)
    )


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=[] if name in ("spectrum", "export") else pytest.mark.slow)
        for name in LINES
        if name not in WRITTEN  # a page is for a browser
    ],
)
def test_numbers_are_never_cut_on_a_terminal_of_20_columns(plain, command):
    argv = plain.list_jobs()[f"{command}, table"][0]
    # room for each row that the narrow one shows; how many it leaves out is its own number
    wide = drop_drawing(show(plain, argv, 110, rows=500, NO_COLOR="1"))
    narrow = re.sub(r"[0-9]+\s+(more|detail)", "", drop_drawing(show(plain, argv, 20, NO_COLOR="1")))
    assert narrow.strip()
    assert "\x1b" not in narrow
    assert find_cut_numbers(narrow, wide) == []


def test_a_cut_number_would_be_seen():
    assert find_cut_numbers("a 1.2345\n678e-01", "a 1.2345678e-01") == ["1.2345", "678e-01"]
    assert find_cut_numbers("a\n1.5", "a 1.5") == []


def test_colours_are_for_terminals_and_tables(plain):
    argv = ["count-low-bin", "--d", "8", "--no-figure"]
    assert "\x1b[" in show(plain, argv, 80)
    assert "\x1b" not in show(plain, argv, 80, NO_COLOR="1")
    assert "\x1b" not in show(plain, argv, 80, TERM="dumb")
    for form in ("json", "csv"):
        for more in ({"FORCE_COLOR": "1"}, {"PE_SPECTRA_COUNT_LOW_BIN_COLOR": "always"}):
            assert "\x1b" not in show(plain, [*argv, "--format", form], 80, **more)


def list_variables():
    """Give (command, option, variable) for all that a variable can set and the command's line does not."""
    for command, one in build_program().commands.items():
        for parameter in one.params:
            option = max(parameter.opts, key=len)
            given = {"--help", *LINES[command].split()} & set(parameter.opts)
            if parameter.param_type_name == "option" and not given:
                yield command, option, parameter.envvar


#: Options that take any text: a folder, a file that must be there.
TAKE_ANY_TEXT = {("figures", "--output")}


def check_variable(plain, command, option, variable):
    """Set one variable to nonsense; say whether the error names it."""
    assert variable.startswith("PE_SPECTRA_")
    # --length on the line excludes --positions, and is what that error names
    line = re.sub(r" --length [0-9]+", "", LINES[command]) if option == "--positions" else LINES[command]
    outcome = answer_after(plain, [], line.format(inputs=plain.inputs).split(), **{variable: "nonsense!"})
    assert (outcome.code, outcome.stdout) == (2, b""), (variable, outcome)
    assert outcome.stderr.decode().startswith("error: "), variable
    assert outcome.stderr.count(b"\n") == 1, variable
    # what is wrong with --settings is a file, and the error begins with its name
    return ("nonsense!: " if option == "--settings" else variable) in outcome.stderr.decode()


@pytest.mark.slow
def test_some_variables_set_to_nonsense(plain):
    chosen = [one for one in list_variables() if one[:2] not in TAKE_ANY_TEXT]
    for one in random.Random(2).sample(chosen, 5):
        assert check_variable(plain, *one), one


@pytest.mark.long
def test_every_variable_set_to_nonsense(plain):
    chosen = [one for one in list_variables() if one[:2] not in TAKE_ANY_TEXT]
    assert [one for one in chosen if not check_variable(plain, *one)] == []


@pytest.mark.slow
def test_files_have_the_permissions_of_the_umask(plain):
    place = Place(plain.folder / "modes", plain.cache)
    for mask, mode in (("077", 0o600), ("000", 0o666), ("027", 0o640)):
        variables = {**place.variables, "STEPS": json.dumps([["umask", mask]])}
        argv = ["count-low-bin", "--no-figure", "--output", f"{mask}.json"]
        assert plain.program.run(argv, place, variables, 600).code == 0
        assert stat.S_IMODE((place.work / f"{mask}.json").stat().st_mode) == mode
