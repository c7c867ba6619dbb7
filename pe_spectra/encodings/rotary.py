"""Rotary encodings: pairs of channels turned by an angle that grows with the position.

`rope_scaling` has the ways to change the frequencies; `rotary_variants` has rotary encodings that are
no list of frequencies along a line.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from pe_spectra.encodings.pairs import Pairs, interleave
from pe_spectra.encodings.parameters import YES_NO, Parameter, Value, parameter
from pe_spectra.encodings.protocol import Theorem
from pe_spectra.encodings.rope_ladders import round_wavelength
from pe_spectra.encodings.rope_scaling import SCALINGS, Scaled, compute_xpos_decays
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, F64, I64, TWO_PI, ArrayLike, sin_cos, stack_words, sum_cosines
from pe_spectra.limits import MAX_CONTEXT, MAX_HEAD_WIDTH, MAX_POSITION, MAX_RHO
from pe_spectra.numbers import Accepts, Choice, IntegerRange, ListOf, RealRange
from pe_spectra.records import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

#: Entries of a table of decaying cosines that is held at a time.
_TERMS = 1 << 20
#: Below 1 a scaling shortens the context: nobody means that, but implementations compute it.
_FACTORS = RealRange(minimum=1e-3, maximum=1e6)
_NUMBERS = RealRange(minimum=1e-6, maximum=1e6)
_LENGTHS = IntegerRange(minimum=2, maximum=MAX_CONTEXT)
_SERVED = IntegerRange(minimum=1, maximum=MAX_CONTEXT)


@dataclass(frozen=True, kw_only=True)
class _ScalingChoice(Choice):
    """The ways to scale a line; for a grid it names the encoding that is one."""

    def check(self, value: object, name: str) -> str:
        """Return a member given in Python.

        Raises
        ------
        InputError : not a member.
        """
        if value == "axial":
            raise InputError(f"{name} is not for a line", "axial", "the encoding rope-axial has grids")
        return super().check(value, name)


def _key(name: str, accepts: Accepts[Value], meaning: str, default: Value = None) -> Parameter:
    """A key that has a meaning with some scalings alone."""
    scalings = tuple(scaling for scaling, found in SCALINGS.items() if name in found.keys)
    return Parameter(default=default, accepts=accepts, meaning=meaning, only_with={"scaling": scalings})


@final
@dataclass(frozen=True, kw_only=True)
class Rope(Pairs):
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

    d: int = parameter(
        default=128,
        accepts=IntegerRange(minimum=2, maximum=MAX_HEAD_WIDTH),
        multiple=2,
        meaning="width of a head, even (not of the model)",
    )
    base: float = parameter(
        default=10000.0,
        accepts=RealRange(minimum=1, maximum=MAX_RHO),
        meaning="base of the geometric ladder (rope_theta); the slowest wavelength is nearly 2 pi base",
    )
    share: float = parameter(
        default=1.0,
        accepts=RealRange(minimum=1 / 64, maximum=1),
        meaning="share of the head width that is turned (partial_rotary_factor): D = int(d share), even",
    )
    layout: str = parameter(
        accepts=Choice(members=("half", "interleaved")),
        meaning="pairs (i, i + D/2) as in transformers, or (2i, 2i + 1) as in GPT-J and Meta's code",
    )
    scaling: str = parameter(
        default="none",
        accepts=_ScalingChoice(members=tuple(SCALINGS)),
        meaning="how the frequencies are changed for a longer context",
    )
    factor: float | None = parameter(
        like=_key("factor", _FACTORS, "s, target over original length; not set: 8 for llama3, 1 if optional")
    )
    original: int | None = parameter(
        like=_key("original", _LENGTHS, "L, context length of the training; not set: 8192 for llama3")
    )
    served: int | None = parameter(
        like=_key("served", _SERVED, "current length, which decides what dynamic and longrope do")
    )
    beta_fast: float = parameter(like=_key("beta_fast", _NUMBERS, "pairs that turn so often within L are kept", 32.0))
    beta_slow: float = parameter(like=_key("beta_slow", _NUMBERS, "pairs that turn less often are divided by s", 1.0))
    truncate: str = parameter(like=_key("truncate", YES_NO, "round the ends of the ramp to whole pairs", "yes"))
    attention_factor: float | None = parameter(
        like=_key("attention_factor", _NUMBERS, "factor on cosines and sines; not set: the published formula")
    )
    mscale: float | None = parameter(
        like=_key("mscale", RealRange(minimum=0, maximum=1e6), "with mscale_all_dim: attention factor is their ratio")
    )
    mscale_all_dim: float | None = parameter(
        like=_key("mscale_all_dim", RealRange(minimum=0, maximum=1e6), "the divisor of that ratio, as in DeepSeek")
    )
    low_freq_factor: float = parameter(
        like=_key("low_freq_factor", _NUMBERS, "pairs with fewer turns are divided by s", 1.0)
    )
    high_freq_factor: float = parameter(
        like=_key("high_freq_factor", _NUMBERS, "pairs with more turns within L are kept", 4.0)
    )
    short_factor: tuple[float, ...] | None = parameter(
        like=_key("short_factor", ListOf(of=_NUMBERS), "a divisor for each pair, up to the original length")
    )
    long_factor: tuple[float, ...] | None = parameter(
        like=_key("long_factor", ListOf(of=_NUMBERS), "a divisor for each pair, beyond the original length")
    )
    scale_base: float = parameter(
        like=_key("scale_base", _NUMBERS, "lag after which pair i has decayed to zeta_i", 512.0)
    )
    clipped_pairs: int = parameter(
        like=_key(
            "clipped_pairs", IntegerRange(minimum=0, maximum=MAX_HEAD_WIDTH), "how many of the slowest pairs fade", 20
        )
    )
    taper: str = parameter(
        like=_key("taper", Choice(members=("hann", "hard")), "how they fade: a cosine fall, or all to 0", "hann")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rotary_width % 2 or not self.rotary_width:
            raise InputError("rope: int(d share) is no even width", str(self.rotary_width), "2, 4, .. are accepted")
        for key in SCALINGS[self.scaling].needed:
            if getattr(self, key) is None:
                raise InputError(f"rope: {key} is not set", accepted=f"scaling={self.scaling} needs {key}=NUMBER")
        try:
            _scale(self)
        except InputError as error:
            raise InputError(f"rope: {error.what}", error.given, error.accepted, error.cause) from None

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

    @property
    def turns_alone(self) -> bool:
        """Not with xpos, whose factors decay."""
        return self.scaling != "xpos"

    @property
    def amplitude(self) -> float:
        """The attention factor."""
        return float(_scale(self).attention_factor)

    def words(self) -> F64:
        """Frequencies in rad/position as (3, D/2) words."""
        return _split_words(self)

    def round_frequencies(self) -> F64:
        """Frequencies in rad/position, rounded to float64: the first of their words without the others; read-only."""
        rounded = np.array([float(theta) for theta in _scale(self).frequencies])
        rounded.flags.writeable = False
        return rounded

    def turns(self, index: int) -> Fraction | Decimal:
        """Frequency `index` in turns per position: exactly for resonance and 0, else to some 50 digits."""
        theta = _scale(self).frequencies[index]
        if theta and self.scaling != "resonance":
            return CONTEXT.divide(theta, TWO_PI)
        from fractions import Fraction

        return Fraction(1, round_wavelength(theta)) if theta else Fraction(0)

    def arrange(self, sine: F64, cosine: F64) -> F64:
        """The cache of cosines and sines, in the order of the layout; channels that are not turned come last."""
        rows, still = len(sine), (self.d - self.rotary_width) // 2
        if self.layout == "half":
            parts = [self.amplitude * cosine, self.amplitude * sine, np.ones((rows, still)), np.zeros((rows, still))]
            return np.concatenate(parts, axis=1)
        turned = self.amplitude * interleave(cosine, sine)
        return np.concatenate([turned, np.tile([1.0, 0.0], (rows, still))], axis=1)

    def kernel(self, lags: ArrayLike) -> F64:
        """Dot product of two rows of the table by their lag, with the decay of xpos; shape (1, L)."""
        from pe_spectra.encodings.codes import as_lags

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
            return Theorem(kind="period", text="every frequency is 0: all positions share one vector")
        if self.scaling == "resonance":
            after = f"{period} positions" if period else "more than 2**53 positions"
            return Theorem(
                kind="period", text=f"all wavelengths are integers, and position vectors repeat after {after}"
            )
        factor = Decimal(8 if self.factor is None else self.factor)
        if self.scaling in ("yarn-paper", "llama3") and first not in (1, CONTEXT.divide(Decimal(1), factor)):
            what, why = "a polynomial in 1/pi with rational coefficients", "transcendental"
        else:
            what, why = "a rational number", "irrational"
        return Theorem(
            kind="irrational-frequency",
            text=f"the first pair turns by {float(first):.6g} rad per position, {what}: position vectors agree only "
            f"where the lag times it is a multiple of 2 pi, and pi is {why}",
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


@lru_cache(maxsize=16)
def _split_words(rope: Rope) -> F64:
    return stack_words(_scale(rope).frequencies)


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
