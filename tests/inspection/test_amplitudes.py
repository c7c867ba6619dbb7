"""Small changes of amplitude and noise: slopes against dense likelihoods, places, sizes, and silence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.inspection import amplitudes
from pe_spectra.inspection.amplitudes import bound_errors, find_small_changes
from tests import planted
from tests.inspection.corpus.bases import BERT, make_bert, make_ladder_and_noise
from tests.inspection.tables import find_row_only
from tests.planted import make_generator


def average_slowly(factors, beside):
    """Products of rows s and t, averaged over both shifted by as much, beyond the ends mirrored."""
    size = len(factors)
    mirrored = [*range(beside, 0, -1), *range(size), *range(size - 2, size - 2 - beside, -1)]
    products = factors @ factors.T
    shifts = range(2 * beside + 1)
    return np.array(
        [
            [np.mean([products[mirrored[s + k], mirrored[t + k]] for k in shifts]) for t in range(size)]
            for s in range(size)
        ]
    )


def measure_likelihood(rows, smooth, variance, logarithms):
    """Of columns of one covariance, where what is smooth is exp(logarithms) times as large."""
    factors = np.exp(logarithms)
    covariance = factors[:, None] * smooth * factors + variance * np.eye(len(rows))
    return -(rows.shape[1] * np.linalg.slogdet(covariance)[1] + np.sum(rows * np.linalg.solve(covariance, rows))) / 2


def test_slopes_are_those_of_dense_likelihoods_and_scatter_as_is_said():
    size, width, variance = 24, 9, 0.5
    rows = make_generator(1).standard_normal((size, width)).cumsum(axis=0)
    slopes = amplitudes._score_amplitudes(amplitudes._Parts(rows, np.ones(size), variance, width))
    smooth = average_slowly(rows, size // 8) / width
    nudges = 1e-5 * np.eye(size)
    slow = [
        (measure_likelihood(rows, smooth, variance, one) - measure_likelihood(rows, smooth, variance, -one)) / 2e-5
        for one in nudges
    ]
    assert_allclose(slopes.values, slow, rtol=1e-5, atol=1e-5)
    inverse = np.linalg.inv(smooth + variance * np.eye(size))
    changes = [inverse @ (np.outer(e, e @ smooth) + np.outer(smooth @ e, e)) for e in np.eye(size)]
    information = [[width / 2 * np.sum(a * b.T) for b in changes] for a in changes]
    assert_allclose(slopes.covariances, information, rtol=1e-8, atol=1e-8)


def test_steps_are_those_of_least_squares_beside_a_drift():
    size, generator = 40, make_generator(2)
    values, precision = generator.standard_normal(size), np.cov(generator.standard_normal((size, 3 * size)))
    drift = np.vander(np.linspace(-1, 1, size), 3)
    errors, units = amplitudes._compare_steps(amplitudes._Slopes(precision @ values, precision), drift)
    root = np.linalg.cholesky(precision).T
    for row in (0, 17, size - 2):
        columns = root @ np.column_stack([drift, np.arange(size) > row])
        assert_allclose(errors[row] * units[row], np.linalg.lstsq(columns, root @ values, rcond=None)[0][-1], rtol=1e-7)
        assert_allclose(units[row] ** 2, np.linalg.inv(columns.T @ columns)[-1, -1], rtol=1e-7)


@pytest.mark.parametrize("apart", [0.001, 0.01, 0.1, 1.0])
def test_the_bound_is_exceeded_by_chance_as_often_as_is_said(apart):
    """By stationary errors whose neighbours have the correlation 1 - apart."""
    generator, memory, most = make_generator(3), 1 - apart, []
    for _ in range(400):
        errors = generator.standard_normal(320)
        for place in range(1, 320):
            errors[place] = memory * errors[place - 1] + np.sqrt(1 - memory**2) * errors[place]
        most.append(np.abs(errors).max() > bound_errors(errors, 0.05))
    assert np.mean(most) < 0.08


def change(seed, what, factor, row=200, size=BERT):
    smooth, noise = make_ladder_and_noise(*size, make_generator(seed))
    (smooth if what == "amplitude" else noise)[row:] *= factor
    return smooth + noise


def look(table, rounding=0.0):
    every = np.ones(len(table), dtype=bool)
    return list(find_small_changes(table, every, np.full(len(table), rounding)))


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("factor", [1.09, 1 / 1.09])
@pytest.mark.parametrize("what", ["amplitude", "noise"])
def test_a_change_is_found_at_its_place_by_its_size(what, factor, seed):
    (found,) = look(change(seed, what, factor))
    assert (found.what, abs(found.row - 199) <= 3) == (what, True)
    assert_allclose(np.log(found.ratio), np.log(factor), rtol=0.4)


@pytest.mark.parametrize("what", ["amplitude", "noise"])
def test_a_change_of_a_long_table_is_found_once(what):
    (found,) = look(change(5, what, 1.08, row=700, size=(1200, 384)))
    assert (found.what, abs(found.row - 699) <= 3) == (what, True)


@pytest.mark.parametrize("what", ["amplitude", "noise"])
def test_what_is_said_is_the_size_of_the_change(what):
    finding, _ = find_row_only(change(13, what, 1.065), "seam")
    names = {"amplitude": "what neighbours share", "noise": "noise"}
    ratio, errors = (finding.data[f"{what}_{name}"] for name in ("ratio", "errors"))
    assert f"differ in {names[what]} (x{ratio:.3g}, {errors:.0f} standard errors)" in finding.message
    assert "consistent with training first at length 200" in finding.message
    assert_allclose(np.log(ratio), np.log(1.065), rtol=0.4)
    assert {name for name in ("norm", "step", "turn", "amplitude", "noise") if finding.data[f"{name}_errors"]} == {what}


def fade(rng):
    return planted.make_trained(*BERT, int(rng.integers(99))) * np.linspace(1, 0.4, BERT[0])[:, None]


def swell(rng):
    """Rows in the middle are longer by half, and fade over an eighth of the table."""
    rows = np.arange(BERT[0])
    return planted.make_trained(*BERT, int(rng.integers(99))) * (1 + 0.5 * np.exp(-(((rows - 256) / 64) ** 2)))[:, None]


NOTHING = {
    "ladder": make_bert,
    "fading": fade,
    "swelling": swell,
    "few lines": lambda rng: planted.make_periodic(*BERT, int(rng.integers(99))),
    "many lines": lambda rng: planted.make_lively(*BERT, int(rng.integers(99))),
    "walk": lambda rng: planted.make_walk(*BERT, int(rng.integers(99))),
    "memory": lambda rng: planted.make_walk(*BERT, int(rng.integers(99)), 0.9),
    "noise": lambda rng: rng.standard_normal(BERT),
    "a curve without noise": lambda rng: make_ladder_and_noise(*BERT, rng)[0],
    "small": lambda rng: make_bert(rng, 200, 48),
}


@pytest.mark.few(3, keep=["fading"])
@pytest.mark.parametrize("name", NOTHING)
def test_nothing_changes(name):
    found = [seed for seed in range(12) if look(NOTHING[name](make_generator(seed)))]
    assert len(found) <= 1, found


def test_what_storing_rounds_off_is_no_noise():
    table = change(7, "noise", 1.09)
    noise = np.square(change(7, "noise", 1.09) - make_ladder_and_noise(*BERT, make_generator(7))[0]).sum(axis=1)
    assert look(table)
    assert not look(table, rounding=float(np.median(noise)) / 3)


def test_nothing_is_told_where_one_vector_is_added():
    """Rows on both sides of a seam that is found otherwise are not those of one process."""
    table = change(8, "amplitude", 1.07)
    assert look(table)
    finding, _ = find_row_only(planted.plant_seam_offset(table, 349, 9, 0.7), "seam")
    assert finding.rows == (349, 350)


def test_rows_that_are_not_trusted_are_bridged():
    table, every = change(10, "amplitude", 1.09), np.ones(BERT[0], dtype=bool)
    table[[0, 150]] = 100.0
    every[[0, 150]] = False
    (found,) = find_small_changes(table, every, np.zeros(BERT[0]))
    assert (found.what, abs(found.row - 199) <= 3) == ("amplitude", True)


@pytest.mark.parametrize(("memory", "is_split"), [(0.0, True), (0.4, False)])
def test_noise_that_remembers_is_not_taken_apart(memory, is_split):
    smooth, noise = make_ladder_and_noise(*BERT, make_generator(11))
    table = smooth + noise.std() * planted.make_walk(*BERT, 11, memory)
    assert (amplitudes._split(table) is not None) == is_split
