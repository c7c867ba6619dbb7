"""What a stack is: an implementation that turns the statements of a file into a rotation, or refuses to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stated.statement import Configuration, LayerStatement


class Refusal(NamedTuple):
    """An implementation does not take this file.

    Attributes
    ----------
    reason : one sentence, with the key and the value.
    seen : its code was seen to refuse this, where other releases may not; else no rotation is computed here.

    >>> Refusal("rope_type is yarn").seen
    False
    """

    reason: str
    seen: bool = False


#: What the file states, one of its layer types, the length that is served (None: what the file states).
Reader = Callable[[Configuration, LayerStatement, int | None], Rotation | Refusal]


class Stack(NamedTuple):
    """An implementation whose code was read.

    Attributes
    ----------
    name : as `--stack` takes it.
    title : with the version that was read.
    source : the files that were read, with version or commit.
    read : what it makes of a file. What it ignores without a word is said in the notes of the rotation.

    >>> from pe_spectra.models.stacks import STACKS
    >>> STACKS["yarn-paper"].title
    'YaRN as its paper has it'
    """

    name: str
    title: str
    source: str
    read: Reader
