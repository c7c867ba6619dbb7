"""What inspect answers: the first line, the rows meant, findings that name their rows."""

import json
from dataclasses import replace

import numpy as np
import pytest

from pe_spectra import Learned, Sinusoidal, read_encoding
from pe_spectra.answers.portraits import answer_portrait, entitle_portrait
from pe_spectra.inspection import RowFinding
from pe_spectra.inspection.portrait import draw_portrait
from pe_spectra.inspection.row_findings import order_findings
from tests import planted
from tests.files.forms import write
from tests.making import draw_table

# ----------------------------------------------------------------------------------- inspect


def test_inspect_finds_signed_spectra(cli, previous_heads):
    done = cli(f"inspect {previous_heads} --fail-on warning --json")
    document = json.loads(done.out)
    (finding,) = document["findings"]
    assert (finding["level"], finding["code"], finding["rows"]) == ("warning", "no-shares", [])
    assert document["verdict"]["code"] == "no-shares"
    assert "larger at lag 1 than at lag 0" in document["verdict"]["text"]
    assert done.code == 1
    text = cli(f"inspect {previous_heads}").out
    assert "spectrum: centroid - (negative weights)\n" in text
    assert "effective bins" not in text.replace("number of bins", "")


# ----------------------------------------------------------------------------------- parts of tables


def test_a_portrait_says_that_it_is_of_the_first_rows(cli, learned):
    document = json.loads(cli("inspect learned.npy --length 128 --json").out)
    assert document["notes"] == ["the first 128 of 512 rows are looked at; without --length all are"]
    done = cli("inspect learned.npy --length 128")
    assert done.out.startswith("learned.npy 512 x 64, first 128 rows: ")
    assert f"note: {document['notes'][0]}\n" in done.err
    assert entitle_portrait(draw_portrait(read_encoding("sinusoidal:d=8"), length=16)).startswith("sinusoidal d=8 ")
    whole = json.loads(cli("inspect learned.npy --json").out)
    assert whole["notes"] == []
    assert whole["verdict"]["text"].startswith("learned.npy 512 x 64: ")


def test_the_first_rows_are_those_of_the_file(cli, learned):
    """Which rows of the file are meant is the same, whether --length or --rows chose them."""
    part = json.loads(cli("inspect 'planted.npy?rows=50:' --length 350 --json").out)
    same = json.loads(cli("inspect 'planted.npy?rows=50:400' --json").out)
    for key in ("rows_used", "findings", "metrics", "dominant_periods"):
        assert part[key] == same[key], key
    assert part["rows_used"] == [50, 400]
    assert part["findings"][0]["rows"] == [77, 200]


# ----------------------------------------------------------------------------------- rows used


@pytest.mark.slow
def test_lines_about_other_rows_than_those_used_say_so(planted_table, trained_table):
    answer = answer_portrait(draw_portrait(Learned(values=planted_table)))
    facts = dict(answer.facts)
    assert facts["rows used"] == "0 to 399"
    assert facts["spectrum"].endswith(" effective bins (all 512 rows)")
    assert answer.drawing.title.endswith(" (all 512 rows)")
    answer = answer_portrait(draw_portrait(Learned(values=planted_table), length=450))
    assert dict(answer.facts)["rows used"] == "0 to 399"
    assert dict(answer.facts)["spectrum"].endswith(" effective bins (first 450 rows)")
    for one in (Learned(values=trained_table), Sinusoidal(d=64)):
        answer = answer_portrait(draw_portrait(one))
        assert dict(answer.facts)["spectrum"].endswith(" effective bins")
        assert "rows)" not in answer.drawing.title


# ----------------------------------------------------------------------------------- findings


def make_finding(level, code, *rows):
    return RowFinding(level=level, code=code, message=f"{code}.", rows=rows)


def test_the_gravest_finding_stands_first_and_of_equals_the_one_with_most_rows():
    findings = [
        make_finding("note", "constant-rows", (0, 99)),
        make_finding("warning", "duplicate-rows", 77, 200),
        make_finding("warning", "untrained-tail", (400, 511)),
        make_finding("warning", "seam", 5, 6),
        make_finding("error", "zero-columns"),
    ]
    ordered = [finding.code for finding in order_findings(findings)]
    assert ordered == ["zero-columns", "untrained-tail", "duplicate-rows", "seam", "constant-rows"]


def test_the_first_line_names_the_tail_and_the_codes_of_the_rest(cli, learned, planted_table):
    document = json.loads(cli("inspect planted.npy --json").out)
    assert [finding["code"] for finding in document["findings"]] == ["duplicate-rows", "untrained-tail"]
    assert document["verdict"]["code"] == "untrained-tail"
    text = document["verdict"]["text"]
    assert text.startswith("planted.npy 512 x 64: Rows 400 to 511 (112 of 512) are as before training")
    assert text.endswith(" Also: rows 77 and 200 are not unique.")
    assert "Rows 400 to 511" in entitle_portrait(draw_portrait(Learned(values=planted_table)))


def test_the_rest_of_the_findings_is_said_in_a_clause_each(trained_table):
    portrait = draw_portrait(Learned(values=trained_table))
    findings = (
        make_finding("warning", "seam", 9, 10),
        make_finding("warning", "seam", 99, 100),
        make_finding("warning", "duplicate-rows", (3, 9)),
        make_finding("warning", "stray-rows", 3),
    )
    shown = replace(portrait, inspection=replace(portrait.inspection, findings=findings))
    also = "Also: a seam lies between rows 9 and 10; a seam lies between rows 99 and 100; row 3 breaks the sequence"
    assert answer_portrait(shown).verdict.text.endswith(f"duplicate-rows. {also}.")
    thrice = (*findings, make_finding("note", "seam", 5, 6))
    shown = replace(portrait, inspection=replace(portrait.inspection, findings=thrice))
    assert answer_portrait(shown).verdict.text.endswith(f"{also}; a seam lies between rows 5 and 6.")


# ----------------------------------------------------------------------------------- what was not looked at


@pytest.mark.parametrize(
    ("table", "why"), [(np.ones((1, 3)), "a single row, with no other to compare it with"), (1.7e308, "see the notes")]
)
def test_rows_that_were_not_looked_at_are_not_called_ordinary(cli, tmp_path, table, why):
    np.save(tmp_path / "t.npy", np.broadcast_to(table, (12, 3)) if np.ndim(table) == 0 else table)
    verdict = json.loads(cli(f"inspect {tmp_path / 't.npy'} --json").out)["verdict"]
    assert (verdict["level"], verdict["code"]) == ("note", "rows-not-looked-at")
    assert verdict["text"].endswith(f": its rows were not looked at one by one ({why}).")


# ----------------------------------------------------------------------------------- one and many


def test_a_first_row_and_a_pair_are_no_plurals(cli, tmp_path):
    np.save(tmp_path / "t.npy", draw_table(9, 2))
    assert "9 x 2, first row: " in cli(f"inspect {tmp_path / 't.npy'} --length 1").out
    assert "9 x 2, first 2 rows: " in cli(f"inspect {tmp_path / 't.npy'} --length 2").out
    scaling = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 256}
    config = {"model_type": "llama", "head_dim": 6, "hidden_size": 12, "num_attention_heads": 2}
    config |= {"max_position_embeddings": 512, "rope_theta": 100.0, "rope_scaling": scaling}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert "1 pair kept, 1 blended" in cli(f"diff {tmp_path / 'config.json'} --stack yarn-paper").out


LEFT_OUT, READ = "counts the rows and was left out", "counts the rows, but is read as one of the table"


# ----------------------------------------------------------------------------------- counters


def test_inspect_says_what_it_left_out(cli, tmp_path):
    table = np.random.default_rng(5).standard_normal((40, 6))
    rows = "".join(f"{n},{','.join(map(repr, row))}\n" for n, row in enumerate(table.tolist()))
    np.save(tmp_path / "bare.npy", table)
    write(tmp_path / "counted.csv", f"pos,{','.join('abcdef')}\n{rows}")
    bare, counted = cli("inspect bare.npy"), cli("inspect counted.csv")
    assert counted.out == bare.out.replace("bare.npy", "counted.csv")
    assert counted.err.startswith(f"note: column pos {LEFT_OUT}")


# ----------------------------------------------------------------------------------- single values


def test_a_verdict_begins_in_upper_case(cli):
    assert cli("compare sinusoidal:d=16 --quiet").out.startswith("No collisions found.")


def inspect(cli, tmp_path, table, keys=""):
    """Inspect a table on the command line; give the document."""
    path = tmp_path / "table.npy"
    np.save(path, table.astype(np.float32))
    done = cli(f"inspect {path}{keys} --json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def list_codes(document):
    return {finding["code"]: finding for finding in document["findings"]}


def test_a_class_row_before_a_grid_is_named_and_no_seam_is(cli, tmp_path):
    table = planted.plant_cls(np.vstack([np.zeros((1, 96)), planted.make_grid(14, 14, 96, seed=2)]), seed=2)
    for keys in ("", "?prefix=1", "?grid=14x14,prefix=1"):
        document = inspect(cli, tmp_path, table, keys)
        assert document["grid"] == [14, 14], keys
        assert "seam" not in list_codes(document)
        assert not any(abs(period["period"] - 14) < 0.5 for period in document["dominant_periods"])


def test_a_grid_without_a_class_row(cli, tmp_path):
    document = inspect(cli, tmp_path, planted.make_grid(14, 14, 96, seed=4))
    assert document["grid"] == [14, 14]
    assert document["findings"] == []


def test_a_rectangular_grid_is_taken_when_named(cli, tmp_path):
    document = inspect(cli, tmp_path, planted.make_grid(2, 8, 64, seed=4), "?grid=2x8")
    assert document["grid"] == [2, 8]
    assert "seam" not in list_codes(document)


def test_periods_are_found(cli, tmp_path):
    document = inspect(cli, tmp_path, planted.make_periodic(1024, 256, seed=5))
    found = [period["period"] for period in document["dominant_periods"]]
    for wanted in (500, 164, 54.6, 18.2, 6.1):
        assert min(abs(period / wanted - 1) for period in found) < 0.02, (wanted, found)
    assert len(found) == 5


def test_a_seam_has_its_rows(cli, tmp_path):
    table = planted.plant_seam_jump(planted.make_trained(512, 128, seed=6), 127, seed=6)
    seam = list_codes(inspect(cli, tmp_path, table))["seam"]
    assert seam["rows"] in ([127, 128], [[127, 128]])


def test_fail_on_a_finding(cli, tmp_path):
    path = tmp_path / "copies.npy"
    np.save(path, planted.plant_copies(planted.make_trained(128, 32, seed=1)))
    done = cli(f"inspect {path} --fail-on note")
    assert done.code == 1
    assert "check failed" in done.err
    assert cli(f"inspect {path}").code == 0


# ----------------------------------------------------------------------------------- numbers in words


def test_a_learned_table_of_unknown_length_is_said_to_be_one(cli, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"position_embedding_type": "absolute", "n_embd": 64}), "utf-8")
    answer = json.loads(cli("audit config.json --json").out)
    assert "a table of positions whose number of rows is not stated" in json.dumps(answer["verdict"])
