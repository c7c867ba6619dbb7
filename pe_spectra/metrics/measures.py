"""What the metrics share: how one is declared, checked arrays, budgets of work, reduced tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np

from pe_spectra.errors import InputError
from pe_spectra.exact import F64, ArrayLike
from pe_spectra.limits import MAX_HELD_ENTRIES, MAX_RANK_WORK
from pe_spectra.quantities import DECLARED, Quantity, Result
from pe_spectra.records import dataclass

#: Multiplications that matrix products may cost: they run several times faster than a decomposition.
MAX_PRODUCT_WORK = 4 * MAX_RANK_WORK
#: Values closer than this share of the largest count as equal where their order is asked for.
TIE = 1e-9
#: Entries that are worked on at a time.
_BLOCK = 1 << 20
#: Beyond these powers of two squares leave the range of float64.
_LARGEST_EXPONENT = 200


@dataclass(frozen=True, kw_only=True)
class Metric(Quantity):
    """A quantity by which encodings are compared; its text is a definition in one line.

    Attributes
    ----------
    better : "higher", "lower", or None where neither is.
    source : where it comes from.
    degree : multiplied with c > 0, position vectors give c**degree times the value; 0 where scale is no matter.

    >>> from pe_spectra.metrics import METRICS
    >>> METRICS["stable_rank"].text, METRICS["stable_rank"].better
    ('sum s**2 / s_1**2 of the table', None)
    """

    better: Literal["higher", "lower"] | None = None
    source: str
    degree: int = 0


def metric(text: str, *, source: str, **more: Any) -> Any:
    """Declare a metric as a field of what measures it; what else can be said of it stands at :class:`Metric`.

    >>> metric("sum s**2 / s_1**2", source="Rudelson & Vershynin 2007", minimum=1).metadata["quantity"].minimum
    1
    """
    return field(metadata={DECLARED: Metric(text=text, source=source, **more)})


#: Declares a share that says how much similarity follows the lag.
metric_of_order = partial(
    metric, better="higher", minimum=0, maximum=1, source="property: Wang et al., ICLR 2021; indicator: ours"
)


@dataclass(frozen=True, kw_only=True)
class Metrics(Result):
    """Metrics that are measured together; `reasons` says of each that is None why."""

    reasons: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def tell(cls, found: Mapping[str, float | str], **more: Any) -> Self:
        """Put together values and, in place of a value, the reason why there is none."""
        known = {name: float(one) for name, one in found.items() if not isinstance(one, str) and math.isfinite(one)}
        reasons = {
            name: one if isinstance(one, str) else "beyond the range of float64"
            for name, one in found.items()
            if name not in known
        }
        return cls(**dict.fromkeys(cls.quantities()) | known, reasons=MappingProxyType(reasons), **more)

    @classmethod
    def explain(cls, reason: str, **more: Any) -> Self:
        """Say why none of them has a value."""
        return cls.tell(dict.fromkeys(cls.quantities(), reason), **more)


def or_reason(value: float | None, reason: str) -> float | str:
    """Return a value, or the reason why there is none.

    >>> or_reason(0.5, "fewer than two lags"), or_reason(None, "fewer than two lags")
    (0.5, 'fewer than two lags')
    """
    return reason if value is None else value


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Metrics, the function that measures them, and the views of an encoding that it needs, or takes where there are.

    The names of views are those of :class:`pe_spectra.metrics.Views`.
    """

    kind: type[Metrics]
    function: Callable[..., Metrics]
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()


def check_table(table: ArrayLike, name: str = "table") -> F64:
    """Return the table as (S, d) float64.

    Raises
    ------
    InputError : no numbers, not two axes, no entry, more than 2**26 entries, or an entry that is not finite.

    >>> check_table([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    try:
        values = np.asarray(table, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is no table", type(table).__name__, "(S, d) numbers are accepted") from error
    if values.ndim != 2 or not values.size:
        raise InputError(f"{name} has the wrong shape", str(values.shape), "(S, d) is accepted, each at least 1")
    if values.size > MAX_HELD_ENTRIES:
        raise InputError(f"{name} has too many entries", str(values.size), f"at most {MAX_HELD_ENTRIES} are accepted")
    if not np.isfinite(values).all():
        raise InputError(f"{name} has entries that are not finite", "", "finite numbers are accepted")
    return values


def check_kernel(kernel: ArrayLike) -> F64:
    """Return the kernel at lags 0, 1, .. as (L,) float64; InputError where it is no such list.

    >>> check_kernel([1, 0.5]).tolist()
    [1.0, 0.5]
    """
    values = np.asarray(kernel, dtype=float)
    if values.ndim != 1 or not values.size:
        raise InputError("kernel has the wrong shape", str(values.shape), "(L,) is accepted, L at least 1")
    if not np.isfinite(values).all():
        raise InputError("kernel has values that are not finite", "", "finite numbers are accepted")
    return values


def rescale(table: F64) -> tuple[F64, float]:
    """Return the table and the power of two it was divided by, 1 unless squares would leave float64.

    >>> rescale(np.array([[3.0]]))[1], rescale(np.array([[1e300]]))[1] > 1e299
    (1.0, True)
    """
    exponent = math.frexp(float(np.max(np.abs(table))))[1]
    if abs(exponent) <= _LARGEST_EXPONENT:
        return table, 1.0
    return np.ldexp(table, 1 - exponent), math.ldexp(1.0, exponent - 1)  # 2**1024 is no float64


def take_first_off(table: F64) -> F64:
    """Codes less the first, or a quarter of that: constant columns become 0, and a far row rounds no other.

    >>> take_first_off(np.array([[1e20 / 3, 1.0], [1e20 / 3, 3.0]])).tolist()
    [[0.0, 0.0], [0.0, 2.0]]
    """
    with np.errstate(over="ignore"):
        changes: F64 = table - table[0]
    return changes if np.isfinite(changes).all() else table / 4 - table[0] / 4


def centre(table: F64) -> F64:
    """Take each column's mean off, and divide by a power of two where squares would leave float64; (S, d).

    A constant column becomes 0 exactly, and the power is that of what is left: both would be lost if
    a rounded mean were taken off codes of another size.

    >>> centre(np.array([[1e20 / 3, 1.0], [1e20 / 3, 3.0]])).tolist()
    [[0.0, -1.0], [0.0, 1.0]]
    """
    centred, _ = rescale(take_first_off(table))
    centred -= centred.mean(axis=0)
    return centred


def count_product_work(table: F64) -> int:
    """Multiplications of the smaller of the two Gram matrices of a table, S d min(S, d).

    >>> count_product_work(np.ones((10, 3)))  # 10 x 3 x 3
    90
    """
    rows, columns = table.shape
    return int(rows * columns * min(rows, columns))


def find_excess(what: str, table: F64, work: int | None = None) -> str | None:
    """Say what would cost too much for the table; None within the budget.

    That is 2**34 multiplications: `work`, or S d min(S, d) of a decomposition, whose min(S, d)**3 is up to 2**32, too.

    >>> find_excess("the rank", np.ones((10, 3))), find_excess("the rank", np.broadcast_to(1.0, (9000, 9000)))
    (None, 'the rank of a 9000 x 9000 table is beyond the budget of work')
    """
    rows, columns = table.shape
    is_beyond = (count_product_work(table) if work is None else work) > MAX_PRODUCT_WORK
    if is_beyond or (work is None and min(rows, columns) ** 3 > MAX_RANK_WORK):
        return f"{what} of a {rows} x {columns} table is beyond the budget of work"
    return None


def triangulate(table: F64) -> F64:
    """R of E = Q R, some rows at a time: (m, d), m at most d, with the singular values and the R'R = E'E of the table.

    >>> abs(triangulate(np.array([[3.0], [4.0]]))).round(12).tolist()
    [[5.0]]
    """
    columns = table.shape[1]
    rows = max(4 * columns, _BLOCK // columns, 1)
    triangle: F64 = np.empty((0, columns))
    for start in range(0, len(table), rows):
        stacked = np.concatenate([triangle, table[start : start + rows]])
        triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
    return triangle


def narrow(table: F64) -> F64:
    """Turn the rows of a table that is wider than long into S columns; all dot products stay as they are.

    >>> rows = narrow(np.array([[3.0, 0.0, 4.0]]))
    >>> rows.shape, float(abs(rows[0, 0]).round(12))
    ((1, 1), 5.0)
    """
    return table if table.shape[1] <= table.shape[0] else triangulate(table.T).T


def relate_separation(smallest: float | str, table: F64) -> float | str:
    """Divide a distance by the root of the mean squared one of all pairs, sqrt(2 sum |e(s) - mean|^2/(S-1)).

    Parameters
    ----------
    smallest : a distance, or why there is none. table : (S, d).

    Returns
    -------
    The ratio, or why there is none.

    >>> round(relate_separation(1.0, np.eye(4)), 9)  # over sqrt 2
    0.707106781
    """
    if isinstance(smallest, str):
        return smallest
    with np.errstate(over="ignore"):
        changes = table - table[0]  # of a constant column 0 exactly
    if not np.isfinite(changes).all():
        return "distances are beyond the range of float64"
    scaled, power = rescale(changes)
    centred = scaled - scaled.mean(axis=0)
    typical = math.sqrt(2 * float(np.sum(centred * centred)) / max(1, len(table) - 1))
    return smallest / power / typical if typical else "all position vectors are equal"


def measure_norm(table: F64) -> float:
    """Return the root mean squared norm of vectors (S, d).

    >>> measure_norm(np.array([[3.0, 4.0], [0.0, 5.0]]))
    5.0
    """
    scaled, power = rescale(table)
    return power * math.sqrt(float(np.sum(scaled * scaled)) / len(table))
