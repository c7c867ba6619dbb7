"""The fast sums of Gaussians against the sum over all pairs, whose exponents are pairs of doubles."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from pe_spectra import Dft, Sinusoidal, compute_spectrum
from pe_spectra.encodings import Encoding
from pe_spectra.spectrum import density, gaussian_pairs, gaussian_sums
from pe_spectra.spectrum.gaussian_pairs import LogSum, Sources
from pe_spectra.spectrum.gaussian_sums import (
    _merge_sources,
    _sum_chebyshev,
    _sum_outside,
    _sum_windows,
    sum_gaussians,
)

TOLERANCE = 1e-12


def compute_logs(sums: LogSum) -> np.ndarray:
    low = 0.0 if sums.exponent_low is None else sums.exponent_low
    return sums.exponent + (low + np.log(sums.factor))


def check_logs(actual: np.ndarray, desired: np.ndarray) -> None:
    assert np.isfinite(actual).all()
    np.testing.assert_array_less(np.abs(actual - desired), TOLERANCE * np.maximum(1.0, np.abs(desired)) + 1e-300)


def compare(monkeypatch: pytest.MonkeyPatch, u: np.ndarray, masses: np.ndarray, width: float, count: int) -> None:
    u_low = np.zeros_like(u)
    monkeypatch.setattr(gaussian_pairs, "DIRECT_PAIRS", 1 << 40)
    direct = compute_logs(sum_gaussians(u, u_low, masses, width, count))
    monkeypatch.setattr(gaussian_pairs, "DIRECT_PAIRS", 0)
    check_logs(compute_logs(sum_gaussians(u, u_low, masses, width, count)), direct)


def sum_plainly(u: np.ndarray, masses: np.ndarray, width: float, points: range) -> np.ndarray:
    """The logarithm of the sum over all sources at some points, in 40 digits."""
    with mpmath.workdps(40):
        two = 2 * mpmath.mpf(width) ** 2
        sums = [mpmath.fsum(m * mpmath.exp(-((k - mpmath.mpf(x)) ** 2) / two) for x, m in zip(u, masses, strict=True))
                for k in points]  # fmt: skip
        return np.array([float(mpmath.log(one)) for one in sums])


@pytest.mark.parametrize("width", [1e-3, 0.3, 4.0, 1e3, 1e200])
@pytest.mark.parametrize("masses", ["equal", "falling", "rising", "uneven"])
def test_sources_that_are_left_out_would_change_no_digit(
    monkeypatch: pytest.MonkeyPatch, width: float, masses: str
) -> None:
    for name in ("_ROWS", "_FEWEST_ROWS", "_PAIRS"):  # each point has those that it needs alone
        monkeypatch.setattr(gaussian_pairs, name, 1)
    u = np.sort(np.concatenate([np.geomspace(1e-9, 60.0, 90), [20.0, 20.0, 59.5]]))
    ramp = 10.0 ** np.linspace(0, 40, len(u))
    uneven = np.where(np.arange(len(u)) % 3, 1.0, 1e-30)
    given = {"equal": np.ones_like(u), "falling": 1 / ramp, "rising": ramp, "uneven": uneven}[masses]
    found = compute_logs(sum_gaussians(u, np.zeros_like(u), given, width, 130))
    check_logs(found[::7], sum_plainly(u, given, width, range(0, 130, 7)))


def draw_cases(count: int) -> list[tuple[int, float, float, int, str]]:
    random = np.random.default_rng(20240515)
    special = [1.0, 1 + 1e-9, 1 - 1e-9, 1e-6, 1e300, 10000.0]
    cases = []
    for i in range(count):
        d = int(random.integers(2, 40)) if i % 3 == 0 else int(2 ** random.uniform(1, 9))
        rho = special[i % 12] if i % 12 < 6 else float(10 ** random.uniform(-6, 40))
        bandwidth = float(10 ** random.uniform(-6, 6)) if i % 2 else float(10 ** random.uniform(-1, 2))
        grid = d if i % 4 else int(2 ** random.uniform(1, 11))
        cases.append((d, rho, bandwidth, grid, "reflect" if i % 5 == 0 and bandwidth < 1e3 else "none"))
    return cases


@pytest.mark.few(77)
@pytest.mark.parametrize(("d", "rho", "bandwidth", "grid", "boundary"), draw_cases(240))
def test_fast_agrees_with_direct(
    monkeypatch: pytest.MonkeyPatch, d: int, rho: float, bandwidth: float, grid: int, boundary: str
) -> None:
    encoding = Sinusoidal(d=d, rho=rho)
    direct = compute_spectrum(encoding, grid=grid, bandwidth=bandwidth, boundary=boundary)
    monkeypatch.setattr(gaussian_pairs, "DIRECT_PAIRS", 0)
    fast = compute_spectrum(encoding, grid=grid, bandwidth=bandwidth, boundary=boundary)
    check_logs(fast.log_weights, direct.log_weights)
    np.testing.assert_allclose(fast.weights.sum(), 1.0, rtol=1e-13)


@pytest.mark.parametrize("bandwidth", [1e-3, 0.3, 1.0, 4.0, 77.0])
@pytest.mark.parametrize(("d", "grid"), [(64, 4096), (257, 1000), (30, 64)])
def test_lattice_frequencies_on_another_grid(
    monkeypatch: pytest.MonkeyPatch, d: int, grid: int, bandwidth: float
) -> None:
    direct = compute_spectrum(Dft(d=d), grid=grid, bandwidth=bandwidth)
    assert direct.estimator == "kde"
    assert len(direct.weights) == grid // 2 + 1
    monkeypatch.setattr(gaussian_pairs, "DIRECT_PAIRS", 0)
    check_logs(compute_spectrum(Dft(d=d), grid=grid, bandwidth=bandwidth).log_weights, direct.log_weights)


SETS = {
    "single": np.array([40.25]),
    "single below": np.array([-3.5]),
    "single above": np.array([1000.0]),
    "far outside": np.array([-1e7, 1e7]),
    "coincident": np.full(300, 77.125),
    "cluster": 100 + np.linspace(0, 1e-7, 500),
    "clusters and a lone source": np.r_[np.linspace(10, 11, 400), 55.0, np.linspace(300, 300.001, 1000)],
    "cluster beside a lone source": np.r_[np.linspace(10, 30, 2000), 62.0],
    "gap": np.r_[np.linspace(0, 20, 300), np.linspace(420, 510, 300)],
    "outside on both sides": np.r_[np.linspace(-60, -1, 200), np.linspace(513, 600, 200)],
    "all outside": np.linspace(600, 900, 500),
    "equidistant": np.arange(-5.5, 600, 11.0),
    "unsorted": np.random.default_rng(5).uniform(-20, 540, 700),
}


@pytest.mark.few(29)
@pytest.mark.parametrize("width", [1e-6, 1e-2, 0.7, 1.0, 1.2, 3.9, 25.0, 400.0, 1e6])
@pytest.mark.parametrize("name", SETS)
def test_sets_of_sources(monkeypatch: pytest.MonkeyPatch, name: str, width: float) -> None:
    u = SETS[name]
    compare(monkeypatch, u, np.ones_like(u), width, 513)
    compare(monkeypatch, u, np.random.default_rng(7).choice([0.5, 1.0], len(u)), width, 513)


@pytest.mark.parametrize("width", [1.0, 4.0, 50.0])
def test_crowds_are_merged(monkeypatch: pytest.MonkeyPatch, width: float) -> None:
    monkeypatch.setattr(gaussian_sums, "_MANY", 0)
    monkeypatch.setattr(gaussian_sums, "_CROWD", 0)
    random = np.random.default_rng(11)
    for _ in range(5):
        centres = random.uniform(0, 512, 6)
        u = np.concatenate([c + random.uniform(0, 0.3 * width, random.integers(1, 400)) for c in centres])
        compare(monkeypatch, u, np.ones_like(u), width, 513)


@pytest.mark.few(25)
@pytest.mark.parametrize("width", [1e-6, 0.3, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("name", SETS)
def test_gaps_between_crowds(monkeypatch: pytest.MonkeyPatch, name: str, width: float) -> None:
    monkeypatch.setattr(gaussian_sums, "_MANY", 0)
    monkeypatch.setattr(gaussian_sums, "_CROWD", 0)
    compare(monkeypatch, SETS[name], np.ones_like(SETS[name]), width, 513)


def test_merged_sources_sum_to_the_same() -> None:
    u = np.sort(np.random.default_rng(3).uniform(0, 1, 5000))
    sources = Sources(u, np.zeros_like(u), np.ones_like(u))
    for x in (0.0, 3.0, 8.0, -8.0):
        anchor, distance = np.array([[0.5], [0.0]]), np.array([x])
        sums = [
            _sum_windows(some, 1.0, anchor, distance, np.array([0]), np.array([len(some.u)]))[0]
            for some in (sources, _merge_sources(sources, 1.0))
        ]
        np.testing.assert_allclose(sums[1], sums[0], rtol=1e-13)


def test_sums_of_chebyshev_polynomials() -> None:
    y, weights = np.random.default_rng(8).uniform(-1, 1, 999), np.random.default_rng(9).uniform(0, 1, 999)
    y[:2] = -1, 1
    sums = _sum_chebyshev(y, weights)
    for n, found in enumerate(sums.tolist()):
        assert abs(found - float(np.cos(n * np.arccos(y)) @ weights)) < 1e-15 * (1 + n) * weights.sum(), n


@pytest.mark.parametrize("delta", [0.05, 0.4, 1.5, 4.0])
def test_one_source_before_a_crowd_keeps_its_digits(delta: float) -> None:
    """Points from where the crowd outweighs the source by its number to where it adds nothing."""
    u = np.concatenate([[100.0], 100.0 + np.sort(np.random.default_rng(2).uniform(delta, 1.1 * delta, 200_000))])
    sources, variance = Sources(u, np.zeros_like(u), np.ones_like(u)), 16.0
    points = np.linspace(100.0, 0.0, 24)
    exponent, factor = points[0] - points, np.empty(len(points))
    _sum_outside(sources, 4.0, points[0], exponent, factor)
    gap = u - u[0]
    for point, found in zip(points, factor, strict=True):
        wanted = math.fsum(np.exp(-gap * (gap + 2 * (100.0 - point)) / (2 * variance)))
        # rounded where the crowd is exp(8) times as much
        assert abs(found - wanted) <= 5e-13 * wanted, point


def compute_exactly(encoding: Encoding, grid: int, bandwidth: float, points: list[int]) -> list[mpmath.mpf]:
    """ln of the sum of Eq. (15) before normalisation, at some points."""
    frequencies = encoding.frequencies()
    scale = mpmath.mpf(grid) / (2 * mpmath.pi)
    u = [(mpmath.mpf(w) + mpmath.mpf(low)) * scale for w, low in zip(frequencies.values, frequencies.low, strict=True)]
    return [
        mpmath.log(
            mpmath.fsum(
                mass * mpmath.exp(-(((k - v) / mpmath.mpf(bandwidth)) ** 2) / 2)
                for v, mass in zip(u, frequencies.masses.tolist(), strict=True)
            )
        )
        for k in points
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "rho", "bandwidth"),
    [
        (8192, 1e4, 4.0),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in ((8193, 1e4, 0.5), (8192, 1e300, 1.5), (8192, 0.5, 4.0), (8192, 1 + 1e-9, 2.0))
        ),
    ],
)
def test_large_d_against_high_precision(d: int, rho: float, bandwidth: float) -> None:
    encoding = Sinusoidal(d=d, rho=rho)
    logs = compute_spectrum(encoding, bandwidth=bandwidth).log_weights
    points = sorted({0, 1, 5, 40, 900, int(d / 6.2832), int(d / 6.2832) + 9, d // 3, d // 2})
    with mpmath.workdps(40):
        exact = compute_exactly(encoding, d, bandwidth, points)
        top = compute_exactly(encoding, d, bandwidth, [int(np.argmax(logs))])[0]
        # the normalisation is common to all: differences to the largest weight are exact tests of the sums
        for k, value in zip(points, exact, strict=True):
            actual = logs[k] - logs.max()
            assert abs(actual - float(value - top)) <= TOLERANCE * max(1.0, abs(logs[k])), k


@pytest.mark.slow
@pytest.mark.parametrize("rho", [1e-6, 1.0, 1 + 1e-9, 10000.0, 1e300])
@pytest.mark.parametrize("bandwidth", [1e-6, 0.3, 4.0, 1e3, 1e6])
@pytest.mark.parametrize("boundary", ["none", "reflect"])
def test_largest_grid_is_finite(rho: float, bandwidth: float, boundary: str) -> None:
    spectrum = compute_spectrum(Sinusoidal(d=1 << 20, rho=rho), bandwidth=bandwidth, boundary=boundary)
    assert np.isfinite(spectrum.log_weights).all()
    np.testing.assert_allclose(spectrum.weights.sum(), 1.0, rtol=1e-12)


@pytest.mark.few(3, keep=["160-1e+300-3.0", "2-10000.0-1e-06"])
@pytest.mark.parametrize(
    ("d", "rho", "bandwidth"),
    [(256, 1e4, 4.0), (30, 1e4, 0.05), (63, 2.5, 0.3), (160, 1e300, 3.0), (2, 1e4, 1e-6), (90, 1.0, 1e-6)],
)
def test_every_log_weight_has_its_digits(d: int, rho: float, bandwidth: float) -> None:
    """Few sources: the exponents are pairs of doubles, and ln g is right to 1e-15 of itself, or of 1."""
    encoding = Sinusoidal(d=d, rho=rho)
    spectrum = compute_spectrum(encoding, bandwidth=bandwidth)
    with mpmath.workdps(40):
        exact = compute_exactly(encoding, d, bandwidth, list(range(d // 2 + 1)))
        total = mpmath.log(mpmath.fsum(mpmath.exp(value) for value in exact))
        for k, value in enumerate(exact):
            log = value - total
            assert abs(mpmath.mpf(float(spectrum.log_weights[k])) - log) <= 1e-15 * max(1.0, abs(float(log))), k
            weight = mpmath.exp(log)
            if weight > 1e-290:
                assert abs(mpmath.mpf(float(spectrum.weights[k])) - weight) <= 16 * np.spacing(float(weight)), k


def test_reflected_sources_keep_their_digits() -> None:
    """Images of sources, up to the fourth of the circle beyond pi: their low words turn round with them."""
    u = np.array([0.1, 3.3, 11.7, 15.9])
    low = u * 2.0**-54
    for sign in (1.0, -1.0):
        images, lows, masses = density._add_images(u, sign * low, np.arange(1.0, 5.0), 32, 4.0)
        for image, rest, mass in zip(images.tolist(), lows.tolist(), masses.tolist(), strict=True):
            source = Fraction(u[int(mass) - 1]) + Fraction(sign * low[int(mass) - 1])
            turns = [(Fraction(image) + Fraction(rest) - side * source) / 32 for side in (1, -1)]
            assert any(abs(turn - round(turn)) < Fraction(2) ** -90 for turn in turns)


def test_merged_sources_are_ascending() -> None:
    u = np.sort(np.random.default_rng(3).uniform(0, 3, 5000))
    merged = _merge_sources(Sources(u, np.zeros_like(u), np.ones_like(u)), 1.0)
    assert len(merged.u) < len(u)
    assert (np.diff(merged.u) >= 0).all()


def test_sources_of_one_double_are_in_the_order_of_their_low_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crowd is replaced by nodes between its first source and its last one."""
    u = np.full(40, 20.3)
    low = np.array([0.0, 7.0, -7.0, 1.0] * 10) * 2.0**-53
    monkeypatch.setattr(gaussian_pairs, "DIRECT_PAIRS", 0)
    logs = compute_logs(sum_gaussians(u, low, np.ones(40), 4.0, 200))
    check_logs(logs, math.log(40) - 0.5 * ((np.arange(200) - 20.3) / 4) ** 2)


def test_sums_over_cells_are_not_summed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among many sources every point has its sum from the cells; none is left to windows and tails."""

    def refuse(*_: object) -> None:
        raise AssertionError("a sum that is known is computed again")

    u, width = np.linspace(-40, 552, 3000), 5.0
    monkeypatch.setattr(gaussian_pairs, "DIRECT_PAIRS", 0)
    monkeypatch.setattr(gaussian_sums, "_sum_inside", refuse)
    monkeypatch.setattr(gaussian_sums, "_sum_outside", refuse)
    found = sum_gaussians(u, np.zeros_like(u), np.ones_like(u), width, 513)
    naive = np.exp(-0.5 * ((np.arange(513)[:, None] - u) / width) ** 2).sum(axis=1)
    np.testing.assert_allclose(found.factor * np.exp(found.exponent), naive, rtol=1e-13)


@pytest.mark.parametrize("top", [0.0, -3.0])
def test_weights_reach_down_to_the_smallest_double(top):
    exponent = np.append(np.linspace(-760.0, -700.0, 6001), 0.0) + top  # so that the total is less than 1
    weights, total = LogSum(exponent=exponent, exponent_low=None, factor=np.full(6002, 0.75)).normalise(top)
    with np.errstate(under="ignore"):
        sums = 0.75 * np.exp(exponent - top)
        assert total == pytest.approx(sums.sum(), rel=1e-15)
        assert np.array_equal(weights, sums * (1 / total))
    assert weights[weights > 0].min() == 5e-324


def test_weights_between_those_that_are_0():
    for exponent in ([-800.0, 0.0, -800.0, -1.0, -900.0], [0.0, -1.0, -800.0], [-800.0, -1.0]):
        exponents = np.array(exponent)
        sums = [0.5 * math.exp(one) for one in exponent]
        weights, total = LogSum(exponent=exponents, exponent_low=None, factor=np.full(len(sums), 0.5)).normalise()
        assert total == pytest.approx(sum(sums), rel=1e-15)
        np.testing.assert_allclose(weights, np.divide(sums, sum(sums)), rtol=1e-15)


def test_weights_between_frequencies_that_are_far_apart_have_their_digits():
    """Half a unit of the last place of a frequency of 1,700 bins changes a weight four bandwidths away by 2.4e-13."""
    d, b = 1 << 16, 4
    weights = [compute_spectrum(Sinusoidal(d=d, rho=1e300), boundary=one).weights for one in ("none", "reflect")]
    with mpmath.workdps(40):
        rho, turn = mpmath.mpf(1e300), 2 * mpmath.pi
        frequencies = [mpmath.mpf(d) / turn * rho ** (-mpmath.mpf(2 * i) / d) for i in range(250)]

        def weigh(k):
            return sum(mpmath.exp(-((k - u) ** 2) / (2 * b * b)) for u in frequencies if abs(k - u) < 20 * b)

        for u in frequencies[:150]:
            here = weigh(round(u))
            for k in range(round(u) + b, round(u) + 5 * b, b):
                wanted = weigh(k) / here
                for some in weights:
                    found = mpmath.mpf(float(some[k])) / mpmath.mpf(float(some[round(u)]))
                    assert abs(found / wanted - 1) < 1e-13
