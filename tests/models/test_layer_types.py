"""What a config.json states of layers of several types, and which scheme it has."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.models.stacks import STACKS
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from pe_spectra.models.stated.statement import OLDER
from tests.documents import read_json
from tests.files.gguf import make_gguf
from tests.models.configurations import YARN, audit, change, load, read, refuse, scale, turn
from tests.places import MODELS

# ----------------------------------------------------------------------------------- layer types


def windows(config):
    return {layer.name: (layer.turns, layer.window) for layer in read(config).layers}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gemma-3-1b-it.json", {"sliding_attention": (True, 512), "full_attention": (True, None)}),
        ("gemma-3-1b-newer-keys.json", {"sliding_attention": (True, 512), "full_attention": (True, None)}),
        ("modernbert-base.json", {"full_attention": (True, None), "sliding_attention": (True, 65)}),
        ("smollm3-3b.json", {"full_attention": (True, None), "nope": (False, None)}),
        (
            "llama-4-scout-17b-16e-instruct.json",
            {"chunked_attention": (True, 8192), "full_attention": (False, None)},
        ),
        ("c4ai-command-r7b-12-2024.json", {"sliding_attention": (True, 4096), "full_attention": (False, None)}),
        ("qwen3-next-80b-a3b-instruct.json", {"linear_attention": (False, None), "full_attention": (True, None)}),
    ],
)
def test_layer_types_of_public_models(name, expected):
    assert windows(load(name)) == expected


@pytest.mark.parametrize("size", ["1b", "4b"])
def test_both_generations_of_gemma_3_give_one_rotation(size):
    older = turn(load(f"gemma-3-{size}-it.json"))
    newer = turn(load(f"gemma-3-{size}-newer-keys.json"))
    assert set(older) == set(newer)
    assert older.pop("vision_config", None) is None  # whose rows are learned
    for name, rotation in older.items():
        np.testing.assert_array_equal(newer[name].frequencies, rotation.frequencies)
    assert older["sliding_attention"].base == 10000
    assert older["full_attention"].base == 1e6
    assert older["sliding_attention"].scaling == "none"


def test_a_layer_type_that_is_null_is_not_turned():
    config = change(
        model_type="mellum",
        rope_theta=None,
        layer_types=["sliding_attention", "full_attention"],
        sliding_window=128,
        rope_parameters={"sliding_attention": {"rope_type": "default", "rope_theta": 1e4}, "full_attention": None},
    )
    assert windows(config) == {"sliding_attention": (True, 128), "full_attention": (False, None)}


@pytest.mark.parametrize(("model", "name"), [("laguna", "full_attention"), ("zaya", "hybrid")])
def test_the_one_layer_type_of_a_class_is_not_turned_where_it_is_null(model, name):
    found = read({"model_type": model, "rope_parameters": {name: None}})
    assert [layer.turns for layer in found.layers] == [False]
    assert not [one for one in found.findings if one.level == "error"]


def test_a_class_may_have_its_own_block_for_a_layer_type_that_is_null():
    layers = read({"model_type": "t5gemma2_text", "rope_parameters": {"sliding_attention": None}}).layers
    assert {layer.name: layer.default_base for layer in layers} == {"sliding_attention": 1e4, "full_attention": 1e6}
    layers += read({"model_type": "olmo3", "rope_parameters": {"sliding_attention": None}}).layers
    assert all(layer.turns for layer in layers)


def test_a_block_that_is_null_beside_none_is_refused_where_the_class_needs_another():
    found = read({"model_type": "beam", "rope_parameters": {"sliding_attention": None}}).findings
    assert any(one.message.startswith("rope_parameters lacks full_attention") for one in found)


@pytest.mark.parametrize(("model", "own"), [("glm4", 0.5), ("moonshine", 0.9), ("efficientloftr", 4.0)])
def test_a_share_that_is_null_is_that_of_a_whole_head(model, own):
    (layer,) = read({"model_type": model}).layers
    (null,) = read({"model_type": model, "partial_rotary_factor": None}).layers
    assert (int(layer.head_dim * layer.share), null.share) == (int(null.head_dim * own), 1.0)


@pytest.mark.parametrize(("model", "own", "derived"), [("youtu", 64, 128), ("deepseek_v3", 64, 56)])
def test_a_width_of_heads_that_is_null_is_hidden_over_heads(model, own, derived):
    assert [layer.head_dim for layer in read({"model_type": model}).layers] == [own]
    assert [layer.head_dim for layer in read({"model_type": model, "head_dim": None}).layers] == [derived]


@pytest.mark.parametrize(("model", "own", "pairs"), [("gpt_oss", "yarn", 23), ("apertus", "llama3", 64)])
def test_a_scaling_that_is_null_leaves_out_that_of_a_class_of_releases_before_5(model, own, pairs):
    """And a width of heads that is null is then the width over the heads, rounded up to whole pairs."""
    rotations = [
        STACKS[name].read(stated, stated.layers[0], None)
        for stated in (read({"model_type": model, **keys}) for keys in ({}, {"rope_scaling": None}))
        for name in ("transformers-5", "transformers-4")
    ]
    assert [one.scaling for one in rotations] == [own, own, own, "none"]
    bare = read({"model_type": model, "rope_scaling": None, "head_dim": None})
    assert len(STACKS["transformers-4"].read(bare, bare.layers[0], None).frequencies) == pairs


def test_a_base_that_is_null_in_a_block_is_not_read_by_releases_before_5():
    """By it Zamba2 turns no layer in transformers 5."""
    block = {"rope_type": "linear", "factor": 2.0, "rope_theta": None}
    stated = read({"model_type": "zamba2", "use_mem_rope": True, "rope_scaling": block})
    turned = [STACKS[name].read(stated, stated.layers[0], None) for name in ("transformers-5", "transformers-4")]
    assert [len(one.frequencies) for one in turned] == [0, 80]


@pytest.mark.parametrize(("key", "head"), [("num_heads", 64), ("num_attention_heads", 32)])
def test_a_class_reads_its_number_of_heads_by_its_own_name(key, head):
    """Qwen3-Omni's vision tower of transformers 4.57.6 has num_heads, and 16 of them where a file has another key."""
    stated = read({"model_type": "qwen3_omni_moe_vision_encoder", "hidden_size": 512, key: 8})
    found = STACKS["transformers-4"].read(stated, stated.layers[0], None)
    assert 4 * len(found.frequencies) == head


def test_layers_without_rotation_are_told_by_flag_or_interval():
    flags = change(model_type="smollm3", no_rope_layers=[1, 0], rope_theta=1e6)
    assert windows(flags) == {"all": (True, None), "nope": (False, None)}
    interval = change(model_type="smollm3", no_rope_layer_interval=2)
    assert windows(interval) == {"all": (True, None), "nope": (False, None)}
    assert windows(change(no_rope_layers=[1, 1])) == {"all": (True, None)}


def test_a_window_counts_only_where_it_is_switched_on():
    config = change(model_type="qwen2", sliding_window=4096, use_sliding_window=False)
    assert windows(config) == {"all": (True, None)}
    assert windows(change(model_type="mistral", sliding_window=4096)) == {"all": (True, 4096)}
    assert windows(change(model_type="mistral", sliding_window=None) | {"sliding_window": None}) == {
        "all": (True, None)
    }


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"num_hidden_layers": 8}, {"all": (True, None)}),  # layers slide from the 28th on
        ({"num_hidden_layers": 32}, {"full_attention": (True, None), "sliding_attention": (True, 64)}),
        ({"max_window_layers": 2}, {"full_attention": (True, None), "sliding_attention": (True, 64)}),
        ({"max_window_layers": 0}, {"sliding_attention": (True, 64)}),
        ({"max_window_layers": 0, "use_sliding_window": False}, {"all": (True, None)}),
        ({"layer_types": ["sliding_attention"], "use_sliding_window": False}, {"sliding_attention": (True, None)}),
    ],
)
def test_the_layers_that_slide_are_counted_from_max_window_layers(keys, expected):
    """As transformers 5.24.0 was measured to have it, tests/reference/transformers/probe.py."""
    config = {"model_type": "qwen2", "sliding_window": 64, "use_sliding_window": True}
    assert windows(config | keys) == expected
    assert windows({"model_type": "dots1"}) == {"all": (True, None)}


@pytest.mark.parametrize(
    ("keys", "slide"),
    [
        ({}, (0, 2, 4)),
        ({"max_window_layers": 3}, (0, 2)),
        ({"max_window_layers": 1}, (0,)),
        ({"max_window_layers": 0}, ()),
        ({"use_sliding_window": False}, ()),
    ],
)
def test_in_qwen2_moe_every_second_layer_below_max_window_layers_slides(keys, slide):
    """The types that the class of transformers 5.24.0 gives its layers; in 4.57.6 the mask of all has the window."""
    config = {"model_type": "qwen2_moe", "num_hidden_layers": 6, "sliding_window": 64, "use_sliding_window": True}
    found = {layer.name: layer for layer in read(config | keys).layers}
    if not slide:
        assert windows(config | keys) == {"all": (True, None)}
    else:
        assert windows(config | keys) == {"sliding_attention": (True, 64), "full_attention": (True, None)}
        assert found["sliding_attention"].places == slide
    assert [layer.window for layer in read_configuration(config, "config.json", OLDER).layers] == [64]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"model_type": "llama", "sliding_window": 64}, None),
        ({"model_type": "deepseek_v3", "sliding_window": 64}, None),
        ({"model_type": "mixtral", "sliding_window": 64}, 64),
        ({"model_type": "phi3", "sliding_window": 64}, 64),
        ({"model_type": "no-such-class", "head_dim": 8, "rope_theta": 1e4, "sliding_window": 64}, 64),
        ({"model_type": "mellum"}, None),  # its class slides where layer_types say so
        ({"model_type": "qwen2_moe", "sliding_window": 64, "use_sliding_window": False}, None),
    ],
)
def test_a_window_is_read_where_the_code_of_the_class_names_one(keys, expected):
    assert {window for _, window in windows(keys).values()} == {expected}


def test_a_class_whose_layers_see_all_slides_where_they_are_said_to():
    keys = {"model_type": "mellum", "layer_types": ["full_attention", "sliding_attention"], "num_hidden_layers": 2}
    assert windows(keys) == {"full_attention": (True, None), "sliding_attention": (True, 1024)}


BOTH_WAYS = {"model_type": "gemma3_text", "use_bidirectional_attention": True}


@pytest.mark.parametrize(
    ("keys", "window", "sides"),
    [
        ({"model_type": "modernbert", "local_attention": 128}, 65, (64, 64)),
        ({"model_type": "modernbert"}, 65, (64, 64)),
        ({"model_type": "modernbert", "local_attention": 9}, 5, (4, 4)),
        ({"model_type": "modernbert", "attention_window_size": 8}, 8, None),  # no key of its class
        ({"model_type": "modernbert-decoder", "local_attention": 128}, 64, None),
        ({"model_type": "modernbert-decoder"}, 64, None),
        ({"model_type": "openai_privacy_filter", "sliding_window": 128}, 129, (128, 128)),
        ({**BOTH_WAYS, "sliding_window": 512}, 257, (256, 256)),
        (BOTH_WAYS, 2049, (2048, 2048)),
        ({**BOTH_WAYS, "use_bidirectional_attention": False, "sliding_window": 512}, 512, None),
        ({"model_type": "gemma4_text", "use_bidirectional_attention": "all", "sliding_window": 12}, 8, (7, 7)),
        ({"model_type": "t5gemma2_encoder", "text_config": {"sliding_window": 7}}, 4, (3, 3)),
        ({"model_type": "t5gemma2_encoder", "text_config": {"sliding_window": 6}}, 4, (2, 3)),
    ],
)
def test_some_classes_see_what_comes_after_a_query(keys, window, sides):
    """As masks of their models were measured: some halve the number, and some see it on either side."""
    (layer,) = (one for one in read(keys).layers if one.window is not None)
    assert (layer.window, layer.sides) == (window, sides)


def test_an_encoder_sees_both_sides_where_the_decoder_of_its_class_does_not():
    stated = read({"model_type": "t5gemma"})
    assert [one.sides for one in stated.layers] == [None, None]
    assert [one.sides for one in stated.parts[0].layers] == [(4096, 4096), None]
    older = read_configuration(stated.keys, "config.json", OLDER)
    assert [one.sides for one in older.parts[0].layers] == [(4095, 4095), None]


def test_an_audit_says_what_a_query_sees(cli):
    assert (
        "at most 64 on either side of a query (sliding window)" in cli(f"audit {MODELS / 'modernbert-base.json'}").out
    )
    found = read_json(cli(f"audit {MODELS / 'modernbert-base.json'} --json"))["models"][0]["layer_types"]
    assert [(one["window"], one["window_sides"]) for one in found] == [(None, None), (65, [64, 64])]


def test_phases_and_turns_end_at_the_window():
    (layer,) = audit(change(model_type="mistral", sliding_window=1024), served=1 << 20).layers
    assert layer.unseen == ()
    assert layer.never_turn == np.count_nonzero(layer.frequencies * 1024 < 2 * np.pi)


@pytest.mark.parametrize("name", ["conv", "mamba", "recurrent", "linear_attention", "moe"])
def test_layers_without_attention_are_not_turned(name):
    config = change(model_type="lfm2", layer_types=[name, "full_attention"])
    assert windows(config) == {name: (False, None), "full_attention": (True, None)}
    nested = {"full_attention": {"rope_type": "default", "rope_theta": 1e6}}
    codes = {finding.code for finding in audit(change(model_type="lfm3", layer_types=[name, "full_attention"],
                                                      rope_theta=None, rope_parameters=nested)).findings}  # fmt: skip
    assert "layer-type-missing" not in codes


@pytest.mark.parametrize("nested", [False, True])
def test_compressed_layers_have_a_base_and_a_scaling_of_their_own(nested):
    yarn = {"rope_type": "yarn", "factor": 16, "original_max_position_embeddings": 65536}
    config = {
        "model_type": "deepseek_v4",
        "head_dim": 512,
        "qk_rope_head_dim": 64,
        "sliding_window": 128,
        "max_position_embeddings": 1048576,
    }
    if nested:
        main = {"rope_type": "default", "rope_theta": 10000.0}
        config["rope_parameters"] = {
            "main": main,
            "compress": {**yarn, "rope_theta": 160000.0, "attention_factor": 1.0},
        }
    else:
        config |= {"rope_theta": 10000, "compress_rope_theta": 160000, "rope_scaling": yarn}
    assert windows(config) == {"main": (True, 128), "compress": (True, None)}
    found = turn(config)
    assert {name: (one.base, one.scaling, one.rotary_dim, one.attention_scaling) for name, one in found.items()} == {
        "main": (10000, "none", 64, 1.0),
        "compress": (160000, "yarn", 64, 1.0),
    }
    if not nested:
        assert {finding.level for finding in audit(config).findings} <= {"note"}


@pytest.mark.parametrize(
    "keys",
    [
        {"rope_theta": None},
        {"rope_parameters": {"rope_type": "default", "rope_theta": None}},
        {"rope_scaling": {"rope_type": "default", "rope_theta": None}},
        {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 1e5}}, "rope_theta": 5e5},
    ],
)
def test_a_class_that_turns_by_the_base_of_its_block_alone_turns_nothing_without_one(keys):
    found = audit({"model_type": "olmo_hybrid", **keys})
    assert {layer.statement.turns for layer in found.layers} == {False}
    errors = [one for one in found.findings if one.level == "error"]
    assert all(one.code == "key-not-read" and "so no layer is turned" in one.message for one in errors)
    assert bool(errors) is ("full_attention" in keys.get("rope_parameters", {}))


def test_layers_that_a_class_leaves_as_they_are_turn_where_a_file_has_a_block_for_them():
    """Beam multiplies their queries by a factor of the position only where they are not turned."""
    sliding, full = {"rope_type": "default", "rope_theta": 77.0}, {"rope_type": "default", "rope_theta": 2.5e4}
    for block, factor in ((None, "(1 + (s + 1)/2048)^0.1 in full_attention layers"), (full, "none")):
        keys = {"model_type": "beam", "rope_parameters": {"sliding_attention": sliding, "full_attention": block}}
        stated = read(keys)
        turns = {layer.name: layer.turns for layer in stated.layers}
        assert turns == {"sliding_attention": True, "full_attention": block is not None}
        assert stated.query_scale == factor
    assert turn(keys)["full_attention"].base == 2.5e4


def test_one_base_and_one_share_for_each_layer():
    config = {
        "model_type": "step3p5",
        "hidden_size": 4096,
        "num_attention_heads": 64,
        "sliding_window": 512,
        "num_hidden_layers": 3,
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention"],
        "rope_theta": [5e6, 1e4, 1e4],
        "partial_rotary_factors": [0.5, 1.0, 1.0],
    }
    assert {name: (one.base, one.rotary_dim) for name, one in turn(config).items()} == {
        "full_attention": (5e6, 64),
        "sliding_attention": (1e4, 128),
    }
    refused = {layer.name: layer.unusable for layer in read({**config, "rope_theta": [5e6, 1e4, 1e6]}).layers}
    assert all("sliding_attention has several" in reason for reason in refused.values())
    assert "rope_theta cannot be used" in refuse({**config, "layer_types": None, "sliding_window": None})


@pytest.mark.parametrize(
    ("changes", "base", "scaling", "code"),
    [
        # read flat by the class, so nothing of it is
        ({"rope_theta": None, "rope_parameters": {"full_attention": {"rope_theta": 5e5}}}, 1e4, "none", "key-not-read"),
        ({"rope_theta": 2e5, "rope_parameters": {"full_attention": {"rope_theta": 5e5}}}, 2e5, "none", "key-not-read"),
        # read by layer type
        (
            {"model_type": "olmo3", "rope_theta": None, "rope_parameters": {**YARN, "rope_theta": 2.5e5}},
            5e5,
            "none",
            "layer-type-missing",
        ),
        (
            {"model_type": "modernbert", "rope_theta": None, "rope_parameters": {"rope_theta": 2e4}},
            1.6e5,
            "none",
            "layer-type-missing",
        ),
        # type is looked for before rope_scaling is put in
        (
            {"model_type": "gemma3_text", "rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 8.0}},
            1e6,
            "none",
            "key-not-read",
        ),
        (
            {"model_type": "gemma3_text", "rope_theta": 1e6, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
            1e6,
            "linear",
            None,
        ),
    ],
)
def test_keys_in_a_shape_that_the_class_does_not_read(changes, base, scaling, code):
    found = audit(change(**changes))
    layer = next((one for one in found.layers if one.name == "full_attention"), found.layers[0])
    assert (layer.rotation.base, layer.rotation.scaling) == (base, scaling)
    assert [finding.code for finding in found.findings if finding.level == "error"] == ([code] if code else [])


def test_shares_in_two_places():
    config = change(
        model_type="phi", partial_rotary_factor=0.5, rope_parameters={"rope_theta": 5e5, "partial_rotary_factor": 0.25}
    )
    (layer,) = audit(config).layers
    assert (layer.rotation.rotary_dim, layer.statement.share_beside) == (32, 0.5)
    (finding,) = [one for one in audit(config).findings if one.level == "error"]
    assert finding.code == "keys-contradict"
    assert "32 of 128 channels" in finding.message
    assert "64 of 128 channels" in finding.message
    assert not [one for one in audit({**config, "partial_rotary_factor": 0.25}).findings if one.level == "error"]


def test_null_is_told_from_absent():
    (layer,) = read(scale(**{**YARN, "factor": None})).layers
    assert layer.older.nulls == {"factor"}
    assert read(scale(**YARN)).layers[0].older.nulls == frozenset()


def test_the_class_of_phi3_has_an_original_length():
    lists = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}
    config = change(model_type="phi3", max_position_embeddings=16384, rope_scaling={"rope_type": "longrope", **lists})
    config["rope_scaling"]["original_max_position_embeddings"] = 8192
    (layer,) = audit(config).layers
    assert layer.original_length == 4096
    assert "by default of the class" in audit(config).findings[0].message
    (layer,) = audit({**config, "original_max_position_embeddings": 8192}).layers
    assert layer.original_length == 8192


def test_a_factor_of_the_file_stands_on_cosines_of_phimoe():
    lists = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}
    block = {"type": "longrope", **lists, "short_mscale": 1.25, "long_mscale": 1.25}
    found = audit(change(model_type="phimoe", max_position_embeddings=131072, original_max_position_embeddings=4096,
                         rope_scaling={**block, "original_max_position_embeddings": 4096}))  # fmt: skip
    assert found.layers[0].rotation.attention_scaling == 1.25
    assert "attention-factor" not in {finding.code for finding in found.findings}


# ----------------------------------------------------------------------------------- schemes


@pytest.mark.parametrize(
    ("config", "scheme"),
    [
        ({"model_type": "bloom", "n_head": 8, "hidden_size": 64}, "alibi"),
        ({"model_type": "falcon", "alibi": True, "num_attention_heads": 8, "hidden_size": 64}, "alibi"),
        ({"model_type": "falcon", "alibi": False, "num_attention_heads": 8, "hidden_size": 64}, "rotary"),
        ({"model_type": "mpt", "n_heads": 8, "d_model": 64, "attn_config": {"alibi": True}}, "alibi"),
        ({"model_type": "t5", "num_heads": 8, "d_model": 64}, "t5"),
        ({"model_type": "gpt2", "n_positions": 128, "n_embd": 64}, "learned"),
        ({"model_type": "marian", "d_model": 64}, "sinusoidal"),
        ({"model_type": "mamba", "hidden_size": 64}, "none"),
        (change(model_type="granitemoehybrid", position_embedding_type="nope"), "none"),
        (change(model_type="granitemoehybrid"), "none"),
        (change(model_type="granitemoehybrid", position_embedding_type="rope"), "rotary"),
        (change(model_type="zamba2", attention_head_dim=160, use_mem_rope=False), "none"),
        (change(model_type="zamba2", attention_head_dim=160, use_mem_rope=True), "rotary"),
        ({"hidden_size": 64, "num_attention_heads": 4, "rope_theta": 1e4}, "rotary"),
    ],
)
def test_schemes(config, scheme):
    assert read(config).scheme == scheme
    schemes = {layer.scheme for layer in audit(config).layers}
    assert schemes - {"none"} == {scheme} - {"none"}


def test_tables_count_the_rows_that_are_no_positions():
    roberta = read({"model_type": "roberta", "max_position_embeddings": 514, "hidden_size": 64})
    assert (roberta.values["rows"], roberta.values["unused"], roberta.length) == (514, 2, 512)
    opt = read({"model_type": "opt", "max_position_embeddings": 2048, "hidden_size": 64})
    assert (opt.values["rows"], opt.length) == (2050, 2048)


# ----------------------------------------------------------------------------------- what the files of models state


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ([512, 0, 1024, True, "x"], [("full_attention", None), ("sliding_attention", 1024)]),
        ([0, 0], [("all", None)]),
        ([], [("all", None)]),
    ],
)
def test_a_window_for_each_layer_of_a_gguf_file(windows, expected):
    """The longest counts; zeros say that no layer slides."""
    found = read_gguf_configuration(make_gguf("gemma3", **{"attention.sliding_window": windows}), {}, "m.gguf")
    assert [(layer.name, layer.window) for layer in found.layers] == expected


# ------------------------------------------------------------------------ facts of the classes


PADDLE = {"model_type": "paddleocr_vl_text", "num_hidden_layers": 1, "layer_types": ["sliding_attention"]}


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"model_type": "glm4v_text", "partial_rotary_factor": 0.5}, None),
        ({"model_type": "glm4v_text"}, "head-width"),  # sections 8, 12, 12 for 64 pairs
        ({**PADDLE, "sliding_window": 512}, None),
        (PADDLE, "not-built"),
        ({"model_type": "gemma4_text", "rope_parameters": {"full_attention": {"rope_theta": 1e6}}}, "not-built"),
        (
            {"model_type": "lfm3_vl_vision", "layer_types": ["conv"], "rope_parameters": {"rope_type": "yarn"}},
            "not-built",
        ),
    ],
)
def test_what_a_class_compares_is_compared(config, code):
    errors = {finding.code for finding in audit(config).findings if finding.level == "error"}
    assert code in errors if code else not errors


def test_pairs_of_a_grid_stand_in_its_order():
    found = turn({"model_type": "pixtral"})["all"].frequencies
    ladder = 10000.0 ** (-np.arange(32) / 32)
    assert_allclose(found, [*ladder[::2], *ladder[1::2]], rtol=1e-12)
    assert_allclose(audit({"model_type": "pixtral"}).layers[0].unscaled, found, rtol=1e-12)


@pytest.mark.parametrize(
    ("config", "pairs"),
    [
        ({}, 32),
        ({"qk_rope_head_dim": 32}, 16),
        ({"qk_nope_head_dim": 128}, 32),
        ({"head_dim": 32}, 8),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}, 64),  # of the whole head: no share is read
    ],
)
def test_a_part_of_a_head_is_a_share_of_the_whole(config, pairs):
    # as the rotary module of Mistral 4 has them in transformers 5.24.0
    assert len(turn({"model_type": "mistral4", **config})["all"].frequencies) == pairs


def test_rope_scaling_changes_the_block_of_full_attention():
    nested = {name: {"rope_type": "default", "rope_theta": 5e5} for name in ("sliding_attention", "full_attention")}
    found = turn({"model_type": "gemma3_text", "rope_parameters": nested,
                  "rope_scaling": {"rope_type": "linear", "factor": 2.0}})  # fmt: skip
    assert {name: (one.frequencies[0], one.base) for name, one in found.items()} == {
        "sliding_attention": (1.0, 5e5),
        "full_attention": (0.5, 5e5),
    }


def test_dynamic_of_an_odd_width_grows_by_its_own_exponents():
    block = {"rope_type": "dynamic", "factor": 2.0}
    config = {"model_type": "ministral3", "partial_rotary_factor": 0.4, "rope_scaling": block, "rope_theta": 3e6}
    stated = read_configuration({**config, "max_position_embeddings": 4096}, "config.json")
    found = STACKS["transformers-5"].read(stated, stated.layers[0], 40000)
    base = 3e6 * (2 * 40000 / 4096 - 1) ** (51 / 49)
    assert_allclose(found.frequencies, base ** (-np.arange(0, 51, 2) / 51), rtol=1e-9)


@pytest.mark.parametrize("model", ["ultrabert", "beam"])
@pytest.mark.parametrize("base", [None, 4321.0])
def test_blocks_in_rope_scaling_lack_a_base_as_their_class_has_it(model, base):
    """As transformers 5.24.0: UltraBert has a base for them and fails at one on top, Beam takes that and needs one."""
    blocks = {name: {"rope_type": "linear", "factor": 4.0} for name in ("sliding_attention", "full_attention")}
    config = {"model_type": model, "rope_scaling": blocks, **({"rope_theta": base} if base else {})}
    errors = [one for one in audit(config).findings if one.level == "error"]
    assert bool(errors) == ((model, base) in (("ultrabert", 4321.0), ("beam", None)))
    if not errors:
        expected = (base or 1e4) ** (-2 / 128) / 4
        assert turn(config)["sliding_attention"].frequencies[1] == pytest.approx(expected)
