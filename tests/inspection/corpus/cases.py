"""Kinds of tables with planted truth: how one is declared, and what arithmetic says of any table."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

#: Findings that say that a row is unlike the others, whichever fits best; that rows at the end are; and those that say
#: that rows in front are there, where they were declared.
ODD = frozenset({"outlier-rows", "stray-rows"})
LAST = ODD | {"special-last-rows"}
DECLARED = frozenset({"special-first-row", "padding-offset"})


@dataclass(frozen=True, kw_only=True)
class Truth:
    """One thing that was planted.

    Attributes
    ----------
    codes : a finding of one of these is asked for.
    rows : the first and the last row that it names, each known to `within` rows; None where it names none.
    data : what its data must have, by key; of `axes`, what each must have: old, new and the way among its ways.
    """

    codes: frozenset[str]
    rows: tuple[int, int] | None = None
    within: int = 0
    data: Mapping[str, object] = field(default_factory=dict)


def rows_of(first, last, *codes, within=0):
    """These rows are unlike the others, or not used as they are; a finding of one of the codes says so."""
    return (Truth(codes=frozenset(codes), rows=(first, last), within=within),)


def seam(row, within=1):
    """From this row on the table is another one."""
    return rows_of(row - 1, row, "seam", within=within)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A planted period in rows (down and across on a grid), or the two that it drifts between."""

    along: tuple[float | None, ...]
    drift: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A table, the options it is looked at with, and what is in it.

    Attributes
    ----------
    truth : what was planted; nothing in a sound table.
    also : codes that are neither asked for nor false.
    is_formula : whether a formula of the catalogue gives every number.
    lines : planted periods; empty where there is none, None where what was planted does not say.
    """

    table: np.ndarray
    truth: tuple[Truth, ...] = ()
    options: Mapping[str, object] = field(default_factory=dict)
    also: frozenset[str] = frozenset()
    is_formula: bool = False
    lines: tuple[Line, ...] | None = None


_MAKERS: dict[str, Callable[[np.random.Generator], Case]] = {}
#: Every kind by its name, those with something planted before sound ones.
KINDS: Mapping[str, Callable[[np.random.Generator], Case]] = MappingProxyType(_MAKERS)


def make(kind: str, seed: int) -> Case:
    """The table of this kind and seed."""
    return KINDS[kind](np.random.Generator(np.random.PCG64([zlib.crc32(kind.encode()), seed])))


def kind(name: str, *arguments: object):
    """Declare a maker of tables of a kind; it is called with a generator, and these."""

    def declare(maker):
        _MAKERS[name] = lambda generator: maker(generator, *arguments)
        return maker

    return declare


def each(names: Mapping[str, object]):
    """Declare one maker for several kinds, with what each is named by."""

    def declare(maker):
        for name, value in names.items():
            kind(name, value)(maker)
        return maker

    return declare


def list_facts(table) -> frozenset[str]:
    """The findings about equal numbers that arithmetic confirms."""
    wide = table.shape[1] > 1
    flat_rows, flat_columns = (table.min(axis=a) == table.max(axis=a) for a in (1, 0))
    zero_rows, zero_columns = ((table == 0).all(axis=a) for a in (1, 0))
    _, counts = np.unique(table[~zero_rows] + 0.0, axis=0, return_counts=True)
    holds = {
        "zero-rows": zero_rows.any(),
        "constant-rows": wide and (flat_rows & ~zero_rows).any(),
        "zero-columns": zero_columns.any(),
        "constant-columns": (flat_columns & ~zero_columns).any(),
        "duplicate-rows": (counts > 1).any(),
        "repeating-rows": any((table[lag:] == table[:-lag]).all() for lag in range(1, len(table) * 7 // 8 + 1)),
    }
    return frozenset(code for code, is_so in holds.items() if is_so)
