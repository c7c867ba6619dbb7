"""A figure as the bytes of a file, the same from run to run in one environment."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

from pe_spectra.errors import InputError
from pe_spectra.plots.choices import find_options
from pe_spectra.plots.style import fixed_style
from pe_spectra.vocabulary import FIGURE_SUFFIXES

__all__ = ["FIGURE_SUFFIXES", "render"]

# Dates, program names and versions would make each run's bytes its own.
_METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}


def render(figure: Figure, suffix: str) -> bytes:
    """Return `figure` as a file of the kind that `suffix` names (.png, .svg, .pdf, in any case).

    Raises InputError for any other suffix.

    >>> from matplotlib.figure import Figure
    >>> render(Figure(figsize=(1, 1)), ".PNG")[1:4]
    b'PNG'
    """
    kind = suffix.lower()
    if kind not in FIGURE_SUFFIXES:
        accepted = ", ".join(FIGURE_SUFFIXES)
        raise InputError("a figure cannot be written with this ending", suffix, accepted)
    stream = io.BytesIO()
    with fixed_style():
        figure.savefig(stream, format=kind[1:], dpi=find_options().dpi, metadata=_METADATA[kind])
    return stream.getvalue()
