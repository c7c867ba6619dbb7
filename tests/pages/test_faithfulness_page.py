"""The page on faithfulness: every kind of certificate has its theorem, and every example has its numbers."""

import ast
import doctest
import re
from itertools import product

import numpy as np
import pytest

from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.reconstruction import reconstruct_positions
from pe_spectra.sources import build_encodings
from pe_spectra.spectrum import compute_spectrum
from tests.pages.trees import MODULES, list_nodes
from tests.places import ROOT

PAGE = ROOT / "docs" / "faithfulness.md"
TEXT = PAGE.read_text(encoding="utf-8")
TABLE = TEXT.partition("<!-- combinations -->\n")[2].partition("<!-- /combinations -->")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.splitlines()[2:]]
#: The lines that the page draws, in its order.
SEPARATED, CONDITIONED, RECONSTRUCTED = 0.1, 1e7, 0.1


def write(value):
    return "> 1e15" if value is None else f"{value:.3g}"


def measure(spec, length):
    """Injective, smallest over typical distance, condition number and error of Algorithm 1."""
    (encoding,) = build_encodings([spec], {})
    found = measure_faithfulness(encoding, length=length)
    table = encoding.table(length)
    typical = np.sqrt(2 * np.sum((table - table.mean(axis=0)) ** 2) / (length - 1))
    lattice = max(length, getattr(encoding, "d", 0) if encoding.name in ("sinusoidal", "dft") else 0)
    spectrum = compute_spectrum(encoding, grid=lattice, length=length)
    error = reconstruct_positions(spectrum, [length // 2]).positions[0].relative_error
    return found.injective, found.min_separation / typical, found.condition_number, error


def test_the_typical_distance_is_the_root_of_the_mean_squared_one():
    table = np.random.default_rng(0).normal(size=(9, 3))
    apart = [np.sum((table[s] - table[t]) ** 2) for s in range(9) for t in range(s)]
    centred = table - table.mean(axis=0)
    assert np.mean(apart) == pytest.approx(2 * np.sum(centred**2) / 8)


@pytest.mark.parametrize("row", ROWS, ids=[row[4] for row in ROWS])
def test_every_example_is_what_the_page_says(row):
    statements, spec, length, numbers = row[:4], row[4].strip("`"), int(row[5]), row[6:9]
    injective, apart, condition, error = measure(spec, length)
    found = [injective, apart >= SEPARATED, condition is not None and condition < CONDITIONED, error < RECONSTRUCTED]
    assert ["yes" if holds else "no" for holds in found] == statements
    assert [write(apart), write(condition), "< 1e-12" if error < 1e-12 else write(error)] == numbers


def test_examples_are_far_from_the_lines():
    """No line that a reader may prefer within these ranges would sort an example differently."""
    for row in ROWS:
        apart, error = float(row[6]), float(row[8].removeprefix("< "))
        assert not 0.05 < apart < 0.2
        assert not 0.08 < error < 0.7
        assert row[7] == "> 1e15" or float(row[7]) < 1e3


def test_all_sixteen_are_there_but_for_the_four_that_cannot_be():
    possible = [combination for combination in product(("yes", "no"), repeat=4) if combination[:2] != ("no", "yes")]
    assert [tuple(row[:4]) for row in ROWS] == possible
    assert len(possible) == 12


def test_equal_codes_of_no_more_positions_than_columns_have_no_condition_number():
    (encoding,) = build_encodings(["calendar:rows=fixed,mode=sum,d=128"], {})
    for length in (80, 128):
        found = measure_faithfulness(encoding, length=length)
        assert (found.injective, found.condition_number) == (False, None)
        assert found.rank < length


def test_what_repeats_after_half_of_the_lattice_is_seen_at_a_small_bandwidth_alone():
    (encoding,) = build_encodings(["hybrid:of='dft:d=64'+'dft:d=64',mode=concat"], {})
    found = [compute_spectrum(encoding, grid=128, length=128, bandwidth=width) for width in (4, 0.25)]
    wide, narrow = (reconstruct_positions(spectrum, [0]).positions[0] for spectrum in found)
    assert (wide.peak, narrow.peak) == (0, 64)
    assert wide.relative_error < 1e-12
    assert narrow.relative_error > 0.9


def list_kinds():
    """Every kind of certificate that the source makes."""
    found = set()
    for path in MODULES:
        for node in list_nodes(path):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Theorem", "Certificate"):
                given = next((keyword.value for keyword in node.keywords if keyword.arg == "kind"), ast.Constant(""))
                found |= {part.value for part in ast.walk(given) if isinstance(part, ast.Constant)}
    return found


def test_every_kind_of_certificate_has_its_paragraph():
    assert set(re.findall(r"^\*\*`([a-z-]+)`\*\*:", TEXT, re.MULTILINE)) == list_kinds()


def test_the_lines_of_python_run():
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.attempted >= 4
    assert found.failed == 0
