"""What a parameter accepts that is other encodings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pe_spectra.encodings.protocol import Encoding
from pe_spectra.errors import InputError
from pe_spectra.numbers import Accepts
from pe_spectra.records import dataclass


@dataclass(frozen=True, kw_only=True)
class OtherEncodings(Accepts[tuple[Encoding, ...]]):
    """Other encodings, typed as SPECs joined by +, those with `,` `=` or `+` in quotes; in Python a sequence."""

    names_encodings: ClassVar[bool] = True
    most: int = 16

    @property
    def accepted(self) -> str:
        return f"1 to {self.most} SPECs joined by + are accepted, in quotes where they have , = or +"

    def parse(self, text: str, name: str) -> tuple[Encoding, ...]:
        """Refuse: SPECs are read where files are."""
        raise InputError(f"{name} names encodings", text, "SPECs are read by pe_spectra.sources")

    def check(self, value: object, name: str) -> tuple[Encoding, ...]:
        found = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else ()
        if not 1 <= len(found) <= self.most or not all(isinstance(e, Encoding) for e in found):
            raise InputError(f"{name} is no list of encodings", repr(type(value).__name__), self.accepted)
        return found
