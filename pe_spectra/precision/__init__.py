"""What finite precision leaves of an encoding, stage by stage, as implementations compute it."""

from __future__ import annotations

from pe_spectra.precision.dtypes import RECIPES, Recipe
from pe_spectra.precision.rounding_report import PrecisionReport, Stage, Staircase
from pe_spectra.precision.staircase import measure_precision

__all__ = ["RECIPES", "PrecisionReport", "Recipe", "Stage", "Staircase", "measure_precision"]
