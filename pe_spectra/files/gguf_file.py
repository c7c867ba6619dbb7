"""The .gguf format: the keys of a model and a few small tensors; the weights are never read.

The format's own library (gguf, of llama.cpp) maps the file and builds an object for each word of the
vocabulary, 16 s and 1.2 GB for 262,144 words, and trusts every size that it meets. Here the header is
read in 0.1 s, and a file that is cut off behind what is wanted will do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pe_spectra.errors import shorten
from pe_spectra.files.arrays import FileArray, Stored, Wanted, check_shape, format_shape, read_values
from pe_spectra.files.gguf_header import GgufHeader, GgufValue, read_header
from pe_spectra.files.reading import NoTableRefusedError, RefusedError, RegularFile, open_regular

#: Tensors that divide frequencies, and the one with a row for each position.
FACTORS = ("rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight")
POSITIONS = "position_embd.weight"
#: Numbers of a tensor that divides frequencies.
MAX_GGUF_FACTORS = 1 << 16

_READ_TYPES = {0: "float32", 1: "float16", 28: "float64", 30: "bfloat16"}
#: Names of types by their numbers, for messages. Source: ggml.h, ggml_type.
_TYPE_NAMES = {
    number: name
    for start, names in (
        (2, ("Q4_0", "Q4_1")),
        (6, ("Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "Q8_K")),
        (16, ("IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS")),
        (24, ("I8", "I16", "I32", "I64")),
        (29, ("IQ1_M",)),
        (34, ("TQ1_0", "TQ2_0")),
        (39, ("MXFP4", "NVFP4", "Q1_0")),
    )
    for number, name in enumerate(names, start)
}


@dataclass(frozen=True, kw_only=True)
class GgufFile:
    """What of a model's file tells how it encodes positions.

    Attributes
    ----------
    path : the file, as it was given.
    keys : see :class:`pe_spectra.files.gguf_header.GgufHeader`.
    factors : the numbers of the tensors that divide frequencies, by name.
    shapes : the shapes of these and of position_embd.weight, by name, slowest axis first.
    """

    path: Path
    keys: Mapping[str, GgufValue]
    factors: Mapping[str, tuple[float, ...]]
    shapes: Mapping[str, tuple[int, ...]]


def read_gguf(path: Path, label: str = "") -> GgufFile:
    """Read the keys and the small tensors of a .gguf file.

    Parameters
    ----------
    path : the file, as it was given; of a model in several parts, the first.
    label : the option that named the file, for messages; may be empty.

    Raises
    ------
    FileError : the file cannot be read, is damaged, or a tensor that is wanted is quantised.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "a.gguf").write_bytes(b"GGUF" + bytes([3, *[0] * 19]))  # version 3, and nothing
    ...     read_gguf(Path(folder) / "a.gguf").shapes
    {}
    """
    with open_regular(path, label=label) as file:
        header = read_header(file, (*FACTORS, POSITIONS))
        factors = {name: _read_factors(file, header, name) for name in FACTORS if name in header.tensors}
        shapes = {name: tensor.shape for name, tensor in header.tensors.items()}
        return GgufFile(path=path, keys=header.keys, factors=factors, shapes=shapes)


def read_gguf_table(file: RegularFile, wanted: Wanted) -> FileArray:
    """Read the table of positions of an open .gguf file, or one of the small tensors by its name.

    Raises
    ------
    RefusedError : a damaged file, a tensor that is not there or not read here, or is quantised.

    >>> from pe_spectra.errors import FileError
    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.files.tables import read_array
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "a.gguf").write_bytes(b"GGUF" + bytes([3, *[0] * 19]))  # version 3, and nothing
    ...     try:
    ...         read_array(Path(folder) / "a.gguf")
    ...     except FileError as error:
    ...         print(error.reason.partition(";")[0])
    has no tensor position_embd.weight that is read here
    """
    header = read_header(file, (*FACTORS, POSITIONS))
    name = wanted.tensor or POSITIONS
    if name not in header.tensors:
        reason = f"has no tensor {shorten(name)} that is read here; {', '.join((POSITIONS, *FACTORS))} are"
        raise NoTableRefusedError(reason)
    return _read_tensor(file, header, name, wanted)


def _read_factors(file: RegularFile, header: GgufHeader, name: str) -> tuple[float, ...]:
    shape = header.tensors[name].shape
    if math.prod(shape) > MAX_GGUF_FACTORS:
        raise RefusedError(
            f"tensor {name} has too many numbers ({format_shape(shape)}); {MAX_GGUF_FACTORS} are accepted"
        )
    found = _read_tensor(file, header, name, Wanted(tensor=name, axes=(1,), pick=False))
    return tuple(float(value) for value in found.values)


def _read_tensor(file: RegularFile, header: GgufHeader, name: str, wanted: Wanted) -> FileArray:
    tensor = header.tensors[name]
    if tensor.kind not in _READ_TYPES:
        given = _TYPE_NAMES.get(tensor.kind, f"number {tensor.kind}")
        raise RefusedError(f"tensor {shorten(name)} is of type {given}; F32, F16, BF16 and F64 are accepted")
    stored = Stored(shape=tensor.shape, dtype=_READ_TYPES[tensor.kind])
    check_shape(stored.shape, wanted.axes)
    place = header.start + tensor.offset
    if place + stored.size > file.size:
        raise RefusedError(f"is cut off: tensor {shorten(name)} ends at byte {place + stored.size} of {file.size}")

    def read(count: int) -> bytes:
        nonlocal place
        data = file.read_at(place, count)
        place += len(data)
        return data

    values, notes = read_values(read, stored, wanted)
    return FileArray(values=values, dtype=stored.dtype, tensor=name, path=file.path, notes=notes)
