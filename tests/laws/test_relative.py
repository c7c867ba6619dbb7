"""What the encodings of lags have in common: views, heads, seeds, lengths and refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pe_spectra.encodings import ENCODINGS
from pe_spectra.encodings.bias_maps import Fire, Swin, Tupe
from pe_spectra.encodings.biases import Alibi, Kerple, Sandwich
from pe_spectra.encodings.heads import HeadedEncoding
from pe_spectra.encodings.lag_tables import T5, Erpe, Shaw
from pe_spectra.encodings.protocol import HasBias, HasBiasMap, HasKernel, HasLagTable, HasTable
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_POSITION

CLASSES = tuple(cls for cls in ENCODINGS if cls.family == "relative")
HEADED = [cls for cls in CLASSES if issubclass(cls, HeadedEncoding)]
every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.name)
every_headed = pytest.mark.parametrize("cls", HEADED, ids=lambda cls: cls.name)

TABLE = np.random.default_rng(7).normal(size=(32, 12))


def compute_numbers(encoding, size=9):
    """What the encoding has for a few lags or positions, heads first."""
    if isinstance(encoding, HasBiasMap):
        return encoding.bias_map(size)
    if isinstance(encoding, HasLagTable):
        return encoding.lag_table(np.arange(size))[None]
    return encoding.bias(np.arange(size))


# ----------------------------------------------------------------------------------- all of them


def test_eleven_names():
    names = [cls.name for cls in CLASSES]
    assert sorted(names) == [
        "alibi",
        "deberta",
        "erpe",
        "fire",
        "kerple",
        "sandwich",
        "shaw",
        "swin",
        "t5",
        "transformer-xl",
        "tupe",
    ]


@every_class
def test_views_are_those_of_lags(cls):
    encoding = cls()
    assert encoding.domain == "lags"
    assert encoding.causal in (True, False)
    assert sum(isinstance(encoding, view) for view in (HasBias, HasBiasMap, HasLagTable)) == 1
    assert not isinstance(encoding, HasTable | HasKernel)
    assert (encoding.theorem is not None) == (not isinstance(encoding, HasBiasMap))
    assert encoding.family == "relative"


@every_class
def test_numbers_are_finite_and_the_same_every_time(cls):
    encoding = cls()
    numbers = compute_numbers(encoding)
    assert numbers.dtype == np.float64
    assert numbers.shape[0] == encoding.kernel_count
    assert np.isfinite(numbers).all()
    again = cls(**encoding.given)
    assert again == encoding
    assert hash(again) == hash(encoding)
    assert_array_equal(numbers, compute_numbers(again))


@every_class
def test_the_default_length_can_be_asked_for(cls):
    encoding = cls()
    assert 2 <= encoding.default_length <= 512
    assert compute_numbers(encoding, encoding.default_length).shape[1] == encoding.default_length


@every_headed
def test_a_head_is_a_row_of_all(cls):
    numbers = compute_numbers(cls())
    for head in (0, 2, len(numbers) - 1):
        one = cls(head=head)
        assert one.kernel_count == 1
        assert_allclose(compute_numbers(one)[0], numbers[head], rtol=1e-13, atol=1e-300)
    with pytest.raises(InputError, match="head is out of range"):
        cls(head=len(numbers))


@every_headed
def test_heads_are_counted(cls):
    assert cls(heads=3).kernel_count == 3
    assert cls(heads=3).parameters["heads"] == 3
    for count in (0, 1025, 2.5, "3"):
        with pytest.raises(InputError, match=f"{cls.name}: heads"):
            cls(heads=count)


@pytest.mark.parametrize("cls", [Kerple, T5, Erpe, Shaw, Fire, Tupe, Swin])
def test_drawn_values_say_so_and_follow_the_seed(cls):
    encoding = cls()
    assert encoding.is_random
    assert any("drawn at random" in note for note in encoding.notes)
    assert np.any(compute_numbers(encoding) != compute_numbers(cls(seed=1)))


@pytest.mark.parametrize("cls", [Alibi, Sandwich])
def test_a_formula_is_not_random(cls):
    assert not cls().is_random
    assert not cls().notes


@pytest.mark.parametrize("cls", [Alibi, Kerple, Sandwich, T5, Erpe])
def test_lags_that_are_none_are_refused(cls):
    for lags in ([1.5], [[1, 2]], ["a"], [MAX_POSITION + 1]):
        with pytest.raises(InputError):
            cls().bias(lags)
    assert cls().bias([]).shape == (8, 0)


@pytest.mark.parametrize("encoding", [Alibi(), Kerple(), Sandwich(), T5(bidirectional="no")], ids=lambda e: e.name)
def test_causal_biases_have_no_negative_lags(encoding):
    assert encoding.causal
    assert np.isfinite(encoding.bias([0, 1, MAX_POSITION])).all()
    for ask in (encoding.bias, encoding.exact_key):
        with pytest.raises(InputError, match=r"a lag is negative \(-3\)"):
            ask(np.array([1, -3]))


@pytest.mark.parametrize("cls", [Fire, Tupe, Swin])
def test_lengths_of_maps(cls):
    assert compute_numbers(cls(), 1).shape[1:] == (1, 1)
    for length in (0, -1, 2.5, 1 << 30, True):
        with pytest.raises(InputError):
            cls().bias_map(length)
    if cls is not Swin:
        big, small = compute_numbers(cls(), 20), compute_numbers(cls(), 12)
        assert_allclose(big[:, :12, :12], small, rtol=1e-12)


def test_what_cannot_be_held_is_refused():
    with pytest.raises(InputError, match="too large to hold"):
        Alibi(heads=1024).bias(np.zeros(MAX_HELD_ENTRIES // 1024 + 1, dtype=int))
    with pytest.raises(InputError, match="too large to hold"):
        Fire().bias_map(10000)
    with pytest.raises(InputError, match="too large to hold"):
        Erpe(length=1 << 20, heads=1024)
    with pytest.raises(InputError, match="too large to hold"):
        Tupe(heads=64, width=256)
    with pytest.raises(InputError, match="too large to hold"):
        Shaw(clip=1 << 16, d=1 << 10)


KEYED = [
    Alibi(),
    Alibi(direction="no"),
    Kerple(),
    Kerple(kind="power", head=3),
    Sandwich(),
    Sandwich(first=0, d=6, head=1),
    T5(),
    T5(bidirectional="no"),
    T5(values=np.repeat(TABLE[:8], 4, axis=0)),
    Erpe(length=40),
    Erpe(values=np.array([[1.0], [2], [3], [2], [-0.0], [0.0], [1]])),
    Shaw(),
    Shaw(values=np.array([[1.0, 2], [0, 1], [1, 2]])),
]


@pytest.mark.parametrize("encoding", KEYED, ids=lambda encoding: encoding.label)
def test_keys_are_equal_where_the_numbers_are(encoding):
    reach = min(40, encoding.default_length)
    lags = np.arange(0 if encoding.causal else 1 - reach, reach)
    keys = encoding.exact_key(lags)
    assert keys.dtype == np.int64
    assert keys.shape == lags.shape
    numbers = encoding.lag_table(lags).T if isinstance(encoding, HasLagTable) else encoding.bias(lags)
    same = np.abs(numbers[:, :, None] - numbers[:, None, :]).max(axis=0) < 1e-12
    assert_array_equal(np.equal.outer(keys, keys), same)
    assert encoding.theorem.kind.replace("-", "").isalnum()
    assert len(encoding.theorem.text) > 20
