"""The catalogue as an answer."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pe_spectra.encodings import (
    ENCODINGS,
    Encoding,
    HasBias,
    HasBiasMap,
    HasContinuousTable,
    HasExactKey,
    HasFrequencies,
    HasKernel,
    HasLagTable,
    HasTable,
)
from pe_spectra.encodings.catalogue import VARIANTS
from pe_spectra.encodings.parameters import Parameter, format_value, simplify_value
from pe_spectra.errors import shorten
from pe_spectra.records.answer import Answer, Document, Verdict

_VIEWS = {
    "table": HasTable,
    "real positions": HasContinuousTable,
    "frequencies": HasFrequencies,
    "kernel": HasKernel,
    "bias": HasBias,
    "bias map": HasBiasMap,
    "lag table": HasLagTable,
    "exact key": HasExactKey,
}


def answer_catalogue() -> Answer:
    """Turn the whole catalogue into an answer, one row for each encoding.

    >>> len(answer_catalogue().columns["name"])
    31
    """
    text = f"{len(ENCODINGS)} encodings; pe-spectra encodings NAME shows one with its formula and parameters."
    return Answer(
        kind="encodings",
        verdict=Verdict(level="ok", code="catalogue", text=text),
        body={"parameters": {}, "rows": [_describe(cls) for cls in ENCODINGS]},
        columns={
            "name": [cls.name for cls in ENCODINGS],
            "family": [cls.family for cls in ENCODINGS],
            "summary": [cls.summary for cls in ENCODINGS],
            "views": [", ".join(list_views(cls)) for cls in ENCODINGS],
            "parameters": [", ".join(p.name for p in cls.accepts) for cls in ENCODINGS],
            "formula": [cls.formula for cls in ENCODINGS],
            "source": [cls.source for cls in ENCODINGS],
        },
        shown=("name", "family", "summary"),
        brief=len(ENCODINGS),
        next_command="pe-spectra encodings rope",
    )


def answer_encoding(cls: type[Encoding], encoding: Encoding | None = None) -> Answer:
    """Turn one encoding into an answer; with its values where a SPEC gave them.

    >>> from pe_spectra import Dft
    >>> answer_encoding(Dft).verdict.text
    'dft: the discrete Fourier transform of the one-hot position function.'
    """
    given = encoding.parameters if encoding is not None else None
    values = {"value": [_write(given.get(p.name)) for p in cls.accepts]} if given is not None else {}
    what = cls.name if encoding is None else encoding.label
    return Answer(
        kind="encodings",
        verdict=Verdict(level="ok", code="encoding", text=f"{what}: {cls.summary}."),
        body={"parameters": {}, "rows": [_describe(cls, encoding)]},
        facts=(
            ("formula", cls.formula),
            ("source", cls.source),
            ("pitfalls", cls.pitfalls),
            ("views", ", ".join(list_views(cls))),
            *_list_variants(cls),
        ),
        columns={
            "parameter": [p.name for p in cls.accepts],
            **values,
            "default": ["not set" if p.default is None else format_value(p.default) for p in cls.accepts],
            "meaning": [p.meaning for p in cls.accepts],
            "only": [_say_condition(cls, p) for p in cls.accepts],
            "accepts": [p.accepts.accepted.removesuffix(" is accepted") for p in cls.accepts],
        },
        brief=len(cls.accepts),
        next_command=f"pe-spectra inspect {cls.name if encoding is None else shlex.quote(encoding.spec)}",
    )


def list_views(cls: type[Encoding]) -> tuple[str, ...]:
    """Return what an encoding can be asked for.

    >>> from pe_spectra import Sinusoidal
    >>> list_views(Sinusoidal)
    ('table', 'real positions', 'frequencies', 'kernel', 'exact key')
    """
    return tuple(name for name, view in _VIEWS.items() if _offers(cls, view))


def _list_variants(cls: type[Encoding]) -> list[tuple[str, str]]:
    """Keys of this encoding that name another one."""
    others = [
        f"{key}={value} is {other}" for (name, key, value), other in VARIANTS.items() if name == cls.name != other
    ]
    return [("variants", ", ".join(others))] if others else []


def _offers(cls: type[Encoding], view: type) -> bool:
    # protocols with fields (d) answer for instances only, so their methods are looked for
    methods = [name for name in dir(view) if not name.startswith("_") and name != "d"]
    return all(hasattr(cls, name) for name in methods)


def _describe(cls: type[Encoding], encoding: Encoding | None = None) -> Document:
    row: Document = {
        "name": cls.name,
        "family": cls.family,
        "summary": cls.summary,
        "formula": cls.formula,
        "source": cls.source,
        "views": list(list_views(cls)),
        "pitfalls": cls.pitfalls,
        "parameters": [_describe_parameter(cls, p) for p in cls.accepts],
    }
    if encoding is not None:
        row["encoding"] = {"name": encoding.name, "parameters": encoding.parameters}
        row["spec"] = encoding.spec
    return row


def _name(cls: type[Encoding], keyword: str) -> str:
    return next((p.name for p in cls.accepts if p.keyword == keyword), keyword)


def _describe_parameter(cls: type[Encoding], parameter: Parameter) -> Document:
    return {
        "name": parameter.name,
        "default": simplify_value(parameter.default),
        "accepts": parameter.accepts.accepted,
        "meaning": parameter.meaning,
        "only_with": {
            _name(cls, keyword): [simplify_value(v) for v in values] for keyword, values in parameter.only_with.items()
        },
    }


def _say_condition(cls: type[Encoding], parameter: Parameter) -> str:
    names = {p.keyword: p.name for p in cls.accepts}
    conditions = []
    for keyword, values in parameter.only_with.items():
        typed = "|".join(format_value(v) for v in values if v is not None)
        name = names.get(keyword, keyword)
        conditions.append(f"{name}={typed}" if typed else f"without {name}")
    return " and ".join(conditions)


def _write(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = "+".join(str(item) for item in value)
    return shorten(str(value))  # in a table; JSON has all of it
