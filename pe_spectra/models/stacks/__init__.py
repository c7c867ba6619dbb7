"""What each implementation makes of a file: one function for each, from statements to a rotation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pe_spectra.models.stacks.keras_hub import KERAS_HUB
from pe_spectra.models.stacks.llama_cpp import LLAMA_CPP
from pe_spectra.models.stacks.published import META, YARN_PAPER
from pe_spectra.models.stacks.stack import Refusal, Stack
from pe_spectra.models.stacks.transformers import FIVE
from pe_spectra.models.stacks.transformers_four import FOUR, FOUR_EARLY
from pe_spectra.models.stacks.vllm import VLLM

#: Every stack by its name; the first is the answer that `audit` gives.
STACKS: Mapping[str, Stack] = MappingProxyType(
    {stack.name: stack for stack in (FIVE, FOUR, VLLM, LLAMA_CPP, KERAS_HUB, META, YARN_PAPER)}
)
#: A release that was read besides; more of what a file may state was still unknown to it.
EARLIER = FOUR_EARLY

__all__ = ["EARLIER", "STACKS", "Refusal", "Stack"]
