"""What each implementation makes of a file: described by data, from statements to a rotation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from pe_spectra.errors import InputError
from pe_spectra.models.stacks.keras_hub import KERAS_HUB, KERAS_HUB_SUMMER
from pe_spectra.models.stacks.libraries import ROTARY_EMBEDDING_TORCH, TORCHTUNE, X_TRANSFORMERS
from pe_spectra.models.stacks.llama_cpp import LLAMA_CPP
from pe_spectra.models.stacks.other_stacks import META, VLLM, VLLM_SPRING, YARN_PAPER
from pe_spectra.models.stacks.stack import Refusal, Stack
from pe_spectra.models.stacks.transformers import FIVE, FOUR

_LIBRARIES = (TORCHTUNE, X_TRANSFORMERS, ROTARY_EMBEDDING_TORCH)

#: Every release that is known, the newest of each first; of one whose versions are not told apart, that one.
RELEASES: tuple[Stack, ...] = (
    FIVE, FOUR, VLLM, VLLM_SPRING, LLAMA_CPP, KERAS_HUB, KERAS_HUB_SUMMER, *_LIBRARIES, META, YARN_PAPER
)  # fmt: skip

#: The newest of every stack by its name; the first is the answer that `audit` gives.
STACKS: Mapping[str, Stack] = MappingProxyType(
    {name: next(one for one in RELEASES if one.name == name) for name in dict.fromkeys(one.name for one in RELEASES)}
)

#: A name with a version: that one, or with >= any from it on.
_WITH_VERSION = re.compile(r"(?P<name>[a-z][a-z.-]*)(?P<sign>==|>=|@)(?P<version>[0-9A-Za-z.]+)")


def find_stack(text: str, label: str) -> Stack:
    """Find the stack that a name means: its newest release, or with ==, @ or >= one of a version.

    Parameters
    ----------
    text : "vllm", "vllm==0.19.1", "transformers>=5". label : the option that has it, for messages.

    Raises
    ------
    InputError : a stack, or a version of it, that is not known.

    >>> find_stack("vllm", "--stack").version, find_stack("vllm==0.19.1", "--stack").version
    ('0.33.0', '0.19.1')
    >>> find_stack("transformers>=5", "--stack").name
    'transformers-5'
    """
    if text in STACKS:
        return STACKS[text]
    asked = _WITH_VERSION.fullmatch(text)
    known = [one for one in RELEASES if asked and asked["name"] in (one.package, one.name) and one.version]
    for one in known:
        is_new = asked is not None and asked["sign"] == ">=" and _order(one.version) >= _order(asked["version"])
        if is_new or (asked is not None and one.version == asked["version"]):
            return one
    names = [one.release_name for one in known] or STACKS
    raise InputError(f"{label} is not known", text, f"{', '.join(names)} are accepted")


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", version))


__all__ = ["RELEASES", "STACKS", "Refusal", "Stack", "find_stack"]
