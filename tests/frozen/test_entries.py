"""What is frozen of every configuration, and that each change of a key that matters is named."""

import dataclasses
import json
from hashlib import sha256

import numpy as np
import pytest

from pe_spectra._version import __version__
from pe_spectra.frozen.entries import Entry, FrozenFinding, FrozenLayer, read_entry, seal, take_side, write_entry
from pe_spectra.frozen.equality import are_equal
from pe_spectra.model_sources import Side, read_side
from pe_spectra.models.checks import audit_configuration, list_findings
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stated.configuration import read_configuration
from pe_spectra.models.stated.statement import Configuration
from tests.frozen.planting import CONFIGURATIONS, compare, load, name_changes, take
from tests.models.configurations import LLAMA3, change, read
from tests.refusing import catch


@pytest.mark.few(20)
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_configuration_is_as_it_was_frozen(name):
    frozen = take(load(name))
    assert frozen == take(load(name))
    assert write_entry(read_entry(frozen, name)) == frozen  # what is read is what was written
    found = compare(frozen, frozen, tolerance=0.0)
    assert (found.changes, found.new, found.gone, found.unknown) == ((), (), (), ())


@pytest.mark.few(20)
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_order_of_keys_does_not_matter(name):
    config = load(name)
    assert take(dict(reversed(config.items()))) == take(config)


@pytest.mark.few(10)
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_all_that_diff_compares_and_audit_says_is_frozen(name):
    configuration = read(load(name))
    entry, audit = read_entry(take(load(name)), name), audit_configuration(configuration)
    assert [one.name for one in audit.layers] == list(entry.layers)
    for layer in audit.layers:
        frozen = entry.layers[layer.name]
        assert (frozen.trained_length, frozen.served_length) == (layer.trained_length, layer.served_length)
        assert (frozen.window, frozen.scheme) == (layer.reach, layer.scheme)
        if layer.rotation is None:
            assert frozen.rotation is None
            continue
        for field in Rotation.quantities():
            values = [getattr(one, field) for one in (frozen.rotation, layer.rotation)]
            if field == "dtype":  # of a configuration that of its weights, which stands with the part
                assert values[0] is None
            else:
                assert are_equal(*values, 0.0), field
    assert [(one.code, one.level) for one in entry.findings] == [(one.code, one.level) for one in audit.findings]


def test_every_field_of_a_statement_is_frozen_or_said_to_stand_elsewhere():
    """So that a field of tomorrow is frozen, too."""
    whole = dataclasses.replace(
        read(change()), query_scale="x", resized=("always",), dual_chunk="x", untold="x", grows=True, axes=("h",)
    )
    from pe_spectra.frozen.entries import _ELSEWHERE

    frozen = take_side(Side(shown="config.json", configuration=whole)).schemes["model"]
    fields = {one.name for one in dataclasses.fields(Configuration)} - set(_ELSEWHERE)
    assert fields - set(frozen) == {"values", "formula", "dtype"}  # which this model has not


def test_findings_are_looked_for_again_only_where_a_key_changed(monkeypatch):
    config = load("llama-3.1-8b")
    side = Side(shown="config.json", configuration=read(config), keys=config)
    frozen = json.loads(json.dumps(write_entry(take_side(side))))
    assert frozen["findings"]
    assert write_entry(take_side(side, {**frozen, "findings": 5})) == frozen  # not what a person wrote there
    fewer = {**frozen, "findings": frozen["findings"][1:]}
    assert write_entry(take_side(side, fewer)) == frozen  # and not what a person took away
    monkeypatch.setattr("pe_spectra.frozen.entries.__version__", "0.0.1")
    assert take_side(side).source != frozen["source"]
    monkeypatch.undo()
    looked = []
    found = list_findings(side.configuration)
    monkeypatch.setattr("pe_spectra.models.checks.list_findings", lambda one: looked.append(one) or found)
    again = Side(shown="moved.json", configuration=read(config), keys=dict(reversed(config.items())))
    assert write_entry(take_side(again, frozen)) == frozen
    assert looked == []
    for key in config:
        changed = {**config, key: "another"}
        take_side(Side(shown="config.json", configuration=read(config), keys=changed), frozen)
    assert len(looked) == len(config)
    take_side(Side(shown="config.json", configuration=read(config)), frozen)  # as of GGUF
    assert len(looked) == len(config) + 1


def test_the_seal_is_sha_256_of_sorted_keys():
    written = f'{{"findings": [], "stated": {{"a": "é"}}, "version": "{__version__}"}}'
    assert seal({"a": "é"}, ()) == sha256(written.replace("é", "\\u00e9").encode()).hexdigest()


#: A published model, keys that are changed, and the name of what must be told.
PLANTED = {
    "base": ("llama-3.1-8b", {"rope_theta": 10000.0}, "base"),
    "scaling dropped": ("llama-3.1-8b", {"rope_scaling": None}, "scaling"),
    "factor": ("llama-3.1-8b", {"rope_scaling": {**LLAMA3, "factor": 16.0}}, "scaling"),
    "length": ("llama-3.1-8b", {"max_position_embeddings": 4096}, "served_length"),
    "type of weights": ("llama-3.1-8b", {"torch_dtype": "float16"}, "dtype"),
    "width of a head": ("llama-3.1-8b", {"head_dim": 64}, "rotary_dim"),
    "class": ("llama-3.1-8b", {"model_type": "mistral"}, "model"),
    "layout by class": ("llama-3.1-8b", {"model_type": "cohere"}, "layout"),
    "share": ("phi-2", {"partial_rotary_factor": 0.5}, "rotary_dim"),
    "width beside": ("deepseek-v3", {"qk_nope_head_dim": 64}, "beside"),
    "window": ("gemma-3-1b-it", {"sliding_window": 64}, "window"),
    "window lost": ("mistral-7b-v0.1", {"sliding_window": None}, "window"),
    "local base": ("gemma-3-1b-it", {"rope_local_base_freq": 50000.0}, "base"),
    "axes": ("qwen2-vl-7b-instruct", {"rope_scaling": {"type": "mrope", "mrope_section": [8, 28, 28]}}, "axes"),
    "axes dropped": ("qwen2-vl-7b-instruct", {"model_type": "qwen2", "rope_scaling": None}, "axes"),
    "indexer": ("glm-5", {"indexer_rope_interleave": False}, "indexer_layout"),
    "indexer lost": ("glm-5", {"indexer_rope_interleave": None}, "indexer_layout"),
    "heads of alibi": ("bloom-560m", {"num_attention_heads": 8, "n_head": 8}, "values.heads"),
    "rows of a table": ("gpt2", {"n_positions": 2048, "n_ctx": 2048}, "values.rows"),
    "buckets": ("t5-small", {"relative_attention_num_buckets": 16}, "values.buckets"),
    "attention factor": ("qwen2.5-7b-instruct-yarn", {"rope_scaling": {
        "factor": 4.0, "original_max_position_embeddings": 32768, "type": "yarn", "attention_factor": 1.0
    }}, "attention_scaling"),
    "layers without a rotation": ("smollm3-3b", {"no_rope_layers": [1] * 36}, "layers"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "keys", "what"), PLANTED.values(), ids=PLANTED)
def test_each_change_of_a_key_is_named(name, keys, what):
    config = load(name)
    assert what in name_changes(take(config), take({**config, **keys}))


def test_a_part_beside_the_text_is_frozen_too():
    config = load("clip-vit-base-patch32-text")
    keys = {"model_type": "clip", "text_config": config, "vision_config": {"image_size": 224}}
    found = compare(take(keys), take({**keys, "vision_config": {"image_size": 336}})).changes
    (rows,) = (one for one in found if one.what == "values.rows")
    assert (rows.what, rows.layers, rows.frozen, rows.now) == ("values.rows", ("vision_config",), 50, 101)


def test_what_no_library_builds_is_frozen_with_the_reason():
    entry = read_entry(take(change(rope_scaling={"rope_type": "magic"})), "A")
    (layer,) = entry.layers.values()
    assert layer.rotation is None
    assert "magic" in layer.refusal
    assert "refusal" in name_changes(take(change()), take(change(rope_scaling={"rope_type": "magic"})))


# --------------------------------------------------------------------- arrays


def test_a_dump_keeps_its_frequencies_and_their_type(tmp_path):
    np.save(tmp_path / "inv_freq.npy", (1e4 ** (-np.arange(8) / 8)).astype(np.float32))
    entry = take_side(read_side(str(tmp_path / "inv_freq.npy")))
    frozen = json.loads(json.dumps(write_entry(entry)))
    again = read_entry(frozen, "A")
    np.testing.assert_array_equal(again.layers["all"].whole.frequencies, entry.layers["all"].rotation.frequencies)
    assert again.layers["all"].whole.dtype == "float32"
    np.testing.assert_array_equal(again.layers["all"].whole.error_bounds, entry.layers["all"].rotation.error_bounds)
    assert again.arrays["values"].digest is None  # its numbers stand there
    np.save(tmp_path / "wide.npy", np.load(tmp_path / "inv_freq.npy").astype(np.float64))
    assert name_changes(frozen, write_entry(take_side(read_side(str(tmp_path / "wide.npy"))))) == ["dtype"]


def test_a_cache_is_frozen_to_its_last_number(tmp_path):
    angles = np.outer(np.arange(100), 1e4 ** (-np.arange(8) / 8))
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    np.savez(tmp_path / "cache.npz", cos=cosines, sin=sines)
    frozen = write_entry(take_side(read_side(str(tmp_path / "cache.npz"))))
    assert set(frozen["arrays"]) == {"cos", "sin"}
    assert read_entry(json.loads(json.dumps(frozen)), "A").layers["all"].whole.rows == 100
    sines[77, 7] = np.nextafter(sines[77, 7], np.float32(2))
    np.savez(tmp_path / "cache.npz", cos=cosines, sin=sines)
    found = compare(frozen, write_entry(take_side(read_side(str(tmp_path / "cache.npz"))))).changes
    (numbers,) = (one for one in found if one.what == "digest")
    assert (numbers.layers, numbers.first_position) == (("sin",), 76)  # in stretches of four rows


def test_two_caches_in_one_file_are_two_layers(tmp_path):
    table = np.concatenate([np.outer(np.arange(64), 1e4 ** (-np.arange(8) / 8) / factor) for factor in (1, 4)])
    np.save(tmp_path / "cache.npy", np.concatenate([np.cos(table), np.sin(table)], axis=1))
    entry = take_side(read_side(str(tmp_path / "cache.npy")))
    assert list(entry.layers) == ["all", "all, later rows"]


# --------------------------------------------------------------------- reading


def test_what_stands_in_a_file_is_checked():
    frozen = take(change())
    layer = frozen["layers"]["all"]

    def refuse(**changed):
        rotation = {**layer["rotation"], **changed}
        return catch(read_entry, {**frozen, "layers": {"all": {**layer, "rotation": rotation}}}, "a.json", most=600)

    assert refuse(spin="left").startswith(
        "a.json.layers.all.rotation has a key that is not known (spin); this version knows"
    )
    assert refuse(layout="thirds") == "a.json.layers.all.rotation.layout is no such word (thirds); of half, interleaved"
    assert refuse(base=-1.0).startswith("a.json.layers.all.rotation.base is out of range (-1.0); above 0")
    assert refuse(head_dim=0).endswith("from 1 on is accepted")
    assert catch(read_entry, [], "a.json").startswith("a.json is no such value")


def test_an_entry_can_be_written_that_holds_nothing():
    entry = Entry(findings=(FrozenFinding(level="note", code="a"),), layers={"all": FrozenLayer()})
    assert read_entry(write_entry(entry), "A") == entry


def test_which_layers_are_of_which_type_is_frozen():
    keys = {"model_type": "smollm3", "num_hidden_layers": 9}
    stated = read_configuration(keys, "config.json")
    layers = take_side(Side(shown="config.json", configuration=stated)).layers
    assert {name: layer.places for name, layer in layers.items()} == {"all": "0-2 4-6 8", "nope": "3 7"}
    one = read_configuration({"model_type": "llama"}, "config.json")
    assert take_side(Side(shown="config.json", configuration=one)).layers["all"].places is None
