"""What `export` writes of a model's configuration is read by `diff` as what it is."""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests.places import MODELS

NAMES = ("llama-3.1-8b", "gpt-j-6b", "gemma-3-4b-it", "phi-3.5-mini-instruct", "phi-2", "qwen2.5-7b-instruct-yarn")
FORMS = ("npy", "csv", "tsv", "safetensors")
#: Parts that an array of frequencies, and one of cosines and sines, does not say.
SILENT = {"frequencies": {"layout", "attention_scaling", "offset", "dtype"}, "cos-sin": {"dtype"}}


@pytest.fixture(autouse=True)
def models(tmp_path, monkeypatch):
    for name in NAMES:
        shutil.copy(MODELS / f"{name}.json", tmp_path / f"{name}.json")
    return tmp_path


def export(cli, text, what, form="npy", more=""):
    done = cli(f"export {text} --what {what} --output port.{form}{more}")
    assert done.code == 0, done.err
    return f"port.{form}"


@pytest.mark.few(12)
@pytest.mark.parametrize("what", SILENT)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_exported_is_the_same(ask_diff, cli, name, form, what):
    port = export(cli, f"{name}.json", what, form, " --length 64")
    document = ask_diff(f"{name}.json {port} --served 64")
    assert document["differences"] == []
    parts = {one["what"] for one in document["unknown"]}
    assert {part for part in parts if "layers" not in part} == SILENT[what]


@pytest.mark.parametrize("text", ["rope:d=64,base=5e5", "rope:d=64,scaling=linear,factor=8,layout=interleaved"])
def test_rotary_encodings_of_the_catalogue_are_read_too(ask_diff, cli, text):
    for form in FORMS:
        plain, cache = export(cli, text, "frequencies", form), f"cache.{form}"
        shutil.move(plain, cache)
        port = export(cli, text, "cos-sin", form, " --length 200")
        assert ask_diff(f"{port} {cache}")["differences"] == []


@pytest.mark.parametrize("what", SILENT)
def test_a_planted_difference_is_named(ask_diff, cli, what):
    port = export(cli, "llama-3.1-8b.json", what, more=" --length 2048")
    values = np.load(port)
    if what == "cos-sin":
        np.save(port, np.hstack([values[:, :128], -values[:, 128:]]))
        assert "layout" in {one["what"] for one in ask_diff(f"llama-3.1-8b.json {port} --served 2048")["differences"]}
        return
    values[:, 0] = 1e4 ** -(np.arange(64) / 64)
    np.save(port, values)
    assert ask_diff(f"llama-3.1-8b.json {port}")["causes"][0]["code"] == "scaling-and-base-dropped"


def test_the_list_of_longrope_is_that_of_the_length(ask_diff, cli):
    short = export(cli, "phi-3.5-mini-instruct.json", "frequencies", more=" --length 4096")
    document = ask_diff(f"phi-3.5-mini-instruct.json {short}")
    assert document["causes"][0]["code"] == "other-list"
    assert ask_diff(f"phi-3.5-mini-instruct.json {short} --served 4096")["agree"] is None


def test_columns_that_are_no_masses_and_phases_stay_a_table(cli):
    np.save("port.npy", np.array([[1.0, 2.0, 0.0], [0.1, 1.0, 0.0]]))
    assert "shows no rotation" in cli("diff phi-2.json port.npy").err


#: Models with several kinds of layers, with their kinds; of T5Gemma in two parts.
KINDS = {
    "gemma-3-4b-it": ("sliding_attention", "full_attention"),
    "gemma-4-26b-a4b": ("sliding_attention", "full_attention"),
    "t5gemma": ("sliding_attention", "full_attention", "encoder.sliding_attention", "encoder.full_attention"),
}


@pytest.fixture
def of_kinds(models):
    shutil.copy(MODELS / "gemma-4-26b-a4b.json", models / "gemma-4-26b-a4b.json")
    keys = {"model_type": "t5gemma", "encoder": {"rope_theta": 5e5}, "decoder": {}}
    (models / "t5gemma.json").write_text(json.dumps(keys))
    return models


@pytest.mark.parametrize("what", SILENT)
@pytest.mark.parametrize("form", ["safetensors", "npz"])
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_layers_is_exported_and_read_back(ask_diff, cli, of_kinds, name, form, what):
    port = export(cli, f"{name}.json", what, form, " --length 64")
    document = ask_diff(f"{name}.json {port} --served 64")
    assert document["differences"] == []
    assert {one["what"] for one in document["unknown"]} == SILENT[what]
    assert tuple(one["name"] for one in document["layer_types"]) == KINDS[name]
    assert all(one["agree"] for one in document["layer_types"])


@pytest.mark.parametrize("what", SILENT)
@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kinds in KINDS.items() for kind in kinds])
def test_a_difference_in_one_kind_is_named_by_it(ask_diff, cli, of_kinds, name, kind, what):
    port = export(cli, f"{name}.json", what, "npz", " --length 64")
    with np.load(port) as file:
        arrays = dict(file)
    turns = np.arange(64)[:, None] * 3e4 ** -(np.arange(128) / 128)
    frequencies = np.stack([turns[1], np.ones(128), np.zeros(128)], axis=1)
    waves = np.hstack([np.cos(turns), np.cos(turns), np.sin(turns), np.sin(turns)])
    arrays[f"{kind}.{what}"] = frequencies if what == "frequencies" else waves
    np.savez(port, **arrays)
    document = ask_diff(f"{name}.json {port} --served 64")
    assert [one["name"] for one in document["layer_types"] if not one["agree"]] == [kind]
    assert {layer for one in document["differences"] for layer in one["layers"]} == {kind}


def test_a_file_for_one_array_has_one_kind_and_says_so(cli, of_kinds):
    said = cli("export gemma-3-4b-it.json --what frequencies --output port.npy").err
    assert "the parameters of full_attention layers are used; others: sliding_attention" in said
    assert ".safetensors and .npz hold all: sliding_attention, full_attention" in said


def test_kinds_that_are_no_ladder_are_left_out_and_named(cli, models):
    (models / "vision.json").write_text(json.dumps({"model_type": "mistral3", "text_config": {}, "vision_config": {}}))
    said = cli("export vision.json --what frequencies --output port.npz").err
    assert "vision_config is left out: its frequencies are not those of the catalogue's rope" in said


def test_parts_that_both_files_have_are_compared(ask_diff, of_kinds):
    (of_kinds / "other.json").write_text(json.dumps({"model_type": "t5gemma", "encoder": {}, "decoder": {}}))
    document = ask_diff("t5gemma.json other.json")
    (cause,) = document["causes"]
    assert cause["code"] == "default-base"
    assert cause["layers"] == ["encoder.sliding_attention", "encoder.full_attention"]
    assert ask_diff("t5gemma.json --stack transformers==4.57.6")["differences"] == []


def test_an_array_of_a_kind_of_layers_that_shows_no_rotation_is_named(cli):
    port = export(cli, "gemma-3-4b-it.json", "frequencies", "safetensors")
    arrays = load_file(port)
    sliding = next(name for name in arrays if "sliding" in name)
    arrays[sliding] = np.full_like(arrays[sliding], -1.0)
    save_file(arrays, port)
    done = cli(f"diff gemma-3-4b-it.json {port}")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {port}::{sliding}: ")
