"""What encodings of lags have in common: several heads, lags that may be asked for, and tables of biases.

The values of most are learned. Where none are given, they are drawn as training would begin with.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pe_spectra.encodings.codes import as_lags, check_held
from pe_spectra.encodings.parameters import SEED, FileOfNumbers, Parameter
from pe_spectra.encodings.protocol import Encoding
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, ArrayLike
from pe_spectra.limits import MAX_LENGTH
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

    #: A vector belongs to the distance of query and key.
    domain = "lags"

    @property
    def numbers_per_lag(self) -> int:
        """How many numbers belong to a lag."""
        return self.kernel_count

    def exact_key(self, positions: I64) -> I64:
        """Return the lag itself, read as any other."""
        return self.read_lags(positions, 1)

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
        check_held(f"{self.name}: the answer", width or self.numbers_per_lag, array.size)
        return array


class HeadedEncoding(LagEncoding):
    """An encoding of lags with a bias for each head, or for the one that `head` chooses."""

    #: How many heads there are, whichever is chosen.
    heads: int
    #: The head that is chosen, or None.
    head: int | None

    @property
    def kernel_count(self) -> int:
        """Heads that have a bias here: all, or the one that was chosen."""
        return self.heads if self.head is None else 1

    @property
    def held_heads(self) -> int | None:
        """How many heads the given values are for; None where none are given."""
        return None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.settle("heads", self.held_heads, DEFAULT_HEADS)
        if self.head is not None and self.head >= self.heads:
            accepted = f"0 to {self.heads - 1} is accepted"
            raise InputError(f"{self.name}: head is out of range", str(self.head), accepted)

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
        check_held(f"{self.name}: the map", self.kernel_count, size, size)
        return size
