"""Places, settings and variables of the commands about encodings."""

import pytest

from pe_spectra.cli.declared import build_command
from pe_spectra.encodings import ENCODINGS
from tests.cli.paper import settle
from tests.documents import read_csv, read_json


def test_output(cli, tmp_path):
    for line in ("encodings", "compare dft:d=8 --length 8", "inspect dft:d=8 --length 8"):
        for name, form in (("a.json", "json"), ("a.csv", "csv"), ("a.txt", "table")):
            done = cli(f"{line} --output {name}")
            assert (done.code, done.out) == (0, ""), done.err
            assert done.err.splitlines()[-1] == f"wrote {name}"
            assert (tmp_path / name).read_text() == cli(f"{line} --format {form}").out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("compare dft:d=8 alibi sinusoidal:d=8 --length 16", "pe_spectra.plots.comparison"),
        ("inspect sinusoidal:d=8 --length 32", "pe_spectra.plots.inspection"),
        ("inspect alibi:heads=2 --length 16", "pe_spectra.plots.inspection"),
        ("inspect sincos2d:d=8,height=4,width=4", "pe_spectra.plots.inspection"),
    ],
)
def test_figures_are_drawn_when_asked_for(cli, tmp_path, line, module):
    pytest.importorskip(module)
    assert cli(line).code == 0
    assert list(tmp_path.iterdir()) == []
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml")):
        done = cli(f"{line} --figure {name} --quiet --json")
        assert read_json(done)["figure"] == name
        assert (tmp_path / name).read_bytes().startswith(start)


def test_variables(cli, refuse):
    document = read_json(
        cli("compare dft:d=8 sinusoidal:d=8 --json", PE_SPECTRA_COMPARE_SORT="flatness", PE_SPECTRA_COMPARE_LENGTH="9")
    )
    assert (document["sorted_by"], document["parameters"]["length"]) == ("flatness", 9)
    found = read_json(
        cli("inspect dft:d=8 --json", PE_SPECTRA_INSPECT_RESIZE="90", PE_SPECTRA_INSPECT_ALIGN_CORNERS="yes")
    )
    assert found["resized"]["align_corners"] is True
    assert cli("export dft:d=8", PE_SPECTRA_EXPORT_OUTPUT="-", PE_SPECTRA_EXPORT_WHAT="kernel").out.startswith("lag,")
    for name, value, line in (
        ("COMPARE_SORT", "x", "compare dft"),
        ("COMPARE_PERIODS", "x", "compare dft"),
        ("COMPARE_ROWS", "3", "compare dft"),
        ("COMPARE_REQUIRE", "x", "compare dft"),
        ("INSPECT_METHOD", "x", "inspect dft"),
        ("INSPECT_RESIZE", "x", "inspect dft"),
        ("INSPECT_FAIL_ON", "x", "inspect dft"),
        ("INSPECT_EXPLAIN", "x", "inspect"),
        ("EXPORT_WHAT", "x", "export dft --output -"),
        ("FAITHFULNESS_STEP", "x", "faithfulness -e calendar"),
        ("FAITHFULNESS_START", "x", "faithfulness -e calendar"),
    ):
        message = refuse(line, **{f"PE_SPECTRA_{name}": value})
        assert f"PE_SPECTRA_{name} " in message
        assert f"({value})" in message


def test_no_variable_is_an_argument(cli):
    for name in ("SPECS", "SPEC", "NAME"):
        done = cli("compare", **{f"PE_SPECTRA_COMPARE_{name}": "dft"})
        error, note = done.err.splitlines()
        assert (done.code, done.out) == (2, "")
        assert error.startswith("error: SPEC is missing")
        assert note.startswith(f"note: PE_SPECTRA_COMPARE_{name} is not known and sets nothing; ")
        assert cli("encodings --json", **{f"PE_SPECTRA_ENCODINGS_{name}": "dft"}).out == cli("encodings --json").out


def test_settings(cli, tmp_path):
    file = settle(tmp_path, "length = 9\n[compare]\nsort = 'flatness'\njson = true\n[inspect]\nresize = 24\n")
    document = read_json(cli(f"compare dft:d=8 sinusoidal:d=8 {file}"))
    assert (document["sorted_by"], document["parameters"]["length"]) == ("flatness", 9)
    assert read_json(cli(f"inspect dft:d=8 {file} --json"))["resized"]["new"] == [24]
    file = settle(tmp_path, "[compare]\nall = true\nlength = 4\nformat = 'csv'\n")
    assert len(read_csv(cli(f"compare {file}").out)) == len(ENCODINGS)
    file = settle(tmp_path, "step = '30min'\nstart = 2020-02-29T12:00:00\nlength = 50\n")
    out = cli(f"faithfulness -e calendar:fields=hour --no-figure {file}").out
    assert "Sat 2020-02-29 12:00 = Sat 2020-02-29 12:30" in out
    file = settle(tmp_path, "require = ['injective', 'separation>=1']\n")
    assert cli(f"compare dft:d=8 --length 8 {file}").code == 0
    assert cli(f"compare dft:d=8 --length 9 {file}").code == 1


@pytest.mark.parametrize(
    ("line", "text", "words"),
    [
        ("compare dft", "sort = 'x'", "s.toml: sort is not known (x)"),
        ("compare dft", "periods = 'x'", "s.toml: periods is no period (x)"),
        ("compare dft", "all = 3", "s.toml: key all has the wrong type ('3'); true or false is accepted"),
        (
            "compare dft",
            "sort = 12:30:00",
            "s.toml: key sort has the wrong type (datetime.time(12, 30)); a text, a num",
        ),
        ("compare dft", "specs = ['dft']", "s.toml: key specs is not known"),
        ("compare dft", "[compare]\nresize = 3", "s.toml: key compare.resize is not known"),
        ("inspect dft", "resize = 0", "s.toml: resize is out of range (0)"),
        ("inspect dft", "fail-on = 'x'", "s.toml: fail-on is not known (x)"),
        ("inspect dft", "align-corners = true", "s.toml: align-corners has no meaning without --resize"),
        ("inspect", "explain = 'x'", "s.toml: explain is not known (x)"),
        ("export dft", "output = 'a.xlsx'", "s.toml: output is no name of a file for an array (a.xlsx)"),
    ],
)
def test_refused_settings(cli, tmp_path, line, text, words):
    done = cli(f"{line} {settle(tmp_path, text)}")
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_a_terminal_is_told_what_to_try_next(cli, monkeypatch, tables):
    monkeypatch.setattr("pe_spectra.cli.terminal.is_terminal", lambda _: True)
    for line in ("encodings", "encodings rope", "compare dft:d=8 --length 8", "inspect dft:d=8", "inspect cls.npy"):
        done = cli(f"{line} --color never")
        assert done.code == 0
        last = done.err.splitlines()[-1]
        assert last.startswith("next: pe-spectra ")
        assert cli(last.removeprefix("next: pe-spectra ")).code == 0
        assert max(map(len, done.out.splitlines())) <= 110


def test_every_new_option_is_in_the_help(cli):
    for name in ("encodings", "export", "compare", "inspect"):
        text = cli(f"{name} --help").out
        for parameter in build_command().commands[name].params:
            if parameter.param_type_name == "option":
                assert max(parameter.opts, key=len) in text
            else:
                assert "SPEC" in text
