"""The command audit as people meet it: many files, exit codes, streams."""

import csv
import io
import json
import sys

import pytest

from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.checks.kinds import KINDS
from pe_spectra.models.stated.gguf_metadata import read_gguf_configuration
from tests.answers.audits import LLAMA2, LLAMA31, at
from tests.pace import call_within
from tests.places import MODELS


@pytest.mark.parametrize(
    ("name", "level", "code"),
    [
        (LLAMA31, "error", 0),
        (LLAMA31, "warning", 0),
        (LLAMA31, "note", 1),
        ("broken/unseen-phases.json", "error", 0),
        ("broken/unseen-phases.json", "warning", 1),
        ("broken/unknown-rope-type.json", "error", 1),
    ],
)
def test_fail_on(cli, name, level, code):
    done = cli(f"audit {at(name)} --fail-on {level}")
    assert done.code == code
    assert done.out == cli(f"audit {at(name)}").out
    assert ("check failed: finding of level" in done.err) == bool(code)


def test_fail_on_names_the_file_among_several(cli):
    done = cli(f"audit {at(LLAMA31, 'broken/unseen-phases.json')} --fail-on warning")
    assert done.code == 1
    assert f"check failed: {MODELS / 'broken/unseen-phases.json'}: finding of level warning" in done.err


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_bad_file_among_good_ones_is_told_and_stops_nothing(cli, form):
    names = (LLAMA2, "broken/rope-scaling-not-object.json", "none.json", LLAMA31)
    done = cli(f"audit {at(*names)} --format {form} --fail-on note")
    assert done.code == 2
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert [error.split(": ")[1] for error in errors] == [str(MODELS / name) for name in names[1:3]]
    # the findings stand in the answer; whether the check holds is not decided where a file is not read
    assert "check failed" not in done.err
    assert LLAMA2 in done.out
    assert LLAMA31 in done.out
    if form == "json":
        models = json.loads(done.out)["models"]
        assert [model["error"] is None for model in models] == [True, False, False, True]
        assert models[1]["layer_types"] == models[1]["findings"] == []
        assert models[1]["error"] == errors[0].removeprefix("error: ")


def test_bad_files_are_told_with_quiet(cli):
    done = cli(f"audit {at(LLAMA2, 'none.json')} --quiet")
    assert done.code == 2
    assert done.err.count("error: ") == 1


@pytest.mark.parametrize("options", ["", "--json", "--format csv"])
def test_nothing_is_printed_where_no_file_can_be_used(cli, options):
    single = cli(f"audit {at('none.json')} {options}")
    assert (single.code, single.out) == (2, "")
    assert single.err.count("\n") == 1
    both = cli(f"audit {at('none.json', 'broken/rope-scaling-not-object.json')} {options}")
    assert (both.code, both.out) == (2, "")
    assert both.err.count("error: ") == both.err.count("\n") == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("audit", "CONFIG is missing"),
        ("audit ''", "no file is named"),
        ("audit --explain", "--explain has no value"),
        ("audit --explain unseen", "--explain is not known (unseen); did you mean unseen-phases?"),
        ("audit a.json --explain precision", "--explain takes nothing beside it (a.json)"),
        ("audit --explain precision --figure a.png", "--figure has no meaning with --explain"),
        ("audit a.json --fail-on fatal", "--fail-on is not known (fatal); accepted: note, warning, error"),
        ("audit a.json b.json --figure a.png", "--figure draws one configuration (2 are named)"),
        ("audit org/model", "hf download org/model config.json"),
        ("audit a.json", "a.json: no such file or folder"),
    ],
)
def test_refused_lines(refuse, line, words):
    assert words in refuse(line)


def test_standard_input(cli, monkeypatch):
    expected = cli(f"audit {at(LLAMA2)}").out
    stream = io.TextIOWrapper(io.BytesIO((MODELS / LLAMA2).read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    done = cli("audit -")
    assert done.code == 0, done.err
    assert done.out == expected


def test_a_folder(cli, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_bytes((MODELS / LLAMA2).read_bytes())
    assert cli("audit model").out == cli(f"audit {at(LLAMA2)}").out


@pytest.mark.parametrize("code", KINDS)
def test_explain(cli, code):
    done = cli(f"audit --explain {code}")
    assert done.code == 0
    found = KINDS[code]
    assert done.out.startswith(found.reasoning)
    assert found.formula in done.out
    assert all(reference in done.out for reference in found.references)


@pytest.mark.slow
def test_a_thousand_configurations_in_one_call(cli, tmp_path):
    shapes = [path.read_bytes() for path in sorted(MODELS.glob("*.json")) if path.name != "EXPECTED.json"]
    for number in range(1000):
        (tmp_path / f"{number}.json").write_bytes(shapes[number % len(shapes)])
    (tmp_path / "7.json").write_bytes(b"[")
    done = call_within(30, lambda: cli("audit --format csv", *(f"{number}.json" for number in range(1000))))
    assert done.code == 2
    assert done.err.splitlines() == ["error: 7.json: is not JSON (line 1, column 2)"]
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert {row["file"] for row in rows} == {f"{number}.json" for number in range(1000)} - {"7.json"}


LONG = "phi-3.5-mini-instruct.json"


def find_lists(cli, line):
    (model,) = json.loads(cli(f"audit {at(LONG)} {line} --json").out)["models"]
    return [one for one in model["findings"] if one["code"] == "other-list"]


def test_which_list_is_read_for_what_is_allocated(cli):
    """A short prompt in a long allocation: the same break, from position 3 on, that diff finds."""
    (finding,) = find_lists(cli, "--served 3900 --allocated 131072")
    assert finding["data"]["lists"] == {
        "transformers==5.24.0": "short_factor",
        "transformers==4.57.6": "short_factor",
        "vllm==0.33.0": "long_factor",
        "llama-cpp-python==0.3.36": "long_factor",
        "keras-hub==0.32.0": "short_factor",
    }
    message = finding["message"]
    assert "long_factor, chosen by the 131,072 positions that are allocated: vLLM 0.33.0, llama.cpp" in message
    assert "short_factor, for the 3,900 that are served: transformers 5.24.0, transformers 4.57.6, keras" in message
    assert message.endswith(": one against the other breaks from position 3 on")
    again = cli(f"diff {at(LONG)} --stack vllm --served 3900 --allocated 131072").out.splitlines()[0]
    assert "breaks from position 3 on" in again


@pytest.mark.parametrize(
    "line", ["--served 3900", "--served 3900 --allocated 4096", "--served 5000 --allocated 131072"]
)
def test_one_list_for_the_prompt_and_for_what_is_allocated(cli, line):
    assert find_lists(cli, line) == []


def test_an_allocation_by_which_nothing_is_chosen(cli):
    said = (
        "note: --allocated changes nothing here: no implementation chooses by it, as longrope's list is chosen in vllm"
    )
    assert said in cli(f"audit {at(LLAMA31)} --served 4096 --allocated 8192").err
    assert said not in cli(f"audit {at(LLAMA31, LONG)} --served 4096 --allocated 8192").err


def test_less_is_allocated_than_served(cli):
    done = cli(f"audit {at(LONG)} --served 3900 --allocated 1024")
    assert (done.code, done.out) == (2, "")
    assert "--allocated is below what is served (1024 and 3900); 3900 or more is accepted" in done.err


def test_a_gguf_file_is_read_for_what_is_allocated(tmp_path):
    keys = {"general.architecture": "phi3", "phi3.attention.head_count": 1, "phi3.embedding_length": 8}
    keys |= {"phi3.context_length": 8192, "phi3.rope.scaling.original_context_length": 4096}
    factors = {f"rope_factors_{name}.weight": (by,) * 4 for name, by in (("short", 1.0), ("long", 4.0))}
    stated = read_gguf_configuration(keys, factors, "a.gguf", {})
    slowest = [audit_configuration(stated, served=1024, allocated=one).layers[0].frequencies[0] for one in (None, 8192)]
    assert slowest == [1.0, 0.25]
