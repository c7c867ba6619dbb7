"""What can be set about `rope`: each way to scale its frequencies has keys of its own."""

from __future__ import annotations

from dataclasses import dataclass

from pe_spectra.encodings.parameters import Accepts, Parameter, Value
from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_CONTEXT, MAX_RHO
from pe_spectra.numbers import Choice, IntegerRange, ListOf, RealRange

#: Widest head: beyond any that is published, and its decimals are computed in well under a second.
MAX_HEAD_WIDTH = 1 << 14
#: Below 1 a scaling shortens the context: nobody means that, but implementations compute it.
_FACTORS = RealRange(minimum=1e-3, maximum=1e6)
_NUMBERS = RealRange(minimum=1e-6, maximum=1e6)
_LENGTHS = IntegerRange(minimum=2, maximum=MAX_CONTEXT)


@dataclass(frozen=True, kw_only=True)
class ScalingChoice(Choice):
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


def _list_scalings(key: str) -> tuple[str, ...]:
    return tuple(name for name, scaling in SCALINGS.items() if key in scaling.keys)


def _describe_key(name: str, default: Value, accepts: Accepts, meaning: str) -> Parameter:
    only_with = {"scaling": _list_scalings(name)}
    return Parameter(name=name, default=default, accepts=accepts, meaning=meaning, only_with=only_with)


#: In the order of the fields of the class.
ROPE_PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        name="d",
        default=128,
        accepts=IntegerRange(minimum=2, maximum=MAX_HEAD_WIDTH),
        meaning="width of a head, even (not of the model)",
    ),
    Parameter(
        name="base",
        default=10000.0,
        accepts=RealRange(minimum=1, maximum=MAX_RHO),
        meaning="base of the geometric ladder (rope_theta); the slowest wavelength is nearly 2 pi base",
    ),
    Parameter(
        name="share",
        default=1.0,
        accepts=RealRange(minimum=1 / 64, maximum=1),
        meaning="share of the head width that is turned (partial_rotary_factor): D = int(d share), even",
    ),
    Parameter(
        name="layout",
        default="half",
        accepts=Choice(members=("half", "interleaved")),
        meaning="pairs (i, i + D/2) as in transformers, or (2i, 2i + 1) as in GPT-J and Meta's code",
    ),
    Parameter(
        name="scaling",
        default="none",
        accepts=ScalingChoice(members=tuple(SCALINGS)),
        meaning="how the frequencies are changed for a longer context",
    ),
    _describe_key("factor", None, _FACTORS, "s, target over original length; not set: 8 for llama3, 1 if optional"),
    _describe_key("original", None, _LENGTHS, "L, context length of the training; not set: 8192 for llama3"),
    _describe_key("served", None, _LENGTHS, "current length, which decides what dynamic and longrope do"),
    _describe_key("beta_fast", 32.0, _NUMBERS, "pairs that turn so often within L are kept"),
    _describe_key("beta_slow", 1.0, _NUMBERS, "pairs that turn less often are divided by s"),
    _describe_key("truncate", "yes", Choice(members=("no", "yes")), "round the ends of the ramp to whole pairs"),
    _describe_key("attention_factor", None, _NUMBERS, "factor on cosines and sines; not set: the published formula"),
    _describe_key(
        "mscale", None, RealRange(minimum=0, maximum=1e6), "with mscale_all_dim: attention factor is their ratio"
    ),
    _describe_key(
        "mscale_all_dim", None, RealRange(minimum=0, maximum=1e6), "the divisor of that ratio, as in DeepSeek"
    ),
    _describe_key("low_freq_factor", 1.0, _NUMBERS, "pairs with fewer turns are divided by s"),
    _describe_key("high_freq_factor", 4.0, _NUMBERS, "pairs with more turns within L are kept"),
    _describe_key("short_factor", None, ListOf(of=_NUMBERS), "a divisor for each pair, up to the original length"),
    _describe_key("long_factor", None, ListOf(of=_NUMBERS), "a divisor for each pair, beyond the original length"),
    _describe_key("scale_base", 512.0, _NUMBERS, "lag after which pair i has decayed to zeta_i"),
    _describe_key(
        "clipped_pairs", 20, IntegerRange(minimum=0, maximum=MAX_HEAD_WIDTH), "how many of the slowest pairs fade"
    ),
    _describe_key("taper", "hann", Choice(members=("hann", "hard")), "how they fade: a cosine fall, or all to 0"),
)
