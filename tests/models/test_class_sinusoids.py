"""Sines and cosines that classes add, against rows of their real modules at several widths, paddings and bases."""

import gzip
import json

import numpy as np
import pytest

from pe_spectra import find_encoding
from pe_spectra.answers.audit_words import judge_audits
from pe_spectra.errors import FileError
from pe_spectra.models.scheme import read_scheme
from pe_spectra.models.stated.class_sinusoids import Sinusoids
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import load_table
from pe_spectra.models.stated.statement import NEWEST
from pe_spectra.sources import read_encoding
from tests.models.configurations import audit, read
from tests.places import TESTS

FROZEN = TESTS / "reference" / "transformers" / f"sinusoids-{NEWEST}.json.gz"
CASES = [
    (*name.split(), keys, *real)
    for name, cases in json.loads(gzip.decompress(FROZEN.read_bytes())).items()
    for keys, *real in cases
]
TYPES = load_table(f"{NEWEST}-sinusoids")["types"]
M2M_100 = "encoder.embed_positions.weights"
#: Classes whose sinusoids are audited and follow no law.
UNTOLD = {
    "audioflamingo3_encoder": "its class starts from random numbers",
    "moss_transcribe_diarize_audio": "its class starts from random numbers",
    "qwen2_audio_encoder": "its class starts from random numbers",
    "voxtral_encoder": "its class starts from random numbers",
    "patchtst": "it follows no law that is known here",
}


def make(made):
    cls = find_encoding(made["name"])
    return cls(**{p.keyword: made[p.name] for p in cls.accepts if p.name in made})


def measure_misses(made, places, columns, rows):
    """How far the rows of an encoding are from those of a module, over what angles in float32 leave."""
    size, offset = made.get("scale", 1.0), made["offset"]
    allowed = size * (1e-6 + 3e-7 * np.maximum(np.array(places) + offset - 2, 0))
    return (np.abs(make(made).table(np.array(places))[:, columns] - np.array(rows)).max(axis=1) / allowed).max()


def test_many_classes_widths_and_paddings_were_run():
    assert len(CASES) > 150
    assert len({case[0] for case in CASES}) > 25
    assert {case[3] for case in CASES} > {48, 51, 130}


@pytest.mark.parametrize(("model", "at"), [(model, at) for model in TYPES for at in TYPES[model]])
def test_every_law_is_what_the_real_module_computes(model, at):
    for *_, keys, d, places, columns, rows in (case for case in CASES if case[:2] == (model, at)):
        made = Sinusoids(Keys(keys, "config.json"), model, at, d).formula
        assert not made or measure_misses(made, places, columns, rows) <= 1, keys


def test_the_law_is_told_but_for_keys_that_break_it():
    """All rows are 0 where a mask is taken for padding, one where positions pass it; a base is multiplied by a key."""
    broken = [
        (model, keys)
        for model, at, keys, d, *_ in CASES
        if "name" in TYPES[model][at] and not Sinusoids(Keys(keys, "config.json"), model, at, d).formula
    ]
    assert broken == [
        ("speech_to_text", {"pad_token_id": 0}),
        ("speecht5", {"pad_token_id": 0}),
        ("timesfm", {"min_timescale": 2}),
        *(("xglm", {"pad_token_id": pad}) for pad in (2, 3, 5)),
    ]
    for model, at, keys, d, places, columns, rows in CASES:
        if not Sinusoids(Keys(keys, "config.json"), model, at, d).formula and "name" in TYPES[model][at]:
            plain = Sinusoids(Keys({}, "config.json"), model, at, d).formula
            assert measure_misses(plain, places, columns, rows) > 100
            assert np.any(rows) == ("silent" not in TYPES[model][at])


def test_what_follows_no_law_has_its_reason_and_no_spec():
    untold = {model: law["unknown"] for model, laws in TYPES.items() for law in laws.values() if "unknown" in law}
    assert untold == UNTOLD | {"ibert": "it could not be run"}  # whose scheme is learned
    for model in UNTOLD:
        found = read({"model_type": model})
        assert (found.scheme, bool(found.untold)) == ("sinusoidal", True)
        (layer,) = audit({"model_type": model}).layers
        assert layer.spec is None
        assert "was not measured" in read_scheme({"model_type": model}, "config.json").notes[0]


@pytest.mark.parametrize(
    ("keys", "spec", "said"),
    [
        (
            {"model_type": "marian", "d_model": 512},
            "sinusoidal:d=512,layout=concatenated",
            "all sines first, wavelengths from 6.28 to 60,611 positions.",
        ),
        (
            {"model_type": "m2m_100"},
            "tensor2tensor:d=1024,offset=2",
            "all sines first, wavelengths from 6.28 to 62,832 positions, the first position counted as 2.",
        ),
        ({"model_type": "m2m_100", "pad_token_id": 0}, "tensor2tensor:d=1024,offset=1", "counted as 1."),
        ({"model_type": "fsmt", "d_model": 1024}, "tensor2tensor:d=1024,offset=2", "for any number of positions;"),
        ({"model_type": "xglm"}, "tensor2tensor:d=1024,offset=2", "counted as 2."),
        (
            {"model_type": "xglm", "pad_token_id": 4},
            None,
            "positions; with this pad_token_id its rows follow no law that was",
        ),
        ({"model_type": "speecht5"}, "tensor2tensor:d=768,offset=2", "counted as 2."),
        ({"model_type": "pegasus"}, "sinusoidal:d=1024,layout=concatenated", "in a table of 1,024 rows; all sines"),
        ({"model_type": "pegasus_x"}, "tensor2tensor:d=1024", "all sines first, wavelengths"),
        ({"model_type": "autoformer"}, "sinusoidal:d=64,layout=concatenated", "all sines first, wavelengths"),
        ({"model_type": "musicgen_decoder"}, "tensor2tensor:d=1024,layout=cosines-first", "all cosines first"),
        (
            {"model_type": "canary_decoder"},
            "sinusoidal:d=1024,layout=concatenated,scale=0.03125",
            "wavelengths from 6.28 to 61,712 positions, all times 0.03125.",
        ),
        (
            {"model_type": "timesfm", "use_positional_embedding": True, "max_timescale": 500},
            "tensor2tensor:d=1280,max_timescale=500",
            "to 3,142 positions.",
        ),
        (
            {"model_type": "timesfm", "use_positional_embedding": True, "min_timescale": 3},
            None,
            "with this min_timescale",
        ),
        (
            {"model_type": "speecht5", "pad_token_id": 0},
            None,
            "with this pad_token_id it adds 0 everywhere. 1 warning: the model adds 0 to all positions",
        ),
        ({"model_type": "m2m_100", "pad_token_id": None}, None, "with this pad_token_id its class fails. 1 error: the"),
        ({"model_type": "m2m_100", "d_model": 3}, None, "positions; with this width its class fails. 1 error: the"),
        ({"model_type": "m2m_100", "d_model": 5}, "tensor2tensor:d=5,offset=2", "wavelengths from 6.28 to 62,832 p"),
        ({"model_type": "pegasus_x", "d_model": 2}, None, "with this width its class fails."),
        ({"model_type": "qwen2_5_omni_audio_encoder", "d_model": 77}, None, "with this width its class fails."),
        ({"model_type": "pegasus", "d_model": 2}, "sinusoidal:d=2,layout=concatenated", "first, wavelength 6.28 posit"),
        ({"model_type": "autoformer", "d_model": 3}, "sinusoidal:d=3,layout=concatenated", "from 6.28 to 2,916 posit"),
        (
            {"model_type": "informer", "context_length": 48, "prediction_length": 24},
            "sinusoidal:d=64,layout=concatenated",
            "64 columns by formula, in a table of 72 rows; all",
        ),
        ({"model_type": "informer"}, "sinusoidal:d=64,layout=concatenated", "64 columns by formula; all sines"),
        ({"model_type": "tipsv2_text_model"}, "tensor2tensor:d=768", "in a table of 64 rows; all sines"),
        ({"model_type": "fun_asr_nano_encoder", "num_mel_bins": 40}, "tensor2tensor:d=280,offset=1", "280 columns"),
        (
            {"model_type": "videomae"},
            "sinusoidal:d=768",
            "768 columns by formula; sines and cosines in turns, wavelengths",
        ),
        ({"model_type": "fun_asr_nano_encoder"}, "tensor2tensor:d=560,offset=1", "counted as 1."),
        # of text, whose first position is behind pad_token_id; that of the units of speech is behind t2u_pad_token_id
        ({"model_type": "seamless_m4t"}, "tensor2tensor:d=1024,offset=1", "counted as 1."),
        ({"model_type": "seamless_m4t", "pad_token_id": 3}, "tensor2tensor:d=1024,offset=4", "counted as 4."),
        ({"model_type": "seamless_m4t_v2", "pad_token_id": 3}, "tensor2tensor:d=1024,offset=4", "counted as 4."),
    ],
)
def test_what_is_said_and_how_it_is_named_again(keys, spec, said):
    found = audit(keys)
    layer = found.layers[0]
    assert layer.spec == spec
    assert said in judge_audits([found]).text
    if spec is not None:
        assert read_encoding(spec) == layer.encoding
        scheme = read_scheme(keys, "config.json")
        assert scheme.notes == ()
        assert make({"name": scheme.name, **scheme.values}) == layer.encoding


def test_an_architecture_with_other_sinusoids_has_no_spec_and_is_named_beside_those_that_are_audited():
    """SpeechT5's prenet of text multiplies its rows by a learned number."""
    spoken = {"model_type": "speecht5", "architectures": ["SpeechT5ForTextToSpeech"]}
    assert (read(spoken).scheme, audit(spoken).layers[0].spec) == ("sinusoidal", None)
    for keys, named in ((spoken, False), ({"model_type": "speecht5"}, True)):
        (finding,) = [one for one in audit(keys).findings if one.code == "several-schemes"]
        assert ("sinusoidal (SpeechT5ScaledPositionalEncoding, of SpeechT5ForTextToSpeech" in finding.message) == named
        assert finding.data["schemes"] == (["shaw", "convolutional"] if named else ["shaw"])


@pytest.mark.parametrize("model", ["seamless_m4t", "seamless_m4t_v2"])
def test_a_decoder_of_speech_is_named_beside_what_reads_text(model):
    (finding,) = [one for one in audit({"model_type": model}).findings if one.code == "nested-config"]
    assert "the text_encoder is what is audited, and the t2u_model has fixed sinusoids of its own" in finding.message
    assert finding.data["decoder_positions"] == {"seamless_m4t": 2048, "seamless_m4t_v2": 4096}[model]


def test_the_encoder_s_sinusoids_are_named_beside_a_learned_decoder():
    (finding,) = [
        one for one in audit({"model_type": "whisper", "d_model": 512}).findings if one.code == "nested-config"
    ]
    assert "fixed sinusoids of its own" in finding.message
    assert "tensor2tensor of width 512" in finding.message


def test_an_encoder_that_adds_nothing_with_a_padding_of_0_is_told():
    for padding, is_silent in ((0, True), (1, False)):
        findings = audit({"model_type": "speech_to_text", "pad_token_id": padding}).findings
        said = [one.message for one in findings if one.code == "nothing-added"]
        assert [one.partition(", with which")[0] for one in said] == ["pad_token_id is 0"] * is_silent


@pytest.mark.parametrize("model", [model for model in TYPES if model != "ibert"])
def test_what_its_class_fails_with_is_an_error_and_what_it_was_run_with_is_none(model):
    """Of a width that was not tried, an odd one fails where all odd ones did."""
    for at, law in TYPES[model].items():
        key, sizes = law.get("fails_at", ("d_model", ()))
        held = law.get("widths", ())
        failing = {*sizes, *([77] if any(one % 2 for one in sizes) and not any(one % 2 for one in held) else [])}
        for d in {*held, *failing, 96} - {1}:
            Sinusoids(keys := Keys({key: d}, "config.json"), model, at, d).report()
            assert [one.data["key"] for one in keys.findings] == [key] * (d in failing), d
            assert ("its class fails" in Sinusoids(keys, model, at, d).untold) == (d in failing)
        key, values = law.get("fails", ("pad_token_id", ()))
        for value in (None, 0, 1, 7):
            Sinusoids(keys := Keys({key: value}, "config.json"), model, at, 48).report()
            assert [one.code for one in keys.findings if one.level == "error"] == ["value-refused"] * (value in values)


def test_a_class_that_fails_in_a_part_beside_what_is_audited_is_an_error():
    for model, key, count in (("seamless_m4t", "t2u_pad_token_id", 1), ("speech_to_text", "pad_token_id", 2)):
        errors = [one for one in audit({"model_type": model, key: None}).findings if one.level == "error"]
        assert [one.data["key"] for one in errors] == [key] * count


def test_an_older_release_was_not_run():
    Sinusoids(keys := Keys({"d_model": 2}, "config.json", release="4.57.6"), "m2m_100", M2M_100, 2).report()
    assert not keys.findings


@pytest.mark.parametrize("padding", [0, 1, 5, 1025, 58100])
def test_the_number_of_the_first_position_takes_no_positions_away(padding):
    for model, length in (("m2m_100", 1024), ("kosmos_2_text_model", 2048), ("fsmt", None)):
        (layer,) = audit({"model_type": model, "pad_token_id": padding}).layers
        assert (layer.trained_length, layer.encoding.offset) == (length, padding + 1)


def test_a_padding_behind_the_rows_of_a_table_is_refused():
    assert audit({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 512}).layers[0]
    with pytest.raises(FileError, match="pad_token_id cannot be used"):
        audit({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 513})
    with pytest.raises(FileError, match="max_position_embeddings cannot be used"):
        audit({"model_type": "roberta", "max_position_embeddings": 1})


def test_keys_that_a_law_follows_are_checked():
    with pytest.raises(FileError, match=r"pad_token_id .* an integer from 0"):
        audit({"model_type": "m2m_100", "pad_token_id": -1})
    with pytest.raises(FileError, match=r"max_timescale .*a number above 0"):
        audit({"model_type": "timesfm", "use_positional_embedding": True, "max_timescale": "far"})
