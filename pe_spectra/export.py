"""What was analysed, as an array that can be taken away: a table, frequencies, a kernel or a bias."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pe_spectra.encodings import (
    Encoding,
    Frequencies,
    HasBias,
    HasBiasMap,
    HasContinuousTable,
    HasFrequencies,
    HasKernel,
    HasLagTable,
    HasTable,
)
from pe_spectra.encodings.codes import list_places, read_codes
from pe_spectra.errors import InputError
from pe_spectra.exact import F64, I64
from pe_spectra.limits import MAX_HELD_ENTRIES
from pe_spectra.spectrum import estimate_kernel
from pe_spectra.spectrum.kernels import check_length
from pe_spectra.vocabulary import EXPORTED


@dataclass(frozen=True, kw_only=True, eq=False)
class Exported:
    """An array of an encoding.

    Attributes
    ----------
    encoding : where it is from.
    what : "table", "frequencies", "kernel" or "bias".
    index_name : what a row stands for: "position", "lag" or "index".
    index : (rows,) the positions, lags or numbers of the rows.
    columns : a name for each column.
    values : (rows, columns) float64.
    """

    encoding: Encoding
    what: str
    index_name: str
    index: I64 | F64
    columns: tuple[str, ...]
    values: F64

    def __post_init__(self) -> None:
        self.index.flags.writeable = False
        self.values.flags.writeable = False


def list_exports(encoding: Encoding) -> tuple[str, ...]:
    """Return what can be taken away of an encoding, in the order in which `export` prefers it.

    >>> from pe_spectra import Sinusoidal, read_encoding
    >>> list_exports(Sinusoidal()), list_exports(read_encoding("alibi"))
    (('table', 'frequencies', 'kernel'), ('bias', 'kernel'))
    """
    has = {
        "table": isinstance(encoding, HasTable | HasLagTable),
        "frequencies": isinstance(encoding, HasFrequencies),
        "kernel": isinstance(encoding, HasTable | HasKernel | HasBias | HasBiasMap | HasLagTable)
        and encoding.shape is None,
        "bias": isinstance(encoding, HasBias | HasBiasMap),
    }
    if has["bias"]:
        return tuple(name for name in ("bias", "kernel", "table", "frequencies") if has[name])
    return tuple(name for name in EXPORTED if has[name])


def export_encoding(
    encoding: Encoding, what: str | None = None, *, length: int | None = None, positions: F64 | None = None
) -> Exported:
    """Return one array of an encoding, as the analyses see it.

    Parameters
    ----------
    what : "table" (a row for each position, or lag), "frequencies" (frequency, mass, phase), "kernel" or
        "bias" (a row for each lag, of either sign where both occur, and a column for each head; a bias
        that is not a function of the lag has a row for each query and a column for each head and key).
        Default the first that it has.
    length : number of positions; default all rows of a table, else 80 (256 for encodings of lags).
    positions : real positions, for the table of an encoding that takes them.

    Raises
    ------
    InputError : something that the encoding has not.

    >>> from pe_spectra import Sinusoidal
    >>> export_encoding(Sinusoidal(d=4), "frequencies").values[:, 0]
    array([1.  , 0.01])
    """
    offered = list_exports(encoding)
    chosen = what or (*offered, "")[0]
    if chosen not in offered:
        raise InputError(
            f"{encoding.label} has no {chosen or 'array'} to export", accepted=f"it has {', '.join(offered)}"
        )
    if positions is not None:
        return _export_at(encoding, chosen, positions)
    if chosen == "frequencies" and isinstance(encoding, HasFrequencies):
        return _export_frequencies(encoding, encoding.frequencies())
    size = check_length(encoding, length)
    if chosen == "table":
        return _export_table(encoding, size)
    return _export_kernel(encoding, size) if chosen == "kernel" else _export_bias(encoding, size)


def count_exported(encoding: Encoding, what: str | None, length: int) -> int:
    """Return how many numbers :func:`export_encoding` would give, without computing any of them.

    Of frequencies the most that there may be: one for each column.

    >>> from pe_spectra import Sinusoidal
    >>> count_exported(Sinusoidal(d=4), None, 80)
    320
    """
    chosen = what or (*list_exports(encoding), "")[0]
    width = int(getattr(encoding, "d", 1))
    if chosen == "frequencies":
        return 3 * width
    if chosen == "bias" and not isinstance(encoding, HasBias):
        return encoding.heads * length * length
    rows = 2 * length - 1 if _has_two_sides(encoding) else length
    return rows * (width if chosen == "table" else encoding.heads)


def _export_at(encoding: Encoding, what: str, positions: F64) -> Exported:
    if what != "table" or not isinstance(encoding, HasContinuousTable):
        raise InputError(f"{encoding.label} has no {what} at real positions", accepted="integers: --length")
    values = encoding.table_at(positions)
    return Exported(
        encoding=encoding,
        what=what,
        index_name="position",
        index=positions.copy(),
        columns=_name("c", values),
        values=values,
    )


def _export_frequencies(encoding: Encoding, found: Frequencies) -> Exported:
    values = np.stack([found.values, found.masses, found.phases], axis=1)
    return Exported(
        encoding=encoding,
        what="frequencies",
        index_name="index",
        index=np.arange(len(values)),
        columns=("frequency", "mass", "phase"),
        values=values,
    )


def _export_table(encoding: Encoding, size: int) -> Exported:
    if isinstance(encoding, HasLagTable):
        index = np.sort(list_places(encoding, size))
        values, name = encoding.lag_table(index), "lag"
    else:
        values, index, name = read_codes(encoding, size), np.arange(size), "position"
    return Exported(
        encoding=encoding, what="table", index_name=name, index=index, columns=_name("c", values), values=_own(values)
    )


def _has_two_sides(encoding: Encoding) -> bool:
    return isinstance(encoding, HasBias | HasBiasMap | HasLagTable) and not encoding.causal


def _export_kernel(encoding: Encoding, size: int) -> Exported:
    two_sided = _has_two_sides(encoding)
    lags = np.arange(1 - size if two_sided else 0, size)
    if two_sided and not isinstance(encoding, HasLagTable):
        values = _exponentiate_bias(encoding, lags)
    else:
        values = _read_kernel(encoding, size)[np.abs(lags)]  # a mean of dot products is even in the lag
    return Exported(
        encoding=encoding,
        what="kernel",
        index_name="lag",
        index=lags,
        columns=_name("head", values),
        values=_own(values),
    )


def _read_kernel(encoding: Encoding, size: int) -> F64:
    kernel = estimate_kernel(encoding, length=size, count=size)
    with np.errstate(over="ignore", under="ignore"):
        values = kernel.values.T * kernel.scale * kernel.scale
    if not np.isfinite(values).all() or not np.any(values) == np.any(kernel.values):
        raise InputError(f"{encoding.label} has a kernel beyond the range of float64", accepted="its table")
    return values


def _exponentiate_bias(encoding: Encoding, lags: I64) -> F64:
    """The kernel exp(b) of a bias at lags of both signs, relative to the largest of each head; (L, heads)."""
    if isinstance(encoding, HasBias):
        if encoding.heads * len(lags) > MAX_HELD_ENTRIES:
            what = f"{len(lags)} lags x {encoding.heads} heads"
            raise InputError("the kernel is too large to hold", what, f"{MAX_HELD_ENTRIES} numbers")
        bias = encoding.bias(lags)
        values: F64 = np.exp(bias - bias.max(axis=1, keepdims=True)).T
        return values
    maps = encoding.bias_map(len(lags) // 2 + 1) if isinstance(encoding, HasBiasMap) else np.empty((0, 0, 0))
    maps = np.exp(maps - maps.max(axis=(1, 2), keepdims=True))
    # a row is a query, and a lag is query minus key
    return np.array([np.diagonal(maps, -lag, axis1=1, axis2=2).mean(axis=1) for lag in lags])


def _export_bias(encoding: Encoding, size: int) -> Exported:
    if isinstance(encoding, HasBias):
        lags = np.sort(list_places(encoding, size))
        values, columns = encoding.bias(lags).T, None
    else:
        maps = encoding.bias_map(size) if isinstance(encoding, HasBiasMap) else np.empty((0, 0, 0))
        lags, values = np.arange(size), maps.transpose(1, 0, 2).reshape(size, -1)
        columns = tuple(f"head{h}key{k}" for h in range(len(maps)) for k in range(size))
    name = "lag" if columns is None else "position"
    columns = _name("head", values) if columns is None else columns
    return Exported(encoding=encoding, what="bias", index_name=name, index=lags, columns=columns, values=_own(values))


def _own(values: F64) -> F64:
    """A copy of what an encoding may still hold; what was made for this answer alone is not copied."""
    return values if values.flags.owndata and values.flags.writeable else values.copy()


def _name(stem: str, values: F64) -> tuple[str, ...]:
    return tuple(f"{stem}{column}" for column in range(values.shape[1]))
