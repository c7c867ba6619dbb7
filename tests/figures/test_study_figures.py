"""Figures 9 and 10, of the study: their numbers are those of its lines, and there are none without it."""

import csv
import io

import numpy as np
import pytest

from pe_spectra.answers.learning import REFERENCE
from pe_spectra.figures import build, study_figures
from pe_spectra.figures.build import build_figures, check_figures, list_figure_files, write_columns
from pe_spectra.figures.study_figures import STUDY_RECIPES, list_study_recipes
from pe_spectra.study import plan
from tests.study.made_study import FEW_ARMS, list_study, pretend_study, write_study


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study of few arms, and its figures."""
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "STUDY_ARMS", FEW_ARMS)
        patch.setattr(plan, "STUDY_TASKS", ("lag", "bag"))
        patch.setattr(plan, "STUDY_LENGTHS", (32,))
        patch.setattr(build, "ALL_RECIPES", STUDY_RECIPES)
        results = write_study(folder / "study.csv", list_study(seeds=6))
        pretend_study(patch, folder / "study.csv")
        files = build_figures()
        for name, data in files.items():
            (folder / name).write_bytes(data)
        yield results, folder, files


def read(files, name):
    return list(csv.DictReader(io.StringIO(files[f"{name}.csv"].decode())))


@pytest.mark.slow
def test_both_have_their_files(made):
    _, _, files = made
    assert set(files) == set(list_figure_files())
    for name in ("fig9_learning", "fig10_predictors"):
        assert files[f"{name}.png"].startswith(b"\x89PNG")
        assert files[f"{name}.pdf"].startswith(b"%PDF")


@pytest.mark.slow
def test_every_network_is_a_row_of_figure_9(made):
    results, _, files = made
    rows = read(files, "fig9_learning")
    found = {(row["task"], row["arm"], row["norm"], float(row["seed"])): float(row["accuracy"]) for row in rows}
    assert found == {(one.task, one.arm, one.norm, one.seed): one.accuracy for one in results}
    assert len(rows) == len(results)


def test_every_mark_is_a_row_of_figure_10(made):
    results, _, files = made
    rows = read(files, "fig10_predictors")
    for row in rows:
        arm = row["arm"].removesuffix(" (matched)")
        norm = "own" if arm == row["arm"] else "matched"
        runs = [one for one in results if (one.task, one.arm, one.norm) == (row["task"], arm, norm)]
        assert float(row["accuracy"]) == pytest.approx(np.mean([one.accuracy for one in runs]), rel=1e-12)
        if row["number"] == "norm_rms":
            assert float(row["value"]) == pytest.approx(runs[0].rms_norm)
    assert {"norm_rms", "kernel_at_lag", "kernel_contrast"} <= {
        row["number"] for row in read(files, "fig10_predictors")
    }


def test_what_was_written_is_checked(made):
    _, folder, files = made
    assert check_figures(folder) == ()
    changed = files["fig9_learning.csv"].replace(b",dft,own", b",tape,own", 1)
    (folder / "fig9_learning.csv").write_bytes(changed)
    (found,) = check_figures(folder)
    assert (found.figure, found.column, found.expected, found.got) == ("fig9_learning", "arm", "dft", "tape")
    assert build.compare_figures(files, folder) == {"fig9_learning": False, "fig10_predictors": True}
    (folder / "fig9_learning.csv").write_bytes(files["fig9_learning.csv"])


def test_without_a_study_there_are_none(monkeypatch):
    monkeypatch.setattr(study_figures, "find_study", lambda: None)
    assert list_study_recipes() == ()


def test_words_are_quoted():
    columns = {"arm": np.array([REFERENCE, "time2vec:a=1,b=2"]), "value": np.array([1.0, np.nan])}
    assert write_columns(columns) == b'arm,value\nsinusoidal,1.0\n"time2vec:a=1,b=2",\n'
