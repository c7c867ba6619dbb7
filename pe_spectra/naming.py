"""What a text names where a SPEC and a file may stand."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pe_spectra.errors import InputError
from pe_spectra.names import ENCODING_CLASSES

if TYPE_CHECKING:
    from pe_spectra.encodings import Encoding


def find_encoding_named(text: str, label: str) -> Encoding | None:
    """Build the encoding that a SPEC names, or a file with keys for its rows; None for what is the name of a file.

    Raises
    ------
    InputError : an encoding of the catalogue with a parameter that it has not.

    >>> find_encoding_named("dft:d=8", "A").label, find_encoding_named("config.json", "A")
    ('dft d=8', None)
    """
    if os.path.exists(text):
        return None
    from pe_spectra.spec import FileSpec, parse_spec

    try:
        spec = parse_spec(text, label)
    except InputError:
        return None
    named = spec.parameters if isinstance(spec, FileSpec) else spec.parameters or spec.name in ENCODING_CLASSES
    if not named:
        return None
    from pe_spectra.sources import build_encodings

    (encoding,) = build_encodings([text], {}, label)
    return encoding
