"""What a ratio is taken of."""

from __future__ import annotations

import itertools
import platform
import subprocess
import sys
from types import SimpleNamespace

import pytest

from pe_spectra.benchmarks import measuring


def test_a_turn_is_long_enough_though_first_calls_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    now, takes = 0.0, itertools.chain([0.5, 0.008, 0.004], itertools.repeat(0.001))
    monkeypatch.setattr(measuring, "time", SimpleNamespace(thread_time=lambda: now))

    def work() -> None:
        nonlocal now
        now += next(takes)

    count = measuring._count_repeats(work)
    assert measuring._time(work, count) == pytest.approx(0.001)
    assert measuring._TURN <= 0.001 * count < 2 * measuring._TURN


def test_what_takes_no_time_is_repeated_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "time", SimpleNamespace(thread_time=lambda: 0.0))
    assert measuring._count_repeats(int) < 1 << 20


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have other thresholds")
def test_calls_take_no_new_pages_for_what_they_gave_back() -> None:
    program = """
import resource
from pe_spectra.benchmarks.measuring import compare_calls
count = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
use = lambda: [bytearray(1 << 20) for _ in range(8)]
compare_calls(use, use, rounds=1)
before = count()
for _ in range(20):
    use()
print(count() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2048  # of 40,960 pages of 4 KiB
