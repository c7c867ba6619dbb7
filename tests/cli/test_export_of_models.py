"""What `export` writes of a model's configuration is read by `diff` as what it is."""

import shutil

import numpy as np
import pytest

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
