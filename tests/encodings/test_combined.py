"""Hybrids: sums, concatenations and mixes of encodings."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings.absolute import Dft
from pe_spectra.encodings.calendar import Calendar
from pe_spectra.encodings.combined import Hybrid
from pe_spectra.encodings.grids import Sincos2d
from pe_spectra.encodings.learned import Learned
from pe_spectra.encodings.protocol import Encoding, HasContinuousTable
from pe_spectra.encodings.sinusoidal import Sinusoidal
from pe_spectra.encodings.structural import Rnn
from pe_spectra.errors import InputError


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


@pytest.mark.parametrize("mode", ["sum", "concat", "mix"])
def test_it_takes_real_positions_where_all_its_members_do(mode):
    members, times = (Sinusoidal(d=4), Sinusoidal(d=4, rho=7.0)), np.array([0.25, 3.0, -1.5])
    encoding = Hybrid(of=members, weights=(0.5, 2.0), mode=mode)
    assert isinstance(encoding, HasContinuousTable)
    parts = [weight * member.table_at(times) for weight, member in zip((0.5, 2.0), members, strict=True)]
    beside = np.concatenate(parts, axis=1)
    expected = {"sum": sum(parts), "concat": beside}
    if mode in expected:
        assert_array_equal(encoding.table_at(times), expected[mode])
    assert_allclose(encoding.table_at(np.arange(5.0)), encoding.table(5), rtol=0, atol=1e-14)
    copied = pickle.loads(pickle.dumps(encoding))
    assert copied == encoding
    assert_array_equal(copied.table_at(times), encoding.table_at(times))
    for other in (Dft(d=4), Calendar(), Learned(table=np.ones((3, 4)))):
        assert not isinstance(Hybrid(of=(members[0], other), mode="concat"), HasContinuousTable)


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
        ({"mode": "mix", "width": 2**16, "of": (Sinusoidal(d=2048),)}, "the layer is too large"),
        ({"mode": "product"}, "mode is not known"),
    ],
)
def test_hybrids_refuse_what_does_not_fit(given, message):
    with pytest.raises(InputError, match=message) as caught:
        Hybrid(**given)
    assert str(caught.value).startswith("hybrid: ")
    assert "\n" not in str(caught.value)
