"""Ratios of processor time that were measured here, as an answer."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence

from pe_spectra.answers.answer import Answer, Body, Verdicts
from pe_spectra.benchmarks import RatioRow, Ratios
from pe_spectra.quantities import Result, quantity
from pe_spectra.records import dataclass
from pe_spectra.wording import count

VERDICTS = Verdicts({"targets-reached": "ok", "targets-missed": "note"})
#: How a target bounds its ratio.
_BOUNDS = ("<=", ">=")


@dataclass(frozen=True, kw_only=True)
class RatioResult(Result):
    """One ratio of processor times, measured in turns."""

    name: str = quantity("Which row of the table of targets.", column="row")
    what: str = quantity("What is measured.")
    over: str = quantity("What it is divided by.")
    bound: str = quantity("Whether the ratio should be at most the target, or at least.", words=_BOUNDS)
    target: float = quantity("What is stated.", above=0)
    reached: bool = quantity("Whether the median is as stated or better.")
    median: float = quantity("Median of the rounds.", above=0)
    low: float = quantity("10 % quantile of the rounds.", above=0, column="10 %")
    high: float = quantity("90 % quantile of the rounds.", above=0, column="90 %")


@dataclass(frozen=True, kw_only=True)
class BenchBody(Body):
    """How fast the package is on one machine, as ratios within one run."""

    kind = "bench"
    draws = False
    python: str = quantity("Version of Python.")
    numpy: str = quantity("Version of NumPy.")
    scipy: str = quantity("Version of SciPy.")
    machine: str = quantity("System and kind of processor.")
    processors: int | None = quantity("How many the system has; null where it does not tell.", minimum=1)
    reached: int = quantity("Ratios that are as stated or better.", minimum=0)
    rows: tuple[RatioResult, ...] = quantity("One for each ratio that was measured.")


def answer_bench(found: Sequence[tuple[RatioRow, Ratios | str]]) -> Answer:
    """Turn measured rows into an answer; one that has no ratios here is left out, and a note says why.

    >>> row = RatioRow(name="X", what="one", over="another", target=2.0, measure=lambda: Ratios(ratios=(1.0,)))
    >>> answer_bench([(row, row.measure())]).verdict.text
    '1 of 1 ratio is as stated or better on this machine.'
    """
    from importlib.metadata import version

    rows = tuple(_describe(row, measured) for row, measured in found if isinstance(measured, Ratios))
    reached = sum(one.reached for one in rows)
    body = BenchBody(
        python=platform.python_version(),
        numpy=version("numpy"),
        scipy=version("scipy"),
        machine=f"{platform.system()} {platform.machine()}",
        processors=os.cpu_count(),
        reached=reached,
        rows=rows,
    )
    code = "targets-reached" if reached == len(rows) else "targets-missed"
    said = f"{reached} of {count(len(rows), 'ratio')} {'is' if reached == 1 else 'are'} as stated or better"
    return Answer(
        body=body,
        verdict=VERDICTS.say(code, f"{said} on this machine."),
        results=rows,
        facts=(
            ("versions", f"Python {body.python}, NumPy {body.numpy}, SciPy {body.scipy}"),
            ("machine", body.machine + (f", {count(body.processors, 'processor')}" if body.processors else "")),
        ),
        notes=[f"{row.name}, {row.title}: {measured}" for row, measured in found if isinstance(measured, str)],
        rows="all",
        narrow=("what", "over"),
        digits=3,
    )


def _describe(row: RatioRow, measured: Ratios) -> RatioResult:
    return RatioResult(
        name=row.name,
        what=row.what,
        over=row.over,
        bound=_BOUNDS[not row.at_most],
        target=row.target,
        median=measured.median,
        low=measured.low,
        high=measured.high,
        reached=row.is_reached(measured.median),
    )
