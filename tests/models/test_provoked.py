"""Every finding about a model, provoked by a configuration."""

import json

import ml_dtypes
import numpy as np
import pytest

from pe_spectra import Rope
from pe_spectra.errors import FileError
from pe_spectra.models.checks import about_keys, about_lengths, about_scaling, audit_configuration
from pe_spectra.models.checks.kinds import KINDS
from pe_spectra.models.rotation import FLOAT32_ARITHMETIC, TOLERANCE
from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stacks.conformance import find_length_served
from pe_spectra.models.stated import meta_release
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from pe_spectra.models.stated.meta_release import read_params
from pe_spectra.precision.staircase import measure_precision
from pe_spectra.vocabulary import FINDING_LEVELS
from tests.models.configurations import LLAMA, LLAMA3, LONGROPE, YARN, audit, change, load, read, scale

# ----------------------------------------------------------------------------------- findings


def provoke_config(**changes):
    return lambda: audit(change(**changes))


def provoke_params(**params):
    return lambda: audit_configuration(read_params({"dim": 4096, "n_heads": 32, **params}, "params.json"))


def provoke_gguf(architecture, factors=None):
    keys = {
        "general.architecture": architecture,
        f"{architecture}.context_length": 131072,
        f"{architecture}.embedding_length": 4096,
        f"{architecture}.attention.head_count": 32,
        f"{architecture}.rope.freq_base": 500000.0,
    }
    return lambda: audit_configuration(read_gguf_configuration(keys, factors or {}, "model.gguf", {}))


BESIDE = {"original_max_position_embeddings": 4096, "max_position_embeddings": 131072}
NESTED = {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}
TWO_TYPES = ["sliding_attention", "full_attention"]
#: For each code: what provokes it, at which level.
PROVOKED = [
    (
        "reader-differs",
        "warning",
        lambda: audit(
            change(rope_theta=None, rope_parameters={"rope_type": "default", "rope_theta": 5e5}),
            reader=STACKS["transformers-4"],
        ),
    ),
    ("grid-rotation", "note", lambda: audit({"model_type": "dinov3_vit"})),
    ("several-axes", "note", lambda: audit({"_class_name": "WanTransformer3DModel"})),
    ("query-scale", "note", lambda: audit({"model_type": "llama4_text"})),
    ("dual-chunk", "note", provoke_config(dual_chunk_attention_config={"chunk_size": 4096, "local_size": 512})),
    ("query-scale", "error", lambda: audit({"model_type": "mistral4", "rope_parameters": {"rope_theta": 1e4}})),
    ("nested-config", "note", lambda: audit({"text_config": LLAMA})),
    ("part-defaulted", "note", lambda: audit({"model_type": "qwen3_vl", "text_config": {}})),
    ("several-schemes", "note", lambda: audit({"model_type": "wavlm"})),
    ("nothing-added", "warning", lambda: audit({"model_type": "speecht5", "pad_token_id": 0})),
    ("no-position-scheme", "note", lambda: audit({"model_type": "resnet"})),
    ("not-built", "error", provoke_config(model_type="cosmos3_edge_text", rope_parameters={"rope_theta": 1e4})),
    ("not-built", "error", lambda: audit({"model_type": "exaone4_5", "text_config": {"head_dim": 64}})),
    ("value-refused", "error", lambda: audit({"model_type": "llama", "max_position_embeddings": None})),
    ("unusable-value", "error", provoke_config(max_position_embeddings=-8)),
    ("unknown-type", "warning", lambda: audit({**LLAMA, "model_type": "no-such-model"})),
    ("unknown-key", "warning", provoke_config(rope_thetha=1e6)),
    (
        "unknown-key",
        "warning",
        provoke_config(rope_scaling={**LLAMA3, "high_freq": 4.0}, max_position_embeddings=65536),
    ),
    ("unknown-key", "note", provoke_config(rope_is_great=1)),
    ("key-not-read", "warning", provoke_config(rotary_emb_base=1e6)),
    ("key-not-read", "error", provoke_config(rope_theta=None, rope_parameters={"full_attention": {"rope_theta": 5e5}})),
    ("scaling-in-code", "note", provoke_config(model_type="qwen", use_dynamic_ntk=True, seq_length=8192)),
    ("scaling-not-used", "warning", provoke_config(rope_scaling={"factor": 8.0})),
    ("older-name", "error", provoke_config(model_type="phi3", rope_scaling={**LONGROPE, "rope_type": "su"}, **BESIDE)),
    ("older-name", "note", provoke_config(rope_scaling={**LONGROPE, "rope_type": "su"})),
    (
        "original-length-twice",
        "warning",
        provoke_config(rope_scaling=YARN, original_max_position_embeddings=4096, max_position_embeddings=32768),
    ),
    ("scaling-in-tensor", "note", provoke_gguf("llama", {"rope_freqs.weight": (1.0,) * 32 + (3.0,) * 32})),
    ("unknown-architecture", "warning", provoke_gguf("nobody-knows")),
    ("factor-by-width", "note", provoke_params(dim=2048, rope_theta=5e5, use_scaled_rope=True)),
    ("scaling-not-used", "warning", provoke_params(rope_theta=5e5, rope_scaling_factor=8.0)),
    (
        "rope-type-twice",
        "warning",
        provoke_config(rope_scaling={"type": "linear", "rope_type": "dynamic", "factor": 2.0}),
    ),
    ("base-defaulted", "warning", provoke_config(rope_theta=None, max_position_embeddings=131072)),
    ("base-defaulted", "note", provoke_config(rope_theta=None, max_position_embeddings=2048)),
    ("length-defaulted", "note", provoke_config(max_position_embeddings=None)),
    ("length-defaulted", "warning", provoke_config(max_position_embeddings=None, rope_scaling=LLAMA3)),
    ("keys-contradict", "error", provoke_config(rope_parameters={"rope_type": "default", "rope_theta": 1e4})),
    (
        "newer-keys-only",
        "note",
        provoke_config(rope_theta=None, rope_parameters={"rope_type": "default", "rope_theta": 5e5}),
    ),
    (
        "releases-differ",
        "note",
        provoke_config(rope_scaling=YARN, original_max_position_embeddings=4096, max_position_embeddings=32768),
    ),
    ("unknown-scaling", "error", provoke_config(rope_scaling={"rope_type": "magic", "factor": 2.0})),
    ("list-length", "error", lambda: audit(scale(**{**LONGROPE, "short_factor": [1.0] * 10}))),
    ("key-missing", "error", provoke_config(rope_scaling={"rope_type": "linear"})),
    ("refused", "error", provoke_config(rope_theta=0)),
    ("scaling-order", "error", lambda: audit(scale(32768, **YARN, beta_fast=1, beta_slow=32))),
    (
        "scaling-order",
        "error",
        lambda: audit(scale(32768, **{**LLAMA3, "low_freq_factor": 4.0, "high_freq_factor": 1.0})),
    ),
    ("factor-below-one", "warning", provoke_config(rope_scaling={"rope_type": "linear", "factor": 0.5})),
    ("head-width", "error", provoke_config(num_key_value_heads=5)),
    ("head-width", "error", provoke_config(rope_scaling={"rope_type": "default", "mrope_section": [1, 2, 3]})),
    (
        "layer-type-missing",
        "warning",
        provoke_config(
            model_type="olmo3", rope_theta=None, layer_types=TWO_TYPES, sliding_window=128, rope_parameters=NESTED
        ),
    ),
    ("layer-type-missing", "error", provoke_config(model_type="olmo3", rope_parameters={"rope_type": "default"})),
    (
        "original-length-missing",
        "warning",
        provoke_config(rope_scaling={"rope_type": "yarn", "factor": 4.0}, max_position_embeddings=32768),
    ),
    ("factor-mismatch", "warning", lambda: audit(scale(65536, **YARN))),
    ("factor-mismatch", "note", lambda: audit(scale(16384, **YARN))),
    ("unseen-phases", "warning", lambda: audit(LLAMA, served=65536)),
    ("base-below-bound", "note", provoke_config(rope_theta=1e4)),
    ("base-too-small", "warning", provoke_config(rope_theta=1e4, max_position_embeddings=131072)),
    ("aliasing", "warning", provoke_config(rope_scaling={**LONGROPE, "short_factor": [0.1] * 64})),
    ("aliasing", "note", provoke_config(rope_theta=100.0)),
    ("attention-factor", "warning", lambda: audit(scale(32768, **YARN, attention_factor=2.0))),
    ("precision", "note", provoke_config(torch_dtype="bfloat16")),
    ("precision", "note", provoke_config(dtype="float16")),
    ("other-list", "warning", lambda: audit(load("phi-3.5-mini-instruct.json"), served=3900, allocated=131072)),
    (
        "position-table-short",
        "error",
        lambda: audit({"model_type": "gpt2", "n_positions": 128, "n_embd": 64}, served=256),
    ),
    ("position-table-short", "note", lambda: audit({"model_type": "dinov2"}, served=512)),
]


@pytest.mark.parametrize(
    ("code", "level", "look"), PROVOKED, ids=[f"{code}-{level}-{i}" for i, (code, level, _) in enumerate(PROVOKED)]
)
def test_provoked(code, level, look):
    found = [finding for finding in look().findings if finding.code == code]
    assert [finding.level for finding in found[:1]] == [level]
    finding = found[0]
    assert "\n" not in finding.message
    assert 20 < len(finding.message) < 400
    assert finding.level in FINDING_LEVELS
    json.dumps(dict(finding.data), default=list)


@pytest.mark.parametrize(
    ("config", "length"),
    [
        (LLAMA, 8192),
        (scale(32768, **YARN), 32768),
        (scale(65536, **YARN), 65536),
        # without an original length the factor stretches what the file states
        (scale(8192, rope_type="yarn", factor=2.5), 20480),
        (scale(8192, rope_type="linear", factor=4.0), 8192),
    ],
)
def test_audit_and_diff_serve_one_length(config, length):
    assert audit(config).layers[0].served_length == length
    assert find_length_served(read(config)) == length


@pytest.mark.few(1)
@pytest.mark.parametrize(("dtype", "kind"), [("bfloat16", ml_dtypes.bfloat16), ("float16", np.float16)])
@pytest.mark.parametrize("length", [3000, 4000, 4098, 50000])
def test_precision_is_that_of_the_type(dtype, kind, length):
    (found,) = [
        one for one in audit({**LLAMA, "torch_dtype": dtype}, served=length).findings if one.code == "precision"
    ]
    below = np.arange(2.0**12).astype(kind).astype(float)
    assert found.data["merged_above"] == np.flatnonzero(np.diff(below) == 0)[0]
    # every position by every frequency, in that type as it computes
    positions, frequencies = np.arange(float(length)), 5e5 ** (-np.arange(64) / 64)
    exact = np.multiply.outer(positions, frequencies)
    for key, cast in {"phase_error": kind, "phase_error_float32": np.float32}.items():
        computed = np.multiply.outer(positions.astype(cast), frequencies.astype(cast)).astype(float)
        error = np.abs(computed - exact).max()
        assert error <= found.data[key] <= 1.5 * error
    # and it is what the other command bounds it by
    report = measure_precision(Rope(d=128, base=5e5), length=length, dtypes=[dtype], recipes=["fp32", "all-narrow"])
    bounds = {row.recipe: row.phase_error_bound for row in report.codes}
    assert (bounds["all-bf16"], bounds["fp32"]) == (found.data["phase_error"], found.data["phase_error_float32"])


def test_angles_that_overflow_have_no_error():
    (found,) = [
        one for one in audit({**LLAMA, "torch_dtype": "float16"}, served=65521).findings if one.code == "precision"
    ]
    with np.errstate(over="ignore"):
        assert np.isfinite(np.array([65519.0, 65520.0]).astype(np.float16)).tolist() == [True, False]
    assert found.data["phase_error"] is None
    assert "at positions up to 65,520 would overflow (positions do from 65,520 on)" in found.message


def test_every_finding_is_provoked_and_explained():
    assert {(code, level) for code, level, _ in PROVOKED} == {
        (code, level) for code, kind in KINDS.items() for level in kind.levels
    }
    for kind in KINDS.values():
        assert kind.reasoning.endswith(".")
        assert not kind.phrase.endswith(".")
        assert len(kind.formula) > 10
        assert kind.references


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("base-defaulted", f"the length is above {about_keys._LENGTH_OF_DEFAULT:,}, "),
        ("base-defaulted", f"before a scaling above {about_keys._LENGTH_BEFORE_SCALING:,}, "),
        ("base-too-small", f"more than {about_lengths._FAR} times the smallest"),
        ("base-below-bound", f"({about_lengths._SCANNED // 64:,} for 64 pairs)"),
        ("unseen-phases", f"> {TOLERANCE} max(theta_i L0"),
        ("factor-mismatch", f"above factor by {100 * about_scaling.NEAR:g} %"),
        ("attention-factor", f"above {100 * about_scaling.NEAR:g} % is reported"),
        ("releases-differ", f"more than {FLOAT32_ARITHMETIC:g} between".replace("e-0", "e-")),
        ("reader-differs", f"more than {FLOAT32_ARITHMETIC:g} between".replace("e-0", "e-")),
        ("factor-by-width", "dim {} or {}".format(*meta_release._LLAMA32_WIDTHS)),
    ],
)
def test_a_formula_states_the_thresholds_of_its_check(code, words):
    assert words in KINDS[code].formula


@pytest.mark.parametrize(("code", "level", "look"), PROVOKED, ids=[f"{i}" for i in range(len(PROVOKED))])
def test_every_code_that_is_made_is_explained(code, level, look):
    assert {finding.code for finding in look().findings} <= set(KINDS), (code, level)


def test_healthy_shapes_have_notes_at_most():
    for config in (LLAMA, scale(131072, **LLAMA3), scale(32768, **YARN)):
        assert {finding.level for finding in audit(config).findings} <= {"note"}, config


def test_a_finding_about_one_of_several_layer_types_names_it():
    found = audit({**load("gemma-3-1b-it.json"), "torch_dtype": "bfloat16"}).findings
    named = [finding for finding in found if "layer_type" in finding.data]
    assert named
    assert all(finding.message.startswith(f"{finding.data['layer_type']}: ") for finding in named)


# ----------------------------------------------------------------------------------- damage


def test_the_list_of_phimoe_does_not_change_with_the_length():
    # its class in transformers 5 does not hand the length on; that of 4 does, and so does Phi-3's in both
    factors = LONGROPE | {"short_mscale": 1.0, "long_mscale": 1.0}  # without these that of 4 refuses the file
    shape = {"max_position_embeddings": 131072, "original_max_position_embeddings": 4096, "rope_scaling": factors}
    for model, five in (("phimoe", 1.0), ("phi3", 0.5)):
        stated = read_configuration(change(model_type=model, **shape), "config.json")
        for stack, first in (("transformers-5", five), ("transformers-4", 0.5)):
            found = STACKS[stack].read(stated, stated.layers[0], 131072)
            assert found.frequencies[0] == first, (model, stack)


@pytest.mark.parametrize(("lags", "code"), [(64, "base-below-bound"), (65, "base-too-small")])
def test_a_base_is_too_small_beyond_64_times_the_first_negative_lag(lags, code):
    length = 1707 * lags  # base 10000 with 64 pairs: Men et al.'s bound, computed exactly
    found = audit(change(rope_theta=10000.0, max_position_embeddings=length))
    assert [one.code for one in found.findings if one.code.startswith("base-")] == [code]


def test_a_width_that_the_heads_do_not_divide_is_refused():
    config = change(hidden_size=100, num_attention_heads=3, num_key_value_heads=None, head_dim=None)
    with pytest.raises(FileError, match="a multiple of the 3 heads, or head_dim, is accepted"):
        read(config)


def test_a_model_of_alibi_that_says_no_is_asked_for_its_rotation():
    assert read(change(model_type="mpt")).scheme == "alibi"
    assert read(change(model_type="mpt", attn_config={"alibi": False})).scheme == "rotary"
    assert read(change(model_type="mpt", alibi=False)).scheme == "rotary"


@pytest.mark.parametrize("rope", [True, False])
def test_a_switch_within_attn_config_asks_for_rotation(rope):
    config = {"d_model": 64, "n_heads": 4, "attn_config": {"rope": rope, "rope_theta": 5e5, "alibi": False}}
    if rope:
        statement = read(config)
        assert (statement.scheme, statement.layers[0].block.base) == ("rotary", 5e5)
    else:
        with pytest.raises(FileError, match="names no positional encoding"):
            read(config)


def test_absolute_positions_of_an_unknown_model_are_learned():
    config = {"hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 128}
    assert read({**config, "position_embedding_type": "absolute"}).scheme == "learned"
