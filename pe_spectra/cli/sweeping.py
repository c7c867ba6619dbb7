"""The command that answers another one over a grid: sweep."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pe_spectra.cli.commands import COMMANDS
from pe_spectra.cli.declared import Commands
from pe_spectra.cli.run import Outcome, Run
from pe_spectra.cli.sweep_points import Point, list_points
from pe_spectra.errors import InputError, PeSpectraError
from pe_spectra.numbers import Choice, quote
from pe_spectra.records import NamedTuple

if TYPE_CHECKING:
    from pe_spectra.answers.sweeps import Sweep
    from pe_spectra.experiment.pools import Pool
    from pe_spectra.files.ledger import Ledger

#: The column with what was refused.
_ERROR = "error"
#: Seconds of work that a worker is given at a time, so that little is lost with it, the most points, and how many
#: portions each worker has at least, so that none waits long for the last one.
_PORTION, _MOST, _FEWEST = 0.5, 512, 16
#: Seconds of work that this process does itself before it opens others, which takes them as long to begin.
_ALONE = 0.25

_Answered = tuple[list[str], list[list[str]]]


class _Rendered(NamedTuple):
    """The lines of some points as they stand in the file, and why there is no answer at some of them."""

    keys: list[str]
    data: bytes
    refused: list[str]


def sweep(
    run: Run,
    command: str,
    over: Sequence[str] | None,
    grid: Sequence[str] | None,
    workers: str | None,
    output: str | None,
) -> Outcome:
    """Options of COMMAND by their names, as --grid d=64,128 --grid bandwidth=1:16:1, and SPECs or
    files; every combination is a point, and the rows of its answer are lines of FILE as soon as
    they are there. What was interrupted goes on where it was. A .parquet file is written at the end,
    of the .csv file beside it.
    """
    place = _read_place(output)
    is_table = place.suffix.lower() == ".parquet"
    command = Choice(members=_list_commands()).parse(command, "COMMAND")
    points = list_points(command, over or (), grid or ())
    from pe_spectra.answers.sweeps import answer_sweep
    from pe_spectra.files.ledger import Ledger

    columns, seconds = _look_at_first(points)
    names = [name for name, _ in points[0].values]
    settings = {"command": command, "options": names, "answer": columns}
    with ExitStack() as opened:
        # what cannot be opened is refused before there is a file
        pool = None if workers is None else _open(opened, workers)
        ledger = opened.enter_context(
            Ledger.open(
                place.with_suffix(".csv") if is_table else place,
                settings,
                columns=[*_name_columns(names), *columns, _ERROR],
                label="--output",
                is_end=_is_last,
            )
        )
        answered = _answer_all(run, pool or partial(_open, opened, None), ledger, command, points, seconds)
        found = replace(answered, output=str(place))
        outcome = run.finish(answer_sweep(found))
        return outcome._replace(files={**outcome.files, place: _encode(ledger.path)}) if is_table else outcome


def answer_points(points: Sequence[Point], columns: Sequence[str]) -> _Rendered:
    """Answer at each of some points, as lines of a file with these columns; in any process.

    Raises
    ------
    InputError : an answer with other columns.
    """
    from pe_spectra.files.ledger import render_lines

    found = [(point, _answer(point.words)) for point in points]
    rows = [row for point, answered in found for row in _list_rows(point, answered, columns)]
    refused = [answered for _, answered in found if isinstance(answered, str)]
    return _Rendered(keys=[row[0] for row in rows], data=render_lines(rows), refused=refused)


def _answer(words: Sequence[str]) -> _Answered | str:
    name, *others = words
    command: Any = Commands()[name]
    arguments = [*others, "--format", "csv", "--quiet"]
    if any("--no-figure" in parameter.opts for parameter in command.params):
        arguments.append("--no-figure")
    try:
        with command.make_context(name, arguments) as ctx:
            outcome = command.invoke(ctx)
    except PeSpectraError as error:
        return str(error)
    columns, *rows = csv.reader(io.StringIO("".join(outcome.parts)))
    return columns, rows


def _open(opened: ExitStack, workers: str | None) -> Pool:
    from pe_spectra.experiment.pools import open_pool, read_workers

    return opened.enter_context(open_pool(read_workers(workers)))


def _encode(path: Path) -> bytes:
    """All lines of the file as a .parquet table."""
    from pe_spectra.files.ledger import read_ledger
    from pe_spectra.files.parquet_table import encode_parquet

    found = read_ledger(path)
    return encode_parquet({name: [row[name] for row in found.rows] for name in found.columns})


# --------------------------------------------------------------------- what is typed


def _read_place(output: str | None) -> Path:
    if not output or Path(output).suffix.lower() not in (".csv", ".parquet"):
        what = "--output is missing" if output is None else "--output is no name of a file of answers"
        accepted = "a file ending in .csv or .parquet is accepted"
        raise InputError(what, "" if output is None else quote(output), accepted)
    if Path(output).suffix.lower() == ".parquet":
        from pe_spectra.files.parquet_table import check_pyarrow

        check_pyarrow()
    return Path(output)


def _list_commands() -> tuple[str, ...]:
    """The commands whose answers have rows."""
    return tuple(name for name in Commands() if "format" in COMMANDS[name].data)


# --------------------------------------------------------------------- points and lines


def _look_at_first(points: Sequence[Point]) -> tuple[list[str], float]:
    """The columns of the first point that is answered, and how long another one like it takes."""
    reason = ""
    for point in points:
        found = _answer(point.words)
        if not isinstance(found, str):
            start = time.perf_counter()
            _answer(point.words)
            return found[0], time.perf_counter() - start
        reason = reason or found
    raise PeSpectraError(f"every point is refused, the first: {reason}")


def _name_columns(names: Iterable[str]) -> list[str]:
    """The columns of the grid, apart from those of the answers."""
    return [f"grid_{name}" for name in names]


def _is_last(key: str) -> bool:
    """Whether a key is that of the last row of an answer: .. 3/3."""
    place, _, rows = key.rpartition(" ")[2].partition("/")
    return place == rows


def _answer_all(
    run: Run,
    pool: Pool | Callable[[], Pool],
    ledger: Ledger,
    command: str,
    points: Sequence[Point],
    seconds: float,
) -> Sweep:
    """Answer at the points that are missing, in portions, and count what is there.

    A pool that has yet to be opened gets what is left after some first points.
    """
    from pe_spectra.answers.sweeps import Sweep
    from pe_spectra.files.ledger import KEY

    there = {key.rpartition(" ")[0] for key in ledger.done}
    missing = [point for point in points if point.key not in there]
    keys = {point.key for point in points}
    old = [row[_ERROR] for row in ledger.rows if row[KEY].rpartition(" ")[0] in keys]
    lines, refused = len(old), [error for error in old if error]
    left = missing
    with run.progress("sweeping", is_long=True) as tell:
        done = len(points) - len(missing)
        tell(done, len(points))

        def keep(portion: Sequence[Point], found: _Rendered) -> None:
            nonlocal done, lines
            ledger.append_lines(found.keys, found.data)
            done, lines = done + len(portion), lines + len(found.keys)
            refused.extend(found.refused)
            tell(done, len(points))

        answer = partial(answer_points, columns=ledger.columns)
        if callable(pool) and seconds < _ALONE:
            left = missing[_answer_first(answer, missing, keep) :]
        if left:
            from pe_spectra.experiment.pools import run_all

            workers = pool() if callable(pool) else pool
            portions = _divide(left, seconds, workers.count())
            run_all(workers, answer, portions, keep, name=lambda portion: portion[0].key)
    return Sweep(
        command=command,
        output=str(ledger.path),
        points=len(points),
        computed=len(missing),
        refused=len(refused),
        lines=lines,
        reason=refused[0] if refused else None,
    )


def _answer_first(
    answer: Callable[[Sequence[Point]], _Rendered],
    points: Sequence[Point],
    keep: Callable[[Sequence[Point], _Rendered], None],
) -> int:
    """Answer at points in this process, for as long as others would take to begin; say at how many."""
    start, done = time.perf_counter(), 0
    while done < len(points) and time.perf_counter() - start < _ALONE:
        some = points[done : done + 1]
        keep(some, answer(some))
        done += 1
    return done


def _divide(points: Sequence[Point], seconds: float, workers: int) -> list[Sequence[Point]]:
    """Divide points into portions, each of which takes as many seconds."""
    size = max(1, min(_MOST, int(_PORTION / max(seconds, 1e-6)), -(-len(points) // (_FEWEST * workers))))
    return [points[start : start + size] for start in range(0, len(points), size)]


def _list_rows(point: Point, found: _Answered | str, columns: Sequence[str]) -> list[list[str]]:
    """The cells of the lines of one point: a row of its answer each, or the one that says why there is none."""
    grid = [value for _, value in point.values]
    answer = columns[1 + len(grid) : -1]
    if isinstance(found, str):
        return [[f"{point.key} 1/1", *grid, *[""] * len(answer), found]]
    names, rows = found
    if list(answer) != names:
        other = ", ".join(sorted({*names} ^ {*answer})) or "another order"
        raise InputError(f"the answer has other columns at {point.key}", other, "a grid of one kind of answers")
    number = len(rows)
    return [[f"{point.key} {place}/{number}", *grid, *row, ""] for place, row in enumerate(rows, start=1)]
