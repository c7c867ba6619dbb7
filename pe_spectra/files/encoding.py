"""Arrays as bytes of a file: .npy, .csv, .tsv, .safetensors. Writing them is the writer's work."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import PurePath

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64

SUFFIXES = (".npy", ".csv", ".tsv", ".safetensors")


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


def encode_array(
    values: F64,
    suffix: str,
    *,
    name: str,
    index_name: str,
    index: I64 | F64,
    columns: Sequence[str],
    metadata: Mapping[str, str],
) -> bytes:
    """Return the bytes of a file with a table of numbers.

    Parameters
    ----------
    values : (rows, columns).
    suffix : one of `SUFFIXES`; .csv and .tsv have one header line and the index in their first column.
    name : the tensor's name in a .safetensors file.
    metadata : texts for the header of a .safetensors file.
    """
    if suffix in (".csv", ".tsv"):
        return write_lines(values, index_name, index, columns, "," if suffix == ".csv" else "\t").encode()
    if suffix == ".safetensors":
        from safetensors.numpy import save

        return bytes(save({name: np.ascontiguousarray(values)}, dict(metadata)))
    stream = io.BytesIO()
    whole = np.ascontiguousarray(values)
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(whole))
    return b"".join([stream.getvalue(), whole.data])  # one copy of what may be large


def write_lines(values: F64, index_name: str, index: I64 | F64, columns: Sequence[str], delimiter: str = ",") -> str:
    """Return the lines of a .csv file, with every digit.

    >>> write_lines(np.array([[0.5]]), "lag", np.array([3]), ["head0"])
    'lag,head0\\n3,0.5\\n'
    """
    lines = [delimiter.join([index_name, *columns])]
    for place, row in zip(index.tolist(), values, strict=True):
        lines.append(delimiter.join([repr(place), *map(repr, row.tolist())]))
    return "\n".join(lines) + "\n"
