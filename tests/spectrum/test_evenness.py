"""Whether weights are even by themselves or by their kernel alone: what the verdict says, against arithmetic."""

import re

import numpy as np
import pytest

from pe_spectra import Dft, Sinusoidal, compute_spectrum, read_encoding
from pe_spectra.answers.captions import judge_spectrum
from pe_spectra.encodings import ENCODINGS, HasFrequencies
from pe_spectra.encodings.absolute import DfsTrans, OneHot
from pe_spectra.errors import UndefinedError
from pe_spectra.spectrum import compute_density_spectrum, compute_lag_window_spectrum, estimate_kernel, list_axes
from pe_spectra.spectrum.evenness import LEAST_EVEN
from tests.making import draw_table, give_table

FLAT = re.compile(r"^Flat: (all (\d+) frequencies have the same weight|of (\d+) weights.* is (\S+) % of the largest)")
BLURRED = re.compile(
    r"^Blurred flat: at bandwidth (\S+) the smallest of \d+ weights is (\S+) % .*, at (\S+) it is (\S+) %"
)

SMEARED = re.compile(
    r"^Blurred: at bandwidth (\S+) the first 10 of (\d+) frequencies hold (\S+) % .*, at (\S+) they hold (\S+) %; try"
)


def take_dft(d, left_out=()):
    """The table of the DFT encoding without the columns of some frequencies."""
    columns = [*range(d // 2 + 1), *range(1, (d + 1) // 2)]
    table = Dft(d=d).table(d)
    order = [0, *range(1, (d - 1) // 2 + 1)]
    of = order + order[1:] + ([d // 2] if d % 2 == 0 else [])
    assert len(of) == d == len(columns)
    return give_table(table[:, [i for i in range(d) if of[i] not in left_out]])


def compare_naively(spectrum):
    """Smallest over largest weight, per basis function, at the finest: lag by lag, or frequency by frequency."""
    encoding, n = spectrum.encoding, spectrum.grid
    if spectrum.estimator == "lattice":
        counts = [1 if k in (0, n / 2) else 2 for k in range(n // 2 + 1)]
        columns = np.zeros(len(counts))
        found = encoding.frequencies()
        for w, mass in zip(found.values, found.masses, strict=True):
            columns[round(w * n / (2 * np.pi))] += 2 * mass
        shares = columns / counts
    else:
        shares = look_closely(spectrum)
    return max(0.0, shares.min()) / shares.max()


def count_low_naively(spectrum):
    """The share of the first ten weights at the finest, as `compare_naively` has these."""
    shares = look_closely(spectrum)
    return shares[:10].sum() / shares.sum()


def look_closely(spectrum):
    """The weights at half a bin, or as finely as the lags allow that are known."""
    encoding, n = spectrum.encoding, spectrum.grid
    if isinstance(encoding, HasFrequencies):
        found = encoding.frequencies()
        kernel = np.cos(np.outer(np.arange(4 * n), found.values)) @ found.masses
        return transform(kernel, n, 0.5)
    size = spectrum.length or min(n, encoding.rows or n)
    size = (size + 1) // 2 if spectrum.kernel_source == "lag-rows" else size  # so many positions have that many lags
    kernel = estimate_kernel(encoding, length=size, count=max(n, size)).values[0]  # at all lags that are known
    return transform(kernel, n, 0.5 * max(1, n / len(kernel)))


def transform(kernel, n, bandwidth):
    """Blackman-Tukey as it is written: the sum over all lags, negative ones too."""
    lags, sigma = np.arange(1, len(kernel)), bandwidth * 2 * np.pi / n
    waves = np.cos(2 * np.pi * np.outer(np.arange(n // 2 + 1), lags) / n)
    return kernel[0] + 2 * waves @ (kernel[1:] * np.exp(-0.5 * (sigma * lags) ** 2))


def check(spectrum):
    """Whether the words are true of the weights, as plain arithmetic has them."""
    text, form = judge_spectrum(spectrum).text, spectrum.form
    evenness, shown = compare_naively(spectrum), max(0.0, spectrum.weights.min()) / spectrum.weights.max()
    assert (form == "flat") == (evenness >= LEAST_EVEN), (text, evenness)
    if form == "flat":
        _, all_of, of, percent = FLAT.match(text).groups()
        assert int(all_of or of) == len(spectrum.omega)
        assert evenness > 1 - 1e-6 if all_of else abs(float(percent) - 100 * evenness) < 0.06
    elif form == "blurred":
        bandwidth, here, _, there = BLURRED.match(text).groups()
        assert float(bandwidth) == pytest.approx(spectrum.bandwidth, rel=1e-5)
        assert abs(float(here) - 100 * shown) < 0.06
        assert abs(float(there) - 100 * evenness) < 0.06
        assert ("smaller" in text) == (spectrum.bandwidth > 0.5)
    else:
        assert "flat" not in text.lower()
    low, bins = spectrum.weights[:10].sum(), len(spectrum.omega)
    least = max(0.1, 20 / bins)
    if form in ("crowded", "smeared", "uneven") and abs(low - least) > 1e-9:
        looks_crowded = bins >= 20 and low >= least
        assert (form != "uneven") == looks_crowded
    if form in ("crowded", "smeared") and spectrum.estimator != "lattice":
        finest = count_low_naively(spectrum)
        assert (form == "crowded") == (finest >= least) or abs(finest - least) < 1e-9
        if form == "smeared":
            bandwidth, _, here, _, there = SMEARED.match(text).groups()
            assert float(bandwidth) == pytest.approx(spectrum.bandwidth, rel=1e-5)
            assert abs(float(here) - 100 * low) < 0.06
            assert abs(float(there) - 100 * max(0.0, finest)) < 0.06
    if form in ("crowded", "uneven"):
        assert f"no frequency lies above {np.pi:.4g}" not in text


# ----------------------------------------------------------------------------------- Eq. 22 at every d


@pytest.mark.few(18)
@pytest.mark.parametrize("d", range(2, 65))
def test_the_dft_is_flat_at_every_d(d):
    assert judge_spectrum(compute_spectrum(Dft(d=d))).text.startswith(f"Flat: all {d // 2 + 1} frequencies have the")
    for bandwidth in (0.5, 4.0, 300.0):
        for spectrum in (
            compute_density_spectrum(Dft(d=d), bandwidth=bandwidth, always_blur=True),
            compute_density_spectrum(Dft(d=d), bandwidth=bandwidth, always_blur=True, boundary="reflect"),
            compute_lag_window_spectrum(Dft(d=d), bandwidth=bandwidth),
            compute_lag_window_spectrum(OneHot(d=d), bandwidth=bandwidth),
            compute_lag_window_spectrum(take_dft(d), bandwidth=bandwidth),
        ):
            assert spectrum.form == "flat", (spectrum.estimator, bandwidth)
            assert spectrum.evenness == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("d", range(2, 65, 2))
def test_without_a_frequency_it_is_not(d):
    assert compute_spectrum(DfsTrans(d=d)).form != "flat"
    if d >= 8:
        for bandwidth in (0.5, 1.0, 4.0, 40.0):
            spectrum = compute_spectrum(take_dft(d, (d // 4,)), bandwidth=bandwidth)
            assert spectrum.form != "flat"
            if spectrum.form == "blurred":
                assert BLURRED.match(judge_spectrum(spectrum).text)


def test_four_frequencies_of_129_are_missed_at_every_bandwidth():
    table = take_dft(256, (40, 41, 42, 43))
    assert {compute_spectrum(table, bandwidth=b).form for b in (0.5, 1.0, 4.0)} == {"uneven"}
    assert {compute_spectrum(table, bandwidth=b).form for b in (32.0, 64.0, 1000.0)} == {"blurred"}


@pytest.mark.parametrize("seed", range(8))
def test_tones_are_crowded_where_they_are_low_and_not_where_only_the_kernel_is_wide(seed):
    generator = np.random.default_rng(seed)
    s, tones = np.arange(256.0), np.sort(generator.uniform(0.02, 1.2, 4))
    table = give_table(np.concatenate([[np.sin(w * s), np.cos(w * s)] for w in tones]).T)
    for bandwidth in (0.5, 1.0, 4.0, 16.0, 32.0, 64.0, 128.0):
        spectrum = compute_spectrum(table, bandwidth=bandwidth)
        check(spectrum)
        if tones[0] > 0.35:  # above bin 14
            assert spectrum.form != "crowded"


def test_flatness_is_one_where_the_verdict_is_flat():
    for d in (3, 8, 9, 64):
        assert compute_spectrum(Dft(d=d)).summary.flatness == pytest.approx(1, abs=1e-12)
        assert compute_spectrum(OneHot(d=d)).summary.flatness == pytest.approx(1, abs=1e-12)
    assert compute_spectrum(DfsTrans(d=8)).summary.flatness == 0


# ----------------------------------------------------------------------------------- all encodings


@pytest.mark.few(9)
@pytest.mark.parametrize("d", range(1, 65))
def test_what_is_said_of_a_ladder_is_true(d):
    for encoding in (Sinusoidal(d=d + 1), Sinusoidal(d=d + 1, rho=1.0), Dft(d=d + 1), DfsTrans(d=2 * d)):
        for bandwidth, grid in ((0.3, None), (4.0, None), (4.0, 7), (2.0 * d, None)):
            for boundary in ("none", "reflect"):
                check(compute_spectrum(encoding, bandwidth=bandwidth, grid=grid, boundary=boundary))


@pytest.mark.few(10)
@pytest.mark.parametrize("name", [cls.name for cls in ENCODINGS])
def test_what_is_said_of_every_encoding_is_true(name):
    encoding = read_encoding("learned:init=normal,d=64,length=40" if name == "learned" else name)
    for axis in list_axes(encoding):
        for bandwidth in (0.5, 4.0, 1e5):
            spectrum = compute_spectrum(encoding, bandwidth=bandwidth, axis=axis)
            if axis is None and spectrum.head_weights is None:
                check(spectrum)
            else:
                assert spectrum.form != "flat"


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_said_of_tables_is_true(seed):
    generator = np.random.default_rng(seed)
    for rows in (2, 3, 5, 16, 33):
        for columns in (1, 2, 5, 200):
            noise = draw_table(rows, columns, seed=int(generator.integers(10**6)))
            for table in (noise, np.ones((rows, columns)), noise.round(), np.cumsum(noise, axis=0)):
                for bandwidth in (0.5, 4.0, 100.0):
                    try:
                        check(compute_spectrum(give_table(table), bandwidth=bandwidth))
                    except UndefinedError:
                        assert not table.any() or bandwidth < 1


def test_the_finest_is_not_computed_where_weights_are_uneven():
    spectrum = compute_spectrum(Sinusoidal(d=256, rho=2.0))
    assert (spectrum.form, spectrum.evenness) == ("uneven", 0.0)
    assert "weights" not in vars(spectrum.finest)


def test_one_position_tells_nothing():
    spectrum = compute_spectrum(give_table([[1.0, 2.0]]))
    assert (spectrum.form, spectrum.finest) == ("blurred", None)
    assert judge_spectrum(spectrum).text.endswith("; one position has no lag, which could tell more.")


def test_noise_of_many_columns_is_flat_and_of_few_is_not():
    """Independent columns: the deviation at half a bin is 1/sqrt(sqrt(pi) d)."""
    assert [compute_spectrum(give_table(draw_table(128, 512, seed=s))).form for s in range(8)] == ["flat"] * 8
    assert "flat" not in [compute_spectrum(give_table(draw_table(128, 8, seed=s))).form for s in range(8)]
