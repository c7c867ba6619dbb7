"""Rotations as a stack makes them of a configuration, everything known, and their comparison."""

import numpy as np

from pe_spectra.answers.agreements import answer_tables
from pe_spectra.answers.differences import ComparedSide, Setting, answer_differences
from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.models.comparison.divergence import BREAKS
from pe_spectra.models.comparison.rotations import compare_rotations
from pe_spectra.models.comparison.table_diff import TableDiff
from pe_spectra.models.dumps.dumped_arrays import read_cache
from pe_spectra.models.rotation import Rotation


def make_rotation(scaling="none", base=1e4, width=128, *, name="all", **options):
    """What a stack makes of a configuration: everything known, exact."""
    spelled = {key: value == "yes" if value in ("yes", "no") else value for key, value in options.items()}
    scaled = SCALINGS[scaling].function(base, width, **spelled)
    return Rotation(
        name=name,
        head_dim=width,
        rotary_dim=width,
        base=base,
        scaling=scaling,
        options=options,
        frequencies=np.array([float(value) for value in scaled.frequencies]),
        layout="half",
        attention_scaling=float(scaled.attention_factor),
        offset=0,
    )


LLAMA = make_rotation("llama3", 5e5, factor=8.0, original=8192)
LENGTH = 131072


def compare(a, b, length=LENGTH, **others):
    return compare_rotations([a], [b], length=length, **others)


def make_cache(frequencies, rows=1024, dtype=np.float64, scale=1.0, offset=0, layout="half"):
    angles = (np.arange(rows)[:, None] + offset) * frequencies
    parts = [(scale * wave(angles)).astype(dtype).astype(float) for wave in (np.cos, np.sin)]
    return read_cache(*(np.tile(part, (1, 2)) if layout == "half" else np.repeat(part, 2, axis=1) for part in parts))


def find_naively(a, b, length):
    for position in range(length):
        off = np.abs(np.angle(np.exp(1j * position * (a - b))))
        if off.max() > BREAKS:
            return position, int(np.argmax(off))
    return None


def told(found):
    """Code and text of the verdict on two rotations or two tables."""
    if isinstance(found, TableDiff):
        verdict = answer_tables("A", "B", found).verdict
    else:
        sides = [ComparedSide(name=name, rotations=()) for name in "AB"]
        verdict = answer_differences(*sides, found, Setting(length=found.length)).verdict
    return verdict.code, verdict.text
