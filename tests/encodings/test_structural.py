"""Trees and recurrent states, against naive versions of their definitions."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.combined import Hybrid
from pe_spectra.encodings.grids import Sincos2d
from pe_spectra.encodings.structural import Rnn, Tree
from pe_spectra.errors import InputError

# ----------------------------------------------------------------------------------- trees


def walk_breadth_first(branching, depth, decay, count):
    """Codes and paths of the first nodes, child by child as Shiv & Quirk write it: push in front, cut the end."""
    nodes = [([0.0] * (branching * depth), "root")]
    for code, path in nodes:
        for branch in range(branching):
            onehot = [float(branch == b) for b in range(branching)]
            nodes.append(((onehot + code)[: branching * depth], f"{path}/{branch}"))
        if len(nodes) > count:
            break
    scale = math.sqrt(1 - decay**2) if decay < 1 else 1.0
    weights = np.repeat([decay**j * scale for j in range(depth)], branching)
    return np.array([code for code, _ in nodes[:count]]) * weights, [path for _, path in nodes[:count]]


@pytest.mark.parametrize(("branching", "depth"), [(1, 1), (1, 5), (2, 1), (2, 3), (2, 8), (3, 2), (5, 2), (7, 1)])
@pytest.mark.parametrize("decay", [1.0, 0.75])
def test_trees_are_walked_breadth_first(branching, depth, decay):
    encoding = Tree(branching=branching, depth=depth, decay=decay)
    codes, paths = walk_breadth_first(branching, depth, decay, 400)
    assert_allclose(encoding.table(400), codes, rtol=1e-15)
    if branching > 1:
        assert [encoding.describe_position(s) for s in range(400)] == paths
    keys = encoding.exact_key(np.arange(400))
    assert_array_equal(np.equal.outer(keys, keys), (codes[:, None] == codes[None]).all(axis=2))


def test_paths_beyond_the_depth_share_a_code():
    """Depth 2 of a binary tree: root/0/0/1 (node 8) is cut to 0/1, as root/0/1 (node 4) is."""
    encoding = Tree(branching=2, depth=2)
    assert_array_equal(encoding.table([4])[0], [0, 1, 1, 0])
    assert encoding.describe_position(8) == "root/0/0/1"
    assert_array_equal(encoding.exact_key(np.array([4, 8])), [4, 4])


def test_far_nodes():
    for branching, depth in ((1, 3), (2, 8), (2, 60), (1024, 1024), (1024, 2), (1000, 5)):
        encoding = Tree(branching=branching, depth=depth)
        key = encoding.exact_key(np.array([2**53, 2**53 - 1, 0]))
        assert key[2] == 0
        assert np.isfinite(encoding.table([2**53])).all()
        back = encoding.table(key[:1])
        assert_array_equal(encoding.table([2**53]), back)
    assert Tree().describe_position(2**53).startswith("root/.../")
    assert Tree(branching=1).describe_position(2**53) == f"depth {2**53}"


# ----------------------------------------------------------------------------------- recurrent states


def test_states_written_out():
    weights = np.array([[0.5, -0.25, 1.0], [0.125, 0.75, -0.5]])
    encoding = Rnn(values=weights, length=6)
    state, expected = [0.0, 0.0], []
    for _ in range(6):
        state = [math.tanh(sum(w * h for w, h in zip(row[:2], state, strict=True)) + row[2]) for row in weights]
        expected.append(state)
    assert_allclose(encoding.table(6), expected, rtol=0, atol=1e-15)
    assert encoding.d == 2
    assert not encoding.is_random
    assert Rnn(**encoding.given) == encoding


def test_a_drawn_network_settles():
    encoding = Rnn(length=400)
    table = encoding.table(400)
    assert encoding.is_random
    start = int(encoding.notes[-1].split("position ")[1].split()[0])
    assert 20 < start < 80
    assert np.abs(table[start:] - table[start]).max() < 1e-11
    assert np.abs(table[start] - table[start - 1]).max() > 1e-12
    matrix, constant = encoding.entries[:, :-1], encoding.entries[:, -1]
    assert_allclose(np.tanh(matrix @ table[-1] + constant), table[-1], atol=1e-15)
    assert np.abs(matrix).max() <= 1 / 8
    assert np.abs(matrix).max() > 0.99 / 8
    assert not np.array_equal(Rnn(seed=1).table(5), Rnn(seed=0).table(5))


def test_a_network_without_drive_stays_at_zero():
    encoding = Rnn(values=np.array([[0.5, 0.0]]), length=5)
    assert_array_equal(encoding.table(5), np.zeros((5, 1)))
    assert "position 0" in encoding.notes[-1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"values": np.ones((3, 3))}, "table has shape"),
        ({"values": np.ones((3, 4)), "d": 4}, "d contradicts"),
        ({"values": np.ones((3, 4)), "seed": 4}, "seed has no meaning"),
        ({"d": 4096, "length": 2**20}, "too large to hold"),
    ],
)
def test_networks_refuse_what_does_not_fit(given, message):
    with pytest.raises(InputError, match=message):
        Rnn(**given)


def test_tables_end_with_their_rows():
    for encoding in (Rnn(), Sincos2d(), Sincos2d(cls="yes"), Hybrid()):
        assert encoding.table([encoding.rows - 1]).shape == (1, encoding.d)
        with pytest.raises(InputError, match="a position has no row"):
            encoding.table([encoding.rows])
