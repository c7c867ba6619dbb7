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
    from pe_spectra.compare import Comparison as Comparison
    from pe_spectra.compare import compare_encodings as compare_encodings
    from pe_spectra.encodings import ENCODINGS as ENCODINGS
    from pe_spectra.encodings import DfsTrans as DfsTrans
    from pe_spectra.encodings import Dft as Dft
    from pe_spectra.encodings import Encoding as Encoding
    from pe_spectra.encodings import Frequencies as Frequencies
    from pe_spectra.encodings import GivenArray as GivenArray
    from pe_spectra.encodings import Learned as Learned
    from pe_spectra.encodings import Sinusoidal as Sinusoidal
    from pe_spectra.encodings import find_encoding as find_encoding
    from pe_spectra.errors import FileError as FileError
    from pe_spectra.errors import InputError as InputError
    from pe_spectra.errors import PeSpectraError as PeSpectraError
    from pe_spectra.errors import UndefinedError as UndefinedError
    from pe_spectra.export import export_encoding as export_encoding
    from pe_spectra.faithfulness import Faithfulness as Faithfulness
    from pe_spectra.faithfulness import measure_faithfulness as measure_faithfulness
    from pe_spectra.inspection import inspect_table as inspect_table
    from pe_spectra.model_sources import read_model as read_model
    from pe_spectra.models.checks import audit_configuration as audit_configuration
    from pe_spectra.models.lengths.methods import compare_methods as compare_methods
    from pe_spectra.portrait import Portrait as Portrait
    from pe_spectra.portrait import draw_portrait as draw_portrait
    from pe_spectra.precision import measure_precision as measure_precision
    from pe_spectra.reconstruction import PositionReconstruction as PositionReconstruction
    from pe_spectra.reconstruction import Reconstruction as Reconstruction
    from pe_spectra.reconstruction import measure_width as measure_width
    from pe_spectra.reconstruction import reconstruct as reconstruct
    from pe_spectra.reconstruction import reconstruct_all_positions as reconstruct_all_positions
    from pe_spectra.reconstruction import reconstruct_positions as reconstruct_positions
    from pe_spectra.sources import read_encoding as read_encoding
    from pe_spectra.spectrum import GridSpectrum as GridSpectrum
    from pe_spectra.spectrum import LowBinCount as LowBinCount
    from pe_spectra.spectrum import Spectrum as Spectrum
    from pe_spectra.spectrum import SpectrumSummary as SpectrumSummary
    from pe_spectra.spectrum import compute_density_spectrum as compute_density_spectrum
    from pe_spectra.spectrum import compute_dft_weights as compute_dft_weights
    from pe_spectra.spectrum import compute_grid_spectrum as compute_grid_spectrum
    from pe_spectra.spectrum import compute_lag_window_spectrum as compute_lag_window_spectrum
    from pe_spectra.spectrum import compute_spectrum as compute_spectrum
    from pe_spectra.spectrum import count_low_bin as count_low_bin
    from pe_spectra.spectrum import estimate_kernel as estimate_kernel

#: Public name -> module that defines it.
_HOMES = {
    "Comparison": "compare",
    "DfsTrans": "encodings",
    "Dft": "encodings",
    "ENCODINGS": "encodings",
    "Encoding": "encodings",
    "Faithfulness": "faithfulness",
    "FileError": "errors",
    "Frequencies": "encodings",
    "GivenArray": "encodings",
    "GridSpectrum": "spectrum",
    "InputError": "errors",
    "Learned": "encodings",
    "LowBinCount": "spectrum",
    "PeSpectraError": "errors",
    "Portrait": "portrait",
    "PositionReconstruction": "reconstruction",
    "Reconstruction": "reconstruction",
    "Sinusoidal": "encodings",
    "Spectrum": "spectrum",
    "SpectrumSummary": "spectrum",
    "UndefinedError": "errors",
    "audit_configuration": "models.checks",
    "compare_encodings": "compare",
    "compare_methods": "models.lengths.methods",
    "compute_density_spectrum": "spectrum",
    "compute_dft_weights": "spectrum",
    "compute_grid_spectrum": "spectrum",
    "compute_lag_window_spectrum": "spectrum",
    "compute_spectrum": "spectrum",
    "count_low_bin": "spectrum",
    "draw_portrait": "portrait",
    "estimate_kernel": "spectrum",
    "export_encoding": "export",
    "find_encoding": "encodings",
    "inspect_table": "inspection",
    "measure_faithfulness": "faithfulness",
    "measure_precision": "precision",
    "measure_width": "reconstruction",
    "read_encoding": "sources",
    "read_model": "model_sources",
    "reconstruct": "reconstruction",
    "reconstruct_all_positions": "reconstruction",
    "reconstruct_positions": "reconstruction",
}

__all__ = [
    "ENCODINGS",
    "Comparison",
    "DfsTrans",
    "Dft",
    "Encoding",
    "Faithfulness",
    "FileError",
    "Frequencies",
    "GivenArray",
    "GridSpectrum",
    "InputError",
    "Learned",
    "LowBinCount",
    "PeSpectraError",
    "Portrait",
    "PositionReconstruction",
    "Reconstruction",
    "Sinusoidal",
    "Spectrum",
    "SpectrumSummary",
    "UndefinedError",
    "__version__",
    "audit_configuration",
    "compare_encodings",
    "compare_methods",
    "compute_density_spectrum",
    "compute_dft_weights",
    "compute_grid_spectrum",
    "compute_lag_window_spectrum",
    "compute_spectrum",
    "count_low_bin",
    "draw_portrait",
    "estimate_kernel",
    "export_encoding",
    "find_encoding",
    "inspect_table",
    "measure_faithfulness",
    "measure_precision",
    "measure_width",
    "read_encoding",
    "read_model",
    "reconstruct",
    "reconstruct_all_positions",
    "reconstruct_positions",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
