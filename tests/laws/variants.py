"""The variants over which laws are asked: each class of the catalogue with each of its parameters, and with several.

Each law runs over every variant that has the view it is about. What is excepted is said by a function
of the encoding with a name, `has_...` or `is_...`, and each of these says why.
"""

import functools

import numpy as np
import pytest

from pe_spectra.encodings import (
    ENCODINGS,
    Dft,
    GivenArray,
    HasBiasMap,
    HasLagTable,
    HasTable,
    Sinusoidal,
    find_encoding,
)
from pe_spectra.encodings.learned import Learned
from pe_spectra.limits import MAX_POSITION
from pe_spectra.numbers import Choice, IntegerRange
from tests.in_one import hold_each

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


FEW = {"of": (Sinusoidal(d=6), Learned(init="normal", d=6, length=50))}
MINUTES = ("minute", "hour", "weekday")
#: What makes an encoding small, so that it can be looked at many times; by keyword. Others have their defaults.
SMALL = {
    "sinusoidal": {"d": 10},
    "tensor2tensor": {"d": 10},
    "tape": {"d": 10},
    "learnable-sinusoid": {"d": 10},
    "fourier-features": {"d": 10},
    "pixel-bands": {"d": 10},
    "mtan": {"d": 10},
    "learned": {"init": "normal", "d": 6, "length": 40},
    "hybrid": FEW,
    "periods": {"steps": (12.0, 4.0), "harmonics": 2},
    "time2vec": {"d": 8},
    "mtan-learned": {"d": 8},
    "rnn": {"d": 5, "length": 40},
    "sincos2d": {"d": 8, "height": 3, "width": 5},
    "detr-sine": {"d": 8, "height": 3, "width": 5},
    "rope": {"d": 8},
    "rope-axial": {"d": 8, "height": 3, "width": 4},
    "fope": {"d": 16, "length": 64},
    "grape": {"d": 8},
    "pope": {"d": 8},
    "sandwich": {"heads": 4, "d": 16},
    "t5": {"heads": 3},
    "shaw": {"clip": 4, "d": 3},
    "transformer-xl": {"d": 8},
    "deberta": {"buckets": 8, "max_distance": 64, "d": 3},
    "erpe": {"length": 40, "heads": 3},
    "fire": {"heads": 3},
    "tupe": {"heads": 2, "width": 4, "length": 40},
    "swin": {"window": 3, "heads": 2},
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
#: name -> keyword -> values for the laws, beside the default. Every parameter has a line,
#: or its class has none, and `propose` says what is tried.
VALUES = {
    "sinusoidal": {"d": (*ANY, 256), "rho": RHO, "layout": ("concatenated",), "offset": (1, 37), "scale": (0.125, 3.0)},
    "tensor2tensor": {
        "d": ANY,
        "min_timescale": (0.5, 7.0),
        "max_timescale": (50.0, 1e9),
        "layout": ("cosines-first",),
        "offset": (2,),
    },
    "tape": {"d": EVEN, "rho": RHO, "length": (5, 4096)},
    "learnable-sinusoid": {"values": (give([1.0, -0.25, 2.5]),), "d": EVEN, "start": ("decades",), "rho": RHO},
    "dft": {"d": (*ANY, 256)},
    "dfstrans": {"d": EVEN},
    "ramp": {"d": (2, 7), "length": (2, 5, 300), "denominator": ("n",)},
    "one-hot": {"d": (2, 3, 33)},
    "fourier-features": {
        "values": (give([0.5, -2.0, 0.1]), give([[0.0], [0.0]])),
        "d": EVEN,
        "gamma": (0.5, 100.0),
        "seed": (1, 2**32 - 1),
        "coordinate": ("unit", "symmetric"),
        "length": (2, 300),
    },
    "pixel-bands": {"d": EVEN, "bands": ("octave",), "max_freq": (2.0, 7.0, 224.0), "length": (2, 33)},
    "learned": {
        "values": (number_entries(5, 3), give([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [-0.0, 0.0]])),
        "init": (),
        "d": (1, 7),
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
    "time2vec": {"values": (give([[0.0, 0.5, -2.0], [1.0, 0.0, 0.25]]),), "d": (2, 7), "seed": (1,)},
    "mtan-learned": {
        "values": (give([[0.5, 2.0], [1.0, -0.25]]),),
        "d": (2, 7),
        "unit": (1.0, 1000.0),
        "seed": (1,),
    },
    "mtan": {"d": EVEN, "unit": (1.0, 1000.0)},
    "calendar": {
        "fields": (("hour",), ("weekday", "hour"), ("month", "dayofyear", "minute"), ("weekday", "time")),
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
    "periods": {
        "steps": ((4.0,), (48.0, 336.0), ("day", 5.5), (2.0, 3.0)),
        "harmonics": (1, 3),
        "step": ("1min", "1d"),
    },
    "tree": {"branching": (1, 3, 40), "depth": (1, 2, 60), "decay": (0.5, 0.75)},
    "rnn": {
        "values": (give([[0.5, -0.25, 1.0], [0.125, 0.75, -0.5]]),),
        "d": (1, 9),
        "length": (1, 90),
        "seed": (1,),
    },
    "detr-sine": {
        "d": FOURS,
        "height": (1, 7),
        "width": (1, 9),
        "rho": RHO,
        "normalise": ("no",),
        "centred": ("yes",),
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
    "grape": {"values": (give([1.0, -0.25, 2.5]),), "d": EVEN, "base": (1.0, 5e5)},
    "pope": {"values": (give([0.5, 0.125]),), "d": EVEN, "base": (1.0, 5e5)},
    "alibi": {"heads": (1, 3, 12), "head": (0, 5), "direction": ("no",)},
    "kerple": {
        "kind": ("power",),
        "heads": (1, 3),
        "head": (0, 2),
        "r1": ((1.5, 0.25),),
        "r2": ((0.5, 2.0),),
        "seed": (1,),
    },
    "sandwich": {"heads": (1, 3), "head": (0, 2), "d": EVEN, "first": (0,), "ratio": ("multiply",)},
    "t5": {
        "buckets": (4, 9, 64),
        "max_distance": (20, 300),
        "bidirectional": ("no",),
        "heads": (1, 12),
        "head": (0, 2),
        "values": (number_entries(32, 2), give(np.zeros((8, 2)))),
        "seed": (1,),
    },
    "shaw": {
        "clip": (1, 30),
        "d": (1, 8),
        "side": ("value",),
        "values": (number_entries(5, 2), give(np.ones((3, 2)))),
        "seed": (1,),
    },
    "erpe": {
        "length": (1, 9),
        "heads": (1, 12),
        "head": (0, 2),
        "values": (number_entries(41, 2), give(np.ones((3, 1)))),
        "seed": (1,),
    },
    "fire": {"heads": (1, 12), "head": (0, 2), "c": (0.01, 10.0), "threshold": (1.0, 5.5), "seed": (1,)},
    "tupe": {
        "heads": (1, 3),
        "head": (0, 1),
        "width": (1, 9),
        "length": (1, 60),
        "relative": ("no",),
        "seed": (1,),
    },
    "transformer-xl": {"d": EVEN, "rho": RHO, "layout": ("interleaved",)},
    "deberta": {
        "buckets": (8, 10, 32),
        "max_distance": (32, 512),
        "d": (1, 5),
        "values": (number_entries(16, 2),),
        "seed": (1,),
    },
    "swin": {
        "window": (1, 5),
        "mode": ("cpb",),
        "heads": (1, 4),
        "head": (0, 1),
        "trained": (2, 8),
        "values": (number_entries(25, 2),),
        "seed": (1,),
    },
}


def propose(parameter):
    """Values to try of a parameter of which VALUES says none: the smallest numbers that it accepts, every word."""
    accepts = parameter.accepts
    values = ()
    if isinstance(accepts, IntegerRange):
        values = range(accepts.minimum, min(accepts.minimum + 3, accepts.maximum + 1))
    elif isinstance(accepts, Choice):
        values = accepts.members
    return tuple(value for value in values if value != parameter.default)


for _cls in ENCODINGS:
    VALUES.setdefault(_cls.name, {parameter.keyword: propose(parameter) for parameter in _cls.accepts})
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
    ("sandwich", "head"): {"heads": 4},
    ("swin", "trained"): {"mode": "cpb"},
    ("deberta", "buckets"): {"max_distance": 4096},
    ("t5", "buckets"): {"max_distance": 4096},
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
    "tensor2tensor": [{"d": 7, "max_timescale": 100.0, "layout": "cosines-first", "offset": 1}],
    "fourier-features": [{"values": give([1.0, -3.0]), "coordinate": "symmetric", "length": 9}],
    "pixel-bands": [
        {"d": 6, "bands": "octave", "max_freq": 8.0, "length": 12},
        {"d": 6, "bands": "octave", "max_freq": 7.0, "length": 12},
        {"d": 4, "max_freq": 8.0, "length": 12},
    ],
    "learned": [
        {"init": "normal", "d": 3, "length": 40, "first": 2, "last": 34, "prefix": 2, "grid": "5x6", "seed": 7},
        {"values": number_entries(9, 2), "first": 1, "last": 8, "prefix": 1, "grid": "2x3"},
    ],
    "hybrid": [
        {**FEW, "mode": "concat", "weights": (1.0, 0.25)},
        {**FEW, "mode": "mix", "width": 3, "seed": 5, "weights": (1.0, -1.0)},
        {"of": (Sinusoidal(d=4), Dft(d=3)), "mode": "mix", "width": 3},
        {"of": (find_encoding("hybrid")(**FEW), Sinusoidal(d=6)), "weights": (0.5, 2.0)},
        {"of": (find_encoding("calendar")(fields=("hour", "weekday")), Sinusoidal(d=4))},
    ],
    "mtan-learned": [{"d": 5, "unit": 24.0, "seed": 3}],
    "calendar": [
        {"kind": "fixed", "mode": "sum", "width": 6, "fields": ("month", "day", "weekday", "hour")},
        {"kind": "fixed", "mode": "sum", "width": 6, "timestamp": "yes"},
        {"kind": "learned", "mode": "sum", "width": 3, "seed": 2},
        {"mode": "sum", "timestamp": "yes", "fields": MINUTES, "minute_slot": 7, "step": "1min"},
        {"kind": "learned", "width": 3, "timestamp": "yes", "timestamp_d": 4},
    ],
    "periods": [{"steps": (7.0, "90min"), "harmonics": 2, "step": "30min"}],
    "tree": [{"branching": 3, "depth": 3, "decay": 0.5}],
    "detr-sine": [
        {"d": 8, "height": 2, "width": 7, "rho": 20.0, "normalise": "no"},
        {"d": 8, "height": 2, "width": 7, "centred": "yes"},
    ],
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
    "alibi": [{"heads": 12, "head": 11, "direction": "no"}],
    "kerple": [
        {"r1": (1.5, 0.25), "r2": (0.5, 2.0)},
        {"kind": "power", "r1": (1.0, 2.0, 3.0), "r2": (0.5, 1.0, 2.0), "head": 2},
    ],
    "sandwich": [{"heads": 3, "d": 8, "first": 0, "ratio": "multiply", "head": 1}],
    "t5": [{"values": number_entries(16, 3), "bidirectional": "no", "max_distance": 40, "head": 1}],
    "erpe": [{"values": number_entries(9, 4), "head": 3}],
    "fire": [{"heads": 4, "head": 3, "threshold": 9.0, "c": 1.0}],
    "swin": [{"window": 4, "mode": "cpb", "trained": 7, "heads": 3, "head": 2}],
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


ALL = tuple(dict.fromkeys(cls(**given) for cls in ENCODINGS for given in list_given(cls)))
every_class = pytest.mark.parametrize("cls", ENCODINGS, ids=lambda cls: cls.name)


def every(*views, where=lambda _: True):
    """Run a law over all variants that have all of these views: a test for each class, which names those that fail."""
    chosen = {}
    for one in ALL:
        if all(isinstance(one, view) for view in views) and where(one):
            chosen.setdefault(one.name, []).append(one)
    assert chosen

    def over_classes(law):
        @functools.wraps(law)
        def hold(encoding, **others):
            if isinstance(encoding, tuple):
                hold_for_all(law, encoding, **others)
            else:
                law(encoding, **others)

        return pytest.mark.parametrize("encoding", [tuple(found) for found in chosen.values()], ids=chosen)(hold)

    return over_classes


def hold_for_all(law, variants, **others):
    """Run a law over each variant, whatever becomes of the ones before; say of each that fails what it said."""
    hold_each(
        lambda variant: law(variant, **others), [(variant.spec or variant.label, (variant,)) for variant in variants]
    )


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
    return isinstance(encoding, Sinusoidal) and encoding.d % 2 == 1


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


# ----------------------------------------------------------------------------------- what parameters accept


#: Bounds that others narrow whatever is given: rows of a table that would not fit into memory, 64 heads at most.
NARROWED = {("learned", "first"), ("learned", "last"), ("learned", "prefix"), ("tupe", "head")}


# ----------------------------------------------------------------------------------- tables


NO_INTEGERS = ([1.5], [2**53 + 1], [[1, 2]], ["a"], [None], [True])


# ----------------------------------------------------------------------------------- exact keys


def has_theorem(encoding):
    """Some parameters leave no theorem; then the key is void."""
    return encoding.theorem is not None
