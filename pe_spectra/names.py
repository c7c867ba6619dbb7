"""The catalogue of encodings by name, and names that are imported when they are first used.

It loads nothing, so that completion and `import pe_spectra` stay light.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

#: Name in a SPEC -> module of `pe_spectra.encodings` and class, in the order in which they are listed.
ENCODING_CLASSES: dict[str, tuple[str, str]] = {
    "sinusoidal": ("sinusoidal", "Sinusoidal"),
    "tensor2tensor": ("sinusoidal", "Tensor2Tensor"),
    "tape": ("sinusoidal", "Tape"),
    "learnable-sinusoid": ("features", "LearnableSinusoid"),
    "dft": ("absolute", "Dft"),
    "dfstrans": ("absolute", "DfsTrans"),
    "ramp": ("absolute", "Ramp"),
    "one-hot": ("absolute", "OneHot"),
    "fourier-features": ("features", "FourierFeatures"),
    "pixel-bands": ("sinusoidal", "PixelBands"),
    "learned": ("learned", "Learned"),
    "hybrid": ("combined", "Hybrid"),
    "time2vec": ("temporal", "Time2Vec"),
    "mtan-learned": ("temporal", "MtanLearned"),
    "mtan": ("temporal", "Mtan"),
    "calendar": ("calendar", "Calendar"),
    "periods": ("known_periods", "KnownPeriods"),
    "tree": ("structural", "Tree"),
    "rnn": ("structural", "Rnn"),
    "sincos2d": ("grids", "Sincos2d"),
    "detr-sine": ("grids", "DetrSine"),
    "rope": ("rotary", "Rope"),
    "rope-axial": ("rotary_variants", "RopeAxial"),
    "fope": ("rotary_variants", "Fope"),
    "grape": ("rotary_learned", "Grape"),
    "pope": ("rotary_learned", "Pope"),
    "alibi": ("biases", "Alibi"),
    "kerple": ("biases", "Kerple"),
    "sandwich": ("biases", "Sandwich"),
    "t5": ("lag_tables", "T5"),
    "shaw": ("lag_tables", "Shaw"),
    "transformer-xl": ("lag_vectors", "TransformerXl"),
    "deberta": ("lag_vectors", "Deberta"),
    "erpe": ("lag_tables", "Erpe"),
    "fire": ("bias_maps", "Fire"),
    "tupe": ("bias_maps", "Tupe"),
    "swin": ("bias_maps", "Swin"),
}


def list_homes(modules: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the module of every name.

    Parameters
    ----------
    modules : module of the package `pe_spectra` -> the names that it defines.

    >>> list_homes({"fourier": ("compute_omega",)})
    {'compute_omega': 'fourier'}
    """
    return {name: module for module, names in modules.items() for name in names}


def load_name(module: str, name: str) -> Any:
    """Return what a module of the package `pe_spectra` defines; it is imported where it was not.

    >>> load_name("fourier", "compute_omega").__module__
    'pe_spectra.fourier'
    """
    from importlib import import_module

    return getattr(import_module(f"pe_spectra.{module}"), name)


def import_lazily(
    package: str, homes: Mapping[str, str], wrap: Callable[[str, Any], Any] | None = None
) -> Callable[[str], Any]:
    """Make the `__getattr__` of a package whose public names are imported when they are first used.

    Parameters
    ----------
    package : its full name. homes : public name -> module of the package `pe_spectra` that defines it.
    wrap : given a name and what it is there, gives what the package has of that name.

    >>> import_lazily("pe_spectra.spectrum", {"compute_omega": "fourier"})("compute_omega").__module__
    'pe_spectra.fourier'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import sys

        found = load_name(homes[name], name)
        found = found if wrap is None else wrap(name, found)  # before it has its name: other threads may look for it
        setattr(sys.modules[package], name, found)  # it is not asked for again
        return found

    return find
