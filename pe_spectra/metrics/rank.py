"""How many directions a table uses, by rival definitions that carry their names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pe_spectra.exact import F64
from pe_spectra.metrics.tables import centre, check_table, explain_budget, is_beyond_budget, tame, triangulate


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Two soft ranks of a table, as it is and with each column's mean taken off.

    Attributes
    ----------
    stable_rank, stable_rank_centred : sum of s**2 over s_1**2, 1 to min(S, d).
    effective_rank_entropy, effective_rank_entropy_centred : exp(H(s / sum s)), 1 to min(S, d).
    note : why all are None; "" where they are not.
    """

    stable_rank: float | None
    stable_rank_centred: float | None
    effective_rank_entropy: float | None
    effective_rank_entropy_centred: float | None
    note: str = ""


def measure_ranks(table: ArrayLike) -> Ranks:
    """Measure stable rank and entropy effective rank, raw and centred.

    The first singular value of a table of sines and cosines is mostly the mean code: centred ranks
    say what is left to tell positions apart.

    Parameters
    ----------
    table : (S, d), codes of the positions in its rows.

    Returns
    -------
    Ranks without a unit; a rank is None where every singular value is 0 (centred: all rows equal),
    all are None where S d min(S, d) is above 2**34 or min(S, d)**3 above 2**32.

    Source: stable rank: Rudelson & Vershynin 2007; effective rank: Roy & Vetterli 2007.

    >>> ranks = measure_ranks(np.eye(4))
    >>> round(ranks.stable_rank, 6), round(ranks.effective_rank_entropy, 6), round(ranks.stable_rank_centred, 6)
    (4.0, 4.0, 3.0)
    """
    values = check_table(table)
    if is_beyond_budget(values):
        note = explain_budget("the rank", values)
        return Ranks(
            stable_rank=None,
            stable_rank_centred=None,
            effective_rank_entropy=None,
            effective_rank_entropy_centred=None,
            note=note,
        )
    raw = compute_singular_values(tame(values)[0])
    centred = compute_singular_values(centre(values))
    return Ranks(
        stable_rank=compute_stable_rank(raw),
        stable_rank_centred=compute_stable_rank(centred),
        effective_rank_entropy=compute_effective_rank_entropy(raw),
        effective_rank_entropy_centred=compute_effective_rank_entropy(centred),
    )


def compute_singular_values(table: F64) -> F64:
    """Singular values of a table, largest first, shape (min(S, d),); of its triangle, never of its Gram matrix.

    >>> compute_singular_values(np.array([[3.0, 0.0], [0.0, 4.0]])).round(12)
    array([4., 3.])
    """
    from scipy.linalg import svdvals

    upright = table if table.shape[0] >= table.shape[1] else table.T
    # a long table is brought to its triangle first; a nearly square one is decomposed as it is
    long = upright.shape[0] > 4 * upright.shape[1]
    values: F64 = svdvals(triangulate(upright) if long else upright, check_finite=False)
    return values


def compute_stable_rank(singular_values: F64) -> float | None:
    """Sum of s**2 over the largest s**2, from singular values (m,); 1 to m, None where all are 0.

    Source: Rudelson & Vershynin 2007, "Sampling from large matrices".

    >>> compute_stable_rank(np.array([2.0, 1.0, 1.0]))
    1.5
    """
    largest = float(np.max(singular_values))
    if largest <= 0:
        return None
    return float(np.sum((singular_values / largest) ** 2))


def compute_effective_rank_entropy(singular_values: F64) -> float | None:
    """exp(H(p)), p = s / sum s: the singular values themselves, not their squares; 1 to m, None where all are 0.

    Source: Roy & Vetterli 2007, "The effective rank".

    >>> round(compute_effective_rank_entropy(np.array([1.0, 1.0, 0.0])), 12)
    2.0
    """
    total = float(np.sum(singular_values))
    if total <= 0:
        return None
    shares = singular_values[singular_values > 0] / total
    return float(np.exp(-np.sum(shares * np.log(shares))))
