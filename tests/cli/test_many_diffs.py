"""The command diff over several files: one row for each comparison."""

import io
import json

import pytest

from pe_spectra.answers.against import VERDICTS, Compared, answer_against
from tests.documents import read_csv

THREE, THREE_ONE, GEMMA, LONG = (
    "llama-3-8b.json",
    "llama-3.1-8b.json",
    "gemma-3-4b-it.json",
    "phi-3.5-mini-instruct.json",
)
MANY = (THREE, "inv.npy", "default.npy", THREE_ONE, GEMMA)

pytestmark = pytest.mark.usefixtures("diff_files")


@pytest.mark.parametrize(
    ("first", "others", "more"),
    [
        (f"{THREE_ONE} ", MANY, ""),
        ("", (LONG, THREE), " --stack vllm --served 3900"),
        ("sinusoidal:d=16 ", ("sinusoidal:d=16,rho=9", "dft:d=16"), ""),
    ],
)
def test_every_row_is_what_the_comparison_alone_says(ask_diff, first, others, more):
    document = ask_diff(f"{first}{' '.join(others)}{more}")
    single = [f"{first}{other}{more}" for other in others]
    assert document["kind"] == "diffs"
    assert document["against"] == ([first.strip()] if first else ["transformers 5.24.0", "vLLM 0.33.0"])
    assert len(document["rows"]) == len(single)
    ranks = []
    for row, alone in zip(document["rows"], map(ask_diff, single), strict=True):
        assert (row["verdict"], row["level"], row["text"]) == tuple(
            alone["verdict"][k] for k in ("code", "level", "text")
        )
        assert row["agree"] == alone["agree"]
        assert row["differences"] == list(dict.fromkeys(one["what"] for one in alone["differences"]))
        firsts = [one["first_position"] for one in alone["differences"] if one["first_position"] is not None]
        assert row["first_position"] == min(firsts, default=None)
        causes = [one["text"] for one in alone.get("causes", [])] or [one["effect"] for one in alone["differences"]]
        assert (row["cause"] or "") in ("; ".join(causes), causes[0] if causes else "")
        ranks.append({"breaks": 3, "undecided": 1}.get(row["verdict"], 2 * (row["agree"] is False)))
    assert list(VERDICTS).index(document["verdict"]["code"]) == max(ranks)


def test_counts_are_those_of_the_rows(cli):
    done = cli(f"diff {THREE_ONE} {' '.join(MANY)} --check --format csv")
    rows = read_csv(done.out)
    assert [row["file"] for row in rows] == list(MANY)
    assert done.code == 1
    assert done.err.count("check failed: ") > 3
    verdict = cli(f"diff {THREE_ONE} {' '.join(MANY)}").out.splitlines()[0]
    first = min((row for row in rows if row["verdict"] == "breaks"), key=lambda row: int(row["first_position"]))
    assert verdict == (
        f"Of 5 files against {THREE_ONE}: 1 the same, 1 the same as far as is known and 3 breaking "
        f"({first['file']} from position {first['first_position']} on)."
    )
    assert [row["verdict"] for row in rows].count("breaks") == 3
    assert cli(f"diff {THREE_ONE} inv.npy {THREE_ONE} --check").code == 0
    assert cli(f"diff {THREE_ONE} inv.npy {THREE_ONE} --check --strict").code == 1


def test_a_file_that_cannot_be_compared_is_a_line(cli, refuse, diff_files):
    line = f"diff {THREE_ONE} {THREE} missing.json bert-base-uncased.json inv.npy"
    done = cli(f"{line} --json")
    assert done.code == 2
    rows = json.loads(done.out)["rows"]
    assert [row["error"] is None for row in rows] == [True, False, False, True]
    assert [text for text in done.err.splitlines() if text.startswith("error: ")] == [
        f"error: {row['error']}" for row in rows if row["error"]
    ]
    assert "missing.json" in rows[1]["error"]
    assert len(read_csv(cli(f"{line} --format csv").out)) == 2
    # a file that nobody could read does not go as one that is the same
    verdict = json.loads(cli(f"diff {THREE_ONE} missing.json {THREE_ONE} --json").out)["verdict"]
    assert (verdict["code"], verdict["level"]) == ("unusable-files", "warning")
    # what was asked for as a file is whole, or not there
    done = cli(f"{line} --output all.json")
    assert (done.code, done.out) == (2, "")
    assert not (diff_files / "all.json").exists()
    assert "missing.json" in refuse(f"diff missing.json {THREE} {THREE_ONE}")
    assert cli(f"diff {THREE_ONE} missing.json gone.json").err.count("error: ") == 2


def test_numbers_of_names(refuse):
    assert "diff takes one model with" in refuse(f"diff --all-stacks {THREE} {THREE_ONE}")
    assert "standard input is read once" in refuse(f"diff {THREE} - -")


def test_standard_input_is_read_once_for_all(ask_diff, diff_files, monkeypatch):
    text = (diff_files / THREE_ONE).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    rows = ask_diff(f"- {THREE} inv.npy {THREE_ONE}")["rows"]
    assert [row["verdict"] for row in rows] == ["breaks", "same-as-known", "same"]


def test_the_next_command_compares_the_worst():
    rows = [
        Compared(file=name, level=level, verdict=code, agree=code == "same", first_position=9)
        for name, level, code in (("a.json", "ok", "same"), ("b c.json", "error", "breaks"))
    ]
    assert answer_against(rows, again="pe-spectra diff x.json").next_command == "pe-spectra diff x.json 'b c.json'"
    assert answer_against(rows[:1], again="pe-spectra diff x.json").next_command == ""
    assert answer_against(rows).next_command == ""
