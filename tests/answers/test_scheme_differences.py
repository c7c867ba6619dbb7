"""Two configurations without a rotation against each other: what differs is what their audits say."""

import itertools
import json

import pytest

from pe_spectra.answers.scheme_differences import answer_schemes
from pe_spectra.models.comparison.scheme_diff import compare_schemes
from tests.documents import read_json
from tests.in_one import in_one
from tests.models.configurations import read

DEBERTA = {"model_type": "deberta-v2", "relative_attention": True, "position_biased_input": False}
DEBERTA |= {"pos_att_type": ["c2p", "p2c"]}
SOME = (
    DEBERTA | {"position_buckets": 256},
    DEBERTA | {"position_buckets": 128},
    DEBERTA,
    {"model_type": "detr"},
    {"model_type": "rt_detr"},
    {"model_type": "t5"},
    {"model_type": "mt5"},
    {"model_type": "bloom"},
    {"model_type": "xlnet"},
    {"model_type": "parakeet_encoder"},
    {"model_type": "swin"},
    {"model_type": "wav2vec2"},
    {"model_type": "bert"},
    {"model_type": "resnet"},
)


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**files):
        for name, keys in files.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(keys), encoding="utf-8")

    return write


@in_one("a, b", itertools.combinations_with_replacement(range(len(SOME)), 2))
def test_what_differs_is_what_differs_in_kind_encoding_or_sizes(a, b):
    sides = read(SOME[a]), read(SOME[b])
    answer = answer_schemes(*sides, ("a", "b"))
    said = [(one.scheme, dict(one.values), dict(one.formula)) for one in sides]
    assert answer.body.agree == (said[0] == said[1]) == (a == b)
    assert answer.verdict.code == ("same" if a == b else "differs")
    for one in answer.body.differences:
        assert f"{one.what.replace('_', ' ')} is " in answer.verdict.text
        assert one.a != one.b


def test_schemes_of_other_kinds_differ_in_that_alone():
    assert [one.what for one in compare_schemes(read({"model_type": "t5"}), read({"model_type": "bloom"}))] == [
        "scheme"
    ]


def test_buckets_are_compared(cli, write):
    write(a=SOME[0], b=SOME[1])
    done = cli("diff a.json b.json --json")
    found = read_json(done)
    assert found["verdict"]["text"] == "Different: buckets is 256 in A and 128 in B."
    assert [(one["what"], one["a"], one["b"]) for one in found["differences"]] == [("buckets", 256, 128)]
    assert found["a"]["encoding"]["name"] == "deberta"
    assert cli("diff a.json b.json --check").code == 1
    assert cli("diff a.json a.json --check").code == 0


def test_of_several_files_each_is_a_row(cli, write):
    write(a=SOME[5], b=SOME[6], c=SOME[7])
    rows = read_json(cli("diff a.json b.json c.json --json"))["rows"]
    assert [one["differences"] for one in rows] == [["heads"], ["scheme"]]


def test_lengths_have_no_meaning_and_a_rotation_is_not_compared_with_what_is_none(refuse, write):
    write(a=SOME[5], b={"model_type": "llama"})
    assert refuse("diff a.json a.json --served 64") == "--served has no meaning without a rotation (64); leave it out"
    assert refuse("diff a.json b.json") == (
        "a.json: has no rotary encoding, but t5; diff compares rotations with rotations, and other schemes with each "
        "other"
    )


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (
            {"model_type": "videomae", "hidden_size": 64},
            {"model_type": "autoformer", "d_model": 64},
            "Different: layout is interleaved in A and concatenated in B, the order of their columns.",
        ),
        (
            {"model_type": "m2m_100"},
            {"model_type": "m2m_100", "pad_token_id": 0},
            "Different: offset is 2 in A and 1 in B, the number of the first position.",
        ),
        (
            {"model_type": "m2m_100"},
            {"model_type": "musicgen_decoder"},
            (
                "Different: layout is concatenated in A and cosines-first in B, the order of their columns; "
                "offset is 2 in A and 0 in B, the number of the first position."
            ),
        ),
        (
            {"model_type": "pegasus_x"},
            {"model_type": "fsmt", "pad_token_id": 0, "d_model": 1024},
            "Different: offset is 0 in A and 1 in B, the number of the first position.",
        ),
        (
            {"model_type": "autoformer", "d_model": 512},
            {"model_type": "pegasus_x", "d_model": 512},
            (
                "Different: encoding is sinusoidal in A and tensor2tensor in B, whose ladders of frequencies end "
                "elsewhere."
            ),
        ),
        (
            {"model_type": "m2m_100"},
            {"model_type": "nllb-moe"},
            "The same: both have sinusoidal, tensor2tensor:d=1024,offset=2.",
        ),
    ],
)
def test_sinusoids_of_classes_differ_in_order_ladder_or_first_position(cli, write, a, b, said):
    write(a=a, b=b)
    assert read_json(cli("diff a.json b.json --json"))["verdict"]["text"] == said


def test_tables_of_sines_with_other_rows_are_not_the_same(cli, write):
    asked = {"model_type": "informer", "context_length": 48, "prediction_length": 24}
    write(a=asked, b=asked | {"context_length": 96}, c={"model_type": "videomae"})
    write(d={"model_type": "videomae", "num_frames": 32})
    assert read_json(cli("diff a.json b.json --json"))["verdict"]["text"] == "Different: rows is 72 in A and 120 in B."
    said = read_json(cli("diff c.json d.json --json"))["verdict"]["text"]
    assert said == "Different: num frames is 16 in A and 32 in B."


def test_a_sinusoid_that_was_not_measured_is_not_called_the_same(cli, refuse, write):
    write(a={"model_type": "voxtral_encoder"}, b={"model_type": "pegasus_x"})
    said = "a.json: has sinusoids that cannot be compared: how its class orders them was not measured"
    assert refuse("diff a.json a.json") == refuse("diff a.json b.json") == refuse("diff b.json a.json") == said
    (layer,) = json.loads(cli("audit a.json --json").out)["models"][0]["layer_types"]
    assert layer["spec"] is None
    assert "how its class orders them was not measured" in cli("spectrum -e a.json --no-figure").err
    assert "how its class" not in cli("spectrum -e b.json --no-figure").err


# ----------------------------------------------------------------------------------- beside what is audited

WHISPER = {"model_type": "whisper"}
#: Of each, two files that differ in one key which is about a part or a way that is not audited, and what that is.
BESIDE = [
    ({"model_type": "seamless_m4t"}, {"t2u_pad_token_id": 9}, "t2u_model.model.decoder.embed_positions.weights offset"),
    (WHISPER, {"max_source_positions": 3000}, "encoder.embed_positions.weight rows"),
    ({"model_type": "wavlm"}, {"num_conv_pos_embeddings": 64}, "encoder.pos_conv_embed.conv.parametrizations"),
    (
        {"model_type": "clip", "text_config": {}, "vision_config": {}},
        {"vision_config": {"image_size": 336}},
        "vision_config rows",
    ),
    ({"model_type": "llava"}, {"vision_config": {"image_size": 224}}, "vision_config"),
    ({"model_type": "qwen2_vl"}, {"vision_config": {"embed_dim": 640}}, "vision_config"),
    # a part that one file alone states, beside that which the class builds of its defaults
    (
        {"model_type": "qwen3_vl", "text_config": {}},
        {"vision_config": {"hidden_size": 2304, "num_heads": 16}},
        "vision_config",
    ),
    ({"model_type": "clip", "text_config": {}}, {"vision_config": {"image_size": 336}}, "vision_config rows"),
]


@pytest.mark.parametrize(("keys", "change", "what"), BESIDE)
def test_what_differs_beside_what_is_audited_is_not_the_same(cli, write, keys, change, what):
    write(a=keys, b=keys, c=keys | change)
    same, other = (read_json(cli(f"diff a.json {name} --json")) for name in ("b.json", "c.json"))
    assert (same["agree"], other["agree"]) == (True, False)
    assert cli("diff a.json c.json --check").code == 1
    assert any(what in " ".join((one["what"], one["effect"], *one["layers"])) for one in other["differences"])


def test_a_part_that_one_file_alone_has_is_no_difference(cli, write):
    """One is then the text of the other."""
    write(a={"model_type": "llava"}, b={"model_type": "llama"})
    done = cli("diff a.json b.json")
    assert done.out.startswith("The same: ")
    assert "note: A alone states vision_config, which is not compared" in done.err


def test_lags_that_are_clamped_are_a_difference(cli, write):
    """XLNet's clamp_len, measured: lags beyond it have the code of the last."""
    write(
        **{f"c{last}": {"model_type": "xlnet", "clamp_len": last} for last in (-1, 100, 128)}, c={"model_type": "xlnet"}
    )
    assert cli("diff c-1.json c.json").out.startswith("The same: ")
    for names, lags in (("c.json c100.json", (None, 100)), ("c100.json c128.json", (100, 128))):
        told = {one["what"]: (one["a"], one["b"]) for one in read_json(cli(f"diff {names} --json"))["differences"]}
        assert told["max_lag"] == lags
    assert "lags beyond 100 have its code" in cli("audit c100.json").out


@pytest.mark.parametrize("model", ["deberta", "deberta-v2"])
def test_a_class_whose_ways_are_all_switched_off_has_no_positions(model):
    off = read({"model_type": model, "position_biased_input": False, "relative_attention": False})
    assert off.scheme == "none"
    relative, biased = (
        read({"model_type": model, "pos_att_type": ["c2p"], key: True})
        for key in ("relative_attention", "position_biased_input")
    )
    assert [one.a for one in compare_schemes(off, relative)][:1] == ["none"]
    assert biased.scheme == "learned"


def test_the_products_of_deberta_are_compared():
    one = read(DEBERTA | {"pos_att_type": ["c2p"]})
    assert [(found.what, found.a, found.b) for found in compare_schemes(read(DEBERTA), one)] == [("p2c", 1, 0)]


def test_a_way_that_a_switch_takes_away_is_a_difference():
    on, off = ({"model_type": "seamless_m4t", "position_embeddings_type": kind} for kind in ("relative", "rotary"))
    (found,) = compare_schemes(read(on), read(off))
    assert (found.a, found.b) == ("transformer-xl", None)
    assert found.effect.endswith("A alone has positions there, transformer-xl")
    (found,) = compare_schemes(read(off), read(on))
    assert (found.a, found.b) == (None, "transformer-xl")


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ({"model_type": "qwen2_vl"}, {"rope_parameters": {"rope_type": "default", "mrope_section": [24, 20, 24]}}),
        ({"model_type": "llama", "head_dim": 128}, {"num_attention_heads": 32, "num_key_value_heads": 5}),
        ({"model_type": "bert"}, {"hidden_size": 768, "position_embedding_type": "relative_key"}),
    ],
)
def test_a_file_of_which_something_is_refused_is_not_the_same(cli, write, keys, wrong):
    write(a=keys, b=keys | wrong)
    for names, letter in (("a.json b.json", "B"), ("b.json a.json", "A")):
        found = read_json(cli(f"diff {names} --json"))
        assert found["agree"] is False
        said = [one["effect"] for one in found["differences"] if one["what"] == "errors"]
        assert [one.startswith(f"{letter} alone: ") for one in said] == [True]
    write(nested={"text_config": keys | wrong})
    assert read_json(cli("diff b.json nested.json --json"))["differences"] == []


def test_one_key_that_moves_two_tables_is_told_once():
    """BART's encoder and decoder have as many rows."""
    sides = (read({"model_type": "bart", "max_position_embeddings": rows}) for rows in (512, 1024))
    assert [one.what for one in compare_schemes(*sides)] == ["rows"]


def test_sinusoids_of_which_nothing_is_known_are_not_the_same(cli, write):
    write(a={"model_type": "seamless_m4t", "t2u_pad_token_id": None}, v={"model_type": "voxtral"})
    done = cli("diff a.json a.json")
    assert done.out.startswith("The same, as far as is known: both have sinusoidal, ")
    assert "with this t2u_pad_token_id its class fails" in done.err
    rotary = read_json(cli("diff v.json v.json --json"))
    assert {one["what"] for one in rotary["unknown"]} == {"other_schemes"}
    assert "its rows follow no law" in rotary["unknown"][0]["why"] or "not measured" in rotary["unknown"][0]["why"]


def test_turned_parts_beside_a_table_are_compared():
    sizes = (
        {"model_type": "clip", "text_config": {}, "vision_config": {"model_type": "dinov3_vit", **more}}
        for more in ({}, {})
    )
    a, b = map(read, sizes)
    assert compare_schemes(a, b) == ()


@pytest.mark.parametrize("wrong", [{"rope_theta": 500.0}, {"hidden_size": 2048}])
def test_a_turned_part_beside_another_scheme_is_compared(wrong):
    """Of SAM 3 words have a table, and its pictures are turned."""
    a, b = (
        read({"model_type": "sam3", "vision_config": {"backbone_config": {"model_type": "sam3_vit_model", **more}}})
        for more in ({}, wrong)
    )
    found = compare_schemes(a, b)
    assert found
    assert all(one.what.startswith("vision_config.backbone_config ") for one in found)


def test_what_a_class_has_in_place_of_its_rotation_is_no_other_way():
    esm = read({"model_type": "esm", "position_embedding_type": "rotary", "hidden_size": 64, "num_attention_heads": 4})
    assert (esm.scheme, list(esm.list_ways())) == ("rotary", [])
