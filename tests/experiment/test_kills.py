"""The program that trains, killed again and again: the same lines as when nobody disturbs it, none lost, none twice."""

import os
import random
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from pe_spectra.files.ledger import read_ledger
from tests.places import ROOT
from tests.stopping import NEVER

pytest.importorskip("jax", reason="the extra experiment is not installed")
pytest.importorskip("optax", reason="the extra experiment is not installed")

KILLS = 30
RUN = "experiment run --quick --tasks lag bag --arms none dft rope --lengths 16 --seeds 15 --workers 1 --output"


def start(folder, name, size=NEVER):
    """Start the program in a group of processes of its own; what JAX compiled once is there for the next."""
    variables = {
        "PYTHONPATH": str(ROOT),
        "JAX_COMPILATION_CACHE_DIR": str(folder / "compiled"),
        "JAX_PERSISTENT_COMPILATION_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_COMPILATION_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    command = [sys.executable, "-m", "tests.experiment.small_program", str(size), *RUN.split(), name]
    return subprocess.Popen(
        command, cwd=folder, env={**os.environ, **variables}, stdout=subprocess.DEVNULL, start_new_session=True
    )


def look(process):
    """Whether a process has stopped or ended, and how much of a processor it has used, in seconds."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0] in "TZ", (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def train(folder, name):
    """Train what is missing, to the end; return the processor time in seconds."""
    process = start(folder, name)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0
    return used.ru_utime + used.ru_stime


def read_lines(path):
    """The settings of a file, and its lines but for what measures time."""
    found = read_ledger(path)
    return found.settings, [{name: cell for name, cell in row.items() if name != "seconds"} for row in found.rows]


@pytest.mark.slow
def test_kills_at_random_moments_change_no_line(tmp_path):
    """Every second kill is at a byte of the file, most of them within a line; the others at a moment of its work."""
    train(tmp_path, "first.csv")
    taken = train(tmp_path, "whole.csv")
    whole, killed, draw = tmp_path / "whole.csv", tmp_path / "killed.csv", random.Random(14)
    settings, lines = read_lines(whole)
    assert len(lines) == 120
    data = whole.read_bytes()
    header = sum(map(len, data.splitlines(keepends=True)[:2]))
    torn = 0
    for number, size in zip(count(), sorted(draw.sample(range(header, len(data) * 9 // 10), KILLS))):
        moment = draw.uniform(0, taken) if number % 2 else float("inf")
        process = start(tmp_path, "killed.csv", size)
        while not (seen := look(process))[0] and seen[1] < moment:
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        if moment == float("inf"):
            assert killed.stat().st_size == size
            torn += not killed.read_bytes().endswith(b"\n")
        found = read_lines(killed)
        assert found == (settings, lines[: len(found[1])])
    assert torn > KILLS // 4
    train(tmp_path, "killed.csv")
    assert read_lines(killed) == (settings, lines)
