"""Laws that hold for every encoding of the catalogue, and one value with its source for each.

Each law runs over every variant that has the view it is about. What is excepted is said by a function
of the encoding with a name, `has_...` or `is_...`, and each of these says why.
"""

import dataclasses
import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.domains import Duration, Moment
from pe_spectra.encodings import (
    ENCODINGS,
    Dft,
    Encoding,
    GivenArray,
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
    Sinusoidal,
    find_encoding,
)
from pe_spectra.encodings.grid_size import Grid
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.pairs import Pairs
from pe_spectra.encodings.parameters import FileOfNumbers, OtherEncodings, format_value
from pe_spectra.encodings.rotary import Rope
from pe_spectra.encodings.temporal import Mtan
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_POSITION, MAX_WIDTH
from pe_spectra.numbers import Choice, IntegerRange, ListOf, RealRange
from pe_spectra.sources import build_encodings
from pe_spectra.spectrum import compute_density_spectrum, compute_gram_kernel, compute_lag_window_spectrum

POSITIONS = np.array([0, 1, 2, 3, 5, 8, 31, 32, 33, 1000])
LAGS = np.array([0, 1, 2, 3, 5, 8, 17, 31, 100, 1000])

# ----------------------------------------------------------------------------------- variants

ANY, EVEN, FOURS = (2, 3, 4, 7, 16, 33), (2, 4, 6, 16, 34), (4, 8, 12, 32)
RHO = (0.5, 1.0, 100.0, 1e9)


def give(values):
    """An array with a name of its own, as a file gives one."""
    array = np.asarray(values, dtype=float)
    return GivenArray(array, origin=f"array{array.shape}{float(array.sum()):g}")


def number_entries(rows, columns):
    """A table in which every entry is another number."""
    return give(np.arange(rows * columns, dtype=float).reshape(rows, columns) / 7)


FEW = {"of": (Sinusoidal(d=6), Learned(init="normal", width=6, length=50))}
MINUTES = ("minute", "hour", "weekday")
#: What makes an encoding small, so that it can be looked at many times; by keyword. Others have their defaults.
SMALL = {
    "sinusoidal": {"d": 10},
    "tensor2tensor": {"d": 10},
    "tape": {"d": 10},
    "learnable-sinusoid": {"width": 10},
    "fourier-features": {"width": 10},
    "pixel-bands": {"d": 10},
    "mtan": {"d": 10},
    "learned": {"init": "normal", "width": 6, "length": 40},
    "hybrid": FEW,
    "time2vec": {"width": 8},
    "mtan-learned": {"width": 8},
    "rnn": {"width": 5, "length": 40},
    "sincos2d": {"d": 8, "height": 3, "width": 5},
    "rope": {"d": 8},
    "rope-axial": {"d": 8, "height": 3, "width": 4},
    "fope": {"d": 16, "length": 64},
    "sandwich": {"head_count": 4, "d": 16},
    "t5": {"head_count": 3},
    "shaw": {"clip": 4, "width": 3},
    "erpe": {"length": 40, "head_count": 3},
    "fire": {"head_count": 3},
    "tupe": {"head_count": 2, "width": 4, "length": 40},
    "swin": {"window": 3, "head_count": 2},
}
#: What each way to scale a rope of four pairs needs.
SCALINGS = {
    "none": {},
    "linear": {"factor": 4.0},
    "ntk": {"factor": 4.0},
    "dynamic": {"factor": 4.0, "original": 4096, "served": 8192},
    "yarn": {"factor": 4.0, "original": 4096},
    "yarn-paper": {"factor": 4.0, "original": 4096},
    "llama3": {},
    "longrope": {"factor": 4.0, "original": 4096, "served": 8192, "long_factor": (1.0, 2.0, 3.5, 4.0)},
    "proportional": {"share": 0.25},
    "xpos": {},
    "resonance": {},
    "clipped": {},
}
#: name -> keyword -> values for the laws, beside the default. Every parameter has a line.
VALUES = {
    "sinusoidal": {"d": (*ANY, 256), "rho": RHO, "layout": ("concatenated",), "offset": (1, 37), "scale": (0.125, 3.0)},
    "tensor2tensor": {"d": ANY, "min_timescale": (0.5, 7.0), "max_timescale": (50.0, 1e9), "offset": (2,)},
    "tape": {"d": EVEN, "rho": RHO, "length": (5, 4096)},
    "learnable-sinusoid": {"values": (give([1.0, -0.25, 2.5]),), "width": EVEN, "start": ("decades",), "rho": RHO},
    "dft": {"d": (*ANY, 256)},
    "dfstrans": {"d": EVEN},
    "ramp": {"d": (2, 7), "length": (2, 5, 300), "denominator": ("n",)},
    "one-hot": {"d": (2, 3, 33)},
    "fourier-features": {
        "values": (give([0.5, -2.0, 0.1]), give([[0.0], [0.0]])),
        "width": EVEN,
        "gamma": (0.5, 100.0),
        "seed": (1, 2**32 - 1),
        "coordinate": ("unit", "symmetric"),
        "length": (2, 300),
    },
    "pixel-bands": {"d": EVEN, "bands": ("octave",), "max_freq": (2.0, 7.0, 224.0), "length": (2, 33)},
    "learned": {
        "values": (number_entries(5, 3), give([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [-0.0, 0.0]])),
        "init": (),
        "width": (1, 7),
        "length": (1, 50),
        "std": (1e-6, 3.0),
        "seed": (1, 2**32 - 1),
        "first": (3,),
        "last": (1, 30),
        "prefix": (2,),
        "grid": ("4x10", "40x1"),
    },
    "hybrid": {
        "of": ((Dft(d=5),), (Sinusoidal(d=4), Dft(d=4), Sinusoidal(d=4, rho=5.0))),
        "weights": ((2.0, -1.0),),
        "mode": ("concat", "mix"),
        "layer": (number_entries(3, 12),),
        "width": (5,),
        "seed": (1,),
    },
    "time2vec": {"values": (give([[0.0, 0.5, -2.0], [1.0, 0.0, 0.25]]),), "width": (2, 7), "seed": (1,)},
    "mtan-learned": {
        "values": (give([[0.5, 2.0], [1.0, -0.25]]),),
        "width": (2, 7),
        "unit": (1.0, 1000.0),
        "seed": (1,),
    },
    "mtan": {"d": EVEN, "unit": (1.0, 1000.0)},
    "calendar": {
        "fields": (("hour",), ("weekday", "hour"), ("month", "dayofyear", "minute")),
        "minute_slot": (5,),
        "kind": ("fixed", "learned"),
        "mode": ("sum",),
        "width": (2, 7),
        "rho": RHO,
        "seed": (1,),
        "start": ("2000-02-28T13:00",),
        "step": ("1min", "1d"),
        "timestamp": ("yes",),
        "timestamp_d": (6,),
    },
    "tree": {"branching": (1, 3, 40), "depth": (1, 2, 60), "decay": (0.5, 0.75)},
    "rnn": {
        "values": (give([[0.5, -0.25, 1.0], [0.125, 0.75, -0.5]]),),
        "width": (1, 9),
        "length": (1, 90),
        "seed": (1,),
    },
    "sincos2d": {
        "d": FOURS,
        "height": (1, 7),
        "width": (1, 9),
        "rho": RHO,
        "cls": ("yes",),
        "order": ("timm", "timm-interleaved"),
    },
    "rope": {
        "d": EVEN,
        "base": (1.0, 5e5, 1e300),
        "share": (0.25, 0.5),
        "layout": ("interleaved",),
        "scaling": tuple(SCALINGS),
        "factor": (1.0, 2.5),
        "original": (64, 1 << 20),
        "served": (16, 1 << 20),
        "beta_fast": (16.0,),
        "beta_slow": (2.0,),
        "truncate": ("no",),
        "attention_factor": (0.5, 2.0),
        "mscale": (0.5,),
        "mscale_all_dim": (0.5,),
        "low_freq_factor": (2.0,),
        "high_freq_factor": (1.0, 8.0),
        "short_factor": ((1.0, 1.5, 2.0, 3.0),),
        "long_factor": ((1.0, 1.0, 8.0, 64.0),),
        "scale_base": (16.0,),
        "clipped_pairs": (0, 1, 3),
        "taper": ("hard",),
    },
    "rope-axial": {
        "d": FOURS,
        "height": (1, 7),
        "width": (1, 9),
        "base": (1.0, 50.0),
        "mode": ("mixed",),
        "head": (1, 5),
        "seed": (1,),
    },
    "fope": {
        "d": (4, 6, 32),
        "base": (1.0, 5e5),
        "length": (7, 4096),
        "gain": (0.0, 2.0),
        "model_heads": (1,),
        "head": (1, 5),
        "seed": (1,),
    },
    "alibi": {"head_count": (1, 3, 12), "head": (0, 5), "direction": ("no",)},
    "kerple": {
        "kind": ("power",),
        "head_count": (1, 3),
        "head": (0, 2),
        "r1": ((1.5, 0.25),),
        "r2": ((0.5, 2.0),),
        "seed": (1,),
    },
    "sandwich": {"head_count": (1, 3), "head": (0, 2), "d": EVEN, "first": (0,), "ratio": ("multiply",)},
    "t5": {
        "buckets": (4, 9, 64),
        "max_distance": (20, 300),
        "bidirectional": ("no",),
        "head_count": (1, 12),
        "head": (0, 2),
        "values": (number_entries(32, 2), give(np.zeros((8, 2)))),
        "seed": (1,),
    },
    "shaw": {
        "clip": (1, 30),
        "width": (1, 8),
        "side": ("value",),
        "values": (number_entries(5, 2), give(np.ones((3, 2)))),
        "seed": (1,),
    },
    "erpe": {
        "length": (1, 9),
        "head_count": (1, 12),
        "head": (0, 2),
        "values": (number_entries(41, 2), give(np.ones((3, 1)))),
        "seed": (1,),
    },
    "fire": {"head_count": (1, 12), "head": (0, 2), "c": (0.01, 10.0), "threshold": (1.0, 5.5), "seed": (1,)},
    "tupe": {
        "head_count": (1, 3),
        "head": (0, 1),
        "width": (1, 9),
        "length": (1, 60),
        "relative": ("no",),
        "seed": (1,),
    },
    "swin": {
        "window": (1, 5),
        "mode": ("cpb",),
        "head_count": (1, 4),
        "head": (0, 1),
        "trained": (2, 8),
        "values": (number_entries(25, 2),),
        "seed": (1,),
    },
}
#: What has to be given with a parameter before it has a meaning, or fits: (name, keyword) -> by keyword.
WITH = {
    ("fourier-features", "length"): {"coordinate": "unit"},
    ("hybrid", "layer"): {"mode": "mix"},
    ("hybrid", "width"): {"mode": "mix"},
    ("hybrid", "seed"): {"mode": "mix"},
    ("hybrid", "of"): {"weights": None},
    ("calendar", "minute_slot"): {"fields": MINUTES},
    ("calendar", "width"): {"kind": "fixed"},
    ("calendar", "rho"): {"kind": "fixed"},
    ("calendar", "seed"): {"kind": "learned"},
    ("calendar", "timestamp_d"): {"timestamp": "yes"},
    ("rope-axial", "head"): {"mode": "mixed"},
    ("rope-axial", "seed"): {"mode": "mixed"},
    ("sandwich", "head"): {"head_count": 4},
    ("swin", "trained"): {"mode": "cpb"},
    ("rope", "factor"): {"scaling": "linear"},
    ("rope", "original"): {"scaling": "yarn"},
    ("rope", "served"): {"scaling": "dynamic"},
    ("rope", "beta_fast"): {"scaling": "yarn"},
    ("rope", "beta_slow"): {"scaling": "yarn-paper"},
    ("rope", "truncate"): {"scaling": "yarn"},
    ("rope", "attention_factor"): {"scaling": "yarn"},
    ("rope", "mscale"): {"scaling": "yarn", "mscale_all_dim": 2.0},
    ("rope", "mscale_all_dim"): {"scaling": "yarn", "mscale": 2.0},
    ("rope", "low_freq_factor"): {"scaling": "llama3"},
    ("rope", "high_freq_factor"): {"scaling": "llama3"},
    ("rope", "short_factor"): {"scaling": "longrope", "served": 16},
    ("rope", "long_factor"): {"scaling": "longrope"},
    ("rope", "scale_base"): {"scaling": "xpos"},
    ("rope", "clipped_pairs"): {"scaling": "clipped"},
    ("rope", "taper"): {"scaling": "clipped"},
}
#: Several parameters at once, by keyword, without what stands in SMALL.
TOGETHER = {
    "sinusoidal": [{"d": 7, "rho": 5.0, "layout": "concatenated", "offset": 3, "scale": 0.5}, {"d": 5, "offset": 2}],
    "tensor2tensor": [{"d": 7, "max_timescale": 100.0, "offset": 1}],
    "fourier-features": [{"values": give([1.0, -3.0]), "coordinate": "symmetric", "length": 9}],
    "pixel-bands": [
        {"d": 6, "bands": "octave", "max_freq": 8.0, "length": 12},
        {"d": 6, "bands": "octave", "max_freq": 7.0, "length": 12},
        {"d": 4, "max_freq": 8.0, "length": 12},
    ],
    "learned": [
        {"init": "normal", "width": 3, "length": 40, "first": 2, "last": 34, "prefix": 2, "grid": "5x6", "seed": 7},
        {"values": number_entries(9, 2), "first": 1, "last": 8, "prefix": 1, "grid": "2x3"},
    ],
    "hybrid": [
        {**FEW, "mode": "concat", "weights": (1.0, 0.25)},
        {**FEW, "mode": "mix", "width": 3, "seed": 5, "weights": (1.0, -1.0)},
        {"of": (Sinusoidal(d=4), Dft(d=3)), "mode": "mix", "width": 3},
        {"of": (find_encoding("hybrid")(**FEW), Sinusoidal(d=6)), "weights": (0.5, 2.0)},
        {"of": (find_encoding("calendar")(fields=("hour", "weekday")), Sinusoidal(d=4))},
    ],
    "mtan-learned": [{"width": 5, "unit": 24.0, "seed": 3}],
    "calendar": [
        {"kind": "fixed", "mode": "sum", "width": 6, "fields": ("month", "day", "weekday", "hour")},
        {"kind": "fixed", "mode": "sum", "width": 6, "timestamp": "yes"},
        {"kind": "learned", "mode": "sum", "width": 3, "seed": 2},
        {"mode": "sum", "timestamp": "yes", "fields": MINUTES, "minute_slot": 7, "step": "1min"},
        {"kind": "learned", "width": 3, "timestamp": "yes", "timestamp_d": 4},
    ],
    "tree": [{"branching": 3, "depth": 3, "decay": 0.5}],
    "sincos2d": [{"d": 8, "height": 2, "width": 7, "cls": "yes", "order": order} for order in ("timm", "mae")],
    "rope": [
        {
            "d": 8,
            "scaling": "longrope",
            "original": 64,
            "served": 64,
            "short_factor": (1.0,) * 4,
            "attention_factor": 2.0,
        },
        {"d": 16, "share": 0.5, "layout": "interleaved", "scaling": "yarn", "factor": 8.0, "original": 512},
        {"d": 16, "share": 0.5, "scaling": "xpos", "layout": "interleaved"},
        {"d": 8, "base": 5e5, "scaling": "resonance"},
        {"d": 8, "base": 2.0, "scaling": "resonance"},
        {"d": 4, "scaling": "clipped", "clipped_pairs": 2, "taper": "hard"},
        {"d": 8, "scaling": "proportional", "share": 0.5, "factor": 2.0},
    ],
    "rope-axial": [{"d": 12, "height": 2, "width": 5, "mode": "mixed", "base": 20.0, "head": 2, "seed": 4}],
    "fope": [{"d": 24, "gain": 0.0, "head": 3, "length": 20}],
    "alibi": [{"head_count": 12, "head": 11, "direction": "no"}],
    "kerple": [
        {"r1": (1.5, 0.25), "r2": (0.5, 2.0)},
        {"kind": "power", "r1": (1.0, 2.0, 3.0), "r2": (0.5, 1.0, 2.0), "head": 2},
    ],
    "sandwich": [{"head_count": 3, "d": 8, "first": 0, "ratio": "multiply", "head": 1}],
    "t5": [{"values": number_entries(16, 3), "bidirectional": "no", "max_distance": 40, "head": 1}],
    "erpe": [{"values": number_entries(9, 4), "head": 3}],
    "fire": [{"head_count": 4, "head": 3, "threshold": 9.0, "c": 1.0}],
    "swin": [{"window": 4, "mode": "cpb", "trained": 7, "head_count": 3, "head": 2}],
}


def complete(cls, keyword, value):
    """Give with one parameter what it needs, by keyword. A table says its own size, so nothing goes with that."""
    given = {} if keyword == "values" else SMALL.get(cls.name, {})
    given = {**given, **WITH.get((cls.name, keyword), {}), keyword: value}
    if cls.name == "rope":
        given = {**SCALINGS.get(given.get("scaling", "none"), {}), **given}
    return {key: kept for key, kept in given.items() if kept is not None}


def list_given(cls):
    """What each variant of a class is given."""
    yield SMALL.get(cls.name, {})
    for keyword, values in VALUES[cls.name].items():
        yield from (complete(cls, keyword, value) for value in values)
    yield from TOGETHER.get(cls.name, ())


#: A class without values to try fails in test_every_parameter_has_values_to_try, not at import.
ALL = tuple(dict.fromkeys(cls(**given) for cls in ENCODINGS if cls.name in VALUES for given in list_given(cls)))
every_class = pytest.mark.parametrize("cls", ENCODINGS, ids=lambda cls: cls.name)


def every(*views, where=lambda _: True):
    """Run a law over all variants that have all of these views."""
    chosen = [e for e in ALL if all(isinstance(e, view) for view in views) and where(e)]
    assert chosen
    return pytest.mark.parametrize("encoding", chosen, ids=lambda e: e.label.replace(" ", "-"))


def is_of_lags(encoding):
    return encoding.domain == "lags"


def has_parameter(keyword):
    """Whether a class has that parameter."""
    return lambda encoding: any(parameter.keyword == keyword for parameter in encoding.accepts)


def has_arrays(encoding):
    """Whether it was given numbers that no SPEC can name."""
    return any(isinstance(value, GivenArray) for value in encoding.given.values())


def has_lone_sine(encoding):
    """The last column of odd d is a sine without its cosine, so that dot products depend on the positions too."""
    return isinstance(encoding, HasLadder) and encoding.d % 2 == 1


def has_still_channels(encoding):
    """A rope of which a share is turned has constants beside its sines and cosines."""
    return encoding.name == "rope" and encoding.rotary_width < encoding.d


def is_decaying(encoding):
    """What xpos multiplies with belongs to a lag: it is in the kernel, in neither table nor frequencies."""
    return encoding.name == "rope" and encoding.scaling == "xpos"


def has_ends(encoding):
    """The first and last row that are asked for of dfstrans carry a factor of their own, as published."""
    return encoding.name == "dfstrans"


def is_mixed(encoding):
    """A product of matrices rounds a row by how many others there are."""
    return encoding.name == "hybrid" and (encoding.mode == "mix" or any(is_mixed(member) for member in encoding.of))


def list_members(encoding):
    """The encoding and what it is made of."""
    return [encoding, *(inner for member in getattr(encoding, "of", None) or () for inner in list_members(member))]


def find_last_position(encoding):
    """The last position that has a code: of dates the last within year 9999, about which nothing is asked here."""
    if encoding.rows is not None:
        return encoding.rows - 1
    if any(member.name == "calendar" for member in list_members(encoding)):
        return 1000
    return MAX_POSITION - max(getattr(member, "offset", 0) for member in list_members(encoding))


def choose_positions(encoding, positions=POSITIONS):
    """Those of the positions that have a code."""
    return positions[positions <= find_last_position(encoding)]


def choose_lags(encoding, lags=LAGS):
    """Those of the lags that there are, of both signs where both occur."""
    known = lags if encoding.rows is None else lags[lags < encoding.rows]
    return known if encoding.causal else np.unique(np.concatenate([-known, known]))


def list_codes(encoding, places):
    """The codes of positions, or of lags: one row for each place."""
    if isinstance(encoding, HasTable):
        return encoding.table(places)
    if isinstance(encoding, HasLagTable):
        return encoding.lag_table(places)
    return encoding.bias(places).T


def show(encoding):
    """Numbers that tell an encoding from others of its kind."""
    if isinstance(encoding, HasBiasMap):
        return encoding.bias_map(min(9, encoding.rows or 9))
    places = choose_lags(encoding) if is_of_lags(encoding) else choose_positions(encoding)
    return list_codes(encoding, places)


# ----------------------------------------------------------------------------------- one reference each


def column(count):
    """A table of one column that holds the number of each row."""
    return np.arange(float(count))[:, None]


RNN_WEIGHTS = np.array([[0.5, -0.25, 1.0], [0.125, 0.75, -0.5]])

#: name -> (parameters by keyword, position or lag or (query, key), what is there, source). A new encoding needs a line.
REFERENCES = {
    "sinusoidal": (
        {"d": 4, "rho": 10000.0},
        3,
        [math.sin(3), math.cos(3), math.sin(0.03), math.cos(0.03)],
        "Vaswani et al. 2017, Sec. 3.5: PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same",
    ),
    "tensor2tensor": (
        {"d": 7},
        3,
        [math.sin(3), math.sin(0.03), math.sin(0.0003), math.cos(3), math.cos(0.03), math.cos(0.0003), 0.0],
        (
            "tensorflow/tensor2tensor, common_attention.py, get_timing_signal_1d: timescales 1, 100, 10000, "
            "sines first, odd d padded with 0"
        ),
    ),
    "tape": (
        {"d": 4, "length": 8},
        3,
        [math.sin(1.5), math.cos(1.5), math.sin(0.015), math.cos(0.015)],
        (
            "Navidfoumani/ConvTran, Models/AbsolutePositionalEncoding.py, class tAPE: "
            "sin((position * div_term) * (d_model / max_len))"
        ),
    ),
    "learnable-sinusoid": (
        {"width": 4, "start": "decades"},
        3,
        [math.sin(3), math.sin(3e-9), math.cos(3), math.cos(3e-9)],
        "Logan-Lin/CTLE, embed/ctle.py, class TemporalEncoding: omega = 1 / 10 ** linspace(0, 9, size) at the start",
    ),
    "dft": (
        {"d": 4},
        3,
        [0.5, 0.0, -math.sqrt(0.5), -0.5],
        "Ide, Labaien & Chen 2024, Eq. (17)-(21): sqrt(2/4) (1/sqrt 2, cos(3 pi/2), sin(3 pi/2), cos(3 pi)/sqrt 2)",
    ),
    "dfstrans": (
        {"d": 4},
        1,
        [math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0],
        "dfstrans/DFStrans, positional_encodings.py, class DFTEncoding: sqrt(2/4) (1, 0, cos pi, sin pi) in row 1 of 4",
    ),
    "ramp": (
        {"d": 2, "length": 5},
        3,
        [0.75, 0.75],
        "Liu et al. 2018 (CoordConv), arXiv:1807.03247: coordinate / (size - 1), before it is stretched to [-1, 1]",
    ),
    "one-hot": (
        {"d": 4},
        3,
        [0.0, 0.0, 0.0, 1.0],
        "Ide, Labaien & Chen 2024: the one-hot position function, row 3 of the identity",
    ),
    "fourier-features": (
        {"values": np.array([0.5, -2.0])},
        3,
        [math.cos(1.5) / 2, math.cos(6) / 2, math.sin(1.5) / 2, -math.sin(6) / 2],
        "Li et al. 2021, arXiv:2106.02795, Eq. (2): (cos x W^T, sin x W^T)/sqrt(D), W = (0.5, -2), x = 3",
    ),
    "pixel-bands": (
        {"d": 4, "max_freq": 10.0, "length": 4},
        2,
        [math.sqrt(0.75), -math.sqrt(0.75), 0.5, 0.5],
        "lucidrains/rotary-embedding-torch, freqs_for='pixel': linspace(1, 5, 2) pi times linspace(-1, 1, 4)[2] = 1/3",
    ),
    "learned": (
        {"values": np.array([[1.0, 2.0], [3.0, 4.0]])},
        1,
        [3.0, 4.0],
        "Gehring et al. 2017, arXiv:1705.03122: a learned embedding is a table, and a code its row",
    ),
    "hybrid": (
        {"of": (Sinusoidal(d=2), Dft(d=2)), "weights": (2.0, -1.0)},
        1,
        [2 * math.sin(1) - math.sqrt(0.5), 2 * math.cos(1) + math.sqrt(0.5)],
        "a weighted sum by hand: 2 (sin 1, cos 1) of Vaswani et al. 2017 less (1, -1)/sqrt 2 of Ide et al. 2024",
    ),
    "time2vec": (
        {"values": np.array([[0.5, 2.0], [1.0, -0.25]])},
        3,
        [2.5, math.sin(5.75)],
        "Kazemi et al. 2019, arXiv:1907.05321, Eq. (1): w_0 t + phi_0 and sin(w_1 t + phi_1), by hand",
    ),
    "mtan-learned": (
        {"values": np.array([[0.5, 2.0], [1.0, -0.25]]), "unit": 4.0},
        3,
        [1.375, math.sin(1.25)],
        "reml-lab/mTAN, src/models.py, learn_time_embedding: a linear layer of t and sin of another, at t = 3/4",
    ),
    "mtan": (
        {"d": 4, "unit": 48.0},
        3,
        [math.sin(3), math.cos(3), math.sin(3 / math.sqrt(10)), math.cos(3 / math.sqrt(10))],
        "reml-lab/mTAN, src/models.py, time_embedding: 48 t times exp(arange(0, d, 2) * -(log(10) / d)), at t = 3/48",
    ),
    "calendar": (
        {"fields": ("month", "day", "weekday", "hour"), "kind": "fixed", "mode": "sum", "width": 2},
        3,
        [sum(map(math.sin, (7, 1, 4, 3))), sum(map(math.cos, (7, 1, 4, 3)))],
        (
            "zhouhaoyi/Informer2020, models/embed.py, TemporalEmbedding: hour_x + weekday_x + day_x + month_x of one "
            "sinusoid; 03:00 on 1 July 2016, a Friday (4)"
        ),
    ),
    "tree": (
        {"branching": 2, "depth": 2},
        4,
        [0.0, 1.0, 1.0, 0.0],
        "Shiv & Quirk 2019, NeurIPS: the node root/0/1, its last branch (1) first and one-hot, then the one before (0)",
    ),
    "rnn": (
        {"values": RNN_WEIGHTS},
        1,
        [
            math.tanh(0.5 * math.tanh(1) - 0.25 * math.tanh(-0.5) + 1),
            math.tanh(0.125 * math.tanh(1) + 0.75 * math.tanh(-0.5) - 0.5),
        ],
        "Elman 1990, and the equation of PyTorch's nn.RNN: h(t) = tanh(W h(t-1) + constant), two steps by hand",
    ),
    "sincos2d": (
        {"d": 4, "height": 2, "width": 3},
        5,
        [math.sin(2), math.cos(2), math.sin(1), math.cos(1)],
        "facebookresearch/mae, util/pos_embed.py: the first half encodes the column (2 of patch 5 in rows of 3)",
    ),
    "rope": (
        {"d": 4},
        3,
        [math.cos(3), math.cos(0.03), math.sin(3), math.sin(0.03)],
        (
            "Su et al. 2021, arXiv:2104.09864, Eq. (15): theta_i = 10000**(-2i/d); the cache of transformers' "
            "LlamaRotaryEmbedding: all cosines, all sines"
        ),
    ),
    "rope-axial": (
        {"d": 4, "height": 2, "width": 2},
        3,
        [math.cos(1), math.sin(1), math.cos(1), math.sin(1)],
        "naver-ai/rope-vit, models/vit_rope.py, compute_axial_cis: pairs of x = 3 % 2, then of y = 3 // 2, theta_0 = 1",
    ),
    "fope": (
        {"d": 8, "base": 10000.0, "length": 64, "gain": 0.0},
        3,
        [math.cos(3), math.cos(0.3), 1, 1, math.sin(3), math.sin(0.3), 1, 1],
        (
            "TsinghuaC3I/Fourier-Position-Embedding, olmo/model.py, FourierEmbedding: below 2 pi/64 left out, identity "
            "matrices, padded with 1 in both"
        ),
    ),
    "alibi": (
        {"head_count": 12},
        3,
        [-3 * 2.0**-h for h in range(1, 9)] + [-3 * 2**-e for e in (0.5, 1.5, 2.5, 3.5)],
        (
            "ofirpress/attention_with_linear_biases, fairseq/models/transformer.py: slopes of 8 heads, then every "
            "other one of 16"
        ),
    ),
    "kerple": (
        {"r1": (1.5, 0.25), "r2": (0.5, 2.0)},
        4,
        [-1.5 * math.log(3), -0.25 * math.log(9)],
        "Chi et al. 2022, arXiv:2205.09921; chijames/KERPLE, megatron/mpu/layers.py: -p log(1 + a lag)",
    ),
    "sandwich": (
        {"head_count": 2, "d": 4},
        3,
        [(math.cos(0.03) + math.cos(0.0003) - 2) / r for r in (4, 8)],
        (
            "Chi et al. 2023, arXiv:2212.10356; NVIDIA/NeMo, sandwich_relative_position_embedding.py: "
            "(sum cos - d/2) / (8 h/H), i = 1 .. d/2"
        ),
    ),
    "t5": (
        {"values": column(32)},
        -9,
        [24.0],
        "mesh_tensorflow/transformer/transformer_layers.py: key 9 after its query, bucket 16 + 8 (distances 8 to 11)",
    ),
    "shaw": (
        {"values": column(5)},
        7,
        [0.0],
        "tensor2tensor/layers/common_attention.py: row clip(key - query, -2, 2) + 2 = 0",
    ),
    "erpe": (
        {"values": column(5)},
        2,
        [4.0],
        "Navidfoumani/ConvTran, Models/Attention.py, Attention_Rel_Scl: row lag + L - 1 = 2 + 3 - 1",
    ),
    "fire": (
        {"head_count": 2, "threshold": 5},
        (6, 2),
        [-0.1738100770218281, -0.21602949716040798],
        (
            "Li et al. 2024, arXiv:2310.04418: MLP(ln(0.1 x 4 + 1) / ln(0.1 x 6 + 1)), weights from PCG64(0) as "
            "PyTorch starts them, unit by unit"
        ),
    ),
    "tupe": (
        {"head_count": 2, "width": 2, "length": 4},
        (3, 1),
        [0.008640191216075802, 0.013430243835613226],
        (
            "guolinke/TUPE, fairseq/modules/transformer_sentence_encoder.py: LN(P_4) W_q . LN(P_2) W_k / sqrt(2 x 4/2) "
            "+ bucket 2, weights from PCG64(0)"
        ),
    ),
    "swin": (
        {"values": column(25)},
        (8, 1),
        [23.0],
        "huggingface/transformers, Swin, window 3: offset (2, 1) is row (2 + 2) x 5 + 1 + 2",
    ),
}
#: Absolute and relative tolerance where sums of several terms are rounded, here or in the reference.
TOLERANCES = {"sandwich": (1e-15, 0), "fire": (0, 1e-12), "tupe": (0, 1e-12), "calendar": (1e-15, 0)}


def read_place(encoding, place):
    """The numbers of a position, a lag, or a query and a key."""
    if isinstance(encoding, HasBiasMap):
        return encoding.bias_map(max(place) + 1)[:, place[0], place[1]]
    if isinstance(encoding, HasTable):
        return encoding.table(min(max(4, place + 1), encoding.rows or 5))[place]
    return list_codes(encoding, [place])[0]


@every_class
def test_reference_value(cls):
    assert cls.name in REFERENCES, f"add a value of {cls.name} with its source to REFERENCES"
    parameters, place, expected, source = REFERENCES[cls.name]
    assert len(source) > 20
    atol, rtol = TOLERANCES.get(cls.name, (2.3e-16, 0))
    assert_allclose(read_place(cls(**parameters), place), expected, rtol=rtol, atol=atol)


def test_no_reference_without_an_encoding():
    names = {cls.name for cls in ENCODINGS}
    assert set(REFERENCES) == names
    assert set(VALUES) == names
    assert {*SMALL, *TOGETHER, *TOLERANCES, *(name for name, _ in WITH)} <= names


# ----------------------------------------------------------------------------------- the class


@every_class
def test_a_class_says_what_it_is(cls):
    assert issubclass(cls, Encoding)
    for text in (cls.summary, cls.formula, cls.source, cls.pitfalls):
        assert len(text) > 10
        assert "\n" not in text
        assert text == text.strip()
    assert cls.family in ("absolute", "rotary", "relative", "temporal", "structural", "learned", "combined")
    assert cls.__doc__
    assert dataclasses.is_dataclass(cls)
    assert getattr(cls, "__final__", False)
    assert find_encoding(cls.name) is cls


@every_class
def test_parameters_are_the_fields(cls):
    fields = [field for field in dataclasses.fields(cls) if field.compare]
    assert [parameter.keyword for parameter in cls.accepts] == [field.name for field in fields]
    for parameter, field in zip(cls.accepts, fields, strict=True):
        assert len(parameter.meaning) > 10
        assert parameter.accepts.accepted
        assert parameter.name.replace("_", "").isalnum()
        assert field.default == parameter.default
        assert type(field.default) is type(parameter.default)
        assert set(parameter.only_with) <= {field.name for field in fields} - {parameter.keyword}


@every_class
def test_names_of_parameters_are_unique(cls):
    assert len({parameter.name for parameter in cls.accepts}) == len(cls.accepts)
    assert len({parameter.keyword for parameter in cls.accepts}) == len(cls.accepts)


@every_class
def test_defaults_build(cls):
    if cls.name == "learned":  # the one encoding that is nothing without numbers, or the word that they be drawn
        with pytest.raises(InputError, match="table=FILE, or init=normal"):
            cls()
        assert cls(init="normal").rows == 512
    else:
        assert cls() == cls(**{p.keyword: p.default for p in cls.accepts})


@every_class
def test_every_parameter_has_values_to_try(cls):
    tried = list(list_given(cls))
    assert list(VALUES[cls.name]) == [parameter.keyword for parameter in cls.accepts]
    for parameter in cls.accepts:
        assert any(given.get(parameter.keyword, parameter.default) != parameter.default for given in tried)
        if isinstance(parameter.accepts, Choice):
            assert {given.get(parameter.keyword, parameter.default) for given in tried} == set(
                parameter.accepts.members
            )


def test_names_are_unique_and_can_be_typed():
    names = [cls.name for cls in ENCODINGS]
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalnum() and name == name.lower() for name in names)
    with pytest.raises(InputError):
        find_encoding("gauss")


# ----------------------------------------------------------------------------------- what parameters accept

#: What has to be given with a parameter for its bounds to be accepted: (name, keyword) -> by keyword.
AT_BOUNDS = {
    **{
        (cls.name, "head"): {"head_count": 1024} for cls in ENCODINGS if cls.family == "relative" and cls.name != "tupe"
    },
    ("hybrid", "weights"): {"of": (Dft(d=2),)},
    ("learned", "width"): {"length": 1},
    ("rope", "share"): {"d": 128},
    ("rope", "short_factor"): {"d": 2},
    ("rope", "long_factor"): {"d": 2},
}
#: Bounds that others narrow whatever is given: rows of a table that would not fit into memory, 64 heads at most.
NARROWED = {("learned", "first"), ("learned", "last"), ("learned", "prefix"), ("tupe", "head")}


def list_bounds(accepts):
    """Values that are accepted, and values just beyond."""
    if isinstance(accepts, IntegerRange):
        inside = [accepts.minimum, accepts.maximum, np.int64(accepts.minimum)]
        return inside, [accepts.minimum - 1, accepts.maximum + 1, accepts.minimum + 0.5, True, "x"]
    if isinstance(accepts, RealRange):
        inside = [accepts.minimum, accepts.maximum]
        beyond = [math.nextafter(accepts.minimum, -math.inf), math.nextafter(accepts.maximum, math.inf)]
        return inside, [*beyond, math.nan, math.inf, -math.inf, "x", True]
    if isinstance(accepts, Choice):
        return list(accepts.members), ["", "x", accepts.members[0].upper(), 1]
    if isinstance(accepts, ListOf):
        inside, beyond = list_bounds(accepts.of)
        return [(value,) for value in inside], [
            (),
            *((value,) for value in beyond),
            "x",
            5,
            inside[:1] * (accepts.most + 1),
        ]
    return OTHER_BOUNDS[type(accepts)]


OTHER_BOUNDS = {
    Moment: (["0001-01-01T00:00", "9999-12-31T00:00"], ["0000-01-01", "10000-01-01", "x", "", 5]),
    Duration: (["1s", "1week"], ["0s", "1", "1month", "", 5]),
    Grid: (["1x40", "40x1"], ["0x40", "40", "4x10x1", "-4x-10", "", 40]),
    FileOfNumbers: ([], [np.ones((2, 3, 4)), np.ones((0, 2)), np.full((3, 3), np.nan), [[1.0]], "x", 5]),
    OtherEncodings: ([FEW["of"], list(FEW["of"])], [(), "dft", 5, (1,), (Dft(d=2),) * 17]),
}


def list_parameters(*kinds, but=()):
    """Each parameter of each class, or those of some kinds."""
    return pytest.mark.parametrize(
        ("cls", "parameter"),
        [
            pytest.param(cls, parameter, id=f"{cls.name}-{parameter.name}")
            for cls in ENCODINGS
            for parameter in cls.accepts
            if (not kinds or isinstance(parameter.accepts, kinds)) and not isinstance(parameter.accepts, but)
        ],
    )


@list_parameters()
def test_what_is_beyond_its_bounds_is_refused(cls, parameter):
    for value in list_bounds(parameter.accepts)[1]:
        with pytest.raises(InputError) as caught:
            cls(**complete(cls, parameter.keyword, value))
        assert str(caught.value).startswith(f"{cls.name}: {parameter.name} "), value


@list_parameters(but=FileOfNumbers)
def test_its_bounds_are_accepted(cls, parameter):
    for value in list_bounds(parameter.accepts)[0]:
        given = {**complete(cls, parameter.keyword, value), **AT_BOUNDS.get((cls.name, parameter.keyword), {})}
        if (cls.name, parameter.keyword) in NARROWED and value == parameter.accepts.maximum:
            given.pop("head_count", None)
            with pytest.raises(InputError, match=f"^{cls.name}: .*{parameter.name}|rows .*{value}"):
                cls(**given)
            continue
        if (cls.name, value) == ("learned", "none"):
            given = {"init": "none", "values": np.ones((2, 2))}
        kept = getattr(cls(**given), parameter.keyword)
        assert kept == (tuple(value) if isinstance(value, list) else value)
        assert not isinstance(kept, np.generic)


@list_parameters(but=(FileOfNumbers, OtherEncodings))
def test_a_default_is_read_back_as_it_is_written(cls, parameter):
    if parameter.default is not None:
        assert parameter.accepts.parse(format_value(parameter.default), "x") == parameter.default


def list_conditions():
    """Each parameter that has a meaning with others alone, and each of those others."""
    for cls in ENCODINGS:
        for parameter in cls.accepts:
            for keyword, allowed in parameter.only_with.items():
                name = next(p.name for p in cls.accepts if p.keyword == keyword)
                yield pytest.param(cls, parameter, keyword, allowed, id=f"{cls.name}-{parameter.name}-{name}")


def find_forbidden(cls, keyword, allowed):
    """A value of the other parameter with which this one has no meaning."""
    other = next(p for p in cls.accepts if p.keyword == keyword)
    return next(v for v in (other.default, *VALUES[cls.name][keyword]) if v not in allowed)


@pytest.mark.parametrize(("cls", "parameter", "keyword", "allowed"), list(list_conditions()))
def test_a_parameter_without_meaning_is_refused_with_the_other_named(cls, parameter, keyword, allowed):
    value = next(v for v in VALUES[cls.name][parameter.keyword] if v != parameter.default)
    forbidden = find_forbidden(cls, keyword, allowed)
    others = {
        key: next(v for v in values if v is not None) for key, values in parameter.only_with.items() if any(values)
    }
    given = {**others, parameter.keyword: value, keyword: forbidden}
    if (cls.name, keyword) == ("learned", "init"):
        given["values"] = np.ones((2, 2))
    given = {key: kept for key, kept in given.items() if kept is not None}
    with pytest.raises(InputError) as caught:
        cls(**given)
    name = next(p.name for p in cls.accepts if p.keyword == keyword)
    before, after = str(caught.value).split("; ")
    assert before.startswith(f"{cls.name}: {parameter.name} has no meaning here ")
    assert f"with {name}=" in after or f"without {name}" in after


#: What does not go together, and what a refusal has to say about it.
REFUSED = [
    ("dfstrans", {"d": 7}, "even d"),
    ("tape", {"d": 7}, "d is odd"),
    ("learnable-sinusoid", {"width": 7}, "d is odd"),
    ("fourier-features", {"width": 7}, "d is odd"),
    ("pixel-bands", {"d": 7}, "d is odd"),
    ("mtan", {"d": 7}, "d is odd"),
    ("rope", {"d": 7}, "d is odd"),
    ("rope", {"d": 12, "share": 0.25}, "no even width"),
    ("fope", {"d": 7}, "d is odd"),
    ("rope-axial", {"d": 6}, "multiple of 4"),
    ("sincos2d", {"d": 6}, "multiple of 4"),
    ("sandwich", {"d": 7}, "d is odd"),
    ("kerple", {"kind": "power", "r1": (1.0,), "r2": (2.5,)}, "r2 is too large"),
    ("kerple", {"r1": (1.0,), "r2": (1.0, 2.0)}, "r2 has 2 members"),
    ("t5", {"buckets": 64, "max_distance": 16}, "max_distance is too small"),
    ("learned", {"init": "normal", "values": np.ones((2, 2))}, "needs its values, once"),
    *[("rope", {"d": 8, "scaling": name}, "needs") for name in ("linear", "ntk", "dynamic", "yarn", "yarn-paper")],
    *[
        (cls.name, {"values": number_entries(rows, 3), keyword: size}, "contradicts")
        for cls, rows, keyword, size in (
            (find_encoding("learned"), 4, "width", 4),
            (find_encoding("time2vec"), 2, "width", 4),
            (find_encoding("mtan-learned"), 2, "width", 4),
            (find_encoding("rnn"), 2, "width", 4),
            (find_encoding("t5"), 32, "head_count", 4),
            (find_encoding("t5"), 32, "buckets", 16),
            (find_encoding("shaw"), 5, "width", 4),
            (find_encoding("shaw"), 5, "clip", 4),
            (find_encoding("erpe"), 5, "length", 4),
            (find_encoding("swin"), 25, "window", 4),
        )
    ],
]


@pytest.mark.parametrize(("name", "given", "words"), REFUSED)
def test_what_does_not_go_together_is_refused(name, given, words):
    with pytest.raises(InputError, match=words) as caught:
        find_encoding(name)(**given)
    assert str(caught.value).startswith(f"{name}: ")
    assert "\n" not in str(caught.value)


# ----------------------------------------------------------------------------------- objects, labels, SPECs


@every()
def test_frozen_and_comparable(encoding):
    cls, name = type(encoding), encoding.accepts[0].keyword
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(encoding, name, getattr(encoding, name))
    same = cls(**encoding.given)
    assert same == encoding
    assert hash(same) == hash(encoding)
    with pytest.raises(TypeError):
        cls(*encoding.given.values() or (1,))


def test_different_variants_are_different():
    assert len(ALL) == len(set(ALL)) == len({(type(e), tuple(e.given.items())) for e in ALL})


@every()
def test_what_is_given_has_a_meaning_and_is_plain(encoding):
    keywords = {parameter.keyword: parameter for parameter in encoding.accepts}
    for keyword, value in encoding.given.items():
        assert value is not None
        assert isinstance(value, int | float | str | tuple | GivenArray)
        assert not isinstance(value, np.generic)
        parameter = keywords[keyword]
        if not isinstance(parameter.accepts, FileOfNumbers | OtherEncodings):
            assert parameter.accepts.parse(format_value(value), "x") == value


@every()
def test_parameters_are_json(encoding):
    assert json.loads(json.dumps(encoding.parameters, allow_nan=False)) == encoding.parameters
    assert set(encoding.parameters) == {p.name for p in encoding.accepts if p.keyword in encoding.given}


@every()
def test_the_label_tells_what_it_is(encoding):
    """A table from a file is called as the file is."""
    start = encoding.values.origin if encoding.name == "learned" and encoding.values else encoding.name
    assert encoding.label.startswith(start)
    assert "\n" not in encoding.label


def test_labels_tell_encodings_apart():
    """The label of a table from a file is the file and its size: `spec` says which rows and what spread."""
    labels = [e.label for e in ALL if e.name != "learned"]
    assert len(set(labels)) == len(labels)


@every(where=lambda e: not any(has_arrays(member) for member in list_members(e)))
def test_the_spec_names_the_encoding(encoding):
    assert build_encodings([encoding.spec], {}) == (encoding,)


@every()
def test_positions_are_described(encoding):
    count = min(9, find_last_position(encoding) + 1)
    said = [encoding.describe_position(s) for s in (*range(count), find_last_position(encoding))]
    for text in said:
        assert isinstance(text, str)
        assert text == text.strip() != ""
        assert "\n" not in text
    assert len(set(said[:count])) == count


@every()
def test_sizes_are_sizes(encoding):
    assert encoding.domain in ("positions", "lags")
    assert encoding.heads >= 1
    assert encoding.default_length >= 1
    assert 2 <= encoding.default_grid <= MAX_WIDTH
    assert isinstance(encoding.notes, tuple)
    assert all(isinstance(note, str) and note and "\n" not in note for note in encoding.notes)
    if encoding.rows is not None:
        assert 1 <= encoding.default_length <= encoding.rows


@every(where=lambda e: e.shape is not None)
def test_a_grid_has_a_place_for_every_row(encoding):
    """sincos2d may have a row for CLS before its grid."""
    height, width = encoding.shape
    special = sum(member.name == "sincos2d" and member.cls == "yes" for member in list_members(encoding))
    assert height * width == encoding.rows - special


@every()
def test_the_lattice_of_the_paper_has_a_point_for_each_column(encoding):
    """As in the paper where there are frequencies; where rows end, and without frequencies, one for each position."""
    if isinstance(encoding, HasFrequencies) and encoding.rows is None:
        assert encoding.default_grid == encoding.d
    else:
        assert encoding.default_grid == max(2, encoding.default_length)


# ----------------------------------------------------------------------------------- what is drawn


def draw_another(encoding):
    """The same encoding with another seed: its own, or that of its first member that is drawn."""
    if "seed" in encoding.given:
        return type(encoding)(**{**encoding.given, "seed": encoding.seed + 1 if encoding.seed < 9 else 0})
    place = next(i for i, member in enumerate(encoding.of) if member.is_random)
    of = (*encoding.of[:place], draw_another(encoding.of[place]), *encoding.of[place + 1 :])
    return type(encoding)(**{**encoding.given, "of": of})


@every(where=lambda e: e.is_random)
def test_what_is_drawn_depends_on_the_seed_and_is_said_to_be_drawn(encoding):
    assert not np.array_equal(show(encoding), show(draw_another(encoding)))
    assert any("drawn at random" in note for note in encoding.notes), encoding.notes


@every(where=lambda e: not e.is_random and "seed" in e.given)
def test_a_seed_changes_nothing_where_nothing_is_drawn(encoding):
    """kerple whose numbers are all given, fope without noise."""
    assert encoding.name in ("kerple", "fope")
    assert_array_equal(show(encoding), show(draw_another(encoding)))
    assert not any("drawn at random" in note for note in encoding.notes)


# ----------------------------------------------------------------------------------- tables

NO_INTEGERS = ([1.5], [2**53 + 1], [[1, 2]], ["a"], [None], [True])


@every(HasTable, where=lambda e: not is_of_lags(e))
def test_table_has_shape_type_and_finite_numbers(encoding):
    some = choose_positions(encoding)
    for positions, count in ((some, len(some)), (len(some), len(some)), ([some[-1]], 1), (range(1), 1), (1, 1)):
        table = encoding.table(positions)
        assert table.shape == (count, encoding.d)
        assert table.dtype == np.float64
        assert np.isfinite(table).all()
    assert encoding.table([]).shape == encoding.table(0).shape == (0, encoding.d)


@every(HasTable, HasFrequencies)
def test_no_entry_is_larger_than_its_amplitude(encoding):
    """Channels of a rope that are not turned have 1."""
    largest = np.abs(encoding.table(choose_positions(encoding))).max()
    bound = max(encoding.frequencies().amplitude, float(has_still_channels(encoding)))
    assert largest <= bound * (1 + 1e-15)


@every(HasTable)
def test_table_is_the_same_every_time(encoding):
    some = choose_positions(encoding)
    first = encoding.table(some)
    assert_array_equal(first, type(encoding)(**encoding.given).table(list(some)))
    assert encoding.table(some) is not first
    count = min(9, find_last_position(encoding) + 1)
    assert_array_equal(encoding.table(count), encoding.table(range(count)))


@every(HasTable)
def test_who_changes_a_table_does_not_change_the_encoding(encoding):
    """What is handed out is a copy, or read-only."""
    first = encoding.table(1)
    kept = first.copy()
    if first.flags.writeable:
        first += 1
    assert_array_equal(encoding.table(1), kept)


@every(HasTable, where=lambda e: not any(has_ends(member) for member in list_members(e)))
def test_a_row_is_the_same_whatever_others_are_asked_for(encoding):
    some = choose_positions(encoding)
    table = encoding.table(some)
    for place, s in enumerate(some):
        one = encoding.table([s])[0]
        if is_mixed(encoding):
            assert_allclose(one, table[place], rtol=0, atol=1e-14 * np.abs(table).max())
        else:
            assert_array_equal(one, table[place])
    assert_array_equal(encoding.table(some[::-1]), table[::-1])


@every(HasTable, where=lambda e: not is_of_lags(e))
def test_table_refuses_what_is_no_position(encoding):
    for positions in ([-1], *NO_INTEGERS, "a", -1, 1.5):
        with pytest.raises(InputError):
            encoding.table(positions)


@every(HasTable)
def test_the_last_position_has_a_code_and_the_next_has_none(encoding):
    last = find_last_position(encoding)
    assert np.isfinite(encoding.table([last])).all()
    if not any(member.name == "calendar" for member in list_members(encoding)):
        with pytest.raises(InputError, match=r"no row|out of range|outside the grid"):
            encoding.table([last + 1])
    if encoding.rows is not None:
        assert encoding.table(encoding.rows).shape == (encoding.rows, encoding.d)
        with pytest.raises(InputError, match=r"no row|outside the grid"):
            encoding.table(encoding.rows + 1)


@every(HasTable)
def test_a_table_that_cannot_be_held_is_refused_before_anything_is(encoding):
    for count in (MAX_HELD_ENTRIES // encoding.d + 1, 10**13):
        with pytest.raises(InputError, match="too large to hold"):
            encoding.table(count)


# ----------------------------------------------------------------------------------- real positions


@every(HasContinuousTable, HasTable)
def test_real_positions_go_through_the_integers(encoding):
    s = choose_positions(encoding, np.array([0, 1, 2, 5, 31, 100]))
    table = encoding.table(s)
    found = encoding.table_at(s.astype(float))
    assert found.shape == table.shape
    assert found.dtype == np.float64
    if isinstance(encoding, (Pairs, Rope, Mtan)):
        assert_array_equal(found, table)
    else:
        assert_allclose(found, table, rtol=1e-13, atol=2e-12 * np.abs(table).max())


@pytest.mark.parametrize(
    "encoding",
    [
        Sinusoidal(d=6),
        find_encoding("tensor2tensor")(d=6),
        Rope(d=6),
        Mtan(d=6),
        find_encoding("fourier-features")(width=6),
    ],
    ids=lambda e: e.name,
)
def test_real_positions_are_taken_as_exact(encoding):
    """Against sines with 60 digits, however far out the position lies."""
    times = np.array([0.37, -1e6 / 3, 1e11 / 7, 2.0**52 + 0.5])
    found = encoding.table_at(times)
    with mpmath.workdps(60):
        frequencies = [mpmath.fsum(map(mpmath.mpf, words)) for words in encoding.words().T.tolist()]
        angles = [[frequency * mpmath.mpf(t) for frequency in frequencies] for t in times.tolist()]
        exact = [[float(f(angle)) for angle in row for f in (mpmath.sin, mpmath.cos)] for row in angles]
    assert_allclose(np.sort(np.abs(found)), getattr(encoding, "amplitude", 1.0) * np.sort(np.abs(exact)), rtol=4e-16)


@every(HasContinuousTable)
def test_real_positions_may_be_any_finite_numbers(encoding):
    times = np.array([-3.25, 0.5, 1.75, 1e6])
    table = encoding.table_at(times)
    assert table.shape == (4, encoding.d)
    assert np.isfinite(table).all()
    assert_array_equal(table, encoding.table_at(list(times)))
    near = encoding.table_at(np.array([0.5, 0.5 + 1e-9]))
    assert np.abs(near[1] - near[0]).max() < 1e-6 * max(1.0, np.abs(near).max())
    for bad in ([math.nan], [math.inf], [1e17], [[0.5]]):
        with pytest.raises(InputError):
            encoding.table_at(np.array(bad))


# ----------------------------------------------------------------------------------- kernels


def add_still(encoding):
    """What the channels of a rope that are not turned add to each dot product."""
    return (encoding.d - encoding.rotary_width) / 2 if has_still_channels(encoding) else 0.0


@every(HasKernel)
def test_kernel_is_symmetric(encoding):
    lags = np.arange(40)
    kernel = encoding.kernel(lags)
    assert kernel.shape == (encoding.heads, 40)
    assert kernel.dtype == np.float64
    assert np.isfinite(kernel).all()
    assert_array_equal(kernel, encoding.kernel(-lags))
    assert_array_equal(kernel, encoding.kernel(lags))
    assert np.all(np.abs(kernel) <= kernel[0, 0])


@every(HasKernel)
def test_kernel_refuses_what_is_no_lag(encoding):
    for lags in ([1.5], [2**53 + 1], [-(2**53) - 1], [[1, 2]], ["a"]):
        with pytest.raises(InputError):
            encoding.kernel(lags)
    assert np.isfinite(encoding.kernel([2**53, -(2**53)])).all()


@every(HasKernel, HasTable)
def test_kernel_at_zero_is_the_squared_norm_of_a_row(encoding):
    squared = np.sum(encoding.table(choose_positions(encoding, np.arange(64))) ** 2, axis=1)
    zero = encoding.kernel([0])[0, 0]
    if has_lone_sine(encoding):
        # the lone sine of odd d counts one half, its mean over all positions
        assert np.all(np.abs(squared - zero) <= (0.5 + 1e-12) * encoding.amplitude**2)
    else:
        assert_allclose(squared, zero, rtol=1e-14)


@every(HasKernel, HasTable, where=lambda e: not is_decaying(e))
def test_kernel_is_the_dot_product_of_two_rows(encoding):
    s = choose_positions(encoding, np.arange(24))
    table = encoding.table(s)
    expected = encoding.kernel(np.subtract.outer(s, s).ravel())[0].reshape(len(s), len(s))
    if has_lone_sine(encoding):
        frequencies = encoding.frequencies()
        angles = frequencies.values[-1] * np.add.outer(s, s) + 2 * frequencies.phases[-1]
        expected = expected + 0.5 * encoding.amplitude**2 * np.cos(angles)
    assert_allclose(table @ table.T, expected, rtol=0, atol=1e-14 * max(1, expected.max()) * encoding.d)


@every(HasKernel, HasTable, where=lambda e: not is_decaying(e))
def test_kernel_is_what_the_mean_over_many_pairs_tends_to(encoding):
    """Exactly where dot products are a function of the lag; a lone sine is left with what does not cancel."""
    s = choose_positions(encoding, np.arange(400))
    found = compute_gram_kernel(encoding.table(s), min(40, len(s)))
    expected = encoding.kernel(np.arange(len(found)))[0]
    bound = 2e-13 * expected[0]
    if has_lone_sine(encoding):
        # |mean of cos(w (2 s + tau))| over n positions is at most 1/(n |sin w|), and at most 1
        bound += 0.5 * encoding.amplitude**2 * min(1.0, 1 / (360 * abs(math.sin(encoding.frequencies().values[-1]))))
    assert_allclose(found, expected, rtol=0, atol=bound)


@every(HasKernel, HasFrequencies, where=lambda e: not is_decaying(e))
def test_kernel_is_the_sum_over_its_frequencies(encoding):
    lags = np.arange(50)
    frequencies = encoding.frequencies()
    expected = np.cos(np.outer(lags, frequencies.values)) @ frequencies.masses * frequencies.amplitude**2
    largest = encoding.kernel([0])[0, 0]
    assert_allclose(encoding.kernel(lags)[0], expected + add_still(encoding), rtol=0, atol=1e-12 * largest)


@every(HasKernel, HasFrequencies, where=is_decaying)
def test_a_decaying_kernel_is_below_that_of_its_frequencies(encoding):
    frequencies = encoding.frequencies()
    kernel = encoding.kernel(np.arange(2000))[0]
    without = np.cos(np.outer(np.arange(2000), frequencies.values)) @ frequencies.masses + add_still(encoding)
    assert_allclose(kernel[0], without[0], rtol=1e-15)
    far, undamped = (np.abs(values[1500:] - add_still(encoding)).max() for values in (kernel, without))
    assert far < 0.7 * undamped  # zeta is at most 0.83 for these, and 1500 lags are nearly three of its 512


@every(HasKernel, HasFrequencies, where=lambda e: not (is_decaying(e) or has_still_channels(e)))
@pytest.mark.parametrize("bandwidth", [1.0, 4.0, 16.0])
def test_eq_15_with_reflection_is_the_spectrum_of_the_kernel(encoding, bandwidth):
    """Two roads: a Gaussian around each frequency, or a Gaussian over the lags of the kernel."""
    for grid in (24, 33):
        assert not (isinstance(encoding, HasLatticeMasses) and encoding.default_grid == grid) or encoding.d == 33
        if isinstance(encoding, HasLatticeMasses) and encoding.default_grid == grid:
            continue  # on its own lattice it shows its masses, and no kernel enters
        density = compute_density_spectrum(encoding, grid=grid, bandwidth=bandwidth, boundary="reflect")
        window = compute_lag_window_spectrum(encoding, grid=grid, bandwidth=bandwidth)
        assert (density.estimator, window.estimator) == ("kde", "lag-window")
        assert_allclose(window.weights, density.weights, rtol=0, atol=1e-12 * density.weights.max())


# ----------------------------------------------------------------------------------- frequencies


@every(HasFrequencies)
def test_frequencies_are_read_only_arrays_of_one_length(encoding):
    frequencies = encoding.frequencies()
    for name in ("values", "low", "masses", "phases"):
        array = getattr(frequencies, name)
        assert array.shape == frequencies.values.shape
        assert array.dtype == np.float64
        assert np.isfinite(array).all()
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert frequencies.amplitude > 0
    assert np.all(frequencies.values >= 0)
    assert np.all(np.abs(frequencies.low) <= np.spacing(frequencies.values))
    assert set(frequencies.masses) <= {0.5, 1.0}
    again = type(encoding)(**encoding.given).frequencies()
    assert_array_equal(frequencies.values, again.values)
    assert_array_equal(frequencies.low, again.low)


@every(HasFrequencies, HasTable)
def test_masses_count_columns(encoding):
    """A mass of one is a pair of columns.

    Columns that are 0 as published count for nothing: the ends of dfstrans, the last of odd tensor2tensor. Nor do
    the channels of a rope that are not turned.
    """
    zero = 0
    if encoding.name in ("dfstrans", "tensor2tensor"):
        zero = int(np.sum(~encoding.table(7).any(axis=0)))
    assert 2 * encoding.frequencies().masses.sum() + zero + 2 * add_still(encoding) == encoding.d


@every(HasFrequencies)
def test_turns_are_the_frequencies(encoding):
    frequencies = encoding.frequencies()
    turns = [encoding.turns(index) for index in range(len(frequencies.values))]
    assert_allclose([float(turn) * 2 * math.pi for turn in turns], frequencies.values, rtol=1e-15)


@every(HasLadder)
def test_a_ladder_is_geometric(encoding):
    ladder, values = encoding.ladder, encoding.frequencies().values
    assert_allclose(values, ladder.base ** (-np.arange(0, 2 * len(values), 2) / ladder.width), rtol=1e-13)
    high, low, last = encoding.words()
    assert_array_equal(high, values)
    assert np.all(np.abs(last) <= np.spacing(np.abs(low)))


@every(HasLatticeMasses)
def test_masses_on_the_lattice_are_those_of_the_frequencies(encoding):
    masses = encoding.lattice_masses()
    assert masses.shape == (encoding.default_grid // 2 + 1,)
    found = np.zeros_like(masses)
    for index, mass in enumerate(encoding.frequencies().masses):
        place = encoding.turns(index) * encoding.default_grid
        assert place == Fraction(int(place))
        found[int(place)] += 2 * mass
    assert_array_equal(found, masses)


# ----------------------------------------------------------------------------------- lags


@every(where=is_of_lags)
def test_every_encoding_of_lags_has_one_view(encoding):
    views = [isinstance(encoding, view) for view in (HasBias, HasBiasMap, HasLagTable)]
    assert sum(views) == 1
    assert not isinstance(encoding, HasTable)
    assert isinstance(encoding.causal, bool)


@every(where=lambda e: not is_of_lags(e))
def test_every_encoding_of_positions_has_a_table(encoding):
    assert isinstance(encoding, HasTable)
    assert not isinstance(encoding, HasBias | HasBiasMap | HasLagTable)
    assert encoding.heads == 1


@every(HasBias)
def test_bias_has_shape_type_and_finite_numbers(encoding):
    lags = choose_lags(encoding)
    for some in (lags, lags[:1], []):
        bias = encoding.bias(some)
        assert bias.shape == (encoding.heads, len(some))
        assert bias.dtype == np.float64
        assert np.isfinite(bias).all()
    first = encoding.bias(lags)
    assert_array_equal(first, type(encoding)(**encoding.given).bias(list(lags)))
    assert_array_equal(encoding.bias(lags[::-1]), first[:, ::-1])
    assert_array_equal(np.hstack([encoding.bias([lag]) for lag in lags]), first)
    kept = first.copy()
    first += 1
    assert_array_equal(encoding.bias(lags), kept)


@every(HasLagTable)
def test_lag_table_has_shape_type_and_finite_numbers(encoding):
    lags = choose_lags(encoding)
    for some in (lags, lags[:1], []):
        table = encoding.lag_table(some)
        assert table.shape == (len(some), encoding.d)
        assert table.dtype == np.float64
        assert np.isfinite(table).all()
    first = encoding.lag_table(lags)
    assert_array_equal(first, type(encoding)(**encoding.given).lag_table(list(lags)))
    assert_array_equal(np.vstack([encoding.lag_table([lag]) for lag in lags]), first)
    kept = first.copy()
    first += 1
    assert_array_equal(encoding.lag_table(lags), kept)


def list_lag_views(encoding):
    """What takes lags."""
    found = [getattr(encoding, name) for name in ("bias", "lag_table") if hasattr(encoding, name)]
    return found + ([encoding.exact_key] if isinstance(encoding, HasExactKey) else [])


@every(where=lambda e: isinstance(e, HasBias | HasLagTable))
def test_what_is_no_lag_is_refused(encoding):
    far = MAX_POSITION if encoding.rows is None else encoding.rows - 1
    for view in list_lag_views(encoding):
        for lags in (*NO_INTEGERS, "a", 1.5):
            with pytest.raises(InputError):
                view(lags)
        assert np.isfinite(view([far])).all()
        with pytest.raises(InputError, match=r"beyond the table|out of range"):
            view([far + 1])
        if encoding.causal:
            with pytest.raises(InputError, match="a lag is negative"):
                view([0, -1])
        else:
            assert np.isfinite(view([-far])).all()
            with pytest.raises(InputError, match=r"beyond the table|out of range"):
                view([-far - 1])


@every(HasBias, where=lambda e: e.name == "alibi" and not e.causal)
def test_a_bias_in_both_directions_alike_is_symmetric(encoding):
    assert_array_equal(encoding.bias(LAGS), encoding.bias(-LAGS))


@every(HasBias, where=lambda e: e.name in ("alibi", "kerple", "sandwich"))
def test_a_penalty_is_none_at_lag_0_and_never_a_reward(encoding):
    bias = encoding.bias(np.arange(300))
    assert_array_equal(bias[:, 0], np.zeros(encoding.heads))
    assert np.all(bias[:, 1:] < 0)
    if encoding.name != "sandwich":  # a sum of cosines comes back
        assert np.all(np.diff(bias) < 0)


@every(where=lambda e: has_parameter("head_count")(e) and e.head is None)
def test_a_head_is_its_row_of_all_heads(encoding):
    whole = show(encoding) if isinstance(encoding, HasBiasMap) else show(encoding).T
    assert len(whole) == encoding.heads == encoding.head_count
    for head in range(encoding.heads):
        one = type(encoding)(**{**encoding.given, "head": head})
        found = show(one) if isinstance(one, HasBiasMap) else show(one).T
        assert one.heads == len(found) == 1
        assert_allclose(found[0], whole[head], rtol=1e-14, atol=1e-15 * np.abs(whole).max())
    with pytest.raises(InputError, match=f"^{encoding.name}: head is out of range"):
        type(encoding)(**{**encoding.given, "head": encoding.heads})


@every_class
def test_an_answer_that_cannot_be_held_is_refused(cls):
    if not hasattr(cls, "bias") or cls.name == "erpe":  # whose lags end with its table
        return
    encoding = cls(head_count=1024)
    with pytest.raises(InputError, match="too large to hold"):
        encoding.bias(np.zeros(MAX_HELD_ENTRIES // 1024 + 1, dtype=int))


# ----------------------------------------------------------------------------------- maps


@every(HasBiasMap)
def test_maps_have_shape_type_and_finite_numbers(encoding):
    for size in {1, min(7, encoding.rows or 7), min(40, encoding.rows or 40)}:
        found = encoding.bias_map(size)
        assert found.shape == (encoding.heads, size, size)
        assert found.dtype == np.float64
        assert np.isfinite(found).all()
        assert_array_equal(found, type(encoding)(**encoding.given).bias_map(size))
        if encoding.causal:
            assert not np.triu(found, 1).any()


@every(HasBiasMap)
def test_a_map_is_the_corner_of_a_larger_one(encoding):
    size = min(30, encoding.rows or 30)
    whole = encoding.bias_map(size)
    for part in {1, 1 + size // 2}:
        assert_allclose(encoding.bias_map(part), whole[:, :part, :part], rtol=1e-13, atol=1e-15 * np.abs(whole).max())


@every(HasBiasMap)
def test_what_is_no_length_of_a_map_is_refused(encoding):
    beyond = (encoding.rows or MAX_WIDTH) + 1
    for length in (0, -1, 1.5, "a", True, None, beyond, 2**60):
        with pytest.raises(InputError, match=f"^{encoding.name}: length "):
            encoding.bias_map(length)


@every(HasBiasMap, where=lambda e: e.name == "fire")
def test_fire_is_a_function_of_the_lag_up_to_its_threshold(encoding):
    whole = encoding.bias_map(30)
    for i in range(min(30, math.floor(encoding.threshold) + 1)):
        for j in range(i + 1):
            same = np.diagonal(whole, j - i, axis1=1, axis2=2)[:, 0]  # the first pair at this lag
            assert_allclose(whole[:, i, j], same, rtol=1e-13, atol=1e-15)
    if encoding.threshold < 10:
        assert np.ptp(np.diagonal(whole, -1, axis1=1, axis2=2), axis=1).min() > 1e-9


@every(HasBiasMap, where=lambda e: e.name == "tupe" and e.relative == "yes" and e.length > 1)
def test_tupe_without_its_scores_is_a_function_of_the_lag(encoding):
    """Beside row and column 0, which stand for CLS and have one number each."""
    size = min(30, encoding.length)
    scores = type(encoding)(**{**encoding.given, "relative": "no"}).bias_map(size)
    added = encoding.bias_map(size) - scores
    for lag in range(2 - size, size - 1):
        assert np.ptp(np.diagonal(added[:, 1:, 1:], -lag, axis1=1, axis2=2), axis=1).max() < 1e-14
    assert np.ptp(encoding.bias_map(size)[:, 1:, 0], axis=1).max() == 0
    assert np.ptp(encoding.bias_map(size)[:, 0, :], axis=1).max() == 0


@every(HasBiasMap, where=lambda e: e.name == "swin")
def test_swin_is_a_function_of_the_offset_on_its_grid(encoding):
    height, width = encoding.shape
    places = encoding.bias_map(encoding.rows).reshape(-1, height, width, height, width)
    assert_array_equal(places[:, 1:, :, 1:, :], places[:, :-1, :, :-1, :])
    assert_array_equal(places[:, :, 1:, :, 1:], places[:, :, :-1, :, :-1])


# ----------------------------------------------------------------------------------- exact keys


def compare_rows(table):
    """Which rows are equal: the rest differ by far more than the rounding of the largest entry."""
    distances = np.abs(table[:, None, :] - table[None, :, :]).max(axis=2)
    largest = np.abs(table).max(initial=0.0)
    equal = distances <= 2e-14 * largest
    assert np.all(equal | (distances > 1e-10 * largest)), "these rows tell nothing"
    return equal


def has_theorem(encoding):
    """Some parameters leave no theorem; then the key is void."""
    return isinstance(encoding, HasExactKey) and encoding.theorem is not None


@every(HasExactKey, HasTable, where=has_theorem)
def test_equal_keys_are_equal_rows(encoding):
    for length in (1, 2, 3, encoding.d, 2 * encoding.d + 3, 60):
        s = choose_positions(encoding, np.arange(min(length, 60)))
        keys = encoding.exact_key(s)
        assert keys.shape == s.shape
        assert keys.dtype == np.int64
        assert_array_equal(np.equal.outer(keys, keys), compare_rows(encoding.table(s)))


@every(HasExactKey, where=lambda e: is_of_lags(e) and has_theorem(e))
def test_equal_keys_of_lags_are_equal_codes(encoding):
    lags = choose_lags(encoding, np.arange(40))
    keys = encoding.exact_key(lags)
    assert keys.shape == lags.shape
    assert keys.dtype == np.int64
    assert_array_equal(np.equal.outer(keys, keys), compare_rows(list_codes(encoding, lags)))


@every(HasExactKey, where=has_theorem)
def test_keys_do_not_change_what_they_are_given(encoding):
    places = choose_lags(encoding) if is_of_lags(encoding) else choose_positions(encoding)
    kept = places.copy()
    encoding.exact_key(places)
    assert_array_equal(places, kept)


@every(HasExactKey, where=has_theorem)
def test_the_theorem_has_a_name_and_a_sentence(encoding):
    assert encoding.theorem.kind.replace("-", "").isalnum()
    assert len(encoding.theorem.text) > 20
    assert "\n" not in encoding.theorem.text
