"""What a user sees on the rarest ways through audits, comparisons, dumps and contexts of models."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from pe_spectra.encodings.rope_scaling import scale_llama3
from pe_spectra.errors import FileError, InputError
from pe_spectra.models.checks.judge import audit_configuration
from pe_spectra.models.comparison.effects import label_scalings
from pe_spectra.models.comparison.rotations import compare_rotations
from pe_spectra.models.comparison.tables import compare_tables
from pe_spectra.models.dumps.caches import read_cache
from pe_spectra.models.dumps.inverse_frequencies import read_inverse_frequencies
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks import STACKS, Refusal
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from pe_spectra.models.stated.meta_release import read_params

#: Heads of 128 channels.
WIDTHS = {"hidden_size": 512, "num_attention_heads": 4}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
LONGROPE = {"rope_type": "longrope", "short_factor": [1.0] * 64, "long_factor": [2.0] * 64, "factor": 32.0}
LADDER = 1e4 ** (-np.arange(16) / 16)


def read(**keys):
    """What a config.json states."""
    return read_configuration({**WIDTHS, **keys}, "config.json")


def find(configuration, code, **lengths):
    """The message of the one finding with a code; None where there is none."""
    found = [one.message for one in audit_configuration(configuration, **lengths).findings if one.code == code]
    assert len(found) <= 1
    return found[0] if found else None


def scale_as(name, **keys):
    """What a stack makes of a configuration."""
    configuration = read(**keys)
    return STACKS[name].read(configuration, configuration.layers[0], None)


def read_phi3(**keys):
    """A GGUF file with both lists of longrope, as Phi-3 has them."""
    stated = {"embedding_length": 3072, "attention.head_count": 32, "rope.dimension_count": 96, **keys}
    keys = {"general.architecture": "phi3", **{f"phi3.{name}": value for name, value in stated.items()}}
    tensors = {"rope_factors_long.weight": (2.0,) * 48, "rope_factors_short.weight": (1.0,) * 48}
    return read_gguf_configuration(keys, tensors, "m.gguf")


# audits ----------------------------------------------------------------------------------------------------


def test_nothing_is_said_of_unseen_phases_where_nobody_says_how_long_the_training_was():
    """Llama 3's scaling is trained with; a length that is only served says nothing about training."""
    keys = {"rope_theta": 5e5, "rope_scaling": LLAMA3}
    assert find(read(**keys), "unseen-phases", served=10**6) is None
    assert find(read(**keys), "unseen-phases", served=10**6, trained=8192) is not None


@pytest.mark.parametrize(
    ("scaling", "factor", "computed"),
    [
        (LONGROPE, 2.5, math.sqrt(1 + math.log(32) / math.log(4096))),
        ({"rope_type": "yarn", "factor": 4.0}, 2.5, 0.1 * math.log(4) + 1),
        (LLAMA3, 2.5, None),
        ({"rope_type": "linear", "factor": 4.0}, 2.5, None),
    ],
)
def test_an_attention_factor_is_compared_with_the_formula_where_there_is_one(scaling, factor, computed):
    found = find(
        read(
            rope_scaling={**scaling, "attention_factor": factor},
            rope_theta=1e4,
            max_position_embeddings=131072,
            original_max_position_embeddings=4096,
        ),
        "attention-factor",
    )
    if computed is None:
        assert found is None
    else:
        assert f"attention_factor is 2.5, while factor {scaling['factor']:g} gives {computed:.6g};" in found


def test_the_base_of_params_json_is_named_rope_theta():
    configuration = read_params({"dim": 4096, "n_heads": 32, "max_seq_len": 8192}, "params.json")
    message = find(configuration, "base-defaulted", trained=131072)
    assert "10000 is taken" in message
    assert message.endswith("state rope_theta")


def test_a_base_below_1_turns_but_has_no_spectrum():
    """llama.cpp computes with any base; no encoding of the catalogue has one below 1."""
    for base, known in ((0.5, False), (10000.0, True)):
        stated = {"embedding_length": 4096, "attention.head_count": 32, "context_length": 4096, "rope.freq_base": base}
        keys = {"general.architecture": "llama", **{f"llama.{name}": value for name, value in stated.items()}}
        (layer,) = audit_configuration(read_gguf_configuration(keys, {}, "m.gguf")).layers
        assert np.allclose(layer.frequencies, base ** (-np.arange(64) / 64), rtol=1e-12)
        assert (layer.encoding is not None) == (layer.spectrum is not None) == known


# what implementations make of a file -----------------------------------------------------------------------


def test_a_gguf_file_needs_its_length_for_longrope():
    found = read_phi3()
    refusal = STACKS["llama.cpp"].read(found, found.layers[0], None)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "m.gguf: context_length is not stated; longrope depends on it"
    with pytest.raises(FileError, match="longrope depends on it"):
        audit_configuration(found)
    found = read_phi3(context_length=131072)
    assert not isinstance(STACKS["llama.cpp"].read(found, found.layers[0], None), Refusal)


@pytest.mark.parametrize("name", ["vllm", "keras-hub"])
def test_longrope_takes_its_attention_factor_from_the_lengths(name):
    lengths = {"max_position_embeddings": 131072, "original_max_position_embeddings": 4096, "model_type": "phi3"}
    scaling = {key: value for key, value in LONGROPE.items() if key != "factor"}
    plain = scale_as(name, **lengths, rope_theta=1e4, rope_scaling=scaling)
    given = scale_as(name, **lengths, rope_theta=1e4, rope_scaling={**LONGROPE, "attention_factor": 1.2})
    assert given.attention_scaling == plain.attention_scaling
    note = "factor and attention_factor are not read: the lengths give the attention factor"
    assert (note in given.notes, note in plain.notes) == (True, False)


def test_vllm_has_longrope_in_one_layout():
    found = scale_as(
        "vllm",
        model_type="gptj",
        rotary_dim=128,
        n_positions=131072,
        rope_theta=1e4,
        rope_scaling={**LONGROPE, "original_max_position_embeddings": 4096},
    )
    assert isinstance(found, Refusal)
    assert "longrope is computed for the layout half alone (interleaved)" in found.reason


def test_one_of_deepseeks_two_factors_is_the_attention_factor_of_vllm():
    yarn = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096}
    keys = {"model_type": "deepseek_v3", "qk_rope_head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 32768}
    factors = {
        words: scale_as("vllm", **keys, rope_scaling={**yarn, **dict(words)}).attention_scaling
        for words in ((), (("mscale", 0.7),), (("mscale", 0.7), ("mscale_all_dim", 0.7)))
    }
    log = math.log(8)
    assert list(factors.values()) == pytest.approx([0.1 * log + 1, 0.07 * log + 1, 1.0], rel=1e-12)


@pytest.mark.parametrize(
    ("model", "factor"), [("ministral3", 1.0), ("llama", 0.1 * math.log(8) + 1), ("deepseek_v3", 1.0)]
)
def test_llama_cpp_takes_mscale_by_the_model(model, factor):
    yarn = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096}
    keys = {"model_type": model, "rope_theta": 1e4, "max_position_embeddings": 32768}
    keys |= {"qk_rope_head_dim": 64} if model == "deepseek_v3" else {}
    found = scale_as("llama.cpp", **keys, rope_scaling={**yarn, "mscale": 1.0, "mscale_all_dim": 1.0})
    assert found.attention_scaling == pytest.approx(factor, rel=1e-12)
    assert ("mscale and mscale_all_dim are not read for this model" in found.notes) == (model == "llama")


# rotations of which not all is known -----------------------------------------------------------------------


def make_llama3(factor, **changes):
    """A rotation of Llama 3's scaling, all of it known but for the changes."""
    options = {"factor": factor, "original": 8192}
    scaled = scale_llama3(5e5, 128, **options)
    known = Rotation(
        head_dim=128,
        rotary_dim=128,
        base=5e5,
        scaling="llama3",
        options=options,
        frequencies=np.array([float(value) for value in scaled.frequencies]),
        layout="half",
        attention_scaling=1.0,
        offset=0,
    )
    return replace(known, **changes)


def list_effects(a, b):
    """What differs, each with what it does."""
    found = compare_rotations([a], [b], length=4096).differences
    return {one.what: (one.a, one.b, one.effect) for one in found}


def test_parts_that_are_not_known_are_no_difference():
    for unknown in ("frequencies", "base", "rotary_dim", "scaling", "layout", "offset"):
        assert list_effects(make_llama3(8.0), make_llama3(8.0, **{unknown: None})) == {}


def test_without_frequencies_a_difference_is_told_by_its_names():
    found = list_effects(make_llama3(8.0), make_llama3(4.0, frequencies=None))
    assert found == {
        "scaling": ("llama3 x8", "llama3 x4", "29 pairs kept, 6 blended, 29 divided by 8 in A; llama3 is used in B")
    }
    found = list_effects(make_llama3(8.0, frequencies=None), make_llama3(4.0, frequencies=None))
    assert found["scaling"] == ("llama3 x8", "llama3 x4", "llama3 is used in A and in B")
    found = list_effects(make_llama3(8.0), make_llama3(8.0, frequencies=None, base=1e6))
    assert found["base"][2] == "every pair but the first turns at another speed: 500000 in A, 1000000 in B"
    found = list_effects(make_llama3(8.0, frequencies=None), make_llama3(8.0, rotary_dim=64, frequencies=None))
    assert found["rotary_dim"] == (128, 64, "64 channels of each head are turned in A only")


def test_scalings_of_a_name_are_told_apart_by_their_options():
    a = Rotation(scaling="own", options={"factor": 2.0, "ramp": 1.0, "list": (1.0, 2.0)})
    b = Rotation(scaling="own", options={"factor": 2.0, "ramp": 2.0})
    assert label_scalings(a, b) == ("own x2 (ramp 1, list 2 numbers)", "own x2 (ramp 2, list not set)")
    assert label_scalings(a, a) == ("own x2", "own x2")


# tables and dumps ------------------------------------------------------------------------------------------


def test_tables_of_an_odd_width_and_of_one_row():
    table = np.random.default_rng(0).normal(size=(40, 7))
    assert compare_tables(table, table[:, ::-1]).order == "the columns of B are those of A in another order"
    assert compare_tables(table, table[3:]).shift == 3
    other = np.random.default_rng(1).normal(size=(1, 7))
    assert not compare_tables(table[:1], other).explained
    assert compare_tables(table, table[:1]).findings[0] == "A has 39 rows more (40 and 1)"


def test_cosines_in_two_halves_need_sines_in_two_halves():
    angles = np.arange(64)[:, None] * 1e4 ** (-np.arange(8) / 8)
    cosines = np.tile(np.cos(angles), (1, 2))
    assert read_cache(cosines, np.tile(np.sin(angles), (1, 2))).layout == "half"
    with pytest.raises(InputError, match="do not lie on one circle"):
        read_cache(cosines, np.hstack([np.sin(angles), np.sin(2 * angles)]))


@pytest.mark.parametrize("size", [1e305, 1e-315, 5e-324])
def test_a_ladder_at_the_ends_of_float64_is_named_unknown(size):
    """Its divisor is no double, so neither base nor divisor is said."""
    values = LADDER * size if size > 1e-320 else np.array([4, 3, 2, 1]) * size
    found = read_inverse_frequencies(values)
    assert (found.base, found.scaling) == (None, None)
    assert found.notes[0].endswith("base and scaling are unknown")


def test_one_changed_pair_of_a_ladder_is_named():
    values = LADDER.copy()
    values[3] *= 1.1
    found = read_inverse_frequencies(values)
    assert (found.base, found.scaling) == (10000.0, None)
    assert found.notes[0].endswith("all pairs but 3 are those of base 10000")


# contexts --------------------------------------------------------------------------------------------------


def test_where_no_base_is_large_enough_the_answer_says_so(cli):
    done = cli("context --d 4 --target 1000000 --json")
    assert done.code == 0
    answer = json.loads(done.out)
    assert answer["verdict"]["code"] == "base-not-found"
    assert answer["verdict"]["text"].endswith("the smallest base itself was not found: there is none below 1e15.")
