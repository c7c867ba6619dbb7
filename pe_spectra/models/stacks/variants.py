"""Scalings that one implementation computes in its own way, where the catalogue's function does not.

As in `rope_scaling`: theta_i = base**(-2i/D), s the factor, L the original context length; decimals of 60 digits.
"""

from __future__ import annotations

from decimal import Decimal

from pe_spectra.encodings.rope_ladders import blend_frequencies, clip_to_unit, compute_ladder, divide_frequencies
from pe_spectra.encodings.rope_scaling import Scaled, compute_ntk_exponent, compute_yarn_range, enlarge_base
from pe_spectra.exact import CONTEXT

_ONE, _TWO = Decimal(1), Decimal(2)
_TENTH = Decimal("0.1")
#: The least width that keras-hub gives to a ramp.
_NO_WIDTH = Decimal("0.001")


def scale_dynamic_fixed(base: float, width: int, *, factor: float) -> Scaled:
    """Enlarge the base once and for all: b' = b (s**2 - s + 1)**(D/(D-2)), which is dynamic NTK at l = s L.

    Source: vllm-project/vllm, dynamic_ntk_scaling_rope.py before pull request 41277; issue 41236.

    Raises
    ------
    InputError : D below 4.

    >>> [float(w) for w in scale_dynamic_fixed(10000.0, 4, factor=2.0).frequencies]  # 2**2 - 2 + 1 = 3
    [1.0, 0.0033333333333333335]
    """
    s = Decimal(factor)
    growth = CONTEXT.add(CONTEXT.subtract(CONTEXT.multiply(s, s), s), _ONE)
    return Scaled(compute_ladder(enlarge_base(base, width, growth), width))


def scale_ntk_shifted(base: float, width: int, *, factor: float) -> Scaled:
    """Enlarge the base to b s and divide by s**(2/D): pair i is divided by s**(2 (i + 1)/D), the slowest by s.

    Source: vllm-project/vllm, ntk_scaling_rope.py without mixed_b.

    >>> [round(float(w), 6) for w in scale_ntk_shifted(10000.0, 4, factor=4.0).frequencies]  # 1/2, and 0.01/4
    [0.5, 0.0025]
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

    >>> [float(w) for w in scale_linear_by_power(10000.0, 4, factor=2.0).frequencies]  # by 2**2
    [0.25, 0.0025]
    """
    divisor = CONTEXT.power(Decimal(factor), compute_ntk_exponent(width))
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

    >>> from pe_spectra.encodings.rope_scaling import scale_nothing
    >>> scaled = scale_yarn_clipped(10000.0, 128, factor=4.0, original=4096).frequencies
    >>> [float(scaled[i] / scale_nothing(10000.0, 128).frequencies[i]) for i in (0, 63)]
    [1.0, 0.25]
    """
    low, high = compute_yarn_range(base, width, original, beta_fast, beta_slow, truncate=truncate)
    high = min(high, Decimal(width // 2 - 1))
    span = max(CONTEXT.subtract(high, low), _NO_WIDTH)
    ramp = [clip_to_unit(CONTEXT.divide(CONTEXT.subtract(Decimal(i), low), span)) for i in range(width // 2)]
    attention = CONTEXT.add(CONTEXT.multiply(_TENTH, CONTEXT.ln(Decimal(factor))), _ONE)
    return Scaled(blend_frequencies(compute_ladder(base, width), Decimal(factor), ramp), attention)
