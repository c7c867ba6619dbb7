"""Changes of all that is smooth: scores against dense likelihoods, places, and silence where nothing changes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import toeplitz

from pe_spectra.inspection.amplitudes import _weigh, measure_amplitude_changes, measure_scores
from tests.inspection.corpus.bases import BERT, make_bert, make_ladder_and_noise
from tests.inspection.corpus.sound import draw_smooth
from tests.planted import make_generator

BESIDE = 8


def draw_covariances():
    """Covariances of a wave that fades, with white noise beside it, by lag."""
    lags = np.arange(2 * BESIDE)
    return np.exp(-lags / 40) * np.cos(lags / 3) + 0.3 * (lags == 0)


def measure_likelihood(products, smooth, noise, parts):
    """The log-likelihood, for each column, where what is smooth and noise change by parts behind the middle."""
    step = np.repeat([-0.5, 0.5], BESIDE)
    factors, lines = 1 + parts[0] * step + parts[1] * np.linspace(-1, 1, 2 * BESIDE), 1 + parts[2] * step
    covariance = factors[:, None] * smooth * factors + noise * np.diag(lines**2)
    return -(np.linalg.slogdet(covariance)[1] + np.sum(np.linalg.inv(covariance) * products)) / 2


def differentiate(products, smooth, noise):
    """The slopes of the likelihood by each of its parts."""
    nudges = 1e-4 * np.eye(3)
    differences = (
        measure_likelihood(products, smooth, noise, nudge) - measure_likelihood(products, smooth, noise, -nudge)
        for nudge in nudges
    )
    return [difference / 2e-4 for difference in differences]


def test_scores_are_those_of_dense_likelihoods():
    """They are slopes of the likelihood, of which those of noise, or of a straight line too, have no part."""
    width = 40
    covariances = toeplitz(draw_covariances())
    root = np.linalg.cholesky(covariances)
    forms = _weigh(covariances, BESIDE, width)
    noise = float(np.median(np.linalg.eigvalsh(covariances)[:BESIDE]))
    values, vectors = np.linalg.eigh(covariances)
    smooth = (vectors * np.maximum(values - noise, 0)) @ vectors.T
    slopes, scores = [], []
    for seed in range(200):
        rows = root @ make_generator(seed).standard_normal((2 * BESIDE, width))
        products = rows @ rows.T / width
        slopes.append(differentiate(products, smooth, noise))
        scores.append(np.tensordot(forms, products))
    slopes, scores = np.array(slopes), np.array(scores)
    for form, others in ((0, [2]), (1, [1, 2])):
        left = np.linalg.lstsq(slopes[:, [0, *others]], scores[:, form], rcond=None)[1]
        assert left / np.sum(np.square(scores[:, form])) < 1e-3
    assert_allclose(scores.std(axis=0), 1.0, atol=0.15)
    assert_allclose(scores.mean(axis=0), 0.0, atol=0.25)


def change_smooth(seed, factor, row=200):
    smooth, noise = make_ladder_and_noise(*BERT, make_generator(seed))
    smooth[row:] *= factor
    return smooth + noise


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("factor", [1.12, 1 / 1.12])
def test_a_change_is_found_at_its_place(seed, factor):
    every = np.ones(BERT[0], dtype=bool)
    errors = measure_amplitude_changes(change_smooth(seed, factor), every)
    assert abs(int(np.abs(errors).argmax()) - 199) <= 1
    assert np.sign(errors[np.abs(errors).argmax()]) == np.sign(factor - 1)
    assert not measure_amplitude_changes(change_smooth(seed, factor), every, [180])[133:228].any()


def mix_two_curves(rng):
    return draw_smooth(rng, 512, 2) @ rng.standard_normal((2, 128)) + 0.3 * rng.standard_normal((512, 128))


def grow_for_a_hundred_rows(rng):
    smooth, noise = make_ladder_and_noise(*BERT, rng)
    return smooth * np.interp(np.arange(BERT[0]), [200, 300], [1, 1.5])[:, None] + noise


def change_noise(rng):
    smooth, noise = make_ladder_and_noise(*BERT, rng)
    noise[200:] *= 1.3
    return smooth + noise


NOTHING = {
    "ladder": make_bert,
    "few columns": lambda rng: make_bert(rng, 256, 3),
    "a curve without noise": lambda rng: make_ladder_and_noise(256, 64, rng)[0],
    "two curves in all columns": mix_two_curves,
    "growth for a hundred rows": grow_for_a_hundred_rows,
    "a root": lambda rng: np.sqrt(np.arange(256))[:, None] * rng.standard_normal(64) + rng.standard_normal((256, 64)),
    "steady growth": lambda rng: make_bert(rng, 256, 64) * np.linspace(1, 2, 256)[:, None],
    "noise that changes": change_noise,
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NOTHING)
def test_nothing_smooth_changes(name):
    largest = []
    for seed in range(12):
        table = NOTHING[name](make_generator(seed))
        largest.append(np.abs(measure_amplitude_changes(table, np.ones(len(table), dtype=bool))).max())
    assert np.max(largest) < 4.7


def test_rows_that_are_not_trusted_are_bridged_and_short_tables_say_nothing():
    table, every = change_smooth(1, 1.2), np.ones(BERT[0], dtype=bool)
    table[[0, 100]] = 100.0
    every[[0, 100]] = False
    assert abs(int(np.abs(measure_amplitude_changes(table, every)).argmax()) - 199) <= 1
    assert not measure_amplitude_changes(table[:100], every[:100]).any()
    assert measure_scores(table[:40], 16).shape == (2, 9)
