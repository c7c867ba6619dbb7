"""Pools: the same results from each, none lost with a worker, and an end when it is asked for."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from pe_spectra.errors import FileError, InputError, PeSpectraError
from pe_spectra.experiment.pools import MOST_ENDS, Pool, open_pool, read_workers, run_all
from tests.experiment.gathering import gather, wait_for
from tests.experiment.pool_tasks import add, describe_process, end_worker, refuse
from tests.places import ROOT

NUMBERS = list(range(1, 24))


@pytest.fixture(scope="module")
def two():
    with open_pool(2) as pool:
        yield pool


# ----------------------------------------------------------------------------------- results


def test_each_pool_gives_the_same_results(two):
    here = {number: add(number) for number in NUMBERS}
    assert gather(two, add, NUMBERS) == here
    with open_pool(1) as one:
        assert gather(one, add, NUMBERS) == here
    with ThreadPoolExecutor(3) as threads:
        assert gather(Pool(executor=threads, count=lambda: 3), add, NUMBERS) == here
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        assert gather(Pool(executor=processes, count=lambda: 2), add, NUMBERS) == here


def test_tasks_may_be_equal_and_of_any_kind(two):
    told = []
    run_all(two, str, [[1], [1], {}], lambda task, value: told.append((task, value)))
    assert sorted(told, key=str) == [([1], "[1]"), ([1], "[1]"), ({}, "{}")]
    run_all(two, str, [], lambda *_: pytest.fail("there is nothing to tell"))


def test_one_process_does_the_tasks_in_their_order():
    order = []
    with open_pool(1) as pool:
        run_all(pool, add, NUMBERS, lambda task, _: order.append(task))
    assert order == NUMBERS


def test_processes_are_apart_with_one_thread_and_no_ctrl_c(two):
    found = gather(two, describe_process, range(6)).values()
    assert len({pid for pid, *_ in found}) == 2
    assert os.getpid() not in {pid for pid, *_ in found}
    for _, threads, ignores in found:
        assert threads == ["1", "1"]
        assert ignores


def test_no_more_tasks_wait_than_are_counted():
    most = 0

    class Counting(ThreadPoolExecutor):
        def submit(self, *given):
            nonlocal most
            future = super().submit(*given)
            pending.append(future)
            most = max(most, sum(not one.done() for one in pending))
            return future

    pending = []
    with Counting(8) as executor:
        gather(Pool(executor=executor, count=lambda: 3), time.sleep, [0.01 + n / 1e6 for n in range(12)])
    assert 1 < most <= 3


# ----------------------------------------------------------------------------------- workers that end


def test_what_a_killed_worker_took_with_it_is_repeated(two, tmp_path):
    tasks = [(str(tmp_path), f"task-{n}", (n % 3 == 0) * (1 + n % 2)) for n in range(9)]
    found = gather(two, end_worker, tasks)
    # the others ran once: they were not in the way
    assert found == {task: task[2] + 1 for task in tasks}


def test_a_task_that_ends_its_worker_three_times_is_named(two, tmp_path):
    bad = (str(tmp_path), "bad", 99)
    good = [(str(tmp_path), f"good-{n}", 0) for n in range(6)]
    told = []
    with pytest.raises(PeSpectraError) as caught:
        run_all(
            two, end_worker, [good[0], bad, *good[1:]], lambda task, _: told.append(task), name=lambda task: task[1]
        )
    assert str(caught.value) == "bad: its worker ended 3 times, killed or out of memory; all others are done"
    assert (tmp_path / "bad").stat().st_size == MOST_ENDS == 3
    assert sorted(told) == good
    assert gather(two, add, NUMBERS)[1] == 0  # the pool is as good as it was


def test_a_worker_killed_from_outside_is_replaced(two):
    before = {pid for pid, *_ in gather(two, describe_process, range(4)).values()}
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    after = {pid for pid, *_ in gather(two, describe_process, range(4)).values()}
    assert len(after) == 2
    assert not after & before


# ----------------------------------------------------------------------------------- errors and ends


@pytest.mark.parametrize(
    ("task", "kind", "text"),
    [
        ("file", FileError, "runs.csv: is damaged"),
        ("input", InputError, "--d is out of range (0); an integer from 2 on is accepted"),
        ("fault", ZeroDivisionError, "by zero"),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_task_comes_through_and_results_are_kept(two, workers, task, kind, text):
    told = []
    with contextlib.nullcontext(two) if workers == 2 else open_pool(1) as pool, pytest.raises(kind) as caught:
        run_all(pool, refuse, ["a", "b", task, "c"], lambda task, _: told.append(task))
    assert str(caught.value) == text
    assert {"a", "b"} <= set(told) or workers == 2
    assert task not in told


def test_an_error_of_the_teller_comes_through(two):
    def tell(*_):
        raise FileError("runs.csv", "no space left on the device")

    with pytest.raises(FileError, match="no space left"):
        run_all(two, add, NUMBERS, tell)


def test_results_are_told_before_an_error_that_came_with_them():
    class Finished(ThreadPoolExecutor):
        """Gives all results at the same moment."""

        def submit(self, *given):
            future = super().submit(*given)
            time.sleep(0.05)
            return future

    told = []
    with Finished(4) as executor, pytest.raises(ZeroDivisionError):
        run_all(
            Pool(executor=executor, count=lambda: 4), refuse, ["fault", "a", "b"], lambda task, _: told.append(task)
        )
    assert sorted(told) == ["a", "b"]


def begin_waiting(folder, workers):
    """Start a program whose pool waits for long; its process, and those of its workers."""
    paths = [folder / f"worker-{n}" for n in range(workers)]
    command = [sys.executable, "-m", "tests.experiment.pool_tasks", str(workers), *map(str, paths)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    pids = [int(wait_for(lambda path=path: path.exists() and path.read_text())) for path in paths]
    return process, pids


def is_alive(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.few(1)
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_the_program_and_its_workers_with_one_line(tmp_path, times):
    process, pids = begin_waiting(tmp_path, 2)
    start = time.monotonic()
    for _ in range(times):
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    assert process.communicate(timeout=60) == ("begun\n", "error: interrupted\n")
    assert process.returncode == 130
    assert time.monotonic() - start < 10
    wait_for(lambda: not any(map(is_alive, pids)))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_the_program(tmp_path, number):
    process, pids = begin_waiting(tmp_path, 2)
    process.send_signal(number)
    process.communicate(timeout=60)
    wait_for(lambda: not any(map(is_alive, pids)))


@pytest.mark.slow
def test_ctrl_c_while_workers_start_says_one_line(tmp_path):
    paths = [tmp_path / f"worker-{n}" for n in range(4)]
    command = [sys.executable, "-m", "tests.experiment.pool_tasks", "4", *map(str, paths)]
    for wait in (0, 0.05, 0.2, 0.5):
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            process.stdout.readline()
            time.sleep(wait)
            os.killpg(process.pid, signal.SIGINT)
            assert process.communicate(timeout=60) == ("", "error: interrupted\n")
            assert process.returncode == 130


# ----------------------------------------------------------------------------------- what is typed


def test_as_many_processes_as_processors_unless_told():
    assert read_workers(None) == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "--workers is not known ('')"),
        ("two", "--workers is not known (two)"),
        ("-1", "--workers is not known (-1)"),
        ("0", "--workers is out of range (0); an integer from 1 to 1024"),
        ("1025", "--workers is out of range (1025)"),
        ("dask", "--workers is not known (dask); an integer from 1 to 1024, or dask:tcp://HOST:PORT"),
        ("dask:", "--workers names no scheduler (dask:)"),
        ("dask:localhost:8786", "--workers names no scheduler"),
        ("dask:tcp://", "--workers names no scheduler"),
    ],
)
def test_other_words_for_workers_are_refused(text, words):
    with pytest.raises(InputError) as caught:
        read_workers(text)
    assert str(caught.value).startswith(words)


def test_without_dask_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError) as caught, open_pool("dask:tcp://127.0.0.1:9"):
        pass
    assert str(caught.value) == (
        "--workers: Dask is not installed (dask:tcp://127.0.0.1:9); pip install 'pe-spectra[distributed]' installs "
        "what it needs"
    )
