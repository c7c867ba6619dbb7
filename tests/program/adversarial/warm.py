"""Runs of the program forked from one process that has imported everything: fast, for rows that need no more.

`python warm.py MODULE:FUNCTION [MODULE ...]` is that process. It reads a run a line from its standard
input, as JSON, and writes what became of it. Whatever belongs to the start of an interpreter (variables
that it reads, closed streams, limits, signals) needs a process of its own instead.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from running import TICK, Outcome, count_processor
from workspace import SetupError

STREAMS = ("stdout", "stderr")


class WarmProgram:
    """The other end of that process.

    Parameters
    ----------
    target : `module:function`; the function takes no arguments and returns an exit code.
    imports : modules to import beforehand.
    environment : of the process.
    folder : where the process starts.
    """

    def __init__(self, target, imports, environment, folder):
        command = [sys.executable, __file__, target, *imports]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=folder, text=True
        )

    def run(self, argv, workspace, environment, patience):
        """Run once in the workspace; give the outcome."""
        streams = {name: str(workspace.root / name) for name in STREAMS}
        request = {
            "argv": list(argv),
            "folder": str(workspace.work),
            "environment": environment,
            "patience": patience,
            "streams": streams,
        }
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SetupError("the process that runs are forked from has ended")
        answer = json.loads(line)
        for name, path in streams.items():
            with open(path, "rb") as stream:
                answer[name] = stream.read()
        return Outcome(argv=tuple(argv), **answer)

    def close(self):
        """End the process."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def is_enough(case, workspace):
    """Whether a row can be judged by forked runs."""
    own = case["group"] in ("J", "K", "L") or {"act", "env", "repeat_env"} & set(case)
    steps = workspace.process_steps or workspace.pipe_lines is not None
    return not (own or steps or "rss_mib" in case.get("limits", {}))


def serve(target, imports):
    """Answer runs until the input ends."""
    module, function = target.split(":")
    main = getattr(importlib.import_module(module), function)
    for name in imports:
        importlib.import_module(name)
    gc.freeze()  # else every run would look through all that was imported, and copy it
    for line in sys.stdin:
        request = json.loads(line)
        start = time.monotonic()
        child = os.fork()
        if child == 0:
            become(request, main)
        print(json.dumps(watch(child, start, request["patience"])), flush=True)


def watch(child, start, patience):
    """Wait for a forked run; end it when its time is over."""
    timed_out = False
    while True:
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - start > patience:
            timed_out = True
            os.killpg(child, signal.SIGKILL)
        time.sleep(TICK)
    seconds = time.monotonic() - start
    orphaned = False
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
        orphaned = True
    return {
        "code": os.waitstatus_to_exitcode(status),
        "seconds": seconds,
        "processor": count_processor(usage),
        "rss_mib": usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2),
        "timed_out": timed_out,
        "orphaned": orphaned,
    }


def become(request, main):
    """Turn this forked process into the program, and end it as the interpreter would."""
    os.setsid()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, name in enumerate(STREAMS, start=1):
        os.dup2(os.open(request["streams"][name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    sys.argv = ["program", *request["argv"]]
    try:
        code = main()
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        traceback.print_exc()
        code = 1
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:
        code = 120
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
