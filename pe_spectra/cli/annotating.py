"""Findings about files as code hosts read them: SARIF 2.1.0, and commands of a workflow of GitHub."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pe_spectra._version import __version__
from pe_spectra.answers.annotations import UNUSABLE, Annotation, Annotations
from pe_spectra.cli.program import NAME
from pe_spectra.cli.terminal import escape
from pe_spectra.findings import Kind

_SARIF = "2.1.0"
_SCHEMA = f"https://docs.oasis-open.org/sarif/sarif/v{_SARIF}/errata01/os/schemas/sarif-schema-{_SARIF}.json"
#: What stands for the folder of the repository, which the host knows.
_ROOT = "%SRCROOT%"
#: Level of a finding -> the command of a workflow; SARIF has our words.
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
#: What the value of a command, and besides that of one of its properties, may not hold.
_IN_VALUES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = {**_IN_VALUES, ":": "%3A", ",": "%2C"}


def write_annotations(annotations: Annotations, form: str) -> str:
    """Write findings in one of the forms of `WRITERS`."""
    return WRITERS[form](annotations)


def _write_sarif(annotations: Annotations) -> str:
    """One run with the rules that found something.

    A file that could not be used is a notification, where SARIF has the failures of a program, and a result, too, for
    code hosts show nothing else at a file.
    """
    kinds = list({one.kind.code: one.kind for one in annotations.found}.values())
    numbers = {kind.code: number for number, kind in enumerate(kinds)}
    driver = {"name": NAME, "version": __version__, "rules": [_describe_rule(kind) for kind in kinds]}
    results = [_describe_result(one, numbers[one.kind.code]) for one in annotations.found]
    failures = [
        {name: value for name, value in result.items() if name in ("level", "message", "locations")}
        for result in results
        if result["ruleId"] == UNUSABLE.code
    ]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not failures, "toolExecutionNotifications": failures}],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": _SARIF, "runs": [run]}, indent=2) + "\n"


def _describe_rule(kind: Kind) -> dict[str, Any]:
    help_text = "\n".join((f"What is computed: {kind.formula}", *(f"Source: {one}" for one in kind.references)))
    return {
        "id": kind.code,
        "shortDescription": _say(kind.phrase),
        "fullDescription": _say(kind.reasoning),
        "help": _say(help_text),
        "defaultConfiguration": {"level": kind.levels[0]},
    }


def _describe_result(one: Annotation, rule: int) -> dict[str, Any]:
    result = {
        "ruleId": one.kind.code,
        "ruleIndex": rule,
        "level": one.finding.level,
        "message": _say(one.finding.message),
    }
    if one.path is None:
        return result
    place = _locate(one.path)
    if one.region is not None:
        region = {"startLine": one.region.line, "startColumn": one.region.column, "endColumn": one.region.end}
        place["region"] = region
    return {**result, "locations": [{"physicalLocation": place}]}


def _say(text: str) -> dict[str, str]:
    """A message of plain text, of which SARIF reads braces as places for values, and [..](..) as a link."""
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def _locate(path: Path) -> dict[str, Any]:
    """The file by its name from the working directory, which is that of the repository; elsewhere by its whole path."""
    inner = _find_inner(path)
    if inner is None:
        return {"artifactLocation": {"uri": path.absolute().as_uri()}}
    return {"artifactLocation": {"uri": Path("/", inner).as_uri().removeprefix("file:///"), "uriBaseId": _ROOT}}


def _find_inner(path: Path) -> str | None:
    """The name of a file from the working directory, with strokes between folders; None for one that is not below."""
    inner = Path(os.path.relpath(path))
    return None if ".." in inner.parts or inner.is_absolute() else inner.as_posix()


def _write_commands(annotations: Annotations) -> str:
    """A command for each finding."""
    lines: list[str] = []
    for one in annotations.found:
        place: dict[str, object] = {} if one.path is None else {"file": _find_inner(one.path) or one.path}
        if one.region is not None:
            place |= {"line": one.region.line, "col": one.region.column, "endColumn": one.region.end}
        lines.append(_write_command(_COMMANDS[one.finding.level], one.finding.message, **place, title=one.kind.code))
    return "".join(f"{line}\n" for line in lines)


def _write_command(command: str, text: str, **properties: object) -> str:
    """Write one command; no name in it can end it or begin another."""
    written = ",".join(f"{name}={_replace(value, _IN_PROPERTIES)}" for name, value in properties.items())
    return f"::{command} {written}::{_replace(text, _IN_VALUES)}"


def _replace(value: object, words: Mapping[str, str]) -> str:
    return "".join(words.get(one, one) for one in escape(str(value)))


#: Form of findings -> what writes them so.
WRITERS: Mapping[str, Callable[[Annotations], str]] = {"sarif": _write_sarif, "github": _write_commands}
