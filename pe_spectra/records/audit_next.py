"""What to try after an audit: a command that runs as it is printed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pe_spectra.findings import Finding
from pe_spectra.models.audit import LayerAudit, ModelAudit
from pe_spectra.records.audit_verdict import find_gravest

#: What the command `context` takes: widths, bases and lengths; a test holds them against it.
WIDTHS, BASES, LENGTHS = (4, 1 << 14), (2.0, 1e18), (8, 1 << 30)


def suggest_next(good: Sequence[tuple[str, ModelAudit]], *, is_single: bool) -> str:
    """Return the command to try after an audit; empty where none fits.

    That is the context command for pairs with unseen phases of one model, else the reasoning behind the
    gravest finding, else how all implementations read the file, where it has a rotation.

    Parameters
    ----------
    good : names of files, and what they give.
    is_single : whether one file only was named.

    >>> from pe_spectra.models.checks import audit_configuration
    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> keys = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 2048}
    >>> stated = read_configuration(keys, "config.json")
    >>> suggest_next([("config.json", audit_configuration(stated))], is_single=True)
    'pe-spectra diff config.json --all-stacks'
    >>> suggest_next([("config.json", audit_configuration(stated, served=4096))], is_single=True)
    'pe-spectra context --d 64 --base 10000 --trained 2048 --target 4096'
    """
    gravest = find_gravest([finding for _, audit in good for finding in audit.findings])
    file, audit = good[0]
    if gravest is not None:
        lengthening = _lengthen(audit, gravest) if is_single and gravest.code == "unseen-phases" else ""
        return lengthening or f"pe-spectra audit --explain {gravest.code}"
    is_plain = is_single and not file.startswith("-") and file.isprintable() and " " not in file
    is_turned = any(layer.rotation is not None for layer in audit.layers)
    return f"pe-spectra diff {shlex.quote(file)} --all-stacks" if is_plain and is_turned else ""


def _lengthen(audit: ModelAudit, finding: Finding) -> str:
    """Write the command about the lengths of the layers that a finding is about; empty where it would refuse them."""
    named = finding.data.get("layer_type")
    for layer in audit.layers:
        if layer.unseen and named in (None, layer.name):
            return _write_context(layer)
    return ""


def _write_context(layer: LayerAudit) -> str:
    rotation, trained, target = layer.rotation, layer.original_length, layer.served_length
    if rotation is None or rotation.rotary_dim is None or rotation.base is None or trained is None or target is None:
        return ""
    trained, target = layer.limit(trained), layer.limit(target)
    is_taken = WIDTHS[0] <= rotation.rotary_dim <= WIDTHS[1] and BASES[0] <= rotation.base <= BASES[1]
    if not is_taken or not LENGTHS[0] <= trained < target <= LENGTHS[1]:
        return ""
    base = repr(float(rotation.base)).removesuffix(".0")
    return f"pe-spectra context --d {rotation.rotary_dim} --base {base} --trained {trained} --target {target}"
