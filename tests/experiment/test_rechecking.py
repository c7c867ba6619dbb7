"""experiment check: nothing is found in results that are true, and each number that is changed is found."""

import json
import sys
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

from pe_spectra.errors import InputError
from pe_spectra.experiment import rechecking, runs, trial
from pe_spectra.experiment.comparing import compare_runs
from pe_spectra.experiment.design import FULL, Design, list_trials
from pe_spectra.experiment.runs import Runs, describe_here, open_runs, read_runs, write_row
from pe_spectra.experiment.trial import run_trial
from tests.experiment.made_runs import make_runs
from tests.experiment.test_tasks import SYMMETRIC
from tests.places import ROOT
from tests.refusing import catch
from tests.study.made_study import list_study, pretend_trial, write_study

ARMS = ("none", "sinusoidal", "dft", "learned", "alibi")


@pytest.fixture(scope="module")
def made():
    trials = list_study(ARMS, tasks=("lag",), seeds=5)
    results = tuple(pretend_trial(one) for one in trials)
    return Runs(settings=FULL.to_dict(), about=describe_here(), results=results)


def change(made, **changed):
    return replace(made, results=(replace(made.results[3], **changed), *made.results[:3], *made.results[4:]))


def test_true_lines_contradict_nothing(made):
    assert rechecking.check_lines(made, rechecking.read_design(made)) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accuracy", 0.75),
        ("accuracy", 0.7500001),
        ("f1", 0.5),
        ("precision", None),
        ("recall", 0.123),
        ("rate", 0.5),
        ("rms_norm", 1.5),
        ("spec", "dft:d=16"),
        ("entry", "score"),
    ],
)
def test_a_line_that_contradicts_itself_or_its_arm_is_found(made, name, value):
    wrong = change(made, **{name: value})
    found = rechecking.check_lines(wrong, FULL)
    assert found
    assert {(one.part, one.key, one.agrees) for one in found} == {("line", made.results[3].key, False)}
    assert found[0].there != found[0].again


@pytest.mark.slow
def test_a_report_comes_out_by_its_definitions(made):
    report = compare_runs(made.results, scale=6)
    number, found = rechecking.check_report(made, report)
    assert found == []
    assert number > 12 * len(report.arms)
    results = tuple(make_runs(seeds=13))
    again = compare_runs(results, scale=6)
    assert rechecking.check_report(replace(made, results=results), again)[1] == []


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name",
    ["runs", "accuracy", "deviation", "lowest", "highest", "pairs", "difference", "low", "high", "p", "p_corrected"],
)
def test_each_number_of_a_report_is_looked_at(made, name):
    report = compare_runs(made.results, scale=6, with_numbers=False)
    place = next(place for place, one in enumerate(report.arms) if one.arm == "dft")
    arms = list(report.arms)
    arms[place] = replace(arms[place], **{name: getattr(arms[place], name) * 0.999})
    _, found = rechecking.check_report(made, replace(report, arms=tuple(arms)))
    assert [(one.key, one.number) for one in found] == [("lag|dft|own|32", name)]


def test_correlations_and_their_marks_are_looked_at(made):
    report = compare_runs(made.results, scale=6)
    one = report.numbers[0]
    wrong = replace(one, rho=0.1, accuracies=(0.9, *one.accuracies[1:]))
    _, found = rechecking.check_report(made, replace(report, numbers=(wrong, *report.numbers[1:])))
    assert [each.number for each in found] == ["accuracy", "rho"]


def test_results_of_another_version_are_refused(made):
    other = replace(made, settings={**made.settings, "version": 0})
    assert "another version of the experiment (0)" in catch(rechecking.read_design, other, kind=InputError)
    other = replace(made, settings={**made.settings, "depth": 3})
    assert "settings that are not known" in catch(rechecking.read_design, other, kind=InputError)


def test_a_draw_is_of_different_results_and_follows_its_seed(made):
    first = rechecking.draw_results(made.results, 7, 0)
    assert len({one.key for one in first}) == 7
    assert first == rechecking.draw_results(made.results[::-1], 7, 0) != rechecking.draw_results(made.results, 7, 1)
    assert len(rechecking.draw_results(made.results, 1000, 0)) == len(made.results)


def pretend(monkeypatch, accuracy):
    monkeypatch.setattr(runs, "check_extra", lambda: None)
    monkeypatch.setattr(
        trial, "run_trial", lambda one, design: replace(pretend_trial(one, design), accuracy=accuracy(one, design))
    )


def test_networks_are_equal_at_one_place_and_near_at_another(made, monkeypatch):
    drawn = rechecking.draw_results(made.results, 4, 0)
    pretend(monkeypatch, lambda one, design: pretend_trial(one, design).accuracy)
    assert all(one.agrees for one in rechecking.train_again(drawn, made.results, FULL, is_equal=True))
    pretend(monkeypatch, lambda one, design: pretend_trial(one, design).accuracy + 1 / 1024)
    assert not any(one.agrees for one in rechecking.train_again(drawn, made.results, FULL, is_equal=True))
    assert all(one.agrees for one in rechecking.train_again(drawn, made.results, FULL, is_equal=False))
    pretend(monkeypatch, lambda *_: 0.3)
    assert not any(one.agrees for one in rechecking.train_again(drawn, made.results, FULL, is_equal=False))


# ----------------------------------------------------------------------------------- the command


@pytest.mark.slow
def test_the_command_says_what_agrees(cli, monkeypatch, tmp_path, schema):
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "results.csv", list_study(ARMS, tasks=("lag",), seeds=3))
    pretend(monkeypatch, lambda one, design: pretend_trial(one, design).accuracy)
    done = cli("experiment check results.csv --json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    jsonschema.validate(found, schema)
    assert (found["kind"], found["lines"], found["networks"], found["is_same_place"]) == (
        "experiment-check",
        21,
        3,
        True,
    )
    assert {(row["part"], row["number"], row["agrees"]) for row in found["rows"]} == {("network", "accuracy", True)}
    assert found["verdict"]["text"].endswith("3 networks, trained again, come out again.")
    pretend(monkeypatch, lambda *_: 0.25)
    done = cli("experiment check results.csv --runs 1 --seed 5")
    assert done.code == 1
    assert done.err.startswith("check failed: experiment check: network lag|")
    assert done.err.count("\n") == 1
    assert cli("experiment check results.csv --runs 0").code == 0


def test_without_the_extra_one_line_says_what_to_install(cli, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "results.csv", list_study(("none", "sinusoidal"), tasks=("lag",), seeds=1))
    monkeypatch.setitem(sys.modules, "jax", None)
    done = cli("experiment check results.csv")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "pip install 'pe-spectra[experiment]'" in done.err


def test_networks_that_are_trained_again_come_out(cli, monkeypatch, tmp_path):
    """Really trained, with few windows."""
    pytest.importorskip("jax")
    pytest.importorskip("optax")
    monkeypatch.chdir(tmp_path)
    design = Design(windows=64, validation=32, test=32, passes=1, rates=(2e-3,))
    results = [
        run_trial(one, design) for one in list_trials(["lag"], ["sinusoidal", "dft"], ["own"], [16], [0], design)
    ]
    with open_runs(tmp_path / "results.csv", design) as ledger:
        ledger.append_all({one.key: write_row(one) for one in results})
    assert len(read_runs(tmp_path / "results.csv").results) == 2
    done = cli("experiment check results.csv --runs 2")
    assert (done.code, done.err) == (0, "")


@pytest.mark.slow
def test_nothing_is_found_in_networks_that_were_trained():
    """The study as far as it has come: lines that no test has made up."""
    begun = read_runs(ROOT / "tests/experiment/study_elsewhere.csv")
    design = rechecking.read_design(begun)
    assert design == FULL
    assert len(begun.results) > 900
    assert rechecking.check_lines(begun, design) == []
    numbers, differing = rechecking.check_report(
        begun, compare_runs(begun.results, scale=design.scale, with_numbers=False)
    )
    assert differing == []
    assert numbers > 1000
    # positions cannot help the control, and without them five tasks are not learned
    accuracies = {}
    for one in begun.results:
        accuracies.setdefault((one.arm, one.task), []).append(one.accuracy)
    bag = {arm: float(np.mean(found)) for (arm, task), found in accuracies.items() if task == "bag"}
    assert max(bag.values()) - min(bag.values()) < 0.01
    assert all(abs(np.mean(accuracies["none", task]) - 0.5) < 0.02 for task in SYMMETRIC)
