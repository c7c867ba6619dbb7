"""One-number summaries for comparing encodings side by side; none needs a model.

Names are imported when they are first used: what asks for one number loads what measures that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pe_spectra.names import import_lazily, list_homes

if TYPE_CHECKING:
    from pe_spectra.metrics.kernel_shape import PeriodMatch as PeriodMatch
    from pe_spectra.metrics.kernel_shape import measure_periods as measure_periods
    from pe_spectra.metrics.measured import METRICS as METRICS
    from pe_spectra.metrics.measured import TOO_LARGE as TOO_LARGE
    from pe_spectra.metrics.measured import Measured as Measured
    from pe_spectra.metrics.measured import Views as Views
    from pe_spectra.metrics.measured import measure_metrics as measure_metrics
    from pe_spectra.metrics.measures import Metric as Metric
    from pe_spectra.metrics.measures import measure_norm as measure_norm
    from pe_spectra.metrics.measures import relate_separation as relate_separation
    from pe_spectra.metrics.resolution import Resolution as Resolution
    from pe_spectra.metrics.resolution import measure_ladder_resolution as measure_ladder_resolution

#: Module -> the names that it defines.
_NAMES = {
    "metrics.kernel_shape": ("PeriodMatch", "measure_periods"),
    "metrics.measured": ("METRICS", "TOO_LARGE", "Measured", "Views", "measure_metrics"),
    "metrics.measures": ("Metric", "measure_norm", "relate_separation"),
    "metrics.resolution": ("Resolution", "measure_ladder_resolution"),
}
_HOMES = list_homes(_NAMES)

__all__ = list(_HOMES)
__getattr__ = import_lazily(__name__, _HOMES)
