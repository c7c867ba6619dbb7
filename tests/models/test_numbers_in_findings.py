"""Findings whose sentences have numbers: lengths that are safe, ends of ramps, factors, refusals, digits."""

import json
import random
import re

import numpy as np
import pytest

from pe_spectra.model_sources import read_model
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from pe_spectra.wording import write_number, write_rounded
from tests.places import MODELS

LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "max_position_embeddings": 32768}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def audit(config, **lengths):
    return audit_configuration(read_configuration(config, "config.json"), **lengths)


def state(scaling=None, base=500000.0, **keys):
    return {**LLAMA, "rope_theta": base, **({"rope_scaling": scaling} if scaling else {}), **keys}


def find(found, code):
    return [finding for finding in found.findings if finding.code == code]


# ----------------------------------------------------------------------------------- lengths that are safe


def read_safe_length(finding):
    return int(re.search(r"serve at most ([\d,]+)$", finding.message)[1].replace(",", ""))


@pytest.mark.parametrize(
    ("name", "served", "safe"),
    [
        ("llama-2-7b.json", 32768, 4096),
        ("llama-3.1-8b.json", 10**6, 131072),
        ("qwen2.5-7b-instruct-yarn.json", 262144, None),
        ("broken/unseen-phases.json", None, None),
        ("broken/yarn-beta-order.json", None, 32768),
        ("internlm2-7b.json", 10**6, None),
        ("phi-3.5-mini-instruct.json", 10**6, 258621),
        ("phi-2.json", 8192, 2048),
    ],
)
def test_the_length_that_is_named_is_the_longest_that_is_safe(name, served, safe):
    configuration = read_model(str(MODELS / name))
    (finding,) = find(audit_configuration(configuration, served=served), "unseen-phases")
    longest = read_safe_length(finding)
    assert safe in (longest, None)
    assert not find(audit_configuration(configuration, served=longest), "unseen-phases")
    assert find(audit_configuration(configuration, served=int(1.01 * longest) + 2), "unseen-phases")


def make_config(choice, rng):
    width = rng.choice([32, 64, 128])
    original = rng.randrange(256, 40000)
    factor = rng.choice([1.5, 2.0, 4.0, 8.0])
    stated = {"factor": factor, "original_max_position_embeddings": original}
    lists = {key: [1 + rng.random() * i for i in range(width // 2)] for key in ("short_factor", "long_factor")}
    scaling = {
        "none": None,
        "linear": {"rope_type": "linear", **stated},
        "yarn": {"rope_type": "yarn", **stated},
        "llama3": {**LLAMA3, **stated},
        "dynamic": {"rope_type": "dynamic", "factor": factor},
        "longrope": {"rope_type": "longrope", **stated, **lists},
    }[choice]
    length = original if choice in ("none", "dynamic") else int(factor * original)
    return state(scaling, 10 ** rng.uniform(3, 7), head_dim=width, max_position_embeddings=length)


@pytest.mark.few(2)
@pytest.mark.parametrize("choice", ["none", "linear", "yarn", "llama3", "dynamic", "longrope"])
def test_no_length_that_is_named_has_the_finding(choice):
    rng = random.Random(choice)
    seen = 0
    for _ in range(25):
        config = make_config(choice, rng)
        found = audit(config, served=int(config["max_position_embeddings"] * rng.uniform(1.1, 8)))
        for finding in find(found, "unseen-phases"):
            if "serve at most" in finding.message:
                seen += 1
                longest = read_safe_length(finding)
                assert not find(audit(config, served=longest), "unseen-phases")
                if choice != "longrope":  # its other list may hold for longer
                    assert find(audit(config, served=int(1.011 * longest) + 2), "unseen-phases")
    assert seen > 5


# ----------------------------------------------------------------------------------- ends and factors


@pytest.mark.parametrize(
    ("scaling", "said"),
    [
        (
            {**YARN, "beta_fast": 1, "beta_slow": 32},
            "rope_scaling.beta_fast 1 is below beta_slow 32, so the ramp runs backwards: pairs that turn often are",
        ),
        ({**YARN, "beta_slow": 33}, "rope_scaling.beta_fast 32 is below beta_slow 33, so the ramp"),
        (
            {**LLAMA3, "high_freq_factor": 0.5},
            "rope_scaling.high_freq_factor 0.5 is below low_freq_factor 1, so there is no ramp: pairs are slowed by",
        ),
    ],
)
def test_ends_in_the_wrong_order(scaling, said):
    found = audit(state(scaling))
    (finding,) = find(found, "scaling-order")
    assert finding.level == "error"
    assert finding.message.startswith(said)
    assert finding.message.endswith("; exchange the two, unless the model was trained so")
    assert found.layers[0].rotation.base == 500000  # the answer is that of transformers 5
    assert not find(found, "refused")


@pytest.mark.parametrize(
    "scaling",
    [
        {**LLAMA3, "low_freq_factor": 1.0, "high_freq_factor": 1.0},  # Llama 4
        {**LLAMA3, "low_freq_factor": 0.125, "high_freq_factor": 0.5, "original_max_position_embeddings": 1024},  # CSM
        {**YARN, "beta_slow": 32},
    ],
)
def test_ends_that_are_published(scaling):
    assert not find(audit(state(scaling)), "scaling-order")


def test_ends_in_the_wrong_order_in_a_gguf_file():
    keys = {"general.architecture": "mistral3", "mistral3.context_length": 32768, "mistral3.embedding_length": 4096}
    keys |= {"mistral3.attention.head_count": 32, "mistral3.rope.freq_base": 1e6}
    keys |= {"mistral3.rope.scaling.type": "yarn", "mistral3.rope.scaling.factor": 4.0}
    keys |= {"mistral3.rope.scaling.original_context_length": 8192, "mistral3.rope.scaling.yarn_beta_fast": 1.0}
    keys |= {"mistral3.rope.scaling.yarn_beta_slow": 32.0}
    found = audit_configuration(read_gguf_configuration(keys, {}, "m.gguf"))
    (finding,) = find(found, "scaling-order")
    assert "there is no ramp" in finding.message
    plain = 1e6 ** (-np.arange(64) / 64)
    kept = np.arange(64) <= np.floor(64 * np.log(8192 / (2 * np.pi)) / np.log(1e6))
    np.testing.assert_allclose(found.layers[0].frequencies, np.where(kept, plain, plain / 4), rtol=1e-13)


def test_the_ends_of_most_gguf_files_are_not_read():
    """Of all architectures grok and mistral3 alone look for the keys of yarn's betas."""
    keys = {"general.architecture": "qwen2", "qwen2.embedding_length": 4096, "qwen2.attention.head_count": 32}
    keys |= {"qwen2.rope.scaling.type": "yarn", "qwen2.rope.scaling.factor": 4.0, "qwen2.context_length": 32768}
    found = read_gguf_configuration({**keys, "qwen2.rope.scaling.yarn_beta_fast": 1.0}, {}, "m.gguf")
    assert found.layers == read_gguf_configuration(keys, {}, "m.gguf").layers


@pytest.mark.parametrize("kind", ["linear", "dynamic"])
def test_a_factor_below_1(kind):
    found = audit(state({"rope_type": kind, "factor": 0.25}))
    (finding,) = find(found, "factor-below-one")
    assert finding.level == "warning"
    assert finding.message == (
        "rope_scaling.factor is 0.25, below 1, while a scaling lengthens a context by its factor: was 4 meant?"
    )
    assert found.layers[0].rotation.base == 500000


def test_a_factor_below_1_that_no_key_states():
    (finding,) = find(audit(state({**YARN, "factor": None}, max_position_embeddings=4096)), "factor-below-one")
    assert finding.message.startswith("max_position_embeddings over original_max_position_embeddings is 0.5, below 1")
    assert finding.message.endswith("check the two lengths")


def test_an_original_length_above_the_stated_one():
    (finding,) = find(audit(state(YARN, max_position_embeddings=4096)), "factor-mismatch")
    assert finding.message == (
        "original_max_position_embeddings is 8,192, above max_position_embeddings, 4,096, while a scaling lengthens a "
        "context: check the two lengths"
    )


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("keys", "code", "said"),
    [
        ({"rope_theta": 1e-320}, "refused", "rope_theta is out of range (1e-320)"),
        ({"rope_scaling": {**YARN, "factor": 0}}, "refused", "no rotation is computed here: rope_scaling.factor"),
        ({"rope_scaling": {"rope_type": "yarn"}}, "key-missing", "rope_scaling: factor is not set; transformers 5"),
    ],
)
@pytest.mark.parametrize("newer", [False, True])
def test_what_is_not_computed_is_not_replaced(keys, code, said, newer):
    config = state(**keys)
    if newer:  # transformers 4 would take base 10000 and no scaling
        block = {"rope_type": "default", **(config.pop("rope_scaling", None) or {})}
        config["rope_parameters"] = {**block, "rope_theta": config.pop("rope_theta")}
        said = said.replace("rope_scaling", "rope_parameters")
    found = audit(config)
    (finding,) = find(found, code)
    assert said in finding.message
    assert "refuses" not in finding.message
    assert found.layers[0].rotation is None


def test_what_transformers_5_was_seen_to_refuse_is_read_as_4_does():
    text = json.loads((MODELS / "phi-3.5-mini-instruct.json").read_text(encoding="utf-8"))
    scaling = {key: value for key, value in text["rope_scaling"].items() if key not in ("type", "rope_type")}
    found = audit({**text, "model_type": "phi3", "rope_scaling": {**scaling, "rope_type": "su"}})
    (finding,) = find(found, "older-name")
    assert finding.message.startswith("transformers 5.24.0 refuses the file: ")
    assert finding.message.endswith("; what transformers 4 reads is given")
    assert found.layers[0].rotation.scaling == "longrope"


# ----------------------------------------------------------------------------------- digits


@pytest.mark.parametrize("served", [None, 10**9])
@pytest.mark.parametrize("base", [1e3, 1e6, 2e6, 1234567.0, 25e6])
@pytest.mark.parametrize("scaling", [None, YARN, LLAMA3, {"rope_type": "dynamic", "factor": 1e6}])
def test_sentences_have_numbers_as_people_write_them(scaling, base, served):
    found = audit(state(scaling, base, max_position_embeddings=16777216, torch_dtype="float16"), served=served)
    sentences = [finding.message for finding in found.findings]
    sentences += [note for layer in found.layers for note in layer.rotation.notes]
    assert sentences
    for sentence in sentences:
        assert not re.search(r"\de\+", sentence), sentence


def test_far_beyond_the_first_negative_lag():
    (finding,) = find(audit(state(base=1e4, max_position_embeddings=3500000)), "base-too-small")
    start = "the sum of cosines with base 10000 is first negative at lag 1,707; the 3,500,000 positions of the context"
    assert finding.message.startswith(f"{start} are 2,050 times as many")


def test_numbers():
    assert [write_number(value) for value in (1e6, 0.5, 32, 1e15, 1e-7)] == ["1000000", "0.5", "32", "1e+15", "1e-07"]
    assert [write_rounded(value) for value in (0.12345, 999.4, 1000, 999999)] == ["0.123", "999", "1,000", "1,000,000"]
    assert write_rounded(1e20) == "1e+20"
