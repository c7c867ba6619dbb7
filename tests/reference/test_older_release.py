"""What `--stack transformers==4.57.6` reads against what that release computed, and what changed from it to the newest.

The table of the older release has what differs from the newest alone (tests/reference/transformers/older.py).
"""

import collections
import gzip
import json

import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.stacks import Refusal, find_stack
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.known_models import KnownModel, find_known, load_table
from pe_spectra.models.stated.statement import FULL, NEWEST, OLDER
from tests.reference.test_drawn import FOLDER, is_same

CASES = json.loads(gzip.decompress((FOLDER / f"drawn-{OLDER}.json.gz").read_bytes()))["cases"]
STACK = find_stack(f"transformers=={OLDER}", "--stack")
#: Classes that read no base at all.
FIXED = {"esm", "mlcd_vision_model", "qwen2_5_omni_vision_encoder", "qwen3_omni_moe_vision_encoder"}
#: Why some come out otherwise, and how many of each class.
EXPLAINED = {
    "the newest release, by whose classes files are read, has none of this name": {
        "EvollaModel": 6,
        "Glm4vMoe_text": 6,
    },
    "rope_parameters is not read there, and the class has a block, or a width, of its own": {
        **dict.fromkeys(("apertus", "codegen", "gpt_oss"), 3)
    },
    "rotary modules are built, and no layer uses them": {"granitemoehybrid": 6},
    "a part without its model_type is refused": {"aria": 5},
    "the class refuses a block that others take": {"granitemoe": 1, "llama4": 2, "olmo": 1, "phi3": 1},
    "the class does not read head_dim": {"dbrx": 1},
}


def judge(keys, length, result):
    """Whether the answer is that of the real modules."""
    try:
        stated = read_configuration(keys, "config.json")
    except FileError:
        return "error" in result
    found = {}
    for layer in stated.layers if stated.scheme == "rotary" else ():
        if layer.turns:
            found[layer.name] = STACK.read(stated, layer, length or 2)
    refused = any(isinstance(one, Refusal) for one in found.values())
    if "error" in result or refused or not found:
        return "error" in result and (refused or any(one.level == "error" for one in stated.findings))
    full = found.get(FULL, next(iter(found.values())))  # its module has no name there
    return all(is_same(found.get(name, full), expected) for name, expected in result.items())


def test_drawn_configurations_are_read_as_that_release_has_them():
    """406 of 444, of 74 classes; each of the others has its reason."""
    wrong = collections.Counter(case[0]["model_type"] for case in CASES if not judge(*case))
    assert wrong == {model: count for models in EXPLAINED.values() for model, count in models.items()}
    assert (len(CASES), len({keys["model_type"] for keys, *_ in CASES}), wrong.total()) == (444, 74, 38)


def test_what_changed_between_the_two_releases():
    """Bases of classes, and two whose blocks were not read."""
    table = load_table(OLDER)
    assert (table["stack"], table["version"], table["beside"]) == ("transformers", OLDER, NEWEST)
    changes = table["classes"]
    bases = {model: found["default_base"] for model, found in changes.items() if "default_base" in found}
    assert bases == {
        "cohere": 10000,
        "falcon_h1": 100000,
        "kyutai_speech_to_text": 100000,
        "olmo3": 10000,
        "persimmon": 25000,
        "qwen3_vl_moe_text": 5000000,
        "qwen3_vl_text": 5000000,
    }
    unscaled = {model for model, found in changes.items() if found.get("reads_blocks") is False}
    assert unscaled == {"nemotron", "recurrent_gemma", "qwen2_5_omni_dit", "dbrx", *FIXED - {"esm"}}
    assert changes["dbrx"]["base_key"] == "attn_config.rope_theta"
    assert {model for model, found in changes.items() if found.get("base_key") == ""} == FIXED
    assert {name for found in changes.values() for name in found} == {"default_base", "base_key", "reads_blocks"}


def test_no_line_of_the_table_repeats_the_newest():
    for model, found in load_table(OLDER)["classes"].items():
        newest = find_known(model)
        assert all(getattr(newest, name) != value for name, value in found.items()), model
        assert find_known(model, OLDER) == newest._replace(**found)
    assert find_known("llama", OLDER) == find_known("llama") != KnownModel()


@pytest.mark.parametrize(
    ("config", "base", "scaling", "note"),
    [
        ({"model_type": "cohere", "head_dim": 64}, 10000, "none", "gives it no base, so 10000 is taken"),
        ({"model_type": "nemotron", "head_dim": 64, "rope_theta": 5e5,
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
