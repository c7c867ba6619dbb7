"""The command line as people meet it: answers, refusals, options and where their values come from."""

import csv
import io
import itertools
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from pe_spectra import __version__, claims
from pe_spectra.cli import run, run_process, screen
from pe_spectra.cli.options import ENCODING_NAMES
from pe_spectra.cli.program import build_command

COMMANDS = tuple(build_command().commands)
DRAWING = {
    "spectrum": "figures/spectrum.png",
    "reconstruct": "figures/reconstruction.png",
    "faithfulness": "figures/faithfulness.png",
    "count-low-bin": "figures/low_bin_count.png",
}
PNG, SVG, PDF = b"\x89PNG", b"<?xml", b"%PDF"


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def quick_claims(monkeypatch):
    """Grading takes seconds: these tests are about what is around it."""
    words = {name: name for name in ("source", "section", "statement", "printed", "computed", "why", "command")}
    graded = tuple(
        claims.GradedClaim(id=f"claim-{n}", verdict=verdict, expected_verdict="ok", **words)
        for n, verdict in enumerate(("ok", "partly"))
    )
    monkeypatch.setattr(claims, "grade_claims", lambda *_: graded)


# ----------------------------------------------------------------------------------- answers


@pytest.mark.parametrize("command", DRAWING)
def test_an_answer_and_its_figure(cli, tmp_path, command):
    done = cli(f"{command} --d 8")
    assert done.code == 0
    assert done.err.splitlines()[-1] == f"wrote {DRAWING[command]}"
    assert (tmp_path / DRAWING[command]).read_bytes().startswith(PNG)
    verdict = done.out.splitlines()[0]
    assert verdict.endswith(".")
    assert verdict == json.loads(cli(f"{command} --d 8 --json --no-figure").out)["verdict"]["text"]


@pytest.mark.parametrize("command", DRAWING)
def test_formats_agree(cli, command):
    document = cli(f"{command} --d 8 --json --no-figure")
    assert document == cli(f"{command} --d 8 --format json --no-figure")
    rows = read_csv(cli(f"{command} --d 8 --format csv --no-figure").out)
    table = [line.split("\t") for line in cli(f"{command} --d 8 --no-figure").out.splitlines() if "\t" in line]
    assert table[0] == list(rows[0])
    assert len(table) == len(rows) + 1
    for row, cells in zip(rows, table[1:], strict=True):
        words = {"": "-", "True": "yes", "False": "no"}
        assert [words.get(cell, cell) for cell in row.values()] == cells


def test_numbers_have_all_their_digits(cli):
    weights = json.loads(cli("spectrum --json --no-figure").out)["weights"]
    rows = read_csv(cli("spectrum --format csv --no-figure").out)
    assert [float(row["weight"]) for row in rows] == weights
    assert [row["weight"] for row in rows] == [repr(weight) for weight in weights]


@pytest.mark.parametrize("line", ["spectrum --d 256 --rho 10000", "reconstruct --s 5 40 75"])
def test_the_two_lines_of_the_paper_are_the_defaults(cli, line):
    command = line.split()[0]
    assert cli(f"{line} --json --no-figure") == cli(f"{command} --json --no-figure")


def test_defaults_are_those_of_the_paper(cli):
    spectrum = json.loads(cli("spectrum --json --no-figure").out)
    own = {"d": 256, "rho": 10000.0, "layout": "interleaved", "offset": 0, "scale": 1.0}
    assert spectrum["encoding"]["parameters"] == own
    assert spectrum["parameters"] == {"grid": 256, "bandwidth": 4.0, "boundary": "none", "estimator": "kde"}
    reconstruction = json.loads(cli("reconstruct --json --no-figure").out)
    assert reconstruction["parameters"]["s"] == [5, 40, 75]
    assert [panel["encoding"]["name"] for panel in reconstruction["panels"]] == ["sinusoidal", "dft"]
    faithfulness = json.loads(cli("faithfulness --json --no-figure").out)
    assert [row["encoding"]["name"] for row in faithfulness["rows"]] == ["sinusoidal", "dft"]
    assert {row["length"] for row in faithfulness["rows"]} == {80}
    (row,) = json.loads(cli("count-low-bin --json --no-figure").out)["rows"]
    assert (row["inside"], row["total"]) == (76, 128)


def test_options_stand_in_any_order(cli):
    parts = ["--s 5 40", "--encoding sinusoidal", "--d 64", "--bandwidth 1 2", "--json", "--no-figure"]
    lines = [" ".join(order) for order in itertools.permutations(parts)][::36]
    first, *others = [cli(f"reconstruct {line}").out for line in lines]
    assert len(others) > 15
    assert set(others) == {first}


@pytest.mark.parametrize(
    "spelling",
    [
        "--s 5 40 75",
        "--s 5 --s 40 --s 75",
        "--s 5,40,75",
        "--s '5 40 75'",
        "--s=5 40 75",
        "-s 5 40 75",
        "-s5 40 75",
        "--s 5 40 --grid 128 --s 75",
        "--s=5,40 75 --quiet",
        "--s 5:76:35",
    ],
)
def test_spellings_of_positions(cli, spelling):
    document = json.loads(cli(f"reconstruct --d 128 {spelling} --json --no-figure").out)
    assert document["parameters"]["s"] == [5, 40, 75]
    document = json.loads(cli(f"reconstruct --json --no-figure {spelling} --d 128").out)
    assert document["parameters"]["s"] == [5, 40, 75]


def test_default_positions_are_clipped_with_a_note_and_typed_ones_refused(cli, refuse):
    document = json.loads(cli("reconstruct --d 64 --json --no-figure").out)
    assert document["parameters"]["s"] == [5, 40, 63]
    assert any("clipped" in note for note in document["notes"])
    assert "note: the default positions" in cli("reconstruct --d 64 --no-figure").err
    assert refuse("reconstruct --d 64 --s 5 40 75") == ("--s is out of range (75); an integer from 0 to 63 is accepted")


def test_the_smallest_lattice_bounds_the_positions(refuse):
    assert "0 to 7" in refuse("reconstruct -e sinusoidal:d=64 dft:d=8 --s 8")
    assert "0 to 3" in refuse("reconstruct --d 64 --grid 4 --s 4")


def test_limit(cli):
    line = "faithfulness -e dft:d=4 --length 40 --json --no-figure"
    for option, count in (("", 10), ("--limit 3", 3), ("--limit 1000", 36)):
        collisions = json.loads(cli(f"{line} {option}").out)["rows"][0]["collisions"]
        assert collisions["count"] == 4 * 45
        assert len(collisions["examples"]) == count


def test_limit_zero_names_no_pair_and_counts_all(cli):
    line = "faithfulness -e dft:d=4 --length 40 --json --no-figure --limit 0"
    (row,) = json.loads(cli(line).out)["rows"]
    expected = {"count": 180, "distinct": 4, "sharing": 40, "largest": 10, "examples": [], "named": []}
    assert row["collisions"] == expected
    assert row["closest_pair"] == [0, 4]


@pytest.mark.parametrize(
    ("demands", "code"),
    [
        ("injective", 0),
        ("separation>=2.67", 0),
        ("separation>=2.68", 1),
        ("separation>2", 0),
        ("separation<2", 1),
        ("separation<=1e9", 0),
        ("rank>=42", 0),
        ("rank>=43", 1),
        ("rank<43 injective", 0),
        ("rank<43 rank<42", 1),
    ],
)
def test_require(cli, demands, code):
    words = [word for demand in demands.split() for word in ("--require", demand)]
    done = cli("faithfulness -e sinusoidal --json --no-figure", *words)
    assert done.code == code
    document = json.loads(done.out)
    assert any(note.startswith("required but not so: ") for note in document["notes"]) == bool(code)
    several = cli("faithfulness -e sinusoidal --json --no-figure --require", *demands.split())
    assert several == done


def test_require_of_what_collides_or_is_not_known(cli):
    assert cli("faithfulness -e dft:d=4 --length 4 --no-figure --require injective").code == 0
    done = cli("faithfulness -e dft:d=4 --length 5 --no-figure --require injective")
    assert done.code == 1
    assert "Not injective" in done.out
    assert "check failed: required but not so: injective (dft d=4)" in done.err
    assert cli("faithfulness -e dft --length 1 --no-figure --require", "separation>=0").code == 1


@pytest.mark.parametrize("text", ["", "injectiv", "separation", "separation>=", "separation=1", "rank>=x", "rank>=nan"])
def test_refused_requirements(refuse, text):
    assert refuse("faithfulness --require", text).startswith("--require")


def test_claims_and_their_check(cli, quick_claims):
    assert cli("claims").code == 0
    done = cli("claims --check --json")
    assert done.code == 1
    assert json.loads(done.out)["notes"] == ["claim claim-1: recorded ok, computed partly"]
    assert [row["id"] for row in read_csv(cli("claims --format csv").out)] != []


@pytest.mark.slow
def test_figures_and_their_check(cli, refuse, tmp_path):
    done = cli("figures --output f")
    assert done.code == 0
    names = sorted(path.name for path in (tmp_path / "f").iterdir())
    assert names == sorted(line for line in done.out.splitlines() if "." in line and " " not in line)
    assert {"fig1_spectrum.csv", "fig2_reconstruction.svg", "manifest.json"} <= set(names)
    assert cli("figures --check --output f").code == 0
    path = tmp_path / "f" / "fig1_spectrum.csv"
    path.write_text(path.read_text().replace("0.1", "0.2", 1))
    done = cli("figures --check --output f")
    assert done.code == 1
    assert "fig1_spectrum" in done.out.splitlines()[0]
    assert "--output" in refuse("figures --output f/manifest.json")
    assert "--output" in refuse("figures --output", "")


def test_a_missing_file_of_numbers_is_told_in_words(cli):
    done = cli("figures --check --output nothing")
    assert done.code == 1
    assert "None" not in done.out.splitlines()[0]


# ----------------------------------------------------------------------------------- places


@pytest.mark.parametrize(("name", "start"), [("a.png", PNG), ("a.svg", SVG), ("a.PDF", PDF), ("b/a.png", PNG)])
def test_figure(cli, tmp_path, name, start):
    (tmp_path / "b").mkdir()
    done = cli(f"spectrum --d 4 --figure {name}")
    assert done.err == f"wrote {name}\n"
    assert (tmp_path / name).read_bytes().startswith(start)
    assert not (tmp_path / "figures").exists()


def test_no_figure(cli, tmp_path):
    for command in DRAWING:
        cli(f"{command} --d 4 --no-figure")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "-", "a", "a.jpg", "a.png/", "no/a.png", ".png/", "a\0.png", "x" * 300 + ".png"])
def test_refused_figures(refuse, name):
    assert "--figure" in refuse("spectrum --d 4 --figure", name)


def test_a_default_place_that_cannot_be_written_is_a_note(cli, tmp_path):
    (tmp_path / "figures").write_text("a file")
    done = cli("spectrum --d 4 --json")
    assert done.code == 0
    assert json.loads(done.out)["figure"] is None
    assert done.err.startswith("note: no figure is drawn: ")
    assert done.err.count("\n") == 1
    assert cli("spectrum --d 4 --json --quiet").err == ""


def test_output(cli, tmp_path):
    for name, form in (("a.json", "json"), ("a.csv", "csv"), ("a.txt", "table"), ("a.JSON", "json")):
        done = cli(f"spectrum --d 4 --no-figure --output {name}")
        assert (done.out, done.err) == ("", f"wrote {name}\n")
        assert (tmp_path / name).read_text() == cli(f"spectrum --d 4 --no-figure --format {form}").out
    cli("spectrum --d 4 --no-figure --output other.data --format csv")
    assert (tmp_path / "other.data").read_text() == cli("spectrum --d 4 --no-figure --format csv").out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--output ''", "--output is no name of a file"),
        ("--output -", "--output is no name of a file"),
        ("--output a", "--output is no name of a file"),
        ("--output a.xlsx", "--output is no name of a file"),
        ("--output no/a.csv", "no/a.csv: its folder does not exist (--output)"),
        ("--output a.csv --json", "--output contradicts the format (a.csv and json)"),
        ("--output a.json --format table", "contradicts the format"),
        ("--json --format csv", "--json and --format contradict each other"),
        ("--figure a.png --no-figure", "--figure and --no-figure exclude each other"),
        ("--format yaml", "--format is not known (yaml); accepted: table, json, csv"),
        ("--format ''", "--format is not known ('')"),
        ("--color blue", "--color is not known (blue); accepted: auto, always, never"),
        ("--figure a.png --output a.png --format csv", "--figure and --output"),
        ("--d 5 6", "unexpected argument (6); --d takes one value here"),
        ("--d 5 --d 6", "--d is given twice (5 and 6)"),
        ("--d ''", "--d is empty"),
        ("--d 1", "--d is out of range (1); an integer from 2 to 1048576 is accepted"),
        ("--d 256.0", "--d is not an integer (256.0)"),
        ("--d 2_56", "--d is not an integer (2_56)"),
        ("--rho nan", "--rho is not a number (nan)"),
        ("--rho 1e400", "--rho is out of range (1e400)"),
        ("--rho -5", "--rho is out of range (-5)"),
        ("--grid 1", "--grid is out of range (1)"),
        ("--grid ''", "--grid is not an integer ('')"),
        ("--bandwidth 0", "--bandwidth is out of range (0)"),
        ("--bandwidth 1 x", "--bandwidth is not a number (x)"),
        ("--boundary mirror", "--boundary is not known (mirror); accepted: none, reflect"),
        ("-e dft --rho 5", "--rho has no meaning for dft (5)"),
        ("-e dft:d=4 --d 5", "--d contradicts dft:d=4 (5)"),
        ("-e gauss", f"--encoding is not known (gauss); accepted: {', '.join(ENCODING_NAMES)}"),
        ("-e sinusoidl", "did you mean sinusoidal?"),
        ("--limit 5", "no such option (--limit)"),
        ("--bandwith 5", "no such option (--bandwith); did you mean --bandwidth?"),
        ("-x", "no such option (-x)"),
        ("5", "unexpected argument (5)"),
        ("-- 5", "unexpected argument (5)"),
        ("--bandwidth", "--bandwidth has no value"),
        ("--json=1", "--json takes no value (1)"),
        ("--settings none.toml", "none.toml: "),
    ],
)
def test_refused_lines(refuse, options, words):
    assert words in refuse(f"spectrum {options}")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("spectrm", "no such command (spectrm); did you mean spectrum? accepted: "),
        ("count_low_bin", "did you mean count-low-bin?"),
        ("''", "no such command ('')"),
        ("SPECTRUM", "no such command (SPECTRUM)"),
        ("\u0441pectrum", "did you mean spectrum?"),
        ("spectrum -e learned", "table=FILE"),
        ("spectrum -e learned:init=no", "learned: init is not known (no)"),
        ("--versoin", "no such option (--versoin)"),
        ("--json spectrum", "no such option (--json)"),
        ("reconstruct --s", "--s has no value"),
        ("reconstruct --s x", "--s is not an integer (x)"),
        ("reconstruct --s 4.5", "--s is not an integer (4.5)"),
        ("reconstruct --s 9:5", "--s is an empty range (9:5)"),
        ("reconstruct --s 0:9:0", "--s step is out of range (0)"),
        ("reconstruct --s -1", "--s is out of range (-1)"),
        ("reconstruct --s 256", "--s is out of range (256)"),
        ("faithfulness --length 0", "--length is out of range (0)"),
        ("faithfulness --limit -1", "--limit is out of range (-1)"),
        ("faithfulness --d 1048576 --length 1048576", "--d and --length together ask for too much"),
        ("count-low-bin --d 8,,9", "--d has an empty place in its list"),
        ("count-low-bin -e dfstrans --d 5", "an even d"),
        ("figures --grid 1", "--grid is out of range (1)"),
        ("figures --json", "no such option (--json)"),
        ("claims --figure a.png", "no such option (--figure)"),
    ],
)
def test_refused_commands(refuse, line, words):
    assert words in refuse(line)


def test_a_bare_double_dash_ends_the_options(cli):
    assert cli("spectrum --d 4 --no-figure --").code == 0


def test_values_are_shortened_in_messages(refuse):
    for line in ("spectrum --d ", "spectrum --rho ", "reconstruct --s ", "spectrum -e ", "spectrum --format ", ""):
        assert len(refuse(line + "9" * 5000)) < 400


@pytest.mark.parametrize("text", ["\x1b[31m", "a\nb", "a\rb", "\u202ex", "\x9b31m", "a\\b", "\udcff", "\ue000\x07"])
def test_nothing_in_a_message_steers_the_terminal(refuse, text):
    for option in ("--d", "--encoding", "--format", "--figure", "--output", "--settings", "--boundary", "--nonsense"):
        message = refuse("spectrum", option, text)
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", message)


def test_an_internal_fault_is_one_line_and_the_trace_is_on_request(refuse, cli, monkeypatch):
    def fail(**_):
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr("pe_spectra.cli.commands.prepare_run", fail)
    message = refuse("spectrum --d 4")
    assert message.startswith("internal fault, ZeroDivisionError: of ours")
    assert "PE_SPECTRA_DEBUG=1" in message
    done = cli("spectrum --d 4", PE_SPECTRA_DEBUG="1")
    assert done.code == 2
    assert done.out == ""
    assert "Traceback (most recent call last)" in done.err
    assert done.err.splitlines()[-1] == f"error: {message}"


def test_debug_shows_the_trace_of_a_refusal(cli):
    done = cli("spectrum --d x", PE_SPECTRA_DEBUG="1")
    assert done.code == 2
    assert "Traceback" in done.err
    assert done.err.splitlines()[-1].startswith("error: --d is not an integer (x)")


def test_too_little_memory_is_told(refuse, monkeypatch):
    def fail(**_):
        raise MemoryError

    monkeypatch.setattr("pe_spectra.cli.commands.prepare_run", fail)
    assert "not enough memory" in refuse("spectrum --d 4")


def test_an_interrupt_is_130_and_one_line(cli, monkeypatch):
    def interrupt(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pe_spectra.cli.commands.prepare_run", interrupt)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("pe_spectra.cli.streams.silence_stdout", lambda: None)
    done = cli("spectrum --d 4")
    assert (done.code, done.out, done.err) == (130, "", "error: interrupted\n")


# ----------------------------------------------------------------------------------- stderr and colours


def test_quiet(cli):
    for command in DRAWING:
        assert cli(f"{command} -e dft --d 4 --no-figure --quiet").err == ""
    assert cli("spectrum -e dft --d 4 -q --json").err == ""


def test_notes_are_on_stderr_but_for_json(cli):
    line = "spectrum -e dft:d=4 --no-figure"
    assert cli(line).err.startswith("note: dft: ")
    assert cli(f"{line} --format csv").err.startswith("note: dft: ")
    done = cli(f"{line} --json")
    assert done.err == ""
    assert json.loads(done.out)["notes"][0].startswith("dft: ")


def test_colours(cli):
    for command in DRAWING:
        assert "\x1b[" in cli(f"{command} --d 64 --no-figure --color always").out
        for line in ("", "--color never", "--color auto"):
            assert "\x1b" not in cli(f"{command} --d 64 --no-figure {line}", FORCE_COLOR="1").out
        for form in ("json", "csv"):
            plain = cli(f"{command} --d 64 --no-figure --format {form}").out
            assert cli(f"{command} --d 64 --no-figure --format {form} --color always").out == plain


def on_terminal(monkeypatch):
    for module in (run, screen):
        monkeypatch.setattr(module, "is_terminal", lambda _: True)


def test_a_terminal_has_colours_unless_told_otherwise(cli, monkeypatch):
    on_terminal(monkeypatch)
    assert "\x1b[" in cli("spectrum --no-figure").out
    assert "\x1b[" not in cli("spectrum --no-figure", NO_COLOR="1").out
    assert "\x1b[" in cli("spectrum --no-figure", NO_COLOR="").out
    assert "\x1b[" not in cli("spectrum --no-figure --color never").out
    assert "\x1b[" in cli("spectrum --no-figure --color always", NO_COLOR="1").out


def test_full(cli, monkeypatch):
    on_terminal(monkeypatch)
    short = cli("spectrum --no-figure --color never").out
    left_out = re.fullmatch(r"(\d+) (?:more )?rows: --full", short.splitlines()[-1])
    assert 129 - 12 <= int(left_out[1]) <= 129
    whole = cli("spectrum --no-figure --color never --full").out
    assert "rows: --full" not in whole
    assert len(whole.splitlines()) >= len(short.splitlines()) - 1 + int(left_out[1])
    assert "rows: --full" not in cli("count-low-bin --d 4 8 --no-figure --color never").out


def test_a_terminal_is_told_what_to_try_next_and_a_pipe_is_not(cli, monkeypatch):
    assert "next: " not in cli("spectrum --no-figure").err
    on_terminal(monkeypatch)
    line = cli("spectrum --no-figure").err.splitlines()[-1]
    assert line.startswith("next: pe-spectra ")
    assert cli(f"{line.removeprefix('next: pe-spectra ')} --no-figure").code == 0
    assert cli("spectrum --no-figure --quiet").err == ""


@pytest.mark.parametrize("columns", ["20", "40", "0", "80", "1000", "x"])
def test_a_terminal_of_any_width_cuts_no_number(cli, monkeypatch, columns):
    on_terminal(monkeypatch)
    for command in DRAWING:
        text = cli(f"{command} --d 64 --no-figure --color never", COLUMNS=columns).out
        assert "…" not in text
        width = int(columns) if columns.isdigit() and int(columns) else 100
        if width >= 40:
            assert max(len(line) for line in text.splitlines()) <= min(width, 110)
    rows = json.loads(cli("count-low-bin --d 64 --json --no-figure").out)["rows"]
    text = cli("count-low-bin --d 64 --no-figure --color never", COLUMNS=columns).out
    assert f"{rows[0]['crossing']:.6g}" in text


def test_a_stream_that_is_not_utf8_gets_ascii(cli, monkeypatch):
    on_terminal(monkeypatch)
    monkeypatch.setattr(screen, "is_unicode", lambda _: False)
    for command in DRAWING:
        assert cli(f"{command} --d 64 --no-figure").out.isascii()


# ----------------------------------------------------------------------------------- settings and variables


def settle(tmp_path, text, name="s.toml"):
    (tmp_path / name).write_text(text)
    return f"--settings {name}"


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


def list_options():
    for name, command in build_command().commands.items():
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                assert parameter.envvar is None  # a variable would stand in for what is typed
                continue
            yield name, max(parameter.opts, key=len), parameter


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


# ----------------------------------------------------------------------------------- help and the rest


def list_help_lines(cli, command, columns):
    done = cli(f"{command} --help", COLUMNS=str(columns))
    assert (done.code, done.err) == (0, "")
    text, _, examples = done.out.partition("Examples:")
    return text.splitlines(), [line.strip() for line in examples.splitlines() if line.strip()]


@pytest.mark.parametrize("columns", [40, 59, 60, 80, 200])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_the_terminal(cli, command, columns):
    lines, _ = list_help_lines(cli, command, columns)
    assert max(len(line) for line in lines) <= columns
    # what is wrapped is the same text: no word is cut
    wide, _ = list_help_lines(cli, command, 80)
    assert "".join(lines).replace(" ", "") == "".join(wide).replace(" ", "")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_names_every_option_and_no_variable_but_one(cli, command):
    lines, _ = list_help_lines(cli, command, 80)
    text = "\n".join(lines)
    assert cli(f"{command} -h").out == cli(f"{command} --help").out
    for name, option, _ in list_options():
        if name == command:
            assert re.search(rf"^ +(-\w, )?{option} ", text, re.MULTILINE)
    assert text.count("PE_SPECTRA") == (0 if command else 1)


def test_the_program_alone_shows_its_help(cli):
    done = cli("")
    assert done.code == 0
    assert done.out == cli("--help").out
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", done.out, re.MULTILINE)


@pytest.mark.parametrize(
    "command", [pytest.param(c, marks=pytest.mark.slow if c in ("", "figures") else []) for c in ("", *COMMANDS)]
)
def test_examples_in_the_help_run(cli, quick_claims, tmp_path, command):
    _, examples = list_help_lines(cli, command, 80)
    assert examples
    for folder in ("hf", "port"):
        (tmp_path / folder).mkdir()
    model = Path(__file__).with_name("models").joinpath("llama-3.1-8b.json").read_bytes()
    for place in ("config.json", "hf/config.json"):
        (tmp_path / place).write_bytes(model)
    np.save(tmp_path / "port/inv_freq.npy", 1e4 ** (-np.arange(64) / 64))
    for example in examples:
        program, *words = shlex.split(example)
        assert program == "pe-spectra"
        if "figures" in words and "--check" in words and not (tmp_path / "figures/manifest.json").exists():
            cli("figures")
        # their figures are drawn in other tests
        done = cli("", *words, *(["--no-figure"] if words[0] in DRAWING else []))
        # the claims are stand-ins, one of which differs from its record
        assert done.code == (1 if words[:2] == ["claims", "--check"] else 0), (example, done.err)
        assert done.out or words[0] == "export"


def test_version(cli):
    done = cli("--version")
    assert (done.code, done.out, done.err) == (0, f"pe-spectra {__version__}\n", "")


def parse_bibtex(text):
    """Entries of BibTeX: kind, key, and fields whose braces balance."""
    entries, rest = [], text.strip()
    while rest:
        head = re.match(r"@(\w+)\{([\w.:-]+),\s*", rest)
        assert head, rest[:50]
        rest, fields = rest[head.end() :], {}
        while not rest.startswith("}"):
            name = re.match(r"(\w+)\s*=\s*(?=\{)", rest)
            assert name, rest[:50]
            rest = rest[name.end() :]
            depth, end = 0, 0
            for letter in rest:
                depth += {"{": 1, "}": -1}.get(letter, 0)
                end += 1
                if depth == 0:
                    break
            fields[name[1].lower()] = rest[1 : end - 1]
            rest = rest[end:].lstrip(", \n")
        rest = rest[1:].lstrip()
        entries.append((head[1], head[2], fields))
    return entries


def test_cite_is_bibtex(cli):
    done = cli("--cite")
    assert (done.code, done.err) == (0, "")
    entries = parse_bibtex(done.out)
    assert [kind for kind, _, _ in entries] == ["misc", "software"]
    assert len({key for _, key, _ in entries}) == 2
    for _, _, fields in entries:
        assert {"title", "author", "year"} <= set(fields)
    assert entries[0][2]["eprint"] == "2405.09061"
    assert entries[1][2]["version"] == __version__


def test_the_script_is_the_program():
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert 'pe-spectra = "pe_spectra.cli:run_process"' in text
    assert callable(run_process)
