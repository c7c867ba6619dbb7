"""The whole answer about one encoding: Definition 1 and what surrounds it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra import faithfulness as definition
from pe_spectra.encodings import Encoding, HasBiasMap, HasTable
from pe_spectra.encodings.codes import check_encoding, find_codes
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.faithfulness.certificates import Certificate, Collisions, certify, certify_distance, describe_pair
from pe_spectra.faithfulness.closest_pair import Tell, tell_nobody
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.faithfulness.conditioning import compute_gram_matrix, measure_conditioning
from pe_spectra.faithfulness.separation import Separation, Sidelobe, measure_separation
from pe_spectra.limits import MAX_CURVE, MAX_LENGTH, MAX_STREAMED_ENTRIES
from pe_spectra.numbers import IntegerRange
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.reconstruction import Blur, reconstruct_one
from pe_spectra.records import dataclass
from pe_spectra.spectrum.density import BANDWIDTH
from pe_spectra.spectrum.kernels import check_length
from pe_spectra.vocabulary import DOMAINS, OUTCOME_CELLS, OUTCOMES

if TYPE_CHECKING:
    from pe_spectra.faithfulness.growth import FirstRepeat

LIMIT = IntegerRange(minimum=0, maximum=MAX_LENGTH)
DEFAULT_LIMIT = 10
#: JSON Schema of lengths, with their smallest separation and the pair that has it.
_GROWN = {
    "type": "array",
    "items": {
        "type": "array",
        "prefixItems": [
            {"type": "integer", "minimum": 1, "description": "Number of positions."},
            {"type": "number", "minimum": 0, "description": "Smallest distance of two vectors among them."},
            {
                "type": "array",
                "items": {"type": "integer"},
                "minItems": 2,
                "maxItems": 2,
                "description": "The first pair that has it.",
            },
        ],
        "items": False,
        "minItems": 3,
        "maxItems": 3,
    },
}
#: Of the outcome, in every answer.
OUTCOME_TEXT = (
    "What it comes to: of vectors that are distinct, also whether that is by no more than float64 rounds off; "
    "only `injective` meets --require injective."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Faithfulness(Result):
    """Definition 1 and what surrounds it: whether, and how well, positions 0 .. length-1 are distinguished.

    >>> from pe_spectra import Sinusoidal
    >>> found = measure_faithfulness(Sinusoidal(d=2), length=10)
    >>> found.injective, found.closest_pair, round(found.min_separation, 4)
    (True, (0, 6), 0.2822)
    """

    encoding: Encoding = quantity("The encoding that was analysed.")
    length: int = quantity("Number of positions S: they are 0 .. S-1.", minimum=1)
    domain: str = quantity("What has a vector: the positions, or the lags between them.", words=DOMAINS, column=None)
    injective: bool | None = quantity(
        "Whether all positions have different vectors; null where it is not decided, and the certificate says why.",
        column=None,
    )

    @derived(OUTCOME_TEXT, words=tuple(OUTCOMES), column="injective", write=OUTCOME_CELLS.get)
    def outcome(self) -> str:
        if not self.injective:
            return "undecided" if self.injective is None else "not-injective"
        return "distinct-by-rounding" if self.min_separation and self.min_separation <= self.rounding else "injective"

    min_separation: float | None = quantity(
        "Smallest Euclidean distance of two vectors; null for a single position or beyond the budget.", minimum=0
    )
    closest_pair: tuple[int, int] | None = quantity(
        "The positions [s, t], or lags, of the smallest distance, the first in order among equals; null for a single "
        "position or beyond the budget."
    )
    error_bound: float | None = quantity(
        "By how much min_separation may differ from the exact smallest distance; null where it is null or no bound is "
        "known.",
        minimum=0,
    )
    collisions: Collisions = quantity("Pairs of positions with the same vector.", write=attrgetter("count"))
    rank: int | None = quantity(
        "Number of singular values of the (S, d) table above rank_tolerance; null beyond the budget.", minimum=0
    )
    rank_tolerance: float | None = quantity(
        "max(S, d) times machine epsilon times the largest singular value; null beyond the budget.", minimum=0
    )
    condition_number: float | None = quantity(
        "Largest over smallest of the min(S, d) singular values; null above 1e15, where all are 0, or beyond budget.",
        minimum=0.999999,
    )
    sidelobe: Sidelobe | None = quantity(
        "Largest local maximum of the normalised kernel beyond its main lobe; null where there is none."
    )
    bandwidth: float = quantity("Kernel width for the figures of Algorithm 1.", unit="bins", above=0, key=None)
    reconstruction: Blur = quantity("Algorithm 1 on the encoding's own lattice.")
    certificate: Certificate = quantity("The theorem behind the answer.", write=attrgetter("kind"))
    near_pairs: definition.NearPairs | None = quantity(
        "Pairs of positions whose vectors differ by no more than a radius; null unless asked for."
    )
    singular_values: F64 | None = quantity(
        "The largest 1024 singular values of the (S, d) table, the largest first; null beyond the budget.",
        minimum=0,
        most=1024,
        column=None,
    )
    separation_by_lag: F64 | None = quantity(
        "Smallest distance of two vectors at lags 1 .. S-1; null where it was left out.", minimum=0, column=None
    )
    #: Why there is no smallest separation; empty where there is one.
    missing: str
    #: Of more than 65536 lags: some 4096 of them, each with the smallest distance of its stretch of lags.
    envelope: tuple[I64, F64] | None
    #: Why something is None.
    notes: tuple[str, ...]

    @derived(
        "The smallest separation at this length, twice it, four times it, .., as far as it costs little; empty where "
        "there is none at this length.",
        schema=_GROWN,
        column=None,
    )
    def separation_by_length(self) -> tuple[definition.Grown, ...]:
        if self.min_separation is None or self.closest_pair is None:
            return ()
        from pe_spectra.faithfulness.growth import Grown, trace_growth

        first = Grown(length=self.length, separation=self.min_separation, pair=self.closest_pair)
        return trace_growth(self.encoding, first)

    @cached_property
    def first_repeat(self) -> FirstRepeat | None:
        """From which longer length on two codes are equal; None where no key decides it, or they are here."""
        from pe_spectra.faithfulness.growth import find_first_repeat

        return find_first_repeat(self.encoding, self.length) if self.injective else None

    @cached_property
    def rounding(self) -> float:
        """By how much float64 may change the distance of the closest two codes where it computes them.

        2 sqrt(d) (16 + 2 d) units of the last place of their largest number; 0 where there are no two codes.
        """
        codes = find_codes(self.encoding)
        if codes is None or self.closest_pair is None:
            return 0.0
        rows = codes.at(np.array(self.closest_pair))
        return 2 * math.sqrt(codes.columns) * (Encoding.bound_error(self.encoding, rows) or 0.0)

    @property
    def fwhm(self) -> float | None:
        """Full width at half of the peak of Algorithm 1, in positions."""
        return self.reconstruction.fwhm

    @property
    def relative_error(self) -> float | None:
        """Relative error of Algorithm 1."""
        return self.reconstruction.relative_error

    @cached_property
    def gram(self) -> F64 | None:
        """Dot products of the codes of the first positions over the largest squared norm, (n, n), n at most 256."""
        return compute_gram_matrix(self.encoding, self.length)


def measure_faithfulness(
    encoding: Encoding,
    *,
    length: int | None = None,
    bandwidth: float | None = None,
    limit: int = DEFAULT_LIMIT,
    within: float | None = None,
    progress: Tell = tell_nobody,
) -> Faithfulness:
    """Say whether every position 0 .. length-1 has a vector of its own, and how well they are distinguished.

    Implements Definition 1, with its certificate, the smallest separation, rank and Algorithm 1.

    Parameters
    ----------
    encoding : any encoding; one of lags is asked whether it distinguishes the lags between `length` positions.
    length : number of positions S, 1 to 1048576; d x S at most 2**33; default all rows of a table, else 80.
    bandwidth : kernel width in bins for the reconstruction figures; default 4, on a grid 1.
    limit : how many collisions and near pairs to name; all are counted.
    within : radius within which pairs of different codes are counted, 1e-300 to 1e300; default none.
    progress : is told how many rows of how many have been compared with the others, first for the closest pair, then
        for the lags.

    Raises
    ------
    InputError : a parameter out of range, or more work than d x S = 2**33.

    >>> from pe_spectra import Dft
    >>> result = measure_faithfulness(Dft(d=64), length=65)
    >>> result.injective, result.closest_pair
    (False, (0, 64))
    """
    check_encoding(encoding)
    table = CodeTable(encoding, check_length(encoding, length))
    return measure_codes(table, bandwidth=bandwidth, limit=limit, within=within, progress=progress)


def measure_codes(
    table: CodeTable,
    *,
    bandwidth: float | None = None,
    limit: int = DEFAULT_LIMIT,
    within: float | None = None,
    progress: Tell = tell_nobody,
) -> Faithfulness:
    """Say the same of a table of codes, which others look at, too; options as :func:`measure_faithfulness` has them.

    >>> from pe_spectra import Dft
    >>> measure_codes(CodeTable(Dft(d=64), 65)).closest_pair
    (0, 64)
    """
    shown, width = LIMIT.check(limit, "limit"), None if bandwidth is None else BANDWIDTH.check(bandwidth, "bandwidth")
    encoding, size = table.encoding, table.length
    _check_work(size, table.columns)
    injective, certificate, collisions = certify(table, shown)
    separation = measure_separation(table, collisions.first, progress)
    if injective is None:
        injective, certificate = _decide(table, separation, certificate)
    measured = separation or Separation()
    smallest = _choose_smallest(measured.smallest, injective, certificate)
    missing = "" if smallest is not None else _explain_missing(encoding, separation, size)
    error = None if smallest is None else 0.0 if injective is False else measured.error
    conditioning = measure_conditioning(table)
    blur, used, notes = reconstruct_one(encoding, width, size)
    near, more = _find_near(table, within, shown)
    return Faithfulness(
        encoding=encoding,
        length=size,
        domain=encoding.domain,
        injective=injective,
        certificate=certificate,
        min_separation=smallest,
        missing=missing,
        closest_pair=collisions.first or measured.pair,
        error_bound=error,
        collisions=replace(collisions, named=tuple(describe_pair(encoding, pair) for pair in collisions.examples)),
        near_pairs=near,
        rank=conditioning.rank,
        rank_tolerance=conditioning.rank_tolerance,
        condition_number=conditioning.condition_number,
        singular_values=conditioning.singular_values,
        sidelobe=measured.sidelobe,
        separation_by_lag=measured.curve,
        envelope=measured.envelope,
        reconstruction=blur,
        bandwidth=used,
        notes=(*encoding.all_notes, *conditioning.notes, *_explain(measured, missing, size), *notes, *more),
    )


def _check_work(rows: int, columns: int) -> None:
    if rows * columns > MAX_STREAMED_ENTRIES:
        accepted = f"at most {MAX_STREAMED_ENTRIES} (2**33) is accepted"
        raise InputError("d x length is too large", f"{columns} x {rows}", accepted)


def _decide(
    table: CodeTable, separation: Separation | None, certificate: Certificate
) -> tuple[bool | None, Certificate]:
    """Take the closest pair for a certificate where its distance is no rounding."""
    if not isinstance(table.encoding, HasTable) or table.length == 1:
        return None, certificate
    if separation is None or separation.smallest is None:
        pairs = f"a search among all pairs of {table.length} vectors"
        return None, replace(certificate, text=f"{certificate.text}, and {pairs} is beyond the budget or float64")
    found = certify_distance(separation.smallest, table.distance_error)
    return found.kind == "separation" or None, found


def _choose_smallest(found: float | None, injective: bool | None, certificate: Certificate) -> float | None:
    if injective is False:
        return 0.0  # decided exactly; a computed distance would show its rounding
    # else what was computed may be rounding, and no distance
    return None if certificate.kind == "rounding" or (injective is None and not found) else found


def _explain_missing(encoding: Encoding, separation: Separation | None, length: int) -> str:
    """Why there is no smallest separation."""
    if separation is None and isinstance(encoding, HasBiasMap):
        return "its bias belongs to a query and a key, so lags have no separation"
    if separation is None:
        return f"separations of {length} vectors of this kind are beyond the budget"
    if separation.pair is None:
        return "a single position has no pair"
    if separation.smallest is None:
        return "the smallest separation is larger than the largest double"
    return "the smallest separation is no more than rounding, and no theorem says whether it is one"


def _explain(measured: Separation, missing: str, length: int) -> Iterator[str]:
    """Why a separation, its error or its curve is left out."""
    if missing:
        yield f"{missing}, so what follows from it is left out"
        return
    if measured.error is None:
        yield "how exact its computed vectors are is not known, so error_bound is left out"
    what = f"separation_by_lag of {length} vectors is beyond the budget or the range of float64"
    if measured.by_lag is not None:
        what = f"separation_by_lag has {length - 1} lags, more than {MAX_CURVE}"
    if measured.curve is None:
        yield f"{what}, so it is left out"


def _find_near(
    table: CodeTable, within: float | None, limit: int
) -> tuple[definition.NearPairs | None, tuple[str, ...]]:
    """Pairs of different codes within a radius, or why there are none."""
    if within is None:
        return None, ()
    from pe_spectra.faithfulness.near_pairs import LIMIT, RADIUS, search_table

    try:
        return search_table(table, RADIUS.check(within, "radius"), min(limit, LIMIT.maximum)), ()
    except InputError as error:
        return None, (f"no near pairs: {error}",)
