"""Checkpoints: a folder with weights and a configuration, an index of shards, and pickles, which are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pe_spectra.errors import shorten
from pe_spectra.files.arrays import FileArray, Wanted
from pe_spectra.files.json_toml import parse_object, read_json
from pe_spectra.files.known_tables import find_known_name
from pe_spectra.files.reading import (
    PICKLE_SUFFIXES,
    NoTableError,
    NoTableRefusedError,
    RefusedError,
    RegularFile,
    explain_pickle,
    list_folder,
    open_regular,
    with_label,
)
from pe_spectra.files.safetensors_file import Safetensors
from pe_spectra.files.tensors import Tensors
from pe_spectra.limits import MAX_SHARDS, MAX_TENSOR_INDEX_BYTES

#: What is looked for in a folder, the first that is there.
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
_CONFIGURATION = "config.json"
_PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt", "model.pth")
#: No separator, no drive, no folder above: a shard lies beside its index.
_SHARD = re.compile(r"[^/\\:\0]+\.safetensors")


def find_configuration(place: Path, label: str = "") -> dict[str, Any] | None:
    """Read the configuration in a model's folder, or the one that a file is.

    Parameters
    ----------
    place : a folder or a file, as it was given.
    label : the option that named it, for messages; may be empty.

    Returns
    -------
    The object; None where the folder has no config.json, and for an index of shards or another kind of file.

    Raises
    ------
    FileError : the folder, or the configuration in it, cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "config.json").write_text('{"rope_theta": 5e5}')
    ...     find_configuration(Path(folder))
    {'rope_theta': 500000.0}
    """
    if place.is_dir():
        return read_json(place / _CONFIGURATION, label) if _CONFIGURATION in list_folder(place, label) else None
    is_index = place.name.endswith(".index.json")
    return read_json(place, label) if place.suffix == ".json" and not is_index else None


def find_weights(folder: Path, label: str) -> Path:
    """Find the weights in a folder, by the names that transformers gives them, else the one .safetensors file.

    Raises
    ------
    NoTableError : it has no weights.
    FileError : the folder cannot be read, or its weights are a pickle.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "model.safetensors").write_bytes(b"")
    ...     find_weights(Path(folder), "").name
    'model.safetensors'
    """
    names = list_folder(folder, label)
    others = [name for name in names if name.endswith(".safetensors")]
    weights = _find_first(_WEIGHTS, names) or (others[0] if len(others) == 1 else None)
    if weights is not None:
        return folder / weights
    pickle = _find_first(_PICKLES, names)
    if pickle is not None:
        with open_regular(folder / pickle, label=label):
            raise RefusedError(explain_pickle(folder / pickle))
    reason = f"is a folder (directory) without weights; {' or '.join(_WEIGHTS)} is looked for"
    raise NoTableError(folder, with_label(reason, label))


def _find_first(wanted: Sequence[str], names: Sequence[str]) -> str | None:
    return next((name for name in wanted if name in names), None)


class Shards(Tensors):
    """The tensors of a checkpoint that is spread over several files, given its open index."""

    def __init__(self, file: RegularFile) -> None:
        self._file = file
        self._places = _read_places(parse_object(file.read_at(0, MAX_TENSOR_INDEX_BYTES + 1), MAX_TENSOR_INDEX_BYTES))
        self.names = self._places

    def measure(self, wanted: Wanted) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the shards' headers have: of tensors with known names if there are any."""
        if wanted.tensor is not None:
            return dict.fromkeys(self._places, ())
        known = {name: shard for name, shard in self._places.items() if find_known_name(name)}
        shapes: dict[str, tuple[int, ...]] = {}
        for shard in sorted(set((known or self._places).values())):
            with open_regular(self._file.path.parent / shard, label=self._file.label) as opened:
                found = Safetensors(opened).measure(wanted)
            shapes |= {name: shape for name, shape in found.items() if self._places.get(name) == shard}
        return {name: shapes[name] for name in self._places if name in shapes}

    def read(self, name: str, wanted: Wanted) -> FileArray:
        """Read one tensor from the shard that the index places it in."""
        with open_regular(self._file.path.parent / self._places[name], label=self._file.label) as shard:
            return Safetensors(shard).take(replace(wanted, tensor=name))


def _read_places(index: dict[str, Any]) -> dict[str, str]:
    """Give the file of every tensor; all of them plain names of .safetensors files."""
    places = index.get("weight_map")
    if not isinstance(places, dict):
        raise NoTableRefusedError("is a configuration and holds no table; a .safetensors.index.json has a weight_map")
    known: set[str] = set()
    for name, shard in places.items():
        if isinstance(shard, str) and shard in known:
            continue
        if not isinstance(shard, str) or not _SHARD.fullmatch(shard):
            raise RefusedError(_explain_place(name, shard))
        known.add(shard)
    if len(known) > MAX_SHARDS:
        raise RefusedError(f"is spread over {len(known)} files; at most {MAX_SHARDS} are accepted")
    return places


def _explain_place(name: str, shard: object) -> str:
    if isinstance(shard, str) and shard.endswith(PICKLE_SUFFIXES):
        return f"leads to {shorten(shard)}, which {explain_pickle(Path(shard))}"
    what = f"places {shorten(name)} in {shorten(str(shard))}"
    return f"{what}; the plain name of a .safetensors file beside it is accepted"
