"""Judge a coverage report: every line and branch of some rooms was run, and nearly every branch of the package.

`python .ci/coverage_bounds.py coverage.json`, with what `coverage json` or `pytest --cov-report=json:coverage.json`
has written. It prints the share of branches that was run, room by room, and names what was not run in the rooms that
must be whole. It exits 1 below a bound.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

PACKAGE = "pe_spectra"
#: Percent of all branches of the package that must be exceeded.
LEAST = 97.0
#: What reads text or files from outside, and what writes: every line and branch.
WHOLE: Mapping[str, Sequence[str]] = {
    "parsers": (
        "numbers.py",
        "spec.py",
        "domains.py",
        "cli/arguments.py",
        "cli/options.py",
        "cli/settings.py",
        "cli/subject.py",
        "models/stated/*.py",
    ),
    "loaders": ("sources.py", "model_sources.py", "files/*.py", "files/datasets/*.py"),
    "writer": ("files/places.py", "files/writer.py"),
}


def read_report(path: Path) -> dict[str, dict[str, Any]]:
    """The files of a report, by their path within the package."""
    report = json.loads(path.read_text(encoding="utf-8"))
    if not report["meta"]["branch_coverage"]:
        raise SystemExit(f"{path}: was made without branches")
    files = {name.replace("\\", "/"): found for name, found in report["files"].items()}
    return {name.split(f"{PACKAGE}/", 1)[1]: found for name, found in files.items() if f"{PACKAGE}/" in name}


def split_rooms(names: Sequence[str]) -> dict[str, list[str]]:
    """The files of each room: those that must be whole, then the folders; a file may stand in two of the former."""
    rooms = {
        room: [name for name in names if any(_is_like(name, pattern) for pattern in patterns)]
        for room, patterns in WHOLE.items()
    }
    whole = {name for found in rooms.values() for name in found}
    for name in names:
        if name not in whole:
            rooms.setdefault(f"{name.split('/')[0]}/" if "/" in name else "modules", []).append(name)
    return rooms


def _is_like(name: str, pattern: str) -> bool:
    return name.count("/") == pattern.count("/") and fnmatch(name, pattern)


def count_branches(found: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many branches were run, and how many there are."""
    counts = [(file["summary"]["covered_branches"], file["summary"]["num_branches"]) for file in found]
    return sum(run for run, _ in counts), sum(every for _, every in counts)


def list_gaps(name: str, file: Mapping[str, Any]) -> list[str]:
    """What of a file was not run: lines, and branches from lines that were."""
    lines = file["missing_lines"]
    gaps = [f"{PACKAGE}/{name}:{line}: not run" for line in lines]
    for start, end in file["missing_branches"]:
        if start not in lines:
            where = f"line {end}" if end > 0 else "the way out"
            gaps.append(f"{PACKAGE}/{name}:{start}: never went on to {where}")
    return gaps


def judge(files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Print the share of each room; give what is below its bound, a line each."""
    rooms = split_rooms(sorted(files))
    faults = [f"the room {room} is empty: was a file renamed?" for room in WHOLE if not rooms[room]]
    missing = [
        pattern
        for patterns in WHOLE.values()
        for pattern in patterns
        if not any(_is_like(name, pattern) for name in files)
    ]
    faults += [f"{PACKAGE}/{pattern}: is not in the report" for pattern in missing]
    for room, names in rooms.items():
        run, every = count_branches([files[name] for name in names])
        _say(room, run, every, "100 %" if room in WHOLE else "")
        if room in WHOLE:
            faults += [gap for name in names for gap in list_gaps(name, files[name])]
    run, every = count_branches(list(files.values()))
    _say("all", run, every, f"above {LEAST:g} %")
    if not every or 100 * run <= LEAST * every:
        faults.append(f"{run} of {every} branches of the package were run; more than {LEAST:g} % are wanted")
    return list(dict.fromkeys(faults))


def _say(room: str, run: int, every: int, bound: str) -> None:
    share = 1000 * run // every / 10 if every else 100.0  # rounded down: 100.0 is said of all alone
    sys.stdout.write(f"{room:<16}{share:>8.1f} %  {run:>5} of {every:>5} branches  {bound}".rstrip() + "\n")


def main() -> int:
    """Judge the report that is named; return the exit code."""
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    faults = judge(read_report(Path(sys.argv[1])))
    sys.stdout.flush()
    sys.stderr.write("".join(f"{fault}\n" for fault in faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
