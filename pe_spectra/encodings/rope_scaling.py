"""Ways to change the frequencies of rotary encodings, each a pure function.

All start from the ladder theta_i = base**(-2i/D), i = 0 .. D/2 - 1, where D is the rotary width, and
return the frequency of each pair in rad/position with the attention factor, which multiplies every
cosine and sine. Numbers are decimals of 60 digits. Symbols: s the factor, L the original context
length, l the length that is served, r = L theta/(2 pi) the turns of a pair within L.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from pe_spectra.encodings.rope_ladders import (
    blend_by_turns,
    blend_frequencies,
    clip_to_unit,
    compute_ladder,
    divide_frequencies,
    round_wavelength,
    taper_slowest,
)
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, TWO_PI
from pe_spectra.records import NamedTuple

_ZERO, _ONE, _TWO = Decimal(0), Decimal(1), Decimal(2)
#: What the published code adds to the end of a YaRN ramp that has no width.
_NO_WIDTH = Decimal("0.001")


class Scaled(NamedTuple):
    """The frequencies of all pairs in rad/position, fastest first, and the attention factor."""

    frequencies: tuple[Decimal, ...]
    attention_factor: Decimal = _ONE


def scale_nothing(base: float, width: int) -> Scaled:
    """Return the ladder as it is (Su et al. 2021, arXiv:2104.09864).

    >>> [float(w) for w in scale_nothing(10000.0, 4).frequencies]
    [1.0, 0.01]
    """
    return Scaled(compute_ladder(base, width))


def scale_linear(base: float, width: int, *, factor: float) -> Scaled:
    """Divide all frequencies: theta_i/s (Chen et al. 2023, arXiv:2306.15595).

    >>> [float(w) for w in scale_linear(10000.0, 4, factor=2.0).frequencies]
    [0.5, 0.005]
    """
    return Scaled(divide_frequencies(compute_ladder(base, width), Decimal(factor)))


def scale_ntk(base: float, width: int, *, factor: float) -> Scaled:
    """Enlarge the base to b' = b s**(D/(D-2)): the slowest pair is divided by s, the fastest stays.

    Source: Peng et al. 2023, arXiv:2309.00071, Eq. 14 to 16; jquesnelle/yarn, LlamaNTKScaledRotaryEmbedding.

    Raises
    ------
    InputError : D below 4.

    >>> [float(w) for w in scale_ntk(10000.0, 4, factor=2.0).frequencies]
    [1.0, 0.005]
    """
    return Scaled(compute_ladder(enlarge_base(base, width, Decimal(factor)), width))


def _scale_dynamic(base: float, width: int, *, factor: float, original: int, served: int) -> Scaled:
    """Enlarge the base with the length: b' = b (s l/L - (s-1))**(D/(D-2)) where l > L, else b (transformers)."""
    s, ratio = Decimal(factor), CONTEXT.divide(Decimal(max(served, original)), Decimal(original))
    growth = CONTEXT.subtract(CONTEXT.multiply(s, ratio), CONTEXT.subtract(s, _ONE))
    return Scaled(compute_ladder(enlarge_base(base, width, growth), width))


def scale_yarn(
    base: float,
    width: int,
    *,
    factor: float,
    original: int,
    beta_fast: float = 32,
    beta_slow: float = 1,
    truncate: bool = True,
    attention_factor: float | None = None,
    mscale: float | None = None,
    mscale_all_dim: float | None = None,
) -> Scaled:
    """Scale as YaRN's code does: the blend of theta and theta/s is linear in the index of the pair.

    theta'_i = (1 - u) theta_i + u theta_i/s, u = clip((i - low)/(high - low), 0, 1), with the ends of
    :func:`compute_yarn_range`. With beta_fast below beta_slow the ramp runs backwards, as it does in the code.
    Source: jquesnelle/yarn, LlamaYaRNScaledRotaryEmbedding; transformers.

    Raises
    ------
    InputError : base 1 or less.

    >>> plain, scaled = scale_nothing(10000.0, 128), scale_yarn(10000.0, 128, factor=4.0, original=4096)
    >>> [float(scaled.frequencies[i] / plain.frequencies[i]) for i in (0, 63)]
    [1.0, 0.25]
    """
    low, high = compute_yarn_range(base, width, original, beta_fast, beta_slow, truncate=truncate)
    span = CONTEXT.subtract(high, low) or _NO_WIDTH
    ramp = [clip_to_unit(CONTEXT.divide(CONTEXT.subtract(Decimal(i), low), span)) for i in range(width // 2)]
    attention = _choose(attention_factor, compute_yarn_attention(factor, mscale, mscale_all_dim))
    return Scaled(blend_frequencies(compute_ladder(base, width), Decimal(factor), ramp), attention)


def compute_yarn_range(
    base: float, width: int, original: int, beta_fast: float = 32, beta_slow: float = 1, *, truncate: bool = True
) -> tuple[Decimal, Decimal]:
    """Compute where YaRN's ramp begins and ends, as indices of pairs.

    The index that turns n times within L is D ln(L/(2 pi n))/(2 ln b); `truncate` takes the floor of
    the first and the ceiling of the last; both are clipped to 0 from below and D - 1 (not D/2 - 1)
    from above, as published.

    Raises
    ------
    InputError : base 1 or less.

    >>> [int(end) for end in compute_yarn_range(10000.0, 128, 4096)]
    [20, 46]
    """
    if base == 1:
        raise InputError("base has no YaRN range", f"{base:g}", "a base above 1 is accepted")
    scale = CONTEXT.divide(Decimal(width), CONTEXT.multiply(_TWO, CONTEXT.ln(Decimal(base))))
    ends = []
    for beta, rounding in ((beta_fast, ROUND_FLOOR), (beta_slow, ROUND_CEILING)):
        turns = CONTEXT.multiply(TWO_PI, Decimal(beta))
        index = CONTEXT.multiply(scale, CONTEXT.ln(CONTEXT.divide(Decimal(original), turns)))
        ends.append(index.to_integral_value(rounding) if truncate else index)
    return max(ends[0], _ZERO), min(ends[1], Decimal(width - 1))


def compute_yarn_attention(factor: float, mscale: float | None = None, mscale_all_dim: float | None = None) -> Decimal:
    """Compute YaRN's attention factor: 0.1 ln s + 1.

    Where both mscale and mscale_all_dim are set and not 0: (0.1 mscale ln s + 1)/(0.1 mscale_all_dim ln s + 1),
    which is 1 when they are equal.

    >>> round(float(compute_yarn_attention(16.0)), 4), float(compute_yarn_attention(40.0, 1.0, 1.0))
    (1.2773, 1.0)
    """
    if mscale and mscale_all_dim:
        return CONTEXT.divide(_measure_yarn_scale(factor, mscale), _measure_yarn_scale(factor, mscale_all_dim))
    return _measure_yarn_scale(factor, 1)


def _scale_yarn_paper(
    base: float,
    width: int,
    *,
    factor: float,
    original: int,
    beta_fast: float = 32,
    beta_slow: float = 1,
    attention_factor: float | None = None,
) -> Scaled:
    """Scale as YaRN's paper says: the blend of theta and theta/s is linear in the turns r (its Eq. 17 to 22).

    theta' = (1 - g) theta/s + g theta, g = clip((r - beta_slow)/(beta_fast - beta_slow), 0, 1).
    """
    frequencies = blend_by_turns(compute_ladder(base, width), factor, original, beta_slow, beta_fast)
    return Scaled(frequencies, _choose(attention_factor, compute_yarn_attention(factor)))


def scale_llama3(
    base: float,
    width: int,
    *,
    factor: float = 8,
    original: int = 8192,
    low_freq_factor: float = 1,
    high_freq_factor: float = 4,
) -> Scaled:
    """Scale as Llama 3.1 does: keep r > high, divide r < low by s, blend linearly in r between.

    With high at low or below there is nothing between: a step at low.
    Source: meta-llama/llama-models, models/llama3/model.py; transformers.

    >>> plain, scaled = scale_nothing(500000.0, 128), scale_llama3(500000.0, 128)
    >>> [float(scaled.frequencies[i] / plain.frequencies[i]) for i in (0, 63)]
    [1.0, 0.125]
    """
    return Scaled(blend_by_turns(compute_ladder(base, width), factor, original, low_freq_factor, high_freq_factor))


def scale_longrope(
    base: float,
    width: int,
    *,
    original: int,
    served: int,
    factor: float | None = None,
    short_factor: Sequence[float] | None = None,
    long_factor: Sequence[float] | None = None,
    attention_factor: float | None = None,
) -> Scaled:
    """Divide each pair by a searched number of its own: theta_i/lambda_i.

    lambda is long_factor where l > L, else short_factor; the attention factor is
    :func:`compute_longrope_attention` of s. Source: microsoft/LongRoPE, rope/longrope.py; transformers.

    Raises
    ------
    InputError : the list that is needed is missing or has not D/2 numbers, or no factor is known.

    >>> factors = {"factor": 32.0, "short_factor": [1.0, 2.0], "long_factor": [1.0, 8.0]}
    >>> [float(scale_longrope(100.0, 4, original=4096, served=n, **factors).frequencies[1]) for n in (4096, 4097)]
    [0.05, 0.0125]
    """
    name = choose_longrope_list(original, served)
    divisors = long_factor if name == "long_factor" else short_factor
    if divisors is None or len(divisors) != width // 2:
        given = "not set" if divisors is None else f"{len(divisors)} numbers"
        raise InputError(f"{name} does not fit", given, f"{width // 2} numbers, one for each pair", "list-length")
    if attention_factor is None and factor is None:
        raise InputError("factor and attention_factor are not set", accepted="scaling=longrope needs one of them")
    ladder = compute_ladder(base, width)
    frequencies = tuple(CONTEXT.divide(theta, Decimal(by)) for theta, by in zip(ladder, divisors, strict=True))
    return Scaled(frequencies, _choose(attention_factor, compute_longrope_attention(factor or 1, original)))


def choose_longrope_list(original: int, served: int) -> str:
    """Return the name of the list that a length has: long_factor beyond the original one.

    >>> choose_longrope_list(4096, 4096), choose_longrope_list(4096, 4097)
    ('short_factor', 'long_factor')
    """
    return "long_factor" if served > original else "short_factor"


def compute_longrope_attention(factor: float, original: int) -> Decimal:
    """Compute LongRoPE's attention factor: sqrt(1 + ln s/ln L), and 1 for s <= 1.

    >>> round(float(compute_longrope_attention(32.0, 4096)), 5)  # 2**5, 2**12: sqrt(1 + 5/12)
    1.19024
    """
    if factor <= 1:
        return _ONE
    ratio = CONTEXT.divide(CONTEXT.ln(Decimal(factor)), CONTEXT.ln(Decimal(original)))
    return CONTEXT.sqrt(CONTEXT.add(_ONE, ratio))


def _scale_proportional(base: float, width: int, *, share: float, factor: float = 1) -> Scaled:
    """Turn the first int(share D // 2) pairs at b**(-2i/D)/s and leave the others at frequency 0.

    D is the whole head width here. Source: transformers 5.23, modeling_rope_utils.py (Gemma 4).
    """
    pairs = int(share * width // 2)
    turning = divide_frequencies(compute_ladder(base, width, pairs), Decimal(factor))
    return Scaled((*turning, *[_ZERO] * (width // 2 - pairs)))


def compute_xpos_decays(width: int) -> tuple[Decimal, ...]:
    """Compute zeta_i = (2i + 0.4 D)/(1.4 D): xPos multiplies pair i by zeta_i**(lag/scale_base).

    Source: Sun et al. 2022, arXiv:2212.10554; microsoft/torchscale, xpos_relative_position.py.

    >>> [round(float(z), 4) for z in compute_xpos_decays(4)]  # 1.6/5.6 and 3.6/5.6
    [0.2857, 0.6429]
    """
    return tuple(CONTEXT.divide(Decimal(20 * i + 4 * width), Decimal(14 * width)) for i in range(width // 2))


def _scale_resonance(base: float, width: int) -> Scaled:
    """Round all wavelengths to integers (Wang et al. 2024, arXiv:2403.00071; sheryc/resonance_rope)."""
    ladder = compute_ladder(base, width)
    return Scaled(tuple(CONTEXT.divide(TWO_PI, Decimal(round_wavelength(theta))) for theta in ladder))


def _scale_clipped(base: float, width: int, *, clipped_pairs: int = 20, taper: str = "hann") -> Scaled:
    """Fade out the slowest pairs (CoPE: hrlics/CoPE, modeling_cope.py), see :func:`taper_slowest`."""
    return Scaled(taper_slowest(compute_ladder(base, width), clipped_pairs, taper))


class Scaling(NamedTuple):
    """One way to scale: the function, which keys it takes, which of them it cannot do without, and what others are."""

    function: Callable[..., Scaled]
    keys: tuple[str, ...]
    needed: tuple[str, ...]
    defaults: Mapping[str, Any]


def _describe(function: Callable[..., Scaled], *others: str) -> Scaling:
    made: Any = function  # `inspect.signature` works out the same in twenty times the time
    names, first = made.__code__.co_varnames, made.__code__.co_argcount
    found = names[first : first + made.__code__.co_kwonlyargcount]
    keys = tuple(key for key in found if key != "share")  # the share of the head width goes with all of them
    defaults = made.__kwdefaults__ or {}
    return Scaling(function, (*keys, *others), tuple(key for key in keys if key not in defaults), defaults)


#: Every way to scale, by the name that `scaling=` has for it. xpos keeps the frequencies; its decay is apart.
SCALINGS: Mapping[str, Scaling] = {
    "none": _describe(scale_nothing),
    "linear": _describe(scale_linear),
    "ntk": _describe(scale_ntk),
    "dynamic": _describe(_scale_dynamic),
    "yarn": _describe(scale_yarn),
    "yarn-paper": _describe(_scale_yarn_paper),
    "llama3": _describe(scale_llama3),
    "longrope": _describe(scale_longrope),
    "proportional": _describe(_scale_proportional),
    "xpos": _describe(scale_nothing, "scale_base"),
    "resonance": _describe(_scale_resonance),
    "clipped": _describe(_scale_clipped),
}


#: Scalings that keep the fastest pairs and divide the slowest.
BLENDS = ("yarn", "yarn-paper", "llama3")


def enlarge_base(base: float, width: int, growth: Decimal) -> Decimal:
    """Return b growth**(D/(D-2)), with which the slowest pair is divided by the growth.

    Raises
    ------
    InputError : D below 4.

    >>> enlarge_base(10000.0, 4, Decimal(2))
    Decimal('40000')
    """
    return CONTEXT.multiply(Decimal(base), CONTEXT.power(growth, compute_ntk_exponent(width)))


def compute_ntk_exponent(width: int) -> Decimal:
    """Return D/(D-2).

    Raises
    ------
    InputError : D below 4.

    >>> compute_ntk_exponent(4)
    Decimal('2')
    """
    if width < 4:
        raise InputError("the exponent D/(D-2) does not exist", f"D = {width}", "a rotary width of at least 4")
    return CONTEXT.divide(Decimal(width), Decimal(width - 2))


def _measure_yarn_scale(factor: float, mscale: float) -> Decimal:
    if factor <= 1:
        return _ONE
    tenth = CONTEXT.divide(Decimal(mscale), Decimal(10))
    return CONTEXT.add(CONTEXT.multiply(tenth, CONTEXT.ln(Decimal(factor))), _ONE)


def _choose(given: float | None, computed: Decimal) -> Decimal:
    return computed if given is None else Decimal(given)
