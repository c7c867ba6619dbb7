"""What a file states and is not known here, parts of a model or its type: what a comparison of two cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pe_spectra.errors import FileError, shorten
from pe_spectra.models.comparison.divergence import Unknown
from pe_spectra.models.stated.architectures import UNKNOWN_ARCHITECTURE
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import find_composite
from pe_spectra.models.stated.position_schemes import UNKNOWN_TYPE
from pe_spectra.models.stated.statement import Configuration

#: Findings of a model whose channels are paired as in most: two of one type are alike in that, whatever it does.
_GUESSED = (UNKNOWN_TYPE.code, UNKNOWN_ARCHITECTURE.code)


def list_unread(a: Configuration, b: Configuration) -> Iterator[Unknown]:
    """Give what one of two files states, and the other not alike, and is not known here: its type, and its parts.

    >>> text = {"model_type": "llama", "head_dim": 64}
    >>> files = ({"model_type": "llava", "text_config": text, "vision_config": {"model_type": name}} for name in "xy")
    >>> [one.why for one in list_unread(*(read_configuration(config, "config.json") for config in files))]
    ['A: vision_config: no positions of x are known here', 'B: vision_config: no positions of y are known here']
    """
    for letter, one, other in (("A", a, b), ("B", b, a)):
        guesses = [found.message for found in one.findings if found.code in _GUESSED and one.model != other.model]
        yield from (Unknown(what="layout", a=None, b=None, why=f"{letter}: {why}") for why in guesses)
        for name, why in _find_unread(one):
            if other.keys.get(name) != one.keys[name]:
                yield Unknown(what="other_schemes", a=None, b=None, why=f"{letter}: {name}: {why}")


def states_part(configuration: Configuration, name: str) -> bool:
    """Whether a file states an object where another has a part, known here or not.

    >>> keys = {"model_type": "llava", "text_config": {"model_type": "llama", "head_dim": 64}}
    >>> states_part(read_configuration(keys, "config.json"), "vision_config")
    False
    """
    return isinstance(configuration.keys.get(name.partition(".")[0]), Mapping)


def _find_unread(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """The objects of a file that name a model and are not read, by key, and why."""
    read = [f"{one.where}." for one in (configuration, *configuration.parts)]
    whole = configuration.keys.get("model_type")
    parts = find_composite(whole) if isinstance(whole, str) else {}
    for key, stated in configuration.keys.items():
        kind = stated.get("model_type") if isinstance(stated, Mapping) else None
        if not isinstance(kind, str) or (parts and key not in parts) or any(one.startswith(f"{key}.") for one in read):
            continue
        scheme = _find_scheme(stated, configuration.path)
        if scheme is None:
            yield key, f"no positions of {shorten(kind)} are known here"
        elif scheme != "none" and not parts:
            yield key, f"what {shorten(str(whole))} makes of its {shorten(kind)} is not known here"


def _find_scheme(stated: Mapping[str, Any], path: str) -> str | None:
    try:
        return read_configuration(stated, path).scheme
    except FileError:
        return None
