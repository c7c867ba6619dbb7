"""A small program that behaves, or misbehaves in one chosen way: what the harness is tried on."""

import json
import os
import signal
import sys
import time
from pathlib import Path

SVG = "<svg>\n" + "<g/>\n" * 200 + "</svg>\n"


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def fail(text="error: --d is wrong\n", code=2):
    sys.stderr.write(text)
    sys.stderr.flush()
    os._exit(code)


def interrupted(clean=True, late=0.0):
    """Work for a second, writing a file at the end; answer Ctrl-C."""
    temporary = Path("x.tmp")
    try:
        temporary.write_text(SVG[:50])
        time.sleep(0.5)
    except KeyboardInterrupt:
        if clean:
            temporary.unlink()
        time.sleep(late)
        fail("error: interrupted\n", 130)
    os.replace(temporary, "old.svg")
    Path("old.svg").write_text(SVG)
    say("done\n")


def torn():
    with open("old.svg", "w") as out:
        for line in SVG.splitlines(keepends=True):
            out.write(line)
            out.flush()
            time.sleep(0.004)
    say("done\n")


def whole(name="old.svg", text=SVG, pause=0.3):
    time.sleep(pause)
    temporary = Path(f"{name}.{os.getpid()}.tmp")
    temporary.write_text(text)
    os.replace(temporary, name)
    say("done\n")


def pause_once():
    """Take long at the first run alone, as on a machine that pauses."""
    seen = Path(os.environ["MPLCONFIGDIR"], "seen")
    pause = 0.1 if seen.exists() else 1.5
    seen.touch()
    time.sleep(pause)
    say("done\n")


def work(seconds):
    """Take so many seconds of the processor."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def work_once():
    """Work long at the first run alone."""
    seen = Path(os.environ["MPLCONFIGDIR"], "worked")
    if not seen.exists():
        seen.touch()
        work(0.8)
    say("done\n")


def work_below():
    """Let another process do the work."""
    child = os.fork()
    if child == 0:
        work(0.5)
        os._exit(0)
    os.waitpid(child, 0)
    say("done\n")


def show():
    """Say what the process finds around it."""
    umask = os.umask(0)
    try:
        folder = os.getcwd()
    except FileNotFoundError:
        folder = "gone"
    import resource

    found = {
        "argv": sys.argv[2:],
        "umask": f"{umask:03o}",
        "fsize": resource.getrlimit(resource.RLIMIT_FSIZE)[0],
        "files": sorted(os.listdir()) if folder != "gone" else [],
        "folder": folder,
        "environment": dict(os.environ),
        "stdin": [] if not closed(0) else ["closed"],
    }
    say(json.dumps(found) + "\n")


def closed(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return True
    return False


def orphan():
    if os.fork() == 0:
        time.sleep(20)
        os._exit(0)
    say("done\n")


def ignore_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupted()


def flood():
    """Write many lines; quiet where the reader leaves."""
    try:
        for number in range(200_000):
            print(number)
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(0)


def full():
    try:
        say("x\n")
    except OSError:
        fail("error: stdout: no space\n")


def remove():
    os.unlink("old.svg")
    fail()


def touch(path, code=0):
    Path(path).write_text("x")
    if code:
        fail()
    say("done\n")


BEHAVIOURS = {
    "good": lambda: say("answer 1.5\n"),
    "nothing": lambda: None,
    "refuse": fail,
    "raise": lambda: 1 // 0,
    "wild": lambda: fail(code=3),
    "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "hang": lambda: time.sleep(30),
    "slow": lambda: (work(0.5), say("done\n")),
    "slow-below": work_below,
    "slow-once": work_once,
    "hungry": lambda: say(f"{len(bytes(range(256)) * (1 << 20))}\n"),
    "noisy-failure": lambda: (say("half an answer\n"), fail()),
    "two-lines": lambda: fail("error: one\nmore\n"),
    "no-prefix": lambda: fail("wrong\n"),
    "silent-failure": lambda: fail(""),
    "ignored": lambda: (say("x\n"), sys.stderr.write("Exception ignored in: x\n")),
    "say": lambda: say(sys.argv[2]),
    "bytes": lambda: os.write(1, bytes.fromhex(sys.argv[2])),
    "complain": lambda: (say("x\n"), sys.stderr.write(sys.argv[2])),
    "touch": lambda: touch(sys.argv[2]),
    "touch-and-fail": lambda: touch(sys.argv[2], code=2),
    "litter": lambda: touch(f"{sys.argv[2]}/x.tmp"),
    "home": lambda: touch(os.path.join(os.environ["HOME"], "x")),
    "temporary": lambda: touch(os.path.join(os.environ["TMPDIR"], "x")),
    "remove": remove,
    "rewrite": lambda: (Path("old.svg").write_bytes(Path("old.svg").read_bytes()), fail()),
    "whole": lambda: whole(*sys.argv[2:3], pause=0),
    "cut": lambda: whole(text=SVG[:100], pause=0),
    "left": lambda: (whole(pause=0), touch("stray")),
    "unlink-link": lambda: (os.unlink("link.svg"), whole("link.svg", pause=0)),
    "number": lambda: say(f"{os.getpid()}\n"),
    "number-file": lambda: touch(f"out/{os.getpid()}"),
    "show": show,
    "pause-once": pause_once,
    "orphan": orphan,
    "flood": flood,
    "full": full,
    "patient": interrupted,
    "untidy": lambda: interrupted(clean=False),
    "deaf": ignore_interrupts,
    "torn": torn,
    "atomic": whole,
    "mixed": lambda: whole(text=SVG + f"<!-- {os.getpid()} --></svg>\n", pause=0),
    "interrupt-trace": lambda: time.sleep(0.5),
    "echo-stderr": lambda: (say("x\n"), fail("error: stderr\n")) if closed(2) else say("open\n"),
}


def main():
    BEHAVIOURS[sys.argv[1]]()
    return 0


if __name__ == "__main__":
    main()
