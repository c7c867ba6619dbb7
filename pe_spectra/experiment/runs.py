"""The file of results: a ledger with a line for each trial, and what it was made with."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_origin

from pe_spectra._version import __version__
from pe_spectra.errors import FileError, InputError, PeSpectraError
from pe_spectra.experiment.design import Design, Trial
from pe_spectra.experiment.trial import TrialResult
from pe_spectra.faces import Cell
from pe_spectra.files.ledger import KEY, Ledger, read_ledger
from pe_spectra.quantities import find_hint
from pe_spectra.records import dataclass
from pe_spectra.study import lines

#: What training needs, an extra of the package.
_NEEDED = ("jax", "optax")


@dataclass(frozen=True, kw_only=True)
class Runs:
    """What a file of results holds.

    Attributes
    ----------
    settings : what was the same for all trials, as `Design.to_dict` has it.
    about : versions and machine of the first of them.
    results : one for each trial.
    """

    settings: Mapping[str, Any]
    about: Mapping[str, Any]
    results: tuple[TrialResult, ...]


def check_extra(needed: Sequence[str] = _NEEDED) -> None:
    """Refuse to begin where the libraries that train are missing.

    Raises
    ------
    PeSpectraError : with what installs them.

    >>> check_extra(["numpy", "jax_of_nowhere"])
    Traceback (most recent call last):
        ...
    pe_spectra.errors.PeSpectraError: training needs jax_of_nowhere; pip install 'pe-spectra[experiment]' installs it
    """
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise PeSpectraError(
            f"training needs {' and '.join(missing)}; pip install 'pe-spectra[experiment]' installs it"
        )


def open_runs(path: Path, design: Design, *, resume: bool = True) -> AbstractContextManager[Ledger]:
    """Open a file of results, new or of the same design; lines are appended with :func:`write_row`.

    Raises
    ------
    FileError : as :meth:`Ledger.open` says.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, open_runs(Path(folder) / "results.csv", Design()) as ledger:
    ...     ledger.columns[:4]
    ('key', 'task', 'arm', 'norm')
    """
    columns = list(TrialResult.quantities())
    return Ledger.open(path, design.to_dict(), columns=columns, about=describe_here(), label="--output", resume=resume)


def describe_here() -> dict[str, str]:
    """Return versions, and the class of the machine: on another one digits may differ.

    >>> describe_here()["pe-spectra"] == __version__
    True
    """
    from importlib.metadata import PackageNotFoundError, version

    versions = {"pe-spectra": __version__, "python": platform.python_version()}
    for name in ("numpy", "jax", "jaxlib", "optax"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {**versions, "machine": f"{platform.system()} {platform.machine()}"}


def write_row(result: TrialResult) -> dict[str, Cell]:
    """Write a result as cells of a line; several numbers stand in one cell, with blanks between them.

    >>> cells = dict.fromkeys(TrialResult.quantities(), "1") | {"rms_norm": "", "validation": "0.5 0.75"}
    >>> write_row(read_row(cells))["validation"]
    '0.5 0.75'
    """
    values = {name: getattr(result, name) for name in TrialResult.quantities()}
    return {name: " ".join(map(str, v)) if isinstance(v, tuple) else v for name, v in values.items()}


def read_row(cells: Mapping[str, str]) -> TrialResult:
    """Read a line, to the number that was written.

    Raises
    ------
    ValueError, KeyError : it is no line of a trial.

    >>> cells = dict.fromkeys(TrialResult.quantities(), "1") | {"rms_norm": "", "validation": "0.5 0.75"}
    >>> read_row(cells).validation
    (0.5, 0.75)
    """
    return TrialResult(**{name: _read_cell(name, cells[name]) for name in TrialResult.quantities()})


def _read_cell(name: str, text: str) -> Any:
    hint = find_hint(TrialResult, name)
    if get_origin(hint) is tuple:
        return tuple(map(float, text.split()))
    if hint in (str, int, float):
        return hint(text)
    return float(text) if text else None


def read_runs(path: Path, *, label: str = "") -> Runs:
    """Read a file of results, also while it is written.

    Raises
    ------
    FileError : no ledger, or one with lines of something else.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with open_runs(Path(folder) / "results.csv", Design(passes=6)):
    ...         pass
    ...     read_runs(Path(folder) / "results.csv").settings["passes"]
    6
    """
    found = read_ledger(path, label=label)
    try:
        return Runs(settings=found.settings, about=found.about, results=tuple(map(read_row, found.rows)))
    except (ValueError, KeyError) as error:
        raise FileError(path, f"is a ledger, but not of trials{f' ({label})' if label else ''}") from error


def read_study() -> Runs:
    """Read the study that is in the package.

    Raises
    ------
    InputError : this version has none.

    >>> lines.find_study() is None or len(read_study().results) > 0
    True
    """
    place = lines.find_study()
    if place is None:
        raise InputError("this version has no study of its own", accepted="a file of experiment run is accepted")
    return read_runs(place)


def select_results(rows: Iterable[Mapping[str, str]], trials: Sequence[Trial]) -> list[TrialResult]:
    """Return the results of these trials, in their order; lines of others may stand among them.

    >>> trial = Trial(task="lag", arm="dft", norm="own", length=32, seed=0)
    >>> select_results([{"key": "another"}], [trial])
    []
    """
    by_key = {row[KEY]: row for row in rows}
    return [read_row(by_key[trial.key]) for trial in trials if trial.key in by_key]
