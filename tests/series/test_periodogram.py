"""The periodogram against least squares, one frequency at a time, and against another program."""

import numpy as np
import pytest

from pe_spectra.series.periodogram import MOST_FREQUENCIES, choose_frequencies, compute_power, prepare_sums
from tests import naive

#: Of `make`, at these multiples of 1/(4 span): astropy 8.0.2, LombScargle(t, y, fit_mean=True).power(method="slow").
FROZEN = {
    20: 0.005719810925009445,
    58: 0.000557658336236798,
    96: 0.0027274888072522457,
    134: 0.0010999060743242621,
    172: 0.0018567240762622096,
    210: 0.005787196620286038,
    248: 0.004524507997200765,
    286: 0.011127368009103014,
    324: 0.0027339517829064086,
    362: 0.0017781691731398514,
}


def make():
    """A series at uneven times, of no random numbers."""
    i = np.arange(200.0)
    times = i + 0.3 * np.sin(i * i)
    times -= times[0]
    return times, np.sin(2 * np.pi * times / 7.3) + 0.5 * np.cos(i**3) + 0.01 * times


def test_another_program_has_the_same_numbers():
    times, values = make()
    power = compute_power(prepare_sums(times, 1 / (4 * times[-1]), 400), values)
    np.testing.assert_allclose(power[list(FROZEN)], list(FROZEN.values()), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["even", "uneven", "gap"])
def test_it_is_what_least_squares_explain(kind):
    rng = np.random.default_rng(3)
    times = np.arange(120.0)
    if kind == "uneven":
        times = np.sort(rng.uniform(0, 120, 120))
    if kind == "gap":
        times[60:] += 200
    times -= times[0]
    values = 1e6 + rng.standard_normal(120)
    spacing, count = choose_frequencies(float(times[-1]), 1.0)
    power = compute_power(prepare_sums(times, spacing, count), values)
    places = np.arange(4, count, 5)
    slow = [naive.lomb_scargle(times, values - 1e6, place * spacing) for place in places]
    np.testing.assert_allclose(power[places], slow, rtol=0, atol=1e-9)


def test_equal_values_have_no_power():
    times = np.arange(30.0)
    assert not compute_power(prepare_sums(times, 1 / 116, 40), np.full(30, 0.5)).any()


def test_frequencies_end_below_one_cycle_in_two_steps_or_where_they_are_too_many():
    spacing, count = choose_frequencies(99.0, 1.0)
    assert (count - 1) * spacing < 0.5 <= count * spacing
    assert choose_frequencies(1e9, 1.0)[1] == MOST_FREQUENCIES
