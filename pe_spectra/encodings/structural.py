"""Encodings of structure: trees, recurrent states, grids of patches."""

from __future__ import annotations

from pe_spectra.encodings.protocol import Encoding

STRUCTURAL: tuple[type[Encoding], ...] = ()
