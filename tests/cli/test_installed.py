"""Notes about packages that are installed in another release than the one that was read."""

import subprocess
import sys

import pytest

from pe_spectra.cli import installed
from pe_spectra.models.stacks import STACKS, find_stack, list_releases
from tests.documents import read_json
from tests.places import MODELS

LLAMA = MODELS / "llama-3.1-8b.json"
FIVE, FOUR = STACKS["transformers-5"], STACKS["transformers-4"]


@pytest.fixture
def install(monkeypatch):
    """Let a package seem to be installed, and no other."""

    def run(package, version):
        monkeypatch.setattr(installed, "find_version", {package: version}.get)

    return run


def test_another_release_is_said_once_in_an_answer(cli, install):
    install("transformers", "5.30.0")
    note = f"transformers 5.30.0 is installed here; these are the readings of {FIVE.version}"
    for line in (f"audit {LLAMA}", f"audit {LLAMA} {MODELS / 'gemma-7b.json'}", f"diff {LLAMA} --stack vllm"):
        assert read_json(cli(f"{line} --json"))["notes"].count(note) == 1
        assert cli(line).err.count(note) + cli(line).out.count(note) == 1
    both = read_json(cli(f"diff {LLAMA} --stack transformers-5,transformers-4 --json"))["notes"]
    assert f"{note} and {FOUR.version}" in both


@pytest.mark.parametrize("version", [None, FIVE.version])
def test_the_same_release_and_none_say_nothing(cli, install, version):
    install("transformers", version)
    for line in (f"audit {LLAMA}", f"diff {LLAMA} --stack vllm"):
        assert not any("is installed here" in note for note in read_json(cli(f"{line} --json"))["notes"])


def test_either_of_two_releases_that_are_compared_may_be_installed(install):
    install("transformers", FOUR.version)
    assert installed.note_installed([FIVE, FOUR]) == ()
    assert len(installed.note_installed([FIVE])) == 1
    assert installed.note_installed([STACKS["vllm"], STACKS["yarn-paper"]]) == ()


def test_files_that_transformers_does_not_read_have_no_note(cli, install, tmp_path):
    install("transformers", "5.30.0")
    (tmp_path / "params.json").write_text('{"dim": 64, "n_heads": 4, "n_layers": 2, "vocab_size": 32}')
    assert read_json(cli("audit params.json --json"))["notes"] == []


def test_the_version_is_found_without_an_import(tmp_path, monkeypatch):
    for name, text in (("a_package", "1.2.3+cu130"), ("odd", "\x1b[31m"), ("bare", "")):
        folder = tmp_path / f"{name}-1.dist-info"
        folder.mkdir()
        lines = f"Metadata-Version: 2.1\nName: {name}\n" + (f"Version: {text}\n" if text else "")
        (folder / "METADATA").write_text(lines)
    monkeypatch.syspath_prepend(tmp_path)
    assert installed.find_version("a-package") == "1.2.3"
    assert installed.find_version("odd") is None
    assert installed.find_version("bare") is None
    assert "a_package" not in sys.modules


def test_the_metadata_are_not_imported_for_packages_that_are_not_here():
    line = "import sys; from pe_spectra.cli import installed; installed.find_version('absent'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert "importlib.metadata" not in done.stdout.split()


def test_every_package_has_a_version_to_compare_with():
    for stack in list_releases():
        assert stack.version or not stack.package
        assert find_stack(stack.release_name, "--stack") is stack
