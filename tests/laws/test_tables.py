"""Tables of every encoding: shape, type, range, and the same row whatever else is asked for."""

import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings import HasContinuousTable, HasFrequencies, HasTable, Sinusoidal, find_encoding
from pe_spectra.encodings.pairs import Pairs
from pe_spectra.encodings.rotary import Rope
from pe_spectra.encodings.temporal import Mtan
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_HELD_ENTRIES
from tests.laws.variants import (
    NO_INTEGERS,
    choose_positions,
    every,
    find_last_position,
    has_ends,
    has_still_channels,
    is_mixed,
    is_of_lags,
    list_members,
)

# ----------------------------------------------------------------------------------- tables


@pytest.mark.few(10)
@every(HasTable, where=lambda e: not is_of_lags(e))
def test_table_has_shape_type_and_finite_numbers(encoding):
    some = choose_positions(encoding)
    for positions, count in ((some, len(some)), (len(some), len(some)), ([some[-1]], 1), (range(1), 1), (1, 1)):
        table = encoding.table(positions)
        assert table.shape == (count, encoding.d)
        assert table.dtype == np.float64
        assert np.isfinite(table).all()
    assert encoding.table([]).shape == encoding.table(0).shape == (0, encoding.d)


@every(HasTable, HasFrequencies)
def test_no_entry_is_larger_than_its_amplitude(encoding):
    """Channels of a rope that are not turned have 1."""
    largest = np.abs(encoding.table(choose_positions(encoding))).max()
    bound = max(encoding.frequencies().amplitude, float(has_still_channels(encoding)))
    assert largest <= bound * (1 + 1e-15)


@pytest.mark.few(10)
@every(HasTable)
def test_table_is_the_same_every_time(encoding):
    some = choose_positions(encoding)
    first = encoding.table(some)
    assert_array_equal(first, type(encoding)(**encoding.given).table(list(some)))
    assert encoding.table(some) is not first
    count = min(9, find_last_position(encoding) + 1)
    assert_array_equal(encoding.table(count), encoding.table(range(count)))


@every(HasTable)
def test_who_changes_a_table_does_not_change_the_encoding(encoding):
    """What is handed out is a copy, or read-only."""
    first = encoding.table(1)
    kept = first.copy()
    if first.flags.writeable:
        first += 1
    assert_array_equal(encoding.table(1), kept)


@pytest.mark.few(5)
@every(HasTable, where=lambda e: not any(has_ends(member) for member in list_members(e)))
def test_a_row_is_the_same_whatever_others_are_asked_for(encoding):
    some = choose_positions(encoding)
    table = encoding.table(some)
    # products of matrices are summed in another order for other numbers of rows, and on other processors
    least = 1e-14 * np.abs(table).max() if is_mixed(encoding) else 0.0
    for place, s in enumerate(some):
        assert_allclose(encoding.table([s])[0], table[place], rtol=0, atol=least)
    assert_allclose(encoding.table(some[::-1]), table[::-1], rtol=0, atol=least)


@every(HasTable, where=lambda e: not is_of_lags(e))
def test_table_refuses_what_is_no_position(encoding):
    for positions in ([-1], *NO_INTEGERS, "a", -1, 1.5):
        with pytest.raises(InputError):
            encoding.table(positions)


@every(HasTable)
def test_the_last_position_has_a_code_and_the_next_has_none(encoding):
    last = find_last_position(encoding)
    assert np.isfinite(encoding.table([last])).all()
    if not any(member.name == "calendar" for member in list_members(encoding)):
        with pytest.raises(InputError, match=r"no row|out of range"):
            encoding.table([last + 1])
    if encoding.rows is not None:
        assert encoding.table(encoding.rows).shape == (encoding.rows, encoding.d)
        with pytest.raises(InputError, match=r"no row"):
            encoding.table(encoding.rows + 1)


@every(HasTable)
def test_a_table_that_cannot_be_held_is_refused_before_anything_is(encoding):
    for count in (MAX_HELD_ENTRIES // encoding.d + 1, 10**13):
        with pytest.raises(InputError, match="too large to hold"):
            encoding.table(count)


# ----------------------------------------------------------------------------------- real positions


@every(HasContinuousTable, HasTable)
def test_real_positions_go_through_the_integers(encoding):
    s = choose_positions(encoding, np.array([0, 1, 2, 5, 31, 100]))
    table = encoding.table(s)
    found = encoding.table_at(s.astype(float))
    assert found.shape == table.shape
    assert found.dtype == np.float64
    if isinstance(encoding, (Pairs, Rope, Mtan)):
        assert_array_equal(found, table)
    else:
        assert_allclose(found, table, rtol=1e-13, atol=2e-12 * np.abs(table).max())


@pytest.mark.parametrize(
    "encoding",
    [
        Sinusoidal(d=6),
        find_encoding("tensor2tensor")(d=6),
        Rope(d=6),
        Mtan(d=6),
        find_encoding("fourier-features")(d=6),
    ],
    ids=lambda e: e.name,
)
def test_real_positions_are_taken_as_exact(encoding):
    """Against sines with 60 digits, however far out the position lies."""
    times = np.array([0.37, -1e6 / 3, 1e11 / 7, 2.0**52 + 0.5])
    found = encoding.table_at(times)
    with mpmath.workdps(60):
        frequencies = [mpmath.fsum(map(mpmath.mpf, words)) for words in encoding.words().T.tolist()]
        angles = [[frequency * mpmath.mpf(t) for frequency in frequencies] for t in times.tolist()]
        exact = [[float(f(angle)) for angle in row for f in (mpmath.sin, mpmath.cos)] for row in angles]
    assert_allclose(np.sort(np.abs(found)), getattr(encoding, "amplitude", 1.0) * np.sort(np.abs(exact)), rtol=4e-16)


@every(HasContinuousTable)
def test_real_positions_may_be_any_finite_numbers(encoding):
    times = np.array([-3.25, 0.5, 1.75, 1e6])
    table = encoding.table_at(times)
    assert table.shape == (4, encoding.d)
    assert np.isfinite(table).all()
    assert_array_equal(table, encoding.table_at(list(times)))
    near = encoding.table_at(np.array([0.5, 0.5 + 1e-9]))
    assert np.abs(near[1] - near[0]).max() < 1e-6 * max(1.0, np.abs(near).max())
    for bad in ([math.nan], [math.inf], [1e17], [[0.5]]):
        with pytest.raises(InputError):
            encoding.table_at(np.array(bad))
