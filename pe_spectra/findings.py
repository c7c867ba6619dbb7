"""What a finding is: a level, a stable code, a sentence with its numbers; and the reasoning behind a code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Level = Literal["note", "warning", "error"]
#: From the least to the gravest.
LEVELS: tuple[Level, ...] = ("note", "warning", "error")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that a reader should know.

    Attributes
    ----------
    level : note, warning or error.
    code : stable name; a table of explanations has the reasoning.
    message : one sentence with its number.
    data : the numbers behind it.
    """

    level: Level
    code: str
    message: str
    data: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a finding is made and why it matters.

    Attributes
    ----------
    reasoning : in words; formula : what is computed, with its thresholds; references : sources.
    """

    reasoning: str
    formula: str
    references: tuple[str, ...]
