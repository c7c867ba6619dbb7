"""Lines that are refused: one line that names the option and what is accepted."""

import json
import re
import shlex

import numpy as np
import pytest

from pe_spectra.cli.options import ENCODING_NAMES
from pe_spectra.encodings import GivenArray, find_encoding
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.errors import InputError
from pe_spectra.metrics.compare import SYNONYMS, list_columns

# ----------------------------------------------------------------------------------- places


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

    monkeypatch.setattr("pe_spectra.cli.run.prepare_run", fail)
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

    monkeypatch.setattr("pe_spectra.cli.run.prepare_run", fail)
    assert "not enough memory" in refuse("spectrum --d 4")


def test_an_interrupt_is_130_and_one_line(cli, monkeypatch):
    def interrupt(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pe_spectra.cli.run.prepare_run", interrupt)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("pe_spectra.cli.terminal.silence_stdout", lambda: None)
    done = cli("spectrum --d 4")
    assert (done.code, done.out, done.err) == (130, "", "error: interrupted\n")


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("name", ["t.npy", "a b.npy", "w.safetensors"])
def test_weights_are_sent_to_inspect(refuse, tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    message = refuse(f"audit '{name}'")
    assert "is by its name a file of arrays, no configuration: a config.json" in message
    assert f"; pe-spectra inspect {shlex.quote(name)} reads a table of positions" in message


# ----------------------------------------------------------------------------------- times


def test_a_step_goes_with_periods_of_any_encoding(cli):
    done = cli("compare sinusoidal:d=16 --periods day --step 30min")
    assert done.code == 0
    assert "ratio_day: k(lag 48)/k(0), the lag of 1 d\n" in done.out
    assert "--step" not in done.err


def test_the_step_that_is_assumed_is_said(cli):
    done = cli("compare sinusoidal:d=16 dft:d=16 --periods day")
    assert "ratio_day: k(lag 24)/k(0), the lag of 1 d\n" in done.out
    assert "note: --periods: positions are taken to be 1h apart; --step says otherwise\n" in done.err
    assert "1h apart" not in cli("compare sinusoidal:d=16").err


def test_the_step_of_a_calendar_holds_for_all(cli):
    done = cli("compare calendar:step=2h sinusoidal:d=16 --periods day")
    assert "ratio_day: k(lag 12)/k(0), the lag of 1 d\n" in done.out
    assert "apart" not in done.err
    done = cli("compare calendar sinusoidal:d=16 --periods day --step 30min --quiet")
    assert "ratio_day: k(lag 48)/k(0), the lag of 1 d\n" in done.out


def test_all_with_periods_takes_a_step(cli):
    done = cli("compare --all --periods day --step 2h --length 16 --quiet")
    assert done.code == 0
    assert "ratio_day: k(lag 12)/k(0), the lag of 1 d\n" in done.out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("compare sinusoidal --step 1h", "--step has no meaning for sinusoidal (1h); leave it out"),
        ("compare --all --step 1h", "--step has no meaning with --all (1h); leave it out"),
        ("compare --all --periods day --start 2020-01-01", "--start has no meaning with --all (2020-01-01)"),
        ("compare sinusoidal --periods day --step soon", "--step is no duration (soon); a number of ns"),
        (
            "compare calendar:step=30min calendar --periods day",
            "--periods: the time between positions differs (30min, 1h); one step for all of them",
        ),
    ],
)
def test_steps_that_are_refused(refuse, line, says):
    assert refuse(line).startswith(says)


# ----------------------------------------------------------------------------------- files by name


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("inspect 'sin64.npy?rows=1:300'", "sin64.npy: rows are not in the table (1:300); A:B within 0:100"),
        ("inspect sin64.npy --rows 1:300", "--rows are not in the table (1:300); A:B within 0:100 is accepted"),
        ("inspect 'sin64.npy?grid=7x7'", "sin64.npy: grid does not fit the rows (7x7); 100 rows in all"),
        ("inspect 'sin64.npy?prefix=100'", "sin64.npy: prefix leaves no row (100); 0 to 99"),
        ("inspect sin64.npy --d 3", "--d contradicts the given values (3); d=64 is accepted"),
        ("inspect learned:table=sin64.npy,d=3", "sin64.npy: d contradicts the given values (3); d=64 is accepted"),
        ("inspect learned:init=normal,length=9 --rows 1:30", "--rows are not in the table (1:30); A:B within 0:9"),
    ],
)
@pytest.mark.usefixtures("sinusoid_files")
def test_errors_name_the_file(refuse, line, says):
    assert refuse(line).startswith(says)


# ----------------------------------------------------------------------------------- single values


def test_the_encoding_that_limits_positions_is_named(refuse):
    assert refuse("reconstruct -e dft:d=100 sinusoidal:d=64 --s 75") == (
        "--s is out of range (75); an integer from 0 to 63 is accepted, for sinusoidal d=64 rho=10000 has a lattice of "
        "64 points"
    )
    assert refuse("reconstruct -e dft:d=64 sinusoidal:d=64 --s 75").endswith("an integer from 0 to 63 is accepted")
    assert refuse("reconstruct -e dft:d=100 sinusoidal:d=64 --grid 70 --s 75").endswith("from 0 to 69 is accepted")
    assert refuse("reconstruct -e dft:d=100 sinusoidal:d=64 --s x").endswith("an integer from 0 to 63 is accepted")


def test_positions_within_the_shortest_lattice(cli):
    line = "reconstruct -e dft:d=100 sinusoidal:d=64 --no-figure --json"
    asked, default = (json.loads(cli(f"{line} {s}").out) for s in ("--s 63", ""))
    assert asked["parameters"]["s"] == [63]
    assert default["parameters"]["s"] == [5, 40, 63]
    assert [note for note in default["notes"] if note not in asked["notes"]] == [
        "the default positions 5 40 75 do not fit a lattice of 64 points, so they are clipped"
    ]


@pytest.mark.parametrize("command", ["spectrum", "reconstruct --s 3"])
@pytest.mark.usefixtures("sinusoid_files")
def test_a_boundary_that_has_no_effect_is_noted(cli, command):
    note = "note: {}: --boundary none has no effect, for its spectrum is always reflected\n"
    line = f"{command} -e sin64.npy alibi sinusoidal:d=16 --bandwidth 1 4 --no-figure"
    done = cli(f"{line} --boundary none")
    assert [done.err.count(note.format(name)) for name in ("sin64.npy 100 x 64", "alibi heads=8")] == [1, 1]
    assert done.err.count("--boundary") == 2
    assert "--boundary" not in cli(line).err
    assert "--boundary" not in cli(f"{line} --boundary reflect").err
    assert "--boundary" not in cli(f"{command} -e sinusoidal:d=16 --boundary none --no-figure").err


def test_a_boundary_is_read(cli, refuse):
    answers = [cli(f"spectrum --d 8 --no-figure --json {typed}").out for typed in ("", "--boundary none")]
    assert answers[0] == answers[1] != cli("spectrum --d 8 --no-figure --json --boundary reflect").out
    assert refuse("spectrum --boundary ''") == "--boundary is not known (''); accepted: none, reflect"


def test_no_near_miss_is_made_up(refuse):
    assert "did you mean" not in refuse("spectrum --check")
    assert "did you mean --bandwidth? " in refuse("spectrum --bandwith 4")


# ----------------------------------------------------------------------------------- lines of help


@pytest.mark.parametrize(("asked", "nearest"), [("nonsense", ""), ("rank", "stable_rank"), ("separations", "sep")])
def test_a_metric_that_is_not_known_is_answered_in_short(refuse, asked, nearest):
    text = refuse(f"compare dft --sort {asked}")
    assert len(text) <= 400
    assert text.startswith(f"--sort is not known ({asked}); ")
    listed = text.partition("accepted: ")[2].partition(", or another")[0].split(", ")
    assert len(listed) == 10
    known = {*list_columns(), *SYNONYMS}
    assert set(listed) <= known
    assert listed[0].startswith(nearest)
    assert text.endswith(f", or another of {len(known)} (columns of --format csv)")
    assert "did you mean flatness?" in refuse("compare dft --sort flatnes")
    assert "did you mean ratio_day?" in refuse("compare dft --sort ratio_dy --periods day")
    assert refuse("compare dft --sort ratio_day").endswith("(ratio_day); it goes with --periods day")
    assert refuse("compare dft --sort ratio").endswith("--sort is not known (ratio); it goes with --periods")
    several = "--sort is a column of several periods (nearest); nearest_day or nearest_week is accepted"
    assert refuse("compare dft --sort nearest --periods day,week").endswith(several)


def test_a_long_name_of_a_metric_is_refused_at_once(refuse):
    text = refuse(f"compare dft --sort {'low_bin_mass' * 4000}")
    assert "accepted: encoding, random, length, injective, low_bin_mass, " in text
    assert len(text) <= 400


# ----------------------------------------------------------------------------------- other hints


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("faithfulness learned.npy", "unexpected argument (learned.npy); give it with -e: -e learned.npy"),
        ("faithfulness --length 9 'my t.npy'", "give it with -e: -e 'my t.npy'"),
        ("spectrum rope:d=8", "give it with -e: -e rope:d=8"),
        ("spectrum gauss", "unexpected argument (gauss); this command takes options only"),
        ("figures learned.npy", "unexpected argument (learned.npy); this command takes options only"),
        ("precision -e sinusoidal", "no such option (-e); give the SPEC without -e"),
        ("precision -esinusoidal", "give the SPEC without -e"),
        ("inspect --encoding=a.npy", "no such option (--encoding); give the SPEC without -e"),
        ("compare rope -e dft", "give the SPEC without -e"),
        ("claims -e rope", "no such option (-e); accepted: "),
    ],
)
def test_a_spec_in_the_wrong_place(refuse, line, words):
    assert words in refuse(line)


# ----------------------------------------------------------------------------------- the fuzzer of .ci/run


@pytest.mark.parametrize("digits", [400, 5000])
@pytest.mark.parametrize("line", ["export sinusoidal:d=4 --output {}", "spectrum --d 4 --output {}"])
def test_a_name_that_no_file_can_have_is_shortened(refuse, line, digits):
    assert len(refuse(line.format("9" * digits))) < 300


# ----------------------------------------------------------------------------------- commands


def test_a_folder_whose_name_is_too_long_is_refused(refuse):
    assert refuse(f"figures --output {'x' * 400}").endswith("is no possible folder (--output)")


# ----------------------------------------------------------------------------------- encodings


def test_real_positions_need_an_encoding_and_positions():
    with pytest.raises(InputError, match="this encoding takes no real positions"):
        Sampled(encoding=find_encoding("alibi")(), times=GivenArray(np.arange(3.0)))
    with pytest.raises(InputError, match="positions are missing"):
        Sampled(encoding=find_encoding("sinusoidal")())
    three = Sampled(encoding=find_encoding("sinusoidal")(d=8), times=GivenArray(np.array([0.5, 1.5, 2.5])))
    with pytest.raises(InputError, match=r"a position has no row \(3\); 0 to 2 is accepted"):
        three.table([3])
    assert three.bound_error(three.table(3)) < 1e-13
    # of an encoding whose frequencies are not listed, nothing bounds the rounding
    ramp = Sampled(encoding=find_encoding("ramp")(), times=GivenArray(np.array([0.5, 1.5])))
    assert ramp.bound_error(ramp.table(2)) is None
