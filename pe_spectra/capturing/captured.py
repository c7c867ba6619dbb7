"""What was captured of a model: rotations, tables, and what is wrong with them; and the file that it is kept in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pe_spectra._version import __version__
from pe_spectra.errors import InputError
from pe_spectra.exact import I64, NDArray
from pe_spectra.export import encode_safetensors
from pe_spectra.files.writer import write_files
from pe_spectra.findings import Finding
from pe_spectra.models.dumps.dump import Dump
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import CACHED, CALLED, CAPTURED_FROM, CAPTURED_ROWS, FREQUENCIES, FURTHER, LISTED
from pe_spectra.wording import count

_SUFFIX = ".safetensors"


@dataclass(frozen=True, kw_only=True, eq=False)
class CapturedRotation(Result):
    """What queries and keys of one kind of layers are turned by.

    Beside its numbers it has `waves`, (S, 2C): cosines and then sines of C channels, a row for each position, None
    where the module could not be called and holds no cache; `listed`, its inverse frequencies as they are held, None
    where they are not; and `dtypes`, the types of both.
    """

    waves: NDArray[np.float64] | None = None
    listed: NDArray[np.float64] | None = None
    dtypes: tuple[str, str] = ("float64", "float64")
    name: str = quantity("Name of the kind of layers; all where there is one.")
    modules: tuple[str, ...] = quantity("Paths of the modules that turn by it.", column=None)
    source: str = quantity("Where its numbers are from.", words=CAPTURED_FROM)
    why: str | None = quantity("Why the module was not called; null where it was.", default=None)
    rotation: Dump = quantity("What its numbers show.")

    @derived(
        "How what it gave has each pair twice: half, the second half as the first, or interleaved, each value beside "
        "itself; null for once, and where it was not called. Which channels are a pair the code around it chooses.",
        words=("half", "interleaved", None),
    )
    def repeats(self) -> str | None:
        """The order of repeats of a call."""
        return self.rotation.repeats


@dataclass(frozen=True, kw_only=True, eq=False)
class CapturedTable(Result):
    """A table that is added to tokens, or a bias; `values` has its numbers, (rows, columns)."""

    values: NDArray[np.float64]
    name: str = quantity("Path of its tensor, or of the module that gives it.")
    shared: tuple[str, ...] = quantity("Paths of others with the same numbers.", default=(), column=None)
    holds: str = quantity("What its rows are.", words=CAPTURED_ROWS)
    source: str = quantity("Where its numbers are from.", words=CAPTURED_FROM)
    why: str | None = quantity(
        "Why the module was not called; null where it was, or where a table is learned.", default=None
    )
    rows: int = quantity("Number of rows.", minimum=1)
    columns: int = quantity("Number of columns.", minimum=1)
    dtype: str = quantity("Type that its numbers had.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Capture(Result):
    """What a model turns and adds, taken from its modules as they run.

    >>> def wave(positions):
    ...     return np.stack([np.sin(positions), np.cos(positions)], axis=1)
    >>> from pe_spectra import capture
    >>> [table.rows for table in capture(wave, positions=64).tables]
    [64]
    """

    subject: str = quantity("Class of the model, or name of the function.")
    positions: I64 = quantity("Positions at which modules were called.", minimum=0, column=None)
    rotations: tuple[CapturedRotation, ...] = quantity("What queries and keys are turned by, by kind of layers.")
    tables: tuple[CapturedTable, ...] = quantity("What is added to tokens or to scores.", column=None)
    findings: tuple[Finding, ...] = quantity("What is wrong, the gravest first.", column=None)

    def save(self, path: str | Path) -> Path:
        """Write all arrays into one .safetensors file, which `diff` and `inspect` read; return its path.

        What a module gave is NAME.called, a row for each of the positions 0, 1, 2, ..; those behind a gap are
        NAME.called-further, at the positions of NAME.further. A cache is NAME.cos-sin. Of what could not be called
        frequencies are NAME.frequencies, else NAME.inv_freq beside it. Tables have the paths of their tensors.

        Raises
        ------
        InputError : a path that does not end with .safetensors. FileError : it cannot be written; nothing changed.
        """
        place = Path(path)
        if place.suffix.lower() != _SUFFIX:
            raise InputError("a capture is written as .safetensors", str(path), f"a path that ends with {_SUFFIX}")
        arrays: dict[str, NDArray[Any]] = {}
        for one in self.rotations:
            arrays |= _list_arrays(one, self.positions)
        for table in self.tables:
            arrays[table.name] = store(table.values, table.dtype)
        metadata = {"pe_spectra": __version__, "subject": self.subject}
        metadata |= {"positions": count(len(self.positions), "position")}
        metadata |= {one.name: f"{one.source}: {', '.join(one.modules)}" for one in self.rotations}
        write_files({place: encode_safetensors(arrays, metadata)})
        return place


def _list_arrays(one: CapturedRotation, positions: I64) -> Mapping[str, NDArray[Any]]:
    """The arrays of one rotation by their names in a file."""
    arrays: dict[str, NDArray[Any]] = {}
    if one.waves is not None:
        stored = store(one.waves, one.dtypes[0])
        places = positions[: len(stored)]  # a cache may have fewer
        run = count_run(places)
        end = CALLED if one.source == "call" else CACHED
        arrays[one.name + end] = stored[:run]
        if run < len(places):
            arrays |= {f"{one.name}{end}{FURTHER}": stored[run:], f"{one.name}.further": places[run:]}
    if one.listed is not None:
        arrays[one.name + (FREQUENCIES if one.waves is None else LISTED)] = store(one.listed, one.dtypes[1])
    return arrays


def store(values: NDArray[np.float64], dtype: str) -> NDArray[Any]:
    """Numbers in the type that they had, where a file has it and it holds them; a computed one may have more digits.

    >>> store(np.array([0.5]), "float16").dtype, store(np.array([0.1]), "float16").dtype
    (dtype('float16'), dtype('float64'))
    """
    if dtype == "bfloat16":
        import ml_dtypes

        kind: Any = ml_dtypes.bfloat16
    else:
        kind = np.dtype(dtype if dtype in ("float16", "float32") else "float64")
    stored = values.astype(kind)
    return stored if np.array_equal(stored.astype(np.float64), values) else values


def count_run(positions: I64) -> int:
    """Count the positions in front that are 0, 1, 2, ..

    >>> count_run(np.array([0, 1, 2, 7]))
    3
    """
    off = np.flatnonzero(positions != np.arange(len(positions)))
    return int(off[0]) if off.size else len(positions)
