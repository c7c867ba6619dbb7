"""From what was typed to what a model's file states, or a port computes: the joint between files and `models`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pe_spectra.errors import FileError, InputError, UnusableError, shorten
from pe_spectra.exact import F64
from pe_spectra.files.model_files import ModelContent, ModelFile, find_model_file, read_model_file
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.statement import Configuration
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import CACHED, CALLED, FREQUENCIES, LISTED
from pe_spectra.wording import count

if TYPE_CHECKING:  # files of other kinds are looked at by functions below that load what reads them
    from pe_spectra.files.arrays import FileArray
    from pe_spectra.files.json_keys import Region
    from pe_spectra.models.dumps.dump import Dump

#: Axes of what is looked for: frequencies; cosines and sines of positions; with axes for batch or parts.
_AXES = (1, 2, 3)
#: Columns of frequencies as `export` writes them.
_EXPORTED = ("frequency", "mass", "phase")
#: Ends of the names of arrays that stand for a kind of layers, as `export` and captures write them.
_OF_KINDS = (FREQUENCIES, CACHED, CALLED)
#: Ends of the names that implementations give them; of a pair, cosines and sines.
_SINGLE = ("inv_freq", "original_inv_freq", "cos_sin_cache", "freqs_cis")
_PAIRS = (("cos_cached", "sin_cached"), ("cos_cache", "sin_cache"), ("cosines", "sines"), ("cos", "sin"))


@dataclass(frozen=True, kw_only=True, eq=False)
class Side:
    """One side of a comparison: what a model's file states, a dump of a port, or a table of positions.

    Attributes
    ----------
    shown : its name in answers.
    configuration : what the file states; None for arrays. keys : the object that states it; None for GGUF and arrays.
    dump : the rotation that arrays show; None for others. kinds : where a file has one for every kind of layers, all of
        them, by their names; `dump` is the first.
    table : an array of rows and columns, (S, d), whether it shows a rotation or not; None for others.
    arrays : what was read from a file of arrays, by the names there; `values` where there are none.
    others : what else such a file holds of positions, where it was asked for.
    dtype : the type that it is stored in.
    reason : why it shows no rotation.
    notes : what a reader should know, each a sentence.
    """

    shown: str
    configuration: Configuration | None = None
    keys: Mapping[str, Any] | None = None
    dump: Dump | None = None
    kinds: tuple[Dump, ...] = ()
    table: F64 | None = None
    arrays: Mapping[str, FileArray] = field(default_factory=dict)
    others: Mapping[str, FileArray] = field(default_factory=dict)
    dtype: str = "float64"
    reason: str = ""
    notes: tuple[str, ...] = ()


def read_model(text: str, label: str = "", reads_by: str = "") -> Configuration:
    """Read what the file of a model states about its positional encoding.

    Parameters
    ----------
    text : config.json of a Hugging Face model, params.json of Meta's releases, a .gguf file, a folder with
        one of them, org/model in the local cache, or - for standard input.
    label : the option that named it, for messages; may be empty.
    reads_by : a release of transformers whose classes read a config.json with a value that the newest cannot use.

    Raises
    ------
    FileError : there is no such file, it cannot be read, or a key in it cannot be used.
    InputError : `text` is empty.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "config.json").write_text('{"model_type": "llama", "head_dim": 64}')
    ...     read_model(folder).layers[0].head_dim
    64
    """
    content = read_model_file(find_model_file(text, label))
    try:
        return _state(content)
    except UnusableError:
        if not reads_by or content.kind != "config.json":
            raise
        return read_configuration(content.keys, content.shown, reads_by)


def read_model_keys(text: str, label: str = "") -> tuple[Configuration, Mapping[str, Any] | None, Path | None]:
    """Read what the file of a model states, with the object of its config.json and its path.

    Parameters
    ----------
    text, label : as for :func:`read_model`.

    Returns
    -------
    The statement; the object, None for a file of another kind; the path, None for standard input.

    Raises
    ------
    FileError, InputError : as for :func:`read_model`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     written = (Path(folder) / "config.json").write_text('{"model_type": "llama", "head_dim": 64}')
    ...     read_model_keys(folder)[1]
    {'model_type': 'llama', 'head_dim': 64}
    """
    found = find_model_file(text, label)
    content = read_model_file(found)
    return _state(content), content.keys if content.kind == "config.json" else None, found.path


def locate_keys(text: str, is_read: bool = True) -> tuple[Path | None, dict[str, Region]]:
    """Find the file of a model, and where its keys stand in it, as :func:`pe_spectra.files.json_keys` calls them.

    Parameters
    ----------
    text : as for :func:`read_model`. is_read : whether that has read it; what it refused may be no JSON, or nowhere.

    Returns
    -------
    The file, None for standard input, what was named where that is no file; no regions where it was not read, or is
    not of JSON.

    Raises
    ------
    FileError, InputError : of a file that was read, as for :func:`read_model`.

    >>> locate_keys("-")
    (None, {})
    >>> locate_keys("missing", is_read=False)[0].name
    'missing'
    """
    try:
        found = find_model_file(text)
    except (FileError, InputError):
        if is_read:
            raise
        return (Path(text) if text else None), {}
    if found.path is None or found.kind == "gguf" or not is_read:
        return found.path, {}
    from pe_spectra.files.json_keys import read_key_regions

    return found.path, read_key_regions(found.path)


def read_side(text: str, label: str = "", *, whole: bool = False) -> Side:
    """Read one side of a comparison.

    Parameters
    ----------
    text : as for :func:`read_model`; or a file with arrays (.npy, .npz, .csv, .safetensors, FILE::TENSOR):
        frequencies, cosines and sines, or a table of positions.

    whole : whether to read what else a file holds of positions: of `export` or a capture all arrays; of others all
        that are rotations by their names.

    Raises
    ------
    FileError : there is no such file, it cannot be read, or it holds nothing that can be compared.
    InputError : `text` is empty.

    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "inv_freq.npy", np.array([1.0, 0.01]))
    ...     side = read_side(f"{folder}/inv_freq.npy")
    >>> type(side).__name__
    'Side'
    """
    found = find_model_file(text, label)
    if found.kind != "table":
        content = read_model_file(found)
        keys = content.keys if content.gguf is None else None
        return Side(shown=content.shown, configuration=_state(content), keys=keys)
    side = _read_arrays(found)
    return replace(side, others=_read_others(found, side)) if whole and found.tensor is None else side


def _read_others(found: ModelFile, side: Side) -> dict[str, FileArray]:
    """Read what a file of arrays holds beside those that one side of a comparison is."""
    from pe_spectra.files.tables import list_arrays

    path = found.path or Path(found.shown)
    names = list_arrays(path, found.label)
    if not side.kinds:
        pairs = [name for pair in _pair_up(names) for name in pair]
        names = tuple(_find(names, _SINGLE) + pairs) if side.dump is not None else ()
    return {name: _read_one(path, name, found.label) for name in dict.fromkeys(names) if name not in side.arrays}


def _state(content: ModelContent) -> Configuration:
    if content.gguf is not None:
        from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration

        return read_gguf_configuration(content.keys, content.gguf.factors, content.shown, content.gguf.shapes)
    if content.kind == "params.json":
        from pe_spectra.models.stated.meta_release import read_params

        return read_params(content.keys, content.shown)
    return read_configuration(content.keys, content.shown)


def _read_arrays(found: ModelFile) -> Side:
    from pe_spectra.files.tables import list_arrays

    path = found.path or Path(found.shown)
    names = () if found.tensor else list_arrays(path, found.label)
    kinds = [name for name in names if name.endswith(_OF_KINDS)]
    if kinds:
        beside = [name.removesuffix(CALLED) + LISTED for name in kinds if name.endswith(CALLED)]
        wanted = [*kinds, *(name for name in beside if name in names)]
        return _read_kinds(found.shown, {name: _read_one(path, name, found.label) for name in wanted})
    first, second = _read_rotary_dump(path, found.tensor, found.label)
    dtype = None if first.dtype == "text" else first.dtype
    notes = (*first.notes, *(second.notes if second is not None else ()))
    table = _take_table(first.values) if second is None else None
    arrays = {one.tensor or "values": one for one in (first, second) if one is not None}
    try:
        dump = _recognise(first, second, dtype)
    except InputError as error:
        if table is not None:
            return Side(
                shown=found.shown, table=table, arrays=arrays, dtype=first.dtype, reason=str(error), notes=notes
            )
        raise FileError(found.shown, str(error)) from error
    # against a table, as of a model that was trained on from sines, a cache is one too
    kept = table if dump.kind == "cache" else None
    return Side(shown=found.shown, dump=dump, table=kept, arrays=arrays, dtype=first.dtype, notes=(*notes, *dump.notes))


def _read_kinds(shown: str, arrays: Mapping[str, FileArray]) -> Side:
    """Read what `export` or a capture wrote of every kind of layers, one array for each, or frequencies beside it."""
    from pe_spectra.models.dumps.called import read_called

    dumps: list[Dump] = []
    for name, one in arrays.items():
        if not name.endswith(_OF_KINDS):
            continue
        listed = arrays.get(name.removesuffix(CALLED) + LISTED)
        try:
            if not name.endswith(CALLED):
                dump = _recognise(one, None, one.dtype)
            else:
                held = () if listed is None else (listed.values, listed.dtype)
                dump = read_called(one.values, one.dtype, *held)
        except InputError as error:
            raise FileError(f"{shown}::{name}", str(error)) from error
        dumps.append(replace(dump, name=name.rpartition(".")[0]))
    notes = tuple(f"{one.name}: {note}" for one in dumps for note in one.notes)
    first = next(iter(arrays.values()))
    return Side(shown=shown, dump=dumps[0], kinds=tuple(dumps), arrays=arrays, dtype=first.dtype, notes=notes)


def _read_rotary_dump(path: Path, tensor: str | None, label: str) -> tuple[FileArray, FileArray | None]:
    """Read inverse frequencies, or a cache of rotations: one array and None, or cosines and sines.

    Of an array that is named, cosines or sines, the other is found beside it; else known names are
    looked for, and then the only array that fits. Complex numbers, cos + i sin, have a last axis of 2.
    """
    from pe_spectra.files.tables import list_arrays

    names = list_arrays(path, label)
    single = _find(names, _SINGLE) if tensor is None else []
    if single:
        return _remark(_read_one(path, single[0], label), single), None
    pairs = _pair_up(names)
    if tensor is not None:
        pairs = [pair for pair in pairs if tensor in pair]
    if pairs:
        cosines, sines = (_read_one(path, name, label) for name in pairs[0])
        return _remark(cosines, [pair[0] for pair in pairs]), sines
    return _read_one(path, tensor, label), None


def _read_one(path: Path, tensor: str | None, label: str) -> FileArray:
    from pe_spectra.files.tables import read_array

    found = read_array(path, tensor, label=label, axes=_AXES, complex_too=True)
    if not found.dtype.startswith("complex"):
        return found
    # axes of length 1 beside rows and pairs say nothing, and one for a single pair does not either
    shape = list(found.values.shape[:-1])
    while 1 in shape and (len(shape) > 2 or shape[1:] == [1]):
        shape.remove(1)
    return replace(found, values=found.values.reshape(*shape, 2))


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
    note = f"{shorten(names[0])} is read, the first of {count(len(names), 'array')} of such a name"
    return replace(found, notes=(*found.notes, note))


def _take_table(values: F64) -> F64 | None:
    """Return the rows and columns of an array that has them, beside axes of length 1."""
    if values.ndim == 2:
        return values
    shape = [size for size in values.shape if size != 1]
    return values.reshape(shape) if len(shape) == 2 else None


def _take_exported(values: F64) -> F64:
    """Take the frequencies of what `export --what frequencies` wrote, beside masses of 1 and phases of 0."""
    is_list = values.ndim == 2 and values.shape[1] == len(_EXPORTED)
    if is_list and (values[:, 1] == 1).all() and not values[:, 2].any():
        return values[:, 0].copy()
    return values


def _recognise(first: FileArray, second: FileArray | None, dtype: str | None) -> Dump:
    from pe_spectra.models.dumps.dumped_arrays import read_cache, read_inverse_frequencies

    if second is None:
        first = replace(first, values=_take_exported(first.values))
    # a list in a .csv file is a table of one column or one row; a cache may have an axis for a batch of 1
    if second is None and sum(size != 1 for size in first.values.shape) <= 1:
        return read_inverse_frequencies(first.values, dtype)
    return read_cache(first.values, None if second is None else second.values, dtype)
