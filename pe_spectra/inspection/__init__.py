"""What a table of codes shows: special rows, seams, periods, traces of interpolation."""

from pe_spectra.inspection.explanations import EXPLANATIONS
from pe_spectra.inspection.findings import RowFinding, RowRange
from pe_spectra.inspection.periods import DominantPeriod
from pe_spectra.inspection.portrait import TableInspection, inspect_table
from pe_spectra.inspection.resize import METHODS, build_resize_matrix, resize_table

__all__ = [
    "EXPLANATIONS",
    "METHODS",
    "DominantPeriod",
    "RowFinding",
    "RowRange",
    "TableInspection",
    "build_resize_matrix",
    "inspect_table",
    "resize_table",
]
