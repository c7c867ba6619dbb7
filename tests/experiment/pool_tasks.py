"""What pools are given to do in tests, where other processes find it; and a program that is ended from outside."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from pe_spectra.errors import FileError, InputError
from pe_spectra.experiment.pools import open_pool, run_all


def add(task):
    """The sum of some numbers, with what the process was told of threads and Ctrl-C."""
    return float(np.arange(task).sum())


def describe_process(_):
    """What a worker says of itself."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    ignores = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    time.sleep(0.2)
    return os.getpid(), [os.environ.get(name) for name in names], ignores


def end_worker(task):
    """Write down the run; then end the process, as often as the task's name says, or give its number."""
    folder, name, times = task
    runs = Path(folder) / name
    with runs.open("ab") as file:
        file.write(b".")
    if runs.stat().st_size <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return runs.stat().st_size


def refuse(task):
    """Raise what our functions raise."""
    if task == "file":
        raise FileError("runs.csv", "is damaged")
    if task == "input":
        raise InputError("--d is out of range", "0", "an integer from 2 on is accepted")
    if task == "fault":
        raise ZeroDivisionError("by zero")
    return task


def wait_long(task):
    """Say that it runs, and wait longer than any test does."""
    Path(task).write_text(str(os.getpid()))
    time.sleep(600)


def wait_in_pool(workers, *paths):
    """Wait in a pool until somebody ends this process."""
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    with open_pool(int(workers)) as pool:
        run_all(pool, wait_long, paths, lambda *_: None)


if __name__ == "__main__":
    from pe_spectra import cli
    from pe_spectra.cli import program

    # as a command would: what it raises becomes an exit code
    program.run = lambda arguments: wait_in_pool(*arguments) or 0
    cli.run_process()
    sys.exit(99)
