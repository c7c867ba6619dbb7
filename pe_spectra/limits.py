"""Every limit of the program, in one table.

A limit is there so that what is accepted also ends: within seconds and within memory. Change one
here and the messages, the documentation and the tests follow.
"""

from __future__ import annotations

#: Width of an encoding, and lattice length.
MIN_WIDTH, MAX_WIDTH = 2, 1 << 20
#: Widest head that is rotated: beyond any that is published, and its decimals are computed in well under a second.
MAX_HEAD_WIDTH = 1 << 14
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
#: Numbers that one export may write: as bytes, and as text, of which each takes 20 characters.
MAX_EXPORTED_NUMBERS = 1 << 25
MAX_EXPORTED_TEXT_NUMBERS = 1 << 23
#: Numbers of a table that is drawn at random in place of a learned one.
MAX_DRAWN_NUMBERS = 1 << 25
#: Rows, columns and numbers of a table whose rows, seams and periods are looked at one by one.
MAX_INSPECTED_ROWS, MAX_INSPECTED_COLUMNS = 1 << 18, 1 << 14
#: Rows of a grid, where every period has two directions to be found.
MAX_INSPECTED_PLACES = 1 << 14
MAX_INSPECTED_NUMBERS = 1 << 25
#: Frequencies that one count may go through, over all encodings.
MAX_COUNTED_FREQUENCIES = 1 << 26
#: Encodings that one command may be asked for.
MAX_ENCODINGS = 1 << 12
#: Encodings that one command may analyse, which takes longer than building them.
MAX_ANALYSED = 1 << 8
#: Numbers (length x width, at least 64 a position) that one comparison may measure, over all encodings.
MAX_COMPARED_NUMBERS = 1 << 27
#: Values that one option may list.
MAX_LIST = 1 << 16
#: Multiplications that rank (length x width x the smaller) or all pairs of a table may cost.
MAX_RANK_WORK = 1 << 32
#: Multiplications that the closest pair of a table may cost (narrow tables count as 64 wide): half a minute.
MAX_PAIR_WORK = 1 << 41
#: The same over all encodings of one command.
MAX_PAIR_WORK_TOGETHER = 1 << 41
#: The same for searches that go through float64, pair by pair.
MAX_DIRECT_WORK = 1 << 37
#: Lags that a lag window may span.
MAX_LAGS = 1 << 24
#: Longest context that a low-bin count may be asked for.
MAX_CONTEXT = 1 << 40
#: Context lengths of models; what two sides are compared at where neither states one.
MAX_MODEL_LENGTH = 1 << 30
UNSTATED_LENGTH = 1 << 15
#: Longest separation curve that a result holds.
MAX_CURVE = 1 << 16
#: Bytes of a settings file.
MAX_SETTINGS_BYTES = 1 << 20
#: Columns of a table that is read from a file.
MAX_COLUMNS = 1 << 16
#: Axes of an array in a file, before leading ones of length 1 are left out.
MAX_AXES = 32
#: Characters of the header of a .npy file.
MAX_NPY_HEADER = 10_000
#: Bytes of the header of a .safetensors file, and of the index of a sharded checkpoint.
MAX_TENSOR_INDEX_BYTES = 1 << 24
#: Tensors that one .safetensors file may describe.
MAX_TENSORS = 1 << 16
#: Bytes of the header of a .gguf file: words and merges of a vocabulary of 262,144 take some 20 MB.
MAX_GGUF_HEADER_BYTES = 1 << 27
#: Keys of such a header, and words in all of its lists.
MAX_GGUF_KEYS = 1 << 12
MAX_GGUF_WORDS = 1 << 21
#: Bytes of the name of a key or tensor, and of a text that is kept.
MAX_GGUF_NAME = 1 << 10
MAX_GGUF_TEXT = 1 << 12
#: Numbers of a list that is kept (one for each layer).
MAX_GGUF_LIST = 1 << 12
#: Bytes that tensors may be aligned to.
MAX_GGUF_ALIGNMENT = 1 << 16
#: Numbers of a tensor in a .gguf file that divides frequencies.
MAX_GGUF_FACTORS = 1 << 16
#: Members of a .npz file; how often its numbers may be larger than it; from what size that counts.
MAX_MEMBERS = 1 << 10
MAX_INFLATION, FREE_INFLATION_BYTES = 100, 1 << 24
#: Files that one checkpoint may be spread over.
MAX_SHARDS = 1 << 10
#: Bytes and lines of a .csv or .tsv file, and bytes of one of its lines.
MAX_TEXT_TABLE_BYTES = 1 << 28
MAX_TEXT_LINES = 1 << 22
MAX_LINE_BYTES = 1 << 22
#: Rows and columns of a series that is looked at.
MAX_SERIES_ROWS, MAX_SERIES_COLUMNS = 1 << 22, 64
#: Samples of a window that encodings are looked at in: one that is chosen, and one that is given.
MAX_CHOSEN_WINDOW, MAX_WINDOW = 1 << 10, 1 << 12
#: Its pairs of samples times the width.
MAX_WINDOW_WORK = 1 << 35
#: Folders that are looked into for models.
MAX_FOLDERS = 1 << 16
#: Bytes of a model's configuration; how deep it may nest; digits of a number in it.
MAX_CONFIGURATION_BYTES = 1 << 20
#: Bytes of a frozen file: some ten kilobytes for each model.
MAX_FROZEN_BYTES = 1 << 27
#: Largest relative difference of numbers that may count as equal; at 1 all numbers of one sign would.
MAX_TOLERANCE = 0.99
MAX_DEPTH = 64
MAX_DIGITS = 310
#: Points of a sweep.
MAX_POINTS = 10**6
#: Processes that one command may start.
MAX_WORKERS = 1 << 10
#: What the libraries that do the linear algebra read when they are loaded: how many threads they may use.
THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
