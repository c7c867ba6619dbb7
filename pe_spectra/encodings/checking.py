"""What is asked about must be an encoding: said in words where a text or an array is given."""

from __future__ import annotations

from pe_spectra.encodings.protocol import Encoding
from pe_spectra.errors import InputError


def check_encoding(given: object) -> None:
    """Refuse what is no encoding.

    Raises
    ------
    InputError : a text, an array or anything else.

    >>> check_encoding("dft")
    Traceback (most recent call last):
        ...
    pe_spectra.errors.InputError: no encoding (str); read_encoding("dft:d=64") or Learned(values=array) is accepted
    """
    if not isinstance(given, Encoding):
        accepted = 'read_encoding("dft:d=64") or Learned(values=array) is accepted'
        raise InputError("no encoding", type(given).__name__, accepted)
