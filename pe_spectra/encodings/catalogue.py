"""All encodings that have a name on the command line; the module of each is loaded when it is first named."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import overload

from pe_spectra.encodings.protocol import Encoding
from pe_spectra.errors import InputError
from pe_spectra.names import ENCODING_CLASSES


class _Catalogue(Sequence[type[Encoding]]):
    """The classes in the order of their names; each is imported when it is looked at."""

    @overload
    def __getitem__(self, index: int) -> type[Encoding]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[type[Encoding], ...]: ...
    def __getitem__(self, index: int | slice) -> type[Encoding] | tuple[type[Encoding], ...]:
        if isinstance(index, slice):
            return tuple(map(_load, list(ENCODING_CLASSES)[index]))
        return _load(list(ENCODING_CLASSES)[index])

    def __len__(self) -> int:
        return len(ENCODING_CLASSES)

    def __repr__(self) -> str:
        return f"({', '.join(ENCODING_CLASSES)})"


def _load(name: str) -> type[Encoding]:
    module, cls = ENCODING_CLASSES[name]
    found: type[Encoding] = getattr(import_module(f"pe_spectra.encodings.{module}"), cls)
    return found


ENCODINGS: Sequence[type[Encoding]] = _Catalogue()

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
    if name not in ENCODING_CLASSES:
        nearest = get_close_matches(name, ENCODING_CLASSES, n=1)
        hint = f"did you mean {nearest[0]}? " if nearest else ""
        raise InputError(f"{label} is not known", name, f"{hint}accepted: {', '.join(ENCODING_CLASSES)}")
    return _load(name)
