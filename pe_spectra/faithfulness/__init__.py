"""Definition 1, answered with a proof or a witness, and what surrounds it."""

from __future__ import annotations

from pe_spectra.faithfulness.certificates import Certificate, Collisions
from pe_spectra.faithfulness.growth import Grown
from pe_spectra.faithfulness.near_pairs import NearPair, NearPairs, find_near_pairs
from pe_spectra.faithfulness.report import Faithfulness, measure_faithfulness
from pe_spectra.faithfulness.separation import Sidelobe

__all__ = [
    "Certificate",
    "Collisions",
    "Faithfulness",
    "Grown",
    "NearPair",
    "NearPairs",
    "Sidelobe",
    "find_near_pairs",
    "measure_faithfulness",
]
