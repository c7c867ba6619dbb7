"""Rotary encodings: pairs of channels turned by an angle that grows with the position.

`rope_scaling` has the ways to change the frequencies; `rotary_variants` has rotary encodings that are
no list of frequencies along a line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.encodings.parameters import Parameter
from pe_spectra.encodings.positions import as_lags, as_positions, as_times
from pe_spectra.encodings.protocol import Encoding, Frequencies, Theorem
from pe_spectra.encodings.rope_ladders import round_wavelength
from pe_spectra.encodings.rope_parameters import ROPE_PARAMETERS
from pe_spectra.encodings.rope_scaling import SCALINGS, Scaled, compute_xpos_decays
from pe_spectra.encodings.rotary_variants import Fope, RopeAxial
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, F64, I64, TWO_PI, sin_cos, sum_cosines, to_words
from pe_spectra.limits import MAX_POSITION

#: Entries of a table of decaying cosines that is held at a time.
_TERMS = 1 << 20


@final
@dataclass(frozen=True, kw_only=True)
class Rope(Encoding):
    """The rotary encoding of Su et al. 2021: pair i of a query or key is turned by s theta_i.

    The table is the cache of cosines and sines that implementations store, times the attention
    factor: for layout half all cosines, then all sines; for interleaved cosine and sine of each pair
    in turn. With a share below 1, columns follow for the channels that are not turned: a cosine of
    1 and a sine of 0 for each pair of them, which have no frequency.

    The kernel is what a query and a key that do not vary have in common at a lag, as the table's rows
    do: the attention factor squared times the sum of cos(theta_i tau), and 1 for each pair that is not
    turned. With scaling=xpos the kernel decays, zeta_i**(|tau|/scale_base); frequencies and table are
    those of the rotation alone.
    """

    name: ClassVar[str] = "rope"
    family: ClassVar[str] = "rotary"
    summary: ClassVar[str] = "pairs of channels turned by angles on a geometric ladder, with every published scaling"
    formula: ClassVar[str] = "pair i turns by s theta_i, theta_i = base**(-2i/D), D = int(d share), then scaled"
    source: ClassVar[str] = (
        "Su et al. 2021, arXiv:2104.09864; scalings as in transformers, modeling_rope_utils.py, and the sources of "
        "rope_scaling"
    )
    pitfalls: ClassVar[str] = (
        "layout: pairs (i, i + D/2) or (2i, 2i + 1) have the same frequencies on other channels; the head width may "
        "differ from hidden size over heads; YaRN's code blends by the index of a pair (yarn), its paper by its turns "
        "(yarn-paper); the attention factor stands on cosines and sines, so scores have its square; dynamic and "
        "longrope change with the length that is served, and keys that were cached before the change do not; "
        "proportional keeps the exponent of the whole head width, a share below 1 elsewhere does not"
    )
    accepts: ClassVar[tuple[Parameter, ...]] = ROPE_PARAMETERS

    d: int = 128
    base: float = 10000.0
    share: float = 1.0
    layout: str = "half"
    scaling: str = "none"
    factor: float | None = None
    original: int | None = None
    served: int | None = None
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: str = "yes"
    attention_factor: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    short_factor: tuple[float, ...] | None = None
    long_factor: tuple[float, ...] | None = None
    scale_base: float = 512.0
    clipped_pairs: int = 20
    taper: str = "hann"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d % 2:
            raise InputError("rope: d is odd", str(self.d), "an even d is accepted")
        if self.rotary_width % 2 or not self.rotary_width:
            raise InputError("rope: int(d share) is no even width", str(self.rotary_width), "2, 4, .. are accepted")
        for key in SCALINGS[self.scaling].needed:
            if getattr(self, key) is None:
                raise InputError(f"rope: {key} is not set", accepted=f"scaling={self.scaling} needs {key}=NUMBER")
        try:
            _scale(self)
        except InputError as error:
            raise InputError(f"rope: {error.what}", error.given, error.accepted) from None

    @property
    def default_grid(self) -> int:
        """As for other ladders, a lattice point for each channel."""
        return self.d

    @property
    def rotary_width(self) -> int:
        """Channels that have a frequency: D = int(d share), for `proportional` all of them."""
        return self.d if self.scaling == "proportional" else int(self.d * self.share)

    @property
    def notes(self) -> tuple[str, ...]:
        """What table and kernel hold besides the frequencies."""
        found = []
        if self.rotary_width < self.d:
            still = self.d - self.rotary_width
            found.append(f"{still} of {self.d} channels are not turned: constants in table and kernel, no frequency")
        if self.scaling == "xpos":
            found.append("the decay of xpos belongs to a lag: it is in the kernel, not in the table")
        return tuple(found)

    def frequencies(self) -> Frequencies:
        """Frequencies of the D/2 pairs, fastest first as published; amplitude is the attention factor."""
        words = self.words()
        ones, zeros = np.ones_like(words[0]), np.zeros_like(words[0])
        amplitude = float(_scale(self).attention_factor)
        return Frequencies(values=words[0], low=words[1], masses=ones, phases=zeros, amplitude=amplitude)

    def words(self) -> F64:
        """Frequencies in rad/position as (3, D/2) words."""
        return _split_words(self)

    def turns(self, index: int) -> Fraction | Decimal:
        """Frequency `index` in turns per position: exactly for resonance and 0, else to some 50 digits."""
        theta = _scale(self).frequencies[index]
        if not theta:
            return Fraction(0)
        return Fraction(1, round_wavelength(theta)) if self.scaling == "resonance" else CONTEXT.divide(theta, TWO_PI)

    def table(self, positions: int | ArrayLike) -> F64:
        """The cache of cosines and sines, shape (S, d)."""
        return self._arrange(*sin_cos(self.words(), as_positions(positions, self.d)))

    def table_at(self, times: F64) -> F64:
        """The same at real positions, shape (S, d)."""
        return self._arrange(*sin_cos(self.words(), as_times(times)))

    def _arrange(self, sine: F64, cosine: F64) -> F64:
        amplitude = float(_scale(self).attention_factor)
        rows, still = len(sine), (self.d - self.rotary_width) // 2
        if self.layout == "half":
            parts = [amplitude * cosine, amplitude * sine, np.ones((rows, still)), np.zeros((rows, still))]
            return np.concatenate(parts, axis=1)
        turned = amplitude * np.stack([cosine, sine], axis=2).reshape(rows, self.rotary_width)
        return np.concatenate([turned, np.tile([1.0, 0.0], (rows, still))], axis=1)

    def kernel(self, lags: ArrayLike) -> F64:
        """Dot product of two rows of the table by their lag, with the decay of xpos; shape (1, L)."""
        lags = as_lags(lags)
        words, attention = self.words(), _scale(self).attention_factor
        if self.scaling == "xpos":
            total = _sum_decaying_cosines(words, self.rotary_width, self.scale_base, lags)
        else:
            total = sum_cosines(words, np.ones(words.shape[1]), lags)
        still = (self.d - self.rotary_width) / 2
        result: F64 = float(CONTEXT.multiply(attention, attention)) * total + still
        return result[None, :]

    def exact_key(self, positions: I64) -> I64:
        """The position, modulo the period where there is one."""
        period = _find_period(self)
        key: I64 = np.mod(positions, period) if period else positions
        return key

    @property
    def theorem(self) -> Theorem:
        """A period, or the frequency of the first pair, of which no multiple is one of 2 pi."""
        period, first = _find_period(self), _scale(self).frequencies[0]
        if period == 1:
            return Theorem(kind="period", text="every frequency is 0: all positions share one code")
        if self.scaling == "resonance":
            after = f"{period} positions" if period else "more than 2**53 positions"
            return Theorem(kind="period", text=f"all wavelengths are integers, and codes repeat after {after}")
        blend = {"yarn-paper", "llama3"}
        if self.scaling in blend and first not in (Decimal(1), CONTEXT.divide(Decimal(1), _find_factor(self))):
            what, why = "a polynomial in 1/pi with rational coefficients", "transcendental"
        else:
            what, why = "a rational number", "irrational"
        return Theorem(
            kind="irrational-frequency",
            text=f"the first pair turns by {float(first):.6g} rad per position, {what}: codes agree only where the lag "
            f"times it is a multiple of 2 pi, and pi is {why}",
        )


@lru_cache(maxsize=16)
def _scale(rope: Rope) -> Scaled:
    scaling = SCALINGS[rope.scaling]
    options: dict[str, object] = {key: getattr(rope, key) for key in scaling.keys if key != "scale_base"}
    options = {key: value for key, value in options.items() if value is not None}
    if "truncate" in options:
        options["truncate"] = rope.truncate == "yes"
    if rope.scaling == "proportional":
        options["share"] = rope.share
    return scaling.function(rope.base, rope.rotary_width, **options)


def _find_period(rope: Rope) -> int | None:
    # least common multiple of the wavelengths; None where there is none up to 2**53
    turning = [theta for theta in _scale(rope).frequencies if theta]
    if turning and rope.scaling != "resonance":
        return None
    period = 1
    for theta in turning:
        period = math.lcm(period, round_wavelength(theta))
        if period > MAX_POSITION:
            return None
    return period


def _find_factor(rope: Rope) -> Decimal:
    return Decimal(8 if rope.factor is None else rope.factor)


@lru_cache(maxsize=16)
def _split_words(rope: Rope) -> F64:
    words = np.array([to_words(theta, 3) for theta in _scale(rope).frequencies]).T.copy()
    words.flags.writeable = False  # the same array serves every call
    return words


def _sum_decaying_cosines(words: F64, width: int, scale_base: float, lags: I64) -> F64:
    # sum of zeta_i**(|lag|/scale_base) cos(theta_i lag), some rows at a time
    rates = np.log([float(zeta) for zeta in compute_xpos_decays(width)]) / scale_base
    lags = np.abs(lags)
    total = np.empty(len(lags))
    rows = max(1, _TERMS // words.shape[1])
    for start in range(0, len(lags), rows):
        part = lags[start : start + rows]
        cosine = sin_cos(words, part)[1]
        total[start : start + rows] = np.sum(cosine * np.exp(np.multiply.outer(part, rates)), axis=1)
    return total


ROTARY: tuple[type[Encoding], ...] = (Rope, RopeAxial, Fope)
