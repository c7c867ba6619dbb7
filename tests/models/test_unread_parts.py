"""Parts whose positions are not known here, of two files: they are unknown, and not the same."""

import pytest

from pe_spectra.models.comparison.divergence import Diff
from pe_spectra.models.comparison.scheme_diff import add_beside, list_alone
from pe_spectra.models.comparison.unread_parts import list_unread, states_part
from pe_spectra.models.stated.configuration import read_configuration

TEXT = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 4096}


def read(model, **parts):
    return read_configuration({"model_type": model, "text_config": TEXT, **parts}, "config.json")


def make(name, **keys):
    return {"vision_config": {"model_type": name, **keys}}


#: Files of two types that are not known and one that is, alike but for it.
TYPED = {name: read_configuration({**TEXT, "model_type": name}, "config.json") for name in ("x", "y", "llama")}
GUESS = "the type '{}' is not known; its keys are read as most classes read them"


@pytest.mark.parametrize(
    ("a", "b", "whys"),
    [
        (read("llava", **make("x")), read("llava", **make("x")), []),  # stated alike
        (
            read("llava", **make("x")),
            read("llava", **make("siglip_vision_model")),
            ["A: vision_config: no positions of x are known here"],
        ),
        (
            read("llava", **make("x")),
            read("llava", **make("x", depth=2)),
            [f"{letter}: vision_config: no positions of x are known here" for letter in "AB"],
        ),
        (
            read("own", **make("siglip_vision_model")),
            read("llava"),
            ["A: vision_config: what own makes of its siglip_vision_model is not known here"],
        ),
        (read("own", **make("resnet")), read("llava"), []),  # has no positions
        (TYPED["x"], TYPED["y"], [f"{letter}: {GUESS.format(name)}" for letter, name in zip("AB", "xy", strict=True)]),
        (TYPED["x"], TYPED["llama"], ["A: " + GUESS.format("x")]),
        (TYPED["x"], TYPED["x"], []),  # alike, whatever it is
        (read("llava", audio_config={"model_type": "whisper"}), read("llava"), []),  # no part of its class
        (read("llava", vision_config={"hidden_size": 8}), read("llava"), []),
    ],
)
def test_what_is_not_read_of_one_file_is_unknown(a, b, whys):
    assert [one.why for one in list_unread(a, b)] == whys
    found = add_beside(Diff(agree=True, differences=(), unknown=(), layer_types=(), length=1), a, b)
    assert [one.why for one in found.unknown] == whys
    assert not whys or found.agree is not True


def test_a_part_that_is_stated_is_not_told_as_stated_by_the_other_alone():
    unread, known = read("llava", **make("x")), read("llava", **make("siglip_vision_model"))
    assert states_part(unread, "vision_config.model")
    assert list_alone(unread, known) == ()
    assert list_alone(read_configuration(TEXT, "config.json"), known) == (
        "B alone states vision_config, which is not compared",
    )


def test_a_part_of_an_unknown_model_that_is_not_read_is_named():
    found = read("own", **make("siglip_vision_model"), sound_config={"model_type": "whisper"}, quantization={"bits": 4})
    (message,) = (one.message for one in found.findings if one.code == "nested-config")
    assert message.endswith(
        "; not read, for what the model makes of it is not known here: vision_config and sound_config"
    )
    assert not any("not read" in one.message for one in read("own").findings)
