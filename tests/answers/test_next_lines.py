"""The line `next:` of every command runs as it is printed, and is about the encodings that were asked about."""

import csv
import io
import json
import re
import shlex

import numpy as np
import pytest

from pe_spectra.answers.audits import answer_audits
from pe_spectra.cli.options import OPTIONS
from pe_spectra.model_sources import read_model
from pe_spectra.models.checks import audit_configuration
from pe_spectra.models.lengths import starting
from pe_spectra.wording import compose_command
from tests import planted
from tests.places import MODELS

#: Commands that take -e, and the inputs that each is tried on: a name, what is typed, and that answers for positions.
FOUR = ("spectrum", "reconstruct", "faithfulness", "count-low-bin")
#: Commands that draw only where a figure is asked for.
PLAIN = ("precision", "compare", "inspect")
INPUTS = {
    "default": "",
    "options": "--d 64 --rho 100",
    "spec": "-e rope:d=32,base=5e5",
    "several": "-e sinusoidal:d=16 dft:d=16 rope:d=16 --length 20",
    "bias": "-e alibi:heads=4 --length 40",
    "random": "-e learnable-sinusoid --d 16 --length 20",
    "table": "-e learned.npy --rows 2:18",
    "blank": "-e 'my table.npy' --length 12",
    "grid": "-e 'learned.npy?grid=4x5'",
    "tensor": "-e 'two.npz::b'",
    "reals": "-e mtan:d=16 --positions 'my pos.csv'",
    "range": "-e sinusoidal:d=64 --positions 0:30:0.5",
    "dates": "-e calendar --start 2020-02-28T00:00 --step 1d --length 30",
    "dash": "-e=-dash.npy",
}
ONLY = {
    "reals": ("spectrum", "faithfulness"),
    "range": ("spectrum", "faithfulness"),
    "random": FOUR,
    "default": FOUR,
    "options": FOUR,
    "spec": FOUR,
    "several": FOUR,
}


def list_next(done):
    assert done.code == 0, done.err
    whole = re.sub(r" \\\n +", " ", done.err)  # as a shell joins them
    return [line.removeprefix("next: ") for line in whole.splitlines() if line.startswith("next: ")]


def read_encodings(cli, line):
    """The encodings that a command line is about, as the JSON document has them, and how many positions."""
    done = cli(f"{line} --no-figure --json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    parts = [document] if "encoding" in document else [*document.get("spectra", ()), *document.get("panels", ())]
    parts = parts or document["rows"]
    return [json.dumps(part["encoding"]) for part in parts]


def strip_name(line):
    words = shlex.split(line)
    assert words[0] == "pe-spectra"
    return shlex.join(words[1:])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "kind"), [(command, kind) for kind in INPUTS for command in ONLY.get(kind, FOUR[:3])]
)
def test_the_next_line_runs_and_keeps_the_encodings(cli_on_terminal, command, kind):
    line = f"{command} {INPUTS[kind]}"
    asked = read_encodings(cli_on_terminal, line)
    proposed = list_next(cli_on_terminal(f"{line} --no-figure"))
    if command == "spectrum" and "--positions" in line:
        assert proposed == []  # reconstruct takes none
        return
    then = strip_name(proposed[0])
    if (command, kind) == ("count-low-bin", "default"):
        assert then == "claims"
        return
    found = set(read_encodings(cli_on_terminal, then))
    beside = found - set(asked)
    assert set(asked) <= found
    # the paper's own comparison is with the DFT encoding
    assert not beside or (then.startswith("reconstruct") and kind in ("default", "options"))


@pytest.mark.few(14)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("faithfulness -e learned.npy", ["pe-spectra spectrum -e learned.npy"]),
        ("faithfulness -e 'my table.npy' --rows 1:9", ["pe-spectra spectrum -e 'my table.npy' --rows 1:9"]),
        ("faithfulness --d 64", ["pe-spectra spectrum -e sinusoidal dft --d 64"]),
        (
            "faithfulness -e mtan:d=16 --positions 'my pos.csv'",
            ["pe-spectra spectrum -e mtan:d=16 --positions 'my pos.csv'"],
        ),
        ("faithfulness -e tree --length 1", []),  # one code, which may be zero, has no spectrum
        ("spectrum", ["pe-spectra reconstruct --s 5 40 75"]),
        ("spectrum --d 256 --rho 10000 --boundary none", ["pe-spectra reconstruct --s 5 40 75"]),
        ("spectrum --d 256 --grid 300", ["pe-spectra reconstruct --grid 300"]),
        ("spectrum -e rope --d 256", ["pe-spectra reconstruct -e rope --d 256"]),  # whose own is another
        ("faithfulness --d 256", ["pe-spectra spectrum -e sinusoidal dft"]),
        ("count-low-bin --d 256", ["pe-spectra claims"]),
        ("spectrum -e learned.npy -b 2 8", ["pe-spectra reconstruct -e learned.npy --bandwidth 2 8"]),
        ("spectrum --d 64 --boundary reflect", ["pe-spectra reconstruct --d 64 --boundary reflect"]),
        ("spectrum -e mtan:d=16 --positions 'my pos.csv'", []),  # reconstruct takes no real positions
        ("spectrum -e rope dft", ["pe-spectra reconstruct -e rope dft"]),
        ("reconstruct", ["pe-spectra reconstruct --bandwidth 0.25 1 4 16 64"]),
        (
            "reconstruct -e learned.npy --s 3",
            ["pe-spectra reconstruct -e learned.npy --s 3 --bandwidth 0.25 1 4 16 64"],
        ),
        ("reconstruct -e rope --s 40 --bandwidth 0.25 1 4 16 64", ["pe-spectra faithfulness -e rope"]),
        ("reconstruct -e dft --d 90", ["pe-spectra faithfulness -e dft --d 90"]),  # no bandwidth enters
        ("count-low-bin", ["pe-spectra claims"]),
        (
            "count-low-bin -e dft --d 8 16",
            ["pe-spectra spectrum -e dft:d=8 dft:d=16"],
        ),
        ("count-low-bin -e dft --d 8 8 --length 9", ["pe-spectra spectrum -e dft:d=8"]),
        ("count-low-bin --d 256 512", ["pe-spectra spectrum -e sinusoidal sinusoidal:d=512"]),
        ("precision sinusoidal --dtype float32", ["pe-spectra faithfulness -e sinusoidal"]),
        ("precision dft:d=8 --length 9 --dtype float32", ["pe-spectra faithfulness -e dft:d=8 --length 9"]),
        ("compare rope dft", ["pe-spectra inspect dft"]),
        ("inspect rope:d=64,layout=interleaved", ["pe-spectra spectrum -e rope:d=64,layout=interleaved"]),
    ],
)
def test_next_lines(cli_on_terminal, line, expected):
    proposed = list_next(cli_on_terminal(line if line.startswith(PLAIN) else f"{line} --no-figure"))
    assert [" ".join(one.split()) for one in proposed] == expected


def test_what_would_be_refused_as_too_much_is_not_proposed(cli_on_terminal, monkeypatch):
    line, sweep = "spectrum -e rope:d=64", "reconstruct -e rope:d=64 --s 3"
    monkeypatch.setattr("pe_spectra.cli.paper.MAX_PRINTED_NUMBERS", 192)
    assert list_next(cli_on_terminal(f"{line} --no-figure")) == ["pe-spectra reconstruct -e rope:d=64"]
    assert list_next(cli_on_terminal(f"{sweep} --no-figure")) == ["pe-spectra faithfulness -e rope:d=64"]
    monkeypatch.setattr("pe_spectra.cli.paper.MAX_PRINTED_NUMBERS", 191)
    assert list_next(cli_on_terminal(f"{line} --no-figure")) == []
    monkeypatch.setattr("pe_spectra.cli.paper.MAX_STREAMED_ENTRIES", 1)
    assert list_next(cli_on_terminal(f"{sweep} --no-figure")) == []
    monkeypatch.setattr("pe_spectra.cli.paper.MAX_PRINTED_NUMBERS", 1)
    assert list_next(cli_on_terminal("count-low-bin --d 64 --no-figure")) == []


def test_figures_are_checked_where_they_were_written(cli_on_terminal, monkeypatch):
    monkeypatch.setattr("pe_spectra.figures.build_figures", lambda **_: {"a.csv": b"1\n"})
    assert list_next(cli_on_terminal("figures --output 'my place' --grid 64")) == [
        "pe-spectra figures --check --output 'my place' --grid 64"
    ]
    assert list_next(cli_on_terminal("figures")) == ["pe-spectra figures --check"]


def test_what_was_set_elsewhere_is_kept(cli_on_terminal, tmp_path):
    (tmp_path / "s.toml").write_text("d = 32\n")
    done = cli_on_terminal("faithfulness -e rope --no-figure --settings s.toml", PE_SPECTRA_FAITHFULNESS_LENGTH="9")
    assert list_next(done) == ["pe-spectra spectrum -e rope --d 32 --length 9"]


@pytest.mark.parametrize("name", ["a\nb.npy", "a\x1bb.npy", "a\\b.npy", "a\u202eb.npy"])
def test_a_line_that_could_not_be_printed_as_it_is_is_none(name):
    assert compose_command("spectrum", encoding=[name]) == ""


def test_every_value_comes_back_from_the_shell():
    values = ["$(touch made)", "a b", "-x.npy", "it's", "~/a.npy", "*"]
    words = shlex.split(compose_command("spectrum", encoding=values, d="4", rho=None, full=False))
    assert words == [
        "pe-spectra",
        "spectrum",
        "-e",
        "$(touch made)",
        "a b",
        "-e=-x.npy",
        "it's",
        "~/a.npy",
        "*",
        "--d",
        "4",
    ]


# ----------------------------------------------------------------------------------- lines of help


@pytest.mark.slow
@pytest.mark.parametrize("line", ["planted.npy", "learned.npy --length 128", "'planted.npy?rows=:390'"])
def test_what_to_try_next_runs_as_printed(cli, learned, terminal, line):
    done = cli(f"inspect {line} --color never")
    says = done.err.splitlines()[-1]
    assert says.startswith("next: pe-spectra ")
    assert cli(says.removeprefix("next: pe-spectra ")).code == 0
    code = json.loads(cli(f"inspect {line} --json").out)["verdict"]["code"]
    assert code == "clean" or says.endswith(f"--explain {code}")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "line",
    [
        "inspect sinusoidal:d=8 --length 64 --resize 96 --align-corners",
        "inspect 'vit.npy?prefix=2,grid=8x8' --resize 12x10 --method nearest",
        "inspect vit.npy --resize 96",
    ],
)
def test_inspect_names_the_command_that_writes_what_it_resized(watch, cli, tmp_path, line):
    np.save(tmp_path / "vit.npy", planted.make_noise(66, 8))
    (said,) = [one for one in watch(line).err.splitlines() if one.startswith("next: ")]
    assert cli(said.removeprefix("next: pe-spectra ")).code == 0
    resized = json.loads(cli(f"{line} --json").out)["resized"]
    rows = 2 * (len(resized["new"]) - 1) + np.prod(resized["new"])
    assert len(np.load(tmp_path / "resized.npy")) == rows
    for word in line.split("--")[2:]:
        assert f"--{word.strip()}" in said


LLAMA = MODELS / "llama-3-8b.json"
CONTEXT = ("d:head", "base", "trained:context", "target")


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
            lines.add(answer_audits([audit]).next_command)
    assert {line.split()[1] for line in lines if line} >= kinds
    contexts = sorted(line for line in lines if line.startswith("pe-spectra context"))
    others = sorted(line for line in lines - {""} if line not in contexts)
    for line in (*others[:2], *others[-2:], *contexts[:1]):
        assert cli(line.removeprefix("pe-spectra ")).code == 0, line
    for line in contexts:  # what the search for negative sums would take its time for is checked as text
        words = dict(zip(shlex.split(line)[2::2], shlex.split(line)[3::2], strict=True))
        assert list(words) == ["--d", "--base", "--trained", "--target"]
        read = {name: OPTIONS[name].read(words[f"--{name.partition(':')[0]}"]) for name in CONTEXT}
        assert read["d:head"] % 2 == 0
        assert read["target"] > read["trained:context"]


def test_unseen_phases_lead_to_the_finished_command(watch):
    done = watch(f"audit {LLAMA} --served 131072")
    command = "pe-spectra context --d 128 --base 500000 --trained 8192 --target 131072"
    assert done.err.splitlines()[-1] == f"next: {command}"


def test_the_ranges_of_context_are_known_to_audit():
    names = {
        "d:head": starting.WIDTHS,
        "base": starting.BASES,
        "trained:context": starting.LENGTHS,
        "target": starting.LENGTHS,
    }
    for name, ends in names.items():
        assert (OPTIONS[name].reads.minimum, OPTIONS[name].reads.maximum) == ends


def test_a_plan_leads_to_its_configuration_and_that_to_a_comparison(cli, cli_on_terminal, tmp_path):
    keys = {"model_type": "llama", "head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 64}
    (tmp_path / "config.json").write_text(json.dumps(keys))
    done = cli_on_terminal("context config.json --target 128")
    command = done.err.splitlines()[-1].removeprefix("next: ")
    assert command == "pe-spectra context config.json --target 128 --write longer.json"
    done = cli_on_terminal(command.removeprefix("pe-spectra "))
    command = done.err.splitlines()[-1].removeprefix("next: ")
    assert shlex.split(command) == ["pe-spectra", "diff", "config.json", "longer.json"]
    assert cli(command.removeprefix("pe-spectra ")).code == 0
