"""Scalings that one implementation computes in its own way, where the catalogue's function does not.

As in `rope_scaling`: theta_i = base**(-2i/D), s the factor, L the original context length; decimals of 60 digits.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from pe_spectra.encodings.rope_ladders import blend_frequencies, clip_to_unit, compute_ladder, divide_frequencies
from pe_spectra.encodings.rope_scaling import Scaled
from pe_spectra.errors import InputError
from pe_spectra.exact import CONTEXT, TWO_PI

_ZERO, _ONE, _TWO = Decimal(0), Decimal(1), Decimal(2)
_TENTH = Decimal("0.1")
#: The least width that keras-hub gives to a ramp.
_NO_WIDTH = Decimal("0.001")


def scale_dynamic_fixed(base: float, width: int, *, factor: float) -> Scaled:
    """Enlarge the base once and for all: b' = b (s**2 - s + 1)**(D/(D-2)), which is dynamic NTK at l = s L.

    Source: vllm-project/vllm, dynamic_ntk_scaling_rope.py before pull request 41277; issue 41236.

    Raises
    ------
    InputError : D below 4.
    """
    s = Decimal(factor)
    growth = CONTEXT.add(CONTEXT.subtract(CONTEXT.multiply(s, s), s), _ONE)
    enlarged = CONTEXT.multiply(Decimal(base), CONTEXT.power(growth, _find_exponent(width)))
    return Scaled(compute_ladder(enlarged, width))


def scale_ntk_shifted(base: float, width: int, *, factor: float) -> Scaled:
    """Enlarge the base to b s and divide by s**(2/D): pair i is divided by s**(2 (i + 1)/D), the slowest by s.

    Source: vllm-project/vllm, ntk_scaling_rope.py without mixed_b.
    """
    s = Decimal(factor)
    divisor = CONTEXT.power(s, CONTEXT.divide(_TWO, Decimal(width)))
    return Scaled(divide_frequencies(compute_ladder(CONTEXT.multiply(Decimal(base), s), width), divisor))


def scale_linear_by_power(base: float, width: int, *, factor: float) -> Scaled:
    """Divide all frequencies by s**(D/(D-2)): what keras-hub calls dynamic is linear, and has no length.

    Source: keras-team/keras-hub, rotary_embedding.py.

    Raises
    ------
    InputError : D below 4.
    """
    divisor = CONTEXT.power(Decimal(factor), _find_exponent(width))
    return Scaled(divide_frequencies(compute_ladder(base, width), divisor))


def scale_yarn_clipped(
    base: float,
    width: int,
    *,
    factor: float,
    original: int,
    beta_fast: float = 32,
    beta_slow: float = 1,
    truncate: bool = False,
) -> Scaled:
    """Scale as keras-hub's yarn does: the ramp ends at pair D/2 - 1 at the latest, and is not truncated unless asked.

    The attention factor is 0.1 ln s + 1, below 1 for s < 1. Source: keras-team/keras-hub, rotary_embedding.py.

    Raises
    ------
    InputError : base 1 or less.
    """
    if base <= 1:
        raise InputError("base has no YaRN range", f"{base:g}", "a base above 1 is accepted")
    scale = CONTEXT.divide(Decimal(width), CONTEXT.multiply(_TWO, CONTEXT.ln(Decimal(base))))
    ends = []
    for beta, rounding in ((beta_fast, ROUND_FLOOR), (beta_slow, ROUND_CEILING)):
        turns = CONTEXT.multiply(TWO_PI, Decimal(beta))
        index = CONTEXT.multiply(scale, CONTEXT.ln(CONTEXT.divide(Decimal(original), turns)))
        ends.append(index.to_integral_value(rounding) if truncate else index)
    low, high = max(ends[0], _ZERO), min(ends[1], Decimal(width // 2 - 1))
    span = max(CONTEXT.subtract(high, low), _NO_WIDTH)
    ramp = [clip_to_unit(CONTEXT.divide(CONTEXT.subtract(Decimal(i), low), span)) for i in range(width // 2)]
    attention = CONTEXT.add(CONTEXT.multiply(_TENTH, CONTEXT.ln(Decimal(factor))), _ONE)
    return Scaled(blend_frequencies(compute_ladder(base, width), Decimal(factor), ramp), attention)


def _find_exponent(width: int) -> Decimal:
    if width < 4:
        raise InputError("the exponent D/(D-2) does not exist", f"D = {width}", "a rotary width of at least 4")
    return CONTEXT.divide(Decimal(width), Decimal(width - 2))
