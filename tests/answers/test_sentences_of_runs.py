"""Every sentence about networks and sweeps against the numbers of drawn results."""

import itertools
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from pe_spectra.answers.detections import BASELINES, DetectionReport, DetectorScores, answer_detections
from pe_spectra.answers.experiments import ArmMeans, answer_experiment
from pe_spectra.answers.learning import ArmComparison, LearningReport, NumberCorrelation, answer_learning
from pe_spectra.answers.rechecks import Recheck, answer_rechecks
from pe_spectra.answers.sweeps import Sweep, answer_sweep
from pe_spectra.vocabulary import NORMS
from tests.answers.holding import NUMBER, hold, is_rounded, list_texts

# ----------------------------------------------------------------------------------- sweeps and trials


def say_counted(r, points, verb, now, more=None, refused=None):
    words = {"all": r.points, "none": 0}
    right = int(points.replace(",", "")) == r.points and (verb == "is") == (r.points == 1)
    return (
        right
        and words.get(now, now) == (words.get(now) if now in words else str(r.now))
        and r.now == int(words.get(now, now))
        and (int(refused or 0) == r.refused)
    )


def say_span(r, points, verb, now, low, lowest=None, high=None, highest=None):
    values = {name: value for name, value in r.means.items() if value is not None}
    least, most = min(values.values()), max(values.values())
    assert say_counted(r, points, verb, now)
    if high is None:
        return least == most and is_rounded(low, least) and values[lowest] == least
    return is_rounded(low, least) and is_rounded(high, most) and (values[lowest], values[highest]) == (least, most)


THERE = (
    rf"({NUMBER}) (?:points? of spectrum|trials?) (is|are) in out\.csv, (all|none|\d+) of them (?:computed|trained) now"
)
RUN_LAWS = {
    rf"{THERE}(; (\d+) (?:is|are) refused)?\.": say_counted,
    rf"{THERE}; mean accuracy is ({NUMBER}) for (.*)\.": say_span,
    rf"{THERE}; mean accuracy is from ({NUMBER}) \((.*?)\) to ({NUMBER}) \((.*?)\)\.": say_span,
    r"lines: (\d+)": lambda r, lines: int(lines) == r.lines,
    r"refused first: (.*)": lambda r, reason: r.refused and reason == r.reason,
    r"tasks: .*": lambda r: r.means,
    r"out\.csv has (\d+) lines? about other trials, too": lambda r, others: int(others) == r.others > 0,
}


@pytest.mark.parametrize("seed", range(20))
def test_what_is_said_of_sweeps_and_trials_is_true(seed):
    draw = np.random.default_rng(seed)
    points = int(draw.choice([1, 2, 7, 12345]))
    r = SimpleNamespace(points=points, now=int(draw.choice([0, 1, points])), refused=int(draw.integers(0, 3)), means={})
    r.refused, r.lines, r.others = min(r.refused, points), points + 3, int(draw.integers(0, 3))
    r.reason = "no" if r.refused else None
    sweep = Sweep(
        command="spectrum",
        output="out.csv",
        points=points,
        computed=r.now,
        refused=r.refused,
        lines=r.lines,
        reason=r.reason,
    )
    hold(RUN_LAWS, list_texts(answer_sweep(sweep)), r)
    rows = []
    for arm, norm in draw.permutation([["none", "own"], ["dft", "own"], ["dft", "matched"]])[: draw.integers(1, 4)]:
        shares = {task: draw.choice([None, 0.5, 0.25, 1.0]) for task in ("lag", "order")} | {"bag": 0.5}
        shares = {task: None if share is None else float(share) for task, share in shares.items()}
        rows.append(ArmMeans(arm=str(arm), norm=str(norm), length=32, seeds=2, rms_norm=1.0, accuracy=shares))
        for task, share in shares.items():
            r.means[f"{arm}{' at the matched norm' if norm == 'matched' else ''} on {task}"] = share
    r.refused = 0
    asked = {"output": "out.csv", "tasks": ["lag"], "seeds": 2, "quick": True, "counts": (points, r.now, r.others)}
    hold(RUN_LAWS, list_texts(answer_experiment(rows, **asked)), r)


# ----------------------------------------------------------------------------------- results looked at again


@pytest.mark.parametrize("seed", range(20))
def test_what_is_said_of_results_looked_at_again_is_true(seed):
    draw = np.random.default_rng(seed)
    found = [
        Recheck(
            part=part,
            key=f"k{n}",
            number="f1",
            there="0.5",
            again="",
            agrees=bool(part == "network" and draw.random() < 0.7),
        )
        for n, part in enumerate(draw.choice(["line", "report", "network"], int(draw.integers(0, 4))).tolist())
    ]
    counts = (int(draw.choice([1, 1200])), int(draw.choice([0, 40])))
    answer = answer_rechecks(found, file="a.csv", counts=counts, is_same_place=True, tolerance="equal")
    networks, wrong = sum(one.part == "network" for one in found), [one for one in found if not one.agrees]
    said = re.fullmatch(
        rf"All of ({NUMBER}) lines(?:, | and )({NUMBER}) numbers of the report"
        r"(?: and (\d+) networks?, trained again,)? come out again\.",
        answer.verdict.text,
    )
    assert (said is not None) == (not wrong)
    if said:
        assert [int(n.replace(",", "")) for n in said.groups("0")] == [*counts, networks]
    else:
        number, first = re.match(
            r"(\d+) numbers? of a\.csv (?:does|do) not come out, first (\S+ k\d)", answer.verdict.text
        ).groups()
        assert (int(number), first) == (len(wrong), f"{wrong[0].part} {wrong[0].key}")
    assert dict(answer.facts)["networks"] == ("equal" if networks else "none (--runs 0)")


# ----------------------------------------------------------------------------------- data sets


@pytest.mark.parametrize("seed", range(20))
def test_what_is_said_of_a_data_set_is_true(seed):
    draw = np.random.default_rng(seed)

    def make(arm, norm, runs):
        f1, p = float(draw.choice([0.25, 0.5, 0.75])), draw.choice([None, 0.01, 0.5])
        p = None if norm is None or arm == "sinusoidal" or p is None else float(p)
        return DetectorScores(
            arm=arm,
            norm=norm,
            runs=runs,
            rms_norm=None,
            precision=0.5,
            recall=0.5,
            f1=f1,
            f1_deviation=None,
            f1_lowest=f1,
            f1_highest=f1,
            accuracy=0.5,
            difference=None if p is None else -0.125,
            low=None,
            high=None,
            p=p,
            p_corrected=p,
        )

    arms = [make(arm, norm, 3) for arm, norm in (("sinusoidal", "own"), ("dft", "own"), ("dft", "matched"))]
    arms = arms[: draw.integers(0, 4)]
    rows = (*arms, *(make(name, None, 0) for name in list(BASELINES)[: draw.integers(1, 4)]))
    report = DetectionReport(
        source="a.csv",
        length=1,
        stride=1,
        gap=int(draw.integers(0, 3)),
        positive="1",
        training=1234,
        validation=2,
        test=3,
        training_share=0.25,
        test_share=0.5,
        rows=rows,
    )
    answer = answer_detections(report)
    best, base = max((one.f1 for one in arms), default=None), max(one.f1 for one in rows if one.norm is None)
    text = answer.verdict.text
    if best is None:
        assert text.startswith(f"There is no arm; F1 is {base:.3f} for ")
        return
    said = re.fullmatch(
        r"Mean F1 is (\S+) for (.*?) \(3 seeds\), (above|not above) the (\S+) of the baseline (\S+); (.*)\.", text
    )
    assert (float(said[1]), float(said[4]), said[3] == "above") == (best, base, best > base)
    assert any(one.name == said[2] and one.f1 == best for one in arms)
    assert any(one.arm == said[5] and one.f1 == base for one in rows if one.norm is None)
    shown = [one.name for one in arms if one.p_corrected is not None and one.p_corrected < 0.05]
    assert (said[6] == "no arm is shown to differ from sinusoidal") == (not shown)
    assert all(f"{name} by -0.125" in said[6] for name in shown)


# ----------------------------------------------------------------------------------- reports on an experiment


def draw_report(seed):
    """Arms at one or two norms on several tasks, of one seed to twelve, with and without the reference and `dft`."""
    draw, arms, numbers = np.random.default_rng(seed), [], []
    seeds = int(draw.choice([1, 2, 5, 8, 12]))
    names = ["none", "rope", *(["dft"] if draw.random() < 0.7 else [])]
    has_reference = draw.random() < 0.85
    for task in ("lag", "order", "bag")[: draw.integers(1, 4)]:
        for arm in names:
            for norm in ("own", "matched")[: 1 if arm == "none" else 2]:
                pairs = int(draw.integers(max(1, seeds - 1), seeds + 1)) if has_reference else 0
                least = 2.0 ** (1 - pairs)
                p = None if not pairs else float(max(least, draw.choice([0.0, 0.3, 1.0])))
                gap = None if p is None else float(draw.choice([-0.2, 0.2]))
                accuracy = float(draw.choice([0.5, 0.9]))
                arms.append(
                    ArmComparison(
                        task=task,
                        length=32,
                        arm=arm,
                        norm=norm,
                        runs=seeds,
                        accuracy=accuracy,
                        deviation=None,
                        lowest=accuracy,
                        highest=accuracy,
                        f1=None,
                        rms_norm=None,
                        pairs=pairs,
                        missing=seeds - pairs,
                        difference=gap,
                        low=None,
                        high=None,
                        p=p,
                        p_corrected=None if p is None else min(1.0, 2 * p),
                        seeds=tuple(range(seeds)),
                        accuracies=(accuracy,) * seeds,
                    )
                )
        for number, norm in itertools.product(("flatness", "stable_rank", "norm_rms", "d"), NORMS):
            low, p = draw.choice([None, -0.1, 0.2, -0.9]), draw.choice([None, 0.01, 0.04, 0.05, 0.8])
            numbers.append(
                NumberCorrelation(
                    task=task,
                    length=32,
                    norm=norm,
                    number=number,
                    meaning="it is",
                    arms=5,
                    rho=None if p is None else float(draw.choice([-0.3, 0.4, 0.6])),
                    low=None if low is None or p is None else float(low),
                    high=None if low is None or p is None else float(low) + 0.5,
                    p=p and p / 2,
                    p_corrected=p,
                    names=(),
                    values=(),
                    accuracies=(),
                )
            )
    return LearningReport(arms=tuple(arms), numbers=tuple(numbers))


def say_compared(r, who, own, same, seeds):
    proposed = [one for one in r.compared if one.arm == "dft"] or r.compared
    assert who.lower() == (
        "dft" if proposed[0].arm == "dft" and any(o.arm == "dft" for o in r.compared) else f"{r.count} arms"
    )
    assert seeds_of(seeds) == {min(one.pairs for one in proposed), max(one.pairs for one in proposed)}
    for norm, said in (("own", own), ("matched", same)):
        here = [one for one in proposed if one.norm == norm]
        assert (said is None) == (not here)
        if found := re.match(r"more accurate in (\d+) of (\d+) comparisons?, less accurate in (\d+)", said or ""):
            shown = [one for one in here if one.p_corrected < 0.05]
            better = sum(one.difference > 0 for one in shown)
            assert [int(n) for n in found.groups()] == [better, len(here), len(shown) - better]
        elif said:  # no comparison there can come below
            assert all(r.least(one) >= 0.05 for one in here)
    return True


def seeds_of(text):
    return {int(n) for n in re.findall(r"\d+", text)}


def say_few(r, seeds, arm):
    chosen = [one for one in r.compared if one.arm == "dft"] if arm == "dft" else r.compared
    assert seeds_of(seeds) == {min(one.pairs for one in chosen), max(one.pairs for one in chosen)}
    return all(r.least(one) >= 0.05 for one in chosen)


def say_control(r, shown, of, low, high, lowest, highest):
    rows = [one for one in r.report.arms if one.task == "bag" and one.difference is not None]
    gaps = [one.difference for one in rows]
    ends = [end for one in rows for end in (one.low, one.high) if end is not None]
    assert (lowest is None) == (not ends)
    assert lowest is None or (float(lowest), float(highest)) == (round(min(ends), 3), round(max(ends), 3))
    told = (int(shown), int(of), float(low), float(high))
    return told == (sum(one.p_corrected < 0.05 for one in rows), len(rows), min(gaps), max(gaps))


def is_shown(number):
    return number.p_corrected is not None and number.p_corrected < 0.05


def say_told(r, task, said):
    told = [one for one in r.report.numbers if one.task == task and is_shown(one)]
    if said == "none of the numbers":
        return not told
    named = {}
    for part in said.split("; "):
        words, norm = (
            re.fullmatch(r"(.*) at (?:their own norms|the same norm)", part),
            "own" if "own" in part else "matched",
        )
        named[norm] = re.findall(r"([a-z_]+) ([+-][\d.]+)", re.sub(r" \(.*?\)", "", words[1]))
        here = sorted((one for one in told if one.norm == norm), key=lambda one: -abs(one.rho))
        more = re.search(r" and (\d+) more", words[1])
        assert len(named[norm]) + int(more[1] if more else 0) == len(here)
        assert [float(rho) for _, rho in named[norm]] == [one.rho for one in here[: len(named[norm])]]
        assert {name for name, _ in named[norm]} <= {one.number for one in here}
    return set(named) == {one.norm for one in told}


REPORT_LAWS = {
    r"No arm was compared with sinusoidal: the file has no run of it, or of no other arm\.": lambda r: not r.compared,
    r"(.* seeds?) (?:is|are) too few to show that (dft|an arm) differs from sinusoidal: "
    r"no corrected p can be below 0\.05\.": say_few,
    r"(.*) against sinusoidal: (?:at their own norms (.*?))?(?:; )?(?:at the same norm (.*?))? "
    r"\((.* seeds?), corrected p below 0\.05\)\.": say_compared,
    r"runs: (\d+)(?: of \d+ planned)?: (\d+) arms?, windows of 32 positions": lambda r, runs, arms: (
        (int(runs), int(arms)) == (sum(o.runs for o in r.report.arms), len({o.arm for o in r.report.arms}))
    ),
    rf"control \(bag\): (\d+) of (\d+) comparisons? shown to differ; all differences from ({NUMBER}|\+[\d.]+) to "
    rf"({NUMBER}|\+[\d.]+)(?:, their intervals from ([+-][\d.]+) to ([+-][\d.]+))?; position does not help "
    r"there": say_control,
    r"without an encoding: (.*)": lambda r, said: (
        [float(n) for n in re.findall(r"[a-z]+ ([\d.]+)", said)]
        == [o.accuracy for o in r.report.arms if o.arm == "none"]
    ),
    r"goes with accuracy: (\S+): (.*)": say_told,
    r"goes with accuracy on no task: (.*)": lambda r, said: all(
        not is_shown(o) for o in r.report.numbers if o.task != "bag" and o.number in re.split(", | and ", said)
    ),
    rf"the sign-flip test of (\d+) pairs? gives no p below ({NUMBER})": lambda r, pairs, p: (
        int(pairs) == min(o.pairs for o in r.report.arms if o.p is not None) and is_rounded(p, 2.0 ** (1 - int(pairs)))
    ),
    r"(\d+) runs? without a partner of the same seed left out of differences": lambda r, n: (
        int(n) == sum(o.missing for o in r.report.arms if o.p is not None)
    ),
    r"one pair has no interval": lambda r: any(o.pairs == 1 for o in r.report.arms),
    r"sinusoidal itself is at 0\.99 or more, so that nothing can be better: (.*)": lambda r, said: (
        re.split(", | and ", said) == [o.task for o in r.report.arms if o.arm == "sinusoidal" and o.accuracy >= 0.99]
    ),
    r"a number goes with accuracy where its p, corrected by Holm's method within task, length and norm, is below "
    r"0\.05; intervals of (\d+) correlations? are not corrected": lambda r, n: (
        int(n) == sum(o.p is not None for o in r.report.numbers)
    ),
}


@pytest.mark.parametrize("seed", range(40))
def test_what_is_said_of_an_experiment_is_true(seed):
    report = draw_report(seed)
    compared = [one for one in report.arms if one.p_corrected is not None and one.task != "bag"]

    def least(one):
        """The smallest corrected p that so many pairs, among so many comparisons, can give."""
        family = [o for o in report.arms if o.p is not None and (o.task, o.norm) == (one.task, one.norm)]
        return math.ldexp(len(family), 1 - one.pairs)

    r = SimpleNamespace(report=report, compared=compared, least=least, count=len({one.arm for one in compared}))
    answer = answer_learning(report)
    hold(REPORT_LAWS, list_texts(answer), r)
    chosen = [one for one in compared if one.arm == "dft"] or compared
    assert (answer.verdict.code == "differences-shown") <= any(one.p_corrected < 0.05 for one in chosen)
