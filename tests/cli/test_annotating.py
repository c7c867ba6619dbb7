"""Findings for code hosts: SARIF valid against its schema, and commands of a workflow that names cannot forge."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest

from pe_spectra import __version__
from pe_spectra.cli.annotating import WRITERS
from pe_spectra.cli.terminal import escape
from pe_spectra.models.checks.kinds import KINDS
from pe_spectra.vocabulary import ANNOTATION_FORMATS
from tests.files.gguf import write_model
from tests.places import MODELS
from tests.program.hostile_files import ALL, CONTENTS

SCHEMA = Path(__file__).parent / "sarif" / "sarif-schema-2.1.0.json"
#: Those that are no configuration at all are errors.
UNREADABLE = ("EXPECTED.json", "head-dim-not-dividing.json", "rope-scaling-not-object.json")
BROKEN = [path for path in sorted((MODELS / "broken").glob("*.json")) if path.name not in UNREADABLE]
COMMAND = re.compile(r"::(error|warning|notice) ([^:\n]*)::([^\n]*)\n")
HOSTILE = "::error file=b.json::x\n::warning::100 % [a](http://b.c) {0}, \x1b[31m"
LLAMA = {"model_type": "llama", "head_dim": 8}


@pytest.fixture(scope="module")
def validator():
    from jsonschema import Draft4Validator, FormatChecker

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft4Validator.check_schema(schema)
    return Draft4Validator(schema, format_checker=FormatChecker())


@pytest.fixture
def ask_sarif(cli, validator):
    """Run a line with --format sarif; give its one run, which is valid."""

    def run(*words, code=0):
        done = cli("audit --format sarif", *words)
        assert done.code == code, done.err
        document = json.loads(done.out, parse_constant=pytest.fail)
        assert [error.message for error in validator.iter_errors(document)] == []
        (found,) = document["runs"]
        assert document["$schema"] == json.loads(SCHEMA.read_text(encoding="utf-8"))["id"]
        return found

    return run


def read_commands(text):
    """Kind, properties and text of each command; nothing else stands in the lines."""
    found = [COMMAND.fullmatch(line) for line in text.splitlines(keepends=True)]
    back = {"%0A": "\n", "%0D": "\r", "%3A": ":", "%2C": ",", "%25": "%"}

    def read(value):
        return re.sub("%(0A|0D|3A|2C|25)", lambda code: back[code[0]], value)

    return [
        (kind, {name: read(value) for name, value in (one.split("=", 1) for one in rest.split(","))}, read(said))
        for kind, rest, said in (one.groups() for one in found)
    ]


def test_every_form_has_its_writer():
    assert set(WRITERS) == set(ANNOTATION_FORMATS)


def test_broken_files_in_both_forms(cli, ask_sarif, tmp_path):
    """Both say what JSON says, at the same lines, with the rules as they are declared."""
    for path in BROKEN:
        shutil.copy(path, tmp_path)
    names = [path.name for path in BROKEN]
    models = json.loads(cli("audit --json", *names).out)["models"]
    wanted = [
        (one["code"], one["level"], one["message"], model["file"]) for model in models for one in model["findings"]
    ]
    run = ask_sarif(*names)
    rules = run["tool"]["driver"]["rules"]
    assert (run["tool"]["driver"]["name"], run["tool"]["driver"]["version"]) == ("pe-spectra", __version__)
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    for rule in rules:
        kind = KINDS[rule["id"]]
        assert rule["shortDescription"]["text"] == kind.phrase.replace("{", "{{").replace("}", "}}")
        assert rule["defaultConfiguration"] == {"level": kind.levels[0]}
    found, places = [], []
    for one in run["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
        ((place,),) = [list(location.values()) for location in one["locations"]]
        assert place["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
        text = one["message"]["text"].replace("{{", "{").replace("}}", "}")
        found.append((one["ruleId"], one["level"], text, place["artifactLocation"]["uri"]))
        places.append([place["region"][name] for name in ("startLine", "startColumn", "endColumn")])
    assert found == wanted
    commands = read_commands(cli("audit --format github", *names).out)
    kinds = {"notice": "note"}
    assert wanted == [(said["title"], kinds.get(kind, kind), text, said["file"]) for kind, said, text in commands]
    assert places == [[int(said[name]) for name in ("line", "col", "endColumn")] for _, said, _ in commands]
    assert len({tuple(place) for place in places}) > 10


def test_a_file_without_findings(cli, ask_sarif, tmp_path):
    good = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 512}
    (tmp_path / "good.json").write_text(json.dumps(good))
    run = ask_sarif("good.json")
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
    assert cli("audit good.json --format github").out == ""


def test_files_that_cannot_be_read_are_told_too(cli, ask_sarif, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(LLAMA))
    run = ask_sarif("a.json", "no ne.json", code=2)
    assert len(run["results"]) > 1
    (invocation,) = run["invocations"]
    (told,) = invocation["toolExecutionNotifications"]
    assert not invocation["executionSuccessful"]
    assert told["message"]["text"] == "no ne.json: no such file or folder"
    assert told["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "no%20ne.json"
    done = cli("audit a.json none.json --format github")
    said = {"file": "none.json", "title": "unusable-file"}
    assert read_commands(done.out)[0] == ("error", said, "none.json: no such file or folder")
    assert (done.code, done.err) == (2, "error: none.json: no such file or folder\n")


def test_a_file_that_cannot_be_used_is_a_result_even_alone(cli, ask_sarif, tmp_path):
    """Code hosts show nothing but results: so where no file can be used each has one, in a file for answers, too."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{ ")
    (tmp_path / "empty.json").write_text("")
    for names in (["model"], ["empty.json"], ["none.gguf"], ["model", "empty.json"]):
        run = ask_sarif(*names, code=2)
        (rule,) = run["tool"]["driver"]["rules"]
        assert (rule["id"], rule["defaultConfiguration"]) == ("unusable-file", {"level": "error"})
        assert not run["invocations"][0]["executionSuccessful"]
        places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]]
        assert places == [name.replace("model", "model/config.json") for name in names]
        done = cli("audit --format github", *names)
        commands = read_commands(done.out)
        assert [(kind, said["file"], said["title"]) for kind, said, _ in commands] == [
            ("error", place, "unusable-file") for place in places
        ]
        assert (done.code, done.err) == (2, "".join(f"error: {text}\n" for _, _, text in commands))
        assert [text for _, _, text in commands] == [
            one["message"]["text"].replace("{{", "{") for one in run["results"]
        ]
    done = cli("audit model --output found.sarif --format sarif")
    assert (done.code, done.out) == (2, "")
    assert json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"]
    assert cli("audit model empty.json --output found.json").code == 2
    assert not (tmp_path / "found.json").exists()
    assert set(read_commands(cli("audit '' --format github").out)[0][1]) == {"title"}


def test_places_of_other_files(cli, ask_sarif, tmp_path, monkeypatch):
    """Standard input has none, a file of numbers no line, one elsewhere its whole path."""
    write_model(tmp_path / "a.gguf")
    (tmp_path / "inner").mkdir()
    (tmp_path / "b.json").write_text(json.dumps(LLAMA))
    places = [one["locations"][0]["physicalLocation"] for one in ask_sarif("a.gguf", "--served", "262144")["results"]]
    assert places
    assert all(place == {"artifactLocation": {"uri": "a.gguf", "uriBaseId": "%SRCROOT%"}} for place in places)
    monkeypatch.chdir(tmp_path / "inner")
    place = ask_sarif("../b.json")["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": (tmp_path / "inner" / ".." / "b.json").as_uri()}
    assert read_commands(cli("audit ../b.json --format github").out)[0][1]["file"] == "../b.json"
    monkeypatch.setattr("pe_spectra.files.model_files._read_standard_input", lambda _: LLAMA)
    assert all("locations" not in one for one in ask_sarif("-")["results"])
    assert all(set(said) == {"title"} for _, said, _ in read_commands(cli("audit - --format github").out))


@pytest.mark.parametrize("what", [*sorted({*CONTENTS} - {"long", "long hostile", "surrogate"}), "all", "forged"])
def test_names_forge_no_command_and_no_link(cli, ask_sarif, tmp_path, what):
    name = {**CONTENTS, "all": ALL, "forged": HOSTILE}[what]
    (tmp_path / "a.json").write_text(json.dumps({**LLAMA, "rope_scaling": {"rope_type": name, "factor": 2.0}}))
    commands = read_commands(cli("audit a.json --format github").out)
    assert {said["file"] for _, said, _ in commands} == {"a.json"}
    for one in ask_sarif("a.json")["results"]:
        assert "](" not in one["message"]["text"]
        assert not re.search(r"(?<!\{)(\{\{)*\{(?!\{)", one["message"]["text"])


def test_hostile_names_of_files(cli, ask_sarif, tmp_path):
    for name in (f"a{HOSTILE.replace('/', '_')}.json", "b%0A::c,d=e:f.json", os.fsdecode(b"\xff.json")):
        (tmp_path / name).write_text(json.dumps(LLAMA))
        place = ask_sarif(name)["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        assert os.fsencode(unquote(place["uri"], errors="surrogateescape")) == os.fsencode(name)
        assert {said["file"] for _, said, _ in read_commands(cli("audit --format github", name).out)} == {escape(name)}


def test_checks_and_files_of_answers(cli, tmp_path, validator):
    (tmp_path / "a.json").write_text(json.dumps({**LLAMA, "rope_thetha": 1}))
    done = cli("audit a.json --format sarif --output found.sarif --fail-on warning")
    assert (done.code, done.out) == (1, "")
    assert "wrote found.sarif\ncheck failed: finding of level warning: unknown-key\n" in done.err
    assert validator.is_valid(json.loads((tmp_path / "found.sarif").read_text()))


def test_what_these_forms_do_not_fit_is_refused(refuse):
    for form in ANNOTATION_FORMATS:
        assert refuse(f"audit --explain seam --format {form}").startswith(
            f"--format {form} has no meaning with --explain"
        )
        assert refuse(f"audit a.json --json --format {form}").startswith("--json and --format contradict each other")
        assert refuse(f"spectrum --format {form}").startswith(f"--format is not known ({form}); accepted: table, json")
