"""Writers in processes of their own, forked from one that has imported everything; run by the tests beside it.

`python -m tests.program.writers_apart FUNCTION ARGUMENT...` calls a function on arguments in JSON, in the working
directory, and prints its result.
"""

import contextlib
import io
import json
import os
import random
import resource
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

from pe_spectra.cli import main
from pe_spectra.files import writer
from tests.writing import NEW, OLD, TEMPORARY, Calls

SIZE = 1_000_000
#: Answers of the real program that take turns on one figure and one export.
TURNS = [
    ["spectrum", "--d", "16", "--figure", "figure.svg", "--output", "answer.json"],
    ["spectrum", "--d", "32", "--figure", "figure.svg", "--output", "answer.json"],
]
EXPORTS = [
    ["export", "sinusoidal:d=64", "--length", "512", "--output", "table.npy"],
    ["export", "rope:d=64", "--what", "frequencies", "--output", "table.npy"],
]


def fork(act):
    """Let a child do something and end; give its number."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        code = act() or 0
    finally:
        os._exit(code)


def wait(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_program(argv):
    """Run the program here; give its exit code and its two streams."""
    sys.argv = ["pe-spectra", *argv]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main()
    return code, out.getvalue(), err.getvalue()


def draw_once():
    """Draw each picture once: what is tried is how it is written, together with the answer."""
    from pe_spectra.cli.run import Run

    kept, finish = {}, Run.finish

    def finish_once(run, *arguments, **options):
        key = tuple(sys.argv)
        if key not in kept:
            kept[key] = finish(run, *arguments, **options)
        return kept[key]

    Run.finish = finish_once


# SIGKILL


def write_one(_):
    for letter in (b"a", b"b"):
        writer.write_files({Path("figure.svg"): letter * 2 * SIZE})
        yield


def write_several(turn):
    """An old figure, and a new export."""
    for letter in (b"a", b"b"):
        export = Path(f"export{turn}{letter.decode()}.npy")
        writer.write_files({Path("figure.svg"): letter * SIZE, export: letter * SIZE})
        yield


def write_by_program(_):
    for argv in TURNS:
        assert run_program(argv)[0] == 0
        yield


WRITERS = {"one": write_one, "several": write_several, "program": write_by_program}


def kill_writers(kind, way, count, seed):
    """Kill that many writers, each at a random moment; count the living, commits, torn files and temporaries."""
    if way == "named":
        writer._UNNAMED = 0
    whole = {letter * size for letter in (b"a", b"b") for size in (SIZE, 2 * SIZE)}
    if kind == "program":
        draw_once()
        whole = {content for argv in TURNS for content in write_and_read(argv)}
    moments = random.Random(seed)
    found = {"alive": 0, "commits": 0, "torn": 0, "strays": [], "temporaries": 0}
    for _ in range(count):
        alive, commits = kill_one(WRITERS[kind], moments.uniform(0, 0.08))
        found["alive"] += alive
        found["commits"] += commits
        for path in Path.cwd().iterdir():
            if path.name.endswith(".tmp"):
                continue
            found["torn"] += path.read_bytes() not in whole
            if path.name.startswith("export"):
                path.unlink()
    left = [path.name for path in Path.cwd().iterdir() if path.name.endswith(".tmp")]
    found["temporaries"] = len(left)
    found["strays"] = [name for name in left if not TEMPORARY.fullmatch(name)]
    # what was left is in nobody's way
    for _ in WRITERS[kind](0):
        pass
    return found


def write_and_read(argv):
    assert run_program(argv)[0] == 0
    return [Path(name).read_bytes() for name in ("figure.svg", "answer.json")]


def kill_one(write, delay):
    """Kill a writer some time after its first commit; give whether it was alive then, and its commits."""
    reader, end = os.pipe()

    def write_on():
        turn = 0
        while True:
            for _ in write(turn):
                os.write(end, b".")
            turn += 1

    child = fork(write_on)
    os.close(end)
    with open(reader, "rb", buffering=0) as pipe:
        commits = len(pipe.read(1))
        time.sleep(delay)
        alive = os.waitpid(child, os.WNOHANG) == (0, 0)
        os.kill(child, signal.SIGKILL)
        alive = alive and wait(child) == -signal.SIGKILL
        while chunk := pipe.read(1 << 16):
            commits += len(chunk)
    return alive, commits


def kill_before_each_call(count, way):
    """Kill writers of so many files before their first call of the system, their second, ..., and none at last.

    Gives of each the calls that it had made, how many temporaries it left, and how many files are neither old nor new.
    """
    if way == "named":
        writer._UNNAMED = 0
    paths = [Path(f"file{number}") for number in range(count)]
    found = []
    while True:
        for path in paths:
            path.write_bytes(OLD)
        made, code = kill_before_call(len(found) + 1, dict.fromkeys(paths, NEW))
        left = [path for path in Path.cwd().iterdir() if path not in {path.absolute() for path in paths}]
        torn = sum(path.read_bytes() not in (OLD, NEW) for path in paths)
        found.append({"made": made, "left": len(left), "torn": torn})
        assert all(TEMPORARY.fullmatch(path.name) for path in left)
        for path in left:
            path.unlink()
        if code == 0:
            return found
        assert code == -signal.SIGKILL


def kill_before_call(number, contents):
    """Kill a writer before one of its calls of the system; give those before it, and how it ended."""
    reader, end = os.pipe()
    tell = os.write  # which is watched soon, too

    def act(count, name):
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        tell(end, name.encode() + b" ")

    def write_watched():
        Calls(SimpleNamespace(setattr=setattr), act)
        writer.write_files(contents)

    child = fork(write_watched)
    os.close(end)
    with open(reader, "rb") as pipe:
        made = pipe.read().decode().split()
    return made, wait(child)


# writers beside each other


def write_letters(letter, times):
    for _ in range(times):
        writer.write_files({Path("common"): letter * 200_000})


def write_pairs(letter, times):
    """Two files, one of which is everybody's."""
    for _ in range(times):
        writer.write_files({Path("common"): letter * 200_000, Path(f"own-{letter.decode()}"): letter * 200_000})


def run_commands(letter, times):
    """Two different commands for one file."""
    for _ in range(times):
        assert run_program(EXPORTS[ord(letter) % 2])[0] == 0


BESIDE = {"letters": write_letters, "pairs": write_pairs, "commands": run_commands}


#: Rounds of writers beside each other that may go by until the reader has met two versions.
MOST_ROUNDS = 100


def write_beside_each_other(kind, writers, times, rounds):
    """Let processes write one path at once while it is read; count readings, torn ones, failures, other names.

    On a busy machine the reader may sleep through some rounds: there are more until it has met two versions.
    """
    letters = [bytes([ord("a") + number]) for number in range(writers)]
    whole = {letter * 200_000 for letter in letters}
    if kind == "commands":
        whole = {write_and_read_table(argv) for argv in EXPORTS}
        assert len(whole) == 2
    path = Path("table.npy" if kind == "commands" else "common")
    found = {"reads": 0, "torn": 0, "failed": 0, "versions": 0}
    seen = set()
    while rounds > 0 or (len(seen) < 2 and rounds > -MOST_ROUNDS):
        rounds -= 1
        children = {fork(lambda letter=letter: BESIDE[kind](letter, times)) for letter in letters}
        while children:
            if path.exists():
                content = path.read_bytes()
                found["reads"] += 1
                found["torn"] += content not in whole
                seen.add(content)
            child, status = os.waitpid(-1, os.WNOHANG)
            if child:
                children.remove(child)
                found["failed"] += status != 0
    for own in Path.cwd().glob("own-*"):
        found["torn"] += own.read_bytes() not in whole
    return found | {"versions": len(seen), "names": sorted(entry.name for entry in Path.cwd().iterdir())}


def write_and_read_table(argv):
    assert run_program(argv)[0] == 0
    return Path("table.npy").read_bytes()


# disks that are full


class DoneError(BaseException):
    """Raised through the program once its children have written, or not, in its place."""


def fill_disk(argv, offsets, prints):
    """Run the program up to the writer, and from there on in a child for each offset at which no file can grow.

    One more child cannot print, if the program prints its answer. Gives what became of each child.
    """
    write_files, found = writer.write_files, []

    def write_in_children(contents, **options):
        largest = max(map(len, contents.values()))
        limits = sorted({round(share * (largest - 1) / max(1, offsets - 1)) for share in range(offsets)})
        for limit in [*limits, *(["stdout"] if prints else [])]:
            ending = continue_in_child(limit)
            if ending is None:
                return write_files(contents, **options)
            found.append(ending)
        raise DoneError

    writer.write_files = write_in_children
    sys.argv = ["pe-spectra", *argv]
    parent = os.getpid()
    code = 1
    with contextlib.suppress(DoneError):
        try:
            code = main()
            sys.stdout.flush()
        finally:
            if os.getpid() != parent:
                os._exit(code)
    return found


def continue_in_child(limit):
    """Fork; None in the child, which goes on with a full disk, and in the parent what became of it."""
    streams = [os.pipe() for _ in range(2)]
    before = look()
    child = os.fork()
    if child == 0:
        for descriptor, (_, end) in enumerate(streams, start=1):
            os.dup2(end, descriptor)
        if limit == "stdout":
            os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        return None
    for _, end in streams:
        os.close(end)
    texts = []
    for reader, _ in streams:
        with open(reader, "rb") as pipe:
            texts.append(pipe.read().decode())
    code = wait(child)
    return {"limit": limit, "code": code, "stdout": texts[0], "stderr": texts[1], "unchanged": look() == before}


def look():
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in Path.cwd().rglob("*")}


if __name__ == "__main__":
    result = globals()[sys.argv[1]](*map(json.loads, sys.argv[2:]))
    os.write(1, json.dumps(result).encode())
