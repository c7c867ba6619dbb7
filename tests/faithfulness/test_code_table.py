"""Codes at places: built once, whatever is asked of them, and exact where they are given numbers."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.encodings.codes import find_codes, list_places
from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError
from pe_spectra.faithfulness import code_table as module
from pe_spectra.faithfulness import find_near_pairs, measure_faithfulness
from pe_spectra.faithfulness.code_table import CodeTable
from pe_spectra.faithfulness.separation import measure_separation
from tests.making import make_encoding


@pytest.mark.parametrize("spec", ["sinusoidal:d=6", "shaw:d=5", "t5:heads=3", "alibi:heads=2,causal=no"])
def test_codes_are_those_at_its_places(spec):
    table = CodeTable(make_encoding(spec), 9)
    assert_array_equal(table.places, list_places(table.encoding, 9))
    assert_array_equal(table.codes, find_codes(table.encoding).at(table.places))
    assert table.codes.shape == (len(table.places), table.columns)


@pytest.mark.parametrize("spec", ["fire", "tupe", "swin"])
def test_a_bias_of_a_query_and_a_key_has_no_codes(spec):
    table = CodeTable(make_encoding(spec), 9)
    assert (table.columns, table.codes, table.error, table.distance_error) == (0, None, None, None)
    assert measure_separation(table) is None


def test_what_is_too_large_to_hold_is_not_built(monkeypatch):
    monkeypatch.setattr(module, "MAX_HELD_ENTRIES", 11)
    assert CodeTable(make_encoding("ramp:d=4"), 2).codes.shape == (2, 4)
    assert CodeTable(make_encoding("ramp:d=4"), 3).codes is None


@pytest.mark.parametrize("spec", ["shaw:d=4,clip=9", "t5:heads=2,buckets=32", "erpe:heads=2", "learned"])
def test_given_numbers_are_exact_wherever_their_distances_are_measured(spec):
    encoding = Learned(values=np.eye(5)) if spec == "learned" else make_encoding(spec)
    assert CodeTable(encoding, 5).distance_error == 0
    near = find_near_pairs(encoding, 5, radius=100.0)
    assert near.error == 0
    found = measure_separation(CodeTable(encoding, 5))
    assert found.smallest == pytest.approx(near.examples[0].distance, rel=1e-15)
    assert found.error <= 32 * 2.0**-52 * found.smallest


def test_computed_numbers_have_one_error_wherever_their_distances_are_measured():
    for spec in ("ramp:d=3", "alibi:heads=2", "hybrid:of='ramp:d=3,length=9'+'sinusoidal:d=3'"):
        table = CodeTable(make_encoding(spec), 9)
        assert table.error == table.encoding.bound_error(table.codes) > 0
        assert table.distance_error == pytest.approx(2 * math.sqrt(table.columns) * table.error, rel=1e-15, abs=0.0)
        assert find_near_pairs(table.encoding, 9, radius=1.0).error == table.distance_error


def test_all_questions_share_one_table(monkeypatch):
    encoding = make_encoding("hybrid:of='ramp:d=6,length=40'+'pixel-bands:d=6,length=40'")
    built = []
    monkeypatch.setattr(type(encoding), "table", _count(type(encoding).table, built))
    found = measure_faithfulness(encoding, length=40, within=0.5)
    assert found.certificate.kind == "separation"
    assert None not in (found.near_pairs, found.rank, found.sidelobe)
    # once for all questions about codes, and twice for the spectrum that Algorithm 1 multiplies with: it is crowded, so
    # that more lags are needed to tell whether the kernel made it so
    assert [positions for positions in built if np.size(positions) == 1] == [40, 40, 40]


def _count(table, built):
    def note(self, positions):
        built.append(positions)
        return table(self, positions)

    return note


def test_a_table_that_could_be_searched_but_not_held_is_refused():
    with pytest.raises(InputError, match="too large to hold"):
        measure_separation(CodeTable(make_encoding("one-hot:d=1048576"), 100))
