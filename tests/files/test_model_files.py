"""The file that tells what a model is: paths, folders, standard input, the local cache."""

import errno
import io
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from pe_spectra.errors import FileError, InputError
from pe_spectra.files.model_files import _find_cache, find_model_file, read_model_file
from tests.refusing import catch

pytestmark = pytest.mark.usefixtures("no_cache")
CONFIG = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 500000.0}
PARAMS = {"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "rope_theta": 500000.0, "use_scaled_rope": True}
HASH = "0123456789abcdef0123456789abcdef01234567"


def write(path, found):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(found if isinstance(found, str) else json.dumps(found), encoding="utf-8")
    return path


def write_cached(cache, name="org/model", snapshot=HASH, *, reference=HASH, files=None):
    model = Path(cache) / f"models--{name.replace('/', '--')}"
    for file, found in (files or {"config.json": CONFIG}).items():
        write(model / "snapshots" / snapshot / file, found)
    if reference is not None:
        write(model / "refs" / "main", reference)
    return model


def refuse(text, kind=FileError):
    after = "" if kind is InputError else "(CONFIG)"
    return catch(lambda: read_model_file(find_model_file(text, "CONFIG")), kind=kind, after=after)


def feed(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


# ----------------------------------------------------------------------------------- paths and folders


def test_a_file_is_what_its_name_says():
    for name, kind in (
        ("a/config.json", "config.json"),
        ("a/other.json", "config.json"),
        ("a/params.json", "params.json"),
        ("a/m.gguf", "gguf"),
        ("a/inv_freq.npy", "table"),
        ("a/x.safetensors", "table"),
    ):
        write(name, CONFIG)
        found = find_model_file(name)
        assert (found.path, found.kind, found.shown, found.tensor) == (Path(name), kind, name, None)


def test_without_a_known_ending_the_first_bytes_tell():
    write("a", CONFIG)
    assert read_model_file(find_model_file("a")).keys == CONFIG
    Path("b").write_bytes(b"GGUF" + b"\0" * 20)
    assert find_model_file("b").kind == "gguf"
    write("weights.bin", "x")
    assert "is a pickle" in refuse("weights.bin")


def test_params_are_known_by_their_keys():
    write("llama.json", PARAMS)
    found = read_model_file(find_model_file("llama.json"))
    assert (found.kind, found.shown, found.keys["dim"]) == ("params.json", "llama.json", 4096)
    # DistilBERT has such keys too
    write("distil.json", {"model_type": "distilbert", **PARAMS})
    assert read_model_file(find_model_file("distil.json")).kind == "config.json"
    write("params.json", CONFIG)
    assert read_model_file(find_model_file("params.json")).kind == "config.json"


def test_a_folder_has_a_configuration_first():
    write("m/params.json", PARAMS)
    write("m/x.gguf", "")
    assert find_model_file("m").kind == "params.json"
    write("m/config.json", CONFIG)
    found = find_model_file("m/")
    assert (found.path, found.kind, found.shown) == (Path("m/config.json"), "config.json", "m/config.json")


def test_a_folder_may_have_one_gguf_file():
    for name in ("big-00001-of-00002.gguf", "big-00002-of-00002.gguf", "mmproj-f16.gguf"):
        write(f"m/{name}", "")
    found = find_model_file("m")
    assert (found.kind, found.path.name) == ("gguf", "big-00001-of-00002.gguf")
    write("m/second.gguf", "")
    assert "is a folder (directory) with 2 .gguf files and no config.json; name one of them" in refuse("m")


def test_refuses_what_is_no_configuration():
    Path("empty").mkdir()
    assert "is a folder (directory) without a configuration; config.json, params.json or one" in refuse("empty")
    assert "config.json: no such file or folder" in refuse("org/config.json")
    assert "no such file or folder" in refuse("./org/model")
    assert "no such file or folder" in refuse("model")
    assert "no such file or folder" in refuse("a/b/c")
    assert "no file is named" in refuse("", InputError)
    assert "is no possible name of a file" in refuse("a\0b")
    assert "the name is too long" in refuse("x" * 5000)
    write("m.safetensors.index.json", {"metadata": {}, "weight_map": {"a": "b"}})
    assert "is an index of weights; the config.json beside it" in refuse("m.safetensors.index.json")
    np.save("t.npy", np.ones(3))
    weights = "is by its name a file of arrays, no configuration: a config.json, params.json or .gguf file is accepted"
    assert f"{weights}; pe-spectra inspect t.npy reads a table of positions (CONFIG)" in refuse("t.npy")
    os.mkfifo("pipe")
    assert "is a named pipe" in refuse("pipe")
    write("a.json", "[1]")
    assert "holds a list; a JSON object is accepted" in refuse("a.json")
    write("b.json", '{"a": NaN}')
    assert "has NaN" in refuse("b.json")


def test_refuses_a_folder_that_cannot_be_read(monkeypatch):
    def refuse_list(folder):
        raise PermissionError(errno.EACCES, "Permission denied", str(folder))

    Path("m").mkdir()
    monkeypatch.setattr(os, "listdir", refuse_list)  # root may list every folder
    assert "permission denied" in refuse("m")


def test_a_tensor_is_named_behind_two_colons():
    np.save("t.npy", np.ones(3))
    found = find_model_file("t.npy::inv_freq")
    assert (found.path, found.kind, found.tensor, found.shown) == (
        Path("t.npy"),
        "table",
        "inv_freq",
        "t.npy::inv_freq",
    )
    assert "missing.safetensors: no such file" in refuse("missing.safetensors::inv_freq")
    write("a::b", CONFIG)
    assert find_model_file("a::b").tensor is None


def test_a_home_is_expanded(tmp_path):
    write(tmp_path / "home" / "config.json", CONFIG)
    assert find_model_file("~/config.json").path == tmp_path / "home" / "config.json"


# ----------------------------------------------------------------------------------- standard input


def test_reads_standard_input(monkeypatch):
    feed(monkeypatch, json.dumps(CONFIG).encode())
    found = find_model_file("-")
    assert (found.path, found.shown) == (None, "-")
    content = read_model_file(found)
    assert (content.kind, content.shown, content.keys) == ("config.json", "standard input", CONFIG)
    feed(monkeypatch, json.dumps(PARAMS).encode())
    assert read_model_file(found).kind == "params.json"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "standard input: is empty; a JSON object is accepted"),
        (b"[]", "standard input: holds a list"),
        (b'{"a": 1, "a": 2}', "standard input: gives a twice"),
        (b'{"a": \xff}', "standard input: is not UTF-8"),
        (b" " * ((1 << 20) + 1), "standard input: holds more than 1048576 bytes"),
        (b'{"a": 1e999}', "has a number out of range"),
        (b"[" * 100000, "nests too deep"),
    ],
)
def test_refuses_bad_standard_input(monkeypatch, data, words):
    feed(monkeypatch, data)
    assert words in refuse("-")


def test_no_more_is_read_than_is_accepted(monkeypatch):
    feed(monkeypatch, b" " * (1 << 22))
    refuse("-")
    assert sys.stdin.buffer.tell() == (1 << 20) + 1


def test_standard_input_may_be_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input: is closed" in refuse("-")
    feed(monkeypatch, b"{}")
    sys.stdin.close()
    assert "standard input: is closed" in refuse("-")


# ----------------------------------------------------------------------------------- the local cache


def test_the_first_variable_that_is_set_names_the_cache(monkeypatch, tmp_path):
    assert _find_cache() == tmp_path / "home/.cache/huggingface/hub"
    for name, value, expected in (
        ("XDG_CACHE_HOME", "/x", "/x/huggingface/hub"),
        ("HF_HOME", "/h", "/h/hub"),
        ("HUGGINGFACE_HUB_CACHE", "~/u", tmp_path / "home/u"),
        ("HF_HUB_CACHE", "$HOME/c", tmp_path / "home/c"),
    ):
        monkeypatch.setenv(name, value)
        assert _find_cache() == Path(expected)
    monkeypatch.setenv("HF_HUB_CACHE", "")
    assert _find_cache() == tmp_path / "home/u"


def test_finds_a_model_in_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    model = write_cached(tmp_path / "hf" / "hub", reference=f"{HASH}\n")
    found = find_model_file("org/model")
    assert found.path == model / "snapshots" / HASH / "config.json"
    content = read_model_file(found)
    assert (content.kind, content.shown, content.keys) == ("config.json", "org/model", CONFIG)


def test_a_configuration_in_the_cache_is_a_link(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    model = write_cached(tmp_path / "hub", files={"README.md": "x"})
    write(model / "blobs" / "abc", CONFIG)
    (model / "snapshots" / HASH / "config.json").symlink_to("../../blobs/abc")
    assert read_model_file(find_model_file("org/model")).keys == CONFIG


def test_what_is_on_disk_wins(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    write_cached(tmp_path / "hub")
    write("org/model/config.json", PARAMS)
    assert find_model_file("org/model").path == Path("org/model/config.json")


def test_without_a_reference_the_newest_snapshot_is_taken(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    for age, snapshot in ((10, "a" * 40), (30, "b" * 40), (20, "c" * 40)):
        model = write_cached(tmp_path / "hub", snapshot=snapshot, reference=None)
        os.utime(model / "snapshots" / snapshot, (age, age))
    write(model / "snapshots" / ".hidden" / "config.json", PARAMS)
    assert find_model_file("org/model").path.parent.name == "b" * 40


def test_a_model_that_is_not_there_comes_with_the_command_that_fetches_it(monkeypatch, tmp_path):
    words = "this fetches it: hf download org/model config.json (CONFIG)"
    assert refuse("org/model").endswith(words)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    write_cached(tmp_path / "hub", files={"model.safetensors": "x"})
    assert refuse("org/model").endswith(words)
    write_cached(tmp_path / "hub", "org/other", "b" * 40)
    assert "hf download org/other config.json" in refuse("org/other")  # the reference leads to what is not there


@pytest.mark.parametrize("reference", ["../../../../secret", "/etc", "..", ".", "", "main", "a/b", "x" * 5000, "\xff"])
def test_a_reference_never_leaves_the_cache(monkeypatch, tmp_path, reference):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    write(tmp_path / "secret" / "config.json", CONFIG)
    write_cached(tmp_path / "hub", reference=reference)
    if len(reference) <= 256:
        assert "hf download" in refuse("org/model")
    else:  # such a file is no reference: the snapshot that is there is taken
        assert find_model_file("org/model").path.parent.name == HASH


@pytest.mark.parametrize(
    "name",
    ["org/..", "../model", "org/a--b", "org/a..b", "-org/model", "org/mo del", "org/m\n", ".org/m", "org/", "/m"],
)
def test_names_that_are_none_are_not_looked_up(monkeypatch, tmp_path, name):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    (tmp_path / "hub").mkdir()
    message = refuse_any(name)
    assert "hf download" not in message


def refuse_any(text):
    with pytest.raises(FileError) as caught:
        find_model_file(text)
    return str(caught.value)
