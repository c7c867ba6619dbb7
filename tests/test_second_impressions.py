"""What a newcomer meets second: counters in tables, ties, times, files by name, options that do nothing."""

import math
import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pe_spectra import Dft, GivenArray, Learned, Sinusoidal, compare_encodings
from pe_spectra.cli.inputs import read_boundary, read_positions
from pe_spectra.cli.moments import read_times
from pe_spectra.errors import FileError, InputError
from pe_spectra.files.tables import read_array
from pe_spectra.records.comparison import answer_comparison
from pe_spectra.sources import build_encodings, has_option
from pe_spectra.spec import FileSpec, parse_spec

LEFT_OUT, READ = "counts the rows and was left out", "counts the rows, but is read as one of the table"


@pytest.fixture
def tables(tmp_path):
    """Two sinusoids of different widths as files."""
    for width in (64, 32):
        codes = [
            [f(p / 10000 ** (i / (width // 2))) for i in range(width // 2) for f in (math.sin, math.cos)]
            for p in range(100)
        ]
        np.save(tmp_path / f"sin{width}.npy", codes)
    return tmp_path


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


# --------------------------------------------------------------------------------- counters


@pytest.mark.parametrize("name", ["pos", "idx", "row", "id", "POS", " Id ", ""])
@pytest.mark.parametrize("start", [0, 1, 7, -2])
def test_a_column_that_counts_the_rows_is_left_out(tmp_path, name, start):
    rows = "".join(f"{start + n},{n * n},{n % 2}\n" for n in range(4))
    found = read_array(write(tmp_path / "t.csv", f"{name},a,b\n{rows}"))
    assert_array_equal(found.values, [[n * n, n % 2] for n in range(4)])
    assert found.values.flags.c_contiguous
    assert not found.values.flags.writeable
    assert len(found.notes) == 1
    assert found.notes[0].endswith(LEFT_OUT)


def test_what_pandas_and_r_write_is_read(tmp_path):
    pandas = read_array(write(tmp_path / "pandas.csv", ",0,1\n0,5,6\n1,7,8\n"))
    assert_array_equal(pandas.values, [[5, 6], [7, 8]])
    assert pandas.notes == (f"column 1 {LEFT_OUT}",)
    r = read_array(write(tmp_path / "r.tsv", '""\t"V1"\n"1"\t5\n"2"\t7\n'))
    assert_array_equal(r.values, [[5], [7]])
    assert_array_equal(read_array(write(tmp_path / "one.csv", ",a\n0,5\n")).values, [[5]])


@pytest.mark.parametrize("column", [(0, 2, 3), (0.5, 1.5, 2.5), (2, 1, 0), (3, 3, 3)])
def test_a_column_that_does_not_count_is_part_of_the_table(tmp_path, column):
    rows = "".join(f"{cell},9\n" for cell in column)
    found = read_array(write(tmp_path / "t.csv", f"pos,a\n{rows}"))
    assert_array_equal(found.values, [[cell, 9] for cell in column])
    assert found.notes == ()
    with pytest.raises(FileError, match=r"line 1 has an empty cell \(1\); over a column that counts the rows"):
        read_array(write(tmp_path / "t.csv", f",a\n{rows}"))


@pytest.mark.parametrize("text", [",\n1,2\n", ",a,\n0,1,2\n"])
def test_other_empty_cells_of_a_first_line_are_refused(tmp_path, text):
    with pytest.raises(FileError, match="line 1 has an empty cell"):
        read_array(write(tmp_path / "t.csv", text))


def test_one_row_does_not_count_from_seven(tmp_path):
    assert_array_equal(read_array(write(tmp_path / "t.csv", "id,a\n7,5\n")).values, [[7, 5]])


@pytest.mark.parametrize(("header", "named"), [("t,a\n", "t"), ("timestamp,a\n", "timestamp"), ("", "1")])
def test_a_counter_under_another_name_is_read_and_noted(tmp_path, header, named):
    found = read_array(write(tmp_path / "t.csv", f"{header}3,8\n4,9\n5,6\n"))
    assert_array_equal(found.values, [[3, 8], [4, 9], [5, 6]])
    assert found.notes == (f"column {named} {READ}; the name position leaves it out",)
    assert read_array(write(tmp_path / "t.csv", f"{header}3,8\n4,9\n")).notes == ()


def test_a_first_line_of_numbers_is_noted_beside_a_counter(tmp_path):
    notes = read_array(write(tmp_path / "t.csv", "0,1\n1,8\n2,9\n")).notes
    assert [READ in note for note in notes] == [True, False]
    assert "read as numbers" in notes[1]


@pytest.mark.parametrize("name", ["position", "pos", "t", "id"])
def test_a_column_alone_is_the_table(tmp_path, name):
    found = read_array(write(tmp_path / "t.csv", f"{name}\n0\n1\n2\n"))
    assert_array_equal(found.values, [[0], [1], [2]])
    assert found.notes == ()
    assert_array_equal(read_times(str(tmp_path / "t.csv")), [0, 1, 2])


def test_inspect_says_what_it_left_out(cli, tmp_path):
    table = np.random.default_rng(5).standard_normal((40, 6))
    rows = "".join(f"{n},{','.join(map(repr, row))}\n" for n, row in enumerate(table.tolist()))
    np.save(tmp_path / "bare.npy", table)
    write(tmp_path / "counted.csv", f"pos,{','.join('abcdef')}\n{rows}")
    bare, counted = cli("inspect bare.npy"), cli("inspect counted.csv")
    assert counted.out == bare.out.replace("bare.npy", "counted.csv")
    assert counted.err.startswith(f"note: column pos {LEFT_OUT}")


# ------------------------------------------------------------------------------------- ties


def make_rows(factors):
    """Tables whose smallest separations are the factors: two codes at that distance."""
    tables = [GivenArray([[0.0, 0.0], [factor, 0.0]], origin=f"t{n}.npy") for n, factor in enumerate(factors)]
    return compare_encodings([Learned(values=table) for table in tables])


@pytest.mark.parametrize("sorted_by", [None, "min_separation"])
@pytest.mark.parametrize(
    ("factors", "says"),
    [
        ((1 + 9e-10, 1.0), "The min_separation of all is the same (1)"),
        ((2.0, 2 + 4e-16, 1.0), "t0.npy 2 x 2 and t1.npy 2 x 2 "),
        ((2.0, 2.0, 2.0, 2.0, 1.0), "t0.npy 2 x 2, t1.npy 2 x 2 and 2 more "),
        ((1 + 3e-9, 1.0), "t0.npy 2 x 2 "),
        ((2.0, 1.0), "t0.npy 2 x 2 "),
    ],
)
def test_one_rule_for_ties(sorted_by, factors, says):
    text = answer_comparison(make_rows(factors), sorted_by).verdict.text
    assert text.startswith(says)
    if not says.startswith("The"):
        rest = text.removeprefix(says)
        be, has = ("are", "have") if " and " in says else ("is", "has")
        assert rest.startswith(f"{be} the best by" if sorted_by else f"{has} the largest")


def test_what_is_no_tie_is_written_apart():
    text = answer_comparison(make_rows((1 + 3e-9, 1.0)), "min_separation").verdict.text
    assert "the largest (1.000000003), t1.npy 2 x 2 the last (1); " in text
    text = answer_comparison(make_rows((1.00004, 1.0)), "min_separation").verdict.text
    assert "the largest (1.00004), t1.npy" in text


@pytest.mark.usefixtures("tables")
def test_a_table_ties_with_its_formula_in_both_orders(cli):
    for more in ("", " --sort min_separation"):
        done = cli(f"compare sin64.npy sinusoidal:d=64 --quiet{more}")
        assert done.out.startswith("The min_separation of all is the same (1.472); none of 2 is known")


# ------------------------------------------------------------------------------------ times


def test_a_step_goes_with_periods_of_any_encoding(cli):
    done = cli("compare sinusoidal:d=16 --periods day --step 30min")
    assert done.code == 0
    assert "sinusoidal, day: k(lag 48) = " in done.out
    assert "--step" not in done.err


def test_the_step_that_is_assumed_is_said(cli):
    done = cli("compare sinusoidal:d=16 dft:d=16 --periods day")
    assert "sinusoidal, day: k(lag 24) = " in done.out
    assert "note: --periods: positions are taken to be 1h apart; --step says otherwise\n" in done.err
    assert "1h apart" not in cli("compare sinusoidal:d=16").err


def test_the_step_of_a_calendar_holds_for_all(cli):
    done = cli("compare calendar:step=2h sinusoidal:d=16 --periods day")
    assert "calendar, day: k(lag 12) = " in done.out
    assert "sinusoidal, day: k(lag 12) = " in done.out
    assert "apart" not in done.err
    done = cli("compare calendar sinusoidal:d=16 --periods day --step 30min --quiet")
    assert "calendar, day: k(lag 48) = " in done.out
    assert "sinusoidal, day: k(lag 48) = " in done.out


def test_all_with_periods_takes_a_step(cli):
    done = cli("compare --all --periods day --step 2h --length 16 --quiet")
    assert done.code == 0
    assert "calendar, day: k(lag 12) = " in done.out
    assert "rope, day: k(lag 12) = " in done.out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("compare sinusoidal --step 1h", "--step has no meaning for sinusoidal (1h); leave it out"),
        ("compare --all --step 1h", "--step has no meaning with --all (1h); leave it out"),
        ("compare --all --periods day --start 2020-01-01", "--start has no meaning with --all (2020-01-01)"),
        ("compare sinusoidal --periods day --step soon", "--step is no duration (soon); a whole number"),
        (
            "compare calendar:step=30min calendar --periods day",
            "--periods: the time between positions differs (30min, 1h); one step for all of them",
        ),
    ],
)
def test_steps_that_are_refused(refuse, line, says):
    assert refuse(line).startswith(says)


def test_which_encodings_take_an_option():
    assert has_option(["dft", "calendar"], "step")
    assert not has_option(["dft", "table.npy"], "step")
    assert has_option(["table.npy"], "rows")
    assert not has_option([], "step")
    with pytest.raises(InputError, match="SPEC is not known"):
        has_option(["no such"], "step", "SPEC")


# ---------------------------------------------------------------------------- real positions


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("p.json", "--positions is no file of a kind that is read here (p.json)"),
        ("p.txt", "--positions is no file of a kind that is read here (p.txt)"),
        ("folder/", "--positions is no file of a kind that is read here (folder/)"),
        ("0:10", "--positions has no step (0:10)"),
        ("0:1:2:3", "--positions is no range (0:1:2:3)"),
        ("times", "--positions is no range (times)"),
        ("", "--positions is no range ('')"),
    ],
)
def test_positions_say_what_is_accepted(text, what):
    with pytest.raises(InputError) as caught:
        read_times(text)
    assert str(caught.value) == (
        f"{what}; A:B:C (from A by C, B left out) or a .npy or .csv file with one column of numbers is accepted"
    )


@pytest.mark.parametrize("name", ["p.npy", "P.NPY", "p.csv"])
def test_positions_of_files(tmp_path, name):
    path = tmp_path / name
    with path.open("wb") as file:
        if name.endswith("csv"):
            file.write(b"0\n0.5\n1\n")
        else:
            np.save(file, [0, 0.5, 1])
    assert_array_equal(read_times(str(path)), [0, 0.5, 1])


# ---------------------------------------------------------------------------- files by name


def test_files_are_called_by_their_names(cli, tables):
    done = cli("compare sin64.npy sin32.npy --periods day --quiet")
    assert "sin64.npy 100 x 64, day: " in done.out
    assert "sin32.npy 100 x 32, day: " in done.out
    done = cli("faithfulness -e sin64.npy sin32.npy --no-figure")
    assert "note: sin64.npy 100 x 64: condition number > 1e15" in done.err
    assert "learned" not in done.err
    np.save(tables / "drift.npy", np.cumsum(np.eye(8), axis=0) * np.arange(1.0, 9.0)[:, np.newaxis])
    done = cli("reconstruct -e sin32.npy drift.npy --s 1 --window-free --no-figure")
    assert "learned" not in done.out + done.err
    assert "kernel: sin32.npy 100 x 32 " in done.out or "sin32.npy 100 x 32: no kernel" in done.err


def test_a_kernel_is_called_by_its_table(cli):
    done = cli("reconstruct -e 'learned:init=normal,d=4,length=9' dft:d=9 --s 1 --window-free --no-figure")
    assert "learned untrained 9 x 4 seed=0" in done.out + done.err
    assert "learned:" not in done.out + done.err


def test_two_of_one_name_are_told_apart(cli):
    done = cli("compare sinusoidal:d=16 sinusoidal:d=32 --periods day --quiet")
    assert "sinusoidal d=16 rho=10000, day: " in done.out
    assert "sinusoidal d=32 rho=10000, day: " in done.out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("inspect 'sin64.npy?rows=1:300'", "sin64.npy: rows are not in the table (1:300); A:B within 0:100"),
        ("inspect sin64.npy --rows 1:300", "--rows are not in the table (1:300); A:B within 0:100 is accepted"),
        ("inspect 'sin64.npy?grid=7x7'", "sin64.npy: grid does not fit the rows (7x7); 100 rows in all"),
        ("inspect 'sin64.npy?prefix=100'", "sin64.npy: prefix leaves no row (100); 0 to 99"),
        ("inspect sin64.npy --d 3", "--d contradicts the table (3); the table has 64 columns"),
        ("inspect learned:table=sin64.npy,d=3", "sin64.npy: d contradicts the table (3); the table has 64 columns"),
        ("inspect learned:init=normal,length=9 --rows 1:30", "--rows are not in the table (1:30); A:B within 0:9"),
    ],
)
@pytest.mark.usefixtures("tables")
def test_errors_name_the_file(refuse, line, says):
    assert refuse(line).startswith(says)


def test_an_array_without_a_file_keeps_its_class():
    with pytest.raises(InputError, match=r"^learned: prefix leaves no row \(2\)"):
        Learned(values=GivenArray([[1.0], [2.0]]), prefix=2)


def test_an_option_is_named_for_a_long_path(tmp_path):
    path = tmp_path / ("long" * 20) / "table.npy"
    os.mkdir(path.parent)
    np.save(path, np.eye(3))
    with pytest.raises(InputError, match=r"^--rows are not in the table \(0:9\)"):
        build_encodings([str(path)], {"rows": ["0:9"]})
    with pytest.raises(InputError, match=r"table\.npy: rows are not in the table \(0:9\)"):
        build_encodings([f"{path}?rows=0:9"], {})


# ----------------------------------------------------------------------------- single values


def test_the_encoding_that_limits_positions_is_named(refuse):
    assert refuse("reconstruct -e dft:d=100 sinusoidal:d=64 --s 75") == (
        "--s is out of range (75); an integer from 0 to 63 is accepted, for sinusoidal d=64 rho=10000 has a lattice of "
        "64 points"
    )
    assert refuse("reconstruct -e dft:d=64 sinusoidal:d=64 --s 75").endswith("an integer from 0 to 63 is accepted")
    assert refuse("reconstruct -e dft:d=100 sinusoidal:d=64 --grid 70 --s 75").endswith("from 0 to 69 is accepted")
    assert refuse("reconstruct -e dft:d=100 sinusoidal:d=64 --s x").endswith("an integer from 0 to 63 is accepted")


def test_positions_within_the_shortest_lattice():
    pair = [Dft(d=100), Sinusoidal(d=64)]
    assert read_positions(["63"], pair, None, None) == ((63,), ())
    positions, notes = read_positions(None, pair, None, None)
    assert positions == (5, 40, 63)
    assert "64 points" in notes[0]


@pytest.mark.parametrize("command", ["spectrum", "reconstruct --s 3"])
@pytest.mark.usefixtures("tables")
def test_a_boundary_that_has_no_effect_is_noted(cli, command):
    note = "note: {}: --boundary none has no effect, for its spectrum is always reflected\n"
    line = f"{command} -e sin64.npy alibi sinusoidal:d=16 --bandwidth 1 4 --no-figure"
    done = cli(f"{line} --boundary none")
    assert [done.err.count(note.format(name)) for name in ("sin64.npy 100 x 64", "alibi heads=8")] == [1, 1]
    assert done.err.count("--boundary") == 2
    assert "--boundary" not in cli(line).err
    assert "--boundary" not in cli(f"{line} --boundary reflect").err
    assert "--boundary" not in cli(f"{command} -e sinusoidal:d=16 --boundary none --no-figure").err


def test_a_boundary_is_read(refuse):
    assert [read_boundary(text) for text in (None, "none", "reflect")] == ["none", "none", "reflect"]
    assert refuse("spectrum --boundary ''") == "--boundary is not known (''); accepted: none, reflect"


def test_no_near_miss_is_made_up(refuse):
    assert "did you mean" not in refuse("spectrum --check")
    assert "did you mean --bandwidth? " in refuse("spectrum --bandwith 4")


def test_one_code_is_one(cli, tmp_path):
    np.save(tmp_path / "zeros.npy", np.zeros((20, 4)))
    assert "share their code with another, 1 code is distinct)" in cli("faithfulness -e zeros.npy --no-figure").out
    np.save(tmp_path / "two.npy", np.repeat(np.eye(2), 3, axis=0))
    assert "2 codes are distinct)" in cli("faithfulness -e two.npy --no-figure").out


def test_a_verdict_begins_in_upper_case(cli):
    assert cli("compare sinusoidal:d=16 --quiet").out.startswith("None of 1 is known to merge positions.")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("UP.NPY", "; ./UP.NPY names a file"),
        ("a::b.npy", "; FILE::TENSOR has :: behind a file's ending"),
        ("UP.NPY::x", ""),
        ("nothing at all", ""),
    ],
)
def test_a_spec_that_may_be_a_file(text, hint):
    with pytest.raises(InputError) as caught:
        parse_spec(text, "SPEC")
    assert str(caught.value) == f"SPEC is not known ({text}); NAME, NAME:key=value,.. or a file is accepted{hint}"
    assert isinstance(parse_spec("./UP.NPY"), FileSpec)


def test_a_variable_with_a_slip_is_noted(cli):
    done = cli("spectrum --no-figure", PE_SPECTRA_SPECTRUM_ROH="500")
    assert done.err.startswith("note: PE_SPECTRA_SPECTRUM_ROH is not known and sets nothing; did you mean ")
