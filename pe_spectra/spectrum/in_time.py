"""Frequencies of a spectrum in time units, where the time from one position to the next is known."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from pe_spectra.exact import F64

#: What JSON has of them.
IN_TIME: Mapping[str, object] = MappingProxyType(
    {
        "type": "object",
        "properties": {
            "cycles_per_day": {
                "description": "Frequencies of the bins. [cycles/day]",
                "type": "array",
                "items": {"type": "number", "minimum": 0},
            }
        },
        "required": ["cycles_per_day"],
        "additionalProperties": False,
    }
)


def count_in_time(step: str, omega: F64) -> Mapping[str, F64]:
    """Return frequencies in rad/position as columns in time units.

    >>> count_in_time("1h", np.array([2 * np.pi]))
    {'cycles_per_day': array([24.])}
    """
    from pe_spectra.domains import count_cycles

    return {"cycles_per_day": omega * (count_cycles(step) / (2 * np.pi))}
