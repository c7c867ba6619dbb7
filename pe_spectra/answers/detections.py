"""How well networks told the windows of a data set apart, in the form of the paper, as an answer."""

from __future__ import annotations

from pe_spectra.answers.answer import Answer, Body, Verdict, Verdicts
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import NORMS
from pe_spectra.wording import count, join

VERDICTS = Verdicts({"above-baselines": "ok", "not-above-baselines": "note"})
#: Judges that no training made: by chance, with one answer for all, and a network with its first weights.
BASELINES = {
    "random": "says yes as often as training windows are of the class, without a look (expected scores)",
    "always": "says yes of every window",
    "untrained": "the network with its first weights, an arm of none, one for each seed",
}
_SHOWN = (
    "arm",
    "norm",
    "runs",
    "precision",
    "recall",
    "f1",
    "f1_deviation",
    "difference",
    "low",
    "high",
    "p_corrected",
)
_LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class DetectorScores(Result):
    """What networks with one encoding scored on test windows, means over seeds; or what a baseline does."""

    arm: str = quantity("The encoding, a SPEC without the sizes of the network; none; or the name of a baseline.")
    norm: str | None = quantity(
        "Its own vectors, or scaled to the norm of the sinusoid; null of a baseline.", words=(*NORMS, None)
    )
    runs: int = quantity("Networks, one for each seed; 0 of what has none.", minimum=0)
    rms_norm: float | None = quantity(
        "Root mean square norm of the vectors added to tokens, before training; null for what is not added.", minimum=0
    )
    precision: float | None = quantity(
        "Mean over the runs in which any window was judged to be of the class; null where none was.",
        minimum=0,
        maximum=1,
    )
    recall: float = quantity("Mean share of the windows of the class that were found.", minimum=0, maximum=1)
    f1: float = quantity("Mean F1; 0 of a run that found none.", minimum=0, maximum=1)
    f1_deviation: float | None = quantity("Standard deviation of F1 over seeds; null of fewer than two.", minimum=0)
    f1_lowest: float = quantity("The least F1.", minimum=0, maximum=1)
    f1_highest: float = quantity("The largest F1.", minimum=0, maximum=1)
    accuracy: float = quantity("Mean share of windows judged rightly.", minimum=0, maximum=1)
    difference: float | None = quantity(
        "Mean difference of F1 from `sinusoidal` at its own norm, seed by seed; null without pairs.",
        minimum=-1,
        maximum=1,
    )
    low: float | None = quantity("Lower end of its interval of 95 %; null of fewer than two pairs.")
    high: float | None = quantity("Upper end; null likewise.")
    p: float | None = quantity("Of the sign-flip test, two-sided; null without pairs.", minimum=0, maximum=1)
    p_corrected: float | None = quantity(
        "p corrected by Holm's method over the arms of one norm; null likewise.", minimum=0, maximum=1
    )

    @property
    def name(self) -> str:
        """The arm, and whether its norm was matched."""
        return f"{self.arm} (matched)" if self.norm == NORMS[1] else self.arm


@dataclass(frozen=True, kw_only=True)
class DetectionReport(Result):
    """Arms and baselines on one data set."""

    source: str = quantity("The file or folder.", asked=True)
    length: int = quantity("Rows of a window.", minimum=1, asked=True)
    stride: int = quantity("Rows from one window to the next; 0 where each case is one.", minimum=0, asked=True)
    gap: int = quantity("Rows between two parts that belong to neither.", minimum=0)
    positive: str = quantity("The class that is looked for.")
    training: int = quantity("Windows that networks were trained on.", minimum=1)
    validation: int = quantity("Windows that chose the learning rate.", minimum=1)
    test: int = quantity("Windows that the scores are of.", minimum=1)
    training_share: float = quantity("Share of the class in training.", minimum=0, maximum=1)
    test_share: float = quantity("Share of the class in the test.", minimum=0, maximum=1)
    rows: tuple[DetectorScores, ...] = quantity("Arms, then baselines.", least=1)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DetectionBody(Body):
    """How well arms told windows of a data set apart, beside baselines."""

    kind = "detection"
    draws = False
    report: DetectionReport = quantity("Arms and baselines.", inline=True)


def answer_detections(report: DetectionReport) -> Answer:
    """Turn scores on a data set into an answer.

    >>> row = DetectorScores(
    ...     arm="always", norm=None, runs=0, rms_norm=None, precision=0.5, recall=1.0, f1=0.75, f1_deviation=None,
    ...     f1_lowest=0.75, f1_highest=0.75, accuracy=0.5, difference=None, low=None, high=None, p=None,
    ...     p_corrected=None,
    ... )
    >>> report = DetectionReport(
    ...     source="a.csv", length=32, stride=16, gap=16, positive="1", training=60, validation=20, test=20,
    ...     training_share=0.5, test_share=0.5, rows=(row,),
    ... )
    >>> answer_detections(report).verdict.code
    'not-above-baselines'
    """
    parts = f"{report.training:,} of training, {report.validation:,} of validation, {report.test:,} of the test"
    shares = f"{100 * report.training_share:.1f} % of training, {100 * report.test_share:.1f} % of the test"
    return Answer(
        body=DetectionBody(report=report),
        verdict=_judge(report),
        results=report.rows,
        facts=(
            ("windows", f"{parts}; {count(report.length, 'row')} each, {count(report.gap, 'row')} between parts"),
            (f"class {report.positive}", shares),
            *((name, text) for name, text in BASELINES.items() if any(one.arm == name for one in report.rows)),
        ),
        notes=report.notes,
        shown=_SHOWN,
        digits=3,
        rows="all",
        narrow=("arm",),
    )


def _judge(report: DetectionReport) -> Verdict:
    arms = [one for one in report.rows if one.norm is not None]
    highest = max((one for one in report.rows if one.norm is None), key=lambda one: one.f1)
    if not arms:
        return VERDICTS.say("not-above-baselines", f"There is no arm; F1 is {highest.f1:.3f} for {highest.arm}.")
    best = max(arms, key=lambda one: one.f1)
    above = best.f1 > highest.f1
    said = f"Mean F1 is {best.f1:.3f} for {best.name} ({count(best.runs, 'seed')})"
    baseline = f"{'above' if above else 'not above'} the {highest.f1:.3f} of the baseline {highest.arm}"
    shown = [one for one in arms if one.p_corrected is not None and one.p_corrected < _LEVEL]
    differs = [f"{one.name} by {one.difference:+.3f}" for one in shown]
    more = f"F1 differs from that of sinusoidal for {join(differs, 4)}" if differs else "no arm is shown to differ"
    text = f"{said}, {baseline}; {more}{'' if differs else ' from sinusoidal'}."
    return VERDICTS.say("above-baselines" if above else "not-above-baselines", text)
