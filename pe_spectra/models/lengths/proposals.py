"""What is proposed for a context length: ways to get there from a shorter one, and bases, with what they assume.

Symbols: D the rotary width in channels, b the base of the training, L its length (the trained length),
T the length that is wanted (the target), s = T/L, all lengths in positions. Nothing here has been
measured on a model: each bound follows from its assumption, and they contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Literal, get_args

from pe_spectra.encodings.rope_scaling import enlarge_base
from pe_spectra.exact import CONTEXT, TWO_PI
from pe_spectra.limits import MAX_RHO
from pe_spectra.models.cosine_sums import MAX_SEARCHED, search_base
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import NamedTuple, dataclass
from pe_spectra.vocabulary import CODE_PATTERN

Unit = Literal["base", "positions", "channels"]
Options = Mapping[str, float | int | bool]

_LIU = "Liu et al. 2023, arXiv:2310.05209"
_MEN = "Men et al. 2024, arXiv:2405.14591"
_NTK = "Peng et al. 2023, arXiv:2309.00071"
_CLAIM = "F. Liu 2026, arXiv:2602.10959: a claim, not peer reviewed"
#: The cosine that the slowest pair is to keep in the stability bound, whose author leaves it open.
STABLE_COSINE = 0.9
#: The angle that has it, in radians.
_STABLE_ANGLE = Decimal("0.4510268117962624325446446357943518262034")
#: Spacing of float32 numbers at 1.
_FLOAT32_EPSILON = 2.0**-23


class _Way(NamedTuple):
    """What a way does, what training it needs as published, and a remark."""

    does: str
    training: str
    remark: str = ""


_UNTUNED = f"none, as published for models that are not fine-tuned ({_NTK})"
_TUNED = f"fine-tuning, as published with 2.5 times fewer steps and 10 times fewer tokens than ways before it ({_NTK})"
#: Every way that is compared, by name, the unchanged model first.
WAYS: Mapping[str, _Way] = {
    "none": _Way(does="keeps all frequencies", training="none"),
    "linear": _Way(
        does="divides all frequencies by the factor",
        training="fine-tuning, as published within 1,000 steps (Chen et al. 2023, arXiv:2306.15595)",
    ),
    "ntk": _Way(does="enlarges the base, so that the slowest pair is divided by the factor", training=_UNTUNED),
    "dynamic": _Way(
        does="enlarges the base as the text grows",
        training=_UNTUNED,
        remark="at the target; shorter texts are slowed less, and keys that are cached keep the base of their time",
    ),
    "yarn": _Way(
        does="divides slow pairs and keeps fast ones, in between by index",
        training=_TUNED,
        remark="as coded: the ramp is linear in the index of the pair",
    ),
    "yarn-paper": _Way(
        does="divides slow pairs and keeps fast ones, in between by periods",
        training=_TUNED,
        remark="as the paper says: the ramp is linear in the periods; no common library computes this",
    ),
    "llama3": _Way(
        does="divides slow pairs and keeps fast ones, as Llama 3.1 does",
        training="training with it, as Llama 3.1 had (meta-llama/llama-models)",
    ),
    "critical-base": _Way(
        does="takes the critical base",
        training=f"fine-tuning at the target ({_LIU})",
        remark="Liu et al.: meant for fine-tuning at the target",
    ),
    "men-base": _Way(
        does="takes the smallest base of Men et al.",
        training=f"training with it ({_MEN})",
        remark="Men et al.: the smallest with two significant digits without a negative sum up to the target; meant "
        "for training",
    ),
}
#: Ways that are published for fine-tuning a model that was trained without them, the least training first.
RECOMMENDED = ("yarn", "linear")
_NUMBER, _COUNT = {"type": "number", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}
_ABOVE_ONE = {"type": "number", "exclusiveMinimum": 1}
#: What a way can be computed with: JSON Schema and meaning of each key.
_KEYS: Mapping[str, tuple[Mapping[str, object], str]] = {
    "base": (_ABOVE_ONE, "Base of the ladder."),
    "factor": (_ABOVE_ONE, "Target over training context length."),
    "original": (_COUNT, "Training context length, in positions."),
    "served": (_COUNT, "Target, in positions."),
    "beta_fast": (_NUMBER, "Periods in training from which on YaRN keeps a pair."),
    "beta_slow": (_NUMBER, "Periods in training up to which YaRN divides a pair."),
    "truncate": ({"type": "boolean"}, "Whether the ends of YaRN's ramp are rounded to whole pairs."),
    "low_freq_factor": (_NUMBER, "Periods in training up to which llama3 divides a pair."),
    "high_freq_factor": (_NUMBER, "Periods in training from which on llama3 keeps a pair."),
}
PARAMETERS = {
    "type": "object",
    "properties": {key: {**form, "description": text} for key, (form, text) in _KEYS.items()},
    "required": ["base"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class Bound(Result):
    """One number that is proposed for a context length."""

    name: str = quantity("Stable name.", pattern=CODE_PATTERN)
    value: float | None = quantity("The number; null where it is not known.", minimum=0)
    unit: Unit = quantity("What it counts.", words=get_args(Unit), default="base")
    assumption: str = quantity("What must be true for it to mean something.")
    source: str = quantity("Where it comes from.")
    remark: str = quantity(
        "Why there is no value, or what to know about it; empty for nothing.", schema={"type": "string"}, default=""
    )


#: Every bound: what it counts, what must be true for it to mean something, and where it comes from.
_BOUNDS: Mapping[str, tuple[Unit, str, str]] = {
    "critical-dimension": ("channels", "channels beyond it never completed a period in training", _LIU),
    "critical-base": (
        "base",
        "fine-tuned at the target; the pair that just completed a period in training just does so there",
        f"{_LIU}; the automatic base of GradientAI and koboldcpp (LostRuins/koboldcpp#910)",
    ),
    "extrapolation-limit": (
        "positions",
        "at the critical base, wavelength of the first pair that never completed a period",
        _LIU,
    ),
    "ntk-base": (
        "base",
        "not fine-tuned; the slowest pair slowed by target/trained, the fastest kept",
        f"{_NTK}, Eq. 16",
    ),
    "men-exact": (
        "base",
        "smallest with two significant digits with no sum of cos(m theta) < 0 up to the target",
        _MEN,
    ),
    "men-settled": (
        "base",
        "smallest with two significant digits from which on, up to twice it, no base has such a sum",
        _MEN,
    ),
    "men-fit": ("base", "a line through such bases for 1,000 to 1,000,000 positions at D = 128", f"{_MEN}, Fig. 1"),
    **{
        f"{part}-turn-base": (
            "base",
            f"fine-tuned at the target with a smaller base; every pair completes a {part} period",
            _LIU,
        )
        for part in ("quarter", "half", "full")
    },
    "alias-bound": ("base", "least; a frequency 1/base never completes a period (length < 2 pi base)", _CLAIM),
    "stability-bound": (
        "base",
        f"least; a frequency 1/base keeps a cosine of eps, here {STABLE_COSINE} (eps is free)",
        _CLAIM,
    ),
    "precision-bound": ("base", "largest; 1/eps of float32, the type that phases are kept in", _CLAIM),
}


def list_bounds_of_length(d: int, target: int) -> tuple[Bound, ...]:
    """List what is proposed for a context length alone, whatever was trained.

    Parameters
    ----------
    d : D, even, >= 4. target : T in positions.

    >>> found = {bound.name: bound.value for bound in list_bounds_of_length(64, 64)}
    >>> round(found["full-turn-base"], 4)  # 64/2 pi
    10.1859
    """
    return (*_describe_search(d, target), *list_formulas_of_length(target))


def list_formulas_of_length(target: int) -> tuple[Bound, ...]:
    """List what of that is a formula, and needs no search.

    Parameters
    ----------
    target : T in positions.

    >>> list_formulas_of_length(64)[0].name
    'men-fit'
    """
    values = {
        "men-fit": _compute_fitted_base(target),
        "quarter-turn-base": 2.0 * target / math.pi,
        "half-turn-base": target / math.pi,
        "full-turn-base": target / (2 * math.pi),
        "alias-bound": target / (2 * math.pi),
        "stability-bound": float(CONTEXT.divide(Decimal(target), _STABLE_ANGLE)),
        "precision-bound": 1 / _FLOAT32_EPSILON,
    }
    return tuple(_fill(name, value) for name, value in values.items())


def list_bounds_of_change(d: int, base: float, trained: int, target: int) -> tuple[Bound, ...]:
    """List what is proposed for taking a model of one length to another.

    Parameters
    ----------
    d : D, even, >= 4. base : b > 1. trained : L >= 8. target : T > L.

    >>> found = {bound.name: bound.value for bound in list_bounds_of_change(128, 1e4, 4096, 8192)}
    >>> found["critical-dimension"]
    92
    """
    critical, turning = _compute_critical_base(base, trained, target), _compute_critical_dimension(d, base, trained)
    limit = None if critical is None else _compute_extrapolation_limit(d, turning, critical)
    return (
        _fill("critical-dimension", turning),
        _fill("critical-base", critical, "" if critical is not None else "it is beyond 1e300"),
        _fill("extrapolation-limit", limit),
        _fill("ntk-base", float(enlarge_base(base, d, Decimal(target / trained)))),
    )


def _log_turns(length: int) -> Decimal:
    return CONTEXT.ln(CONTEXT.divide(Decimal(length), TWO_PI))


def _compute_critical_dimension(d: int, base: float, trained: int) -> int:
    """Count the channels that completed a period in training: 2 ceil(D/2 log_b(L/(2 pi))), from 0 to D."""
    logarithm = CONTEXT.divide(_log_turns(trained), CONTEXT.ln(Decimal(base)))
    pairs = CONTEXT.multiply(Decimal(d // 2), logarithm).to_integral_value(ROUND_CEILING)
    return 2 * int(min(max(pairs, Decimal(0)), Decimal(d // 2)))


def _compute_critical_base(base: float, trained: int, target: int) -> float | None:
    """Compute beta_0 = b**(ln(T/(2 pi))/ln(L/(2 pi))), Eq. 16a of Liu et al.'s repository; None beyond 1e300."""
    exponent = CONTEXT.divide(_log_turns(target), _log_turns(trained))
    logarithm = CONTEXT.multiply(exponent, CONTEXT.ln(Decimal(base)))
    return float(CONTEXT.exp(logarithm)) if logarithm <= math.log(MAX_RHO) else None


def _compute_extrapolation_limit(d: int, critical_dimension: int, base: float) -> float:
    """Compute T_extra = 2 pi beta**(d_extra/D), Eq. 16b of their repository, for beta from the critical base on."""
    share = CONTEXT.divide(Decimal(critical_dimension), Decimal(d))
    return float(CONTEXT.multiply(TWO_PI, CONTEXT.power(Decimal(base), share)))


def _compute_fitted_base(length: int) -> float:
    """Compute 0.0424 L**1.628, the line of Men et al. through their smallest bases."""
    # in decimals: the rounding of 1.628 alone is up to 14 units in the last place of the power
    return float(CONTEXT.multiply(Decimal("0.0424"), CONTEXT.power(Decimal(length), Decimal("1.628"))))


def _fill(name: str, value: float | None, remark: str = "") -> Bound:
    unit, assumption, source = _BOUNDS[name]
    return Bound(name=name, value=value, unit=unit, assumption=assumption, source=source, remark=remark)


def _describe_search(d: int, target: int) -> tuple[Bound, Bound]:
    """The smallest base, and the smallest from which on bases hold; not searched where that would take too long."""
    found = search_base(d, target) if d // 2 * target <= MAX_SEARCHED else None
    remark = ""
    if found is None:
        remark = f"not searched beyond {MAX_SEARCHED // (d // 2):,} positions"
    elif found.base is None:
        remark = "there is none below 1e15"
    elif found.failed:
        remark = f"{found.failed} of the {found.tried} larger ones up to twice it have a negative sum again"
    unsettled = remark or "not searched for so long a context"
    return (
        _fill("men-exact", found.base if found else None, remark),
        _fill("men-settled", found.settled if found else None, "" if found and found.settled else unsettled),
    )
