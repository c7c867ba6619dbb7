"""`diff` of a table and a formula that a SPEC names, and of two formulas."""

import json

import numpy as np
import pytest

from pe_spectra import Sinusoidal, draw_portrait, read_encoding
from pe_spectra.answers.portraits import answer_portrait


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    codes = Sinusoidal(d=16).table(60).astype(np.float32)
    np.save("table.npy", codes)
    return codes


def ask(cli, line):
    done = cli(f"diff {line} --json")
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.parametrize("line", ["table.npy sinusoidal:d=16", "sinusoidal:d=16 table.npy"])
def test_a_table_is_its_formula(cli, table, line):
    found = ask(cli, line)
    assert found["agree"]
    assert found["table"]["max_difference"] <= 2.0**-24


def test_a_file_may_have_keys_for_its_rows(cli, table):
    found = ask(cli, "table.npy?rows=10:30 sinusoidal:d=16,offset=10")
    assert (found["agree"], found["a"]["rows"]) == (True, 20)


def test_where_a_table_differs_from_its_formula(cli, table):
    table[7, 3] += 0.5
    np.save("table.npy", table)
    found = ask(cli, "table.npy sinusoidal:d=16")["table"]
    exact = Sinusoidal(d=16).table(60)
    assert found["max_difference"] == pytest.approx(np.abs(table - exact).max())
    assert found["rms_difference"] == pytest.approx(np.sqrt(np.mean(np.square(table - exact))))
    assert found["differing_columns"] == (table != exact).any(axis=0).sum()
    assert found["unmatched_rows"] == [7]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda codes: 0.5 * codes, "times 2"),
        (lambda codes: codes[::-1], "the rows of B are those of A in reverse order"),
        (
            lambda codes: codes[:, np.r_[1:16:2, 0:16:2]],
            "the halves of A's columns are interleaved in B, the second first",
        ),
    ],
)
def test_what_explains_the_difference_is_said(cli, table, change, said):
    np.save("table.npy", change(Sinusoidal(d=16).table(60)))
    found = ask(cli, "table.npy sinusoidal:d=16")
    assert said in found["table"]["findings"][0]


def test_two_formulas_are_compared_at_a_stated_length(cli, table):
    found = ask(cli, "sinusoidal:d=16 tensor2tensor:d=16")
    assert (found["a"]["rows"], found["notes"]) == (
        80,
        ["no side is a file, so 80 positions are compared; --served sets another"],
    )
    found = ask(cli, "sinusoidal:d=16 tensor2tensor:d=16 --served 30")
    assert (found["a"]["rows"], found["notes"]) == (30, [])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("table.npy alibi", "B: alibi has no table"),
        ("table.npy one-hot:d=16", "B: one-hot has 16 positions, and 60 are compared"),
        ("table.npy sinusoidal:e=16", "key is not known"),
        ("table.npy sinusoidal:d=16 --served 9", "--served has no meaning beside a table"),
        ("table.npy sinusoidal:d=16 --trained 9", "--trained has no meaning with a SPEC"),
        ("sinusoidal:d=16 --stack vllm", "--stack has no meaning with a SPEC"),
        ("freqs.npy sinusoidal:d=16", "holds no table of positions"),
    ],
)
def test_what_cannot_be_compared_is_refused(cli, table, line, said):
    np.save("freqs.npy", 0.5 ** np.arange(8))
    done = cli(f"diff {line}")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_inspect_suggests_the_difference(table):
    answer = answer_portrait(draw_portrait(read_encoding("table.npy")))
    assert answer.next_command == "pe-spectra diff table.npy sinusoidal:d=16"
