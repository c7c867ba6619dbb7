"""Which recipe a report is about: the one whose rounding merges positions, and the one that keeps them apart."""

from __future__ import annotations

from collections.abc import Sequence

from pe_spectra.precision.stages import Stage
from pe_spectra.precision.staircase import PrecisionReport

#: Where positions collide, the likeliest in practice first; where they stay apart, the narrowest first.
_BLAMED = ("bf16-positions", "all-bf16", "fp32-then-cast", "fp32")
_PRAISED = ("all-bf16", "bf16-positions", "fp32-then-cast", "fp32")
#: From the one that rounds least: where several merge the same two, the first of them is the cause.
_MILDEST = ("fp32", "fp32-then-cast", "bf16-positions", "all-bf16")


def find_blamed(report: PrecisionReport, dtype: str) -> Stage | None:
    """Return the code of a recipe that loses, in this type, what exact arithmetic tells apart; None for none.

    The likeliest recipe in practice chooses the two positions; the mildest that merges the same two is returned.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision import measure_precision
    >>> report = measure_precision(Sinusoidal(d=8), length=300, dtypes=["bfloat16"])
    >>> find_blamed(report, "bfloat16").recipe
    'bf16-positions'
    """
    lost = [row for row in report.codes if row.dtype == dtype and loses(row, report)]
    if not lost:
        return None
    likeliest = min(lost, key=lambda row: _rank(row, _BLAMED))
    merged = find_merged(likeliest, report)
    same = [row for row in lost if find_merged(row, report) == merged]
    # in float32 itself the final cast changes nothing: its name says more
    milder = [row for row in same if row.recipe != "fp32" or row.type != dtype]
    return min(milder or same, key=lambda row: _rank(row, _MILDEST))


def find_praised(report: PrecisionReport, dtype: str) -> Stage | None:
    """Return the code of the narrowest recipe that loses nothing in this type; None for none.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision import measure_precision
    >>> report = measure_precision(Sinusoidal(d=8), length=200, dtypes=["bfloat16"])
    >>> find_praised(report, "bfloat16").recipe
    'all-bf16'
    """
    kept = [row for row in report.codes if row.dtype == dtype and not loses(row, report)]
    return min(kept, key=lambda row: _rank(row, _PRAISED)) if kept else None


def loses(row: Stage, report: PrecisionReport) -> bool:
    """Whether rounding merges what exact arithmetic tells apart, or leaves a code that is no finite number.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision import measure_precision
    >>> report = measure_precision(Sinusoidal(d=8), length=300, dtypes=["bfloat16"], recipes=["bf16-positions"])
    >>> loses(report.rows[0], report)
    True
    """
    return row.not_finite > 0 or find_merged(row, report) is not None


def find_merged(row: Stage, report: PrecisionReport) -> tuple[int, int] | None:
    """Return the first two positions that rounding merges, of the recipe that a row belongs to.

    >>> from pe_spectra import Sinusoidal
    >>> from pe_spectra.precision import measure_precision
    >>> report = measure_precision(Sinusoidal(d=8), length=300, dtypes=["bfloat16"], recipes=["bf16-positions"])
    >>> find_merged(report.rows[0], report)
    (256, 257)
    """
    return next(one.merged for one in report.stairs if (one.dtype, one.recipe) == (row.dtype, row.recipe))


def _rank(row: Stage, order: Sequence[str]) -> int:
    return order.index(row.recipe) if row.recipe in order else len(order)
