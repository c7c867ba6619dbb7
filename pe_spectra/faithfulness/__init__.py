"""Definition 1, answered with a proof or a witness, and what surrounds it.

Names are imported when they are first used: what asks for the sidelobe of a kernel loads no proofs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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
    "certificates": ("Certificate", "Collisions"),
    "growth": ("Grown",),
    "near_pairs": ("NearPair", "NearPairs", "find_near_pairs"),
    "report": ("Faithfulness", "measure_faithfulness"),
    "separation": ("Sidelobe",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
