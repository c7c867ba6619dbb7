"""Eq. (15): rows E1 to E8."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from functools import cache

import numpy as np

from pe_spectra import Sinusoidal, compute_spectrum
from pe_spectra.answers.spectra import answer_spectra
from pe_spectra.cli.render import render
from pe_spectra.cli.terminal import Screen
from pe_spectra.encodings import Frequencies
from pe_spectra.spectrum import density, gaussian_sums
from tests.benchmarks.measuring import ROUNDS, Measured, compare, measure_resident, trace_peak

BANDWIDTH = 4.0
SMALL, LARGE = 1 << 16, 1 << 20
_E6_D = 1_000_000


@cache
def prepare(d: int) -> tuple[Frequencies, np.ndarray]:
    return Sinusoidal(d=d).frequencies(), np.random.default_rng(d).normal(size=d)


def weigh(d: int) -> np.ndarray:
    """Eq. (15) from a list of frequencies, without logarithms."""
    sums = density._sum_kernels(prepare(d)[0], d, BANDWIDTH, "none")
    weights = np.exp(sums.exponent)
    weights *= sums.factor
    weights *= 1 / np.sum(weights)
    return weights


def weigh_with_logs(d: int) -> tuple[np.ndarray, np.ndarray]:
    return density._divide_by_sum(density._sum_kernels(prepare(d)[0], d, BANDWIDTH, "none"))


def measure_weights(d: int) -> Measured:
    x = prepare(d)[1]
    return compare(lambda: weigh(d), lambda: np.fft.rfft(x))


def measure_growth() -> Measured:
    ratios = compare(lambda: weigh(LARGE), lambda: weigh(1 << 14)).ratios
    return Measured(ratios=tuple(math.log(ratio, LARGE / (1 << 14)) for ratio in ratios))


def measure_logs(d: int) -> Measured:
    x = prepare(d)[1]
    return compare(lambda: weigh_with_logs(d), lambda: np.fft.rfft(x))


def _list_bins(d: int) -> np.ndarray:
    return prepare(d)[0].values * (d / (2 * math.pi))


def measure_scipy() -> Measured:
    """Against scipy on 256 of the points, scaled to all of them: its time is proportional to their number."""
    from scipy.stats import gaussian_kde

    u, points = _list_bins(SMALL), SMALL // 2 + 1
    kde = gaussian_kde(u, bw_method=BANDWIDTH / float(u.std(ddof=1)))
    some = np.linspace(0, SMALL // 2, 256)
    return compare(lambda: kde(some), lambda: weigh(SMALL), rounds=5, factor=points / len(some))


def measure_scikit_learn() -> Measured | str:
    try:
        neighbors = importlib.import_module("sklearn.neighbors")
    except ImportError:
        return "skipped: no scikit-learn"
    kde = neighbors.KernelDensity(bandwidth=BANDWIDTH, rtol=1e-8).fit(_list_bins(SMALL)[:, None])
    k = np.arange(SMALL // 2 + 1.0)[:, None]
    return compare(lambda: kde.score_samples(k), lambda: weigh(SMALL), rounds=5)


def measure_kdepy() -> Measured | str:
    try:
        kdepy = importlib.import_module("KDEpy")
    except ImportError:
        return "skipped: no KDEpy"
    u, k = _list_bins(SMALL), np.arange(-200.0, SMALL // 2 + 1)
    return compare(lambda: kdepy.FFTKDE(bw=BANDWIDTH).fit(u).evaluate(k), lambda: weigh(SMALL))


def _compare_with_pairs(u: np.ndarray, u_low: np.ndarray, masses: np.ndarray, rounded: bool) -> Measured:
    """Largest error of ln g, in units of max(1, abs ln g), on blocks of points spread over the whole grid."""
    d = SMALL
    sums = density._sum_kernels(prepare(d)[0], d, BANDWIDTH, "none")
    if rounded:
        sums = gaussian_sums.sum_gaussians(u, u_low, masses, BANDWIDTH, d // 2 + 1)
    logs = sums.exponent + np.log(sums.factor)
    log_weights = density._divide_by_sum(sums)[1]
    errors = [np.zeros(1) if np.isfinite(log_weights).all() else np.full(1, np.inf)]
    order = np.argsort(u)
    for start in (*range(0, 64, 8), *range(64, d // 2, d // 64), d // 2 - 8):
        shifted, error = gaussian_sums.two_sum(u[order], np.full(len(u), -float(start)))
        sources = gaussian_sums.Sources(shifted, error + u_low[order], masses[order])
        pairs = gaussian_sums._sum_all_pairs(sources, BANDWIDTH, 8)
        exact = pairs.exponent + (pairs.exponent_low + np.log(pairs.factor))
        part = slice(start, start + 8)
        errors.append(np.abs(logs[part] - exact) / np.maximum(1, np.abs(log_weights[part])))
    return Measured(ratios=(float(np.max(np.concatenate(errors))),))  # nan stays nan, and misses the target


def measure_error() -> Measured:
    frequencies = prepare(SMALL)[0]
    scale = density.to_words(density.CONTEXT.divide(density.Decimal(SMALL), density.TWO_PI), 2)
    return _compare_with_pairs(
        *density._scale(frequencies.values, frequencies.low, *scale), frequencies.masses, rounded=False
    )


def measure_error_of_sums() -> Measured:
    u = _list_bins(SMALL)
    return _compare_with_pairs(u, np.zeros_like(u), np.ones_like(u), rounded=True)


def measure_peak_linear() -> Measured:
    prepare(_E6_D)
    return trace_peak(lambda: weigh(_E6_D))


def measure_peak_logs() -> Measured:
    prepare(_E6_D)
    return trace_peak(lambda: weigh_with_logs(_E6_D))


def measure_command() -> Measured:
    return measure_resident(["spectrum", "-e", f"sinusoidal:d={_E6_D}", "--no-figure"])


def measure_command_with_json() -> Measured:
    return measure_resident(["spectrum", "-e", f"sinusoidal:d={_E6_D}", "--no-figure", "--json"])


def broadcast() -> np.ndarray:
    """The paper's formula for d = 256, as printed."""
    d, rho, sigma = 256, 10000.0, BANDWIDTH * 2 * math.pi / 256
    w = rho ** (-np.arange(0, d, 2) / d)
    omega = 2 * math.pi * np.arange(d // 2 + 1) / d
    g = np.exp(-((omega[:, None] - w) ** 2) / (2 * sigma**2)).sum(axis=1)
    return g / g.sum()


def measure_small() -> Measured:
    encoding = Sinusoidal(d=256)
    return compare(lambda: compute_spectrum(encoding), broadcast, rounds=3 * ROUNDS)


@cache
def _answer() -> tuple[object, dict[str, list[float]]]:
    spectrum = compute_spectrum(Sinusoidal(d=SMALL))
    answer = answer_spectra([spectrum])
    body = answer.body.to_dict()
    lists = {name: body[name] for name in ("omega", "weights", "log_weights")}
    return answer, {**lists, "reference": body["reference"]["weights"]}


def _measure_form(form: str, write: Callable[[], str] | None = None) -> Measured:
    answer, lists = _answer()
    screen = Screen(width=80, height=24, watched=False, hinted=False, colour=False, unicode=True, full=True)
    return compare(lambda: "".join(render(answer, form, screen, None)), write or (lambda: json.dumps(lists)))


def measure_json() -> Measured:
    return _measure_form("json")


def measure_csv() -> Measured:
    """The same numbers and their row numbers as CSV: 1.1 for the texts of the numbers and lines of them alone."""
    return _measure_form("csv")


def measure_csv_over_bare() -> Measured:
    """The same over the least that it can be: the numbers of the arrays as Python writes them, and lines of them."""
    _, lists = _answer()
    arrays = [np.arange(len(lists["omega"])), *map(np.array, lists.values())]
    return _measure_form(
        "csv", lambda: "\n".join(map(",".join, zip(*(map(repr, a.tolist()) for a in arrays), strict=True)))
    )
