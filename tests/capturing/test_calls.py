"""Calling modules of other people: what their arguments are given, and what is read in what they give."""

import numpy as np
import pytest

from pe_spectra.capturing.calls import call, find_way, list_attempts, read_answer
from pe_spectra.errors import InputError
from tests.capturing.fakes import Tensor, make_ladder, turn

POSITIONS = np.arange(12)
OWN = Tensor(np.ones(4))
ANGLES = POSITIONS[:, None] * make_ladder(4)


def give(function, positions=POSITIONS, **named):
    way = find_way(function, list_attempts(function, OWN, positions, 8, ""), **named)
    return call(function, way, **named)


def is_turned(found):
    np.testing.assert_allclose(found.values[:, :4], np.cos(ANGLES), atol=1e-6)
    np.testing.assert_allclose(np.hsplit(found.values, 2)[1][:, :4], np.sin(ANGLES), atol=1e-6)
    return found.what == "rotation"


# ----------------------------------------------------------------------------------- arguments


def test_arguments_are_made_after_their_names():
    def forward(x, position_ids, seq_len, layer_type, device, dtype, offset=0, scale=None): ...

    attempt = next(list_attempts(forward, OWN, POSITIONS, 8, "full_attention"))
    first = attempt.make()
    assert attempt.make()["x"] is not first["x"]
    assert first["x"].shape == (1, 12, 8)
    assert first["x"].name == "float32"
    assert first["position_ids"].values.tolist() == [POSITIONS.tolist()]
    assert first["position_ids"].name == "int64"
    assert (first["seq_len"], first["layer_type"], first["device"]) == (12, "full_attention", "cpu")
    assert str(first["dtype"]) == "fake.float32"
    assert "offset" not in first
    assert "scale" not in first


def test_positions_are_not_rounded_on_their_way_through_a_narrow_type():
    first = next(list_attempts(lambda pos: ..., Tensor(np.ones(2), "bfloat16"), np.arange(600), 2, "")).make()
    assert first["pos"].values[0, 599] == 599


@pytest.mark.parametrize(
    "function",
    [
        lambda x, position_ids: turn(position_ids.values[0][:, None] * make_ladder(4)),
        lambda positions: turn(positions.values[:12, None] * make_ladder(4)) if positions.values.ndim == 1 else 1 / 0,
        lambda position_ids: (
            [Tensor(one.values[:, 0][:, None]) for one in turn(position_ids.values[..., None] * make_ladder(4))]
            if len(position_ids.shape) == 3
            else 1 / 0
        ),
        lambda seq_len: turn(np.arange(seq_len)[:, None] * make_ladder(4)),
        lambda t: Tensor(t.values.reshape(-1)[:, None] * make_ladder(4)),
        lambda hidden_states: Tensor([one.values for one in turn(ANGLES)]) if hidden_states.shape[1] == 12 else 1 / 0,
        lambda anything: {"sin": turn(ANGLES)[1], "cos": turn(ANGLES)[0], "note": "two"},
        lambda pos: Tensor(np.exp(1j * ANGLES), "complex64"),
        lambda pos: Tensor(np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=-1)),
        lambda pos: Tensor(np.hstack([np.cos(ANGLES), np.sin(ANGLES)])),
    ],
    ids=["batch", "flat", "axes", "length", "angles", "stacked", "by name", "complex", "parts", "one array"],
)
def test_ways_to_take_positions_and_to_give_cosines_and_sines(function):
    assert is_turned(give(function, turns=True))


def test_rows_of_all_positions_are_taken_at_those_that_were_asked_for():
    asked = np.array([0, 1, 2, 7])
    found = give(lambda seq_len: turn(np.arange(seq_len)[:, None] * make_ladder(4)), asked)
    np.testing.assert_allclose(found.values[:, 0], np.cos(asked), atol=1e-6)


def test_without_a_rotation_one_array_is_a_table():
    table = np.random.default_rng(0).normal(size=(12, 8))
    assert give(lambda x: Tensor(x.values + table)).what == "table"
    assert give(lambda x: Tensor(x.values + np.hstack([np.cos(ANGLES), np.sin(ANGLES)]))).what == "table"


def test_one_row_for_all_positions_is_that_of_a_batch():
    table = np.random.default_rng(0).normal(size=(12, 1, 8))
    found = give(lambda x: Tensor(x.values + table[: x.shape[0]]))
    np.testing.assert_allclose(found.values, table[:, 0], atol=1e-6)


def test_two_arrays_that_lie_on_no_circle_are_no_rotation():
    assert read_answer((Tensor(ANGLES), Tensor(ANGLES + 1)), POSITIONS) is None
    assert read_answer((Tensor(np.cos(ANGLES)), Tensor(np.sin(ANGLES[:, :2]))), POSITIONS) is None


# ----------------------------------------------------------------------------------- refusals


def fail(x):
    raise IndexError(f"index {x.shape[1]}\nand more")


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda grid, thw: None, "its argument grid is not known"),
        (fail, "IndexError: index 12"),
        (lambda x: None, "it gives NoneType, in which no rows of 12 positions were found"),
        (lambda x: Tensor(np.ones((3, 2))), "it gives 3 x 2, in which no rows of 12 positions were found"),
        (lambda x: Tensor(1.0), "it gives a single number, in which no rows of 12 positions were found"),
        (lambda x: Tensor(np.full((12, 2), np.nan)), "it gives 12 x 2, in which no rows of 12 positions were found"),
        (lambda x: Tensor(np.ones((12, 0))), "it gives 12 x 0, in which no rows of 12 positions were found"),
        (
            lambda x: Tensor(np.ones((12, 8)) > 0, "bool"),
            "it gives 12 x 8, in which no rows of 12 positions were found",
        ),
        (int, "its arguments are not known"),
    ],
)
def test_what_cannot_be_called_says_why(function, why):
    with pytest.raises(InputError) as caught:
        give(function, turns=True)
    assert caught.value.given == why


@pytest.mark.parametrize("given", [np.zeros((12, 8)), np.ones((12, 3))])
def test_one_array_that_turns_nothing_is_no_rotation(given):
    assert read_answer(Tensor(given), POSITIONS, turns=True) is None
