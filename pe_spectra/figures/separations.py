"""The figures of faithfulness: separation by lag with its witness, and a Gram matrix."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

import numpy as np

from pe_spectra.encodings import Sinusoidal
from pe_spectra.exact import F64
from pe_spectra.faithfulness import measure_faithfulness
from pe_spectra.faithfulness.conditioning import compute_gram_matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A small encoding whose closest codes are no neighbours.
D, RHO, LENGTH = 8, 3.0, 800
#: The encoding of the paper, and how many of its codes the Gram matrix shows.
GRAM_D, GRAM_RHO, GRAM_LENGTH = 256, 10000.0, 64


def compute_separations(_grid: int) -> Mapping[str, F64]:
    """Compute the distance of two codes by lag, exact to a few units in the last place.

    >>> columns = compute_separations(256)
    >>> list(columns)
    ['lag', 'separation']
    """
    result = measure_faithfulness(Sinusoidal(d=D, rho=RHO), length=LENGTH)
    distances = result.separation_by_lag
    if distances is None:
        raise RuntimeError("there is no curve by lag")
    return {"lag": np.arange(1, LENGTH, dtype=float), "separation": distances}


def draw_separations(columns: Mapping[str, F64]) -> Figure:
    """Draw the curve, and mark its smallest value: every pair at a lag is equally far apart."""
    from pe_spectra.plots.separation import SeparationCurve, compose_separation

    lags, distances = columns["lag"], columns["separation"]
    place = int(np.argmin(distances))
    lag, smallest = int(lags[place]), float(distances[place])
    curve = SeparationCurve(
        label=f"sinusoidal d={D} rho={RHO:g}",
        length=LENGTH,
        lags=lags,
        distances=distances,
        closest=(0, lag, smallest),
    )
    return compose_separation(
        curve,
        title=f"The closest two of {LENGTH} codes are {lag} positions apart; neighbours are at {distances[0]:.5g}",
        small_print=(f"Euclidean distance at each lag, {LENGTH} positions; circle: closest pair.",),
    )


def compute_gram(_grid: int) -> Mapping[str, F64]:
    """Compute the dot products of the first codes, over the largest squared norm: a row for each pair (s, t).

    >>> columns = compute_gram(256)
    >>> float(columns["dot_product"].max())  # a code with itself
    1.0
    """
    gram = compute_gram_matrix(Sinusoidal(d=GRAM_D, rho=GRAM_RHO), GRAM_LENGTH)
    if gram is None:
        raise RuntimeError("there is no Gram matrix")
    s, t = np.indices(gram.shape)
    return {"s": s.ravel().astype(float), "t": t.ravel().astype(float), "dot_product": gram.ravel()}


def draw_gram(columns: Mapping[str, F64]) -> Figure:
    """Draw the Gram matrix from its columns."""
    from pe_spectra.plots.separation import compose_matrix

    size = int(columns["s"].max()) + 1
    gram = np.zeros((size, size))
    gram[columns["s"].astype(int), columns["t"].astype(int)] = columns["dot_product"]
    least = Decimal(float(gram.min())).quantize(Decimal("0.01"), ROUND_FLOOR)  # what is said holds for all
    return compose_matrix(
        gram,
        f"sinusoidal d={GRAM_D} rho={GRAM_RHO:g}",
        title=f"Dot products of the first {size} codes never fall below {least} of the largest",
        small_print=("Every diagonal has one value: the dot product depends on the lag alone.",),
    )
