"""The real positions of --positions: a range, a file of numbers, or times, which start and step make positions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_LENGTH, MAX_POSITION
from pe_spectra.numbers import RealRange
from pe_spectra.records import dataclass

if TYPE_CHECKING:
    from pe_spectra.exact import F64, I64

_TIME = RealRange(minimum=-float(MAX_POSITION), maximum=float(MAX_POSITION))
_KINDS = ("npy", "csv", "tsv", "txt", "parquet")
_ACCEPTED = (
    "A:B:C (from A by C, end excluded) or a file with one column of numbers or ISO times, or FILE::COLUMN, is accepted"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenPositions:
    """Real positions, and where they were times what position 0 is, and a step, and what a reader should know."""

    times: F64
    origin: str
    start: str = ""
    step: str = ""
    notes: tuple[str, ...] = ()


def read_places(text: str, start: str | None = None, step: str | None = None) -> GivenPositions:
    """Read what --positions names; times are counted in steps from the start.

    Parameters
    ----------
    start, step : as they were typed; None for the first time, and for the usual distance of the times.

    Raises
    ------
    InputError : an empty range, a step of 0, a position beyond +-2**53, or more of them than are accepted.
    FileError : a file that cannot be read; times that are missing, repeated or out of order.

    >>> read_places("0:1:0.25").times
    array([0.  , 0.25, 0.5 , 0.75])
    """
    parts = text.split(":")
    if len(parts) == 3 and "::" not in text and not any(part.endswith(_KINDS) for part in parts):
        return GivenPositions(times=_read_range(text, parts), origin=text)
    if not text or ("." not in text and "/" not in text):
        what = "has no step" if len(parts) == 2 else "is no range"
        raise InputError(f"--positions {what}", text or "''", _ACCEPTED)
    import numpy as np

    from pe_spectra.files.position_files import POSITION_FILES, read_position_file

    name, separator, column = text.rpartition("::") if "::" in text else (text, "", "")
    if not name.lower().endswith(POSITION_FILES) or (separator and not column):
        raise InputError("--positions is no file of a kind that is read here", text, _ACCEPTED)
    found = read_position_file(Path(name).expanduser(), column or None, label="--positions")
    if found.moments is not None:
        return _count_steps(found.moments, start, step, origin=text, zoned=found.zoned)
    values = np.empty(0) if found.numbers is None else found.numbers
    if values.ndim == 2 and 1 not in values.shape:
        raise InputError(f"--positions has shape {values.shape}", text, _ACCEPTED)
    times: F64 = values.ravel()
    for value in times[~(np.abs(times) <= MAX_POSITION)][:1].tolist():
        _TIME.check(value, "--positions")
    return GivenPositions(times=times, origin=text)


def _read_range(text: str, parts: list[str]) -> F64:
    import numpy as np

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


def _count_steps(moments: I64, start: str | None, step: str | None, *, origin: str, zoned: bool) -> GivenPositions:
    """Count times, in microseconds since 1970, in steps: whole numbers where they lie on whole steps, exactly."""
    import numpy as np

    from pe_spectra.domains import Duration, Moment, read_duration, read_months

    distances = np.sort(np.diff(moments))
    usual = f"{int(distances[(len(distances) - 1) // 2])}us" if len(distances) else "1h"
    first = str(np.datetime64(int(moments[0]), "us").astype("datetime64[s]"))
    begin = Moment().parse(start or first, "--start")
    times = _count_months(moments, begin, 1) if step is None and len(moments) > 2 else None
    if times is not None:
        months = int(np.gcd.reduce(times.astype(np.int64)))
        usual, times = f"{months}month", times / months
    length = Duration().parse(step or usual, "--step")
    if times is None and read_months(length):
        times = _count_months(moments, begin, read_months(length))
        if times is None:
            raise InputError(f"--positions has times that are no whole steps of {length}", origin, f"from {begin}")
    if times is None:
        zero = int(np.datetime64(begin, "us").astype(np.int64))
        size = read_duration(length) * 10**6
        counted = [divmod((moment - zero) * size.denominator, size.numerator) for moment in moments.tolist()]
        times = np.array([whole + rest / size.numerator for whole, rest in counted])
    for value in times[~(np.abs(times) <= MAX_POSITION)][:1].tolist():
        _TIME.check(value, "--positions")
    notes = (f"--positions: times are counted in steps of {length} from {begin}{', in UTC' if zoned else ''}",)
    return GivenPositions(times=times, origin=origin, start=begin, step=length, notes=notes)


def _count_months(moments: I64, begin: str, months: int) -> F64 | None:
    """Times in whole steps of months of the calendar; None where one is none of these."""
    import numpy as np

    from pe_spectra.domains import compute_moments

    dates = moments.astype("datetime64[us]")
    passed = (dates.astype("datetime64[M]") - np.datetime64(begin, "M")).astype(np.int64)
    counts = passed // months
    if counts.min() < 0 or (compute_moments(begin, f"{months}month", counts) != dates).any():
        return None
    return counts.astype(np.float64)
