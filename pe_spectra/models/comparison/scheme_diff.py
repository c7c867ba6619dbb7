"""Two configurations whose positions are not rotations: which schemes they have, and which of their numbers differ."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pe_spectra.models.scheme import find_formula
from pe_spectra.models.stated.statement import Configuration
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass

_VALUE: Mapping[str, object] = MappingProxyType({"type": ["number", "string", "null"]})
_EMPTY: Mapping[str, object] = MappingProxyType({"type": "array", "items": {"type": "null"}, "maxItems": 0})
#: Schemes of which nothing is learned.
_BY_FORMULA = ("alibi", "sinusoidal", "sine-2d", "none")
#: Encodings that differ in where the ladder of their frequencies ends.
_LADDERS = {"sinusoidal", "tensor2tensor"}
#: What it is that differs, of sines and cosines.
_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "encoding": ", whose ladders of frequencies end elsewhere",
        "layout": ", the order of their columns",
        "offset": ", the number of the first position",
        "scale": ", a factor on all entries",
    }
)


@dataclass(frozen=True, kw_only=True)
class SchemeDifference(Result):
    """One number or word in which two schemes differ."""

    what: str = quantity("Name of the part: scheme, encoding, or a parameter of it.")
    a: int | float | str | None = quantity("It in A; null where A does not say.", schema=_VALUE)
    b: int | float | str | None = quantity("It in B; null where B does not say.", schema=_VALUE)
    effect: str = quantity("What the difference is, in one sentence.", column=None)
    first_position: int | None = quantity(
        "Always null: no positions are looked at.", default=None, schema={"type": "null"}
    )
    layers: tuple[str, ...] = quantity("Always empty: all layers have one scheme.", default=(), schema=_EMPTY)


def compare_schemes(a: Configuration, b: Configuration) -> tuple[SchemeDifference, ...]:
    """Compare what two files state of positions that are not turned; nothing where all of it is equal.

    Of two schemes of different kinds that alone is told.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> a, b = (read_configuration({"model_type": "swin", "window_size": m}, "config.json") for m in (7, 12))
    >>> [(one.what, one.a, one.b) for one in compare_schemes(a, b)]
    [('window', 7, 12)]
    """
    one, other = (_describe(configuration) for configuration in (a, b))
    names = ["scheme"] if one["scheme"] != other["scheme"] else dict.fromkeys((*one, *other))
    if one.get("encoding") != other.get("encoding"):  # which have parameters of their own
        names = [name for name in names if name == "encoding" or (name in one and name in other)]
    elif a.scheme == b.scheme == "sinusoidal":  # keys that move the rows of one class say nothing of another
        alone = ({*a.values} ^ {*b.values}) - {"rows", "unused"}
        names = [name for name in names if name not in alone]
    return tuple(
        SchemeDifference(
            what=name, a=one.get(name), b=other.get(name), effect=_say(name, one.get(name), other.get(name))
        )
        for name in names
        if one.get(name) != other.get(name)
    )


def is_learned(configuration: Configuration) -> bool:
    """Whether something of a scheme is in the weights, which its configuration does not tell.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> [is_learned(read_configuration({"model_type": model}, "config.json")) for model in ("bloom", "t5")]
    [False, True]
    """
    return configuration.scheme not in _BY_FORMULA


def _describe(configuration: Configuration) -> dict[str, int | float | str]:
    name, parameters = find_formula(configuration)
    return {
        "scheme": configuration.scheme,
        **({"encoding": name} if name else {}),
        **configuration.values,
        **parameters,
    }


def _say(name: str, a: object, b: object) -> str:
    written = ["not stated" if value is None else str(value) for value in (a, b)]
    meaning = _MEANINGS.get(name, "") if name != "encoding" or {a, b} <= _LADDERS else ""
    return f"{name.replace('_', ' ')} is {written[0]} in A and {written[1]} in B{meaning}"
