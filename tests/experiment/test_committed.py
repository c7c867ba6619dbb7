"""The study of the package: reported on without a file, held against its plan, and not there where it is not."""

import json

import jsonschema
import pytest

from pe_spectra.errors import InputError
from pe_spectra.experiment.committed import describe_missing, list_planned, report_study
from pe_spectra.experiment.runs import read_runs, read_study
from pe_spectra.study import lines, plan
from pe_spectra.study.lines import Group, list_accuracies
from tests.refusing import catch
from tests.study.made_study import FEW_ARMS, list_study, pretend_study, write_study


@pytest.fixture
def study(monkeypatch, tmp_path):
    """A study of few arms and two tasks, of which seven of ten seeds are done and an eighth was begun."""
    monkeypatch.setattr(plan, "STUDY_ARMS", FEW_ARMS)
    monkeypatch.setattr(plan, "STUDY_TASKS", ("lag", "bag"))
    monkeypatch.setattr(plan, "STUDY_LENGTHS", (32,))
    done = [trial for trial in list_study() if trial.seed < 7 or (trial.seed == 7 and trial.task == "lag")]
    results = write_study(tmp_path / "study.csv", done)
    pretend_study(monkeypatch, tmp_path / "study.csv")
    return results


def test_the_plan_is_a_list_of_trials():
    planned = list_planned()
    assert len({trial.key for trial in planned}) == len(planned)
    assert {trial.task for trial in planned} == set(plan.STUDY_TASKS)
    assert {trial.seed for trial in planned} == set(range(plan.STUDY_SEEDS))


def test_what_is_missing_is_said_by_length_and_seed(study):
    report = report_study(with_numbers=False)
    assert (report.runs, report.planned) == (7 * 14 + 7, 140)
    assert report.missing == ("of windows of 32 positions 35 of 140 networks missing, of seeds 7, 8 and 9",)
    both = list_study(lengths=(32, 64), seeds=2)
    done = {trial.key for trial in both if trial.length == 32}
    assert describe_missing(both, done) == ("of windows of 64 positions 28 of 28 networks missing, of seeds 0 and 1",)
    assert describe_missing(both, [*done, *(trial.key for trial in both)]) == ()


def test_lines_are_read_by_two_roads(study):
    runs = read_study()
    found = list_accuracies()
    assert sum(map(len, found.values())) == len(runs.results) == len(study)
    for one in runs.results:
        assert found[Group(one.task, one.length, one.arm, one.norm)][one.seed] == one.accuracy


@pytest.mark.slow
def test_the_report_without_a_file_is_that_of_the_study(study, cli, schema):
    done = cli("experiment report --json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    jsonschema.validate(found, schema)
    assert (found["parameters"]["file"], found["runs"], found["planned"]) == ("the study", 105, 140)
    notes = " ".join(found["notes"])
    assert "the study is not complete: of windows of 32 positions 35 of 140 networks missing" in notes
    table = cli("experiment report --no-figure").out
    assert "105 of 140 planned: 5 arms" in table
    other = json.loads(cli(f"experiment report {lines.find_study()} --json").out)
    assert other["planned"] is None
    assert other["rows"] == found["rows"]
    assert "not complete" not in " ".join(other["notes"])


def test_without_a_study_one_line_says_so(monkeypatch, cli):
    pretend_study(monkeypatch, None)
    done = cli("experiment report")
    expected = "error: this version has no study of its own; a file of experiment run is accepted\n"
    assert (done.code, done.out, done.err) == (2, "", expected)
    assert list_accuracies() == {}
    assert "no study" in catch(read_study, kind=InputError)


def test_the_committed_study_is_of_the_plan():
    runs = read_runs(lines.find_study())
    keys = [one.key for one in runs.results]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= {trial.key for trial in list_planned()}
