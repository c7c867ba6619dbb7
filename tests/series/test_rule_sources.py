"""What the rules rest on is what the study shows: each source holds, and nothing in the study contradicts a rule."""

import numpy as np
import pytest

from pe_spectra.experiment.committed import report_study
from pe_spectra.study.lines import Group, list_accuracies


def list_told(number, task):
    """The rank correlations of a number with accuracy on a task that are shown, and of how many."""
    found = [one for one in report_study().numbers if (one.number, one.task) == (number, task) and one.p is not None]
    return [one.rho for one in found if one.is_told], len(found)


def average(task, length, arm, norm="own"):
    return np.mean(list(list_accuracies()[Group(task, length, arm, norm)].values()))


def test_without_positions_half_of_the_windows_are_judged_rightly_where_order_matters():
    for task in ("where", "lag", "period", "order", "trend-change"):
        assert abs(average(task, 32, "none") - 0.5) < 0.01


@pytest.mark.slow
def test_separation_goes_with_telling_distances_apart_and_against_weak_tokens():
    for number in ("relative_separation", "min_separation"):
        assert list_told(number, "lag")[0]
        assert min(list_told(number, "lag")[0]) > 0
        assert max(list_told(number, "faint")[0]) < 0
    # it is asked after what was trained: the encoding whose vectors are furthest apart is learned worse
    assert average("order", 32, "dft", "matched") < average("order", 32, "sinusoidal") - 0.2


@pytest.mark.slow
def test_norms_go_with_accuracy_where_positions_matter_and_against_weak_tokens():
    for task in ("lag", "anomaly"):
        told, cases = list_told("norm_rms", task)
        assert len(told) == cases
        assert min(told) > 0
    assert max(list_told("norm_rms", "faint")[0]) < 0


@pytest.mark.slow
def test_of_periods_the_study_says_little():
    arms = {group.arm for group in list_accuracies()}
    solved = [arm for arm in arms if average("period", 32, arm) > 0.99]
    assert len(solved) > len(arms) / 2
    told, cases = list_told("weight_at_period", "anomaly")
    assert (len(told), cases) == (1, 4)
    assert told[0] > 0
    # nothing that is shown of kernels speaks against encodings that come back at a period
    assert list_told("kernel_contrast", "period")[0] == []
    assert list_told("kernel_at_lag", "period")[0] == []
    assert list_told("kernel_at_lag", "anomaly")[0] == []
