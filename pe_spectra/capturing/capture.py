"""From a model, a module or a function to what it turns and adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pe_spectra.capturing.calls import Answered
from pe_spectra.capturing.captured import Capture, CapturedRotation, CapturedTable, count_run
from pe_spectra.capturing.faults import find_cast_faults, find_changes, find_silence, find_unread
from pe_spectra.capturing.foreign_tensors import Taken
from pe_spectra.capturing.holdings import Held, Holding, find_held, find_learned, list_holdings, list_unread, name_kind
from pe_spectra.capturing.probing import Probed, Question, probe, probe_function
from pe_spectra.errors import InputError
from pe_spectra.exact import I64, ArrayLike
from pe_spectra.findings import Finding
from pe_spectra.limits import MAX_LENGTH, MAX_POSITION
from pe_spectra.models.dumps.cache_shapes import pair_up
from pe_spectra.models.dumps.called import read_called
from pe_spectra.models.dumps.dumped_arrays import read_cache
from pe_spectra.numbers import IntegerRange
from pe_spectra.records import NamedTuple
from pe_spectra.vocabulary import RANKS

#: Methods by which models are cast to types of 16 bits.
_CASTS = ("half", "bfloat16")
_LENGTH = IntegerRange(minimum=2, maximum=MAX_LENGTH)
_ACCEPTED = "a module with named_modules, or a function of positions"
_ALL = "all"
_NO_LIST = "it is no list of frequencies that fall"


class _Gathered(NamedTuple):
    """What was found so far."""

    parts: list[_Part]
    tables: list[CapturedTable]
    findings: list[Finding]


class _Part(NamedTuple):
    """A rotation that was taken of one module, with the name of its kind of layers; and what is wrong with it."""

    kind: str
    rotation: CapturedRotation
    findings: tuple[Finding, ...]


def capture(subject: Any, *, positions: int | ArrayLike = 512) -> Capture:
    """Take what a model turns and adds from its modules as they run, and say what is wrong with it.

    Modules are found by what they hold: a list of inverse frequencies, cosines and sines, a table of sinusoids, or a
    tensor with a known name of a table. Those with a rotation or sinusoids are called, a copy of each, with arguments
    by their names; twice, and again after `.half()` and `.bfloat16()`. The model itself is not changed, and no
    framework is imported.

    Parameters
    ----------
    subject : anything that looks like a module of PyTorch (named_modules, named_buffers, named_parameters); or a
        function of integer positions (S,) that returns their vectors (S, d), cosines and sines, or complex numbers.
    positions : how many, 0 .. n - 1; or the positions themselves, rising from 0, 1.

    Raises
    ------
    InputError : a subject of another kind, one with nothing to take, or positions that do not rise from 0, 1.

    >>> def turn(positions):
    ...     angles = np.outer(positions, 10000.0 ** -(np.arange(4) / 4))
    ...     return np.cos(angles), np.sin(angles)
    >>> capture(turn).rotations[0].rotation.base
    10000.0
    """
    places = _read_positions(positions)
    if isinstance(subject, type):
        raise InputError("a class is no module", subject.__name__, f"{_ACCEPTED}, made of it, is accepted")
    if hasattr(subject, "named_modules"):
        return _capture_model(subject, places)
    if not callable(subject):
        raise InputError("there is nothing to capture", type(subject).__name__, f"{_ACCEPTED} is accepted")
    return _capture_function(subject, places)


def _read_positions(positions: int | ArrayLike) -> I64:
    if isinstance(positions, int | np.integer):
        return np.arange(_LENGTH.check(int(positions), "positions"), dtype=np.int64)
    found = np.asarray(positions)
    accepted = "a number of positions, or integers that rise from 0, 1"
    if found.ndim != 1 or found.dtype.kind not in "iu" or not 2 <= found.size <= MAX_LENGTH:
        raise InputError("positions are no list of integers", f"shape {found.shape} of {found.dtype}", accepted)
    if count_run(found) < 2 or (np.diff(found) <= 0).any() or found[-1] >= MAX_POSITION:
        raise InputError("positions do not rise from 0, 1", f"{found[0]}, {found[1]}, .., {found[-1]}", accepted)
    return found.astype(np.int64)


def _capture_function(function: Any, positions: I64) -> Capture:
    name = getattr(function, "__name__", type(function).__name__)
    probed = probe_function(function, positions)
    if probed.answer is None:
        raise InputError(f"{name} gives nothing that can be captured", probed.why or "", _ACCEPTED)
    answer = probed.answer
    turns = answer.what == "rotation"
    rotations = [_turn(name, answer, "call", positions)] if turns else []
    tables = [] if turns else [replace(_keep(name, "positions", Taken(answer.values, answer.dtype)), source="call")]
    return Capture(
        subject=name,
        positions=positions,
        rotations=tuple(rotations),
        tables=tuple(tables),
        findings=tuple(find_changes(name, probed.changes)),
    )


def _capture_model(model: Any, positions: I64) -> Capture:
    found = _Gathered([], [], [])
    for holding in list_holdings(model):
        learned = [_keep(path, holds, taken) for path, holds, taken in find_learned(holding)]
        found.tables.extend(learned)
        held = find_held(holding)
        if held.lists or held.waves:
            _take_rotations(holding, held, positions, found)
        elif held.tables and not learned:
            _take_sinusoids(holding, held, positions, found)
        found.findings.extend(find_unread(path, _NO_LIST) for path in list_unread(holding))
    if not found.parts and not found.tables:
        accepted = "a module that holds frequencies, cosines and sines, or a table of positions"
        seen = f": {found.findings[0].message}" if found.findings else ""
        raise InputError("there is nothing to capture", f"{type(model).__name__}{seen}", accepted)
    rotations, said = _merge(found.parts)
    return Capture(
        subject=type(model).__name__,
        positions=positions,
        rotations=rotations,
        tables=_merge_tables(found.tables),
        findings=tuple(sorted([*found.findings, *said], key=lambda one: -RANKS[one.level])),
    )


# --------------------------------------------------------------------- rotations


def _take_rotations(holding: Holding, held: Held, positions: I64, into: _Gathered) -> None:
    """Take what a module turns by, for every kind of layers that its lists are named after."""
    for kind in dict.fromkeys(map(name_kind, held.lists)) if held.lists else [""]:
        own = Held({name: one for name, one in held.lists.items() if name_kind(name) == kind}, held.waves, held.tables)
        widths = [2 * len(dump.frequencies) for _, dump in own.lists.values()]
        held_rows = [one.squeezed for one in (*(held.waves or ())[:1], *held.tables.values())]
        asked = Question(positions, [*widths, *(one.shape[1] for one in held_rows)][0], kind, turns=True)
        probed = probe(holding, own, asked)
        rows = min(map(len, held_rows), default=len(positions))
        if probed.answer is None and rows < len(positions):  # a cache that is not made longer when it is called
            asked = asked._replace(positions=positions[positions < rows])
            probed = probe(holding, own, asked)
        try:
            rotation = _read_probed(holding, own, probed, asked)
        except InputError as error:
            into.findings.append(find_unread(holding.shown, str(error)))
            continue
        findings = list(find_changes(holding.shown, probed.changes))
        if rotation.why is not None:
            findings.append(find_silence(holding.shown, rotation.why))
        for cast in _CASTS:
            if hasattr(holding.module, cast):
                findings += find_cast_faults(holding.shown, cast, probed, probe(holding, own, asked, cast))
        into.parts.append(_Part(kind, rotation, tuple(findings)))


def _read_probed(holding: Holding, held: Held, probed: Probed, asked: Question) -> CapturedRotation:
    """Read what a module gave; where it gave no rotation, its cache; where it has none, its frequencies.

    Raises
    ------
    InputError : it has no frequencies, and what it gives and holds is no rotation.
    """
    # a module may have chosen frequencies by the length of its call
    left = [one for name, one in probed.held.lists.items() if name_kind(name) == asked.kind] or [*held.lists.values()]
    listed, dump = left[0] if left else (None, None)
    found, unread = None, [InputError("it was not called", probed.why)] if probed.why else []
    for source, answer in (("call", probed.answer), ("cache", _read_held(held, asked.positions))):
        if found is None and answer is not None:
            try:
                found = _turn(holding.shown, answer, source, asked.positions, listed)
            except InputError as error:
                unread.append(error)
    if found is None:
        if dump is None:
            raise unread[-1]
        found = CapturedRotation(name=_ALL, modules=(holding.shown,), source="frequencies", rotation=dump)
    why = (probed.why or str(unread[0])) if unread else None
    if listed is None:
        return replace(found, why=why)
    return replace(found, why=why, listed=np.atleast_1d(listed.squeezed), dtypes=(found.dtypes[0], listed.dtype))


def _read_held(held: Held, positions: I64) -> Answered | None:
    """The rows of a cache at the positions that it has."""
    if held.waves is None:
        return None
    first, second = held.waves
    waves = pair_up(first.squeezed, None if second is None else second.squeezed)
    kept = positions[positions < len(waves.cosines)]
    return Answered("rotation", np.hstack([waves.cosines[kept], waves.sines[kept]]), first.dtype)


def _turn(module: str, answer: Answered, source: str, positions: I64, listed: Taken | None = None) -> CapturedRotation:
    """Read cosines and sines at the positions 0, 1, 2, .. as a rotation."""
    rows = answer.values[: count_run(positions[: len(answer.values)])]
    held = () if listed is None else (np.atleast_1d(listed.squeezed), listed.dtype)
    if source == "call":
        rotation = read_called(rows, answer.dtype, *held)
    else:
        cosines, sines = np.hsplit(rows, 2)
        rotation = read_cache(cosines, sines, answer.dtype)
    return CapturedRotation(
        name=_ALL,
        modules=(module,),
        source=source,
        rotation=rotation,
        waves=answer.values,
        dtypes=(answer.dtype, "float64"),
    )


def _merge(parts: Sequence[_Part]) -> tuple[tuple[CapturedRotation, ...], list[Finding]]:
    """Put equal rotations of several modules together, and name each by its kind of layers, or by its first module."""
    groups: dict[object, list[_Part]] = {}
    for part in parts:
        arrays = (part.rotation.waves, part.rotation.listed)
        groups.setdefault((part.kind, *(None if one is None else one.tobytes() for one in arrays)), []).append(part)
    found = []
    for first, *others in groups.values():
        modules = tuple(dict.fromkeys(name for one in (first, *others) for name in one.rotation.modules))
        is_kind = first.kind and sum(other[0].kind == first.kind for other in groups.values()) == 1
        paths = ".".join(filter(None, (modules[0], first.kind)))
        name = _ALL if len(groups) == 1 and not first.kind else first.kind if is_kind else paths
        found.append(replace(first.rotation, name=name, modules=modules))
    # modules that are alike have the same faults
    return tuple(found), [one for first, *_ in groups.values() for one in first.findings]


# --------------------------------------------------------------------- tables


def _keep(path: str, holds: str, taken: Taken) -> CapturedTable:
    rows, columns = taken.values.shape
    return CapturedTable(
        values=taken.values, name=path, holds=holds, source="table", rows=rows, columns=columns, dtype=taken.dtype
    )


def _merge_tables(tables: Sequence[CapturedTable]) -> tuple[CapturedTable, ...]:
    """Keep one of the tables that have the same numbers, with the paths of all."""
    groups: dict[object, list[CapturedTable]] = {}
    for one in tables:
        groups.setdefault((one.values.shape, one.values.tobytes()), []).append(one)
    return tuple(replace(first, shared=tuple(other.name for other in others)) for first, *others in groups.values())


def _take_sinusoids(holding: Holding, held: Held, positions: I64, found: _Gathered) -> None:
    """Take what a module with a table of sinusoids gives: a rotation, a table that is added, or else what it holds."""
    path, taken = next(iter(held.tables.items()))
    rows, width = taken.values.shape
    probed = probe(holding, held, Question(positions[positions < rows], width, "", turns=False))
    answer = probed.answer
    if answer is not None and answer.what == "rotation":
        _take_rotations(holding, held, positions, found)
        return
    found.findings.extend(find_changes(holding.shown, probed.changes))
    if answer is not None and answer.values.shape[1] == width:
        given = _keep(path, "positions", Taken(answer.values, answer.dtype))
        found.tables.append(replace(given, source="call"))
        return
    why = probed.why or "it gives no table"
    found.tables.append(replace(_keep(path, "positions", taken), why=why))
    found.findings.append(find_silence(holding.shown, why))
