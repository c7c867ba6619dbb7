"""Calendar encodings: hour, weekday and other fields of a date."""

from __future__ import annotations

from pe_spectra.encodings.protocol import Encoding

CALENDAR: tuple[type[Encoding], ...] = ()
