"""What a figure of reconstructions says: its title, the widths of its peaks, which of them wrap, common scales."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pe_spectra.reconstruction import measure_shift

if TYPE_CHECKING:
    from pe_spectra.plots.reconstruction import ReconstructionPanel

#: Panels share one scale unless the lowest peak is below this share of the highest.
_VISIBLE = 0.15
#: Half of the width in positions that a peak of one point has at most; such a peak does not wrap.
_ONE_POINT = 1.0


def entitle(panels: Sequence[ReconstructionPanel]) -> str:
    """Say what the panels show: how wide and high a peak is, or how the width falls as the bandwidth grows.

    Where the first panel alone has a bandwidth, it is about that one: the others are what it is compared with.
    Where positions come back elsewhere, it says so and nothing about widths.

    >>> import numpy as np
    >>> from pe_spectra.plots.reconstruction import ReconstructionPanel
    >>> values = np.array([[0.5, 0.2, 0.0, 0.2]])
    >>> panel = ReconstructionPanel(
    ...     heading="", positions=(0,), values=values, fwhm=1.7, width_10=3.0, bandwidth=4.0
    ... )
    >>> entitle([panel])
    'At bandwidth 4 a single position comes back 1.7 positions wide and 0.5 high'
    """
    moved = _entitle_moved(panels)
    if moved:
        return moved
    is_smooth = panels[0].bandwidth is not None
    smooth = [panel for panel in panels if panel.bandwidth is not None] if is_smooth else panels
    swept = _entitle_sweep(smooth)
    if swept:
        return swept
    shown = smooth if len(smooth) == 1 else panels
    widths = [panel.fwhm for panel in shown if panel.fwhm is not None]
    if not widths:
        return "A single position comes back without ever falling to half of its peak"
    width, height = _write_widths(shown), _write_range([find_peak(panel) for panel in shown], ".2g")
    text = f"single position comes back {width} position{'' if width == '1' else 's'} wide and {height} high"
    if len(widths) < len(shown):
        text += f"; {len(shown) - len(widths)} of {len(shown)} never fall to half of their peak"
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
    """Say where positions come back that do not come back where they were; else nothing."""
    shifts = [measure_shift(panel.values[0], panel.positions[0]) for panel in panels]
    moved = [(panel, shift) for panel, shift in zip(panels, shifts, strict=True) if shift]
    if not moved:
        return ""
    least, most = min(shift for _, shift in moved), max(shift for _, shift in moved)
    away = f"{least}" if least == most else f"{least} to {most}"
    where = f"a single position comes back elsewhere, {away} position{'' if most == 1 else 's'} away"
    if len(moved) == len(panels):
        return where.capitalize()
    return f"In {len(moved)} of {len(panels)} panels {where}: {', '.join(panel.heading for panel, _ in moved[:3])}"


def _write_widths(panels: Sequence[ReconstructionPanel]) -> str:
    """The smallest and the largest width, each with the first word of its heading where that tells them apart."""
    known = [(panel.fwhm, panel.heading.partition(" ")[0]) for panel in panels if panel.fwhm is not None]
    (least, first), (most, last) = min(known), max(known)
    if first == last or f"{least:.3g}" == f"{most:.3g}":
        return _write_range([least, most], ".3g")
    return f"{least:.3g} ({first}) to {most:.3g} ({last})"


def _write_range(values: Sequence[float], digits: str) -> str:
    ends = dict.fromkeys(format(value, digits) for value in (min(values), max(values)))
    return " to ".join(ends)


def describe_width(panel: ReconstructionPanel, between: str) -> str:
    """Name the widths at half and at a tenth of the peak, and the bandwidth, that there are.

    >>> import numpy as np
    >>> from pe_spectra.plots.reconstruction import ReconstructionPanel
    >>> values = np.array([[0.5, 0.2, 0.0, 0.2]])
    >>> panel = ReconstructionPanel(
    ...     heading="", positions=(0,), values=values, fwhm=1.7, width_10=3.0, bandwidth=4.0
    ... )
    >>> describe_width(panel, " ")
    '1.7 wide at half, 3 at a tenth, bandwidth 4'
    """
    parts = [
        f"{width:.3g} {what}"
        for width, what in ((panel.fwhm, "wide at half"), (panel.width_10, "at a tenth"))
        if width is not None
    ]
    if panel.bandwidth is not None:
        parts.append(f"bandwidth {panel.bandwidth:g}")
    return f",{between}".join(parts)


def wraps(panel: ReconstructionPanel) -> bool:
    """Whether a peak, as wide as is said of it, leaves at one end and comes back at the other.

    >>> import numpy as np
    >>> from pe_spectra.plots.reconstruction import ReconstructionPanel
    >>> values = np.array([[0.5, 0.2, 0.0, 0.2]])
    >>> panel = ReconstructionPanel(
    ...     heading="", positions=(0,), values=values, fwhm=1.7, width_10=3.0, bandwidth=4.0
    ... )
    >>> wraps(panel)
    True
    """
    half, last = (panel.width_10 or panel.fwhm or 0.0) / 2, panel.values.shape[1] - 1
    return any(s - half < 0 or s + half > last for s in panel.positions if half > _ONE_POINT)


def share_scale(panels: Sequence[ReconstructionPanel]) -> list[float]:
    """One scale for all panels, unless some peak could not be seen on it.

    >>> import numpy as np
    >>> from pe_spectra.plots.reconstruction import ReconstructionPanel
    >>> values = np.array([[0.5, 0.2, 0.0, 0.2]])
    >>> panel = ReconstructionPanel(
    ...     heading="", positions=(0,), values=values, fwhm=1.7, width_10=3.0, bandwidth=4.0
    ... )
    >>> share_scale([panel, panel])
    [0.5, 0.5]
    """
    peaks = [find_peak(panel) for panel in panels]
    return [max(peaks)] * len(peaks) if min(peaks) >= _VISIBLE * max(peaks) else peaks


def find_peak(panel: ReconstructionPanel) -> float:
    """Return the height of the highest peak of a panel.

    >>> import numpy as np
    >>> from pe_spectra.plots.reconstruction import ReconstructionPanel
    >>> values = np.array([[0.5, 0.2, 0.0, 0.2]])
    >>> panel = ReconstructionPanel(
    ...     heading="", positions=(0,), values=values, fwhm=1.7, width_10=3.0, bandwidth=4.0
    ... )
    >>> find_peak(panel)
    0.5
    """
    return float(panel.values.max())
