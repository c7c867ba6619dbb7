"""Imported beside the program: its commands are described once for all the runs that are forked from one process.

The description takes as long as a refusal; that a process of its own describes itself is the subject of test_startup.
"""

import functools

from pe_spectra.cli import declared

declared.build_command = functools.cache(declared.build_command)
declared.build_command()
