"""How time grows with the problem, as an exponent: what the machine's speed does not touch."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pe_spectra import Sinusoidal, compute_spectrum, reconstruct
from pe_spectra.benchmarks.measuring import Ratios, compare_calls
from pe_spectra.benchmarks.table_ratios import prepare_table
from pe_spectra.encodings.equal_rows import number_equal_rows
from pe_spectra.faithfulness.closest_pair import find_closest_pair
from pe_spectra.faithfulness.pair_lags import find_closest_lag
from pe_spectra.faithfulness.separation import find_pair_words
from pe_spectra.spectrum import compute_gram_kernel
from tests.benchmarks.precision_rows import count_distinct


def measure_growth(call: Callable[[int], object], small: int, large: int) -> Ratios:
    """The exponent p for which the time of `large` is that of `small` times (large/small)^p."""
    ratios = compare_calls(lambda: call(large), lambda: call(small), rounds=3).ratios
    return Ratios(ratios=tuple(math.log(ratio, large / small) for ratio in ratios))


def measure_reconstruction() -> Ratios:
    spectra = {d: compute_spectrum(Sinusoidal(d=d)) for d in (1 << 14, 1 << 19)}
    drawn = {d: np.random.default_rng(d).normal(size=d) for d in spectra}
    return measure_growth(lambda d: reconstruct(drawn[d], spectra[d]), *spectra)


def measure_separation() -> Ratios:
    words = find_pair_words(Sinusoidal(d=512))
    if words is None:
        raise RuntimeError("a ladder has a separation")
    return measure_growth(lambda length: find_closest_lag(words, length), 1 << 15, 1 << 20)


def measure_closest_pair() -> Ratios:
    return measure_growth(lambda rows: find_closest_pair(prepare_table(8192, 128)[:rows]), 1024, 8192)


def measure_equal_rows() -> Ratios:
    # both are more than caches hold: 4096 rows may lie in one, and then the memory is measured, not the growth
    return measure_growth(lambda rows: number_equal_rows(prepare_table(65536, 384)[:rows]), 16384, 65536)


def measure_diagonals() -> Ratios:
    return measure_growth(lambda rows: compute_gram_kernel(prepare_table(65536, 384)[:rows]), 4096, 65536)


def measure_narrow_rows() -> Ratios:
    return measure_growth(count_distinct, 1 << 12, 1 << 16)
