"""pe-spectra: which frequencies a positional encoding has, whether it distinguishes positions, what it blurs.

Every quantity is one function call that returns a frozen result:

>>> import pe_spectra
>>> spectrum = pe_spectra.compute_spectrum(pe_spectra.Sinusoidal(d=256, rho=10000))
>>> round(float(spectrum.weights[1]), 5)
0.10892

Names are imported when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from pe_spectra import names as _names
from pe_spectra._version import __version__ as __version__

TYPE_CHECKING = False  # as type checkers read it; the module typing would cost more than all of this
if TYPE_CHECKING:
    from typing import Any

    from pe_spectra.capturing.capture import capture as capture
    from pe_spectra.capturing.captured import Capture as Capture
    from pe_spectra.checking import check as check
    from pe_spectra.checking import freeze as freeze
    from pe_spectra.encodings import ENCODINGS as ENCODINGS
    from pe_spectra.encodings import Encoding as Encoding
    from pe_spectra.encodings import Frequencies as Frequencies
    from pe_spectra.encodings import GivenArray as GivenArray
    from pe_spectra.encodings import find_encoding as find_encoding
    from pe_spectra.encodings.absolute import DfsTrans as DfsTrans
    from pe_spectra.encodings.absolute import Dft as Dft
    from pe_spectra.encodings.absolute import OneHot as OneHot
    from pe_spectra.encodings.absolute import Ramp as Ramp
    from pe_spectra.encodings.bias_maps import Fire as Fire
    from pe_spectra.encodings.bias_maps import Swin as Swin
    from pe_spectra.encodings.bias_maps import Tupe as Tupe
    from pe_spectra.encodings.biases import Alibi as Alibi
    from pe_spectra.encodings.biases import Kerple as Kerple
    from pe_spectra.encodings.biases import Sandwich as Sandwich
    from pe_spectra.encodings.calendar import Calendar as Calendar
    from pe_spectra.encodings.combined import Hybrid as Hybrid
    from pe_spectra.encodings.features import FourierFeatures as FourierFeatures
    from pe_spectra.encodings.features import LearnableSinusoid as LearnableSinusoid
    from pe_spectra.encodings.grids import DetrSine as DetrSine
    from pe_spectra.encodings.grids import Sincos2d as Sincos2d
    from pe_spectra.encodings.known_periods import KnownPeriods as KnownPeriods
    from pe_spectra.encodings.lag_tables import T5 as T5
    from pe_spectra.encodings.lag_tables import Erpe as Erpe
    from pe_spectra.encodings.lag_tables import Shaw as Shaw
    from pe_spectra.encodings.lag_vectors import Deberta as Deberta
    from pe_spectra.encodings.lag_vectors import TransformerXl as TransformerXl
    from pe_spectra.encodings.learned import Learned as Learned
    from pe_spectra.encodings.rotary import Rope as Rope
    from pe_spectra.encodings.rotary_learned import Grape as Grape
    from pe_spectra.encodings.rotary_learned import Pope as Pope
    from pe_spectra.encodings.rotary_variants import Fope as Fope
    from pe_spectra.encodings.rotary_variants import RopeAxial as RopeAxial
    from pe_spectra.encodings.sinusoidal import PixelBands as PixelBands
    from pe_spectra.encodings.sinusoidal import Sinusoidal as Sinusoidal
    from pe_spectra.encodings.sinusoidal import Tape as Tape
    from pe_spectra.encodings.sinusoidal import Tensor2Tensor as Tensor2Tensor
    from pe_spectra.encodings.structural import Rnn as Rnn
    from pe_spectra.encodings.structural import Tree as Tree
    from pe_spectra.encodings.temporal import Mtan as Mtan
    from pe_spectra.encodings.temporal import MtanLearned as MtanLearned
    from pe_spectra.encodings.temporal import Time2Vec as Time2Vec
    from pe_spectra.errors import FileError as FileError
    from pe_spectra.errors import InputError as InputError
    from pe_spectra.errors import PeSpectraError as PeSpectraError
    from pe_spectra.errors import UndefinedError as UndefinedError
    from pe_spectra.export import export_encoding as _export_encoding
    from pe_spectra.faithfulness import Faithfulness as Faithfulness
    from pe_spectra.faithfulness import measure_faithfulness as _measure_faithfulness
    from pe_spectra.inspection import inspect_table as inspect_table
    from pe_spectra.inspection.portrait import Portrait as Portrait
    from pe_spectra.inspection.portrait import draw_portrait as _draw_portrait
    from pe_spectra.library import accept, accept_all
    from pe_spectra.library import as_encoding as as_encoding
    from pe_spectra.metrics.compare import Comparison as Comparison
    from pe_spectra.metrics.compare import compare_encodings as _compare_encodings
    from pe_spectra.model_sources import read_model as read_model
    from pe_spectra.models.checks import audit_configuration as audit_configuration
    from pe_spectra.models.lengths.methods import compare_methods as compare_methods
    from pe_spectra.plots.on_axes import plot_grid_kernel as plot_grid_kernel
    from pe_spectra.plots.on_axes import plot_grid_spectrum as plot_grid_spectrum
    from pe_spectra.plots.on_axes import plot_local_spectra as plot_local_spectra
    from pe_spectra.plots.on_axes import plot_low_bin as plot_low_bin
    from pe_spectra.plots.on_axes import plot_reconstruction as plot_reconstruction
    from pe_spectra.plots.on_axes import plot_spectrum as plot_spectrum
    from pe_spectra.precision.staircase import measure_precision as _measure_precision
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
    from pe_spectra.spectrum import compute_density_spectrum as _compute_density_spectrum
    from pe_spectra.spectrum import compute_dft_weights as compute_dft_weights
    from pe_spectra.spectrum import compute_grid_spectrum as _compute_grid_spectrum
    from pe_spectra.spectrum import compute_lag_window_spectrum as _compute_lag_window_spectrum
    from pe_spectra.spectrum import compute_spectra as _compute_spectra
    from pe_spectra.spectrum import compute_spectrum as _compute_spectrum
    from pe_spectra.spectrum import count_low_bin as _count_low_bin
    from pe_spectra.spectrum import estimate_kernel as _estimate_kernel

    compare_encodings = accept_all(_compare_encodings)
    compute_density_spectrum = accept(_compute_density_spectrum)
    compute_grid_spectrum = accept(_compute_grid_spectrum)
    compute_lag_window_spectrum = accept(_compute_lag_window_spectrum)
    compute_spectra = accept_all(_compute_spectra)
    compute_spectrum = accept(_compute_spectrum)
    count_low_bin = accept(_count_low_bin)
    draw_portrait = accept(_draw_portrait)
    estimate_kernel = accept(_estimate_kernel)
    export_encoding = accept(_export_encoding)
    measure_faithfulness = accept(_measure_faithfulness)
    measure_precision = accept(_measure_precision)

#: Module -> its functions that take a table, a SPEC or a function of positions in place of an encoding, too.
_OF_SUBJECTS = {
    "metrics.compare": ("compare_encodings",),
    "export": ("export_encoding",),
    "faithfulness": ("measure_faithfulness",),
    "inspection.portrait": ("draw_portrait",),
    "precision.staircase": ("measure_precision",),
    "spectrum": (
        *("compute_density_spectrum", "compute_grid_spectrum", "compute_lag_window_spectrum", "compute_spectra"),
        *("compute_spectrum", "count_low_bin", "estimate_kernel"),
    ),
}
#: Those of them that take several.
_OF_SEVERAL = ("compare_encodings", "compute_spectra")
#: Module -> its other public names.
_OTHERS = {
    "_version": ("__version__",),
    "capturing.capture": ("capture",),
    "capturing.captured": ("Capture",),
    "checking": ("check", "freeze"),
    "encodings": ("ENCODINGS", "Encoding", "Frequencies", "GivenArray", "find_encoding"),
    "errors": ("FileError", "InputError", "PeSpectraError", "UndefinedError"),
    "faithfulness": ("Faithfulness",),
    "inspection": ("inspect_table",),
    "inspection.portrait": ("Portrait",),
    "library": ("as_encoding",),
    "metrics.compare": ("Comparison",),
    "model_sources": ("read_model",),
    "models.checks": ("audit_configuration",),
    "models.lengths.methods": ("compare_methods",),
    "plots.on_axes": (
        *("plot_grid_kernel", "plot_grid_spectrum", "plot_local_spectra"),
        *("plot_low_bin", "plot_reconstruction", "plot_spectrum"),
    ),
    "reconstruction": (
        *("PositionReconstruction", "Reconstruction", "measure_width"),
        *("reconstruct", "reconstruct_all_positions", "reconstruct_positions"),
    ),
    "sources": ("read_encoding",),
    "spectrum": ("GridSpectrum", "LowBinCount", "Spectrum", "SpectrumSummary", "compute_dft_weights"),
}
#: Public name -> module that defines it.
_HOMES = {
    **_names.list_homes(_OTHERS),
    **_names.list_homes(_OF_SUBJECTS),
    **{cls: f"encodings.{module}" for module, cls in _names.ENCODING_CLASSES.values()},
}

__all__ = list(_HOMES)


def _wrap(name: str, found: Any) -> Any:
    if name not in _names.list_homes(_OF_SUBJECTS):
        return found
    from pe_spectra.library import accept, accept_all

    return (accept_all if name in _OF_SEVERAL else accept)(found)


__getattr__ = _names.import_lazily(__name__, _HOMES, _wrap)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__") and name not in _HOMES)])
