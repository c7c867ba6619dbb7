"""What encodings of lags have in common: several heads, lags that may be asked for, and tables of biases.

The values of most are learned. Where none are given, they are drawn as training would begin with.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.encodings.codes import number_equal_rows
from pe_spectra.encodings.parameters import SEED, FileOfNumbers, GivenArray, Parameter
from pe_spectra.encodings.positions import as_lags
from pe_spectra.encodings.protocol import Encoding
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_LENGTH
from pe_spectra.numbers import IntegerRange

#: Lags that are looked at unless told otherwise.
LAG_LENGTH = 256
MAX_HEADS = 1024
DEFAULT_HEADS = 8

HEAD = Parameter(
    accepts=IntegerRange(minimum=0, maximum=MAX_HEADS - 1),
    meaning="which head, counted from 0; not set: all of them",
)
#: Where a file gives the values, nothing is drawn.
TABLE_SEED = replace(SEED, only_with={"values": (None,)})


def build_heads(default: int | None = DEFAULT_HEADS, most: int = MAX_HEADS) -> Parameter:
    """Build the parameter that counts heads, up to `most`; None as default: those of the given values, or 8.

    >>> build_heads().default, build_heads(most=4).accepts.accepted
    (8, 'an integer from 1 to 4 is accepted')
    """
    inferred = f"; not set: as many as the given values have, or {DEFAULT_HEADS}" if default is None else ""
    return Parameter(
        name="heads",
        default=default,
        accepts=IntegerRange(minimum=1, maximum=most),
        meaning=f"number of attention heads{inferred}",
    )


def build_table(shape: str) -> Parameter:
    """Build the parameter for a file of learned values; `shape` says what its rows and columns are.

    >>> build_table("lags x d").name, build_table("lags x d").meaning
    ('table', 'learned values, lags x d; not set: drawn at random')
    """
    return Parameter(
        name="table",
        accepts=FileOfNumbers(),
        meaning=f"learned values, {shape}; not set: drawn at random",
    )


def start_generator(seed: int) -> np.random.Generator:
    """Return the random numbers that belong to a seed.

    >>> bool(start_generator(7).normal() == start_generator(7).normal() != start_generator(8).normal())
    True
    """
    return np.random.Generator(np.random.PCG64(seed))


class LagEncoding(Encoding):
    """An encoding of the distance of query and key."""

    @property
    def causal(self) -> bool:
        """Whether a query sees only keys before it; unless a class says so, lags of both signs occur."""
        return False

    @property
    def default_length(self) -> int:
        """All positions of a table, else 256."""
        return self.rows or LAG_LENGTH

    @property
    def domain(self) -> str:
        """A code belongs to the distance of query and key."""
        return "lags"

    @property
    def numbers_per_lag(self) -> int:
        """How many numbers belong to a lag."""
        return self.heads

    def settle(self, field: str, name: str, held: int | None, default: int) -> int:
        """Set a size that was left open: to that of the given values, else to its default.

        Raises
        ------
        InputError : the size was set, and the given values have another.
        """
        typed = getattr(self, field)
        if held is not None and typed not in (None, held):
            raise InputError(f"{self.name}: {name} contradicts the given values", str(typed), f"they have {held}")
        size: int = held or typed or default
        object.__setattr__(self, field, size)
        return size

    def check_size(self, what: str, *sizes: int) -> None:
        """Refuse what would be too large to hold.

        Raises
        ------
        InputError : the product of the sizes is above the limit.
        """
        if math.prod(sizes) > MAX_HELD_ENTRIES:
            shape = " x ".join(str(size) for size in sizes)
            raise InputError(
                f"{self.name}: the {what} is too large to hold", shape, f"at most {MAX_HELD_ENTRIES} numbers"
            )

    def read_lags(self, lags: ArrayLike, width: int | None = None) -> I64:
        """Read lags (query minus key), shape (L,), of each of which `width` numbers will be held; not set: its vector.

        Raises
        ------
        InputError : no integers, a negative lag of a causal encoding, one beyond the table, or too many.
        """
        array = as_lags(lags)
        if array.size and self.causal and int(array.min()) < 0:
            raise InputError(f"{self.name}: a lag is negative", str(int(array.min())), "a causal bias has lags from 0")
        if array.size and self.rows is not None and int(np.abs(array).max()) >= self.rows:
            beyond = str(int(array[np.abs(array).argmax()]))
            accepted = f"at most {self.rows - 1} either way is accepted"
            raise InputError(f"{self.name}: a lag is beyond the table", beyond, accepted)
        self.check_size("answer", width or self.numbers_per_lag, array.size)
        return array


class HeadedEncoding(LagEncoding):
    """An encoding of lags with a bias for each head, or for the one that `head` chooses."""

    @property
    @abstractmethod
    def head_count(self) -> int | None:
        """How many heads there are, whichever is chosen."""

    @property
    @abstractmethod
    def head(self) -> int | None:
        """The head that is chosen, or None."""

    @property
    def heads(self) -> int:
        """Heads that have a bias here: all, or the one that was chosen."""
        return self.all_heads if self.head is None else 1

    @property
    def all_heads(self) -> int:
        """How many heads there are."""
        return self.head_count or DEFAULT_HEADS

    @property
    def held_heads(self) -> int | None:
        """How many heads the given values are for; None where none are given."""
        return None

    def __post_init__(self) -> None:
        super().__post_init__()
        count = self.settle("head_count", "heads", self.held_heads, DEFAULT_HEADS)
        if self.head is not None and self.head >= count:
            raise InputError(f"{self.name}: head is out of range", str(self.head), f"0 to {count - 1} is accepted")

    def choose_heads(self, biases: F64) -> F64:
        """Return the rows of the chosen heads; `biases` has one row (or map) for each of all heads."""
        return biases if self.head is None else biases[self.head : self.head + 1]

    def check_map(self, length: int) -> int:
        """Return the number of positions of a map, or refuse it.

        Raises
        ------
        InputError : no integer from 1 to all rows, or a map that would be too large to hold.
        """
        size = IntegerRange(minimum=1, maximum=self.rows or MAX_LENGTH).check(length, f"{self.name}: length")
        self.check_size("map", self.heads, size, size)
        return size


class HeadTable(HeadedEncoding):
    """An encoding whose biases stand in a table of one column for each head."""

    @property
    @abstractmethod
    def values(self) -> GivenArray | None:
        """The table that was given, or None."""

    @property
    @abstractmethod
    def seed(self) -> int:
        """Seed of a table that is drawn."""

    @property
    @abstractmethod
    def height(self) -> int:
        """Rows of the table."""

    @property
    def spread(self) -> float:
        """Standard deviation of a table that is drawn."""
        return 0.02

    @property
    def held_heads(self) -> int | None:
        """Columns of the table, if it was given."""
        return None if self.values is None else int(self.values.values.shape[1])

    @property
    def held_rows(self) -> int | None:
        """Rows of the table, if it was given."""
        return None if self.values is None else int(self.values.values.shape[0])

    @property
    def is_random(self) -> bool:
        """Whether the table was drawn."""
        return self.values is None

    @cached_property
    def entries(self) -> F64:
        """The whole table, shape (rows, all heads), read-only; drawn from a normal distribution unless given."""
        if self.values is not None:
            return self.values.values
        drawn: F64 = self.spread * start_generator(self.seed).standard_normal((self.height, self.all_heads))
        drawn.flags.writeable = False
        return drawn

    @cached_property
    def row_numbers(self) -> I64:
        """A number for each row of the table, the same where the chosen heads have the same entries."""
        return number_equal_rows(np.ascontiguousarray(self.choose_heads(self.entries.T).T))

    def look_up(self, indices: I64) -> F64:
        """Return the chosen heads' entries, shape (heads, *indices.shape)."""
        return np.moveaxis(self.choose_heads(self.entries.T).T[indices], -1, 0)
