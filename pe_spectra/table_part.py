"""Which part of a table was looked at, in words."""

from __future__ import annotations

from pe_spectra.encodings import Encoding
from pe_spectra.encodings.learned import Learned


def describe_part(encoding: Encoding, length: int) -> str:
    """Say that only the first rows of a table were taken, else nothing; a grid is always taken whole.

    >>> from pe_spectra import Sinusoidal
    >>> table = Learned(init="normal", width=4, length=512)
    >>> describe_part(table, 128), describe_part(table, 512), describe_part(Sinusoidal(), 128)
    ('the first 128 of 512 rows', '', '')
    """
    if not isinstance(encoding, Learned) or encoding.shape is not None or length >= encoding.rows:
        return ""
    return f"the first {length} of {encoding.rows} rows"


def name_part(encoding: Encoding, length: int) -> str:
    """Return the label of an encoding, with the rows where only the first were taken.

    >>> name_part(Learned(init="normal", width=4, length=512), 128)
    'learned untrained 512 x 4 seed=0, first 128 rows'
    """
    rows = "first row" if length == 1 else f"first {length} rows"
    return f"{encoding.label}, {rows}" if describe_part(encoding, length) else encoding.label
