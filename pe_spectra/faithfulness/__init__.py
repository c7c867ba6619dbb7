"""Definition 1, answered with a proof or a witness, and what surrounds it.

Names are imported when they are first used: what asks for the sidelobe of a kernel loads no proofs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pe_spectra.names import import_lazily, list_homes

if TYPE_CHECKING:
    from pe_spectra.faithfulness.certificates import Certificate as Certificate
    from pe_spectra.faithfulness.certificates import Collisions as Collisions
    from pe_spectra.faithfulness.growth import Grown as Grown
    from pe_spectra.faithfulness.near_pairs import NearPair as NearPair
    from pe_spectra.faithfulness.near_pairs import NearPairs as NearPairs
    from pe_spectra.faithfulness.near_pairs import find_near_pairs as find_near_pairs
    from pe_spectra.faithfulness.report import Faithfulness as Faithfulness
    from pe_spectra.faithfulness.report import measure_faithfulness as measure_faithfulness
    from pe_spectra.faithfulness.separation import Sidelobe as Sidelobe

#: Module -> the names that it defines.
_NAMES = {
    "faithfulness.certificates": ("Certificate", "Collisions"),
    "faithfulness.growth": ("Grown",),
    "faithfulness.near_pairs": ("NearPair", "NearPairs", "find_near_pairs"),
    "faithfulness.report": ("Faithfulness", "measure_faithfulness"),
    "faithfulness.separation": ("Sidelobe",),
}
_HOMES = list_homes(_NAMES)

__all__ = list(_HOMES)
__getattr__ = import_lazily(__name__, _HOMES)
