"""The GitHub Action and the pre-commit hook: their definitions, and what they run, as shell on a copy."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pe_spectra.cli.declared import build_command
from tests.places import MODELS, ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
INSTALL, AUDIT = ACTION["runs"]["steps"]
PROGRAM = Path(sys.executable).with_name("pe-spectra")
#: How a runner of GitHub starts a step with `shell: bash`.
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
GOOD, BROKEN = MODELS / "llama-3.1-8b.json", MODELS / "broken" / "factor-mismatch.json"


def insert_inputs(text, inputs):
    """Put the inputs of an action in their places, as the runner does."""
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: inputs[found[1]], text)


def run_step(step, folder, runner, **given):
    """Run a step of the action in a folder, which holds the repository that is audited."""
    inputs = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | given
    own = {name: insert_inputs(value, inputs) for name, value in step.get("env", {}).items()}
    others = {name: value for name, value in os.environ.items() if not name.startswith(("PE_SPECTRA_", "PYTHON"))}
    environment = {**others, "RUNNER_TEMP": str(runner), "GITHUB_ACTION_PATH": str(runner / "action"), **own}
    assert "${{" not in step["run"]
    line = [*BASH, step["run"]]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


def read_log(text):
    """The lines of a log in which a runner looks for commands, and those in which it does not."""
    acted, passed, token = [], [], None
    for line in text.splitlines():
        if token is None and line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
            assert re.fullmatch("[0-9a-f]{64}", token)
        elif token is not None and line == f"::{token}::":
            token = None
        else:
            (acted if token is None else passed).append(line)
    assert token is None
    return acted, passed


@pytest.fixture
def folder(tmp_path):
    """A repository with two models, one of them with a fault."""
    for name, source in (("good model", GOOD), ("broken", BROKEN)):
        (tmp_path / "repository" / name).mkdir(parents=True)
        shutil.copy(source, tmp_path / "repository" / name / "config.json")
    return tmp_path / "repository"


@pytest.fixture
def runner(tmp_path):
    """What the installing step leaves, with the program of this environment."""
    place = tmp_path / "runner temp" / "pe-spectra" / "bin"
    place.mkdir(parents=True)
    (place / "pe-spectra").symlink_to(PROGRAM)
    (place / "python").symlink_to(sys.executable)
    return tmp_path / "runner temp"


def test_definition_of_the_action():
    assert set(ACTION) == {"name", "description", "inputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    for step in (INSTALL, AUDIT):
        assert set(step) <= {"name", "shell", "env", "run"}
        assert step["shell"] == "bash"
    options = {parameter.envvar: parameter for parameter in build_command().commands["audit"].params}
    assert {name for name in AUDIT["env"] if name.startswith("PE_SPECTRA_")} <= set(options)
    used = re.findall(r"inputs\.([a-z-]+)", json.dumps(AUDIT["env"]))
    assert sorted(used) == sorted(ACTION["inputs"])


def test_findings_become_annotations_and_fail_the_step(folder, runner):
    done = run_step(AUDIT, folder, runner, paths="*/config.json", **{"fail-on": "warning"})
    assert done.returncode == 1
    lines, passed = read_log(done.stdout)
    assert "check failed: broken/config.json: finding of level warning: factor-mismatch" in passed
    assert all(line.startswith("::") for line in lines)
    (found,) = [line for line in lines if "title=factor-mismatch" in line]
    assert found.startswith("::warning file=broken/config.json,line=12,col=5,endColumn=13,")
    assert run_step(AUDIT, folder, runner, paths="good model/config.json\nbroken").returncode == 0


def test_sarif_goes_to_a_file(folder, runner):
    done = run_step(AUDIT, folder, runner, paths=".", format="sarif", output="found.sarif")
    assert (done.returncode, *read_log(done.stdout)) == (0, [], ["wrote found.sarif"])
    (run,) = json.loads((folder / "found.sarif").read_text())["runs"]
    assert "factor-mismatch" in {one["ruleId"] for one in run["results"]}


@pytest.mark.slow
def test_no_input_is_a_command_or_an_option(folder, runner):
    hostile = "$(touch made) `touch made`; touch made"
    for name in ("paths", "fail-on", "format", "output"):
        done = run_step(AUDIT, folder, runner, **{"paths": "broken", "format": "json", name: hostile})
        assert done.returncode == (0 if name == "output" else 2), (name, done)
        assert not (folder / "made").exists()
    assert "--help" in run_step(AUDIT, folder, runner, paths="--help").stdout
    assert run_step(AUDIT, folder, runner, paths="broken", **{"fail-on": ""}).returncode == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["table", "csv", "markdown", "github"])
@pytest.mark.parametrize("name", ["::warning::forged", "##[add-mask]forged", "::stop-commands::a"])
def test_names_are_no_commands_of_the_runner(folder, runner, form, name):
    """Rows begin with the names of files, and errors have them within: a runner acts on both where it looks."""
    shutil.copytree(folder / "broken", folder / name)
    (folder / name / "none.json").write_text("")
    paths = "\n".join([f"{name}/config.json", "good model", "broken", f"{name}/none.json"])
    done = run_step(AUDIT, folder, runner, paths=paths, format=form)
    assert done.returncode == 2
    acted, passed = read_log(done.stdout)
    assert any(name in line for line in passed)
    assert done.stderr == ""
    if form != "github":
        assert acted == []
    assert all(re.match("::(error|warning|notice) file=", line) for line in acted)


@pytest.mark.slow
def test_both_steps_on_a_copy(folder, tmp_path):
    """The audited repository holds what would be imported in place of modules, were it on their path."""
    runner = tmp_path / "temp"
    copied = {"pe_spectra", "pyproject.toml", "README.md", "LICENSE"}
    shutil.copytree(
        ROOT, runner / "action", ignore=lambda place, names: {*names} - copied if place == str(ROOT) else ()
    )
    for name in ("venv", "pip", "numpy", "pe_spectra", "sitecustomize"):
        (folder / f"{name}.py").write_text("raise SystemExit('imported')\n")
    done = run_step(INSTALL, folder, runner)
    assert done.returncode == 0, done.stderr
    done = run_step(AUDIT, folder, runner, paths="*/config.json", **{"fail-on": "warning"})
    assert done.returncode == 1, done.stderr
    assert "title=factor-mismatch" in done.stdout


def test_what_the_documentation_says_of_both(folder, runner):
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    (use,), (hooks,) = map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    assert set(use["with"]) <= set(ACTION["inputs"])
    assert f"inputs ({', '.join(f'`{name}`' for name in ACTION['inputs'])})" in page.replace("\n", " ")
    (folder / "models").mkdir()
    (folder / "broken").rename(folder / "models" / "broken")
    assert run_step(AUDIT, folder, runner, **use["with"]).returncode == 1
    assert [one["id"] for one in hooks["hooks"]] == [HOOK["id"]]
    assert re.search(hooks["hooks"][0]["files"], "models/llama/config.json")


@pytest.mark.slow
def test_the_hook_of_pre_commit(folder):
    assert set(HOOK) == {"id", "name", "description", "entry", "args", "language", "files", "require_serial"}
    assert HOOK["language"] == "python"
    names = [
        "config.json",
        "a/config.json",
        "a/params.json",
        "tokenizer_config.json",
        "config.jsonl",
        "a/myconfig.json",
    ]
    assert [name for name in names if re.search(HOOK["files"], name)] == names[:3]
    program, *words = shlex.split(HOOK["entry"])
    assert program == PROGRAM.name
    shutil.copy(MODELS / "broken" / "both-generations-contradict.json", folder / "config.json")
    (folder / "web").mkdir()
    (folder / "web" / "config.json").write_text('{"rules": {"semi": "error"}}')
    files = ("good model/config.json", 0), ("broken/config.json", 0), ("config.json", 1), ("web/config.json", 0)
    for name, code in files:
        line = [str(PROGRAM), *words, *HOOK["args"], name]
        assert subprocess.run(line, cwd=folder, capture_output=True, timeout=60).returncode == code
