"""The form that every answer takes, before it is printed in any format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pe_spectra._version import __version__
from pe_spectra.answers.answer import Drawing, Verdict
from pe_spectra.encodings import Encoding

SCHEMA = "pe-spectra/1"
__all__ = ["Drawing", "Verdict"]

Cell = str | int | float | bool | None
Document = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer of the program.

    Attributes
    ----------
    kind : which of the documents of the JSON schema it is.
    verdict : the first line.
    body : the JSON fields of this kind.
    columns : the rows of tables and CSV, by column: name -> values.
    facts : label and text, for a terminal, each a number that carries the answer with its unit; those labelled
        "group: label" stand together on a terminal.
    details : further facts of long answers, as definitions: in a pipe, and on a terminal with --full.
    notes : what to distrust.
    shown : the columns that a terminal shows (all of them in a pipe and in CSV); empty for all.
    brief : how many rows a terminal shows unless --full asks for all; None for what fits it, at most 12.
    digits : significant digits of the numbers of the rows on a terminal.
    narrow : the columns whose texts a narrow terminal may shorten or break.
    drawing : a picture in characters, on a terminal.
    next_command : what to try next, on a terminal.
    failed : the checks asked for that do not hold: exit code 1.
    """

    kind: str
    verdict: Verdict
    body: Mapping[str, object]
    columns: Mapping[str, Sequence[Cell]]
    facts: tuple[tuple[str, str], ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    brief: int | None = None
    digits: int = 6
    narrow: tuple[str, ...] = ()
    drawing: Drawing | None = None
    next_command: str = ""
    failed: tuple[str, ...] = ()

    def to_document(self, figure: str | None) -> Document:
        """Return the JSON document, with the path of the figure that was written."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "version": __version__,
            "verdict": {"level": self.verdict.level, "code": self.verdict.code, "text": self.verdict.text},
            **self.body,
            "figure": figure,
            "notes": list(dict.fromkeys((*self.failed, *self.notes))),
        }


def describe_encoding(encoding: Encoding) -> Document:
    """Return name and parameters of an encoding, as JSON has them.

    >>> from pe_spectra import Dft
    >>> describe_encoding(Dft(d=8))
    {'name': 'dft', 'parameters': {'d': 8}}
    """
    return {"name": encoding.name, "parameters": dict(encoding.parameters)}


def name_apart(encoding: Encoding, among: Sequence[Encoding]) -> str:
    """Return the name of an encoding; its label for a table, and where another of `among` has the same name.

    >>> from pe_spectra import Dft
    >>> name_apart(Dft(d=8), [Dft(d=8)]), name_apart(Dft(d=8), [Dft(d=8), Dft(d=16)])
    ('dft', 'dft d=8')
    """
    is_shared = any(one.name == encoding.name and one != encoding for one in among)
    return encoding.label if is_shared or encoding.family == "learned" else encoding.name


def agree(values: Sequence[float]) -> object:
    """Return the value that all rows have, or the list of them.

    >>> agree([80, 80]), agree([80, 256])
    (80, [80, 256])
    """
    return values[0] if len(set(values)) == 1 else list(values)


def finite(values: Sequence[float]) -> list[float | None]:
    """Replace what JSON cannot hold (nan, inf) by None.

    >>> finite([0.5, math.inf])
    [0.5, None]
    """
    return [value if math.isfinite(value) else None for value in values]


def percent(share: float) -> str:
    """Write a share in percent with one decimal.

    >>> percent(0.59375)
    '59.4 %'
    """
    return f"{100 * share:.1f} %"


def join(words: Sequence[str]) -> str:
    """Join words as a sentence does.

    >>> join(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
