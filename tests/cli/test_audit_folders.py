"""audit of a folder of models: which are found, in which order, what is counted, and the exit code."""

import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pe_spectra.errors import FileError
from pe_spectra.files import model_folders
from pe_spectra.files.model_folders import list_models
from tests.documents import read_json
from tests.pace import measure_pace
from tests.places import MODELS

LLAMA, SMALL = "llama-3.1-8b.json", '{"model_type": "llama", "head_dim": 8, "rope_theta": 1e4}'


@pytest.fixture
def models(tmp_path):
    """A folder of models, of which one has a warning and one an error."""
    root = tmp_path / "models"
    for name, source in (
        ("b/good", LLAMA),
        ("a", "broken/base-missing-131072.json"),
        ("c", "phi-3-vision-128k-instruct.json"),
    ):
        (root / name).mkdir(parents=True)
        shutil.copy(MODELS / source, root / name / "config.json")
    return root


def test_models_are_found_in_the_order_of_their_names(models):
    (models / "b" / "params").mkdir()
    (models / "b" / "params" / "params.json").write_text('{"dim": 64, "n_heads": 4, "n_layers": 2}')
    (models / "d" / "e").mkdir(parents=True)
    for name in ("q8.gguf", "q4.gguf", "mmproj.gguf", "m-00002-of-00002.gguf", "notes.json"):
        (models / "d" / "e" / name).write_bytes(b"")
    (models / ".git").mkdir()
    (models / ".git" / "config.json").write_text("{}")
    names = [
        "a/config.json",
        "b/good/config.json",
        "b/params/params.json",
        "c/config.json",
        "d/e/q4.gguf",
        "d/e/q8.gguf",
    ]
    assert list_models(str(models)) == [os.path.join(models, name) for name in names]
    assert list_models(f"{models}/") == [os.path.join(models, name) for name in names]


def test_a_folder_with_a_configuration_is_one_model(models):
    (models / "a" / "original").mkdir()
    (models / "a" / "original" / "params.json").write_text("{}")
    assert list_models(str(models / "a")) == [str(models / "a")]
    assert list_models(str(models))[0] == str(models / "a" / "config.json")
    assert len(list_models(str(models))) == 3
    for text in ("", "-", "org/model", str(models / "a" / "config.json")):
        assert list_models(text) == [text]


def test_configurations_of_any_name_are_models_where_there_is_none(models, cli):
    (models / "z").mkdir()
    for place, text in {
        "b/small.json": SMALL,
        "z/damaged.json": SMALL[:-1],
        "z/generation_config.json": '{"max_length": 20}',
        "z/.small.json": SMALL,
        "a/small.json": SMALL,  # beside a config.json
    }.items():
        (models / place).write_text(text)
    (models / "z" / "folder.json").mkdir()
    names = ["a/config.json", "b/small.json", "b/good/config.json", "c/config.json", "z/damaged.json"]
    assert list_models(str(models)) == [os.path.join(models, name) for name in names]
    done = cli(f"audit {models}")
    assert done.code == 2
    assert "5 files: 1 with errors, 1 with warnings, 2 without either, 1 refused" in done.out


def test_what_cannot_be_opened_is_named(models, monkeypatch):
    (models / "z.json").write_text(SMALL)

    def refuse(path, **_):
        raise FileError(path, "permission denied")

    monkeypatch.setattr(model_folders, "open_regular", refuse)  # root may read every file
    assert list_models(str(models))[0] == str(models / "z.json")


def test_loops_of_links_end_and_a_model_counts_once(models):
    (models / "b" / "up").symlink_to("..")
    (models / "z").symlink_to("b")
    (models / "self").symlink_to("self")
    (models / "file").symlink_to("a/config.json")
    (models / "gone").symlink_to("nowhere")
    assert len(list_models(str(models))) == 3


def test_deep_folders_are_looked_into(tmp_path):
    deep = tmp_path / "/".join(["d"] * 900)
    os.makedirs(deep)
    (deep / "config.json").write_text(SMALL)
    assert list_models(str(tmp_path)) == [str(deep / "config.json")]


def test_there_is_a_most(models, monkeypatch, refuse):
    monkeypatch.setattr(model_folders, "MAX_FOLDERS", 3)
    assert "has more than 3 folders below it" in refuse(f"audit {models}")


def test_the_last_line_counts(cli, models):
    done = cli(f"audit {models}")
    assert done.code == 0
    last = "3 files: 1 with errors, 1 with warnings, 1 without either, 0 refused"
    assert done.out.splitlines()[-1] == last
    shown = cli(f"audit {models} --color always", COLUMNS="80").out
    assert re.sub("\x1b[^m]*m", "", shown).splitlines()[-1].strip() == last
    found = read_json(cli(f"audit {models} --json"))["models"]
    assert [os.path.relpath(one["file"], models) for one in found] == [
        "a/config.json",
        "b/good/config.json",
        "c/config.json",
    ]
    assert last not in cli(f"audit {models / 'a'}").out


def test_those_that_cannot_be_used_are_counted_and_named(cli, models):
    (models / "b" / "config.json").write_text("{")
    (models / "e").mkdir()
    (models / "e" / "config.json").write_text('{"model_type": "tokenizer"}')
    done = cli(f"audit {models} --fail-on error")
    assert done.code == 2
    assert done.out.splitlines()[-1] == "4 files: 1 with errors, 1 with warnings, 0 without either, 2 refused"
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert [("b/config.json" in errors[0]), ("e/config.json" in errors[1])] == [True, True]
    assert "2 that cannot be used (b/config.json, e/config.json)" in done.out.splitlines()[0]
    assert cli(f"audit {models} --output all.json").code == 2


def test_a_check_says_no(cli, models):
    assert cli(f"audit {models} --fail-on error").code == 1
    assert cli(f"audit {models / 'b'} --fail-on error").code == 0


def test_a_folder_that_cannot_be_listed_is_named(cli, models, monkeypatch):
    closed, listdir = models / "b", os.listdir

    def list_others(folder):
        if Path(folder) == closed:
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return listdir(folder)

    monkeypatch.setattr(os, "listdir", list_others)  # root may list every folder
    done = cli(f"audit {models}")
    assert done.code == 2
    assert f"{closed}: permission denied" in done.err


def test_several_gguf_files_of_a_folder_that_is_named_are_no_models_below_it(models):
    for name in ("one.gguf", "two.gguf"):
        (models / "b" / "empty").mkdir(exist_ok=True)
        (models / "b" / "empty" / name).write_bytes(b"GGUF")
    assert list_models(str(models / "b" / "empty")) == [str(models / "b" / "empty")]


def test_an_empty_folder_and_a_figure_of_many_are_refused(refuse, models, tmp_path):
    (tmp_path / "empty" / "below").mkdir(parents=True)
    assert "is a folder (directory) without a configuration" in refuse(f"audit {tmp_path / 'empty'}")
    assert "--figure draws one configuration (3 are named)" in refuse(f"audit {models} --figure a.png")


def test_one_model_below_is_told_in_full(cli, models):
    done = cli(f"audit {models / 'b'}")
    assert "\nhead width: 128 channels, all of them turned\n" in done.out


@pytest.mark.parametrize("width", [80, 100])
def test_on_80_columns_the_scaling_and_the_findings_are_kept(cli, models, width):
    for name in ("gemma-3-4b-it", "llama-4-scout-17b-16e-instruct", "deepseek-r1-distill-qwen-32b"):
        (models / name).mkdir()
        shutil.copy(MODELS / f"{name}.json", models / name / "config.json")
    shown = re.sub("\x1b[^m]*m", "", cli(f"audit {models} --color always", COLUMNS=str(width)).out)
    lines = [line.rstrip() for line in shown.splitlines()]
    assert max(map(len, lines)) <= width
    head = next(line.split() for line in lines if line.startswith("file "))
    assert head[:5] == ["file", "layer", "base", "scaling", "findings"]
    rows = [line.split() for line in lines if line.startswith("b/good ")]
    assert rows[0][:4] == ["b/good", "all", "500000", "llama3"]


#: Audits of public models, the base of each drawn anew, so that no two are alike; prints seconds of processor time.
AUDITS = """
import json, pathlib, sys, time
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.stated.configuration import read_configuration

read = [json.loads(path.read_text()) for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json"))]
read = [one for one in read if "model_type" in one]
for turn in range(3):
    start = time.process_time()
    for number in range(1000):
        config = dict(read[number % len(read)])
        if isinstance(config.get("rope_theta"), int | float):
            config["rope_theta"] = 1e4 + 7919 * (number + turn)
        audit_configuration(read_configuration(config, "config.json"))
    print(time.process_time() - start)
"""


@pytest.mark.slow
def test_a_thousand_audits_take_three_seconds_of_processor_time():
    """Best of three, by the pace of the machine; in a process of its own, for one that counts lines is slower."""
    pace = measure_pace()
    plain = {key: value for key, value in os.environ.items() if not key.startswith("COV_")}
    done = subprocess.run(
        [sys.executable, "-c", AUDITS, str(MODELS)], capture_output=True, text=True, check=True, env=plain
    )
    taken = [float(line) for line in done.stdout.split()]
    assert min(taken) <= 3.0 * pace, (taken, pace)


def test_beside_errors_stderr_has_them_alone(cli, tmp_path):
    (tmp_path / "small.json").write_text(SMALL)
    done = cli("audit small.json missing.json --allocated 4096")
    assert done.code == 2
    assert done.err == "error: missing.json: no such file or folder\n"
    assert "changes nothing here" in cli("audit small.json --allocated 4096").err


# ----------------------------------------------------------------------------------- files of other programs


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("config.json", '{"name": "eslint", "rules": {}}', "names no positional encoding; looked for head_dim"),
        ("params.json", '{"params": 1}', "states no model; looked for dim, n_heads, n_layers"),
    ],
)
def test_files_that_state_no_model_are_passed_over_where_that_is_asked_for(cli, refuse, models, name, content, reason):
    (models / name).write_text(content)
    said = f"{models / name}: {reason}"
    assert refuse(f"audit {models / name}").startswith(said)
    done = cli(f"audit {models / name} {models / 'b' / 'good'} {models / 'a'} --models-only --json --fail-on error")
    assert [Path(one["file"]).name for one in read_json(done)["models"]] == ["good", "a"]
    assert done.err.startswith(f"note: passed over: {said}")
    assert done.code == 0
    for form in ("table", "json", "csv", "markdown", "github"):
        done = cli(f"audit {models / name} --models-only --reader vllm,transformers-4 --format {form}")
        assert (done.code, done.err.count("note: passed over: ")) == (0, 1), form
        if form in ("table", "markdown"):
            assert done.out.strip() == "No file that was named states a model: nothing is audited."
    assert "no rotary frequencies to draw (none)" in refuse(f"audit {models / name} --models-only --figure a.png")


@pytest.mark.parametrize(
    "content",
    ["{", "[1]", '{"model_type": "nobody-knows"}', '{"architectures": ["A"]}', '{"text_config": {}}', '{"d_model": 8}'],
)
def test_no_other_file_is_passed_over(cli, models, content):
    (models / "config.json").write_text(content)
    done = cli(f"audit {models / 'config.json'} --models-only")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert "passed over" not in done.err
