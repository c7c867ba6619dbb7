"""How slow a machine is here and now, and calls that may take so many seconds of its processor."""

import contextlib
import subprocess
import sys
import threading
import time
from statistics import mean, median

#: Seconds within which a bare interpreter starts and ends on a machine at rest.
INTERPRETER_SECONDS = 0.05
#: Seconds that the loop of `measure_pace` takes on a machine at rest.
LOOP_SECONDS = 0.007
#: What is too slow once may have met a machine that pauses; a fault is too slow each time.
ATTEMPTS = 3
#: Seconds from one measurement of the pace to the next beside a process.
BESIDE = 0.2


def measure_pace():
    """Give how many times longer than on a machine at rest the processor takes here and now; at least 1."""
    start = time.thread_time()
    sum(number % 7 for number in range(200_000))
    return max(1.0, (time.thread_time() - start) / LOOP_SECONDS)


@contextlib.contextmanager
def measure_beside():
    """Measure the pace time and again while other processes run; give the list that it is noted in.

    What is over before the first measurement leaves it with the pace just after.
    """
    paces, over = [], threading.Event()

    def note():
        while not over.wait(BESIDE):
            paces.append(measure_pace())

    thread = threading.Thread(target=note, daemon=True)
    thread.start()
    try:
        yield paces
    finally:
        over.set()
        thread.join()
        if not paces:
            paces.append(measure_pace())


def average(paces):
    """Give the pace over the whole of what they were measured beside."""
    return mean(paces)


def measure_slowness(times=1):
    """Give how many times longer than on a machine at rest an interpreter or a loop takes here and now; at least 1.

    Limits of seconds by the clock are meant for such a machine: where a host gives a tenth of its time, the program
    is not to blame.
    """
    taken = []
    for _ in range(times):
        start = time.monotonic()
        subprocess.run([sys.executable, "-S", "-c", "pass"], check=True)
        taken.append(time.monotonic() - start)
    return max(measure_pace(), median(taken) / INTERPRETER_SECONDS)


def call_within(seconds, call):
    """Give what a call gives, which must take no longer than so many seconds of the processor.

    Time in which other programs had the processor does not count. A slow machine has more seconds, by the time of
    a loop beside the call; both are slowed alike by neighbours that share its caches.
    """
    for _ in range(ATTEMPTS):
        start = time.process_time()
        found = call()
        spent = time.process_time() - start
        if spent <= seconds or spent <= seconds * measure_pace():
            return found
    raise AssertionError(f"took {spent:.2f} s of the processor, {ATTEMPTS} times; at most {seconds:g} s are expected")
