"""Every row of the catalogue, its own test id, against the program as a user starts it."""

import os
import pkgutil
import sys

import pytest
from harness import BASE, Harness
from rows import load
from warm import WarmProgram

import pe_spectra

FIXTURES, CASES = load()
#: Rows about moments (L), which want a machine that keeps time, and those that start a process each (J, K).
SLOW = {case["id"] for case in CASES if case["group"] in "JKL"}
#: Rows that compute for seconds each, or for as long as a hundred others do together.
SLOW |= {"A07", "D10", "M09", "M10", "N40", "N41", "N42", "N43", "N44"}
SLOW |= {"A09", "B30", "C16", "C18", "C19", "D11", "D18", "E27", "F04", "N28", "N35", "N46"}
#: How often a row about moments is tried at most, where there is no time for all its repeats; 0 for all.
MOST_REPEATS = int(os.environ.get("CATALOGUE_REPEATS", "0"))
#: K24: these keep their exit codes where `assert` does nothing.
OPTIMISED = {"A01", "A24", "H01"}


def parameters():
    for case in CASES:
        if case["id"] not in SLOW:
            yield pytest.param(case, id=case["id"])
        else:
            repeats = {"repeat": min(case["repeat"], MOST_REPEATS)} if MOST_REPEATS and "repeat" in case else {}
            yield pytest.param({**case, **repeats}, id=case["id"], marks=pytest.mark.slow)
    for case in CASES:
        if case["id"] in OPTIMISED:
            environment = {**case.get("env", {}), "PYTHONOPTIMIZE": "2"}
            marks = pytest.mark.slow if case["id"] != "H01" else []
            yield pytest.param({**case, "env": environment}, id=f"K24-{case['id']}", marks=marks)


@pytest.fixture(scope="session")
def harness(tmp_path_factory):
    # -P: the working directory is no place to import from, as with the installed script
    command = [sys.executable, "-P", "-m", "pe_spectra"]
    # a Ctrl-C before the command line is imported is answered by the interpreter
    marker = os.path.join("pe_spectra", "cli")
    harness = Harness(command, FIXTURES, tmp_path_factory.mktemp("catalogue"), marker=marker)
    harness.fill_cache(["spectrum", "--figure", "first.png"])
    # everything, once: a forked run that imports what it needs takes several times as long, and what is imported
    # by which command is the subject of test_startup
    modules = [one.name for one in pkgutil.walk_packages(pe_spectra.__path__, "pe_spectra.")]
    imports = [name for name in modules if not name.endswith("__main__")]
    imports += [
        "described_once",
        "matplotlib.figure",
        "matplotlib.backends.backend_agg",
        "scipy.linalg",
    ]
    environment = {**BASE, "MPLCONFIGDIR": str(harness.cache)}
    harness.warm = WarmProgram("pe_spectra.cli:main", imports, environment, harness.folder)
    yield harness
    harness.warm.close()


@pytest.mark.few(150, keep=["K24-H01"])
@pytest.mark.parametrize("case", list(parameters()))
def test_row(harness, case):
    reason = harness.reason_to_skip(case)
    if reason:
        pytest.skip(reason)
    problems = harness.run(case)
    assert not problems, "\n".join([case["do"], *problems])
