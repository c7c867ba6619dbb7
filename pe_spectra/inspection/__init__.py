"""What a table of codes shows: special rows, seams, periods, traces of interpolation."""

from pe_spectra.findings import collect_kinds
from pe_spectra.inspection import table_kinds
from pe_spectra.inspection.periods import DominantPeriod
from pe_spectra.inspection.resize import resize_table
from pe_spectra.inspection.row_findings import RowFinding, RowRange
from pe_spectra.inspection.table_portrait import TableInspection, inspect_table

__all__ = [
    "KINDS",
    "DominantPeriod",
    "RowFinding",
    "RowRange",
    "TableInspection",
    "inspect_table",
    "resize_table",
]

#: Every kind of finding about a table, by code.
KINDS = collect_kinds(table_kinds)
