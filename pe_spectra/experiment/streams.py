"""Random numbers of an experiment: a stream for each purpose, so that what an arm needs changes nothing for others."""

from __future__ import annotations

from typing import Literal, TypeAlias
from zlib import crc32

import numpy as np

Purpose: TypeAlias = Literal["windows", "weights", "batches", "encoding"]
_PURPOSES: tuple[Purpose, ...] = ("windows", "weights", "batches", "encoding")
Split: TypeAlias = Literal["training", "validation", "test"]
#: The parts of the windows, each drawn from a stream of its own.
SPLITS: tuple[Split, ...] = ("training", "validation", "test")


def start_stream(seed: int, purpose: Purpose, task: str = "", length: int = 0, split: int = 0) -> np.random.Generator:
    """Start the stream of a seed for one purpose; no two of different arguments have a number in common but by chance.

    Windows are drawn by task, length, seed and split; weights and the order of batches by the seed; what an encoding
    draws itself by the seed too. None knows of the arm: all arms of a seed see the same windows in the same order and
    begin with the same weights.

    >>> first, second = (start_stream(0, "windows", "lag", 32, split).normal() for split in (0, 2))
    >>> bool(first == start_stream(0, "windows", "lag", 32, 0).normal() != second)
    True
    """
    # a key of one fixed length: SeedSequence takes [1] and [1, 0] for the same
    key = (_PURPOSES.index(purpose), crc32(task.encode()), length, split)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def draw_encoding_seed(seed: int) -> int:
    """Draw the seed of the numbers that an encoding draws itself.

    >>> draw_encoding_seed(0) == draw_encoding_seed(0) != draw_encoding_seed(1)
    True
    """
    return int(start_stream(seed, "encoding").integers(2**32))
