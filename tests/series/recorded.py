"""Series with planted truth."""

import numpy as np


def make_red(rng, times, memory):
    """Noise whose correlation falls by e in `memory`, at any times; white where that is 0."""
    noise = rng.standard_normal(len(times))
    if not memory:
        return noise
    values = np.empty(len(times))
    values[0] = noise[0]
    kept = np.exp(-np.diff(times) / memory)
    for place, rho in enumerate(kept.tolist()):
        values[place + 1] = rho * values[place] + np.sqrt(1 - rho**2) * noise[place + 1]
    return values


def add_waves(times, *waves):
    """The sum of sinusoids, each (period, amplitude)."""
    total = np.zeros(len(times))
    for place, (period, amplitude) in enumerate(waves):
        total += amplitude * np.sin(2 * np.pi * times / period + place)
    return total
