"""A real scheduler and its workers on the loopback interface: the same results, and none lost with a worker."""

import subprocess
import sys

import pytest

from pe_spectra._version import __version__
from pe_spectra.errors import InputError, PeSpectraError
from pe_spectra.experiment.pools import open_pool, run_all
from pe_spectra.files.ledger import read_ledger
from tests.experiment.gathering import gather, wait_for
from tests.experiment.pool_tasks import add, describe_process, end_worker, refuse
from tests.places import ROOT

pytest.importorskip("distributed", reason="the extra `distributed` is not installed")

NUMBERS = list(range(1, 24))


@pytest.fixture(scope="module")
def dask():
    """The address of a scheduler on the loopback interface, and what starts a worker of it."""
    started = []

    def start(*words):
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
        started.append(
            subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        )
        return started[-1]

    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
    said = wait_for(lambda: (line := scheduler.stderr.readline()) and "Scheduler at:" in line and line)
    address = said.split("Scheduler at:")[1].strip()

    def work():
        return start("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")

    yield address, work
    for process in reversed(started):
        process.kill()
        process.communicate()


def test_a_scheduler_without_workers_is_refused(dask, monkeypatch):
    monkeypatch.setattr("pe_spectra.experiment.pools._PATIENCE", 1)
    address, _ = dask
    with pytest.raises(InputError) as caught, open_pool(f"dask:{address}"):
        pass
    assert str(caught.value).startswith(f"--workers: the scheduler has no workers (dask:{address}); dask worker")


def test_a_place_without_a_scheduler_is_refused(dask, monkeypatch):
    monkeypatch.setattr("pe_spectra.experiment.pools._PATIENCE", 1)
    with pytest.raises(InputError, match="--workers: no scheduler answers there"), open_pool("dask:tcp://127.0.0.1:9"):
        pass


def test_two_workers_of_a_scheduler_give_the_same_and_lose_nothing(dask, tmp_path):
    address, work = dask
    workers = [work(), work()]
    with open_pool(f"dask:{address}") as pool:
        wait_for(lambda: pool.count() == 4)
        assert gather(pool, add, NUMBERS) == {number: add(number) for number in NUMBERS}
        assert len({pid for pid, *_ in gather(pool, describe_process, range(6)).values()}) == 2
        with pytest.raises(InputError, match=r"--d is out of range \(0\); an integer"):
            gather(pool, refuse, ["a", "input"])
        # a worker is killed: what it had is run by the other one, and a new one is given work
        ends = [(str(tmp_path), f"task-{n}", n == 3) for n in range(8)]
        found = gather(pool, end_worker, ends)
        assert set(found) == set(ends)
        assert found[ends[3]] == 2
        wait_for(lambda: sum(worker.poll() is not None for worker in workers) == 1)
        workers.append(work())
        wait_for(lambda: pool.count() == 4)
        assert len({pid for pid, *_ in gather(pool, describe_process, range(6)).values()}) == 2


def test_workers_of_another_version_are_refused(dask, monkeypatch):
    address, work = dask
    work()
    monkeypatch.setattr("pe_spectra.experiment.pools.__version__", "9.9.9")
    with pytest.raises(InputError) as caught, open_pool(f"dask:{address}"):
        pass
    assert f"a worker has another version of pe-spectra ({__version__} at tcp://127.0.0.1:" in str(caught.value)
    assert str(caught.value).endswith("9.9.9 is accepted")


@pytest.mark.slow
def test_a_task_that_ends_every_worker_is_named(dask, tmp_path):
    address, work = dask
    for _ in range(5):
        work()
    good = [(str(tmp_path), f"good-{n}", 0) for n in range(4)]
    bad = (str(tmp_path), "bad", 99)
    told = []
    with open_pool(f"dask:{address}") as pool:
        wait_for(lambda: pool.count() >= 10)
        with pytest.raises(PeSpectraError) as caught:
            run_all(pool, end_worker, [bad, *good], lambda task, _: told.append(task), name=lambda task: task[1])
    assert str(caught.value).startswith("bad: its worker ended each time, killed or out of memory")
    assert sorted(told) == good
    assert (tmp_path / "bad").stat().st_size == 4  # the scheduler allows three


@pytest.mark.slow
def test_a_scheduler_that_ends_is_told_in_one_line_and_what_is_done_is_kept(tmp_path):
    def start(*words, **more):
        return subprocess.Popen([sys.executable, "-m", *words], cwd=ROOT, stderr=subprocess.PIPE, text=True, **more)

    quiet = ("--host", "127.0.0.1", "--no-dashboard")
    path = tmp_path / "runs.csv"
    with start("distributed.cli.dask_scheduler", *quiet, "--port", "0", "--no-show") as scheduler:
        said = wait_for(lambda: (line := scheduler.stderr.readline()) and "Scheduler at:" in line and line)
        address = said.split("Scheduler at:")[1].strip()
        with start("distributed.cli.dask_worker", address, *quiet, "--nthreads", "1", "--no-nanny") as worker:
            words = f"experiment run --tasks lag --seeds 1000 --workers dask:{address} --output {path}"
            with start("tests.experiment.fake_trials", *words.split(), stdout=subprocess.PIPE) as program:
                wait_for(lambda: path.exists() and path.read_bytes().count(b"\n") > 20)
                scheduler.kill()
                out, err = program.communicate(timeout=60)
            worker.kill()
            worker.communicate()
        scheduler.communicate()
    assert (program.returncode, out, err) == (2, "", "error: the scheduler answers no more; what is done is kept\n")
    assert len(read_ledger(path).rows) > 15
