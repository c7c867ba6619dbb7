"""The size of a grid as a parameter: HxW."""

from __future__ import annotations

from dataclasses import dataclass

from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_LENGTH
from pe_spectra.numbers import IntegerRange


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The kind of a grid's size: `14x14`, rows by columns; in Python the same text."""

    @property
    def accepted(self) -> str:
        """What is accepted, in words."""
        return "HxW, as 14x14, or none for a line is accepted"

    def parse(self, text: str, name: str) -> str | None:
        """Read a size; None for `none`: a line, though the number of rows is a square.

        Raises
        ------
        InputError : not two integers from 1 joined by x.

        >>> Grid().parse("2x8", "grid")
        '2x8'
        """
        return None if text == "none" else self.check(text, name)

    def check(self, value: object, name: str) -> str:
        """Return a size given in Python.

        Raises
        ------
        InputError : not two integers from 1 joined by x.
        """
        parts = value.split("x") if isinstance(value, str) else []
        if len(parts) != 2:
            raise InputError(f"{name} is no size of a grid", str(value) or "''", self.accepted)
        side = IntegerRange(minimum=1, maximum=MAX_LENGTH)
        return "x".join(str(side.parse(part, name)) for part in parts)


def read_shape(text: str) -> tuple[int, int]:
    """Turn the text of a checked grid into its numbers of rows and columns.

    >>> read_shape("2x8")
    (2, 8)
    """
    rows, columns = (int(part) for part in text.split("x"))
    return rows, columns
