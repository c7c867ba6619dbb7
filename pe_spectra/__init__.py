"""pe-spectra: which frequencies a positional encoding has, whether it tells positions apart, what it blurs.

Every quantity is one function call that returns a frozen result:

>>> import pe_spectra
>>> spectrum = pe_spectra.compute_spectrum(pe_spectra.Sinusoidal(d=256, rho=10000))
>>> round(float(spectrum.weights[1]), 5)
0.10892

Names are imported when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from pe_spectra._version import __version__

TYPE_CHECKING = False  # as type checkers read it; the module typing would cost more than all of this
if TYPE_CHECKING:
    from pe_spectra.encodings import ENCODINGS as ENCODINGS
    from pe_spectra.encodings import DfsTrans as DfsTrans
    from pe_spectra.encodings import Dft as Dft
    from pe_spectra.encodings import Encoding as Encoding
    from pe_spectra.encodings import Frequencies as Frequencies
    from pe_spectra.encodings import Sinusoidal as Sinusoidal
    from pe_spectra.errors import FileError as FileError
    from pe_spectra.errors import InputError as InputError
    from pe_spectra.errors import PeSpectraError as PeSpectraError
    from pe_spectra.errors import UndefinedError as UndefinedError
    from pe_spectra.faithfulness import Faithfulness as Faithfulness
    from pe_spectra.faithfulness import measure_faithfulness as measure_faithfulness
    from pe_spectra.reconstruction import PositionReconstruction as PositionReconstruction
    from pe_spectra.reconstruction import Reconstruction as Reconstruction
    from pe_spectra.reconstruction import measure_width as measure_width
    from pe_spectra.reconstruction import reconstruct as reconstruct
    from pe_spectra.reconstruction import reconstruct_all_positions as reconstruct_all_positions
    from pe_spectra.reconstruction import reconstruct_positions as reconstruct_positions
    from pe_spectra.spectrum import LowBinCount as LowBinCount
    from pe_spectra.spectrum import Spectrum as Spectrum
    from pe_spectra.spectrum import SpectrumSummary as SpectrumSummary
    from pe_spectra.spectrum import compute_dft_weights as compute_dft_weights
    from pe_spectra.spectrum import compute_lag_window_spectrum as compute_lag_window_spectrum
    from pe_spectra.spectrum import compute_spectrum as compute_spectrum
    from pe_spectra.spectrum import count_low_bin as count_low_bin

#: Public name -> module that defines it.
_HOMES = {
    "ENCODINGS": "encodings",
    "Dft": "encodings",
    "DfsTrans": "encodings",
    "Encoding": "encodings",
    "Faithfulness": "faithfulness",
    "FileError": "errors",
    "Frequencies": "encodings",
    "InputError": "errors",
    "LowBinCount": "spectrum",
    "PeSpectraError": "errors",
    "PositionReconstruction": "reconstruction",
    "Reconstruction": "reconstruction",
    "Sinusoidal": "encodings",
    "Spectrum": "spectrum",
    "SpectrumSummary": "spectrum",
    "UndefinedError": "errors",
    "compute_dft_weights": "spectrum",
    "compute_lag_window_spectrum": "spectrum",
    "compute_spectrum": "spectrum",
    "count_low_bin": "spectrum",
    "measure_faithfulness": "faithfulness",
    "measure_width": "reconstruction",
    "reconstruct": "reconstruction",
    "reconstruct_all_positions": "reconstruction",
    "reconstruct_positions": "reconstruction",
}

__all__ = [
    "ENCODINGS",
    "DfsTrans",
    "Dft",
    "Encoding",
    "Faithfulness",
    "FileError",
    "Frequencies",
    "InputError",
    "LowBinCount",
    "PeSpectraError",
    "PositionReconstruction",
    "Reconstruction",
    "Sinusoidal",
    "Spectrum",
    "SpectrumSummary",
    "UndefinedError",
    "__version__",
    "compute_dft_weights",
    "compute_lag_window_spectrum",
    "compute_spectrum",
    "count_low_bin",
    "measure_faithfulness",
    "measure_width",
    "reconstruct",
    "reconstruct_positions",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
