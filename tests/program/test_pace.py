"""What is too slow is seen, and a machine that pauses is not taken for it."""

import time

import pytest

from tests.pace import ATTEMPTS, call_within, measure_beside, measure_pace


def test_what_is_too_slow_each_time_is_seen():
    calls = []
    with pytest.raises(AssertionError, match=rf"took [0-9.]+ s of the processor, {ATTEMPTS} times; at most 0 s"):
        call_within(0, lambda: calls.append(sum(range(1000))))
    assert len(calls) == ATTEMPTS


@pytest.mark.slow
def test_what_is_too_slow_once_is_tried_again():
    calls = []

    def stumble():
        calls.append(None)
        end = time.process_time() + (1 if len(calls) == 1 else 0)
        while time.process_time() < end:
            pass
        return len(calls)

    assert call_within(1e-3, stumble) == 2


def test_time_that_is_slept_away_does_not_count():
    assert call_within(0.1, lambda: time.sleep(0.2)) is None


def test_the_pace_is_at_least_that_of_a_machine_at_rest(monkeypatch):
    monkeypatch.setattr("tests.pace.LOOP_SECONDS", 1e9)
    assert measure_pace() == 1.0
    monkeypatch.setattr("tests.pace.LOOP_SECONDS", 1e-9)
    assert measure_pace() > 1e3


def test_the_pace_is_measured_beside_what_runs(monkeypatch):
    monkeypatch.setattr("tests.pace.BESIDE", 0.01)
    monkeypatch.setattr("tests.pace.measure_pace", iter(range(1, 10**6)).__next__)
    with measure_beside() as paces:
        while len(paces) < 3:
            time.sleep(0.01)
    seen = len(paces)
    time.sleep(0.05)
    assert paces == [*range(1, seen + 1)]


def test_what_is_over_at_once_has_the_pace_after_it():
    with measure_beside() as paces:
        assert paces == []
    assert len(paces) == 1
