"""Precision, recall and F1 as the paper has them, at every corner; what a random judge scores, against all draws."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.errors import InputError
from pe_spectra.experiment.scores import Scores, expect_random_scores, measure_scores
from tests.refusing import catch


def score_naively(labels, judged):
    """As the definitions are written: of those judged positive, of those that are, and their harmonic mean."""
    found = [t for t, g in zip(labels, judged, strict=True) if g == 1]
    precision = found.count(1) / len(found) if found else None
    were = [g for t, g in zip(labels, judged, strict=True) if t == 1]
    recall = were.count(1) / len(were) if were else None
    if precision is None and recall is None:
        f1 = None
    elif not precision or not recall:
        f1 = 0.0
    else:
        f1 = 2 / (1 / precision + 1 / recall)
    accuracy = sum(t == g for t, g in zip(labels, judged, strict=True)) / len(labels)
    return precision, recall, f1, accuracy


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_scores_against_their_definitions(size):
    for labels in itertools.product((0, 1), repeat=size):
        for judged in itertools.product((0, 1), repeat=size):
            scores = measure_scores(labels, judged)
            expected = score_naively(labels, judged)
            for one, other in zip((scores.precision, scores.recall, scores.f1, scores.accuracy), expected, strict=True):
                assert (one is None) == (other is None), (labels, judged)
                if one is not None:
                    assert_allclose(one, other, rtol=1e-15)


def test_the_class_that_is_looked_for():
    assert measure_scores([0, 0, 2], [0, 1, 2], positive=0).recall == 0.5
    assert measure_scores([0, 0, 2], [0, 1, 2], positive=2).f1 == 1.0
    # of other classes it does not count which
    assert measure_scores([0, 0, 2], [1, 1, 2], positive=2).accuracy == 1.0


@pytest.mark.parametrize(("labels", "judged"), [([], []), ([1], [1, 0]), ([[1]], [[1]])])
def test_what_cannot_be_scored(labels, judged):
    assert "differ in length" in catch(measure_scores, labels, judged, kind=InputError)


def test_scores_say_null_where_they_have_no_value():
    scores = Scores(true_positives=0, false_positives=0, false_negatives=0, true_negatives=3)
    assert scores.to_dict()["precision"] is None
    assert scores.to_dict()["f1"] is None
    assert scores.accuracy == 1.0


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize(("positives", "total"), [(0, 3), (1, 1), (1, 4), (3, 5), (4, 4)])
def test_a_random_judge_against_all_its_draws(positives, total, rate):
    labels = [1] * positives + [0] * (total - positives)
    found = expect_random_scores(positives, total, rate)
    sums = {"f1": [0.0, 0.0], "accuracy": [0.0, 0.0], "precision": [0.0, 0.0], "recall": [0.0, 0.0]}
    for judged in itertools.product((0, 1), repeat=total):
        weight = math.prod(rate if one else 1 - rate for one in judged)
        scores = measure_scores(labels, judged)
        for name, sum_ in sums.items():
            value = getattr(scores, name)
            if value is not None:
                sum_[0] += weight * value
                sum_[1] += weight
    for name, (value, weight) in sums.items():
        expected = value / weight if weight else None
        if getattr(found, name) is None or expected is None:
            assert getattr(found, name) is expected, name
        else:
            assert_allclose(getattr(found, name), expected, rtol=1e-12, err_msg=name)


def test_no_random_judge_is_better_than_one_who_always_says_so():
    most = expect_random_scores(100, 1000, 1.0).f1
    assert_allclose(most, 2 * 0.1 / 1.1)
    assert all(expect_random_scores(100, 1000, rate).f1 <= most for rate in np.linspace(0, 1, 21))


@pytest.mark.parametrize(("positives", "total", "rate"), [(2, 1, 0.5), (-1, 1, 0.5), (0, 0, 0.5), (1, 1, 1.5)])
def test_random_judges_that_there_are_not(positives, total, rate):
    assert "is out of range" in catch(expect_random_scores, positives, total, rate, kind=InputError)
