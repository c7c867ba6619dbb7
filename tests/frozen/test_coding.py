"""Records as values of JSON: what comes back is what was written, and anything else is refused in one line."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra.exact import F64
from pe_spectra.frozen.coding import decode, decode_record, encode
from pe_spectra.frozen.entries import FrozenFinding
from pe_spectra.models.dumps.dump import Arrangement
from tests.refusing import catch


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_come_back_to_the_last_bit(values):
    written = json.loads(json.dumps(encode(np.array(values))))
    assert [pair[1] for pair in written] == values
    found = decode(F64, written, "w")
    assert found.tobytes() == np.array(values).tobytes()
    assert not found.flags.writeable


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int | None, None),
        (float, 0.5),
        (tuple[int, ...], (1, 2)),
        (tuple[int, int] | None, None),
        (Mapping[str, float], {"a": 0.5}),
        (Arrangement | None, Arrangement(interleaved=True, sines_first=False)),
        (Any, {"a": 1}),
        (bool, True),
        (FrozenFinding, FrozenFinding(level="note", code="a", layers="all", message="said")),
    ],
)
def test_values_come_back(hint, value):
    assert decode(hint, json.loads(json.dumps(encode(value))), "it") == value


def test_what_is_not_finite_is_a_word_that_is_refused():
    assert encode({"w": math.inf}) == {"w": "inf"}
    assert catch(decode, float, "inf", "w") == "w is no such value (inf); a number is accepted"


def test_an_array_of_two_axes_is_lists():
    assert encode(np.eye(2)) == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("hint", "value", "said"),
    [
        (int, 1.5, "it is no such value (1.5); an integer is accepted"),
        (int, True, "it is no such value (True); an integer is accepted"),
        (str, 1, "it is no such value (1); a text is accepted"),
        (bool, 1, "it is no such value (1); true or false is accepted"),
        (str, None, "it is no such value (None); a text is accepted"),
        (tuple[int, ...], {}, "it is no such value ({}); a list is accepted"),
        (Mapping[str, int], [1], "it is no such value ([1]); an object is accepted"),
        (tuple[int, ...], [1, "x"], "it[1] is no such value (x); an integer is accepted"),
        (Mapping[str, int], {"a": "x"}, "it.a is no such value (x); an integer is accepted"),
        (F64, [["0x1p+0"]], "it[0] is no number (['0x1p+0']); "),
        (F64, [["one", 1.0]], "it[0] is no number (['one', 1.0]); "),
        (F64, [["0x1p+0", 1.5]], "it[0] has two numbers that differ (['0x1p+0', 1.5]); 1.0 is the first"),
        (F64, [["0x1p+0", []]], "it[0] has two numbers that differ (['0x1p+0', []]); 1.0 is the first"),
        (F64, [["0x1p+9999", 1.0]], "it[0] is no number"),
        (Arrangement, {"interleaved": True}, "it lacks a key (sines_first); a file with sines_first is accepted"),
        (FrozenFinding, {"level": "note"}, "it lacks a key (code); a file with code is accepted"),
        (
            FrozenFinding,
            {"level": "note", "code": "a", "x": 1},
            "it has a key that is not known (x); this version knows ",
        ),
        (FrozenFinding, {"level": "fatal", "code": "a"}, "it.level is no such word (fatal); of note, warning, error"),
    ],
)
def test_what_is_refused(hint, value, said):
    assert catch(decode, hint, value, "it", most=400).startswith(said)


def test_a_field_with_a_default_may_be_missing():
    assert decode_record(FrozenFinding, {"level": "note", "code": "a"}, "it").layers is None
