"""The command diff over several files: one row for each comparison."""

import io

import numpy as np
import pytest

from pe_spectra.answers.against import VERDICTS, answer_against
from pe_spectra.answers.agreements import answer_tables
from pe_spectra.models.comparison.table_diff import compare_tables
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


@pytest.mark.parametrize("bad", ["missing.json", "bert-base-uncased.json"])
def test_a_file_that_cannot_be_compared_is_the_error_of_all(refuse, diff_files, bad):
    assert bad in refuse(f"diff {THREE_ONE} {THREE} {bad} inv.npy gone.json --json")
    assert bad in refuse(f"diff {THREE} {bad} --stack vllm --output all.json")
    assert bad in refuse(f"diff {bad} {THREE} {THREE_ONE}")
    assert not (diff_files / "all.json").exists()


def test_what_does_not_go_with_an_option_is_named(refuse):
    told = refuse(f"diff {THREE_ONE} {THREE} sinusoidal:d=16 --trained 512")
    assert told.startswith("sinusoidal:d=16: --trained has no meaning with a SPEC (512)")


def test_numbers_of_names(refuse):
    assert "diff takes one model with" in refuse(f"diff --all-stacks {THREE} {THREE_ONE}")
    assert "standard input is read once" in refuse(f"diff {THREE} - -")


def test_standard_input_is_read_once_for_all(ask_diff, diff_files, monkeypatch):
    text = (diff_files / THREE_ONE).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    rows = ask_diff(f"- {THREE} inv.npy {THREE_ONE}")["rows"]
    assert [row["verdict"] for row in rows] == ["breaks", "same-as-known", "same"]


def test_the_next_command_compares_the_worst():
    a, b = np.eye(2), np.ones((2, 2))
    found = [(name, answer_tables("x", name, compare_tables(a, one))) for name, one in (("a.npy", a), ("b c.npy", b))]
    assert answer_against(found, again="pe-spectra diff x.npy").next_command == "pe-spectra diff x.npy 'b c.npy'"
    assert answer_against(found[:1], again="pe-spectra diff x.npy").next_command == ""
    assert answer_against(found).next_command == ""
