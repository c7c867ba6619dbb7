"""Where long work is done: in this process, in several on this machine, or by the workers of a Dask scheduler.

A pool is any `concurrent.futures.Executor`. :func:`run_all` keeps its workers busy, repeats what a worker that ended
took with it, and leaves whatever is finished with whoever asked.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from concurrent.futures.process import ProcessPoolExecutor
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

from pe_spectra._version import __version__
from pe_spectra.errors import InputError, PeSpectraError
from pe_spectra.files.writer import HeldInterrupts
from pe_spectra.limits import MAX_WORKERS, THREAD_VARIABLES
from pe_spectra.numbers import IntegerRange
from pe_spectra.records import dataclass

_Task = TypeVar("_Task")
_Value = TypeVar("_Value")
_P = ParamSpec("_P")

_DASK = "dask:"
_WORKERS = IntegerRange(minimum=1, maximum=MAX_WORKERS)
_ACCEPTED = f"an integer from 1 to {MAX_WORKERS}, or dask:tcp://HOST:PORT, is accepted"
#: So often may a worker end with a task before the task is given up.
MOST_ENDS = 3
#: Seconds to wait for a scheduler, and for its first worker.
_PATIENCE = 10
#: Tasks that each thread of a Dask worker has waiting, so that it never waits for us.
_AHEAD = 2


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Workers, as :func:`run_all` uses them.

    Attributes
    ----------
    executor : takes the tasks.
    count : how many tasks it should have at a time.
    given_up : what a task raises that its own executor has repeated too often already.
    """

    executor: Executor
    count: Callable[[], int]
    given_up: tuple[type[BaseException], ...] = ()


def read_workers(text: str | None, name: str = "--workers") -> int | str:
    """Read how many processes, or which scheduler; as many as there are processors where nothing is said.

    Raises
    ------
    InputError : neither.

    >>> read_workers("2"), read_workers("dask:tcp://127.0.0.1:8786")
    (2, 'dask:tcp://127.0.0.1:8786')
    """
    if text is None:
        return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, MAX_WORKERS)
    if text.startswith(_DASK):
        kind, _, place = text.removeprefix(_DASK).partition("://")
        if not (kind and place):
            raise InputError(f"{name} names no scheduler", text, _ACCEPTED)
        return text
    if not text.isdecimal():
        raise InputError(f"{name} is not known", text or "''", _ACCEPTED)
    return _WORKERS.parse(text, name)


@contextlib.contextmanager
def open_pool(workers: int | str, name: str = "--workers") -> Iterator[Pool]:
    """Open a pool, and end what it started.

    Parameters
    ----------
    workers : 1 for this process, more for processes of their own, or `dask:` and the address of a scheduler.
    name : the option that said so, for messages.

    Raises
    ------
    InputError : Dask is not installed, nothing answers at the address, or its workers have another version of this.

    >>> with open_pool(1) as pool:
    ...     pool.executor.submit(divmod, 7, 2).result()
    (3, 1)
    """
    if isinstance(workers, str):
        with _open_dask(workers.removeprefix(_DASK), name) as pool:
            yield pool
    elif workers == 1:
        limit_threads()
        yield Pool(executor=_Here(), count=lambda: 1)
    else:
        limit_threads()
        processes = _Processes(workers)
        try:
            yield Pool(executor=processes, count=lambda: workers)
        finally:
            with HeldInterrupts():
                processes.shutdown()


def run_all(
    pool: Pool,
    function: Callable[[_Task], _Value],
    tasks: Iterable[_Task],
    on_result: Callable[[_Task, _Value], None],
    name: Callable[[_Task], str] = str,
) -> None:
    """Do every task, and tell each result as soon as it is there, in whatever order they come.

    Parameters
    ----------
    function : known by its name to other processes, as its tasks and results are by their values.
    on_result : called here, one result after the other.
    name : what messages call a task.

    Raises
    ------
    PeSpectraError : the worker of one task ended three times, after all others are done.
    Exception : whatever the function or `on_result` raises, at once. Results that were there have been told.

    >>> found = []
    >>> with open_pool(1) as pool:
    ...     run_all(pool, abs, [-1, 2], lambda task, value: found.append(value))
    >>> found
    [1, 2]
    """
    waiting = deque(enumerate(tasks))
    running: dict[Future[_Value], tuple[int, _Task]] = {}
    ends: dict[int, int] = {}
    given_up: list[str] = []
    lost: tuple[type[BaseException], ...] = (BrokenExecutor, *pool.given_up)
    try:
        while waiting or running:
            while waiting and len(running) < max(1, pool.count()):
                number, task = waiting.popleft()
                running[pool.executor.submit(function, task)] = number, task
            done = wait(running, return_when=FIRST_COMPLETED).done
            # results before errors, so that what was finished is kept
            for future in sorted(done, key=lambda future: future.cancelled() or future.exception() is not None):
                number, task = running.pop(future)
                try:
                    value = future.result()
                except lost as error:
                    ends[number] = ends.get(number, 0) + 1
                    if ends[number] == MOST_ENDS or isinstance(error, pool.given_up):
                        given_up.append(_describe_ends(name(task), ends[number]))
                    else:
                        waiting.appendleft((number, task))
                else:
                    on_result(task, value)
    finally:
        for future in running:
            future.cancel()
    if given_up:
        more = f" (and {len(given_up) - 1} more like it)" if len(given_up) > 1 else ""
        raise PeSpectraError(f"{given_up[0]}; all others are done{more}")


def _describe_ends(name: str, times: int) -> str:
    often = f"{times} times" if times > 1 else "each time"
    return f"{name}: its worker ended {often}, killed or out of memory"


def limit_threads() -> None:
    """Let the numerical libraries that this process loads from now on use one thread each.

    >>> limit_threads()
    >>> os.environ["OPENBLAS_NUM_THREADS"]
    '1'
    """
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))


# --------------------------------------------------------------------- this process


class _Here(Executor):
    """Does each task at once."""

    def submit(self, fn: Callable[_P, _Value], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_Value]:
        future: Future[_Value] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


# --------------------------------------------------------------------- processes on this machine


class _Processes(Executor):
    """So many processes, each with an executor of its own: one that ends takes only its own task with it."""

    def __init__(self, count: int) -> None:
        _start_tracker()
        self._lanes = [_Lane() for _ in range(count)]
        # before multiprocessing waits for its processes: what is left then is done for nobody
        atexit.register(self.shutdown)

    def submit(self, fn: Callable[_P, _Value], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_Value]:
        lane = min(self._lanes, key=lambda lane: lane.count_unfinished())
        return lane.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        atexit.unregister(self.shutdown)
        for lane in self._lanes:
            lane.let_go()
        for lane in self._lanes:
            lane.executor.shutdown(wait=wait, cancel_futures=cancel_futures)


class _Lane:
    """One process, made anew when it has ended; it ends at once when this one does, or lets go of it."""

    def __init__(self) -> None:
        self._futures: list[Future[Any]] = []
        self._begin()

    def _begin(self) -> None:
        # not by fork: numerical libraries have threads, and locks that would stay locked
        context = get_context("spawn")
        line, self._lifeline = context.Pipe(duplex=False)
        self.executor = ProcessPoolExecutor(1, mp_context=context, initializer=_prepare_worker, initargs=(line,))

    def submit(self, fn: Callable[_P, _Value], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_Value]:
        # a process that is started now never hears of Ctrl-C, which a terminal sends to all of them
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            try:
                future = self.executor.submit(fn, *args, **kwargs)
            except BrokenExecutor:
                self.let_go()
                self._begin()
                future = self.executor.submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._futures = [*(one for one in self._futures if not one.done()), future]
        return future

    def count_unfinished(self) -> int:
        return sum(not future.done() for future in self._futures)

    def let_go(self) -> None:
        self._lifeline.close()


def _start_tracker() -> None:
    """Start what clears away the semaphores of a process that is killed, so that it does so without a warning."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore"
    try:
        resource_tracker.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def _prepare_worker(lifeline: Connection) -> None:
    """Begin a process: one thread for each library, no Ctrl-C, and an end when nobody holds the other end of a line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_threads()

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            lifeline.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# --------------------------------------------------------------------- beyond this machine


@contextlib.contextmanager
def _open_dask(address: str, name: str) -> Iterator[Pool]:
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        accepted = "pip install 'pe-spectra[distributed]' installs what it needs"
        raise InputError(f"{name}: Dask is not installed", f"{_DASK}{address}", accepted) from error
    # what goes wrong is said in one line; these would write tracebacks beside it, some when all is over
    for logger in filter(re.compile("distributed|tornado|asyncio").match, list(logging.root.manager.loggerDict)):
        logging.getLogger(logger).setLevel(logging.CRITICAL + 1)
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"{name}: no scheduler answers there", f"{_DASK}{address}", "its address is accepted"
        ) from error
    try:
        _check_dask(client, address, name)
        executor = client.get_executor(pure=False)
        # workers may come and go, so they are counted each time
        yield Pool(executor=executor, count=lambda: _AHEAD * sum(client.nthreads().values()), given_up=(KilledWorker,))
    except (OSError, CancelledError) as error:
        raise PeSpectraError("the scheduler answers no more; what is done is kept") from error
    finally:
        with HeldInterrupts():
            client.close(timeout=_PATIENCE)


def _check_dask(client: Any, address: str, name: str) -> None:
    """Refuse a scheduler without workers, and workers that would compute with another version."""

    def tell_version() -> str:  # as a function within one it is sent whole, to workers that do not have this module
        try:
            from pe_spectra._version import __version__
        except ImportError:
            return "none"
        return __version__

    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        accepted = f"dask worker {address} starts one"
        raise InputError(f"{name}: the scheduler has no workers", f"{_DASK}{address}", accepted) from error
    for worker, version in client.run(tell_version).items():
        if version != __version__:
            what = f"{name}: a worker has another version of pe-spectra"
            raise InputError(what, f"{version} at {worker}", f"{__version__} is accepted")
