"""What fits a screen: an answer about one encoding 24 lines, one about several a line for each beside the verdict."""

import re

import pytest

from tests.places import MODELS

ONE = [
    "spectrum",
    "spectrum -e alibi",
    "reconstruct",
    "reconstruct -e rope --window-free",
    "faithfulness",
    "faithfulness -e calendar --length 192",
    "faithfulness -e dft --length 700",
    "count-low-bin",
    "precision sinusoidal",
    "precision sinusoidal --length 4096 --dtype bfloat16",
    "inspect sinusoidal",
    "inspect sincos2d",
    "compare sinusoidal dft rope",
    f"audit {MODELS / 'llama-2-7b.json'}",
    "context --d 128 --base 10000 --trained 4096 --target 8192",
]


@pytest.fixture
def watched(cli_on_terminal, monkeypatch):
    """Run a line as on a plain terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    return cli_on_terminal


@pytest.mark.parametrize("line", ONE)
def test_an_answer_fits_a_screen(watched, line):
    plain = "" if line.startswith(("precision", "inspect", "compare", "audit", "context")) else " --no-figure"
    done = watched(line + plain)
    assert done.code == 0
    lines = (done.out + done.err).splitlines()
    assert len(lines) <= 24
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize("command", ["spectrum", "reconstruct", "faithfulness"])
def test_each_of_several_encodings_has_one_line(watched, command):
    done = watched(f"{command} -e sinusoidal rope alibi dft --no-figure")
    blocks = done.out.split("\n\n")
    begin = [
        [line for line in block.splitlines() if line.startswith(name)]
        for name in ("rope", "alibi", "dft ")
        for block in blocks[1:]
    ]
    assert sum(map(len, begin)) == 3
    assert re.search(r"[0-9]+ details.*: --full", done.out)
    every = watched(f"{command} -e sinusoidal rope alibi dft --no-figure --full").out
    assert len(every.splitlines()) > len(done.out.splitlines())
