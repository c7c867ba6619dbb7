"""Spectra of several encodings together: each is the one that it has by itself."""

import numpy as np
import pytest

import pe_spectra
from pe_spectra.errors import InputError

SPECS = [
    *("sinusoidal:d=32", "dft:d=32", "sinusoidal:d=32,rho=7", "rope:d=32", "sincos2d:d=16,height=4,width=8"),
    *("alibi:heads=2", "sinusoidal:d=33", "sinusoidal:d=32,layout=concatenated,scale=0.5"),
]
SAME = ("encoding", "grid", "bandwidth", "boundary", "estimator", "axis", "notes")


@pytest.mark.parametrize(
    "options", [{}, {"grid": 48}, {"bandwidth": 0.5, "boundary": "reflect"}, {"grid": 2, "bandwidth": 1e6}], ids=str
)
def test_each_is_that_of_its_encoding(options):
    several = pe_spectra.compute_spectra(SPECS, length=20, **options)
    for spec, found in zip(SPECS, several, strict=True):
        one = pe_spectra.compute_spectrum(spec, length=20, **options)
        assert [getattr(found, name) for name in SAME] == [getattr(one, name) for name in SAME]
        np.testing.assert_allclose(found.weights, one.weights, rtol=1e-13, atol=0)
        np.testing.assert_allclose(found.log_weights, one.log_weights, rtol=1e-13, atol=1e-13)


def test_of_nothing_there_is_none():
    assert pe_spectra.compute_spectra([]) == []


def test_more_than_are_summed_at_a_time():
    encodings = [pe_spectra.Sinusoidal(d=16, rho=2.0 + number) for number in range(600)]
    found = pe_spectra.compute_spectra(encodings)
    assert [one.encoding for one in found] == encodings
    for place in (0, 255, 256, 599):
        alone = pe_spectra.compute_spectrum(encodings[place])
        np.testing.assert_allclose(found[place].weights, alone.weights, rtol=1e-13)


@pytest.mark.parametrize("options", [{"grid": 1}, {"bandwidth": 0}, {"boundary": "x"}], ids=str)
def test_what_is_out_of_range_is_named(options):
    with pytest.raises(InputError, match=next(iter(options))):
        pe_spectra.compute_spectra(["sinusoidal:d=8", "dft:d=8"], **options)
