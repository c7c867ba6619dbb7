"""Layers of several types against each other, paired by name and within their windows."""

import math
from dataclasses import replace

import pytest

from pe_spectra.errors import InputError
from pe_spectra.models.comparison.divergence import BREAKS, Diff
from pe_spectra.models.comparison.rotations import compare_rotations
from pe_spectra.models.comparison.scheme_diff import add_beside
from pe_spectra.models.dumps.dumped_arrays import read_inverse_frequencies
from pe_spectra.models.stated.configuration import read_configuration
from tests.models.rotations import LENGTH, LLAMA, compare, make_rotation, told

FULL = make_rotation("linear", 1e6, name="full_attention", factor=8.0)
SLIDING = make_rotation(name="sliding_attention")


def test_layer_types_are_paired_by_name():
    assert compare_rotations([FULL, SLIDING], [SLIDING, FULL], length=LENGTH).agree is True


def test_one_rotation_is_compared_with_every_layer_type():
    diff = compare_rotations([FULL, SLIDING], [make_rotation()], length=LENGTH)
    assert [(layer.name, layer.agree) for layer in diff.layer_types] == [
        ("full_attention", False),
        ("sliding_attention", True),
    ]
    assert all(one.layers == ("full_attention",) for one in diff.differences)
    assert "in full_attention layers" in told(diff)[1]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_dump_of_one_layer_type_says_nothing_of_the_others(swapped):
    dump = [read_inverse_frequencies(SLIDING.frequencies)]
    sides = (dump, [FULL, SLIDING]) if swapped else ([FULL, SLIDING], dump)
    diff = compare_rotations(*sides, length=LENGTH)
    assert diff.agree is None
    assert diff.remarks[0] == f"{'A' if swapped else 'B'} has the frequencies of sliding_attention layers"
    assert "full_attention layers" in [one.what for one in diff.unknown]


def test_a_layer_type_that_is_missing_is_a_difference():
    diff = compare_rotations([FULL, SLIDING], [FULL, replace(SLIDING, name="other")], length=LENGTH)
    assert [(one.what, one.a, one.b) for one in diff.differences] == [
        ("layer_types", "sliding_attention", None),
        ("layer_types", None, "other"),
    ]
    assert diff.agree is False


def test_the_same_difference_of_two_layer_types_is_listed_once():
    others = [replace(one, layout="interleaved") for one in (FULL, SLIDING)]
    (found,) = compare_rotations([FULL, SLIDING], others, length=LENGTH).differences
    assert found.layers == ("full_attention", "sliding_attention")


def test_layers_with_a_window_are_looked_at_within_it():
    other = replace(SLIDING, frequencies=SLIDING.frequencies * (1 + 1e-4))
    reach = compare_rotations([SLIDING], [other], length=LENGTH)
    assert reach.differences[0].first_position == math.floor(BREAKS / 1e-4) + 1
    short = compare_rotations([SLIDING], [other], length=LENGTH, windows={"sliding_attention": 1024})
    assert short.differences[0].first_position is None
    assert short.layer_types[0].length == 1024
    assert short.layer_types[0].max_phase_error == pytest.approx(0.1023)


@pytest.mark.parametrize(("a", "b", "length"), [([], [LLAMA], 10), ([LLAMA], [], 10), ([LLAMA], [LLAMA], 0)])
def test_what_cannot_be_compared_is_refused(a, b, length):
    with pytest.raises(InputError):
        compare_rotations(a, b, length=length)


def test_differences_come_in_their_order():
    other = replace(
        make_rotation(), layout="interleaved", attention_scaling=1.1, offset=1, dtype="bfloat16", rotary_dim=128
    )
    diff = compare(replace(LLAMA, dtype="float32"), other)
    whats = [one.what for one in diff.differences]
    assert whats == ["base", "scaling", "layout", "attention_scaling", "offset", "dtype"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({}, {"sliding_window": None}, [("window", 4096, None, ("all",))]),
        ({"sliding_window": None}, {"sliding_window": 64}, [("window", None, 64, ("all",))]),
        ({}, {"layer_types": ["sliding_attention"], "num_hidden_layers": 1}, []),
        ({"sliding_window": 1 << 20}, {"sliding_window": None}, []),  # the context is no longer than it
        (
            {},
            {"layer_types": ["full_attention"], "num_hidden_layers": 1},
            [("window", 4096, None, ("full_attention",))],
        ),
        (
            {"sliding_window": 64},
            {"sliding_window": 64, "layer_types": ["sliding_attention", "full_attention"], "num_hidden_layers": 2},
            [("window", 64, None, ("full_attention",))],
        ),
        (
            {"layer_types": ["chunked_attention", "full_attention"], "num_hidden_layers": 2},
            {"layer_types": ["sliding_attention", "full_attention"], "num_hidden_layers": 2},
            [],
        ),
    ],
)
def test_windows_of_two_files_are_compared(one, other, expected):
    sides = (read_configuration({"model_type": "mistral"} | keys, "config.json") for keys in (one, other))
    found = Diff(agree=True, differences=(), unknown=(), layer_types=(), length=1)
    told = [(each.what, each.a, each.b, each.layers) for each in add_beside(found, *sides).differences]
    assert told == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (
            {"model_type": "smollm3", "num_hidden_layers": 8},
            {"model_type": "smollm3", "num_hidden_layers": 8, "no_rope_layers": [1] * 8},
            "2 of 8 layers are of another type, layer 3 the first: not turned in A, turned in B",
        ),
        (
            {"model_type": "gemma3_text", "num_hidden_layers": 12},
            {"model_type": "gemma3_text", "num_hidden_layers": 12, "sliding_window_pattern": 4},
            (
                "3 of 12 layers are of another type, layer 3 the first: "
                "sliding_attention, turned in A, full_attention, turned in B"
            ),
        ),
        (
            {"model_type": "modernbert", "num_hidden_layers": 4},
            {"model_type": "modernbert", "num_hidden_layers": 4, "global_attn_every_n_layers": 2},
            (
                "2 of 4 layers are of another type, layer 2 the first: sliding_attention, turned in A, full_attention, "
                "turned in B"
            ),
        ),
        (
            {"model_type": "llama4_text", "num_hidden_layers": 4},
            {"model_type": "llama4_text", "num_hidden_layers": 4, "no_rope_layers": [1] * 4},
            (
                "1 of 4 layers is of another type, layer 3 the first: full_attention, not turned in A, full_attention, "
                "turned in B"
            ),
        ),
        ({"model_type": "smollm3", "num_hidden_layers": 8}, {"model_type": "smollm3", "num_hidden_layers": 9}, None),
        ({"model_type": "llama"}, {"model_type": "llama"}, None),
    ],
)
def test_which_layers_are_of_which_type_is_compared(one, other, expected):
    sides = (read_configuration(keys, "config.json") for keys in (one, other))
    found = Diff(agree=True, differences=(), unknown=(), layer_types=(), length=1)
    told = [each.effect for each in add_beside(found, *sides).differences if each.what == "layer_types"]
    assert told == ([] if expected is None else [expected])


def test_layers_without_a_chunk_see_all():
    found = read_configuration({"model_type": "llama4_text", "attention_chunk_size": None}, "config.json")
    assert {layer.window for layer in found.layers} == {None}


def test_two_sides_of_a_window_are_told():
    sides = (
        read_configuration({"model_type": model, "local_attention": 128}, "config.json")
        for model in ("modernbert", "modernbert-decoder")
    )
    found = Diff(agree=True, differences=(), unknown=(), layer_types=(), length=1)
    (window,) = (one for one in add_beside(found, *sides).differences if one.what == "window")
    assert window.effect == "a query sees 64 before it and 64 after it in A and 63 before it and none after it in B"
    both = ({"model_type": "openai_privacy_filter", "sliding_window": size} for size in (64, None))
    found = add_beside(found, *(read_configuration(keys, "config.json") for keys in both))
    assert found.differences[0].effect == "a query sees 64 before it and 64 after it in A and all positions in B"
