"""Codes that are nearly the same, against all pairs."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pe_spectra.encodings.learned import Learned
from pe_spectra.errors import InputError
from pe_spectra.faithfulness import near_search
from pe_spectra.faithfulness.near_pairs import find_near_pairs
from tests.making import make_encoding


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


@pytest.mark.few(3)
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


@pytest.mark.few(1)
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


@pytest.mark.few(2, keep=["dft:d=24"])
@pytest.mark.parametrize(
    "spec", ["sinusoidal:d=8", "rope:d=8", "dft:d=24", "mtan:d=6", "tensor2tensor:d=9", "one-hot:d=90"]
)
def test_lags_give_what_the_rows_give(spec):
    encoding = make_encoding(spec)
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
    encoding = make_encoding("sinusoidal:d=5,rho=3")
    found = find_near_pairs(encoding, 120, radius=0.9, limit=5000)
    assert found.method == "blocks"
    compare(found, list_near(encoding.table(120), 0.9), 5000)


def test_the_lag_that_nearly_repeats_is_found_among_a_million():
    found = find_near_pairs(make_encoding("sinusoidal:d=8"), 1_000_000, radius=0.01, limit=3)
    assert found.examples[0].t == 169646  # performance.md
    assert found.count == sum(near.pairs for near in found.examples)
    assert found.unsure == 0


def test_lags_and_moments_are_named():
    found = find_near_pairs(make_encoding("alibi:heads=2"), 9, radius=0.07)
    assert found.examples[0].text == "lag 0 ~ lag 1"
    found = find_near_pairs(make_encoding("calendar"), 9000, radius=0.21, limit=1)
    assert found.examples[0].text == "Sat 2016-07-02 00:00 ~ Sat 2017-07-01 00:00"
    assert_allclose(found.examples[0].distance, 2 * math.sin(math.pi / 31), rtol=1e-13)  # days 2 and 1


def test_ties_come_in_order():
    found = find_near_pairs(make_encoding("sincos2d:d=16,height=5,width=5"), radius=1.5, limit=4)
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
    settled = find_near_pairs(make_encoding("rnn:d=8,length=400"), radius=1e-12)
    assert settled.count > 0
    assert not settled.proved
    assert settled.error is None


@pytest.mark.parametrize("length", [1, 2])
def test_few_positions(length):
    for spec in ("sinusoidal:d=4", "calendar", "ramp:d=3", "t5"):
        found = find_near_pairs(make_encoding(spec), length, radius=1e-9)
        assert found.examples == ()


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(InputError, match="vectors"):
        find_near_pairs(make_encoding("tupe"), 20, radius=1.0)
    with pytest.raises(InputError, match="radius"):
        find_near_pairs(make_encoding("ramp"), 20, radius=0.0)
    with pytest.raises(InputError, match="limit"):
        find_near_pairs(make_encoding("ramp"), 20, radius=1.0, limit=-1)
    with pytest.raises(InputError, match="budget"):
        find_near_pairs(make_encoding("ramp:d=32,length=100000"), radius=1.0)
