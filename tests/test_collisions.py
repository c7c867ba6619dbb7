"""Collisions over calendars, grids, trees and sums, and codes that are nearly the same, against all pairs."""

import math
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from itertools import combinations, product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError
from pe_spectra.faithfulness import measure_faithfulness, near_search
from pe_spectra.faithfulness.collisions import decide_by_members, describe_pair, find_collisions, find_keys, join_keys
from pe_spectra.faithfulness.near_pairs import find_near_pairs
from pe_spectra.sources import build_encodings


def make(spec):
    return build_encodings([spec], {})[0]


def list_equal(values):
    """All pairs of equal values, each by its number."""
    groups = defaultdict(list)
    for place, value in enumerate(values):
        groups[value].append(place)
    return sorted(pair for group in groups.values() for pair in combinations(group, 2))


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
    return measure_faithfulness(make(spec), length=length, limit=limit).collisions


# calendars: tuples of fields over a span of moments ----------------------------------------------------


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
    encoding = make("calendar:rows=fixed,mode=sum")
    found = measure_faithfulness(encoding, length=17420, limit=1).collisions
    assert (found.sharing, found.distinct, found.largest) == (10388, 10953, 9)
    assert describe_pair(encoding, found.first) == "Fri 2016-07-01 00:00 = Mon 2016-07-04 01:00"
    fields = list_fields("2016-07-01T00:00", timedelta(hours=1), 17420)
    sizes = Counter(tuple(sorted(values)) for values in fields).values()
    assert found.count == sum(math.comb(size, 2) for size in sizes)


# trees: paths up to a depth ----------------------------------------------------------------------------


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
    encoding = make("tree:branching=2,depth=2")
    found = measure_faithfulness(encoding, length=31).collisions
    assert describe_pair(encoding, found.first) == "root/0/0 = root/0/0/0"


# grids: rows and columns -------------------------------------------------------------------------------


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


# Fourier, tables, sums ---------------------------------------------------------------------------------


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
    joined = join_keys([np.array(column) for column in zip(*rows, strict=True)])
    check(find_collisions(joined, 60), rows)


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
    encoding = make(f"hybrid:of={'+'.join(repr(member) for member in members)},mode={mode}{given}")
    found = decide_by_members(encoding, np.arange(60), 100)
    assert found.injective is (period >= 60)
    check(found.collisions, [s % period for s in range(60)])
    whole = measure_faithfulness(encoding, length=60)
    assert (whole.injective, whole.collisions.count) == (found.injective, found.collisions.count)


def test_members_that_cancel_leave_more_pairs_than_are_proved():
    encoding = make("hybrid:of='dft:d=8'+'dft:d=8',weights=1+-1")
    found = decide_by_members(encoding, np.arange(20), 100)
    assert (found.injective, found.collisions.count, found.collisions.distinct) == (False, 16, None)
    assert "may be more" in found.text


def test_all_weights_zero_is_one_code():
    encoding = make("hybrid:of='dft:d=8'+'rnn:d=8',weights=0+0")
    found = decide_by_members(encoding, np.arange(20), 100)
    check(found.collisions, [0] * 20)


def test_what_members_do_not_decide_is_left_open():
    assert decide_by_members(make("hybrid:of='rnn:d=8'+'dft:d=8'"), np.arange(20), 9) is None
    assert decide_by_members(make("rnn:d=8"), np.arange(20), 9) is None
    keys = find_keys(make("hybrid:of='rnn:d=8'+'dft:d=8',mode=concat"), np.arange(20))
    assert keys.merging is None
    assert not keys.are_exact


# codes that are nearly the same ------------------------------------------------------------------------


def list_near(table, radius):
    """All pairs of different rows within a radius, nearest first."""
    found = []
    for s, t in combinations(range(len(table)), 2):
        apart = math.dist(table[s], table[t])
        if apart <= radius and tuple(table[s]) != tuple(table[t]):
            found.append((apart, s, t))
    return sorted(found)


def compare(found, expected, limit):
    assert found.count == len(expected)
    assert [near.distance for near in found.examples] == pytest.approx(
        [apart for apart, _, _ in expected[:limit]], rel=1e-12, abs=0
    )
    assert {(near.s, near.t) for near in found.examples} <= {(s, t) for _, s, t in expected}


@pytest.mark.parametrize("width", [1, 3, 20])
@pytest.mark.parametrize("scale", [1.0, 2.0**-660, 2.0**660])
def test_near_pairs_are_those_of_all_pairs(width, scale):
    random = np.random.default_rng(width)
    table = random.normal(size=(90, width))
    table[40:60] = table[:20] + 1e-9 * random.normal(size=(20, width))  # near ones
    table[60:65] = np.nextafter(table[:5], 9.0)  # by the last bit
    radius = 1.00001 * float(np.quantile([apart for apart, _, _ in list_near(table, 1e9)], 0.3))
    for limit in (0, 1, 7, 30, 5000):
        found = find_near_pairs(Learned(values=table * scale), radius=radius * scale, limit=limit)
        compare(found, [(x * scale, s, t) for x, s, t in list_near(table, radius)], limit)
        assert (found.method, found.error, found.unsure, found.proved) == ("blocks", 0.0, 0, True)


@pytest.mark.parametrize("limit", [1, 5, 400])
def test_a_tree_finds_what_blocks_find(limit, monkeypatch):
    random = np.random.default_rng(5)
    table = random.normal(size=(600, 3))
    table[500:560] = table[:60] + 1e-7 * random.normal(size=(60, 3))
    table[560:580] = table[:20]  # equal: one point each
    encoding = Learned(values=table)
    blocks = find_near_pairs(encoding, radius=0.3, limit=limit)
    monkeypatch.setattr(near_search, "_TREE_POINTS", 10)
    tree = find_near_pairs(encoding, radius=0.3, limit=limit)
    assert (blocks.method, tree.method) == ("blocks", "tree")
    assert (tree.count, tree.examples) == (blocks.count, blocks.examples)
    assert tree.count == len(list_near(table, 0.3))
    monkeypatch.setattr(near_search, "_LISTED", 0)
    assert find_near_pairs(encoding, radius=0.3, limit=limit).method == "blocks"
    monkeypatch.setattr(near_search, "_COUNTED", 1)
    assert find_near_pairs(encoding, radius=0.3, limit=limit).count == blocks.count


def compare_named(found, expected):
    """Each example stands for pairs, and all pairs are counted."""
    assert found.count == sum(near.pairs for near in found.examples)
    assert found.count == len(expected)


def test_equal_codes_stand_for_all_their_positions():
    table = np.array([[0.0], [1.0], [0.0], [1.25], [1.0], [5.0]])
    found = find_near_pairs(Learned(values=table), radius=1.0)
    assert [(near.s, near.t, near.distance, near.pairs) for near in found.examples] == [(1, 3, 0.25, 2), (0, 1, 1.0, 4)]
    assert found.count == 6
    assert found.unsure == 4  # at the radius, rounding decides
    compare_named(found, list_near(table, 1.0))


@pytest.mark.parametrize(
    "spec", ["sinusoidal:d=8", "rope:d=8", "dft:d=24", "mtan:d=6", "tensor2tensor:d=9", "one-hot:d=90"]
)
def test_lags_give_what_the_rows_give(spec):
    encoding = make(spec)
    table = encoding.table(90)
    for radius in (0.35, 1.2, 1.9):
        found = find_near_pairs(encoding, 90, radius=radius, limit=89)
        pairs = list_near(table, radius)
        if spec == "dft:d=24":  # its rows repeat, but for rounding
            pairs = [(apart, s, t) for apart, s, t in pairs if (t - s) % 24]
        assert found.method == "lags"
        assert found.proved
        compare_named(found, pairs)
        for near in found.examples:
            assert near.pairs == 90 - near.t
            assert_allclose(near.distance, math.dist(table[0], table[near.t]), rtol=1e-12)


def test_a_lone_sine_is_searched_by_rows():
    encoding = make("sinusoidal:d=5,rho=3")
    found = find_near_pairs(encoding, 120, radius=0.9, limit=5000)
    assert found.method == "blocks"
    compare(found, list_near(encoding.table(120), 0.9), 5000)


def test_the_lag_that_nearly_repeats_is_found_among_a_million():
    found = find_near_pairs(make("sinusoidal:d=8"), 1_000_000, radius=0.01, limit=3)
    assert found.examples[0].t == 169646  # performance.md
    assert found.count == sum(near.pairs for near in found.examples)
    assert found.unsure == 0


def test_lags_and_moments_are_named():
    found = find_near_pairs(make("alibi:heads=2"), 9, radius=0.07)
    assert found.examples[0].text == "lag 0 ~ lag 1"
    found = find_near_pairs(make("calendar"), 9000, radius=0.21, limit=1)
    assert found.examples[0].text == "Sat 2016-07-02 00:00 ~ Sat 2017-07-01 00:00"
    assert_allclose(found.examples[0].distance, 2 * math.sin(math.pi / 31), rtol=1e-13)  # days 2 and 1


def test_ties_come_in_order():
    found = find_near_pairs(make("sincos2d:d=16,height=5,width=5"), radius=1.5, limit=4)
    assert [(near.s, near.t) for near in found.examples] == [(0, 1), (0, 5), (1, 2), (1, 6)]
    table = np.eye(40)
    found = find_near_pairs(Learned(values=table), radius=2, limit=50)
    assert [(near.s, near.t) for near in found.examples] == list(combinations(range(40), 2))[:50]
    assert found.count == 780


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=1, max_size=25),
    st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.3]),
    st.integers(0, 12),
)
def test_lattices_are_counted_to_the_pair(rows, radius, limit):
    table = np.array(rows, dtype=float)
    found = find_near_pairs(Learned(values=table), radius=radius, limit=limit)
    expected = list_near(table, radius)
    assert found.count == len(expected)
    first = {tuple(row): s for s, row in reversed(list(enumerate(table.tolist())))}
    named = sorted({(x, *sorted((first[tuple(table[s])], first[tuple(table[t])]))) for x, s, t in expected})
    assert [(near.distance, near.s, near.t) for near in found.examples] == [
        (pytest.approx(x, rel=1e-14), s, t) for x, s, t in named[:limit]
    ]


def test_many_blocks_and_ties_agree_with_all_pairs(monkeypatch):
    monkeypatch.setattr(near_search, "_BLOCK", 16)
    monkeypatch.setattr(near_search, "_MANY", 4)
    table = np.random.default_rng(2).integers(-2, 3, size=(150, 20)).astype(float)
    for limit in (1, 3, 60):
        found = find_near_pairs(Learned(values=table), radius=5.0, limit=limit)
        expected = list_near(table, 5.0)
        assert found.count == len(expected)
        assert [(near.s, near.t) for near in found.examples] == [(s, t) for _, s, t in expected[:limit]]


@pytest.mark.parametrize(("budget", "unsure"), [(4, 0), (3, 3), (0, 3)])
def test_a_budget_for_pairs_at_the_radius_leaves_them_unsure(monkeypatch, budget, unsure):
    """Two points of two columns, 1 apart and 1000 from the mean: products leave them open, differences do not."""
    monkeypatch.setattr(near_search, "_BUDGET", budget)
    table = np.array([[-1000.0, 0.0], [-999.0, 0.0], [999.0, 0.0], [1000.0, 0.0], [1000.0, 0.0]])
    found = find_near_pairs(Learned(values=table), radius=1 + 1e-9)
    assert (found.count, found.unsure) == (3, unsure)
    eye = find_near_pairs(Learned(values=np.eye(20)), radius=math.sqrt(2))
    assert eye.unsure == 190


def test_undecided_codes_are_not_said_to_differ():
    settled = find_near_pairs(make("rnn:d=8,length=400"), radius=1e-12)
    assert settled.count > 0
    assert not settled.proved
    assert settled.error is None


@pytest.mark.parametrize("length", [1, 2])
def test_few_positions(length):
    for spec in ("sinusoidal:d=4", "calendar", "ramp:d=3", "t5"):
        found = find_near_pairs(make(spec), length, radius=1e-9)
        assert found.examples == ()


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(InputError, match="codes"):
        find_near_pairs(make("tupe"), 20, radius=1.0)
    with pytest.raises(InputError, match="radius"):
        find_near_pairs(make("ramp"), 20, radius=0.0)
    with pytest.raises(InputError, match="limit"):
        find_near_pairs(make("ramp"), 20, radius=1.0, limit=-1)
    with pytest.raises(InputError, match="budget"):
        find_near_pairs(make("ramp:d=32,length=100000"), radius=1.0)
