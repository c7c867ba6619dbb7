"""Every limit of the program, in one table.

A limit is there so that what is accepted also ends: within seconds and within memory. Change one
here and the messages, the documentation and the tests follow.
"""

from __future__ import annotations

#: Width of an encoding, and lattice length.
MIN_WIDTH, MAX_WIDTH = 2, 1 << 20
#: Base of a geometric ladder: beyond, frequencies or positions leave the range of float64.
MIN_RHO, MAX_RHO = 1e-6, 1e300
#: Kernel width in bins.
MIN_BANDWIDTH, MAX_BANDWIDTH = 1e-6, 1e6
#: Number of positions.
MIN_LENGTH, MAX_LENGTH = 1, 1 << 20
DEFAULT_LENGTH = 80
#: Width times length where nothing of that size is held.
MAX_STREAMED_ENTRIES = 1 << 33
#: Numbers in a table that is held in memory.
MAX_HELD_ENTRIES = 1 << 26
#: Largest position whose code is computed exactly: integers are exact in float64 up to here.
MAX_POSITION = 1 << 53
#: Numbers that one answer may print: bins of all spectra, points of all reconstructions.
MAX_PRINTED_NUMBERS = 1 << 23
#: Frequencies that one count may go through, over all encodings.
MAX_COUNTED_FREQUENCIES = 1 << 26
#: Encodings that one command may be asked for.
MAX_ENCODINGS = 1 << 12
#: Values that one option may list.
MAX_LIST = 1 << 16
#: Multiplications that rank (length x width x the smaller) or all pairs of a table may cost.
MAX_RANK_WORK = 1 << 32
#: Lags that a lag window may span.
MAX_LAGS = 1 << 24
#: Longest context that a low-bin count may be asked for.
MAX_CONTEXT = 1 << 40
#: Longest separation curve that a result holds.
MAX_CURVE = 1 << 16
#: Bytes of a settings file.
MAX_SETTINGS_BYTES = 1 << 20
#: What a figure may be written as.
FIGURE_SUFFIXES = (".png", ".svg", ".pdf")
