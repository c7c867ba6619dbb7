"""What a command is about: encodings and positions as they were typed; how they are read, and how much is too much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pe_spectra.errors import InputError
from pe_spectra.limits import (
    MAX_ANALYSED,
    MAX_PAIR_WORK_TOGETHER,
)
from pe_spectra.numbers import parse_list
from pe_spectra.records import dataclass

if TYPE_CHECKING:
    from pe_spectra.cli.positions import GivenPositions
    from pe_spectra.encodings import Encoding


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Encodings or files, what fills in their parameters, and where they are looked at: all as it was typed.

    `label` is what names the encodings on the command line; `timed` says that the step has a meaning whatever the
    encodings are.
    """

    encoding: Sequence[str] | None = None
    d: str | Sequence[str] | None = None
    rho: str | Sequence[str] | None = None
    length: int | None = None
    rows: str | None = None
    start: str | None = None
    step: str | None = None
    positions: str | None = None
    label: str = "--encoding"
    timed: bool = False

    def build(self, *default: str) -> tuple[Encoding, ...]:
        """Build the encodings that are named, or the default ones, at real positions where these are given.

        Raises
        ------
        InputError, FileError : as :func:`pe_spectra.sources.build_encodings` says; --length beside --positions or
            beyond the rows of an encoding, or an encoding that has not the positions.

        >>> Subject(encoding=["dft"], d="8").build()
        (Dft(d=8),)
        """
        if self.positions is not None:
            return self.build_possible(*default)[0]
        from pe_spectra.sources import build_encodings, has_option

        if self.timed and self.step and not has_option(self.encoding or default, "step", self.label):
            from pe_spectra.domains import Duration

            step = Duration().parse(self.step, "--step")
            return tuple(one.keep_step(step) for one in replace(self, step=None).build(*default))
        given = {name: getattr(self, name) for name in ("d", "rho", "rows", "start", "step")}
        texts: Mapping[str, Sequence[str]] = {
            name: [value] if isinstance(value, str) else parse_list(value, f"--{name}", lambda text, _: text)
            for name, value in given.items()
            if value
        }
        empty = [name for name, value in given.items() if value == ""]
        if empty:
            raise InputError(f"--{empty[0]} is empty", "''", "a number is accepted")
        encodings = build_encodings(list(self.encoding or default), texts, self.label)
        for encoding in encodings:
            if self.length is not None and encoding.rows is not None and self.length > encoding.rows:
                accepted = f"{encoding.label} has positions 0 to {encoding.rows - 1}"
                raise InputError("--length is beyond the rows of an encoding", str(self.length), accepted)
        return encodings

    def build_possible(self, *default: str) -> tuple[tuple[Encoding, ...], dict[str, str]]:
        """Build the encodings, and leave out those without the positions asked for, with why by their labels.

        Raises
        ------
        InputError, FileError : as :meth:`build`; also where none is left.

        >>> Subject(encoding=["ramp", "dft:d=8"], length=336).build_possible()
        ((Dft(d=8),), {'ramp d=1': 'left out: 80 positions, not 336'})
        """
        length = self.length
        if self.positions is not None:
            subject, places = self.locate(*default)
            return _sample(subject.build(*default), places)
        if length is None:
            return self.build(*default), {}
        from pe_spectra.encodings.codes import explain_absence

        encodings = replace(self, length=None).build(*default)
        missing = {e: reason for e in encodings if (reason := explain_absence(e, length))}
        if len(missing) == len(encodings):
            encoding, reason = next(iter(missing.items()))
            what, accepted = "--length is beyond the rows of an encoding", f"{encoding.label} has {reason}"
            raise InputError(what, str(length), accepted)
        kept = tuple(e for e in encodings if e not in missing)
        return kept, {e.label: f"left out: {reason}, not {length}" for e, reason in missing.items()}

    def locate(self, *default: str) -> tuple[Subject, GivenPositions]:
        """Read --positions; of times --start and --step are settled, where they are not typed by what a SPEC says.

        Returns
        -------
        The same without positions, with the start and the step that its encodings are to have; and the positions.
        """
        self.refuse_length()
        from pe_spectra.cli.positions import read_places
        from pe_spectra.sources import has_option
        from pe_spectra.spec import find_stated

        specs = list(self.encoding or default)
        typed = {name: getattr(self, name) or find_stated(specs, name, self.label) for name in ("start", "step")}
        places = read_places(self.positions or "", **typed)
        if not places.step:
            return replace(self, positions=None), places
        known = {name: getattr(places, name) for name in typed if has_option(specs, name, self.label)}
        return replace(self, positions=None, **{**dict.fromkeys(typed), **known}), places

    def refuse_length(self) -> None:
        """Refuse --length beside --positions."""
        if self.length is not None and self.positions is not None:
            raise InputError("--length and --positions exclude each other", str(self.length), "one of them")


def _sample(encodings: tuple[Encoding, ...], places: GivenPositions) -> tuple[tuple[Encoding, ...], dict[str, str]]:
    """Put encodings at real positions, those that have them, and say why of the others by their labels."""
    from pe_spectra.encodings import GivenArray
    from pe_spectra.encodings.sampled import Sampled, find_obstacle

    obstacles = {encoding: find_obstacle(encoding, places.times) for encoding in encodings}
    lines = {e: f"{found.what} ({found.given})" for e, found in obstacles.items() if found is not None}
    if len(lines) == len(encodings):
        first, *others = [found for found in obstacles.values() if found is not None]
        error = InputError(f"--positions: {first.what}", first.given, first.accepted)
        for one in others:
            error.add_note(f"error: --positions: {one.what} ({one.given}); {one.accepted}")
        raise error
    times = GivenArray(places.times, origin=places.origin)
    sampled = tuple(
        Sampled(encoding=e, times=times, start=places.start, step=places.step).remember(places.notes)
        for e in encodings
        if e not in lines
    )
    return sampled, {e.label: f"left out: {line}" for e, line in lines.items()}


def list_undecided(missing: Mapping[str, str]) -> list[tuple[str, str, dict[str, float | None]]]:
    """What may be demanded of encodings that were left out: nothing of them is decided.

    >>> list_undecided({"ramp d=1": "left out: 80 positions, not 336"})
    [('ramp d=1, left out', 'undecided', {})]
    """
    return [(f"{label}, left out", "undecided", {}) for label in missing]


def check_work(options: str, numbers: int, most: int) -> None:
    """Refuse what would take minutes or more memory than there is, before any of it is done."""
    if numbers > most:
        raise InputError(
            f"{options} together ask for too much", f"{numbers:.3g} numbers", f"at most {most} is accepted"
        )


def check_count(encodings: Sequence[Encoding]) -> None:
    """Refuse more encodings than one command analyses in time."""
    if len(encodings) > MAX_ANALYSED:
        raise InputError("too many encodings for one command", str(len(encodings)), f"at most {MAX_ANALYSED}")


def check_together(label: str, encodings: Sequence[Encoding], sizes: Sequence[int], least: int, most: int) -> None:
    """Refuse encodings that each would be accepted, but that together would take minutes.

    Parameters
    ----------
    sizes : number of positions of each.
    least : what a position costs at least, in numbers; the width, where that is more.
    most : numbers of all together.
    """
    from pe_spectra.encodings.codes import count_work

    check_count(encodings)
    numbers, pairs = count_work(encodings, sizes, least)
    check_work(label, numbers, most)
    check_work("all pairs of rows of these encodings", pairs, MAX_PAIR_WORK_TOGETHER)
