"""docs/experiment.md and README tell of the study what its committed runs show."""

import pytest

from pe_spectra.experiment.committed import list_planned
from pe_spectra.study.lines import list_accuracies
from tests.pages import study_page as study
from tests.places import ROOT

PAGE = study.PAGE.read_text(encoding="utf-8")


def list_told(number, norm=None):
    return [o for o in study.report().numbers if o.number == number and o.is_told and norm in (None, o.norm)]


def test_the_study_is_whole_and_each_network_stands_once():
    planned = {trial.key for trial in list_planned()}
    runs = [
        f"{'|'.join(map(str, (g.task, g.arm, g.norm, g.length, seed)))}"
        for g, f in list_accuracies().items()
        for seed in f
    ]
    assert sorted(runs) == sorted(planned)


@pytest.mark.slow
def test_the_tables_are_those_of_the_runs():
    assert study.update(PAGE) == PAGE


@pytest.mark.parametrize("number", ["norm_rms", "min_separation"])
def test_norm_and_separation_help_with_lag_and_cost_on_faint(number):
    found = {task: {one.rho > 0 for one in list_told(number) if one.task == task} for task in ("lag", "faint")}
    assert found == {"lag": {True}, "faint": {False}}


@pytest.mark.parametrize("number", ["min_separation", "relative_separation", "effective_bins_entropy"])
def test_at_one_norm_separation_and_bins_help_with_lag_and_cost_on_faint(number):
    told = {(one.task, one.rho > 0) for one in list_told(number, study.MATCHED) if one.task in ("lag", "faint")}
    assert told == {("lag", True), ("faint", False)}


def test_no_number_is_shown_on_three_tasks():
    assert not [o for o in study.report().numbers if o.is_told and o.task in ("order", "where", "trend-change")]


def test_on_anomaly_most_of_the_difference_is_one_of_norm_and_on_order_it_is_not():
    shares = {}
    for task in ("anomaly", "order"):
        own, matched = (study.find_arm(task, study.LONGER, norm=norm).difference for norm in study.NORMS)
        shares[task] = matched / own
    assert shares["anomaly"] < 0.5 < shares["order"]
    assert study.find_arm("order", study.LONGER, norm=study.MATCHED).differs


def test_readme_says_of_the_paper_what_the_study_shows():
    readme = ROOT.joinpath("README.md").read_text(encoding="utf-8")
    assert "on no task more accurate than the sinusoidal one" in readme
    assert study.count_shown(study.OWN)[0] == 0
    assert study.count_shown(study.OWN)[1] > 0
