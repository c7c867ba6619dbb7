"""The file that tells what a model is: found by a path, in a folder, on standard input, or in the local cache.

Nothing is fetched: a name such as org/model is looked up in the cache of Hugging Face only, whose
layout is that of huggingface_hub, "Understand caching" in its documentation.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pe_spectra.errors import QUOTED_CHARACTERS, FileError, InputError
from pe_spectra.files.json_toml import parse_object, read_json
from pe_spectra.files.reading import (
    GGUF_MAGIC,
    PICKLE_SUFFIXES,
    RefusedError,
    explain_pickle,
    list_folder,
    naming,
    open_regular,
    read_bytes,
    with_label,
)
from pe_spectra.limits import MAX_CONFIGURATION_BYTES
from pe_spectra.records import dataclass

if TYPE_CHECKING:
    from pe_spectra.files.gguf_file import GgufFile

Kind = Literal["config.json", "params.json", "gguf", "table"]

#: What stands for standard input, and what messages call it.
STANDARD_INPUT, _STANDARD_INPUT_NAME = "-", "standard input"
_SUFFIXES: dict[str, Kind] = {
    ".json": "config.json",
    ".gguf": "gguf",
    **dict.fromkeys((".npy", ".npz", ".csv", ".tsv", ".safetensors"), "table"),
}
_CONFIGURATIONS: tuple[Literal["config.json", "params.json"], ...] = ("config.json", "params.json")
#: Of a model in several parts the first has the keys; projectors of pictures are no models.
_LATER_PART = r".*-(?!00001-)[0-9]{5}-of-[0-9]{5}\.gguf"
_PROJECTOR = "mmproj"
#: Keys of params.json in Meta's releases, and those that only files of transformers and of diffusers have.
_META_KEYS, _OTHER_KEYS = {"dim", "n_heads", "n_layers"}, {"model_type", "architectures", "hidden_size", "_class_name"}
#: A name on the Hub; in the cache its slash is --, so that it has none of these.
_HUB_NAME = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,95}/[A-Za-z0-9_][A-Za-z0-9._-]{0,95}"
_SNAPSHOT = r"[0-9a-f]{7,64}"
_REFERENCE_BYTES = 256


@dataclass(frozen=True, kw_only=True)
class ModelFile:
    """The file of one model, not yet read.

    Attributes
    ----------
    path : the file; None for standard input.
    kind : config.json (of Hugging Face models), params.json (of Meta's releases; a file of another name is
        told apart when it is read), gguf, or table: an array, of the frequencies or of positions.
    shown : its name in answers: as it was given, in a folder the file.
    tensor : the array in a table that was named by ::, None where none was.
    label : the option that named it, for messages; may be empty.
    """

    path: Path | None
    kind: Kind
    shown: str
    tensor: str | None = None
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class ModelContent:
    """What a model's file says about it.

    Attributes
    ----------
    kind : see :class:`ModelFile`; never table.
    shown : the name of the file in answers and messages.
    keys : the object, or the keys of a GGUF file.
    gguf : what else a GGUF file says; None for others.
    """

    kind: Kind
    shown: str
    keys: Mapping[str, Any]
    gguf: GgufFile | None = None


def find_model_file(text: str, label: str = "") -> ModelFile:
    """Find the file that a person means.

    In this order: `-` is standard input; a file or folder of that name; FILE::TENSOR; org/model in the
    cache. A folder has a config.json, else a params.json, else one .gguf file.

    Parameters
    ----------
    text : as it was given. label : the option that named it, for messages; may be empty.

    Raises
    ------
    FileError : there is none, or several; for a model on the Hub it says how to fetch one.
    InputError : `text` is empty.

    >>> find_model_file("-").kind
    'config.json'
    """
    if not text:
        raise InputError(with_label("no file is named", label), "''", "a file, a model's folder or - is accepted")
    if text == STANDARD_INPUT:
        return ModelFile(path=None, kind="config.json", shown=text, label=label)
    path = Path(os.path.expanduser(text))
    mode = _find_mode(path, label)
    if mode is not None and stat.S_ISDIR(mode):
        found = find_in_folder(path, label)
        if found is None:
            accepted = "config.json, params.json or one .gguf file is looked for"
            raise FileError(path, with_label(f"is a folder (directory) without a configuration; {accepted}", label))
        return ModelFile(path=found, kind=_name_kind(found, label), shown=str(found), label=label)
    if mode is not None:
        return ModelFile(path=path, kind=_name_kind(path, label), shown=text, label=label)
    file, separator, tensor = text.rpartition("::")
    if separator and file and tensor:
        return _find_table(file, tensor, text, label)
    return _find_on_hub(text, path, label)


def read_model_file(found: ModelFile) -> ModelContent:
    """Read the file of a model that is no table.

    Raises
    ------
    FileError : it cannot be read, is damaged, or is no configuration.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "config.json").write_text('{"rope_theta": 5e5}')
    ...     read_model_file(find_model_file(folder)).keys
    {'rope_theta': 500000.0}
    """
    if found.kind == "table":
        name = shlex.quote(found.shown)
        is_plain = len(name) <= QUOTED_CHARACTERS and name.isprintable() and not name.startswith("-")
        see = f"; pe-spectra inspect {name} reads a table of positions" if is_plain else ""
        accepted = f"a config.json, params.json or .gguf file is accepted{see}"
        what = with_label(f"is by its name a file of arrays, no configuration: {accepted}", found.label)
        raise FileError(found.shown, what)
    if found.path is None:
        keys = _read_standard_input(found.label)
        return ModelContent(kind=_tell_apart(keys, "config.json"), shown=_STANDARD_INPUT_NAME, keys=keys)
    if found.kind == "gguf":
        from pe_spectra.files.gguf_file import read_gguf

        gguf = read_gguf(found.path, found.label)
        return ModelContent(kind="gguf", shown=found.shown, keys=gguf.keys, gguf=gguf)
    keys = read_json(found.path, found.label)
    if "weight_map" in keys and not _OTHER_KEYS & keys.keys():
        what = "is an index of weights; the config.json beside it is accepted"
        raise FileError(found.path, with_label(what, found.label))
    return ModelContent(kind=_tell_apart(keys, found.kind), shown=found.shown, keys=keys)


def _find_mode(path: Path, label: str) -> int | None:
    """Give the mode of what is there; None where nothing is."""
    with naming(path, label), suppress(FileNotFoundError, NotADirectoryError):
        return os.stat(path).st_mode
    return None


def _name_kind(path: Path, label: str) -> Kind:
    """Tell what a file is by its name, else by its first bytes."""
    suffix = path.suffix.lower()
    if path.name == "params.json":
        return "params.json"
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    with open_regular(path, label=label) as file:
        if suffix in PICKLE_SUFFIXES:
            raise RefusedError(explain_pickle(path))
        start = file.read_at(0, 64).removeprefix(b"\xef\xbb\xbf").lstrip()
    return "gguf" if start.startswith(GGUF_MAGIC) else "config.json"


def find_in_folder(folder: Path, label: str) -> Path | None:
    """Return the model that a folder is; None where it has none.

    Raises
    ------
    FileError : it has several, or cannot be listed.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     print(find_in_folder(Path(folder), ""))
    None
    """
    models = choose_models(list_folder(folder, label))
    if len(models) > 1:
        reason = f"is a folder (directory) with {len(models)} .gguf files and no config.json; name one of them"
        raise FileError(folder, with_label(reason, label))
    return folder / models[0] if models else None


def choose_models(names: Sequence[str]) -> list[str]:
    """Choose the models of a folder by what is in it: its config.json, else its params.json, else all .gguf files.

    >>> choose_models(["a.gguf", "b.gguf", "mmproj.gguf"]), choose_models(["a.gguf", "params.json"])
    (['a.gguf', 'b.gguf'], ['params.json'])
    """
    for name in _CONFIGURATIONS:
        if name in names:
            return [name]
    models = [name for name in names if name.endswith(".gguf") and not re.fullmatch(_LATER_PART, name)]
    return [name for name in models if not name.startswith(_PROJECTOR)]


def _find_table(file: str, tensor: str, text: str, label: str) -> ModelFile:
    path = Path(os.path.expanduser(file))
    if _find_mode(path, label) is None:
        raise FileError(path, with_label("no such file or folder", label))
    return ModelFile(path=path, kind="table", shown=text, tensor=tensor, label=label)


def _find_on_hub(text: str, path: Path, label: str) -> ModelFile:
    """Find the configuration of org/model in the cache."""
    is_name = re.fullmatch(_HUB_NAME, text) and not any(part in text for part in ("--", ".."))
    if not is_name or path.suffix.lower() in (*_SUFFIXES, *PICKLE_SUFFIXES):
        raise FileError(path, with_label("no such file or folder", label))
    folder = _find_snapshot(text)
    found = None if folder is None else find_in_folder(folder, label)
    if found is None:
        where = "no such file or folder, and the local cache of Hugging Face has no configuration of such a model"
        raise FileError(text, with_label(f"{where}; this fetches it: hf download {text} config.json", label))
    return ModelFile(path=found, kind=_name_kind(found, label), shown=text, label=label)


def _find_snapshot(name: str) -> Path | None:
    """Find the folder of a model's main revision in the cache, else of the newest that is there."""
    cache = _find_cache()
    if cache is None:
        return None
    model = cache / f"models--{name.replace('/', '--')}"
    try:
        reference = read_bytes(model / "refs" / "main", limit=_REFERENCE_BYTES, label="").decode("ascii", "replace")
    except FileError:
        return _find_newest(model / "snapshots")
    reference = reference.strip()
    if not re.fullmatch(_SNAPSHOT, reference):  # it is joined to a path
        return None
    folder = model / "snapshots" / reference
    return folder if folder.is_dir() else None


def _find_cache() -> Path | None:
    """Find the folder in which Hugging Face's programs keep what they fetch; None where there is no home.

    Source: huggingface_hub, constants.py.
    """
    settings = (
        ("HF_HUB_CACHE", ""),
        ("HUGGINGFACE_HUB_CACHE", ""),
        ("HF_HOME", "hub"),
        ("XDG_CACHE_HOME", "huggingface/hub"),
    )
    for name, below in settings:
        if value := os.environ.get(name):
            return Path(os.path.expandvars(os.path.expanduser(value)), below)
    home = os.path.expanduser("~")
    return None if home == "~" else Path(home, ".cache/huggingface/hub")


def _find_newest(snapshots: Path) -> Path | None:
    try:
        found = [entry for entry in os.scandir(snapshots) if re.fullmatch(_SNAPSHOT, entry.name) and entry.is_dir()]
        found.sort(key=lambda entry: (entry.stat().st_mtime_ns, entry.name))
    except OSError:
        return None
    return Path(found[-1].path) if found else None


def _read_standard_input(label: str) -> dict[str, Any]:
    with naming(_STANDARD_INPUT_NAME, label, "is closed"):  # it is None where the process was given none
        data = sys.stdin.buffer.read(MAX_CONFIGURATION_BYTES + 1)
    with naming(_STANDARD_INPUT_NAME, label):
        return parse_object(data, MAX_CONFIGURATION_BYTES)


def _tell_apart(keys: Mapping[str, Any], kind: Kind) -> Kind:
    """Tell Meta's params.json from a config.json, whatever the file is called."""
    if keys.keys() >= _META_KEYS and not _OTHER_KEYS & keys.keys():
        return "params.json"
    return "config.json" if kind == "params.json" and _OTHER_KEYS & keys.keys() else kind
