"""Collisions over calendars, grids, trees and sums, against all pairs."""

import math
from collections import Counter
from datetime import datetime, timedelta
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.encodings.learned import Learned
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.faithfulness.certificates import _decide_members, _find_collisions, describe_pair
from pe_spectra.faithfulness.code_keys import _join_keys, find_keys
from pe_spectra.faithfulness.code_table import CodeTable
from tests.faithfulness.pairs import list_equal
from tests.making import make_encoding


def check(found, values):
    """Compare collisions with what a list of hashable codes has."""
    sizes, pairs = Counter(values).values(), list_equal(values)
    assert found.count == len(pairs)
    assert found.distinct == len(sizes)
    assert found.sharing == sum(size for size in sizes if size > 1)
    assert found.largest == max(sizes)
    assert found.first == (pairs[0] if pairs else None)
    following = {}
    for s, t in pairs:
        following.setdefault(s, t)
    assert found.examples == tuple(following.items())[: len(found.examples)]


def collide(spec, length=None, limit=1000):
    return measure_faithfulness(make_encoding(spec), length=length, limit=limit).collisions


# ------------------------------------------------------------------- calendars: tuples of fields over a span of moments


def list_fields(start, step, length, names=("hour", "weekday", "day", "month")):
    found = []
    for s in range(length):
        at = datetime.fromisoformat(start) + s * step
        fields = {"hour": at.hour, "weekday": at.weekday(), "day": at.day, "month": at.month}
        fields |= {"dayofyear": at.timetuple().tm_yday, "minute": at.minute // 15}
        found.append(tuple(fields[name] for name in names))
    return found


SPANS = [
    ("2016-07-01T00:00", "1h", 3600, 700),
    ("2019-12-28T22:00", "90min", 5400, 300),
    ("2024-02-28", "1d", 86400, 800),
]


@pytest.mark.few(5)
@pytest.mark.parametrize(("start", "step", "seconds", "length"), SPANS)
@pytest.mark.parametrize("rows", ["cyclic", "fixed", "learned"])
def test_fields_side_by_side_collide_as_their_tuples(start, step, seconds, length, rows):
    names = ("weekday", "hour") if rows == "cyclic" else ("hour", "weekday", "day", "month")
    spec = f"calendar:start={start},step={step},rows={rows},fields={'+'.join(names)}"
    check(collide(spec, length), list_fields(start, timedelta(seconds=seconds), length, names))


@pytest.mark.parametrize(("start", "step", "seconds", "length"), SPANS)
def test_sums_of_one_sinusoid_collide_as_the_multisets_of_their_fields(start, step, seconds, length):
    fields = list_fields(start, timedelta(seconds=seconds), length)
    found = collide(f"calendar:start={start},step={step},rows=fixed,mode=sum,d=8", length)
    check(found, [tuple(sorted(values)) for values in fields])


def test_sums_of_unit_vectors_collide_as_in_30_digits():
    fields = list_fields("2016-07-01T00:00", timedelta(hours=1), 400)
    with mpmath.workdps(40):
        sums = [
            sum(mpmath.expjpi(mpmath.mpf(2 * v) / p) for v, p in zip(values, (24, 7, 31, 12), strict=True))
            for values in fields
        ]
        written = [(mpmath.nstr(z.real, 30), mpmath.nstr(z.imag, 30)) for z in sums]
        codes = [tuple(mpmath.nint(part * 10**30) for part in (z.real, z.imag)) for z in sums]
    found = collide("calendar:mode=sum", 400)
    assert len(set(written)) == len(set(codes))
    check(found, codes)


def test_two_years_of_hours_in_the_sum_of_one_sinusoid():
    """The catalogue: 10,388 of 17,420 stamps share their four numbers; 10,953 sums; nine share one."""
    encoding = make_encoding("calendar:rows=fixed,mode=sum")
    found = measure_faithfulness(encoding, length=17420, limit=1).collisions
    assert (found.sharing, found.distinct, found.largest) == (10388, 10953, 9)
    assert describe_pair(encoding, found.first) == "Fri 2016-07-01 00:00 = Mon 2016-07-04 01:00"
    fields = list_fields("2016-07-01T00:00", timedelta(hours=1), 17420)
    sizes = Counter(tuple(sorted(values)) for values in fields).values()
    assert found.count == sum(math.comb(size, 2) for size in sizes)


# ----------------------------------------------------------------------------------- trees: paths up to a depth


def list_paths(branching, levels):
    """The paths of a complete tree in breadth-first order."""
    return [path for level in range(levels + 1) for path in product(range(branching), repeat=level)]


@pytest.mark.parametrize("decay", [1.0, 0.8])
@pytest.mark.parametrize(("branching", "depth", "levels"), [(1, 2, 6), (2, 1, 5), (2, 3, 6), (3, 2, 4), (2, 4, 4)])
def test_paths_collide_as_their_last_steps(branching, depth, levels, decay):
    paths = list_paths(branching, levels)
    found = collide(f"tree:branching={branching},depth={depth},decay={decay}", len(paths))
    check(found, [path[-depth:] for path in paths])


def test_paths_are_named():
    encoding = make_encoding("tree:branching=2,depth=2")
    found = measure_faithfulness(encoding, length=31).collisions
    assert describe_pair(encoding, found.first) == "root/0/0 = root/0/0/0"


# ----------------------------------------------------------------------------------- grids: rows and columns


@pytest.mark.parametrize(("spec", "rows"), [("sincos2d:d=8,height=5,width=7,cls=yes", 36), ("rope-axial:d=8", 196)])
def test_places_of_a_grid_do_not_collide(spec, rows):
    found = collide(spec)
    assert (found.count, found.distinct, found.largest) == (0, rows, 1)


def test_a_grid_of_sums_of_one_table_has_its_mirror_image():
    side = 6
    axis = np.random.default_rng(0).normal(size=(side, 8))
    table = Learned(values=(axis[:, None] + axis[None, :]).reshape(side * side, 8), grid=f"{side}x{side}")
    found = measure_faithfulness(table, limit=100).collisions
    check(found, [tuple(sorted(divmod(s, side))) for s in range(side * side)])
    assert describe_pair(table, found.first) == "1 (row 0, column 1 of the grid) = 6 (row 1, column 0 of the grid)"
    assert (22, 27) in found.examples  # row 3, column 4 and row 4, column 3


# ----------------------------------------------------------------------------------- Fourier, tables, sums


@pytest.mark.parametrize("d", [2, 5, 8, 9])
@pytest.mark.parametrize("more", [0, 1, 7])
def test_fourier_codes_repeat_exactly_after_d(d, more):
    for length in (d, d + 1, 2 * d + more):
        check(collide(f"dft:d={d}", length), [s % d for s in range(length)])


@given(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=1, max_size=30), st.integers(0, 40))
def test_given_rows_collide_where_their_bits_do(rows, limit):
    table = np.array(rows, dtype=float)
    table[::3] = np.where(table[::3] == 1, np.nextafter(1, 2), table[::3])  # the last bit counts
    table[::2] = np.where(table[::2] == 0, -0.0, table[::2])  # the sign of zero does not
    found = measure_faithfulness(Learned(values=table), limit=limit).collisions
    check(found, [tuple(row) for row in table.tolist()])


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 3), st.integers(7, 8)), min_size=1, max_size=60))
def test_keys_are_joined_as_tuples(rows):
    joined = _join_keys([np.array(column) for column in zip(*rows, strict=True)])
    check(_find_collisions(joined, 60), rows)


HYBRIDS = [
    # members, mode, weights, period of the code, by length 60
    (("dft:d=16", "dft:d=24"), "concat", None, 48),
    (("dft:d=16", "dft:d=24"), "concat", "1+0", 16),
    (("dft:d=16", "dft:d=16"), "sum", None, 16),
    (("dft:d=12", "dft:d=12"), "mix", None, 12),
    (("dft:d=16", "one-hot:d=60"), "concat", None, 60),
    (("dft:d=16", "sinusoidal:d=16"), "concat", "1+0.5", 60),
    (("dft:d=16", "sinusoidal:d=16"), "sum", "1+0", 16),
    (("dft:d=16", "sinusoidal:d=16"), "sum", "0+1", 60),
]


@pytest.mark.parametrize(("members", "mode", "weights", "period"), HYBRIDS)
def test_members_decide_hybrids(members, mode, weights, period):
    given = f",weights={weights}" if weights else ""
    encoding = make_encoding(f"hybrid:of={'+'.join(repr(member) for member in members)},mode={mode}{given}")
    injective, _, collisions = _decide_members(CodeTable(encoding, 60), 100)
    assert injective is (period >= 60)
    check(collisions, [s % period for s in range(60)])
    whole = measure_faithfulness(encoding, length=60)
    assert (whole.injective, whole.collisions.count) == (injective, collisions.count)


def test_members_that_cancel_leave_more_pairs_than_are_proved():
    encoding = make_encoding("hybrid:of='dft:d=8'+'dft:d=8',weights=1+-1")
    injective, certificate, collisions = _decide_members(CodeTable(encoding, 20), 100)
    assert (injective, collisions.count, collisions.distinct) == (False, 16, None)
    assert "may be more" in certificate.text


def test_all_weights_zero_is_one_code():
    encoding = make_encoding("hybrid:of='dft:d=8'+'rnn:d=8',weights=0+0")
    _, _, collisions = _decide_members(CodeTable(encoding, 20), 100)
    check(collisions, [0] * 20)


def test_what_members_do_not_decide_is_left_open():
    assert _decide_members(CodeTable(make_encoding("hybrid:of='rnn:d=8'+'dft:d=8'"), 20), 9) is None
    assert _decide_members(CodeTable(make_encoding("rnn:d=8"), 20), 9) is None
    keys = find_keys(make_encoding("hybrid:of='rnn:d=8'+'dft:d=8',mode=concat"), np.arange(20))
    assert keys.merging is None
    assert not keys.are_exact
