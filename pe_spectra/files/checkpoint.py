"""Checkpoints: a folder with weights and a configuration, an index of shards, and pickles, which are refused."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pe_spectra.errors import FileError, shorten
from pe_spectra.files.arrays import FileArray, Wanted
from pe_spectra.files.json_file import read_json, read_object
from pe_spectra.files.known_tables import choose_tensor, find_known_name
from pe_spectra.files.reading import (
    NoTableRefusedError,
    RefusedError,
    RegularFile,
    describe_failure,
    open_regular,
    with_label,
)
from pe_spectra.files.safetensors_file import read_entries, read_safetensors
from pe_spectra.limits import MAX_SHARDS, MAX_TENSOR_INDEX_BYTES

#: What is looked for in a folder, the first that is there.
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
_CONFIGURATION = "config.json"
_PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt", "model.pth")
PICKLE_SUFFIXES = (".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt")
#: No separator, no drive, no folder above: a shard lies beside its index.
_SHARD = re.compile(r"[^/\\:\0]+\.safetensors")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,60}")


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """What a folder of a model holds.

    Attributes
    ----------
    folder : the folder, as it was given.
    weights : its .safetensors file, or the index of its shards; None if there is neither.
    config : its config.json; None if there is none.
    pickle : weights in a pickle, where there are no others; None if there are none.
    """

    folder: Path
    weights: Path | None
    config: Path | None
    pickle: Path | None


def find_checkpoint(folder: Path, label: str = "") -> Checkpoint:
    """Find the weights and the configuration in a folder, by the names that transformers gives them.

    Without those names, the one .safetensors file that there is, is the weights.

    Parameters
    ----------
    folder : the folder, as it was given.
    label : the option that named the folder, for messages; may be empty.

    Raises
    ------
    FileError : the folder is missing, not readable, or no folder.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "model.safetensors").write_bytes(b"")
    ...     find_checkpoint(Path(folder)).weights.name
    'model.safetensors'
    """
    try:
        names = set(os.listdir(folder))
    except (OSError, ValueError) as error:
        reason = describe_failure(error) if isinstance(error, OSError) else "is no possible name of a folder"
        raise FileError(folder, with_label(reason, label)) from error
    weights = next((name for name in _WEIGHTS if name in names), None)
    if weights is None:
        others = [name for name in names if name.endswith(".safetensors")]
        weights = others[0] if len(others) == 1 else None
    pickle = next((name for name in _PICKLES if name in names), None) if weights is None else None
    return Checkpoint(
        folder=folder,
        weights=folder / weights if weights else None,
        config=folder / _CONFIGURATION if _CONFIGURATION in names else None,
        pickle=folder / pickle if pickle else None,
    )


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
    path = find_checkpoint(place, label).config if place.is_dir() else place
    if path is None or path.suffix != ".json" or path.name.endswith(".index.json"):
        return None
    return read_json(path, label)


def read_folder(folder: Path, wanted: Wanted, label: str) -> FileArray:
    """Read one tensor of the checkpoint in a folder.

    Raises
    ------
    NoTableError : it has no weights, or no table of positions among them.
    FileError : anything else that is wrong with it.

    >>> from tempfile import TemporaryDirectory
    >>> header = b'{"wpe.weight": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}'
    >>> with TemporaryDirectory() as folder:
    ...     data = len(header).to_bytes(8, "little") + header + bytes(8)
    ...     written = (Path(folder) / "model.safetensors").write_bytes(data)
    ...     read_folder(Path(folder), Wanted(tensor=None, axes=(2,), pick=True), "").tensor
    'wpe.weight'
    """
    found = find_checkpoint(folder, label)
    if found.weights is not None:
        with open_regular(found.weights, label=label) as file:
            if found.weights.name.endswith(".json"):
                return read_shards(file, wanted)
            return read_safetensors(file, wanted)
    if found.pickle is not None:
        with open_regular(found.pickle, label=label):
            raise RefusedError(explain_pickle(found.pickle))
    reason = f"is a folder (directory) without weights; {' or '.join(_WEIGHTS)} is looked for"
    raise NoTableRefusedError.becomes(folder, with_label(reason, label))


def read_shards(file: RegularFile, wanted: Wanted) -> FileArray:
    """Read one tensor of a checkpoint that is spread over several files, given the open index.

    Raises
    ------
    RefusedError, FileError : a damaged index or shard, a shard outside the index's folder, or no tensor
        that is wanted, or several.

    >>> from tempfile import TemporaryDirectory
    >>> from pe_spectra.files.tables import read_array
    >>> header = b'{"wpe.weight": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}'
    >>> with TemporaryDirectory() as folder:
    ...     data = len(header).to_bytes(8, "little") + header + bytes(8)
    ...     written = (Path(folder) / "shard.safetensors").write_bytes(data)
    ...     index = Path(folder) / "model.safetensors.index.json"
    ...     written = index.write_text('{"weight_map": {"wpe.weight": "shard.safetensors"}}')
    ...     read_array(index).values.tolist()
    [[0.0, 0.0]]
    """
    places = _read_places(read_object(file, MAX_TENSOR_INDEX_BYTES))
    if wanted.tensor is None:
        name, notes = _choose(file, places, wanted)
    else:
        name, notes = choose_tensor(dict.fromkeys(places, ()), wanted)
    one = Wanted(tensor=name, axes=wanted.axes, pick=False)
    with open_regular(file.path.parent / places[name], label=file.label) as shard:
        found = read_safetensors(shard, one)
    return FileArray(values=found.values, dtype=found.dtype, tensor=name, path=found.path, notes=(*notes, *found.notes))


def explain_pickle(path: Path) -> str:
    """Say why a pickle is refused, and the one line that converts it.

    >>> explain_pickle(Path("a/model.bin"))[:74]
    'is a pickle, which can run code when it is read; where you trust it, conve'
    """
    is_plain = _PLAIN_NAME.fullmatch(path.name) is not None and path.suffix != ".json"
    name = path.name if is_plain else "FILE.pt"
    line = (
        "import torch, safetensors.torch as s; "
        f"t = torch.load('{name}', map_location='cpu', weights_only=True); "
        "s.save_file({k: v.clone().contiguous() for k, v in t.items() if torch.is_tensor(v)}, 'model.safetensors')"
    )
    return f'is a pickle, which can run code when it is read; where you trust it, convert it: python -c "{line}"'


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


def _choose(file: RegularFile, places: dict[str, str], wanted: Wanted) -> tuple[str, tuple[str, ...]]:
    """Choose a tensor from the shapes in the shards' headers: of those with known names if there are any."""
    known = {name: shard for name, shard in places.items() if find_known_name(name)} if wanted.pick else {}
    shapes: dict[str, tuple[int, ...]] = {}
    for shard in sorted(set((known or places).values())):
        with open_regular(file.path.parent / shard, label=file.label) as opened:
            entries, _ = read_entries(opened)
        shapes |= {name: entry.shape for name, entry in entries.items() if places.get(name) == shard}
    return choose_tensor({name: shapes[name] for name in places if name in shapes}, wanted)
