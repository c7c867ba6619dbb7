"""A report on known results: differences pair by pair, corrections, and our numbers as `compare` gives them."""

import random
import re
from dataclasses import replace

import numpy as np
import pytest
import scipy
from numpy.testing import assert_allclose

from pe_spectra.answers.learning import answer_learning
from pe_spectra.errors import InputError
from pe_spectra.experiment.arms import build_arm
from pe_spectra.experiment.comparing import compare_runs
from pe_spectra.metrics.compare import compare_encodings
from pe_spectra.sources import read_encoding
from tests.experiment.made_runs import ARMS, make_run, make_runs
from tests.refusing import catch


@pytest.fixture(scope="module")
def runs():
    return make_runs()


@pytest.fixture(scope="module")
def report(runs):
    return compare_runs(runs, scale=6)


def find(report, task, arm, norm="own"):
    (one,) = [one for one in report.arms if (one.task, one.arm, one.norm) == (task, arm, norm)]
    return one


def test_there_is_a_row_for_each_arm_in_order(report):
    rows = [(one.task, one.arm, one.norm) for one in report.arms]
    assert rows == [(task, arm, norm) for task in ("lag", "bag") for arm, norms in ARMS for norm in norms]


def test_rows_against_their_definitions(runs, report):
    for one in report.arms:
        mine = [r.accuracy for r in runs if (r.task, r.arm, r.norm) == (one.task, one.arm, one.norm)]
        known = [r.accuracy for r in runs if (r.task, r.arm) == (one.task, "sinusoidal")]
        assert one.accuracies == tuple(mine)
        assert one.seeds == tuple(range(6))
        assert_allclose([one.accuracy, one.deviation], [np.mean(mine), np.std(mine, ddof=1)])
        assert (one.lowest, one.highest) == (min(mine), max(mine))
        if one.arm == "sinusoidal":
            assert (one.pairs, one.difference, one.p, one.p_corrected) == (0, None, None, None)
        else:
            differences = np.subtract(mine, known)
            assert_allclose(one.difference, differences.mean())
            assert one.low <= one.difference <= one.high
            assert (one.pairs, one.missing) == (6, 0)
            other = scipy.stats.permutation_test(
                (differences,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=False
            )
            assert_allclose(one.p, min(1, other.pvalue), atol=1e-12)


def test_p_are_corrected_within_task_length_and_norm(report):
    for task in ("lag", "bag"):
        for norm in ("own", "matched"):
            family = [one for one in report.arms if (one.task, one.norm) == (task, norm) and one.p is not None]
            assert len(family) == (7 if norm == "own" else 4)
            least = min(family, key=lambda one: one.p)
            assert_allclose(least.p_corrected, min(1, least.p * len(family)))
            assert all(one.p_corrected >= one.p for one in family)


def test_seeds_that_an_arm_lacks_are_left_out(runs):
    known = {one.seed: one.accuracy for one in runs if (one.task, one.arm) == ("lag", "sinusoidal")}
    fewer = [one for one in runs if not (one.arm == "dft" and one.seed in (1, 4))]
    found = compare_runs(fewer, scale=6, with_numbers=False)
    one = find(found, "lag", "dft")
    assert (one.runs, one.pairs, one.missing, one.seeds) == (4, 4, 2, (0, 2, 3, 5))
    assert_allclose(one.difference, np.mean([a - known[s] for s, a in zip(one.seeds, one.accuracies, strict=True)]))
    assert "without a partner of the same seed" in " ".join(answer_learning(found).notes)
    # the order of the lines does not matter: trials end in any order
    shuffled = random.Random(1).sample(fewer, len(fewer))
    assert compare_runs(shuffled, scale=6, with_numbers=False).to_dict() == found.to_dict()


def test_an_arm_of_another_task_or_length_is_no_reference():
    runs = [make_run("lag", "sinusoidal", "own", 0, 0.9), make_run("order", "dft", "own", 0, 0.5)]
    runs.append(make_run("lag", "dft", "own", 0, 0.5, length=64))
    found = compare_runs(runs, scale=6, with_numbers=False)
    assert all(one.difference is None for one in found.arms)
    assert answer_learning(found).verdict.code == "no-reference"


def test_f1_is_the_mean_of_those_that_there_are():
    runs = [make_run("anomaly", "dft", "own", seed, 0.5, f1=f1) for seed, f1 in enumerate((0.5, None, 1.0))]
    assert find(compare_runs(runs, scale=6, with_numbers=False), "anomaly", "dft").f1 == 0.75
    runs = [make_run("anomaly", "dft", "own", 0, 0.5)]
    assert find(compare_runs(runs, scale=6, with_numbers=False), "anomaly", "dft").f1 is None


def test_no_results():
    assert "there are no results" in catch(compare_runs, [], scale=6, kind=InputError)


# ----------------------------------------------------------------------------------- our numbers


def test_numbers_are_those_of_the_vectors_that_are_added(report):
    tables = {
        one.encoding.name: one
        for one in compare_encodings(
            [read_encoding(build_arm(arm, length=32).spec) for arm, _ in ARMS if arm != "none"], length=32
        )
    }
    by_number = {(one.number, one.norm): one for one in report.numbers if one.task == "lag"}
    names = {"own": [arm for arm, _ in ARMS if arm != "none"]}
    # an arm that has the norm of the sinusoid by itself is compared at it, too
    own = ("sinusoidal", "tape")
    names["matched"] = [
        arm if arm in own else f"{arm} (matched)" for arm, norms in ARMS if arm in own or len(norms) > 1
    ]
    for (name, norm), one in by_number.items():
        for arm, value in zip(one.names, one.values, strict=True):
            plain = arm.removesuffix(" (matched)")
            if name in ("norm_rms", "min_separation"):
                added = build_arm(plain, length=32, norm="matched" if plain != arm else "own").values
                distances = np.linalg.norm(added[:, None] - added[None], axis=2)[np.triu_indices(32, 1)]
                naive = np.sqrt(np.mean(np.sum(added**2, axis=1))) if name == "norm_rms" else distances.min()
                assert_allclose(value, naive, rtol=1e-9, err_msg=f"{name} {arm}")
            elif name == "kernel_at_lag":
                assert_allclose(value, tables[plain].kernel[6] / tables[plain].kernel[0], err_msg=arm)
            elif name == "kernel_contrast":
                kernel = tables[plain].kernel / tables[plain].kernel[0]
                assert_allclose(value, abs(kernel[7] - kernel[5]), atol=1e-15, err_msg=arm)
            else:
                assert value == tables[plain].values[name], (name, arm)
        assert list(one.names) == [each for each in names[norm] if each in one.names]
    # what is not added has no norm; none has no numbers
    assert list(by_number["norm_rms", "own"].names) == [each for each in names["own"] if each != "alibi"]
    assert list(by_number["norm_rms", "matched"].names) == names["matched"]
    assert by_number["norm_rms", "matched"].rho is None
    assert "alibi" in by_number["kernel_half_width", "own"].names
    assert not {"weight_at_period"} & {name for name, _ in by_number}


@pytest.mark.parametrize(("task", "period"), [("period", 8), ("anomaly", 16)])
def test_weights_are_those_at_the_period_of_the_task(task, period):
    runs = [make_run(task, arm, "own", 0, 0.5) for arm in ("sinusoidal", "dft", "tape")]
    found = {one.number: one for one in compare_runs(runs, scale=8).numbers}
    assert "kernel_contrast" not in found
    one = found["weight_at_period"]
    for arm, value in zip(one.names, one.values, strict=True):
        table = build_arm(arm, length=32).values
        waves = np.exp(-2j * np.pi / period * np.arange(32))
        # the periodogram: its mean over all frequencies is the sum of squares
        expected = np.sum(np.abs(waves @ table) ** 2) / np.sum(table**2)
        if arm == "dft":  # every frequency alike
            assert_allclose(value, 1.0)
        # lags of a table are averaged along its diagonals; those of a formula are of all positions
        assert_allclose(value, expected, rtol=1e-9, err_msg=arm)


def test_correlations_are_those_of_scipy(report):
    assert len({(one.task, one.norm, one.number) for one in report.numbers}) == len(report.numbers)
    for one in report.numbers:
        means = {each.name: each.accuracy for each in report.arms if each.task == one.task}
        assert list(one.accuracies) == [means[name] for name in one.names]
        # no arm is two points of one correlation
        assert len({name.removesuffix(" (matched)") for name in one.names}) == len(one.names) == one.arms
        if one.rho is not None:
            sides = [np.round(side, 12) for side in (one.values, one.accuracies)]
            assert_allclose(one.rho, scipy.stats.spearmanr(*sides).statistic, atol=1e-12)
    for task in ("lag", "bag"):
        for norm in ("own", "matched"):
            family = [one for one in report.numbers if (one.task, one.norm) == (task, norm) and one.p is not None]
            least = min(family, key=lambda one: one.p)
            assert_allclose(least.p_corrected, min(1, least.p * len(family)))
            assert all(one.p_corrected >= one.p for one in family)
    planted = next(one for one in report.numbers if (one.task, one.number) == ("lag", "norm_rms"))
    assert planted.rho > 0.8


# ----------------------------------------------------------------------------------- what is said


def say(runs, **options):
    return answer_learning(compare_runs(runs, scale=6, with_numbers=False), **options).verdict


def make_pairs(*differences, arm="dft", norm="own", task="lag"):
    return [
        make_run(task, name, one_norm, seed, 0.5 + change)
        for seed, difference in enumerate(differences)
        for name, one_norm, change in (("sinusoidal", "own", 0.0), (arm, norm, difference))
    ]


def test_a_verdict_claims_what_was_measured():
    better = say(make_pairs(*[0.1] * 6))
    assert better.code == "differences-shown"
    assert better.text == (
        "Dft against sinusoidal: at their own norms more accurate in 1 of 1 comparison, less accurate in 0 "
        "(6 seeds, corrected p below 0.05)."
    )
    worse = say(make_pairs(*[-0.1] * 6) + make_pairs(*[0.1] * 6, norm="matched"))
    assert "at their own norms more accurate in 0 of 1 comparison, less accurate in 1; at the same norm" in worse.text
    assert "at the same norm more accurate in 1 of 1 comparison, less accurate in 0" in worse.text
    mixed = say(make_pairs(0.1, -0.1, 0.1, -0.1, 0.1, -0.1))
    assert (mixed.code, "in 0 of 1 comparison, less accurate in 0" in mixed.text) == ("no-difference-shown", True)


def test_few_seeds_show_nothing_and_the_control_is_not_counted():
    few = say(make_pairs(*[0.4] * 5))
    assert few.code == "too-few-seeds"
    assert few.text.startswith("5 seeds are too few to show that dft differs from sinusoidal")
    assert say(make_pairs(0.4)).text.startswith("1 seed is too few")
    assert say(make_pairs(*[0.1] * 6, task="bag")).code == "no-reference"
    # two arms: of six seeds no corrected p is below 0.0625
    both = make_pairs(*[0.4] * 6) + make_pairs(*[0.4] * 6, arm="tape")
    assert say(both).code == "too-few-seeds"


def test_where_seeds_are_too_few_at_one_norm_alone_it_says_so():
    runs = make_pairs(*[0.1] * 6) + make_pairs(*[0.1] * 6, arm="tape") + make_pairs(*[0.1] * 6, norm="matched")
    expected = (
        "Dft against sinusoidal: at their own norms the seeds are too few to tell; at the same norm more accurate"
    )
    assert say(runs).text.startswith(f"{expected} in 1 of 1 comparison, less accurate in 0 (6 seeds")
    # other arms may be told apart, but not the one that was proposed
    runs = [*make_pairs(*[0.1] * 4), *make_pairs(*[0.1] * 8, arm="tape")]
    assert say(runs).code == "too-few-seeds"
    assert say(runs).text.startswith("4 seeds are too few to show that dft differs")


def test_without_the_proposed_arm_all_are_counted():
    runs = make_pairs(*[0.1] * 8, arm="tape") + make_pairs(*[-0.1] * 8, arm="learned")
    expected = "2 arms against sinusoidal: at their own norms more accurate in 1 of 2 comparisons, less accurate in 1 "
    assert say(runs).text == f"{expected}(8 seeds, corrected p below 0.05)."


def test_facts_name_what_goes_with_accuracy(report):
    facts = dict(answer_learning(report).facts)
    control = [one for one in report.arms if one.task == "bag" and one.low is not None]
    low, high = min(one.low for one in control), max(one.high for one in control)
    assert facts["control (bag)"].startswith("0 of 11 comparisons shown to differ; all differences from ")
    assert f"their intervals from {low:+.3f} to {high:+.3f};" in facts["control (bag)"]
    # six to eight arms are too few for a correlation that is corrected for all numbers
    assert facts["goes with accuracy: lag"] == "none of the numbers"
    assert "norm_rms" in facts["goes with accuracy on no task"]
    shown = [replace(one, p_corrected=0.01) if one.number == "norm_rms" else one for one in report.numbers]
    facts = dict(answer_learning(replace(report, numbers=tuple(one for one in shown if one.norm == "own"))).facts)
    assert re.fullmatch(r"norm_rms \+0\.\d\d \(.* to .*\) at their own norms", facts["goes with accuracy: lag"])
    assert facts["without an encoding"].count(",") == 1
    assert "norm_rms" not in facts["goes with accuracy on no task"]
    rows = answer_learning(report, by_number=True).columns
    assert set(rows) >= {"task", "number", "rho", "low", "high"}
    document = answer_learning(report, file="r.csv").to_document(None)
    assert document["runs"] == len(make_runs())
    assert document["parameters"] == {"file": "r.csv"}
    assert len(document["rows"]) == 24


def test_a_reference_that_leaves_nothing_to_be_won_is_named():
    runs = [make_run(task, "sinusoidal", "own", 0, level) for task, level in (("lag", 0.98), ("order", 0.995))]
    notes = answer_learning(compare_runs(runs, scale=6, with_numbers=False)).notes
    assert "sinusoidal itself is at 0.99 or more, so that nothing can be better: order" in notes


def test_tasks_of_several_lengths_are_told_apart():
    runs = [*make_runs(tasks=("lag",), seeds=2), *make_runs(tasks=("lag",), seeds=2, length=48)]
    facts = dict(answer_learning(compare_runs(runs, scale=6)).facts)
    assert facts["runs"] == "48: 8 arms, windows of 32 and 48 positions"
    assert {"goes with accuracy: lag at 32", "goes with accuracy: lag at 48"} <= set(facts)
    assert facts["without an encoding"].startswith("lag at 32 0.5")
