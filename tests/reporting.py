"""What a worker tells of each test: one report in place of three, and not that it began, nor, as a rule, that it ended.

The process that gives out the tests unpacks all of that 16,000 times, has no processor of its own, and in its plain
form shows of a test that passed the report of its call alone. Whatever failed, was skipped, or has more to say is told
as ever; and where a form shows more, or a first failure ends the run, so is everything.
"""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol
from _pytest.terminal import TerminalReporter

#: Whether the share of tests that are done is printed where one has ended, as older pytest does.
ENDS = hasattr(TerminalReporter, "pytest_runtest_logfinish")


class Briefly:
    """Run a test as pytest does, and tell what is shown of it."""

    @pytest.hookimpl
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run set-up, call and what comes after, and tell of each what is_told says."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if is_told(report):
                item.ihook.pytest_runtest_logreport(report=report)
        if ENDS:
            item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def is_told(report: pytest.TestReport) -> bool:
    """Whether a report says more than that nothing happened."""
    return report.when == "call" or not report.passed or bool(report.sections or report.user_properties)


def is_enough(config: pytest.Config) -> bool:
    """Whether this is a worker of a run that shows no more than that tests passed, and goes on after a failure."""
    option = config.option
    more = option.verbose > 0 or option.durations is not None or option.xmlpath or option.maxfail
    return hasattr(config, "workerinput") and not more
