"""Sums of exponentials at uneven times are those that are added one by one."""

import numpy as np
import pytest

from pe_spectra.series.transform import Ladder


@pytest.mark.parametrize("count", [1, 2, 3, 15, 64, 257, 1000])
@pytest.mark.parametrize("samples", [1, 2, 300])
def test_the_sums_are_those_added_one_by_one(count, samples):
    rng = np.random.default_rng(count)
    phases, strengths = np.sort(rng.uniform(0, 1, samples)), rng.standard_normal(samples)
    slow = np.exp(-2j * np.pi * np.outer(np.arange(count), phases)) @ strengths
    found = Ladder(count=count).transform(phases, strengths)
    np.testing.assert_allclose(found, slow, rtol=0, atol=5e-12 * np.abs(strengths).sum())


def test_samples_at_the_ends_and_in_several_parts(monkeypatch):
    monkeypatch.setattr("pe_spectra.series.transform._CHUNK", 7)
    phases = np.sort(np.concatenate([[0.0, 1 - 1e-12], np.linspace(0, 0.99, 50)]))
    slow = np.exp(-2j * np.pi * np.outer(np.arange(100), phases)) @ np.ones(52)
    np.testing.assert_allclose(Ladder(count=100).transform(phases, np.ones(52)), slow, rtol=0, atol=1e-10)
