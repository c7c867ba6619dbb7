"""All findings about a model, the gravest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pe_spectra.findings import LEVELS, Finding
from pe_spectra.models.audit import LayerAudit, ModelAudit, build_layers
from pe_spectra.models.checks.about_keys import (
    check_base,
    check_generations,
    check_older_names,
    check_original,
    check_share,
)
from pe_spectra.models.checks.about_lengths import (
    check_aliases,
    check_base_size,
    check_factor,
    check_length,
    check_table,
    check_unseen,
)
from pe_spectra.models.checks.about_numbers import (
    check_attention,
    check_order,
    check_precision,
    check_small_factor,
    report_refusal,
)
from pe_spectra.models.stated.statement import Configuration

Check = Callable[[Configuration, LayerAudit], Iterator[Finding]]
_CHECKS: tuple[Check, ...] = (
    *(check_base, check_generations, check_original, check_share, check_older_names),
    *(check_order, check_small_factor, check_factor, check_unseen, check_base_size),
    *(check_aliases, check_attention, check_table, check_precision),
)


def audit_configuration(
    configuration: Configuration, *, trained: int | None = None, served: int | None = None
) -> ModelAudit:
    """Say what a configuration really gives, and what is wrong with it.

    Parameters
    ----------
    configuration : what the file states.
    trained, served : lengths in positions that go before those of the file; >= 1.

    Returns
    -------
    One audit for each layer type, and the findings, the gravest first.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 4096}
    >>> audit = audit_configuration(read_configuration(config, "config.json"))
    >>> audit.layers[0].never_turn, [finding.code for finding in audit.findings]
    (18, ['base-defaulted', 'base-below-bound'])
    """
    layers, refused = build_layers(configuration, trained=trained, served=served)
    by_name = {layer.name: layer for layer in layers}
    found = [*configuration.findings, *check_length(configuration, layers)]
    found += [*(report_refusal(configuration, by_name[name], why) for name, why in refused)]
    for layer in layers:
        for check in _CHECKS:
            found += check(configuration, layer)
    rank = {level: place for place, level in enumerate(reversed(LEVELS))}
    found.sort(key=lambda finding: rank[finding.level])
    return ModelAudit(configuration=configuration, layers=layers, findings=tuple(found))
