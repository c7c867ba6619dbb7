"""What is wrong with modules as they run: what a second call changes, and what a narrow type takes away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pe_spectra.capturing.probing import HeldChange, Probed
from pe_spectra.findings import Finding, Kind
from pe_spectra.limits import MAX_LENGTH
from pe_spectra.models.comparison.divergence import compare_frequencies
from pe_spectra.models.dumps.dump import Dump

CHANGES = Kind(
    code="changes-between-calls",
    levels=("error",),
    phrase="a second call changes what it holds or gives",
    reasoning="A position has one vector. A module that writes to its own buffer when it is called gives another one "
    "at every step of training, and after loading it is not known how often it was called.",
    formula="a copy is called twice at the same positions; its numbers after the second call are not those after the "
    "first, or what both gave differs in a number",
)
ROUNDED_FREQUENCIES = Kind(
    code="frequencies-rounded-by-cast",
    levels=("warning",),
    phrase="casting the module rounds its frequencies",
    reasoning="Methods that cast a model cast its buffers, too. A frequency that is off by a share e has a phase that "
    "is off by s w e at position s, which grows until nothing is left.",
    formula="frequencies after the cast are those of a coarser type, or others; the first position s with "
    f"|s (w - w')| > pi/8, whole turns taken off, is below {MAX_LENGTH:,}",
)
MERGED_POSITIONS = Kind(
    code="positions-merged-by-cast",
    levels=("warning",),
    phrase="after casting the module positions share their cosines and sines",
    reasoning="Positions that were rounded before they were multiplied, or cosines of too few digits, leave several "
    "positions with one rotation: attention cannot tell them apart.",
    formula="number of different rows of cosines and sines before the cast, and after it",
)
NOT_CALLED = Kind(
    code="taken-by-its-buffers",
    levels=("note",),
    phrase="a module was not called, or what it gave was not read",
    reasoning="What a module gives can be another thing than what it holds; here only what it holds is known.",
    formula="no arguments named after positions, lengths and inputs gave cosines and sines, or a table, with a row for "
    "each position",
)
NOT_READ = Kind(
    code="rotation-not-read",
    levels=("note",),
    phrase="what a module holds of a rotation is of no kind that is read",
    reasoning="Frequencies of several axes stand in one list, or in a table; cosines and sines of a grid turn by no "
    "position: nothing was taken of this module.",
    formula="a tensor whose name ends with inv_freq has numbers that rise and fall, or more than one axis; or phases "
    "of what was given or held do not grow evenly, and there are no frequencies",
)
#: Every kind of finding about a module, by its code.
KINDS = {kind.code: kind for kind in (CHANGES, ROUNDED_FREQUENCIES, MERGED_POSITIONS, NOT_CALLED, NOT_READ)}


def find_changes(module: str, changes: Sequence[HeldChange]) -> Iterator[Finding]:
    """Say what a second call of a module changed.

    >>> [found.message for found in find_changes("pe", [HeldChange("table", 0.5)])]
    ['pe: a second call changes table, to 0.5 times its norm.']
    """
    for name, ratio in changes:
        size = "" if ratio is None else f", to {ratio:.6g} times its norm"
        yield CHANGES.find(f"{module}: a second call changes {name}{size}.", module=module, tensor=name, ratio=ratio)


def find_cast_faults(module: str, cast: str, before: Probed, after: Probed) -> Iterator[Finding]:
    """Say what casting a module took away: digits of its frequencies, and positions.

    Parameters
    ----------
    cast : name of the method. before, after : what the module held and gave.

    >>> from pe_spectra.capturing.calls import Answered
    >>> from pe_spectra.capturing.holdings import Held
    >>> gave = (np.arange(4.0)[:, None], np.array([[0.0], [1.0], [1.0], [1.0]]))
    >>> before, after = (Probed(Answered("rotation", one, ""), None, Held({}, None, {})) for one in gave)
    >>> [found.message for found in find_cast_faults("rotary", "half", before, after)]
    ['rotary after .half(): 4 positions have 2 different rows.']
    """
    for name, (_, dump) in before.held.lists.items():
        narrow = after.held.lists.get(name)
        if narrow is not None:
            yield from _find_rounded(module, cast, name, dump, narrow[1])
    if before.answer is None or after.answer is None:
        return
    whole, kept = (len(np.unique(one.values, axis=0)) for one in (before.answer, after.answer))
    if kept < whole:
        yield MERGED_POSITIONS.find(
            f"{module} after .{cast}(): {whole} positions have {kept} different rows.",
            module=module,
            cast=cast,
            positions=whole,
            distinct=kept,
        )


def _find_rounded(module: str, cast: str, name: str, before: Dump, after: Dump) -> Iterator[Finding]:
    """A list whose rounding puts a phase off within the longest length that is looked at."""
    off = compare_frequencies(name, before, after, MAX_LENGTH)
    if off.first_position_off is None:
        return
    yield ROUNDED_FREQUENCIES.find(
        f"{module} after .{cast}(): {name} is rounded to {after.dtype}, and phases are off by more than pi/8 from "
        f"position {off.first_position_off:,} on (pair {off.breaking_pair}).",
        module=module,
        cast=cast,
        tensor=name,
        dtype=after.dtype,
        first_position=off.first_position_off,
        pair=off.breaking_pair,
    )


def find_silence(module: str, why: str) -> Finding:
    """Say that a module is known by what it holds alone.

    >>> find_silence("rotary_emb", "it takes no positions").message
    'rotary_emb is taken by its buffers: it takes no positions.'
    """
    return NOT_CALLED.find(f"{module} is taken by its buffers: {why}.", module=module, why=why)


def find_unread(what: str, why: str) -> Finding:
    """Say that nothing was taken of a module or tensor that has a rotation.

    >>> find_unread("visual.inv_freq", "it is no list of frequencies that fall").message
    'visual.inv_freq is not read: it is no list of frequencies that fall.'
    """
    return NOT_READ.find(f"{what} is not read: {why}.", what=what, why=why)
