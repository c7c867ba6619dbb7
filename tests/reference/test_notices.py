"""Code that is a little worse than ours misses the tolerances of the frozen rows, so they are tight enough to notice.

Each fault is what the obvious way to compute would do: a power by its logarithm, an angle rounded before its
sine is taken, the low words of frequencies left out, a comparison of floats where decimals are needed.
"""

import math
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

import numpy as np
import pytest

from pe_spectra import exact, reconstruction
from pe_spectra.encodings import lag_tables, pairs, rope_ladders, rope_scaling, rotary, sinusoidal
from pe_spectra.models import cosine_sums
from pe_spectra.models.lengths import proposals
from pe_spectra.spectrum import density, low_bin
from tests.reference import test_frozen_rows as test_against_reference
from tests.reference.test_frozen_rows import CHECKS, Failures, read

SHORT = Context(prec=16)


def words_by_logarithms(base, width):
    """One double for each frequency, as the code of most models has it."""
    values = np.exp(-np.arange(0, width, 2) * (math.log(base) / width))
    return np.array([values, 0 * values, 0 * values])


def high_words(base, width):
    words = exact.ladder_words(base, width).copy()
    words[1:] = 0
    return words


def high_pairs(base, width):
    values = exact.ladder_pairs(base, width)[0]
    return values, np.zeros_like(values)


def naive_angles(words, s):
    angles = np.multiply.outer(np.asarray(s, dtype=float), words[0])
    return np.sin(angles), np.cos(angles)


def naive_turns(numerators, denominator):
    angles = 2 * np.pi * np.asarray(numerators) / denominator
    rest = np.zeros_like(angles)
    return (np.sin(angles), rest), (np.cos(angles), rest)


def range_in_floats(base, width, original, beta_fast=32, beta_slow=1, *, truncate=True):
    ends = [width * math.log(original / (2 * math.pi * beta)) / (2 * math.log(base)) for beta in (beta_fast, beta_slow)]
    if truncate:
        ends = [math.floor(ends[0]), math.ceil(ends[1])]
    return Decimal(max(ends[0], 0)), Decimal(min(ends[1], width - 1))


def starts_in_floats(count, most):
    """The least n whose logarithm reaches k, to the last place of a float."""
    ones = count // 2
    grows = count - ones
    return (*range(ones), *(math.ceil(ones * (most / ones) ** (k / grows)) for k in range(grows)))


def crossing_in_floats(encoding, points):
    logarithm = math.log(encoding.rho)
    return encoding.d * math.log(points / (2 * math.pi)) / logarithm if logarithm else None


def slopes_by_exponentials(heads):
    return np.exp(-8 * math.log(2) / heads * np.arange(1, heads + 1))


def sum_without_first(theta, first, stop):
    return np.sum(np.cos(np.multiply.outer(np.arange(first, stop), theta[1:])), axis=1)


def inverse_by_angles(half, n):
    k = np.arange(len(half))
    twice = np.where((k == 0) | (2 * k == n), 1.0, 2.0)
    return np.cos(np.multiply.outer(np.arange(n), 2 * np.pi / n * k)) @ (twice * half) / n


def shorten_digits(patch):
    for module in (rope_ladders, rope_scaling):
        patch.setattr(module, "CONTEXT", SHORT)


#: Table, one in how many rows, what is put in, and where.
FAULTS = {
    "encoding: powers by logarithms": ("encoding", 4, (sinusoidal, "ladder_words", words_by_logarithms)),
    "encoding: low words left out": ("encoding", 4, (sinusoidal, "ladder_words", high_words)),
    "encoding: angles rounded": ("encoding", 4, (pairs, "sin_cos", naive_angles)),
    "dft: angles rounded": ("dft_entries", 8, (exact, "sin_cos_pairs_of_turns", naive_turns)),
    "spectrum: low words left out": ("spectrum", 1, (sinusoidal, "ladder_pairs", high_pairs)),
    "reconstruction: angles rounded": ("reconstruction", 1, (np.fft, "irfft", inverse_by_angles)),
    "low bin: low words left out": ("low_bin_ties", 1, (sinusoidal, "ladder_pairs", high_pairs)),
    "low bin: crossing in floats": ("low_bin", 1, (low_bin, "_compute_crossing", crossing_in_floats)),
    "separation: powers by logarithms": ("separation", 4, (sinusoidal, "ladder_words", words_by_logarithms)),
    "audit: ramp in floats": ("audit", 1, (rope_scaling, "compute_yarn_range", range_in_floats)),
    "audit: floor for ceiling": ("audit", 8, (rope_scaling, "ROUND_CEILING", ROUND_FLOOR)),
    "audit: round for floor": ("audit", 8, (rope_scaling, "ROUND_FLOOR", ROUND_HALF_EVEN)),
    "audit: wrong width in ntk": ("audit", 4, (rope_scaling, "compute_ntk_exponent", lambda _: Decimal(1))),
    "audit: sixteen digits": ("audit", 4, shorten_digits),
    "rope: sixteen digits": ("rope", 4, shorten_digits),
    "alibi: exponentials": ("alibi", 1, (test_against_reference, "compute_slopes", slopes_by_exponentials)),
    "buckets: floats": ("buckets", 1, (lag_tables, "_start_buckets", starts_in_floats)),
    "bounds: floor for ceiling": ("bounds", 1, (proposals, "ROUND_CEILING", ROUND_FLOOR)),
    "bounds: a power in floats": ("bounds", 1, (proposals, "_compute_fitted_base", lambda n: 0.0424 * n**1.628)),
    "negative lags: a pair left out": ("negative_lags", 1, (cosine_sums, "_sum_block", sum_without_first)),
}


@pytest.fixture
def forget():
    """Nothing that was computed before or with a fault is found again."""
    caches = [getattr(module, name) for module in (rotary, density, reconstruction) for name in dir(module)]
    caches = [cache for cache in caches if hasattr(cache, "cache_clear")]
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_noticed(name, monkeypatch, forget):
    table, step, fault = FAULTS[name]
    if callable(fault):
        fault(monkeypatch)
    else:
        monkeypatch.setattr(*fault)
    failures = Failures(table)
    CHECKS[table](read(table)[::step], failures)
    print(name, len(failures.lines), failures.worst)
    assert failures.lines
