"""What the readers of files do with damaged ones, judged file by file, and a census of many.

python -m tests.program.damage_judge npz 0 4000 judges files 0 to 3999 of one format and prints the census as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import tempfile
import time
import tracemalloc
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np

from pe_spectra.cli.terminal import escape
from pe_spectra.errors import PeSpectraError
from pe_spectra.model_sources import read_model, read_side
from pe_spectra.models.checks import audit_configuration
from pe_spectra.sources import read_encoding
from tests.program.damage import KINDS, Original, build_originals, damage, write_shards

#: Seconds that one file may take, and bytes of memory beside four times its own.
MOST_SECONDS = 1.0
FREE_BYTES = 64 << 20
LONGEST_MESSAGE = 2200
#: Words of libraries, which mean nothing to who named the file, or advise what must not be done.
FOREIGN = re.compile(
    r"allow_pickle|Traceback|Errno|codec can't|Expecting|invalid literal|could not convert|object at 0x|NoneType"
    r"|positional argument|BadZipFile|<class|reshape|dtype\(|np\.|numpy\.|needs more memory|internal fault"
)
#: Files between two whose memory is traced, which takes several times as long.
_TRACED = 50
_SHOWN_FAULTS = 20

Reader = Callable[[str], None]


@dataclass
class Census:
    """What happened to many damaged files of one format; `faults` names each that broke a law."""

    kind: str
    files: int = 0
    accepted: int = 0
    refused: int = 0
    in_header: int = 0
    seconds: float = 0.0
    grown: int = 0
    traced: int = 0
    longest: int = 0
    total_seconds: float = 0.0
    damages: Counter[str] = field(default_factory=Counter)
    reasons: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


def read_table(name: str) -> None:
    """Read a table as `inspect` does, and demand what every table has."""
    encoding = read_encoding(name)
    for table in (encoding.codes, encoding.file_rows):
        _demand_finite(table, 2)


def read_arrays(name: str) -> None:
    """Read arrays as `diff` does."""
    side = read_side(name)
    if side.table is not None:
        _demand_finite(side.table, 2)
    if side.table is None and side.dump is None:
        raise AssertionError("an answer without a table or a dump")


def read_configuration(name: str) -> None:
    """Read a configuration as `audit` does, with all that is computed from it."""
    audit = audit_configuration(read_model(name), trained=None, served=None)
    for layer in audit.layers:
        _demand_finite(layer.frequencies, 1)


def read_configured(name: str) -> None:
    """Build the encoding that a configuration names, or the table that an index leads to."""
    if name.endswith(".index.json"):
        read_table(name)
    elif not read_encoding(name).label:
        raise AssertionError("an encoding without a name")


def _demand_finite(values: np.ndarray, axes: int) -> None:
    if values.ndim != axes or not np.isfinite(values).all():
        raise AssertionError(f"an answer of {values.ndim} axes, or with a number that is not finite")


def choose_reader(kind: str, number: int) -> Reader:
    """Choose which door of the program a file goes through."""
    if kind == "json":
        return read_configured if number % 2 else read_configuration
    return read_arrays if number % 4 == 3 else read_table


def judge_many(kind: str, first: int, last: int) -> Census:
    """Judge damaged files `first` to `last` - 1 of a format, in the working directory."""
    census = Census(kind=kind)
    originals = warm_up(kind)
    start, descriptors = time.perf_counter(), len(os.listdir("/proc/self/fd"))
    for number in range(first, last):
        original, data, way = damage(kind, number, originals)
        census.in_header += way.startswith("header")
        census.damages[way] += 1
        place = f"{kind} {number} ({original.name}; {way})"
        judge_file(census, Path(f"case{original.suffix}"), data, choose_reader(kind, number), place)
    census.total_seconds = time.perf_counter() - start
    if len(os.listdir("/proc/self/fd")) > descriptors:
        census.faults.append("descriptors were left open")
    return census


def warm_up(kind: str) -> list[Original]:
    """Read each good file through every door, so that libraries are loaded before anything is measured."""
    import_module("scipy.special")  # which only a damaged table, of a square number of rows, may ask for
    write_shards(Path())
    originals = build_originals(kind)
    for original in originals:
        Path(f"case{original.suffix}").write_bytes(original.data)
        for number in range(4):
            with _tolerating():
                choose_reader(kind, number)(f"./case{original.suffix}")
    return originals


@contextmanager
def _tolerating() -> Iterator[None]:
    """Let a good file be refused by a reader that it is not for."""
    with suppress(PeSpectraError):
        yield


def judge_file(census: Census, path: Path, data: bytes, reader: Reader, place: str) -> None:
    """Read one file under every law, and count what happened."""
    path.write_bytes(data)
    before = path.stat().st_mtime_ns
    most = 4 * len(data) + FREE_BYTES
    census.files += 1
    for attempt in range(3):  # a machine that pauses is no fault of the reader, which would pause again
        message, fault, seconds, grown = _read_once(f"./{path}", reader, most)
        if seconds <= MOST_SECONDS or attempt == 2:
            break
    census.seconds, census.grown = max(census.seconds, seconds), max(census.grown, grown)
    census.accepted += message is None and not fault
    census.refused += message is not None
    faults = [fault] if fault else []
    if seconds > MOST_SECONDS:
        faults.append(f"took {seconds:.2f} s")
    if grown > most:
        faults.append(f"took {grown >> 20} MiB")
    if path.read_bytes() != data or path.stat().st_mtime_ns != before:
        faults.append("the file was changed")
    if message is not None:
        census.longest = max(census.longest, len(message))
        census.reasons.add(re.sub(r"[^a-z ]+", "#", message)[:60])
        faults += _judge_message(message)
    if census.files % _TRACED == 0 and not faults:
        traced = _trace(f"./{path}", reader)
        census.traced = max(census.traced, traced)
        faults += [f"took {traced >> 20} MiB as traced"] if traced > most else []
    census.faults += [f"{place}: {text}" for text in faults[: _SHOWN_FAULTS - len(census.faults)]]


def find_controls(text: str) -> str:
    """Give the characters of a text that steer a terminal, end a line, change its direction, or are none."""
    return "".join(
        character
        for character in text
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        or unicodedata.name(character, "").endswith(("-TO-RIGHT MARK", "-TO-LEFT MARK", "LETTER MARK"))
    )


def _judge_message(message: str) -> list[str]:
    faults = []
    printed = escape(message)  # as the program prints it: a name in it may hold anything
    if len(message) > LONGEST_MESSAGE or find_controls(printed):
        faults.append(f"a message of {len(message)} characters, or not of one line")
    if not re.match(r"(--\w+ )?(SPEC )?[^:]*(case|\.safetensors)", message):
        faults.append(f"a message that does not name the file: {message[:200]}")
    if FOREIGN.search(message):
        faults.append(f"a message in the words of a library: {message[:200]}")
    return faults


def _read_once(name: str, reader: Reader, most: int) -> tuple[str | None, str, float, int]:
    """Read a file; give the message of a refusal, the fault, the seconds and the bytes that were taken."""
    message, fault = None, ""
    resident = _reset_peak()
    with warnings.catch_warnings(record=True) as warned, limited_memory(most):
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            reader(name)
        except PeSpectraError as error:
            message = str(error)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"[:300]
        seconds = time.perf_counter() - start
    if warned:
        fault = fault or f"warned: {warned[0].message}"
    return message, fault, seconds, max(0, _read_peak() - resident)


def _trace(name: str, reader: Reader) -> int:
    tracemalloc.start()
    try:
        with _tolerating():
            reader(name)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@contextmanager
def limited_memory(most: int) -> Iterator[None]:
    """Let this process reserve no more than `most` bytes beyond what it has: what is reserved counts, used or not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = size + most if hard == resource.RLIM_INFINITY else min(size + most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _reset_peak() -> int:
    """Let the system forget the largest size of this process so far; give its size now."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # a system without it: the limit above holds all the same
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return _read_peak()


def _read_peak() -> int:
    found = re.search(r"VmHWM:\s+([0-9]+)", Path("/proc/self/status").read_text())
    return int(found[1]) << 10 if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def main() -> None:
    """Judge files of one format or of all, and print a census of each, one a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=[*KINDS, "all"])
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for kind in KINDS if given.kind == "all" else [given.kind]:
            census = judge_many(kind, given.first, given.last)
            print(json.dumps({**vars(census), "reasons": sorted(census.reasons)}), flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
