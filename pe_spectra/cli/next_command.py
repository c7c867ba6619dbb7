"""The command to try next: it runs as printed, and it is about what was asked."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pe_spectra.cli.inputs import check_measured, count_points
from pe_spectra.cli.terminal import escape
from pe_spectra.errors import InputError
from pe_spectra.limits import MAX_ANALYSED, MAX_PRINTED_NUMBERS

if TYPE_CHECKING:
    from pe_spectra.faithfulness import Faithfulness
    from pe_spectra.reconstruction import Reconstruction
    from pe_spectra.spectrum import LowBinCount, Spectrum

#: What options hold as they were typed, by their names in Python.
Typed = Mapping[str, str | Sequence[str] | bool | None]
_SWEEP = ("0.25", "1", "4", "16", "64")
_BUILDING = ("encoding", "d", "rho", "length", "rows", "start", "step")


def compose_command(name: str, typed: Typed) -> str:
    """Write a command line that a shell reads as typed; empty where it could not be printed as it is.

    >>> compose_command("spectrum", {"encoding": ["my table.npy", "dft"], "d": None, "window_free": True})
    "pe-spectra spectrum -e 'my table.npy' dft --window-free"
    """
    words = ["pe-spectra", name]
    for key, value in typed.items():
        option = "-e" if key == "encoding" else f"--{key.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value:
            words += _write_values(option, [value] if isinstance(value, str) else list(value or ()))
    line = " ".join(words)
    return line if escape(line) == line else ""


def _write_values(option: str, values: Sequence[str]) -> list[str]:
    """The option before its values; where one begins as an option does, joined to it."""
    words: list[str] = []
    for value in values:
        if value.startswith("-"):
            words.append(f"{option}={shlex.quote(value)}")
        else:
            words += ([] if words else [option]) + [shlex.quote(value)]
    return words


def follow_spectrum(typed: Typed, spectra: Sequence[Spectrum]) -> str:
    """Propose to reconstruct positions through the same encodings; nothing at real positions, which have no lattice."""
    asked = {key: value for key, value in typed.items() if value and (key, value) != ("boundary", "none")}
    if not asked:
        return "pe-spectra reconstruct --s 5 40 75"
    # three positions, and the DFT encoding beside the default one
    numbers = sum(s.grid for s in spectra) * 3 * (1 if typed["encoding"] else 2)
    if typed["positions"] or numbers > MAX_PRINTED_NUMBERS:
        return ""
    return compose_command("reconstruct", asked)


def follow_reconstruction(typed: Typed, results: Sequence[Reconstruction], is_sweep: bool) -> str:
    """Propose a sweep of bandwidths; after one, or where no bandwidth enters, what tells the positions apart."""
    encodings = tuple(dict.fromkeys(r.spectrum.encoding for r in results))
    can_sweep = not is_sweep and any(r.spectrum.bandwidth is not None for r in results)
    numbers = sum(r.spectrum.grid * len(r.positions) for r in results) * len(_SWEEP)
    if can_sweep and numbers <= MAX_PRINTED_NUMBERS:
        asked = {key: value for key, value in typed.items() if (key, value) != ("boundary", "none")}
        return compose_command("reconstruct", {**asked, "bandwidth": _SWEEP})
    length = typed["length"]
    sizes = [int(length) if isinstance(length, str) else e.default_length for e in encodings]
    try:
        check_measured(encodings, sizes)
    except InputError:
        return ""
    return compose_command("faithfulness", {key: typed[key] for key in _BUILDING})


def follow_faithfulness(typed: Typed, results: Sequence[Faithfulness]) -> str:
    """Propose the spectrum of the same encodings; nothing where all codes are one, as they may be zero."""
    if any(r.length == 1 or r.collisions.distinct == 1 for r in results):
        return ""
    if count_points([r.encoding for r in results], None) // 2 > MAX_PRINTED_NUMBERS:
        return ""
    return compose_command("spectrum", typed)


def follow_counts(typed: Typed, counts: Sequence[LowBinCount]) -> str:
    """Propose the spectra of what was counted; after the default, the paper's own statements about it."""
    if not any(typed.values()):
        return "pe-spectra claims"
    encodings = tuple(dict.fromkeys(count.encoding for count in counts))
    if len(encodings) > MAX_ANALYSED or count_points(encodings, None) // 2 > MAX_PRINTED_NUMBERS:
        return ""
    # a spectrum takes one width and one base, so they are put into the SPECs; its --length means something else
    return compose_command("spectrum", {"encoding": [encoding.spec for encoding in encodings]})
