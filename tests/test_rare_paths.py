"""What a user sees on the rarest ways through what reads from outside: SPECs, options, files and model keys."""

import json
import os
import struct

import numpy as np
import pytest
from safetensors.numpy import save_file

from pe_spectra.domains import parse_periods
from pe_spectra.errors import FileError, InputError
from pe_spectra.files.gguf_file import read_gguf
from pe_spectra.files.model_files import find_cache, find_model_file
from pe_spectra.files.reading import RegularFile
from pe_spectra.limits import MAX_LIST
from pe_spectra.model_sources import read_model
from pe_spectra.models.stacks.gguf import turn_gguf_layer
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from pe_spectra.models.stated.meta_release import read_params
from pe_spectra.sources import build_encodings, read_encoding

T5 = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(name, tensor, shape, seed=0):
    """Write one tensor of random numbers, and give them."""
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    save_file({tensor: values}, name)
    return values


def make_gguf(architecture="llama", **changes):
    """The keys of a GGUF file with heads of 128 channels."""
    keys = {
        "context_length": 131072,
        "embedding_length": 4096,
        "attention.head_count": 32,
        "rope.dimension_count": 128,
        "rope.freq_base": 500000.0,
        **changes,
    }
    return {"general.architecture": architecture, **{f"{architecture}.{name}": value for name, value in keys.items()}}


# tables whose names tell what they are ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tensor", "shape", "name", "parameters"),
    [
        (T5, (32, 8), "t5", {"heads": 8, "buckets": 32}),
        ("layers.0.blocks.0.attn.relative_position_bias_table", (169, 3), "swin", {"heads": 3, "window": 7}),
    ],
)
def test_a_table_of_biases_becomes_the_encoding_that_it_belongs_to(folder, tensor, shape, name, parameters):
    values = save("bias.safetensors", tensor, shape)
    encoding = read_encoding("bias.safetensors")
    assert encoding.name == name
    assert {key: getattr(encoding, key) for key in parameters} == parameters
    assert np.array_equal(encoding.values.values, values.astype(np.float64))
    assert read_encoding(encoding.spec) == encoding


@pytest.mark.parametrize("options", [{}, {"rows": ["0:9"]}])
def test_a_table_of_biases_has_no_rows_to_choose(folder, options):
    save("bias.safetensors", T5, (32, 8))
    spec = "bias.safetensors" if options else "bias.safetensors?rows=0:9"
    with pytest.raises(InputError, match="a table of biases has no rows to choose") as caught:
        build_encodings([spec], options)
    assert (caught.value.given, caught.value.accepted) == (spec, "leave it out")


def test_rows_before_position_0_are_left_out_unless_asked_for(folder):
    values = save("opt.safetensors", "decoder.embed_positions.weight", (66, 8)).astype(np.float64)
    encoding = read_encoding("opt.safetensors")
    assert encoding.spec.endswith("?prefix=2,grid=8x8")
    assert np.array_equal(encoding.table(64), values[2:])
    assert np.array_equal(read_encoding("opt.safetensors?prefix=5").table(61), values[5:])
    assert np.array_equal(read_encoding("opt.safetensors?rows=0:9").table(9), values[:9])


# too much of one thing -------------------------------------------------------------------------------------


def test_options_that_list_too_many_encodings_name_the_one_that_exceeds(folder):
    sizes, rhos = [str(2 * i) for i in range(1, 65)], [str(10 + i) for i in range(65)]
    with pytest.raises(InputError, match=r"--rho asks for too many encodings \(64 x 65\); at most 4096"):
        build_encodings(["sinusoidal"], {"d": sizes, "rho": rhos})
    assert len(build_encodings(["sinusoidal"], {"d": sizes, "rho": rhos[:64]})) == 4096


@pytest.mark.parametrize("command", ["spectrum --grid 64", "faithfulness --length 8", "compare --length 8"])
def test_a_command_takes_256_encodings(refuse, command):
    specs = [f"sinusoidal:d={2 * i}" for i in range(1, 258)]
    name, *options = command.split()
    start = f"{name} {' '.join(specs)}" if name == "compare" else f"{name} -e {' '.join(specs)}"
    line = refuse(f"{start} {' '.join(options)} --no-figure")
    assert line == "too many encodings for one command (257); at most 256"


def test_too_many_periods_are_refused_before_they_are_read():
    with pytest.raises(InputError, match="--periods lists too many values") as caught:
        parse_periods(["day", ",".join(["week"] * MAX_LIST)], "--periods")
    assert (caught.value.given, caught.value.accepted) == ("day", f"at most {MAX_LIST}")
    assert parse_periods(["day", ",".join(["week"] * (MAX_LIST - 1))], "--periods") == (
        ("day", 86400),
        ("week", 604800),
    )


# values that a file states and that no encoding takes ------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            {"relative_attention_num_buckets": 1},
            "t5: buckets is out of range (1); an integer from 4 to 256 is accepted",
        ),
        ({"relative_attention_max_distance": 3}, "t5: max_distance is out of range (3); an integer from 9"),
        ({"num_heads": 2**21}, "t5: heads is out of range (2097152); an integer from 1 to 1024 is accepted"),
    ],
)
@pytest.mark.parametrize("command", ["inspect", "audit"])
def test_a_configuration_out_of_range_is_named_with_its_key(refuse, tmp_path, command, keys, words):
    stated = {"model_type": "t5", "d_model": 64, "num_heads": 8, **keys}
    (tmp_path / "config.json").write_text(json.dumps(stated), encoding="utf-8")
    (tmp_path / "answers").mkdir()
    assert refuse(f"{command} config.json").startswith(f"config.json: {words}")


# words that a shell completes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pe-spectra inspect sin", ["sinusoidal", "sincos2d"]),
        ("pe-spectra spectrum --encoding rop", ["rope", "rope-axial"]),
        ("pe-spectra spectrum --format j", ["json"]),
        ("pe-spectra spectrum --boundary x", []),
    ],
)
def test_a_shell_is_offered_the_names_that_begin_so(cli, capfd, line, offered):
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    with pytest.raises(SystemExit) as leaving:
        cli("", _PE_SPECTRA_COMPLETE="complete_bash", **words)
    assert leaving.value.code == 0
    assert capfd.readouterr().out.split() == offered


# files that change or vanish -------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_listed_is_named(folder, monkeypatch):
    (folder / "model").mkdir()

    def refuse_listing(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", refuse_listing)
    with pytest.raises(FileError, match="permission denied") as caught:
        find_model_file("model", "CONFIG")
    assert str(caught.value).startswith("model: ")
    assert str(caught.value).endswith("(CONFIG)")


def test_without_a_home_there_is_no_cache_to_look_in(folder, monkeypatch):
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    # an account without an entry in the list of users, as containers have, and no HOME
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert find_cache() is None
    with pytest.raises(FileError, match="has no configuration of such a model"):
        read_model("org/model")


def test_a_gguf_file_that_is_cut_off_while_it_is_read(folder, monkeypatch):
    name = b"general.architecture"
    header = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", len(name)) + name
    (folder / "m.gguf").write_bytes(header + struct.pack("<IQ", 8, 5) + b"llama")
    assert read_gguf("m.gguf").keys == {"general.architecture": "llama"}
    whole = RegularFile.read_at
    # the size was looked up before: what comes is less
    monkeypatch.setattr(
        RegularFile, "read_at", lambda self, start, count: whole(self, start, count)[: max(0, 40 - start)]
    )
    with pytest.raises(FileError, match=r"m\.gguf: is cut off inside its header"):
        read_gguf("m.gguf")


# what the files of models state ----------------------------------------------------------------------------


def test_meta_may_state_the_width_of_a_head():
    params = {"dim": 4096, "n_heads": 32}
    assert [read_params({**params, **more}, "params.json").layers[0].head_dim for more in ({}, {"head_dim": 96})] == [
        128,
        96,
    ]


def test_a_base_within_attn_config_counts_where_it_asks_for_rotation():
    keys = {"d_model": 64, "n_heads": 4, "position_embedding_type": "rope"}
    found = read_configuration({**keys, "attn_config": {"rope": True, "rope_theta": 5e5}}, "config.json")
    block = found.layers[0].block
    assert (block.base, block.base_key) == (5e5, "attn_config.rope_theta")
    found = read_configuration({**keys, "attn_config": {"rope": False, "rope_theta": 5e5}}, "config.json")
    assert found.layers[0].block is None


@pytest.mark.parametrize(
    ("model", "asked", "layout"),
    [("llama", True, "half"), ("llama", False, None), ("cohere", False, "interleaved")],
)
def test_a_layout_that_the_class_does_not_obey_is_warned_of(model, asked, layout):
    keys = {"model_type": model, "hidden_size": 64, "num_attention_heads": 4, "rope_interleave": asked}
    found = {one.code: one for one in read_configuration(keys, "config.json").findings}
    said = found["key-not-read"].message if "key-not-read" in found else None
    text = f"rope_interleave is not read by the class of {model}; its layout is {layout}"
    assert said == (text if layout is not None else None)


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ([512, 0, 1024, True, "x"], [("full_attention", None), ("sliding_attention", 1024)]),
        ([0, 0], [("all", None)]),
        ([], [("all", None)]),
    ],
)
def test_a_window_for_each_layer_of_a_gguf_file(windows, expected):
    """The longest counts; zeros say that no layer slides."""
    found = read_gguf_configuration(make_gguf("gemma3", **{"attention.sliding_window": windows}), {}, "m.gguf")
    assert [(layer.name, layer.window) for layer in found.layers] == expected


def test_divisors_and_a_scaling_are_both_applied():
    """A file may have a tensor of divisors beside yarn in its keys: llama.cpp divides, then scales."""
    yarn = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 8192}
    with_both, with_yarn = (
        read_gguf_configuration(make_gguf(**yarn), tensors, "m.gguf")
        for tensors in ({"rope_freqs.weight": (2.0,) * 64}, {})
    )
    assert [one.code for one in with_both.findings] == ["scaling-in-tensor"]
    assert "divides frequencies by 2 to 2, which is no known scaling" in with_both.findings[0].message
    divided, plain = (turn_gguf_layer(found, found.layers[0], None) for found in (with_both, with_yarn))
    assert divided.scaling == plain.scaling == "yarn"
    assert np.allclose(divided.frequencies, plain.frequencies / 2, rtol=1e-12, atol=0)
