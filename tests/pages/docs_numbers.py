"""What the sentences of tests/pages/docs_sentences.py are computed with, and how numbers are written on the pages."""

from __future__ import annotations

import csv
import inspect
import json
import re
from collections.abc import Callable
from functools import cache
from math import log10
from pathlib import Path

import mpmath
import numpy as np
import pytest

from pe_spectra import (
    Sinusoidal,
    compute_spectrum,
    measure_faithfulness,
    read_encoding,
    reconstruct_positions,
)
from pe_spectra.answers.injectivity import answer_faithfulness
from pe_spectra.encodings.equal_rows import hash_rows
from pe_spectra.exact import ladder_words
from pe_spectra.faithfulness import conditioning, pair_lags
from pe_spectra.inspection import KINDS
from pe_spectra.metrics import linearity
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.lengths.proposals import list_bounds_of_length
from pe_spectra.models.model_audit import ModelAudit
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.precision.dtypes import DTYPES
from pe_spectra.precision.staircase import measure_precision
from pe_spectra.spectrum import evenness
from tests.pages import test_faithfulness_page as test_docs_faithfulness

ROOT = Path(__file__).parents[2]


def write(value: object) -> str:
    """Write a number as the pages do: 4 for 4.0, 1e-12 for 1e-12; texts as they are."""
    if not isinstance(value, float):
        return str(value)
    text = repr(int(value)) if value.is_integer() and abs(value) < 1e7 else repr(value)
    return re.sub(r"e([+-])0*", lambda match: "e" + match[1].strip("+"), text.replace(".0e", "e"))


def group(number: float) -> str:
    return f"{int(number):,}"


def exponent(number: float) -> int:
    """The exponent of a power of two; that of one below 1 without its sign."""
    found = round(np.log2(number))
    assert number == 2.0**found
    return abs(found)


def lines_of_the_page() -> tuple[float, float, float]:
    """Where the page on faithfulness draws its lines."""
    page = test_docs_faithfulness
    return page.SEPARATED, page.CONDITIONED, page.RECONSTRUCTED


def reread(path: str, pattern: str) -> str:
    """What a pattern finds in a test: the one bound that it holds a quantity to."""
    found = set(re.findall(pattern, (ROOT / "tests" / path).read_text(encoding="utf-8")))
    assert len(found) == 1, (path, pattern, found)
    return found.pop()


def count_reference_digits() -> int:
    """The fewest digits that two runs needed to agree on a frozen value."""
    found = []
    for path in (ROOT / "tests" / "reference").glob("*.csv"):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        found += [int(row["digits"]) for row in csv.DictReader(lines) if row.get("digits")]
    assert len(found) > 100
    return min(found)


def find_merged(bidirectional: str) -> tuple[int, int, int]:
    """The first two lags of T5's buckets that share a row, and the first of those that share the last one."""
    keys = read_encoding(f"t5:bidirectional={bidirectional}").exact_key(np.arange(1000))
    first = int(np.flatnonzero(keys[1:] == keys[:-1])[0])
    return first, first + 1, int(np.flatnonzero(keys == keys[-1])[0])


def find_t5_defaults() -> tuple[int, int]:
    encoding = read_encoding("t5")
    return encoding.parameters["buckets"], encoding.parameters["max_distance"]


def find_wrong_peak() -> int:
    encoding = read_encoding("hybrid:of='dft:d=64'+'dft:d=64',mode=concat")
    spectrum = compute_spectrum(encoding, grid=128, length=128, bandwidth=0.25)
    return reconstruct_positions(spectrum, [0]).positions[0].peak


def measure_entry_bounds() -> tuple[int, int, int]:
    """The bound of computed entries, (a + b d) 2**-c times the largest, from two widths."""
    small, large = (read_encoding(f"learnable-sinusoid:d={d}") for d in (8, 16))
    units = [one.bound_error(np.ones((2, one.d))) / 2.0**-52 for one in (small, large)]
    slope = (units[1] - units[0]) / 8
    assert slope == 2
    return round(units[0] - 8 * slope), 52


def find_factor_of_sines() -> int:
    """The factor before sin**2(w tau/2) under the root of the separation of pairs."""
    distance = float(pair_lags.compute_distances(ladder_words(1.0, 2), np.array([3]))[0])
    return round(distance**2 / np.sin(1.5) ** 2, 9)


@cache
def audit_model(name: str) -> ModelAudit:
    path = ROOT / "tests" / "models" / f"{name}.json"
    return audit_configuration(read_configuration(json.loads(path.read_text(encoding="utf-8")), path.name))


def count_never(name: str) -> tuple[int, int]:
    layer = audit_model(name).layers[0]
    return layer.never_turn, len(layer.rotation.frequencies)


def find_widths() -> list[str]:
    found = [reconstruct_positions(compute_spectrum(Sinusoidal(), bandwidth=b), [40]) for b in BANDWIDTHS]
    return [f"{one.positions[0].fwhm:.1f}" for one in found]


def find_centroids(boundary: str) -> list[str]:
    """Centroids of three widths on one lattice, as `compare` has them where they are reflected."""
    found = [compute_spectrum(Sinusoidal(d=d), grid=336, boundary=boundary) for d in (16, 64, 256)]
    return [f"{one.summary.centroid:.3f}" for one in found]


BANDWIDTHS = (0.25, 1.0, 4.0, 16.0, 64.0)


@cache
def measure_casts(length: int = 8192) -> dict[tuple[str, str], object]:
    report = measure_precision(
        Sinusoidal(), length=length, dtypes=["bfloat16"], recipes=["bf16-positions", "fp32-then-cast"]
    )
    return {(row.recipe, row.stage): row for row in report.rows}


def bound_phases(length: int) -> float:
    """The largest error of float32 phases w s, of frequencies rounded to float32; frequencies below a few are slow."""
    w = Sinusoidal().frequencies().values[:24]
    s = np.arange(length // 2, length, dtype=np.float64)
    return max(float(np.abs((np.float32(one) * s.astype(np.float32)).astype(float) - one * s).max()) for one in w)


def find_first_lost(dtype: str) -> int:
    """The largest whole number up to which a type holds all."""
    return 2 ** DTYPES[dtype].digits


def measure_ramp() -> tuple[int, int]:
    report = measure_precision(
        read_encoding("ramp:d=1,length=8192"), length=8192, dtypes=["float16"], recipes=["fp32-then-cast"]
    )
    code = next(row for row in report.rows if row.stage == "code")
    return code.total, code.distinct


def measure_rope() -> tuple[object, ...]:
    rope = read_encoding("rope:base=500000")
    report = measure_precision(rope, length=8192, dtypes=["bfloat16"], recipes=["fp32-then-cast"])
    return write(rope.base), rope.d, report.rows[-1].constant_channels, group(report.rows[-1].total)


def fit_power(compute: Callable[[int], float]) -> tuple[float, float]:
    """a and b of a bound a T**b."""
    small, large = compute(10**4), compute(10**6)
    power = round(log10(large / small) / 2, 9)
    return round(small / 10 ** (4 * power), 9), power


def find_bound(name: str, target: int) -> float:
    return next(bound.value for bound in list_bounds_of_length(128, target) if bound.name == name)


CONDITION = f"1e{round(log10(conditioning.LARGEST_CONDITION))}"
_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def name_number(number: int) -> str:
    """A number up to 49 in words."""
    if number < len(_NAMES):
        return _NAMES[number]
    if number < 20:
        return {13: "thirteen", 15: "fifteen", 18: "eighteen"}.get(number, f"{_NAMES[number - 10]}teen")
    tens, rest = divmod(number, 10)
    return {2: "twenty", 3: "thirty", 4: "forty"}[tens] + (f"-{_NAMES[rest]}" if rest else "")


def find_keyword(function: Callable[..., object], name: str) -> object:
    default: object = inspect.signature(function).parameters[name].default
    return default


def count_even_columns() -> int:
    """The fewest columns, a power of two, of noise whose weights stay even within three standard deviations."""
    deviation = (1 - evenness.LEAST_EVEN) / (1 + evenness.LEAST_EVEN) / 3
    return int(2 ** np.ceil(-np.log2(2 * np.sqrt(np.pi) * evenness.FINEST * deviation**2)))


def count_hash_bits() -> int:
    """Bits of the hash of a row."""
    found = hash_rows(np.eye(2))[0]
    return 8 * found.dtype.itemsize


def find_share_of_shifts() -> str:
    """What a shift is at most, as a share of the length."""
    return re.search(r"shift <= length // (\d+)", inspect.getsource(linearity))[1]


def count_formula_codes() -> int:
    about = re.compile(r"(zero|constant|duplicate|repeating)-(rows|columns)")
    return sum(about.fullmatch(code) is not None for code in KINDS)


def find_share_of_bound() -> float:
    """The error bound of a distance of pairs over twice that distance; nearly a power of two, which is returned."""
    found = measure_faithfulness(Sinusoidal(), length=80)
    assert found.error_bound / found.min_separation == pytest.approx(2 * 2.0**-52, rel=0.01)
    return 2.0**-52


def print_distance(spec: str, length: int) -> str:
    answer = answer_faithfulness([measure_faithfulness(read_encoding(spec), length=length)])
    return re.search(r"distance ([^.]+\.\d+ \([^)]*\))", answer.verdict.text)[1]


#: Of 64 positions with d = 64; :func:`measure_condition` takes seconds, so that a slow test compares the two.
CONDITION_OF_64 = "9.2e140"


def measure_condition(d: int, digits: int = 330) -> float:
    """The condition number of d positions of the sinusoidal encoding, by powers of the table and of its inverse."""
    with mpmath.workdps(digits):
        columns = [mpmath.mpf(10000) ** (-mpmath.mpf(index) / d) for index in range(0, d, 2)]
        table = mpmath.matrix([[f(w * s) for w in columns for f in (mpmath.sin, mpmath.cos)] for s in range(d)])
        factors = [mpmath.mp.LU_decomp(matrix) for matrix in (table, table.T)]
        large = small = mpmath.matrix([mpmath.mpf(1 + s % 3) for s in range(d)])
        for _ in range(8):
            large = table.T * (table * (large / mpmath.norm(large)))
            small = small / mpmath.norm(small)
            for lu, order in reversed(factors):
                small = mpmath.mp.U_solve(lu, mpmath.mp.L_solve(lu, small.copy(), order))
        return float(mpmath.sqrt(mpmath.norm(large) * mpmath.norm(small)))
