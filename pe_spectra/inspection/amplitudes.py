"""Where what is smooth in a table becomes larger or smaller for good, while its noise does not.

Columns are taken for independent Gaussian processes of one covariance, near a row that of a stationary process with
white noise beside it. The norms of such rows come and go with its waves; but what rows on both sides say of one
another does not: if all that is smooth is larger by a part from a row on, the covariances across it are, too. The
score of that part, at each row, is a quadratic form in the rows around it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pe_spectra.exact import F64
from pe_spectra.inspection.series import Mask, bridge, measure_spread

#: Rows on either side that a change is looked for in, at most, and as a part of the table; fewer tell nothing.
_BESIDE, _PART, _FEWEST = 48, 8, 16
#: Numbers that are looked at.
_SAMPLED = 1 << 22
#: The least variance that there is in any direction is this part of what is usual of noise.
_LEAST = 0.5
#: Standard errors of a change at once: of one that is steady a row in a hundred has as many.
_AT_ONCE = NormalDist().inv_cdf(0.99)
#: Where scores, or products of rows, scatter by more than so many standard errors, the model is not that of the table.
_SCATTER = 2.0


def measure_amplitude_changes(table: F64, regular: Mask, places: Sequence[int] = ()) -> F64:
    """Measure of how many standard errors a change of all that is smooth is behind each row, (S - 1,).

    Positive where it is larger behind. It is zero where the change is not at once, the medians of norms do not show
    it, or the table is not what the model says.

    Parameters
    ----------
    table : (S, d); regular : (S,) rows to trust; others are bridged.
    places : rows behind which the table changes otherwise; rows beside them are not those of one process.

    >>> rng = np.random.default_rng(0)
    >>> angles = np.arange(256)[:, None] / np.arange(5, 15)
    >>> curve = np.hstack([np.sin(angles), np.cos(angles)]) @ rng.normal(size=(20, 256))
    >>> table = np.repeat([1.0, 1.15], 128)[:, None] * curve + rng.normal(size=(256, 256))
    >>> errors = measure_amplitude_changes(table, np.ones(256, dtype=bool))
    >>> int(errors.argmax()), bool(errors[127] > 4)
    (127, True)
    """
    told = np.zeros(len(table) - 1)
    inside = np.flatnonzero(regular)
    first, last = (int(inside[0]), int(inside[-1]) + 1) if len(inside) else (0, 0)
    beside = min(_BESIDE, (last - first) // _PART)
    if beside < _FEWEST:
        return told
    rows = bridge(table[first:last, :: -(-table.size // _SAMPLED)], regular[first:last])
    # in a scale of their own, in which no product of four numbers overflows
    rows = np.ldexp(rows, -int(np.frexp(np.abs(rows).max())[1]))
    scores = measure_scores(rows, beside)
    are_known: Mask = np.abs(scores).max(axis=0) > 0
    if 2 * are_known.sum() < len(are_known):
        return told
    scatter = np.array([measure_spread(one[are_known]) for one in scores])
    if not (scatter <= _SCATTER).all():
        return told
    changed, sudden = scores / np.maximum(scatter, 1.0)[:, None]
    few = beside // 2
    medians = np.median(sliding_window_view(np.linalg.norm(rows, axis=1), few), axis=1)
    shown = medians[beside:][: len(changed)] - medians[beside - few :][: len(changed)]
    is_sure = (np.sign(changed) * sudden > _AT_ONCE) & (changed * shown > 0)
    near = np.arange(len(changed)) + first + beside - 1
    for place in places:
        is_sure &= np.abs(near - place) > beside
    told[near[is_sure]] = changed[is_sure]
    return told


def measure_scores(rows: F64, beside: int) -> F64:
    """Measure the scores of a change before each row that has `beside` rows before it and behind, (2, n).

    Each is divided by its standard error: what is smooth is larger by a part, whatever the noise does; and is so at
    once, whatever part of it is a straight line along the rows. They are zero where mean covariances are not those of
    a stationary process with white noise, or products of rows scatter about them by more than so many columns let them.

    Parameters
    ----------
    rows : (S, d).

    >>> measure_scores(np.random.default_rng(0).normal(size=(100, 8)), 16).shape
    (2, 69)
    """
    size, width = rows.shape
    scores = np.zeros((2, size - 2 * beside + 1))
    for start in range(beside, size - beside + 1, beside):
        low, high = max(start - 3 * beside // 2, 0), min(start + 5 * beside // 2, size)
        products = rows[low:high] @ rows[low:high].T / width
        forms = _weigh(products, beside, width)
        if forms is None:
            continue
        flat = forms.reshape(2, -1)
        for place in range(start, min(start + beside, size - beside + 1)):
            around = slice(place - beside - low, place + beside - low)
            scores[:, place - beside] = flat @ products[around, around].ravel()
    return scores


def _weigh(products: F64, beside: int, width: int) -> F64 | None:
    """The quadratic forms that are the scores, (2, 2 beside, 2 beside), by mean products of rows over their columns.

    None where these are not what the model says.
    """
    size = len(products)
    means = np.array([np.trace(products, lag) / (size - lag) for lag in range(2 * beside)])
    values, vectors = np.linalg.eigh(means[np.abs(np.subtract.outer(np.arange(2 * beside), np.arange(2 * beside)))])
    noise = float(np.median(values[:beside]))
    if noise <= 0 or values[0] < _LEAST * noise:
        return None
    near = [np.diagonal(products, lag) - mean for lag, mean in enumerate(means)]
    # of Gaussian columns a product scatters by the root of k(0)^2 + k(lag)^2 over their number
    expected = sum((size - lag) * (means[0] ** 2 + mean**2) for lag, mean in enumerate(means)) / width
    scatter = max(float(sum(one @ one for one in near)) / expected, 1.0)
    if scatter > _SCATTER**2:
        return None
    values = np.maximum(values, noise)
    places = np.arange(2 * beside) - beside + 0.5
    # a change by a part is that of covariances, here divided by the roots of the variances on both sides
    roots = np.sqrt(values[:, None] * values)
    smooth = (values[:, None] + values - 2 * noise) / roots
    step, line = (vectors.T @ (change[:, None] * vectors) for change in (np.sign(places), places / beside))
    beyond = np.stack([step / roots * noise, smooth * line])
    forms = []
    for others in (beyond[:1], beyond):
        form = smooth * step
        within = np.linalg.lstsq(np.einsum("ist,jst", others, others), np.einsum("ist,st", others, form), rcond=None)[0]
        form -= np.einsum("i,ist", within, others)
        form *= math.sqrt(width / scatter / 2) / max(float(np.linalg.norm(form)), 1e-300)
        forms.append(vectors @ (form / roots) @ vectors.T)
    return np.stack(forms)
