"""How fast pairs of columns turn in a table, and the parameters of formulas that this tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pe_spectra.encodings import Encoding
from pe_spectra.encodings.pairs import Columns, Pairs
from pe_spectra.exact import F64, I64
from pe_spectra.inspection.candidates import (
    fit_frequencies,
    label_columns,
    list_free,
    measure_frequencies,
    miss_frequencies,
    multiply,
)
from pe_spectra.inspection.formula_fits import FormulaFit

#: Of how many parameters are tried by powers of ten; share of the frequencies that a ladder near a table misses.
_STARTED, _NEAR = 2, 0.1
#: What a parameter that no frequencies tell is multiplied by.
_STARTS = (1e-3, 1e-2, 0.1, 0.7, 10.0, 100.0, 1e3)


class Turning:
    """How fast pairs of columns turn in a table, in every way in which a ladder pairs them.

    >>> from pe_spectra import Sinusoidal
    >>> turning = Turning(Sinusoidal(d=4).table(9), [("", slice(None))])
    >>> [found.round(6).tolist() for found in turning.list_measured(Sinusoidal(d=4))]
    [[1.0, 0.01]]
    """

    def __init__(self, table: F64, orders: Sequence[tuple[str, Columns]]) -> None:
        self.table, self.orders = table, orders
        self.known: dict[bytes, F64 | None] = {}

    def list_measured(self, encoding: Pairs) -> list[F64]:
        """Frequencies by the pairs of an encoding in each order of columns, where all turn one way."""
        labels = label_columns(encoding)
        ways = {np.abs(labels[columns]).tobytes(): labels[columns] for _, columns in self.orders}
        return [found for found in (self._measure(one) for one in ways.values()) if found is not None]

    def _measure(self, labels: I64) -> F64 | None:
        key = np.abs(labels).tobytes()
        if key not in self.known:
            self.known[key] = measure_frequencies(self.table, labels)
        return self.known[key]

    def list_near(self, fits: Sequence[FormulaFit]) -> list[FormulaFit]:
        """List the encodings of fits in each order of columns in which their frequencies are those of the table."""
        encodings = [fit.encoding for fit in fits if isinstance(fit.encoding, Pairs)]
        near: list[FormulaFit] = []
        # the same columns may be one ladder's own, and those of another in an order
        for order, columns in self.orders:
            for one in encodings:
                measured = self._measure(label_columns(one)[columns])
                if measured is not None and miss_frequencies(one, measured) <= _NEAR:
                    near.append(FormulaFit(one, order=order, columns=columns))
        return near

    def allows(self, encoding: Encoding) -> bool:
        """Whether an encoding is worth a try: of one whose columns turn in pairs, whether those of the table do."""
        return not isinstance(encoding, Pairs) or bool(self.list_measured(encoding))


def list_fitted(fits: Sequence[FormulaFit], turning: Turning) -> Iterator[Encoding]:
    """List encodings with parameters that the table tells: by its frequencies, else by trying powers of ten.

    >>> from pe_spectra import Sinusoidal
    >>> turning = Turning(Sinusoidal(d=4, rho=100.0).table(9), [("", slice(None))])
    >>> [round(one.rho, 6) for one in list_fitted([FormulaFit(Sinusoidal(d=4))], turning)]
    [100.0]
    """
    ladders = [fit.encoding for fit in fits if isinstance(fit.encoding, Pairs) and list_free(fit.encoding)]
    for encoding in ladders:
        found = (fit_frequencies(encoding, measured) for measured in turning.list_measured(encoding))
        yield from (one for one in found if one is not None)
    others = (fit for fit in fits if not isinstance(fit.encoding, Pairs) and list_free(fit.encoding))
    for fit in sorted(others, key=lambda one: -one.share)[:_STARTED]:
        yield from _list_starts(fit.encoding)


def _list_starts(encoding: Encoding) -> Iterator[Encoding]:
    """List the same encoding with each free parameter times powers of ten, and times one half."""
    for name in list_free(encoding):
        moved = (multiply(encoding, {name: factor}) for factor in _STARTS)
        yield from (one for one in moved if one is not None)
