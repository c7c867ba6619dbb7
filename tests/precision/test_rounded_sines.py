"""Sines and cosines by angle addition are, to the last bit, those of NumPy rounded to float32."""

import numpy as np
import pytest

from pe_spectra import Sinusoidal
from pe_spectra.precision import rounded_sines
from pe_spectra.precision.dtypes import DTYPES, RECIPES
from pe_spectra.precision.rounded_sines import FURTHEST, RoundedSines
from pe_spectra.precision.waves import Front, cast_positions, find_waves


def compute(angles):
    sine, cosine = np.empty((2, *angles.shape), dtype=np.float32)
    RoundedSines(angles.shape[1]).compute(angles, sine, cosine)
    return sine, cosine


def check(angles):
    for found, wave in zip(compute(angles), (np.sin, np.cos), strict=True):
        np.testing.assert_array_equal(found, wave(angles).astype(np.float32))


@pytest.mark.parametrize("limit", [1e-42, 1e-3, 1.0, 50.0, 1e4, FURTHEST])
def test_they_are_those_of_numpy(limit):
    drawn = np.random.default_rng(1).uniform(-limit, limit, size=(700, 100))
    check(drawn.astype(np.float32).astype(float))


def test_angles_next_to_multiples_of_half_a_turn_keep_their_digits():
    multiples = np.arange(-1335080, 1335080, 5.0).reshape(-1, 8) * np.pi / 2  # up to FURTHEST
    check(multiples.astype(np.float32).astype(float))


def test_what_a_first_look_leaves_open_is_settled(monkeypatch):
    """Of these sines a first look, which is right to 3e-14, gives the neighbour in float32."""
    angles = np.array([[-0.7846208810806274, -5397.46240234375, -6655.07373046875]])
    check(angles)
    monkeypatch.setattr(rounded_sines, "_OPEN", 0)
    assert (compute(angles)[0] != np.sin(angles).astype(np.float32)).all()


def test_a_first_look_is_as_near_as_is_said(monkeypatch):
    """Half-way between two angles of the table it is off by most."""
    monkeypatch.setattr(rounded_sines, "_OPEN", 0)
    angles = ((np.arange(8192) + 0.5) * (2 * np.pi / 4096)).reshape(64, 128)
    found = np.empty((2, *angles.shape))  # not rounded to float32
    RoundedSines(128).compute(angles, *found)
    for one, wave in zip(found, (np.sin, np.cos), strict=True):
        exact = wave(angles)
        assert (np.abs(one - exact) < 300 * np.spacing(np.abs(exact))).all()


@pytest.mark.parametrize(("start", "are_near"), [(0, True), (1 << 20, True), (1 << 22, False), (1 << 50, False)])
def test_phases_that_are_too_large_are_left_to_numpy(start, are_near):
    steps = RECIPES["fp32-then-cast"].resolve("bfloat16")
    cast = cast_positions(np.arange(start, start + 5), steps.positions)
    front = Front(waves=find_waves(Sinusoidal(d=8)), steps=steps, cast=cast)
    assert (front._rounded_sines is not None) == are_near
    phases = front.compute_phases(np.arange(len(cast.positions)))
    angles = phases.astype(float)
    exact = np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)
    np.testing.assert_array_equal(front.compute_sines(phases), exact)


def test_phases_that_their_type_does_not_hold_are_left_to_numpy():
    steps = RECIPES["fp32-then-cast"].resolve("bfloat16")._replace(phases=DTYPES["float16"])
    front = Front(
        waves=find_waves(Sinusoidal(d=8)), steps=steps, cast=cast_positions(np.arange(70000), steps.positions)
    )
    assert front._rounded_sines is None
    with np.errstate(over="ignore"):
        phases = front.compute_phases(np.array([0, 69999]))
    assert np.isinf(phases[1, 0])
    assert np.isnan(front.compute_sines(phases)[1, 0])


def test_phases_of_more_digits_are_left_to_numpy():
    """The cosine of the double next to 1081409 quarters of a turn has too few digits by angle addition."""
    steps = RECIPES["fp32-then-cast"].resolve("bfloat16")._replace(phases=DTYPES["float64"])
    front = Front(waves=find_waves(Sinusoidal(d=2)), steps=steps, cast=cast_positions(np.arange(3), steps.positions))
    assert front._rounded_sines is None
