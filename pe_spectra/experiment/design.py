"""What is fixed before arms are compared, and the list of the trials that are to be run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal, TypeAlias, cast

from pe_spectra.errors import InputError
from pe_spectra.experiment.arms import HEADS, WIDTH, has_norm, name_arm
from pe_spectra.numbers import Choice, IntegerRange
from pe_spectra.records import dataclass
from pe_spectra.vocabulary import NORMS, TASKS

Norm: TypeAlias = Literal["own", "matched"]

#: Windows shorter than this have no room for what is planted in them; longer ones are not what the sizes were set for.
LENGTHS = IntegerRange(minimum=16, maximum=512)
SEEDS = IntegerRange(minimum=0, maximum=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One network to be trained: what differs from run to run, and nothing else.

    Attributes
    ----------
    task : what it is taught.
    arm : the encoding, as `name_arm` writes it, or "none".
    norm : "own", or "matched": the vectors scaled to the root mean square norm of the sinusoid.
    length : positions of a window.
    seed : of the windows and of the first weights, in streams of their own.

    >>> Trial(task="lag", arm="dft", norm="matched", length=32, seed=0).key
    'lag|dft|matched|32|0'
    """

    task: str
    arm: str
    norm: Norm
    length: int
    seed: int

    @property
    def key(self) -> str:
        """A text for each trial, the same in every run of the program."""
        return f"{self.task}|{self.arm}|{self.norm}|{self.length}|{self.seed}"


@dataclass(frozen=True, kw_only=True)
class Design:
    """Everything that is the same for all arms.

    Attributes
    ----------
    version : of tasks, network and training: results of two versions are not comparable.
    width, layers, heads, hidden : of the network; `hidden` of the middle of its feed-forward part.
    windows, validation, test : how many windows are trained on, choose the learning rate, and judge.
    scale : distance in positions at which the tasks plant their differences.
    noise : standard deviation of the normal numbers in every window.
    passes, batch : over the windows of training, and windows of one step.
    rates : learning rates that are tried, one after the other; that with the most right validation windows is judged.
    settled : share of right validation windows from which on no further rate is tried.
    learned : mean loss of a pass below which training ends.
    warmup : share of the steps in which the rate rises; after that it falls to 0 as a cosine.
    decay : weight decay of AdamW.
    clip : norm to which a longer gradient is shortened.

    >>> FULL.to_dict()["width"], FULL.head_width, QUICK.version == FULL.version
    (32, 8, True)
    """

    version: int = 2
    width: int = WIDTH
    layers: int = 2
    heads: int = HEADS
    hidden: int = 64
    windows: int = 1024
    validation: int = 1024
    test: int = 1024
    scale: int = 6
    noise: float = 0.1
    passes: int = 12
    batch: int = 16
    rates: tuple[float, ...] = (4e-3, 2e-3, 8e-3)
    settled: float = 0.995
    learned: float = 0.01
    warmup: float = 0.1
    decay: float = 0.01
    clip: float = 1.0

    @property
    def head_width(self) -> int:
        """Columns of one head."""
        return self.width // self.heads

    @property
    def steps(self) -> int:
        """Steps of one training at most."""
        return self.passes * (self.windows // self.batch)

    def to_dict(self) -> dict[str, object]:
        """Return the settings by name, as JSON has them.

        >>> FULL.to_dict()["rates"]
        [0.004, 0.002, 0.008]
        """
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


#: The study; and a form of it that shows the strongest effects within minutes.
FULL = Design()
QUICK = Design(rates=FULL.rates[:1])


def list_trials(
    tasks: Sequence[str],
    arms: Sequence[str],
    norms: Sequence[str],
    lengths: Sequence[int],
    seeds: Sequence[int],
    design: Design = FULL,
) -> tuple[Trial, ...]:
    """List the trials of an experiment, each once: all arms of a seed and task follow each other.

    An arm without vectors that are added to tokens (none, rope, alibi) has the one norm "own", whichever is asked
    for; so has one whose own norm is that of `sinusoidal`, which others are matched to.

    Parameters
    ----------
    tasks : of `TASKS`.
    arms : SPECs, or "none".
    norms : of `NORMS`.
    lengths : positions of a window, 16 to 512.
    seeds : integers from 0 on.

    Raises
    ------
    InputError : one that is not known or out of range; an arm that cannot be one.
    FileError : a table that cannot be read.

    >>> [trial.key for trial in list_trials(["lag"], ["none", "dft"], ["own", "matched"], [32], [0])]
    ['lag|none|own|32|0', 'lag|dft|own|32|0', 'lag|dft|matched|32|0']
    """
    for task in tasks:
        Choice(members=TASKS).check(task, "task")
    for norm in norms:
        Choice(members=NORMS).check(norm, "norm")
    for length in lengths:
        LENGTHS.check(length, "length")
    for seed in seeds:
        SEEDS.check(seed, "seed")
    if not (tasks and arms and norms and lengths and seeds):
        raise InputError("an experiment has no trials", accepted="at least one task, arm, norm, length and seed")
    named = {
        length: [
            (name_arm(arm, length=length, width=design.width, heads=design.heads), has_norm(arm, length, design.width))
            for arm in arms
        ]
        for length in lengths
    }
    found = [
        Trial(task=task, arm=arm, norm=cast("Norm", norm), length=length, seed=seed)
        for length in lengths
        for seed in seeds
        for task in tasks
        for arm, scalable in named[length]
        for norm in (norms if scalable else ["own"])
    ]
    return tuple(dict.fromkeys(found))
