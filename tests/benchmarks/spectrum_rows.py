"""Eq. (15): rows E1 to E8, but for those of `pe-spectra bench`.

E1, E2: what no sum by moments can leave out takes 1.2 transforms at d = 65536 and 0.9 at 2^20 (`weigh_in_parts`), and
the whole about twice as long. Where others use the memory of the machine both wait for it, the transform longer at
2^20, and the sum at 65,536. At d = 65536 rows that are filled up have 54,272 places for 32,768 sources, which are
gathered into them; the rest goes into points beyond the sources, low words and arrays of some hundred numbers.

E6: sources, their low words, exponents and factors are four rows of 500,000 numbers, and where the sum is known one of
truth values: 15.7 MiB at least, and 1.1 times that is the target.
"""

from __future__ import annotations

import importlib
import json
import math
import time
from collections.abc import Callable
from functools import cache

import numpy as np

from pe_spectra import Sinusoidal, compute_spectra, compute_spectrum
from pe_spectra.answers.spectra import answer_spectra
from pe_spectra.benchmarks.formula_ratios import BANDWIDTH, WIDTH, list_bins, prepare_ladder, weigh_ladder
from pe_spectra.benchmarks.measuring import Ratios, compare_calls
from pe_spectra.cli.render import render
from pe_spectra.cli.terminal import Screen
from pe_spectra.spectrum import density, gaussian_cells, gaussian_pairs, gaussian_sums
from tests.benchmarks.measuring import measure_resident, trace_peak

LARGE = 1 << 20
_E6_D = 1_000_000
#: Powers of a place in each of two tables, sources whose tables stay in cache, those of one product, and cells whose
#: moments are turned into the sums at the points of one.
_POWERS, _IN_CACHE, _ROW, _RANGE = 5, 16384, 32, 7


def weigh_in_parts(d: int) -> None:
    """What no sum by moments of cells can leave out, each in the fewest passes of NumPy, as if every cell were full.

    Frequencies in bins and their places in a cell, tables of their powers and the products of these, those of the
    moments of seven cells with a kernel, one exponential for a point, and the norm.
    """
    values, tables = prepare_ladder(d)[0].values, _prepare_tables()
    share = _POWERS - 1  # both tables have power 0
    products = []
    for start in range(0, len(values), _IN_CACHE):
        y = values[start : start + _IN_CACHE] * (d / (2 * math.pi))
        y = (y - 1.0).reshape(-1, _ROW)
        fine, coarse = tables[:_POWERS, : len(y)], tables[share:, : len(y)]
        fine[3] = y
        gaussian_cells._fill_powers(fine, coarse)
        products.append(fine.transpose(1, 0, 2) @ coarse.transpose(1, 2, 0))
    size = int(3 * BANDWIDTH)
    cells = math.ceil(values[0] * (d / (2 * math.pi)) / size)
    moments = np.resize(np.concatenate(products), (cells // _RANGE, _RANGE * _POWERS**2))
    kernel, near = np.ones((_RANGE * _POWERS**2, size)), np.zeros((cells, size))
    for first in range(_RANGE):
        np.matmul(moments, kernel, out=near[first : len(moments) * _RANGE : _RANGE])
    weights = np.exp(np.linspace(-30.0, 0.0, d // 2 + 1))
    weights[: near.size] *= near.ravel()
    weights *= 1 / weights.sum()


@cache
def _prepare_tables() -> np.ndarray:
    """What powers are held in, once for all: memory that is asked for anew may take longer than they do."""
    return np.ones((2 * _POWERS - 1, _IN_CACHE // _ROW, _ROW))


def measure_parts(d: int) -> Ratios:
    x = prepare_ladder(d)[1]
    return compare_calls(lambda: weigh_in_parts(d), lambda: np.fft.rfft(x))


def weigh_with_logs(d: int) -> tuple[np.ndarray, np.ndarray]:
    return density._divide_by_sum(density.sum_kernels(prepare_ladder(d)[0], d, BANDWIDTH, "none"))


def measure_growth() -> Ratios:
    ratios = compare_calls(lambda: weigh_ladder(LARGE), lambda: weigh_ladder(1 << 14)).ratios
    return Ratios(ratios=tuple(math.log(ratio, LARGE / (1 << 14)) for ratio in ratios))


def measure_logs(d: int) -> Ratios:
    x = prepare_ladder(d)[1]
    return compare_calls(lambda: weigh_with_logs(d), lambda: np.fft.rfft(x))


def measure_together(count: int) -> Ratios:
    """Processor time of so many spectra at d = 256 together, ladders and all, in seconds."""
    times = []
    for turn in range(5):
        encodings = [Sinusoidal(d=256, rho=1000.0 + count * turn + number) for number in range(count)]
        start = time.thread_time()
        compute_spectra(encodings)
        times.append(time.thread_time() - start)
    return Ratios(ratios=tuple(times))


def measure_scikit_learn() -> Ratios | str:
    try:
        neighbors = importlib.import_module("sklearn.neighbors")
    except ImportError:
        return "skipped: no scikit-learn"
    kde = neighbors.KernelDensity(bandwidth=BANDWIDTH, rtol=1e-8).fit(list_bins(WIDTH)[:, None])
    k = np.arange(WIDTH // 2 + 1.0)[:, None]
    return compare_calls(lambda: kde.score_samples(k), lambda: weigh_ladder(WIDTH), rounds=5)


def measure_kdepy() -> Ratios | str:
    try:
        kdepy = importlib.import_module("KDEpy")
    except ImportError:
        return "skipped: no KDEpy"
    u, k = list_bins(WIDTH), np.arange(-200.0, WIDTH // 2 + 1)
    return compare_calls(lambda: kdepy.FFTKDE(bw=BANDWIDTH).fit(u).evaluate(k), lambda: weigh_ladder(WIDTH))


def _compare_with_pairs(u: np.ndarray, u_low: np.ndarray, masses: np.ndarray, rounded: bool) -> Ratios:
    """Largest error of ln g, in units of max(1, abs ln g), on blocks of points spread over the whole grid."""
    d = WIDTH
    sums = density.sum_kernels(prepare_ladder(d)[0], d, BANDWIDTH, "none")
    if rounded:
        sums = gaussian_sums.sum_gaussians(u, u_low, masses, BANDWIDTH, d // 2 + 1)
    logs = sums.exponent + np.log(sums.factor)
    log_weights = density._divide_by_sum(sums)[1]
    errors = [np.zeros(1) if np.isfinite(log_weights).all() else np.full(1, np.inf)]
    order = np.argsort(u)
    for start in (*range(0, 64, 8), *range(64, d // 2, d // 64), d // 2 - 8):
        shifted, error = gaussian_sums.two_sum(u[order], np.full(len(u), -float(start)))
        pairs = gaussian_pairs.sum_stacked_gaussians(
            shifted[None], (error + u_low[order])[None], masses[order][None], BANDWIDTH, 8
        )
        exact = (pairs.exponent + (pairs.exponent_low + np.log(pairs.factor)))[0]
        part = slice(start, start + 8)
        errors.append(np.abs(logs[part] - exact) / np.maximum(1, np.abs(log_weights[part])))
    return Ratios(ratios=(float(np.max(np.concatenate(errors))),))  # nan stays nan, and misses the target


def measure_error() -> Ratios:
    frequencies = prepare_ladder(WIDTH)[0]
    return _compare_with_pairs(
        *density._scale(frequencies.values, frequencies.low, WIDTH), frequencies.masses, rounded=False
    )


def measure_error_of_sums() -> Ratios:
    u = list_bins(WIDTH)
    return _compare_with_pairs(u, np.zeros_like(u), np.ones_like(u), rounded=True)


def measure_peak_linear() -> Ratios:
    prepare_ladder(_E6_D)
    return trace_peak(lambda: weigh_ladder(_E6_D))


def measure_peak_logs() -> Ratios:
    prepare_ladder(_E6_D)
    return trace_peak(lambda: weigh_with_logs(_E6_D))


def measure_command() -> Ratios:
    return measure_resident(["spectrum", "-e", f"sinusoidal:d={_E6_D}", "--no-figure"])


def measure_command_with_json() -> Ratios:
    return measure_resident(["spectrum", "-e", f"sinusoidal:d={_E6_D}", "--no-figure", "--json"])


@cache
def _answer() -> tuple[object, dict[str, list[float]]]:
    spectrum = compute_spectrum(Sinusoidal(d=WIDTH))
    answer = answer_spectra([spectrum])
    body = answer.body.to_dict()
    lists = {name: body[name] for name in ("omega", "weights", "log_weights")}
    return answer, {**lists, "reference": body["reference"]["weights"]}


def _measure_form(form: str, write: Callable[[], str] | None = None) -> Ratios:
    answer, lists = _answer()
    screen = Screen(
        width=80, text_width=80, height=24, watched=False, hinted=False, colour=False, unicode=True, full=True
    )
    return compare_calls(lambda: "".join(render(answer, form, screen, None)), write or (lambda: json.dumps(lists)))


def measure_json() -> Ratios:
    return _measure_form("json")


def measure_csv() -> Ratios:
    """The same numbers and their row numbers as CSV.

    The texts of the numbers and lines of them alone take 1.16 of it, and 1.1 times that is the target.
    """
    return _measure_form("csv")


def measure_csv_over_bare() -> Ratios:
    """The same over the least that it can be: the numbers of the arrays as Python writes them, and lines of them."""
    _, lists = _answer()
    arrays = [np.arange(len(lists["omega"])), *map(np.array, lists.values())]
    return _measure_form(
        "csv", lambda: "\n".join(map(",".join, zip(*(map(repr, a.tolist()) for a in arrays), strict=True)))
    )
