"""One trial: windows, network and training of one arm, and how well it judges windows that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass

from pe_spectra.quantities import Result, quantity
from pe_spectra.vocabulary import ENTRIES, NORMS, TASKS


@dataclass(frozen=True, kw_only=True)
class TrialResult(Result):
    """What came of one trial: a row of the results.

    >>> row = TrialResult(
    ...     task="lag", arm="none", norm="own", length=32, seed=0, spec="", entry="none", rms_norm=None, weights=9,
    ...     rate=1e-3, validation=(0.5,), accuracy=0.5, precision=None, recall=0.0, f1=0.0, loss=0.7, seconds=3.0,
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
