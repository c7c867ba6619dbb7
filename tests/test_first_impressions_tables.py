"""What `compare` and `inspect` say first of a table is true: which rows it is of, and what is gravest."""

import csv
import io
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra import Learned, Sinusoidal, compare_encodings, read_encoding
from pe_spectra.compare import COMPARED, sort_comparisons
from pe_spectra.inspection import RowFinding
from pe_spectra.inspection.findings import order_findings
from pe_spectra.metrics.rank import measure_ranks
from pe_spectra.plots.inspection_words import entitle_portrait
from pe_spectra.portrait import draw_portrait
from pe_spectra.records.comparison import answer_comparison
from pe_spectra.records.inspection import answer_portrait
from pe_spectra.spectrum import measure_toeplitz_share
from tests.planted import make_trained, plant_cls, plant_tail


@pytest.fixture(scope="module")
def trained():
    return make_trained(512, 64)


@pytest.fixture(scope="module")
def planted(trained):
    """Two equal rows, and 112 rows of 512 that training never reached."""
    table = plant_tail(trained, 400)
    table[200] = table[77]
    return table


@pytest.fixture
def learned(tmp_path, trained, planted):
    np.save(tmp_path / "learned.npy", trained)
    np.save(tmp_path / "planted.npy", planted)


@pytest.fixture
def terminal(monkeypatch):
    from pe_spectra.cli import run, screen

    for module in (run, screen):
        monkeypatch.setattr(module, "is_terminal", lambda _: True)


# ----------------------------------------------------------------------------------- parts of tables


def test_a_comparison_says_that_it_is_of_the_first_rows(cli, learned, terminal):
    done = cli("compare alibi sinusoidal learned.npy --json")
    note = "learned.npy 512 x 64: the first 128 of 512 rows are compared; --length takes more"
    assert json.loads(done.out)["notes"] == [note]
    (row,) = csv.DictReader(io.StringIO(cli("compare learned.npy --format csv").out))
    assert row["length"] == "128"
    done = cli("compare alibi sinusoidal learned.npy --color never")
    assert f"note: {note}\n" in done.err
    head = next(line for line in done.out.splitlines() if line.startswith("encoding"))
    assert "length" in head.split()
    assert [line.split()[-7] for line in done.out.splitlines() if line.startswith("learned.npy ")] == ["128"]


@pytest.mark.parametrize(
    "line", ["learned.npy --length 512", "'learned.npy?rows=0:100'", "sinusoidal one-hot:d=256", "sincos2d:d=16"]
)
def test_a_comparison_of_all_rows_has_no_such_note(cli, learned, line):
    document = json.loads(cli(f"compare {line} --json").out)
    assert not any("rows are compared" in note for note in document["notes"])


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


def test_a_figure_of_the_first_rows_says_so(trained):
    portrait = draw_portrait(Learned(values=trained), length=128)
    assert ", first 128 rows. " in entitle_portrait(portrait)
    assert "first" not in entitle_portrait(draw_portrait(Learned(values=trained))).partition(". ")[0]


# ----------------------------------------------------------------------------------- rows used


@pytest.mark.parametrize("case", ["tail", "first row", "part of a file"])
def test_metrics_are_of_the_rows_used(planted, trained, case):
    table, encoding, rows = {
        "tail": (planted, Learned(values=planted), (0, 400)),
        "first row": (special := plant_cls(trained[:300]), Learned(values=special), (1, len(special))),
        "part of a file": (planted, Learned(values=planted, first=90, prefix=2), (92, 400)),
    }[case]
    portrait = draw_portrait(encoding)
    assert portrait.inspection.rows_used == rows
    used = table[slice(*rows)]
    ranks = measure_ranks(used)
    assert_allclose(portrait.metrics["toeplitz_share"], measure_toeplitz_share(used), rtol=1e-12)
    centred = measure_toeplitz_share(used - used.mean(axis=0))
    assert_allclose(portrait.metrics["toeplitz_share_centred"], centred, rtol=1e-12)
    for name in ("stable_rank_centred", "effective_rank_entropy", "effective_rank_entropy_centred"):
        assert_allclose(portrait.metrics[name], getattr(ranks, name), rtol=1e-12)


def test_lines_about_other_rows_than_those_used_say_so(planted, trained):
    answer = answer_portrait(draw_portrait(Learned(values=planted)))
    facts = dict(answer.facts)
    assert facts["rows used"] == "0 to 399"
    assert facts["spectrum"].endswith(" effective bins (all 512 rows)")
    assert answer.drawing.title.endswith(" (all 512 rows)")
    answer = answer_portrait(draw_portrait(Learned(values=planted), length=450))
    assert dict(answer.facts)["rows used"] == "0 to 399"
    assert dict(answer.facts)["spectrum"].endswith(" effective bins (first 450 rows)")
    for one in (Learned(values=trained), Sinusoidal(d=64)):
        answer = answer_portrait(draw_portrait(one))
        assert dict(answer.facts)["spectrum"].endswith(" effective bins")
        assert "rows)" not in answer.drawing.title


@pytest.mark.parametrize("rows", [2, 3, 4, 5, 7, 9])
@pytest.mark.parametrize("scale", [0.0, 1.0, 9.0])
def test_the_smallest_tables_have_a_portrait(rows, scale):
    table = np.random.default_rng(rows).standard_normal((rows, 6))
    table[: rows // 2] *= scale
    for prefix in range(rows - 1):
        portrait = draw_portrait(Learned(values=table, prefix=prefix))
        assert portrait.inspection is None or portrait.inspection.rows_used[1] == rows
        assert answer_portrait(portrait).verdict.text


# ----------------------------------------------------------------------------------- verdicts


@cache
def compare(*specs):
    return compare_encodings([read_encoding(spec) for spec in specs], length=32)


def judge(specs, metric):
    ordered = sort_comparisons(compare(*specs), metric)
    return ordered, answer_comparison(ordered, metric).verdict.text


@pytest.mark.parametrize("metric", COMPARED)
def test_the_verdict_names_the_first_row(metric):
    ordered, text = judge(("sinusoidal:d=32", "dft:d=32", "ramp:length=32", "alibi", "t5"), metric)
    known = [one for one in ordered if one.values[metric] is not None and not one.encoding.is_random]
    if len(known) < 2:
        assert metric not in text
        return
    first, last = known[0], known[-1]
    top = first.values[metric]
    best = [one.encoding.label for one in known if abs(one.values[metric] - top) <= 1e-9 * abs(top)]
    leading = " and ".join(best) if len(best) < 3 else f"{best[0]}, {best[1]} and {len(best) - 2} more"
    has, be = ("has", "is") if len(best) == 1 else ("have", "are")
    pairs = [(f"({top:.{digits}g})", f"({last.values[metric]:.{digits}g})") for digits in (4, 7, 11)]
    written, beyond = next((pair for pair in pairs if pair[0] != pair[1]), pairs[-1])
    end = "largest" if COMPARED[metric].better == "higher" else "smallest"
    if len(best) == len(known):
        assert f" {metric} of all " in text
        return
    among = " of those not drawn at random"
    says = {
        True: f"{leading} {has} the smallest {metric}{among} {written}, {last.encoding.label} the largest {beyond}; ",
        False: f"{leading} {be} the best by {metric}{among}, the {end} {written}, {last.encoding.label} "
        f"the last {beyond}; ",
    }[COMPARED[metric].better is None]
    assert text.startswith(says)


def test_a_verdict_by_what_has_no_better_direction(cli):
    done = cli("compare sinusoidal dft --sort low_bin_mass --quiet")
    assert done.out.startswith(
        "dft d=256 has the smallest low_bin_mass (0.07422), sinusoidal d=256 rho=10000 the largest (0.7422); "
    )


def test_a_verdict_where_no_row_is_better_says_that():
    _, text = judge(("sinusoidal:d=32", "rope:d=32"), "min_separation")
    assert text.startswith("The min_separation of all is the same (")
    _, text = judge(("sinusoidal:d=32",), "min_separation")
    assert text == "None of 1 is known to merge positions."


def test_a_comparison_in_the_order_named_says_who_is_farthest_apart(cli):
    assert cli("compare sinusoidal:d=32 dft:d=32 --quiet").out.startswith("sinusoidal d=32 rho=10000 has the largest")


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


def test_the_first_line_names_the_tail_and_the_codes_of_the_rest(cli, learned, planted):
    document = json.loads(cli("inspect planted.npy --json").out)
    assert [finding["code"] for finding in document["findings"]] == ["duplicate-rows", "untrained-tail"]
    assert document["verdict"]["code"] == "untrained-tail"
    text = document["verdict"]["text"]
    assert text.startswith("planted.npy 512 x 64: Rows 400 to 511 (112 of 512) are as before training")
    assert text.endswith(" (also: duplicate-rows)")
    assert "Rows 400 to 511" in entitle_portrait(draw_portrait(Learned(values=planted)))


def test_codes_that_come_again_are_counted(trained):
    portrait = draw_portrait(Learned(values=trained))
    findings = (
        make_finding("warning", "seam", 9, 10),
        make_finding("warning", "seam", 99, 100),
        make_finding("warning", "duplicate-rows", (3, 9)),
        make_finding("warning", "stray-rows", 3),
    )
    shown = replace(portrait, inspection=replace(portrait.inspection, findings=findings))
    assert answer_portrait(shown).verdict.text.endswith("duplicate-rows. (also: seam twice, stray-rows)")
    thrice = (*findings, make_finding("note", "seam", 5, 6))
    shown = replace(portrait, inspection=replace(portrait.inspection, findings=thrice))
    assert answer_portrait(shown).verdict.text.endswith("duplicate-rows. (also: seam 3 times, stray-rows)")


# ----------------------------------------------------------------------------------- lines of help


@pytest.mark.parametrize(("asked", "nearest"), [("nonsense", ""), ("rank", "stable_rank"), ("separation", "min_sep")])
def test_a_metric_that_is_not_known_is_answered_in_short(refuse, asked, nearest):
    text = refuse(f"compare dft --sort {asked}")
    assert len(text) <= 400
    assert text.startswith(f"--sort is not known ({asked}); ")
    listed = text.partition("accepted: ")[2].partition(", or another")[0].split(", ")
    assert len(listed) == 10
    assert set(listed) <= set(COMPARED)
    assert listed[0].startswith(nearest)
    assert text.endswith(", or another of 27 (columns of --format csv)")
    assert "did you mean flatness?" in refuse("compare dft --sort flatnes")


def test_a_long_name_of_a_metric_is_refused_at_once(refuse):
    text = refuse(f"compare dft --sort {'low_bin_mass' * 4000}")
    assert "accepted: low_bin_mass, centroid, " in text
    assert len(text) <= 400


@pytest.mark.parametrize("line", ["planted.npy", "learned.npy --length 128", "'planted.npy?rows=:390'"])
def test_what_to_try_next_runs_as_printed(cli, learned, terminal, line):
    done = cli(f"inspect {line} --color never")
    says = done.err.splitlines()[-1]
    assert says.startswith("next: pe-spectra ")
    assert cli(says.removeprefix("next: pe-spectra ")).code == 0
    code = json.loads(cli(f"inspect {line} --json").out)["verdict"]["code"]
    assert code == "clean" or says.endswith(f"--explain {code}")
