"""The frozen cases of tests/reference/packages, and how far ours may be from them.

The packages were run once by generate.py of that folder; its files name them and their versions.
They compute in float32, whose rounding unit is u = 2**-24: a frequency goes through a power, a few
products and a ramp (a few u), and an angle p w is rounded once more, so that a sine is off by up to
about p w u however well it is evaluated. Ours are float64 and right to its last places, so the
tolerances below are those of float32 and the differences are the packages'.
"""

import json
import re
from functools import cache

import numpy as np
import pytest

from tests.places import REFERENCE

FOLDER = REFERENCE / "packages"
#: Rounding unit of float32.
U = 2.0**-24
#: Relative tolerance of a frequency: the frozen ones are off by at most 7 u (YaRN's ramp without truncation).
FREQUENCY = 16 * U
#: ALiBi's slopes are powers of a rounded base, up to its 32nd.
SLOPE = 64 * U
#: Every frozen case that some test compares.
COMPARED: set[int] = set()
#: Values that packages leave in Python's own floats.
PYTHON = 1e-14


@cache
def read(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def cases(name, *words, **arguments):
    """One pytest parameter for each case of a file whose function has all the words, and the arguments."""
    found = [
        case
        for case in read(name)["cases"]
        if all(word in case["function"] for word in words)
        and all(case["arguments"].get(key) == value for key, value in arguments.items())
    ]
    assert found, (name, words, arguments)
    COMPARED.update(map(id, found))
    return pytest.mark.parametrize("case", [pytest.param(case, id=label(case)) for case in found])


def label(case):
    text = json.dumps(case["arguments"])
    return re.sub(r"[^\w.=+-]+", "-", f"{case['function'].rpartition('.')[2]} {text}").strip("-")[:110]


def assert_rows(ours, case, positions):
    """Codes at the positions, of frequencies up to 1 rad."""
    assert_close(ours, np.array(case["values"], dtype=float), np.abs(positions)[:, None])


def assert_close(ours, theirs, angles):
    """Sines and cosines off by at most the rounding of their angles, which are up to `angles`, and their own."""
    assert ours.shape == theirs.shape
    excess = np.abs(ours - theirs) - U * (2 + angles)
    assert excess.max() <= 0, np.unravel_index(excess.argmax(), excess.shape)


# ----------------------------------------------------------------------------------- the files


FILES = sorted(FOLDER.glob("*.json"))
