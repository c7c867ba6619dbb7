"""Holds the sentences of an answer against its results, and draws encodings whose corners sentences may not know.

Laws are a table, a pattern of the text -> whether what it says is so, asked with the groups of the pattern. Each text
must be one that a law knows: a sentence that nobody has written a law for fails, too.
"""

import re

import numpy as np

from pe_spectra import read_encoding
from pe_spectra.encodings import HasTable
from tests.making import draw_table, give_table

#: A number as sentences write it.
NUMBER = r"-?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"


def read_number(text):
    return float(text.replace(",", ""))


def is_rounded(text, value, digits=3):
    """Whether a number of the text is this value, to as many digits at least."""
    found = read_number(text)
    return abs(found - value) <= 0.5000001 * 10.0 ** (1 - digits) * abs(value) + 1e-300


def hold(laws, texts, *context):
    """Ask of each text the one law that knows it."""
    for text in filter(None, texts):
        known = [(law, match) for pattern, law in laws.items() if (match := re.fullmatch(pattern, text))]
        assert len(known) == 1, f"{len(known)} laws know: {text}"
        law, match = known[0]
        assert law(*context, *match.groups()), text


def list_texts(answer, *, without=()):
    """Every sentence of an answer: verdict, facts and details with their labels, notes; but those of the encoding."""
    facts = [f"{label}: {text}" for label, text in (*answer.facts, *answer.details)]
    return [answer.verdict.text, *facts, *(note for note in answer.notes if note not in without)]


# ----------------------------------------------------------------------------------- encodings


SPECS = [
    *("sinusoidal:d=2", "sinusoidal:d=3,rho=1", "sinusoidal:d=9,rho=2.5", "sinusoidal:d=16", "rope:d=4,base=1"),
    *("dft:d=2", "dft:d=5", "dft:d=8", "dfstrans:d=2", "dfstrans:d=10", "ramp:length=40", "one-hot:d=12"),
    *("alibi:heads=2", "t5:heads=2", "shaw:clip=3,d=4", "fire:heads=2", "calendar:fields=hour+weekday", "tree:depth=4"),
    *("sincos2d:d=4,height=3,width=5", "learned:init=normal,d=3,length=30", "fourier-features:d=6", "dft:d=64"),
]


def list_tables(seed):
    """Tables of noise, equal rows, ties, tiny numbers, one row, one column, constants, zeros and a line."""
    noise = draw_table(24, 3, seed=seed)
    yield give_table(noise, "noise.npy")
    yield give_table(noise[np.arange(24) % 9], "repeats.npy")
    yield give_table(noise.round(), "ties.npy")
    yield give_table(noise[:, :1] * 1e-290, "tiny.npy")
    yield give_table(1 + 2.0**-52 * np.arange(6.0)[:, None] + 0 * noise[:6], "near.npy")
    yield give_table(noise[:1], "one.npy")
    yield give_table(np.ones((7, 2)), "constant.npy")
    yield give_table(np.zeros((5, 2)), "zero.npy")
    yield give_table(np.outer(np.arange(18.0), [1.0, 2.0]), "line.npy")


def list_encodings(seed):
    return [*map(read_encoding, SPECS), *list_tables(seed)]


def list_places(encoding, length):
    """Positions, or the lags between so many."""
    return np.arange(0 if encoding.domain == "positions" or getattr(encoding, "causal", False) else 1 - length, length)


def read_codes(encoding, places):
    """The vectors of positions or of lags; None where there are none."""
    if isinstance(encoding, HasTable):
        return encoding.table(places)
    if hasattr(encoding, "lag_table"):
        return encoding.lag_table(places)
    return None if not hasattr(encoding, "bias") else encoding.bias(places).T
