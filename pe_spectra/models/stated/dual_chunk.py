"""Dual chunk attention, which some files ask for: positions that begin anew in each chunk."""

from __future__ import annotations

from pe_spectra.findings import Kind
from pe_spectra.models.rotation import NONE
from pe_spectra.models.stated.keys import Keys
from pe_spectra.models.stated.statement import CHUNKS, NEWEST, TRANSFORMERS
from pe_spectra.records import NamedTuple

_AN = "An et al. 2024, arXiv:2402.17463, Section 3 (dual chunk attention)"
_DUAL_CHUNK = Kind(
    code="dual-chunk",
    levels=("note",),
    phrase="the file asks for dual chunk attention",
    reasoning="Dual chunk attention turns a key by its place in a chunk of chunk_size - local_size positions, and a "
    "query by its place, or by up to chunk_size for the chunks before, so no distance is above chunk_size, which was "
    "trained. No frequency shows it. No file of transformers, keras-hub or llama.cpp, of the releases known here, has "
    "the key: beyond that length they turn by distances that were not trained.",
    formula="a query at s and a key of the chunk before meet at min(s mod c + c, chunk_size) - (key mod c), of chunks "
    "before that at min(2c - 1, chunk_size) - (key mod c), c = chunk_size - local_size; the first position with "
    "another distance is min(chunk_size + 1, 2c)",
    references=(_AN, TRANSFORMERS, "vllm-project/vllm 0.33.0 and 0.19.1, dual_chunk_rope.py, which was run"),
)


class DualChunk(NamedTuple):
    """Chunks of size - local positions.

    >>> chunk = DualChunk(size=262144, local=8192)
    >>> chunk.text, chunk.begins
    ('chunks of 253952 positions, distances up to 262144', 262145)
    """

    size: int  #: chunk_size, in positions
    local: int  #: local_size, in positions, fewer

    @property
    def length(self) -> int:
        """Positions of a chunk, after which places begin anew."""
        return self.size - self.local

    @property
    def reach(self) -> int:
        """The largest distance by which a query is turned against a key."""
        return min(2 * self.length - 1, self.size)

    @property
    def begins(self) -> int:
        """The first position of a query that meets a key at another distance than theirs."""
        return self.reach + 1

    @property
    def text(self) -> str:
        """What it does, in a few words."""
        return f"chunks of {self.length} positions, distances up to {self.reach}"


def read_chunks(keys: Keys, length: int | None) -> str:
    """Return what a file asks for, in words, and report it.

    Parameters
    ----------
    length : the context length that is stated, in positions; None for none.

    Raises
    ------
    FileError : a size that is no integer from 1, or a local size that leaves no chunk.

    >>> keys = Keys({"dual_chunk_attention_config": {"chunk_size": 4096, "local_size": 512}}, "config.json")
    >>> read_chunks(keys, 4096), keys.findings[0].data["begins"]
    ('chunks of 3584 positions, distances up to 4096', 4097)
    """
    asked = keys.find_object(CHUNKS)
    if not asked.found:
        return NONE
    chunk = DualChunk(asked.read_integer("chunk_size"), asked.read_integer("local_size"))
    if chunk.length < 1:
        asked.refuse("local_size", f"an integer below chunk_size, {chunk.size}, is accepted")
    is_short = length is not None and length <= chunk.begins
    before = "agree within the context" if is_short else f"differ from position {chunk.begins:,} on"
    message = (
        f"{keys.where}{CHUNKS}: places begin anew after {chunk.length:,} positions, and no distance is above "
        f"{chunk.reach:,}; transformers {NEWEST} does not read it, and its distances {before}"
    )
    keys.report(_DUAL_CHUNK, message, **chunk._asdict(), begins=chunk.begins)
    return chunk.text
