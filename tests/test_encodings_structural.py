"""Trees, recurrent states, grids and hybrids, against naive versions of their definitions."""

import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.absolute import Dft, Sinusoidal
from pe_spectra.encodings.calendar import Calendar
from pe_spectra.encodings.combined import Hybrid
from pe_spectra.encodings.grids import Sincos2d
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.protocol import Encoding
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
    matrix, constant = encoding.weights
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
        ({"values": np.ones((3, 4)), "width": 4}, "d contradicts"),
        ({"values": np.ones((3, 4)), "seed": 4}, "seed has no meaning"),
        ({"width": 4096, "length": 2**20}, "too large to hold"),
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


# ----------------------------------------------------------------------------------- grids


def encode_mae(d, height, width, rho=10000.0):
    """facebookresearch/mae, util/pos_embed.py, with loops: the first half encodes the column."""
    rows = []
    for y in range(height):
        for x in range(width):
            row = []
            for place in (x, y):
                angles = [place / rho ** (i / (d / 4)) for i in range(d // 4)]
                row += [math.sin(a) for a in angles] + [math.cos(a) for a in angles]
            rows.append(row)
    return np.array(rows)


def test_sincos2d_is_that_of_mae():
    encoding = Sincos2d(d=16, height=3, width=5)
    assert_allclose(encoding.table(15), encode_mae(16, 3, 5), rtol=0, atol=1e-15)
    assert encoding.shape == (3, 5)
    with_cls = Sincos2d(d=16, height=3, width=5, cls="yes")
    assert_array_equal(with_cls.table(16)[1:], encoding.table(15))
    assert_array_equal(with_cls.table(1), np.zeros((1, 16)))
    assert [with_cls.describe_position(s) for s in (0, 1, 15)] == ["CLS", "row 0, column 0", "row 2, column 4"]


def test_orders_are_permutations_of_columns():
    """timm, layers/pos_embed_sincos.py: the row of the grid first; sines then cosines unless interleaved."""
    quarters = {
        order: np.split(Sincos2d(d=8, order=order).table(196), 4, axis=1)
        for order in Sincos2d.accepts[-1].accepts.members
    }
    sin_x, cos_x, sin_y, cos_y = quarters["mae"]
    assert_array_equal(quarters["timm"], [sin_y, sin_x, cos_y, cos_x])
    assert_array_equal(quarters["timm-interleaved"], [sin_y, cos_y, sin_x, cos_x])
    assert_allclose(sin_y[14], np.sin([1, 0.01]), rtol=1e-15)


def test_sincos2d_to_many_digits():
    encoding = Sincos2d(d=8, height=1, width=2**20, rho=123.0)
    with mpmath.workdps(50):
        for s in (2**20 - 1, 777_777):
            w = mpmath.mpf(123) ** (-mpmath.mpf(1) / 2)
            row = encoding.table([s])[0]
            assert abs(row[1] - mpmath.sin(w * s)) < 2.3e-16
            assert abs(row[3] - mpmath.cos(w * s)) < 2.3e-16
    with pytest.raises(InputError, match="multiple of 4"):
        Sincos2d(d=6)


# ----------------------------------------------------------------------------------- hybrids


def test_the_default_is_half_and_half():
    """Seed article: inputs + 0.5 * sinusoidal + 0.5 * learned."""
    encoding = Hybrid()
    expected = 0.5 * Sinusoidal().table(512) + 0.5 * Learned(init="normal").table(512)
    assert_array_equal(encoding.table(512), expected)
    assert encoding.rows == encoding.default_length == 512
    assert encoding.is_random
    assert Hybrid(**encoding.given) == encoding == Hybrid(of=(Sinusoidal(), Learned(init="normal")))
    assert hash(Hybrid()) == hash(encoding)
    assert encoding.spec.startswith("hybrid:of='sinusoidal:d=256")


def test_sum_concatenation_and_mix():
    members = (Sinusoidal(d=6), Dft(d=6))
    tables = [member.table(9) for member in members]
    assert_array_equal(Hybrid(of=members).table(9), 0.5 * tables[0] + 0.5 * tables[1])
    assert_array_equal(Hybrid(of=members, weights=(2, -1)).table(9), 2 * tables[0] - tables[1])
    beside = Hybrid(of=members, mode="concat")
    assert_array_equal(beside.table(9), np.concatenate(tables, axis=1))
    assert (beside.d, beside.rows, beside.is_random) == (12, None, False)
    layer = np.arange(36.0).reshape(3, 12)
    mix = Hybrid(of=members, mode="mix", layer=layer, weights=(1, 3))
    assert_allclose(mix.table(9), np.concatenate([tables[0], 3 * tables[1]], axis=1) @ layer.T, rtol=1e-13, atol=1e-13)
    assert (mix.d, mix.is_random) == (3, False)
    drawn = Hybrid(of=members, mode="mix", width=5, seed=2)
    assert drawn.table(9).shape == (9, 5)
    assert drawn.is_random
    assert Hybrid(**drawn.given) == drawn
    assert Hybrid(**mix.given) == mix


def test_hybrids_speak_as_their_members():
    encoding = Hybrid(of=(Sinusoidal(d=4), Calendar(fields=("hour", "weekday"))), mode="sum")
    assert encoding.describe_position(73) == "Mon 2016-07-04 01:00"
    assert encoding.default_length == 192
    grid = Sincos2d(d=8)
    assert Hybrid(of=(grid, grid)).shape == (14, 14)
    assert Hybrid(of=(grid, Sinusoidal(d=8))).shape is None
    assert Hybrid(of=(grid, Sinusoidal(d=8))).rows == 196
    assert Hybrid(of=(Rnn(length=300), Rnn(seed=1)), weights=(1, 1)).notes
    assert encoding.label == "hybrid sum: 0.5 x sinusoidal d=4 rho=10000 + 0.5 x calendar fields=hour+weekday"
    nested = Hybrid(of=(encoding, Sinusoidal(d=4)))
    assert_array_equal(nested.table(5), 0.5 * encoding.table(5) + 0.5 * Sinusoidal(d=4).table(5))


class WithoutTable(Encoding):
    name, accepts = "bias", ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"of": (Sinusoidal(d=4), Sinusoidal(d=6))}, "different widths"),
        ({"of": (Sinusoidal(d=4),), "weights": (1, 2)}, "not as many"),
        ({"of": ()}, "no list of encodings"),
        ({"of": (WithoutTable(),)}, "without a table"),
        ({"weights": (1,)}, "not as many"),
        ({"width": 4}, "d has no meaning here"),
        ({"layer": np.ones((4, 512))}, "layer has no meaning here"),
        ({"mode": "mix", "layer": np.ones((4, 5))}, "layer has shape"),
        ({"mode": "mix", "layer": np.ones((4, 512)), "width": 5}, "d contradicts"),
        ({"mode": "mix", "layer": np.ones((4, 512)), "seed": 5}, "seed has no meaning"),
        ({"mode": "mix", "width": 2**16, "of": (Sinusoidal(d=2048),)}, "d is too large"),
        ({"mode": "product"}, "mode is not known"),
    ],
)
def test_hybrids_refuse_what_does_not_fit(given, message):
    with pytest.raises(InputError, match=message) as caught:
        Hybrid(**given)
    assert str(caught.value).startswith("hybrid: ")
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------- calendar periods


@pytest.mark.parametrize(("step", "seconds"), [("1h", 3600), ("5min", 300), ("15min", 900)])
@pytest.mark.parametrize("kind", ["cyclic", "fixed", "learned"])
def test_periods_of_fields_are_exact(step, seconds, kind):
    fields = ("minute", "hour", "weekday", "day", "dayofyear", "month")
    days = {"hour": 1, "weekday": 7, "day": 146097 / 4800, "dayofyear": 365.2425, "month": 365.2425}
    expected = [days[field] * 86400 / seconds for field in fields[1:]]
    if step != "1h":  # an hour has one step then
        expected.insert(0, 3600 / seconds)
    assert_allclose(Calendar(fields=fields, step=step, kind=kind).periods_in_steps, expected, rtol=1e-15)


def test_a_field_that_cannot_be_followed_has_no_period():
    assert Calendar(fields=("hour",), step="1d").periods_in_steps == ()
    assert Calendar(fields=("hour",), step="12h").periods_in_steps == (2.0,)
    assert Calendar(fields=("minute",), minute_slot=60, step="1min").periods_in_steps == ()


def test_a_timestamp_adds_its_wavelengths():
    periods = Calendar(fields=("weekday",), timestamp="yes", timestamp_d=4).periods_in_steps
    assert_allclose(periods, [168, 2 * math.pi, 200 * math.pi], rtol=1e-15)


def test_the_nearest_period_of_a_calendar_is_its_own():
    from pe_spectra.compare import compare_encodings

    periods = [("month", 146097 / 4800 * 86400), ("week", 604800.0), ("year", 365.2425 * 86400), ("90min", 5400.0)]
    (found,) = compare_encodings([Calendar()], length=64, step_seconds=3600.0, periods=periods)
    nearest = [match.nearest_period for match in found.periods]
    assert_allclose(nearest, [146097 / 4800 * 86400, 604800, 365.2425 * 86400, 86400], rtol=1e-14)
