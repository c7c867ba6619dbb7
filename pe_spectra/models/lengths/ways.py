"""The ways to lengthen the context of a rotary model: what each does, and what is known of it at the target.

Symbols as in `bounds`; theta' are the frequencies at the target.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pe_spectra.exact import F64
from pe_spectra.faces import Cell
from pe_spectra.models.audited_pairs import TOLERANCE, TURN
from pe_spectra.models.lengths.bounds import Bound
from pe_spectra.models.rotation import SAME_FORMULA
from pe_spectra.quantities import Result, derived, quantity, tabulate

Flags = NDArray[np.bool_]
Options = Mapping[str, float | int | bool]

#: Cosines that are computed for one stretch of lags, and the lags that it has computed at least.
_COSINES, _FEWEST = 1 << 14, 16


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to lengthen a context: what it does, its published keys besides those of the lengths, a remark.

    >>> WAYS["llama3"].keys["high_freq_factor"]
    4
    """

    does: str
    keys: Options = field(default_factory=lambda: MappingProxyType({}))
    remark: str = ""


#: Every way that is compared, by name, the unchanged model first.
WAYS: Mapping[str, Way] = {
    "none": Way(does="keeps all frequencies"),
    "linear": Way(does="divides all frequencies by the factor"),
    "ntk": Way(does="enlarges the base, so that the slowest pair is divided by the factor"),
    "dynamic": Way(
        does="enlarges the base as the text grows",
        remark="at the target; shorter texts are slowed less, and keys that are cached keep the base of their time",
    ),
    "yarn": Way(
        does="divides slow pairs and keeps fast ones, in between by index",
        keys={"beta_fast": 32, "beta_slow": 1, "truncate": True},
        remark="as coded: the ramp is linear in the index of the pair",
    ),
    "yarn-paper": Way(
        does="divides slow pairs and keeps fast ones, in between by periods",
        keys={"beta_fast": 32, "beta_slow": 1},
        remark="as the paper says: the ramp is linear in the periods; no common library computes this",
    ),
    "llama3": Way(
        does="divides slow pairs and keeps fast ones, as Llama 3.1 does",
        keys={"low_freq_factor": 1, "high_freq_factor": 4},
    ),
    "critical-base": Way(does="takes the critical base", remark="Liu et al.: meant for fine-tuning at the target"),
    "men-base": Way(
        does="takes the smallest base of Men et al.",
        remark="Men et al.: the smallest with two significant digits without a negative sum up to the target; meant "
        "for training",
    ),
}
_NUMBER, _COUNT = {"type": "number", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}
_ABOVE_ONE = {"type": "number", "exclusiveMinimum": 1}
#: What a way can be computed with: JSON Schema and meaning of each key.
_KEYS: Mapping[str, tuple[Mapping[str, object], str]] = {
    "base": (_ABOVE_ONE, "Base of the ladder."),
    "factor": (_ABOVE_ONE, "Target over training context length."),
    "original": (_COUNT, "Training context length, in positions."),
    "served": (_COUNT, "Target, in positions."),
    "beta_fast": (_NUMBER, "Periods in training from which on YaRN keeps a pair."),
    "beta_slow": (_NUMBER, "Periods in training up to which YaRN divides a pair."),
    "truncate": ({"type": "boolean"}, "Whether the ends of YaRN's ramp are rounded to whole pairs."),
    "low_freq_factor": (_NUMBER, "Periods in training up to which llama3 divides a pair."),
    "high_freq_factor": (_NUMBER, "Periods in training from which on llama3 keeps a pair."),
}
_PARAMETERS = {
    "type": "object",
    "properties": {key: {**form, "description": text} for key, (form, text) in _KEYS.items()},
    "required": ["base"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class KernelSample:
    """S(m)/S(0), the mean cosine over the pairs, by stretches of lags that are equally long in the logarithm.

    Attributes
    ----------
    lags : (B,), geometric middle of each stretch, in positions.
    low, mean, high : (B,), least, mean and largest value in each.
    """

    lags: F64
    low: F64
    mean: F64
    high: F64


def sample_kernel(frequencies: F64, longest: int, *, stretches: int = 160) -> KernelSample:
    """Sample the kernel of a rotary encoding from lag 1 to `longest`, on a logarithmic axis.

    Parameters
    ----------
    frequencies : (D/2,), rad/position. longest : lag, >= 2.
    stretches : how many at most; each holds one lag at least, of longer ones some lags are computed, evenly spread.

    >>> sample = sample_kernel(np.array([1.0]), 100, stretches=4)
    >>> len(sample.mean)
    4
    """
    most = max(_FEWEST, _COSINES // frequencies.size)
    rows = []
    for first, last in _list_stretches(longest, stretches):
        lags = np.unique(np.linspace(first, last, min(most, last - first + 1)).astype(np.int64)).astype(float)
        values = np.mean(np.cos(np.multiply.outer(lags, frequencies)), axis=1)
        rows.append((math.sqrt(first * last), values.min(), values.mean(), values.max()))
    lags, low, mean, high = np.array(rows).T
    return KernelSample(lags=lags, low=low, mean=mean, high=high)


def _list_stretches(longest: int, count: int) -> Iterator[tuple[int, int]]:
    """First and last lag of each stretch, from 1 to `longest` without a gap."""
    edges = np.unique(np.rint(np.geomspace(1, longest + 1, count + 1)).astype(np.int64)).tolist()
    for first, following in itertools.pairwise(edges):
        yield first, following - 1


@dataclass(frozen=True, kw_only=True)
class LengthenedPair(Result):
    """One pair of one way, at the target."""

    method: str = quantity("Name of the way.", key=None)
    pair: int = quantity("Index of the pair, the fastest first.", minimum=0)
    frequency: float = quantity("Angular frequency.", unit="rad/position", above=0)
    wavelength: float = quantity("2 pi / frequency.", unit="positions", above=0)
    turns: float = quantity("Periods that it completes within the target.", above=0)
    unseen: bool = quantity("Whether it has out-of-range phases, not covered in training.")


@dataclass(frozen=True, kw_only=True)
class MethodResult(Result):
    """One way to lengthen the context, at the target."""

    method: str = quantity(
        f"Name of the way: {'; '.join(f'{name} {way.does}' for name, way in WAYS.items())}.", words=tuple(WAYS)
    )
    parameters: Options = quantity("What it was computed with.", schema=_PARAMETERS, column=None)

    @derived("Base that it was computed with.", key=None)
    def base(self) -> float:
        """Base that it was computed with."""
        return self.parameters["base"]

    @derived("Factor that it was computed with; null for a way without one.", key=None)
    def factor(self) -> float | None:
        """Factor that it was computed with."""
        return self.parameters.get("factor")

    @derived(
        "Pairs with out-of-range phases: they completed no period in training, and the phase theta' T is above "
        f"{TOLERANCE} theta L.",
        minimum=0,
    )
    def unseen_pairs(self) -> int:
        """How many pairs have phases not covered in training."""
        return int(np.count_nonzero(self.unseen))

    unseen_share: float = quantity(
        "Of the phases met, up to a period, the share not covered in training: the mean over all pairs of "
        "1 - min(theta L, 2 pi) / min(theta' T, 2 pi), 0 for pairs without. Ours.",
        minimum=0,
        maximum=1,
    )
    never_turn: int = quantity("Pairs that never complete a period within the target: theta' T < 2 pi.", minimum=0)
    kept_pairs: int = quantity(f"Pairs whose frequency stays as it was, to {SAME_FORMULA}.", minimum=0)
    min_wavelength: float = quantity("Wavelength of the fastest pair.", unit="positions", above=0)
    neighbour_distance: float = quantity(
        "Distance of the vectors of neighbouring positions, sqrt(sum 2 (1 - cos theta')), over that before the "
        "change; below 1 they are harder to distinguish. Ours.",
        above=0,
    )
    first_negative_lag: int | None = quantity(
        "Smallest lag m with sum cos(m theta') < 0 over the pairs, every sign decided in exact arithmetic; null where "
        "there is none up to scanned_lags. Men et al. 2024, arXiv:2405.14591.",
        unit="positions",
        minimum=1,
    )
    attention_scaling: float = quantity("Factor on every cosine and sine.", above=0)
    target: int = quantity("Inference context length.", unit="positions", key=None, column=None)
    frequencies: F64 = quantity(
        "Of each pair, the fastest first, right to float64; read-only.", unit="rad/position", key=None, column=None
    )
    turns: F64 = quantity("Periods of each pair within the target.", key=None, column=None)
    unseen: Flags = quantity("Pairs with out-of-range phases.", key=None, column=None)

    @derived("Every pair, the fastest first.", key="frequencies", column=None, least=2)
    def every_pair(self) -> tuple[LengthenedPair, ...]:
        """Every pair, the fastest first."""
        rows = zip(self.frequencies.tolist(), self.turns.tolist(), self.unseen.tolist(), strict=True)
        return tuple(
            LengthenedPair(
                method=self.method, pair=pair, frequency=theta, wavelength=TURN / theta, turns=turns, unseen=unseen
            )
            for pair, (theta, turns, unseen) in enumerate(rows)
        )

    @derived("Mean cosine over the pairs, from lag 1 to the target.", key=None, column=None)
    def kernel(self) -> KernelSample:
        """Mean cosine over the pairs, from lag 1 to the target."""
        return sample_kernel(self.frequencies, self.target)

    notes: tuple[str, ...] = quantity("What to know about it, each a sentence.", default=(), write="; ".join)


@dataclass(frozen=True, kw_only=True)
class ContextParameters(Result):
    """What was asked."""

    d: int = quantity("Rotary width of a head, D, in channels.", minimum=4)
    base: float | None = quantity("Base in training.", above=1, only=lambda asked: asked.base is not None)
    trained: int | None = quantity(
        "Training context length.", unit="positions", minimum=8, only=lambda asked: asked.trained is not None
    )
    target: int = quantity("Inference context length.", unit="positions", minimum=8)


@dataclass(frozen=True, kw_only=True)
class ContextReport(Result):
    """What there is to know about a context length.

    >>> from pe_spectra.models.lengths.methods import propose_bases
    >>> report = propose_bases(128, 1024)
    >>> report.d, report.pairs, list(report.to_columns())[:2]
    (128, 64, ['name', 'value'])
    """

    parameters: ContextParameters = quantity("What was asked.", column=None)
    critical_dimension: int | None = quantity(
        "Channels that completed a period in training, 2 ceil(D/2 log_b(L / 2 pi)), from 0 to D; l* of Eq. 16 with L "
        "for d, rounded up to whole pairs; null without a model. Liu et al. 2023, arXiv:2310.05209, lemma 1.",
        default=None,
        minimum=0,
        column=None,
    )
    never_turn_in_training: int | None = quantity(
        "Pairs that completed none, theta L < 2 pi; null without a model.", default=None, minimum=0, column=None
    )
    scanned: int | None = quantity(
        "Lags up to which negative sums were looked for; null without a model.",
        default=None,
        key="scanned_lags",
        minimum=1,
        column=None,
    )
    methods: tuple[MethodResult, ...] = quantity(
        "The ways to lengthen the context, the unchanged model first; empty without a model.", default=(), key="rows"
    )
    bounds: tuple[Bound, ...] = quantity(
        "What the literature proposes; the numbers contradict each other, since their assumptions do.",
        least=1,
        column=None,
    )
    notes: tuple[str, ...] = quantity("What to know about all ways.", default=(), key=None, column=None)

    @property
    def d(self) -> int:
        """Rotary width in channels, D."""
        return self.parameters.d

    @property
    def pairs(self) -> int:
        """Number of pairs, D/2."""
        return self.d // 2

    @property
    def base(self) -> float | None:
        """Base of the model to be lengthened; None where only the length is asked about."""
        return self.parameters.base

    @property
    def trained(self) -> int | None:
        """Training context length of that model."""
        return self.parameters.trained

    @property
    def target(self) -> int:
        """Inference context length."""
        return self.parameters.target

    def to_columns(self) -> dict[str, Sequence[Cell]]:
        """Return a row for each way, with the periods of five pairs; without a model one for each bound."""
        if not self.methods:
            return tabulate(self.bounds)
        columns = tabulate(self.methods)
        notes = columns.pop("notes")
        for pair in sorted({round(share * (self.pairs - 1)) for share in (0, 0.25, 0.5, 0.75, 1)}):
            columns[f"turns_pair_{pair}"] = [float(row.turns[pair]) for row in self.methods]
        return {**columns, "notes": notes}
