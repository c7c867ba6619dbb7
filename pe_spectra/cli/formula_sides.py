"""Sides of `diff` that are named by a SPEC: the tables of formulas, as long as that of the file beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pe_spectra.errors import FileError, InputError
from pe_spectra.naming import find_encoding_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pe_spectra.answers.answer import Answer
    from pe_spectra.encodings import Encoding
    from pe_spectra.exact import F64


def find_formulas(named: Sequence[str], others: Mapping[str, object]) -> list[Encoding | None]:
    """Build the encodings of both sides, None for one that is a file; an empty list where both are.

    Raises
    ------
    InputError : one of the other options was given, whose values are None where they were not; no table.

    >>> find_formulas(["a.json", "b.json"], {"--stack": None})
    []
    """
    from pe_spectra.encodings import HasTable

    formulas = [find_encoding_named(text, name) for text, name in zip(named, "AB", strict=False)]
    if not any(formulas):
        return []
    for option, value in others.items():
        if value is not None:
            raise InputError(f"{option} has no meaning with a SPEC", str(value), "configurations are accepted")
    for text, formula, letter in zip(named, formulas, "AB", strict=True):
        if formula is not None and not isinstance(formula, HasTable):
            raise InputError(f"{letter}: {formula.name} has no table", text, "an encoding with a table is accepted")
    return formulas


def compare_formulas(
    named: Sequence[str], formulas: Sequence[Encoding | None], served: int | None, check: bool
) -> Answer:
    """Compare the tables of two sides, one or both of which a SPEC names.

    As many positions are compared as the table of a file has, else as `served` says, else as both have by default.

    Raises
    ------
    InputError : a formula with fewer positions. FileError : a file without a table.
    """
    from pe_spectra.answers.agreements import answer_tables
    from pe_spectra.encodings.learned import Learned
    from pe_spectra.models.comparison.table_diff import compare_tables

    given = {place: _read_table(named[place], "AB"[place]) for place, one in enumerate(formulas) if one is None}
    given |= {place: one.codes for place, one in enumerate(formulas) if isinstance(one, Learned) and one.values}
    others = {place: one for place, one in enumerate(formulas) if one is not None and place not in given}
    length, notes = _choose_length(list(given.values()), list(others.values()), served)
    tables = given | {place: _read_rows(one, length, "AB"[place], named[place]) for place, one in others.items()}
    found = compare_tables(tables[0], tables[1])
    return answer_tables(named[0], named[1], found, notes=notes, check=check)


def _choose_length(
    given: Sequence[F64], formulas: Sequence[Encoding], served: int | None
) -> tuple[int, tuple[str, ...]]:
    """How many positions are compared, and a note where neither side says it."""
    if given and served is not None:
        raise InputError("--served has no meaning beside a table", str(served), "its rows are compared")
    if given or served is not None:
        return served or max(map(len, given)), ()
    length = min(one.default_length for one in formulas)
    return length, (f"no side is a file, so {length:,} positions are compared; --served sets another",)


def _read_table(text: str, letter: str) -> F64:
    from pe_spectra.model_sources import read_side

    side = read_side(text, letter)
    if side.table is None:
        raise FileError(side.shown, "holds no table of positions; beside a SPEC a table is accepted")
    return side.table


def _read_rows(encoding: Encoding, length: int, letter: str, text: str) -> F64:
    from pe_spectra.encodings.codes import read_codes

    if encoding.rows is not None and encoding.rows < length:
        what = f"{letter}: {encoding.name} has {encoding.rows} positions, and {length} are compared"
        raise InputError(what, text, "a SPEC with as many is accepted")
    return read_codes(encoding, length)
