"""Freeze what a model that runs, an array, a file or a formula gives, and hold it against what is there now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pe_spectra._version import __version__
from pe_spectra.errors import FileError, InputError
from pe_spectra.naming import find_encoding_named
from pe_spectra.wording import join

if TYPE_CHECKING:
    from pe_spectra.answers.answer import Answer
    from pe_spectra.answers.frozen_checks import CheckedEntry
    from pe_spectra.frozen.entries import Entry
    from pe_spectra.frozen.frozen_file import FrozenFile


def freeze(subject: Any, path: str | Path, *, accept: Mapping[str, str] | None = None) -> Path:
    """Write down what a subject gives, for :func:`check`; return the path.

    Where the file is there, the entry of this subject's name is written anew; other entries, and what it accepts, are
    kept.

    Parameters
    ----------
    subject : a model, a module or a function of positions, as `capture` takes it; an array, which is read as the
        .npy file that holds it; an encoding; or what the command freeze takes, a file or a SPEC.
    path : a file ending in .json.
    accept : code of a finding -> why it is no failure.

    Raises
    ------
    InputError : a subject of another kind, another ending, a code that is not known, or no reason. FileError : a file
        that cannot be read or written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     check("dft:d=8", freeze("dft:d=8", Path(folder) / "dft.json")).verdict.text
    'As frozen: dft:d=8.'
    """
    from pe_spectra.files.turns import take_turns

    place, accepted = Path(path), read_accepted(accept)
    if place.suffix != ".json":
        raise InputError("what is frozen is written as .json", str(path), "a path that ends with .json")
    entry = take_subject(subject)
    with take_turns(place):
        _put(place, name_subject(subject), entry, accepted)
    return place


def renew(
    subject: Any,
    path: str | Path,
    *,
    since: float,
    tolerance: float | None = None,
    accept: Mapping[str, str] | None = None,
) -> None:
    """Freeze a subject where it is not as it was frozen, or where something is told of it.

    The only entry of a file is written anew whatever its name, as :func:`check` takes it, but not in a file that was
    written or found good since then: that entry is of another subject, which keeps it.

    Parameters
    ----------
    subject, path, tolerance, accept : as for :func:`check`. since : seconds, as time.time gives them.

    Raises
    ------
    InputError, FileError : as for :func:`check` and :func:`freeze`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ref.json"
    ...     renew("dft:d=8", path, since=0.0)
    ...     check("dft:d=8", path).failed
    []
    """
    from pe_spectra.files.turns import take_turns
    from pe_spectra.frozen.frozen_file import read_frozen

    place, accepted, name = Path(path), read_accepted(accept), name_subject(subject)
    allowed, entry = _read_tolerance(tolerance), take_subject(subject)
    with take_turns(place):
        names = [*read_frozen(place, "path").entries] if place.exists() else []
        is_held = bool(names) and place.stat().st_mtime >= since
        found = name if name in names else names[0] if len(names) == 1 and not is_held else None
        if found is None:
            _put(place, name, entry, accepted)
            return
        answer = _answer(entry, place, found, allowed, accepted)
        if answer.failed or answer.notes:
            _put(place, name, entry, accepted, found)
        else:
            os.utime(place)


def _put(place: Path, name: str, entry: Entry, accepted: Mapping[str, str], instead_of: str = "") -> None:
    """Put an entry into a frozen file, beside those that are there, or instead of one."""
    from pe_spectra.files.writer import write_files
    from pe_spectra.frozen.entries import write_entry
    from pe_spectra.frozen.frozen_file import FrozenFile, read_frozen, write_frozen

    frozen = read_frozen(place, "path") if place.exists() else FrozenFile(entries={})
    others = {one: held for one, held in frozen.entries.items() if one not in (name, instead_of)}
    whole = FrozenFile(
        entries={**others, name: write_entry(entry)},
        accepted={**frozen.accepted, **accepted},
        # of what another version froze, this one did not find what it found
        version=frozen.version if others else __version__,
    )
    write_files({place: write_frozen(whole).encode("utf-8", "backslashreplace")})


def read_accepted(accept: Mapping[str, str] | None, label: str = "accept") -> dict[str, str]:
    """Read which findings are accepted, and why.

    Raises
    ------
    InputError : a code that is not known, or a reason that says nothing.

    >>> read_accepted({"aliasing": "short  texts"})
    {'aliasing': 'short texts'}
    """
    if not accept:
        return {}
    from pe_spectra.capturing.faults import KINDS as OF_MODULES
    from pe_spectra.inspection import KINDS as OF_TABLES
    from pe_spectra.models.checks.kinds import KINDS
    from pe_spectra.numbers import Choice

    known = Choice(members=tuple(dict.fromkeys((*KINDS, *OF_TABLES, *OF_MODULES))))
    said: Mapping[str, object] = accept
    for code, reason in said.items():
        if not isinstance(reason, str) or not reason.strip():
            raise InputError(f"{label}: {code} is without a reason", str(reason), "a text that says why is accepted")
    return {known.check(code, label): " ".join(reason.split()) for code, reason in accept.items()}


def check(
    subject: Any, against: str | Path, *, tolerance: float | None = None, accept: Mapping[str, str] | None = None
) -> Answer:
    """Hold what a subject gives against what was frozen of it; `failed` of the answer names everything that changed.

    Parameters
    ----------
    subject : as :func:`freeze` takes it.
    against : the frozen file. Where it has one entry, that is the one; else the one with the subject's name.
    tolerance : largest relative difference of two numbers that count as equal; default a few roundings of float64.
    accept : code of a finding -> why it is no failure, beside what the file accepts.

    Raises
    ------
    InputError : a subject of another kind, a tolerance that is none, a code that is not known, or no reason.
    FileError : a file that cannot be read, is no frozen one, or has no entry for the subject.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     check("dft:d=16", freeze("dft:d=8", Path(folder) / "dft.json")).failed[0]
    'dft:d=8: encoding.parameters.d changed'
    """
    from pe_spectra.frozen.frozen_file import read_frozen

    place, accepted = Path(against), read_accepted(accept)
    allowed = _read_tolerance(tolerance)
    frozen = read_frozen(place, "against")
    # of one entry against one the names do not matter
    name = next(iter(frozen.entries)) if len(frozen.entries) == 1 else name_subject(subject)
    if name not in frozen.entries:
        raise FileError(place, f"has no entry {name}; it has {join(sorted(frozen.entries), 6)}")
    # what another version found may not be what this one finds
    known = frozen.entries[name] if frozen.version == __version__ else None
    return _answer(take_subject(subject, known), against, name, allowed, accepted)


def _read_tolerance(tolerance: object) -> float:
    from pe_spectra.exact import EXACT
    from pe_spectra.limits import MAX_TOLERANCE
    from pe_spectra.numbers import RealRange

    if tolerance is None:
        return EXACT
    return RealRange(minimum=0, maximum=MAX_TOLERANCE).check(tolerance, "tolerance")


def _answer(entry: Entry, against: str | Path, name: str, tolerance: float, accepted: Mapping[str, str]) -> Answer:
    """Hold an entry against the one of a name."""
    from pe_spectra.answers.frozen_checks import answer_check
    from pe_spectra.frozen.entries import write_entry
    from pe_spectra.frozen.frozen_file import read_frozen

    frozen = read_frozen(Path(against), "against")
    frozen = replace(frozen, entries={name: frozen.entries[name]}, accepted={**frozen.accepted, **accepted})
    found = compare_all({name: write_entry(entry)}, frozen, Path(against), tolerance)
    rows = [replace(row, file=name) for row in found]
    return answer_check(rows, frozen, against=str(against), tolerance=tolerance)


def take_named(text: str, label: str, known: Any = None) -> Entry:
    """Take what is frozen of a file or a SPEC, read as `diff` reads its sides.

    Parameters
    ----------
    label : what named it, for messages. known : what this version froze of it: what is the same is not looked into
        again.

    Raises
    ------
    InputError, FileError : what cannot be read.

    >>> take_named("dft:d=8", "WHAT").encoding["parameters"]
    {'d': 8}
    """
    from pe_spectra.frozen.entries import take_side

    encoding = find_encoding_named(text, label)
    if encoding is None:
        from pe_spectra.model_sources import read_side

        side = read_side(text, label, whole=True)
        if side.configuration is not None or side.dump is not None:
            return take_side(side, known)
        from pe_spectra.sources import build_encodings

        (encoding,) = build_encodings([text], {}, label)
    from pe_spectra.frozen.frozen_tables import take_encoding

    return take_encoding(encoding, known)


def compare_all(documents: Mapping[str, Any], frozen: FrozenFile, place: Path, tolerance: float) -> list[CheckedEntry]:
    """Hold what is there now, as values of JSON by name, against the entries of those names; all of both.

    Raises
    ------
    FileError : an entry of the frozen file that cannot be used.

    >>> from pe_spectra.frozen.frozen_file import FrozenFile
    >>> [row.state for row in compare_all({"a": {}}, FrozenFile(entries={"a": {}, "b": {}}), Path("ref.json"), 0.0)]
    ['as-frozen', 'missing']
    """
    from pe_spectra.answers.frozen_checks import ADDED, MISSING, CheckedEntry, describe_entry

    rows: list[CheckedEntry] = []
    for name in sorted({*documents, *frozen.entries}):
        if name not in documents or name not in frozen.entries:
            state = MISSING if name in frozen.entries else ADDED
            rows.append(CheckedEntry(name=name, state=state))
        elif frozen.entries[name] == documents[name]:
            rows.append(CheckedEntry(name=name))
        else:
            from pe_spectra.frozen.changes import compare_entries
            from pe_spectra.frozen.entries import read_entry

            try:
                before = read_entry(frozen.entries[name], name)
            except InputError as error:
                raise FileError(place, str(error)) from error
            now = read_entry(documents[name], name)
            # only another version may not have known a key: what a file of this one lacks, somebody took away
            document = None if frozen.version == __version__ else frozen.entries[name]
            found = compare_entries(before, now, document, tolerance)
            rows.append(describe_entry(name, found, frozen.accepted))
    return rows


def name_text(text: str) -> str:
    """Return the name of the entry of what a text names: of a file or folder its path without what says nothing.

    >>> name_text("./dft:d=8"), name_text("./."), name_text("-")
    ('./dft:d=8', '.', '-')
    """
    return os.path.normpath(text) if os.path.exists(text) else text


def name_subject(subject: Any) -> str:
    """Return the name of a subject's entry: its text, or that of its function or class.

    >>> name_subject("dft:d=8"), name_subject(len), name_subject([1.0])
    ('dft:d=8', 'len', 'list')
    """
    if isinstance(subject, str | os.PathLike):
        return name_text(os.fspath(subject))
    return str(getattr(subject, "__name__", type(subject).__name__))


def take_subject(subject: Any, known: Any = None) -> Entry:
    """Take what is frozen of a subject of any kind.

    >>> take_subject("dft:d=8").encoding["parameters"]
    {'d': 8}
    """
    if isinstance(subject, str | os.PathLike):
        return take_named(os.fspath(subject), "subject", known)
    from pe_spectra.encodings import Encoding
    from pe_spectra.frozen.frozen_tables import take_encoding

    if isinstance(subject, Encoding):
        return take_encoding(subject, known)
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        if hasattr(subject, "named_modules") or (callable(subject) and not hasattr(subject, "__array__")):
            return _take_model(subject, folder)
        place = _keep_array(subject, folder)
        try:
            return take_named(str(place), "subject", known)
        except FileError as error:
            raise InputError(f"{name_subject(subject)} cannot be frozen", error.reason) from error


def _keep_array(subject: Any, folder: str) -> Path:
    """Write an array into a file; a tensor of another framework in the type that it has there."""
    import numpy as np

    from pe_spectra.capturing.captured import store
    from pe_spectra.capturing.foreign_tensors import is_tensor, take_array
    from pe_spectra.export import encode_safetensors
    from pe_spectra.files.writer import write_files

    taken = take_array(subject) if is_tensor(subject) and hasattr(subject, "detach") else None
    values = np.asarray(subject) if taken is None and not hasattr(subject, "detach") else taken and taken.values
    if values is None or values.dtype.kind not in "biuf":
        accepted = "a model, a function of positions, an array of numbers, an encoding, a file or a SPEC is accepted"
        raise InputError("there is nothing to freeze", type(subject).__name__, accepted)
    if taken is not None:
        place = Path(folder) / "array.safetensors"
        write_files({place: encode_safetensors({"values": store(taken.values, taken.dtype)}, {})})
        return place
    place = Path(folder) / "array.npy"
    np.save(place, values)
    return place


def _take_model(subject: Any, folder: str) -> Entry:
    """What was captured of a model, as `diff` reads it of a file, and what is wrong with it."""
    from pe_spectra.capturing.capture import capture
    from pe_spectra.frozen.digests import digest_array
    from pe_spectra.frozen.entries import Entry, take_finding

    found = capture(subject)
    if found.rotations or len(found.tables) == 1:
        entry = take_named(str(found.save(Path(folder) / "capture.safetensors")), "subject")
    else:  # of several tables alone a reader of a file names one
        entry = Entry(arrays={one.name: digest_array(one.values, one.dtype) for one in found.tables})
    return replace(entry, findings=tuple(map(take_finding, found.findings)))
