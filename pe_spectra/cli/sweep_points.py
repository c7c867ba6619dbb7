"""What is typed for a sweep: a grid of options, SPECs and files, of which every combination is a point."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Decimal
from itertools import product

from pe_spectra.cli.commands import COMMANDS
from pe_spectra.cli.declaring import Option
from pe_spectra.cli.options import OPTIONS
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_LIST, MAX_POINTS
from pe_spectra.numbers import Choice
from pe_spectra.records import dataclass

#: The name of what is swept over where SPECs or files are listed.
_SPEC = "spec"
_RANGE = re.compile(r"[^:,]+:[^:,]+:[^:,]+")
_ACCEPTED = "NAME=1,2,4 or NAME=FROM:TO:STEP, TO excluded, is accepted"


@dataclass(frozen=True, kw_only=True)
class Point:
    """One point of the grid: what is typed for it, and what the lines of the file say of it."""

    words: tuple[str, ...]
    values: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.values)


def list_points(command: str, over: Sequence[str], texts: Iterable[str]) -> list[Point]:
    """List every combination: of SPECs or files, and of the values of options, as --grid has them.

    Raises
    ------
    InputError : what is no grid of this command, or one of too many points.

    >>> [point.key for point in list_points("count-low-bin", (), ["d=64,128", "rho=10:30:10"])]
    ['d=64 rho=10', 'd=64 rho=20', 'd=128 rho=10', 'd=128 rho=20']
    """
    grid = _read_grid(command, texts)
    takes = {OPTIONS[key].name for key in COMMANDS[command].takes.split()}
    if over and not takes & {"encoding", "spec", "specs", "name", "configs"}:
        raise InputError(f"{command} takes no SPEC or file", over[0], "--grid alone is accepted")
    axes = [[(_SPEC, one) for one in dict.fromkeys(over)]] if over else []
    axes += [[(name, value) for value in values] for name, values in grid.items()]
    if not axes:
        raise InputError("a sweep has no grid", accepted=_ACCEPTED)
    number = math.prod(map(len, axes))
    if number > MAX_POINTS:
        raise InputError("the grid has too many points", str(number), f"at most {MAX_POINTS} are accepted")
    flags = {name for name, one in _list_options(command).items() if one.is_flag}
    before = ("-e",) if "encoding" in takes else ()
    return [_make_point(command, values, before, flags) for values in product(*axes)]


def _read_grid(command: str, texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Read --grid: values by the options of the command."""
    known = _list_options(command)
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise InputError("--grid has no values", text or "''", _ACCEPTED)
        if name in found:
            raise InputError("--grid is given twice", name, "each option once")
        name = Choice(members=tuple(known)).parse(name, "--grid")
        found[name] = _read_values(text, values)
        if known[name].is_flag:
            found[name] = tuple(Choice(members=("true", "false")).parse(one, f"--grid {name}") for one in found[name])
    return found


def _list_options(command: str) -> dict[str, Option]:
    """The command's own options, by their names as they are typed, without dashes."""
    options = [OPTIONS[key] for key in COMMANDS[command].takes.split()]
    return {one.flag.lstrip("-"): one for one in options if one.flag}


def _read_values(text: str, values: str) -> tuple[str, ...]:
    """Read a list, or a half-open range in decimals: in float64 0.1 three times is more than 0.3."""
    if not _RANGE.fullmatch(values):
        return tuple(dict.fromkeys(values.split(",")))
    try:
        start, stop, step = map(Decimal, values.split(":"))
        number = int(((stop - start) / step).to_integral_value(ROUND_CEILING))
    except (ArithmeticError, ValueError) as error:
        raise InputError("--grid is no range of numbers", text, _ACCEPTED) from error
    if not (step > 0 and 0 < number <= MAX_LIST):
        raise InputError("--grid is an empty range, or one of too many values", text, _ACCEPTED)
    return tuple(f"{start + place * step:f}" for place in range(number))


def _make_point(command: str, values: tuple[tuple[str, str], ...], before: tuple[str, ...], flags: set[str]) -> Point:
    words = [command]
    for name, value in values:
        if name == _SPEC:
            words += [*before, value]
        elif name in flags:
            words += [f"--{name}"] if value == "true" else []
        else:
            words.append(f"--{name}={value}")
    return Point(words=tuple(words), values=values)
