"""Tables of numbers: learned encodings, from a file or as drawn before training."""

from __future__ import annotations

from pe_spectra.encodings.protocol import Encoding

LEARNED: tuple[type[Encoding], ...] = ()
