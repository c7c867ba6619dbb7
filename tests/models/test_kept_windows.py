"""Which windows of a file other stacks keep to: what was measured, and what is made of it."""

import pytest

from pe_spectra.models.stacks import Refusal, list_releases
from pe_spectra.models.stacks.kept_windows import find_entry
from pe_spectra.models.stated import architectures
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.converted_models import load_readings
from pe_spectra.models.stated.known_models import read_measured
from tests.files.gguf import read

STACKS = {stack.release_name: stack for stack in list_releases()}
VLLM, KERAS_HUB = "vllm==0.33.0", "keras-hub==0.32.0"
LENGTHS = {"head_dim": 64, "max_position_embeddings": 32768, "sliding_window": 4096, "rope_theta": 1e4}
SOME = {"num_hidden_layers": 16, "use_sliding_window": True, "max_window_layers": 8}


def see(release, **keys):
    """Window and doubt of each type of layer in a release, and what it says of those that slide."""
    stated = read_configuration({**LENGTHS, **keys}, "config.json")
    seen = {one.name: STACKS[release].see(stated, one) for one in stated.layers}
    sliding = next(one for one in stated.layers if one.window is not None)
    found = STACKS[release].read(stated, sliding, None)
    said = [found.reason] if isinstance(found, Refusal) else [note for note in found.notes if "layers" in note]
    return {name: (one.window, one.doubted) for name, one in seen.items()}, said


def test_every_release_has_its_table():
    found = read_measured("stack-windows")
    for name in ("vllm", "keras-hub", "llama.cpp"):
        assert set(found[name]) == {stack.version for stack in list_releases() if stack.name == name}
    kinds = {type(value) for releases in found.values() for one in releases.values() for value in one.values()}
    assert kinds == {str, dict}


@pytest.mark.parametrize("release", [VLLM, "vllm==0.19.1", KERAS_HUB, "keras-hub==0.31.0"])
def test_a_window_of_all_layers_is_kept_to(release):
    assert see(release, model_type="mistral") == ({"all": (4096, None)}, [])


def test_a_window_may_be_longer_there():
    sizes, said = see(VLLM, model_type="cohere2", num_hidden_layers=8)
    assert sizes == {"sliding_attention": (4097, None), "full_attention": (None, None)}
    assert said == ["these layers see 4,097 positions at once, where the library of the file has 4,096"]
    assert see("vllm==0.19.1", model_type="cohere2", num_hidden_layers=8)[0]["sliding_attention"] == (4096, None)


def test_other_layers_may_slide_there():
    sizes, said = see(KERAS_HUB, model_type="gpt_oss", num_hidden_layers=8)
    assert sizes["sliding_attention"] == (None, 4096)
    assert said == ["other layers have a window there than those that see 4,096 positions at once by the file"]


def test_where_layers_slide_may_be_fixed():
    """vLLM lets every second layer of gpt-oss slide, the first one too, which is what its files say."""
    assert see(VLLM, model_type="gpt_oss", num_hidden_layers=8)[0]["sliding_attention"] == (4096, None)
    types = ["full_attention"] * 4 + ["sliding_attention"] * 4
    sizes, said = see(VLLM, model_type="gpt_oss", num_hidden_layers=8, layer_types=types)
    assert sizes["sliding_attention"] == (None, 4096)
    assert said[0].startswith("other layers have a window")
    types = ["sliding_attention"] + ["full_attention"] * 7
    assert see(VLLM, model_type="gpt_oss", num_hidden_layers=8, layer_types=types)[0]["sliding_attention"][0] is None


def test_layers_of_several_types_may_be_refused_or_see_all():
    _, said = see(VLLM, model_type="qwen2", **SOME)
    assert len(said) == 1
    assert "some of the 2 types of layers see a window" in said[0]
    assert see(VLLM, model_type="qwen2", **SOME | {"max_window_layers": 0}) == ({"sliding_attention": (4096, None)}, [])
    sizes, said = see(KERAS_HUB, model_type="qwen2", **SOME)
    assert set(sizes.values()) == {(None, None)}
    assert said == ["these layers see all positions: their window of 4,096 is not kept to"]


def test_without_a_window_nothing_is_refused():
    stated = read_configuration({**LENGTHS, "model_type": "qwen2"}, "config.json")
    assert not isinstance(STACKS[VLLM].read(stated, stated.layers[0], None), Refusal)


def test_of_what_was_not_measured_nothing_is_claimed():
    sizes, said = see(VLLM, model_type="starcoder2")
    assert sizes == {"all": (None, 4096)}
    assert said == ["whether these layers see 4,096 positions at once, as in transformers, was not measured"]
    assert dict(find_entry("vllm", "0.33.0", "starcoder2")) == {}
    both = {"model_type": "gemma3_text", "num_hidden_layers": 6, "use_bidirectional_attention": True}
    assert see(VLLM, **both)[0]["sliding_attention"][0] is None


# ----------------------------------------------------------------------------------- llama.cpp


def test_architectures_that_were_run_with_windows_are_among_those_that_were_read():
    run = {one["architecture"] for one in load_readings().values() if "layers" in one}
    assert run
    assert all(map(architectures.find_windows, run))
    kinds = {architectures.find_windows(name).get("kind") for name in ("gemma3", "llama4", "modern-bert", "phi3")}
    assert kinds == {"standard", "chunked", "symmetric", None}


def test_every_layer_of_lfm2_that_attends_has_the_window():
    keys = {"embedding_length": 64, "attention.head_count": 4, "context_length": 32768, "attention.sliding_window": 512}
    found = read({"general.architecture": "lfm2", **{f"lfm2.{key}": value for key, value in keys.items()}})
    assert [(layer.name, layer.window, layer.turns) for layer in found.layers] == [("all", 512, True)]
    found = read({"general.architecture": "lfm2", **{f"lfm2.{key}": value for key, value in [*keys.items()][:-1]}})
    assert [layer.window for layer in found.layers] == [None]


def test_layers_of_laguna_that_slide_have_the_base_of_the_others_unscaled():
    keys = {
        "embedding_length": 64, "attention.head_count": 4, "context_length": 32768, "attention.sliding_window": 512,
        "rope.freq_base": 5e5, "rope.scaling.type": "yarn", "rope.scaling.factor": 4.0,
        "rope.scaling.original_context_length": 8192,
    }  # fmt: skip
    found = read({"general.architecture": "laguna", **{f"laguna.{key}": value for key, value in keys.items()}})
    assert {layer.name: (layer.older.base, layer.older.kind) for layer in found.layers} == {
        "full_attention": (5e5, "yarn"),
        "sliding_attention": (5e5, "default"),
    }
