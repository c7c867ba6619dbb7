"""Fourier features: sines and cosines of a normalised coordinate."""

from __future__ import annotations

from pe_spectra.encodings.protocol import Encoding

FEATURES: tuple[type[Encoding], ...] = ()
