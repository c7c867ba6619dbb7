"""Arrays as bytes of a file: .npy, .csv, .tsv, .safetensors. Writing them is the writer's work."""

from __future__ import annotations

import io
import json
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

    >>> import numpy as np
    >>> about = {"name": "table", "index_name": "position", "columns": ["c0"], "metadata": {}}
    >>> encode_array(np.array([[0.5], [0.25]]), ".csv", index=np.arange(2), **about).decode().split()
    ['position,c0', '0,0.5', '1,0.25']
    """
    if suffix in (".csv", ".tsv"):
        return write_lines(values, index_name, index, columns, "," if suffix == ".csv" else "\t").encode()
    if suffix == ".safetensors":
        return _encode_safetensors(np.ascontiguousarray(values, dtype="<f8"), name, metadata)
    stream = io.BytesIO()
    whole = np.ascontiguousarray(values)
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(whole))
    return b"".join([stream.getvalue(), whole.data])  # one copy of what may be large


def _encode_safetensors(values: F64, name: str, metadata: Mapping[str, str]) -> bytes:
    """Write the format by hand: the library puts the texts of the header in another order at every run."""
    tensor = {"dtype": "F64", "shape": values.shape, "data_offsets": (0, values.nbytes)}
    header = json.dumps({"__metadata__": dict(metadata), name: tensor}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)  # the numbers begin at a multiple of their size
    return b"".join([len(header).to_bytes(8, "little"), header, values.data])


def write_lines(values: F64, index_name: str, index: I64 | F64, columns: Sequence[str], delimiter: str = ",") -> str:
    """Return the lines of a .csv file, with every digit.

    >>> write_lines(np.array([[0.5]]), "lag", np.array([3]), ["head0"])
    'lag,head0\\n3,0.5\\n'
    """
    lines = [delimiter.join([index_name, *columns])]
    for place, row in zip(index.tolist(), values, strict=True):
        lines.append(delimiter.join([repr(place), *map(repr, row.tolist())]))
    return "\n".join(lines) + "\n"
