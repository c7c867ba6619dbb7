"""The program started once in one environment, loaded by an answer of its own; runs are forked from it.

What an interpreter, NumPy and Matplotlib read when they start (hash seed, encodings, warnings, threads, a
cache) is read from the environment of this process, and loaded in the order in which the program loads it.
"""

from __future__ import annotations

import io
import json
import os
import random
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("adversarial")))

from warm import serve

#: The first answer: it loads NumPy, SciPy and Matplotlib.
FIRST = ["faithfulness", "--d", "4", "--length", "8", "--figure", "first.svg"]


def main():
    """Run the program with what a request asks for besides: steps before, a planted fault, fewer figures."""
    for verb, *words in json.loads(os.environ.pop("STEPS", "[]")):
        STEPS[verb](*words)
    plant = os.environ.pop("PLANTED", "")
    if plant:
        PLANTS[plant]()
    if os.environ.pop("FEW_FIGURES", ""):
        _draw_few_figures()
    from pe_spectra.cli import main as program

    code = program()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())  # what ends a forked run flushes both
    return code


def load(streams):
    """Give one answer, its streams in files; give the exit code."""
    kept = [os.dup(1), os.dup(2)]
    for descriptor, name in enumerate(("first.out", "first.err"), start=1):
        os.dup2(os.open(streams / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
    sys.argv = ["program", *FIRST[:-1], str(streams / FIRST[-1])]
    if os.environ.get("PLANTED") == "threads":
        PLANTS["threads"]()
    try:
        return main()
    finally:
        for descriptor, original in enumerate(kept, start=1):
            os.dup2(original, descriptor)


def shuffle_folders(seed):
    """List folders in an order of this environment's own."""
    order = random.Random(seed)
    list_names, scan = os.listdir, os.scandir

    def listdir(*arguments):
        names = sorted(list_names(*arguments))
        order.shuffle(names)
        return names

    class Scanned:
        """What `os.scandir` gives: an iterator that is closed."""

        def __init__(self, *arguments):
            with scan(*arguments) as found:
                self._entries = sorted(found, key=lambda entry: entry.name)
            order.shuffle(self._entries)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.close()

        def __iter__(self):
            return self

        def __next__(self):
            if not self._entries:
                raise StopIteration
            return self._entries.pop()

        def close(self):
            self._entries.clear()

    os.listdir, os.scandir = listdir, Scanned


def count_threads():
    """Give the threads of this process."""
    return len(list(Path("/proc/self/task").iterdir())) if os.path.exists("/proc/self/task") else 1


def _close(stream):
    """Close a stream as a shell would: the interpreter then has none."""
    os.close(("stdin", "stdout", "stderr").index(stream))
    setattr(sys, stream, None)


def _limit(name, value):
    resource.setrlimit(getattr(resource, f"RLIMIT_{name.upper()}"), (int(value), int(value)))


def _write_to(stream, path):
    os.dup2(os.open(path, os.O_WRONLY | os.O_NOCTTY), 1 if stream == "stdout" else 2)


def _leave_reader():
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, 1)


#: What a forked run does to itself before it becomes the program.
STEPS = {
    "close": _close,
    "limit": _limit,
    "write to": _write_to,
    "no reader": _leave_reader,
    "no folder": lambda: os.rmdir(os.getcwd()),
    "umask": lambda mask: os.umask(int(mask, 8)),
}


def _draw_few_figures():
    from pe_spectra.figures import build

    build.ALL_RECIPES = build.ALL_RECIPES[:2]


def _plant_after_verdict(make):
    """Put a text of the environment behind the verdict of every answer."""
    from pe_spectra.cli import render as room

    written = room._write_pipe
    room._write_pipe = lambda answer: ["".join(written(answer)).replace("\n", f" {make()}\n", 1)]


def _plant_set():
    _plant_after_verdict(lambda: " ".join({"sinusoidal", "dft", "rope", "alibi", "ramp"}))


def _plant_hash():
    _plant_after_verdict(lambda: hash("sinusoidal"))


def _plant_width():
    import shutil

    _plant_after_verdict(lambda: "-" * shutil.get_terminal_size().columns)


def _plant_locale():
    # no locale but C need be installed, so the fault asks for its name instead
    point = "," if os.environ.get("LC_ALL", "").startswith(("de", "tr")) else "."
    _plant_after_verdict(lambda: "0.5".replace(".", point))


def _plant_time_zone():
    import time

    _plant_after_verdict(lambda: time.tzname)


def _plant_folder():
    _plant_after_verdict(os.getcwd)


def _plant_listing():
    _plant_after_verdict(lambda: os.listdir("."))


def _plant_stamp():
    from pe_spectra.plots import sheet

    sheet._METADATA[".svg"] = {"Creator": None}


def _plant_salt():
    from pe_spectra.plots import style

    style._FIXED["svg.hashsalt"] = None


def _plant_threads():
    from pe_spectra.cli import program

    program.THREAD_VARIABLES = ()


#: Deliberate faults, each of which some environment must bring to light.
PLANTS = {
    "set": _plant_set,
    "hash": _plant_hash,
    "width": _plant_width,
    "locale": _plant_locale,
    "time zone": _plant_time_zone,
    "folder": _plant_folder,
    "listing": _plant_listing,
    "stamp": _plant_stamp,
    "salt": _plant_salt,
    "threads": _plant_threads,
}

if __name__ == "__main__":
    if os.environ.get("SHUFFLED"):
        shuffle_folders(os.environ["SHUFFLED"])
    code = load(Path(sys.argv[1]))
    print(json.dumps({"code": code, "threads": count_threads()}), flush=True)
    serve("__main__:main", [])
