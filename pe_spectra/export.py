"""What was analysed, as an array that can be exported: a table, frequencies, a kernel or a bias; and its bytes."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from pathlib import PurePath
from typing import Any

import numpy as np

from pe_spectra.encodings import (
    Encoding,
    HasBias,
    HasBiasMap,
    HasFrequencies,
    HasKernel,
    HasLagTable,
    HasTable,
)
from pe_spectra.encodings.codes import find_codes, list_places
from pe_spectra.encodings.sampled import read_table_at
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, NDArray, sin_cos
from pe_spectra.quantities import ReadOnly
from pe_spectra.records import dataclass
from pe_spectra.spectrum.kernels import Kernel, check_length, describe_average, estimate_kernel

#: Ends of the names of files that an array can be written to.
SUFFIXES = (".npy", ".csv", ".tsv", ".safetensors", ".npz")
#: Of these, files that hold several arrays by their names.
ARCHIVES = (".safetensors", ".npz")
#: Types of numbers as a .safetensors file names them.
_STORED = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Exported(ReadOnly):
    """An array of an encoding.

    Attributes
    ----------
    encoding : where it is from.
    what : "table", "frequencies", "kernel", "bias" or "cos-sin".
    index_name : what a row stands for: "position", "lag" or "index".
    index : (rows,) the positions, lags or numbers of the rows.
    columns : a name for each column.
    values : (rows, columns) float64.
    averaged : of a kernel that is an average, the positions or lags that it was averaged over; else empty.
    resized : of a table that was interpolated, from which size to which, and how; else empty.
    """

    encoding: Encoding
    what: str
    index_name: str
    index: I64 | F64
    columns: tuple[str, ...]
    values: F64
    averaged: str = ""
    resized: str = ""


def list_exports(encoding: Encoding) -> tuple[str, ...]:
    """Return what can be exported of an encoding, in the order in which `export` prefers it.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> list_exports(Sinusoidal()), list_exports(read_encoding("alibi"))
    (('table', 'frequencies', 'kernel'), ('bias', 'kernel'))
    """
    has = {
        "bias": isinstance(encoding, HasBias | HasBiasMap),
        "table": isinstance(encoding, HasTable | HasLagTable),
        "frequencies": isinstance(encoding, HasFrequencies),
        "kernel": isinstance(encoding, HasTable | HasKernel | HasBias | HasBiasMap | HasLagTable)
        and encoding.shape is None,
        "cos-sin": isinstance(encoding, HasFrequencies) and encoding.family == "rotary" and encoding.shape is None,
    }
    return tuple(name for name, there in has.items() if there)


def export_encoding(
    encoding: Encoding, what: str | None = None, *, length: int | None = None, positions: F64 | None = None
) -> Exported:
    """Return one array of an encoding, as the analyses see it.

    Parameters
    ----------
    what : "table" (a row for each position, or lag), "frequencies" (frequency, mass, phase), "kernel" or
        "bias" (a row for each lag, of either sign where both occur, and a column for each head; a bias
        that is not a function of the lag has a row for each query and a column for each head and key), or
        "cos-sin" (of a rotation a row for each position: the cosines of all channels, then the sines, as its
        layout pairs them, times its attention scaling).
        Default the first that it has.
    length : number of positions; default all rows of a table, else 80 (256 for encodings of lags).
    positions : real positions, for the table of an encoding that takes them; whole ones of any table.

    Raises
    ------
    InputError : something that the encoding has not.

    >>> from pe_spectra import Sinusoidal
    >>> export_encoding(Sinusoidal(d=4), "frequencies").values[:, 0]
    array([1.  , 0.01])
    """
    offered = list_exports(encoding)
    chosen = what or (*offered, "")[0]
    if chosen not in offered:
        raise InputError(
            f"{encoding.label} has no {chosen or 'array'} to export", accepted=f"it has {', '.join(offered)}"
        )
    if positions is not None:
        if chosen != "table":
            raise InputError(f"{encoding.label} has no {chosen} at real positions", accepted="integers: --length")
        return _build(encoding, chosen, "position", positions.copy(), "c", read_table_at(encoding, positions))
    if chosen == "frequencies" and isinstance(encoding, HasFrequencies):
        found = encoding.frequencies()
        values = np.stack([found.values, found.masses, found.phases], axis=1)
        return _build(encoding, chosen, "index", np.arange(len(values)), ("frequency", "mass", "phase"), values)
    size = check_length(encoding, length)
    if chosen == "cos-sin" and isinstance(encoding, HasFrequencies):
        columns, values = _list_waves(encoding, size)
        return _build(encoding, chosen, "position", np.arange(size), columns, values)
    codes = find_codes(encoding)
    if chosen == "bias" and isinstance(encoding, HasBiasMap):
        maps = encoding.bias_map(size)
        names = tuple(f"head{h}key{k}" for h in range(len(maps)) for k in range(size))
        rows = maps.transpose(1, 0, 2).reshape(size, -1)
        return _build(encoding, chosen, "position", np.arange(size), names, rows)
    if chosen == "kernel" or codes is None:
        return _export_kernel(encoding, size)
    places = np.sort(list_places(encoding, size))
    column = "head" if chosen == "bias" else "c"
    return _build(encoding, chosen, encoding.domain.removesuffix("s"), places, column, codes.at(places))


def export_rows(encoding: Encoding, table: F64, *, resized: str) -> Exported:
    """Return rows that were made of an encoding's table, to be written as one.

    Parameters
    ----------
    table : (rows, d). resized : from which size to which, and how.

    >>> from pe_spectra import Sinusoidal
    >>> export_rows(Sinusoidal(d=2), np.ones((2, 2)), resized="1 to 2, nearest").columns
    ('c0', 'c1')
    """
    return replace(_build(encoding, "table", "position", np.arange(len(table)), "c", table), resized=resized)


def count_exported(encoding: Encoding, what: str | None, length: int) -> int:
    """Return how many numbers :func:`export_encoding` would give, without computing any of them.

    Of frequencies the most that there may be: one for each column.

    >>> from pe_spectra import Sinusoidal
    >>> count_exported(Sinusoidal(d=4), None, 80)
    320
    """
    chosen = what or (*list_exports(encoding), "")[0]
    width = int(getattr(encoding, "d", 1))
    if chosen == "frequencies":
        return 3 * width
    if chosen == "bias" and not isinstance(encoding, HasBias):
        return encoding.kernel_count * length * length
    if chosen == "cos-sin":
        return 2 * width * length
    rows = 2 * length - 1 if _has_two_sides(encoding) else length
    return rows * (width if chosen == "table" else encoding.kernel_count)


def check_suffix(path: PurePath, label: str) -> str:
    """Return the ending of a file that an array can be written to.

    Raises
    ------
    InputError : another ending.

    >>> check_suffix(PurePath("a.NPY"), "--output")
    '.npy'
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{label} is no name of a file for an array", str(path), f"{', '.join(SUFFIXES)} are accepted")
    return suffix


def encode_exported(found: Exported, suffix: str) -> bytes:
    """Return the bytes of a file with what was exported.

    Parameters
    ----------
    suffix : one of `SUFFIXES`; .csv and .tsv have one header line and the index in their first column.

    >>> from pe_spectra import Sinusoidal
    >>> encode_exported(export_encoding(Sinusoidal(d=2), length=1), ".csv").decode().split()
    ['position,c0,c1', '0,0.0,1.0']
    """
    if suffix in (".csv", ".tsv"):
        return write_lines(found, "," if suffix == ".csv" else "\t").encode()
    if suffix in ARCHIVES:
        metadata = {"encoding": found.encoding.spec, "what": found.what}
        metadata |= {"resized": found.resized} if found.resized else {}
        return _encode_archive({found.what: found.values}, suffix, metadata)
    stream = io.BytesIO()
    whole = np.ascontiguousarray(found.values)
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(whole))
    return b"".join([stream.getvalue(), whole.data])  # one copy of what may be large


def encode_kinds(found: Mapping[str, Exported], suffix: str) -> bytes:
    """Return the bytes of a file with the same of several kinds of layers, each array named KIND.WHAT.

    Parameters
    ----------
    found : by the name of the kind, in their order. suffix : one of `ARCHIVES`.

    >>> from pe_spectra import Rope
    >>> kinds = {name: export_encoding(Rope(d=4, base=base), "frequencies") for name, base in (("a", 1e4), ("b", 1e6))}
    >>> encode_kinds(kinds, ".safetensors")[8:].split(b'"')[1::2][5:7]
    [b'a.frequencies', b'dtype']
    """
    arrays = {f"{name}.{one.what}": one.values for name, one in found.items()}
    return _encode_archive(arrays, suffix, {name: one.encoding.spec for name, one in found.items()})


def write_lines(found: Exported, delimiter: str = ",") -> str:
    """Return the lines of a .csv file with what was exported, with every digit.

    >>> from pe_spectra import Sinusoidal
    >>> write_lines(export_encoding(Sinusoidal(d=2), length=1))
    'position,c0,c1\\n0,0.0,1.0\\n'
    """
    lines = [delimiter.join([found.index_name, *found.columns])]
    for place, row in zip(found.index.tolist(), found.values, strict=True):
        lines.append(delimiter.join([repr(place), *map(repr, row.tolist())]))
    return "\n".join(lines) + "\n"


def encode_safetensors(arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> bytes:
    """Return the bytes of a .safetensors file with arrays by name, each in its own type.

    It is written by hand: the library orders the texts of its header anew at every run.

    Parameters
    ----------
    arrays : of float64, float32, float16, bfloat16 or int64. metadata : texts by name.

    >>> encode_safetensors({"a": np.ones(1)}, {})[8:].split(b'"')[7:10]
    [b'F64', b',', b'shape']
    """
    whole = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    ends = list(accumulate((values.nbytes for values in whole.values()), initial=0))
    tensors = {
        name: {"dtype": _STORED[values.dtype.name], "shape": values.shape, "data_offsets": (start, end)}
        for (name, values), start, end in zip(whole.items(), ends, ends[1:], strict=False)
    }
    header = json.dumps({"__metadata__": dict(metadata), **tensors}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)  # the numbers begin at a multiple of their size
    # types that NumPy does not have give no buffer of their own
    parts = (values.reshape(-1).view(np.uint8).data for values in whole.values())
    return b"".join([len(header).to_bytes(8, "little"), header, *parts])


def _encode_archive(arrays: Mapping[str, F64], suffix: str, metadata: Mapping[str, str]) -> bytes:
    if suffix == ".npz":
        stream, named = io.BytesIO(), dict[str, Any](arrays)
        np.savez(stream, **named)
        return stream.getvalue()
    return encode_safetensors(arrays, metadata)


def _build(
    encoding: Encoding, what: str, index_name: str, index: I64 | F64, columns: str | tuple[str, ...], values: F64
) -> Exported:
    names = columns if isinstance(columns, tuple) else tuple(f"{columns}{i}" for i in range(values.shape[1]))
    return Exported(encoding=encoding, what=what, index_name=index_name, index=index, columns=names, values=values)


def _list_waves(encoding: HasFrequencies, size: int) -> tuple[tuple[str, ...], F64]:
    """Names and values of the cosines and sines of a rotation, as models cache them: each pair twice, in its layout."""
    found = encoding.frequencies()
    sines, cosines = sin_cos(np.stack([found.values, found.low, np.zeros(len(found.values))]), np.arange(size))
    interleaved = getattr(encoding, "layout", "half") == "interleaved"
    order = np.arange(len(found.values)).repeat(2) if interleaved else np.tile(np.arange(len(found.values)), 2)
    columns = tuple(f"{name}{i}" for name in ("cos", "sin") for i in range(len(order)))
    return columns, found.amplitude * np.hstack([cosines[:, order], sines[:, order]])


def _has_two_sides(encoding: Encoding) -> bool:
    return isinstance(encoding, HasBias | HasBiasMap | HasLagTable) and not encoding.causal


def _export_kernel(encoding: Encoding, size: int) -> Exported:
    two_sided = _has_two_sides(encoding)
    lags = np.arange(1 - size if two_sided else 0, size)
    if two_sided and isinstance(encoding, HasBias | HasBiasMap):
        values = _exponentiate_bias(encoding, lags)
        source, length = ("exp-bias", None) if isinstance(encoding, HasBias) else ("bias-map", size)
    else:
        kernel = estimate_kernel(encoding, length=size, count=size)
        values = _read_kernel(encoding, kernel)[np.abs(lags)]  # a mean of dot products is even in the lag
        source, length = kernel.source, kernel.length
    averaged = describe_average(encoding, source, length)
    return replace(_build(encoding, "kernel", "lag", lags, "head", values), averaged=averaged)


def _read_kernel(encoding: Encoding, kernel: Kernel) -> F64:
    with np.errstate(over="ignore", under="ignore"):
        values = kernel.values.T * kernel.scale * kernel.scale
    if not np.isfinite(values).all() or not np.any(values) == np.any(kernel.values):
        raise InputError(f"{encoding.label} has a kernel beyond the range of float64", accepted="its table")
    return values


def _exponentiate_bias(encoding: HasBias | HasBiasMap, lags: I64) -> F64:
    """The kernel exp(b) of a bias at lags of both signs, relative to the largest of each head; (L, heads)."""
    if isinstance(encoding, HasBias):
        bias = encoding.bias(lags)
        values: F64 = np.exp(bias - bias.max(axis=1, keepdims=True)).T
        return values
    maps = encoding.bias_map(len(lags) // 2 + 1)
    maps = np.exp(maps - maps.max(axis=(1, 2), keepdims=True))
    # a row is a query, and a lag is query minus key
    return np.array([np.diagonal(maps, -lag, axis1=1, axis2=2).mean(axis=1) for lag in lags])
