"""What commands read from their options before any work: encodings, lengths, bandwidths, positions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pe_spectra.errors import FileError, InputError
from pe_spectra.limits import (
    MAX_ANALYSED,
    MAX_BANDWIDTH,
    MAX_LENGTH,
    MAX_MODEL_LENGTH,
    MAX_PAIR_WORK,
    MAX_PAIR_WORK_TOGETHER,
    MAX_STREAMED_ENTRIES,
    MIN_BANDWIDTH,
    MIN_LENGTH,
)
from pe_spectra.numbers import Choice, IntegerRange, RealRange, parse_integers, parse_reals
from pe_spectra.spec import FileSpec, parse_spec, split_list
from pe_spectra.vocabulary import BOUNDARIES, FINDING_LEVELS, Level

if TYPE_CHECKING:
    from pe_spectra.encodings import Encoding
    from pe_spectra.spectrum import Spectrum

_BANDWIDTH = RealRange(minimum=MIN_BANDWIDTH, maximum=MAX_BANDWIDTH)
_LENGTH = IntegerRange(minimum=MIN_LENGTH, maximum=MAX_LENGTH)
_MODEL_LENGTH = IntegerRange(minimum=1, maximum=MAX_MODEL_LENGTH)
_DEFAULT_S = (5, 40, 75)
#: What a position whose separation is measured costs at least, in columns, whatever the width.
_MEASURED_WIDTH = 512


def read_model_length(text: str | None, label: str) -> int | None:
    """Read --trained or --served; None where it was not given."""
    return None if text is None else _MODEL_LENGTH.parse(text, label)


def read_level(text: str | None) -> Level | None:
    """Read --fail-on."""
    if text is None:
        return None
    return FINDING_LEVELS[FINDING_LEVELS.index(Choice(members=FINDING_LEVELS).parse(text, "--fail-on"))]


def find_lattice(encoding: Encoding, length: int | None) -> int:
    """Return the lattice length of an encoding; on a grid the shorter side."""
    from pe_spectra.spectrum.density import check_grid

    return min(encoding.shape) if encoding.shape is not None else check_grid(encoding, None, length)


def read_bandwidths(texts: Sequence[str] | None) -> tuple[float | None, ...]:
    """Read --bandwidth; one None, for each encoding's own, where it was not given."""
    return parse_reals(list(texts), "--bandwidth", _BANDWIDTH) if texts else (None,)


def read_boundary(text: str | None) -> str:
    """Read --boundary; that of the paper where it was not given."""
    return BOUNDARIES[0] if text is None else Choice(members=BOUNDARIES).parse(text, "--boundary")


def note_boundary(typed: str | None, spectra: Sequence[Spectrum]) -> tuple[str, ...]:
    """A note on each encoding whose kernel is reflected although `none` was asked for."""
    others = dict.fromkeys(s.encoding.label for s in spectra if typed == "none" and s.boundary != typed)
    return tuple(f"{label}: --boundary none has no effect, for its spectrum is always reflected" for label in others)


def read_positions(
    texts: Sequence[str] | None, encodings: Sequence[Encoding], grid: int | None, length: int | None
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Read --s within the shortest lattice, and a note where the default does not fit it.

    Raises
    ------
    InputError : no positions, or some beyond a lattice.

    >>> from pe_spectra import Dft
    >>> read_positions(["0:80:40"], [Dft(d=256)], None, None), read_positions(None, [Dft(d=256)], 64, None)[0]
    (((0, 40), ()), (5, 40, 63))
    """
    lattices = [grid or find_lattice(encoding, length) for encoding in encodings]
    points = min(lattices)
    if texts:
        owner = encodings[lattices.index(points)].label
        reason = "" if points == max(lattices) else f"for {owner} has a lattice of {points} points"
        bounds = IntegerRange(minimum=0, maximum=points - 1, reason=reason)
        return parse_integers(list(texts), "--s", bounds), ()
    clipped = tuple(dict.fromkeys(min(position, points - 1) for position in _DEFAULT_S))
    if clipped == _DEFAULT_S:
        return clipped, ()
    return clipped, (f"the default positions 5 40 75 do not fit a lattice of {points} points, so they are clipped",)


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
    from pe_spectra.encodings import HasFrequencies, HasTable

    check_count(encodings)
    widths = [int(getattr(encoding, "d", 1)) for encoding in encodings]
    check_work(label, sum(s * max(d, least) for s, d in zip(sizes, widths, strict=True)), most)
    pairs = [
        min(s * s * d, MAX_PAIR_WORK)
        for encoding, s, d in zip(encodings, sizes, widths, strict=True)
        if isinstance(encoding, HasTable) and not isinstance(encoding, HasFrequencies)
    ]
    check_work("all pairs of rows of these encodings", sum(pairs), MAX_PAIR_WORK_TOGETHER)


def check_measured(encodings: Sequence[Encoding], sizes: Sequence[int]) -> None:
    """Refuse what `faithfulness` could not measure in time.

    Raises
    ------
    InputError : so many encodings, or so many positions of them together.

    >>> from pe_spectra import Sinusoidal
    >>> check_measured([Sinusoidal(d=1048576)], [1048576])
    Traceback (most recent call last):
        ...
    pe_spectra.errors.InputError: --d and --length together ask for too much (1.1e+12 numbers); at most 8589934592 is \
accepted
    """
    check_together("--d and --length", encodings, sizes, _MEASURED_WIDTH, MAX_STREAMED_ENTRIES)


def count_points(encodings: Sequence[Encoding], grid: int | None) -> int:
    """Return the points of all lattices together."""
    return sum(grid or e.default_grid for e in encodings)


def refuse_overwriting(outputs: Mapping[str, Path | None], texts: Sequence[str]) -> None:
    """Refuse an output that is a file which the command reads, however both are spelled: by ./, by a link.

    Parameters
    ----------
    outputs : option -> where its file goes, or None.
    texts : what options and arguments name that may be a SPEC or a file.

    Raises
    ------
    FileError : an output is an input.
    """
    present = [(option, place) for option, place in outputs.items() if place is not None and os.path.exists(place)]
    for text in texts if present else ():
        for path in _list_files(text):
            for option, place in present:
                if _is_same(place, Path(path).expanduser()):
                    raise FileError(place, f"is read by this command ({option}); another file is accepted")


def _list_files(text: str) -> Iterator[str]:
    """What a SPEC may read: its file, the files that its parameters name, and those of SPECs in it."""
    yield text
    try:
        spec = parse_spec(text)
    except InputError:
        return  # refused in its turn, if it is a SPEC at all
    if isinstance(spec, FileSpec):
        yield spec.path
        return
    for _, value in spec.raw:
        for part in split_list(value):
            yield from _list_files(part)


def _is_same(output: Path, source: Path) -> bool:
    """Whether an output is a file that is read, or one of the files of a model that is read."""
    try:
        whole_model = source.is_dir() or source.name.endswith(".index.json")
        if whole_model and output.resolve().parent == (source if source.is_dir() else source.parent).resolve():
            return output.is_file()
        return os.path.samefile(output, source)
    except (OSError, ValueError):
        return False  # not there, or no possible name
