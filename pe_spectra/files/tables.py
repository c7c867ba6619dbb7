"""Arrays out of files of any kind: what a file is said to be, what it is, and who reads it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pe_spectra.files import npy, npz
from pe_spectra.files.arrays import FileArray, Wanted
from pe_spectra.files.checkpoint import PICKLE_SUFFIXES, explain_pickle, read_folder, read_shards
from pe_spectra.files.csv_table import read_csv_table
from pe_spectra.files.gguf_file import read_gguf_table
from pe_spectra.files.reading import RefusedError, RegularFile, open_regular
from pe_spectra.files.safetensors_file import read_safetensors

#: Kinds of files by the end of their names.
_KINDS = {
    ".npy": "npy",
    ".npz": "zip",
    ".csv": "csv",
    ".tsv": "tsv",
    ".safetensors": "safetensors",
    ".json": "json",
    ".gguf": "gguf",
}
#: Kinds that the first bytes betray.
_MAGICS = {
    npy.MAGIC: "npy",
    **dict.fromkeys(npz.MAGICS, "zip"),
    b"GGUF": "gguf",
    b"\x89HDF\r\n\x1a\n": "HDF5",
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"PAR1": "Parquet",
    b"\x1f\x8b": "gzip",
    b"%PDF": "PDF",
    **{bytes([0x80, version]): "pickle" for version in range(2, 6)},
}
_NAMES = {
    "npy": "a NumPy array (.npy)",
    "zip": "a zip archive (.npz)",
    "safetensors": "a .safetensors file",
    "gguf": "a GGUF file",
    "pickle": "a pickle, which can run code",
    "PNG": "a picture (PNG)",
}
_ACCEPTED = ".npy, .npz, .csv, .tsv, .safetensors, .safetensors.index.json and a model's folder are accepted"


def read_array(
    path: Path,
    tensor: str | None = None,
    *,
    label: str = "",
    axes: tuple[int, ...] = (2,),
    pick: bool = True,
    only_known: bool = False,
    complex_too: bool = False,
) -> FileArray:
    """Read one array from a file, or from a model's folder.

    Parameters
    ----------
    path : the file or folder, as it was given.
    tensor : the name of the array in it; None takes the only one that fits, or by `pick`.
    label : the option that named the file, for messages; may be empty.
    axes : how many axes it may have, once leading axes of length 1 are left out.
    pick : whether, of several, the one with the known name of a position table is taken, and a table of
        words never.
    only_known : whether nothing but what has such a name is taken.
    complex_too : whether complex numbers are taken beside real ones, from .npy and .npz.

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
    wanted = Wanted(tensor=tensor, axes=axes, pick=pick, only_known=only_known, complex_too=complex_too)
    if is_folder(path):
        return read_folder(path, wanted, label)
    with open_regular(path, label=label) as file:
        return _read(file, wanted)


def is_folder(path: Path) -> bool:
    """Whether there is a folder of this name; a name that cannot be is none.

    >>> is_folder(Path(".")), is_folder(Path("no such folder"))
    (True, False)
    """
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _read(file: RegularFile, wanted: Wanted) -> FileArray:
    suffix = file.path.suffix.lower()
    if suffix in PICKLE_SUFFIXES:
        raise RefusedError(explain_pickle(file.path))
    if file.size == 0:
        raise RefusedError("is empty (0 bytes)")
    found, named = _identify(file), _KINDS.get(suffix)
    if found is not None and named is not None and found != named:
        raise RefusedError(f"is named {suffix}, but is {_NAMES.get(found, f'a file of {found}')}; {_ACCEPTED}")
    kind = named or found
    if kind == "npy":
        return npy.read_npy(file, wanted)
    if kind == "zip":
        return npz.read_npz(file, wanted)
    if kind == "safetensors":
        return read_safetensors(file, wanted)
    if kind in ("csv", "tsv"):
        return read_csv_table(file, wanted, "," if kind == "csv" else "\t")
    if kind == "json":
        return read_shards(file, wanted)
    if kind == "gguf":
        return read_gguf_table(file, wanted)
    raise RefusedError(f"is {_NAMES.get(kind, f'a file of {kind}') if kind else 'of an unknown kind'}; {_ACCEPTED}")


def _identify(file: RegularFile) -> str | None:
    """Give the kind that the first bytes betray; None where they could be anything."""
    start = file.read_at(0, 16)
    for magic, kind in _MAGICS.items():
        if start.startswith(magic):
            return kind
    length = int.from_bytes(start[:8], "little")
    if start[8:9] == b"{" and 2 <= length <= file.size - 8 and start[6:8] == b"\0\0":
        return "safetensors"
    return None
