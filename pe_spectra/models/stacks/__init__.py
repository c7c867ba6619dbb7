"""What each implementation makes of a file: described by data, from statements to a rotation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pe_spectra.models.stacks.llama_cpp import LLAMA_CPP
from pe_spectra.models.stacks.other_stacks import KERAS_HUB, META, VLLM, YARN_PAPER
from pe_spectra.models.stacks.stack import Refusal, Stack
from pe_spectra.models.stacks.transformers import FIVE, FOUR

#: Every stack by its name; the first is the answer that `audit` gives.
STACKS: Mapping[str, Stack] = MappingProxyType(
    {stack.name: stack for stack in (FIVE, FOUR, VLLM, LLAMA_CPP, KERAS_HUB, META, YARN_PAPER)}
)

__all__ = ["STACKS", "Refusal", "Stack"]
