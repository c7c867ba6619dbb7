"""Eq. 16, how many frequencies lie in the lowest bin, against its slow definition, with ties decided exactly."""

from decimal import Decimal

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Dft, GivenArray, Sinusoidal, compute_spectrum, count_low_bin, read_encoding
from pe_spectra.answers.counts import answer_counts
from pe_spectra.answers.spectra import answer_spectra
from pe_spectra.encodings import ENCODINGS
from pe_spectra.encodings.features import FourierFeatures
from pe_spectra.errors import InputError
from pe_spectra.spectrum import low_bin
from tests import naive

SIZES = [2, 3, 4, 5, 7, 8, 16, 31, 48, 97, 128]
BASES = [0.3, 1.0, 2.5, 1e4, 1e9]


# ----------------------------------------------------------------------------------- Eq. 15, 16, 22


@pytest.mark.parametrize("length", [None, 2, 6, 7, 100, 5000])
@pytest.mark.parametrize("rho", BASES)
def test_low_bin_count(rho, length):
    for d in SIZES:
        found = count_low_bin(Sinusoidal(d=d, rho=rho), length=length)
        assert (found.inside, found.total) == naive.count_low_bin(d, rho, length), d
        if rho != 1:
            assert_allclose(found.crossing, naive.crossing(d, rho, length), rtol=1e-14, err_msg=f"d = {d}")


# ----------------------------------------------------------------------------------- edges


@pytest.mark.parametrize(("d", "length"), [(8, 8), (7, 5), (97, 13), (360, 120), (15, 5), (30, 5), (78, 2)])
def test_a_frequency_at_the_edge_or_0_is_outside(d, length):
    """Frequencies 2 pi k/d against 2 pi/length, in integers: where they are equal, doubles would not decide."""
    found = count_low_bin(Dft(d=d), length=length)
    assert found.inside == sum(0 < k * length < d for k in range(d // 2 + 1))
    assert found.inside + found.outside == found.total == d // 2 + 1


@pytest.mark.parametrize("length", [7, 11, 32, 100, 4096])
def test_bases_next_to_a_tie_are_counted_as_60_digits_say(length):
    """rho**(-1/2) against 2 pi/length, where both round to one double: the low words decide, then decimals."""
    rho = (length / (2 * np.pi)) ** 2
    for _ in range(3):
        rho = np.nextafter(rho, 0)
    with mpmath.workdps(60):
        for _ in range(7):
            exact = mpmath.mpf(float(rho)) ** -0.5 < 2 * mpmath.pi / length
            assert count_low_bin(Sinusoidal(d=4, rho=float(rho)), length=length).inside == int(exact), rho
            rho = np.nextafter(rho, np.inf)
    assert low_bin._is_below(Decimal(f"0.124{'9' * 40}"), 8)
    assert not low_bin._is_below(Decimal(f"0.125{'0' * 40}1"), 8)


# ----------------------------------------------------------------------------------- frequencies that are 0


def test_frequencies_of_0_are_counted_apart():
    """Among those drawn for a table some are 0: counted by hand, and said, wherever a count is."""
    generator = np.random.default_rng(7)
    for _ in range(20):
        length = int(generator.integers(2, 50))
        values = generator.choice([0.0, -0.0, 0.01, 0.05, 1.0], int(generator.integers(1, 9)))
        encoding = FourierFeatures(values=GivenArray(values[None]))
        found = count_low_bin(encoding, length=length)
        zero = sum(value == 0 for value in values)
        assert (found.zero, found.total) == (zero, len(values))
        assert found.inside == sum(0 < value < 2 * np.pi / length for value in values)
        assert found.inside + found.outside == found.total
        text = answer_counts([found]).verdict.text
        others = "1 other is" if zero == 1 else f"{zero} others are"
        more = f" ({others} 0, constant over positions) for" if zero else " for"
        where = f"between 0 and 2 pi/{length}" if zero else f"below 2 pi/{length}"
        assert f"{found.inside} of {found.total} frequencies" in text
        assert f"lie {where}{more}" in text


@pytest.mark.parametrize("d", range(2, 9))
def test_of_the_dft_one_frequency_is_0(d):
    assert count_low_bin(Dft(d=d)).zero == 1
    assert "frequencies: 0 of " in write_fact(Dft(d=d))
    assert f"between 0 and the first DFT frequency 2 pi/{d} (1 other is 0, constant over positions)" in write_fact(
        Dft(d=d)
    )


def write_fact(encoding):
    answer = answer_spectra([compute_spectrum(encoding)])
    return "frequencies: " + dict(answer.facts)["frequencies"]


@pytest.mark.parametrize("name", [cls.name for cls in ENCODINGS if hasattr(cls, "frequencies")])
@pytest.mark.parametrize("d", [2, 8])
def test_only_of_frequencies_that_all_are_1_a_note_says_so(name, d):
    for spec in (f"{name}:d={d}", f"{name}:d={d},rho=1", f"{name}:d={d},base=1"):
        try:
            encoding = read_encoding(spec)
        except InputError:
            continue  # without this parameter, or not with this value
        notes = answer_counts([count_low_bin(encoding)]).notes
        said = any("all frequencies are 1 rad" in note for note in notes)
        assert said == (name == "sinusoidal" and set(encoding.frequencies().values) == {1.0} and "rho=1" in spec)
