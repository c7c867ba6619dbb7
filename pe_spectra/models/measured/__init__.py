"""What releases of software were measured to do, a file for each; tests/reference/measure.py has what writes them."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any


@cache
def read_measured(name: str) -> Mapping[str, Any]:
    """Read the table of a release, when it is asked for and once.

    >>> sorted(read_measured("timm-1.0.31"))
    ['classes', 'date', 'version', 'without']
    """
    data = pkgutil.get_data(__name__, f"{name}.json")
    if data is None:  # a loader that has no data, which installed packages never have
        raise FileNotFoundError(name)
    found: Mapping[str, Any] = json.loads(data)
    return found
