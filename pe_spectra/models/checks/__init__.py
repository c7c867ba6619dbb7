"""What may be wrong with the positional encoding of a model: findings, each with its numbers and what to do."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from pe_spectra import models
from pe_spectra.errors import FileError
from pe_spectra.findings import Finding
from pe_spectra.models.audit import LayerAudit
from pe_spectra.models.checks import about_keys, about_lengths, about_scaling
from pe_spectra.models.scheme import AS_STATED, Lengths, build_layers
from pe_spectra.models.stacks import Stack
from pe_spectra.models.stated.known_models import find_known
from pe_spectra.models.stated.statement import FORMATS, Configuration
from pe_spectra.vocabulary import RANKS
from pe_spectra.wording import join

__all__ = ["audit_configuration", "list_findings"]

#: In the order in which their findings are listed, of one level.
_CHECKS = (*about_keys.CHECKS, *about_scaling.CHECKS, *about_lengths.CHECKS, *about_scaling.LAST_CHECKS)


def audit_configuration(
    configuration: Configuration,
    *,
    trained: int | None = None,
    served: int | None = None,
    allocated: int | None = None,
    reader: Stack | None = None,
) -> models.ModelAudit:
    """Say what a configuration really gives, and what is wrong with it.

    Parameters
    ----------
    configuration : what the file states.
    trained, served : lengths in positions that go before those of the file; >= 1.
    allocated : positions that are allocated for a cache, by which some stacks choose the list of longrope.
    reader : the implementation whose reading it is; None for the library that the file is made for. Its findings name
        it, and parts beside the one that reads text are left out, for how others read them was not measured.

    Returns
    -------
    One audit for each layer type, and the findings, the gravest first.

    Raises
    ------
    InputError : less is allocated than is served.
    FileError : the reader takes no file of this format.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 4096}
    >>> audit = audit_configuration(read_configuration(config, "config.json"))
    >>> audit.layers[0].never_turn, [finding.code for finding in audit.findings]
    (18, ['base-defaulted', 'base-below-bound'])
    """
    if allocated is not None:
        from pe_spectra.models.stacks.allocation import check_allocated
        from pe_spectra.models.stacks.conformance import find_length_served

        check_allocated(allocated, served or find_length_served(configuration), served)
    lengths = Lengths(trained, served, allocated)
    if reader is not None:
        return _audit_as_read(configuration, lengths, reader)
    from pe_spectra.models.model_audit import ModelAudit

    layers, found = _audit_parts(configuration, lengths)
    return ModelAudit(configuration=configuration, file=configuration.path, layers=layers, findings=found)


def list_findings(configuration: Configuration, served: int | None = None) -> tuple[Finding, ...]:
    """List what is wrong with what a configuration gives, the gravest first.

    Parameters
    ----------
    served : as for :func:`audit_configuration`, whose findings these are.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 4096}
    >>> [finding.code for finding in list_findings(read_configuration(config, "config.json"))]
    ['base-defaulted', 'base-below-bound']
    """
    return _audit_parts(configuration, Lengths(served=served))[1]


def _audit_parts(configuration: Configuration, lengths: Lengths) -> tuple[tuple[LayerAudit, ...], tuple[Finding, ...]]:
    """Audit all parts: the layers, and the findings, the gravest first; lengths are of the part that reads text."""
    audited = [_audit_part(configuration, lengths), *(_audit_part(one, AS_STATED) for one in configuration.parts)]
    found = sorted((one for _, found in audited for one in found), key=lambda finding: -RANKS[finding.level])
    return tuple(layer for layers, _ in audited for layer in layers), tuple(found)


def _audit_as_read(configuration: Configuration, lengths: Lengths, reader: Stack) -> models.ModelAudit:
    """Audit the part that reads text as an implementation reads it."""
    if not reader.reads_format(configuration.format):
        formats = [name for name in FORMATS if reader.reads_format(name)]
        reason = f"{reader.title} reads no file with the keys of {configuration.format}; those of {join(formats)} are"
        raise FileError(configuration.path, f"{reason} accepted")
    layers, found = _audit_part(replace(configuration, parts=()), lengths, reader)
    named = tuple(
        replace(one, message=f"{reader.title}: {one.message}", data={**one.data, "reader": reader.release_name})
        for one in found
    )
    from pe_spectra.models.model_audit import ModelAudit

    read = layers[0].configuration if layers else configuration
    return ModelAudit(
        configuration=replace(read, parts=()),
        reader=reader,
        left_out=tuple(one.part for one in configuration.parts),
        file=configuration.path,
        layers=layers,
        findings=named,
    )


def _audit_part(
    configuration: Configuration, lengths: Lengths, reader: Stack | None = None
) -> tuple[tuple[LayerAudit, ...], list[Finding]]:
    """Audit the layers of one part, each with the findings about it; besides, all findings about the part."""
    layers = build_layers(configuration, lengths, reader)
    if reader is not None and layers:
        read = layers[0].configuration
        configuration = _read_again(configuration, reader) if read is configuration else read
    found: list[Finding] = [*configuration.findings, *about_scaling.check_length(configuration, layers)]
    asked = [about_scaling.FIRST_CHECKS, _CHECKS]
    if lengths.allocated is not None:
        from pe_spectra.models.checks import about_allocations

        asked.append(about_allocations.CHECKS)
    for checks in asked:
        found += [finding for layer in layers for check in checks for finding in check(layer)]
    found = [_name_part(one, configuration.part) for one in found]
    found.sort(key=lambda finding: -RANKS[finding.level])
    own = {
        layer.name: tuple(one for one in found if one.data.get("layer_type") in (None, configuration.part, layer.name))
        for layer in layers
    }
    return tuple(replace(layer, findings=own[layer.name]) for layer in layers), found


def _read_again(configuration: Configuration, reader: Stack) -> Configuration:
    """What a file that the reader refuses states by the classes of its release, not what those of another refuse."""
    has_class = reader.reads_by and find_known(configuration.model, reader.reads_by).is_known
    with suppress(FileError):  # it is told as what the reader refuses
        return reader.state(configuration) if has_class else configuration
    return configuration


def _name_part(finding: Finding, part: str) -> Finding:
    """Name the part that a finding is about, where it is not that which reads text."""
    if not part or "layer_type" in finding.data:
        return finding
    message = finding.message if part in finding.message else f"{part}: {finding.message}"
    return replace(finding, message=message, data={**finding.data, "layer_type": part})
