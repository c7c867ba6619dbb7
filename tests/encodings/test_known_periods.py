"""The encoding of known periods: its columns, its units of time, and when it repeats."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra import compare_encodings, read_encoding
from pe_spectra.encodings.known_periods import KnownPeriods
from pe_spectra.errors import InputError


def build_slowly(lengths, harmonics, positions):
    """The columns as the formula says, position by position; whole turns taken off as fractions."""
    rows = []
    for s in positions:
        turns = [Fraction(h * s) / length % 1 for length in lengths for h in range(1, harmonics + 1)]
        rows.append([wave(2 * math.pi * float(turn)) for turn in turns for wave in (math.sin, math.cos)])
    return rows


@pytest.mark.parametrize("harmonics", [1, 2, 5])
@pytest.mark.parametrize("lengths", [(48.0, 336.0), (2.0, 3.0, 7.0), (365.2425,), (12.5, 1e6)])
def test_columns_are_sines_and_cosines_of_each_harmonic_of_each_period(lengths, harmonics):
    positions = [0, 1, 2, 13, 335, 10**6, 2**53 - 1]
    exact = [Fraction(repr(length)) for length in lengths]
    found = KnownPeriods(steps=lengths, harmonics=harmonics).table(positions)
    assert_allclose(found, build_slowly(exact, harmonics, positions), rtol=0, atol=2e-15)


def test_periods_in_time_units_follow_the_step():
    timed = read_encoding("periods:steps=day+week+90min,step=30min")
    assert timed.periods_in_steps == (48.0, 336.0, 3.0)
    assert_array_equal(timed.table(400), KnownPeriods(steps=(48, 336, 3)).table(400))
    assert timed.spec == "periods:steps=day+week+90min,harmonics=1,step=30min"


def test_it_repeats_after_the_least_common_multiple_and_not_before():
    encoding = KnownPeriods(steps=(4, 6, 2.5))
    keys = encoding.exact_key(np.arange(180))
    assert len(np.unique(keys)) == 60
    table = encoding.table(180)
    assert_array_equal(table[:60], table[60:120])
    assert len(np.unique(table[:60].round(12), axis=0)) == 60
    assert "multiple of 60" in encoding.theorem.text


def test_periods_that_repeat_beyond_all_positions_tell_them_apart():
    encoding = KnownPeriods(steps=(100000007.1, 99999989.3))
    last = np.array([0, 2**53 - 1])
    assert_array_equal(encoding.exact_key(last), last)


def test_two_turns_of_the_longest_period_are_looked_at():
    assert KnownPeriods(steps=(48, 336)).default_length == KnownPeriods(steps=(48, 336)).default_grid == 672
    assert KnownPeriods(steps=(4,)).default_length == 80
    assert KnownPeriods(steps=(2.0**53,)).default_length == 2**20


def test_harmonics_beyond_pi_are_said_to_alias():
    assert "alias" not in str(KnownPeriods(steps=(4,), harmonics=2).notes)
    (note,) = KnownPeriods(steps=(4,), harmonics=3).notes
    assert "1 of 3 frequencies lie beyond pi" in note
    assert KnownPeriods(steps=(4,), harmonics=3).periods_in_steps == (4.0, 2.0)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("steps=daz", "steps has no such period (daz)"),
        ("steps=5daz", "steps has no such period (5daz)"),
        ("steps=1.5", "steps is out of range (1.5)"),
        ("steps=1h", "steps has a period of less than two positions at a step of 1h (1h)"),
        ("steps=2d+48", "steps has a period twice (2d+48)"),
    ],
)
def test_what_is_no_period_is_refused(spec, message):
    with pytest.raises(InputError) as caught:
        read_encoding(f"periods:{spec}")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "member", ["'periods:steps=48+336'", "'calendar:fields=hour+weekday,step=30min'", "'periods:step=30min'"]
)
def test_a_hybrid_has_the_exact_periods_of_its_members(member):
    hybrid = read_encoding(f"hybrid:of={member}+'sinusoidal:d=64',mode=concat")
    periods = (("day", 86400.0), ("week", 604800.0))
    (row,) = compare_encodings([hybrid], step_seconds=1800.0, periods=periods)
    assert [match.nearest_period for match in row.periods] == [86400.0, 604800.0]
