"""What was frozen, and what is not as it was frozen, as answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pe_spectra._version import __version__
from pe_spectra.answers.answer import Answer, Body, Verdict, Verdicts
from pe_spectra.faces import Cell
from pe_spectra.frozen.entries import WHOLE, Change, Entry, EntryComparison, FrozenFinding
from pe_spectra.frozen.frozen_file import FrozenFile
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import CODE_PATTERN, RANKS
from pe_spectra.wording import count, join

VERDICTS = Verdicts({"frozen": "ok", "as-frozen": "ok", "changed": "warning", "breaks": "error"})
#: What became of an entry.
STATES = SAME, CHANGED, MISSING, ADDED = ("as-frozen", "changed", "missing", "added")
_ENTRY, _RARE = "entry", ("first_position", "layers")
#: The columns of what changed. On a terminal the entry is shown where there are several, for the verdict names one, and
#: the last where they say anything.
_COLUMNS = (_ENTRY, "what", "frozen", "now", "effect", *_RARE)


@dataclass(frozen=True, kw_only=True)
class Acceptance(Result):
    """Findings that may be there, and why."""

    code: str = quantity("Code of the findings.", pattern=CODE_PATTERN)
    reason: str = quantity("The reason that was given.")


@dataclass(frozen=True, kw_only=True)
class FrozenRow(Result):
    """One entry of a frozen file."""

    name: str = quantity("Its name: as it was typed, or within the folder that was.")
    holds: str = quantity("What it holds: the kind of its positional encoding, a dump, or the encoding of a table.")
    layers: int = quantity("Types of layers.", minimum=0)
    frequencies: int = quantity("Frequencies of all of them.", minimum=0)
    findings: tuple[str, ...] = quantity("Codes of its findings above a note.", default=())


@dataclass(frozen=True, kw_only=True)
class FreezeBody(Body):
    """What was frozen."""

    kind = "freeze"
    draws = False
    output: str = quantity("The frozen file.", asked=True)
    accepted: tuple[Acceptance, ...] = quantity("Findings that are accepted, by code.")
    rows: tuple[FrozenRow, ...] = quantity("One for each entry, by name.", least=1)


@dataclass(frozen=True, kw_only=True)
class CheckedEntry(Result):
    """One entry of a frozen file, held against what is there now."""

    name: str = quantity("Its name in the frozen file.")
    file: str | None = quantity("What was read, as it was named; null where nothing was.", default=None)
    state: str = quantity(
        "As it was frozen, changed, no longer there, or there now and not frozen.", words=STATES, default=SAME
    )
    text: str | None = quantity("What changed, in one sentence; null where nothing did.", default=None)
    changes: tuple[Change, ...] = quantity("What is not as it was frozen.", default=())
    new: tuple[FrozenFinding, ...] = quantity("Findings that were not there, or of a lower level.", default=())
    gone: tuple[FrozenFinding, ...] = quantity("Findings that are not there any more.", default=())
    unknown: tuple[str, ...] = quantity("Keys that the program which froze it did not know.", default=())


@dataclass(frozen=True, kw_only=True)
class CheckBody(Body):
    """What is there now, held against what was frozen."""

    kind = "check"
    draws = False
    against: str = quantity("The frozen file.", asked=True)
    tolerance: float = quantity(
        "Largest relative difference of two numbers that count as equal.", minimum=0, asked=True
    )
    updated: bool = quantity("Whether the file was written anew.", asked=True)
    frozen_by: str = quantity("Version of the program that froze it.")
    accepted: tuple[Acceptance, ...] = quantity("Findings that are accepted, by code.")
    rows: tuple[CheckedEntry, ...] = quantity("One for each entry, by name.", least=1)


# --------------------------------------------------------------------- freeze


def answer_frozen(entries: Mapping[str, Entry], *, output: str, accepted: Mapping[str, str], again: str = "") -> Answer:
    """Turn what was frozen into an answer.

    Parameters
    ----------
    output : the frozen file. accepted : codes of findings with reasons. again : the command that checks it.

    >>> from pe_spectra.frozen.entries import FrozenLayer
    >>> answer_frozen({"a.json": Entry(layers={"all": FrozenLayer()})}, output="ref.json", accepted={}).verdict.text
    'Frozen: 1 entry in ref.json.'
    """
    rows = tuple(_describe(name, entry) for name, entry in sorted(entries.items()))
    open_ones = {code: [row.name for row in rows if code in row.findings] for row in rows for code in row.findings}
    notes = [
        f"{code} of {join(names, 3)} is frozen without a reason; --accept {code} --reason TEXT gives one"
        for code, names in open_ones.items()
        if code not in accepted
    ]
    return Answer(
        body=FreezeBody(output=output, accepted=_list_acceptances(accepted), rows=rows),
        verdict=VERDICTS.say("frozen", f"Frozen: {count(len(rows), 'entry', 'entries')} in {output}."),
        results=rows,
        facts=_list_accepted(accepted),
        notes=notes,
        narrow=("name",),
        next_command=again,
    )


def _describe(name: str, entry: Entry) -> FrozenRow:
    schemes = [layer.scheme for layer in entry.layers.values() if layer.scheme]
    named = [str(entry.encoding["name"])] if entry.encoding else []
    rotations = [one.frequencies for one in entry.list_rotations().values()]
    own = 0 if entry.frequencies is None else len(entry.frequencies)
    return FrozenRow(
        name=name,
        holds=", ".join(dict.fromkeys(named or schemes)) or "dump",
        layers=len(entry.layers),
        frequencies=own + sum(len(one) for one in rotations if one is not None),
        findings=tuple(dict.fromkeys(one.code for one in entry.findings if RANKS.get(one.level, 0) > RANKS["note"])),
    )


def _list_acceptances(accepted: Mapping[str, str]) -> tuple[Acceptance, ...]:
    return tuple(Acceptance(code=code, reason=reason) for code, reason in sorted(accepted.items()))


def _list_accepted(accepted: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(f"accepted: {code}", reason) for code, reason in accepted.items()]


# --------------------------------------------------------------------- check


def describe_entry(name: str, found: EntryComparison, accepted: Mapping[str, str]) -> CheckedEntry:
    """Describe an entry that may have changed; a new finding whose code is accepted is no change.

    >>> describe_entry("a.json", EntryComparison(), {}).state
    'as-frozen'
    """
    new = [one for one in found.new if one.code not in accepted]
    changed = bool(found.changes or new)
    return CheckedEntry(
        name=name,
        state=CHANGED if changed else SAME,
        text=_say(found, new) if changed else None,
        changes=found.changes,
        new=found.new,
        gone=found.gone,
        unknown=found.unknown,
    )


def _say(found: EntryComparison, new: Sequence[FrozenFinding]) -> str:
    """What changed, the likely cause first, without a full stop."""
    told = [one.what for one in found.diff.differences] if found.diff is not None else []
    if told and found.diff is not None:
        from pe_spectra.answers.differences import judge_rotations

        said = judge_rotations(found.diff).text.removesuffix(".")
    elif found.changes:
        first = found.changes[0]
        where = "" if first.layers in ((), ("all",), (WHOLE,)) else f"{join(list(first.layers), 3)}: "
        said, told = f"{where}{first.effect}", [first.what]
    else:
        codes = [*dict.fromkeys(one.code for one in new)]
        return f"new finding{'s' if len(codes) > 1 else ''} {join(codes)}: {new[0].message}".removesuffix(".")
    others = [one.what for one in found.changes if one.what not in told]
    return f"{said}; also {join([*dict.fromkeys(others)])}" if others else said


def answer_check(
    rows: Sequence[CheckedEntry], frozen: FrozenFile, *, against: str, tolerance: float, updated: bool = False
) -> Answer:
    """Turn what became of the entries of a frozen file into an answer; a check that is not an update may fail.

    Parameters
    ----------
    rows : one for each entry, by name. frozen : the file, with all that is accepted. against : its name.

    >>> rows = [CheckedEntry(name="a.json"), CheckedEntry(name="b.json", state=MISSING)]
    >>> answer_check(rows, FrozenFile(entries={}), against="ref.json", tolerance=0.0).verdict.text
    'Not as frozen: b.json is no longer there.'
    """
    columns = _list_changes(rows)
    return Answer(
        body=CheckBody(
            against=against,
            tolerance=tolerance,
            updated=updated,
            frozen_by=frozen.version,
            accepted=_list_acceptances(frozen.accepted),
            rows=tuple(rows),
        ),
        verdict=_judge(rows, against),
        table=columns,
        facts=[*_list_facts(rows, against, frozen.version), *_list_accepted(frozen.accepted)],
        notes=tuple(_list_notes(rows, against, frozen)),
        shown=[name for name in _COLUMNS if _says_anything(name, columns[name])],
        narrow=(_ENTRY,),
        failed=[] if updated else [text for row in rows for text in _list_failures(row, frozen.accepted)],
    )


def _list_facts(rows: Sequence[CheckedEntry], against: str, frozen_by: str) -> Iterator[tuple[str, str]]:
    if any(row.changes for row in rows):
        yield "A", f"as {against} has it"
        yield "B", f"as {rows[0].file} is now" if len(rows) == 1 else "as it is now"
    if frozen_by != __version__:
        yield "frozen by", frozen_by


def _judge(rows: Sequence[CheckedEntry], against: str) -> Verdict:
    wrong = [row for row in rows if row.state in (CHANGED, MISSING)]
    if not wrong:
        checked = [row.name for row in rows if row.state == SAME]
        every = checked[0] if len(checked) == 1 else f"all {count(len(checked), 'entry', 'entries')} of {against}"
        return VERDICTS.say("as-frozen", f"As frozen: {every}.")
    first = next((row for row in wrong if _find_first(row) is not None), wrong[0])
    said = "is no longer there" if first.state == MISSING else first.text
    more = len(wrong) - 1
    others = (
        f"; {count(more, 'other entry', 'other entries')} of {len(rows)} {'is' if more == 1 else 'are'} not"
        if more
        else ""
    )
    text = f"Not as frozen: {first.name}{' ' if first.state == MISSING else ': '}{said}{others}."
    return VERDICTS.say("changed" if _find_first(first) is None else "breaks", text)


def _find_first(row: CheckedEntry) -> int | None:
    firsts = [one.first_position for one in row.changes if one.first_position is not None]
    return min(firsts, default=None)


def _list_failures(row: CheckedEntry, accepted: Mapping[str, str]) -> Iterator[str]:
    """Name everything of an entry that fails a check."""
    if row.state == MISSING:
        yield f"{row.name}: no longer there"
    for what in dict.fromkeys(one.what for one in row.changes):
        yield f"{row.name}: {what} changed"
    for code in dict.fromkeys(one.code for one in row.new if one.code not in accepted):
        yield f"{row.name}: new finding {code}"


def _list_changes(rows: Sequence[CheckedEntry]) -> Mapping[str, Sequence[Cell]]:
    """One row for each change, each new finding, and each entry that is no longer there."""
    found = [cells for row in rows for cells in _list_cells(row)]
    return {name: [cells[place] for cells in found] for place, name in enumerate(_COLUMNS)}


def _says_anything(name: str, cells: Sequence[Cell]) -> bool:
    """Whether a column is for a terminal."""
    if name == _ENTRY:
        return len({*cells}) > 1
    return name not in _RARE or bool({*cells} - {None, "", "all"})


def _list_cells(row: CheckedEntry) -> Iterator[tuple[Cell, ...]]:
    for one in row.changes:
        yield row.name, one.what, one.frozen, one.now, one.effect, one.first_position, ", ".join(one.layers)
    for new in row.new:
        yield row.name, "findings", None, new.code, new.message, None, new.layers or ""
    if row.state == MISSING:
        yield row.name, "entry", "there", None, "no longer there", None, ""


def _list_notes(rows: Sequence[CheckedEntry], against: str, frozen: FrozenFile) -> Iterator[str]:
    """Say what is told without failing a check."""
    added = [row.name for row in rows if row.state == ADDED]
    if added:
        them = "it" if len(added) == 1 else "them"
        yield f"not in {against}, and so not checked: {join(added, 6)}; --update adds {them}"
    for row in rows:
        for code in dict.fromkeys(one.code for one in row.new if one.code in frozen.accepted):
            yield f"{row.name}: new finding {code} is accepted: {frozen.accepted[code]}"
        for code in dict.fromkeys(one.code for one in row.gone):
            yield f"{row.name}: finding {code} is gone; --update leaves it out"
    unknown = dict.fromkeys(key for row in rows for key in row.unknown)
    if unknown:
        yield f"{frozen.version}, which froze it, did not know {join([*unknown])}: not compared; --update adds it"
