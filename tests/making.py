"""What most tests begin with: an encoding by its name or SPEC, a table of random numbers, a ladder."""

import numpy as np

from pe_spectra.encodings import Encoding, GivenArray, find_encoding
from pe_spectra.encodings.learned import Learned
from pe_spectra.sources import build_encodings


def make_encoding(spec: str, **given: str) -> Encoding:
    """The encoding that a SPEC names, with the options given beside it."""
    (encoding,) = build_encodings([spec], {key: [value] for key, value in given.items()})
    return encoding


def make_named(name: str, **parameters: object) -> Encoding:
    """An encoding of the catalogue."""
    return find_encoding(name)(**parameters)


def draw_table(*shape: int, seed: int = 0) -> np.ndarray:
    """Independent normal numbers."""
    return np.random.default_rng(seed).normal(size=shape)


def give_table(table: np.ndarray, origin: str = "table.npy", **keys: object) -> Learned:
    """A table as an encoding, as if a file had given it."""
    return Learned(values=GivenArray(np.asarray(table, dtype=float), origin=origin), **keys)


def make_ladder(base: float = 1e4, width: int = 128) -> np.ndarray:
    """The frequencies of a rotation without a scaling, in plain float64."""
    return base ** (-np.arange(0, width, 2) / width)
