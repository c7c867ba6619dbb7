"""The catalogue of encodings, or one of them, as an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pe_spectra.answers.answer import Answer, Body, Verdicts, propose
from pe_spectra.encodings import ENCODINGS, VARIANTS, Encoding
from pe_spectra.encodings.parameters import format_value
from pe_spectra.errors import shorten
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import FAMILIES

VERDICTS = Verdicts({"catalogue": "ok", "encoding": "ok"})
#: What an encoding can be asked for, and the attribute of its class that answers.
_VIEWS = {
    "table": "table",
    "real positions": "table_at",
    "frequencies": "frequencies",
    "kernel": "kernel",
    "bias": "bias",
    "bias map": "bias_map",
    "lag table": "lag_table",
    "exact key": "theorem",
}
_KEY_PATTERN = "^[a-z][a-z0-9_]*$"
_DEFAULT_SCHEMA = {"type": ["number", "string", "array", "null"], "items": {"type": ["number", "string"]}}


def _write_default(value: Any) -> str:
    return "not set" if value is None else format_value(value)


def _write_conditions(conditions: Mapping[str, Sequence[Any]]) -> str:
    typed = {name: "|".join(format_value(v) for v in values if v is not None) for name, values in conditions.items()}
    return " and ".join(f"{name}={values}" if values else f"without {name}" for name, values in typed.items())


@dataclass(frozen=True, kw_only=True)
class ParameterRow(Result):
    """One parameter of an encoding."""

    name: str = quantity("Its key in a SPEC.", pattern=_KEY_PATTERN, column="parameter")
    value: str = quantity("What it is set to, where a SPEC was asked for.", key=None, column="value")
    default: object = quantity(
        "What stands unless it is set; null for not set, which `meaning` explains.",
        schema=_DEFAULT_SCHEMA,
        write=_write_default,
    )
    meaning: str = quantity("What it does.")
    only_with: Mapping[str, Sequence[Any]] = quantity(
        "Other parameters and their values with which alone this one has a meaning; empty where it always has.",
        schema={
            "type": "object",
            "properties": {},
            "propertyNames": {"pattern": _KEY_PATTERN},
            "additionalProperties": {"type": "array", "items": _DEFAULT_SCHEMA},
        },
        column="only",
        write=_write_conditions,
    )
    accepts: str = quantity(
        "What values it may take, in words.",
        write=lambda text: text.removesuffix(" is accepted").removeprefix("accepted: "),
    )


@dataclass(frozen=True, kw_only=True)
class CatalogueRow(Result):
    """One encoding of the catalogue."""

    name: str = quantity("Name on the command line.", pattern="^[a-z][a-z0-9-]*$")
    family: str = quantity("The family that it belongs to.", words=FAMILIES)
    summary: str = quantity("What it is, in one line.")
    views: tuple[str, ...] = quantity(
        "What the encoding can be asked for.", words=tuple(_VIEWS), least=1, unique=True, write=", ".join
    )
    parameters: tuple[ParameterRow, ...] = quantity(
        "Its parameters, in the order in which they are printed.",
        write=lambda parameters: ", ".join(p.name for p in parameters),
    )
    formula: str = quantity("How its numbers come about, in characters.")
    source: str = quantity("The text or code that it comes from.")
    pitfalls: str = quantity("What is easily taken for it, or got wrong.", column=None)
    encoding: Encoding | None = quantity(
        "The values that its parameters take, where a SPEC was asked for.",
        only=lambda row: row.encoding is not None,
        column=None,
    )
    spec: str = quantity(
        "The text that names it on the command line, where a SPEC was asked for.",
        only=lambda row: row.spec,
        column=None,
    )


@dataclass(frozen=True, kw_only=True)
class EncodingsBody(Body):
    """The catalogue of encodings, or one of them."""

    kind = "encodings"
    draws = False
    rows: tuple[CatalogueRow, ...] = quantity("The encodings, family by family; one where one was asked for.", least=1)


def answer_catalogue() -> Answer:
    """Turn the whole catalogue into an answer, one row for each encoding.

    >>> len(answer_catalogue().columns["name"])
    37
    """
    rows, shows = tuple(map(_describe, ENCODINGS)), "NAME shows one with its formula and parameters"
    return Answer(
        body=EncodingsBody(rows=rows),
        verdict=VERDICTS.say("catalogue", f"{len(rows)} encodings; pe-spectra encodings {shows}."),
        results=rows,
        shown=("name", "family", "summary"),
        rows="all",
        next_command="pe-spectra encodings rope",
    )


def answer_encoding(cls: type[Encoding], encoding: Encoding | None = None) -> Answer:
    """Turn one encoding into an answer; with its values where a SPEC gave them.

    >>> from pe_spectra import Dft
    >>> answer_encoding(Dft).verdict.text
    'dft: the discrete Fourier transform of the one-hot position function.'
    """
    row = _describe(cls, encoding)
    label = cls.name if encoding is None else encoding.label
    return Answer(
        body=EncodingsBody(rows=(row,)),
        verdict=VERDICTS.say("encoding", f"{label}: {cls.summary}."),
        facts=(
            ("formula", cls.formula),
            ("views", ", ".join(row.views)),
            ("variants", _list_variants(cls)),
            ("pitfalls", cls.pitfalls),
            ("source", cls.source),
        ),
        results=row.parameters,
        constant=("value",) if encoding is None else (),
        next_command=f"pe-spectra inspect {cls.name}" if encoding is None else propose("inspect", encoding),
    )


def _list_variants(cls: type[Encoding]) -> str:
    """Keys of this encoding that name another one."""
    return ", ".join(
        f"{key}={value} is {other}" for (name, key, value), other in VARIANTS.items() if name == cls.name != other
    )


def _describe(cls: type[Encoding], encoding: Encoding | None = None) -> CatalogueRow:
    return CatalogueRow(
        name=cls.name,
        family=cls.family,
        summary=cls.summary,
        views=tuple(name for name, attribute in _VIEWS.items() if getattr(cls, attribute, None) is not None),
        parameters=_describe_parameters(cls, {} if encoding is None else encoding.parameters),
        formula=cls.formula,
        source=cls.source,
        pitfalls=cls.pitfalls,
        encoding=encoding,
        spec="" if encoding is None else encoding.spec,
    )


def _describe_parameters(cls: type[Encoding], given: Mapping[str, object]) -> tuple[ParameterRow, ...]:
    names = {p.keyword: p.name for p in cls.accepts}
    return tuple(
        ParameterRow(
            name=p.name,
            value=_write(given.get(p.name)),
            default=p.default,
            meaning=p.meaning,
            only_with={names.get(keyword, keyword): values for keyword, values in p.only_with.items()},
            accepts=p.accepts.accepted,
        )
        for p in cls.accepts
    )


def _write(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = "+".join(str(item) for item in value)
    return shorten(str(value))  # in a table; JSON has all of it
