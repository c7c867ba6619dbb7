"""Sums and concatenations of other encodings."""

from __future__ import annotations

from pe_spectra.encodings.protocol import Encoding

COMBINED: tuple[type[Encoding], ...] = ()
