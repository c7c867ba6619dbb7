"""Answers gathered on one page of HTML that needs nothing beside it: no network, no file, no script from elsewhere."""
