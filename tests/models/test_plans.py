"""What a model needs for a longer context: the way, the configuration that a stack reads so, and what is left alone."""

import copy
import json

import numpy as np
import pytest

from pe_spectra.errors import PeSpectraError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.lengths.plans import plan_lengthening
from pe_spectra.models.lengths.proposals import RECOMMENDED, WAYS
from pe_spectra.models.lengths.rewriting import GENERATIONS, write_block, write_length
from pe_spectra.models.stacks import find_stack
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.statement import SCHEMES, Configuration
from tests.places import MODELS
from tests.refusing import catch

#: 4 pairs, of which the last two complete no period within 64 positions.
SMALL = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 64, "vocab_size": 9}
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
LONGROPE = {"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [2.0] * 4}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 64}


def plan(config, target, **more):
    stack = find_stack(more.pop("stack"), "--stack") if "stack" in more else None
    read = read_configuration(config, "config.json")
    return plan_lengthening(read, config, target=target, stack=stack, **more)


# ----------------------------------------------------------------------------------- keys of a file


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_block_is_put_in_its_place_and_nothing_else_changes(generation):
    config = {"a": 1, "rope_theta": 1e4, "rope_scaling": None, "b": {"c": [1]}, "max_position_embeddings": 64, "z": 0}
    before = copy.deepcopy(config)
    scaling = {"rope_type": "linear", "factor": 2.0}
    found, where, block = write_block(config, (), layer="all", generation=generation, scaling=scaling, base=1e4)
    assert config == before
    assert where == generation
    assert found[generation] == block
    assert block == {**scaling, **({"rope_theta": 1e4} if generation == "rope_parameters" else {})}
    others = [key for key in found if key != "rope_parameters"]
    assert others == list(config)
    assert {key: found[key] for key in others if key != generation} == {
        key: config[key] for key in others if key != generation
    }
    longer, key = write_length(found, (), 128)
    assert (longer["max_position_embeddings"], key, list(longer)) == (128, "max_position_embeddings", list(found))


def test_what_is_no_scaling_stays_in_a_block():
    older = {**YARN, "mrope_section": [2, 2], "beta_fast": 8}
    config = {"text": {"rope_scaling": older, "n_ctx": 8}}
    scaling = {"rope_type": "linear", "factor": 2.0}
    for generation in GENERATIONS:
        found, where, block = write_block(
            config, ("text",), layer="all", generation=generation, scaling=scaling, base=2
        )
        assert where == f"text.{generation}"
        assert block["mrope_section"] == [2, 2]
        assert not {"type", "beta_fast", "original_max_position_embeddings"} & set(block)
        assert set(found["text"]) & set(GENERATIONS) == {generation}
    kept = write_block(config, ("text",), layer="all", generation="rope_scaling", scaling=scaling, base=2, kept={})
    assert kept[2] == {"rope_type": "linear", "factor": 2.0, "original_max_position_embeddings": 64} | {
        "mrope_section": [2, 2],
        "beta_fast": 8,
    }
    assert write_length(config, ("text",), 16) == ({"text": {**config["text"], "n_ctx": 16}}, "text.n_ctx")
    assert write_length({}, (), 16) == ({"max_position_embeddings": 16}, "max_position_embeddings")


def test_of_blocks_by_layer_type_one_is_written():
    blocks = {"full_attention": {"rope_type": "default", "rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}
    scaling = {"rope_type": "yarn", "factor": 2.0}
    found, where, _ = write_block(
        {"rope_parameters": blocks}, (), layer="full_attention", generation="rope_parameters", scaling=scaling, base=1e6
    )
    assert where == "rope_parameters.full_attention"
    assert found["rope_parameters"] == {**blocks, "full_attention": {**scaling, "rope_theta": 1e6}}


# ----------------------------------------------------------------------------------- what comes of it


@pytest.mark.parametrize(
    ("changed", "target", "outcome", "words"),
    [
        ({}, 64, "nothing-needed", "reaches 64 positions"),
        ({}, 32, "nothing-needed", "reaches 64 positions"),
        ({}, 128, "lengthened", "published for fine-tuning"),
        ({"rope_scaling": YARN}, 256, "nothing-needed", "reaches 256 positions"),
        ({"rope_scaling": YARN}, 512, "lengthened", "in place of 4, not on top of it"),
        # a length that is not stated would become that of the target; a ramp may run backwards
        ({"rope_scaling": {"type": "yarn", "factor": 4.0}}, 512, "lengthened", "64 positions before it"),
        ({"rope_scaling": {**YARN, "beta_fast": 0.5}}, 512, "lengthened", "in place of 4"),
        ({"rope_scaling": {"type": "dynamic", "factor": 2.0}}, 128, "lengthened", "in place of dynamic"),
        ({"rope_scaling": LLAMA3, "max_position_embeddings": 512}, 1024, "trained-with-scaling", "llama3 x8"),
        ({"rope_scaling": LLAMA3, "max_position_embeddings": 512}, 256, "nothing-needed", "reaches 512"),
        ({"rope_scaling": LLAMA3, "max_position_embeddings": 32}, 64, "nothing-needed", "reaches 64"),
        ({"model_type": "gptj", "rotary_dim": 8}, 128, "not-read", "reads no rotary block of this model as"),
        ({"rope_theta": 4.0}, 128, "lengthened", "even unchanged no pair has out-of-range phases"),
    ],
)
def test_outcomes(changed, target, outcome, words):
    found, report = plan({**SMALL, **changed}, target)
    assert found.outcome == outcome
    assert words in found.reason
    assert bool(report.methods) == (outcome != "nothing-needed")
    assert (found.configuration is not None) == (outcome == "lengthened")
    assert (found.method is not None) == (outcome == "lengthened")


@pytest.mark.parametrize(("stated", "expected"), [(1.1386294361, None), (1.0, 1.0)])
def test_a_factor_on_scores_stays_where_its_formula_does_not_give_it(stated, expected):
    found, _ = plan({**SMALL, "rope_scaling": {**YARN, "attention_factor": stated}}, 512)
    assert found.configuration.block.get("attention_factor") == expected
    assert (", stays" in found.reason) == (expected is not None)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("config", "where"),
    [
        ({"model_type": "llava"}, "text_config.rope_parameters"),
        ({"model_type": "llava", "text_config": {}}, "text_config.rope_parameters"),
        ({"model_type": "gemma3"}, "text_config.rope_scaling"),
        ({"model_type": "qwen2_5_omni", "thinker_config": {}}, "thinker_config.text_config.rope_parameters"),
        ({"model_type": "qwen2_vl"}, "rope_parameters"),
        ({"model_type": "modernbert"}, "rope_parameters.full_attention"),
        ({"model_type": "mimo_v2_flash"}, "rope_parameters.full_attention"),  # whose own block has a share
    ],
)
def test_of_a_model_of_several_parts_the_block_is_written_where_its_class_reads_it(config, where):
    found, _ = plan(config, 600_000)
    assert found.configuration.where == where
    assert found.configuration.length_key == f"{where.partition('rope_')[0]}max_position_embeddings"


@pytest.mark.slow
def test_the_scaling_that_a_class_has_by_default_keeps_its_keys():
    found, _ = plan({"model_type": "gpt_oss"}, 300_000)
    assert found.configuration.block["truncate"] is False
    assert found.configuration.block["original_max_position_embeddings"] == 4096
    # as transformers 5.24.0 has it: the slowest pair, by which the factor divides it
    read = read_configuration(found.configuration.keys, "config.json")
    (layer,) = [one for one in audit_configuration(read).layers if one.name == "full_attention"]
    assert layer.frequencies[-1] == pytest.approx(150_000.0 ** (-62 / 64) * 4096 / 300_000, rel=1e-12)


def test_a_scaling_that_no_key_states_is_told_as_that_of_the_class():
    found, _ = plan({"model_type": "gpt_oss"}, 300_000)
    assert found.by_class
    assert found.reason.startswith("by default the class of gpt_oss has yarn x32, 4,096 positions before it")
    stated = {"rope_type": "yarn", "factor": 32.0, "rope_theta": 150_000.0, "original_max_position_embeddings": 4096}
    found, _ = plan({"model_type": "gpt_oss", "rope_parameters": stated}, 300_000)
    assert not found.by_class
    assert found.reason.startswith("the file states yarn x32")
    assert not plan(SMALL, 128)[0].by_class


def test_a_class_that_reads_blocks_by_type_alone_is_given_them():
    found, _ = plan({"model_type": "modernbert"}, 32_768)
    assert found.configuration.keys["rope_parameters"]["sliding_attention"] == {
        "rope_type": "default",
        "rope_theta": 10_000.0,
    }
    assert {one.code for one in found.configuration.findings} & {"layer-type-missing"} == set()


def test_a_window_needs_nothing():
    found, _ = plan({**SMALL, "model_type": "mistral", "sliding_window": 32}, 4096)
    assert found.outcome == "nothing-needed"
    assert "at most 32 positions at once" in found.reason


def test_a_stack_that_does_not_keep_to_a_window_needs_a_way():
    found, _ = plan({**SMALL, "model_type": "mistral", "sliding_window": 32}, 4096, stack="llama.cpp")
    assert (found.outcome, found.method) == ("lengthened", "yarn")
    assert "window" not in found.reason


@pytest.mark.parametrize("name", ["vllm", "keras-hub"])
def test_a_window_is_not_taken_for_granted_where_it_was_not_measured(name):
    found, report = plan({**SMALL, "model_type": "starcoder2", "sliding_window": 32}, 4096, stack=name)
    assert (found.outcome, bool(report.methods)) == ("lengthened", True)
    assert "the window of 32 positions that transformers gives its layers nothing is needed: whether " in found.reason
    assert "at most" not in found.reason


@pytest.mark.parametrize(
    ("config", "written"),
    [
        ({"model_type": "t5gemma"}, ("encoder",)),
        ({"model_type": "t5gemma", "encoder": {"sliding_window": 512}, "decoder": {}}, ("encoder",)),
        ({"model_type": "t5gemma2"}, ("encoder", "text_config")),
    ],
)
def test_a_part_of_the_same_length_and_frequencies_is_lengthened_too(config, written):
    found, _ = plan(config, 600_000)
    assert (found.configuration.alike, found.configuration.left) == (("encoder",), ())
    part = found.configuration.keys
    for key in written:
        part = part[key]
    assert part["max_position_embeddings"] == 600_000
    assert dict(found.configuration.block).items() <= (part.get("rope_parameters") or part["rope_scaling"]).items()
    assert part.get("sliding_window") == config.get("encoder", {}).get("sliding_window")


@pytest.mark.parametrize(
    ("config", "left"),
    [
        ({"model_type": "dia"}, ("encoder_config: its context is 1,024 positions",)),
        ({"model_type": "t5gemma", "encoder": {"rope_theta": 5e5}}, ("encoder: its frequencies are others",)),
        ({"model_type": "qwen2_5_vl"}, ()),  # its other part turns by the places of patches
    ],
)
def test_a_part_that_stays_as_it_is_is_told(config, left):
    found, _ = plan(config, 600_000)
    assert (found.configuration.alike, found.configuration.left) == ((), left)


def test_the_length_before_a_linear_scaling_is_asked_for():
    config = {**SMALL, "rope_scaling": {"type": "linear", "factor": 4.0}}
    assert "states linear x4 but not from which length; --trained N" in catch(plan, config, 512)
    assert plan(config, 256, trained=64)[0].outcome == "nothing-needed"
    found, report = plan(config, 512, trained=64)
    assert found.configuration.block == {"rope_type": "linear", "rope_theta": 1e4, "factor": 8.0}
    assert report.trained == 64


def test_a_trained_length_goes_before_that_of_the_file():
    found, report = plan(SMALL, 64, trained=32)
    assert found.outcome == "lengthened"
    assert report.trained == 32
    assert found.configuration.block["original_max_position_embeddings"] == 32


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"model_type": "bloom", "n_head": 8}, "ALiBi"),
        ({"model_type": "gpt2", "n_positions": 64, "n_embd": 8}, "learned table"),
        ({"model_type": "t5", "num_heads": 8}, "buckets"),
        ({"model_type": "mamba"}, "no positional encoding"),
        ({**SMALL, "max_position_embeddings": None, "model_type": "unknown"}, "states no context length; --trained"),
        ({**SMALL, "max_position_embeddings": 4}, "context length is out of range (4); 8 to"),
        ({**SMALL, "head_dim": 2}, "rotary width is out of range (2); 4 to"),
        ({**SMALL, "rope_theta": 1.5}, "base is out of range (1.5); 2 to"),
        ({**SMALL, "rope_parameters": {"rope_type": "yarn"}}, "has no frequencies to lengthen"),
        ({**SMALL, "rope_scaling": {**YARN, "factor": -1}}, "no sound frequencies to lengthen: rope_scaling.factor"),
        ({**SMALL, "rope_scaling": {**YARN, "beta_slow": 1e30}}, "no sound frequencies to lengthen: rope_scaling: be"),
        ({**SMALL, "rope_parameters": {"rope_type": "proportional", "partial_rotary_factor": 0.5}}, "no plain ladder"),
    ],
)
def test_what_cannot_be_lengthened(config, words):
    assert words in catch(plan, config, 1024, after="")


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme != "rotary"])
def test_every_other_scheme_is_refused_in_words(scheme):
    told = catch(plan_lengthening, Configuration(path="config.json", scheme=scheme), {}, target=64)
    assert told.startswith("config.json: has no rotation to lengthen: ")


def test_of_several_rotations_that_see_all_positions_none_is_chosen():
    blocks = {"full_attention": {"rope_theta": 1e4}, "global": {"rope_theta": 1e6}}
    config = {**SMALL, "model_type": "unknown", "rope_parameters": blocks}
    del config["rope_theta"]
    assert "several rotations that see all positions (full_attention and global)" in catch(plan, config, 128)


def test_other_files_have_a_way_and_no_configuration():
    read = read_configuration(SMALL, "model.gguf")
    found, report = plan_lengthening(read, None, target=128)
    assert (found.outcome, found.method, found.configuration) == ("not-written", "yarn", None)
    assert report.methods


@pytest.mark.parametrize(
    ("stack", "method", "generation"),
    [
        ("transformers-5", "yarn", "rope_parameters"),
        ("transformers-4", "yarn", "rope_scaling"),
        ("vllm", "yarn", "rope_scaling"),
        ("vllm==0.19.1", "yarn", "rope_scaling"),
        ("llama.cpp", "yarn", "rope_scaling"),
        ("keras-hub", "yarn", "rope_scaling"),
        ("keras-hub==0.31.0", "linear", "rope_scaling"),
    ],
)
def test_each_stack_reads_its_configuration(stack, method, generation):
    found, report = plan(SMALL, 128, stack=stack)
    assert (found.method, found.configuration.where) == (method, generation)
    assert found.configuration.stack == find_stack(stack, "").title
    new = read_configuration(found.configuration.keys, "new.json")
    turned = find_stack(stack, "").read(new, new.layers[0], 128)
    row = next(row for row in report.methods if row.method == method)
    np.testing.assert_allclose(turned.frequencies, row.frequencies, rtol=1e-9)
    if method == "linear":
        assert f"{find_stack(stack, '').title} reads no block of this model as yarn" in found.reason
    assert plan(SMALL, 128, stack="meta")[0].outcome == "not-read"


def test_a_file_of_the_other_generation_is_rewritten_for_the_stack():
    """transformers 4 reads nothing of rope_parameters, so the base goes beside."""
    config = {key: value for key, value in SMALL.items() if key != "rope_theta"}
    config["rope_parameters"] = {"rope_type": "default", "rope_theta": 500.0}
    keys = plan(config, 128, stack="transformers-4")[0].configuration.keys
    assert keys["rope_theta"] == 500.0
    assert "rope_parameters" not in keys
    assert keys["rope_scaling"]["rope_type"] == "yarn"


def test_layers_with_a_window_keep_their_own_block_and_go_along_with_a_common_one():
    kinds = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 16, "num_hidden_layers": 2}
    own = {"full_attention": {"rope_theta": 1e6, "rope_type": "default"}}
    own["sliding_attention"] = {"rope_theta": 1e4, "rope_type": "default"}
    config = {**SMALL, **kinds, "model_type": "gemma3_text", "rope_parameters": own}
    found = plan(config, 128)[0].configuration
    assert found.along == ()
    assert found.keys["rope_parameters"]["sliding_attention"] == own["sliding_attention"]
    assert found.where == "rope_parameters.full_attention"
    common = plan({**SMALL, **kinds, "model_type": "gemma2"}, 128)[0]
    assert common.configuration.along == ("sliding_attention",)
    assert common.layers == ("full_attention",)


def test_every_way_says_what_training_it_needs():
    assert all(way.training for way in WAYS.values())
    assert set(RECOMMENDED) < set(WAYS)


@pytest.mark.parametrize(
    "name",
    [
        *("llama-2-7b", "qwen2.5-7b-instruct", "qwen2-vl-7b-instruct"),
        *(
            pytest.param(path.stem, marks=pytest.mark.slow)
            for path in sorted(MODELS.glob("*.json"))
            if path.name != "EXPECTED.json"
        ),
    ],
)
def test_public_models_keep_all_else_and_have_no_new_error(name):
    config = json.loads((MODELS / f"{name}.json").read_text())
    read = read_configuration(config, "config.json")
    if read.scheme != "rotary" or read.length is None or read.length > 1 << 18:
        return
    try:
        found, _ = plan_lengthening(read, config, target=2 * read.length)
    except PeSpectraError:
        assert name.startswith(("gemma-3-4b", "gemma-4")), name
        return
    if found.configuration is None:
        assert found.reason
        return
    old, new = config, dict(found.configuration.keys)
    for key in found.part.split(".") if found.part else ():
        assert list(old) == list(new)
        assert {one: old[one] for one in old if one != key} == {one: new[one] for one in new if one != key}
        old, new = old[key], new[key]
    written = {found.configuration.length_key.rpartition(".")[2], *GENERATIONS}
    # a length that the file left to its class comes last
    known = [*old, *sorted(written - {*old, *GENERATIONS})]
    assert [key for key in known if key not in GENERATIONS] == [key for key in new if key not in GENERATIONS]
    assert {k: v for k, v in old.items() if k not in written} == {k: v for k, v in new.items() if k not in written}
    levels = {one.code for one in audit_configuration(read).findings if one.level == "error"}
    after = audit_configuration(read_configuration(found.configuration.keys, "new.json"), served=2 * read.length)
    assert {one.code for one in after.findings if one.level == "error"} <= levels
    unseen = [len(layer.unseen) for layer in after.layers]
    assert not any(unseen)
