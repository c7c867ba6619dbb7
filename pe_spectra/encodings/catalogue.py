"""All encodings that have a name on the command line."""

from __future__ import annotations

from difflib import get_close_matches

from pe_spectra.encodings.absolute import ABSOLUTE
from pe_spectra.encodings.bias_maps import BIAS_MAPS
from pe_spectra.encodings.biases import BIASES
from pe_spectra.encodings.buckets import BUCKETS
from pe_spectra.encodings.calendar import CALENDAR
from pe_spectra.encodings.combined import COMBINED
from pe_spectra.encodings.features import FEATURES
from pe_spectra.encodings.lag_tables import LAG_TABLES
from pe_spectra.encodings.learned import LEARNED
from pe_spectra.encodings.protocol import Encoding, find_encoding_class
from pe_spectra.encodings.rotary import ROTARY
from pe_spectra.encodings.sinusoidal import SINUSOIDAL
from pe_spectra.encodings.structural import STRUCTURAL
from pe_spectra.encodings.temporal import TEMPORAL
from pe_spectra.encodings.windows import WINDOWS
from pe_spectra.errors import InputError

ENCODINGS: tuple[type[Encoding], ...] = (
    *SINUSOIDAL,
    *ABSOLUTE,
    *FEATURES,
    *LEARNED,
    *COMBINED,
    *TEMPORAL,
    *CALENDAR,
    *STRUCTURAL,
    *ROTARY,
    *BIASES,
    *BUCKETS,
    *LAG_TABLES,
    *BIAS_MAPS,
    *WINDOWS,
)


#: Variants with a class of their own, which may also be typed as a key of their relative.
VARIANTS: dict[tuple[str, str, str], str] = {
    ("mtan", "mode", "fixed"): "mtan",
    ("mtan", "mode", "learned"): "mtan-learned",
    ("rope", "scaling", "axial"): "rope-axial",
}


def find_encoding(name: str, label: str = "encoding") -> type[Encoding]:
    """Return the class of the encoding called `name`.

    Raises
    ------
    InputError : no such name; the message has the nearest one and all there are.

    >>> find_encoding("dft").__name__
    'Dft'
    """
    found = find_encoding_class(name, ENCODINGS)
    if found is None:
        names = [cls.name for cls in ENCODINGS]
        nearest = get_close_matches(name, names, n=1)
        hint = f"did you mean {nearest[0]}? " if nearest else ""
        raise InputError(f"{label} is not known", name, f"{hint}accepted: {', '.join(names)}")
    return found
