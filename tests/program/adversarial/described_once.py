"""Imported beside the program: its commands are described once for all the runs that are forked from one process.

The description takes as long as a refusal; that a process of its own describes itself is the subject of test_startup.
"""

import functools

from pe_spectra.cli import program

program.build_command = functools.cache(program.build_command)
program.build_command()
