"""freeze and check: what is frozen passes, each planted change fails and is named, and bad input is one clear line."""

import csv
import io
import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.documents import find_fault
from tests.files.gguf import write_model
from tests.frozen.planting import CONFIGURATIONS
from tests.places import MODELS
from tests.planted import make_trained

FREEZE = "freeze config.json --output ref.json"
CHECK = "check config.json --against ref.json"


@pytest.fixture(autouse=True)
def here(empty_folder, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(empty_folder / "nowhere"))
    shutil.copy(MODELS / "llama-3.1-8b.json", "config.json")
    return empty_folder


def change(path, **keys):
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**config, **keys}), encoding="utf-8")


def test_what_is_frozen_passes(cli, here):
    done = cli(f"{FREEZE} --json")
    assert (done.code, done.err) == (0, "wrote ref.json\n")
    found = json.loads(done.out)
    assert find_fault(found) is None
    (row,) = found["rows"]
    assert (row["name"], row["holds"], row["layers"], row["frequencies"]) == ("config.json", "rotary", 1, 64)
    done = cli(f"{CHECK} --json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert find_fault(found) is None
    assert found["verdict"] == {"level": "ok", "code": "as-frozen", "text": "As frozen: config.json."}
    assert cli(f"{CHECK} --tolerance 0").code == 0


def test_a_change_fails_with_its_cause_and_its_first_position(cli, here):
    cli(FREEZE)
    change(here / "config.json", rope_scaling=None)
    done = cli(f"{CHECK} --json")
    assert done.code == 1
    assert "check failed: config.json: scaling changed" in done.err.splitlines()
    found = json.loads(done.out)
    assert find_fault(found) is None
    assert found["verdict"]["text"].startswith(
        "Not as frozen: config.json: Scaling dropped in B (llama3 x8 in A): breaks from position 442 on"
    )
    assert found["rows"][0]["changes"][0]["first_position"] == 442
    rows = list(csv.DictReader(io.StringIO(cli(f"{CHECK} --format csv").out)))
    assert [row["what"] for row in rows][:2] == ["scaling", "original_length"]


@pytest.mark.few(10)
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_published_configuration_passes(cli, name):
    shutil.copy(MODELS / f"{name}.json", "config.json")
    assert cli(FREEZE).code == 0
    assert cli(f"{CHECK} --tolerance 0").code == 0


def test_names_do_not_matter_where_there_is_one(cli, here):
    cli(FREEZE)
    shutil.move("config.json", "moved.json")
    assert cli("check moved.json --against ref.json").code == 0


def test_dumps_tables_and_specs(cli, here):
    np.save("inv_freq.npy", (5e5 ** (-np.arange(64) / 64)).astype(np.float32))
    angles = np.outer(np.arange(64), 5e5 ** (-np.arange(8) / 8))
    np.savez("cache.npz", cos=np.cos(angles).astype(np.float32), sin=np.sin(angles).astype(np.float32))
    np.save("table.npy", make_trained(64, 16).astype(np.float32))
    every = "config.json inv_freq.npy cache.npz table.npy sinusoidal:d=16 'table.npy?prefix=1' alibi:heads=4"
    done = cli(f"freeze {every} --output ref.json --json")
    assert done.code == 0, done.err
    held = {row["name"]: row["holds"] for row in json.loads(done.out)["rows"]}
    assert held["inv_freq.npy"] == held["cache.npz"] == "dump"
    assert (held["table.npy"], held["alibi:heads=4"]) == ("learned", "alibi")
    assert cli(f"check {every} --against ref.json --tolerance 0").code == 0
    np.save("inv_freq.npy", np.load("inv_freq.npy").astype(np.float16))
    np.save("table.npy", np.load("table.npy")[::-1])
    done = cli(f"check {every} --against ref.json --json")
    assert (done.code, find_fault(json.loads(done.out))) == (1, None)
    states = {row["name"]: row["state"] for row in json.loads(done.out)["rows"]}
    assert [name for name, state in states.items() if state == "changed"] == [
        "inv_freq.npy",
        "table.npy",
        "table.npy?prefix=1",
    ]


def test_every_kind_of_source_is_frozen_and_a_change_of_each_is_seen(cli, here):
    """Meta's params.json, GGUF, what export writes of every kind of layers, a checkpoint's table."""
    every = "params.json model.gguf gemma.safetensors model/::wpe.weight"

    def write(base, push):
        params = {"dim": 4096, "n_heads": 32, "n_layers": 32, "rope_theta": base}
        (here / "params.json").write_text(json.dumps(params), encoding="utf-8")
        write_model(here / "model.gguf", base=base)
        gemma = json.loads((MODELS / "gemma-3-1b-it.json").read_text(encoding="utf-8"))
        (here / "gemma.json").write_text(json.dumps({**gemma, "rope_local_base_freq": base}), encoding="utf-8")
        assert cli("export gemma.json --what frequencies --output gemma.safetensors --quiet").code == 0
        (here / "model").mkdir(exist_ok=True)
        save_file({"wpe.weight": make_trained(64, 16).astype(np.float32) + push}, here / "model" / "model.safetensors")

    write(5e5, np.float32(0))
    done = cli(f"freeze {every} --output ref.json --json")
    assert done.code == 0, done.err
    held = {row["name"]: row["holds"] for row in json.loads(done.out)["rows"]}
    assert held == dict(zip(every.split(), ("rotary", "rotary", "dump", "learned"), strict=True))
    assert cli(f"check {every} --against ref.json --tolerance 0").code == 0
    write(1e6, np.float32(1))
    found = json.loads(cli(f"check {every} --against ref.json --json").out)
    assert {row["state"] for row in found["rows"]} == {"changed"}
    whats = {row["name"]: row["changes"][0]["what"] for row in found["rows"]}
    assert whats == {**dict.fromkeys(every.split()[:3], "base"), "model/::wpe.weight": "digest"}


# --------------------------------------------------------------------- folders


@pytest.fixture
def models(here):
    """A folder of three models."""
    for name in ("llama-3.1-8b", "gemma-3-1b-it", "gpt2"):
        (here / "models" / name).mkdir(parents=True)
        shutil.copy(MODELS / f"{name}.json", here / "models" / name / "config.json")
    return here / "models"


def test_entries_of_a_folder_have_their_paths_within_it(cli, here, models):
    assert cli("freeze models/ --output ref.json").code == 0
    names = list(json.loads((here / "ref.json").read_text(encoding="utf-8"))["entries"])
    assert names == ["gemma-3-1b-it/config.json", "gpt2/config.json", "llama-3.1-8b/config.json"]
    shutil.move("models", "elsewhere")
    done = cli("check elsewhere --against ref.json")
    assert (done.code, done.out.splitlines()[0]) == (0, "As frozen: all 3 entries of ref.json.")


def test_a_missing_model_fails_and_an_added_one_is_told(cli, here, models):
    cli("freeze models/ --output ref.json")
    shutil.move(models / "gpt2", models / "gpt3")
    done = cli("check models/ --against ref.json")
    assert done.code == 1
    assert done.out.startswith("Not as frozen: gpt2/config.json is no longer there.")
    assert done.err.splitlines() == [
        "note: not in ref.json, and so not checked: gpt3/config.json; --update adds it",
        "check failed: gpt2/config.json: no longer there",
    ]
    shutil.copytree(models / "gpt3", models / "gpt2")
    assert cli("check models/ --against ref.json").code == 0


def test_the_worst_of_several_is_said_first(cli, models):
    cli("freeze models/ --output ref.json")
    change(models / "gemma-3-1b-it" / "config.json", sliding_window=64)
    change(models / "llama-3.1-8b" / "config.json", rope_theta=10000.0)
    text = cli("check models/ --against ref.json").out.splitlines()[0]
    assert text.startswith("Not as frozen: llama-3.1-8b/config.json: Another base (500000 in A, 10000 in B)")
    assert text.endswith("; 1 other entry of 3 is not.")


def test_a_file_that_cannot_be_read_is_named_and_nothing_is_written(cli, here, models):
    (models / "gpt2" / "config.json").write_text("{", encoding="utf-8")
    done = cli("freeze models/ --output ref.json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: models/gpt2/config.json: ")
    assert not (here / "ref.json").exists()
    shutil.copy(MODELS / "gpt2.json", models / "gpt2" / "config.json")
    cli("freeze models/ --output ref.json")
    before = (here / "ref.json").read_bytes()
    (models / "gpt2" / "config.json").write_text("{", encoding="utf-8")
    done = cli("check models/ --against ref.json --update")
    assert (done.code, done.out) == (2, "")
    assert (here / "ref.json").read_bytes() == before


def test_the_order_of_names_does_not_matter(cli, here):
    shutil.copy(MODELS / "gpt2.json", "gpt2.json")
    cli("freeze config.json gpt2.json --output a.json")
    cli("freeze gpt2.json config.json --output b.json")
    assert (here / "a.json").read_bytes() == (here / "b.json").read_bytes()


# --------------------------------------------------------------------- findings


def test_a_new_finding_fails_unless_its_code_is_accepted(cli, here):
    cli(FREEZE)
    change(here / "config.json", rotary_base=10000)
    done = cli(f"{CHECK} --json")
    new = [one["code"] for one in json.loads(done.out)["rows"][0]["new"]]
    assert done.code == 1
    assert new
    assert f"check failed: config.json: new finding {new[0]}" in done.err.splitlines()
    codes = " ".join(f"--accept {code}" for code in dict.fromkeys(new))
    done = cli(f"{CHECK} {codes} --reason 'left over  from training'")
    assert done.code == 0, done.err
    assert f"note: config.json: new finding {new[0]} is accepted: left over from training" in done.err


def test_a_reason_is_shown_in_every_later_answer(cli, here):
    cli(f"{FREEZE} --accept base-below-bound --reason 'as published'")
    assert json.loads((here / "ref.json").read_text(encoding="utf-8"))["accepted"] == {
        "base-below-bound": "as published"
    }
    found = json.loads(cli(f"{CHECK} --json").out)
    assert found["accepted"] == [{"code": "base-below-bound", "reason": "as published"}]
    assert "as published" in cli(CHECK).out
    cli(f"{CHECK} --update --accept seam --reason 'of the file'")
    assert [one["code"] for one in json.loads(cli(f"{CHECK} --json").out)["accepted"]] == ["base-below-bound", "seam"]


def test_a_finding_that_is_gone_is_told_and_fails_nothing(cli, here):
    change(here / "config.json", rotary_base=10000)
    cli(FREEZE)
    shutil.copy(MODELS / "llama-3.1-8b.json", "config.json")
    done = cli(CHECK)
    assert done.code == 0
    assert "is gone; --update leaves it out" in done.err


def test_findings_above_a_note_are_asked_a_reason_for(cli, here):
    change(here / "config.json", max_position_embeddings=4096)
    done = cli(FREEZE)
    assert "note: factor-mismatch of config.json is frozen without a reason" in done.err
    assert "without a reason" not in cli("freeze config.json --output b.json --accept factor-mismatch --reason x").err


# --------------------------------------------------------------------- writing


def test_update_shows_the_difference_and_writes_it(cli, here):
    cli(FREEZE)
    change(here / "config.json", rope_theta=10000.0)
    done = cli(f"{CHECK} --update --json")
    assert (done.code, done.err) == (0, "wrote ref.json\n")
    found = json.loads(done.out)
    assert find_fault(found) is None
    assert found["parameters"]["updated"]
    assert found["rows"][0]["changes"][0]["what"] == "base"
    assert cli(CHECK).code == 0


def test_an_update_of_what_is_as_it_was_changes_nothing(cli, here):
    cli(FREEZE)
    before = (here / "ref.json").read_bytes()
    assert cli(f"{CHECK} --update").code == 0
    assert (here / "ref.json").read_bytes() == before


def test_a_file_that_holds_something_else_is_not_overwritten(cli, refuse, here):
    assert cli(FREEZE).code == cli(FREEZE).code == 0
    before = (here / "ref.json").read_bytes()
    change(here / "config.json", rope_theta=10000.0)
    assert refuse(FREEZE) == (
        "ref.json: is there and holds something else (--output); accepted: another name, or check WHAT --against it "
        "--update, which shows first what changed"
    )
    assert refuse("freeze ref.json --output config.json").startswith("ref.json: ")
    assert (here / "ref.json").read_bytes() == before


def test_the_answer_of_a_check_goes_nowhere_that_is_read(refuse, cli):
    cli(FREEZE)
    assert "is read by this command (--output)" in refuse(f"{CHECK} --output ref.json")
    assert "is read by this command (--output)" in refuse(f"{CHECK} --output config.json")


def test_a_frozen_file_beside_the_model_is_no_part_of_it(cli, here):
    (here / "model").mkdir()
    shutil.move("config.json", "model/config.json")
    for _ in range(2):
        assert cli("freeze model/ --output model/ref.json").code == 0
    assert cli("check model/ --against model/ref.json").code == 0


# --------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "freeze --output ref.json",
            "WHAT is missing; a configuration, a dump, a table, a SPEC, or a folder of models",
        ),
        ("freeze config.json", "--output is missing; a file ending in .json is accepted"),
        (
            "freeze config.json --output ref.txt",
            "--output is no name of a frozen file (ref.txt); a file ending in .json",
        ),
        ("freeze config.json --output .json", "--output is no name of a frozen file (.json)"),
        ("freeze config.json --output none/ref.json", "none/ref.json: "),
        ("freeze config.json config.json --output ref.json", "WHAT has one name twice (config.json)"),
        ("freeze none.json --output ref.json", "none.json: no such file or folder (WHAT)"),
        ("freeze gauss --output ref.json", "gauss: "),
        ("freeze dft:x=1 --output ref.json", "WHAT dft: key is not known (x)"),
        ("freeze config.json --output ref.json --accept seam", "--reason is missing; --accept CODE --reason TEXT"),
        ("freeze config.json --output ref.json --accept seam --reason ' '", "--reason is missing"),
        ("freeze config.json --output ref.json --reason x", "--accept is missing"),
        (
            "freeze config.json --output ref.json --accept seams --reason x",
            "--accept is not known (seams); did you mean",
        ),
        ("check --against old.json", "WHAT is missing"),
        ("check config.json", "--against is missing; the file that freeze wrote"),
        ("check config.json --against none.json", "none.json: no such file or folder (--against)"),
        ("check config.json --against config.json", "config.json: is no frozen file; one of the form"),
        ("check config.json --against old.json --tolerance -1", "--tolerance is out of range (-1)"),
        ("check config.json --against old.json --tolerance nan", "--tolerance "),
        ("check config.json --against newer.json", "newer.json: is of the form pe-spectra/frozen/2"),
        (
            "check config.json --against more.json",
            "more.json: config.json.layers.all has a key that is not known (spin);",
        ),
        ("check config.json --against odd.json", "odd.json: config.json.layers.all is no such value (5)"),
    ],
)
def test_what_cannot_be_used_is_refused(refuse, cli, here, line, said):
    cli("freeze config.json --output old.json")
    document = json.loads((here / "old.json").read_text(encoding="utf-8"))
    (here / "newer.json").write_text(json.dumps({**document, "form": "pe-spectra/frozen/2"}), encoding="utf-8")
    document["entries"]["config.json"]["layers"]["all"]["spin"] = "left"
    (here / "more.json").write_text(json.dumps(document), encoding="utf-8")
    document["entries"]["config.json"]["layers"]["all"] = 5
    (here / "odd.json").write_text(json.dumps(document), encoding="utf-8")
    assert refuse(line).startswith(said)
