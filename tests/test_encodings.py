"""Laws that hold for every encoding of the catalogue, and one value with its source for each.

Each law runs over every variant that has the view it is about. What is excepted is said by a function
of the encoding with a name, `has_...` or `is_...`, and each of these says why.
"""

import dataclasses
import json
import math
from fractions import Fraction

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
from pe_spectra.encodings.learned import Grid, Learned
from pe_spectra.encodings.parameters import FileOfNumbers, OtherEncodings, format_value
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
#: What makes an encoding small, so that it can be looked at many times; by keyword. One without a line has its defaults.
SMALL = {
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
    "sinusoidal": {"d": ANY, "rho": RHO, "layout": ("concatenated",), "offset": (1, 37), "scale": (0.125, 3.0)},
    "tensor2tensor": {"d": ANY, "min_timescale": (0.5, 7.0), "max_timescale": (50.0, 1e9), "offset": (2,)},
    "tape": {"d": EVEN, "rho": RHO, "length": (5, 4096)},
    "learnable-sinusoid": {"values": (give([1.0, -0.25, 2.5]),), "width": EVEN, "start": ("decades",), "rho": RHO},
    "dft": {"d": ANY},
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
    "rnn": {"values": (give([[0.5, -0.25, 1.0], [0.125, 0.75, -0.5]]),), "width": (1, 9), "length": (1, 90), "seed": (1,)},
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
        {"d": 8, "scaling": "longrope", "original": 64, "served": 64, "short_factor": (1.0,) * 4, "attention_factor": 2.0},
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
        given = {**SCALINGS[given.get("scaling", "none")], **given}
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


def every(*views, where=lambda encoding: True):
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
        "tensorflow/tensor2tensor, common_attention.py, get_timing_signal_1d: timescales 1, 100, 10000, sines first, "
        "odd d padded with 0",
    ),
    "tape": (
        {"d": 4, "length": 8},
        3,
        [math.sin(1.5), math.cos(1.5), math.sin(0.015), math.cos(0.015)],
        "Navidfoumani/ConvTran, Models/AbsolutePositionalEncoding.py, class tAPE: "
        "sin((position * div_term) * (d_model / max_len))",
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
        "lucidrains/rotary-embedding-torch, freqs_for='pixel': linspace(1, 10/2, 2) pi times linspace(-1, 1, 4)[2] = 1/3",
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
        "a weighted sum by hand: 2 (sin 1, cos 1) of Vaswani et al. 2017 minus (1, -1)/sqrt 2 of Ide et al. 2024, Eq. (17)",
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
        "zhouhaoyi/Informer2020, models/embed.py, TemporalEmbedding: hour_x + weekday_x + day_x + month_x of one "
        "sinusoid; 03:00 on 1 July 2016, a Friday (4)",
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
        "Su et al. 2021, arXiv:2104.09864, Eq. (15): theta_i = 10000**(-2i/d); the cache of transformers' "
        "LlamaRotaryEmbedding: all cosines, all sines",
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
        "TsinghuaC3I/Fourier-Position-Embedding, olmo/model.py, FourierEmbedding: below 2 pi/64 left out, identity "
        "matrices, padded with 1 in both",
    ),
    "alibi": (
        {"head_count": 12},
        3,
        [-3 * 2.0**-h for h in range(1, 9)] + [-3 * 2**-e for e in (0.5, 1.5, 2.5, 3.5)],
        "ofirpress/attention_with_linear_biases, fairseq/models/transformer.py: slopes of 8 heads, then every other "
        "one of 16",
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
        "Chi et al. 2023, arXiv:2212.10356; NVIDIA/NeMo, sandwich_relative_position_embedding.py: (sum cos - d/2) / "
        "(8 h/H), i = 1 .. d/2",
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
        "Li et al. 2024, arXiv:2310.04418: MLP(ln(0.1 x 4 + 1) / ln(0.1 x 6 + 1)), weights from PCG64(0) as PyTorch "
        "starts them, unit by unit",
    ),
    "tupe": (
        {"head_count": 2, "width": 2, "length": 4},
        (3, 1),
        [0.008640191216075802, 0.013430243835613226],
        "guolinke/TUPE, fairseq/modules/transformer_sentence_encoder.py: LN(P_4) W_q . LN(P_2) W_k / sqrt(2 x 4/2) + "
        "bucket 2, weights from PCG64(0)",
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
    tried = [given for given in list_given(cls)]
    assert list(VALUES[cls.name]) == [parameter.keyword for parameter in cls.accepts]
    for parameter in cls.accepts:
        assert any(given.get(parameter.keyword, parameter.default) != parameter.default for given in tried)
        if isinstance(parameter.accepts, Choice):
            assert {given.get(parameter.keyword, parameter.default) for given in tried} == set(parameter.accepts.members)


def test_names_are_unique_and_can_be_typed():
    names = [cls.name for cls in ENCODINGS]
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalnum() and name == name.lower() for name in names)
    with pytest.raises(InputError):
        find_encoding("gauss")


# ----------------------------------------------------------------------------------- what parameters accept

#: What has to be given with a parameter for its bound to be accepted: (name, keyword) -> by keyword.
AT_BOUNDS = {}


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
        return [(value,) for value in inside], [(), *((value,) for value in beyond), "x", 5, inside[:1] * (accepts.most + 1)]
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


