"""The documentation tells the truth: every quantity has its sentence, every command line its output.

Run this file to bring the outputs up to date: .venv/bin/python -m tests.pages.test_docs
With --files FOLDER it writes the files that the pages name into a new folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from pe_spectra.answers import agreements, differences
from pe_spectra.answers.catalogues import answer_catalogue
from pe_spectra.answers.documents import build_schema
from pe_spectra.capturing.capture import capture
from pe_spectra.capturing.faults import KINDS as MODULE_KINDS
from pe_spectra.encodings import ENCODINGS, find_encoding
from pe_spectra.files.known_tables import KNOWN_NAMES
from pe_spectra.frozen.entries import take_side, write_entry
from pe_spectra.frozen.frozen_file import FrozenFile, write_frozen
from pe_spectra.inspection import KINDS as TABLE_KINDS
from pe_spectra.metrics import METRICS
from pe_spectra.model_sources import read_side
from pe_spectra.models.checks.kinds import KINDS
from pe_spectra.models.lengths.methods import compare_methods
from pe_spectra.models.stacks import list_releases
from pe_spectra.spec import FILE_EXTENSIONS
from tests.capturing.fakes import Model, Rotary, make_ladder
from tests.conftest import Finished
from tests.in_one import in_one
from tests.pages import quantities
from tests.pages.quantities import write_causes, write_kinds, write_rules
from tests.places import ROOT

DOCS = ROOT / "docs"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
DOCUMENT = PAGES["quantities.md"]
CONSOLE = re.compile(r"```console\n\$ (?P<command>[^\n]*)\n(?P<output>.*?)```", re.DOTALL)
#: Those of commands.md are shown as on a terminal, and held by test_readme.
BLOCKS = [(page, match) for page, text in PAGES.items() if page != "commands.md" for match in CONSOLE.finditer(text)]
#: The table of the kinds of findings.
CAUSES = re.compile(r"^\| code \| what it says, as of B \|\n(?:\|.*\n)*", re.MULTILINE)
RULES = re.compile(r"^\| rule \| what it says \| why \| what that rests on \|\n(?:\|.*\n)*", re.MULTILINE)
TABLE = re.compile(r"(?<=\n)\| code \| level \| what it means \|\n(\|.*\n)+")
#: Lines of an output that is shown in part; of one that the page has already, as many as there are.
SHOWN = 7


def list_properties(node: object) -> set[str]:
    if isinstance(node, list):
        return {name for item in node for name in list_properties(item)}
    if not isinstance(node, dict):
        return set()
    return set(node.get("properties", {})) | {name for item in node.values() for name in list_properties(item)}


SCHEMA = build_schema()


@in_one("key", sorted(list_properties(SCHEMA)))
def test_every_key_of_the_schema_is_explained(key: str) -> None:
    assert f"`{key}`" in DOCUMENT or f"`parameters.{key}`" in DOCUMENT


def test_the_tables_of_quantities_are_made_from_the_declarations() -> None:
    assert quantities.update(DOCUMENT) == DOCUMENT


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_an_entry(name: str) -> None:
    section = DOCUMENT[DOCUMENT.index("## compare\n") : DOCUMENT.index("## inspect\n")]
    assert f"`{name}`" in section


def test_every_finding_stands_in_the_table_with_its_level() -> None:
    assert write_kinds(TABLE_KINDS.values()) in section(DOCUMENT, "inspect")


def test_every_finding_about_a_model_stands_in_the_table_with_its_level() -> None:
    assert write_kinds(KINDS.values()) in PAGES["models.md"]


def test_every_finding_about_a_module_stands_in_the_table_with_its_level() -> None:
    assert write_kinds(MODULE_KINDS.values()) in PAGES["capturing.md"]


def test_every_cause_stands_in_the_table_of_diff() -> None:
    assert write_causes() in section(PAGES["models.md"], "diff")


def test_every_rule_of_choosing_stands_in_its_table() -> None:
    assert write_rules() in PAGES["choosing.md"]


def test_every_release_is_named_with_its_version_date_and_how_it_is_known() -> None:
    rows = re.findall(r"^([a-z0-9.-]+)\t(\S+)\t(\S+)\t(measured|read)\t", PAGES["models.md"], re.MULTILINE)
    assert rows == [(one.name, one.version or "-", one.date or "-", one.how) for one in list_releases()]


def test_every_verdict_of_diff_stands_in_a_table() -> None:
    codes = re.findall(r"^\| `([a-z-]+)` \| [A-Z][^|]* \| [^|]+ \|$", section(PAGES["models.md"], "diff"), re.MULTILINE)
    assert sorted(codes) == sorted({*differences.VERDICTS, *agreements.TABLE_VERDICTS})


def test_every_method_and_bound_of_context_stands_in_a_table() -> None:
    report = compare_methods(64, 1e4, 1024, 4096)
    names = re.findall(r"^\| `([a-z0-9-]+)` \|", section(PAGES["models.md"], "context"), re.MULTILINE)
    assert names == [*(row.method for row in report.methods), *(bound.name for bound in report.bounds)]


def section(text: str, heading: str) -> str:
    """The part of a page under a heading that begins with these words."""
    start = text.index(f"\n## {heading}")
    end = text.find("\n## ", start + 1)
    return text[start:] if end < 0 else text[start:end]


def test_every_view_is_explained() -> None:
    for view in {view for row in answer_catalogue().body.rows for view in row.views}:
        assert f"`{view}`" in DOCUMENT


def test_every_ending_and_table_is_named() -> None:
    text = PAGES["reading-tables.md"]
    for ending in FILE_EXTENSIONS:
        assert ending in text
    named = re.findall(r"`([a-z_.]+(?:weight|pos_embed|table))`", text)
    assert len(named) > 4
    assert set(named) <= set(KNOWN_NAMES)


def test_what_is_out_of_scope_is_not_in_the_catalogue() -> None:
    names = {cls.name for cls in ENCODINGS}
    for name in re.findall(r"`([a-z0-9-]+)`", PAGES["scope.md"]):
        assert name in names
    assert not {"cope", "dape", "cpvt"} & names


@pytest.mark.parametrize(
    ("page", "target"), [(p, t) for p, text in PAGES.items() for t in re.findall(r"\]\(([^)#]+)\)", text)]
)
def test_every_link_leads_somewhere(page: str, target: str) -> None:
    assert (DOCS / page).parent.joinpath(target).exists()


# ----------------------------------------------------------------------------------- command lines


def write_fixtures(folder: Path) -> None:
    """Write the files that the command lines of the documentation name."""
    table = find_encoding("sinusoidal")(d=8).table(96)
    plane = find_encoding("sincos2d")(d=16, height=14, width=14).table(196)
    np.save(folder / "table.npy", table)
    np.save(folder / "grid.npy", np.concatenate([np.full((1, 16), 2.5), plane]))
    np.save(folder / "cls.npy", np.concatenate([np.linspace(-9, 7, 8)[None], table]))
    np.savez(folder / "two.npz", a=table, b=table[:64])
    (folder / "old.pt").write_bytes(b"\x80\x02}q\x00.")
    (folder / "model").mkdir()
    save_file({"wpe.weight": table.astype(np.float32)}, folder / "model" / "model.safetensors")
    configuration = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 5e5}
    (folder / "config.json").write_text(json.dumps(configuration), encoding="utf-8")
    capture(Model(rotary_emb=Rotary(make_ladder(8)))).save(folder / "capture.safetensors")
    write_models(folder)
    write_traffic(folder)


def write_traffic(folder: Path) -> None:
    """Write an hourly series of sixteen weeks, with a day, its second harmonic, a week and noise."""
    hours = np.arange(16 * 168)
    waves = ((24, 2.0), (12, 0.7), (168, 1.0))
    values = 3 + sum(size * np.sin(2 * np.pi * hours / period) for period, size in waves)
    values = values + 0.7 * np.random.default_rng(0).standard_normal(len(hours))
    times = np.datetime64("2008-01-07T00:00") + hours.astype("timedelta64[h]")
    lines = [f"{time},{value:.4f}\n" for time, value in zip(times, values, strict=True)]
    (folder / "traffic.csv").write_text("date,traffic\n" + "".join(lines), encoding="utf-8")


def write_models(folder: Path) -> None:
    """Write configurations of a model and of others like it, and what a port computes that fell back to base 10000."""
    llama3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    llama3["original_max_position_embeddings"] = 8192
    heads = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8}
    full = {**heads, "max_position_embeddings": 131072, "torch_dtype": "bfloat16"}
    dynamic = {"max_position_embeddings": 4096, "rope_theta": 1e4, "rope_scaling": {"type": "dynamic", "factor": 4.0}}
    configurations = {
        "llama-3.1-8b": {**full, "rope_theta": 5e5, "rope_scaling": llama3},
        "no-base": full,
        "hunyuan-video": {"_class_name": "HunyuanVideoTransformer3DModel", "rope_axes_dim": [16, 56, 56]},
        "other-widths": {"_class_name": "HunyuanVideoTransformer3DModel", "rope_axes_dim": [16, 48, 64]},
        "dynamic": {**heads, **dynamic},
    }
    for name, configuration in configurations.items():
        (folder / f"{name}.json").write_text(json.dumps(configuration), encoding="utf-8")
    frozen = take_side(read_side(str(folder / "llama-3.1-8b.json")))
    entries = {"llama-3.1-8b.json": write_entry(frozen)}
    (folder / "ref.json").write_text(write_frozen(FrozenFile(entries=entries)), encoding="utf-8")
    (folder / "port").mkdir()
    np.save(folder / "port" / "inv_freq.npy", (10000.0 ** (-np.arange(64) / 64)).astype(np.float32))


def run(command: str, folder: Path) -> str:
    """Run a command line of the documentation; give what it prints, stdout first."""
    program, *arguments = shlex.split(command)
    assert program == "pe-spectra"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PE_SPECTRA_")}
    done = subprocess.run(
        [sys.executable, "-m", "pe_spectra", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env={**kept, "PYTHONUTF8": "1"},
        timeout=600,
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("docs")
    write_fixtures(place)
    return place


@pytest.mark.few(12)
@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=[block["command"] for _, block in BLOCKS])
def test_every_output_is_what_the_command_prints(
    cli: Callable[..., Finished],
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    page: str,
    block: re.Match[str],
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS")
    monkeypatch.delenv("LINES")
    done, shown = cli(block["command"].removeprefix("pe-spectra ")), block["output"]
    output = done.out + done.err
    if shown.endswith("...\n"):
        assert output.startswith(shown.removesuffix("...\n"))
        assert shown != "...\n"
    else:
        assert output == shown


def test_a_process_of_its_own_prints_the_same(folder: Path) -> None:
    _, block = min(BLOCKS, key=lambda one: len(one[1]["command"]))
    output, shown = run(block["command"], folder), block["output"]
    assert output.startswith(shown.removesuffix("...\n"))


def test_there_are_command_lines() -> None:
    assert len(BLOCKS) > 5


def update() -> None:
    """Run every command line again and write what it prints; long outputs are cut."""
    with tempfile.TemporaryDirectory() as name:
        write_fixtures(Path(name))

        def show(match: re.Match[str]) -> str:
            lines = run(match["command"], Path(name)).splitlines(keepends=True)
            shown = match["output"].count("\n") - 1 if match["output"].endswith("...\n") else len(lines)
            kept = shown or SHOWN
            text = "".join(lines if len(lines) <= kept else [*lines[:kept], "...\n"])
            return f"```console\n$ {match['command']}\n{text}```"

        PAGES["capturing.md"] = TABLE.sub(lambda _: write_kinds(MODULE_KINDS.values()), PAGES["capturing.md"])
        PAGES["models.md"] = TABLE.sub(lambda _: write_kinds(KINDS.values()), PAGES["models.md"])
        PAGES["models.md"] = CAUSES.sub(lambda _: write_causes(), PAGES["models.md"])
        PAGES["choosing.md"] = RULES.sub(lambda _: write_rules(), PAGES["choosing.md"])
        (DOCS / "quantities.md").write_text(
            TABLE.sub(lambda _: write_kinds(TABLE_KINDS.values()), quantities.update(DOCUMENT)), encoding="utf-8"
        )
        for page in dict(BLOCKS):
            text = PAGES[page]
            (DOCS / page).write_text(CONSOLE.sub(show, text), encoding="utf-8")


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--files"]:
        folder = Path(arguments[1])
        folder.mkdir(parents=True)
        write_fixtures(folder)
    else:
        update()


@pytest.mark.parametrize("page", ["models.md", "reading-tables.md"])
def test_the_files_of_the_examples_can_be_had(page: str, tmp_path: Path) -> None:
    assert "`.venv/bin/python -m tests.pages.test_docs --files examples` writes" in PAGES[page]
    main(["--files", str(tmp_path / "examples")])
    for name in ("table.npy", "two.npz", "llama-3.1-8b.json", "port/inv_freq.npy"):
        assert (tmp_path / "examples" / name).exists()


if __name__ == "__main__":
    main(sys.argv[1:])
