"""The command that gathers answers on a page: report."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pe_spectra.cli.commands import COMMANDS
from pe_spectra.cli.run import Outcome, Run
from pe_spectra.cli.terminal import escape
from pe_spectra.errors import InputError, PeSpectraError, shorten
from pe_spectra.wording import count, join

if TYPE_CHECKING:
    from pe_spectra.answers.answer import Answer, Body
    from pe_spectra.reports.page import Section

_Line = tuple[str, ...]

_WHAT = "WHAT"
#: What is answered of the paper: its two figures, what stands beside them, and what it states.
_PAPER: Sequence[_Line] = (
    ("spectrum", "--d", "256", "--rho", "10000"),
    ("reconstruct", "--s", "5", "40", "75"),
    ("faithfulness", "--length", "80"),
    ("count-low-bin", "--d", "256", "512", "--rho", "10000"),
    ("claims", "--source", "paper"),
    ("experiment report",),
)
#: What is answered of one thing of a kind, its name last; what a command refuses is said in its place.
_OF_ONE: Mapping[str, Sequence[_Line]] = {
    "folder": (("audit",),),
    "model": (("audit",), ("diff", "--all-stacks")),
    "table": (("inspect",), ("spectrum", "-e"), ("reconstruct", "-e"), ("faithfulness", "-e"), ("count-low-bin", "-e")),
    "experiment": (("experiment report",), ("experiment report", "--by-number")),
    "series": (("series",),),
}
#: What is answered of several, by the kinds that they have.
_OF_SEVERAL: Mapping[frozenset[str], Sequence[_Line]] = {
    frozenset({"folder"}): (("audit",),),
    frozenset({"folder", "model"}): (("audit",),),
    frozenset({"model"}): (("diff",), ("audit",)),
    frozenset({"model", "table"}): (("diff",),),
    frozenset({"table"}): (("compare",), ("diff",)),
}
#: Flags that stand in the name of an answer.
_TELLING = ("--all-stacks", "--by-number")
_LIBRARIES = ("numpy", "scipy", "matplotlib")
#: Characters of a title.
_TITLE = 120


def report(run: Run, items: Sequence[str] | None, paper: bool, output: str | None) -> Outcome:
    """Of a configuration its audit and how every implementation reads it; of a folder the audit of all
    models; of a SPEC or a table its portrait, spectrum, reconstruction and faithfulness; of several what
    differs; of an experiment what it showed; of a recorded series which encoding suits it. Tables are
    sorted, filtered and copied on the page, figures say their numbers under the pointer, and each answer
    stands with the command that gives it again.
    """  # fmt: skip
    lines = _list_lines(items or (), paper)
    place = _read_place(output)
    from pe_spectra.citation import BIBTEX
    from pe_spectra.reports.page import Page, write_page

    with run.progress("answering") as progress:
        sections, missing = _answer_all(lines, progress)
    if missing is not None:
        return missing
    named = items or ()
    title = "the paper" if paper else join([escape(shorten(one)) for one in named], most=4)
    page = Page(
        title=f"pe-spectra: {shorten(title, _TITLE)}",
        command=_write_line(("report", *(["--paper"] if paper else named), "--output", str(place))),
        sections=sections,
        versions=_find_versions(),
        citation=BIBTEX,
    )
    written = f"wrote {place} ({count(sum(not one.refused for one in sections), 'answer')})"
    data = write_page(page).encode("utf-8", "backslashreplace")
    return Outcome(messages=() if run.quiet else (written,), files={place: data})


# --------------------------------------------------------------------- what is asked for


def _list_lines(items: Sequence[str], paper: bool) -> Sequence[_Line]:
    """The command lines whose answers stand on the page, without the name of the program."""
    if paper:
        if items:
            raise InputError("--paper takes nothing beside it", items[0], "leave it out")
        return _PAPER
    if not items:
        raise InputError(
            "WHAT is missing", accepted="a SPEC, a table, a configuration, a folder, or --paper is accepted"
        )
    for one in items:
        if one.startswith("-"):
            accepted = f"./{one} names a file" if one != "-" else "a file, for it is read by several commands"
            raise InputError("WHAT is no name" if one != "-" else "WHAT is standard input", one, accepted)
    kinds = [_find_kind(one) for one in items]
    lines = _OF_ONE[kinds[0]] if len(items) == 1 else _OF_SEVERAL.get(frozenset(kinds), ())
    if not lines:
        odd = next(one for one, kind in zip(items, kinds, strict=True) if kind not in ("model", "table"))
        raise InputError(f"WHAT is of kinds that are not compared ({join(kinds)})", odd, "it alone")
    return [(*line, *items) for line in lines]


def _find_kind(text: str) -> str:
    """What a name stands for: a model, a folder of models, a table (or a SPEC, or a dump), an experiment, a series."""
    from pe_spectra.files.model_folders import has_models

    if has_models(text):
        return "folder"
    from pe_spectra.files.ledger import is_ledger
    from pe_spectra.files.recorded_series import is_series
    from pe_spectra.model_sources import read_side
    from pe_spectra.naming import find_encoding_named

    if is_ledger(Path(text).expanduser()):
        return "experiment"
    if is_series(Path(text).expanduser()):
        return "series"
    if find_encoding_named(text, _WHAT) is not None:
        return "table"
    return "model" if read_side(text, _WHAT).configuration is not None else "table"


def _read_place(output: str | None) -> Path:
    """Check where the page goes, before any work."""
    if output is None or not output.lower().endswith(".html") or Path(output).name.lower() == ".html":
        what = "--output is missing" if output is None else "--output is no name of a page"
        raise InputError(what, "" if output is None else output or "''", "a file ending in .html is accepted")
    from pe_spectra.files.places import check_writable

    check_writable([Path(output)], label="--output")
    return Path(output)


# --------------------------------------------------------------------- answers


def _answer_all(lines: Sequence[_Line], progress: Callable[[int, int], None]) -> tuple[list[Section], Outcome | None]:
    """Answer every line; what is left of one that could not read all of its files, and then there is no page.

    What one command refuses another may answer: where none does, the first reason is the error.
    """
    sections: list[Section] = []
    refusals: list[PeSpectraError] = []
    for number, line in enumerate(lines):
        progress(number, len(lines))
        try:
            outcome = _answer(line)
        except PeSpectraError as error:
            refusals.append(error)
            sections.append(_refuse(line, str(error)))
            continue
        if outcome.answer is None or outcome.exit_code == 2:
            return [], Outcome(messages=outcome.messages, exit_code=outcome.exit_code)
        sections.append(_describe(line, outcome, outcome.answer, number))
    if len(refusals) == len(lines):
        raise refusals[0]
    return sections, None


def _answer(line: _Line) -> Outcome:
    """Run a command as if it were typed, and give what it leaves; nothing is written."""
    from pe_spectra.cli.declared import find_command

    name, *words = line
    command: Any = find_command(name)
    # all rows, whatever the terminal is; its document is never written
    words += ["--format", "json", "--quiet", *["--no-figure"] * (COMMANDS[name].figure is not None)]
    with command.make_context(name, words) as ctx:
        outcome: Outcome = command.invoke(ctx)
    return outcome


def _describe(line: _Line, outcome: Outcome, answer: Answer, number: int) -> Section:
    from pe_spectra.cli.markup import describe
    from pe_spectra.reports.page import Section, Table

    content = describe(answer, full=True)
    findings = _list_findings(answer)
    said = {": ".join(pair) for pair in zip(findings.get("code", ()), findings.get("message", ()), strict=True)}
    rows = Table(title=_say_first(answer.body), columns=content.columns, digits=content.digits)
    figure = _draw(outcome.draw, content.verdict, f"figure-{number + 1}-")
    return Section(
        command=_write_line(line),
        name=_entitle(line),
        purpose=COMMANDS[line[0]].summary,
        level=answer.verdict.level,
        verdict=content.verdict,
        findings=[Table(title="Findings.", columns=findings)] if findings else [],
        facts=[(label, text) for label, text in content.facts if text not in said],
        notes=[escape(note) for note in answer.notes],
        rows=[rows] if content.columns else [],
        last=content.last,
        **figure,
    )


def _say_first(body: Body) -> str:
    """What the rows are about, as it is declared of such answers: the first line."""
    return (type(body).__doc__ or body.kind).partition("\n")[0]


def _refuse(line: _Line, reason: str) -> Section:
    from pe_spectra.reports.page import Section

    return Section(
        command=_write_line(line), name=_entitle(line), purpose=COMMANDS[line[0]].summary, refused=escape(reason)
    )


def _draw(draw: Callable[[], Any] | None, title: str, prefix: str) -> dict[str, Any]:
    if draw is None:
        return {}
    from importlib import import_module

    found = import_module("pe_spectra.plots.inline").draw_inline(draw, title, prefix)
    return {"figure": found.svg, "values": found.values}


def _list_findings(answer: Answer) -> dict[str, list[str]]:
    """The findings of an answer by column, with their files where there are several; none where its rows are these."""
    from pe_spectra.findings import collect_findings

    found = [] if "message" in answer.columns else list(collect_findings(answer.body))
    columns = {"file": [escape(owner) for owner, _ in found]} if len({owner for owner, _ in found}) > 1 else {}
    names = ("level", "code", "message") if found else ()
    return columns | {name: [escape(str(getattr(one, name))) for _, one in found] for name in names}


def _entitle(line: _Line) -> str:
    """The command, and a flag that tells it from another of its answers."""
    return " ".join([line[0], *(word for word in line[1:] if word in _TELLING)])


def _write_line(line: Sequence[str]) -> str:
    """A command line as a shell reads it, where it can be printed as it is."""
    name, *words = line
    return escape(f"pe-spectra {name} {shlex.join(words)}".rstrip())


def _find_versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    from pe_spectra._version import __version__

    return {
        "pe-spectra": __version__,
        "Python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }
