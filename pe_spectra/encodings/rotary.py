"""Rotary encodings: pairs of channels turned by an angle that grows with the position."""

from __future__ import annotations

from pe_spectra.encodings.protocol import Encoding

ROTARY: tuple[type[Encoding], ...] = ()
