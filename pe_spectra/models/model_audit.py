"""What one file gives: the layers of every part of a model, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from pe_spectra.findings import Finding
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.stacks import Stack
from pe_spectra.models.stated.statement import FORMATS, SCHEMES, SIZES, Configuration
from pe_spectra.quantities import Result, derived, quantity
from pe_spectra.records import dataclass

#: Of an encoding that is not rotary: its parameters, with what each is.
_PARAMETERS = {
    "type": "object",
    "properties": {
        name: {"type": "integer", "minimum": least, "description": text} for name, (least, text) in SIZES.items()
    },
    "required": [],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class PartAudit(Result):
    """A part of a model beside the one that reads text; its `configuration` is what the file states about it."""

    configuration: Configuration

    @derived("The keys that lead to it in the file.")
    def part(self) -> str:
        return self.configuration.part

    @derived("Its model_type.")
    def model(self) -> str:
        return self.configuration.model

    @derived("The kind of its positional encoding; where it is rotary, layer_types has its frequencies.", words=SCHEMES)
    def scheme(self) -> str:
        return self.configuration.scheme

    @derived(
        "The numbers of an encoding that is not rotary; empty for others.",
        schema=_PARAMETERS,
        column=None,
    )
    def scheme_parameters(self) -> Mapping[str, int | float | str]:
        return self.configuration.values


@dataclass(frozen=True, kw_only=True)
class ModelAudit(Result):
    """What one file gives; its `configuration` is what it states, None where it cannot be used.

    `reader` is the implementation that was asked for, None for the library that the file is made for, and `left_out`
    are the parts that are not audited with one.
    """

    configuration: Configuration | None = None
    reader: Stack | None = None
    left_out: tuple[str, ...] = ()
    file: str = quantity("The file, as it was named; - is standard input.")

    @derived(
        "The implementation that reads it, as --reader takes it; only where one was asked for.",
        key="reader",
        column=None,
        only=attrgetter("reader"),
    )
    def reader_name(self) -> str:
        return "" if self.reader is None else self.reader.release_name

    @property
    def title(self) -> str:
        """The file, and who reads it where that was asked for."""
        return self.file if self.reader is None else f"{self.file} ({self.reader.title})"

    @derived(
        "Which keys it has: those of transformers, of Meta's releases, of GGUF, of diffusers or of timm; null where it "
        "cannot be used.",
        words=FORMATS,
        column=None,
    )
    def format(self) -> str | None:
        return None if self.configuration is None else self.configuration.format

    @derived(
        "Its model_type or architecture; empty where the file has none; null where it cannot be used.",
        schema={"type": ["string", "null"]},
    )
    def model(self) -> str | None:
        return None if self.configuration is None else self.configuration.model

    @derived("The kind of positional encoding; null where the file cannot be used.", words=SCHEMES, column=None)
    def scheme(self) -> str | None:
        return None if self.configuration is None else self.configuration.scheme

    @derived(
        "The numbers of an encoding that is not rotary; empty for others.",
        schema=_PARAMETERS,
        column=None,
    )
    def scheme_parameters(self) -> Mapping[str, int | float | str]:
        return {} if self.configuration is None else self.configuration.values

    @derived("Type that the file names for the weights; null where it names none.", column=None)
    def dtype(self) -> str | None:
        return None if self.configuration is None else self.configuration.dtype

    @derived("The parts beside the one that reads text which encode positions; empty where there is none.", column=None)
    def parts(self) -> tuple[PartAudit, ...]:
        return (
            ()
            if self.configuration is None
            else tuple(PartAudit(configuration=one) for one in self.configuration.parts)
        )

    error: str | None = quantity("Why the file cannot be used; null where it can.", default=None, column=None)
    layers: tuple[LayerAudit, ...] = quantity(
        "The types of layers, in the order of the file; empty where it cannot be used.", key="layer_types", default=()
    )
    findings: tuple[Finding, ...] = quantity("What a reader should know, the gravest first.", default=(), column=None)
