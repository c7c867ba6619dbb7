"""The command precision as people meet it: requirements and refusals."""

from __future__ import annotations

import re

import pytest

from pe_spectra.vocabulary import DTYPES as DTYPE_NAMES
from pe_spectra.vocabulary import RECIPE_TITLES

# ----------------------------------------------------------------------------------- requirements


@pytest.mark.parametrize(
    ("more", "failing"),
    [
        ("--require injective", ["injective (bfloat16, narrow-positions)", "injective (bfloat16, all-narrow)"]),
        ("--recipe fp32-then-cast --require injective", []),
        ("--recipe fp32-then-cast --require 'separation>=0.1' --require 'ulp_margin>=100'", []),
        ("--recipe fp32-then-cast --require 'separation>=3'", ["separation>=3 (bfloat16, fp32-then-cast)"]),
        ("--recipe fp32-then-cast --require 'ulp_margin>1e6'", ["ulp_margin>1e6 (bfloat16, fp32-then-cast)"]),
    ],
)
def test_requirements(cli, more, failing):
    done = cli(f"precision sinusoidal --length 1000 --dtype bfloat16 {more}")
    assert done.code == (1 if failing else 0)
    assert done.out
    failed = [line for line in done.err.splitlines() if line.startswith("check failed")]
    assert all("; found: " in line for line in failed)
    assert [re.sub("; found: [^(]*", " ", line) for line in failed] == [f"check failed: required: {t}" for t in failing]


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sinusoidal --length 64 --dtype bfloat17", ["--dtype is not known (bfloat17)", *DTYPE_NAMES]),
        ("sinusoidal --dtype bfloat16 bfloat17", ["--dtype is not known (bfloat17)", *DTYPE_NAMES]),
        ("--dtype bfloat16 bfloat17 sinusoidal", ["--dtype is not known (bfloat17)", *DTYPE_NAMES]),
        ("sinusoidal --recipe fp32 fp64 --dtype float16", ["--recipe is not known (fp64)", *RECIPE_TITLES.values()]),
        ("--dtype bfloat16 sinusoidal dft", ["unexpected argument (dft); this command takes at most 1 argument"]),
        ("sinusoidal --require injective rank", ["unexpected argument (rank); --require takes one value here"]),
        ("sinusoidal --length 0 --dtype float16", ["--length is out of range (0)", "1 to 1048576"]),
        ("sinusoidal --recipe fp16", ["--recipe is not known (fp16)", *RECIPE_TITLES.values()]),
        ("sinusoidal --dtype ''", ["--dtype has an empty place in its list ('')"]),
        ("sinusoidal --embedding nan", ["--embedding is not a number (nan)"]),
        ("sinusoidal --embedding 0", ["--embedding is out of range (0)"]),
        ("sinusoidal --require rank", ["--require is not known (rank)", "ulp_margin"]),
        ("ramp --recipe all-bf16", ["--recipe has steps", "(all-narrow)", "fp32-then-cast"]),
        ("fire", ["fire: its bias belongs to a query and a key"]),
        ("sinusoidal:d=4096 --length 1048576", ["--length", "1048576 x 4096", "8589934592"]),
        ("ramp --length 81", ["--length is beyond the rows", "81"]),
        ("sinusoidal --start-position -1", ["--start-position is out of range (-1)", "0 to 9007199254740992"]),
        ("sinusoidal --start-position 9007199254740914", ["--start-position leads beyond", "0 to 9007199254740992"]),
        ("ramp --start-position 1 --length 80", ["--start-position leads beyond", "(1 to 80)", "positions 0 to 79"]),
        ("ramp --start-position 80", ["--start-position leads beyond", "(80 to 80)", "positions 0 to 79"]),
        ("alibi --start-position 5", ["--start-position has no meaning for lags (5)"]),
        ("sinusoidal --start-position 5 --positions 0:9:1", ["--start-position has no meaning at real positions (5)"]),
        ("sinusoidal --length 9 --positions 0:9:1", ["--length and --positions exclude each other"]),
        ("dft --positions 0:9:0.5", ["--positions: this encoding takes no real positions"]),
        ("sinusoidal --positions t.csv", ["--positions do not grow (1 after 3)", "larger than the one before"]),
        ("", ["SPEC is missing"]),
        ("sinusoidal --figure none/staircase.png", ["none"]),
        ("sinusoidal --figure staircase.gif", ["--figure", "staircase.gif"]),
    ],
)
def test_refusals(refuse, line, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("0\n3\n1\n")
    text = refuse(f"precision {line}")
    for word in words:
        assert word in text
