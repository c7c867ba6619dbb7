"""One trial: windows, network and training of one arm, and how well it judges windows that it has not seen."""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.experiment.arms import Arm, build_arm
from pe_spectra.experiment.design import Design, Trial
from pe_spectra.experiment.network import Weights, count_weights
from pe_spectra.experiment.scores import measure_scores
from pe_spectra.experiment.streams import draw_encoding_seed
from pe_spectra.experiment.tasks import draw_windows
from pe_spectra.experiment.training import LabelledWindows, judge_windows, train_network
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import ENTRIES, NORMS, TASKS


@dataclass(frozen=True, kw_only=True)
class TrialResult(Result):
    """What came of one trial: a row of the results.

    >>> row = TrialResult(
    ...     task="lag", arm="none", norm="own", length=32, seed=0, spec="", entry="none", rms_norm=None, weights=9,
    ...     rate=1e-3, validation=(0.5,), passes=12, accuracy=0.5, precision=None, recall=0.0, f1=0.0, loss=0.7,
    ...     seconds=3.0,
    ... )
    >>> row.to_columns()["accuracy"]
    [0.5]
    """

    task: str = quantity("What the network was taught.", words=TASKS)
    arm: str = quantity("The encoding, a SPEC without the sizes of the network; or none.")
    norm: str = quantity("Its own vectors, or scaled to the root mean square norm of the sinusoid.", words=NORMS)
    length: int = quantity("Positions of a window.", minimum=1)
    seed: int = quantity("Of windows and first weights.", minimum=0)
    spec: str = quantity("The SPEC with all its sizes and its seed; empty for none.")
    entry: str = quantity("Where it enters the network.", words=ENTRIES)
    rms_norm: float | None = quantity(
        "Root mean square norm of the vectors added to tokens, before training; null for what is not added.", minimum=0
    )
    weights: int = quantity("Numbers that training changes.", minimum=0)
    rate: float = quantity("Learning rate of the network that is judged: the best on validation windows.", above=0)
    validation: tuple[float, ...] = quantity(
        "Share of validation windows judged rightly, for each rate that was tried.", minimum=0, maximum=1
    )
    passes: int = quantity("Passes over the training windows of the network that is judged.", minimum=1)
    accuracy: float = quantity("Share of test windows judged rightly.", minimum=0, maximum=1)
    precision: float | None = quantity(
        "Share of windows with label 1 among those judged to have it; null where none was.", minimum=0, maximum=1
    )
    recall: float | None = quantity(
        "Share of windows judged to have label 1 among those with it; null where none has.", minimum=0, maximum=1
    )
    f1: float | None = quantity(
        "2 P R/(P + R) of precision and recall: 0 where no window was rightly judged to have label 1.",
        minimum=0,
        maximum=1,
    )
    loss: float = quantity("Mean logistic loss of training windows in the last pass.", minimum=0)
    seconds: float = quantity("Processor time of the trial, of all rates.", unit="s", minimum=0)

    @property
    def key(self) -> str:
        """The key of its trial."""
        return f"{self.task}|{self.arm}|{self.norm}|{self.length}|{self.seed}"


class HasParts(Protocol):
    """Windows of three parts: planted ones, or those of a data set."""

    @property
    def training(self) -> LabelledWindows: ...

    @property
    def validation(self) -> LabelledWindows: ...

    @property
    def test(self) -> LabelledWindows: ...


def learn_windows(
    data: HasParts, arm: Arm, design: Design, seed: int, importance: tuple[float, float] = (1.0, 1.0)
) -> dict[str, Any]:
    """Train a network at each rate, choose one by the validation windows, and judge the test windows with it.

    Test windows are looked at once, after the choice. Of rates with as many right, the first is chosen; where one
    leaves next to nothing to be won, the rates after it are not tried.

    Parameters
    ----------
    data : the windows.
    arm : what the encoding puts into the network.
    design : what is the same for all arms.
    seed : of the first weights and the order of batches.
    importance : what the losses of windows of label 0 and of label 1 are multiplied with.

    Returns
    -------
    dict : the fields of :class:`TrialResult` from `spec` on, but `seconds`.

    Raises
    ------
    InputError : labels other than 0 and 1, or fewer windows than a batch has.
    PeSpectraError : JAX or Optax is not installed.
    """
    networks: list[tuple[Weights, F64]] = []
    validation = []
    for rate in design.rates:
        networks.append(train_network(data.training, arm, design, rate, seed, importance))
        logits = judge_windows(networks[-1][0], data.validation, arm, design)
        validation.append(measure_scores(data.validation.labels, logits > 0).accuracy)
        if validation[-1] >= design.settled:
            break
    chosen = int(np.argmax(validation))
    weights, losses = networks[chosen]
    scores = measure_scores(data.test.labels, judge_windows(weights, data.test, arm, design) > 0)
    return {
        "spec": arm.spec,
        "entry": arm.entry,
        "rms_norm": arm.rms_norm,
        "weights": count_weights(weights, arm),
        "rate": design.rates[chosen],
        "validation": tuple(validation),
        "passes": len(losses),
        "loss": float(np.mean(losses[-1])),
        **{name: getattr(scores, name) for name in ("accuracy", "precision", "recall", "f1")},
    }


def run_trial(trial: Trial, design: Design) -> TrialResult:
    """Draw the windows of a trial, train its network at each rate, and judge the best one on the test windows.

    The same on one machine for one seed; another processor, or another version of JAX, rounds otherwise, and where
    learning hangs on little may end elsewhere.

    Raises
    ------
    InputError : an arm that cannot be one, or a window too short for its task.
    FileError : a table that cannot be read.
    PeSpectraError : JAX or Optax is not installed.
    """
    start = time.process_time()
    data = draw_windows(
        trial.task,
        length=trial.length,
        seed=trial.seed,
        scale=design.scale,
        noise=design.noise,
        counts=(design.windows, design.validation, design.test),
    )
    arm = build_arm(
        trial.arm,
        length=trial.length,
        width=design.width,
        heads=design.heads,
        norm=trial.norm,
        seed=draw_encoding_seed(trial.seed),
    )
    learned = learn_windows(data, arm, design, trial.seed)
    return TrialResult(**vars(trial), **learned, seconds=time.process_time() - start)
