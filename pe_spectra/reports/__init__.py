"""Answers gathered on one page of HTML that needs nothing beside it: no network, no file, no script from elsewhere."""

from pe_spectra.reports.page import Page, Section, Table, write_page

__all__ = ["Page", "Section", "Table", "write_page"]
