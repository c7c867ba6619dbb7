"""Where values come from: the command line, variables, settings files; and errors that name it."""

import json
import re

import pytest

from tests.cli.paper import list_options, settle
from tests.documents import read_csv

# ----------------------------------------------------------------------------------- settings and variables


def read_width(done):
    assert done.code == 0, done.err
    return json.loads(done.out)["encoding"]["parameters"]["d"]


def test_precedence(cli, tmp_path):
    line = "spectrum --json --no-figure"
    assert read_width(cli(line)) == 256
    flat = settle(tmp_path, "d = 4\n", "flat.toml")
    assert read_width(cli(f"{line} {flat}")) == 4
    both = settle(tmp_path, "d = 4\n[spectrum]\nd = 6\n[reconstruct]\nd = 9\n", "both.toml")
    assert read_width(cli(f"{line} {both}")) == 6
    assert read_width(cli(f"{line} {both}", PE_SPECTRA_SPECTRUM_D="8")) == 8
    assert read_width(cli(f"{line} {both} --d 10", PE_SPECTRA_SPECTRUM_D="8")) == 10
    assert read_width(cli(f"{line} --d 10 {both}")) == 10
    assert read_width(cli(line, PE_SPECTRA_SPECTRUM_D="8", PE_SPECTRA_RECONSTRUCT_D="3")) == 8
    assert read_width(cli(line, PE_SPECTRA_SPECTRUM_SETTINGS="both.toml")) == 6


def test_every_option_of_every_command_has_its_variable():
    for name, option, parameter in list_options():
        expected = f"PE_SPECTRA_{name}_{option[2:]}".replace("-", "_").upper()
        assert parameter.envvar == expected


def test_no_variable_turns_a_command_into_another(cli):
    plain = cli("spectrum --d 4 --no-figure").out
    for name in ("VERSION", "CITE", "HELP", "SPECTRUM_HELP", "D", "JSON", "INSTALL_COMPLETION", "SHOW_COMPLETION"):
        assert cli("spectrum --d 4 --no-figure", **{f"PE_SPECTRA_{name}": "1"}).out == plain


def test_variables_of_every_kind(cli, tmp_path):
    line = "reconstruct --no-figure"
    done = cli(
        line,
        PE_SPECTRA_RECONSTRUCT_JSON="true",
        PE_SPECTRA_RECONSTRUCT_S="5 40,75",
        PE_SPECTRA_RECONSTRUCT_ENCODING="dft sinusoidal",
        PE_SPECTRA_RECONSTRUCT_D="128",
        PE_SPECTRA_RECONSTRUCT_WINDOW_FREE="yes",
    )
    document = json.loads(done.out)
    assert document["parameters"]["s"] == [5, 40, 75]
    assert [panel["encoding"]["name"] for panel in document["panels"]] == ["dft", "sinusoidal"]
    assert "kernel" in document["panels"][0]
    cli("spectrum --d 4", PE_SPECTRA_SPECTRUM_FIGURE="here.svg", PE_SPECTRA_SPECTRUM_OUTPUT="here.csv")
    assert {path.name for path in tmp_path.iterdir()} == {"here.svg", "here.csv"}
    assert cli("spectrum --d 4 --no-figure", PE_SPECTRA_SPECTRUM_JSON="0").out.startswith("{") is False
    assert read_width(cli("spectrum --no-figure --json", PE_SPECTRA_SPECTRUM_D="")) == 256
    rows = read_csv(cli("count-low-bin --no-figure --format csv", PE_SPECTRA_COUNT_LOW_BIN_D="4 8").out)
    assert [row["d"] for row in rows] == ["4", "8"]
    done = cli("faithfulness --no-figure", PE_SPECTRA_FAITHFULNESS_REQUIRE="injective rank>=81")
    assert done.code == 1
    assert cli("figures --check", PE_SPECTRA_FIGURES_OUTPUT="nothing").code == 1


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("spectrum", "D", "x"),
        ("spectrum", "GRID", "1"),
        ("spectrum", "BANDWIDTH", "1 0"),
        ("spectrum", "BOUNDARY", "mirror"),
        ("spectrum", "ENCODING", "gauss"),
        ("spectrum", "ENCODING", "dft:d=1"),
        ("spectrum", "FORMAT", "yaml"),
        ("spectrum", "COLOR", "blue"),
        ("spectrum", "FIGURE", "a.jpg"),
        ("spectrum", "FIGURE", "no/a.png"),
        ("spectrum", "OUTPUT", "a"),
        ("spectrum", "OUTPUT", "no/a.csv"),
        ("spectrum", "JSON", "maybe"),
        ("spectrum", "FULL", "2"),
        ("reconstruct", "S", "5 x"),
        ("faithfulness", "REQUIRE", "injectiv"),
        ("faithfulness", "LIMIT", "-1"),
        ("count-low-bin", "D", "4 1"),
        ("count-low-bin", "LENGTH", "0"),
    ],
)
def test_an_error_names_the_variable_it_came_from(refuse, command, option, value):
    name = f"PE_SPECTRA_{command}_{option}".replace("-", "_").upper()
    message = refuse(command, **{name: value})
    assert name in message
    assert re.split("[ =]", value)[-1] in message
    assert f"--{option.lower()}" not in message.partition("accepted")[0]


@pytest.mark.parametrize(
    ("command", "text", "words"),
    [
        ("spectrum", "d = 1", "s.toml: d is out of range (1)"),
        ("spectrum", "d = 2.5", "s.toml: d is not an integer (2.5)"),
        ("spectrum", "d = '64'", "s.toml: key d has the wrong type"),
        ("spectrum", "d = true", "s.toml: key d has the wrong type (True); a number is accepted"),
        ("spectrum", "d = [4, 8]", "s.toml: key d has the wrong type"),
        ("spectrum", "rho = nan", "s.toml"),
        ("spectrum", "json = 3", "s.toml: key json has the wrong type"),
        ("spectrum", "json = 'yes'", "s.toml: key json has the wrong type"),
        ("spectrum", "boundary = true", "s.toml: key boundary has the wrong type"),
        ("spectrum", "boundary = 'mirror'", "s.toml: boundary is not known (mirror)"),
        ("spectrum", "encoding = 3", "s.toml: encoding is not known (3)"),
        ("spectrum", "figure = 'no/a.png'", "(figure in s.toml)"),
        ("spectrum", "output = 'no/a.csv'", "(output in s.toml)"),
        ("spectrum", "widht = 3", "s.toml: key widht is not known"),
        ("spectrum", "bandwith = 3", "did you mean bandwidth?"),
        ("spectrum", "[spectrum]\ns = 3", "s.toml: key spectrum.s is not known"),
        ("spectrum", "[reconstruct]\nlimit = 3", "s.toml: key reconstruct.limit is not known"),
        ("spectrum", "[spectrm]\nd = 3", "did you mean spectrum?"),
        ("spectrum", "spectrum = 3", "s.toml: key spectrum has the wrong type (3); a table is accepted"),
        ("spectrum", "[spectrum.d]\nx = 3", "s.toml: key spectrum.d has the wrong type"),
        ("spectrum", "d = [[3]]", "s.toml: key d has the wrong type"),
        ("spectrum", "d = 1\nd = 2", "s.toml: gives d twice"),
        ("spectrum", "d = ", "s.toml: is not TOML"),
        ("spectrum", "settings = 'b.toml'", "s.toml: key settings is not known"),
        ("spectrum", "help = true", "s.toml: key help is not known"),
        ("reconstruct", "s = []", "s.toml: key s has the wrong type"),
        ("reconstruct", "s = [5, 999]", "s.toml: s is out of range (999)"),
        ("reconstruct", "s = '0:9:0'", "s.toml: s step is out of range (0)"),
        ("faithfulness", "require = 'injectiv'", "s.toml: require is not known (injectiv)"),
    ],
)
def test_an_error_names_the_file_it_came_from(cli, tmp_path, command, text, words):
    done = cli(f"{command} {settle(tmp_path, text)}")
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_settings_of_every_kind(cli, tmp_path):
    for text in ("s = [5, 40, 75]", "s = '5 40,75'", "s = ['5:41:35', 75]", "[reconstruct]\ns = '5:76:35'"):
        file = settle(tmp_path, f"json = true\nno-figure = true\n{text}")
        assert json.loads(cli(f"reconstruct {file}").out)["parameters"]["s"] == [5, 40, 75]
    file = settle(tmp_path, "s = 7\njson = true\nno-figure = true\n")
    assert json.loads(cli(f"reconstruct {file}").out)["parameters"]["s"] == [7]
    file = settle(
        tmp_path, "encoding = ['dft', 'sinusoidal:rho=5']\nbandwidth = 0.5\nd = 4\nquiet = true\ncheck = true\n"
    )
    spectra = json.loads(cli(f"spectrum --json {file}").out)["spectra"]
    assert [member["encoding"]["name"] for member in spectra] == ["dft", "sinusoidal"]
    assert spectra[1]["bandwidth"] == 0.5
    file = settle(tmp_path, "d = [4, 8]\nformat = 'csv'\nno-figure = true\n")
    assert [row["d"] for row in read_csv(cli(f"count-low-bin {file}").out)] == ["4", "8"]


def test_what_is_an_option_and_a_command_is_the_commands_where_it_is_a_table(cli, tmp_path):
    tables = "[check]\ntolerance = 2\n[sweep]\nworkers = 1\n"
    assert cli(f"spectrum --d 4 --no-figure {settle(tmp_path, tables)}").code == 0
    done = cli(f"check dft:d=4 --against none.json {settle(tmp_path, tables)}")
    assert "s.toml: tolerance is out of range (2)" in done.err
    # of an option that another command has
    assert cli(f"spectrum --d 4 --no-figure {settle(tmp_path, 'check = true')}").code == 0


def test_a_rival_nearer_to_the_command_line_wins(cli, refuse, tmp_path):
    assert cli("spectrum --d 4 --no-figure", PE_SPECTRA_SPECTRUM_FIGURE="a.png").code == 0
    assert list(tmp_path.iterdir()) == []
    assert cli("spectrum --d 4 --figure a.png", PE_SPECTRA_SPECTRUM_NO_FIGURE="1").err == "wrote a.png\n"
    assert cli("spectrum --d 4 --no-figure --format csv", PE_SPECTRA_SPECTRUM_JSON="1").out.startswith("k,")
    file = settle(tmp_path, "format = 'csv'\nfigure = 'b.png'\n")
    assert cli(f"spectrum --d 4 --json --no-figure {file}").out.startswith("{")
    assert cli(f"spectrum --d 4 {file}", PE_SPECTRA_SPECTRUM_JSON="1", PE_SPECTRA_SPECTRUM_NO_FIGURE="1").out[0] == "{"
    assert not (tmp_path / "b.png").exists()
    file = settle(tmp_path, "figure = 'b.png'\nno-figure = true\n")
    assert "exclude each other" in refuse(f"spectrum --d 4 {file}")


# ----------------------------------------------------------------------------------- other hints


QUIET = "spectrum -e rope:d=4 --no-figure"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("PE_SPECTRA_SPECTRUM_RHOO", "; did you mean PE_SPECTRA_SPECTRUM_RHO?"),
        ("PE_SPECTRA_SPECTRM_D", "; did you mean PE_SPECTRA_SPECTRUM_D?"),
        ("PE_SPECTRA_RHO", "; did you mean PE_SPECTRA_SPECTRUM_RHO?"),
        ("PE_SPECTRA_NO_FIGUR", "; did you mean PE_SPECTRA_NO_FIGURE?"),
        ("pe_spectra_spectrum_rho", "; did you mean PE_SPECTRA_SPECTRUM_RHO?"),
        ("PE_SPECTRA_SETTINGS", "; did you mean PE_SPECTRA_SPECTRUM_SETTINGS?"),
        ("PE_SPECTRA_XYZ", "; accepted: PE_SPECTRA_SPECTRUM_OPTION, the options are in --help"),
    ],
)
def test_a_variable_that_sets_nothing_is_noted(cli, name, hint):
    plain = cli(QUIET)
    done = cli(QUIET, **{name: "5"})
    assert done.out == plain.out
    assert done.err == f"note: {name} is not known and sets nothing{hint}\n{plain.err}"
    assert cli(f"{QUIET} --quiet", **{name: "5"}).err == ""
    assert cli("export rope:d=4 --what frequencies --output -", **{name: "5"}).err.startswith(f"note: {name}") is (
        "SPECTRUM_" not in name.upper()
    )


@pytest.mark.parametrize(
    "name", ["PE_SPECTRA_DEBUG", "PE_SPECTRA_RECONSTRUCT_FOO", "PE_SPECTRA_SPECTRUM_RHO", "PE_SPECTRUM_RHO"]
)
def test_other_variables_are_left_alone(cli, name):
    plain = cli("spectrum --no-figure --d 4 --rho 5").err
    assert cli("spectrum --no-figure --d 4 --rho 5", **{name: "5"}).err == plain
    assert cli("spectrum --no-figure --d 4 --rho 5", PE_SPECTRA_SPECTRUM_RHOO="").err == plain


@pytest.mark.parametrize(
    ("line", "name", "near"),
    [
        ("context", "PE_SPECTRA_CONTEXT_TARGT", "PE_SPECTRA_CONTEXT_TARGET"),
        ("faithfulness -e gauss", "PE_SPECTRA_FAITHFULNESS_ENCODNG", "PE_SPECTRA_FAITHFULNESS_ENCODING"),
    ],
)
def test_a_variable_that_sets_nothing_is_noted_behind_an_error(cli, line, name, near):
    plain = cli(line)
    done = cli(line, **{name: "4096"})
    assert (plain.code, done.code, done.out) == (2, 2, "")
    assert done.err == f"{plain.err}note: {name} is not known and sets nothing; did you mean {near}?\n"
    assert cli(f"{line} --quiet", **{name: "4096"}).err == plain.err


def test_real_positions_are_named_as_such(cli, tmp_path):
    (tmp_path / "pos.csv").write_text("".join(f"{n / 7}\n" for n in range(30)))
    line = "faithfulness -e sinusoidal:d=64 --no-figure"
    assert "Injective on these 30 positions: " in cli(f"{line} --positions pos.csv").out
    assert "Injective on this one position: " in cli(f"{line} --positions 0:1:1").out
    assert "Injective on 0 .. 29: " in cli(f"{line} --length 30").out


# ----------------------------------------------------------------------------------- single values


def test_a_variable_with_a_slip_is_noted(cli):
    done = cli("spectrum --no-figure", PE_SPECTRA_SPECTRUM_ROH="500")
    assert done.err.startswith("note: PE_SPECTRA_SPECTRUM_ROH is not known and sets nothing; did you mean ")
