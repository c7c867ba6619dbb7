"""Lasting changes of a signal: gains against dense likelihoods, places, and silence where nothing changes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.inspection.levels import LevelChange, Signal, _list_densities, find_level_changes, measure_gains
from tests.planted import make_generator


def find_changes(*values):
    """What is found in one signal, or in several of one length."""
    signals = {str(i): Signal(values=one, valid=np.ones(len(one), dtype=bool), span=0) for i, one in enumerate(values)}
    return list(find_level_changes(signals, 0, len(values[0])))


def pass_through(coefficients, noise):
    """Noise whose values go on from those before."""
    from scipy.signal import lfilter  # takes a second to load, also of every worker that only collects the tests

    return lfilter([1], coefficients, noise)[99:]


def gain_by_matrices(values, start):
    """Twice the gain by a step before `start`, by dense covariances and least squares; and that step."""
    count = len(values)
    places, orders = np.arange(count), np.arange(1, count)
    waves = np.sqrt(2 / count) * np.cos(np.pi * np.outer(orders, 2 * places + 1) / (2 * count))
    differences = 2 - 2 * np.cos(np.pi * orders / count)
    likelihoods = {"plain": [], "changed": []}
    steps = []
    for density in _list_densities(differences, count):
        covariance = np.diag(density)
        inverse, volume = np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1]
        signal, step = waves @ values, waves @ (places >= start)
        size = (step @ inverse @ signal) / (step @ inverse @ step)
        for name, left in (("plain", signal), ("changed", signal - size * step)):
            likelihoods[name].append(-(count - 1) * np.log(left @ inverse @ left) - volume)
        steps.append(size)
    gain = max(likelihoods["changed"]) - max(likelihoods["plain"])
    return gain, steps[int(np.argmax(likelihoods["changed"]))]


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["white", "walk", "step"])
def test_gains_are_those_of_dense_likelihoods(kind):
    noise = make_generator(1).standard_normal(40)
    values = {"white": noise, "walk": np.cumsum(noise), "step": noise + 4 * (np.arange(40) >= 25)}[kind]
    gains, sizes = measure_gains(values)
    slow = [gain_by_matrices(values, start) for start in range(1, 40)]
    scale = max(1.0, np.median([gain for gain, _ in slow]) / 0.4549364)
    assert_allclose(gains, [gain / scale for gain, _ in slow], rtol=1e-7, atol=1e-7)
    assert_allclose(sizes, [size for _, size in slow], rtol=1e-7, atol=1e-9)


NOTHING = {
    "white": lambda rng, n: rng.standard_normal(n),
    "walk": lambda rng, n: np.cumsum(rng.standard_normal(n)),
    "memory": lambda rng, n: pass_through([1, -0.9], rng.standard_normal(n + 99)),
    "second order": lambda rng, n: pass_through([1, -1.9, 0.95], rng.standard_normal(n + 99)),
    "trend": lambda rng, n: 0.02 * np.arange(n) + rng.standard_normal(n),
    "wave": lambda rng, n: np.sin(np.arange(n) / 9) + 0.01 * rng.standard_normal(n),
    "curve": lambda rng, n: np.log1p(np.arange(n)) + 0.1 * rng.standard_normal(n),
    "heavy tails": lambda rng, n: rng.standard_t(3, n),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NOTHING)
def test_nothing_changes(name):
    found = [seed for seed in range(50) if find_changes(NOTHING[name](make_generator(seed), 320))]
    assert len(found) <= 1, found


@pytest.mark.few(1)
@pytest.mark.parametrize(("errors", "kind"), [(3.0, "white"), (9.0, "walk")])
def test_a_change_is_found_at_its_place(errors, kind):
    """A change of three deviations of white noise; of a walk one of nine of its steps."""
    right = 0
    for seed in range(40):
        values = NOTHING[kind](make_generator(seed), 400)
        found = find_changes(values + errors * (np.arange(400) >= 130))
        right += len(found) == 1 and abs(found[0][0] - 129) <= 1
    assert right >= 38


@pytest.mark.slow
def test_several_signals_add_up():
    alone = together = 0
    for seed in range(25):
        rng = make_generator(seed)
        three = [rng.standard_normal(400) + 0.5 * (np.arange(400) >= 130) for _ in range(3)]
        alone += bool(find_changes(three[0]))
        together += bool(find_changes(*three))
    assert together > 1.5 * alone, (alone, together)


def test_sizes_and_errors_are_those_of_the_change():
    values = 0.1 * make_generator(3).standard_normal(300)
    values[100:] += 1.0
    values[200:] -= 0.6
    found = {row: changes["0"] for row, changes in find_changes(values)}
    assert sorted(found) == [99, 199]
    assert_allclose([found[99].size, found[199].size], [1.0, -0.6], atol=0.1)
    gains, _ = measure_gains(values)
    assert_allclose(found[99].errors ** 2, gains.max(), rtol=1e-12)
    assert isinstance(found[99], LevelChange)


@pytest.mark.parametrize("rows", [1, 3, 9])
def test_what_does_not_last_is_no_change(rows):
    values = 0.1 * make_generator(4).standard_normal(300)
    values[150 : 150 + rows] += 2.0
    assert find_changes(values) == []


def test_numbers_that_are_not_trusted_are_passed_over():
    values = 0.1 * make_generator(5).standard_normal(300)
    values[150:] += 1.0
    valid = np.ones(300, dtype=bool)
    valid[149], values[149] = False, 1e6
    signals = {"norm": Signal(values=values, valid=valid, span=0)}
    ((row, _),) = find_level_changes(signals, 0, 300)
    assert abs(row - 149) <= 1
    assert list(find_level_changes(signals, 0, 140)) == []
    assert [place for place, _ in find_level_changes(signals, 100, 200)] == [row]


@pytest.mark.parametrize(("room", "is_found"), [(None, True), (1.1, True), (0.9, False)])
def test_a_length_changes_no_more_than_its_vectors_do(room, is_found):
    """By 1, where the vectors jump by so much beside row 149, and by nothing elsewhere."""
    values = 0.01 * make_generator(6).standard_normal(300)
    values[150:] += 1.0
    rooms = None if room is None else np.where(np.abs(np.arange(299) - 149) <= 1, room, 0.0)
    signal = Signal(values=values, valid=np.ones(300, dtype=bool), span=0, room=rooms)
    assert bool(list(find_level_changes({"norm": signal}, 0, 300))) == is_found
    assert bool(list(find_level_changes({"norm": signal}, 20, 300))) == is_found


@pytest.mark.parametrize("count", [0, 1, 20, 33, 60])
def test_short_and_constant_signals_have_an_answer(count):
    assert find_changes(np.zeros(count)) == []
    assert isinstance(find_changes(np.arange(float(count))), list)
