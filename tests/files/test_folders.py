"""Folders and sharded checkpoints."""

import json
import os
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import save_file

from pe_spectra.errors import FileError
from pe_spectra.files.checkpoint import find_configuration
from pe_spectra.files.model_files import _find_cache, find_model_file
from pe_spectra.files.model_folders import has_models
from pe_spectra.files.reading import NoTableError, list_folder
from pe_spectra.files.tables import read_array
from pe_spectra.model_sources import read_model
from tests.files.forms import TABLE, refuse, write, write_shards

# ----------------------------------------------------------------------------------- folders and shards


def name_read(folder):
    """The name of the file, of those that are damaged, that is read of a folder."""
    with pytest.raises(FileError) as caught:
        read_array(folder)
    return Path(caught.value.path).name


def test_what_is_in_a_folder(tmp_path):
    assert find_configuration(tmp_path) is None
    assert name_read(tmp_path) == tmp_path.name
    write(tmp_path / "pytorch_model.bin", b"x")
    write(tmp_path / "config.json", "{}")
    assert find_configuration(tmp_path) == {}
    assert name_read(tmp_path) == "pytorch_model.bin"
    assert "torch.load('pytorch_model.bin'" in refuse(tmp_path)
    write(tmp_path / "other.safetensors", b"x")
    assert name_read(tmp_path) == "other.safetensors"
    write(tmp_path / "another.safetensors", b"x")
    assert name_read(tmp_path) == "pytorch_model.bin"
    write(tmp_path / "model.safetensors.index.json", b"{}")
    assert name_read(tmp_path) == "model.safetensors.index.json"
    write(tmp_path / "model.safetensors", b"x")
    assert name_read(tmp_path) == "model.safetensors"
    for name in ("none", "config.json", "a\0b"):
        with pytest.raises(FileError):
            list_folder(tmp_path / name, "")


def test_a_folder_without_a_table_of_positions_says_so_in_a_class_of_its_own(tmp_path):
    with pytest.raises(NoTableError, match="without weights"):
        read_array(tmp_path)
    write(tmp_path / "config.json", '{"rope_theta": 1e4}')
    with pytest.raises(NoTableError, match="holds no table"):
        read_array(tmp_path / "config.json")
    save_file({"q.weight": TABLE, "k.weight": TABLE}, tmp_path / "model.safetensors")
    with pytest.raises(NoTableError, match="none of a known name"):
        read_array(tmp_path)
    save_file({"a.pos_embed": TABLE, "b.pos_embed": TABLE}, tmp_path / "model.safetensors")
    with pytest.raises(FileError, match="several position tables") as caught:
        read_array(tmp_path)
    assert not isinstance(caught.value, NoTableError)
    (tmp_path / "model.safetensors").unlink()
    write_shards(tmp_path / "s", {"q.weight": TABLE}, {"k.weight": TABLE})
    with pytest.raises(NoTableError, match="none of a known name"):
        read_array(tmp_path / "s")


def test_a_sharded_checkpoint_reads_the_shard_of_its_tensor(tmp_path):
    index = write_shards(tmp_path / "m", {"a.weight": TABLE, "pos_embed": TABLE[None] + 1}, {"b.weight": TABLE + 2})
    found = read_array(tmp_path / "m")
    assert found.tensor == "pos_embed"
    assert_array_equal(found.values, TABLE + 1)
    assert_array_equal(read_array(tmp_path / "m", "b.weight").values, TABLE + 2)
    assert "has no tensor c; it has" in refuse(tmp_path / "m", "c")
    path = tmp_path / "m" / "model.safetensors.index.json"
    write(path, json.dumps({"weight_map": {**index["weight_map"], "c": "model-00002-of-00002.safetensors"}}))
    assert "has no tensor c; it has b.weight" in refuse(path, "c")
    save_file({"pos_embed": TABLE[0], "b.weight": TABLE}, tmp_path / "m" / "model-00002-of-00002.safetensors")
    write(path, json.dumps(index))
    assert_array_equal(read_array(path).values, TABLE + 1)  # a stray tensor in another shard is not it
    write(path, json.dumps({"weight_map": {"b.weight": index["weight_map"]["b.weight"]}}))
    assert read_array(path).tensor == "b.weight"
    write(path, json.dumps({"weight_map": {"c": "gone.safetensors"}}))
    assert "no such file" in refuse(path)


@pytest.mark.parametrize(
    "shard",
    ["../a.safetensors", "/a.safetensors", "b/a.safetensors", "..\\a.safetensors", "c:a.safetensors",
     "a\0.safetensors", ".safetensors", "", 1, None, ["a.safetensors"], "x" * 5000],
)  # fmt: skip
def test_a_shard_lies_beside_its_index(tmp_path, shard):
    path = write(tmp_path / "m.safetensors.index.json", json.dumps({"weight_map": {"pos_embed": shard}}))
    assert "places pos_embed in" in refuse(path)


def test_an_index_that_is_damaged_is_refused(tmp_path):
    path = tmp_path / "m.safetensors.index.json"
    assert "gives a twice" in refuse(write(path, '{"weight_map": {"a": "b.safetensors", "a": "c.safetensors"}}'))
    assert "is a configuration" in refuse(write(path, '{"weight_map": []}'))
    assert "holds no tensor" in refuse(write(path, '{"weight_map": {}}'))
    many = {str(n): f"{n}.safetensors" for n in range(1025)}
    assert "over 1025 files" in refuse(write(path, json.dumps({"weight_map": many})))
    assert "is not JSON" in refuse(write(path, '{"weight_map"'))
    said = refuse(write(path, '{"weight_map": {"a": "pytorch_model-00001-of-00002.bin"}}'))
    assert said.startswith("leads to pytorch_model-00001-of-00002.bin, which is a pickle")


# ----------------------------------------------------------------------------------- files that change or vanish


def test_a_folder_that_cannot_be_listed_is_named(empty_folder, monkeypatch):
    (empty_folder / "model").mkdir()

    def refuse_listing(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", refuse_listing)
    with pytest.raises(FileError, match="permission denied") as caught:
        find_model_file("model", "CONFIG")
    assert str(caught.value).startswith("model: ")
    assert str(caught.value).endswith("(CONFIG)")


def test_without_a_home_there_is_no_cache_to_look_in(empty_folder, monkeypatch):
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    # an account without an entry in the list of users, as containers have, and no HOME
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert _find_cache() is None
    with pytest.raises(FileError, match="has no configuration of such a model"):
        read_model("org/model")


def test_a_folder_of_models_is_told_from_a_model_and_from_an_empty_folder(tmp_path):
    (tmp_path / "all" / "one").mkdir(parents=True)
    assert not has_models(str(tmp_path / "all"))
    (tmp_path / "all" / "one" / "config.json").write_text("{}", encoding="utf-8")
    assert has_models(str(tmp_path / "all"))
    for other in (tmp_path / "all" / "one", tmp_path / "all" / "one" / "config.json", tmp_path / "none", ""):
        assert not has_models(str(other))
