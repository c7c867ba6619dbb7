"""The codes at places, whatever view holds them: as the view itself gives them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra import Dft, read_encoding
from pe_spectra.encodings import codes as module
from pe_spectra.encodings.codes import find_codes, find_exact_key, list_places, read_codes
from pe_spectra.errors import InputError


@pytest.mark.parametrize(
    ("spec", "columns", "view"),
    [
        ("sinusoidal:d=6", 6, lambda encoding, places: encoding.table(places)),
        ("learned:init=normal,d=3,length=40", 3, lambda encoding, places: encoding.table(places)),
        ("shaw:d=5", 5, lambda encoding, places: encoding.lag_table(places)),
        ("t5:heads=3", 3, lambda encoding, places: encoding.bias(places).T),
        ("alibi:heads=2,causal=no", 2, lambda encoding, places: encoding.bias(places).T),
    ],
)
def test_codes_are_those_of_the_view(spec, columns, view):
    encoding = read_encoding(spec)
    places = list_places(encoding, 9)
    found = find_codes(encoding)
    assert found.columns == columns
    codes = found.at(places)
    assert codes.shape == (len(places), columns)
    assert codes.flags.c_contiguous
    assert_array_equal(codes, view(encoding, places))
    assert_array_equal(found.at(places[2:5]), codes[2:5])


@pytest.mark.parametrize("spec", ["fire", "tupe", "swin"])
def test_a_bias_of_a_query_and_a_key_is_no_code(spec):
    encoding = read_encoding(spec)
    assert find_codes(encoding) is None


def test_what_is_too_large_to_hold_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_HELD_ENTRIES", 11)
    assert read_codes(Dft(d=4), 2).shape == (2, 4)
    with pytest.raises(InputError, match=r"too large to hold \(3 x 4\)"):
        read_codes(Dft(d=4), 3)


def test_keys_stand_only_with_a_theorem():
    made = read_encoding("hybrid")
    assert made.theorem is None
    assert find_exact_key(made, np.arange(3)) is None
    assert Dft(d=4).theorem.kind == "period"
    assert_array_equal(find_exact_key(Dft(d=4), np.arange(5)), [0, 1, 2, 3, 0])
