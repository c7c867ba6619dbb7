"""One table in every form that files have: the same answer from each. And planted truth, found on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests import planted

NAME = "embeddings.position_embeddings.weight"
FORMS = ("npy", "npz", "csv", "float32", "float16", "bfloat16", "float64", "sharded", "folder", "folder-sharded")


def save_safetensors(path, tensors):
    from safetensors.numpy import save_file

    save_file(tensors, str(path))


def write(form, table, folder: Path):
    """Write a table in one form; give the SPEC that names it."""
    import ml_dtypes

    others = {"encoder.weight": np.zeros((4, 4, 4), dtype=np.float32), "bias": np.zeros(4, dtype=np.float32)}
    if form in ("npy", "npz", "csv"):
        path = folder / f"table.{form}"
        if form == "npy":
            np.save(path, table.astype(np.float32))
        elif form == "npz":
            np.savez(path, table=table.astype(np.float16))
        else:
            np.savetxt(path, table, delimiter=",", fmt="%.17g")
        return str(path)
    types = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float64": np.float64}
    if form in types:
        path = folder / f"{form}.safetensors"
        save_safetensors(path, {NAME: table.astype(types[form]), **others})
        return str(path)
    place = folder / form
    place.mkdir()
    stored = table.astype(np.float32)
    if "sharded" in form:
        save_safetensors(place / "model-00001-of-00002.safetensors", others)
        save_safetensors(place / "model-00002-of-00002.safetensors", {NAME: stored})
        places = dict.fromkeys(others, "model-00001-of-00002.safetensors") | {NAME: "model-00002-of-00002.safetensors"}
        index = {"metadata": {"total_size": stored.nbytes}, "weight_map": places}
        (place / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    else:
        save_safetensors(place / "model.safetensors", {NAME: stored, **others})
    if "folder" in form:
        config = {"model_type": "bert", "hidden_size": table.shape[1], "max_position_embeddings": len(table)}
        (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
        return f"{place}/"
    return str(place / "model.safetensors.index.json")


def quantise(table):
    """The nearest numbers that float16 and bfloat16 both hold, so that every form holds the same ones."""
    import ml_dtypes

    return table.astype(ml_dtypes.bfloat16).astype(np.float16).astype(np.float64)


def strip(document):
    """The answer without the name of the file and the type that it was stored in."""
    text = json.dumps({key: value for key, value in document.items() if key not in ("encoding", "verdict", "notes")})
    return json.loads(text)


def build_table():
    table = planted.make_periodic(256, 64, seed=3, noise=0.02)
    return quantise(planted.plant_copies(planted.plant_cls(table, seed=1), 20, 41))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", ["inspect {} --json", "faithfulness -e {} --json --no-figure"])
def test_the_same_answer_from_every_form(cli, tmp_path, form, command):
    table = build_table()
    answers = []
    for one in ("npy", form):
        place = tmp_path / f"of-{one}"
        place.mkdir(exist_ok=True)
        spec = write(one, table, place) if not any(place.iterdir()) else str(place / "table.npy")
        done = cli(command.format(spec))
        assert done.code == 0, done.err
        answers.append(json.loads(done.out))
    first, second = answers
    assert first["verdict"]["code"] == second["verdict"]["code"]
    if "rows" in first and isinstance(first["rows"][0], dict):
        for answer in answers:
            answer["rows"][0].pop("encoding")
    assert strip(first) == strip(second)


@pytest.mark.parametrize("form", ["npy", "float16", "bfloat16", "folder"])
def test_spectra_of_every_form_are_equal(cli, tmp_path, form):
    table = build_table()
    one, two = tmp_path / "a", tmp_path / "b"
    one.mkdir()
    two.mkdir()
    answers = [
        cli(f"spectrum -e {spec} --json --no-figure") for spec in (write("npy", table, one), write(form, table, two))
    ]
    first, second = (json.loads(answer.out) for answer in answers)
    assert first["weights"] == second["weights"]


def inspect(cli, tmp_path, table, keys=""):
    """Inspect a table on the command line; give the document."""
    path = tmp_path / "table.npy"
    np.save(path, table.astype(np.float32))
    done = cli(f"inspect {path}{keys} --json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def list_codes(document):
    return {finding["code"]: finding for finding in document["findings"]}


def test_a_class_row_before_a_grid_is_named_and_no_seam_is(cli, tmp_path):
    table = planted.plant_cls(np.vstack([np.zeros((1, 96)), planted.make_grid(14, 14, 96, seed=2)]), seed=2)
    for keys in ("", "?prefix=1", "?grid=14x14,prefix=1"):
        document = inspect(cli, tmp_path, table, keys)
        assert document["grid"] == [14, 14], keys
        assert "seam" not in list_codes(document)
        assert not any(abs(period["period"] - 14) < 0.5 for period in document["dominant_periods"])


def test_a_grid_without_a_class_row(cli, tmp_path):
    document = inspect(cli, tmp_path, planted.make_grid(14, 14, 96, seed=4))
    assert document["grid"] == [14, 14]
    assert document["findings"] == []


def test_a_rectangular_grid_is_taken_when_named(cli, tmp_path):
    document = inspect(cli, tmp_path, planted.make_grid(2, 8, 64, seed=4), "?grid=2x8")
    assert document["grid"] == [2, 8]
    assert "seam" not in list_codes(document)


def test_periods_are_found(cli, tmp_path):
    document = inspect(cli, tmp_path, planted.make_periodic(1024, 256, seed=5))
    found = [period["period"] for period in document["dominant_periods"]]
    for wanted in (500, 164, 54.6, 18.2, 6.1):
        assert min(abs(period / wanted - 1) for period in found) < 0.02, (wanted, found)
    assert len(found) == 5


def test_a_seam_has_its_rows(cli, tmp_path):
    table = planted.plant_seam_jump(planted.make_trained(512, 128, seed=6), 127, seed=6)
    seam = list_codes(inspect(cli, tmp_path, table))["seam"]
    assert seam["rows"] in ([127, 128], [[127, 128]])


def test_fail_on_a_finding(cli, tmp_path):
    path = tmp_path / "copies.npy"
    np.save(path, planted.plant_copies(planted.make_trained(128, 32, seed=1)))
    done = cli(f"inspect {path} --fail-on note")
    assert done.code == 1
    assert "check failed" in done.err
    assert cli(f"inspect {path}").code == 0
