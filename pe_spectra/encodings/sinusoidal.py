"""Ladders of sines and cosines that are added to a token."""

from __future__ import annotations

from pe_spectra.encodings.protocol import Encoding

SINUSOIDAL: tuple[type[Encoding], ...] = ()
