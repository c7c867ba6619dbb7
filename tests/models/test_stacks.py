"""What all implementations make of a file: an answer or a refusal for each scaling; layouts, layers, odd statements."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra.encodings.rotary import Rope
from pe_spectra.errors import InputError
from pe_spectra.models.stacks import STACKS, Refusal, find_stack, list_releases
from pe_spectra.models.stacks.conformance import tabulate_conformance
from tests.models.configurations import scale_as
from tests.models.stack_configurations import AXIAL, EXAMPLES, LONG, NAMES, YARN, block, read, refuse, state


def test_every_stack_names_what_was_read():
    assert tuple(STACKS) == (*NAMES, *AXIAL)
    for name, stack in STACKS.items():
        assert stack.name == name
        assert len(stack.title) > 10
        assert len(stack.source) > 20


@pytest.mark.parametrize("one", list_releases(), ids=lambda one: one.release_name)
def test_a_release_is_found_by_its_version_and_the_newest_without(one):
    assert find_stack(one.release_name, "--stack") is one
    assert find_stack(one.name, "--stack") is STACKS[one.name]
    newest = next(other for other in list_releases() if other.package == one.package) if one.package else one
    assert find_stack(one.package or one.name, "--stack") is newest


@pytest.mark.parametrize(
    ("text", "version"), [("vllm==0.33", "0.33.0"), ("keras-hub==0.31", "0.31.0"), ("transformers>=5.0", "5.24.0")]
)
def test_zeros_at_the_end_of_a_version_are_left_out_as_pip_does(text, version):
    assert find_stack(text, "--stack").version == version


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("vllm==0.3", "vllm==0.33.0, vllm==0.19.1 are accepted"),
        ("vllm==0.20", "vllm==0.33.0, vllm==0.19.1 are accepted"),
        ("torchtune==0.6", "torchtune==0.6.1 is accepted"),
        ("vllm>=9", "vllm==0.33.0, vllm==0.19.1 are accepted"),
        ("meta==2", "did you mean meta?"),
        ("llamacpp", "did you mean llama.cpp?"),
        ("", "accepted: transformers-5"),
    ],
)
def test_a_name_or_version_that_is_not_known(text, said):
    with pytest.raises(InputError) as caught:
        find_stack(text, "--stack")
    assert said in str(caught.value)


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("name", NAMES)
def test_every_stack_answers_every_scaling(name, kind):
    configuration = EXAMPLES[kind]
    found = STACKS[name].read(configuration, configuration.layers[0], 32768)
    if isinstance(found, Refusal):
        assert kind not in STACKS[name].kinds
        assert kind in found.reason
        return
    assert found.frequencies.shape == (configuration.layers[0].head_dim // 2,)
    assert found.frequencies.dtype == np.float64
    assert not found.frequencies.flags.writeable
    assert np.all(np.diff(found.frequencies) < 0)
    assert found.layout in ("half", "interleaved")
    assert found.attention_scaling >= 1
    assert found.offset == 0
    assert found.rotary_dim == 2 * len(found.frequencies)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_options_are_those_of_the_catalogue(kind):
    """The encoding that `rope` builds of the options has the same frequencies."""
    for name in ("transformers-5", "transformers-4"):
        found = read(name, EXAMPLES[kind], 32768)
        again = Rope(d=found.head_dim, base=found.base, layout=found.layout, scaling=found.scaling, **found.options)
        assert_array_equal(again.frequencies().values, found.frequencies)
        assert again.frequencies().amplitude == found.attention_scaling


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_description_is_the_answer_of_transformers_5(kind):
    configuration = EXAMPLES[kind]
    rope = Rope(**read("transformers-5", configuration, 32768).parameters)
    assert_array_equal(rope.frequencies().values, read("transformers-5", configuration, 32768).frequencies)


def test_a_description_says_no_more_than_needed():
    configuration = state(block(base=5e5), head_dim=16)
    assert read("transformers-5", configuration).parameters == {"d": 16, "base": 5e5}
    configuration = state(block(base=5e5), head_dim=80, share=0.4, layout="interleaved")
    expected = {"d": 80, "base": 5e5, "share": 0.4, "layout": "interleaved"}
    assert read("transformers-5", configuration).parameters == expected


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("nonsense", {}, "rope_type is not known to transformers 5.24.0 (nonsense)"),
        ("linear", {}, "rope_scaling: factor is not set"),
        ("dynamic", {}, "rope_scaling: factor is not set"),
        ("llama3", {"factor": 8.0}, "low_freq_factor is not set"),
        ("longrope", {"short_factor": (1.0,) * 64}, "long_factor is not set"),
        ("longrope", {**LONG}, "48 numbers"),
        ("yarn", {"original_max_position_embeddings": 4096.0}, "rope_scaling: factor is not set"),
    ],
)
def test_what_transformers_5_refuses(kind, values, said):
    assert said in refuse("transformers-5", state(block(kind, values)))


@pytest.mark.parametrize(
    ("kind", "values", "cause"),
    [
        ("nonsense", {}, "unknown-scaling"),
        ("linear", {}, "key-missing"),
        ("linear", {"factor": 1e-320}, "refused"),
        ("longrope", LONG, "list-length"),
        ("longrope", {**LONG, "short_factor": (0.0,) * 64, "long_factor": (0.0,) * 64}, "refused"),
    ],
)
def test_the_place_that_refuses_names_the_cause(kind, values, cause):
    configuration = state(block(kind, values), length=131072)
    assert STACKS["transformers-5"].read(configuration, configuration.layers[0], None).cause == cause


def test_a_path_names_no_cause():
    configuration = replace(state(block(base=0.0)), path="rope_type/is not set/config.json")
    assert STACKS["transformers-5"].read(configuration, configuration.layers[0], None).cause == "refused"


def test_numbers_in_notes_have_all_their_digits():
    large = {**YARN, "original_max_position_embeddings": 1048576.0}
    assert any("1048576 is not read" in note for note in read("transformers-4", state(block("dynamic", large))).notes)
    silent = state(block("linear", {"factor": 2.0}, base=None), default_base=1e6)
    assert "the file gives it no base, so 1000000 is taken" in read("transformers-5", silent).notes[0]


def test_widths_that_cannot_be_turned():
    odd = state(block(), head_dim=80, share=0.4125, model="exaone")  # llama.cpp reads no share for many others
    for name in NAMES:
        if not name.startswith("transformers"):
            assert "width" in refuse(name, odd) or name in ("meta", "torchtune")


def test_an_odd_width_is_rounded_up_by_transformers():
    """1 / base ** (arange(0, 33, 2) / 33) are 17 frequencies, as the real modules have them."""
    for name in ("transformers-5", "transformers-4"):
        found = read(name, state(block(), head_dim=80, share=0.4125))
        np.testing.assert_allclose(found.frequencies, 1e4 ** (-np.arange(0, 33, 2) / 33), rtol=1e-12)
        assert "is odd, 33: 34 channels are turned, by base 10000 with exponents over 33" in found.notes[-1]


def test_a_length_that_is_nowhere():
    assert "max_position_embeddings" in refuse("transformers-5", state(block("dynamic", {"factor": 2.0}), length=None))
    found = read("transformers-5", state(block("yarn", YARN), length=None))
    assert found.options["original"] == 4096


def test_layers_that_are_not_turned():
    configuration = state(block(), turns=False, name="nope")
    for name in NAMES:
        found = read(name, configuration)
        assert found.rotary_dim == 0
        assert len(found.frequencies) == 0


def test_the_type_of_the_cache_follows_the_model():
    configuration = replace(EXAMPLES["default"], dtype="bfloat16")
    assert [read(name, configuration).dtype for name in NAMES] == [
        *("bfloat16", "bfloat16", "bfloat16", "float32", "bfloat16", *["float32"] * 4, None)
    ]


_NUMBERS = (1e-300, 0.5, 1.0, 2.0, 8.0, 32.0, 1e6, 1e300)
_KINDS = (*EXAMPLES, "su", "mrope", "ntk", "proportional", "nonsense")
_KEYS = (
    *("factor", "beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim"),
    *("low_freq_factor", "high_freq_factor", "alpha"),
)


def draw_block(rng, where, width):
    values = {key: rng.choice(_NUMBERS) for key in _KEYS if rng.random() < 0.6}
    if rng.random() < 0.6:
        values["original_max_position_embeddings"] = rng.choice((1.0, 4096.0, 2.0**40))
    if rng.random() < 0.5:
        values["truncate"] = rng.random() < 0.5
    for key in ("short_factor", "long_factor"):
        if rng.random() < 0.7:
            values[key] = tuple(rng.choice(_NUMBERS) for _ in range(rng.choice((width // 2, 3))))
    return block(rng.choice(_KINDS), values, rng.choice((None, *_NUMBERS)), where)


def test_no_statement_is_too_odd():
    """Whatever a file may state, each stack answers with finite numbers or refuses in one line."""
    rng = random.Random(7)
    answers = 0
    for _ in range(400):
        width = rng.choice((1, 2, 4, 8, 64, 80))
        configuration = state(
            draw_block(rng, rng.choice(("", "rope_scaling")), width) if rng.random() < 0.7 else None,
            draw_block(rng, "rope_parameters", width) if rng.random() < 0.5 else None,
            length=rng.choice((None, 1, 4096, 1 << 40)),
            model=rng.choice(("", "llama", "deepseek_v3", "hunyuan_v1", "phi3", "llama4_text")),
            head_dim=width,
            share=rng.choice((1.0, 0.5, 0.4, 0.01)),
            layout=rng.choice(("half", "interleaved")),
        )
        for row in tabulate_conformance(configuration, rng.choice((None, 1, 4096, 1 << 40))):
            if row.refusal is not None:
                assert "\n" not in row.refusal
                continue
            answers += 1
            assert math.isfinite(row.attention_scaling)
            assert row.smallest_ratio is None or all(map(math.isfinite, (row.smallest_ratio, row.largest_ratio)))
    assert answers > 300


def test_a_single_position_is_not_lengthened():
    """LlamaRotaryEmbedding of transformers 4.57.6 and 5.24.0 with max_position_embeddings 1, heads of 8, factor 8."""
    configuration = state(block("dynamic", {"factor": 8.0}), length=1, head_dim=8)
    one, two = (read("transformers-5", configuration, served).frequencies for served in (1, 2))
    np.testing.assert_allclose(one, [1.0, 0.1, 0.01, 0.001], rtol=1e-15)
    np.testing.assert_allclose(two, [1.0, 0.048074985676914, 0.002311204247836, 0.000111111111111], rtol=1e-11)


@pytest.mark.parametrize("kind", ["dynamic", "longrope"])
def test_a_single_position_is_served_as_few_are(kind):
    configuration = state(block(kind, {**LONG, "factor": 8.0}), head_dim=96)
    one, few = (read("transformers-5", configuration, served) for served in (1, 100))
    assert one.rope.served == 1
    assert_array_equal(one.frequencies, few.frequencies)


LONGROPE = {"rope_type": "longrope", "short_factor": [1.0] * 64, "long_factor": [2.0] * 64, "factor": 32.0}


# ---------------------------------------------------------------------------------- what implementations make of a file


@pytest.mark.parametrize("name", ["vllm", "keras-hub"])
def test_longrope_takes_its_attention_factor_from_the_lengths(name):
    lengths = {"max_position_embeddings": 131072, "original_max_position_embeddings": 4096, "model_type": "phi3"}
    scaling = {key: value for key, value in LONGROPE.items() if key != "factor"}
    plain = scale_as(name, **lengths, rope_theta=1e4, rope_scaling=scaling)
    given = scale_as(name, **lengths, rope_theta=1e4, rope_scaling={**LONGROPE, "attention_factor": 1.2})
    assert given.attention_scaling == plain.attention_scaling
    note = "factor and attention_factor are not read: the lengths give the attention factor"
    assert (note in given.notes, note in plain.notes) == (True, False)
