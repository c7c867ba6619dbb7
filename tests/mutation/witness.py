"""A plugin of pytest for runs in a copy: it writes which package was tested, and which test failed first.

It imports nothing of the package itself, so that a fault in it cannot stop the report.
"""

import json
import os
import sys
from pathlib import Path

_failed: list[str] = []
_passed: list[str] = []


def pytest_runtest_logreport(report):
    """Note what failed, and what passed."""
    if report.failed:
        _failed.append(report.nodeid)
    elif report.when == "call" and report.passed:
        _passed.append(report.nodeid)


def pytest_sessionfinish():
    """Write the report where the environment says."""
    module = sys.modules.get(os.environ["MUTATION_PACKAGE"])
    package = module.__file__ if module is not None else None
    found = {"package": package, "failed": _failed[:1], "passed": len(_passed)}
    Path(os.environ["MUTATION_REPORT"]).write_text(json.dumps(found), encoding="utf-8")
