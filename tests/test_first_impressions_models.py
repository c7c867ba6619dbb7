"""What a newcomer meets in audit, diff and context: next lines that run, refusals that help, the gravest first."""

import csv
import io
import json
import math
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from pe_spectra.cli import context, run, screen
from pe_spectra.errors import InputError
from pe_spectra.model_sources import read_model
from pe_spectra.models.checks import audit_configuration
from pe_spectra.numbers import IntegerRange, RealRange
from pe_spectra.records import audit_next
from pe_spectra.records.audit_next import suggest_next

MODELS = Path(__file__).with_name("models")
BROKEN = [path for path in sorted((MODELS / "broken").glob("*.json")) if path.name != "EXPECTED.json"]
LLAMA = MODELS / "llama-3-8b.json"
LADDER = 500000.0 ** -(np.arange(64) / 64)
LENGTHS = IntegerRange(minimum=8, maximum=1 << 30)


@pytest.fixture
def watch(cli, monkeypatch):
    """Run a command line as a terminal shows it."""
    for module in (run, screen):
        monkeypatch.setattr(module, "is_terminal", lambda _: True)
    return lambda line: cli(f"{line} --color never", COLUMNS="110")


# ----------------------------------------------------------------------------------- what comes next


@pytest.mark.parametrize("name", ["bert-base-uncased", "t5-small", "bloom-560m", "mamba-130m-hf"])
def test_a_model_that_turns_nothing_has_no_empty_table_and_no_next_line_that_fails(watch, cli, name):
    done = watch(f"audit {MODELS / name}.json")
    assert done.code == 0
    assert "next: " not in done.err
    assert "never_turn" not in done.out
    assert next(csv.reader(io.StringIO(cli(f"audit {MODELS / name}.json --format csv").out)))[:2] == ["file", "model"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("served", "kinds"), [(None, {"audit", "diff"}), (1 << 16, {"audit", "context"})], ids=["stated", "longer"]
)
def test_every_next_line_of_an_audit_runs(cli, served, kinds):
    """Of public models, as they are and served longer; of each kind of command a few are run, all are read."""
    lines = set()
    for path in sorted(MODELS.glob("*.json"))[::3]:
        if path.name != "EXPECTED.json":
            audit = audit_configuration(read_model(str(path)), served=served)
            lines.add(suggest_next([(str(path), audit)], is_single=True))
    assert {line.split()[1] for line in lines if line} >= kinds
    contexts = sorted(line for line in lines if line.startswith("pe-spectra context"))
    others = sorted(line for line in lines - {""} if line not in contexts)
    for line in (*others[:2], *others[-2:], *contexts[:1]):
        assert cli(line.removeprefix("pe-spectra ")).code == 0, line
    for line in contexts:  # what the search for negative sums would take its time for is checked as text
        words = dict(zip(shlex.split(line)[2::2], shlex.split(line)[3::2], strict=True))
        assert list(words) == ["--d", "--base", "--trained", "--target"]
        assert context._read_width(words["--d"]) % 2 == 0
        assert context._read_model(words["--base"], words["--trained"], LENGTHS.parse(words["--target"], "--target"))


def test_unseen_phases_lead_to_the_finished_command(watch):
    done = watch(f"audit {LLAMA} --served 131072")
    command = "pe-spectra context --d 128 --base 500000 --trained 8192 --target 131072"
    assert done.err.splitlines()[-1] == f"next: {command}"


def test_the_ranges_of_context_are_known_to_audit():
    assert (context._WIDTHS.minimum, context._WIDTHS.maximum) == audit_next.WIDTHS
    assert (context._BASES.minimum, context._BASES.maximum) == audit_next.BASES
    assert (context._LENGTHS.minimum, context._LENGTHS.maximum) == audit_next.LENGTHS


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("name", ["t.npy", "a b.npy", "w.safetensors"])
def test_weights_are_sent_to_inspect(refuse, tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    message = refuse(f"audit '{name}'")
    assert "holds weights, not a configuration: a config.json" in message
    assert f"; see pe-spectra inspect {shlex.quote(name)}" in message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1M", "1000000 or 1048576"),
        ("32k", "32000 or 32768"),
        ("32K", "32000 or 32768"),
        ("1.5k", "1500 or 1536"),
        ("1G", "1000000000 or 1073741824"),
        ("131_072", "131072"),
        ("131,072", "131072"),
        ("2e3", "2000"),
        ("256.0", "256"),
        ("+2_0", "20"),
    ],
)
def test_the_integer_that_was_meant_is_written_out(text, hint):
    with pytest.raises(InputError) as caught:
        LENGTHS.parse(text, "--target")
    accepted = f"an integer from 8 to 1073741824 is accepted; write {hint}"
    assert str(caught.value) == f"--target is not an integer ({text}); {accepted}"


@pytest.mark.parametrize(
    "text",
    ["2.5", "5L", "2G", "1k1", "1,2", "13,10", "1__0", "_10", "1e400", "1e17", "7.0", "9" * 40 + "k", "-1k", "k"],
)
def test_nothing_is_guessed_that_would_be_refused(text):
    with pytest.raises(InputError) as caught:
        LENGTHS.parse(text, "--target")
    assert "write" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_base_in_millions_is_written_out_too():
    with pytest.raises(InputError, match=r"--base is not a number \(1M\); .*; write 1000000 or 1048576$"):
        RealRange(minimum=2, maximum=1e18).parse("1M", "--base")


def test_a_file_given_to_context_is_sent_to_audit(refuse, tmp_path):
    says = "context takes no file: give --d, --base and --trained; pe-spectra audit"
    (tmp_path / "llama").mkdir()
    for name in ("config.json", "m.gguf", "org/model", "llama", "my config.json"):
        line = f"context {shlex.quote(name)} --target 65536"
        assert refuse(line) == f"unexpected argument ({name}); {says} {shlex.quote(name)} prints them"
    assert refuse("context " + "x" * 300 + ".json --target 65536").endswith("pe-spectra audit prints them")
    assert "takes no file" not in refuse("context --target 65536 131072")


# ----------------------------------------------------------------------------------- the gravest first


def test_errors_come_first_on_a_terminal_and_files_in_their_order_elsewhere(watch, cli):
    usable = [path for path in BROKEN if path.stem not in ("head-dim-not-dividing", "rope-scaling-not-object")]
    line = f"audit {shlex.join(map(str, usable))}"
    shown = watch(line).out
    assert re.match(rf"{len(usable)} configurations: \d+ with errors \([a-z]", shown)
    levels = re.findall(r" (error|warning|ok)\b", shown.partition("never_")[2])
    assert levels == ["error"] * 12
    rows = list(csv.DictReader(io.StringIO(cli(f"{line} --format csv").out)))
    assert list(dict.fromkeys(row["file"] for row in rows)) == [str(path) for path in usable]
    models = json.loads(cli(f"{line} --json").out)["models"]
    assert [model["file"] for model in models] == [str(path) for path in usable]


def test_rows_of_one_level_stay_in_the_order_of_their_files(watch):
    files = [MODELS / name for name in ("mistral-7b-v0.1.json", "llama-2-7b.json", "broken/unseen-phases.json")]
    files = [path for path in files if path.exists()]
    assert len(files) >= 2
    shown = watch(f"audit {shlex.join(map(str, files))}").out.partition("never_")[2]
    places = [shown.index(path.name) for path in files]
    assert places[-1] == min(places)
    assert sorted(places[:-1]) == places[:-1]


# ----------------------------------------------------------------------------------- units and what is not said


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (180 / math.pi, "180/pi times a ladder: in degrees?"),
        (2 * math.pi, "2 pi times a ladder: a factor 2 pi too much?"),
        (0.5 / math.pi, "1/(2 pi) times a ladder: in turns?"),
    ],
)
def test_frequencies_in_another_unit_are_called_so(cli, tmp_path, factor, words, kind):
    np.save(tmp_path / "port.npy", (factor * LADDER).astype(kind))
    for line, letter in ((f"diff {LLAMA} port.npy", "B"), (f"diff port.npy {LLAMA}", "A")):
        document = json.loads(cli(f"{line} --json").out)
        assert f"; {letter} is {words}" in document["verdict"]["text"]
        assert document["differences"][0]["effect"].endswith(f"; {letter} is {words}")


@pytest.mark.parametrize("factor", [1.0, 57.0, 6.0, 0.125])
def test_other_factors_are_no_unit(cli, tmp_path, factor):
    np.save(tmp_path / "port.npy", factor * LADDER)
    assert "times a ladder: " not in cli(f"diff {LLAMA} port.npy --json").out


def test_what_a_dump_never_says_is_one_line_on_a_terminal(watch, cli, tmp_path):
    np.save(tmp_path / "port.npy", 10000.0 ** -(np.arange(64) / 64))
    done = watch(f"diff {LLAMA} port.npy")
    assert done.out.count("not said by port.npy: layout, attention scaling, offset, dtype") == 1
    assert "does not say" not in done.out
    assert [line.split()[0] for line in done.out.partition("effect")[2].splitlines()[1:] if line[:1].strip()] == [
        "base"
    ]
    piped = [row["what"] for row in csv.DictReader(io.StringIO(cli(f"diff {LLAMA} port.npy --format csv").out))]
    assert piped == ["base", "layout", "attention_scaling", "offset", "dtype"]


# ----------------------------------------------------------------------------------- who else does as well


def test_the_verdict_of_context_counts_its_equals(cli):
    document = json.loads(cli("context --d 128 --base 500000 --trained 8192 --target 131072 --json").out)
    best = min(row["unseen_pairs"] for row in document["rows"][1:])
    equals = sum(row["unseen_pairs"] == best for row in document["rows"][1:]) - 1
    assert best == 0
    assert equals > 1
    assert document["verdict"]["text"].endswith(f"; {equals} others leave none too.")


def test_an_answer_to_a_file_is_whole_or_not_written(cli, tmp_path):
    shutil.copy(MODELS / "llama-3.1-8b.json", tmp_path / "a.json")
    done = cli("audit a.json none.json --output out.csv")
    assert (done.code, done.out, done.err) == (2, "", "error: none.json: no such file or folder\n")
    assert not (tmp_path / "out.csv").exists()
    assert cli("audit a.json none.json --format csv").out.startswith("file,")
