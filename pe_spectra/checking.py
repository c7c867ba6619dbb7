"""Freeze what a model that runs, an array, a file or a formula gives, and hold it against what is there now."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
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

    >>> with TemporaryDirectory() as folder:
    ...     check("dft:d=8", freeze("dft:d=8", Path(folder) / "dft.json")).verdict.text
    'As frozen: dft:d=8.'
    """
    place, accepted = Path(path), read_accepted(accept)
    if place.suffix != ".json":
        raise InputError("what is frozen is written as .json", str(path), "a path that ends with .json")
    put_entry(place, name_subject(subject), take_subject(subject), accepted)
    return place


def put_entry(
    place: Path, name: str, entry: Entry, accepted: Mapping[str, str], instead_of: Collection[str] = ()
) -> None:
    """Put an entry into a frozen file, beside those that are there; processes that do so wait for one another.

    Parameters
    ----------
    name : of the entry. instead_of : names of entries that are taken out.

    Raises
    ------
    FileError : a file that cannot be read or written.

    >>> from pe_spectra.frozen.entries import Entry
    >>> from pe_spectra.frozen.frozen_file import read_frozen
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("a", "b"):
    ...         put_entry(Path(folder) / "ref.json", name, Entry(), {})
    ...     sorted(read_frozen(Path(folder) / "ref.json", "").entries)
    ['a', 'b']
    """
    from pe_spectra.files.turns import take_turns
    from pe_spectra.files.writer import write_files
    from pe_spectra.frozen.entries import write_entry
    from pe_spectra.frozen.frozen_file import FrozenFile, read_frozen, write_frozen

    with take_turns(place):
        frozen = read_frozen(place, "path") if place.exists() else FrozenFile(entries={})
        others = {one: held for one, held in frozen.entries.items() if one not in {name, *instead_of}}
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
    from pe_spectra.models.checks import KINDS
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

    >>> with TemporaryDirectory() as folder:
    ...     check("dft:d=16", freeze("dft:d=8", Path(folder) / "dft.json")).failed[0]
    'dft:d=8: encoding.parameters.d changed'
    """
    from pe_spectra.answers.frozen_checks import answer_check
    from pe_spectra.frozen.entries import write_entry
    from pe_spectra.frozen.frozen_file import read_frozen
    from pe_spectra.models.comparison.divergence import EXACT

    allowed = EXACT if tolerance is None else tolerance
    given: object = allowed
    if isinstance(given, bool) or not isinstance(given, float | int) or not 0 <= given < 1:
        raise InputError("tolerance is out of range", str(tolerance), "a number from 0 to below 1 is accepted")
    place, accepted = Path(against), read_accepted(accept)
    frozen = read_frozen(place, "against")
    frozen = replace(frozen, accepted={**frozen.accepted, **accepted})
    # of one entry against one the names do not matter
    name = next(iter(frozen.entries)) if len(frozen.entries) == 1 else name_subject(subject)
    if name not in frozen.entries:
        raise FileError(place, f"has no entry {name}; it has {join(sorted(frozen.entries), 6)}")
    frozen = replace(frozen, entries={name: frozen.entries[name]})
    # what another version found may not be what this one finds
    known = frozen.entries[name] if frozen.version == __version__ else None
    document = write_entry(take_subject(subject, known))
    rows = [replace(row, file=name) for row in compare_all({name: document}, frozen, place, allowed)]
    return answer_check(rows, frozen, against=str(against), tolerance=allowed)


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

        side = read_side(text, label)
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


def name_subject(subject: Any) -> str:
    """Return the name of a subject's entry: its text, or that of its function or class.

    >>> name_subject("dft:d=8"), name_subject(len), name_subject([1.0])
    ('dft:d=8', 'len', 'list')
    """
    if isinstance(subject, str | os.PathLike):
        return os.fspath(subject)
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
    with TemporaryDirectory() as folder:
        if hasattr(subject, "named_modules") or (callable(subject) and not hasattr(subject, "__array__")):
            return _take_model(subject, folder)
        import numpy as np

        values = np.asarray(subject)
        if values.dtype.kind not in "biuf":
            accepted = (
                "a model, a function of positions, an array of numbers, an encoding, a file or a SPEC is accepted"
            )
            raise InputError("there is nothing to freeze", type(subject).__name__, accepted)
        place = Path(folder) / "array.npy"
        np.save(place, values)
        return take_named(str(place), "subject", known)


def _take_model(subject: Any, folder: str) -> Entry:
    """What was captured of a model, as `diff` reads it of a file, and what is wrong with it."""
    from pe_spectra.capturing.capture import capture
    from pe_spectra.frozen.entries import take_finding

    found = capture(subject)
    entry = take_named(str(found.save(Path(folder) / "capture.safetensors")), "subject")
    return replace(entry, findings=tuple(map(take_finding, found.findings)))
