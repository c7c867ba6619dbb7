"""The catalogue of encodings by name; it loads nothing, so that completion and `import pe_spectra` stay light."""

from __future__ import annotations

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
    "tree": ("structural", "Tree"),
    "rnn": ("structural", "Rnn"),
    "sincos2d": ("structural", "Sincos2d"),
    "rope": ("rotary", "Rope"),
    "rope-axial": ("rotary_variants", "RopeAxial"),
    "fope": ("rotary_variants", "Fope"),
    "alibi": ("biases", "Alibi"),
    "kerple": ("biases", "Kerple"),
    "sandwich": ("biases", "Sandwich"),
    "t5": ("lag_tables", "T5"),
    "shaw": ("lag_tables", "Shaw"),
    "erpe": ("lag_tables", "Erpe"),
    "fire": ("bias_maps", "Fire"),
    "tupe": ("bias_maps", "Tupe"),
    "swin": ("bias_maps", "Swin"),
}
