"""What tests of pools share."""

import time

import pytest

from pe_spectra.experiment.pools import run_all


def gather(pool, function, tasks, **more):
    """Run tasks; each result by its task, told once."""
    found = {}

    def tell(task, value):
        assert task not in found
        found[task] = value

    run_all(pool, function, tasks, tell, **more)
    return found


def wait_for(ask, seconds=60):
    """Ask again and again until there is an answer."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        if time.monotonic() > end:
            pytest.fail("no answer")
        time.sleep(0.02)
    return answer
