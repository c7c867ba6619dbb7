"""The whole answer about one encoding: Definition 1 and what surrounds it."""

from __future__ import annotations

from dataclasses import dataclass

from pe_spectra.encodings import Encoding, HasFrequencies, HasTable
from pe_spectra.errors import InputError
from pe_spectra.exact import F64
from pe_spectra.faithfulness.certificates import Certificate, Collisions, certify
from pe_spectra.faithfulness.conditioning import measure_conditioning
from pe_spectra.faithfulness.separation import Separation, Sidelobe, measure_separation
from pe_spectra.limits import MAX_CURVE, MAX_LENGTH, MAX_STREAMED_ENTRIES, MIN_LENGTH
from pe_spectra.numbers import IntegerRange
from pe_spectra.reconstruction import reconstruct_positions
from pe_spectra.spectrum import compute_spectrum
from pe_spectra.spectrum.density import BANDWIDTH, DEFAULT_BANDWIDTH

LENGTH = IntegerRange(minimum=MIN_LENGTH, maximum=MAX_LENGTH)
LIMIT = IntegerRange(minimum=0, maximum=MAX_LENGTH)
DEFAULT_LENGTH = 80
DEFAULT_LIMIT = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Faithfulness:
    """Whether, and how well, an encoding tells positions 0 .. length-1 apart.

    Attributes
    ----------
    injective : Definition 1; None when it is not decided, `certificate.text` says why.
    certificate : the theorem behind it.
    min_separation, closest_pair : smallest Euclidean distance of two codes and its positions; None
        for a single position.
    collisions : pairs of positions with one code.
    rank, rank_tolerance, condition_number : of the (S, d) table; condition None above 1e15.
    sidelobe : largest local maximum of the normalised kernel beyond its main lobe.
    separation_by_lag : (S - 1,) smallest distance at lag 1 .. S-1; None beyond 65536 lags.
    fwhm, relative_error : of Algorithm 1 on the encoding's own lattice at `bandwidth` bins.
    notes : why something is None.
    """

    encoding: Encoding
    length: int
    domain: str
    injective: bool | None
    certificate: Certificate
    min_separation: float | None
    closest_pair: tuple[int, int] | None
    collisions: Collisions
    rank: int | None
    rank_tolerance: float | None
    condition_number: float | None
    sidelobe: Sidelobe | None
    separation_by_lag: F64 | None
    fwhm: float | None
    relative_error: float | None
    bandwidth: float
    notes: tuple[str, ...]


def measure_faithfulness(
    encoding: Encoding,
    *,
    length: int = DEFAULT_LENGTH,
    bandwidth: float = DEFAULT_BANDWIDTH,
    limit: int = DEFAULT_LIMIT,
) -> Faithfulness:
    """Say whether every position 0 .. length-1 has a code of its own, and how well they are told apart.

    Implements Definition 1, with its certificate, the smallest separation, rank and Algorithm 1.

    Parameters
    ----------
    encoding : an encoding with a table.
    length : number of positions S, 1 to 1048576; d x S at most 2**33.
    bandwidth : kernel width in bins for the reconstruction figures.
    limit : how many collisions to name; all are counted.

    Raises
    ------
    InputError : a parameter out of range, or more work than d x S = 2**33.

    >>> from pe_spectra import Dft
    >>> result = measure_faithfulness(Dft(d=64), length=65)
    >>> result.injective, result.closest_pair
    (False, (0, 64))
    """
    size = LENGTH.check(length, "length")
    width, shown = BANDWIDTH.check(bandwidth, "bandwidth"), LIMIT.check(limit, "limit")
    if not isinstance(encoding, HasTable):
        raise InputError("this encoding gives positions no code", encoding.label, "sinusoidal, dft, dfstrans")
    if size * encoding.d > MAX_STREAMED_ENTRIES:
        raise InputError(
            "d x length is too large", f"{encoding.d} x {size}", f"at most {MAX_STREAMED_ENTRIES} (2**33) is accepted"
        )
    injective, certificate, collisions = certify(encoding, size, shown)
    separation = measure_separation(encoding, size)
    conditioning = measure_conditioning(encoding, size)
    fwhm, error = _reconstruct_one(encoding, width)
    return Faithfulness(
        encoding=encoding,
        length=size,
        domain="positions",
        injective=injective,
        certificate=certificate,
        min_separation=_smallest(separation, injective),
        closest_pair=_pair(separation, collisions),
        collisions=collisions,
        rank=conditioning.rank,
        rank_tolerance=conditioning.rank_tolerance,
        condition_number=conditioning.condition_number,
        sidelobe=separation.sidelobe if separation else None,
        separation_by_lag=_curve(separation),
        fwhm=fwhm,
        relative_error=error,
        bandwidth=width,
        notes=conditioning.notes + _explain(separation, size),
    )


def _smallest(separation: Separation | None, injective: bool | None) -> float | None:
    if injective is False:
        return 0.0  # decided exactly; a computed distance would show its rounding
    return separation.smallest if separation else None


def _pair(separation: Separation | None, collisions: Collisions) -> tuple[int, int] | None:
    return collisions.first or (separation.pair if separation else None)


def _curve(separation: Separation | None) -> F64 | None:
    if separation is None or separation.by_lag is None or len(separation.by_lag) > MAX_CURVE:
        return None
    curve = separation.by_lag
    curve.flags.writeable = False
    return curve


def _explain(separation: Separation | None, length: int) -> tuple[str, ...]:
    if separation is None:
        return (f"separations of {length} codes of this kind are beyond the budget, so separation_by_lag is left out",)
    if length == 1:
        return ("a single position has no pair, so separation and pair are left out",)
    if length - 1 > MAX_CURVE:
        return (f"separation_by_lag has {length - 1} lags, more than {MAX_CURVE}, so it is left out",)
    return ()


def _reconstruct_one(encoding: Encoding, bandwidth: float) -> tuple[float | None, float | None]:
    if not isinstance(encoding, HasFrequencies):
        return None, None
    result = reconstruct_positions(compute_spectrum(encoding, bandwidth=bandwidth), [0]).positions[0]
    return result.fwhm, result.relative_error
