"""Results as documents and rows: what every format of the command line is made of.

Each kind of result has a small module that turns it into an :class:`~pe_spectra.records.answer.Answer`:
a verdict in one sentence, a JSON document, rows for tables and CSV. Nothing here prints.
"""
