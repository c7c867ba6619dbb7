"""What fits a screen: an answer about one encoding 24 lines, one about several a line for each beside the verdict."""

import re

import numpy as np
import pytest

from pe_spectra.names import ENCODING_CLASSES
from tests.places import MODELS
from tests.planted import make_trained, plant_cls, plant_seam_jump, plant_tail

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
    "context --d 128 --target 65536",
    "spectrum -e t5",
    "inspect three.npy",
    "encodings rope",
    "encodings rope:d=64",
    "encodings calendar",
    "stacks",
    f"diff {MODELS / 'llama-2-7b.json'} {MODELS / 'llama-3.1-8b.json'}",
    f"diff {MODELS / 'llama-3.1-8b.json'} {MODELS / 'gemma-4-26b-a4b.json'}",
    "audit --explain unseen-phases",
]
#: Commands that draw nothing unless asked.
PLAIN = ("precision", "inspect", "compare", "audit", "context", "encodings", "stacks", "diff")


@pytest.fixture
def watched(cli_on_terminal, monkeypatch):
    """Run a line as on a plain terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    np.save("three.npy", plant_tail(plant_seam_jump(plant_cls(make_trained(256, 32))), 200))
    return cli_on_terminal


@pytest.mark.few(4)
@pytest.mark.parametrize("line", ONE)
def test_an_answer_fits_a_screen(watched, line):
    done = watched(line + ("" if line.startswith(PLAIN) else " --no-figure"))
    assert done.code == 0
    lines = (done.out + done.err).splitlines()
    assert len(lines) <= 24
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.few(11)
@pytest.mark.parametrize("name", ENCODING_CLASSES)
def test_all_that_is_known_of_an_encoding_fits_a_screen_or_is_counted(watched, name):
    done = watched(f"encodings {name}")
    assert len((done.out + done.err).splitlines()) < 24
    every = watched(f"encodings {name} --full").out
    for label in ("formula", "views", "pitfalls", "source", "parameter", "default", "meaning"):
        assert re.search(rf"^ *(.* )?{label}( |$)", every, re.MULTILINE), label


def test_findings_that_leave_no_room_are_seen_before_the_curve(watched):
    done = watched("inspect three.npy")
    assert "seam  " in done.out
    assert "kernel k(lag)" not in done.out
    assert re.search(r"[0-9]+ details: --full", done.out)
    assert "kernel k(lag)" in watched("inspect three.npy --full").out


@pytest.mark.few(1)
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
