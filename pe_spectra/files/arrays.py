"""Arrays as files store them: what types and shapes are accepted, and how they become float64."""

from __future__ import annotations

import math
from typing import IO, Any

import numpy as np

from pe_spectra.exact import F64, NDArray
from pe_spectra.files.reading import RefusedError
from pe_spectra.limits import MAX_AXES, MAX_COLUMNS, MAX_HELD_ENTRIES, MAX_POSITION
from pe_spectra.records import dataclass
from pe_spectra.wording import count

ACCEPTED_TYPES = "float16, bfloat16, float32, float64 and integers are accepted"
#: Bits of a number, of the types that NumPy does not have: ml_dtypes decodes them.
_FOREIGN = {"bfloat16": 16, "float4_e2m1fn": 4} | dict.fromkeys(
    ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"), 8
)
#: Bytes that are turned into float64 at a time: a whole number of every type.
_CHUNK = 1 << 20
_WIDE_INTEGERS = ("int64", "uint64")


@dataclass(frozen=True, kw_only=True, eq=False)
class FileArray:
    """An array that was read from a file.

    Attributes
    ----------
    values : float64, C order, read-only, finite unless missing ones are wanted, too; leading axes of length 1 are
        left out. Complex numbers, where they are wanted, have a last axis of 2 for their parts; dates stay dates.
    dtype : the type it was stored in, as in float16; `text` where it was written in digits.
    tensor : its name in the file; None where the file has no names.
    notes : what a reader should know, each a sentence.
    """

    values: F64
    dtype: str
    tensor: str | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is wanted of a file.

    Attributes
    ----------
    tensor : the name of one tensor; None leaves the choice to what the file holds.
    axes : how many axes it may have.
    only_known : whether nothing but what has the known name of a position table is taken, for something else
        is known to be meant.
    complex_too : whether complex numbers are taken beside real ones, from .npy and .npz.
    missing_too : whether cells that are not finite are taken, as values that are missing, from .npy and .npz.
    dates_too : whether dates are taken beside numbers, from .npy and .npz, where missing ones are.
    """

    tensor: str | None = None
    axes: tuple[int, ...] = (2,)
    only_known: bool = False
    complex_too: bool = False
    missing_too: bool = False
    dates_too: bool = False

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape has the axes that are wanted."""
        return len(shape) <= MAX_AXES and len(_squeeze(shape, self.axes)) in self.axes

    def refuse_name(self, what: str) -> None:
        """Refuse a name where the file has none."""
        if self.tensor is not None:
            raise RefusedError(f"{what} holds one array without a name; leave ::{self.tensor[:60]} out")


@dataclass(frozen=True, kw_only=True)
class Stored:
    """How one array lies in a file: its shape, its type as NumPy or ml_dtypes names it, the order of bytes and axes."""

    shape: tuple[int, ...]
    dtype: str
    big_endian: bool = False
    fortran: bool = False

    @property
    def size(self) -> int:
        """Bytes that it takes, as an exact integer: what a header claims may not fit 64 bits."""
        return math.prod(self.shape) * self.bits // 8

    @property
    def bits(self) -> int:
        """Bits of one number."""
        return _FOREIGN.get(self.dtype) or 8 * np.dtype(self.dtype).itemsize

    @property
    def is_date(self) -> bool:
        """Whether it holds moments of time."""
        return self.dtype.startswith("datetime64")

    @property
    def is_complex(self) -> bool:
        """Whether its numbers have two parts."""
        return self.dtype.startswith("complex")


def _squeeze(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """Leave out leading axes of length 1, as far as there are more axes than wanted."""
    while len(shape) > max(axes) and shape[0] == 1:
        shape = shape[1:]
    return shape


def format_shape(shape: tuple[int, ...]) -> str:
    """Write a shape in words.

    >>> format_shape((197, 768)), format_shape((3,)), format_shape(())
    ('197 x 768', '3', 'a single number')
    """
    sizes = [str(n) if n < 10**20 else f"{float(n):.0e}" for n in shape[:8]]
    return " x ".join(sizes + [".."] * (len(shape) > 8)) or "a single number"


def check_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """Give the shape without leading axes of length 1, or refuse it; nothing is allocated.

    Raises
    ------
    RefusedError : too many axes, not as many as are wanted, an empty one, or too many numbers.

    >>> check_shape((1, 96, 8), (2,))
    (96, 8)
    """
    if len(shape) > MAX_AXES:
        raise RefusedError(f"has {len(shape)} axes; at most {MAX_AXES} are accepted")
    squeezed = _squeeze(shape, axes)
    if len(squeezed) not in axes:
        what = (
            f"{count(len(shape), 'axis', 'axes')} (shape {format_shape(shape)})"
            if shape
            else "no axes (a single number)"
        )
        raise RefusedError(f"has {what}; an array of {' or '.join(map(str, axes))} is accepted")
    if 0 in squeezed:
        raise RefusedError(f"is empty (shape {format_shape(shape)})")
    if math.prod(squeezed) > MAX_HELD_ENTRIES:
        raise RefusedError(
            f"has too many numbers (shape {format_shape(shape)}); at most {MAX_HELD_ENTRIES} are accepted"
        )
    if len(squeezed) == 2 and squeezed[1] > MAX_COLUMNS:
        raise RefusedError(f"has {squeezed[1]} columns; at most {MAX_COLUMNS} are accepted")
    return squeezed


def read_stored(
    stream: IO[bytes], stored: Stored, wanted: Wanted, *, tensor: str | None = None, end: int | None = None
) -> FileArray:
    """Turn the bytes of an array into float64, a piece at a time.

    Beside the result no more than a few pieces of 1 MiB are held: a table of float16 takes four
    times its own bytes, and no copy of those.

    Parameters
    ----------
    stream : the file, at the first byte of the array.
    stored : how the array lies there.
    wanted : how many axes it may have.
    tensor : its name in the file, if it has one.
    end : the byte at which the array has to end; None where its size was compared with the file's already.

    Raises
    ------
    RefusedError : a shape that is not accepted, bytes too few or too many, a cell that is not finite.

    >>> import io
    >>> data = io.BytesIO(np.array([1, 2], dtype=np.int16).tobytes())
    >>> read_stored(data, Stored(shape=(1, 2), dtype="int16"), Wanted()).values
    array([[1., 2.]])
    """
    shape = check_shape(stored.shape, wanted.axes)
    if end is not None:
        check_length(stored.size, end - stream.tell())
    if stored.is_complex:
        values = np.empty(check_shape((*shape, 2), (len(shape) + 1,)), dtype=np.float64)
        beyond = _fill(values.view(np.complex128)[..., 0], stream, stored)
    else:
        values = np.empty(shape, dtype=stored.dtype if stored.is_date else np.float64)
        beyond = _fill(values, stream, stored)
    if not wanted.missing_too:
        check_finite(values)
    values.flags.writeable = False
    notes = []
    if shape != stored.shape:
        notes.append(f"shape {format_shape(stored.shape)} read as {format_shape(shape)}")
    if beyond:
        notes.append(f"integers beyond 2**53 were rounded to float64 ({count(beyond, 'cell')})")
    return FileArray(values=values, dtype=stored.dtype, tensor=tensor, notes=tuple(notes))


def check_length(claimed: int, found: int) -> None:
    """Compare the bytes that a header claims with the bytes that there are.

    Raises
    ------
    RefusedError : fewer, or more.

    >>> check_length(16, 12)
    Traceback (most recent call last):
        ...
    pe_spectra.files.reading.RefusedError: is cut off: its header claims 16 bytes of data, it has 12
    """
    if found < claimed:
        raise RefusedError(f"is cut off: its header claims {claimed} bytes of data, it has {found}")
    if found > claimed:
        raise RefusedError(f"has {count(found - claimed, 'byte')} behind its data")


def check_finite(values: F64, first_line: int | None = None) -> None:
    """Refuse the first cell, in the order of rows, that is not finite.

    Raises
    ------
    RefusedError : there is one; row and column count from 0, lines of a text from `first_line`.

    >>> check_finite(np.array([[1.0, 2.0], [3.0, np.nan]]))
    Traceback (most recent call last):
        ...
    pe_spectra.files.reading.RefusedError: row 1, column 1 is nan; finite numbers are accepted
    """
    flat = values.reshape(-1)
    for start in range(0, flat.size, _CHUNK):
        finite = np.isfinite(flat[start : start + _CHUNK])
        if not finite.all():
            index = start + int(np.argmin(finite))
            place = [int(n) for n in np.unravel_index(index, values.shape)]
            cell = f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"entry {', '.join(map(str, place))}"
            line = "" if first_line is None else f"line {first_line + place[0]}: "
            raise RefusedError(f"{line}{cell} is {flat[index]}; finite numbers are accepted")


def _fill(values: NDArray[Any], stream: IO[bytes], stored: Stored) -> int:
    """Fill the array in the order of the file; count the integers that float64 may not hold."""
    # the columns of a file in Fortran order are the rows of the transposed array
    flat = values.T.flat if stored.fortran else values.reshape(-1)
    start, beyond = 0, 0
    while start < values.size:
        size = min(_CHUNK, (values.size - start) * stored.bits // 8)
        raw = stream.read(size)
        if len(raw) != size:
            raise RefusedError("ends before its data do")
        part = _decode(raw, stored)
        if stored.dtype in _WIDE_INTEGERS:
            beyond += int(np.count_nonzero((part > MAX_POSITION) | (part < -MAX_POSITION if part.min() < 0 else False)))
        with np.errstate(all="ignore"):  # a signalling NaN; every NaN is refused in the end
            flat[start : start + part.size] = part.astype(values.dtype)
        start += part.size
    return beyond


def _decode(raw: bytes, stored: Stored) -> NDArray[Any]:
    bits = _FOREIGN.get(stored.dtype, 0)
    word = np.dtype(np.uint16 if bits == 16 else np.uint8 if bits else stored.dtype)
    numbers: NDArray[Any] = np.frombuffer(raw, dtype=word.newbyteorder(">" if stored.big_endian else "<"))
    if bits:
        import ml_dtypes

        if bits == 4:  # two in a byte, the first in its low bits, as PyTorch and ONNX pack them
            numbers = np.stack([numbers & 15, numbers >> 4], axis=1).reshape(-1)
        numbers = numbers.astype(word).view(getattr(ml_dtypes, stored.dtype))
    return numbers
