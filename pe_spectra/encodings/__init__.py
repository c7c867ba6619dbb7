"""Positional encodings, what each of them can be asked, and the catalogue of all that have a name.

Symbols, as in the paper and here:

==========  ============  ==========================================================  ======================
paper       code          meaning                                                     unit, range
==========  ============  ==========================================================  ======================
d           `d`           width of the code; length of the DFT lattice in the paper   integer >= 2
N           `grid`        length of the DFT lattice where it is not d                 integer >= 2
S           `length`      number of positions considered                              integer >= 1
s, t        `s`, `t`      position; lattice point                                     0 .. N-1
rho         `rho`         base of the geometric ladder of frequencies                 > 0
w_l         `values`      the encoding's own frequencies, Eq. (3)                     rad/position
omega_k     `omega`       DFT frequencies 2 pi k/N, k = 0 .. N // 2                   rad/position
g_k         `weights`     share of the encoding's frequencies at omega_k, Eq. (15)    sums to 1
sigma       `bandwidth`   kernel width in bins: sigma = bandwidth x 2 pi/N            bins
tau         `lag`         difference of two positions                                 positions
==========  ============  ==========================================================  ======================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from pe_spectra.encodings.parameters import GivenArray as GivenArray
from pe_spectra.encodings.parameters import Parameter as Parameter
from pe_spectra.encodings.protocol import Encoding as Encoding
from pe_spectra.encodings.protocol import Frequencies as Frequencies
from pe_spectra.encodings.protocol import HasBias as HasBias
from pe_spectra.encodings.protocol import HasBiasMap as HasBiasMap
from pe_spectra.encodings.protocol import HasContinuousTable as HasContinuousTable
from pe_spectra.encodings.protocol import HasFrequencies as HasFrequencies
from pe_spectra.encodings.protocol import HasKernel as HasKernel
from pe_spectra.encodings.protocol import HasLagTable as HasLagTable
from pe_spectra.encodings.protocol import HasTable as HasTable
from pe_spectra.encodings.protocol import Theorem as Theorem
from pe_spectra.errors import InputError
from pe_spectra.names import ENCODING_CLASSES, import_lazily, load_name
from pe_spectra.numbers import suggest

if TYPE_CHECKING:  # loaded when they are first used
    from pe_spectra.encodings.absolute import DfsTrans as DfsTrans
    from pe_spectra.encodings.absolute import Dft as Dft
    from pe_spectra.encodings.learned import Learned as Learned
    from pe_spectra.encodings.sinusoidal import Sinusoidal as Sinusoidal


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
    found: type[Encoding] = load_name(f"encodings.{module}", cls)
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
        accepted = f"{suggest(name, tuple(ENCODING_CLASSES))}accepted: {', '.join(ENCODING_CLASSES)}"
        raise InputError(f"{label} is not known", name, accepted)
    return _load(name)


__getattr__ = import_lazily(__name__, {cls: f"encodings.{module}" for module, cls in ENCODING_CLASSES.values()})
