"""Biases on the attention score that depend on the lag alone."""

from __future__ import annotations

from pe_spectra.encodings.protocol import Encoding

BIASES: tuple[type[Encoding], ...] = ()
