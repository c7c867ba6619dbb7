"""Metrics at real positions are per position, whatever lies between two rows."""

import numpy as np
import pytest

from pe_spectra import GivenArray, Sinusoidal, compare_encodings
from pe_spectra.encodings import find_encoding
from pe_spectra.encodings.features import FourierFeatures
from pe_spectra.encodings.sampled import Sampled
from pe_spectra.metrics import METRICS

WAVES = np.array([0.7, 0.31, 0.11, 0.013])
#: What a spectrum at real positions has of its own: another estimate, on an axis of its own.
OF_SPECTRA = {"low_bin_mass", "mean_frequency", "centroid", "effective_bins_entropy", "flatness"}


def sample(encoding, times):
    return Sampled(encoding=encoding, times=GivenArray(np.asarray(times, dtype=float)))


def compare(encoding, length=None):
    (found,) = compare_encodings([encoding], length=length)
    return found


def give_waves(values):
    return FourierFeatures(values=GivenArray(values[None]))


@pytest.mark.parametrize("step", [0.125, 0.5, 1.0, 2.0, 3.0])
def test_stretched_waves_at_stretched_positions_have_the_same_metrics_in_other_units(step):
    """Waves of w at positions step s are waves of w step at s, so that lengths are multiplied, information divided."""
    real = compare(sample(give_waves(WAVES), step * np.arange(40))).values
    whole = compare(give_waves(step * WAVES), length=40).values
    seen = 0
    for name, declared in METRICS.items():
        if name in OF_SPECTRA or name.startswith("extrapolation"):
            continue
        factor = {"positions": step, "per position squared": step**-2}.get(declared.unit, 1.0)
        assert real[name] == (whole[name] and pytest.approx(factor * whole[name], rel=1e-6, abs=1e-12)), name
        seen += whole[name] is not None and factor != 1
    assert seen >= 6 or step == 1
    assert real["mean_frequency"] == pytest.approx(WAVES.mean(), rel=1e-14)


@pytest.mark.parametrize("step", [0.01, 0.25, 4.0])
def test_information_is_that_of_the_slopes(step):
    """J = sum of (de/dp)^2; of no list of frequencies by differences, which are true for small steps."""
    times = step * np.arange(30)
    lone = Sinusoidal(d=5, rho=20.0)
    w = lone.frequencies().values
    slopes = np.array([w[0] ** 2 + w[1] ** 2 + (w[2] * np.cos(w[2] * t)) ** 2 for t in times])
    found = compare(sample(lone, times)).values
    assert found["fisher_information_mean"] == pytest.approx(slopes.mean(), rel=1e-12)
    assert found["fisher_information_min"] == pytest.approx(slopes.min(), rel=1e-12)
    learned = find_encoding("mtan-learned")(d=16)
    changes = [learned.table_at(times + h) for h in (-1e-5, 1e-5)]
    slopes = np.sum(((changes[1] - changes[0]) / 2e-5) ** 2, axis=1)[1:-1]
    found = compare(sample(learned, times)).values
    assert found["fisher_information_mean"] == pytest.approx(slopes.mean(), rel=0.02)


def test_uneven_positions_have_no_length_in_rows():
    times = [0.0, 1.0, 2.5, 3.0, 4.75, 6.0, 7.5, 9.0]
    found = compare(sample(give_waves(WAVES), times))
    for name, declared in METRICS.items():
        if declared.unit in ("positions", "per position squared") and not name.startswith("extrapolation"):
            is_exact = name.startswith(("fisher", "cramer"))
            assert (found.values[name] is not None) == is_exact, name
            if not is_exact:
                assert found.notes[name]
    assert found.values["fisher_information_mean"] == pytest.approx(np.sum(WAVES**2) / 8, rel=1e-12)
    assert "the positions are not evenly spaced" in found.notes.values()


def test_steps_that_only_rounding_makes_uneven_are_even():
    near, far = (compare(sample(give_waves(WAVES), start + 0.1 * np.arange(40))).values for start in (0, 100))
    assert far["kernel_half_width"] == pytest.approx(near["kernel_half_width"], rel=1e-9)
    assert near["kernel_half_width"] == pytest.approx(3.0435, rel=1e-4)
