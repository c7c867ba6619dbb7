"""The scalings of `rope` with what each needs, and the encoding of each."""

import json
from fractions import Fraction

import mpmath
import pytest

from pe_spectra.encodings.rope_scaling import SCALINGS
from pe_spectra.encodings.rotary import Rope
from tests.places import REFERENCE

PACKAGES = REFERENCE / "packages"
#: transformers' names for what the catalogue calls otherwise.
KEYS = {"rope_theta": "base", "original_max_position_embeddings": "original", "partial_rotary_factor": "share"}

#: What each way to scale cannot do without, for D = 128.
NEEDED = {
    "none": {},
    "linear": {"factor": 4},
    "ntk": {"factor": 4},
    "dynamic": {"factor": 4, "original": 4096, "served": 8192},
    "yarn": {"factor": 4, "original": 4096},
    "yarn-paper": {"factor": 4, "original": 4096},
    "llama3": {},
    "longrope": {"factor": 4, "original": 4096, "served": 8192, "long_factor": tuple(range(1, 65))},
    "proportional": {"share": 0.25},
    "xpos": {},
    "resonance": {},
    "clipped": {},
}


def build(scaling, **others):
    return Rope(scaling=scaling, **{**NEEDED[scaling], **others})


def list_cases(file):
    return json.loads((PACKAGES / file).read_text(encoding="utf-8"))["cases"]


every_scaling = pytest.mark.parametrize("scaling", SCALINGS)


# ----------------------------------------------------------------------------------- formulas in 50 digits


def ladder(base, width, pairs=None):
    return [mpmath.mpf(base) ** (-mpmath.mpf(2 * i) / width) for i in range(width // 2 if pairs is None else pairs)]


def check_digits(encoding, expected):
    frequencies = encoding.frequencies()
    words = encoding.words()
    assert len(frequencies.values) == len(expected)
    for index, right in enumerate(expected):
        pair = mpmath.mpf(float(frequencies.values[index])) + mpmath.mpf(float(frequencies.low[index]))
        three = mpmath.fsum(mpmath.mpf(float(word)) for word in words[:, index])
        assert abs(pair - right) <= abs(right) * mpmath.mpf("1e-31")
        assert abs(three - right) <= abs(right) * mpmath.mpf("1e-46")
        turns = encoding.turns(index)
        exact = (
            mpmath.mpf(turns.numerator) / turns.denominator if isinstance(turns, Fraction) else mpmath.mpf(str(turns))
        )
        assert abs(2 * mpmath.pi * exact - right) <= abs(right) * mpmath.mpf("1e-46")
