"""What a command is about: encodings and positions as they were typed; how they are read, and how much is too much."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pe_spectra.errors import InputError
from pe_spectra.limits import (
    MAX_ANALYSED,
    MAX_LENGTH,
    MAX_PAIR_WORK_TOGETHER,
    MAX_POSITION,
)
from pe_spectra.numbers import RealRange, parse_list, quote
from pe_spectra.records import dataclass

if TYPE_CHECKING:
    from pe_spectra.encodings import Encoding
    from pe_spectra.exact import F64

_TIME = RealRange(minimum=-float(MAX_POSITION), maximum=float(MAX_POSITION))
_FILES = (".npy", ".npz", ".csv", ".tsv", ".safetensors")
_ACCEPTED = "A:B:C (from A by C, end excluded) or a .npy or .csv file with one column of numbers is accepted"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Encodings or files, what fills in their parameters, and where they are looked at: all as it was typed.

    `label` is what names the encodings on the command line.
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

    def build(self, *default: str) -> tuple[Encoding, ...]:
        """Build the encodings that are named, or the default ones, at real positions where these are given.

        Raises
        ------
        InputError, FileError : as :func:`pe_spectra.sources.build_encodings` says; --length beside --positions or
            beyond the rows of an encoding, or an encoding that takes integers only.

        >>> Subject(encoding=["dft"], d="8").build()
        (Dft(d=8),)
        """
        from pe_spectra.sources import build_encodings

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
        return encodings if self.positions is None else self._sample(encodings, self.positions)

    def build_at_length(self, *default: str) -> tuple[tuple[Encoding, ...], dict[str, str]]:
        """Build the encodings, and leave out those that have fewer positions than --length, with why by their labels.

        Raises
        ------
        InputError, FileError : as :meth:`build`; also where none is left.

        >>> Subject(encoding=["ramp", "dft:d=8"], length=336).build_at_length()
        ((Dft(d=8),), {'ramp d=1': 'left out: 80 positions, not 336'})
        """
        length = self.length
        if length is None:
            return self.build(*default), {}
        from pe_spectra.metrics.common_ground import explain_absence

        self.refuse_length()
        encodings = replace(self, length=None).build(*default)
        missing = {e: reason for e in encodings if (reason := explain_absence(e, length))}
        if len(missing) == len(encodings):
            encoding, reason = next(iter(missing.items()))
            what, accepted = "--length is beyond the rows of an encoding", f"{encoding.label} has {reason}"
            raise InputError(what, str(length), accepted)
        kept = tuple(e for e in encodings if e not in missing)
        return kept, {e.label: f"left out: {reason}, not {length}" for e, reason in missing.items()}

    def _sample(self, encodings: tuple[Encoding, ...], positions: str) -> tuple[Encoding, ...]:
        """Put encodings at real positions."""
        self.refuse_length()
        from pe_spectra.encodings import GivenArray, HasContinuousTable
        from pe_spectra.encodings.sampled import Sampled

        whole = next((encoding.label for encoding in encodings if not isinstance(encoding, HasContinuousTable)), None)
        if whole is not None:
            accepted = f"--length gives it integers, in place of {quote(positions)}"
            raise InputError("--positions: this encoding takes no real positions", whole, accepted)
        times = GivenArray(read_times(positions), origin=positions)
        return tuple(Sampled(encoding=encoding, times=times) for encoding in encodings)

    def refuse_length(self) -> None:
        """Refuse --length beside --positions."""
        if self.length is not None and self.positions is not None:
            raise InputError("--length and --positions exclude each other", str(self.length), "one of them")


def list_undecided(missing: Mapping[str, str]) -> list[tuple[str, str, dict[str, float | None]]]:
    """What may be demanded of encodings that were left out: nothing of them is decided.

    >>> list_undecided({"ramp d=1": "left out: 80 positions, not 336"})
    [('ramp d=1, left out', 'undecided', {})]
    """
    return [(f"{label}, left out", "undecided", {}) for label in missing]


def read_times(text: str) -> F64:
    """Read the real positions of --positions: `0:10:0.25`, half-open, or a file.

    Raises
    ------
    InputError : an empty range, a step of 0, a position beyond +-2**53, or more of them than are accepted.
    FileError : a file that cannot be read.

    >>> read_times("0:1:0.25")
    array([0.  , 0.25, 0.5 , 0.75])
    """
    import numpy as np

    parts = text.split(":")
    if len(parts) == 3 and not any(part.endswith(("npy", "csv", "tsv")) for part in parts):
        start, stop, step = (_TIME.parse(part, "--positions") for part in parts)
        if not step > 0 or not stop > start:
            raise InputError("--positions is an empty range", text, _ACCEPTED)
        if not (stop - start) / step <= MAX_LENGTH:
            raise InputError("--positions lists too many positions", text, f"at most {MAX_LENGTH}")
        from fractions import Fraction

        # as decimals: in float64, 2.1/0.7 is more than 3
        first, end, each = (Fraction(repr(value)) for value in (start, stop, step))
        count = math.ceil((end - first) / each)
        times: F64 = start + step * np.arange(count, dtype=np.float64)
        return times[times < stop]
    if not text or ("." not in text and "/" not in text):
        what = "has no step" if len(parts) == 2 else "is no range"
        raise InputError(f"--positions {what}", text or "''", _ACCEPTED)
    if not text.lower().endswith(_FILES):
        raise InputError("--positions is no file of a kind that is read here", text, _ACCEPTED)
    from pe_spectra.files.tables import read_array

    found = read_array(Path(text).expanduser(), None, label="--positions", axes=(1, 2)).values
    if found.ndim == 2 and 1 not in found.shape:
        raise InputError(f"--positions has shape {found.shape}", text, _ACCEPTED)
    times = found.ravel()
    for value in times[~(np.abs(times) <= MAX_POSITION)][:1].tolist():
        _TIME.check(value, "--positions")
    return times


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
