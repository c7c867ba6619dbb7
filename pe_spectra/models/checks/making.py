"""How findings about a model are made."""

from __future__ import annotations

from types import MappingProxyType

from pe_spectra.findings import Finding
from pe_spectra.models.audit import LayerAudit
from pe_spectra.vocabulary import Level


def make(level: Level, code: str, message: str, layer: LayerAudit | None = None, **data: object) -> Finding:
    """Make a finding; about one of several layer types, the sentence begins with its name.

    >>> make("note", "precision", "Keep angles in float32.").code
    'precision'
    """
    if layer is not None and layer.name != "all":
        message = f"{layer.name}: {message}"
        data["layer_type"] = layer.name
    return Finding(level=level, code=code, message=message, data=MappingProxyType(data))


def write_length(length: int) -> str:
    """Write a number of positions for a sentence.

    >>> write_length(131072)
    '131,072'
    """
    return f"{length:,}"
