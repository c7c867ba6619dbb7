"""What a port really computes, as it was written to a file: inverse frequencies, or a cache of cosines and sines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pe_spectra.errors import shorten
from pe_spectra.files.arrays import FileArray, format_count
from pe_spectra.files.npz import list_npz
from pe_spectra.files.reading import RefusedError, open_regular
from pe_spectra.files.safetensors_file import read_entries
from pe_spectra.files.tables import read_array

#: Axes of what is looked for: frequencies; cosines and sines of positions; with axes for batch or parts.
_AXES = (1, 2, 3)
#: Ends of the names that implementations give them; of a pair, cosines and sines.
_SINGLE = ("inv_freq", "original_inv_freq", "cos_sin_cache", "freqs_cis")
_PAIRS = (("cos_cached", "sin_cached"), ("cos_cache", "sin_cache"), ("cosines", "sines"), ("cos", "sin"))


def read_rotary_dump(path: Path, tensor: str | None = None, label: str = "") -> tuple[FileArray, FileArray | None]:
    """Read a dump of inverse frequencies, or of cosines and sines, from a file.

    Parameters
    ----------
    path : .npy, .csv, .npz or .safetensors; complex numbers, cos + i sin, in the first and the third.
    tensor : the name of one array, of cosines or sines that of either; None takes those with known names,
        else the only one that fits.
    label : the option that named the file, for messages; may be empty.

    Returns
    -------
    One array and None, or cosines and sines. Complex numbers have a last axis of 2 for their parts.

    Raises
    ------
    FileError : no such file, a damaged one, no array that is known, or several that it could be.

    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "inv_freq.npy", np.array([1.0, 0.01]))
    ...     found, sines = read_rotary_dump(Path(folder) / "inv_freq.npy")
    >>> found.values.tolist(), sines
    ([1.0, 0.01], None)
    """
    names = _list_names(path, label)
    single = _find(names, _SINGLE) if tensor is None else []
    if single:
        return _remark(_read(path, single[0], label), single), None
    pairs = _pair_up(names)
    if tensor is not None:
        pairs = [pair for pair in pairs if tensor in pair]
    if pairs:
        cosines, sines = (_read(path, name, label) for name in pairs[0])
        return _remark(cosines, [pair[0] for pair in pairs]), sines
    return _read(path, tensor, label), None


def _read(path: Path, tensor: str | None, label: str) -> FileArray:
    found = read_array(path, tensor, label=label, axes=_AXES, complex_too=True)
    if not found.dtype.startswith("complex"):
        return found
    # axes of length 1 beside rows and pairs say nothing, and one for a single pair does not either
    shape = list(found.values.shape[:-1])
    while 1 in shape and (len(shape) > 2 or shape[1:] == [1]):
        shape.remove(1)
    return replace(found, values=found.values.reshape(*shape, 2))


def _list_names(path: Path, label: str) -> tuple[str, ...]:
    if path.suffix.lower() not in (".npz", ".safetensors"):
        return ()
    with open_regular(path, label=label) as file:
        if file.size == 0:
            raise RefusedError("is empty (0 bytes)")
        return list_npz(file) if path.suffix.lower() == ".npz" else tuple(read_entries(file)[0])


def _find(names: tuple[str, ...], ends: tuple[str, ...]) -> list[str]:
    """The names whose last part is one of the known ones."""
    return sorted(name for name in names if name.rsplit(".", 1)[-1].rsplit("/", 1)[-1] in ends)


def _pair_up(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """The names of cosines, each with that of the sines beside it, of the first kind that there is."""
    for cosines, sines in _PAIRS:
        both = [(name, f"{name.removesuffix(cosines)}{sines}") for name in _find(names, (cosines,))]
        found = [(left, right) for left, right in both if right in names]
        if found:
            return found
    return []


def _remark(found: FileArray, names: list[str]) -> FileArray:
    if len(names) == 1:
        return found
    note = f"{shorten(names[0])} is read, the first of {format_count(len(names), 'array')} of such a name"
    return replace(found, notes=(*found.notes, note))
