"""What findings about models say, and when they are said at all."""

import json
import math
import random

import numpy as np
import pytest

from pe_spectra.errors import FileError
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.checks.kinds import KINDS
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from tests.models.configurations import YARN, audit, change, find_finding, find_message, scale, state
from tests.places import MODELS

# ----------------------------------------------------------------------------------- findings


def test_training_with_the_scaling_is_seen_where_the_caller_says_so():
    """A file of YaRN does not tell whether the model was trained at the longer context."""
    config = scale(65536, **YARN)
    assert audit(config).layers[0].unseen
    assert audit(config, trained=65536).layers[0].unseen == ()


def test_a_key_of_another_class_that_changes_nothing_is_no_warning():
    nomic = {"model_type": "nomic_bert", "n_embd": 768, "n_head": 12, "n_positions": 2048}
    assert find_finding({**nomic, "rotary_emb_base": 1000}, "key-not-read") is None
    assert find_finding({**nomic, "rotary_emb_base": 10000}, "key-not-read").level == "error"
    stated = {**nomic, "rope_theta": 500}  # the file has another base that is read
    assert find_finding({**stated, "rotary_emb_base": 10000}, "key-not-read").level == "warning"


def test_a_base_that_is_not_read_is_said_once():
    config = {"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "max_seq_len": 32768}
    found = find_finding({**config, "attn_config": {"rope_theta": 500000}}, "key-not-read")
    assert "attn_config.rope_theta 500000 is not read" in found.message
    assert found.level == "error"  # another base than the file means, for every pair
    assert find_finding({**config, "attn_config": {"rope_theta": 500000}}, "base-defaulted") is None
    assert find_finding(config, "base-defaulted").level == "warning"


@pytest.mark.parametrize(
    ("block", "level"),
    [({"rope_type": "linear", "factor": 8.0}, "note"), ({"rope_type": "dynamic", "factor": 8.0}, "warning")],
)
def test_a_base_is_defaulted_for_the_length_before_scaling(block, level):
    config = change(rope_theta=None, max_position_embeddings=32768, rope_scaling=block)
    assert find_finding(config, "base-defaulted").level == level


def test_a_base_that_was_trained_with_and_left_out_is_a_note():
    config = {"model_type": "minicpm3", "hidden_size": 2560, "num_attention_heads": 40, "qk_rope_head_dim": 32}
    assert find_finding({**config, "max_position_embeddings": 32768}, "base-defaulted").level == "note"


def test_a_missing_base_is_named_as_the_format_has_it():
    (found,) = [one for one in provoke_bare_gguf().findings if one.code == "base-defaulted"]
    assert found.message.endswith("state llama.rope.freq_base")
    neox = {"model_type": "gpt_neox", "hidden_size": 64, "num_attention_heads": 1}
    assert find_finding(neox, "base-defaulted").message.endswith("state rotary_emb_base")


def provoke_bare_gguf():
    keys = {"general.architecture": "llama", "llama.embedding_length": 64, "llama.attention.head_count": 1}
    return audit_configuration(read_gguf_configuration(keys, {}, "model.gguf", {}))


def test_a_contradiction_names_what_is_used_and_what_is_stale():
    config = change(rope_theta=1e4, rope_parameters={"rope_type": "default", "rope_theta": 5e5})
    found = find_finding(config, "keys-contradict")
    assert "transformers 5 takes base 500000 with no scaling, transformers 4 takes base 10000" in found.message
    assert found.message.endswith("delete the stale rope_theta outside of rope_parameters")
    config = scale(**YARN) | {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}
    found = find_finding(config, "keys-contradict")
    assert "transformers 5 and 4 take base 500000 with yarn scaling of factor 4" in found.message
    assert found.message.endswith("delete the stale rope_parameters")


def test_releases_are_told_apart_by_what_they_read():
    config = change(rope_scaling=YARN, original_max_position_embeddings=4096, max_position_embeddings=32768)
    assert "original length 8192, not 4096" in find_finding(config, "releases-differ").message
    config = scale(**YARN, rope_theta=1e4)
    assert "base 500000, not 10000" in find_finding(config, "releases-differ").message


def test_values_that_nobody_means_are_named_as_the_file_has_them():
    assert "head_dim is odd (127)" in find_finding(change(head_dim=127), "refused").message
    config = change(model_type="phi", partial_rotary_factor=2.0)
    assert "partial_rotary_factor is out of range (2.0)" in find_finding(config, "unusable-value").message
    config = {"model_type": "gpt_neox", "hidden_size": 64, "num_attention_heads": 1, "rotary_pct": 2.0}
    assert "rotary_pct is out of range (2.0)" in find_finding(config, "unusable-value").message


def test_keys_that_transformers_saves_are_known():
    block = {**YARN, "rope_theta": 5e5, "max_position_embeddings": 32768}
    assert (
        find_finding(change(rope_theta=None, max_position_embeddings=32768, rope_parameters=block), "unknown-key")
        is None
    )


@pytest.mark.parametrize("key", ["attention_dropout", "group_scaling"])
def test_a_key_about_something_else_is_no_misspelling(key):
    """It only has letters of one in it."""
    assert find_finding(change(**{key: 0.1}), "unknown-key") is None


# ----------------------------------------------------------------------------------- damage


#: Values that a damaged or misunderstood file may have in any place.
STRANGE = (
    0,
    1,
    2,
    7,
    -1,
    1e300,
    1e-300,
    0.5,
    True,
    None,
    "",
    "yarn",
    "longrope",
    [],
    [1.0] * 64,
    {},
    {"a": 1},
    1 << 50,
)


def list_places(value):
    """Every place in an object that holds something: its container and its key."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, member in members for place in ((value, key), *list_places(member))]


@pytest.mark.slow
def test_changed_files_are_answered_or_refused_in_one_line():
    choose = random.Random(20_090)
    configs = [
        path.read_text(encoding="utf-8") for path in sorted(MODELS.rglob("*.json")) if "EXPECTED" not in path.name
    ]
    keys = sorted({key for text in configs for _, key in list_places(json.loads(text)) if isinstance(key, str)})
    answered, refused = 0, []
    for _ in range(1500):
        config = json.loads(choose.choice(configs))
        container, key = choose.choice(list_places(config))
        if isinstance(container, dict) and choose.random() < 0.4:
            key = choose.choice(keys)
        container[key] = json.loads(json.dumps(choose.choice(STRANGE)))
        try:
            found = audit(config, served=choose.choice([None, 1, 4096, 1 << 30]))
        except FileError as error:
            refused.append(str(error))
            continue
        answered += 1
        for layer in found.layers:
            assert np.all(np.isfinite(layer.frequencies))
            assert np.all(layer.frequencies >= 0) or layer.rotation.fault  # a factor below 0 turns back
        assert {finding.code for finding in found.findings} <= set(KINDS)
    assert answered > 500
    assert not any("\n" in text for text in refused)


LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
LONGROPE = {"rope_type": "longrope", "short_factor": [1.0] * 64, "long_factor": [2.0] * 64, "factor": 32.0}


# ----------------------------------------------------------------------------------- audits


def test_nothing_is_said_of_unseen_phases_where_nobody_says_how_long_the_training_was():
    """Llama 3's scaling is trained with; a length that is only served says nothing about training."""
    keys = {"rope_theta": 5e5, "rope_scaling": LLAMA3}
    assert find_message(state(**keys), "unseen-phases", served=10**6) is None
    assert find_message(state(**keys), "unseen-phases", served=10**6, trained=8192) is not None


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
    found = find_message(
        state(
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


# ----------------------------------------------------------------------------------- reconstructions, configurations


def state_gemma(**others):
    shape = {"model_type": "gemma3_text", "hidden_size": 2560, "num_attention_heads": 8, "head_dim": 256}
    return shape | {"max_position_embeddings": 32768, "rope_theta": 1e6, "rope_local_base_freq": 1e4} | others


@pytest.mark.parametrize(
    ("served", "turns"),
    [(300000, "1 of them completes its first there"), (2000000, " of them complete their first there")],
)
def test_pairs_that_turn_for_the_first_time_are_counted(cli, tmp_path, served, turns):
    config = state_gemma(rope_scaling={"rope_type": "linear", "factor": 8.0})
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    found = json.loads(cli(f"audit {tmp_path / 'config.json'} --served {served} --json --no-figure").out)["models"][0]
    (message,) = [one["message"] for one in found["findings"] if one["code"] == "unseen-phases"]
    phases = [1e6 ** (-2 * i / 256) / 8 * served for i in range(128)]
    newly = sum(phase >= 2 * math.pi > phase * 262144 / served for phase in phases)  # 262,144 = 8 x 32,768
    assert f"({newly} of them" in message
    assert turns in message


def test_first_negative_lag_is_no_lasting_change(cli, tmp_path):
    config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 4096, "rope_theta": 1e4}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    found = json.loads(cli(f"audit {tmp_path / 'config.json'} --json --no-figure").out)["models"][0]["findings"]
    (message,) = [one["message"] for one in found if one["code"] == "base-below-bound"]
    sums = [math.fsum(math.cos(lag * 1e4 ** (-i / 64)) for i in range(64)) for lag in range(1, 4096)]
    first = next(lag for lag, total in enumerate(sums, 1) if total < 0)
    assert sums[first] > 0  # at the next lag already
    start = f"the sum of cosines with base 10000 is first negative at lag {first:,}; "
    assert message == f"{start}the 4,096 positions of the context are {4096 / first:.3g} times as many"


def test_a_lag_that_no_two_positions_have_is_no_finding(cli, tmp_path):
    """Of 1,707 positions the farthest two are 1,706 apart."""
    for length, found in ((1707, False), (1708, True)):
        config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": length, "rope_theta": 1e4}
        (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
        document = json.loads(cli(f"audit {tmp_path / 'config.json'} --json --no-figure").out)
        assert ("base-below-bound" in [one["code"] for one in document["models"][0]["findings"]]) == found
