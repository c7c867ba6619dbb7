"""Learned rows for lags, and biases of two-dimensional windows."""

from __future__ import annotations

from pe_spectra.encodings.protocol import Encoding

LAG_TABLES: tuple[type[Encoding], ...] = ()
