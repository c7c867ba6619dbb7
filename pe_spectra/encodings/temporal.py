"""Encodings of time: learned frequencies and the published forms for series."""

from __future__ import annotations

from pe_spectra.encodings.protocol import Encoding

TEMPORAL: tuple[type[Encoding], ...] = ()
