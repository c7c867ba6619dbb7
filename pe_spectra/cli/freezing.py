"""The commands that freeze what must not change silently, and hold it against what is there now."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pe_spectra._version import __version__
from pe_spectra.cli.run import Outcome, Run
from pe_spectra.errors import FileError, InputError
from pe_spectra.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pe_spectra.frozen.entries import Entry
    from pe_spectra.frozen.frozen_file import FrozenFile

_WHAT = "WHAT"


def freeze(
    run: Run, items: Sequence[str] | None, frozen: str | None, accept: Sequence[str] | None, reason: str | None
) -> Outcome:
    """The file is JSON that people can read: frequencies, attention scaling, layout, axes, types, lengths,
    windows, an indexer's rotation, digests and metrics of tables, and findings. A file that is there and
    holds something else is not overwritten: check --update does that, and shows first what changed.
    """
    named = _name_items(items)
    place = _read_place(frozen)
    accepted = _read_accepted(accept, reason)
    from pe_spectra.answers.frozen_checks import answer_frozen
    from pe_spectra.frozen.frozen_file import FrozenFile

    with run.progress("freezing") as progress:
        taken = _take_all(named, {}, progress)
    if taken.errors:
        return Outcome(messages=taken.errors, exit_code=2)
    data = _encode(FrozenFile(entries=taken.documents, accepted=accepted))
    _refuse_other(place, data)
    again = shlex.join(["pe-spectra", "check", *(items or ()), "--against", str(place)])
    answer = answer_frozen(taken.entries, output=str(place), accepted=accepted, again=again)
    return _write(run.finish(answer), place, data, quiet=run.quiet)


def check(
    run: Run,
    items: Sequence[str] | None,
    against: str | None,
    tolerance: float | None,
    accept: Sequence[str] | None,
    reason: str | None,
    update: bool,
) -> Outcome:
    """Exit 1 where anything changed, an entry is missing, or a finding is new whose code was not accepted;
    what is added, and a finding that is gone, is told. Numbers that differ by a few roundings of
    float64, which machines may do otherwise, count as equal; with --tolerance 0 every bit counts. Of one
    entry against one the names do not matter.
    """
    named = _name_items(items)
    if not against:
        raise InputError("--against is missing", accepted="the file that freeze wrote")
    more = _read_accepted(accept, reason)
    from pe_spectra.answers.frozen_checks import answer_check
    from pe_spectra.checking import compare_all
    from pe_spectra.exact import EXACT
    from pe_spectra.frozen.frozen_file import FrozenFile, read_frozen

    place, allowed = Path(against), EXACT if tolerance is None else tolerance
    frozen = read_frozen(place, "--against")
    frozen = replace(frozen, accepted={**frozen.accepted, **more})
    with run.progress("checking") as progress:
        named = _match_one(named, frozen)
        # what another version found may not be what this one finds
        taken = _take_all(named, frozen.entries if frozen.version == __version__ else {}, progress)
        if taken.errors:
            return Outcome(messages=taken.errors, exit_code=2)
        rows = [replace(row, file=named.get(row.name)) for row in compare_all(taken.documents, frozen, place, allowed)]
    outcome = run.finish(answer_check(rows, frozen, against=against, tolerance=allowed, updated=update))
    data = _encode(FrozenFile(entries=taken.documents, accepted=frozen.accepted)) if update else b""
    return _write(outcome, place, data, quiet=run.quiet) if update else outcome


# --------------------------------------------------------------------- what is named


def _name_items(items: Sequence[str] | None) -> dict[str, str]:
    """Give each model, dump, table or SPEC its name; in a folder that is named alone, its path from there."""
    if not items:
        raise InputError("WHAT is missing", accepted="a configuration, a dump, a table, a SPEC, or a folder of models")
    from pe_spectra.checking import name_text

    found: dict[str, str] = {}
    for item in items:
        models = [item]
        if os.path.isdir(os.path.expanduser(item)):
            from pe_spectra.files.model_folders import list_models

            models = list_models(item)
        is_folder = len(items) == 1 and models != [item]
        for text in models:
            name = os.path.relpath(text, item).replace(os.sep, "/") if is_folder else name_text(text)
            if name in found:
                raise InputError("WHAT has one name twice", name, "each is accepted once")
            found[name] = text
    return found


def _match_one(named: dict[str, str], frozen: FrozenFile) -> dict[str, str]:
    """Of one entry against one take the name that is frozen."""
    if len(named) == len(frozen.entries) == 1:
        return dict(zip(frozen.entries, named.values(), strict=True))
    return named


def _read_place(output: str | None) -> Path:
    """Check where the frozen file goes, before any work."""
    if output is None or not output.endswith(".json") or Path(output).name == ".json":
        what = "--output is missing" if output is None else "--output is no name of a frozen file"
        raise InputError(what, "" if output is None else output or "''", "a file ending in .json is accepted")
    from pe_spectra.files.places import check_writable

    check_writable([Path(output)], label="--output")
    return Path(output)


def _read_accepted(accept: Sequence[str] | None, reason: str | None) -> dict[str, str]:
    """Read which findings are accepted, and why: one reason for all that one command names."""
    if not accept and reason is None:
        return {}
    if not accept or reason is None or not reason.strip():
        lacking = "--accept" if not accept else "--reason"
        raise InputError(f"{lacking} is missing", accepted="--accept CODE --reason TEXT")
    from pe_spectra.checking import read_accepted

    return read_accepted(dict.fromkeys(accept, reason), "--accept")


# --------------------------------------------------------------------- what is there


class _Taken(NamedTuple):
    """What is there, by name: as entries, and as values of JSON; and what is wrong with the others."""

    entries: dict[str, Entry]
    documents: dict[str, Any]
    errors: tuple[str, ...]


def _take_all(named: Mapping[str, str], known: Mapping[str, Any], progress: Callable[[int, int], None]) -> _Taken:
    from pe_spectra.checking import take_named
    from pe_spectra.frozen.entries import write_entry

    taken = _Taken({}, {}, ())
    for name, text in named.items():
        progress(len(taken.entries), len(named))
        try:
            entry = take_named(text, _WHAT, known.get(name))
        except (FileError, InputError) as error:
            if len(named) == 1:
                raise
            message = str(error)
            said = message if text in message else f"{text}: {message}"
            taken = taken._replace(errors=(*taken.errors, f"error: {said}"))
        else:
            taken.entries[name], taken.documents[name] = entry, write_entry(entry)
    return taken


# --------------------------------------------------------------------- the file


def _encode(frozen: FrozenFile) -> bytes:
    from pe_spectra.frozen.frozen_file import write_frozen

    return write_frozen(frozen).encode("utf-8", "backslashreplace")


def _refuse_other(place: Path, data: bytes) -> None:
    """Refuse to overwrite a file that holds something else."""
    from pe_spectra.files.reading import read_bytes
    from pe_spectra.limits import MAX_FROZEN_BYTES

    if place.exists() and read_bytes(place, limit=MAX_FROZEN_BYTES, label="--output") != data:
        accepted = "another name, or check WHAT --against it --update, which shows first what changed"
        raise FileError(place, f"is there and holds something else (--output); accepted: {accepted}")


def _write(outcome: Outcome, place: Path, data: bytes, *, quiet: bool) -> Outcome:
    messages = outcome.messages if quiet else (f"wrote {place}", *outcome.messages)
    return outcome._replace(files={**outcome.files, place: data}, messages=messages)
