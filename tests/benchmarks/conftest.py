"""The table of ratios after a run, and the same as JSON."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

import pytest

from pe_spectra.benchmarks import RatioRow, Ratios

_PACKAGES = ("pe-spectra", "numpy", "scipy", "matplotlib", "typer", "scikit-learn", "KDEpy")
_RESULTS = pytest.StashKey[list[tuple[RatioRow, Ratios | str]]]()


@pytest.fixture
def results(request: pytest.FixtureRequest) -> list[tuple[RatioRow, Ratios | str]]:
    """What was measured so far: a row and its ratios, or why there are none."""
    return request.config.stash.setdefault(_RESULTS, [])


@pytest.fixture
def quick(request: pytest.FixtureRequest) -> bool:
    """Whether only rows with a margin are measured, and held to it."""
    return bool(request.config.getoption("benchmark_quick"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    found = config.stash.get(_RESULTS, [])
    if not found:
        return
    write = terminalreporter.write_line
    terminalreporter.section("ratios")
    write(f"{'':4} {'what':64} {'target':>10} {'median':>10} {'10 %':>10} {'90 %':>10}  state")
    for row, measured in found:
        write(_format(row, measured, config.getoption("benchmark_quick")))
    path = Path(config.getoption("benchmark_json"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_describe(found), indent=1) + "\n", encoding="utf-8")
    write(f"wrote {path}")


def _format(row: RatioRow, measured: Ratios | str, quick: bool) -> str:
    target = f"{'<=' if row.at_most else '>='} {row.target:.4g}"
    if isinstance(measured, str):
        return f"{row.name:4} {row.title:64} {target:>10} {'':32}  {measured}"
    state = "reached" if row.is_reached(measured.median) else "missed"
    numbers = " ".join(f"{value:10.4g}" for value in (measured.median, measured.low, measured.high))
    held = f" (fails beyond {row.margin:g} times)" if quick else " (gate)" if row.gate else ""
    return f"{row.name:4} {row.title:64} {target:>10} {numbers}  {state}{held}"


def _describe(found: list[tuple[RatioRow, Ratios | str]]) -> dict[str, object]:
    return {
        "python": sys.version,
        "platform": platform.platform(),
        "cpu": _name_processor(),
        "cores": os.cpu_count(),
        "versions": {name: metadata.version(name) for name in _PACKAGES if _is_installed(name)},
        "rows": [
            {
                "name": row.name,
                "what": row.title,
                "target": row.target,
                "at_most": row.at_most,
                "gate": row.gate,
                **(
                    {"state": measured}
                    if isinstance(measured, str)
                    else {
                        "state": "reached" if row.is_reached(measured.median) else "missed",
                        "median": measured.median,
                        "quantile_10": measured.low,
                        "quantile_90": measured.high,
                        "ratios": list(measured.ratios),
                    }
                ),
            }
            for row, measured in found
        ],
    }


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _name_processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
