"""One line of the table of ratios: what is compared with what, and what the ratio should be."""

from __future__ import annotations

from collections.abc import Callable

from pe_spectra.benchmarks.measuring import Ratios
from pe_spectra.records import dataclass


@dataclass(frozen=True, kw_only=True)
class RatioRow:
    """What is measured over what, and its target; `measure` returns ratios, or says why there are none.

    >>> row = RatioRow(name="X", what="one", over="another", target=2.0, measure=lambda: "skipped: no clock")
    >>> row.title, row.is_reached(2.5), row.is_reached(2.5, margin=1.5)
    ('one over another', False, True)

    Attributes
    ----------
    over : what it is measured against; empty where the number is no ratio.
    gate : a miss fails the benchmarks in tests/.
    margin : how many times worse than the target their quick form lets it be; None: that form leaves it out.
    """

    name: str
    what: str
    over: str = ""
    target: float
    measure: Callable[[], Ratios | str]
    at_most: bool = True
    gate: bool = False
    margin: float | None = None

    @property
    def title(self) -> str:
        """What is measured over what, in a line."""
        return f"{self.what} over {self.over}" if self.over else self.what

    def is_reached(self, value: float, margin: float = 1.0) -> bool:
        """Whether a ratio is as the target has it, or up to `margin` times worse."""
        return value <= self.target * margin if self.at_most else value >= self.target / margin
