"""The options of the benchmarks, and what all runs share; pytest reads both from the root directory only."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.reporting import Briefly, is_enough

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

#: Objects between two looks of the garbage collector, in place of some hundreds.
OBJECTS = 50_000

if "--benchmark" in sys.argv:
    if "numpy" in sys.modules and any(os.environ.get(name) != "1" for name in _THREADS[:2]):
        raise pytest.UsageError("NumPy was loaded before its threads were limited: set OMP_NUM_THREADS=1 and try again")
    os.environ.update(dict.fromkeys(_THREADS, "1"))
for _name in _THREADS:
    # small matrices gain nothing from threads, and threads that wait for each other take a busy machine's time
    os.environ.setdefault(_name, "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("benchmarks")
    group.addoption("--benchmark", action="store_true", help="run the benchmarks and print their table of ratios")
    group.addoption("--benchmark-quick", action="store_true", help="with --benchmark: few rows, wide margins")
    group.addoption(
        "--benchmark-json",
        type=Path,
        default=Path(".benchmarks/benchmarks.json"),
        metavar="PATH",
        help="where --benchmark writes its numbers (default: %(default)s)",
    )


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Measure ratios in one process, and a few tests without the start of others."""
    few = any("::" in argument for argument in config.args)
    return 0 if few or config.getoption("benchmark") else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Let the garbage collector look more rarely, and not at all while cases are collected.

    27,000 of them live to the end, and are much to look through: it took a twentieth of the whole run. They are not
    frozen, for Hypothesis 6.100 asks the collector who refers to a generator, and is wrong about what is. What
    benchmarks measure is left as users have it.
    """
    if session.config.getoption("benchmark"):
        return (yield)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.set_threshold(OBJECTS)
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("benchmark"):
        config.option.markexpr = "benchmark"
    if is_enough(config):
        config.pluginmanager.register(Briefly())
