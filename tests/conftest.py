"""What all tests share: one Hypothesis profile, and the program run within this process."""

import functools
import math
import os
import shlex
import signal
import sys
from dataclasses import dataclass

from pe_spectra.limits import THREAD_VARIABLES

# as the program does, before anything loads these libraries: the workers share the processors already
os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

import numpy as np
import pytest
from hypothesis import settings

from tests.drawing import leave_most_to_the_slow_run
from tests.planted import make_trained, plant_tail

# the same examples at every run: a test that fails does so for everybody
settings.register_profile("fixed", derandomize=True, deadline=None, database=None, max_examples=50)
settings.load_profile("fixed")

# a shell that runs the tests in the background lets them ignore Ctrl-C; the program does not
signal.signal(signal.SIGINT, signal.default_int_handler)

#: Variables that change what the program prints.
TOUCHY = ("NO_COLOR", "FORCE_COLOR", "TERM", "LINES", "COLUMNS")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Draw the cases of tests that are marked `few`, before marks and names choose among them."""
    if not config.option.keyword and not any("[" in argument for argument in config.args):
        leave_most_to_the_slow_run(items)


@dataclass(frozen=True)
class Finished:
    """One run: exit code, stdout and stderr."""

    code: int
    out: str
    err: str


@functools.cache
def describe_once():
    """The program with all its commands; to describe them takes as long as a short answer."""
    from pe_spectra.cli.declared import build_command

    return build_command()


@pytest.fixture
def cli(monkeypatch, capfd, tmp_path):
    """Run a command line in an empty working directory and give its exit code and streams."""
    from pe_spectra.cli import main

    monkeypatch.chdir(tmp_path)
    for name in [*TOUCHY, *(name for name in os.environ if name.startswith("PE_SPECTRA_"))]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "24")
    # answers say nothing of what is installed beside the program
    monkeypatch.setattr("pe_spectra.cli.installed.find_version", lambda _: None)
    described = describe_once()
    monkeypatch.setattr("pe_spectra.cli.declared.build_command", lambda: described)

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
    """The JSON Schema that the package makes, as the program prints it."""
    from tests.documents import read_schema

    return read_schema()


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_cache(monkeypatch, tmp_path):
    """A working directory of a test that shall not see the cache of whoever runs it."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def previous_heads(tmp_path, monkeypatch):
    """Write the table of heads that look at the previous token, and give a SPEC of it."""
    monkeypatch.chdir(tmp_path)
    bias = -0.3 * np.arange(32)[:, None] * np.linspace(0.5, 2, 4)
    bias[1] += 6
    np.save("previous.npy", bias)
    return "t5:table=previous.npy"


@pytest.fixture
def noisy_heads(tmp_path, monkeypatch):
    """Write a table of noise for the buckets of heads, and give a SPEC of it."""
    monkeypatch.chdir(tmp_path)
    np.save("heads.npy", np.random.default_rng(0).normal(size=(32, 8)))
    return "t5:table=heads.npy"


@pytest.fixture
def sinusoid_files(tmp_path):
    """Two sinusoids of different widths as files."""
    for width in (64, 32):
        codes = [
            [f(p / 10000 ** (i / (width // 2))) for i in range(width // 2) for f in (math.sin, math.cos)]
            for p in range(100)
        ]
        np.save(tmp_path / f"sin{width}.npy", codes)
    return tmp_path


@pytest.fixture
def trained_table():
    """A table as training leaves it."""
    return make_trained(512, 64)


@pytest.fixture
def planted_table(trained_table):
    """Two equal rows, and 112 rows of 512 that training never reached."""
    table = plant_tail(trained_table, 400)
    table[200] = table[77]
    return table


@pytest.fixture(scope="session")
def context_report():
    """What each way to lengthen the context of a model does to it."""
    from pe_spectra.models.lengths.methods import compare_methods

    return compare_methods(128, 5e5, 8192, 131072)
