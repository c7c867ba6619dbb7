"""The slow, obvious version of each metric by which encodings are compared: one function for each, named after it.

NumPy only, no care for speed, scale or rounding; nothing here imports pe_spectra. A function returns None where the
metric has no value. :func:`list_metrics` has them by name, and a test asks for one for each metric of the package.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tests import naive
from tests.naive import Floats

RIDGES = (1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
FOLDS = 5


@dataclass(frozen=True, kw_only=True)
class Sample:
    """An encoding at the positions of `rows` and those after them.

    `kernel` at lags 0, 1, ..; `weights` at the frequencies `omega`; `slopes`, the derivative of each column.
    """

    rows: Floats
    beyond: Floats
    kernel: Floats
    omega: Floats
    weights: Floats
    slopes: Floats
    #: Frequencies and their masses, where they are known.
    waves: tuple[Floats, Floats] | None = None


def sample_ladder(d: int, length: int, bandwidth: float = 4.0) -> Sample:
    """The sinusoidal encoding: exact kernel, Eq. 15 reflected at 0 and pi, exact derivatives."""
    w, mass = naive.frequencies(d, 10000.0), naive.masses(d)
    quarter = np.pi / 2  # the derivative of sin(w s) is w sin(w s + pi/2)
    slopes = np.empty((length, d))
    for s in range(length):
        for column in range(d):
            phase = quarter if column % 2 == 0 else 2 * quarter
            slopes[s, column] = w[column // 2] * np.sin(w[column // 2] * s + phase)
    return Sample(
        rows=naive.sinusoidal_table(d, 10000.0, range(length)),
        beyond=naive.sinusoidal_table(d, 10000.0, range(length, 2 * length)),
        kernel=np.array([naive.kernel(w, mass, lag) for lag in range(length)]),
        omega=2 * np.pi * np.arange(length // 2 + 1) / length,
        weights=naive.weights(w, mass, length, bandwidth, "reflect"),
        slopes=slopes,
        waves=(w, mass),
    )


def sample_table(table: Floats, length: int, bandwidth: float = 4.0) -> Sample:
    """A table: means along Gram diagonals, their lag window, central differences."""
    rows = table[:length]
    kernel = naive.gram_diagonals(rows)
    return Sample(
        rows=rows,
        beyond=table[length:],
        kernel=kernel,
        omega=2 * np.pi * np.arange(length // 2 + 1) / length,
        weights=naive.lag_window(kernel, length, bandwidth),
        slopes=np.array([(rows[s + 1] - rows[s - 1]) / 2 for s in range(1, length - 1)]),
    )


def list_metrics() -> dict[str, Callable[[Sample], float | None]]:
    """Every function of this module that takes one sample."""
    module = sys.modules[__name__]
    return {name: one for name, one in vars(module).items() if getattr(one, "__annotations__", {}).get("one") is Sample}


# ----------------------------------------------------------------------------------- spectrum


def low_bin_mass(one: Sample) -> float:
    return float(sum(one.weights[:10]))


def mean_frequency(one: Sample) -> float | None:
    """Every column counts its frequency."""
    if one.waves is None:
        return None
    columns = [w for w, mass in zip(*one.waves, strict=True) for _ in range(round(2 * mass))]
    return float(sum(columns) / len(columns))


def centroid(one: Sample) -> float:
    return float(sum(one.weights * one.omega))


def effective_bins_entropy(one: Sample) -> float:
    return float(np.exp(-sum(g * np.log(g) for g in one.weights if g > 0)))


def flatness(one: Sample) -> float:
    return float(np.exp(np.mean(np.log(one.weights))) / np.mean(one.weights))


# ----------------------------------------------------------------------------------- likeness


def min_separation(one: Sample) -> float:
    return naive.smallest_separation(one.rows)[0]


def relative_separation(one: Sample) -> float:
    apart = [np.sum((e - f) ** 2) for e, f in combinations(one.rows, 2)]
    return float(np.sqrt(min(apart) / np.mean(apart)))


def norm_rms(one: Sample) -> float:
    return float(np.sqrt(np.mean([e @ e for e in one.rows])))


def toeplitz_share(one: Sample) -> float:
    return naive.toeplitz_share(one.rows)


# ----------------------------------------------------------------------------------- kernel


def kernel_half_width(one: Sample) -> float | None:
    k = one.kernel / one.kernel[0]
    for lag in range(1, len(k)):
        if k[lag] <= 0.5:
            return float(lag - 1 + (k[lag - 1] - 0.5) / (k[lag - 1] - k[lag]))
    return None


def find_highest_sidelobe(k: Floats) -> tuple[float, int] | None:
    """The largest local maximum beyond the first local minimum, and its lag."""
    inner = range(1, len(k) - 1)
    minima = [lag for lag in inner if k[lag] < k[lag - 1] and k[lag] <= k[lag + 1]]
    maxima = [lag for lag in inner if minima and lag > minima[0] and k[lag] > k[lag - 1] and k[lag] >= k[lag + 1]]
    return max(((float(k[lag]), lag) for lag in maxima), default=None)


def sidelobe_ratio(one: Sample) -> float | None:
    found = find_highest_sidelobe(one.kernel / one.kernel[0])
    return found and found[0]


def sidelobe_lag(one: Sample) -> float | None:
    found = find_highest_sidelobe(one.kernel / one.kernel[0])
    return found and found[1]


def kernel_monotonicity(one: Sample) -> float:
    pairs = list(combinations(one.kernel, 2))
    return sum(1.0 if near > far else 0.5 * (near == far) for near, far in pairs) / len(pairs)


# ----------------------------------------------------------------------------------- order


def list_triples(length: int) -> Iterator[tuple[int, int, int]]:
    """All s, t, u with t between s and u."""
    for s in range(length):
        for t, u in combinations(range(s + 1, length), 2):
            yield s, t, u
        for u, t in combinations(range(s), 2):
            yield s, t, u


def table_monotonicity(one: Sample) -> float:
    gram = one.rows @ one.rows.T
    tie = 1e-9 * float(gram.max())
    falls = [gram[s, t] - gram[s, u] for s, t, u in list_triples(len(gram))]
    return sum(0.5 if abs(fall) <= tie else float(fall > 0) for fall in falls) / len(falls)


def translation_invariance(one: Sample) -> float:
    gram = one.rows @ one.rows.T
    rest = gram.copy()
    lags = np.subtract.outer(np.arange(len(gram)), np.arange(len(gram)))
    for lag in np.unique(lags):
        rest[lags == lag] -= np.mean(gram[lags == lag])
    return float(1 - np.var(rest) / np.var(gram))


def distance_lag_spearman(one: Sample) -> float:
    length = len(one.rows)
    squares = [
        np.mean([np.sum((one.rows[s] - one.rows[s + lag]) ** 2) for s in range(length - lag)])
        for lag in range(1, length)
    ]
    ranks = np.argsort(np.argsort(squares))
    return float(np.corrcoef(np.arange(length - 1), ranks)[0, 1])


# ----------------------------------------------------------------------------------- rank


def centre(rows: Floats) -> Floats:
    return np.asarray(rows - rows.mean(axis=0))


def find_stable_rank(rows: Floats) -> float:
    values = np.linalg.svd(rows, compute_uv=False)
    return float(np.sum(values**2) / max(values) ** 2)


def find_entropy_rank(rows: Floats) -> float:
    values = np.linalg.svd(rows, compute_uv=False)
    shares = values / sum(values)
    return float(np.exp(-sum(p * np.log(p) for p in shares if p > 0)))


def stable_rank(one: Sample) -> float:
    return find_stable_rank(one.rows)


def stable_rank_centred(one: Sample) -> float:
    return find_stable_rank(centre(one.rows))


def effective_rank_entropy(one: Sample) -> float:
    return find_entropy_rank(one.rows)


def effective_rank_entropy_centred(one: Sample) -> float:
    return find_entropy_rank(centre(one.rows))


# ----------------------------------------------------------------------------------- resolution


def fisher_information_mean(one: Sample) -> float:
    """Of a ladder a pair has the same at each position, and so has its mean over the S positions."""
    return float(np.mean([sum(slope**2) for slope in one.slopes]))


def fisher_information_min(one: Sample) -> float:
    return float(min(sum(slope**2) for slope in one.slopes))


def cramer_rao_bound_mean(one: Sample) -> float:
    return float(1 / np.sqrt(fisher_information_mean(one)))


def cramer_rao_bound_worst(one: Sample) -> float:
    return float(1 / np.sqrt(fisher_information_min(one)))


# ----------------------------------------------------------------------------------- linear maps


def score_shifts(rows: Floats) -> list[float] | None:
    """R**2 on held-out positions for each shift; None where an affine map would overfit."""
    centred = centre(rows)
    _, values, vectors = np.linalg.svd(centred, full_matrices=False)
    held = np.cumsum(values**2) / np.sum(values**2)
    kept = int(np.argmax(held >= 0.9999)) + 1
    codes = centred @ vectors[:kept].T
    scores = []
    for shift in (1, 4, 16, 64, 256):
        if shift > len(rows) // 8:
            break
        order = np.random.Generator(np.random.PCG64(0)).permutation(len(rows) - shift)
        cut = int(0.8 * len(order))
        fitted, held_out = order[:cut], order[cut:]
        if cut < 2 * kept:
            return None
        design = np.column_stack([codes, np.ones(len(codes))])
        mapping = np.linalg.lstsq(design[fitted], codes[fitted + shift], rcond=None)[0]
        error = codes[held_out + shift] - design[held_out] @ mapping
        about = codes[held_out + shift] - codes[fitted + shift].mean(axis=0)
        scores.append(float(1 - np.sum(error**2) / np.sum(about**2)))
    return scores


def shift_linearity_mean(one: Sample) -> float | None:
    scores = score_shifts(one.rows)
    return None if scores is None else float(np.mean(scores))


def shift_linearity_worst(one: Sample) -> float | None:
    scores = score_shifts(one.rows)
    return None if scores is None else min(scores)


def fit_ridge(codes: Floats, wanted: Floats) -> Callable[[Floats], Floats]:
    """Every ridge in turn, as rows below the codes; the hat matrix is formed, and the first of the best chosen."""
    (n, columns), mean, middle = codes.shape, codes.mean(axis=0), wanted.mean()
    centred = codes - mean
    unit = np.linalg.norm(centred, 2)
    best = None
    for ridge in RIDGES:
        stacked = np.vstack([centred, np.sqrt(ridge) * unit * np.eye(columns)])
        targets = np.vstack([np.eye(n), np.zeros((columns, n))])
        solve = np.linalg.lstsq(stacked, targets, rcond=None)[0]
        hat = centred @ solve + 1 / n
        residual = np.sum(((np.eye(n) - hat) @ wanted) ** 2)
        score = residual / (1 - np.trace(hat) / n) ** 2
        if best is None or score < best[0] * (1 - 1e-9):
            best = (score, solve @ (wanted - middle))
    weights = best[1] if best else np.zeros(columns)
    return lambda rows: np.asarray((rows - mean) @ weights + middle)


def probe_rmse(one: Sample) -> float:
    wanted = np.arange(len(one.rows), dtype=float)
    errors = np.empty(len(one.rows))
    for fold in range(FOLDS):
        held_out = np.arange(len(one.rows)) % FOLDS == fold
        predict = fit_ridge(one.rows[~held_out], wanted[~held_out])
        errors[held_out] = predict(one.rows[held_out]) - wanted[held_out]
    return float(np.sqrt(np.mean(errors**2)))


def probe_r2(one: Sample) -> float:
    return float(1 - probe_rmse(one) ** 2 / np.var(np.arange(len(one.rows))))


def extrapolation_rmse(one: Sample) -> float:
    length = len(one.rows)
    predict = fit_ridge(one.rows, np.arange(length, dtype=float))
    wanted = np.arange(length, length + len(one.beyond))
    return float(np.sqrt(np.mean((predict(one.beyond) - wanted) ** 2)))


def extrapolation_separation(one: Sample) -> float:
    return naive.smallest_separation(np.concatenate([one.rows, one.beyond]))[0]
