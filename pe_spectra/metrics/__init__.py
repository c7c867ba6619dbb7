"""One-number summaries of tables, kernels and frequencies, for comparing encodings side by side.

Pure functions of arrays; none needs a model. Their definitions stand in `METRICS`.
"""

from __future__ import annotations

from pe_spectra.metrics.definitions import METRICS, Metric
from pe_spectra.metrics.gathering import Measured, measure_kernel_metrics, measure_table_metrics
from pe_spectra.metrics.resolution import Resolution, measure_ladder_resolution, measure_table_resolution
from pe_spectra.metrics.time_periods import PeriodMatch, find_kernel_periods, measure_periods

__all__ = [
    "METRICS",
    "Measured",
    "Metric",
    "PeriodMatch",
    "Resolution",
    "find_kernel_periods",
    "measure_kernel_metrics",
    "measure_ladder_resolution",
    "measure_periods",
    "measure_table_metrics",
    "measure_table_resolution",
]
