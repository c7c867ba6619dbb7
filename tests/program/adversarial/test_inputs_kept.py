"""What a command reads is never what it writes over, however the two are spelled."""

import os
import subprocess
import sys

import pytest

TEXT = "1,2\n3,4\n"


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "argv",
    [
        ["export", "t.csv", "--output", "./t.csv"],
        ["export", "t.csv", "--output", "link.csv"],
        ["export", "time2vec:table=t.csv", "--output", "hard.csv"],
        ["spectrum", "-e", "link.csv", "--output", "t.csv", "--no-figure"],
        ["compare", "sinusoidal", "hybrid:of='t.csv'", "--output", "t.csv"],
    ],
)
def test_output_that_is_an_input(tmp_path, argv):
    (tmp_path / "t.csv").write_text(TEXT)
    (tmp_path / "link.csv").symlink_to("t.csv")
    os.link(tmp_path / "t.csv", tmp_path / "hard.csv")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pe_spectra", *argv], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    name = argv[argv.index("--output") + 1].removeprefix("./")
    assert done.stderr == f"error: {name}: is read by this command (--output); another file is accepted\n"
    assert (tmp_path / "t.csv").read_text() == TEXT
