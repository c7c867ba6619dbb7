"""Arrays out of files of any kind: what a file is said to be, what it is, and who reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pe_spectra.files.arrays import FileArray, Wanted
from pe_spectra.files.checkpoint import Shards, find_weights
from pe_spectra.files.csv_table import read_csv_table
from pe_spectra.files.gguf_file import GgufTensors
from pe_spectra.files.numpy_files import NPY_MAGIC, NPZ_MAGICS, Npz, read_npy
from pe_spectra.files.reading import (
    GGUF_MAGIC,
    PICKLE_SUFFIXES,
    RefusedError,
    RegularFile,
    explain_pickle,
    open_regular,
)
from pe_spectra.files.safetensors_file import Safetensors
from pe_spectra.files.tensors import Tensors
from pe_spectra.records import NamedTuple


class _Kind(NamedTuple):
    """A kind of files: how messages call one, the first bytes that betray it, and what reads it if anything does."""

    shown: str
    starts: tuple[bytes, ...] = ()
    read: Callable[[RegularFile, Wanted], FileArray] | None = None


def _take_from(container: Callable[[RegularFile], Tensors]) -> Callable[[RegularFile, Wanted], FileArray]:
    return lambda file, wanted: container(file).take(wanted)


#: Kinds that are read, by the end of their names.
_KINDS = {
    ".npy": _Kind("a NumPy array (.npy)", (NPY_MAGIC,), read_npy),
    ".npz": _Kind("a zip archive (.npz)", NPZ_MAGICS, _take_from(Npz)),
    ".csv": _Kind("a text", (), partial(read_csv_table, delimiter=",")),
    ".tsv": _Kind("a text", (), partial(read_csv_table, delimiter="\t")),
    ".safetensors": _Kind("a .safetensors file", (), _take_from(Safetensors)),
    ".json": _Kind("an index of shards", (), _take_from(Shards)),
    ".gguf": _Kind("a GGUF file", (GGUF_MAGIC,), _take_from(GgufTensors)),
}
#: Kinds that are not.
_OTHERS = (
    _Kind("a file of HDF5", (b"\x89HDF\r\n\x1a\n",)),
    _Kind("a picture (PNG)", (b"\x89PNG\r\n\x1a\n",)),
    _Kind("a file of Parquet", (b"PAR1",)),
    _Kind("a file of gzip", (b"\x1f\x8b",)),
    _Kind("a file of PDF", (b"%PDF",)),
    _Kind("a pickle, which can run code", tuple(bytes([0x80, version]) for version in range(2, 6))),
)
_ACCEPTED = ".npy, .npz, .csv, .tsv, .safetensors, .safetensors.index.json and a model's folder are accepted"


def read_array(
    path: Path,
    tensor: str | None = None,
    *,
    label: str = "",
    axes: tuple[int, ...] = (2,),
    only_known: bool = False,
    complex_too: bool = False,
) -> FileArray:
    """Read one array from a file, or from a model's folder.

    Parameters
    ----------
    path : the file or folder, as it was given.
    tensor : the name of the array in it; None takes the only one that fits, or the one with a known name.
    label : the option that named the file, for messages; may be empty.
    axes, only_known, complex_too : as :class:`Wanted` says.

    Returns
    -------
    The array as float64, all finite, with the type it was stored in, its name, and notes.

    Raises
    ------
    NoTableError : a checkpoint or configuration without a table of positions.
    FileError : anything else; one line that names the file and says why.

    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "a.npy", np.eye(2, dtype=np.float16)[None])
    ...     found = read_array(Path(folder) / "a.npy")
    >>> found.values.shape, found.dtype
    ((2, 2), 'float16')
    """
    wanted = Wanted(tensor=tensor, axes=axes, only_known=only_known, complex_too=complex_too)
    place = find_weights(path, label) if os.path.isdir(path) else path
    with open_regular(place, label=label) as file:
        return _read(file, wanted)


def list_arrays(path: Path, label: str) -> tuple[str, ...]:
    """List the names of the arrays in a .npz or .safetensors file; none for any other.

    Raises
    ------
    FileError : the file cannot be read, or is damaged.

    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "two.npz", a=np.eye(2), b=np.eye(3))
    ...     list_arrays(Path(folder) / "two.npz", label="")
    ('a', 'b')
    """
    container = {".npz": Npz, ".safetensors": Safetensors}.get(path.suffix.lower())
    if container is None:
        return ()
    with open_regular(path, label=label) as file:
        if file.size == 0:
            raise RefusedError("is empty (0 bytes)")
        return tuple(container(file).names)


def _read(file: RegularFile, wanted: Wanted) -> FileArray:
    suffix = file.path.suffix.lower()
    if suffix in PICKLE_SUFFIXES:
        raise RefusedError(explain_pickle(file.path))
    if file.size == 0:
        raise RefusedError("is empty (0 bytes)")
    found, named = _identify(file), _KINDS.get(suffix)
    if found is not None and named is not None and found != named:
        raise RefusedError(f"is named {suffix}, but is {found.shown}; {_ACCEPTED}")
    kind = named or found
    if kind is None or kind.read is None:
        raise RefusedError(f"is {kind.shown if kind else 'of an unknown kind'}; {_ACCEPTED}")
    return kind.read(file, wanted)


def _identify(file: RegularFile) -> _Kind | None:
    """Give the kind that the first bytes betray; None where they could be anything."""
    start = file.read_at(0, 16)
    for kind in (*_KINDS.values(), *_OTHERS):
        if start.startswith(kind.starts):
            return kind
    length = int.from_bytes(start[:8], "little")
    if start[8:9] == b"{" and 2 <= length <= file.size - 8 and start[6:8] == b"\0\0":
        return _KINDS[".safetensors"]
    return None
