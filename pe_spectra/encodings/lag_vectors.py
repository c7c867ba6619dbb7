"""Encodings with a vector for each lag (query minus key): sines and cosines of it, or one for each bucket."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import ClassVar, final

import numpy as np

from pe_spectra.encodings.codes import as_integers, check_held
from pe_spectra.encodings.equal_rows import number_equal_rows
from pe_spectra.encodings.heads import TABLE_SEED, LagEncoding, build_table
from pe_spectra.encodings.learned import HeldTable
from pe_spectra.encodings.pairs import interleave
from pe_spectra.encodings.parameters import RHO, GivenArray, parameter
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64, ArrayLike, ladder_words, sin_cos
from pe_spectra.limits import MAX_LENGTH, MAX_WIDTH
from pe_spectra.numbers import Choice, IntegerRange
from pe_spectra.records import dataclass

_BUCKETS, _MAX_DISTANCE, _WIDTH = 256, 512, 64


@final
@dataclass(frozen=True, kw_only=True)
class TransformerXl(LagEncoding):
    """The relative sinusoid of Transformer-XL, Dai et al. 2019: a sinusoid of the lag, compared with the query.

    >>> import numpy as np
    >>> TransformerXl(d=2).lag_table(np.array([-1, 0, 1])).round(3).tolist()  # sin, cos of the lag
    [[-0.841, 0.54], [0.0, 1.0], [0.841, 0.54]]
    """

    name: ClassVar[str] = "transformer-xl"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "sines and cosines of the lag, which each layer projects and compares with the query"
    formula: ClassVar[str] = (
        "score = (q + u) k + (q + v) W r(lag), r(lag) = (sin w_i lag, .., cos w_i lag, ..), w_i = rho**(-2i/d)"
    )
    source: ClassVar[str] = (
        "Dai et al. 2019, arXiv:1901.02860; huggingface/transformers 5.24.0, models/xlnet/modeling_xlnet.py and "
        "models/parakeet/modeling_parakeet.py, class ParakeetEncoderRelPositionalEncoding"
    )
    pitfalls: ClassVar[str] = (
        "d is the width of the model, not of a head; what attention sees is W r(lag), a projection that is learned "
        "in each layer; XLNet has all sines first, conformers have sines and cosines in turns; the audio encoders of "
        "Gemma have the ladder of tensor2tensor; a key after its query has a negative lag, and the sign of its sines"
    )

    d: int = parameter(
        default=_WIDTH,
        accepts=IntegerRange(minimum=2, maximum=MAX_WIDTH),
        multiple=2,
        meaning="width of the model, two columns for each frequency",
    )
    rho: float = parameter(like=RHO, meaning="base of the geometric ladder of frequencies")
    layout: str = parameter(
        accepts=Choice(members=("concatenated", "interleaved")),
        meaning="all sines first (Transformer-XL, XLNet), or sines and cosines in turns (conformers)",
    )

    @property
    def numbers_per_lag(self) -> int:
        """Each lag has a vector."""
        return self.d

    def lag_table(self, lags: ArrayLike) -> F64:
        """The vectors of the lags (query minus key), shape (L, d); entries right to one unit in the last place."""
        sine, cosine = sin_cos(ladder_words(float(self.rho), self.d), self.read_lags(lags))
        if self.layout == "interleaved":
            return interleave(sine, cosine)
        return np.concatenate([sine, cosine], axis=1)

    #: The first frequency is 1 rad.
    theorem = Theorem(
        kind="irrational-frequency",
        text="sin and cos of the lag (frequency 1 rad) agree only where lags differ by a multiple of 2 pi, and pi is "
        "irrational",
    )


@lru_cache(maxsize=32)
def _start_log_buckets(middle: int, max_distance: int) -> tuple[int, ...]:
    """The smallest distance of each bucket from `middle` + 1 on: beyond (middle**(m-1-k) (D-1)**k)**(1/(m-1))."""
    steps, starts = middle - 1, []
    for k in range(steps + 1):
        bound = middle ** (steps - k) * (max_distance - 1) ** k
        n = max(middle, int(middle * ((max_distance - 1) / middle) ** (k / steps)) - 1)
        while n**steps <= bound:
            n += 1
        starts.append(n)
    return tuple(starts)


def compute_log_buckets(lags: ArrayLike, *, buckets: int = _BUCKETS, max_distance: int = _MAX_DISTANCE) -> I64:
    """Compute the buckets of DeBERTa from lags (query minus key); shape (L,), from -buckets to buckets - 1.

    Distances n up to m = buckets // 2 have a bucket of their own, the others
    m + ceil(ln(n/m) / ln((max_distance - 1)/m) (m - 1)), with the sign of the lag. Decided in integers.

    Parameters
    ----------
    lags : (L,) integers. buckets : on each side. max_distance : from here on distances share the last bucket.

    Raises
    ------
    InputError : no integers.

    He et al. 2021, arXiv:2006.03654; microsoft/DeBERTa, deberta/da_utils.py.

    >>> compute_log_buckets([0, -1, 128, 129, 130, 511, 512, -512]).tolist()
    [0, -1, 128, 129, 130, 255, 255, -256]
    """
    array, middle = as_integers(lags, "lags"), int(buckets) // 2
    starts = np.array(_start_log_buckets(middle, int(max_distance)), dtype=np.int64)
    distances = np.abs(array)
    far = middle + np.searchsorted(starts, distances, side="right")
    # the bucket behind the last one exists on the negative side alone
    found: I64 = np.clip(np.sign(array) * np.where(distances <= middle, distances, far), -buckets, buckets - 1)
    return found


@final
@dataclass(frozen=True, kw_only=True)
class Deberta(LagEncoding, HeldTable):
    """The disentangled attention of DeBERTa, He et al. 2021: a learned vector for each bucket of lags."""

    name: ClassVar[str] = "deberta"
    family: ClassVar[str] = "relative"
    summary: ClassVar[str] = "a learned vector for each bucket of lags, compared with queries and with keys"
    formula: ClassVar[str] = (
        "score = (q k + q W_k p[b(lag)] + k W_q p[b(-lag)]) / sqrt(3 d), b(n) = n up to m = buckets // 2, then "
        "m + ceil(ln(n/m)/ln((D-1)/m) (m-1)), with its sign"
    )
    source: ClassVar[str] = (
        "He et al. 2021, arXiv:2006.03654; huggingface/transformers 5.24.0, "
        "models/deberta_v2/modeling_deberta_v2.py, make_log_bucket_position"
    )
    pitfalls: ClassVar[str] = (
        "rows count query minus key, from -buckets on; what attention sees is a projection of the row, learned in "
        "each layer or shared; the first DeBERTa has no buckets, each lag up to 512 has its row; a table of positions "
        "may be added to the words besides (position_biased_input)"
    )

    buckets: int = parameter(
        accepts=IntegerRange(minimum=8, maximum=1 << 12),
        multiple=2,
        meaning=f"buckets on each side; not set: half of the rows of the table, or {_BUCKETS}",
    )
    max_distance: int = parameter(
        default=_MAX_DISTANCE,
        accepts=IntegerRange(minimum=8, maximum=MAX_LENGTH),
        meaning="distance from which on all share the last bucket (max_relative_positions)",
    )
    d: int = parameter(
        accepts=IntegerRange(minimum=1, maximum=MAX_WIDTH),
        meaning=f"width of the model; not set: that of the table, or {_WIDTH}",
    )
    values: GivenArray | None = parameter(like=build_table("2 buckets x d, from query minus key = -buckets on"))
    seed: int = parameter(like=TABLE_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        rows, columns = self.held
        if rows is not None and rows % 4:
            raise InputError("deberta: table has the wrong number of rows", str(rows), "a multiple of 4 is accepted")
        self.settle("buckets", rows and rows // 2, _BUCKETS)
        self.settle("d", columns, _WIDTH)
        if self.max_distance < self.buckets:
            raise InputError("deberta: max_distance is too small", str(self.max_distance), f"from {self.buckets} on")
        check_held("deberta: the table", 2 * self.buckets, self.d)

    @property
    def numbers_per_lag(self) -> int:
        """Each lag has a vector."""
        return self.d

    @property
    def notes(self) -> tuple[str, ...]:
        """Up to where each distance has a bucket of its own."""
        alone = self.buckets // 2
        return (*super().notes, f"deberta: distances up to {alone} have a bucket each, those beyond share some")

    def _draw(self, generator: np.random.Generator) -> F64:
        """Normal with standard deviation 0.02, as published."""
        return generator.normal(0.0, 0.02, (2 * self.buckets, self.d))

    @cached_property
    def row_numbers(self) -> I64:
        """A number for each row of the table, the same for equal rows."""
        return number_equal_rows(self.entries)

    def _find_rows(self, lags: I64) -> I64:
        return compute_log_buckets(lags, buckets=self.buckets, max_distance=self.max_distance) + self.buckets

    def lag_table(self, lags: ArrayLike) -> F64:
        """The vectors of the lags (query minus key), shape (L, d), before any projection."""
        return self.entries[self._find_rows(self.read_lags(lags))]

    def exact_key(self, positions: I64) -> I64:
        """A number for the bucket of each lag, the same for buckets with equal rows."""
        return self.row_numbers[self._find_rows(self.read_lags(positions, 1))]

    #: Buckets are decided in integers, and their rows compared as they are.
    theorem = Theorem(kind="buckets", text="lags of one bucket share a row of the table; rows are compared bit by bit")
