"""What `--stack transformers==4.57.6` reads against what that release computed, and what changed from it to the newest.

The table of the older release has what differs from the newest alone, measured by the same script
(tests/reference/transformers/probe.py); draw.py drew configurations of its classes by the same rules.
"""

import collections
import functools
import gzip
import json
from dataclasses import fields
from importlib import resources

import pytest

from pe_spectra.errors import FileError, UnusableError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stacks import Refusal, find_stack
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import KnownModel, find_known, load_table, patch
from pe_spectra.models.stated.statement import FULL, NEWEST, OLDER
from tests.reference.test_drawn import FOLDER, is_same


def load_cases(name):
    """What that release made of configurations: of each its keys, the length that is asked for, and the result."""
    cases = json.loads(gzip.decompress((FOLDER / f"{name}-{OLDER}.json.gz").read_bytes()))["cases"]
    return [(case[0], case[1] if len(case) > 2 else None, case[-1]) for case in cases]


CASES = load_cases("drawn")
STACK = find_stack(f"transformers=={OLDER}", "--stack")
#: Why some come out otherwise, and how many of each class.
EXPLAINED = {
    "rotary modules are built, and no layer uses them": {"cohere2": 1},
}
#: The same of what loads of those of another seed.
HELD = {
    "rotary modules are built, and no layer uses them": {"exaone4": 1, "gemma3_text": 1},
    "the part that reads text, which is audited, has sinusoids beside a speech encoder that is turned": {
        "seamless_m4t": 2
    },
}


def read(keys):
    """What a file states; of one with a value that the newest cannot use, as the older release reads it."""
    try:
        return read_configuration(keys, "config.json")
    except UnusableError:
        return read_configuration(keys, "config.json", OLDER)


def turn(keys, length):
    """Rotations by layer type as `--stack` has them, and whether one of them is refused; None where the file is."""
    try:
        stated = read(keys)
    except FileError:
        return None, True
    layers = stated.layers if stated.scheme == "rotary" else ()
    found = {layer.name: STACK.read(stated, layer, length or 2) for layer in layers}
    refused = any(isinstance(one, Refusal) for one in found.values())
    if not refused:
        found = {name: one for name, one in found.items() if one.frequencies is not None and len(one.frequencies)}
    return (None if refused else found), refused


@functools.cache
def turn_drawn():
    """What is read of each case that was drawn, once for all tests that look at it."""
    return [turn(keys, length) for keys, length, _ in CASES]


def judge(keys, length, result):
    """Whether the answer is that of the real modules."""
    return is_right(result, *turn(keys, length))


def is_right(result, found, refused):
    """Whether what was read is what the real modules have."""
    turned = {name: one for name, one in result.items() if "error" in result or one[0]}  # others have no pairs
    if "error" in result or not found:
        return ("error" in result and refused) or (not turned and found is not None)
    full = found.get(FULL, next(iter(found.values())))  # its module has no name there
    return all(is_same(found.get(name, full), expected) for name, expected in turned.items())


def test_drawn_configurations_are_read_as_that_release_has_them():
    """1,399 of 1,400, of 140 classes; the other has its reason."""
    judged = [(keys, is_right(result, *turned)) for (keys, _, result), turned in zip(CASES, turn_drawn(), strict=True)]
    wrong = collections.Counter(keys["model_type"] for keys, right in judged if not right)
    assert wrong == {model: count for models in EXPLAINED.values() for model, count in models.items()}
    assert (len(CASES), len({keys["model_type"] for keys, *_ in CASES}), wrong.total()) == (1400, 140, 1)


def test_keys_on_top_of_a_model_of_several_parts_are_read_where_that_release_passes_them_on():
    cases = load_cases("above")
    assert (len(cases), [case[0] for case in cases if not judge(*case)]) == (189, [])


def test_none_that_is_built_is_refused_and_none_that_is_not_passes_silently():
    answers = [("error" in result, refused) for (_, _, result), (_, refused) in zip(CASES, turn_drawn(), strict=True)]
    built = [refused for is_refused, refused in answers if not is_refused]
    silent = [not refused for is_refused, refused in answers if is_refused]
    assert (built.count(True), len(built)) == (0, 1245)
    assert (silent.count(True), len(silent)) == (0, 155)


def hear(keys):
    """The sentences of errors of an audit by that release; one of a file that cannot be used begins with its name."""
    try:
        found = audit_configuration(read(keys), reader=STACK).findings
    except FileError as error:
        return [str(error)]
    return [one.message for one in found if one.level == "error"]


def sum_up(explained):
    return sum(map(collections.Counter, explained.values()), collections.Counter())


def compare(cases):
    """Of what loads there and here the classes that have other frequencies; of what does not load, the silent ones.

    Besides how many are turned as they are there, and how many load there and are refused here.
    """
    other, silent, same, unused = collections.Counter(), collections.Counter(), 0, 0
    for keys, length, result in cases:
        said = hear(keys)
        assert "error" in result or not any("4 refuses" in one for one in said), keys
        if "error" in result:
            silent[keys["model_type"]] += not said
        elif judge(keys, length, result):
            same += 1
        elif any(one.startswith("config.json: ") or "no rotation is computed" in one for one in said):
            unused += 1
        else:
            other[keys["model_type"]] += 1
    return +other, +silent, same, unused


@pytest.mark.slow
def test_null_is_read_as_each_class_of_that_release_takes_it():
    other, silent, same, unused = compare(load_cases("nulls"))
    assert (other, silent) == ({}, {})
    assert (same, unused) == (357, 0)


@pytest.mark.slow
def test_what_another_seed_has_drawn_is_read_as_that_release_has_it():
    """Of 588 it loads 409, and refuses 179."""
    cases = load_cases("held")
    other, silent, same, unused = compare(cases)
    assert (other, silent) == (sum_up(HELD), {})
    assert (len(cases), sum("error" in case[-1] for case in cases)) == (588, 179)
    assert (same, unused) == (400, 5)


def test_what_changed_between_the_two_releases():
    """Bases of classes, and those whose blocks were not read."""
    table = load_table(OLDER)
    assert (table["stack"], table["version"], table["beside"]) == ("transformers", OLDER, NEWEST)
    newest, older = load_table(NEWEST)["classes"], table["classes"]
    both = sorted({*older} & {*newest})
    bases = {model: found for model in both if (found := find_known(model, OLDER).default_base) != base_of(model)}
    assert bases == {
        "cohere": 10000,
        "falcon_h1": 100000,
        "kyutai_speech_to_text": 100000,
        "olmo3": 10000,
        "persimmon": 25000,
        "qwen2_5_omni": 10000,
        "qwen3_vl_moe_text": 5000000,
        "qwen3_vl_text": 5000000,
    }
    unscaled = {model for model in both if not find_known(model, OLDER).reads_blocks and find_known(model).reads_blocks}
    fixed = {
        "mlcd_vision_model",
        "qwen2_5_omni_vision_encoder",
        "qwen3_omni_moe_vision_encoder",
        "idefics",
        "llama4_vision_model",
        "pixtral",
        "sam2_video",
        "edgetam_video",
    }
    assert unscaled == {"nemotron", "recurrent_gemma", "dbrx", "qwen2_5_omni_dit", *fixed}
    assert find_known("dbrx", OLDER).base_key == "attn_config.rope_theta"
    assert (len(older), len({*older} - {*newest})) == (119, 2)
    assert table["unmeasured"] == []


def base_of(model):
    return find_known(model).default_base


def test_the_table_is_a_merge_patch_without_what_changes_nothing():
    file = resources.files("pe_spectra.models.measured").joinpath(f"transformers-{OLDER}.json")
    changes, newest = json.loads(file.read_text(encoding="utf-8")), load_table(NEWEST)
    assert patch(newest, changes) == load_table(OLDER)
    for name in ("classes", "parts", "composites"):
        for model, found in changes[name].items():
            assert newest[name].get(model) != found
            if isinstance(found, dict) and isinstance(newest[name].get(model), dict):
                assert all(newest[name][model].get(key) != value for key, value in found.items()), model


def test_fields_of_the_table_are_those_that_are_known():
    table = load_table(OLDER)
    assert not {name for found in table["classes"].values() for name in found} - {
        one.name for one in fields(KnownModel)
    }
    assert {*table["unmeasured"]} <= {*table["classes"], *table["parts"]}


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"model_type": "gemma4_text"}, "has no class of gemma4_text that turns queries"),
        ({"model_type": "emu3_text_model", "rope_scaling": {"type": "linear", "factor": 2.0}}, "in place of rope_type"),
        ({"model_type": "mllama_text_model"}, "rope_scaling is not set"),
        ({"model_type": "gemma3n_text", "num_hidden_layers": 4}, "num_kv_shared_layers is 15 of 4 layers"),
    ],
)
def test_what_its_classes_refuse_is_refused(config, why):
    stated = read_configuration(config, "config.json")
    assert all(why in STACK.read(stated, layer, None).reason for layer in stated.layers)
    assert stated.layers


def test_a_class_that_the_newest_has_not_is_read_as_the_older_has_it():
    stated = read_configuration({"model_type": "lfm2-vl", "text_config": {"rope_theta": 5e5}}, "config.json")
    assert (stated.where, stated.layers[0].head_dim, stated.layers[0].older.base) == ("text_config", 80, 5e5)


@pytest.mark.parametrize(
    ("config", "base", "scaling", "note"),
    [
        ({"model_type": "cohere", "head_dim": 64}, 10000, "none", "gives it no base, so 10000 is taken"),
        ({"model_type": "nemotron", "head_dim": 64, "num_key_value_heads": 8, "rope_theta": 5e5,
          "rope_scaling": {"rope_type": "linear", "factor": 4.0}}, 5e5, "none", "rope_scaling is not read"),
    ],
)  # fmt: skip
def test_classes_that_changed_are_read_as_they_were(config, base, scaling, note):
    stated = read_configuration(config, "config.json")
    found = STACK.read(stated, stated.layers[0], None)
    assert (found.base, found.scaling) == (base, scaling)
    assert any(note in one for one in found.notes)
    newest = find_stack(f"transformers=={NEWEST}", "--stack").read(stated, stated.layers[0], None)
    assert (newest.base, newest.scaling) != (base, scaling)


def test_the_key_for_a_base_is_that_of_the_release_that_reads():
    """DBRX of 4.57.6 has it in attn_config."""
    found = audit_configuration(read({"model_type": "dbrx"}), reader=STACK).findings
    (said,) = [one.message for one in found if one.code == "base-defaulted"]
    assert said.endswith("state attn_config.rope_theta")
