"""Two schemes of positions that are not rotations, against each other as an answer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pe_spectra.answers.answer import Answer, Body, Verdict, Verdicts
from pe_spectra.encodings import Encoding
from pe_spectra.models.comparison.scheme_diff import (
    SchemeDifference,
    compare_schemes,
    is_learned,
    list_alone,
    list_untold,
)
from pe_spectra.models.stated.statement import SCHEMES, Configuration
from pe_spectra.quantities import Result, quantity, tabulate
from pe_spectra.records import dataclass
from pe_spectra.wording import conjugate

VERDICTS = Verdicts({"same": "ok", "same-as-known": "ok", "differs": "warning"})
_EMPTY: Mapping[str, object] = MappingProxyType({"type": "array", "items": {"type": "null"}, "maxItems": 0})
_UNKNOWN = "what is learned of it is in the weights, and not compared"


@dataclass(frozen=True, kw_only=True)
class ComparedScheme(Result):
    """One side of a comparison of schemes."""

    name: str = quantity("The file, as it was named.")
    scheme: str = quantity("The kind of its positional encoding.", words=SCHEMES)
    encoding: Encoding | None = quantity("The same as an encoding of the catalogue; null where it has none.")


@dataclass(frozen=True, kw_only=True)
class SchemeDiffBody(Body):
    """Two schemes of positions against each other; its kind is diff, too."""

    kind = "diff"
    draws = False
    a: ComparedScheme = quantity("The first side, A.")
    b: ComparedScheme = quantity("The second side, B.")
    agree: bool = quantity("Whether kind and numbers are the same.")
    differences: tuple[SchemeDifference, ...] = quantity("What differs, the kind first.")
    unknown: tuple[str, ...] = quantity(
        "Always empty: what is learned is in no configuration.", default=(), schema=_EMPTY
    )
    layer_types: tuple[str, ...] = quantity("Always empty: all layers have one scheme.", default=(), schema=_EMPTY)


def answer_schemes(a: Configuration, b: Configuration, names: tuple[str, str], *, check: bool = False) -> Answer:
    """Compare what two files state of positions that are not turned; `check` makes a difference fail the run.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> a, b = (read_configuration({"model_type": "swin", "window_size": m}, "config.json") for m in (7, 12))
    >>> answer_schemes(a, b, ("a.json", "b.json")).verdict.text
    'Different: window is 7 in A and 12 in B.'
    """
    from pe_spectra.models.scheme import build_layers

    sides = [
        ComparedScheme(name=name, scheme=one.scheme, encoding=build_layers(one)[0].encoding)
        for name, one in zip(names, (a, b), strict=True)
    ]
    found, untold = compare_schemes(a, b), tuple(dict.fromkeys((*list_untold(a), *list_untold(b))))
    return Answer(
        body=SchemeDiffBody(a=sides[0], b=sides[1], agree=not found, differences=found),
        verdict=_judge(sides[0], found, untold),
        table=tabulate(found) if found else {"what": (), "a": (), "b": ()},
        facts=[(letter, f"{one.name}: {_name(one)}") for letter, one in zip("AB", sides, strict=True)],
        notes=(*((_UNKNOWN,) if is_learned(a) and is_learned(b) else ()), *untold, *list_alone(a, b)),
        shown=("what", "a", "b"),
        rows="all",
        failed=[f"{one.what} {conjugate([one.what], 'differs', 'differ')}" for one in found] if check else (),
    )


def _judge(side: ComparedScheme, found: tuple[SchemeDifference, ...], untold: tuple[str, ...]) -> Verdict:
    if found:
        return VERDICTS.say("differs", f"Different: {'; '.join(one.effect for one in found)}.")
    same = f"both have {_name(side)}" if side.scheme != "none" else "neither has a positional encoding"
    if untold:
        return VERDICTS.say("same-as-known", f"The same, as far as is known: {same}; unknown: sinusoids beside it.")
    return VERDICTS.say("same", f"The same: {same}.")


def _name(side: ComparedScheme) -> str:
    return side.scheme if side.encoding is None else f"{side.scheme}, {side.encoding.write_spec(brief=True)}"
