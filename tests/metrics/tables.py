"""Small tables of known kinds on which metrics are asked."""

import numpy as np
import pytest

from pe_spectra.faithfulness.separation import Sidelobe
from pe_spectra.metrics import Views, measure_metrics
from pe_spectra.metrics.kernel_shape import measure_kernel_shape
from pe_spectra.metrics.order import measure_table_order
from tests import naive
from tests.making import draw_table


def measure_all(table=None, **views):
    """Every metric of a table, or of other views."""
    return measure_metrics(Views(table=table, **views))


def measure_half_width(kernel):
    return measure_kernel_shape(kernel).kernel_half_width


def measure_sidelobe(kernel):
    found = measure_kernel_shape(kernel)
    return None if found.sidelobe_lag is None else Sidelobe(lag=int(found.sidelobe_lag), value=found.sidelobe_ratio)


def measure_table_monotonicity(table):
    return measure_table_order(table).table_monotonicity


def measure_translation_invariance(table):
    return measure_table_order(table).translation_invariance


def measure_distance_lag_spearman(table):
    return measure_table_order(table).distance_lag_spearman


def sinusoidal(d, length, start=0):
    return naive.sinusoidal_table(d, 10000.0, range(start, start + length))


def one_hot(n):
    return np.eye(n)


def dft(d, length):
    return naive.basis(d).T[np.arange(length) % d]


def ramp(length, columns=3):
    return np.linspace(0, 1, length)[:, None] * np.ones(columns)


TABLES = {
    "sinusoidal": sinusoidal(16, 30),
    "wide": sinusoidal(64, 20),
    "one-hot": one_hot(12),
    "dft": dft(8, 20),
    "ramp": ramp(25),
    "random": draw_table(24, 5),
    "walk": np.cumsum(draw_table(40, 6, seed=3), axis=0),
    "one column": draw_table(17, 1, seed=4),
}
each_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def waves(length, *columns):
    """Columns sin(w s) for w > 0, cos(w s) for w < 0."""
    s = np.arange(float(length))
    return np.stack([np.sin(w * s) if w > 0 else np.cos(w * s) for w in columns], axis=1)


def beside(table, constant):
    return np.hstack([table, np.full((len(table), 1), constant)])


THREE = waves(24, 0.7, -0.7, 0.05)
STEPS = np.arange(24.0)[:, None]
FIRST = np.eye(24)[:, :1]
HARD = {
    "plain": THREE,
    "large mean": THREE + 1e8,
    "means that cancel": THREE + np.array([1e8, -1e5, 3.0]),
    "whole numbers": 1e15 + STEPS * np.array([1.0, -1.0]),
    "a large constant": beside(THREE, 1e5),
    "a huge constant": beside(1e-180 * (THREE + 5), 1e150),
    "a first row like no other": THREE + 1e8 * FIRST,
    "one unit in the last place": np.ones((24, 3)) + 2.0**-52 * FIRST,
    "scales far apart": THREE * np.array([1.0, 1e-100, 1e150]),
    "subnormal": 1e-320 * THREE,
    "largest numbers": np.where(THREE > 0, 1.7e308, -1.7e308),
    "two rows": THREE[:2],
}


def widen(table, value):
    return np.hstack([table, np.full((len(table), 1), value)])
