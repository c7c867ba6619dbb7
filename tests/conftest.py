"""What all tests share: one Hypothesis profile, and the program run within this process."""

import json
import os
import shlex
import signal
import sys
from dataclasses import dataclass
from importlib import resources

import pytest
from hypothesis import settings

# the same examples at every run: a test that fails does so for everybody
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")

# a shell that runs the tests in the background lets them ignore Ctrl-C; the program does not
signal.signal(signal.SIGINT, signal.default_int_handler)

#: Variables that change what the program prints.
TOUCHY = ("NO_COLOR", "FORCE_COLOR", "TERM", "LINES", "COLUMNS")


@dataclass(frozen=True)
class Finished:
    """One run: exit code, stdout and stderr."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(monkeypatch, capfd, tmp_path):
    """Run a command line in an empty working directory and give its exit code and streams."""
    from pe_spectra.cli import main

    monkeypatch.chdir(tmp_path)
    for name in [*TOUCHY, *(name for name in os.environ if name.startswith("PE_SPECTRA_"))]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def run(line, *more, **environment):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["pe-spectra", *shlex.split(line), *more])
            for name, value in environment.items():
                patch.setenv(name, value)
            capfd.readouterr()
            code = main()
        out, err = capfd.readouterr()
        assert "Traceback" not in out
        return Finished(code=code, out=out, err=err)

    return run


@pytest.fixture
def refuse(cli, tmp_path):
    """Run a command line that must fail: one line on stderr, nothing on stdout, no file; give the line."""

    def run(line, *more, **environment):
        before = sorted(path for path in tmp_path.rglob("*"))
        done = cli(line, *more, **environment)
        assert done.code == 2, done
        assert done.out == ""
        assert done.err.startswith("error: ")
        assert done.err.count("\n") == 1
        assert done.err.endswith("\n")
        assert sorted(path for path in tmp_path.rglob("*")) == before
        return done.err[len("error: ") : -1]

    return run


@pytest.fixture(scope="session")
def schema():
    """The JSON Schema in the package."""
    return json.loads(resources.files("pe_spectra").joinpath("schema.json").read_text(encoding="utf-8"))
