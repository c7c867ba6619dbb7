"""What ports of models compute and save: ladders, and caches of cosines and sines."""

import numpy as np
from safetensors.numpy import save_file

from tests.making import make_ladder


def scale_llama3(ladder, factor=8.0, original=8192, low=1.0, high=4.0):
    """Llama 3's scaling in plain float64, as its reference code has it."""
    found = []
    for frequency in ladder:
        wavelength = 2 * np.pi / frequency
        if wavelength < original / high:
            found.append(frequency)
        elif wavelength > original / low:
            found.append(frequency / factor)
        else:
            smooth = (original / wavelength - low) / (high - low)
            found.append((1 - smooth) * frequency / factor + smooth * frequency)
    return np.array(found)


SCALED = scale_llama3(make_ladder(5e5))


#: Positions of a cache.
ROWS = 1024


def make_cache(frequencies=SCALED, rows=ROWS, *, offset=0, scale=1.0, layout="half", dtype=np.float32):
    angles = np.arange(offset, offset + rows)[:, None] * frequencies
    parts = []
    for wave in (np.cos, np.sin):
        values = scale * wave(angles)
        doubled = {"half": np.tile(values, (1, 2)), "interleaved": np.repeat(values, 2, axis=1), "single": values}
        parts.append(np.ascontiguousarray(doubled[layout].astype(dtype)))
    return parts


def save_cache(path, name="port.safetensors", **changes):
    save_file(dict(zip(("cos_cached", "sin_cached"), make_cache(**changes), strict=True)), path / name)


def name_parts(document):
    return [one["what"] for one in document["differences"]]
