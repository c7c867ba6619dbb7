"""What a configuration states beside the part that is audited: other ways of its class, other parts and theirs."""

from __future__ import annotations

from collections.abc import Iterator

from pe_spectra.models.stated.statement import Configuration


def list_beside(configuration: Configuration) -> Iterator[tuple[str, Configuration]]:
    """Give each other way, and each other part with its own ways, by where it is.

    >>> from pe_spectra.models.stated.configuration import read_configuration
    >>> keys = {"model_type": "clip", "text_config": {}, "vision_config": {}}
    >>> [place for place, _ in list_beside(read_configuration(keys, "config.json"))]
    ['vision_config']
    """
    yield from ((one.where, one) for one in configuration.list_ways())
    for part in configuration.parts:
        yield part.part, part
        yield from ((f"{part.part}: {one.where}", one) for one in part.list_ways())
