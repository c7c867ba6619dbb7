"""Frequencies and caches as ports compute them, in every type."""

import warnings

import ml_dtypes
import numpy as np

from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.errors import InputError
from pe_spectra.models.dumps.dumped_arrays import read_inverse_frequencies

DTYPES = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}
#: (scaling, base, width, options): scalings as public models have them.
LADDERS = {
    "llama-2": ("none", 1e4, 128, {}),
    "llama-3": ("none", 5e5, 128, {}),
    "linear": ("linear", 1e4, 128, {"factor": 2.5}),
    "llama-3.1": (
        "llama3",
        5e5,
        128,
        {"factor": 8.0, "original": 8192, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    ),
    "llama-3.2": (
        "llama3",
        5e5,
        64,
        {"factor": 32.0, "original": 8192, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    ),
    "qwen-yarn": ("yarn", 1e6, 128, {"factor": 4.0, "original": 32768}),
    "deepseek": ("yarn", 1e4, 64, {"factor": 40.0, "original": 4096}),
    "gpt-oss": ("yarn", 150000.0, 64, {"factor": 32.0, "original": 4096, "truncate": "no"}),
    "yarn-paper": ("yarn-paper", 1e4, 128, {"factor": 8.0, "original": 4096}),
    "gemma-4": ("proportional", 1e6, 512, {"share": 0.25}),
    "clipped": ("clipped", 5e5, 128, {"clipped_pairs": 20, "taper": "hann"}),
}


def compute_ladder(name):
    scaling, base, width, options = LADDERS[name]
    spelled = {key: value == "yes" if value in ("yes", "no") else value for key, value in options.items()}
    scaled = SCALINGS[scaling].function(base, width, **spelled)
    return np.array([float(value) for value in scaled.frequencies])


def store(values, dtype):
    """Round to a type and come back to float64, as a reader of files does."""
    return np.asarray(values).astype(DTYPES[dtype]).astype(np.float64)


def make_cache(frequencies, rows=1024, *, dtype="float64", scale=1.0, offset=0, layout=None):
    """Cosines and sines as ports compute them: angles in float32 unless the cache is float64."""
    if dtype == "float64":
        angles = (np.arange(rows)[:, None] + offset) * frequencies
    else:
        angles = (np.arange(rows, dtype=np.float32)[:, None] + np.float32(offset)) * frequencies.astype(np.float32)
    parts = [store(scale * np.cos(angles), dtype), store(scale * np.sin(angles), dtype)]
    if layout == "half":
        parts = [np.tile(part, (1, 2)) for part in parts]
    if layout == "interleaved":
        parts = [np.repeat(part, 2, axis=1) for part in parts]
    return parts


def assert_identified(found, name):
    scaling, base, width, options = LADDERS[name]
    assert (found.base, found.scaling, found.rotary_dim) == (base, scaling, width)
    assert dict(found.options) == options


# ----------------------------------------------------------------------------------- frequencies that were changed


#: Scalings with usual parameters, whatever the base and the width.
OPTIONS = {
    "none": {},
    "linear": {"factor": 4.0},
    "ntk": {"factor": 8.0},
    "llama3": {"factor": 8.0, "original": 8192},
    "yarn": {"factor": 4.0, "original": 32768},
    "yarn-paper": {"factor": 8.0, "original": 4096},
    "proportional": {"share": 0.25},
    "clipped": {"clipped_pairs": 3},
    "resonance": {},
}


def read_or_refuse(values):
    """What reading a dump gives, None where it is refused in words; nothing else may happen, not even a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return read_inverse_frequencies(values)
        except InputError:
            return None


def assert_own_frequencies(found, values):
    """A dump has the frequencies that were given, changed in nothing."""
    if found is None or any("taken as 1/frequency" in note for note in found.notes):
        return
    given = values.astype(float)
    once = {"half": given[: len(given) // 2], "interleaved": given[::2], None: given}[found.layout]
    np.testing.assert_array_equal(found.frequencies, once)


def scale_ladder(name, base, width):
    try:
        scaled = SCALINGS[name].function(base, width, **OPTIONS[name])
    except InputError:
        return None
    return np.array([float(value) for value in scaled.frequencies])
