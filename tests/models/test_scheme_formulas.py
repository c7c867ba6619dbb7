"""Encodings that classes were measured to have, against what their real modules compute with drawn keys."""

import gzip
import json

import numpy as np
import pytest

from pe_spectra import find_encoding
from pe_spectra.answers.audit_words import judge_audits
from pe_spectra.errors import FileError
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.known_models import load_table
from pe_spectra.models.stated.position_schemes import find_schemes
from pe_spectra.models.stated.statement import NEWEST
from pe_spectra.sources import read_encoding
from tests.models.configurations import audit
from tests.places import TESTS

FROZEN = TESTS / "reference" / "transformers" / f"formulas-{NEWEST}.json.gz"
CASES = [
    (*name.split(), keys, real)
    for name, cases in json.loads(gzip.decompress(FROZEN.read_bytes())).items()
    for keys, real in cases
]
#: The grid on which the modules were run, and half of the span of lags.
HEIGHT, WIDTH, LENGTH = 3, 5, 9
#: What lists of numbers are, by their length.
NUMBERS = {1: ("fails_from",), 2: ("before", "behind"), 3: ("window", "trained", "heads")}
DEBERTA = {"model_type": "deberta-v2", "relative_attention": True, "position_biased_input": False}
DEBERTA |= {"pos_att_type": ["c2p", "p2c"]}


def find_made(model, kind, keys):
    """What a scheme was measured to be; the switches that add it are set."""
    facts = [one for one in load_table(f"{NEWEST}-schemes")["types"][model]["has"] if one["kind"] == kind]
    switched = dict(one["if"] for one in facts if "if" in one)
    switched |= {one["terms"]["key"]: one["terms"]["words"] for one in facts if "terms" in one}
    (found,) = [one for one in find_schemes(Keys({**switched, **keys}, "config.json"), model) if one.name == kind]
    return dict(found.made)


def make(made, **more):
    cls = find_encoding(made["name"])
    return cls(**{p.keyword: {**made, **more}[p.name] for p in cls.accepts if p.name in {**made, **more}})


def list_codes(made, rows):
    """Vectors of the grid; of lags in every order that a module may have."""
    if made["name"] in ("detr-sine", "sincos2d"):
        yield make(made, height=HEIGHT, width=WIDTH).table(rows)
        return
    for first in range(-LENGTH, LENGTH + 1):
        for step in (1, -1):
            yield make(made).lag_table(first + step * np.arange(rows))


def list_steps(made, lags):
    """Where a lag has another row than the one after it."""
    if "name" not in made:
        return np.flatnonzero((lags[:-1] >= -made["behind"]) & (lags[:-1] < made["before"]))
    encoding = make(made)
    rows = encoding.bias(lags)[0] if made["name"] == "t5" else encoding.lag_table(lags)[:, 0]
    return np.flatnonzero(np.diff(rows))


def is_same(made, real):
    if isinstance(real, list):
        return real == [made[name] for name in NUMBERS[len(real)]]
    if "codes" in real:
        codes = np.array(real["codes"])
        return made["d"] == real["d"] and any(
            np.abs(one[:, real["columns"]] - codes).max() < 1e-5 for one in list_codes(made, len(codes))
        )
    steps = list_steps(made, np.arange(-real["reach"], real["reach"] + 1))
    return len({*steps.tolist()} ^ {*real["steps"]}) <= (2 if made.get("name") == "t5" else 0)  # float32 at a border


def test_many_classes_were_drawn():
    assert len(CASES) > 80
    assert {kind for _, kind, *_ in CASES} > {"sine-2d", "transformer-xl", "disentangled", "shaw", "convolutional"}


def test_every_encoding_is_what_the_real_module_computes():
    wrong = [case[:3] for case in CASES if not is_same(find_made(*case[:3]), case[3])]
    assert not wrong


@pytest.mark.parametrize(
    ("keys", "spec", "said"),
    [
        (
            {"model_type": "detr"},
            "detr-sine",
            "256 columns, half for each axis; 64 frequencies, the fastest one turn over a side of any length.",
        ),
        ({"model_type": "deformable_detr"}, "detr-sine:centred=yes", "counted from the middle of a place."),
        (
            {"model_type": "rt_detr", "encoder_hidden_dim": 128},
            "sincos2d:d=128,order=timm-interleaved",
            "32 frequencies",
        ),
        ({"model_type": "grounding-dino", "positional_embedding_temperature": 100}, "detr-sine:rho=100", "one turn"),
        (
            {"model_type": "parakeet_encoder", "max_position_embeddings": 5000},
            "transformer-xl:d=1024,layout=interleaved",
            "512 frequencies, wavelengths from 6.28 to 61,712 positions; 140 of them complete no turn within 5,000",
        ),
        ({"model_type": "xlnet"}, "transformer-xl:d=1024", "512 frequencies"),
        (
            DEBERTA | {"position_buckets": 256, "max_relative_positions": -1},
            "deberta:buckets=256,d=1536",
            "width 1,536; distances up to 128 have one each, those from 506 on share the last",
        ),
        (DEBERTA, None, "up to 511 positions before and 512 behind each lag has its own, those beyond share the last"),
        ({"model_type": "wavlm"}, "t5:buckets=320,max_distance=800,heads=12", "distances from 778 on share one"),
        ({"model_type": "swinv2"}, "swin:window=7,mode=cpb,heads=3,trained=7", "169 offsets within a window of 7 x 7"),
        (
            {"model_type": "swinv2", "window_size": 16, "pretrained_window_sizes": [12, 12, 12, 6]},
            "swin:window=16,mode=cpb,heads=3,trained=12",
            "961 offsets within a window of 16 x 16, 3 heads, scaled by a window of 12",
        ),
        ({"model_type": "wav2vec2"}, None, "kernel 128, d 768; it sees 64 positions before and 63 behind"),
        ({"model_type": "wav2vec2", "num_conv_pos_embeddings": 129}, None, "it sees 64 positions before and 64 behind"),
        ({"model_type": "pix2struct_vision_model"}, None, "rows 4,096; a place from 4,096 on has no row and fails"),
        ({"model_type": "dab-detr"}, "detr-sine:rho=20", "64 frequencies"),
        ({"model_type": "dab-detr", "temperature_width": 40}, None, "named, not analysed"),
    ],
)
def test_what_is_said_and_how_it_is_named_again(keys, spec, said):
    found = audit(keys)
    layer = next(one for one in found.layers if not one.configuration.part)
    assert layer.spec == spec
    assert said in judge_audits([found]).text
    if spec is not None:
        assert read_encoding(spec) == layer.encoding


def test_a_base_or_width_that_is_no_number_is_refused_by_name():
    with pytest.raises(FileError, match=r"d_model .*a number or a list of them is accepted"):
        audit({"model_type": "detr", "d_model": "wide"})
    with pytest.raises(FileError, match="detr-sine: d"):
        audit({"model_type": "detr", "d_model": 6})
