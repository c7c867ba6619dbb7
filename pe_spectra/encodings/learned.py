"""Tables of numbers: learned encodings, from a file or as drawn before training."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from pe_spectra.draws import start_generator
from pe_spectra.encodings.codes import as_positions, check_rows
from pe_spectra.encodings.equal_rows import number_equal_rows
from pe_spectra.encodings.parameters import SEED, FileOfNumbers, GivenArray, parameter
from pe_spectra.encodings.protocol import Encoding, Theorem
from pe_spectra.errors import QUOTED_CHARACTERS, InputError
from pe_spectra.exact import F64, I64, ArrayLike
from pe_spectra.limits import MAX_DRAWN_NUMBERS, MAX_HELD_ENTRIES, MAX_LENGTH, MAX_WIDTH
from pe_spectra.numbers import Accepts, Choice, IntegerRange, RealRange
from pe_spectra.records import dataclass


class HeldTable(Encoding):
    """An encoding with numbers that a file gives; without one they are drawn, as training would begin with."""

    #: The numbers that were given, or None.
    values: GivenArray | None
    #: Seed of what is drawn.
    seed: int = 0

    @property
    def is_random(self) -> bool:
        """Whether the numbers were drawn."""
        return self.values is None

    @property
    def held(self) -> tuple[int, int] | tuple[None, None]:
        """Rows and columns of the numbers, if they were given."""
        return (None, None) if self.values is None else self.values.values.shape

    @cached_property
    def entries(self) -> F64:
        """The numbers as the file has them or as they were drawn, read-only."""
        if self.values is not None:
            return self.values.values
        drawn = self._draw(start_generator(self.seed))
        drawn.flags.writeable = False
        return drawn

    @abstractmethod
    def _draw(self, generator: np.random.Generator) -> F64:
        """Draw the numbers that there are before training."""


@dataclass(frozen=True, kw_only=True)
class Grid(Accepts[str | None]):
    """The kind of a grid's size: `14x14`, rows by columns, or `none`: a line, though the number of rows is a square.

    >>> Grid().parse("2x8", "grid")
    '2x8'
    """

    @property
    def accepted(self) -> str:
        return "HxW, as 14x14, or none for a line is accepted"

    def parse(self, text: str, name: str) -> str | None:
        return None if text == "none" else self.check(text, name)

    def check(self, value: object, name: str) -> str:
        parts = value.split("x") if isinstance(value, str) else []
        if len(parts) != 2:
            raise InputError(f"{name} is no size of a grid", str(value) or "''", self.accepted)
        side = IntegerRange(minimum=1, maximum=MAX_LENGTH)
        return "x".join(str(side.parse(part, name)) for part in parts)


_DRAWN = {"init": ("normal",)}
#: Of the name of a file, or of a tensor, in a label.
_LONGEST_LABEL = QUOTED_CHARACTERS * 2 // 3


@final
@dataclass(frozen=True, kw_only=True)
class Learned(HeldTable):
    """A table that training made, read from a file; or one as training would begin with.

    Rows before `prefix` (a CLS row, the padding offset of some models) and outside `first` .. `last`
    are left out; positions count from the first row that is left.

    >>> table = Learned(values=GivenArray([[9.0, 9.0], [1.0, 0.0], [0.0, 1.0]]), prefix=1)
    >>> table.d, table.table(2).tolist()
    (2, [[1.0, 0.0], [0.0, 1.0]])
    """

    is_stored = True
    is_algebraic = True
    rows_are: ClassVar[str] = "rows"
    name: ClassVar[str] = "learned"
    family: ClassVar[str] = "learned"
    summary: ClassVar[str] = "a table of one row for each position, from a file"
    formula: ClassVar[str] = "e(s) = row s of the table; untrained: independent normal numbers"
    source: ClassVar[str] = "Gehring et al. 2017, arXiv:1705.03122; Devlin et al. 2019, arXiv:1810.04805"
    pitfalls: ClassVar[str] = (
        "special rows (CLS, padding offset) and an untrained tail are part of the file; positions beyond its rows have "
        "no vector; a table of patches is a grid, not a line"
    )

    values: GivenArray | None = parameter(
        name="table",
        accepts=FileOfNumbers(),
        meaning="the table, FILE or FILE::TENSOR; rows x d",
    )
    init: str = parameter(
        accepts=Choice(members=("none", "normal")),
        meaning="without a file: normal draws a table as training would begin with",
    )
    d: int = parameter(
        accepts=IntegerRange(minimum=1, maximum=MAX_WIDTH),
        meaning="width; that of the table, or 256 where it is drawn",
    )
    length: int = parameter(
        default=512,
        accepts=IntegerRange(minimum=1, maximum=MAX_LENGTH),
        meaning="rows that are drawn",
        only_with=_DRAWN,
    )
    std: float = parameter(
        default=0.02,
        accepts=RealRange(minimum=1e-30, maximum=1e30),
        meaning="standard deviation of what is drawn, as in BERT and GPT-2",
        only_with=_DRAWN,
    )
    seed: int = parameter(like=SEED, meaning="seed of what is drawn", only_with=_DRAWN)
    first: int = parameter(
        default=0,
        accepts=IntegerRange(minimum=0, maximum=MAX_HELD_ENTRIES),
        meaning="first row of the file that is used (--rows)",
    )
    last: int | None = parameter(
        accepts=IntegerRange(minimum=1, maximum=MAX_HELD_ENTRIES),
        meaning="row of the file before which use ends (--rows); not set: all",
    )
    prefix: int = parameter(
        default=0,
        accepts=IntegerRange(minimum=0, maximum=MAX_LENGTH),
        meaning="special rows that stand before the positions (CLS, padding) and are left out",
    )
    grid: str | None = parameter(
        accepts=Grid(),
        meaning="rows x columns of the grid that the positions fill in reading order; not set: a line",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.values is None) == (self.init == "none"):
            raise InputError(
                "learned: needs its values, once",
                accepted="table=FILE, or init=normal for an untrained one, is accepted",
            )
        held = self.entries.shape
        self.settle("d", held[1], held[1])
        if not self.first < (self.last or held[0]) <= held[0]:
            given = f"{self.first}:{'' if self.last is None else self.last}"
            accepted = f"A:B within 0:{held[0]} is accepted"
            raise InputError(f"{self.called}: rows are not in the table", given, accepted)
        left = (self.last or held[0]) - self.first - self.prefix
        if left < 1:
            accepted = f"0 to {left + self.prefix - 1}"
            raise InputError(f"{self.called}: prefix leaves no row", str(self.prefix), accepted)
        if self.shape is not None and self.shape[0] * self.shape[1] != left:
            raise InputError(
                f"{self.called}: grid does not fit the rows",
                str(self.grid),
                f"{left} rows in all (after prefix={self.prefix})",
            )

    @property
    def called(self) -> str:
        """What messages call it: the file that was named, else the name of the class."""
        return abbreviate(self.values.spec) if self.values is not None and self.values.spec else self.name

    def _draw(self, generator: np.random.Generator) -> F64:
        width = self.d or 256
        if self.length * width > MAX_DRAWN_NUMBERS:
            size = f"{self.length} x {width}"
            raise InputError("learned: the table is too large to draw", size, f"at most {MAX_DRAWN_NUMBERS} numbers")
        drawn = generator.standard_normal((self.length, width))
        drawn *= self.std  # in place: it may be as large as a table may be
        return drawn

    @property
    def origin(self) -> int:
        """Row of the file that position 0 stands for."""
        return self.first + self.prefix

    @property
    def codes(self) -> F64:
        """All rows that are used, (rows, d), read-only and not a copy."""
        return self.entries[self.origin : self.last]

    @property
    def file_rows(self) -> F64:
        """The rows of the file that --rows chooses, special ones before the positions included; not a copy."""
        return self.entries[self.first : self.last]

    @property
    def rows(self) -> int:
        """Rows that are used."""
        return len(self.codes)

    @property
    def stored_type(self) -> str:
        """The type that the numbers were stored in, as in float16."""
        return self.values.dtype if self.values is not None else "float64"

    @property
    def shape(self) -> tuple[int, int] | None:
        """The grid that the positions fill, if they are one."""
        if self.grid is None:
            return None
        rows, columns = (int(part) for part in self.grid.split("x"))
        return rows, columns

    @property
    def label(self) -> str:
        """The file and tensor, or that it is untrained, with its size."""
        size = f"{self.rows} x {self.d}"
        part = f" rows {self.first}:{self.last or len(self.entries)}" if self.first or self.last else ""
        grid = f" grid {self.grid}" if self.grid else ""
        if self.values is None:
            std = "" if self.std == 0.02 else f" std={self.std:g}"
            return f"learned untrained {size} seed={self.seed}{std}{part}{grid}"
        return f"{abbreviate(self.values.origin)} {size}{part}{grid}"

    def write_spec(self, *, brief: bool = False) -> str:
        """The file with the keys that choose its rows, or the name with its parameters."""
        if self.values is None or not self.values.spec:
            return super().write_spec(brief=brief)
        keys = [f"rows={self.first}:{'' if self.last is None else self.last}"] if self.first or self.last else []
        keys += [f"prefix={self.prefix}"] if self.prefix else []
        keys += [f"grid={self.grid}"] if self.grid else []
        return f"{self.values.spec}?{','.join(keys)}" if keys else self.values.spec

    def describe_position(self, s: int) -> str:
        """The row of the file, and on a grid its row and column there."""
        row = f"{s + self.origin}"
        if self.shape is None:
            return row
        return f"{row} (row {s // self.shape[1]}, column {s % self.shape[1]} of the grid)"

    def table(self, positions: int | ArrayLike) -> F64:
        """The rows of the positions, shape (S, d); for S, the first S rows, read-only and not a copy."""
        s = as_positions(positions, self.d)
        check_rows(s, self.rows)
        return self.codes[: len(s)] if isinstance(positions, int | np.integer) else self.codes[s]

    def exact_key(self, positions: I64) -> I64:
        """A number for each row, the same for equal rows."""
        # all positions in order, as mostly: a view of the rows does in place of a copy
        in_order = np.array_equal(positions, np.arange(len(positions)))
        return number_equal_rows(self.table(len(positions) if in_order else positions))

    #: The numbers are given, so they are compared as they are.
    theorem = Theorem(kind="rows", text="the rows are given numbers, compared bit by bit (0 and -0 are one)")


def abbreviate(origin: str) -> str:
    """Shorten the name of a file and tensor to what tells it from others: the ends of both.

    >>> abbreviate("table.npy"), abbreviate("/a/long/path/to/models/bert/::bert.embeddings.position_embeddings.weight")
    ('table.npy', 'bert/::...embeddings.position_embeddings.weight')
    >>> abbreviate("checkpoints/of/an/experiment/run-a/weights/position_embeddings.npy")
    '.../run-a/weights/position_embeddings.npy'
    """
    if len(origin) <= QUOTED_CHARACTERS:
        return origin
    path, separator, tensor = origin.rpartition("::") if "::" in origin else (origin, "", "")
    if not separator:
        return _keep_folders(path)
    last = path.rstrip("/").rpartition("/")[2] + path[len(path.rstrip("/")) :]
    return separator.join([_keep_end(last), _keep_end(tensor)])


def _keep_folders(path: str) -> str:
    """The file with as many of its last folders as find room: files of one name often stand in several."""
    end = path[-_LONGEST_LABEL:]
    return f"...{end[end.index('/') :]}" if "/" in end else _keep_end(path)


def _keep_end(text: str) -> str:
    return text if len(text) <= _LONGEST_LABEL else f"...{text[3 - _LONGEST_LABEL :]}"
