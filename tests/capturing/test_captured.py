"""What was captured as one file, and as numbers."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file

from pe_spectra.capturing.capture import capture
from pe_spectra.checking import check, freeze
from pe_spectra.errors import FileError, InputError
from pe_spectra.model_sources import read_side
from tests.capturing.fakes import Embedding, Model, Module, Once, Rotary, SideBySide, Tensor, make_ladder
from tests.capturing.test_capture import SINES, Cached, OfKinds, Silent

LLAMA = {"model_type": "llama", "head_dim": 32, "max_position_embeddings": 4096}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "capture.safetensors"


def save(model, path, **more):
    capture(model, positions=more.pop("positions", 64)).save(path)
    return load_file(path)


# ----------------------------------------------------------------------------------- the file


def test_every_array_keeps_its_type_and_a_text_says_where_it_is_from(path):
    rotary = Rotary(dtype="float64")
    arrays = save(Model(rotary=rotary, wpe=Embedding(np.eye(4))), path)
    assert {name: (one.dtype.name, one.shape) for name, one in arrays.items()} == {
        "all.called": ("float64", (64, 64)),
        "all.inv_freq": ("float64", (16,)),
        "wpe.weight": ("float32", (4, 4)),
    }
    header = path.read_bytes()[8:]
    metadata = json.loads(header[: header.index(b"}") + 1] + b"}")["__metadata__"]
    assert metadata == {
        "pe_spectra": metadata["pe_spectra"],
        "subject": "Model",
        "positions": "64 positions",
        "all": "call: rotary",
    }


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_numbers_of_16_bits_take_16_bits(path, dtype):
    capture(Rotary(dtype=dtype), positions=64).save(path)
    header = json.loads(path.read_bytes()[8:].partition(b"}}")[0] + b"}}")
    assert header["all.inv_freq"]["dtype"] == {"bfloat16": "BF16", "float16": "F16"}[dtype]
    assert read_side(str(path)).dump.frequency_dtype == dtype


def test_more_digits_than_a_type_has_are_kept(path):
    module = Module(freqs=Tensor(make_ladder()))
    module.forward = lambda t: Tensor(t.values.reshape(-1)[:, None] * make_ladder())
    assert save(module, path)["all.called"].dtype == np.float64


def test_positions_behind_a_gap_stand_apart(path):
    far = [*range(32), 500, 100_000]
    arrays = save(Rotary(), path, positions=far)
    assert arrays["all.called"].shape == (32, 64)
    assert arrays["all.further"].tolist() == [500, 100_000]
    np.testing.assert_allclose(arrays["all.called-further"][0, 0], np.cos(500), atol=1e-4)
    assert read_side(str(path)).dump.offset == 0


def test_what_was_not_called_has_names_of_its_own(path):
    assert set(save(Silent(), path)) == {"all.frequencies"}
    assert {name: len(one) for name, one in save(Cached(), path).items()} == {"all.cos-sin": 40}
    assert set(save(OfKinds(), path)) == {
        f"{kind}_attention.{what}" for kind in ("full", "sliding") for what in ("called", "inv_freq")
    }


def test_a_name_of_another_kind_and_a_place_that_is_not_there_are_refused(tmp_path):
    found = capture(Rotary(), positions=16)
    with pytest.raises(InputError, match=r"written as \.safetensors \(.*; a path that ends with \.safetensors"):
        found.save(tmp_path / "a.npz")
    with pytest.raises(FileError, match="its folder does not exist"):
        found.save(tmp_path / "missing" / "a.safetensors")
    assert list(tmp_path.iterdir()) == []
    assert found.save(tmp_path / "a.safetensors") == tmp_path / "a.safetensors"


# ----------------------------------------------------------------------------------- who reads it


def compare(cli, path, **keys):
    config = path.parent / "config.json"
    config.write_text(json.dumps({**LLAMA, **keys}), encoding="utf-8")
    return json.loads(cli(f"diff {path} {config} --json").out)


def test_diff_compares_a_capture_with_a_configuration(cli, path):
    save(Model(rotary=Rotary()), path)
    found = compare(cli, path)
    assert (found["verdict"]["code"], found["differences"]) == ("same-as-known", [])
    assert {one["what"]: one["why"] for one in found["unknown"]}["layout"] == (
        "what a module gives does not say how it is applied; its rows have each value again half a row later, as those "
        "of models of either layout"
    )
    other = compare(cli, path, rope_theta=500000.0)
    assert [one["what"] for one in other["differences"]] == ["base"]


WHY = {
    "half": "; its rows have each value again half a row later, as those of models of either layout",
    "interleaved": "; its rows have each value twice side by side, as pairs 2i and 2i + 1 have it",
    None: "",
}
ORDERS = {
    "half": Rotary(),
    "interleaved": SideBySide(inv_freq=Tensor(make_ladder())),
    None: Once(inv_freq=Tensor(make_ladder())),
}


@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_repeats_is_kept_and_is_no_layout(cli, path, order):
    found = capture(ORDERS[order], positions=64)
    assert (found.rotations[0].repeats, found.rotations[0].to_dict()["repeats"]) == (order, order)
    found.save(path)
    assert read_side(str(path)).dump.repeats == order
    compared = compare(cli, path)
    assert compared["differences"] == []
    assert {one["what"]: one["why"] for one in compared["unknown"]}["layout"] == (
        f"what a module gives does not say how it is applied{WHY[order]}"
    )


@pytest.mark.parametrize(
    ("one", "other", "differ"), [("half", "interleaved", True), ("half", None, False), ("half", "half", False)]
)
def test_diff_and_check_tell_another_order_of_repeats(cli, tmp_path, one, other, differ):
    """Where both have an order; a change from twice to once is told of what was frozen alone."""
    for name, order in (("a", one), ("b", other)):
        save(ORDERS[order], tmp_path / f"{name}.safetensors")
    found = json.loads(cli(f"diff {tmp_path}/a.safetensors {tmp_path}/b.safetensors --json").out)["differences"]
    assert [(each["what"], each["a"], each["b"]) for each in found] == [("layout", one, other)] * differ
    if differ:
        assert found[0]["effect"] == (
            "each value stands again half a row later in rows of A, beside itself in rows of B; code for the one pairs "
            "other channels with the other"
        )
    place = freeze(tmp_path / "a.safetensors", tmp_path / "ref.json")
    assert bool(check(tmp_path / "b.safetensors", place).failed) == (one != other)
    # a version before did not know the order, and it is not compared
    document = json.loads(place.read_text())
    (entry,) = document["entries"].values()
    assert entry["layers"]["all"]["dump"].pop("repeats") == one
    place.write_text(json.dumps({**document, "version": "0.0.1"}))
    assert check(tmp_path / "a.safetensors", place).failed == []


def test_diff_pairs_kinds_of_layers_by_their_names(cli, path):
    save(OfKinds(), path)
    kinds = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}
    keys = {"model_type": "gemma3_text", "layer_types": list(kinds), "num_hidden_layers": 2}
    ropes = {name: {"rope_type": "default", **one} for name, one in kinds.items()}
    found = compare(cli, path, **keys, rope_parameters=ropes)
    assert [(one["name"], one["agree"]) for one in found["layer_types"]] == [(name, True) for name in kinds]


def test_diff_sees_what_a_module_gives_and_not_what_it_holds(cli, path):
    rotary = Rotary()
    rotary.forward = lambda x, position_ids: Rotary(make_ladder(base=500.0)).forward(x, position_ids)
    save(rotary, path)
    assert compare(cli, path)["verdict"]["code"] == "breaks"


def test_inspect_reads_the_table_of_a_capture(cli, path):
    module = Module(pe=Tensor(SINES))
    module.forward = lambda x: Tensor(x.values + SINES) if x.shape[0] == 1 else 1 / 0
    save(Model(encoding=module), path)
    assert "sinusoidal" in json.loads(cli(f"inspect {path} --json").out)["verdict"]["text"]


# ----------------------------------------------------------------------------------- numbers


def test_a_capture_is_a_result_of_declared_numbers():
    found = capture(Model(rotary=Rotary(), wpe=Embedding(np.eye(4))), positions=16)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert list(document) == ["subject", "positions", "rotations", "tables", "findings"]
    assert document["rotations"][0]["rotation"]["base"] == 10000
    assert document["tables"][0]["holds"] == "positions"
    assert "all" in found.to_columns()["name"]
    assert repr(found).startswith("Capture(subject='Model'")
