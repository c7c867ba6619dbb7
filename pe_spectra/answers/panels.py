"""What figures of reconstructions show and say: panels and their title."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pe_spectra.exact import F64
from pe_spectra.reconstruction import Reconstruction
from pe_spectra.wording import capitalise, shorten

#: What a width is.
WIDTH = "full width at half maximum"


@dataclass(frozen=True, kw_only=True)
class ReconstructionPanel:
    """One panel of a figure.

    Attributes
    ----------
    heading : what it shows.
    positions : location of each function, in order.
    values : reconstructed functions (P, N).
    fwhm, width_10 : full width at half and at a tenth of the peak, in positions, where they exist and it is at s.
    bandwidth : kernel width in bins, where one entered.
    shift : how far from its position the first function is largest.
    """

    heading: str
    positions: tuple[int, ...]
    values: F64
    fwhm: float | None
    width_10: float | None
    bandwidth: float | None
    shift: int = 0

    @property
    def top(self) -> float:
        """Height of the highest peak."""
        return float(self.values.max())


def read_panel(result: Reconstruction) -> ReconstructionPanel:
    """Take from a result what a panel shows.

    >>> from pe_spectra import Dft, compute_spectrum, reconstruct_positions
    >>> read_panel(reconstruct_positions(compute_spectrum(Dft(d=8)), [3])).heading
    'dft d=8'
    """
    bandwidth, first = result.spectrum.bandwidth, result.positions[0]
    heading = shorten(result.spectrum.encoding.label)
    return ReconstructionPanel(
        heading=heading if bandwidth is None else f"{heading}, bandwidth {bandwidth:g}",
        positions=tuple(position.s for position in result.positions),
        values=np.array([position.values for position in result.positions]),
        fwhm=None if first.shift else first.fwhm,  # a width is one of the peak at s
        width_10=None if first.shift else first.width_10,
        bandwidth=bandwidth,
        shift=first.shift,
    )


def entitle_panels(panels: Sequence[ReconstructionPanel]) -> str:
    """Say what the panels show: how wide and high a peak is, or how the width falls as the bandwidth grows.

    Where the first panel alone has a bandwidth, it is about that one: the others are what it is compared with.
    Where positions come back elsewhere, it says so and nothing about widths.

    >>> from pe_spectra import Sinusoidal, compute_spectrum, reconstruct_positions
    >>> entitle_panels([read_panel(reconstruct_positions(compute_spectrum(Sinusoidal(d=256)), [40]))])
    'At bandwidth 4 a single position is blurred to 11.9 positions (full width at half maximum), peak 0.34'
    """
    if any(panel.shift for panel in panels):
        return _entitle_moved(panels)
    is_smooth = panels[0].bandwidth is not None
    smooth = [panel for panel in panels if panel.bandwidth is not None] if is_smooth else panels
    swept = _entitle_sweep(smooth)
    if swept:
        return swept
    shown = smooth if len(smooth) == 1 else panels
    widths = [panel.fwhm for panel in shown if panel.fwhm is not None]
    if not widths:
        return "A single position is blurred so that it never falls to half of its maximum"
    width, height = _write_widths(shown), _write_range([panel.top for panel in shown], ".2g")
    text = f"single position is blurred to {width} position{'' if width == '1' else 's'} ({WIDTH})"
    text += f", peak {height}"
    if len(widths) < len(shown):
        text += f"; {len(shown) - len(widths)} of {len(shown)} never fall to half of their maximum"
    bandwidths = [panel.bandwidth for panel in shown if panel.bandwidth is not None]
    return f"At bandwidth {_write_range(bandwidths, 'g')} a {text}" if is_smooth else f"A {text}"


def _entitle_sweep(panels: Sequence[ReconstructionPanel]) -> str:
    """Say how the width falls where each bandwidth has one panel; else nothing."""
    widths = {p.bandwidth: p.fwhm for p in panels if p.bandwidth is not None and p.fwhm is not None}
    if len(widths) < max(2, len(panels)):
        return ""
    ordered = sorted(widths)
    low, high = ordered[0], ordered[-1]
    falls = all(widths[one] > widths[other] for one, other in itertools.pairwise(ordered))
    text = "The width of the blur falls as the bandwidth grows:" if falls else "The blur, by bandwidth:"
    return f"{text} {widths[low]:.3g} positions at {low:g}, {widths[high]:.3g} at {high:g}"


def _entitle_moved(panels: Sequence[ReconstructionPanel]) -> str:
    """Say where positions come back that do not come back where they were."""
    moved = [panel for panel in panels if panel.shift]
    away = _write_range([panel.shift for panel in moved], "d")
    where = f"a single position comes back elsewhere, {away} position{'' if away == '1' else 's'} away"
    if len(moved) == len(panels):
        return capitalise(where)
    return f"In {len(moved)} of {len(panels)} panels {where}: {', '.join(panel.heading for panel in moved[:3])}"


def _write_widths(panels: Sequence[ReconstructionPanel]) -> str:
    """The smallest and the largest width, each with the first word of its heading where those differ."""
    known = [(panel.fwhm, panel.heading.partition(" ")[0]) for panel in panels if panel.fwhm is not None]
    (least, first), (most, last) = min(known), max(known)
    if first == last or f"{least:.3g}" == f"{most:.3g}":
        return _write_range([least, most], ".3g")
    return f"{least:.3g} ({first}) to {most:.3g} ({last})"


def _write_range(values: Sequence[float], digits: str) -> str:
    return " to ".join(dict.fromkeys(format(value, digits) for value in (min(values), max(values))))
