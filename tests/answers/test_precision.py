"""What precision answers: verdicts, the document, tables on terminals."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pe_spectra import vocabulary
from pe_spectra.answers.roundings import answer_precision
from pe_spectra.encodings import GivenArray, Sinusoidal
from pe_spectra.encodings.learned import Learned
from pe_spectra.precision.dtypes import DTYPES, RECIPES
from pe_spectra.precision.staircase import measure_precision
from pe_spectra.vocabulary import COMMON_DTYPES as COMMON
from tests.precision.slowly import find_dtype

STAGES = ["positions", "frequencies", "phases", "sines", "code", "sum"]
KEYS = {
    "dtype",
    "recipe",
    "stage",
    "stage_type",
    "distinct",
    "total",
    "first_collision",
    "max_phase_error",
    "phase_error_bound",
    "constant_channels",
    "not_finite",
    "min_separation",
    "closest_pair",
    "ulp_margin",
}


@pytest.fixture
def ask(cli):
    """Run precision and give its document."""

    def run(line, code=0):
        done = cli(f"precision {line} --json")
        assert done.code == code, done.err
        return json.loads(done.out)

    return run


def test_names_on_the_command_line_are_those_of_the_mathematics():
    assert tuple(DTYPES) == vocabulary.DTYPES
    assert tuple(RECIPES) == vocabulary.RECIPES == tuple(vocabulary.RECIPE_TITLES)


# ----------------------------------------------------------------------------------- verdicts


def test_the_sentence_that_an_engineer_needs(cli):
    done = cli("precision sinusoidal --length 8192 --dtype bfloat16")
    assert done.code == 0
    assert done.out.splitlines()[0] == (
        "In bfloat16 positions 256 and 257 share a vector when positions are cast first (897 of 8,192 distinct); "
        "when computed in float32 and cast at the end, all 8,192 stay distinct."
    )


@pytest.mark.few(7)
@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (
            "sinusoidal --length 200 --dtype bfloat16",
            "all-apart",
            "In bfloat16 all 200 positions stay distinct with each of the 4 recipes.",
        ),
        (
            "sinusoidal --length 200 --dtype bfloat16 --recipe fp32",
            "all-apart",
            (
                "In bfloat16 all 200 positions stay distinct after the sum with an embedding, when the code is kept in "
                "float32."
            ),
        ),
        (
            # a cache of cosines and sines is added to nothing
            "rope:d=64 --length 30 --dtype bfloat16 --recipe fp32",
            "all-apart",
            "All 30 positions stay distinct when the code is kept in float32; nothing is rounded to bfloat16.",
        ),
        (
            "rope:d=64 --length 30 --dtype bfloat16 float32 --recipe fp32",
            "all-apart",
            "In float32 all 30 positions stay distinct when the code is kept in float32; nothing is rounded to bf",
        ),
        (
            "rope:d=64 --length 3000 --dtype bfloat16 --recipe narrow-frequencies narrow-positions",
            "merged-by-rounding",
            "; when frequencies are rounded first, all 3,000 stay distinct.",
        ),
        (
            "dft:d=32 --length 256 --dtype bfloat16",
            "misplaced-by-rounding",
            (
                "when every step is in it (all 256 positions distinct, 32 in exact arithmetic); when positions are "
                "cast first, angles are off by 5e-05 rad at most."
            ),
        ),
        (
            "sinusoidal --length 600 --dtype bfloat16 --recipe all-bf16",
            "merged-by-rounding",
            "when every step is in it",
        ),
        (
            "ramp:length=4096 --length 4096 --dtype float16",
            "merged-by-rounding",
            (
                "positions 1533 and 1534 share a vector after the sum with an embedding, when computed in float32 and "
                "cast at the end (2,304 of 4,096 distinct, 3,073 before it); none of the 3 recipes keeps all distinct."
            ),
        ),
        (
            "sinusoidal --length 100 --dtype float8_e4m3fn --embedding 1000",
            "merged-by-rounding",
            (
                "positions 0 and 1 share a vector after the sum with an embedding, when computed in float32 and cast "
                "at the end (27 of 100 distinct, 100 before it, 100 positions are NaN); none of the 4 recipes "
                "keeps all distinct."
            ),
        ),
        ("sinusoidal --length 1", "all-apart", "nothing to distinguish"),
        ("t5 --length 256 --dtype float32", "not-injective", "in exact arithmetic 511 lags have 31 distinct vectors"),
        (
            "alibi --length 4096 --dtype bfloat16",
            "merged-by-rounding",
            "lags 256 and 257 share a vector when computed in",
        ),
        ("dft:d=64 --length 80 --dtype float64", "not-injective", "in exact arithmetic 80 positions have 64 distinct"),
        (
            "dft:d=64 --length 500 --dtype bfloat16 --recipe bf16-positions",
            "merged-by-rounding",
            (
                "positions 0 and 257 share a vector after the sum with an embedding, when positions are cast first "
                "(64 of 500 distinct, 379 before it, 64 in exact arithmetic)"
            ),
        ),
        (
            "sinusoidal --length 300 --start-position 65536 --dtype bfloat16",
            "merged-by-rounding",
            "positions 65536 and 65537 share a vector when positions are cast first (2 of 300 distinct)",
        ),
        (
            "sinusoidal --length 300 --start-position 65536 --dtype float32",
            "all-apart",
            "In float32 all 300 positions from 65536 on stay distinct with each of the 4 recipes.",
        ),
        ("sinusoidal --length 1 --start-position 65536", "not-finite", "In float16 1 position is NaN when positions"),
        (
            # 10000**(-1/2) and less are nearest to 0 in e4m3fn, and 1 rad is exact: pi is irrational
            "sinusoidal:d=4 --length 300 --dtype float8_e4m3fn --recipe narrow-frequencies",
            "all-apart",
            "In float8_e4m3fn all 300 positions stay distinct when frequencies are rounded first.",
        ),
        (
            # 0.0005 is below half the smallest number, 2**-10: every frequency is 0
            "mtan:d=2,unit=96000 --length 9 --dtype float8_e4m3fn --recipe narrow-frequencies",
            "merged-by-rounding",
            "In float8_e4m3fn positions 0 and 1 share a vector when frequencies are rounded first (1 of 9 distinct)",
        ),
        (
            "sinusoidal --positions 300:310:0.5 --dtype bfloat16",
            "merged-by-rounding",
            "positions 0 and 1 (300 and 300.5) share a vector when positions are cast first",
        ),
        (
            "sinusoidal --length 5000 --dtype bfloat16 --recipe narrow-frequencies",
            "misplaced-by-rounding",
            (
                "In bfloat16 angles are off by up to 6.94 rad, more than half a turn, when frequencies are rounded "
                "first (all 5,000 positions distinct)."
            ),
        ),
        (
            "sinusoidal --length 5000 --dtype bfloat16 --recipe narrow-frequencies fp32",
            "misplaced-by-rounding",
            "(all 5,000 positions distinct); when the code is kept in float32, angles are off by 0.000392 rad at most.",
        ),
        (
            "sinusoidal --length 5000 --dtype bfloat16 --recipe narrow-frequencies narrow-positions",
            "merged-by-rounding",
            "; none of the 2 recipes keeps all distinct and finite, with angles within half a turn.",
        ),
        (
            # from 2**27 on float32 holds every eighth whole number, and the largest frequency is 1 rad
            "sinusoidal --length 1 --start-position 134217732 --dtype float64 bfloat16 --recipe fp32",
            "misplaced-by-rounding",
            "Angles are off by up to 6.79 rad, more than half a turn, already when the code is kept in float32. Other",
        ),
        ("dft:d=8 --length 20 --dtype float8_e4m3fn", "merged-by-rounding", "positions 0 and 17 share a vector when"),
        (
            "sinusoidal --length 4096 --dtype float32 float16 bfloat16",
            "merged-by-rounding",
            "Other types at worst: bfloat16 leaves 769",
        ),
        (
            "sinusoidal --length 300 --dtype bfloat16 --recipe bf16-positions all-bf16",
            "merged-by-rounding",
            "none of the 2 recipes keeps all distinct",
        ),
    ],
)
def test_each_verdict(ask, line, code, words):
    verdict = ask(line)["verdict"]
    assert verdict["code"] == code
    assert verdict["level"] == ("ok" if code == "all-apart" else "warning")
    assert words in verdict["text"]


def test_a_table_that_only_repeats_itself(ask):
    document = ask("dft:d=64 --length 80 --dtype float64 --recipe all-bf16")
    assert document["exact_distinct"] == 64
    assert document["rows"][0]["total"] == 80
    assert any("exact arithmetic" in note for note in document["notes"])


# ----------------------------------------------------------------------------------- the answer


def test_the_document(ask):
    document = ask("sinusoidal:d=64 --length 600 --dtype bfloat16 float16 --recipe fp32-then-cast,all-bf16")
    assert document["kind"] == "precision"
    assert document["encoding"] == {"name": "sinusoidal", "parameters": Sinusoidal(d=64).parameters}
    assert document["parameters"]["length"] == 600
    assert document["parameters"]["dtypes"] == ["bfloat16", "float16"]
    assert [recipe["name"] for recipe in document["parameters"]["recipes"]] == ["fp32-then-cast", "all-bf16"]
    assert document["parameters"]["recipes"][0]["code"] == "dtype"
    assert document["parameters"]["embedding"] == 1.0
    assert document["domain"] == "positions"
    assert [row["stage"] for row in document["rows"]] == STAGES * 4
    assert all(set(row) == KEYS for row in document["rows"])
    merged = next(row for row in document["rows"] if (row["recipe"], row["stage"]) == ("all-bf16", "code"))
    assert merged["first_collision"] == merged["closest_pair"] == [256, 257]
    assert (merged["min_separation"], merged["ulp_margin"]) == (0.0, 0.0)
    assert [row["stage_type"] for row in document["rows"][:6]] == ["float32"] * 4 + ["bfloat16"] * 2
    assert document["figure"] is None


def test_all_types_and_recipes_are_the_default(ask):
    document = ask("sinusoidal:d=8 --length 20")
    assert document["parameters"]["dtypes"] == list(COMMON)
    assert len(document["rows"]) == len(COMMON) * len(vocabulary.COMMON_RECIPES) * len(STAGES)


def test_types_may_be_named_in_every_way(ask):
    spec = "sinusoidal:d=8"
    base = f"{spec} --length 20"
    ways = ["--dtype bfloat16 float16", "--dtype bfloat16 --dtype float16", "--dtype bfloat16,float16"]
    ways.append("--dtype 'bfloat16 float16'")
    assert len({json.dumps(ask(f"{base} {way}")["rows"]) for way in ways}) == 1
    assert ask(f"--dtype bfloat16 float16 -S 20 {spec}")["rows"] == ask(f"{base} {ways[0]}")["rows"]


def test_the_width_may_be_an_option(ask):
    document = ask("sinusoidal --d 32 --rho 100 --length 20 --dtype float16")
    assert document["encoding"]["parameters"]["d"] == 32


def test_csv_and_text_hold_the_same_rows(cli, ask):
    line = "precision sinusoidal:d=8 --length 300 --dtype bfloat16 --recipe all-bf16"
    (rows, text) = (list(csv.DictReader(io.StringIO(cli(f"{line} --format csv").out))), cli(line).out)
    document = ask(line.partition(" ")[2])
    assert [row["stage"] for row in rows] == STAGES
    assert [int(row["distinct"]) for row in rows] == [row["distinct"] for row in document["rows"]]
    assert rows[0]["first_collision"] == "256 257"
    table = [cells for cells in (piece.split("\t") for piece in text.splitlines()) if len(cells) == len(KEYS)]
    assert table[0] == list(rows[0])
    assert [cells[table[0].index("distinct")] for cells in table[1:]] == [row["distinct"] for row in rows]


def test_a_terminal_shows_the_staircase(cli, monkeypatch):
    done = cli("precision sinusoidal --length 8192 --dtype bfloat16 --color always")
    assert (
        "share of distinct vectors among the first n positions, n on a log axis   bfloat16, narrow-positions"
        in done.out
    )
    assert "897 of 8,192 (256 = 257) with narrow-positions and all-narrow; all 8,192 with fp32" in " ".join(
        re.sub(r"\x1b\[[0-9;]*m", "", done.out).split()
    )


@pytest.fixture
def on_terminal(monkeypatch, cli):
    """Run precision as on a terminal of 80 columns and give its table, line by line."""

    def run(line):
        monkeypatch.setenv("COLUMNS", "80")
        text = re.sub(r"\x1b\[[0-9;]*m", "", cli(f"precision {line} --color always").out)
        assert max(map(len, text.splitlines())) <= 80
        return text.rstrip("\n").split("\n\n")[-1].splitlines()

    return run


@pytest.mark.slow
def test_a_narrow_terminal_has_a_line_for_each_type(on_terminal, cli):
    lines = on_terminal("sinusoidal --length 8192 --dtype bfloat16 float16")
    assert lines[-1].endswith("48 rows: --full")
    spaced = cli("precision sinusoidal --length 8192 --dtype bfloat16 float16").out.splitlines()
    stages = [line.split("\t")[2] for line in spaced if line.startswith(("bfloat16\t", "float16\t"))]
    assert stages == STAGES * 8


def test_a_full_table_is_in_the_order_of_the_steps(cli):
    text = cli("precision sinusoidal:d=8 --length 600 --dtype bfloat16 --recipe all-bf16 --full --color always").out
    seen = re.findall(rf"^bfloat16 +({'|'.join(STAGES)})", text, re.MULTILINE)
    assert seen == STAGES


@pytest.mark.few(1)
@pytest.mark.parametrize("line", ["sinusoidal -S 30000 --dtype float8_e4m3fnuz", "alibi -S 5000", "t5", "ramp"])
def test_tables_of_all_sizes_are_tables(on_terminal, line):
    lines = on_terminal(f"{line} --full")
    assert "dtype" in " ".join(one for one in lines if not one.startswith(("each row:", "  "))).split()


def test_positions_that_overflow_are_counted_in_the_verdict(ask):
    line = "sinusoidal --length 600 --dtype float8_e4m3fn bfloat16 --recipe bf16-positions"
    assert ask(line)["verdict"]["text"] == (
        "In float8_e4m3fn positions 16 and 17 share a vector when positions are cast first (56 of 600 distinct, "
        "135 positions are NaN). Other types at worst: bfloat16 leaves 407 distinct."
    )
    line = line.replace("float8_e4m3fn bfloat16", "bfloat16 float8_e4m3fn")
    assert ask(line)["verdict"]["text"].endswith(
        "Other types at worst: float8_e4m3fn leaves 56 (135 positions are NaN) distinct."
    )


def test_a_code_beyond_a_type_is_infinite_and_the_sine_of_an_infinite_position_is_nan(cli, ask):
    line = "sinusoidal:d=8,scale=100000 --length 80 --dtype float16 --recipe fp32-then-cast"
    assert "80 positions are not finite when" in ask(line)["verdict"]["text"]
    assert "RuntimeWarning" not in cli(f"precision {line}").err
    line = "sinusoidal:d=8 --length 9 --start-position 65536 --dtype float16 --recipe narrow-positions"
    assert "9 positions are NaN" in ask(line)["verdict"]["text"]


def test_a_single_overflow_is_no_success(ask, tmp_path):
    np.save(tmp_path / "large.npy", np.array([[1.0, 2], [3, 4], [5, 1e5]]))
    verdict = ask("large.npy --dtype float16")["verdict"]
    assert (verdict["code"], verdict["level"]) == ("not-finite", "warning")
    assert verdict["text"] == (
        "In float16 1 position is not finite when computed in float32 and cast at the end; none of the 2 "
        "recipes keeps all distinct and finite."
    )
    text = ask("large.npy --dtype float16 float8_e4m3fn")["verdict"]["text"]
    assert text.endswith("Other types at worst: float8_e4m3fn leaves 3 (1 position is NaN) distinct.")


def test_what_was_infinite_before_a_sum_that_saturates_is_lost(ask, cli, tmp_path):
    np.save(tmp_path / "huge.npy", np.array([[1e308, 1], [-1e308, 2], [3, 4]]))
    line = "huge.npy --dtype float32 float8_e5m2-saturating"
    assert "float8_e5m2-saturating leaves 3 (2 positions are not finite before the sum)" in ask(line)["verdict"]["text"]
    done = cli("precision huge.npy --dtype float8_e5m2-saturating --require injective")
    assert (done.code, "(float8_e5m2-saturating, fp32)" in done.err) == (1, True)
    assert "all 3 (2 positions are not finite before the sum) with fp32; all 3 with fp32-then-cast" in done.out


def round_slowly(table, name, recipe, spread):
    """Code and sum of a table, by ml_dtypes: how many rows are distinct, which two merge, how many are not finite."""
    token = np.random.Generator(np.random.PCG64(0)).standard_normal(table.shape[1]) * spread

    def cast(values):
        most = DTYPES[name].largest if DTYPES[name].saturates else np.inf
        return np.clip(values, -most, most).astype(find_dtype(name)).astype(np.float32)

    with np.errstate(all="ignore"):
        code = table.astype(np.float32) if recipe == "fp32" else cast(table.astype(np.float32))
        total = cast(code + cast(token))
    found = {}
    for stage, rows in (("code", code), ("sum", total)):
        keys = [tuple(map(repr, row + 0.0)) for row in rows.astype(float)]
        pairs = [(keys.index(key), t) for t, key in enumerate(keys)]
        merged = next((f"{s} and {t}" for s, t in pairs if (table[s] != table[t]).any()), None)
        found[stage] = (len(set(keys)), merged, int((~np.isfinite(rows)).any(axis=1).sum()))
    return found


def check_fact(said, left, size):
    """How many vectors are left at the last stage, recipe by recipe; those that leave the same stand together."""
    clauses = [clause.partition(" with ") for clause in said.split("; ")]
    for recipe, (end, code) in left.items():
        named = [clause for clause in clauses if recipe in re.split(", | and | after ", clause[2])]
        (what, _, _), after = named[0] if named else clauses[0], " after the sum with an embedding"
        everything = f"all {size}" if size > 1 else "1 of 1"
        assert what.startswith(everything if end[0] == size else f"{end[0]} of {size}")
        assert (" = " in what) == (end[0] < size)
        assert named or len(clauses) == 1
        where = said if len(clauses) == 1 else "".join(named[0])
        assert (after in where) == (end[0] < code[0])


@given(data=st.data())
def test_the_verdict_is_about_the_last_stage_and_names_it(data):
    size, width = data.draw(st.integers(1, 24)), data.draw(st.integers(1, 3))
    draw, scale = np.random.default_rng(data.draw(st.integers(0, 999))), 10.0 ** data.draw(st.integers(-3, 3))
    table = (draw.normal(size=(size, width)) * scale).round(data.draw(st.integers(0, 4))) + 0.0
    table[: data.draw(st.sampled_from([0, 0, 1, 3])), 0] *= data.draw(st.sampled_from([1e39, -1e39]))
    names = ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", *(name for name in DTYPES if "saturating" in name)]
    name, spread = data.draw(st.sampled_from(names)), data.draw(st.sampled_from([1.0, 300.0, 1e6]))
    recipes = data.draw(st.sampled_from([["fp32"], ["fp32-then-cast"], ["fp32", "fp32-then-cast"]]))
    report = measure_precision(Learned(values=GivenArray(table)), dtypes=[name], recipes=recipes, embedding=spread)
    answer, left = answer_precision(report), {one: round_slowly(table, name, one, spread) for one in recipes}
    verdict = answer.verdict
    check_fact(dict(answer.facts)[name], {one: (of["sum"], of["code"]) for one, of in left.items()}, size)
    is_exact = len(np.unique(table, axis=0)) == size
    # what was infinite before a sum that saturates is lost
    ends = {one: (*of["sum"][:2], max(of["code"][2], of["sum"][2])) for one, of in left.items()}
    keeps = [one for one, (_, merged, odd) in ends.items() if merged is None and not odd]
    assert (len(keeps) < len(recipes)) == (verdict.level == "warning" and verdict.code != "not-injective")
    if len(keeps) == len(recipes):
        assert verdict.code == ("all-apart" if is_exact else "not-injective")
        return
    assert ("stay distinct" in verdict.text or "only those merge" in verdict.text) == bool(keeps)
    text = re.split(r"; | Other types", verdict.text)[0]
    worst = next(one for one in reversed(recipes) if RECIPES[one].when in text)
    at_sum, last = "after the sum with an embedding, when" in text, ends[worst]
    assert at_sum == (left[worst]["code"][1:] != last[1:])
    assert (f"ositions {last[1]} share a vector" in text) == (last[1] is not None)
    assert last[1] is None or f"({left[worst]['sum' if at_sum else 'code'][0]} of {size} distinct" in text
    assert re.findall("([0-9]+) positions? (?:is|are) ", text) == [str(last[2])] * (last[2] > 0)
    assert (" before the sum" in text) == (at_sum and left[worst]["sum"][2] < last[2])


@given(data=st.data())
def test_what_is_said_of_angles_is_what_rounding_makes_of_them(data):
    d, length = data.draw(st.sampled_from([2, 3, 8, 16])), data.draw(st.sampled_from([1, 2, 300, 1500]))
    start, name = data.draw(st.sampled_from([0, 0, 700, 40000])), data.draw(st.sampled_from(["bfloat16", "float16"]))
    rho, together = data.draw(st.sampled_from([3.0, 10.0, 10000.0])), data.draw(st.booleans())
    asked = {"length": length, "start_position": start, "dtypes": [name]}
    recipes = ["fp32", "narrow-frequencies"] if together else ["narrow-frequencies"]
    report = measure_precision(Sinusoidal(d=d, rho=rho), recipes=recipes, **asked)
    verdict, merges = answer_precision(report).verdict, any(row.distinct < row.total for row in report.rows)
    exact = rho ** (-np.arange(0, d, 2) / d)
    kind, positions = find_dtype(name), np.arange(start, start + length)[:, None]
    rounded = np.float32(positions) * exact.astype(np.float32).astype(kind).astype(np.float32)
    error = np.abs(rounded.astype(float) - positions * exact).max()
    assert verdict.code == ("merged" if merges else "misplaced" if error > np.pi else "all-apart").replace(
        "ed", "ed-by-rounding"
    )
    if verdict.code == "misplaced-by-rounding":
        places = f"{length:,} positions{f' from {start} on' if start else ''}"
        assert verdict.text.startswith(f"In {name} angles are off by up to {error:.3g} rad, more than half a turn,")
        assert (f"(all {places} distinct)" in verdict.text) == (length > 1)
        kept = re.search(r"when the code is kept in float32, angles are off by (\S+) rad at most", verdict.text)
        assert (kept is not None) == together
        assert kept is None or float(kept[1]) == 0 or 1e-9 < float(kept[1]) < 0.01
        assert ("none of" in verdict.text) is False


def test_more_than_half_a_turn_is_said():
    """Pair 3 of this ladder is off by 3.91 rad at position 40,001: more than half a turn, less than a whole one."""
    asked = {"recipes": ["narrow-frequencies"], "length": 2, "start_position": 40000, "dtypes": ["bfloat16"]}
    verdict = answer_precision(measure_precision(Sinusoidal(d=8), **asked)).verdict
    assert verdict.code == "misplaced-by-rounding"
    assert "angles are off by up to 3.91 rad, more than half a turn," in verdict.text


def test_the_step_that_merges_is_blamed(ask, tmp_path):
    """Two rows that differ in the last bit of a double are one in float32, before any cast to the type."""
    table = np.random.default_rng(0).normal(size=(512, 8))
    table[493] = table[11]
    table[493, 3] = np.nextafter(table[11, 3], 9)
    np.save(tmp_path / "table.npy", table)
    assert ask("table.npy --dtype bfloat16")["verdict"]["text"] == (
        "Positions 11 and 493 share a vector already when the code is kept in float32 (511 of 512 distinct); "
        "none of the 2 recipes keeps all distinct."
    )
    assert ask("table.npy --dtype float32")["verdict"]["text"].startswith("In float32 positions 11 and 493 share")
    table[400] = table[2] * (1 + 1e-5)  # the cast to bfloat16 merges these first
    np.save(tmp_path / "table.npy", table)
    text = ask("table.npy --dtype bfloat16")["verdict"]["text"]
    assert text.startswith(
        "In bfloat16 positions 2 and 400 share a vector when computed in float32 and cast at the end"
    )


def test_what_a_recipe_does_is_said(cli, ask):
    help_text = " ".join(cli("precision --help").out.split())
    assert (
        "which steps are in the type: none but the sum; frequencies; only the final cast; positions first" in help_text
    )
    notes = ask("sinusoidal:d=8 --length 20 --dtype float16")["notes"]
    assert "in JSON and CSV narrow-positions is bf16-positions and all-narrow is all-bf16, whatever the type" in notes
    assert any(note.startswith("fp32: the code is kept in float32") for note in notes)
    assert any("standard deviation 1, the same at every position" in note for note in notes)


def test_a_larger_embedding_leaves_less_of_a_code(ask):
    counts = []
    for spread in ("16", "100", "1000"):
        line = f"sinusoidal:d=64 --length 3000 --dtype bfloat16 --recipe fp32-then-cast --embedding {spread}"
        counts.append(ask(line)["rows"][-1])
    assert [row["stage"] for row in counts] == ["sum"] * 3
    assert counts[0]["constant_channels"] < counts[1]["constant_channels"] < counts[2]["constant_channels"]
    assert counts[0]["ulp_margin"] > counts[1]["ulp_margin"]


def test_a_file_is_only_cast(ask, tmp_path):
    table = np.random.default_rng(0).normal(size=(40, 6))
    table[9] = table[4] * (1 + 1e-5)
    np.save(tmp_path / "table.npy", table)
    document = ask("table.npy --dtype bfloat16 float32")
    found = {(row["dtype"], row["recipe"], row["stage"]): row for row in document["rows"]}
    assert found["bfloat16", "fp32-then-cast", "code"]["first_collision"] == [4, 9]
    assert found["float32", "fp32-then-cast", "code"]["distinct"] == 40
    assert {stage for _, _, stage in found} == {"code", "sum"}


# ----------------------------------------------------------------------------------- requirements


def test_what_rounding_alone_tells_apart_is_not_injective(cli, ask):
    """Positions 8 apart share a vector of the DFT encoding; rounded phases differ, and so do computed codes."""
    line = "dft:d=8 --length 30 --dtype float64 --recipe fp32-then-cast"
    document = ask(line)
    assert (document["exact_distinct"], document["verdict"]["code"]) == (8, "not-injective")
    assert [row["distinct"] for row in document["rows"] if row["stage"] == "code"] == [30]
    done = cli(f"precision {line} --require injective")
    assert done.code == 1
    assert "required: injective; found: not injective (float64, fp32-then-cast)" in done.err
