"""One run of the program in a process of its own: pipes for its streams, signals, time, memory."""

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

#: Time between two looks at a process.
TICK = 0.003

#: What a process does to itself before it becomes the program.
PRELUDE = """
import json, os, resource, signal, sys
for verb, *arguments in json.loads(sys.argv[1]):
    if verb == "umask":
        os.umask(int(arguments[0], 8))
    elif verb == "rlimit":
        value = int(arguments[1])
        resource.setrlimit(getattr(resource, "RLIMIT_" + arguments[0].upper()), (value, value))
    elif verb in ("stdout", "stderr"):
        os.dup2(os.open(arguments[0], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1 if verb == "stdout" else 2)
    elif verb == "close":
        os.close(int(arguments[0]))
    elif verb == "cwd-gone":
        os.rmdir(os.getcwd())
for name in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(name, signal.SIG_DFL)
os.execv(sys.argv[2], sys.argv[2:])
"""
# what is ignored here the program ignores too: where the tests were started by nohup, no hang-up would reach it
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one run left: exit code (negative: the signal that ended it), streams, cost."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes
    #: By the clock, from its start to its end.
    seconds: float
    #: Seconds of the processor that it has taken, and the processes that it has waited for.
    processor: float
    rss_mib: float
    timed_out: bool = False
    #: A descendant held a stream open after the program had ended.
    orphaned: bool = False
    #: For each signal, whether the process was there to receive it.
    received: tuple[bool, ...] = ()


def count_processor(usage):
    """Give the seconds of the processor of a process and of those that it waited for."""
    return usage.ru_utime + usage.ru_stime


class Process:
    """A program that has been started."""

    def __init__(self, command, argv, workspace, environment):
        self.argv, self._workspace = tuple(argv), workspace
        line = [*command, *argv]
        if workspace.process_steps:
            line = [sys.executable, "-I", "-S", "-c", PRELUDE, json.dumps(workspace.process_steps), *line]
        self._start = time.monotonic()
        self._popen = subprocess.Popen(
            line,
            cwd=workspace.work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._streams = [
            _Reader(self._popen.stdout, workspace.pipe_lines),
            _Reader(self._popen.stderr, None),
        ]
        self._peak_kib = 0

    def signal(self, number):
        """Send a signal; False if there is no process to receive it."""
        if self._has_ended():
            return False
        os.kill(self._popen.pid, number)
        return True

    def wait(self, seconds, events=()):
        """Wait for the end, with `events` (moment, action) on the way; give the outcome.

        An action is called with the process and its workspace; what it returns is kept as `received`.
        """
        received, timed_out = [], False
        pending = sorted(events, key=lambda event: event[0])
        while pending or not self._has_ended():
            passed = time.monotonic() - self._start
            if passed > seconds:
                timed_out, pending = True, []
                self._kill_group()
            while pending and pending[0][0] <= passed:
                received.append(pending.pop(0)[1](self, self._workspace))
            if pending and self._has_ended():
                received += [False] * len(pending)
                pending = []
            time.sleep(TICK)
        return self._finish(received, timed_out)

    def _has_ended(self):
        if self._popen.returncode is None:
            self._note_peak()
            pid, status, usage = os.wait4(self._popen.pid, os.WNOHANG)
            if pid:
                self._seconds = time.monotonic() - self._start
                self._processor = count_processor(usage)
                self._popen.returncode = os.waitstatus_to_exitcode(status)
                self._usage_kib = usage.ru_maxrss // (1 if sys.platform == "linux" else 1024)
        return self._popen.returncode is not None

    def _kill_group(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGKILL)

    def _note_peak(self):
        try:
            with open(f"/proc/{self._popen.pid}/status") as status:
                found = re.search(r"VmHWM:\s*([0-9]+)", status.read())
        except OSError:
            found = None
        if found:
            self._peak_kib = max(self._peak_kib, int(found[1]))

    def _peak_mib(self):
        # the system's own figure holds that of the process that started it, until exec, too; where it
        # tells nothing about the program, the highest figure that was seen while it ran stands in: 0 where
        # a busy machine let the program end unseen
        ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if self._usage_kib <= ours:
            return self._peak_kib / 1024
        return self._usage_kib / 1024

    def _finish(self, received, timed_out):
        orphaned = not all(stream.end(2) for stream in self._streams)
        if orphaned:
            self._kill_group()
            for stream in self._streams:
                stream.end(2)
        stdout, stderr = (stream.take() for stream in self._streams)
        return Outcome(
            argv=self.argv,
            code=self._popen.returncode,
            stdout=stdout,
            stderr=stderr,
            seconds=self._seconds,
            processor=self._processor,
            rss_mib=self._peak_mib(),
            timed_out=timed_out,
            orphaned=orphaned,
            received=tuple(received),
        )


class _Reader:
    """Reads a pipe in a thread of its own; leaves after some lines if told so."""

    def __init__(self, pipe, lines):
        self._pipe, self._lines, self._chunks = pipe, lines, []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        if self._lines is None:
            while chunk := self._pipe.read1(1 << 20):
                self._chunks.append(chunk)
        else:
            for _ in range(self._lines):
                self._chunks.append(self._pipe.readline())
        self._pipe.close()

    def end(self, seconds):
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def take(self):
        return b"".join(self._chunks)


def parse_moment(text, duration, moments):
    """Give the moment in seconds that `0.05`, `0.3T`, `0.3T+0.05` or `random` stands for."""
    if text == "random":
        return moments.uniform(0, duration)
    found = re.fullmatch(r"([0-9.]+)(T?)(?:\+([0-9.]+))?", text)
    if found is None:
        raise ValueError(f"no moment: {text}")
    return float(found[1]) * (duration if found[2] else 1) + float(found[3] or 0)


def parse_signals(text, duration, moments):
    """Give the (signal, moment) pairs of an `act` such as `INT@0.3T,INT@0.3T+0.05`."""
    pairs = [part.split("@") for part in text.split(",")]
    return [(signal.Signals["SIG" + name], parse_moment(when, duration, moments)) for name, when in pairs]
