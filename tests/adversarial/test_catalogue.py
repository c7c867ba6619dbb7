"""Every row of the catalogue, its own test id, against the program as a user starts it."""

import sys

import pytest
from harness import BASE, Harness
from rows import load
from warm import WarmProgram

FIXTURES, CASES = load()
#: Rows about moments: one takes minutes, and all want a machine that keeps time.
SLOW = {case["id"] for case in CASES if case["group"] == "L"}
#: K24: these keep their exit codes where `assert` does nothing.
OPTIMISED = {"A01", "A24", "H01"}


def parameters():
    for case in CASES:
        yield pytest.param(case, id=case["id"], marks=[pytest.mark.slow] if case["id"] in SLOW else [])
    for case in CASES:
        if case["id"] in OPTIMISED:
            environment = {**case.get("env", {}), "PYTHONOPTIMIZE": "2"}
            yield pytest.param({**case, "env": environment}, id=f"K24-{case['id']}")


@pytest.fixture(scope="session")
def harness(tmp_path_factory):
    # -P: the working directory is no place to import from, as with the installed script
    command = [sys.executable, "-P", "-m", "pe_spectra"]
    harness = Harness(command, FIXTURES, tmp_path_factory.mktemp("catalogue"))
    harness.fill_cache(["spectrum", "--figure", "first.png"])
    imports = ["pe_spectra.cli.program", "matplotlib.figure", "matplotlib.backends.backend_agg"]
    environment = {**BASE, "MPLCONFIGDIR": str(harness.cache)}
    harness.warm = WarmProgram("pe_spectra.cli:main", imports, environment, harness.folder)
    yield harness
    harness.warm.close()


@pytest.mark.parametrize("case", list(parameters()))
def test_row(harness, case):
    reason = harness.reason_to_skip(case)
    if reason:
        pytest.skip(reason)
    problems = harness.run(case)
    assert not problems, "\n".join([case["do"], *problems])
