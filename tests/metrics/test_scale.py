"""No metric of order, rank or kernel depends on the scale of the codes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pe_spectra.metrics.order import measure_kernel_monotonicity
from pe_spectra.metrics.resolution import measure_ranks
from tests.metrics.tables import (
    measure_distance_lag_spearman,
    measure_half_width,
    measure_sidelobe,
    measure_table_monotonicity,
    measure_translation_invariance,
    waves,
)

THREE = waves(24, 0.7, -0.7, 0.05)
FOUR = waves(64, 0.1, -0.1, 0.037, -0.037)


# ----------------------------------------------------------------------------------- scale


@pytest.mark.parametrize("scale", [1e150, 1e-150, -1e300, 1e-300])
@pytest.mark.parametrize("table", [THREE, FOUR + 3, np.eye(12), np.random.default_rng(0).normal(size=(20, 5))])
def test_no_metric_of_order_or_rank_depends_on_scale(table, scale):
    def collect(codes):
        orders = (measure_translation_invariance, measure_table_monotonicity, measure_distance_lag_spearman)
        return [measure(codes) for measure in orders] + list(measure_ranks(codes).to_dict().values())

    assert_allclose(np.array(collect(scale * table), float), np.array(collect(table), float), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e300, 1e-300])
def test_no_metric_of_a_kernel_depends_on_scale(scale):
    def collect(kernel):
        sidelobe = measure_sidelobe(kernel)
        return measure_kernel_monotonicity(kernel), measure_half_width(kernel), sidelobe.lag, sidelobe.value

    kernel = np.cos(0.3 * np.arange(50.0)) * np.exp(-np.arange(50.0) / 20)
    assert_allclose(collect(scale * kernel), collect(kernel), rtol=1e-12)
