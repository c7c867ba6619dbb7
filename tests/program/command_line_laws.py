"""What every command line must keep, whatever it says: one run of it, and laws that say what they find broken."""

import csv
import io
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

from pe_spectra.cli import main
from tests.documents import find_fault
from tests.program.command_line_files import OTHERS, place_files
from tests.program.command_lines import read_our_program

#: Only these make exit 1 a possible answer.
CHECKS = ("--check", "--require", "--fail-on")
#: Only these name places to write to.
PLACES = ("--output", "--figure")
#: A message is no longer, however long the values are that it is about.
LONGEST_ERROR = 2000
#: What steers a terminal, turns its direction or forges a line: all control characters but tab and newline.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TRACES = ("Traceback", "internal fault", "Exception ignored")

# -------------------------------------------------------------------------------------------- one run


@dataclass(frozen=True)
class Outcome:
    """One run: its end, its streams, and what was on the disk before and after, by path."""

    code: object
    out: str
    err: str
    before: dict
    after: dict
    warned: tuple = ()

    @property
    def changed(self):
        """Paths that were created, changed or removed."""
        return sorted(p for p in {**self.before, **self.after} if self.before.get(p) != self.after.get(p))

    @property
    def left(self):
        """All that a second run must leave too."""
        return self.code, self.out, self.err, {path: self.after.get(path) for path in self.changed}


class Bench:
    """Runs lines within this process, each in a folder of its own with the files that the line mentions."""

    def __init__(self, folder):
        self.folder, self.work = Path(folder), Path(folder, "work")
        for name in ("home", "tmp"):
            (self.folder / name).mkdir()

    def run(self, argv):
        """Run the program once."""
        os.chdir(self.folder)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        place_files(self.work, argv)
        os.chdir(self.work)
        before, heeded = self._look(), _heeds_deprecations()
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            code, out, err = _call(argv)
        said = [f"{w.category.__name__}: {w.message}" for w in warned if heeded or w.category is not DeprecationWarning]
        return Outcome(code=code, out=out, err=err, before=before, after=self._look(), warned=tuple(said))

    def _look(self):
        found = {}
        for parent, folders, files in os.walk(self.folder):
            for name in folders + files:
                path = os.path.join(parent, name)
                found[os.path.relpath(path, self.work)] = _see(path)
        return found


def _see(path):
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return "link", os.readlink(path)
    return ("file", status.st_mode, Path(path).read_bytes()) if stat.S_ISREG(status.st_mode) else ("folder",)


def _heeds_deprecations():
    """Whether these tests run so that what one library calls in another counts, or with old ones among new ones."""
    try:
        warnings.warn("probe", DeprecationWarning, stacklevel=1)
    except DeprecationWarning:
        return True
    return False


def _call(argv):
    """Call the program with streams as strict as a pipe's; give its end and what was written."""
    kept = sys.argv, sys.stdout, sys.stderr
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.argv = ["pe-spectra", *argv]
        sys.stdout = io.TextIOWrapper(io.FileIO(out.fileno(), "w", closefd=False), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(io.FileIO(err.fileno(), "w", closefd=False), "utf-8", "backslashreplace")
        try:
            code = main()
        except BaseException as escaped:  # a fault of the program must not end the tests
            code = repr(escaped)
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.close()
            sys.argv, sys.stdout, sys.stderr = kept
        return code, *(_read(stream) for stream in (out, err))


def _read(stream):
    stream.seek(0)
    return stream.read().decode("utf-8", "surrogateescape")


# ----------------------------------------------------------------------------------------------- laws


def _exits(line, outcome):
    if type(outcome.code) is not int or outcome.code not in (0, 1, 2):
        yield f"exit {outcome.code}"


def _checks(line, outcome):
    if outcome.code == 1 and not line.has(*CHECKS):
        yield "exit 1, and no check was asked for"


def _falls(line, outcome):
    for text in _TRACES:
        if text in outcome.out or text in outcome.err:
            yield f"{text!r} on a stream"


def _warns(line, outcome):
    yield from outcome.warned


def _is_partial(line):
    """Whether it is a command over many files, which answers the good ones and names the others."""
    return line.command == "audit" and len(line.values("")) > 1


def _answers_nothing(line, outcome):
    if outcome.code == 2 and outcome.out and not _is_partial(line):
        yield f"exit 2, and {len(outcome.out)} characters on stdout"


def _errs_in_a_line(line, outcome):
    if outcome.code != 2:
        return
    lines = outcome.err.split("\n")
    errors = [text for text in lines if text.startswith("error: ") and len(text) > len("error: ")]
    if lines[-1] or not errors or (len(lines) != 2 and not _is_partial(line)):
        yield f"not one whole line that begins with error: {outcome.err[:300]!r}"


def _names_the_fault(line, outcome):
    if outcome.code == 2 and not any(name in outcome.err for name in _list_names(line)):
        yield f"neither an option nor a value is named: {outcome.err[:300]!r}"


def _list_names(line):
    """Names of options and arguments, and the beginnings of what was typed, as an error shows them."""
    command = read_our_program().get(line.command)
    if command is not None:
        yield from (spelling for slot in command.options.values() for spelling in slot.spellings if len(spelling) > 2)
        yield from (f"error: {slot.spellings[-1]} " for slot in command.options.values())
        yield from (slot.metavar for slot in command.arguments)
    for token in line.argv:
        if not token:
            yield "('')"
        typed = {token, token.partition("=")[2]}
        for value in typed | {text.partition(":")[0] for text in typed}:
            yield from (f"({value[:20]}", f"error: {value[:20]}") if value.isprintable() and value else ()
    yield "no such command"


def _errs_in_short(line, outcome):
    if outcome.code == 2 and max(map(len, outcome.err.split("\n"))) > LONGEST_ERROR:
        yield f"an error of {len(outcome.err)} characters"


def _fails_without_trace(line, outcome):
    if outcome.code not in (0, 1) and outcome.changed and not _is_partial(line):
        yield f"failed, and changed {outcome.changed[:4]}"


def _writes_what_is_named(line, outcome):
    if outcome.code not in (0, 1):
        return
    named = {os.path.normpath(value) for option in PLACES for value in line.values(option)}
    named |= {OTHERS[name] for name in named if OTHERS.get(name)}
    command = read_our_program().get(line.command)
    if line.command == "figures" or (command and "--figure" in command.options and not line.has("--no-figure")):
        named.add("figures")
    for path in outcome.changed:
        inside = any(path == place or path.startswith(f"{place}/") or place == "." for place in named)
        parent = outcome.after.get(path) == ("folder",) and any(place.startswith(f"{path}/") for place in named)
        if not (inside or parent) or path not in outcome.after or path.startswith(".."):
            yield f"{path} was changed, and is not named"


def _tells_what_it_writes(line, outcome):
    written = [path for path in outcome.changed if outcome.after.get(path, ("",))[0] == "file"]
    if (
        outcome.code in (0, 1)
        and written
        and not _is_quiet(line)
        and not re.search("wrote |drew ", outcome.err + outcome.out.lower())
    ):
        yield f"{written[:4]} written without a word"


def _is_quiet(line):
    return line.has("--quiet") or "quiet.toml" in line.values("--settings")


def _is_quiet_when_told(line, outcome):
    lines = [text for text in outcome.err.splitlines() if not text.startswith(("check failed: ", "error: "))]
    if outcome.code in (0, 1, 2) and _is_quiet(line) and lines:
        yield f"--quiet, and {lines[0][:100]!r} on stderr"


def _is_helped(line):
    return bool({"--help", "-h"} & set(line.argv))


def _steers_nothing(line, outcome):
    coloured = "always" in line.values("--color")
    # JSON and CSV are never coloured, stderr neither
    out = _COLOUR.sub("", outcome.out) if coloured and _find_form(line) == "table" else outcome.out
    for name, text in (("stdout", out), ("stderr", outcome.err)):
        found = _UNSAFE.search(text)
        if found:
            yield f"{found[0]!r} on {name}: {text[max(found.start() - 30, 0) : found.end() + 30]!r}"


def _find_form(line):
    """The form of an answer that was given: table, json, csv, or array for what goes to a file of its own kind."""
    named = line.values("--format")[-1:] or (["json"] if line.has("--json") else [])
    ending = os.path.splitext((line.values("--output") or [""])[-1])[1].lower()
    if line.command == "export":
        return "csv" if line.values("--output") == ["-"] or ending == ".csv" else "array"
    return named[0] if named else {".json": "json", ".csv": "csv"}.get(ending, "table")


def _list_answers(line, outcome):
    """The texts that a run answers with: on stdout, or in the file that was named."""
    if outcome.code not in (0, 1) or _is_helped(line):
        return []
    place = os.path.normpath((line.values("--output") or ["-"])[-1])
    entry = outcome.after.get(OTHERS.get(place) or place, ("",))
    return [entry[2].decode()] if entry[0] == "file" else [outcome.out] if place == "-" else []


def _gives_strict_json(line, outcome):
    for text in _list_answers(line, outcome) if _find_form(line) == "json" else ():
        try:
            document = json.loads(text, parse_constant=_refuse, object_pairs_hook=_refuse_twins)
        except ValueError as error:
            yield f"no strict JSON, {error}: {text[:200]!r}"
            continue
        if (found := find_fault(document)) is not None:
            yield f"against the schema, {found}"


def _refuse(word):
    raise ValueError(f"{word} is no JSON")


def _refuse_twins(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError(f"a key twice among {[key for key, _ in pairs]}")
    return dict(pairs)


def _gives_safe_csv(line, outcome):
    for text in _list_answers(line, outcome) if _find_form(line) == "csv" else ():
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        if not rows or len({len(row) for row in rows}) != 1 or not text.endswith("\n"):
            yield f"rows of {sorted({len(row) for row in rows})} cells"
        cells = [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
        yield from (f"a spreadsheet would run {cell[:60]!r}" for cell in cells if not _is_number(cell))


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _ends_its_lines(line, outcome):
    for name, text in (("stdout", outcome.out), ("stderr", outcome.err)):
        if text and not text.endswith("\n"):
            yield f"{name} ends within a line: {text[-60:]!r}"


LAWS = {
    "exit code": _exits,
    "asked checks": _checks,
    "no traceback": _falls,
    "no warning": _warns,
    "empty stdout": _answers_nothing,
    "one error line": _errs_in_a_line,
    "named fault": _names_the_fault,
    "short error": _errs_in_short,
    "nothing left": _fails_without_trace,
    "named files": _writes_what_is_named,
    "told files": _tells_what_it_writes,
    "quiet": _is_quiet_when_told,
    "no control": _steers_nothing,
    "json": _gives_strict_json,
    "csv": _gives_safe_csv,
    "whole lines": _ends_its_lines,
}


def judge(line, outcome):
    """List which laws one run breaks, and how."""
    return [f"{name}: {text}" for name, law in LAWS.items() for text in law(line, outcome)]


def judge_line(bench, line, *, again=True):
    """Run a line, again (without `again` only where there is no other order), and with its options in another order.

    Give what is broken, and the first outcome.
    """
    first = bench.run(line.argv)
    problems = judge(line, first)
    other = line.reordered
    if (again or other is None) and bench.run(line.argv).left != first.left:
        problems.append("same again: a second run leaves something else")
    if other is not None:
        second = bench.run(other.argv)
        refused = first.code == second.code == 2
        if not refused and second.left != first.left:
            problems.append(f"same order: {other} leaves something else, exit {second.code}")
    return problems, first
