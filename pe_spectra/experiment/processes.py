"""Processes on this machine that long work is done in, each with an executor of its own."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from concurrent.futures.process import ProcessPoolExecutor
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

_Value = TypeVar("_Value")
_P = ParamSpec("_P")


class Processes(Executor):
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
    """Begin a process: no Ctrl-C, and an end when nobody holds the other end of a line.

    How many threads its libraries have it knows from the variables of the process that starts it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            lifeline.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
