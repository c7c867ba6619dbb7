"""Positional encodings, and what each of them can be asked.

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

from pe_spectra.encodings.absolute import DfsTrans, Dft
from pe_spectra.encodings.catalogue import ENCODINGS, find_encoding
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.parameters import GivenArray, Parameter
from pe_spectra.encodings.protocol import (
    Encoding,
    Frequencies,
    HasBias,
    HasBiasMap,
    HasContinuousTable,
    HasExactKey,
    HasFrequencies,
    HasKernel,
    HasLadder,
    HasLagTable,
    HasLatticeMasses,
    HasTable,
    Ladder,
    Theorem,
)
from pe_spectra.encodings.sinusoidal import Sinusoidal

__all__ = [
    "ENCODINGS",
    "DfsTrans",
    "Dft",
    "Encoding",
    "Frequencies",
    "GivenArray",
    "HasBias",
    "HasBiasMap",
    "HasContinuousTable",
    "HasExactKey",
    "HasFrequencies",
    "HasKernel",
    "HasLadder",
    "HasLagTable",
    "HasLatticeMasses",
    "HasTable",
    "Ladder",
    "Learned",
    "Parameter",
    "Sinusoidal",
    "Theorem",
    "find_encoding",
]
