"""One table in every form that files have: the same answer from each."""

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


@pytest.mark.few(1)
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
