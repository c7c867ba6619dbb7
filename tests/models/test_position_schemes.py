"""Schemes that a table says of a class: every default configuration, and some of them by their papers."""

import contextlib
import functools
import gzip
import json
from collections import Counter

import pytest

from pe_spectra.answers.audit_words import judge_audits
from pe_spectra.errors import FileError
from pe_spectra.models.stated.class_ways import choose_scheme
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import find_composite, find_known, load_table
from pe_spectra.models.stated.position_schemes import find_schemes, tell_how_known
from pe_spectra.models.stated.statement import MEASURED_SCHEMES, NEWEST, OLDER
from tests.models.configurations import audit, find_finding, read
from tests.places import TESTS

FOLDER = TESTS / "reference" / "transformers"
DEFAULTS = json.loads(gzip.decompress((FOLDER / f"defaults-{NEWEST}.json.gz").read_bytes()))
DRAWN = json.loads(gzip.decompress((FOLDER / f"schemes-{NEWEST}.json.gz").read_bytes()))
#: What they build is in a package beside, under a name in the file: no table has it.
BY_NAME = {"timm_backbone", "timm_wrapper", "gemma3n_vision"}
#: As the papers of these models have them.
PUBLISHED = {
    "sine-2d": "detr conditional_detr deformable_detr dab-detr table-transformer maskformer sam2_vision_model",
    "transformer-xl": "xlnet parakeet_encoder fastspeech2_conformer gemma3n_audio wav2vec2-conformer funnel",
    "convolutional": "wav2vec2 hubert unispeech unispeech-sat sew data2vec-audio xcodec",
    "window-bias": "swin donut-swin maskformer-swin clap_audio_model dinat swinv2",
    "shaw": "granite_speech_encoder vits wav2vec2-bert",
    "bucketed-bias": "wavlm cpmant phi4_multimodal_audio",
    "disentangled": "sew-d",
    "axial-tables": "pix2struct_vision_model kosmos_2_5_vision_model reformer",
    "offset-bias": "levit",
    "random-fourier": "sam_prompt_encoder sam2_prompt_encoder",
    "learned": "audio-spectrogram-transformer canine vivit pvt sam_vision_model got_ocr2_vision depth_anything",
    "axial-rotary": "vjepa2",
    "rotary": "colpali colqwen2 colmodernvbert t5gemma",
    "none": "resnet convnext efficientnet mobilenet_v2 regnet poolformer encodec dac segformer cvt upernet",
}


@pytest.mark.parametrize("release", [NEWEST, OLDER])
def test_a_class_that_always_turns_has_no_other_scheme_to_weigh(release):
    always = [name for name in load_table(release)["classes"] if find_known(name, release).only_if is None]
    assert len(always) > 100
    for name in always:
        assert choose_scheme(Keys({}, "config.json", release=release), find_known(name, release)) == "rotary", name


def name_scheme(config):
    try:
        return read(config).scheme
    except FileError:
        return "refused"


@functools.cache
def name_defaults():
    """The scheme of each default configuration, once for all tests that look at it."""
    return {name: name_scheme(config) for name, config in DEFAULTS.items()}


def test_no_default_configuration_with_a_scheme_is_refused():
    assert len(DEFAULTS) > 800
    assert {name for name, scheme in name_defaults().items() if scheme == "refused"} <= BY_NAME


def test_sizes_are_those_of_the_real_models():
    """With keys that were drawn when the models were built, several at once, not those that were measured."""
    wrong, told = [], 0
    for name, keys, kind, sizes in DRAWN:
        # that its module is built does not say that it counts
        named = {"pos_att_type": ["c2p"]} if kind == "disentangled" else {}
        (found,) = [one for one in find_schemes(Keys({**named, **keys}, "config.json"), name) if one.name == kind]
        sizes |= {"c2p": 1, "p2c": 0} if kind == "disentangled" else {}
        if kind == "window-bias" and "window" in found.values:
            has_class_token = sizes["rows"] % 4 == 0  # three more rows; squares of odd numbers are 1 more than that
            sizes |= {"window": (round((sizes["rows"] - 3 * has_class_token) ** 0.5) + 1) // 2}
        told += len(found.values)
        real = {"kernel": "rows", "distances": "rows"}
        wrong += [
            (name, keys, size, found.values[size], sizes)
            for size in found.values
            if found.values[size] != sizes[real.get(size, size)]
        ]
    assert told > 250
    assert not wrong


@pytest.mark.parametrize("scheme", PUBLISHED)
def test_schemes_are_those_of_the_papers(scheme):
    wrong = {name: name_defaults()[name] for name in PUBLISHED[scheme].split()}
    assert wrong == dict.fromkeys(wrong, scheme)


def test_every_measured_scheme_is_some_models():
    found = Counter(name_defaults().values())
    # always beside a table, which is audited
    assert {*MEASURED_SCHEMES} - {*found} == {"decomposed-bias"}


def test_every_answer_has_words_and_says_what_is_not_analysed():
    said = {name: judge_audits([audit(DEFAULTS[name])]).text for name in DEFAULTS if name not in BY_NAME}
    assert "a window of 7 x 7, 3 heads. " in said["swin"]
    assert "; named, not analysed. " in said["levit"]
    assert "64 x 64 patches. " in said["sam_vision_model"]


@pytest.mark.parametrize(
    ("keys", "scheme", "values"),
    [
        ({"model_type": "swin", "window_size": 12, "num_heads": [4, 8]}, "window-bias", {"window": 12, "heads": 4}),
        ({"model_type": "wav2vec2", "num_conv_pos_embeddings": 64}, "convolutional", None),
        ({"model_type": "beit", "use_relative_position_bias": True}, "window-bias", {"window": 14, "heads": 12}),
        ({"model_type": "beit", "use_absolute_position_embeddings": True}, "learned", {"d": 768}),
        ({"model_type": "beit"}, "none", {}),
        ({"model_type": "wav2vec2-conformer", "position_embeddings_type": None}, "convolutional", None),
        (
            {"model_type": "deberta-v2", "relative_attention": True, "position_biased_input": False},
            "none",
            {},
        ),
        *(
            (
                {
                    "model_type": "deberta",
                    "relative_attention": True,
                    "position_biased_input": False,
                    "pos_att_type": t,
                },
                "disentangled" if terms else "none",
                terms and {**terms, "before": 511, "behind": 512, "d": 768},
            )
            for t, terms in (
                (["c2p", "p2c"], {"c2p": 1, "p2c": 1}),
                ("C2P | x", {"c2p": 1, "p2c": 0}),
                (["p2c"], {"c2p": 0, "p2c": 1}),
                ([], {}),
                (None, {}),
                ("p2p", {}),
            )
        ),
        ({"model_type": "sew-d"}, "disentangled", None),  # has both by default
        ({"model_type": "sew-d", "pos_att_type": []}, "convolutional", None),
        (
            {"model_type": "sam_vision_model", "image_size": 512},
            "learned",
            {"d": 768, "grid_height": 32, "grid_width": 32},
        ),
    ],
)
def test_what_keys_change(keys, scheme, values):
    found = read(keys)
    assert found.scheme == scheme
    assert values is None or dict(found.values) == values


def test_a_whole_leads_to_the_part_that_has_positions():
    config = {
        "model_type": "vision-encoder-decoder",
        "encoder": {"model_type": "vit"},
        "decoder": {"model_type": "gpt2"},
    }
    found = find_finding(config, "nested-config")
    assert read(config).model == "gpt2"
    assert found.message == "the model has several parts; decoder is what is audited; beside it: encoder (vit)"


def test_what_is_beside_the_audited_scheme_is_said():
    found = find_finding({"model_type": "wavlm"}, "several-schemes")
    assert found.data["schemes"] == ["convolutional"]
    assert find_finding({"model_type": "resnet"}, "no-position-scheme").data == {"model": "resnet"}


@pytest.mark.parametrize("value", ["7", 0, True, 1.5])
def test_a_size_of_no_integer_is_refused_by_name(value):
    with pytest.raises(FileError, match=r"window_size .*an integer from 1 or a list of them"):
        read({"model_type": "swin", "window_size": value})


def test_a_picture_smaller_than_its_patch_is_refused():
    with pytest.raises(FileError, match=r"image_size .*a size from that of a patch, 16, is accepted"):
        read({"model_type": "sam_vision_model", "image_size": 8, "patch_size": 16})


def test_an_unknown_type_is_refused_as_before():
    assert tell_how_known("no-such-model") == ""
    with pytest.raises(FileError, match="model_type 'no-such-model' is not known here"):
        read({"model_type": "no-such-model"})


def test_nesting_without_end_is_refused_in_time():
    config = {"model_type": "resnet"}
    for _ in range(40):
        config = {"model_type": "encoder-decoder", "encoder": config, "decoder": config}
    assert read(config).scheme == "none"


def test_a_window_is_an_encoding_of_the_catalogue():
    (layer,) = audit({"model_type": "swin"}).layers
    assert layer.encoding.label == "swin window=7 heads=3"


#: Classes whose model is not built of what they have by default, and the key that it lacks.
UNBUILT = {
    **dict.fromkeys(("hunyuan_v1_dense", "hunyuan_v1_moe", "hunyuan_vl_text", "hunyuan_vl", "ministral"), "head_dim"),
    **dict.fromkeys(("moonshine_streaming", "nemotron"), "num_key_value_heads"),
    **dict.fromkeys(("cohere_compass", "cohere_compass_text"), "rope_parameters"),
    "lfm2_moe": "layer_types",
}


def test_what_a_class_writes_of_itself_is_not_said_to_be_refused():
    """Files with all keys as their class has them by default, which load, but for ten that lack a key."""
    said = {}
    for name, config in DEFAULTS.items():
        with contextlib.suppress(FileError):
            found = read_configuration(config, "config.json").findings
            said[name] = [one.message for one in found if one.level == "error" and "refuses" in one.message]
    keys = {name: messages[0].split(" is ")[0] for name, messages in said.items() if messages}
    assert {name: key.removeprefix("text_config.") for name, key in keys.items()} == UNBUILT
    assert all(len(messages) <= 1 for messages in said.values())


def test_a_width_or_heads_that_a_file_leaves_out_are_those_of_the_class():
    """A file of a model_type alone says what its class writes of itself."""
    followed, told = {"alibi", "t5", "sinusoidal", "learned"}, 0
    for name, keys in DEFAULTS.items():
        if name in BY_NAME or find_composite(name):
            continue
        whole = read({**keys, "model_type": name})
        if whole.scheme in followed:
            bare, told = read({"model_type": name}), told + 1
            assert (bare.scheme, dict(bare.values)) == (whole.scheme, dict(whole.values)), name
    assert told > 150


def test_heads_of_a_class_that_is_not_known_are_to_be_stated():
    with pytest.raises(FileError, match="lacks a key; looked for num_attention_heads"):
        read({"model_type": "nobody-knows", "alibi": True})
