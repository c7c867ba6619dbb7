"""report: which answers stand on a page, that they are those of their commands, and what is refused."""

import html
import json
import math
import re
import shlex
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from pe_spectra.experiment.design import QUICK
from pe_spectra.experiment.runs import open_runs, write_row
from tests.experiment.made_runs import make_runs
from tests.places import MODELS
from tests.planted import make_trained
from tests.program.hostile_files import ALL, CONFIGURATIONS, CONTENTS, LLAMA, name_file, pack_gguf, pack_tensors
from tests.reports.reading import Reading

OUTPUT = "--output page.html"


@pytest.fixture(autouse=True)
def here(empty_folder, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(empty_folder / "nowhere"))
    shutil.copy(MODELS / "llama-3.1-8b.json", "config.json")
    shutil.copy(MODELS / "codellama-7b.json", "other.json")
    np.save("table.npy", make_trained(64, 64))
    np.save("inv_freq.npy", 10000.0 ** -(np.arange(64) / 64))
    return empty_folder


def make(cli, line):
    done = cli(f"report {line} {OUTPUT}")
    assert (done.code, done.out) == (0, ""), done
    return Reading(Path("page.html").read_text(encoding="utf-8"))


def list_commands(page):
    """The command lines of the answers."""
    return "".join(page.collect("code")).partition("@misc")[0].split("pe-spectra ")[1:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "commands"),
    [
        ("config.json", ["audit config.json", "diff --all-stacks config.json"]),
        ("dft:d=8", ["inspect", "spectrum -e", "reconstruct -e", "faithfulness -e", "count-low-bin -e"]),
        ("table.npy", ["inspect", "spectrum -e", "reconstruct -e", "faithfulness -e", "count-low-bin -e"]),
        ("config.json other.json", ["diff", "audit"]),
        ("config.json inv_freq.npy", ["diff"]),
        ("table.npy sinusoidal:d=64", ["compare", "diff"]),
        ("models/", ["audit"]),
        ("models/ config.json", ["audit"]),
    ],
)
def test_what_is_named_decides_what_is_answered(cli, what, commands):
    for number in range(2):
        Path(f"models/{number}").mkdir(parents=True)
        shutil.copy("config.json", f"models/{number}/config.json")
    page = make(cli, what)
    wanted = [one if one.endswith(what) else f"{one} {what}" for one in commands]
    assert list_commands(page)[: len(wanted)] == wanted
    assert list_commands(page)[len(wanted)] == f"report {what} {OUTPUT}"


def write_series():
    """A fortnight of hours with a daily period."""
    rows = (
        f"2024-01-{1 + hour // 24:02d}T{hour % 24:02d}:00,{math.sin(hour * math.pi / 12):.4f}" for hour in range(336)
    )
    Path("load.csv").write_text("\n".join(("date,load", *rows)), encoding="utf-8")


def test_of_a_recorded_series_which_encoding_suits_it_is_answered(cli):
    write_series()
    page = make(cli, "load.csv")
    assert list_commands(page) == ["series load.csv", f"report load.csv {OUTPUT}"]
    assert "figure" in page.tags
    text = json.loads(cli("series load.csv --json").out)["verdict"]["text"]
    assert any(text in one for one in page.collect("p"))


@pytest.mark.parametrize("line", ["load.csv table.npy", "load.csv load.csv", "config.json load.csv"])
def test_a_series_is_compared_with_nothing(refuse, line):
    write_series()
    said = refuse(f"report {line} {OUTPUT}")
    assert "series" in said
    assert said.endswith("(load.csv); it alone")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["config.json", "dft:d=8", "config.json other.json"])
def test_answers_are_those_of_their_commands(cli, what):
    page = make(cli, what)
    verdicts = [text for inside, text in page.texts if inside[-2:] == ("section", "p")]
    for command in list_commands(page)[:-1]:
        done = cli(f"{command} --format json" + " --no-figure" * command.startswith(("spectrum", "reconstruct")))
        text = json.loads(done.out)["verdict"]["text"]
        assert any(text in one for one in verdicts), (command, verdicts)
        rows = cli(f"{command} --format html" + " --no-figure" * command.startswith(("spectrum", "reconstruct"))).out
        cells = [text for inside, text in Reading(re.sub("</t[dr]>", "", rows)).texts if "td" in inside]
        shown = [text.strip() for inside, text in page.texts if "td" in inside]
        assert {*cells} <= {*shown}


def test_findings_stand_once(cli):
    Path("config.json").write_text(json.dumps({**LLAMA, "rope_theta": 2.5}), encoding="utf-8")
    found = json.loads(cli("audit config.json --json").out)["models"][0]["findings"]
    assert found
    page = make(cli, "config.json")
    cells = [text.strip() for inside, text in page.texts if "td" in inside]
    for one in found:
        assert {one["level"], one["code"], one["message"]} <= {*cells}
        assert not [text for text in page.collect("dd") if one["message"] in text]


def test_findings_of_several_files_name_them(cli):
    Path("config.json").write_text(json.dumps({**LLAMA, "rope_theta": 2.5}), encoding="utf-8")
    Path("other.json").write_text(json.dumps({**LLAMA, "rope_theta": 3.5}), encoding="utf-8")
    (table,) = re.findall("Findings.*?</table>", _write(cli, "config.json other.json"), re.DOTALL)
    assert {"config.json", "other.json"} <= {*re.findall("<td>(.*?)[\n<]", table)}


@pytest.mark.parametrize("what", ["config.json other.json", "bert.json"])
def test_nothing_is_drawn_of_several_files_or_without_a_rotation(cli, what):
    shutil.copy(MODELS / "bert-base-uncased.json", "bert.json")
    assert "figure" not in make(cli, what).tags


def _write(cli, line):
    make(cli, line)
    return Path("page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_a_command_refuses_is_said_in_its_place(cli):
    text = html.unescape(_write(cli, "alibi"))
    reason = cli("count-low-bin -e alibi").err.removeprefix("error: ").strip()
    assert f"No answer: {reason}" in text
    assert text.count("No answer: ") == 1


@pytest.mark.slow
def test_the_page_is_the_same_every_time(cli):
    assert _write(cli, "sinusoidal:d=16") == _write(cli, "sinusoidal:d=16")


def test_a_page_says_how_it_is_made_again_and_cited(cli):
    text = html.unescape(_write(cli, "config.json"))
    assert cli("--cite").out.strip() in text
    for name in ("pe-spectra", "Python", "numpy", "scipy", "matplotlib"):
        assert re.search(rf"{name} [0-9]+\.[0-9]+", text), name


@pytest.mark.slow
def test_results_of_an_experiment(cli, refuse, here):
    with open_runs(here / "results.csv", QUICK) as ledger:
        for one in make_runs(seeds=6):
            ledger.append(one.key, write_row(one))
    page = make(cli, "results.csv")
    assert list_commands(page)[:2] == ["experiment report results.csv", "experiment report --by-number results.csv"]
    assert page.tags.count("figure") == 2
    said = refuse(f"report results.csv config.json {OUTPUT.replace('page', 'other')}")
    assert said.startswith("WHAT is of kinds that are not compared (experiment and model) (results.csv)")


@pytest.mark.slow
def test_the_paper(cli):
    page = make(cli, "--paper")
    commands = list_commands(page)
    assert [one.split()[0] for one in commands[:5]] == [
        "spectrum",
        "reconstruct",
        "faithfulness",
        "count-low-bin",
        "claims",
    ]
    text = "".join(page.collect("td"))
    for claim in json.loads(cli("claims --source paper --json").out)["rows"]:
        assert claim["statement"] in text
        assert claim["why"] in text
    assert Path("page.html").stat().st_size < 2_000_000


@pytest.mark.slow
def test_notes_go_to_stderr_only_unless_quiet(cli):
    assert cli(f"report dft:d=8 {OUTPUT}").err == "wrote page.html (5 answers)\n"
    assert cli(f"report dft:d=8 {OUTPUT} --quiet").err == ""


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (OUTPUT, "WHAT is missing; a SPEC, a table, a configuration, a folder, or --paper is accepted"),
        (f"--paper dft {OUTPUT}", "--paper takes nothing beside it (dft)"),
        ("config.json", "--output is missing; a file ending in .html is accepted"),
        ("config.json --output page.txt", "--output is no name of a page (page.txt)"),
        ("config.json --output ''", "--output is no name of a page ('')"),
        ("config.json --output .html", "--output is no name of a page (.html)"),
        ("config.json --output none/page.html", "none/page.html: "),
        (f"none.json {OUTPUT}", "none.json: no such file"),
        (f"gauss {OUTPUT}", "gauss: "),
        (f"dft:x=1 {OUTPUT}", "WHAT dft: key is not known (x)"),
        (f"- {OUTPUT}", "WHAT is standard input (-)"),
        (f"{OUTPUT} -- -a.json", "WHAT is no name (-a.json); ./-a.json names a file"),
        (f"models {OUTPUT}", "models: is a folder (directory) without a configuration"),
        (f"models config.json inv_freq.npy {OUTPUT}", "models: "),
        (f"broken.json {OUTPUT}", "broken.json: "),
        (f"inv_freq.npy {OUTPUT}", "inv_freq.npy: "),
    ],
)
def test_bad_input_is_one_line(refuse, line, said):
    Path("models").mkdir()
    Path("broken.json").write_text("{", encoding="utf-8")
    assert refuse(f"report {line}").startswith(said)


def test_what_is_read_is_not_written_over(refuse):
    shutil.copy("config.json", "config.html")
    assert "is read by this command" in refuse("report config.html --output config.html")


def test_a_folder_with_a_broken_file_has_no_page(cli):
    Path("models/a").mkdir(parents=True)
    Path("models/b").mkdir()
    shutil.copy("config.json", "models/a/config.json")
    Path("models/b/config.json").write_text("{", encoding="utf-8")
    done = cli(f"report models {OUTPUT}")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: models/b/config.json")
    assert not Path("page.html").exists()


# ----------------------------------------------------------------------------------- names from files


def compare_elements(cli, write, name):
    """A page about a file with a hostile name has the elements of one with a plain name."""
    pages = []
    for one in (name, "plain"):
        done = cli("report", write(one), *shlex.split(OUTPUT))
        assert done.code == 0, done
        pages.append(Reading(Path("page.html").read_text(encoding="utf-8")))
    hostile, plain = pages
    # words in a figure are left out or broken into lines by their lengths
    kept = [[tag for tag in page.tags if tag not in ("text", "g", "use", "path", "data")] for page in pages]
    assert kept[0] == kept[1]
    assert {key for _, found in hostile.elements for key in found} <= {
        key for _, found in plain.elements for key in found
    }
    text = Path("page.html").read_text(encoding="utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]", text)


def write_tensor(name):
    Path("t.safetensors").write_bytes(pack_tensors(name))
    return "t.safetensors"


def write_configuration(name):
    Path("m.json").write_bytes(CONFIGURATIONS["model_type"](name))
    return "m.json"


def write_gguf(name):
    Path("m.gguf").write_bytes(pack_gguf(**{"general.name": name}))
    return "m.gguf"


def write_named(name):
    path = name_file(name, ".json")
    Path(path).write_text(json.dumps(LLAMA), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("write", [write_tensor, write_configuration, write_gguf])
def test_no_name_becomes_markup(cli, write):
    compare_elements(cli, write, ALL)


def test_no_name_of_a_file_becomes_markup(cli):
    compare_elements(cli, write_named, ALL.replace("/", "|"))


@pytest.mark.slow
@pytest.mark.parametrize("what", [what for what, name in CONTENTS.items() if name])  # without one a model is told apart
def test_no_hostile_name_becomes_markup(cli, what):
    compare_elements(cli, write_configuration, CONTENTS[what])


# ----------------------------------------------------------------------------------- size and time


@pytest.mark.slow
def test_a_page_about_many_models_costs_little_beside_their_audit(cli):
    for number in range(60):
        folder = Path(f"many/model-{number}")
        folder.mkdir(parents=True)
        changed = {**LLAMA, "rope_theta": 1000.0 + number, "max_position_embeddings": 2**17}
        (folder / "config.json").write_text(json.dumps(changed), encoding="utf-8")
    _write(cli, "many")
    spent = {"audit many --json": math.inf, f"report many {OUTPUT}": math.inf}
    for line in 3 * [*spent]:  # other programs only add to a processor time, so the least is nearest
        start = time.process_time()
        assert cli(line).code == 0
        spent[line] = min(spent[line], time.process_time() - start)
    audit, page = spent.values()
    assert page < 2 * audit, spent
    size = Path("page.html").stat().st_size
    assert size < 2_000_000
    assert size / 60 < 2_000
